"""Advantages of responses from statistics of their group or bundle that the advantage axis does not have."""
import itertools
import math
import statistics
from fractions import Fraction

import reals
from functions.arithmetic import (HALF, NOTHING, SMALL, Number, by_group, itself, less, mean, mean_of, per_group, population_deviation,
                                  ranks, real, rewards_of, sample_variance)
from functions.batches import FOUR, TENTHS, each, on, responses
from functions.comparing import cases_of, close, every, exactly, fraction, near, values
from functions.domains import COUNT, FRACTION, INTEGER, NOT_NEGATIVE, NUMBER, POSITIVE, many, number, one_of, reads
from functions.registry import cases, checks, function
from limits import ONE, ZERO
from reals import mpf
from scenarios import Dice

MILLIONTH = Fraction(1, 10 ** 6)


# ---- median_advantage

@function(advantage=many(NUMBER), pivot=many(COUNT))
def median_advantage(batch: reads("reward"), eps: POSITIVE):
    """MC-GRPO: lower medians of the rewards and of their distances; the response at the median is the pivot.

    Source: MC-GRPO
    Takes: batch with `reward`; `eps` > 0
    Gives: med = lower median of the group's rewards (number ceil(G/2) in ascending order), MAD = lower median of abs(r - med).
    `advantage` (N): (r - med)/(MAD + eps); scale (abs(r) + abs(med))/(MAD + eps), 0 where r = med. `pivot` (groups): the first response
    of the group, by its number in the batch, with r = med
    """
    r = [Fraction(x) for x in batch["reward"]]
    found, pivots = {}, []
    for group in by_group(batch):
        lower = lambda xs: sorted(xs)[(len(xs) - 1) // 2]
        centre = lower([r[i] for i in group])
        divisor = lower([abs(r[i] - centre) for i in group]) + eps
        pivots.append(next(i for i in group if r[i] == centre))
        for i in group:
            found[i] = Number((r[i] - centre) / divisor, (abs(r[i]) + abs(centre)) / divisor) if r[i] != centre else NOTHING
    return {"advantage": [found[i] for i in range(len(r))], "pivot": pivots}


@cases("median_advantage")
def median_advantage_cases(case):
    on(case,
       ("plain", "five rewards: their distance from the median, divided by the median distance",
        responses([0] * 5, [0.5, 1, 0, 0.25, 0.75]), dict(eps=0.001)),
       ("even", "four rewards: the median is the lower of the two middle ones",
        responses([0] * 4, [0.5, 1, 0, 0.25]), dict(eps=0.001)),
       ("no-distance", "most rewards are equal, the median distance is 0: the others are divided by eps alone",
        responses([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 0, 1]), dict(eps=0.001)),
       ("lone", "a single response: its advantage is 0 and it is the pivot",
        responses([0, 1, 1, 1], [0.75, -1, 2, 0.5]), dict(eps=0.001)),
       ("equal", "equal rewards: every advantage is 0 and the first response is the pivot",
        responses([0, 0, 0, 1, 1], [TENTHS] * 3 + [1, 2]), dict(eps=0.125)))


@checks("median_advantage")
def check_median_advantage(check):
    for label, a, batch in cases_of("median_advantage"):
        found = exactly("median_advantage", batch, **a)
        A, r = values(found["advantage"]), [Fraction(x) for x in batch["reward"]]
        for g, group in enumerate(by_group(batch)):
            centre = statistics.median_low([r[i] for i in group])
            distance = statistics.median_low([abs(r[i] - centre) for i in group])
            check(f"back to rewards: {label}", all(A[i] * (distance + Fraction(a["eps"])) + centre == r[i] for i in group))
            pivot = found["pivot"][g]
            check(f"the pivot: {label}", r[pivot] == centre and not any(r[i] == centre for i in group if i < pivot))
        moved = {**batch, "reward": [x + 4 for x in batch["reward"]]}
        check(f"a shift: {label}", values(exactly("median_advantage", moved, **a)["advantage"]) == A)


# ---- virtual_reward_advantage

@function(advantage=many(NUMBER))
def virtual_reward_advantage(batch: reads("reward"), virtual: NUMBER, count: COUNT, eps: NOT_NEGATIVE):
    """NGRPO: mean and deviation include additional virtual responses with the best reward.

    Source: NGRPO
    Takes: batch with `reward`; `virtual`, `count` m >= 0, `eps` >= 0
    Gives: `advantage` (N): (r - mean)/(s + eps), mean and sample standard deviation s over the group's rewards and m times `virtual`; 0
    where r is the mean; r if the group has one response; scale (abs(r) + mean of absolute values)/(s + eps), or as it
    """
    r = rewards_of(batch)

    def advantages(group):
        if len(group) == 1:
            return itself(r[i] for i in group)
        every = [r[i] for i in group] + [virtual] * int(count)
        centre, size = mean(every), mean([abs(x) for x in every])
        spread = reals.sqrt(real(sample_variance(every))) + real(eps)
        return [Number(real(r[i] - centre) / spread, real(abs(r[i]) + size) / spread) if r[i] != centre else NOTHING for i in group]
    return {"advantage": per_group(batch, advantages)}


@cases("virtual_reward_advantage")
def virtual_reward_cases(case):
    for label, comment, reward, group, virtual, count, eps in (
            ("wrong", "all rewards are 0: a virtual reward of 1 lifts the mean, so every advantage is negative",
             [0, 0, 0], (0, 0, 0), 1, 1, 1e-6),
            ("mixed", "right and wrong responses together with two virtual rewards of 1",
             [1, 0, 0, 1, 0.25, TENTHS], (0, 0, 0, 1, 1, 1), 1, 2, 1e-6),
            ("right", "all rewards equal the virtual one: every advantage is 0", [1, 1, 1], (0, 0, 0), 1, 1, 0),
            ("lone", "a single response: its advantage is its reward", [0.25, 1, 0], (0, 1, 1), 1, 1, 1e-6)):
        case(label, comment, responses(list(group), reward), virtual=virtual, count=count, eps=eps)


@checks("virtual_reward_advantage")
def check_virtual_reward_advantage(check):
    for label, given, batch, found in every("virtual_reward_advantage"):
        r, best = fraction(batch["reward"]), Fraction(given["virtual"])
        for group in by_group(batch):
            if len(group) > 1:
                own = [r[i] for i in group] + [best] * given["count"]
                spread = reals.sqrt(real(sample_variance(own))) + real(Fraction(given["eps"]))
                rest = given["count"] * (best - mean(own))
                total = sum(real(found["advantage"][i].value) for i in group) * spread
                check(f"with the virtual ones they sum to 0: {label}", near(total, -rest))


# ---- collapsed_advantage

@function(advantage=many(NUMBER))
def collapsed_advantage(batch: reads("reward"), eps: NOT_NEGATIVE):
    """AGPO (2503.15952), code: a constant advantage in groups that are all right or all wrong.

    Source: AGPO, 2503.15952, code
    Takes: batch with `reward`; `eps` >= 0
    Gives: `advantage` (N): (r - mean)/(s + eps) over the group, s the sample standard deviation; in a group of equal rewards 1 if they
    are 1, -1 if they are 0, else 0; r in a group of one; scale (abs(r) + mean abs(r))/(s + eps), itself where the rewards are equal
    """
    r = rewards_of(batch)

    def advantages(group):
        own = [r[i] for i in group]
        if len(own) == 1:
            return itself(own)
        if len(set(own)) == 1:
            return itself([{1: Fraction(1), 0: Fraction(-1)}.get(x, Fraction(0)) for x in own])
        s, centre, size = reals.sqrt(real(sample_variance(own))) + real(eps), mean(own), mean([abs(x) for x in own])
        return [Number(real(x - centre) / s, real(abs(x) + size) / s) for x in own]
    return {"advantage": per_group(batch, advantages)}


@cases("collapsed_advantage")
def collapsed_advantage_cases(case):
    def collapsed(label, comment, reward, group=(0, 0, 0), eps=0.000001):
        case(label, comment, responses(list(group), reward), eps=eps)

    collapsed("plain", "a mixed group: the z-score of the rewards", [1, 0, 0.25])
    collapsed("constants", "a group all right has 1, all wrong -1, of equal rewards of 0.7 it has 0",
              [1, 1, 0, 0, TENTHS, TENTHS], (0, 0, 1, 1, 2, 2))
    collapsed("lone", "a single response: its advantage is its reward, of a wrong one 0 and not -1",
              [0, 1, 0.5, 2, 1], (0, 1, 2, 3, 3))
    collapsed("narrow", "rewards 2^-20 apart and no epsilon: z-scores of the usual size", [1, 1 - 2 ** -20, 1], eps=0)


@checks("collapsed_advantage")
def check_collapsed_advantage(check):
    for label, given, batch, found in every("collapsed_advantage"):
        for group in by_group(batch):
            A, r = [found["advantage"][i].value for i in group], [batch["reward"][i] for i in group]
            if len(set(r)) > 1:
                m, s = statistics.mean(fraction(r)), reals.sqrt(real(statistics.variance(fraction(r))))
                back = [a * (s + real(Fraction(given["eps"]))) for a in A]
                check(f"the z-score: {label}", all(near(x + real(m), Fraction(y)) for x, y in zip(back, r)))
            elif len(r) > 1:
                check(f"a constant: {label}", A == [{1: 1, 0: -1}.get(r[0], 0)] * len(r))
            else:
                check(f"itself: {label}", A == fraction(r))


# ---- multi_scale_advantage

def compositions(counts):
    """How many of each of the different rewards a subset of at least two may have."""
    return [ks for ks in itertools.product(*(range(c + 1) for c in counts)) if sum(ks) >= 2]


@function(advantage=many(NUMBER))
def multi_scale_advantage(reward: many(NUMBER, least=2, most=20), eps: POSITIVE):
    """MS-GRPO: the mean over the sizes of the mean over the subgroups, each the z-score inside it.

    Source: MS-GRPO
    Takes: `reward` (n, 2 to 20 of them), `eps` > 0
    Gives: `advantage` (n): the mean over k = 2..n of the mean over the subsets of k responses that have this one of (r -
    mean)/(population deviation + eps), both over the subset; scale: the same of (abs(r) + mean abs)/(deviation + eps), 0 for subsets of
    equal rewards
    """
    n, different = len(reward), sorted(set(reward))
    counts = [reward.count(v) for v in different]
    found = {v: [ZERO, ZERO] for v in different}
    for ks in compositions(counts):
        tau, members = sum(ks), [v for v, k in zip(different, ks) for _ in range(k)]
        if len(set(members)) == 1:
            continue  # all rewards are equal
        s, centre, size = population_deviation(members) + real(eps), mean(members), mean([abs(v) for v in members])
        ways = math.prod(math.comb(c, k) for c, k in zip(counts, ks))
        for v, c, k in zip(different, counts, ks):
            share = real(Fraction(ways * k, c * math.comb(n - 1, tau - 1) * (n - 1)))  # C(c - 1, k - 1) = C(c, k) k/c
            found[v][0] += share * real(v - centre) / s
            found[v][1] += share * real(abs(v) + size) / s
    return {"advantage": [Number(*found[r]) for r in reward]}


@cases("multi_scale_advantage")
def multi_scale_advantage_cases(case):
    each(case,
         ("three", "three responses: the mean over their subgroups of two and of three", dict(reward=[1, 0, 0.25], eps=0.000001)),
         ("binary", "two of five responses are right", dict(reward=[1, 0, 0, 1, 0], eps=0.0001)),
         ("two", "two responses: there is only one subgroup", dict(reward=[0.5, -2], eps=0.125)),
         ("equal", "all rewards are equal: every advantage is 0", dict(reward=[0.3] * 4, eps=0.5)),
         ("wide", "a reward of 2^410 beside rewards near 1e-50: the squares of all underflow in no common unit",
          dict(reward=[2.0 ** 410, 2.0 ** -170, -2.0 ** -171, 2.0 ** -172], eps=2.0 ** -180)),
         ("twenty", "twenty responses, a million subgroups", dict(reward=[1] * 3 + [0] * 15 + [TENTHS] * 2, eps=0.000001)))


@checks("multi_scale_advantage")
def check_multi_scale_advantage(check):
    for label, given, _, found in every("multi_scale_advantage"):
        r, A = given["reward"], values(found["advantage"])
        check(f"they add up to 0: {label}", near(sum(A), 0))
        if len(r) > 8:
            continue
        for i in range(len(r)):
            means = []
            for tau in range(2, len(r) + 1):
                sets = [s for s in itertools.combinations(range(len(r)), tau) if i in s]
                zs = [(r[i] - statistics.mean(r[k] for k in s)) / (statistics.pstdev([r[k] for k in s]) + given["eps"]) for s in sets]
                means.append(statistics.mean(zs))
            check(f"all subgroups: {label}", close(A[i], statistics.mean(means)))
    dice = Dice(3)
    r = [dice.below(2) for _ in range(7)]
    A = exactly("multi_scale_advantage", reward=r, eps=2.0 ** -60)["advantage"]
    up, down = (next(A[i].value for i in range(7) if r[i] == x) for x in (1, 0))
    check("of 0 and 1: a factor of the centred reward", abs(up / -down - mpf(r.count(0)) / r.count(1)) < 1e-12)


# ---- two_anchor_advantage

def paper_anchor(r, centre, G, C):
    scale = 2 * reals.sqrt(real(C))
    return Number(scale * real(r - HALF), scale * real(abs(r) + HALF))


def code_anchor(r, centre, G, C):
    goal, scale = max(HALF, centre.value), reals.sqrt(real(4 * C / G))
    return Number(scale * real(r - goal), scale * real(abs(r) + (HALF if goal == HALF else centre.size)))


ANCHORS = {"paper": paper_anchor, "code": code_anchor}


@function(advantage=many(NUMBER))
def two_anchor_advantage(batch: reads("reward"), constraints: many(number(least=1)), alpha: NUMBER, beta: NUMBER, gain_pos: NUMBER,
                         gain_neg: NUMBER,
                form: one_of("paper", "code")):
    """MDP-GRPO (2606.06058): a mixture of tanh of the standardised reward and of the distance from a target, with a gain for each sign.

    Source: MDP-GRPO, 2606.06058
    Takes: batch with `reward`; `constraints` C >= 1 (N), `alpha`, `beta`, `gain_pos`, `gain_neg`, `form`
    Gives: m the group's mean, z = (r - m)/max(population deviation, 10^-8), d = 2 sqrt(C)(r - 1/2) (`paper`) or (r - max(1/2,
    m))/sqrt(G/(4 C)) (`code`); F(x) = g tanh(beta x), g = gain_pos if x >= 0, else gain_neg. `advantage` (N): (1 - alpha) F(z) + alpha
    F(d); scale: the sum of abs(1 - alpha) and abs(alpha) times min(abs(g), abs(g beta) size), size of z and d with plus for minus and
    absolute values, of z 0 where all rewards are equal
    """
    r = rewards_of(batch)

    def prospect(v):
        gain = real(gain_neg if v.value < 0 else gain_pos)
        return Number(gain * reals.tanh(real(beta) * v.value), min(abs(gain), abs(gain * real(beta)) * v.size))

    def advantages(group):
        own = [r[i] for i in group]
        centre, s = Number(mean(own), mean([abs(x) for x in own])), max(population_deviation(own), real(SMALL))
        alike = len(set(own)) == 1
        found = []
        for i in group:
            z = NOTHING if alike else Number(real(r[i] - centre.value) / s, real(abs(r[i]) + centre.size) / s)
            parts = prospect(z), prospect(ANCHORS[form](r[i], centre, len(group), constraints[i]))
            found.append(Number(sum(real(a) * x.value for a, x in zip((1 - alpha, alpha), parts)),
                                sum(abs(real(a)) * x.size for a, x in zip((1 - alpha, alpha), parts))))
        return found
    return {"advantage": per_group(batch, advantages)}


@cases("two_anchor_advantage")
def two_anchors_cases(case):
    def anchors(label, comment, reward, form, constraints, alpha=0.2, beta=0.8, group=None):
        x = responses(group or [0] * len(reward), reward)
        case(label, comment, x, constraints=constraints, alpha=alpha, beta=beta, gain_pos=1.25, gain_neg=2, form=form)

    anchors("paper", "distances from the group's mean and from one half; losses have a larger gain",
            [1, 0, 0.25, 0.5], "paper", [4, 4, 4, 4])
    anchors("code", "form `code`: the target is one half, or the group's mean where that is above",
            [0.5, 0, 0.25, 1, 0.75, 0.5], "code", [4, 4, 4, 3, 3, 3],
            group=[0, 0, 0, 1, 1, 1])
    anchors("equal", "equal rewards, and a single response: only the distance from the target counts",
            [0.75, 0.75, 0.25], "paper", [2, 5, 1], 0.5, group=[0, 0, 1])
    anchors("group", "alpha 0: only the distance from the group's mean counts", [1, 0, TENTHS], "paper", [1, 2, 3], 0, 2)
    anchors("steep", "beta of -30: tanh is saturated, and the signs are reversed", [1, 0], "paper", [9, 16], 0.75, -30)


@checks("two_anchor_advantage")
def check_two_anchor_advantage(check):
    for label, given, batch, found in every("two_anchor_advantage"):
        r, A = batch["reward"], values(found["advantage"])
        for group in by_group(batch):
            own = [r[i] for i in group]
            m, s, G = statistics.mean(own), max(statistics.pstdev(own), 1e-8), len(own)
            for i in group:
                C = given["constraints"][i]
                delta = 2 * math.sqrt(C) * (r[i] - 0.5) if given["form"] == "paper" else (r[i] - max(0.5, m)) / math.sqrt(G / 4 / C)
                gains = [given["gain_pos"] if v >= 0 else given["gain_neg"] for v in (r[i] - m, delta)]
                shaped = [g * math.tanh(given["beta"] * v) for g, v in zip(gains, ((r[i] - m) / s, delta))]
                check(f"by hand: {label}", close(A[i], (1 - given["alpha"]) * shaped[0] + given["alpha"] * shaped[1]))
    plain = dict(alpha=0, beta=2.0 ** -40, gain_pos=2.0 ** 40, gain_neg=2.0 ** 40, form="paper")
    batch = responses([0, 0, 0], [1, 0, 0.25])
    found = exactly("two_anchor_advantage", batch, constraints=[1] * 3, **plain)["advantage"]
    m, s = statistics.mean(batch["reward"]), statistics.pstdev(batch["reward"])
    check("small and straight: the z-score", all(close(n.value, (x - m) / s) for n, x in zip(found, batch["reward"])))


# ---- canon_advantage

def halves(group, metric):
    """The lower half of the group by the metric, the smaller one if they differ, and the rest."""
    order = [i for _, i in sorted(zip(ranks([metric[i] for i in group]), group))]
    return order[:len(group) // 2], order[len(group) // 2:]


@function(advantage=many(NUMBER))
def canon_advantage(batch: reads("reward"), metric: many(NUMBER), alpha: NUMBER, scaled: one_of("low", "high"), offset: NUMBER,
                    mix: NUMBER):
    """CANON, released code: the group is halved by a metric; compared with the mean of the other half and with that of the own half.

    Source: CANON, released code
    Takes: batch with `reward`; `metric` (N), `alpha`, `scaled` (`low`, `high`), `offset` b, `mix` mu
    Gives: the group in ascending order of the metric, the lower index first where equal: its first floor(G/2) responses are the low
    half, the others the high one. x = alpha r in the half `scaled`, r in the other. `advantage` (N): mu (x - mean x of the other half
    +- b, + in the high half) + (1 - mu)(r - mean r of the own half); the mean of an empty half is 0; scale: the absolute values of the
    terms, means of absolute values
    """
    r = rewards_of(batch)

    def advantages(group):
        both = dict(zip(("low", "high"), halves(group, metric)))
        raw = {name: [Number(r[i], abs(r[i])) for i in half] for name, half in both.items()}
        moved = {name: [Number(alpha * x, abs(alpha) * s) for x, s in half] if name == scaled else half for name, half in raw.items()}
        found = {}
        for name, other, way in (("low", "high", -1), ("high", "low", 1)):
            across, within = mean_of(moved[other]), mean_of(raw[name])
            for i, x, y in zip(both[name], moved[name], raw[name]):
                value = mix * (x.value - across.value + way * offset) + (1 - mix) * (y.value - within.value)
                found[i] = Number(value, abs(mix) * (x.size + across.size + abs(offset)) + abs(1 - mix) * (y.size + within.size))
        return [found[i] for i in group]
    return {"advantage": per_group(batch, advantages)}


@cases("canon_advantage")
def canon_advantage_cases(case):
    def canon(label, comment, reward, metric, alpha=1, scaled="low", offset=0, mix=1, group=FOUR):
        case(label, comment, responses(list(group), reward), metric=metric, alpha=alpha, scaled=scaled,
             offset=offset, mix=mix)

    canon("across", "mix 1: each reward is compared with the mean of the other half of the group",
          [1, 0, 0.5, 1], [0.5, 2, 0.25, 3])
    canon("within", "mix 0: each reward is compared with the mean of its own half of the group",
          [1, 0, 0.5, 1], [0.5, 2, 0.25, 3], mix=0)
    canon("even", "mix 0.5 and equal halves: the reward minus the group's mean", [1, 0, 0.5, TENTHS], [3, 1, 2, 0.5], mix=0.5)
    canon("entropy", "rewards of the half with the lower metric are scaled; offset between the halves",
          [1, 0, 0.5, 1], [3, 1, 2, 0.5], 0.75, "low", 0.125, 0.75)
    canon("length", "rewards of the half with the higher metric, larger in a group of five, are scaled",
          [1, 0, 1, 0.25, 0.5], [30, 100, 20, 50, 10], 0.5,
          "high",
          0.25, 0.5, (0,) * 5)
    canon("ties", "equal metrics: the response of lower index is in the lower half", [1, 0, 0.5, 0.25], [1, 1, 1, 0.5])
    canon("groups", "two prompts of two responses; a single response keeps its reward as advantage",
          [1, 0, 0, 1, TENTHS], [2, 1, 1, 2, 1], group=(0, 0, 1, 1, 2))


@checks("canon_advantage")
def check_canon_advantage(check):
    for label, given, batch, _ in every("canon_advantage"):
        plain = {**given, "alpha": 1, "offset": 0, "mix": 0.5}
        found = values(exactly("canon_advantage", batch, **plain)["advantage"])
        for group in by_group(batch):
            if len(group) % 2 == 0:
                centre = mean([Fraction(batch["reward"][i]) for i in group])
                check(f"both halves make the group: {label}", all(found[i] == Fraction(batch["reward"][i]) - centre for i in group))
        flipped = {**given, "metric": [-x for x in given["metric"]], "offset": -given["offset"],
                   "scaled": {"low": "high", "high": "low"}[given["scaled"]]}
        if len(set(given["metric"])) == 4 == len(given["metric"]):
            check(f"upside down: {label}", exactly("canon_advantage", batch, **flipped) == exactly("canon_advantage", batch, **given))


# ---- asymmetric_advantage

def paper_scale(p, u):
    return real(u) / (2 * reals.sqrt(real(p))) + real(1 - u) / (2 * reals.sqrt(real(1 - p)))


def code_scale(p, u):
    root, e = reals.sqrt(real(p)), real(MILLIONTH)
    return (real(u) / (root + e) + real(1 - u) / (1 - root + e)) / 2


SCALES = {"paper": (paper_scale, 0), "code": (code_scale, MILLIONTH)}


@function(advantage=many(NUMBER))
def asymmetric_advantage(batch: reads("reward"), form: one_of("paper", "code"), alpha: POSITIVE, mean_reward: FRACTION):
    """A-GRAE: the normalised 0/1 reward, times a factor that depends on the mean rewards of the group and the batch.

    Source: A-GRAE
    Takes: batch with `reward` of 0 and 1; `form`, `alpha` > 0, 0 <= `mean_reward` u <= 1
    Gives: p the group's mean, s its sample standard deviation. `advantage` (N): 0 if p is 0 or 1; else a, times min(1, u/alpha) where r
    > p; `code` (the official code): a = ((r - p)/(s + e))(1/2)(u/(sqrt p + e) + (1 - u)/(1 - sqrt p + e)), e = 10^-6; scale: r + p for
    r - p
    """
    r, (scale, eps) = rewards_of(batch), SCALES[form]
    most = min(Fraction(1), mean_reward / alpha)

    def advantages(group):
        own = [r[i] for i in group]
        p = mean(own)
        if p in (0, 1):
            return [NOTHING] * len(group)
        factor = scale(p, mean_reward) / (reals.sqrt(real(sample_variance(own))) + real(Fraction(eps)))
        damped = [factor * real(most) if x > p else factor for x in own]
        return [Number(real(x - p) * f, real(x + p) * f) for x, f in zip(own, damped)]
    return {"advantage": per_group(batch, advantages)}


@cases("asymmetric_advantage")
def group_relative_scale_cases(case):
    for form in ("code",):
        for label, comment, reward, group, u in (
                ("quarter", "one of four responses is right; a mean reward exactly at alpha damps nothing",
                 [1, 0, 0, 0], FOUR, 0.5),
                ("most", "three of four responses are right; a mean reward above alpha damps nothing", [1, 0, 1, 1], FOUR, 1),
                ("damped", "a mean reward below alpha: positive advantages are damped",
                 [1, 1, 0, 1, 0, 0], (0, 0, 0, 1, 1, 1), 0.125),
                ("degenerate", "groups all right, all wrong or of one response have 0, a mixed one has not",
                 [1, 1, 0, 0, 1, 0, 1], (0, 0, 1, 1, 2, 3, 3), 0.75)):
            case(f"{form}-{label}", comment, responses(list(group), reward),
                 form=form, alpha=0.5, mean_reward=u)


@checks("asymmetric_advantage")
def check_asymmetric_advantage(check):
    paper, code = paper_scale, code_scale
    quarter, half = Fraction(1, 4), HALF
    check("the example of the paper's form", abs(paper(quarter, half) - 0.7886751345948129) < 1e-15)
    check("and of the code's", abs(code(quarter, half) - 1) < 1e-5)
    pairs = itertools.product((quarter, half), repeat=2)
    check("the paper's is the same upside down", all(near(paper(p, u), paper(1 - p, 1 - u)) for p, u in pairs))
    for label, given, batch, found in every("asymmetric_advantage"):
        damp = min(Fraction(1), Fraction(given["mean_reward"]) / Fraction(given["alpha"]))
        for group in by_group(batch):
            up, down = (sum(real(found["advantage"][i].value) for i in group if batch["reward"][i] == side) for side in (1, 0))
            check(f"the sides balance but for the damping: {label}", near(up, -down * real(damp)))


# ---- hardness_advantage

@function(advantage=many(NUMBER))
def hardness_advantage(batch: reads("reward"), slope: NUMBER, offset: NUMBER):
    """Confucius3-Math, section 6.2: the centred reward times a linear function of the group's mean reward.

    Source: Confucius3-Math
    Takes: batch with `reward`; `slope` a, `offset` c
    Gives: mu the group's mean. `advantage` (N): (r - mu)(a mu + c); scale (abs(r) + mean abs(r))(abs(a) mean abs(r) + abs(c))
    """
    r = rewards_of(batch)

    def advantages(group):
        mu, size = mean([r[i] for i in group]), mean([abs(r[i]) for i in group])
        return [Number((r[i] - mu) * (slope * mu + offset), (abs(r[i]) + size) * (abs(slope) * size + abs(offset))) for i in group]
    return {"advantage": per_group(batch, advantages)}


@cases("hardness_advantage")
def hardness_advantage_cases(case):
    for label, comment, reward, group, slope, offset in (
            ("source", "rewards of 1 and -1: the prompt with the lower mean reward weighs more",
             [1, -1, -1, 1, 1, -1], (0, 0, 0, 1, 1, 1), -0.256, 1.256),
            ("plain", "slope 0: the reward minus the group's mean, times the constant offset",
             [1, 0, TENTHS, 0.25], (0, 0, 0, 0), 0, 0.5),
            ("equal", "equal rewards: every advantage is 0", [1, 1, 0.5], (0, 0, 1), -0.256, 1.256),
            ("cancel", "slope 1 and offset -1: in a group with mean reward 1 the factor is 0",
             [0.5, 1.5, 3, 0], (0, 0, 1, 1), 1, -1)):
        case(label, comment, responses(list(group), reward), slope=slope, offset=offset)


@checks("hardness_advantage")
def check_hardness_advantage(check):
    for label, given, batch, found in every("hardness_advantage"):
        A = values(found["advantage"])
        check(f"they sum to 0: {label}", all(sum(A[i] for i in group) == 0 for group in by_group(batch)))
        plain = values(exactly("hardness_advantage", batch, slope=0, offset=1)["advantage"])
        mu = {i: statistics.mean(Fraction(batch["reward"][j]) for j in group) for group in by_group(batch) for i in group}
        line = [Fraction(given["slope"]) * mu[i] + Fraction(given["offset"]) for i in range(len(A))]
        check(f"a line of the mean: {label}", A == [x * y for x, y in zip(plain, line)])


# ---- bundle_advantage

def tail_and_middle(S, q, level, omega, eps):
    """RISKPO's mixed value at risk: v is about sums below the low quantile, u about those between both quantiles."""
    relu = lambda x: max(x, Fraction(0))
    u = (relu(S - q[0]) - relu(S - q[1])) / (level[1] - level[0] + eps)
    v = -relu(q[0] - S) / (level[0] + eps)
    size = ((abs(S) + abs(q[0])) * (S > q[0]) + (abs(S) + abs(q[1])) * (S > q[1])) / (level[1] - level[0] + eps)
    size += omega * (abs(S) + abs(q[0])) * (S < q[0]) / (level[0] + eps)
    return Number((omega * v + u) / (omega + 1), size / (omega + 1))


def credit(U, r, centres):
    """Divides a bundle's value among its prompts in proportion to their deviations; evenly where the sum of deviations is about 0."""
    apart = [x - c for x, c in zip(r, centres)]
    D = sum(apart)
    size = sum(abs(x) + abs(c) for x, c in zip(r, centres))
    if not less(MILLIONTH, abs(D)):
        return [Number(U.value / len(r), U.size / len(r))] * len(r)
    return [Number(U.value * real(x / D), U.size * real((abs(y) + abs(c)) / abs(D) * (1 + size / abs(D))))
            for x, y, c in zip(apart, r, centres)]


@function(advantage=many(NUMBER))
def bundle_advantage(batch: reads("reward"), bundle: many(INTEGER), low_quantile: NUMBER, high_quantile: NUMBER, low_level: FRACTION,
                     high_level: FRACTION, omega: NOT_NEGATIVE, eps: NOT_NEGATIVE):
    """RISKPO, released code with the settings of its script.

    Source: RISKPO, released code
    Takes: batch with `reward`; `bundle` (groups: an id), `low_quantile` qa, `high_quantile` qc, `low_level` a, `high_level` c, `omega`
    >= 0, `eps` >= 0
    Gives: in a bundle of B groups, n its smallest G, for k < n: the k-th responses of its groups, S_k the sum of their rewards. U =
    (omega v + u)/((omega + 1)(s + eps)), u = (relu(S - qa) - relu(S - qc))/(c - a + eps), v = -relu(qa - S)/(a + eps), s the sample
    standard deviation of the n sums, 1 if n = 1. D = sum of r - rbar over the k-th responses, rbar the mean of the whole group.
    `advantage` (N): U (r - rbar)/D if abs(D) > 10^-6, else U/B; 0 for responses beyond n. Scale: of U as everywhere, times (abs(r) +
    abs(rbar))/abs(D) (1 + (sum of abs(r) + abs(rbar))/abs(D)), or 1/B
    """
    groups, r = by_group(batch), rewards_of(batch)
    found = {i: NOTHING for i in range(len(r))}
    for one in sorted(set(bundle)):
        members = [group for group, b in zip(groups, bundle) if b == one]
        sums = [sum(r[i] for i in turn) for turn in zip(*members)]
        spread = (reals.sqrt(real(sample_variance(sums))) if len(sums) > 1 else ONE) + real(eps)
        for S, turn in zip(sums, zip(*members)):
            U = tail_and_middle(S, (low_quantile, high_quantile), (low_level, high_level), omega, eps)
            U = Number(real(U.value) / spread, real(U.size) / spread) if spread else NOTHING
            dealt = credit(U, [r[i] for i in turn], [mean([r[j] for j in group]) for group in members])
            found.update(zip(turn, dealt))
    return {"advantage": [found[i] for i in range(len(r))]}


@cases("bundle_advantage")
def bundle_advantage_cases(case):
    def risk(label, comment, reward, group, bundle, q=(0.5, 1.5), omega=1.5, eps=1e-6):
        case(label, comment, responses(list(group), reward), bundle=bundle, low_quantile=q[0], high_quantile=q[1],
             low_level=0.2, high_level=0.8, omega=omega, eps=eps)

    risk("plain", "two prompts in a bundle, whose rewards sum to 2, 1 and 0", [1, 1, 0, 1, 0, 0], (0, 0, 0, 1, 1, 1), [0, 0])
    risk("even", "deviations in the bundle sum to 0: its score is shared equally by its responses",
         [1, 0, 0, 1], (0, 0, 1, 1), [0, 0], (0.5, 0.75))
    risk("two", "two bundles, one of two prompts and one of a single prompt",
         [1, 0, 0.25, 0.5, 0, 2, 1, 0, 0.5], (0, 0, 0, 1, 1, 1, 2, 2, 2), [0, 1, 0],
         (0.75, 1.25), eps=0)
    risk("beyond", "prompts of two and three responses in a bundle: the third response has advantage 0",
         [1, 0, 1, 0.25, 0.625], (0, 0, 1, 1, 1), [4, 4],
         (0.25, 0.75))
    risk("one", "one response per prompt: a single sum, whose deviation counts as 1",
         [1, 0.5], (0, 1), [0, 0], (1.25, 2))


@checks("bundle_advantage")
def check_bundle_advantage(check):
    for label, given, batch, found in every("bundle_advantage"):
        eps, r, groups = Fraction(given["eps"]), fraction(batch["reward"]), by_group(batch)
        a, c, low, high, omega = (Fraction(given[k]) for k in ("low_level", "high_level", "low_quantile", "high_quantile", "omega"))
        for one in set(given["bundle"]):
            turns = list(zip(*[group for group, b in zip(groups, given["bundle"]) if b == one]))
            sums = [sum(r[i] for i in turn) for turn in turns]
            spread = reals.sqrt(real(sample_variance(sums))) if len(sums) > 1 else 1
            for turn, S in zip(turns, sums):
                middle = min(max(S, low), high) - low
                U = (middle / (c - a + eps) - omega * max(low - S, 0) / (a + eps)) / (omega + 1)
                total = sum(real(found["advantage"][i].value) for i in turn) * (spread + real(eps))
                check(f"the parts make the whole: {label}", near(total, U) or abs(total - real(U)) < 1e-30)
            check(f"nothing beyond: {label}", len(turns) == min(len(g) for g, b in zip(groups, given["bundle"]) if b == one))
