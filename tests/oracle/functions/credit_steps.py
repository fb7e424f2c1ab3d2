"""Advantages of turns, steps and tree nodes."""
import math
import statistics
from fractions import Fraction

import limits
import reals
from functions.arithmetic import NOTHING, Number, absolute, clamp, itself, less, mean, real, sample_variance, softmax, summed
from functions.batches import TENTHS, UNMASKED, each
from functions.comparing import close, every, exactly, fraction, near, thrown, values
from functions.domains import FLAG, FRACTION, INTEGER, NOT_NEGATIVE, NUMBER, integer, many, one_of
from functions.registry import cases, checks, function
from limits import ONE, settle
from scenarios import Dice


# ---- future_success_advantage

@function(advantage=many(NUMBER))
def future_success_advantage(reward: many(NUMBER, least=1)):
    """StepCodeReasoner (2605.11922, eq. 11): a step's reward times 1 + the mean of the later rewards.

    Source: StepCodeReasoner, 2605.11922
    Takes: `reward` (n >= 1: the steps of a response)
    Gives: `advantage` (n): r_i (1 + mean of the later r_j), the last one r_n; scale with absolute values
    """
    def worth(i, r):
        later = reward[i + 1:]
        ahead = [mean(x) if x else Fraction(0) for x in (later, absolute(later))]
        return Number(r * (1 + ahead[0]), abs(r) * (1 + ahead[1]))
    return {"advantage": [worth(i, r) for i, r in enumerate(reward)]}


@cases("future_success_advantage")
def future_success_cases(case):
    each(case,
         ("right", "every step is right: advantage 2, but 1 for the last step, which nothing follows", dict(reward=[1, 1, 1])),
         ("wrong", "a wrong step has advantage 0, whatever follows it", dict(reward=[1, 0, 1, 0])),
         ("signs", "rewards of both signs", dict(reward=[0.5, -1, 0.7, -0.25])),
         ("one", "a single step: its advantage is its reward", dict(reward=[0.75])))


@checks("future_success_advantage")
def check_future_success_advantage(check):
    dice = Dice(21)
    for n in range(1, 6):
        r = thrown(dice, n, -2, 2)
        found = values(exactly("future_success_advantage", reward=r)["advantage"])
        expected = [Fraction(x) * (1 + statistics.mean(fraction(r[i + 1:]) or [0])) for i, x in enumerate(r)]
        check("a step and the mean of the later ones", found == expected)


# ---- alignment_advantage

def held(W, clip, sign):
    if clip and less(clip, abs(W.value)):
        W = Number(clip if W.value > 0 else -clip, clip)
    return Number(Fraction((W.value > 0) - (W.value < 0)), Fraction(1)) if sign else W


@function(credit=many(NUMBER))
def alignment_advantage(own: many(NUMBER), other: many(NUMBER), gamma: FRACTION, weight_gamma: FRACTION, beta: NUMBER, inclusive: FLAG,
                    sign: FLAG, per_step: FLAG, discount: FLAG, clip: NOT_NEGATIVE):
    """ADALIGN (2511.19405), official code: the other agent's advantage is added, weighted by the discounted sum of the own past advantages.

    Source: ADALIGN, 2511.19405, official code
    Takes: `own` a, `other` b (n steps each), `gamma` g and `weight_gamma` h in [0, 1], `beta`, flags `inclusive`, `sign`, `per_step`,
    `discount`, `clip` c >= 0 (0: none)
    Gives: W_t = h sum of h^(t-k) a_k over k < t, with inclusive over k <= t; then in this order: divided by t + 1 (per_step), clipped
    to -c .. c, replaced by its sign, 0 of 0 (sign). `credit` (n): (a_t + beta W_t b_t), times g^t with discount; t from 0, 0^0 = 1.
    Scale: absolute values and plus; in the place of W c where the clip binds, 1 with sign
    """
    def credit(t):
        W = summed([weight_gamma ** (t - k + 1) * own[k] for k in range(t + inclusive)])
        by = t + 1 if per_step else 1
        W = held(Number(Fraction(W.value, by), Fraction(W.size, by)), clip, sign)
        later = gamma ** t if discount else 1
        return Number((own[t] + beta * W.value * other[t]) * later, (abs(own[t]) + abs(beta * other[t]) * W.size) * later)
    return {"credit": [credit(t) for t in range(len(own))]}


@cases("alignment_advantage")
def coplayer_credit_cases(case):
    def ally(label, comment, own=(0.5, -1, 0.25, 1), other=(1, 0.5, -2, 0.75), gamma=0.9, weight_gamma=0.96, beta=2, inclusive=False,
             sign=False, per_step=False, discount=False, clip=0):
        case(label, comment, own=list(own), other=list(other), gamma=gamma, weight_gamma=weight_gamma, beta=beta,
             inclusive=inclusive, sign=sign, per_step=per_step, discount=discount, clip=clip)

    ally("released", "the weight sums earlier advantages only; both discounts are below 1", discount=True)
    ally("inclusive", "the weight includes the step's own advantage", inclusive=True)
    ally("sign", "only the sign of the weight counts; at the first step it is 0", sign=True, beta=0.3)
    ally("per-step", "the weight is divided by the number of steps so far; beta is negative",
         per_step=True, inclusive=True, beta=-1)
    ally("clip", "the weight is clipped at either bound, after the division by the number of steps",
         (2, 3, -9, -1), inclusive=True, per_step=True, clip=1.25)
    ally("clip-sign", "a weight that is clipped keeps its sign, and only the sign counts",
         (2, 3, -9, -1), inclusive=True, sign=True, clip=0.5, discount=True)
    ally("forget", "both discounts are 0: only the first step keeps a credit", weight_gamma=0, gamma=0, discount=True)


@checks("alignment_advantage")
def check_alignment_advantage(check):
    for label, given, _, found in every("alignment_advantage"):
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


# ---- role_advantage

TINY = Fraction(1, 10 ** 6)


def against_mean(own, r):
    return Number(r - mean(own), abs(r) + mean([abs(x) for x in own]))


def standardised(own, r):
    if len(set(own)) == 1:
        return NOTHING
    x, s = against_mean(own, r), reals.sqrt(real(sample_variance(own))) + real(TINY)
    return Number(real(x.value) / s, real(x.size) / s)


def clipped(own, r):
    x = standardised(own, r)
    bound = clamp(x.value, -1, 3)
    return x if bound == x.value else Number(real(Fraction(bound)), real(Fraction(abs(bound))))


BY_ROLE = {"mean": against_mean, "mean_std": standardised, "clipped": clipped}


@function(advantage=many(NUMBER))
def role_advantage(reward: many(NUMBER, least=1), role: many(INTEGER, least=1), form: one_of("mean", "mean_std", "clipped")):
    """MARS, official code: turns compared with those of the same role.

    Source: MARS, official code, its first step
    Takes: `reward` (n), `role` (n integer ids): of turns; `form`
    Gives: over the turns of the same role: `mean`: r - mean; `mean_std`: (r - mean)/(sample deviation + 1e-6), 0 where all are equal or
    the turn is alone; `clipped`: that clamped to -1 .. 3. `advantage` (n); scale abs(r) + mean abs(r), divided as the value is; the
    clamp keeps it, and is abs(bound) where it binds
    """
    return {"advantage": [BY_ROLE[form]([x for x, other in zip(reward, role) if other == k], r) for r, k in zip(reward, role)]}


@cases("role_advantage")
def role_reward_cases(case):
    TURNS = dict(reward=[1, -0.5, TENTHS, 0.25, 2, -0.5, 0.75], role=[4, -7, 4, 2, 4, -7, 9007199254740991])
    for form in ("mean", "mean_std", "clipped"):
        each(case,(form, "three turns of one role, two equal ones of another, and two roles of a single turn",
                   dict(TURNS, form=form)))
    each(case,
         ("bounds", "one turn is more than 3 deviations above its role's mean, one more than 1 below: both clipped",
          dict(reward=[0] * 16 + [1, 3] + [4] * 3, role=[0] * 17 + [1] * 4, form="clipped")),
         ("close", "rewards 2^-20 apart: the deviation is as small as the 1e-6 added to it",
          dict(reward=[0.5, 0.5 + 2 ** -20, 0.5], role=[1, 1, 1], form="mean_std")))


@checks("role_advantage")
def check_role_advantage(check):
    for label, given, _, found in every("role_advantage"):
        r, role, A = given["reward"], given["role"], values(found["advantage"])
        for k in set(role):
            own = [i for i, other in enumerate(role) if other == k]
            if given["form"] != "clipped":
                check(f"a role's add up to 0: {label}", near(sum(A[i] for i in own), 0))
            alone = exactly("role_advantage", reward=[r[i] for i in own], role=[0] * len(own), form=given["form"])
            check(f"other roles do not matter: {label}", alone["advantage"] == [found["advantage"][i] for i in own])
        check(f"within bounds: {label}", given["form"] != "clipped" or all(-1 <= a <= 3 for a in A))
    A = values(exactly("role_advantage", reward=[0] * 16 + [1], role=[0] * 17, form="clipped")["advantage"])
    check("one success of seventeen counts for 3", A[16] == 3 and all(-1 < a < 0 for a in A[:16]))


# ---- branch_advantage

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


@function(advantage=many(NUMBER))
def branch_advantage(parent: many(integer(-1), least=1), reward: many(NUMBER), logp: many(NUMBER), form: one_of("leaves", "probability"),
                     alpha: NUMBER):
    """BRANCHGRPO (2509.06040), official code: nodes compared with those of the same depth.

    Source: BRANCHGRPO, 2509.06040, official code
    Takes: `parent` (n >= 1; -1: the root, exactly the first; else a lower number), `reward` (n; read at leaves), `logp` (n: of the edge
    from the parent; the root's is not read), `form`, `alpha`
    Gives: R of a node: sum over the leaves below it of weight times reward; `leaves`: the weights are equal; `probability`: the
    product, on the way down, of softmax(alpha logp) over the children of a node. A leaf is its own. `advantage` (n): (R - mean)/(s +
    1e-8) over the nodes as many edges below the root, s their sample deviation; 0 if s < 1e-6 or the node is alone there. Scale: (size
    + mean of sizes)/(s + 1e-8), or 0; size: the sum with absolute values, every leaf's term times 1 + (the sum of the exponents'
    spreads, abs(alpha)(max - min of logp), on its way)
    """
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
        s = reals.sqrt(sum(x * x for x in away) / (len(level) - 1))
        if limits.less(s, real(Fraction(1, 10 ** 6))):
            return NOTHING
        s += real(Fraction(1, 10 ** 8))
        return Number((R[i].value - centre) / s, (R[i].size + size) / s)
    return {"advantage": [advantage(i) for i in range(n)]}


@cases("branch_advantage")
def branch_advantage_cases(case):
    def branch(label, comment, parent, reward, logp, form="leaves", alpha=1):
        case(label, comment, parent=parent, reward=reward, logp=logp, form=form, alpha=alpha)

    TREE = [-1, 0, 0, 0, 1, 1, 2, 2, 2]
    FRUIT = [UNMASKED] * 3 + [0.25, 1, 0.25, 0, 0.5, 0.125]
    EDGES = [0, -0.5, -1, -2, -0.25, -2, -1, -1.5, -0.5]
    branch("leaves", "a leaf beside branches of two and three leaves; rewards of inner nodes are not read", TREE, FRUIT, EDGES)
    branch("probability", "a node's value weighs its children by their probability", TREE, FRUIT, EDGES, "probability")
    branch("probability-sharp", "alpha 3 and log-probabilities far apart: weights by the third power of the probability",
           TREE, FRUIT, [0, -30, -1, -4, -0.25, -2, -1, -15, -0.5], "probability", 3)
    branch("uneven", "leaves of different depths: all leaves below a node weigh the same", [-1, 0, 0, 0, 1, 1, 5, 5],
           [UNMASKED, UNMASKED, 0.5, 0, 1, UNMASKED, -2, 0.25], [0] + [-1] * 7)
    branch("uneven-probability", "leaves of different depths: the children share the weight of their parent",
           [-1, 0, 0, 0, 1, 1, 5, 5],
           [UNMASKED, UNMASKED, 0.5, 0, 1, UNMASKED, -2, 0.25], [0, -1, -2, -3, -0.5, -1, -0.25, -3], "probability", 0.5)
    branch("equal", "nodes of equal value, and a node alone at its depth: their advantage is 0",
           [-1, 0, 0, 1, 1, 2, 2, 3], [UNMASKED] * 4 + [0.25, 1, 0.25, 1],
           [0] + [-1] * 7)
    branch("near", "values differ, but their deviation is below 1e-6: every advantage is 0",
           [-1, 0, 0], [UNMASKED, 1, 1 + 2 ** -21], [0, -1, -2], "probability")
    branch("small", "a deviation slightly above 1e-6 counts, with the 1e-8 added to it",
           [-1, 0, 0], [UNMASKED, 1, 1 + 2 ** -17], [0, -1, -2])
    branch("root", "the root alone: its advantage is 0", [-1], [1], [0])


@checks("branch_advantage")
def check_branch_advantage(check):
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


@checks("branch_advantage")
def check_branch_advantage_unread(check):
    for label, given, _, found in every("branch_advantage"):
        reward = [5 if i in given["parent"] else r for i, r in enumerate(given["reward"])]
        other = exactly("branch_advantage", **{**given, "reward": reward, "logp": [5] + given["logp"][1:]})
        check(f"inner nodes and the root's edge: {label}", other == found)


# ---- tree_advantage

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


@function(advantage=many(NUMBER))
def tree_advantage(parent: many(integer(-1), least=1), reward: many(NUMBER), value: many(NUMBER), gamma: NUMBER,
                   form: one_of("td", "siblings", "paper")):
    """Nodes of a tree, in three forms.

    Source: ATPO, 2603.02216, code; D-TreeRPO, 2512.09675
    Takes: `parent` (n >= 1; the first -1: the root; else a lower number), `reward` r, `value` v (n each), `gamma`, `form`
    Gives: `advantage` (n), 0 for the root; in the others x' is x of the parent. `td` (ATPO): V of a node without children is 0, else
    the mean over its children c of r_c + gamma V_c; (r + gamma U - U')/(nodes without children below it, itself if it has none), U = V
    if the parent has several children, v if it has this one. `siblings` (D-TreeRPO, code) and `paper`: V of a node without children is
    r, else the mean of V of its children; V - mean of V of the parent's other children, V if there are none; V - V'; scale: the same
    with absolute values
    """
    return {"advantage": TREES[form]([int(p) for p in parent], reward, value, gamma)}


@cases("tree_advantage")
def tree_advantage_cases(case):
    TREE = dict(parent=[-1, 0, 0, 1, 1, 2, 5], reward=[0, 0.25, 0.5, 1, 0, 0.125, 0.75], value=[0.5, 0.75, 0.25, 0.5, -0.25, 1, 2],
                gamma=0.9)
    BRANCH = dict(parent=[-1, 0, 0, 0, 2, 2, 2], reward=[0.3, 1, 7, -0.5, 0, 1, TENTHS], value=[0] * 7, gamma=1)
    for form in ("td", "siblings", "paper"):
        case(form, "a root with two children: one has two children, one a chain of two nodes", **TREE, form=form)
        case(f"{form}-branch", "a root with three children, one of which has three", **BRANCH, form=form)
    case("td-chain", "a chain of nodes with one child each: only the critic's values count",
         parent=[-1, 0, 1], reward=[0, 0.5, 1], value=[0.25, 0.5, 2],
         gamma=0.5, form="td")
    case("siblings-root", "the root alone: its advantage is 0", parent=[-1], reward=[1], value=[0.5], gamma=1, form="siblings")


def leaf_nodes(parent, n):
    below = [leaf_nodes(parent, k) for k, p in enumerate(parent) if p == n]
    return [leaf for part in below for leaf in part] or [n]


def returns(parent, reward, gamma, n):
    """The discounted sums of the rewards below n, averaged child by child."""
    children = [k for k, p in enumerate(parent) if p == n]
    return statistics.mean([reward[k] + gamma * returns(parent, reward, gamma, k) for k in children]) if children else Fraction(0)


def outcomes(parent, reward, n):
    children = [k for k, p in enumerate(parent) if p == n]
    return statistics.mean([outcomes(parent, reward, k) for k in children]) if children else reward[n]


@checks("tree_advantage")
def check_tree_advantage(check):
    for label, given, _, found in every("tree_advantage"):
        parent, r, v, gamma = given["parent"], fraction(given["reward"]), fraction(given["value"]), Fraction(given["gamma"])
        A = values(found["advantage"])
        check(f"nothing for the root: {label}", A[0] == 0)
        for n in range(1, len(parent)):
            family = [k for k, p in enumerate(parent) if p == parent[n]]
            if given["form"] == "td":
                V = (lambda k: returns(parent, r, gamma, k)) if len(family) > 1 else v.__getitem__
                hand = (r[n] + gamma * V(n) - V(parent[n])) / len(leaf_nodes(parent, n))
            else:
                others = [outcomes(parent, r, k) for k in family if k != n]
                centre = outcomes(parent, r, parent[n]) if given["form"] == "paper" else statistics.mean(others) if others else 0
                hand = outcomes(parent, r, n) - centre
            check(f"node {n} by hand: {label}", A[n] == hand)
        for n in range(len(parent)):
            family = [k for k, p in enumerate(parent) if p == n]
            weights = [len(leaf_nodes(parent, k)) if given["form"] == "td" else 1 for k in family]
            total = sum(A[k] * w for k, w in zip(family, weights))
            check(f"a family's advantages add up to 0: {label}", len(family) < 2 or total == 0)
