"""The advantage: responses that count once for each of their steps; advantages over the mean of their absolute values."""
from cases.table import cases_of
from objectives import changed, plain
from scenarios import full

case = cases_of("choices-advantage-samples")

SCORE = changed(plain(), advantage={"baseline": "group_mean"}, aggregation={"kind": "token_mean"})


# ---- samples

def turns(o):
    """Steps: 1, 3 (and a masked one), none; 2 of a response alone; none and 2, rewards equal; 1 of a response alone; 2 masked ones, and 3."""
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
counted("mean", "a response counts once for each of its steps, at least once", SCORE)
counted("mean_std", "in the deviation too", STD)
counted("mean_std-population", "divided by all steps", changed(STD, advantage={"std": "population"}))
counted("std", "in the deviation alone", changed(STD, advantage={"baseline": "none"}))
counted("mean-constant", "over a constant", changed(SCORE, advantage={"scale": "constant", "scale_divisor": 0.25}))
counted("mean_std-inside", "epsilon inside the root", changed(STD, advantage={"eps": 0.25, "eps_place": "inside"}))
counted("mean-shift", "less a shift", changed(SCORE, advantage={"baseline_shift": 0.125}))
counted("mean_std-raw", "alone is who has one step and no company: two steps of a response are no spread",
        changed(STD, advantage={"singleton": "raw"}))
case("singleton", "a sample alone keeps its reward", STEPS, {"advantage": {"singleton": "raw"}}, turns)
case("singleton-none", "the same without a baseline", changed(STEPS, advantage={"baseline": "none"}),
     {"advantage": {"singleton": "raw"}}, turns)
for kl, scale in (("k1", "none"), ("k2", "group_std")):
    case(f"kl-{kl}-{scale}", "the KL of the reward", changed(SCORE, advantage={"scale": scale}, reward={"kl": kl, "kl_coef": 0.5}),
         {"advantage": {"samples": "steps"}}, turns)
EPISODE = changed(SCORE, advantage={"credit": "episode_step", "step_group": "state", "step_coef": 0.5, "step_gamma": 0.5})
for label, fields in (("mean", {}), ("mean_std", {"scale": "group_std", "eps": 1e-6}), ("return", {"step_value": "return"}),
                      ("prompt", {"step_group": "prompt"}), ("raw", {"singleton": "raw", "scale": "group_std"}),
                      ("response", {"step_value": "response"})):
    counted(f"episode_step-{label}", "the episode counts once for each of its steps, a step once", changed(EPISODE, advantage=fields))
case("episode_step-responses", "the episode counts once, however many steps it has", changed(EPISODE, advantage={"credit": "step_own"}),
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


scaled("mean_abs", "over the mean over responses of the means of abs(A) over their tokens", SCORE)
scaled("mean_abs-group_std", "after the deviation", STD)
scaled("mean_abs-none", "of rewards as they are", changed(SCORE, advantage={"baseline": "none"}))
scaled("mean_abs-leave_one_out", "against the others", changed(SCORE, advantage={"baseline": "leave_one_out"}))
for label, fields in (("return", {"credit": "return", "gamma": 0.5}), ("gae", {"credit": "gae", "gamma": 0.75, "lambda": 0.5}),
                      ("step", {"credit": "step", "gamma": 0.5}), ("tail", {"credit": "return", "gamma": 0.5, "truncated_tail": 1}),
                      ("gone", {"credit": "return", "gamma": 0.5, "truncated_tail": 9})):
    scaled(f"mean_abs-{label}", "of advantages that differ along the response", changed(SCORE, advantage=fields))
scaled("mean_abs-clamp", "before the bounds", changed(SCORE, advantage={"clamp_low": -1.25, "clamp_high": 1}))
scaled("mean_abs-teacher", "before the teacher", changed(SCORE, advantage={"teacher_coef": 0.25}))
scaled("mean_abs-optimal", "before a baseline of the tokens", changed(SCORE, advantage={"token_baseline": "optimal"}))
scaled("mean_abs-each", "of the sum over several rewards", changed(SCORE, advantage={"rewards": "each"}))
scaled("mean_abs-far", "rewards far from 0 that are nearly the same", SCORE,
       make=lambda o: full(o, (3, 2), (1, 2, 1, 3, 1), 993, reward=(1024 + 0.5, 1024, 1024 - 0.25, 1, 0.5)))
