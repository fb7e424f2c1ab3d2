"""The surrogate of one unit: quadratic, unbounded_positive, none."""
from cases.table import cases_of
from cases.bases import NEG, kind, only
from objectives import changed, plain
from scenarios import placed

SCORE = changed(plain(), aggregation={"kind": "token_mean"})
MEAN = changed(plain(), ratio={"level": "sequence_mean"}, aggregation={"kind": "group_mean"})


# ---- quadratic, unbounded_positive


case = cases_of("choices-surrogate-token")

# far below, below, at and above 1, far above; A of both signs, and 0
levels = only((2, 1), 901, ((-1.5, -0.1875, 0, 0.25), (0.25, 1.5, -0.25), (-2, 2, 0.5)),
              ((1, -0.5, 0.75, 1.25), (-1, 0.5, -0.75), (-0.5, -1.25, 0)))
means = only((2,), 902, ((1, -0.25), (-0.75, -0.5, 0.125)), ((0.5, -1), (1, 0.25, -0.5)))


def never(policy, old, a):
    """A token of probability 0 under one policy, beside another."""
    return lambda o: placed(o, 903, (2,), ((a,), (0.75,)), logp=((policy,), (-1.25,)), logp_old=((old,), (-1.5,)))


QUADRATIC = kind("quadratic", quadratic_eps=0.25)
case("quadratic", "its slope is 0 at 1 + eps for A > 0 and at 1 - eps for A < 0, and turns beyond", SCORE, QUADRATIC, levels)
case("quadratic-eps_high", "a wider parabola, of the response's ratio", changed(MEAN, **QUADRATIC), {"surrogate": {"quadratic_eps": 1.5}},
     means)
case("quadratic-neginf-policy", "a ratio of 0: -A w + abs(A)/(2 eps), without a slope", SCORE, QUADRATIC, never(NEG, -1, 1))
case("quadratic-neginf-old", "an infinite ratio of a bad token", SCORE, QUADRATIC, never(-0.5, NEG, -1))
UNBOUNDED = kind("unbounded_positive", eps_low=0.25, eps_high=0.25, clip_dual=3)
case("unbounded_positive", "value and slope -A for good tokens, whatever their ratio; bad ones clipped below, and at 3", SCORE, UNBOUNDED,
     levels)
case("unbounded_positive-response", "the unit is the response, whose tokens have one value and one slope: another than a ratio's", MEAN,
     UNBOUNDED, means)
case("unbounded_positive-clamped", "bounds of the log-ratio do not cut the slope of good tokens; the unit is the response",
     changed(MEAN, **UNBOUNDED), {"ratio": {"clamp_low": -0.5, "clamp_high": 0.5}}, means)


# ---- none


case = cases_of("choices-surrogate-token", 1)

PAID = changed(plain(), advantage={"baseline": "group_mean"}, penalty={"kl": "k3", "kl_coef": 0.25}, aggregation={"kind": "token_mean"})
NONE = kind("none")
case("none", "the KL and the entropy are all there is", changed(PAID, penalty={"entropy_coef": 0.125}), NONE,
     only((2, 1), 951, ((0.5, -0.25), (-1, 0.125), (0.25,)), reward=(1, 0, 0.5), mask={(1, 0)}))
case("none-kl_importance_weight", "the KL's ratio is a ratio to report", changed(PAID, penalty={"kl_importance_weight": "token"}), NONE,
     only((2,), 952, ((0.5, -0.25), (-1, 0.125)), reward=(1, 0)))
case("none-nothing", "and without anything paid for: 0", changed(PAID, penalty={"kl": "none", "kl_coef": 0}), NONE,
     only((2,), 953, ((0.5, -0.25), (-1,)), reward=(1, 0)))


def unlikely(o):
    batch = placed(o, 954, (2,), ((1, -0.5), (-1, 0.25)), logp=((NEG, -0.5), (-1, -0.25)))
    return {**batch, "selected": [[False, True], [True, False]]}


case("none-neginf", "a token of probability 0 that nothing is paid for; imitation of the others",
     changed(plain(), aggregation={"kind": "token_mean"}, penalty={"nll_on": "selected", "nll_coef": 0.5}), NONE, unlikely)
