"""The NumPy port with conventions for which there is no field, written independently of recompute.c; for profiles_test.py."""
import numpy as np
import numpy_port


class hooked:
    """Replaces functions of the port. `row_tokens`, `pool_tokens`, `mean_tokens`, `token_mean`, `log_ratio_mean`: a small constant is added
    to the number of tokens that divides a row mean, a geometric mean, mean and variance in whitening, a mean over all tokens, the mean
    log-ratio of a response. `inverse_band`: rejection compares the inverse of the rollout weight with the band."""

    NAMES = ("coefficients", "advantages", "ratio", "correction")

    def __init__(self, hooks):
        self.hooks, self.own = hooks, {name: getattr(numpy_port, name) for name in self.NAMES}

    def __enter__(self):
        h, own = self.hooks, self.own
        if "row_tokens" in h:
            numpy_port.coefficients = lambda c, seq, group, T, b: own["coefficients"](c, seq, group, T, b) * (
                T[seq] / (T[seq] + h["row_tokens"]) if c["kind"] == "seq_mean_token_mean" else 1)
        if "token_mean" in h:
            numpy_port.coefficients = lambda c, seq, group, T, b: own["coefficients"](c, seq, group, T, b) * (
                len(seq) / (len(seq) + h["token_mean"]) if c["kind"] == "token_mean" else 1)
        if "log_ratio_mean" in h:
            numpy_port.ratio = lambda c, d, left, A, seq, T, n: own["ratio"](c, d, left, A, seq, T + h["log_ratio_mean"], n)
        if "mean_tokens" in h:
            numpy_port.advantages = lambda o, b: whitened(o, b, own["advantages"], h["mean_tokens"])
        if "pool_tokens" in h:
            numpy_port.ratio = lambda *case: pooled(own["ratio"], h["pool_tokens"], *case)
        if "inverse_band" in h:
            numpy_port.correction = lambda c, b, i: inverse(own["correction"], c, b, i)

    def __exit__(self, *_):
        for name, function in self.own.items():
            setattr(numpy_port, name, function)


def pooled(ratio, more, c, d, left, A, seq, T, n):
    """A token with advantage 0 has log-ratio 0."""
    y, J = ratio(c, np.where(A == 0, 0, d), left, A, seq, T + more, n)
    return y, np.where(A == 0, 0, J)


def inverse(correction, c, b, i):
    v, band = correction({**c, "rollout_is_low": 1 / c["rollout_is_high"], "rollout_is_high": 1 / c["rollout_is_low"]}, b, i)
    return np.minimum(v, c["rollout_is_high"]), band


def whitened(o, b, advantages, more):
    """token_whiten with mean and variance divided by the number of tokens plus `more`."""
    if o["advantage"]["scale"] != "token_whiten":
        return advantages(o, b)
    plain = {**o, "advantage": {**o["advantage"], "scale": "none"}}
    A = advantages(plain, b)
    x, n = A[b.mask], b.mask.sum()
    mean = x.sum() / (n + more)
    variance = ((x - mean) ** 2).sum() / (n + more) * n / max(n - 1, 1)
    return np.where(b.mask, (A - mean) / np.sqrt(variance + o["advantage"]["eps"]), 0)
