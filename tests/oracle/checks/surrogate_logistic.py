"""The surrogate of one unit: logistic, with bounds by sign, shaped; bounds by position and by token."""
import math

from cases import case_of
from checks.groups import softplus
from checks.tools import active, near
from evaluate import evaluate
from objectives import changed


def tokens(batch):
    """(A, l, o, selected) of the active tokens"""
    keys = ("advantage", "logp", "logp_old", "shaping_mask")
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
    told, term, slope, report = of_levels("policy_shaping")
    w = [math.exp(l - o) for _, l, o, _ in told]
    cut = [not s and (a > 0 and v > 1.25 or a < 0 and v < 0.75) for v, (a, _, _, s) in zip(w, told)]
    by_hand = [-a * v * 0.5 / (v + 0.5) ** 2 if s else 0 if c else -a * v for v, c, (a, _, _, s) in zip(w, cut, told)]
    check("Guide-GRPO by hand", near(slope, by_hand))
    shares = [-a * v / (v + 0.5) for v, (a, _, _, s) in zip(w, told) if s]
    check("selected tokens are worth a share", near([x for x, r in zip(term, told) if r[3]], shares))
    check("and no clip counts them", near([report["clip_fraction"]], [sum(cut) / len(told)]))


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
    sides = [found["report"][k] for k in ("clip_fraction_low", "clip_fraction_high", "clip_fraction_dual")]
    check("every side clips something", all(sides))
    o, batch = case_of("scores", "position")
    clip = changed(o, surrogate={"bounds": "fixed", "log_low": 0, "log_high": 0, "eps_low": -math.expm1(-0.1875),
                                 "eps_high": math.expm1(0.25) + 1e-9})
    a, b = evaluate(o, batch)[0], evaluate(clip, batch)[0]
    check("without a power they are the clip's", a["dlogp"] == b["dlogp"] and near([a["loss"]], [b["loss"]], 1e-8))
    for label in ("given-ppo_clip", "given-dual_clip", "given-gppo"):
        o, batch = case_of("scores", label)
        same = {**batch, "eps_low": [[0.25] * T for T in batch["length"]], "eps_high": [[0.5] * T for T in batch["length"]]}
        a = evaluate(changed(o, surrogate={"bounds": "fixed", "eps_low": 0.25, "eps_high": 0.5}), batch)[0]
        check(f"equal bounds for all are the objective's: {label}", evaluate(o, same)[0] == a != evaluate(o, batch)[0])


GROUPS = (check_surrogates, check_bounds)
