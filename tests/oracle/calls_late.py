"""Functions beside the objective: schedules, rewards by role, distances of branches and weights of routed tokens; as in calls.py."""
from fractions import Fraction

import mpmath

from call_tools import NOTHING, Number, at, clamp, mean, real, rows, sample_variance
from limits import ZERO

TINY = Fraction(1, 10 ** 6)


# ---- APMPO (2605.04066): power and upper bound of a step, by the rewards of its batch

def power_clip(mean, deviation, gamma, low, high, delta):
    """p = e^(-gamma mu), eps = eps_min + (eps_max - eps_min) tanh(mu/(sigma + delta))"""
    power, reach = mpmath.exp(-real(gamma * mean)), real(mean / (deviation + delta))
    eps = real(low) + real(high - low) * mpmath.tanh(reach)
    size = real(low) + real(high - low) * mpmath.tanh(abs(reach))
    if eps <= -1:
        raise ValueError("no ratio is below 0")
    bound = mpmath.log(1 + eps)
    return {"power": Number(power, power * real(1 + abs(gamma * mean))), "eps": Number(eps, size),
            "log_high": Number(bound, max(abs(bound), size / (1 + eps)))}


# ---- MARS, official code: turns against those of the same role

def against_mean(own, r):
    return Number(r - mean(own), abs(r) + mean([abs(x) for x in own]))


def standardised(own, r):
    if len(set(own)) == 1:
        return NOTHING
    x, s = against_mean(own, r), mpmath.sqrt(real(sample_variance(own))) + real(TINY)
    return Number(real(x.value) / s, real(x.size) / s)


def clipped(own, r):
    x = standardised(own, r)
    bound = clamp(x.value, -1, 3)
    return x if bound == x.value else Number(real(Fraction(bound)), real(Fraction(abs(bound))))


BY_ROLE = {"mean": against_mean, "mean_std": standardised, "clipped": clipped}


def role_reward(reward, role, form):
    return {"advantage": [BY_ROLE[form]([x for x, other in zip(reward, role) if other == k], r) for r, k in zip(reward, role)]}


# ---- LATR, official code: how alike a branch and its parent are

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
    """The most last ids of a that stand somewhere in b as they are"""
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


def sequence_distance(a, b, form):
    x = ALIKE[form](a, b)
    return {"distance": Number(x, x)}


# ---- SRPO, sample routing (2604.02288)

def route_weight(batch, routed, beta):
    """Of tokens that go to distillation: less where the teacher is unsure, with mean 1"""
    H = {p: h for p, h in at(batch, "entropy").items() if routed[p[0]]}
    u = {p: mpmath.exp(-real(beta * h)) for p, h in H.items()}
    level = sum(u.values(), ZERO) / max(1, len(u))
    most = max((abs(h) for h in H.values()), default=Fraction(0))
    found = {p: Number(x / level, x / level * real(1 + beta * (abs(H[p]) + most))) for p, x in u.items()}
    return {"weight": rows(batch, found, NOTHING)}


ALONE = (power_clip, role_reward, sequence_distance)
ON_BATCHES = (route_weight,)
