"""Batches and arrays that several cases use."""
from scenarios import NAN, ORDER, binary32

TENTHS = binary32(0.7)  # binary32 numbers that are no short fractions
UNMASKED = 1000000  # the value at elements of an argument that are not read
SELF = [[-0.5, -2, -1.25], [-0.75, -3], [-1, -0.25]]
TEACHER = [[-0.75, -1.875, -1.25], [-3, -2.5], [-0.875, -0.125]]
WITH_HOLES = dict(logp_old=[[-0.5, NAN, -1.25, -0.25], [NAN, -3], [-1, -0.25]], mask="1011 00 11")
FOUR = (0, 0, 0, 0)
NOW = [[-0.25, -2.5, -1.25], [-1.5, -3], [-0.5, -0.75]]


def switches(text):
    """Rows of flags: "101 01" is [[true, false, true], [false, true]]; "-" is a row without tokens."""
    return [[x == "1" for x in row.strip("-")] for row in text.split()]


def tokens(group=None, mask=None, reward=None, **arrays):
    """A batch of the given rows; the log-probabilities are there in any case."""
    shape = next(iter(arrays.values()))
    made = {"group": group or [0] * len(shape), "length": [len(row) for row in shape],
            "logp": [[-0.5] * len(row) for row in shape]}
    made.update(arrays)
    made.update({key: x for key, x in (("mask", mask and switches(mask)), ("reward", reward)) if x})
    return {key: made[key] for key in ORDER if key in made}


def responses(group, reward, **arrays):
    return tokens(group, reward=reward, **(arrays or {"logp": [[-0.5] for _ in group]}))


def marks(text):
    return [x == "1" for x in text]


def of_lengths(lengths, group=None, reward=None, mask=None):
    return tokens(group, mask, reward, logp=[[-0.5] * T for T in lengths])


def each(case, *given):
    """(label, comment, arguments) of a function that reads no batch."""
    for label, comment, arguments in given:
        case(label, comment, **arguments)


def on(case, *given):
    """(label, comment, batch, arguments) of a function that reads one."""
    for label, comment, batch, arguments in given:
        case(label, comment, batch, **arguments)
