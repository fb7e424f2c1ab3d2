"""Random configurations of SkyRL (written for skyrl 0.4.0) for random_configurations.py.

The steps of its trainer and of its policy worker, taken from their files: the KL in the reward, advantages, their division by the divisor
of the loss, and one micro-batch with loss, KL and entropy. Replaced are the model, which gives the numbers of the batch, and what the
workers share. As there, the tokens of a response are at the right end of their row. What its validate_cfg refuses is refused.
"""
import abc
import collections
import contextlib
import dataclasses
import functools
import os
import types
from unittest import mock

import numpy as np
import torch

from framework import SIZES, Beyond, Drawer, Framework, Refused, far_rollout, holes, regroup, whole
from options import translate
from padded import padded, ragged
from running import answers, classes_of, functions_of, torch_batch

NAME = "trainer.algorithm."
CORRECTION = NAME + "off_policy_correction."
OTHERS = ("temperature", "value_head_prefix", "value_clip", "zero_variance_filter_tol", "enable_sample_support_replay",
          "dynamic_sampling.type", "dynamic_sampling.max_sample_batches", "dynamic_sampling.min_replace_ratio", "kl_ctrl.kl_target",
          "kl_ctrl.horizon")  # options of the class, of the batch or of the critic
OF_TOKENS = ("reinforce++", "gae")  # estimators for which tokens without a loss are steps


# ---- what is drawn

def drawer(data):
    near, band = (1.02, 1.6), (0.4, 0.98)
    numbers = {NAME + "gamma": (0.8, 1), NAME + "lambd": (0.8, 1), NAME + "eps_clip_low": (0.05, 0.4), NAME + "eps_clip_high": (0.05, 0.6),
               NAME + "clip_ratio_c": (1.2, 5), NAME + "sapo.tau_pos": (0.5, 3), NAME + "sapo.tau_neg": (0.5, 3),
               NAME + "cispo.cispo_eps_clip_low": (0.1, 0.9), NAME + "cispo.cispo_eps_clip_high": (0.1, 4),
               NAME + "dppo.delta_low": (0.01, 0.3), NAME + "dppo.delta_high": (0.01, 0.3), NAME + "clip_cov.clip_ratio": (0.1, 0.6),
               NAME + "clip_cov.clip_cov_lb": lambda rng: round(rng.uniform(-0.02, 0.01), 4),
               NAME + "clip_cov.clip_cov_ub": lambda rng: round(rng.uniform(0.02, 5), 4),
               NAME + "kl_loss_coef": (0.01, 0.5), NAME + "entropy_loss_coef": (0.01, 0.2), NAME + "max_seq_len": whole(3, 20),
               NAME + "tis_imp_ratio_cap": (1.05, 3), CORRECTION + "token_tis_ratio_clip_high": (1.05, 3),
               CORRECTION + "sequence_tis_ratio_clip_high": (1.05, 4), CORRECTION + "geo_mask_high": near,
               CORRECTION + "geo_mask_low": band, CORRECTION + "product_mask_high": (1.02, 3), CORRECTION + "product_mask_low": band,
               CORRECTION + "outlier_token_is_threshold_low": (0.3, 0.9), CORRECTION + "outlier_token_is_threshold_high": (1.1, 3),
               CORRECTION + "token_mask_is_threshold_low": (0.4, 0.95), CORRECTION + "token_mask_is_threshold_high": (1.05, 2)}
    left = {NAME + "kl_cov.ppo_kl_coef": "kl_cov cannot be expressed", NAME + "kl_cov.kl_cov_frac": "kl_cov cannot be expressed"}
    beyond = [Beyond(NAME + "advantage_estimator", "a mean below 0 divides", lambda c: c[NAME + "advantage_estimator"] == "maxrl"
                     and c[NAME + "use_kl_in_reward"])]
    return Drawer(data, numbers, {NAME + "policy_loss_type", NAME + "advantage_estimator", NAME + "use_kl_loss"}, left, beyond, times=12)


def batch(rng, config):
    made = translate.random_batch(rng, True)
    if rng.random() < 0.5:
        far_rollout(made)
    alone = config.get(NAME + "advantage_estimator") != "maxrl"  # a response alone in its group
    regroup(rng, made, SIZES if alone else ([3, 3, 3], [4, 2, 3], [2, 3, 4]))
    if config.get(NAME + "zero_variance_filter"):
        made["reward"] = [0.5 if g == 1 else x for g, x in zip(made["group"], made["reward"])]
    if rng.random() < 0.5 and config.get(NAME + "advantage_estimator", "grpo") not in OF_TOKENS:
        holes(rng, made)
        if rng.random() < 0.3:  # a response of which no token counts
            made["mask"][4] = [False] * made["length"][4]
    return made


# ---- its parts

@functools.cache
def parts():
    import skyrl_adapter as adapter
    from loguru import logger
    from omegaconf import DictConfig
    logger.remove()
    utils = os.path.dirname(adapter.skyrl.__file__)
    root = os.path.join(utils, os.pardir, os.pardir, os.pardir)
    core = {name: getattr(adapter.skyrl, name) for name in ("compute_approx_kl", "masked_mean", "PolicyLossRegistry",
                                                            "apply_loss_reduction_to_advantages_minibatch")}
    trainer = functions_of(os.path.join(root, "train", "trainer.py"),
                           ("apply_reward_kl_penalty", "compute_advantages_and_returns", "_normalize_advantages"), inside="RayPPOTrainer",
                           torch=torch, np=np, ppo_utils=adapter.skyrl, logger=logger, **core)
    worker = functions_of(os.path.join(utils, os.pardir, "workers", "worker.py"), ("_forward_backward_micro",), inside="PolicyWorkerBase",
                          torch=torch, compute_minibatch_rollout_logprob_diff_metrics=lambda *_: {}, **core)
    names = ("BaseConfig", "KLCtrlConfig", "SAPOConfig", "DynamicSamplingConfig", "ClipCovConfig", "KLCovConfig", "CISPOConfig",
             "DPPOConfig", "OffPolicyCorrectionConfig", "AlgorithmConfig")
    generators = os.path.join(root, "train", "generators")
    masks = functions_of(os.path.join(generators, "utils.py"), ("apply_overlong_filtering",))
    zeros = functions_of(os.path.join(generators, "skyrl_gym_generator.py"), ("_zero_reward_if_not_stop",))
    prompts = functions_of(os.path.join(root, "train", "utils", "trainer_utils.py"), ("zero_variance_filter",),
                           defaultdict=collections.defaultdict)
    configs = classes_of(os.path.join(root, "train", "config", "config.py"), names, ABC=abc.ABC, DictConfig=DictConfig)
    return types.SimpleNamespace(core=adapter.skyrl, trainer=trainer, worker=worker, configs=configs, zeros=zeros._zero_reward_if_not_stop,
                                 masks=masks.apply_overlong_filtering, varied=prompts.zero_variance_filter)


def unlisted(data):
    names = {entry["option"] for entry in data["options"]}
    every = translate.flattened(dataclasses.asdict(parts().configs.AlgorithmConfig()))
    return [NAME + name for name in every if name not in OTHERS and NAME + name not in names]


def algorithm_of(config):
    """AlgorithmConfig after validate_cfg (skyrl/train/utils/utils.py:412-414, 499-550)."""
    made = parts().configs.AlgorithmConfig()
    for option, x in config.items():
        if not option.startswith(NAME):
            continue
        *path, last = option[len(NAME):].split(".")
        setattr(functools.reduce(getattr, path, made), last, x)
    if made.use_tis:
        made.off_policy_correction.tis_ratio_type = "token"
        made.off_policy_correction.token_tis_ratio_clip_high = made.tis_imp_ratio_cap
    corrects = made.off_policy_correction.tis_ratio_type or made.off_policy_correction.sequence_mask_metric
    for why, refused in (("two KLs", made.use_kl_in_reward and made.use_kl_loss),
                         ("no max_seq_len", made.loss_reduction == "seq_mean_token_sum_norm" and made.max_seq_len is None),
                         ("correction", corrects and made.policy_loss_type in ("clip_cov", "kl_cov"))):
        if refused:
            raise Refused(why)
    return made


class Data(dict):
    """The trainer's batch: tensors by name, and slices of them."""
    metadata = {"avg_response_length": 0}

    def __getitem__(self, key):
        return Data({name: x[key] for name, x in self.items()}) if isinstance(key, slice) else super().__getitem__(key)

    def to(self, _):
        return self


# ---- a run

def generated(config, b, given):
    """What the generator and the filter of prompts do to rewards and masks; the batched generator has no zero for truncated responses.
    Returns the batch with the filter's mask."""
    why = ["length" if cut else "stop" for cut in b.truncated.tolist()]
    if config.get("generator.zero_reward_on_non_stop") and not config.get("generator.batched"):
        b.reward = torch.tensor(parts().zeros(None, b.reward.tolist(), why))
    masks = ragged(b.mask.int(), b)
    if config.get("generator.apply_overlong_filtering"):
        masks = parts().masks(masks, why)
    if config.get(NAME + "zero_variance_filter"):
        kept = set(parts().varied(b.reward.tolist(), b.group.tolist(), loss_masks=masks, tol=1e-6))
        masks = [row if i in kept else [0] * len(row) for i, row in enumerate(masks)]
        given = {**given, "mask": [[m and i in kept for m in row] for i, row in enumerate(ragged(b.mask, b))]}
    b.mask = padded(masks, b.length, False, torch.int64).bool()
    return given


def advantages(algorithm, b, right):
    """The batch with the advantages, and those before they are divided."""
    p = parts()
    inside = right((torch.arange(b.logp.shape[1])[None] < torch.tensor(b.length)[:, None]).long())
    rewards = torch.zeros_like(b.logp)
    rewards[:, -1] = b.reward
    data = Data({"rewards": rewards, "response_mask": inside, "loss_mask": right(b.mask).to(b.logp.dtype), "values": right(b.value),
                 "action_log_probs": right(b.logp_old), "base_action_log_probs": right(b.logp_ref),
                 "rollout_logprobs": right(b.logp_rollout)})
    data.metadata = {"uids": [str(g) for g in b.group.tolist()], "avg_response_length": 0}
    trainer = types.SimpleNamespace(all_metrics={}, reward_kl_controller=None, cfg=types.SimpleNamespace(
        trainer=types.SimpleNamespace(algorithm=algorithm, micro_train_batch_size_per_gpu=b.rows),
        generator=types.SimpleNamespace(step_wise_trajectories=False)))
    if algorithm.use_kl_in_reward:
        trainer.reward_kl_controller = p.core.get_kl_controller(algorithm)
        data = p.trainer.apply_reward_kl_penalty(trainer, data)
    data = p.trainer.compute_advantages_and_returns(trainer, data)
    before = data["advantages"].clone()
    ends = torch.cumsum(b.group_size, 0).tolist()
    return p.trainer._normalize_advantages(trainer, data, [(0, b.rows)], list(zip([0, *ends], ends))), before


class Model:
    """Gives log-probabilities and entropies; the entropies of a sequence are those of the next tokens."""
    def __init__(self, logp, entropy):
        self.answer = logp, {"entropy": torch.nn.functional.pad(entropy, (0, 1))}

    def train(self):
        pass

    def __call__(self, *_, **__):
        return self.answer


def micro_batch(algorithm, data, logp, entropy):
    """(loss, the tokens that clip_cov drops)"""
    kept, losses, ones_like, loss = [], [], torch.ones_like, parts().core.PolicyLossRegistry.get(algorithm.policy_loss_type)

    def ones(*of, **how):
        kept.append(ones_like(*of, **how))
        return kept[-1]

    def policy_loss(*of, **how):
        with mock.patch.object(torch, "ones_like", ones):
            return loss(*of, **how)
    worker = types.SimpleNamespace(
        model=Model(logp, entropy), cfg=types.SimpleNamespace(algorithm=algorithm), policy_loss_fn=policy_loss, optimizer=None,
        mesh_rank=types.SimpleNamespace(dp_size=1), scheduler=types.SimpleNamespace(get_last_lr=lambda: [0]),
        strategy=types.SimpleNamespace(backward=lambda value, *_: losses.append(value)))
    experience = types.SimpleNamespace(
        to_device=lambda _: None, sequences=None, attention_mask=None, num_actions=logp.shape[1], pixel_values=None, image_grid_thw=None,
        rollout_sample_support=None, **{name: data[name] for name in (
            "advantages", "action_log_probs", "base_action_log_probs", "loss_mask", "response_mask", "rollout_logprobs")})
    torch.manual_seed(0)  # clip_cov draws its tokens
    with mock.patch.object(torch.cuda, "current_device", lambda: "cpu"), mock.patch.object(torch, "autocast",
                                                                                           lambda **_: contextlib.nullcontext()):
        parts().worker._forward_backward_micro(worker, experience, 1.0)
    return losses[0], kept[0] == 0 if algorithm.policy_loss_type == "clip_cov" else None


def run(config, given):
    algorithm, b = algorithm_of(config), torch_batch(given)
    longest = b.logp.shape[1]
    right = lambda x: torch.stack([torch.roll(row, longest - n) for row, n in zip(x, b.length)])
    left = lambda x: torch.stack([torch.roll(row, n - longest) for row, n in zip(x, b.length)])
    b.leaf, given = b.logp.clone().requires_grad_(), generated(config, b, given)
    with mock.patch.object(torch, "float32", torch.float64):
        data, before = advantages(algorithm, b, right)
        try:
            value, dropped = micro_batch(algorithm, data, right(b.leaf), right(b.entropy))
        except ValueError as why:
            raise Refused(str(why)) from None
    if dropped is not None:
        given = {**given, "selected": ragged(left(dropped), b)}
    b.mask = torch_batch(given).mask
    return answers(b, torch.where(b.mask, left(before), 0), b.mask, value), given


FRAMEWORKS = {"skyrl": Framework(drawer, batch, run, 1e-9, (NAME + "policy_loss_type", "dppo", "ratio.behaviour", "old"), unlisted)}
