"""What a framework's configuration makes of the objective, by the data in ../evidence/options_*.json (OPTIONS_FORMAT.md there)."""
import difflib
import glob
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
EVIDENCE = os.path.join(HERE, os.pardir, "evidence")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, os.pardir, "oracle"))

import objectives  # noqa: E402  the fields of an objective, none of the oracle's functions

BEFORE = {"1+": lambda x: 1 + x, "1-": lambda x: 1 - x, "1/": lambda x: 1 / x, "2*": lambda x: 2 * x, "-": lambda x: -x, "": lambda x: x}


class Refused(Exception):
    """A configuration or a name that nothing can be made of."""


def names():
    return sorted(os.path.basename(path)[len("options_"):-len(".json")] for path in glob.glob(os.path.join(EVIDENCE, "options_*.json")))


def load(framework):
    if framework not in names():
        near = difflib.get_close_matches(framework, names(), 1)
        raise Refused(f"no framework {framework}" + (f"; do you mean {near[0]}?" if near else f"; there are {', '.join(names())}"))
    with open(os.path.join(EVIDENCE, f"options_{framework}.json"), encoding="utf-8") as f:
        return json.load(f)


# ---- values

def text(value):
    """As the data writes values: true, null, 0, 0.5, names."""
    if value is None or isinstance(value, str) and value.lower() in ("null", ""):
        return "null"
    if isinstance(value, list):
        return "_".join(text(x) for x in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        value = number(value) if number(value) is not None else value
    if isinstance(value, (int, float)):
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    return str(value)


def number(value):
    try:
        return float(value) if not isinstance(value, bool) and value is not None else None
    except ValueError:
        return None


def pair(value):
    """Two numbers joined by _, or None."""
    parts = text(value).split("_")
    return [float(p) for p in parts] if len(parts) == 2 and all(number(p) is not None for p in parts) else None


class Configuration:
    """Every option of a framework with the value it has; `given`: those that the configuration says."""

    def __init__(self, data, given):
        self.data, self.given = data, given
        self.defaults = {}
        for entry in data["options"]:
            self.defaults.setdefault(entry["option"], entry["default"])

    def __getitem__(self, option):
        value = self.given[option] if option in self.given else self.defaults.get(option)
        return value if text(value) != "null" else self.made_of_null(option)

    def made_of_null(self, option):
        for entry in self.data.get("null is", []):
            if entry["option"] == option and self.holds(entry):
                return self[entry["value"][1:]] if str(entry["value"]).startswith("@") else entry["value"]
        return None

    def holds(self, entry):
        return all(any(self.is_value(option, wanted) for wanted in values) for option, values in entry.get("when", {}).items())

    def is_value(self, option, wanted):
        found = text(self[option])
        return found not in ("null", "0") if text(wanted) == "*" else found == text(wanted)

    def chosen(self, entry):
        """The fields of the option's value, or None if they are not known."""
        value, fields = self[entry["option"]], entry["fields"]
        by_text = {key if key in ("*", "LOW_HIGH") else text(key): x for key, x in fields.items()}
        if text(value) in by_text:
            return by_text[text(value)]
        if "LOW_HIGH" in by_text and pair(value):
            return by_text["LOW_HIGH"]
        return by_text.get("*") if text(value) != "null" or "null" not in by_text else None

    def made(self, entry, what):
        """What a field becomes: a choice, a number, or made from an option's value."""
        found = re.fullmatch(r"(1\+|1-|1/|2\*|-)?(\$0|\$1|\$|@.+)", what) if isinstance(what, str) else None
        if not found:
            return what
        before, of = found.group(1) or "", found.group(2)
        value = self[of[1:]] if of[0] == "@" else self[entry["option"]] if of == "$" else pair(self[entry["option"]])[int(of[1])]
        if before == "" and number(value) is None:
            return value
        x = number(value)
        if x is None:
            raise Refused(f"{entry['option']} = {value}: not a number")
        x = BEFORE[before](x)
        return {float("inf"): "Infinity", float("-inf"): "-Infinity"}.get(x, int(x) if x.is_integer() and abs(x) < 2 ** 53 else x)


# ---- translation

def translated(framework, given):
    """(objective, wrong, notes): the objective with every field; [(option, why)] of what it does not say; what holds only nearly."""
    data = load(framework)
    configuration, fields, wrong, notes = Configuration(data, given), dict(data.get("always", {})), [], []
    known = {entry["option"] for entry in data["options"]}
    for option in given:
        if option not in known:
            near = difflib.get_close_matches(option, known, 1, 0.75)
            wrong.append((option, f"not known to change the loss; do you mean {near[0]}?" if near else "not known to change the loss"))
    for entry in data["options"]:
        if not configuration.holds(entry):
            continue
        option, value = entry["option"], configuration[entry["option"]]
        chosen = configuration.chosen(entry)
        if chosen is None:
            wrong.append((option, f"{text(value)} cannot be expressed" + (f": {entry['cannot say']}" if "cannot say" in entry else "")))
            continue
        if "cannot say" in entry and option in given and text(value) != text(entry["default"]):
            notes.append((option, entry["cannot say"]))
        for field, what in chosen.items():
            fields[field] = configuration.made(entry, what)
    objective = objectives.plain()
    for field, value in fields.items():
        axis, name = field.split(".")
        if name not in objective[axis]:
            raise Refused(f"{framework}: {field} is no field")
        objective[axis][name] = value
    return objective, wrong, notes


# ---- configurations: JSON, YAML, key = value, --key value

def flat(x, before=""):
    found = {}
    for key, value in x.items():
        if isinstance(value, dict):
            found.update(flat(value, f"{before}{key}."))
        else:
            found[before + str(key)] = value
    return found


def scalar(word):
    word = word.strip().strip("'\"")
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    return None if word.lower() in ("null", "~", "") else word


def by_lines(lines):
    """Nested `key: value` by indentation, `key = value`, and `--key value`."""
    found, above = {}, []
    for line in lines:
        line = re.sub(r"(^|\s)#.*", "", line).rstrip().rstrip("\\").rstrip()
        flag = re.findall(r"--([\w.-]+)(?:[ =]+(?!--)(\S+))?", line)
        setting = re.fullmatch(r"(\s*)\+?([\w.-]+)\s*[:=]\s*(.*)", line)
        if flag:
            found.update({key: scalar(value) if value else True for key, value in flag})
        elif setting:
            depth, key, value = len(setting.group(1)), setting.group(2), setting.group(3)
            above = [x for x in above if x[0] < depth]
            path = ".".join([x[1] for x in above] + [key])
            above.append((depth, key))
            if value:
                found[path] = scalar(value)
        elif line.strip() and not line.strip().startswith("- ") and line.strip() != "---":
            raise Refused(f"cannot read: {line.strip()[:60]}")
    return found


def read(path):
    try:
        with open(path, encoding="utf-8") as f:
            content = f.read()
    except OSError as why:
        raise Refused(f"{path}: {why.strerror}")
    if content.lstrip().startswith("{"):
        return flat(json.loads(content))
    if re.search(r"^\s*\S+:", content, re.M) and not content.lstrip().startswith("--"):
        try:
            import yaml
            return flat(yaml.safe_load(content))
        except ImportError:
            pass
    return by_lines(content.splitlines())
