"""Transform: new values of the rewards of a group, before the baseline. n items, c of them with R > 0."""
from itertools import combinations
from math import comb

from axes.pool import Item
from axes.sized import NOTHING, Sized, sign_of, total
from limits import Undefined, ZERO, less
from reals import mpf


def choose(a, b):
    """C(a, b), 0 for b > a or a < 0."""
    return comb(a, b) if a >= b >= 0 else 0


def successes(group):
    return sum(1 for i in group if sign_of(i.worth) > 0)


def pass_rate(group, k):
    """2508.10751: Rbar = 1 - C(N_neg, k)/C(N, k), the pass@k of the group."""
    n, c = len(group), successes(group)
    if n < k:
        raise Undefined(f"pass@{k} of a group of {n}")
    return 1 - mpf(choose(n - c, k)) / choose(n, k)


def pass_at_k(group, k):
    # 2508.10751, analytic: 1 - Rbar for a success, 1 - Rbar - C(N_neg - 1, k - 1)/C(N - 1, k - 1) for a failure
    n, c, rate = len(group), successes(group), pass_rate(group, k)
    good = Sized(1 - rate, 1 + rate)
    lost = mpf(choose(n - c - 1, k - 1)) / choose(n - 1, k - 1)
    bad = Sized(1 - rate - lost, 1 + rate + lost)
    return [good if sign_of(i.worth) > 0 else bad for i in group]


def pkpo_maxrl(group, k):
    # the code of MaxRL (2602.02710), for rewards of 0 and 1: r C(n - c, k - 1)/C(n - 1, k - 1)
    n, c = len(group), successes(group)
    if n < k:
        raise Undefined(f"pass@{k} of a group of {n}")
    factor = mpf(choose(n - c, k - 1)) / choose(n - 1, k - 1)
    return [i.worth.times(factor) for i in group]


def sets_with(group, i, k):
    """The k-subsets of the group that contain the i-th item, each without it."""
    if len(group) < k:
        raise Undefined(f"maxg@{k} of a group of {len(group)}")
    return combinations([x for j, x in enumerate(group) if j != i], k - 1)


def best_of(items):
    return max((i.worth for i in items), key=lambda worth: worth.value)


def pkpo_max(group, k):
    # PKPO (2505.15201) eq. 19: s_i = 1/C(n, k) sum over the k-sets I with i of max_{j in I} g_j
    share = mpf(1) / choose(len(group), k)
    return [total(best_of((item, *others)) for others in sets_with(group, i, k)).times(share) for i, item in enumerate(group)]


def pkpo_gain(group, k):
    # PKPO eq. 33: s_i^(loo-1) = 1/C(n, k) sum over the k-sets I with i of max_I g - max_{I without i} g
    share = mpf(1) / choose(len(group), k)
    return [total(best_of((item, *others)) - (best_of(others) if others else NOTHING)
                  for others in sets_with(group, i, k)).times(share) for i, item in enumerate(group)]


def pkpo_loo(group, k):
    # PKPO eq. 29: s_i^loo = s_i - 1/(n - 1) sum over j != i of S(j, all without i), S being eq. 19 of the n - 1 others (divisor
    # C(n - 1, k)); with fewer than k others there is no such set, and nothing is subtracted
    result = []
    for i, own in enumerate(pkpo_max(group, k)):
        others = group[:i] + group[i + 1:]
        if len(others) >= k:
            own = own - total(pkpo_max(others, k)).times(mpf(1) / len(others))
        result.append(own)
    return result


def best_minus_second(group, k):
    # 2503.19595: only the best response gets a reward, its lead over the second best
    if len(group) == 1:
        return [NOTHING]
    best = group[0]
    for i in group[1:]:
        if less(best.worth.value, i.worth.value):
            best = i
    second = None
    for i in group:
        if i is not best and (second is None or second.worth.value < i.worth.value):
            second = i
    return [best.worth - second.worth if i is best else NOTHING for i in group]


TRANSFORM = {"best_minus_second": best_minus_second, "pass_at_k": pass_at_k, "pkpo_maxrl": pkpo_maxrl, "pkpo_max": pkpo_max,
             "pkpo_gain": pkpo_gain, "pkpo_loo": pkpo_loo}


def transformed(choice, pool):
    """The items with their new values, in the order of the pool."""
    if choice["transform"] == "none":
        return pool.items
    worth = {}
    for group in pool.groups.values():
        worth.update(zip(group, TRANSFORM[choice["transform"]](group, choice["pass_k"])))
    return [Item(i.sequence, i.token, worth[i]) for i in pool.items]


def spread_of_passes(rate):
    """V of a success in k draws; None where there is no spread."""
    return rate * (1 - rate) if rate not in (ZERO, 1) else None
