"""Bounds of the clip, from the batch, its rewards or its entropies."""
import itertools
import math
from fractions import Fraction

import limits
import reals
from functions.arithmetic import NOTHING, Number, ascending, at, exp, own_tokens, read, real, rows
from functions.batches import SELF, TEACHER, TENTHS, UNMASKED, WITH_HOLES, each, on, switches, tokens
from functions.comparing import ask, cases_of, close, entry, every, exactly, near
from functions.domains import FRACTION, NOT_NEGATIVE, NUMBER, POSITIVE, TOKENS, many, one_of, reads
from functions.registry import cases, checks, function
from limits import ZERO
from scenarios import NAN


# ---- balanced_clip_bounds

def out_of_balance(d, A, low, high, target):
    """P/Q < target under these bounds: the surrogate of tokens that are pushed up over that of tokens pushed down; d: l - o."""
    counting = [x for place, x in d.items() if (A[place] > 0 and high) or A[place] < 0]
    # if no bound raises a ratio and all underflow, in units of the largest: it cancels in P/Q, and no bound lowers them
    small = not low and counting and reals.exp(real(max(counting))) == 0
    unit = max(counting) if small else 0

    def bounded(w, A):
        if A > 0:
            return w if small and high else min(w, high)
        return w if small else max(w, low)
    pushes = [A[place] * bounded(limits.antilog(real(x - unit)), A[place]) for place, x in d.items() if A[place]]
    P, Q = (sum((abs(x) for x in pushes if (x > 0) == up), ZERO) for up in (True, False))
    return limits.less(P, target * Q)  # false for Q = 0, where P/Q is infinite


def added(bound, step, most):
    """Binary64 rounds the sum."""
    return min(float(bound) + float(step), float(most))


@function(low=NOT_NEGATIVE, high=NOT_NEGATIVE)
def balanced_clip_bounds(batch: reads("logp_old", "advantage"), low: NOT_NEGATIVE, high: NOT_NEGATIVE, low_max: NOT_NEGATIVE,
                    high_max: NOT_NEGATIVE, step: POSITIVE, target: NUMBER):
    """BAPO (2510.18927), official code: the lower bound rises first, then the upper, until P/Q is at its target.

    Source: 2510.18927, official code
    Takes: batch with `logp_old`, `advantage`; `low`, `high`, `low_max`, `high_max`, `step` > 0, `target`
    Gives: w = e^(l - o), u = min(w, high) if A >= 0, else max(w, low); P = sum of u A where it is > 0, Q = sum of abs(u A) of the other
    mask tokens; P/Q is infinite if Q = 0. While P/Q < target and low < low_max: low := min(low + step, low_max); then while P/Q <
    target and high < high_max: high := min(high + step, high_max); P/Q anew each time, sums binary64. `low`, `high`; scale themselves
    """
    A = {place: real(a) for place, a in at(batch, "advantage").items()}
    l, o = at(batch, "logp"), at(batch, "logp_old")
    d = {place: l[place] - o[place] for place in l}
    low, high = float(low), float(high)
    while out_of_balance(d, A, low, high, real(target)) and low < low_max:
        low = added(low, step, low_max)
    while out_of_balance(d, A, low, high, real(target)) and high < high_max:
        high = added(high, step, high_max)
    return {name: Number(Fraction(x), abs(Fraction(x))) for name, x in (("low", low), ("high", high))}


@cases("balanced_clip_bounds")
def balanced_bounds_cases(case):
    def balanced(label, comment, drift, advantage, mask=None, low=0.6, high=1.2, low_max=0.8, high_max=2,
                 step=0.05, target=1):
        logp = [[NAN if x == NAN else x - 3 for x in row] for row in drift]
        old = [[NAN if x == NAN else -3 for x in row] for row in drift]
        x = tokens(mask=mask, logp=logp, logp_old=old, advantage=advantage)
        case(label, comment, x, low=low, high=high, low_max=low_max, high_max=high_max,
             step=step, target=target)

    balanced("stays", "the positive side outweighs the negative one: both bounds stay", [[0.25, -0.5], [0.125]], [[1, 1], [-1]])
    balanced("equal", "on-policy with equal sides: P/Q is exactly 1, not below the target; both bounds stay",
             [[0, 0], [0]], [[1, -0.5], [-0.5]])
    balanced("no-negative", "no negative advantage: Q = 0, P/Q is infinite, both bounds stay", [[1, -1], [0.5]], [[1, 0], [0.25]])
    balanced("no-positive", "no positive advantage: P = 0, both bounds go to their maxima", [[1, -1], [0.5]], [[-1, 0], [-0.25]])
    balanced("upper", "the lower bound goes to its maximum, then the upper one rises until P/Q reaches 1", [[1, 0], [-2, 0.75]],
             [[1, -1.25], [-0.5, 0.25]])
    balanced("low-sides", "negative advantages with ratios below the lower bound weigh more as it rises",
             [[-1, -0.3125, 0.125], [1.5, -3]],
             [[0.5, -2.5, 1], [1.25, -1.75]])
    balanced("exact-steps", "bounds and step are exact binary fractions: the search stops where P/Q is exactly 1",
             [[2, 0]], [[1, -1.5]], low=0.5,
             high=1, low_max=0.75, high_max=3, step=0.25)
    balanced("overshoot", "a step that would pass a bound's maximum stops there", [[1, 0.5]], [[0.25, -1]], step=0.375)
    balanced("at-ends", "a lower bound above its maximum and an upper one at it: neither moves", [[1, 0.5]], [[0.25, -1]], low=0.9,
             high=2)
    balanced("target", "target 3: the upper bound rises until the positive side is three times the negative",
             [[2, 0], [1]], [[1, -0.8125], [0.5]], target=3,
             high_max=5)
    balanced("holes", "masked tokens hold NaN and large advantages: they enter neither side",
             [[1, NAN, 0], [NAN, 0.5]], [[1, NAN, -1.25], [-5, -0.0625]],
             "101 01")
    balanced("far", "no positive advantage, and a ratio of e^-800: P/Q is 0, however small Q is; both bounds go to their maxima",
             [[-800]], [[-1]], low=0)
    balanced("far-enough", "ratios of e^-800 and e^-801: P/Q is e, above the target of 2.5; both bounds stay",
             [[-800, -801]], [[1, -1]], low=0, target=2.5)
    balanced("far-too-little", "the same with a target of 3: the lower bound rises, and then outweighs everything",
             [[-800, -801]], [[1, -1]], low=0, target=3)
    balanced("none", "all tokens are masked: Q = 0, P/Q is infinite, both bounds stay",
             [[1, 0.5]], [[0.25, -1]], "00")


def quotient(batch, low, high):
    """P/Q with the functions of the standard library."""
    l, o, A = (at(batch, name) for name in ("logp", "logp_old", "advantage"))
    up = down = 0.0
    for p in l:
        w = float(reals.exp(real(l[p] - o[p])))
        push = float(A[p]) * (min(w, high) if A[p] >= 0 else max(w, low))
        up, down = up + max(push, 0), down + max(-push, 0)
    return up / down if down else float("inf")


@checks("balanced_clip_bounds")
def check_balanced_clip_bounds(check):
    for label, a, batch in cases_of("balanced_clip_bounds"):
        found = ask("balanced_clip_bounds", batch, **a)
        low, high = found["low"], found["high"]
        at_ends = low >= a["low_max"] and high >= a["high_max"]
        check(f"balanced, or at the ends: {label}", at_ends or quotient(batch, low, high) >= a["target"] - 1e-12)
        if high > a["high"]:
            before = max(h for h in itertools.accumulate([a["high"]] + [a["step"]] * 99) if h < high - a["step"] / 1000)
            check(f"one step less was not enough: {label}", quotient(batch, low, before) < a["target"])
            check(f"the lower bound went first: {label}", low >= a["low_max"])
        elif low < a["low_max"]:
            check(f"it need not move: {label}", low == a["low"] and quotient(batch, low, high) >= a["target"] - 1e-12)


@checks("balanced_clip_bounds")
def check_balanced_bounds_by_hand(check):
    """A = 1 and -1.25."""
    def bounds(drift, target):
        batch = tokens(logp=[[d - 4 for d in drift]], logp_old=[[-4, -4]], advantage=[[1, -1.25]])
        return ask("balanced_clip_bounds", batch, low=0.6, high=1.2, low_max=0.8, high_max=2, step=0.05, target=target)
    check("w = 1 twice: P/Q is 0.8 within any bounds", bounds((0, 0), 1) == {"low": 0.8, "high": 2})
    check("w = 1, e^-3: P/Q = 1/(1.25 0.6) = 4/3 is enough", bounds((0, -3), 1.25) == {"low": 0.6, "high": 1.2})
    check("for 1.5 it is not, and at low = 0.8 it is 1", bounds((0, -3), 1.5) == {"low": 0.8, "high": 2})
    found = bounds((3, -3), 1.6125)
    check("w = e^3, e^-3: first 1.6; P/Q = high at low = 0.8, and nine steps of 0.05 make 1.65",
          found["low"] == 0.8 and abs(found["high"] - 1.65) < 1e-12)


@checks("balanced_clip_bounds")
def check_balanced_bounds_far_below(check):
    """Ratios of e^-(10^10), below every number: with one advantage of each sign P/Q is the quotient of the ratios."""
    def moves(drift, A, target=1, high=1.2):
        batch = tokens(logp=[drift], logp_old=[[0] * len(drift)], advantage=[A])
        return ask("balanced_clip_bounds", batch, low=0, high=high, low_max=0.8, high_max=2, step=0.8, target=target)["low"] > 0
    far = -10.0 ** 10
    check("P = 0 < Q", moves([far], [-1]) and moves([0, far], [1, -1], high=0))
    check("P = Q", not moves([far, far], [1, -1]) and moves([far, far], [1, -1], 1.5))
    check("Q is nothing beside P", not moves([far, 2 * far], [1, -1]) and not moves([0, far], [1, -1]))
    check("P is nothing beside Q", moves([2 * far, far], [1, -1]) and not moves([far], [1]))


# ---- power_mean_bounds

@function(power=NOT_NEGATIVE, eps=NUMBER, log_high=NUMBER)
def power_mean_bounds(mean: NUMBER, deviation: NOT_NEGATIVE, gamma: NUMBER, low: NOT_NEGATIVE, high: NOT_NEGATIVE, delta: NOT_NEGATIVE):
    """APMPO (2605.04066): p = e^(-gamma mu), eps = eps_min + (eps_max - eps_min) tanh(mu/(sigma + delta)), by the rewards of a batch.

    Source: APMPO, 2605.04066
    Takes: `mean` mu, `deviation` sigma >= 0, `gamma`, 0 <= `low` <= `high`, `delta` >= 0, sigma + delta > 0
    Gives: `power`: e^(-gamma mu); `eps`: low + (high - low) tanh(mu/(sigma + delta)); `log_high`: log(1 + eps); eps <= -1 is an input
    error. Scales: power (1 + abs(gamma mu)); low + (high - low) tanh(abs(mu)/(sigma + delta)); that/(1 + eps), or itself where it is
    more
    """
    power, reach = reals.exp(-real(gamma * mean)), real(mean / (deviation + delta))
    eps = real(low) + real(high - low) * reals.tanh(reach)
    size = real(low) + real(high - low) * reals.tanh(abs(reach))
    if eps <= -1:
        raise ValueError("no ratio is below 0")
    bound = reals.log1p(eps)
    return {"power": Number(power, power * real(1 + abs(gamma * mean))), "eps": Number(eps, size),
            "log_high": Number(bound, max(abs(bound), size / (1 + eps)))}


@cases("power_mean_bounds")
def power_clip_cases(case):
    PAPER = dict(deviation=0.45, gamma=0.8, low=0.2, high=0.4, delta=0.000001)
    each(case,
         ("start", "mean reward 0: power 1 and the lower end of the clip range", dict(PAPER, mean=0)),
         ("paper", "mean reward 0.5 and deviation 0.45", dict(PAPER, mean=0.5)),
         ("solved", "all rewards are 1, deviation 0: the upper end of the clip range", dict(PAPER, mean=1, deviation=0)),
         ("below", "a negative mean reward: a power above 1, a clip range below the lower end",
          dict(PAPER, mean=-0.75, low=TENTHS, high=1, delta=0.25)),
         ("wide", "clip range up to 2000, and a power that falls to e^-50",
          dict(PAPER, mean=62.5, low=0, high=2000, deviation=0.5)))


PAPER = dict(gamma=0.8, low=0.2, high=0.4, delta=0.000001)


@checks("power_mean_bounds")
def check_power_mean_bounds(check):
    for label, given, _, found in every("power_mean_bounds"):
        up = math.tanh(given["mean"] / (given["deviation"] + given["delta"]))
        check(f"by hand: {label}", close(found["power"].value, math.exp(-given["gamma"] * given["mean"]))
              and close(found["eps"].value, given["low"] + (given["high"] - given["low"]) * up))
        check(f"the bound is that of the ratio: {label}", near(reals.exp(found["log_high"].value), 1 + found["eps"].value))
    at_0, solved = (exactly("power_mean_bounds", mean=m, deviation=s, **PAPER) for m, s in ((0, 0.5), (1, 0)))
    check("it starts as the arithmetic mean with the lower bound", at_0["power"].value == 1 and close(at_0["eps"].value, 0.2))
    check("and ends at the upper one", close(solved["eps"].value, 0.4))
    powers = [exactly("power_mean_bounds", mean=m, deviation=0.5, **PAPER) for m in (-1, 0, 0.25, 1)]
    check("the better the batch, the lower the power and the wider the bound", all(
        a["power"].value > b["power"].value and a["eps"].value < b["eps"].value for a, b in zip(powers, powers[1:])))
    try:
        exactly("power_mean_bounds", mean=-9, deviation=0, **{**PAPER, "high": 4})
        check("no ratio below 0", False)
    except ValueError:
        check("no ratio below 0", True)


# ---- ratio_quantile

@function(value=NOT_NEGATIVE)
def ratio_quantile(batch: reads("logp_old", "shaping_mask"), quantile: FRACTION, least: NOT_NEGATIVE):
    """GUIDE (2506.13923), official code: a quantile of the ratios of hinted tokens, here of those in `shaping_mask`.

    Source: GUIDE, 2506.13923
    Takes: batch with `logp_old`, `shaping_mask`; 0 <= `quantile` <= 1, `least` >= 0
    Gives: over the m mask tokens in `shaping_mask`, w = e^(l - o), ascending: `value`: max(least, w interpolated linearly at position
    quantile (m - 1) counted from 0), the position exact; least if m = 0; scale itself
    """
    l, o = at(batch, "logp"), at(batch, "logp_old")
    apart = {p: l[p] - o[p] for p in l if batch["shaping_mask"][p[0]][p[1]]}
    if not apart:
        return {"value": Number(least, least)}
    w = [exp(apart[p]) for p in ascending(apart)]
    k, rest = divmod(quantile * (len(w) - 1), 1)
    value = w[k] + (real(rest) * (w[k + 1] - w[k]) if rest else 0)
    return {"value": Number(max(value, real(least)), max(value, real(least)))}


@cases("ratio_quantile")
def ratio_quantile_cases(case):
    def quantile(label, comment, selected, level=0.9, least=1e-4, now=SELF, old=TEACHER, mask=None):
        batch = tokens([0, 0, 1], mask, logp=now, logp_old=old, shaping_mask=switches(selected))
        case(label, comment, batch, quantile=level, least=least)

    quantile("plain", "the 0.9 quantile lies between the two largest of five ratios", "111 00 11")
    quantile("median", "the median of three tokens in shaping_mask is a ratio itself", "101 10 00", 0.5)
    quantile("ends", "quantile 0: the smallest ratio", "111 11 11", 0)
    quantile("least", "the quantile is below `least`: the answer is `least`", "010 00 01", 1, 1.5)
    quantile("none", "no token is in shaping_mask: the answer is `least`", "000 00 00", 0.9, 0.7)
    quantile("holes", "masked tokens hold NaN and do not count, in shaping_mask or not",
             "0111 11 11", 0.25, 0, WITH_HOLES["logp_old"],
             [[-0.75, NAN, -1.5, -1], [-3, NAN], [-0.875, -0.125]], WITH_HOLES["mask"])


@checks("ratio_quantile")
def check_ratio_quantile(check):
    for label, given, batch, found in every("ratio_quantile"):
        chosen = [p for line in own_tokens(batch) for p in line if entry(batch["shaping_mask"], p)]
        w = sorted(math.exp(entry(batch["logp"], p) - entry(batch["logp_old"], p)) for p in chosen)
        if len(w) > 1:
            k = min(int(given["quantile"] * (len(w) - 1)), len(w) - 2)
            line = w[k] + (given["quantile"] * (len(w) - 1) - k) * (w[k + 1] - w[k])
        else:
            line = w[0] if w else 0
        check(f"with the standard library: {label}", close(float(found["value"].value), max(line, given["least"])))
    none = tokens(logp=[[-1]], logp_old=[[-2]], shaping_mask=[[False]])
    check("nothing selected: the least", ask("ratio_quantile", none, quantile=1, least=0.5) == {"value": 0.5})


# ---- standardised_entropy

def nearest_rank(x, level):
    """The smallest of the numbers {place: x} that a share of them does not exceed; the share is of binary64."""
    xs = [x[place] for place in ascending(x)]
    return next(y for j, y in enumerate(xs, 1) if j / len(xs) >= float(level))


@function(standard=TOKENS)
def standardised_entropy(batch: reads("entropy"), quantile: FRACTION, form: one_of("coded", "intended")):
    """HAPO (2509.16591): log-entropies minus their quantile, each side divided by its largest value.

    Source: HAPO, 2509.16591
    Takes: batch with `entropy`; 0 <= `quantile` <= 1, `form`
    Gives: over the n mask tokens: e = log max(H, 1e-8), m = smallest e with #{e_j <= e}/n >= quantile, the quotient rounded to
    binary64; h = (e - m)/s, s = sqrt(max(mean (e - m)^2, 1e-8)), P = max(max h, 1e-8), Q = min(min h, -1e-8). `standard` (N x length):
    h/P if h > 0; else h/Q (`coded`), -h/Q (`intended`). Scale (abs(e) + abs(m))/(s P or s abs(Q)), 0 where e = m
    """
    floor = Fraction(1, 10 ** 8)
    H = {p: max(x, floor) for p, x in at(batch, "entropy").items()}
    if not H:
        return {"standard": rows(batch, {}, NOTHING)}
    pivot = nearest_rank(H, quantile)
    e = {p: reals.log(real(x)) for p, x in H.items()}
    middle = reals.log(real(pivot))
    squares = sum(((e[p] - middle) ** 2 for p in H if H[p] != pivot), ZERO) / len(H)
    spread = reals.sqrt(max(squares, real(floor)))
    h = {p: (e[p] - middle) / spread if H[p] != pivot else ZERO for p in H}
    up, down = max(*h.values(), real(floor)), min(*h.values(), -real(floor))

    def standard(p):
        if H[p] == pivot:
            return NOTHING
        by = up if h[p] > 0 else down
        x = h[p] / by
        size = (abs(e[p]) + abs(middle)) / spread / abs(by)
        return Number(-x if form == "intended" and by is down else x, size)
    return {"standard": rows(batch, {p: standard(p) for p in H}, NOTHING)}


@cases("standardised_entropy")
def entropy_standard_cases(case):
    FIVE = [[0.75, 2, 0.125], [1.25, 0.5]]
    for form in ("coded", "intended"):
        on(case,
           (f"{form}-fifth", "quantile 0.8: the fourth of five log-entropies is the pivot",
            tokens([0, 1], entropy=FIVE), dict(quantile=0.8, form=form)),
           (f"{form}-holes", "masked tokens hold NaN and do not count; an entropy of 0 is raised to 1e-8",
            tokens([0, 0, 1], "101 01 00", entropy=[[0, NAN, 1.5], [NAN, 0.25], [NAN, 9]]),
            dict(quantile=0.5, form=form)),
           (f"{form}-equal", "all entropies are equal: every answer is 0",
            tokens(entropy=[[0.5, 0.5, 0.5]]), dict(quantile=0.8, form=form)),
           (f"{form}-near", "nearly equal entropies: the floor of the deviation applies, and cancels in the answer",
            tokens(entropy=[[1, 1 + 2 ** -15, 1 - 2 ** -15]]), dict(quantile=0.5, form=form)),
           (f"{form}-none", "all tokens are masked: every answer is 0",
            tokens(mask="00", entropy=[[NAN, 1]]), dict(quantile=0.8, form=form)))


@checks("standardised_entropy")
def check_standardised_entropy(check):
    for label, a, batch in cases_of("standardised_entropy"):
        coded, intended = (exactly("standardised_entropy", batch, **{**a, "form": form})["standard"] for form in ("coded", "intended"))
        H = at(batch, "entropy")
        got = {p: (coded[p[0]][p[1]].value, intended[p[0]][p[1]].value) for p in H}
        check(f"the same size: {label}", all(0 <= x <= 1 and x == abs(y) for x, y in got.values()))
        order = sorted(H, key=H.get)
        check(f"in order of entropy: {label}", all(got[p][1] <= got[q][1] for p, q in zip(order, order[1:])))
        below = sum(y < 0 for _, y in got.values())
        check(f"as many below as the level says: {label}", not H or below <= a["quantile"] * len(H))
        check(f"the ends are 1 or at the pivot: {label}", not H or {got[order[0]][1], got[order[-1]][1]} <= {-1, 0, 1})


# ---- adaptive_clip

@function(clip_low=TOKENS, clip_high=TOKENS, advantage=TOKENS)
def adaptive_clip(batch: reads("logp_old", "advantage"), standard: many(many(NUMBER)), low: NOT_NEGATIVE, high: NOT_NEGATIVE,
                 clip_coef: NUMBER, gain: NUMBER):
    """2509.16591: clip range and advantage by entropy: tokens of low entropy get a wider lower range, of high entropy a wider upper one.

    Source: HAPO
    Takes: batch with `logp_old`, `advantage`; `standard` h per token (as `standardised_entropy` gives it), `low` >= 0, `high` >= 0,
    `clip_coef` c, `gain` b
    Gives: per token: `clip_low`: low (1 - c h) if h <= 0, else low; `clip_high`: high (1 + c h) if h > 0, else high; inside: 1 -
    clip_low/2 < e^(l - o) < 1 + clip_high/2. `advantage`: A (1 + b h) outside if h > 0 and inside if h <= 0, else A. Scales: low (1 +
    abs(c h)), or low; high likewise; abs(A)(1 + abs(b h)), or abs(A)
    """
    l, o, A, h = at(batch, "logp"), at(batch, "logp_old"), at(batch, "advantage"), read(batch, standard)
    found = {"clip_low": {}, "clip_high": {}, "advantage": {}}
    for p in l:
        up = h[p] > 0
        wider = Number(1 + clip_coef * abs(h[p]), 1 + abs(clip_coef * h[p]))
        bound = {False: Number(low, abs(low)), True: Number(high, abs(high))}
        bound[up] = Number(bound[up].value * wider.value, bound[up].size * wider.size)
        w = exp(l[p] - o[p])
        inside = limits.less(real(1 - bound[False].value / 2), w) and limits.less(w, real(1 + bound[True].value / 2))
        plain = inside == up
        found["clip_low"][p], found["clip_high"][p] = bound[False], bound[True]
        found["advantage"][p] = Number(A[p] * (1 if plain else 1 + gain * h[p]), abs(A[p]) * (1 if plain else 1 + abs(gain * h[p])))
    return {name: rows(batch, x, NOTHING) for name, x in found.items()}


@cases("adaptive_clip")
def adapted_clip_cases(case):
    def adapt(label, comment, now, old, advantage, standard, low=0.2, high=0.28, clip_coef=1, gain=1, mask=None):
        batch = tokens([0, 1], mask, logp=now, logp_old=old, advantage=advantage)
        case(label, comment, batch, standard=standard, low=low, high=high, clip_coef=clip_coef, gain=gain)

    NOW, OLD = [[-1, -1, -1], [-1, -1, -1]], [[-1.0625, -1.25, -0.75], [-0.9375, -1.25, -0.5]]
    SIDES = [[1, -0.5, 0.75], [-1, 0.5, 2]]
    adapt("signed", "tokens of low and high entropy, inside and outside the zone of the clip",
          NOW, OLD, SIDES, [[0.5, 0.75, 1], [-0.5, -0.25, -1]])
    adapt("coded", "no token is below the entropy's pivot: the lower clip range is nowhere widened", NOW, OLD, SIDES,
          [[0, 0, 0.3125], [0.6875, 0, 1]], 0.2, 0.2, 0.5, 0.3)
    adapt("still", "ratios of 1 with a lower clip range of 0: the zone is open, so both are outside",
          [[-1], [-2]], [[-1], [-2]], [[1], [-TENTHS]], [[0.5], [-0.5]], 0, 0.25)
    adapt("zone", "the zone's bounds depend on entropy: of equal ratios one is inside, one is outside", [[-1, -1], [-1, -1]],
          [[-1.1875, -1.1875], [-0.8125, -0.8125]], [[1, 1], [1, 1]],
          [[0.25, 1], [-1, -0.125]], gain=0.5)
    adapt("holes", "masked tokens hold NaN: every answer is 0 there; a ratio of e^-900 is outside the zone",
          [[-900, NAN, -0.5], [NAN, -1]],
          [[-0.5, NAN, -0.5], [-1, NAN]], [[1, NAN, -1], [NAN, 1]],
          [[-0.5, UNMASKED, 0.5], [UNMASKED, UNMASKED]], mask="101 00")


@checks("adaptive_clip")
def check_adaptive_clip(check):
    for label, given, batch, found in every("adaptive_clip"):
        for p in at(batch, "logp"):
            h, A = entry(given["standard"], p), entry(batch["advantage"], p)
            w = math.exp(entry(batch["logp"], p) - entry(batch["logp_old"], p))
            bent = 1 + given["clip_coef"] * abs(h)
            low, high = (given["low"], given["high"] * bent) if h > 0 else (given["low"] * bent, given["high"])
            gained = (1 - low / 2 < w < 1 + high / 2) != (h > 0)
            expected = low, high, A * (1 + given["gain"] * h) if gained else A
            got = [float(entry(found[key], p).value) for key in ("clip_low", "clip_high", "advantage")]
            check(f"with the standard library: {label}", all(map(close, got, expected)))
