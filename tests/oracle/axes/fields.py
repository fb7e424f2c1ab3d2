"""The fields of an objective by axis, in order: the choices of each, the first being the default, or the domain of a number, whose default
is 0 unless it is said. Domains are those of vectors/schema.json."""
from axes import (advantage, aggregation, baseline, factors, gain, group, off_policy, outside, own, penalty, ratio, reward, steps, surrogate,
                  token_level, transform, weight)
from axes.choice import RULES

NUMBER = {"type": "number"}
COUNT = {"$ref": "#/$defs/count"}
FRACTION = {"$ref": "#/$defs/fraction"}
NOT_NEGATIVE = {"$ref": "#/$defs/not_negative"}
BOUND = {"$ref": "#/$defs/bound"}
CEILING = {"$ref": "#/$defs/ceiling"}

FIELDS = {
    "reward": {
        "truncated": (*reward.TRUNCATED,), "truncated_factor": FRACTION, "length": (*reward.LENGTH,), "length_coef": NUMBER,
        "length_max": NOT_NEGATIVE, "correct_low": NUMBER, "correct_high": NUMBER, "wrong_low": NUMBER, "wrong_high": NUMBER,
        "overlong": (*reward.OVERLONG,), "overlong_max": NOT_NEGATIVE, "overlong_cache": NOT_NEGATIVE, "overlong_factor": NUMBER,
        "map": (*reward.MAP,), "map_bias": NUMBER, "map_factor": NUMBER, "map_low": BOUND, "map_high": BOUND, "kl": ("none", *reward.KL),
        "kl_coef": NUMBER,
    },
    "advantage": {
        "rewards": ("one", "each"), "transform": ("none", *transform.TRANSFORM), "pass_k": COUNT, "baseline": (*baseline.BASELINE,),
        "quantile": FRACTION, "temperature": NOT_NEGATIVE, "window": FRACTION, "process_noise": NOT_NEGATIVE,
        "observation_noise": NOT_NEGATIVE, "shift": NUMBER, "scale": (*advantage.SCALE,), "std": ("sample", "population"),
        "eps": NOT_NEGATIVE, "eps_place": (*advantage.EPS_PLACE,), "singleton": ("zero", "raw"), "gain": (*gain.GAIN,), "gain_low": NUMBER,
        "gain_high": NUMBER, "gain_slope": NUMBER, "gain_centre": NUMBER, "length_power": NUMBER, "gain_temperature": NUMBER,
        "gain_power": NOT_NEGATIVE, "second": ("none", "batch", "tokens"), "second_eps": NOT_NEGATIVE, "credit": (*advantage.CREDIT,),
        "gamma": NUMBER, "lambda": NUMBER, "lambda_length": NOT_NEGATIVE, "step_discount": ("tokens", "steps"),
        "bootstrap": ("zero", "repeat"), "truncated_tail": COUNT, "step_value": (*steps.STEP_VALUE,), "step_group": (*steps.STEP_GROUP,),
        "history": COUNT, "history_power": NUMBER, "step_coef": NUMBER, "share_coef": NUMBER, "share_eps": NOT_NEGATIVE,
        "token_baseline": (*token_level.TOKEN_BASELINE,), "entropy": (*token_level.ENTROPY,), "entropy_coef": NUMBER,
        "entropy_cap": NOT_NEGATIVE, "teacher_coef": NUMBER, "teacher_gamma": NUMBER, "teacher_norm": ("none", "mean"),
        "teacher_share": FRACTION, "teacher_clip": {"allOf": [FRACTION, {"exclusiveMaximum": 1}]}, "kl_centred_coef": NUMBER,
        "marked": (*token_level.MARKED,), "marked_value": NUMBER, "advantage_low": BOUND, "advantage_high": BOUND,
        "outside": ("none", *outside.OUTSIDE), "outside_coef": NUMBER,
    },
    "ratio": {
        "against": (*ratio.AGAINST,), "clamp_low": BOUND, "clamp_high": BOUND, "unit": (*ratio.UNIT, "sequence_power_mean"),
        "pool_low": NOT_NEGATIVE, "pool_high": NOT_NEGATIVE, "unit_clamp_low": BOUND, "unit_clamp_high": BOUND,
        "gradient": ("unit", "token"), "mix": ("none", *ratio.MIX), "mix_token": NUMBER, "mix_unit": NUMBER,
        "power": {"type": "number", "default": 1},
    },
    "surrogate": {
        "kind": (*surrogate.KIND, *group.KIND), "bounds": (*surrogate.BOUNDS,), "eps_low": NOT_NEGATIVE, "eps_high": NOT_NEGATIVE,
        "bound_cap": CEILING, "dual": NOT_NEGATIVE, "dual_pos": NOT_NEGATIVE, "weight_min": BOUND, "weight_max": BOUND,
        "tau_pos": NOT_NEGATIVE, "tau_neg": NOT_NEGATIVE, "k_pos": NUMBER, "lambda_pos": NUMBER, "k_neg": NUMBER, "lambda_neg": NUMBER,
        "strength": NUMBER, "beta_low": NOT_NEGATIVE, "beta_high": NOT_NEGATIVE, "margin": NOT_NEGATIVE, "score": (*group.SCORE,),
        "length_rate": NUMBER, "shift": NUMBER, "weight_min_neg": BOUND, "weight_max_neg": BOUND, "shape": NOT_NEGATIVE,
        "log_low": NOT_NEGATIVE, "log_high": NOT_NEGATIVE, "log_dual": NOT_NEGATIVE,
        "position_power": {"type": "number", "minimum": -16, "maximum": 16}, "score_eps": NOT_NEGATIVE,
    },
    "penalty": {
        "kl": ("none", *penalty.KL), "kl_against": (*penalty.AGAINST,), "kl_on": (*penalty.ON,), "kl_gradient": (*penalty.GRADIENT,),
        "kl_ratio": (*penalty.RATIO,), "kl_ratio_max": NOT_NEGATIVE, "kl_coef": NUMBER, "kl_clamp_log": NOT_NEGATIVE,
        "kl_clamp_value": NOT_NEGATIVE, "entropy_coef": NUMBER, "likelihood_on": (*own.ON,), "likelihood_coef": NUMBER,
        "likelihood_weight": (*own.WEIGHT,), "likelihood_form": (*own.FORM,), "likelihood_gain": NUMBER, "likelihood_gate": (*own.GATE,),
        "pairs": ("none", "margin", "margin_else_sign"), "pair_coef": NUMBER, "pair_margin": NOT_NEGATIVE, "pair_beta": NUMBER,
        "pair_score": (*own.SCORE,), "pair_gain": NOT_NEGATIVE,
    },
    "weight": {
        "truncated": ("keep", "mask"), "correction": (*weight.CORRECTION,), "correction_low": NOT_NEGATIVE,
        "correction_high": {"anyOf": [NOT_NEGATIVE, {"const": "Infinity"}]}, "correction_unit": (*weight.UNIT,),
        "correction_clamp": NOT_NEGATIVE, "rejected": ("zero_weight", "unmask"), "reject": ("none", *weight.STATISTIC),
        "reject_unit": (*weight.POOL,), "reject_low": BOUND, "reject_high": BOUND, "veto": NOT_NEGATIVE,
        "correction_norm": (*factors.NORM,), "future": (*factors.FUTURE,), "future_half_life": NOT_NEGATIVE, "future_max": NOT_NEGATIVE,
        "future_low": NOT_NEGATIVE, "future_high": CEILING, "future_safe": NOT_NEGATIVE, "future_safe_low": NOT_NEGATIVE,
        "future_safe_high": CEILING, "given": (*factors.GIVEN,), "trust": (*weight.TRUST,), "trust_low": CEILING, "trust_high": CEILING,
        "ring_low": CEILING, "ring_high": CEILING, "off_policy": (*off_policy.OFF_POLICY,), "off_policy_max": BOUND,
        "selected": (*weight.SELECTED,), "drift": ("none", *weight.DRIFT), "drift_low": NOT_NEGATIVE, "drift_high": CEILING,
    },
    "aggregation": {
        "kind": (*aggregation.KIND, *aggregation.BY_TOKEN), "constant": NOT_NEGATIVE, "power": NUMBER, "empty": ("count", "skip"),
    },
}


# Written even where it is the default: readers look for them.
ALWAYS = {("advantage", "baseline"), ("advantage", "scale"), ("ratio", "unit"), ("surrogate", "kind"), ("aggregation", "kind")}


def default(domain):
    return domain.get("default", 0) if isinstance(domain, dict) else domain[0]


def plain():
    """Everything off: the sum of -r l."""
    return {axis: {field: default(domain) for field, domain in fields.items()} for axis, fields in FIELDS.items()}


for rule in RULES:
    for axis, field in ((rule.axis, rule.field), *rule.beside):
        if field not in FIELDS[axis]:
            raise KeyError((axis, field))
