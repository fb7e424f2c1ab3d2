"""Writes the results as a static web site: programs by families of objectives, a page for each program, row and failing case.

    python3 tests/conformance/site_of_results.py FOLDER       or: ninja -C build site, into build/site

Generated from results/*.json, the vectors and OBJECTIVES.md, without a server, scripts or external files: index.html opens from the disk.
badge/NAME.json is a badge for each program. The same data give the same bytes."""
import functools
import glob
import html
import json
import os
import re
import shutil
import sys
from urllib.parse import quote

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, os.pardir, os.pardir)
VECTORS = os.path.join(ROOT, "tests", "vectors")
PRECISIONS = (("f32", "single precision"), ("f64", "double precision"))  # most frameworks compute in the first
VERDICTS = ("passed", "acceptable", "failed", "skipped")
SYMBOLS = {"passed": "✓", "acceptable": "≈", "failed": "✗", "skipped": "–"}
COLOURS = {"passed": "brightgreen", "acceptable": "green", "failed": "orange", "skipped": "lightgrey"}
BESIDE = (("choices-", "Single choices of an axis"), ("partition-", "Batches that are cut"), ("split", "Batches that are cut"),
          ("logits", "From logits"), ("hidden", "From hidden states"), ("calls", "Functions beside the objective"),
          ("refuse", "Input that must be refused"), ("mistakes", "Cases that distinguish mistakes"))
OURS = ("adapter_c", "numpy_port", "torch_autograd")  # listed last
UNSHOWN = ("id", "comment", "kind", "flags", "scale", "defects")  # keys of a case that are shown elsewhere on its page, or not at all
LINK = re.compile(r"\[([^\]]*)\]\(([^)]*)\)")


# ---- reading

def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


@functools.lru_cache(maxsize=None)
def known_rows():
    """{family: {row: (paper, equations, evidence, summary)}}, from OBJECTIVES.md"""
    families, family, part = {}, None, ""
    with open(os.path.join(ROOT, "OBJECTIVES.md"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("## "):
                part = line[3:].strip()
            elif line.startswith("### "):
                family = line[4:].strip() if part == "Papers" else f"{part}: {line[4:].strip()}"
            elif family and line.startswith("| "):
                row, *cells = line.strip("| \n").split(" | ")
                if len(cells) == 4 and row != "name":  # the first of the two tables
                    families.setdefault(family, {}).setdefault(row, cells)
    return families


def known_facts():
    return {row: facts for rows in known_rows().values() for row, facts in rows.items()}


@functools.lru_cache(maxsize=None)
def formulas():
    """{(axis, field, choice): its formula}, from tables on the vectors' pages whose first head is the field, and lists below its title"""
    found = {}
    for path in sorted(glob.glob(os.path.join(VECTORS, "objective", "*.md"))):
        axis, field = os.path.basename(path)[:-len(".md")].split("_")[0], None
        with open(path, encoding="utf-8") as file:
            content = file.read()
        for line in content.splitlines():
            cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            choices = re.findall(r"`(\w+)`", cells[0]) if len(cells) > 1 else []
            if not cells:
                field = None
            elif not field:
                field = cells[0]
            elif choices and field.startswith("`"):
                found.setdefault((axis, field.strip("`"), choices[0]), cells[1])
        for title, below in re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", content, re.M | re.S):
            for choices, words in re.findall(r"^- ((?:`\w+`[^:\n]*)+):((?:.|\n(?=  ))*)", below, re.M):
                for choice in re.findall(r"`(\w+)`", choices):
                    found.setdefault((axis, title, choice), " ".join(words.split()))
    return {key: LINK.sub(r"\1", words).replace("`", "") for key, words in found.items()}


def family_of(variant, families):
    for family, rows in families.items():
        if variant in rows:
            return family
    return next((name for start, name in BESIDE if variant.startswith(start)), "Others")


def in_parts(release):
    """A sort key for releases: 1.9.0 before 1.16.0rc1 before 1.16.0."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.findall(r"\d+|[^\d.]+", release)] + [(0, "")]


class Program:
    """A result file: counts by row, and the entries of failed cases."""

    def __init__(self, path):
        self.data = load(path)
        self.name = os.path.basename(path)[:-len(".json")]
        self.report = self.data["report"]
        self.short = f"{self.data['framework']} {self.data['release']}"
        self.title = f"{self.short} ({self.data['precision']})"
        self.count = {row: counts(by_verdict) for row, by_verdict in self.report["cases"].items()}
        self.failed = {f"{row}-{name}": found for row, by in self.report["cases"].items() for name, found in by.get("failed", {}).items()}
        self.accepted = {f"{row}-{name}": [self.report["conventions"][k] for k in places]
                         for row, by in self.report["cases"].items() for name, places in by.get("acceptable", {}).items()}

    def total(self, rows):
        return {v: sum(self.count.get(row, {}).get(v, 0) for row in rows) for v in VERDICTS}


def counts(by_verdict):
    skipped = by_verdict.get("skipped", {})
    return {"passed": len(by_verdict.get("passed", "").split()), "acceptable": len(by_verdict.get("acceptable", {})),
            "failed": len(by_verdict.get("failed", {})),
            "skipped": sum(x if isinstance(x, int) else len(x.split()) for x in skipped.values())}


def worst(count):
    """The verdict that determines the colour of a cell."""
    return next((v for v in ("failed", "acceptable", "passed") if count[v]), "skipped")


# ---- pieces of a page

def text(x):
    return html.escape(str(x), quote=True)


def linked(markdown):
    return LINK.sub(lambda found: f'<a href="{text(found[2])}">{found[1]}</a>', text(markdown))


def link(folder, name, words=None):
    return f'<a href="{folder}/{quote(name)}.html">{text(words or name)}</a>'


def verdict_cell(count, href=None):
    """A cell with symbol and numbers, so that no information is in the colour alone."""
    v, asked = worst(count), sum(count[k] for k in VERDICTS[:3])
    says = f"{SYMBOLS[v]} {asked - count['failed']}/{asked}" if asked else SYMBOLS["skipped"]
    told = ", ".join(f"{count[k]} {k}" for k in VERDICTS if count[k])
    inner = f'<a href="{href}" title="{told}">{says}</a>' if href and asked else f'<span title="{told}">{says}</span>'
    return f'<td class="{v}">{inner}</td>'


def table(caption, head, rows):
    """A table. rows: lists of cells, the first of each a heading; a cell that is not yet a <td> becomes one."""
    lines = ["<tr>" + f'<th scope="row">{first}</th>' + "".join(c if c.startswith("<td") else f"<td>{c}</td>" for c in rest) + "</tr>"
             for first, *rest in rows]
    heads = "<thead><tr>" + "".join(f'<th scope="col">{h}</th>' for h in head) + "</tr></thead>" if head else ""
    return (f'<div class="scroll" tabindex="0" role="region" aria-label="{text(caption)}"><table><caption>{text(caption)}</caption>'
            f"{heads}<tbody>\n" + "\n".join(lines) + "\n</tbody></table></div>")


def numbers(x):
    """A value as JSON, an object with one line per key."""
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in x.items()] if isinstance(x, dict) else [json.dumps(x)]
    return "<pre>" + text("\n".join(lines)) + "</pre>"


FOOTER = ("✓ passed, ≈ acceptable (a documented convention, or rounding of float32), ✗ failed, – not asked or skipped. "
          "Numbers: right or acceptable of those asked.")


def page(title, body, depth=0):
    up = "../" * depth
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{text(title)}</title><link rel="stylesheet" href="{up}style.css"></head>
<body><a class="skip" href="#main">Skip to the content</a>
<header><nav aria-label="Site"><a href="{up}index.html">All programs</a></nav></header>
<main id="main"><h1>{text(title)}</h1>
{body}
</main>
<footer><p>{FOOTER}</p></footer>
</body></html>
"""


# ---- the pages

def rows_by_family(programs, families):
    """{family: rows with cases that a program was sent}, in the order of OBJECTIVES.md"""
    found = {}
    for row in dict.fromkeys(row for p in programs for row in p.count):
        found.setdefault(family_of(row, families), []).append(row)
    return {f: found[f] for f in [*families, *dict.fromkeys(name for _, name in BESIDE), "Others"] if f in found}


def index(programs, families):
    by_family = rows_by_family(programs, families)
    matrices = ""
    for precision, words in PRECISIONS:
        asked = [p for p in programs if p.data["precision"] == precision]
        heads = ["Family", *(link("program", p.name, p.short) for p in asked)]
        every = [["<strong>All</strong>", *(verdict_cell(p.total(p.count), f"program/{quote(p.name)}.html") for p in asked)]]
        rows = [[text(f), *(verdict_cell(p.total(by_family[f]), f"program/{quote(p.name)}.html#{anchor(f)}") for p in asked)]
                for f in by_family]
        matrices += table(f"Programs by family, in {words}", heads, every + rows)
    listed = [[link("row", row), text(facts[3]), str(sum(row in p.count and p.count[row]["failed"] > 0 for p in programs))]
              for rows in families.values() for row, facts in rows.items()]
    intro = ("<p>Results of released programs on the golden vectors of the GRPO and GSPO family. A failed case is a difference, not "
             "necessarily a mistake. A program's page has the reasons; a row's page compares programs.</p>")
    return page("Conformance results", intro + matrices
                + table("Every row", ["Row", "Summary", "Programs that fail in it"], listed))


def anchor(family):
    return re.sub(r"[^a-z0-9]+", "-", family.lower()).strip("-")


def reasons_of(program, row):
    """Why cases of the row are skipped, in words."""
    found = program.report["cases"].get(row, {}).get("skipped", {})
    return "; ".join(dict.fromkeys(program.report["reasons"][int(k)] for k in found))


def group_item(program, k, group):
    names = [text(group["name"] or "no name")]
    if group.get("also"):
        names.append(f"or, with the same numbers in these cases: {text(', '.join(group['also']))}")
    hint = f" {text(group['hint'])}" if group.get("hint") else ""
    cases = [name for name, found in program.failed.items() if k in found.get("groups", ())]
    listed = ", ".join(f'<a href="../case/{quote(name)}.html">{text(name)}</a>' for name in cases)
    return (f"<li><strong>{' '.join(names)}</strong>: {text(group.get('text') or '')}{hint} "
            f"<details><summary>{len(cases)} cases</summary><p>{listed}</p></details></li>")


def history(program, programs, families):
    """A table of the releases of one framework side by side."""
    releases = [p for p in programs if (p.data["framework"], p.data["precision"]) == (program.data["framework"], program.data["precision"])]
    if len(releases) < 2:
        return ""
    by_family = rows_by_family(releases, families)
    heads = ["Family", *(f'<a href="{quote(p.name)}.html">{text(p.data["release"])}</a>' for p in releases)]
    rows = [[text(f), *(verdict_cell(p.total(by_family[f]), f"{quote(p.name)}.html#{anchor(f)}") for p in releases)]
            for f in by_family]
    return "<h2>Releases</h2>" + table("Releases by family", heads, rows)


def program_page(program, programs, families):
    d, total = program.data, program.total(program.count)
    facts = [["Release", f"{text(d['release'])} of {text(d['release_date'] or 'unknown date')}"], ["Read", text(d["read"])],
             ["Vectors", text(d["vectors"])], ["Precision, tolerance", f"{text(d['precision'])}, {d['tolerance']} eps of the scale"],
             ["torch", text(d["torch"] or "–")], ["Adapter", text(d["adapter"])], ["Profile", text(d["profile"] or "none")],
             *([v.capitalize(), str(total[v])] for v in VERDICTS)]
    body = table("The run", [], facts) + history(program, programs, families)
    if program.report["groups"]:
        body += "<h2>Why cases fail</h2><ol>" + "".join(group_item(program, k, g) for k, g in enumerate(program.report["groups"])) + "</ol>"
    if program.report["conventions"]:
        body += "<h2>Accepted conventions</h2><ul>" + "".join(f"<li>{text(x)}</li>" for x in program.report["conventions"]) + "</ul>"
    body += "<h2>By family</h2>"
    by_family = rows_by_family([program], families)
    for family in by_family:
        rows = [[f'<a href="../row/{quote(row)}.html">{text(row)}</a>', verdict_cell(program.count[row]), failed_links(program, row),
                 text(reasons_of(program, row))] for row in by_family[family]]
        of_family = table(family, ["Row", "Verdict", "Failed", "Reasons for skipped cases"], rows)
        body += f'<section id="{anchor(family)}">{of_family}</section>'
    return page(program.title, body, 1)


def failed_links(program, row):
    names = program.report["cases"].get(row, {}).get("failed", {})
    return ", ".join(f'<a href="../case/{quote(f"{row}-{name}")}.html">{text(name)}</a>' for name in names)


def facts_table(facts):
    names = ("Paper or source", "Equations", "Evidence", "Summary")
    return table("The row", [], [[name, linked(x)] for name, x in zip(names, facts)]) if facts else ""


def formula_table(objective):
    """A table of the formulas of the choices of an objective, from the vectors' pages."""
    rows = [[text(f"{axis}.{field} = {choice}"), text(formulas()[axis, field, choice])]
            for axis, fields in objective.items() if isinstance(fields, dict)
            for field, choice in fields.items() if isinstance(choice, str) and (axis, field, choice) in formulas()]
    return table("What is computed", ["Choice", "Formula"], rows) if rows else ""


def row_page(row, facts, variant, programs):
    body = facts_table(facts)
    objective = next((c["objective"] for c in variant["cases"] if "objective" in c), None)
    if facts and objective:
        body += "<h2>Its settings</h2><p>Fields that are not listed have their default.</p>" + numbers(objective) + formula_table(objective)
    rows = [[f'<a href="../program/{quote(p.name)}.html">{text(p.title)}</a>', verdict_cell(p.total([row])), failed_links(p, row),
             text(reasons_of(p, row))] for p in programs]
    return page(row, body + "<h2>Programs</h2>" + table(f"Programs that were run on {row}",
                                                       ["Program", "Verdict", "Failed", "Reasons for skipped cases"], rows), 1)


def answer_of(program, name):
    found = program.failed[name]
    said = [f"<p>It reports an error: {text(found['error'])}</p>"] if found.get("error") else []
    for k in found.get("groups", ()):
        group = program.report["groups"][k]
        said.append(f"<p>Cause: <strong>{text(group['name'] or 'unknown')}</strong> {text(group.get('text') or '')}</p>")
    if found.get("wrong"):
        rows = [[text(where), text(expected), text(given), f"{error:.3g}" if isinstance(error, (int, float)) else text(error),
                 f"{wrong} of {judged}"] for _, where, expected, given, error, wrong, judged in found["wrong"]]
        heading = ["Output, its worst number", "Expected", "Found", "Error, eps of scale", "Wrong"]
        said.append(table(f"Wrong outputs of {program.title}", heading, rows))
    return f'<h3><a href="../program/{quote(program.name)}.html">{text(program.title)}</a></h3>' + "".join(said)


def case_page(case, row, facts, programs):
    body = f"<p>{text(case.get('comment', ''))}</p>"
    body += f'<p>A case of <a href="../row/{quote(row)}.html">{text(row)}</a>; kind {text(case.get("kind", "objective"))}.</p>'
    body += "<h2>Wrong answers</h2>" + "".join(answer_of(p, case["id"]) for p in programs if case["id"] in p.failed)
    body += facts_table(facts)
    for key in (key for key in case if key not in UNSHOWN):
        body += f"<h2>{key.replace('_', ' ').capitalize()}</h2>" + numbers(case[key])
        if key == "objective":
            body += formula_table(case[key])
    return page(case["id"], body, 1)


def badge(program):
    total = program.total(program.count)
    asked = sum(total[v] for v in VERDICTS[:3])
    return {"schemaVersion": 1, "label": f"GRPO vectors {program.data['vectors']}",
            "message": f"{asked - total['failed']} of {asked}", "color": COLOURS[worst(total)]}


STYLE = """:root { color-scheme: light dark; --fg: #1b1b1f; --bg: #ffffff; --soft: #f1f1f4; --line: #c4c4cc; --link: #0b4fa0;
  --passed: #d9efe0; --acceptable: #dce8f8; --failed: #fbe0cf; --skipped: #f1f1f4; }
@media (prefers-color-scheme: dark) { :root { --fg: #ececf0; --bg: #17171b; --soft: #24242a; --line: #4a4a54; --link: #9cc4ff;
  --passed: #1c3b28; --acceptable: #1d3252; --failed: #4d2a14; --skipped: #24242a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 84rem; padding: 0 1rem 3rem; font: 16px/1.5 system-ui, sans-serif; \
color: var(--fg); background: var(--bg); }
a { color: var(--link); }
a:focus-visible, summary:focus-visible, .scroll:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; background: var(--bg); padding: .5rem; }
header, footer { padding: .75rem 0; }
h1 { font-size: 1.6rem; overflow-wrap: anywhere; } h2 { font-size: 1.25rem; margin-top: 2rem; } h3 { font-size: 1.05rem; }
.scroll { overflow-x: auto; margin: 1rem 0; border: 1px solid var(--line); border-radius: .25rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
caption { text-align: left; font-weight: 600; padding: .5rem; }
th, td { padding: .3rem .5rem; text-align: left; vertical-align: top; border-top: 1px solid var(--line); }
thead th { background: var(--soft); vertical-align: bottom; }
tbody th { min-width: 9rem; } td { min-width: 4.5rem; } \
td.passed, td.acceptable, td.failed, td.skipped { white-space: nowrap; font-variant-numeric: tabular-nums; }
td.passed { background: var(--passed); } td.acceptable { background: var(--acceptable); }
td.failed { background: var(--failed); font-weight: 600; } td.skipped { background: var(--skipped); }
pre { overflow-x: auto; background: var(--soft); padding: .75rem; border-radius: .25rem; font-size: .8rem; \
white-space: pre-wrap; overflow-wrap: anywhere; }
"""


# ---- writing

def programs_of(folder):
    programs = [Program(path) for path in glob.glob(os.path.join(folder, "*.json"))]
    return sorted(programs, key=lambda p: (p.name.startswith(OURS), p.data["framework"].lower(), p.data["precision"] != "f64",
                                           in_parts(p.data["release"])))


def files():
    """(path, content) of every file of the site."""
    programs, families, facts = programs_of(os.path.join(HERE, "results")), known_rows(), known_facts()
    yield "style.css", STYLE
    yield "index.html", index(programs, families)
    for p in programs:
        yield f"program/{p.name}.html", program_page(p, programs, families)
        yield f"badge/{p.name}.json", json.dumps(badge(p)) + "\n"
    for path in sorted(glob.glob(os.path.join(VECTORS, "*.json"))):
        row = os.path.basename(path)[:-len(".json")]
        if row == "schema":
            continue
        variant = load(path)
        yield f"row/{row}.html", row_page(row, facts.get(row), variant, programs)
        for case in variant["cases"]:
            if any(case["id"] in p.failed for p in programs):
                yield f"case/{case['id']}.html", case_page(case, row, facts.get(row), programs)


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    folder, count = arguments[0], 0
    for name in ("program", "row", "case", "badge"):
        shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
        os.makedirs(os.path.join(folder, name))
    for name, content in files():
        with open(os.path.join(folder, name), "w", encoding="utf-8", newline="\n") as file:
            file.write(content)
        count += 1
    print(f"{count} files in {folder}")


if __name__ == "__main__":
    main(sys.argv[1:])
