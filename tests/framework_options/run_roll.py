"""ROLL's RLVR pipeline with a given configuration, by its own code at the commit of the data; answers are as in running.py.

Its own: the defaults, masks of responses, rewards, advantages, the correction for the sampler, the losses of both workers. Replaced: the
model's log-probabilities and entropies, batches (a dictionary), the old policy's log-probabilities, which are always those of the batch.
The counts by which losses are divided are written here after distributed/strategy/strategy.py:355-430.
"""
import ast
import functools
import types
import typing

import numpy as np
import torch

import sources
from framework import Beyond, Drawer, Framework, Refused
from running import Tensors, answers, torch_batch

WORKERS = {"ActorWorker": "actor_worker.py", "ActorPGWorker": "actor_pg_worker.py"}
PLANTED = ("actor_train.pg_variant", "cispo", "surrogate.weight_max", 1.3)
RLVR = ("roll", "pipeline", "rlvr")


def drawer(data):
    weight = "train_infer_correction.is_weight."
    numbers = {"gamma": (0.8, 1), "lambd": (0.8, 1), "advantage_clip": (0.3, 2), "init_kl_coef": (0.01, 0.5), "pg_clip": (0.05, 0.4),
               "pg_clip_low": (0.05, 0.4), "pg_clip_high": (0.05, 0.6), "kl_loss_coef": (0.01, 0.5), "entropy_loss_coef": (0.01, 0.2),
               weight + "upper_bound": (0.5, 3), "use_topr_neg_loss_coef": (0.1, 1), "postive_loss_coef": (0.1, 1),
               **{name: lambda rng: True for name in ("use_topr_loss", "use_reward_scaling", "use_reward_norm", "add_len_reward")},
               "use_policy_loss_type": lambda rng: "PG", "mask_type": lambda rng: "all"}
    numbers.update({name: (0.05, 0.4) for name in (entry["option"] for entry in data["options"]) if "actor_train." in name})
    left = {name: "ROLL leaves it out when it reads the configuration" for name in
            ("actor_train." + x for x in ("tis_lower_bound", "tis_upper_bound", "cispo_epsilon_low", "cispo_epsilon_high",
                                          "cispo_use_unified_mask", "kimi15_tau"))}
    left["train_infer_correction.filters"] = "a list"
    beyond = [Beyond("dual_clip_loss", "pg_clip_high of 2 pg_clip or more", lambda c: c["dual_clip_loss"] and c["use_pg_clip_range"] and
                     c["pg_clip_high"] >= 2 * c["pg_clip"])]
    return Drawer(data, numbers, {"adv_estimator", "actor_train.worker_cls"}, left, beyond, fitted)


def fitted(config):
    if str(config.get("actor_train.worker_cls")).endswith("ActorPGWorker"):
        config.setdefault("actor_train.pg_variant", "ppo")
    return config


def batch(rng, config):
    """Groups of three; the truncated responses are the longest ones; negative scores for topr, which reads their sign."""
    from options import translate
    made = translate.random_batch(rng, True)
    while len(set(made["length"])) == 1:
        made = translate.random_batch(rng, True)
    if config.get("actor_train.pg_variant") == "topr":
        made["reward"] = [x - 0.5 for x in made["reward"]]
    made["truncated"] = [n == max(made["length"]) for n in made["length"]]
    return made


# ---- its code

def defaults_of(path, name):
    """{field: default} of a dataclass; a default that is made is left out."""
    with open(path, encoding="utf-8") as f:
        of = next(node for node in ast.parse(f.read()).body if getattr(node, "name", None) == name)
    found = {}
    for node in of.body:
        words = {k.arg: k.value for k in getattr(getattr(node, "value", None), "keywords", ())}
        if isinstance(node, ast.AnnAssign) and "default" in words:
            found[node.target.id] = ast.literal_eval(words["default"])
    return found


@functools.cache
def parts():
    path = functools.partial(sources.path_of, "roll")
    logger = types.SimpleNamespace(info=lambda *_: None, warning=lambda *_: None)
    functions = sources.definitions(path("roll", "utils", "functionals.py"), (
        "compute_clip_fraction", "compute_approx_kl", "agg_loss", "masked_mean", "masked_sum", "masked_var", "masked_whiten",
        "compute_reinforce_return", "compute_gae_advantage_return", "expand_to_token_level", "reward_norm", "difficulty_mask",
        "compute_token_reward", "reward_postprocess", "get_sample_level_mask", "compute_advantage"), torch=torch, np=np, logger=logger,
        F=torch.nn.functional)
    kl = sources.definitions(path("roll", "utils", "kl_controller.py"), ("AdaptiveKLController", "FixedKLController", "get_kl_controller"),
                             np=np)
    segment = sources.definitions(path("roll", "pipeline", "agentic", "utils.py"), ("compute_segment_masked_mean",), torch=torch)
    correction = sources.definitions(path("roll", "utils", "train_infer_corrections.py"), (
        "_compute_all_granularity", "_infer_global_valid_samples_from_mask", "_infer_global_valid_tokens_from_mask",
        "compute_train_infer_correction", "apply_train_infer_correction_to_batch"), torch=torch, logger=logger, **vars(functions),
        **vars(segment), **vars(typing))
    context = {"torch": torch, "np": np, **vars(functions), **vars(correction), "DataProto": object, "BaseActorWorker": object}
    workers = {}
    for name, file in WORKERS.items():
        found = getattr(sources.definitions(path(*RLVR, file), (name,), **context), name)
        context["ActorWorker"] = workers[name] = found
    base = path("roll", "configs", "base_config.py")
    defaults = {**defaults_of(base, "PPOConfig"), **defaults_of(path(*RLVR, "rlvr_config.py"), "RLVRConfig")}
    of_weight = defaults_of(base, "TrainInferISWeightConfig")
    of_worker = defaults_of(path("roll", "configs", "worker_config.py"), "WorkerConfig")
    return types.SimpleNamespace(functions=functions, kl=kl, correction=correction, workers=workers, defaults=defaults, of_weight=of_weight,
                                 of_worker=of_worker)


def settings(config, samples):
    """The configuration classes with these options; those that they have no field for are left out, as the loader does."""
    p, under = parts(), lambda section: {o[len(section):]: x for o, x in config.items() if o.startswith(section)}
    fields = lambda defaults, given: types.SimpleNamespace(**{**defaults, **{o: x for o, x in given.items() if o in defaults}})
    c = fields(p.defaults, config)
    weight = fields(p.of_weight, under("train_infer_correction.is_weight."))
    filters = config.get("train_infer_correction.filters", [])
    c.train_infer_correction = types.SimpleNamespace(is_weight=weight, filters=filters)
    c.actor_train = fields(p.of_worker, under("actor_train."))
    c.actor_infer = types.SimpleNamespace(generating_args=types.SimpleNamespace(num_return_sequences=samples))
    c.enable_old_logprobs_recompute = not c.force_disable_old_logprobs_recompute
    return c


def data_of(b, batch, recompute):
    """As after the generation: one token of prompt, then the response."""
    rows, width = b.logp.shape
    first, mask = torch.zeros(rows, 1, dtype=torch.long), b.mask.long()
    whole = torch.cat([first + 1, mask], dim=1)
    tensors = Tensors(response_mask=torch.cat([first, mask], dim=1), attention_mask=whole, responses=mask,
                    position_ids=torch.arange(width + 1).repeat(rows, 1), input_ids=whole, response_level_rewards=b.reward.clone(),
                    scores=b.reward.clone(), old_log_probs=b.logp_old if recompute else torch.zeros_like(mask), ref_log_probs=b.logp_ref,
                    infer_logprobs=b.logp_rollout, values=torch.where(b.mask, b.value, 0))
    return types.SimpleNamespace(batch=tensors, meta_info={"loss_mask_keys": ["response_mask", "final_response_mask"]}, non_tensor_batch={},
                                 rename=lambda old_keys, new_keys: tensors.update({new_keys: tensors.pop(old_keys)}))


def counted(data):
    """The counts of strategy.py:355-430."""
    masks = {"response_mask": data.batch["response_mask"][:, 1:], "final_response_mask": data.batch["final_response_mask"]}
    data.meta_info["batch_num_tokens"] = {key: mask.sum().clamp(min=1) for key, mask in masks.items()}
    data.meta_info["global_valid_samples"] = {key: (mask > 0).any(-1).sum().clamp(min=1) for key, mask in masks.items()}


def scored(c, data):
    """From rewards to advantages (rlvr_pipeline.py:681-726)."""
    f = parts().functions
    try:
        f.get_sample_level_mask(data, c)
        f.reward_postprocess(data, c, {})
        f.compute_token_reward(data, c, parts().kl.get_kl_controller(c.init_kl_coef, c.target_kl, c.kl_horizon))
        f.compute_advantage(data, c.gamma, c.lambd, c.adv_estimator, c.advantage_clip, c.whiten_advantages, c.whiten_rewards,
                            data.batch["final_response_mask"].clone(), c)
    except RuntimeError as why:
        raise Refused(str(why)) from None


def worker_of(c, b):
    name = (c.actor_train.worker_cls or "ActorWorker").rpartition(".")[2]
    kind = parts().workers[name]
    worker = object.__new__(kind)
    worker.pipeline_config, worker.logger = c, types.SimpleNamespace(info=lambda *_: None, warning=lambda *_: None)
    worker._pg_config_cache = {}
    worker._pg_variant_logged = worker._topr_sample_logged = worker._cispo_config_logged = worker._kimi15_config_logged = True
    shown = lambda x: lambda logits, attention_mask, input_ids=None: torch.where(attention_mask[:, 1:] > 0, x, 0)
    worker.strategy = types.SimpleNamespace(op_compute_log_probs=shown(b.leaf), op_compute_entropy=shown(b.entropy))
    worker.get_old_log_probs_with_cache = lambda data, log_probs: torch.where(b.mask, b.logp_old, 0)
    return worker


def run(config, batch):
    b = torch_batch(batch)
    b.leaf, b.reward = b.logp.clone().requires_grad_(), torch.tensor(batch["reward"])
    c = settings(config, len(batch["length"]) // (batch["group"][-1] + 1))
    with sources.doubles():
        data = data_of(b, batch, c.enable_old_logprobs_recompute)
        scored(c, data)
        if c.enable_old_logprobs_recompute:
            parts().correction.apply_train_infer_correction_to_batch(c, data, update_mask_keys=data.meta_info["loss_mask_keys"])
        counted(data)
        value, _ = worker_of(c, b).loss_func(data, b.logp)
    compared = b.mask & ~(b.truncated[:, None] & bool(c.max_len_mask))
    return answers(b, data.batch["advantages"], compared, value), batch


FRAMEWORKS = {"roll": Framework(drawer, batch, run, 1e-7, PLANTED)}
