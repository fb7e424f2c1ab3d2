"""Cases of the functions of calls_found.py, after those of call_cases_state.py in the same list."""
from call_cases import TENTHS, call, responses, tokens
from call_cases_lists import CALLS, each, on
from scenarios import NAN

__all__ = ["CALLS"]

HOLED = "UnequalLengths MaskHoles NaNMasked FullyMasked"
OLD = [[-0.5, -2, -1.25], [-0.75, -3], [-1, -0.25]]
NOW = [[-0.25, -2.5, -1.25], [-1.5, -3], [-0.5, -0.75]]
SIGNS = [[1, -0.5, 1], [0.5, -1], [0, -0.75]]


def marks(text):
    return [x == "1" for x in text]


def of_lengths(lengths, group=None, reward=None, mask=None):
    return tokens(group, mask, reward, logp=[[-0.5] * T for T in lengths])


# ---- factors and weights of groups

on("confidence_factor",
   ("plain", "half of them right, and one of two groups of which all are", tokens([0, 0, 1], logp_old=OLD), "UnequalLengths",
    dict(correct=marks("101"), delta=0.1)),
   ("third", "one of three right; no delta", tokens(logp_old=OLD), "UnequalLengths", dict(correct=marks("010"), delta=0)),
   ("holes", "a right response without tokens is in neither mean; a group without tokens has delta",
    tokens([0, 0, 0, 1], "101 00 11 0", logp_old=[[-0.5, NAN, -1.25], [NAN, -3], [-1, -0.25], [NAN]]), HOLED,
    dict(correct=marks("0110"), delta=0.25)),
   ("unlikely", "log-probabilities of -500", tokens(logp_old=[[-500], [-300, -700]]), "UnequalLengths Extreme",
    dict(correct=marks("10"), delta=0)))

on("difficulty_weight",
   ("plain", "two prompts whose rewards differ, of accuracies 1/2 and 1/4, among three",
    of_lengths((2, 1, 1, 3, 1, 2), [0, 0, 1, 1, 2, 2], [1, 0, 1, 1, 0.5, 0]), "UnequalLengths",
    dict(accuracy=[1, 0, 1, 1, 0.5, 0], temperature=2)),
   ("never", "an accuracy of 0 counts as 1: another reward made the difference", of_lengths((1, 1, 2, 2), [0, 0, 1, 1], [0.5, 0, 1, 0]),
    "UnequalLengths", dict(accuracy=[0, 0, TENTHS, 0.25], temperature=0.25)),
   ("none", "all rewards are equal: 1", of_lengths((1, 2, 1), [0, 0, 1], [1, 1, 0.5]), "UnequalLengths EqualRewards",
    dict(accuracy=[1, 1, 0.5], temperature=1)),
   ("masked", "tokens that count, of all prompts over those of the others", of_lengths((2, 2, 3), [0, 0, 1], [1, 0, 1], "10 00 101"),
    "UnequalLengths MaskHoles FullyMasked", dict(accuracy=[1, 0, 1], temperature=1)))

each("entropy_factor",
     ("code", "the authors' numbers, entropies from 0 to log 8", dict(entropy=[0, 0.5, 2.0794415416798357], alpha=0.0417, size=8)),
     ("beyond", "more than log G", dict(entropy=[5, 1.25], alpha=2, size=4)),
     ("two", "a group of two", dict(entropy=[0.25, 0.6875], alpha=1, size=2)),
     ("off", "alpha 0: 1", dict(entropy=[0, 3], alpha=0, size=16)))


# ---- weights and selection of tokens

CALM = [[0.125, 0.5, 0], [0.25, 0.375], [0.5, 0.0625]]


def stare(label, comment, share=0.4, down=0.9, target=0.3, logp=NOW, advantage=SIGNS, entropy=CALM, flags="UnequalLengths", mask=None):
    x = tokens(None, mask, logp=logp, advantage=advantage, entropy=entropy)
    call("surprisal_weight", label, comment, x, flags, share=share, up=1.1, down=down, target=target)


stare("both", "2 of 3 good tokens and 2 of 3 bad ones, the least likely; none without advantage")
stare("o1", "good ones only", 0.1, 1)
stare("lively", "the entropy is at its target: 1", target=0.25, entropy=CALM[:2] + [[0.5, 0]])
stare("share-0", "none of them", 0)
stare("ties", "equally likely: the first; a tenth of ten is one, as the product is rounded", 0.1, logp=[[-1] * 3, [-1] * 3, [-1] * 4],
      advantage=[[1] * 3, [0.5] * 3, [2] * 4], entropy=[[0] * 3, [0] * 3, [0.5] * 4])
stare("holes", "masked tokens are in no mean and no number", mask="101 00 11", logp=[[-0.5, NAN, -1.25], [NAN, -3], [-1, -0.25]],
      advantage=[[1, NAN, 0.5], [1, NAN], [-1, -0.5]], entropy=[[0.25, NAN, 0], [9, NAN], [0.5, 0.25]], flags=HOLED)

for label, comment, x, flags in (
        ("plain", "tokens of large covariance count for little", tokens([0, 0, 1], logp=NOW, advantage=SIGNS), "UnequalLengths"),
        ("equal", "equal advantages: 1", tokens([0, 0, 1], logp=NOW, advantage=[[0.5] * 3, [0.5] * 2, [0.5] * 2]), "UnequalLengths"),
        ("square", "covariances of one size but not of one sign",
         tokens([0, 0, 1], logp=[[-1, -3], [-1, -3], [-1, -3, -1, -3]], advantage=[[1, -1], [-1, 1], [1, 1, -1, -1]]), "UnequalLengths"),
        ("holes", "masked tokens are in no mean",
         tokens([0, 0, 1, 1], "101 00 11 1", logp=[[-0.5, NAN, -1.25], [NAN, -3], [-1, -0.25], [-4]],
                advantage=[[1, NAN, 0.5], [1, NAN], [-1, -0.5], [2]]), HOLED)):
    call("gaussian_covariance", label, comment, x, flags)


def cppo(label, comment, old=OLD, now=NOW, advantage=None, flags="UnequalLengths", mask=None, **numbers):
    given = {"width": 4, "least": 0.8, "delta": 0.15, "budget": 0.02, "quantile": 0.9, "factor": 1, **numbers}
    advantage = advantage or [[1, -1, 1], [-1, 1], [1, -0.5]]
    call("prefix_budget", label, comment, tokens([0, 0, 1], mask, logp=now, logp_old=old, advantage=advantage), flags, **given)


STEADY = [[-1, -1, -1, -1], [-1, -1, -1], [-1, -1]]
DRIFTED = [[-0.75, -0.75, -0.75, -1], [-1.25, -1.0625, -1.125], [-0.9375, -0.625]]
UP = [[1] * 4, [-1] * 3, [1, 1]]
cppo("plain", "tokens that move back to the old policy stay, others within the bound")
cppo("prefix", "what earlier tokens used up is not there for later ones", STEADY, DRIFTED, UP, delta=0.12, factor=0)
cppo("floor", "half the median is below the least rate", STEADY, DRIFTED, UP, delta=0.145, budget=0.0625, quantile=0.5, factor=0.5)
cppo("ceiling", "a rate above five times the least", STEADY, DRIFTED, UP, delta=0.125, budget=0.00390625, factor=4)
cppo("one", "a width of one token: no position, and no quantile between two", [[-1], [-2], [-0.5]], [[-0.5], [-1.75], [-0.4375]],
     [[1], [1], [1]], "OneToken", width=1, least=0)
cppo("holes", "masked tokens have a position and nothing else", [[-0.5, NAN, -1.25], [NAN, -3], [-1, -0.25]],
     [[-0.4375, NAN, -1], [NAN, -3], [-0.9375, -0.125]], [[1, NAN, 1], [NAN, 1], [1, 1]], HOLED, "101 00 11", width=8, least=0.25,
     delta=0.07, quantile=0.25)


# ---- rewards

def shorter(label, comment, lengths, reward, group=(0, 0, 0, 0), mask=None, coef=0.1, flags="UnequalLengths"):
    call("shorter_correct", label, comment, of_lengths(lengths, list(group), reward, mask), flags, coef=coef)


shorter("plain", "10 % more for the shortest, none for the longest; a wrong one is shorter", (4, 2, 1, 3), [1, 1, 0, 1])
shorter("right", "all right: nothing", (4, 2, 1), [1, 1, 1], (0, 0, 0), flags="UnequalLengths EqualRewards")
shorter("same", "right ones of the same length: nothing; another group has none", (2, 1, 2, 3, 1), [1, 0.5, 1, TENTHS, 0], (0, 0, 0, 1, 1))
shorter("masked", "tokens that count; a response without any is the shortest", (3, 2, 3, 2), [1, 1, 1, -2], mask="101 00 111 11",
        coef=-0.25, flags="UnequalLengths MaskHoles FullyMasked")

each("permutation_reward",
     ("judge", "two orders, sample by sample", dict(choice=[[0, 1, 1, 0], [0, 0, 1, 1]], form="judge")),
     ("votes", "the choice of most samples in all orders", dict(choice=[[2, 1], [2, 0], [2, 1], [3, 2], [2, 2]], form="votes")),
     ("tie", "two choices are as frequent: nobody is right", dict(choice=[[0, 1, 2], [1, 0, 3]], form="votes")),
     ("one", "a single order", dict(choice=[[4, 4, 1]], form="votes")))


def frequent(label, comment, answer, group, size):
    flags = "UnevenGroups" if group[-1] else ""
    call("frequency_reward", label, comment, of_lengths([1] * len(answer), list(group)), flags, answer=answer, size=size)


frequent("plain", "a rare answer is worth more than 1, a frequent one less", [3, 3, 3, 7], (0,) * 4, 3)
frequent("invalid", "invalid ones are in no share", [5, -1, 5, 2, -1], (0,) * 5, 4)
frequent("groups", "each group by itself; none valid, one alone", [1, 1, -1, -1, 1], (0, 0, 1, 1, 2), 6)
frequent("one", "one valid answer in all", [8, 8, 9], (0,) * 3, 1)


def repeating(label, comment, ids, size, penalty=-1, mask=None, flags="UnequalLengths"):
    call("repetition_reward", label, comment, of_lengths([len(row) for row in ids], mask=mask), flags, token=ids, size=size, penalty=penalty)


repeating("plain", "all alike, all different, two pairs of three again", [[4, 4, 4, 4], [1, 2, 3], [7, 8, 7, 8, 7]], 2)
repeating("three", "trigrams, and a response with fewer tokens than that", [[1, 2, 3, 1, 2, 3, 1], [5, 5]], 3, -0.5)
repeating("one", "single tokens", [[3, 3, 9], [0]], 1)
repeating("holes", "masked tokens are not there", [[1, 2, 6, 1, 2], [3, 3]], 2, mask="11011 00",
          flags="UnequalLengths MaskHoles FullyMasked")


def lead(label, comment, lengths, correct, group=None, mask=None, alpha=0.05, eps=0.000001, wrong=-1, flags="UnequalLengths"):
    call("correct_length", label, comment, of_lengths(lengths, group, mask=mask), flags, correct=marks(correct), alpha=alpha, eps=eps,
         wrong=wrong)


lead("plain", "short right answers are worth more than 1, long ones less", (4, 2, 1, 3), "1101")
lead("same", "right answers of one length, and one alone: 1", (2, 2, 5, 3, 4), "11010", [0, 0, 0, 1, 1], alpha=2)
lead("wrong", "none is right", (1, 2), "00", wrong=0)
lead("masked", "tokens that count, none too; no epsilon", (3, 2, 3), "111", mask="101 00 111", alpha=-0.75, eps=0,
     flags="UnequalLengths MaskHoles FullyMasked")


def duel(label, comment, lengths, outcome, ended, group=None, mask=None, flags="UnequalLengths"):
    call("pair_rewards", label, comment, of_lengths(lengths, group, mask=mask), flags, outcome=outcome, ended=marks(ended))


duel("plain", "the shortest winner that ended is worth 1, a longer one its part", (4, 2, 1, 3), [1, -1], "1111")
duel("cut", "a winner that did not end loses too, and is not the shortest", (1, 2, 4, 1, 3, 5), [1, 1, -1], "001011")
duel("ties", "a tie is masked, an odd one is left alone; groups have their own shortest", (2, 1, 3, 4, 2, 3, 1), [0, 1, -1], "1111111",
     [0, 0, 1, 1, 1, 2, 2], flags="UnequalLengths UnevenGroups")
duel("alone", "no pair at all", (2, 1), [], "11", [0, 1])
duel("masked", "tokens that count", (3, 2, 3, 2), [1, -1], "1111", mask="101 00 111 11", flags="UnequalLengths MaskHoles FullyMasked")

each("spread_reward",
     ("plain", "from 0 to 1", dict(distance=[0.5, 2, TENTHS, 1.25])),
     ("equal", "no spread: 0", dict(distance=[0.3, 0.3, 0.3])),
     ("close", "a spread of less than 10^-8: 0; the same as no spread", dict(distance=[1, 1 + 2 ** -27, 1])),
     ("narrow", "a spread of more", dict(distance=[1, 1 + 2 ** -26, 1 + 2 ** -27])),
     ("one", "one response: 0", dict(distance=[4])))

for label, comment, step, steps, size in (
        ("first", "the other model alone", 1, 8, 16), ("middle", "12 of 16 and 4/7: rounded up", 3, 8, 16),
        ("exact", "3/10 of 10, which binary64 rounds up to 4", 8, 11, 10), ("last", "the last step: none", 8, 8, 16),
        ("after", "beyond the annealing", 9, 8, 16), ("two", "two steps, a group of one", 2, 2, 1)):
    call("annealed_split", label, comment, step=step, steps=steps, size=size)


# ---- advantages

def collapsed(label, comment, reward, group=(0, 0, 0), eps=0.000001, flags=""):
    call("collapsed_advantage", label, comment, responses(list(group), reward), flags, eps=eps)


collapsed("plain", "the z-score", [1, 0, 0.25])
collapsed("constants", "all right, all wrong, all the same otherwise", [1, 1, 0, 0, TENTHS, TENTHS], (0, 0, 1, 1, 2, 2),
          flags="EqualRewards")
collapsed("lone", "a group of one keeps its reward", [0, 1, 0.5, 2, 1], (0, 1, 2, 3, 3), flags="Singleton UnevenGroups")
collapsed("narrow", "rewards 2^-20 apart, no epsilon", [1, 1 - 2 ** -20, 1], eps=0)

each("variant_advantage",
     ("plain", "either sign, harder and easier than the mean",
      dict(advantage=[1, 1, -0.5, -0.5, 0], difficulty=[7, 3, 7, 3, 9], mean=[5] * 5, k=0.25)),
     ("mean", "as hard as the mean: as it is", dict(advantage=[TENTHS, -2], difficulty=[4, 6.5], mean=[4, 6.5], k=2)),
     ("off", "k = 0", dict(advantage=[0.5, -1], difficulty=[1, 9], mean=[3, 3], k=0)),
     ("far", "e^80 and e^-80", dict(advantage=[1, -1], difficulty=[9, 9], mean=[1, 1], k=10)))
each("step_weight",
     ("plain", "either sign", dict(advantage=[1, -1, 0.5, -0.5, 0], weight=[0.25, 0.25, 0.75, 0.75, 0.5])),
     ("ends", "weights of 0 and 1", dict(advantage=[1, -1, 1, -1], weight=[0, 0, 1, 1])),
     ("short", "no short fractions", dict(advantage=[TENTHS, -TENTHS], weight=[0.1, 0.1])),
     ("none", "no advantage", dict(advantage=[0, 0], weight=[0.5, 1])))

TREE = dict(parent=[-1, 0, 0, 1, 1, 2, 5], reward=[0, 0.25, 0.5, 1, 0, 0.125, 0.75], value=[0.5, 0.75, 0.25, 0.5, -0.25, 1, 2], gamma=0.9)
BRANCH = dict(parent=[-1, 0, 0, 0, 2, 2, 2], reward=[0.3, 1, 7, -0.5, 0, 1, TENTHS], value=[0] * 7, gamma=1)
for form in ("td", "siblings", "paper"):
    call("tree_advantage", form, "a root of two children, one of them of two, one of a chain", **TREE, form=form)
    call("tree_advantage", f"{form}-branch", "a root of three, one of them of three", **BRANCH, form=form)
call("tree_advantage", "td-chain", "one child each: the critic alone", parent=[-1, 0, 1], reward=[0, 0.5, 1], value=[0.25, 0.5, 2],
     gamma=0.5, form="td")
call("tree_advantage", "siblings-root", "a root alone", parent=[-1], reward=[1], value=[0.5], gamma=1, form="siblings")


def anchors(label, comment, reward, form, constraints, alpha=0.2, beta=0.8, group=None, flags=""):
    x = responses(group or [0] * len(reward), reward)
    call("two_anchors", label, comment, x, flags, constraints=constraints, alpha=alpha, beta=beta, gain_pos=1.25, gain_neg=2, form=form)


anchors("paper", "the group's mean and one half, losses steeper", [1, 0, 0.25, 0.5], "paper", [4, 4, 4, 4])
anchors("code", "a goal of one half, and of the mean where it is above", [0.5, 0, 0.25, 1, 0.75, 0.5], "code", [4, 4, 4, 3, 3, 3],
        group=[0, 0, 0, 1, 1, 1])
anchors("equal", "equal rewards: the goal alone; a lone one", [0.75, 0.75, 0.25], "paper", [2, 5, 1], 0.5, group=[0, 0, 1],
        flags="EqualRewards Singleton")
anchors("group", "the mean alone", [1, 0, TENTHS], "paper", [1, 2, 3], 0, 2)
anchors("steep", "tanh of 40 and more", [1, 0], "paper", [9, 16], 0.75, -30)


def calibrated(label, comment, correct, logp=NOW, group=None, temperature=0.6, flags="UnequalLengths", mask=None):
    call("pairwise_calibration", label, comment, tokens(group, mask, logp=logp), flags, correct=marks(correct), temperature=temperature)


calibrated("plain", "one right response and two wrong ones", "010")
calibrated("groups", "only one kind in a group: 0", "101", group=[0, 0, 1])
calibrated("holes", "a response without tokens is in no pair", "1010", [[-0.5, NAN, -1.25], [NAN, -3], [-1, -0.25], [-2]], [0] * 4, 0.5,
           HOLED, "101 00 11 1")
calibrated("far", "means 900 apart, either way", "10", [[-900], [-1]], flags="Extreme OneToken")
calibrated("far-right", "and the right one ahead", "01", [[-900], [-1]], flags="Extreme OneToken")

each("multi_scale_advantage",
     ("three", "subgroups of two and three", dict(reward=[1, 0, 0.25], eps=0.000001)),
     ("binary", "two of five right", dict(reward=[1, 0, 0, 1, 0], eps=0.0001)),
     ("two", "two responses", dict(reward=[0.5, -2], eps=0.125)),
     ("equal", "all equal: 0", dict(reward=[0.3] * 4, eps=0.5)),
     ("twenty", "twenty responses, a million subgroups", dict(reward=[1] * 3 + [0] * 15 + [TENTHS] * 2, eps=0.000001)))


def recast(label, comment, reward, utility, group=None, flags=""):
    call("hardest_miss", label, comment, responses(group or [0] * len(reward), reward), flags, utility=utility)


recast("plain", "the best hit against the best miss", [0, 1, 0, 0.5], [0.25, 1, 0.75, 0.5])
recast("ties", "the first of equal ones; a reward below 0 is no miss", [0, 1, 0, 1, -1], [0.5, 0, 0.5, 0, 0.75])
recast("repair", "nobody hits: the lowest is replaced, and there is no contrast", [0, 0, 0, 1, 1], [0.25, 0.125, 0.125, 0, 0],
       [0, 0, 0, 1, 1], "UnevenGroups")
recast("below", "no hit and not all 0: nothing", [-1, 0, 0, 0], [0.5, 0.25, 1, 0.75], [0, 0, 1, 1])

each("position_advantage",
     ("plain", "four candidates, weighed by their probability", dict(logp_old=[-0.5, -2, -1.5, -4], reward=[1, 0, 0.5, -1])),
     ("equal", "equal scores: exactly 0", dict(logp_old=[-0.7, -1.1, -3.3], reward=[0.3] * 3)),
     ("unlikely", "probabilities of e^-300 beside one another", dict(logp_old=[-300, -301], reward=[1, 0.25])),
     ("offset", "scores of 100 and a little", dict(logp_old=[-1, -1, -2], reward=[100, 100.5, 99.75])))
