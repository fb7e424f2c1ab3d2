"""The advantage at tokens: token baselines, entropy, centred KL, marks, entropy shares."""
from cases.bases import NONE, SCORE
from cases.table import cases_of
from objectives import changed
from scenarios import MINUS_INF, NAN, full, like

case = cases_of("choices-shaping", 1, axis="advantage")


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
case("optimal", "optimal token baseline: mean A at a position, weighted by the summed risk W up to it; where all W are 0, A stays", NONE,
     {"token_baseline": "optimal"}, risky)
case("optimal_shared", "optimal_shared: at positions that only one response of the prompt has, A stays without a baseline",
     OTB, {"token_baseline": "optimal_shared"}, risky)
case("optimal_shared-return", "optimal_shared on discounted returns: positions that only one response has keep their return",
     changed(NONE, advantage={"credit": "return", "gamma": 0.5}),
     {"token_baseline": "optimal_shared"}, risky)
case("optimal-return", "optimal token baseline subtracted from discounted returns",
     changed(NONE, advantage={"credit": "return", "gamma": 0.5}),
     {"token_baseline": "optimal"}, risky)
case("optimal-group_mean", "optimal token baseline subtracted after the group mean", OTB, {"baseline": "group_mean"}, risky)
case("optimal-gae", "optimal token baseline subtracted from GAE's advantages",
     changed(NONE, advantage={"credit": "gae", "gamma": 0.5, "lambda": 0.5}),
     {"token_baseline": "optimal"}, risky)
case("optimal-step", "optimal token baseline subtracted from step advantages, where one prompt has a single step",
     changed(SCORE, advantage={"credit": "step", "gamma": 1,
     "singleton": "raw"}), {"token_baseline": "optimal"}, single_step)
case("optimal-tokens", "optimal token baseline subtracted after batch_norm = tokens", OTB, {"batch_norm": "tokens"},
     lambda o: full(o, (2, 2), (2, 2, 1, 3), 744))
case("optimal-clamp", "optimal token baseline subtracted before advantages are clamped to -0.25..0.25",
     RETURN, {"clamp_low": -0.25, "clamp_high": 0.25}, risky)


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
case("relative", "A times 1 + 0.5 (H / mean H - 1): tokens with more entropy than the batch's mean weigh more",
     SCORE, {"entropy": "relative", "entropy_coef": 0.5}, entropies)
case("relative-coef", "A times max(0, 1 + 3 (H / mean H - 1)): low entropy takes A down to 0, it does not reverse its sign",
     RELATIVE, {"entropy_coef": 3}, entropies)
case("relative-negative", "A times max(0, 1 - 2 (H / mean H - 1)): tokens of low entropy weigh more, those of high entropy 0",
     RELATIVE, {"entropy_coef": -2}, entropies)
case("relative-none", "A times 1 + 0.5 (H / mean H - 1) where all entropies are 0: A stays as it is, not 0/0",
     changed(RELATIVE, advantage={"baseline": "none"}),
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
case("kl_centred", "A plus half of the batch's mean of log(rollout/ref) minus the token's own; a masked token holds NaN",
     SCORE, {"kl_centred_coef": 0.5}, drifted)
case("kl_centred-negative", "A minus twice the batch's mean of log(rollout/ref) minus the token's own (a negative coefficient)",
     CENTRED, {"kl_centred_coef": -2}, drifted)
case("kl_centred-same", "every token has the same log(rollout/ref): the centred KL is exactly 0, advantages do not change",
     changed(CENTRED, advantage={"baseline": "none"}),
     {"baseline": "group_mean"}, shifted)
case("kl_centred-teacher", "the teacher's log-ratio and the centred KL to the reference are both added to A",
     CENTRED, {"teacher_coef": 0.5}, drifted)


# ---- marked tokens

def marks(o):
    batch = drifted(o)
    batch["selected"] = [[True, False], [False, True, True], [True]]
    return batch


FIXED = changed(SCORE, advantage={"marked": "fixed", "marked_value": -5})
BOOST = changed(SCORE, advantage={"marked": "boost", "marked_value": 0.25})
case("fixed", "tokens with batch.marked get the advantage -5, whatever their response's advantage is",
     SCORE, {"marked": "fixed", "marked_value": -5}, marks)
case("fixed-kl_centred", "marked tokens get the advantage -5, without the centred KL that the others get",
     FIXED, {"kl_centred_coef": 0.5}, marks)
case("fixed-clamp", "marked tokens get -5 first, then all advantages are clamped to -1..1",
     FIXED, {"clamp_low": -1, "clamp_high": 1}, marks)
case("boost", "marked tokens get A + |A| / 4: more where A > 0, closer to 0 where A < 0",
     SCORE, {"marked": "boost", "marked_value": 0.25}, marks)
case("boost-2", "marked tokens get A + 2 |A|: a negative advantage becomes positive", BOOST, {"marked_value": 2}, marks)
case("boost-negative", "marked tokens get A - |A| / 2: less where A > 0, further below 0 where A < 0", BOOST, {"marked_value": -0.5}, marks)
case("boost-kl_centred", "marked tokens get A + |A| / 4 where A already includes the centred KL", BOOST, {"kl_centred_coef": 1}, marks)
case("all", "order of the changes: token baseline, entropy, teacher, centred KL, marked tokens, clamp",
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
case("share", "tokens of successful and of failing responses are normalised apart, each with its share of entropy at its position",
     NONE,
     {"credit": "entropy_share", "entropy_share_coef": 0.5, "entropy_share_eps": 0.125}, shares)
case("share-coef", "entropy shares of a token at its position with coefficient 4 instead of 1/2", SHARE, {"entropy_share_coef": 4}, shares)
case("share-coef-negative", "entropy shares with a negative coefficient: high entropy lowers the reward of successful responses",
     SHARE, {"entropy_share_coef": -0.5}, shares)
case("share-eps", "failing responses weigh 1 / (H + eps), eps = 1e-8: a token with entropy 0 weighs 1e8", SHARE,
     {"entropy_share_eps": 1e-8}, shares)
case("share-std", "entropy shares, std = population: divided by sqrt(V + epsilon), epsilon inside the square root",
     changed(SHARE, advantage={"std": "population", "eps": 0.25}), {"eps_place": "inside"}, shares)
case("share-none", "all entropies are 0: successful responses differ by their rewards only; failing tokens are all equal and get 0",
     SHARE, {"entropy_share_eps": 2, "std": "population", "eps": 0.25}, unmoved)
case("share-boost", "marked tokens are raised by |A| / 4 after the entropy shares are normalised",
     SHARE, {"marked": "boost", "marked_value": 0.25}, shares)
