"""AReaL's own PPO actor: its advantages and its loss, with the options of its configuration (written for areal 1.0.4).

PPOActor._compute_advantages on an object without its __init__ (a prompt of one token before each response, without a critic unless values
are given) and grpo_loss_fn, the function that it passes to the engine. For cases of kind split the adapter does what fsdp_engine.py does:
each micro-batch's loss times its tokens over all tokens, times the ranks over which gradients are averaged.

Other modules that they import (controllers, data loaders, platforms, tracing) are replaced by stand-ins.
"""
from protocol import serve, wanted  # first: it keeps standard output for the answers
import contextlib
import types
from importlib.metadata import version

from options import Options, fields_of, last
from padded import PRECISIONS, answer_by, batch_of, optimiser_step, ragged
from stand_ins import module_stand_in, names_stand_in, without_init


def nothing(*_, **__):
    return None


def unchanged(*_, **__):
    return lambda function: function


without_init("areal", "areal.api", "areal.infra", "areal.infra.rpc", "areal.utils", "areal.trainer", "areal.trainer.ppo")
names_stand_in("areal.api", "areal.api.cli_args", "areal.infra", "areal.infra.platforms", "areal.infra.rpc.serialization",
               "areal.utils.seqpack", "areal.experimental.training_service.controller.controller", "torchdata.stateful_dataloader",
               "einops")
module_stand_in("areal.utils.logging", getLogger=nothing)
module_stand_in("areal.utils.perf_tracer", trace_perf=unchanged)
module_stand_in("areal.utils.stats_tracker", denominator=nothing, stat=nothing, scalar=nothing, scope=contextlib.nullcontext,
                scope_func_wrapper=unchanged)
import torch
from areal.trainer.ppo import actor as areal
from areal.utils.data import KLEstimator, Normalization

AREAL = Options("areal")
ACTOR = "actor."


# ---- advantages

def reward_norm(a, b):
    """The options for normalising rewards before the return, or None."""
    levels = {("none", "none"): None, ("group_mean", "none"): ("group", False, None),
              ("group_mean", "group_std"): ("group", False, "group"), ("group_mean", "batch_centred_std"): ("group", False, "batch"),
              ("leave_one_out", "none"): ("group", True, None),
              ("batch_mean", "none"): ("batch", False, None), ("batch_mean", "batch_std"): ("batch", False, "batch")}
    found = levels.get((a["baseline"], a["scale"]), 0)
    wanted(found != 0, "no reward_norm with baseline {baseline}, scale {scale}".format(**a))
    if found is None:
        return None
    wanted(len(set(b.group_size.tolist())) == 1, "group_size: groups of one size only")
    wanted(a["eps"] == 0 or a["eps_place"] == "add" or a["scale"] == "none", "eps is added to the deviation")
    mean, leave_one_out, std = found
    return Normalization(types.SimpleNamespace(mean_level=mean, mean_leave1out=leave_one_out, std_level=std, eps=a["eps"],
                                               std_unbiased=a["std"] == "sample", group_size=int(b.group_size[0])))


def actor_of(o, b):
    a, r, t = o["advantage"], o["reward"], object.__new__(areal.PPOActor)
    t.config = types.SimpleNamespace(overlong_reward_penalty=False, use_decoupled_loss=False, recompute_logprob=True)
    t.reward_bias, t.reward_scaling, t.reward_clip, t.mask_no_eos_with_zero, t.adv_norm = 0.0, 1.0, float("inf"), False, None
    t.reward_norm, t.kl_ctl = reward_norm(a, b), r["kl_coef"] if r["kl"] != "none" else 0.0
    t.kl_estimator = KLEstimator(r["kl"] if r["kl"] != "none" else "k1")
    t.discount = 1.0 if a["credit"] == "outcome" else a["gamma"]
    t.gae_lambda = a["lambda"] if a["credit"] == "gae" else 1.0
    return t


def after_prompt(x, fill=0):
    return torch.nn.functional.pad(x, (1, 0), value=fill)


def advantages(o, b):
    a, r = o["advantage"], o["reward"]
    wanted(b.reward is not None, "no rewards")
    wanted(a["credit"] in ("outcome", "return", "gae") and a["reweight"] == "none", "credit " + a["credit"])
    wanted(a["credit"] != "gae" or b.value is not None, "no values")
    wanted(r["overlong"] == "none" and r["kl"] in ("none", "k1", "k2", "k3"), "no change of the rewards except a KL by k1, k2 or k3")
    wanted(r["kl"] == "none" or a["baseline"] == "none", "the KL is subtracted after the rewards are normalised")
    t, lengths = actor_of(o, b), torch.tensor(b.length)
    attention = torch.arange(max(b.length) + 1)[None] <= lengths[:, None]
    old = b.logp_old if b.logp_old is not None else b.logp
    shifted = torch.roll(after_prompt(old), -1, -1)
    data = {"input_ids": attention.long(), "attention_mask": attention.long(), "rewards": b.reward.clone(),
            "loss_mask": after_prompt(b.mask), "prox_logp": torch.where(attention, shifted, 0), "logprobs": None}
    if r["kl"] != "none":
        data["ref_logp"] = torch.roll(after_prompt(b.logp_ref), -1, -1)
    if b.value is not None and a["credit"] == "gae":
        data["values"] = torch.roll(after_prompt(torch.where(b.mask, b.value, 0)), -1, -1)
    return torch.where(b.mask, t._compute_advantages(data)["advantages"][:, :max(b.length)], 0)


# ---- loss

def policy(o):
    """The options of the loss."""
    r, s, g, w = o["ratio"], o["surrogate"], o["aggregation"], o["weight"]
    wanted(r["behaviour"] == "old", "only ratios against old log-probabilities")
    wanted(r["clamp_low"] == r["clamp_high"] == r["level_clamp_low"] == r["level_clamp_high"] == 0, "no clamp of log-ratios")
    wanted(g["kind"] == "token_mean", "aggregation " + g["kind"])
    wanted(o["penalty"]["kl"] == "none", "no KL in the loss")
    wanted(w["truncated"] == "keep", "truncated responses cannot be masked")
    wanted(r["level"] != "sequence_mean" or r["gradient"] == "full", "no GSPO-token")
    asked = {"ratio.level": r["level"], "surrogate.kind": s["kind"], "ratio.gradient": "full"}
    options = AREAL.of((ACTOR + "use_sapo_loss", ACTOR + "c_clip", ACTOR + "importance_sampling_level"), asked, fields_of(o, "surrogate"))
    wanted(options, f"no surrogate {s['kind']} with ratio.level {r['level']}")
    c = last(options)
    return {"eps_clip": c.get("eps_clip", 0.2), "eps_clip_higher": c.get("eps_clip_higher"), "c_clip": c["c_clip"],
            "importance_sampling_level": c["importance_sampling_level"], "use_sapo_loss": c["use_sapo_loss"],
            "sapo_tau_pos": c.get("sapo_tau_pos"), "sapo_tau_neg": c.get("sapo_tau_neg"), **correction(w)}


def correction(w):
    if w["rollout_is"] == "none":
        return {}
    wanted(w["rollout_is"] == "truncate" and w["rollout_is_level"] == "token" and w["rollout_clamp"] == 0,
           "rollout weights only of tokens, clamped to bounds")
    rule = types.SimpleNamespace(level="token", metric="ratio", action="clamp", agg="mean", lower=float(w["rollout_is_low"]) or None,
                                 upper=float(w["rollout_is_high"]))
    return {"rejection_sampling": rule, "use_decoupled_loss": True}


def loss(o, b):
    options = policy(o)
    wanted(not options["use_sapo_loss"] or "rejection_sampling" not in options, "SAPO takes no rollout weights")
    leaf = b.logp.clone().requires_grad_()
    data = {"logprobs": b.logp_rollout if "rejection_sampling" in options else b.logp_old, "prox_logp": b.logp_old,
            "advantages": b.advantage, "loss_mask": b.mask}
    value = areal.grpo_loss_fn(leaf, torch.zeros_like(leaf), data, **options)
    value.backward()
    return {"loss": value.item(), "dlogp": ragged(leaf.grad, b)}


def split(case, o, dtype):
    tokens = int(batch_of(case, dtype).mask.sum())

    def weighted(part, rank):
        b = batch_of(part, dtype)
        share = int(b.mask.sum()) / max(tokens, 1) * case["ranks"]
        found = loss(o, b)
        return {"loss": found["loss"] * share, "dlogp": [[x * share for x in row] for row in found["dlogp"]]}

    return optimiser_step(case, weighted)


def answer(case, dtype):
    return answer_by(case, dtype, advantages, loss, split)


if __name__ == "__main__":
    serve("AReaL", version("areal"), PRECISIONS, ["advantage", "loss", "dlogp"], answer)
