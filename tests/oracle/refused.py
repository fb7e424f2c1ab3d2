"""Finds the faults for which an objective or a batch must be refused (../vectors/refuse.md).

From the domains and the rules of axes/, the arrays that an objective reads, and the shapes and domains of ../vectors/batch.md."""
import math

import scenarios
from axes import advantage, steps
from axes.allowed import RULES
from axes.choice import within
from axes.fields import FIELDS, default
from evaluate import Batch

SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
DOMAINS = {"count": {"minimum": 0}, "fraction": {"minimum": 0, "maximum": 1}, "not_negative": {"minimum": 0}, "bound": {},
           "ceiling": {"minimum": 0}}
INFINITE = ("bound", "ceiling")  # domains with infinities


class Fault:
    """fields: the name of the field at fault, or of two that are incompatible; reason: in words."""

    def __init__(self, reason, *fields):
        self.reason, self.fields = reason, fields


def number_of(x):
    return SPECIAL.get(x, x) if isinstance(x, str) else x


# ---- the objective

def domain_of(domain):
    """(conditions that a number must meet, may it be infinite?)"""
    if "anyOf" in domain:
        return {"minimum": 0}, any("const" in x for x in domain["anyOf"])
    if "allOf" in domain:
        return {word: y for part in domain["allOf"] for word, y in domain_of(part)[0].items()}, False
    name = domain.get("$ref", "").rsplit("/", 1)[-1]
    return DOMAINS.get(name, {word: x for word, x in domain.items() if word not in ("type", "default")}), name in INFINITE


def unfit_number(name, x, domain):
    conditions, infinite = domain_of(domain)
    if math.isnan(number_of(x)):
        return Fault(f"{name} is NaN", name)
    if math.isinf(number_of(x)) and not infinite:
        return Fault(f"{name} is infinite", name)
    if domain.get("$ref", "").endswith("/count") and x != int(x):
        return Fault(f"{name} is no whole number", name)
    return None if within(x, conditions) else Fault(f"{name} is out of its domain", name)


def of_numbers(objective):
    for axis, fields in FIELDS.items():
        for field, domain in fields.items():
            if isinstance(domain, dict) and objective[axis][field] != default(domain):  # which every domain has
                yield unfit_number(f"{axis}.{field}", objective[axis][field], domain)


def of_rule(rule, objective):
    first = f"{rule.axis}.{rule.field}"
    for (axis, field), domain in rule.beside.items():
        x, other = objective[axis][field], f"{axis}.{field}"
        if within(x, domain):
            continue
        if isinstance(x, str) and x not in SPECIAL:
            return Fault(f"{first} does not go with {other}", first, other)
        return Fault(f"{other} is out of its domain", other, first)
    return Fault(f"{first} does not go with the rest", *[f"{rule.axis}.{field}" for field in FIELDS[rule.axis]])


# Conditions on numbers that the pages state and no rule of axes/ does, such as bounds in order and divisors that are not 0: (when the
# condition applies, the fields, the condition, its text).
def crossed(axis, low, high, where):
    return where, (f"{axis}.{low}", f"{axis}.{high}"), lambda x, y: x <= y, f"{axis}.{low} is above {axis}.{high}"


def divisor(axis, field, where):
    return where, (f"{axis}.{field}",), lambda x: x > 0, f"{axis}.{field} divides, and is not above 0"


def is_one_of(axis, field, *names):
    return lambda o: o[axis][field] in names


def is_not(axis, field, name):
    return lambda o: o[axis][field] != name


def clips_dual(o):
    s = o["surrogate"]
    return (s["kind"] == "dual_clip" and s["bounds"] != "position" or s["kind"] == "unbounded_positive"
            or s["kind"] == "gppo" and s["clip_dual"] != 0)


PAGES = [
    (is_one_of("reward", "overlong", "soft", "linear"), ("reward.overlong_cache", "reward.overlong_max"), lambda x, y: x <= y,
     "reward.overlong_cache is above reward.overlong_max"),
    (clips_dual, ("surrogate.clip_dual", "surrogate.eps_high"), lambda c, e: c > 1 + e,
     "surrogate.clip_dual does not exceed 1 + surrogate.eps_high"),
    divisor("aggregation", "constant", is_one_of("aggregation", "kind", "constant", "seq_mean_constant")),
    *[(is_one_of("surrogate", "kind", "aspo"), (name,), lambda x: x == 0 or x > 1, f"{name} is neither 0 nor above 1")
      for name in ("surrogate.clip_dual", "surrogate.clip_dual_pos")],
    divisor("surrogate", "tau_pos", is_one_of("surrogate", "kind", "sapo", "sapo_detached")),
    divisor("surrogate", "tau_neg", is_one_of("surrogate", "kind", "sapo", "sapo_detached")),
    divisor("weight", "fipo_half_life", is_not("weight", "fipo", "none")),
    crossed("weight", "fipo_low", "fipo_high", is_not("weight", "fipo", "none")),
    crossed("weight", "fipo_safe_low", "fipo_safe_high", is_not("weight", "fipo", "none")),
    crossed("reward", "map_low", "map_high", is_not("reward", "map", "none")),
    crossed("weight", "rollout_rs_low", "rollout_rs_high", is_not("weight", "rollout_rs", "none")),
    (is_one_of("weight", "rollout_rs", "ratio"), ("weight.rollout_rs_low",), lambda x: x >= 0, "weight.rollout_rs_low is negative"),
    crossed("ratio", "clamp_low", "clamp_high", lambda o: True),
    crossed("ratio", "level_clamp_low", "level_clamp_high", lambda o: True),
    crossed("advantage", "clamp_low", "clamp_high", lambda o: True),
    crossed("surrogate", "weight_min", "weight_max", is_one_of("surrogate", "kind", "cispo", "topr", "masked_weight", "dispo")),
    crossed("surrogate", "weight_min_neg", "weight_max_neg", is_one_of("surrogate", "kind", "dispo")),
    crossed("weight", "rollout_is_low", "rollout_is_high", is_one_of("weight", "rollout_is", "truncate", "mask", "reject")),
]


def of_pages(objective):
    for applies, fields, holds, reason in PAGES:
        numbers = [number_of(objective[axis][field]) for axis, field in (name.split(".") for name in fields)]
        if applies(objective) and not holds(*numbers):
            yield Fault(reason, *fields)


def of_objective(objective):
    yield from of_numbers(objective)
    yield from of_pages(objective)
    for rule in RULES:
        if rule.applies(objective) and not rule.holds(objective):
            yield of_rule(rule, objective)


# ---- the shapes

def of_groups(batch):
    expected = 0
    for i, g in enumerate(batch["group"]):
        if g != expected and not (i and g == expected - 1):
            yield Fault(f"batch.group[{i}] is neither its group nor the next", "batch.group")
            return
        expected = max(expected, g + 1)
    if len(batch["length"]) != len(batch["group"]):
        yield Fault("batch.length has another number of responses than batch.group", "batch.length", "batch.group")
    for i, n in enumerate(batch["length"]):
        if n < 0 or n != int(n):
            yield Fault(f"batch.length[{i}] is no number of tokens", "batch.length")


PER_GROUP = ("baseline", "log_partition")
PER_RESPONSE = ("reward", "rewards", "truncated", "excluded")


def of_shape(batch, key):
    """Faults in the number of rows of an array, or in their lengths."""
    name, rows, found = f"batch.{key}", len(batch["length"]), len(batch[key])
    wanted = batch["group"][-1] + 1 if key in PER_GROUP else len(batch["rewards"][0]) if key == "reward_weight" else rows
    if found != wanted:
        return Fault(f"{name} has {found} entries, not {wanted}", name)
    lengths = batch["length"] if key in scenarios.PER_TOKEN else [len(batch["rewards"][0])] * rows if key == "rewards" else []
    for i, n in enumerate(lengths):
        if len(batch[key][i]) != n:
            return Fault(f"{name}[{i}] has {len(batch[key][i])} entries, not {n}", name)
    return None


# ---- the elements of the arrays

def optional(objective):
    """Arrays that may be missing where they are read: they then exclude and truncate nothing, and all weights are 1."""
    asked = objective["weight"]["truncated"] == "mask" or objective["reward"]["truncated"] == "scale"
    return {"excluded", "reward_weight"} | (set() if asked else {"truncated"})


def finite(objective, given):
    """Log-probabilities that the advantages add to others: they may not be -inf."""
    a = objective["advantage"]
    if given:
        return set()
    teacher = {"logp_teacher", "logp_old"} if a["teacher_coef"] or a["teacher_share"] else set()
    return teacher | ({"logp_rollout", "logp_ref"} if a["kl_centred_coef"] else set())


MINUS_INFINITE = {"logp", "logp_old", "logp_ref", "logp_rollout", "logp_teacher"}
BETWEEN = {"eps_low": (0, 1), "eps_high": (0, math.inf), "external_weight": (0, math.inf),
           "divergence_ref": (0, math.inf), "divergence_old": (0, math.inf)}


def unfit(key, place, x, is_finite):
    x, (low, high) = number_of(x), BETWEEN.get(key, (-math.inf, math.inf))
    if math.isfinite(x) and low <= x <= high:
        return None
    name = f"batch.{key}" + "".join(f"[{k}]" for k in place)
    if math.isnan(x):
        return Fault(f"{name} is NaN", f"batch.{key}")
    if x == -math.inf and key in MINUS_INFINITE and not is_finite:
        return None
    return Fault(f"{name} is {'infinite' if math.isinf(x) else 'out of its domain'}", f"batch.{key}")


def numbers_of(batch, key):
    """(place, number) of the elements that are read; masked tokens are not."""
    for i, x in enumerate(batch[key]):
        if not isinstance(x, list):
            yield (i,), x
            continue
        for t, y in enumerate(x):
            masked = key in scenarios.PER_TOKEN and "mask" in batch and not batch["mask"][i][t]
            silent = key == "step_reward" and not batch["step_end"][i][t]
            if not masked and not silent and not isinstance(y, bool):
                yield (i, t), y


def of_dual(objective, batch):
    """With the token's own bounds the dual clip must be above the upper one."""
    s = objective["surrogate"]
    for (i, t), x in numbers_of(batch, "eps_high") if clips_dual(objective) and s["bounds"] == "external" else ():
        if not number_of(s["clip_dual"]) > 1 + number_of(x):
            yield Fault(f"surrogate.clip_dual does not exceed 1 + batch.eps_high[{i}][{t}]", "surrogate.clip_dual", "batch.eps_high")


def of_items(objective, batch):
    a = objective["advantage"]
    drawn = a["transform"] == "pass_at_k" or a["transform"].startswith("pkpo")
    if a["scale"] != "beta" and not drawn:
        return
    stepwise = a["credit"] in steps.CREDITS
    items = (steps.steps if stepwise else advantage.responses)(a, objective["reward"], Batch(batch))
    array = "batch.step_reward" if stepwise and a["step_value"] != "response" else "batch.reward"
    for item in items:
        if a["scale"] == "beta" and not 0 <= item.worth.value <= 1:
            yield Fault(f"{array}[{item.sequence.index}] is not in [0, 1]", array)
    for g in sorted(set(batch["group"])) if drawn else ():
        if sum(item.sequence.group == g for item in items) < a["pass_k"]:
            kind = "steps" if stepwise else "responses"
            yield Fault(f"group {g} has fewer than advantage.pass_k {kind}", "advantage.pass_k", "batch.group")


def of_rewards(objective, batch):
    """Conditions of single choices on rewards (vectors/objective/advantage.md, reward.md)."""
    infinite = False
    if objective["reward"]["kl"] != "none" and objective["reward"]["kl_coef"] != 0:
        old, ref = dict(numbers_of(batch, "logp_old")), dict(numbers_of(batch, "logp_ref"))
        for place in (p for p in old if (old[p] == "-Infinity") != (ref[p] == "-Infinity")):
            infinite, key = True, "logp_old" if old[place] == "-Infinity" else "logp_ref"
            yield Fault(f"reward.kl is infinite where batch.{key}[{place[0]}][{place[1]}] is", f"batch.{key}", "reward.kl")
    if not infinite:
        yield from of_items(objective, batch)


def shapes_of(batch, read, may_lack):
    for key in scenarios.ORDER:
        if key in read - may_lack and key not in batch:
            yield Fault(f"batch.{key} is missing", f"batch.{key}")
        if key in batch and key in read | {"mask"}:
            yield of_shape(batch, key)


def of_batch(objective, batch):
    read = scenarios.reads(objective, "advantage" in batch) | ({"advantage"} & set(batch))
    wrong = list(of_groups(batch)) or [f for f in shapes_of(batch, read, optional(objective)) if f]
    yield from wrong
    for key in scenarios.ORDER if not wrong else ():
        if key in batch and key in read - {"state", "token_id"}:
            is_finite = key in finite(objective, "advantage" in batch)
            yield from (unfit(key, place, x, is_finite) for place, x in numbers_of(batch, key) if not isinstance(x, bool))
            yield from of_dual(objective, batch) if key == "eps_high" else ()


def of_input(objective, batch):
    found = [f for f in of_objective(objective) if f] or [f for f in of_batch(objective, batch) if f]
    return found or ([] if "advantage" in batch else list(of_rewards(objective, batch)))


def faults(objective, batch):
    """All faults; objective: with every field."""
    found = {f.reason: f for f in of_input(objective, batch)}
    return list(found.values())
