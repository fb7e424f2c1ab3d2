"""Cases of the functions of calls_lists.py and calls_groups.py, after those of call_cases_state.py in the same list."""
from call_cases import TENTHS, call, responses, switches, tokens
from call_cases_more import UNMASKED
from call_cases_rewards import HOLED, SELF, TEACHER, WITH_HOLES
from call_cases_state import CALLS, each, on
from scenarios import NAN

__all__ = ["CALLS"]

BANNED = "-Infinity"
FLAT = [[-0.5] * 3, [-0.5] * 2, [-0.5] * 2]


def bits(text):
    return switches(text)[0]


# ---- distributions

def diverge(label, comment, student, teacher, beta, temperature=1, flags=""):
    call("divergence", label, comment, None, flags, student=student, teacher=teacher, temperature=temperature, beta=beta)


LOGITS = [0.5, -1, 2, 0.25], [1, -0.5, 0.75, -2]
diverge("half", "half and half, as in the released scripts", *LOGITS, 0.5, 1.1)
diverge("quarter", "a mixture that is not in the middle", *LOGITS, 0.25, 0.5)
diverge("forward", "beta 0: KL of the teacher to the student", *LOGITS, 0)
diverge("reverse", "beta 1: KL of the student to the teacher", *LOGITS, 1, 2)
diverge("equal", "the teacher's logits are the student's and 2 more: nothing to learn", LOGITS[0], [2.5, 1, 4, 2.25], 0.25, 0.7)
diverge("banned", "banned for one, for the other, for both", [0.5, BANNED, 2, BANNED], [1, -0.5, BANNED, BANNED], 0.75, flags="NegInf")
diverge("apart", "no token in common: the entropy of beta, and no slope", [0.5, 1, BANNED], [BANNED, BANNED, 3], 0.25, flags="NegInf")
diverge("forward-banned", "beta 0: what only the student has is finite", [0.5, -1, 0.25], [1, BANNED, -2], 0, flags="NegInf")
diverge("forward-infinite", "beta 0: the student lacks what the teacher has", [0.5, BANNED, 0.25], [1, -0.5, -2], 0, flags="NegInf")
diverge("reverse-banned", "beta 1: what only the teacher has is finite", [0.5, BANNED, 0.25], [1, -0.5, -2], 1, flags="NegInf")
diverge("reverse-infinite", "beta 1: the teacher lacks what the student has", [0.5, -1, 0.25], [1, BANNED, -2], 1, flags="NegInf")
diverge("far", "logits hundreds apart: probabilities of e^-900", [0, -900, 3], [-800, 0, 1], 0.5, flags="Extreme")
diverge("one", "one token: both are sure", [3], [-2], 0.5)

each("set_gap",
     ("plain", "the teacher finds the token likelier among these", dict(student=[-2, -0.5, -3], teacher=[-0.75, -1.5, -4], target=0)),
     ("equal", "the same odds, the teacher's all less likely", dict(student=[-2, -0.5], teacher=[-2.75, -1.25], target=1)),
     ("far", "log-probabilities a thousand apart", dict(student=[-1000, -0.25, -1], teacher=[-0.125, -900, -1000], target=0)),
     ("one", "a set of one token", dict(student=[-3], teacher=[-0.5], target=0)))

# ---- rewards of hints and of predictions

HINTED = dict(reward=[1, 0, 0.75, 0.5], gap=[-0.25, -3, -0.5, -2], temperature=0.3)
each("hint_reward",
     ("variance", "a right one is above one half; the wrong ones' gaps do not count", dict(HINTED, form="variance", gate=False)),
     ("informative", "the chance of a mixed group", dict(HINTED, form="informative", gate=False)),
     ("transfers", "answers that are likelier without the hint gain nothing",
      dict(HINTED, gap=[0.5, 0, -0.25, 0], form="variance", gate=False)),
     ("hopeless", "none right", dict(HINTED, reward=[0.5, 0, 0.25, 0], form="informative", gate=False)),
     ("solved", "all right", dict(HINTED, reward=[1, 1, 0.625, 1], form="variance", gate=False)),
     ("gate", "a broken hint, whatever it reaches", dict(HINTED, form="informative", gate=True)))

FORETOLD = dict(correct=bits("1101"), length=[100, 300, 20, 200], net=[2, 0, -1, 1], passes=5, predicted_length=150)
each("meta_reward",
     ("plain", "two notions of four help, five of eight foretold for three quarters, a length inside", FORETOLD),
     ("bound", "the shortest right length is not inside; a wrong one's length does not count",
      dict(FORETOLD, predicted_length=100, passes=6)),
     ("upper", "nor is the longest", dict(FORETOLD, predicted_length=300)),
     ("missing", "nothing was foretold", dict(FORETOLD, net=[], passes=-1, predicted_length=-1)),
     ("none-right", "no right response has a length", dict(FORETOLD, correct=bits("0000"), passes=0, net=[-1, -2])),
     ("one-right", "nothing lies between one length and itself", dict(FORETOLD, correct=bits("0001"), predicted_length=200, passes=8)))

each("future_success",
     ("right", "every step right: twice its reward, the last one once", dict(reward=[1, 1, 1])),
     ("wrong", "a wrong step has nothing of what follows", dict(reward=[1, 0, 1, 0])),
     ("signs", "rewards of both signs", dict(reward=[0.5, -1, 0.7, -0.25])),
     ("one", "one step", dict(reward=[0.75])))


def ally(label, comment, own=(0.5, -1, 0.25, 1), other=(1, 0.5, -2, 0.75), gamma=0.9, weight_gamma=0.96, beta=2, inclusive=False,
         sign=False, per_step=False, discount=False, clip=0):
    call("coplayer_credit", label, comment, own=list(own), other=list(other), gamma=gamma, weight_gamma=weight_gamma, beta=beta,
         inclusive=inclusive, sign=sign, per_step=per_step, discount=discount, clip=clip)


ally("released", "what went before, both discounts", discount=True)
ally("inclusive", "the step itself counts too", inclusive=True)
ally("sign", "only the sign of what went before, at the first step 0", sign=True, beta=0.3)
ally("per-step", "divided by the steps so far", per_step=True, inclusive=True, beta=-1)
ally("clip", "both bounds, after the division by the steps", (2, 3, -9, -1), inclusive=True, per_step=True, clip=1.25)
ally("clip-sign", "the clip does not change a sign", (2, 3, -9, -1), inclusive=True, sign=True, clip=0.5, discount=True)
ally("forget", "a weight that forgets at once", weight_gamma=0, gamma=0, discount=True)

each("pairwise_wins",
     ("plain", "four responses; the diagonal is not read",
      dict(wins=[[UNMASKED, 1, 0.5, 0], [0, UNMASKED, 1, 1], [0.5, 0, -7, 0.5], [1, 0, 0.5, 3]])),
     ("order", "the first beats all, the last none", dict(wins=[[0, 1, 1], [0, 0, 1], [0, 0, 0]])),
     ("ties", "nobody wins", dict(wins=[[1, 0.5, 0.5], [0.5, 1, 0.5], [0.5, 0.5, 1]])),
     ("one", "nobody to compare with", dict(wins=[[1]])))

each("entropy_rank_reward",
     ("plain", "two dominate one each: the earlier first", dict(peak=[2, 1, 3, 0.5], overall=[0.5, 0.75, 1, 1.25], top=0.5)),
     ("chain", "each dominates those after it in another order", dict(peak=[1, 4, 2, 3], overall=[0.8, 0.2, 0.6, 0.4], top=1)),
     ("ties", "equal peaks or equal means dominate nobody", dict(peak=[1, 1, 2], overall=[0.5, 0.25, 0.5], top=0.7)),
     ("one", "one alone has it all", dict(peak=[1], overall=[2], top=0.3)))


def span(label, comment, begin, end, gamma=0.5, sample=False):
    call("interval_reward", label, comment, begin=begin, end=end, gamma=gamma, sample=sample)


span("plain", "near each other, and one that ends before the mean interval begins", [1, 1.5, 2, 0], [4, 3.5, 5, 1])
span("sample", "sample deviations", [1, 1.5, 2, 0], [4, 3.5, 5, 1], sample=True)
span("equal", "all the same: sure and right", [0.7, 0.7], [2.1, 2.1], 3)
span("certain", "no cost of doubt", [0, 10, 4], [2, 16, 7], 0)
span("negative", "before 0", [-3, -2.5], [-1, 0.1], 0.25, True)

# ---- steps and trees

TURNS = [-2, -0.5, -0.75, -0.0625]
each("information_gain",
     ("log", "of log-probabilities", dict(logp=TURNS, form="log")),
     ("probability", "of probabilities", dict(logp=TURNS, form="probability")),
     ("still", "a turn that changes nothing", dict(logp=[-0.7, -0.7, -1], form="probability")),
     ("far", "from next to nothing to certain", dict(logp=[-700, -30, 0], form="probability")),
     ("log-far", "the same as log-probabilities", dict(logp=[-700, -30, 0], form="log")))

each("dense_rewards",
     ("won", "two turns earned", dict(reward=[1, 0, 0.5], score=1, total=6)),
     ("lost", "what could have been earned divides", dict(reward=[1, 0, 0.5], score=0, total=6)),
     ("nothing", "won without a turn's reward", dict(reward=[0, 0], score=0.5, total=4)),
     ("no-total", "at least 1", dict(reward=[0.7, 2], score=-1, total=0)))


def branch(label, comment, parent, reward, logp, form="leaves", alpha=1):
    call("branch_advantage", label, comment, parent=parent, reward=reward, logp=logp, form=form, alpha=alpha)


TREE = [-1, 0, 0, 0, 1, 1, 2, 2, 2]
FRUIT = [UNMASKED] * 3 + [0.25, 1, 0.25, 0, 0.5, 0.125]
EDGES = [0, -0.5, -1, -2, -0.25, -2, -1, -1.5, -0.5]
branch("leaves", "a leaf beside branches of two leaves and of three; only leaves are read", TREE, FRUIT, EDGES)
branch("probability", "children by their probability", TREE, FRUIT, EDGES, "probability")
branch("probability-sharp", "by its third power, far apart", TREE, FRUIT, [0, -30, -1, -4, -0.25, -2, -1, -15, -0.5], "probability", 3)
branch("uneven", "all leaves below count the same, however deep", [-1, 0, 0, 0, 1, 1, 5, 5],
       [UNMASKED, UNMASKED, 0.5, 0, 1, UNMASKED, -2, 0.25], [0] + [-1] * 7)
branch("uneven-probability", "what is deeper is worth what its parent is", [-1, 0, 0, 0, 1, 1, 5, 5],
       [UNMASKED, UNMASKED, 0.5, 0, 1, UNMASKED, -2, 0.25], [0, -1, -2, -3, -0.5, -1, -0.25, -3], "probability", 0.5)
branch("equal", "nodes of one worth and a node alone at its depth: 0", [-1, 0, 0, 1, 1, 2, 2, 3], [UNMASKED] * 4 + [0.25, 1, 0.25, 1],
       [0] + [-1] * 7)
branch("near", "a deviation below 1e-6: 0", [-1, 0, 0], [UNMASKED, 1, 1 + 2 ** -21], [0, -1, -2], "probability")
branch("small", "a deviation of some 1e-6 counts, and so does 1e-8 beside it", [-1, 0, 0], [UNMASKED, 1, 1 + 2 ** -17], [0, -1, -2])
branch("root", "the root alone", [-1], [1], [0])

# ---- what is sampled

def clusters(label, comment, success, alpha=0.3, rate=(0.5, 0.25, 0.7, 0), probability=(0.25, 0.125, 0.5, 0.125)):
    call("cluster_probability", label, comment, rate=list(rate), probability=list(probability), success=success, alpha=alpha)


clusters("plain", "two of four were sampled, one without any success", [0.75, -1, 0, -1])
clusters("hopeless", "no success anywhere: towards all alike", [0, 0, 0, -1])
clusters("still", "alpha 0: probabilities that do not sum to 1 are brought there", [1, 0.3, -1, -1], 0, probability=[1, 2, 0, 0.5])
clusters("rates", "alpha 1: the rates alone", [-1, -1, -1, 0.1], 1)

each("explore_weight",
     ("plain", "most for an even chance", dict(value=[0, 0.25, 0.5, 0.9, 1], least=0.05)),
     ("none", "nothing for the sure ones", dict(value=[0, 1, 0.3], least=0)),
     ("near", "next to sure", dict(value=[2 ** -60, 1 - 2 ** -50], least=0)),
     ("floor", "the least outweighs", dict(value=[0.5, 0.125], least=100)))

each("hint_level",
     ("plain", "up, as it was, down", dict(level=[1, 1, 2], success=[0.05, 0.2, 0.5], low=0.1, high=0.35, max=3)),
     ("bounds", "exactly at a threshold: as it was", dict(level=[1, 2], success=[0.1, 0.35], low=0.1, high=0.35, max=3)),
     ("ends", "not above the highest nor below 0; what is above it is brought back",
      dict(level=[3, 0, 5], success=[0, 1, 0], low=0.1, high=0.35, max=3)),
     ("paper", "a high threshold of 1: never down", dict(level=[2, 1, 0], success=[1, 0, 0.5], low=0.25, high=1, max=2)))

# ---- Gram matrices

def gram(label, comment, K, advantage, share=1, least=1, most=64):
    call("gram_rank", label, comment, gram=K, advantage=advantage, share=share, least=least, most=most)


GRAM = [[2, 1, 0, -1], [1, 3, 0.5, 0], [0, 0.5, 1, 0.25], [-1, 0, 0.25, 2]]
gram("plain", "two of four, advantages of both signs", GRAM, [1, -0.5, 0.25, -1], 0.7)
gram("orthogonal", "features that have nothing in common: n, one less at most; nothing cancels",
     [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [1, -1, 0.7])
gram("alike", "one feature three times: advantages that cancel", [[4] * 3] * 3, [1, 1, -2], 0.7)
gram("least", "at least so many, even beyond the responses", GRAM, [1, 1, 1, 1], 0.1, 7, 2)
gram("most", "at most so many", [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0.5, 0.5, -1], 1, 1, 1)
gram("tiny", "features so small that the guards count", [[2e-5, 0, 0, 0]] + [[1e-5 * (i == j) for j in range(4)] for i in (1, 2, 3)],
     [0.01, -0.02, 0.01, 0.01], 1.5)
gram("nothing", "no features, no advantages", [[0, 0], [0, 0]], [0, 0], 1, 1)
gram("one", "a response alone", [[3]], [2])

BASIS = [[0.6, 0.8, 0, 0], [0, 0, 0.8, -0.6]]
each("project_advantage",
     ("positive", "two directions, and a part of what pushes up beside them",
      dict(advantage=[1, -0.5, 0.25, -1], basis=BASIS, alpha=0.25, positive=True)),
     ("both", "of both signs: alpha 1 gives all back", dict(advantage=[1, -0.5, 0.25, -1], basis=BASIS, alpha=1, positive=False)),
     ("inside", "alpha 0: the projection alone", dict(advantage=[1, 2, -0.7], basis=[[0.6, 0, 0.8]], alpha=0, positive=True)),
     ("whole", "a basis of everything: nothing is beside it",
      dict(advantage=[1, -2], basis=[[0.6, 0.8], [0.8, -0.6]], alpha=0.5, positive=True)))

# ---- factors

each("dynamic_scale",
     ("plain", "an outlier is left out of the mean gap", dict(hardness=[0.25, 0.5, 0.75], gap=[0.5, -0.25, 3], bound=2)),
     ("all", "exactly at the bound is kept: only the hardness acts", dict(hardness=[1, -1, 0.7, 2], gap=[1, 0, 0, 1], bound=0.25)),
     ("one", "one item is its own mean", dict(hardness=[0.5], gap=[2], bound=0)),
     ("far", "gaps of some size", dict(hardness=[5, -3], gap=[-4, -10], bound=9.5)))
call("dynamic_scale", "middle", "only what is at the mean is kept", hardness=[0.1, 0.2, 0.3], gap=[-6, 0, 6], bound=0)

each("consistency_weights",
     ("plain", "agreement, the centre, disagreement", dict(entropy=[0, 1.5, 1.75], gamma=20, centre=1.5)),
     ("soft", "a soft gate", dict(entropy=[0.7, 2, 0.3], gamma=0.5, centre=1)),
     ("flat", "gamma 0: half and half", dict(entropy=[0, 3], gamma=0, centre=1)),
     ("far", "what is next to nothing is not rounded away", dict(entropy=[0, 40], gamma=-20, centre=20)))

# ---- PRIME

def prime(label, comment, process, reward, process_coef=0.5, outcome_coef=1, group=(0, 0, 1, 1, 1), mask=None,
          flags="UnequalLengths UnevenGroups"):
    batch = tokens(list(group), mask, reward, logp=[[-0.5] * len(row) for row in process])
    call("implicit_advantage", label, comment, batch, flags, process=process, process_coef=process_coef, outcome_coef=outcome_coef)


PROCESS = [[0.5, -1, 0.25], [0.75, 0.5], [1], [-0.25, -0.5], [0.125, 2]]
prime("plain", "implicit rewards and the outcome, two prompts", PROCESS, [1, 0, 1, 1, 0])
prime("outcome", "the outcome alone: the same at every token", PROCESS, [1, 0, 1, TENTHS, 0], 0, 5)
prime("process", "implicit rewards alone; means of responses, not of tokens", PROCESS, [1, 0, 1, 1, 0], 5, 0)
prime("holes", "masked tokens have no reward; a response without tokens is one of the group",
      [[0.5, UNMASKED, 0.25, 1], [UNMASKED, UNMASKED], [-1, UNMASKED]], [1, 1, 0], group=(0, 0, 0), mask="1011 00 10",
      flags="UnequalLengths MaskHoles FullyMasked")

# ---- rewards and weights of responses

def efficient(label, comment, lengths, group, correct, share=0.5, alpha=0.6, mask=None, flags="UnequalLengths"):
    call("efficiency_reward", label, comment, tokens(list(group), mask, logp=[[-0.5] * T for T in lengths]), flags, correct=bits(correct),
         share=share, alpha=alpha)


efficient("plain", "the better of two prompts: short answers gain; a wrong one has nothing",
          [2, 4, 3, 1, 1, 3], (0, 0, 0, 1, 1, 1), "110111")
efficient("even", "equal shares: the earlier prompt; equal lengths: one half of alpha",
          [2, 2, 1, 3, 1, 2], (0, 0, 0, 1, 1, 1), "110101", 0.1)
efficient("product", "0.2 times 5 is 1 in binary64, if not exactly", [1, 2, 1, 1, 1, 1, 1], (0, 0, 1, 2, 3, 4, 4), "1011101", 0.2, 1,
          flags="UnequalLengths UnevenGroups Singleton")
efficient("none", "nobody is right: the first prompt is efficient, and nothing comes of it; no share is one prompt",
          [1, 2, 3], (0, 0, 1), "000", 0)
efficient("all", "every prompt, one without a right answer; masked tokens do not count", [4, 1, 3, 2, 2], (0, 0, 0, 1, 1), "10100", 1, 0.5,
          "1010 1 111 00 10", "UnequalLengths MaskHoles FullyMasked")


def care(label, comment, reward, ref, selected, accuracy, group=(0, 0, 0), cap=0.95, margin=0.01, mask=None,
         flags="UnequalLengths", weight=0.5):
    batch = tokens(list(group), mask, list(reward), logp_ref=ref, selected=switches(selected))
    call("consistency_bonus", label, comment, batch, flags, accuracy=accuracy, cap=cap, margin=margin, **{"lambda": weight})


care("plain", "of two right ones the likelier answer; a wrong one, however likely", [1.5, 1, 0.5],
     [[-2, -0.25, -0.5], [-0.25, -1.5], [-1, -0.125]],
     "011 01 11", [1, 1, 0])
care("capped", "equal accuracies, all beyond the cap, no margin: all of them", [1, 1, 0.5], [[-0.015625, -2, -4], [-1, -0.03125], [-3, 0]],
     "100 01 01", [TENTHS] * 3, margin=0)
care("few", "an accuracy of 0.1 is not above it, and one below the mean is out", [0, 1, 0.25, 1], [[-1], [-1], [-2], [-3]], "1 1 1 1",
     [0.1, 0.0625, 0.25, 1], (0, 0, 1, 1), margin=0.5, flags="OneToken")
care("empty", "no selected token counts: 1; the third falls short beside that", [1, 1, 1],
     [[-0.5, NAN, -1], [NAN, -0.5], [-0.5, -2]],
     "010 11 11", [1, 1, 1], cap=2, margin=0.25, mask="101 00 11", flags=HOLED)
care("hopeless", "nobody is right", [0, 0.25, -1], [[-1, -1], [-2], [-1]], "11 1 1", [0, 0, 0], weight=2)

on("invariance_weight",
   ("plain", "two open prompts of one anchor, and one that has none", responses([0, 0, 1, 1, 2, 2, 3], [1, 0.5, 1, -1, 0.25, 0.5, 1]),
    "UnevenGroups Singleton", dict(meta=[7, 7, 7, 3], anchor=bits("1000"))),
   ("anchors", "two anchors of different size weigh the same", responses([0, 0, 0, 1, 2, 2], [1, 1, -1, TENTHS, 0.25, -0.5]),
    "UnevenGroups Singleton", dict(meta=[0, 0, 0], anchor=bits("110"))),
   ("alike", "no gap: no weight", responses([0, 0, 1, 1], [1, 0, 0.25, 0.75]), "", dict(meta=[5, 5], anchor=bits("10"))),
   ("other", "an anchor of another id, and an anchor that comes later", responses([0, 1, 1, 2], [1, 0.5, TENTHS, -1]),
    "UnevenGroups Singleton", dict(meta=[1, 2, 1], anchor=bits("001"))))

for label, comment, reward, group, slope, offset in (
        ("source", "rewards of 1 and -1: hard prompts weigh more", [1, -1, -1, 1, 1, -1], (0, 0, 0, 1, 1, 1), -0.256, 1.256),
        ("plain", "slope 0: deviations times a number", [1, 0, TENTHS, 0.25], (0, 0, 0, 0), 0, 0.5),
        ("equal", "equal rewards: 0", [1, 1, 0.5], (0, 0, 1), -0.256, 1.256),
        ("cancel", "a factor that is 0", [0.5, 1.5, 3, 0], (0, 0, 1, 1), 1, -1)):
    call("hardness_advantage", label, comment, responses(list(group), reward), "UnevenGroups Singleton" if len(reward) == 3 else "",
         slope=slope, offset=offset)

for label, comment, reward, group, k in (
        ("plain", "right ones weigh more in the surrogate and less in the penalty", [1, 0, 0, 1, 1, 0], (0, 0, 0, 1, 1, 1), 0.5),
        ("equal", "equal rewards, or k = 0: 1", [1, 1, 0.5], (0, 0, 1), 0.3),
        ("large", "weights below 0", [1, 0, TENTHS], (0, 0, 0), 4),
        ("negative", "the other way", [2, -1, 0.25], (0, 0, 0), -0.7)):
    call("centred_weights", label, comment, responses(list(group), reward), "UnevenGroups Singleton" if label == "equal" else "", k=k)


def shift(label, comment, correct, beta=0.1, now=SELF, ref=TEACHER, mask=None, flags="UnequalLengths"):
    call("logistic_shift", label, comment, tokens([0, 0, 1], mask, logp=now, logp_ref=ref), flags, correct=bits(correct), beta=beta)


shift("plain", "sums over tokens, means over either side, over prompts", "110")
shift("right", "no wrong ones: half of the one mean", "111")
shift("wrong", "no right ones", "000", 2)
shift("holes", "masked tokens do not count; a response without any is at 0", "011", 0.5, WITH_HOLES["logp_old"],
      [[-0.75, NAN, -1.5, -1], [-3, NAN], [-0.875, -0.125]], WITH_HOLES["mask"], HOLED)

# ---- HAPO

def carried(label, comment, lengths, reward, group=(0, 0, 0), eps=1e-6, limit=5, scaled=True, mask=None, flags="UnequalLengths"):
    call("token_advantage", label, comment, tokens(list(group), mask, list(reward), logp=[[-0.5] * T for T in lengths]), flags, eps=eps,
         limit=limit, scaled=scaled)


carried("plain", "the mean and the deviation of what the tokens carry", [3, 1, 2], [1, 0, 0.25])
carried("fallback", "a short right answer among long wrong ones is beyond the limit: means of responses",
        [5, 1, 4], [0, 1, -0.125], limit=2)
carried("beyond", "unscaled, a wrong one beyond its limit", [4, 1, 3], [1, 0, 0.75], limit=0.75, scaled=False)
carried("unscaled", "not divided", [3, 1, 2], [1, 0, -TENTHS], limit=1, scaled=False)
carried("equal", "equal rewards, one alone, and nobody with tokens: 0", [2, 1, 1, 1, 1], [TENTHS, TENTHS, 1, 1, 0], (0, 0, 1, 2, 2), 0,
        mask="11 1 1 0 0", flags="UnequalLengths UnevenGroups Singleton FullyMasked")
carried("silent", "a response without tokens is in no mean, has its advantage, and does not trip the limit", [2, 3, 2], [0, 1, 4],
        limit=2, mask="11 111 00", flags="UnequalLengths FullyMasked")
carried("silent-equal", "those with tokens are equal: 0 for all", [1, 2, 1], [1, 1, 0], mask="1 10 0",
        flags="UnequalLengths MaskHoles FullyMasked")


def adapt(label, comment, now, old, advantage, standard, low=0.2, high=0.28, clip_coef=1, gain=1, mask=None, flags="UnequalLengths"):
    batch = tokens([0, 1], mask, logp=now, logp_old=old, advantage=advantage)
    call("adapted_clip", label, comment, batch, flags, standard=standard, low=low, high=high, clip_coef=clip_coef, gain=gain)


NOW, OLD = [[-1, -1, -1], [-1, -1, -1]], [[-1.0625, -1.25, -0.75], [-0.9375, -1.25, -0.5]]
SIDES = [[1, -0.5, 0.75], [-1, 0.5, 2]]
adapt("signed", "sure and unsure tokens within and beyond the zone", NOW, OLD, SIDES, [[0.5, 0.75, 1], [-0.5, -0.25, -1]])
adapt("coded", "none below the pivot: only there the lower bound is of use", NOW, OLD, SIDES,
      [[0, 0, 0.3125], [0.6875, 0, 1]], 0.2, 0.2, 0.5, 0.3)
adapt("still", "no drift: inside, but for bounds of 0",
      [[-1], [-2]], [[-1], [-2]], [[1], [-TENTHS]], [[0.5], [-0.5]], 0, 0.25, flags="OneToken")
adapt("zone", "the bound of the zone moves with the entropy", [[-1, -1], [-1, -1]],
      [[-1.1875, -1.1875], [-0.8125, -0.8125]], [[1, 1], [1, 1]],
      [[0.25, 1], [-1, -0.125]], gain=0.5, flags="")
adapt("holes", "masked tokens are 0; ratios of e^-900", [[-900, NAN, -0.5], [NAN, -1]],
      [[-0.5, NAN, -0.5], [-1, NAN]], [[1, NAN, -1], [NAN, 1]],
      [[-0.5, UNMASKED, 0.5], [UNMASKED, UNMASKED]], mask="101 00", flags="UnequalLengths MaskHoles NaNMasked FullyMasked Extreme")

# ---- weights of tokens

POINTS = [[1, 0.5], [0.25, -1], [2, 1], [-1, 0.5], [-0.5, -0.25], [0.75, -2], [0, 1]]


def centroid(label, comment, advantage, refine=1, low=0.8, high=1.2, feature=POINTS, mask=None, flags="UnequalLengths"):
    call("centroid_weight", label, comment, tokens([0, 0, 1], mask, logp=FLAT, advantage=advantage), flags, feature=feature,
         width=len(feature[0]), refine=refine, low=low, high=high)


UPS = [[1, 1, 1], [-0.5, -0.5], [-1, 0.25]]
centroid("plain", "refined once, as in the released scripts", UPS)
centroid("unrefined", "centroids of all tokens alike", UPS, 0)
centroid("twice", "the temperature of a refinement is of the margins before it", UPS, 2, 0.5, 2)
centroid("one-side", "the other side's centroid is 0", [[1, 1, 1], [0.5, 0.5], [0, 0]], 1)
centroid("lone", "a token alone on its side: the least deviation; tokens without advantage have the lower weight",
         [[0, 0, 0], [0, -1], [1, 0]], 1,
         0.25, 1, [[0, 0]] * 4 + [[0.001953125, 0], [0, 0.0009765625], [0, 0]])
centroid("faint", "advantages that sum to less than 1e-8", [[2 ** -30, 2 ** -30, 0], [-1, -1], [0, -1]], 0, 0.5, 1.5)
centroid("holes", "one dimension; what masked tokens hold is not read", [[1, NAN, 0.5], [NAN, -1], [-0.5, -1]], 1, 0.8, 1.2,
         [[0.5], [UNMASKED], [1.25], [UNMASKED], [-0.75], [0.25], [-1]], "101 01 11", "UnequalLengths MaskHoles NaNMasked")
centroid("none", "weights of 0 are not divided", [[0, 0, 0], [0, 0], [0, 0]], 1, 0, 1)

on("agent_weights",
   ("plain", "two agents, one, three", tokens([0, 0, 1], logp=[[-0.5] * 4, [-0.5] * 2, [-0.5] * 3]), "UnequalLengths",
    dict(agent=[[4, 4, 9, 4], [4, 4], [1, 0, 2]])),
   ("alone", "one token each", tokens([0, 1], logp=[[-0.5], [-0.5]]), "OneToken", dict(agent=[[0], [7]])),
   ("turns", "an agent that comes back is the same", tokens(logp=[[-0.5] * 5]), "", dict(agent=[[1, 2, 2, 2, 1]])),
   ("holes", "an agent of masked tokens is none", tokens([0, 0, 1], "1011 00 01", logp=[[-0.5] * 4, [-0.5] * 2, [-0.5] * 2]),
    "UnequalLengths MaskHoles FullyMasked", dict(agent=[[3, UNMASKED, 5, 3], [UNMASKED] * 2, [UNMASKED, 5]])))


def quantile(label, comment, selected, level=0.9, least=1e-4, now=SELF, old=TEACHER, mask=None, flags="UnequalLengths"):
    batch = tokens([0, 0, 1], mask, logp=now, logp_old=old, selected=switches(selected))
    call("ratio_quantile", label, comment, batch, flags, quantile=level, least=least)


quantile("plain", "between the two largest of five", "111 00 11")
quantile("median", "a ratio itself, of the selected ones", "101 10 00", 0.5)
quantile("ends", "the smallest", "111 11 11", 0)
quantile("least", "below the least", "010 00 01", 1, 1.5)
quantile("none", "nothing is selected", "000 00 00", 0.9, 0.7)
quantile("holes", "masked tokens do not count, selected or not", "0111 11 11", 0.25, 0, WITH_HOLES["logp_old"],
         [[-0.75, NAN, -1.5, -1], [-3, NAN], [-0.875, -0.125]], WITH_HOLES["mask"], HOLED)
