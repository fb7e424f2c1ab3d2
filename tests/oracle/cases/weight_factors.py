"""The weight: normalised corrections, exp_abs, k3_reverse, binary_kl_max, total variation, ring, FIPO, external weights."""
from cases.table import cases_of
from objectives import MINUS_INF, changed, plain
from scenarios import NAN, full, like

case = cases_of("choices-factors")


def weighs(label, comment, base, make, **changes):
    case(label, comment, base, {"weight": changes}, make)


PPO = changed(plain(), surrogate={"kind": "ppo_clip", "eps_low": 0.2, "eps_high": 0.25}, aggregation={"kind": "token_mean"})
RATIO = changed(PPO, surrogate={"kind": "ratio", "eps_low": 0, "eps_high": 0})
SCORE = changed(plain(), aggregation={"kind": "token_mean"})

# ---- rollout_is_norm

GAPS = ((0, 0.5, -0.75), (-1.75, 0.25), (2, -2.25))
A = ((1, -0.5, -0.75), (-1.25, 1), (-0.25, 0.75))


def mismatch(o):
    batch = full(o, (2, 1), [len(g) for g in GAPS], 721, b_gap=lambda dice, i, t: GAPS[i][t], d=lambda dice, i, t: dice.signed(0, 0.5, 64),
                 mask={(0, 0)})
    batch["advantage"] = [list(a) for a in A]
    batch["step_end"] = [[False, True, False], [True, False], [False, True]]
    return batch


def far(o):
    """Every weight is 0 or outside of the band."""
    batch = mismatch(o)
    batch["logp_rollout"] = like(batch["length"], lambda i, t: batch["logp_old"][i][t] - 3)
    return batch


def corrected(correction, unit="token", rejected="zero_weight", **more):
    return changed(RATIO, weight={"rollout_is": correction, "rollout_is_level": unit, "rollout_is_low": 0.5, "rollout_is_high": 1.5,
                                 "rollout_rejected": rejected, **more})


for correction, unit, rejected in (("truncate", "token", "zero_weight"), ("truncate", "sequence_sum", "zero_weight"),
                                   ("truncate", "segment_mean", "zero_weight"), ("mask", "token", "zero_weight"),
                                   ("mask", "token", "unmask")):
    weighs(f"norm-{correction}-{unit}-{rejected}",
           f"rollout weights ({correction}, {unit}, {rejected}) over their mean, over {'responses' if 'seq' in unit else 'tokens'}",
           corrected(correction, unit, rejected), mismatch, rollout_is_norm="mean")
weighs("norm-sequence-tokens", "rollout weights of responses over their mean; a response with rejected tokens counts with its mean weight",
       corrected("truncate", "sequence_sum", rollout_rs="k2", rollout_rs_high=0.25), mismatch, rollout_is_norm="mean")
weighs("norm-none", "rollout_is none, some tokens rejected: weights 1 and 0 are divided by the share of tokens that are kept",
       changed(RATIO, weight={"rollout_rs": "k2", "rollout_rs_high": 0.25}), mismatch, rollout_is_norm="mean")
case("norm-zero", "rollout weights are all 0, so their mean is too: they stay 0, not 0/0, and only the KL penalty is left",
     corrected("mask", rollout_is_norm="mean"),
     {"penalty": {"kl": "k3", "kl_coef": 0.5}}, far)



def unsampled(o):
    """A token of probability 0 under the sampler: its weight is infinite."""
    batch = mismatch(o)
    batch["logp_rollout"][1][0] = MINUS_INF
    return batch


for unit in ("token", "sequence_sum", "segment_mean"):
    weighs(f"norm-infinite-{unit}", f"one rollout weight is infinite, level {unit}: over the mean it becomes a count, all others 0",
           corrected("truncate", unit, rollout_is_low=0, rollout_is_high="Infinity"), unsampled, rollout_is_norm="mean")

# ---- exp_abs

for unit in ("token", "sequence_mean", "segment_sum"):
    weighs(f"exp_abs-{unit}", f"rollout_rs exp_abs, level {unit}: rejected where the larger of ratio and inverse ratio exceeds 2",
           RATIO, mismatch,
           rollout_rs="exp_abs", rollout_rs_level=unit, rollout_rs_high=2, rollout_rejected="unmask")
EXP_ABS = changed(RATIO, weight={"rollout_rs": "exp_abs", "rollout_rs_high": 2})
weighs("exp_abs-clamp", "rollout_rs exp_abs with rollout_clamp: log-ratios are clamped before the statistic, so nothing exceeds 2",
       EXP_ABS, mismatch, rollout_clamp=0.5)


def level(o):
    """Equal log-probabilities: weights of exactly 1, beside one that is not."""
    batch = mismatch(o)
    batch["logp_rollout"] = [list(row) for row in batch["logp_old"]]
    batch["logp_rollout"][2][1] -= 0.5
    return batch


weighs("exp_abs-bound", "rollout_rs exp_abs with an upper bound of 1: equal log-probabilities give exactly 1 and are kept",
       RATIO, level, rollout_rs="exp_abs", rollout_rs_high=1, rollout_rejected="unmask")


# ---- rollout against old, and the larger divergence of "this token or another"

for statistic, most, words in (("k3_reverse", 0.125, "k3 of rollout over old policy above 0.125 is rejected"),
                               ("binary_kl_max", 0.0625, "the larger KL of (p, 1 - p) above 0.0625 is rejected")):
    for unit in ("token", "sequence_mean", "segment_max", "sequence_sum"):
        weighs(f"{statistic}-{unit}", f"rollout_rs {statistic}, level {unit}: {words}", RATIO, mismatch,
               rollout_rs=statistic, rollout_rs_level=unit, rollout_rs_high=most, rollout_rejected="unmask")
    weighs(f"{statistic}-bound", f"rollout_rs {statistic} with an upper bound of 0: equal log-probabilities give exactly 0 and are kept",
           RATIO, level, rollout_rs=statistic, rollout_rs_high=0, rollout_rejected="unmask")


def one_way(o):
    """Each divergence alone too large, both within the bound but not their sum, and none."""
    batch = mismatch(o)
    batch["logp_old"] = [[-1, -0.25, -0.0625], [-0.25, -0.5], [-1, -2]]
    batch["logp_rollout"] = [[-1, -0.0625, -0.25], [-0.09375, -0.5], [-1, -2]]
    batch["logp"] = [[-1, -0.5, -0.25], [-0.375, -0.25], [-0.75, -1.5]]
    return batch


weighs("binary_kl_max-one_way", "rollout_rs binary_kl_max: the larger of both directions' KL decides, not one of them and not their sum",
       RATIO, one_way,
       rollout_rs="binary_kl_max", rollout_rs_high=0.125, rollout_rejected="unmask")
weighs("k3_reverse-clamp", "rollout_rs k3_reverse with rollout_clamp: log-ratios are clamped before the statistic",
       changed(RATIO, weight={"rollout_rs": "k3_reverse", "rollout_rs_high": 0.125}),
       mismatch, rollout_clamp=0.25)


def engine_never(o):
    batch = mismatch(o)
    batch["logp_old"][0][1] = batch["logp_rollout"][1][0] = batch["logp_old"][2][0] = batch["logp_rollout"][2][0] = MINUS_INF
    return batch


weighs("exp_abs-neginf", "rollout_rs exp_abs, mean over the response, with probability 0 under old, rollout or both policies",
       SCORE, engine_never, rollout_rs="exp_abs",
       rollout_rs_level="sequence_mean",
       rollout_rs_high=6, rollout_rejected="unmask")

# ---- off_policy

DIVERGENT = {"off_policy_mask": "total_variation", "off_policy_mask_threshold": 1}
weighs("total_variation", "VACO: in responses far from the rollout policy, tokens that A pushes further away are dropped",
       RATIO, mismatch, **DIVERGENT)
VACO = changed(RATIO, weight=DIVERGENT)
weighs("total_variation-0.375", "VACO with a threshold of 0.375 instead of 1: more responses count as far from the rollout policy",
       VACO, mismatch, off_policy_mask_threshold=0.375)
weighs("total_variation-unmask", "VACO: a response's mean distance is over the tokens that rejection left",
       VACO, mismatch, rollout_rs="k2", rollout_rs_high=2.25,
       rollout_rejected="unmask")
weighs("total_variation-clamp", "VACO: rollout_clamp does not clamp the log-ratios of the distance",
       changed(RATIO, weight={**DIVERGENT, "rollout_is": "truncate", "rollout_is_high": 2}), mismatch, rollout_clamp=0.0625)
weighs("total_variation-neginf", "VACO with probability 0 under the old policy, the rollout policy or both",
       SCORE, engine_never, **DIVERGENT)

# ---- ring

LEVELS = (-2, -0.5, 0.125, 0.5, 2)


def rings(o):
    """A > 0, A < 0 and A = 0 at each level."""
    batch = full(o, (3, 2), [3] * 5, 731, d=lambda dice, i, t: LEVELS[i])
    batch["advantage"] = like(batch["length"], lambda i, t: (0.5 + i / 8, -1 + i / 16, 0)[t])
    return batch


RING = {"trust": "ring", "trust_low": 0.25, "trust_high": 0.25, "rec_outer_low": 0.625, "rec_outer_high": 2}
weighs("ring", "REC's ring: tokens are kept inside 0.75..1.25, and far outside where A pulls them back", RATIO, rings, **RING)
WITHIN = changed(RATIO, weight=RING)
for field, x in (("rec_outer_low", 0.375), ("rec_outer_high", 0.5)):
    weighs(f"{field}-{x}", f"REC's ring with {field} = {x}: the region kept outside begins closer to 1", WITHIN, rings, **{field: x})
case("ring-squared", "REC's ring with surrogate (A - k y)^2: tokens with A = 0 are kept far outside on both sides",
     changed(RATIO, surrogate={"kind": "squared", "beta": 0.5}), {"weight": RING}, rings)

# ---- fipo

STEPS = ((0.5, -0.25, 1, -0.125), (2.5, -0.5, -0.75), (0.25, -1.5))
SIGNS = ((1, -0.5, -0.75, -1), (-1.25, 0.5, -0.75), (-0.25, 1))


def ahead(o):
    batch = full(o, (2, 1), [len(x) for x in STEPS], 741, d=lambda dice, i, t: STEPS[i][t], mask={(0, 1)})
    batch["advantage"] = [list(a) for a in SIGNS]
    return batch


def hidden(o):
    batch = ahead(o)
    for key in ("logp", "logp_old", "advantage"):
        batch[key][0][1] = NAN
    return batch


FIPO = {"fipo": "decayed", "fipo_half_life": 2, "fipo_low": 0.5, "fipo_high": 4}
SAFE = {"fipo_safe_ratio": 4, "fipo_safe_low": 0.8, "fipo_safe_high": 1}
weighs("future", "FIPO: weights by the discounted log-ratios of the tokens to come, half-life of two positions, masked ones counted",
       RATIO, ahead, **FIPO)
case("future-score", "FIPO's weights beside surrogate -A log p, which has no ratio; a masked token holds NaN",
     SCORE, {"weight": FIPO}, hidden)
AHEAD = changed(RATIO, weight={**FIPO, **SAFE})
weighs("fipo_half_life", "FIPO with a half-life of 32 positions instead of 2: later tokens count nearly fully",
       AHEAD, ahead, fipo_half_life=32)
weighs("fipo_ratio_max", "FIPO: tokens with a ratio above 2 are left out of the sum over the tokens to come",
       AHEAD, ahead, fipo_ratio_max=2)
weighs("fipo_low", "FIPO with weights of at least 1 (fipo_low = 1)", AHEAD, ahead, fipo_low=1)
weighs("fipo_safe_ratio", "FIPO: where A < 0 and the token's ratio is above 4, the weight is clipped to 0.8..1",
       changed(RATIO, weight=FIPO), ahead, **SAFE)
weighs("fipo_safe_low", "FIPO: where A < 0 and the ratio is above 1, the weight is at least 0.625 instead of 0.8",
       changed(AHEAD, weight={"fipo_safe_ratio": 1}), ahead, fipo_safe_low=0.625)
weighs("fipo_safe_high", "FIPO: where A < 0 and the ratio is above 4, the weight is at most 0.9375 instead of 1",
       AHEAD, ahead, fipo_safe_high=0.9375)
weighs("future-unmask", "FIPO: rejected tokens are not in the sum over the tokens to come, but their positions count in the discount",
       changed(RATIO, weight={"rollout_rs": "k2", "rollout_rs_high": 0.25, "rollout_rejected": "unmask"}), mismatch, **FIPO)
case("future-rollout", "FIPO, behaviour rollout: the weight uses log-ratios to the old policy, the surrogate those to the rollout policy",
     changed(RATIO, weight={"fipo": "none"}),
     {"ratio": {"behaviour": "rollout"}, "weight": FIPO}, ahead)


def never(o):
    batch = ahead(o)
    batch["logp"][0][2] = batch["logp_old"][1][1] = batch["logp"][2][0] = batch["logp_old"][2][0] = MINUS_INF
    return batch


weighs("future-neginf", "FIPO with infinite log-ratios of either sign among the tokens to come: weights at their bounds, not NaN",
       RATIO, never, **{**FIPO, **SAFE})

# ---- external

GIVEN = ((0.5, 2, 0, 1), (1.25, 0.75, 3), (0.125, 1))


def given(o):
    batch = ahead(o)
    batch["external_weight"] = [list(row) for row in GIVEN]
    batch["external_weight"][0][1] = NAN
    batch["logp_rollout"] = like(batch["length"], lambda i, t: batch["logp_old"][i][t] + ((i + t) % 3 - 1) / 4)
    return batch


PAID = changed(PPO, penalty={"kl": "k3", "kl_coef": 0.25, "entropy_coef": 0.125})
for what in ("policy", "term"):
    weighs(f"given-{what}",
           f"given token weights, external = {what}: they multiply the surrogate{', KL and entropy' * (what == 'term')}",
           PAID, given, external=what)
weighs("given-corrected", "given token weights multiply the whole term, the surrogate also by normalised rollout weights and FIPO's",
       changed(PAID, weight={"rollout_is": "truncate", "rollout_is_high": 1.125, "rollout_is_norm": "mean", **FIPO}), given,
       external="term")
