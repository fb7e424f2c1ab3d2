"""Rows compared with each other, and with closed forms of their papers in ordinary floating point."""
import math

import objectives
from axes.penalty import ESTIMATED
from checks.groups import A, batch_of
from checks.tools import close, flat, near, preset_batches
from evaluate import evaluate
from objectives import changed, plain


def check_rows_of_gains(check):
    """A row beside the one that it comes from."""
    rows = objectives.objective
    check("dapo-zv is TRL's mean over tokens but for its divisor",
          changed(rows("dapo-zv"), aggregation={"kind": "token_mean"}) == rows("trl-bnpo"))
    bare = {"reweight": "none", "focal_reward_high": 0, "focal_gamma": 0, "eps": 0, "singleton": "zero"}
    check("f-grpo without its power is GRPO without its KL",
          changed(rows("f-grpo"), advantage=bare, aggregation={"kind": "seq_mean_token_mean"})
          == changed(rows("grpo"), penalty={"kl": "none", "kl_coef": 0}))
    check("mirror-descent is rep-k2 with another coefficient and the trainer's old policy",
          changed(rows("mirror-descent"), penalty={"kl_reference": "rollout", "kl_coef": 0.2, "entropy_coef": 0}) == rows("rep-k2"))


def check_rows_of_penalties(check):
    """A row beside the one that it comes from."""
    for name, parent, axes in (("vapo", "vapo-gae", {"penalty": {"nll_on": "none", "nll_coef": 0}}),
                               ("amir-grpo", "trl-grpo", {"penalty": {f: plain()["penalty"][f] for f in
                                ("kl", "kl_coef", "preference", "preference_coef", "preference_min_gap", "preference_beta",
                                 "preference_score")}}),
                               ("flowrl-code", "flowrl", {"advantage": {"eps": 0, "singleton": "zero"},
                                                          "weight": {"policy_is_low": 0.8, "policy_is_high": 1.2}})):
        check(f"{name} is {parent} and one thing more", changed(objectives.objective(name), **axes) == objectives.objective(parent))


def check_rows_of_pairs(check):
    """A row beside the one that it comes from."""
    rows = objectives.objective
    check("mt-guide is verl-ppo but for its rewards",
          changed(rows("mt-guide"), advantage={"credit": "gae"}, reward={"kl": "none", "kl_coef": 0}) == rows("verl-ppo"))
    back = {"surrogate": {"kind": "standardised", "group_score_eps": 1e-6}, "advantage": {"eps": 1e-6, "singleton": "raw"}}
    check("reg-grpo is gift but for what it differentiates", changed(rows("reg-grpo"), **back) == rows("gift"))
    near_0 = changed(rows("apmpo"), ratio={"level": "sequence_clipped_mean", "token_clip_low": 0.4, "token_clip_high": 0.4},
                     penalty={"kl": "none", "kl_coef": 0}, advantage={"std": "sample"})
    check("apmpo with a power of 0 is GMPO", near_0 == rows("gmpo"))
    batch = batch_of(rows("trpa"), reward=list(A))
    a, b, c = (evaluate(changed(rows("trpa"), penalty=fields), batch)[0] for fields in ({"preference": "none"}, {"kl": "none"}, {}))
    check("trpa is its pairs and its KL", near([c["loss"]], [a["loss"] + b["loss"]]) and a["loss"] > 0)


def check_rows_of_scores(check):
    """A row beside the one that it comes from."""
    own = {f: plain()["penalty"][f] for f in ("nll_on", "nll_coef", "nll_weight", "nll_form", "nll_teacher_slope",
                                              "nll_gate")}
    for name, parent, axes in (("sdar", "swift-grpo", {"penalty": own}), 
                               ("rlsd", "swift-grpo", {"advantage": {"teacher_share": 0, "teacher_clip": 0}}),
                               ("llds", "grpo", {"penalty": {**own, "kl_coef": 0.04}, "aggregation": {"kind": "seq_mean_token_mean"}}),
                               ("minillm", "trl-bnpo", {"penalty": {f: plain()["penalty"][f] for f in
                                                        ("kl", "kl_coef", "kl_reference", "kl_importance_weight")}}),
                               ("drpo", "disco", {"surrogate": {"length_decay": 0}}),
                               ("ctpo-geomean", "ctpo", {"ratio": {"level": "prefix_sum"}, "surrogate": {"position_power": 0.5}})):
        check(f"{name} is {parent} and one thing more", changed(objectives.objective(name), **axes) == objectives.objective(parent))


def answers(name, label, **axes):
    for _, o, batch in preset_batches(name, (label,)):
        return evaluate(objectives.changed(o, **axes), batch)[0]


def on_same_batch(base, label, **axes):
    """The answers of a row before and after a change, on one batch."""
    for _, o, batch in preset_batches(base, (label,)):
        return evaluate(o, batch)[0], evaluate(objectives.changed(o, **axes), batch)[0]


def check_identities_of_ratios(check):
    for label in ("ragged", "fine", "holes", "extreme-50", "fully-masked", "neginf-pair"):
        a, b = on_same_batch("gspo", label, ratio={"gradient": "token"})
        check(f"gspo-token is gspo where A is constant in a response: {label}", a == b)
    a, b = on_same_batch("gspo", "signs", ratio={"gradient": "token"})
    check("gspo-token is not gspo where A is not constant", a["dlogp"] != b["dlogp"] and a["loss"] == b["loss"])
    for label in ("ragged", "signs"):
        a, b = on_same_batch("ppo", label, surrogate={"kind": "dual_clip", "clip_dual": 1000})
        check(f"dual clip that never binds is the clip: {label}", a == b)
    a, b = on_same_batch("grpo", "on-policy", surrogate={"kind": "reinforce", "eps_low": 0, "eps_high": 0})
    check("on policy the clip's gradient is the score function's", a["dlogp"] == b["dlogp"])
    a, b = on_same_batch("gmpo", "ragged", ratio={"level": "sequence_mean", "token_clip_low": 0, "token_clip_high": 0})
    c, d = on_same_batch("gmpo", "ragged", ratio={"token_clip_low": 1000, "token_clip_high": 1000})
    check("gmpo that never clips is gspo without a clip", b["dlogp"] == d["dlogp"] and a != d)
    for _, o, batch in preset_batches("luspo", ("signs",)):
        a, b = evaluate(o, batch)[0], evaluate(objectives.changed(o, aggregation={"kind": "seq_mean_token_mean"}), batch)[0]
        check("luspo is T_i times gspo", any(flat(a["dlogp"])) and all(
            close(x, T * y) for T, xs, ys in zip(batch["length"], a["dlogp"], b["dlogp"]) for x, y in zip(xs, ys)))


def check_identities_of_advantages(check):
    for label, o, batch in preset_batches("grpo", ("ragged", "uneven", "offset-rewards", "equal-rewards")):
        a = evaluate(o, batch)[0]["advantage"]
        for g in set(batch["group"]):
            group = [row[0] for row, h in zip(a, batch["group"]) if h == g]
            check(f"advantages of a group sum to 0: {label}", abs(sum(group)) < 1e-14)
            spread = sum(x * x for x in group)
            check(f"their squares sum to G - 1, or A = 0: {label}", close(spread, len(group) - 1) or not any(group))
    for _, o, batch in preset_batches("gpg", ("equal-rewards",)):
        a = evaluate(o, batch)[0]["advantage"]
        b = evaluate(objectives.changed(o, advantage={"reweight": "none"}), batch)[0]["advantage"]
        check("GPG is the centred reward times N / (N - M)", all(close(x, y * 10 / 2) for x, y in zip(flat(a), flat(b))))
    for _, o, batch in preset_batches("dr-grpo", ("ragged",)):
        a = evaluate(o, batch)[0]["advantage"]
        b = evaluate(objectives.changed(o, advantage={"baseline": "leave_one_out"}), batch)[0]["advantage"]
        sizes = (3, 3, 3, 2, 2)
        check("leave-one-out is G / (G - 1) times the centred reward",
              all(close(y[0], x[0] * G / (G - 1)) for x, y, G in zip(a, b, sizes)))
    for _, o, batch in preset_batches("opo", ("one-token",)):
        a = evaluate(o, batch)[0]
        check("length-weighted is the group mean for equal lengths",
              a == evaluate(objectives.changed(o, advantage={"baseline": "group_mean"}), batch)[0])
    for name, items in (("reinforce++", flat), ("reinforce++-baseline", lambda rows: [row[0] for row in rows])):
        a = items(answers(name, "ragged")["advantage"])
        check(f"advantages of tokens, or of responses, have mean 0 and variance 1 over the batch: {name}",
              abs(sum(a)) < 1e-13 and close(sum(x * x for x in a), len(a) - 1))
    _, b = on_same_batch("ppo", "values", advantage={"gamma": 1, "lambda": 1})
    _, d = on_same_batch("ppo", "values", advantage={"credit": "return", "gamma": 1, "lambda": 0})
    for _, o, batch in preset_batches("ppo", ("values",)):
        check("GAE with gamma = lambda = 1 is return minus value",
              all(close(x, y - v) for x, y, v, m in zip(*map(flat, (b["advantage"], d["advantage"], batch["value"],
                  batch["mask"]))) if m))


def penalty_gradient(**fields):
    """Of a KL alone, token by token: the gradient, the difference of log-probabilities from the reference, the ratio."""
    o = objectives.changed(objectives.objective("grpo"), surrogate={"kind": "ratio", "eps_low": 0, "eps_high": 0},
                           penalty={"kl_coef": 1, **fields}, aggregation={"kind": "token_sum"})
    _, _, batch = next(preset_batches("grpo", ("reference",)))
    batch["advantage"] = [[0] * T for T in batch["length"]]
    grid = [[l - f for l, f in zip(ls, fs)] for ls, fs in zip(batch["logp"], batch["logp_ref"])]
    w = [[math.exp(l - f) for l, f in zip(ls, fs)] for ls, fs in zip(batch["logp"], batch["logp_old"])]
    return flat(evaluate(o, batch)[0]["dlogp"]), flat(grid), flat(w)


def check_identities_of_penalties(check):
    for kl in ESTIMATED:
        g, D, w = penalty_gradient(kl=kl, kl_gradient="straight_through_k2")
        check(f"straight-through gradient of {kl} is D", all(close(x, d) for x, d in zip(g, D)))
    g, D, w = penalty_gradient(kl="k3")
    check("gradient of k3 is 1 - e^-D", all(close(x, -math.expm1(-d)) for x, d in zip(g, D)))
    g, D, w = penalty_gradient(kl="k3", kl_importance_weight="token")
    check("gradient of w k3 is w D", all(close(x, r * d) for x, d, r in zip(g, D, w)))
    g, D, w = penalty_gradient(kl="k1")
    check("gradient of k1 is 1", all(x == 1 for x in g))


def by_hand(name, label="ragged"):
    """(answers, rows of (A, log-ratios, N, tokens of the batch)) per response"""
    _, o, batch = next(preset_batches(name, (label,)))
    found = evaluate(o, batch)[0]
    N, n = len(batch["length"]), sum(batch["length"])
    rows = []
    for i in range(N):
        group = [r for r, g in zip(batch["reward"], batch["group"]) if g == batch["group"][i]]
        m = math.fsum(group) / len(group)
        s = math.sqrt(math.fsum((r - m) ** 2 for r in group) / (len(group) - 1))
        rows.append(((batch["reward"][i] - m) / s if s else 0.0, [l - p for l, p in zip(batch["logp"][i], batch["logp_old"][i])]))
    return found, rows, N, n


def of_prompts(name, label="ragged"):
    """For each response: one over the prompts times the tokens of its prompt, and its reward less the prompt's mean"""
    _, o, batch = next(preset_batches(name, (label,)))
    of_group = {g: [i for i, h in enumerate(batch["group"]) if h == g] for g in batch["group"]}
    shares = [1 / (len(of_group) * sum(batch["length"][j] for j in of_group[g])) for g in batch["group"]]
    means = {g: math.fsum(batch["reward"][i] for i in places) / len(places) for g, places in of_group.items()}
    return shares, [r - means[g] for r, g in zip(batch["reward"], batch["group"])]


def compare(check, what, found, expected):
    check(what, all(close(x, y) for x, y in zip(flat(found["dlogp"]), flat(expected))))


def check_by_hand(check):
    found, rows, N, n = by_hand("gspo")
    s = [math.exp(math.fsum(d) / len(d)) for _, d in rows]
    clipped = [(a > 0 and x > 1 + 4e-4) or (a < 0 and x < 1 - 3e-4) for (a, _), x in zip(rows, s)]
    compare(check, "GSPO eq. 10", found, [[0 if c else -a * x / (N * len(d))] * len(d) for (a, d), x, c in zip(rows, s, clipped)])
    check("GSPO eq. 5", close(found["loss"], -math.fsum(min(x * a, min(max(x, 1 - 3e-4), 1 + 4e-4) * a) for (a, _), x in zip(rows,
          s)) / N))

    found, rows, N, n = by_hand("dapo")
    shares, _ = of_prompts("dapo")
    compare(check, "DAPO eq. 8", found,
            [[0 if (a > 0 and x > math.log(1.28)) or (a < 0 and x < math.log(0.8)) else -a * math.exp(x) * share for x in d]
             for (a, d), share in zip(rows, shares)])

    found, rows, N, n = by_hand("gmpo")
    expected = []
    for a, d in rows:
        e = [min(x, 0.4) if a >= 0 else max(x, -0.4) for x in d]
        S = math.exp(math.fsum(e) / len(e))
        expected.append([-a * S / (N * len(d)) if x == y else 0 for x, y in zip(d, e)])
    compare(check, "GMPO", found, expected)

    found, rows, N, n = by_hand("sapo")
    compare(check, "SAPO: sech^2", found,
            [[-a * math.exp(x) / math.cosh((1 if a > 0 else 1.05) * math.expm1(x) / 2) ** 2 / (N * len(d)) for x in d] for a,
                            d in rows])

    found, rows, N, n = by_hand("cispo")
    shares, _ = of_prompts("cispo")
    compare(check, "CISPO eq. 4", found, [[-a * min(math.exp(x), 5) * share for x in d] for (a, d), share in zip(rows, shares)])

    found, rows, N, n = by_hand("vespo")
    expected = []
    _, centred = of_prompts("vespo")
    for (_, d), a in zip(rows, centred):
        k, lam = (2, 3) if a > 0 else (3, 2)
        W = math.exp(math.fsum(d))
        expected.append([-a * W ** k * math.exp(lam * (1 - W)) / N] * len(d))
    compare(check, "VESPO", found, expected)

    o = objectives.changed(objectives.plain(), reward={"overlong": "soft", "overlong_max": 20480, "overlong_cache": 4096,
                           "overlong_factor": 1})
    from axes.reward import overlong
    check("DAPO eq. 13", [overlong(o["reward"], T) for T in (1, 16384, 18432, 20480, 20481)] == [0, 0, -0.5, -1, -1])

    # r = 1 at the end, a hole in the middle
    o = objectives.changed(objectives.plain(), advantage={"credit": "return", "gamma": 0.5})
    batch = {"group": [0], "length": [3], "reward": [1], "logp": [[-1, -1, -1]],
             "mask": [[True, False, True]], "value": [[0.5, 8, 0.25]]}
    check("a masked token does not discount", evaluate(o, batch)[0]["advantage"] == [[0.5, 0, 1]])
    o = objectives.changed(o, advantage={"credit": "gae", "lambda": 0.5})
    check("GAE skips masked tokens", evaluate(o, batch)[0]["advantage"] == [[0.5 * 0.25 - 0.5 + 0.25 * 0.75, 0, 0.75]])


GROUPS = (check_identities_of_ratios, check_identities_of_advantages, check_identities_of_penalties, check_by_hand,
          check_rows_of_penalties, check_rows_of_scores, check_rows_of_gains, check_rows_of_pairs)
