"""The reward: truncated responses, length (Kimi, cosine, inverse), maps."""
from cases.table import add, cases_of
from objectives import changed, plain
from scenarios import full

case = cases_of("choices-reward", 1, axis="reward")

SCORE = changed(plain(), advantage={"baseline": "group_mean"}, aggregation={"kind": "token_mean"})


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
case("truncated-scale", "rewards of truncated responses become 0", SCORE, {"truncated": "scale"}, cut)
case("truncated-scale-all", "every response is truncated", SCORE, {"truncated": "scale"}, all_cut)
case("truncated-factor", "a truncated response keeps a quarter of its reward, whatever its sign", CUT,
     {"truncated_factor": 0.25}, cut)
case("truncated-factor-1", "factor 1: nothing is lost", CUT, {"truncated_factor": 1}, cut)
case("truncated-overlong", "the factor is of the reward and not of the punishment that is added to it",
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
case("kimi", "length reward between the shortest and the longest of the group, for wrong answers only the punishment",
     SCORE, {"length": "kimi", "length_coef": 1}, short_long)
case("kimi-equal", "equal lengths: nothing is added", changed(SCORE, reward={"length": "inverse"}),
     {"length": "kimi", "length_coef": 1}, same_length)
case("kimi-equal-alone", "the same where no baseline takes away what all had", changed(SCORE, advantage={"baseline": "none"},
                                                                                       reward={"length": "inverse"}),
     {"length": "kimi", "length_coef": 1}, same_length)
case("kimi-coef", "a smaller weight", KIMI, {"length_coef": 0.25}, short_long)
case("kimi-coef-negative", "a negative weight: long right answers gain", KIMI, {"length_coef": -0.5}, short_long)
case("kimi-masked", "masked tokens count in the length", SCORE, {"length": "kimi", "length_coef": 0.5}, short_masked)
case("kimi-truncated", "right is who had a reward above 0, also where truncation took it", KIMI, {"truncated": "scale"},
     right_cut)


# ---- cosine

def spread_lengths(o):
    # right and wrong answers from 1 token to beyond length_max = 4, which two of them have exactly
    return full(o, (4, 4), (1, 4, 2, 6, 1, 4, 3, 7), 407, reward=(1, 0.5, 1, 0.25, 0, -1, 0, 0))


CURVE = {"length": "cosine", "length_max": 4, "correct_low": 0.5, "correct_high": 1, "wrong_low": -1,
         "wrong_high": -0.5}
COSINE = changed(SCORE, reward=CURVE)
case("cosine", "rewards along half a cosine of the length, at and beyond its end too", SCORE, CURVE, spread_lengths)
for field, number in (("length_max", 8), ("correct_low", 0), ("correct_high", 2), ("wrong_low", -2), ("wrong_high", 0)):
    case(f"cosine-{field}", "one number changed", COSINE, {field: number}, spread_lengths)
case("cosine-masked", "masked tokens count in the length", SCORE, CURVE, short_masked)
case("cosine-overlong", "the overlong punishment is added to it", COSINE, WINDOW, spread_lengths)
case("cosine-truncated", "it takes the place of the reward, also of one that truncation scaled", COSINE,
     {"truncated": "scale", "truncated_factor": 0.5, "length_max": 8}, right_cut)


# ---- inverse

def one_empty(o):
    return full(o, (3, 2), (3, 0, 2, 5, 1), 408, reward=(1, 0.5, -0.75, 1, 0.5))


case("inverse", "the reward over the length; 0 for a response of no tokens at all", SCORE, {"length": "inverse"},
     one_empty)
case("inverse-masked", "masked tokens count in the length", SCORE, {"length": "inverse"}, short_masked)
case("inverse-truncated", "after the factor of truncation", changed(SCORE, reward={"length": "inverse"}),
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
case("affine", "bias and factor, no clamp", SCORE, MAPPED, levels)
case("affine-clamp", "clamped below, above and exactly at both bounds", AFFINE, {"map_low": -2, "map_high": 1}, levels)
case("affine-bias", "another bias", CLAMPED, {"map_bias": 0.25}, levels)
case("affine-factor", "a smaller factor", CLAMPED, {"map_factor": 0.5}, levels)
case("affine-factor-negative", "a negative factor turns the order round", CLAMPED, {"map_factor": -1}, levels)
case("affine-low", "a lower bound of 0 is a bound when the upper one is not 0", CLAMPED, {"map_low": 0}, levels)
case("affine-high", "an upper bound of 0 is a bound when the lower one is not 0", CLAMPED, {"map_high": 0}, levels)
case("affine-overlong", "after the overlong punishment", changed(CLAMPED, reward={"map_factor": 1}), WINDOW, cut)
case("affine-kl", "before the KL, which has no bound", changed(CLAMPED, reward={"map_factor": 1}),
     {"kl": "k1", "kl_coef": 0.5}, levels_kl)
add("choices-reward", 1, "affine-return", "the score at the last token is the mapped one",
    changed(CLAMPED, advantage={"baseline": "none", "credit": "return", "gamma": 0.5}),
    {"reward": {"map_factor": 2}}, levels)
