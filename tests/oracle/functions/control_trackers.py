"""State over several steps: averages, baselines, counts, quantiles."""
import itertools
import statistics
from fractions import Fraction

import limits
import reals
from functions.arithmetic import Number, at, clamp, less, mean, own_size, real, summed
from functions.batches import TENTHS, each, tokens
from functions.comparing import ask, cases_of, exactly, near, thrown
from functions.domains import FRACTION, NOT_NEGATIVE, NUMBER, POSITIVE, integer, many, reads
from functions.registry import cases, checks, function
from reals import mpf
from scenarios import NAN, Dice


# ---- moving_average

@function(state=NUMBER)
def moving_average(state: NUMBER, value: NUMBER, rate: FRACTION):
    """Exponential.

    Source: RaPO, VPD
    Takes: `state`, `value`, 0 <= `rate` <= 1
    Gives: `state`: rate state + (1 - rate) value; scale: the absolute values of the two terms
    """
    return {"state": summed((rate * state, (1 - rate) * value))}


@cases("moving_average")
def moving_average_cases(case):
    each(case,
         ("plain", "rate 0.999: the new value enters with a thousandth", dict(state=0.5, value=0.25, rate=0.999)),
         ("all-new", "rate 0: the new value replaces the state", dict(state=3, value=-1.5, rate=0)),
         ("all-old", "rate 1: the state stays", dict(state=3, value=-1.5, rate=1)),
         ("signs", "old and new value cancel, but for the rounding of 0.3 and 0.1 to binary64",
          dict(state=-0.3, value=0.1, rate=0.25)))


# ---- running_baseline

@function(advantage=many(NUMBER), baseline=NUMBER)
def running_baseline(baseline: NUMBER, momentum: FRACTION, reward: many(NUMBER, least=1)):
    """SPIRAL's role-conditioned baseline (2506.24119), as in prime-rl: the advantage is computed before the baseline is updated.

    Source: 2506.24119 as prime-rl
    Takes: `baseline` b, 0 <= `momentum` m <= 1, `reward` (n >= 1)
    Gives: in order: `advantage` (n): r - b, then b := m b + (1 - m) r; `baseline`: b at the end; scales with absolute values: abs(r) +
    size(b), m size(b) + (1 - m) abs(r)
    """
    b, advantages = Number(baseline, abs(baseline)), []
    for r in reward:
        advantages.append(Number(r - b.value, abs(r) + b.size))
        b = Number(momentum * b.value + (1 - momentum) * r, momentum * b.size + (1 - momentum) * abs(r))
    return {"advantage": advantages, "baseline": b}


@cases("running_baseline")
def running_baseline_cases(case):
    for label, comment, baseline, momentum, reward in (
            ("usual", "each advantage is computed before its reward moves the baseline", 0, 0.95, [1, -1, 1, 1]),
            ("warm", "a baseline of 0.5 that every reward moves by a quarter of the difference", 0.5, 0.75, [1, 0, 0.25]),
            ("still", "momentum 1: the baseline stays", 0.25, 1, [1, 0, -2]),
            ("last", "momentum 0: the baseline is the previous reward", 0.25, 0, [1, 0, -2]),
            ("equal", "rewards equal to the baseline: every advantage is 0 and the baseline stays", TENTHS, 0.5, [TENTHS, TENTHS]),
            ("one", "one reward above a negative baseline", -0.5, 0.95, [0.25])):
        case(label, comment, baseline=baseline, momentum=momentum, reward=reward)


@checks("running_baseline")
def check_running_baseline(check):
    for label, given, _ in cases_of("running_baseline"):
        found, m, b = exactly("running_baseline", **given), Fraction(given["momentum"]), Fraction(given["baseline"])
        for k, n in enumerate(found["advantage"] + [found["baseline"]]):
            past = [Fraction(r) for r in given["reward"][:k]]
            before = m ** k * b + (1 - m) * sum(m ** (k - 1 - j) * r for j, r in enumerate(past))
            expected = Fraction(given["reward"][k]) - before if k < len(given["reward"]) else before
            check(f"a weighted sum of what came before: {label}", n.value == expected)


# ---- smooth_advantage

@function(advantage=NUMBER)
def smooth_advantage(visits: integer(1), new: NUMBER, total: NUMBER):
    """DCPO (2509.02333), section 4.2: of two averages of the step's and the cumulative advantage, the one of smaller size.

    Source: 2509.02333
    Takes: `visits` i >= 1, `new`, `total`
    Gives: `advantage`: S = ((i-1)/i) new + (1/i) total if abs(S) < abs(S'), else S' = (1/i) new + ((i-1)/i) total; scale: the absolute
    values of its two terms
    """
    i = visits
    by_new = ((i - 1) / i * new, total / i)
    by_total = (new / i, (i - 1) / i * total)
    terms = by_new if less(abs(sum(by_new)), abs(sum(by_total))) else by_total
    return {"advantage": summed(terms)}


@cases("smooth_advantage")
def smooth_advantage_cases(case):
    for label, comment, visits, new, total in (
            ("first-total", "the first visit: the advantage of smaller size, here the cumulative one", 1, 1.5, -0.5),
            ("first-new", "the first visit: the advantage of smaller size, here the step's own", 1, 0.5, -1.5),
            ("second", "the second visit: both averages are equal", 2, 1.25, -0.5),
            ("third-new", "the third visit: the average with 2/3 of the step's advantage is the smaller one", 3, 0.5, 2),
            ("third-total", "the third visit: the average with 2/3 of the cumulative advantage is the smaller one", 3, 2, -0.5),
            ("equal", "averages of equal size and opposite sign: the one with more of the cumulative advantage", 4, 1, -1),
            ("zero", "the step's advantage is 0 at the tenth visit: a tenth of the cumulative one", 10, 0, 1.75),
            ("cancel", "the average with more of the step's advantage is exactly 0: it is taken", 4, 0.5, -1.5)):
        case(label, comment, visits=visits, new=new, total=total)


@checks("smooth_advantage")
def check_smooth_advantage(check):
    smooth = lambda i, new, total: exactly("smooth_advantage", visits=i, new=new, total=total)["advantage"].value
    for i, new, total in itertools.product((1, 2, 3, 10), (-1.5, 0, 0.25, 2), (-0.5, 1, 1.75)):
        parts = [Fraction(k, i) * Fraction(new) + Fraction(i - k, i) * Fraction(total) for k in (i - 1, 1)]
        check("the average of smaller size", abs(smooth(i, new, total)) == min(abs(x) for x in parts))
        check("neither comes first", smooth(i, new, total) == smooth(i, total, new) or abs(parts[0]) == abs(parts[1]))
    check("two that agree", smooth(7, 0.75, 0.75) == Fraction(3, 4) and smooth(1, 3, -2) == -2)


# ---- running_moments

@function(mean=NUMBER, variance=NOT_NEGATIVE)
def running_moments(visits: integer(1), mean: NUMBER, variance: NOT_NEGATIVE, new_mean: NUMBER, new_variance: NOT_NEGATIVE):
    """DCPO's official code: mean and variance over the visits, this one included.

    Source: 2509.02333, official code
    Takes: `visits` i >= 1, this one included; `mean`, `variance` before; `new_mean`, `new_variance`
    Gives: `mean`: ((i-1) mean + new_mean)/i; `variance`: ((i-1) variance + new_variance + ((i-1)/i)(new_mean - mean)^2)/i; scales: the
    same with absolute values of the terms
    """
    i = visits
    means = ((i - 1) * mean / i, new_mean / i)
    variances = ((i - 1) * variance / i, new_variance / i, (i - 1) * (new_mean - mean) ** 2 / i ** 2)
    return {"mean": summed(means), "variance": summed(variances)}


@cases("running_moments")
def running_moments_cases(case):
    for label, comment, visits, mean, variance, new_mean, new_variance in (
            ("first", "the first visit: earlier mean and variance have no weight", 1, 5, 7, 0.25, 0.1875),
            ("second", "the second visit: the difference of the means adds to the variance", 2, 0.25, 0.1875, 0.75, 0.25),
            ("seventh", "the seventh visit: the new moments enter with a seventh", 7, 0.5, 0.25, 0.125, 0.109375),
            ("same-mean", "the new mean equals the old one: the variances are averaged over visits", 3, 0.5, 0.25, 0.5, 0),
            ("offset", "a mean of 1e7 that differs by 1 from the new one: sums of squares would cancel",
             5, 10000000, 0.5, 10000001, 0.25),
            ("no-spread", "both variances are 0: the difference of the means alone makes a variance", 4, -1, 0, 1, 0)):
        case(label, comment, visits=visits, mean=mean, variance=variance, new_mean=new_mean,
             new_variance=new_variance)


@checks("running_moments")
def check_running_moments(check):
    dice, mean, variance, seen = Dice(5), 9, 9, []
    for i in range(1, 8):  # visits of the same size, and variances of populations: the pooled moments
        step = [Fraction(dice.fraction(-2, 2, 8)) for _ in range(5)]
        seen += step
        found = running_moments(Fraction(i), mean, variance, statistics.mean(step), statistics.pvariance(step))
        mean, variance = found["mean"].value, found["variance"].value
        check(f"pooled moments of {i} visits", mean == statistics.mean(seen) and variance == statistics.pvariance(seen))


# ---- decayed_counts

@function(alpha=NOT_NEGATIVE, beta=NOT_NEGATIVE)
def decayed_counts(alpha: NOT_NEGATIVE, beta: NOT_NEGATIVE, decay: FRACTION, successes: NOT_NEGATIVE, failures: NOT_NEGATIVE):
    """SPO (2509.13232) and VADE: decaying counts of a prompt's successes and failures.

    Source: SPO, 2509.13232; VADE; AT-PO
    Takes: `alpha`, `beta`, `successes`, `failures` >= 0, 0 <= `decay` <= 1
    Gives: `alpha`: decay alpha + successes; `beta`: decay beta + failures; scales themselves
    """
    return {"alpha": summed((decay * alpha, successes)), "beta": summed((decay * beta, failures))}


@cases("decayed_counts")
def decayed_counts_cases(case):
    def counts(alpha, beta, decay, successes, failures):
        return dict(alpha=alpha, beta=beta, decay=decay, successes=successes, failures=failures)

    each(case,
         ("selected", "one success of eight, old counts decay by 0.2: 1.02 and 8.68", counts(0.1, 8.4, 0.2, 1, 7)),
         ("more", "four successes of eight, old counts decay by 0.2: 4.54 and 5.06", counts(2.7, 5.3, 0.2, 4, 4)),
         ("unselected", "a prompt that was not selected: its counts only decay", counts(9, 0.2, 0.999, 0, 0)),
         ("forget", "decay 0: only this step's counts remain", counts(3, 5, 0, 2, 0.5)),
         ("keep", "decay 1: the counts add up", counts(3, 5, 1, 1, 0)))


@checks("decayed_counts", "moving_average")
def check_counts(check):
    """A decay of a power is that many steps; the figure of VADE."""
    state = dict(alpha=0.1, beta=8.4)
    found = ask("decayed_counts", **state, decay=0.2, successes=1, failures=7)
    check("VADE's figure", found == {"alpha": 1.02, "beta": 8.68})
    for n in (1, 2, 5):
        many = {"alpha": Fraction(3), "beta": Fraction(5)}
        for _ in range(n):
            step = decayed_counts(**many, decay=Fraction(1, 2), successes=0, failures=0)
            many = {k: x.value for k, x in step.items()}
        once = exactly("decayed_counts", alpha=3, beta=5, decay=2.0 ** -n, successes=0, failures=0)
        check(f"{n} steps without answers", many == {k: x.value for k, x in once.items()})
    average = exactly("moving_average", state=3, value=2, rate=0.75)["state"].value
    counted = exactly("decayed_counts", alpha=3, beta=0, decay=0.75, successes=0.5, failures=0)["alpha"].value
    check("an average as counts", average == counted)


# ---- drift_decay

@function(decay=NOT_NEGATIVE)
def drift_decay(batch: reads("logp_old"), half_life: POSITIVE, low: NOT_NEGATIVE, high: NOT_NEGATIVE):
    """SPO's streaming form: the decay is stronger the farther the policy is from the one that sampled.

    Source: SPO, streaming
    Takes: batch with `logp_old`; `half_life` > 0, 0 <= `low` <= `high`
    Gives: D = mean of abs(l - o) over the batch's mask tokens, 0 without any. `decay`: clip(2^(-D/half_life), low, high); scale itself,
    times 1 + D/half_life where no bound binds
    """
    l, o = at(batch, "logp"), at(batch, "logp_old")
    drift = mean([abs(l[p] - o[p]) for p in l]) / half_life if l else Fraction(0)
    decay = reals.power(2, -real(drift))
    for bound, below in ((low, lambda b: limits.less(decay, b)), (high, lambda b: limits.less(b, decay))):
        if below(real(bound)):
            return {"decay": own_size(bound)}
    return {"decay": Number(decay, decay * (1 + real(drift)))}


@cases("drift_decay")
def decay_by_drift_cases(case):
    BEFORE = [[-0.5, -2, -0.0625], [-1.25, -0.75]]

    def drift(label, comment, now, before=BEFORE, mask=None, half_life=0.06, low=0.875, high=0.96):
        case(label, comment, tokens([0, 1][:len(now)], mask, logp=now, logp_old=before), half_life=half_life,
             low=low, high=high)

    drift("inside", "the mean distance from the old policy gives a decay between the bounds",
          [[-0.5, -1.9921875, -0.0625], [-1.25, -0.765625]])
    drift("far", "a large distance from the old policy: the lower bound", [[-0.75, -1.5, -0.5], [-1.25, -3]])
    drift("near", "no distance from the old policy: the upper bound", BEFORE)
    drift("half", "a distance of one half life: a decay of 0.5",
          [[-0.5, -2.5, -0.0625], [-1, -1.25]], half_life=0.25, low=0.25, high=1)
    drift("holes", "masked tokens hold NaN: the mean distance is over unmasked tokens", [[-0.75, NAN, -0.0625], [-2, -0.25]],
          [[-0.5, NAN, -1], [-1.25, NAN]], "101 10", TENTHS, 0, 1)
    drift("none", "all tokens are masked: the distance is 0, the decay is the upper bound",
          [[NAN, -1]], [[-1, NAN]], "00")


@checks("drift_decay")
def check_drift_decay(check):
    free = dict(low=0, high=1)
    for label, given, batch in cases_of("drift_decay"):
        at = lambda half: exactly("drift_decay", batch, **{**given, **free, "half_life": half})["decay"].value
        once, twice = at(given["half_life"]), at(2 * given["half_life"])
        check(f"twice the half life is the root: {label}", near(once, real(twice) ** 2))
        swapped = {**batch, "logp": batch["logp_old"], "logp_old": batch["logp"]}
        check(f"either may be the older one: {label}", ask("drift_decay", swapped, **given) == ask("drift_decay", batch, **given))
        clipped = min(max(float(once), given["low"]), given["high"])
        check(f"clipped: {label}", abs(ask("drift_decay", batch, **given)["decay"] - clipped) < 1e-15)


# ---- quantile_tracker

@function(quantile=many(NUMBER))
def quantile_tracker(quantile: many(NUMBER), level: many(FRACTION), rate: NUMBER, observed: many(NUMBER, least=1)):
    """RiskPO: one step of the pinball loss for every quantile.

    Source: RiskPO
    Takes: `quantile` (n), `level` (n, in [0, 1]), `rate`, `observed` (m >= 1)
    Gives: `quantile` (n): q + rate (level - share of the observed numbers that are < q); scale abs(q) + abs(rate)(level + share)
    """
    below = [Fraction(sum(less(s, q) for s in observed), len(observed)) for q in quantile]
    return {"quantile": [summed((q, rate * k, -rate * share)) for q, k, share in zip(quantile, level, below)]}


@cases("quantile_tracker")
def quantile_track_cases(case):
    LEVELS = [0.05, 0.25, 0.5, 0.95]
    each(case,
         ("plain", "each quantile moves by rate times (level - share of observations below it)",
          dict(quantile=[0.1, 0.25, 0.5, 0.9], level=LEVELS, rate=0.1,
                                                         observed=[0.05, 0.3, 0.3, 0.7, 1])),
         ("equal", "observations equal to a quantile do not count as below it", dict(quantile=[0.5, 1], level=[0.5, 0.9], rate=0.25,
                                                                               observed=[0.5, 0.5, 0.25, 1])),
         ("still", "the observed shares equal the levels: no quantile moves",
          dict(quantile=[0.5, 2], level=[0.25, 0.75], rate=0.5, observed=[0, 1, 1, 3])),
         ("negative", "quantiles of both signs and a single observation",
          dict(quantile=[-1, 0, TENTHS], level=[0.1, 0.5, 0.9], rate=0.1,
                                                                        observed=[-0.25])))


@checks("quantile_tracker")
def check_quantile_tracker(check):
    """Where the share below is the level, nothing moves; the step is minus the slope of the pinball loss."""
    dice = Dice(11)
    for _ in range(30):
        seen, q, level = thrown(dice, 7), Fraction(dice.fraction(-1, 1, 16) + 1 / 64), Fraction(dice.fraction(0, 1, 8))
        pinball = lambda x: sum(max(level * (s - x), (level - 1) * (s - x)) for s in map(Fraction, seen)) / 7
        h = Fraction(1, 1024)
        slope = (pinball(q + h) - pinball(q - h)) / (2 * h)
        found = exactly("quantile_tracker", quantile=[float(q)], level=[float(level)], rate=0.5, observed=seen)["quantile"][0].value
        check("down the pinball loss", found == q - slope / 2)


# ---- turn_factor

@function(factor=many(NOT_NEGATIVE))
def turn_factor(batch: reads("logp_old"), factor: many(NOT_NEGATIVE), low: FRACTION, high: NOT_NEGATIVE):
    """SeeUPO: the clipped product of the ratios of the turns that are already updated.

    Source: SeeUPO
    Takes: batch with `logp_old`: the turn that was updated, `logp` after it; `factor` M (N, >= 0), 0 <= `low` <= 1, `high` >= 0
    Gives: g_i = clip(mean of l - o over the response's mask tokens, -10, 10), 0 without any; `factor` (N): clip(M_i clip(e^g_i, 1 -
    low, 1 + high), 1 - low, 1 + high). Scale: itself, times 1 + mean abs(l - o) (10 where the inner clip to 10 binds) if none of the
    bounds 1 - low, 1 + high does
    """
    l, o = at(batch, "logp"), at(batch, "logp_old")
    bounds = [real(1 - low), real(1 + high)]
    moved = []
    for i, M in enumerate(factor):
        steps = [l[p] - o[p] for p in l if p[0] == i] or [Fraction(0)]
        g = clamp(mean(steps), Fraction(-10), Fraction(10))
        size = mean([abs(d) for d in steps]) if g == mean(steps) else abs(g)
        w = reals.exp(real(g))
        inner = clipped(w, w * (1 + real(size)), bounds)
        moved.append(clipped(real(M) * inner.value, real(M) * inner.size, bounds))
    return {"factor": moved}


def clipped(x, size, bounds):
    low, high = bounds
    if limits.less(x, low):
        return own_size(low)
    return own_size(high) if limits.less(high, x) else Number(x, size)


@cases("turn_factor")
def turn_factor_cases(case):
    TURN = [[-0.5, -2, -0.0625], [-1.25, -0.75], [-3], [-0.5, -1]]
    TURN_OLD = [[-0.625, -2, -0.125], [-1, -0.75], [-1], [-4, -2]]

    def turn(label, comment, factor, now=None, old=None, mask=None, low=0.2, high=0.2):
        now, old = now or TURN, old or TURN_OLD
        case(label, comment, tokens([0, 0, 1, 1][:len(now)], mask, logp=now, logp_old=old), factor=factor, low=low,
             high=high)

    turn("first", "factors of 1: ratios within the clip range and beyond either bound", [1] * 4)
    turn("again", "factors other than 1: their product with the clipped ratio is clipped again", [1.15, 0.9, 0.8, 0.9])
    turn("clamped", "mean log-ratios beyond 10 and -10 are clipped to these, in wide bounds for the ratio", [1, 0.5, 1, 1e-6],
         [[-0.5, -1], [-40, -50], [-0.25], [-0.5]], [[-30, -20], [-1, -2], [-0.25], [-30]], low=1, high=30000)
    turn("missing", "responses without unmasked tokens keep their factor, clipped to the bounds", [1.125, 1.5, 0.75],
         [[-0.5, NAN], [], [NAN]], [[-0.5625, NAN], [], [NAN]], "10 - 0", TENTHS, 0.25)


@checks("turn_factor")
def check_turn_factor(check):
    for label, given, batch in cases_of("turn_factor"):
        found = ask("turn_factor", batch, **given)["factor"]
        low, high = 1 - given["low"], 1 + given["high"]
        check(f"within the bounds: {label}", all(low <= x <= high for x in found))
        still = ask("turn_factor", {**batch, "logp": batch["logp_old"]}, **given)["factor"]
        check(f"a turn that did not move: {label}", still == [min(max(x, low), high) for x in given["factor"]])
    batch = tokens(logp=[[-1, -2]], logp_old=[[-1.125, -2.25]])
    wide = dict(low=1, high=100)
    one = exactly("turn_factor", batch, factor=[1], **wide)["factor"][0].value
    check("e^(3/16)", near(one, reals.exp(mpf(3) / 16)))
    again = exactly("turn_factor", batch, factor=[1.5], **wide)["factor"][0].value
    check("times what was there", near(again, one * 1.5))
