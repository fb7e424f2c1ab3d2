"""Choices that do not go together, and numbers that a choice cannot have."""
from limits import bound


class Misfit(ValueError):
    """An objective that is an error."""


PLAIN_REWARD = {"overlong": "none", "length": "none", "map": "none", "kl": "none"}
EACH_SCALES = ("none", "group_std", "group_mean", "leave_one_out_std", "constant")
SECOND_SCALES = ("none", "group_std", "group_mean", "leave_one_out_std", "residual_rms", "kalman_std", "constant", "mean_deviation")


def several_rewards(a, r):
    return (all(r[field] == plain for field, plain in PLAIN_REWARD.items()) and a["credit"] == "outcome"
            and a["transform"] == a["gain"] == "none" and a["scale"] in EACH_SCALES
            and a["entropy"] != "zero_variance")


def twice(a, r):
    return a["baseline"] != "batch_mean" and a["scale"] in SECOND_SCALES and a["gain"] == "none"


def plain_items(a, r):
    return a["transform"] == a["gain"] == a["second"] == "none"


def of_outcomes(a, r):
    return small_pools(a, r) and a["rewards"] == "one" and a["credit"] == "outcome"


def small_pools(a, r):
    return (plain_items(a, r) and a["baseline"] in ("none", "group_mean", "leave_one_out")
            and a["scale"] in ("none", "group_std", "constant"))


# (axis, field, choice, what must hold beside it)
RULES = (
    ("advantage", "rewards", "each", several_rewards),
    ("advantage", "second", "batch", twice),
    ("advantage", "second", "tokens", twice),
    ("advantage", "step_group", "state", small_pools),
    ("advantage", "step_group", "index", small_pools),
    ("advantage", "step_group", "history", lambda a, r: small_pools(a, r) and a["history"] >= 1),
    ("advantage", "step_discount", "steps", lambda a, r: a["credit"] == "step"),
    ("advantage", "credit", "step_gae", lambda a, r: a["bootstrap"] == "zero"),
    ("advantage", "outside", "zero", of_outcomes),
    ("advantage", "outside", "anchor", of_outcomes),
    ("advantage", "outside", "own", of_outcomes),
    ("advantage", "credit", "prefix_tree", small_pools),
    ("advantage", "credit", "episode_step", plain_items),
    ("advantage", "credit", "entropy_share", lambda a, r: plain_items(a, r) and a["baseline"] == a["scale"] == "none"
                                                          and a["share_eps"] > 0),
    ("advantage", "gain", "exponential", lambda a, r: a["gain_temperature"] != 0),
    ("advantage", "gain", "failure_power", lambda a, r: a["gain_high"] > a["gain_low"] and a["gain_power"] >= 0),
    ("advantage", "transform", "pkpo_max", lambda a, r: a["pass_k"] >= 1),
    ("advantage", "transform", "pkpo_gain", lambda a, r: a["pass_k"] >= 1),
    ("advantage", "scale", "kalman_std", lambda a, r: a["baseline"] == "kalman"),
    ("advantage", "scale", "constant", lambda a, r: a["eps"] > 0),
    ("advantage", "gain", "length_power", lambda a, r: a["credit"] in ("outcome", "return", "gae")),
    ("advantage", "entropy", "bonus", lambda a, r: a["credit"] == "outcome" and a["entropy_cap"] > 0),
    ("advantage", "entropy", "zero_variance", lambda a, r: a["credit"] == "outcome"),
    ("advantage", "transform", "pass_at_k", lambda a, r: a["pass_k"] >= 1),
    ("advantage", "transform", "pkpo", lambda a, r: a["pass_k"] >= 1),
    ("advantage", "baseline", "quantile", lambda a, r: 0 <= a["quantile"] <= 1),
    ("advantage", "baseline", "quantile_linear", lambda a, r: 0 <= a["quantile"] <= 1),
    ("advantage", "baseline", "log_mean_exp", lambda a, r: a["temperature"] > 0),
    ("advantage", "baseline", "densest", lambda a, r: 0 < a["window"] <= 1),
    ("advantage", "baseline", "kalman", lambda a, r: a["process_noise"] >= 0 and a["observation_noise"] > 0),
    ("reward", "truncated", "scale", lambda a, r: 0 <= r["truncated_factor"] <= 1),
    ("reward", "length", "cosine", lambda a, r: r["length_max"] > 0),
)


GROUP_KINDS = ("variance", "labels", "balance", "pairs", "contrast", "contrast_mean", "contrast_lse", "soft_pairs", "match", "match_js",
               "standardised", "target", "hinge", "regression")
OF_RESPONSE = ("sequence_mean", "sequence_sum", "sequence_clipped_mean", "sequence_mean_ratio", "sequence_power_mean")
CLIPS = ("ppo_clip", "dual_clip")


def of_response(o):
    return o["ratio"]["unit"] in OF_RESPONSE


def by_position(o):
    s = o["surrogate"]
    plain = s["eps_low"] == s["eps_high"] == s["dual"] == 0 and -16 <= s["position_power"] <= 16
    above = s["kind"] == "ppo_clip" or s["log_dual"] >= s["log_high"]
    return s["kind"] in CLIPS and plain and above and min(s["log_low"], s["log_high"], s["log_dual"]) >= 0


def by_token(o):
    s = o["surrogate"]
    return s["kind"] in CLIPS + ("gppo",) and s["eps_low"] == s["eps_high"] == 0 and o["ratio"]["unit"] == "token"


def of_whole_likelihoods(o):
    return o["ratio"]["against"] == "nothing" and o["ratio"]["unit"] in ("sequence_mean", "sequence_sum")


def tempered(*names):
    return lambda o: all(o["surrogate"][name] > 0 for name in names)


def drift_band(o):
    low, high = bound(o["weight"]["drift_low"]), bound(o["weight"]["drift_high"])
    return o["weight"]["drift"] == "none" or 0 <= low <= high and high > 0


# (axis, field, choices, what must hold of the whole objective)
LOSS_RULES = (
    ("surrogate", "kind", GROUP_KINDS, of_response),
    ("surrogate", "kind", ("labels",), tempered("tau_pos", "tau_neg")),
    ("surrogate", "kind", ("contrast", "soft_pairs", "match", "match_js", "target"), tempered("tau_pos")),
    ("surrogate", "kind", ("contrast_lse",), tempered("tau_neg")),
    ("surrogate", "kind", ("shaped",), tempered("shape")),
    ("surrogate", "bounds", ("position",), by_position),
    ("surrogate", "bounds", ("given",), by_token),
    ("penalty", "likelihood_gate", ("sequence", "segment"), lambda o: o["penalty"]["likelihood_form"] == "lost"),
    ("surrogate", "kind", ("pairs", "hinge"), lambda o: o["surrogate"]["margin"] >= 0),
    ("surrogate", "kind", ("target",), of_whole_likelihoods),
    ("surrogate", "kind", ("standardised", "regression"), lambda o: o["surrogate"]["score_eps"] >= 0),
    ("surrogate", "kind", ("quadratic",), lambda o: o["surrogate"]["eps_high"] > 0),
    ("ratio", "unit", ("sequence_power_mean",), lambda o: 0 < o["ratio"]["power"] <= 16),
    ("penalty", "pairs", ("margin", "margin_else_sign"), lambda o: o["penalty"]["pair_gain"] >= 0),
    ("weight", "drift", ("token", "sequence_sum", "sequence_mean"), drift_band),
)


def check_loss(objective):
    for axis, field, names, holds in LOSS_RULES:
        if objective[axis][field] in names and not holds(objective):
            raise Misfit(f"{axis}.{field} = {objective[axis][field]} does not go with the rest of the objective")


def check(advantage, reward):
    axes = {"advantage": advantage, "reward": reward}
    if advantage["truncated_tail"] and advantage["credit"] not in ("return", "gae", "step_gae"):
        raise Misfit("a tail goes with credits of tokens")
    for axis, field, choice, holds in RULES:
        if axes[axis][field] == choice and not holds(advantage, reward):
            raise Misfit(f"{axis}.{field} = {choice} does not go with the rest of the objective")
