"""Pitfalls of TRL's trainers (1.16.0), for pitfalls.py."""
import functools
import math
import types
from unittest import mock

import torch

from running import finite, near, shares, small_batch, torch_batch


def trl_quantile_of_micro_batch():
    import trl_adapter as adapter
    entropy, mask = torch.arange(12.0).reshape(4, 3), torch.ones(4, 3)
    accelerator = types.SimpleNamespace(pad_across_processes=lambda x, **_: x, gather=lambda x: x)
    chosen = functools.partial(adapter.GRPOTrainer.get_high_entropy_mask, types.SimpleNamespace(accelerator=accelerator))
    found = {"one": shares(chosen(entropy, mask, 0.66), mask.bool()),
             "four": sum((shares(chosen(entropy[[i]], mask[[i]], 0.66), mask[[i]].bool()) for i in range(4)), [])}
    return near(found["one"], [0, 0, 1 / 3, 1]) and near(found["four"], [1 / 3] * 4), found


def trl_vespo_masked_token():
    import trl_adapter as adapter
    found = {}
    for name, weight in (("outside the bounds", 0.0), ("at the bound", 3.0)):  # token_mask and token_truncate
        ratio = torch.tensor([[1.0, weight, 1.0]])
        found[name] = adapter.GRPOTrainer.get_gamma_weights(torch.ones(1, 1), torch.zeros(1, 3), torch.ones(1, 3), ratio).item()
    return found["outside the bounds"] < 1e-12 and found["at the bound"] > 0.01, found


def trl_cispo_default_bound():
    """Of what is on policy: the gradient of cispo, without epsilon_high and with 5, over that of dapo."""
    import run_trl
    batch, found = small_batch(truncated=[False] * 4), {}
    batch["logp_old"] = batch["logp"]
    first = lambda options: run_trl.run(options, batch)[0]["dlogp"][0][0]
    for name, given in (("not given", {}), ("5", {"epsilon_high": 5.0})):
        found[name] = first({"loss_type": "cispo", **given}) / first({"loss_type": "dapo"})
    return near(found.values(), [0.2, 1]), found


def trl_rloo_infinite_ratio():
    """The loss, and whether the gradient of a response with A > 0 is finite, for a sum of log-ratios below and above 88."""
    import padded
    import trl_adapter as adapter
    found = {}
    for far in (10.0, 30.0):
        b = padded.batch_of({"batch": small_batch(), "advantage": [[0] * 3] * 4}, torch.float32)
        b.logp_old, b.logp = b.logp, b.logp.clone()
        b.logp[0] += far  # of three tokens
        t = adapter.trainer_for(b, adapter.RLOOTrainer, b.reward, 4)
        t.accelerator.gather_for_metrics = lambda x: x
        loss = t._compute_loss(t.model, adapter.scored(t))
        loss.backward()
        found[far] = loss.item(), finite(t.leaf.grad[0])
    return near(found[10.0][:1], found[30.0][:1]) and [x[1] for x in found.values()] == [True, False], found


def trl_deepspeed_clips():
    """The norm at which DeepSpeed clips where max_grad_norm is 5: without gradient_clipping in its configuration, and with auto."""
    from deepspeed.runtime.config import get_gradient_clipping
    from transformers import TrainingArguments
    from transformers.integrations.deepspeed import HfTrainerDeepSpeedConfig
    args, found = TrainingArguments(output_dir="none", max_grad_norm=5.0, use_cpu=True, report_to=[]), {}
    for name, given in (("left out", {}), ("auto", {"gradient_clipping": "auto"})):
        made = HfTrainerDeepSpeedConfig({"zero_optimization": {"stage": 2}, **given})
        made.trainer_config_process(args)
        found[name] = get_gradient_clipping(made.config)
    return list(found.values()) == [1.0, 5.0], found


def trl_gmpo_no_rollout_weights():
    """The first gradient with the correction and without it, of GMPOTrainer and of GRPOTrainer."""
    import run_trl
    import run_trl_trainers
    batch, found = small_batch(truncated=[False] * 4), {}
    batch["logp_rollout"] = [[x - 0.3 for x in row] for row in batch["logp_old"]]
    for name, run in (("gmpo", run_trl_trainers.gmpo), ("grpo", run_trl.run)):
        found[name] = [run({"use_vllm": True, "vllm_importance_sampling_mode": "token_truncate",
                            "vllm_importance_sampling_correction": on}, batch)[0]["dlogp"][0][0] for on in (True, False)]
    ratio = {name: on / off for name, (on, off) in found.items()}
    return near(ratio.values(), [1, math.exp(0.3)]), ratio


def truncated_in_loss(name):
    """The loss, and the gradient of a truncated response of the three, where every ratio is 1; and the loss where none is truncated."""
    import run_trl_trainers
    found = {}
    for cut in (True, False):
        batch = small_batch(reward=(1.0, 0.0, 0.5), truncated=[False, cut, False])
        old = batch["logp_old"]
        batch["logp"] = [old[0], [x + 1 for x in old[1]], old[2]]
        with mock.patch.object(run_trl_trainers, "without_constant", lambda found, config, made: (found, made)):
            answer = getattr(run_trl_trainers, name)({"mask_truncated_completions": True, "beta": 0.0, "epsilon": 0.5}, batch)[0]
        advantage = [row[-1] for row in answer["advantage"]]
        found[str(cut)] = [answer["loss"] + (advantage[0] + advantage[2]) / 3, answer["dlogp"][1][0], -advantage[1] / 3]
    added, slope, whole = found["True"]
    return near([added], [whole]) and slope == 0 and found["False"][0] > 1.5 * whole and found["False"][1] > 0, found


def trl_rloo_truncated_in_loss():
    return truncated_in_loss("rloo")


def trl_gmpo_truncated_in_loss():
    return truncated_in_loss("gmpo")


def trl_async_micro_batches():
    """The first gradient of responses of 1 and of 5 tokens in two micro-batches, over that in one; and of equally long ones."""
    import run_trl_trainers as module
    trainer, worker = module.asynchronous_parts()
    found, c = {}, module.trl_config(trainer.AsyncGRPOConfig, {})
    for length in ([1, 5], [3, 3]):
        batch = small_batch(reward=(1.0, 0.0), length=length)
        of = []
        for cut in (1, 2):
            b = torch_batch(batch)
            b.leaf = b.logp.clone().requires_grad_()
            samples = module.advantages_of(worker, b, batch)
            with mock.patch.object(torch, "float32", torch.float64), mock.patch.object(torch.Tensor, "float", torch.Tensor.double):
                for part in ([samples] if cut == 1 else [[x] for x in samples]):
                    module.asynchronous_loss(trainer, c, b, part, cut).backward()
            of.append(b.leaf.grad[0, 0].item())
        found[str(length)] = of[1] / of[0]
    return near(found.values(), [3, 1]), found
