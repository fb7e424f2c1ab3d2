"""What advantages compare: items (responses, or steps of process supervision), and the groups that they stand in."""

from axes.sized import all_same
from reals import mpf


class Item:
    """A response, or a step: `sequence` it belongs to, the token (or None) where a step ends, its value R, how often it counts."""

    def __init__(self, sequence, token, worth, times=1):
        self.sequence, self.token, self.worth, self.times = sequence, token, worth, times


def samples(group):
    """The items, each as often as it counts."""
    return [i for i in group for _ in range(i.times)]


class Pool:
    """Items in their order, and those of every group."""

    def __init__(self, items):
        self.items = items
        self.groups = {}
        for item in items:
            self.groups.setdefault(item.sequence.group, []).append(item)

    def around(self, item):
        """The items of the item's group, itself included."""
        return self.groups[item.sequence.group]

    def equal(self, group):
        """Are all items of a group (by its number) worth the same? None at all is no difference either."""
        return all_same([i.worth.value for i in self.groups.get(group, [])])


class Context:
    """What the choices of the advantage look at: items before the transform and after it, the batch, the numbers."""

    def __init__(self, choice, batch, before, pool):
        self.choice, self.batch, self.before, self.pool = choice, batch, before, pool
        self.centred = {}  # R - b of every item, once the baseline is there

    def number(self, field):
        return mpf(self.choice[field])

    def raw_group(self, item):
        """The item's group as it was before the transform."""
        return self.before.groups[item.sequence.group]

    def alone(self, item):
        return len(samples(self.pool.around(item))) == 1
