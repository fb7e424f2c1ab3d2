"""The choices of a field of an objective: the function of each, the arrays of the batch that it reads, and its conditions on other fields.
The checks of allowed.py, the arrays of scenarios.py and the schema of the vectors (../objective_schema.py) are derived from these."""
from limits import bound

ABOVE_0, AT_LEAST_0, AT_LEAST_1 = {"exclusiveMinimum": 0}, {"minimum": 0}, {"minimum": 1}

HOLDS = {"enum": lambda x, names: x in names, "const": lambda x, y: x == y, "not": lambda x, domain: not within(x, domain),
         "minimum": lambda x, y: bound(x) >= y, "maximum": lambda x, y: bound(x) <= y,
         "exclusiveMinimum": lambda x, y: bound(x) > y, "exclusiveMaximum": lambda x, y: bound(x) < y}


def within(x, domain):
    """Is a choice or a number in a domain (written as in a JSON schema)?"""
    return all(HOLDS[word](x, y) for word, y in domain.items())


def one_of(*names):
    return {"enum": list(names)}


def only(value):
    return {"const": value}


def but(value):
    return {"not": {"const": value}}


class Rule:
    """Where axis.field is in `where`, every other field is in its domain, and `also` holds of the objective.
    beside: {field of the same axis, or axis.field: domain}; then: the form of `also` in a schema; computed: an objective that violates the
    rule still has answers, which some mistakes give."""

    def __init__(self, axis, field, where, beside=None, also=None, then=None, computed=False):
        self.axis, self.field, self.where, self.also, self.then, self.computed = axis, field, where, also, then or {}, computed
        self.beside = {tuple(name.split(".")) if "." in name else (axis, name): domain for name, domain in (beside or {}).items()}

    def applies(self, objective):
        return within(objective[self.axis][self.field], self.where)

    def holds(self, objective):
        return (all(within(objective[axis][field], domain) for (axis, field), domain in self.beside.items())
                and (self.also is None or self.also(objective)))


RULES = []


def rule(axis, field, names, beside=None, also=None, then=None, computed=False):
    """names: choices of the field, or a domain of numbers."""
    RULES.append(Rule(axis, field, names if isinstance(names, dict) else one_of(*names), beside, also, then, computed))


TABLES = {}  # {(axis, field): [Table]}


class Table(dict):
    """{name: function} of the choices of a field; `about` has the further arguments of each decorator."""

    def __init__(self, axis, field, **every):
        """every: arguments that apply to all choices."""
        super().__init__()
        self.axis, self.field, self.about, self.every = axis, field, {}, every
        TABLES.setdefault((axis, field), []).append(self)

    def choice(self, beside=None, also=None, reads=(), **more):
        """Decorates the function of the choice of its name. beside, also: see Rule; reads: arrays of the batch; more: by the axis."""
        def register(function):
            name = function.__name__
            self[name] = function
            self.about[name] = {**self.every, "reads": set(reads), **more}
            for conditions, other in ((self.every.get("beside"), None), (beside, also)):
                if conditions or other:
                    rule(self.axis, self.field, (name,), conditions, other)
            return function
        return register

    def has(self, name, what):
        return self.about.get(name, {}).get(what)


def about(axis, field, name, what):
    """An argument of the decorator of a choice, or None."""
    return next((table.has(name, what) for table in TABLES[axis, field] if name in table), None)
