"""The part of vectors/schema.json that describes an objective, made from the fields and the rules of axes/."""
import json

from axes.allowed import RULES
from axes.choice import within
from axes.fields import ALWAYS, FIELDS, default

WIDTH = 140
IMPLIED = {"#/$defs/not_negative": {"minimum": 0}, "#/$defs/fraction": {"minimum": 0, "maximum": 1},
           "#/$defs/count": {"minimum": 0}, "#/$defs/ceiling": {"minimum": 0}}


def domain_of(axis, field):
    domain = FIELDS[axis][field]
    return domain if isinstance(domain, dict) else {"enum": list(domain)}


def implied(axis, field, domain):
    """Does the field's own domain already imply it?"""
    own = domain_of(axis, field)
    own = IMPLIED.get(own.get("$ref"), own)
    return all(own.get(word) == x for word, x in domain.items())


def short(domain):
    return {"const": domain["enum"][0]} if len(domain.get("enum", ())) == 1 else domain


def left_out(axis, field, domain):
    """Is the value of a field that is left out, or the zero that a reader may fill in, outside of the domain?"""
    own = FIELDS[axis][field]
    zero = 0 if isinstance(own, dict) else default(own)
    return (axis, field) not in ALWAYS and not within(zero, domain)


def conditions(axis, domains):
    """The schema of an object: these fields are in these domains, and may be left out where the domain contains the default."""
    required = [field for field, domain in domains.items() if left_out(axis, field, domain)]
    return {**({"required": required} if required else {}), "properties": {field: short(domain) for field, domain in domains.items()}}


def implications(axis):
    """The rules of an axis that a schema can express, those with the same consequence merged: [{"if": ..., "then": ...}]"""
    found = []  # (field, where, beside, then)
    for r in RULES:
        beside = {field: domain for (other, field), domain in r.beside.items() if other == axis and not implied(other, field, domain)}
        if r.axis != axis or not (beside or r.then):
            continue
        same = next((x for x in found if (x[0], x[2], x[3]) == (r.field, beside, r.then) and "enum" in x[1] and "enum" in r.where), None)
        if same:
            same[1]["enum"] += r.where["enum"]
        else:
            found.append((r.field, {word: list(x) if isinstance(x, list) else x for word, x in r.where.items()}, beside, r.then))
    return [{"if": conditions(axis, {field: where}), "then": {**(conditions(axis, beside) if beside else {}), **then}}
            for field, where, beside, then in found]


def axis_object(axis):
    always = [field for field in FIELDS[axis] if (axis, field) in ALWAYS]
    rules = implications(axis)
    return {"type": "object", "additionalProperties": False, **({"required": always} if always else {"minProperties": 1}),
            "properties": {field: domain_of(axis, field) for field in FIELDS[axis]}, **({"allOf": rules} if rules else {})}


def objective():
    return {"type": "object", "additionalProperties": False, "description": "what is left out is the first choice, the default, or 0",
            "required": [axis for axis in FIELDS if any(place[0] == axis for place in ALWAYS)],
            "properties": {axis: axis_object(axis) for axis in FIELDS}}


# ---- text

def written(x, indent=0):
    """JSON text, with every value that fits on one line written on one line."""
    inline = inlined(x)
    if indent + len(inline) <= WIDTH and not (isinstance(x, dict) and indent < 12) or not isinstance(x, (dict, list)):
        return inline
    pad = " " * (indent + 2)
    if isinstance(x, dict):
        parts = [f"{pad}{json.dumps(key)}: {written(v, indent + 2)}" for key, v in x.items()]
        return "{\n" + ",\n".join(parts) + "\n" + " " * indent + "}"
    if all(isinstance(v, str) for v in x):
        return filled([json.dumps(v) for v in x], pad, indent)
    return "[\n" + ",\n".join(pad + written(v, indent + 2) for v in x) + "\n" + " " * indent + "]"


def inlined(x):
    if isinstance(x, dict):
        return "{ " + ", ".join(f"{json.dumps(key)}: {inlined(v)}" for key, v in x.items()) + " }" if x else "{}"
    return "[" + ", ".join(map(inlined, x)) + "]" if isinstance(x, list) else json.dumps(x)


def filled(words, pad, indent):
    lines = [pad]
    for k, word in enumerate(words):
        word += "," if k + 1 < len(words) else ""
        if len(lines[-1]) + len(word) + 1 > WIDTH and lines[-1] != pad:
            lines.append(pad)
        lines[-1] += word if lines[-1] == pad else " " + word
    return "[\n" + "\n".join(lines) + "\n" + " " * indent + "]"


END = "\n    },\n"  # of a definition in the file


def replaced(old, name, definition):
    """The whole file with this definition replaced."""
    begin = old.index(f'    "{name}": {{\n')
    end = old.index(END, begin)
    return old[:begin] + f'    "{name}": ' + written(definition, 4) + old[end + len("\n    }"):]


def text(old):
    """The whole file with the definition of an objective replaced."""
    return replaced(old, "objective", objective())
