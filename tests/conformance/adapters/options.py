"""Finds a framework's options for an objective: the inverse of ../../framework_options/translate, from the same data."""
import importlib.util
import itertools
import math
import os
import re
from importlib.machinery import SourceFileLoader

HERE = os.path.dirname(os.path.abspath(__file__))
loader = SourceFileLoader("translate", os.path.join(HERE, os.pardir, os.pardir, "framework_options", "translate"))
translate = importlib.util.module_from_spec(importlib.util.spec_from_loader("translate", loader))
loader.exec_module(translate)

VALUES = {"true": True, "false": False, "null": None, "*": 3.0, "LOW_HIGH": "0.5_3.0"}  # for the last two any numbers
BACK = {**translate.STEPS, "1+": lambda x: x - 1, "2*": lambda x: x / 2}  # the others are their own inverse


def fields_of(objective, *axes):
    """{axis.field: value} of the given axes"""
    return {f"{axis}.{field}": x for axis in axes for field, x in objective[axis].items()}


def undone(to, asked):
    """The number, or pair of numbers, for which an entry's fields have the wanted values, or None."""
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
    """The four clamps of log-ratios: low and high for tokens, low and high after pooling."""
    return tuple(float(ratio[field]) for field in ("clamp_low", "clamp_high", "level_clamp_low", "level_clamp_high"))


UNCLAMPED = (0, 0, 0, 0)
VESPO_CLAMPS = (-20, 20, math.log(1e-8), 20)  # those that TRL always applies


def corrects_kl(penalty, level):
    """The value of TRL's use_bias_correction_kl for this penalty, or None. The option multiplies the KL by the ratio of
    importance_sampling_level: that of the objective, except with vespo, which uses the response's product, where it is the token's."""
    weight = penalty["kl_importance_weight"]
    other = {"token": None, "sequence_sum": "level"}.get(level, "token")
    return None if weight == other else weight != "none"


class Options:
    def __init__(self, framework):
        self.data = translate.data_of(framework)
        self.defaults = translate.defaults_of_fields()
        self.known = {}

    def values(self, name):
        """The values of an option for which the data has fields, in order."""
        texts = [text for entry in self.data["options"] if entry["option"] == name for text in entry.get("fields", {})]
        return [VALUES.get(text, text) for text in dict.fromkeys(texts)]

    def choose(self, names, same, given):
        """The first combination of values of the named options for which the fields in `same` have the values given there."""
        for values in itertools.product(*map(self.values, names)):
            config = {**given, **dict(zip(names, values))}
            fields = {**self.defaults, **translate.translate(self.data, config)[0]}
            if all(fields[field] == x for field, x in same.items()):
                return config
        return None

    def numbers(self, config, asked):
        """Adds the options that set the numbers in `asked`, in the order of the data: a later option may depend on an earlier one."""
        config = dict(config)
        for entry in self.data["options"]:
            if not translate.holds(entry.get("when", {}), translate.values_of(self.data, config)[0]):
                continue
            decided = entry["option"] in config
            for text, to in entry.get("fields", {}).items():
                number = undone(to or {}, asked)
                if number is not None and (not decided or config[entry["option"]] == VALUES.get(text)):
                    config[entry["option"]] = number
        return config

    def of(self, names, same, asked=None, **given):
        """{option: value}: values of the named options for which the fields in `same` have the values given there (None if there are
        none), the options that set the numbers in `asked`, and the given ones."""
        key = (names, *same.items(), *given.items())
        if key not in self.known:
            self.known[key] = self.choose(names, same, given)
        return None if self.known[key] is None else self.numbers(self.known[key], asked or {})


def last(options):
    """The options with their names cut to the part after the last dot."""
    return {name.split(".")[-1]: x for name, x in options.items()}
