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
            case(f"{unit}-{gradient}-{kind}",
                 f"surrogate {kind} with ratio level {unit}, gradient {gradient}, advantages that differ inside a response", base,
                 {"ratio": {"level": unit, "gradient": gradient, **pool}}, mixed)
    against = changed(PPO, ratio={"level": unit, **pool})
    case(f"rollout-{unit}", f"importance ratio of policy over rollout policy instead of old policy, level {unit}",
         against, {"ratio": {"behaviour": "rollout"}}, bands)
CLAMPED = changed(PPO, surrogate=KINDS["ratio"])
case("clamp", "log-ratios clamped to -0.5..0.5: derivative 0 beyond the bounds, 1 exactly at a bound", CLAMPED,
     {"ratio": {"clamp_low": -0.5, "clamp_high": 0.5}}, mixed)
case("clamp_low", "log-ratios clamped from below only, at -0.5; the upper bound is infinite",
     CLAMPED, {"ratio": {"clamp_low": -0.5, "clamp_high": INF}}, mixed)
case("clamp_high", "log-ratios clamped from above only, at 0.5; the lower bound is -infinite",
     CLAMPED, {"ratio": {"clamp_low": MINUS_INF, "clamp_high": 0.5}}, mixed)
case("clamp-within-the-clip", "log-ratios are clamped before the PPO clip binds: nothing is clipped, the clamp's derivative is 0 beyond it",
     changed(PPO, surrogate={"eps_low": 0.75, "eps_high": 1}),
     {"ratio": {"clamp_low": -0.625, "clamp_high": 0.625}}, mixed)
case("clamp-beyond-the-clip", "log-ratio clamp outside the PPO clip: gradient 0 beyond the clamp also where PPO does not clip", PPO,
     {"ratio": {"clamp_low": -0.625, "clamp_high": 0.625}}, mixed)
case("clamp-mean", "token log-ratios are clamped before their mean over the response is taken, not after",
     changed(CLAMPED, ratio={"level": "sequence_mean"}),
     {"ratio": {"clamp_low": -0.5, "clamp_high": 0.5}}, mixed)
case("clamp-mean-token", "level sequence_mean, gradient token: a token whose log-ratio is clamped has gradient 0, others keep theirs",
     changed(CLAMPED, ratio={"level": "sequence_mean", "gradient": "token"}),
     {"ratio": {"clamp_low": -0.5, "clamp_high": 0.5}}, mixed)
for gradient in ("full", "token"):
    MEAN = changed(CLAMPED, ratio={"level": "sequence_mean", "gradient": gradient})
    case(f"unit_clamp-{gradient}",
         f"the response's mean log-ratio clamped to -0.5..0.5, means at and beyond both bounds; gradient {gradient}", MEAN,
         {"ratio": {"level_clamp_low": -0.5, "level_clamp_high": 0.5}}, unit_bound)
    case(f"level_clamp_low-{gradient}", f"the response's mean log-ratio clamped from below only, at -0.5; gradient {gradient}", MEAN,
         {"ratio": {"level_clamp_low": -0.5, "level_clamp_high": INF}}, unit_bound)
    case(f"level_clamp_high-{gradient}", f"the response's mean log-ratio clamped from above only, at 0.5; gradient {gradient}", MEAN,
         {"ratio": {"level_clamp_low": MINUS_INF, "level_clamp_high": 0.5}}, unit_bound)
case("unit_clamp-one-side-of-0", "the response's mean log-ratio clamped to 0.125..0.5, both bounds above 0: negative means become 0.125",
     changed(CLAMPED, ratio={"level": "sequence_mean"}),
     {"ratio": {"level_clamp_low": 0.125, "level_clamp_high": 0.5}}, unit_bound)
case("unit_clamp-tokens", "level token: level_clamp bounds each token's log-ratio, as clamp_low and clamp_high would", CLAMPED,
     {"ratio": {"level_clamp_low": -0.25, "level_clamp_high": 0.5}}, mixed)
GM = changed(CLAMPED, ratio={"level": "sequence_clipped_mean", **POOL})
case("token_clip_low", "GMPO: token log-ratios are clipped at -1 instead of -0.5 where A < 0, before the mean",
     GM, {"ratio": {"token_clip_low": 1}}, mixed)
case("token_clip_high", "GMPO: token log-ratios are clipped at 0.25 instead of 0.5 where A >= 0, before the mean",
     GM, {"ratio": {"token_clip_high": 0.25}}, mixed)

for unit in UNITS:
    pool = POOL if unit == "sequence_clipped_mean" else {}
    against = changed(PPO, ratio={"level": unit, **pool})
    case(f"ref-{unit}", f"importance ratio of policy over reference instead of old policy, level {unit}",
         against, {"ratio": {"behaviour": "ref"}}, mixed)
    case(f"current-{unit}", f"ratio of the policy over itself, level {unit}: value exactly 1, gradient that of log-probabilities", against,
         {"ratio": {"behaviour": "current"}}, mixed)
for kind in ("ratio", "sapo", "vespo"):
    case(f"current-{kind}", f"ratio of the policy over itself in surrogate {kind}: value exactly 1, gradient that of log-probabilities",
         changed(PPO, surrogate=KINDS[kind]),
         {"ratio": {"behaviour": "current"}}, mixed)
for against in ("ref", "current"):
    case(f"{against}-gradient-token",
         f"behaviour {against}, level sequence_mean: the ratio is the response's, each token has only its own gradient",
         changed(CLAMPED, ratio={"level": "sequence_mean", "gradient": "token"}), {"ratio": {"behaviour": against}}, mixed)
    case(f"{against}-clamp", f"behaviour {against}, log-ratios clamped to 0.125..0.5: a log-ratio of 0 is below the bound, its gradient 0",
         changed(CLAMPED, ratio={"clamp_low": 0.125, "clamp_high": 0.5}), {"ratio": {"behaviour": against}}, mixed)
case("current-clamp-bound", "ratio of the policy over itself, clamped to 0..0.5: 0 is exactly the lower bound, so the gradient passes",
     changed(CLAMPED, ratio={"clamp_low": 0, "clamp_high": 0.5}), {"ratio": {"behaviour": "current"}}, mixed)
case("ref-both", "the same reference is the ratio's denominator and that of the k3 KL penalty",
     changed(CLAMPED, penalty={"kl": "k3", "kl_coef": 0.25}),
     {"ratio": {"behaviour": "ref"}}, mixed)


def ref_never(o):
    return placed(o, 123, (2, 1), ((1, -0.5), (1,), (0.75,)), logp=((-1, NEG), (-0.75,), (NEG,)),
                  logp_ref=((-1.5, -2), (NEG,), (NEG,)))


case("ref-neginf", "ratio over the reference: probability 0 under the policy, under the reference, and under both (ratio 1)", PPO,
     {"ratio": {"behaviour": "ref"}}, ref_never)
case("current-neginf", "ratio of the policy over itself at a token of probability 0: -inf minus -inf counts as 0, the ratio is 1",
     PPO, {"ratio": {"behaviour": "current"}},
     ref_never)
