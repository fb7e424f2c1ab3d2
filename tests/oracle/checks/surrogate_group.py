"""The surrogate as a function of a group."""
import math

from checks.groups import A, GROUPS_OF, LENGTHS, MEAN, Z, answers, batch_of, scores, slopes, softmax, softplus, with_kind
from checks.tools import near
from evaluate import evaluate
from objectives import changed, plain


def variance_by_hand(y, a, z):
    G, m, k = len(y), sum(y) / len(y), 0.5
    if G == 1:
        return 0, [0]
    rest = [k * (x - m) - b for x, b in zip(y, a)]
    return sum(r * r for r in rest) / 2 / (G - 1), [k * (r - sum(rest) / G) / (G - 1) for r in rest]


def labels_by_hand(y, a, z):
    tau, tau_neg = 0.5, 0.75
    if min(a) > 0 or max(a) <= 0:
        return 0, [0] * len(y)
    good, bad = sum(math.exp(-x / tau) for x, b in zip(y, a) if b > 0), sum(math.exp(x / tau_neg) for x, b in zip(y, a) if b <= 0)
    return (math.log1p(good) + math.log1p(bad),
            [-math.exp(-x / tau) / tau / (1 + good) if b > 0 else math.exp(x / tau_neg) / tau_neg / (1 + bad) for x, b in zip(y, a)])


def balance_by_hand(y, a, z):
    rest = [z + x - 1.5 * b for x, b in zip(y, a)]
    return sum(r * r for r in rest), [2 * r for r in rest]


def pairs_by_hand(y, a, z):
    k, n = 2, len(y)
    told = [(i, j) for i in range(n) for j in range(n) if a[i] - a[j] > 0.25]
    slope = [0] * n
    for i, j in told:
        s = 1 / (1 + math.exp(k * (y[i] - y[j]))) * k / len(told)
        slope[i], slope[j] = slope[i] - s, slope[j] + s
    return sum(softplus(-k * (y[i] - y[j])) for i, j in told) / max(1, len(told)), slope


def contrast_by_hand(y, a, z):
    q, p = softmax([x / 0.5 for x in a]), softmax([2 * x for x in y])
    return -sum(x * math.log(w) for x, w in zip(q, p)), [2 * (w - x) for x, w in zip(q, p)]


BY_HAND = (("variance", {"beta": 0.5}, variance_by_hand), ("logistic_lse", {"tau_pos": 0.5, "tau_neg": 0.75}, labels_by_hand),
           ("trajectory_balance", {"reward_beta": 1.5}, balance_by_hand),
           ("pairwise_logistic", {"beta": 2, "min_gap": 0.25}, pairs_by_hand),
           ("softmax_cross_entropy", {"beta": 2, "advantage_temperature": 0.5}, contrast_by_hand))


def check_functions(check):
    for kind, numbers, f in BY_HAND:
        o = with_kind(kind, **numbers)
        batch = batch_of(o)
        found, y = evaluate(o, batch)[0], scores(o, batch)
        each = [f([y[i] for i in g], [A[i] for i in g], z) for g, z in zip(GROUPS_OF, Z)]
        check(f"{kind} by hand", near([3 * found["loss"]], [sum(x for x, _ in each)]))
        check(f"its derivatives: {kind}", near([3 * s for s in slopes(found)], [s for _, row in each for s in row]))
        check(f"the same at every token of a response: {kind}", all(near(row, row[:1] * len(row)) for row in found["dlogp"]))
        check(f"the parts of the group add up to it: {kind}", near([3 * found["loss"]], [sum(row[0] for row in found["term"])]))
        own = answers(changed(o, ratio={"gradient": "token"}))
        check(f"every token by itself has the derivative of the score: {kind}",
              own["term"] == found["term"] and near([x for row in own["dlogp"] for x in row],
                                                    [s for s, T in zip(slopes(found), LENGTHS) for _ in range(T)]))
        later = [[a] + [-3] * (T - 1) for a, T in zip(A, LENGTHS)]
        first = answers(o, advantage=later)
        check(f"the first token's advantage is the response's: {kind}", first["term"] == found["term"] and first["dlogp"] == found["dlogp"])
        totals = [math.fsum(slopes(found)[i] for i in g) for g in GROUPS_OF]
        if kind == "trajectory_balance":
            check("what moves all scores moves log Z", near(found["dlog_partition"], totals))
        elif kind != "logistic_lse":
            check(f"only differences of scores matter: {kind}", near(totals, [0, 0, 0], 1e-15))


def check_special_cases(check):
    o = with_kind("logistic_lse", tau_pos=0.5, tau_neg=0.5)
    still = {key: [[-1] * T for T in LENGTHS] for key in ("logp", "logp_old")}
    found = answers(o, **still)
    check("REAL on policy: log(1 + n) of either class where there are both", near([3 * found["loss"]], [math.log(3) + 3 * math.log(2)]))
    check("and every score's derivative is 1/tau over 1 + n", near([3 * s for s in slopes(found)], [-2 / 3, 1, -2 / 3, 0, -1, 1]))
    o = with_kind("variance", beta=1)
    y = scores(o, batch_of(o))
    centred = [y[i] - sum(y[j] for j in g) / len(g) for g in GROUPS_OF for i in g]
    aimed = [[a] * T for a, T in zip(centred, LENGTHS)]
    check("GVPO at its optimum", near([x for row in answers(o, advantage=aimed)["dlogp"] for x in row], [0] * sum(LENGTHS), 1e-15))
    o = with_kind("softmax_cross_entropy", beta=2, advantage_temperature=0.5)
    aimed = [[x] * T for x, T in zip(y, LENGTHS)]
    found = answers(o, advantage=aimed)
    entropy = [-sum(p * math.log(p) for p in softmax([2 * y[i] for i in g])) for g in GROUPS_OF]
    check("contrast at its optimum is the entropy", near([3 * found["loss"]], [sum(entropy)]) and near(slopes(found), [0] * 6, 1e-15))
    o = with_kind("trajectory_balance", reward_beta=0)
    a, b = answers(o), answers(with_kind("squared", beta=-1), advantage=[[z] * LENGTHS[i] for g, z in zip(GROUPS_OF, Z) for i in g])
    check("flow balance without a reward is a square around log Z", a["loss"] == b["loss"] and a["dlogp"] == b["dlogp"])
    for kind, numbers, _ in BY_HAND:
        try:
            answers(with_kind(kind, changed(MEAN, ratio={"level": "token"}), **numbers))
            check(f"{kind} of tokens is no objective", False)
        except ValueError:
            check(f"{kind} of tokens is no objective", True)


def check_pairs(check):
    score = changed(plain(), aggregation={"kind": "token_mean"})
    zero = [[0] * T for T in LENGTHS]
    pairs = {"preference": "pairwise", "preference_coef": 1, "preference_min_gap": 0.25, "preference_beta": 0.5}
    one = {"group": [0] * 6, "log_partition": [0]}
    for preference_score, against in (("reference_free", "none"), ("ref", "ref")):
        batch = batch_of(score, **one)
        a = evaluate(changed(score, penalty={**pairs, "preference_score": preference_score}), {**batch, "advantage": zero})[0]
        b = evaluate(changed(with_kind("pairwise_logistic", beta=0.5, min_gap=0.25), ratio={"behaviour": against}), batch)[0]
        check(f"the pairs of a group, as a penalty and as a function of it: {preference_score}",
              a["dlogp"] == b["dlogp"] and a["loss"] == b["loss"] == a["report"]["penalty_loss"] != 0)
        check("the penalty is in no term", not any(x for row in a["term"] for x in row))
    check("against nothing there is no ratio to report",
          answers(changed(with_kind("pairwise_logistic", beta=1), ratio={"behaviour": "none"}))["report"]["ratio_max"] == 1
          != answers(with_kind("pairwise_logistic", beta=1))["report"]["ratio_max"])


GROUPS = (check_functions, check_special_cases, check_pairs)
