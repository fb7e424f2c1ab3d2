"""The surrogate as a function of a group: standardised scores and a regression of them, targets, hinges."""
from cases.table import cases_of
from cases.bases import NEG, kind, only, unlikely_response
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
case("standardised", "GIFT: scores are standardised within the group; mean and deviation count as constants in the gradient",
     MEAN, STANDARD,
     teams)
case("standardised-sum", "GIFT with summed log-ratios, gradient token and no epsilon beside the scores' deviation",
     changed(MEAN, surrogate={**STANDARD["surrogate"], "group_score_eps": 0}),
     {"ratio": {"level": "sequence_sum", "gradient": "token"}}, teams)
case("standardised-lone", "GIFT: with one active response in the group the divisor is 1, not 0; F = A^2", MEAN, STANDARD, lone)
case("standardised-level", "GIFT with equal scores in the group: their deviation is 0, epsilon alone is the divisor",
     changed(MEAN, **STANDARD), {"surrogate": {"group_score_eps": 2}},
     level)
case("standardised-level-0", "GIFT with equal scores and no epsilon: the loss is A^2 without a gradient, not 0/0",
     changed(MEAN, surrogate={**STANDARD["surrogate"]}),
     {"surrogate": {"group_score_eps": 0}}, level)
far = only((3,), 917, ((300,), (-0.5, 0.25), (299.5,)), ((1,), (-0.5, 2), (0.25,)))
tiny = only((3,), 918, ((-300,), (-301,), (-299.5,)), ((1,), (-0.5,), (0.25,)))
case("standardised-ratio-far", "GIFT with ratios as scores, some of e^300: their squares overflow, standardised they are ordinary numbers",
     changed(MEAN, **STANDARD),
     {"surrogate": {"group_score": "ratio"}}, far)
case("standardised-ratio-tiny", "GIFT with ratios of e^-300 as scores and no epsilon: their squares underflow, their deviation is not 0",
     changed(MEAN, **STANDARD),
     {"surrogate": {"group_score": "ratio", "group_score_eps": 0}}, tiny)
TARGET = kind("tilted_cross_entropy", beta=2, advantage_temperature=0.5)
case("tilted_cross_entropy",
     "TPO: the target is the softmax of old mean log-probabilities plus A / tau, the model's is of the current ones",
     NOTHING, TARGET, teams)
case("target-sum", "TPO with summed log-probabilities of responses instead of means, in target and model alike",
     changed(NOTHING, **TARGET), {"ratio": {"level": "sequence_sum"}}, teams)
case("target-lone", "TPO: groups with one active response, and one with none, add 0", NOTHING, TARGET, lone)
for who, logps, a in (("policy", (NEG, -1), -1), ("both", (NEG, NEG), 1)):
    case(f"target-neginf-{who}",
         f"TPO: a response has probability 0 under {'the' if who == 'policy' else 'the old and the'} policy; target shares are of the old",
         NOTHING, TARGET,
         lambda o, logps=logps, a=a: placed(o, 914, (3,), ((a,), (0.5, 0.5), (-0.25,)), logp=((logps[0],), (-1.25, -0.5), (-0.75,)),
                                            logp_old=((logps[1],), (-1.5, -0.25), (-1,))))
HINGE = kind("pairwise_hinge", beta=0.5, hinge_margin=0.375, min_gap=0.25)
case("pairwise_hinge", "hinge loss of response pairs: only pairs less than hinge_margin apart in score have a gradient", MEAN, HINGE, teams)
case("hinge-shift",
     "hinge loss, margin 20, min_gap 0: no pair is 20 apart, any two different advantages make a pair; summed log-probabilities",
     changed(NOTHING, ratio={"level": "sequence_sum"}, **HINGE), {"surrogate": {"hinge_margin": 20, "min_gap": 0}}, teams)
case("hinge-bound", "hinge loss: a pair exactly hinge_margin apart has no gradient; advantages exactly min_gap apart make no pair",
     changed(MEAN, **HINGE),
     {"surrogate": {"beta": 1, "hinge_margin": 0.5}}, only((3,), 915, ((0.75,), (0.25, 0.25), (0.5,)), ((0.5,), (0, 0), (0.25,))))
case("hinge-neginf", "hinge loss: the better response of a pair has probability 0 under the policy, an infinite loss", MEAN, HINGE,
     lambda o: placed(o, 916, (2,), ((1,), (-0.5, -0.5)), logp=((NEG,), (-1.25, -0.5)), logp_old=((-1,), (-1.5, -0.25))))


def never(policy, old, a):
    """A response of probability 0 under the policy, or under the old policy, with advantage a, and two others."""
    return lambda o: placed(o, 917, (3,), ((a,), (0.5, 0.5), (-0.25,)), logp=((policy,), (-1.25, -0.5), (-0.75,)),
                            logp_old=((old,), (-1.5, -0.25), (-1,)))


NEVER = (("policy-good", (NEG, -1), 1), ("old-bad", (-1, NEG), -1))
for who, logps, a in NEVER:
    case(f"standardised-neginf-{who}",
         f"GIFT: {unlikely_response(a, logps)}; finite scores count as equal, all gradients are 0",
         MEAN, STANDARD,
         never(*logps, a))


# ---- standardised scores whose mean and deviation are differentiated


case = cases_of("choices-surrogate-group-target", 1)

REGRESSION = kind("regression", beta=0.5, group_score_eps=0.125)
STANDARD = changed(MEAN, surrogate={**REGRESSION["surrogate"], "kind": "standardised"})
FIT = changed(MEAN, **REGRESSION)
case("regression", "Reg-GRPO: standardised scores whose mean and deviation are differentiated, unlike GIFT's constants", STANDARD,
     {"surrogate": {"kind": "regression"}}, teams)
case("regression-sum", "Reg-GRPO with summed log-ratios, gradient token and no epsilon beside the scores' deviation",
     changed(FIT, surrogate={"group_score_eps": 0}),
     {"ratio": {"level": "sequence_sum", "gradient": "token"}}, teams)
case("regression-power_mean", "Reg-GRPO: the score is the logarithm of the power mean of clipped token ratios", FIT,
     {"ratio": {"level": "sequence_power_mean", "power": 0.5, "token_clip_low": 0.75, "token_clip_high": 0.625}}, teams)
case("regression-ratio", "Reg-GRPO with the response's ratio as its score (group_score = ratio), not the log-ratio",
     FIT, {"surrogate": {"group_score": "ratio"}}, teams)
case("regression-weighted", "Reg-GRPO: a response's token weights multiply its loss's gradient with respect to all scores of the group",
     changed(FIT, aggregation={"kind": "token_mean"}),
     {"weight": {"external": "policy"}},
     lambda o: {**teams(o), "external_weight": [[2, 0.5], [1], [0.25, 3], [0], [1.5]]})
case("regression-lone", "Reg-GRPO: with one active response in the group the loss is A^2 without a gradient",
     STANDARD, {"surrogate": {"kind": "regression"}}, lone)
case("regression-level", "Reg-GRPO with equal scores: epsilon alone is the divisor, the deviation's gradient is 0, not 0/0", FIT,
     {"surrogate": {"group_score_eps": 2}},
     level)
case("regression-level-0", "Reg-GRPO with equal scores and no epsilon: the loss is A^2 without a gradient, not 0/0",
     FIT, {"surrogate": {"group_score_eps": 0}}, level)
case("regression-ratio-far",
     "Reg-GRPO with ratios as scores, some of e^300: their squares overflow, standardised they are ordinary numbers",
     FIT, {"surrogate": {"group_score": "ratio"}}, far)
case("regression-ratio-tiny", "Reg-GRPO with ratios of e^-300 as scores and no epsilon: their squares underflow, their deviation is not 0",
     FIT,
     {"surrogate": {"group_score": "ratio", "group_score_eps": 0}}, tiny)
for who, logps, a in NEVER:
    case(f"regression-neginf-{who}",
         f"Reg-GRPO: {unlikely_response(a, logps)}; finite scores count as equal, all gradients 0",
         changed(MEAN, ratio={"level": "sequence_sum"}), REGRESSION, never(*logps, a))
beyond = only((3,), 918, ((800,), (-0.25, 0.5), (0.25,)), ((1,), (-0.5, 2), (0.25,)))
two_beyond = only((3,), 919, ((800,), (900, 800), (0.25,)), ((1,), (-0.5, 2), (0.25,)))
for which in ("standardised", "regression"):
    surrogate = {"surrogate": {**REGRESSION["surrogate"], "kind": which, "group_score": "ratio"}}
    case(f"{which}-ratio-beyond",
         f"{which}: a ratio of e^800 as score is beyond binary64, standardised it and its gradient are ordinary numbers", MEAN,
         surrogate, beyond)
    case(f"{which}-ratio-two-beyond", f"{which}: ratios of e^800 and e^850 as scores: beside the larger the other counts as 0",
         MEAN, surrogate, two_beyond)
