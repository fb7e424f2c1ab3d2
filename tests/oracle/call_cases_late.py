"""Cases of the functions of calls_late.py, after those of call_cases_found.py in the same list."""
from call_cases import TENTHS, tokens
from call_cases_found import CALLS, HOLED, marks
from call_cases_lists import each, on
from scenarios import NAN

__all__ = ["CALLS"]

PAPER = dict(deviation=0.45, gamma=0.8, low=0.2, high=0.4, delta=0.000001)
each("power_clip",
     ("start", "a mean reward of 0: power 1 and the lower end", dict(PAPER, mean=0)),
     ("paper", "half of the responses right", dict(PAPER, mean=0.5)),
     ("solved", "all right and no deviation: the upper end", dict(PAPER, mean=1, deviation=0)),
     ("below", "a mean below 0: a power above 1, a bound below 1", dict(PAPER, mean=-0.75, low=TENTHS, high=1, delta=0.25)),
     ("wide", "an upper end of 2000, and a power that falls to e^-50", dict(PAPER, mean=62.5, low=0, high=2000, deviation=0.5)))

TURNS = dict(reward=[1, -0.5, TENTHS, 0.25, 2, -0.5, 0.75], role=[4, -7, 4, 2, 4, -7, 9007199254740991])
for form in ("mean", "mean_std", "clipped"):
    each("role_reward", (form, "three turns of one role, two equal ones of another, two alone", dict(TURNS, form=form)))
each("role_reward",
     ("bounds", "one of seventeen beyond 3, and below -1 the other way round",
      dict(reward=[0] * 16 + [1, 3] + [4] * 3, role=[0] * 17 + [1] * 4, form="clipped")),
     ("close", "rewards 2^-20 apart: the deviation is as small as what is beside it",
      dict(reward=[0.5, 0.5 + 2 ** -20, 0.5], role=[1, 1, 1], form="mean_std")))

BRANCH, PARENT = [5, 1, 2, 9, 3, 4], [1, 2, 3, 7, 2, 9]
for form in ("edit", "suffix", "rouge_l"):
    each("sequence_distance",
         (form, "in no place alike, nor without a common part", dict(a=BRANCH, b=PARENT, form=form)),
         (f"{form}-lengths", "of different length, the longer second", dict(a=[3, 8], b=[8, 3, 8, 1, 3, 8, 2], form=form)),
         (f"{form}-other", "nothing in common", dict(a=[1, 2, 3], b=[4, -4], form=form)))
each("sequence_distance",
     ("suffix-all", "one is inside of the other", dict(a=[1, 1, 2, 1, 1, 1, 2], b=[1, 1, 2], form="suffix")),
     ("edit-same", "the same", dict(a=[9007199254740991, 7], b=[9007199254740991, 7], form="edit")),
     ("edit-swap", "neighbours in another order: two edits", dict(a=[1, 2, 3, 4, 5], b=[1, 3, 2, 4, 5], form="edit")))

UNSURE = [[0.5, 2, 0], [1.25, 0.125], [3, 0.75]]
on("route_weight",
   ("plain", "two of three responses are routed", tokens(entropy=UNSURE), "UnequalLengths", dict(routed=marks("101"), beta=1)),
   ("none", "nobody is routed: 0", tokens(entropy=UNSURE), "UnequalLengths", dict(routed=marks("000"), beta=1)),
   ("flat", "beta 0: 1", tokens(entropy=UNSURE), "UnequalLengths", dict(routed=marks("011"), beta=0)),
   ("far", "e^-1600 and e^-1200: only what they are beside each other counts",
    tokens(entropy=[[4, 3], [3.0009765625]]), "UnequalLengths Extreme", dict(routed=marks("11"), beta=400)),
   ("holes", "tokens that do not count; a routed response without any",
    tokens(None, "101 00 11", entropy=[[0.5, NAN, 1], [NAN, 4], [2, 0.25]]), HOLED, dict(routed=marks("110"), beta=2)))
