"""GTPO (2508.04349): token rewards from the response's reward and the entropy, normalised over tokens of right and of wrong responses
separately."""

from axes.sized import NOTHING, Sized, mean, sign_of
from limits import ONE, ZERO
from reals import mpf


def right_share(choice, worth, t, peers):
    # eq. 3: r_i + c d_t H_it / sum over the right ones of H_kt
    c, H = mpf(choice["entropy_share_coef"]), sum((p.entropy for p in peers), ZERO)
    if H == 0:
        return worth
    return worth + Sized(c * (t.entropy * len(peers) / H))


def wrong_share(choice, worth, t, peers):
    # eq. 5: -1 - c h_t (1/H_jt) / sum over the wrong ones of 1/H_kt, epsilon beside every H
    c, e = mpf(choice["entropy_share_coef"]), mpf(choice["entropy_share_eps"])
    inverse = [ONE / (p.entropy + e) for p in peers]
    return Sized(-ONE) - Sized(c * (ONE / (t.entropy + e) * len(peers) / sum(inverse, ZERO)))


def side(items, right):
    return [i for i in items if (sign_of(i.worth) > 0) == right]


def shared(choice, items, share):
    """{token: u} of the responses of one side of a prompt."""
    at = {}
    for i in items:
        for t in i.sequence.unmasked:
            at.setdefault(t.t, []).append(t)
    return {t: share(choice, i.worth, t, at[t.t]) for i in items for t in i.sequence.unmasked}


def entropy_share(choice, items, spread):
    """{token: A}; items: the responses of a prompt; spread(values) -> sigma or None."""
    result = {}
    for right, share in ((True, right_share), (False, wrong_share)):
        u = shared(choice, side(items, right), share)
        sigma = spread([x.settled() for x in u.values()])
        if sigma is None:
            result.update({t: NOTHING for t in u})
        else:
            m = mean(list(u.values()))
            result.update({t: (x - m).times(ONE / sigma) for t, x in u.items()})
    return result
