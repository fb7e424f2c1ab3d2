"""Has a case of the vectors changed since the last release under the same id?

    python3 tests/released.py            # lists new, changed and removed cases; fails unless tests/vectors/CHANGES.md names them
    python3 tests/released.py --write    # at a release: writes the list of this VERSION

tests/vectors/released.txt has a line for each file of the vectors: its name, and for each case the rest of its id with a hash of
objective, batch, answers and scales. Comments, flags and known mistakes may change. A file with changed or removed cases must be named, in
backticks, in the section "Since VERSION" of CHANGES.md, with the reason."""

import hashlib
import json
import pathlib
import re
import sys

from support.counting import check, checked, count

TOP = pathlib.Path(__file__).resolve().parent.parent
VECTORS = TOP / "tests" / "vectors"
LIST = VECTORS / "released.txt"
FREE = ("id", "comment", "flags", "defects")


def digest(case):
    text = json.dumps({key: value for key, value in case.items() if key not in FREE}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def present():
    """{variant: {id: hash}} of the files."""
    found = {}
    for path in sorted(VECTORS.glob("*.json")):
        cases = json.loads(path.read_text(encoding="utf-8")).get("cases")
        if cases is not None:
            found[path.stem] = {case["id"]: digest(case) for case in cases}
    return found


def written(found):
    version = (TOP / "VERSION").read_text(encoding="utf-8").strip()
    lines = [
        " ".join([variant] + [f"{name[len(variant) + 1:]}={value}" for name, value in cases.items()])
        for variant, cases in found.items()
    ]
    return "\n".join([version, *lines]) + "\n"


def released():
    version, *lines = LIST.read_text(encoding="utf-8").splitlines()
    found = {}
    for variant, *cases in (line.split(" ") for line in lines):
        found[variant] = {f"{variant}-{name}": value for name, value in (case.rsplit("=", 1) for case in cases)}
    return version, found


def mentioned(version):
    """The names in backticks in the section of CHANGES.md about what came after this version."""
    text = (VECTORS / "CHANGES.md").read_text(encoding="utf-8")
    section = re.search(rf"^## Since {re.escape(version)}$(.*?)(?=^## |\Z)", text, re.M | re.S)
    return set(re.findall(r"`([^`]+)`", section[1])) if section else set()


def differences(before, now):
    """The changes: {variant: {"new": [id], "changed": [id], "gone": [id]}}, of variants with changes."""
    found = {}
    for variant in sorted(set(before) | set(now)):
        old, new = before.get(variant, {}), now.get(variant, {})
        told = {
            "new": [name for name in new if name not in old],
            "changed": [name for name in new if name in old and new[name] != old[name]],
            "gone": [name for name in old if name not in new],
        }
        if any(told.values()):
            found[variant] = told
    return found


def versions():
    """The version in each place that has it, which must be the same."""
    places = {
        "VERSION": r"^(\S+)$",
        "grpo.h": r'^#define GRPO_VERSION "([^"]+)"',
        "meson.build": r"version: '([^']+)',\n  license",
        "CMakeLists.txt": r"project\(grpo VERSION (\S+)",
    }
    return {name: re.findall(pattern, (TOP / name).read_text(encoding="utf-8"), re.M)[:1] for name, pattern in places.items()}


def check_cases():
    now = present()
    version, before = released()
    told, said, unsaid = differences(before, now), mentioned(version), 0
    for variant, what in told.items():
        line = ", ".join(f"{len(names)} {word}" for word, names in what.items() if names)
        print(f"{variant}: {line} since {version}")
        for name in what["changed"] + what["gone"] if variant not in said else []:
            how = "gone" if name in what["gone"] else "changed"
            check(f"{name} is {how}: tests/vectors/CHANGES.md has to name `{variant}` under Since {version}, and say why", False)
            unsaid += 1
    count(sum(map(len, before.values())) - unsaid, 0)


def check_version():
    places = versions()
    check("the version is the same everywhere", all(places.values()) and len({*map(tuple, places.values())}) == 1, places)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        LIST.write_text(written(present()), encoding="utf-8")
    else:
        sys.exit(checked(check_cases, check_version))
