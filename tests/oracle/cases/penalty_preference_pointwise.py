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
case("preference_kappa", "preference pairs whose better response has a reward above 0 get beta times preference_kappa = 2.5",
     TOLD, {"penalty": {"preference_kappa": 2.5}}, ranked)
case("pairwise_else_pointwise", "TRPA: as long as one group has a preference pair, the pairs are the whole preference term", BARE,
     {"penalty": {**PAIRS, **SIGNED, "preference_kappa": 0.5}},
     levels((1, -1), (0.5, 0.5), (0,)))
case("margin_else_sign-sign",
     "TRPA without any pair: a logistic loss per response, up if its reward is above 0, else down; empty ones not counted",
     changed(TOLD, penalty={"preference_kappa": 2.5}), {"penalty": SIGNED}, flat)
case("margin_else_sign-free", "TRPA without any pair (min_gap 4): mean log-probabilities as scores, without the reference",
     changed(TOLD, penalty={**SIGNED, "preference_min_gap": 4}),
     {"penalty": {"preference_score": "reference_free"}}, ranked)
case("margin_else_sign-far-800", "TRPA without any pair: scores of +800 and -800 for rewards of 1 and of 0", TOLD, {"penalty": SIGNED},
     levels((1, 1), (0, 0), gaps=(-800, 800, -800, 800)))


def lost(o):
    return {**full(o, (2, 1), (2, 1, 1), 962, reward=(1, 1, 0)), "logp": [[NEG, -1], [-0.5], [NEG]],
            "logp_ref": [[-1, -0.75], [-1], [-0.5]]}


case("margin_else_sign-neginf", "TRPA without any pair: probability 0 is an infinite loss where the reward is above 0, none where it is 0",
     TOLD, {"penalty": SIGNED}, lost)
