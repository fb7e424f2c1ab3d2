"""The advantage at tokens: lambda by length, entropy, a teacher, bounds."""
from cases.bases import NONE, SCORE
from cases.table import add, cases_of
from objectives import changed
from scenarios import MINUS_INF, NAN, full

case = cases_of("choices-advantage", 2, axis="advantage")


# ---- lambda_length

def short_and_long(o):
    return full(o, (2, 2), (6, 1, 4, 2), 601, reward=(1, -0.5, 0.25, 1), mask={(0, 1), (2, 0), (2, 3)})


GAE = changed(NONE, advantage={"credit": "gae", "gamma": 0.5, "lambda": 0.75})
case("lambda_length", "GAE's lambda is 1 - 1/(0.5 T), T the tokens that count: 0 for responses of one and two, 0.6 for one of five", GAE,
     {"lambda_length": 0.5, "lambda": 0},
     short_and_long)
case("lambda_length-small", "GAE's lambda by length, 1 - 1/max(1, 0.05 T), is 0 for all responses, which are shorter than 20 tokens",
     GAE, {"lambda_length": 0.05, "lambda": 0},
     short_and_long)
case("lambda_length-large", "GAE's lambda is 1 - 1/(4 T): 0.75 to 0.95 for responses of one to five tokens that count",
     changed(GAE, advantage={"lambda_length": 0.5}),
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
case("bonus", "entropy bonus: A + min(0.5 H, |A| / 2), with entropies below, at and above that bound, and none where A = 0",
     SCORE,
     BONUS, entropies)
case("bonus-coef", "entropy bonus with coefficient 4: nearly everywhere the bound |A| / 2 is what is added to A",
     LIFTED, {"entropy_coef": 4}, entropies)
case("bonus-coef-negative", "entropy bonus with a negative coefficient: it lowers A and is not bounded by |A| / 2 from below",
     LIFTED, {"entropy_coef": -0.5},
     entropies)
case("bonus-cap", "entropy bonus bounded by |A| / 8 instead of |A| / 2 (entropy_kappa = 8)", LIFTED, {"entropy_kappa": 8}, entropies)
case("bonus-whitened", "the entropy bonus is added after advantages are whitened, bounded by half the whitened advantage",
     LIFTED, {"scale": "token_whiten"}, entropies)
case("bonus-group_std", "the entropy bonus is added after the division by the group's deviation, and bounded by half that result",
     LIFTED, {"scale": "group_std"}, entropies)


def entropies_and_values(o):
    batch = entropies(o)
    batch["value"] = [[0.5, 0.25, 0.75, NAN], [0.25], [-0.25, 0.5, 0.125], [1, 0.5], [-0.5, -0.25]]
    return batch


case("bonus-gae", "the entropy bonus is added to GAE's advantages and bounded by half their absolute value at each token",
     GAE, BONUS, entropies_and_values)
case("bonus-return", "the entropy bonus is bounded by half of the discounted return at its own token, not by half of the response's reward",
     changed(NONE, advantage={"credit": "return", "gamma": 0.5}), BONUS, entropies)


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
     "groups of equal rewards: A grows with entropy if the reward is above 0, else it is minus the gap to the largest entropy",
     SCORE, SETTLED, settled_groups)
case("zero_variance-coef", "groups of equal rewards get advantages from entropy, with coefficient 2 instead of 0.125",
     ZVP, {"entropy_coef": 2}, settled_groups)
case("zero_variance-none", "advantages from entropy replace those of groups of equal rewards, also where these are not 0 (no baseline)",
     changed(NONE, advantage={"scale_divisor": 2, "scale": "constant"}),
     SETTLED, settled_groups)
case("zero_variance-raw", "a lone response gets its advantage from entropy, though singleton = raw would give it its reward",
     changed(SCORE, advantage={"singleton": "raw"}), SETTLED, settled_groups)
case("zero_variance-group_std", "advantages from entropy are not divided by the standard deviation that scales the other groups",
     changed(SCORE, advantage={"scale": "group_std", "eps": 0.25}),
     SETTLED, settled_groups)
case("zero_variance-transform", "whether a group's rewards are equal is decided before best_minus_second changes them",
     changed(ZVP, advantage={"baseline": "none"}), {"transform": "best_minus_second"}, settled_groups)
case("zero_variance-overlong", "whether a group's rewards are equal is decided after the overlong punishment is added",
     changed(SCORE, reward={"overlong": "linear", "overlong_max": 3, "overlong_cache": 2, "overlong_factor": 0.5}),
     SETTLED,
     equal_by_length)
add("choices-advantage", 2, "zero_variance-map",
    "the sign of the mapped reward (reward.map) decides which of the two entropy advantages a response gets", ZVP,
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
case("teacher", "the teacher's log-probability minus the old policy's is added to A; masked tokens hold NaN and -inf and add nothing",
     SCORE,
     {"teacher_coef": 1}, taught)
case("teacher-alone", "all rewards are 0: the advantage is the teacher's log-probability minus the old policy's (on-policy distillation)",
     NONE, {"teacher_coef": 1}, unrewarded)
case("teacher-negative", "teacher_coef = -0.25: a quarter of the teacher's log-ratio is subtracted from A",
     TAUGHT, {"teacher_coef": -0.25}, taught)
case("teacher-whitened", "the teacher's log-ratio is added after whitening, so that it is not whitened itself",
     changed(SCORE, advantage={"scale": "token_whiten"}), {"teacher_coef": 1},
     taught)
for credit in ("return", "gae", "step"):
    case(f"teacher-{credit}", f"the teacher's log-ratio is added at its own token, not spread over others by credit {credit}",
         changed(SCORE, advantage={"credit": credit, "gamma": 0.5, "lambda": 0.5}), {"teacher_coef": 1}, taught)
add("choices-advantage", 2, "teacher-each",
    "several rewards per response (rewards = each), and the teacher's log-ratio added to the result",
    changed(TAUGHT, advantage={"scale": "group_std", "singleton": "raw"}),
    {"advantage": {"rewards": "each"}}, taught)


# ---- bounds

def levels(o):
    return full(o, (4, 2), (1, 2, 1, 2, 1, 1), 631, reward=(1, 0.75, 0, 0.25, 1, -1), mask={(1, 0)})


BOUNDS = {"clamp_low": -0.25, "clamp_high": 0.25}
BOUNDED = changed(SCORE, advantage=BOUNDS)
case("clamp", "advantages clamped to -0.25..0.25: some below, at, between and above these bounds", SCORE, BOUNDS, levels)
case("clamp-low", "clamp_low = -0.375, clamp_high = 0: 0 is a bound as long as the other is not 0, so no advantage stays positive",
     SCORE, {"clamp_low": -0.375}, levels)
case("clamp-high", "clamp_low = 0, clamp_high = 0.375: 0 is a bound as long as the other is not 0, so no advantage stays negative",
     SCORE, {"clamp_high": 0.375}, levels)
case("clamp-above", "both bounds of the advantage are above 0 (0.125 and 0.25), so masked tokens only have A = 0",
     BOUNDED, {"clamp_low": 0.125}, levels)
case("clamp-whitened", "advantages are clamped after they are whitened over the batch's tokens",
     changed(SCORE, advantage={"scale": "token_whiten"}), BOUNDS, levels)
case("clamp-return", "discounted returns are clamped at each token, not the response's reward before it is credited",
     changed(NONE, advantage={"credit": "return", "gamma": 0.5}), BOUNDS, levels)
case("clamp-teacher", "advantages are clamped after the teacher's log-ratio is added", TAUGHT, {"clamp_low": -1, "clamp_high": 0.5}, taught)
case("clamp-bonus", "advantages are clamped after the entropy bonus is added", LIFTED, {"clamp_low": -0.25, "clamp_high": 0.75}, entropies)
case("clamp-zero_variance", "the advantages that groups of equal rewards get from entropy are clamped like all others",
     changed(ZVP, advantage={"entropy_coef": 1}),
     {"clamp_low": -0.5, "clamp_high": 0.375}, settled_groups)
case("clamp-all", "the entropy bonus and the teacher's log-ratio are added first, then advantages are clamped",
     changed(LIFTED, advantage={"teacher_coef": 0.5}),
     {"clamp_low": -0.625, "clamp_high": 0.5}, entropies)
