"""Segments: runs of a response's tokens that end where `segment_end` is true, and functions over them."""


def numbered(step_end):
    """The number of the segment of every token of a response: the number of ends before it. Masked tokens end segments too."""
    return [sum(map(bool, step_end[:t])) for t in range(len(step_end))]


def whole(tokens):
    return [range(len(tokens))]


def apart(tokens):
    """The indices of these tokens, segment by segment; segments without any of them are left out."""
    found = {}
    for place, token in enumerate(tokens):
        found.setdefault(token.segment, []).append(place)
    return list(found.values())


PARTS = {"segment_sum": apart, "segment_mean": apart, "segment_max": apart}


def pooled(table, unit, tokens, xs):
    """table[unit] of the numbers of each segment if the unit is a segment, else of those of the response; in the order of tokens."""
    result = [None] * len(xs)
    for places in PARTS.get(unit, whole)(tokens):
        for place, y in zip(places, table[unit]([xs[p] for p in places])):
            result[place] = y
    return result
