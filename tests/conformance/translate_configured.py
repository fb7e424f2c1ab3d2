"""The frameworks with a given configuration: advantages, loss and gradient by their own code.

Each function takes a configuration ({option: value}, of the data of `translate`) and a batch of the oracle, and returns (answers, batch):
the answers as the oracle names them, None where they are not compared, and the batch with the arrays that the framework made itself (the
tokens that it selected). What the functions replace: models, engines, samplers, processes. The order in which the steps of verl's trainers
follow each other, and which log-probabilities and counts they pass, is written here after their code (ray_trainer.py, v1/trainer_base.py);
the steps are theirs.
"""
import ast
import asyncio
import contextlib
import copy
import dataclasses
import functools
import os
import types
import typing
from unittest import mock

import numpy as np
import torch

from padded import Rows, batch_of, ragged
from translate_drawn import Refused


def torch_batch(batch):
    b = batch_of({"batch": batch, "advantage": [[0] * n for n in batch["length"]]}, torch.float64)
    if b.entropy is not None:
        b.entropy.requires_grad_()
    return b


def answers(b, advantage, compared, value):
    """compared: mask of the tokens at which the advantages are compared."""
    value.backward()
    zero = torch.zeros_like(b.logp)
    dentropy = b.entropy.grad if b.entropy.grad is not None else zero
    rows = [[a if c else None for a, c in zip(*row)] for row in zip(ragged(advantage, b), ragged(compared, b))]
    return {"advantage": rows, "loss": value.item(), "dlogp": ragged(torch.where(b.mask, b.leaf.grad, zero), b),
            "dentropy": ragged(torch.where(b.mask, dentropy, zero), b)}


def functions_of(path, names, inside=None, **context):
    """Functions and methods of a file (of the class `inside`), without importing it: it imports engines. Decorators and annotations are
    left out."""
    with open(path, encoding="utf-8") as f:
        tree = ast.parse(f.read())
    tree = next((node for node in tree.body if inside and getattr(node, "name", None) == inside), tree)
    found = [node for node in ast.walk(tree) if getattr(node, "name", None) in names]
    for node in found:
        node.decorator_list, node.returns = [], None
        for argument in node.args.args:
            argument.annotation = None
    exec(compile(ast.Module(found, []), path, "exec"), context)
    return types.SimpleNamespace(**{name: context[name] for name in names})


def classes_of(path, names, **context):
    """Dataclasses of a file, without importing it; names: in an order in which each knows its bases."""
    with open(path, encoding="utf-8") as f:
        every = {node.name: node for node in ast.parse(f.read()).body if isinstance(node, ast.ClassDef)}
    context = {"dataclass": dataclasses.dataclass, "field": dataclasses.field, **vars(typing), "__name__": "classes", **context}
    exec(compile(ast.Module([every[name] for name in names], []), path, "exec"), context)
    return types.SimpleNamespace(**{name: context[name] for name in names})


# ---- TRL

def trl_config(kind, config):
    """The configuration of one of TRL's trainers."""
    try:
        return kind(output_dir="none", bf16=False, use_cpu=True, report_to=[], **config)
    except ValueError as why:
        raise Refused(str(why)) from None


def trl(config, batch, kind=None, trainer=None):
    """kind, trainer: of a trainer with GRPOTrainer's advantages, if not that one itself."""
    import trl_adapter as adapter
    c = trl_config(kind or adapter.trl.GRPOConfig, {"reward_weights": [1.0, 1.0], **config})
    weights = [1.0, 1.0] if c.reward_weights is None else c.reward_weights
    batch = {**batch, "reward_weight": weights, "reward": [sum(w * x for w, x in zip(weights, row)) for row in batch["rewards"]]}
    b = torch_batch(batch)
    names = ("beta", "loss_type", "importance_sampling_level", "scale_rewards", "mask_truncated_completions", "top_entropy_quantile",
             "off_policy_mask_threshold", "use_vllm", "vllm_importance_sampling_correction", "vllm_importance_sampling_mode",
             "vllm_importance_sampling_clip_max", "vllm_importance_sampling_clip_min", "multi_objective_aggregation", "entropy_coef",
             "use_adaptive_entropy", "max_completion_length")
    of_args = ("delta", "use_bias_correction_kl", "sapo_temperature_neg", "sapo_temperature_pos", "vespo_k_pos", "vespo_lambda_pos",
               "vespo_k_neg", "vespo_lambda_neg")
    columns = torch.tensor(batch["rewards"], dtype=torch.float64)
    t = adapter.trainer_for(b, trainer or adapter.GRPOTrainer, columns[:, 0], 3, epsilon_low=c.epsilon,
                            epsilon_high=c.epsilon if c.epsilon_high is None else c.epsilon_high,
                            **{name: getattr(c, name) for name in names + of_args})
    t.penalties, t.reward_funcs, t.reward_weights = [lambda completion_ids: columns[:, 1].tolist()], [None] * 2, torch.tensor(weights)
    t.accelerator.pad_across_processes = lambda x, **_: x
    t._entropy_bonus_enabled = c.entropy_coef != 0 or c.use_adaptive_entropy
    inputs = adapter.scored(t)
    if c.top_entropy_quantile < 1:
        counted = inputs["completion_mask"] * inputs["tool_mask"]
        batch["selected"] = ragged(t.get_high_entropy_mask(b.entropy.detach(), counted, 1 - c.top_entropy_quantile), b)
    b.leaf = t.leaf
    value = t._compute_loss(t.model, inputs)
    return answers(b, torch.where(b.mask, inputs["advantages"][:, None], 0), torch.ones_like(b.mask), value), batch


# ---- verl

@functools.cache
def verl_parts():
    import verl_adapter as adapter
    import verl as package
    from hydra import compose, initialize_config_dir
    from verl import DataProto
    from verl.trainer.ppo import rollout_corr_helper
    from verl.utils.torch_functional import masked_mean
    root = os.path.dirname(package.__file__)
    with initialize_config_dir(os.path.join(root, "trainer", "config"), version_base=None):
        default = compose("ppo_trainer")
    core = adapter.verl
    trainer = functions_of(os.path.join(root, "trainer", "ppo", "ray_trainer.py"), ("apply_kl_penalty", "compute_advantage"),
                           core_algos=core, masked_mean=masked_mean, AdvantageEstimator=core.AdvantageEstimator, torch=torch)
    several = functions_of(os.path.join(root, "trainer", "ppo", "v1", "utils.py"), ("compute_advantage_for_multi_trajectories",),
                           core_algos=core, compute_advantage=trainer.compute_advantage, torch=torch)
    manager = functions_of(os.path.join(root, "experimental", "reward_loop", "reward_manager", "dapo.py"), ("run_single",))
    return types.SimpleNamespace(adapter=adapter, core=core, default=default, DataProto=DataProto, helper=rollout_corr_helper,
                                 kl_in_reward=trainer.apply_kl_penalty, advantage=trainer.compute_advantage,
                                 advantage_v1=several.compute_advantage_for_multi_trajectories, run_single=manager.run_single)


def verl_config(config):
    from omegaconf import OmegaConf
    c = copy.deepcopy(verl_parts().default)
    buffer = "reward.reward_kwargs.overlong_buffer_cfg."
    for option, x in {buffer + "enable": False, buffer + "log": False, "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu": 1,
                      **config}.items():
        OmegaConf.update(c, option, x, force_add=True)
    return c


def verl_reward(c, reward, length):
    """By the reward manager `dapo`."""
    class Row(dict):
        batch = {"responses": torch.zeros(length), "attention_mask": torch.ones(length, dtype=torch.long)}
        non_tensor_batch = {"data_source": "", "reward_model": {"ground_truth": ""}}

        def __getitem__(self, _):
            return self

    async def run():
        of_kwargs = c.reward.get("reward_kwargs", {})
        manager = types.SimpleNamespace(
            loop=asyncio.get_running_loop(), tokenizer=types.SimpleNamespace(decode=lambda *_, **__: ""), reward_router_address=None,
            is_async_reward_score=False, compute_score=lambda **_: reward, max_resp_len=of_kwargs.get("max_resp_len"),
            overlong_buffer_cfg=of_kwargs.get("overlong_buffer_cfg"))
        return float((await verl_parts().run_single(manager, Row()))["reward_score"])
    return asyncio.run(run())


def verl_data(c, b, batch):
    """The batch of the trainer before it computes advantages."""
    scores, mask = torch.zeros_like(b.logp), b.mask.long()
    for row, n in enumerate(b.length):
        scores[row, n - 1] = verl_reward(c, batch["reward"][row], n)
    bypass = c.algorithm.rollout_correction.bypass_mode
    tensors = {"token_level_scores": scores, "response_mask": mask, "old_log_probs": b.logp_rollout if bypass else b.logp_old,
               "rollout_log_probs": b.logp_rollout, "ref_log_prob": b.logp_ref, "values": b.value, "prompts": torch.ones(b.rows, 1),
               "attention_mask": (torch.arange(mask.shape[1] + 1) <= torch.tensor(b.length)[:, None]).long()}
    if c.algorithm.adv_estimator == "remax":
        tensors["reward_baselines"] = b.baseline[b.group]
    if c.algorithm.adv_estimator == "optimal_token_baseline":
        tensors["sum_pi_squared"] = b.sum_pi_squared
    others = {"uid": b.group.numpy(), "first": np.array([x for x, _ in batch["rewards"]]),
              "second": np.array([x for _, x in batch["rewards"]])}
    return verl_parts().DataProto.from_dict(tensors, {key: x.astype(object) for key, x in others.items()})


def verl_advantages(c, data, rows):
    """As _compute_advantage of the trainer with use_v1, and fit of the other one: the same steps."""
    v, algorithm = verl_parts(), c.algorithm
    if algorithm.use_kl_in_reward:
        data = v.kl_in_reward(data, v.core.get_kl_controller(algorithm.kl_ctrl), algorithm.kl_penalty)[0]
    else:
        data.batch["token_level_rewards"] = data.batch["token_level_scores"]
    if not algorithm.rollout_correction.bypass_mode:
        data = v.helper.compute_rollout_correction_and_add_to_batch(data, algorithm.rollout_correction)[0]
    how = dict(adv_estimator=algorithm.adv_estimator, gamma=algorithm.gamma, lam=algorithm.lam,
               norm_adv_by_std_in_grpo=algorithm.norm_adv_by_std_in_grpo, config=algorithm)
    if c.trainer.use_v1:
        return v.advantage_v1(data, batch_keys=[f"{uid}_{i}_0" for i, uid in enumerate(data.non_tensor_batch["uid"][:rows])], **how)
    return v.advantage(data, **how)


@contextlib.contextmanager
def selections(kept):
    """Keeps what the losses of covariances select: the factors that clip_cov sets to 0, the indices of kl_cov."""
    ones_like, topk = torch.ones_like, torch.topk

    def ones(*of, **how):
        made = ones_like(*of, **how)
        kept.setdefault("factors", made)
        return made

    def largest(*of, **how):
        made = topk(*of, **how)
        kept.setdefault("largest", made)
        return made
    with mock.patch.object(torch, "ones_like", ones), mock.patch.object(torch, "topk", largest):
        yield


def verl(config, batch):
    try:
        return verl_answers(config, batch)
    except ZeroDivisionError:
        raise Refused("its metrics divide by the mean of the rollout weights, which is 0 on this batch") from None


def verl_answers(config, batch):
    v, c = verl_parts(), verl_config({"algorithm.gdpo_reward_keys": ["first", "second"], **config})
    batch = {**batch, "reward_weight": c.algorithm.get("gdpo_reward_weights") or [1.0, 1.0]}
    b, actor, mode = torch_batch(batch), c.actor_rollout_ref.actor, c.actor_rollout_ref.actor.policy_loss.loss_mode
    # two estimators compute in float32 whatever they are given
    with mock.patch.object(torch, "float32", torch.float64), mock.patch.object(np, "float32", np.float64):
        data = verl_advantages(c, verl_data(c, b, batch), b.rows)
    if c.algorithm.rollout_correction.bypass_mode and not c.trainer.use_v1:
        v.helper.apply_bypass_mode(data, c.algorithm.rollout_correction, actor.policy_loss)
    from verl.utils.config import omega_conf_to_dataclass
    kept, mask, b.leaf = {}, data.batch["response_mask"].bool(), b.logp.clone().requires_grad_()
    if not mask.any():
        raise Refused("every token of the batch is rejected: the loss is 0 divided by 0")
    fields = {key: data.batch[key] for key in ("response_mask", "old_log_probs", "advantages", "ref_log_prob", "rollout_is_weights")
              if key in data.batch}
    info = {"dp_size": 1, "batch_num_tokens": int((b.mask if c.trainer.use_v1 else mask).sum()), "global_batch_size": b.rows}
    output = {"log_probs": b.leaf, **({"entropy": b.entropy} if actor.entropy_coeff or actor.calculate_entropy else {})}
    torch.manual_seed(0)  # clip_cov draws its tokens
    with selections(kept):
        value = v.adapter.losses.ppo_loss(omega_conf_to_dataclass(actor), output, Rows({**info, **fields}))[0]
    if mode == "clip_cov":
        batch["selected"] = ragged(kept["factors"] == 0, b)
    if mode == "kl_cov":
        flags = torch.zeros(b.mask.numel(), dtype=torch.bool)
        if "largest" in kept:  # not without tokens
            flags[torch.nonzero(mask.reshape(-1))[:, 0][kept["largest"].indices]] = True
        batch["kl_mask"] = ragged(flags.reshape(b.mask.shape), b)
    return answers(b, torch.where(mask, data.batch["advantages"], 0), mask, value), batch


# ---- ms-swift

def ms_swift(config, batch):
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


# ---- OpenRLHF

def parser_defaults(path):
    """{option: default} of the calls of add_argument in a file: the parser itself is made and used in one breath."""
    with open(path, encoding="utf-8") as f:
        calls = [n for n in ast.walk(ast.parse(f.read())) if isinstance(n, ast.Call) and getattr(n.func, "attr", "") == "add_argument"]
    found = {}
    for call in calls:
        words = {k.arg: k.value for k in call.keywords}
        switch = "action" in words and ast.literal_eval(words["action"]) == "store_true"
        try:
            found[call.args[0].value.lstrip("-")] = ast.literal_eval(words["default"]) if "default" in words else False if switch else None
        except (AttributeError, ValueError):
            pass  # not a literal: none of the options that are needed here
    return found


def openrlhf(config, batch):
    import openrlhf_adapter as adapter
    c = {**parser_defaults(os.path.join(adapter.ROOT, "cli", "train_ppo_ray.py")), **config}
    threshold = c["algo.advantage.is_correction_threshold"]
    c["algo.advantage.is_correction_threshold"] = threshold if len(threshold) == 2 else [0.0, *threshold]  # as after parsing
    b, zero = torch_batch(batch), torch.zeros(1)
    with mock.patch.object(torch.Tensor, "float", torch.Tensor.double), mock.patch.object(torch, "float32", torch.float64):
        kl = zero.expand_as(b.logp) if c["algo.kl.use_loss"] else adapter.compute_approx_kl(
            b.logp_old, b.logp_ref, kl_estimator=c["algo.kl.estimator"])
        maker = adapter.maker_of(c, 3, c["rollout.max_new_tokens"])
        experience = adapter.experience_of(b, kl)
        experience.truncated = b.truncated
        b.advantage = maker.compute_advantages_and_returns([experience])[0].advantages
        try:
            rule = adapter.rule_of(c)
        except (ValueError, AssertionError) as why:
            raise Refused(str(why)) from None
        b.leaf, info = b.logp.clone().requires_grad_(), adapter.get_loss_batch_info(None, b.mask)
        value = rule(b.leaf, b.logp_old, b.advantage, action_mask=b.mask, rollout_log_probs=b.logp_rollout, **info)[0]
        if c["algo.kl.use_loss"]:
            kl = adapter.compute_approx_kl(b.leaf, b.logp_ref, log_probs_old=b.logp_old, kl_estimator=c["algo.kl.estimator"],
                                           unbiased_gradient=c["algo.kl.unbiased_gradient"])
            value = value + adapter.aggregate_loss(kl, b.mask, **info) * c["algo.kl.init_coef"]
        if c["actor.entropy_coef"]:
            value = value - adapter.aggregate_loss(b.entropy, b.mask, **info) * c["actor.entropy_coef"]
    return answers(b, torch.where(b.mask, b.advantage, 0), torch.ones_like(b.mask), value), batch
