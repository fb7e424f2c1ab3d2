#!/usr/bin/env python3
"""The settings of the rows (tests/oracle/rows.txt) held against what their sources say (the claims beside this file), which were written
down without a look at the rows.

    compare.py              a line for each row: how many of its settings a claim says as well, which it contradicts, of which it is silent
    compare.py ROW ...      these rows, setting by setting, with the places; of what their claim does not say, on what else it rests
    compare.py --check      only that the claims are well-formed: every setting translates into fields and choices that there are, with a
                            place, a kind and a date; no file of claims is without its words; ends with "N passed, N failed"

Of several claims to a row (an equation, a recipe, a framework's default), the one that agrees best with it counts.
"""
import datetime
import glob
import json
import os
import re
import sys
from collections import Counter

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, os.pardir, folder) for folder in ("oracle", "support")]

import objectives  # noqa: E402  the rows alone, none of the oracle's functions
from counting import check, checked  # noqa: E402

KINDS = ("equation", "paper text", "official code", "recipe of the authors", "framework default", "framework recipe",
         "restatement", "chosen here")
STRONG = KINDS[:3]
OF_CODE = ("official code", "recipe of the authors", "framework default", "framework recipe")
FIRST_READ = datetime.date(2024, 1, 1)  # no evidence was read before

PAPER = ("arXiv", "Williams")  # else the source is who restates
# What a source is called: a paper, a repository at a commit or a tag, a framework's release
SOURCE = re.compile(r"arXiv \d{4}\.\d{5}(v\d+)?\b|Williams 1992\b|[\w.-]+/[\w.-]+(@[\w.]+|, commit not known, )|"
                    r"(TRL|verl|trinity-rft) \d+(\.\d+)+\b")
LINE = re.compile(r":\d|\blines? \d")
ROUTES = {  # how a source was read where that was not the source itself
    "a copy with a name": re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{7,40} \S+: \S.*"),
    "a copy with the paper's number on it": re.compile(r"copy headed arXiv:(\d{4}\.\d{5}v\d+): \S.*"),
    "a page with an address": re.compile(r"https://[\w.-]+/\S+[^\s:]: \S.*"),
    "a copy without a name": re.compile(r"copy without a name: \S.*"),
    "not opened": re.compile(r"not opened: \S.*"),
}


def route(through):
    """Which of ROUTES, with what its pattern found; None, None where it has no form of theirs."""
    return next(((name, found) for name, form in ROUTES.items() if (found := form.fullmatch(through))), (None, None))


def faults_of_place(text, may_lack_commit):
    """A place in public code stays where it is: no branch, no unencrypted address, a commit where the name can move."""
    if "http://" in text:
        yield f"{text!r} has an address without encryption"
    if re.search(r"https://\S+/(?:blob|tree|raw)/(?![0-9a-f]{7,40}/)", text):
        yield f"{text!r} has an address at a branch"
    if re.search(r"@(?:refs/|main\b|master\b|HEAD\b)", text) and not re.search(r"\([0-9a-f]{7,40}\b", text):
        yield f"{text!r} names a branch or a change request and no commit"
    if "commit not known" in text and not may_lack_commit:
        yield f"{text!r} has no commit, and was not read in a copy or on a page that names none"


def faults_of_source(source, setting):
    """A setting ends at a source with a name; what was not read itself says through what, in the form of a route."""
    through, restated = setting.get("through"), setting.get("kind") == "restatement"
    if not SOURCE.match(source):
        yield f"{source!r} names no paper, no repository at a commit and no release"
    if setting.get("kind") in OF_CODE and source.startswith(PAPER):
        yield f"{setting['kind']} of a paper"
    no_commit = str(through).startswith(("copy without a name: ", "https://"))  # what was read names none
    yield from (fault for text in (source, setting.get("where", ""), through or "") for fault in faults_of_place(text, no_commit))
    if setting.get("kind") in OF_CODE and not no_commit and not LINE.search(setting.get("where", "")):
        yield f"{setting.get('where')!r} has no line of the code"
    if through is None:
        if restated and source.startswith(PAPER):
            yield "restated, and not said by whom"
        return
    name, found = route(through)
    if name is None:
        yield f"through {through!r}: neither a copy with a name nor a page, and no mark that it is none"
    elif name == "not opened" and not restated:
        yield f"{setting.get('kind')} of a source that was not opened"
    elif name.startswith("a copy") and restated and name != "a copy with a name":
        yield f"through {name}: of a source that was read this is no restatement"
    elif found.groups() and f"arXiv {found[1]}" != " ".join(source.replace(",", " ").split()[:2]):
        yield f"through a copy of {found[1]}, not of {source}"


PAPER_V1 = "arXiv 2507.18071v1, section 4"
SOURCES = (  # what faults_of_source should say of a source, a kind and a through: nothing, or something
    (PAPER_V1, "equation", None, False),
    (PAPER_V1, "equation", "copy headed arXiv:2507.18071v1: text", False),
    (PAPER_V1, "equation", "copy headed arXiv:2507.18071v2: text", True),
    (PAPER_V1, "equation", "copy headed arXiv:2507.18071v1", True),
    (PAPER_V1, "equation", "copy without a name: text", False),
    (PAPER_V1, "equation", "text in a public collection", True),
    (PAPER_V1, "equation", "a-name/a-copy@0123abc a/file.md: text", False),
    (PAPER_V1, "equation", "a-name/a-copy a/file.md: text", True),
    (PAPER_V1, "equation", "https://a.place/a/page: text", False),
    (PAPER_V1, "restatement", "https://a.place/a/page: a note", False),
    (PAPER_V1, "equation", "https://a.place/a/page", True),
    (PAPER_V1, "equation", "http://a.place/a/page: text", True),
    (PAPER_V1, "equation", "https://a.place/blob/next/a.py: text", True),
    (PAPER_V1, "equation", "not opened: a note", True),
    (PAPER_V1, "restatement", "not opened: a note", False),
    (PAPER_V1, "restatement", "copy without a name: text", True),
    (PAPER_V1, "restatement", None, True),
    ("a-name/a-port@0123abc", "restatement", None, False),
    ("TRL 1.16.0", "framework default", None, False),
    ("TRL", "framework default", None, True),
    ("a-name/a-repository", "official code", None, True),
    ("two notes", "paper text", None, True),
    (PAPER_V1, "official code", None, True),
    ("a-name/a-port@0123abc", "official code", None, False),
    ("a-name/a-port@refs/pull/7 (0123abcde)", "official code", None, False),
    ("a-name/a-port@refs/pull/7", "official code", None, True),
    ("a-name/a-port@main", "official code", None, True),
    ("a-name/a-port, commit not known, README.md", "official code", "copy without a name: text", False),
    ("a-name/a-port, commit not known, README.md", "official code", "https://a.place/a/page: text", False),
    ("a-name/a-port, commit not known, README.md", "official code", None, True),
    ("a-name/a-port@0123abc http://a.place/a.py", "official code", None, True),
    ("a-name/a-port@0123abc https://a.place/blob/0123abc/a.py", "official code", None, False),
    ("a-name/a-port@0123abc https://a.place/blob/next/a.py", "official code", None, True),
)
PLACES = (  # a place of code, and whether it lacks a line
    ("a/file.py:12-15", False), ("a/file.py:12: the option", False), ("lines 12-15", False), ("a/file.py, the option", True),
    ("the option", True),
)
TODAY = datetime.date(2026, 3, 1)
DATES = (  # a day on which something was read, as of TODAY, and whether it can be one
    ("2026-02-28", True), ("2026-03-02", True), ("2026-03-03", False), ("2027-01-01", False), ("2024-01-01", True), ("2023-12-31", False),
    ("2026-02-29", False), ("2026-2-28", False), ("", False), ("yesterday", False),
)


def check_sources():
    """What is said of the sources, routes, places and days above"""
    for source, kind, through, wrong in SOURCES:
        setting = {"kind": kind, "where": "a/file.py:12", **({} if through is None else {"through": through})}
        found = any(faults_of_source(source, setting))
        check(f"{kind} of {source!r} through {through!r} is{'' if wrong else ' not'} a fault", wrong == found)
    for where, wrong in PLACES:
        found = any(faults_of_source("a-name/a-port@0123abc", {"kind": "official code", "where": where}))
        check(f"{where!r} is{'' if wrong else ' not'} a fault", wrong == found)
    for day, can in DATES:
        check(f"{day!r} can{'' if can else 'not'} have been read on", can == was_read_on(day, TODAY))
    found = [fault.partition(":")[0] for fault in unused_words(*UNUSED)]
    check("words that no claim uses", found == ["colour", "size = large"], found)


def once(pairs):
    """An object of JSON; a key that stands twice is a mistake that json.load passes over."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"stands twice: {', '.join(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)}")
    return found


def read(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        return json.load(f, object_pairs_hook=once)


def names_of(pattern):
    return {os.path.basename(path)[:-len(pattern) + 1] for path in glob.glob(os.path.join(HERE, pattern))}


def groups_and_unpaired():
    """Files of claims that have their words, and what lacks its other half."""
    words = names_of("*.words.json")
    groups = {name for name in names_of("*.json") if not name.startswith("rows_") and not name.endswith(".words")}
    unpaired = [f"{name}.json has no {name}.words.json: its claims count nowhere" for name in sorted(groups - words)]
    return sorted(groups & words), unpaired + [f"{name}.words.json belongs to no {name}.json" for name in sorted(words - groups)]


def groups():
    return groups_and_unpaired()[0]


INFINITIES = {"infinity": "Infinity", "-infinity": "-Infinity"}  # as a paper and as an objective's JSON writes them


def translated(words, setting):
    """{axis.field: value} of one setting of a claim."""
    to = words[setting["of"]]
    return {to: INFINITIES.get(setting["value"], setting["value"])} if isinstance(to, str) else to[setting["value"]]


def claims():
    """(group, claim, {axis.field: (value, setting)})"""
    for group in groups():
        words = read(group + ".words.json")
        for claim in read(group + ".json")["claims"]:
            said = {}
            for setting in claim["settings"]:
                for field, value in translated(words, setting).items():
                    said[field] = value, setting
            yield group, claim, said


def plain():
    return {f"{axis}.{field}": x for axis, fields in objectives.plain().items() for field, x in fields.items()}


def settings_of(row):
    """{axis.field: value} of a row, defaults included."""
    return {f"{axis}.{field}": x for axis, fields in objectives.ROWS[row][3].items() for field, x in fields.items()}


def alike(x, y):
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (x, y))
    return abs(x - y) <= 1e-9 * max(abs(x), abs(y)) if numbers else x == y


def reads_no_ratio(has):
    """"No old policy" is what reinforce and no surrogate compute, whatever ratio.behaviour is."""
    needs_none = has["surrogate.kind"] in ("reinforce", "none")
    return needs_none and has["penalty.kl_importance_weight"] == "none" and has["weight.trust"] == "none"


def verdicts(row, said):
    """(agreed, contradicted, silent): fields; silent: set by the row, and no word of them in the claim"""
    has, default = settings_of(row), plain()
    agreed = [field for field, (value, _) in said.items() if alike(has[field], value)]
    contradicted = [field for field in said if field not in agreed and not (field == "ratio.behaviour" and reads_no_ratio(has))]
    return agreed, contradicted, [field for field in has if has[field] != default[field] and field not in said]


def best(row, of_row):
    """The claim that agrees best, with its verdicts."""
    return max(((claim, said, verdicts(row, said)) for claim, said in of_row),
               key=lambda found: (-len(found[2][1]) - len(found[2][2]), len(found[2][0])))


def by_row():
    found = {}
    for _, claim, said in claims():
        if claim["row"] in objectives.ROWS:
            found.setdefault(claim["row"], []).append((claim, said))
    return found


def entry_of(row):
    """What rows_*.json says of a row."""
    for name in sorted(names_of("*.json")):
        entries = read(name + ".json") if name.startswith("rows_") else {}
        if row in entries:
            return entries[row]
    return {}


def beside_the_claim(line):
    """A setting that rests on something else than the row's claim."""
    place = f"{line['source']}, {line['where']}" if "source" in line else ""
    return f"{line['kind']}: " + "; ".join(x for x in (place, line.get("why", "")) if x)


def tell(row, of_row):
    has, entry = settings_of(row), entry_of(row)
    rest = {line["field"]: line for line in [*entry.get("further", []), *entry.get("differs", [])]}
    for claim, said in of_row:
        agreed, contradicted, silent = verdicts(row, said)
        print(f"{row}: {claim['claim']} ({claim['source']}, confidence {claim.get('confidence', '?')})")
        for field in agreed + contradicted:
            value, setting = said[field]
            verdict = "agrees     " if field in agreed else f"row has {has[field]}, "
            why = f"; the row's is {beside_the_claim(rest[field])}" if field not in agreed and field in rest else ""
            print(f"  {verdict} {field} = {value}: {setting['kind']}, {setting['where']}{why}")
        for field in silent:
            print(f"  not said    {field} = {has[field]}" + (f": {beside_the_claim(rest[field])}" if field in rest else ""))
        for text in claim.get("open", []):
            print(f"  open        {text}")


def report():
    found, kinds, full, contradicted_rows, numbers = by_row(), Counter(), 0, 0, Counter()
    for row in objectives.ROWS:
        if row not in found:
            print(f"{row:28} no claim")
            continue
        claim, said, (agreed, contradicted, silent) = best(row, found[row])
        default, has = plain(), settings_of(row)
        kinds.update(said[field][1]["kind"] for field in agreed if has[field] != default[field])
        numbers.update(agreed=sum(has[f] != default[f] for f in agreed), contradicted=len(contradicted), silent=len(silent))
        full += not contradicted and not silent
        contradicted_rows += bool(contradicted)
        told = [f"not {field} = {said[field][0]} but {has[field]}" for field in contradicted] + [f"no word of {field}" for field in silent]
        print(f"{row:28} {len(agreed):3} agree  {'; '.join(told)}")
    rows = len(objectives.ROWS)
    print(f"\n{full} of {rows} rows: a claim says every setting and contradicts none; "
          f"{contradicted_rows} are contradicted by their best claim; {rows - len(found)} have none")
    print("settings that are not defaults: " + ", ".join(f"{numbers[x]} {x}" for x in ("agreed", "contradicted", "silent")))
    total = sum(kinds.values())
    print("what the agreed ones rest on: " + ", ".join(f"{kind} {kinds[kind]}" for kind in KINDS if kinds[kind])
          + f"; equation, paper text or official code {100 * sum(kinds[k] for k in STRONG) / max(total, 1):.0f} %")
    return 0


KEYS = {"row", "claim", "source", "settings", "open", "confidence", "new"}
KEYS_OF_SETTING = {"of", "value", "where", "kind", "read", "through"}


def is_date(text):
    try:
        return bool(re.fullmatch(r"\d{4}-\d\d-\d\d", text)) and datetime.date.fromisoformat(text).year >= 2000
    except ValueError:
        return False


def was_read_on(text, today=None):
    """A day since 2024, and not in the future: tomorrow is allowed, as it may have begun elsewhere."""
    latest = (today or datetime.date.today()) + datetime.timedelta(days=1)
    return is_date(text) and FIRST_READ <= datetime.date.fromisoformat(text) <= latest


def unused_words(words, settings):
    """Words, and values of words, that no setting uses."""
    used = {}
    for setting in settings:
        used.setdefault(setting.get("of"), set()).add(setting.get("value"))
    for word, to in words.items():
        if word not in used:
            yield f"{word}: no claim uses this word"
        elif isinstance(to, dict):
            yield from (f"{word} = {value}: no claim has this value" for value in to if value not in used[word])


UNUSED = ({"colour": "a.field", "size": {"small": {}, "large": {}}, "age": "a.field"},  # words, and settings that do not use all of them
          [{"of": "size", "value": "small"}, {"of": "age", "value": 3}])


def contradictions(words, claim):
    """Fields of which the claim says two things."""
    said = {}
    for setting in claim["settings"]:
        try:
            for field, value in translated(words, setting).items():
                if not alike(said.setdefault(field, value), value):
                    yield f"{field}: {said[field]}, and {value}"
        except (KeyError, TypeError):
            continue                               # which faults says


def faults(words, claim, choices):
    if not claim.get("claim") or not claim.get("source"):
        yield "says not what it claims, or of which source"
    unknown = set(claim) - KEYS | {key for setting in claim["settings"] for key in set(setting) - KEYS_OF_SETTING}
    yield from (f"no claim has {key}" for key in sorted(unknown))
    yield from contradictions(words, claim)
    for setting in claim["settings"]:
        what = f"{setting.get('of')} = {setting.get('value')}"
        if setting.get("kind") not in KINDS or not setting.get("where") or not was_read_on(setting.get("read", "")):
            yield f"{what}: without a kind, a place or a date"
        yield from (f"{what}: {fault}" for fault in faults_of_source(str(claim.get("source")), setting))
        try:
            fields = translated(words, setting)
        except (KeyError, TypeError):
            yield f"{what}: no word of it"
            continue
        for field, value in fields.items():
            allowed = choices.get(field)
            if allowed is None:
                yield f"{what}: {field} is no field"
            elif allowed and value not in allowed or not allowed and isinstance(value, str) and value not in ("Infinity", "-Infinity"):
                yield f"{what}: {field} cannot be {value}"


def check_claims():
    with open(os.path.join(HERE, os.pardir, "vectors", "schema.json"), encoding="ascii") as f:
        axes = json.load(f)["$defs"]["objective"]["properties"]
    choices = {f"{axis}.{field}": kind.get("enum", ()) for axis, x in axes.items() for field, kind in x["properties"].items()}
    groups, unpaired = groups_and_unpaired()
    check("files of claims have their words", not unpaired, unpaired)
    names = Counter((claim["row"], claim.get("claim")) for group in groups for claim in read(group + ".json")["claims"])
    for group in groups:
        words = read(group + ".words.json")
        unused = list(unused_words(words, [setting for claim in read(group + ".json")["claims"] for setting in claim["settings"]]))
        check(f"{group}.words.json has words that are used", not unused, unused)
        for claim in read(group + ".json")["claims"]:
            found = list(faults(words, claim, choices))
            if names[claim["row"], claim.get("claim")] > 1:
                found.append("stands twice")
            known = claim["row"] in objectives.ROWS or claim.get("new")
            if not known:
                found.append("is no row, and not said to be new")
            check(f"{group}: {claim['row']}, {claim.get('claim')}", not found, "\n    ".join(found))


def main():
    if sys.argv[1:] == ["--check"]:
        return checked(check_sources, check_claims)
    if sys.argv[1:]:
        found = by_row()
        unknown = [row for row in sys.argv[1:] if row not in objectives.ROWS]
        if unknown:
            sys.exit(f"no row {', '.join(unknown)}: OBJECTIVES.md has the names")
        for row in sys.argv[1:]:
            tell(row, found.get(row, []))
        return 0
    return report()


if __name__ == "__main__":
    sys.exit(main())
