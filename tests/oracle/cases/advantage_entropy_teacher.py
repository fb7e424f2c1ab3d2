"""The advantage at tokens: lambda by length, entropy, a teacher, bounds."""
from cases.table import add, cases_of
from objectives import changed, plain
from scenarios import MINUS_INF, NAN, full

case = cases_of("choices-advantage", 2, axis="advantage")

NONE = changed(plain(), aggregation={"kind": "token_mean"})
SCORE = changed(NONE, advantage={"baseline": "group_mean"})


# ---- lambda_length

def short_and_long(o):
    return full(o, (2, 2), (6, 1, 4, 2), 601, reward=(1, -0.5, 0.25, 1), mask={(0, 1), (2, 0), (2, 3)})


GAE = changed(NONE, advantage={"credit": "gae", "gamma": 0.5, "lambda": 0.75})
case("lambda_length", "lambda by the tokens that count: 0 for responses of 1 and 2, 0.6 for one of 5", GAE,
     {"lambda_length": 0.5, "lambda": 0},
     short_and_long)
case("lambda_length-small", "every response is shorter than 1 / alpha: lambda is 0", GAE, {"lambda_length": 0.05, "lambda": 0},
     short_and_long)
case("lambda_length-large", "lambdas of 0.75 to 0.95", changed(GAE, advantage={"lambda_length": 0.5}),
     {"lambda_length": 4, "lambda": 0},
     short_and_long)


# ---- entropy

def entropies(o):
    # A = 0.5, 0, -0.5; 1, -1: entropies below, at and above the cap, and 0
    batch = full(o, (3, 2), (4, 1, 3, 2, 2), 611, reward=(1, 0.5, 0, 1, -1), mask={(0, 3)})
    batch["entropy"] = [[0.25, 0.5, 2, NAN], [1.5], [0, 0.125, 3], [1, 2], [1, 0.75]]
    return batch


BONUS = {"entropy": "bonus", "entropy_coef": 0.5, "entropy_kappa": 2}
LIFTED = changed(SCORE, advantage=BONUS)
case("bonus", "entropy adds to the advantage, at most half of it: below, at and above that, and nothing where it is 0",
     SCORE,
     BONUS, entropies)
case("bonus-coef", "a larger coefficient: the bound holds nearly everywhere", LIFTED, {"entropy_coef": 4}, entropies)
case("bonus-coef-negative", "a negative coefficient takes away, without a bound", LIFTED, {"entropy_coef": -0.5},
     entropies)
case("bonus-cap", "a tighter bound", LIFTED, {"entropy_kappa": 8}, entropies)
case("bonus-whitened", "after whitening", LIFTED, {"scale": "token_whiten"}, entropies)
case("bonus-group_std", "after scaling", LIFTED, {"scale": "group_std"}, entropies)


def entropies_and_values(o):
    batch = entropies(o)
    batch["value"] = [[0.5, 0.25, 0.75, NAN], [0.25], [-0.25, 0.5, 0.125], [1, 0.5], [-0.5, -0.25]]
    return batch


case("bonus-gae", "on the advantages of a critic, as the paper has it beside GRPO's", GAE, BONUS, entropies_and_values)
case("bonus-return", "on what a token's return leaves", changed(NONE, advantage={"credit": "return", "gamma": 0.5}), BONUS, entropies)


def settled_groups(o):
    # all right, all wrong, below 0 (one without tokens), mixed, alone and right, alone and wrong; the largest
    # entropies masked
    batch = full(o, (2, 2, 2, 3, 1, 1), (3, 1, 3, 2, 2, 2, 1, 2, 1, 2, 3), 612,
                 reward=(1, 1, 0, 0, -0.5, -0.5, 1, 1, 0.5, 0.25, 0), mask={(2, 1), (4, 0), (5, 0), (5, 1), (10, 0)})
    batch["entropy"] = [[0.5, 0, 2], [1], [1.5, 4, 0.25], [1, 1], [NAN, 0.75], [0.5, NAN], [1], [2, 0.5], [0.75],
                        [0.25, 1.25],
                        [3, 1, 0.25]]
    return batch


def equal_by_length(o):
    # rewards 1 and 0.5 that a punishment of 0.5 makes equal, and two equal ones that it sets apart
    batch = full(o, (2, 2), (3, 1, 1, 3), 613, reward=(1, 0.5, 1, 1))
    batch["entropy"] = [[0.5, 1, 0], [0.25], [1], [1.5, 0.5, 2]]
    return batch


SETTLED = {"entropy": "zero_variance", "entropy_coef": 0.125}
ZVP = changed(SCORE, advantage=SETTLED)
case("zero_variance",
     "groups of equal rewards learn from entropy: right answers where it is high, wrong ones where low",
     SCORE, SETTLED, settled_groups)
case("zero_variance-coef", "another coefficient", ZVP, {"entropy_coef": 2}, settled_groups)
case("zero_variance-none", "takes the place of advantages that are not 0",
     changed(NONE, advantage={"scale_divisor": 2, "scale": "constant"}),
     SETTLED, settled_groups)
case("zero_variance-raw", "a response alone is a group of equal rewards, also where it keeps its reward",
     changed(SCORE, advantage={"singleton": "raw"}), SETTLED, settled_groups)
case("zero_variance-group_std", "after scaling", changed(SCORE, advantage={"scale": "group_std", "eps": 0.25}),
     SETTLED, settled_groups)
case("zero_variance-transform", "equal or not before the transform",
     changed(ZVP, advantage={"baseline": "none"}), {"transform": "best_minus_second"}, settled_groups)
case("zero_variance-overlong", "equal or not with the punishment",
     changed(SCORE, reward={"overlong": "linear", "overlong_max": 3, "overlong_cache": 2, "overlong_factor": 0.5}),
     SETTLED,
     equal_by_length)
add("choices-advantage", 2, "zero_variance-map", "right and wrong by the mapped reward", ZVP,
    {"reward": {"map": "affine", "map_bias": -0.5, "map_factor": -1}}, settled_groups)


# ---- teacher

def taught(o):
    batch = full(o, (2, 2), (3, 2, 2, 1), 621, reward=(1, 0, 0, 0), mask={(0, 1), (2, 0)}, f_gap=lambda dice, i,
                 t: 0.25)
    batch["logp_old"] = [[-0.5, NAN, -1.25], [-2, -0.75], [MINUS_INF, -1], [-0.375]]
    batch["logp_teacher"] = [[-1.5, -1, -1.25], [-0.25, -3], [NAN, -0.5], [0]]
    return batch


def unrewarded(o):
    batch = taught(o)
    batch["reward"] = [0] * 4
    return batch


TAUGHT = changed(SCORE, advantage={"teacher_coef": 1})
case("teacher", "the teacher's log-probability over the old policy's is added, where tokens count", SCORE,
     {"teacher_coef": 1}, taught)
case("teacher-alone", "on-policy distillation and nothing else", NONE, {"teacher_coef": 1}, unrewarded)
case("teacher-negative", "a negative coefficient", TAUGHT, {"teacher_coef": -0.25}, taught)
case("teacher-whitened", "after whitening", changed(SCORE, advantage={"scale": "token_whiten"}), {"teacher_coef": 1},
     taught)
for credit in ("return", "gae", "step"):
    case(f"teacher-{credit}", "at its own token, whatever the credit of the rewards",
         changed(SCORE, advantage={"credit": credit, "gamma": 0.5, "lambda": 0.5}), {"teacher_coef": 1}, taught)
add("choices-advantage", 2, "teacher-each", "beside several rewards",
    changed(TAUGHT, advantage={"scale": "group_std", "singleton": "raw"}),
    {"advantage": {"rewards": "each"}}, taught)


# ---- bounds

def levels(o):
    return full(o, (4, 2), (1, 2, 1, 2, 1, 1), 631, reward=(1, 0.75, 0, 0.25, 1, -1), mask={(1, 0)})


BOUNDS = {"clamp_low": -0.25, "clamp_high": 0.25}
BOUNDED = changed(SCORE, advantage=BOUNDS)
case("clamp", "advantages below, at, between and above the bounds", SCORE, BOUNDS, levels)
case("clamp-low", "only a lower bound, the upper one is 0", SCORE, {"clamp_low": -0.375}, levels)
case("clamp-high", "only an upper bound, the lower one is 0", SCORE, {"clamp_high": 0.375}, levels)
case("clamp-above", "both bounds above 0", BOUNDED, {"clamp_low": 0.125}, levels)
case("clamp-whitened", "after whitening", changed(SCORE, advantage={"scale": "token_whiten"}), BOUNDS, levels)
case("clamp-return", "after the credit", changed(NONE, advantage={"credit": "return", "gamma": 0.5}), BOUNDS, levels)
case("clamp-teacher", "after the teacher", TAUGHT, {"clamp_low": -1, "clamp_high": 0.5}, taught)
case("clamp-bonus", "after the entropy bonus", LIFTED, {"clamp_low": -0.25, "clamp_high": 0.75}, entropies)
case("clamp-zero_variance", "after the entropy of settled groups", changed(ZVP, advantage={"entropy_coef": 1}),
     {"clamp_low": -0.5, "clamp_high": 0.375}, settled_groups)
case("clamp-all", "bonus, teacher and bounds together", changed(LIFTED, advantage={"teacher_coef": 0.5}),
     {"clamp_low": -0.625, "clamp_high": 0.5}, entropies)
