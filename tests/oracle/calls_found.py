"""Functions beside the objective, of papers that a second search found: weights, masks, rewards and advantages.

As in calls.py, calls_rewards.py and calls_advantages.py.
"""
import itertools
import math
from fractions import Fraction

import mpmath

import limits
from call_tools import NOTHING, Number, ascending, at, by_group, clamp, flags, less, mean, places, real, rows, sample_variance, summed
from calls_advantages import rewards_of, shares
from calls_rewards import HALF, itself, means, per_group
from limits import ONE, ZERO

SMALL = Fraction(1, 10 ** 8)


def lengths_of(batch):
    """Mask tokens of every response."""
    return [sum(i == j for j, _ in places(batch)) for i in range(len(batch["length"]))]


def population_deviation(xs):
    return mpmath.sqrt(real(mean([(x - mean(xs)) ** 2 for x in xs])))


# ---- factors and weights of groups

def confidence_factor(batch, correct, delta):
    """CoDaPO (2606.07950): 4 c p (1 - p) + delta, c the confidence of the group and p its share of right responses."""
    score = means(batch, "logp_old")

    def factor(group):
        chosen = [i for i in group if i in score]
        if not chosen:
            return Number(delta, delta)
        p = Fraction(sum(correct[i] for i in chosen), len(chosen))
        c = mpmath.exp(real(mean([score[i].value for i in chosen])))
        v = 4 * c * real(p * (1 - p)) + real(delta)
        return Number(v, v * real(1 + mean([score[i].size for i in chosen])))
    return {"factor": [factor(group) for group in by_group(batch)]}


def difficulty_weight(batch, accuracy, temperature):
    """DGPO (2601.20614): the harder prompts of those whose rewards differ weigh more, and the others leave the divisor."""
    r, T, groups = rewards_of(batch), lengths_of(batch), by_group(batch)
    valid = [g for g, group in enumerate(groups) if len({r[i] for i in group}) > 1]
    found = [Number(Fraction(1), Fraction(1))] * len(groups)
    if not valid:
        return {"weight": found}
    tokens = Fraction(sum(T), sum(T[i] for g in valid for i in groups[g]))
    p, size = shares([-(mean([accuracy[i] for i in groups[g]]) or 1) for g in valid], temperature)
    for g, x in zip(valid, p):
        weight = len(valid) * x * real(tokens)
        found[g] = Number(weight, weight * size)
    return {"weight": found}


def entropy_factor(entropy, alpha, size):
    """SEED-GRPO (2505.12346), the authors' code: 1/(1 + alpha H/log G)."""
    factor = [1 / (1 + real(alpha * H) / mpmath.log(int(size))) for H in entropy]
    return {"factor": [Number(x, x) for x in factor]}


# ---- weights and selection of tokens

def surprisal_weight(batch, share, up, down, target):
    """STARE (2606.19236): while the entropy is low, the least likely tokens of either sign of A have weights of their own."""
    l, A, H = (at(batch, name) for name in ("logp", "advantage", "entropy"))
    weight = dict.fromkeys(l, Fraction(1))
    if l and less(mean(H.values()), target):
        for sign, w in ((1, up), (-1, down)):
            candidates = ascending({p: x for p, x in l.items() if A[p] * sign > 0})
            weight.update(dict.fromkeys(candidates[:math.ceil(float(share) * len(candidates))], w))
    return {"weight": rows(batch, {p: Number(w, abs(w)) for p, w in weight.items()}, NOTHING)}


def gaussian_covariance(batch):
    """CW-GRPO (2605.11538): e^(-c^2/(2 sigma^2)) of the covariance c, with mean 1 over the group's tokens."""
    l, A = at(batch, "logp"), at(batch, "advantage")
    if not l:
        return {"weight": rows(batch, {}, NOTHING)}
    centre = lambda x: (mean(x.values()), mean([abs(y) for y in x.values()]))
    (l_mean, l_size), (A_mean, A_size) = centre(l), centre(A)
    c = {p: (l[p] - l_mean) * (A[p] - A_mean) for p in l}
    variance = mean([(x - mean(c.values())) ** 2 for x in c.values()])
    found = {}
    for group in by_group(batch):
        own = [p for p in l if p[0] in group]
        w = {p: mpmath.exp(-real(c[p] ** 2 / (2 * variance))) if variance else ONE for p in own}
        size = max((((abs(l[p]) + l_size) * (abs(A[p]) + A_size)) ** 2 / variance for p in own), default=0) if variance else 0
        for p in own:
            weight = w[p] * len(own) / sum(w.values())
            found[p] = Number(weight, weight * real(1 + size))
    return {"weight": rows(batch, found, NOTHING)}


def linear_quantile(xs, q):
    ordered = sorted(xs)
    k, rest = divmod(q * (len(xs) - 1), 1)
    return ordered[int(k)] + (real(rest) * (ordered[int(k) + 1] - ordered[int(k)]) if rest else 0)


def within_budget(tokens, D, width, least, delta, budget, quantile, factor):
    """The tokens of one response whose weighted divergence is within what the prefix left of its budget."""
    rate = clamp(real(factor) * linear_quantile([D[p] for p in tokens], quantile), real(budget), real(5 * budget)) if tokens else ZERO
    kept, S, W = [], ZERO, ZERO
    for i, t in tokens:
        w = real(least + (1 - least) * Fraction(width - (t + 1), max(width - 1, 1)))
        Z = w * D[i, t]
        if not limits.less(real(delta) + min(ZERO, rate * W - S), Z):
            kept.append((i, t))
        S, W = S + Z, W + w
    return kept


def prefix_budget(batch, **numbers):
    """CPPO (2606.10968), code: a trust region whose width is what the response's prefix has not used."""
    l, o, A = (at(batch, name) for name in ("logp", "logp_old", "advantage"))
    D = {p: abs(mpmath.exp(real(l[p])) - mpmath.exp(real(o[p]))) for p in l}
    kept = [p for p in l if A[p] * (l[p] - o[p]) <= 0]
    for i in range(len(batch["length"])):
        kept += within_budget([p for p in l if p[0] == i], D, **numbers)
    return {"selected": flags(batch, kept)}


# ---- rewards

def shorter_correct(batch, coef):
    """AGPO (2503.15952): the shortest right response of a group that is not all right earns up to coef more."""
    r, T = rewards_of(batch), lengths_of(batch)

    def shaped(group):
        right = [T[i] for i in group if r[i] == 1]
        bonus = lambda i: coef * (1 - Fraction(T[i] - min(right), max(right) - min(right)))
        acts = right and len(right) < len(group) and min(right) < max(right)
        return [Number(r[i] * (1 + bonus(i)) if acts and r[i] == 1 else r[i], abs(r[i]) * (1 + abs(coef))) for i in group]
    return {"reward": per_group(batch, shaped)}


def judge(choice):
    """Two orders of the same question: 1 where the choices are the same."""
    return [[Fraction(1 if a == b else -1) for a, b in zip(*choice)]] * 2


def votes(choice):
    """1 for the one choice that is more frequent than any other."""
    every = [x for row in choice for x in row]
    counts = {x: every.count(x) for x in every}
    best = [x for x, n in counts.items() if n == max(counts.values())]
    return [[Fraction(1 if best == [x] else -1) for x in row] for row in choice]


CONSISTENT = {"judge": judge, "votes": votes}


def permutation_reward(choice, form):
    """PA-GRPO (2603.21016): the same choice, whatever order the options stand in."""
    return {"reward": itself(x for row in CONSISTENT[form](choice) for x in row)}


def frequency_reward(batch, answer, size):
    """GAPO (group-aware, EMNLP 2025): an answer is worth less the more often the group gives it; signed around 1/L."""
    def shaped(group):
        valid = [answer[i] for i in group if answer[i] >= 0]
        found = []
        for i in group:
            f = Fraction(valid.count(answer[i]), len(valid)) if answer[i] >= 0 else None
            found.append(Number(Fraction(-1), Fraction(1)) if f is None else summed((Fraction(1), -f, 1 / size)))
        return found
    return {"reward": per_group(batch, shaped)}


def repetition_reward(batch, token, size, penalty):
    """2502.03373 appendix C.2, on token ids as TRL: the share of n-grams that have been there before."""
    n, line = int(size), [[] for _ in batch["length"]]
    for i, t in places(batch):
        line[i].append(token[i][t])

    def repeated(i):
        grams = [tuple(line[i][k:k + n]) for k in range(len(line[i]) - n + 1)]
        x = penalty * Fraction(len(grams) - len(set(grams)), len(grams)) if grams else Fraction(0)
        return Number(x, abs(x))
    return {"reward": [repeated(i) for i in range(len(batch["length"]))]}


def correct_length(batch, correct, alpha, eps, wrong):
    """GRPO-LEAD (2504.09696): e^(-alpha z), z the standardised length among the group's right responses."""
    T = lengths_of(batch)

    def shaped(group):
        right = [Fraction(T[i]) for i in group if correct[i]]
        s = population_deviation(right) if right else ZERO

        def worth(i):
            if not correct[i]:
                return Number(wrong, abs(wrong))
            if not s:
                return Number(ONE, ONE)
            z = real(T[i] - mean(right)) / (s + real(eps))
            x = mpmath.exp(-real(alpha) * z)
            return Number(x, x * (1 + abs(real(alpha)) * real(T[i] + mean(right)) / (s + real(eps))))
        return [worth(i) for i in group]
    return {"reward": per_group(batch, shaped)}


def pair_rewards(batch, outcome, ended):
    """PPR-GDE (2605.18191), code: neighbours are compared; of the winners that ended the shortest is worth 1; ties are left out."""
    T = lengths_of(batch)
    pairs = [[group[k:k + 2] for k in range(0, len(group) - 1, 2)] for group in by_group(batch)]
    sides = iter(outcome)
    reward, masked = [Fraction(0)] * len(T), [False] * len(T)
    for members in pairs:
        winners = []
        for (a, b), side in zip(members, [next(sides) for _ in members]):
            if side:
                winner, loser = (a, b) if side > 0 else (b, a)
                winners.append(winner)
                reward[winner] = reward[loser] = Fraction(-1)
            else:
                masked[a] = masked[b] = True
        finished = [i for i in winners if ended[i]]
        for i in finished:
            reward[i] = Fraction(min(T[j] for j in finished), T[i])
    return {"reward": itself(reward), "masked": masked}


def spread_reward(distance):
    """PPR-GDE: distances from the group's centre, from 0 to 1."""
    low, high = min(distance), max(distance)
    if less(high - low, SMALL):
        return {"reward": [NOTHING] * len(distance)}
    return {"reward": [Number((d - low) / (high - low), (abs(d) + abs(low)) / (high - low)) for d in distance]}


def annealed_split(step, steps, size):
    """S2L-PO (2605.30789), Algorithm 1: ever fewer responses of the other model; exact, where binary64 may round up once more."""
    other = math.ceil((1 - (step - 1) / (steps - 1)) * size) if step <= steps else 0
    return {"other": other, "own": int(size) - other}


# ---- advantages

def collapsed_advantage(batch, eps):
    """AGPO (2503.15952), code: groups that are all right or all wrong have a constant advantage."""
    r = rewards_of(batch)

    def advantages(group):
        own = [r[i] for i in group]
        if len(own) == 1:
            return itself(own)
        if len(set(own)) == 1:
            return itself([{1: Fraction(1), 0: Fraction(-1)}.get(x, Fraction(0)) for x in own])
        s, centre, size = mpmath.sqrt(real(sample_variance(own))) + real(eps), mean(own), mean([abs(x) for x in own])
        return [Number(real(x - centre) / s, real(abs(x) + size) / s) for x in own]
    return {"advantage": per_group(batch, advantages)}


def variant_advantage(advantage, difficulty, k, **more):
    """DIVA-GRPO (2603.01106), the paper's form: e^(k (D - mean D) sign(A)) A."""
    def weighted(A, D, centre):
        sign = (A > 0) - (A < 0)
        x = mpmath.exp(real(k * (D - centre) * sign)) * real(A)
        return Number(x, abs(x) * real(1 + abs(k) * (abs(D) + abs(centre))))
    return {"advantage": [weighted(*x) for x in zip(advantage, difficulty, more["mean"])]}


def step_weight(advantage, weight):
    """DPEPO (2604.24320): what is worth less where it is good is worse where it is bad."""
    return {"advantage": [Number(A * W, A) if A >= 0 else Number(A * (2 - W), 2 * -A) for A, W in zip(advantage, weight)]}


def children_of(parent):
    return [[k for k, p in enumerate(parent) if p == n] for n in range(len(parent))]


def average(numbers):
    return Number(mean([n.value for n in numbers]), mean([n.size for n in numbers]))


def difference(x, y):
    return Number(x.value - y.value, x.size + y.size)


def temporal_difference(parent, reward, value, gamma):
    """ATPO (2603.02216), code: the critic's values where there is one child, those of the tree where there are more."""
    children, n = children_of(parent), len(parent)
    tree, leaves = itself([Fraction(0)] * n), [1] * n
    for k in reversed(range(n)):
        if children[k]:
            tree[k] = average([Number(reward[c] + gamma * tree[c].value, abs(reward[c]) + abs(gamma) * tree[c].size) for c in children[k]])
            leaves[k] = sum(leaves[c] for c in children[k])
    critic = itself(value)

    def advantage(k):
        V = tree if len(children[parent[k]]) > 1 else critic
        own = Number(reward[k] + gamma * V[k].value, abs(reward[k]) + abs(gamma) * V[k].size)
        A = difference(own, V[parent[k]])
        return Number(A.value / leaves[k], A.size / leaves[k])
    return [NOTHING if parent[k] < 0 else advantage(k) for k in range(n)]


def tree_means(parent, reward):
    children, V = children_of(parent), itself(reward)
    for k in reversed(range(len(parent))):
        if children[k]:
            V[k] = average([V[c] for c in children[k]])
    return children, V


def against_siblings(parent, reward, value, gamma):
    """D-TreeRPO (2512.09675), code: a node against the mean of its siblings."""
    children, V = tree_means(parent, reward)

    def advantage(k):
        others = [V[c] for c in children[parent[k]] if c != k]
        return difference(V[k], average(others)) if others else V[k]
    return [NOTHING if parent[k] < 0 else advantage(k) for k in range(len(parent))]


def against_parent(parent, reward, value, gamma):
    """D-TreeRPO, the paper's form."""
    _, V = tree_means(parent, reward)
    return [NOTHING if p < 0 else difference(V[k], V[int(p)]) for k, p in enumerate(parent)]


TREES = {"td": temporal_difference, "siblings": against_siblings, "paper": against_parent}


def tree_advantage(parent, reward, value, gamma, form):
    return {"advantage": TREES[form]([int(p) for p in parent], reward, value, gamma)}


def paper_anchor(r, centre, G, C):
    scale = 2 * mpmath.sqrt(real(C))
    return Number(scale * real(r - HALF), scale * real(abs(r) + HALF))


def code_anchor(r, centre, G, C):
    goal, scale = max(HALF, centre.value), mpmath.sqrt(real(4 * C / G))
    return Number(scale * real(r - goal), scale * real(abs(r) + (HALF if goal == HALF else centre.size)))


ANCHORS = {"paper": paper_anchor, "code": code_anchor}


def two_anchors(batch, constraints, alpha, beta, gain_pos, gain_neg, form):
    """MDP-GRPO (2606.06058): tanh of the standardised reward and of the distance from a goal, losses steeper than gains."""
    r = rewards_of(batch)

    def prospect(v):
        gain = real(gain_neg if v.value < 0 else gain_pos)
        return Number(gain * mpmath.tanh(real(beta) * v.value), min(abs(gain), abs(gain * real(beta)) * v.size))

    def advantages(group):
        own = [r[i] for i in group]
        centre, s = Number(mean(own), mean([abs(x) for x in own])), max(population_deviation(own), real(SMALL))
        alike = len(set(own)) == 1
        found = []
        for i in group:
            z = NOTHING if alike else Number(real(r[i] - centre.value) / s, real(abs(r[i]) + centre.size) / s)
            parts = prospect(z), prospect(ANCHORS[form](r[i], centre, len(group), constraints[i]))
            found.append(Number(sum(real(a) * x.value for a, x in zip((1 - alpha, alpha), parts)),
                                sum(abs(real(a)) * x.size for a, x in zip((1 - alpha, alpha), parts))))
        return found
    return {"advantage": per_group(batch, advantages)}


def pairwise_calibration(batch, correct, temperature):
    """CAPO (2604.12632): the slope of log(1 + e^(-(s_right - s_wrong)/tau)) over the pairs of a right and a wrong response."""
    score = means(batch, "logp")

    def pulled(i, j):
        """How far right i and wrong j are to be pulled apart, and its size."""
        gap = real((score[i].value - score[j].value) / temperature)
        x = 1 / (real(temperature) * (1 + mpmath.exp(gap)))
        return Number(x, x * real(1 + (score[i].size + score[j].size) / temperature))

    def advantages(group):
        right, wrong = ([i for i in group if i in score and bool(correct[i]) == side] for side in (True, False))
        found = dict.fromkeys(group, NOTHING)
        for i, j in itertools.product(right, wrong):
            x = pulled(i, j)
            found[i] = Number(found[i].value + x.value, found[i].size + x.size)
            found[j] = Number(found[j].value - x.value, found[j].size + x.size)
        return [found[i] for i in group]
    return {"advantage": per_group(batch, advantages)}


def compositions(counts):
    """How many of each of the different rewards a subset of at least two may have."""
    return [ks for ks in itertools.product(*(range(c + 1) for c in counts)) if sum(ks) >= 2]


def multi_scale_advantage(reward, eps):
    """MS-GRPO: the mean over the sizes of the mean over the subgroups, each the z-score inside it."""
    n, different = len(reward), sorted(set(reward))
    counts = [reward.count(v) for v in different]
    found = {v: [ZERO, ZERO] for v in different}
    for ks in compositions(counts):
        tau, members = sum(ks), [v for v, k in zip(different, ks) for _ in range(k)]
        if len(set(members)) == 1:
            continue  # nothing differs
        s, centre, size = population_deviation(members) + real(eps), mean(members), mean([abs(v) for v in members])
        ways = math.prod(math.comb(c, k) for c, k in zip(counts, ks))
        for v, c, k in zip(different, counts, ks):
            share = real(Fraction(ways * k, c * math.comb(n - 1, tau - 1) * (n - 1)))  # C(c - 1, k - 1) = C(c, k) k/c
            found[v][0] += share * real(v - centre) / s
            found[v][1] += share * real(abs(v) + size) / s
    return {"advantage": [Number(*found[r]) for r in reward]}


def hardest_miss(batch, utility):
    """ReCast (2604.22169): a hit against the miss that was nearest; in groups without a hit the farthest one is to be replaced."""
    r = rewards_of(batch)
    advantage, replace = [Fraction(0)] * len(r), []
    for group in by_group(batch):
        misses = [i for i in group if r[i] == 0]
        best = max(group, key=lambda i: (r[i], -i))
        order = sorted(misses, key=lambda i: (utility[i], i))
        for i, j in zip(order, order[1:]):
            less(utility[i], utility[j])
        replace.append(order[0] if len(misses) == len(group) else -1)
        if r[best] > 0 and misses:
            advantage[best] = Fraction(1)
            advantage[max(misses, key=lambda i: (utility[i], -i))] = Fraction(-1)
    return {"advantage": itself(advantage), "replace": replace}


def position_advantage(logp_old, reward):
    """TLPO (2604.26553), code: candidates of one position, by their probability; p (r - mean r) over the sum of its size."""
    p = [mpmath.exp(real(o)) for o in logp_old]
    total = sum(p)
    w = [x * sum(y * real(r - s) for y, s in zip(p, reward)) / total for x, r in zip(p, reward)]  # exactly 0 where all are equal
    size = sum(x * abs(real(r)) for x, r in zip(p, reward)) / total
    whole = sum(abs(x) for x in w)
    if not whole:
        return {"advantage": [NOTHING] * len(p)}
    return {"advantage": [Number(x / whole, y * (abs(real(r)) + size) / whole) for x, y, r in zip(w, p, reward)]}


ALONE = (variant_advantage, step_weight, tree_advantage, permutation_reward, spread_reward, annealed_split, multi_scale_advantage,
         entropy_factor, position_advantage)
ON_BATCHES = (confidence_factor, collapsed_advantage, shorter_correct, surprisal_weight, prefix_budget, difficulty_weight, two_anchors,
              pairwise_calibration, gaussian_covariance, frequency_reward, repetition_reward, correct_length, pair_rewards, hardest_miss)
