"""Weight: which tokens are active, and the detached weights of the surrogate."""
from functools import reduce

import reals
from autodiff import clamp, sg, value
from axes.segments import pooled
from limits import K, ONE, ZERO, bound, exp, less, limit, sign
from reals import mpf


def before_rejection(choice, sequence):
    """The candidate tokens: those of the mask, except in masked truncated responses."""
    if choice["truncated"] == "mask" and sequence.truncated:  # DAPO (2503.14476) overlong filtering
        return []
    return list(sequence.unmasked)


def is_left_out(choice, token):
    """Is the token treated as masked, except in corrections and rejections over a sequence or segment?"""
    return choice["selected"] == "only" and not token.selected


# ---- correction: v of old over rollout

def token_weights(q):
    return [exp(x) for x in q]


def sum_weights(q):
    return [exp(sum(q, ZERO))] * len(q)


def mean_weights(q):
    return [exp(sum(q, ZERO) / len(q))] * len(q)


UNIT = {"token": token_weights, "sequence_sum": sum_weights, "sequence_mean": mean_weights,
        "segment_sum": sum_weights, "segment_mean": mean_weights}


def log_weights(choice, tokens):
    """q = o - b"""
    c = mpf(choice["rollout_clamp"])
    q = [t.o - t.b for t in tokens]
    return [clamp(x, -c, c) for x in q] if c else q


def importance(choice, tokens):
    """v of old over rollout."""
    return pooled(UNIT, choice["rollout_is_level"], tokens, log_weights(choice, tokens)) if tokens else []


def band(choice):
    return bound(choice["rollout_is_low"]), bound(choice["rollout_is_high"])


def not_within(x, low, high):
    return less(x, low) or less(high, x)


def outside(choice, v):
    return choice["rollout_is"] in ("mask", "reject") and not_within(v, *band(choice))


def no_correction(choice, v):
    return ONE


def truncate(choice, v):
    # truncated importance sampling: clipped, never dropped
    return clamp(v, *band(choice))


def mask(choice, v):
    # IcePop (2510.18855): the raw weight inside the band, 0 outside
    return ZERO if outside(choice, v) else v


def reject(choice, v):
    return ZERO if outside(choice, v) else ONE


CORRECTION = {"none": no_correction, "truncate": truncate, "mask": mask, "reject": reject}


# ---- rejection by a statistic of old against rollout (verl's rollout correction)

def log_ratio_statistic(t, q):
    return q


def k2_statistic(t, q):
    return q * q / 2


def k3_statistic(t, q):
    return exp(q) - 1 - q


def k3_reverse_statistic(t, q):
    # AReaL: k3 of rollout against old, e^-q - 1 + q
    return exp(-q) - 1 + q


def binary_kl_max_statistic(t, q):
    # KPop (AReaL): the larger of the two KLs between the binary distributions "this token or another"
    return largest([binary_divergence(t.o, t.b), binary_divergence(t.b, t.o)])


def probability_statistic(t, q):
    return exp(t.o) - exp(t.b)


def exp_abs_statistic(t, q):
    # NeMo-RL's multiplicative error of a token's probability
    return exp(abs(q))


STATISTIC = {"ratio": log_ratio_statistic, "k2": k2_statistic, "k3": k3_statistic, "probability": probability_statistic,
             "exp_abs": exp_abs_statistic, "k3_reverse": k3_reverse_statistic, "binary_kl_max": binary_kl_max_statistic}


def largest(xs):
    return reduce(lambda x, y: y if sign(y - x) > 0 else x, xs)


def added_up(xs):
    return [sum(xs, ZERO)] * len(xs)


def averaged(xs):
    return [sum(xs, ZERO) / len(xs)] * len(xs)


def worst(xs):
    return [largest(xs)] * len(xs)


POOL = {"token": lambda xs: xs, "sequence_sum": added_up, "sequence_mean": averaged, "sequence_max": worst,
        "segment_sum": added_up, "segment_mean": averaged, "segment_max": worst}


def refused(choice, tokens):
    """For each token, whether its statistic is out of bounds."""
    if choice["rollout_rs"] == "none" or not tokens:
        return [False] * len(tokens)
    q = log_weights(choice, tokens)
    judged = pooled(POOL, choice["rollout_rs_level"], tokens, [STATISTIC[choice["rollout_rs"]](t, x) for t, x in zip(tokens, q)])
    if choice["rollout_rs"] == "ratio":
        judged = [exp(x) for x in judged]
    low, high = bound(choice["rollout_rs_low"]), bound(choice["rollout_rs_high"])
    return [not_within(x, low, high) for x in judged]


def vetoed(choice, tokens):
    """Is e^q of some token below the veto? Then the whole sequence is rejected."""
    least = mpf(choice["rollout_veto"])
    return bool(least) and any(less(exp(q), least) for q in log_weights(choice, tokens))


def weigh(choice, sequence):
    """[(token, v)] of the active tokens, and the number of rejected ones. Sums over a sequence include tokens that are not `selected`."""
    tokens = before_rejection(choice, sequence)
    corrected = choice["rollout_is"] != "none"
    vs = importance(choice, tokens) if corrected else [ONE] * len(tokens)
    veto = vetoed(choice, tokens)
    kept, rejected = [], 0
    for t, v, bad in zip(tokens, vs, refused(choice, tokens)):
        if is_left_out(choice, t):
            continue
        bad = bad or veto
        if bad or outside(choice, v):
            rejected += 1
            if choice["rollout_rejected"] == "unmask":
                continue
        kept.append((t, ZERO if bad else CORRECTION[choice["rollout_is"]](choice, v)))
    return kept, rejected


# ---- M: detached, 0 or 1; a token with M = 0 stays active

def one_sided(n, a, w, y, l, x, token):
    # the tokens whose gradient PPO's clip sets to 0
    return sign(a) > 0 and less(1 + n.high, w) or sign(a) < 0 and less(w, 1 - n.low)


def two_sided(n, a, w, y, l, x, token):
    return less(1 + n.high, w) or less(w, 1 - n.low)


def log_two_sided(n, a, w, y, l, x, token):
    return less(n.high, y) or less(y, -n.low)


def probability(n, a, w, y, l, x, token):
    # DPPO (2602.04879), total variation of the sampled token
    rise = exp(l) - exp(x)
    return sign(a) > 0 and less(n.high, rise) or sign(a) < 0 and less(n.low, -rise)


def probability_both(n, a, w, y, l, x, token):
    # prime-rl's ipo
    return less(n.high, abs(exp(l) - exp(x)))


def binary_divergence(l, x):
    """KL of "this token or another" under x against the same under l: p0 log(p0/p) + (1 - p0) log((1 - p0)/(1 - p))."""
    p, p0 = limit(exp(l)), limit(exp(x))
    this = exp(x) * (x - l)
    if p0 == 1:  # 0 log 0 = 0
        return this
    if p == 1:
        return K  # an infinity
    return this + (1 - p0) * reals.log((1 - p0) / (1 - p))


def binary_kl(n, a, w, y, l, x, token):
    # DPPO (2602.04879), without the code's 1e-8 in the logarithm
    far = binary_divergence(l, x)
    if sign(a) > 0:
        return less(x, l) and less(n.high, far)
    return sign(a) < 0 and less(l, x) and less(n.low, far)


def k2(n, a, w, y, l, x, token):
    return less(n.high, (l - x) * (l - x) / 2)


def ring(n, a, w, y, l, x, token):
    # REC-Ring (2509.24203) as in Trinity-RFT: also kept far outside, on the side from which the advantage pulls the ratio back
    back_up = sign(a) >= 0 and not less(1 - n.rec_outer_low, w)
    back_down = sign(a) <= 0 and not less(w, 1 + n.rec_outer_high)
    return two_sided(n, a, w, y, l, x, token) and not back_up and not back_down


def divergence(n, a, w, y, l, x, token):
    # Flow-DPPO (2606.11025) eq. 18: a large divergence, and a ratio that has moved in the direction of the advantage
    far = token.divergence_old
    return sign(a) > 0 and less(ONE, w) and less(n.high, far) or sign(a) < 0 and less(w, ONE) and less(n.low, far)


def negative_band(n, a, w, y, l, x, token):
    # TBPO (2604.07853): A < 0 and a ratio outside the band, on either side
    return sign(a) < 0 and two_sided(n, a, w, y, l, x, token)


TRUST = {"none": lambda *_: False, "one_sided": one_sided, "two_sided": two_sided, "log_two_sided": log_two_sided,
         "probability": probability, "probability_both": probability_both, "binary_kl": binary_kl, "k2": k2, "ring": ring,
         "divergence": divergence, "negative_band": negative_band}


class Limits:
    def __init__(self, choice):
        self.low, self.high = bound(choice["trust_low"]), bound(choice["trust_high"])
        self.rec_outer_low, self.rec_outer_high = bound(choice["rec_outer_low"]), bound(choice["rec_outer_high"])


def distrusted(choice, w, y, x, token):
    """Does `trust` drop the token? x: the log-probability in the ratio's denominator."""
    return bool(TRUST[choice["trust"]](Limits(choice), token.advantage, value(w), value(y), value(token.l), x, token))


# ---- policy_is: the clipped ratio of policy to old policy, as a weight of the surrogate

DRIFT = {"token": token_weights, "sequence_sum": sum_weights, "sequence_mean": mean_weights}


def drifts(choice, tokens):
    """g of every active token of a sequence. FlowRL (2509.15207): the clipped ratio of the whole response."""
    if choice["policy_is"] == "none":
        return [ONE] * len(tokens)
    low, high = bound(choice["policy_is_low"]), bound(choice["policy_is_high"])
    moved = DRIFT[choice["policy_is"]]([value(t.l) - t.o for t in tokens])
    return [sg(clamp(g, low, high)) for g in moved]


# drop: Clip-Cov (2505.22617), some tokens of high covariance. only: 2506.01939 eq. 6, sum and divisor over the tokens of high entropy; no
# other token is active
SELECTED = {"all": lambda chosen: True, "keep": lambda chosen: chosen, "drop": lambda chosen: not chosen, "only": lambda chosen: chosen}


def is_chosen(choice, token):
    return SELECTED[choice["selected"]](token.selected)
