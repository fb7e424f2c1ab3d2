"""Reweight: a factor of every a. Conditions on rewards are about those before the transform; c is the item's R - b."""

from axes.sized import Sized, mean, sign_of
from axes.transform import successes
from limits import ONE, ZERO, exp, settle
from reals import mpf


def no_gain(item, c, context):
    return ONE


def valid_groups(item, c, context):
    # GPG (2504.02546): alpha = B / (B - M), M responses in groups that give no gradient
    sequences = context.batch.sequences
    n = len(sequences)
    m = sum(1 for s in sequences if context.before.equal(s.group))
    return mpf(1) if n == m else mpf(n) / (n - m)


def nonzero_rewards(item, c, context):
    return mpf(len(context.batch.sequences)) / max(1, sum(1 for i in context.before.items if sign_of(i.worth) != 0))


def difficulty(item, c, context):
    # GRPO-LEAD (2504.09696): A w(rho) if A > 0, A w(1 - rho) else; w(x) = A + (B - A)/(1 + exp(k (x - x0)))
    group = context.raw_group(item)
    rho = mpf(successes(group)) / len(group)
    x = rho if c.settled() > 0 else 1 - rho
    low, high = context.number("difficulty_weight_low"), context.number("difficulty_weight_high")
    return low + (high - low) / (1 + exp(context.number("difficulty_slope") * (x - context.number("difficulty_midpoint"))))


def length_power(item, c, context):
    # Delta L (2509.07558), as its code: x_i = T_i^-alpha / mean_j T_j^-alpha over the batch
    p = context.number("length_power")
    powers = [mpf(len(s.unmasked)) ** -p for s in context.batch.sequences if s.unmasked]
    T = len(item.sequence.unmasked)
    return mpf(T) ** -p * len(powers) / sum(powers, ZERO) if T else ZERO


def regret_weighted(a, tau):
    # e^(a/tau) times a: Trinity-RFT's regret weights, REC's advantage weight (2509.24203)
    weight = exp(a.settled() / tau)
    return Sized(a.settled() * weight, a.size * weight * (1 + a.size / abs(tau)))


def failure_rate(item, context):
    """(1 - mu, size of mu), mu the position of the group's mean between the rewards of a wrong and of a right response."""
    m = mean([i.worth for i in context.raw_group(item)])
    low, high = context.number("focal_reward_low"), context.number("focal_reward_high")
    size = (m.size + abs(low)) / (high - low)
    return settle(ONE - min(max((m.value - low) / (high - low), ZERO), ONE), ONE + size), size


def failure_power(item, c, context):
    # F-GRPO (2602.06717): (1 - mu)^gamma; 0^0 is 1
    return failure_rate(item, context)[0] ** context.number("focal_gamma")


def stretched(a, item, context):
    """a, with the rounding error of the factor added to its size."""
    if context.choice["reweight"] != "focal":
        return a
    left, size = failure_rate(item, context)
    return Sized(a.value, a.size * (1 + context.number("focal_gamma") * size / left)) if 0 < left < 1 else a


REWEIGHT = {"none": no_gain, "valid_groups": valid_groups, "nonzero_rewards": nonzero_rewards, "difficulty": difficulty,
        "length_power": length_power, "focal": failure_power,
        "exponential": no_gain}  # the last factor depends on a and is applied in regret_weighted
