"""One case, answered as a program under test answers it: the advantages from the rewards, everything else from exact advantages.

A mistake (defects/) changes the attempt before it runs: the objective, the inputs, a function of the oracle, or the answers.
"""
import itertools
import math

import autodiff
import evaluate
import limits
import logits_path
import reals
import split
from axes import ratio, report, surrogate, weight
from limits import Undefined, settle, to_double
from reals import mpf


def copied(x):
    """A deep copy of JSON data."""
    if isinstance(x, dict):
        return {key: copied(v) if isinstance(v, (dict, list)) else v for key, v in x.items()}
    if not isinstance(x, list):
        return x
    return [copied(v) for v in x] if x and isinstance(x[0], (list, dict)) else x[:]


def numbers(x):
    """A copy of answers from the vectors, in which the strings for infinities and NaN are numbers."""
    if isinstance(x, dict):
        return {key: numbers(v) for key, v in x.items()}
    if isinstance(x, list):
        return [numbers(v) for v in x]
    return float(x) if isinstance(x, str) else x


class Attempt:
    def __init__(self, case, advantage=None):
        """case: kind and input, as in the vectors; advantage: rows for the loss, where the batch gives none."""
        self.kind = case.get("kind", "objective")
        self.case = case
        self.swaps = []
        self.last = []
        self.outputs = None  # the outputs that the mistake changes; None: all
        self.given = advantage
        if self.kind in ("logits", "hidden"):
            self.case = copied(case)
            self.objective = self.case.get("objective")
            return
        self.objective = copied(case["objective"])
        self.first = copied(case["batch"])  # input of the advantages
        self.second = copied(case["batch"])  # input of the loss
        if advantage is not None:
            self.second["advantage"] = copied(advantage)

    # ---- the changes that a mistake can make

    def choose(self, axis, **fields):
        """Replaces a choice of the objective."""
        for field, choice in fields.items():
            if field not in self.objective[axis]:
                raise KeyError((axis, field))
            self.objective[axis][field] = choice

    def swap(self, owner, name, f):
        """Replaces a function of a module, or of a table of choices."""
        self.swaps.append((owner, name, lambda original: f))

    def around(self, owner, name, f):
        """The same, where the new function also gets the original one: f(original, ...)."""
        self.swaps.append((owner, name, lambda original: lambda *args: f(original, *args)))

    def entries(self, f):
        """f(entries, batch, objective) changes the entries of the loss; it may return another list."""
        def changed(original, objective, batch):
            entries, rejected = original(objective, batch)
            return f(entries, batch, objective) or entries, rejected
        self.around(evaluate, "entries_of", changed)

    def reported(self, f):
        """f(report, entries, batch, objective) changes the report: {name: number}."""
        def changed(original, objective, batch, entries, rejected):
            found = original(objective, batch, entries, rejected)
            plain = {name: x for name, (x, _) in found.items()}
            f(plain, entries, batch, objective)
            return {name: (x, found[name][1]) for name, x in plain.items()}
        self.around(report, "report", changed)
        self.outputs = ("report",)

    def answered(self, f, *outputs):
        """f(answers) changes the finished answers."""
        self.last.append(f)
        self.outputs = outputs or self.outputs

    def masks(self, f):
        """Replaces the mask of response i by f(i, mask)."""
        self.reads_masked()
        for raw in (self.first, self.second):
            mask = raw.get("mask") or [[True] * T for T in raw["length"]]
            raw["mask"] = [f(i, list(row)) for i, row in enumerate(mask)]

    def with_ghosts(self):
        """Masked tokens are read as well, into `sequence.ghosts`."""
        self.reads_masked()
        self.swap(evaluate, "Sequence", Haunted)

        def living(original, objective, batch, entries, rejected):
            return original(objective, batch, [e for e in entries if not isinstance(e, Ghost)], rejected)
        self.around(report, "report", living)

    def reads_masked(self):
        """Masked tokens are read. NaN and infinities there are those of binary64, not limits."""
        rows = [row for raw in (self.first, self.second) if "mask" in raw for key in raw for row in raw[key]
                if isinstance(row, list)]
        if any(x in ("NaN", "Infinity") for row in rows for x in row):
            self.ieee()

    def ieee(self):
        """Infinities, overflow, and a gradient through both branches of min and max, as in a naive binary64 program."""
        self.swap(evaluate, "number", naive_number)
        for module in (limits, weight, report):
            self.swap(module, "exp", naive_exp)
        for module in (autodiff, surrogate, ratio):
            self.swap(module, "minimum", naive_minimum)
            self.swap(module, "maximum", naive_maximum)
        self.swap(weight, "outside", naive_outside)

    # ---- running it

    def run(self, stages=("advantage", "loss"), enough=lambda name, answer: False):
        """{output: answer}, in order, up to the first for which `enough` holds; all of them if the mistake edits finished answers."""
        answers = self.known(stages) if self.last and self.is_right() else self.computed(stages, enough)
        for f in self.last:
            f(answers)
        return answers

    def is_right(self):
        """Is nothing changed yet, so that the answers of the case are those of this attempt?"""
        if self.kind in ("logits", "hidden") or self.swaps or "expect" not in self.case:
            return False
        batch = self.case["batch"]
        return self.objective == self.case["objective"] and self.first == batch and all(
            rows == batch.get(key, self.given if key == "advantage" else None) for key, rows in self.second.items())

    def known(self, stages):
        made = ("advantage", "dynamic_sampling_mask")
        return {name: numbers(x) for name, x in self.case["expect"].items()
                if self.kind != "objective" or ("advantage" if name in made else "loss") in stages}

    def computed(self, stages, enough):
        undo, answers = [], {}
        try:
            for owner, name, make in self.swaps:
                table = owner if isinstance(owner, dict) else vars(owner)
                undo.append((table, name, table[name]))
                table[name] = make(table[name])
            parts = [self.rewarded(stages), self.judged(stages)] if self.kind == "objective" else [self.beside()]
            for name, answer in itertools.chain(*parts):
                answers[name] = answer
                if not self.last and enough(name, answer):
                    break
        finally:
            for table, name, original in reversed(undo):
                table[name] = original
        return answers

    def beside(self):
        if self.kind in ("logits", "hidden"):
            for name, found in logits_path.answers(self.case).items():
                yield name, logits_path.each(told, found)
        else:
            for name, found in split.answers(self.objective, self.second, self.case).items():
                yield name, split.laid_out(self.case["batch"]["length"], name, {k: told(*x) for k, x in found.items()})

    def rewarded(self, stages):
        if "advantage" in stages and "advantage" not in self.first:
            sized = evaluate.given_or_computed_advantages(self.objective, evaluate.Batch(self.first))
            yield "advantage", self.told("advantage", evaluate.credited(sized))
        if "advantage" in stages and "reward" in self.first:
            yield "dynamic_sampling_mask", evaluate.informative(evaluate.Batch(self.first))

    def judged(self, stages):
        if "loss" in stages:
            for name, find in evaluate.outputs(self.objective, evaluate.Batch(self.second)):
                if self.last or name in (self.outputs or (name,)):
                    yield name, self.told(name, find())

    def told(self, name, found):
        return evaluate.laid_out(self.case["batch"]["length"], name, {k: told(*x) for k, x in found.items()})


def told(x, size):
    """Rounded to a binary64, which may be NaN."""
    if limits.magnitude(x) is None and not isinstance(x, limits.Growth) and (x != x or abs(x) == math.inf):
        return float(x)
    if limits.magnitude(size) is not None or isinstance(size, limits.Growth) or size == size and size != math.inf:
        x = settle(x, size)
        if evaluate.beyond(size) and evaluate.beyond(size + x) and evaluate.beyond(size - x):
            raise Undefined("overflow of both signs in one sum")
    return to_double(x)


def right(case, advantage=None, stages=("advantage", "loss")):
    return Attempt(case, advantage).run(stages)


# ---- masked tokens that are read

class Haunted(evaluate.Sequence):
    def __init__(self, batch, i):
        super().__init__({key: rows for key, rows in batch.items() if key != "mask"}, i)
        counts = batch["mask"][i] if "mask" in batch else [True] * self.length
        self.every = self.unmasked
        self.unmasked = [t for t in self.every if counts[t.t]]
        self.ghosts = [t for t in self.every if not counts[t.t]]


class Ghost(evaluate.Entry):
    """The entry of a masked token that is in the loss by mistake; it is not in the report."""


# ---- naive arithmetic in binary64

LARGEST = mpf(2) ** 1024 - mpf(2) ** 970
SMALLEST = mpf(2) ** -1075


def naive_number(x):
    return mpf({"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}.get(x, x))


def naive_exp(x):
    y = reals.exp(x)
    return mpf("inf") if y > LARGEST else mpf(0) if y < SMALLEST else y


def naive_choice(x, y, first):
    """A min or max of which both arguments stay in the graph; the gradient of the one not taken is 0 times its slope."""
    taken = autodiff.value(x) if first else autodiff.value(y)
    parents = [(v, mpf(slope)) for v, slope in ((x, first), (y, not first)) if isinstance(v, autodiff.Var)]
    return autodiff.Var(taken, parents) if parents else taken


def naive_minimum(x, y):
    return naive_choice(x, y, not autodiff.value(y) < autodiff.value(x))


def naive_maximum(x, y):
    return naive_choice(x, y, not autodiff.value(x) < autodiff.value(y))


def naive_outside(choice, v):
    low, high = weight.band(choice)
    return choice["rollout_is"] in ("mask", "reject") and not low <= v <= high


# ---- narrower formats

BITS = {"bf16": 8, "f16": 11, "f32": 24}


def narrow(kind, x):
    """x rounded to nearest, ties to even, to the precision (not the range) of a format. Infinities stay."""
    if isinstance(x, limits.Growth):
        return x
    return reals.narrowed(x, BITS[kind])
