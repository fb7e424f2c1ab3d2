"""The surrogate of one unit, on the batches of its cases."""
import math

import limits
import objectives
import reals
from axes import surrogate
from cases import case_of
from checks.tools import bare, close, flat, found, on_levels
from evaluate import evaluate
from limits import mpf


def check_clipping_kinds(check):
    clip = {"eps_low": 0.2, "eps_high": 0.28}
    ppo, _ = on_levels(bare("ppo_clip", **clip))
    for betas in ((0, 0), (1, 1), (0.5, 2)):
        gppo, tokens = on_levels(bare("gppo", **clip, gppo_beta_low=betas[0], gppo_beta_high=betas[1]))
        same = gppo["dlogp"] == ppo["dlogp"]
        check(f"gppo has the clip's gradient where its betas are 0, and only there: {betas}", same == (betas == (0, 0)))
        check("and clips what it clips", gppo["report"]["clip_fraction"] == ppo["report"]["clip_fraction"] > 0)
        by_hand = []
        for A, l, o in tokens:
            w = math.exp(l - o)
            by_hand.append(-A * (betas[1] * 1.28 if A > 0 and w > 1.28 else betas[0] * 0.8 if A < 0 and w < 0.8 else w))
        check(f"CE-GPPO eq. 17-18: {betas}", all(close(x, y) for x, y in zip(flat(gppo["dlogp"]), by_hand)))
    dual, _ = on_levels(bare("gppo", **clip, gppo_beta_low=0, gppo_beta_high=0, clip_dual=3))
    twin, _ = on_levels(bare("dual_clip", **clip, clip_dual=3))
    check("with betas 0 and a dual it has the dual clip's",
          dual["dlogp"] == twin["dlogp"] != ppo["dlogp"] and dual["report"]["clip_fraction_dual"] > 0)

    aspo, tokens = on_levels(bare("aspo", **clip))
    bounded, _ = on_levels(bare("aspo", **clip, clip_dual=3, clip_dual_pos=2))
    for x, y, z, (A, l, o) in zip(*map(flat, (aspo["dlogp"], bounded["dlogp"], ppo["dlogp"])), tokens):
        w = math.exp(l - o)
        check("ASPO is the clip where A < 0", A > 0 or x == z)
        check("ASPO weighs by 1 / w where A > 0", A <= 0 or close(x, -A / w if w < 1.28 else 0))
        check("ASPO's dual clips keep the gradient of a bounded weight", close(y, -A * 2 if A > 0 and w < 0.5 else
              -A * 3 if A < 0 and w > 3 else x))

    for p in (1, 0.7, 0.3, 1e-3, 1e-9):
        low, high = surrogate.bounds(surrogate.at(bare("ppo_clip", bounds="probability", eps_low=0.16, eps_high=0.2),
                                                  reals.log(p)))
        check(f"DCPO: (w - 1) w p is the upper epsilon at the upper bound, p = {p}", close(high * (high - 1) * p, 0.2))
        check(f"(1 - w) w p is the lower epsilon, or w a half, p = {p}",
              close(low * (1 - low) * p, 0.16) and low > 0.5 if p > 0.64 else low == 0.5)


def check_score_kinds(check):
    o, batch = case_of("surrogate", "topr-good")
    a, b = found(o, batch), found(objectives.changed(o, surrogate=bare("reinforce")), batch)
    check("TOPR of good ones is the score function", a["dlogp"] == b["dlogp"] and a["loss"] == b["loss"])
    topr, tokens = on_levels(bare("topr", weight_max=1))
    check("TOPR tapers bad ones", all(close(x, -A * (1 if A > 0 else min(1, math.exp(l - o))))
          for x, (A, l, o) in zip(flat(topr["dlogp"]), tokens)))
    band, tokens = on_levels(bare("masked_weight", weight_min=0.5, weight_max=5))
    check("the band is the score function times w inside",
          all(close(x, -A * math.exp(l - o) if -0.69 < l - o < 1.6 else 0) for x, (A, l, o) in zip(flat(band["dlogp"]), tokens)))
    check("and clips outside", band["report"]["clip_fraction_low"] > 0 and band["report"]["clip_fraction_high"] > 0)
    sapo, tokens = on_levels(bare("sapo_detached", tau_pos=1, tau_neg=1.5))
    check("the detached gate is a weight", all(close(x, -A * 4 / tau / (1 + math.exp(-tau * math.expm1(l - o))))
          for x, (A, l, o) in zip(flat(sapo["dlogp"]), tokens) for tau in (1 if A > 0 else 1.5,)))
    plain, _ = on_levels(bare("log_ratio"))
    check("-A y has the score function's gradient", plain["dlogp"] == on_levels(bare("reinforce"))[0]["dlogp"])
    for kind in ("ratio", "log_ratio", "ppo_clip"):
        now, _ = on_levels(bare(kind, eps_low=0.2 if kind == "ppo_clip" else 0,
                                eps_high=0.2 if kind == "ppo_clip" else 0),
                           ratio={"behaviour": "current"})
        check(f"against the policy itself {kind} has it too", now["dlogp"] == plain["dlogp"])


def check_squared(check):
    grad = {k: flat(on_levels(bare("squared", beta=k))[0]["dlogp"]) for k in (0, 0.5, -0.5, 1, -1)}
    tokens = on_levels(bare("reinforce"))[1]
    check("Kimi K2: -2 k (A - k y)", all(close(x, -(A - 0.5 * (l - o))) for x, (A, l, o) in zip(grad[0.5], tokens)))
    check("no strength, no gradient", not any(grad[0]) and any(grad[1]))
    odd = [[x - y for x, y in zip(grad[k], grad[-k])] for k in (0.5, 1)]
    even = [[x + y for x, y in zip(grad[k], grad[-k])] for k in (0.5, 1)]
    check("the part with A is linear in k", all(close(2 * x, y) for x, y in zip(*odd)) and any(odd[0]))
    check("the part without A is quadratic in k, and acts where A = 0",
          all(close(4 * x, y) for x, y in zip(*even)) and any(x for x, (A, _, _) in zip(even[0], tokens) if A == 0))
    for unit in ("token", "sequence_sum"):
        square, _ = on_levels(bare("squared", beta=0.25), ratio={"level": unit})
        pair, _ = on_levels(bare("log_ratio"), ratio={"level": unit},
                            penalty={"kl": "k2", "kl_reference": "old", "kl_coef": 0.25})
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


GROUPS = (check_clipping_kinds, check_score_kinds, check_squared)
