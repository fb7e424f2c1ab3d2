"""BNPO (2506.02864): advantages divided by the density of a Beta distribution fitted to the success rates of the prompts."""

from axes.sized import all_same
from limits import ONE, ZERO, Undefined
from reals import exp, log, loggamma, mpf

LARGEST = mpf(10) ** 6


def success_rate(group):
    """p: the mean of the group's items; as in the official code, 0 for an item alone."""
    if any(not 0 <= i.worth.value <= 1 for i in group):
        raise Undefined("a reward outside of [0, 1]")
    return sum((i.worth.value for i in group), ZERO) / len(group) if len(group) > 1 else ZERO


def fitted(rates):
    """(alpha, beta): 1 + a/3 and 1 + b/3 with a, b from the method of moments, at least 1; None if all rates are equal."""
    n = len(rates)
    if n == 1:
        mu, v = ZERO, ONE
    elif all_same(rates):
        return None
    else:
        mu = sum(rates, ZERO) / n
        v = sum(((p - mu) ** 2 for p in rates), ZERO) / (n - 1)
    m = mu * (1 - mu) / v - 1
    return max(ONE, 1 + m * mu / 3), max(ONE, 1 + m * (1 - mu) / 3)


def density(p, alpha, beta):
    if p == 0 and alpha > 1 or p == 1 and beta > 1:
        return ZERO
    power = sum(((e - 1) * log(x) for x, e in ((p, alpha), (1 - p, beta)) if e != 1), ZERO)
    return exp(power + loggamma(alpha + beta) - loggamma(alpha) - loggamma(beta))


def beta_weight(group, groups):
    """min(1/f(p), 1e6) of a group, f the density fitted to all groups; None if it cannot be fitted."""
    parameters = fitted([success_rate(g) for g in groups])
    if parameters is None:
        return None
    f = density(success_rate(group), *parameters)
    return LARGEST if f * LARGEST < 1 else ONE / f
