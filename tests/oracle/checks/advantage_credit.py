"""The advantage: steps, truncated responses, prefix trees, teachers, excluded responses."""
import math
import statistics

from cases import case_of
from checks.tools import active, flat, near
from evaluate import evaluate


def answer(label, batch=None, **advantage):
    o, own = case_of("credit", label, advantage=advantage)
    return evaluate(o, batch or own)[0]["advantage"], o["advantage"], batch or own


def members(batch):
    return [[i for i, g in enumerate(batch["group"]) if g == h] for h in range(batch["group"][-1] + 1)]


def first(rows):
    """The first advantage of each response that is not 0"""
    return [next((x for x in row if x), 0) for row in rows]


def check_steps(check):
    found, choice, batch = answer("step_discount")
    by_hand = [[0] * T for T in batch["length"]]
    for i, kept in active(batch):
        later = at_end = 0
        for t in reversed(kept):
            if batch["step_end"][i][t]:
                later = at_end = batch["step_reward"][i][t] + 0.5 * later
            by_hand[i][t] = at_end
    check("discounted by the step", near(flat(found), flat(by_hand)))
    tokens, _, _ = answer("step_discount-gamma", step_discount="tokens", gamma=1)
    steps, _, _ = answer("step_discount-gamma")
    check("undiscounted, steps and tokens are the same", steps == tokens)
    crossing = {**batch, "state": [[0, 0, 0, 1, 0, 0], [0, 1, 0], [0, 0]]}
    check("later steps are those of the response, not of the pools", answer("step_discount", crossing, step_group="state")[0] == found)


def check_cut_off(check):
    found, choice, batch = answer("bootstrap")
    for i, kept in active(batch):
        V, r, later = batch["value"][i], batch["reward"][i], 0
        for n, t in reversed(list(enumerate(kept))):
            last = n == len(kept) - 1
            next_V = (V[t] if batch["truncated"][i] else 0) if last else V[kept[n + 1]]
            rho = r if last and not batch["truncated"][i] else 0
            later = rho + 0.75 * next_V - V[t] + 0.75 * 0.5 * later
            check(f"T-PPO by hand {i} {t}", near([found[i][t]], [later]))
    whole = {**batch, "truncated": [False] * 4}
    check("where nothing was cut off it is GAE", answer("bootstrap", whole)[0] == answer("bootstrap", whole, bootstrap="zero")[0])
    found, choice, batch = answer("lambda-least")
    spans = [1 - 1 / max(1, 0.75 * len(kept)) for _, kept in active(batch)]
    each = [answer("lambda-least", lambda_length=0, **{"lambda": max(0.5, x)})[0][i] for i, x in enumerate(spans)]
    check("lambda by length, and at least lambda", near(flat(found), flat(each)) and min(spans) < 0.5 < max(spans))
    found, choice, batch = answer("tail-whitened")
    waits = [kept[-1] if batch["truncated"][i] else None for i, kept in active(batch)]
    kept = [found[i][t] for i, ts in active(batch) for t in ts if t != waits[i]]
    check("the tail waits, the others have mean 0 and variance 1", near([sum(kept), sum(x * x for x in kept)], [0, len(kept) - 1], 1e-12)
          and all(t is None or found[i][t] == 0 for i, t in enumerate(waits)))
    check("everything waits", not any(flat(answer("tail-all")[0])))


def tree_by_hand(batch, i, t):
    """The responses of the group with the same first t + 1 tokens as i"""
    ids = [row[:t + 1] if len(row) > t else None for row in batch["token_id"]]
    return [j for j in members(batch)[batch["group"][i]] if ids[j] == ids[i]]


def check_trees(check):
    found, choice, batch = answer("prefix_tree")
    r = batch["reward"]
    value = lambda who: math.fsum(r[j] for j in who) / len(who)
    for i, T in enumerate(batch["length"]):
        group = members(batch)[batch["group"][i]]
        stops = [value(group)] + [value(tree_by_hand(batch, i, t)) for t in range(T)]
        a = r[i] - value(group)
        check(f"TEMPO by hand {i}", near(found[i], [a + y - x for x, y in zip(stops, stops[1:])]))
        alone = len(tree_by_hand(batch, i, T - 1)) == 1
        check(f"the differences add up to the outcome {i}", not alone or near([sum(found[i]) - T * a], [a]))
    plain, _, _ = answer("prefix_tree-none")
    mean_of = [value(members(batch)[g]) for g in batch["group"]]
    check("the baseline changes the outcome alone", near(flat(plain), [x + m for row, m in zip(found, mean_of) for x in row]))
    holes, _, raw = answer("prefix_tree-holes")
    m = [x - 0.3125 for x in raw["reward"]]
    three, V = (1 + 0 + 0.5) / 3, 0.3125
    check("who has a hole agrees with nobody from there on",
          near(holes[0], [m[0] + three - V, m[0] + 0.75 - three, m[0], m[0] + 0.25]) and near(holes[1], [m[1] + three - V, 0, m[1], m[1]])
          and near(holes[3], [0, m[3], m[3]]))
    same, _, _ = answer("prefix_tree-same")
    check("equal rewards move nothing", set(flat(same[:6])) == {0.25})
    strange = {**batch, "token_id": [[100 * i + t for t in range(T)] for i, T in enumerate(batch["length"])]}
    lonely, _, _ = answer("prefix_tree", strange)
    all_at_once = [(2 if t == 0 else 1) * (r[i] - mean_of[i]) for i, T in enumerate(batch["length"]) for t in range(T)]
    check("where nobody shares a token the first has all of it", near(flat(lonely), all_at_once))


def check_teachers(check):
    found, choice, batch = answer("teacher_share")
    base = answer("teacher_share", teacher_share=0)[0]
    gap = [[q - o for q, o in zip(*rows)] for rows in zip(batch["logp_teacher"], batch["logp_old"])]
    factor = lambda a, g: 0.5 + 0.5 * min(max(math.exp(g if a > 0 else -g), 0.75), 1.25)
    check("RLSD by hand", near(flat(found), [a * factor(a, g) for a, g in zip(flat(base), flat(gap))]))
    check("with no room it changes nothing", answer("teacher_share", teacher_clip=0)[0] == base)
    found, choice, batch = answer("teacher_norm")
    own, _, _ = answer("teacher_norm", teacher_coef=0)
    for i, kept in active(batch):
        for n, t in enumerate(kept):
            powers = [0.75 ** k for k in range(len(kept) - n)]
            total = sum(p * gap[i][x] for p, x in zip(powers, kept[n:]))
            check(f"MiniLLM by hand {i} {t}", near([found[i][t]], [own[i][t] + 0.5 * total / sum(powers)]))
    one = [answer("teacher_gamma", teacher_gamma=g)[0] for g in (0, 1e-9)]
    check("a small power is none", near(*map(flat, one), 1e-8) and one[0] != one[1])


def check_entropy(check):
    found, choice, batch = answer("entropy-response")
    base = answer("entropy-response", entropy="none")[0]
    H = [statistics.fmean(batch["entropy"][i][t] for t in kept) for i, kept in active(batch)]
    check("GTPO by hand", near(first(found), [a - 0.25 * h if h <= 0.5 else 0 for a, h in zip(first(base), H)]))
    check("one is at the cap, one beyond", near([H[0]], [0.5]) and H[1] > 0.5)


def check_guests(check):
    found, choice, batch = answer("outside-own")
    out = batch["excluded"]
    for g in members(batch):
        rewards = [batch["reward"][i] for i in g if not out[i]]
        s = statistics.stdev(rewards) if len(rewards) > 1 else 0
        by_hand = [(batch["reward"][i] - statistics.fmean(rewards)) / s if s else 0 for i in g]
        check(f"everybody against those inside {g}", near([first(found)[i] for i in g], by_hand))
    zero, anchor = first(answer("outside-zero")[0]), first(answer("outside-anchor")[0])
    check("guests are worth nothing", near(zero, [0 if x else a for a, x in zip(first(found), out)]))
    for g in members(batch):
        best = max((anchor[i] for i in g if not out[i]), default=0)
        check(f"or more than the best {g}", near([anchor[i] for i in g if out[i]], [1.25 * best] * sum(out[i] for i in g)))
    none = {**batch, "excluded": [False] * len(out)}
    for label in ("outside-own", "outside-zero", "outside-anchor", "outside-zero-raw"):
        check(f"without guests it is nobody's business: {label}", answer(label, none)[0] == answer(label, none, excluded="none")[0])
    left, inside = first(answer("outside-own-leave_one_out")[0]), [i for i in members(batch)[0] if not out[i]]
    others = [batch["reward"][i] for i in inside]
    check("leave-one-out inside is G / (G - 1) of the mean's", near([left[i] for i in inside], [first(found)[i] * 3 / 2 for i in inside]))
    check("and a guest's baseline the mean of all", near([left[2]],
          [(batch["reward"][2] - statistics.fmean(others)) / statistics.stdev(others)]))


GROUPS = (check_steps, check_cut_off, check_trees, check_teachers, check_entropy, check_guests)
