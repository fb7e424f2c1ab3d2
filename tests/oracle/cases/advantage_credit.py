"""The advantage: discounts by step, critics of truncated responses, prefix trees, teachers, excluded responses."""
from cases.bases import NONE, NORM, SCORE
from cases.table import cases_of
from objectives import changed
from scenarios import full

case = cases_of("choices-credit", axis="advantage")


# ---- steps

def stepped(o):
    """Steps of several tokens, tokens after the last one, a masked token, a response without steps."""
    batch = full(o, (2, 1), (6, 3, 2), 1101, mask={(0, 2)})
    batch["step_end"] = [[True, False, False, True, True, False], [False, True, True], [False, False]]
    return batch


STEPS = changed(NONE, advantage={"credit": "step", "gamma": 0.5})
case("step_discount", "step rewards discounted once per step (gamma = 1/2 each), not once per token",
     STEPS, {"step_discount": "steps", "gamma": 0, "step_gamma": 0.5}, stepped)
case("step_discount-gamma", "step_discount = steps with step_gamma = 1: later step rewards are added undiscounted, though gamma is 0",
     changed(STEPS, advantage={"step_discount": "steps", "gamma": 0, "step_gamma": 0.5}),
     {"step_gamma": 1}, stepped)
case("step-kl", "credit step: the KL penalty of the reward axis (k1) is not part of step rewards and has no effect",
     changed(NONE, advantage={"credit": "step"}, reward={"kl": "k1", "kl_coef": 0.5}),
     {"gamma": 0.5}, stepped)


# ---- truncated responses

def cut(o):
    """Two of four responses are truncated, one of them shorter than the tail."""
    batch = full(o, (2, 2), (4, 2, 1, 3), 1111, reward=(1, -0.5, 0.25, 0.75), mask={(0, 1)}, more=("truncated",))
    batch["truncated"] = [True, False, True, False]
    return batch


GAE = changed(NONE, advantage={"credit": "gae", "gamma": 0.75, "lambda": 0.5})
case("bootstrap", "bootstrap = repeat: GAE of a truncated response continues with its last token's value, and its reward is left out",
     GAE, {"bootstrap": "repeat"}, cut)
KL = changed(GAE, reward={"kl": "k1", "kl_coef": 0.5})
case("bootstrap-kl", "bootstrap = repeat leaves out a truncated response's reward, but its last token still pays the KL penalty",
     KL, {"bootstrap": "repeat"}, cut)
case("lambda-least", "GAE's lambda grows with the response's length, 1 - 1/(0.75 T), and is at least 1/2 for short responses",
     changed(GAE, advantage={"lambda_length": 0.75, "lambda": 0}),
     {"lambda": 0.5}, cut)
for name, base in (("gae", GAE), ("return", changed(NORM, advantage={"credit": "return", "gamma": 0.5}))):
    case(f"tail-{name}", f"truncated_tail = 2, credit {name}: the last two counting tokens of truncated responses have advantage 0",
         base, {"truncated_tail": 2}, cut)
case("tail-whitened", "truncated_tail = 1: the last token of a truncated response is left out of the whitening statistics and stays 0",
     changed(GAE, advantage={"scale": "token_whiten"}), {"truncated_tail": 1}, cut)
case("tail-second", "truncated_tail = 2: these tokens are left out of the statistics of batch_norm = tokens and stay 0",
     changed(NORM, advantage={"credit": "return", "gamma": 0.5, "batch_norm": "tokens", "batch_norm_eps": 0.25}), {"truncated_tail": 2},
     cut)
case("tail-all", "every response is truncated and no longer than truncated_tail: no token is left to whiten, all advantages are 0",
     changed(GAE, advantage={"scale": "token_whiten"}), {"truncated_tail": 4},
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
case("prefix_tree",
     "prefix tree: a token's advantage is the outcome's, plus how it changed the mean reward of responses sharing its prefix",
     SCORE, TREE, tree)
case("prefix_tree-none",
     "prefix tree with no baseline: the reward plus the change of the prefix's mean reward; a lone response has no change",
     NONE, TREE, tree)
for scale, more in (("group_std", {"eps": 0.125}), ("constant", {"scale_divisor": 2})):
    case(f"prefix_tree-{scale}",
         f"prefix tree: the change of the prefix's mean reward is divided by the same {scale} as the outcome's advantage",
         changed(SCORE, advantage={"scale": scale, **more}), TREE, tree)
case("prefix_tree-leave_one_out", "prefix tree where the outcome's advantage is against the other responses, not the group mean",
     changed(NORM, advantage={"baseline": "leave_one_out", "singleton": "raw"}), TREE, tree)
case("prefix_tree-holes", "prefix tree: from its first masked token on, a response shares its prefix with no other", SCORE, TREE, holes)
case("prefix_tree-same", "prefix tree in a group of equal rewards: no token changes the mean reward, only baseline_shift is left",
     changed(NONE, advantage={"baseline_shift": 0.125}),
     {**TREE, "baseline_shift": 0.25}, same)


# ---- teachers

def taught(o):
    """Teacher probabilities above and below the policy's, far and near; advantages of both signs and 0."""
    gaps = ((0.5, -0.125, 1), (-0.5, 0.25), (0.0625, -2), (0.25,))
    batch = full(o, (2, 2), [len(x) for x in gaps], 1131, reward=(1, -0.5, 0.5, 0.5), mask={(0, 1)}, more=("logp_old", "logp_teacher"))
    batch["logp_old"] = [[-2.5 - t / 4 for t in range(len(x))] for x in gaps]
    batch["logp_teacher"] = [[o + x for o, x in zip(*rows)] for rows in zip(batch["logp_old"], gaps)]
    return batch


case("teacher_share", "advantages weighted by the teacher's ratio to the old policy, the inverse ratio where A < 0, clipped to 0.75..1.25",
     SCORE, {"teacher_share": 0.5, "teacher_clip": 0.25}, taught)
SHARE = changed(SCORE, advantage={"teacher_share": 0.5, "teacher_clip": 0.25})
case("teacher_clip", "advantages weighted by the teacher's ratio to the old policy, clipped to 0.25..1.75 instead of 0.75..1.25",
     SHARE, {"teacher_clip": 0.75}, taught)
case("teacher_share-coef", "teacher_share multiplies the advantage before teacher_coef adds the teacher's log-ratio",
     changed(SHARE, advantage={"teacher_coef": 0.5, "teacher_share": 0}),
     {"teacher_share": 0.5}, taught)
TAUGHT = changed(SCORE, advantage={"teacher_coef": 0.5})
case("teacher_gamma", "the teacher's log-ratio of a token plus those of later tokens, discounted by gamma = 0.75, is added to A",
     TAUGHT, {"teacher_gamma": 0.75}, taught)
case("teacher_norm", "teacher_norm = mean: the discounted sum of the teacher's log-ratios is divided by the sum of its discounts",
     changed(TAUGHT, advantage={"teacher_gamma": 0.75}), {"teacher_norm": "mean"}, taught)


# ---- entropy

def uncertain(o):
    """Mean entropies below, at and above 1/2; a masked token."""
    batch = full(o, (3,), (3, 2, 1), 1141, reward=(1, 0, 0.5), mask={(0, 1)})
    batch["entropy"] = [[0.25, 4, 0.75], [0.5, 0.75], [0.125]]
    return batch


case("entropy-response", "A minus a quarter of the response's mean entropy; responses with a mean entropy above 1/2 get A = 0", SCORE,
     {"entropy": "response", "entropy_coef": 0.25, "entropy_max": 0.5}, uncertain)
RESPONSE = changed(SCORE, advantage={"entropy": "response", "entropy_coef": 0.25, "entropy_max": 0.5})
case("entropy-response-0", "A minus a quarter of the response's mean entropy; entropy_max = 0 is no bound, so no response is set to 0",
     RESPONSE, {"entropy_max": 0}, uncertain)
case("entropy-response-return", "half the response's mean entropy is added to discounted returns; above a mean entropy of 1/2, A = 0",
     changed(SCORE, advantage={"credit": "return", "gamma": 0.5}),
     {"entropy": "response", "entropy_coef": -0.5, "entropy_max": 0.5}, uncertain)


# ---- excluded responses

def guests(o):
    """Groups with one excluded response: among different rewards, among equal rewards, with a single other one, alone."""
    batch = full(o, (4, 3, 2, 1), (1, 1, 2, 1, 1, 1, 1, 1, 1, 1), 1151, reward=(1, 0, 2, 0.25, 0.5, 0.5, 1, 0.75, 0.25, 1),
                 more=("excluded",))
    batch["excluded"] = [False, False, True, False, False, False, True, False, True, True]
    return batch


case("outside-zero", "excluded responses have A = 0 and are left out of their group's mean, deviation and size",
     NORM, {"excluded": "zero"}, guests)
case("outside-anchor", "an excluded response gets 1.25 times the largest advantage of the group's other responses",
     SCORE, {"excluded": "anchor", "excluded_coef": 1.25}, guests)
case("outside-own", "an excluded response is compared with the mean and deviation of the group's others, which exclude itself",
     NORM, {"excluded": "own"}, guests)
case("outside-own-leave_one_out",
     "baseline leave_one_out: the others are compared with each other, excluded responses with the others' mean",
     changed(NORM, advantage={"baseline": "leave_one_out"}),
     {"excluded": "own"}, guests)
case("outside-own-constant",
     "excluded responses minus the mean of the others, over a constant of 2; one group has only an excluded response",
     changed(SCORE, advantage={"scale": "constant", "scale_divisor": 2}), {"excluded": "own"},
     lambda o: {**guests(o), "excluded": [i in (2, 6, 9) for i in range(10)]})
case("outside-zero-raw",
     "excluded responses leave one other in a group: with singleton = raw its baseline is 0 and its variance 1",
     changed(NORM, advantage={"singleton": "raw", "eps": 0.5}),
     {"excluded": "zero"}, guests)
case("excluded_coef", "an excluded response gets -0.5 times the largest advantage of the group's other responses",
     changed(NORM, advantage={"excluded": "anchor", "excluded_coef": 1.25}), {"excluded_coef": -0.5}, guests)
