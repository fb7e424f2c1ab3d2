"""quadratic_probability and negative_band, by hand and against related choices."""
import math

from cases import case_of
from checks.tools import close, flat, found, near
from objectives import changed
from scenarios import MINUS_INF


def rows_of(o, batch):
    """(A, l, x) of every token, x of the ratio's denominator"""
    return list(zip(*map(flat, (batch["advantage"], batch["logp"], batch["logp_" + o["ratio"]["behaviour"]]))))


def check_parabola(check):
    for label in ("quadratic_probability", "quadratic_probability-eps", "quadratic_probability-rollout"):
        o, batch = case_of("trust-region", label, aggregation={"kind": "token_sum"})
        eps, now = o["surrogate"]["quadratic_eps"], found(o, batch)
        rows = [(A, math.exp(l), math.exp(x)) for A, l, x in rows_of(o, batch)]
        check(f"DRPO: {label}", near(flat(now["term"]), [-A * p / p0 + abs(A) * (p - p0) ** 2 / p0 / (2 * eps) for A, p, p0 in rows]))
        side = [0 if A == 0 else math.copysign(1, A) * (p - p0) for A, p, p0 in rows]
        check(f"the ratio's slope times 1 - (shift of the probability)/eps: {label}",
              near(flat(now["dlogp"]), [-A * p / p0 * (1 - x / eps) for (A, p, p0), x in zip(rows, side)]))
        check(f"nothing is clipped: {label}", now["report"]["clip_fraction"] == 0)
    o, batch = case_of("trust-region", "quadratic_probability", aggregation={"kind": "token_sum"})
    sure = {**batch, "logp_old": [[0] * T for T in batch["length"]]}
    plain = found(changed(o, surrogate={"kind": "quadratic"}), sure)
    check("of a sure token it is the parabola of CFPO", found(o, sure)["dlogp"] == plain["dlogp"])
    wide = found(changed(o, surrogate={"quadratic_eps": 2.0 ** 80}), batch)
    ratio = found(changed(o, surrogate={"kind": "ratio", "quadratic_eps": 0}), batch)
    check("without an epsilon it is the ratio", near(flat(wide["dlogp"]), flat(ratio["dlogp"])))
    o, batch = case_of("trust-region", "quadratic_probability-neginf-old", aggregation={"kind": "token_sum"})
    check("a probability of 0 has no parabola", batch["logp_old"][0][0] == MINUS_INF and close(found(o, batch)["term"][0][0], math.exp(20)))


def check_band(check):
    for label in ("negative_band-token", "negative_band-low", "negative_band-high", "negative_band-zero"):
        o, batch = case_of("trust-region", label, penalty={"kl": "none", "kl_coef": 0}, aggregation={"kind": "token_sum"})
        low, high, now = o["weight"]["trust_low"], o["weight"]["trust_high"], found(o, batch)
        rows = [(A, math.exp(l - x)) for A, l, x in rows_of(o, batch)]
        gone = [A < 0 and not 1 - low <= w <= 1 + high for A, w in rows]
        check(f"TBPO: {label}", all(close(d, 0 if g else -A * w) for d, g, (A, w) in zip(flat(now["dlogp"]), gone, rows)))
        check(f"dropped tokens count as clips: {label}", close(now["report"]["clip_fraction"], sum(gone) / len(gone)) and any(gone))
    o, batch = case_of("trust-region", "negative_band-token")
    good = {**batch, "advantage": [[1] * T for T in batch["length"]]}
    bad = {**batch, "advantage": [[-1] * T for T in batch["length"]]}
    both, free = changed(o, weight={"trust": "two_sided"}), changed(o, weight={"trust": "none"})
    check("good ones are as without a trust", found(o, good) == found(free, good) != found(both, good))
    check("bad ones as with that of both sides", found(o, bad) == found(both, bad) != found(free, bad))


GROUPS = (check_parabola, check_band)
