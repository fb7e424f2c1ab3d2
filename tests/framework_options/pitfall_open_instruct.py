"""Pitfalls of open-instruct (at the commit of the data), for pitfalls.py: its own data loader and loss, as in run_open_instruct.py."""
import math

import torch

from running import near, small_batch

PLAIN = {"beta": 0.0}


def slopes(config, batch):
    """The gradient of each response's first token."""
    import run_open_instruct
    return [row[0] for row in run_open_instruct.run({**PLAIN, **config}, batch)[0]["dlogp"]]


def open_instruct_truncated_leave():
    """The advantages of two prompts of two responses each, with the rewards 1, 0 and 3, 2, where the second and the fourth are truncated,
    and where none is."""
    import run_open_instruct as module
    import sources
    from running import torch_batch
    found = {}
    for cut in (True, False):
        batch = small_batch(reward=(1.0, 0.0, 3.0, 2.0), group=[0, 0, 1, 1], truncated=[False, cut, False, cut])
        with sources.doubles():
            rows = module.prepared({"mask_truncated_completions": True}, torch_batch(batch), batch).advantages
        found[str(cut)] = [row[1].item() for row in rows]
    return near(found["True"], [-1, 1]) and near(found["False"], [0.5, -0.5, 0.5, -0.5]), found


def rho(pack_length, config):
    """The weights of two responses, whose log-ratios to the sampler are 0.6 and -0.6 at every token."""
    import run_open_instruct as module
    import sources
    from running import torch_batch
    batch = small_batch(reward=(1.0, 0.0))
    batch["logp_rollout"] = [[x - far for x in row] for row, far in zip(batch["logp_old"], (0.6, -0.6))]
    b, parts, found = torch_batch(batch), module.parts(), []
    with sources.doubles():
        args = parts.grpo.GRPOExperimentConfig(**config)
        packed = module.prepared({}, b, batch, pack_length=pack_length)
        for mask, sampler, advantage in zip(packed.response_masks, packed.vllm_logprobs, packed.advantages):
            mask, sampler = mask.bool()[None, 1:], sampler[None, 1:]
            starts = (~mask[0]).long().cumsum(0) + len(found)  # each response follows its prompt, one token
            own = sampler + torch.where(starts % 2 == 0, 0.6, -0.6)
            given = own, parts.grpo.mask_logprobs(sampler, mask), mask, advantage[None, 1:], args
            found += [row[0].item() for row in parts.grpo.compute_rho_correction(*given).weights[mask].split(3)]
    return found


def open_instruct_row_is_a_sequence():
    """Packed into one row, and a row for each response: one is dropped, as exp(0.6) is above the bound."""
    config = {"rho_mask_sequence_level": True, "rho_mask_upper_bound": 1.5, "rho_clamp_upper_bound": 0.0}
    found = [rho(length, config) for length in (100, 1)]
    return near(found[0], [1, 1]) and near(found[1], [0, math.exp(-0.6)]), found


def open_instruct_total_variation():
    """How many of two responses lose their gradient by the lower bound 0.5, with a total variation of 0.001, and of 0.6 and more."""
    found = {}
    for far in (0.001, 1.0):
        batch = small_batch(reward=(0.0, 1.0))
        batch["logp_rollout"] = [[x - far * s for x in row] for s, row in zip((-1, 1), batch["logp_old"])]
        found[far] = sum(x == 0 for x in slopes({"rho_mask_tv_divergence": True, "rho_mask_lower_bound": 0.5}, batch))
    return found == {0.001: 2, 1.0: 0}, found


def open_instruct_empty_response():
    """The gradient of the token that is appended to an empty response, whose log-probability of the sampler is NaN, over what it is with
    that of the old policy."""
    found = {}
    for config in ({}, {"use_rho_correction": False, "use_vllm_logprobs": True}, {"use_rho_correction": False}):
        of = []
        for nan in (True, False):
            batch = small_batch(reward=(1.0, 0.0), length=[3, 1])
            batch["logp"] = batch["logp_old"]
            batch["logp_rollout"] = [list(row) for row in batch["logp_old"]]
            batch["logp_rollout"][1] = [math.nan] if nan else batch["logp_old"][1]
            of.append(slopes(config, batch)[1])
        found[str(config)] = of[0] / of[1]
    return near(found.values(), [math.exp(-1.3 - 1), 0, 1]), found
