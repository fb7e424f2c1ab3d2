"""The advantage: sets of responses, success rates and reweighting by them, several rewards, mean absolute deviations."""
from cases.advantage_comparison import batch_of, several
from cases.bases import NONE, NORM, SCORE
from cases.table import add, cases_of
from objectives import changed
from scenarios import binary32, full

case = cases_of("choices-shaping", axis="advantage")


# ---- transform

# ties at the top and below, all equal, below 0
ranks = batch_of((4, 3, 3), (0.5, 1, 1, -0.25, 0.5, 0.5, 0.5, -1, -0.25, -0.5), 711, lengths=[1] * 10)
pairs = batch_of((2, 2), (1, 0.25, -0.5, -0.5), 712)
for name, words in (("pkpo_max", "the largest rewards of the pairs (k = 2) that hold the response, over the number of all pairs"),
                    ("pkpo_gain", "what the response adds to the other reward of its pairs (k = 2), over the number of all pairs"),
                    ("pkpo_loo", "pkpo_max of the response (k = 2) minus that of the group without it, so that it adds no bias")):
    case(name, f"{words}", NONE, {"transform": name, "pass_k": 2}, ranks)
    case(f"{name}-1",
         f"{name} with k = 1: the reward over the group size n{', minus the mean of the others over n - 1' * (name == 'pkpo_loo')}",
         NONE, {"transform": name, "pass_k": 1}, pairs)
    case(f"{name}-3", f"{name} with k = 3: two of the groups have exactly three responses, so only one such set",
         changed(NONE, advantage={"transform": name, "pass_k": 2}), {"pass_k": 3}, ranks)
    case(f"{name}-leave_one_out", f"{name} with k = 2, minus the mean score of the other responses of the group",
         changed(NONE, advantage={"baseline": "leave_one_out"}),
         {"transform": name, "pass_k": 2}, ranks)


# ---- scale: success rates

BETA = changed(SCORE, advantage={"scale": "beta"})
half = batch_of((4, 4), (1, 0, 0, 0, 1, 1, 0, 1), 721, lengths=[1] * 8)
rates = batch_of((3, 2, 4), (1, 0, 0, 1, 0, 1, 1, 1, 0), 722, lengths=[1] * 9)
ends = batch_of((2, 2, 2), (0, 0, 1, 1, 1, 0), 723)
close = batch_of((4, 4), (0.5, 0.5, 0.25, 0.75, 0.5, 0.5 + 2 ** -9, 0.25, 0.75), 724)
alone = batch_of((1, 2, 1, 2), (1, 1, 0, 0.5, 0.25, 0.75), 725)
case("beta", "divided by a Beta density fitted to the prompts' success rates, at the rate of the prompt; rates of 1/4 and 3/4",
     SCORE, {"scale": "beta"}, half)
case("beta-ends", "scale beta with success rates 0, 1 and 1/2: the fitted Beta density is 1 everywhere, A is R minus the group mean",
     changed(SCORE, advantage={"scale": "constant", "scale_divisor": 2}),
     {"scale": "beta"}, ends)
case("beta-close", "scale beta with success rates 2^-11 apart: Beta parameters of 350 thousand and a density of 670",
     SCORE, {"scale": "beta"}, close)
case("beta-same", "scale beta where all prompts have the same success rate: the variance is 0, every advantage is 0",
     SCORE, {"scale": "beta"}, batch_of((2, 4), (1, 0, 1, 0, 0.25, 0.75), 726))
case("beta-one", "scale beta with a single prompt: mean 0 and variance 1 are assumed, the density is 1",
     changed(NORM, advantage={"std": "population"}), {"scale": "beta"},
     batch_of((3,), (1, 0, 0.25), 727))
case("beta-none", "scale beta, no baseline, rates of 0, 1 and between: where the density is 0 or tiny, the factor 1/f is at most a million",
     NONE, {"scale": "beta"},
     batch_of((2, 2, 2, 4), (0, 0, 1, 1, 1, 0, 0.5, 0.5, 0.25, 0.75), 728))
case("beta-leave_one_out", "scale beta after a leave-one-out baseline, success rates of 1/3, 1/2 and 3/4",
     changed(BETA, advantage={"baseline": "none"}), {"baseline": "leave_one_out"},
     rates)
case("beta-alone", "scale beta: the success rate of a lone response counts as 0, whatever its reward", SCORE, {"scale": "beta"}, alone)
case("beta-raw", "scale beta, singleton = raw: a lone response keeps its reward, times the factor of success rate 0, a million",
     BETA, {"singleton": "raw"}, alone)
add("choices-shaping", 0, "beta-map", "scale beta uses rewards after reward.map, which here swaps 0 and 1", BETA,
    {"reward": {"map": "affine", "map_bias": -1, "map_factor": -1}}, rates)


# ---- reweight

WEIGHTED = changed(SCORE, advantage={"reweight": "exponential", "reweight_temperature": 1})
case("exponential", "advantages a become a e^(a / tau), tau = 1: positive ones grow, negative ones shrink",
     SCORE, {"reweight": "exponential", "reweight_temperature": 1}, ranks)
for tau in (0.25, -0.5, 0.03125):
    case(f"exponential-{tau}", f"advantages a become a e^(a / tau) with temperature tau = {tau}",
         WEIGHTED, {"reweight_temperature": tau}, pairs)
case("exponential-group_std", "a e^(a / tau) is taken of advantages after the division by the group's standard deviation",
     NORM, {"reweight": "exponential", "reweight_temperature": 2}, pairs)


# ---- several rewards, and once more over the tokens

TWO = ((1, 0.25), (0, 0.5), (0.5, 0.5), (1, -1), (1, 0), (0.75, 0.5))
two = several(TWO, (1, 0.5), 731)
EACH = changed(SCORE, advantage={"rewards": "each", "scale": "group_std"})
case("each-leave_one_out_std", "two rewards per response, each over the deviation of the others' values, undivided where these are equal",
     changed(EACH, advantage={"baseline": "leave_one_out"}), {"scale": "leave_one_out_std"}, two)
case("tokens", "batch_norm = tokens: the advantages are whitened over all tokens of the batch, so longer responses count more",
     EACH, {"batch_norm": "tokens"}, two)
SECOND = changed(SCORE, advantage={"batch_norm": "tokens"})
lengths = batch_of((2, 2), (1, 0, 0.5, 0.25), 732, lengths=(3, 1, 2, 1), mask={(0, 1), (2, 1)})
case("tokens-eps", "batch_norm = tokens: epsilon is added to the variance, inside the square root",
     SECOND, {"batch_norm_eps": 0.5}, lengths)
case("tokens-population", "batch_norm = tokens with std = population: the variance is divided by the number of tokens",
     SECOND, {"std": "population"}, lengths)
case("tokens-return", "batch_norm = tokens normalises discounted returns at each token, not the rewards before the credit",
     changed(NONE, advantage={"credit": "return", "gamma": 0.5}), {"batch_norm": "tokens"},
     lengths)
case("tokens-equal", "batch_norm = tokens where all advantages are equal (0.7): exactly 0, no rounding error scaled up",
     changed(NONE, advantage={"batch_norm_eps": 0.5}), {"batch_norm": "tokens"},
     batch_of((2,), (binary32(0.7), binary32(0.7)), 733, lengths=(2, 1)))
case("tokens-one", "batch_norm = tokens with one token that counts in the batch: its advantage is 0",
     NONE, {"batch_norm": "tokens"}, batch_of((2,), (1, 0.5), 734, lengths=(1, 1), mask={(1, 0)}))


# ---- distances from the mean, and powers of failure


case = cases_of("choices-advantage-success")


def rewards(*groups, lengths=None):
    flat = [r for group in groups for r in group]
    lengths = lengths or [1] * len(flat)
    return lambda o: full(o, [len(g) for g in groups], lengths, 931, reward=flat)


BASE = changed(SCORE, advantage={"baseline": "group_mean"})
mixed = rewards((1, 0, 0.25), (0.5, 0.5), (0.75,), (-1, 2))
DEVIATION = {"scale": "mean_absolute_deviation", "eps": 0.125}
case("mean_absolute_deviation",
     "G (R - mean) over the group's summed distances from the mean plus epsilon; 0 for equal rewards and lone responses", BASE,
     {"advantage": DEVIATION}, mixed)
case("mean_deviation-raw", "mean absolute deviation with epsilon 0, singleton = raw: a lone response's reward is not divided",
     changed(BASE, advantage={**DEVIATION, "eps": 0}),
     {"advantage": {"singleton": "raw"}}, mixed)
case("mean_deviation-leave_one_out", "the mean absolute deviation is taken around the group mean, though the baseline is leave-one-out",
     changed(BASE, advantage=DEVIATION),
     {"advantage": {"baseline": "leave_one_out"}}, mixed)
solved = rewards((1, 0, 0), (1, 0.5, -0.25), (1.5, 1), (-1, 0))
POWER = {"reweight": "focal", "focal_reward_low": -0.5, "focal_reward_high": 1, "focal_gamma": 2}
case("focal", "advantages times (1 - mu)^2, mu the group's mean reward scaled from -0.5..1 to 0..1 and clipped to that range", BASE,
     {"advantage": POWER}, solved)
case("failure_power-0.5", "advantages times (1 - mu)^(1/2), mu the group's mean reward scaled to 0..1; after the division by the deviation",
     changed(BASE, advantage={**POWER, "scale": "group_std"}), {"advantage": {"focal_gamma": 0.5}}, solved)
case("failure_power-0", "advantages times (1 - mu)^0 = 1, also where mu = 1: 0^0 is 1",
     changed(BASE, advantage=POWER), {"advantage": {"focal_gamma": 0}}, solved)
case("failure_power-difficulty_weight_low",
     "advantages times (1 - mu)^2: mu is from the mean of the mapped rewards, its range starting at -1",
     changed(BASE, advantage={**POWER, "focal_reward_low": 0}, reward={"map": "affine", "map_bias": 1, "map_factor": 0.5}),
     {"advantage": {"focal_reward_low": -1}}, solved)
