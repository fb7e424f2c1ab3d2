"""The reward: truncated responses, length (Kimi, cosine, inverse), maps."""
from cases.bases import SCORE
from cases.table import add, cases_of
from objectives import changed
from scenarios import full

case = cases_of("choices-reward", 1, axis="reward")


# ---- truncated

def cut(o):
    batch = full(o, (3, 2), (3, 1, 2, 5, 2), 401, reward=(1, 0.5, -0.75, 1, 0))
    batch["truncated"] = [True, False, True, True, False]
    return batch


def all_cut(o):
    batch = full(o, (2, 1), (1, 2, 1), 402, reward=(1, -0.5, 0.25))
    batch["truncated"] = [True] * 3
    return batch


WINDOW = {"overlong": "soft", "overlong_max": 4, "overlong_cache": 2, "overlong_factor": 1}
CUT = changed(SCORE, reward={"truncated": "scale"})
case("truncated-scale", "truncated responses have reward 0 (factor 0), also in the mean of their group", SCORE, {"truncated": "scale"}, cut)
case("truncated-scale-all", "every response is truncated and has reward 0, so every advantage is 0", SCORE, {"truncated": "scale"}, all_cut)
case("truncated-factor", "a truncated response keeps a quarter of its reward, whatever its sign", CUT,
     {"truncated_factor": 0.25}, cut)
case("truncated-factor-1", "truncated responses with truncated_factor = 1 keep their full reward", CUT, {"truncated_factor": 1}, cut)
case("truncated-overlong", "the reward of a truncated response is halved before the overlong punishment is added in full",
     changed(SCORE, reward=WINDOW), {"truncated": "scale", "truncated_factor": 0.5}, cut)


# ---- kimi

def short_long(o):
    # right and wrong, shorter and longer than the middle and at it; a group of equal lengths; a response alone
    return full(o, (6, 2, 1), (1, 3, 5, 1, 3, 5, 2, 2, 4), 403, reward=(1, 0.5, 1, 0, -0.5, 0, 1, 0, 1))


def same_length(o):
    return full(o, (3, 2), (2, 2, 2, 1, 1), 404, reward=(1, 0, 0.5, 1, 0))


def short_masked(o):
    return full(o, (3,), (4, 2, 3), 405, reward=(1, 0, 1), mask={(0, 1), (0, 2), (0, 3)})


def right_cut(o):
    batch = full(o, (4,), (4, 1, 2, 3), 406, reward=(1, 1, 0, 0.5))
    batch["truncated"] = [True, True, False, False]
    return batch


KIMI = changed(SCORE, reward={"length": "kimi", "length_coef": 1})
case("kimi", "Kimi's length reward between the group's shortest and longest; it never rewards a response whose reward is 0 or below",
     SCORE, {"length": "kimi", "length_coef": 1}, short_long)
case("kimi-equal", "Kimi's length reward in groups of equal lengths: nothing is added, no division by 0",
     changed(SCORE, reward={"length": "inverse"}),
     {"length": "kimi", "length_coef": 1}, same_length)
case("kimi-equal-alone", "Kimi's length reward in groups of equal lengths adds nothing to the rewards; no baseline that would hide it",
     changed(SCORE, advantage={"baseline": "none"},
                                                                                       reward={"length": "inverse"}),
     {"length": "kimi", "length_coef": 1}, same_length)
case("kimi-coef", "Kimi's length reward with coefficient 0.25 instead of 1", KIMI, {"length_coef": 0.25}, short_long)
case("kimi-coef-negative", "Kimi's length reward with coefficient -0.5: long responses with a reward above 0 gain, short ones lose",
     KIMI, {"length_coef": -0.5}, short_long)
case("kimi-masked", "Kimi's length reward counts masked tokens in the length of a response",
     SCORE, {"length": "kimi", "length_coef": 0.5}, short_masked)
case("kimi-truncated", "Kimi's length reward: success is decided by the reward before truncation scales it to 0",
     KIMI, {"truncated": "scale"},
     right_cut)


# ---- cosine

def spread_lengths(o):
    # right and wrong answers from 1 token to beyond length_max = 4, which two of them have exactly
    return full(o, (4, 4), (1, 4, 2, 6, 1, 4, 3, 7), 407, reward=(1, 0.5, 1, 0.25, 0, -1, 0, 0))


CURVE = {"length": "cosine", "length_max": 4, "correct_low": 0.5, "correct_high": 1, "wrong_low": -1,
         "wrong_high": -0.5}
COSINE = changed(SCORE, reward=CURVE)
case("cosine", "the reward is replaced by half a cosine of the length, with lengths below, at and beyond length_max",
     SCORE, CURVE, spread_lengths)
for field, number in (("length_max", 8), ("correct_low", 0), ("correct_high", 2), ("wrong_low", -2), ("wrong_high", 0)):
    case(f"cosine-{field}", f"cosine reward by length with {field} = {number}", COSINE, {field: number}, spread_lengths)
case("cosine-masked", "the cosine reward by length counts masked tokens in the length", SCORE, CURVE, short_masked)
case("cosine-overlong", "the overlong punishment is added to the cosine reward by length", COSINE, WINDOW, spread_lengths)
case("cosine-truncated", "the cosine reward by length replaces the reward, including the factor of truncated responses", COSINE,
     {"truncated": "scale", "truncated_factor": 0.5, "length_max": 8}, right_cut)


# ---- inverse

def one_empty(o):
    return full(o, (3, 2), (3, 0, 2, 5, 1), 408, reward=(1, 0.5, -0.75, 1, 0.5))


case("inverse", "the reward divided by the length of the response; 0 for a response without tokens", SCORE, {"length": "inverse"},
     one_empty)
case("inverse-masked", "the reward divided by the length of the response, in which masked tokens count",
     SCORE, {"length": "inverse"}, short_masked)
case("inverse-truncated", "the reward of a truncated response is halved, then divided by its length",
     changed(SCORE, reward={"length": "inverse"}),
     {"truncated": "scale", "truncated_factor": 0.5}, cut)


# ---- map

def levels(o):
    return full(o, (4, 2), (1, 3, 2, 1, 2, 1), 409, reward=(1, 0.5, 0, -0.25, 0.75, 0.25))


def levels_kl(o):
    gaps = ((0.5, -0.25), (2,), (-1, 0.125), (-2,))
    return full(o, (2, 2), [len(g) for g in gaps], 410, f_gap=lambda dice, i, t: gaps[i][t], reward=(1, 0, 0.5, 1))


MAPPED = {"map": "affine", "map_bias": -0.5, "map_factor": 4}
AFFINE = changed(SCORE, reward=MAPPED)
CLAMPED = changed(AFFINE, reward={"map_low": -2, "map_high": 1})
case("affine", "rewards mapped to 4 (r - 0.5), without a clamp", SCORE, MAPPED, levels)
case("affine-clamp", "rewards mapped to 4 (r - 0.5), clamped to -2..1: values below, above and exactly at both bounds",
     AFFINE, {"map_low": -2, "map_high": 1}, levels)
case("affine-bias", "rewards mapped to 4 (r + 0.25), clamped to -2..1", CLAMPED, {"map_bias": 0.25}, levels)
case("affine-factor", "rewards mapped to 0.5 (r - 0.5), so that the clamp to -2..1 does not bind", CLAMPED, {"map_factor": 0.5}, levels)
case("affine-factor-negative", "rewards mapped to -(r - 0.5): the largest reward becomes the smallest", CLAMPED, {"map_factor": -1}, levels)
case("affine-low", "rewards mapped to 4 (r - 0.5), clamped to 0..1: a lower bound of 0 is a bound as the upper one is not 0",
     CLAMPED, {"map_low": 0}, levels)
case("affine-high", "rewards mapped to 4 (r - 0.5), clamped to -2..0: an upper bound of 0 is a bound as the lower one is not 0",
     CLAMPED, {"map_high": 0}, levels)
case("affine-overlong", "rewards are mapped and clamped after the overlong punishment is added",
     changed(CLAMPED, reward={"map_factor": 1}), WINDOW, cut)
case("affine-kl", "rewards are mapped and clamped before the KL penalty is subtracted, which no clamp bounds",
     changed(CLAMPED, reward={"map_factor": 1}),
     {"kl": "k1", "kl_coef": 0.5}, levels_kl)
add("choices-reward", 1, "affine-return", "credit return: the reward at the last token is the mapped and clamped one",
    changed(CLAMPED, advantage={"baseline": "none", "credit": "return", "gamma": 0.5}),
    {"reward": {"map_factor": 2}}, levels)
