#!/usr/bin/env python3
"""Shows the pitfalls of data/ (FORMAT.md) by the frameworks' own code, at the releases that OPTIONS.md names.

    VENV/bin/python tests/framework_options/pitfalls.py [--sources FOLDER] [WORDS]

VENV: that of ../conformance/frameworks.sh, for one of TRL with deepspeed 0.19.6; FOLDER (or SOURCES in the environment): clones of the
frameworks that no package index has, as against_frameworks.py takes them; WORDS: only names with them. Frameworks that are missing are
named and left out.

Each is a function FRAMEWORK_NAME of pitfall_*.py. It computes the configuration that the pitfall is of and one beside it that has none,
and gives whether the first is what the data say and the second is not. One that fails means that the release that is installed does
something else.
"""
import importlib
import importlib.util
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "conformance", "adapters"), os.path.join(HERE, os.pardir, "oracle")]
sys.dont_write_bytecode = True

import protocol  # noqa: E402, F401  it keeps standard output for answers; here they are lines
import sources  # noqa: E402
import torch  # noqa: E402
from options import translate  # noqa: E402

# framework: its package, or None where it is taken from a clone; in this order, as their stand-ins differ
PACKAGES = {**dict.fromkeys(("trl", "trl_rloo", "trl_gmpo", "trl_async"), "trl"), "verl": "verl", "openrlhf": "openrlhf",
            "ms_swift": "swift", "skyrl": "skyrl", "areal": "areal", "unsloth": "unsloth", "trinity": "trinity", "tunix": "tunix",
            "art": "art",
            **dict.fromkeys(("slime", "nemo_rl", "prime_rl", "open_instruct", "roll"))}

NEEDED = {"trl_deepspeed_clips": "deepspeed"}  # further packages


def is_there(framework):
    package = PACKAGES[framework]
    return importlib.util.find_spec(package) is not None if package else bool(sources.FOLDER) and os.path.isdir(sources.path_of(framework))


def tests():
    """{FRAMEWORK_NAME: (framework, module)} of the data; one without a function is an error where it is run."""
    found = {}
    data = {framework: translate.data_of(framework).get("pitfalls", ()) for framework in translate.frameworks()}
    for framework in sorted(filter(data.get, data), key=[*PACKAGES].index):
        for case in data[framework]:
            found[f"{framework}_{case['name']}"] = framework, "pitfall_" + ("trl" if framework.startswith("trl") else framework)
    return found


def result(name, framework, module):
    """(whether it is as the data say, the numbers)"""
    try:
        if framework == "verl":
            importlib.import_module("run_verl").parts()  # with the stand-ins that importing verl needs
        return getattr(importlib.import_module(module), name)()
    except Exception as why:  # counted and named
        return False, f"{type(why).__name__}: {why}"


def main(words):
    torch.set_default_dtype(torch.float64)
    if words[:1] == ["--sources"]:
        sources.FOLDER, words = words[1], words[2:]
    passed = failed = 0
    there = {framework: is_there(framework) for framework in PACKAGES}  # before stand-ins take the place of packages
    needed = {name: importlib.util.find_spec(package) is not None for name, package in NEEDED.items()}
    for name, (framework, module) in tests().items():
        if not all(word in name for word in words):
            continue
        missing = framework if not there[framework] else NEEDED[name] if name in NEEDED and not needed[name] else None
        if missing:
            where = "in --sources" if PACKAGES.get(missing, "") is None else "installed"
            print(f"skipped: {name}, {missing} is not {where}", file=sys.stderr)
            continue
        good, numbers = result(name, framework, module)
        passed, failed = passed + good, failed + (not good)
        numbers = numbers if isinstance(numbers, str) else json.dumps(numbers)
        print(f"{'ok' if good else 'FAIL'} {name}: {numbers}", file=sys.stderr)
    print(f"{passed} passed, {failed} failed", file=sys.stderr)
    return int(failed > 0 or not passed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
