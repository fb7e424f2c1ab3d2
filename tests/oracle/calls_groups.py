"""Functions beside the objective that read a batch: rewards, weights and advantages of papers by groups and by tokens.

As in calls.py; those that read lists alone are in calls_lists.py.
"""
import math
from fractions import Fraction

import mpmath

import limits
from call_tools import NOTHING, Number, ascending, at, by_group, less, mean, places, read, real, rows, sample_variance, slots
from calls_advantages import rewards_of
from calls_lists import exp, sigmoid
from calls_rewards import per_group
from limits import ONE, ZERO, settle


def own_tokens(batch):
    """The mask tokens of each response."""
    found = [[] for _ in batch["length"]]
    for i, t in places(batch):
        found[i].append((i, t))
    return found


# ---- PRIME

def implicit_advantage(batch, process, process_coef, outcome_coef):
    """2502.01456 as verl's recipe: leave-one-out of implicit rewards and of the outcome, then what is still to come."""
    x, r, own, found = read(batch, process), rewards_of(batch), own_tokens(batch), {}
    for group in by_group(batch):
        n = Fraction(len(group), len(group) - 1)
        of = lambda f, i: mean([f(x[p]) for p in own[i]]) if own[i] else Fraction(0)
        B, B_size = (sum(of(f, i) for i in group) / (len(group) - 1) for f in (Fraction, abs))
        others, others_size = (sum(f(r[i]) for i in group) / (len(group) - 1) for f in (Fraction, abs))
        for i in group:
            left = Number(outcome_coef * (r[i] * n - others), abs(outcome_coef) * (abs(r[i]) * n + others_size))
            for p in reversed(own[i]):
                left = Number(left.value + process_coef * (x[p] * n - B), left.size + abs(process_coef) * (abs(x[p]) * n + B_size))
                found[p] = left
    return {"advantage": rows(batch, found, NOTHING)}


# ---- rewards and weights of responses

def efficiency_reward(batch, correct, share, alpha):
    """GRPO-lambda (2505.18086): in the best groups of the batch short right responses are worth more."""
    groups, T = by_group(batch), [Fraction(len(own)) for own in own_tokens(batch)]
    solved = [Fraction(sum(correct[i] for i in group), len(group)) for group in groups]
    order = sorted(range(len(groups)), key=lambda g: (-solved[g], g))
    best = order[:max(1, math.ceil(float(share) * len(groups)))]  # the product of binary64
    found = {}
    for g, group in enumerate(groups):
        right = [T[i] for i in group if correct[i]]
        s = mpmath.sqrt(real(mean([(t - mean(right)) ** 2 for t in right]))) if right else ZERO
        for i in group:
            far = real(T[i] - mean(right)) / s if correct[i] and s else ZERO
            short = Number(1 - real(alpha) * sigmoid(far), real(1 + alpha))
            found[i] = NOTHING if not correct[i] else short if g in best else Number(Fraction(1), Fraction(1))
    return {"reward": [found[i] for i in range(len(T))], "efficient": [g in best for g in range(len(groups))]}


def below(x, y):
    """x < y, of sums of 60 digits."""
    return bool(settle(x - y, abs(x) + abs(y))) and limits.less(x, y)


def consistency_bonus(batch, accuracy, cap, margin, **more):
    """GRPO-CARE (2506.16141), official code: right responses whose answers the reference finds as likely as the others'."""
    f, r, weight = at(batch, "logp_ref"), rewards_of(batch), more["lambda"]

    def likely(own):
        chosen = [f[p] for p in own if batch["selected"][p[0]][p[1]]]
        return min(exp(mean(chosen) if chosen else 0), real(cap))
    c = [likely(own) for own in own_tokens(batch)]

    def shaped(group):
        fair = [i for i in group if less(Fraction(0.1), accuracy[i]) and not less(accuracy[i], mean([accuracy[j] for j in group]))]
        least = sum(c[i] for i in fair) / len(fair) - real(margin) if fair else ZERO
        given = {i: weight * accuracy[i] if i in fair and not below(c[i], least) else Fraction(0) for i in group}
        return [Number(r[i] + given[i], abs(r[i]) + abs(given[i])) for i in group]
    return {"reward": per_group(batch, shaped)}


def invariance_weight(batch, meta, anchor):
    """AIR (2605.20994): what an open prompt's rewards lack of its anchors' weighs its responses."""
    r, groups = rewards_of(batch), by_group(batch)
    bar = [Number(mean([r[i] for i in group]), mean([abs(r[i]) for i in group])) for group in groups]
    found = []
    for g, group in enumerate(groups):
        peers = [bar[h] for h in range(len(groups)) if anchor[h] and meta[h] == meta[g]]
        if anchor[g] or not peers:
            found += [NOTHING] * len(group)
            continue
        gap, size = mean([x.value for x in peers]) - bar[g].value, mean([x.size for x in peers]) + bar[g].size
        found += [Number(gap * r[i], size * abs(r[i])) for i in group]
    return {"weight": found}


def hardness_advantage(batch, slope, offset):
    """Confucius3-Math, section 6.2: the harder the prompt, the more its deviations count."""
    r = rewards_of(batch)

    def advantages(group):
        mu, size = mean([r[i] for i in group]), mean([abs(r[i]) for i in group])
        return [Number((r[i] - mu) * (slope * mu + offset), (abs(r[i]) + size) * (abs(slope) * size + abs(offset))) for i in group]
    return {"advantage": per_group(batch, advantages)}


def centred_weights(batch, k):
    """AP-GRPO (2602.23615): right responses weigh more in the surrogate and less in the penalty."""
    r = rewards_of(batch)

    def weights(way):
        def of(group):
            mu, size = mean([r[i] for i in group]), mean([abs(r[i]) for i in group])
            return [Number(1 + way * k * (r[i] - mu), 1 + abs(k) * (abs(r[i]) + size)) for i in group]
        return per_group(batch, of)
    return {"surrogate": weights(1), "penalty": weights(-1)}


def logistic_shift(batch, correct, beta):
    """VPD (2605.15113): halfway between the mean log-ratios of right and wrong responses."""
    l, f = at(batch, "logp"), at(batch, "logp_ref")
    z = [[beta * (l[p] - f[p]) for p in own] for own in own_tokens(batch)]
    sides = [[x for x, c in zip(z, correct) if c == right] for right in (True, False)]
    half = lambda f: sum(mean([sum(f(y) for y in x) for x in side]) for side in sides if side) / Fraction(2)
    return {"shift": Number(half(Fraction), half(abs))}


# ---- HAPO

def fallback(r, group, eps, scaled):
    """The plain advantage: sample deviation over the responses."""
    centre, size = mean([r[i] for i in group]), mean([abs(r[i]) for i in group])
    by = mpmath.sqrt(real(sample_variance([r[i] for i in group]))) + real(eps) if scaled else ONE
    return [Number(real(r[i] - centre) / by, real(abs(r[i]) + size) / by) for i in group]


def token_advantage(batch, eps, limit, scaled):
    """2509.16591, official code: every token carries its response's reward; wild groups fall back to responses."""
    r, T = rewards_of(batch), [len(own) for own in own_tokens(batch)]

    def advantages(group):
        total, there = sum(T[i] for i in group), [i for i in group if T[i]]
        if len({r[i] for i in there}) <= 1:
            return [NOTHING] * len(group)
        mu, size = (sum(T[i] * f(r[i]) for i in group) / total for f in (Fraction, abs))
        by = mpmath.sqrt(real(sum(T[i] * (r[i] - mu) ** 2 for i in group) / total)) + real(eps) if scaled else ONE
        if any(not limits.less(real(abs(r[i] - mu)) / by, real(limit)) for i in there):
            return fallback(r, group, eps, scaled)
        return [Number(real(r[i] - mu) / by, real(abs(r[i]) + size) / by) for i in group]
    return {"advantage": per_group(batch, advantages)}


def adapted_clip(batch, standard, low, high, clip_coef, gain):
    """2509.16591, the range and the advantage by entropy: a sure token may fall farther, an unsure one rise farther."""
    l, o, A, h = at(batch, "logp"), at(batch, "logp_old"), at(batch, "advantage"), read(batch, standard)
    found = {"clip_low": {}, "clip_high": {}, "advantage": {}}
    for p in l:
        up = h[p] > 0
        wider = Number(1 + clip_coef * abs(h[p]), 1 + abs(clip_coef * h[p]))
        bound = {False: Number(low, abs(low)), True: Number(high, abs(high))}
        bound[up] = Number(bound[up].value * wider.value, bound[up].size * wider.size)
        w = exp(l[p] - o[p])
        inside = limits.less(real(1 - bound[False].value / 2), w) and limits.less(w, real(1 + bound[True].value / 2))
        plain = inside == up
        found["clip_low"][p], found["clip_high"][p] = bound[False], bound[True]
        found["advantage"][p] = Number(A[p] * (1 if plain else 1 + gain * h[p]), abs(A[p]) * (1 if plain else 1 + abs(gain * h[p])))
    return {name: rows(batch, x, NOTHING) for name, x in found.items()}


# ---- weights of tokens

def side_centres(v, weight, sides):
    """{side: (mu, the same of absolute values)}, weighted means."""
    found = {}
    for s, side in sides.items():
        by = max(sum((weight[p] for p in side), ZERO), real(Fraction(1, 10 ** 8)))
        of = lambda f, d: sum((weight[p] * f(v[p][d]) for p in side), ZERO) / by
        width = range(len(next(iter(v.values()), ())))
        found[s] = [of(real, d) for d in width], [of(abs, d) for d in width]
    return found


def margins(v, centres, sides):
    """{token: squared distance to the other side's centre less that to its own}."""
    def apart(x, s):
        return Number(sum((a - b) ** 2 for a, b in zip(x, centres[s][0])), sum((abs(a) + b) ** 2 for a, b in zip(x, centres[s][1])))
    found = {}
    for s, side in sides.items():
        for p in side:
            other, own = apart(v[p], -s), apart(v[p], s)
            found[p] = Number(other.value - own.value, other.size + own.size)
    return found


def temperatures(M, sides):
    """{token: its side's deviation of margins}."""
    found = {}
    for side in sides.values():
        m = [M[p].value for p in side]
        variance = sum((x - sum(m) / len(m)) ** 2 for x in m) / len(m) if m else ZERO
        found.update(dict.fromkeys(side, mpmath.sqrt(max(variance, real(Fraction(1, 10 ** 8))))))
    return found


def centroid_weight(batch, feature, width, refine, low, high):
    """DelTA (2605.21467), official code: more for tokens whose features tell their side from the other."""
    A = at(batch, "advantage")
    v = {p: [real(x) for x in row] for p, row in zip(slots(batch), feature) if p in A}
    sides = {s: [p for p in A if A[p] * s > 0] for s in (1, -1)}
    moved = [p for side in sides.values() for p in side]
    size = {p: real(abs(A[p])) for p in moved}
    M = margins(v, side_centres(v, size, sides), sides)
    gamma = temperatures(M, sides)
    used, alpha = gamma, {p: sigmoid(M[p].value / gamma[p]) for p in moved}
    for _ in range(int(refine)):
        M = margins(v, side_centres(v, {p: size[p] * alpha[p] for p in moved}, sides), sides)
        used, alpha = gamma, {p: sigmoid(M[p].value / gamma[p]) for p in moved}
        gamma = temperatures(M, sides)
    weight = {p: real(low) + real(high - low) * alpha.get(p, ZERO) for p in A}
    total = sum(weight.values(), ZERO)
    w = {p: len(A) * x / total if total else ZERO for p, x in weight.items()}
    return {"weight": rows(batch, {p: Number(x, x * (1 + (M[p].size / used[p] if p in M else 0))) for p, x in w.items()}, NOTHING)}


def agent_weights(batch, agent):
    """RLinf's loss scales: the agents of a response weigh the same, however many tokens they have."""
    ids, found = read(batch, agent), {}
    for own in own_tokens(batch):
        named = [ids[p] for p in own]
        found.update({p: Fraction(1, len(set(named)) * named.count(ids[p])) for p in own})
    return {"weight": rows(batch, {p: Number(w, w) for p, w in found.items()}, NOTHING)}


def ratio_quantile(batch, quantile, least):
    """GUIDE (2506.13923), official code: the ratio that most hinted tokens stay below, here of the selected ones."""
    l, o = at(batch, "logp"), at(batch, "logp_old")
    apart = {p: l[p] - o[p] for p in l if batch["selected"][p[0]][p[1]]}
    if not apart:
        return {"value": Number(least, least)}
    w = [exp(apart[p]) for p in ascending(apart)]
    k, rest = divmod(quantile * (len(w) - 1), 1)
    value = w[k] + (real(rest) * (w[k + 1] - w[k]) if rest else 0)
    return {"value": Number(max(value, real(least)), max(value, real(least)))}


ON_BATCHES = (implicit_advantage, efficiency_reward, consistency_bonus, invariance_weight, hardness_advantage, centred_weights,
              logistic_shift, token_advantage, adapted_clip, centroid_weight, agent_weights, ratio_quantile)
