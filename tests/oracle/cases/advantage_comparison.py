"""The advantage: comparisons within a group: transform, baseline, scale, reweight, batch_norm, several rewards."""
from cases.bases import NONE, NORM, PLACES, SCORE
from cases.table import cases_of
from objectives import changed
from scenarios import binary32, full

case = cases_of("choices-advantage", 1, axis="advantage")


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
case("pass_at_k", "analytic advantage of pass@2, in groups where none, all, some and nearly all responses have a reward above 0",
     NONE, PASS,
     passes)
case("pass_at_k-1", "pass@1, also for responses that are alone in their group", NONE, {"transform": "pass_at_k", "pass_k": 1},
     one_each)
case("pass_at_k-3", "pass@3 of five: three failing responses make one set of three that fails, one failing response makes none",
     changed(NONE, advantage=PASS),
     {"pass_k": 3}, few_wrong)
case("pass_at_k-group_std", "pass@2 over the standard deviation sqrt(p (1 - p)) of the pass rate p; std = population does not change it",
     changed(NONE, advantage={"scale": "group_std", "std": "population"}), PASS, passes)
case("pass_at_k-group_std-eps", "pass@2 over the standard deviation of the pass rate, to which epsilon is added",
     changed(NORM, advantage=PASS), {"eps": 0.25}, passes)
case("pass_at_k-return", "the pass@2 score is the reward of the response's last token and is discounted towards earlier ones",
     changed(NONE, advantage={"credit": "return", "gamma": 0.5}), PASS, passes)
case("pass_at_k-batch_std", "pass@2 over the batch's standard deviation, which is that of the transformed rewards",
     changed(NONE, advantage={"scale": "batch_std"}),
     PASS, passes)
case("pkpo_maxrl", "MaxRL's score R C(n - c, k - 1) / C(n - 1, k - 1), c successes, k = 2; rewards of several sizes, also negative",
     NONE,
     {"transform": "pkpo_maxrl", "pass_k": 2}, passes)
case("pkpo_maxrl-leave_one_out", "MaxRL's score (k = 2) minus the mean score of the other responses of the group",
     changed(NONE, advantage={"baseline": "leave_one_out"}),
     {"transform": "pkpo_maxrl", "pass_k": 2}, passes)
case("pkpo_maxrl-1", "MaxRL's score with k = 1 is the reward itself",
     changed(NONE, advantage={"transform": "pkpo_maxrl", "pass_k": 2}), {"pass_k": 1},
     few_wrong)
case("pkpo_maxrl-3", "MaxRL's score with k = 3: half the reward where three of five responses fail, 0 where fewer than two do",
     changed(NONE, advantage={"transform": "pkpo_maxrl", "pass_k": 2}),
     {"pass_k": 3}, few_wrong)
case("best_minus_second",
     "only the group's best response gets a score: best minus second reward; a tie at the top or a lone response gives 0", NONE,
     {"transform": "best_minus_second"}, bests)
case("best_minus_second-group_std", "best minus second reward, over the standard deviation of the rewards before this transform", NORM,
     {"transform": "best_minus_second"}, bests)
case("best_minus_second-given",
     "a tie for the best gives scores of 0: minus a given baseline, over the deviation of the rewards before the transform",
     changed(NORM, advantage={"baseline": "external"}), {"transform": "best_minus_second"}, bests)
case("best_minus_second-valid_groups",
     "a group with a tie for the best reward is not one of equal rewards in the factor N / (N - M)",
     changed(NONE, advantage={"reweight": "valid_groups"}), {"transform": "best_minus_second"}, bests)


# ---- baseline

fives = batch_of((5, 4, 1), (0.5, 1, 0, 0.75, 0.25, 1, 0, 0, 0.5, 0.75), 511)
ties = batch_of((5, 2, 3), (0, 1, 1, 0, 1, -1, -0.25, 0.5, 0.5, 0.5), 512)
case("batch_mean", "the baseline is the mean reward of all responses of the batch, not of the group",
     SCORE, {"baseline": "batch_mean"}, fives)
case("batch_mean-singleton", "a lone response is compared with the batch's mean, even with singleton = raw",
     changed(SCORE, advantage={"singleton": "raw"}),
     {"baseline": "batch_mean"}, fives)
case("batch_mean-group_std", "the batch's mean is subtracted, but the divisor is the standard deviation of the group",
     NORM, {"baseline": "batch_mean"}, fives)
for q in (0.4, 0.6, 0.5, 0, 1):
    case(f"quantile-{q}", f"baseline: the smallest reward r with at least a share {q} of its group <= r; groups of 5, 4 and 1",
         changed(SCORE, advantage={"quantile": q}), {"baseline": "quantile"}, fives)
    case(f"quantile_linear-{q}",
         f"baseline: the group's rewards interpolated linearly at position {q} (n - 1), counted from 0; groups of 5, 4 and 1",
         changed(SCORE, advantage={"baseline": "quantile", "quantile": q, "baseline_shift": 0 if q not in (0, 1) else 0.25}),
         {"baseline": "quantile_linear", "baseline_shift": 0}, fives)
case("quantile-ties", "quantile baseline 0.4 in groups with equal rewards: all equal rewards count in the share at or below it",
     changed(SCORE, advantage={"quantile": 0.4}),
     {"baseline": "quantile"}, ties)
case("quantile-beyond", "quantile 0.41 of five rewards is the third smallest: a share of 2/5 is not enough",
     changed(SCORE, advantage={"baseline": "quantile", "quantile": 0.4}),
     {"quantile": 0.41}, fives)
case("quantile_linear-ties", "quantile 0.6, linearly interpolated between neighbouring rewards of which some are equal",
     changed(SCORE, advantage={"quantile": 0.6}),
     {"baseline": "quantile_linear"}, ties)
case("quantile_linear-quarter", "linearly interpolated quantile 1/4 of five rewards: position 1 exactly, so nothing is interpolated",
     changed(SCORE, advantage={"baseline": "quantile_linear", "quantile": 0.5}),
     {"quantile": 0.25}, fives)
case("quantile-group_std", "quantile baseline 0.4, over the standard deviation around the group's mean, not around the quantile",
     changed(NORM, advantage={"quantile": 0.4}),
     {"baseline": "quantile"}, ties)

evens = batch_of((2, 3, 1, 3), (1, 0, 0.5, -0.75, 0.25, 0.5, 0.25, 0.25, 0.25), 513)
apart = batch_of((3, 2, 2), (1000, 0, -0.5, 0, -1000, 1, 1), 514)
SOFT = changed(SCORE, advantage={"temperature": 1})
case("log_mean_exp", "baseline tau log mean e^(r / tau), tau = 1; a group of equal rewards gets exactly 0",
     SOFT, {"baseline": "log_mean_exp"}, evens)
case("log_mean_exp-sharp", "baseline tau log mean e^(r / tau), rewards 1000 apart, tau = 2^-10: the exponentials overflow and underflow",
     changed(SCORE, advantage={"temperature": 2 ** -10}), {"baseline": "log_mean_exp"}, apart)
case("log_mean_exp-flat", "baseline tau log mean e^(r / tau) with tau = 1024 is nearly the group's mean",
     changed(SOFT, advantage={"baseline": "log_mean_exp"}),
     {"temperature": 1024}, evens)
case("log_mean_exp-quarter", "baseline tau log mean e^(r / tau) with tau = 1/4, rewards 1000 apart in two of the groups",
     changed(SOFT, advantage={"baseline": "log_mean_exp"}),
     {"temperature": 0.25}, apart)
case("log_mean_exp-group_std", "baseline tau log mean e^(r / tau), over the standard deviation around the group's mean",
     changed(NORM, advantage={"temperature": 0.5}),
     {"baseline": "log_mean_exp"}, evens)

# one window clearly, two equally dense ones, all equal, alone
crowds = batch_of((5, 4, 4, 3, 1), (0, 1, 0.875, -1, 0.75, 0.5, 0, 1, 0.25, 0, 1, 0.125, 0.875, 0.5, 0.5, 0.5, 0.25),
                  515)
HALF = changed(SCORE, advantage={"hdi_mass": 0.5})
case("hdi_median", "baseline: the median of the narrowest window holding half of the group; the lowest of equally narrow windows", HALF,
     {"baseline": "hdi_median"}, crowds)
for share, why in ((1, "the median of all"), (0.125, "a window of one, the smallest reward"),
                   (0.75, "three of four, four of five"), (0.4, "two of five, as 0.4 * 5 is 2 in binary64")):
    case(f"densest-{share}", f"baseline: the median of the narrowest window holding a share {share} of the group: {why}",
         changed(HALF, advantage={"baseline": "hdi_median"}), {"hdi_mass": share}, crowds)
case("densest-group_std", "baseline: the median of the narrowest half, over the standard deviation around the group's mean",
     changed(NORM, advantage={"hdi_mass": 0.5}),
     {"baseline": "hdi_median"}, crowds)

filtered = batch_of((4, 1, 3, 2), (1, 0, 0.5, 1, 0.75, 0.5, 0.5, 0.5, -1, 0), 516)
NOISE = {"process_noise": 1e-5, "observation_noise": 0.01}
NOISY = changed(NONE, advantage=NOISE)
KALMAN = changed(NOISY, advantage={"baseline": "kalman"})
case("kalman", "baseline of a Kalman filter that runs over the group's responses in order, also for lone responses and equal rewards",
     NOISY,
     {"baseline": "kalman"}, filtered)
case("kalman-process", "Kalman filter baseline with large process noise (0.5): it follows the latest rewards",
     KALMAN, {"process_noise": 0.5}, filtered)
case("kalman-process-0", "Kalman filter baseline without process noise: nearly the running mean of the rewards so far",
     KALMAN, {"process_noise": 0}, filtered)
case("kalman-observation", "Kalman filter baseline with large observation noise (2): it stays closer to its start at 0",
     KALMAN, {"observation_noise": 2}, filtered)
case("kalman-group_std", "Kalman filter baseline, over the group's standard deviation; a lone response has none and gets 0", KALMAN,
     {"scale": "group_std"}, filtered)

mixed = batch_of((1, 3, 2), (0.75, 1, 0, 0.25, 0.5, 0.5), 517, more=("baseline",))
OWN = {"group_mean": {}, "leave_one_out": {}, "quantile": {"quantile": 0.5}, "quantile_linear": {"quantile": 0.5},
       "log_mean_exp": {"temperature": 1}, "hdi_median": {"hdi_mass": 0.5}}
for baseline, numbers in OWN.items():
    if numbers:
        case(f"singleton-{baseline}", f"singleton = raw: a lone response's baseline {baseline} is 0, so that it gets its own reward",
             changed(SCORE, advantage={"baseline": baseline, **numbers}), {"singleton": "raw"}, mixed)
    case(f"shift-{baseline}-raw",
         f"baseline_shift = -0.125 is also subtracted from a lone response's reward, whose baseline {baseline} is 0",
         changed(SCORE, advantage={"baseline": baseline, "singleton": "raw", **numbers}), {"baseline_shift": -0.125}, mixed)
for baseline in ("none", "external", "group_mean", "batch_mean"):
    case(f"shift-{baseline}", f"baseline_shift = -0.1 is added to baseline {baseline}, so 0.1 is added to every advantage",
         changed(SCORE, advantage={"baseline": baseline}),
         {"baseline_shift": -0.1}, mixed)
case("shift-group_std", "baseline_shift = 0.5 changes the advantages, not the standard deviation of the group's rewards",
     NORM, {"baseline_shift": 0.5}, mixed)
case("shift-batch_centred_std",
     "baseline_shift moves every centred reward but a lone response's 0, which changes their deviation over the batch",
     changed(SCORE, advantage={"scale": "batch_centred_std"}), {"baseline_shift": 0.5}, mixed)
case("shift-valid_groups", "baseline_shift moves groups of equal rewards off 0; they still count as equal in the factor N / (N - M)",
     changed(SCORE, advantage={"reweight": "valid_groups"}),
     {"baseline_shift": -0.25}, mixed)


# ---- scale

# positive, zero, negative means; all 0; one success; alone, above and below 0
means = batch_of((3, 2, 2, 2, 4, 1, 1), (1, 0, 0.5, 1, -1, -1, 0.25, 0, 0, 0, 1, 0, 0, 0.75, -0.5), 521)
MEAN = changed(SCORE, advantage={"scale": "group_mean"})
case("scale-group_mean", "rewards minus the group mean, over the group mean; 0 where the mean is 0 or below", SCORE,
     {"scale": "group_mean"}, means)
case("scale-group_mean-eps", "scale group_mean: epsilon 0.125 is added to the group's mean, the divisor", MEAN, {"eps": 0.125}, means)
case("scale-group_mean-place", "scale group_mean with eps_place = floor: epsilon is added to the mean all the same",
     changed(MEAN, advantage={"scale": "group_std", "eps": 0.125, "eps_place": "floor"}), {"scale": "group_mean"},
     means)
case("scale-group_mean-raw", "scale group_mean, singleton = raw: a lone response gets R / (R + epsilon), 0 where R is not above 0",
     changed(MEAN, advantage={"eps": 0.25}),
     {"singleton": "raw"}, means)
case("scale-group_mean-none", "scale group_mean with no baseline: a lone response still gets 0, not 1", NONE,
     {"scale": "group_mean"}, means)

# one success among failures, two, three, all equal, alone
successes = batch_of((4, 2, 3, 3, 1), (1, 0, 0, 0, 1, 0.25, 1, 0, 0.5, 0.5, 0.5, 0.5, 0.75), 522)
LOO = changed(NONE, advantage={"baseline": "leave_one_out"})
LOO_STD = changed(LOO, advantage={"scale": "leave_one_out_std"})
case("leave_one_out_std", "divided by the standard deviation of the other responses; undivided where these are equal or fewer than two",
     LOO,
     {"scale": "leave_one_out_std"}, successes)
case("leave_one_out_std-none", "scale leave_one_out_std with no baseline: a lone response keeps its reward, undivided",
     changed(NONE, advantage={"scale": "group_std"}),
     {"scale": "leave_one_out_std"}, successes)
case("leave_one_out_std-population", "leave_one_out_std with std = population: the variance of the others is divided by their number",
     LOO_STD, {"std": "population"}, successes)
for place in ("add", "inside", "floor", "floor_add"):
    case(f"leave_one_out_std-{place}", f"leave_one_out_std: {PLACES[place]}; undivided where the others are equal",
         changed(LOO_STD, advantage={"eps_place": place}),
         {"eps": 0.5}, successes)

RMS = changed(SCORE, advantage={"scale": "residual_rms"})
case("residual_rms", "divided by the root mean square of rewards minus group mean; 0 in groups of equal rewards and for lone responses",
     SCORE,
     {"scale": "residual_rms"}, successes)
case("residual_rms-leave_one_out",
     "divided by the root mean square of the residuals from the leave-one-out baseline, not from the group mean",
     changed(RMS, advantage={"eps": 0.25}),
     {"baseline": "leave_one_out"}, successes)
case("residual_rms-densest", "divided by the root mean square of the residuals from the median of the group's narrowest half",
     changed(RMS, advantage={"hdi_mass": 0.5}),
     {"baseline": "hdi_median"}, crowds)
case("residual_rms-quantile", "divided by the root mean square of the residuals from the 0.75 quantile of the group",
     changed(RMS, advantage={"quantile": 0.75}),
     {"baseline": "quantile"}, ties)
case("residual_rms-none", "no baseline: divided by the root mean square of the rewards themselves; a lone response still gets 0",
     changed(RMS, advantage={"baseline": "none", "scale": "group_std"}),
     {"scale": "residual_rms"}, successes)
case("residual_rms-population", "residual_rms with std = population: the sum of squared residuals is divided by n, not n - 1",
     changed(RMS, advantage={"baseline": "leave_one_out"}),
     {"std": "population"}, successes)
case("residual_rms-eps", "epsilon is added to the root mean square of the residuals, outside the square root",
     RMS, {"eps": 0.25}, successes)
case("residual_rms-inside", "epsilon is added to the mean square of the residuals, inside the square root",
     changed(RMS, advantage={"eps": 0.25}), {"eps_place": "inside"},
     successes)
case("residual_rms-raw", "residual_rms, singleton = raw: a lone response's variance is 1, so it gets its reward over 1 + epsilon",
     changed(RMS, advantage={"eps": 0.5}),
     {"singleton": "raw"}, successes)
case("residual_rms-shift",
     "baseline_shift is part of the residuals that residual_rms takes; equal rewards then have residuals other than 0",
     RMS, {"baseline_shift": 0.25},
     successes)
case("residual_rms-best", "residual_rms of the scores that best_minus_second gives, not of the rewards before it",
     RMS, {"transform": "best_minus_second"}, bests)

# rewards that are no binary fractions, equal in two groups: residuals must be exactly 0
alike = batch_of((8, 3, 2), [binary32(0.7)] * 8 + [binary32(0.1)] * 3 + [binary32(0.7), 1], 523)
MIDDLES = {"group_mean": {}, "leave_one_out": {}, "length_weighted": {}, "quantile": {"quantile": 0.4},
           "quantile_linear": {"quantile": 0.4}, "log_mean_exp": {"temperature": 0.3}, "hdi_median": {"hdi_mass": 0.5}}
for baseline, numbers in MIDDLES.items():
    case(f"residual_rms-equal-{baseline}",
         f"equal rewards like 0.7 give exactly 0 with baseline {baseline} and scale residual_rms: no rounding error remains",
         changed(NONE, advantage={"baseline": baseline, **numbers}), {"scale": "residual_rms"}, alike)

case("kalman_std", "divided by the Kalman filter's own standard deviation after each reward, not by the group's",
     KALMAN, {"scale": "kalman_std"}, filtered)
case("kalman_std-eps", "divided by the Kalman filter's deviation, with epsilon added to its variance, inside the square root",
     changed(KALMAN, advantage={"scale": "kalman_std", "eps": 0.25}),
     {"eps_place": "inside"}, filtered)
case("kalman_std-noise", "divided by the Kalman filter's deviation, with process noise 0.25 and observation noise 0.5",
     changed(KALMAN, advantage={"scale": "kalman_std"}),
     {"process_noise": 0.25, "observation_noise": 0.5}, filtered)
case("constant", "rewards over a constant of 2, with no baseline: a lone response is divided like all others",
     changed(NONE, advantage={"scale_divisor": 2}),
     {"scale": "constant"}, successes)
case("constant-mean", "rewards minus the group mean, over a constant of 0.375",
     changed(SCORE, advantage={"scale": "constant", "scale_divisor": 2}),
     {"scale_divisor": 0.375}, successes)


# ---- reweight

# half, none, all and a third are right; a response at its baseline, one alone
rates = batch_of((4, 3, 2, 3, 1), (1, 0, 1, 0, 0, -1, -0.25, 1, 0.5, 0.5, 0, -0.5, 1), 531)
LEAD = {"reweight": "difficulty", "difficulty_weight_low": 0.4, "difficulty_weight_high": 1.5, "difficulty_slope": 10,
        "difficulty_midpoint": 0.75}
HARD = changed(NORM, advantage=LEAD)
case("difficulty", "advantages weighted by the group's share of rewards above 0: A > 0 weighs more if few succeed, A < 0 if many do",
     NORM, LEAD, rates)
for field, number in (("difficulty_weight_low", 0), ("difficulty_weight_high", 3), ("difficulty_slope", 2), ("difficulty_slope", -10),
                      ("difficulty_midpoint", 0.25)):
    case(f"difficulty-{field}-{number}", f"difficulty weighting by the group's share of rewards above 0, with {field} = {number}",
         HARD, {field: number}, rates)
case("difficulty-none", "difficulty weighting around the batch's mean reward, where a whole group may have A > 0 or A < 0",
     changed(NONE, advantage=LEAD),
     {"baseline": "batch_mean"}, rates)
case("difficulty-transform", "difficulty weighting uses the share of rewards above 0 before best_minus_second changes them", HARD,
     {"transform": "best_minus_second"}, rates)

lengths = batch_of((2, 2, 1), (1, 0, 0.5, -0.5, 1), 532, lengths=(4, 2, 3, 0, 2), mask={(0, 1), (4, 0), (4, 1)})
LONG = changed(SCORE, advantage={"reweight": "length_power", "length_power": 1, "singleton": "raw"})
case("length_power", "advantages times T^-1 over its batch mean; 0 for one response without tokens and one with masked tokens only",
     changed(SCORE, advantage={"singleton": "raw"}),
     {"reweight": "length_power", "length_power": 1}, lengths)
for p in (0.75, -1, 0):
    case(f"length_power-{p}", f"advantages times T^(-p) over its mean over the batch, T the tokens that count; p = {p}",
         LONG, {"length_power": p}, lengths)
case("length_power-whiten", "length_power is applied before whitening: it changes the deviation to which epsilon is added",
     changed(SCORE, advantage={"singleton": "raw", "scale": "token_whiten", "eps": 0.5}),
     {"reweight": "length_power", "length_power": 1}, lengths)
for credit in ("return", "gae"):
    case(f"length_power-{credit}", f"length_power multiplies the response's score before credit {credit} spreads it over the tokens",
         changed(LONG, advantage={"reweight": "none", "credit": credit, "gamma": 0.5, "lambda": 0.5}),
         {"reweight": "length_power"}, lengths)


# ---- batch_norm

SECOND = changed(SCORE, advantage={"batch_norm": "items"})
case("second", "batch_norm = items: group-centred advantages are normalised once more over all responses of the batch",
     SCORE, {"batch_norm": "items"}, means)
case("second-eps", "batch_norm = items: its own epsilon (0.5) is added to the batch's standard deviation",
     SECOND, {"batch_norm_eps": 0.5}, means)
case("second-population", "batch_norm = items with std = population: the batch's variance is divided by n, not by n - 1",
     SECOND, {"std": "population"}, means)
case("second-equal", "batch_norm = items where all values of the batch are equal: every advantage is 0",
     changed(NONE, advantage={"batch_norm_eps": 0.5}),
     {"batch_norm": "items"},
     batch_of((2, 2), (0.5, 0.5, 0.5, 0.5), 541))
case("second-equal-groups",
     "batch_norm = items after leave-one-out in groups of equal rewards (0.7 and 0.1): exactly 0, no rounding error scaled up",
     changed(NONE, advantage={"batch_norm_eps": 0.5}),
     {"baseline": "leave_one_out", "batch_norm": "items"},
     batch_of((3, 3), [binary32(0.7)] * 3 + [binary32(0.1)] * 3, 544))
case("second-one", "batch_norm = items with a single response in the batch: its advantage is 0",
     NONE, {"batch_norm": "items"}, batch_of((1,), (0.5,), 542))
SECONDS = {"group_std": SCORE, "group_mean": SCORE, "leave_one_out_std": LOO, "residual_rms": LOO,
           "kalman_std": KALMAN, "constant": NONE}
for scale, base in SECONDS.items():
    case(f"second-{scale}", f"batch_norm = items: normalised over the batch after the rewards of each group were scaled by {scale}",
         changed(base, advantage={"scale": scale, "eps": 0.25, "scale_divisor": 0.25}),
         {"batch_norm": "items"}, means)
case("second-quantile", "batch_norm = items after a quantile baseline: the advantages of a group do not sum to 0 before it",
     changed(SCORE, advantage={"baseline": "quantile", "quantile": 0.5}),
     {"batch_norm": "items"}, fives)
case("second-raw", "batch_norm = items includes the raw reward that a lone response keeps with singleton = raw",
     SECOND, {"singleton": "raw"}, means)


def staged(o):
    batch = full(o, (2, 1), (4, 3, 2), 543, mask={(0, 1)})
    batch["step_end"] = [[True, True, False, True], [False, True, True], [False, True]]
    return batch


def steps_of_two(o):
    batch = staged(o)
    batch["step_end"][2] = [True, True]
    return batch


STEPS = changed(SCORE, advantage={"credit": "step", "gamma": 1, **NOISE, "quantile": 0.5, "pass_k": 2})
case("second-step", "batch_norm = items with step rewards: normalised over all steps of the batch, before they are summed",
     STEPS, {"batch_norm": "items"}, staged)
case("step-kalman", "Kalman filter baseline over the steps of a prompt, in the order of responses and of their steps",
     STEPS, {"baseline": "kalman"}, staged)
case("step-quantile", "quantile 0.5 over all steps of a prompt, as baseline of its step rewards", STEPS, {"baseline": "quantile"}, staged)
case("step-pass_at_k", "pass@2 over the steps of a prompt: a step with a step reward above 0 succeeds", STEPS,
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
case("each", "two rewards per response: each is centred in its group by itself, then they are added with their weights",
     SCORE, {"rewards": "each"}, two)
case("each-unweighted", "two rewards per response, without reward weights in the batch: all weights are 1",
     SCORE, {"rewards": "each"}, several(TWO, None, 551))
case("each-weights", "three rewards per response with weights 0, 2 and -0.5: a weight may be 0 or negative", SCORE, {"rewards": "each"},
     several([row + (1 - row[0],) for row in TWO], (0, 2, -0.5), 552))
case("each-one", "rewards = each with one column: it is read from batch.rewards, not from batch.reward", SCORE, {"rewards": "each"},
     several([row[:1] for row in TWO], (0.25,), 553))
case("each-group_std",
     "two rewards per response, each over its own group's deviation; one of them is constant in one group and gives 0 there",
     EACH, {"scale": "group_std"}, two)
case("each-group_mean", "two rewards per response, each over its own group's mean plus epsilon",
     EACH, {"scale": "group_mean", "eps": 0.25}, two)
case("each-constant", "two rewards per response, each minus its group mean over a constant of 0.5",
     EACH, {"scale": "constant", "scale_divisor": 0.5}, two)
case("each-eps", "two rewards per response: epsilon 0.0001 is added to the standard deviation of each", GDPO, {"eps": 0.0001}, two)
case("each-raw", "two rewards per response, singleton = raw: a lone response keeps both rewards", GDPO, {"singleton": "raw"}, two)
case("each-second", "two rewards per response: batch_norm normalises their weighted sum over the batch, not each reward",
     GDPO, {"batch_norm": "items", "batch_norm_eps": 0.0001},
     two)
for baseline, numbers in {**OWN, "none": {}, "length_weighted": {}, "external": {}, "batch_mean": {},
                          "kalman": NOISE}.items():
    if baseline != "group_mean":
        case(f"each-{baseline}", f"two rewards per response, each with its own baseline {baseline}",
             changed(EACH, advantage=numbers), {"baseline": baseline},
             two)
case("each-shift", "two rewards per response: baseline_shift is subtracted from each before the weighted sum",
     EACH, {"baseline_shift": 0.125}, two)
