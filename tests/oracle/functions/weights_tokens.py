"""Weights of tokens."""
import itertools
import math
import statistics
from fractions import Fraction

import limits
import reals
from functions.arithmetic import (NOTHING, Number, ascending, at, by_group, clamp, itself, less, mean, own_tokens, places, read, real,
                                  rows, sigmoid, slots)
from functions.batches import NOW, SELF, TEACHER, UNMASKED, WITH_HOLES, marks, on, switches, tokens
from functions.comparing import ask, close, entry, every, exactly, fraction, logistic, near, values
from functions.domains import (COUNT, FLAG, FRACTION, INTEGER, NOT_NEGATIVE, NOT_POSITIVE, NUMBER, POSITIVE, TOKENS, TOKEN_SIZES, integer,
                               many, number, one_of, reads)
from functions.registry import cases, checks, function
from limits import ONE, ZERO
from scenarios import NAN

SIGNS = [[1, -0.5, 1], [0.5, -1], [0, -0.75]]


# ---- teacher_gate

@function(weight=TOKENS)
def teacher_gate(batch: reads("logp_teacher", "advantage"), strength: FRACTION, clip: number(above=0, below=1)):
    """SERL (2605.19447), VISD (2605.06094): larger weights where the teacher's log-ratio has the sign of the advantage.

    Source: SERL 2605.19447, VISD 2605.06094
    Takes: batch with `logp_teacher` (q), `advantage`, optional `selected`; 0 <= `strength` s <= 1, 0 < `clip` c < 1
    Gives: `weight` per token: (1 - s) + s clip(e^(sign(A)(q - l)), 1 - c, 1 + c); 1 where A = 0, and where `selected` is there and
    false; scale itself
    """
    A, l, q = (at(batch, name) for name in ("advantage", "logp", "logp_teacher"))

    def weight(p):
        if A[p] == 0 or "selected" in batch and not batch["selected"][p[0]][p[1]]:
            return Number(ONE, ONE)
        gap = q[p] - l[p] if A[p] > 0 else l[p] - q[p]
        w = real(1 - strength) + real(strength) * clamp(reals.exp(real(gap)), real(1 - clip), real(1 + clip))
        return Number(w, w)
    return {"weight": rows(batch, {p: weight(p) for p in l}, NOTHING)}


@cases("teacher_gate")
def teacher_gate_cases(case):
    HALVES = [[1, 1, -1], [0.5, -0.25], [0, -2]]

    def gate(label, comment, strength=0.5, clip=0.2, advantage=HALVES, logp=SELF, teacher=TEACHER, **more):
        x = tokens([0, 0, 1], logp=logp, logp_teacher=teacher, advantage=advantage, **more)
        case(label, comment, x, strength=strength, clip=clip)

    gate("both-signs", "log-ratios to the teacher inside and beyond either bound; where A = 0 the weight is 1")
    gate("selected", "tokens that are not selected have weight 1", selected=switches("110 01 11"))
    gate("off", "strength 0: every weight is 1", 0)
    gate("whole", "strength 1: the weight is the clipped ratio itself", 1, 0.5)
    gate("holes", "masked tokens hold NaN: their weight is 0", mask="101 00 11", logp=[[-0.5, NAN, -1.25], [NAN, -3], [-1, -0.25]],
         teacher=[[-0.75, NAN, -1.5], [-3, NAN], [-0.875, -0.125]])
    gate("equal", "teacher and policy are equal: every weight is 1", teacher=SELF)
    gate("far", "log-probabilities a thousand apart: the clip binds, without overflow",
         logp=[[-1000, -0.5, -1], [-0.5, -900], [-1, -2]],
         teacher=[[-0.5, -1000, -800], [-1000, -0.5], [-2, -1000]])


@checks("teacher_gate")
def check_teacher_gate(check):
    for label, given, batch, found in every("teacher_gate"):
        turned = {**batch, "advantage": [[x if isinstance(x, str) else -x for x in row] for row in batch["advantage"]],
                  "logp": batch["logp_teacher"], "logp_teacher": batch["logp"]}
        check(f"policy and teacher, right and wrong change places: {label}", exactly("teacher_gate", turned, **given) == found)
        lam, c = (real(Fraction(given[key])) for key in ("strength", "clip"))
        for i, t in at(batch, "logp"):
            check(f"near 1: {label}", abs(found["weight"][i][t].value - 1) <= lam * c + reals.mpf(10) ** -40)


# ---- prefix_discrepancy_weight

@function(weight=TOKENS)
def prefix_discrepancy_weight(batch: reads("logp_old", "logp_teacher"), gamma: NUMBER, form: one_of("paper", "trl")):
    """IW-OPD (2606.22600): weights that fall with the teacher's disagreement on the prefix; `trl` includes the last token.

    Source: IW-OPD, 2606.22600
    Takes: batch with `logp_old`, `logp_teacher`; `gamma`, `form`
    Gives: with S_n the sum of abs(q - o) over the first n of the response's T mask tokens, D = S_{T-1} (`paper`) or S_T (`trl`).
    `weight` of the n-th: 1 + gamma (1 - S_{n-1}/D); where D = 0 it is 1 (`paper`) or 1 + gamma (`trl`); scale 1 + abs(gamma)(1 +
    S_{n-1}/D)
    """
    o, q = at(batch, "logp_old"), at(batch, "logp_teacher")
    found = {}
    for i in range(len(batch["length"])):
        own = [p for p in places(batch) if p[0] == i]
        apart = [abs(q[p] - o[p]) for p in own]
        whole = sum(apart if form == "trl" else apart[:-1], Fraction(0))
        for n, p in enumerate(own):
            share = sum(apart[:n]) / whole if whole else Fraction(form == "paper")
            found[p] = Number(1 + gamma * (1 - share), 1 + abs(gamma) * (1 + share))
    return {"weight": rows(batch, found, NOTHING)}


@cases("prefix_discrepancy_weight")
def prefix_discrepancy_cases(case):
    def prefix(label, comment, form, old=SELF, teacher=TEACHER, mask=None, gamma=0.5):
        case(f"{form}-{label}", comment, tokens([0, 0, 1], mask, logp_old=old, logp_teacher=teacher), gamma=gamma, form=form)

    for form, last in (("paper", "form `paper`: the divisor leaves out the last token, whose weight is 1"),
                       ("trl", "form `trl`: the divisor includes the last token, whose weight is above 1")):
        prefix("plain", last, form)
        prefix("equal", "the teacher agrees at every token, or at every one but the last",
               form, teacher=[SELF[0], [-0.75, -4], SELF[2]])
        prefix("holes", "masked tokens hold NaN and do not count: their weight is 0",
               form, WITH_HOLES["logp_old"], [[-0.75, NAN, -1.5, -1], [-3, NAN], [-0.875, -0.125]],
               WITH_HOLES["mask"])
    prefix("one", "responses of a single token: weight 1",
           "paper", [[-1], [-0.5], [-2]], [[-0.5], [-0.5], [-3]], gamma=0.75)
    prefix("none", "gamma 0: every weight is 1", "trl", gamma=0)


@checks("prefix_discrepancy_weight")
def check_prefix_discrepancy_weight(check):
    for label, given, batch, found in every("prefix_discrepancy_weight"):
        gamma = Fraction(given["gamma"])
        apart = {p: abs(q - o) for (p, q), o in zip(at(batch, "logp_teacher").items(), at(batch, "logp_old").values())}
        for i in {i for i, _ in apart}:
            own = [p for p in apart if p[0] == i]
            w = [found["weight"][i][t].value for _, t in own]
            check(f"it never grows: {label}", all(x >= y for x, y in zip(w, w[1:])))
            whole = sum(apart[p] for p in (own if given["form"] == "trl" else own[:-1]))
            steps = [(x - y) * whole == gamma * apart[p] for x, y, p in zip(w, w[1:], own)]
            check(f"it falls as the teacher disagrees: {label}", all(steps))
            check(f"the first: {label}", w[0] == 1 + gamma * (whole > 0 or given["form"] == "trl"))
            check(f"the last: {label}", given["form"] == "trl" or w[-1] == 1)


# ---- soft_top_k_weight

@function(weight=many(NOT_NEGATIVE), normalised=many(NOT_NEGATIVE))
def soft_top_k_weight(x: many(NOT_POSITIVE, least=1), target: POSITIVE, temperature: POSITIVE):
    """TAWin (2604.22504), the soft top-K: w = min(1, e^((x - lambda)/tau)) with sum K. With the r largest at 1, e^(-lambda/tau)
    is (K - r)/(sum of e^(x/tau) of the rest).

    Source: TAWin's soft top-K, 2604.22504
    Takes: `x` (n >= 1 numbers <= 0), `target` K > 0, `temperature` tau > 0
    Gives: `weight` (n): 1 if K >= n, else min(1, e^((x_i - lambda)/tau)) with the lambda for which they sum to K; `normalised` (n): n
    w_i/sum w; scale of both itself times 1 + the exponents' spread (itself if K >= n)
    """
    n = len(x)
    size = 1 + (max(x) - min(x)) / temperature
    if target >= n:
        return {"weight": itself([Fraction(1)] * n), "normalised": itself([Fraction(1)] * n)}
    falling = sorted(range(n), key=lambda i: (-x[i], i))
    e = [reals.exp(real((y - max(x)) / temperature)) for y in x]
    for r in range(n):
        factor = real(target - r) / sum(e[i] for i in falling[r:])
        if not limits.less(ONE, factor * e[falling[r]]):
            break
    w = [ONE if i in falling[:r] else factor * e[i] for i in range(n)]
    return {"weight": [Number(y, y * real(size)) for y in w],
            "normalised": [Number(n * y / sum(w), n * y / sum(w) * real(size)) for y in w]}


@cases("soft_top_k_weight")
def window_weight_cases(case):
    for label, comment, x, target, temperature in (
            ("plain", "target 2: no weight reaches 1, they are proportional to e^x", [0, -1.5, -0.25, -3], 2, 1),
            ("several", "target 3.25: three weights are capped at 1, the other two share the rest",
             [-0.125, -2, 0, -4, -0.25], 3.25, 0.5),
            ("none-capped", "target 0.75: all weights are below 1", [-1, -1.25, -2], 0.75, 1),
            ("equal", "equal numbers: every weight is target/n", [-0.5] * 4, 3, 0.25),
            ("ties", "two equal largest numbers have equal weights", [-1, -0.5, -0.5, -3], 1.5, 1),
            ("all", "target equals n: every weight is 1", [-1, 0, -2], 3, 1),
            ("more", "target above n: every weight is 1", [-1, 0], 2.5, 1),
            ("cold", "a low temperature: two weights are capped at 1, one is e^-304", [-1, 0, -2, -40], 2.5, 0.125)):
        case(label, comment, x=x, target=target, temperature=temperature)


@checks("soft_top_k_weight")
def check_soft_top_k_weight(check):
    for label, given, _, found in every("soft_top_k_weight"):
        w, x = values(found["weight"]), fraction(given["x"])
        n, target, tau = len(x), Fraction(given["target"]), Fraction(given["temperature"])
        check(f"K in all: {label}", near(sum(map(real, w)), min(target, n)))
        check(f"n in all: {label}", near(sum(map(real, values(found["normalised"]))), n))
        levels = [real(y) - real(tau) * reals.log(v) for y, v in zip(x, w) if v < 1]
        check(f"one lambda: {label}", all(near(level, levels[0]) for level in levels))
        check(f"and what is at 1 is above it: {label}", not levels or all(real(y) >= levels[0] for y, v in zip(x, w) if v == 1))


# ---- probability_weight

@function(weight=TOKENS)
def probability_weight(batch: reads("logp_old"), strength: FRACTION):
    """AR (2505.12929): a e^o + 1 - a.

    Source: AR, 2505.12929
    Takes: batch with `logp_old`; 0 <= `strength` a <= 1
    Gives: `weight` per token: a e^o + 1 - a; scale itself
    """
    w = {p: real(strength) * reals.exp(real(o)) + real(1 - strength) for p, o in at(batch, "logp_old").items()}
    return {"weight": rows(batch, {p: Number(x, x) for p, x in w.items()}, NOTHING)}


@cases("probability_weight")
def probability_gain_cases(case):
    for label, comment, strength, old, mask in (
            ("plain", "strength 0.3: a e^logp_old + 1 - a", 0.3, SELF, None),
            ("none", "strength 0: every weight is 1", 0, SELF, None),
            ("whole", "strength 1: the weight is the probability, from 1 down to e^-700",
             1, [[0, -1, -30], [-700, -2 ** -20], [-1, -2]], None),
            ("holes", "masked tokens hold NaN: their weight is 0", 0.2, WITH_HOLES["logp_old"], WITH_HOLES["mask"])):
        case(label, comment, tokens([0, 0, 1], mask, logp_old=old), strength=strength)


@checks("probability_weight")
def check_probability_weight(check):
    for label, given, batch, found in every("probability_weight"):
        a, o = Fraction(given["strength"]), at(batch, "logp_old")
        for (i, t), x in o.items():
            w = found["weight"][i][t].value
            check(f"the log-probability again: {label}", not a or near(reals.log((w - real(1 - a)) / real(a)), x))


# ---- conflict_weight

def conflict_runs(ids, sign):
    """How many of a response's first tokens are, each at its place, in a response of either sign."""
    def run(own):
        for p, v in enumerate(own):
            if not all(any(s == way and p < len(other) and other[p] == v for other, s in zip(ids, sign)) for way in (-1, 1)):
                return p
        return len(own)
    return [run(own) for own in ids]


@function(weight=TOKENS)
def conflict_weight(batch, token: many(many(INTEGER)), sign: many(one_of(-1, 0, 1)), inside: NOT_NEGATIVE):
    """GTPO (2508.03772): tokens that right and wrong responses share at their beginnings or ends have weight 0 in wrong responses and a
    larger weight in right ones.

    Source: GTPO, 2508.03772, the paper's form
    Takes: batch; `token` per token: an integer id; `sign` (N): -1, 0 or 1; `inside` W >= 0
    Gives: positions are counted among the response's mask tokens. Position p of a response conflicts if some response of its group with
    sign 1 and some with sign -1 (itself may be one) have its id at p. Forward run: the longest prefix of conflicting positions;
    backward run: the same with positions counted from each response's end. `weight` per token: the product over both runs of 1 outside
    the run, else W, 1 or 0 for sign 1, 0, -1; scale itself
    """
    ids, found = read(batch, token), {}
    for group in by_group(batch):
        own = [[p for p in ids if p[0] == i] for i in group]
        signs = [sign[i] for i in group]
        forward = conflict_runs([[ids[p] for p in line] for line in own], signs)
        backward = conflict_runs([[ids[p] for p in reversed(line)] for line in own], signs)
        for line, s, first, last in zip(own, signs, forward, backward):
            factor = {1: inside, 0: Fraction(1), -1: Fraction(0)}[s]
            for n, p in enumerate(line):
                w = (factor if n < first else 1) * (factor if len(line) - n <= last else 1)
                found[p] = Number(Fraction(w), abs(w))
    return {"weight": rows(batch, found, NOTHING)}


@cases("conflict_weight")
def conflict_weight_cases(case):
    IDS = [[3, 7, 2, 5], [3, 7, 9, 5], [3, 4, 2, 6, 5]]

    def conflict(label, comment, sign, ids=IDS, inside=2, group=(0, 0, 0), mask=None):
        case(label, comment, tokens(list(group), mask, logp=[[-0.5] * len(row) for row in ids]), token=ids,
             sign=sign, inside=inside)

    conflict("ends", "tokens shared with wrong responses from the beginning and from the end: the last is in both runs",
             [1, -1, -1])
    conflict("zero", "a response with sign 0 is in no comparison and has weight 1", [1, -1, 0])
    conflict("same-sign", "all responses have sign 1: no conflict, every weight is 1", [1, 1, 1])
    conflict("whole", "a right response in conflict throughout, from both ends: W^2 at every token",
             [1, -1, -1], [[3, 7], [3, 7], [3, 4, 7]], 1.5)
    conflict("groups", "responses of different prompts are not compared",
             [1, -1, -1], group=(0, 0, 1))
    conflict("holes", "positions count unmasked tokens only", [1, -1, 1], [[3, UNMASKED, 7, 2], [3, 7, 5], [UNMASKED, 3]],
             mask="1011 111 00")


@checks("conflict_weight")
def check_conflict_weight(check):
    for label, given, batch, found in every("conflict_weight"):
        mask = batch.get("mask", [[True] * T for T in batch["length"]])
        turn = lambda rows: [row[::-1] for row in rows]
        mirrored = {**batch, "mask": turn(mask)}
        same = exactly("conflict_weight", mirrored, **{**given, "token": turn(given["token"])})
        check(f"the other way round: {label}", turn(same["weight"]) == found["weight"])
        W = Fraction(given["inside"])
        check(f"powers of W: {label}", {n.value for row in found["weight"] for n in row} <= {0, 1, W, W * W})
    ids, sign = [[1, 2], [1, 3]], [1, -1]
    hand = exactly("conflict_weight", tokens(logp=[[-1, -1]] * 2), token=ids, sign=sign, inside=3)["weight"]
    check("by hand", [values(row) for row in hand] == [[3, 1], [0, 1]])


# ---- surprisal_weight

@function(weight=TOKENS)
def surprisal_weight(batch: reads("advantage", "entropy"), share: FRACTION, up: NUMBER, down: NUMBER, target: NUMBER):
    """STARE (2606.19236): while the entropy is low, the least likely tokens with A > 0 and with A < 0 have separate weights.

    Source: STARE, 2606.19236
    Takes: batch with `advantage`, `entropy`; 0 <= `share` <= 1, `up`, `down`, `target`
    Gives: `weight` per token: 1; if the mean of H over the batch's mask tokens is < target: `up` at the ceil(share n), the product in
    binary64, mask tokens with the smallest l of the n that have A > 0, `down` likewise of those with A < 0; scale itself
    """
    l, A, H = (at(batch, name) for name in ("logp", "advantage", "entropy"))
    weight = dict.fromkeys(l, Fraction(1))
    if l and less(mean(H.values()), target):
        for sign, w in ((1, up), (-1, down)):
            candidates = ascending({p: x for p, x in l.items() if A[p] * sign > 0})
            weight.update(dict.fromkeys(candidates[:math.ceil(float(share) * len(candidates))], w))
    return {"weight": rows(batch, {p: Number(w, abs(w)) for p, w in weight.items()}, NOTHING)}


@cases("surprisal_weight")
def surprisal_weight_cases(case):
    CALM = [[0.125, 0.5, 0], [0.25, 0.375], [0.5, 0.0625]]

    def stare(label, comment, share=0.4, down=0.9, target=0.3, logp=NOW, advantage=SIGNS, entropy=CALM, mask=None):
        x = tokens(None, mask, logp=logp, advantage=advantage, entropy=entropy)
        case(label, comment, x, share=share, up=1.1, down=down, target=target)

    stare("both", "the least likely two of three tokens with A > 0, and two of three with A < 0; none with A = 0")
    stare("o1", "down 1, share 0.1: only the least likely token with A > 0 has a weight other than 1", 0.1, 1)
    stare("lively", "the mean entropy is exactly at its target, not below: every weight is 1",
          target=0.25, entropy=CALM[:2] + [[0.5, 0]])
    stare("share-0", "share 0: every weight is 1", 0)
    stare("ties", "equally likely tokens: the first; 0.1 of ten is one token, as the product is rounded",
          0.1, logp=[[-1] * 3, [-1] * 3, [-1] * 4],
          advantage=[[1] * 3, [0.5] * 3, [2] * 4], entropy=[[0] * 3, [0] * 3, [0.5] * 4])
    stare("holes", "masked tokens hold NaN: they count neither in the mean entropy nor in the share",
          mask="101 00 11", logp=[[-0.5, NAN, -1.25], [NAN, -3], [-1, -0.25]],
          advantage=[[1, NAN, 0.5], [1, NAN], [-1, -0.5]], entropy=[[0.25, NAN, 0], [9, NAN], [0.5, 0.25]])


@checks("surprisal_weight")
def check_surprisal_weight(check):
    for label, given, batch, found in every("surprisal_weight"):
        l, A = at(batch, "logp"), at(batch, "advantage")
        w = {p: found["weight"][p[0]][p[1]].value for p in l}
        for sign, name in ((1, "up"), (-1, "down")):
            own = [p for p in l if A[p] * sign > 0]
            moved = [p for p in own if w[p] != 1]
            rest = [p for p in own if p not in moved]
            check(f"the least likely ones: {label}", all(l[p] <= l[q] for p in moved for q in rest))
            check(f"as many as are wanted, or none: {label}", len(moved) in (0, math.ceil(given["share"] * len(own))))
            check(f"with their weight: {label}", {w[p] for p in moved} <= {Fraction(given[name])})
        check(f"nothing for A = 0: {label}", all(w[p] == 1 for p in l if A[p] == 0))
        lively = exactly("surprisal_weight", batch, **{**given, "target": -1})["weight"]
        check(f"an entropy above every target: {label}", all(lively[i][t].value == 1 for i, t in l))


# ---- covariance_weight

@function(weight=TOKENS)
def covariance_weight(batch: reads("advantage")):
    """CW-GRPO (2605.11538): e^(-c^2/(2 sigma^2)) of the covariance c, with mean 1 over the group's tokens.

    Source: CW-GRPO, 2605.11538
    Takes: batch with `advantage`
    Gives: c as in `covariance`, V its population variance over the batch's mask tokens, w = e^(-c^2/(2 V)), 1 if V = 0. `weight` per
    token: n w/sum w over the n mask tokens of the group; scale itself times 1 + max over the group of c'^2/V (0 if V = 0), c' the scale
    of `covariance`
    """
    l, A = at(batch, "logp"), at(batch, "advantage")
    if not l:
        return {"weight": rows(batch, {}, NOTHING)}
    centre = lambda x: (mean(x.values()), mean([abs(y) for y in x.values()]))
    (l_mean, l_size), (A_mean, A_size) = centre(l), centre(A)
    c = {p: (l[p] - l_mean) * (A[p] - A_mean) for p in l}
    variance = mean([(x - mean(c.values())) ** 2 for x in c.values()])
    found = {}
    for group in by_group(batch):
        own = [p for p in l if p[0] in group]
        w = {p: reals.exp(-real(c[p] ** 2 / (2 * variance))) if variance else ONE for p in own}
        size = max((((abs(l[p]) + l_size) * (abs(A[p]) + A_size)) ** 2 / variance for p in own), default=0) if variance else 0
        for p in own:
            weight = w[p] * len(own) / sum(w.values())
            found[p] = Number(weight, weight * real(1 + size))
    return {"weight": rows(batch, found, NOTHING)}


@cases("covariance_weight")
def gaussian_covariance_cases(case):
    for label, comment, x in (
            ("plain", "tokens of large covariance have small weights",
             tokens([0, 0, 1], logp=NOW, advantage=SIGNS)),
            ("equal", "equal advantages: every covariance is 0, every weight 1",
             tokens([0, 0, 1], logp=NOW, advantage=[[0.5] * 3, [0.5] * 2, [0.5] * 2])),
            ("square", "covariances of equal size and both signs: every weight is 1",
             tokens([0, 0, 1], logp=[[-1, -3], [-1, -3], [-1, -3, -1, -3]],
                    advantage=[[1, -1], [-1, 1], [1, 1, -1, -1]])),
            ("holes", "masked tokens hold NaN and are in no mean: their weight is 0",
             tokens([0, 0, 1, 1], "101 00 11 1", logp=[[-0.5, NAN, -1.25], [NAN, -3], [-1, -0.25], [-4]],
                    advantage=[[1, NAN, 0.5], [1, NAN], [-1, -0.5], [2]]))):
        case(label, comment, x)


@checks("covariance_weight")
def check_covariance_weight(check):
    for label, _, batch, found in every("covariance_weight"):
        l, A = at(batch, "logp"), at(batch, "advantage")
        w = {p: real(found["weight"][p[0]][p[1]].value) for p in l}
        for group in by_group(batch):
            own = [p for p in l if p[0] in group]
            check(f"mean 1 over the group's tokens: {label}", near(sum(w[p] for p in own), len(own)))
        c = {p: float(real((l[p] - mean(l.values())) * (A[p] - mean(A.values())))) for p in l}
        variance = statistics.pvariance(c.values())
        for p, q in itertools.combinations(l, 2):
            same = batch["group"][p[0]] == batch["group"][q[0]] and variance
            check(f"odds: {label}", not same or close(reals.log(w[p] / w[q]), (c[q] ** 2 - c[p] ** 2) / 2 / variance))
        doubled = {**batch, "advantage": [[x if isinstance(x, str) else 2 * x for x in row] for row in batch["advantage"]]}
        check(f"units of the advantage do not matter: {label}", ask("covariance_weight", doubled) == ask("covariance_weight", batch))


# ---- centroid_weight

def side_centres(v, weight, sides):
    """{side: (mu, the same of absolute values)}, weighted means."""
    found = {}
    for s, side in sides.items():
        by = max(sum((weight[p] for p in side), ZERO), real(Fraction(1, 10 ** 8)))
        of = lambda f, d: sum((weight[p] * f(v[p][d]) for p in side), ZERO) / by
        width = range(len(next(iter(v.values()), ())))
        found[s] = [of(real, d) for d in width], [of(abs, d) for d in width]
    return found


def margins(v, centres, sides):
    """{token: squared distance to the other side's centre less that to its own}."""
    def apart(x, s):
        return Number(sum((a - b) ** 2 for a, b in zip(x, centres[s][0])), sum((abs(a) + b) ** 2 for a, b in zip(x, centres[s][1])))
    found = {}
    for s, side in sides.items():
        for p in side:
            other, own = apart(v[p], -s), apart(v[p], s)
            found[p] = Number(other.value - own.value, other.size + own.size)
    return found


def temperatures(M, sides):
    """{token: its side's deviation of margins}."""
    found = {}
    for side in sides.values():
        m = [M[p].value for p in side]
        variance = sum((x - sum(m) / len(m)) ** 2 for x in m) / len(m) if m else ZERO
        found.update(dict.fromkeys(side, reals.sqrt(max(variance, real(Fraction(1, 10 ** 8))))))
    return found


@function(weight=TOKENS)
def centroid_weight(batch: reads("advantage"), feature: many(many(NUMBER)), width: integer(1), refine: COUNT, low: NOT_NEGATIVE,
                    high: NOT_NEGATIVE):
    """DelTA (2605.21467), official code: larger weights for tokens whose features distinguish the signs of A.

    Source: DelTA, 2605.21467, official code
    Takes: batch with `advantage`; `feature` (sum of `length` rows of D numbers: the tokens of the batch in order, masked ones too; what
    theirs hold is not read), `width` D >= 1, `refine` >= 0, `low`, `high`
    Gives: sides: the mask tokens with A > 0 and those with A < 0. mu of a side = sum c v/max(sum c, 1e-8), c = abs(A), so 0 of a side
    without tokens; M = abs(v - mu other)^2 - abs(v - mu own)^2; gamma of a side = sqrt(max(population variance of its M, 1e-8)); x =
    sigmoid(M/gamma). Then `refine` times: mu with c = abs(A) x, M from these, x = sigmoid(M/gamma) with the gamma of the M before,
    gamma from the new M. lambda = low + (high - low) x, low where A = 0. `weight` per token: lambda n/(sum of lambda) over the n mask
    tokens, 0 if the sum is 0. Scale: itself times 1 + (M with plus for minus, mu of absolute v)/gamma, the gamma of the last x; itself
    where A = 0
    """
    A = at(batch, "advantage")
    v = {p: [real(x) for x in row] for p, row in zip(slots(batch), feature) if p in A}
    sides = {s: [p for p in A if A[p] * s > 0] for s in (1, -1)}
    moved = [p for side in sides.values() for p in side]
    size = {p: real(abs(A[p])) for p in moved}
    M = margins(v, side_centres(v, size, sides), sides)
    gamma = temperatures(M, sides)
    used, alpha = gamma, {p: sigmoid(M[p].value / gamma[p]) for p in moved}
    for _ in range(int(refine)):
        M = margins(v, side_centres(v, {p: size[p] * alpha[p] for p in moved}, sides), sides)
        used, alpha = gamma, {p: sigmoid(M[p].value / gamma[p]) for p in moved}
        gamma = temperatures(M, sides)
    weight = {p: real(low) + real(high - low) * alpha.get(p, ZERO) for p in A}
    total = sum(weight.values(), ZERO)
    w = {p: len(A) * x / total if total else ZERO for p, x in weight.items()}
    return {"weight": rows(batch, {p: Number(x, x * (1 + (M[p].size / used[p] if p in M else 0))) for p, x in w.items()}, NOTHING)}


@cases("centroid_weight")
def centroid_weight_cases(case):
    FLAT = [[-0.5] * 3, [-0.5] * 2, [-0.5] * 2]
    POINTS = [[1, 0.5], [0.25, -1], [2, 1], [-1, 0.5], [-0.5, -0.25], [0.75, -2], [0, 1]]

    def centroid(label, comment, advantage, refine=1, low=0.8, high=1.2, feature=POINTS, mask=None):
        case(label, comment, tokens([0, 0, 1], mask, logp=FLAT, advantage=advantage), feature=feature,
             width=len(feature[0]), refine=refine, low=low, high=high)

    UPS = [[1, 1, 1], [-0.5, -0.5], [-1, 0.25]]
    centroid("plain", "one refinement, as in the released scripts", UPS)
    centroid("unrefined", "no refinement: centroids weigh every token by abs(A) alone", UPS, 0)
    centroid("twice", "two refinements: each divides by the deviation of the previous margins", UPS, 2, 0.5, 2)
    centroid("falling", "`high` is far below `low`: tokens of the largest x weigh almost nothing", UPS, 1, 64, 2 ** -6,
             [[4 * x for x in row] for row in POINTS])
    centroid("one-side", "no advantage is negative: the centroid of that side is 0", [[1, 1, 1], [0.5, 0.5], [0, 0]], 1)
    centroid("lone", "one token on each side: the deviation has its floor; tokens with A = 0 weigh `low`",
             [[0, 0, 0], [0, -1], [1, 0]], 1,
             0.25, 1, [[0, 0]] * 4 + [[0.001953125, 0], [0, 0.0009765625], [0, 0]])
    centroid("faint", "the advantages of a side sum to less than 1e-8, which is then the divisor",
             [[2 ** -30, 2 ** -30, 0], [-1, -1], [0, -1]], 0, 0.5, 1.5)
    centroid("holes", "one dimension; features of masked tokens are not read", [[1, NAN, 0.5], [NAN, -1], [-0.5, -1]], 1, 0.8, 1.2,
             [[0.5], [UNMASKED], [1.25], [UNMASKED], [-0.75], [0.25], [-1]], "101 01 11")
    centroid("none", "low 0 and all advantages 0: every weight is 0, nothing is divided by 0", [[0, 0, 0], [0, 0], [0, 0]], 1, 0, 1)


def dot(x, y):
    return math.fsum(a * b for a, b in zip(x, y))


def by_hand(feature, A, given):
    """DelTA in binary64; the margin as a linear function of the feature."""
    ups = {s: [p for p in A if A[p] * s > 0] for s in (1, -1)}
    c = {p: abs(A[p]) for p in A}

    def margins(weight):
        mu = {s: [math.fsum(weight[p] * feature[p][d] for p in side) / max(math.fsum(weight[p] for p in side), 1e-8)
                  for d in range(given["width"])] for s, side in ups.items()}
        return {p: 2 * dot(feature[p], [a - b for a, b in zip(mu[s], mu[-s])]) + dot(mu[-s], mu[-s]) - dot(mu[s], mu[s])
                for s, side in ups.items() for p in side}

    def temperature(M):
        return {p: math.sqrt(max(statistics.pvariance([M[q] for q in side]), 1e-8)) for side in ups.values() for p in side}
    M = margins(c)
    gamma, x = temperature(M), {p: logistic(M[p] / temperature(M)[p]) for p in M}
    for _ in range(given["refine"]):
        M = margins({p: c[p] * x.get(p, 0) for p in A})
        x, gamma = {p: logistic(M[p] / gamma[p]) for p in M}, temperature(M)
    weight = {p: given["low"] + (given["high"] - given["low"]) * x.get(p, 0) for p in A}
    return {p: w * len(A) / math.fsum(weight.values()) if any(weight.values()) else 0 for p, w in weight.items()}


@checks("centroid_weight")
def check_centroid_weight(check):
    for label, given, batch, found in every("centroid_weight"):
        A = {p: float(a) for p, a in at(batch, "advantage").items()}
        expected = by_hand(dict(zip(slots(batch), given["feature"])), A, given)
        check(f"in binary64: {label}", all(abs(float(entry(found["weight"], p).value) - x) < 1e-9 for p, x in expected.items()))
        flipped = {**batch, "advantage": [[a if isinstance(a, str) else -a for a in row] for row in batch["advantage"]]}
        same = exactly("centroid_weight", flipped, **given) == found
        check(f"the sides change places: {label}", same)


# ---- agent_weights

@function(weight=TOKENS)
def agent_weights(batch, agent: many(many(INTEGER))):
    """RLinf's loss scales: all agents of a response have the same weight, for any number of tokens.

    Source: loss scales of RLinf, 2509.15965, its code
    Takes: batch; `agent` per token: an integer id
    Gives: `weight` per token: 1/((number of different ids at the response's mask tokens) (its mask tokens with this id)), so that with
    `external` = `term` and `seq_mean_token_sum` every agent of a response weighs the same; scale itself
    """
    ids, found = read(batch, agent), {}
    for own in own_tokens(batch):
        named = [ids[p] for p in own]
        found.update({p: Fraction(1, len(set(named)) * named.count(ids[p])) for p in own})
    return {"weight": rows(batch, {p: Number(w, w) for p, w in found.items()}, NOTHING)}


@cases("agent_weights")
def agent_weights_cases(case):
    on(case,
       ("plain", "responses of two agents, of one and of three",
        tokens([0, 0, 1], logp=[[-0.5] * 4, [-0.5] * 2, [-0.5] * 3]), dict(agent=[[4, 4, 9, 4], [4, 4], [1, 0, 2]])),
       ("alone", "responses of a single token: weight 1",
        tokens([0, 1], logp=[[-0.5], [-0.5]]), dict(agent=[[0], [7]])),
       ("turns", "an agent that comes back later in the response is counted once",
        tokens(logp=[[-0.5] * 5]), dict(agent=[[1, 2, 2, 2, 1]])),
       ("holes", "an agent with masked tokens only is not counted",
        tokens([0, 0, 1], "1011 00 01", logp=[[-0.5] * 4, [-0.5] * 2, [-0.5] * 2]),
        dict(agent=[[3, UNMASKED, 5, 3], [UNMASKED] * 2, [UNMASKED, 5]])))


@checks("agent_weights")
def check_agent_weights(check):
    for label, given, batch, found in every("agent_weights"):
        for line in own_tokens(batch):
            parts = {}
            for p in line:
                parts[entry(given["agent"], p)] = parts.get(entry(given["agent"], p), 0) + entry(found["weight"], p).value
            check(f"each agent has its part: {label}", set(parts.values()) <= {Fraction(1, max(len(parts), 1))})


# ---- routed_weight

@function(weight=TOKEN_SIZES)
def routed_weight(batch: reads("entropy"), routed: many(FLAG), beta: NOT_NEGATIVE):
    """SRPO (2604.02288), sample routing: weights of the tokens routed to distillation, smaller where the teacher's entropy is high; mean 1.

    Source: SRPO, sample routing, 2604.02288
    Takes: batch with `entropy` (H, the teacher's); `routed` (N flags), `beta` >= 0
    Gives: u = e^(-beta H) at the mask tokens of routed responses. `weight` per token: u/(mean of u over all of these in the batch), 0
    at all others; scale itself times 1 + beta (abs(H) + max abs(H) over them)
    """
    H = {p: h for p, h in at(batch, "entropy").items() if routed[p[0]]}
    u = {p: reals.exp(-real(beta * h)) for p, h in H.items()}
    level = sum(u.values(), ZERO) / max(1, len(u))
    most = max((abs(h) for h in H.values()), default=Fraction(0))
    found = {p: Number(x / level, x / level * real(1 + beta * (abs(H[p]) + most))) for p, x in u.items()}
    return {"weight": rows(batch, found, NOTHING)}


@cases("routed_weight")
def route_weight_cases(case):
    UNSURE = [[0.5, 2, 0], [1.25, 0.125], [3, 0.75]]
    on(case,
       ("plain", "two of three responses are routed: tokens of the other have weight 0",
        tokens(entropy=UNSURE), dict(routed=marks("101"), beta=1)),
       ("none", "no response is routed: every weight is 0",
        tokens(entropy=UNSURE), dict(routed=marks("000"), beta=1)),
       ("flat", "beta 0: weight 1 at tokens of routed responses, 0 at others",
        tokens(entropy=UNSURE), dict(routed=marks("011"), beta=0)),
       ("far", "factors of e^-1600 and e^-1200 underflow, their quotients do not",
        tokens(entropy=[[4, 3], [3.0009765625]]), dict(routed=marks("11"), beta=400)),
       ("holes", "masked tokens have weight 0; a fully masked response is routed",
        tokens(None, "101 00 11", entropy=[[0.5, NAN, 1], [NAN, 4], [2, 0.25]]), dict(routed=marks("110"), beta=2)))


@checks("routed_weight")
def check_routed_weight(check):
    for label, given, batch, found in every("routed_weight"):
        w = {(i, t): x.value for i, row in enumerate(found["weight"]) for t, x in enumerate(row)}
        told = [p for p in at(batch, "entropy") if given["routed"][p[0]]]
        check(f"their mean is 1: {label}", not told or near(sum(w[p] for p in told), len(told)))
        check(f"0 for all others: {label}", all(x == 0 for p, x in w.items() if p not in told))
        H = at(batch, "entropy")
        beta = real(Fraction(given["beta"]))
        for p, q in itertools.combinations(told, 2):
            check(f"the difference in the exponent: {label}", near(reals.log(w[p] / w[q]), beta * real(H[q] - H[p])))
