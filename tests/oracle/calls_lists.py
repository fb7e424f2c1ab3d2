"""Functions beside the objective that read lists alone: divergences, rewards of hints and predictions, steps, trees, Gram matrices.

As in calls.py and calls_rewards.py; those that read a batch are in calls_groups.py.
"""
from fractions import Fraction
from math import floor

import mpmath

import limits
from call_tools import NOTHING, Number, less, mean, real, summed
from calls_rewards import BASES, HALF, itself
from limits import ONE, ZERO, settle

BANNED = "-Infinity"


def exp(x):
    return mpmath.exp(real(x))


def sigmoid(x):
    return 1 / (1 + exp(-x))


def absolute(xs):
    return [abs(x) for x in xs]


# ---- distributions

def softmax(z, tau):
    """Probabilities of logits, 0 of banned ones, and the spread of the exponents."""
    finite = [x / tau for x in z if x != BANNED]
    e = [ZERO if x == BANNED else exp(x / tau - max(finite)) for x in z]
    return [x / sum(e) for x in e], max(finite) - min(finite)


def log_quotient(x, y):
    """log(x/y) of a probability above 0; what is equal is exactly 0."""
    if not y:
        return mpmath.inf
    return mpmath.log(x / y) if settle(x - y, x) else ZERO


def kl_terms(x, y):
    return [a * log_quotient(a, b) if a else ZERO for a, b in zip(x, y)]


def value_terms(p, q, beta):
    """OPSD (2601.18734): beta KL(q, M) + (1 - beta) KL(p, M), as GKD; the ends are KL(q, p) and KL(p, q)."""
    if beta in (0, 1):
        return kl_terms(p, q) if beta else kl_terms(q, p)
    b = real(beta)
    M = [(1 - b) * x + b * y for x, y in zip(p, q)]
    return [b * x for x in kl_terms(q, M)] + [(1 - b) * x for x in kl_terms(p, M)]


def slope_times_p(p, q, beta):
    """p_v g_v, g the derivative by p, but for what is the same for every v."""
    if beta == 0:
        return [-y if x else ZERO for x, y in zip(p, q)]
    b = real(beta)
    return [(x * log_quotient(x, (1 - b) * x + b * y) * (1 if beta == 1 else 1 - b)) if x else ZERO for x, y in zip(p, q)]


def divergence(student, teacher, temperature, beta):
    (p, wide), (q, far) = softmax(student, temperature), softmax(teacher, temperature)
    factor = 1 + real(min(wide + far, Fraction(60)))
    terms = value_terms(p, q, beta)
    if mpmath.inf in terms:
        return {"value": Number(mpmath.inf, ZERO)}
    value = Number(sum(terms), sum(absolute(terms)) * factor)
    g = slope_times_p(p, q, beta)
    sharp, size = 1 / real(temperature), factor / real(temperature)
    pushed = [Number((y - x * sum(g)) * sharp, (abs(y) + x * sum(absolute(g))) * size) for x, y in zip(p, g)]
    return {"value": value, "dstudent": pushed}


def log_sum_exp(xs):
    return real(max(xs)) + mpmath.log(sum(exp(x - max(xs)) for x in xs))


def set_gap(student, teacher, target):
    """VISD (2605.06094): teacher against student at a token, both normalised over the same set."""
    t = int(target)
    return {"gap": summed((real(teacher[t]), -log_sum_exp(teacher), -real(student[t]), log_sum_exp(student)))}


# ---- rewards of hints and of predictions

def hint_reward(reward, gap, temperature, form, gate):
    """HILL (2604.00698): a hint is worth the spread that it makes, less where right answers lean on it."""
    n, right = len(reward), [i for i, r in enumerate(reward) if less(HALF, r)]
    p = Fraction(len(right), n)
    if gate:
        return {"reward": Number(Fraction(-1, 5), Fraction(1, 5))}
    if p in (0, 1):
        return {"reward": NOTHING}
    worth = real(BASES[form](p, n)) * exp(min(mean([gap[i] for i in right]), 0) / temperature)
    return {"reward": Number(worth, worth * real(1 + mean([abs(gap[i]) for i in right]) / temperature))}


def meta_reward(correct, length, net, passes, predicted_length):
    """MASA (2510.03259): how well a group's notions, difficulty and lengths were foretold."""
    notion = Fraction(sum(x > 0 for x in net), len(net)) if net else Fraction(0)
    off = abs(Fraction(sum(correct), len(correct)) - passes / 8)
    near = mpmath.power(real(Fraction(1, 100)), real(off)) if passes >= 0 else ZERO
    right = [T for T, c in zip(length, correct) if c]
    inside = predicted_length >= 0 and bool(right) and min(right) < predicted_length < max(right)
    total = (real(notion) + near + inside) / 3
    return {"reward": Number(total, 6 * total)}


def future_success(reward):
    """StepCodeReasoner (2605.11922, Eq. 11): a step's reward, more where the later steps succeed."""
    def worth(i, r):
        later = reward[i + 1:]
        ahead = [mean(x) if x else Fraction(0) for x in (later, absolute(later))]
        return Number(r * (1 + ahead[0]), abs(r) * (1 + ahead[1]))
    return {"advantage": [worth(i, r) for i, r in enumerate(reward)]}


def held(W, clip, sign):
    if clip and less(clip, abs(W.value)):
        W = Number(clip if W.value > 0 else -clip, clip)
    return Number(Fraction((W.value > 0) - (W.value < 0)), Fraction(1)) if sign else W


def coplayer_credit(own, other, gamma, weight_gamma, beta, inclusive, sign, per_step, discount, clip):
    """ADALIGN (2511.19405), official code: the other's advantage counts as far as one's own has been good."""
    def credit(t):
        W = summed([weight_gamma ** (t - k + 1) * own[k] for k in range(t + inclusive)])
        by = t + 1 if per_step else 1
        W = held(Number(Fraction(W.value, by), Fraction(W.size, by)), clip, sign)
        later = gamma ** t if discount else 1
        return Number((own[t] + beta * W.value * other[t]) * later, (abs(own[t]) + abs(beta * other[t]) * W.size) * later)
    return {"credit": [credit(t) for t in range(len(own))]}


def pairwise_wins(wins):
    """PREF-GRPO (2508.20751): the share of comparisons that a response wins."""
    others = max(len(wins) - 1, 1)
    return {"reward": itself(Fraction(sum(x for j, x in enumerate(row) if j != i), others) for i, row in enumerate(wins))}


def entropy_rank_reward(peak, overall, top):
    """R3 (2601.19620): ranked by how many others have lower peaks and more entropy in all."""
    n = len(peak)
    beaten = [sum(less(peak[j], peak[i]) and less(overall[i], overall[j]) for j in range(n)) for i in range(n)]
    order = sorted(range(n), key=lambda i: (-beaten[i], i))
    return {"reward": [Number(top * (1 - Fraction(order.index(i), max(n - 1, 1))), abs(top)) for i in range(n)]}


def spread(xs, divisor):
    """Standard deviation, and the same with plus for minus."""
    sizes = [(abs(x) + mean(absolute(xs))) ** 2 for x in xs]
    return [mpmath.sqrt(real(sum(squares) / divisor)) for squares in ([(x - mean(xs)) ** 2 for x in xs], sizes)]


def interval_reward(begin, end, gamma, sample):
    """URPA (2508.06317): the overlap with the mean interval, less where the intervals differ."""
    n = len(begin)
    spreads = [spread(xs, n - 1 if sample else n) for xs in (begin, end)]
    doubt, size = (real(gamma) * sum(x) for x in zip(*spreads))

    def worth(b, e):
        ends = [b, e, mean(begin), mean(end)]
        union = max(e, ends[3]) - min(b, ends[2])
        overlap = max(Fraction(0), min(e, ends[3]) - max(b, ends[2])) / union
        trust = mpmath.exp(-doubt)
        return Number(real(overlap) * trust, real(overlap) * trust * (1 + size) + real(sum(absolute(ends)) / union) * trust)
    return {"reward": [worth(*x) for x in zip(begin, end)]}


# ---- steps and trees

def information_gain(logp, form):
    """IGPO (2510.14967): what a turn adds to the answer's mean log-probability, or to its probability."""
    x = logp if form == "log" else [exp(y) for y in logp]
    return {"gain": [summed((after, -before)) for before, after in zip(x, x[1:])]}


def dense_rewards(reward, score, total):
    """MT-GUIDE: what the turns earned, divided by how many earned, or could have."""
    divisor = max(Fraction(1), Fraction(sum(r > 0 for r in reward)) if score > 0 else total)
    return {"reward": itself(r / divisor for r in reward)}


def leaves_below(node, children, logp, alpha):
    """{leaf: (weight, spreads on its way up)}; alpha None: each leaf weighs the same."""
    if not children[node]:
        return {node: (ONE, Fraction(0))}
    below = [leaves_below(c, children, logp, alpha) for c in children[node]]
    if alpha is None:
        leaves = [leaf for part in below for leaf in part]
        return {leaf: (Fraction(1, len(leaves)), Fraction(0)) for leaf in leaves}
    share, wide = softmax([alpha * logp[c] for c in children[node]], 1)
    return {leaf: (w * x, far + wide) for w, part in zip(share, below) for leaf, (x, far) in part.items()}


def branch_advantage(parent, reward, logp, form, alpha):
    """BRANCHGRPO (2509.06040), official code: nodes against those of the same depth."""
    n = len(parent)
    children = [[c for c in range(n) if parent[c] == i] for i in range(n)]
    depth = []
    for above in parent:
        depth.append(depth[int(above)] + 1 if above >= 0 else 0)

    def worth(node):
        below = leaves_below(node, children, logp, alpha if form == "probability" else None)
        terms = [(real(w) * real(reward[leaf]), real(1 + far)) for leaf, (w, far) in below.items()]
        return Number(sum(x for x, _ in terms), sum(abs(x) * by for x, by in terms))
    R = [worth(i) for i in range(n)]

    def advantage(i):
        level = [R[j] for j in range(n) if depth[j] == depth[i]]
        centre, size = (sum(x) / len(level) for x in zip(*level))
        if len(level) == 1:
            return NOTHING
        away = [settle(x.value - centre, x.size + size) for x in level]
        s = mpmath.sqrt(sum(x * x for x in away) / (len(level) - 1))
        if limits.less(s, real(Fraction(1, 10 ** 6))):
            return NOTHING
        s += real(Fraction(1, 10 ** 8))
        return Number((R[i].value - centre) / s, (R[i].size + size) / s)
    return {"advantage": [advantage(i) for i in range(n)]}


# ---- what is sampled

def cluster_probability(rate, probability, success, alpha):
    """ADS (2606.22305), official code: clusters by how often they succeed, slowly."""
    now = [s if s >= 0 else r for r, s in zip(rate, success)]
    wanted = [r / sum(now) if any(now) else Fraction(1, len(now)) for r in now]
    mixed = [(1 - alpha) * p + alpha * w for p, w in zip(probability, wanted)]
    return {"rate": itself(now), "probability": itself(p / sum(mixed) for p in mixed)}


def explore_weight(value, least):
    """SPO (2509.13232): prompts by the deviation of their success, and a little for all."""
    return {"weight": itself(mpmath.sqrt(real(v * (1 - v))) + real(least) for v in value)}


def hint_level(level, success, low, high, **most):
    """SAGE (2602.03143): more of a hint where a prompt fails, less where it succeeds."""
    def moved(k, s):
        if less(s, low):
            return min(k + 1, most["max"])
        return max(k - 1, 0) if less(high, s) else k
    return {"level": [int(moved(k, s)) for k, s in zip(level, success)]}


# ---- Gram matrices

def gram_rank(gram, advantage, share, least, most):
    """SALT (2606.05800), official code: the participation ratio of the gradients, and how much their sum cancels."""
    n = len(gram)
    trace, squares = sum(gram[i][i] for i in range(n)), sum(x * x for row in gram for x in row)
    wanted = share * trace ** 2 / (squares + Fraction(n * n, 10 ** 10))
    if abs(wanted - floor(wanted) - HALF) < Fraction(1, 10 ** 6):
        limits.near_misses.append((wanted, "a half"))
    pairs = summed([advantage[i] * advantage[j] * gram[i][j] for i in range(n) for j in range(n)])
    alone = sum(a * a * gram[i][i] for i, a in enumerate(advantage)) + Fraction(1, 10 ** 9)
    rank = max(least, min(round(wanted), most, n - 1))
    return {"rank": int(rank), "effective": Number(pairs.value / alone, pairs.size / alone)}


def projected(A, basis):
    """P A, P made of orthonormal rows, and its sizes."""
    n = len(A)
    dots = [summed([v * a for v, a in zip(row, A)]) for row in basis]
    return [Number(sum(row[i] * d.value for row, d in zip(basis, dots)), sum(abs(row[i]) * d.size for row, d in zip(basis, dots)))
            for i in range(n)]


def project_advantage(advantage, basis, alpha, positive):
    """SALT: P A + alpha (I - P) relu(A)."""
    B = [max(a, Fraction(0)) if positive else a for a in advantage]
    parts = zip(projected(advantage, basis), B, projected(B, basis))
    return {"advantage": [Number(x.value + alpha * (b - y.value), x.size + abs(alpha) * (abs(b) + y.size)) for x, b, y in parts]}


# ---- factors

def dynamic_scale(hardness, gap, bound):
    """DR-IRL's GRPO-S: data hardness times the model's responsiveness, outliers aside."""
    kept = [R for R in gap if not less(bound, (R - mean(gap)) ** 2)]
    prompt = sigmoid(mean(kept)) / sigmoid(mean(gap))
    away = mean(absolute(hardness)) + mean(absolute(gap)) + mean(absolute(kept))

    def factor(d):
        x = sigmoid(d) / sigmoid(mean(hardness)) * prompt
        return Number(x, x * real(1 + abs(d) + away))
    return {"factor": [factor(d) for d in hardness]}


def consistency_weights(entropy, gamma, centre):
    """COPO (2508.04138): the group's own advantage where its answers differ, the batch's where they agree."""
    def gate(H, way):
        w = sigmoid(way * gamma * (H - centre))
        return Number(w, w * real(1 + abs(gamma) * (abs(H) + abs(centre))))
    return {"local": [gate(H, 1) for H in entropy], "global": [gate(H, -1) for H in entropy]}


ALONE = (divergence, set_gap, hint_reward, meta_reward, future_success, coplayer_credit, pairwise_wins, entropy_rank_reward,
         interval_reward, information_gain, dense_rewards, branch_advantage, cluster_probability, explore_weight, hint_level,
         gram_rank, project_advantage, dynamic_scale, consistency_weights)
