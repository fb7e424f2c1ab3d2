"""The weight: policy_is."""
from cases.bases import SCORE
from cases.table import cases_of
from objectives import INF, MINUS_INF, changed
from scenarios import full, placed

case = cases_of("choices-group", 1)

NEG = MINUS_INF


# ---- policy_is

def moved(o):
    """Log-ratios below, in and above a band of 3/4 to 5/4, and 0; of sums and means too."""
    d = ((-1, 0.125, 0), (0.5, -0.5), (0.75,), (-0.0625, -0.125))
    return full(o, (2, 2), [len(x) for x in d], 711, d=lambda dice, i, t: d[i][t], mask={(3, 1)}, reward=(1, 0, 0.5, -0.5))


BAND = {"policy_is_low": 0.75, "policy_is_high": 1.25}
for drift in ("token", "sequence_sum", "sequence_mean"):
    case(f"drift-{drift}", f"policy_is {drift}: surrogate times the detached ratio of policy over old policy, clipped to 0.75..1.25", SCORE,
         {"weight": {"policy_is": drift, **BAND}}, moved)
case("drift-high-inf", "policy_is sequence_sum without bounds: surrogate times the response's whole ratio of policy over old policy",
     changed(SCORE, weight={"policy_is": "sequence_sum", **BAND}),
     {"weight": {"policy_is_low": 0, "policy_is_high": INF}}, moved)
case("drift-correction", "policy_is multiplies the rollout weight; the reported mean weight is that of rollout_is alone",
     changed(SCORE, weight={"rollout_is": "truncate", "rollout_is_high": 1.0625}, penalty={"kl": "k3", "kl_coef": 0.25}),
     {"weight": {"policy_is": "token", **BAND}}, moved)
case("drift-neginf", "policy_is with probability 0 under the old policy (weight at its upper bound) and the policy (at its lower)",
     SCORE, {"weight": {"policy_is": "token", **BAND}},
     lambda o: placed(o, 712, (2,), ((1, -0.5), (0.75,)), logp=((-1, -0.5), (NEG,)), logp_old=((NEG, -1), (-1.5,))))
