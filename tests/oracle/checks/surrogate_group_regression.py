"""The surrogate as a function of a group: a regression of standardised scores."""
import math

from checks.groups import A, GROUPS_OF, LENGTHS, batch_of, scores, slopes, with_kind
from checks.ratio_power_mean import K
from checks.tools import near
from evaluate import evaluate
from objectives import changed


def regression_by_hand(y, a, v, eps=0.125):
    """(loss of a group whose responses have the weights v, dL/dy), as vectors/objective/surrogate_group.md defines it"""
    n = len(y)
    if n == 1:
        return v[0] * a[0] ** 2, [0]
    m = math.fsum(y) / n
    c = [x - m for x in y]
    s = math.sqrt(math.fsum(x * x for x in c) / (n - 1))
    D = s + eps
    b = [-2 * K * w * (x - K * z / D) for w, x, z in zip(v, a, c)]
    turn = math.fsum(x * z for x, z in zip(b, c)) / (D * D * (n - 1) * s)
    return (math.fsum(w * (x - K * z / D) ** 2 for w, x, z in zip(v, a, c)), [(x - math.fsum(b) / n) / D - z * turn for x, z in zip(b, c)])


def check_regression(check):
    o = with_kind("regression", beta=K, group_score_eps=0.125)
    batch = batch_of(o)
    weights = (2, 0.5, 0, 1, 1.5, 0.25)
    y = scores(o, batch)
    for v, objective, more in (((1,) * 6, o, {}), (weights, changed(o, weight={"external": "policy"}),
                                                   {"external_weight": [[w] * T for w, T in zip(weights, LENGTHS)]})):
        found = evaluate(objective, {**batch, **more})[0]
        each = [regression_by_hand([y[i] for i in g], [A[i] for i in g], [v[i] for i in g]) for g in GROUPS_OF]
        check("Reg-GRPO by hand", near([3 * found["loss"]], [math.fsum(x for x, _ in each)]))
        check("its derivatives", near([3 * s for s in slopes(found)], [s for _, row in each for s in row]))
        check("what moves all scores moves nothing", all(abs(math.fsum(slopes(found)[i] for i in g)) < 1e-15 for g in GROUPS_OF))
    standard = evaluate(with_kind("standardised", beta=K, group_score_eps=0.125), batch)[0]
    check("the values of standardised but for a lone one", all(x == y for i, (x, y) in enumerate(zip(evaluate(o, batch)[0]["term"],
                                                                                                 standard["term"])) if i != 3))


GROUPS = (check_regression,)
