"""Ratio: the log-ratio of the policy to its denominator, over a unit of tokens."""

from autodiff import clamp, exp, linear, log_mean_exp, maximum, minimum, sg, size, sized
from axes.segments import pooled
from limits import ONE, ZERO, bound, less
from reals import mpf


# x_it, the log-probability in the ratio's denominator
AGAINST = {
    "old": lambda token: token.o,
    "rollout": lambda token: token.b,
    "ref": lambda token: token.f,
    "current": lambda token: sg(token.l),  # e^(l - sg[l]): value 1, the score function's gradient
    "none": lambda token: ZERO,  # y is a log-probability
}


def denominator(choice, token):
    return AGAINST[choice["behaviour"]](token)


def log_ratio(choice, token):
    """d_it, unclamped."""
    return token.l - denominator(choice, token)


def clamped(choice, token):
    d = log_ratio(choice, token)
    low, high = bound(choice["clamp_low"]), bound(choice["clamp_high"])
    return d if low == 0 == high else clamp(d, low, high)


def pool_clipped(choice, token, d):
    # GMPO (2507.20673) in log space: the sign of the advantage decides which bound applies
    if less(token.advantage, ZERO):
        return maximum(d, -mpf(choice["token_clip_low"]))
    return minimum(d, mpf(choice["token_clip_high"]))


def token_unit(parts):
    return parts


def sequence_mean(parts):
    # GSPO (2507.18071) eq. 7
    return [linear([(p, mpf(1)) for p in parts]) / len(parts)] * len(parts)


def sequence_sum(parts):
    return [linear([(p, mpf(1)) for p in parts])] * len(parts)


def added_up(parts):
    return sized(linear([(p, mpf(1)) for p in parts]), sum((size(p) for p in parts), ZERO))


def averaged(parts):
    y = added_up(parts)
    return sized(y / len(parts), size(y) / len(parts))


def segment_sum(parts):
    return [added_up(parts)] * len(parts)


def segment_mean(parts):
    # ROLL's ratio of a turn
    return [averaged(parts)] * len(parts)


def prefix_sum(parts):
    return [added_up(parts[:k]) for k in range(1, len(parts) + 1)]


def prefix_mean(parts):
    return [averaged(parts[:k]) for k in range(1, len(parts) + 1)]


def sequence_mean_ratio(parts):
    # GRPO-S (2508.04349): the arithmetic mean of the token ratios
    return [log_mean_exp(parts)] * len(parts)


def sequence_power_mean(parts, power):
    # APMPO (2605.04066): the power mean of the token ratios: geometric for power 0, arithmetic for 1, the largest for infinity
    return [log_mean_exp([p * power for p in parts]) * (ONE / power)] * len(parts)


CLIPPED_FIRST = ("sequence_clipped_mean", "sequence_power_mean")

UNIT = {"token": token_unit, "sequence_mean": sequence_mean, "sequence_sum": sequence_sum,
        "sequence_clipped_mean": sequence_mean, "segment_sum": segment_sum, "segment_mean": segment_mean,
        "prefix_sum": prefix_sum, "prefix_mean": prefix_mean, "sequence_mean_ratio": sequence_mean_ratio}


def unit_of(choice):
    """{name: y of every token from their d}"""
    return {**UNIT, "sequence_power_mean": lambda parts: sequence_power_mean(parts, mpf(choice["power"]))}


def own_token(ys, parts):
    # GSPO-token eq. 14 in log space: sg[y] + l - sg[l], l through the token's own clamp
    return [sized(sg(y) + (p - sg(p)), size(y)) for y, p in zip(ys, parts)]


# ---- interpolate: mixtures of the token's ratio and its unit's

def average(choice, d, y):
    # OpenPipe ART, "average"
    return log_mean_exp([d, y])


def weighted(choice, d, y):
    # ART, "geometric_average": halves; textpolicy's hybrid: with the unit detached
    a, b = mpf(choice["interpolate_token"]), mpf(choice["interpolate_level"])
    return sized(linear([(d, a), (y, b)]), abs(a) * size(d) + abs(b) * size(y))


MIX = {"arithmetic": average, "geometric": weighted}


def detached(ys):
    return [sized(sg(y), size(y)) for y in ys]


def mixed(choice, ys, ds):
    """y' of every token; with `gradient` = `token` the unit's y is detached, and only the token's d is differentiated."""
    ys = detached(ys) if choice["gradient"] == "token" else ys
    return [MIX[choice["interpolate"]](choice, d, y) for d, y in zip(ds, ys)]


def log_units(choice, tokens):
    """y_it of the active tokens of one sequence."""
    parts = ds = [clamped(choice, t) for t in tokens]
    if choice["level"] in CLIPPED_FIRST:
        parts = [pool_clipped(choice, t, d) for t, d in zip(tokens, parts)]
    ys = pooled(unit_of(choice), choice["level"], tokens, parts)
    if choice["interpolate"] != "none":
        ys = mixed(choice, ys, ds)
    elif choice["gradient"] == "token":
        ys = own_token(ys, parts)
    low, high = bound(choice["level_clamp_low"]), bound(choice["level_clamp_high"])
    if not low == 0 == high:
        shared = {id(y): clamp(y, low, high) for y in ys}
        ys = [shared[id(y)] for y in ys]
    return ys


def ratios(ys):
    shared = {id(y): exp(y) for y in ys}
    return [shared[id(y)] for y in ys]
