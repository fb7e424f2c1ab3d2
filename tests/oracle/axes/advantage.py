"""Advantage: better than what?

Items (responses, or steps of process supervision) get a baseline and a scale, then are credited to tokens.
Every quantity is a Sized: its value, and the sum of the absolute values that went into it.
"""
from mpmath import mpf

from axes import reward as reward_axis
from limits import ZERO, equal, settle, sqrt


class Sized:
    __slots__ = ("value", "size")

    def __init__(self, value, size=None):
        self.value = value
        self.size = abs(value) if size is None else size

    def __add__(self, other):
        return Sized(self.value + other.value, self.size + other.size)

    def __sub__(self, other):
        return Sized(self.value - other.value, self.size + other.size)

    def times(self, factor):
        return Sized(self.value * factor, self.size * abs(factor))


NOTHING = Sized(ZERO)


class Item:
    """A response, or a step: `sequence` it belongs to, the token (or None) where a step ends, its value R."""

    def __init__(self, sequence, token, worth):
        self.sequence, self.token, self.worth = sequence, token, worth


def total(sizeds):
    result = NOTHING
    for x in sizeds:
        result = result + x
    return result


def mean(sizeds):
    return total(sizeds).times(mpf(1) / len(sizeds))


# ---- items

def responses(choice, reward, batch):
    items = []
    for s in batch.sequences:
        worth = Sized(s.reward) + Sized(reward_axis.overlong(reward, s.length))
        if choice["credit"] == "outcome":  # KL of the whole response; other credits put it on its tokens
            worth = worth - total(Sized(reward_axis.token_kl(reward, t)) for t in s.unmasked)
        items.append(Item(s, None, worth))
    return items


def steps(choice, reward, batch):
    # DeepSeekMath (2402.03300) section 4.1.3: the set of all step rewards of all responses to the prompt
    return [Item(s, t, Sized(t.step_reward)) for s in batch.sequences for t in s.unmasked if t.step_end]


# ---- baseline b of one item, from the items of its group

def no_baseline(item, group, batch):
    return NOTHING


def group_mean(item, group, batch):
    return mean([i.worth for i in group])


def leave_one_out(item, group, batch):
    # RLOO (2402.14740): mean of the others
    return mean([i.worth for i in group if i is not item])


def length_weighted(item, group, batch):
    # OPO (2505.23585): b = sum T_j R_j / sum T_j
    tokens = sum(len(i.sequence.unmasked) for i in group)
    if tokens == 0:
        return NOTHING
    return total(i.worth.times(mpf(len(i.sequence.unmasked))) for i in group).times(mpf(1) / tokens)


def given(item, group, batch):
    # ReMax (2310.10505): reward of the greedy response
    return Sized(batch.baseline[item.sequence.group])


BASELINE = {"none": no_baseline, "group_mean": group_mean, "leave_one_out": leave_one_out,
            "length_weighted": length_weighted, "given": given}
OWN_GROUP = ("group_mean", "leave_one_out", "length_weighted")


# ---- scale

def variance(kind, values):
    """None where there is no spread: fewer than two values, or all equal."""
    if len(values) < 2 or all(equal(v, values[0]) for v in values):
        return None
    n = len(values)
    m = sum(values, ZERO) / n
    return sum(((v - m) * (v - m) for v in values), ZERO) / (n - 1 if kind == "sample" else n)


def add(v, eps):
    return sqrt(v) + eps


def inside(v, eps):
    return sqrt(v + eps)


def floor(v, eps):
    return sqrt(max(v, eps))


def floor_add(v, eps):
    return sqrt(max(v, eps)) + eps


EPS_PLACE = {"add": add, "inside": inside, "floor": floor, "floor_add": floor_add}


def sigma(choice, v):
    return EPS_PLACE[choice["eps_place"]](v, mpf(choice["eps"]))


def spread_values(choice, group, items, centred):
    """The values whose variance scales the items of `group`."""
    return {"group_std": [i.worth.value for i in group],
            "batch_std": [i.worth.value for i in items],
            "batch_centred_std": [c.value for c in centred]}[choice["scale"]]


# ---- gain

def valid_groups(items, groups, batch):
    # GPG (2504.02546): alpha = B / (B - M), M responses in groups that give no gradient
    n = len(batch.sequences)
    m = sum(1 for s in batch.sequences
            if all(equal(i.worth.value, groups[s.group][0].worth.value) for i in groups[s.group]))
    return mpf(1) if n == m else mpf(n) / (n - m)


def nonzero_rewards(items, groups, batch):
    return mpf(len(batch.sequences)) / max(1, sum(1 for i in items if not equal(i.worth.value, ZERO)))


GAIN = {"none": lambda items, groups, batch: mpf(1), "valid_groups": valid_groups, "nonzero_rewards": nonzero_rewards}


def scored(choice, items, batch):
    """a of every item."""
    groups = {g: [i for i in items if i.sequence.group == g] for g in range(batch.groups)}
    raw = choice["singleton"] == "raw"
    uses_group = choice["baseline"] in OWN_GROUP or choice["scale"] == "group_std"
    alone = {i: len(groups[i.sequence.group]) == 1 for i in items}

    def centre(item):
        if alone[item] and choice["baseline"] in OWN_GROUP:
            return item.worth if raw else NOTHING
        return item.worth - BASELINE[choice["baseline"]](item, groups[item.sequence.group], batch)

    centred = [centre(i) for i in items]
    gain = GAIN[choice["gain"]](items, groups, batch)
    result = {}
    for item, c in zip(items, centred):
        if alone[item] and uses_group and not raw:
            result[item] = NOTHING
            continue
        if choice["scale"] in ("none", "token_whiten"):
            result[item] = c.times(gain)
            continue
        if choice["scale"] == "group_std" and alone[item]:
            v = mpf(1)
        else:
            v = variance(choice["std"], spread_values(choice, groups[item.sequence.group], items, centred))
        result[item] = NOTHING if v is None else c.times(gain / sigma(choice, v))
    return result


# ---- credit: items to tokens

def outcome(choice, reward, batch, a):
    return {t: x for item, x in a.items() for t in item.sequence.unmasked}


def token_rewards(reward, sequence, a):
    """REINFORCE++ (2501.03262): the score at the last token, minus beta k at every token."""
    rho = {t: NOTHING - Sized(reward_axis.token_kl(reward, t)) for t in sequence.unmasked}
    if sequence.unmasked:
        rho[sequence.unmasked[-1]] = rho[sequence.unmasked[-1]] + a
    return rho


def reward_to_go(gamma, sequence, rho):
    result, later = {}, NOTHING
    for t in reversed(sequence.unmasked):
        later = rho[t] + later.times(gamma)
        result[t] = later
    return result


def discounted(choice, reward, batch, a):
    result = {}
    for item, x in a.items():
        result.update(reward_to_go(mpf(choice["gamma"]), item.sequence, token_rewards(reward, item.sequence, x)))
    return result


def step_sums(choice, reward, batch, a):
    # DeepSeekMath section 4.1.3: A_it = sum of the normalised rewards of the steps that end at t or later
    result = {}
    for s in batch.sequences:
        rho = {t: NOTHING for t in s.unmasked}
        rho.update({item.token: x for item, x in a.items() if item.sequence is s})
        result.update(reward_to_go(mpf(choice["gamma"]), s, rho))
    return result


def gae(choice, reward, batch, a):
    # 1506.02438 eq. 16, over the tokens that count
    gamma, lam = mpf(choice["gamma"]), mpf(choice["lambda"])
    result = {}
    for item, x in a.items():
        rho = token_rewards(reward, item.sequence, x)
        next_value = later = NOTHING
        for t in reversed(item.sequence.unmasked):
            v = Sized(t.value)
            later = rho[t] + next_value.times(gamma) - v + later.times(gamma * lam)
            next_value = v
            result[t] = later
    return result


CREDIT = {"outcome": outcome, "return": discounted, "step": step_sums, "gae": gae}


def whitened(choice, advantages):
    v = variance(choice["std"], [a.value for a in advantages.values()])
    if v is None:
        return {t: NOTHING for t in advantages}
    m = mean(list(advantages.values()))
    scale = 1 / sigma(choice, v)
    return {t: (a - m).times(scale) for t, a in advantages.items()}


def advantages(choice, reward, batch):
    """{token: Sized} for the tokens whose mask is true."""
    items = (steps if choice["credit"] == "step" else responses)(choice, reward, batch)
    result = CREDIT[choice["credit"]](choice, reward, batch, scored(choice, items, batch))
    if choice["scale"] == "token_whiten":
        result = whitened(choice, result)
    return {t: Sized(settle(a.value, a.size), a.size) for t, a in result.items()}
