"""Advantage: the reward compared with a baseline, and its distribution over tokens.

Items (responses, or steps of process supervision) get a baseline and a scale, then are credited to tokens. Every number is a Sized: its
value and its size, the sum of the absolute values of its terms.
"""

from axes import credit, prefix_tree, steps
from axes import reward as reward_axis
from axes.allowed import check_advantage
from axes.baseline import BASELINE, OWN_GROUP, filtered
from axes.beta_scale import beta_weight
from axes.entropy_share import entropy_share
from axes.reweight import REWEIGHT, regret_weighted, stretched
from axes.excluded import EXCLUDED
from axes.pool import Context, Item, Pool, samples
from axes.sized import NOTHING, Sized, all_same, mean, sign_of, total
from axes.token_level import adjusted
from axes.transform import pass_rate, spread_of_passes, transformed
from limits import ONE, ZERO, settle, sqrt
from reals import log, mpf


# ---- items

def responses(choice, reward, batch):
    items = []
    for s in batch.sequences:
        worth = reward_axis.shaped(reward, s, [x for x in batch.sequences if x.group == s.group])
        if choice["credit"] == "outcome":  # the KL of the whole response; other credits have it at the tokens
            worth = worth - total(Sized(reward_axis.token_kl(reward, t)) for t in s.unmasked)
        items.append(Item(s, None, worth, steps.SAMPLES[choice["samples"]](s)))
    return items


def columns(batch):
    """The items of each of several rewards."""
    return [[Item(s, None, Sized(s.rewards[k])) for s in batch.sequences] for k in range(len(batch.reward_weight))]


# ---- scale: the divisor of R - b; None where a = 0

def variance(kind, values):
    """None where there is no spread: fewer than two values, or all equal."""
    if len(values) < 2 or all_same(values):
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
    return None if v is None else EPS_PLACE[choice["eps_place"]](v, mpf(choice["eps"]))


def worths(items):
    return [i.worth.value for i in items]


def undivided(item, group, context):
    return ONE


def group_std(item, group, context):
    choice = context.choice
    if context.alone(item):
        return sigma(choice, ONE)
    if choice["transform"] == "pass_at_k":  # 2508.10751: sigma = sqrt(Rbar (1 - Rbar))
        return sigma(choice, spread_of_passes(pass_rate(context.raw_group(item), choice["pass_k"])))
    if choice["transform"] == "best_minus_second":
        group = context.raw_group(item)
    return sigma(choice, variance(choice["std"], worths(samples(group))))


def batch_std(item, group, context):
    return sigma(context.choice, variance(context.choice["std"], worths(context.pool.items)))


def batch_centred_std(item, group, context):
    centred = [context.centred[i].settled() for i in context.pool.items]
    return sigma(context.choice, variance(context.choice["std"], centred))


def over_group_mean(item, group, context):
    # MaxRL (2602.02710): (r - mean)/(mean + eps)
    m = mean([i.worth for i in group])
    return m.value + context.number("eps") if sign_of(m) > 0 else None


def leave_one_out_std(item, group, context):
    # as NeMo-RL: the deviation of the others; no division where their rewards are equal
    v = variance(context.choice["std"], worths(i for i in group if i is not item))
    return ONE if v is None else sigma(context.choice, v)


def residual_rms(item, group, context):
    # GAPO (2510.21830): sqrt(sum_j (r_j - Q)^2/(G - 1)); AReaL has the leave-one-out means in place of Q
    if context.alone(item):
        return sigma(context.choice, ONE)
    residuals = [context.centred[i].settled() for i in group]
    n = len(residuals) - (context.choice["std"] == "sample")
    return sigma(context.choice, sum((x * x for x in residuals), ZERO) / n or None)


def kalman_std(item, group, context):
    # KRPO (2505.07527): sqrt of the filter's own variance
    return sigma(context.choice, filtered(item, group, context)[1])


def constant(item, group, context):
    return context.number("scale_divisor")


def mean_deviation(item, group, context):
    # DGPO (2601.20614): the mean absolute deviation; the epsilon is added to the sum over the group
    if context.alone(item):
        return ONE
    if all_same(worths(group)):
        return None
    n, m = len(group), mean([i.worth for i in group]).value
    return (sum((abs(x - m) for x in worths(group)), ZERO) + context.number("eps")) / n


def beta(item, group, context):
    weight = beta_weight(group, context.pool.groups.values())
    return None if weight is None else 1 / weight


SCALE = {"none": undivided, "group_std": group_std, "batch_std": batch_std, "batch_centred_std": batch_centred_std,
         "token_whiten": undivided, "group_mean": over_group_mean, "leave_one_out_std": leave_one_out_std,
         "residual_rms": residual_rms, "kalman_std": kalman_std, "constant": constant, "beta": beta,
         "mean_absolute_deviation": mean_deviation}
GROUP_SCALES = ("group_std", "group_mean", "residual_rms", "mean_absolute_deviation")  # the scales to which `singleton` applies


# ---- items to a

def centre(context, item):
    """R - b"""
    choice = context.choice
    b = Sized(mpf(choice["baseline_shift"]))  # AsymRE (2506.20520): r - (mean + dV)
    if not (context.alone(item) and choice["baseline"] in OWN_GROUP):
        b = BASELINE[choice["baseline"]](item, context.pool.around(item), context) + b
    elif choice["singleton"] == "zero":
        return NOTHING
    return item.worth - b


def pinned(context, item):
    """Is a = 0 because the item is alone in its group?"""
    choice = context.choice
    of_group = choice["baseline"] in OWN_GROUP or choice["scale"] in GROUP_SCALES
    return of_group and choice["singleton"] == "zero" and context.alone(item)


def scaled(item, c, divisor, context):
    """a from R - b"""
    a = stretched(c.times(REWEIGHT[context.choice["reweight"]](item, c, context) / divisor), item, context)
    if context.choice["scale"] == "beta":  # the rounding error of an exponential, whose exponent is the logarithm of the weight
        a = Sized(a.value, a.size * (1 + abs(log(divisor))))
    return regret_weighted(a, context.number("reweight_temperature")) if context.choice["reweight"] == "exponential" else a


def scored(choice, items, batch):
    """a of every item."""
    before = Pool(items)
    pool = Pool(transformed(choice, before))
    context = Context(choice, batch, before, pool)
    context.centred = {i: centre(context, i) for i in pool.items}
    result = {}
    for source, item in zip(items, pool.items):
        result[source] = compared(context, item, context.centred[item])
    return result


def divisor(context, item):
    return None if pinned(context, item) else SCALE[context.choice["scale"]](item, context.pool.around(item), context)


def compared(context, item, c):
    by = divisor(context, item)
    return NOTHING if by is None else scaled(item, c, by, context)


def beside(choice, items, batch):
    """a of every item, where some are excluded."""
    inside = [i for i in items if not i.sequence.outside]
    pool = Pool(inside)
    context, a = Context(choice, batch, pool, pool), scored(choice, inside, batch)

    def with_others(item):
        return compared(context, item, centre(context, item))
    for item in items:
        if item.sequence.outside:
            others = [a[i] for i in pool.groups.get(item.sequence.group, ())]
            a[item] = EXCLUDED[choice["excluded"]](choice, item, others, with_others)
    return {item: a[item] for item in items}


def weighted(columns, weights):
    """GDPO (2601.05242): A = sum_k w_k A_k, every A_k normalised by itself; by the items of the first column."""
    parts = [list(column.values()) for column in columns]
    return {item: total(part[j].times(w) for part, w in zip(parts, weights)) for j, item in enumerate(columns[0])}


def second(choice, a):
    # GDPO, Magistral (2506.10910): normalised again over the batch
    if choice["batch_norm"] != "items":
        return a
    v = variance(choice["std"], [x.settled() for x in a.values()])
    if v is None:
        return {item: NOTHING for item in a}
    m = mean(list(a.values()))
    scale = 1 / (sqrt(v) + mpf(choice["batch_norm_eps"]))
    return {item: (x - m).times(scale) for item, x in a.items()}


# ---- credits that need more than the a of items

def episode_step(choice, reward, batch, a):
    # GiGPO (2505.10978) eq. 3: A^E compares responses with the same choices as the steps
    outcomes = scored(choice, responses(choice, reward, batch), batch)
    return steps.with_episode(choice, batch, a, {item.sequence: x for item, x in outcomes.items()})


def shared_by_entropy(choice, reward, batch, a):
    result = {}
    for group in Pool(responses(choice, reward, batch)).groups.values():
        result.update(entropy_share(choice, group, lambda us: sigma(choice, variance(choice["std"], us))))
    return result


def of_nodes(choice, reward, batch, a):
    result, pool = {}, Pool(list(a))
    context = Context(choice, batch, pool, pool)
    for group in pool.groups.values():
        result.update(prefix_tree.prefix_tree(group, a, lambda item: divisor(context, item)))
    return result


CREDIT = {**credit.CREDIT, "episode_step": episode_step, "entropy_share": shared_by_entropy, "prefix_tree": of_nodes}


def whitened(choice, advantages):
    v = variance(choice["std"], [a.value for a in advantages.values()])
    if v is None:
        return {t: NOTHING for t in advantages}
    m = mean(list(advantages.values()))
    scale = 1 / sigma(choice, v)
    return {t: (a - m).times(scale) for t, a in advantages.items()}


def second_tokens(choice, advantages):
    # GDPO (2601.05242) as verl: the sums are whitened over the tokens of the batch
    v = variance(choice["std"], [a.settled() for a in advantages.values()])
    if v is None:
        return {t: NOTHING for t in advantages}
    m = mean(list(advantages.values()))
    scale = 1 / sqrt(v + mpf(choice["batch_norm_eps"]))
    return {t: (a - m).times(scale) for t, a in advantages.items()}


def over_mean_abs(choice, advantages):
    # ART: divided by the mean of |A| with tokens weighted by 1/T_i: the mean over responses of the mean over their tokens
    rows = {}
    for t, a in advantages.items():
        rows.setdefault(t.sequence, []).append(Sized(abs(a.settled()), a.size))
    m = mean([mean(row) for row in rows.values()]) if rows else NOTHING
    if m.value == 0:
        return advantages
    return {t: Sized(a.value / m.value, (a.size + abs(a.value) * m.size / m.value) / m.value) for t, a in advantages.items()}


OVER_TOKENS = {"tokens": second_tokens, "mean_abs": over_mean_abs}


def itemised(choice, reward, batch):
    """The items, and a of each."""
    if choice["credit"] in steps.CREDITS:
        items = steps.steps(choice, reward, batch)
        return items, steps.pooled(choice, items, lambda pool: scored(choice, pool, batch))
    items = responses(choice, reward, batch)
    if choice["rewards"] == "each":
        return items, weighted([scored(choice, column, batch) for column in columns(batch)], batch.reward_weight)
    return items, (scored if choice["excluded"] == "none" else beside)(choice, items, batch)


def tail(choice, batch):
    """The last tokens of truncated responses: T-PPO (2506.15050), code, trains on them only with the next window."""
    n = choice["truncated_tail"]
    return {t for s in batch.sequences if s.truncated and n for t in s.unmasked[-int(n):]}


def over_tokens(choice, advantages):
    if choice["scale"] == "token_whiten":
        advantages = whitened(choice, advantages)
    return OVER_TOKENS[choice["batch_norm"]](choice, advantages) if choice["batch_norm"] in OVER_TOKENS else advantages


def advantages(choice, reward, batch):
    """{token: Sized} for the tokens whose mask is true."""
    check_advantage(choice, reward)
    items, a = itemised(choice, reward, batch)
    found, waits = CREDIT[choice["credit"]](choice, reward, batch, second(choice, a)), tail(choice, batch)
    kept = over_tokens(choice, {t: x for t, x in found.items() if t not in waits})
    result = adjusted(choice, {t: kept.get(t, NOTHING) for t in found}, items, batch)
    return {t: Sized(settle(a.value, a.size), a.size) for t, a in result.items()}
