#!/usr/bin/env python3
"""computed_test.py COMPUTED_TABLE VECTORS: the runner (plain_loss.c, plain_advantage.c) and the Python package (computed_loss.py,
computed_advantage.py) compute mistakes independently of each other; where both know one by the same name, they give the same numbers."""

import math
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "packages", "python"))
import numpy as np  # noqa: E402
from grpo_conformance import cases  # noqa: E402
from grpo_conformance.computed import computed  # noqa: E402

ROWS = ("grpo", "gspo", "dapo", "cispo", "ppo-dual-clip", "reinforce", "dr-grpo", "rloo")
UNUSUAL = ("NegInf", "Extreme", "NaNMasked", "OffsetRewards")
NAMES, ANSWERS = 90, 6280  # compared at least
OF_RUNNER = 250  # mistakes that the runner computes in these rows, at least
# the same words for what is not quite the same, where it shows: (a part of the case's id, of the name, why)
DIFFERENT = (
    ("", "each response has the advantage of the", "with an advantage for each token: the package takes one of them for the response"),
    ("on-policy", "the mean divides, not the deviation", "the mean is 0 but for rounding"),
    ("fully-masked", "ADV-29", "whether a fully masked response takes a place in its chunk"),
    ("dr-grpo-", "baseline", "whether a lone response has an advantage"),
)


def table(program, vectors):
    """(case, stage, name) -> the forms of the mistake, each {output: numbers}"""
    done = subprocess.run([program, vectors, *ROWS], capture_output=True, text=True, check=True)
    found = {}
    for line in done.stdout.splitlines():
        case, stage, name, output, numbers = line.split("\t")
        forms = found.setdefault((case, stage, name), [])
        if not forms or output in forms[-1]:
            forms.append({})
        forms[-1][output] = np.array(numbers.split(), float)
    return found


def same(ours, theirs, size):
    """Are the outputs that both have the same, up to rounding?"""
    with np.errstate(all="ignore"):
        return all(
            np.all((np.abs(x - theirs[name]) <= 1e-9 * size) | (x == theirs[name]) | (np.isnan(x) & np.isnan(theirs[name])))
            for name, x in ours.items()
            if name in theirs
        )


def main():
    theirs, names, answers, wrong = table(*sys.argv[1:3]), set(), 0, []
    for case in cases(*ROWS, without=UNUSUAL):
        for stage in ("advantage", "loss"):
            ours = {}
            for name, numbers in computed(case, stage):
                ours.setdefault(name, []).append(numbers)
            for name in ours:
                forms = theirs.get((case.id, stage, name), [])
                size = max([1.0, *(abs(x) for form in forms for numbers in form.values() for x in numbers if math.isfinite(x))])
                if forms and not any(case_ in case.id and words in name for case_, words, _ in DIFFERENT):
                    names.add((stage, name))
                    answers += 1
                    if not any(same(x, y, size) for x in ours[name] for y in forms):
                        wrong.append(f"{case.id}: {name}")
    for line in wrong[:20]:
        print("FAIL", line)
    least = (("mistakes of the runner", len({key[1:] for key in theirs}), OF_RUNNER), ("mistakes", len(names), NAMES), ("answers", answers, ANSWERS))
    missing = [f"{what}: {n}, {at_least} or more are expected" for what, n, at_least in least if n < at_least]
    for line in missing:
        print("FAIL", line)
    print(f"{answers - len(wrong)} passed, {len(wrong) + len(missing)} failed")
    print(f"{len(names)} mistakes")
    return bool(wrong or missing)


if __name__ == "__main__":
    sys.exit(main())
