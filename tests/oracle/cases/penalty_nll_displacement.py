"""The penalty: likelihoods relative to a teacher, likelihood lost against the old policy, gates."""
from cases.table import cases_of
from cases.surrogate_group import NEG, kind
from objectives import changed, plain
from scenarios import full, placed

case = cases_of("choices-scores", 4)


# ---- likelihood

def recalled(o):
    """Tokens that have lost or gained likelihood, in responses and segments that have lost or gained it in total; a response with A = 0,
    and one with A < 0."""
    d = ((-0.5, 0.25, 0.5, -0.125), (0.75, -0.25, -0.375), (-0.25, -0.25), (-1, 0.5), (-0.5, 0.5))
    batch = full(o, (3, 2), [len(x) for x in d], 1041, d=lambda dice, i, t: d[i][t], mask={(0, 2)}, more=("logp_old",))
    batch["advantage"] = [[1] * 4, [0] * 3, [-1] * 2, [0.5, -0.5], [1] * 2]
    batch["step_end"] = [[False, True, False, False], [True, False, True], [False, True], [True, True], [False, True]]
    return batch


PLAIN = changed(plain(), aggregation={"kind": "token_mean"})
LIKELY = changed(PLAIN, penalty={"nll_on": "all", "nll_coef": 0.5})
case("not_negative", "NLL term on tokens with A >= 0, over their number: A = 0 is included", PLAIN,
     {"penalty": {"nll_on": "not_negative", "nll_coef": 0.5}}, recalled)
case("teacher_gap", "NLL term of log p minus the teacher's log-probability, in place of log p",
     LIKELY, {"penalty": {"nll_form": "teacher_gap"}}, recalled)
GAP = changed(LIKELY, penalty={"nll_form": "teacher_gap"})
GATED = {"nll_weight": "teacher_gate", "nll_teacher_slope": 5}
case("teacher_gate", "NLL term of the gap to the teacher, weighted by sigmoid(5 (teacher - log p)), detached",
     GAP, {"penalty": GATED}, recalled)
case("nll_teacher_slope", "NLL term weighted by sigmoid(-1.5 (teacher - log p)): more where the policy exceeds the teacher",
     changed(GAP, penalty=GATED), {"penalty": {"nll_teacher_slope": -1.5}}, recalled)
case("displacement", "LLDS: penalty max(old log p - log p, 0) on tokens whose probability fell; no gradient where it is equal",
     LIKELY, {"penalty": {"nll_form": "displacement"}}, recalled)
LOST = changed(LIKELY, penalty={"nll_form": "displacement"})
for gate in ("sequence", "segment"):
    case(f"lost-{gate}",
         f"LLDS with gate {gate}: only where the summed log-probability of the {gate} fell; a sum of exactly 0 does not count",
         LOST, {"penalty": {"nll_gate": gate}}, recalled)
case("lost-segment-not_negative", "LLDS on tokens with A >= 0, gate segment: the gate sums over these tokens only",
     changed(LOST, penalty={"nll_gate": "segment"}),
     {"penalty": {"nll_on": "not_negative"}}, recalled)


def absent(**rows):
    logps = {"logp": (-1,), "logp_old": (-0.75,), "logp_teacher": (-0.5,)}
    return lambda o: placed(o, 1042, (2,), ((1,), (0.75,)), **{key: (rows.get(key, x), (-1.25,)) for key, x in logps.items()})


RATIOS = changed(PLAIN, surrogate=kind("ratio"))
SOFT = changed(RATIOS, penalty={"nll_on": "all", "nll_coef": 0.5})
for label, rows in (("policy", {"logp": (NEG,)}), ("teacher", {"logp_teacher": (NEG,)}),
                    ("both", {"logp": (NEG,), "logp_teacher": (NEG,)})):
    case(f"teacher_gate-neginf-{label}",
         f"NLL term gated by the teacher; probability 0 under {'policy and teacher' if label == 'both' else 'the ' + label}",
         SOFT, {"penalty": {"nll_form": "teacher_gap", **GATED}},
         absent(**rows))
for label, rows in (("policy", {"logp": (NEG,)}), ("old", {"logp_old": (NEG,)})):
    case(f"lost-neginf-{label}",
         f"LLDS: a token has probability 0 under the {label} policy: an infinite {'loss' if label == 'policy' else 'gain, not penalised'}",
         SOFT,
         {"penalty": {"nll_form": "displacement", "nll_gate": "sequence"}}, absent(**rows))
