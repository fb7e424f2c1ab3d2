"""The light set, vectors-core: what a port of the fifteen best-known objectives needs, for those who keep the vectors in their own tree.

    python3 packages/core.py FOLDER      writes it: 15 files, DEFECTS.md and README.md, below 1 MB

Cases of tests/vectors as they are, under their ids: no number is made here. `conform --vectors FOLDER` runs them."""

import json
import pathlib
import shutil
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
VECTORS = TOP / "tests" / "vectors"
MOST_BYTES = 1_000_000

ROWS = (
    "reinforce ppo rloo remax reinforce++ reinforce++-baseline grpo dr-grpo dapo gspo gmpo cispo sapo tis icepop".split()
)
# lengths and masks; clips and large log-ratios; rewards and groups; infinities; everything at once
SCENARIOS = """ragged holes fully-masked everything-masked nan-masked
    on-policy near signs extreme-800-good all-clipped-high
    equal-rewards offset-rewards singleton
    neginf-both rollout values every-array""".split()


def cases(row):
    """(first line of the file, lines of its cases)"""
    head, *lines = (VECTORS / f"{row}.json").read_text(encoding="ascii").splitlines()
    kept = []
    for line in lines[:-1]:
        name = json.loads(line.rstrip(","))["id"]
        if name[len(row) + 1 :] in SCENARIOS:
            kept.append(line.rstrip(","))
    return head, kept


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for row in ROWS:
        head, kept = cases(row)
        (folder / f"{row}.json").write_text(head + "\n" + ",\n".join(kept) + "\n]}\n", encoding="ascii")
    for name in ("DEFECTS.md", "README.md"):
        shutil.copy(VECTORS / name, folder)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(pathlib.Path(sys.argv[1]))
