"""Checks of the choices of choices_late.py, by other ways to the same number.

Each takes check(what, ok) of self_check.py.
"""
import math

import objectives
from cases import case_of
from evaluate import evaluate
from identities import near
from identities_found import flat, refused
from identities_group import A, GROUPS_OF, LENGTHS, batch_of, scores, slopes, softplus, with_kind
from objectives import changed

K = 0.5


# ---- the power mean

def log_ratios(batch):
    """[(d, A)] of the active tokens of every response"""
    mask = batch.get("mask", [[True] * T for T in batch["length"]])
    return [[(l - o, a) for l, o, a, m in zip(*rows) if m] for rows in zip(batch["logp"], batch["logp_old"], batch["advantage"], mask)]


def power_mean_by_hand(tokens, p):
    """APMPO's M_p of |min(w A, clip(w) A)|/|A|, and its derivatives by d, from e^(p e) alone"""
    low, high = -0.25, 0.1875
    e = [min(d, high) if a >= 0 else max(d, low) for d, a in tokens]
    m = math.fsum(math.exp(p * x) for x in e) / len(e)
    return m ** (1 / p), [m ** (1 / p - 1) * math.exp(p * x) / len(e) if x == d else 0 for x, (d, _) in zip(e, tokens)]


def check_power_mean(check):
    for label in ("power_mean", "power_mean-1"):
        o, batch = case_of("found", label)
        found = evaluate(o, batch)[0]
        p = o["ratio"]["power"]
        for i, tokens in enumerate(log_ratios(batch)):
            w, slope = power_mean_by_hand(tokens, p)
            mine = [(x, g) for x, g, m in zip(found["term"][i], found["dlogp"][i], batch["mask"][i]) if m]
            check(f"APMPO by hand, power {p}", near([x for x, _ in mine], [-w * a for _, a in tokens]))
            total = math.fsum(a for _, a in tokens) / (len(batch["length"]) * len(tokens))
            check(f"its derivatives, power {p}", near([g for _, g in mine], [-total * s for s in slope]))
    o, batch = case_of("found", "power_mean-16")
    one, plain = (evaluate(changed(o, ratio=fields), batch)[0] for fields in ({"power": 1}, {"unit": "sequence_mean_ratio"}))
    check("of power 1 it is the mean of the ratios", all(near(flat(one[key]), flat(plain[key])) for key in ("term", "dlogp")))
    o, batch = case_of("found", "power_mean")
    geometric = {"unit": "sequence_clipped_mean", "power": 1}
    tiny, gmpo = (evaluate(changed(o, ratio=fields), batch)[0] for fields in ({"power": 1e-9}, geometric))
    check("of power 0 it is the geometric mean", near(flat(tiny["dlogp"]), flat(gmpo["dlogp"]), 1e-8) and tiny["report"].items()
          >= {key: gmpo["report"][key] for key in ("clip_low", "clip_high", "clip_fraction")}.items())
    means = [evaluate(changed(o, ratio={"power": p}), batch)[0]["report"]["ratio_mean"] for p in (0.01, 0.5, 1, 2, 5, 16)]
    check("a larger power, a larger mean", means == sorted(means) and len(set(means)) == 6)
    o = with_kind("variance", strength=1)
    for power in (0, -1, 16.5):
        check(f"no power of {power}", refused(changed(o, ratio={"unit": "sequence_power_mean", "power": power})))
    check("which other units do not read", not refused(changed(o, ratio={"power": 0})))


# ---- the regression

def regression_by_hand(y, a, v, eps=0.125):
    """(loss of a group whose responses have the weights v, dL/dy), as the contract writes it"""
    n = len(y)
    if n == 1:
        return v[0] * a[0] ** 2, [0]
    m = math.fsum(y) / n
    c = [x - m for x in y]
    s = math.sqrt(math.fsum(x * x for x in c) / (n - 1))
    D = s + eps
    b = [-2 * K * w * (x - K * z / D) for w, x, z in zip(v, a, c)]
    turn = math.fsum(x * z for x, z in zip(b, c)) / (D * D * (n - 1) * s)
    return (math.fsum(w * (x - K * z / D) ** 2 for w, x, z in zip(v, a, c)), [(x - math.fsum(b) / n) / D - z * turn for x, z in zip(b, c)])


def check_regression(check):
    o = with_kind("regression", strength=K, score_eps=0.125)
    batch = batch_of(o)
    weights = (2, 0.5, 0, 1, 1.5, 0.25)
    y = scores(o, batch)
    for v, objective, more in (((1,) * 6, o, {}), (weights, changed(o, weight={"given": "policy"}),
                                                   {"weight": [[w] * T for w, T in zip(weights, LENGTHS)]})):
        found = evaluate(objective, {**batch, **more})[0]
        each = [regression_by_hand([y[i] for i in g], [A[i] for i in g], [v[i] for i in g]) for g in GROUPS_OF]
        check("Reg-GRPO by hand", near([3 * found["loss"]], [math.fsum(x for x, _ in each)]))
        check("its derivatives", near([3 * s for s in slopes(found)], [s for _, row in each for s in row]))
        check("what moves all scores moves nothing", all(abs(math.fsum(slopes(found)[i] for i in g)) < 1e-15 for g in GROUPS_OF))
    standard = evaluate(with_kind("standardised", strength=K, score_eps=0.125), batch)[0]
    check("the values of standardised but for a lone one", all(x == y for i, (x, y) in enumerate(zip(evaluate(o, batch)[0]["term"],
                                                                                                 standard["term"])) if i != 3))


def check_units(check):
    o = with_kind("regression", strength=K)
    batch = batch_of(o)
    found, y = evaluate(o, batch)[0], scores(o, batch)
    stretched = {**batch, "logp": [[p + 4 * (l - p) + 0.25 for l, p in zip(*rows)] for rows in zip(batch["logp"], batch["logp_old"])]}
    other = evaluate(o, stretched)[0]
    check("units and origin of the scores do not matter", near(flat(other["term"]), flat(found["term"]))
          and near([4 * s for s in slopes(other)], slopes(found)))
    check("so stretching them is worth nothing", all(abs(math.fsum(y[i] * slopes(found)[i] for i in g)) < 1e-14 for g in GROUPS_OF))
    check("two scores have no freedom", slopes(found)[4:] == [0, 0] != slopes(found)[:2])
    for axes in ({"ratio": {"unit": "token"}}, {"surrogate": {"score_eps": -1}}):
        check(f"no regression: {axes}", refused(changed(o, **axes)))
    level, batch = case_of("found", "regression-level")
    found = evaluate(level, batch)[0]
    b = [-2 * K * a for a in (1, -0.5, 0.25)]
    check("equal scores: the epsilon alone", near([math.fsum(row) for row in found["dlogp"]], [(x - sum(b) / 3) / 2 for x in b]))


# ---- no surrogate, and pairs

def check_none(check):
    for label in ("none", "none-kl_ratio", "none-neginf"):
        o, batch = case_of("found", label)
        found = evaluate(o, batch)[0]
        still = evaluate(changed(o, surrogate={"kind": "score"}), {**batch, "advantage": [[0] * T for T in batch["length"]]})[0]
        check(f"the score function of no advantage: {label}", all(found[key] == still[key] for key in ("loss", "term", "dlogp")))
        report = found["report"]
        check(f"a penalty and no policy loss: {label}", report["policy_loss"] == 0 and found["loss"] == report["penalty_loss"])
    o, batch = case_of("found", "none-kl_ratio")
    check("its ratios are reported", evaluate(o, batch)[0]["report"]["ratio_max"] > 1)


def means(batch, mask):
    """mean of l - f over the tokens that count"""
    kept = [[l - f for l, f, m in zip(*rows) if m] for rows in zip(batch["logp"], batch["logp_ref"], mask)]
    return [math.fsum(row) / len(row) if row else None for row in kept]


def check_pairs(check):
    o, batch = case_of("found", "pair_gain")
    s = means(batch, [[True] * T for T in batch["length"]])
    # rewards 1, -1, 0; 0, 0, -1
    told = ((0, 1, 2.5), (0, 2, 2.5), (2, 1, 1), (3, 5, 1), (4, 5, 1))
    loss = lambda gains: 0.5 / 5 * math.fsum(softplus(-0.75 * k * (s[i] - s[j])) for i, j, k in gains)
    found = evaluate(o, batch)[0]
    check("TRPA's pairs, steeper where the best is in them", near([found["loss"]], [loss(told)]))
    for gain in (0, 1):
        same = evaluate(changed(o, penalty={"pair_gain": gain}), batch)[0]
        check(f"none: {gain}", near([same["loss"]], [loss([(i, j, 1) for i, j, _ in told])]))
    check("where there are pairs the sign does not matter", evaluate(changed(o, penalty={"pairs": "margin_else_sign"}), batch)[0] == found)
    check("no gain below 0", refused(changed(with_kind("variance", strength=1), penalty={"pairs": "margin", "pair_gain": -1})))
    o, batch = case_of("found", "margin_else_sign-sign")
    found, s = evaluate(o, batch)[0], means(batch, batch["mask"])
    way = [1 if r > 0 else -1 for r in batch["reward"]]
    active = [i for i, x in enumerate(s) if x is not None]
    check("five of six responses are there", len(active) == 5)
    check("TRPA without pairs", near([found["loss"]], [0.5 / 5 * math.fsum(softplus(-way[i] * s[i]) for i in active)]))
    check("and its derivatives", all(near(found["dlogp"][i], [-0.1 * way[i] / (1 + math.exp(way[i] * s[i])) / batch["length"][i]]
                                          * batch["length"][i]) for i in active))
    check("whatever beta and gain", evaluate(changed(o, penalty={"pair_beta": 7, "pair_gain": 0}), batch)[0] == found)


# ---- steps in GAE

def check_step_gae(check):
    o, batch = case_of("found", "step_gae")
    loose = {**batch, "step_end": [[t == T - 1 for t in range(T)] for T in batch["length"]],
             "step_reward": [[r] * T for r, T in zip(batch["reward"], batch["length"])]}
    for fields in ({}, {"lambda_length": 0.75}, {"scale": "token_whiten"}, {"baseline": "group_mean", "scale": "group_std"},
                   {"truncated_tail": 2}):
        for value in ("reward", "response"):
            both = [evaluate(changed(o, advantage={"credit": c, "step_value": value, **fields}), loose)[0] for c in ("step_gae", "gae")]
            check(f"one step, the response: {fields}, {value}", both[0]["advantage"] == both[1]["advantage"])
    full = changed(o, advantage={"gamma": 1, "lambda": 1})
    sums = evaluate(changed(full, advantage={"credit": "step"}), batch)[0]["advantage"]
    mine = evaluate(full, batch)[0]["advantage"]
    mask = batch["mask"]
    check("with gamma = lambda = 1 what is to come, less the value", all(near([x], [y - v]) for x, y, v, m in
          zip(*map(flat, (mine, sums, batch["value"], mask))) if m))
    for fields in ({"bootstrap": "repeat"}, {"step_discount": "steps"}, {"gain": "length_power"},
                   {"entropy": "bonus", "entropy_cap": 2}, {"outside": "zero"}):
        try:
            evaluate(changed(o, advantage=fields), batch)
            check(f"no steps in GAE with {fields}", False)
        except ValueError:
            check(f"no steps in GAE with {fields}", True)


def check_rows(check):
    """A row beside the one that it comes from."""
    rows = objectives.objective
    check("mt-guide is verl-ppo but for its rewards", changed(rows("mt-guide"), advantage={"credit": "gae"}) == rows("verl-ppo"))
    back = {"surrogate": {"kind": "standardised", "score_eps": 1e-6}, "advantage": {"eps": 1e-6, "singleton": "raw"}}
    check("reg-grpo is gift but for what it differentiates", changed(rows("reg-grpo"), **back) == rows("gift"))
    near_0 = changed(rows("apmpo"), ratio={"unit": "sequence_clipped_mean", "pool_low": 0.4, "pool_high": 0.4},
                     penalty={"kl": "none", "kl_coef": 0}, advantage={"std": "sample"})
    check("apmpo with a power of 0 is GMPO", near_0 == rows("gmpo"))
    batch = batch_of(rows("trpa"), reward=list(A))
    a, b, c = (evaluate(changed(rows("trpa"), penalty=fields), batch)[0] for fields in ({"pairs": "none"}, {"kl": "none"}, {}))
    check("trpa is its pairs and its KL", near([c["loss"]], [a["loss"] + b["loss"]]) and a["loss"] > 0)


GROUPS = (check_power_mean, check_regression, check_units, check_none, check_pairs, check_step_gae, check_rows)
