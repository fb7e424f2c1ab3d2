"""Advantages of tokens, and statistics that distinguish tokens of right and of wrong responses."""
import itertools
import math
import statistics
from fractions import Fraction

import limits
import reals
from functions.arithmetic import (NOTHING, Number, at, by_group, clamp, mean, own_tokens, per_group, read, real, rewards_of, rows,
                                  sample_variance)
from functions.batches import TENTHS, UNMASKED, each, marks, tokens
from functions.comparing import cases_of, close, entry, every, exactly, fraction, near, rational, replaced, values
from functions.domains import FLAG, FRACTION, INTEGER, NOT_NEGATIVE, NOT_POSITIVE, NUMBER, POSITIVE, TOKENS, many, reads
from functions.registry import cases, checks, function
from limits import ONE, ZERO, settle
from reals import mpf
from scenarios import NAN


def numbers(rows):
    return [n.value for row in rows for n in row]


# ---- key_token_advantage

def ways(n, k):
    return math.comb(n, k) if 0 <= k <= n else 0


def fisher_p(a, b, c, d):
    """Fisher's exact test, two-sided: the probability of tables with these margins that are no likelier than this one."""
    likelihood = lambda k: Fraction(ways(a + c, k) * ways(b + d, a + b - k), ways(a + b + c + d, a + b))
    return sum(p for p in map(likelihood, range(a + b + 1)) if p <= likelihood(a))


def fisher_score(*table):
    p = fisher_p(*table)
    return reals.exp(-2 * real(p)) if p != 1 else ZERO


def split_entropy(x, y):
    """Entropy of a split into x and y."""
    shares = [mpf(z) / (x + y) for z in (x, y) if z]
    return -sum((s * reals.log(s, 2) for s in shares), ZERO)


def gain_in_bits(a, b, c, d):
    """H(right) - H(right | the id occurs), in bits."""
    n = a + b + c + d
    given = sum((mpf(x + y) / n * split_entropy(x, y) for x, y in ((a, b), (c, d)) if x + y), ZERO)
    return Number(split_entropy(a + c, b + d) - given, split_entropy(a + c, b + d) + given)


GUARD = mpf(10) ** -10
TF_GUARD = mpf(10) ** -5


def cohen(a, c):
    return reals.asin(reals.sqrt(a / (a + c + GUARD)))


def saturated(count, total, average):
    """BM25 of an id's share of the tokens on one side, k1 = 2 and b = 1/2."""
    share = mpf(count) / total if total else ZERO
    return 3 * share / (share + 2 * (mpf(1) / 2 + total / average / 2))


def direction(table, counts, totals, frequency):
    a, b, c, d = table
    terms = [cohen(a, c), -cohen(b, d)]
    if frequency:
        right, wrong = (saturated(n, total, mpf(sum(totals)) / 2) for n, total in zip(counts, totals))
        terms += [right / (wrong + TF_GUARD), -wrong / (right + TF_GUARD)]
    return Number(sum(terms), sum(abs(x) for x in terms))


def key(table, counts, totals, fisher, gain, top, frequency):
    """top (2 sigmoid(z) - 1), z = (alpha f + beta IG) h/(alpha + beta)."""
    f, G, h = fisher_score(*table), gain_in_bits(*table), direction(table, counts, totals, frequency)
    share = lambda x: (real(fisher) * f + real(gain) * x) / real(fisher + gain)
    size = share(G.size) * h.size
    k = reals.tanh(settle(share(G.value) * h.value, size) / 2)
    return Number(real(top) * k, real(abs(top)) * (abs(k) + (1 - k * k) * size / 2))


@function(key=TOKENS)
def key_token_advantage(batch: reads("reward"), token: many(many(INTEGER)), fisher: NOT_NEGATIVE, gain: NOT_NEGATIVE, top: NUMBER,
                        ignored: INTEGER,
               frequency: FLAG):
    """KTAE (2505.16826), official code: how strongly a token id is associated with right or with wrong responses.

    Source: KTAE, 2505.16826, official code
    Takes: batch with `reward`; `token` per token: an integer id; `fisher` alpha >= 0, `gain` beta >= 0, not both 0; `top`, `ignored`
    (an id, -1: none), `frequency`
    Gives: `key` per token: K of its id in its group, below

    For an id v at a mask token of a group with right (r > 0) and wrong (r <= 0) responses: a right and b wrong responses have v at a mask
    token, c and d have not (responses without mask tokens are among them); n = a + b + c + d.

    - Fisher: p = sum of P(k) over the k with P(k) <= P(a), P(k) = C(a+c, k) C(b+d, a+b-k)/C(n, a+b), compared as exact rationals;
      f = e^(-2p), 0 if p = 1.
    - Information gain: G = H(a+c, b+d) - (a+b)/n H(a, b) - (c+d)/n H(c, d), H(x, y) the entropy in bits of the shares x/(x+y), y/(x+y);
      H(0, 0) = 0.
    - Direction: h = asin sqrt(a/(a+c+1e-10)) - asin sqrt(b/(b+d+1e-10)). With `frequency` + R/(W + 1e-5) - W/(R + 1e-5): of the L mask
      tokens of the right responses a share q is v (0 if L = 0), R = 3 q/(q + 1 + L/m), m the mean of L of the two sides; W likewise of
      the wrong ones.

    K = top (2 sigmoid(z) - 1), z = (alpha f + beta G) h/(alpha + beta). K is 0 for the ignored id and in groups where every response is
    right or every one is wrong. An id of one side only thus has R/1e-5 or -W/1e-5 in h, and K is almost +-top. Scale:
    abs(top)(abs(k) + (1 - k^2) s/2), k = K/top and s = (alpha f + beta G') h'/(alpha + beta), G' and h' the sums of the absolute values of
    their terms (for G' the three of G).
    """
    ids = read(batch, token)
    found = {}
    for group in by_group(batch):
        sides = [[i for i in group if (batch["reward"][i] > 0) == right] for right in (True, False)]
        here = [[ids[p] for p in ids if p[0] in side] for side in sides]
        for p in (p for p in ids if p[0] in group and ids[p] != ignored and all(sides)):
            with_it = [sum(any(ids[q] == ids[p] for q in ids if q[0] == i) for i in side) for side in sides]
            without = [len(side) - n for side, n in zip(sides, with_it)]
            found[p] = key((*with_it, *without), [side.count(ids[p]) for side in here], [len(side) for side in here],
                           fisher, gain, top, frequency)
    return {"key": rows(batch, found, NOTHING)}


@cases("key_token_advantage")
def key_tokens_cases(case):
    IDS = [[3, 7, 7, 2], [7, 5, 2], [3, 5, 2], [5, 4, 2, 2]]

    def ktae(label, comment, reward, ids=IDS, group=(0, 0, 0, 0), mask=None, fisher=1, gain=1, top=1,
             ignored=-1, frequency=True):
        x = tokens(list(group), mask, reward, logp=[[-0.5] * len(row) for row in ids])
        case(label, comment, x, token=ids, fisher=fisher, gain=gain, top=top, ignored=ignored, frequency=frequency)

    EVEN = [[3, 7, 2, 5], [7, 5, 2, 2], [7, 5, 2], [5, 2, 7, 7], [5, 5, 2, 9]]
    ktae("one-side", "ids that only right (7) or only wrong responses (4) have: with frequencies their keys are 1 and -1",
         [1, 1, 0, 0])
    ktae("presence", "no frequencies: keys from presence in the responses alone", [1, 1, 0, 0], frequency=False)
    ktae("fisher", "gain 0: only Fisher's test counts", [1, 1, 0, 0], gain=0, frequency=False)
    ktae("gain", "fisher 0: only the information gain counts", [1, 1, 0, 0], fisher=0, frequency=False)
    ktae("both-sides", "every id but 3 and 9 occurs in right and in wrong responses", [1, 1, 0, 0, 0], EVEN, (0,) * 5)
    ktae("both-sides-weighted", "weights 0.5 of Fisher's test and 2 of the gain; the largest key is 0.5",
         [1, 0, 1, 0, 0], EVEN, (0,) * 5, fisher=0.5, gain=2, top=0.5)
    ktae("ignored", "the ignored id 7 has key 0, though only right responses have it", [1, 1, 0, 0], ignored=7, frequency=False)
    ktae("everywhere", "ids that every response has say nothing: their key is 0", [1, 0], [[2, 2, 7], [2, 7]], (0, 0))
    ktae("solved", "groups all right, all wrong or of a single response: every key is 0",
         [1, 2, 0, -1, 1], IDS + [[3]], (0, 0, 1, 1, 2))
    ktae("prompts", "two prompts, keys within each; rewards of 0 and below count as wrong",
         [0.5, 0, -1, 2], IDS, (0, 0, 1, 1), frequency=False)
    ktae("holes", "masked tokens count nowhere; a fully masked response counts among the responses", [1, 1, 0, 0, 0],
         EVEN, (0,) * 5, "1101 0111 110 0000 1011")
    ktae("silent-side", "the right response is fully masked: its frequency of every id is 0", [1, 0, 0], [[3, 7], [7, 5], [5]],
         (0, 0, 0), "00 11 1")


def by_permutations(a, b, c, d):
    """Fisher's test by enumerating all assignments of the id to responses."""
    n, right = a + b + c + d, a + c
    deals = [sum(i < right for i in who) for who in itertools.combinations(range(n), a + b)]
    share = {k: Fraction(deals.count(k), len(deals)) for k in set(deals)}
    return sum(p for p in share.values() if p <= share[a])


@checks("key_token_advantage")
def check_key_tokens_parts(check):
    for table in itertools.product(range(4), repeat=4):
        if table[0] + table[1] and table[0] + table[2] and table[1] + table[3]:
            check(f"Fisher's test of {table}", fisher_p(*table) == by_permutations(*table))
            a, b, c, d = table
            n, joint = sum(table), {(0, 0): a, (0, 1): b, (1, 0): c, (1, 1): d}
            margin = {(0, x): joint[x, 0] + joint[x, 1] for x in (0, 1)} | {(1, y): joint[0, y] + joint[1, y] for y in (0, 1)}
            shared = sum((mpf(k) / n * reals.log(mpf(k * n) / (margin[0, x] * margin[1, y]), 2)
                          for (x, y), k in joint.items() if k), mpf(0))
            check(f"the gain is the mutual information of {table}", near(gain_in_bits(*table).value, shared))
    tea = fisher_p(3, 1, 1, 3), fisher_p(4, 0, 0, 4)
    check("the lady's tea", tea == (Fraction(34, 70), Fraction(2, 70)))
    check("one bit", gain_in_bits(4, 0, 0, 4).value == 1 and gain_in_bits(2, 2, 2, 2).value == 0)


@checks("key_token_advantage")
def check_key_tokens_by_hand(check):
    batch = tokens(logp=[[-1, -1], [-1]], reward=[1, 0])
    given = {"token": [[7, 2], [2]], "fisher": 1, "gain": 1, "top": 2, "ignored": -1, "frequency": False}
    found = numbers(exactly("key_token_advantage", batch, **given)["key"])
    turn = reals.pi() / 2 - reals.atan(mpf(10) ** -5)  # p = 1, a whole bit, all against none
    check("two responses", near(found[0], 2 * reals.tanh(turn / 4)) and found[1:] == [0, 0])
    check("half of two tokens, of three in all", near(saturated(1, 2, mpf(3) / 2), Fraction(9, 17)))
    h = direction((1, 1, 0, 0), (1, 1), (2, 1), True)
    right, wrong = Fraction(9, 17), Fraction(3) / (1 + 1 + Fraction(2, 3))
    guard = Fraction(1, 10 ** 5)
    check("their frequencies against each other", near(h.value, right / (wrong + guard) - wrong / (right + guard)))


@checks("key_token_advantage")
def check_key_token_advantage(check):
    for label, given, batch in cases_of("key_token_advantage"):
        found = numbers(exactly("key_token_advantage", batch, **given)["key"])
        check(f"at most top: {label}", all(abs(k) <= given["top"] for k in found))
        renamed = {**given, "token": replaced(replaced(given["token"], 5, 40), 2, 5)}
        renamed["ignored"] = {5: 40, 2: 5}.get(given["ignored"], given["ignored"])
        check(f"names of ids do not matter: {label}", numbers(exactly("key_token_advantage", batch, **renamed)["key"]) == found)
        other = {**batch, "reward": [-r if r else 1 for r in batch["reward"]]}
        swapped = numbers(exactly("key_token_advantage", other, **given)["key"])
        check(f"right and wrong exchanged: {label}", all(near(x, -y) for x, y in zip(swapped, found)))
        twice = numbers(exactly("key_token_advantage", batch, **{**given, "fisher": 2 * given["fisher"], "gain": 2 * given["gain"]})["key"])
        check(f"only the proportion of the weights counts: {label}", all(map(near, twice, found)))
        longer = {**batch, "reward": [3 * r for r in batch["reward"]]}
        check(f"only the signs of rewards count: {label}", numbers(exactly("key_token_advantage", longer, **given)["key"]) == found)


# ---- jsd_advantage

@function(advantage=TOKENS)
def jsd_advantage(batch: reads("logp_old", "logp_teacher"), beta: FRACTION, coef: NUMBER):
    """Trinity-RFT's distillation: minus the token's part of beta KL(teacher || m) + (1 - beta) KL(student || m), where
    m = beta teacher + (1 - beta) student.

    Source: Trinity-RFT
    Takes: batch with `logp_old` (s), `logp_teacher` (t); 0 <= `beta` <= 1, `coef`
    Gives: m = log(beta e^t + (1 - beta) e^s). `advantage` per token: -coef (beta e^t (t - m) + (1 - beta) e^s (s - m)), so 0 for beta 0
    and 1 and where t = s; scale: the absolute values of the two terms, t - m and s - m as one number each
    """
    s, t = at(batch, "logp_old"), at(batch, "logp_teacher")
    b, c = real(beta), real(coef)

    def advantage(p):
        beside = lambda x, y, share: -reals.log(1 - share + share * reals.exp(real(y - x)))  # x - log m
        terms = [b * reals.exp(real(t[p])) * beside(t[p], s[p], 1 - b), (1 - b) * reals.exp(real(s[p])) * beside(s[p], t[p], b)]
        return Number(-c * sum(terms), abs(c) * sum(abs(x) for x in terms))
    return {"advantage": rows(batch, {p: advantage(p) for p in s}, NOTHING)}


@cases("jsd_advantage")
def jsd_advantage_cases(case):
    STUDENT = [[-0.5, -2, -0.0625], [-1.25, -6]]
    TEACHER = [[-0.75, -0.25, -0.0625], [-4, -5]]
    for label, comment, beta, coef, x in (
            ("half", "beta 0.5: teacher and student have equal weight in the mixture",
             0.5, 1, tokens(logp_old=STUDENT, logp_teacher=TEACHER)),
            ("student", "beta 0.125: the mixture is mostly the student",
             0.125, 2, tokens(logp_old=STUDENT, logp_teacher=TEACHER)),
            ("teacher", "beta 0.9: the mixture is mostly the teacher",
             0.9, 0.5, tokens(logp_old=STUDENT, logp_teacher=TEACHER)),
            ("none", "beta 0: the mixture is the student: every advantage is 0",
             0, 1, tokens(logp_old=STUDENT, logp_teacher=TEACHER)),
            ("all", "beta 1: the mixture is the teacher: every advantage is 0",
             1, 1, tokens(logp_old=STUDENT, logp_teacher=TEACHER)),
            ("equal", "student and teacher are equal: every advantage is exactly 0",
             0.7, 1, tokens(logp_old=STUDENT, logp_teacher=STUDENT)),
            ("near", "student and teacher are nearly equal: the two terms nearly cancel", 0.5, 1,
             tokens(logp_old=[[-0.5, -2]], logp_teacher=[[-0.5 + 2 ** -12, -2 - 2 ** -16]])),
            ("extreme", "either student or teacher gives the token a probability of e^-200 or less", 0.5, 1,
             tokens(logp_old=[[-0.5, -300, -2 ** -20]], logp_teacher=[[-200, -0.25, -800]])),
            ("holes", "masked tokens hold NaN and do not count: their advantage is 0", 0.25, 1,
             tokens(None, "101 01", logp_old=[[-0.5, NAN, -1], [0, -6]], logp_teacher=[[-0.75, NAN, -1.5], [NAN, -5]]))):
        case(label, comment, x, beta=beta, coef=coef)


@checks("jsd_advantage")
def check_jsd_advantage(check):
    for label, given, batch in cases_of("jsd_advantage"):
        swapped = {**batch, "logp_old": batch["logp_teacher"], "logp_teacher": batch["logp_old"]}
        back = exactly("jsd_advantage", swapped, beta=1 - Fraction(given["beta"]), coef=given["coef"])["advantage"]
        found = exactly("jsd_advantage", batch, **given)["advantage"]
        check(f"student and teacher exchanged: {label}", all(map(near, numbers(back), numbers(found))))
    odds = [(Fraction(1, 2), Fraction(1, 8)), (Fraction(1, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(5, 8))]
    logs = [[reals.log(real(x)) for x in side] for side in zip(*odds)]
    beta, H = Fraction(1, 4), lambda ps: -sum(real(p) * reals.log(real(p)) for p in ps)
    student, teacher = ([[rational(x) for x in side]] for side in logs)
    batch = {"group": [0], "length": [3], "logp_old": student, "logp_teacher": teacher}
    parts = numbers(exactly("jsd_advantage", batch, beta=beta, coef=1)["advantage"])
    mixed = [(1 - beta) * s + beta * t for s, t in odds]
    whole = H(mixed) - (1 - real(beta)) * H([s for s, _ in odds]) - real(beta) * H([t for _, t in odds])
    check("over a whole vocabulary: the entropy of the mixture less the mean entropy", abs(-sum(parts) - whole) < mpf(10) ** -40)


# ---- distribution_advantage

@function(advantage=TOKENS)
def distribution_advantage(batch: reads("logp_old", "advantage"), tempered: many(many(NUMBER)), correct: many(FLAG), entropy: NUMBER,
                           entropy_base: NUMBER):
    """Distribution-centric policy optimisation, released code: a term for correct responses that moves the policy towards itself at another
    temperature.

    Source: distribution-centric PO, released code
    Takes: batch with `logp_old`, `advantage`; `tempered` per token: old log-probabilities at another temperature; `correct` (N flags),
    `entropy`, `entropy_base`
    Gives: p = fraction of the N responses that are correct, a = min(abs(entropy_base - entropy), 0.1), alpha = a/(a + p), 0 if p = 0.
    `advantage` per token: (1 - alpha) A + alpha correct_i e^(tempered - o); scale: the absolute values of the two terms
    """
    A, o, x = at(batch, "advantage"), at(batch, "logp_old"), read(batch, tempered)
    p = Fraction(sum(correct), len(correct))
    away = min(abs(entropy_base - entropy), Fraction(1, 10))
    alpha = away / (away + p) if p else Fraction(0)

    def advantage(place):
        terms = [real((1 - alpha) * A[place])]
        if correct[place[0]]:
            terms.append(real(alpha) * reals.exp(real(x[place] - o[place])))
        return Number(sum(terms), sum(abs(y) for y in terms))
    return {"advantage": rows(batch, {place: advantage(place) for place in A}, NOTHING)}


@cases("distribution_advantage")
def distribution_advantage_cases(case):
    PULLED = dict(logp_old=[[-0.5, -2, -0.0625], [-1.25, -6], [-1]], advantage=[[1, 1, 1], [-0.5, -0.5], [0.25]])
    WARM = [[-0.75, -1.5, -0.25], [-1, -4], [-1]]

    def pulled(label, comment, correct, entropy, base=0.5, batch=None, tempered=WARM):
        case(label, comment, batch or tokens([0, 0, 1], **PULLED), tempered=tempered,
             correct=marks(correct), entropy=entropy, entropy_base=base)

    pulled("near", "entropy within 0.1 of its base: the weight comes from the difference itself", "101", 0.4375)
    pulled("capped", "entropy 0.75 above its base: the difference is capped at 0.1", "110", 1.25)
    pulled("below", "entropy 0.375 below its base: the difference is capped at 0.1", "010", 0.125)
    pulled("on-base", "entropy at its base: every advantage stays", "101", 0.5)
    pulled("hopeless", "no response is correct: every advantage stays", "000", 0.25)
    pulled("solved", "all responses are correct: all get the added term", "111", 0.25)
    pulled("holes", "masked tokens hold anything; a fully masked correct response counts in the fraction", "011", 0.46875,
           batch=tokens([0, 0, 1], "101 00 1", logp_old=[[-0.5, NAN, -0.0625], [NAN, -6], [-1]],
                        advantage=[[1, NAN, 0], [NAN, -0.5], [0.25]]),
           tempered=[[-0.75, UNMASKED, -0.25], [UNMASKED, UNMASKED], [-1.25]])


@checks("distribution_advantage")
def check_distribution_advantage(check):
    for label, given, batch in cases_of("distribution_advantage"):
        found = exactly("distribution_advantage", batch, **given)["advantage"]
        mirrored = {**given, "entropy": given["entropy_base"], "entropy_base": given["entropy"]}
        same = exactly("distribution_advantage", batch, **mirrored)["advantage"] == found
        check(f"above or below does not matter: {label}", same)
        p = Fraction(sum(given["correct"]), len(given["correct"]))
        away = abs(Fraction(given["entropy"]) - Fraction(given["entropy_base"]))
        odds = min(away, Fraction(1, 10)) / p if p else 0
        for (i, t), A in at(batch, "advantage").items():
            gap = Fraction(given["tempered"][i][t]) - Fraction(batch["logp_old"][i][t])
            ratio = reals.exp(real(gap)) if given["correct"][i] else 0
            check(f"undone: {label}", near(found[i][t].value * real(1 + odds) - real(odds) * ratio, A))


# ---- odds_advantage

def odds(log_odds):
    """(V, 1 - V) of log odds"""
    return tuple(1 / (1 + reals.exp(-x)) for x in (log_odds, -log_odds))


@function(advantage=TOKENS)
def odds_advantage(batch: reads(), informed: many(many(NUMBER)), plain: many(many(NUMBER)), prior: many(FRACTION),
                   evidence_max: NOT_NEGATIVE):
    """OPPO (2605.21851): each token adds its evidence to the log odds of success; its advantage is the change of the probability.

    Source: OPPO, 2605.21851
    Takes: batch; `informed` and `plain` per token: log-probabilities by one scorer, with the answer in its context and without; `prior`
    V (N, in [0, 1]), `evidence_max` c >= 0 (0: no bound)
    Gives: at the response's mask tokens in order, from L = log(V/(1 - V)) on: e = informed - plain, clipped to -c .. c with a bound;
    `advantage` per token: sigmoid(L + e) - sigmoid(L), then L := L + e; 0 throughout for a prior of 0 or 1. Scale: the sum of v (1 + (1 -
    v) s) of either sigmoid v, s = abs(log V) + abs(log(1 - V)) + sum of abs(e) up to it
    """
    a, b, found = read(batch, informed), read(batch, plain), {}
    for i, own in enumerate(own_tokens(batch)):
        if not 0 < prior[i] < 1:
            continue
        logs = [reals.log(real(x)) for x in (prior[i], 1 - prior[i])]
        L, s = logs[0] - logs[1], abs(logs[0]) + abs(logs[1])
        for p in own:
            e = real(clamp(a[p] - b[p], -evidence_max, evidence_max) if evidence_max else a[p] - b[p])
            (v, rest), (w, left) = odds(L), odds(L + e)
            found[p] = Number(settle(w - v, w + v), v * (1 + rest * s) + w * (1 + left * (s + abs(e))))
            L, s = L + e, s + abs(e)
    return {"advantage": rows(batch, found, NOTHING)}


@cases("odds_advantage")
def odds_advantage_cases(case):
    PLAIN = [[-0.5, -2, -1.25], [-0.75, -3], [-1, -0.25, -0.5, -2]]
    KNOWN = [[-0.25, -3.5, -1.25], [-2.25, -0.5], [-0.5, -0.125, -0.5, -0.0625]]

    def odds_case(label, comment, prior=(0.25, 0.5, 0.75), informed=KNOWN, plain=PLAIN, most=0, mask=None):
        case(label, comment, tokens([0, 0, 0], mask, logp=[[-0.5] * len(row) for row in plain]), informed=informed, plain=plain,
             prior=list(prior), evidence_max=most)

    odds_case("plain", "tokens that are evidence for the answer, against it, and neither")
    odds_case("bounded", "evidence of more than 0.5 counts as 0.5", most=0.5)
    odds_case("tenths", "priors that are no binary fractions", prior=(0.1, 0.7, 0.9))
    odds_case("sure", "priors of 0 and 1: no evidence moves them, every advantage is 0", prior=(0, 1, 0.5))
    odds_case("nearly-sure", "priors 2^-30 from 0 and from 1, and evidence that reverses them", prior=(2 ** -30, 1 - 2 ** -30, 0.5),
              informed=[[-0.5, -2, -1.25], [-30.75, -3], [-1, -0.25, -0.5, -2]], plain=[[-30.5, -2.5, -1.25], [-0.75, -4], PLAIN[2]])
    odds_case("far-800", "evidence of 800 for and against: the probability becomes 1 or 0, without overflow",
              informed=[[-800.5, -2, -1.25], [-0.75, -3], [-1, -0.25, -0.5, -2]],
              plain=[[-0.5, -802, -1.25], [-800.75, -803], [-1, -800.25, -0.5, -2]])
    odds_case("holes", "masked tokens are no evidence and have 0; one response is fully masked", mask="101 00 0111",
              informed=[[-0.25, UNMASKED, -1], [UNMASKED, UNMASKED], [UNMASKED, -0.125, -0.5, -0.0625]],
              plain=[[-0.5, UNMASKED, -1.25], [UNMASKED, UNMASKED], [UNMASKED, -0.25, -0.5, -2]])


@checks("odds_advantage")
def check_odds_advantage(check):
    for label, given, batch, found in every("odds_advantage"):
        most = given["evidence_max"] or math.inf
        for i, own in enumerate(own_tokens(batch)):
            V = V0 = real(Fraction(given["prior"][i]))
            for _, t in own:
                likelier = reals.exp(real(max(-most, min(most, given["informed"][i][t] - given["plain"][i][t]))))
                after = V * likelier / (V * likelier + 1 - V)
                check(f"Bayes' rule at a token: {label}", near(found["advantage"][i][t].value, after - V))
                V = after
            check(f"they add up to what the response has gained: {label}", near(sum(n.value for n in found["advantage"][i]), V - V0))
    small = dict(informed=[[-1 + 2 ** -20]], plain=[[-1]], prior=[0.25], evidence_max=0)
    first = exactly("odds_advantage", tokens(logp=[[-0.5]]), **small)["advantage"][0][0].value
    check("V (1 - V) times a little evidence", abs(first / (mpf(3) / 16 * mpf(2) ** -20) - 1) < 1e-6)


# ---- implicit_advantage

@function(advantage=TOKENS)
def implicit_advantage(batch: reads("reward"), process: many(many(NUMBER)), process_coef: NUMBER, outcome_coef: NUMBER):
    """PRIME (2502.01456), as verl's recipe: leave-one-out implicit rewards and outcomes, then rewards to go.

    Source: PRIME, 2502.01456, as verl's recipe
    Takes: batch with `reward` (the outcome); `process` per token: implicit rewards; `process_coef`, `outcome_coef`
    Gives: G responses in each group, all >= 2 (else an input error), those without mask tokens among them. m_i = mean of process over
    the response's mask tokens, 0 without any; B = sum of m over the group/(G - 1). rho_it = process_coef (process_it G/(G - 1) - B), at
    the last mask token + outcome_coef (r_i G/(G - 1) - sum of r over the group/(G - 1)). `advantage` per token: sum of rho over it and
    the response's later mask tokens (whitening is `scale` = `token_whiten`); scale with absolute values and plus
    """
    x, r, own, found = read(batch, process), rewards_of(batch), own_tokens(batch), {}
    for group in by_group(batch):
        n = Fraction(len(group), len(group) - 1)
        of = lambda f, i: mean([f(x[p]) for p in own[i]]) if own[i] else Fraction(0)
        B, B_size = (sum(of(f, i) for i in group) / (len(group) - 1) for f in (Fraction, abs))
        others, others_size = (sum(f(r[i]) for i in group) / (len(group) - 1) for f in (Fraction, abs))
        for i in group:
            left = Number(outcome_coef * (r[i] * n - others), abs(outcome_coef) * (abs(r[i]) * n + others_size))
            for p in reversed(own[i]):
                left = Number(left.value + process_coef * (x[p] * n - B), left.size + abs(process_coef) * (abs(x[p]) * n + B_size))
                found[p] = left
    return {"advantage": rows(batch, found, NOTHING)}


@cases("implicit_advantage")
def implicit_advantage_cases(case):
    def prime(label, comment, process, reward, process_coef=0.5, outcome_coef=1, group=(0, 0, 1, 1, 1), mask=None):
        batch = tokens(list(group), mask, reward, logp=[[-0.5] * len(row) for row in process])
        case(label, comment, batch, process=process, process_coef=process_coef, outcome_coef=outcome_coef)

    PROCESS = [[0.5, -1, 0.25], [0.75, 0.5], [1], [-0.25, -0.5], [0.125, 2]]
    prime("plain", "implicit rewards and outcomes of two prompts, both minus a leave-one-out baseline", PROCESS, [1, 0, 1, 1, 0])
    prime("outcome", "process_coef 0: outcomes alone, equal at every token of a response", PROCESS, [1, 0, 1, TENTHS, 0], 0, 5)
    prime("process", "outcome_coef 0: implicit rewards alone; the baseline is over responses' means, not over tokens",
          PROCESS, [1, 0, 1, 1, 0], 5, 0)
    prime("holes", "masked tokens have no reward; a fully masked response still counts in its group",
          [[0.5, UNMASKED, 0.25, 1], [UNMASKED, UNMASKED], [-1, UNMASKED]], [1, 1, 0], group=(0, 0, 0), mask="1011 00 10")


@checks("implicit_advantage")
def check_implicit_advantage(check):
    for label, given, batch, found in every("implicit_advantage"):
        x, r, A = given["process"], fraction(batch["reward"]), found["advantage"]
        mine = own_tokens(batch)
        bar = [statistics.mean(Fraction(entry(x, p)) for p in line) if line else Fraction(0) for line in mine]
        for group in by_group(batch):
            for i in group:
                others = [j for j in group if j != i]
                left = [sum(f[j] for j in others) / len(others) for f in (bar, r)]
                steps = [entry(A, p).value for p in mine[i]] + [Fraction(0)]
                rho = [a - b for a, b in zip(steps, steps[1:])]
                means = [Fraction(given["process_coef"]) * (bar[i] - left[0]), Fraction(given["outcome_coef"]) * (r[i] - left[1])]
                check(f"leave one out, by responses: {label}", not rho or sum(rho) == len(rho) * means[0] + means[1])
                tilt = [a - b for a, b in zip(rho[:-1], rho[1:-1])]
                apart = [Fraction(entry(x, p)) - Fraction(entry(x, q)) for p, q in zip(mine[i], mine[i][1:-1])]
                scale = Fraction(given["process_coef"] * len(group)) / (len(group) - 1)
                check(f"between tokens their own: {label}", tilt == [scale * y for y in apart])


# ---- token_advantage

def fallback(r, group, eps, scaled):
    """The plain advantage: sample deviation over the responses."""
    centre, size = mean([r[i] for i in group]), mean([abs(r[i]) for i in group])
    by = reals.sqrt(real(sample_variance([r[i] for i in group]))) + real(eps) if scaled else ONE
    return [Number(real(r[i] - centre) / by, real(abs(r[i]) + size) / by) for i in group]


@function(advantage=many(NUMBER))
def token_advantage(batch: reads("reward"), eps: NOT_NEGATIVE, limit: POSITIVE, scaled: FLAG):
    """2509.16591, official code: statistics over tokens with their response's reward; over responses in groups with large values.

    Source: HAPO, 2509.16591, official code
    Takes: batch with `reward`; `eps` >= 0, `limit` > 0, flag `scaled`
    Gives: T_i mask tokens, mu = sum T r/sum T, sd = sqrt(sum T (r - mu)^2/sum T) over the group. a = (r - mu)/(sd + eps) if scaled,
    else r - mu; 0 in the whole group if no two of its responses with T > 0 differ in r. If abs(a) >= limit at some response with T > 0,
    for the whole group instead (r - rbar)/(s + eps), or r - rbar if not scaled, rbar and s mean and sample deviation of r over all its
    responses. `advantage` (N): a, also where T = 0; scale (abs(r) + mean abs(r), weighted alike)/divisor, or 0
    """
    r, T = rewards_of(batch), [len(own) for own in own_tokens(batch)]

    def advantages(group):
        total, there = sum(T[i] for i in group), [i for i in group if T[i]]
        if len({r[i] for i in there}) <= 1:
            return [NOTHING] * len(group)
        mu, size = (sum(T[i] * f(r[i]) for i in group) / total for f in (Fraction, abs))
        by = reals.sqrt(real(sum(T[i] * (r[i] - mu) ** 2 for i in group) / total)) + real(eps) if scaled else ONE
        if any(not limits.less(real(abs(r[i] - mu)) / by, real(limit)) for i in there):
            return fallback(r, group, eps, scaled)
        return [Number(real(r[i] - mu) / by, real(abs(r[i]) + size) / by) for i in group]
    return {"advantage": per_group(batch, advantages)}


@cases("token_advantage")
def token_advantage_cases(case):
    def carried(label, comment, lengths, reward, group=(0, 0, 0), eps=1e-6, limit=5, scaled=True, mask=None):
        case(label, comment, tokens(list(group), mask, list(reward), logp=[[-0.5] * T for T in lengths]), eps=eps,
             limit=limit, scaled=scaled)

    carried("plain", "mean and deviation count every response once for each of its tokens", [3, 1, 2], [1, 0, 0.25])
    carried("fallback", "a short right response is beyond the limit: its group uses means over responses",
            [5, 1, 4], [0, 1, -0.125], limit=2)
    carried("beyond", "not scaled, a short wrong response is beyond the limit: means over responses",
            [4, 1, 3], [1, 0, 0.75], limit=0.75, scaled=False)
    carried("unscaled", "not scaled: the reward minus the mean over tokens", [3, 1, 2], [1, 0, -TENTHS], limit=1, scaled=False)
    carried("equal", "equal rewards, a single response, a fully masked group: every advantage is 0",
            [2, 1, 1, 1, 1], [TENTHS, TENTHS, 1, 1, 0], (0, 0, 1, 2, 2), 0,
            mask="11 1 1 0 0")
    carried("silent", "a fully masked response is in no mean and cannot exceed the limit, but has an advantage",
            [2, 3, 2], [0, 1, 4],
            limit=2, mask="11 111 00")
    carried("silent-equal", "responses with tokens have equal rewards: all are 0, even a fully masked one that differs",
            [1, 2, 1], [1, 1, 0], mask="1 10 0")


@checks("token_advantage")
def check_token_advantage(check):
    for label, given, batch, found in every("token_advantage"):
        A, r, T = values(found["advantage"]), fraction(batch["reward"]), [len(line) for line in own_tokens(batch)]
        for group in by_group(batch):
            carried = [float(r[i]) for i in group for _ in range(T[i])]
            if len(set(carried)) <= 1:
                check(f"nothing to tell apart: {label}", not any(A[i] for i in group))
                continue
            by = statistics.pstdev(carried) + given["eps"] if given["scaled"] else 1
            expected = {i: (float(r[i]) - statistics.fmean(carried)) / by for i in group}
            if max(abs(expected[i]) for i in group if T[i]) >= given["limit"]:
                plain = [float(r[i]) for i in group]
                by = statistics.stdev(plain) + given["eps"] if given["scaled"] else 1
                expected = {i: (float(r[i]) - statistics.fmean(plain)) / by for i in group}
            check(f"over what the tokens carry: {label}", all(close(float(A[i]), expected[i]) for i in group))


# ---- position_advantage

@function(advantage=many(NUMBER))
def position_advantage(logp_old: many(NOT_POSITIVE, least=2), reward: many(NUMBER)):
    """TLPO (2604.26553), code: candidates at one position: p (r - mean r) over the sum of its absolute values.

    Source: TLPO, 2604.26553, code
    Takes: `logp_old` o, `reward` r (n >= 2 each: candidates at one position)
    Gives: p = e^o, w = p (r - m), m = sum p r/sum p. `advantage` (n): w/sum abs(w), 0 where all r are equal; scale p (abs(r) + sum p
    abs(r)/sum p)/sum abs(w), or 0
    """
    p = [reals.exp(real(o)) for o in logp_old]
    total = sum(p)
    w = [x * sum(y * real(r - s) for y, s in zip(p, reward)) / total for x, r in zip(p, reward)]  # exactly 0 where all are equal
    size = sum(x * abs(real(r)) for x, r in zip(p, reward)) / total
    whole = sum(abs(x) for x in w)
    if not whole:
        return {"advantage": [NOTHING] * len(p)}
    return {"advantage": [Number(x / whole, y * (abs(real(r)) + size) / whole) for x, y, r in zip(w, p, reward)]}


@cases("position_advantage")
def position_advantage_cases(case):
    each(case,
         ("plain", "four candidates for one position, weighted by their probability",
          dict(logp_old=[-0.5, -2, -1.5, -4], reward=[1, 0, 0.5, -1])),
         ("equal", "equal rewards: every advantage is exactly 0", dict(logp_old=[-0.7, -1.1, -3.3], reward=[0.3] * 3)),
         ("unlikely", "candidates of probability e^-300 and e^-301: advantages of 0.5 and -0.5",
          dict(logp_old=[-300, -301], reward=[1, 0.25])),
         ("rare", "a candidate of probability e^-760, below binary64, whose reward is 2^200",
          dict(logp_old=[-0.5, -1, -760], reward=[1, 0, 2.0 ** 200])),
         ("offset", "rewards near 100 that differ by less than 1", dict(logp_old=[-1, -1, -2], reward=[100, 100.5, 99.75])))


@checks("position_advantage")
def check_position_advantage(check):
    for label, given, _, found in every("position_advantage"):
        A, r = values(found["advantage"]), given["reward"]
        same = len(set(r)) == 1
        check(f"half up, half down: {label}", near(sum(A), 0) and near(sum(map(abs, A)), not same))
        weight = [reals.exp(real(Fraction(o))) for o in given["logp_old"]]
        centre = sum(w * x for w, x in zip(weight, r)) / sum(weight)
        worth = [a / (w * (x - centre)) for a, w, x in zip(A, weight, r) if x != r[0] and not same]
        check(f"one factor for all: {label}", all(abs(x / worth[0] - 1) < 1e-12 for x in worth))
        moved = exactly("position_advantage", **{**given, "reward": [Fraction(2) * Fraction(x) + 3 for x in r]})["advantage"]
        check(f"units and origin do not matter: {label}", all(near(n.value, a) for n, a in zip(moved, A)))
