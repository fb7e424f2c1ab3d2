"""The penalty: preference pairs of a group."""
from cases.table import cases_of
from cases.surrogate_group import NEG, OF, kind
from objectives import changed, plain
from scenarios import full, placed

case = cases_of("choices-own", 1)

SCORE = changed(plain(), advantage={"baseline": "group_mean"}, aggregation={"kind": "token_mean"})


# ---- pairs

def ranked(o):
    """Reward differences of exactly 3/2, more and slightly less; a response without tokens; two of equal reward."""
    return full(o, (3, 4), (2, 1, 3, 1, 2, 2, 1), 751, mask={(5, 0), (5, 1), (4, 0)}, reward=(2, 0.5, 0, 2, 2, -1, 0.25),
                more=("logp_ref",))


def far_apart(o):
    batch = ranked(o)
    batch["logp"][0], batch["logp"][4][1] = [-800, -801], -0.0625
    batch["logp_ref"][0] = [-0.5, -0.25]
    return batch


PAIRS = {"preference": "pairwise", "preference_coef": 0.5, "preference_min_gap": 1.5, "preference_beta": 0.75}
RANKED = changed(SCORE, penalty=PAIRS)
case("pairwise_logistic", "a logistic loss of the pairs whose rewards are more than the margin apart", SCORE, {"penalty": PAIRS}, ranked)
case("pairs-free", "scores without the reference", RANKED, {"penalty": {"preference_score": "reference_free"}}, ranked)
case("pairs-margin", "any two rewards that differ", RANKED, {"penalty": {"preference_min_gap": 0}}, ranked)
case("pairs-none", "no pair is so far apart: nothing is added", RANKED, {"penalty": {"preference_min_gap": 3}}, ranked)
case("pairs-far-800", "scores 800 apart: e^600 overflows a binary32, e^-600 underflows it", SCORE, {"penalty": PAIRS}, far_apart)
case("pairs-neginf", "an infinite score, that loses a pair and wins one", changed(SCORE, surrogate=kind("ratio")),
     {"penalty": {**PAIRS, "preference_score": "reference_free"}},
     lambda o: {**placed(o, 752, (3,), ((1,), (-0.5, -0.5), (0.25,)), logp=((-1,), (NEG, -0.5), (-2,)),
                         logp_old=((-1,), (-1, -1), (-1.5,))), "reward": [4, 2, 0]})
case("everything", "a function of the group, a drift, a KL, a likelihood and pairs",
     changed(OF["trajectory_balance"], weight={"policy_is": "sequence_mean", "policy_is_low": 0.5, "policy_is_high": 2},
             penalty={"kl": "k3", "kl_reference": "teacher", "kl_coef": 0.25, "entropy_coef": 0.125}),
     {"penalty": {"nll_on": "correct", "nll_coef": 0.25, **PAIRS}}, ranked)
