"""Noise schedules: mean and deviation of a sampler's step, and weights that give its steps equal gradients."""
import math
from fractions import Fraction

import reals
from functions.arithmetic import Number, itself, mean, own_size, real
from functions.batches import each
from functions.comparing import every, exactly, near, values
from functions.domains import NUMBER, POSITIVE, many, number, one_of
from functions.registry import cases, checks, function

LEVEL = number(above=0, most=1)


# ---- flow_schedule

def exact(x):
    return own_size(real(x))


def scaled(factor, x):
    return Number(real(factor) * x.value, abs(real(factor)) * x.size)


def plus(x, y):
    return Number(x.value + y.value, x.size + y.size)


def root(x):
    y = reals.sqrt(x.value)
    return Number(y, x.size / y)


def diffused(variance, level, step):
    """(a, b) of a step of an SDE with the marginals of the flow: z + dt v + (variance/2) score, score = -(z + (1 - s0) v)/s0."""
    half = scaled(-1 / (2 * level), variance)
    return plus(exact(Fraction(1)), half), plus(exact(-step), scaled(1 - level, half))


def sde(noise):
    """Of samplers whose noise over a step is g sqrt(h)."""
    def schedule(s0, s1, largest, smallest, eta):
        g, h = noise(s0, largest, smallest, eta), s0 - s1
        variance = own_size(g * g * real(h))
        return (*diffused(variance, s0, h), root(variance))
    return schedule


def flow_noise(s0, largest, smallest, eta):
    # Flow-GRPO (2505.05470), official code: at the first level, where it would be infinite, the noise of the second
    return real(eta) * reals.sqrt(real(s0) / real(1 - (largest if s0 == 1 else s0)))


def dance_noise(s0, largest, smallest, eta):
    # DanceGRPO (2505.07818)
    return real(eta)


def flash_noise(s0, largest, smallest, eta):
    # Flash-GRPO (2605.15980)
    return real(eta) * real(smallest + (largest - smallest) * s0)


CLOSEST = Fraction(997, 1000)  # the largest level: levels nearer to 1 are replaced by it


def sage(s0, s1, largest, smallest, eta):
    # SAGE-GRPO (2603.21872): the integral of the noise over the step
    h = s0 - s1
    variance = scaled(eta * eta, plus(own_size(reals.log(real(1 - s1) / real(1 - min(s0, CLOSEST)))), exact(-h)))
    return (*diffused(variance, s0, h), root(variance))


def cps(s0, s1, largest, smallest, eta):
    # coefficients-preserving sampling, as Flow-GRPO's code has it
    angle, c, s = real(eta) * reals.pi() / 2, reals.cospi(real(eta) / 2), reals.sinpi(real(eta) / 2)
    turned = Number(c, c + angle * s)
    a = plus(exact(1 - s1), scaled(s1, turned))
    b = plus(exact(-s0 * (1 - s1)), scaled((1 - s0) * s1, turned))
    return a, b, scaled(s1, Number(s, s + angle * c))


KIND = {"flow_sde": sde(flow_noise), "dance_sde": sde(dance_noise), "flash_sde": sde(flash_noise), "sage_sde": sage, "cps": cps}


@function(sample_factor=NUMBER, velocity_factor=NUMBER, std=POSITIVE, rate=POSITIVE)
def flow_schedule(kind: one_of(*KIND), level: LEVEL, next_level: number(least=0, below=1), sigma_max: number(above=0, below=1),
                  sigma_min: number(least=0, below=1), eta: POSITIVE):
    """A step of a sampler with noise, from the level s0 to s1: y ~ N(a z + b v, s^2), v the velocity that the model predicts.

    Source: Flow-GRPO 2505.05470, DanceGRPO 2505.07818, Flash-GRPO 2605.15980, SAGE-GRPO 2603.21872, as their code has it; `cps`:
    2509.05952, as the code of Flow-GRPO and SAGE-GRPO has it
    Takes: `kind` (below), `level` s0 and `next_level` s1, 0 <= s1 < s0 <= 1, `sigma_max` in (0, 1), the level after the first step,
    `sigma_min` in [0, sigma_max], the last one (mostly 0), `eta` > 0. With `cps` s1 > 0 and eta <= 1, with `sage_sde` S > 0
    Gives: `sample_factor` a, `velocity_factor` b, `std` s and `rate` s/abs(b): how far a unit of noise is in units of the velocity.
    With h = s0 - s1 and S = s^2 all but `cps` have a = 1 - S/(2 s0), b = -h - S (1 - s0)/(2 s0). Scales: with plus for minus, h, 1 - s0
    and 1 - s1 as one number; `rate`: (scale of s + rate times scale of b)/abs(b)

    - `flow_sde`: S = g^2 h, g = eta sqrt(s0/(1 - s0)), in the root `sigma_max` for the s0 of the divisor if s0 = 1 (at the first
      level).
    - `dance_sde`: the same, g = eta. `flash_sde`: g = eta (sigma_min + (sigma_max - sigma_min) s0).
    - `sage_sde`: S = eta^2 (log((1 - s1)/(1 - min(s0, 0.997))) - h); scale of S: eta^2 (abs(log) + h), of s: that divided by s.
    - `cps`: with c = cos(eta pi/2): a = (1 - s1) + s1 c, b = -s0 (1 - s1) + (1 - s0) s1 c, s = s1 sin(eta pi/2). Scale of the cosine: c
      + (eta pi/2) sin(eta pi/2); of s: s1 (sin(eta pi/2) + (eta pi/2) c).
    """
    a, b, s = KIND[kind](level, next_level, sigma_max, sigma_min, eta)
    rate = s.value / abs(b.value)
    return {"sample_factor": a, "velocity_factor": b, "std": s, "rate": Number(rate, (s.size + rate * b.size) / abs(b.value))}


@cases("flow_schedule")
def flow_schedule_cases(case):
    def step(kind, label, comment, level=0.625, next_level=0.5, sigma_max=0.875, sigma_min=0.125, eta=0.7):
        case(f"{kind.replace('_', '-')}-{label}", comment, kind=kind, level=level, next_level=next_level, sigma_max=sigma_max,
             sigma_min=sigma_min, eta=eta)

    for kind in KIND:
        step(kind, "middle", "a step in the middle of the schedule, from level 0.625 to 0.5")
        step(kind, "first", "the first step, from level 1, which is noise alone", 1, 0.875)
        step(kind, "small", "a small step: the two levels differ by a thousandth", 0.25 + 2 ** -10, 0.25, eta=0.3)
        if kind != "cps":
            step(kind, "last", "the last step, to level 0, which is the data", 0.125, 0)
    step("cps", "whole", "eta 1: the largest possible amount of noise", eta=1)
    step("cps", "near", "a step at levels near 0: almost no noise is left", 2 ** -6, 2 ** -8)
    step("flow_sde", "wide", "a single step from level 1 (noise) to level 0 (data)", 1, 0, eta=1)
    step("sage_sde", "close", "a level of 0.998, above the 0.997 at which it is capped in the variance", 1 - 2 ** -9, 0.9375)
    step("flash_sde", "flat", "sigma_min equals sigma_max: the noise is the same at every level", sigma_max=0.5, sigma_min=0.5)


@checks("flow_schedule")
def check_worked_schedules(check):
    """The numbers of a step from 0.6 to 0.5 with eta 0.7 and sigma_1 0.9, six digits."""
    worked = {"flow_sde": (0.93875, -0.1245, 0.271109), "sage_sde": (0.949716, -0.120113, 0.245643),
              "cps": (0.726995, -0.209202, 0.445503), "dance_sde": (0.959167, -0.116333, 0.221359)}
    for kind, numbers in worked.items():
        found = exactly("flow_schedule", kind=kind, level=0.6, next_level=0.5, sigma_max=0.9, sigma_min=0.1, eta=0.7)
        for key, x in zip(("sample_factor", "velocity_factor", "std"), numbers):
            check(f"worked: {kind} {key}", abs(float(found[key].value) - x) < 1e-6)


@checks("flow_schedule")
def check_flow_schedule(check):
    for label, given, _, found in every("flow_schedule"):
        a, b, s, rate = (found[key].value for key in ("sample_factor", "velocity_factor", "std", "rate"))
        check(f"the step goes to the data, with noise: {label}", b < 0 < s and near(rate * -b, s))
        s0, s1 = (real(Fraction(given[key])) for key in ("level", "next_level"))
        # with the true velocity n - x of z = (1 - s0) x + s0 n the mean keeps the data: a (1 - s0) - b = 1 - s1
        check(f"the data's part is that of the next level: {label}", near(a * (1 - s0) - b, 1 - s1))
        left = a * s0 + b  # of the noise
        if given["kind"] == "cps":
            check(f"noise and what is left of it are that of the next level: {label}", near(left * left + s * s, s1 * s1))
        else:
            check(f"noise is taken out as fast as it comes in, to the first order: {label}", near(s1 - left, s * s / (2 * s0)))
    flat = exactly("flow_schedule", kind="flash_sde", level=0.5, next_level=0.25, sigma_max=0.5, sigma_min=0.5, eta=0.5)
    dance = exactly("flow_schedule", kind="dance_sde", level=0.5, next_level=0.25, sigma_max=0.5, sigma_min=0.5, eta=0.25)
    check("the same noise at every level is DanceGRPO's", values(flat.values()) == values(dance.values()))
    tiny = [exactly("flow_schedule", kind=kind, level=Fraction(1, 2), next_level=Fraction(1, 2) - Fraction(1, 10 ** 12), sigma_max=0.9,
                    sigma_min=0.1, eta=0.7)["std"].value for kind in ("flow_sde", "sage_sde")]
    check("SAGE's noise is Flow-GRPO's in the limit of small steps", abs(tiny[0] / tiny[1] - 1) < 1e-10)


# ---- balance_steps

def lower_median_of_reciprocals(rate):
    order = sorted(rate, reverse=True)  # so that their reciprocals ascend
    return order[(len(order) - 1) // 2]


CENTRE = {"median": lower_median_of_reciprocals, "mean": mean}


@function(weight=many(POSITIVE))
def balance_steps(rate: many(POSITIVE, least=1), centre: one_of(*CENTRE)):
    """Weights proportional to the velocity change per unit of noise, so that all steps have gradients of equal size.

    Source: SAGE-GRPO 2603.21872 (`median`); Flash-GRPO 2605.15980 (`mean`)
    Takes: `rate` (n >= 1 numbers s/abs(b) of `flow_schedule`, > 0), `centre`
    Gives: `weight` (n): rate/m; m: `median`: the reciprocal of the median of the reciprocals, the lower of two; `mean`: the mean. Scale
    itself
    """
    m = CENTRE[centre](rate)
    return {"weight": itself([x / m for x in rate])}


@cases("balance_steps")
def balance_steps_cases(case):
    RATES = [7.5, 7, 6.625, 6.1875, 5.75]
    each(case,
         ("median-odd", "five steps: the step with the median rate has weight 1", dict(rate=RATES, centre="median")),
         ("median-even", "four steps: the larger of the two middle rates has weight 1", dict(rate=RATES[1:], centre="median")),
         ("mean", "centre `mean`: each rate is divided by the mean rate", dict(rate=RATES, centre="mean")),
         ("unordered", "rates in no order, two of them equal: the median has to sort them",
          dict(rate=[0.5, 4, 0.25, 4, 1, 0.125], centre="median")),
         ("one", "a single step has weight 1", dict(rate=[0.375], centre="mean")),
         ("wide", "rates from 1e-6 to 1e6", dict(rate=[1e-6, 1e6, 0.5, 3], centre="mean")))


@checks("balance_steps")
def check_balance_steps(check):
    for label, given, _, found in every("balance_steps"):
        weight, rate = values(found["weight"]), [Fraction(x) for x in given["rate"]]
        check(f"in the ratio of the rates: {label}", all(w * rate[0] == weight[0] * x for w, x in zip(weight, rate)))
        if given["centre"] == "mean":
            check(f"their mean is 1: {label}", mean(weight) == 1)
        else:
            slower = sum(w < 1 for w in weight)
            check(f"one of them is 1, and not more than half are on either side: {label}",
                  1 in weight and max(slower, sum(w > 1 for w in weight)) <= len(weight) / 2 and sum(w > 1 for w in weight) <= slower)
    # the constants of ten steps of a schedule of 20 with shift 3, as a trainer has them
    level = [Fraction(3 * k, 20) / (1 + Fraction(2 * k, 20)) for k in range(20, -1, -1)]
    rates = [exactly("flow_schedule", kind="flash_sde", level=s0, next_level=s1, sigma_max=level[1], sigma_min=level[-1], eta=1)["rate"]
             for s0, s1 in zip(level, level[1:11])]
    printed = (7.4770, 7.0414, 6.6112, 6.1867, 5.7682, 5.3559, 4.9502, 4.5513, 4.1596, 3.7754)
    check("a trainer's table, which is good to a thousandth",
          all(math.isclose(float(x.value), y, rel_tol=1e-3) for x, y in zip(rates, printed)))
