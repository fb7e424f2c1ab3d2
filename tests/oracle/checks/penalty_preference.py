"""The penalty: preference pairs with kappa, and single responses where a batch has no pair."""
import math

from cases import case_of
from checks.groups import refused, softplus, with_kind
from checks.tools import near
from evaluate import evaluate
from objectives import changed


def means(batch, mask):
    """mean of l - f over the tokens that count"""
    kept = [[l - f for l, f, m in zip(*rows) if m] for rows in zip(batch["logp"], batch["logp_ref"], mask)]
    return [math.fsum(row) / len(row) if row else None for row in kept]


def check_pairs(check):
    o, batch = case_of("penalty-preference-pointwise", "preference_kappa")
    s = means(batch, [[True] * T for T in batch["length"]])
    # rewards 1, -1, 0; 0, 0, -1
    told = ((0, 1, 2.5), (0, 2, 2.5), (2, 1, 1), (3, 5, 1), (4, 5, 1))
    loss = lambda gains: 0.5 / 5 * math.fsum(softplus(-0.75 * k * (s[i] - s[j])) for i, j, k in gains)
    found = evaluate(o, batch)[0]
    check("TRPA's pairs, steeper where the best is in them", near([found["loss"]], [loss(told)]))
    for gain in (0, 1):
        same = evaluate(changed(o, penalty={"preference_kappa": gain}), batch)[0]
        check(f"none: {gain}", near([same["loss"]], [loss([(i, j, 1) for i, j, _ in told])]))
    check("where there are pairs the sign does not matter",
          evaluate(changed(o, penalty={"preference": "pairwise_else_pointwise"}), batch)[0] == found)
    check("no gain below 0", refused(changed(with_kind("variance", beta=1), penalty={"preference": "pairwise", "preference_kappa": -1})))
    o, batch = case_of("penalty-preference-pointwise", "margin_else_sign-sign")
    found, s = evaluate(o, batch)[0], means(batch, batch["mask"])
    way = [1 if r > 0 else -1 for r in batch["reward"]]
    active = [i for i, x in enumerate(s) if x is not None]
    check("five of six responses are there", len(active) == 5)
    check("TRPA without pairs", near([found["loss"]], [0.5 / 5 * math.fsum(softplus(-way[i] * s[i]) for i in active)]))
    check("and its derivatives", all(near(found["dlogp"][i], [-0.1 * way[i] / (1 + math.exp(way[i] * s[i])) / batch["length"][i]]
                                          * batch["length"][i]) for i in active))
    check("whatever beta and gain", evaluate(changed(o, penalty={"preference_beta": 7, "preference_kappa": 0}), batch)[0] == found)


GROUPS = (check_pairs,)
