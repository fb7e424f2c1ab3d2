"""Input checks of the NumPy and PyTorch ports, written from ../../vectors/refuse.md for the fields of protocol.FIELDS and OF_PORTS:
`check(case)` raises ValueError for invalid input."""
import math

SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
INFINITE = {"weight_max", "rollout_is_high", "clamp_low", "clamp_high", "level_clamp_low", "level_clamp_high", "trust_low",
            "trust_high"}
NOT_NEGATIVE = {"overlong_max", "overlong_cache", "eps", "eps_low", "eps_high", "clip_dual", "token_clip_low", "token_clip_high",
                "constant", "kl_clamp_log", "kl_clamp_value", "rollout_is_low", "rollout_clamp", "tau_pos", "tau_neg", "quadratic_eps",
                "contrast_temperature", "trust_low", "trust_high"}
PER_TOKEN = ("logp", "logp_old", "logp_ref", "logp_rollout", "value", "step_reward", "step_end", "mask", "advantage", "divergence_ref",
             "divergence_old")
FLAGS = ("mask", "step_end", "truncated")


def number(x):
    return SPECIAL.get(x, x) if isinstance(x, str) else x


def need(right, text):
    if not right:
        raise ValueError(text)


def check_numbers(o):
    for axis, fields in o.items():
        for field, x in fields.items():
            if isinstance(x, str) and x not in SPECIAL:
                continue
            need(not math.isnan(number(x)), f"{axis}.{field} is NaN")
            need(field in INFINITE or not math.isinf(number(x)), f"{axis}.{field} is infinite")
            need(field not in NOT_NEGATIVE or number(x) >= 0, f"{axis}.{field} is negative")


def check_ordered(axis, low, high):
    need(number(axis[low]) <= number(axis[high]), f"{low} is above {high}")


def check_of_ports(s, level):
    if s["kind"] == "quadratic_probability":
        need(s["quadratic_eps"] > 0 and level == "token", "quadratic_eps is not above 0, or ratio.level is not token")
    if s["kind"] == "contrastive":
        need(s["contrast_temperature"] > 0 and level.startswith("sequence"),
             "contrast_temperature is not above 0, or ratio.level is not that of a response")


def check_objective(o):
    check_numbers(o)
    r, s, w, a = o["reward"], o["surrogate"], o["weight"], o["aggregation"]
    if r["overlong"] != "none":
        check_ordered(r, "overlong_cache", "overlong_max")
    need(s["kind"] != "dual_clip" or s["clip_dual"] > 1 + s["eps_high"], "clip_dual does not exceed 1 + eps_high")
    if s["kind"] == "cispo":
        check_ordered(s, "weight_min", "weight_max")
    for tau in ("tau_pos", "tau_neg"):
        need(s["kind"] != "sapo" or s[tau] > 0, f"{tau} is not above 0")
    check_ordered(o["ratio"], "clamp_low", "clamp_high")
    check_ordered(o["ratio"], "level_clamp_low", "level_clamp_high")
    if w["rollout_is"] != "none":
        check_ordered(w, "rollout_is_low", "rollout_is_high")
    need("constant" not in a["kind"] or a["constant"] > 0, "constant is not above 0")
    check_of_ports(o["surrogate"], o["ratio"]["level"])
    p = o["penalty"]
    for field in ("kl_clamp_log", "kl_clamp_value", "kl_gradient", "kl_importance_weight"):
        need(p["kl"] != "external" or p[field] in (0, "exact", "none"), f"{field} must have its default for a KL that is given")


def check_groups(b):
    group, length = b["group"], b["length"]
    for i, g in enumerate(group):
        need(g == 0 if i == 0 else g in (group[i - 1], group[i - 1] + 1),
             f"group[{i}] is neither the group of the response before it nor the next one")
    need(len(length) == len(group), "length and group have different numbers of entries")
    need(all(n >= 0 and n == int(n) for n in length), "a length is negative or not an integer")


def read_by(o, b):
    """The arrays that the objective reads."""
    a, given = o["advantage"], "advantage" in b
    names = {"logp", "advantage"} if given else {"logp", "reward"}
    if not given and a["credit"] == "step":
        names |= {"step_reward", "step_end"}
    if not given and a["credit"] == "gae":
        names.add("value")
    if not given and a["baseline"] == "external":
        names.add("baseline")
    if not given and o["reward"]["kl"] != "none":
        names |= {"logp_old", "logp_ref"}
    trusts = o["weight"]["trust"] != "none"
    if o["surrogate"]["kind"] != "reinforce" or o["penalty"]["kl_importance_weight"] != "none" or trusts:
        names |= {"rollout": {"logp_rollout"}, "old": {"logp_old"}, "none": set()}[o["ratio"]["behaviour"]]
    if o["penalty"]["kl"] != "none":
        names.add("divergence_ref" if o["penalty"]["kl"] == "external" else "logp_ref")
    if o["weight"]["trust"] == "divergence":
        names.add("divergence_old")
    if o["weight"]["rollout_is"] != "none":
        names |= {"logp_old", "logp_rollout"}
    return names


def check_shape(b, name):
    rows = b["group"][-1] + 1 if name == "baseline" else len(b["length"])
    need(len(b[name]) == rows, f"{name} has {len(b[name])} entries, not {rows}")
    for i, n in enumerate(b["length"] if name in PER_TOKEN else ()):
        need(len(b[name][i]) == n, f"{name}[{i}] has {len(b[name][i])} entries, not {n}")


def check_value(name, x, where):
    need(not math.isnan(number(x)), f"{name}{where} is NaN")
    need(not math.isinf(number(x)) or (name.startswith("logp") and number(x) < 0), f"{name}{where} is infinite")
    need(not name.startswith("divergence") or number(x) >= 0, f"{name}{where} is negative")


def check_values(b, name):
    for i, x in enumerate(b[name]):
        if name not in PER_TOKEN:
            check_value(name, x, f"[{i}]")
            continue
        for t, y in enumerate(x):
            if ("mask" not in b or b["mask"][i][t]) and (name != "step_reward" or b["step_end"][i][t]):
                check_value(name, y, f"[{i}][{t}]")


def check_reward_kl(b):
    for i, row in enumerate(b["logp_old"]):
        for t, x in enumerate(row):
            counts = "mask" not in b or b["mask"][i][t]
            both_or_none = (x == "-Infinity") == (b["logp_ref"][i][t] == "-Infinity")
            need(not counts or both_or_none, f"the KL in the reward is infinite at [{i}][{t}]")


def check(case):
    """Raises ValueError if the case is invalid; the objective has every field."""
    o, b = case["objective"], case["batch"]
    check_objective(o)
    check_groups(b)
    names = read_by(o, b)
    for name in sorted(names | set(FLAGS)):
        need(name in b or name not in names, f"{name} is missing")
        if name in b:
            check_shape(b, name)
    for name in sorted(names - set(FLAGS)):
        check_values(b, name)
    if "advantage" not in b and o["reward"]["kl"] != "none":
        check_reward_kl(b)
