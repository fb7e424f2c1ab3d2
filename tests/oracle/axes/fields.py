"""The fields of an objective by axis, in order: the choices of each, the first being the default, or the domain of a number. The default of
a number is 0 unless the domain has another. Domains are written as in vectors/schema.json."""
from axes import (advantage, aggregation, baseline, excluded, factors, group, off_policy, own_divisor, penalty, ratio, reward, reweight,
                  steps, surrogate, token_level, transform, weight)
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
        "map": (*reward.MAP,), "map_bias": NUMBER, "map_factor": NUMBER, "map_low": BOUND, "map_high": BOUND,
        "kl": ("none", *penalty.ESTIMATED), "kl_coef": NUMBER,
    },
    "advantage": {
        "rewards": ("one", "each"), "transform": ("none", *transform.TRANSFORM), "pass_k": COUNT, "baseline": (*baseline.BASELINE,),
        "quantile": FRACTION, "temperature": NOT_NEGATIVE, "hdi_mass": FRACTION, "process_noise": NOT_NEGATIVE,
        "observation_noise": NOT_NEGATIVE, "baseline_shift": NUMBER, "scale": (*advantage.SCALE,), "std": ("sample", "population"),
        "samples": (*steps.SAMPLES,), "eps": NOT_NEGATIVE, "scale_divisor": NOT_NEGATIVE, "eps_place": (*advantage.EPS_PLACE,),
        "singleton": ("zero", "raw"), "reweight": (*reweight.REWEIGHT,), "difficulty_weight_low": NUMBER,
        "difficulty_weight_high": NUMBER, "focal_reward_low": NUMBER, "focal_reward_high": NUMBER, "difficulty_slope": NUMBER,
        "difficulty_midpoint": NUMBER, "length_power": NUMBER, "reweight_temperature": NUMBER,
        "focal_gamma": NOT_NEGATIVE, "batch_norm": ("none", "items", *advantage.OVER_TOKENS), "batch_norm_eps": NOT_NEGATIVE,
        "credit": (*advantage.CREDIT,),
        "gamma": FRACTION, "step_gamma": FRACTION, "lambda": FRACTION, "lambda_length": NOT_NEGATIVE, "step_discount": ("tokens", "steps"),
        "bootstrap": ("zero", "repeat"), "truncated_tail": COUNT, "step_value": (*steps.STEP_VALUE,), "step_group": (*steps.STEP_GROUP,),
        "history_length": COUNT, "history_power": NUMBER, "step_coef": NUMBER, "entropy_share_coef": NUMBER,
        "entropy_share_eps": NOT_NEGATIVE,
        "token_baseline": (*token_level.TOKEN_BASELINE,), "entropy": (*token_level.ENTROPY,), "entropy_coef": NUMBER,
        "entropy_kappa": NOT_NEGATIVE, "entropy_max": NOT_NEGATIVE, "teacher_coef": NUMBER, "teacher_gamma": FRACTION,
        "teacher_norm": ("none", "mean"),
        "teacher_share": FRACTION, "teacher_clip": {"allOf": [FRACTION, {"exclusiveMaximum": 1}]}, "kl_centred_coef": NUMBER,
        "marked": (*token_level.MARKED,), "marked_value": NUMBER, "clamp_low": BOUND, "clamp_high": BOUND,
        "excluded": ("none", *excluded.EXCLUDED), "excluded_coef": NUMBER,
    },
    "ratio": {
        "behaviour": (*ratio.AGAINST,), "clamp_low": BOUND, "clamp_high": BOUND, "level": (*ratio.UNIT, "sequence_power_mean"),
        "token_clip_low": NOT_NEGATIVE, "token_clip_high": NOT_NEGATIVE, "level_clamp_low": BOUND, "level_clamp_high": BOUND,
        "gradient": ("full", "token"), "interpolate": ("none", *ratio.MIX), "interpolate_token": NUMBER, "interpolate_level": NUMBER,
        "power": {"type": "number", "default": 1},
    },
    "surrogate": {
        "kind": (*surrogate.KIND, *group.KIND), "bounds": (*surrogate.BOUNDS,), "eps_low": NOT_NEGATIVE, "eps_high": NOT_NEGATIVE,
        "quadratic_eps": NOT_NEGATIVE,
        "bound_cap": CEILING, "clip_dual": NOT_NEGATIVE, "clip_dual_pos": NOT_NEGATIVE, "weight_min": NUMBER, "weight_max": BOUND,
        "tau_pos": NOT_NEGATIVE, "advantage_temperature": NOT_NEGATIVE, "tau_neg": NOT_NEGATIVE, "vespo_k_pos": NUMBER,
        "vespo_lambda_pos": NUMBER, "vespo_k_neg": NUMBER, "vespo_lambda_neg": NUMBER,
        "beta": NUMBER, "reward_beta": NUMBER, "gppo_beta_low": NOT_NEGATIVE, "gppo_beta_high": NOT_NEGATIVE, "min_gap": NOT_NEGATIVE,
        "group_score": (*group.SCORE,),
        "length_decay": NUMBER, "logit_shift": NUMBER, "hinge_margin": NUMBER, "weight_min_neg": NUMBER, "weight_max_neg": BOUND,
        "shaping_gamma": NOT_NEGATIVE,
        "log_low": NOT_NEGATIVE, "log_high": NOT_NEGATIVE, "log_clip_dual": NOT_NEGATIVE,
        "position_power": {"type": "number", "minimum": -16, "maximum": 16}, "group_score_eps": NOT_NEGATIVE,
        "contrast_temperature": NOT_NEGATIVE, "contrast_margin": NUMBER,
    },
    "penalty": {
        "kl": ("none", *penalty.KL), "kl_reference": (*penalty.AGAINST,), "kl_on": (*penalty.ON,), "kl_gradient": (*penalty.GRADIENT,),
        "kl_importance_weight": (*penalty.RATIO,), "kl_importance_weight_max": NOT_NEGATIVE, "kl_coef": NUMBER,
        "kl_clamp_log": NOT_NEGATIVE,
        "kl_clamp_value": NOT_NEGATIVE, "kl_clamp_on": (*penalty.CLAMP_ON,), "kl_aggregation": (*aggregation.OF_PENALTY,),
        "entropy_coef": NUMBER, "entropy_aggregation": (*aggregation.OF_PENALTY,), "nll_on": (*own_divisor.ON,), "nll_coef": NUMBER,
        "nll_weight": (*own_divisor.WEIGHT,), "nll_form": (*own_divisor.FORM,), "nll_teacher_slope": NUMBER,
        "nll_gate": (*own_divisor.GATE,),
        "preference": ("none", "pairwise", "pairwise_else_pointwise"), "preference_coef": NUMBER, "preference_min_gap": NOT_NEGATIVE,
        "preference_beta": NUMBER,
        "preference_score": (*own_divisor.SCORE,), "preference_kappa": NOT_NEGATIVE,
    },
    "weight": {
        "truncated": ("keep", "mask"), "rollout_is": (*weight.CORRECTION,), "rollout_is_low": NOT_NEGATIVE,
        "rollout_is_high": {"anyOf": [NOT_NEGATIVE, {"const": "Infinity"}]}, "rollout_is_level": (*weight.UNIT,),
        "rollout_clamp": NOT_NEGATIVE, "rollout_rejected": ("zero_weight", "unmask"), "rollout_rs": ("none", *weight.STATISTIC),
        "rollout_rs_level": (*weight.POOL,), "rollout_rs_low": BOUND, "rollout_rs_high": BOUND, "rollout_veto": NOT_NEGATIVE,
        "rollout_is_norm": (*factors.NORM,), "fipo": (*factors.FUTURE,), "fipo_half_life": NOT_NEGATIVE, "fipo_ratio_max": NOT_NEGATIVE,
        "fipo_low": NOT_NEGATIVE, "fipo_high": CEILING, "fipo_safe_ratio": NOT_NEGATIVE, "fipo_safe_low": NOT_NEGATIVE,
        "fipo_safe_high": CEILING, "external": (*factors.GIVEN,), "trust": (*weight.TRUST,), "trust_low": CEILING, "trust_high": CEILING,
        "rec_outer_low": NOT_NEGATIVE, "rec_outer_high": CEILING, "off_policy_mask": (*off_policy.OFF_POLICY,),
        "off_policy_mask_threshold": BOUND,
        "selected": (*weight.SELECTED,), "policy_is": ("none", *weight.DRIFT), "policy_is_low": NOT_NEGATIVE, "policy_is_high": CEILING,
    },
    "aggregation": {
        "kind": (*aggregation.KIND, *aggregation.BY_TOKEN), "constant": NOT_NEGATIVE, "power": NUMBER, "empty_sequences": ("keep", "drop"),
    },
}


# Written even if they have their defaults: they characterise an objective.
ALWAYS = {("advantage", "baseline"), ("advantage", "scale"), ("ratio", "level"), ("surrogate", "kind"), ("aggregation", "kind")}


def default(domain):
    return domain.get("default", 0) if isinstance(domain, dict) else domain[0]


def plain():
    """Everything off: the sum of -r l."""
    return {axis: {field: default(domain) for field, domain in fields.items()} for axis, fields in FIELDS.items()}


for rule in RULES:
    for axis, field in ((rule.axis, rule.field), *rule.beside):
        if field not in FIELDS[axis]:
            raise KeyError((axis, field))
