"""The files choices-<axis>: an objective that is plain on the other axes, and one choice changed at a time.

Every name and every number of the contract changes an answer in at least one of these cases (self_check.py asserts it).
"""
import choices_advantage
import choices_credit
import choices_factors
import choices_found
import choices_group
import choices_late
import choices_reward
import choices_scores
import choices_shaping
import choices_steps
import choices_token
import choices_units
from objectives import INF, MINUS_INF, changed, objective, plain
from scenarios import full, like, placed

CASES = []  # (axis, label, comment, base, {axis: {field: value}}, make)


def case(axis, label, comment, base, changes, make):
    CASES.append((axis, label, comment, base, changes, make))


def named(value):
    return str(value).replace("Infinity", "inf")


# ---- bases

PPO = changed(plain(), advantage={"baseline": "group_mean"}, surrogate={"kind": "ppo_clip", "eps_low": 0.2, "eps_high": 0.2},
              aggregation={"kind": "token_mean"})
SCORE = changed(plain(), advantage={"baseline": "group_mean"}, aggregation={"kind": "token_mean"})

# ---- batches in which the numbers are laid out by hand

def far_pair(values, a, seed):
    """Responses of one token: log-ratio and advantage of each."""
    def make(o):
        batch = full(o, (len(values),), [1] * len(values), seed, d=lambda dice, i, t: values[i])
        batch["advantage"] = [[x] for x in a]
        return batch
    return make


FAR_80 = far_pair((80, 80, -80, -80, 0.25), (1, -0.5, 0.75, -1, 0.5), 171)
FAR_800_GOOD = far_pair((800, -800, 0.25), (1, -0.5, 0.5), 172)  # up where A > 0, down where A < 0
FAR_800_BAD = far_pair((-800, 800, 0.25), (1, -0.5, 0.5), 173)


def never_sampled(policy, old, a):
    """A token of probability 0 under one of the policies or both, beside one that is not."""
    def make(o):
        return placed(o, 174, (2,), ((a,), (0.75,)), logp=((policy,), (-1.25,)), logp_old=((old,), (-1.5,)))
    return make


NEG = MINUS_INF
NEVER = {"policy": (NEG, -1), "old": (-0.5, NEG), "both": (NEG, NEG)}


# ---- reward

def window(o):
    return full(o, (2, 3), (1, 3, 4, 5, 2), 101, reward=(1, 1, 0, 1, 0.5))


def window_masked(o):
    return full(o, (2,), (4, 2), 102, reward=(1, 1), mask={(0, 1), (0, 3)})


def two_kl(o):
    gaps = ((0.5, -0.25, 0), (-1, 0.125), (2, -2))
    return full(o, (2, 1), (3, 2, 2), 103, f_gap=lambda dice, i, t: gaps[i][t], reward=(1, 0, 0.5), mask={(0, 1)})


LONG_WINDOW = {"overlong": "soft", "overlong_max": 4, "overlong_cache": 2, "overlong_factor": 1}
OVERLONG = changed(SCORE, reward=LONG_WINDOW)
case("reward", "overlong-soft", "soft overlong punishment, window 2..4", SCORE, {"reward": LONG_WINDOW}, window)
case("reward", "overlong-linear", "the same line without a floor", OVERLONG, {"reward": {"overlong": "linear"}}, window)
case("reward", "overlong-max", "window 3..5", OVERLONG, {"reward": {"overlong_max": 5}}, window)
case("reward", "overlong-cache", "window 1..4", OVERLONG, {"reward": {"overlong_cache": 3}}, window)
case("reward", "overlong-cache-full", "window 0..4: the cache is the maximum", OVERLONG, {"reward": {"overlong_cache": 4}},
     window)
case("reward", "overlong-factor", "a tenth of the punishment", OVERLONG, {"reward": {"overlong_factor": 0.125}}, window)
case("reward", "overlong-masked", "masked tokens count in the length", SCORE, {"reward": LONG_WINDOW}, window_masked)

for kl in ("k1", "k2", "k3", "abs"):
    for credit in ("outcome", "return"):
        case("reward", f"{kl}-{credit}", "KL in the reward, masked tokens left out",
             changed(SCORE, advantage={"credit": credit, "gamma": 1}),
             {"reward": {"kl": kl, "kl_coef": 0.25}}, two_kl)
case("reward", "kl_coef", "a larger coefficient", changed(SCORE, reward={"kl": "k1", "kl_coef": 0.25}),
     {"reward": {"kl_coef": 2}}, two_kl)


# ---- advantage

def groups(o):
    return full(o, (1, 3, 2, 2), (2, 1, 3, 1, 2, 1, 1, 2), 111, reward=(0.75, 1, 0, 0.25, 0.5, 0.5, -1, 0), more=("baseline",))


def narrow(o):
    return full(o, (3, 2), (1, 2, 1, 1, 1), 112, reward=(1, 1 + 2 ** -10, 1 - 2 ** -11, 2, 2 + 2 ** -8))


def one_kind(o):
    return full(o, (2, 2), (1, 2, 1, 1), 113, reward=(1, 1, 0.5, 0.5))


def zeros(o):
    return full(o, (2, 1), (1, 2, 1), 114, reward=(0, 0, 0))


def unmasked_none(o):
    return full(o, (2, 1), (2, 1, 2), 115, reward=(1, 0, 0.5), mask={(0, 0), (0, 1), (1, 0)})


def timed(o):
    return full(o, (2, 2), (5, 3, 2, 1), 116, reward=(1, -0.5, 0.25, 1), mask={(0, 1), (1, 0), (1, 2)})


def stepped(o):
    batch = full(o, (2, 2, 1), (5, 3, 2, 2, 1), 117, mask={(0, 1)}, more=("baseline",))
    batch["step_end"] = [[True, True, False, True, False], [False, False, True], [True, True], [False, False], [True]]
    return batch


NORM = changed(SCORE, advantage={"scale": "group_std"})
NONE = changed(SCORE, advantage={"baseline": "none"})
for baseline in ("group_mean", "leave_one_out", "length_weighted", "given"):
    case("advantage", baseline, "another baseline", NONE, {"advantage": {"baseline": baseline}}, groups)
    case("advantage", f"{baseline}-group_std", "another baseline, scaled", NONE,
         {"advantage": {"baseline": baseline, "scale": "group_std"}}, groups)
case("advantage", "none-group_std", "scaled without a baseline", NONE, {"advantage": {"scale": "group_std"}}, groups)
case("advantage", "length_weighted-empty", "no token counts in one group: its length-weighted baseline is 0",
     NONE, {"advantage": {"baseline": "length_weighted"}}, unmasked_none)
SCALES = ("group_std", "batch_std", "batch_centred_std", "token_whiten")
for scale in SCALES:
    case("advantage", scale, "another scale", SCORE, {"advantage": {"scale": scale}}, groups)
    case("advantage", f"{scale}-population", "divisor n", changed(SCORE, advantage={"scale": scale}),
         {"advantage": {"std": "population"}}, groups)
    case("advantage", f"{scale}-eps", "epsilon beside the deviation", changed(SCORE, advantage={"scale": scale}),
         {"advantage": {"eps": 0.1}}, groups)
for place in ("add", "inside", "floor", "floor_add"):
    for eps in (0.001, 0.1):
        case("advantage", f"{place}-{eps}", "where epsilon stands, variances below and above it", NORM,
             {"advantage": {"eps": eps, "eps_place": place}}, narrow)
    case("advantage", f"{place}-whiten", "where epsilon stands when whitening",
         changed(SCORE, advantage={"scale": "token_whiten"}),
         {"advantage": {"eps": 0.5, "eps_place": place}}, narrow)
for baseline in ("none", "group_mean", "leave_one_out", "length_weighted"):
    for scale in ("none", "group_std"):
        if baseline == scale == "none":
            continue
        base = changed(SCORE, advantage={"baseline": baseline, "scale": scale, "eps": 0.25})
        case("advantage", f"singleton-{baseline}-{scale}", "what an item alone in its group gets: here its own reward", base,
             {"advantage": {"singleton": "raw"}}, groups)
case("advantage", "valid_groups", "gain N / (N - M), M responses in groups of equal rewards", SCORE,
     {"advantage": {"gain": "valid_groups"}}, groups)
case("advantage", "valid_groups-none", "every group has equal rewards: gain 1", NONE,
     {"advantage": {"baseline": "given", "gain": "valid_groups"}}, one_kind)
case("advantage", "nonzero_rewards", "gain N / number of rewards that are not 0", SCORE,
     {"advantage": {"gain": "nonzero_rewards"}}, groups)
case("advantage", "nonzero_rewards-none", "all rewards are 0: the divisor is 1", NONE,
     {"advantage": {"baseline": "given", "gain": "nonzero_rewards"}}, zeros)
for gamma in (1, 0.5, 0):
    case("advantage", f"return-{gamma}", "returns, masked tokens do not discount",
         changed(SCORE, advantage={"credit": "return", "gamma": 0.25}), {"advantage": {"credit": "return",
                 "gamma": gamma}}, timed)
    case("advantage", f"step-{gamma}", "step rewards, masked tokens do not discount", SCORE,
         {"advantage": {"credit": "step", "gamma": gamma}}, stepped)
for baseline in ("none", "leave_one_out", "length_weighted", "given"):
    case("advantage", f"step-{baseline}", "baseline of step rewards", changed(SCORE, advantage={"credit": "step", "gamma": 1}),
         {"advantage": {"baseline": baseline}}, stepped)
for scale in SCALES:
    case("advantage", f"step-{scale}", "scale of step rewards", changed(SCORE, advantage={"credit": "step", "gamma": 1}),
         {"advantage": {"scale": scale}}, stepped)
for gamma, lam in ((1, 1), (0.5, 0.75), (0.75, 0.5), (0.5, 0), (0, 1)):
    case("advantage", f"gae-{gamma}-{lam}", "delta and trace skip masked tokens", SCORE,
         {"advantage": {"credit": "gae", "gamma": gamma, "lambda": lam}}, timed)
case("advantage", "gae-kl", "KL in the token rewards of GAE",
     changed(SCORE, advantage={"credit": "gae", "gamma": 0.5, "lambda": 0.75}),
     {"reward": {"kl": "k3", "kl_coef": 0.5}}, timed)
case("advantage", "return-kl-discounted", "KL in the token rewards, discounted",
     changed(SCORE, advantage={"credit": "return", "gamma": 0.5}),
     {"reward": {"kl": "k1", "kl_coef": 0.5}}, timed)


# ---- ratio

def bands(o):
    d = ((-1.5, 0.5, 0.625), (0.25, -0.5, -0.53125), (0.75, -0.125, -0.25), (0.03125,))
    batch = full(o, (2, 2), [len(x) for x in d], 121, d=lambda dice, i, t: d[i][t], mask={(2, 1)})
    return batch


def mixed(o):
    batch = bands(o)
    a = ((1, 0.5, -0.75), (-1.25, 1, -0.5), (0.25, 0, -1.5), (0,))
    batch["advantage"] = [list(x) for x in a]
    return batch


def unit_bound(o):
    d = ((0.25, 0.75), (-1,), (0.5625,), (-0.5, -0.5))  # means 0.5 and -0.5 are bounds
    batch = full(o, (2, 2), [len(x) for x in d], 122, d=lambda dice, i, t: d[i][t])
    batch["advantage"] = like(batch["length"], lambda i, t: (1, -1, -0.5, 1.5)[i])
    return batch


UNITS = ("token", "sequence_mean", "sequence_sum", "sequence_clipped_mean")
POOL = {"pool_low": 0.5, "pool_high": 0.5}
KINDS = {"ratio": {"kind": "ratio", "eps_low": 0, "eps_high": 0}, "ppo_clip": {},
         "dual_clip": {"kind": "dual_clip", "dual": 1.5},
         "sapo": {"kind": "sapo", "eps_low": 0, "eps_high": 0, "tau_pos": 1, "tau_neg": 1.5},
         "cispo": {"kind": "cispo", "eps_low": 0, "eps_high": 0, "weight_min": 0.75, "weight_max": 1.25},
         "vespo": {"kind": "vespo", "eps_low": 0, "eps_high": 0, "k_pos": 2, "lambda_pos": 3, "k_neg": 3, "lambda_neg": 2}}
for unit in UNITS:
    pool = POOL if unit == "sequence_clipped_mean" else {}
    for gradient in ("unit", "token"):
        for kind in ("ratio", "ppo_clip", "sapo", "cispo", "vespo"):
            if gradient == "token" and (unit == "token" or kind in ("cispo", "vespo")):
                continue  # the same numbers as gradient unit
            base = changed(PPO, surrogate=KINDS[kind])
            if unit == "token":
                base = changed(base, ratio={"unit": "sequence_mean"})
            if gradient == "token":
                base = changed(base, ratio={"unit": unit, **pool})
            case("ratio", f"{unit}-{gradient}-{kind}", "advantages that differ inside a response", base,
                 {"ratio": {"unit": unit, "gradient": gradient, **pool}}, mixed)
    against = changed(PPO, ratio={"unit": unit, **pool})
    case("ratio", f"rollout-{unit}", "ratio against the sampling engine", against, {"ratio": {"against": "rollout"}}, bands)
CLAMPED = changed(PPO, surrogate=KINDS["ratio"])
case("ratio", "clamp", "log-ratios at and beyond both bounds; the derivative passes at a bound", CLAMPED,
     {"ratio": {"clamp_low": -0.5, "clamp_high": 0.5}}, mixed)
case("ratio", "clamp_low", "only a lower bound", CLAMPED, {"ratio": {"clamp_low": -0.5, "clamp_high": INF}}, mixed)
case("ratio", "clamp_high", "only an upper bound", CLAMPED, {"ratio": {"clamp_low": MINUS_INF, "clamp_high": 0.5}}, mixed)
case("ratio", "clamp-mean", "the bound comes before the mean", changed(CLAMPED, ratio={"unit": "sequence_mean"}),
     {"ratio": {"clamp_low": -0.5, "clamp_high": 0.5}}, mixed)
case("ratio", "clamp-mean-token", "a bound cuts the token's own gradient",
     changed(CLAMPED, ratio={"unit": "sequence_mean", "gradient": "token"}),
     {"ratio": {"clamp_low": -0.5, "clamp_high": 0.5}}, mixed)
for gradient in ("unit", "token"):
    MEAN = changed(CLAMPED, ratio={"unit": "sequence_mean", "gradient": gradient})
    case("ratio", f"unit_clamp-{gradient}", "units at and beyond both bounds", MEAN,
         {"ratio": {"unit_clamp_low": -0.5, "unit_clamp_high": 0.5}}, unit_bound)
    case("ratio", f"unit_clamp_low-{gradient}", "only a lower bound", MEAN,
         {"ratio": {"unit_clamp_low": -0.5, "unit_clamp_high": INF}}, unit_bound)
    case("ratio", f"unit_clamp_high-{gradient}", "only an upper bound", MEAN,
         {"ratio": {"unit_clamp_low": MINUS_INF, "unit_clamp_high": 0.5}}, unit_bound)
case("ratio", "unit_clamp-one-side-of-0", "both bounds above 0", changed(CLAMPED, ratio={"unit": "sequence_mean"}),
     {"ratio": {"unit_clamp_low": 0.125, "unit_clamp_high": 0.5}}, unit_bound)
case("ratio", "unit_clamp-tokens", "the bound of the unit when the unit is the token", CLAMPED,
     {"ratio": {"unit_clamp_low": -0.25, "unit_clamp_high": 0.5}}, mixed)
GM = changed(CLAMPED, ratio={"unit": "sequence_clipped_mean", **POOL})
case("ratio", "pool_low", "a wider lower clip", GM, {"ratio": {"pool_low": 1}}, mixed)
case("ratio", "pool_high", "a narrower upper clip", GM, {"ratio": {"pool_high": 0.25}}, mixed)

for unit in UNITS:
    pool = POOL if unit == "sequence_clipped_mean" else {}
    against = changed(PPO, ratio={"unit": unit, **pool})
    case("ratio", f"ref-{unit}", "ratio against the reference", against, {"ratio": {"against": "ref"}}, mixed)
    case("ratio", f"current-{unit}", "ratio against the policy itself: 1, with the score function's gradient", against,
         {"ratio": {"against": "current"}}, mixed)
for kind in ("ratio", "sapo", "vespo"):
    case("ratio", f"current-{kind}", "ratio 1 of another surrogate", changed(PPO, surrogate=KINDS[kind]),
         {"ratio": {"against": "current"}}, mixed)
for against in ("ref", "current"):
    case("ratio", f"{against}-gradient-token", "the mean over the response, with the gradient at the token",
         changed(CLAMPED, ratio={"unit": "sequence_mean", "gradient": "token"}), {"ratio": {"against": against}}, mixed)
    case("ratio", f"{against}-clamp", "0 is below the lower bound",
         changed(CLAMPED, ratio={"clamp_low": 0.125, "clamp_high": 0.5}), {"ratio": {"against": against}}, mixed)
case("ratio", "current-clamp-bound", "0 is at the lower bound: the derivative passes",
     changed(CLAMPED, ratio={"clamp_low": 0, "clamp_high": 0.5}), {"ratio": {"against": "current"}}, mixed)
case("ratio", "ref-both", "ratio and KL against the reference", changed(CLAMPED, penalty={"kl": "k3", "kl_coef": 0.25}),
     {"ratio": {"against": "ref"}}, mixed)


def ref_never(o):
    return placed(o, 123, (2, 1), ((1, -0.5), (1,), (0.75,)), logp=((-1, NEG), (-0.75,), (NEG,)),
                  logp_ref=((-1.5, -2), (NEG,), (NEG,)))


case("ratio", "ref-neginf", "probabilities of 0 under the policy, the reference and both", PPO,
     {"ratio": {"against": "ref"}}, ref_never)
case("ratio", "current-neginf", "-inf minus -inf is 0: the ratio is 1", PPO, {"ratio": {"against": "current"}},
     ref_never)


# ---- surrogate

def every_side(o):
    d = ((-2, 0.0625, 2), (2, -0.0625, -2, 1.25), (2, -2, 0.125), (0.03125, 1.5), (0.5, -0.5))
    a = ((1, 0.5, -0.75), (1.25, -1, 0, -0.25), (0, -0.5, -1.5), (-0.25, -1), (1, 0.75))
    batch = full(o, (2, 3), [len(x) for x in d], 131, d=lambda dice, i, t: d[i][t])
    batch["advantage"] = [list(x) for x in a]
    return batch


for kind in ("ratio", "dual_clip", "cispo", "sapo", "vespo"):
    case("surrogate", kind, "another surrogate", PPO, {"surrogate": KINDS[kind]}, every_side)
case("surrogate", "ppo_clip", "the clipped surrogate", SCORE, {"surrogate": PPO["surrogate"]}, every_side)
case("surrogate", "score", "the score function: the ratio is not used", PPO,
     {"surrogate": {"kind": "score", "eps_low": 0, "eps_high": 0}}, every_side)
for kind, field, value in (("ppo_clip", "eps_low", 0.05), ("ppo_clip", "eps_high", 1),
                           ("dual_clip", "eps_low", 0.05), ("dual_clip", "eps_high", 0.25), ("dual_clip", "dual", 4),
                           ("cispo", "weight_min", 0.25), ("cispo", "weight_max", 3),
                           ("cispo", "weight_max", INF), ("sapo", "tau_pos", 2), ("sapo", "tau_neg", 0.5),
                           ("vespo", "k_pos", 1), ("vespo", "lambda_pos", 1), ("vespo", "k_neg", 1), ("vespo", "lambda_neg", 1)):
    case("surrogate", f"{kind}-{field}-{named(value)}", "one number changed", changed(PPO, surrogate=KINDS[kind]),
         {"surrogate": {field: value}}, every_side)

LEVELS = (-2, -0.125, 0.125, 0.5, 2)  # log-ratios far below, inside of and above the usual bounds, and around dual


def every_level(o):
    """A > 0, A < 0 and A = 0 at each level; the tokens of a response differ by what their mean takes out."""
    a = ((1.25, -0.75, 0), (-1, 0, 0.5), (0, 1, -0.5), (-1.25, 0.75, 0), (1, 0, -0.25))
    batch = full(o, (2, 3), [3] * 5, 132, d=lambda dice, i, t: LEVELS[i] + (0, 1, -1)[t] / 32)
    batch["advantage"] = [list(x) for x in a]
    return batch


def only(kind, **fields):
    return {"kind": kind, "eps_low": 0, "eps_high": 0, **fields}


NEW_KINDS = {
    "log_ratio": only("log_ratio"),
    "squared": only("squared", strength=0.5),
    "gppo": only("gppo", eps_low=0.2, eps_high=0.28, beta_low=0.75, beta_high=1.25),
    "gppo-dual": only("gppo", eps_low=0.2, eps_high=0.28, beta_low=1, beta_high=1, dual=3),
    "aspo": only("aspo", eps_low=0.2, eps_high=0.25),
    "aspo-dual": only("aspo", eps_low=0.2, eps_high=0.25, dual=3, dual_pos=2),
    "topr": only("topr", weight_min=0, weight_max=1),
    "band": only("band", weight_min=0.5, weight_max=5),
    "sapo_detached": only("sapo_detached", tau_pos=1, tau_neg=1.5)}
DETACHED = ("topr", "band", "sapo_detached")  # l alone has a gradient: where the ratio's goes does not matter
for name, kind in NEW_KINDS.items():
    case("surrogate", name, "another surrogate, A of every sign at every level of the ratio", PPO, {"surrogate": kind},
         every_level)
    for unit in ("sequence_mean", "sequence_sum"):
        case("surrogate", f"{name}-{unit}", "one ratio for the response", changed(PPO, ratio={"unit": unit}),
             {"surrogate": kind}, every_level)
    if name not in DETACHED:
        case("surrogate", f"{name}-sequence_mean-token", "one ratio for the response, its gradient at the token",
             changed(PPO, ratio={"unit": "sequence_mean", "gradient": "token"}), {"surrogate": kind}, every_level)
    case("surrogate", f"{name}-far-80", "log-ratios of +-80 for A of both signs", PPO, {"surrogate": kind}, FAR_80)
    case("surrogate", f"{name}-far-800-good", "log-ratio +800 where A > 0, -800 where A < 0", PPO, {"surrogate": kind},
         FAR_800_GOOD)
    if name == "aspo":  # infinite for A of either sign
        case("surrogate", "aspo-far-800-low", "log-ratio -800 where A > 0", PPO, {"surrogate": kind},
             far_pair((-800, -800, 0.25), (1, -0.5, 0.5), 177))
        case("surrogate", "aspo-far-800-high", "log-ratio 800 where A < 0", PPO, {"surrogate": kind},
             far_pair((800, 800, 0.25), (1, -0.5, 0.5), 178))
    else:
        case("surrogate", f"{name}-far-800-bad", "log-ratio -800 where A > 0, +800 where A < 0", PPO,
             {"surrogate": kind}, FAR_800_BAD)
    for who, logps in NEVER.items():
        for side, a in (("good", 1), ("bad", -0.5)):
            if (name, who, side) in (("squared", "policy", "bad"), ("squared", "old", "good")):
                continue  # its size does not say that the square of a finite and an infinite part is defined
            case("surrogate", f"{name}-neginf-{who}-{side}", f"a token of probability 0: under {who}", SCORE,
                 {"surrogate": kind}, never_sampled(*logps, a))

for name, field, value in (("squared", "strength", -0.5), ("squared", "strength", 0), ("squared", "strength", 4),
                           ("gppo", "beta_low", 0), ("gppo", "beta_high", 0), ("gppo", "eps_low", 0.05),
                           ("gppo", "eps_high", 1), ("gppo", "dual", 3), ("gppo-dual", "dual", 1.5),
                           ("aspo", "eps_low", 0.05), ("aspo", "eps_high", 1), ("aspo", "dual", 3),
                           ("aspo", "dual_pos", 3), ("aspo-dual", "dual", 1.5), ("aspo-dual", "dual_pos", 4),
                           ("topr", "weight_min", 0.25), ("topr", "weight_max", 3), ("topr", "weight_max", INF),
                           ("band", "weight_min", 0), ("band", "weight_max", 1.5), ("band", "weight_max", INF),
                           ("sapo_detached", "tau_pos", 2), ("sapo_detached", "tau_neg", 0.5)):
    case("surrogate", f"{name}-{field}-{named(value)}", "one number changed", changed(PPO, surrogate=NEW_KINDS[name]),
         {"surrogate": {field: value}}, every_level)


def good_only(o):
    batch = every_level(o)
    batch["advantage"] = like(batch["length"], lambda i, t: (i + t + 1) / 8)
    return batch


case("surrogate", "topr-good", "every A > 0: the score function", PPO, {"surrogate": NEW_KINDS["topr"]}, good_only)


def nearly(o):
    """A = k y, off by 2^-20, off by 2^-22 the other way, and A = -k y; k = 0.5."""
    d = ((0.25, 0.25), (-0.5, 1.5), (0.75, -0.25))
    a = ((0.125, 0.125 + 2 ** -20), (-0.25 - 2 ** -22, 0.75), (-0.375, -0.125 + 2 ** -20))
    batch = full(o, (2, 1), (2, 2, 2), 133, d=lambda dice, i, t: d[i][t])
    batch["advantage"] = [list(x) for x in a]
    return batch


def nearly_unit(o):
    """The same where y is the sum of 3/8 and -1/8."""
    batch = full(o, (2,), (2, 3), 134, d=lambda dice, i, t: ((0.375, -0.125), (0.5, 0.25, -0.25))[i][t])
    batch["advantage"] = [[0.125, 0.125 - 2 ** -20], [0.25 + 2 ** -21, 0, -0.25]]
    return batch


case("surrogate", "squared-cancels",
     "A and k y cancel, in whole or nearly: the size is theirs, not that of what is left", PPO,
     {"surrogate": NEW_KINDS["squared"]}, nearly)
case("surrogate", "squared-cancels-sum", "A and k y of a response cancel", changed(PPO, ratio={"unit": "sequence_sum"}),
     {"surrogate": NEW_KINDS["squared"]}, nearly_unit)
case("surrogate", "squared-clamped", "beyond the bound y is a number: a value, no gradient",
     changed(PPO, ratio={"clamp_low": -0.5, "clamp_high": 0.5}), {"surrogate": NEW_KINDS["squared"]}, every_level)
case("surrogate", "gppo-clamped", "a ratio that is clamped and clipped has no gradient",
     changed(PPO, ratio={"clamp_low": -0.5, "clamp_high": 0.5}), {"surrogate": NEW_KINDS["gppo"]}, every_level)
case("surrogate", "squared-current", "against the policy itself: A^2, and the gradient of -2 k A l",
     changed(PPO, ratio={"against": "current"}), {"surrogate": NEW_KINDS["squared"]}, every_level)
case("surrogate", "log_ratio-pooled", "log-ratios clipped before their mean",
     changed(PPO, ratio={"unit": "sequence_clipped_mean", "pool_low": 0.5, "pool_high": 0.25}),
     {"surrogate": NEW_KINDS["log_ratio"]}, every_level)


def likely(o):
    """Probabilities near 1: both bounds are off their limits of 1/2 and infinity. Log-ratios below, inside, above."""
    x = ((-0.0009765625, -0.125, -0.25), (0, -0.0625, 0), (-0.5, -0.375, -0.4375), (-0.5, -0.75, -0.5))
    l = ((-1, -0.0625, -0.1875), (-0.125, -0.625, -0.5), (-0.03125, -0.0625, -0.625), (-1.5, -1.125, -0.0625))
    a = ((-1, 1, -0.5), (-0.75, -1, -0.5), (1, 0.5, -0.25), (-1, 1, 0))
    return placed(o, 135, (2, 2), a, logp=l, logp_old=x)


def unlikely(o):
    """Probabilities near 0: the lower bound is 1/2, the upper one grows like the root of 1/p."""
    x = ((-4, -4, -4), (-8, -8, -8), (-20, -20), (-50, -50, -50))
    l = ((-3.5, -1, -5), (-6, -2, -8.625), (-19.5, -2), (-20, -40, -51))
    a = ((1, 0.5, -1), (0.75, 1, -0.5), (-0.25, 1), (0.5, 1, -1.25))
    return placed(o, 136, (2, 2), a, logp=l, logp_old=x)


def hardly(o):
    """p = e^-800 underflows, and 1/p overflows: the upper bound is e^400 or so."""
    return placed(o, 137, (3,), ((1, 0.5), (-1, 1), (0.25, -0.75)), logp=((-100, -500), (-801, -1), (-300, -800.5)),
                  logp_old=((-800, -800), (-800, -2), (-750, -800)))


def nowhere(o):
    """p = 0: the bounds are 1 and the cap."""
    return placed(o, 138, (2, 1), ((1, -0.5), (-1, 0.5), (0.75,)), logp=((-1, NEG), (NEG, NEG), (-1.25,)),
                  logp_old=((NEG, NEG), (-0.25, NEG), (-1.5,)))


BY_PROBABILITY = {"ppo_clip": only("ppo_clip", bounds="probability", eps_low=0.16, eps_high=0.2),
                  "dual_clip": only("dual_clip", bounds="probability", eps_low=0.16, eps_high=0.2, bound_cap=10,
                                    dual=4),
                  "gppo": only("gppo", bounds="probability", eps_low=0.16, eps_high=0.2, bound_cap=10, beta_low=0.75,
                               beta_high=0.5)}
for kind, fields in BY_PROBABILITY.items():
    fixed = changed(PPO, surrogate={**fields, "bounds": "fixed", "bound_cap": 0})
    for label, comment, make in (("likely", "bounds from probabilities near 1", likely),
                                 ("unlikely", "bounds from probabilities near 0", unlikely),
                                 ("far", "bounds from a probability of e^-800", hardly)):
        case("surrogate", f"probability-{kind}-{label}", comment, fixed, {"surrogate": fields}, make)
    case("surrogate", f"probability-{kind}-neginf", "bounds from a probability of 0", fixed, {"surrogate": fields},
         nowhere)
PROBABILITY = changed(PPO, surrogate=BY_PROBABILITY["ppo_clip"])
case("surrogate", "probability-eps_low", "p = 1 and eps 1/4: the lower bound is where the root begins", PROBABILITY,
     {"surrogate": {"eps_low": 0.25}}, likely)
case("surrogate", "probability-eps_high", "a wider upper bound", PROBABILITY, {"surrogate": {"eps_high": 1}}, likely)
case("surrogate", "probability-bound_cap", "the upper bound is at most 10", PROBABILITY,
     {"surrogate": {"bound_cap": 10}}, unlikely)
case("surrogate", "probability-bound_cap-neginf", "the upper bound is the cap where p = 0", PROBABILITY,
     {"surrogate": {"bound_cap": 10}}, nowhere)
case("surrogate", "probability-ref", "p is of the reference", changed(PPO, ratio={"against": "ref"}),
     {"surrogate": BY_PROBABILITY["ppo_clip"]}, mixed)
case("surrogate", "probability-rollout", "p is of the sampling engine", changed(PPO, ratio={"against": "rollout"}),
     {"surrogate": BY_PROBABILITY["ppo_clip"]}, mixed)
case("surrogate", "probability-current",
     "p is of the policy itself: nothing is ever clipped, and the gradient is the score's", SCORE,
     {"ratio": {"against": "current"}, "surrogate": BY_PROBABILITY["ppo_clip"]}, likely)


# ---- penalty

def apart(o):
    gaps = ((0.5, -0.25), (-1.5, 0, 0.125), (2, -2))
    return full(o, (2, 1), (2, 3, 2), 141, f_gap=lambda dice, i, t: gaps[i][t], reward=(1, 0, 0.5))


KL_BASE = changed(PPO, ratio={"unit": "sequence_mean"})
for kl in ("k1", "k2", "k3", "abs"):
    for gradient in ("own", "k2"):
        for u in ("none", "token", "unit"):
            for clamp, fields in (("", {}), ("-log", {"kl_clamp_log": 1}), ("-value", {"kl_clamp_value": 0.25})):
                if gradient == "own":
                    base = KL_BASE
                else:
                    if kl == "k2":
                        continue  # its own gradient
                    base = changed(KL_BASE, penalty={"kl": kl, "kl_ratio": u, "kl_coef": 0.5, **fields})
                case("penalty", f"{kl}-{gradient}-{u}{clamp}", "the reference on both sides and equal", base,
                     {"penalty": {"kl": kl, "kl_gradient": gradient, "kl_ratio": u, "kl_coef": 0.5, **fields}}, apart)
K3 = changed(KL_BASE, penalty={"kl": "k3", "kl_coef": 0.5})
case("penalty", "kl_coef", "a larger coefficient", K3, {"penalty": {"kl_coef": 4}}, apart)
case("penalty", "kl_coef-0", "coefficient 0", K3, {"penalty": {"kl_coef": 0}}, apart)
case("penalty", "kl_clamp_log-bound", "D at exactly the bound", K3, {"penalty": {"kl_clamp_log": 0.5}}, apart)
case("penalty", "kl_clamp_value-bound", "K at exactly the bound", changed(K3, penalty={"kl": "k2"}),
     {"penalty": {"kl_clamp_value": 0.125}}, apart)
case("penalty", "both-clamps", "D is bounded, then K", K3, {"penalty": {"kl_clamp_log": 1, "kl_clamp_value": 0.25}}, apart)
case("penalty", "unclamped-ratio", "the token ratio of the penalty has no bound where the surrogate's has",
     changed(K3, ratio={"clamp_low": -0.125, "clamp_high": 0.125}),
     {"penalty": {"kl_ratio": "token"}}, apart)
case("penalty", "unit-gradient-token", "the unit's ratio with the gradient at the token",
     changed(K3, ratio={"gradient": "token"}),
     {"penalty": {"kl_ratio": "unit"}}, apart)
case("penalty", "rollout-ratio", "the ratio of the penalty is against the sampling engine",
     changed(K3, ratio={"against": "rollout"}),
     {"penalty": {"kl_ratio": "token"}}, apart)
for u in ("token", "unit"):
    case("penalty", f"score-{u}", "only the penalty uses a ratio", changed(SCORE, ratio={"unit": "sequence_mean"}),
         {"penalty": {"kl": "k3", "kl_coef": 0.5, "kl_ratio": u}}, apart)

for who in ("old", "rollout"):
    for kl in ("k1", "k2", "k3", "abs"):
        case("penalty", f"{kl}-against-{who}", "the KL to the policy that sampled",
             changed(KL_BASE, penalty={"kl": kl, "kl_coef": 0.5}), {"penalty": {"kl_against": who}}, apart)
    for label, fields in (("straight", {"kl_gradient": "k2"}), ("token", {"kl_ratio": "token"}),
                          ("score", {"kl_ratio": "score"}),
                          ("clamps", {"kl_clamp_log": 0.5, "kl_clamp_value": 0.0625})):
        case("penalty", f"k3-against-{who}-{label}", "the KL to the policy that sampled", changed(K3, penalty=fields),
             {"penalty": {"kl_against": who}}, apart)
case("penalty", "abs-against-old-same", "no gap at some tokens: the derivative of abs is 0 there",
     changed(KL_BASE, penalty={"kl": "abs", "kl_coef": 0.5}), {"penalty": {"kl_against": "old"}},
     lambda o: full(o, (2,), (2, 3), 142, d=lambda dice, i, t: (0, 0.25, -0.5)[t], reward=(1, 0)))
for kl in ("k1", "k2", "k3"):
    case("penalty", f"{kl}-against-old-neginf", "the old policy gives the token probability 0",
         changed(SCORE, penalty={"kl": kl, "kl_coef": 0.5}), {"penalty": {"kl_against": "old"}},
         lambda o: placed(o, 143, (2,), ((1, -0.5), (0.75,)), logp=((-1, -0.5), (-1.25,)),
                          logp_old=((NEG, -1), (-1.5,))))

for kl in ("k1", "k2", "k3", "abs"):
    case("penalty", f"{kl}-own-score", "weight 1 with the score function's gradient",
         changed(KL_BASE, penalty={"kl": kl, "kl_coef": 0.5}), {"penalty": {"kl_ratio": "score"}}, apart)
for label, fields in (("k2", {"kl_gradient": "k2"}), ("log", {"kl_clamp_log": 1}), ("value", {"kl_clamp_value": 0.25})):
    case("penalty", f"k3-score-{label}", "weight 1 with the score function's gradient, K or its gradient changed",
         changed(K3, penalty=fields), {"penalty": {"kl_ratio": "score"}}, apart)
case("penalty", "score-score", "a weight of 1 beside the score function",
     changed(SCORE, penalty={"kl": "k3", "kl_coef": 0.5}), {"penalty": {"kl_ratio": "score"}}, apart)
for u in ("token", "unit"):
    case("penalty", f"kl_ratio_max-{u}", "weights below and above their bound; above it the weight has no gradient",
         changed(K3, penalty={"kl_ratio": u}), {"penalty": {"kl_ratio_max": 1.25}}, every_level)
case("penalty", "kl_ratio_max-none", "the weight of a KL without a ratio is 1, and bounded too", K3,
     {"penalty": {"kl_ratio_max": 0.5}}, apart)
case("penalty", "kl_ratio_max-score", "a weight of 1 above its bound", changed(K3, penalty={"kl_ratio": "score"}),
     {"penalty": {"kl_ratio_max": 0.5}}, apart)
case("penalty", "kl_ratio_max-score-bound", "a weight of 1 at its bound: the derivative passes", K3,
     {"penalty": {"kl_ratio": "score", "kl_ratio_max": 1}}, apart)


def far_up(o):
    return full(o, (3,), (1, 2, 1), 144, d=lambda dice, i, t: ((800,), (-800, 0.25), (-0.5,))[i][t], reward=(1, 0, 0.5),
                f_gap=lambda dice, i, t: -dice.fraction(1 / 64, 0.5, 64))


case("penalty", "kl_ratio_max-far-800", "a weight of e^800, bounded",
     changed(SCORE, penalty={"kl": "k3", "kl_coef": 0.5, "kl_ratio": "token"}),
     {"penalty": {"kl_ratio_max": 2}}, far_up)


def some_selected(o):
    batch = full(o, (2, 1), (3, 2, 2), 145, mask={(0, 1), (2, 1)}, reward=(1, 0, 0.5))
    batch["selected"] = [[True, True, False], [False, False], [True, False]]
    return batch


for label, fields in (("k3", {}), ("abs-old", {"kl": "abs", "kl_against": "old"}), ("unit", {"kl_ratio": "unit"}),
                      ("entropy", {"entropy_coef": 0.25})):
    case("penalty", f"kl_on-{label}", "only selected tokens pay the KL", changed(K3, penalty=fields),
         {"penalty": {"kl_on": "selected"}}, some_selected)


def entropies(o):
    batch = full(o, (2, 2), (3, 2, 1, 4), 146, mask={(0, 1), (3, 0), (3, 3)}, reward=(1, 0, 0.5, 1),
                 b_gap=lambda dice, i, t: dice.signed(0, 1, 8))
    batch["entropy"] = [[0.5, 1.75, 0], [2, 0.125], [1.25], [3, 0.75, 0.25, 1]]
    batch["truncated"] = [False, False, False, True]
    return batch


ENTROPY = changed(KL_BASE, penalty={"entropy_coef": 0.25})
for label, base in (("score", SCORE), ("clip", PPO), ("k3", K3), ("token", changed(K3, penalty={"kl_ratio": "token"})),
                    ("constant-value", changed(K3, penalty={"kl_clamp_value": 0.0078125}))):
    for sign, coef in (("bonus", 0.25), ("malus", -0.125)):
        case("penalty", f"entropy-{label}-{sign}", "entropy is paid back, or paid for; no function of l", base,
             {"penalty": {"entropy_coef": coef}}, entropies)
case("penalty", "entropy_coef", "a larger coefficient", ENTROPY, {"penalty": {"entropy_coef": 2}}, entropies)
case("penalty", "entropy-truncated", "tokens of truncated responses have no entropy", ENTROPY,
     {"weight": {"truncated": "mask"}}, entropies)
for rejected in ("zero_weight", "unmask"):
    case("penalty", f"entropy-{rejected}", "rejected tokens that stay keep their entropy, those that leave do not",
         ENTROPY,
         {"weight": {"correction": "reject", "correction_low": 0.75, "correction_high": 1.5, "rejected": rejected}},
         entropies)
case("penalty", "entropy-none-active", "no token counts: loss 0, and no derivative", SCORE,
     {"penalty": {"entropy_coef": 0.25}},
     lambda o: full(o, (2,), (1, 2), 147, mask={(0, 0), (1, 0), (1, 1)}, reward=(1, 0)))


# ---- weight

def mismatch(o):
    gaps = ((0, 0.5, -0.75), (-1.75, 0.25), (0.0625, 0), (2, -2.25, 0.125))
    return full(o, (2, 2), [len(g) for g in gaps], 151, b_gap=lambda dice, i, t: gaps[i][t], d=lambda dice, i,
                t: dice.signed(0, 0.5, 64),
                reward=(1, 0, 0.5, 1))


def cut_off(o):
    batch = mismatch(o)
    batch["truncated"] = [False, True, False, True]
    return batch


def agreement(o):
    gaps = ((0, 0.25), (0, 0), (-0.25, 0))
    return full(o, (2, 1), [len(g) for g in gaps], 152, b_gap=lambda dice, i, t: gaps[i][t], reward=(1, 0, 0.5))


WEIGHED = changed(PPO, ratio={"unit": "sequence_mean"}, penalty={"kl": "k3", "kl_coef": 0.25},
                  aggregation={"kind": "seq_mean_token_mean"})
for correction in ("truncate", "mask", "reject"):
    for unit in ("token", "sequence_sum", "sequence_mean"):
        for rejected in ("zero_weight", "unmask"):
            if correction == "truncate" and rejected == "unmask":
                continue  # nothing is ever outside
            for clamp in (0, 0.5):
                fields = {"correction": correction, "correction_low": 0.5, "correction_high": 1.5, "correction_unit": unit}
                base = WEIGHED
                if clamp:
                    base = changed(WEIGHED, weight={**fields, "rejected": rejected})
                elif rejected == "unmask":
                    base = changed(WEIGHED, weight=fields)
                case("weight", f"{correction}-{unit}-{rejected}" + ("-clamp" if clamp else ""),
                     "weights of old over rollout below, in and above the band", base,
                     {"weight": {**fields, "correction_clamp": clamp, "rejected": rejected}}, mismatch)
IN_BAND = changed(WEIGHED, weight={"correction": "mask", "correction_low": 0.5, "correction_high": 1.5})
case("weight", "correction_low", "a wider band", IN_BAND, {"weight": {"correction_low": 0.125}}, mismatch)
case("weight", "correction_high", "a wider band", IN_BAND, {"weight": {"correction_high": 8}}, mismatch)
case("weight", "correction_high-inf", "no upper bound", IN_BAND, {"weight": {"correction_high": INF}}, mismatch)
for low, high in ((1, 1.25), (0.75, 1)):
    case("weight", f"bound-{low}-{high}", "a weight of exactly 1 at the bound is inside", WEIGHED,
         {"weight": {"correction": "reject", "correction_low": low, "correction_high": high, "rejected": "unmask"}}, agreement)
case("weight", "truncated", "tokens of truncated responses are not active", WEIGHED, {"weight": {"truncated": "mask"}}, cut_off)
case("weight", "truncated-correction", "truncated responses leave before the weights are made", IN_BAND,
     {"weight": {"truncated": "mask"}}, cut_off)
case("weight", "rollout-ratio", "correction and ratio both read the sampling engine", IN_BAND, {"ratio": {"against": "rollout"}},
     mismatch)

TRUSTED = changed(PPO, surrogate=KINDS["ratio"], penalty={"kl": "k3", "kl_coef": 0.25})  # the penalty stays where M = 0
TRUST = {"one_sided": {"trust_low": 0.2, "trust_high": 0.25},
         "two_sided": {"trust_low": 0.5, "trust_high": 0.5},
         "log_two_sided": {"trust_low": 1, "trust_high": 0.25},
         "probability": {"trust_low": 0.0625, "trust_high": 0.03125},
         "probability_both": {"trust_high": 0.0625},
         "binary_kl": {"trust_low": 0.03125, "trust_high": 0.015625},
         "k2": {"trust_high": 0.0625}}
WITHOUT_LOW = ("probability_both", "k2")
for trust, fields in TRUST.items():
    for unit in ("token", "sequence_mean"):
        case("weight", f"trust-{trust}-{unit}",
             "tokens too far from the old policy are dropped, A of every sign at every level",
             changed(TRUSTED, ratio={"unit": unit}), {"weight": {"trust": trust, **fields}}, every_level)
    base = changed(TRUSTED, weight={"trust": trust, **fields})
    if trust not in WITHOUT_LOW:
        case("weight", f"trust-{trust}-low", "another lower limit", base,
             {"weight": {"trust_low": fields["trust_low"] * 16}}, every_level)
    case("weight", f"trust-{trust}-high", "another upper limit", base,
         {"weight": {"trust_high": fields["trust_high"] * 8}}, every_level)
    for against in ("rollout", "ref"):
        case("weight", f"trust-{trust}-{against}", "too far from the policy that the ratio is against", base,
             {"ratio": {"against": against}}, every_level)
case("weight", "trust-current", "the policy is never far from itself", TRUSTED,
     {"ratio": {"against": "current"}, "weight": {"trust": "two_sided", **TRUST["two_sided"]}}, every_level)
case("weight", "trust-two_sided-high-inf", "no upper limit",
     changed(TRUSTED, weight={"trust": "two_sided", **TRUST["two_sided"]}),
     {"weight": {"trust_high": INF}}, every_level)
case("weight", "trust-sequence_sum", "the ratio of the whole response",
     changed(TRUSTED, ratio={"unit": "sequence_sum"}),
     {"weight": {"trust": "one_sided", **TRUST["one_sided"]}}, every_level)
WITH_PPO = {kind: {**PPO["surrogate"], **KINDS[kind], "kind": kind}
            for kind in ("ppo_clip", "dual_clip", "cispo", "ratio")}
for kind in ("score", "ppo_clip", "dual_clip", "cispo", "squared", "gppo"):
    fields = {"score": only("score"), **WITH_PPO, **NEW_KINDS}[kind]
    for trust in ("two_sided", "probability"):
        case("weight", f"trust-{trust}-{kind}", "a dropped token is no clip of the surrogate as well",
             changed(TRUSTED, surrogate=fields), {"weight": {"trust": trust, **TRUST[trust]}}, every_level)
POOLED = changed(TRUSTED, ratio={"unit": "sequence_clipped_mean", **POOL})
for trust in ("one_sided", "two_sided", "k2"):
    case("weight", f"trust-{trust}-pooled", "a dropped token is no clip of the pool as well", POOLED,
         {"weight": {"trust": trust, **TRUST[trust]}}, every_level)


def on_limits(o):
    d = ((0.5, -0.5, 0.53125), (-0.53125, 0.5, -0.5), (0, 0.25))
    batch = full(o, (2, 1), [len(x) for x in d], 153, d=lambda dice, i, t: d[i][t])
    batch["advantage"] = [[1, -0.5, 0.75], [-1, -0.25, 1], [0.5, -0.75]]
    return batch


for trust, low, high in (("log_two_sided", 0.5, 0.5), ("k2", 0, 0.125), ("two_sided", 1, 0), ("one_sided", 0, 0),
                         ("probability", 0, 0), ("probability_both", 0, 0), ("binary_kl", 0, 0)):
    case("weight", f"trust-{trust}-at-limit", "what is at exactly the limit stays", TRUSTED,
         {"weight": {"trust": trust, "trust_low": low, "trust_high": high}}, on_limits)


def certain(o):
    """Probabilities of 1: under the policy, under the old one, under both; A of both signs."""
    return placed(o, 154, (2, 2), ((1, -0.5), (0.75, -1), (-0.25, 1), (0.5, -0.75)),
                  logp=((0, 0), (-0.5, -0.5), (0, 0), (-0.0009765625, -0.0625)),
                  logp_old=((-0.5, -0.5), (0, 0), (0, 0), (0, -0.0009765625)))


def impossible(o):
    """Probabilities of 0: under the policy, under the old one, under both, and 1 under the other one."""
    return placed(o, 155, (3,), ((1, -0.5), (0.75, 1, 0.5), (1, -0.25, -0.25)),
                  logp=((NEG, NEG), (-0.5, 0, -0.25), (NEG, NEG, NEG)),
                  logp_old=((-0.5, -1), (NEG, NEG, NEG), (NEG, NEG, 0)))


def distant(o):
    """Log-ratios of +-80 and +-800, each beyond a limit."""
    return placed(o, 156, (2, 2), ((1, -0.5), (0.75, -1), (1, 0.5), (-0.25, -1)),
                  logp=((-1, -81), (-0.5, -800.5), (-100, -900), (-81, -0.25)),
                  logp_old=((-81, -1), (-800.5, -0.5), (-900, -0.125), (-80, -80.25)))


for trust, fields in TRUST.items():
    for label, comment, make in (("certain", "probabilities of 1", certain),
                                 ("neginf", "probabilities of 0", impossible),
                                 ("far-800", "log-ratios of +-80 and +-800", distant)):
        case("weight", f"trust-{trust}-{label}", comment, changed(TRUSTED, penalty={"kl": "none", "kl_coef": 0}),
             {"weight": {"trust": trust, **fields}}, make)


def strayed(o):
    """mean(o - l) of the responses: 3/4, 1/8, -3/8, 1/4; mean(b - l): 1/8, 5/8, 1/4, 0; without masked tokens."""
    d = ((-1, -0.5, 2), (-1, 0.75), (0.5, 0.25), (-2, 0.0625, -0.5625))
    moved = ((0.5, -0.25, -2), (0.75, 0.5), (0.125, 0.375), (-1, 0.25, -0.25))
    batch = full(o, (2, 2), [len(x) for x in d], 157, d=lambda dice, i, t: d[i][t], mask={(0, 2), (3, 0)})
    batch["logp"] = like(batch["length"], lambda i, t: batch["logp"][i][t] - 2)
    batch["logp_old"] = like(batch["length"], lambda i, t: batch["logp"][i][t] - d[i][t])
    batch["logp_rollout"] = like(batch["length"], lambda i, t: batch["logp"][i][t] + moved[i][t])
    batch["advantage"] = [[-1, 0.5, 1], [-0.5, -0.75], [-0.25, 1], [-1, -0.5, 0.75]]
    return batch


STALE = {"off_policy": "old", "off_policy_max": 0.25}
for surrogate in ("ratio", "ppo_clip", "cispo"):
    base = changed(TRUSTED, surrogate=WITH_PPO[surrogate])
    for who in ("old", "rollout"):
        case("weight", f"off_policy-{who}-{surrogate}",
             "bad tokens of responses that the policy has left are dropped; at the limit none is",
             base, {"weight": {**STALE, "off_policy": who}}, strayed)
OFF = changed(TRUSTED, weight=STALE)
for limit in (0, 1, -1, INF):
    case("weight", f"off_policy_max-{named(limit)}", "another limit", OFF, {"weight": {"off_policy_max": limit}},
         strayed)
case("weight", "off_policy-score", "the ratio is not used", changed(SCORE, penalty={"kl": "k3", "kl_coef": 0.25}),
     {"weight": STALE}, strayed)
case("weight", "off_policy-sequence_mean", "one ratio for the response, some of its tokens dropped",
     changed(TRUSTED, ratio={"unit": "sequence_mean"}), {"weight": STALE}, strayed)
case("weight", "off_policy-pooled", "a dropped token is no clip of the pool as well", POOLED, {"weight": STALE},
     strayed)
case("weight", "off_policy-unmask", "the mean is over the tokens that rejection leaves",
     changed(OFF, weight={"correction": "reject", "correction_low": 0.25, "correction_high": 2}),
     {"weight": {"rejected": "unmask"}}, strayed)


def left_alone(o):
    """Infinite moves: o - l = K, -K, and K - K."""
    return placed(o, 158, (3,), ((-1, 0.5), (-0.5, -1), (-0.75, -0.25)), logp=((NEG, -1), (-1, -0.5), (NEG, -1)),
                  logp_old=((-0.5, -1.5), (NEG, -0.75), (-1, NEG)))


case("weight", "off_policy-neginf", "infinite moves away, towards, and both", changed(PPO, surrogate=KINDS["cispo"]),
     {"weight": STALE}, left_alone)


def chosen(o):
    batch = every_level(o)
    batch["selected"] = [[True, False, True], [False, True, False], [True, True, False], [False, False, False],
                         [True, True, True]]
    return batch


for selected in ("keep", "drop"):
    for unit in ("token", "sequence_mean"):
        case("weight", f"selected-{selected}-{unit}", "selected tokens are kept, or dropped",
             changed(TRUSTED, ratio={"unit": unit}), {"weight": {"selected": selected}}, chosen)
    case("weight", f"selected-{selected}-ppo_clip", "a token that is not chosen is no clip of its own",
         changed(PPO, penalty={"kl": "k3", "kl_coef": 0.25}), {"weight": {"selected": selected}}, chosen)
    case("weight", f"selected-{selected}-squared", "tokens without advantage are kept or dropped too",
         changed(PPO, surrogate=NEW_KINDS["squared"]), {"weight": {"selected": selected}}, chosen)
    case("weight", f"selected-{selected}-everything", "with trust and off-policy masking",
         changed(OFF, weight={"trust": "one_sided", **TRUST["one_sided"]}), {"weight": {"selected": selected}}, chosen)


def none_chosen(o):
    batch = every_level(o)
    batch["selected"] = like(batch["length"], lambda i, t: False)
    return batch


case("weight", "selected-none", "nothing is selected: only the penalty is left, the divisors stay", TRUSTED,
     {"weight": {"selected": "keep"}}, none_chosen)


REJECT = {"ratio": {"reject_low": 0.5, "reject_high": 1.5}, "k2": {"reject_low": 0, "reject_high": 0.5},
          "k3": {"reject_low": 0, "reject_high": 0.5}, "probability": {"reject_low": -0.015625, "reject_high": 0.0625}}
for reject, fields in REJECT.items():
    for unit in ("token", "sequence_sum", "sequence_mean", "sequence_max"):
        whole = {"reject": reject, "reject_unit": unit, **fields}
        for rejected in ("zero_weight", "unmask"):
            base = changed(WEIGHED, weight=whole) if rejected == "unmask" else WEIGHED
            case("weight", f"reject-{reject}-{unit}-{rejected}", "old against rollout below, in and above the bounds",
                 base, {"weight": {**whole, "rejected": rejected}}, mismatch)
    summed = {"reject": reject, "reject_unit": "sequence_sum", **fields}
    case("weight", f"reject-{reject}-clamp", "log-ratios are bounded before, probabilities are not",
         WEIGHED if reject == "probability" else changed(WEIGHED, weight=summed),
         {"weight": {**summed, "correction_clamp": 0.0625}}, mismatch)
    within = changed(WEIGHED, weight={"reject": reject, **fields, "rejected": "unmask"})
    case("weight", f"reject-{reject}-low", "another lower bound", within,
         {"weight": {"reject_low": {"ratio": 0.125, "probability": -0.0625}.get(reject, 0.0078125)}}, mismatch)
    case("weight", f"reject-{reject}-high", "another upper bound", within,
         {"weight": {"reject_high": {"ratio": INF, "probability": 0.125}.get(reject, 8)}}, mismatch)
    for correction in ("truncate", "mask", "reject") if reject in ("ratio", "probability") else ("mask",):
        for rejected in ("zero_weight", "unmask"):
            band = {"correction": correction, "correction_low": 0.75, "correction_high": 1.25, "rejected": rejected}
            case("weight", f"reject-{reject}-{correction}-{rejected}",
                 "a rejection beside a correction: outside of either",
                 changed(WEIGHED, weight=band), {"weight": {"reject": reject, "reject_unit": "sequence_max", **fields}},
                 mismatch)
for reject, low, high in (("ratio", 1, 1.25), ("ratio", 0.75, 1), ("k2", 0, 0), ("k3", 0, 0), ("probability", 0, 0)):
    case("weight", f"reject-{reject}-bound-{low}-{high}", "what is at exactly a bound is inside", WEIGHED,
         {"weight": {"reject": reject, "reject_low": low, "reject_high": high, "rejected": "unmask"}}, agreement)
for rejected in ("zero_weight", "unmask"):
    case("weight", f"reject-all-{rejected}", "everything is rejected", WEIGHED,
         {"weight": {"reject": "ratio", "reject_low": 50, "reject_high": 60, "rejected": rejected}}, mismatch)
    for correction in ("none", "truncate"):
        case("weight", f"veto-{correction}-{rejected}",
             "a response with a token that the old policy would hardly have sampled goes",
             changed(WEIGHED, weight={"correction": correction, "correction_high": 1.5}),
             {"weight": {"veto": 0.25, "rejected": rejected}}, mismatch)
    case("weight", f"veto-reject-{rejected}", "rejected tokens, and a vetoed response",
         changed(WEIGHED, weight={"reject": "k2", "reject_high": 1, "rejected": rejected}),
         {"weight": {"veto": 0.5625}}, mismatch)
VETO = changed(WEIGHED, weight={"veto": 0.25, "rejected": "unmask"})
case("weight", "veto", "a stricter one", VETO, {"weight": {"veto": 0.75}}, mismatch)
case("weight", "veto-clamp", "the log-ratio is bounded before: nothing is vetoed", VETO,
     {"weight": {"correction_clamp": 0.5}}, mismatch)
case("weight", "veto-bound", "a weight of exactly the veto stays", changed(WEIGHED, weight={"rejected": "unmask"}),
     {"weight": {"veto": 1}}, agreement)
case("weight", "reject-truncated", "truncated responses leave before, and are not counted",
     changed(WEIGHED, weight={"reject": "ratio", **REJECT["ratio"], "rejected": "unmask"}),
     {"weight": {"truncated": "mask"}}, cut_off)
case("weight", "reject-masked", "masked tokens are in no sum",
     changed(WEIGHED, weight={"reject": "k3", "reject_unit": "sequence_mean", "reject_high": 0.5}),
     {"weight": {"rejected": "unmask"}},
     lambda o: {**mismatch(o), "mask": [[True, True, False], [False, True], [True, True], [True, False, True]]})


def engine_never(o):
    """Probability 0 under the old policy, under the sampling engine, under both, and pairs that cancel."""
    return placed(o, 159, (2, 2, 1), ((1, -0.5), (0.5, 0.25), (-0.25, 1), (0.75, -1), (0.5, -0.5)),
                  logp=((-1, -0.5), (-0.75, -1), (-1.25, -0.5), (-0.5, -0.25), (-1, -1)),
                  logp_old=((NEG, -1), (-0.5, -1), (NEG, -0.75), (NEG, -0.5), (-1, -0.75)),
                  logp_rollout=((-1, -1), (NEG, -1.25), (NEG, -0.5), (-0.5, NEG), (-1.25, -0.75)))


for reject, fields in REJECT.items():
    for unit in ("token", "sequence_sum", "sequence_max"):
        case("weight", f"reject-{reject}-{unit}-neginf", "probabilities of 0, and pairs that cancel", SCORE,
             {"weight": {"reject": reject, "reject_unit": unit, **fields, "rejected": "unmask"}}, engine_never)
case("weight", "veto-neginf", "probabilities of 0 under the old policy", SCORE,
     {"weight": {"veto": 0.0078125, "rejected": "unmask"}}, engine_never)


# ---- aggregation

def empties(o):
    return full(o, (2, 3, 1), (3, 2, 1, 2, 4, 2), 161, mask={(1, 0), (1, 1), (4, 2), (5, 0), (5, 1)},
                reward=(1, 0, 0.5, -0.5, 1, 1))


AGGREGATED = changed(PPO, advantage={"baseline": "none"})
for kind in ("token_sum", "token_mean", "seq_mean_token_mean", "seq_mean_token_sum", "seq_mean_constant", "constant",
             "group_mean_token_mean"):
    constant = 6 if "constant" in kind else 0
    for empty in ("count", "skip"):
        if empty == "skip" and kind in ("token_sum", "token_mean", "constant"):
            continue  # nothing to skip
        base = changed(AGGREGATED, aggregation={"kind": "token_sum" if kind != "token_sum" else "token_mean"})
        if empty == "skip":
            base = changed(AGGREGATED, aggregation={"kind": kind, "constant": constant})
        case("aggregation", f"{kind}-{empty}", "responses of different length, one without active tokens, a group without any",
             base,
             {"aggregation": {"kind": kind, "constant": constant, "empty": empty}}, empties)
for constant in (0.5, 3000):
    case("aggregation", f"constant-{constant}", "another constant",
         changed(AGGREGATED, aggregation={"kind": "constant", "constant": 6}),
         {"aggregation": {"constant": constant}}, empties)
for empty in ("count", "skip"):
    for power in (0.5, 0, 1, -1, 2):
        fields = {"kind": "seq_mean_length_power", "power": power, "empty": empty}
        case("aggregation", f"seq_mean_length_power-{power}-{empty}",
             "a power of the length beside the mean over responses",
             changed(AGGREGATED, aggregation={**fields, "power": 0.25}), {"aggregation": fields}, empties)
    case("aggregation", f"seq_sum_token_mean-{empty}", "token means, added up", AGGREGATED,
         {"aggregation": {"kind": "seq_sum_token_mean", "empty": empty}}, empties)
case("aggregation", "seq_mean_length_power-skip", "responses without tokens do not count",
     changed(AGGREGATED, aggregation={"kind": "seq_mean_length_power", "power": 0.75}),
     {"aggregation": {"empty": "skip"}}, empties)
for kind in ("token_sum", "token_mean", "seq_mean_token_mean", "seq_mean_token_sum", "seq_mean_constant", "constant",
             "group_mean_token_mean", "seq_mean_length_power", "seq_sum_token_mean"):
    case("penalty", f"entropy-{kind}", "the entropy is divided as the loss is",
         changed(AGGREGATED, aggregation={"kind": kind, "constant": 6 if "constant" in kind else 0,
                                          "power": 0.5 if "power" in kind else 0}),
         {"penalty": {"entropy_coef": 0.25}}, empties)
case("aggregation", "process", "responses weighted by group, with step credit", objective("grpo-process"),
     {"aggregation": {"kind": "group_mean_token_mean"}}, stepped)

AXES = ("reward", "advantage", "ratio", "surrogate", "penalty", "weight", "aggregation",
        "group", "own", "steps", "shaping", "units", "factors", "scores", "credit", "found")  # the last nine: of several axes
CASES += choices_reward.CASES + choices_advantage.CASES + choices_token.CASES + choices_group.CASES
CASES += choices_scores.CASES + choices_credit.CASES + choices_steps.CASES + choices_shaping.CASES + choices_units.CASES + choices_factors.CASES
CASES += choices_found.CASES + choices_late.CASES


def case_of(axis, label, **axes):
    """(objective with further changes, its batch with every array)"""
    for where, name, _, base, changes, make in CASES:
        if (where, name) == (axis, label):
            o = changed(base, **changes)
            batch = make(o)
            batch.pop("more")
            return changed(o, **axes), batch
    raise KeyError((axis, label))
