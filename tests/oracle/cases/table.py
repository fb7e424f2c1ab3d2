"""The table of cases that change one choice at a time: an objective with defaults on the other axes, a change, and a batch."""

CASES = []  # (file, place, label, comment, base, {axis: {field: value}}, make)


def add(file, place, label, comment, base, changes, make):
    CASES.append((file, place, label, comment, base, changes, make))


def cases_of(file, place=0, axis=None):
    """The function case(label, comment, base, changes, make) for a file of vectors, whose cases are sorted by `place`.
    With an axis, the changes are fields of that axis alone."""
    def case(label, comment, base, changes, make):
        add(file, place, label, comment, base, {axis: changes} if axis else changes, make)
    return case


def settings(changes):
    """{axis: {field: value}} in words, for a comment."""
    return ", ".join(f"{field} = {value}" for fields in changes.values() for field, value in fields.items())
