"""Log-probabilities and entropy of a softmax at a temperature, from logits."""

import reals
from limits import ZERO
from reals import mpf


def tempered(z, temperature):
    return [mpf({"-Infinity": "-inf"}.get(x, x)) / mpf(temperature) for x in z]


def weighted(p, x):
    """p x, and 0 where p is 0: a token of probability 0 adds nothing."""
    return p * x if p else ZERO


def log_sum(z):
    """log sum e^z"""
    top = max(z)
    return top + reals.log(sum((reals.exp(x - top) for x in z), ZERO))


class Softmax:
    def __init__(self, z, temperature, sizes=None):
        """sizes: sizes of the logits before the temperature; None: their absolute values."""
        self.z = tempered(z, temperature)
        self.sizes = [abs(x) for x in self.z] if sizes is None else [x / mpf(temperature) for x in sizes]
        self.log_sum = log_sum(self.z)
        self.logp = [x - self.log_sum for x in self.z]
        self.p = [reals.exp(x) for x in self.logp]
        self.entropy = -sum((weighted(p, l) for p, l in zip(self.p, self.logp)), ZERO)
        # log sum_v e^z_v = sum_v p_v z_v + H, so this is the size of its terms
        self.size = sum((weighted(p, x) for p, x in zip(self.p, self.sizes)), ZERO) + self.entropy

    def size_of(self, v):
        """Of log p_v."""
        return self.sizes[v] + self.size

