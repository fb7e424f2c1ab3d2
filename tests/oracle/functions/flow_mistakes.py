"""Known mistakes of programs that compute a sampler's steps."""
import math

from attempt import narrow
from functions.mistakes import mistake, right


# ---- flow_schedule

def sde_only(f):
    def only(given):
        return None if given["kind"] == "cps" else f(given)
    only.__doc__ = f.__doc__
    return only


def length(given):
    return given["level"] - given["next_level"]


@mistake("flow_schedule")
@sde_only
def noise_per_unit_of_time(given):
    """The deviation is g: the factor sqrt(step length) is missing."""
    return {"std": right("flow_schedule", given)["std"] / math.sqrt(length(given))}


@mistake("flow_schedule")
@sde_only
def length_counted_twice(given):
    """The factor sqrt(step length) is applied twice."""
    return {"std": right("flow_schedule", given)["std"] * math.sqrt(length(given))}


@mistake("flow_schedule")
def level_below_1(given):
    """At the first level, 0.99 replaces 1 in the divisor, not the second level of the schedule."""
    return right("flow_schedule", given, sigma_max=0.99) if given["kind"] == "flow_sde" else None


@mistake("flow_schedule")
@sde_only
def drift_left_out(given):
    """Noise is added, but the mean is that of a step without noise."""
    return {"sample_factor": 1.0, "velocity_factor": -length(given)}


# ---- balance_steps

@mistake("balance_steps")
def upper_median(given):
    """The median of an even number of reciprocals is the upper one, or the mean of both."""
    order = sorted(given["rate"])
    return {"weight": [x / order[(len(order) - 1) // 2] for x in given["rate"]]} if given["centre"] == "median" else None


@mistake("balance_steps")
def upside_down(given):
    """The weights are inverted: steps that move most have the largest weights."""
    return right("balance_steps", given, rate=[1 / x for x in given["rate"]])


# ---- gaussian_steps

def lengths(given):
    return [len(row) for row in given["sample"]]


@mistake("gaussian_steps")
def summed_over_elements(given):
    """The sum over the elements in place of the mean: ratios are those of densities, far from 1."""
    return {key: [x * n for x, n in zip(xs, lengths(given))] for key, xs in right("gaussian_steps", given).items()}


@mistake("gaussian_steps")
def sample_in_bfloat16(given):
    """The trajectory is stored in bfloat16: the numbers are those of the rounded sample (verl-omni before #93, and #81 in review;
    Flow-Factory before #61)."""
    return right("gaussian_steps", given, sample=[[narrow("bf16", float(x)) for x in row] for row in given["sample"]])


@mistake("gaussian_steps")
def of_the_step_not_of_time(given):
    """The divergence from the reference uses the step's deviation although `kl_std` is given."""
    return right("gaussian_steps", {key: x for key, x in given.items() if key != "kl_std"})


@mistake("gaussian_steps")
def without_half(given):
    """Divergences lack the 1/2."""
    return {key: [2 * x for x in xs] for key, xs in right("gaussian_steps", given).items() if key.startswith("divergence")}


@mistake("gaussian_steps")
def bias_left_in(given):
    """The regulated log-ratio is the plain one times the deviation: its mean stays below 0."""
    found = right("gaussian_steps", given)
    return {"regulated": [s * x for s, x in zip(given["std"], found["log_ratio"])]} if "log_ratio" in found else None


@mistake("gaussian_steps")
def bias_subtracted(given):
    """The bias is subtracted from the log-ratio once more."""
    found = right("gaussian_steps", given)
    return ({"regulated": [s * (x - m) for s, x, m in zip(given["std"], found["log_ratio"], found["divergence_old"])]}
            if "log_ratio" in found else None)


# ---- gaussian_steps_backward

@mistake("gaussian_steps_backward")
def bias_detached(given):
    """The bias of the regulated log-ratio is detached: the gradient is that of the plain log-ratio, times the deviation."""
    if "dregulated" not in given:
        return None
    plain = [g * s for g, s in zip(given["dregulated"], given["std"])]
    moved = [x + y for x, y in zip(plain, given.get("dlog_ratio", [0] * len(plain)))]
    return right("gaussian_steps_backward", {key: x for key, x in given.items() if key != "dregulated"}, dlog_ratio=moved)


@mistake("gaussian_steps_backward")
def not_divided_by_elements(given):
    """The gradient of a mean lacks the number of elements."""
    sizes = [n for n in lengths(given) for _ in range(n)]
    return {"dmean": [x * n for x, n in zip(right("gaussian_steps_backward", given)["dmean"], sizes)]}


@mistake("gaussian_steps_backward")
def pushed_away(given):
    """The gradient of the log-probability has the wrong sign: (mu - y)."""
    turned = {key: [-x for x in given[key]] for key in ("dlogp", "dlog_ratio") if key in given}
    return right("gaussian_steps_backward", given, **turned)


# ---- denoising_error, denoising_preference

@mistake("denoising_error")
def sum_of_squares(given):
    """The sum over the elements in place of the mean."""
    return {"error": [x * len(row) for x, row in zip(right("denoising_error", given)["error"], given["prediction"])]}


@mistake("denoising_preference")
def beta_not_halved(given):
    """The exponent has beta in place of beta/2."""
    return right("denoising_preference", given, beta=2 * given["beta"])


@mistake("denoising_preference")
def good_are_denoised_worse(given):
    """The exponent has the wrong sign: a small error is a high likelihood."""
    found = right("denoising_preference", given, weight=[-w for w in given["weight"]])
    return found


@mistake("denoising_preference")
def without_reference(given):
    """The errors of the reference are missing."""
    return right("denoising_preference", given, error_ref=[0] * len(given["error"]))


# ---- diffusion_nft

@mistake("diffusion_nft")
def share_not_clipped(given):
    """Advantages beyond the bound give shares below 0 and above 1."""
    return {"share": [a / (2 * given["advantage_max"]) + 0.5 for a in given["advantage"]]}


@mistake("diffusion_nft")
def without_factors(given):
    """The loss lacks the bound of the advantage and 1/beta."""
    kept = right("diffusion_nft", given, kl_coef=0)
    return {"loss": [x * given["beta"] / given["advantage_max"] for x in kept["loss"]]}


@mistake("diffusion_nft")
def bad_is_pulled(given):
    """The negative term uses the same side of the old velocity as the positive one: the velocity is pulled towards bad samples, with weight
    1 - r."""
    return right("diffusion_nft", given, advantage=[given["advantage_max"]] * len(given["advantage"]))
