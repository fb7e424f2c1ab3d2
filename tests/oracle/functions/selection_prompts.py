"""Which prompts are sampled, how often, and with which model."""
import itertools
import math
from fractions import Fraction

import reals
from functions.arithmetic import falling, itself, real, summed
from functions.batches import each
from functions.comparing import ask, cases_of, every, exactly, fraction, near, values
from functions.domains import COUNT, FRACTION, NOT_NEGATIVE, NUMBER, either, integer, many, one_of
from functions.registry import cases, checks, function
from scenarios import Dice


def informative(p, n):
    """1 - p^n - (1 - p)^n, and its size, computed with the smaller of p and 1 - p."""
    rare = min(p, 1 - p)
    return summed((1 - (1 - rare) ** n, -rare ** n))


def by_outcomes(p, n):
    """By summing up what may happen."""
    ways = [sum(s) for s in itertools.product((0, 1), repeat=n)]
    return sum(p ** k * (1 - p) ** (n - k) for k in ways if 0 < k < n)


# ---- mixed_group_probability

@function(probability=FRACTION)
def mixed_group_probability(p: FRACTION, n: integer(1)):
    """The chance that n answers are neither all right nor all wrong.

    Source: SAGE-HINT, HILL, KNAPSACK-RL
    Takes: 0 <= `p` <= 1, `n` >= 1
    Gives: `probability`: u(p, n) = 1 - p^n - (1 - p)^n; scale 1 - (1 - q)^n + q^n, q = min(p, 1 - p)
    """
    return {"probability": informative(p, int(n))}


@cases("mixed_group_probability")
def informative_probability_cases(case):
    each(case,
         ("half", "eight answers to a prompt with success probability 0.5", dict(p=0.5, n=8)),
         ("third", "four answers to a prompt with success probability 0.3", dict(p=0.3, n=4)),
         ("rare", "success probability near 1e-12: about n p, where 1 - (1 - p)^n cancels", dict(p=2 ** -40, n=16)),
         ("sure", "success probability just below 1: about n (1 - p)", dict(p=1 - 2 ** -30, n=16)),
         ("never", "p = 0: all answers are wrong, the probability is 0", dict(p=0, n=8)),
         ("always", "p = 1: all answers are right, the probability is 0", dict(p=1, n=8)),
         ("one", "a single answer cannot be right and wrong: the probability is 0", dict(p=0.3, n=1)),
         ("many", "a thousand answers to a prompt with success probability 0.01: almost surely mixed", dict(p=0.01, n=1000)))


@checks("mixed_group_probability")
def check_mixed_group_probability(check):
    for n, p in itertools.product(range(1, 8), (0, 0.25, 0.3, 0.5, 0.96875, 1)):
        found = exactly("mixed_group_probability", p=p, n=n)["probability"]
        check(f"{n} answers of probability {p}", found.value == by_outcomes(Fraction(p), n) <= found.size)


# ---- allocate

@function(count=many(integer(1)))
def allocate_rollouts(p: many(FRACTION, least=1), low: integer(1), high: integer(1), total: COUNT):
    """KNAPSACK-RL: the next rollout goes where V = (1 - p^N - (1 - p)^N) p (1 - p)^2 grows most; V is concave in N.

    Source: KNAPSACK-RL
    Takes: `p` (n, in [0, 1]), 1 <= `low` <= `high`, `total` >= n low
    Gives: V(N, p) = u(p, N) p (1 - p)^2. `count` (n): all `low`; then, while their sum is below `total`, one more to the p with the
    largest V(N + 1, p) - V(N, p) of those with N < high; stop if that is 0 or there is none
    """
    count = [int(low)] * len(p)

    def gain(i):
        q, n = p[i], count[i]
        return (informative(q, n + 1).value - informative(q, n).value) * q * (1 - q) ** 2 if n < high else Fraction(0)
    for _ in range(int(total) - sum(count)):
        gains = [gain(i) for i in range(len(p))]
        best = falling(gains)[0]
        if not gains[best]:
            break
        count[best] += 1
    return {"count": count}


@cases("allocate_rollouts")
def allocate_cases(case):
    each(case,
         ("plain", "hard but solvable prompts get the most rollouts, an easy one only the minimum",
          dict(p=[0.1, 0.5, 0.9, 0.3], low=2, high=12, total=24)),
         ("ends", "prompts with success probability 0 or 1 keep the minimum of rollouts",
          dict(p=[0, 0.25, 1, 0.75], low=2, high=128, total=20)),
         ("ties", "equal prompts: the first gets the rollout that is left over",
          dict(p=[0.25, 0.25, 0.25], low=1, high=8, total=10)),
         ("full", "every prompt reaches `high` before the total is spent", dict(p=[0.2, 0.6], low=1, high=4, total=20)),
         ("least", "the total is n times `low`: every prompt gets the minimum", dict(p=[0.2, 0.6, 0.5], low=2, high=8, total=6)),
         ("hopeless", "success probabilities 0 and 1: more rollouts gain nothing, the rest is not spent",
          dict(p=[0, 1], low=2, high=8, total=12)))


@checks("allocate_rollouts")
def check_allocate_rollouts(check):
    """Against all allocations."""
    worth = lambda p, N: by_outcomes(p, N) * p * (1 - p) ** 2
    check("KNAPSACK-RL's number", worth(Fraction(1, 2), 8) == Fraction(0.1240234375))
    dice = Dice(7)
    given = [(f"thrown {k}", dict(p=[dice.fraction(0, 1, 16) for _ in range(3)], low=1, high=5, total=3 + dice.below(10)))
             for k in range(12)]
    for label, a in given + [x[:2] for x in cases_of("allocate_rollouts") if x[1]["high"] <= 8]:
        p, found = [Fraction(x) for x in a["p"]], ask("allocate_rollouts", **a)["count"]
        table = {(x, N): worth(x, N) for x in p for N in range(a["low"], a["high"] + 1)}
        total = lambda counts: sum(table[x, N] for x, N in zip(p, counts))
        every = itertools.product(range(a["low"], a["high"] + 1), repeat=len(p))
        fit = [counts for counts in every if sum(counts) <= a["total"]]
        check(f"the best allocation: {label}", tuple(found) in fit and total(found) == max(map(total, fit)))


# ---- select_value_of_information

@function(index=many(COUNT))
def select_value_of_information(draw: many(FRACTION), count: COUNT):
    """VADE: the prompts with the largest q (1 - q)^2, q drawn from their counts.

    Source: VADE
    Takes: `draw` q (n, in [0, 1]), 0 <= `count` <= n
    Gives: `index`: the `count` largest q (1 - q)^2
    """
    return {"index": sorted(falling([q * (1 - q) ** 2 for q in draw])[:int(count)])}


@cases("select_value_of_information")
def value_information_cases(case):
    each(case,
         ("plain", "q (1 - q)^2 is largest at 1/3: the draws of 0.3 and 0.4 are selected",
          dict(draw=[0.9, 0.3, 0.1, 0.55, 0.4], count=2)),
         ("ties", "draws of equal value: those with the lower index are selected", dict(draw=[0.5, 0.25, 0.5, 0.5, 0.75], count=3)),
         ("ends", "draws of 0 and 1 have value 0: the first of them fills the last place", dict(draw=[0, 1, 0.125, 1], count=2)),
         ("all", "count equals the number of draws: all are selected", dict(draw=[0.5, 0.125], count=2)),
         ("none", "count 0: no prompt is selected", dict(draw=[0.5, 0.125], count=0)))


@checks("select_value_of_information")
def check_select_value_of_information(check):
    for label, a, _ in cases_of("select_value_of_information"):
        worth = [Fraction(q) * (1 - Fraction(q)) ** 2 for q in a["draw"]]
        ahead = [sum(w > v or w == v and j < i for j, w in enumerate(worth)) for i, v in enumerate(worth)]
        check(f"by counting: {label}", ask("select_value_of_information", **a)["index"] == [i for i, k in enumerate(ahead)
            if k < a["count"]])
    check("a third is worth most", ask("select_value_of_information", draw=[0.25, 0.375, 0.34375, 0.5], count=1)["index"] == [2])


# ---- visit_value

def visit_paper(p, diversity, alpha, beta):
    return [summed((alpha * x * (1 - x), beta * d)) for x, d in zip(p, diversity)]


@function(weight=many(NUMBER))
def visit_value(p: many(FRACTION, least=1), diversity: many(NUMBER), alpha: NUMBER, beta: NUMBER, form: one_of("paper", "code")):
    """MMR1 (2509.21268): the variance of a prompt's rewards and the diversity of its answers.

    Source: MMR1, 2509.21268
    Takes: `p` (n >= 1, in [0, 1]), `diversity` (n), `alpha`, `beta`, `form`
    Gives: `weight` (n): `paper`: alpha p (1 - p) + beta diversity; scale: the absolute values of the two terms
    """
    return {"weight": {"paper": visit_paper}[form](p, diversity, alpha, beta)}


@cases("visit_value")
def visit_value_cases(case):
    VISITED = dict(p=[0, 0.25, 0.5, 0.96875, 1], diversity=[0.5, 0.125, 1, 0, 0.7], alpha=0.8, beta=0.2)
    each(case,
         ("paper", "0.8 times the reward variance p (1 - p) plus 0.2 times the diversity", dict(VISITED, form="paper")),
         ("paper-spread", "beta 0: only the reward variance p (1 - p) counts", dict(VISITED, alpha=1, beta=0, form="paper")),
         ("paper-diverse", "alpha 0: only the diversity counts", dict(VISITED, alpha=0, beta=1, form="paper")),
         ("paper-negative", "negative beta: diversity lowers the weight", dict(VISITED, alpha=0.5, beta=-0.25, form="paper")))


@checks("visit_value")
def check_visit_value(check):
    for label, a, _ in cases_of("visit_value"):
        found = values(exactly("visit_value", **a)["weight"])
        other = values(exactly("visit_value", **{**a, "p": [1 - p for p in a["p"]]})["weight"])
        check(f"right and wrong alike: {label}", all(near(x, y) or abs(x - y) < 1e-9 for x, y in zip(found, other)))


# ---- cluster_probability

@function(rate=many(FRACTION), probability=many(FRACTION))
def cluster_probability(rate: many(FRACTION), probability: many(NOT_NEGATIVE), success: many(either(FRACTION, -1)), alpha: FRACTION):
    """ADS (2606.22305), official code: sampling probabilities of clusters, moved slowly towards their success rates.

    Source: ADS, 2606.22305, official code
    Takes: `rate` (n >= 1, in [0, 1]), `probability` p (n numbers >= 0, sum > 0), `success` (n: this step's success rate in [0, 1], or
    -1: not sampled), 0 <= `alpha` <= 1
    Gives: `rate` (n): success where sampled, else as it was; w = the new rate/sum of the new rates, 1/n if that is 0. `probability`
    (n): x = (1 - alpha) p + alpha w, divided by sum x; scales themselves
    """
    now = [s if s >= 0 else r for r, s in zip(rate, success)]
    wanted = [r / sum(now) if any(now) else Fraction(1, len(now)) for r in now]
    mixed = [(1 - alpha) * p + alpha * w for p, w in zip(probability, wanted)]
    return {"rate": itself(now), "probability": itself(p / sum(mixed) for p in mixed)}


@cases("cluster_probability")
def cluster_probability_cases(case):
    def clusters(label, comment, success, alpha=0.3, rate=(0.5, 0.25, 0.7, 0), probability=(0.25, 0.125, 0.5, 0.125)):
        case(label, comment, rate=list(rate), probability=list(probability), success=success, alpha=alpha)

    clusters("plain", "two of four clusters were sampled, one of them without success: its rate becomes 0", [0.75, -1, 0, -1])
    clusters("hopeless", "all success rates become 0: the probabilities move towards equal ones", [0, 0, 0, -1])
    clusters("still", "alpha 0: old probabilities that do not sum to 1 are only normalised",
             [1, 0.3, -1, -1], 0, probability=[1, 2, 0, 0.5])
    clusters("rates", "alpha 1: the probabilities are the normalised success rates alone", [-1, -1, -1, 0.1], 1)


@checks("cluster_probability")
def check_cluster_probability(check):
    for label, given, _, found in every("cluster_probability"):
        p = values(found["probability"])
        check(f"they sum to 1: {label}", sum(p) == 1)
        alpha, before = Fraction(given["alpha"]), fraction(given["probability"])
        now = fraction(s if s >= 0 else r for r, s in zip(given["rate"], given["success"]))
        gained = [x * ((1 - alpha) * sum(before) + alpha) - (1 - alpha) * y for x, y in zip(p, before)]
        shares = [x * sum(now) == alpha * r for x, r in zip(gained, now)] if any(now) else [x == alpha / len(now) for x in gained]
        check(f"what is new in them: {label}", values(found["rate"]) == now and all(shares))
        twice = exactly("cluster_probability", **{**given, "rate": [x / 2 for x in given["rate"]],
                                                  "success": [x / 2 if x >= 0 else x for x in given["success"]]})
        check(f"only the proportion of the rates counts: {label}", values(twice["probability"]) == p)


# ---- explore_weight

@function(weight=many(NOT_NEGATIVE))
def explore_weight(value: many(FRACTION), least: NOT_NEGATIVE):
    """SPO (2509.13232): sampling weights of prompts: the deviation of their success, plus a constant.

    Source: SPO, 2509.13232
    Takes: `value` v (n, in [0, 1]), `least` >= 0
    Gives: `weight` (n): sqrt(v (1 - v)) + least; scale itself
    """
    return {"weight": itself(reals.sqrt(real(v * (1 - v))) + real(least) for v in value)}


@cases("explore_weight")
def explore_weight_cases(case):
    each(case,
         ("plain", "the weight is largest at success 0.5, and `least` at success 0 and 1",
          dict(value=[0, 0.25, 0.5, 0.9, 1], least=0.05)),
         ("none", "least 0: prompts with success 0 or 1 have weight 0", dict(value=[0, 1, 0.3], least=0)),
         ("near", "success next to 0 and next to 1: the square root of the distance from it",
          dict(value=[2 ** -60, 1 - 2 ** -50], least=0)),
         ("floor", "a `least` of 100 outweighs the deviation of the success", dict(value=[0.5, 0.125], least=100)))


@checks("explore_weight")
def check_explore_weight(check):
    for label, given, _, found in every("explore_weight"):
        away = [(real(n.value) - real(Fraction(given["least"]))) ** 2 for n in found["weight"]]
        spread = [Fraction(v) - Fraction(v) ** 2 for v in given["value"]]
        check(f"the variance of a flag: {label}", all(map(near, away, spread)))


# ---- annealed_split

@function(other=COUNT, own=COUNT)
def annealed_split(step: integer(1), steps: integer(2), size: integer(1)):
    """S2L-PO (2605.30789), Algorithm 1: a decreasing number of responses of the other model; exact, where binary64 may round up once more.

    Source: S2L-PO, 2605.30789, Algorithm 1
    Takes: integers `step` >= 1, `steps` N >= 2, `size` G >= 1
    Gives: `other`: ceil((1 - (step - 1)/(N - 1)) G), exactly, 0 if step > N; `own`: G - other
    """
    other = math.ceil((1 - (step - 1) / (steps - 1)) * size) if step <= steps else 0
    return {"other": other, "own": int(size) - other}


@cases("annealed_split")
def annealed_split_cases(case):
    for label, comment, step, steps, size in (
            ("first", "step 1: all responses come from the other model",
             1, 8, 16), ("middle", "step 3 of 8: 5/7 of 16 is 11.4, rounded up to 12", 3, 8, 16),
            ("exact", "3/10 of 10 is exactly 3, where binary64 arithmetic rounds up to 4", 8, 11, 10), ("last",
                                                                                "the last step: no response comes from the other model",
                                                                                8, 8, 16),
            ("after", "a step after the annealing: no response comes from the other model", 9, 8, 16), ("two",
                                                          "step 2 of 2 with a group of one: the response comes from the own model",
                                                          2, 2, 1)):
        case(label, comment, step=step, steps=steps, size=size)


@checks("annealed_split")
def check_annealed_split(check):
    at = lambda step, steps, size: ask("annealed_split", step=step, steps=steps, size=size)
    for steps, size in itertools.product((2, 3, 8, 11), (1, 8, 10)):
        other = [at(s, steps, size)["other"] for s in range(1, steps + 2)]
        check("from all to none, never more", other[0] == size and other[-2:] == [0, 0] and all(x >= y for x, y in zip(other, other[1:])))
        whole = all(at(s, steps, size)["own"] + x == size for s, x in enumerate(other, 1))
        check("one group of the same size", whole)
        least = all((steps - s) * size <= x * (steps - 1) < (steps - s) * size + steps - 1 for s, x in enumerate(other[:-1], 1))
        check("the least integer above the line", least)
