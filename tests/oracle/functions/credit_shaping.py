"""Changes of given advantages: bonuses, factors, mixtures, projections."""
from fractions import Fraction
from math import floor

import limits
import reals
from functions.arithmetic import HALF, Number, by_group, clamp, mean, mean_of, means, per_group, real, rewards_of, summed
from functions.batches import FOUR, TENTHS, WITH_HOLES, each, marks, tokens
from functions.comparing import cases_of, every, exactly, fraction, near, thrown, values
from functions.domains import FLAG, FRACTION, NOT_NEGATIVE, NUMBER, POSITIVE, integer, many, reads
from functions.registry import cases, checks, function
from reals import mpf
from scenarios import Dice


# ---- sharpening

@function(advantage=many(NUMBER))
def sharpening_advantage(batch: reads("logp_old", "reward"), advantage: many(NUMBER), kappa: NOT_NEGATIVE,
                         **more: {"lambda": NOT_NEGATIVE}):
    """XRPO: a bonus for right responses that are less likely than the group's mean.

    Source: XRPO
    Takes: batch with `logp_old`, `reward`; `advantage` A (N), `lambda` >= 0, `kappa` >= 0
    Gives: s the mean of o over mask tokens, m the mean of s over the responses of the group that have one. `advantage` (N): A +
    min(max(lambda (1 - e^(s - m)), 0), kappa A) where r > 0 and A > 0 and there is an s, else A; scale abs(A), plus what is added:
    kappa A, or lambda (1 + e^(s - m)(1 + size(s) + size(m))), means of absolute values
    """
    score, r = means(batch, "logp_old"), rewards_of(batch)
    strength = more["lambda"]

    def sharpened(i, near):
        A = advantage[i]
        if i not in score or r[i] <= 0 or A <= 0:
            return Number(A, abs(A))
        eta = reals.exp(real(score[i].value - near.value))
        bonus = real(strength) * (1 - eta)
        if bonus <= 0 or real(kappa * A) <= bonus:
            return Number(A, A) if bonus <= 0 else Number(A + kappa * A, A + kappa * A)
        return Number(real(A) + bonus, real(A) + abs(real(strength)) * (1 + eta * real(1 + score[i].size + near.size)))
    return {"advantage": per_group(batch, lambda group: [sharpened(i, mean_of([score[j] for j in group if j in score])) for i in group])}


@cases("sharpening_advantage")
def sharpening_cases(case):
    def sharpen(label, comment, old, reward, advantage, group=FOUR, strength=2.5, kappa=0.5, mask=None):
        case(label, comment, tokens(list(group), mask, list(reward), logp_old=old), advantage=advantage, kappa=kappa,
             **{"lambda": strength})

    sharpen("plain", "of two right responses the unlikely one gets a bonus below the cap; wrong ones stay",
            [[-0.5, -0.25], [-1.125], [-1, -1], [-1.75]],
            [1, 1, 0, 0], [1, 1, -1, -1])
    sharpen("capped", "a right response far less likely than the group's mean: the bonus is capped at kappa A",
            [[-0.5, -0.25], [-4], [-1, -3], [-2]], [1, 1, 1, 0], [0.75, 0.5, 0.625, -1])
    sharpen("kept", "advantages of 0 and below stay, even of right and unlikely responses",
            [[-3], [-4], [-1, -3], [-0.5]], [1, 1, 0, 1], [0, -0.5, 1, TENTHS])
    sharpen("holes", "the mean is over responses with unmasked tokens; a fully masked one keeps its advantage",
            WITH_HOLES["logp_old"] + [[-2]], [1, 1, 1, 1], [1, 1, 0.5, 2],
            (0, 0, 1, 1), 0.25, 1, "1011 00 11 1")


@checks("sharpening_advantage")
def check_sharpening_advantage(check):
    for label, given, batch, found in every("sharpening_advantage"):
        A = fraction(given["advantage"])
        gain = [real(n.value) - real(a) for n, a in zip(found["advantage"], A)]
        most = [given["kappa"] * abs(real(a)) + 1e-30 for a in A]
        check(f"from nothing to kappa A: {label}", all(0 <= x <= y for x, y in zip(gain, most)))
        wide = exactly("sharpening_advantage", batch, **{**given, "kappa": 2 ** 40})["advantage"]
        pairs = zip(found["advantage"], wide)
        check(f"the cap only takes: {label}", all(real(x.value) <= real(y.value) for x, y in pairs))


# ---- feature_advantage

@function(advantage=many(NUMBER))
def feature_advantage(batch, advantage: many(NUMBER), feature: many(NUMBER), divisor: many(POSITIVE), eligible: many(FLAG), delta: NUMBER,
                  k: NOT_NEGATIVE):
    """ASPO (2508.19201): delta times a feature's deviation from the mean of the eligible ones, within k of abs(A).

    Source: ASPO, 2508.19201
    Takes: batch; `advantage` A, `feature` x, `divisor` y > 0 (N each), `eligible` (N flags), `delta`, `k` >= 0
    Gives: `advantage` (N): A + clip(delta (x - mean x)/mean y, -k abs(A), k abs(A)) for the eligible ones, means over those of the
    group; A for the others; scale abs(A) plus abs(delta)(abs(x) + mean abs(x))/mean y, or k abs(A) where it is clipped
    """
    def advantages(group):
        chosen = [i for i in group if eligible[i]]
        found = {i: Number(advantage[i], abs(advantage[i])) for i in group}
        for i in chosen:
            A, centre, size = advantage[i], mean([feature[j] for j in chosen]), mean([abs(feature[j]) for j in chosen])
            step = delta / mean([divisor[j] for j in chosen])
            bonus, bound = step * (feature[i] - centre), k * abs(A)
            inside = abs(bonus) <= bound
            found[i] = Number(A + clamp(bonus, -bound, bound), abs(A) + (abs(step) * (abs(feature[i]) + size) if inside else bound))
        return [found[i] for i in group]
    return {"advantage": per_group(batch, advantages)}


@cases("feature_advantage")
def feature_bonus_cases(case):
    def feature(label, comment, advantage, x, y, eligible, delta=-2, k=0.7, group=FOUR):
        case(label, comment, tokens(list(group), logp=[[-0.5]] * len(x)),
             advantage=advantage, feature=x, divisor=y, eligible=marks(eligible), delta=delta, k=k)

    feature("plain", "a small feature raises the advantage, a large one lowers it, a response not eligible keeps it",
            [1, 0.75, 0.5, -1], [100, 120, 140, 900],
            [400, 500, 600, 10],
            "1110")
    feature("bounded", "the changes are clipped to 0.7 abs(A) on either side",
            [1, 0.75, 0.5, -1], [10, 120, 740, 900], [400, 500, 600, 10], "1110")
    feature("negative", "a negative and a zero advantage: changes are clipped to 0.7 abs(A)",
            [-0.5, 0, 1, 2], [10, 20, 400, 30], [100, 100, 150, 50], "1111")
    feature("lone", "the only eligible response of its group is at the mean: its advantage stays",
            [1, 0.5, TENTHS, 0.25], [10, 20, 30, 40], [100, 100, 50, 60], "1011",
            group=(0, 0, 1, 1))


@checks("feature_advantage")
def check_feature_advantage(check):
    for label, given, batch, found in every("feature_advantage"):
        wide = values(exactly("feature_advantage", batch, **{**given, "k": 2 ** 40})["advantage"])
        A = fraction(given["advantage"])
        for group in by_group(batch):
            if all(A[i] for i in group):
                check(f"bonuses sum to 0: {label}", sum(wide[i] - A[i] for i in group) == 0)
        moved = exactly("feature_advantage", batch, **{**given, "feature": [x + 64 for x in given["feature"]]})["advantage"]
        check(f"only differences count: {label}", values(moved) == values(found["advantage"]))


# ---- variant_advantage

@function(advantage=many(NUMBER))
def variant_advantage(advantage: many(NUMBER), difficulty: many(NUMBER), k: NUMBER, **more: {"mean": many(NUMBER)}):
    """DIVA-GRPO (2603.01106), the paper's form: e^(k (D - mean D) sign(A)) A.

    Source: DIVA-GRPO, 2603.01106, the paper's form
    Takes: `advantage` A, `difficulty` D, `mean` (n each), `k`
    Gives: `advantage` (n): e^(k (D - mean) sign(A)) A; scale itself times 1 + abs(k)(abs(D) + abs(mean))
    """
    def weighted(A, D, centre):
        sign = (A > 0) - (A < 0)
        x = reals.exp(real(k * (D - centre) * sign)) * real(A)
        return Number(x, abs(x) * real(1 + abs(k) * (abs(D) + abs(centre))))
    return {"advantage": [weighted(*x) for x in zip(advantage, difficulty, more["mean"])]}


@cases("variant_advantage")
def variant_advantage_cases(case):
    each(case,
         ("plain", "advantages of both signs for variants harder and easier than the mean",
          dict(advantage=[1, 1, -0.5, -0.5, 0], difficulty=[7, 3, 7, 3, 9], mean=[5] * 5, k=0.25)),
         ("mean", "a difficulty equal to the mean: the advantage stays",
          dict(advantage=[TENTHS, -2], difficulty=[4, 6.5], mean=[4, 6.5], k=2)),
         ("off", "k = 0: every advantage stays", dict(advantage=[0.5, -1], difficulty=[1, 9], mean=[3, 3], k=0)),
         ("far", "factors of e^80 and e^-80", dict(advantage=[1, -1], difficulty=[9, 9], mean=[1, 1], k=10)),
         ("farther", "a factor of e^720, beyond binary64, of an advantage of 2^-100",
          dict(advantage=[2.0 ** -100], difficulty=[9], mean=[1], k=90)))


@checks("variant_advantage")
def check_variant_advantage(check):
    for label, given, _, found in every("variant_advantage"):
        turned = exactly("variant_advantage", **{**given, "advantage": [-x for x in given["advantage"]]})["advantage"]
        product = [real(x.value * -y.value) for x, y in zip(found["advantage"], turned)]
        check(f"what one sign gains the other loses: {label}", all(near(x, Fraction(a) ** 2) for x, a in zip(product, given["advantage"])))


# ---- step_weight_advantage

@function(advantage=many(NUMBER))
def step_weight_advantage(advantage: many(NUMBER), weight: many(FRACTION)):
    """DPEPO (2604.24320): a factor W of positive advantages, 2 - W of negative ones.

    Source: DPEPO, 2604.24320
    Takes: `advantage` A, `weight` W in [0, 1] (n each)
    Gives: `advantage` (n): A W if A >= 0, else A (2 - W); scale abs(A), 2 abs(A) where A < 0
    """
    return {"advantage": [Number(A * W, A) if A >= 0 else Number(A * (2 - W), 2 * -A) for A, W in zip(advantage, weight)]}


@cases("step_weight_advantage")
def step_weight_cases(case):
    each(case,
         ("plain", "positive advantages are multiplied by W, negative ones by 2 - W",
          dict(advantage=[1, -1, 0.5, -0.5, 0], weight=[0.25, 0.25, 0.75, 0.75, 0.5])),
         ("ends", "weights of 0 and 1 with advantages of both signs", dict(advantage=[1, -1, 1, -1], weight=[0, 0, 1, 1])),
         ("short", "weights and advantages that are no binary fractions", dict(advantage=[TENTHS, -TENTHS], weight=[0.1, 0.1])),
         ("none", "advantages of 0 stay 0", dict(advantage=[0, 0], weight=[0.5, 1])))


@checks("step_weight_advantage")
def check_step_weight_advantage(check):
    for label, given, _, found in every("step_weight_advantage"):
        back = [{**given, "advantage": [-x for x in given["advantage"]]}, found]
        other = values(exactly("step_weight_advantage", **back[0])["advantage"])
        gap = [x - y for x, y in zip(values(found["advantage"]), other)]
        check(f"W and 2 - W make 2: {label}", all(x == 2 * Fraction(a) for x, a in zip(gap, given["advantage"])))


# ---- mix_advantages

@function(advantage=many(NUMBER))
def mix_advantages(x: many(NUMBER), y: many(NUMBER), a: NUMBER, b: NUMBER):
    """The weighted sum of two advantages, as in GiGPO (2505.10978) or over strata.

    Source: levels of GiGPO, 2505.10978; strata
    Takes: `x`, `y` (n each), `a`, `b`
    Gives: `advantage` (n): a x + b y; scale: the absolute values of the two terms
    """
    return {"advantage": [summed((a * u, b * v)) for u, v in zip(x, y)]}


@cases("mix_advantages")
def mix_advantages_cases(case):
    each(case,
         ("sum", "weights of 1: the sum of episode and step advantages", dict(x=[1, -0.5, 0.25], y=[0.5, 0.5, -0.25], a=1, b=1)),
         ("strata", "weights of 0.3 and 0.7", dict(x=[1.5, -0.7, 0.1], y=[-1, 0.3, 0.1], a=0.3, b=0.7)),
         ("cancel", "weights 1 and -1 with nearly equal advantages: almost all cancels",
          dict(x=[1, 3], y=[1 + 2 ** -50, 3 - 2 ** -48], a=1, b=-1)),
         ("zero", "a weight of 0 for the first advantages: the second times 2", dict(x=[5, -5], y=[0.1, 0.2], a=0, b=2)))


@checks("mix_advantages")
def check_mix_advantages(check):
    for label, a, _ in cases_of("mix_advantages"):
        found = values(exactly("mix_advantages", **a)["advantage"])
        swapped = values(exactly("mix_advantages", x=a["y"], y=a["x"], a=a["b"], b=a["a"])["advantage"])
        check(f"either first: {label}", found == swapped)
    x, y = [0.5, -0.75], [3, 5]
    check("only one", values(exactly("mix_advantages", x=x, y=y, a=1, b=0)["advantage"]) == x)


# ---- gram_rank

@function(rank=integer(1), effective=NUMBER)
def gram_rank(gram: many(many(NUMBER), least=1), advantage: many(NUMBER), share: POSITIVE, least: integer(1), most: integer(1)):
    """SALT (2606.05800), official code: the participation ratio of the gradients, and the degree to which their sum cancels.

    Source: SALT, 2606.05800, official code
    Takes: `gram` K (n x n, n >= 1, symmetric: K_ij = g_i.g_j, n times the code's), `advantage` A (n), `share` rho > 0, 1 <= `least` <=
    `most`
    Gives: PR = (tr K)^2/(sum K_ij^2 + 1e-10 n^2). `rank`: max(least, min(rho PR rounded to the nearest integer, most, n - 1)); no rho
    PR is within 1e-6 of a half (Python's rounding goes to even there). `effective`: (sum_ij A_i A_j K_ij)/(sum_i A_i^2 K_ii + 1e-9);
    scale with the absolute values of the terms of the numerator
    """
    n = len(gram)
    trace, squares = sum(gram[i][i] for i in range(n)), sum(x * x for row in gram for x in row)
    wanted = share * trace ** 2 / (squares + Fraction(n * n, 10 ** 10))
    if abs(wanted - floor(wanted) - HALF) < Fraction(1, 10 ** 6):
        limits.near_misses.append((wanted, "a half"))
    pairs = summed([advantage[i] * advantage[j] * gram[i][j] for i in range(n) for j in range(n)])
    alone = sum(a * a * gram[i][i] for i, a in enumerate(advantage)) + Fraction(1, 10 ** 9)
    rank = max(least, min(round(wanted), most, n - 1))
    return {"rank": int(rank), "effective": Number(pairs.value / alone, pairs.size / alone)}


@cases("gram_rank")
def gram_rank_cases(case):
    def gram(label, comment, K, advantage, share=1, least=1, most=64):
        case(label, comment, gram=K, advantage=advantage, share=share, least=least, most=most)

    GRAM = [[2, 1, 0, -1], [1, 3, 0.5, 0], [0, 0.5, 1, 0.25], [-1, 0, 0.25, 2]]
    gram("plain", "share 0.7 of the participation ratio gives rank 2; advantages of both signs", GRAM, [1, -0.5, 0.25, -1], 0.7)
    gram("orthogonal", "orthogonal gradients: a ratio of n, so rank n - 1; nothing cancels",
         [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [1, -1, 0.7])
    gram("alike", "equal gradients with advantages that sum to 0: rank 1, and all cancels", [[4] * 3] * 3, [1, 1, -2], 0.7)
    gram("least", "the rank is at least `least`, even above the number of responses", GRAM, [1, 1, 1, 1], 0.1, 7)
    gram("most", "the rank is at most `most`", [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0.5, 0.5, -1], 1, 1, 1)
    gram("tiny", "gradients so small that the constants added to the divisors matter",
         [[2e-5, 0, 0, 0]] + [[1e-5 * (i == j) for j in range(4)] for i in (1, 2, 3)],
         [0.01, -0.02, 0.01, 0.01], 1.5)
    gram("nothing", "gradients and advantages are all 0: rank 1, effective share 0", [[0, 0], [0, 0]], [0, 0], 1, 1)
    gram("one", "a single response: rank 1, and nothing cancels", [[3]], [2])


def rounded_ratio(K, share):
    """The rank from the eigenvalues; the code's guard applies to K/n."""
    spectrum = reals.eigenvalues([[real(Fraction(x)) / len(K) for x in row] for row in K])
    return int(reals.rint(share * sum(spectrum) ** 2 / (sum(x * x for x in spectrum) + mpf(10) ** -10)))


@checks("gram_rank")
def check_gram_rank(check):
    dice = Dice(23)
    for n, width in ((2, 3), (3, 3), (4, 2), (5, 6)):
        g = [fraction(thrown(dice, width, -2, 2)) for _ in range(n)]
        A = thrown(dice, n, -2, 2)
        K = [[sum(x * y for x, y in zip(a, b)) for b in g] for a in g]
        given = dict(gram=[[float(x) for x in row] for row in K], advantage=A)
        together = sum(sum(Fraction(a) * row[d] for a, row in zip(A, g)) ** 2 for d in range(width))
        alone = sum(Fraction(a) ** 2 * K[i][i] for i, a in enumerate(A)) + Fraction(1, 10 ** 9)
        found = exactly("gram_rank", **given, share=1, least=1, most=n)
        check("the square of a sum over the sum of squares", found["effective"].value == together / alone)
        check("the participation ratio of the eigenvalues", found["rank"] == max(1, min(rounded_ratio(K, 1), n - 1)))
    for label, given, _, found in every("gram_rank"):
        rank = min(rounded_ratio(given["gram"], given["share"]), given["most"], len(given["gram"]) - 1)
        check(f"the participation ratio of the eigenvalues: {label}", found["rank"] == max(given["least"], rank))


# ---- projected_advantage

def projected(A, basis):
    """P A with its sizes, P the projection on orthonormal rows."""
    n = len(A)
    dots = [summed([v * a for v, a in zip(row, A)]) for row in basis]
    return [Number(sum(row[i] * d.value for row, d in zip(basis, dots)), sum(abs(row[i]) * d.size for row, d in zip(basis, dots)))
            for i in range(n)]


@function(advantage=many(NUMBER))
def projected_advantage(advantage: many(NUMBER), basis: many(many(NUMBER), least=1), alpha: NUMBER, positive: FLAG):
    """SALT: P A + alpha (I - P) relu(A).

    Source: SALT
    Takes: `advantage` A (n), `basis` v (k x n, k >= 1, rows taken as orthonormal), `alpha`, flag `positive`
    Gives: PA_i = sum_k v_ki sum_j v_kj A_j; `advantage` (n): PA + alpha (B - PB), B = max(A, 0) with positive, else A; scale with
    absolute values and plus
    """
    B = [max(a, Fraction(0)) if positive else a for a in advantage]
    parts = zip(projected(advantage, basis), B, projected(B, basis))
    return {"advantage": [Number(x.value + alpha * (b - y.value), x.size + abs(alpha) * (abs(b) + y.size)) for x, b, y in parts]}


@cases("projected_advantage")
def project_advantage_cases(case):
    BASIS = [[0.6, 0.8, 0, 0], [0, 0, 0.8, -0.6]]
    each(case,
         ("positive", "two directions, and a quarter of the positive advantages outside of them",
          dict(advantage=[1, -0.5, 0.25, -1], basis=BASIS, alpha=0.25, positive=True)),
         ("both", "alpha 1, both signs: projection and rest add up to the advantages",
          dict(advantage=[1, -0.5, 0.25, -1], basis=BASIS, alpha=1, positive=False)),
         ("inside", "alpha 0: the projection alone", dict(advantage=[1, 2, -0.7], basis=[[0.6, 0, 0.8]], alpha=0, positive=True)),
         ("whole", "the basis spans everything: nothing is outside, the advantages stay",
          dict(advantage=[1, -2], basis=[[0.6, 0.8], [0.8, -0.6]], alpha=0.5, positive=True)))


@checks("projected_advantage")
def check_projected_advantage(check):
    for label, given, _, found in every("projected_advantage"):
        A, basis = fraction(given["advantage"]), [fraction(row) for row in given["basis"]]
        off = max(abs(sum(x * x for x in row) - 1) for row in basis)
        check(f"an orthonormal basis, but for rounding: {label}", off < Fraction(1, 10 ** 15))
        kept = [max(a, 0) if given["positive"] else a for a in A]
        got = values(found["advantage"])
        for row in basis:  # in the span of the basis it is A, orthogonal to it alpha times B
            moved = sum(v * (x - a) for v, x, a in zip(row, got, A))
            check(f"along the basis nothing changes: {label}", abs(moved) < Fraction(1, 10 ** 14))
        gone = values(exactly("projected_advantage", **{**given, "advantage": [float(k) for k in kept], "alpha": 0})["advantage"])
        inner = values(exactly("projected_advantage", **{**given, "alpha": 0})["advantage"])
        check(f"what is beside it: {label}", all(x - y == Fraction(given["alpha"]) * (k - z) for x, y, k, z in zip(got, inner, kept, gone)))
