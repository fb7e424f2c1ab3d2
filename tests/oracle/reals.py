"""Real numbers of as many digits as are asked for, rounded to nearest: those of gmpy2 (MPFR), under the names that mpmath has for them.

Ten times as fast as mpmath's own, and large enough: up to 2^(2^30). mpmath has the few functions that gmpy2 lacks."""
from contextlib import contextmanager

import gmpy2
import mpmath
from gmpy2 import asin, atan, cos, exp, expm1, floor, log1p, rint, sin, sqrt, tanh  # noqa: F401
from gmpy2 import const_pi as pi, is_infinite as isinf, is_nan as isnan, lngamma as loggamma, mpfr as mpf  # noqa: F401


class Precision:
    """Of all numbers made from now on; dps: decimal digits, prec: bits."""

    @property
    def dps(self):
        return self.digits

    @dps.setter
    def dps(self, digits):
        self.digits, self.prec = digits, mpmath.libmp.dps_to_prec(digits)
        mpmath.mp.prec = gmpy2.get_context().precision = self.prec


mp = Precision()
mp.dps = 60
gmpy2.get_context().trap_divzero = True  # x / 0 is an error, as in Python
gmpy2.get_context().trap_overflow = True  # so is a number of 2^(2^30) and more

inf = mpf("inf")


@contextmanager
def workdps(digits):
    before = mp.dps
    mp.dps = digits
    try:
        yield
    finally:
        mp.dps = before


def log(x, base=None):
    if x == 0:
        return -inf
    return gmpy2.log2(x) if base == 2 else gmpy2.log(x)


def power(x, y):
    return mpf(x) ** y


def to_mpmath(x):
    mantissa, exponent = mpf(x).as_mantissa_exp()
    return mpmath.mpf((int(mantissa), int(exponent)))


def from_mpmath(x):
    negative, mantissa, exponent, _ = x._mpf_
    return mpf(-mantissa if negative else mantissa) * mpf(2) ** exponent


def sinpi(x):
    return from_mpmath(mpmath.sinpi(to_mpmath(x)))


def cospi(x):
    return from_mpmath(mpmath.cospi(to_mpmath(x)))


def eigenvalues(rows):
    """Of a symmetric matrix."""
    found = mpmath.eigsy(mpmath.matrix([[to_mpmath(x) for x in row] for row in rows]), eigvals_only=True)
    return [from_mpmath(x) for x in found]


def exponent(x):
    """e with 2^(e - 1) <= |x| < 2^e of a finite number that is not 0, else None."""
    return gmpy2.get_exp(x) if gmpy2.is_regular(x) else None


def narrowed(x, bits):
    """To nearest, ties to even, in so many bits, whatever the exponent."""
    return mpf(mpf(x, bits), mp.prec)


def parts(x):
    """(integer, exponent): integer times 2^exponent."""
    mantissa, exponent = x.as_mantissa_exp()
    return int(mantissa), int(exponent)
