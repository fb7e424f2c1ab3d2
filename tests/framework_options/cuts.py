#!/usr/bin/env python3
"""Which objective does a framework's trainer optimise when the same batch is cut into micro-batches and ranks?

    VENV/bin/python tests/framework_options/cuts.py [NAME ...]         runs every setting, or those of the frameworks named
    VENV/bin/python tests/framework_options/cuts.py --markdown [NAME ...]       and writes cuts.json and CUTS.md
    ... --only WORDS                                                   only the settings whose name has these words; the others are kept
    VENV/bin/python tests/framework_options/cuts.py --sources FOLDER [--markdown] [NAME ...]        also those that are not installed
    VENV/bin/python tests/framework_options/cuts.py --planted [NAME ...]        a wrong divisor in a framework's code is noticed
    python3 tests/framework_options/cuts.py --page                     writes CUTS.md from cuts.json (without the frameworks)
    python3 tests/framework_options/cuts.py --check                    is CUTS.md what cuts.json says, and cuts.json of every setting?

VENV is the environment of ../conformance/frameworks.sh, with mpmath and gmpy2; openrlhf and trl also need deepspeed 0.19.6, openrlhf
einops. A framework is a file cut_NAME.py with

    NAME: its name in data/
    SETTINGS: a list of {name, config, where, expected, ...}
    FRAMEWORK, RELEASE, HEAD: its name, its release, and what was replaced, for the page
    PLANTED: a list of (name of a setting, a file of the framework, a text in it, another in its place, the verdict that this must give)
    gradient(config, batch, parts): for each token of the batch, d loss / d its log-probability as the optimiser sees it: after
        accumulation and the reduction over ranks. parts[rank][micro-batch] is a list of responses. Raises Refused if the framework cannot
        cut like that. It may return {"dlogp": rows, "parts": ...} where the framework itself decides the micro-batches, and "dentropy".

config: the options as the framework spells them; those that data/NAME.json does not have are about the cut. expected: a name of FORMULAS.
More, of a setting: window, generation: micro-batches of an optimiser step, and of a generation, where the batch is of several; data:
another file of data/; fields: of the objective, beyond the translated ones; plain: True for batches without masked tokens; silence:
"truncated" if what does not count is truncated instead of masked; distinct: True where the order of equal log-ratios of the sampler would
decide; on_policy: True if the framework takes the new policy for the old one;
of: "dentropy" to compare the gradient by the entropy; own: True if the framework makes the micro-batches itself; arrays: of a batch,
that the framework makes itself; tolerance; note: a sentence for the page. fields and arrays may be functions of a batch, the whole or a
part, where the framework makes them of what it is given, and window one of the number of micro-batches of a rank. FOLDER, or SOURCES in
the environment, has the clones of sources.py.

Every setting is run with the same random batches in every cut of CUTS. The gradient is compared with the oracle's of the translated
objective, for the whole batch of an optimiser step, and with FORMULAS: ways in which it goes wrong. The verdict is the first formula with
which every cut agrees; no such formula, or another one than expected, is a failure. Advantages are the framework's own.
"""
import functools
import importlib
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, os.pardir, "conformance", "adapters"), os.path.join(HERE, os.pardir, "oracle")]
sys.dont_write_bytecode = True

from framework import Refused, generator, holes  # noqa: E402

RESULTS, PAGE = os.path.join(HERE, "cuts.json"), os.path.join(HERE, "CUTS.md")
BATCHES = 2  # for each cut
TOLERANCE = 1e-9  # of the largest gradient
SIZE = 4  # responses of a group


# ---- cuts

class Cut:
    """sizes: how long responses are; silent: the first micro-batch, or rank, in which nothing counts"""
    def __init__(self, name, parts, lengths=lambda i: (1, 6), silent=()):
        self.name, self.parts, self.lengths, self.silent = name, parts, lengths, silent


def runs(*sizes, start=0):
    """Micro-batches of so many responses, one after the other."""
    found = []
    for n in sizes:
        found.append(list(range(start, start + n)))
        start += n
    return found


CUTS = [
    Cut("not cut", [runs(16)]),
    Cut("two micro-batches", [runs(8, 8)]),
    Cut("four micro-batches", [runs(4, 4, 4, 4)]),
    Cut("two ranks", [runs(8), runs(8, start=8)]),
    Cut("two ranks, four micro-batches each", [runs(2, 2, 2, 2), runs(2, 2, 2, 2, start=8)]),
    Cut("two ranks with half of each group, four micro-batches each",
        [[[4 * k, 4 * k + 1] for k in range(4)], [[4 * k + 2, 4 * k + 3] for k in range(4)]]),
    Cut("two ranks, one with the short responses", [runs(8), runs(8, start=8)], lambda i: (1, 2) if i < 8 else (4, 6)),
    Cut("micro-batches of one response", [runs(*[1] * 16)]),
    Cut("four micro-batches with a response of each group", [[list(range(k, 16, 4)) for k in range(4)]]),
    Cut("four micro-batches, nothing counts in one of them", [runs(4, 4, 4, 4)], silent=range(4)),
    Cut("two ranks, nothing counts on one of them", [runs(8), runs(8, start=8)], silent=range(8)),
    Cut("micro-batches of 8, 5 and 3 responses", [runs(8, 5, 3)]),
    Cut("two ranks, one with three micro-batches, one with one", [runs(4, 4, 2), runs(6, start=10)])]


def batch_of(setting, cut, n):
    """A random batch with every array that an objective may read; numbers are multiples of 1/64."""
    rng = generator("cut " + cut.name, n)
    length = [rng.randint(*cut.lengths(i)) for i in range(16)]
    rows = lambda of: [[of() for _ in range(k)] for k in length]
    near = lambda old, s: [[min(x + round(rng.gauss(0, s) * 64) / 64, -1 / 64) for x in row] for row in old]
    some = lambda: [rng.choice([0, 0.25, 0.5, 1]) for _ in length]
    old = rows(lambda: -rng.randint(2, 160) / 64)
    batch = {"group": [i // SIZE for i in range(16)], "length": length, "reward": some(), "logp": near(old, 0.3), "logp_old": old,
             "logp_ref": near(old, 0.3), "logp_rollout": near(old, 0.3), "entropy": rows(lambda: rng.randint(8, 128) / 64),
             "value": rows(lambda: rng.randint(0, 64) / 64), "truncated": [False] * 16, "mask": None}
    holes(rng, batch)
    if setting.get("distinct"):
        batch["logp_rollout"] = [[x - (16 * t + i + 1) / 2 ** 20 for t, x in enumerate(row)] for i, row in enumerate(batch["logp_rollout"])]
    if setting.get("on_policy"):
        batch["logp_old"] = batch["logp"]
    truncating = setting.get("silence") == "truncated"
    batch["truncated"] = [i in cut.silent for i in range(16)] if truncating else batch["truncated"]
    if setting.get("plain"):
        del batch["mask"]
    elif not truncating:
        batch["mask"] = [[x and i not in cut.silent for x in row] for i, row in enumerate(batch["mask"])]
    return batch


# ---- the objective of some of the responses

def options_of_data(setting, name):
    """(data, the part of the configuration that they know)"""
    from options import translate
    data = translate.data_of(setting.get("data", name))
    values, unknown = translate.values_of(data, setting["config"])
    return data, {key: x for key, x in setting["config"].items() if key not in unknown}


def objective_of(setting, name, batch):
    from options import translate
    data, config = options_of_data(setting, name)
    fields, unsaid, _, _ = translate.translate(data, config)
    if unsaid and "fields" not in setting:  # the fields say it
        raise SystemExit(f"{name}, {setting['name']}: {unsaid}")
    return translate.objective_of({**fields, **made(setting.get("fields", {}), batch)})


def made(given, batch):
    return given(batch) if callable(given) else given


@functools.lru_cache(maxsize=4096)
def evaluated(objective, batch):
    import evaluate
    import objectives
    return evaluate.evaluate(objectives.filled(json.loads(objective)), json.loads(batch))[0]


class Whole:
    """The oracle's gradients for responses of a batch, with the advantages of all of it."""
    def __init__(self, setting, name, batch):
        self.setting, self.name, self.of = setting, name, setting.get("of", "dlogp")
        objective = objective_of(setting, name, batch)
        asked = {**objective, "surrogate": {"kind": "reinforce"}, "penalty": {}, "weight": {}}  # for arrays that need advantages
        self.batch = {**batch, "advantage": evaluated(json.dumps(asked, sort_keys=True), json.dumps(batch))["advantage"]}
        self.counted = [sum(row) for row in batch.get("mask") or [[1] * n for n in batch["length"]]]
        if objective.get("weight", {}).get("truncated") == "mask":
            self.counted = [0 if cut else n for n, cut in zip(self.counted, batch["truncated"])]

    def tokens(self, rows):
        return sum(self.counted[i] for i in rows)

    def padded(self, rows):
        return len(rows) * max(self.batch["length"][i] for i in rows)

    def gradient(self, rows):
        """{response: its tokens' derivatives} of the loss of these responses alone"""
        rows = sorted(rows)
        if not self.tokens(rows):
            return {i: [0.0] * self.batch["length"][i] for i in rows}
        part = {key: [x[i] for i in rows] for key, x in self.batch.items()}
        names = sorted(set(part["group"]))
        part["group"] = [names.index(g) for g in part["group"]]
        part.update(made(self.setting.get("arrays", {}), part))
        objective = json.dumps(objective_of(self.setting, self.name, part), sort_keys=True)
        return dict(zip(rows, evaluated(objective, json.dumps(part))[self.of]))


# ---- formulas

class Step:
    """An optimiser step: its micro-batches, and of each those of the generation that it is from."""
    def __init__(self, whole, parts, generation):
        self.whole, self.parts, self.generation = whole, [[part for part in rank if part] for rank in parts], generation
        self.rows = flat(parts)

    def of_generation(self, part):
        """(its tokens, the share of its micro-batches that a step has)"""
        every = self.generation[tuple(part)]
        return self.whole.tokens(flat(every)) or 1, sum(map(len, self.parts)) / sum(map(len, every))


def flat(parts):
    return [i for rank in parts for part in rank for i in part]


def added(step, units):
    """The sum of weight times gradient; units: [(weight, responses)]"""
    found = {}
    for weight, rows in units:
        found.update({i: [weight * x for x in row] for i, row in step.whole.gradient(rows).items()} if rows else {})
    return found


def micro(weight):
    """Every micro-batch is a batch of its own; weight(step, rank, part)"""
    return lambda step: added(step, [(weight(step, rank, part), part) for rank in step.parts for part in rank])


def ranks(weight):
    return lambda step: added(step, [(weight(step, rank), [i for part in rank for i in part]) for rank in step.parts])


def slices(weight):
    """The micro-batches that the ranks run at the same time are a batch."""
    def found(step):
        count = max(len(rank) for rank in step.parts)
        at = [[i for rank in step.parts for i in (rank[k] if k < len(rank) else [])] for k in range(count)]
        return added(step, [(weight(step, rows, count), rows) for rows in at])
    return found


def times(factor):
    return lambda step: added(step, [(factor(step), step.rows)])


def last_only(step):
    """What the last micro-batch of each rank adds to the whole batch."""
    last = {i for rank in step.parts for i in rank[-1]}
    return {i: [x if i in last else 0.0 for x in row] for i, row in step.whole.gradient(step.rows).items()}


def behind(step):
    """Rows of a micro-batch, of a prompt of one token and a response, are padded to an even width, and so many first tokens are lost."""
    lost = {i: -max(3, 1 + max(step.whole.batch["length"][i] for i in part)) % 2 for rank in step.parts for part in rank for i in part}
    return {i: [0.0] * lost[i] + row[lost[i]:] for i, row in step.whole.gradient(step.rows).items()}


count_of = lambda step: sum(map(len, step.parts))
most = lambda step: max(map(len, step.parts))
of_step = lambda step: step.whole.tokens(step.rows) or 1


def in_proportion(step, part):
    tokens, share = step.of_generation(part)
    return step.whole.tokens(part) / tokens / share


FORMULAS = {  # name: (words, its name in DEFECTS.md or "", gradient of a step)
    "whole batch": ("the whole batch", "", times(lambda s: 1)),
    "mean of means": ("the mean of the micro-batches' means", "NORM-08", micro(lambda s, rank, p: 1 / len(s.parts) / len(rank))),
    "mean of all means": ("the mean of the means of the micro-batches of all ranks", "NORM-08", micro(lambda s, r, p: 1 / count_of(s))),
    "mean of ranks": ("the mean of the ranks' means", "PART-01", ranks(lambda s, rank: 1 / len(s.parts))),
    "mean of slices": ("the mean of means, each over the micro-batches of all ranks at the same time", "NORM-08",
                       slices(lambda s, rows, n: 1 / n)),
    "by responses": ("the micro-batches' means, weighted by their responses", "PART-18", micro(lambda s, r, p: len(p) / len(s.rows))),
    "by tokens": ("the micro-batches' means, weighted by their tokens", "", micro(lambda s, r, p: s.whole.tokens(p) / of_step(s))),
    "slices by responses": ("means over the micro-batches of all ranks at the same time, weighted by responses", "PART-18",
                            slices(lambda s, rows, n: len(rows) / len(s.rows))),
    "slices by tokens": ("means over the micro-batches of all ranks at the same time, weighted by tokens", "",
                         slices(lambda s, rows, n: s.whole.tokens(rows) / of_step(s))),
    "ranks by responses": ("the ranks' means, weighted by their responses", "PART-18",
                           ranks(lambda s, rank: sum(map(len, rank)) / len(s.rows))),
    "mean by the most": ("the micro-batches' means, divided by the largest number of them on a rank", "PART-16",
                         micro(lambda s, r, p: 1 / len(s.parts) / most(s))),
    "share of the generation": ("the sum, divided by all tokens of the generation in proportion to the step's micro-batches", "PART-07c",
                                micro(lambda s, r, p: in_proportion(s, p))),
    "tokens of the generation": ("the sum, divided by the tokens of the whole generation", "PART-07",
                                 micro(lambda s, r, p: s.whole.tokens(p) / s.of_generation(p)[0])),
    "sum of means": ("the sum of the micro-batches' means, averaged over ranks", "NORM-10a", micro(lambda s, r, p: 1 / len(s.parts))),
    "sum of slices": ("the sum of means, each over the micro-batches of all ranks at the same time", "NORM-14",
                      slices(lambda s, rows, n: 1)),
    "sum of all means": ("the sum of the micro-batches' means", "NORM-10a", micro(lambda s, r, p: 1)),
    "over ranks": ("the whole batch, divided by the number of ranks", "NORM-09", times(lambda s: 1 / len(s.parts))),
    "times ranks": ("the whole batch, times the number of ranks", "PART-02", times(lambda s: len(s.parts))),
    "over micro-batches": ("the whole batch, divided by the number of micro-batches", "NORM-10", times(lambda s: 1 / most(s))),
    "last only": ("the last micro-batch of each rank, as part of the whole batch: what came before is lost", "PART-28", last_only),
    "first tokens lost": ("the whole batch without the first token of each response in a row of odd width", "", behind),
    "padded": ("the mean over all positions of the micro-batch, averaged", "PART-12",
               micro(lambda s, rank, p: s.whole.tokens(p) / s.whole.padded(p) / len(s.parts) / len(rank)))}


def cut_by(parts, number):
    """So many micro-batches of each rank at a time."""
    longest = max(map(len, parts))
    return [[rank[k:k + (number or longest)] for rank in parts] for k in range(0, longest, number or longest)]


def steps_of(whole, parts, window, generation):
    from_generation = {tuple(part): every for every in cut_by(parts, generation) for rank in every for part in rank}
    return [Step(whole, step, from_generation) for step in cut_by(parts, window)]


def rows_of(formula, whole, steps):
    found = {}
    for step in steps:
        found.update(FORMULAS[formula][2](step))
    return [x for i in range(len(whole.batch["length"])) for x in found.get(i, [0.0] * whole.batch["length"][i])]


# ---- running

def apart(x, y):
    """The distance of two gradients, of the size of the second."""
    size = sum(b * b for b in y) ** 0.5
    far = sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) ** 0.5
    return far / size if size else (0.0 if far == 0 else float("inf"))


def agree(x, y, tolerance):
    largest = max([1e-6] + [abs(b) for b in y])
    return all(abs(a - b) <= tolerance * largest for a, b in zip(x, y, strict=True))


def compared(module, setting, cut, n):
    """(formulas that agree, distance from the whole batch)"""
    batch = batch_of(setting, cut, n)
    of = setting.get("of", "dlogp")
    found = module.gradient(setting["config"], batch, cut.parts)
    found = found if isinstance(found, dict) else {"dlogp": found}
    whole = Whole(setting, module.NAME, batch)
    parts, window = found.get("parts", cut.parts), setting.get("window")
    steps = steps_of(whole, parts, window(max(map(len, parts))) if callable(window) else window, setting.get("generation"))
    theirs = [x for row in found[of] for x in row]
    right = rows_of("whole batch", whole, steps)
    if not any(right):
        raise SystemExit(f"{setting['name']}, {cut.name}, batch {n}: no gradient, with which everything agrees")
    tolerance = setting.get("tolerance", TOLERANCE)
    return {f for f in FORMULAS if agree(theirs, rows_of(f, whole, steps), tolerance)}, apart(theirs, right)


def measured(module, setting):
    """What is kept of a setting."""
    possible, by_cut, refused = set(FORMULAS), {}, {}
    for cut in CUTS:
        if cut.silent and setting.get("plain") and setting.get("silence") != "truncated":
            continue
        try:
            found = [compared(module, setting, cut, n) for n in range(BATCHES)]
        except Refused as why:
            refused[cut.name] = str(why)
            continue
        for formulas, _ in found:
            possible &= formulas
        far = max(x for _, x in found)
        by_cut[cut.name] = 0.0 if all("whole batch" in formulas for formulas, _ in found) else float(f"{far:.2g}")
    verdict = next((f for f in FORMULAS if f in possible), None) if by_cut else None
    return {"name": setting["name"], "config": setting["config"], "where": setting["where"], "note": setting.get("note", ""),
            "own": setting.get("own", False),
            "verdict": verdict, "apart": by_cut, "refused": refused}


def run(name, only=""):
    """(what is kept, passed, failed)"""
    module = importlib.import_module("cut_" + name)
    kept, failed = [], 0
    for setting in [s for s in module.SETTINGS if only in s["name"]]:
        found = measured(module, setting)
        wrong = found["verdict"] is None or found["verdict"] != setting["expected"] or len(found["apart"]) < 3
        failed += wrong
        kept.append(found)
        far = max(found["apart"].values(), default=0)
        print(f"{name}: {setting['name']}: {found['verdict'] or 'unexplained'}, {len(found['apart'])} cuts, at most {far:.2g} apart"
              + f"; expected {setting['expected']}" * wrong, flush=True)
        if wrong:
            print(f"    {found['apart']}", flush=True)
    return {"release": getattr(module, "RELEASE", ""), "framework": getattr(module, "FRAMEWORK", name),
            "head": getattr(module, "HEAD", ""), "settings": kept}, len(kept) - failed, failed


def noticed(name):
    """(passed, failed): with a line of the framework's code changed, PLANTED, another verdict is found. It is changed where it is read."""
    module = importlib.import_module("cut_" + name)
    good = [changes_verdict(name, module, *plant) for plant in module.PLANTED]
    return sum(good), len(good) - sum(good)


def changes_verdict(name, module, setting_name, file, text, other, expected):
    setting = next(s for s in module.SETTINGS if s["name"] == setting_name)
    os.environ["PLANTED"] = json.dumps([file, text, other])
    importlib.import_module("cut_ranks").KEPT.clear()
    found = measured(module, setting)
    good = found["verdict"] == expected != setting["expected"] and len(found["apart"]) >= 3
    far = max(found["apart"].values(), default=0)
    print(f"{name}: {setting_name}, {file} with {other!r} for {text!r}: {found['verdict'] or 'unexplained'}, at most {far:.2g} apart"
          + f"; expected {expected}" * (not good), flush=True)
    return good


# ---- the page

HEAD = """# How trainers cut a batch

Which objective does a trainer optimise when the same batch is cut into micro-batches and ranks? Each setting below was run: the framework's
own loop with its micro-batches, accumulation and division, in one process and in two, with a model that is a table of log-probabilities.
With packed rows, and rows that two processes share (then there are up to four), the framework's own code goes from responses to rows and
from logits to log-probabilities; the model has no attention, so what packing and sequence parallelism do there is not seen.
The gradient that reaches the optimiser was compared with the oracle's of the [translated objective](OPTIONS.md) for the whole batch of the
optimiser step, in up to {cuts} cuts of random batches of 16 responses. [`cuts.py`](cuts.py) says how, and has the list of cuts.

A dash means: the same in every cut. Where it is not, the table names the formula that describes all cuts, with its name in
[DEFECTS.md](../vectors/DEFECTS.md), and says how far the gradient is off in the example, of the length of the right one: in the most
ordinary cut that shows it, and in the worst. These batches are small and their responses unequal, so differences between means are larger
than in training, and shrink as a micro-batch gets more responses; a wrong factor (PART-07) and lost gradients (PART-28) stay.

`cuts.py --markdown` writes this page.

## In short
"""


def percent(x):
    return f"{100 * x:.2g} %" if x < 1 else f"{100 * x:.0f} %"


def changed(found):
    """What changes it, in words."""
    found = {**found, "apart": {cut.name: found["apart"][cut.name] for cut in CUTS if cut.name in found["apart"]}}
    if found.get("own"):  # of the cut only the ranks matter
        found = {**found, "apart": {"one rank" if name == "not cut" else name: x for name, x in found["apart"].items()
                                    if name in ("not cut", "two ranks")}}
    first = next(((name, x) for name, x in found["apart"].items() if x), None)
    if first is None:
        return "-"
    largest = max(found["apart"].items(), key=lambda item: item[1])
    words = f"{first[0]}: {percent(first[1])}"
    return words if largest[0] == first[0] else words + f"; {largest[0]}: {percent(largest[1])}"


def named(found):
    words, defect, _ = FORMULAS[found["verdict"]] if found["verdict"] else ("not explained", "", None)
    return words + (f" ({defect})" if defect else "")


def row(found):
    options = ", ".join(f"`{key}={value}`" for key, value in found["config"].items()) or "the defaults"
    where = ", ".join(f"`{place}`" for place in found["where"].split("; "))
    note = f" {found['note']}" if found["note"] else ""
    return f"| {found['name']} | {options} | {named(found)}.{note} | {changed(found)} | {where} |"


def table(kept):
    other = [found["name"] for found in kept["settings"] if found["verdict"] != "whole batch"]
    every = len(kept["settings"])
    how_many = f"in {every - len(other)} of {every} settings; not: {'; '.join(other)}" if other else f"in all {every} settings"
    short = f"- **{kept['framework']} {kept['release']}**: the same gradient for every cut {how_many}."
    told = [f"## {kept['framework']} {kept['release']}", "", *([kept["head"], ""] if kept.get("head") else []),
            "| setting | options | the gradient is that of | what changes it, by how much | where |", "|---|---|---|---|---|"]
    return short, "\n".join(told + [row(found) for found in kept["settings"]]) + "\n"


def page(results):
    found = [table(kept) for _, kept in sorted(results.items())]
    return HEAD.format(cuts=len(CUTS)) + "\n" + "\n".join(short for short, _ in found) + "\n\n" + "\n".join(text for _, text in found)


def results():
    if not os.path.exists(RESULTS):
        return {}
    with open(RESULTS, encoding="utf-8") as f:
        return json.load(f)


def unmeasured(kept):
    """Settings of the files that have no result, and results without a setting."""
    for name, found in kept.items():
        yield from {s["name"] for s in importlib.import_module("cut_" + name).SETTINGS} ^ {s["name"] for s in found["settings"]}


def check():
    for name in unmeasured(results()):
        print(f"{name}: a setting without a result, or a result without one: cuts.py --markdown")
        return False
    with open(PAGE, encoding="utf-8") as f:
        return f.read() == page(results())


def write(kept):
    with open(RESULTS, "w", encoding="utf-8") as f:
        f.write(json.dumps(kept, indent=1) + "\n")
    write_page(kept)


def write_page(kept):
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(page(kept))


def merged(old, new):
    """With the settings that were run, new ones too, in the order of their file; those that it no longer has are left out."""
    for name, kept in new.items():
        by_name = {found["name"]: found for found in old[name]["settings"] + kept["settings"]}
        order = [setting["name"] for setting in importlib.import_module("cut_" + name).SETTINGS]
        old[name] = {**kept, "settings": [by_name[setting] for setting in order if setting in by_name]}
    return old


def names():
    from random_configurations import FROM_SOURCES
    found = sorted(name[4:-3] for name in os.listdir(HERE) if name.startswith("cut_") and name.endswith(".py"))
    return [name for name in found if name not in ("ranks", "fsdp") and ("SOURCES" in os.environ or name not in FROM_SOURCES)]


def main(arguments):
    if arguments == ["--check"]:
        good = check()
        print("1 passed, 0 failed" if good else "CUTS.md is not what cuts.json and the settings say\n0 passed, 1 failed")
        return int(not good)
    if arguments == ["--page"]:
        write_page(results())
        return 0
    if arguments[:1] == ["--sources"]:
        os.environ["SOURCES"], arguments = arguments[1], arguments[2:]
    if arguments[:1] == ["--planted"]:
        counts = [noticed(name) for name in arguments[1:] or names()]
        print(f"{sum(good for good, _ in counts)} passed, {sum(wrong for _, wrong in counts)} failed")
        return int(any(wrong for _, wrong in counts))
    markdown, only = "--markdown" in arguments, ""
    arguments = [a for a in arguments if a != "--markdown"]
    if "--only" in arguments:
        at = arguments.index("--only")
        only, arguments = arguments[at + 1], arguments[:at] + arguments[at + 2:]
    kept, passed, failed = {}, 0, 0
    for name in arguments or names():
        kept[name], good, wrong = run(name, only)
        passed, failed = passed + good, failed + wrong
    if markdown:
        write(merged(results(), kept) if only else {**results(), **kept})
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
