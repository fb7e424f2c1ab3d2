"""Cases of the kind `split` made from a table: rows times ways of cutting in which a mistake can change the answer.

The batches differ only in their numbers: groups of 2, 2, 1 and 2 responses with 4, 1, 2, 3, 2, 1 and 4 tokens.
"""
from objectives import changed, objective
from scenarios import Dice, finish, full, like

GROUPS, LENGTHS = (2, 2, 1, 2), (4, 1, 2, 3, 2, 1, 4)
A = (1, -0.5, -1.25, 0.75, 1.5, 0.25, -0.75)
REWARD = (1, 0, 0.5, 1, 1, -1, 1)

# ---- rows: (label, row, what differs from it)

WIDE = {"surrogate": {"eps_low": 0.25, "eps_high": 0.3125}}  # so wide that a cut response may be on either side of the clip
HIGHER = {"surrogate": {"eps_high": 0.28}}  # the clip of DAPO with a mean over tokens
PAIRS = {"nll_on": "correct", "nll_coef": 0.25, "preference": "pairwise", "preference_coef": 0.5, "preference_beta": 0.5,
         "preference_min_gap": 0.25, "preference_score": "reference_free"}
ROWS = [
    ("dapo", "trl-bnpo", HIGHER),
    ("grpo", "grpo", {}),
    ("dr-grpo", "dr-grpo", {"aggregation": {"constant": 8}}),
    ("constant", "dr-grpo", {"aggregation": {"kind": "constant", "constant": 16}}),
    ("cispo", "cispo", {}),
    ("prompt-mean", "grpo", {"aggregation": {"kind": "group_mean_seq_mean"}}),
    ("length-power", "length-power", {}),
    ("dcpo", "dcpo", {}),
    ("tunix-grpo", "tunix-grpo", {}),
    ("gspo", "gspo", WIDE),
    ("openrlhf-gspo", "openrlhf-gspo", WIDE),
    ("luspo", "luspo", WIDE),
    ("vespo", "vespo", {}),
    ("gmpo", "gmpo", {}),
    ("geo-reject", "geo-reject", {"weight": {"rollout_rs_low": 0.875, "rollout_rs_high": 1.125},
                                  "aggregation": {"kind": "token_mean"}}),
    ("tis-normalized", "verl-tis-normalized", {}),
    ("vpd", "vpd", {}),
    ("oreal", "oreal", {}),
    ("dapo-zv", "dapo-zv", {}),
    ("gvpo", "gvpo", {}),
    ("pairs", "trl-bnpo", {**HIGHER, "penalty": PAIRS}),
]
WHOLE_GROUPS = {"dapo-zv", "gvpo", "pairs"}  # rows that depend on whole groups: no part may contain a piece of a group
ADDED = {"dapo", "grpo", "dr-grpo", "constant", "cispo", "prompt-mean", "dcpo", "gspo", "luspo", "gmpo", "geo-reject", "tis-normalized",
         "vpd", "oreal", "gvpo", "pairs"}  # rows that also have cases with gradients added over ranks

# ---- ways of cutting


def on(rank, *parts, step=0):
    """The micro-batches of a rank, in turn."""
    return [{"rank": rank, **({"step": step} if step else {}), **part} for part in parts]


def groups(*g):
    return {"groups": list(g)}


def responses(*i):
    return {"responses": list(i)}


def rows(*r):
    return {"rows": [list(row) for row in r]}


def tokens(*ranges):
    return {"tokens": [list(x) for x in ranges]}


def pieces(only, bounds):
    """Of each of these responses, the piece between two functions of its length."""
    low, high = bounds
    found = [(i, low(LENGTHS[i]), high(LENGTHS[i])) for i in only]
    return tokens(*(x for x in found if x[1] < x[2]))


EVERY = range(7)
FIRST = (lambda n: 0, lambda n: (n + 1) // 2)
SECOND = (lambda n: (n + 1) // 2, lambda n: n)
HEAD = (lambda n: 0, lambda n: min(n, 3))
TAIL = (lambda n: min(n, 3), lambda n: n)
ENDS, MIDDLE = tokens((0, 0, 1), (0, 3, 4), (1, 0, 1), (2, 0, 1), (3, 0, 1), (4, 0, 1), (5, 0, 1), (6, 0, 1), (6, 3, 4)), \
    tokens((0, 1, 3), (2, 1, 2), (3, 1, 3), (4, 1, 2), (6, 1, 3))
TWO, FOUR = on(0, groups(0, 1)) + on(1, groups(2, 3)), on(0, groups(0), groups(1)) + on(1, groups(2), groups(3))
RAGGED = on(0, groups(0), groups(1)) + on(1, groups(2, 3))
THREE = on(0, groups(0), groups(2)) + on(1, groups(1)) + on(2, groups(3))
APART = on(0, responses(0, 2), responses(6)) + on(1, responses(1, 3), responses(4, 5))
HALVES = on(0, pieces(EVERY, FIRST)) + on(1, pieces(EVERY, SECOND))
DATA = (on(0, pieces((0, 1, 2, 3), FIRST)) + on(1, pieces((0, 1, 2, 3), SECOND))
        + on(2, pieces((4, 5, 6), FIRST)) + on(3, pieces((4, 5, 6), SECOND)))
DATA_STEPS = (on(0, pieces((0, 1), FIRST)) + on(1, pieces((0, 1), SECOND)) + on(0, pieces((2, 3), FIRST), step=1)
              + on(1, pieces((2, 3), SECOND), step=1) + on(2, pieces((4,), FIRST)) + on(3, pieces((4,), SECOND))
              + on(2, pieces((5, 6), FIRST), step=1) + on(3, pieces((5, 6), SECOND), step=1))
STEPS_FOUR = on(0, groups(0), groups(1)) + on(0, groups(2), groups(3), step=1)
STEPS_RANKS = on(0, groups(0)) + on(1, groups(1)) + on(0, groups(2), step=1) + on(1, groups(3), step=1)
SUM, CONTEXT = {"reduce": "sum"}, {"context_ranks": 2}

HOLES = {(0, 1), (3, 0), (6, 3)}
EMPTY = {(4, 0), (4, 1)}  # the only response of group 2
HALF_EMPTY = {(0, 2), (0, 3), (3, 0), (6, 2), (6, 3), (4, 1)}

# (file, label, ranks, comment, parts, what else stands in the case, masked tokens)
WAYS = [
    ("micro", "halves", 1, "two micro-batches of two prompts each", on(0, groups(0, 1), groups(2, 3)), {}, None),
    ("micro", "unequal", 1, "three micro-batches of one, two and one prompts", on(0, groups(0), groups(1, 2), groups(3)), {}, None),
    ("micro", "apart", 1, "the responses of a prompt are in several micro-batches", on(0, responses(0, 2), responses(1, 3, 4),
                                                                               responses(5, 6)), {}, None),
    ("micro", "by-length", 1, "responses sorted by length into micro-batches of 6, 3 and 8 tokens",
     on(0, responses(1, 5, 2, 4), responses(3), responses(0, 6)), {}, None),
    ("micro", "masked", 1, "three micro-batches of one, two and one prompts, some tokens are masked",
     on(0, groups(0), groups(1, 2), groups(3)), {}, HOLES),
    ("ranks", "two", 2, "two ranks of two prompts each, gradients averaged over ranks", TWO, {}, None),
    ("ranks", "two-added", 2, "two ranks of two prompts each, gradients added over ranks", TWO, SUM, None),
    ("ranks", "four", 2, "two ranks with two micro-batches each, gradients averaged over ranks", FOUR, {}, HOLES),
    ("ranks", "four-added", 2, "two ranks with two micro-batches each, gradients added over ranks", FOUR, SUM, HOLES),
    ("ranks", "ragged", 2, "two ranks, one with two micro-batches and one with one, gradients averaged", RAGGED, {}, None),
    ("ranks", "three-added", 3, "three ranks with two, one and one micro-batches, gradients added over ranks", THREE, SUM, None),
    ("ranks", "apart", 2, "the responses of a prompt are on two ranks, gradients averaged over ranks", APART, {}, None),
    ("ranks", "apart-added", 2, "the responses of a prompt are on two ranks, gradients added over ranks", APART, SUM, HOLES),
    ("context", "halves", 2, "every response is cut in half between two ranks, gradients averaged over ranks", HALVES, CONTEXT, None),
    ("context", "halves-added", 2, "every response is cut in half between two ranks, gradients added over ranks",
     HALVES, {**CONTEXT, **SUM}, None),
    ("context", "zigzag", 2, "one rank has the first and fourth token of each response, the other those between (zigzag)",
     on(0, ENDS) + on(1, MIDDLE), CONTEXT, None),
    ("context", "uneven", 2, "responses are cut after three tokens: only the longest reach the second rank",
     on(0, pieces(EVERY, HEAD)) + on(1, pieces(EVERY, TAIL)), CONTEXT, None),
    ("context", "packed", 2, "all responses packed in one row that is cut within a response, a part per rank",
     on(0, tokens((0, 0, 4), (1, 0, 1), (2, 0, 2), (3, 0, 1))) + on(1, tokens((3, 1, 3), (4, 0, 2), (5, 0, 1), (6, 0, 4))), CONTEXT, None),
    ("context", "masked", 2, "responses cut in half between two ranks; some second halves are fully masked", HALVES, CONTEXT, HALF_EMPTY),
    ("context", "micro", 2, "every response is cut in half between two ranks, two micro-batches each",
     on(0, pieces((0, 1, 2, 3), FIRST), pieces((4, 5, 6), FIRST)) + on(1, pieces((0, 1, 2, 3), SECOND), pieces((4, 5, 6), SECOND)),
     CONTEXT, None),
    ("context", "data", 4, "two data-parallel times two context-parallel ranks, gradients averaged over ranks", DATA, CONTEXT, None),
    ("context", "data-added", 4, "two data-parallel times two context-parallel ranks, gradients added over ranks",
     DATA, {**CONTEXT, **SUM}, HOLES),
    ("context", "steps", 4, "two data-parallel times two context-parallel ranks, two optimiser steps", DATA_STEPS, CONTEXT, None),
    ("steps", "two", 1, "two optimiser steps on one generation", on(0, groups(0, 1)) + on(0, groups(2, 3), step=1), {}, None),
    ("steps", "four", 1, "two optimiser steps of two micro-batches each on one generation", STEPS_FOUR, {}, HOLES),
    ("steps", "ranks", 2, "two optimiser steps on two ranks, gradients averaged over ranks", STEPS_RANKS, {}, None),
    ("steps", "ranks-added", 2, "two optimiser steps on two ranks, gradients added over ranks", STEPS_RANKS, SUM, None),
    ("steps", "uneven", 1, "three optimiser steps with two, one and one micro-batches",
     on(0, groups(0), groups(1)) + on(0, groups(2), step=1) + on(0, groups(3), step=2), {}, None),
    ("steps", "apart", 1, "the responses of a prompt are in two optimiser steps",
     on(0, responses(0, 2), responses(4)) + on(0, responses(1, 3), responses(5, 6), step=1), {}, None),
    ("packed", "rows", 1, "a micro-batch of three rows of several responses each", on(0, rows((0, 1), (2, 3), (4, 5, 6))), {}, None),
    ("packed", "micro", 1, "two micro-batches of packed rows", on(0, rows((0, 2), (1, 3)), rows((4, 6, 5))), {}, None),
    ("packed", "ranks", 2, "packed rows on two ranks, gradients averaged over ranks",
     on(0, rows((0, 1, 2))) + on(1, rows((3, 4), (5, 6))), {}, None),
    ("packed", "ranks-added", 2, "packed rows on two ranks, gradients added over ranks",
     on(0, rows((0, 1, 2))) + on(1, rows((3, 4), (5, 6))), SUM, HOLES),
    ("survivors", "filtered", 1, "a prompt is filtered out before the step, which has two micro-batches",
     on(0, groups(0), groups(2, 3)), {"filtered": [2, 3]}, None),
    ("survivors", "filtered-ranks", 2, "a prompt is filtered out; one rank has one of the remaining prompts, the other two",
     on(0, groups(0)) + on(1, groups(2), groups(3)), {"filtered": [2, 3]}, None),
    ("survivors", "filtered-responses", 2, "a prompt and two responses of other prompts are filtered out, gradients added over ranks",
     on(0, responses(0, 2)) + on(1, responses(5, 6)), {"filtered": [1, 3, 4], **SUM}, None),
    ("survivors", "empty-micro", 1, "all tokens of one micro-batch are masked", on(0, groups(0, 1), groups(2), groups(3)), {}, EMPTY),
    ("survivors", "empty-rank", 2, "all tokens of one rank are masked", on(0, groups(0, 1), groups(3)) + on(1, groups(2)), {}, EMPTY),
    ("survivors", "nothing", 3, "one of three ranks gets no response, gradients averaged over ranks",
     on(0, groups(0, 1)) + on(1, groups()) + on(2, groups(2, 3)), {}, None),
    ("survivors", "nothing-added", 3, "one of three ranks gets no response, gradients added over ranks",
     on(0, groups(0, 3)) + on(1, groups()) + on(2, groups(1, 2)),
     SUM, EMPTY),
]
FILES = list(dict.fromkeys(f"partition-{way[0]}" for way in WAYS))


def whole_groups(parts):
    return all("groups" in part for part in parts)


def batch_of(o, seed, mask):
    """A batch of numbers with few digits: log-probabilities are multiples of 1/16."""
    dice = Dice(seed)
    batch = full(o, GROUPS, LENGTHS, seed, mask=mask, reward=REWARD)
    for key, gap in (("logp_old", 0), ("logp", 9), ("logp_ref", 6), ("logp_rollout", 5)):
        batch[key] = like(LENGTHS, lambda i, t: -dice.fraction(1, 2, 16) if key == "logp_old"
                          else batch["logp_old"][i][t] + dice.signed(1 / 16, gap / 16, 16))
    batch["advantage"] = like(LENGTHS, lambda i, t: A[i])
    return finish(o, batch)


def made():
    """(file, label, comment, objective, batch, what else stands in the case)"""
    for file, way, ranks, comment, parts, more, mask in WAYS:
        for row, preset, changes in ROWS:
            if row in WHOLE_GROUPS and not whole_groups(parts) or more.get("reduce") == "sum" and row not in ADDED:
                continue
            o = changed(objective(preset), **changes)
            yield (f"partition-{file}", f"{way}-{row}", f"{preset}: {comment}", o,
                   batch_of(o, 7001 + 13 * len(way) + len(row), mask), {"parts": parts, "ranks": ranks, **more})
