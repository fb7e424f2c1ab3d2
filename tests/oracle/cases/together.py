"""Choices of all axes together: two that no other case combines occur in one of these, as far as a short list allows.

together.txt has an objective on each line: groups | lengths | seed | settings. The list was drawn at random: of many objectives that the
rules allow, each time the one with most pairs of choices that no case had yet.
"""
import os

from cases.bases import NEG, NONE
from cases.table import cases_of
from objectives import changed, plain, setting
from scenarios import Dice, full, placed

case = cases_of("choices-together")


def drawn(groups, lengths, seed):
    """A few tokens are masked; of every second seed the rewards are 0 and 1."""
    def make(o):
        dice = Dice(seed * 7919 + 1)
        mask = {(i, t) for i, T in enumerate(lengths) for t in range(T) if T > 1 and dice.below(6) == 0}
        reward = [dice.below(2) for _ in lengths] if seed % 2 else None
        return full(o, groups, lengths, seed, mask=mask or None, reward=reward)
    return make


def numbers(text):
    return tuple(map(int, text.split()))


def objectives_drawn():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "together.txt"), encoding="ascii") as f:
        for line in f:
            groups, lengths, seed, settings = line.rstrip("\n").split(" | ")
            axes = {}
            for (axis, field), value in map(setting, settings.split()):
                axes.setdefault(axis, {})[field] = value
            yield numbers(groups), numbers(lengths), int(seed), axes


for groups, lengths, seed, axes in objectives_drawn():
    names = [f"{axis}.{field} = {x}" for axis, fields in axes.items() for field, x in fields.items() if isinstance(x, str)]
    case(f"{seed}", f"{len(names)} choices together, beside {axes['surrogate']['kind']} and {axes['aggregation']['kind']}", plain(), axes,
         drawn(groups, lengths, seed))


# ---- two probabilities of 0 in a group

def both_never(o):
    """Two responses of a group have probability 0, one of them at two tokens; the third has not."""
    return {**placed(o, 971, (3,), ((1, 1), (-0.5, -0.5, -0.5), (0.25,)), logp=((NEG, -1), (-0.5, NEG, NEG), (-2,)),
                     logp_old=((-1, -0.75), (-1, -1, -1.25), (-1.5,)), logp_ref=((-1, -1), (-0.5, -1, -2), (-1.25,))), "reward": [4, 2, 0]}


SCORES = changed(plain(), ratio={"level": "sequence_mean"}, aggregation={"kind": "group_mean"})
for name, fields in (("pairwise_logistic", {"beta": 2}), ("softmax_cross_entropy", {"beta": 2, "advantage_temperature": 0.5}),
                     ("contrastive", {"contrast_temperature": 0.5, "contrast_margin": 0.125}),
                     ("standardised", {"beta": 0.5, "group_score_eps": 0.5})):
    case(f"{name}-neginf-two", f"{name}: two responses of the group have probability 0, and equal scores", SCORES,
         {"surrogate": {"kind": name, **fields}}, both_never)
PAIRS = {"preference": "pairwise", "preference_coef": 0.5, "preference_beta": 0.75}
for name in ("ref", "reference_free"):
    case(f"pairs-neginf-two-{name}", "preference pairs: both responses of a pair have probability 0, their scores are equal", NONE,
         {"surrogate": {"kind": "ratio"}, "penalty": {**PAIRS, "preference_score": name}}, both_never)


# ---- a weight of 0, and a bound of 0

def never_before(o):
    return placed(o, 972, (2,), ((1, -0.5), (0.75,)), logp=((-0.5, -1), (-1.25,)), logp_old=((NEG, -1), (-1.5,)),
                  logp_rollout=((-1, -1.25), (-1.5,)))


for name in ("mask", "reject"):
    case(f"{name}-neginf-zero", f"rollout_is = {name} with a largest weight of 0: the weight of a token of old probability 0 is within it",
         changed(NONE, ratio={"behaviour": "rollout"}, surrogate={"kind": "ratio"}),
         {"weight": {"rollout_is": name, "rollout_is_low": 0, "rollout_is_high": 0}}, never_before)
