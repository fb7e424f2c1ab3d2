"""Penalty: what else is paid for? Estimators of KL(policy || reference), D = l - f."""
from mpmath import mpf

from autodiff import absolute, clamp, exp, exp_minus_one_minus, half_square, sg
from axes.ratio import log_ratio
from limits import ZERO


def k1(d):
    return d


def k2(d):
    return half_square(d)


def k3(d):
    # DeepSeekMath (2402.03300) eq. 4
    return exp_minus_one_minus(-d)


KL = {"k1": k1, "k2": k2, "k3": k3, "abs": absolute}


def own(kl, d):
    return kl


def straight_through(kl, d):
    # value of K, gradient D of k2: the estimator whose expectation is the gradient of the KL
    square = half_square(d)
    return sg(kl) + (square - sg(square))


GRADIENT = {"own": own, "k2": straight_through}


def no_ratio(ratio, token, w):
    return mpf(1)


def token_ratio(ratio, token, w):
    # DeepSeek-V3.2 (2512.02556): w k3 with w not detached
    return exp(log_ratio(ratio, token))


def unit_ratio(ratio, token, w):
    return w


RATIO = {"none": no_ratio, "token": token_ratio, "unit": unit_ratio}


def penalty(choice, ratio, token, w):
    """beta u K"""
    if choice["kl"] == "none":
        return ZERO
    d = token.l - token.f
    c = mpf(choice["kl_clamp_log"])
    if c:
        d = clamp(d, -c, c)
    kl = GRADIENT[choice["kl_gradient"]](KL[choice["kl"]](d), d)
    c = mpf(choice["kl_clamp_value"])
    if c:
        kl = clamp(kl, -c, c)
    return mpf(choice["kl_coef"]) * (RATIO[choice["kl_ratio"]](ratio, token, w) * kl)
