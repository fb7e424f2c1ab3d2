"""Random configurations of GMPOTrainer, RLOOTrainer and AsyncGRPOTrainer (written for trl 1.16.0) for random_configurations.py.

The first two as GRPOTrainer (running.py). Of the asynchronous trainer: the scores of its rollout worker, its planner and
collator with one row, and its compute_loss; replaced are the model, which gives the log-probability of every label, and the server.
A masked tail is not without a loss for the first two: a truncated response has the ratio 1. That constant is taken off the loss here.
"""
import asyncio
import functools
import os
import types
from collections import defaultdict
from unittest import mock

import numpy as np
import torch

from framework import Drawer, Framework, far_rollout
from options import translate
from run_trl import batch as trl_batch
from run_trl import batch_with_singletons
from run_trl import config_of as trl_config
from run_trl import run as trl
from running import answers, torch_batch

TRUNCATED = "mask_truncated_completions"
CLIP = {"epsilon": (0.05, 0.4), "epsilon_high": (0.1, 0.6)}


def weights(rng):
    return [rng.choice([0.25, 0.5, 1.0, 2.0]) for _ in range(2)]


# ---- GMPO and RLOO

def gmpo_drawer(data):
    left = {"top_entropy_quantile": "cannot be expressed"}
    return Drawer(data, {**CLIP, "beta": (0.01, 0.5), "reward_weights": weights}, set(), left, [], times=15)


def without_constant(found, config, made):
    """Less minus A/N for each truncated response."""
    rows = made["truncated"] if config.get(TRUNCATED) else []
    constant = -sum(advantage[-1] for advantage, cut in zip(found["advantage"], rows) if cut) / len(made["length"])
    return {**found, "loss": found["loss"] - constant}, made


def gmpo(config, given):
    import trl_adapter as adapter
    from trl.experimental.gmpo import GMPOConfig
    found, made = trl(config, given, GMPOConfig, adapter.GMPOTrainer)
    return without_constant(found, config, made)


def rloo_drawer(data):
    bounds = lambda rng: [round(rng.uniform(-0.5, 0.4), 3), round(rng.uniform(0.5, 1.5), 3)]
    numbers = {**CLIP, "beta": (0.01, 0.5), "reward_weights": weights, "reward_clip_range": bounds}
    left = {"num_iterations": "the old policy's log-probabilities are always those of another policy here",
            "router_aux_loss_coef": "needs a mixture of experts"}
    return Drawer(data, numbers, {"beta"}, left, [], times=15)


def rloo_batch(rng, config):
    return translate.random_batch(rng, True)  # it masks no tokens


def rloo(config, given):
    import trl_adapter as adapter
    c = trl_config(adapter.trl.RLOOConfig, {"reward_weights": [1.0, 1.0], **config})
    of = [1.0, 1.0] if c.reward_weights is None else c.reward_weights
    given = {**given, "reward": [sum(w * x for w, x in zip(of, row)) for row in given["rewards"]]}
    b, columns = torch_batch(given), torch.tensor(given["rewards"], dtype=torch.float64)
    names = ("beta", "normalize_advantages", "reward_clip_range", TRUNCATED)
    t = adapter.trainer_for(b, adapter.RLOOTrainer, columns[:, 0], 3, epsilon_low=c.epsilon,
                            epsilon_high=c.epsilon if c.epsilon_high is None else c.epsilon_high,
                            **{name: getattr(c, name) for name in names})
    t.penalties, t.reward_funcs, t.reward_weights = [lambda completion_ids: columns[:, 1].tolist()], [None] * 2, torch.tensor(of)
    inputs, b.leaf = adapter.scored(t), t.leaf
    value = t._compute_loss(t.model, inputs)
    found = answers(b, torch.where(b.mask, inputs["advantages"][:, None], 0), torch.ones_like(b.mask), value)
    return without_constant(found, config, given)


# ---- the asynchronous trainer

def asynchronous_drawer(data):
    left = {"router_aux_loss_coef": "needs a mixture of experts", "gradient_accumulation_steps": "there is one micro-batch"}
    return Drawer(data, CLIP, {"epsilon"}, left, [], times=40)


def asynchronous_batch(rng, config):
    made = trl_batch(rng, config)
    far_rollout(made)
    return made


@functools.cache
def asynchronous_parts():
    import trl_adapter  # noqa: F401  it silences TRL
    os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"
    from trl.experimental.async_grpo import async_grpo_trainer, async_rollout_worker
    return async_grpo_trainer, async_rollout_worker


def label(row, t):
    """A token id of its own for every token, so that nothing is shared between responses."""
    return 1000 * (row + 1) + t + 1


def advantages_of(worker, b, given):
    """By the rollout worker, group by group; the reward functions give one reward each."""
    samples = []
    for group in range(b.groups):
        rows = [i for i, g in enumerate(given["group"]) if g == group]
        rewards = [[given["rewards"][i][k] for i in rows] for k in range(2)]
        stub = types.SimpleNamespace(
            reward_funcs=[lambda values=values, **_: values for values in rewards], reward_func_names=["first", "second"],
            _env_reward_types=[], _provides_rollout_reward=False)
        of = lambda i: [worker.TrainingSequence(
            [1000 * (i + 1)] + [label(i, t) for t in range(b.length[i])], [0] + b.mask[i, :b.length[i]].int().tolist(),
            [0.0] + given["logp_rollout"][i], i)]
        samples += asyncio.run(worker._AsyncRolloutLoop._score_group(stub, worker.RolloutGroup(
            prompts=rows, reward_kwargs={}, completions=rows, completions_ids=rows, completions_sequences=[of(i) for i in rows],
            tool_call_counts=[0] * len(rows), tool_failure_counts=[0] * len(rows), model_version=0, group_id=group,
            env_rewards=[None] * len(rows), rollout_rewards=[None] * len(rows))))
    return samples


class Model:
    """The log-probability of every label; 0 at positions without one."""
    def __init__(self, b):
        self.by_label = {label(i, t): b.leaf[i, t] for i, n in enumerate(b.length) for t in range(n)}

    def __call__(self, shift_labels, **_):
        logp = torch.stack([self.by_label.get(x, torch.zeros(())) for x in shift_labels.flatten().tolist()])
        return types.SimpleNamespace(log_probs=logp, entropy=torch.zeros_like(logp))


def asynchronous_loss(trainer, c, b, samples, steps=1):
    """Of a micro-batch, of so many in a step."""
    names = ("input_ids", "completion_mask", "old_log_probs", "advantage", "group_id", "metrics")
    rows = next(iter(trainer.FixedCountBatcher([{name: getattr(s, name) for name in names} for s in samples], 1, len(samples))))
    inputs = trainer.DataCollatorForRollout(pad_token_id=0).torch_call([rows])
    same = lambda x, **_: x
    t = types.SimpleNamespace(
        epsilon_low=c.epsilon, epsilon_high=c.epsilon_high if c.epsilon_high is not None else c.epsilon, aux_loss_enabled=False,
        accelerator=types.SimpleNamespace(num_processes=1, reduce=same, gather=same), current_gradient_accumulation_steps=steps,
        _metrics={"train": defaultdict(list)}, _step_forward_tokens=0, _step_trained_tokens=0, _step_seq_len_weighted=0, _step_samples=0,
        _step_forward_s=0)
    return trainer.AsyncGRPOTrainer.compute_loss(t, Model(b), inputs)


def asynchronous(config, given):
    trainer, worker = asynchronous_parts()
    c = trl_config(trainer.AsyncGRPOConfig, config)
    given = {**given, "reward": [sum(row) for row in given["rewards"]]}
    b = torch_batch(given)
    b.leaf = b.logp.clone().requires_grad_()
    with mock.patch.object(torch, "float32", torch.float64), mock.patch.object(np, "float32", np.float64), \
            mock.patch.object(torch.Tensor, "float", torch.Tensor.double):
        samples = advantages_of(worker, b, given)
        value = asynchronous_loss(trainer, c, b, samples)
    advantage = torch.tensor([s.advantage for s in samples])[:, None]
    return answers(b, torch.where(b.mask, advantage, 0), b.mask, value), given


FRAMEWORKS = {
    "trl_gmpo": Framework(gmpo_drawer, batch_with_singletons, gmpo, 1e-9, ("epsilon", "*", "ratio.token_clip_low", 0.02)),
    "trl_rloo": Framework(rloo_drawer, rloo_batch, rloo, 1e-9, ("epsilon", "*", "surrogate.eps_low", 0.02)),
    "trl_async": Framework(asynchronous_drawer, asynchronous_batch, asynchronous, 1e-9, ("epsilon", "*", "surrogate.eps_low", 0.02))}
