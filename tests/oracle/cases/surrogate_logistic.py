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
case("logistic", "right or wrong, by the sign of the advantage; 0 is wrong", TOKENS, {"surrogate": kind("logistic", beta=0.75)}, levels)
case("logistic-shift", "against a prior", LOGISTIC, {"surrogate": {"logit_shift": 0.5}}, levels)
case("logistic-sum", "of the whole response", LOGISTIC, {"ratio": {"level": "sequence_sum"}, "surrogate": {"logit_shift": -0.25}}, levels)
case("logistic-far-800", "e^600 overflows a binary32", LOGISTIC, {"surrogate": {"logit_shift": 0.5}}, far(-1, -0.5))
for label, logps in (("policy", (NEG, -1)), ("old", (-1, NEG))):
    case(f"logistic-neginf-{label}", "an infinite log-ratio", TOKENS, {"surrogate": kind("logistic", beta=0.75)}, never(*logps, 1))
DISPO = kind("dispo", weight_min=0.75, weight_max=2, weight_max_neg=4)
case("dispo", "a detached weight with bounds by the sign of the advantage", TOKENS, {"surrogate": DISPO}, levels)
case("dispo-weight_min_neg", "and one from below for the bad ones", changed(TOKENS, surrogate=DISPO),
     {"surrogate": {"weight_min_neg": 0.875}}, levels)
case("bgpo", "a line where A > 0, the ratio where A < 0", TOKENS, {"surrogate": kind("bgpo")}, levels)
case("bgpo-far-800", "a loss of -800 and one of 0", TOKENS, {"surrogate": kind("bgpo")}, far(1, -1))
case("bgpo-neginf", "the line has no end", TOKENS, {"surrogate": kind("bgpo")}, never(NEG, -1, 1))
SHAPED = kind("policy_shaping", eps_low=0.25, eps_high=0.25, shaping_gamma=0.5)
case("policy_shaping", "selected tokens have a bounded ratio without a clip, the others a clip", TOKENS, {"surrogate": SHAPED}, levels)
case("shaped-shape", "another half", changed(TOKENS, surrogate=SHAPED), {"surrogate": {"shaping_gamma": 2}}, levels)
for up, down in ((1, -1), (-1, 1)):
    case(f"shaped-far-800-{up}", "full and empty ratios", TOKENS, {"surrogate": SHAPED}, far(up, down))
for label, logps in (("policy", (NEG, -1)), ("old", (-1, NEG))):
    case(f"shaped-neginf-{label}", "an infinite log-ratio", TOKENS, {"surrogate": SHAPED}, never(*logps, -1))


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
case("position", "bounds of the log-ratio, the same everywhere", CLIP, {"surrogate": BY_PLACE}, walk)
PLACED = changed(CLIP, surrogate=BY_PLACE)
for power in (0.5, -0.5, 16):
    case(f"position-{power}", "wider or narrower with every token; one at its bound, masked ones do not count", PLACED,
         {"surrogate": {"position_power": power}}, walk)
DUAL = changed(PLACED, surrogate=kind("dual_clip", position_power=0.5, log_clip_dual=0.25))
case("position-dual", "bad tokens cost at most as much as the bound", PLACED,
     {"surrogate": kind("dual_clip", position_power=0.5, log_clip_dual=0.25)}, walk)
case("position-log_clip_dual", "or a little more", DUAL, {"surrogate": {"log_clip_dual": 0.4375}}, walk)
case("position-far-800", "ratios beyond every bound", DUAL, {"surrogate": {"log_clip_dual": 0.5}}, far(-1, -1))


def windows(o):
    batch = walk(o)
    batch["eps_low"] = [[0, 0.5, 0.25, 0.125, 0, 0.375], [1, 0.25, 0.25, 0], [0.5, 0]]
    batch["eps_high"] = [[0.25, 0.5, 0.5, 0, 0.5, 0.25], [0, 0.5, 1, 0.125], [0.25, 0]]
    return batch


for name, more in (("ppo_clip", {}), ("dual_clip", {"clip_dual": 2.5}),
                   ("gppo", {"clip_dual": 2.5, "gppo_beta_low": 0.5, "gppo_beta_high": 0.75})):
    case(f"given-{name}", "bounds of every token from outside", changed(CLIP, surrogate=kind(name, **more)),
         {"surrogate": {"bounds": "external", "eps_low": 0, "eps_high": 0}}, windows)
