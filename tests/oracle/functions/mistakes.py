"""Known mistakes in the functions: each changes a number in at least two cases of its function."""
from functions.comparing import cases_of
from functions.registry import answers, checks, reads_batch
from record import MARGIN

MISTAKES = {}  # function: [(what is wrong, its wrong answers)]


def mistake(function):
    """The docstring says what is wrong. f(arguments), or f(arguments, batch), returns {answer: wrong value} of the answers that differ."""
    def register(f):
        if function not in MISTAKES:
            MISTAKES[function] = []
            checks(function)(check_of(function))
        MISTAKES[function].append((f.__doc__, f))
        return f
    return register


def right(function, given, batch=None, **changed):
    """The right answers for changed arguments."""
    return answers(function, {**given, **changed}, batch)[0]


def numbers(x):
    return [y for part in x for y in numbers(part)] if isinstance(x, list) else [x]


def tells(expect, scale, found):
    """Does some number differ by far more than any tolerance, or a flag or a count differ?"""
    def off(key):
        sizes = numbers(scale[key]) if key in scale else [0] * len(numbers(expect[key]))
        return any(not abs(x - y) <= MARGIN * s for x, y, s in zip(numbers(found[key]), numbers(expect[key]), sizes))
    return found is not None and any(off(key) for key in found if key in expect)


def check_of(function):
    def check_mistakes(check):
        told = dict.fromkeys((what for what, _ in MISTAKES[function]), 0)
        for _, arguments, batch in cases_of(function):
            given, expected = [arguments, batch][:1 + reads_batch(function)], answers(function, arguments, batch)
            for what, wrong in MISTAKES[function]:
                told[what] += tells(*expected, wrong(*given))
        for what, n in told.items():
            check(f"{function}: two cases tell: {what}", n >= 2)
    return check_mistakes
