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
case("quadratic", "CFPO's parabola: the gradient is 0 at ratio 1 + eps for A > 0 and 1 - eps for A < 0, and changes sign beyond",
     SCORE, QUADRATIC, levels)
case("quadratic-eps_high", "CFPO's parabola with quadratic_eps 1.5, of the response's mean log-ratio",
     changed(MEAN, **QUADRATIC), {"surrogate": {"quadratic_eps": 1.5}},
     means)
case("quadratic-neginf-policy", "CFPO's parabola at ratio 0 (policy probability 0): value |A| / (2 eps), no gradient",
     SCORE, QUADRATIC, never(NEG, -1, 1))
case("quadratic-neginf-old", "CFPO's parabola at an infinite ratio (old probability 0) where A < 0: an infinite loss",
     SCORE, QUADRATIC, never(-0.5, NEG, -1))
UNBOUNDED = kind("unbounded_positive", eps_low=0.25, eps_high=0.25, clip_dual=3)
case("unbounded_positive", "where A > 0 value and gradient are -A whatever the ratio; where A < 0 clipped below, and at ratio 3",
     SCORE, UNBOUNDED,
     levels)
case("unbounded_positive-response", "UP with a response's ratio: where A > 0 each token's derivative is -A, not that of the mean log-ratio",
     MEAN,
     UNBOUNDED, means)
case("unbounded_positive-clamped", "UP with clamped log-ratios: the clamp does not take away the gradient where A > 0; level sequence_mean",
     changed(MEAN, **UNBOUNDED), {"ratio": {"clamp_low": -0.5, "clamp_high": 0.5}}, means)


# ---- none


case = cases_of("choices-surrogate-token", 1)

PAID = changed(plain(), advantage={"baseline": "group_mean"}, penalty={"kl": "k3", "kl_coef": 0.25}, aggregation={"kind": "token_mean"})
NONE = kind("none")
case("none", "surrogate none: the loss consists of the KL penalty and the entropy bonus only",
     changed(PAID, penalty={"entropy_coef": 0.125}), NONE,
     only((2, 1), 951, ((0.5, -0.25), (-1, 0.125), (0.25,)), reward=(1, 0, 0.5), mask={(1, 0)}))
case("none-kl_importance_weight", "surrogate none: the KL penalty has importance ratios as weights, and these are reported",
     changed(PAID, penalty={"kl_importance_weight": "token"}), NONE,
     only((2,), 952, ((0.5, -0.25), (-1, 0.125)), reward=(1, 0)))
case("none-nothing", "surrogate none without KL, entropy or other penalty: loss 0 and gradient 0",
     changed(PAID, penalty={"kl": "none", "kl_coef": 0}), NONE,
     only((2,), 953, ((0.5, -0.25), (-1,)), reward=(1, 0)))


def unlikely(o):
    batch = placed(o, 954, (2,), ((1, -0.5), (-1, 0.25)), logp=((NEG, -0.5), (-1, -0.25)))
    return {**batch, "selected": [[False, True], [True, False]]}


case("none-neginf", "surrogate none with an NLL term on selected tokens: a token of probability 0 is not selected and adds nothing",
     changed(plain(), aggregation={"kind": "token_mean"}, penalty={"nll_on": "selected", "nll_coef": 0.5}), NONE, unlikely)
