"""Reward: the value of each response."""

from axes.penalty import ESTIMATED
from axes.sized import NOTHING, Sized
from limits import ONE, ZERO, bound, less
from reals import cospi, mpf


# ---- truncated responses

def keep(choice, sequence):
    return ONE


def scale(choice, sequence):
    # 0: as AReaL's mask_no_eos_with_zero; between 0 and 1: "stop properly" of NeMo-RL and OpenRLHF
    return mpf(choice["truncated_factor"]) if sequence.truncated else ONE


TRUNCATED = {"keep": keep, "scale": scale}


# ---- length, masked tokens included; `sequence` is one of `group`

def right(sequence):
    """Is the response correct? Decided by its given reward."""
    return less(ZERO, sequence.reward)


def no_length(choice, worth, sequence, group):
    return worth


def kimi(choice, worth, sequence, group):
    # Kimi k1.5 (2501.12599) section 2.3.3: lambda = 0.5 - (len - min_len)/(max_len - min_len), for a wrong answer
    # min(0, lambda)
    low, high = min(s.length for s in group), max(s.length for s in group)
    if low == high:
        return worth
    lam = mpf(1) / 2 - mpf(sequence.length - low) / (high - low)
    added = lam if right(sequence) or less(lam, ZERO) else ZERO
    coef = mpf(choice["length_coef"])
    return worth + Sized(coef * added, abs(coef * lam))


def cosine(choice, worth, sequence, group):
    # 2502.03373: eta_min + (eta_max - eta_min)/2 (1 + cos(t pi/T)); a short wrong answer gets wrong_low
    ends = ("correct_low", "correct_high") if right(sequence) else ("wrong_high", "wrong_low")
    lo, hi = (mpf(choice[end]) for end in ends)
    x = sequence.length / mpf(choice["length_max"])
    x = ONE if less(ONE, x) else x
    return Sized(lo + (hi - lo) / 2 * (1 + cospi(x)), abs(lo) + abs(hi - lo))


def inverse(choice, worth, sequence, group):
    # TIC-GRPO (2508.02833): r/|y|
    return worth.times(ONE / sequence.length) if sequence.length else NOTHING


LENGTH = {"none": no_length, "kimi": kimi, "cosine": cosine, "inverse": inverse}


# ---- overlong punishment

def no_penalty(length, lm, lc, factor):
    return mpf(0)


def soft(length, lm, lc, factor):
    # DAPO (2503.14476) eq. 13: 0 up to L_max - L_cache, linear down to -1 at L_max, -1 beyond
    if length <= lm - lc:
        return mpf(0)
    if length <= lm:
        return factor * ((lm - lc) - length) / lc
    return -factor


def linear(length, lm, lc, factor):
    # the same line without a lower bound, as in released code
    return factor * min(mpf(0), ((lm - lc) - length) / lc)


OVERLONG = {"none": no_penalty, "soft": soft, "linear": linear}


def overlong(choice, length):
    numbers = (mpf(choice[key]) for key in ("overlong_max", "overlong_cache", "overlong_factor"))
    return OVERLONG[choice["overlong"]](length, *numbers)


# ---- the map

def no_map(choice, worth):
    return worth


def affine(choice, worth):
    # AReaL: clip((r + bias) * scaling, -clip, clip)
    worth = (worth + Sized(mpf(choice["map_bias"]))).times(mpf(choice["map_factor"]))
    low, high = bound(choice["map_low"]), bound(choice["map_high"])
    if low == 0 == high:
        return worth
    value = low if less(worth.value, low) else worth.value
    value = high if less(high, value) else value
    return Sized(value, max(worth.size, abs(value)))  # a reward that is raised to its bound is as large as the bound


MAP = {"none": no_map, "affine": affine}


def shaped(choice, sequence, group):
    """R before a KL is subtracted."""
    worth = Sized(sequence.reward).times(TRUNCATED[choice["truncated"]](choice, sequence))
    worth = LENGTH[choice["length"]](choice, worth, sequence, group)
    worth = worth + Sized(overlong(choice, sequence.length))
    return MAP[choice["map"]](choice, worth)


# ---- KL: an estimate of KL(old || reference) at a token sampled from old; detached, since it is part of the reward

def token_kl(choice, token):
    """beta_r k_it"""
    if choice["kl"] == "none":
        return mpf(0)
    return mpf(choice["kl_coef"]) * ESTIMATED[choice["kl"]](token.o - token.f)
