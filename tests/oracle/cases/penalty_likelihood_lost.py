"""The penalty: likelihoods towards a teacher, lost against the old policy, gated."""
from cases.table import cases_of
from cases.surrogate_group import NEG, kind
from objectives import changed, plain
from scenarios import full, placed

case = cases_of("choices-scores", 4)


# ---- likelihood

def recalled(o):
    """Tokens that have lost and gained likelihood, in responses and segments that have altogether; a response without advantage,
    and one against which there is one."""
    d = ((-0.5, 0.25, 0.5, -0.125), (0.75, -0.25, -0.375), (-0.25, -0.25), (-1, 0.5), (-0.5, 0.5))
    batch = full(o, (3, 2), [len(x) for x in d], 1041, d=lambda dice, i, t: d[i][t], mask={(0, 2)}, more=("logp_old",))
    batch["advantage"] = [[1] * 4, [0] * 3, [-1] * 2, [0.5, -0.5], [1] * 2]
    batch["step_end"] = [[False, True, False, False], [True, False, True], [False, True], [True, True], [False, True]]
    return batch


PLAIN = changed(plain(), aggregation={"kind": "token_mean"})
LIKELY = changed(PLAIN, penalty={"likelihood_on": "all", "likelihood_coef": 0.5})
case("not_negative", "tokens without a bad advantage", PLAIN,
     {"penalty": {"likelihood_on": "not_negative", "likelihood_coef": 0.5}}, recalled)
case("teacher_gap", "towards a teacher", LIKELY, {"penalty": {"likelihood_form": "teacher_gap"}}, recalled)
GAP = changed(LIKELY, penalty={"likelihood_form": "teacher_gap"})
GATED = {"likelihood_weight": "teacher_gate", "likelihood_gain": 5}
case("teacher_gate", "weighed by how much more the teacher says", GAP, {"penalty": GATED}, recalled)
case("likelihood_gain", "the other way round", changed(GAP, penalty=GATED), {"penalty": {"likelihood_gain": -1.5}}, recalled)
case("lost", "what is lost against the old policy", LIKELY, {"penalty": {"likelihood_form": "lost"}}, recalled)
LOST = changed(LIKELY, penalty={"likelihood_form": "lost"})
for gate in ("sequence", "segment"):
    case(f"lost-{gate}", "where it is lost altogether; exactly nothing is not", LOST, {"penalty": {"likelihood_gate": gate}}, recalled)
case("lost-segment-not_negative", "the gate sees the tokens that count", changed(LOST, penalty={"likelihood_gate": "segment"}),
     {"penalty": {"likelihood_on": "not_negative"}}, recalled)


def absent(**rows):
    logps = {"logp": (-1,), "logp_old": (-0.75,), "logp_teacher": (-0.5,)}
    return lambda o: placed(o, 1042, (2,), ((1,), (0.75,)), **{key: (rows.get(key, x), (-1.25,)) for key, x in logps.items()})


RATIOS = changed(PLAIN, surrogate=kind("ratio"))
SOFT = changed(RATIOS, penalty={"likelihood_on": "all", "likelihood_coef": 0.5})
for label, rows in (("policy", {"logp": (NEG,)}), ("teacher", {"logp_teacher": (NEG,)}),
                    ("both", {"logp": (NEG,), "logp_teacher": (NEG,)})):
    case(f"teacher_gate-neginf-{label}", "an infinite gap, or none", SOFT, {"penalty": {"likelihood_form": "teacher_gap", **GATED}},
         absent(**rows))
for label, rows in (("policy", {"logp": (NEG,)}), ("old", {"logp_old": (NEG,)})):
    case(f"lost-neginf-{label}", "lost altogether, or gained", SOFT,
         {"penalty": {"likelihood_form": "lost", "likelihood_gate": "sequence"}}, absent(**rows))
