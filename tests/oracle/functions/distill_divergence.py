"""Divergences between the next-token distributions of a student and a teacher, and their gradients with respect to the logits."""
from fractions import Fraction

import limits
import reals
from functions.arithmetic import BANNED, NOTHING, Number, real
from functions.domains import ANSWER, COUNT, FLAG, FRACTION, NOT_NEGATIVE, NOT_POSITIVE, NUMBER, POSITIVE, either, many, one_of, optional
from functions.registry import function
from limits import ONE, ZERO, settle
from reals import inf

LOGITS = many(many(either(NUMBER, "-Infinity"), least=1))
SUPPORT = many(many(COUNT, least=1, different=True))
LEAST_REST = real(Fraction(-1, 10 ** 7))  # the log of the mass inside the ids is bounded by it: a bucket is never empty


def logs_of(numbers, temperature=1):
    return [-inf if x == BANNED else real(Fraction(x) / temperature) for x in numbers]


def mass(logs):
    """log sum e^x, the largest apart from the sum: what lies far below it is not lost."""
    top = max(logs, default=-inf)
    if top == -inf:
        return -inf
    rest = list(logs)
    rest.remove(top)
    return top + reals.log1p(sum((reals.exp(x - top) for x in rest), ZERO))


def log_softmax(x):
    top = max(x)
    above = mass([y - top for y in x])
    return [(y - top) - above if y > -inf else -inf for y in x]


def bucket(inside):
    """Log-probability of all the rest, and whether the bound has set it."""
    bound = limits.less(LEAST_REST, inside)
    return reals.log(-reals.expm1(LEAST_REST if bound else inside)), bound


# ---- what a row is compared on

class Entries:
    """`student`, `teacher`: log-probabilities of the entries. `share[e]`: what part of a logit's probability entry e takes, by logit;
    `q`: the probability of each logit among those that the student is normalised over. `held`: entries that no logit moves.
    `whole`: the entries are all that the student is normalised over."""

    def __init__(self, student, teacher, temperature, teacher_temperature):
        self.teacher, logp = log_softmax(logs_of(teacher, teacher_temperature)), log_softmax(logs_of(student, temperature))
        self.among(range(len(student)), logp, whole=True)

    def among(self, ids, logp, whole):
        self.student, self.share, self.held, self.whole = [logp[v] for v in ids], [{v: ONE} for v in ids], set(), whole
        self.q = [reals.exp(x) for x in logp]


class LeftOut(Entries):
    """Of the ids alone, of probabilities over the whole vocabulary."""

    def __init__(self, student, teacher, temperature, ids):
        self.teacher, self.logp = logs_of(teacher), log_softmax(logs_of(student, temperature))
        self.among(ids, self.logp, whole=False)


class Renormalised(Entries):
    """Of the ids alone, both sides normalised over them."""

    def __init__(self, student, teacher, temperature, teacher_temperature, ids):
        self.teacher = log_softmax(logs_of(teacher, teacher_temperature))
        self.among(ids, log_softmax([x if v in ids else -inf for v, x in enumerate(logs_of(student, temperature))]), whole=True)


class Bucket(LeftOut):
    """The ids, and one entry for all the rest."""

    def __init__(self, student, teacher, temperature, ids):
        super().__init__(student, teacher, temperature, ids)
        least, bound = bucket(mass(self.student))
        outside = [v for v in range(len(student)) if v not in ids]
        rest = mass([self.logp[v] for v in outside])
        self.held, self.whole = {len(ids)} if bound else set(), not bound
        self.share.append({} if bound else {v: reals.exp(self.logp[v] - rest) for v in outside})
        self.student.append(least if bound else rest)
        self.teacher.append(bucket(mass(self.teacher))[0])


def entries(student, teacher, ids, temperature, teacher_temperature, tail):
    if ids is None:
        return Entries(student, teacher, temperature, teacher_temperature)
    ids = [int(i) for i in ids]
    if tail == "renormalised":
        return Renormalised(student, teacher, temperature, teacher_temperature, ids)
    return {"left_out": LeftOut, "bucket": Bucket}[tail](student, teacher, temperature, ids)


# ---- the terms of an entry: value with size, and derivative by the student's log-probability

def gap(x, y):
    """x - y of log-probabilities; of two probabilities 0 it is 0."""
    return ZERO if x == y else settle(x - y, abs(x) + abs(y)) if min(x, y) > -inf else x - y


def against(logp, logq, loose):
    """p log(p/q), 0 where p is 0, infinite where q alone is. `loose`: its size is that of p log p - p log q."""
    if logp == -inf:
        return NOTHING
    p = reals.exp(logp)
    value = p * gap(logp, logq)
    return Number(value, p * (abs(logp) + abs(logq)) if loose else abs(value))


def to_mixture(logp, logq, beta, loose):
    """p log(p/m), m = (1 - beta) p + beta q; its size likewise."""
    if logp == -inf:
        return NOTHING
    p, over = reals.exp(logp), reals.log1p(beta * reals.expm1(gap(logq, logp)))
    return Number(-p * over, p * (abs(logp) + abs(logp + over)) if loose else abs(p * over))


def forward(q, p, beta, loose):
    return against(p, q, loose), Number(-reals.exp(p), reals.exp(p)), NOTHING


def reverse(q, p, beta, loose):
    term, own = against(q, p, loose), reals.exp(q)
    return term, term, Number(own, own)


def jensen_shannon(q, p, beta, loose):
    if beta in (0, 1):
        return (reverse if beta else forward)(q, p, beta, loose)
    b = real(beta)
    student, teacher = (times(1 - b, to_mixture(q, p, b, False)), times(b, to_mixture(p, q, 1 - b, False)))
    return added(student, teacher), times(1 - b, to_mixture(q, p, b, loose)), NOTHING  # an error of log q is of second order in the term


KINDS = {"forward": forward, "reverse": reverse, "jensen_shannon": jensen_shannon}


def added(*numbers):
    return Number(sum((n.value for n in numbers), ZERO), sum((n.size for n in numbers), ZERO))


def times(factor, n):
    return Number(factor * n.value, abs(factor) * n.size)


def back_to_logits(found, slopes):
    """Slopes by the log-probabilities of the entries; each log-probability is of what an entry takes, minus that of all."""
    taken = [[times(share[v], g) for share, g in zip(found.share, slopes) if v in share] for v in range(len(found.q))]
    return [added(*own, times(-q, added(*slopes))) for own, q in zip(taken, found.q)]


def of_row(found, kind, beta, clip, logp_min, divergence_max):
    """The divergence, and its derivatives by the logits before their temperature."""
    stopped, logs = set(found.held), list(zip(found.student, found.teacher))
    if logp_min:
        stopped |= {e for e, (q, _) in enumerate(logs) if limits.less(q, real(logp_min))}
        logs = [[max(x, real(logp_min)) for x in pair] for pair in logs]
    plain = [KINDS[kind](q, p, beta, False)[0].value for q, p in logs]
    clipped = {e for e, term in enumerate(plain) if clip and limits.less(real(clip), term)}
    loose = bool(stopped or clipped) or not found.whole  # else errors of log p - log q that all entries have in common add up to nothing
    terms, slopes, own = zip(*(KINDS[kind](q, p, beta, loose) for q, p in logs))
    if loose:  # else what is the entry's own probability adds up to nothing
        slopes = [NOTHING if e in stopped | clipped else added(g, more) for e, (g, more) in enumerate(zip(slopes, own))]
    total = added(*(Number(real(clip), real(clip)) if e in clipped else term for e, term in enumerate(terms)))
    if divergence_max and (limits.less(total.value, ZERO) or limits.less(divergence_max, total.value)):
        bound = ZERO if total.value < 0 else divergence_max
        return Number(bound, bound), [NOTHING] * len(found.q)
    if total.value == inf:
        return Number(inf, ZERO), None
    return total, back_to_logits(found, slopes)


@function(divergence=many(ANSWER), dlogits=optional(many(NUMBER)))
def distill_divergence(student: LOGITS, teacher: LOGITS, temperature: POSITIVE, teacher_temperature: POSITIVE,
                       kind: one_of("forward", "reverse", "jensen_shannon"), beta: FRACTION,
                       tail: one_of("left_out", "renormalised", "bucket"), clip: NOT_NEGATIVE, logp_min: NOT_POSITIVE,
                       divergence_max: either(NOT_NEGATIVE, "Infinity"), weight: many(NUMBER), ids: SUPPORT = None,
                       mask: many(FLAG) = None):
    """The divergence of the student's next-token distribution from the teacher's, for each position.

    Source: GKD 2306.13649 eq. 1 as TRL and ms-swift; SDPO 2601.20802, SDFT 2601.19897, SDPG 2606.04036, OPSD 2601.18734, verl, NeMo-RL,
    as their code has it
    Takes: `student` (rows of V logits, -inf: banned, not all of a row), `teacher` (rows of V logits; with `ids` of k numbers), `ids`
    (optional; rows of k >= 1 places in the vocabulary, ascending; `renormalised`: neither side bans all of a row), `temperature`,
    `teacher_temperature` > 0, `kind`, 0 <= `beta` <= 1, `tail` (`left_out` without ids), `clip` >= 0, `logp_min` <= 0 (0 but with ids
    left out), `divergence_max` >= 0, `weight` (a number per row: dL/d divergence), `mask` (optional; flags of rows).
    `teacher_temperature` is 1 where the teacher's numbers are log-probabilities: ids with `left_out` or `bucket`
    Gives: `divergence` (per row), `dlogits` (all logits, row after row): weight times its derivatives by the student's logits, the
    teacher a constant; absent where a divergence is infinite. 0 where `mask` is false, whatever the row holds. Scales: the sum of the
    absolute terms, of a mixture of both its halves, 0 of an infinite one; abs(weight)/temperature times the sum of the absolute values
    of what is added up. Where p and q do not sum to 1 over the entries, or a bound stops an entry, log p and log q are two numbers:
    the size of p log(p/q) is p (abs(log p) + abs(log q)), of q log(q/p) likewise, and of g of a mixture (1 - beta) q (abs(log q) +
    abs(log M)); not that of a mixture's terms, where an error of log q is of second order

    p and q: what teacher and student give an entry, M = beta p + (1 - beta) q.

    | `kind` | term of an entry | its slope g by log q |
    |---|---|---|
    | `forward` | p log(p/q) | -p |
    | `reverse` | q log(q/p) | q log(q/p) + q |
    | `jensen_shannon` | beta p log(p/M) + (1 - beta) q log(q/M); beta = 0 is `forward`, 1 `reverse` | (1 - beta) q log(q/M) |

    A term is 0 where the probability in front is; `forward` is infinite where the student bans what the teacher does not, `reverse`
    the other way round.

    | entries | `tail` | q | p |
    |---|---|---|---|
    | all tokens | | softmax of student/temperature | softmax of teacher/teacher_temperature |
    | `ids` | `left_out` | the same, at the ids | e^teacher |
    | `ids` | `renormalised` | softmax over the ids alone | softmax of teacher/teacher_temperature |
    | `ids` and one for the rest | `bucket` | as `left_out`; the rest 1 - e^min(log of their sum, -1e-7) | the same |

    - `logp_min`, if not 0: log q and log p below it are raised to it; g = 0 where log q was.
    - `clip`, if not 0: a term above it is clip, and its g 0; both halves of a mixture are one term.
    - `divergence_max`, if not 0: the row's sum is clamped to [0, divergence_max]; dlogits 0 where it was outside.
    - dlogits of a token v: weight/temperature (what of q_v lies in an entry, as a share of it, times g of the entry, minus q_v sum g), q_v
      over what q is normalised over; g = 0 of a rest whose bound binds. `reverse` over all tokens, renormalised or with a bucket: where
      no g is 0 by a bound, the q in g cancel and have no size.

    There is no factor of the temperature's square, and no mean over tokens: both are the weight's. Sums of two calls give weighted sums
    of both directions (NeMo-RL's `mixed`).
    """
    found, slopes = [], []
    for r, z in enumerate(student):
        value, slope = NOTHING, [NOTHING] * len(z)
        if mask is None or mask[r]:
            of = entries(z, teacher[r], None if ids is None else ids[r], temperature, teacher_temperature, tail)
            value, slope = of_row(of, kind, beta, clip, logp_min, inf if divergence_max == "Infinity" else real(divergence_max))
        found.append(value)
        slopes.append(slope)
    if None in slopes:
        return {"divergence": found}
    return {"divergence": found, "dlogits": [times(real(w / temperature), g) for w, slope in zip(weight, slopes) for g in slope]}
