"""Reverse-mode differentiation over the numbers of limits.py, with an explicit stop-gradient.

Only the log-probabilities of the trained policy are variables. Anything that is not a Var is a constant.
"""
from functools import reduce
from itertools import count

import limits
import reals
from limits import ONE, ZERO, less

_order = count()


class Var:
    __slots__ = ("value", "parents", "order", "size", "antilog")

    def __init__(self, value, parents=(), size=None, antilog=None):
        self.value = value
        self.parents = parents  # [(Var, d self / d parent)], with the size of the derivative as a third element where it is a sum
        self.order = next(_order)
        self.size = size  # the sum of the absolute values of its terms; None: abs(value)
        self.antilog = antilog  # e^value, where it is known exactly: this is its logarithm

    def __add__(self, other):
        if isinstance(other, Var):
            return Var(self.value + other.value, [(self, ONE), (other, ONE)])
        return Var(self.value + other, [(self, ONE)])

    __radd__ = __add__

    def __sub__(self, other):
        if isinstance(other, Var):
            return Var(self.value - other.value, [(self, ONE), (other, -ONE)])
        return Var(self.value - other, [(self, ONE)])

    def __rsub__(self, other):
        return Var(other - self.value, [(self, -ONE)])

    def __neg__(self):
        return linear([(self, -ONE)])

    def __mul__(self, other):
        if not isinstance(other, Var):
            return Var(self.value * other, [(self, other)], None if self.size is None else self.size * abs(other))
        return Var(self.value * other.value, [(self, other.value), (other, self.value)])

    __rmul__ = __mul__

    def __truediv__(self, constant):
        return Var(self.value / constant, [(self, ONE / constant)])


def value(x):
    return x.value if isinstance(x, Var) else x


def size(x):
    """The sum of the absolute values of the terms of x (scale.md)."""
    return x.size if isinstance(x, Var) and x.size is not None else abs(value(x))


def added(x, y):
    """x + y, with the sum of both sizes as its size (x + y with the operator has the size abs(x + y))."""
    parents = [(z, ONE) for z in (x, y) if isinstance(z, Var)]
    return Var(value(x) + value(y), parents, size(x) + size(y))


def linear(pairs):
    """sum of coefficient * x over (x, coefficient). A single product keeps the size of x, times abs(coefficient)."""
    total = ZERO
    for x, c in pairs:
        part = value(x) if c is ONE else value(x) * c
        total = part if total is ZERO else total + part
    parents = [(x, c) for x, c in pairs if isinstance(x, Var)]
    kept = parents[0][0].size if len(pairs) == len(parents) == 1 else None
    return Var(total, parents, None if kept is None else kept * abs(parents[0][1])) if parents else total


def unary(f, derivative, x):
    if not isinstance(x, Var):
        return f(x)
    return Var(f(x.value), [(x, derivative(x.value))])


def exp(x):
    if isinstance(x, Var) and x.antilog is not None:
        return x.antilog
    return unary(limits.exp, limits.exp, x)


def log_mean_exp(xs):
    """log((1/n) sum e^x), derivative e^x / sum e^x. Its size: the sum of size(x) e^x / sum e^x, at least its absolute value."""
    mean = linear([(exp(x), ONE) for x in xs]) / len(xs)
    y = limits.log(value(mean))
    top = y + limits.log(limits.mpf(len(xs)))
    shares = [limits.exp(value(x) - top) for x in xs]
    spread = sum((share * size(x) for share, x in zip(shares, xs)), ZERO)
    return Var(y, [(x, share) for x, share in zip(xs, shares) if isinstance(x, Var)], larger(abs(y), spread), mean)


def larger(x, y):
    return y if limits.sign(y - x) > 0 else x


def sized(x, size):
    """x with this size."""
    return Var(value(x), x.parents if isinstance(x, Var) else (), size)


def half_square(x):
    return unary(lambda v: v * v / 2, lambda v: v, x)


def square(x):
    """x^2, with the sizes of a sum x: size(x)^2, and 2 size(x) of the derivative."""
    v, s = value(x), size(x)
    return Var(v * v, [(x, v * 2, s * 2)] if isinstance(x, Var) else [], s * s)


def absolute(x):
    """|x|, derivative 0 at 0."""
    return unary(abs, lambda v: limits.mpf(limits.sign(v)), x)


def exp_minus_one_minus(x):
    """e^x - x - 1, as one function: its derivative e^x - 1 is one number, not a sum of two."""
    return unary(lambda v: limits.exp(v) - v - 1, lambda v: limits.exp(v) - 1, x)


def _sigmoid(v):
    v = limits.limit(v)
    return ONE / (1 + reals.exp(-v))


def _sigmoid_slope(v):
    # p (1 - p) written without the difference, which cancels for large v
    v = abs(limits.limit(v))
    if reals.isinf(v):
        return ZERO
    e = reals.exp(-v)
    return e / (1 + e) ** 2


def sigmoid(x):
    return unary(_sigmoid, _sigmoid_slope, x)


def summed(xs):
    """The sum of all, with the sum of their sizes as its size."""
    return reduce(added, xs)


def largest_place(values):
    return reduce(lambda i, j: j if limits.sign(values[j] - values[i]) > 0 else i, range(len(values)))


def log_sum_exp(xs):
    """log sum_j e^(x_j), accurate also where one term dominates; its derivatives are the softmax."""
    values = [value(x) for x in xs]
    top = largest_place(values)
    shares = [limits.exp(v - values[top]) for v in values]
    rest = limits.limit(sum((s for j, s in enumerate(shares) if j != top), ZERO))
    parents = [(x, s / (1 + rest)) for x, s in zip(xs, shares) if isinstance(x, Var)]
    return Var(values[top] + reals.log1p(rest), parents)


def softplus(x):
    """log(1 + e^x)"""
    return log_sum_exp([ZERO, x])


def nonlinear(formula, ys, stretch, apart=None, plus=None):
    """formula(ys), with sizes that include the rounding errors of the ys (scale.md, functions of a group).

    The size of the value is its absolute value (or `plus`) plus the sum of abs(derivative) size(y); an infinite y adds nothing. The size
    of a derivative is the sum of the absolute values of its summands, times 1 + stretch, where stretch is the factor by which exponentials
    in the formula amplify an error of y. `apart` is the same formula, written so that its derivative has the summands that count."""
    leaves = [Var(value(y)) for y in ys]
    x = formula(leaves)
    slope = gradient([(x, ONE)])
    pieces = gradient([((apart or formula)(leaves), ONE)], sizes=True)
    parents = [(y, slope.get(leaf, ZERO), pieces.get(leaf, ZERO) * (1 + stretch)) for y, leaf in zip(ys, leaves)
               if isinstance(y, Var)]
    moved = (abs(slope.get(leaf, ZERO)) * size(y) for y, leaf in zip(ys, leaves) if not limits.is_infinite(leaf.value))
    return Var(x.value, parents, (abs(x.value) if plus is None else plus) + sum(moved, ZERO))


def minimum(x, y):
    """The smaller; x when equal."""
    return y if less(value(y), value(x)) else x


def maximum(x, y):
    """The larger; x when equal."""
    return y if less(value(x), value(y)) else x


def clamp(x, low, high):
    """Bounds are included: at exactly a bound the derivative passes."""
    return minimum(maximum(x, low), high)


_record = None
_replay = None


def sg(x):
    """Stop-gradient. In a replay it returns the value of the recorded run, so that finite differences do not change it."""
    if _replay is not None:
        return next(_replay)
    if _record is not None:
        _record.append(value(x))
    return value(x)


def recording(run):
    """(result of run(), the values of its stop-gradients)"""
    global _record
    _record = []
    try:
        result = run()
        return result, _record
    finally:
        _record = None


def replaying(run, seen):
    global _replay
    _replay = iter(seen)
    try:
        return run()
    finally:
        _replay = None


def gradient(seeds, sizes=False):
    """{Var: sum over (root, weight) of weight * d root / d Var}.

    With sizes: the sum of the absolute values over all paths from the roots, which is the size of the derivative.
    """
    adjoint = {}
    stack = []
    for root, weight in seeds:
        if isinstance(root, Var):
            flow = abs(weight) if sizes else weight
            adjoint[root] = adjoint[root] + flow if root in adjoint else flow
            stack.append(root)
    for node in reached(stack):
        flow = adjoint.get(node, ZERO)
        for parent, slope, *larger in node.parents:
            if sizes:
                slope = larger[0] if larger and larger[0] is not None else abs(slope)
            part = flow if slope is ONE else flow * slope
            adjoint[parent] = adjoint[parent] + part if parent in adjoint else part
    return adjoint


def reached(roots):
    """The roots and all their ancestors, the most recent first."""
    found, stack = {}, list(roots)
    while stack:
        node = stack.pop()
        if node.order not in found:
            found[node.order] = node
            stack.extend(parent for parent, *_ in node.parents)
    return [found[order] for order in sorted(found, reverse=True)]
