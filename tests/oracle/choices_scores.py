"""The cases of choices-scores: functions of scores, surrogates of one unit, bounds by position, likelihoods; as in choices.py."""
from choices_group import KINDS, MEAN, NEG, distant, kind, lone, one_never, teams
from objectives import changed, plain
from scenarios import full, placed

CASES = []


def case(label, comment, base, changes, make):
    CASES.append(("scores", label, comment, base, changes, make))


SCORES = {"contrast_mean": kind("contrast_mean"), "contrast_lse": kind("contrast_lse", tau_neg=0.75),
          "soft_pairs": kind("soft_pairs", strength=2, tau_pos=0.5), "match": kind("match", strength=1.5, tau_pos=0.5),
          "match_js": kind("match_js", strength=1.5, tau_pos=0.5)}
OF = {name: changed(MEAN, surrogate=fields) for name, fields in {**KINDS, **SCORES}.items()}
RATIO = {"surrogate": {"score": "ratio"}}


# ---- functions of a group

def two_sides(o):
    """Two good and two other responses of different length, and a group without good ones."""
    d = ((0.5,), (-0.25, 0.75, 0.5, 1), (1.5, -1), (-0.75,), (-0.5, 0.25), (1,))
    batch = full(o, (4, 2), [len(x) for x in d], 1001, d=lambda dice, i, t: d[i][t], mask={(1, 1)})
    batch["advantage"] = [[1], [0.5] * 4, [-0.5] * 2, [0], [-1] * 2, [0]]
    return batch


for name in ("contrast_mean", "contrast_lse"):
    case(name, "good responses against the others; a group without good ones is worth nothing", MEAN, {"surrogate": SCORES[name]},
         two_sides)
case("contrast_mean-length_rate", "short good responses count for more", OF["contrast_mean"],
     {"surrogate": {"length_rate": 0.5}}, two_sides)
case("contrast_lse-length_rate", "long ones do", OF["contrast_lse"], {"surrogate": {"length_rate": -0.25}}, two_sides)
case("contrast_lse-far-800", "one of the others decides", MEAN, {"surrogate": SCORES["contrast_lse"]}, distant)
for label, logps, a in (("old-bad", (-1, NEG), -1), ("policy-bad", (NEG, -1), -1), ("policy-good", (NEG, -1), 1)):
    case(f"contrast_lse-neginf-{label}", "an infinite score, of a good response or of another", MEAN,
         {"surrogate": SCORES["contrast_lse"]}, one_never(*logps, a))
for name in ("soft_pairs", "match", "match_js"):
    case(name, "one score for each response, towards what the advantages say", MEAN, {"surrogate": SCORES[name]}, teams)
for name in ("soft_pairs", "match"):
    case(f"{name}-lone", "groups of one active response, and one of none", MEAN, {"surrogate": SCORES[name]}, lone)
case("soft_pairs-token", "the derivative by the score goes to every token as it is", OF["soft_pairs"],
     {"ratio": {"gradient": "token"}}, teams)
case("soft_pairs-far-800", "scores 800 and 1600 apart", MEAN, {"surrogate": SCORES["soft_pairs"]}, distant)
case("match_js-far-800", "shares of e^-1100 and less", MEAN, {"surrogate": SCORES["match_js"]}, distant)
case("soft_pairs-neginf", "a response that cannot be: every preference for it is lost", MEAN, {"surrogate": SCORES["soft_pairs"]},
     one_never(NEG, -1, 1))
case("match-neginf", "a response that can be now: it has all of the share", MEAN, {"surrogate": SCORES["match"]}, one_never(-1, NEG, 1))
case("match_js-neginf", "a share of 0: 0 log 0 is 0", MEAN, {"surrogate": SCORES["match_js"]}, one_never(NEG, -1, 1))


# ---- ratios as scores

for name in ("variance", "labels", "balance", "contrast"):
    case(f"{name}-ratio", "the score is the ratio, not its logarithm", OF[name], RATIO, teams)
case("contrast_mean-ratio-neginf", "a ratio of 0 has no derivative", OF["contrast_mean"], RATIO, one_never(NEG, -1, 1))
MEAN_RATIO = {"ratio": {"unit": "sequence_mean_ratio"}}
case("variance-mean_ratio", "the score is the logarithm of the mean ratio", OF["variance"], MEAN_RATIO, teams)
case("contrast_lse-mean_ratio", "the score is the mean ratio", changed(OF["contrast_lse"], **MEAN_RATIO), RATIO, two_sides)


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
LOGISTIC = changed(TOKENS, surrogate=kind("logistic", strength=0.75))
case("logistic", "right or wrong, by the sign of the advantage; 0 is wrong", TOKENS, {"surrogate": kind("logistic", strength=0.75)}, levels)
case("logistic-shift", "against a prior", LOGISTIC, {"surrogate": {"shift": 0.5}}, levels)
case("logistic-sum", "of the whole response", LOGISTIC, {"ratio": {"unit": "sequence_sum"}, "surrogate": {"shift": -0.25}}, levels)
case("logistic-far-800", "e^600 overflows a binary32", LOGISTIC, {"surrogate": {"shift": 0.5}}, far(-1, -0.5))
for label, logps in (("policy", (NEG, -1)), ("old", (-1, NEG))):
    case(f"logistic-neginf-{label}", "an infinite log-ratio", TOKENS, {"surrogate": kind("logistic", strength=0.75)}, never(*logps, 1))
DISPO = kind("dispo", weight_min=0.75, weight_max=2, weight_max_neg=4)
case("dispo", "a detached weight with bounds by the sign of the advantage", TOKENS, {"surrogate": DISPO}, levels)
case("dispo-weight_min_neg", "and one from below for the bad ones", changed(TOKENS, surrogate=DISPO),
     {"surrogate": {"weight_min_neg": 0.875}}, levels)
case("bgpo", "a line where A > 0, the ratio where A < 0", TOKENS, {"surrogate": kind("bgpo")}, levels)
case("bgpo-far-800", "a loss of -800 and one of 0", TOKENS, {"surrogate": kind("bgpo")}, far(1, -1))
case("bgpo-neginf", "the line has no end", TOKENS, {"surrogate": kind("bgpo")}, never(NEG, -1, 1))
SHAPED = kind("shaped", eps_low=0.25, eps_high=0.25, shape=0.5)
case("shaped", "selected tokens have a bounded ratio without a clip, the others a clip", TOKENS, {"surrogate": SHAPED}, levels)
case("shaped-shape", "another half", changed(TOKENS, surrogate=SHAPED), {"surrogate": {"shape": 2}}, levels)
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
DUAL = changed(PLACED, surrogate=kind("dual_clip", position_power=0.5, log_dual=0.25))
case("position-dual", "bad tokens cost at most as much as the bound", PLACED,
     {"surrogate": kind("dual_clip", position_power=0.5, log_dual=0.25)}, walk)
case("position-log_dual", "or a little more", DUAL, {"surrogate": {"log_dual": 0.4375}}, walk)
case("position-far-800", "ratios beyond every bound", DUAL, {"surrogate": {"log_dual": 0.5}}, far(-1, -1))


def windows(o):
    batch = walk(o)
    batch["clip_low"] = [[0, 0.5, 0.25, 0.125, 0, 0.375], [1, 0.25, 0.25, 0], [0.5, 0]]
    batch["clip_high"] = [[0.25, 0.5, 0.5, 0, 0.5, 0.25], [0, 0.5, 1, 0.125], [0.25, 0]]
    return batch


for name, more in (("ppo_clip", {}), ("dual_clip", {"dual": 2.5}), ("gppo", {"dual": 2.5, "beta_low": 0.5, "beta_high": 0.75})):
    case(f"given-{name}", "bounds of every token from outside", changed(CLIP, surrogate=kind(name, **more)),
         {"surrogate": {"bounds": "given", "eps_low": 0, "eps_high": 0}}, windows)


# ---- aggregation

def signed(o):
    """Two responses that begin well and one that does not; tokens of the other sign inside, and masked ones at the start."""
    batch = full(o, (2, 2), (3, 2, 2, 2), 1031, mask={(0, 0), (3, 0), (3, 1)})
    batch["advantage"] = [[-1, 1, -0.5], [0, 1], [0.5, -0.25], [1, 1]]
    return batch


BY_SIGN = changed(LOGISTIC, penalty={"kl": "k3", "kl_coef": 0.25}, aggregation={"kind": "token_mean_by_sign"})
case("seq_mean_by_sign", "responses that begin well have a mean of their own, and so have the others", BY_SIGN,
     {"aggregation": {"kind": "seq_mean_by_sign"}}, signed)
case("seq_mean_by_sign-all", "no response begins badly", BY_SIGN,
     {"aggregation": {"kind": "seq_mean_by_sign"}}, lambda o: {**signed(o), "advantage": [[1] * 3, [0.5, -1], [2, 0], [1, 1]]})


# ---- likelihood

def recalled(o):
    """Tokens that have lost and gained likelihood, in responses and segments that have altogether; a response without advantage,
    and one against which there is one."""
    d = ((-0.5, 0.25, 0.5, -0.125), (0.75, -0.25, -0.375), (-0.25, -0.25), (-1, 0.5), (-0.5, 0.5))
    batch = full(o, (3, 2), [len(x) for x in d], 1041, d=lambda dice, i, t: d[i][t], mask={(0, 2)}, more=("logp_old",))
    batch["advantage"] = [[1] * 4, [0] * 3, [-1] * 2, [0.5, -0.5], [1] * 2]
    batch["step_end"] = [[False, True, False, False], [True, False, True], [False, True], [True, True], [False, True]]
    return batch


PLAIN = changed(plain(), aggregation={"kind": "token_mean"})
LIKELY = changed(PLAIN, penalty={"likelihood_on": "all", "likelihood_coef": 0.5})
case("not_negative", "tokens without a bad advantage", PLAIN,
     {"penalty": {"likelihood_on": "not_negative", "likelihood_coef": 0.5}}, recalled)
case("teacher_gap", "towards a teacher", LIKELY, {"penalty": {"likelihood_form": "teacher_gap"}}, recalled)
GAP = changed(LIKELY, penalty={"likelihood_form": "teacher_gap"})
GATED = {"likelihood_weight": "teacher_gate", "likelihood_gain": 5}
case("teacher_gate", "weighed by how much more the teacher says", GAP, {"penalty": GATED}, recalled)
case("likelihood_gain", "the other way round", changed(GAP, penalty=GATED), {"penalty": {"likelihood_gain": -1.5}}, recalled)
case("lost", "what is lost against the old policy", LIKELY, {"penalty": {"likelihood_form": "lost"}}, recalled)
LOST = changed(LIKELY, penalty={"likelihood_form": "lost"})
for gate in ("sequence", "segment"):
    case(f"lost-{gate}", "where it is lost altogether; exactly nothing is not", LOST, {"penalty": {"likelihood_gate": gate}}, recalled)
case("lost-segment-not_negative", "the gate sees the tokens that count", changed(LOST, penalty={"likelihood_gate": "segment"}),
     {"penalty": {"likelihood_on": "not_negative"}}, recalled)


def absent(**rows):
    logps = {"logp": (-1,), "logp_old": (-0.75,), "logp_teacher": (-0.5,)}
    return lambda o: placed(o, 1042, (2,), ((1,), (0.75,)), **{key: (rows.get(key, x), (-1.25,)) for key, x in logps.items()})


RATIOS = changed(PLAIN, surrogate=kind("ratio"))
SOFT = changed(RATIOS, penalty={"likelihood_on": "all", "likelihood_coef": 0.5})
for label, rows in (("policy", {"logp": (NEG,)}), ("teacher", {"logp_teacher": (NEG,)}),
                    ("both", {"logp": (NEG,), "logp_teacher": (NEG,)})):
    case(f"teacher_gate-neginf-{label}", "an infinite gap, or none", SOFT, {"penalty": {"likelihood_form": "teacher_gap", **GATED}},
         absent(**rows))
for label, rows in (("policy", {"logp": (NEG,)}), ("old", {"logp_old": (NEG,)})):
    case(f"lost-neginf-{label}", "lost altogether, or gained", SOFT,
         {"penalty": {"likelihood_form": "lost", "likelihood_gate": "sequence"}}, absent(**rows))
