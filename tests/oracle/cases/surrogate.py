"""The surrogate: kinds of one token or unit, at every level of the ratio for both signs of A; bounds by probability."""
from cases.table import cases_of
from cases.bases import FAR_80, FAR_800_BAD, FAR_800_GOOD, NEG, NEVER, PPO, SCORE, UNDER, far_pair, named, never_sampled
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
    case(kind, f"surrogate {kind}: A > 0, A < 0 and A = 0 in one response, token ratios below, inside and above the usual clip",
         PPO, {"surrogate": KINDS[kind]}, every_side)
case("ppo_clip", "PPO's clipped surrogate: A > 0, A < 0 and A = 0, token ratios below, inside and above the clip",
     SCORE, {"surrogate": PPO["surrogate"]}, every_side)
case("reinforce", "surrogate -A log p: no importance ratio is used, nothing is clipped", PPO,
     {"surrogate": {"kind": "reinforce", "eps_low": 0, "eps_high": 0}}, every_side)
for kind, field, value in (("ppo_clip", "eps_low", 0.05), ("ppo_clip", "eps_high", 1),
                           ("dual_clip", "eps_low", 0.05), ("dual_clip", "eps_high", 0.25), ("dual_clip", "clip_dual", 4),
                           ("cispo", "weight_min", 0.25), ("cispo", "weight_max", 3),
                           ("cispo", "weight_max", INF), ("sapo", "tau_pos", 2), ("sapo", "tau_neg", 0.5),
                           ("vespo", "vespo_k_pos", 1), ("vespo", "vespo_lambda_pos", 1), ("vespo", "vespo_k_neg", 1),
                           ("vespo", "vespo_lambda_neg", 1)):
    case(f"{kind}-{field}-{named(value)}", f"surrogate {kind} with {field} = {named(value)}; ratios from e^-2 to e^2, A of every sign",
         changed(PPO, surrogate=KINDS[kind]),
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


def called(name):
    return name.replace("-dual", " (with a dual clip)")


for name, kind in NEW_KINDS.items():
    case(name, f"surrogate {called(name)}: A > 0, A < 0 and A = 0 at each of five token log-ratios from -2 to 2", PPO, {"surrogate": kind},
         every_level)
    for unit in ("sequence_mean", "sequence_sum"):
        case(f"{name}-{unit}", f"surrogate {called(name)} with one importance ratio per response, ratio level {unit}",
             changed(PPO, ratio={"level": unit}),
             {"surrogate": kind}, every_level)
    if name not in DETACHED:
        case(f"{name}-sequence_mean-token",
             f"surrogate {called(name)} with the response's ratio as value, but each token's gradient its own (gradient token)",
             changed(PPO, ratio={"level": "sequence_mean", "gradient": "token"}), {"surrogate": kind}, every_level)
    case(f"{name}-far-80", f"surrogate {called(name)} with token log-ratios of +80 and -80, each for A > 0 and A < 0",
         PPO, {"surrogate": kind}, FAR_80)
    case(f"{name}-far-800-good", f"surrogate {called(name)}: log-ratio 800 where A > 0 and -800 where A < 0, beyond binary64",
         PPO, {"surrogate": kind},
         FAR_800_GOOD)
    if name == "aspo":  # infinite for A of either sign
        case("aspo-far-800-low", "surrogate aspo at log-ratio -800: its inverse ratio e^800 overflows where A > 0",
             PPO, {"surrogate": kind},
             far_pair((-800, -800, 0.25), (1, -0.5, 0.5), 177))
        case("aspo-far-800-high", "surrogate aspo at log-ratio 800: its ratio overflows where A < 0, its inverse is 0 where A > 0",
             PPO, {"surrogate": kind},
             far_pair((800, 800, 0.25), (1, -0.5, 0.5), 178))
    else:
        case(f"{name}-far-800-bad", f"surrogate {called(name)}: log-ratio -800 where A > 0 and 800 where A < 0, beyond binary64", PPO,
             {"surrogate": kind}, FAR_800_BAD)
    for who, logps in NEVER.items():
        for side, a in (("good", 1), ("bad", -0.5)):
            if (name, who, side) in (("squared", "policy", "bad"), ("squared", "old", "good")):
                continue  # the size does not express that the square of a finite and an infinite part is defined
            case(f"{name}-neginf-{who}-{side}",
                 f"surrogate {called(name)}: a token with A {'>' if a > 0 else '<'} 0 has probability 0 under {UNDER[who]}", SCORE,
                 {"surrogate": kind}, never_sampled(*logps, a))

for name, field, value in (("squared", "beta", -0.5), ("squared", "beta", 0), ("squared", "beta", 4),
                           ("gppo", "gppo_beta_low", 0), ("gppo", "gppo_beta_high", 0), ("gppo", "eps_low", 0.05),
                           ("gppo", "eps_high", 1), ("gppo", "clip_dual", 3), ("gppo-dual", "clip_dual", 1.5),
                           ("aspo", "eps_low", 0.05), ("aspo", "eps_high", 1), ("aspo", "clip_dual", 3),
                           ("aspo", "clip_dual_pos", 3), ("aspo-dual", "clip_dual", 1.5), ("aspo-dual", "clip_dual_pos", 4),
                           ("topr", "weight_min", 0.25), ("topr", "weight_max", 3), ("topr", "weight_max", INF),
                           ("masked_weight", "weight_min", 0), ("masked_weight", "weight_max", 1.5), ("masked_weight", "weight_max", INF),
                           ("sapo_detached", "tau_pos", 2), ("sapo_detached", "tau_neg", 0.5)):
    case(f"{name}-{field}-{named(value)}",
         f"surrogate {called(name)} with {field} = {named(value)}; log-ratios from -2 to 2, A of every sign",
         changed(PPO, surrogate=NEW_KINDS[name]),
         {"surrogate": {field: value}}, every_level)


def good_only(o):
    batch = every_level(o)
    batch["advantage"] = like(batch["length"], lambda i, t: (i + t + 1) / 8)
    return batch


case("topr-good", "surrogate topr where all A > 0: every weight is 1, so the gradient is that of reinforce",
     PPO, {"surrogate": NEW_KINDS["topr"]}, good_only)


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
     "surrogate (A - k y)^2 where A and k y are equal or differ by 2^-20: little or nothing is left of their difference", PPO,
     {"surrogate": NEW_KINDS["squared"]}, nearly)
case("squared-cancels-sum", "surrogate (A - k y)^2, y the response's summed log-ratio: A and k y are equal or nearly so",
     changed(PPO, ratio={"level": "sequence_sum"}),
     {"surrogate": NEW_KINDS["squared"]}, nearly_unit)
case("squared-clamped", "surrogate (A - k y)^2 with clamped log-ratios: beyond the clamp it has a value but no gradient",
     changed(PPO, ratio={"clamp_low": -0.5, "clamp_high": 0.5}), {"surrogate": NEW_KINDS["squared"]}, every_level)
case("gppo-clamped", "surrogate gppo with clamped log-ratios: gppo keeps a gradient where it clips, the clamp takes it away",
     changed(PPO, ratio={"clamp_low": -0.5, "clamp_high": 0.5}), {"surrogate": NEW_KINDS["gppo"]}, every_level)
case("squared-current", "surrogate (A - k y)^2 over the policy itself: y = 0, value A^2, gradient -2 k A",
     changed(PPO, ratio={"behaviour": "current"}), {"surrogate": NEW_KINDS["squared"]}, every_level)
case("log_ratio-pooled", "surrogate -A y, y the mean of GMPO's clipped token log-ratios",
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
    for label, comment, make in (("likely", "old probabilities near 1", likely),
                                 ("unlikely", "old probabilities near 0", unlikely),
                                 ("far", "an old probability of e^-800, whose inverse overflows", hardly)):
        case(f"probability-{kind}-{label}", f"{kind} with clip bounds that depend on the token's old probability: {comment}", fixed,
             {"surrogate": fields}, make)
    case(f"probability-{kind}-neginf",
         f"{kind} with clip bounds that depend on the old probability: it is 0, so they are 1 and the cap (or infinity)",
         fixed, {"surrogate": fields},
         nowhere)
PROBABILITY = changed(PPO, surrogate=BY_PROBABILITY["ppo_clip"])
case("probability-eps_low", "clip bounds by old probability with eps_low = 1/4: at p = 1 the root is exactly 0 and the lower bound 1/2",
     PROBABILITY,
     {"surrogate": {"eps_low": 0.25}}, likely)
case("probability-eps_high", "clip bounds by old probability with eps_high = 1 instead of 0.2: a wider upper bound",
     PROBABILITY, {"surrogate": {"eps_high": 1}}, likely)
case("probability-bound_cap", "clip bounds by old probability: the upper bound of unlikely tokens is capped at 10", PROBABILITY,
     {"surrogate": {"bound_cap": 10}}, unlikely)
case("probability-bound_cap-neginf", "clip bounds by old probability: where that is 0, the upper bound is the cap of 10, not infinite",
     PROBABILITY,
     {"surrogate": {"bound_cap": 10}}, nowhere)
case("probability-ref", "clip bounds by probability, behaviour ref: the probability is the reference's, the ratio's denominator",
     changed(PPO, ratio={"behaviour": "ref"}),
     {"surrogate": BY_PROBABILITY["ppo_clip"]}, mixed)
case("probability-rollout",
     "clip bounds by probability, behaviour rollout: the probability is the rollout policy's, the ratio's denominator",
     changed(PPO, ratio={"behaviour": "rollout"}),
     {"surrogate": BY_PROBABILITY["ppo_clip"]}, mixed)
case("probability-current",
     "clip bounds by probability, ratio of the policy over itself: always 1, never clipped, score function gradient", SCORE,
     {"ratio": {"behaviour": "current"}, "surrogate": BY_PROBABILITY["ppo_clip"]}, likely)
