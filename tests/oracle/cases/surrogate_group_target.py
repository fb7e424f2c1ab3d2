"""The surrogate as a function of a group: standardised scores and a regression of them, targets, hinges."""
from cases.table import cases_of
from cases.bases import NEG, kind, only
from objectives import changed, plain
from scenarios import placed

case = cases_of("choices-surrogate-group-target")

MEAN = changed(plain(), ratio={"level": "sequence_mean"}, aggregation={"kind": "group_mean"})
NOTHING = changed(MEAN, ratio={"behaviour": "none"})


# ---- functions of a group

TEAMS = ((0.5, -0.25), (-1,), (0.75, -0.5), (1.5,), (0.25,))
teams = only((3, 2), 911, TEAMS, ((1, -1), (-0.5,), (0.25, -2), (0.125,), (-1,)), mask={(2, 1)})
lone = only((1, 2, 1), 912, ((0.5, -1), (0.25,), (1,), (-0.5,)), ((1, 1), (-0.5,), (0.5,), (2,)), mask={(2, 0), (3, 0)})
level = only((3,), 913, ((0.25,), (0.5, 0), (0.25,)), ((1,), (-0.5, 2), (0.25,)))
STANDARD = kind("standardised", beta=0.5, group_score_eps=0.125)
case("standardised", "scores minus their mean over their deviation, which are numbers: every response has its own slope", MEAN, STANDARD,
     teams)
case("standardised-sum", "sums, each token by itself, no epsilon", changed(MEAN, surrogate={**STANDARD["surrogate"], "group_score_eps": 0}),
     {"ratio": {"level": "sequence_sum", "gradient": "token"}}, teams)
case("standardised-lone", "a group of one active response: 1 divides", MEAN, STANDARD, lone)
case("standardised-level", "equal scores: the epsilon alone divides", changed(MEAN, **STANDARD), {"surrogate": {"group_score_eps": 2}},
     level)
case("standardised-level-0", "equal scores and no epsilon: A^2, without a slope", changed(MEAN, surrogate={**STANDARD["surrogate"]}),
     {"surrogate": {"group_score_eps": 0}}, level)
far = only((3,), 917, ((300,), (-0.5, 0.25), (299.5,)), ((1,), (-0.5, 2), (0.25,)))
tiny = only((3,), 918, ((-300,), (-301,), (-299.5,)), ((1,), (-0.5,), (0.25,)))
case("standardised-ratio-far", "the score is the ratio: some are e^300, whose squares a binary64 does not hold", changed(MEAN, **STANDARD),
     {"surrogate": {"group_score": "ratio"}}, far)
case("standardised-ratio-tiny", "ratios of e^-300 and no epsilon: squares that are nothing", changed(MEAN, **STANDARD),
     {"surrogate": {"group_score": "ratio", "group_score_eps": 0}}, tiny)
TARGET = kind("tilted_cross_entropy", beta=2, advantage_temperature=0.5)
case("tilted_cross_entropy", "the shares that the old policy gave, times e^(A/tau)", NOTHING, TARGET, teams)
case("target-sum", "log-probabilities of whole responses", changed(NOTHING, **TARGET), {"ratio": {"level": "sequence_sum"}}, teams)
case("target-lone", "a group of one active response, and one of none: 0", NOTHING, TARGET, lone)
for who, logps, a in (("policy", (NEG, -1), -1), ("both", (NEG, NEG), 1)):
    case(f"target-neginf-{who}", "a response of probability 0: infinite where its share was above 0", NOTHING, TARGET,
         lambda o, logps=logps, a=a: placed(o, 914, (3,), ((a,), (0.5, 0.5), (-0.25,)), logp=((logps[0],), (-1.25, -0.5), (-0.75,)),
                                            logp_old=((logps[1],), (-1.5, -0.25), (-1,))))
HINGE = kind("pairwise_hinge", beta=0.5, hinge_margin=0.375, min_gap=0.25)
case("pairwise_hinge", "pairs that are apart by less than the shift push, others do not", MEAN, HINGE, teams)
case("hinge-shift", "log-probabilities of whole responses, no pair far enough apart, any two advantages that differ",
     changed(NOTHING, ratio={"level": "sequence_sum"}, **HINGE), {"surrogate": {"hinge_margin": 20, "min_gap": 0}}, teams)
case("hinge-bound", "a pair exactly the shift apart has no slope; advantages exactly the margin apart make no pair", changed(MEAN, **HINGE),
     {"surrogate": {"beta": 1, "hinge_margin": 0.5}}, only((3,), 915, ((0.75,), (0.25, 0.25), (0.5,)), ((0.5,), (0, 0), (0.25,))))
case("hinge-neginf", "the better one of a pair has probability 0", MEAN, HINGE,
     lambda o: placed(o, 916, (2,), ((1,), (-0.5, -0.5)), logp=((NEG,), (-1.25, -0.5)), logp_old=((-1,), (-1.5, -0.25))))


def never(policy, old, a):
    """A response of probability 0 under the policy, or under the old policy, with advantage a, and two others."""
    return lambda o: placed(o, 917, (3,), ((a,), (0.5, 0.5), (-0.25,)), logp=((policy,), (-1.25, -0.5), (-0.75,)),
                            logp_old=((old,), (-1.5, -0.25), (-1,)))


NEVER = (("policy-good", (NEG, -1), 1), ("old-bad", (-1, NEG), -1))
for who, logps, a in NEVER:
    case(f"standardised-neginf-{who}", "one score is infinite: the others are the same beside it, and nothing has a slope", MEAN, STANDARD,
         never(*logps, a))


# ---- standardised scores whose mean and deviation are differentiated


case = cases_of("choices-surrogate-group-target", 1)

REGRESSION = kind("regression", beta=0.5, group_score_eps=0.125)
STANDARD = changed(MEAN, surrogate={**REGRESSION["surrogate"], "kind": "standardised"})
FIT = changed(MEAN, **REGRESSION)
case("regression", "the values of standardised, and slopes that see what every score does to their mean and deviation", STANDARD,
     {"surrogate": {"kind": "regression"}}, teams)
case("regression-sum", "sums, each token by itself, no epsilon", changed(FIT, surrogate={"group_score_eps": 0}),
     {"ratio": {"level": "sequence_sum", "gradient": "token"}}, teams)
case("regression-power_mean", "the score is the logarithm of a power mean", FIT,
     {"ratio": {"level": "sequence_power_mean", "power": 0.5, "token_clip_low": 0.75, "token_clip_high": 0.625}}, teams)
case("regression-ratio", "the score is the ratio", FIT, {"surrogate": {"group_score": "ratio"}}, teams)
case("regression-weighted", "what a response counts for weighs its slope on all scores", changed(FIT, aggregation={"kind": "token_mean"}),
     {"weight": {"external": "policy"}},
     lambda o: {**teams(o), "external_weight": [[2, 0.5], [1], [0.25, 3], [0], [1.5]]})
case("regression-lone", "a group of one active response: A^2, without a slope", STANDARD, {"surrogate": {"kind": "regression"}}, lone)
case("regression-level", "equal scores: the epsilon alone divides, and the deviation has no slope", FIT,
     {"surrogate": {"group_score_eps": 2}},
     level)
case("regression-level-0", "equal scores and no epsilon: A^2, without a slope", FIT, {"surrogate": {"group_score_eps": 0}}, level)
case("regression-ratio-far", "ratios of e^300, whose squares a binary64 does not hold", FIT, {"surrogate": {"group_score": "ratio"}}, far)
case("regression-ratio-tiny", "ratios of e^-300 and no epsilon: squares that are nothing", FIT,
     {"surrogate": {"group_score": "ratio", "group_score_eps": 0}}, tiny)
for who, logps, a in NEVER:
    case(f"regression-neginf-{who}", "one score is infinite: the others are the same beside it, and nothing has a slope",
         changed(MEAN, ratio={"level": "sequence_sum"}), REGRESSION, never(*logps, a))
beyond = only((3,), 918, ((800,), (-0.25, 0.5), (0.25,)), ((1,), (-0.5, 2), (0.25,)))
two_beyond = only((3,), 919, ((800,), (900, 800), (0.25,)), ((1,), (-0.5, 2), (0.25,)))
for which in ("standardised", "regression"):
    surrogate = {"surrogate": {**REGRESSION["surrogate"], "kind": which, "group_score": "ratio"}}
    case(f"{which}-ratio-beyond", "a ratio of e^800, beyond binary64: standardised it is an ordinary number, and so is its slope", MEAN,
         surrogate, beyond)
    case(f"{which}-ratio-two-beyond", "ratios of e^800 and e^850: the larger one alone is seen beside the other", MEAN, surrogate, two_beyond)
