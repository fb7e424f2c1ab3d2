"""The preset rows: one published objective each, with every choice spelled out.

A row is written as its differences from `plain` (everything off: the sum of -r l). Where a paper writes a standard deviation without
further detail, the row has the sample deviation without an epsilon.
"""
import copy
import os

from axes.fields import ALWAYS, plain

INF = "Infinity"
MINUS_INF = "-Infinity"


def is_written(objective, axis, field):
    """Is the field written even if it has its default? So is the one number whose default is not 0, where it is read, for readers that fill
    in zeros."""
    return (axis, field) in ALWAYS or field == "power" and objective[axis].get("level") == "sequence_power_mean"


def thinned(objective):
    """The objective as in the files: without the fields that have their defaults."""
    axes = {axis: {field: x for field, x in objective[axis].items() if x != default[field] or is_written(objective, axis, field)}
            for axis, default in plain().items()}
    return {axis: fields for axis, fields in axes.items() if fields}


def filled(thin):
    """The objective with all fields: the inverse of thinned."""
    return changed(plain(), **thin)


def changed(objective, **axes):
    """A copy with some fields of some axes replaced; a field that does not exist is an error."""
    result = copy.deepcopy(objective)
    for axis, fields in axes.items():
        for field, choice in fields.items():
            if field not in result[axis]:
                raise KeyError((axis, field))
            result[axis][field] = choice
    return result


# ---- the rows

def setting(text):
    path, value = text.split("=")
    if value[0].isalpha() or value == MINUS_INF:
        return path.split("."), value
    return path.split("."), float(value) if "." in value or "e" in value else int(value)


def _rows():
    """{name: (paper, equations, summary, objective, set of scenarios)} from rows.txt, which has a row on each line:

    name | paper | equations | summary | settings that differ from plain() | scenarios=a set of scenarios.SETS (optional)
    """
    rows = {}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "rows.txt"), encoding="ascii") as f:
        for line in f:
            name, paper, equations, summary, settings, *named = line.rstrip("\n").split(" | ")
            axes = {}
            for (axis, field), value in map(setting, settings.split()):
                axes.setdefault(axis, {})[field] = value
            scenarios = named[0].removeprefix("scenarios=") if named else "small"
            rows[name] = (paper, equations, summary, changed(plain(), **axes), scenarios)
    return rows


ROWS = _rows()


def objective(name):
    return copy.deepcopy(ROWS[name][3])
