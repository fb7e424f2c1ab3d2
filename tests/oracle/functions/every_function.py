"""Checks of every function and every case."""
import copy
import json
import os
import re

import answer
import generate
import limits
import reals
from functions import write
from functions.arithmetic import Number, real
from functions.batches import UNMASKED
from functions.comparing import ask, cases_of, every, replaced
from functions.registry import CHECKS, FUNCTIONS, all_cases, answers
from reals import inf, mpf
from scenarios import PER_TOKEN


def check_registered(check):
    checked = {name for names in CHECKS.values() for name in names}
    with open(os.path.join(os.path.dirname(__file__), "README.md"), encoding="ascii") as f:
        listed = {row[1]: row[2].replace("`", "").split() for row in re.findall(r"^(\| `(\w+)\.py` \|.*\| (.*) \|)$", f.read(), re.M)}
    for name in FUNCTIONS:
        check(f"{name} has four cases", len(cases_of(name)) >= 4)
        check(f"{name} has a check of its own", name in checked)
        check(f"{name} is listed under its module", name in listed.get(FUNCTIONS[name].__module__.rpartition(".")[2], ()))
    for name, text in write.files().items():
        check(f"vectors/{name} says what the functions say (functions/write.py writes it)", write.read(name) == text)


def check_protocol(check):
    with open(generate.path("calls.json"), encoding="ascii") as f:
        for case in json.load(f)["cases"]:
            request = {"seq": 1, "case": {key: x for key, x in case.items() if key not in ("expect", "scale")}}
            found = answer.run(request, None, {})["result"]
            check(f"the protocol's program answers {case['id']}", found == case["expect"])
    request["case"]["function"] = "no_such"
    check("and skips what it does not know", "skip" in answer.run(request, None, {}))


def check_masked_and_digits(check):
    for label, _, function, arguments, batch in all_cases():
        first = answers(function, arguments, batch)
        with reals.workdps(limits.DIGITS + 40):
            check(f"digits of {label}", answers(function, arguments, batch) == first)
        if batch and "mask" in batch:
            other = copy.deepcopy(batch)
            for key in set(PER_TOKEN) & set(other) - {"mask"}:
                other[key] = [[x if m else 7 for x, m in zip(*rows)] for rows in zip(other[key], other["mask"])]
            check(f"masked slots do not matter: {label}", answers(function, arguments, other) == first)


def check_masked_arguments(check):
    for label, _, function, arguments, batch in all_cases():
        if batch and "mask" in batch:
            other = {key: replaced(x, UNMASKED, 3) for key, x in arguments.items()}
            check(f"masked slots of arguments do not matter: {label}", ask(function, batch, **other) == ask(function, batch, **arguments))


def flat(x):
    return [x] if isinstance(x, Number) else [y for part in x for y in flat(part)] if isinstance(x, list) else []


def check_sizes(check):
    for name in FUNCTIONS:
        for label, _, _, found in every(name):
            numbers = [n for x in found.values() for n in flat(x) if abs(n.value) != inf]
            check(f"a size is not below its number: {label}",
                  all(real(n.size) >= abs(real(n.value)) * (1 - mpf(10) ** -40) for n in numbers))


GROUPS = (check_registered, check_protocol, check_masked_and_digits, check_masked_arguments, check_sizes)
