"""Excluded responses: they are not in the mean and deviation of their group, and get an advantage by another rule."""

from axes.sized import NOTHING, Sized
from limits import ZERO, less
from reals import mpf


def zero(choice, item, others, compared):
    # RED-Drop (2509.24203): left out
    return NOTHING


def anchor(choice, item, others, compared):
    # TempSamp-R1 (2509.18056) form (b): lambda times the largest advantage of the responses that the policy sampled
    if not others:
        return NOTHING
    top = others[0]
    for a in others[1:]:
        top = a if less(top.value, a.value) else top
    coef = mpf(choice["excluded_coef"])
    return Sized(coef * top.settled(), abs(coef) * max((a.size for a in others), default=ZERO))


def own(choice, item, others, compared):
    return compared(item) if others else NOTHING


EXCLUDED = {"zero": zero, "anchor": anchor, "own": own}
