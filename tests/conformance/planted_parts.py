#!/usr/bin/env python3
"""planted_parts.py CONFORM VECTORS: mistakes of cuts that are planted in adapters/numpy_split.py, where ranks exchange what they count and
add, are named. Each is one expression of that file, or two, that another one replaces."""
import json
import os
import subprocess
import sys
import tempfile

from changed_adapters import changed_copy

ROWS = ("dapo", "grpo", "gspo", "luspo", "cispo")

COUNTS = "totals = yield np.array([len(at), n, groups])"
FACTOR = "ranks if averaged else 1) for p in places"
THROUGH = "through = whole[seq].astype(l.dtype)"
OWN_THROUGH = "through = total(through, seq, b.n)[seq].astype(l.dtype)"

# (name, {what stands there: what does instead}, the cases that are asked)
PLANTED = [
    ("NORM-09", {FACTOR: "1) for p in places"}, "ranks-*"),
    ("PART-02", {FACTOR: "ranks) for p in places"}, "ranks-*"),
    ("NORM-10a", {COUNTS: "yield 0; totals, factor = np.array([len(at), n, groups]), 1"}, "micro-*"),
    ("PART-05", {"sum(1 for i in here if T[i] or not drop)": "len({b.seq[k] for k in places if T[b.seq[k]] or not drop})"}, "context-*"),
    ("PART-11", {COUNTS: "totals = yield np.array([max(1, len(at)), n, groups])", '"part_tokens": len(at)': '"part_tokens": max(1, len(at))'},
     "survivors-*"),
    ("PART-19", {'sum(result["part_loss"]) / (ranks if averaged else 1)':
                 'sum(x for x, p in zip(result["part_loss"], case["parts"]) if p["rank"] == 0)'}, "ranks-*"),
    ("PART-21", {"sums = yield total(d, seq, b.n)": "yield 0; sums, T = total(d, seq, b.n), np.bincount(seq, minlength=b.n)",
                 THROUGH: OWN_THROUGH}, "context-*"),
    ("PART-22", {THROUGH: OWN_THROUGH}, "context-*"),
    ("PART-07", {"for k, s in enumerate(step_of) if s == step]": "for k, s in enumerate(step_of)]"}, "steps-[fru]*"),
]


def planted(folder, edits):
    changed_copy(folder, "numpy_split.py", edits)
    return os.path.join(folder, "numpy_port.py")


def named(conform, vectors, program, cases):
    """[(name, others that give the same, cases)] of the groups of failures."""
    only = [word for row in ROWS for word in ("--only", f"partition-{cases}-{row}")]
    run = subprocess.run([conform, "--vectors", vectors, "--format", "json", *only, "--", sys.executable, "-B", program],
                         capture_output=True, text=True)
    return [(g.get("name"), g.get("also") or [], len(g.get("cases", ()))) for g in json.loads(run.stdout)["groups"]]


def main():
    conform, vectors = sys.argv[1:3]
    failed = 0
    for name, edits, cases in PLANTED:
        with tempfile.TemporaryDirectory() as folder:
            found = named(conform, vectors, planted(os.path.join(folder, "adapters"), edits), cases)
        right = bool(found) and (found[0][0] == name or name in found[0][1])
        failed += not right
        print(f"{'' if right else 'FAIL '}{name}: {', '.join(f'{cases} cases: {said}' for said, _, cases in found) or 'no failure'}")
    print(f"{len(PLANTED) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
