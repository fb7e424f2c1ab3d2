"""What each known mistake gives on a case: the outputs that differ by clearly more than any tolerance."""
import math

import limits
from attempt import Attempt
from defects import DEFECTS
from limits import Undefined

MARGIN = 1e-5  # of the scale: far above what rounding to binary32 may cost
DIGITS = 9


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
    """The outputs of `answers` that differ from the case's."""
    found = {}
    for name, answer in answers.items():
        if name == "report":
            keys = {k: rounded(x) for k, x in answer.items()
                    if differs(case["expect"]["report"][k], x, case["scale"]["report"][k])}
            if keys:
                found["report"] = keys
        elif name == "informative":
            if answer != case["expect"][name]:
                found[name] = answer
        elif differs(case["expect"][name], answer, case["scale"][name]):
            found[name] = rounded(answer)
    return found


def wrong_answers(case, defect):
    """{output: answer} of exactly this mistake on the case; None if the case does not say (a rounding, an open
    definition)."""
    limits.near_misses.clear()
    try:
        attempt = Attempt(case, advantage(case))
        defect.commit(attempt)
        answers = attempt.run(defect.stages)
    except Undefined:
        return None
    if limits.near_misses:
        return None
    return {name: x for name, x in answers.items() if name in (attempt.outputs or answers)}


def advantage(case):
    """The exact advantages, rounded: what the loss is made from."""
    return None if case.get("kind") == "logits" else case["expect"].get("advantage")


def record(case, defect):
    answers = wrong_answers(case, defect)
    return told(case, answers) if answers else {}


def scenes(defect, label, name):
    """Where the case stands among those that show the defect, or None."""
    for place, scene in enumerate(defect.scenes):
        if scene in (label, name):
            return place
    return None


def add_defects(cases, variant, per_defect):
    """Give the cases of a file their `defects`: of each mistake the first `per_defect` cases that tell it."""
    for _, defect in sorted(DEFECTS.items()):
        shown = []
        for case in cases:
            place = scenes(defect, case["id"][len(variant) + 1:], case["id"])
            if place is not None and defect.applies(case):
                shown.append((place, case["id"], case))
        left = per_defect
        for _, _, case in sorted(shown, key=lambda x: x[:2]):
            found = record(case, defect)
            if found:
                case.setdefault("defects", {})[defect.name] = found
                left -= 1
                if left == 0:
                    break
