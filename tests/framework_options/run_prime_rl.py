"""prime-rl with a given configuration, by its own code at the commit of the data; answers are as in running.py.

Its own: the configuration classes, the advantages of a group, which tokens keep a weight, the loss. Replaced: episodes and traces (one
trace with one node for each response). The count of tokens by which the loss is divided is written here after trainer/rl/train.py:300-322.
"""
import asyncio
import functools
import types
from typing import Any, ClassVar, Literal, TypeAlias

import pydantic
import torch

import sources
from framework import Drawer, Framework
from running import answers, regrouped, torch_batch
from sources import rows

PLANTED = ("orchestrator.algo.type", "max_rl", "advantage.scale", "group_std")
LOSS, ALGO, TRAIN = "trainer.loss.", "orchestrator.algo.", "orchestrator.train."


def drawer(data):
    numbers = {LOSS + "dppo_mask_low": (0, 0.2), LOSS + "dppo_mask_high": (0, 0.2), LOSS + "ipo_threshold": (0, 0.2),
               LOSS + "adv_tau": (0.2, 3), LOSS + "kl_tau": (0.001, 0.5)}
    return Drawer(data, numbers, {LOSS + "type"}, {}, [])


@functools.cache
def parts():
    path = functools.partial(sources.path_of, "prime_rl")
    of_configs = {"BaseConfig": pydantic.BaseModel, "Field": pydantic.Field, "Literal": Literal, "Any": Any, "ClassVar": ClassVar}
    configs = sources.definitions(path("packages", "prime-rl-configs", "src", "prime_rl", "configs", "trainer.py"), (
        "DefaultLossConfig", "IPOLossConfig", "CustomLossConfig"), **of_configs)
    algorithm = sources.definitions(path("packages", "prime-rl-configs", "src", "prime_rl", "configs", "algorithm.py"), (
        "ActionLossType", "LinearLengthPenaltyConfig", "LengthPenaltyConfig", "GRPOAlgoConfig"), BaseAlgoConfig=pydantic.BaseModel,
        TypeAlias=TypeAlias, **of_configs).GRPOAlgoConfig
    loss = sources.definitions(path("src", "prime_rl", "trainer", "rl", "loss.py"), (
        "LossInputs", "LossOutputs", "_safe_mean", "compute_importance_ratio_and_mismatch_kl", "default_loss_fn", "ipo_loss_fn",
        "ref_kl_loss_fn", "ce_loss_fn", "setup_rl_loss_fn", "compute_loss"), torch=torch, **vars(configs), **fields_of_dataclasses())
    algo = functools.partial(path, "src", "prime_rl", "orchestrator", "algo")
    routing = sources.definitions(algo("routing.py"), ("assign_advantages",))
    base = sources.definitions(algo("base.py"), ("iter_trainable_traces",))
    score = {name: sources.definitions(algo(name + ".py"), ("score_group",), torch=torch, **vars(base), **vars(routing)).score_group
             for name in ("grpo", "max_rl")}
    sink = sources.definitions(path("src", "prime_rl", "orchestrator", "train_sink.py"), ("_prune_zero_advantages",))
    return types.SimpleNamespace(configs=configs, algorithm=algorithm, loss=loss, score=score, prune=sink._prune_zero_advantages)


def unlisted(data):
    names = {entry["option"] for entry in data["options"]}
    every = [LOSS + name for kind in ("DefaultLossConfig", "IPOLossConfig") for name in getattr(parts().configs, kind).model_fields]
    return [name for name in every + [ALGO + name for name in parts().algorithm.model_fields] if name not in names]


def fields_of_dataclasses():
    """What the annotations of the loss's dataclasses name."""
    from dataclasses import dataclass, field
    import jaxtyping
    return {"dataclass": dataclass, "field": field, "Tensor": torch.Tensor, "Float": jaxtyping.Float, "Bool": jaxtyping.Bool}


def traces_of(b, batch, group):
    """The traces of a group, one for each response; the masked tokens are not sampled."""
    return [types.SimpleNamespace(
        id=i, reward=batch["reward"][i], has_error=False, agent=types.SimpleNamespace(trainable=True),
        nodes=[types.SimpleNamespace(mask=b.mask[i, :n].tolist(), token_ids=[0] * n, advantages=None)])
        for i, n in enumerate(b.length) if batch["group"][i] == group]


def rule_of(config):
    """The configuration of the loss."""
    p, of_loss = parts(), {option.split(".")[-1]: x for option, x in config.items() if option.startswith(LOSS)}
    kind = p.configs.IPOLossConfig if of_loss.get("type") == "ipo" else p.configs.DefaultLossConfig
    return kind(**{key: x for key, x in of_loss.items() if key in kind.model_fields})


def scored(config, b, batch):
    """The advantages, and for each response the weights of its tokens, None if it has none."""
    p, advantage, weights = parts(), torch.zeros_like(b.logp), []
    for group in range(batch["group"][-1] + 1):
        traces = traces_of(b, batch, group)
        how = types.SimpleNamespace(length_penalty=None)
        asyncio.run(p.score[config.get(ALGO + "type", "grpo")](how, [types.SimpleNamespace(traces=traces)]))
        for trace in traces:
            if b.mask[trace.id].any():  # else it has none
                advantage[trace.id, b.mask[trace.id]] = torch.tensor(trace.nodes[0].advantages)
    for i, n in enumerate(b.length):
        sample = types.SimpleNamespace(advantages=advantage[i, :n].tolist(), mask=b.mask[i, :n].tolist(), rl_weights=None,
                                       ce_weights=None, ref_kl_weights=None)
        if config.get(TRAIN + "filter_zero_advantages", True):
            p.prune(sample)
        weights.append(sample.rl_weights)
    return advantage, weights


def run(config, batch):
    p, b, of_loss = parts(), torch_batch(batch), rule_of(config)
    b.leaf = b.logp.clone().requires_grad_()
    with sources.doubles():
        advantage, weights = scored(config, b, batch)
        weights = [torch.tensor(w or [1.0] * n) for w, n in zip(weights, b.length)]
        masks = rows(b.mask, b)
        scale = max(sum(int((mask & (w != 0)).sum()) for mask, w in zip(masks, weights)), 1)
        value = p.loss.compute_loss(rows(b.leaf, b), rows(b.logp_rollout, b), None, rows(advantage, b), masks, weights, None, None,
                                    p.loss.setup_rl_loss_fn(of_loss), scale, 1, 1)[0]
    made = {**batch, "selected": [row.tolist() for row in rows(advantage != 0, b)]}  # as the data say
    return answers(b, advantage * of_loss.adv_tau, torch.ones_like(b.mask), value), made


FRAMEWORKS = {"prime_rl": Framework(drawer, regrouped, run, 1e-9, PLANTED, unlisted)}
