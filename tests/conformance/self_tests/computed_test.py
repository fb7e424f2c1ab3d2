#!/usr/bin/env python3
"""computed_test.py COMPUTED_TABLE VECTORS: the runner (computed_loss.c, computed_advantage.c) and the Python package (computed_loss.py,
computed_advantage.py) compute mistakes independently of each other; where both know one by the same name, they give the same numbers. A
mistake planted in planted_port.py gives what the runner computes under its name."""

import json
import math
import os
import re
import subprocess
import sys
from collections import Counter

sys.dont_write_bytecode = True  # planted.py is beside this file
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3, "packages", "python"))
import numpy as np  # noqa: E402
from grpo_conformance import cases  # noqa: E402
from grpo_conformance.computed import computed  # noqa: E402
import planted  # noqa: E402
import planted_port  # noqa: E402
from kit import KIT, attempt, check, checked, count  # noqa: E402

ROWS = ("grpo", "gspo", "dapo", "cispo", "ppo-dual-clip", "reinforce", "dr-grpo", "rloo", "sapo", "grpo-lead", "gmpo", "tis")
UNUSUAL = ("NegInf", "Extreme", "NaNMasked", "OffsetRewards")
NAMES, ANSWERS = 341, 37398  # compared at least
OF_RUNNER = 434  # mistakes that the runner computes in these rows, at least
# the same words for what is not quite the same, where it shows: (a part of the case's id, of the name, why)
DIFFERENT = (
    ("on-policy", "the mean divides, not the deviation", "the mean is 0 but for rounding"),
    ("fully-masked", "ADV-29", "whether a fully masked response takes a place in its chunk"),
    ("dr-grpo-", "baseline", "whether a lone response has an advantage"),
    ("rloo-", "no baseline is subtracted", "whether a lone response has an advantage"),
)
BESIDE_A_KL = (("policy-left-out", "policy's loss is left out"), ("policy-turned", "sign of the policy's loss is turned"))
PLANTED = (*planted.PLANTED, *planted.FURTHER, *planted.FROM_ISSUES, *planted.ROWS_AND_BITS, *planted.OF_A_PORT, *planted.OF_AXES,
           *BESIDE_A_KL)
# planted mistakes that the runner computes, at least; under how many names; answers that agree
COMPUTED, OF_PLANTED, AGREEING = 239, 234, 7431
# in how many cases a planted mistake may be another one than that of its name; else in none
APART = {
    "agg-eps": 4, "agg-plus-one": 26, "eos-not-summed": 40, "first-group": 15, "gspo-twice": 10, "last-response": 12,
    "loss-adv-by-length": 7, "loss-adv-next": 7,
    "loss-halved": 15, "no-baseline": 4, "no-exp": 10, "policy-left-out": 54,
    "policy-turned": 54, "ratio-linear": 10, "reward-01": 6, "reward-binary": 9, "reward-clipped": 4,
    "ratio-bf16-back": 1, "reward-next": 9,
}
# cases with a response that is alone in its group, and how many mistakes of its advantages are computed at least
ALONE = ("batch_mean-singleton", "singleton-group_mean-group_std", "singleton-group_mean-none", "singleton-leave_one_out-group_std",
         "singleton-leave_one_out-none", "singleton-none-group_std")
OF_ALONE = 89


def table(program, vectors, rows=ROWS):
    """(case, stage, name) -> the forms of the mistake, each {output: numbers}"""
    done = subprocess.run([program, vectors, *rows], capture_output=True, text=True, check=True)
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


def check_page(ours, theirs):
    """NAMES.md says of its names who computes them, and where the mistake was seen. ours, theirs: the names of package and runner."""
    with open(os.path.join(KIT, "NAMES.md"), encoding="utf-8") as file:
        rows = [[cell.strip() for cell in line.strip("|\n ").split(" | ")] for line in file if line.startswith("| ")][1:]
    check("NAMES.md has names", rows)
    for name, said, seen in rows:
        check(f"NAMES.md: {name}: the runner computes it", name in theirs)
        check(f"NAMES.md: {name}: the package", (name in ours) == (said == "yes"), said)
        check(f"NAMES.md: {name} has a source", seen)


def planted_cases(vectors):
    found = []
    for row in planted.ROWS:
        with open(os.path.join(vectors, row + ".json"), encoding="utf-8") as file:
            for case in map(planted_port.numbers, json.load(file)["cases"]):
                if case["id"][len(row) + 1 :] in planted.SCENARIOS:
                    found.append({**case, "advantage": case["batch"].get("advantage") or case["expect"]["advantage"]})
    return found


def port(mistake, case):
    """stage -> the outputs of the port"""
    planted_port.MISTAKE = mistake
    found = {name: np.array([x for row in value for x in row] if isinstance(value, list) else [value], float)
             for name, value in planted_port.evaluate(case).items()}
    return {"advantage": {k: x for k, x in found.items() if k == "advantage"}, "loss": {k: x for k, x in found.items() if k != "advantage"}}


def check_planted(theirs, vectors):
    """A mistake planted in the port is what the runner computes under its name."""
    chosen, forms_of, used, agree = planted_cases(vectors), {}, set(), {}
    for (case, stage, name), forms in theirs.items():
        forms_of.setdefault((case, stage), {})[name] = forms
    right = {case["id"]: port("", case) for case in chosen}
    every = {(stage, name) for _, stage, name in theirs}
    for mistake, pattern in PLANTED:
        named = {(stage, name) for stage, name in every if re.search(pattern, name)}
        apart = 0
        for case in chosen if named else ():
            for stage, ours in port(mistake, case).items():
                computed_ = forms_of.get((case["id"], stage), {})
                if any(of == stage for of, _ in named) and not same(ours, right[case["id"]][stage], 1):
                    hits = {(stage, name) for name in computed_ if (stage, name) in named
                            and any(ours.keys() <= form.keys() and same(ours, form, 1) for form in computed_[name])}
                    used |= hits
                    agree[mistake] = agree.get(mistake, 0) + bool(hits)
                    apart += not hits
        check(f"{mistake}: answers that are not what is computed", apart <= APART.get(mistake, 0), apart)
    count(sum(agree.values()), 0)
    at_least("planted mistakes", sum(map(bool, agree.values())), COMPUTED)
    at_least("names of planted mistakes", len(used), OF_PLANTED)
    at_least("answers with a planted mistake", sum(agree.values()), AGREEING)


def at_least(what, found, least):
    check(f"{what}: {least} or more are expected", found >= least, found)


def check_both(theirs):
    """Runner and package give the same numbers for what both know by one name."""
    names, every, answers = set(), set(), 0
    for case in cases(*ROWS, without=UNUSUAL):
        for stage in ("advantage", "loss"):
            ours = {}
            for name, numbers in computed(case, stage):
                ours.setdefault(name, []).append(numbers)
            every |= ours.keys()
            for name in ours:
                forms = theirs.get((case.id, stage, name), [])
                size = max([1.0, *(abs(x) for form in forms for numbers in form.values() for x in numbers if math.isfinite(x))])
                if forms and not any(case_ in case.id and words in name for case_, words, _ in DIFFERENT):
                    names.add((stage, name))
                    answers += 1
                    check(f"{case.id}: {name}", any(same(x, y, size) for x in ours[name] for y in forms))
    at_least("mistakes", len(names), NAMES)
    at_least("answers", answers, ANSWERS)
    check_page(every, {name for _, _, name in theirs})


def check_alone(program, vectors):
    alone = Counter(case for case, stage, _ in table(program, vectors, ["choices-advantage"]) if stage == "advantage")
    for name in ALONE:
        at_least(f"mistakes of {name}", alone[f"choices-advantage-{name}"], OF_ALONE)


def main():
    program, vectors = sys.argv[1:3]
    theirs = table(program, vectors)
    at_least("mistakes of the runner", len({key[1:] for key in theirs}), OF_RUNNER)
    attempt(check_both, theirs)
    attempt(check_planted, theirs, vectors)
    attempt(check_alone, program, vectors)


if __name__ == "__main__":
    sys.exit(checked(main))
