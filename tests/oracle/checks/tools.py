"""What checks share: numbers that are near, rows in one list, batches of a row."""
import copy

import generate
import objectives
import scenarios
from cases import case_of
from evaluate import evaluate
from generate import UNDEFINED
from reals import mpf


def near(xs, ys, tolerance=1e-13):
    xs, ys = list(xs), list(ys)
    return len(xs) == len(ys) and all(abs(x - y) <= tolerance * max(1, abs(x), abs(y)) for x, y in zip(xs, ys))


def active(batch):
    """[(response, [its tokens that count])]"""
    mask = batch.get("mask") or [[True] * T for T in batch["length"]]
    return [(i, [t for t, counts in enumerate(row) if counts]) for i, row in enumerate(mask)]


def log_ratios(batch, of="logp", against="logp_old"):
    return [[x - y for x, y in zip(*rows)] for rows in zip(batch[of], batch[against])]


def close(a, b, tolerance=1e-13):
    return abs(a - b) <= tolerance * max(1, abs(a), abs(b))


def flat(rows):
    return [x for row in rows for x in row]


def moved(batch, steps):
    """The batch with a step added to some of its numbers. steps: {(array, place...): step}"""
    batch = {**batch, **{key: copy.deepcopy(batch[key]) for key, *_ in steps}}
    for (key, *place), step in steps.items():
        *above, last = place
        row = batch[key]
        for k in above:
            row = row[k]
        row[last] = mpf(row[last]) + step
    return batch


def preset_batches(name, labels=None):
    """(label, objective, batch) of the scenarios that the generator keeps for this row."""
    for label, _, wanted, adapt, make in scenarios.SCENARIOS:
        o = objectives.changed(objectives.objective(name), **(adapt or {}))
        kept = wanted(o) and label in generate.wanted_scenarios(name) and label != "long" and (name, label) not in UNDEFINED
        if kept and (labels is None or label in labels):
            yield label, o, scenarios.finish(o, make(o))


def found(o, batch):
    return evaluate(o, batch)[0]


def bare(kind, **fields):
    """A surrogate and nothing else."""
    zero = objectives.plain()["surrogate"]
    return {**zero, "kind": kind, **fields}


LEVEL_BATCH = ("surrogate", "gppo")


def tokens_of(batch):
    """(A, l, o) of every token"""
    return list(zip(*(flat(batch[key]) for key in ("advantage", "logp", "logp_old"))))


def on_levels(surrogate, **axes):
    o, batch = case_of(*LEVEL_BATCH, surrogate=surrogate, aggregation={"kind": "token_sum"}, **axes)
    return found(o, batch), tokens_of(batch)
