"""Log-probabilities and entropy of a softmax at a temperature, from logits."""
import mpmath
from mpmath import mpf

from limits import ZERO


def tempered(z, temperature):
    return [mpf({"-Infinity": "-inf"}.get(x, x)) / mpf(temperature) for x in z]


def weighted(p, x):
    """p x, and 0 where p is 0: a token that cannot occur adds nothing."""
    return p * x if p else ZERO


class Softmax:
    def __init__(self, z, temperature):
        self.z = tempered(z, temperature)
        top = max(self.z)
        self.log_sum = top + mpmath.log(sum((mpmath.exp(x - top) for x in self.z), ZERO))
        self.logp = [x - self.log_sum for x in self.z]
        self.p = [mpmath.exp(x) for x in self.logp]
        self.entropy = -sum((weighted(p, l) for p, l in zip(self.p, self.logp)), ZERO)
        # log sum_v e^z_v = sum_v p_v z_v + H, so this is the size of its terms
        self.size = sum((weighted(p, abs(x)) for p, x in zip(self.p, self.z)), ZERO) + self.entropy


def token(z, target, temperature):
    """((log-probability, scale), (entropy, scale))"""
    s = Softmax(z, temperature)
    return (s.logp[target], abs(s.z[target]) + s.size), (s.entropy, 2 * s.size)


def answers(logits, target, temperature):
    rows = [[token(z, y, temperature) for z, y in zip(zs, ys)] for zs, ys in zip(logits, target)]
    return {"logp": [[lp for lp, _ in row] for row in rows], "entropy": [[h for _, h in row] for row in rows]}
