"""Runs released frameworks against the vectors; writes results/NAME-RELEASE.PRECISION.json and the page FRAMEWORKS.md.

    python3 frameworks.py run CONFORM [NAME ...]    runs the named programs (default: all) in this Python, writes their results and the page
    python3 frameworks.py page                      writes only the page, from the existing results

A result is a condensed report of conform (results/README.md). The page is generated from the results, the profiles, and
frameworks_notes.json, which has what a run does not show: how a framework was called, the causes of its failures, and what was not run.
"""
import datetime
import fnmatch
import glob
import importlib.metadata
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, os.pardir, os.pardir)
RESULTS = os.path.join(HERE, "results")
PRECISIONS = ("f64", "f32")
FRAMEWORKS = ("trl", "verl", "openrlhf", "liger", "ms_swift", "skyrl", "trinity", "areal", "art", "unsloth", "tunix")
PYTHON = {**{name: name + "_adapter.py" for name in FRAMEWORKS}, "numpy_port": "numpy_port.py", "torch_autograd": "torch_autograd.py"}
F32_ONLY = ("tunix",)  # computes everything in float32
COMPILED = {"adapter_c": {"f64": "adapter_c", "f32": "adapter_c_f32"}}  # beside CONFORM


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def notes():
    return load(os.path.join(HERE, "frameworks_notes.json"))


# ---- running

def command(name, precision, conform):
    if name in COMPILED:
        return [os.path.join(os.path.dirname(conform), COMPILED[name][precision])]
    return [sys.executable, os.path.join(HERE, "adapters", PYTHON[name])]


def profile_of(name):
    """The newest profile of the program, or None."""
    found = sorted(glob.glob(os.path.join(HERE, "profiles", name + "-[0-9]*.json")))
    return found[-1] if found else None


def report_of(conform, name, precision, profile):
    """The timeout is long because importing torch and a framework is slow."""
    options = ["--timeout", "300", "--precision", precision, "--format", "json", *(["--profile", profile] if profile else [])]
    done = subprocess.run([conform, *options, "--", *command(name, precision, conform)], stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{name} {precision}: conform ends with {done.returncode}")
    return json.loads(done.stdout)


# ---- condensing a report: without times; of a case that passed only its name

def rows():
    """The names of the files of vectors, longest first; an id is such a name, a hyphen and the name of the case."""
    names = [os.path.basename(path)[:-5] for path in glob.glob(os.path.join(ROOT, "tests", "vectors", "*.json"))]
    return sorted(names, key=len, reverse=True)


def index(table, text):
    """The index of the text in the table; a new text is appended."""
    if text not in table:
        table.append(text)
    return table.index(text)


def failure(case, member):
    wrong = [[w["output"], w["where"], w["expected"], w["found"], w["error"], w["wrong"], w["judged"]] for w in case["wrong"]]
    return {**({"wrong": wrong} if wrong else {}), **({"error": case["reason"]} if case["reason"] else {}),
            "groups": member.get(case["id"], [])}


def condensed(report):
    known, table, reasons, conventions, member = rows(), {}, [], [], {}
    for number, group in enumerate(report["groups"]):
        for case in group["cases"]:
            member.setdefault(case, []).append(number)
    for case in report["cases"]:
        row = next(name for name in known if case["id"].startswith(name + "-"))
        name, of = case["id"][len(row) + 1:], table.setdefault(row, {}).setdefault(case["verdict"], {})
        if case["verdict"] == "passed":
            of.setdefault("", []).append(name)
        elif case["verdict"] == "skipped":
            of.setdefault(str(index(reasons, case["reason"])), []).append(name)
        elif case["verdict"] == "acceptable":
            of[name] = [index(conventions, text) for text in case["conventions"]]
            if "rounding" in case:
                table[row].setdefault("rounding", {})[name] = case["rounding"]
        else:
            of[name] = failure(case, member)
    for of in table.values():
        if "passed" in of:
            of["passed"] = " ".join(of["passed"][""])
        for reason, names in of.get("skipped", {}).items():
            of["skipped"][reason] = " ".join(names) if len(of) > 1 or len(of["skipped"]) > 1 else len(names)  # the whole row
    groups = [{**{key: group[key] for key in ("kind", "name", "text", "also", "where", "hint")}, "count": len(group["cases"])}
              for group in report["groups"]]
    counts = {key: report[key] for key in ("passed", "acceptable", "failed", "skipped")}
    return {**counts, "groups": groups, "conventions": conventions, "reasons": reasons, "cases": table}


def line(x):
    return json.dumps(x, separators=(",", ":"), ensure_ascii=False)


def written(result):
    """The result as JSON, with one member, one group, one text and one row per line."""
    report = result["report"]
    lists = [f'"{key}":[\n' + ",\n".join(map(line, report[key])) + "\n]" for key in ("groups", "conventions", "reasons")]
    cases = '"cases":{\n' + ",\n".join(f"{line(row)}:{line(of)}" for row, of in sorted(report["cases"].items())) + "\n}"
    counts = [f"{line(key)}:{line(x)}" for key, x in report.items() if isinstance(x, int)]
    head = [f"{line(key)}:{line(x)}" for key, x in result.items() if key != "report"]
    return "{" + ",\n".join([*head, '"report":{' + ",\n".join([",".join(counts), *lists, cases]) + "}"]) + "}\n"


def version_of(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def result_of(name, precision, conform):
    profile = profile_of(name)
    report = report_of(conform, name, precision, profile)
    program, with_torch = report["program"], name not in COMPILED and name != "numpy_port"
    with open(os.path.join(ROOT, "VERSION")) as file:
        vectors = file.read().strip()
    return {"framework": program["name"], "release": program["release"],
            "release_date": notes().get(program["name"], {}).get("released", {}).get(program["release"]),
            "torch": version_of("torch") if with_torch else None, "read": datetime.date.today().isoformat(), "vectors": vectors,
            "precision": precision, "tolerance": report["tolerance"], "profile": profile and os.path.basename(profile),
            "adapter": PYTHON.get(name, name + ".c"), "report": condensed(report)}


def run(conform, names):
    for name in names or [*COMPILED, *PYTHON]:
        for precision in PRECISIONS[name in F32_ONLY:]:
            result = result_of(name, precision, conform)
            with open(os.path.join(RESULTS, f"{name}-{result['release']}.{precision}.json"), "w") as file:
                file.write(written(result))
            print(name, result["release"], precision, {key: x for key, x in result["report"].items() if isinstance(x, int)})


# ---- the page

def failures(result):
    """{id: its entry in `failed`}"""
    return {f"{row}-{name}": what for row, of in result["report"]["cases"].items() for name, what in of.get("failed", {}).items()}


def covers(finding, result, case, what):
    """Is the finding about this failure?"""
    rule, names = finding["rule"], [result["report"]["groups"][k]["name"] for k in what["groups"]]
    outputs = {wrong[0] for wrong in what.get("wrong", [])}
    return (result["precision"] in rule.get("precision", PRECISIONS)
            and any(fnmatch.fnmatchcase(case, pattern) for pattern in rule.get("cases", ["*"]))
            and (not rule.get("groups") or any(fnmatch.fnmatchcase(n, pattern) for n in names for pattern in rule["groups"]))
            and (not rule.get("outputs") or bool(outputs & set(rule["outputs"])))
            and rule.get("error", "") in what.get("error", ""))


def in_order(results):
    """{framework: its results, f64 first}, by name; the ports of this repository come last"""
    own = {"adapter_c.c", "numpy_port.py", "torch_autograd.py"}
    by = {}
    for result in results:
        by.setdefault((result["adapter"] in own, result["framework"].lower(), result["framework"]), []).append(result)
    return {key[2]: sorted(of, key=lambda r: PRECISIONS.index(r["precision"])) for key, of in sorted(by.items())}


RIGHT, ROUNDING, CONVENTION, LIMIT, MISTAKE, UNEXPLAINED = range(6)  # the class of a case; if several apply, the last of them
KINDS = {"rounding": ROUNDING, "convention": CONVENTION, "limit": LIMIT, "mistake": MISTAKE}
TITLES = ("right", "right except for float32", "other convention", "limit", "mistake", "not explained")
NAMES = ("right", "float32", "convention", "limit", "mistake", "not explained")


def kind_of(convention):
    """The class of a convention of a profile: another definition, with which the runner recomputes the answer; float32 rounding; else a
    limit: a listed answer, a reported error, or a difference of nearly equal numbers."""
    if "change" in convention or "rule" in convention:
        return CONVENTION
    return ROUNDING if "rounding" in convention and "operand" not in convention else LIMIT


def profile_of_result(result):
    return load(os.path.join(HERE, "profiles", result["profile"]))["conventions"] if result["profile"] else []


def kind_of_finding(finding):
    return KINDS[finding.get("kind", "mistake")]


def explained(result, findings, case, what):
    """The findings about a failure, and whether they cover every wrong output."""
    fit = [f for f in findings if covers(f, result, case, what)]
    return fit, bool(fit) and all(any(output in f["rule"].get("outputs", [output]) for f in fit)
                                  for output, *_ in what.get("wrong", []))


def class_of_failure(result, findings, case, what):
    fit, whole = explained(result, findings, case, what)
    return max(map(kind_of_finding, fit)) if whole else UNEXPLAINED


def classes(result, findings):
    """The number of cases in each class."""
    kinds = {c["what"]: kind_of(c) for c in profile_of_result(result)}
    words, count = result["report"]["conventions"], [0] * len(NAMES)
    count[RIGHT] = result["report"]["passed"]
    for of in result["report"]["cases"].values():
        for used in of.get("acceptable", {}).values():
            count[max(kinds[words[k]] for k in used)] += 1
    for case, what in failures(result).items():
        count[class_of_failure(result, findings, case, what)] += 1
    return count


def overview(by, known):
    yield "| program | release | date | torch | answered | " + " | ".join(TITLES) + " | profile |\n" + "|---" * (6 + len(TITLES)) + "|"
    for name, of in by.items():
        for r in of:
            n, count = r["report"], classes(r, known.get(name, {}).get("findings", []))
            asked = n["passed"] + n["acceptable"] + n["failed"]
            profile = f"[{r['profile']}](profiles/{r['profile']})" if r["profile"] else ""
            yield (f"| {name}, {r['precision']} | {r['release']} | {r['release_date'] or ''} | {r['torch'] or ''} | {asked} of "
                   f"{asked + n['skipped']} | {' | '.join(map(str, count))} | {profile} |")


def counted(results, names_of):
    """{text: [number of cases in each result]}"""
    counts = {}
    for place, result in enumerate(results):
        for text in names_of(result):
            counts.setdefault(text, [0] * len(results))[place] += 1
    return counts


def conventions_of(result):
    table = result["report"]["conventions"]
    return [table[k] for of in result["report"]["cases"].values() for used in of.get("acceptable", {}).values() for k in used]


def code(place):
    """`file`: `name`, for a place that the profiles give as "file: name"."""
    return "`" + place.replace(": ", "`: `", 1) + "`" if "`" not in place else place


def largest_rounding(results, profile, what):
    """The float32 error that is nearest to its bound, among cases where this convention is the only rounding."""
    found = []
    for result in results:
        words = result["report"]["conventions"]
        for row, of in result["report"]["cases"].items():
            for name, (error, bound) in of.get("rounding", {}).items():
                if [words[k] for k in of["acceptable"][name] if "rounding" in profile[words[k]]] == [what]:
                    found.append((error / bound, error, bound, f"{row}-{name}"))
    if not found:
        return ""
    _, error, bound, case = max(found)
    return f"; the largest error is {error:.2g} eps of float32, where at most {bound:g} are rounding (`{case}`)"


def differences(results, findings):
    """A table row for each convention, limit and mistake."""
    profile, rows = {c["what"]: c for r in results for c in profile_of_result(r)}, []
    counts = counted(results, conventions_of)
    for what, c in profile.items():
        if what in counts:
            more = largest_rounding(results, profile, what) if kind_of(c) == ROUNDING else ""
            rows.append((kind_of(c), counts[what], what + more, code(c["in"])))
    counts = counted(results, lambda r: [f["what"] for case, what in failures(r).items() for f in explained(r, findings, case, what)[0]])
    for f in findings:
        if f["what"] in counts:
            marked = "found in the code: " * (kind_of_finding(f) != MISTAKE)
            effect = f": {f['effect']}" if "effect" in f else ""
            rows.append((kind_of_finding(f), counts[f["what"]], marked + f["what"] + effect, code(f["in"])))
    if rows:
        cases = " | ".join("cases " + r["precision"] for r in results)
        yield f"\n| {cases} | class | what differs | in |\n" + "|---" * (len(results) + 3) + "|"
    for kind, n, what, place in sorted(rows, key=lambda x: x[0]):
        yield "| " + " | ".join(map(str, n)) + f" | {NAMES[kind]} | {what} | {place} |"


def unexplained(results, findings):
    for r in results:
        bare = [case for case, what in failures(r).items() if class_of_failure(r, findings, case, what) == UNEXPLAINED]
        if bare:
            groups = sorted({r["report"]["groups"][k]["name"] for case in bare for k in failures(r)[case]["groups"]})
            yield (f"\nNot explained in {r['precision']}: {len(bare)} cases: " + ", ".join(f"`{case}`" for case in bare[:12])
                   + (" ..." if len(bare) > 12 else "") + ("; the runner reports: " + "; ".join(groups[:8]) if groups else ""))


def skipped(result):
    """(reason, number of cases) of the skipped cases, the most frequent first."""
    counts = {}
    for of in result["report"]["cases"].values():
        for reason, names in of.get("skipped", {}).items():
            for text in result["report"]["reasons"][int(reason)].split("; "):
                counts[text] = counts.get(text, 0) + (names if isinstance(names, int) else len(names.split()))
    return sorted(counts.items(), key=lambda x: -x[1])


def section(name, results, note):
    first = results[0]
    yield f"\n## {name} {first['release']}\n\n{note.get('called', '')}"
    yield from differences(results, note.get("findings", []))
    yield from unexplained(results, note.get("findings", []))
    for text in note.get("read", []):
        yield f"\nFound in the code, not covered by a case: {text}"
    reasons = skipped(first)
    if reasons:
        yield "\nMost frequent reasons for skipped cases: " + "; ".join(f"{text} ({n})" for text, n in reasons[:12]) + "."


HEAD = """# Programs against the vectors

Written by `tests/conformance/frameworks.sh` from the [results](results). The frameworks are released packages, installed from the Python
package index; the [adapters](adapters) call them as a user's options do. A case names an objective by the fields of
[the vectors](../vectors/README.md); the adapter sets the options with which the framework should compute this objective, and skips the case
if there are none. Every answered case is in one of these classes:

- **Right**: every number is within 64 eps of its [scale](../vectors/scale.md), the sum of the sizes of its terms.
- **Right except for float32**: in a run in double precision the program computes some outputs in float32, and the error is at most
  **(n + 16)/2, and at most 64, eps of float32 of the scale**. n is the number of the case's tokens, or of its responses for an advantage
  that depends on rewards only: a sum of n terms rounds n - 1 times, each term 16 times, and each rounding is off by at most half an eps.
  Larger errors are not in this class; neither are smaller ones that a convention of the profile explains.
- **Other convention**: the program has another definition (an epsilon, a clamp, another mean), which its [profile](profiles/README.md)
  states; the answer is right when the runner recomputes it with this definition.
- **Limit**: a numerical limit that the profile lists: NaN from infinities or from masked tokens, input that is refused, a difference of
  nearly equal numbers.
- **Mistake**: a difference that none of these explains and whose cause is known; **not explained**: one whose cause is not known.

If several classes apply to a case, it counts in the last of them. The tables below count a case for each difference it shows. "Found in the
code" marks a convention that the runner cannot recompute; it was found by reading the program, as were all mistakes.
"""


def page_of_results():
    results = [load(path) for path in sorted(glob.glob(os.path.join(RESULTS, "*.json")))]
    by, known = in_order(results), notes()
    lines = [HEAD, *overview(by, known)]
    for name, of in by.items():
        lines += section(name, of, known.get(name, {}))
    lines.append("\n## Not run\n\n| framework | why |\n|---|---|")
    lines += [f"| {name} | {why} |" for name, why in sorted(known["not run"].items(), key=lambda x: x[0].lower())]
    return "\n".join(lines).rstrip("\n") + "\n"


def page():
    with open(os.path.join(HERE, "FRAMEWORKS.md"), "w", encoding="utf-8") as file:
        file.write(page_of_results())


if __name__ == "__main__":
    if sys.argv[1] == "run":
        run(os.path.abspath(sys.argv[2]), sys.argv[3:])
    page()
