"""The advantage at tokens: token baselines, entropy, centred KL, marks, entropy shares."""
from cases.table import cases_of
from objectives import changed, plain
from scenarios import MINUS_INF, NAN, full, like

case = cases_of("choices-shaping", 1, axis="advantage")

NONE = changed(plain(), aggregation={"kind": "token_mean"})
SCORE = changed(NONE, advantage={"baseline": "group_mean"})
NORM = changed(SCORE, advantage={"scale": "group_std"})


# ---- baseline of the token

def risky(o):
    # probability 1 at first (W = 0), positions that only one response has, a masked token, a prompt of one response
    batch = full(o, (3, 2, 1), (4, 2, 3, 2, 1, 2), 741, reward=(1, 0, 0.5, 1, -0.5, 0.75), mask={(0, 1), (3, 0)})
    batch["logp_old"] = [[0, NAN, -0.5, -1], [0, -2], [0, -0.25, MINUS_INF], [-1, -0.5], [-0.75], [-1, -0.125]]
    batch["sum_pi_squared"] = [[1, NAN, 0.5, 0.25], [1, 0.75], [1, 0.625, 0.375], [0.5, 0.5], [0.25], [0.5, 0.875]]
    return batch


def single_step(o):
    # two responses and one step in the second prompt, none that counts in the third
    batch = full(o, (2, 2, 1), (2, 2, 2, 1, 1), 742)
    batch["step_end"] = [[True, True], [False, True], [False, True], [False], [False]]
    return batch


OTB = changed(NONE, advantage={"token_baseline": "optimal"})
RETURN = changed(OTB, advantage={"credit": "return", "gamma": 1})
case("optimal", "the mean by what is at stake up to the token; nothing to go elsewhere is no baseline", NONE,
     {"token_baseline": "optimal"}, risky)
case("optimal_shared", "a token that one response alone has keeps its A", OTB, {"token_baseline": "optimal_shared"}, risky)
case("optimal_shared-return", "of discounted returns", changed(NONE, advantage={"credit": "return", "gamma": 0.5}),
     {"token_baseline": "optimal_shared"}, risky)
case("optimal-return", "of discounted returns", changed(NONE, advantage={"credit": "return", "gamma": 0.5}),
     {"token_baseline": "optimal"}, risky)
case("optimal-group_mean", "after a baseline of the group", OTB, {"baseline": "group_mean"}, risky)
case("optimal-gae", "of a critic's advantages", changed(NONE, advantage={"credit": "gae", "gamma": 0.5, "lambda": 0.5}),
     {"token_baseline": "optimal"}, risky)
case("optimal-step", "of step advantages, where a prompt has one step", changed(SCORE, advantage={"credit": "step", "gamma": 1,
     "singleton": "raw"}), {"token_baseline": "optimal"}, single_step)
case("optimal-tokens", "after the second normalisation", OTB, {"batch_norm": "tokens"},
     lambda o: full(o, (2, 2), (2, 2, 1, 3), 744))
case("optimal-clamp", "before the bounds", RETURN, {"clamp_low": -0.25, "clamp_high": 0.25}, risky)


# ---- entropy

def entropies(o):
    batch = full(o, (3, 2), (3, 1, 2, 2, 1), 751, reward=(1, 0.5, 0, 1, -1), mask={(0, 1)})
    batch["entropy"] = [[0.25, NAN, 2], [1.5], [0, 0.125], [1, 0.875], [1.25]]  # mean 0.875: one token is at it
    return batch


def certain(o):
    batch = full(o, (2,), (2, 1), 752, reward=(1, 0))
    batch["entropy"] = [[0, 0], [0]]
    return batch


RELATIVE = changed(SCORE, advantage={"entropy": "relative", "entropy_coef": 0.5})
case("relative", "advantages weighed by entropy over its mean", SCORE, {"entropy": "relative", "entropy_coef": 0.5}, entropies)
case("relative-coef", "at most away, not to the other side", RELATIVE, {"entropy_coef": 3}, entropies)
case("relative-negative", "a negative coefficient favours certain tokens", RELATIVE, {"entropy_coef": -2}, entropies)
case("relative-none", "no entropy anywhere: they stay", changed(RELATIVE, advantage={"baseline": "none"}),
     {"baseline": "group_mean"}, certain)


# ---- centred KL

def drifted(o):
    gaps = ((0.5, -0.25), (0, 1.5, -1), (0.125,))
    batch = full(o, (2, 1), (2, 3, 1), 761, reward=(1, 0, 0.5), mask={(1, 1)})
    batch["logp_rollout"] = like(batch["length"], lambda i, t: -0.5 - 0.25 * t)
    batch["logp_ref"] = like(batch["length"], lambda i, t: -2 + gaps[i][t])
    batch["logp_rollout"][1][1] = NAN
    return batch


def shifted(o):
    batch = full(o, (2,), (2, 1), 762, reward=(1, 1))
    batch["logp_rollout"] = like(batch["length"], lambda i, t: batch["logp_ref"][i][t] - 0.375)
    return batch


CENTRED = changed(SCORE, advantage={"kl_centred_coef": 0.5})
case("kl_centred", "the mean drift from the reference less the token's own", SCORE, {"kl_centred_coef": 0.5}, drifted)
case("kl_centred-negative", "a negative coefficient", CENTRED, {"kl_centred_coef": -2}, drifted)
case("kl_centred-same", "the same drift everywhere: exactly nothing", changed(CENTRED, advantage={"baseline": "none"}),
     {"baseline": "group_mean"}, shifted)
case("kl_centred-teacher", "beside a teacher", CENTRED, {"teacher_coef": 0.5}, drifted)


# ---- marked tokens

def marks(o):
    batch = drifted(o)
    batch["selected"] = [[True, False], [False, True, True], [True]]
    return batch


FIXED = changed(SCORE, advantage={"marked": "fixed", "marked_value": -5})
BOOST = changed(SCORE, advantage={"marked": "boost", "marked_value": 0.25})
case("fixed", "marked tokens get a number of their own", SCORE, {"marked": "fixed", "marked_value": -5}, marks)
case("fixed-kl_centred", "whatever was added", FIXED, {"kl_centred_coef": 0.5}, marks)
case("fixed-clamp", "before the bounds", FIXED, {"clamp_low": -1, "clamp_high": 1}, marks)
case("boost", "marked tokens are praised more and blamed less", SCORE, {"marked": "boost", "marked_value": 0.25}, marks)
case("boost-2", "blame turns into praise", BOOST, {"marked_value": 2}, marks)
case("boost-negative", "the other way round", BOOST, {"marked_value": -0.5}, marks)
case("boost-kl_centred", "of what was added too", BOOST, {"kl_centred_coef": 1}, marks)
case("all", "a token's baseline, entropy, a teacher, the drift, marks and bounds, in this order",
     changed(SCORE, advantage={"token_baseline": "optimal", "entropy": "relative", "entropy_coef": 0.5, "teacher_coef": 0.25,
                               "kl_centred_coef": 0.5, "marked": "boost", "marked_value": 0.5}),
     {"clamp_low": -0.75, "clamp_high": 0.75}, lambda o: full(o, (3, 2), (3, 2, 2, 1, 2), 771, mask={(0, 1)}))


# ---- shares of entropy

def shares(o):
    # three right ones and one wrong one; one right one and two wrong ones, a position where only one is left
    batch = full(o, (4, 3), (3, 2, 1, 2, 2, 3, 2), 781, reward=(1, 0.5, 1, 0, 1, -1, 0), mask={(0, 1)})
    batch["entropy"] = [[0.5, NAN, 1], [1.5, 0.25], [2], [0, 1], [0.75, 0.25], [1, 0, 2], [0.5, 0.125]]
    return batch


def unmoved(o):
    # no entropy at all: right ones have their rewards, wrong ones the same everywhere
    batch = full(o, (4,), (2, 1, 2, 1), 782, reward=(1, 0.5, 0, -1))
    batch["entropy"] = [[0, 0], [0], [0, 0], [0]]
    return batch


SHARE = changed(NONE, advantage={"credit": "entropy_share", "entropy_share_coef": 0.5, "entropy_share_eps": 0.125})
case("share", "right and wrong tokens apart, each by its share of the entropy at its position", NONE,
     {"credit": "entropy_share", "entropy_share_coef": 0.5, "entropy_share_eps": 0.125}, shares)
case("share-coef", "a larger share", SHARE, {"entropy_share_coef": 4}, shares)
case("share-coef-negative", "the other way round", SHARE, {"entropy_share_coef": -0.5}, shares)
case("share-eps", "epsilon beside the entropies of wrong ones: 1/H is 1e8 for one that is certain", SHARE,
     {"entropy_share_eps": 1e-8}, shares)
case("share-std", "population, epsilon inside the root",
     changed(SHARE, advantage={"std": "population", "eps": 0.25}), {"eps_place": "inside"}, shares)
case("share-none", "no entropy: rewards and nothing", SHARE, {"entropy_share_eps": 2, "std": "population", "eps": 0.25}, unmoved)
case("share-boost", "before marks", SHARE, {"marked": "boost", "marked_value": 0.25}, shares)
