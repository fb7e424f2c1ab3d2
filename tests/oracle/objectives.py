"""The preset rows: one published objective each, with every choice spelled out.

A row is written as its differences from `plain` (everything off, the sum of -r l). Where a paper writes a mean or a
standard deviation without saying more, the rows take the sample one without epsilon.
"""
import copy
import os

INF = "Infinity"
MINUS_INF = "-Infinity"


def plain():
    return {
        "reward": {"truncated": "keep", "truncated_factor": 0, "length": "none", "length_coef": 0, "length_max": 0,
                   "correct_low": 0, "correct_high": 0, "wrong_low": 0, "wrong_high": 0,
                   "overlong": "none", "overlong_max": 0, "overlong_cache": 0, "overlong_factor": 0,
                   "map": "none", "map_bias": 0, "map_factor": 0, "map_low": 0, "map_high": 0,
                   "kl": "none", "kl_coef": 0},
        "advantage": {"rewards": "one", "transform": "none", "pass_k": 0, "baseline": "none", "quantile": 0, "temperature": 0,
                      "window": 0, "process_noise": 0, "observation_noise": 0, "shift": 0,
                      "scale": "none", "std": "sample", "eps": 0, "eps_place": "add", "singleton": "zero",
                      "gain": "none", "gain_low": 0, "gain_high": 0, "gain_slope": 0, "gain_centre": 0, "length_power": 0,
                      "gain_temperature": 0, "gain_power": 0,
                      "second": "none", "second_eps": 0,
                      "credit": "outcome", "gamma": 0, "lambda": 0, "lambda_length": 0, "step_discount": "tokens",
                      "bootstrap": "zero", "truncated_tail": 0,
                      "step_value": "reward", "step_group": "prompt", "history": 0, "history_power": 0, "step_coef": 0,
                      "share_coef": 0, "share_eps": 0, "token_baseline": "none",
                      "entropy": "none", "entropy_coef": 0, "entropy_cap": 0, "teacher_coef": 0,
                      "teacher_gamma": 0, "teacher_norm": "none", "teacher_share": 0, "teacher_clip": 0,
                      "kl_centred_coef": 0, "marked": "none", "marked_value": 0,
                      "advantage_low": 0, "advantage_high": 0, "outside": "none", "outside_coef": 0},
        "ratio": {"against": "old", "clamp_low": 0, "clamp_high": 0, "unit": "token", "pool_low": 0, "pool_high": 0,
                  "unit_clamp_low": 0, "unit_clamp_high": 0, "gradient": "unit", "mix": "none", "mix_token": 0, "mix_unit": 0,
                  "power": 1},
        "surrogate": {"kind": "score", "bounds": "fixed", "eps_low": 0, "eps_high": 0, "bound_cap": 0, "dual": 0,
                      "dual_pos": 0, "weight_min": 0, "weight_max": 0, "tau_pos": 0, "tau_neg": 0, "k_pos": 0,
                      "lambda_pos": 0, "k_neg": 0, "lambda_neg": 0, "strength": 0, "beta_low": 0, "beta_high": 0, "margin": 0,
                      "score": "log", "length_rate": 0, "shift": 0, "weight_min_neg": 0, "weight_max_neg": 0, "shape": 0,
                      "log_low": 0, "log_high": 0, "log_dual": 0, "position_power": 0, "score_eps": 0},
        "penalty": {"kl": "none", "kl_against": "ref", "kl_on": "all", "kl_gradient": "own", "kl_ratio": "none",
                    "kl_ratio_max": 0, "kl_coef": 0, "kl_clamp_log": 0, "kl_clamp_value": 0, "entropy_coef": 0,
                    "likelihood_on": "none", "likelihood_coef": 0, "likelihood_weight": "none",
                    "likelihood_form": "logp", "likelihood_gain": 0, "likelihood_gate": "none",
                    "pairs": "none", "pair_coef": 0, "pair_margin": 0, "pair_beta": 0, "pair_score": "ref",
                    "pair_gain": 0},
        "weight": {"truncated": "keep", "correction": "none", "correction_low": 0, "correction_high": 0,
                   "correction_unit": "token", "correction_clamp": 0, "rejected": "zero_weight", "reject": "none",
                   "reject_unit": "token", "reject_low": 0, "reject_high": 0, "veto": 0, "correction_norm": "none",
                   "future": "none", "future_half_life": 0, "future_max": 0, "future_low": 0, "future_high": 0,
                   "future_safe": 0, "future_safe_low": 0, "future_safe_high": 0, "given": "none", "trust": "none",
                   "trust_low": 0, "trust_high": 0, "ring_low": 0, "ring_high": 0, "off_policy": "none",
                   "off_policy_max": 0, "selected": "all", "drift": "none", "drift_low": 0, "drift_high": 0},
        "aggregation": {"kind": "token_sum", "constant": 0, "power": 0, "empty": "count"},
    }


# Written even where it is the default: readers look for them.
ALWAYS = {("advantage", "baseline"), ("advantage", "scale"), ("ratio", "unit"), ("surrogate", "kind"), ("aggregation", "kind")}


def is_written(objective, axis, field):
    """Whatever its value? The one number whose default is not 0 is, where it is read: who fills in zeros is right as well."""
    return (axis, field) in ALWAYS or field == "power" and objective[axis].get("unit") == "sequence_power_mean"


def thinned(objective):
    """As the files have it: without the fields that have their defaults."""
    axes = {axis: {field: x for field, x in objective[axis].items() if x != default[field] or is_written(objective, axis, field)}
            for axis, default in plain().items()}
    return {axis: fields for axis, fields in axes.items() if fields}


def filled(thin):
    """The other way round."""
    return changed(plain(), **thin)


def changed(objective, **axes):
    """A copy with some fields of some axes replaced; a field that does not exist is an error."""
    result = copy.deepcopy(objective)
    for axis, fields in axes.items():
        for field, choice in fields.items():
            if field not in result[axis]:
                raise KeyError((axis, field))
            result[axis][field] = choice
    return result


# ---- the rows

def setting(text):
    path, value = text.split("=")
    return path.split("."), value if value[0].isalpha() or value == MINUS_INF else float(value) if "." in value or "e" in value else int(value)


def _rows():
    """rows.txt, a row a line: name | paper | equations | summary | its settings, beside plain() | scenarios=the set that it is evaluated on,
    of scenarios.SETS. {name: (paper, equations, summary, objective, set of scenarios)}"""
    rows = {}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "rows.txt"), encoding="ascii") as f:
        for line in f:
            name, paper, equations, summary, settings, *named = line.rstrip("\n").split(" | ")
            axes = {}
            for (axis, field), value in map(setting, settings.split()):
                axes.setdefault(axis, {})[field] = value
            scenarios = named[0].removeprefix("scenarios=") if named else "small"
            rows[name] = (paper, equations, summary, changed(plain(), **axes), scenarios)
    return rows


ROWS = _rows()


def objective(name):
    return copy.deepcopy(ROWS[name][3])
