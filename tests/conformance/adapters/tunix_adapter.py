"""tunix's own policy loss and advantage estimators, by their registered names (written for google-tunix 0.1.7, in jax).

The registered loss "grpo" gets its log-probabilities from a model: here they are those of the case, and the variable of differentiation. It
computes everything in float32, so it is run in float32 only. The packages' __init__ are replaced by stand-ins.
"""
from protocol import serve, wanted, wanted_plain_scores  # first: it keeps standard output for the answers
import os
import types
from importlib.metadata import version

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")  # each case has another shape, and is compiled anew
from padded import PRECISIONS, answer_by, ragged, rewards_at_end
from stand_ins import names_stand_in, without_init

without_init("tunix", "tunix.rl", "tunix.sft")
names_stand_in("tunix.sft.utils")
import jax
import numpy as np
import torch
from flax import nnx
from tunix.rl import algo_core, function_registry

MODES = {"token_mean": "token-mean", "seq_mean_token_mean": "sequence-mean-token-mean", "seq_mean_token_sum": "seq-mean-token-sum"}
KL = {"k1": "kl", "k2": "mse_kl", "k3": "low_var_kl"}


def array(x):
    return None if x is None else jax.numpy.asarray(x.numpy())


# ---- advantages

def advantages(o, b):
    a = o["advantage"]
    wanted(b.reward is not None, "no rewards")
    wanted_plain_scores(o)
    if a["credit"] == "gae":
        wanted(a["baseline"] == "none" and b.value is not None, "gae needs values and no baseline")
        found = function_registry.get_advantage_estimator("gae")(
            array(rewards_at_end(b)), array(torch.where(b.mask, b.value, 0)), array(b.mask.to(b.logp.dtype)), a["gamma"], a["lambda"])[0]
        return torch.where(b.mask, torch.tensor(np.asarray(found)), 0)
    name = {("group_mean", "group_std"): "grpo", ("group_mean", "none"): "drgrpo",
            ("leave_one_out", "none"): "rloo"}.get((a["baseline"], a["scale"]))
    wanted(name and a["credit"] == "outcome", "no estimator with baseline {baseline}, scale {scale}, credit {credit}".format(**a))
    size = int(b.group_size[0])
    wanted(len(set(b.group_size.tolist())) == 1 and size > 1, "num_generations: groups of one size, at least 2")
    found = function_registry.get_advantage_estimator(name)(rewards=b.reward.numpy(), num_generations=size)
    return torch.where(b.mask, torch.tensor(np.array(found))[:, None], 0)


# ---- loss

def policy(o):
    """The options of GRPOConfig."""
    r, s, g, p, w = o["ratio"], o["surrogate"], o["aggregation"], o["penalty"], o["weight"]
    wanted(r["behaviour"] == "old", "only ratios against old log-probabilities")
    wanted((r["clamp_low"], r["clamp_high"]) in ((0, 0), (-20, 20)), "log-ratios are always clamped to +-20")
    wanted((float(r["level_clamp_low"]), float(r["level_clamp_high"])) in ((0, 0), (float("-inf"), 10)),
           "gspo-token always clamps its log-ratio to at most 10")
    wanted(s["kind"] in ("ppo_clip", "dual_clip"), "no surrogate " + s["kind"])
    wanted(r["level"] in ("token", "sequence_mean"), "ratio.level " + r["level"])
    wanted(g["kind"] in MODES, "aggregation " + g["kind"])
    wanted(w["rollout_is"] == "none" and w["truncated"] == "keep",
           "rollout weights come from outside the loss, truncated responses cannot be masked")
    wanted(p["kl"] in ("none", *KL) and p["kl_importance_weight"] == "none" and (p["kl_gradient"] == "exact" or p["kl"] == "k2"),
           "KL: k1, k2 or k3, without a ratio")
    wanted(p["kl_clamp_log"] == 0, "no clamp of the KL's log-ratio")
    return types.SimpleNamespace(
        beta=p["kl_coef"] if p["kl"] != "none" else 0.0, kl_loss_mode=KL.get(p["kl"], "kl"), kl_clamp_value=p["kl_clamp_value"] or None,
        epsilon=s["eps_low"], epsilon_high=s["eps_high"], epsilon_c=s["clip_dual"] if s["kind"] == "dual_clip" else None, temperature=1.0,
        loss_algo="grpo" if r["level"] == "token" else "gspo-token", loss_agg_mode=MODES[g["kind"]])


def loss(o, b):
    config, rule = policy(o), function_registry.get_policy_loss_fn("grpo")
    example = types.SimpleNamespace(
        completion_ids=None, prompt_ids=None, completion_mask=array(b.mask.to(b.logp.dtype)), advantages=array(b.advantage),
        old_per_token_logps=array(b.logp_old), ref_per_token_logps=array(b.logp_ref) if config.beta else None)

    def of(logp):
        algo_core.common.compute_per_token_logps = lambda *_, **__: (logp, jax.numpy.zeros((*logp.shape, 2)))
        return rule(nnx.Module(), example, config, 0, 1)[0]

    value, gradient = jax.value_and_grad(of)(array(b.logp))
    return {"loss": float(value), "dlogp": ragged(torch.tensor(np.asarray(gradient)), b)}


def answer(case, dtype):
    return answer_by(case, dtype, advantages, loss)


if __name__ == "__main__":
    serve("tunix", version("google-tunix"), {"f32": PRECISIONS["f32"]}, ["advantage", "loss", "dlogp"], answer)
