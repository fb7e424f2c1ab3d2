"""Advantages of responses from a softmax, from pairs, from sets and with a reference answer."""
import itertools
from fractions import Fraction

import reals
from functions.arithmetic import (NOTHING, Number, by_group, itself, less, mean, mean_of, means, per_group, places, real, rewards_of,
                                  shares)
from functions.batches import FOUR, NOW, TENTHS, WITH_HOLES, marks, responses, tokens
from functions.comparing import every, fraction, near, values
from functions.domains import COUNT, FLAG, FRACTION, INTEGER, NOT_NEGATIVE, NUMBER, POSITIVE, integer, many, reads
from functions.registry import cases, checks, function
from scenarios import NAN


# ---- boltzmann_advantage

@function(advantage=many(NOT_NEGATIVE))
def boltzmann_advantage(batch: reads("reward"), temperature: POSITIVE):
    """DRIFT (2605.31455): e^(R/beta) over the group's mean of it.

    Source: DRIFT, 2605.31455
    Takes: batch with `reward`; `temperature` > 0
    Gives: `advantage` (N): e^(r/temperature)/mean of the same over the group; scale itself times 1 + the exponents' spread
    """
    r = rewards_of(batch)

    def advantages(group):
        p, size = shares([r[i] for i in group], temperature)
        return [Number(len(group) * x, len(group) * x * size) for x in p]
    return {"advantage": per_group(batch, advantages)}


@cases("boltzmann_advantage")
def boltzmann_advantage_cases(case):
    for label, comment, reward, group, temperature in (
            ("plain", "e^(reward/temperature) divided by its mean: the advantages have mean 1", [1, 0, 0.5, -0.25], FOUR, 0.5),
            ("equal", "equal rewards: every advantage is 1", [TENTHS] * 4, FOUR, 0.1),
            ("lone", "a single response: its advantage is 1", [1, 0, 2], (0, 0, 1), 0.25),
            ("cold", "a low temperature: the advantages of all but the best responses vanish", [1, 0, 0, 1], FOUR, 0.015625),
            ("underflow", "a reward 20 below the best at temperature 0.01: e^-2000 underflows to 0",
             [10, -10, 9.5], (0, 0, 0), 0.01)):
        case(label, comment, responses(list(group), reward), temperature=temperature)


@checks("boltzmann_advantage")
def check_boltzmann_advantage(check):
    for label, given, batch, found in every("boltzmann_advantage"):
        A, r, beta = values(found["advantage"]), fraction(batch["reward"]), Fraction(given["temperature"])
        for group in by_group(batch):
            check(f"mean 1: {label}", near(sum(A[i] for i in group), len(group)))
            for i, j in itertools.combinations(group, 2):
                check(f"odds: {label}", near(reals.log(A[i] / A[j]) * real(beta), r[i] - r[j]))


# ---- likelihood_advantage

@function(advantage=many(FRACTION))
def likelihood_advantage(batch: reads("logp_old", "reward"), threshold: NUMBER, temperature: POSITIVE, by_length: FLAG):
    """POPO (2605.06650), released code: a softmax of the mean log-probabilities of right responses.

    Source: POPO, 2605.06650, released code
    Takes: batch with `logp_old`, `reward`; `threshold`, `temperature` > 0, `by_length`
    Gives: over the responses of the group with r > threshold and a mask token: w = softmax of (mean of o over mask tokens)/temperature;
    with `by_length` w_i := (w_i/T_i)/sum_j w_j/T_j, T mask tokens. `advantage` (N): w, 0 for the others; scale itself times 1 + max
    abs(mean o)/temperature
    """
    score, r = means(batch, "logp_old"), rewards_of(batch)
    T = [sum(i == j for j, _ in places(batch)) for i in range(len(r))]

    def advantages(group):
        chosen = [i for i in group if i in score and less(threshold, r[i])]
        if not chosen:
            return [NOTHING] * len(group)
        p, _ = shares([score[i].value for i in chosen], temperature)
        w = {i: x / T[i] if by_length else x for i, x in zip(chosen, p)}
        size = 1 + real(max(score[i].size for i in chosen) / temperature)
        return [Number(w[i] / sum(w.values()), w[i] / sum(w.values()) * size) if i in w else NOTHING for i in group]
    return {"advantage": per_group(batch, advantages)}


@cases("likelihood_advantage")
def likelihood_share_cases(case):
    def popo(label, comment, reward, by_length, old=None, group=FOUR, threshold=0, temperature=1, mask=None):
        old = old or [[-0.5, -0.25, -0.5], [-1], [-2, -0.75], [-3]]
        case(label, comment, tokens(list(group), mask, list(reward), logp_old=old), threshold=threshold,
             temperature=temperature, by_length=by_length)

    popo("plain", "a softmax of the mean log-probabilities of the right responses; the wrong one has 0", [1, 1, 0, 1], False)
    popo("by-length", "by_length: the softmax over right responses is divided by their lengths and normalised", [1, 1, 0, 1], True)
    popo("threshold", "a reward equal to the threshold is not above it: its advantage is 0",
         [0.5, 1, 0.75, 0.25], False, threshold=0.5, temperature=0.5)
    popo("none", "no response is right: every advantage is 0", [0, 0, -1, 0], True)
    popo("holes", "a fully masked right response is left out of its group's softmax: its advantage is 0",
         [1, 1, 1, 1], True, WITH_HOLES["logp_old"] + [[-2]], (0, 0, 1, 1),
         mask="1011 00 11 1")
    popo("far", "mean log-probabilities a thousand apart: the likeliest right response has 1",
         [1, 1, 1, 0], False, [[-0.5, -0.5], [-1000], [-600, -900], [-1]])


@checks("likelihood_advantage")
def check_likelihood_advantage(check):
    for label, given, batch, found in every("likelihood_advantage"):
        for group in by_group(batch):
            total = sum(values(found["advantage"][i] for i in group))
            check(f"1 in all, or none is right: {label}", near(total, 1) or total == 0)
            wrong = [i for i in group if batch["reward"][i] <= given["threshold"]]
            check(f"only right ones: {label}", not any(found["advantage"][i].value for i in wrong))


# ---- calibration_advantage

@function(advantage=many(NUMBER))
def calibration_advantage(batch, correct: many(FLAG), temperature: POSITIVE):
    """CAPO (2604.12632): the derivative of log(1 + e^(-(s_right - s_wrong)/tau)) over the pairs of a right and a wrong response.

    Source: CAPO, 2604.12632
    Takes: batch; `correct` (N flags), `temperature` tau > 0
    Gives: s the mean of l over mask tokens; responses without any take no part and have 0. `advantage` (N), with P_ij = (1/tau)/(1 +
    e^((s_i - s_j)/tau)) of the pairs of a correct i and a wrong j of the group: sum_j P_ij for i, -sum_i P_ij for j; scale: sum of P_ij
    (1 + (abs(s_i) + abs(s_j))/tau)
    """
    score = means(batch, "logp")

    def pulled(i, j):
        """How far right i and wrong j are to be pulled apart, and its size."""
        gap = real((score[i].value - score[j].value) / temperature)
        x = 1 / (real(temperature) * (1 + reals.exp(gap)))
        return Number(x, x * real(1 + (score[i].size + score[j].size) / temperature))

    def advantages(group):
        right, wrong = ([i for i in group if i in score and bool(correct[i]) == side] for side in (True, False))
        found = dict.fromkeys(group, NOTHING)
        for i, j in itertools.product(right, wrong):
            x = pulled(i, j)
            found[i] = Number(found[i].value + x.value, found[i].size + x.size)
            found[j] = Number(found[j].value - x.value, found[j].size + x.size)
        return [found[i] for i in group]
    return {"advantage": per_group(batch, advantages)}


@cases("calibration_advantage")
def pairwise_calibration_cases(case):
    def calibrated(label, comment, correct, logp=NOW, group=None, temperature=0.6, mask=None):
        case(label, comment, tokens(group, mask, logp=logp), correct=marks(correct), temperature=temperature)

    calibrated("plain", "one right response and two wrong ones", "010")
    calibrated("groups", "a group without a wrong response has no pair: its advantage is 0", "101", group=[0, 0, 1])
    calibrated("holes", "a fully masked response is in no pair: its advantage is 0",
               "1010", [[-0.5, NAN, -1.25], [NAN, -3], [-1, -0.25], [-2]], [0] * 4, 0.5,
               "101 00 11 1")
    calibrated("far", "the right response is 900 less likely than the wrong one: the full 1/temperature",
               "10", [[-900], [-1]])
    calibrated("far-right", "the right response is 900 likelier than the wrong one: the advantage underflows to 0",
               "01", [[-900], [-1]])


@checks("calibration_advantage")
def check_calibration_advantage(check):
    step = Fraction(1, 10 ** 9)
    for label, given, batch, found in every("calibration_advantage"):
        scores = means(batch, "logp")
        A, tau = values(found["advantage"]), Fraction(given["temperature"])
        for group in by_group(batch):
            own = [i for i in group if i in scores]
            check(f"what is pulled up is pushed down: {label}", near(sum(A[i] for i in own), 0))

            def loss(at):
                pairs = [(i, j) for i in own for j in own if given["correct"][i] and not given["correct"][j]]
                return sum(reals.log1p(reals.exp(real((at[j] - at[i]) / tau))) for i, j in pairs)
            for i in own:
                up, down = (loss({j: scores[j].value + (k if i == j else 0) for j in own}) for k in (step, -step))
                check(f"minus the slope of a logistic loss: {label}", abs((down - up) / real(2 * step) - A[i]) < 1e-16)


# ---- hard_negative_advantage

@function(advantage=many(NUMBER), replace=many(integer(-1)))
def hard_negative_advantage(batch: reads("reward"), utility: many(NUMBER)):
    """ReCast (2604.22169): the best response against the wrong one of largest utility; in groups without a right response the wrong one of
    smallest utility is to be replaced.

    Source: ReCast, 2604.22169
    Takes: batch with `reward`; `utility` u (N)
    Gives: misses have r = 0. `advantage` (N): in groups with some r > 0 and a miss 1 for the first of the largest r and -1 for the
    first miss of the largest u; 0 for all others; scale itself. `replace` (groups): if all are misses the first response with the
    smallest u, by its number in the batch, else -1
    """
    r = rewards_of(batch)
    advantage, replace = [Fraction(0)] * len(r), []
    for group in by_group(batch):
        misses = [i for i in group if r[i] == 0]
        best = max(group, key=lambda i: (r[i], -i))
        order = sorted(misses, key=lambda i: (utility[i], i))
        for i, j in zip(order, order[1:]):
            less(utility[i], utility[j])
        replace.append(order[0] if len(misses) == len(group) else -1)
        if r[best] > 0 and misses:
            advantage[best] = Fraction(1)
            advantage[max(misses, key=lambda i: (utility[i], -i))] = Fraction(-1)
    return {"advantage": itself(advantage), "replace": replace}


@cases("hard_negative_advantage")
def hardest_miss_cases(case):
    def recast(label, comment, reward, utility, group=None):
        case(label, comment, responses(group or [0] * len(reward), reward), utility=utility)

    recast("plain", "the response of largest reward has 1, the miss (reward 0) of largest utility -1",
           [0, 1, 0, 0.5], [0.25, 1, 0.75, 0.5])
    recast("ties", "of equal rewards and utilities the first is taken; a negative reward is no miss",
           [0, 1, 0, 1, -1], [0.5, 0, 0.5, 0, 0.75])
    recast("repair", "all rewards are 0: no advantage, the response of smallest utility is to be replaced",
           [0, 0, 0, 1, 1], [0.25, 0.125, 0.125, 0, 0],
           [0, 0, 0, 1, 1])
    recast("below", "rewards of -1 and 0: neither advantages nor a replacement, which needs all to be 0",
           [-1, 0, 0, 0], [0.5, 0.25, 1, 0.75], [0, 0, 1, 1])


@checks("hard_negative_advantage")
def check_hard_negative_advantage(check):
    for label, given, batch, found in every("hard_negative_advantage"):
        r, u, A = batch["reward"], given["utility"], values(found["advantage"])
        for g, group in enumerate(by_group(batch)):
            misses, hits = [i for i in group if r[i] == 0], [i for i in group if r[i] > 0]
            up, down = ([i for i in group if A[i] == side] for side in (1, -1))
            check(f"one and one, or none: {label}", (len(up), len(down)) == ((1, 1) if misses and hits else (0, 0)))
            for chosen, among, x in ((up, hits, r), (down, misses, u)):
                first = [i for i in among if x[i] == max(x[j] for j in among)][:1]
                check(f"the first of the largest: {label}", not chosen or chosen == first)
            lowest = [i for i in group if u[i] == min(u[j] for j in group)][0]
            check(f"repaired where nothing else is left: {label}", found["replace"][g] == (lowest if len(misses) == len(group) else -1))


# ---- set_advantage

@function(advantage=many(NUMBER))
def set_advantage(reward: many(NUMBER), sets: many(many(COUNT, least=1), least=1), **more: {"class": many(INTEGER)}):
    """POLY (2509.25424): mean reward of a set times its share of different classes, against the mean of all sets.

    Source: POLY, 2509.25424
    Takes: `reward` (n), `class` (n integers), `sets` (lists of response numbers, none empty)
    Gives: f = (mean reward of the set)(number of different classes in it)/(its size). `advantage` (sets): f - mean f over the sets;
    scale with absolute rewards and plus
    """
    def value(chosen):
        own = [int(i) for i in chosen]
        different = Fraction(len({more["class"][i] for i in own}), len(own))
        return Number(mean([reward[i] for i in own]) * different, mean([abs(reward[i]) for i in own]) * different)
    f = [value(chosen) for chosen in sets]
    return {"advantage": [Number(n.value - mean_of(f).value, n.size + mean_of(f).size) for n in f]}


@cases("set_advantage")
def set_advantage_cases(case):
    KINDS = [1, 1, 2, 3, 2]
    for label, comment, reward, kinds, sets in (
            ("plain", "sets with three, two and one different classes of responses",
             [1, 0, 1, 0.5, 0.25], KINDS, [[0, 2, 3], [0, 1, 2], [0, 1], [2, 4, 3]]),
            ("same", "a set that is listed twice has equal advantages", [1, 0, 1, TENTHS, 0.25], KINDS, [[0, 1], [0, 1], [3, 2]]),
            ("equal", "all sets have equal mean reward and diversity: every advantage is 0",
             [1, 1, 1, 1, 1], KINDS, [[0, 2], [1, 3], [3, 4]]),
            ("one", "a single set: its advantage is 0", [1, 0, 0.5, 1, 1], KINDS, [[0, 1, 3]])):
        case(label, comment, reward=reward, sets=sets, **{"class": kinds})


@checks("set_advantage")
def check_set_advantage(check):
    for label, given, _, found in every("set_advantage"):
        check(f"they sum to 0: {label}", sum(values(found["advantage"])) == 0)


# ---- reference_advantage

@function(advantage=many(NUMBER), reference_advantage=NUMBER)
def reference_advantage(reward: many(NUMBER, least=1), reference_reward: NUMBER, beta: NUMBER, with_reference: FLAG,
                        **more: {"lambda": NUMBER}):
    """GRAO: with these advantages, the surrogate `score` and the mean of response means over the G + 1 sequences of a prompt, the loss
    is the paper's.

    Source: GRAO
    Takes: one prompt: `reward` (n >= 1), `reference_reward`, `beta`, `lambda`, `with_reference`
    Gives: m and population deviation s of the rewards, the reference's among them if `with_reference`; z = (r - m)/s, z_y of the
    reference, all 0 if s = 0. `advantage` (n): (1 + lambda) z (n + 1)/n; `reference_advantage`: (n + 1)(beta z_y - lambda mean z), so
    that `score` with `seq_mean_token_mean` over the n + 1 sequences is the paper's loss; scales: r and m in absolute values and plus
    """
    G, weight = len(reward), more["lambda"]
    known = reward + [reference_reward] if with_reference else reward
    centre, size = mean(known), mean([abs(x) for x in known])
    deviation = reals.sqrt(real(mean([(x - centre) ** 2 for x in known])))
    if not deviation:
        return {"advantage": [NOTHING] * G, "reference_advantage": NOTHING}
    factor = (1 + weight) * Fraction(G + 1, G)
    own = [Number(real(factor * (r - centre)) / deviation, real(abs(factor) * (abs(r) + size)) / deviation) for r in reward]
    y = (G + 1) * (beta * (reference_reward - centre) - weight * (mean(reward) - centre))
    y_size = (G + 1) * (abs(beta) * (abs(reference_reward) + size) + abs(weight) * (mean([abs(r) for r in reward]) + size))
    return {"advantage": own, "reference_advantage": Number(real(y) / deviation, real(y_size) / deviation)}


@cases("reference_advantage")
def reference_advantage_cases(case):
    for label, comment, reward, y, beta, with_y, weight in (
            ("without", "mean and deviation of the responses alone: lambda has no effect on the reference", [1, 0, 0], 1,
             0.5, False, 0.25),
            ("with", "mean and deviation include the reference's reward", [1, 0, 0], 1, 0.5, True, 0.25),
            ("equal", "equal rewards, statistics without the reference: all is 0, though the reference differs",
             [0.5, 0.5], 1, 1, False, 1),
            ("only-reference", "the responses are all wrong: only the reference's reward differs",
             [0, 0, 0], TENTHS, 1, True, 0.5)):
        case(label, comment, reward=reward, reference_reward=y, beta=beta, with_reference=with_y, **{"lambda": weight})


@checks("reference_advantage")
def check_reference_advantage(check):
    """The loss of GRAO, as written and by these advantages, for given mean log-likelihoods."""
    for label, given, _, found in every("reference_advantage"):
        r, y, G = fraction(given["reward"]), Fraction(given["reference_reward"]), len(given["reward"])
        beta, weight = (real(Fraction(given[key])) for key in ("beta", "lambda"))
        known = r + [y] * given["with_reference"]
        std = reals.sqrt(real(mean([(x - mean(known)) ** 2 for x in known])))
        z = [real(x - mean(known)) / std if std else reals.mpf(0) for x in r + [y]]
        E = [reals.mpf(-k - 1) / 7 for k in range(G + 1)]
        paper = -sum((1 + weight) * a * e for a, e in zip(z, E[:G])) / G - (beta * z[G] - weight * sum(z[:G]) / G) * E[G]
        ours = -sum(real(n.value) * e for n, e in zip(found["advantage"] + [found["reference_advantage"]], E)) / (G + 1)
        check(f"the paper's loss: {label}", near(paper, ours))
