"""Given divergences, such as those of the Gaussian steps of a sampler: as a penalty, and as a trust region."""
from cases.aggregation import empties
from cases.bases import NEG, PPO, SCORE
from cases.table import cases_of, settings
from objectives import INF, changed, objective
from scenarios import full, like, placed

case = cases_of("choices-divergence")

# ---- penalty.kl = external

FREE = changed(PPO, advantage={"baseline": "none"})
PAID = {"penalty": {"kl": "external", "kl_coef": 0.5}}


def over(kind, base=FREE):
    return changed(base, aggregation={"kind": kind, "constant": 6 if "constant" in kind else 0})


for kind in ("token_sum", "token_mean", "seq_mean_token_mean", "seq_mean_constant", "group_mean_token_mean"):
    case(f"kl-{kind}", f"a given divergence as KL penalty, averaged by {kind}; one response and one group without counting tokens",
         over(kind), PAID,
         empties)
for own in ("token_mean", "seq_mean_token_mean"):
    case(f"kl-own-{own}", f"a given divergence as KL penalty, averaged by {own}, the rest of the loss divided by a constant",
         over("seq_mean_constant", changed(FREE, **PAID)), {"penalty": {"kl_aggregation": own}},
         empties)


def walked(o):
    """Chains of one to four steps, with and without noise, some masked, one truncated, some weighted; divergences of every size."""
    b = ((0.125, 1, -0.125), (0, -1), (0.25,), (0.125, 0, -2, 0))
    batch = full(o, (2, 2), (3, 2, 1, 4), 991, mask={(0, 1), (3, 2)}, reward=(1, 0, 0.5, -0.5), b_gap=lambda dice, i, t: b[i][t],
                 more=("logp_ref",))
    batch["truncated"] = [True, False, False, False]
    batch["divergence_ref"] = [[0.25, "NaN", 0], [2 ** -20, 1.5], [1024], [0.0078125, 0.5, "Infinity", 2 ** -40]]
    batch["kl_mask"] = [[True, True, False], [False, True], [True], [False, True, True, False]]
    return batch


K3 = changed(PPO, penalty={"kl": "k3", "kl_coef": 0.5})
BAND = {"rollout_is": "mask", "rollout_is_low": 0.75, "rollout_is_high": 1.5}
case("kl-for-k3", "a given divergence as KL penalty instead of k3: it has no gradient with respect to log-probabilities", K3, PAID, walked)
for label, changes in (
        ("selected", {"penalty": {"kl_on": "selected"}}), ("unmask", {"weight": {**BAND, "rollout_rejected": "unmask"}}),
        ("zero_weight", {"weight": BAND}), ("truncated", {"weight": {"truncated": "mask"}}), ("weighted", {"weight": {"external": "term"}}),
        ("beside-weight", {"weight": {"external": "policy"}}), ("level", {"ratio": {"level": "sequence_mean"}}),
        ("entropy", {"penalty": {"entropy_coef": 0.25}}), ("nll", {"penalty": {"nll_on": "positive", "nll_coef": 0.25}}),
        ("trust", {"surrogate": {"kind": "ratio"}, "weight": {"trust": "divergence", "trust_low": 2 ** -16, "trust_high": 2 ** -17}})):
    case(f"kl-{label}", f"a given divergence as KL penalty, with {settings(changes)}", changed(PPO, **changes), PAID, walked)
case("kl-alone", "a given divergence as KL penalty and surrogate none: nothing else is in the loss",
     changed(SCORE, surrogate={"kind": "none"}), PAID, walked)
case("kl-score", "a given divergence as KL penalty beside surrogate -A log p, which has no importance ratio", SCORE, PAID, walked)
case("kl-group", "a given divergence as KL penalty beside GVPO's loss of a group of responses",
     changed(objective("gvpo"), aggregation={"kind": "group_mean"}), PAID, walked)
case("kl-negative", "a given divergence as KL penalty with kl_coef = -0.125",
     changed(PPO, **PAID), {"penalty": {"kl_coef": -0.125}}, walked)
case("kl-coef-0", "a given divergence as KL penalty with coefficient 0: it is read but adds nothing",
     changed(PPO, **PAID), {"penalty": {"kl_coef": 0}}, walked)


def never_drawn(o):
    batch = placed(o, 992, (2,), ((1, -0.5), (0.75,)), logp=((NEG, -0.5), (-1.25,)), logp_old=((-1, NEG), (-1.5,)))
    batch["divergence_ref"] = [[0.5, 0.25], [0]]
    return batch


case("kl-neginf", "a given divergence as KL penalty, finite at tokens whose log-probabilities are -infinity",
     changed(PPO, advantage={"baseline": "none"}), PAID, never_drawn)

# ---- weight.trust = divergence

TRUSTED = changed(PPO, surrogate={"kind": "ratio", "eps_low": 0, "eps_high": 0}, penalty={"kl": "k3", "kl_coef": 0.25})
BOUNDS = {"trust": "divergence", "trust_low": 0.5, "trust_high": 0.25}
BOUNDED = changed(TRUSTED, weight=BOUNDS)


def every_side(o):
    """A of every sign, ratios below, at and above 1, divergences below, at and above either bound."""
    d = (0.25, 0.25, 0.25, 0, -0.5, 0.25, 0.25, -0.5), (-0.5, -0.5, -0.5, 0, 0.25, -0.5, -0.5), (0.25, -0.5)
    batch = full(o, (2, 1), [len(x) for x in d], 993, d=lambda dice, i, t: d[i][t])
    batch["advantage"] = [[a] * len(x) for a, x in zip((1, -0.5, 0), d)]
    batch["divergence_old"] = [[0.125, 0.25, 0.375, 4, 4, 0, 2, 0.125], [0.375, 0.5, 0.625, 4, 4, 0, 0.1875], [4, 4]]
    return batch


for unit in ("token", "sequence_mean"):
    case(f"trust-{unit}", f"tokens are dropped by given divergence beyond a bound if A pushes the ratio further away; level {unit}",
         changed(TRUSTED, ratio={"level": unit}), {"weight": BOUNDS}, every_side)
for label, limits in (("low", {"trust_low": 0.125}), ("high", {"trust_high": 1}), ("low-inf", {"trust_low": INF}),
                      ("high-inf", {"trust_high": INF}), ("zero", {"trust_low": 0, "trust_high": 0})):
    case(f"trust-{label}", f"trust region by given divergence with {settings({'weight': limits})}", BOUNDED, {"weight": limits}, every_side)
for against in ("rollout", "ref", "current"):
    case(f"trust-{against}",
         f"trust region by given divergence, behaviour {against}: the ratio to it says on which side of 1 the policy is", BOUNDED,
         {"ratio": {"behaviour": against}}, every_side)
for kind, fields in (("reinforce", {}), ("ppo_clip", {"eps_low": 0.2, "eps_high": 0.2}), ("cispo", {"weight_min": 0, "weight_max": 1.125})):
    case(f"trust-{kind}", f"trust region by given divergence with surrogate {kind}: a dropped token is not counted as clipped too",
         changed(TRUSTED, surrogate={"kind": kind, **fields}),
         {"weight": BOUNDS}, every_side)
case("trust-clamped", "trust region by given divergence: a log-ratio clamped to 0 is on neither side, so the token is kept",
     BOUNDED, {"ratio": {"clamp_low": -1, "clamp_high": 0}}, every_side)
case("trust-selected", "tokens are dropped by the trust region or because they are not selected",
     BOUNDED, {"weight": {"selected": "keep"}}, every_side)
case("trust-for-binary_kl", "trust region by given divergence in place of the binary KL of the token's probabilities",
     changed(TRUSTED, weight={**BOUNDS, "trust": "binary_kl", "trust_low": 0.03125, "trust_high": 0.015625}), {"weight": BOUNDS},
     every_side)


def with_holes(o):
    batch = full(o, (2, 1), (3, 2, 2), 994, d=lambda dice, i, t: ((0.5, 2, -0.5), (0.25, -1), (1, -0.25))[i][t], mask={(0, 1), (2, 0)})
    batch["advantage"] = [[1, "NaN", 1], [-0.5, -0.5], ["NaN", -1]]
    batch["divergence_old"] = [[1, "Infinity", 1], [1, 1], ["NaN", 1]]
    return batch


case("trust-holes", "trust region by given divergence: masked tokens hold NaN and infinity and are not read",
     TRUSTED, {"weight": BOUNDS}, with_holes)


def beyond(o):
    """Log-ratios of +-800 and of -infinity, each with large and small divergence: an infinite ratio times a mask of 0 is 0."""
    batch = placed(o, 995, (2, 2), ((1, 1, 0.5), (-0.5, -0.5, -0.5), (1, -1, 0.5), (-0.5, 1, 0.25)),
                   logp=((-0.5, NEG, -0.25), (-900, NEG, -0.5), (-0.5, -900, -1), (-900, -1500, -0.5)),
                   logp_old=((NEG, -900, -0.5), (-0.5, -1, NEG), (-900, -0.5, -0.75), (-1, -2, -1.5)))
    batch["divergence_old"] = [[400, 800, 1], [800, 800, 0], [2, 900, 0], [0.75, 300, 0.125]]
    return batch


for kind in ("ratio", "reinforce"):
    case(f"trust-far-800-{kind}",
         f"trust region by given divergence, surrogate {kind}: a dropped token with an infinite ratio adds 0, not NaN",
         changed(BOUNDED, surrogate={"kind": kind}, penalty={"kl": "none", "kl_coef": 0}, weight={"trust_low": 1}),
         {"weight": {"trust_low": 0.5}}, beyond)


# ---- as a sampler's steps are: ratios within 1e-3 of 1, divergences of 1e-5

def small_steps(o):
    """Two prompts, three chains each of four steps, of which the last is not trained on."""
    ratio = (40, -7, 3, 0), (-31, 5, -2, 0), (9, 90, -14, 0), (2, -3, 1, 0), (-60, 25, -11, 0), (4, 6, 33, 0)
    far = (3, 1, 0.25, 0), (2, 1.5, 0.5, 0), (0.5, 4, 1.25, 0), (0.125, 0.25, 0.5, 0), (6, 2, 1, 0), (0.5, 0.75, 2.5, 0)
    batch = full(o, (3, 3), [4] * 6, 996, d=lambda dice, i, t: ratio[i][t] / 2 ** 16, mask={(i, 3) for i in range(6)},
                 reward=(1, 0.25, -0.5, 0.75, 0.5, -1))
    batch["divergence_old"] = like(batch["length"], lambda i, t: far[i][t] / 2 ** 17)
    batch["divergence_ref"] = like(batch["length"], lambda i, t: far[5 - i][t] / 16)
    return batch


STEPS = changed(PPO, advantage={"scale": "group_std"}, surrogate={"eps_low": 0.0001, "eps_high": 0.0001})
case("steps-kl", "denoising steps of a flow model: ratios within 1e-3 of 1, a clip of 1e-4, a given divergence as KL penalty",
     STEPS, {"penalty": {"kl": "external", "kl_coef": 0.04}}, small_steps)
case("steps-trust", "denoising steps of a flow model: ratios within 1e-3 of 1, trust region by given divergences near 1e-5, no clip",
     changed(STEPS, surrogate={"kind": "ratio", "eps_low": 0, "eps_high": 0}),
     {"weight": {"trust": "divergence", "trust_low": 1e-05, "trust_high": 1e-05}}, small_steps)
