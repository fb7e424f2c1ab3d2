#!/usr/bin/env python3
"""Write tests/vectors/*.json, schema.json, DEFECTS.md and functions/*.md, or check that they are what would be written.

    generate.py                 write every file
    generate.py NAME...         write these vectors, and the files made from all of them
    generate.py --check         compare bytes, write nothing; computes the right answers with 40 more digits than for writing
    generate.py --schema        validate the existing files (needs python3-jsonschema)
"""
import os
import sys

sys.dont_write_bytecode = True

import argparse
import gc
import json
import multiprocessing
import time
from functools import partial

import catalogue
import exposing
import functions
import limits
import logits_path
import logits_path_cases
import names_schema
import objective_schema
import objectives
import partition_cases as partition_cases_of
import reals
import record
import refuse_cases
import scenarios
import split
from attempt import told
from axes.report import COUNTS, KEYS
from cases import CASES, FILES
from evaluate import evaluate, pinned
from flags import flags_of
from functions import write
from limits import Undefined, rounded_up, tidy
from logits_cases import LOGITS
from refused import faults
from split_cases import SPLITS

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "evidence"))
import sources_check  # noqa: E402  what each row is
from counting import check, checked  # noqa: E402

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "vectors")
WORKERS = 2
TOKENS_IN_PART = 16000  # tokens times mistakes in a piece of work
SECONDS_BETWEEN_LINES = 5
MORE_DIGITS = 40  # must change no bit of any answer

# Cases with an undefined answer; any other undefined answer is an error.
UNDEFINED = {
    ("grpo-unbiased-kl", "neginf-policy-kl"),  # e^(-K) times e^K: the ratio vanishes as the estimator explodes
}


def check_inputs(where, batch):
    """Every number is a binary32, and no log-probability is above 0."""
    for key, rows in batch.items():
        for row in rows if key not in ("state", "token_id") else ():  # identifiers may be anything below 2^53
            for x in row if isinstance(row, list) else [row]:
                if isinstance(x, str):
                    continue
                if scenarios.binary32(x) != x or (key.startswith("logp") and x > 0):
                    raise AssertionError(f"{where}: {key} has {x!r}")


def case_of(label, comment, shown, expect, scale):
    """shown: what the case has besides, with its kind unless it is of the kind `objective`."""
    case = {"id": label, **({"kind": shown["kind"]} if "kind" in shown else {}), "comment": comment, "flags": [], **shown,
            "expect": expect, "scale": scale}
    case["flags"] = flags_of(case)
    return tidy(case)


def one_case(variant, label, comment, objective, batch):
    check_inputs(f"{variant}-{label}", batch)
    for fault in faults(objective, batch):
        raise AssertionError(f"{variant}-{label}: it is to be refused: {fault.reason}")
    limits.near_misses.clear()
    expect, scale = evaluate(objective, batch)
    if limits.near_misses:
        raise AssertionError(f"{variant}-{label}: a comparison hangs on rounding: {limits.near_misses}")
    return case_of(f"{variant}-{label}", comment, {"objective": objective, "batch": batch}, expect, scale)


MOST_IN_BRIEF = 40  # at most so many cases of a file of choices list the same mistake


def wanted_scenarios(name):
    return scenarios.SETS[objectives.ROWS[name][4]]


def preset_cases(name):
    cases, seen = [], set()
    for label, comment, wanted, adapt, make in scenarios.SCENARIOS:
        objective = objectives.changed(objectives.objective(name), **(adapt or {}))
        if not wanted(objective) or label not in wanted_scenarios(name):
            continue
        batch = scenarios.finish(objective, make(objective))
        fingerprint = json.dumps(batch)
        if fingerprint in seen:
            continue
        seen.add(fingerprint)
        try:
            case = one_case(name, label, comment, objective, batch)
        except Undefined as why:
            if (name, label) not in UNDEFINED:
                raise AssertionError(f"{name}-{label} is not defined: {why}")
            continue
        if (name, label) in UNDEFINED:
            raise AssertionError((name, label, "is defined after all"))
        cases.append(case)
    return cases


def choice_cases(name):
    found = []
    for file, label, comment, base, changes, make in CASES:
        if file == name:
            objective = objectives.changed(base, **changes)
            found.append(one_case(file, label, comment, objective, scenarios.finish(objective, make(objective))))
    return found


def exposing_cases():
    return [one_case("mistakes", label, comment, o, scenarios.finish(o, make(o))) for label, comment, o, make in exposing.CASES]


def split_case(variant, label, comment, objective, batch, cut):
    check_inputs(f"{variant}-{label}", batch)
    limits.near_misses.clear()
    expect, scale = {}, {}
    for name, found in split.answers(objective, batch, cut).items():
        expect[name] = split.laid_out(batch["length"], name, {k: pinned(*x) for k, x in found.items()})
        scale[name] = split.laid_out(batch["length"], name, {k: rounded_up(size) for k, (_, size) in found.items()})
    if limits.near_misses:
        raise AssertionError(f"{variant}-{label}: a comparison hangs on rounding: {limits.near_misses}")
    shown = {"kind": "split", "objective": objective, "batch": batch, **cut}
    return case_of(f"{variant}-{label}", comment, shown, expect, scale)


def split_cases():
    return [split_case("split", label, comment, objective, batch, {"parts": parts, "ranks": ranks})
            for label, comment, objective, batch, parts, ranks in SPLITS]


def partition_cases(name):
    return [split_case(file, *rest) for file, *rest in partition_cases_of.made() if file == name]


def from_logits(label, comment, case):
    """A case of the kinds logits and hidden."""
    logits_path_cases.check_inputs(label, case)
    check_inputs(label, case.get("batch", {}))
    limits.near_misses.clear()
    found = logits_path.answers(case, measured=True)
    if limits.near_misses:
        raise AssertionError(f"{label}: a comparison hangs on rounding: {limits.near_misses}")
    expect = {name: logits_path.each(told, x) for name, x in found.items()}
    scale = {name: logits_path.each(lambda _, size: rounded_up(size), x) for name, x in found.items()}
    return case_of(label, comment, case, expect, scale)


def logits_cases():
    return [from_logits(f"logits-{label}", comment, {"kind": "logits", "logits": rows, "target": target, "temperature": temperature})
            for label, comment, rows, target, temperature in LOGITS]


def path_cases(name):
    return [from_logits(f"{name}-{label}", *rest) for label, *rest in logits_path_cases.cases(name)]


def calls_cases():
    cases = []
    for label, comment, function, arguments, batch in functions.all_cases():
        check_inputs(f"calls-{label}", batch or {})
        limits.near_misses.clear()
        expect, scale = functions.answers(function, arguments, batch)
        if limits.near_misses:
            raise AssertionError(f"calls-{label}: a comparison hangs on rounding: {limits.near_misses}")
        shown = {"kind": "call", "function": function, "arguments": arguments, **({"batch": batch} if batch else {})}
        cases.append(case_of(f"calls-{label}", comment, shown, expect, scale))
    return cases


def refuse_case(label, comment, objective, batch, fault):
    return tidy({"id": f"refuse-{label}", "kind": "refuse", "comment": comment, "flags": [], "objective": objective, "batch": batch,
                 "field": fault.fields[0], "reason": fault.reason, "expect": {}, "scale": {}})


def refuse_cases_and_defined():
    return [refuse_case(*x) for x in refuse_cases.made()] + [one_case("refuse", *x) for x in refuse_cases.DEFINED]


OTHERS = {"mistakes": exposing_cases, "split": split_cases, **{name: partial(partition_cases, name) for name in partition_cases_of.FILES},
          "logits": logits_cases, "calls": calls_cases, "refuse": refuse_cases_and_defined,
          **{name: partial(path_cases, name) for name in logits_path_cases.FILES}}


def names():
    return list(objectives.ROWS) + list(FILES) + list(OTHERS)


def right_cases(name, digits=limits.DIGITS):
    """The cases of a file, without its mistakes."""
    with reals.workdps(digits):
        return right_cases_of(name)


def right_cases_of(name):
    if name in objectives.ROWS:
        cases = preset_cases(name)
    elif name in OTHERS:
        cases = OTHERS[name]()
    else:
        cases = choice_cases(name)
    if len({case["id"] for case in cases}) != len(cases):
        raise AssertionError(f"{name}: an id is there twice")
    return cases


def most_in_full(name, cases):
    """In how many cases a file records a mistake in full."""
    if name in objectives.ROWS:
        return int(objectives.ROWS[name][4] in scenarios.IN_FULL)
    if name in logits_path_cases.FILES:
        return 1
    return len(cases) if name in OTHERS else int(FILES[name] == "in full")


def parts(name, cases):
    """The computation of wrong answers, in pieces of a few seconds: (place of the case, arguments of record.answers_of)"""
    for place, case in enumerate(() if FILES.get(name) == "none" or name == "refuse" else cases):
        mistakes = [] if "Long" in case["flags"] else record.candidates(case)  # long responses expose no mistake that short ones do not
        if name in logits_path_cases.FILES:
            mistakes = logits_path_cases.tried(mistakes, place, lambda mistake: record.scene(case, mistake, name) is not None)
        size = max(1, TOKENS_IN_PART // (1 + sum(case["batch"]["length"] if "batch" in case else ())))
        for k in range(0, len(mistakes), size):
            yield place, (case, mistakes[k:k + size], name, most_in_full(name, cases) > 0)


def with_mistakes(name, cases, found):
    """The cases of a file with their `defects`; found: (place, what record.answers_of gave) of all parts."""
    told_by = [{} for _ in cases]
    for place, told_of in found:
        told_by[place].update(told_of)
    record.add_defects(cases, told_by, name, most_in_full(name, cases))
    if name.startswith("choices-") or name in logits_path_cases.FILES:
        record.spread(cases, MOST_IN_BRIEF)
    return tidy(cases)


def committed(part):
    place, arguments = part
    return place, record.answers_of(*arguments)


class Progress:
    """A line at most every few seconds."""

    def __init__(self):
        self.start = self.last = time.monotonic()

    def tell(self, what):
        now = time.monotonic()
        if now - self.last >= SECONDS_BETWEEN_LINES:
            print(f"{now - self.start:5.0f} s  {what}", flush=True)
            self.last = now


def made(wanted, digits):
    """(name, cases) of files, in order; digits: precision of the right answers."""
    progress = Progress()
    with multiprocessing.Pool(WORKERS, gc.disable) as pool:
        right = {}
        for name, cases in zip(wanted, pool.imap(partial(right_cases, digits=digits), wanted)):
            right[name] = cases
            progress.tell(f"right answers: {len(right)} of {len(wanted)} files, {name}")
        work = {name: list(parts(name, right[name])) for name in wanted}
        found = pool.imap(committed, [part for name in wanted for part in work[name]])
        for done, name in enumerate(wanted, 1):
            of_file = []
            for _ in work[name]:
                of_file.append(next(found))
                progress.tell(f"mistakes: {done} of {len(wanted)} files, {name}")
            yield name, with_mistakes(name, right[name], of_file)


def thin(case):
    """A case as in the files: without defaults in the objective, zeros in the report, and scales of the report that equal the absolute
    value."""
    shorter = dict(case)
    if "objective" in case:
        shorter["objective"] = objectives.thinned(case["objective"])
    if "report" in case["expect"]:
        report, scales = case["expect"]["report"], case["scale"]["report"]
        shorter["expect"] = {**case["expect"], "report": {key: x for key, x in report.items() if x != 0}}
        shorter["scale"] = {**case["scale"], "report": {key: x for key, x in scales.items() if x != left_out_scale(key, report[key])}}
    if case.get("kind") == "split":
        shorter["scale"] = {name: x for name, x in case["scale"].items() if name not in split.COUNTS}
    return shorter


def left_out_scale(key, x):
    return 0 if key in COUNTS else rounded_up(abs(record.number(x)))


def whole(case):
    """The inverse of thin."""
    longer = dict(case)
    if "objective" in case:
        longer["objective"] = objectives.filled(case["objective"])
    if "report" in case["expect"]:
        report = {key: case["expect"]["report"].get(key, 0) for key in KEYS}
        scales = {key: case["scale"]["report"].get(key, left_out_scale(key, x)) for key, x in report.items()}
        longer["expect"], longer["scale"] = {**case["expect"], "report": report}, {**case["scale"], "report": scales}
    if case.get("kind") == "split":
        longer["scale"] = {**case["scale"], **{name: [0] * len(x) for name, x in case["expect"].items() if name in split.COUNTS}}
    return longer


def text(name, cases):
    paper, equations = objectives.ROWS[name][:2] if name in objectives.ROWS else ("", "")
    head = json.dumps({"variant": name, "paper": paper, "equations": equations, "evidence": sources_check.told(name)})[:-1]
    compact = (json.dumps(thin(case), separators=(",", ":"), allow_nan=False) for case in cases)
    return head + ', "cases": [\n' + ",\n".join(compact) + "\n]}\n"


def path(name):
    return os.path.join(VECTORS, name)


def as_written(name):
    """The cases of an existing file."""
    with open(path(name + ".json"), encoding="ascii") as f:
        return [whole(case) for case in json.load(f)["cases"]]


def files(wanted, digits=limits.DIGITS):
    """(file name, content). DEFECTS.md, made from these and the existing files, and the files made from the functions come last."""
    new = {}
    for name, cases in made(wanted, digits):
        new[name] = cases
        yield name + ".json", text(name, cases)
    yield "DEFECTS.md", catalogue.text([case for name in names() for case in (new[name] if name in new else as_written(name))])
    pages = write.files()
    yield "schema.json", names_schema.text(objective_schema.text(pages.pop("schema.json")), map(sources_check.told, names()))
    yield from pages.items()


def check_files(wanted):
    expected = {name + ".json" for name in names()}
    for name, content in files(wanted, limits.DIGITS + MORE_DIGITS):
        expected.add(name)
        try:
            with open(path(name), encoding="ascii") as f:
                found = f.read()
        except FileNotFoundError:
            found = None
        check(f"{name} differs", found == content)
    there = {f for f in os.listdir(VECTORS) if f.endswith(".json")} | {f"functions/{f}" for f in os.listdir(path("functions"))}
    stray = sorted(there - expected - {"functions/README.md"})
    check("files that are not of this generator", not stray, stray)


def violations(name):
    """The violations of the schema in a file, in words."""
    import jsonschema
    with open(path("schema.json"), encoding="ascii") as f:
        validator = jsonschema.Draft202012Validator(json.load(f))
    with open(path(name + ".json"), encoding="ascii") as f:
        return [f"{e.json_path}: {e.message[:200]}" for e in validator.iter_errors(json.load(f))]


def let_through():
    """Planted invalid names that the schema allows; there should be none."""
    import jsonschema
    with open(path("schema.json"), encoding="ascii") as f:
        validator = jsonschema.Draft202012Validator(json.load(f))
    with open(path("gspo.json"), encoding="ascii") as f:
        right = json.load(f)
    case = next(case for case in right["cases"] if case.get("defects"))
    name, answers = next(iter(case["defects"].items()))
    for what, wrong in (("evidence", {**right, "evidence": right["evidence"] + "s"}),
                        ("mistake", {**right, "cases": [{**case, "defects": {name + "z": answers}}]})):
        if validator.is_valid(wrong):
            yield f"schema.json: a misspelt name of {what} is allowed"


def validate(wanted):
    import jsonschema
    with open(path("schema.json"), encoding="ascii") as f:
        jsonschema.Draft202012Validator.check_schema(json.load(f))
    planted = list(let_through())
    check("invalid names are refused", not planted, planted)
    by_size = sorted(wanted, key=lambda name: -os.path.getsize(path(name + ".json")))
    with multiprocessing.Pool() as pool:
        for name, found in zip(by_size, pool.imap(violations, by_size)):
            check(f"{name}.json", not found, "\n    ".join(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", metavar="NAME", nargs="*", help="files, without .json; all if there is none")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--schema", action="store_true")
    args = parser.parse_args()
    unknown = sorted(set(args.names) - set(names()))
    if unknown:
        parser.error(f"no row of that name in tests/oracle/rows.txt, nor another file of vectors: {' '.join(unknown)}")
    wanted = [name for name in names() if name in args.names or not args.names]
    if args.check:
        return checked(partial(check_files, wanted))
    if args.schema:
        return checked(partial(validate, wanted))
    count = 0
    for name, content in files(wanted):
        with open(path(name), "w", encoding="ascii", newline="\n") as f:
            f.write(content)
        count += 1
    print(f"{count} files written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
