"""The cases that change one choice at a time, by axis: see table.py.

Every name and every number of the contract changes an answer in at least one of these cases (self_check.py asserts it).
"""
import importlib
import os

from cases import table
from objectives import changed

for module in sorted(os.listdir(os.path.dirname(__file__))):
    if module.endswith(".py") and module != "__init__.py":
        importlib.import_module("cases." + module[:-3])

FILES = ("choices-reward", "choices-advantage", "choices-ratio", "choices-surrogate", "choices-penalty", "choices-weight",
         "choices-aggregation", "choices-group", "choices-own", "choices-steps", "choices-shaping", "choices-units",
         "choices-factors", "choices-scores", "choices-credit", "choices-found")  # the last nine: of several axes
# (file, label, comment, base, {axis: {field: value}}, make)
CASES = [(file, *rest) for file, place, *rest in sorted(table.CASES, key=lambda case: (FILES.index(case[0]), case[1]))]


def case_of(file, label, **axes):
    """(objective with further changes, its batch with every array)"""
    for where, name, _, base, changes, make in CASES:
        if (where, name) == ("choices-" + file, label):
            o = changed(base, **changes)
            batch = make(o)
            batch.pop("more")
            return changed(o, **axes), batch
    raise KeyError((file, label))
