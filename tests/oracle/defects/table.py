"""The table of mistakes, and the predicates that say when a mistake can change an answer. Predicates of the objective alone come from
scenarios.py."""
from scenarios import corrected, kl_in_loss, kl_in_reward, unit, uses_ratio

DEFECTS = {}
FROM_LOGITS = ("logits", "hidden")


class Defect:
    def __init__(self, name, commit, when, scenes, seen, shows, stages, kind, cut):
        self.name, self.commit, self.when, self.scenes, self.cut = name, commit, when, scenes, cut
        self.seen, self.shows, self.stages, self.kind = seen, shows, stages, kind
        wrong, _, right = " ".join(commit.__doc__.split()).partition(" Right: ")
        self.wrong, self.right = wrong.rstrip("."), right.rstrip(".")

    def applies(self, case):
        kind = case.get("kind", "objective")
        if kind not in self.kind:
            return False
        if kind in FROM_LOGITS:
            return self.when(case)
        return self.cut(case) and self.when(case["objective"], case["batch"])


def defect(name, when, *scenes, seen, shows, stages=("advantage", "loss"), kind="objective", cut=lambda case: True):
    """Register commit(attempt), documented as "wrong. Right: right.".

    Can the mistake change an answer? when(objective, batch); for the kinds logits and hidden when(case); for a split also cut(case).
    scenes: cases that expose it, by scenario or by id, best first.
    """
    def register(commit):
        if name in DEFECTS:
            raise KeyError(name)
        DEFECTS[name] = Defect(name, commit, when, scenes, seen, shows, stages, (kind,) if isinstance(kind, str) else kind, cut)
        return commit
    return register


# ---- predicates (objective, batch)

def always(o, b):
    return True


def of(*tests):
    """All of some predicates that look at the objective only."""
    return lambda o, b: all(test(o) for test in tests)


def both(*tests):
    return lambda o, b: all(test(o, b) for test in tests)


def option(axis, field, *choices):
    return lambda o, b: o[axis][field] in choices


def differs(axis, field, *choices):
    return lambda o, b: o[axis][field] not in choices


def has(*arrays):
    return lambda o, b: all(key in b for key in arrays)


def rewards_judged(o, b):
    return "advantage" not in b


# ---- what several mistakes need

def width(raw):
    """The length to which all responses are padded: that of the longest."""
    return max(raw["length"])


def slots(raw):
    return len(raw["length"]) * width(raw)


def masked_any(o, b):
    return any(not m for row in b.get("mask", []) for m in row)


def farther_than(most):
    """Is the sum of the absolute log-ratios, a bound of every exponent, above `most`, or is one of them not finite?"""
    def test(o, b):
        others = [b[key] for key in ("logp_old", "logp_ref", "logp_rollout") if key in b]
        try:
            own = sum(abs(x) for row in b["logp"] for x in row)
            away = sum(abs(x - y) for rows in others for pair in zip(b["logp"], rows) for x, y in zip(*pair))
        except TypeError:  # "-Infinity", "NaN"
            return True
        return max(away, own if o["ratio"]["behaviour"] == "none" else 0) > most
    return test


def unequal(o, b):
    return len(set(b["length"])) > 1


def padded(o, b):
    return unequal(o, b) or masked_any(o, b)


def square(o, b):
    return width(b) == len(b["length"]) > 1


def group_sizes(b):
    return [b["group"].count(g) for g in range(b["group"][-1] + 1)]


def equal_groups(o, b):
    sizes = group_sizes(b)
    return len(sizes) > 1 and len(set(sizes)) == 1 and sizes[0] > 1


def several_groups(o, b):
    return len(group_sizes(b)) > 1


def alone(o, b):
    return 1 in group_sizes(b)
