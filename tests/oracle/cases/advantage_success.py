"""The advantage: sets of responses, success rates and reweighting by them, several rewards, mean absolute deviations."""
from cases.advantage_comparison import several
from cases.table import add, cases_of
from objectives import changed, plain
from scenarios import binary32, full

case = cases_of("choices-shaping", axis="advantage")

NONE = changed(plain(), aggregation={"kind": "token_mean"})
SCORE = changed(NONE, advantage={"baseline": "group_mean"})
NORM = changed(SCORE, advantage={"scale": "group_std"})


def batch_of(groups, rewards, seed, lengths=None, **options):
    lengths = lengths or [2 if i % 3 == 1 else 1 for i in range(len(rewards))]
    return lambda o: full(o, groups, lengths, seed, reward=rewards, **options)


# ---- transform

# ties at the top and below, all equal, below 0
ranks = batch_of((4, 3, 3), (0.5, 1, 1, -0.25, 0.5, 0.5, 0.5, -1, -0.25, -0.5), 711, lengths=[1] * 10)
pairs = batch_of((2, 2), (1, 0.25, -0.5, -0.5), 712)
for name, words in (("pkpo_max", "the largest reward of the sets that hold the response"),
                    ("pkpo_gain", "what the response adds to the largest reward of the others in the set"),
                    ("pkpo_loo", "the largest reward of its sets, less that of the sets of the others")):
    case(name, words, NONE, {"transform": name, "pass_k": 2}, ranks)
    case(f"{name}-1", "sets of one: the reward over their number", NONE, {"transform": name, "pass_k": 1}, pairs)
    case(f"{name}-3", "sets of three, all of the group in two of them",
         changed(NONE, advantage={"transform": name, "pass_k": 2}), {"pass_k": 3}, ranks)
    case(f"{name}-leave_one_out", "with the others as baseline", changed(NONE, advantage={"baseline": "leave_one_out"}),
         {"transform": name, "pass_k": 2}, ranks)


# ---- scale: success rates

BETA = changed(SCORE, advantage={"scale": "beta"})
half = batch_of((4, 4), (1, 0, 0, 0, 1, 1, 0, 1), 721, lengths=[1] * 8)
rates = batch_of((3, 2, 4), (1, 0, 0, 1, 0, 1, 1, 1, 0), 722, lengths=[1] * 9)
ends = batch_of((2, 2, 2), (0, 0, 1, 1, 1, 0), 723)
close = batch_of((4, 4), (0.5, 0.5, 0.25, 0.75, 0.5, 0.5 + 2 ** -9, 0.25, 0.75), 724)
alone = batch_of((1, 2, 1, 2), (1, 1, 0, 0.5, 0.25, 0.75), 725)
case("beta", "two prompts, of rates 1/4 and 3/4", SCORE, {"scale": "beta"}, half)
case("beta-ends", "rates of 0 and 1 beside 1/2: the density is flat", changed(SCORE, advantage={"scale": "constant", "scale_divisor": 2}),
     {"scale": "beta"}, ends)
case("beta-close", "rates 2^-11 apart: parameters of 350 thousand, a density of 670", SCORE, {"scale": "beta"}, close)
case("beta-same", "rates that do not differ: nothing", SCORE, {"scale": "beta"}, batch_of((2, 4), (1, 0, 1, 0, 0.25, 0.75), 726))
case("beta-one", "one prompt: the density is 1", changed(NORM, advantage={"std": "population"}), {"scale": "beta"},
     batch_of((3,), (1, 0, 0.25), 727))
case("beta-none", "without a baseline, rates of 0, 1 and between: the weight is at most a million", NONE, {"scale": "beta"},
     batch_of((2, 2, 2, 4), (0, 0, 1, 1, 1, 0, 0.5, 0.5, 0.25, 0.75), 728))
case("beta-leave_one_out", "against the others", changed(BETA, advantage={"baseline": "none"}), {"baseline": "leave_one_out"},
     rates)
case("beta-alone", "a response alone is a prompt of rate 0", SCORE, {"scale": "beta"}, alone)
case("beta-raw", "and keeps its reward", BETA, {"singleton": "raw"}, alone)
add("choices-shaping", 0, "beta-map", "rewards that are mapped to 0 and 1", BETA,
    {"reward": {"map": "affine", "map_bias": -1, "map_factor": -1}}, rates)


# ---- reweight

WEIGHTED = changed(SCORE, advantage={"reweight": "exponential", "reweight_temperature": 1})
case("exponential", "a e^(a/tau)", SCORE, {"reweight": "exponential", "reweight_temperature": 1}, ranks)
for tau in (0.25, -0.5, 0.03125):
    case(f"exponential-{tau}", "another temperature", WEIGHTED, {"reweight_temperature": tau}, pairs)
case("exponential-group_std", "of the scaled advantages", NORM, {"reweight": "exponential", "reweight_temperature": 2}, pairs)


# ---- several rewards, and once more over the tokens

TWO = ((1, 0.25), (0, 0.5), (0.5, 0.5), (1, -1), (1, 0), (0.75, 0.5))
two = several(TWO, (1, 0.5), 731)
EACH = changed(SCORE, advantage={"rewards": "each", "scale": "group_std"})
case("each-leave_one_out_std", "each over the deviation of the others, where they differ",
     changed(EACH, advantage={"baseline": "leave_one_out"}), {"scale": "leave_one_out_std"}, two)
case("tokens", "the sums are whitened over the tokens: longer responses count more", EACH, {"batch_norm": "tokens"}, two)
SECOND = changed(SCORE, advantage={"batch_norm": "tokens"})
lengths = batch_of((2, 2), (1, 0, 0.5, 0.25), 732, lengths=(3, 1, 2, 1), mask={(0, 1), (2, 1)})
case("tokens-eps", "epsilon inside the root", SECOND, {"batch_norm_eps": 0.5}, lengths)
case("tokens-population", "divisor n", SECOND, {"std": "population"}, lengths)
case("tokens-return", "after the credit", changed(NONE, advantage={"credit": "return", "gamma": 0.5}), {"batch_norm": "tokens"},
     lengths)
case("tokens-equal", "all equal after the credit: 0", changed(NONE, advantage={"batch_norm_eps": 0.5}), {"batch_norm": "tokens"},
     batch_of((2,), (binary32(0.7), binary32(0.7)), 733, lengths=(2, 1)))
case("tokens-one", "one token: 0", NONE, {"batch_norm": "tokens"}, batch_of((2,), (1, 0.5), 734, lengths=(1, 1), mask={(1, 0)}))


# ---- distances from the mean, and powers of failure


case = cases_of("choices-advantage-success")


def rewards(*groups, lengths=None):
    flat = [r for group in groups for r in group]
    lengths = lengths or [1] * len(flat)
    return lambda o: full(o, [len(g) for g in groups], lengths, 931, reward=flat)


BASE = changed(SCORE, advantage={"baseline": "group_mean"})
mixed = rewards((1, 0, 0.25), (0.5, 0.5), (0.75,), (-1, 2))
DEVIATION = {"scale": "mean_absolute_deviation", "eps": 0.125}
case("mean_absolute_deviation", "G times R - b over the sum of distances from the mean; equal rewards and lone ones are 0", BASE,
     {"advantage": DEVIATION}, mixed)
case("mean_deviation-raw", "a lone reward is not divided; epsilon 0", changed(BASE, advantage={**DEVIATION, "eps": 0}),
     {"advantage": {"singleton": "raw"}}, mixed)
case("mean_deviation-leave_one_out", "distances are from the mean whatever the baseline", changed(BASE, advantage=DEVIATION),
     {"advantage": {"baseline": "leave_one_out"}}, mixed)
solved = rewards((1, 0, 0), (1, 0.5, -0.25), (1.5, 1), (-1, 0))
POWER = {"reweight": "focal", "focal_reward_low": -0.5, "focal_reward_high": 1, "focal_gamma": 2}
case("focal", "the less, the more of the prompt's responses are right: the mean in, above and at the ends of its range", BASE,
     {"advantage": POWER}, solved)
case("failure_power-0.5", "a root", changed(BASE, advantage={**POWER, "scale": "group_std"}), {"advantage": {"focal_gamma": 0.5}}, solved)
case("failure_power-0", "power 0: 1, where all is solved too", changed(BASE, advantage=POWER), {"advantage": {"focal_gamma": 0}}, solved)
case("failure_power-difficulty_weight_low", "the mean is that of the rewards as they were made",
     changed(BASE, advantage={**POWER, "focal_reward_low": 0}, reward={"map": "affine", "map_bias": 1, "map_factor": 0.5}),
     {"advantage": {"focal_reward_low": -1}}, solved)
