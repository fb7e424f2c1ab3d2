"""Identities of the functions of calls_lists.py and calls_groups.py."""
import itertools
import math
import statistics
from fractions import Fraction

import calls
from call_cases_lists import BANNED, tokens
from call_checks import ask, cases_of, exactly
from call_checks_more import near, rational
from call_checks_rewards import every, fraction, values
from limits import mpf, mpmath
from scenarios import Dice

HALF = Fraction(1, 2)
MINE = [f.__name__ for f in calls.calls_lists.ALONE + calls.calls_groups.ON_BATCHES]


def thrown(dice, n, low=-2, high=2, parts=8):
    return [dice.fraction(low, high, parts) for _ in range(n)]


def close(x, y):
    return abs(x - y) < 1e-12 * max(1, abs(x), abs(y))


def own(batch):
    """The mask tokens of each response."""
    return [[p for p in calls.calls_groups.places(batch) if p[0] == i] for i in range(len(batch["length"]))]


def at(rows, place):
    return rows[place[0]][place[1]]


def logistic(x):
    return 1 / (1 + math.exp(-x))


def check_sizes(check):
    flat = lambda x: [x] if isinstance(x, calls.Number) else [y for part in x for y in flat(part)] if isinstance(x, list) else []
    for name in MINE:
        for label, _, _, found in every(name):
            numbers = [n for x in found.values() for n in flat(x) if n.value != mpmath.inf]
            check(f"a size is not below its number: {label}", all(calls.real(n.size) >= abs(calls.real(n.value)) * (1 - mpf(10) ** -40)
                                                                  for n in numbers))


def check_unread(check):
    """What nobody reads may be anything: diagonals, rewards of inner nodes, the root's edge, gaps of wrong answers."""
    for label, given, _, found in every("pairwise_wins"):
        other = [[5 if i == j else x for j, x in enumerate(row)] for i, row in enumerate(given["wins"])]
        check(f"the diagonal: {label}", exactly("pairwise_wins", wins=other) == found)
    for label, given, _, found in every("branch_advantage"):
        reward = [5 if i in given["parent"] else r for i, r in enumerate(given["reward"])]
        other = exactly("branch_advantage", **{**given, "reward": reward, "logp": [5] + given["logp"][1:]})
        check(f"inner nodes and the root's edge: {label}", other == found)
    for label, given, _, found in every("hint_reward"):
        gap = [d if r > 0.5 else 7 for r, d in zip(given["reward"], given["gap"])]
        check(f"gaps of wrong answers: {label}", exactly("hint_reward", **{**given, "gap": gap}) == found)


# ---- distributions

def value_at(given, **other):
    return calls.calls_lists.divergence(**{**{k: calls.exact(x) for k, x in given.items()}, **other})["value"].value


def check_slopes(check):
    h = Fraction(1, 10 ** 15)
    for label, given, _, found in every("divergence"):
        if "dstudent" not in found:
            continue
        student = calls.exact(given["student"])
        for v, d in enumerate(found["dstudent"]):
            if student[v] != BANNED:
                up, down = (value_at(given, student=student[:v] + [student[v] + step] + student[v + 1:]) for step in (h, -h))
                check(f"the slope: {label}", abs((up - down) / (2 * calls.real(h)) - d.value) < mpf(10) ** -25)
        check(f"a shift of all logits has none: {label}", near(sum(values(found["dstudent"])), 0))


def check_distributions(check):
    for label, given, _, found in every("divergence"):
        other = {**given, "student": given["teacher"], "teacher": given["student"], "beta": 1 - given["beta"]}
        check(f"student and teacher change places: {label}", value_at(other) == value_at(given) or near(value_at(other), value_at(given)))
        end = given["beta"] in (0, 1)
        behind, ahead = (given["teacher"], given["student"]) if given["beta"] else (given["student"], given["teacher"])
        lacking = end and any(x == BANNED != y for x, y in zip(behind, ahead))
        check(f"beyond measure only where one lacks what the other has: {label}", lacking == (value_at(given) == mpmath.inf))
        if end and not lacking:
            by, step = Fraction(1, 10 ** 20), given["beta"]
            beside = value_at(given, beta=abs(step - by)) / calls.real(by)
            check(f"an end is a limit: {label}", abs(beside - value_at(given)) < mpf(10) ** -15)
    odds = [(Fraction(1, 2), Fraction(1, 4)), (Fraction(1, 2), Fraction(3, 4))]
    p, q = ([rational(mpmath.log(calls.real(x))) for x in side] for side in zip(*odds))
    log = lambda x: mpmath.log(calls.real(Fraction(x)))
    hand = {0: log(HALF) / 4 + 3 * log(1.5) / 4, 1: log(2) / 2 + log(Fraction(2, 3)) / 2,
            HALF: (log(Fraction(2, 3)) / 4 + 3 * log(Fraction(6, 5)) / 4 + log(Fraction(4, 3)) / 2 + log(Fraction(4, 5)) / 2) / 2}
    for beta, expected in hand.items():
        found = calls.calls_lists.divergence(p, q, Fraction(1), Fraction(beta))["value"].value
        check(f"a half against a quarter, beta {beta}", abs(found - expected) < mpf(10) ** -40)
    for label, given, _, found in every("set_gap"):
        back = exactly("set_gap", **{**given, "student": given["teacher"], "teacher": given["student"]})["gap"].value
        moved = exactly("set_gap", **{**given, "student": [x - 0.5 for x in given["student"]]})["gap"].value
        gap = found["gap"].value
        check(f"seen from the other side, and any share of the whole: {label}", near(back, -gap) and near(moved, gap))
    even = exactly("set_gap", student=[-1, -1], teacher=[-2, -1], target=1)["gap"].value
    check("one half and 1/(1 + 1/e)", near(even, mpmath.log(2 / (1 + mpmath.exp(-1)))))


# ---- rewards of hints and of predictions

def check_hints(check):
    for right, n in ((1, 2), (2, 3), (3, 8)):
        given = dict(reward=[1] * right + [0] * (n - right), gap=[0] * n, temperature=1, gate=False)
        p = Fraction(right, n)
        mixed = sum(p ** sum(s) * (1 - p) ** (n - sum(s)) for s in itertools.product((0, 1), repeat=n) if 0 < sum(s) < n)
        check("n answers that are not all alike", near(exactly("hint_reward", **given, form="informative")["reward"].value, mixed))
        spread = statistics.pvariance(map(Fraction, given["reward"]))
        check("their variance", near(exactly("hint_reward", **given, form="variance")["reward"].value, spread))
        lean = exactly("hint_reward", **{**given, "gap": [-0.25] * right + [9] * (n - right)}, form="variance")["reward"].value
        check("e^(-1/4) of it", near(lean, calls.real(spread) * mpmath.exp(-mpf(1) / 4)))
    told = lambda **more: exactly("meta_reward", **{**dict(correct=[1, 0], length=[3, 9], net=[1], passes=4, predicted_length=5), **more})
    check("a half right, four of eight, one length: two thirds", near(told()["reward"].value, Fraction(2, 3)))
    check("a quarter off: a tenth to the half", near(told(passes=6, net=[0])["reward"].value * 3, mpmath.sqrt(mpf(1) / 10)))
    check("three notions of four", near(told(net=[1, 2, -1, 3])["reward"].value, Fraction(7, 12)))
    check("nothing is right, as foretold", near(told(correct=[0, 0], passes=0)["reward"].value, Fraction(2, 3)))
    check("two ends are not between", all(near(told(correct=[1, 1], passes=8, predicted_length=x)["reward"].value * 3, 2) for x in (3, 9)))
    check("between the lengths of two right ones", near(told(correct=[1, 1], passes=8)["reward"].value, 1))


def check_steps(check):
    dice = Dice(21)
    for n in range(1, 6):
        r = thrown(dice, n)
        found = values(exactly("future_success", reward=r)["advantage"])
        expected = [Fraction(x) * (1 + statistics.mean(fraction(r[i + 1:]) or [0])) for i, x in enumerate(r)]
        check("a step and the mean of the later ones", found == expected)
    for label, given, _, found in every("coplayer_credit"):
        g, h, beta, c = (Fraction(given[key]) for key in ("gamma", "weight_gamma", "beta", "clip"))
        W, expected = Fraction(0), []
        for t, (a, b) in enumerate(zip(fraction(given["own"]), fraction(given["other"]))):
            V = W + h * a if given["inclusive"] else W
            W = h * (W + h * a)
            V = V / (t + 1) if given["per_step"] else V
            V = min(max(V, -c), c) if c else V
            V = (V > 0) - (V < 0) if given["sign"] else V
            expected.append((a + beta * V * b) * (g ** t if given["discount"] else 1))
        check(f"by its recursion: {label}", values(found["credit"]) == expected)
    for label, given, _, found in every("information_gain"):
        ends = [x if given["form"] == "log" else mpmath.exp(x) for x in (given["logp"][-1], given["logp"][0])]
        check(f"all of it is the last less the first: {label}", near(sum(map(calls.real, values(found["gain"]))), ends[0] - ends[1]))
    for label, given, _, found in every("dense_rewards"):
        earned = [x for x in given["reward"] if x > 0]
        share = statistics.mean(fraction(earned)) if earned else 0
        whole = sum(values(found["reward"]))
        check(f"won: the mean of what was earned: {label}", given["score"] <= 0 or whole == share)
        check(f"lost: a part of the whole: {label}", given["score"] > 0 or whole * max(1, given["total"]) == sum(fraction(given["reward"])))


def check_ranks(check):
    dice = Dice(22)
    for label, given, _, found in every("pairwise_wins"):
        n = len(given["wins"])
        check(f"a win for every comparison: {label}", sum(values(found["reward"])) == (Fraction(n, 2) if n > 1 else 0))
    given = [given for _, given, _ in cases_of("entropy_rank_reward")]
    given += [dict(peak=thrown(dice, 5, 0, 1, 4), overall=thrown(dice, 5, 0, 1, 4), top=1) for _ in range(30)]
    for a in given:
        n, found = len(a["peak"]), values(exactly("entropy_rank_reward", **a)["reward"])
        beats = lambda i, j: a["peak"][i] > a["peak"][j] and a["overall"][i] < a["overall"][j]
        number = [sum(beats(i, j) for j in range(n)) for i in range(n)]
        ahead = [sum(number[j] > number[i] or number[j] == number[i] and j < i for j in range(n)) for i in range(n)]
        last = max(n - 1, 1)
        check("as many steps down as are ahead", [x * last for x in found] == [Fraction(a["top"]) * (last - k) for k in ahead])
        check("who beats another has more", all(found[i] > found[j] for i in range(n) for j in range(n) if beats(i, j)))


def check_intervals(check):
    for label, given, _, found in every("interval_reward"):
        deviation = statistics.stdev if given["sample"] else statistics.pstdev
        u = sum(deviation(given[key]) for key in ("begin", "end"))
        s, e = (statistics.mean(given[key]) for key in ("begin", "end"))
        for b, f, n in zip(given["begin"], given["end"], found["reward"]):
            inside = max(0, (f - b) + (e - s) - (max(f, e) - min(b, s)))  # two lengths less their hull is their overlap
            expected = inside / (max(f, e) - min(b, s)) * math.exp(-given["gamma"] * u)
            check(f"with the standard library: {label}", close(float(n.value), expected))


def check_branches(check):
    for label, given, _, found in every("branch_advantage"):
        parent, A = given["parent"], values(found["advantage"])
        n = len(parent)
        children = [[c for c in range(n) if parent[c] == i] for i in range(n)]
        depth = lambda i: 0 if parent[i] < 0 else 1 + depth(parent[i])
        leaves = lambda i: [x for c in children[i] for x in leaves(c)] if children[i] else [given["reward"][i]]

        def worth(i):
            if given["form"] == "leaves" or not children[i]:
                return statistics.mean(leaves(i))
            w = [math.exp(given["alpha"] * given["logp"][c]) for c in children[i]]
            return sum(x * worth(c) for x, c in zip(w, children[i])) / sum(w)
        for d in {depth(i) for i in range(n)}:
            level = [i for i in range(n) if depth(i) == d]
            R = [worth(i) for i in level]
            s = statistics.stdev(R) if len(R) > 1 else 0
            expected = [(x - statistics.mean(R)) / (s + 1e-8) if s >= 1e-6 else 0 for x in R]
            check(f"from the leaves up: {label}", all(close(float(A[i]), x) for i, x in zip(level, expected)))
    even = dict(parent=[-1, 0, 0, 0, 1, 1, 2, 2, 3, 3], reward=[0, 0, 0, 0, 1, 0.5, 0, -1, 3, 0.25], logp=[0] + [-1] * 9, alpha=2)
    by = [values(exactly("branch_advantage", **even, form=form)["advantage"]) for form in ("leaves", "probability")]
    check("even edges of an even tree: all leaves alike", all(map(near, *by)))


# ---- what is sampled, Gram matrices, factors

def check_sampling(check):
    for label, given, _, found in every("cluster_probability"):
        p = values(found["probability"])
        check(f"they sum to 1: {label}", sum(p) == 1)
        alpha, before = Fraction(given["alpha"]), fraction(given["probability"])
        now = fraction(s if s >= 0 else r for r, s in zip(given["rate"], given["success"]))
        gained = [x * ((1 - alpha) * sum(before) + alpha) - (1 - alpha) * y for x, y in zip(p, before)]
        shares = [x * sum(now) == alpha * r for x, r in zip(gained, now)] if any(now) else [x == alpha / len(now) for x in gained]
        check(f"what is new in them: {label}", values(found["rate"]) == now and all(shares))
        twice = exactly("cluster_probability", **{**given, "rate": [x / 2 for x in given["rate"]],
                                                  "success": [x / 2 if x >= 0 else x for x in given["success"]]})
        check(f"only the proportion of the rates counts: {label}", values(twice["probability"]) == p)
    for label, given, _, found in every("explore_weight"):
        away = [(calls.real(n.value) - calls.real(Fraction(given["least"]))) ** 2 for n in found["weight"]]
        spread = [Fraction(v) - Fraction(v) ** 2 for v in given["value"]]
        check(f"the variance of a flag: {label}", all(map(near, away, spread)))
    for label, given, _, found in every("hint_level"):
        for k, s, new in zip(given["level"], given["success"], found["level"]):
            step = (s < given["low"]) - (s > given["high"])
            check(f"one step: {label}", new == (min(max(k + step, 0), given["max"]) if step else k))


def rounded_ratio(K, share):
    """Of the eigenvalues, the code's guard acting on K/n."""
    spectrum = mpmath.eigsy(mpmath.matrix([[calls.real(Fraction(x)) / len(K) for x in row] for row in K]), eigvals_only=True)
    return int(mpmath.nint(share * sum(spectrum) ** 2 / (sum(x * x for x in spectrum) + mpf(10) ** -10)))


def check_grams(check):
    dice = Dice(23)
    for n, width in ((2, 3), (3, 3), (4, 2), (5, 6)):
        g = [fraction(thrown(dice, width)) for _ in range(n)]
        A = thrown(dice, n)
        K = [[sum(x * y for x, y in zip(a, b)) for b in g] for a in g]
        given = dict(gram=[[float(x) for x in row] for row in K], advantage=A)
        together = sum(sum(Fraction(a) * row[d] for a, row in zip(A, g)) ** 2 for d in range(width))
        alone = sum(Fraction(a) ** 2 * K[i][i] for i, a in enumerate(A)) + Fraction(1, 10 ** 9)
        found = exactly("gram_rank", **given, share=1, least=1, most=n)
        check("the square of a sum over the sum of squares", found["effective"].value == together / alone)
        check("the participation ratio of the eigenvalues", found["rank"] == max(1, min(rounded_ratio(K, 1), n - 1)))
    for label, given, _, found in every("gram_rank"):
        rank = min(rounded_ratio(given["gram"], given["share"]), given["most"], len(given["gram"]) - 1)
        check(f"the participation ratio of the eigenvalues: {label}", found["rank"] == max(given["least"], rank))
    for label, given, _, found in every("project_advantage"):
        A, basis = fraction(given["advantage"]), [fraction(row) for row in given["basis"]]
        off = max(abs(sum(x * x for x in row) - 1) for row in basis)
        check(f"an orthonormal basis, but for rounding: {label}", off < Fraction(1, 10 ** 15))
        kept = [max(a, 0) if given["positive"] else a for a in A]
        got = values(found["advantage"])
        for row in basis:  # along the basis it is A, beside it alpha times what is kept
            moved = sum(v * (x - a) for v, x, a in zip(row, got, A))
            check(f"along the basis nothing changes: {label}", abs(moved) < Fraction(1, 10 ** 14))
        gone = values(exactly("project_advantage", **{**given, "advantage": [float(k) for k in kept], "alpha": 0})["advantage"])
        inner = values(exactly("project_advantage", **{**given, "alpha": 0})["advantage"])
        check(f"what is beside it: {label}", all(x - y == Fraction(given["alpha"]) * (k - z) for x, y, k, z in zip(got, inner, kept, gone)))


def check_factors(check):
    for label, given, _, found in every("dynamic_scale"):
        d, R = given["hardness"], fraction(given["gap"])
        kept = [x for x in R if (x - statistics.mean(R)) ** 2 <= Fraction(given["bound"])]
        prompt = logistic(float(statistics.mean(kept))) / logistic(float(statistics.mean(R)))
        expected = [logistic(x) / logistic(statistics.mean(d)) * prompt for x in d]
        check(f"with the standard library: {label}", all(close(float(n.value), x) for n, x in zip(found["factor"], expected)))
    for label, given, _, found in every("consistency_weights"):
        both = list(zip(values(found["local"]), values(found["global"])))
        check(f"they sum to 1: {label}", all(near(x + y, 1) for x, y in both))
        gate = [calls.real(Fraction(given["gamma"]) * (Fraction(H) - Fraction(given["centre"]))) for H in given["entropy"]]
        check(f"their odds: {label}", all(abs(mpmath.log(x / y) - z) < mpf(10) ** -35 for (x, y), z in zip(both, gate)))


# ---- groups

def check_prime(check):
    for label, given, batch, found in every("implicit_advantage"):
        x, r, A = given["process"], fraction(batch["reward"]), found["advantage"]
        mine = own(batch)
        bar = [statistics.mean(Fraction(at(x, p)) for p in line) if line else Fraction(0) for line in mine]
        for group in calls.by_group(batch):
            for i in group:
                others = [j for j in group if j != i]
                left = [sum(f[j] for j in others) / len(others) for f in (bar, r)]
                steps = [at(A, p).value for p in mine[i]] + [Fraction(0)]
                rho = [a - b for a, b in zip(steps, steps[1:])]
                means = [Fraction(given["process_coef"]) * (bar[i] - left[0]), Fraction(given["outcome_coef"]) * (r[i] - left[1])]
                check(f"leave one out, by responses: {label}", not rho or sum(rho) == len(rho) * means[0] + means[1])
                tilt = [a - b for a, b in zip(rho[:-1], rho[1:-1])]
                apart = [Fraction(at(x, p)) - Fraction(at(x, q)) for p, q in zip(mine[i], mine[i][1:-1])]
                scale = Fraction(given["process_coef"] * len(group)) / (len(group) - 1)
                check(f"between tokens their own: {label}", tilt == [scale * y for y in apart])


def check_efficiency(check):
    for label, given, batch, found in every("efficiency_reward"):
        groups, T = calls.by_group(batch), [len(line) for line in own(batch)]
        solved = [Fraction(sum(given["correct"][i] for i in group), len(group)) for group in groups]
        ahead = [sum(x > y or x == y and h < g for h, x in enumerate(solved)) for g, y in enumerate(solved)]
        count = max(1, math.ceil(given["share"] * len(groups)))
        check(f"the best prompts: {label}", found["efficient"] == [k < count for k in ahead])
        for g, group in enumerate(groups):
            right = [i for i in group if given["correct"][i]]
            s = statistics.pstdev([T[i] for i in right]) if right else 0
            for i in group:
                z = (T[i] - statistics.mean(T[j] for j in right)) / s if s and i in right else 0
                worth = (1 - given["alpha"] * logistic(z) if found["efficient"][g] else 1) if i in right else 0
                check(f"with the standard library: {label}", close(float(found["reward"][i].value), worth))


def check_care(check):
    for label, given, batch, found in every("consistency_bonus"):
        a, mine = fraction(given["accuracy"]), own(batch)
        chosen = [[float(at(batch["logp_ref"], p)) for p in line if at(batch["selected"], p)] for line in mine]
        c = [min(math.exp(statistics.mean(f or [0])), given["cap"]) for f in chosen]
        for group in calls.by_group(batch):
            fair = [i for i in group if a[i] > Fraction(0.1) and a[i] * len(group) >= sum(a[j] for j in group)]
            for i in group:
                enough = i in fair and c[i] >= statistics.mean(c[j] for j in fair) - given["margin"] - 1e-12
                more = found["reward"][i].value - Fraction(batch["reward"][i])
                check(f"with the standard library: {label}", more == (Fraction(given["lambda"]) * a[i] if enough else 0))


def check_prompts(check):
    for label, given, batch, found in every("invariance_weight"):
        groups, r, w = calls.by_group(batch), fraction(batch["reward"]), values(found["weight"])
        bar = [statistics.mean(r[i] for i in group) for group in groups]
        for g, group in enumerate(groups):
            anchors = [bar[h] for h in range(len(groups)) if given["anchor"][h] and given["meta"][h] == given["meta"][g]]
            gap = sum(x - bar[g] for x in anchors) if not given["anchor"][g] else 0
            check(f"gaps to each anchor: {label}", all(w[i] * max(len(anchors), 1) == gap * r[i] for i in group))
    for label, given, batch, found in every("hardness_advantage"):
        A = values(found["advantage"])
        check(f"they sum to 0: {label}", all(sum(A[i] for i in group) == 0 for group in calls.by_group(batch)))
        plain = values(exactly("hardness_advantage", batch, slope=0, offset=1)["advantage"])
        mu = {i: statistics.mean(Fraction(batch["reward"][j]) for j in group) for group in calls.by_group(batch) for i in group}
        line = [Fraction(given["slope"]) * mu[i] + Fraction(given["offset"]) for i in range(len(A))]
        check(f"a line of the mean: {label}", A == [x * y for x, y in zip(plain, line)])
    for label, given, batch, found in every("centred_weights"):
        both = [values(found[key]) for key in ("surrogate", "penalty")]
        check(f"together 2: {label}", all(x + y == 2 for x, y in zip(*both)))
        check(f"in the mean 1: {label}", all(sum(both[0][i] for i in group) == len(group) for group in calls.by_group(batch)))
        apart = [(x - both[0][0], Fraction(r) - Fraction(batch["reward"][0])) for x, r in zip(both[0], batch["reward"])]
        first = apart[:len(calls.by_group(batch)[0])]
        check(f"a line of the reward: {label}", all(x == Fraction(given["k"]) * y for x, y in first))
    for label, given, batch, found in every("logistic_shift"):
        mirrored = {**batch, "logp": batch["logp_ref"], "logp_ref": batch["logp"]}
        flipped = exactly("logistic_shift", mirrored, **{**given, "correct": [not c for c in given["correct"]]})
        check(f"policy and reference, right and wrong change places: {label}", flipped["shift"].value == -found["shift"].value)
    plain = tokens([0, 0], logp=[[-1, -2], [-3]], logp_ref=[[-2, -2.5], [-1]])
    check("(1.5 - 2)/2", exactly("logistic_shift", plain, correct=[True, False], beta=2)["shift"].value == -HALF)


# ---- HAPO

def check_carried(check):
    for label, given, batch, found in every("token_advantage"):
        A, r, T = values(found["advantage"]), fraction(batch["reward"]), [len(line) for line in own(batch)]
        for group in calls.by_group(batch):
            carried = [float(r[i]) for i in group for _ in range(T[i])]
            if len(set(carried)) <= 1:
                check(f"nothing to tell apart: {label}", not any(A[i] for i in group))
                continue
            by = statistics.pstdev(carried) + given["eps"] if given["scaled"] else 1
            expected = {i: (float(r[i]) - statistics.fmean(carried)) / by for i in group}
            if max(abs(expected[i]) for i in group if T[i]) >= given["limit"]:
                plain = [float(r[i]) for i in group]
                by = statistics.stdev(plain) + given["eps"] if given["scaled"] else 1
                expected = {i: (float(r[i]) - statistics.fmean(plain)) / by for i in group}
            check(f"over what the tokens carry: {label}", all(close(float(A[i]), expected[i]) for i in group))
    for label, given, batch, found in every("adapted_clip"):
        for p in calls.at(batch, "logp"):
            h, A, w = given["standard"][p[0]][p[1]], at(batch["advantage"], p), math.exp(at(batch["logp"], p) - at(batch["logp_old"], p))
            bent = 1 + given["clip_coef"] * abs(h)
            low, high = (given["low"], given["high"] * bent) if h > 0 else (given["low"] * bent, given["high"])
            gained = (1 - low / 2 < w < 1 + high / 2) != (h > 0)
            expected = low, high, A * (1 + given["gain"] * h) if gained else A
            got = [float(at(found[key], p).value) for key in ("clip_low", "clip_high", "advantage")]
            check(f"with the standard library: {label}", all(map(close, got, expected)))


# ---- weights of tokens

def dot(x, y):
    return math.fsum(a * b for a, b in zip(x, y))


def by_hand(feature, A, given):
    """DelTA in binary64; the margin as a line of the feature."""
    ups = {s: [p for p in A if A[p] * s > 0] for s in (1, -1)}
    c = {p: abs(A[p]) for p in A}

    def margins(weight):
        mu = {s: [math.fsum(weight[p] * feature[p][d] for p in side) / max(math.fsum(weight[p] for p in side), 1e-8)
                  for d in range(given["width"])] for s, side in ups.items()}
        return {p: 2 * dot(feature[p], [a - b for a, b in zip(mu[s], mu[-s])]) + dot(mu[-s], mu[-s]) - dot(mu[s], mu[s])
                for s, side in ups.items() for p in side}

    def temperature(M):
        return {p: math.sqrt(max(statistics.pvariance([M[q] for q in side]), 1e-8)) for side in ups.values() for p in side}
    M = margins(c)
    gamma, x = temperature(M), {p: logistic(M[p] / temperature(M)[p]) for p in M}
    for _ in range(given["refine"]):
        M = margins({p: c[p] * x.get(p, 0) for p in A})
        x, gamma = {p: logistic(M[p] / gamma[p]) for p in M}, temperature(M)
    weight = {p: given["low"] + (given["high"] - given["low"]) * x.get(p, 0) for p in A}
    return {p: w * len(A) / math.fsum(weight.values()) if any(weight.values()) else 0 for p, w in weight.items()}


def check_centroids(check):
    for label, given, batch, found in every("centroid_weight"):
        A = {p: float(a) for p, a in calls.at(batch, "advantage").items()}
        expected = by_hand(dict(zip(calls.slots(batch), given["feature"])), A, given)
        check(f"in binary64: {label}", all(abs(float(at(found["weight"], p).value) - x) < 1e-9 for p, x in expected.items()))
        flipped = {**batch, "advantage": [[a if isinstance(a, str) else -a for a in row] for row in batch["advantage"]]}
        same = exactly("centroid_weight", flipped, **given) == found
        check(f"the sides change places: {label}", same)


def check_agents(check):
    for label, given, batch, found in every("agent_weights"):
        for line in own(batch):
            parts = {}
            for p in line:
                parts[at(given["agent"], p)] = parts.get(at(given["agent"], p), 0) + at(found["weight"], p).value
            check(f"each agent has its part: {label}", set(parts.values()) <= {Fraction(1, max(len(parts), 1))})
    for label, given, batch, found in every("ratio_quantile"):
        chosen = [p for line in own(batch) for p in line if at(batch["selected"], p)]
        w = sorted(math.exp(at(batch["logp"], p) - at(batch["logp_old"], p)) for p in chosen)
        if len(w) > 1:
            k = min(int(given["quantile"] * (len(w) - 1)), len(w) - 2)
            line = w[k] + (given["quantile"] * (len(w) - 1) - k) * (w[k + 1] - w[k])
        else:
            line = w[0] if w else 0
        check(f"with the standard library: {label}", close(float(found["value"].value), max(line, given["least"])))
    none = tokens(logp=[[-1]], logp_old=[[-2]], selected=[[False]])
    check("nothing selected: the least", ask("ratio_quantile", none, quantile=1, least=0.5) == {"value": 0.5})


GROUPS = (check_sizes, check_unread, check_slopes, check_distributions, check_hints, check_steps, check_ranks, check_intervals,
          check_branches, check_sampling, check_grams, check_factors, check_prime, check_efficiency, check_care, check_prompts,
          check_carried, check_centroids, check_agents)
