"""Checks of functions of scores, of surrogates of one unit, of bounds by position and of likelihoods, by other ways to the same
number. Each takes check(what, ok) of self_check.py.
"""
import math

import objectives
from cases import case_of
from evaluate import evaluate
from identities import near
from identities_group import A, GROUPS_OF, LENGTHS, MEAN, answers, batch_of, scores, slopes, softmax, softplus, with_kind
from objectives import changed, plain
from unit_checks import active, flat, log_ratios

TAU, K = 0.5, 1.5


def good(a):
    return [i for i, x in enumerate(a) if x > 0], [i for i, x in enumerate(a) if x <= 0]


# ---- each function as its paper has it, in ordinary floating point: (loss of the group, its derivatives by the score)

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


PAIR = {"strength": K, "tau_pos": TAU}
BY_HAND = (("contrast_mean", {}, contrast_mean_by_hand), ("contrast_lse", {"tau_neg": TAU}, contrast_lse_by_hand),
           ("soft_pairs", PAIR, soft_pairs_by_hand), ("match", PAIR, match_by_hand), ("match_js", PAIR, match_js_by_hand))


def check_functions(check):
    for kind, numbers, f in BY_HAND:
        for score in ("log", "ratio"):
            o = changed(with_kind(kind, **numbers), surrogate={"score": score})
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
        if kind != "contrast_mean":
            moved = answers(with_kind(kind, **numbers))
            check(f"only differences of scores matter: {kind}", near([sum(slopes(moved)[i] for i in g) for g in GROUPS_OF], [0] * 3, 1e-15))


def check_shares(check):
    o, batch = case_of("scores", "contrast_lse-length_rate", aggregation={"kind": "group_mean"})
    d = slopes(evaluate(o, batch)[0])
    ratio = math.exp(-o["surrogate"]["length_rate"] * (3 - 1))  # good responses of 3 and of 1 active tokens
    check("DRPO: short good responses count for more", near([d[1]], [d[0] * ratio]) and near([d[0] + d[1]], [-1 / 2]))
    check("and the others' shares add up to 1", near([sum(d[2:4])], [1 / 2]) and not any(d[4:]))
    a, b = (evaluate(changed(o, surrogate=fields), batch)[0] for fields in ({"tau_neg": 1e6}, {"kind": "contrast_mean", "tau_neg": 0}))
    check("a soft maximum of little weight is the mean", near(slopes(a), slopes(b), 1e-5) and a["dlogp"] != b["dlogp"])


def check_optima(check):
    for kind in ("soft_pairs", "match", "match_js"):
        o = with_kind(kind, strength=1, tau_pos=1)
        aimed = [[y] * T for y, T in zip(scores(o, batch_of(o)), LENGTHS)]
        found = answers(o, advantage=aimed)
        check(f"scores that are the advantages: nothing to do, {kind}", near(slopes(found), [0] * 6, 1e-15))
        check(f"and no distance, {kind}", kind == "soft_pairs" or abs(found["loss"]) < 1e-15)
        for unit in ("token", "segment_mean", "prefix_sum"):
            try:
                answers(with_kind(kind, changed(MEAN, ratio={"unit": unit}), strength=1, tau_pos=1))
                check(f"{kind} of {unit} is no objective", False)
            except ValueError:
                check(f"{kind} of {unit} is no objective", True)
    o = with_kind("variance", changed(MEAN, ratio={"unit": "sequence_mean_ratio"}), strength=0.5)
    a, b = answers(changed(o, surrogate={"score": "ratio"})), batch_of(o)
    w = [sum(map(math.exp, row)) / len(row) for row in log_ratios(b)]
    rest = [[0.5 * (w[i] - sum(w[j] for j in g) / len(g)) - A[i] for i in g] for g in GROUPS_OF]
    check("GVPO of mean ratios", near([3 * a["loss"]], [sum(sum(x * x for x in r) / 2 / (len(r) - 1) for r in rest if len(r) > 1)]))


# ---- surrogates of one unit

def tokens(batch):
    """(A, l, o, selected) of the active tokens"""
    keys = ("advantage", "logp", "logp_old", "selected")
    return [tuple(batch[key][i][t] for key in keys) for i, kept in active(batch) for t in kept]


def of_levels(label, **axes):
    o, batch = case_of("scores", label, aggregation={"kind": "token_sum"}, **axes)
    found = evaluate(o, batch)[0]
    pick = lambda rows: [rows[i][t] for i, kept in active(batch) for t in kept]
    return tokens(batch), pick(found["term"]), pick(found["dlogp"]), found["report"]


def check_surrogates(check):
    told, term, slope, _ = of_levels("logistic-shift")
    x = [(1 if a > 0 else -1) * (0.75 * (l - o) - 0.5) for a, l, o, _ in told]
    check("VPD: -log sigmoid(+-(r - delta))", near(term, [softplus(-v) for v in x]))
    check("and its derivative", near(slope, [-(1 if a > 0 else -1) * 0.75 / (1 + math.exp(v)) for v, (a, *_) in zip(x, told)]))
    told, term, slope, report = of_levels("dispo")
    bound = lambda a, w: min(max(w, 0.75), 2) if a > 0 else min(w, 4)
    check("DISPO by hand", near(slope, [-a * bound(a, math.exp(l - o)) for a, l, o, _ in told]))
    outside = [a != 0 and bound(a, math.exp(l - o)) != math.exp(l - o) for a, l, o, _ in told]
    check("its clips", near([report["clip_fraction"]], [sum(outside) / len(told)]) and any(outside))
    told, term, slope, _ = of_levels("bgpo")
    exact = [-a * math.exp(l - o) for a, l, o, _ in told]
    check("BGPO bounds the ratio's loss from above, and is it where A < 0", all(x > y if a > 0 else x == y or near([x], [y])
                                                                               for x, y, (a, *_) in zip(term, exact, told)))
    check("its derivative is A where A > 0", near(slope, [-a if a > 0 else y for y, (a, *_) in zip(exact, told)]))
    told, term, slope, report = of_levels("shaped")
    w = [math.exp(l - o) for _, l, o, _ in told]
    cut = [not s and (a > 0 and v > 1.25 or a < 0 and v < 0.75) for v, (a, _, _, s) in zip(w, told)]
    by_hand = [-a * v * 0.5 / (v + 0.5) ** 2 if s else 0 if c else -a * v for v, c, (a, _, _, s) in zip(w, cut, told)]
    check("Guide-GRPO by hand", near(slope, by_hand))
    shares = [-a * v / (v + 0.5) for v, (a, _, _, s) in zip(w, told) if s]
    check("selected tokens are worth a share", near([x for x, r in zip(term, told) if r[3]], shares))
    check("and no clip counts them", near([report["clip_fraction"]], [sum(cut) / len(told)]))


# ---- bounds

def check_bounds(check):
    o, batch = case_of("scores", "position-dual", aggregation={"kind": "token_sum"})
    found, by_hand = evaluate(o, batch)[0], {}
    for i, kept in active(batch):
        for n, t in enumerate(kept, 1):
            a, y, s = batch["advantage"][i][t], batch["logp"][i][t] - batch["logp_old"][i][t], math.sqrt(n)
            clipped = min(max(y, -0.1875 * s), 0.25 * s)
            loss = max(-a * math.exp(y), -a * math.exp(clipped))
            by_hand[i, t] = min(loss, -a * math.exp(0.25 * s)) if a < 0 else loss
    check("CTPO by hand", near([found["term"][i][t] for i, t in by_hand], list(by_hand.values())))
    sides = [found["report"][k] for k in ("clip_low", "clip_high", "clip_dual")]
    check("every side clips something", all(sides))
    o, batch = case_of("scores", "position")
    clip = changed(o, surrogate={"bounds": "fixed", "log_low": 0, "log_high": 0, "eps_low": -math.expm1(-0.1875),
                                 "eps_high": math.expm1(0.25) + 1e-9})
    a, b = evaluate(o, batch)[0], evaluate(clip, batch)[0]
    check("without a power they are the clip's", a["dlogp"] == b["dlogp"] and near([a["loss"]], [b["loss"]], 1e-8))
    for label in ("given-ppo_clip", "given-dual_clip", "given-gppo"):
        o, batch = case_of("scores", label)
        same = {**batch, "clip_low": [[0.25] * T for T in batch["length"]], "clip_high": [[0.5] * T for T in batch["length"]]}
        a = evaluate(changed(o, surrogate={"bounds": "fixed", "eps_low": 0.25, "eps_high": 0.5}), batch)[0]
        check(f"equal bounds for all are the objective's: {label}", evaluate(o, same)[0] == a != evaluate(o, batch)[0])


# ---- aggregation

def check_by_sign(check):
    o = changed(plain(), aggregation={"kind": "seq_mean_by_sign"})
    found = answers(o)
    good_ones, others = sum(a > 0 for a in A), sum(a <= 0 for a in A)
    check("a mean of means for either side", near(flat(found["dlogp"]),
          [-a / T / (good_ones if a > 0 else others) for a, T in zip(A, LENGTHS) for _ in range(T)]))
    turned = answers(o, advantage=[[a] + [-a] * (T - 1) for a, T in zip(A, LENGTHS)])
    check("the first token says which", near([abs(x) for x in flat(turned["dlogp"])], [abs(x) for x in flat(found["dlogp"])]))
    one = [[abs(a) + 1] * T for a, T in zip(A, LENGTHS)]
    check("of one side it is the mean over responses", answers(o, advantage=one)
          == answers(changed(o, aggregation={"kind": "seq_mean_token_mean"}), advantage=one))


# ---- likelihood

def check_likelihood(check):
    score = changed(plain(), aggregation={"kind": "token_mean"})
    n, c = sum(LENGTHS), 0.25
    batch = batch_of(score, advantage=[[0] * T for T in LENGTHS])
    rows = [t for key in zip(batch["logp"], batch["logp_old"], batch["logp_teacher"]) for t in zip(*key)]

    def by(**fields):
        return evaluate(changed(score, penalty={"likelihood_on": "all", "likelihood_coef": c, **fields}), batch)[0]
    gate = [1 / (1 + math.exp(-5 * (q - l))) for l, _, q in rows]
    found = by(likelihood_form="teacher_gap", likelihood_weight="teacher_gate", likelihood_gain=5)
    check("SDAR: mean of sg[sigmoid(5 d)] d", near([found["loss"]], [c * sum(g * (q - l) for g, (l, _, q) in zip(gate, rows)) / n])
          and near(flat(found["dlogp"]), [-c * g / n for g in gate]))
    check("a gate without a gain is a half", near(flat(by(likelihood_weight="teacher_gate")["dlogp"]), [-c / 2 / n] * n))
    check("the gap's gradient is that of the likelihood", by(likelihood_form="teacher_gap")["dlogp"] == by()["dlogp"])
    lost = by(likelihood_form="lost")
    check("LLDS without a gate", near([lost["loss"]], [c * sum(max(0, o - l) for l, o, _ in rows) / n])
          and near(flat(lost["dlogp"]), [-c / n if o > l else 0 for l, o, _ in rows]))
    for name in ("sequence", "segment"):
        o, raw = case_of("scores", f"lost-{name}", advantage={"baseline": "none"})
        d = log_ratios(raw)
        pieces = {}
        for i, kept in active(raw):
            for t in kept:
                pieces.setdefault((i, sum(raw["step_end"][i][:t]) if name == "segment" else 0), []).append(-d[i][t])
        count = sum(len(p) for p in pieces.values())
        paid = 0.5 / count * sum(max(0, x) for p in pieces.values() if sum(p) > 0 for x in p)
        check(f"LLDS eq. 4 with the gate of a {name}", near([evaluate(o, raw)[0]["report"]["penalty_loss"]], [paid])
              and any(sum(p) == 0 for p in pieces.values()))
    a, b = case_of("scores", "not_negative")
    every = {**b, "advantage": [[abs(x) for x in row] for row in b["advantage"]]}
    check("without a bad token all count", evaluate(a, every)[0] == evaluate(changed(a, penalty={"likelihood_on": "all"}), every)[0])


def check_rows(check):
    """A row beside the one that it comes from."""
    own = {f: plain()["penalty"][f] for f in ("likelihood_on", "likelihood_coef", "likelihood_weight", "likelihood_form", "likelihood_gain",
                                              "likelihood_gate")}
    for name, parent, axes in (("sdar", "swift-grpo", {"penalty": own}), 
                               ("rlsd", "swift-grpo", {"advantage": {"teacher_share": 0, "teacher_clip": 0}}),
                               ("llds", "grpo", {"penalty": {**own, "kl_coef": 0.04}}),
                               ("minillm", "trl-grpo", {"advantage": {"teacher_coef": 0}}),
                               ("drpo", "disco", {}),
                               ("ctpo-geomean", "ctpo", {"ratio": {"unit": "prefix_sum"}, "surrogate": {"position_power": 0.5}})):
        check(f"{name} is {parent} and one thing more", changed(objectives.objective(name), **axes) == objectives.objective(parent))


GROUPS = (check_functions, check_shares, check_optima, check_surrogates, check_bounds, check_by_sign, check_likelihood, check_rows)
