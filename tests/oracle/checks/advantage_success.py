"""The advantage: sets of responses, success rates, distances from the mean, powers of failure."""
import itertools
import math
import statistics

from checks.rewards import R, RIGHT, RIGHT_SIZES, SIZES, batch_of as rewarded, by_group, each_group, scores
from checks.tools import near
from evaluate import evaluate
from objectives import changed, plain


def check_deviation(check):
    rewards, sizes = (1, 0.25, 0, 0.75, 0, 0.5, -1, -0.25, 0.5), (5, 4)
    a = scores(rewards, sizes, baseline="group_mean", scale="mean_absolute_deviation")
    check("distances of 1 on average", near([sum(map(abs, a[:5])), sum(map(abs, a[5:]))], [5, 4]))
    shares = scores((1, 0, 0, 0, 1, 1, 0, 1), (4, 4), baseline="group_mean", scale="mean_absolute_deviation")
    check("of 0 and 1: 1/(2p) and -1/(2(1 - p))", near(shares, [2, -2 / 3, -2 / 3, -2 / 3, 2 / 3, 2 / 3, -2, 2 / 3]))
    b = scores(rewards, sizes, baseline="group_mean", scale="mean_absolute_deviation", eps=0.5)
    spread = [math.fsum(abs(r - math.fsum(g) / len(g)) for r in g) for g in (rewards[:5], rewards[5:])]
    check("epsilon beside the sum", near(b, [x * s / (s + 0.5) for x, s in zip(a, [spread[0]] * 5 + [spread[1]] * 4)]))
    alone = {name: scores((0.75, 1, 1), (1, 2), baseline="group_mean", scale="mean_absolute_deviation", eps=0.5, singleton=name)
             for name in ("zero", "raw")}
    check("lone and equal rewards", alone == {"zero": [0, 0, 0], "raw": [0.75, 0, 0]})


def check_failure(check):
    rewards, sizes = (1, 0, 0, 0, 1, 1, 0, 1, 1, 1), (4, 4, 2)
    plain_ones = scores(rewards, sizes, baseline="group_mean")
    for power in (0, 0.5, 1, 3):
        found = scores(rewards, sizes, baseline="group_mean", reweight="focal", focal_reward_high=1, focal_gamma=power)
        factors = [0.75 ** power] * 4 + [0.25 ** power] * 4 + [0.0 ** power] * 2
        check(f"F-GRPO: (1 - p)^{power}", near(found, [x * f for x, f in zip(plain_ones, factors)]))
    kept = scores((1, 1, 0, 0), (2, 2), reweight="focal", focal_reward_high=1, focal_gamma=0)
    check("0^0 is 1", kept == [1, 1, 0, 0])
    moved = scores([2 * r - 1 for r in rewards], sizes, baseline="group_mean", reweight="focal", focal_reward_low=-1, focal_reward_high=1,
                   focal_gamma=2)
    check("rewards of -1 and 1", near(moved, [2 * x for x in scores(rewards, sizes, baseline="group_mean", reweight="focal",
                                                                     focal_reward_high=1, focal_gamma=2)]))
    for fields in ({"focal_reward_high": 0}, {"focal_reward_high": 1, "focal_reward_low": 1}, {"focal_reward_high": 1, "focal_gamma": -1}):
        o = changed(plain(), advantage={"reweight": "focal", **fields})
        try:
            evaluate(o, rewarded((1, 0), (2,)))
            check(f"no such gain: {fields}", False)
        except ValueError:
            check(f"no such gain: {fields}", True)


def set_means(group, k, f):
    """1/C(n, k) sum over the k-sets that hold i of f(set, set without i)"""
    n = len(group)
    sets = list(itertools.combinations(range(n), k))
    return [sum(f([group[j] for j in s], [group[j] for j in s if j != i]) for s in sets if i in s) / len(sets) for i in range(n)]


def ranked(group, k):
    """PKPO's closed form: in ascending order the j-th of n is the largest of C(j-1, k-1) sets."""
    n, order = len(group), sorted(range(len(group)), key=lambda i: group[i])
    result = [0] * n
    for place, i in enumerate(order, 1):
        best = group[i] * math.comb(place - 1, k - 1)
        above = sum(group[j] * math.comb(q - 2, k - 2) for q, j in enumerate(order, 1) if q > place) if k > 1 else 0
        result[i] = (best + above) / math.comb(n, k)
    return result


def less_others(group, k):
    """PKPO eq. 29 with its sum over j evaluated: the maxima of the item's sets, over the number of all sets, minus k/(n - 1) times
    the mean maximum of the k-sets of the others; the sum counts each of these k times."""
    n, result = len(group), set_means(group, k, lambda with_i, without: max(with_i))
    for i in range(n if n > k else 0):
        others = itertools.combinations([x for j, x in enumerate(group) if j != i], k)
        result[i] -= k / (n - 1) * statistics.mean(max(s) for s in others)
    return result


def check_sets(check):
    for k in (1, 2, 3, 4):
        a = scores(R, SIZES, transform="pkpo_max", pass_k=k)
        check(f"maxg@{k} by ranks", near(a, each_group(lambda g: ranked(g, k))))
        for group, found in zip(by_group(R, SIZES), by_group(a, SIZES)):
            best = statistics.mean(max(s) for s in itertools.combinations(group, k))
            check(f"k sets' worth each: {k}", abs(sum(found) - k * best) < 1e-13)
        a = scores(R, SIZES, transform="pkpo_gain", pass_k=k)
        gain = each_group(lambda g: set_means(g, k, lambda with_i, without: max(with_i) - max(without, default=0)))
        check(f"gains of {k} by enumeration", near(a, gain))
        a = scores(R, SIZES, transform="pkpo_loo", pass_k=k)
        check(f"eq. 29 of {k} by enumeration", near(a, each_group(lambda g: less_others(g, k), R, SIZES)))
    for k in (1, 2):
        binary = scores(RIGHT, RIGHT_SIZES, transform="pkpo_gain", pass_k=k)
        sizes = [n for n in RIGHT_SIZES for _ in range(n)]
        check(f"gains of right and wrong are the binary form times k/n: {k}",
              near(binary, [x * k / n for x, n in zip(scores(RIGHT, RIGHT_SIZES, transform="pkpo_maxrl", pass_k=k), sizes)]))
        most = scores(RIGHT, RIGHT_SIZES, transform="pkpo_max", pass_k=k)
        check(f"k/n for a right one: {k}", all(abs(x - k / n) < 1e-14 for x, r, n in zip(most, RIGHT, sizes) if r))


def probability(outcome, p):
    """Of draws that are each right with probability p."""
    return math.prod(p if right else 1 - p for right in outcome)


def score(right, p):
    """d log P(right) / dp"""
    return 1 / p if right else -1 / (1 - p)


def check_pass_gradient(check):
    """PKPO's theorem: E[sum_i weight_i d log p(x_i)/dp] is d pass@k/dp = k (1 - p)^(k - 1), of n draws that are right with probability p;
    eqs. 19, 29 and 33, and eq. 8, which is 19 of rewards 0 and 1. Every outcome is enumerated."""
    for n, k in ((4, 2), (5, 3), (6, 2), (3, 3), (4, 1)):
        outcomes = list(itertools.product((0, 1), repeat=n))
        for transform in ("pkpo_max", "pkpo_loo", "pkpo_gain"):
            a = by_group(scores([r for x in outcomes for r in x], [n] * len(outcomes), transform=transform, pass_k=k), [n] * len(outcomes))
            for p in (0.1, 0.5, 0.9):
                slope = math.fsum(probability(x, p) * math.fsum(s * score(r, p) for r, s in zip(x, of)) for x, of in zip(outcomes, a))
                right = k * (1 - p) ** (k - 1)
                check(f"{transform} is the gradient of pass@{k} of {n} draws at {p}", abs(slope - right) <= 1e-14 * max(1, right))
        first = by_group(scores([r for x in outcomes for r in x], [n] * len(outcomes), transform="pkpo_max", pass_k=k), [n] * len(outcomes))
        for x, of in zip(outcomes, first):
            lost = math.comb(max(n - 1 - sum(x), 0), k - 1) / math.comb(n - 1, k - 1)
            check(f"eq. 8 is eq. 19 of right and wrong: {k} of {n}", near(of, [k / n * (1 if r else 1 - lost) for r in x]))


def beta_density(p, a, b):
    log = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return math.exp(log + (a - 1) * math.log(p) + (b - 1) * math.log(1 - p))


def check_beta(check):
    rewards, sizes = (1, 0, 0, 0, 1, 1, 0, 1, 1, 0), (4, 4, 2)
    rates = [statistics.mean(g) for g in by_group(rewards, sizes)]
    mu, m = 0.5, 0.25 / statistics.variance(rates) - 1
    a, b = 1 + m * mu / 3, 1 + m * (1 - mu) / 3
    expected = [(r - p) / beta_density(p, a, b) for g, p in zip(by_group(rewards, sizes), rates) for r in g]
    check("BNPO by hand", near(scores(rewards, sizes, baseline="group_mean", scale="beta"), expected) and a > 1)
    check("one prompt: the centred reward", scores((1, 0, 0), (3,), baseline="group_mean", scale="beta")
          == scores((1, 0, 0), (3,), baseline="group_mean"))
    check("rates that do not differ: nothing", not any(scores((1, 0, 0, 1), (2, 2), baseline="group_mean", scale="beta")))
    check("more spread than a uniform density: not weighed",
          scores((1, 1, 0, 0), (2, 2), scale="beta") == [1, 1, 0, 0])
    wide, narrow = (scores((1, 0) * 4 + tail, (8, 8), baseline="group_mean", scale="beta")[0] for tail in
                    ((1, 0) * 3 + (1, 1), (1, 0) * 2 + (1, 1, 1, 1)))
    check("the nearer the rates, the denser, the smaller", 0 < wide < narrow < 0.5)


GROUPS = (check_sets, check_pass_gradient, check_beta, check_deviation, check_failure)
