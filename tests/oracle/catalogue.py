"""DEFECTS.md: what the vectors can tell about a wrong program, and what they cannot."""
import textwrap

import split
from defects import DEFECTS, LEFT_OUT, PROJECTS, SAME
from record import in_brief, in_full

KEPT = 3  # cases named per mistake; the others are counted
HEAD = """# Known mistakes

Mistakes that public implementations of these objectives made, under the names of a survey of 171 of them, and those that a cut into parts
(`PART-`), the way from logits or hidden states to the loss and back (`VOC-`, `HEAD-`), divergences that are given (`FLOW-`), a contrast of
the scores of a group (`CON-`) and bounds by probability or by sign (`TRUST-`) invite, seen in public or not. A name with a letter is
another form of the same entry. Each is committed on the cases, whose `defects` hold what comes out, or one number of it where that is
enough; so a program that fails is told whose numbers it has. Written by `../oracle/generate.py`; `../oracle/defects/` commits them.
"""

WHERE = """A project stands under "seen in" where a thread or its code says that it computed so, after "right in" where not. A number is
that of the issue or change request where this is told; a commit is mostly the one that put it right, where "since" does not say otherwise.
"In review": in the discussion of a change request. "None known": no project is known to have computed so. "Read in its code": without a
thread. The short names are of these repositories:
"""


def base(name):
    return name.rstrip("abcdefgh")


def cell(text):
    return text.replace("|", "\\|")


def listed(names):
    shown = ", ".join(f"`{name}`" for name in names[:KEPT])
    return shown + (f" and {len(names) - KEPT} more" if len(names) > KEPT else "")


def outputs(answers):
    """Whole outputs by name, the report's by their keys."""
    found = []
    for name in ("advantage", "dynamic_sampling_mask", "loss", "term", "dlogp", "ddivergence_ref", "logp", "entropy", "dlogits", "dhidden",
                 "dweight", *split.LISTS):
        if any(name in answer for answer in answers):
            found.append(name)
    keys = sorted({key for answer in answers for key in answer.get("report", ())})
    if keys:
        found.append("report: " + (", ".join(keys) if len(keys) <= 6 else f"{len(keys)} numbers"))
    return ", ".join(found)


def caught(cases, name):
    """The cases that record a mistake in full, those with the shortest answers first."""
    found = [(len(str(case["defects"][name])), case["id"]) for case in cases if name in in_full(case)]
    return [label for _, label in sorted(found)]


def partly(cases):
    """Pairs that agree on every case that records both, and not everywhere."""
    shared = {}
    for case in cases:
        recorded = in_full(case)
        for x in recorded:
            for y in recorded:
                if x < y:
                    shared.setdefault((x, y), []).append(recorded[x] == recorded[y])
    same = {frozenset(pair) for names, _ in SAME for pair in [(x, y) for x in names for y in names if x < y]}
    return [pair for pair, agree in sorted(shared.items()) if all(agree) and frozenset(pair) not in same]


def text(cases):
    told = sorted(DEFECTS.values(), key=lambda d: d.name)
    by_id = {case["id"]: case for case in cases}
    lines = [HEAD]
    entries = len({base(d.name) for d in told})
    stored = sum(len(in_full(case)) for case in cases)
    briefly = sum(len(in_brief(case)) for case in cases)
    telling = sum(1 for case in cases if case.get("defects"))
    lines.append(f"{entries} entries of {entries + len(LEFT_OUT)} are told, in {len(told)} forms; {len(LEFT_OUT)} cannot be. "
                 f"{stored} wrong answers are recorded in full and {briefly} by one number, in {telling} cases of {len(cases)}. "
                 f"The table names cases that record them in full.\n")
    lines.append("## Told\n")
    lines.append("| name | wrong | right | seen in | shows with | betrayed by | cases |")
    lines.append("|---|---|---|---|---|---|---|")
    for d in told:
        names = caught(cases, d.name)
        answers = [by_id[name]["defects"][d.name] for name in names]
        row = (d.name, d.wrong, d.right, d.seen, d.shows, outputs(answers), listed(names))
        lines.append("| " + " | ".join(cell(x) for x in row) + " |")
    lines.append("\n## The same under several names\n")
    lines.append("One formula, so a program that matches one matches all of them.\n")
    lines += [f"- {', '.join(names)}: {why}" for names, why in SAME]
    lines.append("\nThese agree on the cases that record both, and differ elsewhere: "
                 + ", ".join(f"{x} and {y}" for x, y in partly(cases)) + ".")
    lines.append("\n## Not told\n")
    lines.append("| name | why |")
    lines.append("|---|---|")
    lines += [f"| {name} | {cell(why)} |" for name, why in sorted(LEFT_OUT.items())]
    lines.append("\n## Where\n")
    lines.append(WHERE)
    lines.append(textwrap.fill("; ".join(f"{name}: {place}" for name, place in PROJECTS.items()) + ".", 140, break_on_hyphens=False))
    return "\n".join(lines) + "\n"
