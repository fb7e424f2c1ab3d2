"""The cases of choices-found: what a second search for sources found, of several axes; as in choices.py."""
from objectives import MINUS_INF, changed, plain
from scenarios import full, placed

CASES = []  # (axis, label, comment, base, {axis: {field: value}}, make)


def case(label, comment, base, changes, make):
    CASES.append(("found", label, comment, base, changes, make))


def only(groups, seed, d, a=None, reward=None, **options):
    """A batch of the given log-ratios and, where they are given, advantages."""
    def make(o):
        batch = full(o, groups, [len(x) for x in d], seed, d=lambda dice, i, t: d[i][t], reward=reward, **options)
        if a:
            batch["advantage"] = [list(x) for x in a]
        return batch
    return make


def kind(name, **numbers):
    return {"surrogate": {"kind": name, **numbers}}


NEG = MINUS_INF
SCORE = changed(plain(), aggregation={"kind": "token_mean"})
MEAN = changed(plain(), ratio={"unit": "sequence_mean"}, aggregation={"kind": "group_mean"})
NOTHING = changed(MEAN, ratio={"against": "nothing"})


# ---- one unit: a parabola, and no bound for good tokens

# far below, below, at and above 1, far above; A of both signs, and 0
levels = only((2, 1), 901, ((-1.5, -0.1875, 0, 0.25), (0.25, 1.5, -0.25), (-2, 2, 0.5)),
              ((1, -0.5, 0.75, 1.25), (-1, 0.5, -0.75), (-0.5, -1.25, 0)))
means = only((2,), 902, ((1, -0.25), (-0.75, -0.5, 0.125)), ((0.5, -1), (1, 0.25, -0.5)))


def never(policy, old, a):
    """A token of probability 0 under one policy, beside another."""
    return lambda o: placed(o, 903, (2,), ((a,), (0.75,)), logp=((policy,), (-1.25,)), logp_old=((old,), (-1.5,)))


QUADRATIC = kind("quadratic", eps_high=0.25)
case("quadratic", "its slope is 0 at 1 + eps for A > 0 and at 1 - eps for A < 0, and turns beyond", SCORE, QUADRATIC, levels)
case("quadratic-eps_high", "a wider parabola, of the response's ratio", changed(MEAN, **QUADRATIC), {"surrogate": {"eps_high": 1.5}}, means)
case("quadratic-neginf-policy", "a ratio of 0: -A w + abs(A)/(2 eps), without a slope", SCORE, QUADRATIC, never(NEG, -1, 1))
case("quadratic-neginf-old", "an infinite ratio of a bad token", SCORE, QUADRATIC, never(-0.5, NEG, -1))
UNBOUNDED = kind("unbounded_positive", eps_low=0.25, eps_high=0.25, dual=3)
case("unbounded_positive", "value and slope -A for good tokens, whatever their ratio; bad ones clipped below, and at 3", SCORE, UNBOUNDED,
     levels)
case("unbounded_positive-clamped", "bounds of the log-ratio do not cut the slope of good tokens; the unit is the response",
     changed(MEAN, **UNBOUNDED), {"ratio": {"clamp_low": -0.5, "clamp_high": 0.5}}, means)


# ---- functions of a group

TEAMS = ((0.5, -0.25), (-1,), (0.75, -0.5), (1.5,), (0.25,))
teams = only((3, 2), 911, TEAMS, ((1, -1), (-0.5,), (0.25, -2), (0.125,), (-1,)), mask={(2, 1)})
lone = only((1, 2, 1), 912, ((0.5, -1), (0.25,), (1,), (-0.5,)), ((1, 1), (-0.5,), (0.5,), (2,)), mask={(2, 0), (3, 0)})
level = only((3,), 913, ((0.25,), (0.5, 0), (0.25,)), ((1,), (-0.5, 2), (0.25,)))
STANDARD = kind("standardised", strength=0.5, score_eps=0.125)
case("standardised", "scores minus their mean over their deviation, which are numbers: every response has its own slope", MEAN, STANDARD,
     teams)
case("standardised-sum", "sums, each token by itself, no epsilon", changed(MEAN, surrogate={**STANDARD["surrogate"], "score_eps": 0}),
     {"ratio": {"unit": "sequence_sum", "gradient": "token"}}, teams)
case("standardised-lone", "a group of one active response: 1 divides", MEAN, STANDARD, lone)
case("standardised-level", "equal scores: the epsilon alone divides", changed(MEAN, **STANDARD), {"surrogate": {"score_eps": 2}}, level)
case("standardised-level-0", "equal scores and no epsilon: A^2, without a slope", changed(MEAN, surrogate={**STANDARD["surrogate"]}),
     {"surrogate": {"score_eps": 0}}, level)
TARGET = kind("target", strength=2, tau_pos=0.5)
case("target", "the shares that the old policy gave, times e^(A/tau)", NOTHING, TARGET, teams)
case("target-sum", "log-probabilities of whole responses", changed(NOTHING, **TARGET), {"ratio": {"unit": "sequence_sum"}}, teams)
case("target-lone", "a group of one active response, and one of none: 0", NOTHING, TARGET, lone)
for who, logps, a in (("policy", (NEG, -1), -1), ("both", (NEG, NEG), 1)):
    case(f"target-neginf-{who}", "a response of probability 0: infinite where its share was above 0", NOTHING, TARGET,
         lambda o, logps=logps, a=a: placed(o, 914, (3,), ((a,), (0.5, 0.5), (-0.25,)), logp=((logps[0],), (-1.25, -0.5), (-0.75,)),
                                            logp_old=((logps[1],), (-1.5, -0.25), (-1,))))
HINGE = kind("hinge", strength=0.5, shift=0.375, margin=0.25)
case("hinge", "pairs that are apart by less than the shift push, others do not", MEAN, HINGE, teams)
case("hinge-shift", "log-probabilities of whole responses, no pair far enough apart, any two advantages that differ",
     changed(NOTHING, ratio={"unit": "sequence_sum"}, **HINGE), {"surrogate": {"shift": 20, "margin": 0}}, teams)
case("hinge-bound", "a pair exactly the shift apart has no slope; advantages exactly the margin apart make no pair", changed(MEAN, **HINGE),
     {"surrogate": {"strength": 1, "shift": 0.5}}, only((3,), 915, ((0.75,), (0.25, 0.25), (0.5,)), ((0.5,), (0, 0), (0.25,))))
case("hinge-neginf", "the better one of a pair has probability 0", MEAN, HINGE,
     lambda o: placed(o, 916, (2,), ((1,), (-0.5, -0.5)), logp=((NEG,), (-1.25, -0.5)), logp_old=((-1,), (-1.5, -0.25))))


# ---- the divisor

K3 = changed(SCORE, advantage={"baseline": "group_mean"}, penalty={"kl": "k3", "kl_coef": 0.25})
VARIED = {"aggregation": {"kind": "token_mean_varied"}}
# apart by 1, by 2^-20 (which is less than 1e-6), by 2^-19, not at all; the response that differs may have no token that counts
ranges = only((2, 2, 2, 1), 921, ((0.25, -0.5), (0.5,), (0.125,), (-0.25, 0.75), (1, 0), (0.5, 0.25), (0.5,)),
              reward=(1, 0, 0.5, 0.5 + 2 ** -20, 1, 1 + 2 ** -19, 2), mask={(1, 0), (4, 1)})
alike = only((2, 1), 922, ((0.25, -0.5), (0.5,), (-0.25,)), reward=(0.5, 0.5, 1))
case("token_mean_varied", "tokens of groups of equal rewards are not in the divisor, their penalties are divided all the same", K3, VARIED,
     ranges)
case("token_mean_varied-none", "no group varies: 1 divides", K3, VARIED, alike)
case("token_mean_varied-given", "rewards decide, not the advantages that are given",
     changed(SCORE, aggregation={"kind": "token_mean_by_sign"}), VARIED,
     only((2, 2), 923, ((0.25, -0.5), (0.5,), (-0.25,), (0,)), ((0, 0), (0,), (1,), (-0.5,)), reward=(1, 0, 0.25, 0.25)))


# ---- the advantage

def rewards(*groups, lengths=None):
    flat = [r for group in groups for r in group]
    lengths = lengths or [1] * len(flat)
    return lambda o: full(o, [len(g) for g in groups], lengths, 931, reward=flat)


BASE = changed(SCORE, advantage={"baseline": "group_mean"})
mixed = rewards((1, 0, 0.25), (0.5, 0.5), (0.75,), (-1, 2))
DEVIATION = {"scale": "mean_deviation", "eps": 0.125}
case("mean_deviation", "G times R - b over the sum of distances from the mean; equal rewards and lone ones are 0", BASE,
     {"advantage": DEVIATION}, mixed)
case("mean_deviation-raw", "a lone reward is not divided; epsilon 0", changed(BASE, advantage={**DEVIATION, "eps": 0}),
     {"advantage": {"singleton": "raw"}}, mixed)
case("mean_deviation-leave_one_out", "distances are from the mean whatever the baseline", changed(BASE, advantage=DEVIATION),
     {"advantage": {"baseline": "leave_one_out"}}, mixed)
solved = rewards((1, 0, 0), (1, 0.5, -0.25), (1.5, 1), (-1, 0))
POWER = {"gain": "failure_power", "gain_low": -0.5, "gain_high": 1, "gain_power": 2}
case("failure_power", "the less, the more of the prompt's responses are right: the mean in, above and at the ends of its range", BASE,
     {"advantage": POWER}, solved)
case("failure_power-0.5", "a root", changed(BASE, advantage={**POWER, "scale": "group_std"}), {"advantage": {"gain_power": 0.5}}, solved)
case("failure_power-0", "power 0: 1, where all is solved too", changed(BASE, advantage=POWER), {"advantage": {"gain_power": 0}}, solved)
case("failure_power-gain_low", "the mean is that of the rewards as they were made",
     changed(BASE, advantage={**POWER, "gain_low": 0}, reward={"map": "affine", "map_bias": 1, "map_factor": 0.5}),
     {"advantage": {"gain_low": -1}}, solved)
