"""Cases for known mistakes (defects/) that no other case exposes: (label, flags, comment, objective, make)."""
from objectives import changed, objective
from scenarios import full

CASES = []


def case(label, flags, comment, o, make):
    CASES.append((label, flags.split(), comment, o, make))


def ragged(seed, **options):
    return lambda o: full(o, (3, 2), (2, 4, 1, 3, 2), seed, reward=(1, 0, 0.5, 1, -0.5), **options)


# ---- aggregation

LUSPO_KL = changed(objective("luspo"), penalty={"kl": "k3", "kl_coef": 0.25})
case("luspo-kl", "UnequalLengths MaskHoles Reference",
     "LUSPO with a KL: its terms differ between the tokens of a response, and some do not count", LUSPO_KL,
     ragged(201, mask={(1, 2), (3, 0)}))


def two_cut(o):
    batch = full(o, (2, 2), (3, 2, 1, 2), 202, reward=(1, 0, 0.5, 1))
    batch["truncated"] = [False, True, False, False]
    return batch


for name in ("gmpo", "gspo"):
    case(f"{name}-truncated", "Truncated UnequalLengths",
         "a truncated response with an advantage is dropped from an objective with a ratio per response",
         changed(objective(name), weight={"truncated": "mask"}), two_cut)


def all_far(o):
    return full(o, (2, 2), (2, 1, 3, 1), 203, b_gap=lambda dice, i, t: dice.fraction(1, 2, 8), reward=(1, 0, 0.5, 1))


case("all-rejected", "Rollout", "every response is far from the sampling engine, and leaves: loss 0",
     objective("geo-reject"), all_far)
case("square", "Square UnequalLengths MaskHoles", "as many responses as tokens, with masked tokens, one ratio per response",
     objective("verl-gspo"), lambda o: full(o, (2, 3), (5, 2, 3, 1, 4), 204, mask={(0, 1), (4, 3)}))


# ---- advantages

def one_success(o):
    return full(o, (4, 3), (1, 2, 1, 1, 2, 1, 1), 211, reward=(1, 0, 0, 0, 0, 0, 1))


for name in ("verl-grpo", "trl-grpo"):
    case("one-success" + ("" if name == "verl-grpo" else "-" + name), "UnevenGroups",
         "one success among failures: the rewards of the others are all equal", objective(name), one_success)


def unscored(o):
    batch = full(o, (4, 3), (1, 2, 1, 1, 2, 1, 1), 212, reward=(1, 0.5, 0.75, 0.25, 0, 1, 0.5), more=("excluded",))
    batch["excluded"] = [False, True, False, False, False, False, True]
    return batch


for name in ("grpo", "dr-grpo"):
    case("unscored" + ("" if name == "grpo" else "-" + name), "UnevenGroups UnequalLengths",
         "in each group a response that has no part in the comparison, though it has a number for a reward",
         changed(objective(name), advantage={"excluded": "zero"}), unscored)
case("best-of-three", "UnevenGroups UnequalLengths", "groups with one best response", objective("verl-passk"), ragged(213))


# ---- masks, arrays

def ended(o):
    batch = full(o, (2, 1), (4, 2, 3), 221, mask={(0, 3), (1, 1)}, reward=(1, 0, 0.5), more=("truncated",))
    batch["truncated"] = [True, False, False]
    return batch


def entropies(o):
    return full(o, (2, 1), (2, 4, 3), 222, mask={(1, 3)}, reward=(1, 0, 0.5), more=("entropy",))


for name in ("grpo", "dapo"):
    end = "" if name == "grpo" else "-" + name
    case(f"truncated-end{end}", "Truncated MaskHoles", "a truncated response with a masked slot after its last token",
         objective(name), ended)
    case(f"entropies{end}", "UnequalLengths MaskHoles", "entropies of responses that are not sorted by length",
         objective(name), entropies)


def left_behind(o):
    """The sampler is far from the policy in the first two responses, the old policy is near; some of their tokens have A > 0."""
    gaps = ((1, 0.75, 0.5), (0.625, 1), (0.125, 0.25, 0.5))
    batch = full(o, (3,), [len(g) for g in gaps], 223, d=lambda dice, i, t: dice.signed(1 / 16, 0.25, 64),
                 b_gap=lambda dice, i, t: gaps[i][t] + 0.25)
    batch["advantage"] = [[-1, 0.5, -0.5], [0.75, -0.5], [-1, 0.5, -0.25]]
    return batch


for name in ("deepseek-v3.2", "trl-opsm"):
    case("left-behind" + ("" if name == "deepseek-v3.2" else "-" + name), "GivenAdvantage Rollout UnequalLengths",
         "responses that the policy has left as the sampler sees it, with tokens of both signs",
         changed(objective(name), weight={"off_policy_mask": "rollout"}), left_behind)


# ---- ratio, clips

def far_unit(o):
    means = ((11, 12), (-12,), (0.25, 0.5), (12.5,))
    return full(o, (2, 2), [len(m) for m in means], 231, d=lambda dice, i, t: means[i][t], reward=(0, 1, 1, 0))


case("far-unit", "Extreme", "a response's mean log-ratio beyond 10 where A < 0",
     changed(objective("gspo-token"), ratio={"level_clamp_low": "-Infinity", "level_clamp_high": 10}), far_unit)


def between(o):
    d = ((0.21875, -0.21875), (0.1875, 0.234375), (-0.2265625, -0.25), (0.0625, 0.203125))
    return full(o, (2, 2), [len(x) for x in d], 232, d=lambda dice, i, t: d[i][t], reward=(1, 0, 0, 1))


for name in ("dapo", "trl-dapo"):
    case("high-clip" + ("" if name == "dapo" else "-" + name), "",
         "ratios between 1.2 and 1.28, and between 0.72 and 0.8, for both signs of A", objective(name), between)


def zero_pooled(o):
    batch = full(o, (2,), (3, 2), 238, d=lambda dice, i, t: ((1, 0.25, -0.125), (-1, 0.5))[i][t])
    batch["advantage"] = [[0, 1, 0.5], [-1, 0]]
    return batch


case("zero-pooled", "GivenAdvantage", "tokens with A = 0 and a log-ratio above the pool's bound", objective("gmpo"),
     zero_pooled)


def above(o):
    d = ((1.5, 0.25), (2, 1.75), (-0.5, 1.625))
    return full(o, (3,), [len(x) for x in d], 233, d=lambda dice, i, t: d[i][t], reward=(0, 1, 0.25))


case("two-sided-unit", "", "ratios above delta, and a KL that they weigh",
     changed(objective("two-sided"), penalty={"kl_importance_weight": "level", "kl_coef": 0.25}), above)
case("cispo-cap", "", "ratios above 5 and above 6", objective("cispo"), above)
case("overflow", "Extreme", "log-ratio 800 where A > 0, in a dual clip", objective("ppo-dual-clip"),
     lambda o: full(o, (2,), (2, 1), 234, d=lambda dice, i, t: (800, 0.25, -0.5)[2 * i + t], reward=(1, -1)))
TOPR = changed(objective("cispo"), ratio={"level": "sequence_sum"}, surrogate={"weight_max": 1}, advantage={"scale": "none"},
               aggregation={"kind": "seq_mean_token_sum"})
case("topr", "UnequalLengths",
     "TOPR (2503.14286) for advantages of any sign: the response's ratio, clipped to [0, 1] and detached", TOPR,
     ragged(235))
case("topr-holes", "UnequalLengths MaskHoles", "the same with masked tokens", TOPR, ragged(236, mask={(1, 1), (3, 2)}))
case("cispo-rollout", "Rollout", "CISPO against the sampling engine, with the old policy at hand", objective("scalerl"),
     lambda o: full(o, (2, 2), (2, 1, 3, 1), 237, reward=(1, 0, 0.5, 1), b_gap=lambda dice, i, t: dice.signed(0.25, 1, 16),
                    more=("logp_old",)))


# ---- KL

def clamped_kl(o):
    gaps = ((0.5, -1.5), (2, 0.25), (-2, 0.125))
    return full(o, (3,), [len(g) for g in gaps], 241, f_gap=lambda dice, i, t: gaps[i][t], reward=(1, 0, 0.25))


case("clamped-kl", "Reference", "a KL weighted by the token's ratio, D inside and outside of its clamp",
     changed(objective("gspo"), penalty={"kl": "k3", "kl_coef": 0.25, "kl_importance_weight": "token", "kl_clamp_log": 1}), clamped_kl)


def far_reference(o):
    gaps = ((800, 0.5), (-0.25, 0.125))
    return full(o, (2,), [len(g) for g in gaps], 242, f_gap=lambda dice, i, t: gaps[i][t], reward=(1, 0))


for name in ("grpo", "dapo"):
    case("far-reference" + ("" if name == "grpo" else "-" + name), "Reference Extreme",
         "the reference is 800 above, and the KL is clamped at 10",
         changed(objective(name), penalty={"kl": "k3", "kl_coef": 0.0625, "kl_clamp_value": 10}), far_reference)
for name in ("cispo", "vespo"):
    case(f"{name}-k2", "Reference", "a squared KL beside a detached weight",
         changed(objective(name), penalty={"kl": "k2", "kl_coef": 0.5}), ragged(243))
case("zero-group", "EqualRewards Reference", "a group of equal rewards still pays the KL", objective("two-sided"),
     lambda o: full(o, (2, 2), (2, 1, 2, 1), 244, reward=(1, 1, 0, 1)))


# ---- rollout

def overflow(o):
    gaps = ((0, 0.25), (-800,), (0.125, -0.125))
    return full(o, (3,), [len(g) for g in gaps], 251, b_gap=lambda dice, i, t: gaps[i][t], reward=(1, 0, 0.25))


case("rollout-overflow", "Rollout Extreme", "a weight of e^800 is rejected", objective("icepop"), overflow)


def clipped_rejected(o):
    d = ((1, 0.125), (-1, 0.5), (0.25, 2))
    gaps = ((2, 0), (-2, 0.25), (0, -3))
    return full(o, (3,), [len(x) for x in d], 252, d=lambda dice, i, t: d[i][t], b_gap=lambda dice, i, t: gaps[i][t],
                reward=(1, 0, 0.25))


case("clipped-rejected", "Rollout", "tokens that the clip binds and the band rejects", objective("icepop"),
     clipped_rejected)
NORMALIZED = objective("verl-tis-normalized")
for unit in ("sequence_sum", "sequence_mean"):
    case("weights-of-responses" + ("" if unit == "sequence_sum" else "-" + unit), "Rollout UnequalLengths",
         "weights of responses of unequal lengths, divided by their mean", changed(NORMALIZED, weight={"rollout_is_level": unit}),
         ragged(254, b_gap=lambda dice, i, t: dice.signed(0.125, 0.75, 64)))
