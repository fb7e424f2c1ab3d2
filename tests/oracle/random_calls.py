#!/usr/bin/env python3
"""Random calls of the functions of extra/: the oracle's answers against the headers'.

    random_calls.py BUILD [--number N] [--seed N] [FUNCTION...]

Makes N calls (5) of each function out of its cases, whose lists are shuffled and whose numbers are moved within their domains, and runs
BUILD/tests/calls and calls_f32 on them. A call is left out if an answer depends on a comparison of nearly equal numbers, or if the oracle
has none; one that a header refuses (a bound above another, a table that is no longer symmetric) is counted. Exits with 1 if an answer
differs, or if a function is never called."""
import argparse
import collections
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import functions
import limits
from limits import Undefined, tidy
from scenarios import Dice, binary32

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "vectors")
WHOLE = ({"type": "integer"}, {"$ref": "#/$defs/count"})
RANGES = {"fraction": (0, 1), "not_negative": (0, None)}
OF_THE_BATCH = {"logp": (None, 0), "logp_old": (None, 0), "logp_ref": (None, 0), "logp_rollout": (None, 0), "logp_teacher": (None, 0),
                "entropy": (0, None), "reward": (None, None), "advantage": (None, None)}


def domain_of(function, name):
    """The domain of an argument's numbers: of the entries of a list."""
    parameters = inspect.signature(functions.FUNCTIONS[function]).parameters
    more = next((p.annotation for p in parameters.values() if p.kind == p.VAR_KEYWORD), {})
    domain = parameters[name].annotation if name in parameters else more[name]
    while domain.get("type") == "array":
        domain = domain["items"]
    return domain["anyOf"][0] if "anyOf" in domain else domain


def range_of(domain):
    """(least, most) of the numbers that may be moved, None: no bound; None: they stay."""
    if domain in WHOLE or domain.get("type") == "integer" or "enum" in domain or domain.get("type") == "boolean":
        return None
    named = domain.get("$ref", "").rsplit("/", 1)[-1]
    ends = (domain.get("minimum", domain.get("exclusiveMinimum")), domain.get("maximum", domain.get("exclusiveMaximum")))
    return RANGES.get(named) or ends


def moved(dice, x, within):
    """A number near x, of the same sign; a binary32 if that is as large. Zero and the ends of the range stay half of the time."""
    least, most = within
    if isinstance(x, (bool, str)) or x is None or abs(x) > 1e300 or (x in (0, least, most) and dice.below(2)):
        return x
    y = x * dice.fraction(0.5, 2, 64) if x else dice.signed(0, 1, 16)
    y = binary32(y) if abs(y) < 1e38 else y
    return y if (least is None or y > least) and (most is None or y < most) else x


def changed(dice, x, within):
    if not isinstance(x, list):
        return moved(dice, x, within)
    how = dice.below(3)
    if how == 0 and not any(isinstance(y, (list, str)) for y in x):
        return shuffled(dice, x)
    return x if how == 1 else [changed(dice, y, within) for y in x]


def shuffled(dice, x):
    x = list(x)
    for k in range(len(x) - 1, 0, -1):
        j = dice.below(k + 1)
        x[k], x[j] = x[j], x[k]
    return x


def call(dice, case):
    """The case with other numbers; None if there is no certain answer."""
    given = {}
    for name, x in case.arguments.items():
        within = range_of(domain_of(case.function, name))
        given[name] = x if within is None else changed(dice, x, within)
    batch = case.batch and {name: changed(dice, x, OF_THE_BATCH[name]) if name in OF_THE_BATCH else x for name, x in case.batch.items()}
    limits.near_misses.clear()
    try:
        expect, scale = functions.answers(case.function, given, batch)
    except (Undefined, ValueError, ZeroDivisionError):
        return None
    if limits.near_misses:
        return None
    made = {"kind": "call", "comment": case.comment, "function": case.function, "arguments": given}
    return tidy({**made, **({"batch": batch} if batch else {}), "expect": expect, "scale": scale})


def calls_of(name, number, seed):
    cases, dice, found = [c for c in functions.all_cases() if c.function == name], Dice(seed), []
    for _ in range(10 * number):
        made = call(dice, cases[dice.below(len(cases))]) if len(found) < number else None
        if made:
            found.append({"id": f"calls-{name}-{len(found)}", **made})
    return found


def run(program, cases):
    """{case: line} of what the program refuses, and of what it answers differently."""
    with open(os.path.join(VECTORS, "calls.json"), encoding="ascii") as f:
        file = {**json.load(f), "cases": cases}
    refused, other = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "calls.json"), "w", encoding="ascii") as f:
            json.dump(file, f)
        said = subprocess.run([program, folder], stdout=subprocess.PIPE, text=True).stdout
    counts = re.search(r"^(\d+) passed, (\d+) failed", said, re.M)
    if not counts or int(counts[1]) + int(counts[2]) < len(cases):
        raise SystemExit(f"{program}: {said[-500:]}")
    for case, line in re.findall(r"^FAIL (calls-\S+): (.*)", said, re.M):
        is_refusal = " is nan, " in line or not re.search("expected|not the answers", line)  # what returns a number refuses with NaN
        (refused if is_refusal else other).setdefault(case, line)
    return refused, other


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("functions", nargs="*")
    parser.add_argument("--number", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    names = args.functions or list(functions.FUNCTIONS)
    cases = [case for k, name in enumerate(names) for case in calls_of(name, args.number, args.seed + k)]
    wrong = False
    for program in ("calls", "calls_f32"):
        refused, other = run(os.path.join(args.build, "tests", program), cases)
        called = collections.Counter(case["function"] for case in cases if case["id"] not in refused)
        silent = [name for name in names if not called[name]]
        for case, line in other.items():
            print(f"{program}: {case}: {line}")
            print(json.dumps(next(c for c in cases if c["id"] == case)))
        print(f"{program}: {len(cases)} calls, {len(refused)} refused, {len(other)} differ" +
              (f"; never called: {' '.join(silent)}" if silent else ""))
        wrong = wrong or other or silent
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
