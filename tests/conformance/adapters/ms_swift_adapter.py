"""ms-swift's GRPO trainer, with the options of its command line (written for ms-swift 4.6.0): _compute_advantages and
_compute_loss_and_metrics, the loss by loss_type (ms_swift.py loads them).

For cases of kind split each micro-batch's loss is divided by gradient_accumulation_steps, as in the training step of transformers.
"""
from protocol import serve, wanted  # first: it keeps standard output for the answers
from importlib.metadata import version

from options import Options, fields_of
from padded import PRECISIONS, accumulation_steps, answer_by, batch_of, optimiser_step, part_of, ragged
import ms_swift
import torch

SWIFT = Options("ms_swift")
STD_EPS = 1e-4


# ---- advantages

def advantages(o, b):
    a, r = o["advantage"], o["reward"]
    wanted(b.reward is not None, "no rewards")
    wanted(len(set(b.group_size.tolist())) == 1 and b.group_size[0] > 1, "num_generations: groups of one size, at least 2")
    wanted(a["credit"] == "outcome" and a["reweight"] == "none", "one advantage per completion, without gain")
    wanted(a["std"] == "sample" or a["scale"] == "none", "sample std only")
    wanted(a["eps"] in (0, STD_EPS) and (a["eps_place"] == "add" or a["eps"] == 0) or a["scale"] == "none", "std + 1e-4 only")
    wanted(r["overlong"] == "none" and r["kl"] in ("none", "k1"), "the overlong penalty is a reward function; KL by k1")
    same = {"advantage.baseline": a["baseline"], "advantage.scale": a["scale"]}
    options = SWIFT.of(("advantage_estimator", "scale_rewards"), {**same, "advantage.rewards": "one"})
    wanted(options, "no advantage_estimator with baseline {baseline}, scale {scale}".format(**a))
    in_reward = {"kl_in_reward": True, "beta": r["kl_coef"]} if r["kl"] != "none" else {"kl_in_reward": False, "beta": 0.0}
    t = ms_swift.trainer(ms_swift.arguments(**options, **in_reward), b, int(b.group_size[0]))
    return torch.where(b.mask, ms_swift.advantages(t, b), 0)


# ---- loss

def policy(o):
    """The options of the loss."""
    r, s, g, p, w = o["ratio"], o["surrogate"], o["aggregation"], o["penalty"], o["weight"]
    wanted(r["behaviour"] == "old", "only ratios against old log-probabilities")
    wanted(r["clamp_low"] == r["clamp_high"] == r["level_clamp_low"] == r["level_clamp_high"] == 0, "no clamp of log-ratios")
    wanted(g["empty_sequences"] == "keep", "responses without tokens always count")
    wanted(s["kind"] != "cispo" or s["weight_min"] == 0, "cispo has no lower bound")
    same = {"surrogate.kind": s["kind"], "ratio.level": r["level"], "ratio.gradient": r["gradient"], "aggregation.kind": g["kind"],
            "weight.fipo": "none"}
    options = SWIFT.of(("loss_type", "delta", "importance_sampling_level"), same, fields_of(o, "surrogate", "aggregation"))
    wanted(options and s["kind"] in ("ppo_clip", "dual_clip", "cispo", "sapo"),
           f"no {s['kind']} with ratio.level {r['level']} and aggregation {g['kind']}")
    return {**options, **penalty(p), **correction(w), "overlong_filter": w["truncated"] == "mask"}


def penalty(p):
    if p["kl"] == "none":
        return {"beta": 0.0}
    wanted(p["kl"] == "k3" and p["kl_gradient"] == "exact" and p["kl_importance_weight"] == "none"
           and (p["kl_clamp_log"], p["kl_clamp_value"]) in ((0, 0), (20, 10)), "KL in the loss: k3 without a ratio")
    return {"beta": p["kl_coef"], "kl_in_reward": False}


def correction(w):
    if w["rollout_is"] == "none":
        return {}
    wanted(w["rollout_rejected"] == "zero_weight" and w["rollout_clamp"] in (0, 20) and w["rollout_is_low"] == 0,
           "rollout weights have only an upper bound, without rejecting tokens")
    mode = {("truncate", "token"): "token_truncate", ("mask", "token"): "token_mask",
            ("truncate", "sequence_mean"): "sequence_truncate"}.get((w["rollout_is"], w["rollout_is_level"]))
    wanted(mode, f"no rollout weight {w['rollout_is']} of {w['rollout_is_level']}")
    return {"rollout_importance_sampling_mode": mode, "rollout_importance_sampling_threshold": float(w["rollout_is_high"])}


def trainer(o, b):
    options = policy(o)
    wanted("rollout_importance_sampling_mode" not in options or options["beta"] == 0, "the rollout weight multiplies the KL too")
    return ms_swift.trainer(ms_swift.arguments(**options), b, b.rows)


def backward(t, b, tokens=None):
    value = ms_swift.loss(t, b, b.advantage, tokens) / t.current_gradient_accumulation_steps
    value.backward()
    return {"loss": value.item(), "dlogp": ragged(t.leaf.grad, b)}


def loss(o, b):
    return backward(trainer(o, b), b)


def split(case, o, dtype):
    steps, rows = accumulation_steps(case), {len(part_of(case, part)[1]) for part in case["parts"]}
    wanted(len(rows) == 1 or policy(o)["loss_type"] in ("dapo", "cispo"), "micro-batches need equally many responses")
    tokens = batch_of(case, dtype).mask.sum()

    def of_part(part, rank):
        b = batch_of(part, dtype)
        t = trainer(o, b)
        t.accelerator.num_processes, t.current_gradient_accumulation_steps = case["ranks"], steps
        return backward(t, b, tokens)

    return optimiser_step(case, of_part)


def answer(case, dtype):
    return answer_by(case, dtype, advantages, loss, split)


if __name__ == "__main__":
    serve("ms-swift", version("ms-swift"), PRECISIONS, ["advantage", "loss", "dlogp"], answer)
