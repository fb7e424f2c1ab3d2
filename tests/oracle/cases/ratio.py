"""The ratio: denominators, units, bounds."""
from cases.table import cases_of
from cases.bases import NEG, PPO
from objectives import INF, MINUS_INF, changed
from scenarios import full, like, placed

case = cases_of("choices-ratio")


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
POOL = {"token_clip_low": 0.5, "token_clip_high": 0.5}
KINDS = {"ratio": {"kind": "ratio", "eps_low": 0, "eps_high": 0}, "ppo_clip": {},
         "dual_clip": {"kind": "dual_clip", "clip_dual": 1.5},
         "sapo": {"kind": "sapo", "eps_low": 0, "eps_high": 0, "tau_pos": 1, "tau_neg": 1.5},
         "cispo": {"kind": "cispo", "eps_low": 0, "eps_high": 0, "weight_min": 0.75, "weight_max": 1.25},
         "vespo": {"kind": "vespo", "eps_low": 0, "eps_high": 0, "vespo_k_pos": 2, "vespo_lambda_pos": 3, "vespo_k_neg": 3,
                   "vespo_lambda_neg": 2}}
for unit in UNITS:
    pool = POOL if unit == "sequence_clipped_mean" else {}
    for gradient in ("full", "token"):
        for kind in ("ratio", "ppo_clip", "sapo", "cispo", "vespo"):
            if gradient == "token" and (unit == "token" or kind in ("cispo", "vespo")):
                continue  # the same numbers as gradient unit
            base = changed(PPO, surrogate=KINDS[kind])
            if unit == "token":
                base = changed(base, ratio={"level": "sequence_mean"})
            if gradient == "token":
                base = changed(base, ratio={"level": unit, **pool})
            case(f"{unit}-{gradient}-{kind}", "advantages that differ inside a response", base,
                 {"ratio": {"level": unit, "gradient": gradient, **pool}}, mixed)
    against = changed(PPO, ratio={"level": unit, **pool})
    case(f"rollout-{unit}", "ratio against the sampling engine", against, {"ratio": {"behaviour": "rollout"}}, bands)
CLAMPED = changed(PPO, surrogate=KINDS["ratio"])
case("clamp", "log-ratios at and beyond both bounds; the derivative passes at a bound", CLAMPED,
     {"ratio": {"clamp_low": -0.5, "clamp_high": 0.5}}, mixed)
case("clamp_low", "only a lower bound", CLAMPED, {"ratio": {"clamp_low": -0.5, "clamp_high": INF}}, mixed)
case("clamp_high", "only an upper bound", CLAMPED, {"ratio": {"clamp_low": MINUS_INF, "clamp_high": 0.5}}, mixed)
case("clamp-within-the-clip", "clamped to within the clip's bounds: no clip, and no derivative",
     changed(PPO, surrogate={"eps_low": 0.75, "eps_high": 1}),
     {"ratio": {"clamp_low": -0.625, "clamp_high": 0.625}}, mixed)
case("clamp-beyond-the-clip", "a clamp that clipped tokens meet, and some that are not clipped", PPO,
     {"ratio": {"clamp_low": -0.625, "clamp_high": 0.625}}, mixed)
case("clamp-mean", "the bound comes before the mean", changed(CLAMPED, ratio={"level": "sequence_mean"}),
     {"ratio": {"clamp_low": -0.5, "clamp_high": 0.5}}, mixed)
case("clamp-mean-token", "a bound cuts the token's own gradient",
     changed(CLAMPED, ratio={"level": "sequence_mean", "gradient": "token"}),
     {"ratio": {"clamp_low": -0.5, "clamp_high": 0.5}}, mixed)
for gradient in ("full", "token"):
    MEAN = changed(CLAMPED, ratio={"level": "sequence_mean", "gradient": gradient})
    case(f"unit_clamp-{gradient}", "units at and beyond both bounds", MEAN,
         {"ratio": {"level_clamp_low": -0.5, "level_clamp_high": 0.5}}, unit_bound)
    case(f"level_clamp_low-{gradient}", "only a lower bound", MEAN,
         {"ratio": {"level_clamp_low": -0.5, "level_clamp_high": INF}}, unit_bound)
    case(f"level_clamp_high-{gradient}", "only an upper bound", MEAN,
         {"ratio": {"level_clamp_low": MINUS_INF, "level_clamp_high": 0.5}}, unit_bound)
case("unit_clamp-one-side-of-0", "both bounds above 0", changed(CLAMPED, ratio={"level": "sequence_mean"}),
     {"ratio": {"level_clamp_low": 0.125, "level_clamp_high": 0.5}}, unit_bound)
case("unit_clamp-tokens", "the bound of the unit when the unit is the token", CLAMPED,
     {"ratio": {"level_clamp_low": -0.25, "level_clamp_high": 0.5}}, mixed)
GM = changed(CLAMPED, ratio={"level": "sequence_clipped_mean", **POOL})
case("token_clip_low", "a wider lower clip", GM, {"ratio": {"token_clip_low": 1}}, mixed)
case("token_clip_high", "a narrower upper clip", GM, {"ratio": {"token_clip_high": 0.25}}, mixed)

for unit in UNITS:
    pool = POOL if unit == "sequence_clipped_mean" else {}
    against = changed(PPO, ratio={"level": unit, **pool})
    case(f"ref-{unit}", "ratio against the reference", against, {"ratio": {"behaviour": "ref"}}, mixed)
    case(f"current-{unit}", "ratio against the policy itself: 1, with the score function's gradient", against,
         {"ratio": {"behaviour": "current"}}, mixed)
for kind in ("ratio", "sapo", "vespo"):
    case(f"current-{kind}", "ratio 1 of another surrogate", changed(PPO, surrogate=KINDS[kind]),
         {"ratio": {"behaviour": "current"}}, mixed)
for against in ("ref", "current"):
    case(f"{against}-gradient-token", "the mean over the response, with the gradient at the token",
         changed(CLAMPED, ratio={"level": "sequence_mean", "gradient": "token"}), {"ratio": {"behaviour": against}}, mixed)
    case(f"{against}-clamp", "0 is below the lower bound",
         changed(CLAMPED, ratio={"clamp_low": 0.125, "clamp_high": 0.5}), {"ratio": {"behaviour": against}}, mixed)
case("current-clamp-bound", "0 is at the lower bound: the derivative passes",
     changed(CLAMPED, ratio={"clamp_low": 0, "clamp_high": 0.5}), {"ratio": {"behaviour": "current"}}, mixed)
case("ref-both", "ratio and KL against the reference", changed(CLAMPED, penalty={"kl": "k3", "kl_coef": 0.25}),
     {"ratio": {"behaviour": "ref"}}, mixed)


def ref_never(o):
    return placed(o, 123, (2, 1), ((1, -0.5), (1,), (0.75,)), logp=((-1, NEG), (-0.75,), (NEG,)),
                  logp_ref=((-1.5, -2), (NEG,), (NEG,)))


case("ref-neginf", "probabilities of 0 under the policy, the reference and both", PPO,
     {"ratio": {"behaviour": "ref"}}, ref_never)
case("current-neginf", "-inf minus -inf is 0: the ratio is 1", PPO, {"ratio": {"behaviour": "current"}},
     ref_never)
