"""The surrogate as a function of a group: discriminative losses, soft pairs, distances of softmaxes; ratios as scores."""
from cases.bases import unlikely_response
from cases.table import cases_of
from cases.surrogate_group import KINDS, MEAN, NEG, distant, kind, lone, one_never, teams
from objectives import changed
from scenarios import full

case = cases_of("choices-scores")

SCORES = {"discriminative_mean": kind("discriminative_mean"), "discriminative_lse": kind("discriminative_lse", tau_neg=0.75),
          "pairwise_soft": kind("pairwise_soft", beta=2, advantage_temperature=0.5),
          "softmax_mse": kind("softmax_mse", beta=1.5, advantage_temperature=0.5),
          "softmax_js": kind("softmax_js", beta=1.5, advantage_temperature=0.5)}
OF = {name: changed(MEAN, surrogate=fields) for name, fields in {**KINDS, **SCORES}.items()}
RATIO = {"surrogate": {"group_score": "ratio"}}


# ---- functions of a group

def two_sides(o):
    """Two positive and two negative responses of different lengths, and a group without positive ones."""
    d = ((0.5,), (-0.25, 0.75, 0.5, 1), (1.5, -1), (-0.75,), (-0.5, 0.25), (1,))
    batch = full(o, (4, 2), [len(x) for x in d], 1001, d=lambda dice, i, t: d[i][t], mask={(1, 1)})
    batch["advantage"] = [[1], [0.5] * 4, [-0.5] * 2, [0], [-1] * 2, [0]]
    return batch


for name in ("discriminative_mean", "discriminative_lse"):
    case(name, f"{name}: scores of responses with A > 0 against those with A <= 0; a group without A > 0 adds 0",
         MEAN, {"surrogate": SCORES[name]}, two_sides)
case("contrast_mean-length_decay", "discriminative_mean with length_decay 0.5: among responses with A > 0, shorter ones weigh more",
     OF["discriminative_mean"],
     {"surrogate": {"length_decay": 0.5}}, two_sides)
case("contrast_lse-length_decay", "discriminative_lse with length_decay -0.25: among responses with A > 0, longer ones weigh more",
     OF["discriminative_lse"], {"surrogate": {"length_decay": -0.25}}, two_sides)
case("contrast_lse-far-800", "discriminative_lse of scores 800 and 1600 apart: the largest negative score alone decides the soft maximum",
     MEAN, {"surrogate": SCORES["discriminative_lse"]}, distant)
for label, logps, a in (("old-bad", (-1, NEG), -1), ("policy-bad", (NEG, -1), -1), ("policy-good", (NEG, -1), 1)):
    case(f"contrast_lse-neginf-{label}",
         f"discriminative_lse: {unlikely_response(a, logps)}: an infinite score",
         MEAN,
         {"surrogate": SCORES["discriminative_lse"]}, one_never(*logps, a))
for name in ("pairwise_soft", "softmax_mse", "softmax_js"):
    case(name, f"{name}: the response scores of a group are drawn to the softmax or pair preferences of its advantages",
         MEAN, {"surrogate": SCORES[name]}, teams)
for name in ("pairwise_soft", "softmax_mse"):
    case(f"{name}-lone", f"{name}: groups with one active response, and one with none: no division by 0",
         MEAN, {"surrogate": SCORES[name]}, lone)
case("soft_pairs-token",
     "pairwise_soft, gradient token: every token gets the derivative of its response's score, not divided by its length",
     OF["pairwise_soft"],
     {"ratio": {"gradient": "token"}}, teams)
case("soft_pairs-far-800", "pairwise_soft of scores 800 and 1600 apart: e^800 must not overflow",
     MEAN, {"surrogate": SCORES["pairwise_soft"]}, distant)
case("match_js-far-800", "softmax_js of scores 800 and 1600 apart: softmax shares of e^-1100 and less",
     MEAN, {"surrogate": SCORES["softmax_js"]}, distant)
case("soft_pairs-neginf", "pairwise_soft: a response with A > 0 has probability 0, its score is -infinity in every pair",
     MEAN, {"surrogate": SCORES["pairwise_soft"]},
     one_never(NEG, -1, 1))
case("match-neginf", "softmax_mse: the old probability of a response is 0, so its score is infinite and its softmax share 1",
     MEAN, {"surrogate": SCORES["softmax_mse"]},
     one_never(-1, NEG, 1))
case("match_js-neginf", "softmax_js: a response of probability 0 has a softmax share of 0, where 0 log 0 counts as 0",
     MEAN, {"surrogate": SCORES["softmax_js"]}, one_never(NEG, -1, 1))


# ---- ratios as scores

for name in ("variance", "logistic_lse", "trajectory_balance", "softmax_cross_entropy"):
    case(f"{name}-ratio", f"{name} with the response's ratio as its score (group_score = ratio), not the log-ratio", OF[name], RATIO, teams)
case("variance-ratio-neginf-old-good",
     "variance with ratios as scores: the old probability of a response with A > 0 is 0, its ratio infinite",
     changed(MEAN, **RATIO), {"surrogate": kind("variance", beta=0.5)}, one_never(-1, NEG, 1))
case("contrast_mean-ratio-neginf", "discriminative_mean with ratios as scores: a ratio of 0 (policy probability 0) has no gradient",
     OF["discriminative_mean"], RATIO, one_never(NEG, -1, 1))
MEAN_RATIO = {"ratio": {"level": "sequence_mean_ratio"}}
case("variance-mean_ratio", "variance: the score is the logarithm of the response's mean token ratio", OF["variance"], MEAN_RATIO, teams)
case("contrast_lse-mean_ratio", "discriminative_lse: the score is the response's mean token ratio, not its logarithm",
     changed(OF["discriminative_lse"], **MEAN_RATIO), RATIO, two_sides)
