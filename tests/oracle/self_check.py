#!/usr/bin/env python3
"""Checks of the oracle against something else than itself: finite differences, identities, more digits, hand-made numbers."""
import sys

sys.dont_write_bytecode = True

import copy
import json
import math

import answer
import autodiff
import choices
import generate
import limits
import logits
import objectives
import other_kinds
import record
import scenarios
import split
from attempt import narrow
from defects import DEFECTS, LEFT_OUT, SAME
from evaluate import Batch, entries_of, evaluate, given_or_computed_advantages, loss
from generate import UNDEFINED
from limits import K, Undefined, less, limit, mp, mpf, to_double

passed = failed = 0


def check(what, ok):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print("FAILED", what)


def close(a, b, tolerance=1e-13):
    return abs(a - b) <= tolerance * max(1, abs(a), abs(b))


def flat(rows):
    return [x for row in rows for x in row]


def preset_batches(name, labels=None):
    """(label, objective, batch) of the scenarios that the generator keeps for this row."""
    for label, _, _, wanted, adapt, make in scenarios.SCENARIOS:
        o = objectives.changed(objectives.objective(name), **(adapt or {}))
        if wanted(o) and label != "long" and (name, label) not in UNDEFINED and (labels is None or label in labels):
            yield label, o, scenarios.finish(o, make(o))


def choice_batches():
    for axis, label, _, base, changes, make in choices.CASES:
        o = objectives.changed(base, **changes)
        yield f"choices-{axis}-{label}", o, scenarios.finish(o, make(o))


# ---- gradients

STEP = mpf(10) ** -18
# at these points a kink is exactly where the policy stands: the derivative of one side is the answer
KINKS = ("on-policy", "extreme-50", "choices-ratio-clamp", "choices-ratio-unit_clamp", "clipped_mean", "choices-ratio-pool",
         "-bound",
         "both-clamps", "-value", "penalty-abs")


def moved(batch, i, t, step):
    batch = copy.deepcopy(batch)
    batch["logp"][i][t] = mpf(batch["logp"][i][t]) + step
    return batch


def exact_gradient(objective, raw):
    batch = Batch(raw)
    given_or_computed_advantages(objective, batch)
    entries, _ = entries_of(objective, batch)
    slope = autodiff.gradient([part for e in entries for part in e])
    return {e.place(): slope.get(e.token.l, mpf(0)) for e in entries}


def gradients_match(where, objective, raw):
    kink = any(k in where for k in KINKS)
    here, seen = autodiff.recording(lambda: loss(objective, raw))
    for (i, t), slope in exact_gradient(objective, raw).items():
        up, down = (autodiff.replaying(lambda: loss(objective, moved(raw, i, t, s)), seen) for s in (STEP, -STEP))
        found = [(up - down) / (2 * STEP)]
        tolerance = mpf(10) ** -25
        if kink:
            found += [(up - here) / STEP, (here - down) / STEP]
            tolerance = mpf(10) ** -12
        if not any(abs(f - slope) <= tolerance * (1 + abs(slope)) for f in found):
            check(f"gradient of {where} at {i},{t}: {[float(f) for f in found]} is not {float(slope)}", False)
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
    for axis, label, _, base, changes, make in choices.CASES:
        o = objectives.changed(base, **changes)
        batch = make(o)
        batch.pop("more")
        batch.pop("entropy")
        a, b = evaluate(base, batch)[0], evaluate(o, batch)[0]
        check(f"choices-{axis}-{label} changes nothing", a != b)
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
        for field, kind in axis["properties"].items():
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
            if label == "equal-rewards" and o["advantage"]["baseline"] not in ("none", "given") and not scenarios.kl_in_reward(o):
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
    return cases


def check_recorded(cases):
    """Every mistake is told, every recorded answer is wrong by the margin, and the protocol's program gives it."""
    for name, defect in DEFECTS.items():
        telling = [case for case in cases if name in case.get("defects", {})]
        check(f"{name} is told by two cases", len(telling) >= 2)
        check(f"{name} is documented", defect.wrong and defect.right and defect.seen and defect.shows)
        for case in telling[:2]:
            asked = {**case, "advantage": case["expect"].get("advantage", case.get("batch", {}).get("advantage"))}
            found = limits.tidy(record.told(case, answer.answers(asked, defect)))
            check(f"{name} is what the program answers to {case['id']}", found == case["defects"][name])
            check(f"nothing is wrong with {case['id']} without it", not record.told(case, answer.answers(asked, None)))
    for case in cases:
        for name, answers in case.get("defects", {}).items():
            for output, wrong in answers.items():
                pairs = [(k, wrong[k]) for k in wrong] if output == "report" else [(None, wrong)]
                for key, x in pairs:
                    right, scale = case["expect"][output], case["scale"].get(output)
                    if key:
                        right, scale = right[key], scale[key]
                    differ = x != right if output == "informative" else record.differs(right, x, scale)
                    check(f"{name} differs on {case['id']} in {output} {key or ''}", differ)


def number_at(answers, output, where):
    """The number that `told` is about, in the right answers or in the scales."""
    x = answers[output]
    for k in where:
        x = x[k]
    return x


def check_told(cases):
    """The one number of each mistake differs from the right one by the margin."""
    for case in cases:
        size = {output: record.flat(x) for output, x in case["scale"].items() if not isinstance(x, dict)}
        for name, said in case.get("told", {}).items():
            (output, wrong), = said.items()
            check(f"{name} is in {case['id']} once", name not in case.get("defects", {}))
            where, x = list(wrong.items())[0] if output == "report" else (wrong[:-1], wrong[-1]) if isinstance(wrong, list) else ((), wrong)
            where = [where] if output == "report" else where
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
        known = case.get("defects", {})
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
        known = sorted(case.get("defects", {}).items())
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
    check("GSPO-05 doubles the gradient", all(close(x, 2 * y, 1e-8) for x, y in
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
    for group in (check_recorded, check_told, check_same, check_mistakes_by_hand):
        group(cases)


def main():
    for group in (check_limits, check_identities, check_by_hand, check_exact, check_choices_alive, check_gradients,
                  check_digits, check_splits, check_logits, check_mistakes):
        group()
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
