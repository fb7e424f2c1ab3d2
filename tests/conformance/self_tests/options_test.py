#!/usr/bin/env python3
"""options_test.py CONFORM VECTORS ADAPTER_C [PART...]: exit statuses, tolerances, the verdicts of every format, `--expect`; `--metamorphic`
compares every output; what is named of several wrong outputs, of factors and of two changes. The program is ADAPTER_C with some of its
replies changed (tampered.py)."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True
from kit import HERE, KIT, attempt, check, checked

sys.path.append(KIT)
import heldback

CONFORM, VECTORS, ADAPTER = sys.argv[1:4]


def tampered(change, *arguments):
    return [sys.executable, os.path.join(HERE, "tampered.py"), change, ADAPTER, *arguments]


def conform(program, *options, vectors=VECTORS):
    return subprocess.run([CONFORM, "--vectors", vectors, *options, "--", *program], capture_output=True, text=True)


def report(program, *options, **more):
    """(exit status, the report as JSON)"""
    done = conform(program, "--format", "json", *options, **more)
    return done.returncode, json.loads(done.stdout)


def only(*cases):
    return [word for case in cases for word in ("--only", case)]


def tally(found):
    return tuple(found[key] for key in ("passed", "failed", "skipped", "acceptable"))


def computes_in(precision):
    return f"if not case:\n    reply = {{'version': 1, 'precision': {precision!r}}}\n"


def of(case, statements):
    return f"if case and case['id'] == {case!r}:\n    {statements}"


def case_named(id_):
    """The case as it stands in the vectors."""
    for name in sorted(os.listdir(VECTORS)):
        if name.endswith(".json") and id_.startswith(name[: -len(".json")] + "-"):
            with open(os.path.join(VECTORS, name), encoding="utf-8") as file:
                for case in json.load(file)["cases"]:
                    if case["id"] == id_:
                        return case
    raise KeyError(id_)


# ---- exit statuses

SKIP = "reply = {'seq': seq, 'skip': 'no'}"


def statuses(_):
    few = only("gspo-signs", "gspo-ragged", "refuse-reward-nan")
    one = of("gspo-signs", SKIP)
    for name, change, options, status, expected in (
        ("all pass", "", [], 0, (3, 0, 0, 0)),
        ("all pass, and none is skipped", "", ["--complete"], 0, (3, 0, 0, 0)),
        ("one is skipped", one, [], 0, (2, 0, 1, 0)),
        ("none may be skipped", one, ["--complete"], 1, (2, 0, 1, 0)),
        ("one has no answer", of("gspo-signs", "reply['result'] = {}"), ["--complete"], 1, (2, 0, 1, 0)),
        ("a flag leaves one out", "", ["--skip-flag", "AdvantageSigns"], 0, (2, 0, 1, 0)),
        ("a flag leaves one out that may not be skipped", "", ["--skip-flag", "AdvantageSigns", "--complete"], 1, (2, 0, 1, 0)),
        ("one fails", of("gspo-signs", "reply['result']['loss'] = 'NaN'"), [], 1, (2, 1, 0, 0)),
        ("one is an error", of("gspo-signs", "reply = {'seq': seq, 'error': 'x'}"), [], 1, (2, 1, 0, 0)),
        ("invalid input is answered", of("refuse-reward-nan", "reply = {'seq': seq, 'result': {'loss': 0}}"), [], 1, (2, 1, 0, 0)),
        ("all are skipped", "if case:\n    " + SKIP, [], 1, (0, 0, 3, 0)),
        ("another precision", computes_in("f32"), [], 1, (0, 0, 3, 0)),
        ("the same by request", computes_in("f32"), ["--precision", "f32"], 0, (3, 0, 0, 0)),
        ("another version", "if not case:\n    reply['version'] = 2", [], 1, (0, 0, 3, 0)),
    ):
        found = report(tampered(change), *few, *options)
        check(name, (found[0], tally(found[1])) == (status, expected), (found[0], tally(found[1])))
    text = conform([ADAPTER], "--only", "gspo-signs", "--only", "grpo-signs").stdout.splitlines()
    check("two lines if all pass", len(text) == 2 and "2 cases, " in text[0] and text[1] == "2 passed, 0 failed, 0 skipped", text)
    for name, options, words in (
        ("no such case", ["--only", "gspo-sings"], "no case matches --only"),
        ("all skipped by a flag", ["--only", "gspo-signs", "--skip-flag", "AdvantageSigns"], "all cases were skipped"),
    ):
        done = conform([ADAPTER], *options)
        check(name, done.returncode == 1 and words in done.stderr, (done.returncode, done.stderr))


def wrong_usage(_):
    for options in (
        ["--tolerance", "0"],
        ["--tolerance", "-1"],
        ["--tolerance", "4x"],
        ["--tolerance", "nan"],
        ["--tolerance", "inf"],
        ["--timeout", "0"],
        ["--timeout", "1e7"],
        ["--precision", "f16"],
        ["--format", "xml"],
        ["--format", "c"],
        ["--verbose", "none"],
        ["--only"],
        ["--nonsense"],
        ["gspo-signs"],
        ["--expect", ""],
        ["--repro", ""],
        ["--profile", "/nowhere"],
        ["--holds", "mean"],
        ["--objective-fixed"],
        ["--vectors", "/nowhere"],
        ["--repro", "gspo-sings"],
        ["--metamorphic", "--expect", "x"],
        ["--metamorphic", "--repro", "x"],
    ):
        done = subprocess.run(
            [CONFORM, *options, *([] if options == ["--only"] else ["--only", "gspo-signs", "--", ADAPTER])], capture_output=True, text=True
        )
        check(f"{options}: exit status", done.returncode == 2 and done.stderr and not done.stdout, (done.returncode, done.stdout[:80]))
    check("no program", subprocess.run([CONFORM, "--"], capture_output=True).returncode == 2)
    for option, words in (("--help", "usage: conform"), ("--version", "protocol 1")):
        done = subprocess.run([CONFORM, option], capture_output=True, text=True)
        check(option, done.returncode == 0 and words in done.stdout, done.returncode)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("gspo", "grpo"):
            shutil.copy(os.path.join(VECTORS, name + ".json"), folder)
        with open(os.path.join(folder, "grpo.json"), "a", encoding="utf-8") as file:
            file.write("x")
        done = conform([ADAPTER], vectors=folder)
        check("vectors that cannot be read", done.returncode == 2 and "grpo.json" in done.stderr and not done.stdout, done.returncode)


# ---- tolerances


def tolerances(_):
    """A loss that is off by a little less than the tolerance passes, by a little more fails: the tolerances that the pages state."""
    case = case_named("gspo-signs")
    for precision, eps, options, least in (
        ("f64", 2.0**-52, [], 64),
        ("f32", 2.0**-23, [], 64),
        ("bf16", 2.0**-7, [], 16),
        ("f64", 2.0**-52, ["--tolerance", "1000"], 1000),
        ("f32", 2.0**-23, ["--tolerance=1.5"], 1.5),
    ):
        for share in (-1.05, -0.95, 0.95, 1.05):
            loss = case["expect"]["loss"] + share * least * eps * case["scale"]["loss"]
            change = computes_in(precision) + f"else:\n    reply['result'] = {{'loss': {loss!r}}}"
            status, found = report(tampered(change), "--only", "gspo-signs", "--precision", precision, *options)
            check(
                f"{share} of {least} eps in {precision}",
                status == (abs(share) > 1) and found["cases"][0]["judged"] == 1,
                (status, tally(found)),
            )


# ---- the formats

EPS = {"conventions": [{"what": "eps = 1e-4", "in": "a test", "if": {"advantage.scale": "group_std"}, "change": {"advantage.eps": 1e-4}}]}
MIXED = "\n".join(
    (
        of("grpo-signs", "reply['result']['loss'] = 'NaN'"),
        of("grpo-ragged", "reply['result']['dlogp'][0][0] = 5"),
        of("grpo-square", "reply = {'seq': seq, 'error': 'a < b & \"c\"'}"),
        of("grpo-holes", SKIP),
    )
)


def verdicts_of_tap(text):
    lines = re.findall(r"^(ok|not ok) (\d+) - (\S+)(.*)$", text, re.M)
    check(
        "the plan of TAP",
        text.startswith(f"TAP version 13\n1..{len(lines)}\n") and [int(n) for _, n, *_ in lines] == [*range(1, len(lines) + 1)],
    )
    blocks = [text.count(f"\n{line}\n") for line in ("  ---", "  message: |", "  ...")]
    check(
        "a block for each failure of a case",
        blocks == [sum("# acceptable" not in more for ok, *_, more in lines if ok != "ok")] * 3,
        blocks,
    )
    kind = {True: "skipped", False: "passed"}
    return {
        case: "failed" if ok != "ok" else "acceptable" if "# acceptable" in more else kind["# SKIP" in more] for ok, _, case, more in lines
    }


def verdicts_of_junit(text):
    suite = ElementTree.fromstring(text)
    suite = suite if suite.tag == "testsuite" else suite.find("testsuite")
    kinds = {case.get("name"): [child.tag for child in case if child.tag in ("failure", "skipped")] for case in suite.iter("testcase")}
    stated = [int(suite.get(name)) for name in ("tests", "failures", "skipped")]
    counted = [len(kinds), *(sum(kind in found for found in kinds.values()) for kind in ("failure", "skipped"))]
    check("the counts of JUnit", stated == counted, (stated, counted))
    return {case: {"failure": "failed", "skipped": "skipped"}.get((found or [""])[0], "passed") for case, found in kinds.items()}


def formats(folder):
    """Every format has the verdicts that JSON has; with --strict what is acceptable fails."""
    path = os.path.join(folder, "profile.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(EPS, file)
    program = tampered(MIXED, "--set", "advantage.eps=1e-4")
    for strict in ([], ["--strict"]):
        options = [
            *only("grpo-signs", "grpo-ragged", "grpo-square", "grpo-holes", "grpo-uneven", "grpo-full", "refuse-reward-nan"),
            "--profile",
            path,
            *strict,
        ]
        status, found = report(program, *options)
        verdicts = {case["id"]: case["verdict"] for case in found["cases"]}
        numbers = tuple(list(verdicts.values()).count(word) for word in ("passed", "failed", "skipped", "acceptable"))
        check("the counts are those of the cases", tally(found) == numbers and numbers == (1, 3, 1, 2), (tally(found), numbers))
        check("its exit status", status == 1, status)
        check(
            "which fail",
            {case for case, word in verdicts.items() if word == "failed"} == {"grpo-signs", "grpo-ragged", "grpo-square"},
            verdicts,
        )
        words = "{} passed, {} failed, {} skipped, {} acceptable".format(*numbers)
        bad = {case: "failed" if strict and word == "acceptable" else word for case, word in verdicts.items()}
        done = {name: conform(program, "--format", name, *options) for name in ("text", "tap", "junit", "html")}
        check("the same exit status in every format", {x.returncode for x in done.values()} == {1}, done)
        check("the last line of text", done["text"].stdout.endswith(words + "\n"), done["text"].stdout[-100:])
        check("the number of failures in text", f"\n{numbers[1]} of {sum(numbers) - numbers[2]} answered cases fail" in done["text"].stdout)
        lines = done["text"].stdout.splitlines()
        check("what text says of the skip", [line for line in lines if "skipped" in line[:12]] == ["skipped 1, no: grpo-holes"], lines)
        told = {case for line in lines if line.startswith("   cases: ") for case in line.split()[1:]}
        check("the cases that text lists", told == {"grpo-signs", "grpo-ragged", "grpo-square"}, told)
        check("the last line of TAP", done["tap"].stdout.endswith(f"# {words}\n"), done["tap"].stdout[-100:])
        check("the verdicts of TAP", verdicts_of_tap(done["tap"].stdout) == bad)
        acceptable_passes = {case: "passed" if word == "acceptable" else word for case, word in bad.items()}
        check("the verdicts of JUnit", verdicts_of_junit(done["junit"].stdout) == acceptable_passes)
        page = done["html"].stdout
        check("the sections of HTML", page.count("<section") == list(bad.values()).count("failed") and f"<p>{words}</p>" in page)
        check("the table of HTML", [*verdicts.values()] == re.findall(r"</th><td>(passed|failed|skipped|acceptable)</td>", page))
        for name in ("junit", "html"):
            check(f"{name}: the counts on standard error", words in done[name].stderr, done[name].stderr)
        wrong = {case["id"]: {w["where"] for w in case["wrong"]} for case in found["cases"] if case["wrong"]}
        check("the wrong numbers", wrong == {"grpo-signs": {"loss"}, "grpo-ragged": {"dlogp[0][0]"}}, wrong)


# ---- --expect


def expectations(folder):
    vectors, path = os.path.join(folder, "vectors"), os.path.join(folder, "expected.json")
    os.mkdir(vectors)
    with open(os.path.join(VECTORS, "gspo.json"), encoding="utf-8") as file:
        read = json.load(file)
    with open(os.path.join(vectors, "gspo.json"), "w", encoding="utf-8") as file:
        json.dump({**read, "cases": [c for c in read["cases"] if c["id"] in ("gspo-signs", "gspo-ragged", "gspo-holes")]}, file)
    bad = tampered(of("gspo-signs", "reply['result']['loss'] = 5"))
    worse = tampered(of("gspo-signs", "reply['result']['loss'] = 5; reply['result']['dlogp'][0][0] = 5"))
    elsewhere = tampered(of("gspo-ragged", "reply['result']['loss'] = 5"))
    skipping = tampered(of("gspo-signs", "reply['result']['loss'] = 5") + "\n" + of("gspo-ragged", SKIP))

    def status(program, *options):
        return conform(program, "--expect", path, *options, vectors=vectors).returncode

    check("expectations are written", status(bad) == 1 and os.path.exists(path))
    for name, program, wanted in (
        ("as expected", bad, 0),
        ("right now", [ADAPTER], 1),
        ("another output", worse, 1),
        ("another case", elsewhere, 1),
        ("one is skipped", skipping, 1),
    ):
        check(f"{name}: {wanted}", status(program) == wanted)
    check("in another precision", status(tampered(computes_in("f32")), "--precision", "f32") == 2)
    check("of some cases", status(bad, "--only", "gspo-signs") == 0 and status(bad, "--skip-flag", "AdvantageSigns") == 1)
    with open(path, encoding="utf-8") as file:
        kept = json.load(file)
    for name, cases in (
        ("a case that is new", {k: x for k, x in kept["cases"].items() if k != "gspo-ragged"}),
        ("a case that is gone", {**kept["cases"], "gspo-gone": "passed"}),
        ("a verdict of another type", {**kept["cases"], "gspo-ragged": 1}),
    ):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**kept, "cases": cases}, file)
        check(name, status(bad) == 1)
    for text in ("x", "{}", '{"cases":{}}', '{"precision":"f64","cases":[]}'):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        check(f"{text} is no file of expectations", status(bad) == 2)
    path = os.path.join(folder, "no such folder", "expected.json")
    check("expectations that cannot be written", status(bad) == 2)


# ---- --metamorphic

# an output and a case that has it
OUTPUTS = (
    ("advantage", "grpo-holes"),
    ("term", "grpo-holes"),
    ("loss", "grpo-holes"),
    ("dlogp", "grpo-holes"),
    ("report", "grpo-holes"),
    ("dynamic_sampling_mask", "dapo-overlong"),
    ("dentropy", "a-star-po-signs"),
    ("dlog_partition", "flowrl-signs"),
    ("logp", "logits-given-banned-1"),
    ("entropy", "logits-given-banned-1"),
    ("dlogits", "logits-given-banned-1"),
    ("dhidden", "hidden-given-banned-1"),
    ("dweight", "hidden-given-banned-1"),
)
CHANGED = """
def changed(x, n):
    "the last number, or the first if n is 0, is another one"
    if isinstance(x, list):
        k = next((k for k in (range(len(x)) if n == 0 else range(len(x))[::-1]) if not isinstance(x[k], list) or x[k]), None)
        return x if k is None else [*x[:k], changed(x[k], n), *x[k + 1:]]
    if isinstance(x, dict):
        return {**x, "ratio_mean": VALUE}
    return (not x) if isinstance(x, bool) else VALUE
if seq > 1 and "result" in reply and OUTPUT in reply["result"]:
    reply["result"] = {**reply["result"], OUTPUT: changed(reply["result"][OUTPUT], END)}
"""


def relations(_):
    """A number of any output that changes with the request breaks a relation."""
    for output, case in OUTPUTS:
        for value, end in (("'NaN'", 1), ("1e3", 0)):
            change = CHANGED.replace("OUTPUT", repr(output)).replace("VALUE", value).replace("END", str(end))
            status, found = report(tampered(change), "--metamorphic", "--only", case)
            broken = [c for c in found["cases"] if c["verdict"] == "failed" and output in c["reason"]]
            check(
                f"{output} = {value} of {case}",
                status == 1 and broken and found["failed"] == sum(c["verdict"] == "failed" for c in found["cases"]),
                (status, [c["reason"] for c in found["cases"] if c["verdict"] == "failed"][:2]),
            )
    for name, change, verdicts, status in (
        ("an error for the changed request", "if seq > 1:\n    reply = {'seq': seq, 'error': 'x'}", {"failed", "skipped"}, 1),
        ("a skip of it", "if seq > 1:\n    " + SKIP, {"skipped"}, 1),
        ("an error for all", "if seq:\n    reply = {'seq': seq, 'error': 'x'}", {"skipped"}, 1),
        ("an answer of no form", "if seq > 1:\n    reply = {'seq': seq}", {"failed"}, 1),
        ("nothing", "", {"passed"}, 0),
    ):
        found = report(tampered(change), "--metamorphic", "--only", "dapo-signs")
        check(
            f"{name}: {verdicts}", found[0] == status and {c["verdict"] for c in found[1]["cases"]} == verdicts, (found[0], tally(found[1]))
        )


ALONE = (
    *OUTPUTS,
    ("ddivergence_ref", "choices-divergence-kl-token_sum"),
    ("part_tokens", "partition-micro-halves-dapo"),
    ("part_sequences", "partition-micro-halves-dapo"),
    ("part_groups", "partition-micro-halves-dapo"),
    ("part_sum", "partition-micro-halves-dapo"),
    ("part_loss", "partition-micro-halves-dapo"),
    ("slice_tokens", "partition-context-halves-gspo"),
    ("slice_log_ratio", "partition-context-halves-gspo"),
    ("keep", "calls-reward_range_filter-bounds"),
)


def every_failure_has_a_group(_):
    """One wrong number of any output: the case fails with that output, and a group of the report has it."""
    for output, case in ALONE:
        change = CHANGED.split("if seq")[0].replace("OUTPUT", repr(output)).replace("VALUE", "1e3").replace("END", "0")
        change += f"if seq:\n    reply = {{'seq': seq, 'result': {{{output!r}: changed({case_named(case)['expect'][output]!r}, 0)}}}}"
        status, found = report(tampered(change), "--only", case)
        failed = {c["id"] for c in found["cases"] if c["verdict"] == "failed"}
        grouped = {c for group in found["groups"] for c in group["cases"]}
        wrong = {w["where"].partition("[")[0].partition(".")[0] for c in found["cases"] for w in c["wrong"]}
        check(f"{output} alone is wrong", status == 1 and failed and failed == grouped and wrong == {output}, (failed, grouped, wrong))


# outputs of a case in the order in which they are computed, and what is said of the first that is wrong
FIRST = (
    (
        "grpo-holes",
        (
            ("term", "the term is wrong, before any aggregation"),
            ("loss", "the loss is wrong"),
            ("dlogp", "the loss is right, and its gradient dlogp is wrong"),
            ("report", "only the report is wrong"),
        ),
    ),
    ("grpo-holes", (("advantage", "the advantage is wrong"), ("dynamic_sampling_mask", "the dynamic sampling mask is wrong"))),
    ("choices-divergence-kl-token_sum", (("dlogp", "its gradient dlogp"), ("ddivergence_ref", "ddivergence_ref is wrong"))),
    ("a-star-po-signs", (("dlogp", "its gradient dlogp"), ("dentropy", "dentropy is wrong"), ("report", "only the report"))),
    ("flowrl-signs", (("dlogp", "its gradient dlogp"), ("dlog_partition", "dlog_partition is wrong"))),
    ("logits-group-gvpo-plain", (("loss", "the loss from logits"), ("dlogits", "the loss is right, and its gradient dlogits"))),
    (
        "hidden-group-gvpo-tempered",
        (("loss", "the loss from logits"), ("dhidden", "dhidden is wrong"), ("dweight", "dweight, the gradient")),
    ),
    ("logits-given-banned-1", (("logp", "logp is wrong"), ("entropy", "the entropy is wrong"), ("dlogits", "its gradient dlogits"))),
)
NONSENSE = """
from itertools import count
n = count(1)
def nonsense(x):
    if isinstance(x, list):
        return [nonsense(y) for y in x]
    if isinstance(x, dict):
        return {key: nonsense(y) for key, y in x.items()}
    return (not x) if isinstance(x, bool) else 0.7123 * next(n) ** 1.5 * (-1) ** (next(n) // 3)
if case:
    reply["result"].update({name: nonsense(reply["result"][name]) for name in WRONG if name in reply["result"]})
"""


def first_wrong(_):
    """Of outputs that no mistake explains, the one that is computed first is named."""
    for case, outputs in FIRST:
        for k, (output, words) in enumerate(outputs):
            _, found = report(tampered(NONSENSE.replace("WRONG", repr([name for name, _ in outputs[k:]]))), "--only", case)
            names = [group["name"] for group in found["groups"]]
            check(f"{case}: {output} first", len(names) == 1 and names[0].startswith("unexplained: ") and words in names[0], names)


def quantities(case):
    """What an answer may be multiplied by, as the report calls it."""
    b, n = case["batch"], len(case["batch"]["length"])
    groups, tokens = b["group"][-1] + 1, sum(b["length"])
    counted = sum(sum(row) for row in b["mask"]) if "mask" in b else tokens
    padded = groups * max(b["group"].count(g) for g in b["group"])
    return {
        "-1 (the sign is turned)": -1,
        "2": 2,
        "the number of sequences": n,
        "the number of groups": groups,
        "the number of tokens that count": counted,
        "the number of tokens": tokens,
        "the length of the longest sequence": max(b["length"]),
        "tokens that count over all tokens": counted / tokens,
        "sequences less one over sequences": (n - 1) / n,
        "sequences per group": n / groups,
        "tokens per sequence": counted / n,
        "sequences plus one over sequences": (n + 1) / n,
        "sequences over places in groups that are padded to the largest": n / padded,
        "0": 0,
    }


FACTOR = """
def times(x, f):
    return [times(y, f) for y in x] if isinstance(x, list) else x * f
if case:
    reply["result"] = {name: times(reply["result"][name], FACTORS[case["id"]]) for name in ("loss", "dlogp")}
"""


def factors(_):
    """Loss and gradient times a number that depends on the batch, or divided by it, are called so."""
    cases = [case_named(id_) for id_ in ("gspo-ragged", "gspo-holes", "gspo-uneven")]
    for k, words in enumerate(quantities(cases[0])):
        divided = k % 2 and words not in ("0", "-1 (the sign is turned)")
        of = {case["id"]: quantities(case)[words] for case in cases}
        change = FACTOR.replace("FACTORS", repr({id_: 1 / x if divided else x for id_, x in of.items()}))
        _, found = report(tampered(change), *only(*of))
        names = [name for group in found["groups"] for name in (group["name"], *group["also"])]
        wanted = f"loss and dlogp {'divided' if divided else 'multiplied'} by {words}"
        check(wanted, wanted in names, names)


def ambiguous(_):
    """Too many causes give the numbers of the only case: every format says so, and none tells the story of one of them."""
    case, program = "dapo-one-token", [ADAPTER, "--set", "aggregation.kind=token_sum"]
    words = "one of 5 causes that this case does not tell apart, such as aggregation.kind = token_sum"
    _, found = report(program, "--only", case)
    [group] = found["groups"]
    check("JSON", (group["kind"], group["name"], group["text"], len(group["also"])) == ("ambiguous", words, "", 5), group)
    check("the first of the names", "aggregation.kind = token_sum" in group["also"], group)
    for options in ((), ("--format", "tap"), ("--format", "junit"), ("--format", "html"), ("--repro", case),
                    ("--repro", case, "--format", "c")):
        told = conform(program, "--only", case, *options).stdout
        check(f"ambiguous, {' '.join(options) or 'text'}", words in told, told[:2000])
    _, found = report(program, "--only", case, "--only", "dapo-ragged")
    check("two cases", words not in [group["name"] for group in found["groups"]], found["groups"])


def named(_):
    """Two changes at once; a mistake in the only case that is run; what a tenth of the cases contradict, and more."""
    for case, options, kind, name in (
        (
            "gspo-signs",
            ["surrogate.eps_high=0.3", "aggregation.kind=token_sum"],
            "other objective",
            "aggregation.kind = token_sum and surrogate.eps_high = 0.3",
        ),
        ("grpo-full", ["advantage.baseline=none"], "mistake", "no baseline is subtracted"),
        ("gspo-ragged", ["aggregation.kind=seq_sum_token_mean"], "known mistake", "NORM-17a"),
    ):
        _, found = report([ADAPTER, *[word for option in options for word in ("--set", option)]], "--only", case)
        check(name, [(group["kind"], group["name"]) for group in found["groups"]] == [(kind, name)], found["groups"])
    cases = ["gspo-" + word for word in ("signs", "ragged", "uneven", "square", "holes", "full", "one-token", "near", "fine", "reported")]
    wanted = "loss and dlogp multiplied by 1.37"
    for wrong, is_named in ((9, True), (8, False)):  # and one is right
        change = FACTOR.replace("FACTORS", repr(dict.fromkeys(cases, 1.37))).replace(
            "if case:", f"if case and case['id'] in {cases[:wrong]}:"
        )
        _, found = report(tampered(change), *only(*cases[: wrong + 1]))
        groups = {group["name"]: (len(group["cases"]), group["refuted"]) for group in found["groups"]}
        check(f"{wrong} wrong ones and a right one", found["failed"] == wrong and (groups == {wanted: (9, 1)}) == is_named, groups)


RAW = """
import sys
for line in sys.stdin:
    if '"start"' in line:
        print('{"version": 1}', flush=True)
    elif '"stop"' in line:
        break
    else:
        print('{"seq":' + line.split('"seq":')[1].split(",")[0] + ',"result":{"loss":0,"dlogp":' + sys.argv[1] + '}}', flush=True)
"""


def numbers_that_are_no_json(_):
    """However a language writes NaN and infinities, the report says that they must be strings."""
    for text in ("[[NaN]]", "[[0,NaN]]", "[[0, nan]]", "[[-Infinity]]", "[[-inf]]", "[[inf]]", "nan", " Infinity", "-nan"):
        _, found = report([sys.executable, "-c", RAW, text], "--only", "gspo-signs")
        check(text, "they must be strings" in found["cases"][0]["reason"], found["cases"][0]["reason"])
    _, found = report([sys.executable, "-c", RAW, "[[1]]]"], "--only", "gspo-signs")
    check("other text", "something that is not JSON" in found["cases"][0]["reason"], found["cases"][0]["reason"])


def interrupted(folder):
    """A runner that is interrupted ends, and the program with it."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        path = os.path.join(folder, f"pid{int(number)}")
        code = (
            f"import os, time; open({path + '.new'!r}, 'w').write(str(os.getpid())); os.rename({path + '.new'!r}, {path!r}); time.sleep(60)"
        )
        runner = subprocess.Popen(
            [CONFORM, "--vectors", VECTORS, "--timeout", "60", "--only", "gspo-signs", "--", sys.executable, "-c", code],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # who runs the tests may ignore it, as nohup does
        )
        for _ in range(600):
            if os.path.exists(path):
                break
            time.sleep(0.05)
        runner.send_signal(number)
        try:
            status = runner.wait(20)
        except subprocess.TimeoutExpired:
            runner.kill()
            status = "it goes on"
        check(f"{number.name} ends the runner", status == -number, status)
        with open(path, encoding="ascii") as file:
            program = int(file.read())
        for _ in range(200):
            if not os.path.exists(f"/proc/{program}/stat") or open(f"/proc/{program}/stat").read().split(")")[1].split()[0] == "Z":
                break
            time.sleep(0.05)
        else:
            check(f"{number.name} ends the program", False, program)


def held_back(_):
    """heldback.py: what is apart by more than 1e-12, and what is compared at all."""
    for x, y, most in (([1.0, -4.0], [1.0, -4.0], 0), ([1.0, 4.0], [1.0, 4.0 + 1e-12], 1e-12), ([[0.0], []], [[0.0], []], 0)):
        check(f"{x} and {y}", heldback.distance(x, y) <= most)
    for x, y in (
        ([1.0, 4.0], [1.0, 4.1]),
        ([1.0, 2.0], [1.0, "NaN"]),
        (["NaN"], ["NaN"]),
        ([1.0, 2.0], [1.0, "Infinity"]),
        ([1.0], [1.0, 2.0]),
        (["Infinity"], ["-Infinity"]),
    ):
        check(f"{x} and {y} are apart", heldback.distance(x, y) > 1e-3, heldback.distance(x, y))
    for change, status in (("", 0), ("if case: reply['result']['dlogp'][-1][-1] = 'NaN'", 1), ("if case: reply['result'] = {}", 1)):
        done = subprocess.run(
            [sys.executable, heldback.__file__, "7", "gspo-token", "--", ADAPTER, "--", *tampered(change)], capture_output=True
        )
        check(f"{change!r}: exit status {status}", done.returncode == status, (done.returncode, done.stdout))


def main():
    parts = {
        test.__name__: test
        for test in (
            statuses,
            wrong_usage,
            tolerances,
            formats,
            expectations,
            relations,
            every_failure_has_a_group,
            first_wrong,
            factors,
            named,
            ambiguous,
            numbers_that_are_no_json,
            interrupted,
            held_back,
        )
    }
    for name in sys.argv[4:] or parts:
        with tempfile.TemporaryDirectory() as folder:
            attempt(parts[name], folder)


if __name__ == "__main__":
    sys.exit(checked(main))
