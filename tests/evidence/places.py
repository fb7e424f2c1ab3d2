#!/usr/bin/env python3
"""Does each number that rests on code stand in the lines that its evidence cites?  For clones and packages that are at hand.

    places.py FOLDER [PACKAGES ...]    FOLDER has clones, each called OWNER+NAME; PACKAGES are folders of installed packages, for releases

A number counts as found where one of the cited lines has it, or what it is made of: its negative, one more or one less, one minus it, its
exponential or logarithm's argument, or the product of two numbers (1024 * 16).  It is not looked for where the place has a remark, which
says how the number follows (None, so epsilon), unless the lines have it.  Prints what is missing; ends with "N passed, N failed".  Passed
are places, so a number that is wrong in the same way as its evidence passes, and so does another number of the line that is equal: the last
lines say how many numbers would be found elsewhere too, forty lines below.
"""
import functools
import importlib.metadata
import math
import os
import re
import subprocess
import sys
from collections import Counter

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "support")]

import compare  # noqa: E402
import sources_check  # noqa: E402
from counting import check, checked  # noqa: E402

SOURCE = re.compile(r"([\w.-]+/[\w.-]+)@([\w.]+)|\b(TRL|verl|trinity-rft) (\d+(?:\.\d+)+)")
FILE_OR_LINES = re.compile(r"([\w./-]+\.(?:py|ya?ml|sh|md|MD|toml|json|cpp|h|rst|txt))\b|(?<=[:,\s(])(\d+)(?:-(\d+))?(?=[\s,;:).]|$)")
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
REMARK = re.compile(r"[A-Za-z]{3,}")
PACKAGES = {  # what a package is called where packages are installed
    "huggingface/trl": "trl", "TRL": "trl", "verl-project/verl": "verl", "OpenRLHF/OpenRLHF": "openrlhf", "modelscope/ms-swift": "ms_swift",
    "NovaSky-AI/SkyRL": "skyrl", "inclusionAI/AReaL": "areal", "modelscope/Trinity-RFT": "trinity_rft", "OpenPipe/ART": "openpipe_art",
    "trinity-rft": "trinity_rft", "axolotl-ai-cloud/axolotl": "axolotl",
}


@functools.lru_cache(maxsize=None)
def installed(name, release, folders):
    """The folder in which this release of the package is installed"""
    wanted = PACKAGES.get(name, name)
    for folder in folders:
        for found in importlib.metadata.distributions(path=[folder]):
            if found.metadata["Name"].lower().replace("-", "_") == wanted and found.version == release:
                return folder
    return None


@functools.lru_cache(maxsize=None)
def lines_of(name, at, path, clones, packages):
    """The lines of a file of a repository at a commit or a tag, or of a package; None where it is not at hand."""
    folder = installed(name, at, packages)
    if folder and os.path.exists(os.path.join(folder, path)):
        with open(os.path.join(folder, path), encoding="utf-8", errors="replace") as f:
            return f.read().split("\n")
    clone = os.path.join(clones, name.replace("/", "+"))
    for commit in (at, "v" + at) if os.path.isdir(clone) else ():
        shown = subprocess.run(["git", "-C", clone, "show", f"{commit}:{path}"], capture_output=True, check=False)
        if not shown.returncode:
            return shown.stdout.decode(errors="replace").split("\n")
    return None


def cited(where):
    """(file, first line, last line) of each place; a number without a file belongs to the file before it"""
    path = None
    for found in FILE_OR_LINES.finditer(where):
        if found[1]:
            path = found[1]
        elif path:
            yield path, int(found[2]), int(found[3] or found[2])


def has_remark(where):
    return bool(REMARK.search(re.sub(SOURCE, "", re.sub(r"[\w./-]+\.(?:py|ya?ml|sh|md|MD|toml|json|cpp|h|rst|txt)\b", "", where))))


def stands_in(value, text):
    text = re.sub(r"(?<=\d)_(?=\d)", "", text)
    numbers = {float(x) for x in NUMBER.findall(text)} | {float(a) * float(b) for a, b in re.findall(r"(\d+)\s*\*\s*(\d+)", text)}
    forms = {value, -value, 1 + value, value - 1, 1 - value} | ({math.exp(value), math.exp(-value)} if abs(value) < 30 else set())
    return any(abs(x - y) <= 1e-9 * abs(y) for x in numbers for y in forms)


def settings():
    """(row, field, number, evidence, source) of each number that rests on code"""
    entries, _ = sources_check.entries()
    for row in sources_check.objectives.ROWS:
        claim, said = sources_check.claim_of(row, entries[row])
        lines = [*entries[row].get("further", []), *entries[row].get("differs", [])]
        for field, value, evidence, source in [*((f, x, e, claim["source"]) for f, (x, e) in said.items()),
                                               *((x["field"], x.get("value"), x, x.get("source", "")) for x in lines)]:
            if evidence["kind"] in compare.OF_CODE and isinstance(value, (int, float)) and not isinstance(value, bool):
                yield row, field, float(value), evidence, source


def texts(evidence, source, clones, packages, shift=0):
    """The text of each cited place that is at hand"""
    where = evidence["where"]
    at = [(a or c, b or d) for a, b, c, d in [*SOURCE.findall(where), *SOURCE.findall(source)]]
    for path, first, last in cited(where):
        found = next((x for name, commit in at if (x := lines_of(name, commit, path, clones, packages)) is not None), None)
        if found is not None:
            yield "\n".join(found[first - 1 + shift:last + shift])


def main():
    if len(sys.argv) < 2 or not os.path.isdir(sys.argv[1]):
        sys.exit(__doc__)
    clones, packages, counts = sys.argv[1], tuple(sys.argv[2:]), Counter()
    for row, field, value, evidence, source in settings():
        at_hand = list(texts(evidence, source, clones, packages))
        if not at_hand:
            counts["not at hand"] += 1
        elif any(stands_in(value, text) for text in at_hand):
            check(f"{row}: {field}", True)
            counts["elsewhere"] += any(stands_in(value, text) for text in texts(evidence, source, clones, packages, 40))
        elif has_remark(evidence["where"]):
            counts["remark"] += 1
        else:
            check(f"{row}: {field} = {value:g} is not in {evidence['where']} of {source}", False)
    print(f"{counts['not at hand']} not at hand, {counts['remark']} with a remark that says how they follow")
    print(f"of those found, {counts['elsewhere']} would be found forty lines below the place too")


if __name__ == "__main__":
    sys.exit(checked(main))
