#!/usr/bin/env python3
"""Checks of the oracle against something else than itself: finite differences, identities, more digits, hand-made numbers."""
import sys

sys.dont_write_bytecode = True

import copy
import json
import math
import multiprocessing

import answer
import autodiff
import functions
import generate
import identities
import identities_credit
import identities_found
import identities_group
import identities_late
import identities_scores
import identities_steps
import limits
import logits
import objectives
import other_kinds
import record
import scenarios
import split
import unit_checks
from attempt import narrow
from axes import own, surrogate
from cases import CASES, case_of
from defects import DEFECTS, LEFT_OUT, SAME
from evaluate import Batch, entries_of, evaluate, given_or_computed_advantages, loss, roots
from functions import every_function
from generate import UNDEFINED
from limits import K, Undefined, less, limit, mp, mpf, to_double

passed = failed = 0


def check(what, ok):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print("FAILED", what, flush=True)


def close(a, b, tolerance=1e-13):
    return abs(a - b) <= tolerance * max(1, abs(a), abs(b))


def flat(rows):
    return [x for row in rows for x in row]


def preset_batches(name, labels=None):
    """(label, objective, batch) of the scenarios that the generator keeps for this row."""
    for label, _, _, wanted, adapt, make in scenarios.SCENARIOS:
        o = objectives.changed(objectives.objective(name), **(adapt or {}))
        kept = wanted(o) and label in generate.wanted_scenarios(name, label) and label != "long" and (name, label) not in UNDEFINED
        if kept and (labels is None or label in labels):
            yield label, o, scenarios.finish(o, make(o))


def choice_batches():
    for file, label, _, base, changes, make in CASES:
        o = objectives.changed(base, **changes)
        yield f"{file}-{label}", o, scenarios.finish(o, make(o))


# ---- gradients

STEP = mpf(10) ** -18
# at these points a kink is exactly where the policy stands: the derivative of one side is the answer
KINKS = ("on-policy", "extreme-50", "choices-ratio-clamp", "choices-ratio-unit_clamp", "clipped_mean", "choices-ratio-pool",
         "-bound", "scores-position", "scores-lost-s", "ref-clamp", "-clamped", "both-clamps", "-value", "penalty-abs", "regression-level")
NOWHERE = ("regression-level-0",)  # equal scores without an epsilon have no derivative; 0 is a convention


def moved(batch, key, place, step):
    batch = copy.deepcopy(batch)
    *above, last = place
    row = batch[key]
    for k in above:
        row = row[k]
    row[last] = mpf(row[last]) + step
    return batch


def exact_gradient(objective, raw):
    """{(array, response, token): derivative}"""
    batch = Batch(raw)
    given_or_computed_advantages(objective, batch)
    entries, _ = entries_of(objective, batch)
    slope = autodiff.gradient(roots(entries, own.terms(objective, batch)))
    found = {("logp", *e.place()): slope.get(e.token.l, mpf(0)) for e in entries}
    if objective["penalty"]["entropy_coef"] != 0:
        found.update({("entropy", *e.place()): slope.get(e.token.H, mpf(0)) for e in entries})
    found.update({("log_z", g): slope.get(z, mpf(0)) for g, z in enumerate(batch.log_z)})
    return found


def never_sampled(raw):
    """Is there an infinite log-probability at a token that counts? There finite differences say nothing."""
    return any(isinstance(x, limits.Growth) for s in Batch(raw).sequences for token in s.unmasked
               for x in (token.l.value, token.o, token.f, token.b, token.teacher))


def gradients_match(where, objective, raw):
    if never_sampled(raw) or where.endswith(NOWHERE):
        return
    with limits.mpmath.workdps(limits.DIGITS + (400 if "-far" in where else 0)):  # e^800 beside ordinary terms
        differences_match(where, objective, raw)


def differences_match(where, objective, raw):
    kink = any(k in where for k in KINKS)
    here, seen = autodiff.recording(lambda: loss(objective, raw))
    for (key, *place), slope in exact_gradient(objective, raw).items():
        certain = key == "logp" and raw[key][place[0]][place[1]] == 0  # a probability cannot exceed 1
        steps = (0, -STEP) if certain else (STEP, -STEP)
        up, down = (autodiff.replaying(lambda: loss(objective, moved(raw, key, place, s)), seen) for s in steps)
        found = [(up - down) / (steps[0] - steps[1])]
        tolerance = mpf(10) ** (-12 if kink or certain else -25)
        if kink:
            found += [(up - here) / STEP, (here - down) / STEP]
        if not any(abs(f - slope) <= tolerance * (1 + abs(slope)) for f in found):
            check(f"gradient of {where} by {key} at {place}: {[float(f) for f in found]} is not {float(slope)}", False)
            return
    check(where, True)


def check_gradients():
    for name in objectives.ROWS:
        for label, o, batch in preset_batches(name, ("ragged", "near", "fine", "on-policy", "extreme-50", "signs", "holes",
                                                     "nan-masked", "rollout",
                                                     "reference", "steps", "values", "truncated", "fully-masked")):
            gradients_match(f"{name}-{label}", o, batch)
    for where, o, batch in choice_batches():
        gradients_match(where, o, batch)


# ---- identities

def answers(name, label, **axes):
    for _, o, batch in preset_batches(name, (label,)):
        return evaluate(objectives.changed(o, **axes), batch)[0]


def on_same_batch(base, label, **axes):
    """The answers of a row before and after a change, on one batch."""
    for _, o, batch in preset_batches(base, (label,)):
        return evaluate(o, batch)[0], evaluate(objectives.changed(o, **axes), batch)[0]


def of_group_alone(advantage):
    """Is an item of a group of equal rewards worth nothing?"""
    own = advantage["baseline"] not in ("none", "given", "batch_mean", "kalman") and advantage["shift"] == 0
    of_response = advantage["rewards"] == "one" and advantage["credit"] not in scenarios.STEP_CREDITS
    return own and of_response and advantage["entropy"] == "none" and advantage["teacher_coef"] == 0


def check_identities():
    for label in ("ragged", "fine", "holes", "extreme-50", "fully-masked", "neginf-pair"):
        a, b = on_same_batch("gspo", label, ratio={"gradient": "token"})
        check(f"gspo-token is gspo where A is constant in a response: {label}", a == b)
    a, b = on_same_batch("gspo", "signs", ratio={"gradient": "token"})
    check("gspo-token is not gspo where A is not constant", a["dlogp"] != b["dlogp"] and a["loss"] == b["loss"])
    for label in ("ragged", "signs"):
        a, b = on_same_batch("ppo", label, surrogate={"kind": "dual_clip", "dual": 1000})
        check(f"dual clip that never binds is the clip: {label}", a == b)
    a, b = on_same_batch("grpo", "on-policy", surrogate={"kind": "score", "eps_low": 0, "eps_high": 0})
    check("on policy the clip's gradient is the score function's", a["dlogp"] == b["dlogp"])
    a, b = on_same_batch("gmpo", "ragged", ratio={"unit": "sequence_mean", "pool_low": 0, "pool_high": 0})
    c, d = on_same_batch("gmpo", "ragged", ratio={"pool_low": 1000, "pool_high": 1000})
    check("gmpo that never clips is gspo without a clip", b["dlogp"] == d["dlogp"] and a != d)
    a = answers("luspo", "ragged")
    b = answers("luspo", "ragged", aggregation={"kind": "seq_mean_token_mean"})
    lengths = (4, 1, 6, 2, 3)
    check("luspo is T_i times gspo", all(close(x, T * y) for T, xs, ys in zip(lengths, a["dlogp"], b["dlogp"]) for x, y in zip(xs,
          ys)))

    for label, o, batch in preset_batches("grpo", ("ragged", "uneven", "offset-rewards", "equal-rewards")):
        a = evaluate(o, batch)[0]["advantage"]
        for g in set(batch["group"]):
            group = [row[0] for row, h in zip(a, batch["group"]) if h == g]
            check(f"advantages of a group sum to 0: {label}", abs(sum(group)) < 1e-14)
            spread = sum(x * x for x in group)
            check(f"their squares sum to G - 1, or A = 0: {label}", close(spread, len(group) - 1) or not any(group))
    for _, o, batch in preset_batches("gpg", ("equal-rewards",)):
        a = evaluate(o, batch)[0]["advantage"]
        b = evaluate(objectives.changed(o, advantage={"gain": "none"}), batch)[0]["advantage"]
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
    for name in ("reinforce++", "reinforce++-baseline"):
        a = flat(answers(name, "ragged")["advantage"])
        check(f"whitened advantages have mean 0 and variance 1: {name}",
              abs(sum(a)) < 1e-13 and close(sum(x * x for x in a), len(a) - 1))
    a, b = on_same_batch("ppo", "values", advantage={"gamma": 1, "lambda": 1})
    c, d = on_same_batch("ppo", "values", advantage={"credit": "return", "gamma": 1, "lambda": 0})
    for _, o, batch in preset_batches("ppo", ("values",)):
        check("GAE with gamma = lambda = 1 is return minus value",
              all(close(x, y - v) for x, y, v, m in zip(*map(flat, (b["advantage"], d["advantage"], batch["value"],
                  batch["mask"]))) if m))

    def penalty_gradient(**fields):
        o = objectives.changed(objectives.objective("grpo"), surrogate={"kind": "ratio", "eps_low": 0, "eps_high": 0},
                               penalty={"kl_coef": 1, **fields}, aggregation={"kind": "token_sum"})
        label, _, batch = next(preset_batches("grpo", ("reference",)))
        batch["advantage"] = [[0] * T for T in batch["length"]]
        grid = [[l - f for l, f in zip(ls, fs)] for ls, fs in zip(batch["logp"], batch["logp_ref"])]
        w = [[math.exp(l - f) for l, f in zip(ls, fs)] for ls, fs in zip(batch["logp"], batch["logp_old"])]
        return flat(evaluate(o, batch)[0]["dlogp"]), flat(grid), flat(w)

    for kl in ("k1", "k2", "k3", "abs"):
        g, D, w = penalty_gradient(kl=kl, kl_gradient="k2")
        check(f"straight-through gradient of {kl} is D", all(close(x, d) for x, d in zip(g, D)))
    g, D, w = penalty_gradient(kl="k3")
    check("gradient of k3 is 1 - e^-D", all(close(x, -math.expm1(-d)) for x, d in zip(g, D)))
    g, D, w = penalty_gradient(kl="k3", kl_ratio="token")
    check("gradient of w k3 is w D", all(close(x, r * d) for x, d, r in zip(g, D, w)))
    g, D, w = penalty_gradient(kl="k1")
    check("gradient of k1 is 1", all(x == 1 for x in g))


# ---- identities of single choices, on the batches of choices.py

def found(o, batch):
    return evaluate(o, batch)[0]


def bare(kind, **fields):
    """A surrogate and nothing else."""
    zero = objectives.plain()["surrogate"]
    return {**zero, "kind": kind, **fields}


LEVEL_BATCH = ("surrogate", "gppo")


def tokens_of(batch):
    """(A, l, o) of every token"""
    return list(zip(*(flat(batch[key]) for key in ("advantage", "logp", "logp_old"))))


def on_levels(surrogate, **axes):
    o, batch = case_of(*LEVEL_BATCH, surrogate=surrogate, aggregation={"kind": "token_sum"}, **axes)
    return found(o, batch), tokens_of(batch)


def check_clipping_kinds():
    clip = {"eps_low": 0.2, "eps_high": 0.28}
    ppo, _ = on_levels(bare("ppo_clip", **clip))
    for betas in ((0, 0), (1, 1), (0.5, 2)):
        gppo, tokens = on_levels(bare("gppo", **clip, beta_low=betas[0], beta_high=betas[1]))
        same = gppo["dlogp"] == ppo["dlogp"]
        check(f"gppo has the clip's gradient where its betas are 0, and only there: {betas}", same == (betas == (0, 0)))
        check("and clips what it clips", gppo["report"]["clip_fraction"] == ppo["report"]["clip_fraction"] > 0)
        by_hand = []
        for A, l, o in tokens:
            w = math.exp(l - o)
            by_hand.append(-A * (betas[1] * 1.28 if A > 0 and w > 1.28 else betas[0] * 0.8 if A < 0 and w < 0.8 else w))
        check(f"CE-GPPO eq. 17-18: {betas}", all(close(x, y) for x, y in zip(flat(gppo["dlogp"]), by_hand)))
    dual, _ = on_levels(bare("gppo", **clip, beta_low=0, beta_high=0, dual=3))
    twin, _ = on_levels(bare("dual_clip", **clip, dual=3))
    check("with betas 0 and a dual it has the dual clip's",
          dual["dlogp"] == twin["dlogp"] != ppo["dlogp"] and dual["report"]["clip_dual"] > 0)

    aspo, tokens = on_levels(bare("aspo", **clip))
    bounded, _ = on_levels(bare("aspo", **clip, dual=3, dual_pos=2))
    for x, y, z, (A, l, o) in zip(*map(flat, (aspo["dlogp"], bounded["dlogp"], ppo["dlogp"])), tokens):
        w = math.exp(l - o)
        check("ASPO is the clip where A < 0", A > 0 or x == z)
        check("ASPO weighs by 1 / w where A > 0", A <= 0 or close(x, -A / w if w < 1.28 else 0))
        check("ASPO's dual clips keep the gradient of a bounded weight", close(y, -A * 2 if A > 0 and w < 0.5 else
              -A * 3 if A < 0 and w > 3 else x))

    for p in (1, 0.7, 0.3, 1e-3, 1e-9):
        low, high = surrogate.bounds(surrogate.at(bare("ppo_clip", bounds="probability", eps_low=0.16, eps_high=0.2),
                                                  limits.mpmath.log(p)))
        check(f"DCPO: (w - 1) w p is the upper epsilon at the upper bound, p = {p}", close(high * (high - 1) * p, 0.2))
        check(f"(1 - w) w p is the lower epsilon, or w a half, p = {p}",
              close(low * (1 - low) * p, 0.16) and low > 0.5 if p > 0.64 else low == 0.5)


def check_score_kinds():
    o, batch = case_of("surrogate", "topr-good")
    a, b = found(o, batch), found(objectives.changed(o, surrogate=bare("score")), batch)
    check("TOPR of good ones is the score function", a["dlogp"] == b["dlogp"] and a["loss"] == b["loss"])
    topr, tokens = on_levels(bare("topr", weight_max=1))
    check("TOPR tapers bad ones", all(close(x, -A * (1 if A > 0 else min(1, math.exp(l - o))))
          for x, (A, l, o) in zip(flat(topr["dlogp"]), tokens)))
    band, tokens = on_levels(bare("band", weight_min=0.5, weight_max=5))
    check("the band is the score function times w inside",
          all(close(x, -A * math.exp(l - o) if -0.69 < l - o < 1.6 else 0) for x, (A, l, o) in zip(flat(band["dlogp"]), tokens)))
    check("and clips outside", band["report"]["clip_low"] > 0 and band["report"]["clip_high"] > 0)
    sapo, tokens = on_levels(bare("sapo_detached", tau_pos=1, tau_neg=1.5))
    check("the detached gate is a weight", all(close(x, -A * 4 / tau / (1 + math.exp(-tau * math.expm1(l - o))))
          for x, (A, l, o) in zip(flat(sapo["dlogp"]), tokens) for tau in (1 if A > 0 else 1.5,)))
    plain, _ = on_levels(bare("log_ratio"))
    check("-A y has the score function's gradient", plain["dlogp"] == on_levels(bare("score"))[0]["dlogp"])
    for kind in ("ratio", "log_ratio", "ppo_clip"):
        now, _ = on_levels(bare(kind, eps_low=0.2 if kind == "ppo_clip" else 0,
                                eps_high=0.2 if kind == "ppo_clip" else 0),
                           ratio={"against": "current"})
        check(f"against the policy itself {kind} has it too", now["dlogp"] == plain["dlogp"])


def check_squared():
    grad = {k: flat(on_levels(bare("squared", strength=k))[0]["dlogp"]) for k in (0, 0.5, -0.5, 1, -1)}
    tokens = on_levels(bare("score"))[1]
    check("Kimi K2: -2 k (A - k y)", all(close(x, -(A - 0.5 * (l - o))) for x, (A, l, o) in zip(grad[0.5], tokens)))
    check("no strength, no gradient", not any(grad[0]) and any(grad[1]))
    odd = [[x - y for x, y in zip(grad[k], grad[-k])] for k in (0.5, 1)]
    even = [[x + y for x, y in zip(grad[k], grad[-k])] for k in (0.5, 1)]
    check("the part with A is linear in k", all(close(2 * x, y) for x, y in zip(*odd)) and any(odd[0]))
    check("the part without A is quadratic in k, and acts where A = 0",
          all(close(4 * x, y) for x, y in zip(*even)) and any(x for x, (A, _, _) in zip(even[0], tokens) if A == 0))
    for unit in ("token", "sequence_sum"):
        square, _ = on_levels(bare("squared", strength=0.25), ratio={"unit": unit})
        pair, _ = on_levels(bare("log_ratio"), ratio={"unit": unit},
                            penalty={"kl": "k2", "kl_against": "old", "kl_coef": 0.25})
        same = all(close(x, 2 * 0.25 * y) for x, y in zip(flat(square["dlogp"]), flat(pair["dlogp"])))
        check(f"Kimi k1.5 eq. 3: the square's gradient is 2 k times that of -A y + k y^2 / 2 of the {unit}",
              same == (unit == "token"))
    o, batch = case_of("surrogate", "squared-cancels")
    expect, scale = evaluate(o, batch)
    check("A = k y is exactly 0, with the size of its parts",
          expect["term"][0][0] == 0 == expect["dlogp"][0][0] and scale["term"][0][0] == limits.rounded_up(mpf(0.25) ** 2)
          and scale["dlogp"][0][0] == limits.rounded_up(2 * mpf(0.5) * mpf(0.25) / 6))
    check("nearly: 2^-40",
          close(expect["term"][0][1], 2.0 ** -40) and scale["term"][0][1] == limits.rounded_up((mpf(0.25) + mpf(2) ** -20) ** 2))


def check_trust():
    clip = {"eps_low": 0.2, "eps_high": 0.25}
    ppo, tokens = on_levels(bare("ppo_clip", **clip))
    one, _ = on_levels(bare("ratio"), weight={"trust": "one_sided", "trust_low": 0.2, "trust_high": 0.25})
    check("one-sided trust is the clip's gradient", one["dlogp"] == ppo["dlogp"] and one["loss"] != ppo["loss"])
    check("and its clip fractions", all(one["report"][k] == ppo["report"][k] > 0 for k in ("clip_low", "clip_high")))
    c = 0.515625  # between the levels
    log, _ = on_levels(bare("ratio"), weight={"trust": "log_two_sided", "trust_low": c, "trust_high": c})
    k2, _ = on_levels(bare("ratio"), weight={"trust": "k2", "trust_high": c * c / 2})
    two, _ = on_levels(bare("ratio"),
                       weight={"trust": "two_sided", "trust_low": 1 - math.exp(-c), "trust_high": math.expm1(c)})
    check("three ways to say the same of a token's ratio", log == k2 == two and log["report"]["clip_fraction"] > 0)
    for trust, drops in (("probability", lambda A, p, q: A > 0 and p - q > 0.03 or A < 0 and q - p > 0.2),
                         ("probability_both", lambda A, p, q: abs(p - q) > 0.03),
                         ("binary_kl", lambda A, p, q: (A > 0 and p > q and bernoulli(q, p) > 0.03
                                                        or A < 0 and p < q and bernoulli(q, p) > 0.2))):
        some, tokens = on_levels(bare("ratio"), weight={"trust": trust, "trust_low": 0.2, "trust_high": 0.03})
        gone = [drops(A, math.exp(l), math.exp(o)) for A, l, o in tokens]
        check(f"{trust} by hand", all(close(x, 0 if g else -A * math.exp(l - o))
              for x, g, (A, l, o) in zip(flat(some["dlogp"]), gone, tokens)) and len(set(gone)) == 2)
        check(f"{trust} counts as clips", close(some["report"]["clip_fraction"],
              sum(g and A != 0 for g, (A, _, _) in zip(gone, tokens)) / len(tokens)))
    free, _ = on_levels(bare("ratio"))
    for trust in ("one_sided", "two_sided", "log_two_sided", "probability", "probability_both", "binary_kl", "k2"):
        check(f"{trust} without limits is none", on_levels(bare("ratio"), weight={"trust": trust, "trust_low": math.inf,
              "trust_high": math.inf})[0] == free)


def bernoulli(q, p):
    return q * math.log(q / p) + (1 - q) * math.log((1 - q) / (1 - p))


def check_off_policy():
    o, batch = case_of("weight", "off_policy-old-ratio", penalty={"kl": "none", "kl_coef": 0},
                      aggregation={"kind": "token_sum"})
    some = found(o, batch)
    for i, row in enumerate(some["dlogp"]):
        active = [t for t, m in enumerate(batch["mask"][i]) if m]
        d = {t: batch["logp"][i][t] - batch["logp_old"][i][t] for t in active}
        left = -sum(d.values()) / len(d) > 0.25
        check("off-policy masking by hand", all(close(row[t], 0 if left and batch["advantage"][i][t] < 0 else
              -batch["advantage"][i][t] * math.exp(d[t])) for t in active))
    check("some responses were left, some not", 0 < some["report"]["clip_low"] < 0.5)
    none = found(objectives.changed(o, weight={"off_policy_max": "Infinity"}), batch)
    every = found(objectives.changed(o, weight={"off_policy_max": "-Infinity"}), batch)
    good = [[max(a, 0) for a in row] for row in batch["advantage"]]
    check("without a limit nothing is dropped, with none every bad token is",
          none["dlogp"] == found(objectives.changed(o, weight={"off_policy": "none"}), batch)["dlogp"] != some["dlogp"]
          and every["dlogp"] == found(objectives.changed(o, weight={"off_policy": "none"}),
                                      {**batch, "advantage": good})["dlogp"])
    keep, batch = case_of("weight", "selected-keep-token")
    turned = [[not x for x in row] for row in batch["selected"]]
    drop = found(objectives.changed(keep, weight={"selected": "drop"}), {**batch, "selected": turned})
    check("to keep some is to drop the others", found(keep, batch) == drop)


def check_rejection():
    for unit in ("token", "sequence_sum", "sequence_mean"):
        for rejected in ("zero_weight", "unmask"):
            o, batch = case_of("weight", f"reject-{unit}-{rejected}")
            low, high = o["weight"]["correction_low"], o["weight"]["correction_high"]
            other = objectives.changed(o, weight={"correction": "none", "reject": "ratio", "reject_unit": unit,
                                                  "reject_low": low, "reject_high": high})
            a, b = found(o, batch), found(other, batch)
            check(f"two ways to reject by the ratio of a {unit}: {rejected}",
                  a == b and a["report"]["rejected_tokens"] > 0)
    o, batch = case_of("weight", "reject-k2-token-unmask")
    c = math.sqrt(2 * o["weight"]["reject_high"])
    other = objectives.changed(o, weight={"reject": "ratio", "reject_low": math.exp(-c), "reject_high": math.exp(c)})
    check("k2 of a token is a band of its ratio", found(o, batch) == found(other, batch))
    top, batch = case_of("weight", "reject-k3-sequence_max-unmask", weight={"reject_high": 0.3})
    for row_o, row_b, row in zip(batch["logp_old"], batch["logp_rollout"], found(top, batch)["term"]):
        worst = max(math.expm1(o - b) - (o - b) for o, b in zip(row_o, row_b))
        check("the largest k3 of a response decides", any(row) == (worst <= 0.3))
    o, batch = case_of("weight", "veto-none-unmask")
    for row_o, row_b, row in zip(batch["logp_old"], batch["logp_rollout"], found(o, batch)["term"]):
        check("one token vetoes the response", any(row) == all(math.exp(o - b) >= 0.25 for o, b in zip(row_o, row_b)))
    for rejected, penalised in (("zero_weight", True), ("unmask", False)):
        report = found(*case_of("weight", f"reject-all-{rejected}"))["report"]
        check(f"everything rejected: {rejected}",
              report["policy_loss"] == 0 and (report["penalty_loss"] != 0) == penalised
              and report["rejected_tokens"] == 10 and report["tokens"] == (10 if penalised else 0))


def check_penalties():
    def slopes(**fields):
        o, batch = case_of("penalty", "k3-against-old", penalty={"kl_coef": 1, **fields}, surrogate=bare("score"),
                          advantage={"baseline": "none"}, aggregation={"kind": "token_sum"})
        batch["reward"] = [0] * len(batch["reward"])
        held_to = batch["logp_" + o["penalty"]["kl_against"]]
        D = [[l - x for l, x in zip(*rows)] for rows in zip(batch["logp"], held_to)]
        return flat(found(o, batch)["dlogp"]), flat(D)
    for who in ("ref", "old", "rollout"):
        g, D = slopes(kl_against=who)
        check(f"gradient of k3 against {who}", all(close(x, -math.expm1(-d)) for x, d in zip(g, D)))
        g, D = slopes(kl_against=who, kl_ratio="score")
        check(f"with the score function, against {who}: D, as w k3 on policy", all(close(x, d) for x, d in zip(g, D)))
    g, D = slopes(kl_ratio="score", kl_ratio_max=0.5)
    check("a bound below 1 halves the KL and takes the score function's part",
          all(close(x, -math.expm1(-d) / 2) for x, d in zip(g, D)))
    o, batch = case_of("penalty", "kl_on-k3")
    some, none, every = (found(objectives.changed(o, penalty=p), batch)["dlogp"]
                         for p in ({}, {"kl_coef": 0}, {"kl_on": "all"}))
    check("the selected pay, the others do not", none != every and some == [[y if s else x for x, y, s in zip(*rows)]
          for rows in zip(none, every, batch["selected"])])
    o, batch = case_of("penalty", "kl_ratio_max-token")
    free, wide = (found(objectives.changed(o, penalty={"kl_ratio_max": m}), batch) for m in (0, 1000))
    check("a bound that nothing reaches", free == wide != found(o, batch))


def check_entropy():
    for label in ("entropy-k3-bonus", "entropy-unmask", "entropy-seq_mean_constant", "entropy-group_mean_token_mean"):
        o, batch = case_of("penalty", label)
        expect = found(o, batch)
        coef, free = o["penalty"]["entropy_coef"], found(objectives.changed(o, penalty={"entropy_coef": 0}), batch)
        paid = math.fsum(d * h for d, h in zip(flat(expect["dentropy"]), flat(batch["entropy"])))
        check(f"the loss is linear in the entropies: {label}", close(expect["loss"], free["loss"] + paid) and paid != 0)
        check(f"and their derivatives add up to minus the coefficient, or what divides: {label}",
              close(sum(flat(expect["dentropy"])), -coef * {"entropy-seq_mean_constant": 9 / 36}.get(label, 1)
                    * {"entropy-group_mean_token_mean": 2 / 3}.get(label, 1)))
        check(f"they do not change the policy's gradient: {label}",
              expect["dlogp"] == free["dlogp"] and "dentropy" not in free)


def check_lengths():
    o, batch = case_of("aggregation", "seq_mean_length_power-0.5-count")
    for empty in ("count", "skip"):
        for power, kind in ((0, "seq_mean_token_mean"), (1, "seq_mean_token_sum")):
            a = found(objectives.changed(o, aggregation={"power": power, "empty": empty}), batch)
            b = found(objectives.changed(o, aggregation={"kind": kind, "power": 0, "empty": empty}), batch)
            check(f"length to the power {power} is {kind}: {empty}", a == b != found(o, batch))
        means = found(objectives.changed(o, aggregation={"kind": "seq_mean_token_mean", "empty": empty}), batch)
        added = found(objectives.changed(o, aggregation={"kind": "seq_sum_token_mean", "empty": empty}), batch)
        N = {"count": 6, "skip": 4}[empty]
        check(f"the sum of means is N times their mean: {empty}", close(added["loss"], N * means["loss"])
              and all(close(x, N * y) for x, y in zip(flat(added["dlogp"]), flat(means["dlogp"]))))


def check_choices():
    for group in (check_clipping_kinds, check_score_kinds, check_squared, check_trust, check_off_policy,
                  check_rejection, check_penalties, check_entropy, check_lengths):
        group()


# ---- hand-made numbers: each paper's own closed form, in ordinary floating point

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


def compare(what, found, expected):
    check(what, all(close(x, y) for x, y in zip(flat(found["dlogp"]), flat(expected))))


def check_by_hand():
    found, rows, N, n = by_hand("gspo")
    s = [math.exp(math.fsum(d) / len(d)) for _, d in rows]
    clipped = [(a > 0 and x > 1 + 4e-4) or (a < 0 and x < 1 - 3e-4) for (a, _), x in zip(rows, s)]
    compare("GSPO eq. 10", found, [[0 if c else -a * x / (N * len(d))] * len(d) for (a, d), x, c in zip(rows, s, clipped)])
    check("GSPO eq. 5", close(found["loss"], -math.fsum(min(x * a, min(max(x, 1 - 3e-4), 1 + 4e-4) * a) for (a, _), x in zip(rows,
          s)) / N))

    found, rows, N, n = by_hand("dapo")
    compare("DAPO eq. 8", found,
            [[0 if (a > 0 and x > math.log(1.28)) or (a < 0 and x < math.log(0.8)) else -a * math.exp(x) / n for x in d] for a,
                    d in rows])

    found, rows, N, n = by_hand("gmpo")
    expected = []
    for a, d in rows:
        e = [min(x, 0.4) if a >= 0 else max(x, -0.4) for x in d]
        S = math.exp(math.fsum(e) / len(e))
        expected.append([-a * S / (N * len(d)) if x == y else 0 for x, y in zip(d, e)])
    compare("GMPO", found, expected)

    found, rows, N, n = by_hand("sapo")
    compare("SAPO: sech^2", found,
            [[-a * math.exp(x) / math.cosh((1 if a > 0 else 1.05) * math.expm1(x) / 2) ** 2 / (N * len(d)) for x in d] for a,
                            d in rows])

    found, rows, N, n = by_hand("cispo")
    compare("CISPO eq. 4", found, [[-a * min(math.exp(x), 5) / n for x in d] for a, d in rows])

    found, rows, N, n = by_hand("vespo")
    expected = []
    for a, d in rows:
        k, lam = (2, 3) if a > 0 else (3, 2)
        W = math.exp(math.fsum(d))
        expected.append([-a * W ** k * math.exp(lam * (1 - W)) / n] * len(d))
    compare("VESPO", found, expected)

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


# ---- numbers

def check_limits():
    check("-inf minus -inf is 0", limits.number("-Infinity") - limits.number("-Infinity") == 0)
    check("pairs cancel", limit(K + 2 - K) == 2)
    check("e^-K K is 0", limit(limits.exp(-K)) == 0 and limit(-K * limits.exp(-K)) == 0)
    check("e^K outgrows K^2", limit(limits.exp(K) - K * K * 1000) == mpf("inf"))
    check("0 times infinity", limit(mpf(0) * K) == 0)
    check("order", less(-K, mpf(-10) ** 9) and less(mpf(10) ** 9, K) and less(K, limits.exp(K)) and not less(-K, mpf("-inf")))
    try:
        limits.exp(K) * limits.exp(-K)
        check("e^K e^-K is left open", False)
    except Undefined:
        check("e^K e^-K is left open", True)
    tiny = mpf(2) ** -1074
    check("subnormals round once", [to_double(x) for x in (tiny, tiny / 2, tiny * 0.75, tiny * 1.5,
          tiny * (mpf(1) / 2 + mpf(2) ** -100))]
          == [5e-324, 0.0, 5e-324, 1e-323, 5e-324])
    check("overflow", to_double(mpf(2) ** 1024 - mpf(2) ** 970) == math.inf and to_double(-mpf(10) ** 400) == -math.inf
          and to_double(mpf(2) ** 1024 - mpf(2) ** 970 - mpf(2) ** 900) == sys.float_info.max)
    check("ties to even", to_double(1 + mpf(2) ** -53) == 1 and to_double(1 + mpf(2) ** -53 + mpf(2) ** -150) == 1 + 2 ** -52)


def check_digits():
    """40 more digits change no bit of any answer."""
    everything = [(f"{name}-{label}", o, b) for name in objectives.ROWS for label, o,
                   b in preset_batches(name)] + list(choice_batches())
    for where, o, batch in everything:
        first = evaluate(o, batch)
        mp.dps = limits.DIGITS + 40
        try:
            check(f"digits of {where}", evaluate(o, batch) == first)
        finally:
            mp.dps = limits.DIGITS


def check_choices_alive():
    """Every choice changes an answer against its base, and the cases cover every name and every number."""
    varied, values = set(), {}
    for file, label, _, base, changes, make in CASES:
        o = objectives.changed(base, **changes)
        batch = make(o)
        batch.pop("more")
        a, b = evaluate(base, batch)[0], evaluate(o, batch)[0]
        check(f"{file}-{label} changes nothing", a != b)
        for x, fields in changes.items():
            for field, v in fields.items():
                if base[x][field] != v:
                    varied.add((x, field))
        for x in o:
            for field, v in o[x].items():
                if isinstance(v, str):
                    values.setdefault((x, field), set()).add(v)
    for _, _, _, o in objectives.ROWS.values():
        for x in o:
            for field, v in o[x].items():
                values.setdefault((x, field), set()).add(v)
    with open(generate.path("schema.json"), encoding="ascii") as f:
        axes = json.load(f)["$defs"]["objective"]["properties"]
    for x, axis in axes.items():
        check(f"the schema has the fields of {x}", set(axis["properties"]) == set(objectives.plain()[x]))
        check(f"the schema wants what is always written of {x}",
              {(x, field) for field in axis.get("required", ())} == {place for place in objectives.ALWAYS if place[0] == x})
        for field, kind in axis["properties"].items():
            check(f"the default of {x}.{field} is its first choice, the one that is said, or 0", objectives.plain()[x][field] == kind.get("enum", [kind.get("default", 0)])[0])
            check(f"{x}.{field} is never varied", (x, field) in varied)
            for v in kind.get("enum", ()):
                check(f"{x}.{field} = {v} is in no case", v in values[(x, field)])


def check_exact():
    """What must be exactly 0, or exactly anything."""
    for name in objectives.ROWS:
        for label, o, batch in preset_batches(name, ("everything-masked", "equal-rewards", "all-equal-rewards", "nan-masked",
                                                     "near")):
            expect, scale = evaluate(o, batch)
            if label == "everything-masked":
                check(f"{name}: an empty batch is 0",
                      expect["loss"] == 0 and not any(flat(expect["dlogp"])) and not any(flat(scale["dlogp"])))
            if label == "nan-masked":
                other = copy.deepcopy(batch)
                for key in scenarios.PER_TOKEN:
                    if key in other and key != "mask":
                        for row, mask in zip(other[key], other["mask"]):
                            row[:] = [x if m else 7 for x, m in zip(row, mask)]
                check(f"{name}: masked slots do not matter", evaluate(o, other) == (expect, scale))
            if label == "equal-rewards" and of_group_alone(o["advantage"]) and not scenarios.kl_in_reward(o):
                zero = o["advantage"]["scale"] != "token_whiten"
                check(f"{name}: equal rewards give exactly 0", not zero or not any(flat(expect["advantage"][:8])))
            if label == "all-equal-rewards" and not scenarios.kl_in_reward(o):
                check(f"{name}: equal rewards everywhere give exactly 0", not any(flat(expect["advantage"])))
            if label == "near":
                check(f"{name}: k3 is not negative near 0", expect["report"]["kl_k3"] >= 0 and expect["report"]["old_k3"] >= 0)


# ---- the other kinds

def check_splits():
    for label, _, _, objective, batch, parts, ranks in other_kinds.SPLITS:
        whole = evaluate(objective, batch)[0]
        found = split.answers(objective, batch, parts, ranks)
        check(f"parts add up to the whole: {label}",
              to_double(found["loss"][()][0]) == whole["loss"]
              and all(close(to_double(x), whole["dlogp"][i][t]) for (i, t), (x, _) in found["dlogp"].items()))
        check(f"every group is in one part: {label}",
              sorted(g for p in parts for g in p["groups"]) == list(range(batch["group"][-1] + 1))
              and {p["rank"] for p in parts} == set(range(ranks)))


def check_logits():
    for label, _, _, rows, target, temperature in other_kinds.LOGITS:
        for z, y in zip((z for row in rows for z in row), (y for row in target for y in row)):
            s = logits.Softmax(z, temperature)
            check(f"probabilities sum to 1: {label}", abs(sum(s.p) - 1) < mpf(10) ** -50)
            x = [float(str(v).replace("Infinity", "inf")) / temperature for v in z]
            total = math.fsum(math.exp(v - max(x)) for v in x)
            check(f"log-probability: {label}", close(float(s.logp[y]), x[y] - max(x) - math.log(total)) or x[y] == -math.inf)
            shifted = [v if isinstance(v, str) else v + 3 for v in z]
            check(f"a shift of the logits changes nothing: {label}",
                  abs(logits.Softmax(shifted, temperature).entropy - s.entropy) < mpf(10) ** -45)
    s = logits.Softmax([0.5] * 7, 1)
    check("equal logits", abs(s.entropy - limits.mpmath.log(7)) < mpf(10) ** -50 and s.logp[3] == -limits.mpmath.log(7))


# ---- known mistakes

def recorded():
    """The cases as they are in the files; that the files are up to date is what generate.py --check says."""
    cases = []
    for name in generate.names():
        with open(generate.path(name + ".json"), encoding="ascii") as f:
            cases += json.load(f)["cases"]
    return [generate.whole(case) for case in cases]


def check_recorded(cases):
    """Every mistake is told, every recorded answer is wrong by the margin, and the protocol's program gives it."""
    for name, defect in DEFECTS.items():
        telling = [case for case in cases if name in record.in_full(case)]
        check(f"{name} is told by two cases, one of them in full", telling and sum(name in case.get("defects", ()) for case in cases) >= 2)
        check(f"{name} is documented", defect.wrong and defect.right and defect.seen and defect.shows)
        for case in telling[:2]:
            asked = {**case, "advantage": case["expect"].get("advantage", case.get("batch", {}).get("advantage"))}
            found = limits.tidy(record.told(case, answer.answers(asked, defect)))
            check(f"{name} is what the program answers to {case['id']}", found == case["defects"][name])
            check(f"nothing is wrong with {case['id']} without it", not record.told(case, answer.answers(asked, None)))
    for case in cases:
        for name, answers in record.in_full(case).items():
            for output, wrong in answers.items():
                pairs = [(k, wrong[k]) for k in wrong] if output == "report" else [(None, wrong)]
                for key, x in pairs:
                    right, scale = case["expect"][output], case["scale"].get(output)
                    if key:
                        right, scale = right[key], scale[key]
                    differ = x != right if output == "informative" else record.differs(right, x, scale)
                    check(f"{name} differs on {case['id']} in {output} {key or ''}", differ)


def number_at(answers, output, where):
    """The one number that a mistake is told by, in the right answers or in the scales."""
    x = answers[output]
    for k in where:
        x = x[k]
    return x


def check_in_brief(cases):
    """The one number of each mistake differs from the right one by the margin."""
    for case in cases:
        size = {output: record.flat(x) for output, x in case["scale"].items() if not isinstance(x, dict)}
        for name, said in record.in_brief(case).items():
            output, *where, x = said if isinstance(said, list) else ("loss", said)
            right = number_at(case["expect"], output, where)
            if output == "informative":
                differ = x != right
            else:
                scale = record.number(number_at(case["scale"], output, where))
                most = scale if output == "report" else max((s for s in size[output] if s != math.inf), default=0)
                differ = not record.same(record.number(right), record.number(x), scale, most)
            check(f"{name} differs on {case['id']} in {output} {where}", differ)


def agree(cases, x, y):
    """Do two mistakes give the same wherever one of them is recorded?"""
    for case in cases:
        known = record.in_full(case)
        if x in known or y in known:
            a, b = (known[d] if d in known else
                    limits.tidy(record.record(case, DEFECTS[d])) if DEFECTS[d].applies(case) else {} for d in (x, y))
            if a != b:
                return False
    return True


def check_same(cases):
    listed = {(x, y) for names, _ in SAME for x in names for y in names if x < y}
    met = {}
    for case in cases:
        known = sorted(record.in_full(case).items())
        for i, (x, a) in enumerate(known):
            for y, b in known[i + 1:]:
                met[x, y] = met.get((x, y), True) and a == b
    for (x, y), alike in sorted(met.items()):
        check(f"{x} and {y}: one formula or two", (alike and agree(cases, x, y)) == ((x, y) in listed))
    check("listed pairs meet", listed <= set(met))
    names = {name.rstrip("abcdefgh") for name in DEFECTS}
    check("no entry is both told and left out", not names & set(LEFT_OUT))
    check("the survey has 171 entries", len(names) + len(LEFT_OUT) == 171)


def by_id(cases, name):
    return next(case for case in cases if case["id"] == name)


def check_mistakes_by_hand(cases):
    """A few wrong answers from what their sources say of them."""
    case = by_id(cases, "gspo-token-ragged")
    check("GSPO-05 doubles the gradient", all(close(x, 2 * y, 10 ** (1 - record.DIGITS)) for x, y in
          zip(flat(case["defects"]["GSPO-05"]["dlogp"]), flat(case["expect"]["dlogp"]))))
    case = by_id(cases, "verl-grpo-tiny-spread")
    check("ADV-09: 0.0350 for 1.3728", abs(max(case["expect"]["advantage"][:8])[0] - 1.3728) < 0.02
          and abs(max(case["defects"]["ADV-09"]["advantage"][:8])[0] - 0.0350) < 0.0005)
    case = by_id(cases, "mistakes-one-success")
    check("ADV-10: 1e6", close(case["defects"]["ADV-10"]["advantage"][0][0], 1e6, 1e-8))
    case = by_id(cases, "grpo-extreme-800-good")
    nan = [x == "NaN" for x in flat(case["defects"]["NUM-01"]["dlogp"])]
    check("NUM-01: NaN where e^800 is", nan == [d == 800 for d in
          (l - o for l, o in zip(flat(case["batch"]["logp"]), flat(case["batch"]["logp_old"])))])
    case = by_id(cases, "split-dapo")
    whole = {i: [c for c in row] for i, row in enumerate(case["expect"]["dlogp"])}
    sizes, groups = case["batch"]["length"], case["batch"]["group"]
    for part in case["parts"]:
        rows = [i for i, g in enumerate(groups) if g in part["groups"]]
        factor = sum(sizes) / sum(sizes[i] for i in rows) / len(case["parts"])
        check("NORM-08 weighs every micro-batch the same", all(close(x, factor * y, 1e-8) for i in rows
              for x, y in zip(case["defects"]["NORM-08"]["dlogp"][i], whole[i])))
    check("binary32", all(narrow("f32", x) == scenarios.binary32(x) for x in (0.1, 1e7 + 0.5, -3.3e-7, 1 + 2 ** -24, 1 + 2 ** -23)))
    check("bfloat16", [narrow("bf16", x) for x in (0.2, 1000.5, 257, 1 + 2 ** -8)] == [0.2001953125, 1000, 256, 1])


def check_mistakes():
    cases = recorded()
    for group in (check_recorded, check_in_brief, check_same, check_mistakes_by_hand):
        group(cases)


OWN = (check_gradients, check_digits, check_mistakes, check_limits, check_identities, check_choices, check_by_hand, check_exact,
       check_choices_alive, check_splits, check_logits)  # the longest first
OTHERS = (identities.GROUPS + identities_group.GROUPS + identities_steps.GROUPS + identities_scores.GROUPS
          + identities_credit.GROUPS + identities_found.GROUPS + identities_late.GROUPS + unit_checks.GROUPS
          + every_function.GROUPS + tuple(functions.CHECKS))


def counted(k):
    """What one group of checks comes to, in a process of its own."""
    before = passed, failed
    if k < len(OWN):
        OWN[k]()
    else:
        OTHERS[k - len(OWN)](check)
    return passed - before[0], failed - before[1]


def main():
    with multiprocessing.Pool(generate.WORKERS) as pool:
        counts = pool.map(counted, range(len(OWN) + len(OTHERS)), chunksize=1)
    right, wrong = (sum(column) for column in zip(*counts))
    print(f"{right} passed, {wrong} failed")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
