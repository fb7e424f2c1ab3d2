"""Numbers with their sizes, and access to the mask tokens of a batch."""
from fractions import Fraction
from typing import NamedTuple

import limits
import reals
from limits import ZERO
from reals import mpf


class Number(NamedTuple):
    value: object
    size: object


NOTHING = Number(ZERO, ZERO)
NEAR = Fraction(1, 10 ** 6)  # as in limits
HALF = Fraction(1, 2)
SMALL = Fraction(1, 10 ** 8)
BANNED = "-Infinity"  # a logit


def less(a, b):
    """a < b, of rationals; nearly equal values are recorded in limits.near_misses."""
    if a != b and abs(a - b) < NEAR * max(abs(a), abs(b)):
        limits.near_misses.append((a, b))
    return a < b


def clamp(x, low, high):
    return min(max(x, low), high)


def mean(xs):
    return sum(xs) / Fraction(len(xs))


def sample_variance(xs):
    return sum((x - mean(xs)) ** 2 for x in xs) / (len(xs) - 1) if len(xs) > 1 else Fraction(0)


def own_size(x):
    return Number(x, abs(x))


def itself(xs):
    return [own_size(x) for x in xs]


def summed(terms):
    return Number(sum(terms), sum(abs(x) for x in terms))


def real(x):
    return mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else x


# ---- the batch

def slots(batch):
    return [(i, t) for i, T in enumerate(batch["length"]) for t in range(T)]


def places(batch):
    """(sequence, token) of the mask tokens, in order."""
    return [(i, t) for i, t in slots(batch) if "mask" not in batch or batch["mask"][i][t]]


def read(batch, array):
    """{place: x} of the mask tokens; masked tokens are not read."""
    return {(i, t): Fraction(array[i][t]) for i, t in places(batch)}


def at(batch, name):
    return read(batch, batch[name])


def rows(batch, found, nothing):
    return [[found.get((i, t), nothing) for t in range(T)] for i, T in enumerate(batch["length"])]


def by_group(batch):
    """The sequences of each group."""
    return [[i for i, g in enumerate(batch["group"]) if g == group] for group in range(batch["group"][-1] + 1)]


def ascending(x):
    """Places in ascending order of their numbers, the earlier first where these are equal."""
    order = sorted(x, key=lambda place: (x[place], place))
    for a, b in zip(order, order[1:]):
        less(x[a], x[b])
    return order


def means(batch, *names):
    """{response: mean over its mask tokens of the first array, minus that of the second}, and of the absolute values."""
    arrays = [at(batch, name) for name in names]
    apart = {p: x - (arrays[1][p] if len(arrays) > 1 else 0) for p, x in arrays[0].items()}
    found = {}
    for i in range(len(batch["length"])):
        own = [x for (j, _), x in apart.items() if i == j]
        if own:
            found[i] = Number(mean(own), mean([abs(x) for x in own]))
    return found


def ranks(x):
    """0 for the least; the lower index first where they are equal."""
    order = sorted(range(len(x)), key=lambda i: (x[i], i))
    for i, j in zip(order, order[1:]):
        less(x[i], x[j])
    return [order.index(i) for i in range(len(x))]


def per_group(batch, f):
    """The answers of f(responses of a group), as a list over all responses."""
    found = {}
    for group in by_group(batch):
        found.update(zip(group, f(group)))
    return [found[i] for i in range(len(batch["length"]))]


def rewards_of(batch):
    return [Fraction(r) for r in batch["reward"]]


def shares(score, temperature):
    """Softmax, and the rounding error of its exponents."""
    e = [reals.exp(real((x - max(score)) / temperature)) for x in score]
    return [x / sum(e) for x in e], real(1 + (max(score) - min(score)) / temperature)


def mean_of(numbers):
    return Number(mean([n.value for n in numbers]), mean([n.size for n in numbers])) if numbers else Number(Fraction(0), Fraction(0))


def falling(x):
    """Indices in descending order of the numbers, of equal ones the lower first; nearly equal neighbours are recorded."""
    order = sorted(range(len(x)), key=lambda i: (-x[i], i))
    for i, j in zip(order, order[1:]):
        less(x[j], x[i])
    return order


def variance(xs):
    return mean([(x - mean(xs)) ** 2 for x in xs])


def exp(x):
    return reals.exp(real(x))


def sigmoid(x):
    return 1 / (1 + exp(-x))


def absolute(xs):
    return [abs(x) for x in xs]


def softmax(z, tau):
    """Probabilities of logits, 0 of banned ones, and the spread of the exponents."""
    finite = [x / tau for x in z if x != BANNED]
    e = [ZERO if x == BANNED else exp(x / tau - max(finite)) for x in z]
    return [x / sum(e) for x in e], max(finite) - min(finite)


def own_tokens(batch):
    """The mask tokens of each response."""
    found = [[] for _ in batch["length"]]
    for i, t in places(batch):
        found[i].append((i, t))
    return found


def lengths_of(batch):
    """Mask tokens of every response."""
    return [sum(i == j for j, _ in places(batch)) for i in range(len(batch["length"]))]


def population_deviation(xs):
    return reals.sqrt(real(variance(xs)))
