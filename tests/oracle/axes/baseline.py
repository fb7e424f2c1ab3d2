"""Baseline: b of one item, from the items of its group."""
import math

from axes.pool import samples
from axes.sized import NOTHING, Sized, all_same, largest_size, mean, total
from limits import exp, less
from reals import floor, log, mpf


def no_baseline(item, group, context):
    return NOTHING


def group_mean(item, group, context):
    return mean([i.worth for i in samples(group)])


def leave_one_out(item, group, context):
    # RLOO (2402.14740): mean of the others
    return mean([i.worth for i in group if i is not item])


def length_weighted(item, group, context):
    # OPO (2505.23585): b = sum T_j R_j / sum T_j
    tokens = sum(len(i.sequence.unmasked) for i in group)
    if tokens == 0:
        return NOTHING
    return total(i.worth.times(mpf(len(i.sequence.unmasked))) for i in group).times(mpf(1) / tokens)


def given(item, group, context):
    # ReMax (2310.10505): reward of the greedy response
    return Sized(context.batch.baseline[item.sequence.group])


def batch_mean(item, group, context):
    return mean([i.worth for i in context.pool.items])


# ---- order statistics

def ordered(group):
    return sorted(i.worth.value for i in group)


def of_group(value, group):
    """A number computed from the group's rewards, not above the largest of them; its size is the largest of theirs."""
    return Sized(value, largest_size([i.worth for i in group]))


def quantile(item, group, context):
    # QAE (2509.22611) section 4.1, above eq. 3: b = inf{x : F(x) >= K}, F(x) = #{R_j <= x}/G
    xs, q = ordered(group), float(context.choice["quantile"])
    reached = [x for j, x in enumerate(xs, 1) if j / len(xs) >= q]  # of equal rewards the last one has the full count
    return of_group(reached[0], group)


def quantile_linear(item, group, context):
    # as QAE's code: interpolated between the order statistics on both sides of K (G - 1)
    xs = ordered(group)
    h = context.number("quantile") * (len(xs) - 1)
    below = int(floor(h))
    above = min(below + 1, len(xs) - 1)
    return of_group(xs[below] + (h - below) * (xs[above] - xs[below]), group)


def median(xs):
    n = len(xs)
    return xs[n // 2] if n % 2 else (xs[n // 2 - 1] + xs[n // 2]) / 2


def densest(item, group, context):
    # GAPO (2510.21830): the median of the narrowest window that contains a fraction of the rewards
    xs = ordered(group)
    h = min(len(xs), max(1, math.ceil(float(context.choice["hdi_mass"]) * len(xs))))
    windows = [xs[j:j + h] for j in range(len(xs) - h + 1)]
    best = windows[0]
    for w in windows[1:]:
        if less(w[-1] - w[0], best[-1] - best[0]):
            best = w
    return of_group(median(best), group)


# ---- other means

def log_mean_exp(item, group, context):
    # Kimi k1.5 (2501.12599) section 2.3.2: tau log Z ~ tau log (1/k) sum_j exp(r_j / tau)
    values, tau, n = [i.worth.value for i in group], context.number("temperature"), len(group)
    size = largest_size([i.worth for i in group]) + tau * log(n)
    if all_same(values):
        return Sized(values[0], size)
    return Sized(tau * log(sum(exp(x / tau) for x in values) / n), size)


def filtered(item, group, context):
    """KRPO (2505.07527): (x, P) of a scalar Kalman filter over the group's rewards, just after the item's."""
    q, r = context.number("process_noise"), context.number("observation_noise")
    x, p = mpf(0), mpf(1)
    for i in group:
        p = p + q
        gain = p / (p + r)
        x, p = x + gain * (i.worth.value - x), (1 - gain) * p
        if i is item:
            return x, p


def kalman(item, group, context):
    return of_group(filtered(item, group, context)[0], group)


BASELINE = {"none": no_baseline, "group_mean": group_mean, "leave_one_out": leave_one_out,
            "length_weighted": length_weighted, "external": given, "batch_mean": batch_mean, "quantile": quantile,
            "quantile_linear": quantile_linear, "log_mean_exp": log_mean_exp, "hdi_median": densest, "kalman": kalman}
# the baselines to which `singleton` applies
OWN_GROUP = ("group_mean", "leave_one_out", "length_weighted", "quantile", "quantile_linear", "log_mean_exp", "hdi_median")
