"""Configurations of frameworks against the objectives they translate to: the defaults, and random ones; against_frameworks.py runs this.

Each framework is in a file of its own, run_*.py. Its Drawer says in which range a number is drawn, and which options are left at their
defaults and why. Two runs draw the same configurations. A configuration that does not agree is shown with the options that matter. A
configuration that the framework refuses, or whose loss is 0 divided by 0 on the batch, is counted and not compared.

The batches have masked tokens, truncated responses (except for verl) and for verl groups of one to four responses; they are one micro-batch
of one step. Compared are the advantages of the tokens that count, the loss, and its gradients by the log-probabilities and the entropy, in
float64: code that asks for float32 gets float64. The bounds are those of Framework.tolerance.
"""
import copy
import importlib
import json
import sys

from framework import Refused, generator
from options import translate

BATCHES, CONFIGURATIONS = 50, 200
# run_*.py; in this order, as their stand-ins differ
INSTALLED = ("trl", "verl", "openrlhf", "ms_swift", "trl_trainers", "areal", "skyrl", "unsloth", "trinity", "tunix", "art")
FROM_SOURCES = ("slime", "nemo_rl", "prime_rl", "open_instruct", "roll")  # those that are not installed: sources.py

FRAMEWORKS = {}  # name: Framework


def load(modules):
    for name in modules:
        FRAMEWORKS.update(importlib.import_module("run_" + name).FRAMEWORKS)


# ---- against ours

def differs(ours, scale, theirs, bound):
    """None, or what is apart: the loss by more than `bound` times its scale (the sum of the absolute terms, at least 1e-6), a gradient or
    an advantage by more than `bound` times the largest."""
    flat = lambda rows: [x for row in rows for x in row]
    if not abs(ours["loss"] - theirs["loss"]) <= bound * max(scale["loss"], 1e-6):
        return f"loss apart by {abs(ours['loss'] - theirs['loss']):.3g}, of {scale['loss']:.3g}"
    pairs = [("advantage", flat(ours["advantage"]), flat(theirs["advantage"])), ("gradient", flat(ours["dlogp"]), flat(theirs["dlogp"]))]
    nothing = [[0] * len(row) for row in ours["dlogp"]]
    pairs.append(("gradient of the entropy", flat(ours.get("dentropy", nothing)), flat(theirs["dentropy"])))
    for what, x, y in pairs:
        both = [(p, q) for p, q in zip(x, y, strict=True) if q is not None]
        apart, largest = [abs(p - q) for p, q in both], max([1e-2] + [abs(p) for p, _ in both])
        if not all(d <= bound * largest for d in apart):  # not of the largest: max() passes over a NaN
            return f"{what} apart by {max(apart):.3g}" + ", a NaN" * any(d != d for d in apart)
    return None


def evaluate(objective, batch):
    """(answers, their scales) of the oracle."""
    import evaluate as oracle
    import objectives
    return oracle.evaluate(objectives.filled(objective), batch)


def compared(name, drawer, config, batch):
    """None, or what is apart."""
    run = FRAMEWORKS[name].run
    try:
        theirs, batch = run(config, dict(batch))
    except Refused:
        raise
    except Exception as why:  # of the framework's own code
        return f"the framework ends in {type(why).__name__}: {why}"
    try:
        ours, scale = evaluate(translate.objective_of(translate.translate(drawer.data, config)[0]), batch)
    except Exception as why:  # the oracle raises several kinds
        return f"the oracle refuses: {type(why).__name__}: {why}"
    return differs(ours, scale, theirs, FRAMEWORKS[name].tolerance)


def fails(name, drawer, n):
    """configuration -> what is apart, on the batch of the n-th configuration"""
    return lambda config: compared(name, drawer, config, FRAMEWORKS[name].batch(generator(name + " batch", n), config))


def configurations(name, drawer):
    """Yields (number, configuration): CONFIGURATIONS drawn freely, then more with the values that fewer than `times` had (None: none was
    found)."""
    for n in range(CONFIGURATIONS):
        yield n, drawer.draw(generator(name, n))
    n = CONFIGURATIONS
    for place in drawer.rare(drawer.times):
        for _ in range(drawer.times - drawer.seen.get(place, 0)):
            yield n, drawer.draw_with(*place, generator(name, n))
            n += 1


def planted(name):
    """Is a wrong translation noticed?"""
    data = copy.deepcopy(translate.data_of(name))
    option, key, field, wrong = FRAMEWORKS[name].planted
    entry = next(e for e in data["options"] if e["option"] == option and field in e["fields"].get(key, ()))
    entry["fields"][key][field] = wrong
    drawer = FRAMEWORKS[name].drawer(data)
    for n in range(5):
        config = drawer.draw_with(data["options"].index(entry), key, generator(name, n))
        if fails(name, drawer, n)(config):
            return True
    return False


def other_value(x, field):
    """A wrong value for a field of the data."""
    axis, name = field.split(".")
    with open(translate.SCHEMA, encoding="utf-8") as f:
        domain = json.load(f)["$defs"]["objective"]["properties"][axis]["properties"][name]
    if "enum" not in domain:
        return "1+$" if x == "$" else 0.37
    likely = ("sequence_mean", "token", "group_std", "none", "group_mean", "population", "k2", "k1")
    return next(c for c in (*likely, *domain["enum"]) if c in domain["enum"] and c != x)


def places(drawer):
    """(words, how to find it in the data, field) of every field that the data sets."""
    yield from (("always", lambda data: data["always"], field) for field in drawer.data["always"])
    for i, entry in enumerate(drawer.data["options"]):
        for key, to in entry.get("fields", {}).items() if entry["option"] in drawer.options else ():
            find = lambda data, i=i, key=key: data["options"][i]["fields"][key]
            yield from ((drawer.said((i, key)), find, field) for field in to or ())


def changed(name):
    """Changes every field of the data, one at a time, and prints those that no configuration notices."""
    drawer, answers, unnoticed, number = FRAMEWORKS[name].drawer(translate.data_of(name)), [], [], 0
    for n, config in configurations(name, drawer):
        if config is None:
            continue
        try:
            answers.append((config, *FRAMEWORKS[name].run(config, FRAMEWORKS[name].batch(generator(name + " batch", n), config))))
        except Refused:
            pass
    fields_of = lambda data, config: translate.translate(data, config)[0]
    for words, find, field in places(drawer):
        data, number = copy.deepcopy(drawer.data), number + 1
        to = find(data)
        to[field] = other_value(to[field], field)
        for config, theirs, batch in answers:
            try:
                fields = fields_of(data, config)
                same = fields == fields_of(drawer.data, config)
                if not same and differs(*evaluate(translate.objective_of(fields), batch), theirs, FRAMEWORKS[name].tolerance):
                    break
            except Exception:  # not an objective
                break
        else:
            unnoticed.append(f"{words}: {field}")
    print(f"{name}: {number - len(unnoticed)} of {number} changed fields are noticed; not: " + "; ".join(unnoticed), file=sys.stderr)


def of_defaults(name):
    """(passed, failed) for the configuration that sets no option, on BATCHES batches."""
    drawer = FRAMEWORKS[name].drawer(translate.data_of(name))
    wrong = [f"the defaults: {why}" for why in translate.translate(drawer.data, {})[1]]
    for n in range(BATCHES):
        try:
            why = fails(name, drawer, n)({})
        except Refused as refusal:
            why = f"refused: {refusal}"
        wrong += [f"the defaults, batch {n}: {why}"] * bool(why)
    for line in wrong[:3]:
        print(f"{name}: {line}", file=sys.stderr)
    return max(BATCHES - len(wrong), 0), len(wrong)


def of_drawn(name):
    drawer = FRAMEWORKS[name].drawer(translate.data_of(name))
    wrong, passed, refused = [f"no `cannot say` of the data has: {b.words}" for b in drawer.beyond if not b.is_said(drawer.data)], 0, 0
    wrong += ["not in the data: " + option for option in FRAMEWORKS[name].unlisted(drawer.data)]
    wrong += [] if planted(name) else ["a planted wrong translation is not noticed"]
    for n, config in configurations(name, drawer):
        if config is None:
            continue  # reported as never drawn
        test = fails(name, drawer, n)
        try:
            why = test(config)
        except Refused:
            refused += 1
            continue
        passed += not why
        if why:
            least = drawer.reduced(config, test) if len(wrong) < 20 else config
            wrong.append(f"configuration {n}: {least}: {test(least)}")
    wrong += ["never drawn: " + drawer.said(place) for place in drawer.rare(1)]
    for line in wrong[:20]:
        print(f"{name}: {line}", file=sys.stderr)
    options = {drawer.data["options"][number]["option"] for number, _ in drawer.seen}
    print(f"{name}: {passed} configurations agree, {len(wrong)} do not; they have {len(drawer.seen)} values of {len(options)} of "
          f"{len(drawer.keys)} options; {drawer.unsaid} more cannot be expressed, {refused} the framework refuses", file=sys.stderr)
    return passed, len(wrong)
