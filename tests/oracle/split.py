"""One optimiser step in parts: micro-batches whose gradients are added, on ranks whose gradients are averaged.

Right is what the whole batch gives: every token keeps its coefficient of the whole step, times the number of ranks, because
the average over ranks divides by it.
"""
from mpmath import mpf

import evaluate
from autodiff import gradient, size as size_of, value
from axes import aggregation, own_divisor
from limits import ONE, ZERO, Undefined


class Step:
    """The entries of the whole batch, and which part each belongs to."""

    def __init__(self, objective, batch, parts, ranks):
        self.objective, self.batch, self.ranks = objective, batch, ranks
        self.entries, _ = evaluate.entries_of(objective, batch)
        self.own = own_divisor.terms(objective, batch)
        self.parts = [Part(self, p["rank"], set(p["groups"])) for p in parts]

    def on_rank(self, rank):
        return [p for p in self.parts if p.rank == rank]


class Part:
    def __init__(self, step, rank, groups):
        self.rank = rank
        self.sequences = [s for s in step.batch.sequences if s.group in groups]
        self.entries = [e for e in step.entries if e.token.sequence.group in groups]
        self.own = [term for term in step.own if term.group in groups]
        self.tokens = len(self.entries)


def local(step, sequences, entry):
    """The coefficient of a token when only these sequences exist."""
    active = [sum(1 for e in step.entries if e.token.sequence is s) for s in sequences]
    groups = sorted({s.group for s in sequences})
    choice, s = step.objective["aggregation"], entry.token.sequence
    if choice["kind"] in aggregation.BY_TOKEN:
        raise Undefined("the counts of a part, by token")
    totals = aggregation.Totals(choice, active, [groups.index(s.group) for s in sequences], len(groups))
    return aggregation.KIND[choice["kind"]](totals, sequences.index(s), groups.index(s.group))


def share(step, part, entry):
    """What a token's x is multiplied with before its micro-batch is differentiated."""
    return entry.c * step.ranks


def logged(step, part, entry):
    """The same for the loss that is logged."""
    return share(step, part, entry)


def answers(objective, raw, parts, ranks):
    """{name: {place: (number, scale)}}, unrounded."""
    step = Step(objective, evaluate.Batch(raw), parts, ranks)
    pairs = [(p, e) for p in step.parts for e in p.entries]
    loss = sum((logged(step, p, e) * (value(e.policy) + value(e.penalty)) for p, e in pairs), ZERO) / ranks
    size = sum((e.c * (size_of(e.policy) + size_of(e.penalty)) for e in step.entries), ZERO)
    seeds = [(x, share(step, p, e) / mpf(ranks)) for p, e in pairs for x in (e.policy, e.penalty)]
    for p in step.parts:  # what has a divisor of its own: that of the whole step
        seeds += [(term.x, ONE) for term in p.own]
        loss, size = loss + own_divisor.paid(p.own), size + own_divisor.paid(p.own, size_of)
    slope, slope_size = gradient(seeds), gradient(seeds, sizes=True)
    return {"loss": {(): (loss, size)},
            "dlogp": {e.place(): (slope.get(e.token.l, ZERO), slope_size.get(e.token.l, ZERO)) for _, e in pairs}}
