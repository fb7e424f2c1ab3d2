"""Penalties with a divisor of their own: added to the loss, not to what the aggregation divides."""

from autodiff import Var, linear, nonlinear, sg, sigmoid, softplus, value
from axes import weight
from axes.group import better, farthest, pair
from limits import ONE, ZERO, exp, is_infinite, sign
from reals import mpf


class Term:
    """What one token or pair adds to the loss, and the group it is of."""

    def __init__(self, x, group):
        self.x, self.group = x, group


def active_responses(objective, batch):
    """[(sequence, its active tokens)] of those that have any."""
    kept = [(s, [t for t, _ in weight.weigh(objective["weight"], s)[0]]) for s in batch.sequences]
    return [(s, tokens) for s, tokens in kept if tokens]


# ---- likelihood

ON = {"none": lambda t: False,
      "correct": lambda t: sign(t.sequence.reward) > 0,  # VAPO (2504.05118)
      "positive": lambda t: sign(t.advantage) > 0,  # OREAL (2502.06781) as xtuner
      "selected": lambda t: t.nll_mask,
      "all": lambda t: True,
      "not_negative": lambda t: sign(t.advantage) >= 0}  # LLDS (2512.04220)


def behind(t):
    """o - l: how much of its likelihood a token has lost"""
    return t.o - t.l


def lost(t):
    # LLDS: max(0, o - l), derivative 0 where nothing is lost
    gap = behind(t)
    return -gap if sign(value(gap)) > 0 else ZERO


# h, which is to grow
FORM = {"logp": lambda t: t.l, "teacher_gap": lambda t: t.l - t.teacher, "displacement": lost}


def teacher_gate(choice, t):
    # SDAR (2605.15155) as ms-swift: sigmoid(5 (teacher - l))
    return sg(sigmoid(mpf(choice["nll_teacher_slope"]) * (t.teacher - value(t.l))))


# CHORD (2508.11408): tokens that are sure or hopeless weigh less
WEIGHT = {"none": lambda choice, t: ONE,
          "p": lambda choice, t: sg(exp(value(t.l))),
          "p_one_minus_p": lambda choice, t: sg(exp(value(t.l)) * (1 - exp(value(t.l)))),
          "teacher_gate": teacher_gate}


def rounding(choice, t):
    """How much more than by its ulps the weight is off: by the gap in its exponent, if that is rounded."""
    gap = t.teacher - value(t.l) if choice["nll_weight"] == "teacher_gate" else ZERO
    return ONE if is_infinite(gap) else 1 + abs(mpf(choice["nll_teacher_slope"]) * gap)


# whose loss counts together
GATE = {"none": None, "sequence": lambda t: t.sequence, "segment": lambda t: (t.sequence, t.segment)}


def open_gates(choice, tokens):
    """LLDS: those of responses, or segments, that have lost likelihood altogether"""
    key = GATE[choice["nll_gate"]]
    if key is None:
        return tokens
    total = {}
    for t in tokens:
        total[key(t)] = total.get(key(t), ZERO) + value(behind(t))
    return [t for t in tokens if sign(total[key(t)]) > 0]


def likely(choice, t, c):
    u, h = WEIGHT[choice["nll_weight"]](choice, t), FORM[choice["nll_form"]](t)
    x, more = u * h * -c, rounding(choice, t)
    return Var(value(x), [(y, *slope, abs(slope[0]) * more) for y, *slope in x.parents] if isinstance(x, Var) else [], abs(value(x)) * more)


def likelihood(choice, responses):
    tokens = [t for _, kept in responses for t in kept if ON[choice["nll_on"]](t)]
    c = mpf(choice["nll_coef"]) / max(1, len(tokens))
    return [Term(likely(choice, t, c), t.sequence.group) for t in open_gates(choice, tokens)]


# ---- pairs

SCORE = {"ref": lambda t: t.l - t.f, "reference_free": lambda t: t.l}


def mean_score(choice, tokens):
    return linear([(SCORE[choice["preference_score"]](t), ONE) for t in tokens]) / len(tokens)


def ranked_pairs(choice, responses):
    """AMIR-GRPO (2601.03661): a logistic loss of the pairs of a group that its rewards tell apart."""
    if choice["preference"] == "none":
        return []
    margin = mpf(choice["preference_min_gap"])
    scored = [(s, mean_score(choice, tokens)) for s, tokens in responses]
    told = [(s, x, y) for s, x in scored for r, y in scored
            if s.group == r.group and better(margin, s.reward, r.reward)]
    if not told and choice["preference"] == "pairwise_else_pointwise":
        return by_sign(choice, scored)
    c = mpf(choice["preference_coef"])
    return [Term(told_apart(steepness(choice, s), x, y) * (c / len(told)), s.group) for s, x, y in told]


def steepness(choice, winner):
    """TRPA (2504.04524): kappa times as steep where the better response is one of the best level"""
    gain = mpf(choice["preference_kappa"])
    return mpf(choice["preference_beta"]) * (gain if gain and sign(winner.reward) > 0 else ONE)


def told_apart(beta, x, y):
    return pair(beta, x, y, abs(beta) * (farthest([x]) + farthest([y])))


def by_sign(choice, scored):
    """TRPA, official code: a batch without any pair pushes its right responses up and the others down"""
    def pushed(s, x):
        way = 1 if sign(s.reward) > 0 else -1
        return nonlinear(lambda xs: softplus(xs[0] * -way), [x], farthest([x]))
    c = mpf(choice["preference_coef"])
    return [Term(pushed(s, x) * (c / len(scored)), s.group) for s, x in scored]


def terms(objective, batch):
    responses = active_responses(objective, batch)
    return likelihood(objective["penalty"], responses) + ranked_pairs(objective["penalty"], responses)


def paid(terms, measure=value):
    """What they add to the loss, or, with `size`, to its scale."""
    return sum((measure(term.x) for term in terms), ZERO)
