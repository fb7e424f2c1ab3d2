"""The surrogate of one unit: logistic, dispo, bgpo, policy_shaping; bounds by position and by token."""
from cases.table import cases_of
from cases.surrogate_group import NEG, kind
from objectives import changed, plain
from scenarios import full, placed

case = cases_of("choices-scores", 1)


# ---- surrogates of one unit

def levels(o):
    """Tokens of both signs of A and of 0, ratios from e^-2 to e^3; a masked token."""
    d = ((-2, -0.5, 0.25, 3), (2.5, 0.5, -1), (0.125, -0.25))
    a = ((1, 0.5, -1, 0.75), (-0.5, -1, 1), (0, -0.25))
    batch = full(o, (2, 1), [len(x) for x in d], 1011, d=lambda dice, i, t: d[i][t], mask={(0, 2)})
    batch["advantage"] = [list(row) for row in a]
    batch["selected"] = [[True, False, True, False], [True, True, False], [True, True]]
    return batch


def far(up, down):
    """Ratios of e^800 and e^-800 with these advantages, and an ordinary one; all selected."""
    def make(o):
        d = ((800,), (-800,), (0.1875,))
        batch = full(o, (3,), (1, 1, 1), 1012, d=lambda dice, i, t: d[i][t])
        batch["advantage"], batch["selected"] = [[up], [down], [0.5]], [[True], [True], [True]]
        return batch
    return make


def never(policy, old, a):
    def make(o):
        return {**placed(o, 1013, (2,), ((a,), (0.75,)), logp=((policy,), (-1.25,)), logp_old=((old,), (-1.5,))),
                "selected": [[True], [False]]}
    return make


TOKENS = changed(plain(), surrogate=kind("log_ratio"), aggregation={"kind": "token_mean"})
LOGISTIC = changed(TOKENS, surrogate=kind("logistic", beta=0.75))
case("logistic", "logistic loss of the log-ratio: label 1 where A > 0, 0 where A < 0 or A = 0",
     TOKENS, {"surrogate": kind("logistic", beta=0.75)}, levels)
case("logistic-shift", "logistic loss of the log-ratio minus a shift of 1/2 (the logarithm of a prior)",
     LOGISTIC, {"surrogate": {"logit_shift": 0.5}}, levels)
case("logistic-sum", "logistic loss of the response's summed log-ratio plus 1/4 (logit_shift = -0.25)",
     LOGISTIC, {"ratio": {"level": "sequence_sum"}, "surrogate": {"logit_shift": -0.25}}, levels)
case("logistic-far-800", "logistic loss with log-ratios of +-800: e^600 overflows binary32, log(1 + e^600) is near 600",
     LOGISTIC, {"surrogate": {"logit_shift": 0.5}}, far(-1, -0.5))
for label, logps in (("policy", (NEG, -1)), ("old", (-1, NEG))):
    case(f"logistic-neginf-{label}", f"logistic loss: a token with A > 0 has probability 0 under the {label} policy, an infinite log-ratio",
         TOKENS, {"surrogate": kind("logistic", beta=0.75)}, never(*logps, 1))
DISPO = kind("dispo", weight_min=0.75, weight_max=2, weight_max_neg=4)
case("dispo", "DISPO: detached ratio times log p, clipped to 0.75..2 where A > 0 and to 0..4 where A < 0",
     TOKENS, {"surrogate": DISPO}, levels)
case("dispo-weight_min_neg", "DISPO: detached ratio clipped to 0.875..4 where A < 0, a lower bound of its own",
     changed(TOKENS, surrogate=DISPO),
     {"surrogate": {"weight_min_neg": 0.875}}, levels)
case("bgpo", "BGPO: -(1 + log-ratio) A where A > 0, -ratio A where A < 0", TOKENS, {"surrogate": kind("bgpo")}, levels)
case("bgpo-far-800", "BGPO at log-ratios 800 (A > 0: loss -801) and -800 (A < 0: loss near 0): e^800 is not needed",
     TOKENS, {"surrogate": kind("bgpo")}, far(1, -1))
case("bgpo-neginf", "BGPO: a token with A > 0 has probability 0 under the policy: the loss is infinite, its gradient is -A",
     TOKENS, {"surrogate": kind("bgpo")}, never(NEG, -1, 1))
SHAPED = kind("policy_shaping", eps_low=0.25, eps_high=0.25, shaping_gamma=0.5)
case("policy_shaping", "tokens with shaping_mask: -A w / (w + gamma), without a clip; all others as PPO's clipped surrogate",
     TOKENS, {"surrogate": SHAPED}, levels)
case("shaped-shape", "policy shaping -A w / (w + gamma) with gamma = 2 instead of 0.5",
     changed(TOKENS, surrogate=SHAPED), {"surrogate": {"shaping_gamma": 2}}, levels)
for up, down in ((1, -1), (-1, 1)):
    case(f"shaped-far-800-{up}",
         f"policy shaping at log-ratio 800 (A = {up}) and -800 (A = {down}): w / (w + gamma) is 1 and 0, not inf/inf",
         TOKENS, {"surrogate": SHAPED}, far(up, down))
for label, logps in (("policy", (NEG, -1)), ("old", (-1, NEG))):
    case(f"shaped-neginf-{label}",
         f"policy shaping: a token with A < 0 has probability 0 under the {label} policy: w / (w + gamma) is 0 or 1",
         TOKENS, {"surrogate": SHAPED}, never(*logps, -1))


# ---- bounds by position and by token

def walk(o):
    """Log-ratios below, in and above bounds around 1/4 that widen and narrow; one at a bound; a masked token on the way."""
    d = ((0.25, 1, 0.375, -0.25, 0.5, -0.5), (-0.5, -0.375, 0.75, 0.125), (1.5, -0.0625))
    a = ((1, 1, 1, -1, 1, -0.5), (-1, -0.5, -1, -1), (-1, 0.5))
    batch = full(o, (2, 1), [len(x) for x in d], 1021, d=lambda dice, i, t: d[i][t], mask={(0, 1)})
    batch["advantage"] = [list(row) for row in a]
    return batch


CLIP = changed(plain(), surrogate=kind("ppo_clip", eps_low=0.2, eps_high=0.2), aggregation={"kind": "token_mean"})
BY_PLACE = {"bounds": "position", "eps_low": 0, "eps_high": 0, "log_low": 0.1875, "log_high": 0.25}
case("position", "clip bounds by position with power 0: e^-0.1875 and e^0.25 at every token", CLIP, {"surrogate": BY_PLACE}, walk)
PLACED = changed(CLIP, surrogate=BY_PLACE)
for power in (0.5, -0.5, 16):
    case(f"position-{power}",
         f"clip bounds e^(-0.1875 s), e^(0.25 s), s = n^{power}, n the number of counting tokens so far; one ratio is at its bound", PLACED,
         {"surrogate": {"position_power": power}}, walk)
DUAL = changed(PLACED, surrogate=kind("dual_clip", position_power=0.5, log_clip_dual=0.25))
case("position-dual", "dual clip with bounds by position: where A < 0 the loss is bounded by e^(0.25 sqrt(n)) |A|", PLACED,
     {"surrogate": kind("dual_clip", position_power=0.5, log_clip_dual=0.25)}, walk)
case("position-log_clip_dual", "dual clip with bounds by position: where A < 0 the loss is bounded by e^(0.4375 sqrt(n)) |A|",
     DUAL, {"surrogate": {"log_clip_dual": 0.4375}}, walk)
case("position-far-800", "dual clip with bounds by position at log-ratios of +-800 with A < 0: bounds are compared as logarithms",
     DUAL, {"surrogate": {"log_clip_dual": 0.5}}, far(-1, -1))


def windows(o):
    batch = walk(o)
    batch["eps_low"] = [[0, 0.5, 0.25, 0.125, 0, 0.375], [1, 0.25, 0.25, 0], [0.5, 0]]
    batch["eps_high"] = [[0.25, 0.5, 0.5, 0, 0.5, 0.25], [0, 0.5, 1, 0.125], [0.25, 0]]
    return batch


for name, more in (("ppo_clip", {}), ("dual_clip", {"clip_dual": 2.5}),
                   ("gppo", {"clip_dual": 2.5, "gppo_beta_low": 0.5, "gppo_beta_high": 0.75})):
    case(f"given-{name}", f"{name} with clip bounds of each token from the batch (eps_low and eps_high arrays), 0 among them",
         changed(CLIP, surrogate=kind(name, **more)),
         {"surrogate": {"bounds": "external", "eps_low": 0, "eps_high": 0}}, windows)
