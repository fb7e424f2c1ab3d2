"""NeMo-RL's GRPO with a given configuration, by its own code at the commit of the data; answers are as in running.py.

Its own: the configuration classes, shaping of rewards, advantages, the masks of responses, penalties and bounds of advantages, the loss.
The order of these steps, the masks of truncated responses and what the batch of the loss holds are written here after grpo_train
(nemo_rl/algorithms/grpo.py:3020-3330). Replaced: the policies. A message of the log is a run of tokens that are alike in mask and mark.
"""
import contextlib
import enum
import functools
import io
import itertools
import types
import warnings
from typing import Any, ClassVar, Literal, NotRequired, Optional, Protocol, TypedDict, TypeVar

import pydantic
import torch

import sources
from framework import Beyond, Drawer, Framework, Refused, whole
from running import answers, regrouped, torch_batch

PLANTED = ("loss_fn.truncated_importance_sampling_type", "icepop", "weight.rollout_is", "truncate")
LOSS, GRPO = "loss_fn.", "grpo."
ESTIMATOR, SHAPING = GRPO + "adv_estimator.", GRPO + "reward_shaping."
NOT_OF_THE_LOSS = ("num_prompts_per_step", "num_generations_per_prompt", "seed", "async_grpo", "dynamic_sampling_max_gen_batches",
                   "batch_multiplier", "reward_shaping", "reward_scaling", "calculate_advantages_on_gpu", "adv_estimator",
                   "deduplicate_multimodal_data", "debug_payload_metrics", "normalize_rewards", "use_leave_one_out_baseline",  # these
                   "skip_reference_policy_logprobs_calculation")  # choose prompts; this is refused beside a KL
IS_TYPE, IS_RATIO = LOSS + "truncated_importance_sampling_type", LOSS + "truncated_importance_sampling_ratio"


# ---- what is drawn

def drawer(data):
    numbers = {
        ESTIMATOR + "reward_weights": lambda rng: [rng.choice([0.25, 0.5, 2.0]), 1.0], LOSS + "ratio_clip_min": (0.05, 0.4),
        LOSS + "ratio_clip_max": (0.05, 0.6), LOSS + "ratio_clip_c": (1.1, 4), LOSS + "reference_policy_kl_penalty": (0.01, 0.5),
        LOSS + "kl_input_clamp_value": lambda rng: round(rng.choice([rng.uniform(0.1, 2), rng.uniform(5, 8)]), 3),
        LOSS + "kl_output_clamp_value": (0.005, 0.2), IS_RATIO: (1.02, 1.6),
        IS_RATIO + "_min": (0.5, 0.98), LOSS + "positive_example_nll_weight": (0.05, 0.5),
        GRPO + "seq_logprob_error_threshold": (1.1, 1.6), GRPO + "advantage_clip_low": (-1.2, 0.1),
        GRPO + "advantage_clip_high": (0.15, 1.2),
        GRPO + "invalid_tool_call_advantage": (-3, -0.5), GRPO + "malformed_thinking_advantage": (-3, -0.5),
        SHAPING + "overlong_buffer_length": whole(1, 4), SHAPING + "overlong_buffer_penalty": (0.2, 1.5),
        SHAPING + "stop_properly_penalty_coef": (0, 1), SHAPING + "max_response_length": whole(3, 6)}
    often = {ESTIMATOR + "name", IS_TYPE, LOSS + "reference_policy_kl_type", LOSS + "use_importance_sampling_correction"}
    beyond = [Beyond(LOSS + "ratio_clip_c", "up to 1 + ratio_clip_max", lambda c: c[LOSS + "ratio_clip_c"] and
                     c[LOSS + "ratio_clip_c"] <= 1 + c[LOSS + "ratio_clip_max"]),
              Beyond(LOSS + "kl_input_clamp_value", "the clamp binds and that of kl_output_clamp_value does not", clamp_shows)]
    return Drawer(data, numbers, often, {}, beyond, fitted)


def clamp_shows(c):
    """Can the clamp of the log-ratio bind where that of the KL does not? The field kl_clamp_log cannot express that, and elsewhere its
    value makes no difference: `--changed` shows it as not noticed. It stays in the data, as the framework has the clamp."""
    from math import exp
    inside, outside, kind = c[LOSS + "kl_input_clamp_value"], c[LOSS + "kl_output_clamp_value"], c[LOSS + "reference_policy_kl_type"]
    if inside is None or inside >= 5 or not c[LOSS + "reference_policy_kl_penalty"] or c[LOSS + "use_kl_in_reward"]:
        return False
    least = {"k1": inside, "k2": inside ** 2 / 2, "k3": exp(-inside) - 1 + inside}[kind]
    return outside is None or least <= outside


def fitted(config):
    """Without most combinations that NeMo-RL refuses."""
    if config.get(LOSS + "sequence_level_importance_ratios"):
        config.update({LOSS + "token_level_loss": False, LOSS + "use_cispo": False})
    if config.get(LOSS + "use_cispo"):
        for option in ("token_level_loss", "disable_ppo_ratio", "force_on_policy_ratio", "ratio_clip_c"):
            config.pop(LOSS + option, None)
    kind = config.get(IS_TYPE)
    if kind:
        config[LOSS + "use_importance_sampling_correction"] = True
        config.setdefault(IS_RATIO, 1.2)
        if kind == "seq-mask-tis":
            config.pop(LOSS + "sequence_level_importance_ratios", None)
        if kind != "tis":
            config.setdefault(IS_RATIO + "_min", 0.9)
    else:
        config.pop(IS_RATIO, None)
    if config.get(SHAPING + "enabled") and SHAPING + "stop_properly_penalty_coef" not in config:
        config.update({SHAPING + key: config.get(SHAPING + key, x)
                       for key, x in (("overlong_buffer_length", 2), ("overlong_buffer_penalty", 1), ("max_response_length", 4))})
    return config


def batch(rng, config):
    made = regrouped(rng, config)
    made["marked"] = [[rng.random() < 0.3 for _ in row] for row in made["logp"]]
    if rng.random() < 0.5:  # far from the sampler
        pairs = zip(made["logp_rollout"], made["logp_old"])
        made["logp_rollout"] = [[min(o + 4 * (r - o), -1 / 64) for r, o in zip(*pair)] for pair in pairs]
    if config.get(ESTIMATOR + "name") == "reinforce_plus_plus" and rng.random() < 0.3:  # variances below their floor
        made["reward"] = [r / 4096 for r in made["reward"]]
    return made


def unlisted(data):
    """Of the loss, the estimator and the shaping all options, of GRPO those that are not of other things."""
    names, p, no = {entry["option"] for entry in data["options"]}, parts(), NOT_OF_THE_LOSS
    of = ((LOSS, p.loss.ClippedPGLossConfig), (ESTIMATOR, p.estimators.AdvEstimatorConfig), (SHAPING, p.shaping.RewardShapingConfig),
          (GRPO, p.grpo.GRPOConfig))
    return [above + name for above, kind in of for name in kind.model_fields if above + name not in names and not (kind is of[3][1] and (
        name in no or name.startswith(("val_", "max_", "stop_at"))))]


# ---- its own code

class Data(dict):
    """Stands in for BatchedDataDict."""
    __class_getitem__ = classmethod(lambda cls, _: cls)


@functools.cache
def parts():
    path = functools.partial(sources.path_of, "nemo_rl", "nemo_rl", "algorithms")
    fake = types.SimpleNamespace
    of_classes = {"BaseModel": pydantic.BaseModel, "Field": pydantic.Field, "Optional": Optional, "Any": Any, "Literal": Literal,
                  "ClassVar": ClassVar, "Protocol": Protocol, "TypedDict": TypedDict, "NotRequired": NotRequired, "TypeVar": TypeVar,
                  "Tensor": torch.Tensor, "torch": torch, "enum": enum, "BatchedDataDict": Data, "warnings": warnings,
                  "cast": lambda _, x: x}
    utils = sources.definitions(path("utils.py"), ("calculate_kl", "calculate_baseline_and_std_per_prompt", "masked_mean", "masked_var",
                                                   "get_gdpo_reward_component_keys"), **of_classes)
    kinds = sources.definitions(path("loss", "interfaces.py"), ("LossType", "MetricNormalizer", "LossInputType", "LossFunction"),
                                **of_classes)
    loss = sources.definitions(path("loss", "loss_functions.py"), ("ClippedPGLossConfig", "ClippedPGLossFn"), **of_classes, **vars(utils),
                               **vars(kinds), ClippedPGLossDataDict=dict)
    estimators = sources.definitions(path("advantage_estimator.py"), (
        "AdvEstimatorConfig", "GRPOAdvantageEstimator", "GDPOAdvantageEstimator", "ReinforcePlusPlusAdvantageEstimator"), **of_classes,
        **vars(utils), **vars(loss))
    shaping = sources.definitions(path("reward_functions.py"), ("RewardShapingConfig", "apply_reward_shaping"), **of_classes)
    opd = sources.definitions(path("opd.py"), ("_skip_prev_logprobs",))
    grpo = sources.definitions(path("grpo.py"), (
        "RewardScalingConfig", "AsyncGRPOConfig", "GRPOConfig", "scale_rewards", "_create_advantage_estimator", "_clip_grpo_advantages",
        "_validate_use_kl_in_reward_compat", "_resolve_logprob_skip_flags", "compute_and_apply_seq_logprob_error_masking",
        "_apply_message_level_advantage_penalties"), **of_classes, **vars(utils), **vars(shaping), **vars(estimators), opd_module=opd)
    return fake(loss=loss, shaping=shaping, grpo=grpo, estimators=estimators)


def configured(config):
    """MasterConfig, its parts that are read here."""
    tree = {}
    for option, x in config.items():
        *above, last = option.split(".")
        functools.reduce(lambda t, key: t.setdefault(key, {}), above, tree)[last] = x
    return types.SimpleNamespace(grpo=parts().grpo.GRPOConfig(**tree.get("grpo", {})),
                                 loss_fn=parts().loss.ClippedPGLossConfig(**tree.get("loss_fn", {})))


def shifted(x):
    """With a column for a token of the prompt."""
    return torch.cat([torch.zeros(len(x), 1, dtype=x.dtype), x], dim=1)


def messages(b, batch, flag):
    """The log of each response: a prompt of one token, then messages."""
    marked = batch.get("marked") or [[False] * n for n in b.length]
    logs = []
    for i, n in enumerate(b.length):
        log = [{"role": "user", "token_ids": torch.zeros(1)}]
        for (mask, mark), run in itertools.groupby(zip(b.mask[i, :n].tolist(), marked[i])):
            made = {"role": "assistant", "generation_logprobs": None, flag: mark} if mask else {"role": "environment"}
            log.append({**made, "token_ids": torch.zeros(len(list(run)))})
        logs.append(log)
    return logs


def training_data(c, b, batch):
    """As grpo_train makes it of the rollouts, with advantages."""
    p, g = parts(), c.grpo
    columns = torch.tensor(batch["rewards"], dtype=torch.float64) if "rewards" in batch else torch.zeros(b.rows, 2)
    repeated = Data({"total_reward": b.reward.clone(), "truncated": b.truncated, "loss_multiplier": torch.ones(b.rows),
                     "response_token_lengths": b.length, "reward/first": columns[:, 0], "reward/second": columns[:, 1]})
    repeated = p.grpo.scale_rewards(repeated, g.reward_scaling)
    if g.reward_shaping.enabled:
        repeated = p.shaping.apply_reward_shaping(repeated, g.reward_shaping)
    if g.overlong_filtering:
        repeated["loss_multiplier"] = torch.where(b.truncated, 0, repeated["loss_multiplier"])
    data = Data({"token_mask": shifted(b.mask.double()), "sample_mask": repeated["loss_multiplier"],
                 "generation_logprobs": shifted(b.logp_rollout), "reference_policy_logprobs": shifted(b.logp_ref)})
    skip_old, _ = p.grpo._resolve_logprob_skip_flags(c)
    data["prev_logprobs"] = shifted(torch.zeros_like(b.logp_old) if skip_old else b.logp_old)
    if not skip_old:
        p.grpo.compute_and_apply_seq_logprob_error_masking(train_data=data, rewards=repeated["total_reward"],
                                                           seq_logprob_error_threshold=g.seq_logprob_error_threshold)
    data["advantages"] = p.grpo._create_advantage_estimator(c).compute_advantage(
        prompt_ids=b.group[:, None], rewards=repeated["total_reward"], mask=data["token_mask"] * data["sample_mask"].unsqueeze(-1),
        repeated_batch=repeated, logprobs_policy=data["prev_logprobs"], logprobs_reference=data["reference_policy_logprobs"])
    flag = "has_malformed_thinking" if g.invalid_tool_call_advantage is None else "is_invalid_tool_call"
    p.grpo._apply_message_level_advantage_penalties(data, messages(b, batch, flag), g.invalid_tool_call_advantage,
                                                    g.malformed_thinking_advantage)
    data["advantages"] = p.grpo._clip_grpo_advantages(data["advantages"], g)
    return data


def run(config, batch):
    p, b = parts(), torch_batch(batch)
    with sources.doubles(), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        c = configured(config)
        batch = {**batch, "reward_weight": c.grpo.adv_estimator.reward_weights or [1.0, 1.0]}
        try:
            rule = p.loss.ClippedPGLossFn(c.loss_fn)
            p.grpo._validate_use_kl_in_reward_compat(c)
            data = training_data(c, b, batch)
            b.leaf = b.logp.clone().requires_grad_()
            tokens = (data["token_mask"][:, 1:] * data["sample_mask"][:, None]).sum()
            value = rule(b.leaf, data, data["sample_mask"].sum(), tokens)[0]
        except (AssertionError, ValueError) as why:
            raise Refused(str(why)) from None
    if not tokens:
        raise Refused("every response is masked")
    return answers(b, torch.where(b.mask, data["advantages"][:, 1:], 0), torch.ones_like(b.mask), value), batch


FRAMEWORKS = {"nemo_rl": Framework(drawer, batch, run, 1e-7, PLANTED, unlisted)}
