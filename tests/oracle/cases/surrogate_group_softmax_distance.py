"""The surrogate as a function of a group: discriminative losses, soft pairs, distances of softmaxes; ratios as scores."""
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
    case(name, "good responses against the others; a group without good ones is worth nothing", MEAN, {"surrogate": SCORES[name]},
         two_sides)
case("contrast_mean-length_decay", "short good responses count for more", OF["discriminative_mean"],
     {"surrogate": {"length_decay": 0.5}}, two_sides)
case("contrast_lse-length_decay", "long ones do", OF["discriminative_lse"], {"surrogate": {"length_decay": -0.25}}, two_sides)
case("contrast_lse-far-800", "one of the others decides", MEAN, {"surrogate": SCORES["discriminative_lse"]}, distant)
for label, logps, a in (("old-bad", (-1, NEG), -1), ("policy-bad", (NEG, -1), -1), ("policy-good", (NEG, -1), 1)):
    case(f"contrast_lse-neginf-{label}", "an infinite score, of a good response or of another", MEAN,
         {"surrogate": SCORES["discriminative_lse"]}, one_never(*logps, a))
for name in ("pairwise_soft", "softmax_mse", "softmax_js"):
    case(name, "one score for each response, towards what the advantages say", MEAN, {"surrogate": SCORES[name]}, teams)
for name in ("pairwise_soft", "softmax_mse"):
    case(f"{name}-lone", "groups of one active response, and one of none", MEAN, {"surrogate": SCORES[name]}, lone)
case("soft_pairs-token", "the derivative by the score goes to every token as it is", OF["pairwise_soft"],
     {"ratio": {"gradient": "token"}}, teams)
case("soft_pairs-far-800", "scores 800 and 1600 apart", MEAN, {"surrogate": SCORES["pairwise_soft"]}, distant)
case("match_js-far-800", "shares of e^-1100 and less", MEAN, {"surrogate": SCORES["softmax_js"]}, distant)
case("soft_pairs-neginf", "a response that cannot be: every preference for it is lost", MEAN, {"surrogate": SCORES["pairwise_soft"]},
     one_never(NEG, -1, 1))
case("match-neginf", "a response that can be now: it has all of the share", MEAN, {"surrogate": SCORES["softmax_mse"]},
     one_never(-1, NEG, 1))
case("match_js-neginf", "a share of 0: 0 log 0 is 0", MEAN, {"surrogate": SCORES["softmax_js"]}, one_never(NEG, -1, 1))


# ---- ratios as scores

for name in ("variance", "logistic_lse", "trajectory_balance", "softmax_cross_entropy"):
    case(f"{name}-ratio", "the score is the ratio, not its logarithm", OF[name], RATIO, teams)
case("contrast_mean-ratio-neginf", "a ratio of 0 has no derivative", OF["discriminative_mean"], RATIO, one_never(NEG, -1, 1))
MEAN_RATIO = {"ratio": {"level": "sequence_mean_ratio"}}
case("variance-mean_ratio", "the score is the logarithm of the mean ratio", OF["variance"], MEAN_RATIO, teams)
case("contrast_lse-mean_ratio", "the score is the mean ratio", changed(OF["discriminative_lse"], **MEAN_RATIO), RATIO, two_sides)
