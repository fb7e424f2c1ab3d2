"""Reward: what is each response worth?"""
from mpmath import mpf

from limits import exp


def no_penalty(length, lm, lc, factor):
    return mpf(0)


def soft(length, lm, lc, factor):
    # DAPO (2503.14476) eq. 13: 0 up to L_max - L_cache, a straight line down to -1 at L_max, -1 beyond
    if length <= lm - lc:
        return mpf(0)
    if length <= lm:
        return factor * ((lm - lc) - length) / lc
    return -factor


def linear(length, lm, lc, factor):
    # the same line as released code draws it, without the floor
    return factor * min(mpf(0), ((lm - lc) - length) / lc)


OVERLONG = {"none": no_penalty, "soft": soft, "linear": linear}


# Estimators of KL(old || reference) at a token sampled from old; detached, because they are part of the reward.
def k1(o, f):
    return o - f


def k2(o, f):
    return (o - f) * (o - f) / 2


def k3(o, f):
    return exp(f - o) - (f - o) - 1


def absolute(o, f):
    return abs(o - f)


KL = {"k1": k1, "k2": k2, "k3": k3, "abs": absolute}


def overlong(choice, length):
    numbers = (mpf(choice[key]) for key in ("overlong_max", "overlong_cache", "overlong_factor"))
    return OVERLONG[choice["overlong"]](length, *numbers)


def token_kl(choice, token):
    """beta_r k_it"""
    if choice["kl"] == "none":
        return mpf(0)
    return mpf(choice["kl_coef"]) * KL[choice["kl"]](token.o, token.f)
