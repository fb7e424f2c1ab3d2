"""Liger-Kernel's own GRPO loss, written for liger-kernel 0.8.5 (requirements-no-deps.txt pins it): the loss inside
LigerFusedLinearGRPOLoss.

The module takes hidden states and a vocabulary matrix; its loss begins with the log-probabilities they give. That part is
LigerFusedLinearGRPOFunction.ppo_loss_fn, and is called with ours as the differentiable leaf. What the module does around it
(log-probabilities in chunks, a loss accumulated in float32) is not under test. Liger computes no advantages, and gets rollout weights
from outside: cases with them are skipped.
"""
from protocol import serve, wanted  # first: it keeps standard output for the answers
from importlib.metadata import version

import torch
from liger_kernel.chunked_loss.grpo_loss import LigerFusedLinearGRPOFunction
from padded import PRECISIONS, batch_of, one_per_row, ragged

TYPES = {"seq_mean_token_mean": "grpo", "token_mean": "dapo", "seq_mean_constant": "dr_grpo", "seq_mean_token_sum": "luspo"}
OWN = {"sapo": "seq_mean_token_mean", "cispo": "token_mean", "vespo": "token_mean"}  # these fix their aggregation


def ratio_options(r, kind):
    wanted(r["behaviour"] == "old", "ratio against old log-probabilities only")
    wanted(r["clamp_low"] == r["clamp_high"] == r["level_clamp_low"] == r["level_clamp_high"] == 0, "log-ratios are not clamped")
    level = {"token": "token", "sequence_mean": "sequence", "sequence_sum": "token" if kind == "vespo" else None}.get(r["level"])
    wanted(level and (r["level"] == "sequence_sum") == (kind == "vespo"), f"{kind} with unit {r['level']}")
    wanted(level == "token" or kind not in OWN, f"{kind} takes ratios of tokens only")
    wanted(level == "token" or r["gradient"] == "full", "no GSPO-token")
    return {"importance_sampling_level": level}


def surrogate_options(s, g):
    kind = s["kind"]
    wanted(kind in ("ppo_clip", "dual_clip", *OWN), "no surrogate " + kind)
    wanted(g["kind"] == OWN.get(kind, g["kind"]) and g["kind"] in TYPES and g["empty_sequences"] == "keep",
           f"{kind} with aggregation {g['kind']}, {g['empty_sequences']}")
    options = {"loss_type": kind if kind in OWN else TYPES[g["kind"]], "max_completion_length": g["constant"] or None,
               "epsilon_low": s["eps_low"], "epsilon_high": s["eps_high"], "delta": s["clip_dual"] if kind == "dual_clip" else None}
    if kind == "cispo":
        wanted(s["weight_min"] == 0, "cispo has no lower bound")
        options["epsilon_high"] = float(s["weight_max"])
    if kind == "sapo":
        options.update(sapo_temperature_pos=s["tau_pos"], sapo_temperature_neg=s["tau_neg"])
    if kind == "vespo":
        options.update({name: float(s[name]) for name in ("vespo_k_pos", "vespo_lambda_pos", "vespo_k_neg", "vespo_lambda_neg")})
    return options


def penalty_options(p, unit):
    if p["kl"] == "none":
        return {"beta": 0.0}
    wanted(p["kl"] == "k3" and p["kl_gradient"] == "exact" and p["kl_clamp_log"] == p["kl_clamp_value"] == 0, "plain k3 only")
    wanted(p["kl_importance_weight"] != "token" or unit == "token", "use_bias_correction_kl takes the ratio of the objective")
    return {"beta": p["kl_coef"], "use_bias_correction_kl": p["kl_importance_weight"] != "none"}


def answer(case, dtype):
    wanted(case["kind"] == "objective", "no cases of kind " + case["kind"])
    torch.set_default_dtype(dtype)
    o, b = case["objective"], batch_of(case, dtype)
    wanted(o["weight"]["rollout_is"] == "none" and o["weight"]["truncated"] == "keep", "rollout weights and truncation come from outside")
    options = {**ratio_options(o["ratio"], o["surrogate"]["kind"]), **surrogate_options(o["surrogate"], o["aggregation"]),
               **penalty_options(o["penalty"], o["ratio"]["level"])}
    advantage = one_per_row(b.advantage, b.mask)
    wanted(advantage is not None, "one advantage per completion")
    leaf, mask = b.logp.clone().requires_grad_(), b.mask.to(dtype)
    value = LigerFusedLinearGRPOFunction.ppo_loss_fn(leaf, mask, advantage, mask, b.logp_ref, b.logp_old, num_items_in_batch=mask.sum(),
        **options)[0]
    value.backward()
    return {"loss": value.item(), "dlogp": ragged(leaf.grad, b)}


serve("Liger-Kernel", version("liger-kernel"), PRECISIONS, ["loss", "dlogp"], answer)
