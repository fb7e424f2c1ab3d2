"""The reward: its shapes and maps by hand."""
import objectives
from axes import reward as reward_axis
from checks.rewards import R, SIZES, batch_of, scores, tokens
from checks.tools import near
from evaluate import Batch


def check_rewards(check):
    lengths = (1, 2, 3, 4, 5, 1, 2, 3, 4)
    kimi = {"length": "kimi", "length_coef": 2}
    a = scores(R, SIZES, lengths, kimi)
    lam = [0.5 - (T - 1) / (4 if i < 5 else 3) for i, T in enumerate(lengths)]
    check("the length reward by hand", near(a, [r + 2 * (x if r > 0 else min(0, x)) for r, x in zip(R, lam)]))
    equal = scores(R, SIZES, (3,) * 9, kimi)
    check("nothing for equal lengths", near(equal, R))
    curve = {"length": "cosine", "length_max": 8, "correct_low": 0.5, "correct_high": 1, "wrong_low": -1,
             "wrong_high": -0.5}
    a = scores((1, 0, 1, 0, 1, 0), (6,), (4, 4, 8, 8, 16, 16), curve)
    check("half a cosine: +-0.75 half way, 0.5 and -0.5 from the end on",
          near(a, (0.75, -0.75, 0.5, -0.5, 0.5, -0.5), 1e-15))
    a = scores((1, 0), (2,), (1, 1), {**curve, "length_max": 2.0 ** 40})
    check("a short right answer is worth most, a short wrong one least", near(a, (1, -1), 1e-15))
    check("the reward over the length", near(scores(R, SIZES, lengths, {"length": "inverse"}),
                                             [r / T for r, T in zip(R, lengths)]))
    norm = dict(baseline="group_mean", scale="group_std")
    a = scores(R, SIZES, None, {"map": "affine", "map_bias": 3, "map_factor": 2}, **norm)
    check("no map of positive factor changes normalised advantages", near(a, scores(R, SIZES, **norm)))
    a = scores(R, SIZES, None, {"map": "affine", "map_factor": 2, "map_low": -1, "map_high": 1})
    check("the map has bounds", near(a, [min(max(2 * r, -1), 1) for r in R]))
    cut = batch_of(R, SIZES, truncated=[i % 2 == 0 for i in range(9)])
    a = [row[0] for row in tokens(cut, {"truncated": "scale", "truncated_factor": 0.25})]
    check("truncated rewards", near(a, [r / 4 if i % 2 == 0 else r for i, r in enumerate(R)]))
    shaped = Batch(batch_of((1,), (1,), (3,))).sequences[0]
    o = objectives.changed(objectives.plain(), reward={**kimi, "overlong": "linear", "overlong_max": 2,
                                                       "overlong_cache": 1, "overlong_factor": 1})
    check("sizes: what is added", float(reward_axis.shaped(o["reward"], shaped, [shaped]).size) == 1 + 2)
    o = objectives.changed(objectives.plain(), reward={"map": "affine", "map_factor": 0.25, "map_low": 0.5, "map_high": 2})
    check("sizes: no less than the number itself", float(reward_axis.shaped(o["reward"], shaped, [shaped]).size) == 0.5)


GROUPS = (check_rewards,)
