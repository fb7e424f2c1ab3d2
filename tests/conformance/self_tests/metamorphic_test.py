#!/usr/bin/env python3
"""metamorphic_test.py CONFORM VECTORS ADAPTER_C ADAPTER_C_F32: correct programs satisfy every relation of `conform --metamorphic`; for each
relation a planted mistake violates it, and the minimal case that is printed is small."""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

from changed_adapters import changed_copy
from kit import ADAPTERS, KIT, attempt, check, checked


# cases on which every relation is checked
SAMPLE = ["choices-aggregation-[ct]*", "choices-group-v*", "grpo-h*", "gspo-holes", "dapo-[ou]*", "rloo-u*", "flowrl-s*",
          "logits-t*", "logits-given-banned*", "hidden-given-b*", "logits-token-gspo-masked"]
SAMPLE_NUMPY = ["grpo-h*", "gspo-[hu]*", "dr-grpo-uneven", "tinker-ppo-*", "logits-[no]*", "logits-given-banned*", "hidden-token-dapo-*"]

# (relation, file of the mistake, {expression: its replacement}, the cases that are run)
PORT, SPLIT, LOGITS = "numpy_port.py", "numpy_split.py", "numpy_logits.py"
TOKENS = "seq, A, l, T = b.seq[i], b.A[i], b.logp[i], np.bincount(b.seq[i], minlength=b.n)"
COUNTS = "totals = yield np.array([len(at), n, groups])"
FACTOR = "ranks if averaged else 1) for p in places"
MISTAKES = [
    ("poison-numbers", PORT, {"flatnonzero(b.mask & ~(b.truncated": "flatnonzero(~(b.truncated"}, ["grpo-holes"]),
    ("poison-nan", PORT, {'"loss": np.sum(c * (S + P))': '"loss": np.sum(c * (S + P)) + np.sum(b.logp * ~b.mask * 0)'}, ["grpo-holes"]),
    ("permute-responses", PORT, {'"group_mean": x.sum() / max(len(i), 1)': '"group_mean": x[0]'}, ["grpo-uneven"]),
    ("permute-groups", PORT, {TOKENS: TOKENS + "; A = A * (b.group[seq] == 0)"}, ["grpo-signs"]),
    ("pad-right", PORT, {TOKENS: TOKENS + "; T = b.length"}, ["grpo-signs"]),
    ("pad-left", PORT, {TOKENS: TOKENS + "; A = A * b.mask[(np.cumsum(b.length) - b.length)[seq]]"}, ["grpo-signs"]),
    ("duplicate-mean", PORT, {'"seq_mean_token_mean": 1 / (n * T[seq])': '"seq_mean_token_mean": 1 / T[seq]'}, ["grpo-signs"]),
    ("duplicate-sum", PORT, {'"token_sum": 1,': '"token_sum": 1 / len(seq),'}, ["tinker-ppo-signs"]),
    ("double-rewards-normalised", PORT, {"np.sqrt(v) + (0 if": "np.sqrt(v) + 1e-4 + (0 if"}, ["grpo-uneven"]),
    ("double-rewards", PORT, {"R = b.reward +": "R = np.clip(b.reward, -1, 1) +"}, ["dr-grpo-uneven"]),
    ("double-advantages", PORT, {TOKENS: TOKENS + "; A = np.sign(A)"}, ["dapo-signs"]),
    ("shift-rewards", PORT, {"a[i] -= {": "a[i] -= 0 * {"}, ["dr-grpo-uneven"]),
    ("shift-logp", PORT, {"d, left = minus(l, old)": "d, left = np.log(l / old)"}, ["grpo-signs"]),
    ("cut-micro", SPLIT, {COUNTS: "yield 0; totals, factor = np.array([len(at), n, groups]), 1"}, ["dapo-signs"]),
    ("cut-ranks", SPLIT, {FACTOR: "1) for p in places"}, ["dapo-signs"]),
    ("pack-rows", SPLIT, {"for row in rows for i in row]": "for row in rows for i in row[:1]]"}, ["dapo-signs"]),
    ("reverse-vocabulary", LOGITS, {"log_p = z -": "z[:, 0] -= 1; log_p = z -"}, ["logits-given-banned-[12]"]),
    ("double-temperature", LOGITS, {", 0) / tau": ", 0)"}, ["logits-given-tempered-[12]"]),
    ("poison-banned", LOGITS, {"z[t, tokens] = -np.inf": "z[t, tokens] -= 5"}, ["logits-given-banned-[12]"]),
    ("shift-logits", LOGITS, {"log_p = z -": "z = np.maximum(z, -1); log_p = z -", "z / tau - z.max(1, keepdims=True) / tau": "z / tau"},
     ["logits-given-plain-[12]"]),
    ("finite-differences", PORT, {"np.where(bind | dual, 0, S), 0 * A": "np.where(bind | dual, 0, -A + 0 * S), 0 * A"}, ["grpo-signs"]),
]
SMALL = 2, 3            # the most responses and tokens of a minimal case
# fields of an objective that are always written
ALWAYS = {"advantage": {"baseline", "scale"}, "ratio": {"level"}, "surrogate": {"kind"}, "aggregation": {"kind"}}

# (arguments of adapter_c, properties for --holds, the relations that must not hold)
FIXED = [
    (["--as", "gspo"], "mean,normalised,baseline,linear,differences,gradient", set()),
    (["--as", "dr-grpo"], "mean,unnormalised,baseline,linear,differences,gradient", set()),
    (["--as", "gspo", "--set", "advantage.eps=1e-4"], "normalised", {"double-rewards-normalised"}),
    (["--as", "reinforce"], "baseline,sum", {"shift-rewards", "duplicate-sum"}),
    (["--as", "gspo", "--set", "ratio.gradient=token"], "gradient", {"finite-differences"}),
    (["--as", "krpo"], "mean", {"permute-responses"}),
    (["--as", "krpo"], "mean,order", set()),
]


def conform(arguments, program):
    run = subprocess.run([sys.argv[1], "--vectors", sys.argv[2], "--metamorphic", "--format", "json", *arguments, "--", *program],
                         capture_output=True, text=True)
    try:
        report = json.loads(run.stdout)
    except ValueError:
        raise RuntimeError(f"{program}: {run.stdout[:300]} {run.stderr[-600:]}") from None
    if (run.returncode == 1) != (report["failed"] > 0 or report["passed"] == 0):
        raise RuntimeError(f"{program}: exit status {run.returncode}, {report['failed']} failed")
    return report


def only(globs):
    return [word for glob in globs for word in ("--only", glob)]


def relations_of(report, verdict):
    return {case["id"].rsplit("/", 1)[1] for case in report["cases"] if case["verdict"] == verdict}


def planted(folder, file, edits):
    changed_copy(folder, file, edits)
    return [sys.executable, "-B", os.path.join(folder, PORT)]


def smallest(report, relation):
    for case in report["cases"]:
        if case["id"].endswith("/" + relation) and "minimal" in case:
            return case["minimal"]
    return None


def size_of(case):
    rows = case["batch"]["logp"] if "logp" in case.get("batch", {}) else case["target"]
    return len(rows), max(map(len, rows))


def left_out(case):
    """The axes of its objective that lack a field that is always written."""
    objective = case.get("objective")
    return [] if objective is None else [axis for axis, fields in ALWAYS.items() if not fields <= objective.get(axis, {}).keys()]


def wrong_with_mistake(relation, file, edits, cases):
    """What is wrong, or None."""
    with tempfile.TemporaryDirectory() as folder:
        report = conform(only(cases), planted(os.path.join(folder, "adapters"), file, edits))
    minimal = smallest(report, relation)
    if minimal is None:
        return f"it holds; those that do not: {sorted(relations_of(report, 'failed'))}"
    if any(found > allowed for found, allowed in zip(size_of(minimal["case"]), SMALL)):
        return f"the minimal case has {size_of(minimal['case'])} responses and tokens"
    if left_out(minimal["case"]) or left_out(minimal["changed"]):
        return f"the minimal case lacks fields of {left_out(minimal['case'])} that are always written"
    if not all(minimal[key] for key in ("answer", "changed", "changed_answer")):
        return "an answer is missing in the minimal case"
    return None


def check_mistake(relation, *mistake):
    wrong = wrong_with_mistake(relation, *mistake)
    check(f"a mistake that violates {relation}", wrong is None, wrong)


def check_right(name, program, arguments):
    """The relations that hold."""
    report = conform(arguments, program)
    broken = [case["id"] for case in report["cases"] if case["verdict"] == "failed"]
    print(f"{name}: {report['passed']} relations hold, {report['skipped']} skipped")
    check(name, not broken, broken[:5])
    return relations_of(report, "passed")


# answers one case as the vectors; where its rewards are larger, with an error in one response
SHIFTED = """import json, sys
sys.path[:0] = [{!r}]
import protocol
reward, right, wrong, error = json.loads({!r})
def answer(case, real):
    moved = [x - y for x, y in zip(case["batch"]["reward"], reward)]
    if len(set(moved)) > 1 or case["batch"]["reward"] != [x + moved[0] for x in reward]:
        raise protocol.Skip("another case")
    return {{"advantage": [[x + error * (i == wrong and moved[0] != 0 and x != 0) for x in row] for i, row in enumerate(right)]}}
protocol.serve("shifted", "1", {{"f64": float}}, ["advantage"], answer, {{"advantage": {{"baseline": "batch_mean"}}}})
"""
SHIFTED_IN = (("dr-grpo", "uneven"), ("gspo", "uneven"), ("loop", "extreme-50"), ("choices-advantage", "batch_mean"))


def allowed_when_shifted(case, i):
    """64 eps of |R| + |b| over the deviation, of rewards that are larger by 1."""
    reward, group, a = case["batch"]["reward"], case["batch"]["group"], case["objective"]["advantage"]
    own = [j for j in range(len(reward)) if group[j] == group[i]]
    others = range(len(reward)) if a["baseline"] == "batch_mean" else [j for j in own if j != i or a["baseline"] != "leave_one_out"]
    size = reward[i] + 1 + sum(reward[j] + 1 for j in others) / len(others)
    deviation = statistics.stdev(reward[j] for j in own) if a["scale"] == "group_std" else 1
    return 64 * 2**-52 * size / deviation


def check_shifted(vectors, row, name):
    """An advantage is allowed the rounding errors of the larger rewards, and no more."""
    with open(os.path.join(vectors, row + ".json"), encoding="utf-8") as file:
        case = next(c for c in json.load(file)["cases"] if c["id"] == f"{row}-{name}")
    right, wrong = case["expect"]["advantage"], []
    for i in (i for i in range(len(right)) if right[i] and right[i][0]):
        for share in (0.97, 1.03):
            program = SHIFTED.format(ADAPTERS,
                                     json.dumps([case["batch"]["reward"], right, i, share * allowed_when_shifted(case, i)]))
            report = conform(only([case["id"]]), [sys.executable, "-c", program])
            found = [verdict for verdict in ("passed", "failed") if case["id"] + "/shift-rewards" in
                     {c["id"] for c in report["cases"] if c["verdict"] == verdict}]
            if found != ["failed" if share > 1 else "passed"]:
                wrong.append(f"an error in response {i} of {share} times what is allowed: {found}")
    check(f"shifted rewards of {case['id']}", not wrong, wrong)


def check_table(adapter, adapter_f32):
    """Correct programs satisfy every relation of the runner's table, and for each a mistake is planted."""
    held = set()
    for name, program, arguments in (("adapter_c", [adapter], only(SAMPLE)),
                                     ("adapter_c in f32", [adapter_f32], ["--precision", "f32", *only(SAMPLE)]),
                                     ("numpy_port.py", [sys.executable, "-B", os.path.join(ADAPTERS, PORT)], only(SAMPLE_NUMPY))):
        held |= attempt(check_right, name, program, arguments) or set()
    with open(os.path.join(KIT, "runner", "relations.c"), encoding="utf-8") as f:
        every = set(re.findall(r'^    \{ "([a-z-]+)"', f.read(), re.M))
    check("every relation is checked on a correct program", every <= held, every - held)
    check("for every relation a mistake is planted", every == {m[0] for m in MISTAKES}, every ^ {m[0] for m in MISTAKES})


def check_fixed(adapter, arguments, holds, broken):
    found = relations_of(conform(["--objective-fixed", "--holds", holds], [adapter, *arguments]), "failed")
    check(f"{arguments} {holds}", found == broken, f"{found} and not {broken}")


def main():
    vectors, adapter, adapter_f32 = sys.argv[2:5]
    attempt(check_table, adapter, adapter_f32)
    for mistake in MISTAKES:
        attempt(check_mistake, *mistake)
    for row, name in SHIFTED_IN:
        attempt(check_shifted, vectors, row, name)
    for fixed in FIXED:
        attempt(check_fixed, adapter, *fixed)
    for options in (["--objective-fixed"], ["--metamorphic", "--holds", "mean"], ["--metamorphic", "--identify"], ["--holds", "nonsense"]):
        status = subprocess.run([sys.argv[1], *options, "--", adapter], capture_output=True).returncode
        check(f"{options} is refused", status == 2, f"exit status {status}")


if __name__ == "__main__":
    sys.exit(checked(main))
