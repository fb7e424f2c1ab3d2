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


case("quadratic_probability", "DRPO's parabola is weighted by the old probability: steep for likely tokens, flat for unlikely ones",
     SCORE, PARABOLA, levels)
case("quadratic_probability-eps", "DRPO's probability-weighted parabola with quadratic_eps 12.5: fifty times as flat",
     OF, {"surrogate": {"quadratic_eps": 12.5}}, levels)
case("quadratic_probability-rollout", "DRPO's parabola, behaviour rollout: its weight is the probability in the ratio's denominator",
     OF, {"ratio": {"behaviour": "rollout"}}, levels)
case("quadratic_probability-current", "DRPO's parabola, ratio of the policy over itself: at ratio 1 it adds neither value nor gradient",
     OF, {"ratio": {"behaviour": "current"}}, levels)
case("quadratic_probability-clamped", "DRPO's parabola with clamped log-ratios: beyond the clamp there is no gradient from either part", OF,
     {"ratio": {"clamp_low": -0.5, "clamp_high": 0.5}}, levels)
case("quadratic_probability-for-quadratic", "DRPO's parabola with the old probability as weight, unlike CFPO's without",
     changed(SCORE, surrogate={"kind": "quadratic", "quadratic_eps": 0.25}), PARABOLA, levels)
case("quadratic_probability-trust", "DRPO's parabola: tokens that the trust region drops add nothing",
     OF, {"weight": {"trust": "one_sided", "trust_low": 0.25, "trust_high": 0.25}}, levels)
case("quadratic_probability-neginf-policy", "DRPO's parabola at ratio 0 (policy probability 0): a value but no gradient",
     SCORE, PARABOLA, never(NEG, -1, 1))
case("quadratic_probability-neginf-old", "DRPO's parabola where the old probability is 0: its weight is 0; the log-ratio is clamped at 20",
     changed(SCORE, ratio={"clamp_low": -20, "clamp_high": 20}), PARABOLA, never(-0.5, NEG, -1))
case("quadratic_probability-far-80", "DRPO's parabola with log-ratios of +-80 that are clamped to -20..20",
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


case("negative_band-token", "TBPO: tokens with A < 0 are dropped if their ratio is outside 0.75..1.5, tokens with A >= 0 never",
     TRUSTED, {"weight": BAND}, every_side)
means = only((5,), 1116, ((-0.5, -0.25), (0.75, 0.5), (0.75, 0.5), (0.125,), (-1, 0)), ((-1, -1), (-0.5, -0.5), (1, 1), (-1,), (0.5, 0.5)))
case("negative_band-sequence_mean", "TBPO by the response's ratio: tokens with A < 0 are dropped outside 0.75..1.5, with A > 0 never",
     changed(TRUSTED, ratio={"level": "sequence_mean"}), {"weight": BAND}, means)
for label, limits in (("low", {"trust_low": 0.0625}), ("high", {"trust_high": 0.125}), ("low-inf", {"trust_low": INF}),
                      ("high-inf", {"trust_high": INF}), ("zero", {"trust_low": 0, "trust_high": 0})):
    case(f"negative_band-{label}", f"TBPO's trust region for A < 0 with {', '.join(f'{name} = {value}' for name, value in limits.items())}",
         BANDED, {"weight": limits}, every_side)
for other in ("one_sided", "two_sided"):
    case(f"negative_band-for-{other}", f"TBPO's trust region drops tokens with A < 0 only, unlike {other}",
         changed(TRUSTED, weight={**BAND, "trust": other}),
         {"weight": BAND}, every_side)
for name, fields in (("reinforce", {}), ("ppo_clip", {"eps_low": 0.2, "eps_high": 0.2})):
    case(f"negative_band-{name}", f"TBPO's trust region with surrogate {name}: a dropped token is not counted as clipped too",
         changed(TRUSTED, surrogate={"kind": name, **fields}), {"weight": BAND}, every_side)
case("negative_band-far-800", "TBPO's trust region: a token with an infinite ratio is dropped and adds 0, not 0 times infinity",
     TRUSTED, {"weight": BAND},
     only((3,), 1115, ((800,), (-800,), (0.25, -0.125)), ((-1,), (-0.5,), (-0.25, 0.5))))
