"""The penalty: preference pairs with kappa, and single responses where a batch has no pair."""
from cases.table import cases_of
from cases.bases import NEG, kind
from objectives import changed, plain
from scenarios import full

case = cases_of("choices-penalty-preference-pointwise")


# ---- pairs

BARE = changed(plain(), **kind("none"), aggregation={"kind": "token_mean"})
PAIRS = {"preference": "pairwise", "preference_coef": 0.5, "preference_min_gap": 0.5, "preference_beta": 0.75}
TOLD = changed(BARE, penalty=PAIRS)
SIGNED = {"preference": "pairwise_else_pointwise"}


def levels(*groups, mask=None, gaps=None):
    """Rewards by group; responses of one to three tokens."""
    flat = [r for group in groups for r in group]
    lengths = [1 + i % 3 for i in range(len(flat))]
    gap = None if gaps is None else lambda dice, i, t: gaps[i]
    return lambda o: full(o, [len(g) for g in groups], lengths, 961, reward=flat, mask=mask, f_gap=gap)


ranked, flat = levels((1, -1, 0), (0, 0, -1)), levels((1, 1, 0.5), (-1, -1), (0,), mask={(4, 0), (4, 1)})
case("preference_kappa", "steeper where the better response is one of the best level", TOLD, {"penalty": {"preference_kappa": 2.5}}, ranked)
case("pairwise_else_pointwise", "one group has pairs: they are all there is", BARE,
     {"penalty": {**PAIRS, **SIGNED, "preference_kappa": 0.5}},
     levels((1, -1), (0.5, 0.5), (0,)))
case("margin_else_sign-sign", "no pair in the batch: right ones up, wrong ones down; those without tokens are not in the number",
     changed(TOLD, penalty={"preference_kappa": 2.5}), {"penalty": SIGNED}, flat)
case("margin_else_sign-free", "log-probabilities", changed(TOLD, penalty={**SIGNED, "preference_min_gap": 4}),
     {"penalty": {"preference_score": "reference_free"}}, ranked)
case("margin_else_sign-far-800", "scores of 800 on either side", TOLD, {"penalty": SIGNED},
     levels((1, 1), (0, 0), gaps=(-800, 800, -800, 800)))


def lost(o):
    return {**full(o, (2, 1), (2, 1, 1), 962, reward=(1, 1, 0)), "logp": [[NEG, -1], [-0.5], [NEG]],
            "logp_ref": [[-1, -0.75], [-1], [-0.5]]}


case("margin_else_sign-neginf", "a right and a wrong response of probability 0: infinite, and nothing", TOLD, {"penalty": SIGNED}, lost)
