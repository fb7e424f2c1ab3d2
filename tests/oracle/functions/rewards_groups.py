"""Rewards that depend on the other responses of the group."""
import math
import statistics
from fractions import Fraction

import limits
import reals
from functions.arithmetic import (NOTHING, SMALL, Number, absolute, at, by_group, exp, itself, lengths_of, less, mean, means, own_tokens,
                                  per_group, ranks, real, rewards_of, summed)
from functions.batches import TENTHS, UNMASKED, WITH_HOLES, each, marks, of_lengths, switches, tokens
from functions.comparing import cases_of, close, entry, every, exactly, fraction, thrown, values
from functions.domains import FLAG, FRACTION, INTEGER, NOT_NEGATIVE, NUMBER, POSITIVE, integer, many, one_of, reads
from functions.registry import cases, checks, function
from limits import ZERO, settle
from scenarios import NAN, Dice


# ---- diversity_reward

@function(reward=many(NUMBER))
def diversity_reward(reward: many(NUMBER), similarity: many(many(NUMBER)), eps: NUMBER):
    """DRA-GRPO (2505.09655), official code: the reward divided by the sum of similarities to the others.

    Source: 2505.09655, official code
    Takes: `reward` (n), `similarity` (n x n), `eps`
    Gives: `reward` (n): r_i/D_i, D_i = sum_j similarity_ij + eps; D_i = 0 is an input error. Scale abs(r_i)(sum_j abs(similarity_ij) +
    abs(eps))/D_i^2
    """
    def shared(r, row):
        divisor = sum(row) + eps
        return Number(r / divisor, abs(r) * (sum(abs(s) for s in row) + abs(eps)) / divisor ** 2)
    return {"reward": [shared(r, row) for r, row in zip(reward, similarity)]}


@cases("diversity_reward")
def diversity_reward_cases(case):
    ALIKE = [[1, 0.5, 0.25], [0.5, 1, 0.75], [0.25, 0.75, 1]]
    for label, comment, reward, similarity, eps in (
            ("plain", "the more similar to the others a response is, the smaller its reward", [1, 0, 1], ALIKE, 1e-6),
            ("same", "three responses of similarity 1: each has a third of its reward", [1, 1, 0.5], [[1] * 3] * 3, 0),
            ("apart", "similarity 0 to all others: rewards stay", [1, -0.5, 0.25], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], 0),
            ("opposite", "negative similarities: a reward may grow", [1, 0.75, -1],
             [[1, -0.5, 0.25], [-0.5, 1, -0.375], [0.25, -0.375, 1]], 1e-6),
            ("negative-sum", "a negative sum of similarities turns the sign of the reward",
             [1, 1, 1], [[1, -0.875, -0.5], [-0.875, 1, 0.125], [-0.5, 0.125, 1]], 0),
            ("one", "a single response: its reward is divided by 1 + eps only", [0.75], [[1]], 1e-6)):
        case(label, comment, reward=reward, similarity=similarity, eps=eps)


@checks("diversity_reward")
def check_diversity_reward(check):
    for label, given, _ in cases_of("diversity_reward"):
        found = exactly("diversity_reward", **given)["reward"]
        back = [n.value * (sum(map(Fraction, row)) + Fraction(given["eps"])) for n, row in zip(found, given["similarity"])]
        check(f"times the sum again: {label}", back == given["reward"])
        check(f"a size is not below its number: {label}", all(n.size >= abs(n.value) for n in found))


# ---- unlikeliness

@function(reward=many(NUMBER))
def unlikeliness_reward(batch: reads("logp_old", "reward"), beta: NUMBER):
    """2506.02355: likely responses get smaller rewards, by their rank of mean log-probability.

    Source: 2506.02355
    Takes: batch with `logp_old`, `reward`; `beta`
    Gives: `reward` (N): r (1 - beta k/G), k = 0.. the rank, ascending, of the mean of o over mask tokens (0 without any) in the group,
    the lower index first where equal; scale abs(r)(1 + abs(beta) k/G)
    """
    score = means(batch, "logp_old")
    r = [Fraction(x) for x in batch["reward"]]

    def shaped(group):
        order = ranks([score[i].value if i in score else Fraction(0) for i in group])
        return [Number(r[i] * (1 - beta * k / len(group)), abs(r[i]) * (1 + abs(beta) * k / len(group)))
                for i, k in zip(group, order)]
    return {"reward": per_group(batch, shaped)}


@cases("unlikeliness_reward")
def unlikeliness_cases(case):
    def unlikely(label, comment, old, reward, group, beta=0.25, mask=None):
        case(label, comment, tokens(list(group), mask, reward, logp_old=old), beta=beta)

    unlikely("plain", "ranks by the mean, not the sum, of log-probabilities: the longest response is the likeliest",
             [[-0.5, -0.25, -0.5], [-1], [-2, -0.75], [-3]],
             [1, 1, 1, 1], (0, 0, 0, 0))
    unlikely("source", "of four responses the least and the second likeliest are right",
             [[-4], [-1], [-3], [-2]], [1, 0, 0, 1], (0, 0, 0, 0))
    unlikely("ties", "equal mean log-probabilities: the lower index has the lower rank",
             [[-1], [-0.5, -1.5], [-1, -1, -1], [-2]], [1, TENTHS, -0.5, 1], (0, 0, 0, 0),
             0.5)
    unlikely("holes", "ranks within each group; a fully masked response has mean 0 and is the likeliest",
             WITH_HOLES["logp_old"] + [[-2]], [1, 1, 1, -1], (0, 0, 1, 1),
             0.3, "1011 00 11 1")


@checks("unlikeliness_reward")
def check_unlikeliness_reward(check):
    for label, given, batch, found in every("unlikeliness_reward"):
        worth = exactly("unlikeliness_reward", {**batch, "reward": [1] * len(batch["reward"])}, **given)["reward"]
        for group in by_group(batch):
            lost = sorted((1 - worth[i].value) * len(group) / Fraction(given["beta"]) for i in group)
            check(f"every rank once: {label}", lost == list(range(len(group))))
        products = [x.value * Fraction(y) for x, y in zip(worth, batch["reward"])]
        check(f"a factor: {label}", values(found["reward"]) == products)


# ---- frequency_reward

@function(reward=many(NUMBER))
def frequency_reward(batch, answer: many(integer(-1)), size: integer(1)):
    """GAPO (group-aware, EMNLP 2025): the reward falls with the frequency of the answer in the group; 1 at frequency 1/L.

    Source: GAPO, group-aware, 2511.12596
    Takes: batch; `answer` (N ids >= 0, or -1: invalid), `size` L >= 1
    Gives: `reward` (N): 1 - f + 1/L, f the share of its answer among the group's valid ones; -1 if invalid; scale 1 + f + 1/L, or 1
    """
    def shaped(group):
        valid = [answer[i] for i in group if answer[i] >= 0]
        found = []
        for i in group:
            f = Fraction(valid.count(answer[i]), len(valid)) if answer[i] >= 0 else None
            found.append(Number(Fraction(-1), Fraction(1)) if f is None else summed((Fraction(1), -f, 1 / size)))
        return found
    return {"reward": per_group(batch, shaped)}


@cases("frequency_reward")
def frequency_reward_cases(case):
    def frequent(label, comment, answer, group, size):
        case(label, comment, of_lengths([1] * len(answer), list(group)), answer=answer, size=size)

    frequent("plain", "a rare answer is worth more than 1, a frequent one less", [3, 3, 3, 7], (0,) * 4, 3)
    frequent("invalid", "invalid answers (-1) have reward -1 and count in no frequency", [5, -1, 5, 2, -1], (0,) * 5, 4)
    frequent("groups", "frequencies within each group: one without a valid answer, one of a single response",
             [1, 1, -1, -1, 1], (0, 0, 1, 1, 2), 6)
    frequent("one", "size 1: rewards of 2 minus the frequency", [8, 8, 9], (0,) * 3, 1)


@checks("frequency_reward")
def check_frequency_reward(check):
    for label, given, batch, found in every("frequency_reward"):
        for group in by_group(batch):
            valid = [i for i in group if given["answer"][i] >= 0]
            different = {given["answer"][i] for i in valid}
            first = [next(i for i in valid if given["answer"][i] == x) for x in different]
            shares = [1 - found["reward"][i].value + Fraction(1, given["size"]) for i in first]
            check(f"shares of all answers are 1: {label}", sum(shares) == bool(valid))
            check(f"-1 for the others: {label}", all(found["reward"][i].value == -1 for i in group if i not in valid))


# ---- win_rate_reward

@function(reward=many(FRACTION))
def win_rate_reward(wins: many(many(NUMBER), least=1)):
    """PREF-GRPO (2508.20751): the fraction of comparisons that a response wins.

    Source: PREF-GRPO, 2508.20751
    Takes: `wins` (n x n, n >= 1: 1, 1/2 or 0 for i against j; wins_ij + wins_ji = 1; the diagonal is not read)
    Gives: `reward` (n): sum of wins_ij over j != i, divided by n - 1; 0 if n = 1; scale itself
    """
    others = max(len(wins) - 1, 1)
    return {"reward": itself(Fraction(sum(x for j, x in enumerate(row) if j != i), others) for i, row in enumerate(wins))}


@cases("win_rate_reward")
def pairwise_wins_cases(case):
    each(case,
         ("plain", "four responses with wins and ties; the diagonal holds anything and is not read",
          dict(wins=[[UNMASKED, 1, 0.5, 0], [0, UNMASKED, 1, 1], [0.5, 0, -7, 0.5], [1, 0, 0.5, 3]])),
         ("order", "the first response wins all comparisons, the last none", dict(wins=[[0, 1, 1], [0, 0, 1], [0, 0, 0]])),
         ("ties", "all comparisons are ties: every reward is 1/2", dict(wins=[[1, 0.5, 0.5], [0.5, 1, 0.5], [0.5, 0.5, 1]])),
         ("one", "a single response has nothing to be compared with: reward 0", dict(wins=[[1]])))


@checks("win_rate_reward")
def check_pairwise_wins_unread(check):
    for label, given, _, found in every("win_rate_reward"):
        other = [[5 if i == j else x for j, x in enumerate(row)] for i, row in enumerate(given["wins"])]
        check(f"the diagonal: {label}", exactly("win_rate_reward", wins=other) == found)


@checks("win_rate_reward")
def check_win_rate_reward(check):
    for label, given, _, found in every("win_rate_reward"):
        n = len(given["wins"])
        check(f"a win for every comparison: {label}", sum(values(found["reward"])) == (Fraction(n, 2) if n > 1 else 0))


# ---- pairwise_rewards

@function(reward=many(NUMBER), masked=many(FLAG))
def pairwise_rewards(batch, outcome: many(one_of(-1, 0, 1)), ended: many(FLAG)):
    """PPR-GDE (2605.18191), code: responses are compared in pairs; the shortest winner that ended gets 1; ties are masked.

    Source: PPR-GDE, 2605.18191, zhiyu-co/ppr-gde@595063e thinking.py
    Takes: batch; `outcome` (of the pairs of responses 2k, 2k + 1 of each group, of all groups in order: 1 if the first wins, -1 the
    second, 0 a tie), `ended` (N flags)
    Gives: `reward` (N): of a loser -1, of a winner -1 if it did not end, else Tmin/T, T >= 1 its mask tokens and Tmin the smallest T of
    the group's winners that ended; of others 0; scale itself. `masked` (N flags): the members of ties
    """
    T = lengths_of(batch)
    pairs = [[group[k:k + 2] for k in range(0, len(group) - 1, 2)] for group in by_group(batch)]
    sides = iter(outcome)
    reward, masked = [Fraction(0)] * len(T), [False] * len(T)
    for members in pairs:
        winners = []
        for (a, b), side in zip(members, [next(sides) for _ in members]):
            if side:
                winner, loser = (a, b) if side > 0 else (b, a)
                winners.append(winner)
                reward[winner] = reward[loser] = Fraction(-1)
            else:
                masked[a] = masked[b] = True
        finished = [i for i in winners if ended[i]]
        for i in finished:
            reward[i] = Fraction(min(T[j] for j in finished), T[i])
    return {"reward": itself(reward), "masked": masked}


@cases("pairwise_rewards")
def pair_rewards_cases(case):
    def duel(label, comment, lengths, outcome, ended, group=None, mask=None):
        case(label, comment, of_lengths(lengths, group, mask=mask), outcome=outcome, ended=marks(ended))

    duel("plain", "the shortest winner that ended has 1, a longer winner less, losers -1", (4, 2, 1, 3), [1, -1], "1111")
    duel("cut", "a winner that did not end has -1 like a loser, and does not count as the shortest",
         (1, 2, 4, 1, 3, 5), [1, 1, -1], "001011")
    duel("ties", "members of a tie are masked; an unpaired third response has 0; each group has its own shortest",
         (2, 1, 3, 4, 2, 3, 1), [0, 1, -1], "1111111",
         [0, 0, 1, 1, 1, 2, 2])
    duel("alone", "groups of one response have no pair: every reward is 0", (2, 1), [], "11", [0, 1])
    duel("masked", "length counts unmasked tokens",
         (3, 2, 3, 2), [1, -1], "1111", mask="101 00 111 11")


@checks("pairwise_rewards")
def check_pairwise_rewards(check):
    for label, given, batch, found in every("pairwise_rewards"):
        T, r = lengths_of(batch), values(found["reward"])
        sides, winners = iter(given["outcome"]), {}
        for g, group in enumerate(by_group(batch)):
            for a, b in zip(group[::2], group[1::2]):
                side = next(sides)
                check(f"a tie, and only that, is masked: {label}", found["masked"][a] == found["masked"][b] == (side == 0))
                check(f"the loser: {label}", side == 0 and r[a] == r[b] == 0 or r[b if side > 0 else a] == -1)
                if side:
                    winners.setdefault(g, []).append(a if side > 0 else b)
            if len(group) % 2:
                check(f"the odd one: {label}", r[group[-1]] == 0 and not found["masked"][group[-1]])
        check(f"every pair is told: {label}", next(sides, None) is None)
        for own in winners.values():
            ended = [i for i in own if given["ended"][i]]
            check(f"winners that ended have one product: {label}", len({r[i] * T[i] for i in ended}) <= 1)
            check(f"the best of them has 1, the others lose: {label}", max([r[i] for i in ended], default=1) == 1
                  and all(r[i] == -1 for i in own if i not in ended))


# ---- permutation_reward

def judge(choice):
    """Two orders of the same question: 1 where the choices are the same."""
    return [[Fraction(1 if a == b else -1) for a, b in zip(*choice)]] * 2


def votes(choice):
    """1 for the one choice that is more frequent than any other."""
    every = [x for row in choice for x in row]
    counts = {x: every.count(x) for x in every}
    best = [x for x, n in counts.items() if n == max(counts.values())]
    return [[Fraction(1 if best == [x] else -1) for x in row] for row in choice]


CONSISTENT = {"judge": judge, "votes": votes}


@function(reward=many(NUMBER))
def permutation_reward(choice: many(many(INTEGER), least=1), form: one_of("judge", "votes")):
    """PA-GRPO (2603.21016): consistency of the choice over orders of the options.

    Source: PA-GRPO, 2603.21016
    Takes: `choice` (P rows of n ids: a row for each order of the options), `form`
    Gives: `reward` (P n, row by row): `judge` (P = 2): 1 if both rows have the same id at that place, else -1; `votes`: 1 if its id is
    more frequent than every other of all P n, else -1; scale itself
    """
    return {"reward": itself(x for row in CONSISTENT[form](choice) for x in row)}


@cases("permutation_reward")
def permutation_reward_cases(case):
    each(case,
         ("judge", "two orders of the options: 1 where a sample chooses alike in both, else -1",
          dict(choice=[[0, 1, 1, 0], [0, 0, 1, 1]], form="judge")),
         ("votes", "form `votes`: the choice of most samples over all orders has 1, others -1",
          dict(choice=[[2, 1], [2, 0], [2, 1], [3, 2], [2, 2]], form="votes")),
         ("tie", "two choices are equally frequent: every reward is -1", dict(choice=[[0, 1, 2], [1, 0, 3]], form="votes")),
         ("one", "a single order of the options: its most frequent choice has 1", dict(choice=[[4, 4, 1]], form="votes")))


@checks("permutation_reward")
def check_permutation_reward(check):
    for label, given, _, found in every("permutation_reward"):
        rows, r = given["choice"], values(found["reward"])
        n = len(rows[0])
        if given["form"] == "judge":
            check(f"both alike: {label}", r[:n] == r[n:] and all((x == 1) == (a == b) for x, a, b in zip(r, *rows)))
        else:
            every_choice = [x for row in rows for x in row]
            best = statistics.multimode(every_choice)
            check(f"the mode: {label}", r == [1 if best == [x] else -1 for x in every_choice])


# ---- min_max_reward

@function(reward=many(NOT_NEGATIVE))
def min_max_reward(distance: many(NUMBER, least=1)):
    """PPR-GDE: distances from the group's centre, scaled to 0 .. 1.

    Source: PPR-GDE, 2605.18191, zhiyu-co/ppr-gde@595063e tools.py
    Takes: `distance` d (n >= 1)
    Gives: `reward` (n): (d - min)/(max - min), all 0 if max - min < 10^-8; scale (abs(d) + abs(min))/(max - min), or 0
    """
    low, high = min(distance), max(distance)
    if less(high - low, SMALL):
        return {"reward": [NOTHING] * len(distance)}
    return {"reward": [Number((d - low) / (high - low), (abs(d) + abs(low)) / (high - low)) for d in distance]}


@cases("min_max_reward")
def spread_reward_cases(case):
    each(case,
         ("plain", "the smallest distance has 0, the largest 1", dict(distance=[0.5, 2, TENTHS, 1.25])),
         ("equal", "equal distances: every reward is 0, nothing is divided by 0", dict(distance=[0.3, 0.3, 0.3])),
         ("close", "distances that differ by less than 1e-8 count as equal: every reward is 0",
          dict(distance=[1, 1 + 2 ** -27, 1])),
         ("narrow", "distances that differ by slightly more than 1e-8 are scaled to 0 .. 1",
          dict(distance=[1, 1 + 2 ** -26, 1 + 2 ** -27])),
         ("one", "a single response has reward 0", dict(distance=[4])))


@checks("min_max_reward")
def check_min_max_reward(check):
    for label, given, _, found in every("min_max_reward"):
        r = values(found["reward"])
        apart = max(given["distance"]) - min(given["distance"]) >= 1e-8
        check(f"0 and 1 are there, or 0 alone: {label}", {min(r), max(r)} == ({0, 1} if apart else {0}))
        moved = exactly("min_max_reward", distance=[Fraction(3) * Fraction(x) + 5 for x in given["distance"]])["reward"]
        check(f"units and origin do not matter: {label}", not apart or values(moved) == r)


# ---- entropy_rank_reward

@function(reward=many(NUMBER))
def entropy_rank_reward(peak: many(NUMBER, least=1), overall: many(NUMBER), top: NUMBER):
    """R3 (2601.19620): ranked by the number of other responses with a lower peak entropy and a higher overall entropy.

    Source: R3, 2601.19620
    Takes: `peak`, `overall` (n >= 1 each), `top`
    Gives: i dominates j if peak_i > peak_j and overall_i < overall_j. Ranks k = 0, 1, ... by falling number of those that it dominates,
    the lower index first where equal. `reward` (n): top (1 - k/(n - 1)), top if n = 1; scale abs(top)
    """
    n = len(peak)
    beaten = [sum(less(peak[j], peak[i]) and less(overall[i], overall[j]) for j in range(n)) for i in range(n)]
    order = sorted(range(n), key=lambda i: (-beaten[i], i))
    return {"reward": [Number(top * (1 - Fraction(order.index(i), max(n - 1, 1))), abs(top)) for i in range(n)]}


@cases("entropy_rank_reward")
def entropy_rank_reward_cases(case):
    each(case,
         ("plain", "two responses dominate one other each: the earlier has the better rank",
          dict(peak=[2, 1, 3, 0.5], overall=[0.5, 0.75, 1, 1.25], top=0.5)),
         ("chain", "four responses, each dominating all that rank below it",
          dict(peak=[1, 4, 2, 3], overall=[0.8, 0.2, 0.6, 0.4], top=1)),
         ("ties", "equal peak or equal overall entropies: neither response dominates the other",
          dict(peak=[1, 1, 2], overall=[0.5, 0.25, 0.5], top=0.7)),
         ("one", "a single response has the full reward", dict(peak=[1], overall=[2], top=0.3)))


@checks("entropy_rank_reward")
def check_entropy_rank_reward(check):
    dice = Dice(22)
    given = [given for _, given, _ in cases_of("entropy_rank_reward")]
    given += [dict(peak=thrown(dice, 5, 0, 1, 4), overall=thrown(dice, 5, 0, 1, 4), top=1) for _ in range(30)]
    for a in given:
        n, found = len(a["peak"]), values(exactly("entropy_rank_reward", **a)["reward"])
        beats = lambda i, j: a["peak"][i] > a["peak"][j] and a["overall"][i] < a["overall"][j]
        number = [sum(beats(i, j) for j in range(n)) for i in range(n)]
        ahead = [sum(number[j] > number[i] or number[j] == number[i] and j < i for j in range(n)) for i in range(n)]
        last = max(n - 1, 1)
        check("as many steps down as are ahead", [x * last for x in found] == [Fraction(a["top"]) * (last - k) for k in ahead])
        check("who beats another has more", all(found[i] > found[j] for i in range(n) for j in range(n) if beats(i, j)))


# ---- entity_reward

@function(reward=many(NUMBER))
def entity_reward(batch, found: many(FRACTION), correct: many(FLAG), invalid: many(FLAG), alpha: NUMBER):
    """E-GRPO (2510.24694): wrong responses get a partial reward for entities found, relative to the most found in the group.

    Source: E-GRPO, 2510.24694
    Takes: batch; `found` (N, in [0, 1]), `correct`, `invalid` (N flags each), `alpha`
    Gives: `reward` (N): 0 if invalid; else 1 if correct; else alpha found_i/max found of the group (all its responses), 0 if the
    maximum is 0; scale itself
    """
    def shaped(group):
        most = max(found[i] for i in group)
        share = lambda i: alpha * found[i] / most if most else Fraction(0)
        return itself(Fraction(0) if invalid[i] else Fraction(1) if correct[i] else share(i) for i in group)
    return {"reward": per_group(batch, shaped)}


@cases("entity_reward")
def entity_credit_cases(case):
    for label, comment, found, correct, invalid, group in (
            ("plain", "a wrong response has a share of alpha relative to the most entities found in the group",
             [0.5, 0.25, 0.75, 0], "0010", "0000", (0, 0, 0, 0)),
            ("invalid", "invalid responses have 0, but their entities count for the group's maximum",
             [1, 0.25, 0.5, 0.5], "0010", "1001",
             (0,) * 4),
            ("nothing", "no response found an entity: wrong ones have 0, nothing is divided by 0",
             [0, 0, 0], "010", "000", (0, 0, 0)),
            ("tiny", "shares near the smallest binary64: their quotient is ordinary", [2.0 ** -1074, 2.0 ** -1060], "00", "00", (0, 0)),
            ("groups", "the most entities found are those of the own group",
             [0.7, 0.3, 0.1, 0.2, 1], "00000", "00000", (0, 0, 1, 1, 2))):
        case(label, comment, tokens(list(group), logp=[[-0.5]] * len(found)),
             found=found, correct=marks(correct), invalid=marks(invalid), alpha=0.3)


@checks("entity_reward")
def check_entity_reward(check):
    for label, given, batch, found in every("entity_reward"):
        other = {**given, "found": [Fraction(x) / 2 for x in given["found"]]}
        check(f"half of everything is the same: {label}", exactly("entity_reward", batch, **other) == found)


# ---- consistency_bonus

def below(x, y):
    """x < y, of sums of 60 digits."""
    return bool(settle(x - y, abs(x) + abs(y))) and limits.less(x, y)


@function(reward=many(NUMBER))
def consistency_bonus(batch: reads("reward", "logp_ref", "selected"), accuracy: many(NUMBER), cap: POSITIVE, margin: NUMBER,
                      **more: {"lambda": NUMBER}):
    """GRPO-CARE (2506.16141), official code: a bonus for right responses with answers about as likely under the reference as the others'.

    Source: GRPO-CARE, 2506.16141, official code
    Takes: batch with `reward`, `logp_ref`, `selected` (the answer's tokens); `accuracy` a (N), `lambda`, `cap` > 0, `margin`
    Gives: c_i = min(e^(mean of f over the response's mask tokens that are selected), cap), min(1, cap) without any. Fair: a_i > 0.1,
    the binary64, and a_i >= mean a of the group; cbar = mean of c over the fair ones of the group. `reward` (N): r + lambda a_i if fair
    and c_i >= cbar - margin, else r; scale abs(r) + abs(lambda a_i) where it is added
    """
    f, r, weight = at(batch, "logp_ref"), rewards_of(batch), more["lambda"]

    def likely(own):
        chosen = [f[p] for p in own if batch["selected"][p[0]][p[1]]]
        return min(exp(mean(chosen) if chosen else 0), real(cap))
    c = [likely(own) for own in own_tokens(batch)]

    def shaped(group):
        fair = [i for i in group if less(Fraction(0.1), accuracy[i]) and not less(accuracy[i], mean([accuracy[j] for j in group]))]
        least = sum(c[i] for i in fair) / len(fair) - real(margin) if fair else ZERO
        given = {i: weight * accuracy[i] if i in fair and not below(c[i], least) else Fraction(0) for i in group}
        return [Number(r[i] + given[i], abs(r[i]) + abs(given[i])) for i in group]
    return {"reward": per_group(batch, shaped)}


@cases("consistency_bonus")
def consistency_bonus_cases(case):
    def care(label, comment, reward, ref, selected, accuracy, group=(0, 0, 0), cap=0.95, margin=0.01, mask=None,
             weight=0.5):
        batch = tokens(list(group), mask, list(reward), logp_ref=ref, selected=switches(selected))
        case(label, comment, batch, accuracy=accuracy, cap=cap, margin=margin, **{"lambda": weight})

    care("plain", "of two right responses only the likelier answer gets the bonus; a wrong one does not", [1.5, 1, 0.5],
         [[-2, -0.25, -0.5], [-0.25, -1.5], [-1, -0.125]],
         "011 01 11", [1, 1, 0])
    care("capped", "equal accuracies, all likelihoods at the cap and no margin: every response gets the bonus", [1, 1, 0.5],
         [[-0.015625, -2, -4], [-1, -0.03125], [-3, 0]],
         "100 01 01", [TENTHS] * 3, margin=0)
    care("few", "an accuracy of 0.1 is not above 0.1, and one below the group's mean gets no bonus",
         [0, 1, 0.25, 1], [[-1], [-1], [-2], [-3]], "1 1 1 1",
         [0.1, 0.0625, 0.25, 1], (0, 0, 1, 1), margin=0.5)
    care("empty", "a response without selected unmasked tokens has likelihood 1; a less likely one gets no bonus", [1, 1, 1],
         [[-0.5, NAN, -1], [NAN, -0.5], [-0.5, -2]],
         "010 11 11", [1, 1, 1], cap=2, margin=0.25, mask="101 00 11")
    care("hopeless", "all accuracies are 0: no response gets the bonus",
         [0, 0.25, -1], [[-1, -1], [-2], [-1]], "11 1 1", [0, 0, 0], weight=2)


@checks("consistency_bonus")
def check_consistency_bonus(check):
    for label, given, batch, found in every("consistency_bonus"):
        a, mine = fraction(given["accuracy"]), own_tokens(batch)
        chosen = [[float(entry(batch["logp_ref"], p)) for p in line if entry(batch["selected"], p)] for line in mine]
        c = [min(math.exp(statistics.mean(f or [0])), given["cap"]) for f in chosen]
        for group in by_group(batch):
            fair = [i for i in group if a[i] > Fraction(0.1) and a[i] * len(group) >= sum(a[j] for j in group)]
            for i in group:
                enough = i in fair and c[i] >= statistics.mean(c[j] for j in fair) - given["margin"] - 1e-12
                more = found["reward"][i].value - Fraction(batch["reward"][i])
                check(f"with the standard library: {label}", more == (Fraction(given["lambda"]) * a[i] if enough else 0))


# ---- interval_reward

def spread(xs, divisor):
    """Standard deviation, and the same with plus for minus."""
    sizes = [(abs(x) + mean(absolute(xs))) ** 2 for x in xs]
    return [reals.sqrt(real(sum(squares) / divisor)) for squares in ([(x - mean(xs)) ** 2 for x in xs], sizes)]


@function(reward=many(FRACTION))
def interval_reward(begin: many(NUMBER, least=2), end: many(NUMBER, least=2), gamma: NOT_NEGATIVE, sample: FLAG):
    """URPA (2508.06317): the overlap with the mean interval, reduced by the spread of the intervals.

    Source: URPA, 2508.06317
    Takes: `begin`, `end` (n >= 2 each, end > begin), `gamma` >= 0, flag `sample`
    Gives: s = mean begin, e = mean end, u = deviation of begin + deviation of end, divisor n - 1 with sample, else n. H = max(end, e) -
    min(begin, s). `reward` (n): max(0, min(end, e) - max(begin, s))/H times e^(-gamma u). Scale: itself times 1 + gamma u', plus (sum
    of the absolute values of the four ends)/H times e^(-gamma u); u' is u with abs(x) + mean abs(x) in the place of x - mean x
    """
    n = len(begin)
    spreads = [spread(xs, n - 1 if sample else n) for xs in (begin, end)]
    doubt, size = (real(gamma) * sum(x) for x in zip(*spreads))

    def worth(b, e):
        ends = [b, e, mean(begin), mean(end)]
        union = max(e, ends[3]) - min(b, ends[2])
        overlap = max(Fraction(0), min(e, ends[3]) - max(b, ends[2])) / union
        trust = reals.exp(-doubt)
        return Number(real(overlap) * trust, real(overlap) * trust * (1 + size) + real(sum(absolute(ends)) / union) * trust)
    return {"reward": [worth(*x) for x in zip(begin, end)]}


@cases("interval_reward")
def interval_reward_cases(case):
    def span(label, comment, begin, end, gamma=0.5, sample=False):
        case(label, comment, begin=begin, end=end, gamma=gamma, sample=sample)

    span("plain", "three intervals that overlap the mean interval, and one that ends before it: reward 0",
         [1, 1.5, 2, 0], [4, 3.5, 5, 1])
    span("sample", "sample deviations (divisor n - 1) in place of population deviations",
         [1, 1.5, 2, 0], [4, 3.5, 5, 1], sample=True)
    span("equal", "all intervals are equal: every reward is 1", [0.7, 0.7], [2.1, 2.1], 3)
    span("certain", "gamma 0: the spread of the intervals costs nothing", [0, 10, 4], [2, 16, 7], 0)
    span("negative", "intervals with negative ends", [-3, -2.5], [-1, 0.1], 0.25, True)


@checks("interval_reward")
def check_interval_reward(check):
    for label, given, _, found in every("interval_reward"):
        deviation = statistics.stdev if given["sample"] else statistics.pstdev
        u = sum(deviation(given[key]) for key in ("begin", "end"))
        s, e = (statistics.mean(given[key]) for key in ("begin", "end"))
        for b, f, n in zip(given["begin"], given["end"], found["reward"]):
            inside = max(0, (f - b) + (e - s) - (max(f, e) - min(b, s)))  # two lengths less their hull is their overlap
            expected = inside / (max(f, e) - min(b, s)) * math.exp(-given["gamma"] * u)
            check(f"with the standard library: {label}", close(float(n.value), expected))
