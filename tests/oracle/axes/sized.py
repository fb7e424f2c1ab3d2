"""A number with its size: the sum of the absolute values of its terms, which becomes its `scale`."""

import limits
from limits import ZERO, equal, settle
from reals import mpf

# Whether two numbers closer than this are equal depends on the rounding of a program. Given rewards differ by at least 2^-24 of
# themselves.
HAIR = mpf(10) ** -9


class Sized:
    __slots__ = ("value", "size")

    def __init__(self, value, size=None):
        self.value = value
        self.size = abs(value) if size is None else size

    def __add__(self, other):
        return Sized(self.value + other.value, self.size + other.size)

    def __sub__(self, other):
        return Sized(self.value - other.value, self.size + other.size)

    def times(self, factor):
        return Sized(self.value * factor, self.size * abs(factor))

    def settled(self):
        return settle(self.value, self.size)


NOTHING = Sized(ZERO)


def total(sizeds):
    result = NOTHING
    for x in sizeds:
        result = result + x
    return result


def mean(sizeds):
    return total(sizeds).times(mpf(1) / len(sizeds))


def largest_size(sizeds):
    return max(x.size for x in sizeds)


# ---- comparisons: nearly equal numbers are recorded as in limits.less

def a_hair_apart(a, b):
    difference = a - b
    return not isinstance(difference, limits.Growth) and abs(difference) < HAIR * max(abs(a), abs(b))


def all_same(values):
    """Are all numbers equal? Recorded as a near miss if some differ, but none by a clear margin."""
    others = [v for v in values if v != v or not equal(v, values[0])]  # NaN does not equal itself
    if others and all(a_hair_apart(v, values[0]) for v in others):
        limits.near_misses.append((values[0], others[0]))
    return not others


def sign_of(sized):
    """The sign of a sum: 0 where the terms cancel."""
    value = sized.settled()
    if 0 != abs(sized.value) < limits.NEAR * sized.size:
        limits.near_misses.append((sized.value, ZERO))
    return limits.sign(value)
