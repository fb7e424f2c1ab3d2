"""Tests profiles and expectations with the ports here: a convention is acceptable by its profile, and nothing else is.

    python3 tests/conformance/self_tests/profiles_test.py CONFORM ADAPTER_C

The rules that no field of an objective holds are made by the NumPy port, which knows nothing of recompute.c.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

from changed_adapters import changed_copy
from kit import ADAPTERS, HERE, KIT, attempt, check, checked

CONFORM, ADAPTER = sys.argv[1:3]
EPS = {"what": "1e-4 is added to the deviation", "if": {"advantage.scale": "group_std"},
       "change": {"advantage.eps": 1e-4, "advantage.eps_place": "add"}}
CLAMP = {"what": "log-ratios are clamped", "change": {"ratio.clamp_low": -2, "ratio.clamp_high": 2}}
RULES = [  # the hook of the NumPy port, the rule, the rows
    ({"row_tokens": 1e-6}, {"what": "row", "if": {"aggregation.kind": "seq_mean_token_mean"}, "rule": {"row_tokens": 1e-6}},
     ["grpo-*", "gspo-signs", "logits-token-grpo-*", "hidden-sequence-gspo-*"]),
    ({"mean_tokens": 1e-6}, {"what": "whiten", "change": {"advantage.eps": 1e-8, "advantage.eps_place": "inside"},
                             "if": {"advantage.scale": "token_whiten"}, "rule": {"whitening_tokens": 1e-6}}, ["reinforce++-*"]),
    ({"token_mean": 1e-6}, {"what": "mean", "if": {"aggregation.kind": "token_mean"}, "rule": {"mean_tokens": 1e-6}},
     ["dapo-*", "hidden-token-dapo-*"]),
    ({"log_ratio_mean": 1e-6}, {"what": "level", "if": {"ratio.level": "sequence_mean"}, "rule": {"level_tokens": 1e-6}},
     ["gspo-[efnrs]*", "gspo-token-[enr]*", "logits-sequence-gspo-token-*", "choices-ratio-sequence_mean-*-ppo_clip"]),
    ({"row_tokens": 1e-6, "pool_tokens": 1e-6}, {"what": "pool", "rule": {"pooled_tokens": 1e-6, "row_tokens": 1e-6}}, ["gmpo-*"]),
    ({"inverse_band": True}, {"what": "band", "if": {"weight.rollout_rejected": "unmask"}, "rule": {"rejection_of_inverse": 1}},
     ["choices-weight-*-unmask"]),
]
NUMPY = """import sys
sys.path[:0] = [{0!r}, {0!r} + "/../adapters"]
import hooked_port, numpy as np, numpy_port, protocol
def answer(case, real):
    a = case["objective"]["advantage"]
    if "mean_tokens" in {1!r} and a["scale"] == "token_whiten":
        a.update(eps=1e-8, eps_place="inside")
    return numpy_port.answer(case, real)
with hooked_port.hooked({1!r}):
    protocol.serve("hooked", "1", {{"f64": np.float64}}, ["loss"], answer)
"""


def profile(folder, *conventions):
    path = os.path.join(folder, "profile.json")
    with open(path, "w") as file:
        json.dump({"program": "", "release": "", "conventions": conventions}, file)
    return path


def run(rows, program, *options):
    only = [x for row in rows for x in ("--only", row)]
    done = subprocess.run([CONFORM, *only, *options, "--", *program], capture_output=True, text=True)
    last = re.search(r"(\d+) passed, (\d+) failed, (\d+) skipped(?:, (\d+) acceptable)?$", done.stdout.strip())
    return done.returncode, *([int(x or 0) for x in last.groups()] if last else [0] * 4)


def conventions(folder):
    rows, set_eps = ["grpo-*"], [ADAPTER, "--set", "advantage.eps=1e-4"]
    path = profile(folder, EPS)
    status, passed, failed, _, acceptable = found = run(rows, set_eps, "--profile", path)
    check("it is acceptable by its profile", status == 0 and not failed and acceptable > 10, found)
    check("not with --strict", run(rows, set_eps, "--profile", path, "--strict")[0] == 1, "status 0")
    for mistake in ("surrogate.eps_high=0.3", "advantage.eps=1e-6", "aggregation.kind=token_mean"):
        status, _, failed, _, _ = found = run(rows, [*set_eps, "--set", mistake], "--profile", path)
        check(f"nor with {mistake}", status == 1 and failed > 3, found)
    status, _, failed, _, acceptable = found = run(rows, [ADAPTER, "--set", "ratio.clamp_low=-2", "--set", "ratio.clamp_high=2"],
                                                   "--profile", profile(folder, CLAMP, EPS))
    check("a clamp of log-ratios is acceptable by its profile", status == 0 and not failed and acceptable >= 3, found)
    for wrong in ({**EPS, "if": {"advantage.scales": "group_std"}}, {**EPS, "flag": ["NegInf"]}, {"what": "nothing"},
                  {**EPS, "rule": {"x": 1}}):
        status = run(rows, [ADAPTER], "--profile", profile(folder, wrong))[0]
        check(f"a profile with a misspelt word is refused: {wrong}", status == 2, "read")


def settings(*changes):
    return [ADAPTER, *[word for change in changes for word in ("--set", change)]]


def documented(folder):
    """Documented conventions are acceptable without a profile, each for all cases to which it applies or for none."""
    rows = ["grpo-*", "dapo-*", "gspo-*"]
    for changes in (["advantage.eps=1e-4"], ["advantage.std=population"], ["advantage.singleton=raw"],
                    ["advantage.eps=1e-6", "advantage.singleton=raw"]):
        program = settings(*changes)
        status, _, failed, _, acceptable = found = run(["gspo-*"], program)
        check(f"{changes} is documented", status == 0 and not failed and acceptable, found)
        status, _, failed, _, acceptable = found = run(["gspo-*"], program, "--strict")
        check(f"{changes}: --strict diagnoses it", status == 1 and failed and not acceptable, found)
    for changes in (["advantage.eps=2e-4"], ["advantage.eps=1e-4", "advantage.eps_place=inside"], ["surrogate.eps_high=0.3"],
                    ["advantage.eps=1e-4", "advantage.baseline_shift=0.5"], ["advantage.std=population", "advantage.clamp_high=1"],
                    ["advantage.eps=1e-6", "advantage.baseline=leave_one_out"], ["aggregation.kind=token_sum"]):
        status, _, failed, _, acceptable = found = run(rows, settings(*changes))
        check(f"{changes} is no documented convention", status == 1 and failed and not acceptable, found)
    status, _, failed, _, acceptable = found = run(["gspo-*"], settings("advantage.eps=1e-4", "surrogate.eps_high=0.3"))
    check("a mistake in the loss is none, a convention in its advantages or not", status == 1 and failed > 3, found)
    coarse = run(["gspo-*"], settings("advantage.std=population"), "--tolerance", "1e13")
    check("where much is tolerated no convention is told from a mistake", coarse[0] == 1 and not coarse[4], coarse)
    acceptable = run(["gspo-*"], settings("advantage.eps=1e-4"), "--profile", profile(folder))[4]
    check("a profile says all that the program has", not acceptable, "acceptable")


def answers(folder):
    """`answers`: a program that answers NaN, or 0, in the cases with NaN at masked tokens."""
    text = "import sys\nsys.path[:0] = [%r]\nimport numpy as np, numpy_port, protocol\ndef answer(case, real):\n" \
           "    found = numpy_port.answer(case, real)\n    return {**found, 'loss': %s} if 'nan-masked' in case['id'] else found\n" \
           "protocol.serve('nan', '1', {'f64': np.float64}, ['loss'], answer)"
    path = profile(folder, {"what": "NaN spreads", "flags": ["NaNMasked"], "outputs": ["loss"], "answers": ["NaN"]})
    for value, wanted in (("float('nan')", 0), ("0.0", 1)):
        program = ["/usr/bin/python3", "-c", text % (ADAPTERS, value)]
        status = run(["gspo-nan-masked*"], program, "--profile", path)[0]
        check(f"{value} is {'not ' * wanted}an answer listed", status == wanted, "it is judged otherwise")


def rules(folder):
    for hook, convention, rows in RULES:
        program = ["/usr/bin/python3", "-c", NUMPY.format(HERE, hook)]
        status, _, failed, _, acceptable = found = run(rows, program, "--profile", profile(folder, convention))
        check(f"{convention['rule']} is what the NumPy port makes of it", status == 0 and not failed and acceptable, found)
        other = {**convention, "rule": {key: 2 * value if value < 1 else 0 for key, value in convention["rule"].items()}}
        check(f"and not another number: {other['rule']}", run(rows, program, "--profile", profile(folder, other))[2], "none fails")


PARTS = {"what": "each micro-batch has its own mean", "rule": {"parts_apart": 1}}
OF_PARTS = ["partition-micro-[ahu]*[elst]-grpo", "partition-micro-*-tunix-grpo", "partition-micro-*gspo", "partition-ranks-two-g[rs]p*",
            "partition-ranks-two-tunix*", "split-grpo-empty"]


def parts(folder):
    """`parts_apart`: in the NumPy port's ranks, each part divides by its own responses; its sums are added, and averaged over ranks."""
    def port(name, averaged):
        where = os.path.join(folder, name)
        changed_copy(where, "numpy_split.py", {
            "totals = yield np.array([len(at), n, groups])": f"yield 0; totals, factor = np.array([len(at), n, groups]), {averaged}",
            "result = {key: [r[key] for r in reports] for key in": "result = {key: [] for key in () and",
            'sum(result["part_loss"]) / (ranks': 'sum(r["part_loss"] for r in reports) / (ranks'})
        return ["/usr/bin/python3", "-B", os.path.join(where, "numpy_port.py")]

    program, summed = port("averaged", "1"), port("summed", "factor")
    status, _, failed, _, acceptable = found = run(OF_PARTS, program, "--profile", profile(folder, PARTS))
    check("parts_apart is what the NumPy port makes of it", status == 0 and not failed and acceptable >= 10, found)
    found = run(OF_PARTS, program, "--profile", profile(folder, {**PARTS, "rule": {"parts_apart": 0}}))
    check("and not a rule of 0", found[2] >= 10 and not found[4], found)
    found = run(["partition-ranks-two-g[rs]p*"], summed, "--profile", profile(folder, PARTS))
    check("a sum over ranks is not taken for their average", found[2] >= 2 and not found[4], found)
    found = run(["partition-context-zigzag-oreal", "partition-context-zigzag-vpd"], settings("aggregation.kind=token_sum"), "--profile",
                profile(folder, {"what": "a sum", "change": {"aggregation.kind": "token_sum"}}))
    check("a change without a rule, of cases with terms beside the policy's", found[0] == 0 and found[4] == 2, found)


SINGLE = """import sys
sys.path[:0] = [{0!r}]
import numpy as np, numpy_port, protocol
def answer(case, real):
    found = numpy_port.answer(case, np.float32)
    scale, n = case["kind"] == "objective" and SCALE.get(case["id"], 0), sum(case["batch"]["length"])
    return {{**found, "loss": LOSS.get(case["id"], 0) + {1!r} * (n + 16) / 2 * 2.0**-23 * scale}} if {1!r} else found
import json, glob
CASES = [c for f in glob.glob({2!r} + "/gspo.json") + glob.glob({2!r} + "/dapo.json") for c in json.load(open(f))["cases"]]
LOSS = {{c["id"]: float(c["expect"]["loss"]) for c in CASES}}
SCALE = {{c["id"]: max(float(c["scale"]["loss"]), abs(LOSS[c["id"]])) for c in CASES}}
protocol.serve("single", "1", {{"f64": np.float64}}, ["loss", "dlogp", "advantage"], answer)
"""
ROUNDING = {"what": "all is float32", "rounding": "f32"}


def rounding(folder):
    """`rounding`: float32 in a run in double precision is acceptable within the bound for rounding if the profile states it."""
    rows, path = ["gspo-signs", "dapo-signs", "gspo-ragged", "dapo-uneven"], profile(folder, ROUNDING)
    single = [["/usr/bin/python3", "-c", SINGLE.format(ADAPTERS, share, os.path.join(KIT, os.pardir, "vectors"))]
              for share in (0, 0.98, 1.02)]
    found = run(rows, single[0], "--profile", path)
    check("a program in float32 is acceptable by its profile", found[:3] == (0, 0, 0) and found[4] == 4, found)
    check("and red without", run(rows, single[0], "--strict")[2] == 4, "passed")
    check("an error just below what rounding can make", run(rows, single[1], "--profile", path)[2] == 0, "failed")
    check("an error just above it", run(rows, single[2], "--profile", path)[2] == 4, "accepted")
    for mistake in ("surrogate.eps_high=0.3", "aggregation.kind=token_sum", "advantage.eps=1e-5"):
        check(f"{mistake} is no rounding", run(rows, settings(mistake), "--profile", path)[2] > 0, "accepted")
    path = profile(folder, ROUNDING, EPS)
    text = subprocess.run([CONFORM, "--only", "gspo-ragged", "--profile", path, "--format", "json", "--", *settings("advantage.eps=1e-4")],
                          capture_output=True, text=True).stdout
    case = json.loads(text)["cases"][0]
    check("what is stated and exact is no rounding", case["conventions"] == [EPS["what"]] and "rounding" not in case, case)
    tiny = {**EPS, "change": {"advantage.eps": 1e-9, "advantage.eps_place": "add"}}
    one_case = [CONFORM, "--only", "gspo-ragged", "--profile", profile(folder, ROUNDING, tiny), "--format", "json", "--", *single[0]]
    case = json.loads(subprocess.run(one_case, capture_output=True, text=True).stdout)["cases"][0]
    both = sorted((ROUNDING["what"], tiny["what"]))
    check("a convention that rounding hides is told, each once", sorted(case["conventions"]) == both, case)
    check("the error and its bound", 0 < case["rounding"][0] < case["rounding"][1] <= 64, case)
    check("another word for it", run(rows, single[0], "--profile", profile(folder, {"what": "x", "rounding": "f16"}))[0] == 2, "read")


def expectations(folder):
    path, rows = os.path.join(folder, "expected.json"), ["gspo-*"]
    mistaken = [ADAPTER, "--set", "surrogate.eps_high=0.3"]
    statuses = [run(rows, program, "--expect", path)[0] for program in (mistaken, mistaken, [ADAPTER])]
    check("expectations are written, met, and not met by a program that is right", statuses == [1, 0, 1], statuses)
    check("some of the cases alone", run(["gspo-signs"], mistaken, "--expect", path)[0] == 0, "changed")


def main():
    for test in (conventions, documented, answers, rules, parts, rounding, expectations):
        with tempfile.TemporaryDirectory() as folder:
            attempt(test, folder)


if __name__ == "__main__":
    sys.exit(checked(main))
