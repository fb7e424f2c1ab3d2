"""The penalty: a KL and an entropy with divisors of their own."""
from cases.aggregation import empties
from cases.bases import NEG, PPO, SCORE
from cases.table import cases_of, settings
from objectives import changed, objective
from scenarios import full, placed

case = cases_of("choices-penalty-aggregation")

OWN = ("token_mean", "seq_mean_token_mean")
FREE = changed(PPO, advantage={"baseline": "none"}, penalty={"kl": "k3", "kl_coef": 0.5})


def over(kind, base=FREE):
    return changed(base, aggregation={"kind": kind, "constant": 6 if "constant" in kind else 0, "power": 0.5 if "power" in kind else 0})


# ---- KL

for own in OWN:
    for kind in ("token_sum", "token_mean", "seq_mean_token_mean", "seq_mean_token_sum", "seq_mean_constant", "group_mean_token_mean",
                 "seq_mean_length_power", "token_mean_by_sign"):
        if own != kind:
            case(f"kl-{own}-{kind}",
                 f"the KL is averaged by {own}, the rest of the loss by {kind}; one response and one group without counting tokens",
                 over(kind), {"penalty": {"kl_aggregation": own}}, empties)
case("kl-drop", "responses without counting tokens are dropped: they do not count in the KL's mean over responses either",
     over("token_mean", changed(FREE, penalty={"kl_aggregation": "seq_mean_token_mean"})), {"aggregation": {"empty_sequences": "drop"}},
     empties)


def unlike(o):
    """Responses of one to four tokens, some far from the sampler and the reference, one truncated, some weighted."""
    gaps = ((0.5, -0.25, 0), (-1.5, 0.125), (2,), (-0.5, 1, 0.25, -2))
    sampler = ((0.125, 1, -0.125), (0, -1), (0.25,), (0.125, 0, -2, 0))
    batch = full(o, (2, 2), (3, 2, 1, 4), 981, mask={(3, 1)}, reward=(1, 0, 0.5, -0.5), f_gap=lambda dice, i, t: gaps[i][t],
                 b_gap=lambda dice, i, t: sampler[i][t])
    batch["truncated"] = [True, False, False, False]
    return batch


def turns(o):
    batch = unlike(o)
    batch["segment_end"] = [[True, False, True], [False, True], [True], [True, False, False, True]]
    return batch


for own in OWN:
    case(f"kl-{own}-segments", f"the KL is averaged by {own}, the rest of the loss over the segments (turns) of each response",
         over("seq_mean_segment_mean"), {"penalty": {"kl_aggregation": own}}, turns)
K3 = changed(PPO, penalty={"kl": "k3", "kl_coef": 0.5})
RESPONSES = {"penalty": {"kl_aggregation": "seq_mean_token_mean"}}
BAND = {"rollout_is": "mask", "rollout_is_low": 0.75, "rollout_is_high": 1.5}
for label, changes in (
        ("unmask", {"weight": {**BAND, "rollout_rejected": "unmask"}}), ("zero_weight", {"weight": BAND}),
        ("truncated", {"weight": {"truncated": "mask"}}), ("external", {"weight": {"external": "term"}}),
        ("external-policy", {"weight": {"external": "policy"}}),
        ("level", {"ratio": {"level": "sequence_mean"}, "penalty": {"kl_importance_weight": "level"}}),
        ("straight", {"penalty": {"kl_gradient": "straight_through_k2"}}), ("nll", {"penalty": {"nll_on": "positive", "nll_coef": 0.25}})):
    case(f"kl-responses-{label}", f"KL averaged over responses, the rest over tokens; {settings(changes)}",
         changed(K3, **changes), RESPONSES, unlike)
case("kl-responses-score", "the KL (k2) is averaged over responses, the policy loss -A log p over tokens; no ratio is involved",
     changed(SCORE, penalty={"kl": "k2", "kl_coef": 0.5}), RESPONSES, unlike)
case("kl-responses-negative", "the KL is averaged over responses, the rest over tokens; kl_coef = -0.25",
     changed(K3, penalty={"kl_coef": -0.25}), RESPONSES, unlike)
case("kl-tokens-group", "the KL is averaged over tokens, beside GVPO's loss of a group of responses",
     changed(objective("gvpo"), penalty={"kl": "k1", "kl_coef": 0.5}),
     {"penalty": {"kl_aggregation": "token_mean"}}, unlike)
case("kl-tokens-selected", "the KL at tokens with kl_mask only, averaged over all tokens of the batch, the rest over responses",
     over("seq_mean_token_mean", changed(K3, penalty={"kl_on": "selected"})), {"penalty": {"kl_aggregation": "token_mean"}}, unlike)
for kl in ("k1", "k2"):
    case(f"kl-responses-neginf-{kl}", f"KL {kl} to the old policy, averaged over responses: it is infinite at a token of old probability 0",
         changed(SCORE, penalty={"kl": kl, "kl_coef": 0.5, "kl_reference": "old", "entropy_coef": 0.25}),
         {"penalty": {"kl_aggregation": "seq_mean_token_mean", "entropy_aggregation": "seq_mean_token_mean"}},
         lambda o: placed(o, 982, (2,), ((1, -0.5), (0.75,)), logp=((-1, -0.5), (-1.25,)), logp_old=((NEG, -1), (-1.5,))))


def far_up(o):
    return full(o, (3,), (1, 2, 1), 983, d=lambda dice, i, t: ((800,), (-800, 0.25), (-0.5,))[i][t], reward=(1, 0, 0.5),
                f_gap=lambda dice, i, t: -dice.fraction(1 / 64, 0.5, 64))


case("kl-responses-far-800", "the KL is averaged over responses, weighted by a token ratio of e^800 that is capped at 2",
     changed(SCORE, penalty={"kl": "k3", "kl_coef": 0.5, "kl_importance_weight": "token", "kl_importance_weight_max": 2}), RESPONSES,
     far_up)

# ---- entropy

ENTROPY = changed(FREE, penalty={"entropy_coef": 0.25})
for own in OWN:
    for kind in ("token_sum", "token_mean", "seq_mean_token_mean", "seq_mean_constant", "group_mean_token_mean"):
        if own != kind:
            case(f"entropy-{own}-{kind}", f"the entropy bonus is averaged by {own}, the rest of the loss by {kind}", over(kind, ENTROPY),
                 {"penalty": {"entropy_aggregation": own}}, empties)
for label, changes in (("unmask", {"weight": {**BAND, "rollout_rejected": "unmask"}}), ("external", {"weight": {"external": "term"}}),
                       ("alone", {"penalty": {"kl": "none"}}), ("malus", {"penalty": {"entropy_coef": -0.125}})):
    case(f"entropy-responses-{label}", f"entropy over responses, the rest over tokens; {settings(changes)}",
         changed(changed(K3, penalty={"entropy_coef": 0.25}), **changes), {"penalty": {"entropy_aggregation": "seq_mean_token_mean"}},
         unlike)
case("both", "the KL is averaged over responses, the entropy bonus over tokens, the rest divided by a constant; empty responses dropped",
     over("seq_mean_constant", ENTROPY),
     {"penalty": {"kl_aggregation": "seq_mean_token_mean", "entropy_aggregation": "token_mean"},
      "aggregation": {"empty_sequences": "drop"}},
     empties)
case("both-crossed", "the KL is averaged over tokens, the entropy bonus over responses, the rest over prompts",
     over("group_mean_token_mean", ENTROPY),
     {"penalty": {"kl_aggregation": "token_mean", "entropy_aggregation": "seq_mean_token_mean"}}, unlike)
