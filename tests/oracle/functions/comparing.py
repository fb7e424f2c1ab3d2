"""Functions that several checks use."""
import math
from fractions import Fraction

import reals
from functions.arithmetic import real, slots
from functions.registry import all_cases, answers, exactly
from reals import mpf

TINY = mpf(10) ** -45


def ask(function, batch=None, **arguments):
    return answers(function, arguments, batch)[0]


def cases_of(function):
    return [(case.label, case.arguments, case.batch) for case in all_cases() if case.function == function]


def every(function):
    """(label, arguments, batch, answers) of the cases."""
    return [(label, given, batch, exactly(function, batch, **given)) for label, given, batch in cases_of(function)]


def chosen(batch, rows):
    return [place for place in slots(batch) if rows[place[0]][place[1]]]


def selected(function, batch, **arguments):
    return set(chosen(batch, ask(function, batch, **arguments)["selected"]))


def near(x, y):
    return abs(real(x) - real(y)) < TINY


def rational(x):
    """An mpf as an exact fraction."""
    mantissa, exponent = reals.parts(x)
    return Fraction(mantissa) * Fraction(2) ** exponent


def values(numbers):
    return [n.value for n in numbers]


def fraction(xs):
    return [Fraction(x) for x in xs]


def thrown(dice, n, low=-1, high=1, parts=8):
    return [dice.fraction(low, high, parts) for _ in range(n)]


def entry(rows, place):
    return rows[place[0]][place[1]]


def logistic(x):
    return 1 / (1 + math.exp(-x))


def close(x, y):
    x, y = float(real(x)), float(real(y))
    return abs(x - y) <= 1e-12 * max(1, abs(y))


def replaced(x, old, new):
    return [replaced(y, old, new) for y in x] if isinstance(x, list) else new if x == old else x
