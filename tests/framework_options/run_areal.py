"""Random configurations of AReaL (written for areal 1.0.4) for random_configurations.py.

PPOActor with its own configuration class: compute_advantages, then ppo_update, which passes the options to grpo_loss_fn. Replaced are the
engine (which here gives the log-probabilities of the batch, packed as the real one packs them) and the split into minibatches (there is
one). The prompt of every response is one token. Rejected configurations and their reasons are AReaL's.
"""
import dataclasses
import functools
import logging
import os
import types
from unittest import mock

import torch

from framework import Drawer, Framework, Refused, far_rollout, holes, whole
from options import translate
from running import answers, classes_of, torch_batch

ACTOR = "actor."
NORM, REJECTION = ACTOR + "reward_norm", ACTOR + "rejection_sampling"
OTHERS = ("ppo_n_minibatches", "log_agent_stats", "log_agent_stats_keys", "temperature")  # options of the actor, not of the loss
OBJECTS = (NORM, ACTOR + "adv_norm", REJECTION)  # null, or with fields of their own


# ---- what is drawn

def fitted(config):
    """No fields of objects that are null; bounds in the range of the statistic, the lower one below the upper one."""
    for name in OBJECTS:
        if not config.get(name):
            config = {option: x for option, x in config.items() if not option.startswith(name + ".")}
    upper, lower = config.get(REJECTION + ".upper"), config.get(REJECTION + ".lower")
    if config.get(REJECTION + ".metric", "ratio") != "ratio":
        config[REJECTION + ".upper"] = round((upper or 3) / 20, 4)
        if lower:
            config[REJECTION + ".lower"] = round(lower / 50, 4)
    if config.get(ACTOR + "adv_norm"):
        config[ACTOR + "adv_norm.eps"] = 1e-13  # added to the deviation, by the field to nothing
    for name in OBJECTS[:2]:
        if name + ".group_size" in config or "group" in (config.get(name + ".mean_level"), config.get(name + ".std_level")):
            config[name + ".group_size"] = 3
    if config.get(ACTOR + "overlong_reward_penalty"):
        config = {ACTOR + "overlong_tokens": 2, ACTOR + "overlong_penalty_factor": 0.5, ACTOR + "max_new_tokens": 4, **config}
    return config


def drawer(data):
    given, three = (lambda rng: True), (lambda rng: 3)
    numbers = {ACTOR + "eps_clip": (0.05, 0.4), ACTOR + "eps_clip_higher": (0.05, 0.6), ACTOR + "c_clip": (1.2, 5),
               ACTOR + "sapo_tau_pos": (0.5, 3), ACTOR + "sapo_tau_neg": (0.5, 3), ACTOR + "reward_scaling": (0.5, 3),
               ACTOR + "reward_bias": (-0.6, 0.6), ACTOR + "reward_clip": (0.3, 2), ACTOR + "discount": (0.8, 0.99),
               ACTOR + "gae_lambda": (0.8, 0.99), ACTOR + "kl_ctl": (0.01, 0.5), ACTOR + "overlong_tokens": whole(1, 3),
               ACTOR + "overlong_penalty_factor": (0.2, 1), ACTOR + "max_new_tokens": whole(3, 6), NORM + ".eps": (1e-4, 0.1),
               NORM + ".group_size": three, ACTOR + "adv_norm.group_size": three, ACTOR + "adv_norm.eps": lambda rng: 1e-13,
               REJECTION + ".upper": (1.05, 3), REJECTION + ".lower": (0.4, 0.95), "critic": given, "ref": given,
               **dict.fromkeys(OBJECTS, given)}
    return Drawer(data, numbers, {REJECTION, NORM, ACTOR + "use_decoupled_loss"}, {}, [], fitted, 15)


def batch(rng, config):
    made = translate.random_batch(rng, True)
    longest = max(made["length"])
    made["truncated"] = [n == longest for n in made["length"]]  # AReaL's definition of a response without an end
    if rng.random() < 0.5 and not config.get(ACTOR + "overlong_reward_penalty"):  # it counts unmasked tokens
        holes(rng, made)
    if rng.random() < 0.5:
        far_rollout(made)
    return made


# ---- the configuration

@functools.cache
def classes():
    """The configuration classes, without the modules that their file imports."""
    import areal_adapter as adapter
    engine = dataclasses.make_dataclass("TrainEngineConfig", [("temperature", float, 1.0)], namespace={"__post_init__": lambda self: None})
    log = logging.getLogger("areal")
    log.setLevel(logging.ERROR)
    return classes_of(os.path.join(os.path.dirname(adapter.areal.__file__), os.pardir, os.pardir, "api", "cli_args.py"),
                      ("NormConfig", "RejectionSamplingConfig", "PPOActorConfig"), TrainEngineConfig=engine, logger=log,
                      PROX_LOGP_METHOD_RECOMPUTE=adapter.areal.PROX_LOGP_METHOD_RECOMPUTE, PROX_LOGP_METHODS_ALL=[])


def unlisted(data):
    names = {entry["option"] for entry in data["options"]}
    every = [ACTOR + f.name for f in dataclasses.fields(classes().PPOActorConfig) if f.name not in OTHERS]
    for name, kind in zip(OBJECTS, ("NormConfig", "NormConfig", "RejectionSamplingConfig")):
        every += [f"{name}.{f.name}" for f in dataclasses.fields(getattr(classes(), kind))]
    return [option for option in every if option not in names]


def actor_config(config):
    made, kinds = {"ppo_n_minibatches": 1}, dict(zip(OBJECTS, ("NormConfig", "NormConfig", "RejectionSamplingConfig")))
    for option, x in config.items():
        if option.startswith(ACTOR) and option not in OBJECTS and not any(option.startswith(name + ".") for name in OBJECTS):
            made[option[len(ACTOR):]] = x
    try:
        for name, kind in kinds.items():
            own = {option[len(name) + 1:]: x for option, x in config.items() if option.startswith(name + ".")}
            if own or config.get(name):
                made[name[len(ACTOR):]] = getattr(classes(), kind)(**own)
        return classes().PPOActorConfig(**made)
    except ValueError as why:
        raise Refused(str(why)) from None


# ---- the actor

class Engine:
    """Gives the log-probabilities of the batch and keeps the loss."""
    def __init__(self, b):
        self.b = b

    def train(self):
        pass

    def get_version(self):
        return 0

    def train_batch(self, minibatch, loss_fn, loss_weight_fn):
        from areal.utils.data import pack_tensor_dict
        at = minibatch["attention_mask"].bool()
        packed = pack_tensor_dict(minibatch)
        padded = torch.nn.functional.pad(self.b.leaf, (0, 1))  # after the last token there is no next one
        weight = loss_weight_fn(packed)
        self.loss = loss_fn(padded[at], torch.zeros(int(at.sum())), packed) * (weight / weight)
        return {}


def data_of(c, b, config):
    """The batch of the trainer. Arrays are at the position of the token; ppo_update's are at the one before."""
    pad = lambda x, fill=0: torch.nn.functional.pad(x, (1, 0), value=fill)
    attention = torch.arange(b.logp.shape[1] + 1)[None] <= torch.tensor(b.length)[:, None]
    before = lambda x: torch.where(attention, torch.roll(pad(x), -1, -1), 0)
    sampler = b.logp_rollout if c.use_decoupled_loss or c.recompute_logprob else b.logp_old
    data = {"input_ids": attention.long(), "attention_mask": attention.long(), "rewards": b.reward.clone(), "loss_mask": pad(b.mask),
            "logprobs": torch.where(attention, pad(sampler), 0)}
    if c.should_compute_prox_logp():
        data["prox_logp"] = before(b.logp_old)
    if c.kl_ctl > 0 and config.get("ref"):
        data["ref_logp"] = before(b.logp_ref)
    if config.get("critic"):
        data["values"] = before(torch.where(b.mask, b.value, 0))
    return data


def run(config, given):
    import areal_adapter as adapter
    c = actor_config(config)
    if not config.get("ref"):
        given = {**given, "logp_ref": [[0] * n for n in given["length"]]}
    b, module, all_of_it = torch_batch(given), adapter.areal, lambda data, mb_spec: types.SimpleNamespace(mbs=[data])
    b.leaf, engine = b.logp.clone().requires_grad_(), Engine(b)
    with mock.patch.object(module, "logger", logging.getLogger("areal")), mock.patch.object(module, "MicroBatchSpec", lambda n_mbs: None), \
            mock.patch.object(module, "split_padded_tensor_dict_into_mb_list", all_of_it), \
            mock.patch.object(torch.Tensor, "float", torch.Tensor.double), mock.patch.object(torch, "float32", torch.float64):
        actor = module.PPOActor(c, engine)
        data = actor._compute_advantages(data_of(c, b, config))
        advantage = data["advantages"][:, :-1].clone()
        try:
            actor._ppo_update(data)
        except ValueError as why:
            raise Refused(str(why)) from None
    return answers(b, torch.where(b.mask, advantage, 0), b.mask, engine.loss), given


FRAMEWORKS = {"areal": Framework(drawer, batch, run, 1e-9, (ACTOR + "use_sapo_loss", "true", "surrogate.kind", "ppo_clip"), unlisted)}
