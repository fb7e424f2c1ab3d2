"""The items that advantages compare (responses, or steps of process supervision), and their groups."""

from axes.sized import all_same
from reals import mpf


class Item:
    """A response, or a step: its sequence, the last token of a step (or None), its value R, how often it counts."""

    def __init__(self, sequence, token, worth, times=1):
        self.sequence, self.token, self.worth, self.times = sequence, token, worth, times


def samples(group):
    """The items, each as often as it counts."""
    return [i for i in group for _ in range(i.times)]


class Pool:
    """Items in order, and the items of each group."""

    def __init__(self, items):
        self.items = items
        self.groups = {}
        for item in items:
            self.groups.setdefault(item.sequence.group, []).append(item)

    def around(self, item):
        """The items of the item's group, itself included."""
        return self.groups[item.sequence.group]

    def equal(self, group):
        """Are the values of all items of a group (by its number) equal? True for a group without items."""
        return all_same([i.worth.value for i in self.groups.get(group, [])])


class Context:
    """The arguments of the choices of the advantage: items before and after the transform, the batch, the numbers."""

    def __init__(self, choice, batch, before, pool):
        self.choice, self.batch, self.before, self.pool = choice, batch, before, pool
        self.centred = {}  # R - b of every item, after the baseline

    def number(self, field):
        return mpf(self.choice[field])

    def raw_group(self, item):
        """The item's group before the transform."""
        return self.before.groups[item.sequence.group]

    def alone(self, item):
        return len(samples(self.pool.around(item))) == 1
