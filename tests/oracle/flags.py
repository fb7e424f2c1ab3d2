"""The flags of a case: what its input has. Each is computed from the case, never written by hand."""
from itertools import groupby

from attempt import narrow
from scenarios import MINUS_INF, NAN

POLICIES = ("logp", "logp_old", "logp_rollout", "logp_ref", "logp_teacher")
UNLIKELY = -20  # a log-probability below is extreme
LARGE = 1000  # a logit beyond is extreme
NEAR = 0.01  # of log-ratios near 0
OFFSET = 100000  # rewards so many times as large as the differences within their group
LONG = 1000  # tokens

FLAGS = {}  # name: (what the case has, test of the case); in this order in a case


def flag(name, meaning):
    def register(test):
        FLAGS[name] = meaning, test
        return test
    return register


def flags_of(case):
    return [name for name, (_, test) in FLAGS.items() if test(case)]


# ---- what the tests read

def batch(case):
    return case.get("batch", {})


def lengths(case):
    return batch(case).get("length") or [len(row) for row in case.get("target", ())]


def group_sizes(case):
    return [len(list(same)) for _, same in groupby(batch(case).get("group", ()))]


def rewards_of_groups(case):
    members = zip(batch(case).get("group", ()), batch(case).get("reward", ()))
    return [[reward for _, reward in same] for _, same in groupby(members, lambda member: member[0])]


def masks(case):
    return batch(case).get("mask") or [[True] * T for T in lengths(case)]


def counting(case, rows):
    """The entries of unmasked tokens."""
    return [x for row, mask in zip(rows or (), masks(case)) for x, counts in zip(row, mask) if counts]


def leaves(x):
    if isinstance(x, dict):
        return leaves(list(x.values()))
    return [z for y in x for z in leaves(y)] if isinstance(x, list) else [x]


def finite(numbers):
    return [x for x in numbers if not isinstance(x, str)]


def logits(case):
    return leaves(counting(case, case.get("logits")))


def log_ratios(case):
    """log(policy / old policy) of the unmasked tokens; None where there is an infinity, or no old policy."""
    pairs = list(zip(counting(case, batch(case).get("logp")), counting(case, batch(case).get("logp_old"))))
    return [now - old for now, old in pairs] if all(finite(pair) == list(pair) for pair in pairs) else None


def clip_fraction(case, side):
    return case["expect"].get("report", {}).get("clip_fraction_" + side, 0)


# ---- the flags

@flag("UnequalLengths", "responses of unequal length")
def unequal_lengths(case):
    return len(set(lengths(case))) > 1


@flag("OneToken", "a response of one token")
def one_token(case):
    return 1 in lengths(case)


@flag("OnPolicy", "every token has the same probability under the policy and the old policy")
def on_policy(case):
    x = log_ratios(case)
    return bool(x) and not any(x)


@flag("NearOnPolicy", "log-ratios to the old policy below 0.01, not all 0")
def near_on_policy(case):
    x = log_ratios(case)
    return bool(x) and any(x) and max(map(abs, x)) < NEAR


@flag("Extreme", "a probability below e^-20, but not 0; or a logit beyond 1000")
def extreme(case):
    return (any(x < UNLIKELY for policy in POLICIES for x in finite(counting(case, batch(case).get(policy))))
            or any(abs(x) > LARGE for x in finite(logits(case))))


@flag("AllClippedHigh", "every token is clipped above")
def all_clipped_high(case):
    return clip_fraction(case, "high") == 1


@flag("AllClippedLow", "every token is clipped below")
def all_clipped_low(case):
    return clip_fraction(case, "low") == 1


@flag("AdvantageSigns", "given advantages above, below and equal to 0")
def advantage_signs(case):
    signs = {(x > 0) - (x < 0) for x in finite(counting(case, batch(case).get("advantage")))}
    return len(signs) == 3


@flag("EqualRewards", "a group of several responses with equal rewards")
def equal_rewards(case):
    return any(len(rewards) > 1 and len(set(rewards)) == 1 for rewards in rewards_of_groups(case))


@flag("OffsetRewards", "rewards 100 000 times as large as the differences in their group")
def offset_rewards(case):
    return any(0 < OFFSET * (max(rewards) - min(rewards)) < max(map(abs, rewards)) for rewards in rewards_of_groups(case))


@flag("Singleton", "a group of one response")
def singleton(case):
    return 1 in group_sizes(case)


@flag("UnevenGroups", "groups of unequal size")
def uneven_groups(case):
    return len(set(group_sizes(case))) > 1


@flag("FullyMasked", "a response of which all tokens are masked")
def fully_masked(case):
    return any(mask and not any(mask) for mask in masks(case))


@flag("MaskHoles", "a response of which some tokens are masked")
def mask_holes(case):
    return any(any(mask) and not all(mask) for mask in masks(case))


@flag("NaNMasked", "NaN at a masked token")
def nan_masked(case):
    return NAN in leaves([case.get(key, []) for key in ("batch", "arguments", "logits", "hidden")])


@flag("NegInf", "a probability of 0 at a token that is not masked, or a logit of -infinity")
def neg_inf(case):
    return (any(MINUS_INF in counting(case, batch(case).get(policy)) for policy in POLICIES) or MINUS_INF in logits(case)
            or MINUS_INF in leaves(case.get("arguments", {})))


@flag("Long", "a response of a thousand tokens or more")
def long(case):
    return max(lengths(case), default=0) >= LONG


@flag("Truncated", "a truncated response")
def truncated(case):
    return any(batch(case).get("truncated", ()))


@flag("Rollout", "log-probabilities of the sampler (`logp_rollout`)")
def rollout(case):
    return "logp_rollout" in batch(case)


@flag("Reference", "log-probabilities of the reference (`logp_ref`)")
def reference(case):
    return "logp_ref" in batch(case)


@flag("GivenAdvantage", "advantages are given (`advantage`)")
def given_advantage(case):
    return "advantage" in batch(case)


@flag("Square", "as many responses as the longest has tokens: a broadcast along the wrong axis fits")
def square(case):
    return len(lengths(case)) == max(lengths(case), default=0) > 1


@flag("BFloat16", "logits, or hidden states and weights, are bfloat16 numbers")
def bfloat16(case):
    numbers = finite(leaves([case.get(key, []) for key in ("logits", "hidden", "weight")]))
    return bool(numbers) and all(narrow("bf16", x) == x for x in numbers)
