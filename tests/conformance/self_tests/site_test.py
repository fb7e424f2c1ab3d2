"""Tests site_of_results.py on the results here: the same bytes twice, well-formed and accessible pages, numbers that are those of the
result files.  python3 tests/conformance/self_tests/site_test.py [CONFORM] ends with "N passed, N failed"; with CONFORM also the page that
`conform --format html` writes for a program with a mistake."""
import collections
import functools
import glob
import html
import json
import os
import re
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag

sys.dont_write_bytecode = True
from kit import KIT, attempt, check, checked

sys.path.append(KIT)
import frameworks
import site_of_results as site

VOID = {"meta", "link", "br"}


class Page(HTMLParser):
    """Collects unclosed tags, ids, links, loaded files, and the lengths of the rows of each table."""

    def __init__(self, content):
        super().__init__()
        self.open, self.wrong, self.ids, self.links, self.loaded, self.tables, self.tags = [], [], [], [], [], [], collections.Counter()
        self.unscoped = self.unnamed = 0
        self.feed(content)
        self.close()
        self.wrong += self.open

    def handle_starttag(self, tag, pairs):
        attributes = dict(pairs)
        self.tags[tag] += 1
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "a":
            self.links.append(attributes["href"])
        if tag == "link" or "src" in attributes:
            self.loaded.append(attributes.get("href", attributes.get("src")))
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append(0)
        if tag in ("td", "th"):
            self.tables[-1][-1] += 1
            self.unscoped += tag == "th" and "scope" not in attributes
        if tag == "nav" or attributes.get("role") == "region":
            self.unnamed += "aria-label" not in attributes
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def check_form(path, content):
    page = Page(content)
    check(f"{path}: tags close in order: {page.wrong[:3]}", not page.wrong)
    check(f"{path}: an id twice", len(set(page.ids)) == len(page.ids))
    check(f"{path}: rows of a table differ in length", all(len(set(rows)) == 1 for rows in page.tables))
    check(f"{path}: a heading without scope", not page.unscoped)
    check(f"{path}: a region without a name", not page.unnamed)
    check(f"{path}: main, h1, language", page.tags["main"] == page.tags["h1"] == 1 and '<html lang="en">' in content)
    check(f"{path}: nothing from elsewhere, no script", page.tags["script"] == 0 and not any("//" in x for x in page.loaded))
    return page


def check_links(path, content, pages):
    folder = os.path.dirname(path)
    for href in {html.unescape(x) for x in re.findall(r'<a [^>]*?href="([^"]*)"', content)}:
        if href.startswith("https://"):
            continue  # an external source, which is only a link
        place, fragment = urldefrag(href)
        target = os.path.normpath(os.path.join(folder, unquote(place))) if place else path
        if check_link(path, href, target in pages) and fragment:
            check(f"{path}: {href} has no such place", f'id="{fragment}"' in pages[target])


def check_link(path, href, ok):
    check(f"{path}: {href} leads nowhere", ok)
    return ok


def check_same_bytes(pages):
    """Another process, with another order of sets, writes the same files."""
    program = os.path.join(site.HERE, "site_of_results.py")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, program, folder], env={**os.environ, "PYTHONHASHSEED": "7"}, check=True, stdout=subprocess.DEVNULL)
        found = {}
        for place, _, names in os.walk(folder):
            for name in names:
                with open(os.path.join(place, name), encoding="utf-8", newline="") as file:
                    found[os.path.relpath(os.path.join(place, name), folder)] = file.read()
    check("the same bytes again", found == pages)


# ---- numbers

def recount(report, rows):
    """(right or acceptable, answered), counted from the lists of names."""
    right = answered = 0
    for row in rows:
        by = report["cases"].get(row, {})
        good = len(by.get("passed", "").split()) + len(by.get("acceptable", {}))
        right, answered = right + good, answered + good + len(by.get("failed", {}))
    return right, answered


def check_numbers(pages):
    matrices = pages["index.html"].split("</table>")[:len(site.PRECISIONS)]
    check("every program has a column", sum(matrix.count('<th scope="col"><a') for matrix in matrices)
          == len([p for p in pages if p.startswith("program/")]))
    for matrix in matrices:
        heads = [unquote(head) for head in re.findall(r'<th scope="col"><a href="program/([^"]+)\.html"', matrix)]
        for name, cells in re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', matrix):
            for head, cell in zip(heads, cells.split("</td>")):
                check_cell(pages, head, name, re.search(r"(\d+)/(\d+)|–", cell))


@functools.lru_cache(maxsize=None)
def report_of(program):
    return site.load(os.path.join(site.HERE, "results", program + ".json"))["report"]


@functools.lru_cache(maxsize=None)
def family_shown(row):
    return site.text(site.family_of(row, site.known_rows()))


def check_cell(pages, program, family, shown):
    report = report_of(program)
    rows = [row for row in report["cases"] if "All" in family or family_shown(row) == family]
    found = (int(shown[1]), int(shown[2])) if shown[1] else (0, 0)
    check(f"{program}, {family}: {found}", found == recount(report, rows))
    if "All" in family:
        right = report["passed"] + report["acceptable"]
        check(f"{program}: all of the report", found == (right, right + report["failed"]))
        badge = json.loads(pages[f"badge/{program}.json"])
        check(f"{program}: its badge", badge["message"] == f"{found[0]} of {found[1]}" and badge["schemaVersion"] == 1)


# ---- the page of frameworks

def check_frameworks():
    """FRAMEWORKS.md is up to date; every case has one class, and a case with a wrong output that no finding covers is not explained."""
    with open(os.path.join(site.HERE, "FRAMEWORKS.md"), encoding="utf-8") as file:
        check("FRAMEWORKS.md is up to date: frameworks.py page", file.read() == frameworks.page_of_results())
    for path in sorted(glob.glob(os.path.join(site.HERE, "results", "*.json"))):
        result = site.load(path)
        report, findings = result["report"], frameworks.notes().get(result["framework"], {}).get("findings", [])
        count = frameworks.classes(result, findings)
        check(f"{path}: every case has one class", sum(count) == report["passed"] + report["acceptable"] + report["failed"])
        check(f"{path}: nothing that failed counts as right", sum(count[:2]) <= report["passed"] + report["acceptable"])
        for row, of in report["cases"].items():
            for name, (error, bound) in of.get("rounding", {}).items():
                check(f"{row}-{name}: {error} of {bound}", 0 <= error <= bound <= 64 and name in of["acceptable"])
    check_classes()


def check_classes():
    rule = {"what": "a mistake", "in": "x", "rule": {"outputs": ["advantage"]}}
    wrong = lambda *outputs: {"wrong": [[output, "", 0, 1, 9, 1, 1] for output in outputs], "groups": []}
    result = {"precision": "f64", "profile": None, "report": {"groups": []}}
    for found, outputs, findings in ((frameworks.MISTAKE, ["advantage"], [rule]), (frameworks.UNEXPLAINED, ["advantage", "loss"], [rule]),
                                     (frameworks.UNEXPLAINED, ["loss"], [rule]), (frameworks.UNEXPLAINED, ["loss"], []),
                                     (frameworks.MISTAKE, ["advantage"], [{**rule, "kind": "convention"}, rule])):
        check(f"{outputs} by {findings}", frameworks.class_of_failure(result, findings, "grpo-signs", wrong(*outputs)) == found)
    for kind, convention in ((frameworks.CONVENTION, {"change": {}}), (frameworks.CONVENTION, {"rule": {}, "answers": []}),
                             (frameworks.ROUNDING, {"rounding": "f32"}), (frameworks.LIMIT, {"rounding": "f32", "operand": 1}),
                             (frameworks.LIMIT, {"answers": ["NaN"]}), (frameworks.LIMIT, {"error": "x"})):
        check(f"{convention}", frameworks.kind_of(convention) == kind)


# ---- a case and its formulas, and several releases

def check_cases(pages):
    """The page of a failing case shows its source, its formulas, and all its input."""
    for path in sorted(glob.glob(os.path.join(site.VECTORS, "*.json"))):
        row = os.path.basename(path)[:-len(".json")]
        for case in site.load(path).get("cases", ()):
            content = pages.get(f"case/{case['id']}.html")
            if content:
                keys = [key for key in case if key not in ("id", "kind", "comment", "flags", "scale", "defects")]
                heads = re.findall(r"<h2>(.*?)</h2>", content)
                check(f"{case['id']}: {keys}", {key.replace("_", " ").capitalize() for key in keys} <= set(heads))
                check(f"{case['id']}: its source", row not in site.known_facts() or "Paper or source" in content)
    said = site.formulas()
    check("formulas of the vectors' pages", said["aggregation", "kind", "seq_mean_token_mean"] == "1 / (N T_i)"
          and said["surrogate", "kind", "reinforce"] == "-A l" and "1 / (N T_i)" in pages["row/gspo.html"])


def check_releases():
    """Releases of one framework are shown side by side, the earlier first: 1.9.0 before 1.16.0."""
    first = site.load(glob.glob(os.path.join(site.HERE, "results", "trl-*.f64.json"))[0])
    with tempfile.TemporaryDirectory() as folder:
        for release in ("1.16.0", "1.9.0", "1.16.0rc1"):
            with open(os.path.join(folder, f"trl-{release}.f64.json"), "w", encoding="utf-8") as file:
                json.dump({**first, "release": release}, file)
        programs = site.programs_of(folder)
        body = site.history(programs[1], programs, site.known_rows())
    heads = re.findall(r'<th scope="col"><a href="trl-(.*?)\.f64\.html">\1</a>', body)
    check(f"releases side by side: {heads}", heads == ["1.9.0", "1.16.0rc1", "1.16.0"])
    check("one release has no history", site.history(programs[0], programs[:1], site.known_rows()) == "")
    check("a cell for each release", Page(body).tables and {*Page(body).tables[0]} == {4})


# ---- colours

def luminance(colour):
    parts = [int(colour[k:k + 2], 16) / 255 for k in (1, 3, 5)]
    parts = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def check_contrast():
    """Text and links have a contrast of 4.5 to 1 on every background, light and dark."""
    for scheme in re.findall(r":root \{(.*?)\}", site.STYLE, re.DOTALL):
        colour = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", scheme))
        for front in ("fg", "link"):
            for ground in ("bg", "soft", *site.VERDICTS):
                one, other = sorted((luminance(colour[front]), luminance(colour[ground])))
                check(f"{front} on {ground}: {(other + 0.05) / (one + 0.05):.1f}", (other + 0.05) / (one + 0.05) >= 4.5)


# ---- the page of a run

def check_run(conform):
    oracle = [sys.executable, os.path.join(site.ROOT, "tests", "oracle", "answer.py"), "--defect", "GSPO-05"]
    done = subprocess.run([conform, "--vectors", site.VECTORS, "--only", "gspo-token-*", "--format", "html", "--", *oracle],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    failed = re.search(r"(\d+) passed, (\d+) failed", done.stderr)
    page = check_form("a run", done.stdout)
    check("every link of the run's page leads somewhere", page.links and {x[1:] for x in page.links} <= set(page.ids))
    check("the run's page names the mistake, and has a section for each failure",
          "<strong>GSPO-05</strong>" in done.stdout and failed and page.tags["section"] == int(failed[2]) > 0)


def main():
    made = list(site.files())
    pages = dict(made)
    check("a path twice", len(pages) == len(made))
    check_same_bytes(pages)
    for k, (path, content) in enumerate(made):
        if path.endswith(".html"):
            check_links(path, content, pages)
            if k % 4 == 0 or not path.startswith(("case/", "row/")):  # of these many similar pages every fourth is checked
                check(f"{path}: nav", check_form(path, content).tags["nav"] == 1)
    check("a row's page has its paper", "https://arxiv.org/abs/2507.18071" in pages["row/gspo.html"])
    rows, known = (path[4:-5] for path in pages if path.startswith("row/")), site.known_rows()
    check("every row stands in a family", set(site.known_facts()) == {row for row in rows if site.family_of(row, known) in known})
    check_numbers(pages)
    attempt(check_frameworks)
    attempt(check_cases, pages)
    attempt(check_releases)
    attempt(check_contrast)
    for conform in sys.argv[1:]:
        attempt(check_run, conform)


if __name__ == "__main__":
    sys.exit(checked(main))
