"""A framework that is run (Framework), and its random configurations (Drawer): drawn from the data of `translate`, and reduced to the
options that matter.

Every value that the data has fields for is drawn (`*` and `LOW_HIGH` as numbers of `numbers`); what the translator cannot say is drawn
again.
"""
import random
from typing import Callable, NamedTuple, Tuple

from options import translate

VALUES = {"true": True, "false": False, "null": None}


class Framework(NamedTuple):
    """run: (configuration, batch of the oracle) -> (answers, batch). A configuration is {option: value}. The answers are named as the
    oracle's, None where they are not compared; the batch has the arrays that the framework made itself (the tokens that it selected)."""
    drawer: Callable  # the data -> a Drawer
    batch: Callable  # (random generator, configuration) -> a batch
    run: Callable
    tolerance: float  # times the scale of the loss, or the largest gradient or advantage; 1e-7 where 1e-8 is added to numbers of tokens
    planted: Tuple  # option, its value, field, a wrong value
    unlisted: Callable = lambda data: []  # the data -> options of the framework's classes that are neither there nor of other things


class Refused(Exception):
    """The framework refuses the configuration."""


class Beyond:
    """Configurations that the data's entries accept although a `cannot say` excludes them: a condition on numbers, or on the batch."""

    def __init__(self, option, words, holds):
        self.option, self.words, self.holds = option, words, holds

    def is_said(self, data):
        return any(entry["option"] == self.option and self.words in str(entry.get("cannot say", "")) for entry in data["options"])


def far_rollout(batch):
    """Moves the sampler's log-probabilities further away from the old ones."""
    batch["logp_rollout"] = [[min(2 * b - o, -1 / 64) for o, b in zip(*rows)] for rows in zip(batch["logp_old"], batch["logp_rollout"])]


def nearly_equal(batch):
    """Rewards, values and log-probabilities of the reference that hardly differ: of whitened advantages the epsilon is what divides."""
    small = lambda x: x / 2**17
    batch["reward"], batch["rewards"] = [small(x) for x in batch["reward"]], [[small(x) for x in row] for row in batch["rewards"]]
    batch["value"] = [[small(x) for x in row] for row in batch["value"]]
    batch["logp_ref"] = [list(row) for row in batch["logp_old"]]


class Drawer:
    """numbers: {option: (low, high)} or a function of a random generator; often: options that are seldom left at their default;
    left: {option: why it is not drawn}; fitted: changes a drawn configuration, where the range of a number depends on another option;
    times: how many configurations each value is to have at least."""

    def __init__(self, data, numbers, often, left, beyond, fitted=lambda config: config, times=5):
        self.times = times
        self.data, self.numbers, self.often, self.left, self.beyond, self.fitted = data, numbers, often, left, beyond, fitted
        self.defaults, self.keys = {}, {}
        for entry in data["options"]:
            self.defaults.setdefault(entry["option"], entry["default"])
            self.keys.setdefault(entry["option"], []).extend(key for key, to in entry.get("fields", {}).items() if to is not None)
        self.options = [option for option in self.keys if option not in left]
        self.seen = {}  # {(number of the entry, key of its fields): configurations}
        self.unsaid = 0

    def number(self, option, rng):
        how = self.numbers[option]
        return how(rng) if callable(how) else round(rng.uniform(*how), 3)

    def value(self, option, key, rng):
        if key == "*":
            return self.number(option, rng)
        if key == "LOW_HIGH":
            return f"{round(rng.uniform(0.6, 0.98), 3)}_{round(rng.uniform(1.02, 1.6), 3)}"
        return VALUES[key] if key in VALUES else float(key) if key.replace(".", "").isdigit() else key

    def once(self, rng):
        config = {}
        for option in self.options:
            key = rng.choice(list(dict.fromkeys(self.keys[option])))
            value = self.value(option, key, rng)
            if rng.random() < (0.9 if option in self.often else 0.5) and value != self.defaults[option]:
                config[option] = value
        return self.fitted(config)

    def values(self, config):
        return translate.values_of(self.data, config)[0]

    def is_said(self, config):
        """Can the fields express the configuration?"""
        values = self.values(config)
        return not translate.translate(self.data, config)[1] and not any(b.holds(values) for b in self.beyond)

    def draw(self, rng):
        while True:
            config = self.once(rng)
            if self.is_said(config):
                break
            self.unsaid += 1
        return self.counted(config)

    def counted(self, config):
        for key in self.used(config):
            self.seen[key] = self.seen.get(key, 0) + 1
        return config

    def used(self, config):
        """(number, key) of the entries that apply; a number only if it is not the default."""
        values, found = self.values(config), set()
        for number, entry in enumerate(self.data["options"]):
            fields = entry.get("fields", {})
            if entry["option"] in self.options and translate.holds(entry.get("when", {}), values):
                chosen = translate.chosen(fields, values[entry["option"]])
                found |= {(number, key) for key, to in fields.items() if to is chosen and (key != "*" or entry["option"] in config)}
        return found

    def rare(self, times):
        """(number of the entry, key) of which fewer configurations made use."""
        replaced = {entry["option"] for entry in self.data["options"] if "null is" in entry}
        every = [(number, key) for number, entry in enumerate(self.data["options"]) if entry["option"] in self.options
                 for key, to in entry.get("fields", {}).items() if to is not None and not (key == "null" and entry["option"] in replaced)]
        return [place for place in every if self.seen.get(place, 0) < times]

    def draw_with(self, number, key, rng, tries=2000):
        """A configuration that makes use of this value of this entry; None if none is found."""
        entry = self.data["options"][number]
        for _ in range(tries):
            config = self.once(rng)
            for other, allowed in {**entry.get("when", {}), entry["option"]: [key]}.items():
                keys = [k for k in self.keys[other] if k not in ("0", "null", "false")] if allowed == ["*"] else allowed
                config[other] = self.value(other, translate.as_text(rng.choice(keys)), rng)
            config = self.fitted(config)
            if self.is_said(config) and (number, key) in self.used(config):
                return self.counted(config)
        return None

    def said(self, place):
        entry = self.data["options"][place[0]]
        return f"{entry['option']} = {place[1]}" + (f" when {entry['when']}" if "when" in entry else "")

    @staticmethod
    def still(config, fails):
        try:
            return fails(config)
        except Refused:
            return False

    def reduced(self, config, fails):
        """The fewest options, one at a time put back to its default, with which it still fails."""
        config, last = dict(config), None
        while config != last:
            last = dict(config)
            for option in last:
                fewer = {o: x for o, x in config.items() if o != option}
                if self.is_said(fewer) and self.still(fewer, fails):
                    config = fewer
        return config


def generator(name, n):
    return random.Random(f"{name} {n}")


# ---- for drawers and batches

def whole(low, high):
    return lambda rng: rng.randint(low, high)


def holes(rng, batch, share=0.25):
    """Masks some tokens, never the last one of a response."""
    batch["mask"] = [[rng.random() >= share for _ in range(n - 1)] + [True] for n in batch["length"]]


SIZES = ([3, 3, 3], [1, 4, 4], [2, 3, 4])


def regroup(rng, batch, sizes=SIZES):
    """Groups of other sizes; one list of `sizes` is drawn."""
    batch["group"] = [g for g, size in enumerate(rng.choice(sizes)) for _ in range(size)]
