"""Cases for known mistakes (defects/) that no other case exposes: (label, comment, objective, make)."""
from objectives import changed, objective
from scenarios import full

CASES = []


def case(label, comment, o, make):
    CASES.append((label, comment, o, make))


def ragged(seed, **options):
    return lambda o: full(o, (3, 2), (2, 4, 1, 3, 2), seed, reward=(1, 0, 0.5, 1, -0.5), **options)


# ---- aggregation

LUSPO_KL = changed(objective("luspo"), penalty={"kl": "k3", "kl_coef": 0.25})
case("luspo-kl", "LUSPO with a KL penalty: per-token terms inside a response whose weight is its length; some tokens are masked", LUSPO_KL,
     ragged(201, mask={(1, 2), (3, 0)}))


def two_cut(o):
    batch = full(o, (2, 2), (3, 2, 1, 2), 202, reward=(1, 0, 0.5, 1))
    batch["truncated"] = [False, True, False, False]
    return batch


for name in ("gmpo", "gspo"):
    case(f"{name}-truncated", f"{name}, truncated responses masked: one of them has an advantage, but its tokens must leave the loss",
         changed(objective(name), weight={"truncated": "mask"}), two_cut)


def all_far(o):
    return full(o, (2, 2), (2, 1, 3, 1), 203, b_gap=lambda dice, i, t: dice.fraction(1, 2, 8), reward=(1, 0, 0.5, 1))


case("all-rejected", "every response is far from the rollout policy and rejected: loss 0, no 0/0",
     objective("geo-reject"), all_far)
case("square", "as many responses as tokens in the longest, one ratio per response, masked tokens: a broadcast along the wrong axis fits",
     objective("verl-gspo"), lambda o: full(o, (2, 3), (5, 2, 3, 1, 4), 204, mask={(0, 1), (4, 3)}))


# ---- advantages

def one_success(o):
    return full(o, (4, 3), (1, 2, 1, 1, 2, 1, 1), 211, reward=(1, 0, 0, 0, 0, 0, 1))


for name in ("verl-grpo", "trl-grpo"):
    case("one-success" + ("" if name == "verl-grpo" else "-" + name),
         "one success per group: the other rewards are all equal, so their deviation without it is 0", objective(name), one_success)


def unscored(o):
    batch = full(o, (4, 3), (1, 2, 1, 1, 2, 1, 1), 212, reward=(1, 0.5, 0.75, 0.25, 0, 1, 0.5), more=("excluded",))
    batch["excluded"] = [False, True, False, False, False, False, True]
    return batch


for name in ("grpo", "dr-grpo"):
    case("unscored" + ("" if name == "grpo" else "-" + name),
         "an excluded response in each group: it has a reward, but is left out of the mean and the deviation, and A = 0",
         changed(objective(name), advantage={"excluded": "zero"}), unscored)
case("best-of-three", "groups with one best response each: it gets best minus second reward over the deviation, the others 0",
     objective("verl-passk"), ragged(213))


def penalised(o):
    batch = full(o, (3, 2), (3, 2, 4, 2, 1), 214, reward=(1, 0, 0.5, 1, 0), mask={(2, 1)})
    batch["marked"] = [[False, True, False], [False, False], [True, False, True, False], [False, False], [True]]
    return batch


for name in ("grpo", "dapo"):
    case("penalised" + ("" if name == "grpo" else "-" + name),
         "some tokens of some responses, such as those of a malformed call, get the advantage -2; the others keep theirs",
         changed(objective(name), advantage={"marked": "fixed", "marked_value": -2}), penalised)


# ---- masks, arrays

def ended(o):
    batch = full(o, (2, 1), (4, 2, 3), 221, mask={(0, 3), (1, 1)}, reward=(1, 0, 0.5), more=("truncated",))
    batch["truncated"] = [True, False, False]
    return batch


def entropies(o):
    return full(o, (2, 1), (2, 4, 3), 222, mask={(1, 3)}, reward=(1, 0, 0.5), more=("entropy",))


for name in ("grpo", "dapo"):
    end = "" if name == "grpo" else "-" + name
    case(f"truncated-end{end}", "a truncated response whose last slot is masked: the truncated flag counts, not the last token",
         objective(name), ended)
    case(f"entropies{end}", "entropies of responses that are not sorted by length; one masked token",
         objective(name), entropies)


def left_behind(o):
    """The sampler is far from the policy in the first two responses, the old policy is near; some of their tokens have A > 0."""
    gaps = ((1, 0.75, 0.5), (0.625, 1), (0.125, 0.25, 0.5))
    batch = full(o, (3,), [len(g) for g in gaps], 223, d=lambda dice, i, t: dice.signed(1 / 16, 0.25, 64),
                 b_gap=lambda dice, i, t: gaps[i][t] + 0.25)
    batch["advantage"] = [[-1, 0.5, -0.5], [0.75, -0.5], [-1, 0.5, -0.25]]
    return batch


for name in ("deepseek-v3.2", "trl-opsm"):
    case("left-behind" + ("" if name == "deepseek-v3.2" else "-" + name),
         "off-policy mask: responses far from the rollout policy but near the old one, with tokens of A > 0 and A < 0",
         changed(objective(name), weight={"off_policy_mask": "rollout"}), left_behind)


# ---- ratio, clips

def far_unit(o):
    means = ((11, 12), (-12,), (0.25, 0.5), (12.5,))
    return full(o, (2, 2), [len(m) for m in means], 231, d=lambda dice, i, t: means[i][t], reward=(0, 1, 1, 0))


case("far-unit", "GSPO-token, the response's mean log-ratio clamped at 10: means of 11.5 and 12.5 where A < 0",
     changed(objective("gspo-token"), ratio={"level_clamp_low": "-Infinity", "level_clamp_high": 10}), far_unit)


def between(o):
    d = ((0.21875, -0.21875), (0.1875, 0.234375), (-0.2265625, -0.25), (0.0625, 0.203125))
    return full(o, (2, 2), [len(x) for x in d], 232, d=lambda dice, i, t: d[i][t], reward=(1, 0, 0, 1))


for name in ("dapo", "trl-dapo"):
    case("high-clip" + ("" if name == "dapo" else "-" + name),
         "ratios of 1.2 to 1.28 and of 0.78 to 0.8, for A of both signs: only an upper clip of 0.28 keeps the former",
         objective(name), between)


def zero_pooled(o):
    batch = full(o, (2,), (3, 2), 238, d=lambda dice, i, t: ((1, 0.25, -0.125), (-1, 0.5))[i][t])
    batch["advantage"] = [[0, 1, 0.5], [-1, 0]]
    return batch


case("zero-pooled", "GMPO: tokens with A = 0 whose log-ratio is above the token clip, which for A >= 0 is the upper one",
     objective("gmpo"),
     zero_pooled)


def above(o):
    d = ((1.5, 0.25), (2, 1.75), (-0.5, 1.625))
    return full(o, (3,), [len(x) for x in d], 233, d=lambda dice, i, t: d[i][t], reward=(0, 1, 0.25))


case("two-sided-unit", "two-sided clip: ratios above its second bound of 4, and a KL weighted by these ratios without that bound",
     changed(objective("two-sided"), penalty={"kl_importance_weight": "level", "kl_coef": 0.25}), above)
case("cispo-cap", "CISPO with a weight cap of 5: ratios of 4.5, 5.1, 5.8 and 7.4, below and above that cap and a cap of 6",
     objective("cispo"), above)
case("overflow", "dual clip: a token with log-ratio 800 and A > 0 is clipped by the usual bound; e^800 overflows",
     objective("ppo-dual-clip"),
     lambda o: full(o, (2,), (2, 1), 234, d=lambda dice, i, t: (800, 0.25, -0.5)[2 * i + t], reward=(1, -1)))
TOPR = changed(objective("cispo"), ratio={"level": "sequence_sum"}, surrogate={"weight_max": 1}, advantage={"scale": "none"},
               aggregation={"kind": "seq_mean_token_sum"})
case("topr", "TOPR (2503.14286) for advantages of any sign: the response's ratio, clipped to [0, 1] and detached", TOPR,
     ragged(235))
case("topr-holes", "TOPR with masked tokens: the response's ratio, clipped to [0, 1] and detached, is of the others only",
     TOPR, ragged(236, mask={(1, 1), (3, 2)}))
case("cispo-rollout", "CISPO over the rollout policy (ScaleRL), with old log-probabilities in the batch that it must not use",
     objective("scalerl"),
     lambda o: full(o, (2, 2), (2, 1, 3, 1), 237, reward=(1, 0, 0.5, 1), b_gap=lambda dice, i, t: dice.signed(0.25, 1, 16),
                    more=("logp_old",)))


# ---- KL

def clamped_kl(o):
    gaps = ((0.5, -1.5), (2, 0.25), (-2, 0.125))
    return full(o, (3,), [len(g) for g in gaps], 241, f_gap=lambda dice, i, t: gaps[i][t], reward=(1, 0, 0.25))


case("clamped-kl", "KL weighted by the token's importance ratio: log-ratios to the reference inside and outside of the clamp at 1",
     changed(objective("gspo"), penalty={"kl": "k3", "kl_coef": 0.25, "kl_importance_weight": "token", "kl_clamp_log": 1}), clamped_kl)


def far_reference(o):
    gaps = ((800, 0.5), (-0.25, 0.125))
    return full(o, (2,), [len(g) for g in gaps], 242, f_gap=lambda dice, i, t: gaps[i][t], reward=(1, 0))


for name in ("grpo", "dapo"):
    case("far-reference" + ("" if name == "grpo" else "-" + name),
         "k3 KL penalty clamped at 10, with a reference log-probability 800 above the policy's: e^800 overflows",
         changed(objective(name), penalty={"kl": "k3", "kl_coef": 0.0625, "kl_clamp_value": 10}), far_reference)
for name in ("cispo", "vespo"):
    case(f"{name}-k2", f"k2 KL penalty beside {name}'s detached importance weight, which does not multiply the KL",
         changed(objective(name), penalty={"kl": "k2", "kl_coef": 0.5}), ragged(243))
case("zero-group", "a group of equal rewards has A = 0 everywhere, but still pays the KL penalty",
     objective("two-sided"),
     lambda o: full(o, (2, 2), (2, 1, 2, 1), 244, reward=(1, 1, 0, 1)))


# ---- rollout

def overflow(o):
    gaps = ((0, 0.25), (-800,), (0.125, -0.125))
    return full(o, (3,), [len(g) for g in gaps], 251, b_gap=lambda dice, i, t: gaps[i][t], reward=(1, 0, 0.25))


case("rollout-overflow", "IcePop: a token with a rollout weight of e^800 is rejected and adds 0, not NaN",
     objective("icepop"), overflow)


def clipped_rejected(o):
    d = ((1, 0.125), (-1, 0.5), (0.25, 2))
    gaps = ((2, 0), (-2, 0.25), (0, -3))
    return full(o, (3,), [len(x) for x in d], 252, d=lambda dice, i, t: d[i][t], b_gap=lambda dice, i, t: gaps[i][t],
                reward=(1, 0, 0.25))


case("clipped-rejected", "IcePop: tokens that PPO's clip binds and whose rollout weight is outside the band: rejected",
     objective("icepop"),
     clipped_rejected)
NORMALIZED = objective("verl-tis-normalized")
for unit in ("sequence_sum", "sequence_mean"):
    case("weights-of-responses" + ("" if unit == "sequence_sum" else "-" + unit),
         "one rollout weight per response, divided by the mean over responses of unequal length, not over tokens",
         changed(NORMALIZED, weight={"rollout_is_level": unit}),
         ragged(254, b_gap=lambda dice, i, t: dice.signed(0.125, 0.75, 64)))
for kind in ("ratio", "reinforce"):
    case("mean-advantage" + ("" if kind == "ratio" else f"-{kind}"),
         "no baseline, so the mean of all advantages is not 0: a response that has this mean differs from one with its own",
         changed(objective("dr-grpo"), advantage={"baseline": "none"}, surrogate={"kind": kind, "eps_low": 0, "eps_high": 0},
                 aggregation={"kind": "seq_mean_token_mean", "constant": 0}), ragged(255))
