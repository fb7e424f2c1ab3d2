"""The values at masked tokens do not change the answers."""
import objectives
import scenarios
from cases import CASES
from evaluate import evaluate


def check_masked(check):
    """The values at masked tokens do not change the answers."""
    for file, label, _, base, changes, make in CASES:
        o = objectives.changed(base, **changes)
        batch = scenarios.finish(o, make(o))
        if "mask" not in batch or file[len("choices-"):] not in ("reward", "advantage", "steps", "shaping"):
            continue
        other = {key: rows for key, rows in batch.items()}
        for key in set(scenarios.PER_TOKEN) & set(batch) - {"mask"}:
            other[key] = [[x if m else 7 for x, m in zip(row, mask)] for row, mask in zip(batch[key], batch["mask"])]
        check(f"masked slots of {file}-{label}", evaluate(o, other) == evaluate(o, batch))


LATER = ("units", "factors")


def check_masked_units(check):
    """The values at masked tokens do not change the answers, except `segment_end`."""
    for file, label, _, base, changes, make in CASES:
        o = objectives.changed(base, **changes)
        batch = scenarios.finish(o, make(o))
        if "mask" not in batch or file[len("choices-"):] not in LATER:
            continue
        other = dict(batch)
        for key in set(scenarios.PER_TOKEN) & set(batch) - {"mask", "step_end"}:
            other[key] = [[x if m else 7 for x, m in zip(row, mask)] for row, mask in zip(batch[key], batch["mask"])]
        check(f"masked slots of {file}-{label}", evaluate(o, other) == evaluate(o, batch))


GROUPS = (check_masked, check_masked_units)
