#!/usr/bin/env python3
"""Checks of the oracle against independent results: finite differences, identities, more digits, hand-computed numbers."""
import sys

sys.dont_write_bytecode = True

import copy
import json
import math
import multiprocessing

import answer
import autodiff
import checks
import functions
import generate
import limits
import logits
import logits_cases
import objectives
import partition_cases
import reals
import record
import scenarios
import split
import split_cases
from attempt import narrow
from axes import own_divisor
from cases import CASES
from checks.tools import close, flat, moved, preset_batches
from defects import DEFECTS, LEFT_OUT, PROJECTS, SAME, faults, named
from evaluate import Batch, entries_of, evaluate, given_or_computed_advantages, loss, roots
from functions import every_function
from limits import K, Undefined, less, limit, mpf, to_double

import counting  # which generate has found
from counting import check


def choice_batches(cases=CASES):
    for file, label, _, base, changes, make in cases:
        o = objectives.changed(base, **changes)
        yield f"{file}-{label}", o, scenarios.finish(o, make(o))


# ---- gradients

STEP = mpf(10) ** -18
# cases with the policy exactly at a kink: the answer is the derivative of one side
KINKS = ("on-policy", "extreme-50", "choices-ratio-clamp", "choices-ratio-level_clamp", "choices-ratio-unit_clamp", "clipped_mean",
         "choices-ratio-token_clip", "choices-ratio-pool",
         "-bound", "choices-together",
         "scores-position", "scores-lost-s", "ref-clamp", "-clamped", "both-clamps", "-value", "penalty-abs", "regression-level")
NOWHERE = ("regression-level-0",)  # equal scores without an epsilon have no derivative; 0 is the convention


def exact_gradient(objective, raw):
    """{(array, response, token): derivative}"""
    batch = Batch(raw)
    given_or_computed_advantages(objective, batch)
    entries, _ = entries_of(objective, batch)
    slope = autodiff.gradient(roots(entries, own_divisor.terms(objective, batch)))
    found = {("logp", *e.place()): slope.get(e.token.l, mpf(0)) for e in entries}
    if objective["penalty"]["entropy_coef"] != 0:
        found.update({("entropy", *e.place()): slope.get(e.token.H, mpf(0)) for e in entries})
    if objective["penalty"]["kl"] == "external":
        found.update({("divergence_ref", *e.place()): slope.get(e.token.divergence_ref, mpf(0)) for e in entries})
    found.update({("log_partition", g): slope.get(z, mpf(0)) for g, z in enumerate(batch.log_partition)})
    return found


def never_sampled(raw):
    """Is there an infinite log-probability at an unmasked token? Finite differences cannot check such a case."""
    return any(isinstance(x, limits.Growth) for s in Batch(raw).sequences for token in s.unmasked
               for x in (token.l.value, token.o, token.f, token.b, token.teacher))


def gradients_match(where, objective, raw):
    if never_sampled(raw) or where.endswith(NOWHERE):
        return
    if "choices-together" in where and "advantage" not in raw:  # some read the entropy; A is not differentiated
        raw = {**raw, "advantage": evaluate(objective, raw)[0]["advantage"]}
    with reals.workdps(limits.DIGITS + (400 if "-far" in where else 0)):  # sums of e^800 and ordinary terms
        differences_match(where, objective, raw)


def differences_match(where, objective, raw):
    kink = any(k in where for k in KINKS)
    here, seen = autodiff.recording(lambda: loss(objective, raw))
    slopes = exact_gradient(objective, raw)
    # these can only be moved down: no probability exceeds 1
    at_one = {place for place in slopes if place[0] == "logp" and raw["logp"][place[1]][place[2]] == 0}

    def after(steps):
        return autodiff.replaying(lambda: loss(objective, moved(raw, steps)), seen)

    def one_by_one():
        for place, slope in slopes.items():
            steps = (0, -STEP) if place in at_one else (STEP, -STEP)
            up, down = (after({place: s}) for s in steps)
            found = [(up - down) / (steps[0] - steps[1])]
            tolerance = mpf(10) ** (-12 if kink or place in at_one else -25)
            if kink:
                found += [(up - here) / STEP, (here - down) / STEP]
            if not any(abs(f - slope) <= tolerance * (1 + abs(slope)) for f in found):
                return f"by {place}: {[float(f) for f in found]} is not {float(slope)}"
        return None

    def along_a_line():
        """The derivative along one direction with different weights, so that wrong derivatives do not cancel."""
        share = {place: mpf(1) + mpf((k * 7919) % 1009) / 1009 for k, place in enumerate(slopes)}
        up, down = (after({place: s * x for place, x in share.items()}) for s in (STEP, -STEP))
        parts = [slope * share[place] for place, slope in slopes.items()]
        return abs((up - down) / (2 * STEP) - sum(parts)) <= mpf(10) ** -25 * (1 + sum(map(abs, parts)))

    wrong = one_by_one() if kink or at_one or not along_a_line() else None
    check(where if wrong is None else f"gradient of {where} {wrong}", wrong is None)


def piece(everything, k):
    """The k-th of the pieces into which long checks are divided for parallel processes."""
    return list(everything)[k::PIECES]


def check_gradients(k):
    for name in piece(objectives.ROWS, k):
        for label, o, batch in preset_batches(name, ("ragged", "near", "fine", "on-policy", "extreme-50", "signs", "holes",
                                                     "nan-masked", "rollout",
                                                     "reference", "steps", "values", "truncated", "fully-masked")):
            gradients_match(f"{name}-{label}", o, batch)
    for where, o, batch in choice_batches(piece(CASES, k)):
        gradients_match(where, o, batch)


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
    check("e^-K is not above 0", not less(mpf(0), limits.exp(-K)) and less(mpf(0), limits.exp(-K) + 1))
    try:
        limits.of_one_sign([K, -K * 2])
        check("infinities of both signs are left open", False)
    except Undefined:
        check("infinities of both signs are left open", limits.of_one_sign([K, mpf(-1)]) is not None)
    tiny = mpf(2) ** -1074
    check("subnormals round once", [to_double(x) for x in (tiny, tiny / 2, tiny * 0.75, tiny * 1.5,
          tiny * (mpf(1) / 2 + mpf(2) ** -100))]
          == [5e-324, 0.0, 5e-324, 1e-323, 5e-324])
    check("overflow", to_double(mpf(2) ** 1024 - mpf(2) ** 970) == math.inf and to_double(-mpf(10) ** 400) == -math.inf
          and to_double(mpf(2) ** 1024 - mpf(2) ** 970 - mpf(2) ** 900) == sys.float_info.max)
    check("ties to even", to_double(1 + mpf(2) ** -53) == 1 and to_double(1 + mpf(2) ** -53 + mpf(2) ** -150) == 1 + 2 ** -52)


def answers_if_defined(o, batch):
    try:
        return evaluate(o, batch)[0]
    except Undefined:
        return None


def check_choices_alive():
    """Every case of a choice has other answers than its base, and the cases cover every choice and every number."""
    varied, values = set(), {}
    for file, label, _, base, changes, make in CASES:
        o = objectives.changed(base, **changes)
        batch = scenarios.completed(make(o))
        batch.pop("more")
        a, b = answers_if_defined(base, batch), evaluate(o, batch)[0]
        check(f"{file}-{label} changes nothing", a != b)
        for x, fields in changes.items():
            for field, v in fields.items():
                if base[x][field] != v:
                    varied.add((x, field))
        for x in o:
            for field, v in o[x].items():
                if isinstance(v, str):
                    values.setdefault((x, field), set()).add(v)
    for _, _, _, o, _ in objectives.ROWS.values():
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
            check(f"the default of {x}.{field} is its first choice, the one that is said, or 0",
                  objectives.plain()[x][field] == kind.get("enum", [kind.get("default", 0)])[0])
            check(f"{x}.{field} is never varied", (x, field) in varied)
            for v in kind.get("enum", ()):
                check(f"{x}.{field} = {v} is in no case", v in values[(x, field)])


def of_group_alone(advantage):
    """Is a = 0 for every item of a group with equal rewards?"""
    own = advantage["baseline"] not in ("none", "external", "batch_mean", "kalman") and advantage["baseline_shift"] == 0
    of_response = advantage["rewards"] == "one" and advantage["credit"] not in scenarios.STEP_CREDITS
    return own and of_response and advantage["entropy"] == "none" and advantage["teacher_coef"] == 0


def check_exact():
    """Numbers that must be exactly 0, or exactly another value."""
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
                check(f"{name}: k3 is not negative near 0", expect["report"]["kl_k3"] >= 0 and expect["report"]["approx_kl_k3"] >= 0)


# ---- the other kinds

def without(batch, responses):
    """The batch without these responses; the groups keep their order."""
    kept = [i for i in range(len(batch["group"])) if i not in responses]
    groups = sorted({batch["group"][i] for i in kept})
    found = {key: [rows[i] for i in kept] for key, rows in batch.items()}
    return {**found, "group": [groups.index(g) for g in found["group"]]}, kept


def responses_of(batch, part):
    if "tokens" in part:
        return {i for i, _, _ in part["tokens"]}
    if "groups" in part:
        return {i for i, g in enumerate(batch["group"]) if g in part["groups"]}
    return {i for row in part.get("rows", [part.get("responses")]) for i in row}


def check_split(label, objective, batch, cut):
    """The parts give what evaluate() gives of each optimiser step by itself, and their counts and losses add up to it."""
    found = {name: {k: to_double(x) for k, (x, _) in of.items()} for name, of in split.answers(objective, batch, cut).items()}
    steps = sorted({p.get("step", 0) for p in cut["parts"]})
    of_step = {s: [k for k, p in enumerate(cut["parts"]) if p.get("step", 0) == s] for s in steps}
    losses, seen = [], set()
    for s in steps:
        mine = set().union(*(responses_of(batch, cut["parts"][k]) for k in of_step[s]))
        check(f"no response is of two steps: {label}", not mine & seen)
        seen |= mine
        alone, kept = without(batch, set(range(len(batch["group"]))) - mine)
        whole = evaluate(objective, alone)[0]
        losses.append(whole["loss"])
        check(f"the gradient is that of the step: {label}", all(close(found["dlogp"].get((i, t), 0), x, 1e-14)
              for i, row in zip(kept, whole["dlogp"]) for t, x in enumerate(row)))
        check(f"counts add up: {label}", sum(found["part_tokens"][(k,)] for k in of_step[s]) == whole["report"]["tokens"]
              and (objective["aggregation"]["empty_sequences"] == "drop"
                   or sum(found["part_sequences"][(k,)] for k in of_step[s]) == len(mine)
                   and sum(found["part_groups"][(k,)] for k in of_step[s]) == len({batch["group"][i] for i in mine})))
        check(f"sums of terms add up: {label}",
              close(sum(found["part_sum"][(k,)] for k in of_step[s]), sum(flat(whole["term"])), 1e-12))
        factor = cut["ranks"] if cut.get("reduce", "mean") == "mean" else 1
        check(f"losses of parts add up: {label}",
              close(sum(found["part_loss"][(k,)] for k in of_step[s]) / factor, whole["loss"], 1e-12))
    check(f"losses of steps add up: {label}", close(found["loss"][()], sum(losses), 1e-12))
    check(f"what is in no part was filtered out: {label}", set(range(len(batch["group"]))) - seen == set(cut.get("filtered", ())))


def check_splits():
    for label, _, objective, batch, parts, ranks in split_cases.SPLITS:
        check_split(label, objective, batch, {"parts": parts, "ranks": ranks})
    for file, label, _, objective, batch, cut in partition_cases.made():
        check_split(f"{file}-{label}", objective, batch, cut)


def check_logits():
    for label, _, rows, target, temperature in logits_cases.LOGITS:
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
    check("equal logits", abs(s.entropy - reals.log(7)) < mpf(10) ** -50 and s.logp[3] == -reals.log(7))


# ---- known mistakes

def recorded():
    """The cases as they are in the files; generate.py --check tests that the files are up to date."""
    cases = []
    for name in generate.names():
        with open(generate.path(name + ".json"), encoding="ascii") as f:
            cases += json.load(f)["cases"]
    return [generate.whole(case) for case in cases]


def check_recorded(cases):
    """Every mistake is recorded, every recorded answer is wrong by the margin, and answer.py gives the same answer."""
    ids = [case["id"] for case in cases]
    check("every project of the list is named", set(PROJECTS) == set().union(*(named(defect.seen) for defect in DEFECTS.values())))
    for name, defect in DEFECTS.items():
        for scene in defect.scenes:
            check(f"{name}: {scene} is a case", any(i == scene or i.endswith("-" + scene) for i in ids))
        telling = [case for case in cases if name in record.in_full(case)]
        check(f"{name} is told by two cases, one of them in full", telling and sum(name in case.get("defects", ()) for case in cases) >= 2)
        check(f"{name} is documented", defect.wrong and defect.right and defect.seen and defect.shows)
        check(f"{name}: {defect.seen!r}: {list(faults(defect.seen))}", not list(faults(defect.seen)))
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
                    differ = x != right if output == "dynamic_sampling_mask" else record.differs(right, x, scale)
                    check(f"{name} differs on {case['id']} in {output} {key or ''}", differ)


def number_at(answers, output, where):
    """The number at the place of a mistake recorded by one number, in the right answers or in the scales."""
    x = answers[output]
    for k in where:
        x = x[k]
    return x


def check_in_brief(cases):
    """A mistake recorded by one number differs from the right number by the margin."""
    for case in cases:
        size = {output: record.flat(x) for output, x in case["scale"].items() if not isinstance(x, dict)}
        for name, said in record.in_brief(case).items():
            output, *where, x = said if isinstance(said, list) else ("loss", said)
            right = number_at(case["expect"], output, where)
            if output == "dynamic_sampling_mask":
                differ = x != right
            else:
                scale = record.number(number_at(case["scale"], output, where))
                most = scale if output == "report" else max((s for s in size[output] if s != math.inf), default=0)
                differ = not record.same(record.number(right), record.number(x), scale, most)
            check(f"{name} differs on {case['id']} in {output} {where}", differ)


def agree(cases, x, y):
    """Do two mistakes give the same answers in every case that records one of them?"""
    for case in cases:
        known = record.in_full(case)
        if x in known or y in known:
            a, b = (known[d] if d in known else
                    limits.tidy(record.record(case, DEFECTS[d], True)) if DEFECTS[d].applies(case) else {} for d in (x, y))
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
    names = {name.rstrip("abcdefghi") for name in DEFECTS if not name.startswith(("PART-", "VOC-", "HEAD-", "FLOW-", "CON-", "TRUST-"))}
    check("no entry is both told and left out", not names & set(LEFT_OUT))
    check("the survey has 171 entries", len(names) + len(LEFT_OUT) == 171)


def by_id(cases, name):
    return next(case for case in cases if case["id"] == name)


def check_mistakes_by_hand(cases):
    """A few wrong answers, compared with numbers from the threads that report them."""
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


PIECES = 20
OWN = (check_mistakes, check_limits, check_exact, check_choices_alive, check_splits, check_logits)
OTHERS = (*checks.GROUPS, *every_function.GROUPS, *functions.CHECKS)
TASKS = ([(group.__name__, group) for group in OWN]  # the longest first
         + [(f"check_gradients, piece {k}", check_gradients, k) for k in range(PIECES)]
         + [(f"{group.__name__} of {group.__module__}", group, check) for group in OTHERS])


def counted(place):
    """The counts of one group of checks, run in a process of its own; a group that checks nothing has failed."""
    _, group, *arguments = TASKS[place]
    before = counting.passed, counting.failed
    counting.attempt(group, *arguments)
    right, wrong = counting.passed - before[0], counting.failed - before[1]
    return place, right, wrong or not right


def main():
    progress = generate.Progress()
    with multiprocessing.Pool(generate.WORKERS) as pool:
        for done, (place, right, wrong) in enumerate(pool.imap_unordered(counted, range(len(TASKS))), 1):
            counting.count(right, wrong)
            if not right:
                print(f"FAIL {TASKS[place][0]} checks nothing", flush=True)
            progress.tell(f"{done} of {len(TASKS)} groups: {TASKS[place][0]}")


if __name__ == "__main__":
    sys.exit(counting.checked(main))
