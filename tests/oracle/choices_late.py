"""More cases of choices-found: a power mean of ratios, a regression of scores, no surrogate, signs for pairs, steps in GAE; as in
choices.py."""
from choices_found import MEAN, NEG, kind, level, lone, only, teams
from objectives import changed, plain
from scenarios import full, placed

CASES = []  # (axis, label, comment, base, {axis: {field: value}}, make)


def case(label, comment, base, changes, make):
    CASES.append(("found", label, comment, base, changes, make))


# ---- the power mean of a response's clipped ratios

RATIO = changed(plain(), **kind("ratio"), aggregation={"kind": "seq_mean_token_mean"})
POOL = {"pool_low": 0.25, "pool_high": 0.1875}
CLIPPED = changed(RATIO, ratio={"unit": "sequence_clipped_mean", **POOL})
POWER = changed(CLIPPED, ratio={"unit": "sequence_power_mean", "power": 2})
UNBOUNDED = changed(POWER, ratio={"pool_low": 1024, "pool_high": 1024})

# beyond, between the bounds; advantages of both signs inside a response, and 0
walk = only((2, 1), 941, ((0.5, -0.5, 0.125, -0.125), (-0.75, 0.0625, 0.75), (-0.1875, 0.5)),
            ((1, 0.5, 1, -0.75), (-1, -0.5, -1.25), (0, 0.25)), mask={(1, 1)})
wide = only((2,), 942, ((3, -2, 2.5), (-1, 0.5)), ((1, 1, 1), (-0.5, -0.5)))
far = only((2,), 943, ((800, -800, 799.5), (-800, -798)), ((1, 1, 1), (-0.5, -0.5)))

case("power_mean", "between the arithmetic mean and the largest of the clipped ratios; every token's own sign says which bound", CLIPPED,
     {"ratio": {"unit": "sequence_power_mean", "power": 2}}, walk)
case("power_mean-1", "the arithmetic mean", POWER, {"ratio": {"power": 1}}, walk)
case("power_mean-0.001", "nearly the geometric mean: e^(p e) is 1 and a little", POWER, {"ratio": {"power": 2 ** -10}}, walk)
case("power_mean-16", "nearly the largest", UNBOUNDED, {"ratio": {"power": 16}}, wide)
case("power_mean-far-800", "e^12800 is beyond every format, its root's logarithm is not", changed(UNBOUNDED, **kind("log_ratio")),
     {"ratio": {"power": 16}}, far)
case("power_mean-token", "the derivative at the token's own log-probability is 1, 0 where it is clipped", POWER,
     {"ratio": {"gradient": "token"}}, walk)
case("power_mean-mix", "beside the token's ratio, which is not clipped", POWER,
     {"ratio": {"mix": "weighted", "mix_token": 0.25, "mix_unit": 0.5}}, walk)


def never(logp, old, a):
    return lambda o: placed(o, 944, (len(logp),), a, logp=logp, logp_old=old)


case("power_mean-neginf-policy", "a ratio of 0 is nothing beside others, the lower bound where A < 0; a response of probability 0", POWER,
     {"ratio": {"power": 0.5}}, never(((NEG, -1), (NEG, -0.5), (NEG, NEG)), ((-0.5, -1.125), (-1, -0.75), (-1, -2)),
                                      ((1, 1), (-0.5, -0.5), (0.25, 0.25))))
case("power_mean-neginf-old", "an infinite ratio: the upper bound where A > 0, and infinite where A < 0", POWER,
     {"ratio": {"power": 0.5}}, never(((-0.5, -1), (-1.25,)), ((NEG, -0.9375), (NEG,)), ((1, 1), (-0.5,))))


# ---- a function of a group: standardised scores whose mean and deviation are differentiated

REGRESSION = kind("regression", strength=0.5, score_eps=0.125)
STANDARD = changed(MEAN, surrogate={**REGRESSION["surrogate"], "kind": "standardised"})
FIT = changed(MEAN, **REGRESSION)
case("regression", "the values of standardised, and slopes that see what every score does to their mean and deviation", STANDARD,
     {"surrogate": {"kind": "regression"}}, teams)
case("regression-sum", "sums, each token by itself, no epsilon", changed(FIT, surrogate={"score_eps": 0}),
     {"ratio": {"unit": "sequence_sum", "gradient": "token"}}, teams)
case("regression-power_mean", "the score is the logarithm of a power mean", FIT,
     {"ratio": {"unit": "sequence_power_mean", "power": 0.5, "pool_low": 0.75, "pool_high": 0.625}}, teams)
case("regression-ratio", "the score is the ratio", FIT, {"surrogate": {"score": "ratio"}}, teams)
case("regression-weighted", "what a response counts for weighs its slope on all scores", changed(FIT, aggregation={"kind": "token_mean"}),
     {"weight": {"given": "policy"}},
     lambda o: {**teams(o), "weight": [[2, 0.5], [1], [0.25, 3], [0], [1.5]]})
case("regression-lone", "a group of one active response: A^2, without a slope", STANDARD, {"surrogate": {"kind": "regression"}}, lone)
case("regression-level", "equal scores: the epsilon alone divides, and the deviation has no slope", FIT, {"surrogate": {"score_eps": 2}},
     level)
case("regression-level-0", "equal scores and no epsilon: A^2, without a slope", FIT, {"surrogate": {"score_eps": 0}}, level)


# ---- no surrogate

PAID = changed(plain(), advantage={"baseline": "group_mean"}, penalty={"kl": "k3", "kl_coef": 0.25}, aggregation={"kind": "token_mean"})
NONE = kind("none")
case("none", "the KL and the entropy are all there is", changed(PAID, penalty={"entropy_coef": 0.125}), NONE,
     only((2, 1), 951, ((0.5, -0.25), (-1, 0.125), (0.25,)), reward=(1, 0, 0.5), mask={(1, 0)}))
case("none-kl_ratio", "the KL's ratio is a ratio to report", changed(PAID, penalty={"kl_ratio": "token"}), NONE,
     only((2,), 952, ((0.5, -0.25), (-1, 0.125)), reward=(1, 0)))
case("none-nothing", "and without anything paid for: 0", changed(PAID, penalty={"kl": "none", "kl_coef": 0}), NONE,
     only((2,), 953, ((0.5, -0.25), (-1,)), reward=(1, 0)))


def unlikely(o):
    batch = placed(o, 954, (2,), ((1, -0.5), (-1, 0.25)), logp=((NEG, -0.5), (-1, -0.25)))
    return {**batch, "selected": [[False, True], [True, False]]}


case("none-neginf", "a token of probability 0 that nothing is paid for; imitation of the others",
     changed(plain(), aggregation={"kind": "token_mean"}, penalty={"likelihood_on": "selected", "likelihood_coef": 0.5}), NONE, unlikely)


# ---- pairs

BARE = changed(plain(), **kind("none"), aggregation={"kind": "token_mean"})
PAIRS = {"pairs": "margin", "pair_coef": 0.5, "pair_margin": 0.5, "pair_beta": 0.75}
TOLD = changed(BARE, penalty=PAIRS)
SIGNED = {"pairs": "margin_else_sign"}


def levels(*groups, mask=None, gaps=None):
    """Rewards by group; responses of one to three tokens."""
    flat = [r for group in groups for r in group]
    lengths = [1 + i % 3 for i in range(len(flat))]
    gap = None if gaps is None else lambda dice, i, t: gaps[i]
    return lambda o: full(o, [len(g) for g in groups], lengths, 961, reward=flat, mask=mask, f_gap=gap)


ranked, flat = levels((1, -1, 0), (0, 0, -1)), levels((1, 1, 0.5), (-1, -1), (0,), mask={(4, 0), (4, 1)})
case("pair_gain", "steeper where the better response is one of the best level", TOLD, {"penalty": {"pair_gain": 2.5}}, ranked)
case("margin_else_sign", "one group has pairs: they are all there is", BARE, {"penalty": {**PAIRS, **SIGNED, "pair_gain": 0.5}},
     levels((1, -1), (0.5, 0.5), (0,)))
case("margin_else_sign-sign", "no pair in the batch: right ones up, wrong ones down; those without tokens are not in the number",
     changed(TOLD, penalty={"pair_gain": 2.5}), {"penalty": SIGNED}, flat)
case("margin_else_sign-free", "log-probabilities", changed(TOLD, penalty={**SIGNED, "pair_margin": 4}),
     {"penalty": {"pair_score": "free"}}, ranked)
case("margin_else_sign-far-800", "scores of 800 on either side", TOLD, {"penalty": SIGNED},
     levels((1, 1), (0, 0), gaps=(-800, 800, -800, 800)))


def lost(o):
    return {**full(o, (2, 1), (2, 1, 1), 962, reward=(1, 1, 0)), "logp": [[NEG, -1], [-0.5], [NEG]],
            "logp_ref": [[-1, -0.75], [-1], [-0.5]]}


case("margin_else_sign-neginf", "a right and a wrong response of probability 0: infinite, and nothing", TOLD, {"penalty": SIGNED}, lost)


# ---- steps in GAE

def turns(o):
    """Steps of several tokens, a masked step, tokens after the last step, a response without any; one that was cut off."""
    batch = full(o, (2, 2), (5, 3, 2, 2), 971, reward=(1, -0.5, 0.25, 0.75), mask={(0, 1)}, more=("truncated",))
    batch["step_end"] = [[True, True, False, True, False], [False, True, True], [False, False], [True, True]]
    batch["truncated"] = [True, False, True, False]
    return batch


GAE = changed(plain(), advantage={"credit": "gae", "gamma": 0.75, "lambda": 0.5}, aggregation={"kind": "token_mean"})
STEPS = changed(GAE, advantage={"credit": "step_gae"})
case("step_gae", "what steps earn, where they end; nothing for the response", GAE, {"advantage": {"credit": "step_gae"}}, turns)
case("step_gae-whiten", "whitened over the tokens but for the last of what was cut off; lambda by length",
     changed(STEPS, advantage={"scale": "token_whiten", "lambda_length": 0.75}), {"advantage": {"truncated_tail": 1}}, turns)
case("step_gae-kl", "a KL at every token", STEPS, {"reward": {"kl": "k1", "kl_coef": 0.5}}, turns)
case("step_gae-group_std", "steps compared with those of the same number, by their returns", STEPS,
     {"advantage": {"baseline": "group_mean", "scale": "group_std", "eps": 0.125, "singleton": "raw", "step_group": "index",
                    "step_value": "return"}}, turns)
