#!/usr/bin/env python3
"""The frameworks compute the objectives of `translate`: advantages, loss and gradients by a framework's own code are compared with the
oracle's for the translated objective, with the defaults on 50 random batches, and with random configurations (random_configurations.py),
which have every value that the data has fields for.

    VENV/bin/python tests/framework_options/against_frameworks.py [NAME ...]
    VENV/bin/python tests/framework_options/against_frameworks.py --changed NAME
        changes the data, a field at a time: what is not noticed?
    VENV/bin/python tests/framework_options/against_frameworks.py --sources FOLDER [--changed NAME | NAME ...]
        the same for slime, nemo_rl, prime_rl, open_instruct, roll

VENV is the environment of ../conformance/frameworks.sh, with mpmath and gmpy2. The defaults are those of the installed package, not those
of the data: no option is given. Each file run_NAME.py says what of a framework is replaced.

Five frameworks are in no package index. FOLDER (or SOURCES in the environment) has a clone of each, at the commit that `translate --list`
names: of https://github.com/THUDM/slime in FOLDER/slime, NVIDIA-NeMo/RL in FOLDER/nemo_rl, PrimeIntellect-ai/prime-rl in FOLDER/prime_rl,
allenai/open-instruct in FOLDER/open_instruct, alibaba/ROLL in FOLDER/roll. Their packages need not be installed: sources.py.
"""
import importlib.metadata
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, os.pardir, "conformance", "adapters"), os.path.join(HERE, os.pardir, "oracle")]
sys.dont_write_bytecode = True

import protocol  # noqa: E402, F401  it keeps standard output for answers; here they are lines
import torch  # noqa: E402
import pitfalls  # noqa: E402
import random_configurations  # noqa: E402
import sources  # noqa: E402
from options import translate  # noqa: E402
from random_configurations import FRAMEWORKS, FROM_SOURCES, INSTALLED  # noqa: E402


def told_release(name):
    """Says on standard error if another release is there than the data are of."""
    data = translate.data_of(name)
    if name in FROM_SOURCES:
        sources.told_commit(name)
    elif importlib.metadata.version(data["framework"]) != data["release"]:
        print(f"{name}: {importlib.metadata.version(data['framework'])} is installed, the data are of {data['release']}", file=sys.stderr)


def main(names):
    torch.set_default_dtype(torch.float64)
    from_sources = names[:1] == ["--sources"]
    if from_sources:
        sources.FOLDER, names = names[1], names[2:]
    there = {name for name in pitfalls.PACKAGES if pitfalls.is_there(name)}  # before stand-ins take the place of packages
    random_configurations.load(FROM_SOURCES if from_sources else INSTALLED + FROM_SOURCES * bool(sources.FOLDER))
    unknown = [name for name in names if name not in FRAMEWORKS and name != "--changed"]
    if unknown:
        print(f"{unknown[0]}: unknown, or needs --sources FOLDER", file=sys.stderr)
        return 2
    if names[:1] == ["--changed"]:
        return random_configurations.changed(names[1])
    found = []
    for name in FRAMEWORKS if not names else [name for name in FRAMEWORKS if name in names]:
        if name not in there:
            print(f"skipped: {name}, it is not installed", file=sys.stderr)
            continue
        told_release(name)
        found += [random_configurations.of_defaults(name), random_configurations.of_drawn(name)]
    print(f"{sum(p for p, _ in found)} passed, {sum(f for _, f in found)} failed", file=sys.stderr)
    return int(any(f for _, f in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
