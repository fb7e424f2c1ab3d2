"""Gaussian steps of a sampler as tokens: log-probabilities, log-ratios and divergences from the means, and the gradients."""
from fractions import Fraction

import reals
from functions.arithmetic import HALF, Number, real
from functions.comparing import every, exactly, near, rational, values
from functions.domains import NOT_NEGATIVE, NUMBER, POSITIVE, many, optional
from functions.registry import cases, checks, exact, function
from scenarios import Dice

ELEMENTS = many(many(NUMBER, least=1))
STEPS = many(NUMBER)


def average(xs):
    return sum(xs) / Fraction(len(xs))


def squares(x, y):
    """Mean squared difference of two arrays, each difference one number."""
    return average([(a - b) ** 2 for a, b in zip(x, y)])


# ---- gaussian_steps

def log_probability(y, mu, s):
    """Mean over elements of log N(y; mu, s^2): the root of the density of as high an order as there are elements."""
    near, width, circle = real(squares(y, mu) / (2 * s * s)), reals.log(real(s)), reals.log(2 * reals.pi()) / 2
    return Number(-near - width - circle, near + abs(width) + circle)


def difference(y, mu, old, s):
    """(q_old - q)/(2 s^2): the difference of two squares is a product."""
    parts = [(m - o, y - m, y - o) for y, m, o in zip(y, mu, old)]
    return Number(average([d * (near + far) for d, near, far in parts]) / (2 * s * s),
                  average([abs(d) * (abs(near) + abs(far)) for d, near, far in parts]) / (2 * s * s))


def itself(x):
    return Number(x, x)


def regulated(y, mu, old, s):
    # GRPO-Guard (2510.22319) eq. 8: s (x - o) + m/(2 s), the mean of noise times drift, which is 0 in expectation
    x, m = difference(y, mu, old, s), squares(mu, old)
    return Number(s * x.value + m / (2 * s), s * x.size + m / (2 * s))


@function(logp=many(NUMBER), log_ratio=optional(many(NUMBER)), regulated=optional(many(NUMBER)),
          divergence_old=optional(many(NOT_NEGATIVE)), divergence_ref=optional(many(NOT_NEGATIVE)))
def gaussian_steps(sample: ELEMENTS, mean: ELEMENTS, std: many(POSITIVE), mean_old: ELEMENTS = None, mean_ref: ELEMENTS = None,
                   kl_std: many(POSITIVE) = None):
    """A chain of denoising steps as a response, a step as a token: the arrays that an objective reads.

    Source: Flow-GRPO 2505.05470, GRPO-Guard 2510.22319 eq. 8, Flow-DPPO 2606.11025
    Takes: `sample` y and `mean` mu (n steps, each of D >= 1 elements), `mean_old`, `mean_ref` (the same shape; optional), `std` s > 0
    (n), `kl_std` c > 0 (n; optional: `std`)
    Gives: n numbers each, means over the elements, whatever their number: `logp`: of -(y - mu)^2/(2 s^2) - log s - log(2 pi)/2. With
    `mean_old` `log_ratio`: of ((y - mean_old)^2 - (y - mu)^2)/(2 s^2), `divergence_old`: of (mu - mean_old)^2/(2 s^2), `regulated`: s
    (log_ratio + divergence_old). With `mean_ref` `divergence_ref`: of (mu - mean_ref)^2/(2 c^2). Scales: with plus for minus; of
    `log_ratio` the mean of abs(mu - mean_old) (abs(y - mu) + abs(y - mean_old))/(2 s^2); differences of two arguments are one number

    `log_ratio`, or `regulated`, goes into the objective as `logp` beside a `logp_old` of zeros: in binary32 the difference of two
    `logp` has lost a log-ratio of 1e-6.
    """
    found = {"logp": [log_probability(*x) for x in zip(sample, mean, std)]}
    if mean_old is not None:
        found["log_ratio"] = [difference(*x) for x in zip(sample, mean, mean_old, std)]
        found["regulated"] = [regulated(*x) for x in zip(sample, mean, mean_old, std)]
        found["divergence_old"] = [itself(squares(m, o) / (2 * s * s)) for m, o, s in zip(mean, mean_old, std)]
    if mean_ref is not None:
        found["divergence_ref"] = [itself(squares(m, f) / (2 * c * c)) for m, f, c in zip(mean, mean_ref, kl_std or std)]
    return found


WORKED = dict(sample=[[0.5, -0.25]], mean=[[0.125, -0.1875]], mean_old=[[0, 0]], mean_ref=[[0.25, -0.1875]], std=[0.5])
CHAIN = dict(sample=[[0.5, -0.25, 1], [0.375], [-1, 2], [0.25, 0.25]], mean=[[0.125, -0.1875, 0.75], [0.5], [-0.5, 1.5], [0.25, 0.5]],
             mean_old=[[0, 0, 0.5], [0.25], [-0.75, 1.75], [0.25, 0.5]], mean_ref=[[0.25, -0.1875, 1], [0], [-0.5, 1], [0.25, 0.5]],
             std=[0.5, 0.25, 2, 0.125])


def thrown_steps(seed, lengths, far):
    """A chain of random steps, every element a binary32; far: how much the means move."""
    dice = Dice(seed)
    mean_old = [[dice.fraction(-1, 1, 8) for _ in range(n)] for n in lengths]
    move = lambda rows, size: [[x + size * dice.fraction(-1, 1, 8) for x in row] for row in rows]
    std = [dice.fraction(0.125, 1, 16) for _ in lengths]
    sample = [[x + s * dice.fraction(-2, 2, 64) for x in row] for row, s in zip(mean_old, std)]
    return dict(sample=sample, mean=move(mean_old, far), mean_old=mean_old, mean_ref=move(mean_old, 2 * far), std=std)


@cases("gaussian_steps")
def gaussian_steps_cases(case):
    case("worked", "one step of two elements, with an old and a reference policy", **WORKED)
    case("chain", "steps of one, two and three elements; the means of the last step have not moved", **CHAIN)
    case("kl-std", "the divergence from the reference is over its own standard deviation, `kl_std`",
         **{**CHAIN, "kl_std": [1, 0.7, 0.5, 0.25]})
    case("kl-std-many", "steps of 40 and of three elements; `kl_std` for the divergence from the reference",
         **thrown_steps(10, (40, 3), 2 ** -6), kl_std=[0.5, 2])
    case("alone", "neither old nor reference policy is given: log-probabilities only",
         sample=CHAIN["sample"], mean=CHAIN["mean"], std=CHAIN["std"])
    case("reference", "no old policy is given: log-probabilities and the divergence from the reference",
         sample=CHAIN["sample"], mean=CHAIN["mean"], mean_ref=CHAIN["mean_ref"], std=CHAIN["std"])
    case("on-policy", "means equal the old policy's: log-ratios and divergences from it are 0",
         **{**CHAIN, "mean": CHAIN["mean_old"]})
    case("moved-little", "means 1e-5 from those of the other policies: differences of squares cancel",
         **thrown_steps(7, (4, 5), 2 ** -17))
    case("many", "a step of 40 elements", **thrown_steps(8, (40,), 2 ** -6))
    case("sure", "standard deviation of 1/1024: log-probabilities of -257700, log-ratios of hundreds",
         **{**thrown_steps(9, (3, 2), 2 ** -8), "std": [2 ** -10, 2 ** -10]})
    case("squared", "standard deviation of sqrt(1/2): the divergences are mean squared errors",
         **{**CHAIN, "std": [0.5 ** 0.5] * 4})


def noise(given, k):
    """(y - mean_old)/s, mean - mean_old, s"""
    given = {key: exact(x) for key, x in given.items()}
    s, old = given["std"][k], given["mean_old"][k]
    return [(y - o) / s for y, o in zip(given["sample"][k], old)], [m - o for m, o in zip(given["mean"][k], old)], s


@checks("gaussian_steps")
def check_gaussian_steps(check):
    for label, given, _, found in every("gaussian_steps"):
        if "mean_old" in given:
            old = exactly("gaussian_steps", sample=given["sample"], mean=given["mean_old"], std=given["std"])["logp"]
            for k, (x, o, ratio, guard, m) in enumerate(zip(*(values(a) for a in (
                    found["logp"], old, found["log_ratio"], found["regulated"], found["divergence_old"])))):
                check(f"the log-ratio is that of the log-probabilities: {label}", near(x - o, ratio))
                eps, drift, s = noise(given, k)
                check(f"it is noise times drift less the divergence: {label}",
                      ratio == sum(e * d for e, d in zip(eps, drift)) / len(eps) / s - m)
                check(f"the regulated one is noise times drift: {label}", guard == sum(e * d for e, d in zip(eps, drift)) / len(eps))
        one = exactly("gaussian_steps", **{**given, "kl_std": [1] * len(given["std"])})
        if "mean_ref" in given:
            c = given.get("kl_std", given["std"])
            check(f"a divergence over another deviation: {label}", all(x.value * Fraction(s) ** 2 == y.value for x, y, s in zip(
                found["divergence_ref"], one["divergence_ref"], c)))
    worked = exactly("gaussian_steps", sample=[[Fraction(1, 2), Fraction(-1, 4)]], mean=[[Fraction(1, 10), Fraction(-1, 5)]],
                     mean_old=[[0, 0]], std=[Fraction(1, 2)])
    check("the worked step", (worked["log_ratio"][0].value, worked["divergence_old"][0].value, worked["regulated"][0].value)
          == (Fraction(15, 100), Fraction(5, 100), Fraction(1, 10)))
    check("and its ratios", abs(reals.exp(real(worked["log_ratio"][0].value)) - 1.161834) < 1e-6
          and abs(reals.exp(real(worked["regulated"][0].value)) - 1.105171) < 1e-6)
    mirror = [[sign * Fraction(3, 8), sign * Fraction(1, 4)] for sign in (1, -1)]
    steps = exactly("gaussian_steps", sample=mirror, mean=[[Fraction(1, 8), Fraction(1, 4)]] * 2, mean_old=[[0, 0]] * 2, std=[HALF] * 2)
    check("over noise of either sign the regulated log-ratio is 0, the plain one minus the divergence",
          sum(values(steps["regulated"])) == 0 and sum(values(steps["log_ratio"])) == -2 * steps["divergence_old"][0].value)


# ---- gaussian_steps_backward

def slope(terms):
    return Number(sum(terms), sum(map(abs, terms)))


@function(dmean=many(NUMBER))
def gaussian_steps_backward(sample: ELEMENTS, mean: ELEMENTS, std: many(POSITIVE), mean_old: ELEMENTS = None, mean_ref: ELEMENTS = None,
                            kl_std: many(POSITIVE) = None, dlogp: STEPS = None, dlog_ratio: STEPS = None, dregulated: STEPS = None,
                            ddivergence_old: STEPS = None, ddivergence_ref: STEPS = None):
    """The gradient with respect to the means, from an objective's derivatives; times `velocity_factor` it is that of the velocity.

    Source: the derivatives of `gaussian_steps`; y, mean_old and mean_ref are constants
    Takes: what `gaussian_steps` takes, and dL/d of its answers: `dlogp`, `dlog_ratio`, `dregulated`, `ddivergence_old`,
    `ddivergence_ref` (n each; optional: 0)
    Gives: `dmean` (all elements, step after step): ((`dlogp` + `dlog_ratio`) (y - mu)/s^2 + `dregulated` (y - mean_old)/s +
    `ddivergence_old` (mu - mean_old)/s^2 + `ddivergence_ref` (mu - mean_ref)/c^2)/D; scale: the sum of the absolute values of the five
    """
    found = []
    for k, (ys, mus, s) in enumerate(zip(sample, mean, std)):
        g = [0 if x is None else x[k] / len(ys) for x in (dlogp, dlog_ratio, dregulated, ddivergence_old, ddivergence_ref)]
        c = (kl_std or std)[k]
        old, ref = (mus if x is None else x[k] for x in (mean_old, mean_ref))
        found += [slope([g[0] * (y - m) / s ** 2, g[1] * (y - m) / s ** 2, g[2] * (y - o) / s, g[3] * (m - o) / s ** 2,
                         g[4] * (m - f) / c ** 2]) for y, m, o, f in zip(ys, mus, old, ref)]
    return {"dmean": found}


GRADIENTS = dict(dlogp=[0.5, -1, 2, 0.25], dlog_ratio=[-0.25, 1, 0.125, 3], dregulated=[1, 0.5, -2, 0.75], ddivergence_old=[0.25, -4, 1, 8],
                 ddivergence_ref=[0.03125, 0.0625, 0, 0.015625])
NEEDS = {"dlogp": (), "dlog_ratio": ("mean_old",), "dregulated": ("mean_old",), "ddivergence_old": ("mean_old",),
         "ddivergence_ref": ("mean_ref",)}


@cases("gaussian_steps_backward")
def gaussian_steps_backward_cases(case):
    def back(label, comment, steps=CHAIN, **more):
        case(label, comment, **steps, **more)

    for name, needs in NEEDS.items():
        alone = {key: CHAIN[key] for key in ("sample", "mean", "std", *needs)}
        case(f"{name}-alone", "a derivative is given by only one of the five answers", **alone, **{name: GRADIENTS[name]})
    back("all", "derivatives by all five answers: their gradients add up", **GRADIENTS)
    back("all-kl-std", "derivatives by all five answers, with `kl_std` for the divergence from the reference",
         kl_std=[1, 0.7, 0.5, 0.25], **GRADIENTS)
    back("none", "no derivative is given: the gradient is 0")
    back("moved-little", "means 1e-5 from those of the other policies", thrown_steps(7, (4, 5), 2 ** -17), dregulated=[1, -0.5],
         ddivergence_ref=[0.5, 2])
    back("surest", "standard deviation of 2^-550, derivatives of 2^-140: gradients whose factor 1/s^2 overflows",
         dict(sample=[[0.5, 1]], mean=[[0.25, 2]], mean_old=[[0, 1.5]], mean_ref=[[1, 1]], std=[2.0 ** -550]), dlogp=[2.0 ** -140],
         ddivergence_ref=[2.0 ** -141])
    back("sure", "standard deviation of 1/1024: large gradients",
         {**thrown_steps(9, (3, 2), 2 ** -8), "std": [2 ** -10, 2 ** -10]}, dlog_ratio=[-1, 0.25])


@checks("gaussian_steps_backward")
def check_backward(check):
    """Against differences of the forward way, which is a parabola in every mean: central differences of it are exact."""
    step = Fraction(1, 2 ** 10)
    for label, given, _, found in every("gaussian_steps_backward"):
        slopes = {key: exact(x) for key, x in given.items() if key in NEEDS}
        forward = {key: exact(x) for key, x in given.items() if key not in NEEDS}

        def loss(mean):
            answers = exactly("gaussian_steps", **{**forward, "mean": mean})
            return sum(rational_of(n.value) * g for key, xs in slopes.items() for n, g in zip(answers[key[1:]], xs))
        slope_of = iter(found["dmean"])
        for k, row in enumerate(forward["mean"]):
            for d in range(len(row)):
                up, down = ([[x + way * step if (i, j) == (k, d) else x for j, x in enumerate(r)] for i, r in enumerate(forward["mean"])]
                            for way in (1, -1))
                check(f"the slope by an element: {label}", near((loss(up) - loss(down)) / (2 * step), next(slope_of).value))


def rational_of(x):
    return x if isinstance(x, Fraction) else rational(x)


@checks("gaussian_steps_backward")
def check_regulated_bias(check):
    """GRPO-Guard's bias is differentiated with the rest: without it the gradient would be that of the plain log-ratio, times s."""
    whole = exactly("gaussian_steps_backward", **{**CHAIN, "dregulated": [1] * 4})["dmean"]
    plain = exactly("gaussian_steps_backward", **{**CHAIN, "dlog_ratio": CHAIN["std"]})["dmean"]
    drift = exactly("gaussian_steps_backward", **{**CHAIN, "ddivergence_old": CHAIN["std"]})["dmean"]
    check("the gradient of the regulated log-ratio is that of both its parts", all(
        x.value == y.value + z.value for x, y, z in zip(whole, plain, drift)) and any(values(drift)))
