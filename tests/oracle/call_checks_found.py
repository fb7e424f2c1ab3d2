"""Identities of the functions of calls_found.py."""
import itertools
import math
import statistics
from fractions import Fraction

import calls
import calls_found
from call_cases import responses
from call_cases_more import tokens
from call_checks import ask, cases_of, exactly, selected
from call_checks_more import near
from call_checks_rewards import every, fraction, groups_of, values
from limits import mpf, mpmath
from scenarios import Dice

NAMES = [f.__name__ for f in calls_found.ALONE + calls_found.ON_BATCHES]


def flat(x):
    return [x] if isinstance(x, calls.Number) else [y for part in x for y in flat(part)] if isinstance(x, list) else []


def check_sizes(check):
    for name in NAMES:
        for label, _, _, found in every(name):
            sizes = [calls.real(n.size) >= abs(calls.real(n.value)) * (1 - mpf(10) ** -40) for x in found.values() for n in flat(x)]
            check(f"a size is not below its number: {label}", all(sizes))


def counted(batch):
    mask = batch.get("mask", [[True] * T for T in batch["length"]])
    return [sum(row) for row in mask]


def close(x, y):
    return abs(float(calls.real(x)) - y) <= 1e-12 * max(1, abs(y))


# ---- factors and weights of groups

def check_confidence(check):
    for label, given, batch, found in every("confidence_factor"):
        free = values(exactly("confidence_factor", batch, **{**given, "delta": 0})["factor"])
        more = [near(calls.real(x) - calls.real(y), Fraction(given["delta"])) for x, y in zip(values(found["factor"]), free)]
        check(f"delta on top: {label}", all(more))
        wrong = exactly("confidence_factor", batch, **{**given, "correct": [not x for x in given["correct"]]})
        check(f"right and wrong change places: {label}", wrong == found)
    certain = {"group": [0, 0], "length": [1, 1], "logp": [[-1]] * 2, "logp_old": [[0]] * 2}
    half = exactly("confidence_factor", certain, correct=[True, False], delta=0.25)["factor"][0].value
    check("1 + delta at most", half == mpf(1.25))


def check_difficulty(check):
    for label, given, batch, found in every("difficulty_weight"):
        T, groups = counted(batch), groups_of(batch)
        valid = [g for g, group in enumerate(groups) if len({batch["reward"][i] for i in group}) > 1]
        w = values(found["weight"])
        if valid:
            share = Fraction(sum(T), sum(T[i] for g in valid for i in groups[g]))
            check(f"their mean puts the divisor right: {label}", near(sum(w[g] for g in valid), share * len(valid)))
        check(f"1 for the others: {label}", all(w[g] == 1 for g in range(len(groups)) if g not in valid))
        for g, h in itertools.combinations(valid, 2):
            D = [statistics.mean(given["accuracy"][i] for i in groups[k]) or 1 for k in (g, h)]
            check(f"odds: {label}", close(mpmath.log(w[g] / w[h]), (D[1] - D[0]) / given["temperature"]))


def check_entropy_factor(check):
    for label, given, _, found in every("entropy_factor"):
        back = [(1 / x - 1) * mpmath.log(given["size"]) for x in values(found["factor"])]
        check(f"alpha H again: {label}", all(near(x, Fraction(given["alpha"]) * Fraction(H)) for x, H in zip(back, given["entropy"])))


# ---- weights and selection of tokens

def check_surprisal(check):
    for label, given, batch, found in every("surprisal_weight"):
        l, A = calls.at(batch, "logp"), calls.at(batch, "advantage")
        w = {p: found["weight"][p[0]][p[1]].value for p in l}
        for sign, name in ((1, "up"), (-1, "down")):
            own = [p for p in l if A[p] * sign > 0]
            moved = [p for p in own if w[p] != 1]
            rest = [p for p in own if p not in moved]
            check(f"the least likely ones: {label}", all(l[p] <= l[q] for p in moved for q in rest))
            check(f"as many as are wanted, or none: {label}", len(moved) in (0, math.ceil(given["share"] * len(own))))
            check(f"with their weight: {label}", {w[p] for p in moved} <= {Fraction(given[name])})
        check(f"nothing for A = 0: {label}", all(w[p] == 1 for p in l if A[p] == 0))
        lively = exactly("surprisal_weight", batch, **{**given, "target": -1})["weight"]
        check(f"an entropy above every target: {label}", all(lively[i][t].value == 1 for i, t in l))


def check_gaussian(check):
    for label, _, batch, found in every("gaussian_covariance"):
        l, A = calls.at(batch, "logp"), calls.at(batch, "advantage")
        w = {p: calls.real(found["weight"][p[0]][p[1]].value) for p in l}
        for group in groups_of(batch):
            own = [p for p in l if p[0] in group]
            check(f"mean 1 over the group's tokens: {label}", near(sum(w[p] for p in own), len(own)))
        c = {p: float(calls.real((l[p] - calls.mean(l.values())) * (A[p] - calls.mean(A.values())))) for p in l}
        variance = statistics.pvariance(c.values())
        for p, q in itertools.combinations(l, 2):
            same = batch["group"][p[0]] == batch["group"][q[0]] and variance
            check(f"odds: {label}", not same or close(mpmath.log(w[p] / w[q]), (c[q] ** 2 - c[p] ** 2) / 2 / variance))
        doubled = {**batch, "advantage": [[x if isinstance(x, str) else 2 * x for x in row] for row in batch["advantage"]]}
        check(f"units of the advantage do not matter: {label}", ask("gaussian_covariance", doubled) == ask("gaussian_covariance", batch))


def kept_by_hand(batch, given):
    """In ordinary floating point, response by response."""
    kept, g = set(), given
    l, o, A = ({p: float(x) for p, x in calls.at(batch, name).items()} for name in ("logp", "logp_old", "advantage"))
    for i in range(len(batch["length"])):
        own = [p for p in l if p[0] == i]
        D = {p: abs(math.exp(l[p]) - math.exp(o[p])) for p in own}
        xs = sorted(D.values())
        spot = g["quantile"] * (len(xs) - 1) if xs else 0
        Q = xs[int(spot)] + (spot - int(spot)) * (xs[min(int(spot) + 1, len(xs) - 1)] - xs[int(spot)]) if xs else 0
        rate = min(max(g["factor"] * Q, g["budget"]), 5 * g["budget"])
        weights = {p: g["least"] + (1 - g["least"]) * (g["width"] - p[1] - 1) / max(g["width"] - 1, 1) for p in own}
        for p in own:
            before = [q for q in own if q < p]
            left = g["delta"] + rate * sum(weights[q] for q in before) - sum(weights[q] * D[q] for q in before)
            if A[p] * (math.exp(l[p] - o[p]) - 1) <= 0 or weights[p] * D[p] <= min(g["delta"], left):
                kept.add(p)
    return kept


def check_budget(check):
    for label, given, batch in cases_of("prefix_budget"):
        kept = selected("prefix_budget", batch, **given)
        check(f"by hand: {label}", kept == kept_by_hand(batch, given))
        wide = selected("prefix_budget", batch, **{**given, "delta": 1, "budget": 1})
        check(f"a wide budget keeps everything: {label}", wide == set(calls.at(batch, "logp")) >= kept)
        turned = {**batch, "advantage": [[x if isinstance(x, str) else -x for x in row] for row in batch["advantage"]]}
        both = kept | selected("prefix_budget", turned, **given)
        check(f"every token moves back for one of both signs: {label}", both == set(calls.at(batch, "logp")))


# ---- rewards

def check_lengths(check):
    for label, given, batch, found in every("shorter_correct"):
        T, r, coef = counted(batch), fraction(batch["reward"]), Fraction(given["coef"])
        for group in groups_of(batch):
            gain = {i: found["reward"][i].value - r[i] for i in group}
            right = [i for i in group if r[i] == 1]
            check(f"only right ones: {label}", not any(gain[i] for i in group if i not in right))
            if any(gain.values()):
                ends = {gain[i] for i in right if T[i] in (min(T[j] for j in right), max(T[j] for j in right))}
                line = {(gain[i] - gain[j]) / (T[j] - T[i]) for i in right for j in right if T[i] != T[j]}
                check(f"from coef to 0 on a line: {label}", ends == {coef, 0} and len(line) == 1 and len(right) < len(group))
    for label, given, batch, found in every("correct_length"):
        for group in groups_of(batch):
            right = [i for i in group if given["correct"][i]]
            z = [mpmath.log(found["reward"][i].value) / -calls.real(Fraction(given["alpha"])) for i in right]
            check(f"their mean is 0: {label}", near(sum(z), 0))
            spread = len({counted(batch)[i] for i in right}) > 1
            square = float(sum(x * x for x in z)) if right else 0
            check(f"and their variance almost 1: {label}", abs(square - spread * len(right)) < 1e-4)
            check(f"the others: {label}", all(found["reward"][i].value == given["wrong"] for i in group if i not in right))


def check_votes(check):
    for label, given, _, found in every("permutation_reward"):
        rows, r = given["choice"], values(found["reward"])
        n = len(rows[0])
        if given["form"] == "judge":
            check(f"both alike: {label}", r[:n] == r[n:] and all((x == 1) == (a == b) for x, a, b in zip(r, *rows)))
        else:
            every_choice = [x for row in rows for x in row]
            best = statistics.multimode(every_choice)
            check(f"the mode: {label}", r == [1 if best == [x] else -1 for x in every_choice])
    for label, given, batch, found in every("frequency_reward"):
        for group in groups_of(batch):
            valid = [i for i in group if given["answer"][i] >= 0]
            different = {given["answer"][i] for i in valid}
            first = [next(i for i in valid if given["answer"][i] == x) for x in different]
            shares = [1 - found["reward"][i].value + Fraction(1, given["size"]) for i in first]
            check(f"shares of all answers are 1: {label}", sum(shares) == bool(valid))
            check(f"-1 for the others: {label}", all(found["reward"][i].value == -1 for i in group if i not in valid))
    for label, given, batch, found in every("repetition_reward"):
        mask = batch.get("mask", [[True] * n for n in batch["length"]])
        for i, (ids, counts) in enumerate(zip(given["token"], mask)):
            own, again = [x for x, yes in zip(ids, counts) if yes], 0
            total = max(0, len(own) - given["size"] + 1)
            for k in range(total):
                again += any(own[j:j + given["size"]] == own[k:k + given["size"]] for j in range(k))
            x = found["reward"][i].value
            check(f"n-grams that were there before: {label}", x * total == Fraction(given["penalty"]) * again if total else x == 0)


def check_pairs(check):
    for label, given, batch, found in every("pair_rewards"):
        T, r = counted(batch), values(found["reward"])
        sides, winners = iter(given["outcome"]), {}
        for g, group in enumerate(groups_of(batch)):
            for a, b in zip(group[::2], group[1::2]):
                side = next(sides)
                check(f"a tie, and only that, is masked: {label}", found["masked"][a] == found["masked"][b] == (side == 0))
                check(f"the loser: {label}", side == 0 and r[a] == r[b] == 0 or r[b if side > 0 else a] == -1)
                if side:
                    winners.setdefault(g, []).append(a if side > 0 else b)
            if len(group) % 2:
                check(f"the odd one: {label}", r[group[-1]] == 0 and not found["masked"][group[-1]])
        check(f"every pair is told: {label}", next(sides, None) is None)
        for own in winners.values():
            ended = [i for i in own if given["ended"][i]]
            check(f"winners that ended have one product: {label}", len({r[i] * T[i] for i in ended}) <= 1)
            check(f"the best of them has 1, the others lose: {label}", max([r[i] for i in ended], default=1) == 1
                  and all(r[i] == -1 for i in own if i not in ended))


def check_spread(check):
    for label, given, _, found in every("spread_reward"):
        r = values(found["reward"])
        apart = max(given["distance"]) - min(given["distance"]) >= 1e-8
        check(f"0 and 1 are there, or 0 alone: {label}", {min(r), max(r)} == ({0, 1} if apart else {0}))
        moved = exactly("spread_reward", distance=[Fraction(3) * Fraction(x) + 5 for x in given["distance"]])["reward"]
        check(f"units and origin do not matter: {label}", not apart or values(moved) == r)


def check_split(check):
    at = lambda step, steps, size: ask("annealed_split", step=step, steps=steps, size=size)
    for steps, size in itertools.product((2, 3, 8, 11), (1, 8, 10)):
        other = [at(s, steps, size)["other"] for s in range(1, steps + 2)]
        check("from all to none, never more", other[0] == size and other[-2:] == [0, 0] and all(x >= y for x, y in zip(other, other[1:])))
        whole = all(at(s, steps, size)["own"] + x == size for s, x in enumerate(other, 1))
        check("one group of the same size", whole)
        least = all((steps - s) * size <= x * (steps - 1) < (steps - s) * size + steps - 1 for s, x in enumerate(other[:-1], 1))
        check("the least integer above the line", least)


# ---- advantages

def check_collapsed(check):
    for label, given, batch, found in every("collapsed_advantage"):
        for group in groups_of(batch):
            A, r = [found["advantage"][i].value for i in group], [batch["reward"][i] for i in group]
            if len(set(r)) > 1:
                m, s = statistics.mean(fraction(r)), mpmath.sqrt(calls.real(statistics.variance(fraction(r))))
                back = [a * (s + calls.real(Fraction(given["eps"]))) for a in A]
                check(f"the z-score: {label}", all(near(x + calls.real(m), Fraction(y)) for x, y in zip(back, r)))
            elif len(r) > 1:
                check(f"a constant: {label}", A == [{1: 1, 0: -1}.get(r[0], 0)] * len(r))
            else:
                check(f"itself: {label}", A == fraction(r))


def check_factors(check):
    for label, given, _, found in every("variant_advantage"):
        turned = exactly("variant_advantage", **{**given, "advantage": [-x for x in given["advantage"]]})["advantage"]
        product = [calls.real(x.value * -y.value) for x, y in zip(found["advantage"], turned)]
        check(f"what one sign gains the other loses: {label}", all(near(x, Fraction(a) ** 2) for x, a in zip(product, given["advantage"])))
    for label, given, _, found in every("step_weight"):
        back = [{**given, "advantage": [-x for x in given["advantage"]]}, found]
        other = values(exactly("step_weight", **back[0])["advantage"])
        gap = [x - y for x, y in zip(values(found["advantage"]), other)]
        check(f"W and 2 - W make 2: {label}", all(x == 2 * Fraction(a) for x, a in zip(gap, given["advantage"])))


def leaves_below(parent, n):
    below = [leaves_below(parent, k) for k, p in enumerate(parent) if p == n]
    return [leaf for part in below for leaf in part] or [n]


def returns(parent, reward, gamma, n):
    """The discounted sums of the rewards below n, averaged child by child."""
    children = [k for k, p in enumerate(parent) if p == n]
    return statistics.mean([reward[k] + gamma * returns(parent, reward, gamma, k) for k in children]) if children else Fraction(0)


def outcomes(parent, reward, n):
    children = [k for k, p in enumerate(parent) if p == n]
    return statistics.mean([outcomes(parent, reward, k) for k in children]) if children else reward[n]


def check_trees(check):
    for label, given, _, found in every("tree_advantage"):
        parent, r, v, gamma = given["parent"], fraction(given["reward"]), fraction(given["value"]), Fraction(given["gamma"])
        A = values(found["advantage"])
        check(f"nothing for the root: {label}", A[0] == 0)
        for n in range(1, len(parent)):
            family = [k for k, p in enumerate(parent) if p == parent[n]]
            if given["form"] == "td":
                V = (lambda k: returns(parent, r, gamma, k)) if len(family) > 1 else v.__getitem__
                hand = (r[n] + gamma * V(n) - V(parent[n])) / len(leaves_below(parent, n))
            else:
                others = [outcomes(parent, r, k) for k in family if k != n]
                centre = outcomes(parent, r, parent[n]) if given["form"] == "paper" else statistics.mean(others) if others else 0
                hand = outcomes(parent, r, n) - centre
            check(f"node {n} by hand: {label}", A[n] == hand)
        for n in range(len(parent)):
            family = [k for k, p in enumerate(parent) if p == n]
            weights = [len(leaves_below(parent, k)) if given["form"] == "td" else 1 for k in family]
            total = sum(A[k] * w for k, w in zip(family, weights))
            check(f"a family's advantages add up to 0: {label}", len(family) < 2 or total == 0)


def check_anchors(check):
    for label, given, batch, found in every("two_anchors"):
        r, A = batch["reward"], values(found["advantage"])
        for group in groups_of(batch):
            own = [r[i] for i in group]
            m, s, G = statistics.mean(own), max(statistics.pstdev(own), 1e-8), len(own)
            for i in group:
                C = given["constraints"][i]
                delta = 2 * math.sqrt(C) * (r[i] - 0.5) if given["form"] == "paper" else (r[i] - max(0.5, m)) / math.sqrt(G / 4 / C)
                gains = [given["gain_pos"] if v >= 0 else given["gain_neg"] for v in (r[i] - m, delta)]
                shaped = [g * math.tanh(given["beta"] * v) for g, v in zip(gains, ((r[i] - m) / s, delta))]
                check(f"by hand: {label}", close(A[i], (1 - given["alpha"]) * shaped[0] + given["alpha"] * shaped[1]))
    plain = dict(alpha=0, beta=2.0 ** -40, gain_pos=2.0 ** 40, gain_neg=2.0 ** 40, form="paper")
    batch = responses([0, 0, 0], [1, 0, 0.25])
    found = exactly("two_anchors", batch, constraints=[1] * 3, **plain)["advantage"]
    m, s = statistics.mean(batch["reward"]), statistics.pstdev(batch["reward"])
    check("small and straight: the z-score", all(close(n.value, (x - m) / s) for n, x in zip(found, batch["reward"])))


def check_calibration(check):
    step = Fraction(1, 10 ** 9)
    for label, given, batch, found in every("pairwise_calibration"):
        scores = calls.calls_rewards.means(batch, "logp")
        A, tau = values(found["advantage"]), Fraction(given["temperature"])
        for group in groups_of(batch):
            own = [i for i in group if i in scores]
            check(f"what is pulled up is pushed down: {label}", near(sum(A[i] for i in own), 0))

            def loss(at):
                pairs = [(i, j) for i in own for j in own if given["correct"][i] and not given["correct"][j]]
                return sum(mpmath.log1p(mpmath.exp(calls.real((at[j] - at[i]) / tau))) for i, j in pairs)
            for i in own:
                up, down = (loss({j: scores[j].value + (k if i == j else 0) for j in own}) for k in (step, -step))
                check(f"minus the slope of a logistic loss: {label}", abs((down - up) / calls.real(2 * step) - A[i]) < 1e-16)


def check_scales(check):
    for label, given, _, found in every("multi_scale_advantage"):
        r, A = given["reward"], values(found["advantage"])
        check(f"they add up to 0: {label}", near(sum(A), 0))
        if len(r) > 8:
            continue
        for i in range(len(r)):
            means = []
            for tau in range(2, len(r) + 1):
                sets = [s for s in itertools.combinations(range(len(r)), tau) if i in s]
                zs = [(r[i] - statistics.mean(r[k] for k in s)) / (statistics.pstdev([r[k] for k in s]) + given["eps"]) for s in sets]
                means.append(statistics.mean(zs))
            check(f"all subgroups: {label}", close(A[i], statistics.mean(means)))
    dice = Dice(3)
    r = [dice.below(2) for _ in range(7)]
    A = exactly("multi_scale_advantage", reward=r, eps=2.0 ** -60)["advantage"]
    up, down = (next(A[i].value for i in range(7) if r[i] == x) for x in (1, 0))
    check("of 0 and 1: a factor of the centred reward", abs(up / -down - mpf(r.count(0)) / r.count(1)) < 1e-12)


def check_misses(check):
    for label, given, batch, found in every("hardest_miss"):
        r, u, A = batch["reward"], given["utility"], values(found["advantage"])
        for g, group in enumerate(groups_of(batch)):
            misses, hits = [i for i in group if r[i] == 0], [i for i in group if r[i] > 0]
            up, down = ([i for i in group if A[i] == side] for side in (1, -1))
            check(f"one and one, or none: {label}", (len(up), len(down)) == ((1, 1) if misses and hits else (0, 0)))
            for chosen, among, x in ((up, hits, r), (down, misses, u)):
                first = [i for i in among if x[i] == max(x[j] for j in among)][:1]
                check(f"the first of the largest: {label}", not chosen or chosen == first)
            lowest = [i for i in group if u[i] == min(u[j] for j in group)][0]
            check(f"repaired where nothing else is left: {label}", found["replace"][g] == (lowest if len(misses) == len(group) else -1))


def check_position(check):
    for label, given, _, found in every("position_advantage"):
        A, r = values(found["advantage"]), given["reward"]
        same = len(set(r)) == 1
        check(f"half up, half down: {label}", near(sum(A), 0) and near(sum(map(abs, A)), not same))
        weight = [mpmath.exp(calls.real(Fraction(o))) for o in given["logp_old"]]
        centre = sum(w * x for w, x in zip(weight, r)) / sum(weight)
        worth = [a / (w * (x - centre)) for a, w, x in zip(A, weight, r) if x != r[0] and not same]
        check(f"one factor for all: {label}", all(abs(x / worth[0] - 1) < 1e-12 for x in worth))
        moved = exactly("position_advantage", **{**given, "reward": [Fraction(2) * Fraction(x) + 3 for x in r]})["advantage"]
        check(f"units and origin do not matter: {label}", all(near(n.value, a) for n, a in zip(moved, A)))


GROUPS = (check_sizes, check_confidence, check_difficulty, check_entropy_factor, check_surprisal, check_gaussian, check_budget,
          check_lengths, check_votes, check_pairs, check_spread, check_split, check_collapsed, check_factors, check_trees, check_anchors,
          check_calibration, check_scales, check_misses, check_position)
