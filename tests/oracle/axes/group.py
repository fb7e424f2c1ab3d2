"""Surrogates of a whole group: a function of one score per response, split into F_i; S_it = F_i at every active token of i.

y: the scores s of the group's active responses (their unit log-ratios, or ratios), a: their advantages.
"""

import reals
from autodiff import Var, added, exp, largest_place, linear, log_sum_exp, nonlinear, sg, size, sized, softplus, square, summed, value
from axes.choice import ABOVE_0, AT_LEAST_0, Table, one_of, only
from limits import Growth, K, NEAR, ONE, ZERO, Undefined, fastest, grows, is_infinite, less, limit, log, near_misses, settle, sign, sqrt
from reals import mpf

OF_RESPONSE = ("sequence_mean", "sequence_sum", "sequence_clipped_mean", "sequence_mean_ratio", "sequence_power_mean")
KIND = Table("surrogate", "kind", beside={"ratio.level": one_of(*OF_RESPONSE), "ratio.interpolate": only("none")})


def score(ys):
    """The score of a response, from the y of its active tokens. With `gradient` = `token` every token's own y is differentiated."""
    if all(y is ys[0] for y in ys):
        return ys[0]
    return sized(sg(ys[0]) + linear([(y - sg(y), ONE) for y in ys]), size(ys[0]))


def of_one_k(y):
    """An infinite score is K or -K, whatever its finite part and however many of its tokens are infinite."""
    if not isinstance(value(y), Growth):
        return y
    one = K * sign(value(y))
    return Var(one, y.parents, size(y)) if isinstance(y, Var) else one


def ratio(y):
    """e^y; an absolute error of y is a relative error of it"""
    w, moved = exp(y), 1 + (ZERO if is_infinite(value(y)) else size(y))
    w = value(w)
    return Var(w, [(y, w, w * moved)] if isinstance(y, Var) else [], w * moved)


SCORE = {"log": lambda y: y, "ratio": ratio}


def farthest(ys):
    """max size(y); an infinite y has no rounding error"""
    return max((limit(size(y)) for y in ys if not is_infinite(value(y))), default=ZERO)


@KIND.choice()
def variance(s, y, a, z, lengths):
    # GVPO (2504.19599): the squared distance of centred scores from advantages, over G - 1
    n, k = len(y), mpf(s["beta"])
    if n == 1:
        return [ZERO]
    mean = summed(y) * (ONE / n)
    return [square(summed([k * y_i, -k * mean, -a_i])) * (ONE / (2 * (n - 1))) for y_i, a_i in zip(y, a)]


def labelled(y, toward, tau, stretch):
    """log(1 + sum_j e^(toward y_j / tau))/n for each of the n scores y."""
    if not y:
        return None
    return nonlinear(lambda xs: log_sum_exp([ZERO] + [x * toward / tau for x in xs]), y, stretch / tau) * (ONE / len(y))


@KIND.choice(beside={"tau_pos": ABOVE_0, "tau_neg": ABOVE_0})
def logistic_lse(s, y, a, z, lengths):
    # REAL (2602.05630): a logistic loss with the sign of A as label; a group with one label is dropped
    good = [sign(a_i) > 0 for a_i in a]
    if all(good) or not any(good):
        return [ZERO] * len(y)
    stretch = farthest(y)
    up = labelled([y_i for y_i, g in zip(y, good) if g], -ONE, mpf(s["tau_pos"]), stretch)
    down = labelled([y_i for y_i, g in zip(y, good) if not g], ONE, mpf(s["tau_neg"]), stretch)
    return [up if g else down for g in good]


@KIND.choice(reads=("log_partition",))
def trajectory_balance(s, y, a, z, lengths):
    # FlowRL (2509.15207): the residual of flow balance, log Z + y - beta r
    k = mpf(s["reward_beta"])
    return [square(summed([z, y_i, -k * a_i])) for y_i, a_i in zip(y, a)]


def better(better_by, i, j):
    return less(j + better_by, i)


def pair(k, winner, loser, stretch):
    """log(1 + e^(-k (winner - loser)))"""
    return nonlinear(lambda xs: log_sum_exp([ZERO, (xs[0] - xs[1]) * -k]), [winner, loser], stretch)


@KIND.choice(beside={"min_gap": AT_LEAST_0})
def pairwise_logistic(s, y, a, z, lengths):
    k, margin = mpf(s["beta"]), mpf(s["min_gap"])
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


@KIND.choice(beside={"advantage_temperature": ABOVE_0})
def softmax_cross_entropy(s, y, a, z, lengths):
    if len(y) == 1:
        return [ZERO]
    k = mpf(s["beta"])
    wanted = softmax([a_i / mpf(s["advantage_temperature"]) for a_i in a])
    return [cross_entropy(q, k, y, i, abs(k) * farthest(y)) for i, q in enumerate(wanted)]


def sides(a):
    """The indices of the positive responses and of the negative ones; two empty lists where one side is empty."""
    good = [i for i, a_i in enumerate(a) if sign(a_i) > 0]
    others = [i for i, a_i in enumerate(a) if not sign(a_i) > 0]
    return (good, others) if good and others else ([], [])


def shares(s, lengths, good):
    """{i: v_i}; DRPO (2510.04474): short positive responses have larger weights, v ~ e^(-rate T)"""
    return dict(zip(good, softmax([-mpf(s["length_decay"]) * lengths[i] for i in good]) if good else []))


@KIND.choice()
def discriminative_mean(s, y, a, z, lengths):
    # DisCO-b (2505.12366): the mean score of positive responses, minus that of negative ones
    good, others = sides(a)
    v = shares(s, lengths, good)
    slopes = [-v[i] if i in v else ONE / len(others) if others else ZERO for i in range(len(y))]
    return [nonlinear(lambda xs, c=c: xs[0] * c, [y_i], ZERO, plus=abs(c) * size(y_i)) if c else ZERO for y_i, c in zip(y, slopes)]


def soft_maximum(tau, xs):
    """tau log mean e^(x / tau)"""
    return (log_sum_exp([x / tau for x in xs]) - reals.log(len(xs))) * tau


def above(v, tau, y, rivals, stretch):
    """-v (y - the soft maximum of the rivals)"""
    plus = v * (size(y) + tau * reals.log(len(rivals)) + farthest(rivals))
    return nonlinear(lambda xs: (xs[0] - soft_maximum(tau, xs[1:])) * -v, [y, *rivals], stretch, plus=plus)


@KIND.choice(beside={"tau_neg": ABOVE_0})
def discriminative_lse(s, y, a, z, lengths):
    # DisCO (2505.12366), DRPO (2510.04474): positive scores against a soft maximum of the negative ones
    good, others = sides(a)
    v, tau = shares(s, lengths, good), mpf(s["tau_neg"])
    return [above(v[i], tau, y_i, [y[j] for j in others], farthest(y) / tau) if i in v else ZERO for i, y_i in enumerate(y)]


def preferred(k, p, y, rival, share, stretch):
    """share (log(1 + e^D) - p D), D = k (y - rival): the cross-entropy between a preference p and sigmoid(D)"""
    D = k * (value(y) - value(rival))
    plus = None if is_infinite(D) else share * (value(softplus(D)) + p * abs(D))

    def formula(xs):
        d = (xs[0] - xs[1]) * k
        return (softplus(d) - d * p) * share
    return nonlinear(formula, [y, rival], stretch, plus=plus)


@KIND.choice(beside={"advantage_temperature": ABOVE_0})
def pairwise_soft(s, y, a, z, lengths):
    # DNO (2404.03715) algorithm 1: sigmoid(eta (log-ratio - log-ratio')) towards sigmoid(r - r')
    G, k, tau = len(y), mpf(s["beta"]), mpf(s["advantage_temperature"])
    stretch = abs(k) * farthest(y)

    def with_all(i):
        p = [ONE / (1 + reals.exp((a_j - a[i]) / tau)) for a_j in a]
        return summed([preferred(k, p[j], y[i], y[j], ONE / (G * (G - 1)), stretch) for j in range(G) if j != i])
    return [with_all(i) for i in range(G)] if G > 1 else [ZERO]


def share_of(k, xs, i):
    """softmax(k x)_i"""
    return exp(-log_sum_exp([ZERO if j == i else (x - xs[i]) * k for j, x in enumerate(xs)]))


def share_apart(k, xs, i):
    """The same, written so that its derivative has a summand for x_i and one for every x_j"""
    return exp(xs[i] * k - log_sum_exp([x * k for x in xs]))


def matched(s, y, a, distance, parted, plus):
    """distance(p_i, softmax(k y)_i), p = softmax(A / tau); parted: with the summands of its derivative; plus: with plus for minus"""
    k, G = mpf(s["beta"]), len(y)
    wanted = softmax([a_i / mpf(s["advantage_temperature"]) for a_i in a])
    stretch = abs(k) * farthest(y)
    u = [value(share_of(k, [value(y_j) for y_j in y], i)) for i in range(G)]
    return [nonlinear(lambda xs, p=p, i=i: distance(p, share_of(k, xs, i)), y, stretch,
                      lambda xs, p=p, i=i: parted(p, share_apart(k, xs, i)), plus(p, u[i]))
            for i, p in enumerate(wanted)] if G > 1 else [ZERO]


@KIND.choice(beside={"advantage_temperature": ABOVE_0})
def softmax_mse(s, y, a, z, lengths):
    # DMPO (2605.19461), code: the softmax of the scores is to match the softmax of the advantages
    return matched(s, y, a, lambda p, u: square(sized(u - p, abs(value(u) - p))), lambda p, u: square(added(u, -p)),
                   lambda p, u: (p - u) * (p - u) + 2 * abs(p - u) * (p + u))


def log_of_share(x, q):
    """log(x/q), 0 where the two differ by rounding alone"""
    return log(x / q) if sign(settle(limit(x) - q, q)) else ZERO


def divergence(p, u):
    """p log(p/q) and u log(u/q), q = (p + u)/2, as numbers"""
    q = limit(p + u) / 2
    return p * log_of_share(p, q), u * log_of_share(u, q)


def half_divergence(p, u):
    """A response's term of the Jensen-Shannon divergence; its derivative log(u/q)/2 has an error of p/(p + u)/2 from that of u"""
    q = limit(p + u.value) / 2
    slope = log_of_share(u.value, q) / 2
    return Var(sum(divergence(p, u.value)) / 2, [(u, slope, abs(slope) + p / (4 * q))])


@KIND.choice(beside={"advantage_temperature": ABOVE_0})
def softmax_js(s, y, a, z, lengths):
    return matched(s, y, a, half_divergence, half_divergence, lambda p, u: sum(map(abs, divergence(p, u))) / 2)


def spread(y):
    """The sample deviation of the scores; exactly 0 where they are equal."""
    v = [value(y_i) for y_i in y]
    mean = sum(v, ZERO) / len(v)
    squares = settle(sum(((x - mean) * (x - mean) for x in v), ZERO), sum((x * x for x in v), ZERO))
    return sqrt(squares / (len(v) - 1))


def apart(y):
    """Is the difference of two scores infinite?"""
    return any(grows(value(y_i) - value(y[0])) for y_i in y)


def beside_infinite(s, y, a):
    """(A_i - k z_i)^2 for K -> infinity: finite scores and the epsilon are negligible beside K, and derivatives, divided by K, are 0"""
    if s["group_score"] == "ratio":
        raise Undefined("the slope of an infinite ratio, which is infinite, over an infinite deviation")
    k = mpf(s["beta"])
    c = fastest([value(y_i) * len(y) - sum(map(value, y), ZERO) for y_i in y])
    deviation = sqrt(sum((x * x for x in c), ZERO) / (len(y) - 1))
    return [square(sized(a_i - k * c_i / deviation, abs(a_i) + abs(k * c_i) / deviation)) for a_i, c_i in zip(a, c)]


@KIND.choice(beside={"group_score_eps": AT_LEAST_0})
def standardised(s, y, a, z, lengths):
    # GIFT (2510.23868): squared difference of standardised rewards and standardised scores, whose mean and deviation are detached
    k, n = mpf(s["beta"]), len(y)
    mean, size = sg(sum(map(value, y), ZERO) / n), sum((abs(value(y_i)) for y_i in y), ZERO) / n
    if n > 1 and apart(y):
        return beside_infinite(s, y, a)
    divisor = ONE if n == 1 else sg(spread(y)) + mpf(s["group_score_eps"])
    if divisor == 0:
        return [a_i * a_i for a_i in a]
    scaled = [sized((y_i - mean) / divisor, (abs(value(y_i)) + size) / divisor) for y_i in y]
    return [square(added(a_i, -k * z_i)) for a_i, z_i in zip(a, scaled)]


def regressed(k, D, bend, y, c, C, i, a_i):
    """(A_i - k c_i/D)^2, c_i = y_i - mean; both c_i and D depend on every score. bend: 1/(D^2 (n - 1) s), C: the sizes of c"""
    n, rest, size = len(y), a_i - k * c[i] / D, abs(a_i) + abs(k) * C[i] / D
    own = [ONE if j == i else ZERO for j in range(n)]
    slopes = [-2 * k * rest * ((x - ONE / n) / D - c[i] * c[j] * bend) for j, x in enumerate(own)]
    sizes = [2 * abs(k) * size * ((x + ONE / n) / D + C[i] * C[j] * bend) for j, x in enumerate(own)]
    return Var(rest * rest, [p for p in zip(y, slopes, sizes) if isinstance(p[0], Var)], size * size)


@KIND.choice(beside={"group_score_eps": AT_LEAST_0})
def regression(s, y, a, z, lengths):
    # Reg-GRPO (2506.07464) eqs. 8-9: as GIFT, but mean and deviation of the scores are differentiated too
    k, n, v = mpf(s["beta"]), len(y), [value(y_i) for y_i in y]
    if n > 1 and apart(y):
        return beside_infinite(s, y, a)
    deviation = spread(y) if n > 1 else ZERO
    D = deviation + mpf(s["group_score_eps"])
    if n == 1 or D == 0:
        return [a_i * a_i for a_i in a]
    mean, level = sum(v, ZERO) / n, sum(map(size, y), ZERO) / n
    c = [x - mean if deviation else ZERO for x in v]
    bend = ONE / (D * D * (n - 1) * deviation) if deviation else ZERO
    return [regressed(k, D, bend, y, c, [size(y_i) + level for y_i in y], i, a_i) for i, a_i in enumerate(a)]


@KIND.choice(reads=("logp_old",), beside={"advantage_temperature": ABOVE_0, "ratio.behaviour": only("none"),
                                          "ratio.level": one_of("sequence_mean", "sequence_sum")})
def tilted_cross_entropy(s, y, a, z, lengths):
    # TPO (2604.06159): cross-entropy with the target softmax(k z + A/tau); z: scores of the old policy
    if len(y) == 1:
        return [ZERO]
    k = mpf(s["beta"])
    wanted = softmax([k * o_i + a_i / mpf(s["advantage_temperature"]) for o_i, a_i in zip(z, a)])
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


@KIND.choice(beside={"min_gap": AT_LEAST_0})
def pairwise_hinge(s, y, a, z, lengths):
    # CLICK (2306.03350): the better response's score is to exceed the worse one's by shift/k
    shift, k, margin = mpf(s["hinge_margin"]), mpf(s["beta"]), mpf(s["min_gap"])
    won = [[hinge_of(shift, k, y_i, y_j) for y_j, a_j in zip(y, a) if better(margin, a_i, a_j)] for y_i, a_i in zip(y, a)]
    P = sum(map(len, won))
    return [summed(found) * (ONE / P) if found else ZERO for found in won]


def ahead(share, tau, margin, y, rivals, stretch):
    """share tau log(1 + sum_j e^((rival_j - y + margin)/tau))"""
    def formula(xs):
        return log_sum_exp([ZERO] + [(x - xs[0] + margin) / tau for x in xs[1:]]) * (share * tau)
    gaps = [(value(x) - value(y) + margin) / tau for x in rivals]
    above = log_sum_exp([ZERO] + gaps)
    moved = abs(margin) * (1 - exp(-above.value)) if not is_infinite(above.value) else ZERO
    return nonlinear(formula, [y, *rivals], stretch, plus=share * (tau * above.value + moved))


@KIND.choice(beside={"contrast_temperature": ABOVE_0})
def contrastive(s, y, a, z, lengths):
    # ConSPO (2605.12969) eqs. 8 and 13: every positive score, less a margin, against the negative ones
    good, others = sides(a)
    tau, margin = mpf(s["contrast_temperature"]), mpf(s["contrast_margin"])
    stretch = (farthest(y) + abs(margin)) / tau
    return [ahead(ONE / len(good), tau, margin, y_i, [y[j] for j in others], stretch) if i in good else ZERO for i, y_i in enumerate(y)]


def old_score(unit, tokens):
    total = sum((t.o for t in tokens), ZERO)
    return total / len(tokens) if unit == "sequence_mean" else total


def values(choice, responses, log_partition, unit=None):
    """{sequence: F_i}; responses: (sequence, its active tokens, their y) of all active ones. {} for other kinds of surrogate."""
    if choice["kind"] not in KIND:
        return {}
    found = {}
    for g in sorted({sequence.group for sequence, _, _ in responses}):
        members = [r for r in responses if r[0].group == g]
        y = [SCORE[choice["group_score"]](of_one_k(score(ys))) for _, _, ys in members]
        a = [tokens[0].advantage for _, tokens, _ in members]
        z = log_partition[g] if choice["kind"] == "trajectory_balance" else None
        lengths = [len(tokens) for _, tokens, _ in members]
        if choice["kind"] == "tilted_cross_entropy":
            z = [old_score(unit, tokens) for _, tokens, _ in members]
        found.update(zip((sequence for sequence, _, _ in members), KIND[choice["kind"]](choice, y, a, z, lengths)))
    return found
