"""The surrogate of one unit: parabolas, no clip where A > 0, no surrogate."""
import math

from cases import case_of
from checks.tools import flat, near
from evaluate import evaluate
from objectives import changed, plain

SCORE = changed(plain(), aggregation={"kind": "token_sum"})


def on_levels(kind, **numbers):
    """(answers, (A, log-ratio) of every token)"""
    o, batch = case_of("surrogate-token", "quadratic", aggregation={"kind": "token_sum"})
    found = evaluate(changed(o, surrogate={**plain()["surrogate"], "kind": kind, **numbers}), batch)[0]
    return found, list(zip(flat(batch["advantage"]), (l - p for l, p in zip(flat(batch["logp"]), flat(batch["logp_old"])))))


def check_quadratic(check):
    found, tokens = on_levels("quadratic", quadratic_eps=0.25)
    w = [math.exp(d) for _, d in tokens]
    check("CFPO", near(flat(found["term"]), [-(a * x - abs(a) * (x - 1) ** 2 / 0.5) for (a, _), x in zip(tokens, w)]))
    check("and its derivative", near(flat(found["dlogp"]), [-x * (a - abs(a) * (x - 1) / 0.25) for (a, _), x in zip(tokens, w)]))
    check("nothing is clipped", found["report"]["clip_fraction"] == 0)
    for sign, d in ((1, math.log(1.25)), (-1, math.log(0.75))):
        batch = {"group": [0], "length": [1], "logp": [[-1]], "logp_old": [[-1 - d]], "advantage": [[sign]]}
        one = evaluate(changed(SCORE, surrogate={"kind": "quadratic", "quadratic_eps": 0.25}), batch)[0]
        check("its vertex is the clip's corner", abs(one["dlogp"][0][0]) < 1e-15)
    wide, ratio = on_levels("quadratic", quadratic_eps=2.0 ** 80)[0], on_levels("ratio")[0]
    check("without an epsilon it is the ratio", all(near(flat(wide[name]), flat(ratio[name])) for name in ("term", "dlogp")))


def check_unbounded(check):
    numbers = {"eps_low": 0.25, "eps_high": 0.25, "clip_dual": 3}
    found, tokens = on_levels("unbounded_positive", **numbers)
    score, dual = on_levels("reinforce")[0], on_levels("dual_clip", **numbers)[0]
    by_sign = [x if a > 0 else y for (a, _), x, y in zip(tokens, flat(score["dlogp"]), flat(dual["dlogp"]))]
    check("UP: REINFORCE above 0, the dual clip below", flat(found["dlogp"]) == by_sign)
    check("its values", near(flat(found["term"]), [-a if a > 0 else x for (a, _), x in zip(tokens, flat(dual["term"]))]))
    check("it clips what the dual clip does below 0", found["report"]["clip_fraction_high"] == 0
          and all(found["report"][k] == dual["report"][k] > 0 for k in ("clip_fraction_low", "clip_fraction_dual")))


def check_none(check):
    for label in ("none", "none-kl_importance_weight", "none-neginf"):
        o, batch = case_of("surrogate-token", label)
        found = evaluate(o, batch)[0]
        still = evaluate(changed(o, surrogate={"kind": "reinforce"}), {**batch, "advantage": [[0] * T for T in batch["length"]]})[0]
        check(f"the score function of no advantage: {label}", all(found[key] == still[key] for key in ("loss", "term", "dlogp")))
        report = found["report"]
        check(f"a penalty and no policy loss: {label}", report["policy_loss"] == 0 and found["loss"] == report["penalty_loss"])
    o, batch = case_of("surrogate-token", "none-kl_importance_weight")
    check("its ratios are reported", evaluate(o, batch)[0]["report"]["ratio_max"] > 1)


GROUPS = (check_quadratic, check_unbounded, check_none)
