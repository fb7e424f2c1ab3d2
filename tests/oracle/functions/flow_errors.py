"""Losses without log-probabilities, from the prediction errors of a denoiser at given noise levels."""
from fractions import Fraction

import reals
from functions.arithmetic import Number, absolute, clamp, exp, less, real, sigmoid, summed
from functions.batches import each
from functions.comparing import every, exactly, near, values
from functions.domains import FRACTION, NOT_NEGATIVE, NUMBER, POSITIVE, many, optional
from functions.flow_steps import ELEMENTS, average, itself, squares, thrown_steps
from functions.registry import cases, checks, exact, function

HALF = Fraction(1, 2)


# ---- denoising_error

@function(error=many(NOT_NEGATIVE), dprediction=optional(many(NUMBER)))
def denoising_error(prediction: ELEMENTS, target: ELEMENTS, derror: many(NUMBER) = None):
    """The prediction error at one noise level; its negative is a score of the sample.

    Source: GDPO-SR 2603.16769, Diffusion-DPO 2311.12908, as their code has it
    Takes: `prediction` (n samples of D >= 1 elements), `target` (the same shape), `derror` (n; optional): dL/d error
    Gives: `error` (n): the mean over the elements of (prediction - target)^2; with `derror` `dprediction` (all elements, sample after
    sample): 2 derror (prediction - target)/D. Scale itself, the difference as one number
    """
    found = {"error": [itself(squares(x, y)) for x, y in zip(prediction, target)]}
    if derror is not None:
        slopes = [[2 * g * (x - y) / len(xs) for x, y in zip(xs, ys)] for xs, ys, g in zip(prediction, target, derror)]
        found["dprediction"] = [Number(x, abs(x)) for row in slopes for x in row]
    return found


@cases("denoising_error")
def denoising_error_cases(case):
    far = thrown_steps(11, (3, 1, 4), 2 ** -3)
    case("errors", "three samples of three, one and four elements: the mean squared error of each",
         prediction=far["mean"], target=far["sample"])
    case("backward", "derivatives by the errors of three samples: the gradient by the predictions",
         prediction=far["mean"], target=far["sample"], derror=[0.5, -2, 1])
    case("exact", "predictions equal their targets: error and gradient are 0",
         prediction=far["mean"], target=far["mean"], derror=[1, 1, 1])
    near_by = thrown_steps(12, (3, 2), 2 ** -17)
    case("near", "predictions 1e-5 from their targets: squares of the values would cancel",
         prediction=near_by["mean"], target=near_by["mean_old"], derror=[1, -1])


@checks("denoising_error")
def check_denoising_error(check):
    for label, given, _, found in every("denoising_error"):
        n = len(given["prediction"])
        steps = exactly("gaussian_steps", sample=given["target"], mean=given["prediction"], mean_old=given["target"], std=[1] * n)
        check(f"twice the divergence of steps of deviation 1: {label}",
              values(found["error"]) == [2 * x for x in values(steps["divergence_old"])])
        if "derror" in given:
            back = exactly("gaussian_steps_backward", sample=given["target"], mean=given["prediction"], mean_old=given["target"],
                           std=[1] * n, ddivergence_old=[2 * Fraction(x) for x in given["derror"]])["dmean"]
            check(f"and its slope: {label}", values(found["dprediction"]) == values(back))


# ---- denoising_preference

@function(loss=NOT_NEGATIVE, derror=many(NUMBER))
def denoising_preference(error: many(NUMBER, least=1), error_ref: many(NUMBER, least=1), weight: many(NUMBER, least=1), beta: POSITIVE):
    """A logistic loss of the weighted sum of error - error_ref: better than the reference for good samples, worse for bad ones.

    Source: GDPO-SR 2603.16769 (weights: the group's z-scores, `beta` 5000); Diffusion-DPO 2311.12908 of a pair: weights 1 and -1,
    `beta` 2000
    Takes: `error`, `error_ref`, `weight` (n >= 1 each), `beta` > 0
    Gives: x = (beta/2) sum of weight (error - error_ref). `loss`: -log sigmoid(-x) = log(1 + e^x); `derror` (n): (beta/2) weight
    sigmoid(x). With X the same sum of absolute values, a difference as one number: scales log(1 + e^x) + sigmoid(x) X; abs(derror) (1 +
    X)
    """
    x = summed([beta * HALF * w * (e - f) for w, e, f in zip(weight, error, error_ref)])
    top = max(x.value, Fraction(0))
    loss = real(top) + reals.log1p(exp(-abs(x.value)))
    share = sigmoid(x.value)
    slopes = [real(beta * HALF * w) * share for w in weight]
    return {"loss": Number(loss, loss + share * real(x.size)), "derror": [Number(g, abs(g) * (1 + real(x.size))) for g in slopes]}


@cases("denoising_preference")
def denoising_preference_cases(case):
    each(case,
         ("pair", "a chosen sample of weight 1 and a rejected one of weight -1",
          dict(error=[0.125, 0.25], error_ref=[0.1328125, 0.2421875], weight=[1, -1], beta=2000)),
         ("group", "a group of samples weighted by their z-scores",
          dict(error=[0.125, 0.25, 0.5, 0.0625], error_ref=[0.126953125, 0.25, 0.4990234375, 0.0625],
                                                   weight=[1.25, 0.25, -1.125, -0.375], beta=5000)),
         ("reference", "every error equals the reference's: the loss is log 2",
          dict(error=[0.5, 0.25], error_ref=[0.5, 0.25], weight=[1, -1], beta=5000)),
         ("better", "smaller error than the reference on the good sample, larger on the bad one: a small loss",
          dict(error=[0.125, 0.5], error_ref=[0.25, 0.25], weight=[1, -1],
                                                                          beta=16)),
         ("far-better", "the exponent is -1250: loss and gradient underflow to 0",
          dict(error=[0.125, 0.5], error_ref=[0.5, 0.375], weight=[1, -1], beta=5000)),
         ("far-worse", "the exponent is 1250: the loss is 1250, not infinite",
          dict(error=[0.5, 0.375], error_ref=[0.125, 0.5], weight=[1, -1], beta=5000)),
         ("one", "a single sample of negative weight with a larger error than the reference",
          dict(error=[0.75], error_ref=[0.5], weight=[-0.5], beta=1)),
         ("none", "equal rewards, so all weights are 0: the loss is log 2, the gradient 0",
          dict(error=[0.75, 0.25], error_ref=[0.5, 0.5], weight=[0, 0], beta=5000)))


@checks("denoising_preference")
def check_denoising_preference(check):
    h = Fraction(1, 10 ** 15)
    for label, given, _, found in every("denoising_preference"):
        given = {key: exact(x) for key, x in given.items()}
        loss = found["loss"].value

        def at(error):
            return exactly("denoising_preference", **{**given, "error": error})["loss"].value
        for i, e in enumerate(given["error"]):
            up, down = (at([x + way * h if i == j else x for j, x in enumerate(given["error"])]) for way in (1, -1))
            g = found["derror"][i].value
            check(f"the slope: {label}", abs((up - down) / (2 * real(h)) - g) <= real(Fraction(1, 10 ** 15)) * (1 + abs(g)))
        swapped = exactly("denoising_preference", **{**given, "weight": [-w for w in given["weight"]]})["loss"].value
        x = given["beta"] / 2 * sum(w * (e - f) for w, e, f in zip(given["weight"], given["error"], given["error_ref"]))
        check(f"with the preference turned it is less by the exponent: {label}", near(loss - swapped, x))
    half = exactly("denoising_preference", error=[1, 2], error_ref=[1, 2], weight=[1, -1], beta=3)
    check("the reference itself has log 2 and half the slope", near(half["loss"].value, reals.log(real(Fraction(2))))
          and near(half["derror"][0].value, Fraction(3, 4)) and near(half["derror"][1].value, -Fraction(3, 4)))


# ---- diffusion_nft

LEAST = Fraction(1, 10 ** 5)


def residue(z, clean, u, t):
    """z_t - t u - z_0: the error of the clean sample that velocity u predicts."""
    return [x - t * v - c for x, v, c in zip(z, u, clean)]


def residue_sizes(z, clean, u, t):
    return [abs(x - c) + t * v for x, v, c in zip(z, u, clean)]


def judged(z, clean, u, sizes, t):
    """[r_d], their mean squares over the mean of their absolute values, with the sizes; and that mean, which is not differentiated."""
    r, big = residue(z, clean, u, t), residue_sizes(z, clean, sizes, t)
    off = average(absolute(r))
    less(off, LEAST)
    w = max(off, LEAST)
    square = average([x * x for x in r])
    spread = average([2 * abs(x) * y for x, y in zip(r, big)]) + (square * average(big) / w if off > LEAST else 0)
    return r, big, w, Number(square / w, max(square, spread) / w)


def of_sample(v, old, ref, z, clean, t, r, most, beta, coef):
    """(loss, [dL/dv])"""
    up = [beta * x + (1 - beta) * o for x, o in zip(v, old)]
    down = [(1 + beta) * o - beta * x for x, o in zip(v, old)]
    up_size = [abs(beta * x) + abs((1 - beta) * o) for x, o in zip(v, old)]
    down_size = [(1 + beta) * abs(o) + abs(beta * x) for x, o in zip(v, old)]
    good, bad = judged(z, clean, up, up_size, t), judged(z, clean, down, down_size, t)
    kept = squares(v, ref) if ref is not None else Fraction(0)
    loss = Number(most / beta * (r * good[3].value + (1 - r) * bad[3].value) + coef * kept,
                  most / beta * (r * good[3].size + (1 - r) * bad[3].size) + coef * kept)
    D = len(v)
    slopes = []
    for d, x in enumerate(v):
        pull = [(-2 * t * most * r / (good[2] * D), good, d), (2 * t * most * (1 - r) / (bad[2] * D), bad, d)]
        back = 2 * coef * (x - ref[d]) / D if ref is not None else Fraction(0)
        slopes.append(Number(sum(c * part[0][d] for c, part, d in pull) + back,
                             sum(abs(c) * (part[1][d] + abs(part[0][d]) * average(part[1]) / part[2]) for c, part, d in pull) + abs(back)))
    return loss, slopes


@function(share=many(FRACTION), loss=many(NOT_NEGATIVE), dvelocity=many(NUMBER))
def diffusion_nft(velocity: ELEMENTS, velocity_old: ELEMENTS, noisy: ELEMENTS, clean: ELEMENTS, level: many(FRACTION),
                  advantage: many(NUMBER), advantage_max: POSITIVE, beta: POSITIVE, kl_coef: NOT_NEGATIVE, velocity_ref: ELEMENTS = None):
    """DiffusionNFT: for re-noised samples, the velocity is moved towards good and away from bad samples, relative to the old velocity.

    Source: DiffusionNFT 2509.16117, official code
    Takes: `velocity` v, `velocity_old`, `velocity_ref` (optional; with kl_coef > 0 needed), `noisy` z_t, `clean` z_0 (n samples of D >=
    1 elements), `level` t in [0, 1] (n), `advantage` A (n), `advantage_max` M > 0, `beta` > 0, `kl_coef` >= 0
    Gives: `share` (n): r = clip(clip(A, -M, M)/(2 M) + 1/2, 0, 1). With u = beta v + (1 - beta) velocity_old, e = z_t - t u - z_0, P =
    mean e^2/w, w = max(mean abs(e), 0.00001), a constant, and N the same of (1 + beta) velocity_old - beta v: `loss` (n): M (r P + (1 -
    r) N)/beta + kl_coef mean (v - velocity_ref)^2; `dvelocity` (all elements): its gradient by v, each sample by itself. Scales: of e,
    E: abs(z_t - z_0) + t times the sizes of the parts of u; of P: (2 mean abs(e) E + mean e^2 mean E/w)/w, at least P (the second part
    not where the constant binds); of a gradient's part: its factor times E + abs(e) mean E/w; the rest itself, differences of two
    arguments are one number
    """
    share, losses, slopes = [], [], []
    for k, v in enumerate(velocity):
        r = clamp(clamp(advantage[k], -advantage_max, advantage_max) / (2 * advantage_max) + HALF, Fraction(0), Fraction(1))
        ref = velocity_ref[k] if velocity_ref is not None else None
        loss, slope = of_sample(v, velocity_old[k], ref, noisy[k], clean[k], level[k], r, advantage_max, beta, kl_coef)
        share.append(Number(r, HALF + abs(r - HALF)))
        losses.append(loss)
        slopes += slope
    return {"share": share, "loss": losses, "dvelocity": slopes}


def noised(seed, lengths, far, level, advantage):
    """Random noised samples, and the velocities of three models; far: the size of their differences."""
    steps = thrown_steps(seed, lengths, far)
    return dict(velocity=steps["mean"], velocity_old=steps["mean_old"], velocity_ref=steps["mean_ref"], noisy=steps["sample"],
                clean=thrown_steps(seed + 1, lengths, far)["mean_old"], level=level, advantage=advantage)


@cases("diffusion_nft")
def diffusion_nft_cases(case):
    def nft(label, comment, batch, advantage_max=5, beta=1, kl_coef=2 ** -13, **other):
        case(label, comment, **{**batch, **other}, advantage_max=advantage_max, beta=beta, kl_coef=kl_coef)

    three = noised(21, (3, 2, 4), 2 ** -3, [0.5, 0.875, 0.25], [1.5, -0.75, 0])
    nft("mixed", "a good, a bad and a neutral sample: shares above, below and exactly one half", three)
    nft("small-beta", "beta 0.1: the mixture is mostly the old velocity", three, beta=0.1)
    nft("wide-beta", "beta 2.5: the mixture lies beyond the new velocity", three, beta=2.5)
    nft("free", "kl_coef 0 and no reference velocity", {key: x for key, x in three.items() if key != "velocity_ref"}, kl_coef=0)
    nft("beyond", "advantages at and beyond their bound: shares of exactly 1 and 0", three, advantage=[7, -6, 5])
    nft("narrow", "an advantage bound of 0.5, which two advantages exceed: shares of 1 and 0", three, advantage_max=0.5)
    nft("on-policy", "new and old velocity are equal: at a share of one half only the KL has a gradient",
        three, velocity=three["velocity_old"])
    nft("ends", "noise levels of 0 and 1", three, level=[0, 1, 0.5])
    nft("large", "advantage bound and beta of 2^490, velocities of 2^60: the bound times the errors overflows, the loss does not", three,
        advantage_max=2.0 ** 490, beta=2.0 ** 490, velocity=[[2.0 ** 60] * len(row) for row in three["velocity"]])
    hit = noised(23, (2,), 2 ** -3, [0.5], [1])
    hit["noisy"] = [[c + 0.5 * v for c, v in zip(hit["clean"][0], hit["velocity"][0])]]
    nft("hit", "the prediction for the good term is exact: its divisor is bounded from below by 1e-5", hit)


@checks("diffusion_nft")
def check_diffusion_nft(check):
    """The slope with both weights held, by central differences of what is then a parabola."""
    h = Fraction(1, 2 ** 10)
    for label, given, _, found in every("diffusion_nft"):
        given = {key: exact(x) for key, x in given.items()}
        M, beta, coef, slope_of = given["advantage_max"], given["beta"], given["kl_coef"], iter(found["dvelocity"])
        for k, v in enumerate(given["velocity"]):
            old, z, clean, t = (given[key][k] for key in ("velocity_old", "noisy", "clean", "level"))
            r = min(1, max(0, given["advantage"][k] / (2 * M) + HALF))
            ref = given["velocity_ref"][k] if "velocity_ref" in given else v

            def errors(x):
                ways = ([beta * a + (1 - beta) * o for a, o in zip(x, old)], [(1 + beta) * o - beta * a for a, o in zip(x, old)])
                return [[a - t * u - c for a, u, c in zip(z, way, clean)] for way in ways]
            held = [max(average(absolute(e)), LEAST) for e in errors(v)]

            def loss(x):
                P, N = (average([a * a for a in e]) / w for e, w in zip(errors(x), held))
                return M / beta * (r * P + (1 - r) * N) + coef * average([(a - b) ** 2 for a, b in zip(x, ref)])
            check(f"the loss: {label}", loss(v) == found["loss"][k].value and r == found["share"][k].value)
            for d in range(len(v)):
                up, down = ([x + way * h if d == j else x for j, x in enumerate(v)] for way in (1, -1))
                check(f"the slope: {label}", (loss(up) - loss(down)) / (2 * h) == next(slope_of).value)
    label, given, _, found = every("diffusion_nft")[6]
    check("at the old velocity both ways are one: a sample of r = 1/2 has no slope but the penalty's", label.endswith("on-policy") and all(
        x.value == 2 * exact(given["kl_coef"]) * (exact(v) - exact(f)) / 4
        for x, v, f in zip(found["dvelocity"][5:], given["velocity"][2], given["velocity_ref"][2])))
