"""Checks of the choices of choices_found.py, by other ways to the same number.

Each takes check(what, ok) of self_check.py.
"""
import math

import objectives
from cases import case_of
from evaluate import evaluate
from identities import batch_of as rewarded
from identities import near, scores
from identities_group import A, GROUPS_OF, LENGTHS, MEAN, answers, batch_of, slopes, softmax, with_kind
from identities_group import scores as means
from objectives import changed, plain

NOTHING = changed(MEAN, ratio={"against": "nothing"})
SCORE = changed(plain(), aggregation={"kind": "token_sum"})


def flat(rows):
    return [x for row in rows for x in row]


def on_levels(kind, **numbers):
    """(answers, (A, log-ratio) of every token)"""
    o, batch = case_of("found", "quadratic", aggregation={"kind": "token_sum"})
    found = evaluate(changed(o, surrogate={**plain()["surrogate"], "kind": kind, **numbers}), batch)[0]
    return found, list(zip(flat(batch["advantage"]), (l - p for l, p in zip(flat(batch["logp"]), flat(batch["logp_old"])))))


def check_quadratic(check):
    found, tokens = on_levels("quadratic", eps_high=0.25)
    w = [math.exp(d) for _, d in tokens]
    check("CFPO", near(flat(found["term"]), [-(a * x - abs(a) * (x - 1) ** 2 / 0.5) for (a, _), x in zip(tokens, w)]))
    check("and its derivative", near(flat(found["dlogp"]), [-x * (a - abs(a) * (x - 1) / 0.25) for (a, _), x in zip(tokens, w)]))
    check("nothing is clipped", found["report"]["clip_fraction"] == 0)
    for sign, d in ((1, math.log(1.25)), (-1, math.log(0.75))):
        batch = {"group": [0], "length": [1], "logp": [[-1]], "logp_old": [[-1 - d]], "advantage": [[sign]]}
        one = evaluate(changed(SCORE, surrogate={"kind": "quadratic", "eps_high": 0.25}), batch)[0]
        check("its vertex is the clip's corner", abs(one["dlogp"][0][0]) < 1e-15)
    wide, ratio = on_levels("quadratic", eps_high=2.0 ** 80)[0], on_levels("ratio")[0]
    check("without an epsilon it is the ratio", all(near(flat(wide[name]), flat(ratio[name])) for name in ("term", "dlogp")))


def check_unbounded(check):
    numbers = {"eps_low": 0.25, "eps_high": 0.25, "dual": 3}
    found, tokens = on_levels("unbounded_positive", **numbers)
    score, dual = on_levels("score")[0], on_levels("dual_clip", **numbers)[0]
    by_sign = [x if a > 0 else y for (a, _), x, y in zip(tokens, flat(score["dlogp"]), flat(dual["dlogp"]))]
    check("UP: REINFORCE above 0, the dual clip below", flat(found["dlogp"]) == by_sign)
    check("its values", near(flat(found["term"]), [-a if a > 0 else x for (a, _), x in zip(tokens, flat(dual["term"]))]))
    check("it clips what the dual clip does below 0", found["report"]["clip_high"] == 0
          and all(found["report"][k] == dual["report"][k] > 0 for k in ("clip_low", "clip_dual")))


# ---- functions of a group, by hand as in identities_group

def standardised_by_hand(y, a, o):
    G, m, k, eps = len(y), math.fsum(y) / len(y), 0.5, 0.125
    s = math.sqrt(math.fsum((x - m) ** 2 for x in y) / (G - 1)) + eps if G > 1 else 1
    rest = [b - k * (x - m) / s for x, b in zip(y, a)]
    return sum(r * r for r in rest), [-2 * k * r / s for r in rest]


def target_by_hand(y, a, o):
    q, p = softmax([2 * x + b / 0.5 for x, b in zip(o, a)]), softmax([2 * x for x in y])
    if len(y) == 1:
        return 0, [0]
    return -sum(x * math.log(w) for x, w in zip(q, p)), [2 * (w - x) for x, w in zip(q, p)]


def hinge_by_hand(y, a, o):
    n, slope, value = len(y), [0] * len(y), 0
    told = [(i, j) for i in range(n) for j in range(n) if a[i] - a[j] > 0.25]
    for i, j in told:
        off = 0.375 - 0.5 * (y[i] - y[j])
        if off > 0:
            value += off / len(told)
            slope[i], slope[j] = slope[i] - 0.5 / len(told), slope[j] + 0.5 / len(told)
    return value, slope


BY_HAND = (("standardised", {"strength": 0.5, "score_eps": 0.125}, MEAN, standardised_by_hand),
           ("target", {"strength": 2, "tau_pos": 0.5}, NOTHING, target_by_hand),
           ("hinge", {"strength": 0.5, "shift": 0.375, "margin": 0.25}, MEAN, hinge_by_hand))


def row_means(rows):
    return [math.fsum(row) / len(row) for row in rows]


def check_functions(check):
    for kind, numbers, base, f in BY_HAND:
        o = with_kind(kind, base, **numbers)
        batch = batch_of(o)
        found = evaluate(o, batch)[0]
        y = row_means(batch["logp"]) if base is NOTHING else means(o, batch)
        old = row_means(batch["logp_old"])
        each = [f([y[i] for i in g], [A[i] for i in g], [old[i] for i in g]) for g in GROUPS_OF]
        check(f"{kind} by hand", near([3 * found["loss"]], [sum(x for x, _ in each)]))
        check(f"its derivatives: {kind}", near([3 * s for s in slopes(found)], [s for _, row in each for s in row]))
        later = [[a] + [-3] * (T - 1) for a, T in zip(A, LENGTHS)]
        check(f"the first token's advantage is the response's: {kind}", answers(o, advantage=later)["term"] == found["term"])
        check(f"{kind} of tokens is no objective", refused(changed(o, ratio={"unit": "token"})))


def refused(o):
    try:
        answers(o)
    except ValueError:
        return True
    return False


def check_standardised(check):
    o = with_kind("standardised", strength=1)
    batch = batch_of(o)
    found = evaluate(o, batch)[0]
    stretched = {**batch, "logp": [[p + 4 * (l - p) + 0.25 for l, p in zip(*rows)] for rows in zip(batch["logp"], batch["logp_old"])]}
    other = evaluate(o, stretched)[0]
    check("units of the score and its origin do not matter", near(flat(other["term"]), flat(found["term"]))
          and near([4 * s for i in (0, 1, 2, 4, 5) for s in other["dlogp"][i]], [s for i in (0, 1, 2, 4, 5) for s in found["dlogp"][i]]))
    z = [0] * 6
    for g in GROUPS_OF:
        if len(g) > 1:
            y = [means(o, batch)[i] for i in g]
            m = math.fsum(y) / len(y)
            for i, x in zip(g, y):
                z[i] = (x - m) / math.sqrt(math.fsum((v - m) ** 2 for v in y) / (len(y) - 1))
    aimed = evaluate(o, {**batch, "advantage": [[x] * T for x, T in zip(z, LENGTHS)]})[0]
    check("nothing is left where the rewards are the scores",
          abs(aimed["loss"]) < 1e-28 and all(abs(x) < 1e-14 for x in flat(aimed["dlogp"])))
    squared = answers(with_kind("squared", MEAN, strength=1), group=list(range(6)), log_z=[0] * 6)
    single = answers(o, group=list(range(6)), log_z=[0] * 6)
    check("groups of one: the value A^2", near(flat(single["term"]), [a * a for a, T in zip(A, LENGTHS) for _ in range(T)])
          and near(slopes(single), [-2 * a / 6 for a in A]) and squared["term"] != single["term"])


def check_target(check):
    o = with_kind("target", NOTHING, strength=2, tau_pos=0.5)
    batch = batch_of(o)
    still = {**batch, "logp": batch["logp_old"], "advantage": [[0.75] * T for T in LENGTHS]}
    found = evaluate(o, still)[0]
    old = row_means(batch["logp_old"])
    shares = [softmax([2 * old[i] for i in g]) for g in GROUPS_OF]
    check("the old policy is its own target where advantages are equal", all(abs(x) < 1e-15 for x in flat(found["dlogp"]))
          and near([3 * found["loss"]], [-sum(p * math.log(p) for row in shares for p in row)]))
    moved = [[a + 0.5 * 2 * x] * T for a, x, T in zip(A, old, LENGTHS)]
    contrast = evaluate(with_kind("contrast", NOTHING, strength=2, tau_pos=0.5), {**batch, "advantage": moved})[0]
    check("contrast with the old scores in the advantages", near(flat(contrast["dlogp"]), flat(evaluate(o, batch)[0]["dlogp"])))
    for axes in ({"against": "old"}, {"against": "current"}, {"unit": "sequence_clipped_mean"}):
        check(f"no target: {axes}", refused(changed(o, ratio=axes)))


def check_hinge(check):
    o = with_kind("hinge", NOTHING, strength=0.5, shift=1000)
    batch = batch_of(o)
    found = evaluate(o, batch)[0]
    y = row_means(batch["logp"])
    told = [[(i, j) for i in g for j in g if A[i] > A[j]] for g in GROUPS_OF]
    linear = [sum(1000 - 0.5 * (y[i] - y[j]) for i, j in pairs) / len(pairs) for pairs in told if pairs]
    check("a shift that nothing reaches: a line", near([3 * found["loss"]], [math.fsum(linear)]))
    check("what the better ones gain the worse ones lose", all(abs(sum(slopes(found)[i] for i in g)) < 1e-15 for g in GROUPS_OF))
    check("a shift below all differences: nothing", answers(with_kind("hinge", NOTHING, strength=0.5, shift=-1000))["loss"] == 0)


# ---- the divisor and the advantage

def check_varied(check):
    o, batch = case_of("found", "token_mean_varied")
    free = changed(o, penalty={"kl": "none", "kl_coef": 0})
    found, mean = evaluate(free, batch)[0], evaluate(changed(free, aggregation={"kind": "token_mean"}), batch)[0]
    check("5 of 9 tokens are in groups that vary", near([x * 5 for x in flat(found["dlogp"])], [x * 9 for x in flat(mean["dlogp"])]))
    kept = [i for i, g in enumerate(batch["group"]) if g in (0, 2)]
    left = {key: [batch[key][i] for i in kept] for key in batch if len(batch[key]) == len(batch["group"]) and key != "group"}
    alone = evaluate(changed(free, aggregation={"kind": "token_mean"}), {**left, "group": [0, 0, 1, 1]})[0]
    check("the batch without the others, whose advantages are small", near(flat(alone["dlogp"]), flat([found["dlogp"][i] for i in kept])))


def check_deviation(check):
    rewards, sizes = (1, 0.25, 0, 0.75, 0, 0.5, -1, -0.25, 0.5), (5, 4)
    a = scores(rewards, sizes, baseline="group_mean", scale="mean_deviation")
    check("distances of 1 on average", near([sum(map(abs, a[:5])), sum(map(abs, a[5:]))], [5, 4]))
    shares = scores((1, 0, 0, 0, 1, 1, 0, 1), (4, 4), baseline="group_mean", scale="mean_deviation")
    check("of 0 and 1: 1/(2p) and -1/(2(1 - p))", near(shares, [2, -2 / 3, -2 / 3, -2 / 3, 2 / 3, 2 / 3, -2, 2 / 3]))
    b = scores(rewards, sizes, baseline="group_mean", scale="mean_deviation", eps=0.5)
    spread = [math.fsum(abs(r - math.fsum(g) / len(g)) for r in g) for g in (rewards[:5], rewards[5:])]
    check("epsilon beside the sum", near(b, [x * s / (s + 0.5) for x, s in zip(a, [spread[0]] * 5 + [spread[1]] * 4)]))
    alone = {name: scores((0.75, 1, 1), (1, 2), baseline="group_mean", scale="mean_deviation", eps=0.5, singleton=name)
             for name in ("zero", "raw")}
    check("lone and equal rewards", alone == {"zero": [0, 0, 0], "raw": [0.75, 0, 0]})


def check_failure(check):
    rewards, sizes = (1, 0, 0, 0, 1, 1, 0, 1, 1, 1), (4, 4, 2)
    plain_ones = scores(rewards, sizes, baseline="group_mean")
    for power in (0, 0.5, 1, 3):
        found = scores(rewards, sizes, baseline="group_mean", gain="failure_power", gain_high=1, gain_power=power)
        factors = [0.75 ** power] * 4 + [0.25 ** power] * 4 + [0.0 ** power] * 2
        check(f"F-GRPO: (1 - p)^{power}", near(found, [x * f for x, f in zip(plain_ones, factors)]))
    kept = scores((1, 1, 0, 0), (2, 2), gain="failure_power", gain_high=1, gain_power=0)
    check("0^0 is 1", kept == [1, 1, 0, 0])
    moved = scores([2 * r - 1 for r in rewards], sizes, baseline="group_mean", gain="failure_power", gain_low=-1, gain_high=1, gain_power=2)
    check("rewards of -1 and 1", near(moved, [2 * x for x in scores(rewards, sizes, baseline="group_mean", gain="failure_power",
                                                                     gain_high=1, gain_power=2)]))
    for fields in ({"gain_high": 0}, {"gain_high": 1, "gain_low": 1}, {"gain_high": 1, "gain_power": -1}):
        o = changed(plain(), advantage={"gain": "failure_power", **fields})
        try:
            evaluate(o, rewarded((1, 0), (2,)))
            check(f"no such gain: {fields}", False)
        except ValueError:
            check(f"no such gain: {fields}", True)


def check_rows(check):
    """A row beside the one that it comes from."""
    rows = objectives.objective
    check("dapo-zv is dapo but for its divisor", changed(rows("dapo-zv"), aggregation={"kind": "token_mean"}) == rows("dapo"))
    bare = {"gain": "none", "gain_high": 0, "gain_power": 0, "eps": 0, "singleton": "zero"}
    check("f-grpo without its power is GRPO without its KL", changed(rows("f-grpo"), advantage=bare)
          == changed(rows("grpo"), penalty={"kl": "none", "kl_coef": 0}))
    check("mirror-descent is rep-k2 with another coefficient",
          changed(rows("mirror-descent"), penalty={"kl_coef": 0.2}, advantage={"singleton": "raw"}) == rows("rep-k2"))


GROUPS = (check_quadratic, check_unbounded, check_functions, check_standardised, check_target, check_hinge, check_varied, check_deviation,
          check_failure, check_rows)
