"""Every relative link and every #anchor of every .md file exists; in tests/vectors/ no table cell has more than 300 characters, and every
row has as many cells as its head; the pages that define the vectors name every field, choice, array and number of the report in
schema.json, and no other; tests/README.md lists every program that tests/all.sh and Meson run, tests/conformance/README.md every C file
of the runner, and both only what exists; tests/README.md names every folder and script of tests/; the options of TRL and verl on the page
of the lessons have the defaults of OPTIONS.md; the counts that pages state (COUNTED) are those of what they count.
python3 tests/pages.py; ends with "N passed, N failed"."""
import ast
import glob
import json
import os
import re
import subprocess
import sys

from support.counting import attempt, check, checked

LONGEST_CELL = 300  # as shown: of a link its text
LINKED = re.compile(r"\[([^\]]*)\]\([^)]*\)")
WITH_SHORT_CELLS = "tests/vectors/"
FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"\]\(\s*<?([^\s()<>]+(?:\([^\s()]*\)[^\s()<>]*)*)>?(?:\s+\"[^\"]*\")?\s*\)|^ {0,3}\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
HREF = re.compile(r"<(?:a|img)\s[^>]*?(?:href|src)=\"([^\"]+)\"")
NAMED = re.compile(r"<[a-z0-9]+\s[^>]*?(?:id|name)=\"([^\"]+)\"")


def pages():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], check=True, capture_output=True, text=True)
    return [path for path in listed.stdout.splitlines() if os.path.exists(path)]


def prose(text):
    """The text with empty lines in place of fenced or indented code, which keeps line numbers."""
    lines, fence, indented = [], "", True
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if mark and not fence:
            fence, line = mark[1], ""
        elif fence:
            if mark and mark[1].startswith(fence):
                fence = ""
            line = ""
        elif indented and line.startswith("    "):
            lines.append("")
            continue
        indented = not line.strip()
        lines.append(line)
    return "\n".join(lines)


def without_code(text):
    return CODE.sub(lambda m: "\n" * m[2].count("\n") + "x", text)


def anchors(text):
    """The anchors that GitHub gives to headings (-1 is added to a second one of the same name), and HTML names."""
    found, seen = set(NAMED.findall(text)), {}
    for title in re.findall(r"^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$", text, re.MULTILINE):
        title = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "").replace("*", "")
        name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        found.add(f"{name}-{seen[name]}" if name in seen else name)
        seen[name] = seen.get(name, 0) + 1
    return found


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def links(text):
    """(line, target) of each."""
    text = without_code(prose(text))
    found = [(m.start(), m[1] or m[2]) for m in LINK.finditer(text)] + [(m.start(), m[1]) for m in HREF.finditer(text)]
    return [(text.count("\n", 0, start) + 1, target) for start, target in found]


def wrong_link(page, target):
    """What is wrong with it, or None."""
    path, _, anchor = target.partition("#")
    file = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    if not os.path.exists(file):
        return f"there is no {file}"
    if anchor and file.endswith(".md") and anchor not in anchors(prose(read(file))):
        return f"{file} has no heading #{anchor}"
    line = re.fullmatch(r"L(\d+)(?:-L(\d+))?", anchor)
    if line and int(line[2] or line[1]) > read(file).count("\n"):
        return f"{file} has no line {anchor}"
    return None


def cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", re.sub(r"^\||(?<!\\)\|$", "", line.strip()))]


def tables(text):
    """For each table its lines as (number, cells)."""
    table = []
    for number, line in enumerate(prose(text).split("\n") + [""], 1):
        if line.startswith("|"):
            table.append((number, cells(line)))
        elif table:
            yield table
            table = []


def wrong_rows(table):
    for number, row in table:
        if len(row) != len(table[0][1]):
            yield f"{number}: {len(row)} cells, the head has {len(table[0][1])}"
        for cell in row:
            if len(LINKED.sub(r"\1", cell)) > LONGEST_CELL:
                yield f"{number}: a cell of {len(cell)} characters: {cell[:60]} ..."


# ---- the pages and the schema

DEFINING = ("tests/vectors/objective/*.md", "tests/vectors/batch.md", "tests/vectors/report.md", "tests/vectors/scale.md",
            "tests/vectors/README.md")


def strings_of(x):
    """All keys and choices of a schema."""
    if isinstance(x, dict):
        for key, value in x.items():
            if key in ("enum", "const", "default"):
                yield from (v for v in (value if isinstance(value, list) else [value]) if isinstance(v, str))
            elif key in ("properties", "$defs"):
                yield from value
            yield from strings_of(value)
    elif isinstance(x, list):
        for value in x:
            yield from strings_of(value)


def named_as_code(text):
    """Words in backticks; of a path the last part."""
    return {word.rsplit(".", 1)[-1] for m in CODE.finditer(text) for word in re.findall(r"[a-z][a-z0-9_.]*", m[2])}


def words_defined(text):
    """(line, word) of what a table or a list of the page defines, and of every other word in backticks that has an underscore."""
    for number, line in enumerate(text.split("\n"), 1):
        first = re.match(r"(?:\| *|- )((?:`[a-z][a-z0-9_]*`(?:, )?)+)", line)
        words = re.findall(r"`([a-z][a-z0-9_]*)`", first[1]) if first else []
        yield from ((number, word) for word in words + re.findall(r"`([a-z][a-z0-9]*(?:_[a-z0-9]+)+)`", line))


def wrong_words():
    with open("tests/vectors/schema.json", encoding="ascii") as f:
        schema = json.load(f)
    known = set(strings_of(schema))
    texts = {page: read(page) for pattern in DEFINING for page in sorted(glob.glob(pattern))}
    said = set().union(*map(named_as_code, texts.values()))
    parts = [schema["$defs"][part] for part in ("objective", "batch", "report")]
    for word in sorted({w for part in parts for w in strings_of(part) if w.islower()}):
        yield None if word in said else f"tests/vectors/: no page has `{word}` of schema.json"
    for page, text in texts.items():
        if page.endswith("README.md"):
            continue                               # it describes programs too
        for number, word in words_defined(text):
            yield None if word in known else f"{page}:{number}: `{word}` is not in schema.json"


# ---- the pages that list files

ROOMS = ("", "objective", "extra", "logits", "bits", "tables", "runner")


def listed(page, head):
    """(line, name) of each name in backticks in the first cells of the page's tables with this head; of `bits.sh --quick`: bits.sh."""
    for table in tables(read(page)):
        if table[0][1][0] == head:
            for number, row in table[1:]:
                yield from ((number, m[2].split()[0]) for m in CODE.finditer(row[0]) if not m[2].startswith("-"))


def programs_run():
    """The programs and scripts that tests/all.sh, tests/quick.sh and the Meson files name."""
    for script in ("tests/all.sh", "tests/quick.sh"):
        yield from re.findall(r"[\w./]+\.(?:sh|py)\b", read(script))
    for folder in ("tests", "tests/conformance"):
        for name in re.findall(r"'([^'\s]+)'", read(f"{folder}/meson.build")):
            yield from (os.path.normpath(f"{folder}/{name}{ending}") for ending in ("", ".c"))


def is_program(path):
    """A C file with main, a script; quick.sh, all.sh and their part are what runs, not what is run."""
    if not os.path.isfile(path) or path in ("tests/all.sh", "tests/quick.sh", "tests/support/counting.sh", "tests/support/counting.py"):
        return False
    if path.endswith((".c", ".h")):
        return "\nint main(" in read(path)
    return path.endswith((".sh", ".py")) or os.access(path, os.X_OK)


def wrong_lists():
    for page, head, wanted in (("tests/README.md", "test", {path for path in programs_run() if is_program(path)}),
                               ("tests/conformance/README.md", "file", set(glob.glob("tests/conformance/runner/*.c")))):
        folder = os.path.dirname(page)
        found = set()
        for number, name in listed(page, head):
            paths = [os.path.normpath(f"{folder}/{room}/{name}{ending}") for room in ROOMS for ending in (".c", "")]
            file = next(filter(os.path.isfile, paths), paths[-1])
            found.add(file)
            yield None if os.path.exists(file) else f"{page}:{number}: there is no {name}"
        yield from (None if path in found else f"{page}: {os.path.relpath(path, folder)} is not listed" for path in sorted(wanted))


def wrong_rooms():
    """Every folder of tests/ stands in the first table of its README, and every script beside it somewhere there."""
    text = read("tests/README.md")
    rooms = {name.rstrip("/") for _, row in next(tables(text)) for name in re.findall(r"`([a-z_]+/)`", row[0])}
    for folder in sorted({path.split("/")[1] for path in files_of_tests() if path.count("/") > 1}):
        yield None if folder in rooms else f"tests/README.md: the folder {folder}/ is not in its first table"
    for script in (path.removeprefix("tests/") for path in files_of_tests() if re.fullmatch(r"tests/\w+\.(?:sh|py)", path)):
        yield None if re.search(rf"(?<!\w){script}\b", text) else f"tests/README.md: {script} is not named"


def files_of_tests():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "tests"], check=True, capture_output=True, text=True)
    return listed.stdout.splitlines()


def wrong_options():
    """Of each option of the lessons' page, and of each release there, what is not so in OPTIONS.md; None where it is right."""
    page, listed = "examples/lessons/README.md", read("tests/framework_options/OPTIONS.md")
    head, rows = re.search(r"^The same settings in (.*?):\n\n\|.*?\n\|.*?\n(.*?)\n\n", read(page), re.MULTILINE | re.DOTALL).groups()
    for name, release in re.findall(r"(TRL|verl) ([0-9.]+)", head):
        yield None if f"| {name} | {release} |" in listed else f"{page}: {name} {release} is not in OPTIONS.md"
    for row in rows.split("\n"):
        for framework, cell in zip(("trl", "verl"), row.split(" | ")[2:]):
            section = re.search(rf"^## {framework}$(.*?)(?=^## |\Z)", listed, re.MULTILINE | re.DOTALL)[1]
            for option, default in re.findall(r"`([a-z0-9_.]+)` ([\w.-]+)", cell):
                full = option if framework == "trl" or option.startswith("algorithm.") else "actor_rollout_ref.actor." + option
                right = f"| `{full}` | `{'null' if default == 'none' else default}` |" in section
                yield None if right else f"{page}: {framework} has no {full} with the default {default}"


# ---- the counts that pages state

WORDS = {word: number for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
                                                    "fifteen sixteen seventeen eighteen nineteen twenty".split())}
WORDS |= {word: 10 * number for number, word in enumerate("thirty forty fifty sixty seventy eighty ninety".split(), 3)}


def files(pattern, *but):
    return lambda: len([path for path in glob.glob(pattern) if os.path.basename(path) not in but])


def matches(path, pattern):
    """How many different texts match; of a pattern with a group, how many different texts the group has."""
    return lambda: len({*re.findall(pattern, read(path), re.MULTILINE)})


def stated(path, pattern):
    """The number itself, where a program has it."""
    return lambda: int(re.search(pattern, read(path), re.MULTILINE)[1])


def strings(path, pattern):
    """How many texts in quotes stand in what the pattern's group matches."""
    return lambda: len(re.findall(r"""["'][a-z][^"']*["']""", re.search(pattern, read(path), re.DOTALL)[1]))


def words(path, pattern):
    """How many words what the pattern's group matches has."""
    return lambda: len(re.search(pattern, read(path), re.MULTILINE)[1].split())


def entries(path, *names):
    """How many entries the constants of these names have in a Python file."""
    def count():
        values = {node.targets[0].id: node.value for node in ast.parse(read(path)).body
                  if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)}
        return sum(len(values[name].elts) for name in names)
    return count


def frameworks_with(files_of, *but):
    """How many different names of frameworks the files have; trl and trl_rloo are trainers of one."""
    def count():
        names = {re.sub(r"(-[0-9].*)?\.json$", "", os.path.basename(path)) for path in glob.glob(files_of)} - {*but}
        return len([name for name in names if name.rpartition("_")[0] not in names])
    return count


def objectives_cut():
    cases = [case for path in glob.glob("tests/vectors/partition-*.json") for case in json.loads(read(path))["cases"]]
    return len({json.dumps(case["objective"]) for case in cases})


def places(page, column):
    """Of the page's table of places in files, how many cells of the column say something."""
    return lambda: next(sum(bool(row[column]) for _, row in table[1:] if set(row[column]) - {"-"})
                        for table in tables(read(page)) if table[0][1][:2] == ["file", "place"])


LISTS_OF_PLANTED = ("PLANTED", "FURTHER", "FROM_ISSUES", "ROWS_AND_BITS", "OF_A_PORT", "OF_AXES", "NAMELESS")
SELF_TESTS, OPTIONS = "tests/conformance/self_tests", "tests/framework_options"
lessons = files("examples/lessons/[0-9]*.c")
frameworks_cut = matches(f"{OPTIONS}/cuts.json", r'^ ?"([a-z_]+)": [\[{]')
light_set = words("packages/core.py", r'^ROWS = \(\n    "(.*)"\.split')
common_names = stated(f"{SELF_TESTS}/computed_test.py", r"^NAMES, ANSWERS = (\d+)")
# (page, what it states, in figures or as a word, how many there are)
COUNTED = (
    ("CONTRIBUTING.md", r"(\w+) places in", places("CONTRIBUTING.md", 1)),
    ("CONTRIBUTING.md", r"places in (\w+) files", places("CONTRIBUTING.md", 0)),
    ("README.md", r"\[(\w+) lessons\]", lessons),
    ("README.md", r"What (\w+) frameworks answer", frameworks_with("tests/conformance/results/*.json", "adapter_c", "numpy_port",
                                                                    "torch_autograd")),
    ("README.md", r"what (\w+) frameworks make of it", frameworks_cut),
    ("examples/README.md", r"\[([A-Z]\w+) lessons\]", lessons),
    ("examples/README.md", r"Of the (\d+) rows\s+of \[the plain book\]", matches("examples/plain/README.md",
                                                                                  r"^\| \[\w+\]\(\w+\.c\) \| `([^`]+)` \|")),
    ("examples/cuts.md", r"What (\w+) frameworks make of a batch that is cut", frameworks_cut),
    ("examples/plain/README.md", r"(\d+) pages, and one each for what several", files("examples/plain/*.c", "gae.c", "kl.c")),
    ("fuzz/README.md", r"builds (\w+) programs", stated("fuzz/run.sh", r"\|\| of=(\d+)$")),
    ("fuzz/README.md", r"(\w+) programs, each harness in one element type", files("fuzz/fuzz_*.c")),
    ("fuzz/README.md", r"(\w+) random objectives on small batches", stated("fuzz/make_corpus.c", r"k < (\d\d+);")),
    ("packages/README.md", r"of the (\w+) best-known objectives", light_set),
    ("tests/README.md", r"applied to (\w+) base rows", strings("tests/bits/bits.c", r"\bbase\[\] = (\{.*?\})")),
    ("tests/README.md", r"random inputs of (\d+) rows", strings("tests/meson.build", r"'--random', '8',(.*?)\]")),
    ("tests/README.md", r"rows and (\d+) random objectives", stated("tests/meson.build", r"'--random', '(\d+)'")),
    ("tests/README.md", r"`calls_faults` \|[^|]*?(\d+) functions", stated("tests/extra/calls_faults.c", r"\bALL = \(1 << (\d+)\) - 1")),
    ("tests/README.md", r"(\d+) batches each; then", stated(f"{OPTIONS}/random_configurations.py", r"^BATCHES, \w+ = (\d+)")),
    ("tests/README.md", r"then (\d+) random configurations", stated(f"{OPTIONS}/random_configurations.py",
                                                                    r"^BATCHES, CONFIGURATIONS = \d+, (\d+)")),
    ("tests/README.md", r"planted in a port of (\w+) rows", entries(f"{SELF_TESTS}/planted.py", "ROWS")),
    ("tests/conformance/README.md", r"the (\d+) that both know by one name", common_names),
    ("tests/conformance/README.md", r"its name: (\d+) mistakes", stated(f"{SELF_TESTS}/computed_test.py", r"^COMPUTED, .* = (\d+),")),
    ("tests/conformance/README.md", r"mistakes, (\d+) names", stated(f"{SELF_TESTS}/computed_test.py", r"^COMPUTED, .* = \d+, (\d+),")),
    ("tests/conformance/README.md", r"plants (\d+) mistakes", entries(f"{SELF_TESTS}/planted.py", *LISTS_OF_PLANTED)),
    ("tests/conformance/README.md", r"runs it on (\w+) rows", entries(f"{SELF_TESTS}/planted.py", "ROWS")),
    ("tests/conformance/README.md", r"(\d+) have no name in the runner", entries(f"{SELF_TESTS}/planted.py", "NAMELESS")),
    (f"{OPTIONS}/README.md", r"one of (\w+) trainers of", files(f"{OPTIONS}/data/*.json")),
    (f"{OPTIONS}/README.md", r"trainers of (\w+) frameworks", frameworks_with(f"{OPTIONS}/data/*.json")),
    ("tests/vectors/README.md", r"at most (\d+) cases list the same mistake", stated("tests/oracle/generate.py",
                                                                                    r"^MOST_IN_BRIEF = (\d+)")),
    ("tests/vectors/README.md", r"the (\w+) best-known objectives", light_set),
    ("tests/vectors/partitions.md", r"combine (\d+) objectives", objectives_cut),
)


def wrong_counts():
    """Of each phrase of COUNTED: None where every number in it is right."""
    for page, phrase, count in COUNTED:
        said, right = re.findall(phrase, read(page)), count()
        numbers = [int(word) if word.isdigit() else WORDS.get(word.lower()) for word in said]
        yield None if said and numbers == [right] * len(said) else f"{page}: {phrase}: {', '.join(said) or 'nothing'}, and counted {right}"


def wrong_links():
    for page in pages():
        text = read(page)
        for number, target in links(text):
            if not re.match(r"[a-z][a-z0-9+.-]*:|//", target):
                wrong = wrong_link(page, target)
                yield f"{page}:{number}: {target}: {wrong}" if wrong else None


def wrong_cells():
    for page in filter(lambda page: page.startswith(WITH_SHORT_CELLS), pages()):
        for table in tables(read(page)):
            yield from [f"{page}:{line}" for line in wrong_rows(table)] or [None]


def check_all(what):
    """One check for each thing that the generator says: None, or what is wrong."""
    kind = what.__name__.removeprefix("wrong_")
    said = list(what())
    check(f"there are {kind}", said)
    for wrong in said:
        check(kind, not wrong, wrong)


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    for what in (wrong_links, wrong_cells, wrong_words, wrong_lists, wrong_rooms, wrong_options, wrong_counts):
        attempt(check_all, what)


if __name__ == "__main__":
    sys.exit(checked(main))
