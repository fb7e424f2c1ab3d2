"""The penalty: the KL to a teacher; minus the likelihood of some tokens, over their own number."""
from cases.bases import SCORE
from cases.table import cases_of
from cases.surrogate_group import NEG, kind
from objectives import changed
from scenarios import full, placed

case = cases_of("choices-own")


# ---- the teacher in the penalty

def taught(o):
    batch = full(o, (2, 1), (2, 3, 1), 731, reward=(1, 0, 0.5), mask={(1, 1)})
    batch["logp_teacher"] = [[-1.5, -0.25], [-2.25, -1, -0.5], [batch["logp"][2][0]]]
    return batch


TAUGHT = changed(SCORE, penalty={"kl": "k1", "kl_coef": 0.5})
TO_TEACHER = changed(TAUGHT, penalty={"kl_reference": "teacher"})
case("teacher", "k3 KL penalty to the teacher instead of the reference (kl_reference = teacher)",
     changed(TAUGHT, penalty={"kl": "k3"}), {"penalty": {"kl_reference": "teacher"}}, taught)
case("teacher-neginf", "k1 KL penalty to the teacher, which gives a token probability 0: an infinite penalty",
     TAUGHT, {"penalty": {"kl_reference": "teacher"}},
     lambda o: placed(o, 732, (2,), ((1, -0.5), (0.75,)), logp=((-1, -0.5), (-1.25,)), logp_teacher=((NEG, -1), (-1.5,))))
for u in ("none", "token"):
    case(f"detached-{u}", f"KL as a constant (kl_gradient detached), weight {u}: only the weight's gradient is left",
         changed(TO_TEACHER, penalty={"kl_importance_weight": u}), {"penalty": {"kl_gradient": "detached"}}, taught)


# ---- likelihood

def rated(o):
    """Right and wrong responses, a right one without tokens, given advantages of other signs; probabilities 1 and e^-30."""
    batch = placed(o, 741, (2, 2), ((1, -0.5, 0.25), (-1, 0), (0.5,), (-0.25, 2)),
                   logp=((-0.5, -2, 0), (-30, -1), (-0.75,), (-1.25, -0.0009765625)))
    batch["mask"] = [[True, True, True], [True, True], [False], [True, True]]
    batch["reward"] = [1, 0, 2, -0.5]
    batch["selected"] = [[False, True, True], [True, False], [True], [False, False]]
    return batch


def wrong(o):
    return {**rated(o), "reward": [0, -1, 0, -0.5]}


for who in ("correct", "positive", "selected", "all"):
    case(f"likelihood-{who}", f"NLL term on {who} tokens: coefficient times minus their log-probabilities, over the number of these tokens",
         SCORE,
         {"penalty": {"nll_on": who, "nll_coef": 0.5}}, rated)
LIKELY = changed(SCORE, penalty={"nll_on": "all", "nll_coef": 0.5})
for w in ("p", "p_one_minus_p"):
    case(f"likelihood-{w}", f"NLL term weighted by {w} of the token's probability p, detached",
         LIKELY, {"penalty": {"nll_weight": w}}, rated)
case("likelihood-none-correct", "NLL term on responses with a reward above 0, of which there are none: it adds 0, not 0/0", LIKELY,
     {"penalty": {"nll_on": "correct"}}, wrong)
case("likelihood-unmask", "NLL term: tokens that rollout_is rejects with rollout_rejected = unmask leave its divisor too",
     changed(LIKELY, weight={"rollout_is": "reject", "rollout_is_low": 0.75, "rollout_is_high": 1.25}),
     {"weight": {"rollout_rejected": "unmask"}}, lambda o: {**rated(o), **{key: signless(o, key) for key in ("logp_old", "logp_rollout")}})
for w in ("none", "p"):
    case(f"likelihood-neginf-{w}",
         f"NLL term with weight {w} on a token of probability 0: {'infinite' if w == 'none' else '0, as its weight is 0'}",
         changed(SCORE, surrogate=kind("ratio")),
         {"penalty": {"nll_on": "all", "nll_coef": 0.5, "nll_weight": w}},
         lambda o: placed(o, 742, (2,), ((1,), (0.75,)), logp=((NEG,), (-1.25,)), logp_old=((-1,), (-1.5,))))


def signless(o, key):
    """Rollout and old apart by 1 at two tokens."""
    rows = {"logp_old": ((-0.5, -1, -1), (-1, -1), (-1,), (-1, -1)), "logp_rollout": ((-1.5, -1, -1), (-1, -2), (-1,), (-1, -1))}
    return [list(row) for row in rows[key]]
