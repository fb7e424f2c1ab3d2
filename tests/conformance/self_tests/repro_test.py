"""The pytest that `conform --repro` writes names mistake, formula and source, fails for the planted mistake and passes for right functions.

    python3 tests/conformance/self_tests/repro_test.py CONFORM ADAPTER_C

It is run with pytest where that is installed, and else by calling its functions. Without torch nothing can be run: exit status 77.
"""
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import types

from kit import HERE, KIT, attempt, check, checked

try:
    import torch  # noqa: F401
except ImportError:
    sys.exit(77)

CONFORM, ADAPTER = sys.argv[1:3]
PYTEST = importlib.util.find_spec("pytest")
GSPO = """
    rows = []
    for l, o, a in zip(logp, numbers(batch["logp_old"]), advantage):
        w = torch.exp((l - torch.tensor(o, dtype=DTYPE)).mean().detach() + l - l.detach()) if {token} else \\
            torch.exp((l - torch.tensor(o, dtype=DTYPE)).mean()).expand(len(a))
        a = torch.tensor(a, dtype=DTYPE)
        rows.append(-torch.minimum(w * a, w.clamp(1 - 3e-4, 1 + {high}) * a).mean())
    return {{"loss": torch.stack(rows).mean()}}
"""
GRPO = """
    r, g = numbers(batch["reward"]), batch["group"]
    a = []
    for i, group in enumerate(g):
        own = torch.tensor([x for x, k in zip(r, g) if k == group], dtype=DTYPE)
        a.append(((r[i] - {baseline}) / own.std()).item() if len(own) > 1 and own.std() > 0 else 0.0)
    return {{"advantage": [[x] * n for x, n in zip(a, batch["length"])]}}
"""
CASES = [  # rows, case, the mistake, what the text must say, the function with the mistake, the right one
    ("gspo-*", "gspo-signs", "surrogate.eps_high=0.3", ["surrogate.eps_high = 0.3", "2507.18071, equations 5-7", "length-normalised"],
     GSPO.format(high=0.3, token=False), GSPO.format(high=4e-4, token=False)),
    ("grpo-*", "grpo-full", "advantage.baseline=none", ["baseline", "2402.03300"],
     GRPO.format(baseline="0"), GRPO.format(baseline="own.mean()")),
]


def parametrize(name, values):
    return lambda function: lambda: [function(value) for value in values]


def passes(folder, text):
    path = os.path.join(folder, "test_repro.py")
    with open(path, "w") as file:
        file.write(text)
    if PYTEST:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", path]
        return subprocess.run(command, stdout=subprocess.DEVNULL).returncode == 0
    sys.modules["pytest"] = types.SimpleNamespace(mark=types.SimpleNamespace(parametrize=parametrize))
    module = {"__name__": "test_repro"}
    exec(compile(text, path, "exec"), module)
    try:
        module["test_case"]()
    except AssertionError:
        return False
    return True


def written(rows, case, *program):
    return subprocess.run([CONFORM, "--only", rows, "--repro", case, "--", *program], capture_output=True, text=True)


def check_case(folder, rows, case, mistake, words, wrong, right):
    done = written(rows, case, ADAPTER, "--set", mistake)
    found = [word for word in words if word not in done.stdout]
    bodies = [done.stdout.replace("    raise NotImplementedError\n", body) for body in (wrong, right)]
    results = [done.returncode == 0 and passes(folder, body) for body in bodies]
    check(case, not found and results == [False, True],
          f"the text lacks {found}, passes with and without the mistake: {results}; {done.stderr}")


def check_infinite(folder):
    """Where an infinite loss is right, no finite one is, nor the other infinity or NaN."""
    tampered = os.path.join(HERE, "tampered.py")
    program = [sys.executable, tampered, "if case: reply['result'] = {'loss': 5}"]
    text = written("gspo-extreme-*", "gspo-extreme-800-bad", *program, ADAPTER).stdout
    found = [passes(folder, text.replace("    raise NotImplementedError\n", f"    return {{'loss': torch.tensor(float('{x}'))}}\n"))
             for x in ("5", "-inf", "nan", "inf")]
    check("an infinite loss", found == [False, False, False, True], found)


def check_cut():
    """For a case cut into parts the pytest has the cut; --format c is refused."""
    case, mistake = "partition-micro-halves-dapo", ("--set", "surrogate.eps_high=0.01")
    with open(os.path.join(KIT, os.pardir, "vectors", "partition-micro.json")) as file:
        known = next(c for c in json.load(file)["cases"] if c["id"] == case)
    text = written("partition-micro-*", case, ADAPTER, *mistake).stdout
    cut = re.search(r"^CUT = json.loads\(r'''(.*)'''\)$", text, re.MULTILINE)
    keys = ("parts", "ranks", "reduce", "context_ranks", "filtered")
    ok = cut and json.loads(cut[1]) == {key: known[key] for key in keys if key in known}
    as_c = subprocess.run([CONFORM, "--only", "partition-micro-*", "--repro", case, "--format", "c", "--", ADAPTER, *mistake],
                          capture_output=True)
    check("a case cut into parts: the pytest", ok, cut)
    check("a case cut into parts: --format c", as_c.returncode == 2 and not as_c.stdout, as_c.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            attempt(check_case, folder, *case)
        attempt(check_infinite, folder)
    attempt(check_cut)
    check("a case with which nothing is wrong", written("gspo-*", "gspo-signs", ADAPTER).returncode == 2)
    check("a case that is not there", written("gspo-*", "gspo-sign", ADAPTER).returncode == 2)


if __name__ == "__main__":
    sys.exit(checked(main))
