"""From logits, or hidden states and a projection, to log-probabilities, entropy and a row's loss, and back to their gradients.

    z_v = (hidden . weight_v)/tau or logits_v/tau,   p = softmax(z),   logp = log p_target,   H = -sum p log p
    d logp/d logits_v = ([v = target] - p_v)/tau,    d H/d logits_v = -p_v (log p_v + H)/tau

g = dL/d logp and e = dL/dH are given, or are those of an objective. Every step is a function of its own, which a known mistake
(defects/vocabulary.py) replaces. Numbers are pairs (number, scale).
"""

import evaluate
from autodiff import gradient
from axes import own_divisor
from limits import ZERO
from logits import Softmax
from reals import mpf

STEP = mpf(10) ** -25  # of the finite differences that measure how an error of a log-probability changes the gradient
MINUS_INF = mpf("-inf")


class Position:
    """An unmasked token: its logits before the temperature, their sizes, its target."""

    def __init__(self, case, i, t, logits, sizes):
        self.i, self.t, self.target = i, t, case["target"][i][t]
        self.logits, self.sizes = logits, sizes


def counts(case, i, t):
    """Is the token's mask true? Masked tokens are not read."""
    mask = case.get("batch", {}).get("mask")
    return mask is None or mask[i][t]


def number(x):
    return MINUS_INF if x == "-Infinity" else mpf(x)


def projected(case, i, t):
    """(logits, sizes) of a hidden state: a dot product with each row of the projection."""
    x = [mpf(h) for h in case["hidden"][i][t]]
    products = [[h * mpf(w) for h, w in zip(x, row)] for row in case["weight"]]
    return [sum(row, ZERO) for row in products], [sum(map(abs, row), ZERO) for row in products]


def ban(case, i, t, logits):
    """Sets the logits of banned tokens to -infinity."""
    banned = case["banned"][i][t] if "banned" in case else ()
    return [MINUS_INF if v in banned else x for v, x in enumerate(logits)]


def positions(case):
    found = []
    for i, row in enumerate(case["target"]):
        for t in range(len(row)):
            if not counts(case, i, t):
                continue
            if case["kind"] == "hidden":
                logits, sizes = projected(case, i, t)
            else:
                logits = [number(x) for x in case["logits"][i][t]]
                sizes = [abs(x) for x in logits]
            found.append(Position(case, i, t, ban(case, i, t, logits), sizes))
    return found


def forward(case, x):
    """The position's softmax, log-probability and entropy."""
    x.softmax = Softmax(x.logits, case["temperature"], x.sizes)
    x.logp, x.entropy = x.softmax.logp[x.target], x.softmax.entropy
    x.logp_size = x.softmax.size_of(x.target)
    x.entropy_size = 2 * x.softmax.size


def batch_of(case, at):
    """The objective's batch with the computed log-probabilities and entropies."""
    raw = dict(case["batch"])
    for name in ("logp", "entropy"):
        raw[name] = [[getattr(at[i, t], name) if (i, t) in at else ZERO for t in range(len(row))]
                     for i, row in enumerate(case["target"])]
    return raw


last = {}  # the answers to the last objective and batch, reused because most mistakes are made after them


def slopes(objective, raw):
    """{output: {place: (number, scale)}} of loss, dlogp and dentropy, of exact log-probabilities."""
    asked = repr((objective, raw))
    if asked not in last:
        last.clear()
        last[asked] = {name: find() for name, find in evaluate.outputs(objective, evaluate.Batch(raw))
                       if name in ("loss", "dlogp", "dentropy")}
    return last[asked]


def gradient_alone(objective, raw):
    """{place: dL/d logp}"""
    batch = evaluate.Batch(raw)
    entries, _ = evaluate.entries_of(objective, batch)
    slope = gradient(evaluate.roots(entries, own_divisor.terms(objective, batch)))
    return {e.place(): slope.get(e.token.l, ZERO) for e in entries}


def moved(case, raw, x, there):
    """{place: d(dL/d logp)/d logp of x}: how an error of the log-probability of x changes the gradient `there`."""
    rows = [list(row) for row in raw["logp"]]
    rows[x.i][x.t] += STEP
    beside = gradient_alone(case["objective"], {**raw, "logp": rows})
    return {place: (slope - there[place][0]) / STEP for place, slope in beside.items()}


def from_above(case, found, measured):
    """Sets g and e of every position, with their scales; the loss and its scale, or None where g and e are given.
    measured: the scales include the rounding errors of the log-probabilities, which takes further evaluations."""
    if "objective" not in case:
        for x in found:
            x.g, x.e = mpf(case["dlogp"][x.i][x.t]), mpf(case["dentropy"][x.i][x.t])
            x.g_size, x.e_size = abs(x.g), abs(x.e)
        return None
    raw = batch_of(case, {(x.i, x.t): x for x in found})
    answers = slopes(case["objective"], raw)
    loss, size = answers["loss"][()]
    for x in found:
        x.g, x.g_size = answers["dlogp"].get((x.i, x.t), (ZERO, ZERO))
        x.e, x.e_size = answers.get("dentropy", {}).get((x.i, x.t), (ZERO, ZERO))
        size += abs(x.g) * x.logp_size + abs(x.e) * x.entropy_size
    if measured:
        at = {(x.i, x.t): x for x in found}
        for x in found:
            for place, slope in moved(case, raw, x, answers["dlogp"]).items():
                at[place].g_size += abs(slope) * x.logp_size
    return loss, size


def logit_slope(case, x, v):
    """dL/d logits_v of a position, before the temperature's 1/tau."""
    p = x.softmax.p[v]
    if not p:
        return ZERO
    return x.g * ((v == x.target) - p) - x.e * p * (x.softmax.logp[v] + x.entropy)


def logit_scale(x, v):
    p = x.softmax.p[v]
    if not p:
        return ZERO
    size = x.softmax.size_of(v)
    return x.g_size * ((v == x.target) + p * (1 + size)) + x.e_size * p * (1 + size) * (size + x.entropy_size)


def back(case, x):
    """[(dL/d logits_v, scale)] of a position."""
    tau = mpf(case["temperature"])
    return [(logit_slope(case, x, v) / tau, logit_scale(x, v) / tau) for v in range(len(x.logits))]


def total(products):
    """The sum of (number, scale) times a number each."""
    value = size = ZERO
    for (y, s), w in products:
        value, size = value + y * w, size + s * abs(w)
    return value, size


def hidden_slope(case, x):
    """[(dL/d hidden_h, scale)]: through every row of the projection."""
    weight = [[mpf(w) for w in row] for row in case["weight"]]
    return [total((d, row[h]) for d, row in zip(x.dlogits, weight)) for h in range(len(weight[0]))]


def weight_slope(case, found, v, h):
    """(dL/d weight_vh, scale): the sum over all positions."""
    return total((x.dlogits[v], mpf(case["hidden"][x.i][x.t][h])) for x in found)


def laid_out(case, found, numbers, nothing):
    """Rows of numbers(x) of each position x; `nothing` at masked ones."""
    at = {(x.i, x.t): x for x in found}
    return [[numbers(at[i, t]) if (i, t) in at else nothing for t in range(len(row))] for i, row in enumerate(case["target"])]


def gradients(case, found):
    for x in found:
        x.dlogits = back(case, x)
    if case["kind"] == "logits":
        width = len(next(z for row in case["logits"] for z in row))
        return {"dlogits": laid_out(case, found, lambda x: x.dlogits, [(ZERO, ZERO)] * width)}
    width = len(case["weight"][0])
    return {"dhidden": laid_out(case, found, lambda x: hidden_slope(case, x), [(ZERO, ZERO)] * width),
            "dweight": [[weight_slope(case, found, v, h) for h in range(width)] for v in range(len(case["weight"]))]}


def answers(case, measured=False):
    """{output: numbers with their scales, in the output's shape}, unrounded."""
    found = positions(case)
    for x in found:
        forward(case, x)
    result = {}
    above = None
    if "objective" in case or "dlogp" in case:
        above = from_above(case, found, measured)
    if "objective" in case:
        result["loss"] = above
    else:
        result["logp"] = laid_out(case, found, lambda x: (x.logp, x.logp_size), (ZERO, ZERO))
        result["entropy"] = laid_out(case, found, lambda x: (x.entropy, x.entropy_size), (ZERO, ZERO))
    if "objective" in case or "dlogp" in case:
        result.update(gradients(case, found))
    return result


def each(f, x):
    """f(number, scale) of every pair in nested lists."""
    return [each(f, y) for y in x] if isinstance(x, list) else f(*x)

