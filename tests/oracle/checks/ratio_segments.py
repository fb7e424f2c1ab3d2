"""The ratio over segments, prefixes and mixtures."""
import math

import objectives
from cases import case_of
from checks.tools import active, flat, log_ratios, near
from evaluate import evaluate


def found(o, batch, **axes):
    return evaluate(objectives.changed(o, **axes), batch)[0]


def ended(batch, ends):
    """The batch with `ends` at every token."""
    return {**batch, "segment_end": [[ends] * T for T in batch["length"]]}


def check_segments(check):
    for kind in ("segment_mean", "segment_mean-ppo_clip", "segment_sum-log_ratio", "segment_sum-token"):
        o, batch = case_of("units", kind)
        unit = o["ratio"]["level"]
        whole = found(o, ended(batch, False))
        check(f"without an end a segment is the response: {kind}",
              whole == found(o, batch, ratio={"level": unit.replace("segment", "sequence")}) != found(o, batch))
        check(f"where every token ends one it is the token: {kind}",
              found(o, ended(batch, True)) == found(o, batch, ratio={"level": "token", "gradient": "full"}))
    for field, changes in (("rollout_is_level", {"rollout_is": "mask", "rollout_is_low": 0.5, "rollout_is_high": 1.5}),
                           ("rollout_rs_level", {"rollout_rs": "k2", "rollout_rs_high": 0.25, "rollout_rejected": "unmask"})):
        o, batch = case_of("units", "mask-segment_mean", weight={"rollout_is": "none", "rollout_is_level": "token", **changes})
        for pool in ("sum", "mean") + (("max",) if field == "rollout_rs_level" else ()):
            now = {field: "segment_" + pool}
            whole = found(o, batch, weight={field: "sequence_" + pool})
            check(f"{field} {pool}: no ends", found(o, ended(batch, False), weight=now) == whole)
            check(f"{field} {pool}: ends everywhere", found(o, ended(batch, True), weight=now) == found(o, batch, weight={field: "token"})
                  != found(o, batch, weight=now))


def by_hand(batch, weigh):
    """dlogp of the sum over tokens of -w A; weigh(places, d) -> {token: (w, {token: dw/dl / w})} of a response."""
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
        ends = batch["segment_end"]
        check(f"{unit} by hand", near(flat(found(o, batch)["dlogp"]), by_hand(batch, weigh)))
        own = found(o, batch, ratio={"gradient": "token"})
        check(f"{unit} with the gradient at the token: the term", near(flat(own["dlogp"]), flat(own["term"])))
    level, batch = case_of("units", "prefix_mean-unit_clamp-bound", ratio={"level_clamp_low": 0, "level_clamp_high": 0})
    first = found(level, short(batch), ratio={"level": "token"})
    for unit in ("prefix_sum", "prefix_mean", "segment_sum", "sequence_mean_ratio"):
        check(f"of one token it is the token's: {unit}", found(level, short(batch), ratio={"level": unit}) == first)
    o, batch = case_of("units", "sequence_mean_ratio")
    batch["advantage"] = [[row[0]] * len(row) for row in batch["advantage"]]
    a, b = found(o, batch), found(o, batch, ratio={"level": "token"})
    check("the mean ratio of a response is the mean of its ratios: one loss, one gradient",
          near(flat(a["dlogp"]) + [a["loss"]], flat(b["dlogp"]) + [b["loss"]]) and a["term"] != b["term"])


def short(batch):
    """Only the first token of every response counts."""
    return {**batch, "mask": [[t == 0 for t in range(T)] for T in batch["length"]]}


def check_mixes(check):
    for unit in ("sequence_mean", "segment_mean", "prefix_sum", "sequence_mean_ratio", "sequence_sum"):
        o, batch = case_of("units", "arithmetic-sequence_mean", ratio={"level": unit})
        mixed, of_unit = found(o, batch), found(o, batch, ratio={"interpolate": "none"})
        of_token = found(o, batch, ratio={"interpolate": "none", "level": "token"})
        halves = [(x + y) / 2 for x, y in zip(flat(of_unit["dlogp"]), flat(of_token["dlogp"]))]
        check(f"the mean of two ratios has the mean of their gradients: {unit}", near(flat(mixed["dlogp"]), halves)
              and abs(mixed["loss"] - (of_unit["loss"] + of_token["loss"]) / 2) < 1e-14)
        own = found(o, batch, ratio={"gradient": "token"})
        check(f"with the unit a number, half of the token's: {unit}", near(flat(own["dlogp"]), [x / 2 for x in flat(of_token["dlogp"])])
              and own["term"] == mixed["term"])
        for a, b, like in ((1, 0, of_token), (0, 1, of_unit)):
            only = found(o, batch, ratio={"interpolate": "geometric", "interpolate_token": a, "interpolate_level": b})
            check(f"a mixture of one: {unit} {a} {b}", only["dlogp"] == like["dlogp"] and only["loss"] == like["loss"])
        root = found(o, batch, ratio={"interpolate": "geometric", "interpolate_token": 0.5, "interpolate_level": 0.5})
        pairs = zip(flat(of_token["term"]), flat(of_unit["term"]))
        geometric = [math.copysign(math.sqrt(x * y), x) for x, y in pairs]
        check(f"halves are the geometric mean: {unit}", near(flat(root["term"]), geometric))
        still = found(o, batch, ratio={"interpolate": "geometric", "interpolate_level": 1, "gradient": "token"})
        check(f"nothing of the token, no gradient: {unit}", not any(flat(still["dlogp"])) and still["loss"] == of_unit["loss"])


GROUPS = (check_segments, check_units_by_hand, check_mixes)
