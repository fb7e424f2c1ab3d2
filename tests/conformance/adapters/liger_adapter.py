"""Liger-Kernel's own GRPO loss, written for liger-kernel 0.8.5 (requirements-no-deps.txt pins it).

Cases of kind hidden call the module that users call, LigerFusedLinearGRPOLoss, uncompiled, with hidden states and a vocabulary matrix. It
computes log-probabilities and sums in float32, so these cases are run in float32 only. Cases with log-probabilities call the loss inside
the module, LigerFusedLinearGRPOFunction.ppo_loss_fn, with the log-probabilities as the differentiable leaf. Liger computes no advantages,
and gets rollout weights from outside: cases with them are skipped.
"""
from protocol import serve, wanted  # first: it keeps standard output for the answers
from importlib.metadata import version

import torch
from liger_kernel.chunked_loss.grpo_loss import LigerFusedLinearGRPOFunction, LigerFusedLinearGRPOLoss
from options import UNCLAMPED, VESPO_CLAMPS, Options, clamps, corrects_kl, fields_of
from padded import PRECISIONS, batch_of, one_per_row, ragged

TRL = Options("trl")  # TRL's trainer passes its options to this loss
FIXED = ("sapo", "cispo", "vespo")  # these fix their aggregation


def ratio_options(r, kind):
    wanted(r["behaviour"] == "old", "only ratios against old log-probabilities")
    wanted(clamps(r) == UNCLAMPED or kind == "vespo" and clamps(r) == VESPO_CLAMPS, "no clamp of log-ratios")
    level = {"token": "token", "sequence_mean": "sequence", "sequence_sum": "token" if kind == "vespo" else None}.get(r["level"])
    wanted(level and (r["level"] == "sequence_sum") == (kind == "vespo"), f"{kind} with ratio.level {r['level']}")
    wanted(level == "token" or kind not in FIXED, f"{kind} takes ratios of tokens only")
    wanted(level == "token" or r["gradient"] == "full", "no GSPO-token")
    return {"importance_sampling_level": level}


def surrogate_options(o):
    s, g, kind = o["surrogate"], o["aggregation"], o["surrogate"]["kind"]
    names, same = ("loss_type", "delta"), {"surrogate.kind": kind, "aggregation.kind": g["kind"]}
    wanted(TRL.of(names, {"surrogate.kind": kind}), "no surrogate " + kind)
    options = TRL.of(names, same, fields_of(o, "surrogate", "penalty", "aggregation"))
    wanted(options and g["empty_sequences"] == "keep", f"{kind} with aggregation {g['kind']}, {g['empty_sequences']}")
    wanted(kind != "cispo" or s["weight_min"] == 0, "cispo has no lower bound")
    return {"beta": 0.0, **{"epsilon_low" if name == "epsilon" else name: x for name, x in options.items()}}


def penalty_options(p, unit):
    if p["kl"] == "none":
        return {}
    wanted(p["kl"] == "k3" and p["kl_gradient"] == "exact" and p["kl_clamp_log"] == p["kl_clamp_value"] == 0, "plain k3 only")
    corrected = corrects_kl(p, unit)
    wanted(corrected is not None, "use_bias_correction_kl takes the ratio of importance_sampling_level")
    return {"use_bias_correction_kl": corrected}


def policy(o):
    """The loss module's options."""
    wanted(o["weight"]["rollout_is"] == "none" and o["weight"]["truncated"] == "keep",
           "rollout weights and truncation come from outside the loss")
    return {**ratio_options(o["ratio"], o["surrogate"]["kind"]), **surrogate_options(o),
            **penalty_options(o["penalty"], o["ratio"]["level"])}


def of_log_probabilities(case, dtype):
    b, options = batch_of(case, dtype), policy(case["objective"])
    advantage = one_per_row(b.advantage, b.mask)
    wanted(advantage is not None, "one advantage per completion")
    leaf, mask = b.logp.clone().requires_grad_(), b.mask.to(dtype)
    value = LigerFusedLinearGRPOFunction.ppo_loss_fn(leaf, mask, advantage, mask, b.logp_ref, b.logp_old, num_items_in_batch=mask.sum(),
        **options)[0]
    value.backward()
    return {"loss": value.item(), "dlogp": ragged(leaf.grad, b)}


def of_hidden_states(case, dtype):
    """The module itself: hidden states and a projection, in chunks of one response (its default)."""
    wanted(dtype is torch.float32, "the fused module computes in float32 only")
    wanted("objective" in case and case["entropy_coef"] == 0, "no given derivatives, no entropy bonus")
    wanted("banned" not in case, "no banned tokens")
    b, options = batch_of(case, dtype), policy(case["objective"])
    advantage = one_per_row(b.advantage, b.mask)
    wanted(advantage is not None, "one advantage per completion")
    longest, size = max(b.length), len(case["weight"][0])
    hidden = torch.tensor([[[float(x) for x in token] for token in row] + [[0.0] * size] * (longest - len(row)) for row in case["hidden"]])
    weight, target = torch.tensor(case["weight"], dtype=dtype), torch.tensor([row + [0] * (longest - len(row)) for row in case["target"]])
    hidden.requires_grad_(), weight.requires_grad_()
    module = LigerFusedLinearGRPOLoss(compiled=False, use_ref_model=b.logp_ref is not None, temperature=case["temperature"], **options)
    value = module(hidden, weight, target, b.mask.to(dtype), advantage, ref_per_token_logps=b.logp_ref, old_per_token_logps=b.logp_old,
                   num_items_in_batch=b.mask.sum())[0]
    value.backward()
    return {"loss": value.item(), "dhidden": ragged(hidden.grad, b), "dweight": weight.grad.tolist()}


def answer(case, dtype):
    torch.set_default_dtype(dtype)
    ask = {"objective": of_log_probabilities, "hidden": of_hidden_states}.get(case["kind"])
    wanted(ask, "no cases of kind " + case["kind"])
    return ask(case, dtype)


serve("Liger-Kernel", version("liger-kernel"), PRECISIONS, ["loss", "dlogp", "dhidden", "dweight"], answer)
