"""The ratio: the power mean of a response's clipped ratios."""
import math

from cases import case_of
from checks.groups import GROUPS_OF, batch_of, refused, scores, slopes, with_kind
from checks.tools import flat, near
from evaluate import evaluate
from objectives import changed

K = 0.5


def log_ratios(batch):
    """[(d, A)] of the active tokens of every response"""
    mask = batch.get("mask", [[True] * T for T in batch["length"]])
    return [[(l - o, a) for l, o, a, m in zip(*rows) if m] for rows in zip(batch["logp"], batch["logp_old"], batch["advantage"], mask)]


def power_mean_by_hand(tokens, p):
    """APMPO's M_p of |min(w A, clip(w) A)|/|A|, and its derivatives with respect to d, computed from e^(p e)"""
    low, high = -0.25, 0.1875
    e = [min(d, high) if a >= 0 else max(d, low) for d, a in tokens]
    m = math.fsum(math.exp(p * x) for x in e) / len(e)
    return m ** (1 / p), [m ** (1 / p - 1) * math.exp(p * x) / len(e) if x == d else 0 for x, (d, _) in zip(e, tokens)]


def check_power_mean(check):
    for label in ("power_mean", "power_mean-1"):
        o, batch = case_of("ratio-power-mean", label)
        found = evaluate(o, batch)[0]
        p = o["ratio"]["power"]
        for i, tokens in enumerate(log_ratios(batch)):
            w, slope = power_mean_by_hand(tokens, p)
            mine = [(x, g) for x, g, m in zip(found["term"][i], found["dlogp"][i], batch["mask"][i]) if m]
            check(f"APMPO by hand, power {p}", near([x for x, _ in mine], [-w * a for _, a in tokens]))
            total = math.fsum(a for _, a in tokens) / (len(batch["length"]) * len(tokens))
            check(f"its derivatives, power {p}", near([g for _, g in mine], [-total * s for s in slope]))
    o, batch = case_of("ratio-power-mean", "power_mean-16")
    one, plain = (evaluate(changed(o, ratio=fields), batch)[0] for fields in ({"power": 1}, {"level": "sequence_mean_ratio"}))
    check("of power 1 it is the mean of the ratios", all(near(flat(one[key]), flat(plain[key])) for key in ("term", "dlogp")))
    o, batch = case_of("ratio-power-mean", "power_mean")
    geometric = {"level": "sequence_clipped_mean", "power": 1}
    tiny, gmpo = (evaluate(changed(o, ratio=fields), batch)[0] for fields in ({"power": 1e-9}, geometric))
    check("of power 0 it is the geometric mean", near(flat(tiny["dlogp"]), flat(gmpo["dlogp"]), 1e-8) and tiny["report"].items()
          >= {key: gmpo["report"][key] for key in ("clip_fraction_low", "clip_fraction_high", "clip_fraction")}.items())
    means = [evaluate(changed(o, ratio={"power": p}), batch)[0]["report"]["ratio_mean"] for p in (0.01, 0.5, 1, 2, 5, 16)]
    check("a larger power, a larger mean", means == sorted(means) and len(set(means)) == 6)
    o = with_kind("variance", beta=1)
    for power in (0, -1, 16.5):
        check(f"no power of {power}", refused(changed(o, ratio={"level": "sequence_power_mean", "power": power})))
    check("which other units do not read", not refused(changed(o, ratio={"power": 0})))


def check_units(check):
    o = with_kind("regression", beta=K)
    batch = batch_of(o)
    found, y = evaluate(o, batch)[0], scores(o, batch)
    stretched = {**batch, "logp": [[p + 4 * (l - p) + 0.25 for l, p in zip(*rows)] for rows in zip(batch["logp"], batch["logp_old"])]}
    other = evaluate(o, stretched)[0]
    check("units and origin of the scores do not matter", near(flat(other["term"]), flat(found["term"]))
          and near([4 * s for s in slopes(other)], slopes(found)))
    check("so stretching them is worth nothing", all(abs(math.fsum(y[i] * slopes(found)[i] for i in g)) < 1e-14 for g in GROUPS_OF))
    check("two scores have no freedom", slopes(found)[4:] == [0, 0] != slopes(found)[:2])
    for axes in ({"ratio": {"level": "token"}}, {"surrogate": {"group_score_eps": -1}}):
        check(f"no regression: {axes}", refused(changed(o, **axes)))
    level, batch = case_of("surrogate-group-target", "regression-level")
    found = evaluate(level, batch)[0]
    b = [-2 * K * a for a in (1, -0.5, 0.25)]
    check("equal scores: the epsilon alone", near([math.fsum(row) for row in found["dlogp"]], [(x - sum(b) / 3) / 2 for x in b]))


GROUPS = (check_power_mean, check_units)
