"""ms-swift (written for ms-swift 4.6.0) with a given configuration: advantages, loss and gradient by its own code.

The files of the trainer, the arguments and the advantages are loaded without the rest of the package
(../conformance/adapters/ms_swift.py); its own methods replace the nulls among its defaults. The batches are one window of gradient
accumulation, without a teacher.
"""
import types
from unittest import mock

import torch

from framework import Drawer, Framework, far_rollout, whole
from padded import ragged
from run_trl import batch as trl_batch
from run_trl import delta
from running import answers, torch_batch


# ---- what is drawn

def drawer(data):
    weights = lambda rng: [rng.choice([0.25, 0.5, 1.0, 2.0]) for _ in range(2)]
    numbers = {"beta": (0.01, 0.5), "epsilon": (0.05, 0.4), "epsilon_high": (0.1, 0.6), "delta": (1.05, 4), "tau_pos": (0.5, 3),
               "tau_neg": (0.5, 3), "real_tau": (0.3, 2), "fipo_decay_rate": (1, 32), "fipo_clip_range": (0.2, 0.9),
               "fipo_safety_threshold": (1.01, 1.5), "reward_weights": weights, "max_completion_length": whole(3, 20),
               "top_entropy_quantile": (0.2, 0.8), "rollout_importance_sampling_threshold": (1.05, 3)}
    teacher = ("teacher_model", "teacher_kl_coef", "advantage_reweight", "rlsd_lambda", "rlsd_reweight_clip_range", "rlsd_negative_only",
               "rlsd_lambda_warmup_steps", "rlsd_lambda_decay_steps", "sdar_loss_coef", "sdar_gate_beta")
    left = {**{option: "needs a teacher" for option in teacher}, "chord_mu_peak": "needs expert data",
            "reward_funcs": "the reward functions are the caller's", "soft_cache_length": "one of them", "soft_max_length": "one of them",
            "off_policy_sequence_mask_delta": "its numbers cannot be expressed"}
    return Drawer(data, numbers, {"loss_type", "fipo_clip_high_only"}, left, [delta(("grpo", "bnpo", "dr_grpo", "dapo", "fipo"))],
                  times=12)


def batch(rng, config):
    """A third of the responses are often far more probable under the sampler. Of fipo the last tokens of a response are often less
    probable than under the old policy, and the others more: a weight below 1 at a token with a ratio above it."""
    made = trl_batch(rng, config)
    if rng.random() < 0.5:
        far_rollout(made)
    if rng.random() < 0.5:
        made["logp_rollout"] = [[x / 8 for x in old] if i % 3 == 0 else row
                                for i, (row, old) in enumerate(zip(made["logp_rollout"], made["logp_old"]))]
    if config.get("loss_type") == "fipo" and rng.random() < 0.5:
        made["logp"] = [[min(x + 0.5, -1 / 64) for x in row[:-2]] + [x - 1 for x in row[-2:]] for row in made["logp_old"]]
    return made


# ---- by the framework's own code

def run(config, batch):
    import ms_swift as package
    c = package.arguments(**config)
    weights = c.reward_weights or [1.0, 1.0]
    batch = {**batch, "reward_weight": weights, "reward": [sum(w * x for w, x in zip(weights, row)) for row in batch["rewards"]]}
    b = torch_batch(batch)
    t = package.trainer(c, b, 3)
    t.reward_weights, t.reward_func_names, t.compute_entropy = torch.tensor(weights), ["first", "second"], c.top_entropy_quantile < 1
    t._get_per_token_logps_and_entropies = lambda *_, **__: (t.leaf, b.entropy.detach())
    group = types.SimpleNamespace(old_per_token_logps=b.logp_old, ref_per_token_logps=b.logp_ref, completion_mask=b.mask)
    advantage = package.expand_advantage_to_per_token(
        t._compute_advantages([], torch.tensor(batch["rewards"], dtype=torch.float64), [{"grpo_batch": group}]), b.mask)
    quantile, kept, b.leaf = torch.nanquantile, [], t.leaf

    def threshold(*of, **how):
        kept.append(quantile(*of, **how))
        return kept[-1]
    with mock.patch.object(torch, "nanquantile", threshold):
        value = package.loss(t, b, advantage)
    if kept:
        batch["selected"] = ragged((b.entropy >= kept[0]) & b.mask, b)
    return answers(b, torch.where(b.mask, advantage, 0), torch.ones_like(b.mask), value), batch


FRAMEWORKS = {"ms_swift": Framework(drawer, batch, run, 1e-9, ("rollout_importance_sampling_mode", "token_mask", "weight.rollout_is",
                                                               "truncate"))}
