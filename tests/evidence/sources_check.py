#!/usr/bin/env python3
"""Does every setting of every row rest on something?  rows_*.json says of each row what it is and which claim it is held against; what the
claim does not say stands there as a line of its own, and where row and claim differ, why.

    sources_check.py            counts and marks; ends with "N passed, N failed"
    sources_check.py --table    each row, what it is and what a mark there is about, with tabs between, for OBJECTIVES.md
    sources_check.py --default  what "default" means there, and the options that are not their release's own
    sources_check.py --unnamed  the settings of each row that were read in a copy without a name, or restated from what was not opened

A row passes if each setting that is not the field's default is said by its claim or by one line, no line says what the row does not set,
and every contradiction is explained, of its claim or of another about the same source.  Of a framework's row, against what its ratio is and
of what unit must be said even where it is the default, or named as undecided, which is a mark.
"""
import functools
import glob
import os
import re
import sys
from collections import Counter

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import compare  # noqa: E402  which finds counting
from compare import HERE, KINDS, STRONG, alike, objectives  # noqa: E402
from counting import check, checked  # noqa: E402

IS = ("paper", "official code", "recipe of the authors", "framework default", "framework recipe", "restatement")
WEAK = ("restatement", "chosen here")                # a row that rests on one of these carries a mark
ALWAYS_SAID = ("ratio.behaviour", "ratio.level")     # of a framework's row that has a ratio
KEYS = {"is", "framework", "release", "date", "option", "claim", "claims of", "further", "differs", "undecided", "beside"}
KEYS_OF_LINE = {"field", "value", "kind", "source", "where", "read", "through", "why"}
RELEASE = re.compile(r"\b(?:[0-9a-f]{7})(?=[0-9a-f]*\b)|\d+(?:\.\d+)+(?:\.dev\d+)?")  # a commit by its first seven figures, or a version
NOT_SET = re.compile(r"not (the )?default|(null|off) by default|\(default (of|true|false)")  # how a claim says that its release does not


@functools.lru_cache(maxsize=None)
def entries():
    """{row: entry}, and the rows that stand twice"""
    found, twice = {}, []
    for path in sorted(glob.glob(os.path.join(HERE, "rows_*.json"))):
        for row, entry in compare.read(os.path.basename(path)).items():
            if row in found:
                twice.append(row)
            found[row] = entry
    return found, twice


@functools.lru_cache(maxsize=None)
def claims_by_row():
    found = {}
    for _, claim, said in compare.claims():
        found.setdefault(claim["row"], []).append((claim, said))
    return found


def claim_of(row, entry):                            # "claims of": a claim that was written down under another row's name
    for claim, said in claims_by_row().get(entry.get("claims of", row), []):
        if claim["claim"] == entry.get("claim"):
            return claim, said
    return None, {}


def source_of(claim):
    """A repository at a commit, or a paper whatever its version: two claims about the same one are held against each other."""
    words = claim["source"].replace(",", " ").split()
    return re.sub(r"v\d+$", "", " ".join(words[:2])) if words[0] == "arXiv" else words[0]


def contradicted_by_siblings(row, entry, claim, said):
    """{the other claim's name: [fields]}: of the same source, and the row's own claim has no word of them"""
    found = {}
    for other, others_said in claims_by_row().get(entry.get("claims of", row), []):
        if other is not claim and source_of(other) == source_of(claim):
            fields = [field for field in compare.verdicts(row, others_said)[1] if field not in said]
            if fields:
                found[other["claim"]] = fields
    return found


def faults_of_siblings(siblings, entry, lines):
    beside = {line.get("claim"): line for line in entry.get("beside", [])}
    for name, line in beside.items():
        if name not in siblings:
            yield f"beside: no claim of the same source contradicts the row and is called {name}"
        if not line.get("why"):
            yield f"beside {name}: no reason"
    for name, fields in siblings.items():
        for field in fields if name not in beside else ():
            if field not in lines:
                yield f"{field}: another claim of the same source contradicts it: {name}"


def faults_of_line(line, has):
    field = line.get("field")
    yield from (f"{field}: no line has {key}" for key in sorted(set(line) - KEYS_OF_LINE))
    if field not in has:
        yield f"{field} is no field"
        return
    if line.get("kind") not in KINDS or not compare.was_read_on(line.get("read", "")):
        yield f"{field}: without a kind or a date"
    if line.get("kind") == "chosen here":
        if not line.get("why"):
            yield f"{field}: chosen here without a reason"
    elif not line.get("source") or not line.get("where"):
        yield f"{field}: without a source or a place"
    else:
        yield from (f"{field}: {fault}" for fault in compare.faults_of_source(line["source"], line))
    if "value" in line and not alike(has[field], line["value"]):
        yield f"{field}: the line says {line['value']}, the row {has[field]}"


def silent_on(entry, has, said, silent):
    """Fields that need a line: what the row sets and the claim does not say, and of a framework's row that has a ratio, its kind."""
    asked = ALWAYS_SAID if str(entry.get("is")).startswith("framework") and not compare.reads_no_ratio(has) else ()
    return [*silent, *(field for field in asked if field not in said and field not in silent)]


def faults_of_undecided(entry, silent):
    for field, why in entry.get("undecided", {}).items():
        if field not in ALWAYS_SAID or field not in silent:
            yield f"{field}: undecided, and nothing asks for it"
        elif not why:
            yield f"{field}: undecided without a reason"


def faults_of_release_date(entry, claim):
    """The day of a release, or why it is not known, is not after the days on which its code was read."""
    date = entry.get("date", "unknown (no release)")
    if not compare.is_date(date) and not re.match(r"unknown \(.+\)$", date):
        yield f"date {date}: neither a day nor unknown, with the reason"
    reads = [setting.get("read", "") for setting in claim["settings"]] if claim else []
    if compare.is_date(date) and reads and min(reads) < date:
        yield f"date {date}: its code was read on {min(reads)}"


def faults_of_kind(entry, claim):
    """What the row is, against where its claim was read: a paper, or somebody's code at the release that the entry names."""
    if entry.get("is") not in IS:
        yield f"is: {entry.get('is')}"
    yield from (f"no entry has {key}" for key in sorted(set(entry) - KEYS))
    if claim and entry.get("is") != "restatement" and (entry.get("is") == "paper") != claim["source"].startswith(compare.PAPER):
        yield f"is {entry.get('is')}, and the source of its claim is {claim['source']}"
    read = " ".join([claim["source"], *(setting.get("where", "") for setting in claim["settings"])]) if claim else ""
    if claim and not any(name in read for name in RELEASE.findall(entry.get("release", ""))) and "release" in entry:
        yield f"release {entry['release']}, which its claim does not name"
    if str(entry.get("is")).startswith("framework") and not all(entry.get(key) for key in ("framework", "release", "date")):
        yield "a framework's row without framework, release and date"
    yield from faults_of_release_date(entry, claim)
    if entry.get("is") == "framework default" and NOT_SET.search(str(entry.get("claim"))) and not entry.get("option"):
        yield "the claim names what is not the release's default, and the entry has no option"
    if "option" in entry and entry.get("is") != "framework default":
        yield "an option belongs to a framework's default"


def evidence(row, entry):
    """{field: kind} of what is not a default, and the faults of the entry"""
    has, default = compare.settings_of(row), compare.plain()
    claim, said = claim_of(row, entry)
    faults = [] if claim else [f"no such claim: {entry.get('claim')}"]
    faults += faults_of_kind(entry, claim)
    agreed, contradicted, silent = compare.verdicts(row, said)
    silent = silent_on(entry, has, said, silent)
    faults += faults_of_undecided(entry, silent)
    kinds = {field: said[field][1]["kind"] for field in agreed if has[field] != default[field]}
    lines = {}
    for line in entry.get("further", []):
        faults += faults_of_line(line, has)
        if "value" not in line:
            faults.append(f"{line.get('field')}: a line without a value")
        if line.get("field") in lines:
            faults.append(f"{line['field']}: two lines")
        lines[line.get("field")] = line
    siblings = contradicted_by_siblings(row, entry, claim, said) if claim else {}
    for line in entry.get("differs", []):
        faults += faults_of_line(line, has)
        if line.get("field") not in [*contradicted, *(field for fields in siblings.values() for field in fields)]:
            faults.append(f"{line.get('field')}: said to differ, and does not")
        if not line.get("why"):
            faults.append(f"{line.get('field')}: differs without a reason")
    explained = {line.get("field"): line for line in entry.get("differs", [])}
    faults += [f"{field}: the claim says {said[field][0]}, the row {has[field]}" for field in contradicted if field not in explained]
    open_fields = entry.get("undecided", {})
    faults += [f"{field} = {has[field]}: no evidence" for field in silent if field not in lines and field not in open_fields]
    faults += [f"{field}: the claim says it already, or the row does not set it" for field in lines if field not in silent]
    faults += faults_of_siblings(siblings, entry, {**explained, **lines})
    kinds.update({field: line.get("kind") for field, line in {**explained, **lines}.items()
                  if field in has and has[field] != default[field]})
    return kinds, faults


def routes(row, entry):
    """{field: how its source was read} of what is not a default and not chosen here: one of compare.ROUTES, or "the source itself" """
    has, default = compare.settings_of(row), compare.plain()
    lines = {line.get("field"): line for line in [*entry.get("further", []), *entry.get("differs", [])]}
    settings = {**{field: setting for field, (_, setting) in claim_of(row, entry)[1].items()}, **lines}
    return {field: compare.route(setting["through"])[0] if "through" in setting else "the source itself"
            for field, setting in settings.items()
            if field in has and has[field] != default[field] and setting.get("kind") != "chosen here"}


def weak(kinds, kind):
    return sorted(field for field in kinds if kinds[field] == kind)


def label(entry, kinds):
    """What the row is, in a few words; with a mark where it rests on something weak."""
    what = entry.get("is", "?")
    if what.startswith("framework"):
        release = re.sub(r"\b([0-9a-f]{9})[0-9a-f]{31}\b", r"\1", entry["release"])
        what = " ".join([entry["framework"], release, what.split()[1]])
        what += f", {entry['date']}"
    return what + (" †" if is_marked(entry, kinds) else "")


def is_marked(entry, kinds):
    return entry.get("is") in WEAK or any(kind in WEAK for kind in kinds.values()) or bool(entry.get("undecided"))


def told(row):
    """The same with the settings that the mark is about: what the vectors and their runner say of a row."""
    entry = entries()[0].get(row)
    if not entry:
        return ""
    kinds, _ = evidence(row, entry)
    return "; ".join([label(entry, kinds).removesuffix(" †"), *marked_settings(entry, kinds)])


def marked_settings(entry, kinds):
    """The settings that the mark is about, by why."""
    of = [f"{kind}: {', '.join(weak(kinds, kind))}" for kind in WEAK if weak(kinds, kind)]
    return of + ([f"undecided: {', '.join(sorted(entry['undecided']))}"] if entry.get("undecided") else [])


def wrong_in_readme(counts):
    """README's numbers of these, each read once, shares rounded up or down; what it says of them otherwise"""
    with open(os.path.join(HERE, os.pardir, os.pardir, "README.md"), encoding="utf-8") as f:
        text = f.read()
    total = max(sum(counts.values()), 1)
    frameworks = sum(counts[kind] for kind in KINDS if kind.startswith("framework"))
    for is_said, number in ((r"of (\d+) published ones", len(objectives.ROWS)),
                            (r"(\d+) % on an equation, a paper's text", 100 * sum(counts[kind] for kind in STRONG) / total),
                            (r"(\d+) % on a\s+framework's code", 100 * frameworks / total)):
        said = re.findall(is_said, text)
        if len(said) != 1 or abs(int(said[0]) - number) >= 1:
            yield f"README.md: {is_said}: {', '.join(said) or 'nothing'}, and counted {number:.3g}"


def table(found):
    for row in objectives.ROWS:
        entry = found.get(row, {})
        kinds = evidence(row, entry)[0] if entry else {}
        print(f"{row}\t{label(entry, kinds) if entry else '?'}\t{'; '.join(marked_settings(entry, kinds))}")
    return 0


ABOUT_DEFAULTS = """\
A framework's default: every setting is the release's, but for the one that gives the row its name (an estimator, a kind of loss or an
option), which was chosen; verl's and ROLL's own estimator, for example, is gae. The numbers of what was chosen are the release's, where
it has them. Options that were chosen and that the release leaves off, or sets otherwise:

| name | chosen |
|---|---|"""


def default(found):
    print(ABOUT_DEFAULTS)
    for row in objectives.ROWS:
        if "option" in found.get(row, {}):
            print(f"| {row} | {found[row]['option']} |")
    return 0


def unnamed(found):
    for row in objectives.ROWS:
        read = routes(row, found[row]) if row in found else {}
        for name in ("a copy without a name", "not opened"):
            if name in read.values():
                print(f"{row:28} {name}: {', '.join(sorted(field for field in read if read[field] == name))}")
    return 0


def check_rows():
    found, twice = entries()
    check("every row has one entry", not twice, twice)
    counts, read, marked = Counter(), Counter(), 0
    for row in [*objectives.ROWS, *(row for row in found if row not in objectives.ROWS)]:
        if row not in objectives.ROWS or row not in found:
            faults = ["no entry" if row in objectives.ROWS else "is no row"]
        else:
            kinds, faults = evidence(row, found[row])
            counts.update(kinds.values())
            read.update(routes(row, found[row]).values())
            marked += is_marked(found[row], kinds)
        check(row, not faults, "\n    ".join(faults))
    print("read: " + ", ".join(f"{name} {read[name]}" for name in ("the source itself", *compare.ROUTES) if read[name]))
    total = max(sum(counts.values()), 1)
    print("settings that are not defaults rest on: " + ", ".join(f"{kind} {counts[kind]}" for kind in KINDS if counts[kind]))
    print(f"on an equation, paper text or official code: {100 * sum(counts[kind] for kind in STRONG) / total:.0f} %")
    print(f"{marked} of {len(objectives.ROWS)} rows carry a mark: a setting, or the formula, is {' or '.join(WEAK)}, or undecided")
    undecided = [f"{row} ({', '.join(found[row]['undecided'])})" for row in objectives.ROWS if "undecided" in found.get(row, {})]
    print(f"undecided: {', '.join(undecided) or 'none'}")
    wrong = list(wrong_in_readme(counts))
    check("README.md has these numbers", not wrong, "\n    ".join(wrong))


def main():
    tables = {"--unnamed": unnamed, "--default": default, "--table": table}
    if len(sys.argv) == 2 and sys.argv[1] in tables:
        return tables[sys.argv[1]](entries()[0])
    if sys.argv[1:]:
        sys.exit(__doc__)
    return checked(check_rows)


if __name__ == "__main__":
    sys.exit(main())
