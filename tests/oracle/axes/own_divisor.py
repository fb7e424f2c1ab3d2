"""Penalties with a divisor of their own: added to the loss after the aggregation."""

from autodiff import Var, linear, nonlinear, sg, sigmoid, softplus, value
from axes import weight
from axes.group import better, farthest, of_one_k, pair
from limits import ONE, ZERO, exp, is_infinite, of_one_sign, sign
from reals import mpf


class Term:
    """The penalty of one token or pair, and its group."""

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
    """o - l: the log-likelihood that a token has lost"""
    return t.o - t.l


def lost(t):
    # LLDS: h = -max(0, o - l), derivative 0 where nothing is lost
    gap = behind(t)
    return -gap if sign(value(gap)) > 0 else ZERO


# h; the penalty is -u h
FORM = {"logp": lambda t: t.l, "teacher_gap": lambda t: t.l - t.teacher, "displacement": lost}


def teacher_gate(choice, t):
    # SDAR (2605.15155) as ms-swift: sigmoid(5 (teacher - l))
    return sg(sigmoid(mpf(choice["nll_teacher_slope"]) * (t.teacher - value(t.l))))


# p_one_minus_p: CHORD (2508.11408), small weights for probabilities near 0 and 1
WEIGHT = {"none": lambda choice, t: ONE,
          "p": lambda choice, t: sg(exp(value(t.l))),
          "p_one_minus_p": lambda choice, t: sg(exp(value(t.l)) * (1 - exp(value(t.l)))),
          "teacher_gate": teacher_gate}


def rounding(choice, t):
    """The relative error of the weight, in units of eps: 1, plus the gap in its exponent where that is rounded."""
    gap = t.teacher - value(t.l) if choice["nll_weight"] == "teacher_gate" else ZERO
    return ONE if is_infinite(gap) else 1 + abs(mpf(choice["nll_teacher_slope"]) * gap)


# the unit over which the lost likelihood is summed
GATE = {"none": None, "sequence": lambda t: t.sequence, "segment": lambda t: (t.sequence, t.segment)}


def open_gates(choice, tokens):
    """LLDS: the tokens of responses, or segments, that have lost likelihood in total"""
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
    return of_one_k(linear([(SCORE[choice["preference_score"]](t), ONE) for t in tokens]) / len(tokens))


def ranked_pairs(choice, responses):
    """AMIR-GRPO (2601.03661): a logistic loss of the pairs of a group whose rewards differ by more than the minimum."""
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
    """TRPA (2504.04524): beta, times kappa if the better response is of the best preference level"""
    gain = mpf(choice["preference_kappa"])
    return mpf(choice["preference_beta"]) * (gain if gain and sign(winner.reward) > 0 else ONE)


def told_apart(beta, x, y):
    return pair(beta, x, y, abs(beta) * (farthest([x]) + farthest([y])))


def by_sign(choice, scored):
    """TRPA, official code: for a batch without any pair, a logistic loss of each response by the sign of its reward"""
    def pushed(s, x):
        way = 1 if sign(s.reward) > 0 else -1
        return nonlinear(lambda xs: softplus(xs[0] * -way), [x], farthest([x]))
    c = mpf(choice["preference_coef"])
    return [Term(pushed(s, x) * (c / len(scored)), s.group) for s, x in scored]


def terms(objective, batch):
    responses = active_responses(objective, batch)
    return likelihood(objective["penalty"], responses) + ranked_pairs(objective["penalty"], responses)


def paid(terms, measure=value):
    """The sum of the penalties; with measure = size, of their sizes."""
    return sum(of_one_sign([measure(term.x) for term in terms]), ZERO)
