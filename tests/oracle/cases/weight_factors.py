"""The weight: normalised corrections, multiplicative errors, rings, what the future says, weights from outside."""
from cases.table import cases_of
from objectives import MINUS_INF, changed, plain
from scenarios import NAN, full, like

case = cases_of("choices-factors")


def weighs(label, comment, base, make, **changes):
    case(label, comment, base, {"weight": changes}, make)


PPO = changed(plain(), surrogate={"kind": "ppo_clip", "eps_low": 0.2, "eps_high": 0.25}, aggregation={"kind": "token_mean"})
RATIO = changed(PPO, surrogate={"kind": "ratio", "eps_low": 0, "eps_high": 0})
SCORE = changed(plain(), aggregation={"kind": "token_mean"})

# ---- correction_norm

GAPS = ((0, 0.5, -0.75), (-1.75, 0.25), (2, -2.25))
A = ((1, -0.5, -0.75), (-1.25, 1), (-0.25, 0.75))


def mismatch(o):
    batch = full(o, (2, 1), [len(g) for g in GAPS], 721, b_gap=lambda dice, i, t: GAPS[i][t], d=lambda dice, i, t: dice.signed(0, 0.5, 64),
                 mask={(0, 0)})
    batch["advantage"] = [list(a) for a in A]
    batch["step_end"] = [[False, True, False], [True, False], [False, True]]
    return batch


def far(o):
    """Every weight is 0 or out of the band."""
    batch = mismatch(o)
    batch["logp_rollout"] = like(batch["length"], lambda i, t: batch["logp_old"][i][t] - 3)
    return batch


def corrected(correction, unit="token", rejected="zero_weight", **more):
    return changed(RATIO, weight={"correction": correction, "correction_unit": unit, "correction_low": 0.5, "correction_high": 1.5,
                                 "rejected": rejected, **more})


for correction, unit, rejected in (("truncate", "token", "zero_weight"), ("truncate", "sequence_sum", "zero_weight"),
                                   ("truncate", "segment_mean", "zero_weight"), ("mask", "token", "zero_weight"),
                                   ("mask", "token", "unmask")):
    weighs(f"norm-{correction}-{unit}-{rejected}", "weights divided by their mean, over tokens or over responses",
           corrected(correction, unit, rejected), mismatch, correction_norm="mean")
weighs("norm-sequence-tokens", "some tokens of a response rejected: its mean weight counts",
       corrected("truncate", "sequence_sum", reject="k2", reject_high=0.25), mismatch, correction_norm="mean")
weighs("norm-none", "no correction, but rejected tokens weigh 0: the mean is the share of the others",
       changed(RATIO, weight={"reject": "k2", "reject_high": 0.25}), mismatch, correction_norm="mean")
case("norm-zero", "every weight is 0, and stays: the penalty is left", corrected("mask", correction_norm="mean"),
     {"penalty": {"kl": "k3", "kl_coef": 0.5}}, far)

# ---- exp_abs

for unit in ("token", "sequence_mean", "segment_sum"):
    weighs(f"exp_abs-{unit}", "the larger of a ratio and its inverse is too large", RATIO, mismatch,
           reject="exp_abs", reject_unit=unit, reject_high=2, rejected="unmask")
EXP_ABS = changed(RATIO, weight={"reject": "exp_abs", "reject_high": 2})
weighs("exp_abs-clamp", "log-ratios are bounded before", EXP_ABS, mismatch, correction_clamp=0.5)


def level(o):
    """Equal log-probabilities: weights of exactly 1, beside one that is not."""
    batch = mismatch(o)
    batch["logp_rollout"] = [list(row) for row in batch["logp_old"]]
    batch["logp_rollout"][2][1] -= 0.5
    return batch


weighs("exp_abs-bound", "exactly 1 is inside", RATIO, level, reject="exp_abs", reject_high=1, rejected="unmask")


def engine_never(o):
    batch = mismatch(o)
    batch["logp_old"][0][1] = batch["logp_rollout"][1][0] = batch["logp_old"][2][0] = batch["logp_rollout"][2][0] = MINUS_INF
    return batch


weighs("exp_abs-neginf", "probabilities of 0 under one and under both", SCORE, engine_never, reject="exp_abs", reject_unit="sequence_mean",
       reject_high=6, rejected="unmask")

# ---- off_policy

DIVERGENT = {"off_policy": "total_variation", "off_policy_max": 1}
weighs("total_variation", "tokens that drift further, of responses that have drifted too far", RATIO, mismatch, **DIVERGENT)
VACO = changed(RATIO, weight=DIVERGENT)
weighs("total_variation-0.375", "another limit", VACO, mismatch, off_policy_max=0.375)
weighs("total_variation-unmask", "the mean is over the tokens that rejection leaves", VACO, mismatch, reject="k2", reject_high=2.25,
       rejected="unmask")
weighs("total_variation-clamp", "log-ratios are not bounded here",
       changed(RATIO, weight={**DIVERGENT, "correction": "truncate", "correction_high": 2}), mismatch, correction_clamp=0.0625)
weighs("total_variation-neginf", "probabilities of 0 under one and under both", SCORE, engine_never, **DIVERGENT)

# ---- ring

LEVELS = (-2, -0.5, 0.125, 0.5, 2)


def rings(o):
    """A > 0, A < 0 and A = 0 at each level."""
    batch = full(o, (3, 2), [3] * 5, 731, d=lambda dice, i, t: LEVELS[i])
    batch["advantage"] = like(batch["length"], lambda i, t: (0.5 + i / 8, -1 + i / 16, 0)[t])
    return batch


RING = {"trust": "ring", "trust_low": 0.25, "trust_high": 0.25, "ring_low": 0.625, "ring_high": 2}
weighs("ring", "inside, too far on either side, and so far that it is kept where it is pulled back", RATIO, rings, **RING)
WITHIN = changed(RATIO, weight=RING)
for field, x in (("ring_low", 0.375), ("ring_high", 0.5)):
    weighs(f"{field}-{x}", "another limit", WITHIN, rings, **{field: x})
case("ring-squared", "tokens without advantage are kept outside of either ring",
     changed(RATIO, surrogate={"kind": "squared", "strength": 0.5}), {"weight": RING}, rings)

# ---- future

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


FIPO = {"future": "decayed", "future_half_life": 2, "future_low": 0.5, "future_high": 4}
SAFE = {"future_safe": 4, "future_safe_low": 0.8, "future_safe_high": 1}
weighs("future", "weights by what comes later, discounted by positions", RATIO, ahead, **FIPO)
case("future-score", "the ratio is not used", SCORE, {"weight": FIPO}, hidden)
AHEAD = changed(RATIO, weight={**FIPO, **SAFE})
weighs("future_half_life", "a longer memory", AHEAD, ahead, future_half_life=32)
weighs("future_max", "tokens of large ratios are left out of it", AHEAD, ahead, future_max=2)
weighs("future_low", "never below 1", AHEAD, ahead, future_low=1)
weighs("future_safe", "bad tokens of large ratios weigh at most 1", changed(RATIO, weight=FIPO), ahead, **SAFE)
weighs("future_safe_low", "and at least this", changed(AHEAD, weight={"future_safe": 1}), ahead, future_safe_low=0.625)
weighs("future_safe_high", "or at most that", AHEAD, ahead, future_safe_high=0.9375)
weighs("future-unmask", "rejected tokens are not in the future, their positions are",
       changed(RATIO, weight={"reject": "k2", "reject_high": 0.25, "rejected": "unmask"}), mismatch, **FIPO)
case("future-rollout", "the future is against the old policy, the ratio is not", changed(RATIO, weight={"future": "none"}),
     {"ratio": {"against": "rollout"}, "weight": FIPO}, ahead)


def never(o):
    batch = ahead(o)
    batch["logp"][0][2] = batch["logp_old"][1][1] = batch["logp"][2][0] = batch["logp_old"][2][0] = MINUS_INF
    return batch


weighs("future-neginf", "infinite log-ratios of either sign ahead", RATIO, never, **{**FIPO, **SAFE})

# ---- given

GIVEN = ((0.5, 2, 0, 1), (1.25, 0.75, 3), (0.125, 1))


def given(o):
    batch = ahead(o)
    batch["weight"] = [list(row) for row in GIVEN]
    batch["weight"][0][1] = NAN
    batch["logp_rollout"] = like(batch["length"], lambda i, t: batch["logp_old"][i][t] + ((i + t) % 3 - 1) / 4)
    return batch


PAID = changed(PPO, penalty={"kl": "k3", "kl_coef": 0.25, "entropy_coef": 0.125})
for what in ("policy", "term"):
    weighs(f"given-{what}", "weights of the policy's part, or of everything", PAID, given, given=what)
weighs("given-corrected", "times the normalised weight and the future",
       changed(PAID, weight={"correction": "truncate", "correction_high": 1.125, "correction_norm": "mean", **FIPO}), given, given="term")
