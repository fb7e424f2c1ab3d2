"""Segments: runs of a response's tokens that end where `segment_end` is true; what is pooled over each of them."""


def numbered(step_end):
    """The segment of every token of a response: how many ended before it. Masked tokens end segments too."""
    return [sum(map(bool, step_end[:t])) for t in range(len(step_end))]


def whole(tokens):
    return [range(len(tokens))]


def apart(tokens):
    """The places of each segment's tokens; a segment without any of them is not there."""
    found = {}
    for place, token in enumerate(tokens):
        found.setdefault(token.segment, []).append(place)
    return list(found.values())


PARTS = {"segment_sum": apart, "segment_mean": apart, "segment_max": apart}


def pooled(table, unit, tokens, xs):
    """table[unit] of the numbers of each segment, where the unit is one, else of those of the response; in their order."""
    result = [None] * len(xs)
    for places in PARTS.get(unit, whole)(tokens):
        for place, y in zip(places, table[unit]([xs[p] for p in places])):
            result[place] = y
    return result
