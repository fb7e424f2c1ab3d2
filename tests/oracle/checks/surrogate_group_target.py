"""The surrogate as a function of a group: standardised scores, targets, hinges."""
import math

from cases import case_of
from checks.groups import A, GROUPS_OF, LENGTHS, MEAN, answers, batch_of, refused, scores as means, slopes, softmax, with_kind
from checks.tools import flat, near
from evaluate import evaluate
from objectives import changed

NOTHING = changed(MEAN, ratio={"behaviour": "none"})


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


BY_HAND = (("standardised", {"beta": 0.5, "group_score_eps": 0.125}, MEAN, standardised_by_hand),
           ("tilted_cross_entropy", {"beta": 2, "advantage_temperature": 0.5}, NOTHING, target_by_hand),
           ("pairwise_hinge", {"beta": 0.5, "hinge_margin": 0.375, "min_gap": 0.25}, MEAN, hinge_by_hand))


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
        check(f"{kind} of tokens is no objective", refused(changed(o, ratio={"level": "token"})))


def check_standardised(check):
    o = with_kind("standardised", beta=1)
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
    squared = answers(with_kind("squared", MEAN, beta=1), group=list(range(6)), log_partition=[0] * 6)
    single = answers(o, group=list(range(6)), log_partition=[0] * 6)
    check("groups of one: the value A^2", near(flat(single["term"]), [a * a for a, T in zip(A, LENGTHS) for _ in range(T)])
          and near(slopes(single), [-2 * a / 6 for a in A]) and squared["term"] != single["term"])


def check_target(check):
    o = with_kind("tilted_cross_entropy", NOTHING, beta=2, advantage_temperature=0.5)
    batch = batch_of(o)
    still = {**batch, "logp": batch["logp_old"], "advantage": [[0.75] * T for T in LENGTHS]}
    found = evaluate(o, still)[0]
    old = row_means(batch["logp_old"])
    shares = [softmax([2 * old[i] for i in g]) for g in GROUPS_OF]
    check("the old policy is its own target where advantages are equal", all(abs(x) < 1e-15 for x in flat(found["dlogp"]))
          and near([3 * found["loss"]], [-sum(p * math.log(p) for row in shares for p in row)]))
    moved = [[a + 0.5 * 2 * x] * T for a, x, T in zip(A, old, LENGTHS)]
    contrast = evaluate(with_kind("softmax_cross_entropy", NOTHING, beta=2, advantage_temperature=0.5), {**batch, "advantage": moved})[0]
    check("contrast with the old scores in the advantages", near(flat(contrast["dlogp"]), flat(evaluate(o, batch)[0]["dlogp"])))
    for axes in ({"behaviour": "old"}, {"behaviour": "current"}, {"level": "sequence_clipped_mean"}):
        check(f"no target: {axes}", refused(changed(o, ratio=axes)))


def check_hinge(check):
    o = with_kind("pairwise_hinge", NOTHING, beta=0.5, hinge_margin=1000)
    batch = batch_of(o)
    found = evaluate(o, batch)[0]
    y = row_means(batch["logp"])
    told = [[(i, j) for i in g for j in g if A[i] > A[j]] for g in GROUPS_OF]
    linear = [sum(1000 - 0.5 * (y[i] - y[j]) for i, j in pairs) / len(pairs) for pairs in told if pairs]
    check("a shift that nothing reaches: a line", near([3 * found["loss"]], [math.fsum(linear)]))
    check("what the better ones gain the worse ones lose", all(abs(sum(slopes(found)[i] for i in g)) < 1e-15 for g in GROUPS_OF))
    check("a shift below all differences: nothing",
          answers(with_kind("pairwise_hinge", NOTHING, beta=0.5, hinge_margin=-1000))["loss"] == 0)


def check_infinite_scores(check):
    for kind in ("standardised", "regression"):
        for who in ("policy-good", "old-bad"):
            o, batch = case_of("surrogate-group-target", f"{kind}-neginf-{who}")
            far = {key: [[-1e8 if x == "-Infinity" else x for x in row] for row in batch[key]] for key in ("logp", "logp_old")}
            at, beside = evaluate(o, batch)[0], evaluate(o, {**batch, **far})[0]
            check(f"{kind}: an infinite score is the limit of far ones, {who}", far != {key: batch[key] for key in far}
                  and near(flat(at["term"] + at["dlogp"]), flat(beside["term"] + beside["dlogp"]), 1e-7))


GROUPS = (check_functions, check_standardised, check_target, check_hinge, check_infinite_scores)
