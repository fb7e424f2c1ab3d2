"""The files choices-<axis>: an objective that is plain on the other axes, and one choice changed at a time.

Every name and every number of the contract changes an answer in at least one of these cases (self_check.py asserts it).
"""
from objectives import INF, MINUS_INF, changed, objective, plain
from scenarios import full, like

CASES = []  # (axis, label, comment, base, {axis: {field: value}}, make)


def case(axis, label, comment, base, changes, make):
    CASES.append((axis, label, comment, base, changes, make))


def named(value):
    return str(value).replace("Infinity", "inf")


# ---- bases

PPO = changed(plain(), advantage={"baseline": "group_mean"}, surrogate={"kind": "ppo_clip", "eps_low": 0.2, "eps_high": 0.2},
              aggregation={"kind": "token_mean"})
SCORE = changed(plain(), advantage={"baseline": "group_mean"}, aggregation={"kind": "token_mean"})


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
case("aggregation", "process", "responses weighted by group, with step credit", objective("grpo-process"),
     {"aggregation": {"kind": "group_mean_token_mean"}}, stepped)

AXES = ("reward", "advantage", "ratio", "surrogate", "penalty", "weight", "aggregation")
