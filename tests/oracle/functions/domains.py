"""The domains of arguments and answers, as in vectors/schema.json: annotations of the functions, and arguments of @function."""


def defined(name):
    return {"$ref": "#/$defs/" + name}


NUMBER = {"type": "number"}
NOT_NEGATIVE = defined("not_negative")
POSITIVE = {"type": "number", "exclusiveMinimum": 0}
NOT_POSITIVE = {"type": "number", "maximum": 0}
FRACTION = defined("fraction")
ANSWER = defined("answer")  # a number or an infinity
INTEGER = {"type": "integer"}
COUNT = defined("count")
FLAG = {"type": "boolean"}
TOKEN_ARRAY = defined("token_array")  # the name of one
TOKENS = defined("answers")  # an answer per token
TOKEN_SIZES = defined("sizes")
TOKEN_FLAGS = defined("switches")


def number(least=None, most=None, above=None, below=None):
    bounds = {"minimum": least, "exclusiveMinimum": above, "maximum": most, "exclusiveMaximum": below}
    return {"type": "number", **{key: x for key, x in bounds.items() if x is not None}}


def integer(least, most=None):
    return {"type": "integer", "minimum": least, **({} if most is None else {"maximum": most})}


def many(x, least=0, most=None, different=False):
    sizes = {"minItems": least or None, "maxItems": most, "uniqueItems": different or None}
    return {"type": "array", **{key: n for key, n in sizes.items() if n is not None}, "items": x}


def one_of(*names):
    return {"enum": list(names)}


def either(x, constant):
    return {"anyOf": [x, {"const": constant}]}


def reads(*arrays):
    """The arrays of a batch that a function needs besides those of every batch."""
    return {"required": list(arrays)}


def optional(x):
    """An answer that may be absent."""
    return {"optional": x}


def is_discrete(x):
    """Flags and integers: they have no scale."""
    while x.get("type") == "array":
        x = x["items"]
    return x in (FLAG, COUNT, TOKEN_FLAGS) or x.get("type") == "integer"
