"""The penalty: references of the KL, its estimators, gradients, weights and bounds; entropy."""
from axes.penalty import ESTIMATED
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
for kl in ESTIMATED:
    for gradient in ("exact", "straight_through_k2"):
        for u in ("none", "token", "level"):
            for clamp, fields in (("", {}), ("-log", {"kl_clamp_log": 1}), ("-value", {"kl_clamp_value": 0.25})):
                if gradient == "exact":
                    base = KL_BASE
                else:
                    if kl == "k2":
                        continue  # its own gradient
                    base = changed(KL_BASE, penalty={"kl": kl, "kl_importance_weight": u, "kl_coef": 0.5, **fields})
                case(f"{kl}-{gradient}-{u}{clamp}",
                     f"KL estimator {kl}, kl_gradient {gradient}, importance weight {u}"
                     f"{''.join(f', {name} {x}' for name, x in fields.items())}; reference above, below and equal",
                     base,
                     {"penalty": {"kl": kl, "kl_gradient": gradient, "kl_importance_weight": u, "kl_coef": 0.5, **fields}}, apart)
K3 = changed(KL_BASE, penalty={"kl": "k3", "kl_coef": 0.5})
case("kl_coef", "k3 KL penalty with coefficient 4 instead of 0.5", K3, {"penalty": {"kl_coef": 4}}, apart)
case("kl_coef-0", "k3 KL penalty with coefficient 0: it adds nothing to loss and gradient", K3, {"penalty": {"kl_coef": 0}}, apart)
case("kl_clamp_log-bound", "k3 KL penalty, log-ratio to the reference clamped to -0.5..0.5: exactly at a bound the gradient passes",
     K3, {"penalty": {"kl_clamp_log": 0.5}}, apart)
case("kl_clamp_value-bound", "k2 KL penalty clamped at 0.125: a value exactly at the bound keeps its gradient",
     changed(K3, penalty={"kl": "k2"}),
     {"penalty": {"kl_clamp_value": 0.125}}, apart)
case("both-clamps", "k3 KL penalty: the log-ratio to the reference is clamped first, the estimate K after it",
     K3, {"penalty": {"kl_clamp_log": 1, "kl_clamp_value": 0.25}}, apart)
for u, base in (("token", K3), ("level", K3), ("score_function", K3)):
    fields = {"kl_clamp_value": 0.125, "kl_importance_weight": u}
    case(f"kl_clamp_on-{u}", f"the product of importance weight ({u}) and KL is clamped, not the KL alone: no gradient where it binds",
         changed(base, penalty=fields), {"penalty": {"kl_clamp_on": "weighted"}}, apart)
for label, fields in (("straight", {"kl_gradient": "straight_through_k2"}), ("detached", {"kl_gradient": "detached"}),
                      ("weight_max", {"kl_importance_weight_max": 0.5}), ("log", {"kl_clamp_log": 0.4375, "kl_clamp_value": 0.0625}),
                      ("k1", {"kl": "k1", "kl_clamp_value": 0.5})):
    case(f"kl_clamp_on-token-{label}",
         f"the product of token ratio and KL is clamped, not the KL alone; with {', '.join(f'{name} = {x}' for name, x in fields.items())}",
         changed(K3, penalty={"kl_clamp_value": 0.125, "kl_importance_weight": "token", **fields}),
         {"penalty": {"kl_clamp_on": "weighted"}}, apart)
case("unclamped-ratio", "the token ratio that weights the KL penalty is not clamped, though the surrogate's ratio is",
     changed(K3, ratio={"clamp_low": -0.125, "clamp_high": 0.125}),
     {"penalty": {"kl_importance_weight": "token"}}, apart)
case("unit-gradient-token", "KL weighted by the response's mean ratio, gradient token: the weight's gradient is the token's own only",
     changed(K3, ratio={"gradient": "token"}),
     {"penalty": {"kl_importance_weight": "level"}}, apart)
case("rollout-ratio", "the importance ratio that weights the KL is over the rollout policy, as the surrogate's (behaviour rollout)",
     changed(K3, ratio={"behaviour": "rollout"}),
     {"penalty": {"kl_importance_weight": "token"}}, apart)
for u in ("token", "level"):
    case(f"score-{u}", f"surrogate -A log p, which has no ratio: only the KL penalty is weighted by one, level {u}",
         changed(SCORE, ratio={"level": "sequence_mean"}),
         {"penalty": {"kl": "k3", "kl_coef": 0.5, "kl_importance_weight": u}}, apart)

for who in ("old", "rollout"):
    for kl in ESTIMATED:
        case(f"{kl}-against-{who}", f"KL penalty {kl} to the {who} policy instead of the reference (kl_reference = {who})",
             changed(KL_BASE, penalty={"kl": kl, "kl_coef": 0.5}), {"penalty": {"kl_reference": who}}, apart)
    for label, fields in (("straight", {"kl_gradient": "straight_through_k2"}), ("token", {"kl_importance_weight": "token"}),
                          ("reinforce", {"kl_importance_weight": "score_function"}),
                          ("clamps", {"kl_clamp_log": 0.5, "kl_clamp_value": 0.0625})):
        case(f"k3-against-{who}-{label}", f"k3 KL penalty to the {who} policy, {', '.join(f'{name} = {x}' for name, x in fields.items())}",
             changed(K3, penalty=fields),
             {"penalty": {"kl_reference": who}}, apart)
case("abs-against-old-same", "KL penalty |log-ratio| to the old policy, 0 at some tokens: the derivative of the absolute value is 0 there",
     changed(KL_BASE, penalty={"kl": "abs", "kl_coef": 0.5}), {"penalty": {"kl_reference": "old"}},
     lambda o: full(o, (2,), (2, 3), 142, d=lambda dice, i, t: (0, 0.25, -0.5)[t], reward=(1, 0)))
for kl in ("k1", "k2", "k3"):
    case(f"{kl}-against-old-neginf", f"KL penalty {kl} to the old policy, which gives a token probability 0",
         changed(SCORE, penalty={"kl": kl, "kl_coef": 0.5}), {"penalty": {"kl_reference": "old"}},
         lambda o: placed(o, 143, (2,), ((1, -0.5), (0.75,)), logp=((-1, -0.5), (-1.25,)),
                          logp_old=((NEG, -1), (-1.5,))))

for kl in ESTIMATED:
    case(f"{kl}-own-score", f"KL estimator {kl} with weight e^(l - sg[l]): value 1, gradient of the score function times K added",
         changed(KL_BASE, penalty={"kl": kl, "kl_coef": 0.5}), {"penalty": {"kl_importance_weight": "score_function"}}, apart)
for label, fields in (("k2", {"kl_gradient": "straight_through_k2"}), ("log", {"kl_clamp_log": 1}), ("value", {"kl_clamp_value": 0.25})):
    case(f"k3-score-{label}",
         f"k3 KL penalty with the score function's weight of 1, {', '.join(f'{name} = {x}' for name, x in fields.items())}",
         changed(K3, penalty=fields), {"penalty": {"kl_importance_weight": "score_function"}}, apart)
case("score-score", "k3 KL penalty with the score function's weight of 1, beside surrogate -A log p",
     changed(SCORE, penalty={"kl": "k3", "kl_coef": 0.5}), {"penalty": {"kl_importance_weight": "score_function"}}, apart)
for u in ("token", "level"):
    case(f"kl_importance_weight_max-{u}", f"KL weighted by the {u} ratio, capped at 1.25: above the cap the weight has no gradient",
         changed(K3, penalty={"kl_importance_weight": u}), {"penalty": {"kl_importance_weight_max": 1.25}}, every_level)
case("kl_importance_weight_max-none", "unweighted k3 KL penalty with kl_importance_weight_max = 0.5: the weight 1 is capped at 0.5 too", K3,
     {"penalty": {"kl_importance_weight_max": 0.5}}, apart)
case("kl_importance_weight_max-score", "score function weight of 1 on the KL, capped at 0.5: its gradient is gone",
     changed(K3, penalty={"kl_importance_weight": "score_function"}),
     {"penalty": {"kl_importance_weight_max": 0.5}}, apart)
case("kl_importance_weight_max-score-bound", "score function weight of 1 on the KL, capped at 1: exactly at the cap its gradient passes",
     K3,
     {"penalty": {"kl_importance_weight": "score_function", "kl_importance_weight_max": 1}}, apart)


def far_up(o):
    return full(o, (3,), (1, 2, 1), 144, d=lambda dice, i, t: ((800,), (-800, 0.25), (-0.5,))[i][t], reward=(1, 0, 0.5),
                f_gap=lambda dice, i, t: -dice.fraction(1 / 64, 0.5, 64))


case("kl_importance_weight_max-far-800", "KL weighted by a token ratio of e^800, which the cap of 2 makes finite",
     changed(SCORE, penalty={"kl": "k3", "kl_coef": 0.5, "kl_importance_weight": "token"}),
     {"penalty": {"kl_importance_weight_max": 2}}, far_up)


def some_selected(o):
    batch = full(o, (2, 1), (3, 2, 2), 145, mask={(0, 1), (2, 1)}, reward=(1, 0, 0.5))
    batch["selected"] = [[True, True, False], [False, False], [True, False]]
    return batch


for label, fields in (("k3", {}), ("abs-old", {"kl": "abs", "kl_reference": "old"}), ("unit", {"kl_importance_weight": "level"}),
                      ("entropy", {"entropy_coef": 0.25})):
    case(f"kl_on-{label}",
         f"KL at tokens with kl_mask only, over all tokens; {', '.join(f'{name} = {x}' for name, x in fields.items()) or 'kl = k3'}",
         changed(K3, penalty=fields),
         {"penalty": {"kl_on": "selected"}}, some_selected)


def entropies(o):
    batch = full(o, (2, 2), (3, 2, 1, 4), 146, mask={(0, 1), (3, 0), (3, 3)}, reward=(1, 0, 0.5, 1),
                 b_gap=lambda dice, i, t: dice.signed(0, 1, 8))
    batch["entropy"] = [[0.5, 1.75, 0], [2, 0.125], [1.25], [3, 0.75, 0.25, 1]]
    batch["truncated"] = [False, False, False, True]
    return batch


ENTROPY = changed(KL_BASE, penalty={"entropy_coef": 0.25})
BESIDE = {"reinforce": "surrogate -A log p", "clip": "PPO's clip", "k3": "a k3 KL", "token": "a KL weighted by ratios",
          "constant-value": "a clamped k3 KL"}
for label, base in (("reinforce", SCORE), ("clip", PPO), ("k3", K3), ("token", changed(K3, penalty={"kl_importance_weight": "token"})),
                    ("constant-value", changed(K3, penalty={"kl_clamp_value": 0.0078125}))):
    for sign, coef in (("bonus", 0.25), ("malus", -0.125)):
        case(f"entropy-{label}-{sign}",
             f"entropy bonus with coefficient {coef} beside {BESIDE[label]}: it has no gradient with respect to log p", base,
             {"penalty": {"entropy_coef": coef}}, entropies)
case("entropy_coef", "entropy bonus with coefficient 2 instead of 0.25", ENTROPY, {"penalty": {"entropy_coef": 2}}, entropies)
case("entropy-truncated", "tokens of truncated responses, which are masked, get no entropy bonus", ENTROPY,
     {"weight": {"truncated": "mask"}}, entropies)
for rejected in ("zero_weight", "unmask"):
    case(f"entropy-{rejected}",
         f"entropy bonus of tokens that rollout_is rejects, with rollout_rejected = {rejected}: zero_weight keeps it, unmask not",
         ENTROPY,
         {"weight": {"rollout_is": "reject", "rollout_is_low": 0.75, "rollout_is_high": 1.5, "rollout_rejected": rejected}},
         entropies)
case("entropy-none-active", "entropy bonus in a batch where no token counts: loss 0, no derivative, no 0/0", SCORE,
     {"penalty": {"entropy_coef": 0.25}},
     lambda o: full(o, (2,), (1, 2), 147, mask={(0, 0), (1, 0), (1, 1)}, reward=(1, 0)))

for kind in ("token_sum", "token_mean", "seq_mean_token_mean", "seq_mean_token_sum", "seq_mean_constant", "constant",
             "group_mean_token_mean", "seq_mean_length_power", "seq_sum_token_mean"):
    case(f"entropy-{kind}", f"the entropy bonus is divided as the policy loss is, aggregation {kind}",
         changed(AGGREGATED, aggregation={"kind": kind, "constant": 6 if "constant" in kind else 0,
                                          "power": 0.5 if "power" in kind else 0}),
         {"penalty": {"entropy_coef": 0.25}}, empties)
