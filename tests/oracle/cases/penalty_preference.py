"""The penalty: preference pairs of a group."""
from cases.bases import SCORE
from cases.table import cases_of
from cases.surrogate_group import NEG, OF, kind
from objectives import changed
from scenarios import full, placed

case = cases_of("choices-own", 1)


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
case("pairwise_logistic", "logistic loss on pairs of a group whose rewards differ by more than 1.5, scores relative to the reference",
     SCORE, {"penalty": PAIRS}, ranked)
case("pairs-free", "preference pairs with mean log-probabilities as scores, without the reference",
     RANKED, {"penalty": {"preference_score": "reference_free"}}, ranked)
case("pairs-margin", "preference pairs of any two responses of a group with different rewards (preference_min_gap = 0)",
     RANKED, {"penalty": {"preference_min_gap": 0}}, ranked)
case("pairs-none", "no two rewards of a group differ by more than 3: the preference term is 0, not 0/0",
     RANKED, {"penalty": {"preference_min_gap": 3}}, ranked)
case("pairs-far-800", "preference pairs with scores 800 apart: e^600 overflows binary32, e^-600 underflows",
     SCORE, {"penalty": PAIRS}, far_apart)
case("pairs-neginf", "preference pairs: a response of probability 0 is the worse one of a pair and the better one of another",
     changed(SCORE, surrogate=kind("ratio")),
     {"penalty": {**PAIRS, "preference_score": "reference_free"}},
     lambda o: {**placed(o, 752, (3,), ((1,), (-0.5, -0.5), (0.25,)), logp=((-1,), (NEG, -0.5), (-2,)),
                         logp_old=((-1,), (-1, -1), (-1.5,))), "reward": [4, 2, 0]})
case("everything", "trajectory_balance, policy_is, a KL to the teacher, an entropy bonus, an NLL term and preference pairs together",
     changed(OF["trajectory_balance"], weight={"policy_is": "sequence_mean", "policy_is_low": 0.5, "policy_is_high": 2},
             penalty={"kl": "k3", "kl_reference": "teacher", "kl_coef": 0.25, "entropy_coef": 0.125}),
     {"penalty": {"nll_on": "correct", "nll_coef": 0.25, **PAIRS}}, ranked)
