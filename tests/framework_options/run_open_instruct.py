"""open-instruct with a given configuration, by its own code at the commit of the data; answers are as in running.py.

Its own: the configurations with their checks, the advantages and the packing (DataPreparationActor), the step of training (grpo_fast.py).
Replaced: the engine's results, both models, DeepSpeed, the all-reduce. A row holds one response. The step makes two epochs: in the first
the policy is the old one, in the second, which is compared, the one that is trained.
"""
import contextlib
import dataclasses
import enum
import functools
import itertools
import logging
import math
import os
import time
import types
from typing import Any, Generic, Literal, TypeVar

import numpy as np
import torch

import sources
from framework import Drawer, Framework, Refused, holes
from options import translate
from running import answers, torch_batch
from sources import rows

PLANTED = ("advantage_normalization_type", "standard", "advantage.std", "sample")
NOT_OF_THE_LOSS = ("num_mini_batches", "alpha", "ref_policy_update_freq", "record_entropy", "active_sampling", "no_resampling_pass_rate",
                   "mask_tool_use")  # the last says which tokens count
OF_LOADER = ("advantage_normalization_type", "mask_truncated_completions", "filter_zero_std_samples")


def drawer(data):
    numbers = {"clip_lower": (0.05, 0.4), "clip_higher": (0.05, 0.6), "beta": (0.01, 0.5), "loss_denominator": (3, 30),
               "rho_clamp_upper_bound": (1.05, 3), "rho_clamp_lower_bound": (0.1, 0.95), "rho_mask_upper_bound": (1.02, 2),
               "rho_mask_lower_bound": (0.3, 0.98)}

    def fitted(config):
        """Without a part of the combinations that are refused."""
        if config.get("load_ref_policy") is False:
            config["beta"] = 0.0
        if config.get("use_vllm_logprobs"):
            config["use_rho_correction"] = False
        return config
    return Drawer(data, numbers, {"rho_mask_upper_bound"}, {}, [], fitted)


def batch(rng, config):
    made = translate.random_batch(rng, True)
    if rng.random() < 0.5:
        holes(rng, made)
    if config.get("rho_mask_tv_divergence"):  # its bound is above 1
        far = [rng.choice([0, 1, 2]) for _ in made["length"]]
        made["logp_rollout"] = [[x - d for x in row] for row, d in zip(made["logp_rollout"], far)]
    return made


def unlisted(data):
    """Of the options under "Algorithm", and of the loader's under "GRPO sampling/filtering"."""
    names, p = {entry["option"] for entry in data["options"]}, parts()
    trainer = [f.name for f in dataclasses.fields(p.grpo.GRPOExperimentConfig)]
    loader = [f.name for f in dataclasses.fields(p.loader.StreamingDataLoaderConfig)]
    every = trainer[trainer.index("num_mini_batches"):trainer.index("single_gpu_mode")] + loader[loader.index("active_sampling"):
                                                                                               loader.index("dataset_mixer_list")]
    return [name for name in every if name not in names and name not in NOT_OF_THE_LOSS]


class Stop(Exception):
    """The loop that prepares data has packed a batch."""

    def __init__(self, packed):
        super().__init__()
        self.packed = packed


def packed(packed_sequences, *_):
    raise Stop(packed_sequences)


NONE = lambda *_, **__: None
FAKE = types.SimpleNamespace


@functools.cache
def parts():
    path = functools.partial(sources.path_of, "open_instruct", "open_instruct")
    logger = logging.getLogger("open_instruct")
    logger.disabled = True
    of_classes = {"dataclass": dataclasses.dataclass, "field": dataclasses.field, "Literal": Literal, "Any": Any, "Generic": Generic,
                  "T": TypeVar("T"), "torch": torch, "np": np, "logger": logger, "math": math, "os": os, "enum": enum, "time": time}
    bases = {name: type(name, (), {}) for name in ("ExperimentConfig", "TrainingConfig", "LoggingConfig", "CheckpointConfig")}
    dist = FAKE(all_reduce=NONE, ReduceOp=FAKE(SUM=None))
    kl = sources.definitions(path("model_utils.py"), ("estimate_kl", "Batch"), **of_classes)
    rl = sources.definitions(path("rl_utils.py"), ("PackedSequences", "reset_position_ids", "pack_sequences", "masked_mean"), **of_classes)
    types_of = sources.definitions(path("data_types.py"), ("CollatedBatchData",), dataclasses=dataclasses, **of_classes)
    grpo = sources.definitions(path("grpo_utils.py"), (
        "GRPOLossType", "GRPOExperimentConfig", "mask_logprobs", "_rho_drop_masks", "_sequence_level_mean", "RhoCorrection",
        "compute_rho_correction", "resolve_old_logprob", "compute_grpo_loss", "calculate_token_counts"), dist=dist, INVALID_LOGPROB=1.0,
        olmo_core_utils=FAKE(**bases), model_utils=kl, **of_classes)
    loader = sources.definitions(path("data_loader.py"), (
        "StreamingDataLoaderConfig", "maybe_mask_truncated_completions", "_data_preparation_loop"), add_prompt_to_generator=NONE,
        prepare_collated_data_for_workers=packed, pack_sequences=rl.pack_sequences, data_types=FAKE(ShutdownSentinel=Stop),
        accumulate_inference_batches=lambda results, *_, **__: results, **of_classes)
    return FAKE(grpo=grpo, loader=loader, rl=rl, Batch=kl.Batch, Collated=types_of.CollatedBatchData, path=path, of_classes=of_classes)


def prepared(config, b, batch, tokens=None, pack_length=1):
    """The rows of the batch, packed by DataPreparationActor, one response in a row if pack_length is 1."""
    p, groups = parts(), batch["group"][-1] + 1
    c = p.loader.StreamingDataLoaderConfig(num_samples_per_prompt_rollout=b.rows // groups, **config)
    c.pack_length = pack_length
    result = FAKE(responses=tokens or [[1] * n for n in b.length], masks=[row.int().tolist() for row in rows(b.mask, b)],
                  finish_reasons=["length" if t else "stop" for t in b.truncated], logprobs=[x.tolist() for x in rows(b.logp_rollout, b)])
    several = [[2]] * b.rows
    of_engine = p.Batch(several, several, several, None, None, None, batch["reward"], None, [0] * b.rows)
    actor = FAKE(config=c, training_step=0, num_training_steps=1, _last_consumed_step=0, iter_dataloader=FAKE(_epoch=0),
                 inference_results_Q=(result, of_engine, {}, {}), rubric_manager=None, tokenizer=FAKE(pad_token_id=0), dp_world_size=1,
                 per_device_train_batch_size=1, global_batch_size=0)
    missing = ("param_prompt_Q", "generation_config", "base_env_config", "ground_truth_overrides", "model_dims", "dataset", "actor_manager",
               "verbose")
    vars(actor).update(dict.fromkeys(missing))
    try:
        p.loader._data_preparation_loop(actor)
    except Stop as done:
        return done.packed


class Metrics(dict):
    def get_metrics_list(self):
        return []


def stepped(args, b, data):
    """The losses of the second epoch of a step of training, summed."""
    p, calls, losses = parts(), itertools.count(), []

    def forward(*_, **__):
        epoch, row = divmod(next(calls), b.rows)
        return (b.leaf if epoch else b.logp_old)[row:row + 1, :b.length[row]], None
    reference = [p.grpo.mask_logprobs(x[None], mask[None, 1:]) for x, mask in zip(rows(b.logp_ref, b), data.response_masks)]
    utils = FAKE(**vars(p.grpo), forward_for_logprobs=forward, compute_logprobs=lambda *_, **__: reference, create_loss_stats=NONE,
                 compute_vllm_local_debug_metrics=lambda **_: {}, accumulate_rho_histograms=NONE, populate_sample_loss_stats=NONE,
                 finalize_rho_histograms=lambda _: {})
    step = sources.definitions(p.path("grpo_fast.py"), ("step",), grpo_utils=utils, masked_mean=p.rl.masked_mean,
                               Timer=lambda *_, **__: contextlib.nullcontext(), **p.of_classes).step
    engine = FAKE(set_gradient_accumulation_boundary=NONE, backward=losses.append, step=NONE, get_global_grad_norm=lambda: 0)
    collated = p.Collated(**{f.name: [row[None] for row in getattr(data, f.name)] for f in dataclasses.fields(p.Collated)})
    args.num_epochs, args.world_size = 2, 1
    step(FAKE(dataloader=iter([{"batch": collated, "metrics": {}}]), splitter=None, device=torch.device("cpu"), num_mini_batches=1,
              args=args, ref_policy=None, pad_token_id=0, streaming_config=FAKE(temperature=1.0), model=engine, local_metrics=Metrics(),
              rank=0, _compute_loss_metrics=NONE))
    return sum(losses[b.rows:])


def run(config, batch):
    b, of_loader = torch_batch(batch), {option: x for option, x in config.items() if option in OF_LOADER}
    b.leaf, of_trainer = b.logp.clone().requires_grad_(), {o: x for o, x in config.items() if o not in OF_LOADER}
    if "kl_estimator" in config:
        of_trainer["kl_estimator"] = int(config["kl_estimator"])
    with sources.doubles():
        try:
            args = parts().grpo.GRPOExperimentConfig(**of_trainer)
        except ValueError as why:
            raise Refused(str(why)) from None
        data = prepared(of_loader, b, batch)
        value = stepped(args, b, data)
    advantage = sources.padded([row[1:] for row in data.advantages], b)
    return answers(b, torch.where(b.mask, advantage, 0), torch.ones_like(b.mask), value), batch


FRAMEWORKS = {"open_instruct": Framework(drawer, batch, run, 1e-9, PLANTED, unlisted)}
