"""Trust regions: quadratic_probability, and negative_band."""
from cases.bases import NEG, PPO, kind, only
from cases.table import cases_of
from objectives import INF, changed, plain
from scenarios import full, placed

case = cases_of("choices-trust-region")

# ---- surrogate.kind = quadratic_probability

SCORE = changed(plain(), aggregation={"kind": "token_mean"})
PARABOLA = kind("quadratic_probability", quadratic_eps=0.25)
OF = changed(SCORE, **PARABOLA)
LOGP = ((-1.75, -0.5, -3, -0.25), (-0.125, -0.5, -0.75), (-5, -0.03125, -1))
D = ((-1.5, -0.1875, 0, 0.25), (0.25, 1.5, -0.25), (-2, 2, 0.5))
A = ((1, -0.5, 0.75, 1.25), (-1, 0.5, -0.75), (-0.5, -1.25, 0))


def levels(o):
    """Far below, below, at and above 1, far above; A of both signs, and 0; probabilities from 0.1 to 0.9."""
    b = [[l - d for l, d in zip(*rows)] for rows in zip(LOGP, D)]
    return placed(o, 1111, (2, 1), A, logp=LOGP, logp_old=b, logp_rollout=[[x - 0.25 for x in row] for row in b])


def never(policy, old, a):
    return lambda o: placed(o, 1112, (2,), ((a,), (0.75,)), logp=((policy,), (-1.25,)), logp_old=((old,), (-1.5,)))


case("quadratic_probability", "the parabola of likely tokens is steep, that of unlikely ones flat", SCORE, PARABOLA, levels)
case("quadratic_probability-eps", "a wider parabola", OF, {"surrogate": {"quadratic_eps": 12.5}}, levels)
case("quadratic_probability-rollout", "the probability is that of the ratio's denominator", OF, {"ratio": {"behaviour": "rollout"}}, levels)
case("quadratic_probability-current", "on policy there is no parabola to see", OF, {"ratio": {"behaviour": "current"}}, levels)
case("quadratic_probability-clamped", "a bounded log-ratio: neither w nor the parabola has a slope beyond", OF,
     {"ratio": {"clamp_low": -0.5, "clamp_high": 0.5}}, levels)
case("quadratic_probability-for-quadratic", "in the place of the parabola without the probability",
     changed(SCORE, surrogate={"kind": "quadratic", "quadratic_eps": 0.25}), PARABOLA, levels)
case("quadratic_probability-trust", "dropped tokens", OF, {"weight": {"trust": "one_sided", "trust_low": 0.25, "trust_high": 0.25}}, levels)
case("quadratic_probability-neginf-policy", "a ratio of 0: a value without a slope", SCORE, PARABOLA, never(NEG, -1, 1))
case("quadratic_probability-neginf-old", "a probability of 0: no parabola, and a log-ratio that is bounded",
     changed(SCORE, ratio={"clamp_low": -20, "clamp_high": 20}), PARABOLA, never(-0.5, NEG, -1))
case("quadratic_probability-far-80", "log-ratios of 80, bounded at 20",
     changed(SCORE, ratio={"clamp_low": -20, "clamp_high": 20}), PARABOLA,
     lambda o: placed(o, 1113, (2,), ((1, -0.5), (-1, 0.5)), logp=((-0.5, -80.5), (-0.25, -81)), logp_old=((-80.5, -0.5), (-80.25, -1))))

# ---- weight.trust = negative_band

TRUSTED = changed(PPO, surrogate={"kind": "ratio", "eps_low": 0, "eps_high": 0}, penalty={"kl": "k3", "kl_coef": 0.25})
BAND = {"trust": "negative_band", "trust_low": 0.25, "trust_high": 0.5}
BANDED = changed(TRUSTED, weight=BAND)


def every_side(o):
    """Ratios below, inside and above the band, for A of every sign."""
    d = (-0.5, -0.125, 0, 0.25, 0.75), (-0.5, -0.125, 0, 0.25, 0.75, 0.5, -0.3125), (1, -1)
    batch = full(o, (2, 1), [len(x) for x in d], 1114, d=lambda dice, i, t: d[i][t])
    batch["advantage"] = [[a] * len(x) for a, x in zip((1, -0.5, 0), d)]
    return batch


case("negative_band-token", "bad tokens out of the band are dropped, good ones never", TRUSTED, {"weight": BAND}, every_side)
means = only((5,), 1116, ((-0.5, -0.25), (0.75, 0.5), (0.75, 0.5), (0.125,), (-1, 0)), ((-1, -1), (-0.5, -0.5), (1, 1), (-1,), (0.5, 0.5)))
case("negative_band-sequence_mean", "bad responses out of the band are, and good ones never",
     changed(TRUSTED, ratio={"level": "sequence_mean"}), {"weight": BAND}, means)
for label, limits in (("low", {"trust_low": 0.0625}), ("high", {"trust_high": 0.125}), ("low-inf", {"trust_low": INF}),
                      ("high-inf", {"trust_high": INF}), ("zero", {"trust_low": 0, "trust_high": 0})):
    case(f"negative_band-{label}", "another bound", BANDED, {"weight": limits}, every_side)
for other in ("one_sided", "two_sided"):
    case(f"negative_band-for-{other}", "in the place of a trust of both signs", changed(TRUSTED, weight={**BAND, "trust": other}),
         {"weight": BAND}, every_side)
for name, fields in (("reinforce", {}), ("ppo_clip", {"eps_low": 0.2, "eps_high": 0.2})):
    case(f"negative_band-{name}", "a dropped token is no clip of the surrogate as well",
         changed(TRUSTED, surrogate={"kind": name, **fields}), {"weight": BAND}, every_side)
case("negative_band-far-800", "an infinite ratio that is dropped adds 0", TRUSTED, {"weight": BAND},
     only((3,), 1115, ((800,), (-800,), (0.25, -0.125)), ((-1,), (-0.5,), (-0.25, 0.5))))
