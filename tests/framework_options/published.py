"""The published objectives, as the oracle has them (rows.txt), and which of them a translated configuration is nearest to."""
import os

HERE = os.path.dirname(os.path.abspath(__file__))
PLACES = os.path.join(HERE, "rows.txt"), os.path.join(HERE, os.pardir, "oracle", "rows.txt")  # in the Python package; in the repository
CHOICE, NUMBER = 3, 1             # what a field that differs adds to the distance


def value(text):
    if text[0].isalpha() or text.startswith("-I"):
        return text
    return float(text) if "." in text or "e" in text else int(text)


def rows():
    """{name: (paper, summary, {axis.field: value})}, without the fields that have their defaults"""
    found = {}
    with open(next(filter(os.path.isfile, PLACES)), encoding="ascii") as f:
        for line in f:
            name, paper, _, summary, settings, *_ = line.rstrip("\n").split(" | ")
            found[name] = paper, summary, {field: value(x) for field, x in (s.split("=") for s in settings.split())}
    return found


def differences(first, second, defaults):
    """[(axis.field, value in the first, in the second)]"""
    return [(field, first.get(field, x), second.get(field, x)) for field, x in defaults.items()
            if first.get(field, x) != second.get(field, x)]


def nearest(fields, defaults):
    """(name, paper, summary, the differences) of the row with the fewest: a choice counts as three numbers."""
    def distance(found):
        return sum(CHOICE if isinstance(defaults[field], str) else NUMBER for field, *_ in found)
    compared = ((name, paper, summary, differences(fields, of, defaults)) for name, (paper, summary, of) in rows().items())
    return min(compared, key=lambda row: distance(row[3]))
