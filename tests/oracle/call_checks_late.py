"""Identities of the functions of calls_late.py."""
import itertools
import math
from fractions import Fraction

import calls
import calls_late
from call_checks import exactly
from call_checks_found import close, flat
from call_checks_more import near
from call_checks_rewards import every, values
from limits import mpf, mpmath
from scenarios import Dice

NAMES = [f.__name__ for f in calls_late.ALONE + calls_late.ON_BATCHES]
PAPER = dict(gamma=0.8, low=0.2, high=0.4, delta=0.000001)


def check_sizes(check):
    for name in NAMES:
        for label, _, _, found in every(name):
            sizes = [calls.real(n.size) >= abs(calls.real(n.value)) * (1 - mpf(10) ** -40) for x in found.values() for n in flat(x)]
            check(f"a size is not below its number: {label}", all(sizes))


def check_power(check):
    for label, given, _, found in every("power_clip"):
        up = math.tanh(given["mean"] / (given["deviation"] + given["delta"]))
        check(f"by hand: {label}", close(found["power"].value, math.exp(-given["gamma"] * given["mean"]))
              and close(found["eps"].value, given["low"] + (given["high"] - given["low"]) * up))
        check(f"the bound is that of the ratio: {label}", near(mpmath.exp(found["log_high"].value), 1 + found["eps"].value))
    at_0, solved = (exactly("power_clip", mean=m, deviation=s, **PAPER) for m, s in ((0, 0.5), (1, 0)))
    check("it starts as the arithmetic mean with the lower bound", at_0["power"].value == 1 and close(at_0["eps"].value, 0.2))
    check("and ends at the upper one", close(solved["eps"].value, 0.4))
    powers = [exactly("power_clip", mean=m, deviation=0.5, **PAPER) for m in (-1, 0, 0.25, 1)]
    check("the better the batch, the lower the power and the wider the bound", all(
        a["power"].value > b["power"].value and a["eps"].value < b["eps"].value for a, b in zip(powers, powers[1:])))
    try:
        exactly("power_clip", mean=-9, deviation=0, **{**PAPER, "high": 4})
        check("no ratio below 0", False)
    except ValueError:
        check("no ratio below 0", True)


def check_roles(check):
    for label, given, _, found in every("role_reward"):
        r, role, A = given["reward"], given["role"], values(found["advantage"])
        for k in set(role):
            own = [i for i, other in enumerate(role) if other == k]
            if given["form"] != "clipped":
                check(f"a role's add up to 0: {label}", near(sum(A[i] for i in own), 0))
            alone = exactly("role_reward", reward=[r[i] for i in own], role=[0] * len(own), form=given["form"])
            check(f"other roles do not matter: {label}", alone["advantage"] == [found["advantage"][i] for i in own])
        check(f"within bounds: {label}", given["form"] != "clipped" or all(-1 <= a <= 3 for a in A))
    A = values(exactly("role_reward", reward=[0] * 16 + [1], role=[0] * 17, form="clipped")["advantage"])
    check("one success of seventeen counts for 3", A[16] == 3 and all(-1 < a < 0 for a in A[:16]))


# ---- distances, by trying everything

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


def check_distances(check):
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


def check_routes(check):
    for label, given, batch, found in every("route_weight"):
        w = {(i, t): x.value for i, row in enumerate(found["weight"]) for t, x in enumerate(row)}
        told = [p for p in calls.at(batch, "entropy") if given["routed"][p[0]]]
        check(f"their mean is 1: {label}", not told or near(sum(w[p] for p in told), len(told)))
        check(f"0 for all others: {label}", all(x == 0 for p, x in w.items() if p not in told))
        H = calls.at(batch, "entropy")
        beta = calls.real(Fraction(given["beta"]))
        for p, q in itertools.combinations(told, 2):
            check(f"the difference in the exponent: {label}", near(mpmath.log(w[p] / w[q]), beta * calls.real(H[q] - H[p])))


GROUPS = (check_sizes, check_power, check_roles, check_distances, check_routes)
