"""The penalty: likelihoods relative to a teacher, likelihood lost against the old policy, gates."""
import math

from cases import case_of
from checks.groups import LENGTHS, batch_of
from checks.tools import active, flat, log_ratios, near
from evaluate import evaluate
from objectives import changed, plain


def check_likelihood(check):
    score = changed(plain(), aggregation={"kind": "token_mean"})
    n, c = sum(LENGTHS), 0.25
    batch = batch_of(score, advantage=[[0] * T for T in LENGTHS])
    rows = [t for key in zip(batch["logp"], batch["logp_old"], batch["logp_teacher"]) for t in zip(*key)]

    def by(**fields):
        return evaluate(changed(score, penalty={"nll_on": "all", "nll_coef": c, **fields}), batch)[0]
    gate = [1 / (1 + math.exp(-5 * (q - l))) for l, _, q in rows]
    found = by(nll_form="teacher_gap", nll_weight="teacher_gate", nll_teacher_slope=5)
    check("SDAR: mean of sg[sigmoid(5 d)] d", near([found["loss"]], [c * sum(g * (q - l) for g, (l, _, q) in zip(gate, rows)) / n])
          and near(flat(found["dlogp"]), [-c * g / n for g in gate]))
    check("a gate without a gain is a half", near(flat(by(nll_weight="teacher_gate")["dlogp"]), [-c / 2 / n] * n))
    check("the gap's gradient is that of the likelihood", by(nll_form="teacher_gap")["dlogp"] == by()["dlogp"])
    lost = by(nll_form="displacement")
    check("LLDS without a gate", near([lost["loss"]], [c * sum(max(0, o - l) for l, o, _ in rows) / n])
          and near(flat(lost["dlogp"]), [-c / n if o > l else 0 for l, o, _ in rows]))
    for name in ("sequence", "segment"):
        o, raw = case_of("scores", f"lost-{name}", advantage={"baseline": "none"})
        d = log_ratios(raw)
        pieces = {}
        for i, kept in active(raw):
            for t in kept:
                pieces.setdefault((i, sum(raw["segment_end"][i][:t]) if name == "segment" else 0), []).append(-d[i][t])
        count = sum(len(p) for p in pieces.values())
        paid = 0.5 / count * sum(max(0, x) for p in pieces.values() if sum(p) > 0 for x in p)
        check(f"LLDS eq. 4 with the gate of a {name}", near([evaluate(o, raw)[0]["report"]["penalty_loss"]], [paid])
              and any(sum(p) == 0 for p in pieces.values()))
    a, b = case_of("scores", "not_negative")
    every = {**b, "advantage": [[abs(x) for x in row] for row in b["advantage"]]}
    check("without a bad token all count", evaluate(a, every)[0] == evaluate(changed(a, penalty={"nll_on": "all"}), every)[0])


GROUPS = (check_likelihood,)
