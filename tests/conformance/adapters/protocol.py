"""The protocol of ../PROTOCOL.md for adapters in Python: `serve` is the loop, and calls the adapter's function for each case.

    serve(name, release, {"f64": numpy.float64}, ["loss", "dlogp"], answer)

`answer(case, real)`, whose objective has every field, returns {"loss": ...}, nested lists of numbers with real infinities, or raises
Skip("why").
"""
import json
import math
import os
import sys

# Import this before anything that might print: from here on, other output to standard output goes to standard error.
ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


# The fields and choices that the adapters here support; the default of a field is its first choice, or 0. If something is added here,
# every adapter has to implement or skip it.
FIELDS = {
    "reward": {"overlong": "none soft linear", "overlong_max": 0, "overlong_cache": 0, "overlong_factor": 0, "kl": "none k1 k2 k3 abs",
               "kl_coef": 0},
    "advantage": {"baseline": "none group_mean leave_one_out length_weighted external",
                  "scale": "none group_std batch_std batch_centred_std token_whiten", "std": "sample population", "eps": 0,
                  "eps_place": "add inside floor floor_add", "singleton": "zero raw", "reweight": "none valid_groups nonzero_rewards",
                  "credit": "outcome return step gae", "gamma": 0, "lambda": 0},
    "ratio": {"behaviour": "old rollout", "clamp_low": 0, "clamp_high": 0,
              "level": "token sequence_mean sequence_sum sequence_clipped_mean", "token_clip_low": 0, "token_clip_high": 0,
              "level_clamp_low": 0,
              "level_clamp_high": 0, "gradient": "full token"},
    "surrogate": {"kind": "reinforce ratio ppo_clip dual_clip cispo sapo vespo", "eps_low": 0, "eps_high": 0, "clip_dual": 0,
                  "weight_min": 0,
                  "weight_max": 0, "tau_pos": 0, "tau_neg": 0, "vespo_k_pos": 0, "vespo_lambda_pos": 0, "vespo_k_neg": 0,
                  "vespo_lambda_neg": 0},
    "penalty": {"kl": "none k1 k2 k3 abs", "kl_gradient": "exact straight_through_k2", "kl_importance_weight": "none token level",
                "kl_coef": 0, "kl_clamp_log": 0,
                "kl_clamp_value": 0},
    "weight": {"truncated": "keep mask", "rollout_is": "none truncate mask reject", "rollout_is_low": 0, "rollout_is_high": 0,
               "rollout_is_level": "token sequence_sum sequence_mean", "rollout_clamp": 0, "rollout_rejected": "zero_weight unmask"},
    "aggregation": {"kind": "token_sum token_mean seq_mean_token_mean seq_mean_token_sum seq_mean_constant constant group_mean_token_mean",
                    "constant": 0, "empty_sequences": "keep drop"},
}

# Further fields and choices, which only the ports of this repository support (`more` of `serve`): given divergences, bounds by probability
# or by sign, a contrast of the scores of a group. No framework adapted here has them.
OF_PORTS = {"ratio": {"behaviour": "none"},
            "surrogate": {"kind": "quadratic_probability contrastive", "quadratic_eps": 0, "contrast_temperature": 0, "contrast_margin": 0},
            "penalty": {"kl": "external"}, "weight": {"trust": "none divergence negative_band", "trust_low": 0, "trust_high": 0},
            "aggregation": {"kind": "group_mean"}}


class Skip(Exception):
    """The program cannot express the case; the text is the reason."""


def wanted(condition, reason):
    if not condition:
        raise Skip(reason)


def wanted_plain_scores(o):
    """Skips cases with changed rewards, the population deviation, or an epsilon other than 0 and that of verl's estimators."""
    a, r = o["advantage"], o["reward"]
    wanted(r["overlong"] == "none" and r["kl"] == "none" and a["reweight"] == "none", "no change of the rewards")
    wanted(a["std"] == "sample" or a["scale"] == "none", "sample std only")
    wanted(a["scale"] == "none" or a["eps"] in (0, 1e-8 if a["scale"] == "token_whiten" else 1e-6),
           "the epsilon cannot be set to this value")


def with_more(more):
    """FIELDS and `more` together; a field in both has the choices of both."""
    def both(known, new):
        return {field: known[field] if field not in new else new[field] if field not in known else f"{known[field]} {new[field]}"
                for field in {**known, **new}}
    return {axis: both(fields, more.get(axis, {})) for axis, fields in FIELDS.items()}


def filled(objective, every):
    """The objective with all fields, defaults included; skips what `known` does not list."""
    for axis, fields in objective.items():
        for field, x in fields.items():
            known = every.get(axis, {}).get(field)
            if known is None or known != 0 and x not in known.split():
                raise Skip(f"no {axis}.{field} = {x}")
    return {axis: {field: objective.get(axis, {}).get(field, known and known.split()[0]) for field, known in fields.items()}
            for axis, fields in every.items()}


def asked(case, every):
    """The case with every field of its objective. For logits and hidden states the entropy bonus is moved out of the objective, as the
    batch has no entropy there."""
    if "objective" not in case:
        return case
    o = case["objective"]
    if case["kind"] in ("logits", "hidden"):
        penalty = {field: x for field, x in o.get("penalty", {}).items() if field != "entropy_coef"}
        return {**case, "objective": filled({**o, "penalty": penalty}, every), "entropy_coef": o.get("penalty", {}).get("entropy_coef", 0)}
    return {**case, "objective": filled(o, every)}


def plain(x):
    """A value for JSON, with infinities and NaN as strings."""
    if isinstance(x, dict):
        return {key: plain(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(value) for value in x]
    if isinstance(x, bool):
        return x
    x = float(x)
    return x if math.isfinite(x) else "NaN" if math.isnan(x) else "Infinity" if x > 0 else "-Infinity"


def result_of(answer, case, real, every):
    try:
        return {"result": plain(answer(asked(case, every), real))}
    except Skip as reason:
        return {"skip": str(reason)}
    except Exception as e:  # one bad case must not end the run
        return {"error": f"{type(e).__name__}: {e}".replace("\n", " ")}


def serve(name, release, precisions, outputs, answer, more=None):
    """Answers requests until `stop`. more: fields and choices that the adapter supports besides FIELDS."""
    real, every = None, with_more(more or {})
    for line in sys.stdin:
        request = json.loads(line)
        if request["cmd"] == "stop":
            return
        if request["cmd"] == "run":
            reply = {"seq": request["seq"], **result_of(answer, request["case"], real, every)}
        elif request["precision"] in precisions:
            real = precisions[request["precision"]]
            reply = {"version": 1, "name": name, "language": "python", "release": release, "precision": request["precision"],
                     "outputs": outputs}
        else:
            reply = {"error": "only " + ", ".join(precisions)}
        print(json.dumps(reply), file=ANSWERS, flush=True)
