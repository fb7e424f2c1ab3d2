"""Weight: which tokens and sequences count, and how much?"""
from mpmath import mpf

from autodiff import clamp
from limits import ONE, ZERO, bound, exp, less


def before_rejection(choice, sequence):
    """The tokens that count, before any is rejected."""
    if choice["truncated"] == "mask" and sequence.truncated:  # DAPO (2503.14476) overlong filtering
        return []
    return list(sequence.unmasked)


def token_weights(q):
    return [exp(x) for x in q]


def sum_weights(q):
    return [exp(sum(q, ZERO))] * len(q)


def mean_weights(q):
    return [exp(sum(q, ZERO) / len(q))] * len(q)


UNIT = {"token": token_weights, "sequence_sum": sum_weights, "sequence_mean": mean_weights}


def importance(choice, tokens):
    """v of old over rollout."""
    if not tokens:
        return []
    q = [t.o - t.b for t in tokens]
    c = mpf(choice["correction_clamp"])
    if c:
        q = [clamp(x, -c, c) for x in q]
    return UNIT[choice["correction_unit"]](q)


def band(choice):
    return bound(choice["correction_low"]), bound(choice["correction_high"])


def outside(choice, v):
    low, high = band(choice)
    return choice["correction"] in ("mask", "reject") and (less(v, low) or less(high, v))


def truncate(choice, v):
    # truncated importance sampling: clip, never drop
    return clamp(v, *band(choice))


def mask(choice, v):
    # IcePop (2510.18855): the raw weight inside the band, 0 outside
    return ZERO if outside(choice, v) else v


def reject(choice, v):
    return ZERO if outside(choice, v) else ONE


CORRECTION = {"truncate": truncate, "mask": mask, "reject": reject}


def weigh(choice, sequence):
    """[(token, v)] of the active tokens, and how many tokens were outside the band."""
    tokens = before_rejection(choice, sequence)
    if choice["correction"] == "none":
        return [(t, ONE) for t in tokens], 0
    kept, rejected = [], 0
    for t, v in zip(tokens, importance(choice, tokens)):
        if outside(choice, v):
            rejected += 1
            if choice["rejected"] == "unmask":
                continue
        kept.append((t, CORRECTION[choice["correction"]](choice, v)))
    return kept, rejected
