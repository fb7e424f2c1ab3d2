"""Checks of segments, prefixes, mixtures and factors by other ways to the same number. Each takes check(what, ok) of self_check.py."""
import math

import objectives
import scenarios
from cases import CASES, case_of
from evaluate import evaluate

LATER = ("units", "factors")


def found(o, batch, **axes):
    return evaluate(objectives.changed(o, **axes), batch)[0]


def flat(rows):
    return [x for row in rows for x in row]


def near(xs, ys, tolerance=1e-13):
    return all(abs(x - y) <= tolerance * max(1, abs(x), abs(y)) for x, y in zip(xs, ys)) and len(xs) == len(ys)


def ended(batch, ends):
    """The batch with `ends` at every token."""
    return {**batch, "step_end": [[ends] * T for T in batch["length"]]}


def active(batch):
    """[(response, [its tokens that count])]"""
    mask = batch.get("mask") or [[True] * T for T in batch["length"]]
    return [(i, [t for t, counts in enumerate(row) if counts]) for i, row in enumerate(mask)]


def log_ratios(batch, of="logp", against="logp_old"):
    return [[x - y for x, y in zip(*rows)] for rows in zip(batch[of], batch[against])]


# ---- units of the ratio

def check_segments(check):
    for kind in ("segment_mean", "segment_mean-ppo_clip", "segment_sum-log_ratio", "segment_sum-token"):
        o, batch = case_of("units", kind)
        unit = o["ratio"]["unit"]
        whole = found(o, ended(batch, False))
        check(f"without an end a segment is the response: {kind}",
              whole == found(o, batch, ratio={"unit": unit.replace("segment", "sequence")}) != found(o, batch))
        check(f"where every token ends one it is the token: {kind}",
              found(o, ended(batch, True)) == found(o, batch, ratio={"unit": "token", "gradient": "unit"}))
    for field, changes in (("correction_unit", {"correction": "mask", "correction_low": 0.5, "correction_high": 1.5}),
                           ("reject_unit", {"reject": "k2", "reject_high": 0.25, "rejected": "unmask"})):
        o, batch = case_of("units", "mask-segment_mean", weight={"correction": "none", "correction_unit": "token", **changes})
        for pool in ("sum", "mean") + (("max",) if field == "reject_unit" else ()):
            now = {field: "segment_" + pool}
            whole = found(o, batch, weight={field: "sequence_" + pool})
            check(f"{field} {pool}: no ends", found(o, ended(batch, False), weight=now) == whole)
            check(f"{field} {pool}: ends everywhere", found(o, ended(batch, True), weight=now) == found(o, batch, weight={field: "token"})
                  != found(o, batch, weight=now))


def by_hand(batch, weigh):
    """dlogp of -w A summed over tokens; weigh(places, d) -> {token: (w, {token: dw/dl / w})}, of a response."""
    d, rows = log_ratios(batch), [[0.0] * T for T in batch["length"]]
    for i, places in active(batch):
        for t, (w, slopes) in weigh(i, places, d[i]).items():
            for k, slope in slopes.items():
                rows[i][k] -= batch["advantage"][i][t] * w * slope
    return flat(rows)


def check_units_by_hand(check):
    def prefix(power):
        def weigh(i, places, d):
            heads = {t: places[:n] for n, t in enumerate(places, 1)}
            share = {t: 1 / len(head) ** power for t, head in heads.items()}
            return {t: (math.exp(math.fsum(d[k] for k in head) * share[t]), dict.fromkeys(head, share[t])) for t, head in heads.items()}
        return weigh

    def segment(i, places, d):
        parts = {t: [k for k in places if sum(ends[i][min(k, t):max(k, t)]) == 0] for t in places}
        return {t: (math.exp(math.fsum(d[k] for k in p) / len(p)), dict.fromkeys(p, 1 / len(p))) for t, p in parts.items()}

    def arithmetic(i, places, d):
        w = math.fsum(math.exp(d[k]) for k in places) / len(places)
        return {t: (w, {k: math.exp(d[k]) / len(places) / w for k in places}) for t in places}

    for unit, weigh in (("prefix_sum", prefix(0)), ("prefix_mean", prefix(1)), ("segment_mean", segment),
                        ("sequence_mean_ratio", arithmetic)):
        o, batch = case_of("units", unit, aggregation={"kind": "token_sum"})
        ends = batch["step_end"]
        check(f"{unit} by hand", near(flat(found(o, batch)["dlogp"]), by_hand(batch, weigh)))
        own = found(o, batch, ratio={"gradient": "token"})
        check(f"{unit} with the gradient at the token: the term", near(flat(own["dlogp"]), flat(own["term"])))
    level, batch = case_of("units", "prefix_mean-unit_clamp-bound", ratio={"unit_clamp_low": 0, "unit_clamp_high": 0})
    first = found(level, short(batch), ratio={"unit": "token"})
    for unit in ("prefix_sum", "prefix_mean", "segment_sum", "sequence_mean_ratio"):
        check(f"of one token it is the token's: {unit}", found(level, short(batch), ratio={"unit": unit}) == first)
    o, batch = case_of("units", "sequence_mean_ratio")
    batch["advantage"] = [[row[0]] * len(row) for row in batch["advantage"]]
    a, b = found(o, batch), found(o, batch, ratio={"unit": "token"})
    check("the mean ratio of a response is the mean of its ratios: one loss, one gradient",
          near(flat(a["dlogp"]) + [a["loss"]], flat(b["dlogp"]) + [b["loss"]]) and a["term"] != b["term"])


def short(batch):
    """Only the first token of every response counts."""
    return {**batch, "mask": [[t == 0 for t in range(T)] for T in batch["length"]]}


def check_mixes(check):
    for unit in ("sequence_mean", "segment_mean", "prefix_sum", "sequence_mean_ratio", "sequence_sum"):
        o, batch = case_of("units", "average-sequence_mean", ratio={"unit": unit})
        mixed, of_unit = found(o, batch), found(o, batch, ratio={"mix": "none"})
        of_token = found(o, batch, ratio={"mix": "none", "unit": "token"})
        halves = [(x + y) / 2 for x, y in zip(flat(of_unit["dlogp"]), flat(of_token["dlogp"]))]
        check(f"the mean of two ratios has the mean of their gradients: {unit}", near(flat(mixed["dlogp"]), halves)
              and abs(mixed["loss"] - (of_unit["loss"] + of_token["loss"]) / 2) < 1e-14)
        own = found(o, batch, ratio={"gradient": "token"})
        check(f"with the unit a number, half of the token's: {unit}", near(flat(own["dlogp"]), [x / 2 for x in flat(of_token["dlogp"])])
              and own["term"] == mixed["term"])
        for a, b, like in ((1, 0, of_token), (0, 1, of_unit)):
            only = found(o, batch, ratio={"mix": "weighted", "mix_token": a, "mix_unit": b})
            check(f"a mixture of one: {unit} {a} {b}", only["dlogp"] == like["dlogp"] and only["loss"] == like["loss"])
        root = found(o, batch, ratio={"mix": "weighted", "mix_token": 0.5, "mix_unit": 0.5})
        pairs = zip(flat(of_token["term"]), flat(of_unit["term"]))
        geometric = [math.copysign(math.sqrt(x * y), x) for x, y in pairs]
        check(f"halves are the geometric mean: {unit}", near(flat(root["term"]), geometric))
        still = found(o, batch, ratio={"mix": "weighted", "mix_unit": 1, "gradient": "token"})
        check(f"nothing of the token, no gradient: {unit}", not any(flat(still["dlogp"])) and still["loss"] == of_unit["loss"])


def check_segment_means(check):
    o, batch = case_of("units", "seq_mean_segment_mean-entropy")
    now, plain = found(o, batch), {"kind": "seq_mean_token_mean"}
    for ends in (True, False):
        check(f"segments of one token, or one segment: the mean over tokens, {ends}",
              found(o, ended(batch, ends)) == found(o, ended(batch, ends), aggregation=plain) != now)
    H = o["penalty"]["entropy_coef"]
    check("the divisors of a response add up to 1/N", near([sum(row) for row in now["dentropy"]], [-H / 3] * 3))
    check("segments of one, two and one token: thirds of a third", near(now["dentropy"][0], [-H / 9, 0, -H / 18, -H / 18, -H / 9]))


# ---- factors

def check_norms(check):
    for label in ("norm-truncate-token-zero_weight", "norm-truncate-segment_mean-zero_weight", "norm-truncate-sequence_sum-zero_weight"):
        free = {"correction_low": 0, "correction_high": "Infinity"}
        o, batch = case_of("factors", label, weight=free)
        moved = {**batch, "logp_rollout": [[x - 0.5 for x in row] for row in batch["logp_rollout"]]}  # two tokens of each count
        check(f"a factor of every weight does not matter: {label}", near(flat(found(o, moved)["dlogp"]), flat(found(o, batch)["dlogp"])))
    o, batch = case_of("factors", "norm-truncate-token-zero_weight", aggregation={"kind": "token_sum"})
    raw, now = found(o, batch, weight={"correction_norm": "none"}), found(o, batch)
    check("every term is divided by the mean weight", near([x * raw["report"]["weight_mean"] for x in flat(now["term"])], flat(raw["term"]))
          and now["report"] == {**raw["report"], "policy_loss": now["report"]["policy_loss"]})
    o, batch = case_of("factors", "norm-truncate-sequence_sum-zero_weight")
    raw, now = found(o, batch, weight={"correction_norm": "none"}), found(o, batch)
    v = [min(max(math.exp(math.fsum(q[t] for t in places)), 0.5), 1.5)
         for (i, places), q in zip(active(batch), log_ratios(batch, "logp_old", "logp_rollout"))]
    check("of responses the mean is over responses", near([x * sum(v) / 3 for x in flat(now["term"])], flat(raw["term"])))
    o, batch = case_of("factors", "norm-zero")
    check("weights that are all 0 stay 0", found(o, batch)["report"]["policy_loss"] == 0 != found(o, batch)["loss"])


def check_drops(check):
    o, batch = case_of("factors", "exp_abs-token")
    band = found(o, batch, weight={"reject": "ratio", "reject_low": 0.5, "reject_high": 2})
    check("exp_abs of a token is a band of its ratio", found(o, batch) == band and band["report"]["rejected_tokens"] > 0)

    o, batch = case_of("factors", "total_variation", aggregation={"kind": "token_sum"})
    limit, dropped = o["weight"]["off_policy_max"], 0
    now, q, d = found(o, batch), log_ratios(batch, "logp_old", "logp_rollout"), log_ratios(batch)
    for i, places in active(batch):
        far = sum(abs(math.expm1(q[i][t])) for t in places) / len(places) > limit
        for t in places:
            a = batch["advantage"][i][t]
            gone = far and q[i][t] * a > 0
            dropped += gone
            check("VACO by hand", near([now["term"][i][t]], [0 if gone else -a * math.exp(d[i][t])]))
    tokens = now["report"]["tokens"]
    check("what is dropped is counted as clipped", 0 < dropped < tokens and near([now["report"]["clip_fraction"]], [dropped / tokens]))

    o, batch = case_of("factors", "ring")
    low, high = o["weight"]["trust_low"], o["weight"]["trust_high"]
    two, one, now = (found(o, batch, weight={"trust": trust}) for trust in ("two_sided", "one_sided", "ring"))
    beyond = found(o, batch, weight={"ring_low": "Infinity", "ring_high": "Infinity"})
    check("a second ring beyond everything: the first alone", beyond == two != now)
    check("a second ring that begins where the first ends: one-sided trust",
          found(o, batch, weight={"ring_low": low, "ring_high": high}) == one != now)


def check_future(check):
    o, batch = case_of("factors", "future", aggregation={"kind": "token_sum"})
    choice, d, now = o["weight"], log_ratios(batch), found(o, batch)
    g = 2 ** (-1 / choice["future_half_life"])
    for i, places in active(batch):
        for t in places:
            F = math.fsum(g ** (k - t) * d[i][k] for k in places if k >= t)
            f = min(max(math.exp(F), choice["future_low"]), choice["future_high"])
            check("FIPO by hand", near([now["term"][i][t]], [-batch["advantage"][i][t] * math.exp(d[i][t]) * f])
                  and near([now["dlogp"][i][t]], [now["term"][i][t]]))
    free = {"future_low": 0, "future_high": "Infinity", "future_half_life": 2 ** -10}
    alone = found(o, batch, weight=free)
    plain = found(o, batch, weight={"future": "none"})
    check("no memory: the ratio itself", near(flat(alone["term"]), [x * math.exp(y) for x, y in zip(flat(plain["term"]), flat(d))]))
    check("a bound of 1 on both sides is none", found(o, batch, weight={"future_low": 1, "future_high": 1}) == plain)
    check("nothing within a bound that every ratio exceeds: none",
          found(o, batch, weight={"future_max": 2 ** -20, "future_low": 0.5}) == plain)


def check_given(check):
    o, batch = case_of("factors", "given-policy", penalty={"entropy_coef": 0})
    ones = {**batch, "weight": [[1] * T for T in batch["length"]]}
    free = found(o, batch, weight={"given": "none"})
    check("weights of 1 are none", all(found(o, ones, weight={"given": what}) == free for what in ("policy", "term")))
    scaled = [[a * w for a, w in zip(*rows)] for rows in zip(batch["advantage"], given_ones(batch))]
    now = found(o, batch)
    other = found(o, {**batch, "advantage": scaled}, weight={"given": "none"})
    check("weights of the policy's part are factors of its advantages", now["dlogp"] == other["dlogp"] and now["loss"] == other["loss"])
    term = found(o, batch, weight={"given": "term"})
    check("weights of everything are factors of every term",
          near(flat(term["term"]), [x * w for x, w in zip(flat(free["term"]), flat(given_ones(batch)))])
          and near(flat(term["dlogp"]), [x * w for x, w in zip(flat(free["dlogp"]), flat(given_ones(batch)))]))


def given_ones(batch):
    """The weights, 1 where the mask is false."""
    mask = batch["mask"]
    return [[w if counts else 1 for w, counts in zip(*rows)] for rows in zip(batch["weight"], mask)]


def check_masked(check):
    """What masked slots hold does not matter, but for the ends of segments."""
    for file, label, _, base, changes, make in CASES:
        o = objectives.changed(base, **changes)
        batch = scenarios.finish(o, make(o))
        if "mask" not in batch or file[len("choices-"):] not in LATER:
            continue
        other = dict(batch)
        for key in set(scenarios.PER_TOKEN) & set(batch) - {"mask", "step_end"}:
            other[key] = [[x if m else 7 for x, m in zip(row, mask)] for row, mask in zip(batch[key], batch["mask"])]
        check(f"masked slots of {file}-{label}", evaluate(o, other) == evaluate(o, batch))


GROUPS = (check_segments, check_units_by_hand, check_mixes, check_segment_means, check_norms, check_drops, check_future, check_given,
          check_masked)
