"""Batches of given rewards, and the advantages of their responses."""
import itertools

import objectives
from evaluate import evaluate

R = (1, 0.25, 0, 0.75, 0, 0.5, -1, -0.25, 0.5)
SIZES = (5, 4)
RIGHT = (1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 1)
RIGHT_SIZES = (5, 4, 2)


def batch_of(reward, sizes, lengths=None, **more):
    lengths = lengths or [1] * len(reward)
    return {"group": [g for g, n in enumerate(sizes) for _ in range(n)], "length": list(lengths),
            "reward": list(reward),
            "logp": [[-1] * T for T in lengths], **more}


def tokens(batch, reward=None, **fields):
    o = objectives.changed(objectives.plain(), advantage=fields, reward=reward or {})
    return evaluate(o, batch)[0]["advantage"]


def scores(rewards, sizes, lengths=None, reward=None, **fields):
    """The advantage of the first token of every response."""
    return [row[0] for row in tokens(batch_of(rewards, sizes, lengths), reward, **fields)]


def by_group(xs, sizes):
    xs = iter(xs)
    return [list(itertools.islice(xs, n)) for n in sizes]


def each_group(f, rewards=R, sizes=SIZES):
    """f(rewards of a group) -> advantages of the group, one list."""
    return [a for group in by_group(rewards, sizes) for a in f(group)]
