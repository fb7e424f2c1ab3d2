"""The most likely tokens, log-probabilities at given tokens, and a weight of tokens, for distillation."""
from fractions import Fraction

import reals
from functions.arithmetic import BANNED, NOTHING, Number, at, clamp, exp, real, rows
from functions.batches import NOW, SELF, WITH_HOLES, tokens
from functions.comparing import cases_of, every, exactly, near, values
from functions.distill_divergence import LOGITS, log_softmax, logs_of
from functions.distill_divergence_cases import STUDENT, TEACHER, thrown_rows
from functions.domains import ANSWER, COUNT, POSITIVE, TOKENS, integer, many, reads
from functions.registry import cases, checks, exact, function
from limits import ZERO, less
from reals import inf
from scenarios import NAN


def spread_of(logits):
    """What the terms of a row's log-sum-exp add up to: sum p abs(z) + H, as for logits of an objective."""
    logp = log_softmax(logits)
    return sum((reals.exp(l) * (abs(z) - l) for z, l in zip(logits, logp) if l > -inf), ZERO)


def log_probabilities(row, temperature, ids):
    logits = logs_of(row, temperature)
    logp, size = log_softmax(logits), spread_of(logits)
    return [Number(logp[v], abs(logits[v]) + size if logp[v] > -inf else ZERO) for v in ids]


def likeliest(row, k):
    """Of equal logits the smaller id is in."""
    logits = logs_of(row)
    order = sorted(range(len(row)), key=lambda v: (-logits[v], v))
    for v, w in zip(order, order[1:]):
        less(logits[w], logits[v])
    return sorted(order[:k])


@function(ids=many(COUNT), logp=many(ANSWER))
def distill_top(logits: LOGITS, temperature: POSITIVE, k: integer(1)):
    """The most likely tokens, over which a distillation is summed.

    Source: SDPO 2601.20802 and SDFT 2601.19897, as their code and TRL have it
    Takes: `logits` (rows of V, -inf: banned, not all of a row), `temperature` > 0, `k` in [1, V]
    Gives: `ids` (k of each row): the k largest logits of the row, of equal ones the smaller ids, ascending by id; `logp` (the same): log
    softmax of logits/temperature over all V, at them, -inf of what is banned. Scale: abs(z) + sum p abs(z) + entropy, z =
    logits/temperature, 0 of -inf
    """
    ids = [likeliest(row, int(k)) for row in logits]
    return {"ids": sum(ids, []), "logp": sum((log_probabilities(row, temperature, own) for row, own in zip(logits, ids)), [])}


@cases("distill_top")
def distill_top_cases(case):
    def top(label, comment, logits, k, temperature=1):
        case(label, comment, None, logits=logits, temperature=temperature, k=k)

    top("two", "k = 2: the two largest of five logits, ids ascending", STUDENT, 2)
    top("temperature", "temperature 2 changes the log-probabilities, but not the ids", STUDENT, 2, 2)
    top("one", "k = 1: the likeliest token of each row", TEACHER, 1, 0.5)
    top("all", "k = 5 of a vocabulary of five: the log-probabilities of the whole row", TEACHER, 5)
    top("ties", "of equal logits those with the smaller ids are taken", [[1, 2, 1, 2, 1], [0, 0, 0, 0, 0]], 3)
    top("banned", "fewer than k tokens are allowed: a banned one is taken, with -infinity",
        [[BANNED, 1, BANNED, 0.5], [BANNED, 0, 3, 1]], 3)
    top("many", "the eight largest of 96 logits", thrown_rows(5, 2, 96, 8), 8)
    top("far", "logits hundreds apart", [[0, -900, 3, 400], [-300, -301, -299, -800]], 2)


@checks("distill_top")
def check_distill_top(check):
    for label, given, _, found in every("distill_top"):
        k, V = int(given["k"]), len(given["logits"][0])
        for r, row in enumerate(exact(given["logits"])):
            ids, logp = found["ids"][k * r:k * r + k], values(found["logp"])[k * r:k * r + k]
            worth = lambda v: -10 ** 9 if row[v] == BANNED else row[v]
            rest = [v for v in range(V) if v not in ids]
            check(f"ascending, k of them: {label}", ids == sorted(set(ids)) and len(ids) == k)
            check(f"no other is larger, or as large and before: {label}", all(
                (worth(v), -v) > (worth(w), -w) for v in ids for w in rest))
            check(f"log-probabilities differ as logits do: {label}", all(
                near(x - logp[0], real((row[v] - row[ids[0]]) / Fraction(given["temperature"]))) for x, v in zip(logp, ids)
                if BANNED not in (row[v], row[ids[0]])))
            check(f"of all they add up to 1: {label}", k < V or near(sum(reals.exp(x) for x in logp), 1))
    even = exactly("distill_top", logits=[[0, 0, 0, 0]], temperature=1, k=2)
    check("four alike: a quarter each, the first two", even["ids"] == [0, 1] and all(near(x, -reals.log(4)) for x in values(even["logp"])))


@function(logp=many(ANSWER))
def distill_at(logits: LOGITS, temperature: POSITIVE, ids: many(many(COUNT, least=1))):
    """Log-probabilities of given tokens: the teacher's at the student's, or the other way round.

    Source: SDPO 2601.20802 and SDFT 2601.19897, as their code and TRL have it
    Takes: `logits`, `temperature` as `distill_top`; `ids` (rows of places in the vocabulary, in any order, also twice)
    Gives: `logp` (those of each row): as in `distill_top`
    """
    return {"logp": sum((log_probabilities(row, temperature, map(int, own)) for row, own in zip(logits, ids)), [])}


@cases("distill_at")
def distill_at_cases(case):
    def at_ids(label, comment, logits, ids, temperature=1):
        case(label, comment, None, logits=logits, temperature=temperature, ids=ids)

    at_ids("three", "three of five tokens, in no order", STUDENT, [[4, 0, 2], [1, 2, 0], [3, 4, 1]])
    at_ids("twice", "a token that is given twice has its log-probability twice", TEACHER, [[1, 1], [0, 0], [4, 3]], 0.5)
    at_ids("temperature", "log-probabilities at a temperature of 2", TEACHER, [[0, 1], [0, 1], [3, 4]], 2)
    at_ids("banned", "a banned token has a log-probability of -infinity",
           [[BANNED, 1, 0.5], [0, 0, BANNED]], [[0, 2], [2, 1]])
    at_ids("sure", "a token of probability 1 - e^-40: its log-probability is -4e-18, not 0",
           [[0, -40, -50]], [[0, 1, 2]])


@checks("distill_at")
def check_distill_at(check):
    for label, given, _, found in every("distill_at"):
        V, k = len(given["logits"][0]), len(given["ids"][0])
        top = exactly("distill_top", logits=given["logits"], temperature=given["temperature"], k=V)["logp"]
        check(f"what distill_top says of all: {label}", found["logp"] == [
            top[V * r + int(v)] for r, own in enumerate(given["ids"]) for v in own])
        check(f"a place for each: {label}", len(found["logp"]) == k * len(given["ids"]))


# ---- distill_importance_weight

@function(weight=TOKENS)
def distill_importance_weight(batch: reads("logp_old"), clip: POSITIVE):
    """SDPO: the truncated, detached ratio to the policy that sampled, as a weight of the token's divergence.

    Source: SDPO 2601.20802 (`is_clip`), as its code and TRL have it
    Takes: batch with `logp_old`; `clip` > 0
    Gives: `weight` per token: min(e^d, clip), d = l - o clamped to [-20, 20]. Scale: e^d (1 + abs(d)), clip where it binds
    """
    found = {}
    for place, d in gaps(batch).items():
        ratio = exp(d)
        binds = less(real(clip), ratio)
        found[place] = Number(real(clip), real(clip)) if binds else Number(ratio, ratio * (1 + abs(real(d))))
    return {"weight": rows(batch, found, NOTHING)}


def gaps(batch):
    l, o = at(batch, "logp"), at(batch, "logp_old")
    return {place: clamp(l[place] - o[place], -20, 20) for place in l}


@cases("distill_importance_weight")
def distill_importance_weight_cases(case):
    def weigh(label, comment, clip, batch):
        case(label, comment, batch, clip=clip)

    old = [[-0.75, -1.5, -1.25], [-3, -1.25], [-0.5, -2.75]]
    weigh("two", "clip 2, as in SDPO: it binds at two of seven tokens", 2, tokens(logp=NOW, logp_old=old))
    weigh("one", "clip 1: no weight is above 1", 1, tokens(logp=NOW, logp_old=SELF))
    weigh("on-policy", "current and sampling policy are equal: every weight is 1",
          2, tokens(logp=NOW, logp_old=NOW))
    weigh("holes", "masked tokens hold NaN: their weight is 0",
          2, tokens(logp=[[-0.25, NAN, -1.5, -0.75], [NAN, -2.5], [-1.5, -0.125]], **WITH_HOLES))
    weigh("far", "log-ratios beyond 20 and -20 are clamped to them; the clip of 1e10 does not bind",
          1e10, tokens(logp=[[-0.5, -60, -0.125], [-1, -30]],
                                                                 logp_old=[[-40, -0.5, -20], [-1, -0.25]]))


@checks("distill_importance_weight")
def check_distill_importance_weight(check):
    for label, given, batch in cases_of("distill_importance_weight"):
        found = exactly("distill_importance_weight", batch, **given)["weight"]
        for (i, t), d in gaps(batch).items():
            w = found[i][t].value
            check(f"within its bounds: {label}", 0 < w <= given["clip"])
            check(f"its log is the clamped log-ratio unless it is clipped: {label}", w == given["clip"] or near(reals.log(w), real(d)))
            check(f"and clipped only beyond: {label}", w != given["clip"] or real(d) >= reals.log(real(Fraction(given["clip"]))))
