"""The advantage: discounts by step, critics of truncated responses, prefix trees, teachers, excluded responses."""
from cases.table import cases_of
from objectives import changed, plain
from scenarios import full

case = cases_of("choices-credit", axis="advantage")

NONE = changed(plain(), aggregation={"kind": "token_mean"})
MEAN = changed(NONE, advantage={"baseline": "group_mean"})
NORM = changed(MEAN, advantage={"scale": "group_std"})


# ---- steps

def stepped(o):
    """Steps of several tokens, tokens after the last one, a masked token, a response without steps."""
    batch = full(o, (2, 1), (6, 3, 2), 1101, mask={(0, 2)})
    batch["step_end"] = [[True, False, False, True, True, False], [False, True, True], [False, False]]
    return batch


STEPS = changed(NONE, advantage={"credit": "step", "gamma": 0.5})
case("step_discount", "discounted by the step", STEPS, {"step_discount": "steps", "gamma": 0, "step_gamma": 0.5}, stepped)
case("step_discount-gamma", "by nothing", changed(STEPS, advantage={"step_discount": "steps", "gamma": 0, "step_gamma": 0.5}),
     {"step_gamma": 1}, stepped)
case("step-kl", "the KL in the reward has no effect", changed(NONE, advantage={"credit": "step"}, reward={"kl": "k1", "kl_coef": 0.5}),
     {"gamma": 0.5}, stepped)


# ---- truncated responses

def cut(o):
    """Two of four responses are truncated, one of them shorter than the tail."""
    batch = full(o, (2, 2), (4, 2, 1, 3), 1111, reward=(1, -0.5, 0.25, 0.75), mask={(0, 1)}, more=("truncated",))
    batch["truncated"] = [True, False, True, False]
    return batch


GAE = changed(NONE, advantage={"credit": "gae", "gamma": 0.75, "lambda": 0.5})
case("bootstrap", "what was cut off goes on at its last value, and its reward waits", GAE, {"bootstrap": "repeat"}, cut)
KL = changed(GAE, reward={"kl": "k1", "kl_coef": 0.5})
case("bootstrap-kl", "the KL of the last token does not", KL, {"bootstrap": "repeat"}, cut)
case("lambda-least", "lambda by length, and at least 1/2", changed(GAE, advantage={"lambda_length": 0.75, "lambda": 0}),
     {"lambda": 0.5}, cut)
for name, base in (("gae", GAE), ("return", changed(NORM, advantage={"credit": "return", "gamma": 0.5}))):
    case(f"tail-{name}", "the last two tokens of what was cut off wait", base, {"truncated_tail": 2}, cut)
case("tail-whitened", "they are not in the statistics", changed(GAE, advantage={"scale": "token_whiten"}), {"truncated_tail": 1}, cut)
case("tail-second", "nor in those of the sums",
     changed(NORM, advantage={"credit": "return", "gamma": 0.5, "batch_norm": "tokens", "batch_norm_eps": 0.25}), {"truncated_tail": 2},
     cut)
case("tail-all", "and none is left", changed(GAE, advantage={"scale": "token_whiten"}), {"truncated_tail": 4},
     lambda o: {**cut(o), "truncated": [True] * 4})


# ---- prefix trees

IDS = ((7, 3, 3, 5), (7, 3, 1), (7, 2), (4, 2, 3), (7, 3), (6, 3, 3))


def tree(o):
    """Six responses, one of which ends where others continue and one has a first token of its own; and a group of one response."""
    batch = full(o, (6, 1), (4, 3, 2, 3, 2, 3, 2), 1121, reward=(1, 0, 0.5, -0.25, 0.75, 0, 1))
    batch["state"] = [list(row) for row in IDS] + [[7, 3]]
    return batch


def holes(o):
    """A masked token in the middle of one, at the start of another."""
    batch = full(o, (4,), (4, 4, 3, 3), 1122, reward=(1, 0, 0.5, -0.25), mask={(1, 1), (3, 0)})
    batch["state"] = [[7, 3, 3, 5], [7, 3, 3, 5], [7, 3, 3], [7, 3, 3]]
    return batch


def same(o):
    return {**tree(o), "reward": [0.5] * 6 + [1]}


TREE = {"credit": "prefix_tree"}
case("prefix_tree", "what every token did to the mean reward of those who share it", MEAN, TREE, tree)
case("prefix_tree-none", "without a baseline; a response alone keeps its reward", NONE, TREE, tree)
for scale, more in (("group_std", {"eps": 0.125}), ("constant", {"scale_divisor": 2})):
    case(f"prefix_tree-{scale}", "divided as the outcome is", changed(MEAN, advantage={"scale": scale, **more}), TREE, tree)
case("prefix_tree-leave_one_out", "the outcome against the others",
     changed(NORM, advantage={"baseline": "leave_one_out", "singleton": "raw"}), TREE, tree)
case("prefix_tree-holes", "who has a masked token agrees with nobody from there on", MEAN, TREE, holes)
case("prefix_tree-same", "equal rewards: no difference anywhere", changed(NONE, advantage={"baseline_shift": 0.125}),
     {**TREE, "baseline_shift": 0.25}, same)


# ---- teachers

def taught(o):
    """Teacher probabilities above and below the policy's, far and near; advantages of both signs and 0."""
    gaps = ((0.5, -0.125, 1), (-0.5, 0.25), (0.0625, -2), (0.25,))
    batch = full(o, (2, 2), [len(x) for x in gaps], 1131, reward=(1, -0.5, 0.5, 0.5), mask={(0, 1)}, more=("logp_old", "logp_teacher"))
    batch["logp_old"] = [[-2.5 - t / 4 for t in range(len(x))] for x in gaps]
    batch["logp_teacher"] = [[o + x for o, x in zip(*rows)] for rows in zip(batch["logp_old"], gaps)]
    return batch


case("teacher_share", "more where the teacher agrees, within bounds", MEAN, {"teacher_share": 0.5, "teacher_clip": 0.25}, taught)
SHARE = changed(MEAN, advantage={"teacher_share": 0.5, "teacher_clip": 0.25})
case("teacher_clip", "more room", SHARE, {"teacher_clip": 0.75}, taught)
case("teacher_share-coef", "before the teacher's own term", changed(SHARE, advantage={"teacher_coef": 0.5, "teacher_share": 0}),
     {"teacher_share": 0.5}, taught)
TAUGHT = changed(MEAN, advantage={"teacher_coef": 0.5})
case("teacher_gamma", "what the teacher says of the tokens to come", TAUGHT, {"teacher_gamma": 0.75}, taught)
case("teacher_norm", "in the mean", changed(TAUGHT, advantage={"teacher_gamma": 0.75}), {"teacher_norm": "mean"}, taught)


# ---- entropy

def uncertain(o):
    """Mean entropies below, at and above 1/2; a masked token."""
    batch = full(o, (3,), (3, 2, 1), 1141, reward=(1, 0, 0.5), mask={(0, 1)})
    batch["entropy"] = [[0.25, 4, 0.75], [0.5, 0.75], [0.125]]
    return batch


case("entropy-response", "minus the mean entropy; where that is above a half, nothing at all", MEAN,
     {"entropy": "response", "entropy_coef": 0.25, "entropy_max": 0.5}, uncertain)
RESPONSE = changed(MEAN, advantage={"entropy": "response", "entropy_coef": 0.25, "entropy_max": 0.5})
case("entropy-response-0", "without a cap", RESPONSE, {"entropy_max": 0}, uncertain)
case("entropy-response-return", "on returns", changed(MEAN, advantage={"credit": "return", "gamma": 0.5}),
     {"entropy": "response", "entropy_coef": -0.5, "entropy_max": 0.5}, uncertain)


# ---- excluded responses

def guests(o):
    """Groups with one excluded response: among different rewards, among equal rewards, with a single other one, alone."""
    batch = full(o, (4, 3, 2, 1), (1, 1, 2, 1, 1, 1, 1, 1, 1, 1), 1151, reward=(1, 0, 2, 0.25, 0.5, 0.5, 1, 0.75, 0.25, 1),
                 more=("excluded",))
    batch["excluded"] = [False, False, True, False, False, False, True, False, True, True]
    return batch


case("outside-zero", "guests are worth nothing", NORM, {"excluded": "zero"}, guests)
case("outside-anchor", "guests are worth more than the best of the others", MEAN, {"excluded": "anchor", "excluded_coef": 1.25}, guests)
case("outside-own", "guests against the others' mean and deviation", NORM, {"excluded": "own"}, guests)
case("outside-own-leave_one_out", "and the others against each other", changed(NORM, advantage={"baseline": "leave_one_out"}),
     {"excluded": "own"}, guests)
case("outside-own-constant", "divided by a number", changed(MEAN, advantage={"scale": "constant", "scale_divisor": 2}), {"excluded": "own"},
     lambda o: {**guests(o), "excluded": [i in (2, 6, 9) for i in range(10)]})
case("outside-zero-raw", "a single other keeps its reward", changed(NORM, advantage={"singleton": "raw", "eps": 0.5}),
     {"excluded": "zero"}, guests)
case("excluded_coef", "or less", changed(NORM, advantage={"excluded": "anchor", "excluded_coef": 1.25}), {"excluded_coef": -0.5}, guests)
