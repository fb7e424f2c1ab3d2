"""The surrogate as a function of a group: good ones against the others, soft pairs, matched shares; ratios as scores."""
from cases.table import cases_of
from cases.surrogate_group import KINDS, MEAN, NEG, distant, kind, lone, one_never, teams
from objectives import changed
from scenarios import full

case = cases_of("choices-scores")

SCORES = {"contrast_mean": kind("contrast_mean"), "contrast_lse": kind("contrast_lse", tau_neg=0.75),
          "soft_pairs": kind("soft_pairs", strength=2, tau_pos=0.5), "match": kind("match", strength=1.5, tau_pos=0.5),
          "match_js": kind("match_js", strength=1.5, tau_pos=0.5)}
OF = {name: changed(MEAN, surrogate=fields) for name, fields in {**KINDS, **SCORES}.items()}
RATIO = {"surrogate": {"score": "ratio"}}


# ---- functions of a group

def two_sides(o):
    """Two good and two other responses of different length, and a group without good ones."""
    d = ((0.5,), (-0.25, 0.75, 0.5, 1), (1.5, -1), (-0.75,), (-0.5, 0.25), (1,))
    batch = full(o, (4, 2), [len(x) for x in d], 1001, d=lambda dice, i, t: d[i][t], mask={(1, 1)})
    batch["advantage"] = [[1], [0.5] * 4, [-0.5] * 2, [0], [-1] * 2, [0]]
    return batch


for name in ("contrast_mean", "contrast_lse"):
    case(name, "good responses against the others; a group without good ones is worth nothing", MEAN, {"surrogate": SCORES[name]},
         two_sides)
case("contrast_mean-length_rate", "short good responses count for more", OF["contrast_mean"],
     {"surrogate": {"length_rate": 0.5}}, two_sides)
case("contrast_lse-length_rate", "long ones do", OF["contrast_lse"], {"surrogate": {"length_rate": -0.25}}, two_sides)
case("contrast_lse-far-800", "one of the others decides", MEAN, {"surrogate": SCORES["contrast_lse"]}, distant)
for label, logps, a in (("old-bad", (-1, NEG), -1), ("policy-bad", (NEG, -1), -1), ("policy-good", (NEG, -1), 1)):
    case(f"contrast_lse-neginf-{label}", "an infinite score, of a good response or of another", MEAN,
         {"surrogate": SCORES["contrast_lse"]}, one_never(*logps, a))
for name in ("soft_pairs", "match", "match_js"):
    case(name, "one score for each response, towards what the advantages say", MEAN, {"surrogate": SCORES[name]}, teams)
for name in ("soft_pairs", "match"):
    case(f"{name}-lone", "groups of one active response, and one of none", MEAN, {"surrogate": SCORES[name]}, lone)
case("soft_pairs-token", "the derivative by the score goes to every token as it is", OF["soft_pairs"],
     {"ratio": {"gradient": "token"}}, teams)
case("soft_pairs-far-800", "scores 800 and 1600 apart", MEAN, {"surrogate": SCORES["soft_pairs"]}, distant)
case("match_js-far-800", "shares of e^-1100 and less", MEAN, {"surrogate": SCORES["match_js"]}, distant)
case("soft_pairs-neginf", "a response that cannot be: every preference for it is lost", MEAN, {"surrogate": SCORES["soft_pairs"]},
     one_never(NEG, -1, 1))
case("match-neginf", "a response that can be now: it has all of the share", MEAN, {"surrogate": SCORES["match"]}, one_never(-1, NEG, 1))
case("match_js-neginf", "a share of 0: 0 log 0 is 0", MEAN, {"surrogate": SCORES["match_js"]}, one_never(NEG, -1, 1))


# ---- ratios as scores

for name in ("variance", "labels", "balance", "contrast"):
    case(f"{name}-ratio", "the score is the ratio, not its logarithm", OF[name], RATIO, teams)
case("contrast_mean-ratio-neginf", "a ratio of 0 has no derivative", OF["contrast_mean"], RATIO, one_never(NEG, -1, 1))
MEAN_RATIO = {"ratio": {"unit": "sequence_mean_ratio"}}
case("variance-mean_ratio", "the score is the logarithm of the mean ratio", OF["variance"], MEAN_RATIO, teams)
case("contrast_lse-mean_ratio", "the score is the mean ratio", changed(OF["contrast_lse"], **MEAN_RATIO), RATIO, two_sides)
