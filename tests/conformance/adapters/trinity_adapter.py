"""Trinity-RFT's own policy losses, KL and advantages, by their registered names (written for trinity-rft 0.6.0).

Losses by build_trinity_loss, the callable that its trainer passes to verl's engine; advantages by ADVANTAGE_FN. For cases of kind split the
adapter does what verl's engine does (verl/workers/engine: each micro-batch's loss is differentiated unscaled, gradients are averaged).

ray, the trainer's __init__, and the function that pads (the rows are already padded) are replaced by stand-ins.
"""
from protocol import serve, wanted, wanted_plain_scores  # first: it keeps standard output for the answers
import importlib.util
import types
from importlib.metadata import version

from padded import PRECISIONS, Rows, answer_by, batch_of, optimiser_step, ragged, rewards_at_end
from stand_ins import module_stand_in, without_init

if importlib.util.find_spec("ray") is None:
    module_stand_in("ray", ObjectRef=object)
without_init("trinity", "trinity.trainer", "trinity.trainer.verl")
module_stand_in("verl.workers.utils.padding", no_padding_2_padding=lambda rows, data: rows)
import torch
from trinity.algorithm import ADVANTAGE_FN
from trinity.common.experience import EID, Experience
from trinity.trainer.verl.losses import build_trinity_loss

MODES = {"token_mean": "token-mean", "seq_mean_token_mean": "seq-mean-token-mean", "seq_mean_token_sum": "seq-mean-token-sum"}
NO_DUAL_CLIP = 1e9  # clip_ratio_c cannot be switched off


# ---- advantages

def by_groups(a, b):
    level = {"group_std": "group", "batch_std": "batch"}.get(a["scale"])
    wanted(level, "grpo always divides by a deviation")
    experiences = [Experience(eid=EID(task=int(g), run=i), tokens=torch.zeros(n + 1), prompt_length=1, reward=float(r), action_mask=m[:n])
                   for i, (g, n, r, m) in enumerate(zip(b.group, b.length, b.reward, b.mask))]
    found, _ = ADVANTAGE_FN.get("grpo")(std_cal_level=level)(experiences)
    result = torch.zeros_like(b.logp)
    for experience in found:
        row = experience.eid.run
        result[row, :b.length[row]] = experience.advantages
    return result


def by_tokens(name, b, **options):
    arrays = {"token_level_rewards": rewards_at_end(b), "response_mask": b.mask.long()}
    if name == "ppo":
        wanted(b.value is not None, "no values")
        arrays["values"] = torch.where(b.mask, b.value, 0)  # as verl's critic gives them
    if name == "remax":
        arrays["reward_baselines"] = b.baseline[b.group]
    data = types.SimpleNamespace(batch=arrays, non_tensor_batch={"uid": b.group.numpy()})
    return ADVANTAGE_FN.get(name)(**options)(data)[0].batch["advantages"]


def advantages(o, b):
    a = o["advantage"]
    wanted(b.reward is not None, "no rewards")
    wanted_plain_scores(o)
    asked = (a["baseline"], a["scale"], a["credit"])
    if asked[0] == "group_mean" and asked[2] == "outcome":
        return torch.where(b.mask, by_groups(a, b), 0)
    found = {("leave_one_out", "none", "outcome"): ("rloo", {}), ("external", "none", "outcome"): ("remax", {}),
             ("none", "token_whiten", "return"): ("reinforceplusplus", {"gamma": a["gamma"]}),
             ("none", "token_whiten", "gae"): ("ppo", {"gamma": a["gamma"], "lam": a["lambda"]}),
             ("none", "none", "gae"): ("ppo", {"gamma": a["gamma"], "lam": a["lambda"]})}.get(asked)  # GAE is always whitened
    wanted(found, "no advantage_fn with baseline {baseline}, scale {scale}, credit {credit}".format(**a))
    return torch.where(b.mask, by_tokens(found[0], b, **found[1]), 0)


# ---- loss

def clipped(s):
    return {"clip_range_low": s["eps_low"], "clip_range_high": s["eps_high"]}


def policy(o):
    """The name of policy_loss_fn, and its arguments."""
    r, s, unit = o["ratio"], o["surrogate"], o["ratio"]["level"]
    wanted(r["behaviour"] == "old", "only ratios against old log-probabilities")
    wanted(r["level_clamp_low"] == r["level_clamp_high"] == 0, "no clamp of the log-ratio after pooling")
    wanted((r["clamp_low"], r["clamp_high"]) in ((0, 0), (-20, 20)), "log-ratios are always clamped to +-20")
    found = {("token", "ppo_clip"): ("ppo", {**clipped(s), "clip_ratio_c": NO_DUAL_CLIP}),
             ("token", "dual_clip"): ("ppo", {**clipped(s), "clip_ratio_c": s["clip_dual"]}),
             ("token", "ratio"): ("importance_sampling", {}),
             ("token", "cispo"): ("cispo", {"clip_range_low": 1 - float(s["weight_min"]), "clip_range_high": float(s["weight_max"]) - 1}),
             ("token", "sapo"): ("sapo", {"tau_pos": s["tau_pos"], "tau_neg": s["tau_neg"]}),
             ("sequence_mean", "ppo_clip"): ("gspo", clipped(s))}.get((unit, s["kind"]))
    wanted(found, f"no surrogate {s['kind']} with ratio.level {unit}")
    wanted(found[0] != "sapo" or s["tau_neg"] >= s["tau_pos"], "sapo: tau_neg is at least tau_pos")
    return found


def penalty(p):
    """The name of kl_loss_fn, and its arguments."""
    if p["kl"] == "none":
        return "none", {}
    clamped = (p["kl_clamp_log"], p["kl_clamp_value"])
    wanted(p["kl_importance_weight"] == "none" and (p["kl_gradient"] == "exact" or p["kl"] == "k2"),
           "only a KL without an importance ratio")
    wanted(clamped == (0, 0) or p["kl"] == "k3" and clamped == (20, 10),
           "k3 is always clamped (log-ratio at 20, value at 10), other estimators never")
    return "low_var_kl" if clamped != (0, 0) else p["kl"], {"kl_coef": p["kl_coef"]}


def loss(o, b):
    g, w = o["aggregation"], o["weight"]
    wanted(g["kind"] in MODES and g["empty_sequences"] == "keep", f"aggregation {g['kind']}, {g['empty_sequences']}")
    wanted(w["rollout_is"] == "none" and w["truncated"] == "keep", "no rollout weights, truncated responses cannot be masked")
    name, options = policy(o)
    kl, kl_options = penalty(o["penalty"])
    rule = build_trinity_loss(types.SimpleNamespace(
        policy_loss_fn=name, policy_loss_fn_args={**options, "loss_agg_mode": MODES[g["kind"]]}, kl_loss_fn=kl, kl_loss_fn_args=kl_options,
        entropy_loss_fn="none", entropy_loss_fn_args={"entropy_coef": 0.0}, loss_agg_mode=MODES[g["kind"]]))
    leaf = b.logp.clone().requires_grad_()
    rows = {"response_mask": b.mask, "advantages": b.advantage, "old_log_probs": b.logp_old, "ref_log_prob": b.logp_ref}
    value = rule({"log_probs": leaf}, Rows({key: x for key, x in rows.items() if x is not None}))[0]
    value.backward()
    return {"loss": value.item(), "dlogp": ragged(leaf.grad, b)}


def split(case, o, dtype):
    return optimiser_step(case, lambda part, rank: loss(o, batch_of(part, dtype)))


def answer(case, dtype):
    return answer_by(case, dtype, advantages, loss, split)


if __name__ == "__main__":
    serve("Trinity-RFT", version("trinity-rft"), PRECISIONS, ["advantage", "loss", "dlogp"], answer)
