"""Incompatible choices, and numbers that a choice does not allow. Those of the surrogate are in the decorators of its functions."""
from axes.choice import ABOVE_0, AT_LEAST_0, AT_LEAST_1, RULES, but, one_of, only, rule
from limits import bound


class Misfit(ValueError):
    """The objective is invalid."""


FRACTION = {**AT_LEAST_0, "maximum": 1}
POWER = {"minimum": -16, "maximum": 16}
OF_BATCH = ("batch_std", "batch_centred_std", "beta")

# ---- reward

rule("reward", "truncated", ("scale",), {"truncated_factor": FRACTION})
rule("reward", "overlong", ("soft", "linear"), {"overlong_max": ABOVE_0, "overlong_cache": ABOVE_0}, computed=True)
rule("reward", "length", ("cosine",), {"length_max": ABOVE_0})

# ---- advantage

def whitened_once(o):
    """The mean of `token_whiten` takes the place of the batch's, if it is of the same items."""
    a = o["advantage"]
    return a["scale"] != "token_whiten" or a["credit"] == "outcome" and a["reweight"] not in ("difficulty", "length_power", "focal")


NONE = only("none")
PLAIN_ITEMS = {"transform": NONE, "reweight": NONE, "batch_norm": NONE}
SMALL_POOLS = {**PLAIN_ITEMS, "baseline": one_of("none", "group_mean", "leave_one_out"), "scale": one_of("none", "group_std", "constant")}
TWICE = {"baseline": but("batch_mean"), "reweight": NONE,
         "scale": one_of("none", "group_std", "group_mean", "leave_one_out_std", "residual_rms", "kalman_std", "constant",
                         "mean_absolute_deviation")}

rule("advantage", "rewards", ("each",), {
    "transform": NONE, "reweight": NONE, "credit": only("outcome"), "entropy": but("zero_variance"),
    "scale": one_of("none", "group_std", "group_mean", "leave_one_out_std", "constant"),
    "reward.truncated": only("keep"), "reward.length": NONE, "reward.overlong": NONE, "reward.map": NONE, "reward.kl": NONE})
rule("advantage", "batch_norm", ("items", "tokens", "mean_abs"), TWICE)
rule("advantage", "step_group", ("state", "index", "history"), SMALL_POOLS)
rule("advantage", "samples", ("steps",), {
    **SMALL_POOLS, "baseline": one_of("none", "group_mean"), "credit": one_of("outcome", "episode_step"), "rewards": only("one"),
    "excluded": NONE})
rule("advantage", "step_group", ("history",), {"history_length": AT_LEAST_1, "history_power": POWER})
rule("advantage", "step_discount", ("steps",), {"credit": only("step")})
rule("advantage", "credit", ("step_gae",), {"bootstrap": only("zero")})
rule("advantage", "excluded", ("zero", "anchor", "own"), {**SMALL_POOLS, "rewards": only("one"), "credit": only("outcome")})
rule("advantage", "credit", ("prefix_tree",), SMALL_POOLS)
rule("advantage", "credit", ("episode_step",), {**PLAIN_ITEMS, "baseline": but("batch_mean"), "scale": {"not": one_of(*OF_BATCH)}})
rule("advantage", "credit", ("entropy_share",), {
    **PLAIN_ITEMS, "baseline": NONE, "baseline_shift": only(0), "scale": NONE, "entropy_share_eps": ABOVE_0})
rule("advantage", "truncated_tail", AT_LEAST_1, {"credit": one_of("return", "gae", "step_gae")})
rule("advantage", "reweight", ("exponential",), {"reweight_temperature": but(0)})
rule("advantage", "reweight", ("focal",), {"focal_gamma": AT_LEAST_0},
     lambda o: bound(o["advantage"]["focal_reward_high"]) > bound(o["advantage"]["focal_reward_low"]),
     {"anyOf": [{"required": ["focal_reward_high"]}, {"required": ["focal_reward_low"]}]})
rule("advantage", "reweight", ("length_power",), {"length_power": POWER,
     "credit": one_of("outcome", "return", "gae", "entropy_share", "prefix_tree")})
rule("advantage", "transform", ("pass_at_k", "pkpo_maxrl", "pkpo_max", "pkpo_gain", "pkpo_loo"), {"pass_k": AT_LEAST_1})
rule("advantage", "scale", ("kalman_std",), {"baseline": only("kalman")})
rule("advantage", "scale", ("beta",), {"transform": NONE})
rule("advantage", "baseline", ("batch_mean",), also=whitened_once)
rule("advantage", "scale", ("constant",), {"scale_divisor": ABOVE_0})
rule("advantage", "entropy", ("bonus",), {"entropy_kappa": ABOVE_0})
rule("advantage", "entropy", ("zero_variance",), {"credit": only("outcome")})
rule("advantage", "baseline", ("quantile", "quantile_linear"), {"quantile": FRACTION})
rule("advantage", "baseline", ("log_mean_exp",), {"temperature": ABOVE_0})
rule("advantage", "baseline", ("hdi_median",), {"hdi_mass": {**ABOVE_0, "maximum": 1}})
rule("advantage", "baseline", ("kalman",), {"process_noise": AT_LEAST_0, "observation_noise": ABOVE_0})

# ---- ratio, penalty, weight

rule("ratio", "interpolate", ("arithmetic", "geometric"), {"level": but("token")}, computed=True)
rule("ratio", "level", ("sequence_power_mean",), {"power": {**ABOVE_0, "maximum": 16}})
rule("penalty", "kl", ("external",), {
    "kl_reference": only("ref"), "kl_gradient": only("exact"), "kl_importance_weight": NONE, "kl_importance_weight_max": only(0),
    "kl_clamp_log": only(0), "kl_clamp_value": only(0), "kl_clamp_on": only("estimate")})
rule("penalty", "nll_gate", ("sequence", "segment"), {"nll_form": only("displacement")})
rule("penalty", "preference", ("pairwise", "pairwise_else_pointwise"), {"preference_kappa": AT_LEAST_0})


def drift_is_a_band(o):
    low, high = bound(o["weight"]["policy_is_low"]), bound(o["weight"]["policy_is_high"])
    return low <= high and high > 0


rule("weight", "policy_is", ("token", "sequence_sum", "sequence_mean"), {"policy_is_low": AT_LEAST_0}, drift_is_a_band)


def check(objective, axes):
    for r in RULES:
        if r.axis in axes and not r.computed and r.applies(objective) and not r.holds(objective):
            raise Misfit(f"{r.axis}.{r.field} = {objective[r.axis][r.field]} does not go with the rest of the objective")


def check_loss(objective):
    check(objective, ("ratio", "surrogate", "penalty", "weight", "aggregation"))


def check_advantage(advantage, reward):
    check({"advantage": advantage, "reward": reward}, ("reward", "advantage"))
