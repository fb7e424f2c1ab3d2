"""Credit: the advantages of tokens from the a of items. Each function takes (choice, reward, batch, {item: a})."""

from axes import reward as reward_axis
from axes import steps
from axes.sized import NOTHING, Sized
from limits import ONE, less
from reals import mpf


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
    if choice["step_discount"] == "steps":
        return steps.own(choice, batch, steps.to_go(mpf(choice["step_gamma"]), a))
    result = {}
    for s in batch.sequences:
        rho = {t: NOTHING for t in s.unmasked}
        rho.update({item.token: x for item, x in a.items() if item.sequence is s})
        result.update(reward_to_go(mpf(choice["gamma"]), s, rho))
    return result


def step_own(choice, reward, batch, a):
    return steps.own(choice, batch, a)


def decay(choice, sequence):
    """lambda; VAPO (2504.05118): 1 - 1/(alpha l) for a response of l tokens; T-PPO (2506.15050): at least lambda"""
    alpha, least = mpf(choice["lambda_length"]), mpf(choice["lambda"])
    if alpha == 0:
        return least
    span = alpha * len(sequence.unmasked)
    grown = 1 - 1 / (span if less(ONE, span) else ONE)
    return least if less(grown, least) else grown


def ended(choice, reward, sequence, rho):
    """(rho, V after the last token). T-PPO (2506.15050), code: a truncated response continues with the value of its last token and has no
    reward yet."""
    if choice["bootstrap"] == "zero" or not sequence.truncated or not sequence.unmasked:
        return rho, NOTHING
    last = sequence.unmasked[-1]
    return {**rho, last: NOTHING - Sized(reward_axis.token_kl(reward, last))}, Sized(last.value)


def estimated(choice, sequence, rho, next_value):
    """1506.02438 eq. 16, over unmasked tokens; next_value: V after the last of them"""
    gamma, lam = mpf(choice["gamma"]), decay(choice, sequence)
    result, later = {}, NOTHING
    for t in reversed(sequence.unmasked):
        v = Sized(t.value)
        later = rho[t] + next_value.times(gamma) - v + later.times(gamma * lam)
        next_value = v
        result[t] = later
    return result


def gae(choice, reward, batch, a):
    result = {}
    for item, x in a.items():
        s = item.sequence
        result.update(estimated(choice, s, *ended(choice, reward, s, token_rewards(reward, s, x))))
    return result


def step_gae(choice, reward, batch, a):
    # MT-GUIDE (2510.01132): the rewards of turns are token-level rewards at their last tokens
    result = {}
    for s in batch.sequences:
        rho = {t: NOTHING - Sized(reward_axis.token_kl(reward, t)) for t in s.unmasked}
        for item, x in a.items():
            if item.sequence is s:
                rho[item.token] = rho[item.token] + x
        result.update(estimated(choice, s, rho, NOTHING))
    return result


CREDIT = {"outcome": outcome, "return": discounted, "step": step_sums, "gae": gae, "step_own": step_own,
          "step_gae": step_gae}
