"""The weight: truncation, correction, trust, off-policy responses, selection, rejection."""
from cases.table import cases_of
from cases.bases import NEG, PPO, SCORE, named
from cases.ratio import KINDS, POOL
from cases.surrogate import NEW_KINDS, every_level, only
from objectives import INF, changed
from scenarios import full, like, placed

case = cases_of("choices-weight")


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


WEIGHED = changed(PPO, ratio={"level": "sequence_mean"}, penalty={"kl": "k3", "kl_coef": 0.25},
                  aggregation={"kind": "seq_mean_token_mean"})
for correction in ("truncate", "mask", "reject"):
    for unit in ("token", "sequence_sum", "sequence_mean"):
        for rejected in ("zero_weight", "unmask"):
            if correction == "truncate" and rejected == "unmask":
                continue  # no weight is outside of its bounds
            for clamp in (0, 0.5):
                fields = {"rollout_is": correction, "rollout_is_low": 0.5, "rollout_is_high": 1.5, "rollout_is_level": unit}
                base = WEIGHED
                if clamp:
                    base = changed(WEIGHED, weight={**fields, "rollout_rejected": rejected})
                elif rejected == "unmask":
                    base = changed(WEIGHED, weight=fields)
                case(f"{correction}-{unit}-{rejected}" + ("-clamp" if clamp else ""),
                     f"old/rollout weights below, inside and above 0.5..1.5: {correction}, level {unit}, {rejected}, clamp {clamp}",
                     base,
                     {"weight": {**fields, "rollout_clamp": clamp, "rollout_rejected": rejected}}, mismatch)
IN_BAND = changed(WEIGHED, weight={"rollout_is": "mask", "rollout_is_low": 0.5, "rollout_is_high": 1.5})
case("rollout_is_low", "rollout_is = mask with bounds 0.125..1.5: lower weights are kept than with 0.5",
     IN_BAND, {"weight": {"rollout_is_low": 0.125}}, mismatch)
case("rollout_is_high", "rollout_is = mask with bounds 0.5..8: higher weights are kept than with 1.5",
     IN_BAND, {"weight": {"rollout_is_high": 8}}, mismatch)
case("rollout_is_high-inf", "rollout_is = mask with no upper bound: a weight is rejected only below 0.5",
     IN_BAND, {"weight": {"rollout_is_high": INF}}, mismatch)
for low, high in ((1, 1.25), (0.75, 1)):
    case(f"bound-{low}-{high}", f"rollout_is = reject with bounds {low}..{high}: a weight of exactly 1, at a bound, is not rejected",
         WEIGHED,
         {"weight": {"rollout_is": "reject", "rollout_is_low": low, "rollout_is_high": high, "rollout_rejected": "unmask"}}, agreement)
case("truncated", "tokens of truncated responses are masked: they leave loss, KL penalty and divisors",
     WEIGHED, {"weight": {"truncated": "mask"}}, cut_off)
case("truncated-correction", "truncated responses are masked before the rollout weights are computed", IN_BAND,
     {"weight": {"truncated": "mask"}}, cut_off)
case("rollout-ratio", "behaviour rollout: importance ratio and rollout_is weights both read logp_rollout",
     IN_BAND, {"ratio": {"behaviour": "rollout"}},
     mismatch)

TRUSTED = changed(PPO, surrogate=KINDS["ratio"], penalty={"kl": "k3", "kl_coef": 0.25})  # the penalty remains where M = 0
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
        case(f"trust-{trust}-{unit}",
             f"trust region {trust}, level {unit}: dropped tokens lose their surrogate, not their KL penalty",
             changed(TRUSTED, ratio={"level": unit}), {"weight": {"trust": trust, **fields}}, every_level)
    base = changed(TRUSTED, weight={"trust": trust, **fields})
    if trust not in WITHOUT_LOW:
        case(f"trust-{trust}-low", f"trust region {trust} with trust_low 16 times as large: fewer tokens with a falling ratio are dropped",
             base,
             {"weight": {"trust_low": fields["trust_low"] * 16}}, every_level)
    case(f"trust-{trust}-high", f"trust region {trust} with trust_high 8 times as large: fewer tokens with a rising ratio are dropped",
         base,
         {"weight": {"trust_high": fields["trust_high"] * 8}}, every_level)
    for against in ("rollout", "ref"):
        case(f"trust-{trust}-{against}",
             f"trust region {trust}, behaviour {against}: the distance is from the policy in the ratio's denominator", base,
             {"ratio": {"behaviour": against}}, every_level)
case("trust-current", "trust region, ratio of the policy over itself: the ratio is 1 and nothing is dropped", TRUSTED,
     {"ratio": {"behaviour": "current"}, "weight": {"trust": "two_sided", **TRUST["two_sided"]}}, every_level)
case("trust-two_sided-high-inf", "trust region two_sided with no upper limit: only ratios below 0.5 are dropped",
     changed(TRUSTED, weight={"trust": "two_sided", **TRUST["two_sided"]}),
     {"weight": {"trust_high": INF}}, every_level)
case("trust-sequence_sum", "trust region one_sided on the response's ratio (level sequence_sum): all of its tokens share it",
     changed(TRUSTED, ratio={"level": "sequence_sum"}),
     {"weight": {"trust": "one_sided", **TRUST["one_sided"]}}, every_level)
WITH_PPO = {kind: {**PPO["surrogate"], **KINDS[kind], "kind": kind}
            for kind in ("ppo_clip", "dual_clip", "cispo", "ratio")}
for kind in ("reinforce", "ppo_clip", "dual_clip", "cispo", "squared", "gppo"):
    fields = {"reinforce": only("reinforce"), **WITH_PPO, **NEW_KINDS}[kind]
    for trust in ("two_sided", "probability"):
        case(f"trust-{trust}-{kind}", f"trust region {trust} with surrogate {kind}: a dropped token is not counted as clipped too",
             changed(TRUSTED, surrogate=fields), {"weight": {"trust": trust, **TRUST[trust]}}, every_level)
POOLED = changed(TRUSTED, ratio={"level": "sequence_clipped_mean", **POOL})
for trust in ("one_sided", "two_sided", "k2"):
    case(f"trust-{trust}-pooled", f"trust region {trust} with GMPO's ratio: a dropped token is not counted as clipped too", POOLED,
         {"weight": {"trust": trust, **TRUST[trust]}}, every_level)


def on_limits(o):
    d = ((0.5, -0.5, 0.53125), (-0.53125, 0.5, -0.5), (0, 0.25))
    batch = full(o, (2, 1), [len(x) for x in d], 153, d=lambda dice, i, t: d[i][t])
    batch["advantage"] = [[1, -0.5, 0.75], [-1, -0.25, 1], [0.5, -0.75]]
    return batch


for trust, low, high in (("log_two_sided", 0.5, 0.5), ("k2", 0, 0.125), ("two_sided", 1, 0), ("one_sided", 0, 0),
                         ("probability", 0, 0), ("probability_both", 0, 0), ("binary_kl", 0, 0)):
    case(f"trust-{trust}-at-limit", f"trust region {trust}: what is exactly at the limit is kept", TRUSTED,
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
    for label, comment, make in (("certain", "probability 1 under policy, old policy or both", certain),
                                 ("neginf", "probability 0 under policy, old policy or both", impossible),
                                 ("far-800", "log-ratios of +-80 and +-800, far beyond the limits", distant)):
        case(f"trust-{trust}-{label}", f"trust region {trust}: {comment}", changed(TRUSTED, penalty={"kl": "none", "kl_coef": 0}),
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


STALE = {"off_policy_mask": "old", "off_policy_mask_threshold": 0.25}
for surrogate in ("ratio", "ppo_clip", "cispo"):
    base = changed(TRUSTED, surrogate=WITH_PPO[surrogate])
    for who in ("old", "rollout"):
        case(f"off_policy-{who}-{surrogate}",
             f"tokens with A < 0 are dropped in responses whose mean {who} - policy log-ratio is above 0.25, not at it",
             base, {"weight": {**STALE, "off_policy_mask": who}}, strayed)
OFF = changed(TRUSTED, weight=STALE)
for limit in (0, 1, -1, INF):
    case(f"off_policy_mask_threshold-{named(limit)}",
         f"tokens with A < 0 are dropped in responses whose mean old - policy log-ratio is above {named(limit)}",
         OFF, {"weight": {"off_policy_mask_threshold": limit}},
         strayed)
case("off_policy-score", "off-policy masking beside surrogate -A log p, which has no importance ratio",
     changed(SCORE, penalty={"kl": "k3", "kl_coef": 0.25}),
     {"weight": STALE}, strayed)
case("off_policy-sequence_mean", "off-policy masking drops some tokens of a response that shares one importance ratio (sequence_mean)",
     changed(TRUSTED, ratio={"level": "sequence_mean"}), {"weight": STALE}, strayed)
case("off_policy-pooled", "off-policy masking with GMPO's ratio: a dropped token is not counted as clipped too", POOLED, {"weight": STALE},
     strayed)
case("off_policy-unmask", "off-policy masking: the response's mean log-ratio is over the tokens that rejection left",
     changed(OFF, weight={"rollout_is": "reject", "rollout_is_low": 0.25, "rollout_is_high": 2}),
     {"weight": {"rollout_rejected": "unmask"}}, strayed)


def left_alone(o):
    """Infinite log-ratios: o - l = K, -K, and K - K."""
    return placed(o, 158, (3,), ((-1, 0.5), (-0.5, -1), (-0.75, -0.25)), logp=((NEG, -1), (-1, -0.5), (NEG, -1)),
                  logp_old=((-0.5, -1.5), (NEG, -0.75), (-1, NEG)))


case("off_policy-neginf", "off-policy masking with probabilities of 0: mean old - policy log-ratios of +inf, -inf and one of both",
     changed(PPO, surrogate=KINDS["cispo"]),
     {"weight": STALE}, left_alone)


def chosen(o):
    batch = every_level(o)
    batch["selected"] = [[True, False, True], [False, True, False], [True, True, False], [False, False, False],
                         [True, True, True]]
    return batch


for selected in ("keep", "drop"):
    for unit in ("token", "sequence_mean"):
        case(f"selected-{selected}-{unit}",
             f"selected = {selected}: {'un' * (selected == 'keep')}selected tokens have only the KL, no surrogate; level {unit}",
             changed(TRUSTED, ratio={"level": unit}), {"weight": {"selected": selected}}, chosen)
    case(f"selected-{selected}-ppo_clip", f"selected = {selected}: tokens that lose their surrogate are not counted as clipped",
         changed(PPO, penalty={"kl": "k3", "kl_coef": 0.25}), {"weight": {"selected": selected}}, chosen)
    case(f"selected-{selected}-squared",
         f"selected = {selected} with surrogate (A - k y)^2, which is not 0 where A = 0 and is dropped there too",
         changed(PPO, surrogate=NEW_KINDS["squared"]), {"weight": {"selected": selected}}, chosen)
    case(f"selected-{selected}-everything", f"selected = {selected} together with a trust region and off-policy masking",
         changed(OFF, weight={"trust": "one_sided", **TRUST["one_sided"]}), {"weight": {"selected": selected}}, chosen)


def none_chosen(o):
    batch = every_level(o)
    batch["selected"] = like(batch["length"], lambda i, t: False)
    return batch


case("selected-none", "no token is selected (keep): only the KL penalty is left, divided by all tokens", TRUSTED,
     {"weight": {"selected": "keep"}}, none_chosen)


REJECT = {"ratio": {"rollout_rs_low": 0.5, "rollout_rs_high": 1.5}, "k2": {"rollout_rs_low": 0, "rollout_rs_high": 0.5},
          "k3": {"rollout_rs_low": 0, "rollout_rs_high": 0.5}, "probability": {"rollout_rs_low": -0.015625, "rollout_rs_high": 0.0625}}
for reject, fields in REJECT.items():
    for unit in ("token", "sequence_sum", "sequence_mean", "sequence_max"):
        whole = {"rollout_rs": reject, "rollout_rs_level": unit, **fields}
        for rejected in ("zero_weight", "unmask"):
            base = changed(WEIGHED, weight=whole) if rejected == "unmask" else WEIGHED
            case(f"reject-{reject}-{unit}-{rejected}",
                 f"rollout_rs = {reject}, level {unit}: statistics below, inside and above the bounds; {rejected}",
                 base, {"weight": {**whole, "rollout_rejected": rejected}}, mismatch)
    summed = {"rollout_rs": reject, "rollout_rs_level": "sequence_sum", **fields}
    case(f"reject-{reject}-clamp",
         f"rollout_rs = {reject}: rollout_clamp {'has no effect' if reject == 'probability' else 'clamps the log-ratios first'}",
         WEIGHED if reject == "probability" else changed(WEIGHED, weight=summed),
         {"weight": {**summed, "rollout_clamp": 0.0625}}, mismatch)
    within = changed(WEIGHED, weight={"rollout_rs": reject, **fields, "rollout_rejected": "unmask"})
    case(f"reject-{reject}-low", f"rollout_rs = {reject} with a lower bound moved, so that other tokens are rejected", within,
         {"weight": {"rollout_rs_low": {"ratio": 0.125, "probability": -0.0625}.get(reject, 0.0078125)}}, mismatch)
    case(f"reject-{reject}-high", f"rollout_rs = {reject} with an upper bound raised, so that fewer tokens are rejected", within,
         {"weight": {"rollout_rs_high": {"ratio": INF, "probability": 0.125}.get(reject, 8)}}, mismatch)
    for correction in ("truncate", "mask", "reject") if reject in ("ratio", "probability") else ("mask",):
        for rejected in ("zero_weight", "unmask"):
            band = {"rollout_is": correction, "rollout_is_low": 0.75, "rollout_is_high": 1.25, "rollout_rejected": rejected}
            case(f"reject-{reject}-{correction}-{rejected}",
                 f"rejected by rollout_is = {correction} or by rollout_rs = {reject} (largest of the response); {rejected}",
                 changed(WEIGHED, weight=band), {"weight": {"rollout_rs": reject, "rollout_rs_level": "sequence_max", **fields}},
                 mismatch)
for reject, low, high in (("ratio", 1, 1.25), ("ratio", 0.75, 1), ("k2", 0, 0), ("k3", 0, 0), ("probability", 0, 0)):
    case(f"reject-{reject}-bound-{low}-{high}", f"rollout_rs = {reject}, bounds {low}..{high}: a token exactly at a bound is not rejected",
         WEIGHED,
         {"weight": {"rollout_rs": reject, "rollout_rs_low": low, "rollout_rs_high": high, "rollout_rejected": "unmask"}}, agreement)
for rejected in ("zero_weight", "unmask"):
    case(f"reject-all-{rejected}",
         f"every token is rejected, {rejected}: {'only the KL is left' if rejected == 'zero_weight' else 'no token counts, loss 0'}",
         WEIGHED,
         {"weight": {"rollout_rs": "ratio", "rollout_rs_low": 50, "rollout_rs_high": 60, "rollout_rejected": rejected}}, mismatch)
    for correction in ("none", "truncate"):
        case(f"veto-{correction}-{rejected}",
             f"veto below 0.25: one token with a low old/rollout ratio rejects its response; rollout_is {correction}, {rejected}",
             changed(WEIGHED, weight={"rollout_is": correction, "rollout_is_high": 1.5}),
             {"weight": {"rollout_veto": 0.25, "rollout_rejected": rejected}}, mismatch)
    case(f"veto-reject-{rejected}", f"rollout_rs rejects single tokens, the veto whole responses; rollout_rejected = {rejected}",
         changed(WEIGHED, weight={"rollout_rs": "k2", "rollout_rs_high": 1, "rollout_rejected": rejected}),
         {"weight": {"rollout_veto": 0.5625}}, mismatch)
VETO = changed(WEIGHED, weight={"rollout_veto": 0.25, "rollout_rejected": "unmask"})
case("veto", "veto below 0.75 instead of 0.25: more responses are rejected for one token with a low old/rollout ratio",
     VETO, {"weight": {"rollout_veto": 0.75}}, mismatch)
case("veto-clamp", "veto with rollout_clamp = 0.5: clamped log-ratios are above the veto's bound, so nothing is rejected", VETO,
     {"weight": {"rollout_clamp": 0.5}}, mismatch)
case("veto-bound", "veto below 1: a token with a ratio of exactly 1 does not reject its response",
     changed(WEIGHED, weight={"rollout_rejected": "unmask"}),
     {"weight": {"rollout_veto": 1}}, agreement)


def below(o):
    """Every log-ratio of old against rollout is below 0."""
    batch = mismatch(o)
    batch["logp_old"] = like(batch["length"], lambda i, t: batch["logp_rollout"][i][t] - (0.25 if i % 2 else 1.5) - 0.125 * t)
    return batch


for reject, low in (("ratio", 0.5), ("probability", -0.0625)):
    case(f"reject-{reject}-sequence_max-below",
         f"rollout_rs = {reject}, level sequence_max where all values are below 0: their maximum is not 0", WEIGHED,
         {"weight": {"rollout_rs": reject, "rollout_rs_level": "sequence_max", "rollout_rs_low": low, "rollout_rs_high": 2,
                     "rollout_rejected": "unmask"}}, below)

case("reject-truncated", "truncated responses are masked before rejection and are not counted as rejected",
     changed(WEIGHED, weight={"rollout_rs": "ratio", **REJECT["ratio"], "rollout_rejected": "unmask"}),
     {"weight": {"truncated": "mask"}}, cut_off)
case("reject-masked", "rollout_rs k3, mean over the response: masked tokens are not in the mean",
     changed(WEIGHED, weight={"rollout_rs": "k3", "rollout_rs_level": "sequence_mean", "rollout_rs_high": 0.5}),
     {"weight": {"rollout_rejected": "unmask"}},
     lambda o: {**mismatch(o), "mask": [[True, True, False], [False, True], [True, True], [True, False, True]]})


def engine_never(o):
    """Probability 0 under the old policy, under the sampler, under both, and pairs that cancel."""
    return placed(o, 159, (2, 2, 1), ((1, -0.5), (0.5, 0.25), (-0.25, 1), (0.75, -1), (0.5, -0.5)),
                  logp=((-1, -0.5), (-0.75, -1), (-1.25, -0.5), (-0.5, -0.25), (-1, -1)),
                  logp_old=((NEG, -1), (-0.5, -1), (NEG, -0.75), (NEG, -0.5), (-1, -0.75)),
                  logp_rollout=((-1, -1), (NEG, -1.25), (NEG, -0.5), (-0.5, NEG), (-1.25, -0.75)))


for reject, fields in REJECT.items():
    for unit in ("token", "sequence_sum", "sequence_max"):
        case(f"reject-{reject}-{unit}-neginf",
             f"rollout_rs = {reject}, level {unit}: probability 0 under old, rollout or both policies; two that cancel", SCORE,
             {"weight": {"rollout_rs": reject, "rollout_rs_level": unit, **fields, "rollout_rejected": "unmask"}}, engine_never)
case("veto-neginf", "veto with an old probability of 0: the ratio to the rollout policy is 0 and rejects the response", SCORE,
     {"weight": {"rollout_veto": 0.0078125, "rollout_rejected": "unmask"}}, engine_never)
