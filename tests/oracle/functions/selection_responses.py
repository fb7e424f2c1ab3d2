"""Which responses and groups are kept, resampled or replayed."""
import bisect
import itertools
import statistics
from fractions import Fraction

import reals
from evaluate import Batch, informative
from functions.arithmetic import Number, at, by_group, falling, less, mean, real, sample_variance, variance
from functions.batches import TENTHS, each, on, responses, tokens
from functions.comparing import ask, cases_of, exactly, thrown
from functions.domains import COUNT, FLAG, FRACTION, INTEGER, NOT_NEGATIVE, NUMBER, integer, many, number, one_of, reads
from functions.registry import cases, checks, exact, function
from scenarios import NAN, Dice


# ---- reward_range_filter

@function(keep=many(FLAG))
def reward_range_filter(batch: reads("reward"), low: NUMBER, high: NUMBER):
    """DAPO's filter as in OpenRLHF, torchrl and ROLL: prompts with a mean reward within bounds.

    Takes: batch with `reward`; `low` <= `high`
    Gives: `keep` (groups): low < mean reward < high
    """
    means = [mean([Fraction(batch["reward"][i]) for i in group]) for group in by_group(batch)]
    return {"keep": [less(low, m) and less(m, high) for m in means]}


@cases("reward_range_filter")
def keep_between_cases(case):
    case("binary", "prompts all right and all wrong are dropped, a mixed one is kept",
         responses([0, 0, 1, 1, 2, 2, 2], [1, 1, 0, 0, 1, 0, 1]),
         low=0, high=1)
    case("bounds", "a mean reward equal to a bound is not between the bounds: the prompt is dropped",
         responses([0, 0, 1, 1, 2], [0.25, 0.75, 1, 0.5, 0.625]), low=0.5, high=0.75)
    case("signed", "negative bounds, and a mean reward of -1/6 that is no binary fraction",
         responses([0, 0, 0, 1, 1], [-1, 0.5, 0, -2, -1]), low=-1, high=-0.125)
    case("empty", "low equals high: no mean is strictly between, every prompt is dropped", responses([0, 0, 1], [0, 1, 0.5]),
         low=0.5, high=0.5)


@checks("reward_range_filter")
def check_reward_range_filter(check):
    for label, arguments, batch in cases_of("reward_range_filter"):
        if set(batch["reward"]) <= {0, 1} and (arguments["low"], arguments["high"]) == (0, 1):
            found = ask("reward_range_filter", batch, **arguments)["keep"]
            check(f"informative groups: {label}", found == informative(Batch(batch)))
        moved = {**arguments, "low": arguments["low"] - 3, "high": arguments["high"] - 3}
        lower = {**batch, "reward": [r - 3 for r in batch["reward"]]}
        same = ask("reward_range_filter", lower, **moved) == ask("reward_range_filter", batch, **arguments)
        check(f"a shift of everything: {label}", same)


# ---- reward_std_filter

@function(keep=many(FLAG))
def reward_std_filter(batch: reads("reward"), least: NOT_NEGATIVE):
    """REST-GRPO: prompts whose rewards have at least some population deviation; the squares are compared.

    Source: REST-GRPO
    Takes: batch with `reward`; `least` >= 0
    Gives: `keep` (groups): population variance of the rewards >= least^2, both exact
    """
    r = [Fraction(x) for x in batch["reward"]]
    return {"keep": [not less(variance([r[i] for i in group]), least ** 2) for group in by_group(batch)]}


@cases("reward_std_filter")
def spread_keep_cases(case):
    on(case,
       ("plain", "prompts with a small, a large and no deviation of rewards: only the large one is kept",
        responses([0, 0, 0, 0, 1, 1, 2, 2], [1, 1, 1, 0.9375, 0, 1, 1, 1]),
        dict(least=0.05)),
       ("equal", "a deviation exactly equal to `least` is kept",
        responses([0, 0, 1, 1, 1], [0, 1, 0.5, 0.25, 0.5]), dict(least=0.5)),
       ("zero", "least 0: every prompt is kept, even one whose rewards are all equal",
        responses([0, 0, 1], [1, 1, 0.5]), dict(least=0)),
       ("tiny", "a `least` whose square underflows: prompts whose rewards are all equal are not kept",
        responses([0, 0, 1, 2, 2], [1, 1, 0.5, 0, 1]), dict(least=2.0 ** -700)),
       ("offset", "rewards near 1e6 that differ little: a variance from sums of squares cancels",
        responses([0, 0, 1, 1], [1000000, 1000000.125, 1000000, 1000000]),
        dict(least=0.0625)))


@checks("reward_std_filter")
def check_reward_std_filter(check):
    dice = Dice(5)
    for _ in range(20):
        r = thrown(dice, 4)
        least = statistics.pvariance(map(Fraction, r))
        kept = [ask("reward_std_filter", responses([0] * 4, r), least=x)["keep"][0] for x in (0.25, 0.5)]
        check("the deviation", kept == [least >= Fraction(1, 16), least >= Fraction(1, 4)])


# ---- advantage_filter

@function(keep=many(FLAG))
def advantage_filter(advantage: many(NUMBER), least: NOT_NEGATIVE, multiple: integer(1), positive: FLAG):
    """LOOP (2502.01600): the responses with large advantages, filled up to a multiple of the workers.

    Source: LOOP, 2502.01600
    Takes: `advantage` (n), `least` >= 0, `multiple` >= 1, flag `positive`
    Gives: candidates: all, with `positive` those with A > 0, by falling abs(A). `keep` (n): the candidates with abs(A) >= least, k of
    them, and the next ones up to the smallest multiple of `multiple` that is >= k, or all if there are fewer
    """
    order = [i for i in falling([abs(a) for a in advantage]) if advantage[i] > 0 or not positive]
    count = sum(not less(abs(advantage[i]), least) for i in order)
    kept = order[:-(-count // int(multiple)) * int(multiple)]
    return {"keep": [i in kept for i in range(len(advantage))]}


@cases("advantage_filter")
def advantage_keep_cases(case):
    each(case,
         ("plain", "least 0.01: responses with a smaller absolute advantage are dropped",
          dict(advantage=[0.5, -0.001, 0.01, 0, -0.25, 0.005], least=0.01, multiple=1, positive=False)),
         ("equal", "an absolute advantage exactly equal to `least` is kept",
          dict(advantage=[0.25, -0.25, 0.125, 0.5], least=0.25, multiple=1, positive=False)),
         ("multiple", "five are large enough; the three next largest fill up to a multiple of four",
          dict(advantage=[0.5, -0.0078125, 1, 0, -0.25, 0.0078125, -0.5, 0.001, 0.75, 0.005], least=0.01, multiple=4, positive=False)),
         ("few", "three responses cannot fill a multiple of eight: all are kept",
          dict(advantage=[0.5, 0.001, -1], least=0.01, multiple=8, positive=False)),
         ("positive", "flag `positive`: negative advantages are neither kept nor used to fill up",
          dict(advantage=[0.5, -0.5, 0.25, 0.005, -1, 0, 0.0078125], least=0.01, multiple=3, positive=True)),
         ("none", "no advantage is large enough: none is kept, as 0 is a multiple of two",
          dict(advantage=[0.005, 0, -0.001], least=0.01, multiple=2, positive=False)))


@checks("advantage_filter")
def check_advantage_filter(check):
    for label, a, _ in cases_of("advantage_filter"):
        keep, A = ask("advantage_filter", **a)["keep"], a["advantage"]
        fit = [i for i, x in enumerate(A) if x > 0 or not a["positive"]]
        kept = [i for i in fit if keep[i]]
        check(f"of the candidates: {label}", sum(keep) == len(kept) and all(keep[i] for i in fit if abs(A[i]) >= a["least"]))
        check(f"a multiple, or all: {label}", sum(keep) % a["multiple"] == 0 or len(kept) == len(fit))
        check(f"the largest: {label}", all(abs(A[i]) >= abs(A[j]) for i in kept for j in fit if not keep[j]))
        extra = sum(keep) - sum(abs(A[i]) >= a["least"] for i in fit)
        check(f"no more than needed: {label}", 0 <= extra < a["multiple"])


# ---- balanced_subset

@function(index=many(COUNT))
def balanced_subset(reward: many(NUMBER, least=1, most=20), count: integer(1), low: NUMBER, high: NUMBER):
    """torchrl's selector: of all subsets of this size with a mean within the bounds, the one with the mean nearest to their middle; on ties
    the one with the largest range, then the first.

    Source: torchrl's selector, where it tries every subset
    Takes: `reward` (1 to 20), 1 <= `count` <= n, `low` <= `high`
    Gives: `index`: of the subsets of `count` responses with low < mean < high the one with the smallest abs(mean - (low + high)/2), of
    these the largest (max - min), of these the first in the lexicographic order of ascending indices; ascending; empty if there is none
    """
    best = None
    for subset in itertools.combinations(range(len(reward)), int(count)):
        r = [reward[i] for i in subset]
        if less(low, mean(r)) and less(mean(r), high):
            score = (abs(mean(r) - (low + high) / 2), min(r) - max(r))
            if best is None or less(score[0], best[0][0]) or score[0] == best[0][0] and less(score[1], best[0][1]):
                best = (score, subset)
    return {"index": list(best[1]) if best else []}


@cases("balanced_subset")
def balanced_subset_cases(case):
    for label, comment, reward, count, low, high in (
            ("source", "the example of torchrl's selector: one right and one wrong response", [0, 0, 0, 1], 2, 0.1, 0.9),
            ("nearest", "of the subsets within the bounds the one whose mean is nearest their middle is taken",
             [0, 0.25, 0.75, 1, 0.5], 3, 0, 1),
            ("spread", "several subsets have the same mean: the one with the largest range is taken",
             [0.5, 0.25, 0.75, 0.375, 0.625], 2, 0, 1),
            ("first", "subsets of equal mean and range: the lexicographically first indices are taken", [1, 0, 1, 0, 0.5], 2, 0, 1),
            ("either-side", "means equally far below and above the middle: the first is taken",
             [0.25, 0.75, 0.125, 0.875], 1, 0, 1),
            ("bounds", "every mean is at a bound or outside: the answer is empty", [0, 0, 1, 1], 2, 0.5, 1),
            ("solved", "all responses are right: every mean is at the upper bound, the answer is empty", [1, 1, 1, 1], 2, 0, 1),
            ("all", "count equals the number of responses: all are taken", [1, 0, 0], 3, 0, 1),
            ("all-outside", "count equals the number of responses, but their mean is at a bound: the answer is empty",
             [1, 1, 1], 3, 0, 1)):
        case(label, comment, reward=reward, count=count, low=low, high=high)


@checks("balanced_subset")
def check_balanced_subset(check):
    dice = Dice(11)
    given = [arguments for _, arguments, _ in cases_of("balanced_subset")]
    given += [{"reward": [dice.fraction(0, 1, 4) for _ in range(6)], "count": 1 + k % 6, "low": 0.25, "high": 1} for k in range(30)]
    for arguments in given:
        reward, count, low, high = (exact(arguments[key]) for key in ("reward", "count", "low", "high"))
        fits = [s for s in itertools.combinations(range(len(reward)), int(count)) if low * count < sum(reward[i] for i in s) < high * count]

        def rank(s):
            r = [reward[i] for i in s]
            return abs(2 * sum(r) - count * (low + high)), min(r) - max(r), s
        check("the best of all subsets", ask("balanced_subset", **arguments)["index"] == list(min(fits, key=rank, default=())))


# ---- max_variance_subset

@function(index=many(COUNT))
def max_variance_subset(advantage: many(NUMBER, least=1), count: COUNT):
    """D3S (2509.22115): the subset of largest variance is some from the top and the others from the bottom.

    Source: D3S, 2509.22115
    Takes: `advantage` (n >= 1), 0 <= `count` <= n
    Gives: in falling order, of equal ones the lower index first: the first k and the last count - k, k the smallest with the largest
    variance of these. `index`: them
    """
    order, n = falling(advantage), int(count)
    best, most = [], None
    for top in range(n + 1):
        subset = order[:top] + order[len(order) - (n - top):]
        spread = variance([advantage[i] for i in subset]) if subset else Fraction(0)
        if most is None or less(most, spread):
            best, most = subset, spread
    return {"index": sorted(best)}


@cases("max_variance_subset")
def downsample_variance_cases(case):
    each(case,
         ("two", "two of five: the largest and the smallest advantage", dict(advantage=[0.5, -1, 1.5, -0.25, 0], count=2)),
         ("three", "three of six: the largest advantage and the two smallest have the largest variance",
          dict(advantage=[0.5, -1, 1.5, -0.25, 0, -0.75], count=3)),
         ("mirror", "symmetric advantages: one or two from the top give equal variance, one is taken",
          dict(advantage=[1, -1, 0.5, -0.5], count=3)),
         ("equal", "all advantages are equal: every variance is 0, so none from the top and the last two are taken",
          dict(advantage=[0.5, 0.5, 0.5, 0.5], count=2)),
         ("ties", "equal advantages at the cut: the first of the largest and the last of the smallest are taken",
          dict(advantage=[1, 0, 1, 0, 1, 0], count=2)),
         ("one", "count 1: every variance is 0, so none from the top and the smallest is taken",
          dict(advantage=[0.5, -1, 2], count=1)),
         ("all", "count equals the number of responses: all are taken", dict(advantage=[0.5, -1, 2], count=3)),
         ("lopsided", "two from the top and three from the bottom have the largest variance",
          dict(advantage=[4, 3.5, 3.75, 0.125, 0.25, 0, 0.5, 0.375], count=5)))


@checks("max_variance_subset")
def check_max_variance_subset(check):
    """No subset at all varies more."""
    dice = Dice(9)
    given = [dict(advantage=thrown(dice, 6), count=n) for n in range(1, 7) for _ in range(5)]
    for a in given + [x[1] for x in cases_of("max_variance_subset")]:
        A, found = [Fraction(x) for x in a["advantage"]], ask("max_variance_subset", **a)["index"]
        spread = lambda subset: statistics.pvariance([A[i] for i in subset])
        subsets = list(itertools.combinations(range(len(A)), a["count"]))
        check("the largest variance", tuple(found) in subsets and spread(found) == max(map(spread, subsets)))
        flipped = ask("max_variance_subset", advantage=[float(-x) for x in A], count=a["count"])["index"]
        check("upside down it varies as much", spread(flipped) == spread(found))


# ---- pad_valid

@function(index=many(COUNT))
def pad_valid(batch, valid: many(FLAG)):
    """GLM-5 (2602.15763): failed responses are replaced by valid ones, if more than half of the group is valid.

    Source: GLM-5, 2602.15763
    Takes: batch; `valid` (N flags)
    Gives: `index`: for each group with more than half valid, its valid responses by their number in the batch, ascending and from the
    first again, G of them; nothing for the others. In the order of groups, not sorted
    """
    index = []
    for group in by_group(batch):
        left = [i for i in group if valid[i]]
        if 2 * len(left) > len(group):
            index += [left[k % len(left)] for k in range(len(group))]
    return {"index": index}


@cases("pad_valid")
def pad_valid_cases(case):
    on(case,
       ("more", "three of four and two of three are valid: these are repeated in place of the failed ones",
        responses([0, 0, 0, 0, 1, 1, 1], [0] * 7), dict(valid=[True, False, True, True, False, True, True])),
       ("half", "exactly half of a group is valid, which is not more than half: the group is dropped",
        responses([0, 0, 0, 0, 1, 1], [0] * 6), dict(valid=[True, False, True, False, True, True])),
       ("cycle", "three of five are valid: they are repeated from the first on until there are five",
        responses([0] * 5, [0] * 5), dict(valid=[False, True, True, False, True])),
       ("none", "no response is valid: every group is dropped",
        responses([0, 0, 1], [0] * 3), dict(valid=[False, False, False])))


@checks("pad_valid")
def check_pad_valid(check):
    for label, a, batch in cases_of("pad_valid"):
        index = ask("pad_valid", batch, **a)["index"]
        expected = []
        for group in by_group(batch):
            here = [i for i in index if i in group]
            left = sum(a["valid"][i] for i in group)
            check(f"a whole group or nothing: {label}", len(here) == (len(group) if left * 2 > len(group) else 0))
            times = [here.count(i) for i in group if a["valid"][i]]
            check(f"each about as often: {label}", not here or min(times) >= 1 and max(times) - min(times) <= 1)
            expected += here
        check(f"valid ones in the order of groups: {label}", index == expected and all(a["valid"][i] for i in index))


# ---- resampling_weights

@function(weight=many(NOT_NEGATIVE))
def resampling_weights(batch: reads("reward"), power: NOT_NEGATIVE, eps: NOT_NEGATIVE):
    """PF-PPO (2409.06957), as verl: abs(r)^p + eps; 0^0 is 1.

    Source: 2409.06957 as verl
    Takes: batch with `reward`; `power` >= 0, `eps` >= 0
    Gives: `weight` (N): abs(r)^power + eps, 0^0 = 1; scale itself
    """
    weights = [real(abs(Fraction(r))) ** real(power) + real(eps) for r in batch["reward"]]
    return {"weight": [Number(w, w) for w in weights]}


@cases("resampling_weights")
def resampling_weights_cases(case):
    REWARDS = responses([0, 0, 1, 1], [1.5, -2, 0, 0.25])
    for label, comment, power, eps in (("one", "power 1: abs(reward) + eps",
                                        1, 0.01), ("square", "power 2: reward^2 + eps", 2, 0.01),
                                       ("root", "power 0.5 and eps 0: a reward of 0 has weight 0", 0.5, 0),
                                       ("zero", "power 0: every weight is 1 + eps, even where the reward is 0 (0^0 = 1)", 0, 0.125),
                                       ("cube", "power 3: a negative reward gets a positive weight, from its absolute value",
                                        3, 1e-8)):
        case(label, comment, REWARDS, power=power, eps=eps)


@checks("resampling_weights")
def check_resampling_weights(check):
    rewards = cases_of("resampling_weights")[0][2]
    def power(p, eps=0, rewards=rewards):
        return [n.value for n in exactly("resampling_weights", rewards, power=p, eps=eps)["weight"]]
    flipped = {**rewards, "reward": [-r for r in rewards["reward"]]}
    check("the first power is the absolute value", power(1) == [abs(r) for r in rewards["reward"]])
    check("a root squared", all(abs(a * a - b) < 1e-50 for a, b in zip(power(0.5), power(1))))
    check("signs do not matter", power(3) == power(3, 0, flipped) and power(2.5) == power(2.5, 0, flipped))
    check("eps is added", power(2, 0.5) == [w + 0.5 for w in power(2)] and power(0) == [1] * 4)


# ---- resample

@function(index=many(COUNT))
def resample(weight: many(NOT_NEGATIVE, least=1), uniform: many(number(least=0, below=1))):
    """Sampling by the inverse of the cumulative sum.

    Takes: `weight` (n numbers >= 0, sum > 0), `uniform` (k numbers in [0, 1))
    Gives: `index` (k): the smallest j with sum_{i<=j} weight_i > u sum weight
    """
    sums = [sum(weight[:j + 1]) for j in range(len(weight))]
    return {"index": [next(j for j, s in enumerate(sums) if less(u * sums[-1], s)) for u in uniform]}


@cases("resample")
def resample_cases(case):
    for label, comment, weight, uniform in (
            ("plain", "weights that do not sum to 1: u times their sum is compared with the partial sums",
             [0.5, 2, 0.25, 1.25], [0.0625, 0.875, 0.5, 0.25, 0.7]),
            ("zeros", "responses of weight 0 are never drawn, even the first and the last", [0, 1, 0, 0.5, 0],
             [0, 0.5, 0.75, 0.99999]),
            ("edges", "u times the sum is exactly a partial sum: the next response is drawn",
             [0.25, 0.25, 0.5], [0.25, 0.5, 0.125]),
            ("edges-zeros", "u times the sum is exactly a partial sum: responses of weight 0 that follow are skipped",
             [1, 0, 0, 1], [0.5, 0, 0.25]),
            ("near-one", "u = 0 draws the first response, u just below 1 the last", [0.1, 0.2, 0.7], [0, 0.99999, 1 - 2 ** -16]),
            ("one", "a single response is drawn for every u", [0.3], [0, 0.5, 0.99]),
            ("no-draws", "no u is given: nothing is drawn, the answer is empty", [1, 2], [])):
        case(label, comment, weight=weight, uniform=uniform)


@checks("resample")
def check_resample(check):
    for label, arguments, _ in cases_of("resample"):
        weight = [Fraction(w) for w in arguments["weight"]]
        sums = list(itertools.accumulate(weight))
        found = ask("resample", **arguments)["index"]
        by_search = [bisect.bisect_right(sums, Fraction(u) * sums[-1]) for u in arguments["uniform"]]
        check(f"the cumulative sum: {label}", found == by_search)
        check(f"no weight, no draw: {label}", all(weight[j] > 0 for j in found))
        every = ask("resample", weight=arguments["weight"], uniform=[(k + 0.5) / 512 for k in range(512)])["index"]
        shares = [512 * w / sums[-1] for w in weight]
        check(f"as often as the weight says: {label}", all(abs(every.count(j) - x) <= 1 for j, x in enumerate(shares)))
        last = max(j for j, w in enumerate(weight) if w)
        greatest = ask("resample", weight=arguments["weight"], uniform=[1 - 2 ** -53])["index"]
        check(f"the greatest u: {label}", greatest == [last])


# ---- replay_score

@function(score=many(NOT_NEGATIVE))
def replay_score(batch: reads("reward", "advantage")):
    """TRL's replay buffer: sum over responses of abs(A), times the standard deviation of the rewards.

    Source: TRL
    Takes: batch with `reward`, `advantage`
    Gives: `score` (groups): sum over the group's responses of abs(A) at the first mask token (0 without one), times the sample standard
    deviation of their rewards (0 for one response); scale itself
    """
    A = at(batch, "advantage")
    first = {i: abs(A[i, t]) for i, t in reversed(list(A))}  # reversed, so that the first mask token of a response overwrites later ones

    def score(group):
        spread = reals.sqrt(real(sample_variance([Fraction(batch["reward"][i]) for i in group])))
        return real(sum((first.get(i, 0) for i in group), Fraction(0))) * spread
    return {"score": [Number(x, x) for x in map(score, by_group(batch))]}


@cases("replay_score")
def replay_score_cases(case):
    case("binary", "two prompts with different advantages and deviations of rewards",
         responses([0, 0, 0, 1, 1], [1, 0, 0, 1, 0.25],
                   advantage=[[1.5, 1.5, 1.5], [-0.75, -0.75], [-0.75], [0.5, 0.5], [-0.5]]))
    case("equal", "equal rewards, or a single response: the score is 0, whatever the advantages",
         responses([0, 0, 0, 1], [TENTHS] * 3 + [1], advantage=[[1], [0.5], [-0.25], [2]]))
    case("holes",
         "the advantage is read at the first unmasked token; a response without one adds 0 but its reward counts",
         tokens([0, 0, 0, 1, 1], "011 00 1 - 1", [1, 0, 0.5, -1, 2],
                advantage=[[NAN, -0.5, 3], [NAN, 9], [1.25], [], [0.75]]))
    case("zero-advantage", "all advantages are 0: the score is 0, though rewards differ",
         responses([0, 0], [1, 0], advantage=[[0, 0], [0]]))


@checks("replay_score")
def check_replay_score(check):
    spread = tokens(reward=[1, 3, 5], advantage=[[-1], [0, 7], [1]])
    check("with normalised advantages: the sum of deviations", ask("replay_score", spread)["score"] == [4])


# ---- sequence_distance

def edit_distance(a, b):
    """Levenshtein's, of unit costs"""
    before = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        now = [i]
        for j, y in enumerate(b, 1):
            now.append(min(before[j] + 1, now[-1] + 1, before[j - 1] + (x != y)))
        before = now
    return before[-1]


def longest_suffix(a, b):
    """The length of the longest suffix of a that occurs in b"""
    return max(k for k in range(len(a) + 1) if any(b[i:i + k] == a[len(a) - k:] for i in range(len(b) - k + 1)))


def common_subsequence(a, b):
    before = [0] * (len(b) + 1)
    for x in a:
        now = [0]
        for j, y in enumerate(b, 1):
            now.append(before[j - 1] + 1 if x == y else max(before[j], now[-1]))
        before = now
    return before[-1]


def edit(a, b):
    return Fraction(edit_distance(a, b), max(len(a), len(b)))


def suffix(a, b):
    return Fraction(max(longest_suffix(a, b), longest_suffix(b, a)), max(len(a), len(b)))


def rouge_l(a, b):
    c = common_subsequence(a, b)
    P, R = Fraction(c, len(a)), Fraction(c, len(b))
    return 2 * P * R / (P + R) if c else Fraction(0)


ALIKE = {"edit": edit, "suffix": suffix, "rouge_l": rouge_l}


@function(distance=FRACTION)
def sequence_distance(a: many(INTEGER, least=1), b: many(INTEGER, least=1), form: one_of("edit", "suffix", "rouge_l")):
    """LATR, official code (starreeze/latr@2adb0ed): similarity of a branch and its parent.

    Source: LATR, starreeze/latr@2adb0ed model/sample_filter.py
    Takes: `a` (m >= 1 integer ids), `b` (n >= 1), `form`
    Gives: `distance`: `edit`: Levenshtein's distance, unit costs, over max(m, n); `suffix`: max(l1, l2)/max(m, n), l1 the length of the
    longest suffix of a that stands anywhere in b as it is, l2 of one of b in a; `rouge_l`: 2 P R/(P + R), P = c/m, R = c/n, c the
    length of the longest common subsequence, 0 if c = 0; scale itself. LATR drops a branch too like its parent: edit < 0.4 (its scripts
    for countdown), suffix > 0.2 or rouge_l > 0.5 (those for mathematics), of as many last tokens of both
    """
    x = ALIKE[form](a, b)
    return {"distance": Number(x, x)}


@cases("sequence_distance")
def sequence_distance_cases(case):
    BRANCH, PARENT = [5, 1, 2, 9, 3, 4], [1, 2, 3, 7, 2, 9]
    for form in ("edit", "suffix", "rouge_l"):
        each(case,
             (form, "two sequences of six ids that agree in no place but have runs in common", dict(a=BRANCH, b=PARENT, form=form)),
             (f"{form}-lengths", "sequences of two and seven ids: the longer one is second",
              dict(a=[3, 8], b=[8, 3, 8, 1, 3, 8, 2], form=form)),
             (f"{form}-other", "no id in common: edit distance 1, suffix and ROUGE-L similarity 0",
              dict(a=[1, 2, 3], b=[4, -4], form=form)))
    each(case,
         ("suffix-all", "the second sequence stands in the first as a whole: 3 over the longer length of 7",
          dict(a=[1, 1, 2, 1, 1, 1, 2], b=[1, 1, 2], form="suffix")),
         ("edit-same", "equal sequences with ids near 2^53: the distance is 0",
          dict(a=[9007199254740991, 7], b=[9007199254740991, 7], form="edit")),
         ("edit-swap", "two neighbouring ids are swapped: two edits, not one transposition",
          dict(a=[1, 2, 3, 4, 5], b=[1, 3, 2, 4, 5], form="edit")))


def subsequences(a):
    return {tuple(x for x, kept in zip(a, keep) if kept) for keep in itertools.product((0, 1), repeat=len(a))}


def by_search(a, b):
    """The fewest edits, by all shorter pairs"""
    if not a or not b:
        return len(a) + len(b)
    return min(by_search(a[1:], b) + 1, by_search(a, b[1:]) + 1, by_search(a[1:], b[1:]) + (a[0] != b[0]))


def ends_inside(a, b):
    text = "," + "".join(f"{x}," for x in b)
    return max(k for k in range(len(a) + 1) if "," + "".join(f"{x}," for x in a[len(a) - k:]) in text)


def distance(a, b, form):
    return exactly("sequence_distance", a=a, b=b, form=form)["distance"].value


@checks("sequence_distance")
def check_sequence_distance(check):
    dice = Dice(5)
    for _ in range(40):
        a, b = ([dice.below(3) for _ in range(1 + dice.below(6))] for _ in range(2))
        most, common = max(len(a), len(b)), max(map(len, subsequences(a) & subsequences(b)))
        check(f"edits of {a} and {b}", distance(a, b, "edit") == Fraction(by_search(a, b), most))
        check(f"ends of {a} and {b}", distance(a, b, "suffix") == Fraction(max(ends_inside(a, b), ends_inside(b, a)), most))
        check(f"what {a} and {b} share", distance(a, b, "rouge_l") == Fraction(2 * common, len(a) + len(b)))
        for form in ("edit", "suffix", "rouge_l"):
            check(f"{form} either way", distance(a, b, form) == distance(b, a, form))
            check(f"{form} of itself", distance(a, a, form) == (0 if form == "edit" else 1))
