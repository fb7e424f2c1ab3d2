"""The preset rows: one published objective each, with every choice spelled out.

A row is written as its differences from `plain` (everything off, the sum of -r l). Where a paper writes a mean or a
standard deviation without saying more, the rows take the sample one without epsilon.
"""
import copy
import os

from axes.fields import ALWAYS, plain

INF = "Infinity"
MINUS_INF = "-Infinity"


def is_written(objective, axis, field):
    """Whatever its value? The one number whose default is not 0 is, where it is read: who fills in zeros is right as well."""
    return (axis, field) in ALWAYS or field == "power" and objective[axis].get("level") == "sequence_power_mean"


def thinned(objective):
    """As the files have it: without the fields that have their defaults."""
    axes = {axis: {field: x for field, x in objective[axis].items() if x != default[field] or is_written(objective, axis, field)}
            for axis, default in plain().items()}
    return {axis: fields for axis, fields in axes.items() if fields}


def filled(thin):
    """The other way round."""
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
    return path.split("."), value if value[0].isalpha() or value == MINUS_INF else float(value) if "." in value or "e" in value else int(value)


def _rows():
    """rows.txt, a row a line: name | paper | equations | summary | its settings, beside plain() | scenarios=the set that it is evaluated
    on,
    of scenarios.SETS. {name: (paper, equations, summary, objective, set of scenarios)}"""
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
