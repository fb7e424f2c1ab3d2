"""DEFECTS.md: the mistakes that the vectors can detect, and those that they cannot."""
import textwrap

import split
from defects import DEFECTS, LEFT_OUT, PROJECTS, SAME
from record import in_brief, in_full

KEPT = 3  # cases named per mistake; the others are counted
HEAD = """# Known mistakes

Mistakes that public implementations of these objectives have made, with the names of a survey of 171 of them; and likely mistakes, seen in
public or not, in cutting a batch into parts (`PART-`), between logits or hidden states and the loss (`VOC-`, `HEAD-`), with given
divergences (`FLOW-`), in contrasting the scores of a group (`CON-`) and in trust regions by probability or by sign (`TRUST-`). A name with
a letter is another form of the same entry. The oracle computes every case with each mistake, and the cases record the wrong answers, in
full or by one number, under `defects`; so the wrong numbers of a failing program can be compared with them. Written by
`../oracle/generate.py`; the mistakes are in `../oracle/defects/`.
"""

WHERE = """"Seen in" names a project if a thread or its code shows that it made the mistake; after "right in" it names projects that do it
right. A number is that of the issue or change request that shows the mistake. A commit is the one that fixed it, unless the text says
otherwise ("since": the one that introduced it). "In review": found in the discussion of a change request. "None known": no project is known
to have made it; "invited by" says what makes it likely. "Read in its code": the code shows it, without a thread. The short names stand for
these repositories:
"""


def base(name):
    return name.rstrip("abcdefghi")


def cell(text):
    return text.replace("|", "\\|")


def listed(names):
    shown = ", ".join(f"`{name}`" for name in names[:KEPT])
    return shown + (f" and {len(names) - KEPT} more" if len(names) > KEPT else "")


def outputs(answers):
    """The names of the outputs that differ; of the report, its keys."""
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
    """The cases that record a mistake in full, the shortest answers first."""
    found = [(len(str(case["defects"][name])), case["id"]) for case in cases if name in in_full(case)]
    return [label for _, label in sorted(found)]


def partly(cases):
    """Pairs of mistakes with the same answers in every case that records both, other than those in SAME."""
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
    found = sorted(DEFECTS.values(), key=lambda d: d.name)
    by_id = {case["id"]: case for case in cases}
    lines = [HEAD]
    entries = len({base(d.name) for d in found})
    stored = sum(len(in_full(case)) for case in cases)
    briefly = sum(len(in_brief(case)) for case in cases)
    recording = sum(1 for case in cases if case.get("defects"))
    lines.append(f"{entries} entries of {entries + len(LEFT_OUT)} can be detected, in {len(found)} forms; {len(LEFT_OUT)} cannot. "
                 f"{stored} wrong answers are recorded in full and {briefly} by one number, in {recording} cases of {len(cases)}. "
                 f"The last column names cases that record the mistake in full.\n")
    lines.append("## Detected\n")
    lines.append("| name | wrong | right | seen in | exposed by | wrong outputs | cases |")
    lines.append("|---|---|---|---|---|---|---|")
    for d in found:
        names = caught(cases, d.name)
        answers = [by_id[name]["defects"][d.name] for name in names]
        row = (d.name, d.wrong, d.right, d.seen, d.shows, outputs(answers), listed(names))
        lines.append("| " + " | ".join(cell(x) for x in row) + " |")
    lines.append("\n## The same under several names\n")
    lines.append("These have the same formula: a program that matches one of a line matches all of them.\n")
    lines += [f"- {', '.join(names)}: {why}" for names, why in SAME]
    lines.append("\nThese agree in the cases that record both, and differ in others: "
                 + ", ".join(f"{x} and {y}" for x, y in partly(cases)) + ".")
    lines.append("\n## Not detectable\n")
    lines.append("| name | why |")
    lines.append("|---|---|")
    lines += [f"| {name} | {cell(why)} |" for name, why in sorted(LEFT_OUT.items())]
    lines.append("\n## Sources\n")
    lines.append(WHERE)
    lines.append(textwrap.fill("; ".join(f"{name}: {place}" for name, place in PROJECTS.items()) + ".", 140, break_on_hyphens=False))
    return "\n".join(lines) + "\n"
