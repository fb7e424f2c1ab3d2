"""The surrogate as a function of a group: variance, logistic_lse, trajectory_balance, pairs, softmax_cross_entropy."""
from cases.bases import unlikely_response
from cases.table import cases_of
from objectives import MINUS_INF, changed, plain
from scenarios import full, placed

case = cases_of("choices-group")

NEG = MINUS_INF


def kind(name, **numbers):
    return {"kind": name, **numbers}


MEAN = changed(plain(), ratio={"level": "sequence_mean"}, surrogate=kind("log_ratio"), aggregation={"kind": "group_mean"})
KINDS = {"variance": kind("variance", beta=0.5), "logistic_lse": kind("logistic_lse", tau_pos=0.5, tau_neg=0.75),
         "trajectory_balance": kind("trajectory_balance", reward_beta=1.5),
         "pairwise_logistic": kind("pairwise_logistic", beta=2, min_gap=0.25),
         "softmax_cross_entropy": kind("softmax_cross_entropy", beta=2, advantage_temperature=0.5)}
OF = {name: changed(MEAN, surrogate=fields) for name, fields in KINDS.items()}


# ---- batches

def teams(o):
    """Advantages that differ inside a response: that of its first active token decides. One of them is 0."""
    d = ((0.5, -0.25), (-1,), (4, 0.75, -0.5), (0.25, -0.75), (1.5,))
    a = ((1, -1), (-0.5,), (-4, 0.25, -2), (0, 1), (-1,))
    batch = full(o, (3, 2), [len(x) for x in d], 701, d=lambda dice, i, t: d[i][t], mask={(2, 0)})
    batch["advantage"] = [list(x) for x in a]
    batch["log_partition"] = [0.5, -0.75]
    return batch


def lone(o):
    """A group of one, a group of which one response is active, a group without any, a group of two."""
    batch = full(o, (1, 2, 1, 2), (2, 1, 2, 1, 3, 1), 702, mask={(1, 0), (3, 0)})
    batch["advantage"] = [[1, 1], [1], [-0.5, -0.5], [2], [0.5] * 3, [0.25]]
    return batch


def alike(o):
    """Equal advantages: a group with A = 0, and one with A > 0 only."""
    batch = full(o, (2, 2), (1, 2, 2, 1), 703)
    batch["advantage"] = [[0], [0, 0], [1, 1], [0.5]]
    return batch


def at_margin(o):
    """Advantages 1/4 apart, which is not more than the margin, and 1/2 apart."""
    batch = full(o, (3,), (1, 2, 1), 704)
    batch["advantage"] = [[0.5], [0.25, 0.25], [0]]
    return batch


def at_zero(o):
    """k (y - mean y) = A exactly, for k = 1/2."""
    d = ((1.5,), (0.25, 0.25), (-0.25,))
    batch = full(o, (3,), (1, 2, 1), 705, d=lambda dice, i, t: d[i][t])
    batch["advantage"] = [[0.5], [-0.125, -0.125], [-0.375]]
    return batch


def distant(o):
    """Scores 800 and 1600 apart."""
    d = ((800,), (-800, -800), (0.25,))
    batch = full(o, (3,), (1, 2, 1), 706, d=lambda dice, i, t: d[i][t])
    batch["advantage"] = [[1], [-0.5, -0.5], [0.25]]
    return batch


def one_never(policy, old, a):
    """A response of probability 0 under the policy, or under the old policy, with advantage a, and two others."""
    def make(o):
        return placed(o, 707, (3,), ((a,), (0.5, 0.5), (-0.25,)), logp=((policy,), (-1.25, -0.5), (-0.75,)),
                      logp_old=((old,), (-1.5, -0.25), (-1,)))
    return make


# ---- functions of a group

for name in KINDS:
    case(name, f"{name}: one score per response, coupled over its group; A is that of the first counting token, later ones differ", MEAN,
         {"surrogate": KINDS[name]}, teams)
for name in ("variance", "trajectory_balance", "softmax_cross_entropy"):
    case(f"{name}-lone", f"{name}: groups with one active response, and one with none: no division by 0",
         MEAN, {"surrogate": KINDS[name]}, lone)
case("pairs-sum", "pairwise_logistic: scores are summed log-ratios of responses, not means",
     OF["pairwise_logistic"], {"ratio": {"level": "sequence_sum"}}, teams)
for name in ("variance", "softmax_cross_entropy"):
    case(f"{name}-token", f"{name}, gradient token: every token gets the derivative of its response's score, not divided by its length",
         OF[name],
         {"ratio": {"gradient": "token"}}, teams)
case("variance-clamped", "variance: clamped scores have no gradient of their own, but still count in the group's mean", OF["variance"],
     {"ratio": {"level_clamp_low": -0.5, "level_clamp_high": 0.75}}, teams)
case("labels-alike", "logistic_lse: groups with A = 0 only and with A > 0 only have just one side and add 0", MEAN,
     {"surrogate": KINDS["logistic_lse"]}, alike)
case("labels-clipped_mean", "logistic_lse of GMPO's clipped mean log-ratio: clipped tokens have no gradient and are reported as clipped",
     OF["logistic_lse"],
     {"ratio": {"level": "sequence_clipped_mean", "token_clip_low": 0.5, "token_clip_high": 0.375}}, teams)
case("pairs-bound", "pairwise_logistic: advantages exactly min_gap apart make no pair, only those further apart",
     changed(OF["pairwise_logistic"], surrogate={"min_gap": 0}),
     {"surrogate": {"min_gap": 0.25}}, at_margin)
case("variance-cancels", "variance: beta (y - mean y) equals A exactly, so that loss and gradient are 0 though their parts are not",
     MEAN, {"surrogate": KINDS["variance"]},
     at_zero)
case("contrast-far-800", "softmax_cross_entropy of scores 800 and 1600 apart: the other responses' shares are e^-1100 and less", MEAN,
     {"surrogate": KINDS["softmax_cross_entropy"]}, distant)
for name, label, logps, a in (("logistic_lse", "old-good", (-1, NEG), 1), ("pairwise_logistic", "policy-good", (NEG, -1), 1),
                              ("softmax_cross_entropy", "policy-bad", (NEG, -1), -1)):
    case(f"{name}-neginf-{label}",
         f"{name}: {unlikely_response(a, logps)}: an infinite score",
         MEAN,
         {"surrogate": KINDS[name]}, one_never(*logps, a))
for label, logps, a in (("policy-bad", (NEG, -1), -1), ("old-good", (-1, NEG), 1)):
    case(f"trajectory_balance-neginf-{label}",
         f"trajectory_balance: {unlikely_response(a, logps)}; others stay finite",
         MEAN,
         {"surrogate": KINDS["trajectory_balance"]}, one_never(*logps, a))
for label, logps, a in (("policy-bad", (NEG, -1), -1), ("old-good", (-1, NEG), 1)):
    case(f"variance-neginf-{label}",
         f"variance: {unlikely_response(a, logps)}: its whole group is infinite",
         MEAN,
         {"surrogate": KINDS["variance"]}, one_never(*logps, a))
case("nothing-labels", "logistic_lse of log-probabilities (behaviour none): there is no importance ratio to report", OF["logistic_lse"],
     {"ratio": {"behaviour": "none"}}, teams)
case("geometric", "variance: rollout weights and unselected tokens change a response's weight in the loss, not its score",
     changed(OF["variance"], aggregation={"kind": "token_mean"}),
     {"weight": {"rollout_is": "truncate", "rollout_is_high": 1.25, "selected": "keep"}}, teams)
