"""The advantage: baseline, scale and epsilon, reweight, returns, steps and GAE."""
from cases.table import cases_of
from cases.bases import SCORE
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


NORM = changed(SCORE, advantage={"scale": "group_std"})
NONE = changed(SCORE, advantage={"baseline": "none"})
for baseline in ("group_mean", "leave_one_out", "length_weighted", "external"):
    case(baseline, "another baseline", NONE, {"advantage": {"baseline": baseline}}, groups)
    case(f"{baseline}-group_std", "another baseline, scaled", NONE,
         {"advantage": {"baseline": baseline, "scale": "group_std"}}, groups)
case("none-group_std", "scaled without a baseline", NONE, {"advantage": {"scale": "group_std"}}, groups)
case("length_weighted-empty", "no token counts in one group: its length-weighted baseline is 0",
     NONE, {"advantage": {"baseline": "length_weighted"}}, unmasked_none)
SCALES = ("group_std", "batch_std", "batch_centred_std", "token_whiten")
for scale in SCALES:
    case(scale, "another scale", SCORE, {"advantage": {"scale": scale}}, groups)
    case(f"{scale}-population", "divisor n", changed(SCORE, advantage={"scale": scale}),
         {"advantage": {"std": "population"}}, groups)
    case(f"{scale}-eps", "epsilon beside the deviation", changed(SCORE, advantage={"scale": scale}),
         {"advantage": {"eps": 0.1}}, groups)
for place in ("add", "inside", "floor", "floor_add"):
    for eps in (0.001, 0.1):
        case(f"{place}-{eps}", "where epsilon stands, variances below and above it", NORM,
             {"advantage": {"eps": eps, "eps_place": place}}, narrow)
    case(f"{place}-whiten", "where epsilon stands when whitening",
         changed(SCORE, advantage={"scale": "token_whiten"}),
         {"advantage": {"eps": 0.5, "eps_place": place}}, narrow)
for baseline in ("none", "group_mean", "leave_one_out", "length_weighted"):
    for scale in ("none", "group_std"):
        if baseline == scale == "none":
            continue
        base = changed(SCORE, advantage={"baseline": baseline, "scale": scale, "eps": 0.25})
        case(f"singleton-{baseline}-{scale}", "what an item alone in its group gets: here its own reward", base,
             {"advantage": {"singleton": "raw"}}, groups)
case("valid_groups", "gain N / (N - M), M responses in groups of equal rewards", SCORE,
     {"advantage": {"reweight": "valid_groups"}}, groups)
case("valid_groups-none", "every group has equal rewards: gain 1", NONE,
     {"advantage": {"baseline": "external", "reweight": "valid_groups"}}, one_kind)
case("nonzero_rewards", "gain N / number of rewards that are not 0", SCORE,
     {"advantage": {"reweight": "nonzero_rewards"}}, groups)
case("nonzero_rewards-none", "all rewards are 0: the divisor is 1", NONE,
     {"advantage": {"baseline": "external", "reweight": "nonzero_rewards"}}, zeros)
for kind in ("valid_groups", "nonzero_rewards"):
    case(f"{kind}-whiten", "a factor of the whole batch is in the deviation, and epsilon beside it",
         changed(SCORE, advantage={"scale": "token_whiten", "eps": 0.5}), {"advantage": {"reweight": kind}}, groups)
for gamma in (1, 0.5, 0):
    case(f"return-{gamma}", "returns, masked tokens do not discount",
         changed(SCORE, advantage={"credit": "return", "gamma": 0.25}), {"advantage": {"credit": "return",
                 "gamma": gamma}}, timed)
    case(f"step-{gamma}", "step rewards, masked tokens do not discount", SCORE,
         {"advantage": {"credit": "step", "gamma": gamma}}, stepped)
for baseline in ("none", "leave_one_out", "length_weighted", "external"):
    case(f"step-{baseline}", "baseline of step rewards", changed(SCORE, advantage={"credit": "step", "gamma": 1}),
         {"advantage": {"baseline": baseline}}, stepped)
for scale in SCALES:
    case(f"step-{scale}", "scale of step rewards", changed(SCORE, advantage={"credit": "step", "gamma": 1}),
         {"advantage": {"scale": scale}}, stepped)
for gamma, lam in ((1, 1), (0.5, 0.75), (0.75, 0.5), (0.5, 0), (0, 1)):
    case(f"gae-{gamma}-{lam}", "delta and trace skip masked tokens", SCORE,
         {"advantage": {"credit": "gae", "gamma": gamma, "lambda": lam}}, timed)
case("gae-kl", "KL in the token rewards of GAE",
     changed(SCORE, advantage={"credit": "gae", "gamma": 0.5, "lambda": 0.75}),
     {"reward": {"kl": "k3", "kl_coef": 0.5}}, timed)
case("return-kl-discounted", "KL in the token rewards, discounted",
     changed(SCORE, advantage={"credit": "return", "gamma": 0.5}),
     {"reward": {"kl": "k1", "kl_coef": 0.5}}, timed)
