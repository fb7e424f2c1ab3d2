#!/usr/bin/env python3
"""snippets_test.py CONFORM VECTORS: the adapters printed in README.md and adapters/README.md work as printed, with a right loss where one
has to be filled in; and the lengths that the pages state are those of the files."""
import json
import os
import re
import subprocess
import sys
import tempfile

from kit import KIT, attempt, check, checked

CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)
# the loss to fill in in README.md: right, and with a mistake that `--metamorphic` finds
LOSS = """
import math

def my_loss(logp, logp_old, advantage, mask, eps_low, eps_high):
    terms, dlogp = [], [[0.0] * len(row) for row in logp]
    for i, row in enumerate(dlogp):
        active = [t for t in range(len(row)) if mask is None or mask[i][t]]
        for t in ACTIVE:
            x, a = 0.0 if logp[i][t] == logp_old[i][t] else logp[i][t] - logp_old[i][t], advantage[i][t]
            w = math.exp(x) if x < 709 else math.inf
            plain, clipped = (-w * a, -min(max(w, 1 - eps_low), 1 + eps_high) * a) if a else (0.0, 0.0)
            terms.append(max(plain, clipped) / len(active or row) / len(logp))
            row[t] = (plain if plain >= clipped else 0.0) / len(active or row) / len(logp)
    return math.fsum(terms), dlogp

"""
RIGHT, MASK_IGNORED = LOSS.replace("ACTIVE", "active"), LOSS.replace("ACTIVE", "range(len(row))")
CLOSE = 0.1             # largest relative error of a length that a page states
# (page, a pattern with the number of lines that it states, the code that this is about)
LENGTHS = (
    ("PROTOCOL.md", r"needs (?:about |some )?(\d+) lines: `adapters/README.md`", "template"),
    ("../vectors/README.md", r"the (\d+)-line template", "template"),
    ("adapters/README.md", r"`numpy_port.py` \|[^|]*\b(\d+) lines", "adapters/numpy_port.py"),
)


def read(path):
    with open(os.path.join(KIT, path), encoding="utf-8") as f:
        return f.read()


def snippet():
    return CODE.search(read("README.md"))[1]


def template():
    return CODE.search(read("adapters/README.md").split("<!-- template -->")[1])[1]


def conform(code, *options):
    """Runs CONFORM on the program with this code: (the report, standard error)."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "adapter.py")
        with open(path, "w", encoding="utf-8") as f:
            f.write(code)
        run = subprocess.run([sys.argv[1], "--vectors", sys.argv[2], "--format", "json", *options, "--", sys.executable, path],
                             capture_output=True, text=True)
    return json.loads(run.stdout), run.stderr


def check_right(name, code):
    report, _ = conform(code)
    counts = f"{report['passed']} passed, {report['failed']} failed, {report['skipped']} skipped"
    print(f"{name}: {counts}")
    check(name, report["passed"] > 0 and not report["failed"], counts)


def check_minimal(code):
    """The reduced cases that --metamorphic tries keep the fields that are always written, so that the adapter does not raise KeyError."""
    report, errors = conform(code, "--metamorphic", "--only", "choices-*", "--only", "dr-grpo-h*")
    minimal = [case["minimal"] for case in report["cases"] if "minimal" in case]
    print(f"with a mask that is ignored: {report['failed']} relations do not hold, {len(minimal)} minimal cases")
    check("minimal cases", minimal and "KeyError" not in errors, f"{len(minimal)}; {errors[-200:]}")


def check_length(page, pattern, meant):
    stated = re.search(pattern, read(page))
    lines = (template() if meant == "template" else read(meant)).count("\n")
    check(page, stated and abs(int(stated[1]) - lines) <= CLOSE * lines,
          f"{stated[0] if stated else pattern + ' is not there'}: {meant} has {lines} lines")


def check_first():
    """vectors/README.md states the objective of the first case of gspo.json."""
    sentence = re.search(r"the first one of `gspo.json` says ([^.]*(?:\.\w[^.]*)*)\. ", read("../vectors/README.md"))
    with open(os.path.join(sys.argv[2], "gspo.json"), encoding="utf-8") as f:
        objective = json.load(f)["cases"][0]["objective"]
    stated = re.findall(r"`(\w+)\.(\w+)` =\s`(\w+)`", sentence[1] if sentence else "")
    check("vectors/README.md of gspo.json", len(stated) == 3 and all(objective[axis].get(field) == x for axis, field, x in stated),
          f"{stated}, and it has {objective}")


def main():
    attempt(check_right, "the template of adapters/README.md", template())
    attempt(check_right, "README.md with a right loss", RIGHT + snippet())
    attempt(check_minimal, MASK_IGNORED + snippet())
    attempt(check_first)
    for length in LENGTHS:
        attempt(check_length, *length)


if __name__ == "__main__":
    sys.exit(checked(main))
