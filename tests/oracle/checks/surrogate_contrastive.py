"""The contrastive surrogate by hand, and its properties."""
import math

from cases import case_of
from checks.groups import A, GROUPS_OF, LENGTHS, answers, batch_of, scores, slopes, with_kind
from checks.surrogate_group_softmax_distance import good
from checks.tools import near
from evaluate import evaluate
from objectives import changed, plain

TAU, MARGIN = 0.5, 0.25


def by_hand(s, a):
    """(loss, dL/ds): minus the mean over positive i of tau (z_i - log(e^z_i + sum_j e^u_j)), z_i = (s_i - margin)/tau, u_j = s_j/tau"""
    plus, minus = good(a)
    slope, loss = [0] * len(s), 0
    for i in plus if minus else ():
        z, u = (s[i] - MARGIN) / TAU, {j: s[j] / TAU for j in minus}
        whole = math.exp(z) + sum(map(math.exp, u.values()))
        loss -= TAU * (z - math.log(whole)) / len(plus)
        slope[i] -= (1 - math.exp(z) / whole) / len(plus)
        for j in minus:
            slope[j] += math.exp(u[j]) / whole / len(plus)
    return loss, slope


def check_by_hand(check):
    for score in ("log", "ratio"):
        o = changed(with_kind("contrastive", contrast_temperature=TAU, contrast_margin=MARGIN), surrogate={"group_score": score})
        batch = batch_of(o)
        found, y = evaluate(o, batch)[0], scores(o, batch)
        s = [math.exp(x) for x in y] if score == "ratio" else y
        each = [by_hand([s[i] for i in g], [A[i] for i in g]) for g in GROUPS_OF]
        slope = [d for _, row in each for d in row]
        check(f"ConSPO, of {score}", near([3 * found["loss"]], [sum(x for x, _ in each)]) and found["loss"] > 0)
        slope = [d * x for d, x in zip(slope, s)] if score == "ratio" else slope
        check(f"its derivatives, of {score}", near([3 * d for d in slopes(found)], slope))
    total = [sum(slopes(answers(with_kind("contrastive", contrast_temperature=TAU)))[i] for i in g) for g in GROUPS_OF]
    check("what good ones gain the others lose", near(total, [0] * 3, 1e-15))


def check_paper(check):
    """One positive and two negative scores with the paper's constants, and its lemma on the shares of the negative ones."""
    o = changed(plain(), ratio={"behaviour": "none", "level": "sequence_mean"}, aggregation={"kind": "group_mean"},
                surrogate={"kind": "contrastive", "contrast_temperature": 10, "contrast_margin": 0.01})
    batch = {"group": [0] * 3, "length": [1] * 3, "logp": [[-0.5], [-0.7], [-0.4]], "advantage": [[1], [0], [0]]}
    found = evaluate(o, batch)[0]
    d = [row[0] for row in found["dlogp"]]
    check("the paper's temperature and margin", abs(found["loss"] - 10.960223) < 1e-6 and abs(1 + d[0] - 0.334198) < 1e-6)
    check("others are pushed by e^(their distance/tau)", abs(d[2] / d[1] - math.exp(0.3 / 10)) < 1e-12)
    moved = {**batch, "logp": [[-0.5 - 0.01], [-0.7], [-0.4]]}
    check("a margin off the good score is the same as a lower one",
          near([evaluate(changed(o, surrogate={"contrast_margin": 0}), moved)[0]["loss"]], [found["loss"]]))


def check_near(check):
    o = with_kind("contrastive", contrast_temperature=2.0 ** -12)
    y, reached = scores(o, batch_of(o)), set()
    for way in (1, -1):
        a = [way * x for x in A]
        loss = answers(o, advantage=[[x] * T for x, T in zip(a, LENGTHS)])["loss"]
        mixed = [g for g in GROUPS_OF if {a[j] > 0 for j in g} == {True, False}]
        hinges = [[max(0, max(y[j] for j in g if a[j] <= 0) - y[i]) for i in g if a[i] > 0] for g in mixed]
        check("of no temperature it is a hinge on the best of the others", near([3 * loss], [sum(sum(h) / len(h) for h in hinges)], 1e-6))
        reached |= {x > 0 for h in hinges for x in h}
    check("which some reach and some do not", reached == {True, False})
    pair, one = case_of("surrogate-contrastive", "contrastive-no-margin")
    batch = {**one, "advantage": [[a] * T for a, T in zip((1, -1, 0, -1, 0, -1, 1, 0, 0, 0), one["length"])]}
    logistic = changed(pair, surrogate={**plain()["surrogate"], "kind": "pairwise_logistic", "beta": 1 / 0.75, "min_gap": 1})
    left, right = (evaluate(x, batch)[0] for x in (pair, logistic))
    rows = [i for i, g in enumerate(one["group"]) if g == 1]
    check("one against one it is the logistic loss of the pair, times tau",
          near([left["dlogp"][i][0] for i in rows], [0.75 * right["dlogp"][i][0] for i in rows]))


GROUPS = (check_by_hand, check_paper, check_near)
