"""Coefficients that depend on a measurement or a schedule."""
import math
from fractions import Fraction

import limits
import reals
from functions.arithmetic import HALF, Number, at, clamp, less, mean, own_size, own_tokens, real
from functions.batches import SELF, TEACHER, WITH_HOLES, each, marks, tokens
from functions.comparing import ask, cases_of, every, exactly
from functions.domains import COUNT, FLAG, FRACTION, NOT_NEGATIVE, NUMBER, POSITIVE, integer, many, number, reads
from functions.registry import cases, checks, function
from limits import ONE, ZERO
from scenarios import NAN, Dice


# ---- kl_control

@function(kl_coef=NUMBER)
def kl_control(kl_coef: NUMBER, kl: NUMBER, target: POSITIVE, steps: NOT_NEGATIVE, horizon: POSITIVE):
    """1909.08593 section 2.2: e = clip(KL/target - 1, -0.2, 0.2), beta (1 + K e); here K = steps/horizon.

    Source: 1909.08593
    Takes: `kl_coef`, `kl`, `target` > 0, `steps` >= 0, `horizon` > 0
    Gives: `kl_coef`: kl_coef (1 + e), e = clip(kl/target - 1, -0.2, 0.2) steps/horizon; scale abs(kl_coef)(1 + abs(e))
    """
    step = clamp(kl / target - 1, Fraction(-1, 5), Fraction(1, 5)) * steps / horizon
    return {"kl_coef": Number(kl_coef * (1 + step), abs(kl_coef) * (1 + abs(step)))}


@cases("kl_control")
def kl_control_cases(case):
    def kl_case(label, comment, kl, kl_coef=0.25, target=6, steps=256, horizon=10000):
        case(label, comment, kl_coef=kl_coef, kl=kl, target=target, steps=steps, horizon=horizon)

    kl_case("inside", "a KL 12.5 % above its target: the error is not clipped", 6.75)
    kl_case("on-target", "the KL is at its target: the coefficient stays", 6)
    kl_case("high", "a KL of four times the target: the error is clipped to 0.2", 24)
    kl_case("low", "a KL of a tenth of the target: the error is clipped to -0.2", 0.0625, target=0.625)
    kl_case("negative", "the estimate of the KL is below 0: the error is clipped to -0.2", -0.5, target=0.1)
    kl_case("no-steps", "no step was made: the coefficient stays", 24, steps=0)
    kl_case("zero", "a coefficient of 0 stays 0", 24, kl_coef=0)
    kl_case("fast", "ten horizons at once: the coefficient becomes negative, as the formula says", 0, steps=100000)


@checks("kl_control")
def check_kl_control(check):
    usual = {"kl_coef": 0.25, "target": 5, "steps": 3, "horizon": 7}
    kl = lambda x, **more: exactly("kl_control", **{**usual, "kl": x, **more})["kl_coef"]
    up, down = kl(6), kl(4)
    check("beyond the clip nothing changes", kl(50) == up and kl(-8) == down and kl(5.75).value < up.value)
    check("the clip is 0.2 on both sides", up.value * 140 == 35 + 3 and up.value + down.value == Fraction(1, 2))
    check("at the target the coefficient stays", kl(5).value == Fraction(1, 4) == kl(50, steps=0).value)


# ---- kl_hinge

@function(coef=NOT_NEGATIVE)
def kl_hinge(kl: NUMBER, delta: NUMBER, beta: NOT_NEGATIVE):
    """DisCO (2505.12366): the coefficient of a KL above its budget.

    Source: DisCO, 2505.12366
    Takes: `kl`, `delta`, `beta` >= 0
    Gives: `coef`: beta max(0, kl - delta); scale beta (abs(kl) + abs(delta))
    """
    return {"coef": Number(beta * (kl - delta if less(delta, kl) else 0), abs(beta) * (abs(kl) + abs(delta)))}


@cases("kl_hinge")
def kl_hinge_cases(case):
    each(case,
         ("above", "the KL exceeds its budget: the coefficient is beta times the excess", dict(kl=0.0005, delta=0.0001, beta=1000)),
         ("below", "the KL is within its budget: the coefficient is 0", dict(kl=0.00005, delta=0.0001, beta=1000)),
         ("equal", "the KL is exactly at its budget: the coefficient is 0", dict(kl=0.125, delta=0.125, beta=1000)),
         ("negative", "the estimate of the KL is below 0: the coefficient is 0", dict(kl=-0.5, delta=0.0001, beta=10)))


# ---- entropy_control

@function(coef=NUMBER, used=NUMBER)
def entropy_control(coef: NUMBER, entropy: NUMBER, target: NUMBER, delta: NUMBER, low: NUMBER, high: NUMBER, inclusive: FLAG):
    """2505.22312: the coefficient moves by fixed steps within bounds, and is used only while the entropy is below its target.

    Source: 2505.22312
    Takes: `coef`, `entropy`, `target`, `delta`, `low` <= `high`, `inclusive`
    Gives: low is: entropy < target, or <= if `inclusive` (TRL; the official code is strict). `coef`: clamp(coef + delta if low is, else
    coef - delta, `low`, `high`); `used`: that if low is, else 0; scale of both abs(coef) + abs(delta)
    """
    below = less(entropy, target) or inclusive and entropy == target
    moved = clamp(coef + delta if below else coef - delta, low, high)
    size = abs(coef) + abs(delta)
    return {"coef": Number(moved, size), "used": Number(moved if below else Fraction(0), size)}


@cases("entropy_control")
def entropy_control_cases(case):
    def entropy_case(label, comment, entropy, inclusive=False, coef=0.0025, target=0.25, delta=0.0001, low=0, high=0.005):
        case(label, comment, coef=coef, entropy=entropy, target=target, delta=delta, low=low, high=high,
                inclusive=inclusive)

    entropy_case("below", "the entropy is below its target: the coefficient rises and is used", 0.125)
    entropy_case("above", "the entropy is above its target: the coefficient falls and is not used", 0.5)
    entropy_case("equal", "entropy exactly at the target, not inclusive (official code): the coefficient falls", 0.25)
    entropy_case("equal-inclusive", "entropy exactly at the target, inclusive (TRL): the coefficient rises", 0.25, inclusive=True)
    entropy_case("highest", "the coefficient would rise above its upper bound: it stops there",
                 0.125, coef=0.875, delta=0.25, high=1)
    entropy_case("lowest", "the coefficient would fall below its lower bound: it stops there", 0.75, coef=0.00005, inclusive=True)
    entropy_case("pinned", "equal bounds, and a coefficient that starts outside: it is brought to them",
                 0.125, coef=3, low=0.5, high=0.5,
                 inclusive=True)
    entropy_case("falling-used", "a negative step: the coefficient falls where the entropy is below its target", 0.125, coef=0.5,
                 delta=-0.125, low=-1, high=1)


@checks("entropy_control")
def check_entropy_control(check):
    for label, arguments, _ in cases_of("entropy_control"):
        official, trl = (exactly("entropy_control", **{**arguments, "inclusive": x}) for x in (False, True))
        at_target = arguments["entropy"] == arguments["target"]
        check(f"they differ at the target only: {label}", (official != trl) == at_target)
        for found in (official, trl):
            used = found["coef"].value if arguments["entropy"] < arguments["target"] else 0
            check(f"used where the entropy is small: {label}", at_target or found["used"].value == used)
            check(f"within the bounds: {label}", arguments["low"] <= found["coef"].value <= arguments["high"])


# ---- entropy_target_coef

@function(coef=NUMBER, value=NOT_NEGATIVE)
def entropy_target_coef(entropy: NUMBER, target: NUMBER, coef: NOT_NEGATIVE):
    """C3-TER (Confucius3-Math): the entropy_coef of the objective that has the gradient of c abs(H - H*).

    Source: C3-TER
    Takes: `entropy` H, `target`, `coef` >= 0
    Gives: `coef`: coef if H < target, -coef if H > target, 0 if equal: the `entropy_coef` whose penalty has the gradient of coef abs(H
    - target); scale itself. `value`: coef abs(H - target); scale coef (abs(H) + abs(target))
    """
    sign = less(entropy, target) - less(target, entropy)
    return {"coef": own_size(coef * sign), "value": Number(coef * abs(entropy - target), abs(coef) * (abs(entropy) + abs(target)))}


@cases("entropy_target_coef")
def entropy_target_coef_cases(case):
    each(case,
         ("above", "entropy above its target: a negative coefficient, which penalises entropy",
          dict(entropy=0.75, target=0.55, coef=0.001)),
         ("below", "entropy below its target: a positive coefficient, which rewards entropy",
          dict(entropy=0.25, target=0.55, coef=0.001)),
         ("equal", "entropy exactly at its target: coefficient and value are 0", dict(entropy=0.5, target=0.5, coef=0.001)),
         ("zero", "coef 0: coefficient and value are 0", dict(entropy=0.75, target=0.55, coef=0)))


@checks("entropy_target_coef", "kl_hinge")
def check_hinges(check):
    h = Fraction(1, 4096)
    dice = Dice(3)
    for _ in range(20):
        H, target, c = dice.fraction(0, 2, 16), dice.fraction(0, 2, 16), dice.fraction(0, 1, 8)
        at = lambda x, name: exactly("entropy_target_coef", entropy=float(x), target=target, coef=c)[name].value
        slope = (at(H + h, "value") - at(H - h, "value")) / (2 * h)
        check("minus the coefficient is the slope", slope == -at(H, "coef"))
        hinge = lambda x: exactly("kl_hinge", kl=float(x), delta=target, beta=c)["coef"].value
        mirror = exactly("kl_hinge", kl=-H, delta=-target, beta=c)["coef"].value
        check("up and down make a line", hinge(H) - mirror == Fraction(c) * (Fraction(H) - Fraction(target)))


# ---- preference_coef_control

@function(coef=NUMBER)
def preference_coef_control(coef: NUMBER, pair_loss: NUMBER, loss: NUMBER):
    """AMIR-GRPO (2601.03661), official code: the pair term stays between 0.3 and 0.7 of the other loss.

    Source: 2601.03661, official code
    Takes: `coef`, `pair_loss`, `loss`
    Gives: q = coef pair_loss/max(1e-9, loss). `coef`: min(0.05, 1.25 coef) if q < 0.3; max(0.005, 0.8 coef) if q > 0.7; else coef;
    scale itself
    """
    share = coef * pair_loss / max(Fraction(1, 10 ** 9), loss)
    if less(share, Fraction(3, 10)):
        coef = min(Fraction(1, 20), Fraction(5, 4) * coef)
    elif less(Fraction(7, 10), share):
        coef = max(Fraction(1, 200), Fraction(4, 5) * coef)
    return {"coef": Number(coef, abs(coef))}


@cases("preference_coef_control")
def preference_margin_control_cases(case):
    for label, comment, coef, pair_loss, loss in (
            ("small", "the pair term is a tenth of the loss, below 0.3: the coefficient grows by a quarter", 0.01, 0.5, 0.05),
            ("large", "the pair term is three times the loss, above 0.7: the coefficient falls by a fifth", 0.01, 6, 0.02),
            ("between", "the pair term is half the loss: the coefficient stays", 0.01, 0.5, 0.01),
            ("highest", "a coefficient that rises stops at 0.05", 0.045, 0.01, 1),
            ("above", "a coefficient of 0.25 that is to rise is lowered to the maximum of 0.05", 0.25, 0.01, 1),
            ("lowest", "a coefficient that falls stops at 0.005", 0.006, 6, 0.01),
            ("below", "a coefficient of 0.001 that is to fall is raised to the minimum of 0.005", 0.001, 6, 0.001),
            ("negative-loss", "a loss below 0 counts as 1e-9 in the quotient: the coefficient falls", 0.02, 0.75, -0.5),
            ("no-pairs", "a pair loss of 0: the quotient is 0, the coefficient rises", 0.02, 0, 0.5)):
        case(label, comment, coef=coef, pair_loss=pair_loss, loss=loss)


@checks("preference_coef_control")
def check_preference_coef_control(check):
    at = lambda coef, pair, loss: exactly("preference_coef_control", coef=coef, pair_loss=pair, loss=loss)["coef"].value
    for label, given, _ in cases_of("preference_coef_control"):
        larger = {**given, "pair_loss": 8 * given["pair_loss"], "loss": 8 * given["loss"]}
        found, same = (exactly("preference_coef_control", **x)["coef"] for x in (given, larger))
        check(f"only the quotient counts: {label}", given["loss"] < 0 or found == same)
    check("five quarters, four fifths", at(0.015625, 1, 1) * 4 == Fraction(5, 64) and at(0.03125, 32, 1) * 5 == Fraction(1, 8))


# ---- regret_temperature

@function(temperature=NOT_NEGATIVE)
def regret_temperature(length: many(NOT_NEGATIVE), score: many(NUMBER)):
    """Trinity-RFT's chain-of-tasks advantage: the temperature at which s e^(s/temp) sums to 0 over the tokens.

    Source: Trinity-RFT, chain of tasks
    Takes: `length` (n numbers >= 0), `score` (n)
    Gives: with F(T) = sum_i length_i s_i e^(s_i/T): `temperature`: 0 if sum length_i s_i >= 0. Else low = 0.8, high = 100, then up to
    20 times: T = (low + high)/2, high := T if F(T) < 0, else low := T; stop when high - low < 0.05; the last T; scale itself
    """
    top = max((s for n, s in zip(length, score) if n * s), default=0)  # factored out, lest every term underflow

    def negative(weight):
        terms = [real(n * s) * weight(s) for n, s in zip(length, score)]
        return limits.less(sum((x for x in terms if x > 0), ZERO), -sum((x for x in terms if x < 0), ZERO))
    if not negative(lambda s: ONE):
        return {"temperature": Number(ZERO, ZERO)}
    low, high = Fraction(4, 5), Fraction(100)
    for _ in range(20):
        middle = (low + high) / 2
        if negative(lambda s: reals.exp(real((s - top) / middle))):
            high = middle
        else:
            low = middle
        if high - low < Fraction(1, 20):
            break
    return {"temperature": Number(middle, middle)}


@cases("regret_temperature")
def regret_temperature_cases(case):
    for label, comment, length, score in (
            ("bisected", "long failures outweigh the successes: the temperature that balances them, by bisection",
             [122, 40, 80], [-0.5, 0.25, 0.5]),
            ("enough", "successes outweigh the failures: the temperature is 0", [10, 40, 100], [-0.5, 0.25, 0.5]),
            ("zero", "scores times lengths sum to exactly 0: the temperature is 0", [4, 2], [-0.25, 0.5]),
            ("hopeless", "only failures: bisection ends next to the lowest temperature", [4, 2], [-0.25, -0.5]),
            ("slight", "scores times lengths sum to slightly less than 0: a high temperature", [103, 100], [-0.5, 0.5]),
            ("hardly", "scores times lengths sum to hardly less than 0: bisection ends next to the highest temperature",
             [1001, 1000], [-0.5, 0.5]),
            ("deep", "one score of -10^12: every term is tiny, and negative", [4], [-(10 ** 12)]),
            ("wide", "scores of several units, of both signs", [7, 3, 11, 2], [-3, 2.5, -0.75, 6])):
        case(label, comment, length=length, score=score)


@checks("regret_temperature")
def check_regret_temperature(check):
    for label, given, _ in cases_of("regret_temperature"):
        found = ask("regret_temperature", **given)["temperature"]
        total = lambda temp: sum(n * s * (math.exp(s / temp) if temp else 1) for n, s in zip(given["length"], given["score"]))
        check(f"none where they weigh enough: {label}", (found == 0) == (total(0) >= 0))
        if found and 1 < found < 99:
            check(f"the sum changes its sign here: {label}", total(found - 0.05) >= 0 >= total(found + 0.05))
    for lengths in ((122, 100), (103, 100), (9, 2)):
        found = ask("regret_temperature", length=lengths, score=[-0.5, 0.5])["temperature"]
        root = 1 / math.log(lengths[0] / lengths[1])
        check("by hand: e^(1/temp) is the quotient of the lengths", abs(found - max(root, 0.8)) < 0.05)


# ---- logit_shift

@function(shift=NUMBER)
def logit_shift(batch: reads("logp_ref"), correct: many(FLAG), beta: NUMBER):
    """VPD (2605.15113): halfway between the mean log-ratios of right and wrong responses.

    Source: VPD, 2605.15113
    Takes: batch with `logp_ref`; `correct` (N flags), `beta`
    Gives: z_i = beta sum of l - f over the response's mask tokens. `shift`: (mean of z over the correct + mean of z over the others)/2,
    means over responses of the batch, 0 for a side without any; scale: the same with abs(beta) and sums of abs(l - f)
    """
    l, f = at(batch, "logp"), at(batch, "logp_ref")
    z = [[beta * (l[p] - f[p]) for p in own] for own in own_tokens(batch)]
    sides = [[x for x, c in zip(z, correct) if c == right] for right in (True, False)]
    half = lambda f: sum(mean([sum(f(y) for y in x) for x in side]) for side in sides if side) / Fraction(2)
    return {"shift": Number(half(Fraction), half(abs))}


@cases("logit_shift")
def logistic_shift_cases(case):
    def shift(label, comment, correct, beta=0.1, now=SELF, ref=TEACHER, mask=None):
        case(label, comment, tokens([0, 0, 1], mask, logp=now, logp_ref=ref), correct=marks(correct), beta=beta)

    shift("plain", "beta times sums of log-ratios over tokens; one mean over right and one over wrong responses", "110")
    shift("right", "no response is wrong: half of the mean over the right ones", "111")
    shift("wrong", "no response is right: half of the mean over the wrong ones", "000", 2)
    shift("holes", "masked tokens do not count; a fully masked response enters its mean with 0", "011", 0.5, WITH_HOLES["logp_old"],
          [[-0.75, NAN, -1.5, -1], [-3, NAN], [-0.875, -0.125]], WITH_HOLES["mask"])


@checks("logit_shift")
def check_logit_shift(check):
    for label, given, batch, found in every("logit_shift"):
        mirrored = {**batch, "logp": batch["logp_ref"], "logp_ref": batch["logp"]}
        flipped = exactly("logit_shift", mirrored, **{**given, "correct": [not c for c in given["correct"]]})
        check(f"policy and reference, right and wrong change places: {label}", flipped["shift"].value == -found["shift"].value)
    plain = tokens([0, 0], logp=[[-1, -2], [-3]], logp_ref=[[-2, -2.5], [-1]])
    check("(1.5 - 2)/2", exactly("logit_shift", plain, correct=[True, False], beta=2)["shift"].value == -HALF)


# ---- linear_schedule

@function(value=NUMBER)
def linear_schedule(start: NUMBER, step: COUNT, steps: COUNT, offset: COUNT):
    """SERL (offset 0) and VISD (offset 1): falls to 0 in so many steps; 0 steps: constant.

    Source: SERL: `offset` 0; VISD: 1
    Takes: `start`, `step`, `steps`, `offset`, the last three >= 0
    Gives: `value`: start clip(1 - (step - offset)/steps, 0, 1), start if steps = 0; scale itself
    """
    left = clamp(1 - (step - offset) / steps, Fraction(0), Fraction(1)) if steps else 1
    return {"value": own_size(start * left)}


@cases("linear_schedule")
def linear_decay_cases(case):
    each(case,
         ("start", "step 0: the start value", dict(start=0.5, step=0, steps=50, offset=0)),
         ("third", "step 17 of 50: 33/50 of the start value", dict(start=0.5, step=17, steps=50, offset=0)),
         ("offset", "steps counted from 1: at step 1 it is the whole start value", dict(start=0.5, step=1, steps=600, offset=1)),
         ("last", "steps counted from 1: at the last step 1/600 of the start value is left",
          dict(start=0.7, step=600, steps=600, offset=1)),
         ("over", "steps counted from 1: after the last step the value is 0", dict(start=0.5, step=601, steps=600, offset=1)),
         ("before", "a step before the first one: not more than the start value", dict(start=0.5, step=0, steps=600, offset=1)),
         ("constant", "0 steps: the value is constant", dict(start=0.5, step=1000, steps=0, offset=0)))


@checks("linear_schedule")
def check_linear_schedule(check):
    decay = lambda step, steps, offset=0: exactly("linear_schedule", start=0.5, step=step, steps=steps, offset=offset)["value"].value
    check("a line", [decay(s, 4) for s in range(6)] == [Fraction(x, 8) for x in (4, 3, 2, 1, 0, 0)])
    check("from 1 on", [decay(s, 4, 1) for s in range(6)] == [Fraction(x, 8) for x in (4, 4, 3, 2, 1, 0)])
    check("constant", decay(9, 0) == decay(0, 0) == Fraction(1, 2))


# ---- margin_schedule

@function(margin=NUMBER)
def margin_schedule(margin: NUMBER, progress: FRACTION, share: number(above=0, most=1)):
    """ConSPO (2605.12969) section 4.3: the margin rises along half a cosine, then is constant.

    Source: ConSPO, 2605.12969
    Takes: `margin` M, the last one; `progress` of the run in [0, 1]; `share` of the run after which the margin is whole, above 0, at most
    1
    Gives: `margin`: (M/2)(1 - cos(pi min(progress/share, 1))); scale abs(M)
    """
    rise = (1 - reals.cos(reals.pi() * real(progress / share))) / 2 if less(progress, share) else ONE
    return {"margin": Number(real(margin) * rise, real(abs(margin)))}


@cases("margin_schedule")
def margin_schedule_cases(case):
    each(case,
         ("start", "progress 0: the margin is 0", dict(margin=0.01, progress=0, share=0.3)),
         ("third", "progress of a third of the share: a quarter of the margin", dict(margin=0.01, progress=0.125, share=0.375)),
         ("half", "progress of half the share: half of the margin, which is negative here",
          dict(margin=-2, progress=0.25, share=0.5)),
         ("whole", "progress reaches the share: the whole margin", dict(margin=0.01, progress=0.3, share=0.3)),
         ("after", "progress beyond the share: the margin stays whole", dict(margin=0.01, progress=0.875, share=0.3)),
         ("end", "share 1 at progress 0.9: the margin is not yet whole", dict(margin=0.75, progress=0.9, share=1)))


@checks("margin_schedule")
def check_margin_schedule(check):
    at = lambda progress, share=0.25, margin=1: exactly("margin_schedule", margin=margin, progress=progress, share=share)["margin"].value
    table = {0: 0, 1 / 12: 1 / 4, 1 / 8: 1 / 2, 1 / 6: 3 / 4, 1 / 4: 1, 1 / 2: 1, 1: 1}
    check("angles of 60 and 90 degrees", all(abs(float(at(x)) - y) < 1e-15 for x, y in table.items()))
    check("as far above at the end as below at the start", abs(float(at(0.0625) + at(0.1875)) - 1) < 1e-15)
    check("in proportion to the last one", at(0.125, margin=-8) == -8 * at(0.125))


# ---- multiplier_update

@function(mean=NUMBER, multiplier=NOT_NEGATIVE)
def multiplier_update(score: many(NUMBER, least=1), counted: many(FLAG, least=1), multiplier: NOT_NEGATIVE, target: NUMBER,
                      rate: NOT_NEGATIVE, multiplier_max: NOT_NEGATIVE, least: COUNT):
    """FGRPO (2604.08476) eq. 5 and 6: the multiplier of a constraint rises while the batch's mean score is below its target.

    Source: FGRPO, 2604.08476
    Takes: `score` (n >= 1), `counted` (n flags), `multiplier` >= 0, `target`, `rate` >= 0, `multiplier_max` >= 0, `least` >= 0
    Gives: `mean`: that of the scores that are counted, 0 if none is; scale: mean of absolute values. `multiplier`: clip(multiplier + rate
    (target - mean), 0, multiplier_max), as it was if none is counted or fewer than least; scale multiplier + rate (abs(target) + mean of
    absolute values), or itself where a bound binds or it is as it was
    """
    scores = [x for x, yes in zip(score, counted) if yes]
    average, size = (mean([f(x) for x in scores]) if scores else Fraction(0) for f in (Fraction, abs))
    if scores and len(scores) >= least:
        moved = multiplier + rate * (target - average)
        bounded = clamp(moved, Fraction(0), multiplier_max)
        multiplier = Number(bounded, bounded if bounded != moved else multiplier + rate * (abs(target) + size))
    else:
        multiplier = own_size(multiplier)
    return {"mean": Number(average, size), "multiplier": multiplier}


@cases("multiplier_update")
def multiplier_update_cases(case):
    def update(label, comment, score=(1, 0, 1, 1, 0, 0.5), counted="110111", multiplier=1, target=0.95, rate=0.05, most=5, least=3):
        case(label, comment, score=list(score), counted=marks(counted), multiplier=multiplier, target=target, rate=rate,
             multiplier_max=most, least=least)

    update("below", "the mean is below its target: the multiplier rises")
    update("above", "the mean is above its target: the multiplier falls", target=0.25)
    update("highest", "the multiplier would rise above its maximum: it stops there", multiplier=4.984375, rate=0.5)
    update("lowest", "the multiplier would fall below 0: it stops there", multiplier=0.015625, target=-0.5)
    update("few", "fewer scores are counted than `least`: the multiplier stays, the mean is returned", counted="001001")
    update("enough", "exactly `least` scores are counted: the multiplier moves", counted="101001")
    update("none", "no score is counted: the mean is 0 and the multiplier stays", counted="000000", least=0)
    update("beyond", "a multiplier above its maximum is lowered to it", multiplier=8)
    update("beyond-few", "fewer scores are counted than `least`: even a multiplier above its maximum stays",
           multiplier=8, counted="100000")
    update("negative", "scores of both signs with a negative mean, target 0: the multiplier rises",
           score=(-0.5, 0.25, -1, 0.7, -0.125, 0.3), target=0, least=6, counted="111111")


@checks("multiplier_update")
def check_multiplier_update(check):
    for label, given, _, found in every("multiplier_update"):
        scores = [Fraction(x) for x, yes in zip(given["score"], given["counted"]) if yes]
        before, target, rate, most = (Fraction(given[k]) for k in ("multiplier", "target", "rate", "multiplier_max"))
        average = sum(scores) / max(1, len(scores))
        moves = len(scores) >= max(1, given["least"])
        check(f"the masked mean: {label}", found["mean"].value == average)
        check(f"a step towards the target: {label}",
              found["multiplier"].value == (sorted((Fraction(0), before + rate * (target - average), most))[1] if moves else before))
    one = dict(score=[0.5, 0.5], counted=[True, True], multiplier=1, target=0.5, rate=3, multiplier_max=5, least=1)
    check("on target it stays", exactly("multiplier_update", **one)["multiplier"].value == 1)
    check("whatever is not counted does not matter", exactly("multiplier_update", **{**one, "score": [0.5, 9], "counted": [True, False]})
          == exactly("multiplier_update", **{**one, "score": [0.5], "counted": [True]}))


# ---- token_budget_schedule

@function(value=number(least=1))
def token_budget_schedule(start: NOT_NEGATIVE, factor: NOT_NEGATIVE, step: COUNT, interval: integer(1)):
    """CURRICULUM-GRPO: the budget of tokens shrinks by a factor at intervals, to no less than 1.

    Source: CURRICULUM-GRPO
    Takes: `start`, `factor` >= 0, `step` >= 0, `interval` >= 1
    Gives: `value`: max(1, start factor^floor(step/interval)), 0^0 = 1; scale itself
    """
    budget = start * factor ** math.floor(step / interval)
    return {"value": own_size(Fraction(1) if less(budget, Fraction(1)) else budget)}


@cases("token_budget_schedule")
def count_budget_cases(case):
    each(case,
         ("start", "the step before the first interval ends: the whole budget", dict(start=256, factor=0.7, step=99, interval=100)),
         ("first", "after one interval: the budget times the factor", dict(start=256, factor=0.7, step=100, interval=100)),
         ("later", "after five intervals: the budget times the factor to the fifth power",
          dict(start=256, factor=0.7, step=599, interval=100)),
         ("least", "after fifty intervals the budget has stopped at 1", dict(start=256, factor=0.7, step=5000, interval=100)))


@checks("token_budget_schedule")
def check_token_budget_schedule(check):
    budget = lambda step: exactly("token_budget_schedule", start=8, factor=0.5, step=step, interval=3)["value"].value
    check("halves", [budget(s) for s in range(13)] == [8] * 3 + [4] * 3 + [2] * 3 + [1] * 4)


# ---- hint_level

@function(level=many(COUNT))
def hint_level(level: many(COUNT), success: many(FRACTION), low: NUMBER, high: NUMBER, **most: {"max": COUNT}):
    """SAGE (2602.03143): more of a hint where a prompt fails, less where it succeeds.

    Source: SAGE, 2602.03143
    Takes: `level` (n integers >= 0), `success` (n, in [0, 1]), `low` <= `high`, `max` >= 0
    Gives: `level` (n): min(level + 1, max) if success < low; max(level - 1, 0) if success > high; else as it was (high = 1: never down,
    the paper's); no scale
    """
    def moved(k, s):
        if less(s, low):
            return min(k + 1, most["max"])
        return max(k - 1, 0) if less(high, s) else k
    return {"level": [int(moved(k, s)) for k, s in zip(level, success)]}


@cases("hint_level")
def hint_level_cases(case):
    each(case,
         ("plain", "success below, between and above the thresholds: the level rises, stays, falls",
          dict(level=[1, 1, 2], success=[0.05, 0.2, 0.5], low=0.1, high=0.35, max=3)),
         ("bounds", "success exactly at a threshold: the level stays",
          dict(level=[1, 2], success=[0.1, 0.35], low=0.1, high=0.35, max=3)),
         ("ends", "levels stay within 0 and `max`; one above `max` is brought back to it",
          dict(level=[3, 0, 5], success=[0, 1, 0], low=0.1, high=0.35, max=3)),
         ("paper", "a high threshold of 1, as in the paper: the level never falls",
          dict(level=[2, 1, 0], success=[1, 0, 0.5], low=0.25, high=1, max=2)))


@checks("hint_level")
def check_hint_level(check):
    for label, given, _, found in every("hint_level"):
        for k, s, new in zip(given["level"], given["success"], found["level"]):
            step = (s < given["low"]) - (s > given["high"])
            check(f"one step: {label}", new == (min(max(k + step, 0), given["max"]) if step else k))
