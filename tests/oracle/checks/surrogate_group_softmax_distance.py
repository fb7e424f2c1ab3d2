"""The surrogate as a function of a group: discriminative losses, soft pairs, distances of softmaxes."""
import math

from cases import case_of
from checks.groups import A, GROUPS_OF, LENGTHS, MEAN, answers, batch_of, scores, slopes, softmax, softplus, with_kind
from checks.tools import log_ratios, near
from evaluate import evaluate
from objectives import changed

TAU, K = 0.5, 1.5


def good(a):
    return [i for i, x in enumerate(a) if x > 0], [i for i, x in enumerate(a) if x <= 0]


def contrast_mean_by_hand(s, a):
    plus, minus = good(a)
    if not plus or not minus:
        return 0, [0] * len(s)
    slope = [-1 / len(plus) if i in plus else 1 / len(minus) for i in range(len(s))]
    return sum(c * x for c, x in zip(slope, s)), slope


def contrast_lse_by_hand(s, a):
    plus, minus = good(a)
    if not plus or not minus:
        return 0, [0] * len(s)
    share = dict(zip(minus, softmax([s[j] / TAU for j in minus])))
    top = TAU * math.log(sum(math.exp(s[j] / TAU) for j in minus) / len(minus))
    return (-sum(s[i] - top for i in plus) / len(plus), [-1 / len(plus) if i in plus else share[i] for i in range(len(s))])


def soft_pairs_by_hand(s, a):
    n, slope, loss = len(s), [0] * len(s), 0
    couples = [(i, j) for i in range(n) for j in range(i)]
    for i, j in couples:
        p, D = 1 / (1 + math.exp((a[j] - a[i]) / TAU)), K * (s[i] - s[j])
        loss += (p * softplus(-D) + (1 - p) * softplus(D)) / len(couples)  # -p log sigmoid(D) - (1 - p) log sigmoid(-D)
        d = K * (1 / (1 + math.exp(-D)) - p) / len(couples)
        slope[i], slope[j] = slope[i] + d, slope[j] - d
    return loss, slope


def through_shares(s, by_share):
    u = softmax([K * x for x in s])
    return [K * u[j] * (by_share[j] - sum(x * d for x, d in zip(u, by_share))) for j in range(len(s))]


def match_by_hand(s, a):
    p, u = softmax([x / TAU for x in a]), softmax([K * x for x in s])
    return sum((x - y) ** 2 for x, y in zip(p, u)), through_shares(s, [2 * (y - x) for x, y in zip(p, u)])


def match_js_by_hand(s, a):
    p, u = softmax([x / TAU for x in a]), softmax([K * x for x in s])
    entropy = lambda xs: -sum(x * math.log(x) for x in xs)
    q = [(x + y) / 2 for x, y in zip(p, u)]
    return entropy(q) - (entropy(p) + entropy(u)) / 2, through_shares(s, [math.log(y / x) / 2 for x, y in zip(q, u)])


PAIR = {"beta": K, "advantage_temperature": TAU}
BY_HAND = (("discriminative_mean", {}, contrast_mean_by_hand), ("discriminative_lse", {"tau_neg": TAU}, contrast_lse_by_hand),
           ("pairwise_soft", PAIR, soft_pairs_by_hand), ("softmax_mse", PAIR, match_by_hand), ("softmax_js", PAIR, match_js_by_hand))


def check_functions(check):
    for kind, numbers, f in BY_HAND:
        for score in ("log", "ratio"):
            o = changed(with_kind(kind, **numbers), surrogate={"group_score": score})
            batch = batch_of(o)
            found, y = evaluate(o, batch)[0], scores(o, batch)
            s = [math.exp(x) for x in y] if score == "ratio" else y
            each = [f([s[i] for i in g], [A[i] for i in g]) for g in GROUPS_OF]
            by_y = [d for _, row in each for d in row]
            by_y = [d * x for d, x in zip(by_y, s)] if score == "ratio" else by_y
            check(f"{kind} of {score} by hand", near([3 * found["loss"]], [sum(x for x, _ in each)]))
            check(f"its derivatives: {kind} of {score}", near([3 * d for d in slopes(found)], by_y))
            check(f"the parts of the group add up to it: {kind} of {score}", near([3 * found["loss"]], [sum(r[0] for r in found["term"])]))
            later = [[a] + [-3] * (T - 1) for a, T in zip(A, LENGTHS)]
            check(f"the first token's advantage is the response's: {kind}", answers(o, advantage=later)["dlogp"] == found["dlogp"])
        if kind != "discriminative_mean":
            moved = answers(with_kind(kind, **numbers))
            check(f"only differences of scores matter: {kind}", near([sum(slopes(moved)[i] for i in g) for g in GROUPS_OF], [0] * 3, 1e-15))


def check_shares(check):
    o, batch = case_of("scores", "contrast_lse-length_decay", aggregation={"kind": "group_mean"})
    d = slopes(evaluate(o, batch)[0])
    ratio = math.exp(-o["surrogate"]["length_decay"] * (3 - 1))  # positive responses of 3 and of 1 active tokens
    check("DRPO: short good responses count for more", near([d[1]], [d[0] * ratio]) and near([d[0] + d[1]], [-1 / 2]))
    check("and the others' shares add up to 1", near([sum(d[2:4])], [1 / 2]) and not any(d[4:]))
    a, b = (evaluate(changed(o, surrogate=fields), batch)[0]
            for fields in ({"tau_neg": 1e6}, {"kind": "discriminative_mean", "tau_neg": 0}))
    check("a soft maximum of little weight is the mean", near(slopes(a), slopes(b), 1e-5) and a["dlogp"] != b["dlogp"])


def check_optima(check):
    for kind in ("pairwise_soft", "softmax_mse", "softmax_js"):
        o = with_kind(kind, beta=1, advantage_temperature=1)
        aimed = [[y] * T for y, T in zip(scores(o, batch_of(o)), LENGTHS)]
        found = answers(o, advantage=aimed)
        check(f"scores that are the advantages: nothing to do, {kind}", near(slopes(found), [0] * 6, 1e-15))
        check(f"and no distance, {kind}", kind == "pairwise_soft" or abs(found["loss"]) < 1e-15)
        for unit in ("token", "segment_mean", "prefix_sum"):
            try:
                answers(with_kind(kind, changed(MEAN, ratio={"level": unit}), beta=1, tau_pos=1))
                check(f"{kind} of {unit} is no objective", False)
            except ValueError:
                check(f"{kind} of {unit} is no objective", True)
    o = with_kind("variance", changed(MEAN, ratio={"level": "sequence_mean_ratio"}), beta=0.5)
    a, b = answers(changed(o, surrogate={"group_score": "ratio"})), batch_of(o)
    w = [sum(map(math.exp, row)) / len(row) for row in log_ratios(b)]
    rest = [[0.5 * (w[i] - sum(w[j] for j in g) / len(g)) - A[i] for i in g] for g in GROUPS_OF]
    check("GVPO of mean ratios", near([3 * a["loss"]], [sum(sum(x * x for x in r) / 2 / (len(r) - 1) for r in rest if len(r) > 1)]))


GROUPS = (check_functions, check_shares, check_optima)
