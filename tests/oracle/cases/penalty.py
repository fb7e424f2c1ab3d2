"""The penalty: references of the KL, its estimators, gradients, weights and bounds; entropy."""
from cases.table import cases_of
from cases.aggregation import AGGREGATED, empties
from cases.bases import NEG, PPO, SCORE
from cases.surrogate import every_level
from objectives import changed
from scenarios import full, placed

case = cases_of("choices-penalty")


# ---- penalty

def apart(o):
    gaps = ((0.5, -0.25), (-1.5, 0, 0.125), (2, -2))
    return full(o, (2, 1), (2, 3, 2), 141, f_gap=lambda dice, i, t: gaps[i][t], reward=(1, 0, 0.5))


KL_BASE = changed(PPO, ratio={"level": "sequence_mean"})
for kl in ("k1", "k2", "k3", "abs"):
    for gradient in ("exact", "straight_through_k2"):
        for u in ("none", "token", "level"):
            for clamp, fields in (("", {}), ("-log", {"kl_clamp_log": 1}), ("-value", {"kl_clamp_value": 0.25})):
                if gradient == "exact":
                    base = KL_BASE
                else:
                    if kl == "k2":
                        continue  # its own gradient
                    base = changed(KL_BASE, penalty={"kl": kl, "kl_importance_weight": u, "kl_coef": 0.5, **fields})
                case(f"{kl}-{gradient}-{u}{clamp}", "the reference on both sides and equal", base,
                     {"penalty": {"kl": kl, "kl_gradient": gradient, "kl_importance_weight": u, "kl_coef": 0.5, **fields}}, apart)
K3 = changed(KL_BASE, penalty={"kl": "k3", "kl_coef": 0.5})
case("kl_coef", "a larger coefficient", K3, {"penalty": {"kl_coef": 4}}, apart)
case("kl_coef-0", "coefficient 0", K3, {"penalty": {"kl_coef": 0}}, apart)
case("kl_clamp_log-bound", "D at exactly the bound", K3, {"penalty": {"kl_clamp_log": 0.5}}, apart)
case("kl_clamp_value-bound", "K at exactly the bound", changed(K3, penalty={"kl": "k2"}),
     {"penalty": {"kl_clamp_value": 0.125}}, apart)
case("both-clamps", "D is bounded, then K", K3, {"penalty": {"kl_clamp_log": 1, "kl_clamp_value": 0.25}}, apart)
for u, base in (("token", K3), ("level", K3), ("score_function", K3)):
    fields = {"kl_clamp_value": 0.125, "kl_importance_weight": u}
    case(f"kl_clamp_on-{u}", "the product of weight and K is bounded, and neither is differentiated where that binds",
         changed(base, penalty=fields), {"penalty": {"kl_clamp_on": "weighted"}}, apart)
for label, fields in (("straight", {"kl_gradient": "straight_through_k2"}), ("detached", {"kl_gradient": "detached"}),
                      ("weight_max", {"kl_importance_weight_max": 0.5}), ("log", {"kl_clamp_log": 0.4375, "kl_clamp_value": 0.0625}),
                      ("k1", {"kl": "k1", "kl_clamp_value": 0.5})):
    case(f"kl_clamp_on-token-{label}", "the product is bounded, from both sides",
         changed(K3, penalty={"kl_clamp_value": 0.125, "kl_importance_weight": "token", **fields}),
         {"penalty": {"kl_clamp_on": "weighted"}}, apart)
case("unclamped-ratio", "the token ratio of the penalty has no bound where the surrogate's has",
     changed(K3, ratio={"clamp_low": -0.125, "clamp_high": 0.125}),
     {"penalty": {"kl_importance_weight": "token"}}, apart)
case("unit-gradient-token", "the unit's ratio with the gradient at the token",
     changed(K3, ratio={"gradient": "token"}),
     {"penalty": {"kl_importance_weight": "level"}}, apart)
case("rollout-ratio", "the ratio of the penalty is against the sampling engine",
     changed(K3, ratio={"behaviour": "rollout"}),
     {"penalty": {"kl_importance_weight": "token"}}, apart)
for u in ("token", "level"):
    case(f"score-{u}", "only the penalty uses a ratio", changed(SCORE, ratio={"level": "sequence_mean"}),
         {"penalty": {"kl": "k3", "kl_coef": 0.5, "kl_importance_weight": u}}, apart)

for who in ("old", "rollout"):
    for kl in ("k1", "k2", "k3", "abs"):
        case(f"{kl}-against-{who}", "the KL to the policy that sampled",
             changed(KL_BASE, penalty={"kl": kl, "kl_coef": 0.5}), {"penalty": {"kl_reference": who}}, apart)
    for label, fields in (("straight", {"kl_gradient": "straight_through_k2"}), ("token", {"kl_importance_weight": "token"}),
                          ("reinforce", {"kl_importance_weight": "score_function"}),
                          ("clamps", {"kl_clamp_log": 0.5, "kl_clamp_value": 0.0625})):
        case(f"k3-against-{who}-{label}", "the KL to the policy that sampled", changed(K3, penalty=fields),
             {"penalty": {"kl_reference": who}}, apart)
case("abs-against-old-same", "no gap at some tokens: the derivative of abs is 0 there",
     changed(KL_BASE, penalty={"kl": "abs", "kl_coef": 0.5}), {"penalty": {"kl_reference": "old"}},
     lambda o: full(o, (2,), (2, 3), 142, d=lambda dice, i, t: (0, 0.25, -0.5)[t], reward=(1, 0)))
for kl in ("k1", "k2", "k3"):
    case(f"{kl}-against-old-neginf", "the old policy gives the token probability 0",
         changed(SCORE, penalty={"kl": kl, "kl_coef": 0.5}), {"penalty": {"kl_reference": "old"}},
         lambda o: placed(o, 143, (2,), ((1, -0.5), (0.75,)), logp=((-1, -0.5), (-1.25,)),
                          logp_old=((NEG, -1), (-1.5,))))

for kl in ("k1", "k2", "k3", "abs"):
    case(f"{kl}-own-score", "weight 1 with the score function's gradient",
         changed(KL_BASE, penalty={"kl": kl, "kl_coef": 0.5}), {"penalty": {"kl_importance_weight": "score_function"}}, apart)
for label, fields in (("k2", {"kl_gradient": "straight_through_k2"}), ("log", {"kl_clamp_log": 1}), ("value", {"kl_clamp_value": 0.25})):
    case(f"k3-score-{label}", "weight 1 with the score function's gradient, K or its gradient changed",
         changed(K3, penalty=fields), {"penalty": {"kl_importance_weight": "score_function"}}, apart)
case("score-score", "a weight of 1 beside the score function",
     changed(SCORE, penalty={"kl": "k3", "kl_coef": 0.5}), {"penalty": {"kl_importance_weight": "score_function"}}, apart)
for u in ("token", "level"):
    case(f"kl_importance_weight_max-{u}", "weights below and above their bound; above it the weight has no gradient",
         changed(K3, penalty={"kl_importance_weight": u}), {"penalty": {"kl_importance_weight_max": 1.25}}, every_level)
case("kl_importance_weight_max-none", "the weight of a KL without a ratio is 1, and bounded too", K3,
     {"penalty": {"kl_importance_weight_max": 0.5}}, apart)
case("kl_importance_weight_max-score", "a weight of 1 above its bound", changed(K3, penalty={"kl_importance_weight": "score_function"}),
     {"penalty": {"kl_importance_weight_max": 0.5}}, apart)
case("kl_importance_weight_max-score-bound", "a weight of 1 at its bound: the derivative passes", K3,
     {"penalty": {"kl_importance_weight": "score_function", "kl_importance_weight_max": 1}}, apart)


def far_up(o):
    return full(o, (3,), (1, 2, 1), 144, d=lambda dice, i, t: ((800,), (-800, 0.25), (-0.5,))[i][t], reward=(1, 0, 0.5),
                f_gap=lambda dice, i, t: -dice.fraction(1 / 64, 0.5, 64))


case("kl_importance_weight_max-far-800", "a weight of e^800, bounded",
     changed(SCORE, penalty={"kl": "k3", "kl_coef": 0.5, "kl_importance_weight": "token"}),
     {"penalty": {"kl_importance_weight_max": 2}}, far_up)


def some_selected(o):
    batch = full(o, (2, 1), (3, 2, 2), 145, mask={(0, 1), (2, 1)}, reward=(1, 0, 0.5))
    batch["selected"] = [[True, True, False], [False, False], [True, False]]
    return batch


for label, fields in (("k3", {}), ("abs-old", {"kl": "abs", "kl_reference": "old"}), ("unit", {"kl_importance_weight": "level"}),
                      ("entropy", {"entropy_coef": 0.25})):
    case(f"kl_on-{label}", "only selected tokens pay the KL", changed(K3, penalty=fields),
         {"penalty": {"kl_on": "selected"}}, some_selected)


def entropies(o):
    batch = full(o, (2, 2), (3, 2, 1, 4), 146, mask={(0, 1), (3, 0), (3, 3)}, reward=(1, 0, 0.5, 1),
                 b_gap=lambda dice, i, t: dice.signed(0, 1, 8))
    batch["entropy"] = [[0.5, 1.75, 0], [2, 0.125], [1.25], [3, 0.75, 0.25, 1]]
    batch["truncated"] = [False, False, False, True]
    return batch


ENTROPY = changed(KL_BASE, penalty={"entropy_coef": 0.25})
for label, base in (("reinforce", SCORE), ("clip", PPO), ("k3", K3), ("token", changed(K3, penalty={"kl_importance_weight": "token"})),
                    ("constant-value", changed(K3, penalty={"kl_clamp_value": 0.0078125}))):
    for sign, coef in (("bonus", 0.25), ("malus", -0.125)):
        case(f"entropy-{label}-{sign}", "entropy is paid back, or paid for; no function of l", base,
             {"penalty": {"entropy_coef": coef}}, entropies)
case("entropy_coef", "a larger coefficient", ENTROPY, {"penalty": {"entropy_coef": 2}}, entropies)
case("entropy-truncated", "tokens of truncated responses have no entropy", ENTROPY,
     {"weight": {"truncated": "mask"}}, entropies)
for rejected in ("zero_weight", "unmask"):
    case(f"entropy-{rejected}", "rejected tokens that stay keep their entropy, those that leave do not",
         ENTROPY,
         {"weight": {"rollout_is": "reject", "rollout_is_low": 0.75, "rollout_is_high": 1.5, "rollout_rejected": rejected}},
         entropies)
case("entropy-none-active", "no token counts: loss 0, and no derivative", SCORE,
     {"penalty": {"entropy_coef": 0.25}},
     lambda o: full(o, (2,), (1, 2), 147, mask={(0, 0), (1, 0), (1, 1)}, reward=(1, 0)))

for kind in ("token_sum", "token_mean", "seq_mean_token_mean", "seq_mean_token_sum", "seq_mean_constant", "constant",
             "group_mean_token_mean", "seq_mean_length_power", "seq_sum_token_mean"):
    case(f"entropy-{kind}", "the entropy is divided as the loss is",
         changed(AGGREGATED, aggregation={"kind": kind, "constant": 6 if "constant" in kind else 0,
                                          "power": 0.5 if "power" in kind else 0}),
         {"penalty": {"entropy_coef": 0.25}}, empties)
