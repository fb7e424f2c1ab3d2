"""Identities of the functions of calls.py, most of them by counting or trying everything where these sort or walk."""
import bisect
import copy
import itertools
import json
import statistics
from fractions import Fraction

import answer
import calls
import generate
import limits
from call_cases_lists import CALLS
from call_cases_more import tokens
from call_cases_late import CALLS
from evaluate import Batch, informative
from scenarios import PER_TOKEN, Dice


def ask(function, batch=None, **arguments):
    return calls.answers(function, arguments, batch)[0]


def exactly(function, batch=None, **arguments):
    return calls.found(function, arguments, batch)


def cases_of(function):
    return [(label, arguments, batch) for label, _, _, name, arguments, batch in CALLS if name == function]


def chosen(batch, rows):
    return [place for place in calls.slots(batch) if rows[place[0]][place[1]]]


def selected(function, batch, **arguments):
    return set(chosen(batch, ask(function, batch, **arguments)["selected"]))


def thrown(seed):
    """Eleven tokens of three responses with few different numbers, so that many are the same."""
    dice = Dice(seed)
    x = [[dice.fraction(-1, 1, 4) for _ in range(n)] for n in (4, 6, 1)]
    return tokens(mask=" ".join("".join("1" if dice.below(4) else "0" for _ in row) for row in x), advantage=x)


# ---- all of them

def check_cases(check):
    for name in calls.NAMES:
        check(f"{name} has four cases", len(cases_of(name)) >= 4)
    with open(generate.path("schema.json"), encoding="ascii") as f:
        kinds = json.load(f)["$defs"]
    ranked = [case["if"]["properties"]["function"]["const"] for case in kinds["call"]["allOf"]]
    check("the schema says of every function what it takes", kinds["call"]["properties"]["function"]["enum"] == ranked)
    check("and they are the oracle's", sorted(ranked) == sorted(calls.NAMES))
    with open(generate.path("calls.json"), encoding="ascii") as f:
        for case in json.load(f)["cases"]:
            request = {"seq": 1, "case": {key: x for key, x in case.items() if key not in ("expect", "scale")}}
            found = answer.run(request, None, {})["result"]
            check(f"the protocol's program answers {case['id']}", found == case["expect"])
    request["case"]["function"] = "no_such"
    check("and skips what it does not know", "skip" in answer.run(request, None, {}))


def check_masked_and_digits(check):
    for label, _, _, function, arguments, batch in CALLS:
        first = calls.answers(function, arguments, batch)
        with limits.mpmath.workdps(limits.DIGITS + 40):
            check(f"digits of {label}", calls.answers(function, arguments, batch) == first)
        if batch and "mask" in batch:
            other = copy.deepcopy(batch)
            for key in set(PER_TOKEN) & set(other) - {"mask"}:
                other[key] = [[x if m else 7 for x, m in zip(*rows)] for rows in zip(other[key], other["mask"])]
            check(f"masked slots do not matter: {label}", calls.answers(function, arguments, other) == first)


# ---- control

def check_control(check):
    usual = {"kl_coef": 0.25, "target": 5, "steps": 3, "horizon": 7}
    kl = lambda x, **more: exactly("kl_control", **{**usual, "kl": x, **more})["kl_coef"]
    up, down = kl(6), kl(4)
    check("beyond the clip nothing changes", kl(50) == up and kl(-8) == down and kl(5.75).value < up.value)
    check("the clip is 0.2 on both sides", up.value * 140 == 35 + 3 and up.value + down.value == Fraction(1, 2))
    check("at the target the coefficient stays", kl(5).value == Fraction(1, 4) == kl(50, steps=0).value)
    for label, arguments, _ in cases_of("entropy_control"):
        official, trl = (exactly("entropy_control", **{**arguments, "inclusive": x}) for x in (False, True))
        at_target = arguments["entropy"] == arguments["target"]
        check(f"they differ at the target only: {label}", (official != trl) == at_target)
        for found in (official, trl):
            used = found["coef"].value if arguments["entropy"] < arguments["target"] else 0
            check(f"used where the entropy is small: {label}", at_target or found["used"].value == used)
            check(f"within the bounds: {label}", arguments["low"] <= found["coef"].value <= arguments["high"])


# ---- selection of tokens

def at_or_above(x, fraction):
    """Those with more than ceil((1 - rho)(n - 1)) numbers at or below them: a bound between two order statistics
    selects as the upper one does."""
    least = -(-(Fraction(1 - fraction) * (len(x) - 1)) // 1)
    return {place for place in x if sum(y <= x[place] for y in x.values()) > least}


def check_top_and_largest(check):
    given = cases_of("select_top") + [(f"thrown {seed}", {"by": "advantage", "fraction": rho}, thrown(seed))
                                      for seed in range(40) for rho in (0, 0.125, 0.3, 0.5, 1)]
    for label, arguments, batch in given:
        x = calls.at(batch, arguments["by"])
        found = selected("select_top", batch, **arguments)
        check(f"select_top by counting: {label}", found == at_or_above(x, arguments["fraction"]))
    for seed in range(40):
        batch = thrown(seed)
        x = calls.at(batch, "advantage")
        for count in range(len(x) + 2):
            before = {p: sum(x[q] > x[p] or x[q] == x[p] and q < p for q in x) for p in x}
            check(f"select_largest by counting: thrown {seed}", {p for p in x if before[p] < count}
                  == selected("select_largest", batch, by="advantage", count=count))


def check_covariance(check):
    for label, _, batch in cases_of("covariance"):
        found = [n.value for row in exactly("covariance", batch)["covariance"] for n in row]
        A, l = (list(calls.at(batch, name).values()) for name in ("advantage", "logp"))
        together = sum(a * b for a, b in zip(A, l)) - sum(A) * sum(l) / max(len(A), 1)
        check(f"deviations from means: {label}", sum(found) == together)
        swapped = {**batch, "advantage": batch["logp"], "logp": batch["advantage"]}
        check(f"either may be the advantage: {label}", exactly("covariance", swapped) == exactly("covariance", batch))
        fits = {place: b * 2 + 3 for place, b in calls.at(batch, "logp").items()}
        line = {**batch, "advantage": calls.rows(batch, fits, 0)}
        twice = sum(n.value for row in exactly("covariance", line)["covariance"] for n in row)
        check(f"of a line: twice the variance: {label}", not l or twice == 2 * len(l) * statistics.pvariance(l))
    batch = dict(cases_of("covariance")[0][2], advantage=[[1, -2, 1], [-1, 1], [0]])
    even = tokens(logp=[[-1, -2], [-1, -2]], advantage=[[1, 1], [-1, -1]])
    check("numbers that have nothing to do with each other sum to 0",
          sum(n.value for row in exactly("covariance", even)["covariance"] for n in row) == 0
          != sum(n.value for row in exactly("covariance", batch)["covariance"] for n in row))


def check_between(check):
    for label, arguments, batch in cases_of("select_between"):
        x, every = calls.at(batch, arguments["by"]), calls.slots(batch)
        excluded = set(chosen(batch, arguments["excluded"])) if "excluded" in arguments else set()
        fit = {p for p in x if p not in excluded and arguments["low"] < x[p] < arguments["high"]}
        found = selected("select_between", batch, **arguments)
        when = {every[k]: n for n, k in enumerate(arguments["order"])}
        check(f"the order has every token: {label}", sorted(arguments["order"]) == list(range(len(every))))
        check(f"candidates only: {label}", found <= fit)
        check(f"as many as there are: {label}", len(found) == min(arguments["count"], len(fit)))
        check(f"the others come later: {label}", all(when[p] < when[q] for p in found for q in fit - found))


def best_subset(squares, fits):
    """Of all sets whose mean fits the largest, of these the one with the smallest sum and the first places."""
    sets = [s for n in range(1, len(squares) + 1) for s in itertools.combinations(sorted(squares), n)]
    allowed = [s for s in sets if fits(sum(squares[p] for p in s) / Fraction(len(s)))]
    return set(min(allowed, key=lambda s: (-len(s), sum(squares[p] for p in s), s), default=()))


def check_second_moment(check):
    for label, arguments, batch in cases_of("select_second_moment"):
        l, o, b, A = (calls.at(batch, name) for name in ("logp", "logp_old", "logp_rollout", "advantage"))
        found, most = selected("select_second_moment", batch, **arguments), Fraction(arguments["threshold"])
        if arguments["form"] == "all":
            best = best_subset({p: (b[p] - o[p]) ** 2 for p in o}, lambda m: m < most)
            least = min(o, key=lambda p: (abs(b[p] - o[p]), p), default=None)
            check(f"the largest set of all: {label}", found == (best or ({least} if o else set())))
        else:
            candidates = {p for p in A if A[p] > 0 and l[p] > o[p] or A[p] < 0 and l[p] < o[p]}
            best = best_subset({p: (l[p] - o[p]) ** 2 for p in candidates}, lambda m: m <= most)
            check(f"the largest set of the candidates: {label}", found == best | set(A) - candidates)


# ---- bounds of a batch

def quotient(batch, low, high):
    """P/Q with the functions of the standard library."""
    l, o, A = (calls.at(batch, name) for name in ("logp", "logp_old", "advantage"))
    up = down = 0.0
    for p in l:
        w = float(limits.mpmath.exp(calls.real(l[p] - o[p])))
        push = float(A[p]) * (min(w, high) if A[p] >= 0 else max(w, low))
        up, down = up + max(push, 0), down + max(-push, 0)
    return up / down if down else float("inf")


def check_balanced(check):
    for label, a, batch in cases_of("balanced_bounds"):
        found = ask("balanced_bounds", batch, **a)
        low, high = found["low"], found["high"]
        at_ends = low >= a["low_max"] and high >= a["high_max"]
        check(f"balanced, or at the ends: {label}", at_ends or quotient(batch, low, high) >= a["target"] - 1e-12)
        if high > a["high"]:
            before = max(h for h in itertools.accumulate([a["high"]] + [a["step"]] * 99) if h < high - a["step"] / 1000)
            check(f"one step less was not enough: {label}", quotient(batch, low, before) < a["target"])
            check(f"the lower bound went first: {label}", low >= a["low_max"])
        elif low < a["low_max"]:
            check(f"it need not move: {label}", low == a["low"] and quotient(batch, low, high) >= a["target"] - 1e-12)


def check_balanced_by_hand(check):
    """A = 1 and -1.25."""
    def bounds(drift, target):
        batch = tokens(logp=[[d - 4 for d in drift]], logp_old=[[-4, -4]], advantage=[[1, -1.25]])
        return ask("balanced_bounds", batch, low=0.6, high=1.2, low_max=0.8, high_max=2, step=0.05, target=target)
    check("w = 1 twice: P/Q is 0.8 within any bounds", bounds((0, 0), 1) == {"low": 0.8, "high": 2})
    check("w = 1, e^-3: P/Q = 1/(1.25 0.6) = 4/3 is enough", bounds((0, -3), 1.25) == {"low": 0.6, "high": 1.2})
    check("for 1.5 it is not, and at low = 0.8 it is 1", bounds((0, -3), 1.5) == {"low": 0.8, "high": 2})
    found = bounds((3, -3), 1.6125)
    check("w = e^3, e^-3: first 1.6; P/Q = high at low = 0.8, and nine steps of 0.05 make 1.65",
          found["low"] == 0.8 and abs(found["high"] - 1.65) < 1e-12)


# ---- responses

def check_responses(check):
    for label, arguments, batch in cases_of("keep_between"):
        if set(batch["reward"]) <= {0, 1} and (arguments["low"], arguments["high"]) == (0, 1):
            found = ask("keep_between", batch, **arguments)["keep"]
            check(f"informative groups: {label}", found == informative(Batch(batch)))
        moved = {**arguments, "low": arguments["low"] - 3, "high": arguments["high"] - 3}
        lower = {**batch, "reward": [r - 3 for r in batch["reward"]]}
        same = ask("keep_between", lower, **moved) == ask("keep_between", batch, **arguments)
        check(f"a shift of everything: {label}", same)
    rewards = cases_of("resampling_weights")[0][2]

    def power(p, eps=0, rewards=rewards):
        return [n.value for n in exactly("resampling_weights", rewards, power=p, eps=eps)["weight"]]
    flipped = {**rewards, "reward": [-r for r in rewards["reward"]]}
    check("the first power is the absolute value", power(1) == [abs(r) for r in rewards["reward"]])
    check("a root squared", all(abs(a * a - b) < 1e-50 for a, b in zip(power(0.5), power(1))))
    check("signs do not matter", power(3) == power(3, 0, flipped) and power(2.5) == power(2.5, 0, flipped))
    check("eps is added", power(2, 0.5) == [w + 0.5 for w in power(2)] and power(0) == [1] * 4)
    spread = tokens(reward=[1, 3, 5], advantage=[[-1], [0, 7], [1]])
    check("with normalised advantages: the sum of deviations", ask("replay_score", spread)["score"] == [4])


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


# ---- DCPO

def check_visits(check):
    smooth = lambda i, new, total: exactly("smooth_advantage", visits=i, new=new, total=total)["advantage"].value
    for i, new, total in itertools.product((1, 2, 3, 10), (-1.5, 0, 0.25, 2), (-0.5, 1, 1.75)):
        parts = [Fraction(k, i) * Fraction(new) + Fraction(i - k, i) * Fraction(total) for k in (i - 1, 1)]
        check("the average of smaller size", abs(smooth(i, new, total)) == min(abs(x) for x in parts))
        check("neither comes first", smooth(i, new, total) == smooth(i, total, new) or abs(parts[0]) == abs(parts[1]))
    check("two that agree", smooth(7, 0.75, 0.75) == Fraction(3, 4) and smooth(1, 3, -2) == -2)
    dice, mean, variance, seen = Dice(5), 9, 9, []
    for i in range(1, 8):  # visits of the same size, and variances of populations: the pooled moments
        step = [Fraction(dice.fraction(-2, 2, 8)) for _ in range(5)]
        seen += step
        found = calls.running_moments(Fraction(i), mean, variance, statistics.mean(step), statistics.pvariance(step))
        mean, variance = found["mean"].value, found["variance"].value
        check(f"pooled moments of {i} visits", mean == statistics.mean(seen) and variance == statistics.pvariance(seen))


GROUPS = (check_cases, check_masked_and_digits, check_control, check_top_and_largest, check_covariance, check_between,
          check_second_moment, check_balanced, check_balanced_by_hand, check_responses, check_resample, check_visits)
