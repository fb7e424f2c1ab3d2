"""The advantage: baseline, scale and epsilon, reweight, returns, steps and GAE."""
from cases.table import cases_of
from cases.bases import NONE, NORM, PLACES, SCORE
from objectives import changed
from scenarios import full

case = cases_of("choices-advantage")


# ---- advantage

def groups(o):
    return full(o, (1, 3, 2, 2), (2, 1, 3, 1, 2, 1, 1, 2), 111, reward=(0.75, 1, 0, 0.25, 0.5, 0.5, -1, 0), more=("baseline",))


def narrow(o):
    return full(o, (3, 2), (1, 2, 1, 1, 1), 112, reward=(1, 1 + 2 ** -10, 1 - 2 ** -11, 2, 2 + 2 ** -8))


def one_kind(o):
    return full(o, (2, 2), (1, 2, 1, 1), 113, reward=(1, 1, 0.5, 0.5))


def zeros(o):
    return full(o, (2, 1), (1, 2, 1), 114, reward=(0, 0, 0))


def unmasked_none(o):
    return full(o, (2, 1), (2, 1, 2), 115, reward=(1, 0, 0.5), mask={(0, 0), (0, 1), (1, 0)})


def timed(o):
    return full(o, (2, 2), (5, 3, 2, 1), 116, reward=(1, -0.5, 0.25, 1), mask={(0, 1), (1, 0), (1, 2)})


def stepped(o):
    batch = full(o, (2, 2, 1), (5, 3, 2, 2, 1), 117, mask={(0, 1)}, more=("baseline",))
    batch["step_end"] = [[True, True, False, True, False], [False, False, True], [True, True], [False, False], [True]]
    return batch


for baseline in ("group_mean", "leave_one_out", "length_weighted", "external"):
    case(baseline, f"baseline {baseline}: subtracted from the reward without a scale; groups of 1 to 3 responses, one of equal rewards",
         NONE, {"advantage": {"baseline": baseline}}, groups)
    case(f"{baseline}-group_std", f"baseline {baseline}, divided by the standard deviation of the group's rewards", NONE,
         {"advantage": {"baseline": baseline, "scale": "group_std"}}, groups)
case("none-group_std", "rewards over the group's standard deviation, with no baseline subtracted; equal rewards still give 0",
     NONE, {"advantage": {"scale": "group_std"}}, groups)
case("length_weighted-empty", "no token of one group counts: its length-weighted baseline is 0, not 0/0",
     NONE, {"advantage": {"baseline": "length_weighted"}}, unmasked_none)
SCALES = ("group_std", "batch_std", "batch_centred_std", "token_whiten")
for scale in SCALES:
    case(scale, f"scale {scale}: rewards minus the group mean over this deviation; one lone response, one group of equal rewards",
         SCORE, {"advantage": {"scale": scale}}, groups)
    case(f"{scale}-population", f"scale {scale} with std = population: the variance is divided by n, not by n - 1",
         changed(SCORE, advantage={"scale": scale}),
         {"advantage": {"std": "population"}}, groups)
    case(f"{scale}-eps", f"scale {scale}: epsilon 0.1 is added to the standard deviation, outside the square root",
         changed(SCORE, advantage={"scale": scale}),
         {"advantage": {"eps": 0.1}}, groups)
for place in ("add", "inside", "floor", "floor_add"):
    for eps in (0.001, 0.1):
        case(f"{place}-{eps}", f"{PLACES[place]}; epsilon {eps}, standard deviations of 0.0007 and 0.0028", NORM,
             {"advantage": {"eps": eps, "eps_place": place}}, narrow)
    case(f"{place}-whiten", f"{PLACES[place]}, when advantages are whitened over the batch's tokens",
         changed(SCORE, advantage={"scale": "token_whiten"}),
         {"advantage": {"eps": 0.5, "eps_place": place}}, narrow)
for baseline in ("none", "group_mean", "leave_one_out", "length_weighted"):
    for scale in ("none", "group_std"):
        if baseline == scale == "none":
            continue
        base = changed(SCORE, advantage={"baseline": baseline, "scale": scale, "eps": 0.25})
        case(f"singleton-{baseline}-{scale}",
             f"singleton = raw, baseline {baseline}, scale {scale}: for a lone response the baseline is 0 and the variance 1", base,
             {"advantage": {"singleton": "raw"}}, groups)
case("valid_groups", "advantages times N / (N - M), M of the N responses being in groups of equal rewards, lone responses included", SCORE,
     {"advantage": {"reweight": "valid_groups"}}, groups)
case("valid_groups-none", "every group has equal rewards, so no group is left to scale by: the factor N / (N - M) is 1, not N / 0", NONE,
     {"advantage": {"baseline": "external", "reweight": "valid_groups"}}, one_kind)
case("nonzero_rewards", "advantages times N over the number of responses whose reward is not 0", SCORE,
     {"advantage": {"reweight": "nonzero_rewards"}}, groups)
case("nonzero_rewards-none", "all rewards are 0: the factor N over the number of nonzero rewards has divisor 1, not 0", NONE,
     {"advantage": {"baseline": "external", "reweight": "nonzero_rewards"}}, zeros)
for kind in ("valid_groups", "nonzero_rewards"):
    case(f"{kind}-whiten", f"the factor {kind} is applied before whitening: it changes the deviation to which epsilon is added",
         changed(SCORE, advantage={"scale": "token_whiten", "eps": 0.5}), {"advantage": {"reweight": kind}}, groups)
for gamma in (1, 0.5, 0):
    case(f"return-{gamma}",
         f"reward at the last token, discounted by gamma = {gamma} for each token before it; masked tokens do not discount",
         changed(SCORE, advantage={"credit": "return", "gamma": 0.25}), {"advantage": {"credit": "return",
                 "gamma": gamma}}, timed)
    case(f"step-{gamma}", f"step rewards summed from each token on, gamma = {gamma}; a masked token between does not discount", SCORE,
         {"advantage": {"credit": "step", "gamma": gamma}}, stepped)
for baseline in ("none", "leave_one_out", "length_weighted", "external"):
    case(f"step-{baseline}",
         f"baseline {baseline} for step rewards: each step is an item of its prompt group; summed over the steps to come",
         changed(SCORE, advantage={"credit": "step", "gamma": 1}),
         {"advantage": {"baseline": baseline}}, stepped)
for scale in SCALES:
    case(f"step-{scale}", f"scale {scale} for step rewards, with the steps as items; summed over the steps to come",
         changed(SCORE, advantage={"credit": "step", "gamma": 1}),
         {"advantage": {"scale": scale}}, stepped)
for gamma, lam in ((1, 1), (0.5, 0.75), (0.75, 0.5), (0.5, 0), (0, 1)):
    case(f"gae-{gamma}-{lam}", f"GAE with gamma {gamma}, lambda {lam}: the next value and the trace skip masked tokens", SCORE,
         {"advantage": {"credit": "gae", "gamma": gamma, "lambda": lam}}, timed)
case("gae-kl", "GAE with the k3 KL penalty subtracted from every token's reward, not from the response's reward",
     changed(SCORE, advantage={"credit": "gae", "gamma": 0.5, "lambda": 0.75}),
     {"reward": {"kl": "k3", "kl_coef": 0.5}}, timed)
case("return-kl-discounted", "returns with the k1 KL penalty in each token's reward: it is discounted by gamma like the rewards",
     changed(SCORE, advantage={"credit": "return", "gamma": 0.5}),
     {"reward": {"kl": "k1", "kl_coef": 0.5}}, timed)
