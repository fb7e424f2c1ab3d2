"""The reward: overlong responses, and the KL in it."""
from axes.penalty import ESTIMATED
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
case("overlong-soft", "soft overlong punishment from 2 to 4 tokens: lengths inside, at the ends and beyond, where it is -1",
     SCORE, {"reward": LONG_WINDOW}, window)
case("overlong-linear", "linear overlong punishment from 2 tokens on: it continues below -1 beyond the maximum length of 4",
     OVERLONG, {"reward": {"overlong": "linear"}}, window)
case("overlong-max", "soft overlong punishment from 3 to 5 tokens: overlong_max = 5, overlong_cache = 2",
     OVERLONG, {"reward": {"overlong_max": 5}}, window)
case("overlong-cache", "soft overlong punishment from 1 to 4 tokens: overlong_max = 4, overlong_cache = 3",
     OVERLONG, {"reward": {"overlong_cache": 3}}, window)
case("overlong-cache-full", "soft overlong punishment from 0 to 4 tokens: the cache is as long as the maximum",
     OVERLONG, {"reward": {"overlong_cache": 4}},
     window)
case("overlong-factor", "soft overlong punishment with a factor of 1/8: at most -0.125 is added to the reward",
     OVERLONG, {"reward": {"overlong_factor": 0.125}}, window)
case("overlong-masked", "overlong punishment by the length of the response: masked tokens count in it",
     SCORE, {"reward": LONG_WINDOW}, window_masked)

for kl in ESTIMATED:
    for credit in ("outcome", "return"):
        case(f"{kl}-{credit}", f"{kl} KL penalty to the reference inside the reward, credit {credit}; a masked token contributes nothing",
             changed(SCORE, advantage={"credit": credit, "gamma": 1}),
             {"reward": {"kl": kl, "kl_coef": 0.25}}, two_kl)
case("kl_coef", "k1 KL penalty inside the reward with coefficient 2 instead of 0.25", changed(SCORE, reward={"kl": "k1", "kl_coef": 0.25}),
     {"reward": {"kl_coef": 2}}, two_kl)
