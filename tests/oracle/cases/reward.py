"""The reward: overlong responses, and the KL in it."""
from cases.table import cases_of
from cases.bases import SCORE
from objectives import changed
from scenarios import full

case = cases_of("choices-reward")


# ---- reward

def window(o):
    return full(o, (2, 3), (1, 3, 4, 5, 2), 101, reward=(1, 1, 0, 1, 0.5))


def window_masked(o):
    return full(o, (2,), (4, 2), 102, reward=(1, 1), mask={(0, 1), (0, 3)})


def two_kl(o):
    gaps = ((0.5, -0.25, 0), (-1, 0.125), (2, -2))
    return full(o, (2, 1), (3, 2, 2), 103, f_gap=lambda dice, i, t: gaps[i][t], reward=(1, 0, 0.5), mask={(0, 1)})


LONG_WINDOW = {"overlong": "soft", "overlong_max": 4, "overlong_cache": 2, "overlong_factor": 1}
OVERLONG = changed(SCORE, reward=LONG_WINDOW)
case("overlong-soft", "soft overlong punishment, window 2..4", SCORE, {"reward": LONG_WINDOW}, window)
case("overlong-linear", "the same line without a floor", OVERLONG, {"reward": {"overlong": "linear"}}, window)
case("overlong-max", "window 3..5", OVERLONG, {"reward": {"overlong_max": 5}}, window)
case("overlong-cache", "window 1..4", OVERLONG, {"reward": {"overlong_cache": 3}}, window)
case("overlong-cache-full", "window 0..4: the cache is the maximum", OVERLONG, {"reward": {"overlong_cache": 4}},
     window)
case("overlong-factor", "a tenth of the punishment", OVERLONG, {"reward": {"overlong_factor": 0.125}}, window)
case("overlong-masked", "masked tokens count in the length", SCORE, {"reward": LONG_WINDOW}, window_masked)

for kl in ("k1", "k2", "k3", "abs"):
    for credit in ("outcome", "return"):
        case(f"{kl}-{credit}", "KL in the reward, masked tokens left out",
             changed(SCORE, advantage={"credit": credit, "gamma": 1}),
             {"reward": {"kl": kl, "kl_coef": 0.25}}, two_kl)
case("kl_coef", "a larger coefficient", changed(SCORE, reward={"kl": "k1", "kl_coef": 0.25}),
     {"reward": {"kl_coef": 2}}, two_kl)
