"""Rewards from other rewards, confidence, hints, predictions, turns and closeness to an anchor policy."""
import itertools
import statistics
from fractions import Fraction

import reals
from functions.arithmetic import HALF, NOTHING, Number, clamp, exp, itself, less, mean, means, real, summed
from functions.batches import SELF, TEACHER, TENTHS, UNMASKED, WITH_HOLES, each, marks, tokens
from functions.comparing import every, exactly, fraction, near, values
from functions.domains import COUNT, FLAG, FRACTION, INTEGER, NOT_NEGATIVE, NOT_POSITIVE, NUMBER, POSITIVE, integer, many, one_of, reads
from functions.registry import cases, checks, function
from limits import ZERO
from reals import mpf
from scenarios import NAN


# ---- gated_reward_sum

@function(reward=many(NUMBER))
def gated_reward_sum(rewards: many(many(NUMBER)), weight: many(NUMBER), gate: many(integer(-1))):
    """A weighted sum of rewards, some of them multiplied by another one (P-GRPO: format + outcome + outcome * thought).

    Source: P-GRPO (Posterior-GRPO), 2508.05170, as restated
    Takes: `rewards` (n x K), `weight` (K), `gate` (K column numbers, or -1)
    Gives: `reward` (n): sum_k w_k r_k g_k, g_k = 1 if the gate is -1, else r of that column; scale the absolute values of the terms
    """
    def total(row):
        terms = [w * x * (row[int(k)] if k >= 0 else 1) for w, x, k in zip(weight, row, gate)]
        return Number(sum(terms), sum(abs(x) for x in terms))
    return {"reward": [total(row) for row in rewards]}


@cases("gated_reward_sum")
def gated_sum_cases(case):
    for label, comment, rewards, weight, gates in (
            ("p-grpo", "format, outcome, and a thought reward that counts where the outcome is right",
             [[1, 1, 0.75], [1, 0, 0.5], [0, 1, 1]], [1, 1, 1],
             [-1, -1, 1]),
            ("weighted", "two columns with weights, without gates", [[1, 0.5], [TENTHS, -1]], [0.25, 0.75], [-1, -1]),
            ("itself", "columns that are their own gates: rewards are squared", [[0.5, -2], [3, 1]], [1, -0.5], [0, 1]),
            ("cancel", "weights of 1 and -1: terms that cancel", [[1, 1], [0.1, 0.3]], [1, -1], [-1, 0])):
        case(label, comment, rewards=rewards, weight=weight, gate=gates)


@checks("gated_reward_sum")
def check_gated_reward_sum(check):
    for label, given, _, found in every("gated_reward_sum"):
        rows, weight, gate = given["rewards"], given["weight"], given["gate"]
        alone = [[w * (k == j) for j, w in enumerate(weight)] for k in range(len(gate))]
        parts = [exactly("gated_reward_sum", rewards=rows, weight=one, gate=gate)["reward"] for one in alone]
        check(f"a sum of its columns: {label}", values(found["reward"]) == [sum(values(x)) for x in zip(*parts)])


# ---- brier_reward

@function(reward=many(NUMBER))
def brier_reward(confidence: many(NUMBER), correct: many(FRACTION), missing: many(FLAG)):
    """REFINE: 1 - (p - c)^2; a missing confidence counts as 1/2, and 1 is subtracted.

    Source: the confidence of ReFIne, 2510.09062, its code
    Takes: `confidence` p, `correct` c in [0, 1], `missing` flags (n each)
    Gives: `reward` (n): 1 - (clip(p, 0, 1) - c)^2; where missing p is not read: it is 1/2, and 1 is subtracted; scale: the absolute
    values of the terms, the square as one
    """
    def score(p, c, none):
        off = ((HALF if none else clamp(p, Fraction(0), Fraction(1))) - c) ** 2
        return Number(Fraction(1 - off - none), 1 + off + none)
    return {"reward": [score(*x) for x in zip(confidence, correct, missing)]}


@cases("brier_reward")
def brier_reward_cases(case):
    for label, comment, confidence, correct, missing in (
            ("plain", "confident and right, confident and wrong, undecided", [0.875, 0.875, 0.5], [1, 0, 1], [False] * 3),
            ("clipped", "confidences outside of 0 to 1 are clipped to it", [1.5, -0.25, 2], [1, 1, 0], [False] * 3),
            ("missing", "a missing confidence is not read: it counts as 1/2, and 1 is subtracted",
             [UNMASKED, 0.25, 0], [1, 0, 0], [True, False, True]),
            ("thirds", "confidences that are no binary fractions", [0.7, 0.1], [1, 0], [False, False])):
        case(label, comment, confidence=confidence, correct=correct, missing=missing)


@checks("brier_reward")
def check_brier_reward(check):
    for label, given, _, found in every("brier_reward"):
        other = {**given, "confidence": [1 - Fraction(p) for p in given["confidence"]], "correct": [1 - c for c in given["correct"]]}
        check(f"the opposite claim: {label}", exactly("brier_reward", **other) == found)


# ---- log_exp_reward

@function(reward=many(NUMBER))
def log_exp_reward(reward: many(NUMBER), threshold: NUMBER, upper: NUMBER, lower: NOT_NEGATIVE):
    """2509.18056: above the threshold a logarithm, below it an exponential that falls by 1 at a distance of 1.

    Source: TempSamp-R1, 2509.18056, eq. 2-4
    Takes: `reward` (n), `threshold` tau, `upper` a, `lower` b >= 0
    Gives: `reward` (n): r >= tau: tau + a log(1 + r - tau); else tau - expm1(b (tau - r))/expm1(b), or r if b = 0; scale abs(tau) +
    abs(second term)(1 + b abs(r - tau)), abs(r) where b = 0 and r < tau
    """
    def mapped(r):
        gap = abs(r - threshold)
        if not less(r, threshold):
            terms = real(threshold), real(upper) * reals.log1p(real(gap))
        elif lower:
            terms = real(threshold), -reals.expm1(real(lower * gap)) / reals.expm1(real(lower))
        else:
            return Number(r, abs(r))
        return Number(sum(terms), abs(terms[0]) + abs(terms[1]) * real(1 + abs(lower) * gap))
    return {"reward": [mapped(r) for r in reward]}


@cases("log_exp_reward")
def log_exp_map_cases(case):
    for label, comment, reward, threshold, upper, lower in (
            ("source", "rewards above, at and below the threshold", [0, 0.4, 0.8, 1, -1], 0.8, 0.01, 1),
            ("straight", "lower 0: below the threshold the reward itself", [0, 0.25, 0.75, 1.5], 0.75, 0.5, 0),
            ("steep", "lower 8: below the threshold the reward falls slowly, then steeply", [0, 0.5, 0.875, 1, 3], 0.875, 2, 8),
            ("straight-nearly", "lower 2^-1000: below the threshold the reward itself", [-(2.0 ** -80), 0.75], 0, 0.5, 2.0 ** -1000),
            ("flat", "upper 0: no reward is above the threshold", [0.5, 1, 2], 1, 0, 0.001)):
        case(label, comment, reward=reward, threshold=threshold, upper=upper, lower=lower)


@checks("log_exp_reward")
def check_log_exp_reward(check):
    for label, given, _, found in every("log_exp_reward"):
        tau, upper, lower = (Fraction(given[key]) for key in ("threshold", "upper", "lower"))
        at = lambda r: exactly("log_exp_reward", **{**given, "reward": [r]})["reward"][0].value
        check(f"1 below the threshold it is 1 less: {label}", near(at(tau - 1), tau - 1))
        check(f"the threshold itself: {label}", near(at(tau), tau))
        check(f"e - 1 above it: {label}", near(at(tau + 1) - real(tau), real(upper) * reals.log(2)))
        order = sorted(range(len(found["reward"])), key=lambda k: given["reward"][k])
        mapped = [real(found["reward"][k].value) for k in order]
        check(f"it never falls: {label}", all(x <= y for x, y in zip(mapped, mapped[1:])))


# ---- trust_reward

@function(reward=many(NUMBER))
def trust_reward(outcome: many(NUMBER, least=1), thought: many(NUMBER, least=1), decay: NOT_NEGATIVE, least: NUMBER, right: NUMBER,
                 high: NUMBER, low: NUMBER):
    """TRUST-GRPO: the weight of the thought reward depends on whether right answers have higher thought rewards than wrong ones.

    Source: TRUST-GRPO of SophiaVL-R1, 2505.17018, eq. 1-5, and its code
    Takes: one group: `outcome` o, `thought` h (n >= 1 each); `decay` >= 0: alpha e^(-step/T); `least`, `right`, `high`, `low` <= `high`
    (code: 0.2, 0.5, 0.9, 0.1)
    Gives: h := 0 where o < least. m+ and m-: means of h where o >= right, and elsewhere, 0 if there are none. g = e^(m+ - m-) if m+ <
    m- and some o >= right, else 1; g = 0 if all o >= high or all o <= low. `reward` (n): o + g decay h; scale abs(o) + abs(g decay h)(1
    + mean abs(h) of either side), abs(o) if g = 0
    """
    thought = [Fraction(0) if less(o, least) else x for o, x in zip(outcome, thought)]
    sides = [[x for o, x in zip(outcome, thought) if less(o, right) == wrong] for wrong in (False, True)]
    of_right, of_wrong = (mean(side) if side else Fraction(0) for side in sides)
    size = 1 + sum(mean([abs(x) for x in side]) for side in sides if side)
    trust = reals.exp(real(of_right - of_wrong)) if sides[0] and less(of_right, of_wrong) else Fraction(1)
    alike = not any(less(o, high) for o in outcome) or not any(less(low, o) for o in outcome)
    if alike or not decay:
        return {"reward": itself(outcome)}
    return {"reward": [Number(real(o) + real(trust) * real(decay * x), real(abs(o)) + real(trust) * real(abs(decay * x) * size))
                       for o, x in zip(outcome, thought)]}


@cases("trust_reward")
def trust_reward_cases(case):
    CUTS = dict(least=0.2, right=0.5, high=0.9, low=0.1)
    for label, comment, outcome, thought, decay in (
            ("trusted", "right answers have higher thought rewards than wrong ones: these count in full",
             [1, 0.75, 0.25, 0.5], [0.75, 0.5, 0.5, 0.25], 0.25),
            ("mistrusted", "wrong answers have higher thought rewards than right ones: these count less",
             [1, 0.625, 0.25, 0.375], [0.25, 0.5, 0.875, 1], 0.25),
            ("forced", "an outcome below `least`: its thought reward is set to 0 before the means",
             [1, 0, 0.125, 0.25], [0.5, 1, 1, 0.25], 0.3),
            ("right", "all outcomes are high: thought rewards do not count", [1, 1, 0.9375], [0.25, 0.5, 1], 0.3),
            ("wrong", "all outcomes are low: thought rewards do not count", [0, 0.0625, 0], [0.25, 0.5, 1], 0.3),
            ("none-right", "no outcome is right, but not all are low: thought rewards count in full",
             [0.25, 0.375, 0.3125], [0.25, 0.5, 1], 0.3),
            ("bound", "outcomes of exactly 0.5 are right; there is no wrong one", [0.5, 0.5, 0.625], [0.25, 0.5, 0], 0.125)):
        case(label, comment, outcome=outcome, thought=thought, decay=decay, **CUTS)


@checks("trust_reward")
def check_trust_reward(check):
    for label, given, _, found in every("trust_reward"):
        free = exactly("trust_reward", **{**given, "decay": 0})["reward"]
        check(f"without thoughts the outcome: {label}", values(free) == fraction(given["outcome"]))
        twice = exactly("trust_reward", **{**given, "decay": 2 * given["decay"]})["reward"]
        linear = all(near(2 * real(x.value) - real(y.value), real(z.value))
                     for x, y, z in zip(found["reward"], twice, free))
        check(f"linear in the decay: {label}", linear)


# ---- retention_reward

@function(reward=many(NUMBER))
def retention_reward(batch: reads("logp_old", "logp_ref", "reward"), alpha: NOT_NEGATIVE, **more: {"lambda": NUMBER}):
    """RaPO (2605.09640): a bonus lambda e^(-alpha d), d the response's mean log-ratio to the anchor, at least 0.

    Source: RaPO, 2605.09640
    Takes: batch with `logp_old`, `logp_ref`, `reward`; `lambda`, `alpha` >= 0
    Gives: `reward` (N): r + lambda e^(-alpha d), d = max(0, mean of o - f over mask tokens), 0 without any; scale abs(r) + abs(second
    term)(1 + alpha mean abs(o - f))
    """
    apart, weight = means(batch, "logp_old", "logp_ref"), more["lambda"]

    def shaped(i, r):
        d = apart.get(i, NOTHING)
        kept = real(weight) * reals.exp(-real(alpha * max(d.value, 0)))
        return Number(real(r) + kept, real(abs(r)) + abs(kept) * real(1 + abs(alpha) * d.size))
    return {"reward": [shaped(i, Fraction(r)) for i, r in enumerate(batch["reward"])]}


@cases("retention_reward")
def retention_reward_cases(case):
    def retain(label, comment, old, ref, reward=(1, 0, 0.5), alpha=20, mask=None, weight=0.5):
        case(label, comment, tokens([0, 0, 1], mask, list(reward), logp_old=old, logp_ref=ref), alpha=alpha,
             **{"lambda": weight})

    retain("plain", "the mean log-ratio to the anchor, then the exponential: log-ratios of both signs, and large ones",
           SELF, [[-0.5, -2.25, -1.125], [-1, -3.25], [-1, -0.25]])
    retain("below", "negative mean log-ratios to the anchor count as 0: the full bonus",
           SELF, [[-0.25, -1, -1], [-0.5, -3.25], [-0.5, -0.125]])
    retain("holes", "masked tokens do not count; a fully masked response has the full bonus", WITH_HOLES["logp_old"],
           [[-0.75, NAN, -1.25, -0.375], [-3, NAN], [-1.25, -0.5]],
           alpha=4, mask=WITH_HOLES["mask"])
    retain("off", "lambda 0: no bonus", SELF, TEACHER, weight=0)


@checks("retention_reward")
def check_retention_reward(check):
    for label, given, batch, found in every("retention_reward"):
        more = [real(n.value) - real(Fraction(r)) for n, r in zip(found["reward"], batch["reward"])]
        check(f"between 0 and lambda: {label}", all(0 <= x <= given["lambda"] + 1e-30 for x in more))
        same = {**batch, "logp_ref": batch["logp_old"]}
        full = exactly("retention_reward", same, **given)["reward"]
        most = [Fraction(r) + Fraction(given["lambda"]) for r in batch["reward"]]
        check(f"nothing forgotten: {label}", all(near(n.value, x) for n, x in zip(full, most)))


# ---- hint_reward

def informative_chance(p, n):
    return 1 - p ** n - (1 - p) ** n


BASES = {"informative": informative_chance, "variance": lambda p, n: p * (1 - p)}


@function(reward=NUMBER)
def hint_reward(reward: many(NUMBER, least=1), gap: many(NUMBER), temperature: POSITIVE, form: one_of("variance", "informative"),
                gate: FLAG):
    """HILL (2604.00698): the reward of a hint: the spread of rewards it causes, reduced if right answers depend on the hint.

    Source: HILL, 2604.00698
    Takes: `reward` (n >= 1), `gap` D (n: mean log-probability without the hint minus with it), `temperature` > 0, `form`, flag `gate`
    Gives: right: r > 1/2; p their share, Dbar the mean of D over them. `reward`: -0.2 if gate; else 0 if p is 0 or 1; else u
    e^(min(Dbar, 0)/temperature), u = p (1 - p) (`variance`) or 1 - p^n - (1 - p)^n (`informative`). Scale: itself times 1 + (mean
    abs(D) of the right)/temperature, itself of -0.2 and 0
    """
    n, right = len(reward), [i for i, r in enumerate(reward) if less(HALF, r)]
    p = Fraction(len(right), n)
    if gate:
        return {"reward": Number(Fraction(-1, 5), Fraction(1, 5))}
    if p in (0, 1):
        return {"reward": NOTHING}
    worth = real(BASES[form](p, n)) * exp(min(mean([gap[i] for i in right]), 0) / temperature)
    return {"reward": Number(worth, worth * real(1 + mean([abs(gap[i]) for i in right]) / temperature))}


@cases("hint_reward")
def hint_reward_cases(case):
    HINTED = dict(reward=[1, 0, 0.75, 0.5], gap=[-0.25, -3, -0.5, -2], temperature=0.3)
    each(case,
         ("variance", "rewards above 1/2 are right; gaps of wrong responses do not count",
          dict(HINTED, form="variance", gate=False)),
         ("informative", "form `informative`: the probability of a mixed group in place of the variance",
          dict(HINTED, form="informative", gate=False)),
         ("transfers", "right responses that are likelier without the hint: no gain beyond the variance",
          dict(HINTED, gap=[0.5, 0, -0.25, 0], form="variance", gate=False)),
         ("hopeless", "no response is right: the reward is 0",
          dict(HINTED, reward=[0.5, 0, 0.25, 0], form="informative", gate=False)),
         ("solved", "all responses are right: the reward is 0", dict(HINTED, reward=[1, 1, 0.625, 1], form="variance", gate=False)),
         ("gate", "the gate is set: -0.2, whatever the responses", dict(HINTED, form="informative", gate=True)))


@checks("hint_reward")
def check_hint_reward_unread(check):
    for label, given, _, found in every("hint_reward"):
        gap = [d if r > 0.5 else 7 for r, d in zip(given["reward"], given["gap"])]
        check(f"gaps of wrong answers: {label}", exactly("hint_reward", **{**given, "gap": gap}) == found)


@checks("hint_reward")
def check_hint_reward(check):
    for right, n in ((1, 2), (2, 3), (3, 8)):
        given = dict(reward=[1] * right + [0] * (n - right), gap=[0] * n, temperature=1, gate=False)
        p = Fraction(right, n)
        mixed = sum(p ** sum(s) * (1 - p) ** (n - sum(s)) for s in itertools.product((0, 1), repeat=n) if 0 < sum(s) < n)
        check("n answers that are not all alike", near(exactly("hint_reward", **given, form="informative")["reward"].value, mixed))
        spread = statistics.pvariance(map(Fraction, given["reward"]))
        check("their variance", near(exactly("hint_reward", **given, form="variance")["reward"].value, spread))
        lean = exactly("hint_reward", **{**given, "gap": [-0.25] * right + [9] * (n - right)}, form="variance")["reward"].value
        check("e^(-1/4) of it", near(lean, real(spread) * reals.exp(-mpf(1) / 4)))


# ---- meta_reward

@function(reward=NOT_NEGATIVE)
def meta_reward(correct: many(FLAG, least=1), length: many(COUNT), net: many(INTEGER), passes: integer(-1, 8),
                predicted_length: integer(-1)):
    """MASA (2510.03259): how well a group's notions, difficulty and lengths were predicted.

    Source: MASA, 2510.03259
    Takes: `correct` (n >= 1 flags), `length` (n integers), `net` (a list of integers, maybe empty: for each predicted notion the right
    responses that have it minus the wrong ones), `passes` (0 to 8, -1: missing), `predicted_length` (-1: missing)
    Gives: `reward`: (a + b + c)/3: a the share of `net` that is > 0, 0 if it is empty; b = 0.01^abs(share of the correct - passes/8), 0
    if missing; c = 1 if min < predicted_length < max of the lengths of the correct, else 0, also if missing or none is correct; scale 6
    times itself
    """
    notion = Fraction(sum(x > 0 for x in net), len(net)) if net else Fraction(0)
    off = abs(Fraction(sum(correct), len(correct)) - passes / 8)
    near = reals.power(real(Fraction(1, 100)), real(off)) if passes >= 0 else ZERO
    right = [T for T, c in zip(length, correct) if c]
    inside = predicted_length >= 0 and bool(right) and min(right) < predicted_length < max(right)
    total = (real(notion) + near + inside) / 3
    return {"reward": Number(total, 6 * total)}


@cases("meta_reward")
def meta_reward_cases(case):
    FORETOLD = dict(correct=marks("1101"), length=[100, 300, 20, 200], net=[2, 0, -1, 1], passes=5, predicted_length=150)
    each(case,
         ("plain", "two of four notions help, 5/8 predicted for a success rate of 3/4, a length inside", FORETOLD),
         ("bound", "a predicted length equal to the shortest right one is not inside; wrong ones do not count",
          dict(FORETOLD, predicted_length=100, passes=6)),
         ("upper", "a predicted length equal to the longest right one is not inside", dict(FORETOLD, predicted_length=300)),
         ("missing", "no prediction at all: the reward is 0", dict(FORETOLD, net=[], passes=-1, predicted_length=-1)),
         ("none-right", "no response is correct: the length counts 0, but 0 of 8 passes was predicted exactly",
          dict(FORETOLD, correct=marks("0000"), passes=0, net=[-1, -2])),
         ("one-right", "a single correct response: no length lies strictly between its length and itself",
          dict(FORETOLD, correct=marks("0001"), predicted_length=200, passes=8)))


@checks("meta_reward")
def check_meta_reward(check):
    told = lambda **more: exactly("meta_reward", **{**dict(correct=[1, 0], length=[3, 9], net=[1], passes=4, predicted_length=5), **more})
    check("a half right, four of eight, one length: two thirds", near(told()["reward"].value, Fraction(2, 3)))
    check("a quarter off: a tenth to the half", near(told(passes=6, net=[0])["reward"].value * 3, reals.sqrt(mpf(1) / 10)))
    check("three notions of four", near(told(net=[1, 2, -1, 3])["reward"].value, Fraction(7, 12)))
    check("nothing is right, as foretold", near(told(correct=[0, 0], passes=0)["reward"].value, Fraction(2, 3)))
    check("two ends are not between", all(near(told(correct=[1, 1], passes=8, predicted_length=x)["reward"].value * 3, 2) for x in (3, 9)))
    check("between the lengths of two right ones", near(told(correct=[1, 1], passes=8)["reward"].value, 1))


# ---- tree_reward

def best_child(r, children, gamma, left):
    best = max([r] + children, key=lambda n: n.value)
    return Number(best.value, abs(best.value))


def mean_child(r, children, gamma, left):
    below = [mean([n[k] for n in children]) for k in (0, 1)] if children else (Fraction(0), Fraction(0))
    return Number(r.value + gamma * below[0], r.size + abs(gamma) * below[1])


def mean_child_by_depth(r, children, gamma, left):
    R = mean_child(r, children, gamma, left)
    return Number(R.value / left, R.size / left) if children else r


TREES = {"max": best_child, "mean": mean_child, "mean_by_depth": mean_child_by_depth}


@function(reward=many(NUMBER))
def tree_reward(parent: many(integer(-1)), reward: many(NUMBER), depth: many(integer(1)), gamma: NUMBER,
                form: one_of("max", "mean", "mean_by_depth"), turns: integer(1)):
    """MURPHY (2511.07833): rewards of later turns are propagated to the turns from which they started.

    Source: MURPHY, 2511.07833
    Takes: `parent` (n; -1: a root; else a lower number), `reward` r, `depth` s >= 1 (n each), `gamma`, `form`, `turns` S >= every s
    Gives: `reward` (n), R of a node without children: r; else `max`: max(r, max R of its children); `mean`: r + gamma mean R of its
    children; `mean_by_depth`: that/(S - s + 1); scale: the same with absolute values, of `max` itself
    """
    found = itself(reward)
    for n in reversed(range(len(parent))):
        children = [found[k] for k in range(len(parent)) if parent[k] == n]
        found[n] = TREES[form](found[n], children, gamma, turns - depth[n] + 1)
    return {"reward": found}


@cases("tree_reward")
def tree_reward_cases(case):
    TREE = dict(parent=[-1, -1, 0, 0, 1, 2, 2], reward=[0, 0.5, 0.25, 0.75, 0, 1, 0.5], depth=[1, 1, 2, 2, 2, 3, 3], gamma=0.9, turns=3)
    for form in ("max", "mean", "mean_by_depth"):
        case(form.replace("_", "-"), "three turns, two roots; a leaf before the last turn", **TREE, form=form)
    case("better-parent", "form `max`: a parent better than its children keeps its own reward",
         parent=[-1, 0, 0], reward=[1, 0.25, -1],
         depth=[1, 2, 2], gamma=0.5, turns=2, form="max")
    case("negative", "rewards of both signs, the parent's is negative",
         parent=[-1, 0, 0, 0], reward=[-0.5, -0.25, -1, TENTHS], depth=[1, 2, 2, 2], gamma=0.9,
         turns=2, form="mean_by_depth")


@checks("tree_reward")
def check_tree_reward(check):
    for label, given, _, found in every("tree_reward"):
        r = fraction(given["reward"])
        leaves = [n for n in range(len(r)) if n not in given["parent"]]
        check(f"leaves keep theirs: {label}", all(found["reward"][n].value == r[n] for n in leaves))
        below = {n: {n} for n in range(len(r))}
        for n in reversed(range(len(r))):
            if given["parent"][n] >= 0:
                below[given["parent"][n]] |= below[n]
        best = exactly("tree_reward", **{**given, "form": "max"})["reward"]
        check(f"the best of what is below: {label}", all(best[n].value == max(r[k] for k in below[n]) for n in below))
        still = exactly("tree_reward", **{**given, "form": "mean", "gamma": 0})["reward"]
        check(f"no gamma, no change: {label}", values(still) == r)


# ---- dense_rewards

@function(reward=many(NOT_NEGATIVE))
def dense_rewards(reward: many(NOT_NEGATIVE), score: NUMBER, total: NUMBER):
    """MT-GUIDE: the rewards of turns, divided by the number of rewarded turns, or of possible ones.

    Source: MT-GUIDE, 2510.01132, its code
    Takes: `reward` (n numbers >= 0, by turn), `score`, `total`
    Gives: `reward` (n): r/D, D = max(1, number of rewards > 0) if score > 0, else max(1, total); scale itself
    """
    divisor = max(Fraction(1), Fraction(sum(r > 0 for r in reward)) if score > 0 else total)
    return {"reward": itself(r / divisor for r in reward)}


@cases("dense_rewards")
def dense_rewards_cases(case):
    each(case,
         ("won", "score above 0: divided by the number of rewarded turns, two", dict(reward=[1, 0, 0.5], score=1, total=6)),
         ("lost", "score 0: divided by the possible number of rewarded turns, six", dict(reward=[1, 0, 0.5], score=0, total=6)),
         ("nothing", "score above 0 without a rewarded turn: divided by 1, every reward is 0",
          dict(reward=[0, 0], score=0.5, total=4)),
         ("no-total", "no possible reward (total 0): divided by 1", dict(reward=[0.7, 2], score=-1, total=0)))


@checks("dense_rewards")
def check_dense_rewards(check):
    for label, given, _, found in every("dense_rewards"):
        earned = [x for x in given["reward"] if x > 0]
        share = statistics.mean(fraction(earned)) if earned else 0
        whole = sum(values(found["reward"]))
        check(f"won: the mean of what was earned: {label}", given["score"] <= 0 or whole == share)
        check(f"lost: a part of the whole: {label}", given["score"] > 0 or whole * max(1, given["total"]) == sum(fraction(given["reward"])))


# ---- information_gain_reward

@function(gain=many(NUMBER))
def information_gain_reward(logp: many(NOT_POSITIVE, least=1), form: one_of("log", "probability")):
    """IGPO (2510.14967): the increase of the answer's mean log-probability, or of its probability, in a turn.

    Source: IGPO, 2510.14967
    Takes: `logp` x (n >= 1, finite, <= 0: mean log-probability of the answer before the first turn and after each), `form`
    Gives: `gain` (n - 1): x_t - x_{t-1} (`log`) or e^(x_t) - e^(x_{t-1}) (`probability`); scale: the absolute values of the two terms
    """
    x = logp if form == "log" else [exp(y) for y in logp]
    return {"gain": [summed((after, -before)) for before, after in zip(x, x[1:])]}


@cases("information_gain_reward")
def information_gain_cases(case):
    TURNS = [-2, -0.5, -0.75, -0.0625]
    each(case,
         ("log", "differences of log-probabilities from turn to turn", dict(logp=TURNS, form="log")),
         ("probability", "differences of probabilities from turn to turn", dict(logp=TURNS, form="probability")),
         ("still", "a turn that does not change the probability gains exactly 0", dict(logp=[-0.7, -0.7, -1], form="probability")),
         ("far", "log-probabilities of -700, -30 and 0: the answer becomes certain", dict(logp=[-700, -30, 0], form="probability")),
         ("log-far", "log-probabilities of -700, -30 and 0: gains of 670 and 30", dict(logp=[-700, -30, 0], form="log")))


@checks("information_gain_reward")
def check_information_gain_reward(check):
    for label, given, _, found in every("information_gain_reward"):
        ends = [x if given["form"] == "log" else reals.exp(x) for x in (given["logp"][-1], given["logp"][0])]
        check(f"all of it is the last less the first: {label}", near(sum(map(real, values(found["gain"]))), ends[0] - ends[1]))
