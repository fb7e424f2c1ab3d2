"""Prefix trees (TEMPO, 2509.18314, as its official code): the change of the mean reward of the responses with the same prefix."""
from axes.sized import NOTHING, all_same, mean


def agreeing(item, group):
    """[(token, items that agree with the item before the token, items that agree up to and including it)] over unmasked tokens. A response
    does not agree with any other from its first masked token on."""
    before, result = list(group), []
    by_place = {i: {t.t: t.token_id for t in i.sequence.unmasked} for i in group}
    own = by_place[item]
    for t in range(item.sequence.length):
        if t in own:
            after = [i for i in before if i is item or t in by_place[i] and by_place[i][t] == own[t]]
        else:
            after = [item]
        if t in own:
            result.append((t, before, after))
        before = after
    return result


def moved(before, after, sigma):
    """(V(after) - V(before))/sigma; 0 where the two sets are equal"""
    if len(before) == len(after):
        return NOTHING
    return (mean([i.worth for i in after]) - mean([i.worth for i in before])).times(1 / sigma)


def prefix_tree(group, a, divisor):
    """{token: A} of the items of one prompt; a: of outcomes; divisor(item): sigma, None where a = 0"""
    flat = all_same([i.worth.value for i in group])
    result = {}
    for item in group:
        sigma = None if flat else divisor(item)
        steps = {t: NOTHING if sigma is None else moved(before, after, sigma) for t, before, after in agreeing(item, group)}
        result.update({t: a[item] + steps[t.t] for t in item.sequence.unmasked})
    return result
