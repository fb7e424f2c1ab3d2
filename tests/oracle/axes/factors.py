"""Factors of v after correction and rejection: normalisation over the batch, FIPO's future weights, external weights."""

from autodiff import clamp, sg, value
from limits import ONE, ZERO, bound, exp, is_infinite, less, limit, sign
from reals import mpf


# ---- rollout_is_norm

def mean(xs):
    return sum(xs, ZERO) / len(xs)


def of_tokens(rows):
    return [v for row in rows for v in row]


def of_sequences(rows):
    return [mean(row) for row in rows]


AVERAGED = {"sequence_sum": of_sequences, "sequence_mean": of_sequences}


def no_norm(choice, rows):
    return ONE


def batch_mean(choice, rows):
    # verl's rollout_is_batch_normalize: the mean over tokens, or over responses if a response has one weight
    m = mean(AVERAGED.get(choice["rollout_is_level"], of_tokens)(rows))
    m = m if is_infinite(m) else limit(m)
    return ONE if sign(m) == 0 else m


NORM = {"none": no_norm, "mean": batch_mean}


def norm(choice, rows):
    """The divisor of every v. rows: v of the active tokens of every response."""
    rows = [[value(v) for v in row] for row in rows if row]
    return NORM[choice["rollout_is_norm"]](choice, rows) if rows else ONE


# ---- future

def no_future(choice, tokens):
    return [ONE] * len(tokens)


def decayed(choice, tokens):
    # FIPO (2603.19835) as in ms-swift: the distance of two tokens counts masked tokens too
    g = mpf(2) ** (-1 / mpf(choice["fipo_half_life"]))
    d = [value(t.l) - t.o for t in tokens]
    most = bound(choice["fipo_ratio_max"])
    told = [ZERO if most and less(most, exp(x)) else x for x in d]
    futures = [sum((g ** (u.t - t.t) * x for u, x in zip(tokens, told) if u.t >= t.t), ZERO) for t in tokens]
    return [influence(choice, t, x, F) for t, x, F in zip(tokens, d, futures)]


def influence(choice, token, d, F):
    f = clamp(exp(F), bound(choice["fipo_low"]), bound(choice["fipo_high"]))
    safe = bound(choice["fipo_safe_ratio"])
    if safe and sign(token.advantage) < 0 and less(safe, exp(d)):
        f = clamp(f, bound(choice["fipo_safe_low"]), bound(choice["fipo_safe_high"]))
    return sg(f)


FUTURE = {"none": no_future, "decayed": decayed}


def future(choice, tokens):
    """The factor of every active token of a response."""
    return FUTURE[choice["fipo"]](choice, tokens)


# ---- external: (factor of v, factor of the penalty)

GIVEN = {"none": lambda token: (ONE, ONE), "policy": lambda token: (token.weight, ONE),
         "term": lambda token: (token.weight, token.weight)}


def given(choice, token):
    return GIVEN[choice["external"]](token)
