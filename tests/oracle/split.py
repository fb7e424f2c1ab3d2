"""Optimiser steps in parts: micro-batches whose gradients are added, on ranks whose gradients are averaged or added.

The right answer is that of the whole step: every token has its coefficient of the whole step. If gradients are averaged over ranks, the
coefficient is multiplied by their number, because the average divides by it.
"""
import json

import evaluate
from autodiff import Var, gradient, size as size_of, value
from axes import own_divisor, ratio
from limits import ONE, ZERO
from reals import mpf

PER_GROUP = ("baseline", "log_partition")
AS_THEY_ARE = ("reward_weight",)
PER_RESPONSE = ("group", "length", "reward", "rewards", "truncated", "excluded")  # the other arrays have rows of tokens


COUNTS = ("part_tokens", "part_sequences", "part_groups", "slice_tokens")  # outputs whose scale is 0
LISTS = (*COUNTS, "part_sum", "part_loss", "slice_log_ratio")  # a number for each part, or for each of the ranges of `tokens`


# ---- the parts

def ranges(raw, part):
    """[(response, begin, end)] of a part, in order."""
    if "tokens" in part:
        return [tuple(x) for x in part["tokens"]]
    if "groups" in part:
        responses = [i for g in part["groups"] for i, of in enumerate(raw["group"]) if of == g]
    else:
        responses = part["responses"] if "responses" in part else [i for row in part["rows"] for i in row]
    return [(i, 0, raw["length"][i]) for i in responses]


class Part:
    """The tokens of one backward pass."""

    def __init__(self, index, raw, part):
        self.index, self.rank, self.step = index, part["rank"], part.get("step", 0)
        self.rows, self.ranges = part.get("rows"), ranges(raw, part)
        self.places = [(i, t) for i, begin, end in self.ranges for t in range(begin, end)]
        self.holds, self.responses = set(self.places), sorted({i for i, _, _ in self.ranges})
        self.cut = "tokens" in part


def restricted(raw, tokens):
    """The batch restricted to {response: its tokens}, and its responses in order."""
    order = sorted(tokens, key=lambda i: (raw["group"][i], i))
    groups = sorted({raw["group"][i] for i in order})

    def of(key, x):
        if key in AS_THEY_ARE:
            return x
        if key in PER_GROUP:
            return [x[g] for g in groups]
        rows = [x[i] for i in order]
        return rows if key in PER_RESPONSE else [[row[t] for t in tokens[i]] for i, row in zip(order, rows)]

    batch = {key: of(key, x) for key, x in raw.items()}
    batch["group"] = [groups.index(raw["group"][i]) for i in order]
    batch["length"] = [len(tokens[i]) for i in order]
    return batch, order


class Piece:
    """A summand of x with its own coefficient and its derivatives {place: (slope, size)}; which: policy term, KL or entropy."""

    def __init__(self, which, x, place_of):
        slope, sizes = gradient([(x, ONE)]), gradient([(x, ONE)], sizes=True)
        self.which, self.value, self.size = which, value(x), size_of(x)
        self.slopes = {place_of[l]: (slope.get(l, ZERO), sizes[l]) for l in sizes if l in place_of}


class Term:
    """x of a token, in pieces."""

    def __init__(self, e, place_of):
        self.pieces = [Piece(which, x, place_of) for which, (x, _) in enumerate(e) if isinstance(x, Var) or x != 0]


def coefficient_of(e, which):
    return [c for _, c in e][which]


class Summand:
    """The token of a piece, and the coefficient of the piece in the whole step."""

    def __init__(self, e, which):
        self.token, self.which, self.c = e.token, which, coefficient_of(e, which)


class Evaluated:
    """The numbers computed from a batch of these tokens alone."""

    def __init__(self, objective, raw, places):
        tokens = {}
        for i, t in sorted(places):
            tokens.setdefault(i, []).append(t)
        batch, order = restricted(raw, tokens)
        self.batch = evaluate.Batch(batch)
        for s in self.batch.sequences:
            for token in s.unmasked:
                token.place = order[s.index], tokens[order[s.index]][token.t]
        found, _ = evaluate.entries_of(objective, self.batch)
        self.own = own_divisor.terms(objective, self.batch)
        self.entries, self.place_of, self.log_ratio = {}, {}, {}
        for s in self.batch.sequences:
            for token in s.unmasked:
                self.place_of[token.l] = token.place
        for e in found:
            self.entries[e.token.place] = e
            if evaluate.needs_ratio(objective):
                self.log_ratio[e.token.place] = value(ratio.log_ratio(objective["ratio"], e.token))
        self.responses = order
        self.active = {i: sum(1 for j, _ in self.entries if j == i) for i in order}

    def terms(self):
        return {at: Term(e, self.place_of) for at, e in self.entries.items()}


class Step:
    """One optimiser step: the parts whose gradients are added up."""

    def __init__(self, cut, number):
        self.cut, self.number = cut, number
        self.objective, self.raw, self.ranks = cut.objective, cut.raw, cut.ranks
        self.parts = [p for p in cut.parts if p.step == number]
        self.places = [place for p in self.parts for place in p.places]
        self.whole = self.alone(self.places)
        self.terms = self.whole.terms()
        made_from = [[self.whole.place_of[l] for l in gradient([(term.x, ONE)]) if l in self.whole.place_of] for term in self.whole.own]
        self.own = [(term, min(places)) for term, places in zip(self.whole.own, made_from) if places]

    def alone(self, places):
        """The numbers that a program computes from these tokens alone."""
        return self.cut.evaluated(places)

    def on_rank(self, rank):
        return [p for p in self.parts if p.rank == rank]

    def counts(self, i):
        """Is the response counted in the divisor?"""
        return self.objective["aggregation"]["empty_sequences"] == "keep" or self.whole.active[i] > 0

    def counts_group(self, g):
        return any(self.counts(i) for i in self.whole.responses if self.raw["group"][i] == g)


class Cut:
    def __init__(self, objective, raw, case):
        self.objective, self.raw, self.ranks = objective, raw, case["ranks"]
        self.averaged = case.get("reduce", "mean") == "mean"
        self.context = case.get("context_ranks", 1)
        self.parts = [Part(k, raw, p) for k, p in enumerate(case["parts"])]
        self.filtered = case.get("filtered", ())
        self.seen = {}
        self.steps = [Step(self, k) for k in sorted({p.step for p in self.parts})]

    def evaluated(self, places):
        key = frozenset(places)
        if key not in self.seen:
            self.seen[key] = Evaluated(self.objective, self.raw, places)
        return self.seen[key]

    def pairs(self):
        """(step, part) of all parts, in order."""
        step_of = {p.index: step for step in self.steps for p in step.parts}
        return [(step_of[p.index], p) for p in self.parts]

    @property
    def factor(self):
        """The factor of a rank's loss that the reduction cancels: the number of ranks if it averages, else 1."""
        return self.ranks if self.averaged else 1


_last = (None, None)


def cut_of(objective, raw, case):
    """The unchanged cut, cached: each mistake starts from it."""
    global _last
    key = json.dumps([objective, raw, {k: case[k] for k in ("parts", "ranks", "reduce", "context_ranks", "filtered") if k in case}])
    if _last[0] != key:
        _last = (key, Cut(objective, raw, case))
    return _last[1]


# ---- the steps of a program for a part; mistakes replace these functions

def share(step, part, e):
    """The coefficient of a piece of a token's x in the differentiated loss of its part; e: Summand"""
    return e.c * step.cut.factor


def logged(step, part, e):
    """The same for the logged loss."""
    return share(step, part, e)


def terms(step):
    """{place: Term}"""
    return step.terms


def tokens_of(step, part):
    return sum(1 for place in part.places if place in step.whole.entries)


def responses_of(step, part):
    """The number of responses whose first token is in the part: each counts once, also if it is cut."""
    return sum(1 for i, t in part.places if t == 0 and step.counts(i))


def groups_of(step, part):
    """The number of groups whose first response counts in the part."""
    group, first = step.raw["group"], {}
    for i in step.whole.responses:
        first.setdefault(group[i], i)
    return sum(1 for i, t in part.places if t == 0 and first[group[i]] == i and step.counts_group(group[i]))


def own_terms(step, part):
    """[(term, its factor, {variable: place})] of the penalties with a divisor of their own; each belongs to the part of the first token it
    reads."""
    return [(term, ONE, step.whole.place_of) for term, place in step.own if place in part.holds]


def slopes_of(step, part, x):
    """The derivatives of a piece in this part's backward pass."""
    return x.slopes


# ---- the answers

def own_of(step, part):
    """The sum of the penalties with a divisor of their own, and its size."""
    return tuple(sum((c * measure(term.x) for term, c, _ in own_terms(step, part)), ZERO) for measure in (value, size_of))


def pieces_of(step, part, found):
    """[(piece, its summand)] of the tokens of a part; found: {place: Term}"""
    return [(piece, Summand(step.whole.entries[place], piece.which)) for place in part.places if place in step.whole.entries
            for piece in found[place].pieces]


def of_part(step, part):
    """(sum of x, differentiated loss), each with its size."""
    pairs = [(piece, share(step, part, e)) for piece, e in pieces_of(step, part, terms(step))]
    own, factor = own_of(step, part), step.cut.factor
    plain = sum((x.value for x, _ in pairs), ZERO), sum((x.size for x, _ in pairs), ZERO)
    handed = (sum((c * x.value for x, c in pairs), ZERO) + factor * own[0],
              sum((abs(c) * x.size for x, c in pairs), ZERO) + factor * own[1])
    return plain, handed


def loss_of(step):
    """The logged loss of the step."""
    found, factor = terms(step), mpf(step.cut.factor)
    total, size = ZERO, ZERO
    for part in step.parts:
        for piece, e in pieces_of(step, part, found):
            c = logged(step, part, e) / factor
            total, size = total + c * piece.value, size + abs(c) * piece.size
        own = own_of(step, part)
        total, size = total + own[0], size + own[1]
    return total, size


def gradient_of(step):
    """{place: (dL/dl, its size)} of the step's tokens."""
    found, factor = terms(step), mpf(step.cut.factor)
    slopes = {place: (ZERO, ZERO) for place in step.whole.entries}

    def add(place, x, size):
        slopes[place] = slopes[place][0] + x, slopes[place][1] + size

    for part in step.parts:
        for piece, e in pieces_of(step, part, found):
            c = share(step, part, e) / factor
            for at, (x, size) in slopes_of(step, part, piece).items():
                add(at, c * x, abs(c) * size)
        for term, c, place_of in own_terms(step, part):
            sizes = gradient([(term.x, c)], sizes=True)
            for l, x in gradient([(term.x, c)]).items():
                if l in place_of:
                    add(place_of[l], x, sizes[l])
    return slopes


def reports_log_ratio(objective):
    """Can the ratio of a response be computed from the sums of its slices' log-ratios?"""
    r = objective["ratio"]
    return (r["level"] in ("sequence_mean", "sequence_sum") and r["clamp_low"] == 0 == r["clamp_high"]
            and r["behaviour"] in ("old", "rollout"))


def slices(cut):
    """(step, part, active places of the range) of every range of every part that lists tokens."""
    return [(step, part, [(i, t) for t in range(begin, end) if (i, t) in step.whole.entries])
            for step, part in cut.pairs() if part.cut for i, begin, end in part.ranges]


def answers(objective, raw, case):
    """{name: {place: (number, scale)}}, unrounded. case: parts, ranks and the other keys of the cut."""
    cut = cut_of(objective, raw, case)
    losses, slopes = [loss_of(step) for step in cut.steps], {}
    for step in cut.steps:
        slopes.update(gradient_of(step))
    pairs = cut.pairs()
    sums = [of_part(step, p) for step, p in pairs]
    found = {"loss": {(): (sum((x for x, _ in losses), ZERO), sum((size for _, size in losses), ZERO))},
             "dlogp": slopes,
             "part_tokens": [(mpf(tokens_of(*pair)), ZERO) for pair in pairs],
             "part_sequences": [(mpf(responses_of(*pair)), ZERO) for pair in pairs],
             "part_groups": [(mpf(groups_of(*pair)), ZERO) for pair in pairs],
             "part_sum": [plain for plain, _ in sums],
             "part_loss": [handed for _, handed in sums]}
    pieces = slices(cut)
    if pieces:
        found["slice_tokens"] = [(mpf(len(places)), ZERO) for _, _, places in pieces]
        if reports_log_ratio(objective):
            d = [[step.whole.log_ratio[place] for place in places] for step, _, places in pieces]
            found["slice_log_ratio"] = [(sum(x, ZERO), sum(map(abs, x), ZERO)) for x in d]
    return {name: dict(((k,), x) for k, x in enumerate(of)) if isinstance(of, list) else of for name, of in found.items()}


def laid_out(lengths, name, found):
    """The answer in its shape in the vectors: a number, rows of tokens or a list."""
    return [found[(k,)] for k in range(len(found))] if name in LISTS else evaluate.laid_out(lengths, name, found)
