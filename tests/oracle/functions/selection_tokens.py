"""Which tokens are trained on: by entropy, covariance, drift, probability, or the divergence budget used by their prefix."""
import itertools
import math
import statistics
from fractions import Fraction

import limits
import reals
from functions.arithmetic import NOTHING, Number, ascending, at, clamp, less, mean, read, real, rows, slots
from functions.batches import NOW, SELF, TENTHS, UNMASKED, on, switches, tokens
from functions.comparing import cases_of, chosen, exactly, selected
from functions.domains import COUNT, FRACTION, NOT_NEGATIVE, NUMBER, POSITIVE, TOKENS, TOKEN_ARRAY, TOKEN_FLAGS, many, number, one_of, reads
from functions.registry import cases, checks, function
from limits import ZERO, settle
from scenarios import NAN, Dice


def flags(batch, chosen):
    return rows(batch, dict.fromkeys(chosen, True), False)


def entropy_push(batch):
    """S = p (H + log p) of 2602.03392: the decrease of entropy when the token's probability is increased."""
    l, H = at(batch, "logp"), at(batch, "entropy")
    return {p: reals.exp(real(l[p])) * real(H[p] + l[p]) for p in l}


def centred(x):
    """x - mean x, and the population standard deviation; equal numbers are exactly at their mean."""
    centre, size = sum(x.values()) / len(x), sum(abs(y) for y in x.values())
    away = {p: settle(y - centre, size) for p, y in x.items()}
    return away, reals.sqrt(sum(y * y for y in away.values()) / len(x))


HOLES = "1011 - 010 11"


def holed(x, **arrays):
    """Six tokens of nine count."""
    rows = [[x[0], NAN, x[1], x[2]], [], [NAN, x[3], "Infinity"], [x[4], x[5]]]
    logp = [[-0.25, NAN, -0.5, -1], [], [NAN, -0.75, NAN], [-2, -0.125]]
    return tokens([0, 0, 1, 1], HOLES, entropy=rows, **{"logp": logp, **arrays})


MIXED = [[0.75, 2, 0.125], [1.25, 0.5], [1.5, 0.25, 1]]
NONE = tokens(mask="00 0", entropy=[[NAN, 1], [2]])
DOWN = [[-1, 1, -0.5], [-1, -2]]
LP = [[-3, -4, -0.25], [-0.125, -1]]
HS = [[0.5, 0.25, 1], [0.75, 0]]


def thrown_batch(seed):
    """Eleven tokens of three responses with few different numbers, so that many are the same."""
    dice = Dice(seed)
    x = [[dice.fraction(-1, 1, 4) for _ in range(n)] for n in (4, 6, 1)]
    return tokens(mask=" ".join("".join("1" if dice.below(4) else "0" for _ in row) for row in x), advantage=x)


# ---- select_top_fraction

@function(selected=TOKEN_FLAGS)
def select_top_fraction(batch, by: TOKEN_ARRAY, fraction: FRACTION):
    """2506.01939: the tokens at or above the (1 - rho) quantile, which is interpolated linearly.

    Source: 2506.01939
    Takes: batch, `by`, 0 <= `fraction` <= 1
    Gives: `selected` (N x length): x >= q, q interpolated linearly between the ascending x of the n mask tokens at position p = (1 -
    fraction)(n - 1) counted from 0, so x >= the one at ceil(p); 1 - fraction is the binary64 difference, p is exact
    """
    x = at(batch, by)
    if not x:
        return {"selected": flags(batch, ())}
    level = Fraction(1 - float(fraction))  # the difference of binary64
    ordered = [x[place] for place in ascending(x)]
    k, rest = divmod(level * (len(x) - 1), 1)
    quantile = ordered[k] + (rest * (ordered[k + 1] - ordered[k]) if rest else 0)
    return {"selected": flags(batch, [place for place in x if not less(x[place], quantile)])}


@cases("select_top_fraction")
def select_top_cases(case):
    LONE = tokens(entropy=[[0.75]])
    for label, comment, fraction, x in (
            ("fifth", "the top 20 % of eight tokens: the quantile lies between two of them", 0.2, tokens(entropy=MIXED)),
            ("at-token", "the quantile is a token's own entropy: it is selected", 0.25,
             tokens(entropy=[[0.75, 2, 0.125], [1.25, 0.5]])),
            ("ties", "the quantile is an entropy that three tokens have: all of them are selected", 0.5,
             tokens(entropy=[[1, 0.5], [1, 2, 1]])),
            ("zero", "fraction 0: the largest entropy is selected, here two tokens that share it",
             0, tokens(entropy=[[1, 2], [2, 0.5]])),
            ("all", "fraction 1: every token is selected", 1, tokens(entropy=MIXED)),
            ("holes", "masked tokens hold NaN and infinity: the quantile is over unmasked tokens only",
             0.375, holed([0.5, 1.5, 0.25, 1, 2, 0.125])),
            ("one", "a single token is its own quantile: it is selected", 0.2, LONE),
            ("none", "all tokens are masked: none is selected", 0.5, NONE)):
        case(label, comment, x, by="entropy", fraction=fraction)
    case("logp", "fraction 0.9 by log-probability: all but the smallest of five are selected",
         tokens(logp=[[-0.5, -3, -1.25], [-0.0625, -2]]),
         by="logp", fraction=0.9)


def at_or_above(x, fraction):
    """Those with more than ceil((1 - rho)(n - 1)) numbers at or below them: a bound between two order statistics
    selects as the upper one does."""
    least = -(-(Fraction(1 - fraction) * (len(x) - 1)) // 1)
    return {place for place in x if sum(y <= x[place] for y in x.values()) > least}


@checks("select_top_fraction")
def check_select_top_fraction(check):
    given = cases_of("select_top_fraction") + [(f"thrown {seed}", {"by": "advantage", "fraction": rho}, thrown_batch(seed))
                                      for seed in range(40) for rho in (0, 0.125, 0.3, 0.5, 1)]
    for label, arguments, batch in given:
        x = at(batch, arguments["by"])
        found = selected("select_top_fraction", batch, **arguments)
        check(f"select_top_fraction by counting: {label}", found == at_or_above(x, arguments["fraction"]))


# ---- select_top_k

@function(selected=TOKEN_FLAGS)
def select_top_k(batch, by: TOKEN_ARRAY, count: COUNT):
    """The largest values; KL-Cov (2505.22617) selects tokens by covariance with it.

    Takes: batch, `by`, `count` >= 0
    Gives: `selected`: the `count` largest of the mask tokens, all if there are fewer
    """
    falling = ascending({place: -x for place, x in at(batch, by).items()})
    return {"selected": flags(batch, falling[:int(count)])}


@cases("select_top_k")
def select_largest_cases(case):
    for label, comment, count, x in (
            ("two", "the two largest entropies of eight tokens are selected", 2, tokens(entropy=MIXED)),
            ("ties", "three tokens tie for the last place: the first of them is selected", 2,
             tokens(entropy=[[0.5, 1], [1, 2, 1]])),
            ("all-tied", "all entropies are equal: the first three tokens are selected",
             3, tokens(entropy=[[0.5, 0.5], [0.5, 0.5, 0.5]])),
            ("zero", "count 0: no token is selected", 0, tokens(entropy=MIXED)),
            ("beyond", "count 9 exceeds the unmasked tokens: all of these are selected, no masked one",
             9, holed([0.5, 1.5, 0.25, 1, 2, 0.125])),
            ("holes", "masked tokens hold NaN and infinity: they are never selected",
             3, holed([0.5, 1.5, 0.25, 1, 2, 0.125])),
            ("none", "all tokens are masked: none is selected, though count is 1", 1, NONE)):
        case(label, comment, x, by="entropy", count=count)
    case("signed", "values of both signs: the largest are selected, not those farthest from 0",
         tokens(advantage=[[-3, 0.5, -0.25], [0, -1]]), by="advantage", count=3)


@checks("select_top_k")
def check_select_top_k(check):
    for seed in range(40):
        batch = thrown_batch(seed)
        x = at(batch, "advantage")
        for count in range(len(x) + 2):
            before = {p: sum(x[q] > x[p] or x[q] == x[p] and q < p for q in x) for p in x}
            check(f"select_top_k by counting: thrown {seed}", {p for p in x if before[p] < count}
                  == selected("select_top_k", batch, by="advantage", count=count))


# ---- select_between

@function(selected=TOKEN_FLAGS)
def select_between(batch, by: TOKEN_ARRAY, low: NUMBER, high: NUMBER, order: many(COUNT, different=True), count: COUNT,
                   excluded: TOKEN_FLAGS = None):
    """Clip-Cov (2505.22617): tokens strictly between two bounds, here the first in an order that is given.

    Source: 2505.22617, Clip-Cov
    Takes: batch, `by`, `low` <= `high`, `order`, `count`, `excluded` (N x length of flags; optional)
    Gives: `selected`: the first `count` in `order` of the mask tokens that are not excluded and have low < x < high. `order` is a
    permutation of 0 .. sum(length) - 1, tokens counted through the sequences, masked ones too
    """
    x = at(batch, by)
    every = slots(batch)
    chosen = [(i, t) for i, t in (every[int(k)] for k in order)
              if (i, t) in x and not (excluded and excluded[i][t]) and less(low, x[i, t]) and less(x[i, t], high)]
    return {"selected": flags(batch, chosen[:int(count)])}


@cases("select_between")
def select_between_cases(case):
    def between(label, comment, x, order, count, low=0.25, high=1.5, by="entropy", **excluded):
        case(label, comment, x, by=by, low=low, high=high, order=order, count=count, **excluded)

    between("order", "four entropies lie between the bounds: the given order takes two, here from the end", tokens(entropy=MIXED),
            [7, 6, 5, 4, 3, 2, 1, 0], 2)
    between("bounds", "values equal to a bound are not between the bounds: they are not selected",
            tokens(entropy=[[0.25, 0.5, 1.5], [0.25, 1]]),
            [0, 2, 3, 4, 1], 5)
    between("masked-first", "the order begins with masked tokens: they are skipped and do not use up the count",
            holed([0.5, 1.25, 0.25, 1, 2, 0.75]),
            [1, 4, 6, 8, 5, 3, 0, 2, 7], 2)
    between("excluded", "excluded tokens, one of them masked, come first in the order: they do not use up the count",
            holed([0.5, 1.25, 0.375, 1, 2, 0.75]), [3, 0, 1, 7, 2, 5, 8, 4, 6], 2,
            excluded=switches("1101 - 000 00"))
    between("zero", "count 0: no token is selected", tokens(entropy=MIXED), [0, 1, 2, 3, 4, 5, 6, 7], 0)
    between("beyond", "count 8 exceeds the four values between the bounds: all four are selected",
            tokens(entropy=MIXED), [3, 1, 4, 0, 5, 2, 7, 6], 8)
    between("nobody", "no value lies strictly between the bounds: none is selected",
            tokens(advantage=[[-3, 0.5, -0.25], [0, -1]]), [4, 3, 2, 1, 0], 2,
            by="advantage", low=0.5, high=5)
    between("signed", "both bounds are negative: of the two values between them the order takes one",
            tokens(advantage=[[-3, 0.5, -0.25], [0, -1]]), [3, 4, 0, 2, 1], 1, by="advantage",
            low=-2, high=-0.125)


@checks("select_between")
def check_select_between(check):
    for label, arguments, batch in cases_of("select_between"):
        x, every = at(batch, arguments["by"]), slots(batch)
        excluded = set(chosen(batch, arguments["excluded"])) if "excluded" in arguments else set()
        fit = {p for p in x if p not in excluded and arguments["low"] < x[p] < arguments["high"]}
        found = selected("select_between", batch, **arguments)
        when = {every[k]: n for n, k in enumerate(arguments["order"])}
        check(f"the order has every token: {label}", sorted(arguments["order"]) == list(range(len(every))))
        check(f"candidates only: {label}", found <= fit)
        check(f"as many as there are: {label}", len(found) == min(arguments["count"], len(fit)))
        check(f"the others come later: {label}", all(when[p] < when[q] for p in found for q in fit - found))


# ---- select_second_moment

def longest_prefix(squares, order, below, threshold):
    """The most tokens of the order whose mean is below; the mean cannot fall along it."""
    total, longest = Fraction(0), 0
    for n, place in enumerate(order, 1):
        total += squares[place]
        if below(total, threshold * n):
            longest = n
    return order[:longest]


def second_moment_all(batch, threshold):
    """M2PO as in AReaL: tokens with the largest (b - o)^2 are removed until the mean is below the threshold; at least one remains."""
    o, b = at(batch, "logp_old"), at(batch, "logp_rollout")
    squares = {place: (b[place] - o[place]) ** 2 for place in o}
    order = ascending(squares)
    return longest_prefix(squares, order, less, threshold) or order[:1]


def second_moment_drifting(batch, threshold):
    """M2PO (2510.01161) as in Trinity-RFT: only tokens that have moved in the direction of their advantage may be removed."""
    A, l, o = at(batch, "advantage"), at(batch, "logp"), at(batch, "logp_old")
    squares = {place: (l[place] - o[place]) ** 2 for place in A if A[place] * (l[place] - o[place]) > 0}
    kept = longest_prefix(squares, ascending(squares), lambda x, y: not less(y, x), threshold)
    return kept + [place for place in A if place not in squares]


FORMS = {"all": second_moment_all, "drifting": second_moment_drifting}


@function(selected=TOKEN_FLAGS)
def select_second_moment(batch: reads("logp_old", "logp_rollout", "advantage"), threshold: POSITIVE, form: one_of("all", "drifting")):
    """M2PO: the tokens whose second moment of drift stays below a threshold, in two forms.

    Source: M2PO
    Takes: batch with `logp_old`, `logp_rollout`, `advantage`; `threshold` > 0, `form`
    Gives: `selected`, tokens ordered by ascending delta^2; `all` (AReaL): delta = b - o; the longest prefix of the mask tokens with
    mean delta^2 < threshold, at least one token; `drifting` (2510.01161 as Trinity-RFT): delta = l - o; candidates have A > 0 and delta
    > 0, or A < 0 and delta < 0; their longest prefix with mean delta^2 <= threshold, and every mask token that is no candidate
    """
    return {"selected": flags(batch, FORMS[form](batch, threshold))}


@cases("select_second_moment")
def select_second_moment_cases(case):
    # d = l - o, q = b - o, in a grid of log-probabilities around -2
    DRIFT = [[0.25, -0.5, 0.125], [0.375, 0.0625], [-0.75, 0, -0.25]]
    GAP = [[-0.125, 0.5, 0.0625], [0.125, -1], [0.25, 0, 0.375]]
    SIGNS = [[1, -1, 1], [-0.5, 0.5], [-1, -1, 1]]

    def moments(form, label, comment, threshold, drift=DRIFT, gap=GAP, advantage=SIGNS, mask=None):
        place = [[-2] * len(row) for row in drift]
        by = lambda xs: [[NAN if x == NAN else o + x for x, o in zip(row, olds)] for row, olds in zip(xs, place)]
        x = tokens([0, 0, 1][:len(drift)], mask, logp=by(drift), logp_old=place, logp_rollout=by(gap), advantage=advantage)
        case(f"{form}-{label}", comment, x, threshold=threshold, form=form)

    moments("all", "plain", "the tokens with the largest differences of rollout and old log-probability are dropped", 0.04)
    moments("all", "ties", "of two equal squared differences the one at the lower index is kept", 0.14, drift=[[0, 0, 0]],
            gap=[[0.5, -0.5, 0.125]], advantage=[[1, 1, -1]])
    moments("all", "equal", "a mean squared difference exactly at the threshold is not below it: the token is dropped",
            0.09765625, drift=[[0, 0], [0]],
            gap=[[0.4375, -0.0625], [0.75]], advantage=[[1, 1], [-1]])
    moments("all", "every", "the mean squared difference of all tokens is below the threshold: all are kept", 0.5)
    moments("all", "least", "no mean is below the threshold: the smallest difference is kept, of two equal ones the first",
            0.001, drift=[[0, 0], [0]],
            gap=[[0.5, -0.25], [0.25]], advantage=[[1, 1], [-1]])
    HOLEY = {"drift": [[0.25, NAN, 0.125], [0.375, NAN], [-0.75, 0, -0.25]],
             "gap": [[-0.125, NAN, 0.0625], [0.125, NAN], [0.25, 0, 0.375]],
             "advantage": [[1, NAN, 1], [0.5, NAN], [-1, -1, 1]], "mask": "101 10 111"}
    moments("all", "holes", "masked tokens hold NaN: they do not enter the mean and are never kept", 0.02, **HOLEY)
    moments("all", "none", "all tokens are masked: none is kept", 0.04, mask="000 00 000")
    moments("drifting", "plain", "tokens that move against their advantage are kept, whatever the mean squared difference", 0.05)
    moments("drifting", "equal", "a mean squared difference exactly at the threshold is kept in this form",
            0.0625, drift=[[0.25, 0.25], [0.75]],
            gap=[[0, 0], [0]], advantage=[[1, 1], [1]])
    moments("drifting", "ties", "of two equal squared differences the one at the lower index is kept", 0.14,
            drift=[[0.125, -0.5], [0.5, 0]], gap=[[0, 0], [0, 0]], advantage=[[1, -1], [1, 1]])
    moments("drifting", "drop", "no mean is within the threshold: every candidate is dropped, the other tokens are kept", 0.001)
    moments("drifting", "nobody", "no candidate (advantage or difference 0, or opposite signs): every token is kept", 0.001,
            drift=[[0.25, 0, -0.5], [0.5, 0]], advantage=[[-1, 1, 1], [0, 0]], gap=[[0, 0, 0], [0, 0]])
    moments("drifting", "holes", "masked tokens hold NaN: they do not enter the mean and are never kept", 0.03, **HOLEY)


def best_subset(squares, fits):
    """Of all sets whose mean fits the largest, of these the one with the smallest sum and the first places."""
    sets = [s for n in range(1, len(squares) + 1) for s in itertools.combinations(sorted(squares), n)]
    allowed = [s for s in sets if fits(sum(squares[p] for p in s) / Fraction(len(s)))]
    return set(min(allowed, key=lambda s: (-len(s), sum(squares[p] for p in s), s), default=()))


@checks("select_second_moment")
def check_select_second_moment(check):
    for label, arguments, batch in cases_of("select_second_moment"):
        l, o, b, A = (at(batch, name) for name in ("logp", "logp_old", "logp_rollout", "advantage"))
        found, most = selected("select_second_moment", batch, **arguments), Fraction(arguments["threshold"])
        if arguments["form"] == "all":
            best = best_subset({p: (b[p] - o[p]) ** 2 for p in o}, lambda m: m < most)
            least = min(o, key=lambda p: (abs(b[p] - o[p]), p), default=None)
            check(f"the largest set of all: {label}", found == (best or ({least} if o else set())))
        else:
            candidates = {p for p in A if A[p] > 0 and l[p] > o[p] or A[p] < 0 and l[p] < o[p]}
            best = best_subset({p: (l[p] - o[p]) ** 2 for p in candidates}, lambda m: m <= most)
            check(f"the largest set of the candidates: {label}", found == best | set(A) - candidates)


# ---- covariance

@function(covariance=TOKENS)
def covariance(batch: reads("advantage")):
    """2505.22617: (A - mean A)(l - mean l), whose mean is the covariance.

    Source: 2505.22617
    Takes: batch with `advantage`
    Gives: `covariance` (N x length): (A - mean A)(l - mean l), means over mask tokens; scale (abs(A) + mean abs(A))(abs(l) + mean
    abs(l))
    """
    A, l = at(batch, "advantage"), at(batch, "logp")

    def number(place):
        a, b = A[place], l[place]
        size = (abs(a) + mean([abs(x) for x in A.values()])) * (abs(b) + mean([abs(x) for x in l.values()]))
        return Number((a - mean(A.values())) * (b - mean(l.values())), size)
    return {"covariance": rows(batch, {place: number(place) for place in A}, NOTHING)}


@cases("covariance")
def covariance_cases(case):
    LOGP = [[-0.5, -2, -0.0625], [-1.25, -0.75], [-3]]
    for label, comment, x in (
            ("plain", "advantages of both signs", tokens([0, 0, 1], logp=LOGP, advantage=[[1, 1, 1], [-0.5, -0.5], [0]])),
            ("holes", "masked tokens hold NaN and infinity: both means are over unmasked tokens only",
             tokens([0, 0, 1], "101 01 1", logp=[[-0.5, NAN, -0.0625], ["-Infinity", -0.75], [-3]],
                    advantage=[[1, NAN, 0.25], [NAN, -0.5], [1.5]])),
            ("equal-advantages", "all advantages are equal: the covariance is exactly 0 everywhere",
             tokens(logp=LOGP, advantage=[[0.75] * 3, [0.75] * 2, [0.75]])),
            ("equal-logp", "all log-probabilities are -0.7: exactly 0 everywhere, though the mean of three may round",
             tokens(logp=[[-TENTHS] * 2, [-TENTHS]], advantage=[[1, -0.5], [0.25]])),
            ("one", "a single token: its covariance is 0", tokens(logp=[[-0.5]], advantage=[[2]])),
            ("none", "all tokens are masked: the covariance is 0 everywhere",
             tokens(mask="00 0", logp=[[NAN, -1], [-2]], advantage=[[1, 1], [NAN]]))):
        case(label, comment, x)


@checks("covariance")
def check_covariance(check):
    for label, _, batch in cases_of("covariance"):
        found = [n.value for row in exactly("covariance", batch)["covariance"] for n in row]
        A, l = (list(at(batch, name).values()) for name in ("advantage", "logp"))
        together = sum(a * b for a, b in zip(A, l)) - sum(A) * sum(l) / max(len(A), 1)
        check(f"deviations from means: {label}", sum(found) == together)
        swapped = {**batch, "advantage": batch["logp"], "logp": batch["advantage"]}
        check(f"either may be the advantage: {label}", exactly("covariance", swapped) == exactly("covariance", batch))
        fits = {place: b * 2 + 3 for place, b in at(batch, "logp").items()}
        line = {**batch, "advantage": rows(batch, fits, 0)}
        twice = sum(n.value for row in exactly("covariance", line)["covariance"] for n in row)
        check(f"of a line: twice the variance: {label}", not l or twice == 2 * len(l) * statistics.pvariance(l))
    batch = dict(cases_of("covariance")[0][2], advantage=[[1, -2, 1], [-1, 1], [0]])
    even = tokens(logp=[[-1, -2], [-1, -2]], advantage=[[1, 1], [-1, -1]])
    check("numbers that have nothing to do with each other sum to 0",
          sum(n.value for row in exactly("covariance", even)["covariance"] for n in row) == 0
          != sum(n.value for row in exactly("covariance", batch)["covariance"] for n in row))


# ---- entropy_clip_batch

@function(selected=TOKEN_FLAGS)
def entropy_clip_batch(batch: reads("entropy", "advantage"), mu: NUMBER):
    """Clip_B (2602.03392) as in Trinity-RFT: tokens with A < 0 and S far below its mean.

    Source: Clip_B, 2602.03392 as Trinity-RFT
    Takes: batch with `entropy`, `advantage`; `mu`
    Gives: S = e^l (H + l). `selected`: mask tokens with A < 0 and S - mean S < -mu std S, mean and population deviation over mask
    tokens, both sides exactly 0 where all S are equal
    """
    A, S = at(batch, "advantage"), entropy_push(batch)
    away, spread = centred(S) if S else ({}, ZERO)
    return {"selected": flags(batch, [p for p in S if A[p] < 0 and limits.less(away[p], -real(mu) * spread)])}


@cases("entropy_clip_batch")
def clip_below_cases(case):
    def below(label, comment, mu, logp, entropy, advantage=DOWN, mask=None):
        case(label, comment, tokens([0, 1][:len(logp)], mask, logp=logp, entropy=entropy, advantage=advantage), mu=mu)

    below("one", "mu 1: the token with A < 0 more than one standard deviation below the mean is selected", 1, LP, HS)
    below("usual", "mu 2.5: of nine tokens with A < 0 only the outlier is selected",
          2.5, [[-2, -3, -4, -1.5, -2.5], [-1, -2, -3.5, -4.5]],
          [[2, 3.25, 3.5, 1.5, 2.25], [0, 2.125, 3.5, 4]], [[-1] * 5, [-1] * 4])
    below("zero", "mu 0: every token below the mean with a negative advantage is selected", 0, LP, HS)
    below("negative", "mu -1: the bound is above the mean; tokens still above the bound are not selected", -1, LP, HS)
    below("above", "mu -1.25: the bound is above every token: all with a negative advantage are selected", -1.25, LP, HS)
    below("up", "no advantage is negative: no token is selected", 0, LP, HS, [[0, 1, 0], [0.5, 2]])
    below("equal", "all tokens have equal probability and entropy: none is below the mean, none is selected",
          0, [[-0.75] * 3, [-0.75] * 2], [[0.5] * 3, [0.5] * 2])
    below("holes", "masked tokens hold NaN and infinity: mean and deviation are over unmasked tokens",
          0.5, [[-3, NAN, -0.25], [-0.125, -1]], [[0.5, NAN, 1], [0.75, "Infinity"]],
          [[-1, NAN, -0.5], [-1, -2]], "101 10")
    below("none", "all tokens are masked: none is selected", 1, [[NAN, -1]], [[NAN, 1]], [[-1, -1]], "00")


@checks("entropy_clip_batch")
def check_entropy_clip_batch(check):
    for label, given, batch in cases_of("entropy_clip_batch"):
        l, H, A = (at(batch, name) for name in ("logp", "entropy", "advantage"))
        S = {p: math.exp(l[p]) * float(H[p] + l[p]) for p in l}
        spread = statistics.pstdev(S.values()) if len(set(S.values())) > 1 else 0
        expected = {p for p in S if A[p] < 0 and S[p] - statistics.mean(S.values()) < -given["mu"] * spread - 1e-12}
        check(f"with the standard library: {label}", selected("entropy_clip_batch", batch, **given) == expected)


# ---- entropy_clip_vocabulary

@function(selected=TOKEN_FLAGS)
def entropy_clip_vocabulary(batch: reads("entropy", "advantage"), expected: many(many(NUMBER)), mu: NUMBER, fraction: FRACTION):
    """Clip_V (2602.03392) as in Trinity-RFT: tokens with A < 0 and S far below the vocabulary's mean of S; of these the farthest, a
    fraction of all tokens but at least one.

    Source: Clip_V, as above
    Takes: batch with `entropy`, `advantage`; `expected` per token: the mean of S over the vocabulary; `mu`, 0 <= `fraction` <= 1
    Gives: x = expected - S. `selected`: of the mask tokens with A < 0 and x > mu std x (population deviation over the n mask tokens; x
    itself is not centred) the max(1, floor(fraction n)) largest x, product in binary64; none if all x are equal
    """
    A, S, N = at(batch, "advantage"), entropy_push(batch), read(batch, expected)
    x = {p: real(N[p]) - S[p] for p in S}
    _, spread = centred(x) if x else ({}, ZERO)
    far = [p for p in x if A[p] < 0 and spread and limits.less(real(mu) * spread, x[p])]
    for p, q in itertools.combinations(far, 2):
        limits.less(x[p], x[q])
    most = max(int(float(fraction) * len(x)), 1)
    return {"selected": flags(batch, sorted(far, key=lambda p: (-x[p], p))[:most])}


@cases("entropy_clip_vocabulary")
def clip_value_cases(case):
    def beyond(label, comment, mu, fraction, logp=LP, entropy=HS, expected=((0.5, 0.25, 0.125), (0.5, 1)), advantage=DOWN,
               mask=None):
        x = tokens([0, 1][:len(logp)], mask, logp=logp, entropy=entropy, advantage=advantage)
        case(label, comment, x, expected=[list(row) for row in expected], mu=mu, fraction=fraction)

    beyond("one", "mu 1.5: one token with A < 0 is far enough below the vocabulary's mean", 1.5, 0.25)
    beyond("all", "fraction 1: every token far enough below the vocabulary's mean is selected, unless A > 0", 0.25, 1)
    beyond("capped", "fraction 0.4 of five tokens: of three candidates the two farthest below the mean are selected",
           0.25, 0.4, advantage=[[-1, -1, -0.5], [-1, -2]])
    beyond("rounded", "a third of six tokens is 2, once the product is rounded to binary64: of three candidates two are selected",
           -1, 1 / 3, [[-1, -0.5, -2], [-0.25, -3, -1]], [[0.5, 0.25, 1], [0.75, 0.5, 2]], [[0.25, 1, 0.5], [0.75, 2, 1]],
           [[1, -1, 1], [-1, -0.5, 1]])
    beyond("least", "a fraction of less than one token still selects one, the farthest below the mean", 0.25, 0.0001)
    beyond("ties", "two candidates are equally far below the vocabulary's mean, one may be selected: the first",
           0, 0.3, [[-1, -1, -2], [-1]], [[0.5, 0.5, 1], [0.5]], [[0, 0, 0], [0]],
           [[1, -1, -1], [-1]])
    beyond("equal", "all tokens are equally far below the vocabulary's mean: none is selected, though all are above 0",
           0, 1, [[-1] * 3, [-1] * 2], [[0.5] * 3, [0.5] * 2],
           [[0.25] * 3, [0.25] * 2])
    beyond("up", "no advantage is negative: no token is selected", 0, 1, advantage=[[0, 1, 0], [0.5, 2]])
    beyond("negative", "mu -0.5: a token slightly above the vocabulary's mean is selected, one farther above is not", -0.5, 1)
    beyond("holes", "masked tokens hold NaN and 1e6: deviation and fraction are over unmasked tokens",
           0.5, 0.7, [[-3, NAN, -0.25], [-0.125, -1]],
           [[0.5, NAN, 1], [0.75, "Infinity"]], [[0.75, UNMASKED, 0.125], [1, UNMASKED]], [[-1, NAN, -0.5], [-1, -2]],
           "101 10")
    beyond("none", "all tokens are masked: none is selected",
           1, 0.5, [[NAN, -1]], [[NAN, 1]], [[UNMASKED] * 2], [[-1, -1]], "00")


@checks("entropy_clip_vocabulary")
def check_entropy_clip_vocabulary(check):
    for label, given, batch in cases_of("entropy_clip_vocabulary"):
        l, H, A = (at(batch, name) for name in ("logp", "entropy", "advantage"))
        x = {(i, t): given["expected"][i][t] - math.exp(l[i, t]) * float(H[i, t] + l[i, t]) for i, t in l}
        spread = statistics.pstdev(x.values()) if len(set(x.values())) > 1 else math.inf
        far = sorted((p for p in x if A[p] < 0 and x[p] > given["mu"] * spread), key=lambda p: (-x[p], p))
        found = selected("entropy_clip_vocabulary", batch, **given)
        check(f"with the standard library: {label}", found == set(far[:max(1, math.floor(given["fraction"] * len(x)))]))


# ---- select_low_probability

@function(selected=TOKEN_FLAGS)
def select_low_probability(batch: reads("logp_old"), probability: number(above=0, most=1)):
    """Lopti (2505.12929), SPO-SEG: the tokens that were improbable.

    Source: Lopti, 2505.12929; SPO-SEG
    Takes: batch with `logp_old`; 0 < `probability` <= 1
    Gives: `selected` (N x length): mask tokens with o < log(probability)
    """
    o = at(batch, "logp_old")
    bound = reals.log(real(probability))
    return {"selected": flags(batch, [p for p in o if limits.less(real(o[p]), bound)])}


@cases("select_low_probability")
def probability_select_cases(case):
    RARE = [[-0.5, -2, -0.0625], [-1.25, -0.75]]
    on(case,
       ("half", "probability 0.5: tokens sampled with a lower probability are selected",
        tokens([0, 1], logp_old=RARE), dict(probability=0.5)),
       ("sure", "probability 0.9: all tokens but the one of probability 0.94 are selected",
        tokens([0, 1], logp_old=RARE), dict(probability=0.9)),
       ("tiny", "probability 1e-300: a log-probability of -700 is below it, -690 is not",
        tokens([0, 1], logp_old=[[-700, -690], [-20, -0.5]]), dict(probability=1e-300)),
       ("holes", "masked tokens are never selected, whatever their log-probability",
        tokens([0, 1], "101 00", logp_old=[[-3, NAN, -0.125], [-4, NAN]]),
        dict(probability=0.3)))


@checks("select_low_probability")
def check_select_low_probability(check):
    for label, a, batch in cases_of("select_low_probability"):
        o = at(batch, "logp_old")
        expected = {p for p in o if reals.exp(real(o[p])) < real(Fraction(a["probability"]))}
        check(f"as probabilities: {label}", expected == selected("select_low_probability", batch, **a))


# ---- prefix_trust_region

def linear_quantile(xs, q):
    ordered = sorted(xs)
    k, rest = divmod(q * (len(xs) - 1), 1)
    return ordered[int(k)] + (real(rest) * (ordered[int(k) + 1] - ordered[int(k)]) if rest else 0)


def within_budget(tokens, D, width, least, delta, budget, quantile, factor):
    """The tokens of one response whose weighted divergence is within what the prefix left of its budget."""
    rate = clamp(real(factor) * linear_quantile([D[p] for p in tokens], quantile), real(budget), real(5 * budget)) if tokens else ZERO
    kept, S, W = [], ZERO, ZERO
    for i, t in tokens:
        w = real(least + (1 - least) * Fraction(width - (t + 1), max(width - 1, 1)))
        Z = w * D[i, t]
        if not limits.less(real(delta) + min(ZERO, rate * W - S), Z):
            kept.append((i, t))
        S, W = S + Z, W + w
    return kept


@function(selected=TOKEN_FLAGS)
def prefix_trust_region(batch: reads("logp_old", "advantage"),
                  **numbers: {"width": COUNT, "least": FRACTION, "delta": POSITIVE, "budget": NOT_NEGATIVE, "quantile": FRACTION,
                              "factor": NOT_NEGATIVE}):
    """CPPO (2606.10968), code: a trust region whose width is the part of a budget that the response's prefix has not used.

    Source: CPPO, 2606.10968, code
    Takes: batch with `logp_old`, `advantage`; `width` >= every length, 0 <= `least` <= 1, `delta` > 0, `budget` b >= 0, 0 <= `quantile`
    q <= 1, `factor` k >= 0
    Gives: D = abs(e^l - e^o); w = least + (1 - least)(width - p)/max(width - 1, 1), p = 1.. the token's position in its response
    (masked tokens count); Z = w D; S and W the sums of Z and w over the response's earlier mask tokens; d = clip(k Q, b, 5 b), Q the
    q-quantile of D over its n mask tokens, linear at q (n - 1). `selected`: the mask tokens with A (e^(l - o) - 1) <= 0 or Z <=
    min(delta, delta + d W - S)
    """
    l, o, A = (at(batch, name) for name in ("logp", "logp_old", "advantage"))
    D = {p: abs(reals.exp(real(l[p])) - reals.exp(real(o[p]))) for p in l}
    kept = [p for p in l if A[p] * (l[p] - o[p]) <= 0]
    for i in range(len(batch["length"])):
        kept += within_budget([p for p in l if p[0] == i], D, **numbers)
    return {"selected": flags(batch, kept)}


@cases("prefix_trust_region")
def prefix_budget_cases(case):
    def cppo(label, comment, old=SELF, now=NOW, advantage=None, mask=None, **numbers):
        given = {"width": 4, "least": 0.8, "delta": 0.15, "budget": 0.02, "quantile": 0.9, "factor": 1, **numbers}
        advantage = advantage or [[1, -1, 1], [-1, 1], [1, -0.5]]
        case(label, comment, tokens([0, 0, 1], mask, logp=now, logp_old=old, advantage=advantage), **given)

    STEADY = [[-1, -1, -1, -1], [-1, -1, -1], [-1, -1]]
    DRIFTED = [[-0.75, -0.75, -0.75, -1], [-1.25, -1.0625, -1.125], [-0.9375, -0.625]]
    UP = [[1] * 4, [-1] * 3, [1, 1]]
    cppo("plain", "tokens that move back to the old policy are kept, others only within the bound")
    cppo("prefix", "divergence that earlier tokens of the response used up is not available to later ones",
         STEADY, DRIFTED, UP, delta=0.12, factor=0)
    cppo("floor", "factor times the median divergence is below the budget: the rate is the budget",
         STEADY, DRIFTED, UP, delta=0.145, budget=0.0625, quantile=0.5, factor=0.5)
    cppo("ceiling", "factor times the quantile exceeds five budgets: the rate is capped at five budgets",
         STEADY, DRIFTED, UP, delta=0.125, budget=0.00390625, factor=4)
    cppo("one", "width 1, one token per response: no division by width - 1, the quantile is the token's own",
         [[-1], [-2], [-0.5]], [[-0.5], [-1.75], [-0.4375]],
         [[1], [1], [1]], width=1, least=0)
    cppo("holes", "masked tokens advance the position but enter neither the sums nor the quantile",
         [[-0.5, NAN, -1.25], [NAN, -3], [-1, -0.25]],
         [[-0.4375, NAN, -1], [NAN, -3], [-0.9375, -0.125]], [[1, NAN, 1], [NAN, 1], [1, 1]], "101 00 11", width=8, least=0.25,
         delta=0.07, quantile=0.25)


def kept_by_hand(batch, given):
    """In ordinary floating point, response by response."""
    kept, g = set(), given
    l, o, A = ({p: float(x) for p, x in at(batch, name).items()} for name in ("logp", "logp_old", "advantage"))
    for i in range(len(batch["length"])):
        own = [p for p in l if p[0] == i]
        D = {p: abs(math.exp(l[p]) - math.exp(o[p])) for p in own}
        xs = sorted(D.values())
        spot = g["quantile"] * (len(xs) - 1) if xs else 0
        Q = xs[int(spot)] + (spot - int(spot)) * (xs[min(int(spot) + 1, len(xs) - 1)] - xs[int(spot)]) if xs else 0
        rate = min(max(g["factor"] * Q, g["budget"]), 5 * g["budget"])
        weights = {p: g["least"] + (1 - g["least"]) * (g["width"] - p[1] - 1) / max(g["width"] - 1, 1) for p in own}
        for p in own:
            before = [q for q in own if q < p]
            left = g["delta"] + rate * sum(weights[q] for q in before) - sum(weights[q] * D[q] for q in before)
            if A[p] * (math.exp(l[p] - o[p]) - 1) <= 0 or weights[p] * D[p] <= min(g["delta"], left):
                kept.add(p)
    return kept


@checks("prefix_trust_region")
def check_prefix_trust_region(check):
    for label, given, batch in cases_of("prefix_trust_region"):
        kept = selected("prefix_trust_region", batch, **given)
        check(f"by hand: {label}", kept == kept_by_hand(batch, given))
        wide = selected("prefix_trust_region", batch, **{**given, "delta": 1, "budget": 1})
        check(f"a wide budget keeps everything: {label}", wide == set(at(batch, "logp")) >= kept)
        turned = {**batch, "advantage": [[x if isinstance(x, str) else -x for x in row] for row in batch["advantage"]]}
        both = kept | selected("prefix_trust_region", turned, **given)
        check(f"every token moves back for one of both signs: {label}", both == set(at(batch, "logp")))
