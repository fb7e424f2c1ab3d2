"""The rules of calls in vectors/schema.json, from the functions' domains."""
import inspect
import json

from functions import FUNCTIONS
from functions.domains import is_discrete
from functions.registry import ANSWERS


def arguments(name):
    """{argument: domain}, and the optional arguments."""
    given, missing = {}, []
    for key, parameter in inspect.signature(FUNCTIONS[name]).parameters.items():
        if parameter.kind == parameter.VAR_KEYWORD:
            given.update(parameter.annotation)
        elif key != "batch":
            given[key] = parameter.annotation
        if parameter.default is not parameter.empty:
            missing.append(key)
    return given, missing


def takes(given, missing):
    if not given:
        return {"maxProperties": 0}
    return {"additionalProperties": False, "required": [key for key in given if key not in missing], "properties": given}


def rule(name):
    """The schema of a call of this function."""
    batch = inspect.signature(FUNCTIONS[name]).parameters.get("batch")
    found = {key: x.get("optional", x) for key, x in ANSWERS[name].items()}
    always = [key for key, x in ANSWERS[name].items() if "optional" not in x]
    sized = [key for key in always if not is_discrete(found[key])]
    holds = {
        "arguments": takes(*arguments(name)),
        "batch": bool(batch) if batch is None or batch.annotation is batch.empty else batch.annotation,
        "expect": takes(found, [key for key in found if key not in always]),
        "scale": {"required": sized} if sized else {"maxProperties": 0},
    }
    then = {**({"required": ["batch"]} if batch else {}), "properties": holds}
    return {"if": {"properties": {"function": {"const": name}}}, "then": then}


def lines(items, indent):
    return ",\n".join(" " * indent + json.dumps(x) for x in items)


def text(schema):
    """The text of the schema with the functions and their rules replaced, a line each."""
    head, first = '        "function": { "enum": [\n', '      "allOf": [\n'
    before, rest = schema.split(head, 1)
    between, rest = rest.split("] },\n", 1)[1].split(first, 1)
    after = rest[rest.index("\n      ]\n    },\n"):]
    return before + head + lines(FUNCTIONS, 10) + "] },\n" + between + first + lines(map(rule, FUNCTIONS), 8) + after
