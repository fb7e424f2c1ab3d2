"""The fields of an objective by axis, in order: the choices of each, the first being the default, or the domain of a number, whose default
is 0 unless it is said. Domains are those of vectors/schema.json."""
from axes import group, surrogate

NUMBER = {"type": "number"}
COUNT = {"$ref": "#/$defs/count"}
FRACTION = {"$ref": "#/$defs/fraction"}
NOT_NEGATIVE = {"$ref": "#/$defs/not_negative"}
BOUND = {"$ref": "#/$defs/bound"}
CEILING = {"$ref": "#/$defs/ceiling"}

FIELDS = {
    "reward": {
        "truncated": ("keep", "scale"), "truncated_factor": FRACTION, "length": ("none", "kimi", "cosine", "inverse"),
        "length_coef": NUMBER, "length_max": NOT_NEGATIVE, "correct_low": NUMBER, "correct_high": NUMBER, "wrong_low": NUMBER,
        "wrong_high": NUMBER, "overlong": ("none", "soft", "linear"), "overlong_max": NOT_NEGATIVE, "overlong_cache": NOT_NEGATIVE,
        "overlong_factor": NUMBER, "map": ("none", "affine"), "map_bias": NUMBER, "map_factor": NUMBER, "map_low": BOUND,
        "map_high": BOUND, "kl": ("none", "k1", "k2", "k3", "abs"), "kl_coef": NUMBER,
    },
    "advantage": {
        "rewards": ("one", "each"), "transform": ("none", "best_minus_second", "pass_at_k", "pkpo", "pkpo_max", "pkpo_gain"),
        "pass_k": COUNT,
        "baseline": ("none", "group_mean", "leave_one_out", "length_weighted", "given", "batch_mean", "quantile", "quantile_linear",
                     "log_mean_exp", "densest", "kalman"),
        "quantile": FRACTION, "temperature": NOT_NEGATIVE, "window": FRACTION, "process_noise": NOT_NEGATIVE, "observation_noise": NOT_NEGATIVE,
        "shift": NUMBER,
        "scale": ("none", "group_std", "batch_std", "batch_centred_std", "token_whiten", "group_mean", "leave_one_out_std",
                  "residual_rms", "kalman_std", "constant", "beta", "mean_deviation"),
        "std": ("sample", "population"), "eps": NOT_NEGATIVE, "eps_place": ("add", "inside", "floor", "floor_add"),
        "singleton": ("zero", "raw"),
        "gain": ("none", "valid_groups", "nonzero_rewards", "difficulty", "length_power", "exponential", "failure_power"),
        "gain_low": NUMBER, "gain_high": NUMBER, "gain_slope": NUMBER, "gain_centre": NUMBER, "length_power": NUMBER,
        "gain_temperature": NUMBER, "gain_power": NOT_NEGATIVE, "second": ("none", "batch", "tokens"), "second_eps": NOT_NEGATIVE,
        "credit": ("outcome", "return", "step", "gae", "step_own", "episode_step", "entropy_share", "prefix_tree", "step_gae"),
        "gamma": NUMBER, "lambda": NUMBER, "lambda_length": NOT_NEGATIVE, "step_discount": ("tokens", "steps"),
        "bootstrap": ("zero", "repeat"), "truncated_tail": COUNT, "step_value": ("reward", "return", "response"),
        "step_group": ("prompt", "state", "index", "history"), "history": COUNT, "history_power": NUMBER, "step_coef": NUMBER,
        "share_coef": NUMBER, "share_eps": NOT_NEGATIVE, "token_baseline": ("none", "optimal"),
        "entropy": ("none", "bonus", "zero_variance", "relative", "response"), "entropy_coef": NUMBER, "entropy_cap": NOT_NEGATIVE,
        "teacher_coef": NUMBER, "teacher_gamma": NUMBER, "teacher_norm": ("none", "mean"), "teacher_share": FRACTION,
        "teacher_clip": {"allOf": [FRACTION, {"exclusiveMaximum": 1}]}, "kl_centred_coef": NUMBER, "marked": ("none", "fixed", "boost"),
        "marked_value": NUMBER, "advantage_low": BOUND, "advantage_high": BOUND, "outside": ("none", "zero", "anchor", "own"),
        "outside_coef": NUMBER,
    },
    "ratio": {
        "against": ("old", "rollout", "ref", "current", "nothing"), "clamp_low": BOUND, "clamp_high": BOUND,
        "unit": ("token", "sequence_mean", "sequence_sum", "sequence_clipped_mean", "segment_mean", "segment_sum", "prefix_sum",
                 "prefix_mean", "sequence_mean_ratio", "sequence_power_mean"),
        "pool_low": NOT_NEGATIVE, "pool_high": NOT_NEGATIVE, "unit_clamp_low": BOUND,
        "unit_clamp_high": BOUND, "gradient": ("unit", "token"), "mix": ("none", "average", "weighted"), "mix_token": NUMBER,
        "mix_unit": NUMBER, "power": {"type": "number", "default": 1},
    },
    "surrogate": {
        "kind": (*surrogate.KIND, *group.KIND), "bounds": (*surrogate.BOUNDS,), "eps_low": NOT_NEGATIVE, "eps_high": NOT_NEGATIVE,
        "bound_cap": CEILING, "dual": NOT_NEGATIVE, "dual_pos": NOT_NEGATIVE, "weight_min": BOUND, "weight_max": BOUND, "tau_pos": NOT_NEGATIVE,
        "tau_neg": NOT_NEGATIVE, "k_pos": NUMBER, "lambda_pos": NUMBER, "k_neg": NUMBER, "lambda_neg": NUMBER, "strength": NUMBER,
        "beta_low": NOT_NEGATIVE, "beta_high": NOT_NEGATIVE, "margin": NOT_NEGATIVE, "score": ("log", "ratio"), "length_rate": NUMBER,
        "shift": NUMBER, "weight_min_neg": BOUND, "weight_max_neg": BOUND, "shape": NOT_NEGATIVE, "log_low": NOT_NEGATIVE,
        "log_high": NOT_NEGATIVE, "log_dual": NOT_NEGATIVE, "position_power": {"type": "number", "minimum": -16, "maximum": 16},
        "score_eps": NOT_NEGATIVE,
    },
    "penalty": {
        "kl": ("none", "k1", "k2", "k3", "abs"), "kl_against": ("ref", "old", "rollout", "teacher"), "kl_on": ("all", "selected"),
        "kl_gradient": ("own", "k2", "none"), "kl_ratio": ("none", "token", "unit", "score"), "kl_ratio_max": NOT_NEGATIVE,
        "kl_coef": NUMBER, "kl_clamp_log": NOT_NEGATIVE, "kl_clamp_value": NOT_NEGATIVE, "entropy_coef": NUMBER,
        "likelihood_on": ("none", "correct", "positive", "selected", "all", "not_negative"), "likelihood_coef": NUMBER,
        "likelihood_weight": ("none", "p", "p_not_p", "teacher_gate"), "likelihood_form": ("logp", "teacher_gap", "lost"),
        "likelihood_gain": NUMBER, "likelihood_gate": ("none", "sequence", "segment"), "pairs": ("none", "margin", "margin_else_sign"),
        "pair_coef": NUMBER, "pair_margin": NOT_NEGATIVE, "pair_beta": NUMBER, "pair_score": ("ref", "free"), "pair_gain": NOT_NEGATIVE,
    },
    "weight": {
        "truncated": ("keep", "mask"), "correction": ("none", "truncate", "mask", "reject"), "correction_low": NOT_NEGATIVE,
        "correction_high": {"anyOf": [NOT_NEGATIVE, {"const": "Infinity"}]},
        "correction_unit": ("token", "sequence_sum", "sequence_mean", "segment_sum", "segment_mean"), "correction_clamp": NOT_NEGATIVE,
        "rejected": ("zero_weight", "unmask"), "reject": ("none", "ratio", "k2", "k3", "probability", "exp_abs"),
        "reject_unit": ("token", "sequence_sum", "sequence_mean", "sequence_max", "segment_sum", "segment_mean", "segment_max"),
        "reject_low": BOUND, "reject_high": BOUND, "veto": NOT_NEGATIVE, "correction_norm": ("none", "mean"), "future": ("none", "decayed"),
        "future_half_life": NOT_NEGATIVE, "future_max": NOT_NEGATIVE, "future_low": NOT_NEGATIVE, "future_high": CEILING,
        "future_safe": NOT_NEGATIVE, "future_safe_low": NOT_NEGATIVE, "future_safe_high": CEILING, "given": ("none", "policy", "term"),
        "trust": ("none", "one_sided", "two_sided", "log_two_sided", "probability", "probability_both", "binary_kl", "k2", "ring"),
        "trust_low": CEILING, "trust_high": CEILING, "ring_low": CEILING, "ring_high": CEILING,
        "off_policy": ("none", "old", "rollout", "total_variation"), "off_policy_max": BOUND, "selected": ("all", "keep", "drop"),
        "drift": ("none", "token", "sequence_sum", "sequence_mean"), "drift_low": NOT_NEGATIVE, "drift_high": CEILING,
    },
    "aggregation": {
        "kind": ("token_sum", "token_mean", "seq_mean_token_mean", "seq_mean_token_sum", "seq_mean_constant", "constant",
                 "group_mean_token_mean", "seq_mean_length_power", "seq_sum_token_mean", "group_mean", "group_mean_seq_mean",
                 "token_mean_by_sign", "seq_mean_segment_mean", "seq_mean_by_sign", "token_mean_varied"),
        "constant": NOT_NEGATIVE, "power": NUMBER, "empty": ("count", "skip"),
    },
}


# Written even where it is the default: readers look for them.
ALWAYS = {("advantage", "baseline"), ("advantage", "scale"), ("ratio", "unit"), ("surrogate", "kind"), ("aggregation", "kind")}


def default(domain):
    return domain.get("default", 0) if isinstance(domain, dict) else domain[0]


def plain():
    """Everything off: the sum of -r l."""
    return {axis: {field: default(domain) for field, domain in fields.items()} for axis, fields in FIELDS.items()}
