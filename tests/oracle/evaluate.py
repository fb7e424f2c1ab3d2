"""One case: the answers of an objective on a batch, and the scale of each.

L = sum over active tokens of c_it x_it, x_it = v_it S_it + P_it.
"""
from mpmath import mpf

from autodiff import Var, gradient, value
from axes import advantage as advantage_axis
from axes import aggregation, penalty, ratio, weight
from axes import report as report_axis
from axes.surrogate import surrogate
from limits import ONE, ZERO, Undefined, number, settle, to_double


class Token:
    """A token whose mask is true; fields that the batch lacks are None."""

    def __init__(self, sequence, t, row):
        self.sequence, self.t = sequence, t
        self.l = Var(row("logp"))
        self.o, self.f, self.b = row("logp_old"), row("logp_ref"), row("logp_rollout")
        self.entropy, self.value = row("entropy"), row("value")
        self.step_reward = row("step_reward")
        self.advantage = row("advantage")


class Sequence:
    def __init__(self, batch, i):
        self.index, self.group, self.length = i, batch["group"][i], batch["length"][i]
        self.reward = mpf(batch["reward"][i]) if "reward" in batch else None
        self.truncated = "truncated" in batch and batch["truncated"][i]
        self.unmasked = []
        for t in range(self.length):
            if "mask" in batch and not batch["mask"][i][t]:
                continue  # whatever its slots hold is never read
            token = Token(self, t, lambda key: number(batch[key][i][t]) if key in batch else None)
            token.step_end = "step_end" in batch and batch["step_end"][i][t]
            self.unmasked.append(token)


class Batch:
    def __init__(self, batch):
        self.have = set(batch)
        self.sequences = [Sequence(batch, i) for i in range(len(batch["group"]))]
        self.groups = batch["group"][-1] + 1
        self.baseline = [mpf(b) for b in batch.get("baseline", [])]


class Entry:
    """What an active token adds to the loss."""

    def __init__(self, token, v, c, y, w, policy, paid):
        self.token, self.v, self.c, self.y, self.w = token, v, c, y, w
        self.policy, self.penalty = policy, paid
        self.x = policy + paid


def entries_of(objective, batch):
    weighed = [weight.weigh(objective["weight"], s) for s in batch.sequences]
    totals = aggregation.Totals(objective["aggregation"], [len(kept) for kept, _ in weighed],
                                [s.group for s in batch.sequences], batch.groups)
    entries = []
    for sequence, (kept, _) in zip(batch.sequences, weighed):
        if not kept:
            continue
        c = aggregation.coefficient(objective["aggregation"], totals, sequence)
        tokens = [t for t, _ in kept]
        if report_axis.uses_ratio(objective):
            ys = ratio.log_units(objective["ratio"], tokens)
            ws = ratio.ratios(ys)
        else:
            ys, ws = [ZERO] * len(kept), [ONE] * len(kept)
        for (token, v), y, w in zip(kept, ys, ws):
            policy = v * surrogate(objective["surrogate"], token.advantage, w, y, token.l)
            paid = penalty.penalty(objective["penalty"], objective["ratio"], token, w)
            entries.append(Entry(token, v, c, y, w, policy, paid))
    return entries, sum(rejected for _, rejected in weighed)


def given_or_computed_advantages(objective, batch):
    """{token: Sized}, and the advantages placed on the tokens."""
    if "advantage" in batch.have:
        return None
    found = advantage_axis.advantages(objective["advantage"], objective["reward"], batch)
    for t, a in found.items():
        t.advantage = a.value
    return found


def loss(objective, raw):
    """L alone, unrounded: what the self check differentiates by finite differences."""
    batch = Batch(raw)
    given_or_computed_advantages(objective, batch)
    entries, _ = entries_of(objective, batch)
    return sum((e.c * value(e.x) for e in entries), ZERO)


def beyond(x):
    return abs(to_double(x)) == float("inf")


def pinned(x, size):
    """The rounded answer. A sum with overflowing terms of both signs has no answer that an evaluation in binary64 could find."""
    x = settle(x, size)
    if beyond(size) and beyond(size + x) and beyond(size - x):
        raise Undefined("overflow of both signs in one sum")
    return to_double(x)


def grid(batch, found, empty=0.0):
    return [[found.get((s.index, t), empty) for t in range(s.length)] for s in batch.sequences]


def evaluate(objective, raw):
    """(expect, scale) as plain floats."""
    batch = Batch(raw)
    sized = given_or_computed_advantages(objective, batch)
    entries, rejected = entries_of(objective, batch)
    expect, scale = {}, {}

    if sized is not None:
        at = {(t.sequence.index, t.t): a for t, a in sized.items()}
        expect["advantage"] = grid(batch, {k: pinned(a.value, a.size) for k, a in at.items()})
        scale["advantage"] = grid(batch, {k: to_double(a.size) for k, a in at.items()})
    if "reward" in raw:
        expect["informative"] = [len({s.reward for s in batch.sequences if s.group == g}) > 1 for g in range(batch.groups)]

    key = {e: (e.token.sequence.index, e.token.t) for e in entries}
    sizes = {e: abs(value(e.policy)) + abs(value(e.penalty)) for e in entries}
    total = sum((e.c * value(e.x) for e in entries), ZERO)
    total_size = sum((e.c * sizes[e] for e in entries), ZERO)
    expect["loss"], scale["loss"] = pinned(total, total_size), to_double(total_size)
    expect["term"] = grid(batch, {key[e]: pinned(value(e.x), sizes[e]) for e in entries})
    scale["term"] = grid(batch, {key[e]: to_double(sizes[e]) for e in entries})

    # v S and P are separate roots, so the sizes add what the definition adds
    seeds = [(part, e.c) for e in entries for part in (e.policy, e.penalty)]
    slope, slope_size = gradient(seeds), gradient(seeds, sizes=True)
    expect["dlogp"] = grid(batch, {key[e]: pinned(slope.get(e.token.l, ZERO), slope_size.get(e.token.l, ZERO)) for e in entries})
    scale["dlogp"] = grid(batch, {key[e]: to_double(slope_size.get(e.token.l, ZERO)) for e in entries})

    report = report_axis.report(objective, batch, entries, rejected)
    expect["report"] = {name: pinned(x, size) for name, (x, size) in report.items()}
    scale["report"] = {name: to_double(size) for name, (_, size) in report.items()}
    return expect, scale
