"""A batch of three groups for checks of functions of a group, and its scores and derivatives."""
import math

import scenarios
from evaluate import evaluate
from objectives import changed, plain


def refused(o):
    try:
        answers(o)
    except ValueError:
        return True
    return False


LENGTHS, SIZES = (2, 1, 3, 2, 1, 4), (3, 1, 2)
A = (1, -0.5, 0.25, 0, 0.75, -1.25)
Z = (0.5, -1, 0.25)
GROUPS_OF = ((0, 1, 2), (3,), (4, 5))
MEAN = changed(plain(), ratio={"level": "sequence_mean"}, aggregation={"kind": "group_mean"})


def batch_of(o, **more):
    batch = scenarios.full(o, SIZES, LENGTHS, 801, more=scenarios.PER_TOKEN)
    batch.pop("more")
    batch.update(mask=[[True] * T for T in LENGTHS], advantage=[[a] * T for a, T in zip(A, LENGTHS)], reward=list(A), log_partition=list(Z))
    return {**batch, **more}


def with_kind(kind, base=MEAN, **numbers):
    return changed(base, surrogate={"kind": kind, **numbers})


def answers(o, **more):
    return evaluate(o, batch_of(o, **more))[0]


def scores(o, batch):
    """mean of l - o"""
    return [math.fsum(l - p for l, p in zip(*rows)) / len(rows[0]) for rows in zip(batch["logp"], batch["logp_old"])]


def slopes(found):
    """dL/dy of every response: the sum over its tokens."""
    return [math.fsum(row) for row in found["dlogp"]]


def softmax(xs):
    shares = [math.exp(x - max(xs)) for x in xs]
    return [x / sum(shares) for x in shares]


def softplus(x):
    return max(x, 0) + math.log1p(math.exp(-abs(x)))
