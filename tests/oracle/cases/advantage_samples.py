"""The advantage: responses that count once for each of their steps; advantages over the mean of their absolute values."""
from cases.bases import SCORE
from cases.table import cases_of
from objectives import changed
from scenarios import full

case = cases_of("choices-advantage-samples")


# ---- samples

def turns(o):
    """Steps: 1, 3 (and a masked one), none; 2 of a response alone; none and 2, rewards equal; 1 of a response alone; 2 masked ones,
    and 3."""
    batch = full(o, (3, 1, 2, 1, 2), (4, 5, 2, 3, 2, 2, 1, 2, 3), 991, mask={(1, 1), (7, 0), (7, 1)},
                 reward=(1, 0, 0.5, 0.75, -0.5, -0.5, 0.25, 1, 0))
    batch["step_end"] = [[False, True, False, False], [True, True, True, False, True], [False, False], [True, False, True], [False, False],
                         [True, True], [True], [True, True], [True, True, True]]
    batch["state"] = [[7] * 4, [7, 7, 5, 5, 7], [5, 5], [7, 5, 7], [7, 7], [7, 7], [5], [7, 7], [5, 7, 5]]
    return batch


def counted(label, comment, base, changes=None):
    case(label, comment, base, {"advantage": {"samples": "steps", **(changes or {})}}, turns)


STD = changed(SCORE, advantage={"scale": "group_std"})
STEPS = changed(STD, advantage={"samples": "steps"})
counted("mean", "samples = steps: in its group's mean a response counts once per step, once if it has none", SCORE)
counted("mean_std", "samples = steps: a response counts once per step in the group's mean and in its standard deviation", STD)
counted("mean_std-population", "samples = steps, std = population: the variance is divided by the number of steps of the group's responses",
        changed(STD, advantage={"std": "population"}))
counted("std", "samples = steps with no baseline: a response counts once per step in the group's standard deviation",
        changed(STD, advantage={"baseline": "none"}))
counted("mean-constant", "samples = steps: rewards minus the mean over steps, over a constant of 0.25",
        changed(SCORE, advantage={"scale": "constant", "scale_divisor": 0.25}))
counted("mean_std-inside", "samples = steps: epsilon is added to the variance over steps, inside the square root",
        changed(STD, advantage={"eps": 0.25, "eps_place": "inside"}))
counted("mean-shift", "samples = steps: baseline_shift is added once to the group's mean over steps",
        changed(SCORE, advantage={"baseline_shift": 0.125}))
counted("mean_std-raw", "samples = steps, singleton = raw: a response of two steps is not alone in its group, but its variance is 0",
        changed(STD, advantage={"singleton": "raw"}))
case("singleton", "samples = steps: only a response alone in its group with at most one step keeps its reward (singleton = raw)",
     STEPS, {"advantage": {"singleton": "raw"}}, turns)
case("singleton-none", "samples = steps, no baseline: only a response alone in its group with at most one step keeps its reward",
     changed(STEPS, advantage={"baseline": "none"}),
     {"advantage": {"singleton": "raw"}}, turns)
for kl, scale in (("k1", "none"), ("k2", "group_std")):
    case(f"kl-{kl}-{scale}",
         f"samples = steps: the {kl} KL penalty is subtracted from the reward before the mean over steps, scale {scale}",
         changed(SCORE, advantage={"scale": scale}, reward={"kl": kl, "kl_coef": 0.5}),
         {"advantage": {"samples": "steps"}}, turns)
EPISODE = changed(SCORE, advantage={"credit": "episode_step", "step_group": "state", "step_coef": 0.5, "step_gamma": 0.5})
HOW = {"mean": "no scale", "mean_std": "over deviations", "return": "steps by their returns", "prompt": "steps of a prompt compared",
       "raw": "lone items keep their values", "response": "steps by their response's reward"}
for label, fields in (("mean", {}), ("mean_std", {"scale": "group_std", "eps": 1e-6}), ("return", {"step_value": "return"}),
                      ("prompt", {"step_group": "prompt"}), ("raw", {"singleton": "raw", "scale": "group_std"}),
                      ("response", {"step_value": "response"})):
    counted(f"episode_step-{label}",
            f"GiGPO, {HOW[label]}: a response counts once per step in the episode's mean, each step once among steps",
            changed(EPISODE, advantage=fields))
case("episode_step-responses", "GiGPO with samples = responses: in the episode's mean a response counts once, however many steps it has",
     changed(EPISODE, advantage={"credit": "step_own"}),
     {"advantage": {"credit": "episode_step"}}, turns)


# ---- over the mean of absolute values

def uneven(o):
    """Responses of one to five tokens, one without an unmasked token, a group of equal rewards; some are truncated."""
    batch = full(o, (3, 2, 2), (5, 1, 2, 3, 2, 1, 2), 992, mask={(0, 1), (2, 0), (2, 1)}, reward=(1, -0.5, 0.25, 1, 0, 0.5, 0.5))
    batch["truncated"] = [True, False, False, True, False, False, True]
    batch["step_end"] = [[True, True, False, True, False], [True], [True, True], [False, True, False], [True, True], [True], [False, True]]
    return batch


def scaled(label, comment, base, changes=None, make=uneven):
    case(label, comment, base, {"advantage": {"batch_norm": "mean_abs", **(changes or {})}}, make)


scaled("mean_abs", "batch_norm = mean_abs: A over the batch's mean of |A|, where each response counts with the mean over its tokens", SCORE)
scaled("mean_abs-group_std", "batch_norm = mean_abs divides by the mean |A| after the division by the group's standard deviation", STD)
scaled("mean_abs-none", "batch_norm = mean_abs with no baseline: rewards over the mean of their absolute values, nothing subtracted",
       changed(SCORE, advantage={"baseline": "none"}))
scaled("mean_abs-leave_one_out", "batch_norm = mean_abs after a leave-one-out baseline",
       changed(SCORE, advantage={"baseline": "leave_one_out"}))
for label, fields in (("return", {"credit": "return", "gamma": 0.5}), ("gae", {"credit": "gae", "gamma": 0.75, "lambda": 0.5}),
                      ("step", {"credit": "step", "gamma": 0.5}), ("tail", {"credit": "return", "gamma": 0.5, "truncated_tail": 1}),
                      ("gone", {"credit": "return", "gamma": 0.5, "truncated_tail": 9})):
    scaled(f"mean_abs-{label}",
           f"A over the mean over responses of their mean |A|; credit {fields['credit']}, truncated_tail {fields.get('truncated_tail', 0)}",
           changed(SCORE, advantage=fields))
scaled("mean_abs-clamp", "batch_norm = mean_abs comes before the clamp of the advantages",
       changed(SCORE, advantage={"clamp_low": -1.25, "clamp_high": 1}))
scaled("mean_abs-teacher", "batch_norm = mean_abs comes before the teacher's log-ratio is added, which is not divided",
       changed(SCORE, advantage={"teacher_coef": 0.25}))
scaled("mean_abs-optimal", "batch_norm = mean_abs comes before the optimal token baseline is subtracted",
       changed(SCORE, advantage={"token_baseline": "optimal"}))
scaled("mean_abs-each", "batch_norm = mean_abs divides the weighted sum of several rewards' advantages, not each of them",
       changed(SCORE, advantage={"rewards": "each"}))
scaled("mean_abs-far", "batch_norm = mean_abs with rewards near 1024 that differ by less than 1: their small centred values are divided",
       SCORE,
       make=lambda o: full(o, (3, 2), (1, 2, 1, 3, 1), 993, reward=(1024 + 0.5, 1024, 1024 - 0.25, 1, 0.5)))
