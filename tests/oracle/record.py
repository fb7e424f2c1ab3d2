"""The wrong answers that each known mistake gives in a case: the outputs that differ by clearly more than any tolerance."""
import math

import limits
import split
from attempt import Attempt
from axes.allowed import Misfit
from defects import DEFECTS
from limits import Undefined

MARGIN = 1e-5  # relative to the scale: far above the rounding errors of binary32
DIGITS = 7


def same(x, y, scale, size):
    """Within the margin; where the scale is 0, not visibly away from 0 beside the largest scale."""
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    if math.isinf(x) or math.isinf(y) or math.isinf(scale):
        return x == y or math.isinf(scale) and not (math.isinf(x) or math.isinf(y))
    return abs(x - y) <= max(MARGIN * scale, 1e-9 * size)


def number(x):
    return float(x) if isinstance(x, str) else x


def flat(x):
    return [number(x)] if not isinstance(x, list) else [y for part in x for y in flat(part)]


def differs(right, wrong, scale):
    scales = flat(scale)
    size = max((s for s in scales if not math.isinf(s)), default=0)
    return not all(same(x, y, s, size) for x, y, s in zip(flat(right), flat(wrong), scales))


def rounded(x):
    if isinstance(x, list):
        return [rounded(y) for y in x]
    if isinstance(x, bool) or math.isnan(x) or math.isinf(x):
        return x
    return float(f"{x:.{DIGITS}g}")


def told(case, answers):
    """The outputs of `answers` that differ from the case's, also as they are recorded: in DIGITS digits."""
    found = {}
    for name, answer in answers.items():
        if name == "report":
            keys = {k: x for k, x in ((k, rounded(x)) for k, x in answer.items())
                    if differs(case["expect"]["report"][k], x, case["scale"]["report"][k])}
            if keys:
                found["report"] = keys
        elif name == "dynamic_sampling_mask":
            if answer != case["expect"][name]:
                found[name] = answer
        elif differs(case["expect"][name], rounded(answer), case["scale"][name]):
            found[name] = rounded(answer)
    return found


def wrong_answers(case, defect, in_full):
    """{output: answer} with exactly this mistake; if not in full, only up to the output that one_number takes. None if the case leaves the
    wrong answer open (it depends on rounding, or is undefined)."""
    limits.near_misses.clear()
    try:
        attempt = Attempt(case, advantage(case))
        defect.commit(attempt)
        if attempt.is_right() and not attempt.last:
            return None  # the mistake changes nothing in this case
        stops_at = () if in_full else [name for name in TAKEN_FIRST if name in (attempt.outputs or TAKEN_FIRST)]
        answers = attempt.run(defect.stages, lambda name, answer: name in stops_at
                              and differs(case["expect"][name], rounded(answer), case["scale"][name]))
    except Undefined:
        return None
    if limits.near_misses:
        return None
    return {name: x for name, x in answers.items() if name in (attempt.outputs or answers)}


def advantage(case):
    """The exact advantages, rounded: the input of the loss."""
    return case["expect"].get("advantage")


def record(case, defect, in_full):
    answers = wrong_answers(case, defect, in_full)
    return told(case, answers) if answers else {}


def places(x, at=()):
    """(path, number) of every number in nested lists."""
    if isinstance(x, list):
        for k, part in enumerate(x):
            yield from places(part, at + (k,))
    else:
        yield at, number(x)


def plainest(right, wrong, scale):
    """[path..., wrong number] of the number with the largest error among those that differ."""
    size = max((s for s in flat(scale) if not math.isinf(s)), default=0)
    best, most = None, -1.0
    for (at, x), (_, y), s in zip(places(right), places(wrong), flat(scale)):
        if same(x, y, s, size):
            continue
        far = abs(y - x) if math.isfinite(y - x) else math.inf
        if far > most:
            best, most = [*at, y], far
    return best


TAKEN_FIRST = ("loss", "dlogp")  # by one_number, in this order, which is also the order of the outputs


def one_number(case, found):
    """One wrong number of the mistake: the loss if that is wrong, else [output, place..., number]. (An answer in full is an object.)"""
    expect, scale = case["expect"], case["scale"]
    if "loss" in found:
        return found["loss"]
    for name in ("dlogp", "dentropy", "ddivergence_ref", "term", "advantage", "logp", "entropy", "dlogits", "dhidden", "dweight",
                 "dlog_partition", *split.LISTS):
        if name in found:
            return [name, *plainest(expect[name], found[name], scale[name])]
    if "report" in found:
        key = min(found["report"])
        return ["report", key, found["report"][key]]
    group = next(g for g, (x, y) in enumerate(zip(expect["dynamic_sampling_mask"], found["dynamic_sampling_mask"])) if x != y)
    return ["dynamic_sampling_mask", group, found["dynamic_sampling_mask"][group]]


def is_brief(answers):
    """Is the recorded answer one number, not everything that differs?"""
    return not isinstance(answers, dict)


def in_full(case):
    return {name: x for name, x in case.get("defects", {}).items() if not is_brief(x)}


def in_brief(case):
    return {name: x for name, x in case.get("defects", {}).items() if is_brief(x)}


def scene(case, name, variant):
    """The rank of the case among the cases that the mistake names, or None."""
    scenes = DEFECTS[name].scenes
    return next((place for place, x in enumerate(scenes) if x in (case["id"][len(variant) + 1:], case["id"])), None)


def candidates(case):
    """The names of the mistakes that can change an answer of the case."""
    return [name for name, defect in sorted(DEFECTS.items()) if defect.applies(case)]


def answers_of(case, names, variant, in_full):
    """{mistake: its wrong answers} of those that change the case: in full where the file may record that, else one number."""
    told_by = {}
    for name in names:
        whole = in_full and scene(case, name, variant) is not None
        found = record_if_it_runs(case, DEFECTS[name], whole)
        if found:
            told_by[name] = found if whole else one_number(case, found)
    return told_by


def add_defects(cases, told_by, variant, per_defect):
    """Gives the cases of a file their `defects`: every mistake that changes an answer, in full in the first `per_defect` cases of its list.
    told_by: the result of answers_of for every case."""
    full = set()
    for name in DEFECTS:
        shown = [(scene(case, name, variant), case["id"], name) for case, told_of in zip(cases, told_by)
                 if name in told_of and scene(case, name, variant) is not None]
        full.update((label, name) for _, label, name in sorted(shown)[:per_defect])
    for case, told_of in zip(cases, told_by):
        known = {name: one_number(case, x) if (case["id"], name) not in full and not is_brief(x) else x
                 for name, x in sorted(told_of.items())}
        if known:
            case["defects"] = known


def spread(cases, most):
    """Keeps each mistake that is recorded in brief in at most `most` cases, spread evenly over the file."""
    listed = {}
    for case in cases:
        for name in in_brief(case):
            listed.setdefault(name, []).append(case)
    for name, telling in listed.items():
        for k, case in enumerate(telling):
            if (k + 1) * most // len(telling) == k * most // len(telling):
                del case["defects"][name]
                if not case["defects"]:
                    del case["defects"]


def record_if_it_runs(case, defect, in_full):
    try:
        return record(case, defect, in_full)
    except (IndexError, ZeroDivisionError, Misfit):
        return {}  # a program with this mistake fails on such a batch
