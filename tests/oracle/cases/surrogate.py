"""The surrogate: kinds of one token or unit, at every level of the ratio for both signs of A; bounds by probability."""
from cases.table import cases_of
from cases.bases import FAR_80, FAR_800_BAD, FAR_800_GOOD, NEG, NEVER, PPO, SCORE, far_pair, named, never_sampled
from cases.ratio import KINDS, mixed
from objectives import INF, changed
from scenarios import full, like, placed

case = cases_of("choices-surrogate")


# ---- surrogate

def every_side(o):
    d = ((-2, 0.0625, 2), (2, -0.0625, -2, 1.25), (2, -2, 0.125), (0.03125, 1.5), (0.5, -0.5))
    a = ((1, 0.5, -0.75), (1.25, -1, 0, -0.25), (0, -0.5, -1.5), (-0.25, -1), (1, 0.75))
    batch = full(o, (2, 3), [len(x) for x in d], 131, d=lambda dice, i, t: d[i][t])
    batch["advantage"] = [list(x) for x in a]
    return batch


for kind in ("ratio", "dual_clip", "cispo", "sapo", "vespo"):
    case(kind, "another surrogate", PPO, {"surrogate": KINDS[kind]}, every_side)
case("ppo_clip", "the clipped surrogate", SCORE, {"surrogate": PPO["surrogate"]}, every_side)
case("reinforce", "the score function: the ratio is not used", PPO,
     {"surrogate": {"kind": "reinforce", "eps_low": 0, "eps_high": 0}}, every_side)
for kind, field, value in (("ppo_clip", "eps_low", 0.05), ("ppo_clip", "eps_high", 1),
                           ("dual_clip", "eps_low", 0.05), ("dual_clip", "eps_high", 0.25), ("dual_clip", "clip_dual", 4),
                           ("cispo", "weight_min", 0.25), ("cispo", "weight_max", 3),
                           ("cispo", "weight_max", INF), ("sapo", "tau_pos", 2), ("sapo", "tau_neg", 0.5),
                           ("vespo", "vespo_k_pos", 1), ("vespo", "vespo_lambda_pos", 1), ("vespo", "vespo_k_neg", 1),
                           ("vespo", "vespo_lambda_neg", 1)):
    case(f"{kind}-{field}-{named(value)}", "one number changed", changed(PPO, surrogate=KINDS[kind]),
         {"surrogate": {field: value}}, every_side)

LEVELS = (-2, -0.125, 0.125, 0.5, 2)  # log-ratios far below, inside of and above the usual bounds, and around dual


def every_level(o):
    """A > 0, A < 0 and A = 0 at each level; the log-ratios of a response's tokens differ, their mean is the level."""
    a = ((1.25, -0.75, 0), (-1, 0, 0.5), (0, 1, -0.5), (-1.25, 0.75, 0), (1, 0, -0.25))
    batch = full(o, (2, 3), [3] * 5, 132, d=lambda dice, i, t: LEVELS[i] + (0, 1, -1)[t] / 32)
    batch["advantage"] = [list(x) for x in a]
    return batch


def only(kind, **fields):
    return {"kind": kind, "eps_low": 0, "eps_high": 0, **fields}


NEW_KINDS = {
    "log_ratio": only("log_ratio"),
    "squared": only("squared", beta=0.5),
    "gppo": only("gppo", eps_low=0.2, eps_high=0.28, gppo_beta_low=0.75, gppo_beta_high=1.25),
    "gppo-dual": only("gppo", eps_low=0.2, eps_high=0.28, gppo_beta_low=1, gppo_beta_high=1, clip_dual=3),
    "aspo": only("aspo", eps_low=0.2, eps_high=0.25),
    "aspo-dual": only("aspo", eps_low=0.2, eps_high=0.25, clip_dual=3, clip_dual_pos=2),
    "topr": only("topr", weight_min=0, weight_max=1),
    "masked_weight": only("masked_weight", weight_min=0.5, weight_max=5),
    "sapo_detached": only("sapo_detached", tau_pos=1, tau_neg=1.5)}
DETACHED = ("topr", "masked_weight", "sapo_detached")  # kinds that differentiate l only: the gradient of the ratio does not matter
for name, kind in NEW_KINDS.items():
    case(name, "another surrogate, A of every sign at every level of the ratio", PPO, {"surrogate": kind},
         every_level)
    for unit in ("sequence_mean", "sequence_sum"):
        case(f"{name}-{unit}", "one ratio for the response", changed(PPO, ratio={"level": unit}),
             {"surrogate": kind}, every_level)
    if name not in DETACHED:
        case(f"{name}-sequence_mean-token", "one ratio for the response, its gradient at the token",
             changed(PPO, ratio={"level": "sequence_mean", "gradient": "token"}), {"surrogate": kind}, every_level)
    case(f"{name}-far-80", "log-ratios of +-80 for A of both signs", PPO, {"surrogate": kind}, FAR_80)
    case(f"{name}-far-800-good", "log-ratio +800 where A > 0, -800 where A < 0", PPO, {"surrogate": kind},
         FAR_800_GOOD)
    if name == "aspo":  # infinite for A of either sign
        case("aspo-far-800-low", "log-ratio -800 where A > 0", PPO, {"surrogate": kind},
             far_pair((-800, -800, 0.25), (1, -0.5, 0.5), 177))
        case("aspo-far-800-high", "log-ratio 800 where A < 0", PPO, {"surrogate": kind},
             far_pair((800, 800, 0.25), (1, -0.5, 0.5), 178))
    else:
        case(f"{name}-far-800-bad", "log-ratio -800 where A > 0, +800 where A < 0", PPO,
             {"surrogate": kind}, FAR_800_BAD)
    for who, logps in NEVER.items():
        for side, a in (("good", 1), ("bad", -0.5)):
            if (name, who, side) in (("squared", "policy", "bad"), ("squared", "old", "good")):
                continue  # the size does not express that the square of a finite and an infinite part is defined
            case(f"{name}-neginf-{who}-{side}", f"a token of probability 0: under {who}", SCORE,
                 {"surrogate": kind}, never_sampled(*logps, a))

for name, field, value in (("squared", "beta", -0.5), ("squared", "beta", 0), ("squared", "beta", 4),
                           ("gppo", "gppo_beta_low", 0), ("gppo", "gppo_beta_high", 0), ("gppo", "eps_low", 0.05),
                           ("gppo", "eps_high", 1), ("gppo", "clip_dual", 3), ("gppo-dual", "clip_dual", 1.5),
                           ("aspo", "eps_low", 0.05), ("aspo", "eps_high", 1), ("aspo", "clip_dual", 3),
                           ("aspo", "clip_dual_pos", 3), ("aspo-dual", "clip_dual", 1.5), ("aspo-dual", "clip_dual_pos", 4),
                           ("topr", "weight_min", 0.25), ("topr", "weight_max", 3), ("topr", "weight_max", INF),
                           ("masked_weight", "weight_min", 0), ("masked_weight", "weight_max", 1.5), ("masked_weight", "weight_max", INF),
                           ("sapo_detached", "tau_pos", 2), ("sapo_detached", "tau_neg", 0.5)):
    case(f"{name}-{field}-{named(value)}", "one number changed", changed(PPO, surrogate=NEW_KINDS[name]),
         {"surrogate": {field: value}}, every_level)


def good_only(o):
    batch = every_level(o)
    batch["advantage"] = like(batch["length"], lambda i, t: (i + t + 1) / 8)
    return batch


case("topr-good", "every A > 0: the score function", PPO, {"surrogate": NEW_KINDS["topr"]}, good_only)


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


case("squared-cancels",
     "A and k y cancel, in whole or nearly: the size is theirs, not that of what is left", PPO,
     {"surrogate": NEW_KINDS["squared"]}, nearly)
case("squared-cancels-sum", "A and k y of a response cancel", changed(PPO, ratio={"level": "sequence_sum"}),
     {"surrogate": NEW_KINDS["squared"]}, nearly_unit)
case("squared-clamped", "beyond the bound y is a number: a value, no gradient",
     changed(PPO, ratio={"clamp_low": -0.5, "clamp_high": 0.5}), {"surrogate": NEW_KINDS["squared"]}, every_level)
case("gppo-clamped", "a ratio that is clamped and clipped has no gradient",
     changed(PPO, ratio={"clamp_low": -0.5, "clamp_high": 0.5}), {"surrogate": NEW_KINDS["gppo"]}, every_level)
case("squared-current", "against the policy itself: A^2, and the gradient of -2 k A l",
     changed(PPO, ratio={"behaviour": "current"}), {"surrogate": NEW_KINDS["squared"]}, every_level)
case("log_ratio-pooled", "log-ratios clipped before their mean",
     changed(PPO, ratio={"level": "sequence_clipped_mean", "token_clip_low": 0.5, "token_clip_high": 0.25}),
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
                                    clip_dual=4),
                  "gppo": only("gppo", bounds="probability", eps_low=0.16, eps_high=0.2, bound_cap=10, gppo_beta_low=0.75,
                               gppo_beta_high=0.5)}
for kind, fields in BY_PROBABILITY.items():
    fixed = changed(PPO, surrogate={**fields, "bounds": "fixed", "bound_cap": 0})
    for label, comment, make in (("likely", "bounds from probabilities near 1", likely),
                                 ("unlikely", "bounds from probabilities near 0", unlikely),
                                 ("far", "bounds from a probability of e^-800", hardly)):
        case(f"probability-{kind}-{label}", comment, fixed, {"surrogate": fields}, make)
    case(f"probability-{kind}-neginf", "bounds from a probability of 0", fixed, {"surrogate": fields},
         nowhere)
PROBABILITY = changed(PPO, surrogate=BY_PROBABILITY["ppo_clip"])
case("probability-eps_low", "p = 1 and eps 1/4: the lower bound is where the root begins", PROBABILITY,
     {"surrogate": {"eps_low": 0.25}}, likely)
case("probability-eps_high", "a wider upper bound", PROBABILITY, {"surrogate": {"eps_high": 1}}, likely)
case("probability-bound_cap", "the upper bound is at most 10", PROBABILITY,
     {"surrogate": {"bound_cap": 10}}, unlikely)
case("probability-bound_cap-neginf", "the upper bound is the cap where p = 0", PROBABILITY,
     {"surrogate": {"bound_cap": 10}}, nowhere)
case("probability-ref", "p is of the reference", changed(PPO, ratio={"behaviour": "ref"}),
     {"surrogate": BY_PROBABILITY["ppo_clip"]}, mixed)
case("probability-rollout", "p is of the sampling engine", changed(PPO, ratio={"behaviour": "rollout"}),
     {"surrogate": BY_PROBABILITY["ppo_clip"]}, mixed)
case("probability-current",
     "p is of the policy itself: nothing is ever clipped, and the gradient is the score's", SCORE,
     {"ratio": {"behaviour": "current"}, "surrogate": BY_PROBABILITY["ppo_clip"]}, likely)
