"""The surrogate as a function of a group: variance, logistic_lse, trajectory_balance, pairs, softmax_cross_entropy."""
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
    case(name, "one score for each response, coupled over the group; the first token's advantage counts", MEAN,
         {"surrogate": KINDS[name]}, teams)
for name in ("variance", "trajectory_balance", "softmax_cross_entropy"):
    case(f"{name}-lone", "groups of one active response, and one of none", MEAN, {"surrogate": KINDS[name]}, lone)
case("pairs-sum", "the score is a sum over tokens", OF["pairwise_logistic"], {"ratio": {"level": "sequence_sum"}}, teams)
for name in ("variance", "softmax_cross_entropy"):
    case(f"{name}-token", "the derivative by the score goes to every token as it is", OF[name],
         {"ratio": {"gradient": "token"}}, teams)
case("variance-clamped", "scores beyond a bound have no derivative, and move the others", OF["variance"],
     {"ratio": {"level_clamp_low": -0.5, "level_clamp_high": 0.75}}, teams)
case("labels-alike", "equal advantages of 0, and only good ones: groups of one label are worth nothing", MEAN,
     {"surrogate": KINDS["logistic_lse"]}, alike)
case("labels-clipped_mean", "clipped tokens in the score, which count as clips; one is at its bound", OF["logistic_lse"],
     {"ratio": {"level": "sequence_clipped_mean", "token_clip_low": 0.5, "token_clip_high": 0.375}}, teams)
case("pairs-bound", "a difference of exactly the margin makes no pair", changed(OF["pairwise_logistic"], surrogate={"min_gap": 0}),
     {"surrogate": {"min_gap": 0.25}}, at_margin)
case("variance-cancels", "residuals that are 0: the size is that of their parts", MEAN, {"surrogate": KINDS["variance"]},
     at_zero)
case("contrast-far-800", "one score decides: the others' shares are e^-1100 and less", MEAN,
     {"surrogate": KINDS["softmax_cross_entropy"]}, distant)
for name, label, logps, a in (("logistic_lse", "old-good", (-1, NEG), 1), ("pairwise_logistic", "policy-good", (NEG, -1), 1),
                              ("softmax_cross_entropy", "policy-bad", (NEG, -1), -1)):
    case(f"{name}-neginf-{label}", "an infinite score, of a good response or of a bad one", MEAN,
         {"surrogate": KINDS[name]}, one_never(*logps, a))
for label, logps, a in (("policy-bad", (NEG, -1), -1), ("old-good", (-1, NEG), 1)):
    case(f"trajectory_balance-neginf-{label}", "an infinite score: its own square is infinite, the others' are not", MEAN,
         {"surrogate": KINDS["trajectory_balance"]}, one_never(*logps, a))
for label, logps, a in (("policy-bad", (NEG, -1), -1), ("old-good", (-1, NEG), 1)):
    case(f"variance-neginf-{label}", "an infinite score: every term is infinite, and so is every slope, of its sign and of the other", MEAN,
         {"surrogate": KINDS["variance"]}, one_never(*logps, a))
case("nothing-labels", "the score is a log-probability: no ratio is reported", OF["logistic_lse"],
     {"ratio": {"behaviour": "none"}}, teams)
case("geometric", "weights and dropped tokens change what a response counts for, not its score",
     changed(OF["variance"], aggregation={"kind": "token_mean"}),
     {"weight": {"rollout_is": "truncate", "rollout_is_high": 1.25, "selected": "keep"}}, teams)
