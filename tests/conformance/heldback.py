"""Compares two adapters on random batches that are in no file:

    python heldback.py 7 trl- -- build/tests/conformance/adapter_c -- VENV/bin/python tests/conformance/adapters/trl_adapter.py

7 is the random seed; trl-: the rows whose names begin with it. Neither program can have been fitted to these batches. All numbers of the
two answers have to agree to 1e-12 of the largest number of the output; what one program skips or leaves out is not compared.
"""
import json
import math
import os
import random
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
VECTORS = os.path.join(HERE, "..", "vectors")
AGREE = 1e-12
BATCHES = 20  # of each row


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]  # rounded to binary32, like all inputs


def batch(draw, per_group):
    """Groups of one size, masks with holes but at least one token per response."""
    groups = draw.randint(1, 4)
    length = [draw.randint(1, 12) for _ in range(groups * per_group)]
    base = [[-draw.expovariate(0.7) - 0.01 for _ in range(n)] for n in length]
    near = lambda: [[single(min(x + draw.gauss(0, 0.3), -1e-3)) for x in row] for row in base]
    mask = [[draw.random() < 0.8 for _ in range(n)] for n in length]
    for row in mask:
        row[draw.randrange(len(row))] = True
    return {"group": [g for g in range(groups) for _ in range(per_group)], "length": length, "mask": mask,
            "baseline": [single(draw.random()) for _ in range(groups)],
            "reward": [single(draw.choice([0, 1, draw.gauss(0, 1)])) for _ in length],
            "logp": near(), "logp_old": near(), "logp_ref": near(), "logp_rollout": near(),
            "value": [[single(draw.gauss(0, 1)) for _ in range(n)] for n in length]}


def rows(prefix):
    return sorted(file[:-5] for file in os.listdir(VECTORS) if file.startswith(prefix) and file.endswith(".json"))


def cases(draw, prefix):
    for name in rows(prefix):
        with open(os.path.join(VECTORS, name + ".json")) as file:
            objective = json.load(file)["cases"][0]["objective"]
        for number in range(BATCHES):
            b = batch(draw, draw.randint(2, 6))
            a = [draw.gauss(0, 1) for _ in b["length"]]
            advantage = [[x if keep else 0.0 for keep in row] for x, row in zip(a, b["mask"])]
            yield {"id": f"{name}-heldback-{number}", "kind": "objective", "objective": objective, "batch": b, "advantage": advantage}


class Program:
    def __init__(self, command):
        self.pipe = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.name = self.ask({"cmd": "start", "version": 1, "precision": "f64"})["name"]

    def ask(self, request):
        self.pipe.stdin.write(json.dumps(request) + "\n")
        self.pipe.stdin.flush()
        return json.loads(self.pipe.stdout.readline())


def flat(x):
    return [z for y in x for z in flat(y)] if isinstance(x, list) else [float(x)]


def distance(x, y):
    """The largest difference of two outputs, relative to the largest number in them; infinite where one has other infinities, a NaN, or
    another number of numbers."""
    x, y = flat(x), flat(y)
    if len(x) != len(y) or not all(map(math.isfinite, x + y)):
        return 0.0 if x == y else math.inf
    largest = max(map(abs, x + y), default=0)
    return max((abs(p - q) for p, q in zip(x, y)), default=0) / largest if largest else 0.0


def main(arguments):
    first, second = (Program(c) for c in split(arguments))
    draw, worst, counts = random.Random(int(arguments[0])), {}, {"agree": 0, "differ": 0, "skipped": 0}
    for case in cases(draw, arguments[1]):
        answers = [p.ask({"cmd": "run", "seq": 1, "case": case}) for p in (first, second)]
        results = [a.get("result") for a in answers]
        row = case["id"].split("-heldback")[0]
        if None in results:
            counts["skipped"] += 1
            continue
        one, other = results
        apart = {key: distance(one[key], other[key]) for key in ("advantage", "loss", "dlogp") if key in one and key in other}
        if not apart:
            counts["skipped"] += 1
            continue
        for key, d in apart.items():
            worst[row, key] = max(worst.get((row, key), 0), d)
        counts["agree" if all(d <= AGREE for d in apart.values()) else "differ"] += 1
    for (row, key), d in worst.items():
        print(f"{row:26} {key:10} {d:.1e}{'' if d <= AGREE else '  differs'}")
    print(f"{first.name} and {second.name}: {counts['agree']} batches agree, {counts['differ']} differ, {counts['skipped']} skipped by one")
    return counts["differ"] > 0 or not counts["agree"]


def split(arguments):
    marks = [i for i, a in enumerate(arguments) if a == "--"]
    return arguments[marks[0] + 1:marks[1]], arguments[marks[1] + 1:]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
