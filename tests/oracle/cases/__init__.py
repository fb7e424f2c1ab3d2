"""The cases that change one choice at a time, by axis: see table.py.

Every choice and every number of an objective changes an answer in at least one of these cases (self_check.py checks this).
"""
import importlib
import os

from cases import table
from objectives import changed
from scenarios import completed

for module in sorted(os.listdir(os.path.dirname(__file__))):
    if module.endswith(".py") and module != "__init__.py":
        importlib.import_module("cases." + module[:-3])

# How a file records mistakes: each in full in one case, all by one number, or none. The files below the line have cases of several axes.
FILES = {
    "choices-reward": "in full", "choices-advantage": "in full", "choices-ratio": "in full", "choices-surrogate": "in full",
    "choices-penalty": "in full", "choices-weight": "in full", "choices-aggregation": "in full",
    # ----
    "choices-group": "in full", "choices-own": "in full", "choices-steps": "in brief", "choices-shaping": "in brief",
    "choices-units": "in full", "choices-factors": "in full", "choices-scores": "none", "choices-credit": "none",
    "choices-surrogate-token": "in brief", "choices-surrogate-group-target": "in brief", "choices-aggregation-groups": "in brief",
    "choices-advantage-success": "in brief", "choices-ratio-power-mean": "in brief", "choices-penalty-preference-pointwise": "in brief",
    "choices-advantage-steps": "in brief", "choices-penalty-aggregation": "in full", "choices-advantage-samples": "in full",
    "choices-divergence": "in full", "choices-surrogate-contrastive": "in full", "choices-trust-region": "in full",
    "choices-selected": "in full", "choices-alike": "in brief", "choices-together": "none"}
ORDER = list(FILES)
# (file, label, comment, base, {axis: {field: value}}, make)
CASES = [(file, *rest) for file, place, *rest in sorted(table.CASES, key=lambda case: (ORDER.index(case[0]), case[1]))]


def case_of(file, label, **axes):
    """(objective with further changes, its batch with every array)"""
    for where, name, _, base, changes, make in CASES:
        if (where, name) == ("choices-" + file, label):
            o = changed(base, **changes)
            batch = completed(make(o))
            batch.pop("more")
            return changed(o, **axes), batch
    raise KeyError((file, label))
