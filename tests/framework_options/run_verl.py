"""verl (written for verl 0.9.1) with a given configuration: advantages, loss and gradient by its own code.

Replaced are models, engines and processes. The order in which the steps of its trainers follow each other, and which log-probabilities and
counts they pass, is written here after their code (ray_trainer.py, v1/trainer_base.py); the steps are theirs.
"""
import asyncio
import contextlib
import copy
import functools
import os
import types
from unittest import mock

import numpy as np
import torch

from framework import Beyond, Drawer, Framework, Refused, far_rollout, holes, nearly_equal, regroup, whole
from options import translate
from padded import Rows, ragged
from running import answers, functions_of, torch_batch

ACTOR, CORRECTION, ALGORITHM = "actor_rollout_ref.actor.", "algorithm.rollout_correction.", "algorithm."
OVERLONG = "reward.reward_kwargs."


# ---- what is drawn

def drawer(data):
    numbers = {
        ACTOR + "clip_ratio": (0.05, 0.4), ACTOR + "clip_ratio_low": (0.05, 0.4), ACTOR + "clip_ratio_high": (0.05, 0.9),
        ACTOR + "clip_ratio_c": (1.2, 5), ACTOR + "tau_pos": (0.5, 3), ACTOR + "tau_neg": (0.5, 3),
        ACTOR + "policy_loss.clip_cov_ratio": (0.1, 0.6), ACTOR + "policy_loss.clip_cov_lb": (0, 0.3),
        ACTOR + "policy_loss.clip_cov_ub": (0.5, 5), ACTOR + "policy_loss.kl_cov_ratio": (0.1, 0.6),
        ACTOR + "policy_loss.ppo_kl_coef": (0.05, 1), ACTOR + "policy_loss.dro_beta": (0.05, 2), ACTOR + "loss_scale_factor": whole(3, 20),
        ACTOR + "entropy_coeff": (0.01, 0.2), ACTOR + "kl_loss_coef": (0.01, 0.5), ALGORITHM + "gamma": (0.8, 1),
        ALGORITHM + "lam": (0.8, 1),
        ALGORITHM + "kl_ctrl.kl_coef": (0.01, 0.3), ALGORITHM + "gdpo_reward_weights": lambda rng: [rng.choice([0.25, 0.5, 2.0]), 1.0],
        ALGORITHM + "gdpo_reward_keys": lambda rng: ["first", "second"],
        CORRECTION + "rollout_is_threshold": (1.1, 4),
        CORRECTION + "rollout_rs_threshold": lambda rng: round(10 ** rng.uniform(-2.5, -0.3), 4),
        OVERLONG + "overlong_buffer_cfg.len": whole(1, 3), OVERLONG + "overlong_buffer_cfg.penalty_factor": (0.2, 1),
        OVERLONG + "max_resp_len": whole(3, 6)}
    left = {ALGORITHM + "use_pf_ppo": "resamples the batch", ALGORITHM + "filter_groups.enable": "changes which prompts are in the batch",
            "distillation.enabled": "needs a teacher"}
    often = {ACTOR + "policy_loss.loss_mode", ALGORITHM + "adv_estimator", CORRECTION + "rollout_rs_threshold",
             ACTOR + "policy_loss.dro_beta"}
    high = lambda c: c[ACTOR + "clip_ratio"] if c[ACTOR + "clip_ratio_high"] is None else c[ACTOR + "clip_ratio_high"]
    dual = ("vanilla", "bypass_mode")
    beyond = [Beyond(ACTOR + "clip_ratio_c", "up to 1 + clip_ratio_high", lambda c: c[ACTOR + "policy_loss.loss_mode"] in dual and
                     c[ACTOR + "clip_ratio_c"] <= 1 + high(c))]

    def fitted(config):
        """A bound of a ratio is above 1, that of another statistic below; an overlong penalty has its three numbers."""
        if config.get(OVERLONG + "overlong_buffer_cfg.enable"):
            config = {OVERLONG + "overlong_buffer_cfg.len": 2, OVERLONG + "overlong_buffer_cfg.penalty_factor": 0.5,
                      OVERLONG + "max_resp_len": 4, **config}
        bound, test = CORRECTION + "rollout_rs_threshold", config.get(CORRECTION + "rollout_rs") or ""
        if test.endswith("k1") and isinstance(config.get(bound), float) and config[bound] < 1:
            config[bound] = round(1 + config[bound], 4)
        return config
    return Drawer(data, numbers, often, left, beyond, fitted)


def batch(rng, config):
    """Groups of one to four responses, no truncated ones."""
    batch = translate.random_batch(rng, True)
    del batch["truncated"]
    if config.get(ALGORITHM + "adv_estimator") != "grpo_passk":  # it refuses a group of one
        regroup(rng, batch)
    if rng.random() < 0.5 and config.get(ALGORITHM + "adv_estimator") != "optimal_token_baseline":  # its tail counts unmasked tokens
        holes(rng, batch)
    if rng.random() < 0.3:
        far_rollout(batch)
    if rng.random() < 0.1:
        nearly_equal(batch)
    if config.get(ACTOR + "kl_loss_type") in ("low_var_kl+", "k3+"):  # no clamp binds
        batch["logp_ref"] = [[min(max(f, x - 1.5), x + 1.5) for f, x in zip(*rows)] for rows in zip(batch["logp_ref"], batch["logp"])]
    batch["sum_pi_squared"] = [[rng.randint(16, 60) / 64 for _ in row] for row in batch["logp"]]
    return batch


# ---- by the framework's own code

@functools.cache
def parts():
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
    files = {"naive": "naive", "dapo": "dapo", "gdpo": "gdpo", "rate_limited": "limited", "remote": "remote"}
    managers = {name: functions_of(os.path.join(root, "experimental", "reward_loop", "reward_manager", file + ".py"), ("run_single",),
                                   asyncio=asyncio, logger=None).run_single for name, file in files.items()}
    return types.SimpleNamespace(adapter=adapter, core=core, default=default, DataProto=DataProto, helper=rollout_corr_helper,
                                 kl_in_reward=trainer.apply_kl_penalty, advantage=trainer.compute_advantage,
                                 advantage_v1=several.compute_advantage_for_multi_trajectories, managers=managers)


def config_of(config):
    from omegaconf import OmegaConf
    c = copy.deepcopy(parts().default)
    buffer = "reward.reward_kwargs.overlong_buffer_cfg."
    for option, x in {buffer + "enable": False, buffer + "log": False, "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu": 1,
                      **config}.items():
        OmegaConf.update(c, option, x, force_add=True)
    return c


def reward_of(c, reward, length):
    """By the reward manager of the configuration, as load_reward_manager of verl/trainer/ppo/reward.py chooses it."""
    class Row(dict):
        batch = {"responses": torch.zeros(length), "attention_mask": torch.ones(length, dtype=torch.long)}
        non_tensor_batch = {"data_source": "", "reward_model": {"ground_truth": ""}}

        def __getitem__(self, _):
            return self

    async def scored(**_):
        return reward

    async def run():
        of_kwargs, worker = c.reward.get("reward_kwargs", {}), types.SimpleNamespace(compute_score=types.SimpleNamespace(remote=scored))
        manager = types.SimpleNamespace(
            loop=asyncio.get_running_loop(), tokenizer=types.SimpleNamespace(decode=lambda *_, **__: ""), reward_router_address=None,
            is_async_reward_score=False, compute_score=lambda **_: reward, max_resp_len=of_kwargs.get("max_resp_len"), config=c,
            overlong_buffer_cfg=of_kwargs.get("overlong_buffer_cfg"), choose_reward_worker=lambda: worker, _compute_reward=scored,
            _rpm_limiter=None, _tpm_limiter=None, _semaphore=contextlib.AsyncExitStack(), timeout=10)
        return float((await parts().managers[c.reward.reward_manager.name](manager, Row()))["reward_score"])
    return asyncio.run(run())


def data_of(c, b, batch):
    """The batch of the trainer before it computes advantages."""
    scores, mask = torch.zeros_like(b.logp), b.mask.long()
    for row, n in enumerate(b.length):
        scores[row, n - 1] = reward_of(c, batch["reward"][row], n)
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
    return parts().DataProto.from_dict(tensors, {key: x.astype(object) for key, x in others.items()})


def advantages_of(c, data, rows):
    """As _compute_advantage of the trainer with use_v1, and fit of the other one: the same steps."""
    v, algorithm = parts(), c.algorithm
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


def run(config, batch):
    try:
        return answered(config, batch)
    except ZeroDivisionError:
        raise Refused("its metrics divide by the mean of the rollout weights, which is 0 on this batch") from None


def answered(config, batch):
    v, c = parts(), config_of({"algorithm.gdpo_reward_keys": ["first", "second"], **config})
    batch = {**batch, "reward_weight": c.algorithm.get("gdpo_reward_weights") or [1.0, 1.0]}
    b, actor, mode = torch_batch(batch), c.actor_rollout_ref.actor, c.actor_rollout_ref.actor.policy_loss.loss_mode
    # two estimators compute in float32 whatever they are given
    with mock.patch.object(torch, "float32", torch.float64), mock.patch.object(np, "float32", np.float64):
        data = advantages_of(c, data_of(c, b, batch), b.rows)
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


FRAMEWORKS = {"verl": Framework(drawer, batch, run, 1e-7, ("algorithm.adv_estimator", "opo", "advantage.baseline", "group_mean"))}
