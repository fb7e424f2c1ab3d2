"""The advantage: enumeration, closed forms, invariances."""
import itertools
import math
import statistics

from checks.rewards import R, RIGHT, RIGHT_SIZES, SIZES, batch_of, by_group, each_group, scores, tokens
from checks.tools import near


def pass_by_sets(group, k):
    """A response's advantage is the mean success of the k-sets that contain it, minus that of all k-sets."""
    won = {s: any(group[i] for i in s) for s in itertools.combinations(range(len(group)), k)}
    rate = sum(won.values()) / len(won)
    return [statistics.mean(w for s, w in won.items() if i in s) - rate for i in range(len(group))], rate


def added_by(group, k):
    """The mean increase of success when a response is added to k - 1 others."""
    found = []
    for i, r in enumerate(group):
        others = itertools.combinations([x for j, x in enumerate(group) if j != i], k - 1)
        found.append(statistics.mean(r * (not any(s)) for s in others))
    return found


def check_transforms(check):
    for k in (1, 2):
        a = scores(RIGHT, RIGHT_SIZES, transform="pass_at_k", pass_k=k)
        check(f"pass@{k} by enumeration", near(a, each_group(lambda g: pass_by_sets(g, k)[0], RIGHT, RIGHT_SIZES)))
        check(f"pass@{k}: a group sums to 0", all(abs(sum(g)) < 1e-14 for g in by_group(a, RIGHT_SIZES)))
        check(f"pass@{k} tells something", any(a))
        a = scores(RIGHT, RIGHT_SIZES, transform="pkpo_maxrl", pass_k=k)
        check(f"PKPO at {k} by enumeration", near(a, each_group(lambda g: added_by(g, k), RIGHT, RIGHT_SIZES)))
    a = scores((1, 0, 0, 0, 0), (5,), transform="pass_at_k", pass_k=3, scale="group_std")
    right, rate = pass_by_sets((1, 0, 0, 0, 0), 3)
    check("pass@3 over the deviation of a success", near(a, [x / math.sqrt(rate * (1 - rate)) for x in right]))
    a = scores(RIGHT[:5], (5,), transform="pkpo_maxrl", pass_k=2, baseline="leave_one_out")
    s = added_by(RIGHT[:5], 2)
    check("PKPO with the others as baseline", near(a, [(5 * x - sum(s)) / 4 for x in s]))
    check("pass@1 is the centred reward",
          near(scores(RIGHT, RIGHT_SIZES, transform="pass_at_k", pass_k=1),
               scores(RIGHT, RIGHT_SIZES, baseline="group_mean")))

    def best(group):
        first, second = sorted(group, reverse=True)[:2]
        return [first - second if i == group.index(first) else 0 for i in range(len(group))]
    check("best minus second", near(scores(R, SIZES, transform="best_minus_second"), each_group(best)))


def kept(f):
    """R - f(group)"""
    return lambda group: [r - f(group) for r in group]


def soft_mean(tau):
    def b(group):
        top = max(group)
        return top + tau * math.log(math.fsum(math.exp((r - top) / tau) for r in group) / len(group))
    return b


def narrowest(group, h):
    xs = sorted(group)
    return statistics.median(min((xs[j:j + h] for j in range(len(xs) - h + 1)), key=lambda w: w[-1] - w[0]))


def check_baselines(check):
    check("the quantile at 1/2 is the lower median",
          near(scores(R, SIZES, baseline="quantile", quantile=0.5), each_group(kept(statistics.median_low))))
    check("the linear quantile at 1/2 is the median",
          near(scores(R, SIZES, baseline="quantile_linear", quantile=0.5), each_group(kept(statistics.median))))
    quarters = kept(lambda g: statistics.quantiles(g, n=4, method="inclusive")[0])
    check("the linear quantile at 1/4", near(scores(R, SIZES, baseline="quantile_linear", quantile=0.25),
                                             each_group(quarters)))
    for right in range(9):  # QAE's description for rewards of 0 and 1
        a = scores([1] * right + [0] * (8 - right), (8,), baseline="quantile", quantile=0.4)
        b = 0 if right / 8 <= 1 - 0.4 else 1
        check(f"the quantile of {right} right ones of 8", near(a, [1 - b] * right + [-b] * (8 - right)))
    a = scores([1] * 5 + [0] * 3, (8,), baseline="quantile_linear", quantile=0.4)
    check("the linear quantile of 5 right ones of 8 is 0.8", near(a, [1 - 0.8] * 5 + [-0.8] * 3))

    means = scores(R, SIZES, baseline="group_mean")
    check("log-mean-exp by hand", near(scores(R, SIZES, baseline="log_mean_exp", temperature=0.5),
                                       each_group(kept(soft_mean(0.5)))))
    check("log-mean-exp tends to the mean", near(scores(R, SIZES, baseline="log_mean_exp", temperature=2.0 ** 60),
                                                 means, 1e-15))
    check("and to the largest", near(scores(R, SIZES, baseline="log_mean_exp", temperature=2.0 ** -28),
                                     each_group(kept(max)), 1e-8))  # tau log n away from it
    for share, sizes in ((0.5, (3, 2)), (0.75, (4, 3)), (0.125, (1, 1))):
        expected = [r - narrowest(g, h) for g, h in zip(by_group(R, SIZES), sizes) for r in g]
        check(f"densest {share} by hand", near(scores(R, SIZES, baseline="hdi_median", hdi_mass=share), expected))
    check("densest over all is the median",
          near(scores(R, SIZES, baseline="hdi_median", hdi_mass=1), each_group(kept(statistics.median))))
    check("the mean of the batch", near(scores(R, SIZES, baseline="batch_mean"), [r - statistics.mean(R) for r in R]))
    for r in (0.25, 2):  # without process noise: P = r/(r + t), x = sum of the first t over r + t
        numbers = {"baseline": "kalman", "process_noise": 0, "observation_noise": r}
        still = each_group(lambda g: [x - sum(g[:t]) / (r + t) for t, x in enumerate(g, 1)])
        check(f"a filter without process noise: {r}", near(scores(R, SIZES, **numbers), still))
        roots = each_group(lambda g: [math.sqrt(r / (r + t)) for t, _ in enumerate(g, 1)])
        check(f"its deviation: {r}", near(scores(R, SIZES, scale="kalman_std", **numbers),
                                          [x / s for x, s in zip(still, roots)]))
    for baseline, numbers in BASELINES.items():
        a = scores(R, SIZES, baseline=baseline, **numbers)
        check(f"a shift is taken off: {baseline}", near(scores(R, SIZES, baseline=baseline, baseline_shift=0.5, **numbers),
                                                        [x - 0.5 for x in a]))
        if baseline != "kalman":
            moved = scores([r + 8 for r in R], SIZES, baseline=baseline, **numbers)
            check(f"rewards that are all moved are the same: {baseline}", near(moved, a, 1e-12))


BASELINES = {"group_mean": {}, "leave_one_out": {}, "batch_mean": {}, "quantile": {"quantile": 0.3},
             "quantile_linear": {"quantile": 0.3}, "log_mean_exp": {"temperature": 0.5}, "hdi_median": {"hdi_mass": 0.5},
             "kalman": {"process_noise": 0.5, "observation_noise": 0.25}}


def check_scales(check):
    same = dict(baseline="group_mean", eps=0.125)
    for std in ("sample", "population"):
        check(f"the residuals around the mean are the deviation: {std}",
              scores(R, SIZES, scale="residual_rms", std=std, **same) == scores(R, SIZES, scale="group_std", std=std,
                                                                                **same))
    check("residuals around the others' means are larger by n/(n - 1), and so is their root",
          near(scores(R, SIZES, baseline="leave_one_out", scale="residual_rms"),
               scores(R, SIZES, baseline="group_mean", scale="group_std")))
    check("the mean as scale: A + 1 is the reward over it",
          near([a + 1 for a in scores(RIGHT, RIGHT_SIZES, baseline="group_mean", scale="group_mean")],
               each_group(lambda g: [r / statistics.mean(g) for r in g], RIGHT, RIGHT_SIZES)))

    def others(group):
        rest = [group[:i] + group[i + 1:] for i in range(len(group))]
        return [(r - statistics.mean(x)) / (statistics.stdev(x) or 1) for r, x in zip(group, rest)]
    success = (1, 0, 0, 0) + R
    a = scores(success, (4,) + SIZES, baseline="leave_one_out", scale="leave_one_out_std")
    check("the deviation of the others by hand", near(a, each_group(others, success, (4,) + SIZES)))
    check("a constant scale", near(scores(R, SIZES, scale="constant", scale_divisor=4), [r / 4 for r in R]))
    for gain in ({"difficulty_weight_low": 1, "difficulty_weight_high": 1},
                 {"difficulty_weight_low": 1, "difficulty_weight_high": 1, "difficulty_slope": 10}):
        check("a difficulty of 1", near(scores(RIGHT, RIGHT_SIZES, reweight="difficulty", **gain), RIGHT))
    a = scores((1, 1, 1, 0), (4,), baseline="group_mean", reweight="difficulty", difficulty_weight_low=0.4, difficulty_weight_high=1.5,
               difficulty_slope=10, difficulty_midpoint=0.75)
    check("GRPO-LEAD at its centre: w(3/4) = 0.95", near(a[:3], [0.25 * 0.95] * 3))
    check("and for the wrong one w(1/4)", near(a[3:], [-0.75 * (0.4 + 1.1 / (1 + math.exp(-5)))]))
    lengths = (1, 2, 3, 4, 5, 1, 2, 3, 4)
    for p in (0.5, 1, -1):
        a = scores((1,) * 9, SIZES, lengths, reweight="length_power", length_power=p)
        check(f"weights by length have mean 1: {p}", abs(sum(a) / 9 - 1) < 1e-14)
        check(f"and go with its power: {p}", near([x * T ** p for x, T in zip(a, lengths)], [a[0]] * 9))
    check("a power of 0 is no gain", scores(R, SIZES, lengths, reweight="length_power") == list(R))
    a = scores(R, SIZES, baseline="leave_one_out", scale="leave_one_out_std", batch_norm="items")
    check("normalised again: mean 0, variance 1", abs(sum(a)) < 1e-13 and abs(sum(x * x for x in a) - 8) < 1e-13)


def check_several(check):
    one = scores(R, SIZES, baseline="group_mean", scale="group_std")
    fields = dict(rewards="each", baseline="group_mean", scale="group_std")

    def each(columns, weights=None, **more):
        extra = {"rewards": [list(row) for row in zip(*columns)]} | ({"reward_weight": weights} if weights else {})
        return [row[0] for row in tokens(batch_of([0] * 9, SIZES, **extra), **{**fields, **more})]
    other = tuple(x * x for x in R)
    check("one of several rewards is one reward", each([R]) == one)
    check("its weight is a factor", near(each([R], [4]), [4 * x for x in one]) and near(each([R, R], [1, -1]), [0] * 9))
    two = scores(other, SIZES, baseline="group_mean", scale="group_std")
    check("several are the sum of each", near(each([R, other], [1, 0.5]), [x + y / 2 for x, y in zip(one, two)]))
    check("no weights are weights of 1", each([R, other]) == each([R, other], [1, 1]))
    check("each is not the sum of rewards", not near(each([R, other]),
                                                     scores([x + y for x, y in zip(R, other)], SIZES,
                                                            baseline="group_mean", scale="group_std")))
    a = each([R, other], batch_norm="items")
    check("and normalised again", abs(sum(a)) < 1e-13 and abs(sum(x * x for x in a) - 8) < 1e-13)


GROUPS = (check_transforms, check_baselines, check_scales, check_several)
