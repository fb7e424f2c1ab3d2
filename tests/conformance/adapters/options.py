"""A framework's options for an objective: ../translate the other way round, by the same data (../../evidence/options_*.json)."""
import importlib.util
import itertools
import math
import os
import re
from importlib.machinery import SourceFileLoader

HERE = os.path.dirname(os.path.abspath(__file__))
loader = SourceFileLoader("translate", os.path.join(HERE, os.pardir, "translate"))
translate = importlib.util.module_from_spec(importlib.util.spec_from_loader("translate", loader))
loader.exec_module(translate)

VALUES = {"true": True, "false": False, "null": None, "*": 3.0, "LOW_HIGH": "0.5_3.0"}  # of the last two any number will do
BACK = {**translate.STEPS, "1+": lambda x: x - 1, "2*": lambda x: x / 2}  # the others undo themselves


def fields_of(objective, *axes):
    """{axis.field: value}, of some axes"""
    return {f"{axis}.{field}": x for axis in axes for field, x in objective[axis].items()}


def undone(to, asked):
    """The number or the two that make the fields of a choice what is asked, or None."""
    found = {}
    for field, expression in to.items():
        match = re.fullmatch(r"(1\+|1-|1/|2\*|-|)\$([01]?)", expression) if isinstance(expression, str) else None
        if match and field in asked:
            found.setdefault(match[2], set()).add(BACK[match[1]](float(asked[field])))
        elif field in asked and asked[field] != expression:
            return None
    if not found or any(len(numbers) > 1 for numbers in found.values()):
        return None
    numbers = {place: of.pop() for place, of in found.items()}
    return numbers[""] if "" in numbers else [numbers["0"], numbers["1"]] if len(numbers) == 2 else None


def clamps(ratio):
    """The four bounds of log-ratios: of tokens, of a response."""
    return tuple(float(ratio[field]) for field in ("clamp_low", "clamp_high", "level_clamp_low", "level_clamp_high"))


UNCLAMPED = (0, 0, 0, 0)
VESPO_CLAMPS = (-20, 20, math.log(1e-8), 20)  # TRL's, by itself


def corrects_kl(penalty, level):
    """The value of TRL's use_bias_correction_kl, None if it has none for this: it multiplies the KL by the ratio of
    importance_sampling_level. That is the objective's, but for vespo, which reads the response's product beside it: the token's."""
    weight = penalty["kl_importance_weight"]
    other = {"token": None, "sequence_sum": "level"}.get(level, "token")
    return None if weight == other else weight != "none"


class Options:
    def __init__(self, framework):
        self.data = translate.data_of(framework)
        self.defaults = translate.defaults_of_fields()
        self.known = {}

    def values(self, name):
        """Those that the data has fields for, in its order."""
        texts = [text for entry in self.data["options"] if entry["option"] == name for text in entry.get("fields", {})]
        return [VALUES.get(text, text) for text in dict.fromkeys(texts)]

    def choose(self, names, same, given):
        """The first combination of the named options' values under which the fields in `same` are as they are there."""
        for values in itertools.product(*map(self.values, names)):
            config = {**given, **dict(zip(names, values))}
            fields = {**self.defaults, **translate.translate(self.data, config)[0]}
            if all(fields[field] == x for field, x in same.items()):
                return config
        return None

    def numbers(self, config, asked):
        """With what is asked of the fields that options make numbers. In the data's order: a later option may depend on an earlier one."""
        config = dict(config)
        for entry in self.data["options"]:
            if not translate.holds(entry.get("when", {}), translate.values_of(self.data, config)[0]):
                continue
            decided = entry["option"] in config
            for text, to in entry.get("fields", {}).items():
                number = undone(to, asked)
                if number is not None and (not decided or config[entry["option"]] == VALUES.get(text)):
                    config[entry["option"]] = number
        return config

    def of(self, names, same, asked=None, **given):
        """{option: value}: those of the named options that make the fields in `same` what they are there (None if none do), the options
        that make numbers of fields in `asked`, and those given."""
        key = (names, *same.items(), *given.items())
        if key not in self.known:
            self.known[key] = self.choose(names, same, given)
        return None if self.known[key] is None else self.numbers(self.known[key], asked or {})


def last(options):
    """By the part of the name after the last dot."""
    return {name.split(".")[-1]: x for name, x in options.items()}
