"""Steps: the items of the credits of steps, their values and the pools in which they are compared."""

from axes import reward as reward_axis
from axes.pool import Item
from axes.sized import NOTHING, Sized, sign_of, total
from reals import mpf

CREDITS = ("step", "step_own", "episode_step", "step_gae")


def ends(sequence):
    return [t for t in sequence.unmasked if t.step_end]


# ---- the values of the steps of a response

def own_reward(choice, reward, sequence, group):
    # DeepSeekMath (2402.03300) section 4.1.3: the process reward of the step
    return [Sized(t.step_reward) for t in ends(sequence)]


def discounted_return(choice, reward, sequence, group):
    # GiGPO (2505.10978) eq. 5: R_k = sum over k' >= k of gamma^(k' - k) r_k'
    gamma, later, worths = mpf(choice["step_gamma"]), NOTHING, []
    for t in reversed(ends(sequence)):
        later = Sized(t.step_reward) + later.times(gamma)
        worths.insert(0, later)
    return worths


def of_response(choice, reward, sequence, group):
    # the reward of the response: a node of a prefix tree has the values of its leaves
    return [reward_axis.shaped(reward, sequence, group) for _ in ends(sequence)]


STEP_VALUE = {"reward": own_reward, "return": discounted_return, "response": of_response}


# ---- how often a response counts in the mean and the deviation of its group

# verl-agent's compute_mean_std_cross_steps: a sample for each step, with the outcome of its response
SAMPLES = {"responses": lambda sequence: 1, "steps": lambda sequence: max(1, len(ends(sequence)))}


def steps(choice, reward, batch):
    items = []
    for s in batch.sequences:
        group = [x for x in batch.sequences if x.group == s.group]
        worths = STEP_VALUE[choice["step_value"]](choice, reward, s, group)
        items += [Item(s, t, worth) for t, worth in zip(ends(s), worths)]
    return items


# ---- pools: the steps with which a step is compared

def number(item):
    """The number of the step within its response, from 1."""
    return ends(item.sequence).index(item.token) + 1


def together(items, key):
    """Lists of the items of a prompt that have the same key."""
    pools = {}
    for i in items:
        pools.setdefault((i.sequence.group, key(i)), []).append(i)
    return list(pools.values())


def recent(item, k):
    """The states of the last k steps, the item's own last."""
    return tuple(t.state for t in ends(item.sequence)[:number(item)][-k:])


def of_same_state(choice, items, scored):
    # GiGPO eq. 6: anchor states
    return {i: a for pool in together(items, lambda i: i.token.state) for i, a in scored(pool).items()}


def of_same_number(choice, items, scored):
    return {i: a for pool in together(items, number) for i, a in scored(pool).items()}


def of_same_history(choice, items, scored):
    """HGPO (2602.22817), as its recipe in verl-agent: sum_k w_k a_k, w_k ~ (k + 1)^alpha, over the levels with a_k != 0."""
    levels = {i: [] for i in items}
    for k in range(1, choice["history_length"] + 1):
        deep = [i for i in items if number(i) >= k]
        for pool in together(deep, lambda i: recent(i, k)):
            for i, a in scored(pool).items() if len(pool) > 1 else ():
                if sign_of(a) != 0:
                    levels[i].append((mpf(k + 1) ** mpf(choice["history_power"]), a))
    return {i: total(a.times(w / sum(v for v, _ in found)) for w, a in found) for i, found in levels.items()}


STEP_GROUP = {"prompt": lambda choice, items, scored: scored(items), "state": of_same_state, "index": of_same_number,
              "history": of_same_history}


def pooled(choice, items, scored):
    """a of every step, in the order of the steps, which that of the pools is not; scored(items of one prompt) -> {item: a}."""
    a = STEP_GROUP[choice["step_group"]](choice, items, scored)
    return {item: a[item] for item in items}


# ---- credit

def shares(sequence, a):
    """{token: a of the step it belongs to}, without the tokens after the last step."""
    mine = {item.token: x for item, x in a.items() if item.sequence is sequence}
    result, waiting = {}, []
    for t in sequence.unmasked:
        waiting.append(t)
        if t in mine:
            result.update({w: mine[t] for w in waiting})
            waiting = []
    return result


def to_go(gamma, a):
    """{step: sum over this and the later steps k' of its response of gamma^(k' - k) a_k'}; a: {step: a}, steps in their order"""
    result, later = {}, {}
    for item in reversed(list(a)):
        result[item] = later[item.sequence] = a[item] + later.get(item.sequence, NOTHING).times(gamma)
    return {item: result[item] for item in a}


def own(choice, batch, a):
    result = {}
    for s in batch.sequences:
        share = shares(s, a)
        result.update({t: share.get(t, NOTHING) for t in s.unmasked})
    return result


def with_episode(choice, batch, a, episode):
    # GiGPO eq. 8: A = A^E + omega A^S; episode: {response: A^E}
    omega = mpf(choice["step_coef"])
    return {t: episode[t.sequence] + x.times(omega) for t, x in own(choice, batch, a).items()}
