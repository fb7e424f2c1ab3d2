"""The advantage: comparisons within a group: transform, baseline, scale, reweight, batch_norm, several rewards."""
from cases.table import cases_of
from objectives import changed, plain
from scenarios import binary32, full

case = cases_of("choices-advantage", 1, axis="advantage")

NONE = changed(plain(), aggregation={"kind": "token_mean"})
SCORE = changed(NONE, advantage={"baseline": "group_mean"})
NORM = changed(SCORE, advantage={"scale": "group_std"})


def batch_of(groups, rewards, seed, lengths=None, **options):
    """Groups of such rewards, responses of one token and now and then two."""
    lengths = lengths or [2 if i % 3 == 1 else 1 for i in range(len(rewards))]
    return lambda o: full(o, groups, lengths, seed, reward=rewards, **options)


# ---- transform

# right answers: 2 of 4, 0 of 3, 3 of 3, 3 of 4 (fewer wrong ones than k)
passes = batch_of((4, 3, 3, 4), (1, 0, 0.5, -1, 0, -1, 0, 1, 1, 0.5, 1, 1, 0, 1), 501, more=("baseline",))
one_each = batch_of((1, 1, 2), (1, 0, 1, 0), 502)
few_wrong = batch_of((5, 5), (1, 0, 0, 1, 0, 1, 1, 1, 1, 0), 503)
# one best, two that share it, below 0, all equal, alone
bests = batch_of((3, 3, 2, 2, 1), (0.5, 1, 0.25, 1, 0, 1, -1, -0.25, 0.5, 0.5, 0.75), 504, more=("baseline",))

PASS = {"transform": "pass_at_k", "pass_k": 2}
case("pass_at_k", "the analytic advantage of pass@2: none, all, some and nearly all of a group are right", NONE, PASS,
     passes)
case("pass_at_k-1", "pass@1, responses alone in their group too", NONE, {"transform": "pass_at_k", "pass_k": 1},
     one_each)
case("pass_at_k-3", "k is 3: exactly the wrong answers of one group, and all but one of the other",
     changed(NONE, advantage=PASS),
     {"pass_k": 3}, few_wrong)
case("pass_at_k-group_std", "divided by the deviation of a success, whatever the divisor of other variances",
     changed(NONE, advantage={"scale": "group_std", "std": "population"}), PASS, passes)
case("pass_at_k-group_std-eps", "epsilon beside that deviation", changed(NORM, advantage=PASS), {"eps": 0.25}, passes)
case("pass_at_k-return", "the transformed score is credited to its last token",
     changed(NONE, advantage={"credit": "return", "gamma": 0.5}), PASS, passes)
case("pass_at_k-batch_std", "any other deviation is of the transformed rewards",
     changed(NONE, advantage={"scale": "batch_std"}),
     PASS, passes)
case("pkpo_maxrl", "what a right answer adds to the pass@2 of a set, rewards of different size", NONE,
     {"transform": "pkpo_maxrl", "pass_k": 2}, passes)
case("pkpo_maxrl-leave_one_out", "with the others as baseline", changed(NONE, advantage={"baseline": "leave_one_out"}),
     {"transform": "pkpo_maxrl", "pass_k": 2}, passes)
case("pkpo_maxrl-1", "k = 1 changes nothing", changed(NONE, advantage={"transform": "pkpo_maxrl", "pass_k": 2}), {"pass_k": 1},
     few_wrong)
case("pkpo_maxrl-3", "k = 3: as many wrong answers as it takes, and fewer",
     changed(NONE, advantage={"transform": "pkpo_maxrl", "pass_k": 2}),
     {"pass_k": 3}, few_wrong)
case("best_minus_second", "only the best gets anything; nothing where two share it, or where there is one", NONE,
     {"transform": "best_minus_second"}, bests)
case("best_minus_second-group_std", "divided by the deviation of the rewards as they were", NORM,
     {"transform": "best_minus_second"}, bests)
case("best_minus_second-given", "two share the best: both are their baseline below 0, divided as the rewards were",
     changed(NORM, advantage={"baseline": "external"}), {"transform": "best_minus_second"}, bests)
case("best_minus_second-valid_groups", "a group whose best is shared is a valid group all the same",
     changed(NONE, advantage={"reweight": "valid_groups"}), {"transform": "best_minus_second"}, bests)


# ---- baseline

fives = batch_of((5, 4, 1), (0.5, 1, 0, 0.75, 0.25, 1, 0, 0, 0.5, 0.75), 511)
ties = batch_of((5, 2, 3), (0, 1, 1, 0, 1, -1, -0.25, 0.5, 0.5, 0.5), 512)
case("batch_mean", "the mean of all items of the batch", SCORE, {"baseline": "batch_mean"}, fives)
case("batch_mean-singleton", "a response alone in its group is compared to the batch",
     changed(SCORE, advantage={"singleton": "raw"}),
     {"baseline": "batch_mean"}, fives)
case("batch_mean-group_std", "with the deviation of the group", NORM, {"baseline": "batch_mean"}, fives)
for q in (0.4, 0.6, 0.5, 0, 1):
    case(f"quantile-{q}", "the smallest reward that a share q of the group does not exceed, 2/5 and 3/5 exactly q",
         changed(SCORE, advantage={"quantile": q}), {"baseline": "quantile"}, fives)
    case(f"quantile_linear-{q}", "between the order statistics at q (n - 1)",
         changed(SCORE, advantage={"baseline": "quantile", "quantile": q, "baseline_shift": 0 if q not in (0, 1) else 0.25}),
         {"baseline": "quantile_linear", "baseline_shift": 0}, fives)
case("quantile-ties", "equal rewards: the jump is as high as their number", changed(SCORE, advantage={"quantile": 0.4}),
     {"baseline": "quantile"}, ties)
case("quantile-beyond", "q = 0.41 of five is beyond two of them",
     changed(SCORE, advantage={"baseline": "quantile", "quantile": 0.4}),
     {"quantile": 0.41}, fives)
case("quantile_linear-ties", "equal rewards on one side or both", changed(SCORE, advantage={"quantile": 0.6}),
     {"baseline": "quantile_linear"}, ties)
case("quantile_linear-quarter", "q (n - 1) is an integer",
     changed(SCORE, advantage={"baseline": "quantile_linear", "quantile": 0.5}),
     {"quantile": 0.25}, fives)
case("quantile-group_std", "scaled by the deviation around the mean", changed(NORM, advantage={"quantile": 0.4}),
     {"baseline": "quantile"}, ties)

evens = batch_of((2, 3, 1, 3), (1, 0, 0.5, -0.75, 0.25, 0.5, 0.25, 0.25, 0.25), 513)
apart = batch_of((3, 2, 2), (1000, 0, -0.5, 0, -1000, 1, 1), 514)
SOFT = changed(SCORE, advantage={"temperature": 1})
case("log_mean_exp", "temperature 1; a group of equal rewards is exactly 0", SOFT, {"baseline": "log_mean_exp"}, evens)
case("log_mean_exp-sharp", "rewards 1000 apart and a temperature of 2^-10: e^(r/tau) overflows and underflows",
     changed(SCORE, advantage={"temperature": 2 ** -10}), {"baseline": "log_mean_exp"}, apart)
case("log_mean_exp-flat", "a temperature of 1024 is nearly the mean",
     changed(SOFT, advantage={"baseline": "log_mean_exp"}),
     {"temperature": 1024}, evens)
case("log_mean_exp-quarter", "a temperature of 1/4", changed(SOFT, advantage={"baseline": "log_mean_exp"}),
     {"temperature": 0.25}, apart)
case("log_mean_exp-group_std", "scaled by the deviation around the mean", changed(NORM, advantage={"temperature": 0.5}),
     {"baseline": "log_mean_exp"}, evens)

# one window clearly, two equally dense ones, all equal, alone
crowds = batch_of((5, 4, 4, 3, 1), (0, 1, 0.875, -1, 0.75, 0.5, 0, 1, 0.25, 0, 1, 0.125, 0.875, 0.5, 0.5, 0.5, 0.25),
                  515)
HALF = changed(SCORE, advantage={"hdi_mass": 0.5})
case("hdi_median", "the median of the densest half, odd and even numbers; of equally dense windows the lowest", HALF,
     {"baseline": "hdi_median"}, crowds)
for share, why in ((1, "all of the group: its median"), (0.125, "a window of one: the smallest"),
                   (0.75, "three of four, and four of five"), (0.4, "0.4 times 5 is 2 in binary64")):
    case(f"densest-{share}", why, changed(HALF, advantage={"baseline": "hdi_median"}), {"hdi_mass": share}, crowds)
case("densest-group_std", "scaled by the deviation around the mean", changed(NORM, advantage={"hdi_mass": 0.5}),
     {"baseline": "hdi_median"}, crowds)

filtered = batch_of((4, 1, 3, 2), (1, 0, 0.5, 1, 0.75, 0.5, 0.5, 0.5, -1, 0), 516)
NOISE = {"process_noise": 1e-5, "observation_noise": 0.01}
NOISY = changed(NONE, advantage=NOISE)
KALMAN = changed(NOISY, advantage={"baseline": "kalman"})
case("kalman", "a filter over the responses in their order; one alone and equal ones are no exception", NOISY,
     {"baseline": "kalman"}, filtered)
case("kalman-process", "more process noise", KALMAN, {"process_noise": 0.5}, filtered)
case("kalman-process-0", "no process noise: a mean with a memory of 0", KALMAN, {"process_noise": 0}, filtered)
case("kalman-observation", "more observation noise", KALMAN, {"observation_noise": 2}, filtered)
case("kalman-group_std", "scaled by the deviation of the group, where a response alone has none", KALMAN,
     {"scale": "group_std"}, filtered)

mixed = batch_of((1, 3, 2), (0.75, 1, 0, 0.25, 0.5, 0.5), 517, more=("baseline",))
OWN = {"group_mean": {}, "leave_one_out": {}, "quantile": {"quantile": 0.5}, "quantile_linear": {"quantile": 0.5},
       "log_mean_exp": {"temperature": 1}, "hdi_median": {"hdi_mass": 0.5}}
for baseline, numbers in OWN.items():
    if numbers:
        case(f"singleton-{baseline}", "what a response alone in its group gets: its own reward, or nothing",
             changed(SCORE, advantage={"baseline": baseline, **numbers}), {"singleton": "raw"}, mixed)
    case(f"shift-{baseline}-raw", "the shift of a baseline that is 0 for a response alone in its group",
         changed(SCORE, advantage={"baseline": baseline, "singleton": "raw", **numbers}), {"baseline_shift": -0.125}, mixed)
for baseline in ("none", "external", "group_mean", "batch_mean"):
    case(f"shift-{baseline}", "added to the baseline", changed(SCORE, advantage={"baseline": baseline}),
         {"baseline_shift": -0.1}, mixed)
case("shift-group_std", "does not change the deviation of the rewards", NORM, {"baseline_shift": 0.5}, mixed)
case("shift-batch_centred_std", "nor that of the centred ones, but for the response alone",
     changed(SCORE, advantage={"scale": "batch_centred_std"}), {"baseline_shift": 0.5}, mixed)
case("shift-valid_groups", "equal rewards, moved off 0 and then multiplied",
     changed(SCORE, advantage={"reweight": "valid_groups"}),
     {"baseline_shift": -0.25}, mixed)


# ---- scale

# positive, zero, negative means; all 0; one success; alone, above and below 0
means = batch_of((3, 2, 2, 2, 4, 1, 1), (1, 0, 0.5, 1, -1, -1, 0.25, 0, 0, 0, 1, 0, 0, 0.75, -0.5), 521)
MEAN = changed(SCORE, advantage={"scale": "group_mean"})
case("scale-group_mean", "divided by the mean of the group; nothing where that is 0 or less", SCORE,
     {"scale": "group_mean"}, means)
case("scale-group_mean-eps", "epsilon beside the mean", MEAN, {"eps": 0.125}, means)
case("scale-group_mean-place", "epsilon stands beside the mean wherever else it would",
     changed(MEAN, advantage={"scale": "group_std", "eps": 0.125, "eps_place": "floor"}), {"scale": "group_mean"},
     means)
case("scale-group_mean-raw", "a response alone in its group: its reward over itself",
     changed(MEAN, advantage={"eps": 0.25}),
     {"singleton": "raw"}, means)
case("scale-group_mean-none", "without a baseline, a response alone is nothing all the same", NONE,
     {"scale": "group_mean"}, means)

# one success among failures, two, three, all equal, alone
successes = batch_of((4, 2, 3, 3, 1), (1, 0, 0, 0, 1, 0.25, 1, 0, 0.5, 0.5, 0.5, 0.5, 0.75), 522)
LOO = changed(NONE, advantage={"baseline": "leave_one_out"})
LOO_STD = changed(LOO, advantage={"scale": "leave_one_out_std"})
case("leave_one_out_std", "the deviation of the others; not divided where they agree, or are fewer than two", LOO,
     {"scale": "leave_one_out_std"}, successes)
case("leave_one_out_std-none", "without a baseline, a response alone keeps its reward",
     changed(NONE, advantage={"scale": "group_std"}),
     {"scale": "leave_one_out_std"}, successes)
case("leave_one_out_std-population", "divisor n", LOO_STD, {"std": "population"}, successes)
for place in ("add", "inside", "floor", "floor_add"):
    case(f"leave_one_out_std-{place}", "epsilon only where it is divided",
         changed(LOO_STD, advantage={"eps_place": place}),
         {"eps": 0.5}, successes)

RMS = changed(SCORE, advantage={"scale": "residual_rms"})
case("residual_rms", "around the group mean: the deviation; nothing for equal rewards, or one", SCORE,
     {"scale": "residual_rms"}, successes)
case("residual_rms-leave_one_out", "around the means of the others", changed(RMS, advantage={"eps": 0.25}),
     {"baseline": "leave_one_out"}, successes)
case("residual_rms-densest", "around the median of the densest half", changed(RMS, advantage={"hdi_mass": 0.5}),
     {"baseline": "hdi_median"}, crowds)
case("residual_rms-quantile", "around a quantile", changed(RMS, advantage={"quantile": 0.75}),
     {"baseline": "quantile"}, ties)
case("residual_rms-none", "around 0: nothing of a response alone",
     changed(RMS, advantage={"baseline": "none", "scale": "group_std"}),
     {"scale": "residual_rms"}, successes)
case("residual_rms-population", "divisor n", changed(RMS, advantage={"baseline": "leave_one_out"}),
     {"std": "population"}, successes)
case("residual_rms-eps", "epsilon beside it", RMS, {"eps": 0.25}, successes)
case("residual_rms-inside", "epsilon inside the root", changed(RMS, advantage={"eps": 0.25}), {"eps_place": "inside"},
     successes)
case("residual_rms-raw", "a response alone keeps its reward: the variance is 1", changed(RMS, advantage={"eps": 0.5}),
     {"singleton": "raw"}, successes)
case("residual_rms-shift", "the shift is part of the residuals; equal rewards are not at 0 then", RMS, {"baseline_shift": 0.25},
     successes)
case("residual_rms-best", "residuals of what the transform made", RMS, {"transform": "best_minus_second"}, bests)

# rewards that are no binary fractions, equal in two groups: residuals must be exactly 0
alike = batch_of((8, 3, 2), [binary32(0.7)] * 8 + [binary32(0.1)] * 3 + [binary32(0.7), 1], 523)
MIDDLES = {"group_mean": {}, "leave_one_out": {}, "length_weighted": {}, "quantile": {"quantile": 0.4},
           "quantile_linear": {"quantile": 0.4}, "log_mean_exp": {"temperature": 0.3}, "hdi_median": {"hdi_mass": 0.5}}
for baseline, numbers in MIDDLES.items():
    case(f"residual_rms-equal-{baseline}", "groups of equal rewards: exactly nothing",
         changed(NONE, advantage={"baseline": baseline, **numbers}), {"scale": "residual_rms"}, alike)

case("kalman_std", "the deviation that the filter has of its own", KALMAN, {"scale": "kalman_std"}, filtered)
case("kalman_std-eps", "epsilon inside the root", changed(KALMAN, advantage={"scale": "kalman_std", "eps": 0.25}),
     {"eps_place": "inside"}, filtered)
case("kalman_std-noise", "two other noises", changed(KALMAN, advantage={"scale": "kalman_std"}),
     {"process_noise": 0.25, "observation_noise": 0.5}, filtered)
case("constant", "divided by a constant; a response alone keeps what it has", changed(NONE, advantage={"scale_divisor": 2}),
     {"scale": "constant"}, successes)
case("constant-mean", "of the centred rewards", changed(SCORE, advantage={"scale": "constant", "scale_divisor": 2}),
     {"scale_divisor": 0.375}, successes)


# ---- reweight

# half, none, all and a third are right; a response at its baseline, one alone
rates = batch_of((4, 3, 2, 3, 1), (1, 0, 1, 0, 0, -1, -0.25, 1, 0.5, 0.5, 0, -0.5, 1), 531)
LEAD = {"reweight": "difficulty", "difficulty_weight_low": 0.4, "difficulty_weight_high": 1.5, "difficulty_slope": 10,
        "difficulty_midpoint": 0.75}
HARD = changed(NORM, advantage=LEAD)
case("difficulty", "good answers to hard prompts and bad ones to easy prompts weigh more", NORM, LEAD, rates)
for field, number in (("difficulty_weight_low", 0), ("difficulty_weight_high", 3), ("difficulty_slope", 2), ("difficulty_slope", -10),
                      ("difficulty_midpoint", 0.25)):
    case(f"difficulty-{field}-{number}", "one number changed", HARD, {field: number}, rates)
case("difficulty-none", "without a baseline every right answer is above 0", changed(NONE, advantage=LEAD),
     {"baseline": "batch_mean"}, rates)
case("difficulty-transform", "the share of right answers is that before the transform", HARD,
     {"transform": "best_minus_second"}, rates)

lengths = batch_of((2, 2, 1), (1, 0, 0.5, -0.5, 1), 532, lengths=(4, 2, 3, 0, 2), mask={(0, 1), (4, 0), (4, 1)})
LONG = changed(SCORE, advantage={"reweight": "length_power", "length_power": 1, "singleton": "raw"})
case("length_power", "T^-1 over its mean; one response has no tokens, one none that counts",
     changed(SCORE, advantage={"singleton": "raw"}),
     {"reweight": "length_power", "length_power": 1}, lengths)
for p in (0.75, -1, 0):
    case(f"length_power-{p}", "another power", LONG, {"length_power": p}, lengths)
case("length_power-whiten", "the mean of the powers is in the deviation, and epsilon beside it",
     changed(SCORE, advantage={"singleton": "raw", "scale": "token_whiten", "eps": 0.5}), {"reweight": "length_power", "length_power": 1}, lengths)
for credit in ("return", "gae"):
    case(f"length_power-{credit}", "the score is multiplied before it is credited",
         changed(LONG, advantage={"reweight": "none", "credit": credit, "gamma": 0.5, "lambda": 0.5}),
         {"reweight": "length_power"}, lengths)


# ---- batch_norm

SECOND = changed(SCORE, advantage={"batch_norm": "items"})
case("second", "normalised again over the batch", SCORE, {"batch_norm": "items"}, means)
case("second-eps", "epsilon beside the deviation", SECOND, {"batch_norm_eps": 0.5}, means)
case("second-population", "divisor n", SECOND, {"std": "population"}, means)
case("second-equal", "all equal after the first time: 0", changed(NONE, advantage={"batch_norm_eps": 0.5}),
     {"batch_norm": "items"},
     batch_of((2, 2), (0.5, 0.5, 0.5, 0.5), 541))
case("second-equal-groups", "every group has equal rewards, no two of them the same: 0",
     changed(NONE, advantage={"batch_norm_eps": 0.5}),
     {"baseline": "leave_one_out", "batch_norm": "items"},
     batch_of((3, 3), [binary32(0.7)] * 3 + [binary32(0.1)] * 3, 544))
case("second-one", "one item in the batch: 0", NONE, {"batch_norm": "items"}, batch_of((1,), (0.5,), 542))
SECONDS = {"group_std": SCORE, "group_mean": SCORE, "leave_one_out_std": LOO, "residual_rms": LOO,
           "kalman_std": KALMAN, "constant": NONE}
for scale, base in SECONDS.items():
    case(f"second-{scale}", "after another scale", changed(base, advantage={"scale": scale, "eps": 0.25, "scale_divisor": 0.25}),
         {"batch_norm": "items"}, means)
case("second-quantile", "after another baseline", changed(SCORE, advantage={"baseline": "quantile", "quantile": 0.5}),
     {"batch_norm": "items"}, fives)
case("second-raw", "with the reward of a response alone in its group", SECOND, {"singleton": "raw"}, means)


def staged(o):
    batch = full(o, (2, 1), (4, 3, 2), 543, mask={(0, 1)})
    batch["step_end"] = [[True, True, False, True], [False, True, True], [False, True]]
    return batch


def steps_of_two(o):
    batch = staged(o)
    batch["step_end"][2] = [True, True]
    return batch


STEPS = changed(SCORE, advantage={"credit": "step", "gamma": 1, **NOISE, "quantile": 0.5, "pass_k": 2})
case("second-step", "over the steps of the batch", STEPS, {"batch_norm": "items"}, staged)
case("step-kalman", "steps in their order through the filter", STEPS, {"baseline": "kalman"}, staged)
case("step-quantile", "a quantile of the steps of the group", STEPS, {"baseline": "quantile"}, staged)
case("step-pass_at_k", "steps with a reward above 0 are right ones", STEPS,
     {"baseline": "none", "transform": "pass_at_k"}, steps_of_two)


# ---- several rewards

def several(rewards, weight, seed, groups=(3, 2, 1)):
    def make(o):
        batch = full(o, groups, [1 + i % 2 for i in range(len(rewards))], seed, more=("baseline",))
        batch["rewards"] = [list(row) for row in rewards]
        if weight:
            batch["reward_weight"] = list(weight)
        else:
            del batch["reward_weight"]
        return batch
    return make


TWO = ((1, 0.25), (0, 0.5), (0.5, 0.5), (1, -1), (1, 0), (0.75, 0.5))  # the first is the same in the second group
two = several(TWO, (1, 0.5), 551)
EACH = changed(SCORE, advantage={"rewards": "each"})
GDPO = changed(EACH, advantage={"scale": "group_std"})
case("each", "two rewards, each centred by itself", SCORE, {"rewards": "each"}, two)
case("each-unweighted", "without weights all are 1", SCORE, {"rewards": "each"}, several(TWO, None, 551))
case("each-weights", "weights of 0 and below", SCORE, {"rewards": "each"},
     several([row + (1 - row[0],) for row in TWO], (0, 2, -0.5), 552))
case("each-one", "one reward, which is not `reward`", SCORE, {"rewards": "each"},
     several([row[:1] for row in TWO], (0.25,), 553))
case("each-group_std", "each over its own deviation, which one has not in one group", EACH, {"scale": "group_std"}, two)
case("each-group_mean", "each over its own mean", EACH, {"scale": "group_mean", "eps": 0.25}, two)
case("each-constant", "each over a constant", EACH, {"scale": "constant", "scale_divisor": 0.5}, two)
case("each-eps", "epsilon beside each deviation", GDPO, {"eps": 0.0001}, two)
case("each-raw", "a response alone in its group keeps its rewards", GDPO, {"singleton": "raw"}, two)
case("each-second", "the weighted sum is normalised over the batch", GDPO, {"batch_norm": "items", "batch_norm_eps": 0.0001},
     two)
for baseline, numbers in {**OWN, "none": {}, "length_weighted": {}, "external": {}, "batch_mean": {},
                          "kalman": NOISE}.items():
    if baseline != "group_mean":
        case(f"each-{baseline}", "another baseline of each", changed(EACH, advantage=numbers), {"baseline": baseline},
             two)
case("each-shift", "the shift is of each", EACH, {"baseline_shift": 0.125}, two)
