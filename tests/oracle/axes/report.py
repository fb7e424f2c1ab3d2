"""Report: the metrics of a training run. Every answer is (value, scale)."""
from functools import reduce

from autodiff import size, value
from axes import own_divisor
from axes import ratio as ratio_axis
from axes.choice import about
from axes.surrogate import at, clip_sides
from limits import ONE, ZERO, exp, finite_part, is_infinite, less, limit, of_one_sign, sign
from reals import mpf

COUNTS = ("tokens", "sequences", "groups", "masked_tokens", "rejected_tokens", "degenerate_groups")
KEYS = ("policy_loss", "penalty_loss", "tokens", "sequences", "groups", "masked_tokens", "rejected_tokens", "clip_fraction_low",
        "clip_fraction_high",
        "clip_fraction_dual", "clip_fraction", "ratio_mean", "ratio_min", "ratio_max", "ess", "approx_kl_k1", "approx_kl_k3", "kl_k1",
        "kl_k2", "kl_k3",
        "entropy", "rollout_is_mean", "degenerate_groups")
CAP = mpf(2) ** 500  # bound of a ratio in the effective sample size, so that its square is finite in binary64


def uses_ratio(objective):
    of_ratio = about("surrogate", "kind", objective["surrogate"]["kind"], "ratio") is not False
    penalty = objective["penalty"]
    return of_ratio or (penalty["kl"] != "none" and penalty["kl_importance_weight"] != "none")  # without a KL nothing has that weight


def shows_ratio(objective):
    """Does the report have a ratio?"""
    return uses_ratio(objective) and objective["ratio"]["behaviour"] != "none"


def mean(xs):
    """(mean, mean of absolute values); 0 for no tokens"""
    n = len(xs)
    if n == 0:
        return ZERO, ZERO
    return sum(xs, ZERO) / n, sum((abs(x) for x in xs), ZERO) / n


def mean_log_ratio(xs):
    """Infinite log-ratios of opposite sign cancel in pairs; the scale then counts only the finite parts."""
    m, size = mean(xs)
    return (m, size) if is_infinite(m) else mean([finite_part(x) for x in xs])


def smallest(xs):
    return reduce(lambda x, y: y if sign(y - x) < 0 else x, xs)


def largest(xs):
    return reduce(lambda x, y: y if sign(y - x) > 0 else x, xs)


def effective_sample_size(ws):
    ws = [min(limit(w), CAP) for w in ws]
    squares = sum((w * w for w in ws), ZERO)
    return sum(ws, ZERO) ** 2 / (len(ws) * squares) if squares else ONE


def k3(x):
    return exp(x) - x - 1


def dropped_sides(entry):
    """(low, high, dual) of a token that trust or off_policy_mask drops."""
    side = sign(entry.token.advantage) if entry.dropped else 0
    return side < 0, side > 0, False


def pool_sides(objective, token):
    ratio = objective["ratio"]
    if ratio["level"] not in ratio_axis.CLIPPED_FIRST or not uses_ratio(objective):
        return False, False, False
    d = value(ratio_axis.clamped(ratio, token))
    if less(token.advantage, ZERO):
        return less(d, -mpf(ratio["token_clip_low"])), False, False
    return False, less(mpf(ratio["token_clip_high"]), d), False


def surrogate_sides(objective, entry):
    if not uses_ratio(objective):
        return False, False, False
    choice = at(objective["surrogate"], ratio_axis.denominator(objective["ratio"], entry.token), entry.token)
    return clip_sides(choice, entry.token.advantage, entry.w)


def clips(objective, entries):
    """How many active tokens each clip changes: a token counts once, for the first reason that applies."""
    counts = [0, 0, 0]
    for e in entries if objective["surrogate"]["kind"] != "none" else ():
        found = (dropped_sides(e), pool_sides(objective, e.token), surrogate_sides(objective, e))
        sides = next((s for s in found if any(s)), (False, False, False))
        counts = [k + bool(hit) for k, hit in zip(counts, sides)]
    return counts


def degenerate_groups(batch, entries):
    alive = {e.token.sequence.group for e in entries}
    moved = {e.token.sequence.group for e in entries if sign(e.token.advantage) != 0}
    return len(alive - moved)


def report(objective, batch, entries, rejected):
    n = len(entries)
    tokens = [e.token for e in entries]
    out = {}
    out["policy_loss"] = (sum(of_one_sign([e.c * value(e.policy) for e in entries]), ZERO),
                          sum((e.c * size(e.policy) for e in entries), ZERO))
    terms = own_divisor.terms(objective, batch)
    out["penalty_loss"] = (sum(of_one_sign([*(e.penalty() for e in entries), own_divisor.paid(terms)]), ZERO),
                           sum((e.penalty(size) for e in entries), ZERO) + own_divisor.paid(terms, size))
    out["tokens"] = n
    out["sequences"] = len({t.sequence.index for t in tokens})
    out["groups"] = len({t.sequence.group for t in tokens})
    out["masked_tokens"] = sum(s.length for s in batch.sequences) - n
    out["rejected_tokens"] = rejected

    counts = clips(objective, entries)
    for name, k in zip(("clip_fraction_low", "clip_fraction_high", "clip_fraction_dual", "clip_fraction"), counts + [sum(counts)]):
        fraction = mpf(k) / n if n else ZERO
        out[name] = (fraction, fraction)

    ws = [value(e.w) for e in entries] if shows_ratio(objective) else [ONE] * n
    for name, f in (("ratio_mean", lambda x: mean(x)[0]), ("ratio_min", smallest), ("ratio_max", largest)):
        w = f(ws) if n else ONE
        out[name] = (w, w)
    ess = effective_sample_size(ws)
    out["ess"] = (ess, ess)

    have = batch.have
    out["approx_kl_k1"] = mean_log_ratio([t.o - value(t.l) for t in tokens]) if "logp_old" in have else (ZERO, ZERO)
    out["approx_kl_k3"] = mean([k3(value(t.l) - t.o) for t in tokens]) if "logp_old" in have else (ZERO, ZERO)
    D = [value(t.l) - t.f for t in tokens] if "logp_ref" in have else []
    out["kl_k1"] = mean_log_ratio(D)
    out["kl_k2"] = mean([d * d / 2 for d in D])
    out["kl_k3"] = mean([k3(-d) for d in D])
    out["entropy"] = mean([t.entropy for t in tokens]) if "entropy" in have else (ZERO, ZERO)
    out["rollout_is_mean"] = mean([e.v for e in entries]) if n else (ONE, ONE)
    out["degenerate_groups"] = degenerate_groups(batch, entries)
    return {name: (mpf(x), ZERO) if name in COUNTS else x for name, x in out.items()}
