"""ms-swift (written for ms-swift 4.6.0) with a given configuration: advantages, loss and gradient by its own code.

The files of the trainer, the arguments and the advantages are loaded without the rest of the package
(../conformance/adapters/ms_swift.py); its own methods replace the nulls among its defaults. The batches are one window of gradient
accumulation. A teacher is the array logp_teacher: of teacher_model, or of the policy itself with another prompt (rlsd, sdar).
"""
import sys
import types
from unittest import mock

import torch

from framework import Drawer, Framework, Refused, far_rollout, whole
from padded import padded, ragged
from run_trl import batch as trl_batch
from run_trl import delta
from running import answers, torch_batch


# ---- what is drawn

def drawer(data):
    weights = lambda rng: [rng.choice([0.25, 0.5, 1.0, 2.0]) for _ in range(2)]
    numbers = {"beta": (0.01, 0.5), "epsilon": (0.05, 0.4), "epsilon_high": (0.1, 0.6), "delta": (1.05, 4), "tau_pos": (0.5, 3),
               "tau_neg": (0.5, 3), "real_tau": (0.3, 2), "fipo_decay_rate": (1, 32), "fipo_clip_range": (0.2, 0.9),
               "fipo_safety_threshold": (1.01, 1.5), "reward_weights": weights, "max_completion_length": whole(3, 20),
               "top_entropy_quantile": (0.2, 0.8), "rollout_importance_sampling_threshold": (1.05, 3),
               "teacher_model": lambda rng: "teacher", "teacher_model_server": lambda rng: "http://localhost:8000",
               "teacher_kl_coef": (0.1, 2), "rlsd_lambda": (0.1, 1), "rlsd_reweight_clip_range": (0.05, 0.8),
               "sdar_loss_coef": (0.01, 0.5), "sdar_gate_beta": (0.5, 8)}
    left = {"chord_mu_peak": "needs expert data",
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

def advantages(package, t, b, rewards, teacher):
    """As _postprocess_batch computes them (grpo_trainer.py:255-295). teacher: its log-probabilities, or None."""
    group = types.SimpleNamespace(old_per_token_logps=b.logp_old, ref_per_token_logps=b.logp_ref, completion_mask=b.mask)
    base = t._compute_advantages([], rewards, [{"grpo_batch": group}])
    if t.advantage_reweight == "rlsd" and teacher is not None:
        return package.apply_rlsd_reweight(base, b.mask, teacher, b.logp_old, lam=t._rlsd_effective_lambda(),
                                           clip_range=t.rlsd_reweight_clip_range, negative_only=t.rlsd_negative_only)
    if t.sdar_loss_coef > 0 or teacher is None:
        return package.expand_advantage_to_per_token(base, b.mask)
    return package.expand_advantage_to_per_token(base, b.mask, teacher, b.logp_old, t.args.teacher_kl_coef)


def run(config, batch):
    import ms_swift as package
    c = package.arguments(reward_funcs=["accuracy"], use_liger_kernel=False, model="", **config)
    try:
        with mock.patch.dict(sys.modules, {"swift.rlhf_trainers.gkd_helpers": mock.Mock()}):
            c._check_teacher()
        c._check_opd_rl()
        c._check_rlsd()
        c._check_sdar()
    except ValueError as why:
        raise Refused(str(why)) from None
    weights = c.reward_weights or [1.0, 1.0]
    batch = {**batch, "reward_weight": weights, "reward": [sum(w * x for w, x in zip(weights, row)) for row in batch["rewards"]]}
    b = torch_batch(batch)
    t = package.trainer(c, b, 3)
    t.state = types.SimpleNamespace(global_step=0)
    t.reward_weights, t.reward_func_names, t.compute_entropy = torch.tensor(weights), ["first", "second"], c.top_entropy_quantile < 1
    t._get_per_token_logps_and_entropies = lambda *_, **__: (t.leaf, b.entropy.detach())
    distilled = c.teacher_model or c.teacher_model_server or c.advantage_reweight or c.sdar_loss_coef
    teacher = padded(batch["logp_teacher"], b.length, -1, torch.float64) if distilled else None
    advantage = advantages(package, t, b, torch.tensor(batch["rewards"], dtype=torch.float64), teacher)
    quantile, kept, b.leaf = torch.nanquantile, [], t.leaf

    def threshold(*of, **how):
        kept.append(quantile(*of, **how))
        return kept[-1]
    with mock.patch.object(torch, "nanquantile", threshold):
        value = package.loss(t, b, advantage, teacher=teacher)
    if kept:
        batch["selected"] = ragged((b.entropy >= kept[0]) & b.mask, b)
    return answers(b, torch.where(b.mask, advantage, 0), torch.ones_like(b.mask), value), batch


FRAMEWORKS = {"ms_swift": Framework(drawer, batch, run, 1e-9, ("rollout_importance_sampling_mode", "token_mask", "weight.rollout_is",
                                                               "truncate"))}
