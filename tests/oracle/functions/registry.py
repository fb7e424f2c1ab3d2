"""The decorators that register functions, their cases and their checks; and how to evaluate a function.

    @function(a=NUMBER)     def f(batch, x: NUMBER): ...   a function of the oracle and its answers; `batch` comes first if it reads one.
                                                           domains of answers and arguments are those of domains.py
    @cases("f")             def f_cases(case): ...         calls case(label, comment, batch, **arguments) for each
    @checks("f", "g")       def check_f(check): ...        calls check(what, is it so) for each; of one function or several
"""
import functools
import inspect
from fractions import Fraction
from typing import NamedTuple

from evaluate import pinned
from functions.arithmetic import Number, real
from limits import rounded_up


class Case(NamedTuple):
    label: str
    comment: str
    function: str
    arguments: dict
    batch: object  # None where the function reads none


FUNCTIONS = {}  # name: function
ANSWERS = {}  # name: {answer: its domain}
CASE_MAKERS = {}  # name: the function that makes its cases
CHECKS = {}  # check: names of the functions that it checks


def function(answers=None, **more):
    """Registers a function with {answer: domain}; answers: a dict, for names that are Python keywords."""
    def register(f):
        FUNCTIONS[f.__name__] = f
        ANSWERS[f.__name__] = {**(answers or {}), **more}
        return f
    return register


def cases(name):
    def register(make):
        CASE_MAKERS[name] = make
        return make
    return register


def checks(*names):
    def register(check):
        CHECKS[check] = names
        return check
    return register


@functools.lru_cache(maxsize=None)
def all_cases():
    """In the order of the functions."""
    made = []
    for name in FUNCTIONS:
        def case(label, comment, batch=None, **arguments):
            made.append(Case(f"{name}-{label}", comment, name, arguments, batch))
        CASE_MAKERS[name](case)
    return made


def reads_batch(name):
    return next(iter(inspect.signature(FUNCTIONS[name]).parameters)) == "batch"


def exact(x):
    if isinstance(x, list):
        return [exact(y) for y in x]
    return Fraction(x) if isinstance(x, (int, float)) and not isinstance(x, bool) else x


def exactly(name, batch=None, **arguments):
    """The exact answers: numbers with their sizes, flags and counts."""
    given = {key: exact(x) for key, x in arguments.items()}
    return FUNCTIONS[name](*([batch] if reads_batch(name) else []), **given)


def each(f, x):
    """f applied to every number in nested lists; flags and counts are unchanged."""
    if isinstance(x, Number):
        return f(x)
    return [each(f, y) for y in x] if isinstance(x, list) else x


def rounded(x):
    return float(x.value) if isinstance(x.value, Fraction) else pinned(*x)


def is_number(x):
    return isinstance(x, Number) or isinstance(x, list) and any(map(is_number, x))


def answers(name, arguments, batch=None):
    """(expect, scale) as plain floats; flags and counts have no scale."""
    results = exactly(name, batch, **arguments)
    scale = {key: each(lambda n: rounded_up(real(n.size)), x) for key, x in results.items() if is_number(x)}
    return {key: each(rounded, x) for key, x in results.items()}, scale
