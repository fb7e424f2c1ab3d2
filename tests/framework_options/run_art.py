"""ART's local backend with a given configuration, by its own code (written for openpipe-art 0.5.23); answers as in running.py.

Its own: the configuration of the trainer, the advantages of groups, their weights and normalisation in packed rows, the loss. Replaced:
trajectories and their tokens (one history for each response, after a token of prompt), the layout of packed rows (one response in each),
the model's log-probabilities.
"""
import functools
import itertools
import math
import os
import random
import types

import numpy as np
import torch

import sources
from framework import Drawer, Framework, Refused
from running import answers, regrouped, torch_batch

PLANTED = ("importance_sampling_level", "average", "ratio.interpolate", "geometric")


def drawer(data):
    numbers = {"epsilon": (0.05, 0.9), "epsilon_high": (0.05, 0.9), "kl_penalty_coef": (0.01, 0.5),
               "truncated_importance_sampling": (0.8, 3)}
    return Drawer(data, numbers, {"importance_sampling_level"}, {}, [])


@functools.cache
def parts():
    import art_adapter as adapter
    import art
    folder = list(art.__path__)[0]
    of = lambda *path: os.path.join(folder, *path)
    equal = sources.definitions(of("utils", "grpo.py"), ("rewards_have_zero_variance",))
    tokens = sources.definitions(of("preprocessing", "tokenize.py"), ("tokenize_trajectory_groups",), math=math, random=random,
                                 takewhile=itertools.takewhile, LegacyHistory=lambda **_: None, assemble_vllm_training_sequences=sequences,
                                 **vars(equal))
    pack = sources.definitions(of("preprocessing", "pack.py"), ("prefix_tree_pack",), np=np, torch=torch, random=random, **LAYOUT)
    configs = sources.definitions(of("_backend_training.py"), ("build_rl_train_configs",), TrainConfig=lambda **_: None,
                                  dev=types.SimpleNamespace(TrainConfig=dict))
    return types.SimpleNamespace(loss=adapter.loss_fn, inputs=adapter.AlignedLossInputs, groups=tokens.tokenize_trajectory_groups,
                                 pack=pack.prefix_tree_pack, configs=configs.build_rl_train_configs)


def sequences(advantage, trajectory, **_):
    mask = [0] + [int(m) for m in trajectory.mask]
    return [types.SimpleNamespace(advantage=advantage, row=trajectory.row, token_ids=[0] + [trajectory.row + 1] * (len(mask) - 1),
                                  assistant_mask=mask, weight=0.0)] if any(mask) else []


def filled(row, assistant_mask, advantages, weights, **_):
    """A packed row with one response, which is the only one of its list."""
    n = len(row[0].assistant_mask)
    assistant_mask[:n], advantages[:n], weights[:n] = row[0].assistant_mask, row[0].advantage, row[0].weight


LAYOUT = {"_prefix_tree_pack_item": lambda result, seq_len: result, "_truncate_prefix_tree_pack_item": lambda item, seq_len: item,
          "_prefix_tree_pack_rows": lambda items, **_: [([item], types.SimpleNamespace(length=1, row=item.row)) for item in items],
          "_materialize_prefix_tree_row": filled, "_packed_row_tensor_list": lambda row, name: None, "MoeRoutingPackStats": lambda: None,
          "DEFAULT_MIN_PREFIX_TREE_SHARED_SEGMENT_LENGTH": 0}


def settings(config):
    """The configuration of the trainer (local/backend.py: normalize_advantages and loss_fn are the arguments of train)."""
    given = dict(config)
    if not given.pop("normalize_advantages", True):
        given["scale_rewards"] = False
    return parts().configs(learning_rate=1e-6, ppo=given.pop("loss_fn", "cispo") == "ppo", **given)[1]


def packed(c, b, batch):
    """Advantages and weights in the place of each response; 0 where a response is left out."""
    groups = [[] for _ in range(batch["group"][-1] + 1)]
    for i, n in enumerate(b.length):
        groups[batch["group"][i]].append(types.SimpleNamespace(
            reward=batch["reward"][i], row=i, mask=b.mask[i, :n].tolist(), exchanges=None, messages_and_choices=None, tools=None,
            additional_histories=[]))
    results = list(parts().groups(None, groups, False, c["scale_rewards"]))
    if not results:
        raise Refused("no response is left")
    order = [result.row for result in results]
    random.Random(len(order)).shuffle(order)  # as prefix_tree_pack shuffles its rows
    made = parts().pack(tokenized_results=results, seq_len=b.logp.shape[1] + 1, advantage_balance=c["advantage_balance"])
    advantage, weight = torch.zeros_like(b.logp), torch.zeros_like(b.logp)
    advantage[order], weight[order] = made["advantages"][:, 1:], made["weights"][:, 1:]
    return advantage, weight


def run(config, batch):
    p, b, c = parts(), torch_batch(batch), settings(config)
    b.leaf = b.logp.clone().requires_grad_()
    with sources.doubles():
        advantage, weight = packed(c, b, batch)
        kept = weight > 0
        old = b.logp_old if c["precalculate_logprobs"] else b.logp_rollout
        rows = torch.arange(1, b.rows + 1)[:, None].expand_as(b.logp)
        inputs = p.inputs(assistant_mask=kept, old_logprobs=old, advantages=advantage, weights=weight, group_ids=rows,
                          original_logprobs=b.logp_rollout if c["precalculate_logprobs"] else None)
        value = p.loss(inputs, b.leaf, b.logp_ref if c["kl_penalty_coef"] > 0 else None, None, c).policy_loss
    if c["kl_penalty_coef"] > 0:  # the fields count it to the advantages
        far = torch.where(kept, b.logp_rollout - b.logp_ref, 0)
        advantage = advantage + torch.where(kept, c["kl_penalty_coef"] * (far.sum() / kept.sum() - far), 0)
    made = {**batch, "mask": [row[:n].tolist() for row, n in zip(kept, b.length)]}
    return answers(b, advantage, torch.ones_like(b.mask), value), made


FRAMEWORKS = {"art": Framework(drawer, regrouped, run, 5e-6, PLANTED)}
