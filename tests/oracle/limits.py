"""Numbers for the oracle: reals of 60 digits, and expressions in one K -> infinity.

A log-probability of -infinity stands for -K. Every number computed from it is a sum of terms c K^p e^(r K). Computing with these
terms makes infinite log-ratios cancel, and e^(-K) K vanish, without special cases.
"""
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache

import reals
from reals import mp, mpf

DIGITS = 60
mp.dps = DIGITS

ZERO = mpf(0)
ONE = mpf(1)

CANCELLED = mpf(10) ** -45
DEEP = 500  # digits with which only an exact 0 cancels completely; the largest number met is e^800


class Undefined(Exception):
    """The definition does not give this number a value (infinity minus infinity, e^K times e^-K), so no case may contain it."""


class Growth:
    """sum of c K^p e^(r K) over {(r, p): c}, all c non-zero, not a plain number."""

    __slots__ = ("terms",)

    def __init__(self, terms):
        self.terms = terms

    def __add__(self, other):
        if not isinstance(other, NUMBERS):
            return NotImplemented
        terms = dict(self.terms)
        for key, c in terms_of(other).items():
            terms[key] = terms.get(key, ZERO) + c
        return simplest(terms)

    __radd__ = __add__

    def __neg__(self):
        return Growth({key: -c for key, c in self.terms.items()})

    def __sub__(self, other):
        return self + -other if isinstance(other, NUMBERS) else NotImplemented

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        if not isinstance(other, NUMBERS):
            return NotImplemented
        terms = {}
        for (r, p), c in self.terms.items():
            for (s, q), e in terms_of(other).items():
                if r * s < 0:
                    raise Undefined("e^(rK) times e^(-sK)")
                key = (r + s, p + q)
                terms[key] = terms.get(key, ZERO) + c * e
        return simplest(terms)

    __rmul__ = __mul__

    def __truediv__(self, number):
        if isinstance(number, Growth):
            raise Undefined("infinity over infinity")
        return self * (ONE / number)

    def __rtruediv__(self, number):
        raise Undefined("division by an infinity")

    def __abs__(self):
        return self if sign(self) > 0 else -self


NUMBERS = (Growth, mpf, int)


def terms_of(x):
    return x.terms if isinstance(x, Growth) else ({(ZERO, 0): mpf(x)} if x != 0 else {})


def simplest(terms):
    terms = {key: c for key, c in terms.items() if c != 0}
    if not terms:
        return ZERO
    if set(terms) == {(ZERO, 0)}:
        return terms[(ZERO, 0)]
    return Growth(terms)


K = Growth({(ZERO, 1): ONE})


@lru_cache(maxsize=1 << 16)
def number(x):
    """A number of the JSON, exactly; a log-probability of -infinity becomes -K."""
    if x == "-Infinity":
        return -K
    return mpf(x)


@lru_cache(maxsize=1 << 12)
def bound(x):
    """A number of an objective. An infinity is a bound that is never reached."""
    return mpf({"Infinity": "inf", "-Infinity": "-inf"}.get(x, x))


def leading(x):
    return max(x.terms.items())


def sign(x):
    c = leading(x)[1] if isinstance(x, Growth) else x
    return (c > 0) - (c < 0)


def magnitude(x):
    """e with 2^(e - 1) <= |x| < 2^e of a finite number that is not 0, else None."""
    return reals.exponent(x) if type(x) is mpf else None


def far_above(x, y, bits):
    """Is |x| certainly above |y| / 2^bits? Decided from the exponents alone; False does not mean the opposite."""
    high, low = magnitude(x), magnitude(y)
    return high is not None and low is not None and high > low - bits


def limit(x):
    """The value for K -> infinity."""
    if not isinstance(x, Growth):
        return mpf(x)
    (r, p), c = leading(x)
    if r > 0 or (r == 0 and p > 0):
        return mpf("inf") if c > 0 else mpf("-inf")
    return finite_part(x)


def is_infinite(x):
    return bool(reals.isinf(limit(x)))


def of_one_sign(terms):
    """The terms of a loss; infinite ones of both signs have no sum."""
    if len({sign(x) for x in terms if isinstance(x, Growth) and is_infinite(x)}) > 1:
        raise Undefined("infinities of both signs in one sum")
    return terms


def finite_part(x):
    """The term without K."""
    return terms_of(x).get((ZERO, 0), ZERO)


# In comparisons of numbers closer than this, the rounding of a float port would decide; the vectors must not have any.
NEAR = mpf(10) ** -6
near_misses = []


def less(a, b):
    """a < b in the limit K -> infinity. Nearly equal values are recorded in near_misses: no vector may depend on such a comparison."""
    for x, y, way in ((a, b, -1), (b, a, 1)):
        if magnitude(y) is None and not isinstance(y, Growth) and reals.isinf(y):
            return sign(y) * way < 0
    difference = a - b
    if not isinstance(difference, Growth) and difference != 0 and not isinstance(a, Growth):
        if not (far_above(difference, a, 18) and far_above(difference, b, 18)) and abs(difference) < NEAR * max(abs(a), abs(b)):
            near_misses.append((a, b))
    return sign(difference if is_infinite(difference) else limit(difference)) < 0  # e^(-K) is 0 here


def equal(a, b):
    return sign(a - b) == 0


@lru_cache(maxsize=1 << 16)
def exp_of_number(x, bits):
    return reals.exp(x)


def exp(x):
    if not isinstance(x, Growth):
        return exp_of_number(x, mp.prec)
    (r, p), c = leading(x)
    if r > 0 or p > 1:
        if c > 0:
            raise Undefined("e^(e^K)")
        return ZERO  # e^(-e^K) times every number that occurs here tends to 0
    rate = x.terms.get((ZERO, 1), ZERO)
    value = reals.exp(x.terms.get((ZERO, 0), ZERO))
    return Growth({(rate, 0): value}) if rate else value


def antilog(x):
    """e^x of a number; an infinity where reals.py has no number so large"""
    return exp(x) if x < 2 ** 29 else mpf("inf")


def log(x):
    """Logarithm of a number above 0. Only the term that grows fastest matters."""
    if not isinstance(x, Growth):
        return reals.log(x)
    (r, p), c = leading(x)
    if p or c <= 0:
        raise Undefined("logarithm of a power of infinity, or of less than 0")
    return K * r + reals.log(c)


def grows(x):
    """Does it tend to infinity with K?"""
    return isinstance(x, Growth) and is_infinite(x)


def fastest(xs):
    """Of numbers of which at least one grows: the coefficient of each for the fastest growing term among them."""
    most = max(leading(x)[0] for x in xs if grows(x))
    return [terms_of(x).get(most, ZERO) for x in xs]


def over(x, m):
    """The limit of x/m for K -> infinity, where m grows."""
    top, divisor = fastest([x, m])
    return top / divisor


def sqrt(x):
    if isinstance(x, Growth):
        raise Undefined("spread of infinite values")
    return reals.sqrt(x)


class Doubts:
    """Whether a sum has cancelled in all digits but 15."""

    any = False


def settle(value, size):
    """The value, or 0 if it is so small beside `size`, the sum of the absolute values of its terms, that all digits but 15 have cancelled.
    `certain` repeats the computation with more digits to make sure that such a value is exactly 0."""
    if isinstance(value, Growth) or isinstance(size, Growth) or far_above(value, size, 100):
        return value
    if not abs(value) <= mpf(10) ** (15 - mp.dps) * size < mpf("inf"):
        return value
    Doubts.any = Doubts.any or value != 0
    return ZERO


def certain(answers):
    """answers(); if some sum cancelled, computed again with all digits that can matter."""
    Doubts.any = False
    found = answers()
    if Doubts.any:
        with reals.workdps(DEEP):
            found = answers()
    return found


TRUSTED = 170  # bits


def to_double(x):
    """Round once to the nearest binary64, ties to even, subnormals too."""
    x = limit(x)
    if reals.isinf(x):
        return float(x)
    if reals.isnan(x):
        raise Undefined("not a number")
    size = reals.exponent(x)
    if size is None or size < -1080:
        return 0.0
    if size > 1030:
        return float("-inf") if x < 0 else float("inf")
    x = reals.narrowed(x, TRUSTED)  # a number that is halfway up to rounding at 60 digits is halfway
    if -1000 < size < 1000:
        return float(x)
    mantissa, exponent = reals.parts(x)
    exact = Fraction(mantissa) * Fraction(2) ** exponent
    try:
        return float(exact)
    except OverflowError:
        return float("-inf") if x < 0 else float("inf")


LARGEST = float.fromhex("0x1.fffffffffffffp1023")


def rounded_up(x):
    """A scale: the smallest number of three decimal digits whose binary64 is not below x; 0 and infinities are unchanged."""
    nearest = to_double(x)
    if nearest in (0.0, float("inf")):
        return nearest
    short = Context(prec=3, rounding=ROUND_FLOOR).create_decimal(Decimal(nearest))
    least = limit(x) * (1 - CANCELLED)  # a number that is above only by rounding at 60 digits is not above
    while mpf(float(short)) < least:
        short += Decimal((0, (1,), short.adjusted() - 2))
    return min(float(short), LARGEST)


def plain_number(x):
    """Shortest text that reads back as the same binary64."""
    if x != x or x in (float("inf"), float("-inf")):
        return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}[str(x)]
    return int(x) if x == int(x) and abs(x) < 2 ** 53 else x


def tidy(x):
    if isinstance(x, dict):
        return {key: tidy(v) for key, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [tidy(v) for v in x]
    return plain_number(x) if isinstance(x, float) else x
