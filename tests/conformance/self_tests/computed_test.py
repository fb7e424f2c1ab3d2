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

sys.dont_write_bytecode = True  # planted.py is beside this file
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3, "packages", "python"))
import numpy as np  # noqa: E402
from grpo_conformance import cases  # noqa: E402
from grpo_conformance.computed import computed  # noqa: E402
import planted  # noqa: E402
import planted_port  # noqa: E402

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


def of_page(ours, theirs):
    """What NAMES.md says and is not so. ours, theirs: the names of the package and of the runner."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "NAMES.md"), encoding="utf-8") as file:
        rows = [[cell.strip() for cell in line.strip("|\n ").split(" | ")] for line in file if line.startswith("| ")][1:]
    wrong = [f"NAMES.md: {name}: is not computed by the runner" for name, _, _ in rows if name not in theirs]
    wrong += [f"NAMES.md: {name}: package: {said}" for name, said, _ in rows if (name in ours) != (said == "yes")]
    return wrong + [f"NAMES.md: {name}: no source" for name, _, seen in rows if not seen]


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
    """How many answers agree, and what is wrong."""
    chosen, forms_of, used, agree, wrong = planted_cases(vectors), {}, set(), {}, []
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
        if apart > APART.get(mistake, 0):
            wrong.append(f"{mistake}: {apart} answers are not what is computed")
    least = (("planted mistakes", sum(map(bool, agree.values())), COMPUTED), ("names of planted mistakes", len(used), OF_PLANTED),
             ("answers with a planted mistake", sum(agree.values()), AGREEING))
    return sum(agree.values()), wrong, least


def main():
    theirs, names, every, answers, wrong = table(*sys.argv[1:3]), set(), set(), 0, []
    for case in cases(*ROWS, without=UNUSUAL):
        for stage in ("advantage", "loss"):
            ours = {}
            for name, numbers in computed(case, stage):
                ours.setdefault(name, []).append(numbers)
            every |= {(stage, name) for name in ours}
            for name in ours:
                forms = theirs.get((case.id, stage, name), [])
                size = max([1.0, *(abs(x) for form in forms for numbers in form.values() for x in numbers if math.isfinite(x))])
                if forms and not any(case_ in case.id and words in name for case_, words, _ in DIFFERENT):
                    names.add((stage, name))
                    answers += 1
                    if not any(same(x, y, size) for x in ours[name] for y in forms):
                        wrong.append(f"{case.id}: {name}")
    wrong += of_page({name for _, name in every}, {name for _, _, name in theirs})
    agree, apart, least_planted = check_planted(theirs, sys.argv[2])
    for line in (*wrong[:20], *apart):
        print("FAIL", line)
    wrong += apart
    alone = [case for case, stage, _ in table(sys.argv[1], sys.argv[2], ["choices-advantage"]) if stage == "advantage"]
    least = (
        *least_planted,
        *((f"mistakes of {name}", alone.count(f"choices-advantage-{name}"), OF_ALONE) for name in ALONE),
        ("mistakes of the runner", len({key[1:] for key in theirs}), OF_RUNNER),
        ("mistakes", len(names), NAMES),
        ("answers", answers, ANSWERS),
    )
    missing = [f"{what}: {n}, {at_least} or more are expected" for what, n, at_least in least if n < at_least]
    for line in missing:
        print("FAIL", line)
    print(f"{answers + agree - len(wrong)} passed, {len(wrong) + len(missing)} failed")
    print(f"{len(names)} mistakes")
    return bool(wrong or missing)


if __name__ == "__main__":
    sys.exit(main())
