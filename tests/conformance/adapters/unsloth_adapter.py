"""Unsloth's own GRPO loss, with the options of TRL's trainer, which it replaces (written for unsloth-zoo 2026.10.9).

grpo_compute_loss, the function that its trainer compiles. The package cannot be imported without unsloth and a GPU: its __init__, and
modules that need a device, are replaced by stand-ins. Advantages are computed by TRL.
"""
from protocol import Skip, serve, wanted  # first: it keeps standard output for the answers
from importlib.metadata import version

from options import UNCLAMPED, VESPO_CLAMPS, Options, clamps, corrects_kl, fields_of
from padded import PRECISIONS, accumulation_steps, answer_by, batch_of, one_per_row, optimiser_step, part_of, ragged
from stand_ins import module_stand_in, names_stand_in, without_init

without_init("unsloth_zoo", "unsloth_zoo.temporary_patches")
names_stand_in("unsloth_zoo.device_type", "unsloth_zoo.fused_losses", "unsloth_zoo.fused_losses.cross_entropy_loss", "unsloth_zoo.log",
               "unsloth_zoo.dataset_utils")
module_stand_in("unsloth_zoo.temporary_patches.common", torch_compile_options={}, _maybe_compile=lambda **_: lambda function: function)
import torch
from trl.trainer.grpo_trainer import GRPOTrainer
from unsloth_zoo.rl_replacements import grpo_compute_loss

TRL = Options("trl")
NAMES = ("loss_type", "delta", "importance_sampling_level")


def policy(o):
    r, s, g, w, p = o["ratio"], o["surrogate"], o["aggregation"], o["weight"], o["penalty"]
    wanted(r["behaviour"] == "old" and r["gradient"] == "full", "only ratios against old log-probabilities, no GSPO-token")
    vespo = s["kind"] == "vespo"
    wanted(clamps(r) == UNCLAMPED or vespo and clamps(r) == VESPO_CLAMPS, "no clamp of log-ratios")
    wanted((r["level"] == "sequence_sum") == vespo, f"{s['kind']} with ratio.level {r['level']}")
    wanted(g["empty_sequences"] == "keep" and w["truncated"] == "keep",
           "responses without tokens always count, truncated responses cannot be masked")
    wanted(s["kind"] != "cispo" or s["weight_min"] == 0, "cispo has no lower bound")
    same = {"surrogate.kind": s["kind"], "ratio.level": r["level"], "aggregation.kind": g["kind"]}
    options = TRL.of(NAMES, same, fields_of(o, "surrogate", "aggregation"))
    wanted(options, f"no {s['kind']} with ratio.level {r['level']} and aggregation {g['kind']}")
    if "epsilon" in options:
        options["epsilon_low"] = options.pop("epsilon")
    return {**options, **penalty(p, r["level"]), **correction(w)}


def penalty(p, unit):
    if p["kl"] == "none":
        return {"beta": 0.0}
    wanted(p["kl"] == "k3" and p["kl_gradient"] == "exact" and (p["kl_clamp_log"], p["kl_clamp_value"]) in ((0, 0), (20, 10)), "k3 only")
    corrected = corrects_kl(p, unit)
    wanted(corrected is not None, "use_bias_correction_kl takes the ratio of importance_sampling_level")
    return {"beta": p["kl_coef"], "use_bias_correction_kl": corrected}


def correction(w):
    if w["rollout_is"] == "none":
        return {}
    wanted(w["rollout_is"] in ("truncate", "mask") and w["rollout_rejected"] == "zero_weight" and w["rollout_clamp"] == 0,
           "rollout weights only truncate or mask, without rejecting tokens")
    level = {"token": "token", "sequence_sum": "sequence", "sequence_mean": "geometric"}[w["rollout_is_level"]]
    low = float(w["rollout_is_low"]) or None
    return {"use_vllm": True, "vllm_importance_sampling_correction": True, "vllm_importance_sampling_clip_min": low,
            "vllm_importance_sampling_mode": f"{level}_{w['rollout_is']}", "vllm_importance_sampling_clip_max": float(w["rollout_is_high"])}


def loss(o, b, tokens=None, ranks=1, accumulation=1):
    options = policy(o)
    wanted("use_vllm" not in options or o["surrogate"]["kind"] != "vespo", "vespo folds the rollout weight into phi")
    per_row = one_per_row(b.advantage, b.mask)
    leaf = b.logp.clone().requires_grad_()
    value = grpo_compute_loss(
        b.logp_ref, leaf, b.logp_old, b.logp_rollout, torch.zeros(leaf.shape, dtype=torch.long), b.mask.to(leaf.dtype), options.pop("beta"),
        b.advantage if per_row is None else per_row, num_items_in_batch=b.mask.sum() if tokens is None else tokens, num_processes=ranks,
        current_gradient_accumulation_steps=accumulation, steps_per_generation=accumulation,
        get_gamma_weights=GRPOTrainer.get_gamma_weights, **options)[0]
    value.backward()
    return {"loss": value.item(), "dlogp": ragged(leaf.grad, b)}


def split(case, o, dtype):
    steps, rows = accumulation_steps(case), {len(part_of(case, part)[1]) for part in case["parts"]}
    wanted(len(rows) == 1 or policy(o)["loss_type"] in ("dapo", "cispo", "vespo"), "micro-batches need equally many responses")
    tokens = batch_of(case, dtype).mask.sum()
    return optimiser_step(case, lambda part, rank: loss(o, batch_of(part, dtype), tokens, case["ranks"], steps))


def no_advantages(o, b):
    raise Skip("advantages are computed by TRL")


def answer(case, dtype):
    return answer_by(case, dtype, no_advantages, loss, split)


if __name__ == "__main__":
    serve("Unsloth", version("unsloth-zoo"), PRECISIONS, ["loss", "dlogp"], answer)
