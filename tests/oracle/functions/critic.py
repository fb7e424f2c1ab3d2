"""The critic's loss, the proximal policy, and distances from a teacher."""
from fractions import Fraction

import autodiff
import reals
from autodiff import Var, added
from axes.aggregation import KIND, Totals
from functions.arithmetic import BANNED, HALF, NOTHING, Number, absolute, at, by_group, clamp, exp, read, real, rows, softmax, summed
from functions.batches import TENTHS, UNMASKED, each, tokens
from functions.comparing import TINY, cases_of, every, exactly, near, rational, values
from functions.domains import ANSWER, COUNT, FRACTION, NOT_NEGATIVE, NUMBER, POSITIVE, TOKENS, either, many, one_of, optional, reads
from functions.registry import cases, checks, exact, function
from limits import ONE, ZERO, settle
from reals import mpf
from scenarios import NAN


# ---- value_loss

def value_pieces(v, old, goal, clip):
    """(V - R)^2/2 and the same of V within old -+ clip, with the sizes of what is added up."""
    bound = lambda step: Var(real(old + step), (), real(abs(old) + abs(step)))
    near = autodiff.clamp(v, bound(-clip), bound(clip)) if clip else v
    return [autodiff.square(added(x, -real(goal))) * (ONE / 2) for x in (v, near)]


@function(loss=NOT_NEGATIVE, dvalue=TOKENS, clip_fraction=NOT_NEGATIVE)
def value_loss(batch, value: many(many(NUMBER)), value_old: many(many(NUMBER)), returns: many(many(NUMBER)), clip: NOT_NEGATIVE,
               aggregation: one_of("token_sum", "token_mean", "seq_mean_token_mean", "seq_mean_token_sum", "seq_mean_constant", "constant",
                                   "group_mean_token_mean", "seq_sum_token_mean"),
               constant: NOT_NEGATIVE):
    """PPO's critic as in verl: the larger of two squares; if they are equal, the unclipped one.

    Source: PPO's critic, as verl
    Takes: batch; `value` V, `value_old`, `returns` R per token; `clip` >= 0, `aggregation`: a `kind` of the
    [aggregation](../objective/aggregation.md) but `seq_mean_length_power`, `constant` C (0 where the kind has none; `empty` is `count`)
    Gives: u = V clamped to value_old -+ clip (V if clip is 0). `loss`: sum of c_it max((V - R)^2, (u - R)^2)/2 over mask tokens;
    `dvalue` per token: c_it (V - R), 0 where (u - R)^2 > (V - R)^2; `clip_fraction`: fraction of mask tokens with that, 0 without any.
    Scales: sum of c_it (size + abs(R))^2/2, size = abs(V), or abs(value_old) + clip where (u - R)^2 is larger; c_it (abs(V) + abs(R)),
    or 0; itself
    """
    V, old, goal = (read(batch, x) for x in (value, value_old, returns))
    lengths = [sum(i == j for i, _ in V) for j in range(len(batch["length"]))]
    choice = {"empty_sequences": "keep", "constant": real(constant), "power": 0}
    totals = Totals(choice, lengths, batch["group"], len(by_group(batch)))
    loss, size, pushed, clipped = ZERO, ZERO, {}, 0
    for i, t in V:
        c = KIND[aggregation](totals, i, batch["group"][i])
        v = Var(real(V[i, t]))
        pieces = value_pieces(v, old[i, t], goal[i, t], clip)
        larger = autodiff.maximum(*pieces)
        loss, size = loss + c * larger.value, size + c * autodiff.size(larger)
        clipped += larger is not pieces[0]
        pushed[i, t] = Number(*(autodiff.gradient([(larger, c)], sizes).get(v, ZERO) for sizes in (False, True)))
    share = Fraction(clipped, max(len(V), 1))
    return {"loss": Number(loss, size), "dvalue": rows(batch, pushed, NOTHING), "clip_fraction": Number(share, share)}


@cases("value_loss")
def value_loss_cases(case):
    VALUE = [[1, 1.25, -0.5], [2, 0.75]]
    OLD = [[0.25, 1.125, 0.25], [1.5, 1.25]]
    RETURNS = [[1.5, 1, -1], [1.25, 0.5]]
    SHAPE = dict(logp=[[-0.5] * 3, [-0.5] * 2])

    def critic(label, comment, clip, kind="token_mean", constant=0, batch=None, value=VALUE, old=OLD,
               returns=RETURNS):
        case(label, comment, batch or tokens([0, 1], **SHAPE), value=value, value_old=old, returns=returns,
             clip=clip, aggregation=kind, constant=constant)

    critic("clipped", "one value in bounds, three whose clipped square is larger, one where it is smaller", 0.25)
    critic("unclipped", "clip 0 means no clip: the plain squared error", 0)
    critic("wide", "clip 8: no value leaves its bounds", 8, "seq_mean_token_mean")
    critic("equal", "clipped and unclipped value are equally far from the return: not clipped", 0.25,
           value=[[1, 0.5, 0], [1, 2]], old=[[0.25, 0.5, 1], [1, 1]], returns=[[0.75, 0.5, 0.375], [0, 1]])
    critic("bound", "a value exactly at its bound: both squares are equal, not clipped", 0.5, "seq_mean_token_sum",
           value=[[0.75, 0, 1], [2, 0.5]], old=[[0.25, 0.5, 1], [1.5, 1]])
    critic("moved", "every value is beyond its bounds, the clipped square is larger: all gradients are 0", 0.125, "token_sum",
           value=[[1, 1.25, -1], [0.5, 0.25]], old=[[0, 0.125, 0.5], [1.5, 1]], returns=[[2, 1.5, -1.5], [0.25, 0]])
    critic("exact", "values equal their returns: loss and gradients are 0", 0.25, "seq_sum_token_mean", value=RETURNS, old=RETURNS)
    critic("constant", "aggregation `constant`: the sum over tokens is divided by 7", 0.25, "constant", 7)
    critic("sequences-constant", "the sum over tokens is divided by the number of responses and by 16",
           0.25, "seq_mean_constant", 16)
    critic("groups", "the mean over two prompts, of two responses and of one", 0.25, "group_mean_token_mean", 0,
           tokens([0, 0, 1], logp=[[-0.5] * 3, [-0.5] * 2, [-0.5]]), VALUE + [[TENTHS]], OLD + [[0]], RETURNS + [[1]])
    critic("holes", "masked tokens and a fully masked response do not count", 0.25, "seq_mean_token_mean", 0,
           tokens([0, 0, 1], "101 00 1", logp=[[-0.5, NAN, -0.5], [NAN, -1], [-0.5]]),
           [[1, UNMASKED, -0.5], [UNMASKED, UNMASKED], [2]], [[0.25, UNMASKED, -0.375], [UNMASKED, UNMASKED], [1.5]],
           [[1.5, UNMASKED, -1], [UNMASKED, UNMASKED], [1.25]])
    critic("none", "all tokens are masked: loss, gradients and clip fraction are 0",
           0.25, "token_mean", 0, tokens([0, 1], "000 00", **SHAPE))
    critic("large", "values of 10000 with errors of size 1: squares of the values would cancel",
           0.5, value=[[10001, 9999.5, 10000], [10002, 10000.5]],
           old=[[10000, 10000, 10000], [10000.5, 10000]], returns=[[10001.5, 10000, 9999], [10001, 10000]])


@checks("value_loss")
def check_value_loss(check):
    step = Fraction(1, 2 ** 20)
    for label, given, batch in cases_of("value_loss"):
        found = exactly("value_loss", batch, **given)
        without, wide = (exactly("value_loss", batch, **{**given, "clip": clip}) for clip in (0, 2 ** 40))
        check(f"a wide clip is none: {label}", [without[k] for k in ("loss", "dvalue")] == [wide[k] for k in ("loss", "dvalue")])
        check(f"clipping adds to the loss: {label}", found["loss"].value >= without["loss"].value)
        if label in ("value_loss-equal", "value_loss-bound"):
            continue  # a kink
        for i, t in at(batch, "logp"):
            def moved(way):
                value = [[x + way * step if (i, t) == (j, k) else x for k, x in enumerate(map(Fraction, row))]
                         for j, row in enumerate(given["value"])]
                return exactly("value_loss", batch, **{**given, "value": value})["loss"].value
            slope = (moved(1) - moved(-1)) / (2 * real(step))  # exact for parabolas
            check(f"the gradient is the slope: {label}", near(slope, found["dvalue"][i][t].value))
    shown = exactly("value_loss", cases_of("value_loss")[0][2], **cases_of("value_loss")[0][1])
    pieces = Fraction(1) + Fraction(1, 16) + 1 + Fraction(9, 16) + Fraction(1, 4)
    check("by hand", near(shown["loss"].value, pieces / 10) and shown["clip_fraction"].value == Fraction(3, 5))


# ---- proximal_logp

def log_linear(b, l, alpha):
    return Number(b + alpha * (l - b), abs(b) + alpha * abs(l - b))


def linear(b, l, alpha):
    mixed = real(1 - alpha) * reals.exp(real(b)) + real(alpha) * reals.exp(real(l))
    return Number(reals.log(mixed) if alpha else real(b), real(abs(b) + abs(l)))


FORMS = {"log_linear": log_linear, "linear": linear}


@function(logp_old=TOKENS)
def proximal_logp(batch: reads("logp_rollout"), version: COUNT, behaviour_version: many(many(COUNT)), form: one_of("log_linear", "linear")):
    """AReaL: the policy one version before the current one, interpolated between the sampling and the current policy.

    Source: AReaL
    Takes: batch with `logp_rollout`; `version` v and `behaviour_version` v_b per token, integers, 0 <= v_b <= v; `form`
    Gives: `logp_old` per token, alpha = max(0, (v - 1 - v_b)/(v - v_b)), 0 where v = v_b: `log_linear`: b + alpha (l - b), scale abs(b)
    + alpha abs(l - b); `linear`: log((1 - alpha) e^b + alpha e^l), scale abs(b) + abs(l)
    """
    l, b, v = at(batch, "logp"), at(batch, "logp_rollout"), read(batch, behaviour_version)

    def alpha(place):
        age = version - v[place]
        return clamp((age - 1) / age, Fraction(0), Fraction(1)) if age else Fraction(0)
    return {"logp_old": rows(batch, {p: FORMS[form](b[p], l[p], alpha(p)) for p in l}, NOTHING)}


@cases("proximal_logp")
def proximal_logp_cases(case):
    NOW = [[-0.5, -2, -0.0625], [-1.25, -0.75]]
    THEN = [[-0.75, -1.5, -0.5], [-1.25, -3]]
    AGES = [[5, 9, 7], [0, 10]]

    def proximal(form, label, comment, version=10, ages=AGES, now=NOW, then=THEN, mask=None):
        case(f"{form.replace('_', '-')}-{label}", comment, tokens(None, mask, logp=now, logp_rollout=then),
             version=version, behaviour_version=ages, form=form)

    for form in ("log_linear", "linear"):
        proximal(form, "ages", "tokens of versions 0 to 10: of the last two the sampling policy, older ones in between")
        proximal(form, "fresh", "all tokens are of the last version: the sampling policy", 3, [[2, 2, 2], [2, 2]])
        proximal(form, "old", "most tokens are a thousand versions old: nearly the current policy", 1000, [[0, 0, 1], [0, 500]])
        proximal(form, "masked", "masked tokens hold NaN and any version: their answer is 0",
                 4, [[2, UNMASKED, 1], [3, 0]], [[-0.5, NAN, -0.0625], [-1.25, -0.75]],
                 [[-0.75, NAN, -0.5], [-1.25, -3]], "101 11")
        proximal(form, "equal", "current and sampling policy are equal: their log-probability at every age",
                 8, [[0, 3, 6], [7, 8]], then=NOW)
        proximal(form, "extreme", "log-probabilities near 0 and far below it", 6, [[4, 4, 4], [1, 1]],
                 [[-2 ** -20, -300, -2 ** -30], [-800, -2 ** -25]], [[-2 ** -21, -0.5, -40], [-1000, -900]])


@checks("proximal_logp")
def check_proximal_logp(check):
    for label, given, batch in cases_of("proximal_logp"):
        l, b = at(batch, "logp"), at(batch, "logp_rollout")
        mean, product = (exactly("proximal_logp", batch, **{**given, "form": form})["logp_old"] for form in ("linear", "log_linear"))
        for i, t in l:
            age = given["version"] - given["behaviour_version"][i][t]
            x, y = (real(form[i][t].value) for form in (mean, product))
            low, high = sorted(real(z[i, t]) for z in (l, b))
            check(f"between the two: {label}", low <= x + TINY and x - TINY <= high)
            check(f"the arithmetic mean is not below the geometric one: {label}", x >= y - TINY)
            check(f"of this version and the last one: {label}", age > 1 or near(x, b[i, t]) and near(y, b[i, t]))
            check(f"age 2 is halfway: {label}", age != 2 or near(2 * y, l[i, t] + b[i, t]))
            back = age * reals.exp(x) - (age - 1) * reals.exp(real(l[i, t]))
            check(f"probabilities walk on a line: {label}", not age or near(back, reals.exp(real(b[i, t]))))


# ---- divergence

def log_quotient(x, y):
    """log(x/y) of a probability above 0; what is equal is exactly 0."""
    if not y:
        return reals.inf
    return reals.log(x / y) if settle(x - y, x) else ZERO


def kl_terms(x, y):
    return [a * log_quotient(a, b) if a else ZERO for a, b in zip(x, y)]


def value_terms(q, p, beta):
    """OPSD (2601.18734): beta KL(p, M) + (1 - beta) KL(q, M), as GKD; the ends are KL(p, q) and KL(q, p)."""
    if beta in (0, 1):
        return kl_terms(q, p) if beta else kl_terms(p, q)
    b = real(beta)
    M = [(1 - b) * x + b * y for x, y in zip(q, p)]
    return [b * x for x in kl_terms(p, M)] + [(1 - b) * x for x in kl_terms(q, M)]


def slope_times_q(q, p, beta):
    """q_v g_v, g the derivative by q, but for what is the same for every v."""
    if beta == 0:
        return [-y if x else ZERO for x, y in zip(q, p)]
    b = real(beta)
    return [(x * log_quotient(x, (1 - b) * x + b * y) * (1 if beta == 1 else 1 - b)) if x else ZERO for x, y in zip(q, p)]


@function(value=ANSWER, dstudent=optional(many(NUMBER)))
def generalised_jsd(student: many(either(NUMBER, "-Infinity"), least=1), teacher: many(either(NUMBER, "-Infinity"), least=1),
               temperature: POSITIVE, beta: FRACTION):
    """OPSD (2601.18734): between the student and the teacher over a vocabulary, and its slope by the logits of the student.

    Source: OPSD, 2601.18734; GKD
    Takes: `student`, `teacher` (n >= 1 logits each, -inf: banned, at least one of each is not), `temperature` tau > 0, 0 <= `beta` <= 1
    Gives: p, q: softmax of teacher/tau, student/tau; M = beta p + (1 - beta) q. `value`: beta KL(p, M) + (1 - beta) KL(q, M); of beta =
    0 KL(p, q), of beta = 1 KL(q, p); KL(x, y) = sum x log(x/y), a term 0 where x = 0, +inf where only y = 0 (so with beta 0 or 1 only).
    `dstudent` (n): its gradient by the student's logits, the teacher's fixed, q_v (g_v - sum_u q_u g_u)/tau; absent where the value is
    infinite. g = (1 - beta) log(q/M); -p/q (beta = 0); log(q/p) (beta = 1). Scales: F times the sum of the absolute terms (beta p
    abs(log(p/M)), ...), 0 of an infinite value; F q_v (abs(g_v) + sum q abs(g))/tau; log(x/y) as one number, F = 1 + min(60, (max - min
    of the finite student + the same of the teacher)/tau)
    """
    (q, wide), (p, far) = softmax(student, temperature), softmax(teacher, temperature)
    factor = 1 + real(min(wide + far, Fraction(60)))
    terms = value_terms(q, p, beta)
    if reals.inf in terms:
        return {"value": Number(reals.inf, ZERO)}
    value = Number(sum(terms), sum(absolute(terms)) * factor)
    g = slope_times_q(q, p, beta)
    sharp, size = 1 / real(temperature), factor / real(temperature)
    pushed = [Number((y - x * sum(g)) * sharp, (abs(y) + x * sum(absolute(g))) * size) for x, y in zip(q, g)]
    return {"value": value, "dstudent": pushed}


@cases("generalised_jsd")
def divergence_cases(case):
    def diverge(label, comment, student, teacher, beta, temperature=1):
        case(label, comment, None, student=student, teacher=teacher, temperature=temperature, beta=beta)

    LOGITS = [0.5, -1, 2, 0.25], [1, -0.5, 0.75, -2]
    diverge("half", "beta 0.5, as in the released scripts", *LOGITS, 0.5, 1.1)
    diverge("quarter", "beta 0.25: the mixture is mostly the student", *LOGITS, 0.25, 0.5)
    diverge("forward", "beta 0: KL of the teacher to the student", *LOGITS, 0)
    diverge("reverse", "beta 1: KL of the student to the teacher", *LOGITS, 1, 2)
    diverge("equal", "the teacher's logits are the student's plus 2: equal policies, value and gradient are 0",
            LOGITS[0], [2.5, 1, 4, 2.25], 0.25, 0.7)
    diverge("banned", "tokens that are banned for the student, for the teacher and for both",
            [0.5, BANNED, 2, BANNED], [1, -0.5, BANNED, BANNED], 0.75)
    diverge("apart", "no token is allowed for both: the value is the entropy of beta, the gradient 0",
            [0.5, 1, BANNED], [BANNED, BANNED, 3], 0.25)
    diverge("forward-banned", "beta 0: a token is banned for the teacher only: the value is finite",
            [0.5, -1, 0.25], [1, BANNED, -2], 0)
    diverge("forward-infinite", "beta 0: a token is banned for the student only: the value is infinite",
            [0.5, BANNED, 0.25], [1, -0.5, -2], 0)
    diverge("reverse-banned", "beta 1: a token is banned for the student only: the value is finite",
            [0.5, BANNED, 0.25], [1, -0.5, -2], 1)
    diverge("reverse-infinite", "beta 1: a token is banned for the teacher only: the value is infinite",
            [0.5, -1, 0.25], [1, BANNED, -2], 1)
    diverge("far", "logits hundreds apart: probabilities down to e^-900", [0, -900, 3], [-800, 0, 1], 0.5)
    diverge("one", "a vocabulary of one token: value and gradient are 0", [3], [-2], 0.5)


def value_at(given, **other):
    return generalised_jsd(**{**{k: exact(x) for k, x in given.items()}, **other})["value"].value


@checks("generalised_jsd")
def check_divergence_slopes(check):
    h = Fraction(1, 10 ** 15)
    for label, given, _, found in every("generalised_jsd"):
        if "dstudent" not in found:
            continue
        student = exact(given["student"])
        for v, d in enumerate(found["dstudent"]):
            if student[v] != BANNED:
                up, down = (value_at(given, student=student[:v] + [student[v] + step] + student[v + 1:]) for step in (h, -h))
                check(f"the slope: {label}", abs((up - down) / (2 * real(h)) - d.value) < mpf(10) ** -25)
        check(f"a shift of all logits has none: {label}", near(sum(values(found["dstudent"])), 0))


@checks("generalised_jsd")
def check_generalised_jsd(check):
    for label, given, _, found in every("generalised_jsd"):
        other = {**given, "student": given["teacher"], "teacher": given["student"], "beta": 1 - given["beta"]}
        check(f"student and teacher change places: {label}", value_at(other) == value_at(given) or near(value_at(other), value_at(given)))
        end = given["beta"] in (0, 1)
        behind, ahead = (given["teacher"], given["student"]) if given["beta"] else (given["student"], given["teacher"])
        lacking = end and any(x == BANNED != y for x, y in zip(behind, ahead))
        check(f"beyond measure only where one lacks what the other has: {label}", lacking == (value_at(given) == reals.inf))
        if end and not lacking:
            by, step = Fraction(1, 10 ** 20), given["beta"]
            beside = value_at(given, beta=abs(step - by)) / real(by)
            check(f"an end is a limit: {label}", abs(beside - value_at(given)) < mpf(10) ** -15)
    odds = [(Fraction(1, 2), Fraction(1, 4)), (Fraction(1, 2), Fraction(3, 4))]
    q, p = ([rational(reals.log(real(x))) for x in side] for side in zip(*odds))
    log = lambda x: reals.log(real(Fraction(x)))
    hand = {0: log(HALF) / 4 + 3 * log(1.5) / 4, 1: log(2) / 2 + log(Fraction(2, 3)) / 2,
            HALF: (log(Fraction(2, 3)) / 4 + 3 * log(Fraction(6, 5)) / 4 + log(Fraction(4, 3)) / 2 + log(Fraction(4, 5)) / 2) / 2}
    for beta, expected in hand.items():
        found = generalised_jsd(q, p, Fraction(1), Fraction(beta))["value"].value
        check(f"a half against a quarter, beta {beta}", abs(found - expected) < mpf(10) ** -40)


# ---- top_k_gap

def log_sum_exp(xs):
    return real(max(xs)) + reals.log(sum(exp(x - max(xs)) for x in xs))


@function(gap=NUMBER)
def top_k_gap(student: many(NUMBER, least=1), teacher: many(NUMBER, least=1), target: COUNT):
    """VISD (2605.06094): the log-ratio of teacher and student at a token, both normalised over the same set of tokens.

    Source: VISD, 2605.06094
    Takes: `student`, `teacher` (n >= 1 finite log-probabilities of a set of tokens), `target`: a place in it
    Gives: `gap`: log softmax(teacher) - log softmax(student) at the target; scale: the absolute values of the four terms,
    log-probability and log-sum-exp of each
    """
    t = int(target)
    return {"gap": summed((real(teacher[t]), -log_sum_exp(teacher), -real(student[t]), log_sum_exp(student)))}


@cases("top_k_gap")
def set_gap_cases(case):
    each(case,
         ("plain", "within the set the teacher finds the token likelier than the student",
          dict(student=[-2, -0.5, -3], teacher=[-0.75, -1.5, -4], target=0)),
         ("equal", "equal odds within the set, though the teacher's are all less likely: the gap is 0",
          dict(student=[-2, -0.5], teacher=[-2.75, -1.25], target=1)),
         ("far", "log-probabilities a thousand apart", dict(student=[-1000, -0.25, -1], teacher=[-0.125, -900, -1000], target=0)),
         ("one", "a set of one token: the gap is 0", dict(student=[-3], teacher=[-0.5], target=0)))


@checks("top_k_gap")
def check_top_k_gap(check):
    for label, given, _, found in every("top_k_gap"):
        back = exactly("top_k_gap", **{**given, "student": given["teacher"], "teacher": given["student"]})["gap"].value
        moved = exactly("top_k_gap", **{**given, "student": [x - 0.5 for x in given["student"]]})["gap"].value
        gap = found["gap"].value
        check(f"seen from the other side, and any share of the whole: {label}", near(back, -gap) and near(moved, gap))
    even = exactly("top_k_gap", student=[-1, -1], teacher=[-2, -1], target=1)["gap"].value
    check("one half and 1/(1 + 1/e)", near(even, reals.log(2 / (1 + reals.exp(-1)))))
