"""Surrogates of a whole group: a function of one score per response, split into F_i; S_it = F_i at every active token of i.

y: the scores (the unit log-ratios) of the group's active responses, a: their advantages.
"""
from mpmath import mpf

from autodiff import added, largest_place, linear, log_sum_exp, nonlinear, sg, size, sized, square, summed, value
from limits import NEAR, ONE, ZERO, exp, is_infinite, less, limit, near_misses, settle, sign, sqrt


def score(ys):
    """One number for a response, from y of its active tokens. Where `gradient` is `token`, every token's own y is in it."""
    if all(y is ys[0] for y in ys):
        return ys[0]
    return sg(ys[0]) + linear([(y - sg(y), ONE) for y in ys])


def farthest(ys):
    """max abs(y); an infinite y is exact: nothing of it is rounded"""
    return max((abs(limit(value(y))) for y in ys if not is_infinite(value(y))), default=ZERO)


def variance(s, y, a, z):
    # GVPO (2504.19599): the squared distance of centred scores from advantages, over G - 1
    n, k = len(y), mpf(s["strength"])
    if n == 1:
        return [ZERO]
    mean = summed(y) * (ONE / n)
    return [square(summed([k * y_i, -k * mean, -a_i])) * (ONE / (2 * (n - 1))) for y_i, a_i in zip(y, a)]


def labelled(y, toward, tau, stretch):
    """log(1 + sum_j e^(toward y_j / tau))/n for each of the n scores y."""
    if not y:
        return None
    return nonlinear(lambda xs: log_sum_exp([ZERO] + [x * toward / tau for x in xs]), y, stretch / tau) * (ONE / len(y))


def labels(s, y, a, z):
    # REAL (2602.05630): rewards as labels, the good ones' scores above 0 and the others' below; a group of one label is dropped
    good = [sign(a_i) > 0 for a_i in a]
    if all(good) or not any(good):
        return [ZERO] * len(y)
    stretch = farthest(y)
    up = labelled([y_i for y_i, g in zip(y, good) if g], -ONE, mpf(s["tau_pos"]), stretch)
    down = labelled([y_i for y_i, g in zip(y, good) if not g], ONE, mpf(s["tau_neg"]), stretch)
    return [up if g else down for g in good]


def balance(s, y, a, z):
    # FlowRL (2509.15207): the residual of flow balance, log Z + y - beta r
    k = mpf(s["strength"])
    return [square(summed([z, y_i, -k * a_i])) for y_i, a_i in zip(y, a)]


def better(better_by, i, j):
    return less(j + better_by, i)


def pair(k, winner, loser, stretch):
    """log(1 + e^(-k (winner - loser)))"""
    return nonlinear(lambda xs: log_sum_exp([ZERO, (xs[0] - xs[1]) * -k]), [winner, loser], stretch)


def pairs(s, y, a, z):
    k, margin = mpf(s["strength"]), mpf(s["margin"])
    stretch = abs(k) * farthest(y)
    won = [[pair(k, y_i, y_j, stretch) for y_j, a_j in zip(y, a) if better(margin, a_i, a_j)] for y_i, a_i in zip(y, a)]
    P = sum(map(len, won))
    return [summed(found) * (ONE / P) if found else ZERO for found in won]


def softmax(xs):
    top = xs[largest_place(xs)]
    shares = [limit(exp(x - top)) for x in xs]
    return [x / sum(shares, ZERO) for x in shares]


def cross_entropy(q, k, y, i, stretch):
    """-q log softmax(k y)_i = q log sum_j e^(k (y_j - y_i))"""
    def by_differences(xs):
        return log_sum_exp([ZERO if j == i else (x - xs[i]) * k for j, x in enumerate(xs)]) * q

    def apart(xs):
        return (log_sum_exp([x * k for x in xs]) - xs[i] * k) * q
    return nonlinear(by_differences, y, stretch, apart)


def contrast(s, y, a, z):
    if len(y) == 1:
        return [ZERO]
    k = mpf(s["strength"])
    wanted = softmax([a_i / mpf(s["tau_pos"]) for a_i in a])
    return [cross_entropy(q, k, y, i, abs(k) * farthest(y)) for i, q in enumerate(wanted)]


def spread(y):
    """The sample deviation of the scores; exactly 0 where these are one number."""
    v = [value(y_i) for y_i in y]
    mean = sum(v, ZERO) / len(v)
    squares = settle(sum(((x - mean) * (x - mean) for x in v), ZERO), sum((x * x for x in v), ZERO))
    return sqrt(squares / (len(v) - 1))


def standardised(s, y, a, z):
    # GIFT (2510.23868): the distance of standardised scores from standardised rewards; their mean and deviation are numbers
    k, n = mpf(s["strength"]), len(y)
    mean, size = sg(sum(map(value, y), ZERO) / n), sum((abs(value(y_i)) for y_i in y), ZERO) / n
    divisor = ONE if n == 1 else sg(spread(y)) + mpf(s["score_eps"])
    if divisor == 0:
        return [a_i * a_i for a_i in a]
    scaled = [sized((y_i - mean) / divisor, (abs(value(y_i)) + size) / divisor) for y_i in y]
    return [square(added(a_i, -k * z_i)) for a_i, z_i in zip(a, scaled)]


def target(s, y, a, z):
    # TPO (2604.06159): cross-entropy to the old policy's shares, times e^(A/tau); z: the old scores
    if len(y) == 1:
        return [ZERO]
    k = mpf(s["strength"])
    wanted = softmax([k * o_i + a_i / mpf(s["tau_pos"]) for o_i, a_i in zip(z, a)])
    moved = abs(k) * farthest(z)
    parts = [cross_entropy(q, k, y, i, abs(k) * farthest(y) + moved) for i, q in enumerate(wanted)]
    return [sized(F, size(F) + (ZERO if is_infinite(F.value) else abs(F.value) * moved)) if sign(q) else ZERO
            for F, q in zip(parts, wanted)]


def hinge_of(shift, k, winner, loser):
    """max(0, shift - k (winner - loser))"""
    x = linear([(shift, ONE), (winner, -k), (loser, k)])
    parts = [value(y) for y in (winner, loser) if not is_infinite(value(y))]
    size = abs(shift) + abs(k) * sum(map(abs, parts), ZERO)
    rest = settle(value(x), size)
    if not is_infinite(rest) and 0 != abs(rest) < NEAR * size:
        near_misses.append((rest, ZERO))
    if sign(rest) <= 0:
        return sized(ZERO, size)
    return sized(x, size + (abs(value(x)) if is_infinite(value(x)) else 0))


def hinge(s, y, a, z):
    # CLICK (2306.03350): the better response's log-probability ahead of the worse one's by shift/k
    shift, k, margin = mpf(s["shift"]), mpf(s["strength"]), mpf(s["margin"])
    won = [[hinge_of(shift, k, y_i, y_j) for y_j, a_j in zip(y, a) if better(margin, a_i, a_j)] for y_i, a_i in zip(y, a)]
    P = sum(map(len, won))
    return [summed(found) * (ONE / P) if found else ZERO for found in won]


KIND = {"variance": variance, "labels": labels, "balance": balance, "pairs": pairs, "contrast": contrast,
        "standardised": standardised, "target": target, "hinge": hinge}


def old_score(unit, tokens):
    total = sum((t.o for t in tokens), ZERO)
    return total / len(tokens) if unit == "sequence_mean" else total


def values(choice, responses, log_z, unit=None):
    """{sequence: F_i}; responses: (sequence, its active tokens, their y) of all that are active. Nothing for other kinds."""
    if choice["kind"] not in KIND:
        return {}
    found = {}
    for g in sorted({sequence.group for sequence, _, _ in responses}):
        members = [r for r in responses if r[0].group == g]
        y = [score(ys) for _, _, ys in members]
        a = [tokens[0].advantage for _, tokens, _ in members]
        z = log_z[g] if choice["kind"] == "balance" else None
        if choice["kind"] == "target":
            z = [old_score(unit, tokens) for _, tokens, _ in members]
        found.update(zip((sequence for sequence, _, _ in members), KIND[choice["kind"]](choice, y, a, z)))
    return found
