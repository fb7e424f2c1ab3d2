"""Choices that agree on most batches: for each, well-known objectives on ordinary batches on which they differ. The base of a case has the
choice, or the lack of one, that is easily taken for the right one; checks/alike.py computes what an implementation with the wrong one
answers, where that is no choice of the objective."""
from cases.table import cases_of
from objectives import changed, objective
from scenarios import full

case = cases_of("choices-alike")


def every(rows, batches, label, comment, base, changes):
    """A case for each row and batch. base(objective of the row): with the other choice; changes(objective of the row): the right one."""
    for row in rows:
        right = objective(row)
        for name, (words, make) in batches.items():
            case(f"{label}-{row}-{name}", f"{comment}; {words}", base(right), changes(right), make)


# ---- penalty: k1 = D has either sign, and so has its part of the loss; abs(D) has not

PAID = {
    "ragged": ("two groups, responses of 1 to 4 tokens",
               lambda o: full(o, (3, 2), (3, 2, 4, 1, 2), 1001)),
    "holes": ("some tokens are masked",
              lambda o: full(o, (2, 3), (4, 3, 2, 5, 3), 1002, mask={(0, 1), (1, 2), (3, 0), (3, 3)})),
    "below": ("the reference is less likely than the policy at all tokens but three",
              lambda o: full(o, (4,), (2, 3, 2, 3), 1003,
                             f_gap=lambda dice, i, t: dice.fraction(1 / 16, 0.75, 64) * (1 if (i + t) % 4 == 0 else -1))),
}
for right, other in (("k1", "abs"), ("abs", "k1")):
    every(("grpo", "dr-grpo", "gspo", "cispo"), PAID if right == "k1" else {"ragged": PAID["ragged"]}, right,
          f"a KL of {right} in the loss, not of {other}: the log-ratio to the reference has both signs",
          lambda o: changed(o, penalty={"kl": other, "kl_coef": 0.25}), lambda o: {"penalty": {"kl": right}})


# ---- reward: the length that is punished is that of the response, masked tokens included

WINDOW = {"overlong_max": 8, "overlong_cache": 4}
TOOLS = {
    "tools": ("in two responses the tokens that a tool wrote are masked",
              lambda o: full(o, (3, 2), (8, 6, 5, 7, 3), 1011, reward=(1, 0, 1, 1, 0),
                             mask={(0, 2), (0, 3), (0, 4), (1, 1), (3, 2), (3, 3)})),
    "end": ("the end of some responses is masked",
            lambda o: full(o, (4,), (7, 9, 6, 4), 1012, reward=(1, 1, 0, 0.5), mask={(0, 5), (0, 6), (1, 7), (1, 8), (2, 5)})),
    "equal": ("equal rewards: the punishment alone makes the advantages",
              lambda o: full(o, (3, 2), (5, 7, 8, 6, 5), 1013, reward=(1,) * 5, mask={(1, 3), (1, 4), (2, 0), (3, 1)})),
    "alike": ("three responses of one length, of which different numbers of tokens are masked",
              lambda o: full(o, (4,), (7, 7, 6, 7), 1014, reward=(1, 0, 0.5, 1), mask={(0, 1), (2, 2), (2, 3), (3, 6)})),
}
every(("dapo", "dapo-recipe", "verl-dapo"), TOOLS, "overlong",
      "overlong punishment from 4 to 8 tokens by the length of the response, not by its tokens that count",
      lambda o: changed(o, reward={"overlong": "none", "overlong_max": 0, "overlong_cache": 0, "overlong_factor": 0}),
      lambda o: {"reward": {**o["reward"], **WINDOW}})


# ---- aggregation: a group without tokens that count is still divided by

def one_cut(o):
    batch = full(o, (2, 2, 2), (2, 3, 1, 2, 4, 2), 1023, reward=(1, 0, 1, 0.5, 0, 1), mask={(2, 0), (3, 0), (3, 1)})
    batch["truncated"] = [False, False, True, True, False, False]
    return batch


GONE = {
    "of-two": ("the second of two groups", lambda o: full(o, (2, 2), (3, 2, 2, 1), 1021, reward=(1, 0, 0, 1),
                                                          mask={(2, 0), (2, 1), (3, 0)})),
    "of-three": ("the first of three groups", lambda o: full(o, (1, 2, 2), (2, 3, 1, 2, 4), 1022, reward=(1, 1, 0, 0.5, 1),
                                                             mask={(0, 0), (0, 1), (4, 2)})),
    "cut": ("the second of three groups, whose responses were truncated", one_cut),
    "two-of-four": ("two of four groups", lambda o: full(o, (2, 1, 2, 1), (2, 3, 2, 1, 2, 3), 1024, reward=(1, 0, 1, 0.5, 0, 1),
                                                         mask={(2, 0), (2, 1), (5, 0), (5, 1), (5, 2), (1, 1)})),
}
every(("dapo", "dapo-filter", "cispo"), GONE, "empty-group",
      "the mean over groups counts a group without tokens that count, as 0",
      lambda o: changed(o, aggregation={"empty_sequences": "drop"}), lambda o: {"aggregation": {"empty_sequences": "keep"}})


# ---- ratio: GMPO bounds the log-ratio of a token with A = 0 as where A > 0, above

def given(groups, d, a, seed, **options):
    def make(o):
        batch = full(o, groups, [len(row) for row in d], seed, d=lambda dice, i, t: d[i][t], **options)
        batch["advantage"] = [list(row) for row in a]
        return batch
    return make


ZEROS = {
    "above": ("above the bound", given((2, 1), ((0.75, 0.25, -0.125), (0.625, -0.25), (0.5,)), ((0, 1, 0.5), (-1, 0), (1,)), 1031)),
    "below": ("below the bound of A < 0", given((2, 1), ((-0.75, 0.125, 0.25), (-0.5, 0.375), (-0.625, 0.25)),
                                                ((0, 1, 1), (0, -0.5), (-1, 0)), 1032)),
    "both": ("on both sides", given((3,), ((0.75, -0.625, 0.25, 0.125), (-0.5, 0.5), (1, 0.125, -0.25)),
                                    ((0, 0, 1, 1), (1, 0), (0, -0.5, -1)), 1033)),
    "masked": ("on both sides; some tokens are masked",
               given((2, 2), ((0.75, 0.5, 0.25), (-0.75, 0.125), (0.625, -0.5, 0.25), (0.25, 0.875)),
                     ((0, 1, 1), (0, 1), (1, 0, -1), (-0.5, 0)), 1034, mask={(0, 1), (2, 0)})),
}
every(("gmpo", "trl-gmpo", "verl-gmpo"), ZEROS, "zero-advantage",
      "the log-ratio of a token with A = 0 has the bound of A > 0, above, beside tokens with other advantages; it is",
      lambda o: changed(o, ratio={"token_clip_low": 1, "token_clip_high": 1}),
      lambda o: {"ratio": {name: o["ratio"][name] for name in ("token_clip_low", "token_clip_high")}})


# ---- reward: the KL in it is that of the tokens that count

HOLES = {
    "holes": ("masked tokens inside of responses",
              lambda o: full(o, (3, 2), (4, 3, 5, 3, 2), 1041, mask={(0, 1), (1, 0), (2, 2), (2, 3), (3, 1)})),
    "end": ("the ends of responses are masked",
            lambda o: full(o, (2, 2), (4, 2, 3, 5), 1042, reward=(1, 0, 0.5, 1), mask={(0, 2), (0, 3), (2, 2), (3, 4)})),
    "one": ("one response of four has a masked token, which is far from the reference",
            lambda o: full(o, (4,), (2, 3, 2, 1), 1043, reward=(1, 0, 0, 1), mask={(1, 1)},
                           f_gap=lambda dice, i, t: 2 if (i, t) == (1, 1) else dice.signed(1 / 64, 0.5, 64))),
    "whole": ("one response is masked as a whole, and another in part",
              lambda o: full(o, (3, 2), (2, 3, 1, 2, 4), 1044, mask={(1, 0), (1, 1), (1, 2), (4, 0), (4, 2)})),
}
every(("rloo", "trl-rloo", "openrlhf-rloo"), HOLES, "kl-masked", "the KL in the reward is of the tokens that count alone",
      lambda o: changed(o, reward={"kl": "none", "kl_coef": 0}), lambda o: {"reward": {"kl": "k1", "kl_coef": 0.25}})


# ---- penalty: an estimate above 10, at log-probabilities that are not extreme

def towards(gaps, seed, **options):
    """gaps: how far the reference's log-probability is above the policy's."""
    return lambda o: full(o, (2, len(gaps) - 2), [len(row) for row in gaps], seed, f_gap=lambda dice, i, t: gaps[i][t], **options)


ABOVE = {
    "one": ("the estimate of one token is 16", towards(((3, 0.25), (-0.5, 0.125, 1), (0.5,)), 1051)),
    "some": ("those of four tokens are 13 to 50", towards(((2.75, 0.25, 4), (-0.5, 1), (3.5, -0.25), (0.125, 3)), 1052)),
    "beside": ("that of a token is 23, beside one of 9", towards(((3.25, 2.5), (0.5, -1), (2.5,)), 1053)),
}
WITH_K3 = {"kl": "k3", "kl_coef": 0.25}
every(("grpo", "gspo", "cispo", "dr-grpo"), ABOVE, "unclamped", "a k3 KL without a bound of 10",
      lambda o: changed(o, penalty={**WITH_K3, "kl_clamp_value": 10}), lambda o: {"penalty": {"kl_clamp_value": 0}})
every(("easyr1-grpo", "verl-kl-loss", "swift-grpo"), ABOVE, "clamped", "a k3 KL that is bounded at 10, without a gradient there",
      lambda o: changed(o, penalty={"kl_coef": 0.25, "kl_clamp_value": 0}),
      lambda o: {"penalty": {"kl_clamp_value": o["penalty"]["kl_clamp_value"]}})
