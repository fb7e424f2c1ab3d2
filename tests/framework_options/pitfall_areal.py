"""Pitfalls of AReaL (1.0.4), for pitfalls.py: each configuration is run as in run_areal.py."""
import functools
import types
from unittest import mock

import torch

from running import near, small_batch

ACTOR, FAR = "actor.", 5e4
NORM, REJECTION = ACTOR + "reward_norm.", ACTOR + "rejection_sampling."
OF_GROUPS = {NORM + "mean_level": "group", NORM + "std_level": "group"}


def advantages(config, batch):
    """Of each response, without the KL in the reward, unless config has one."""
    import run_areal
    return [row[0] for row in run_areal.run({ACTOR + "kl_ctl": 0.0, **config}, batch)[0]["advantage"]]


def areal_group_of_one():
    config, batch = {NORM + "mean_level": "group", NORM + "std_level": None}, small_batch(reward=(1.0, 0.0, 1.0, 0.0))
    found = [advantages({**config, **more}, batch) for more in ({}, {NORM + "group_size": 4})]
    return found == [[0.0] * 4, [0.5, -0.5, 0.5, -0.5]], found


def areal_incomplete_group():
    """Of five responses in groups of two the last one, and without a mean and a deviation of groups; then a prompt with the rewards 1 and
    0, behind one of which a response is missing, and behind none."""
    config, last = {**OF_GROUPS, NORM + "group_size": 2}, small_batch(reward=(1.0, 0.0, 1.0, 0.0, 0.5))
    found = [advantages(options, last)[4] for options in (config, {})]
    shifted = [advantages(config, small_batch(reward=rewards + (1.0, 0.0, 0.0)[:4 - len(rewards)]))[len(rewards):][:2]
               for rewards in ((1.0,), (1.0, 0.0))]
    return near(found, [FAR, 0.5]) and near(shifted[0], [0, 0]) and near(shifted[1], [0.707, -0.707], 1e-3), found + shifted


def areal_no_reference():
    """Three tokens of a response with the log-probabilities -1, -1.1 and -1.2, and the reward 1; and with the policy as reference."""
    batch, config = small_batch(reward=(1.0, 1.0)), {ACTOR + "kl_ctl": 0.1}
    batch["logp_ref"] = batch["logp_old"]
    found = [advantages({**config, **more}, batch)[0] for more in ({}, {"ref": True})]
    return near(found, [1 + 0.1 * 3.3, 1]), found


def areal_rejection_alone():
    """The largest gradient where every token's ratio of the old policy to the sampler is 1.35, and the upper bound is 1.01."""
    import run_areal
    batch, found = small_batch(), {}
    batch["logp_rollout"] = [[x - 0.3 for x in row] for row in batch["logp_old"]]
    config = {ACTOR + "kl_ctl": 0.0, ACTOR + "recompute_logprob": True, REJECTION + "metric": "ratio", REJECTION + "upper": 1.01}
    for decoupled in (False, True):
        rows = run_areal.run({**config, ACTOR + "use_decoupled_loss": decoupled}, batch)[0]["dlogp"]
        found[str(decoupled)] = max(abs(x) for row in rows for x in row)
    return found["False"] > 0.05 and found["True"] == 0, found


def areal_longest_loses_reward():
    """The advantages of responses of 3, 2 and 2 tokens, and of 3, 3 and 2, all of which ended and have the reward 1."""
    found = {}
    for length in ([3, 2, 2], [3, 3, 2]):
        batch = small_batch(reward=(1.0,) * 3, length=length)
        found[str(length)] = [advantages({ACTOR + "mask_no_eos_with_zero": on}, batch) for on in (True, False)]
    return list(found.values()) == [[[0, 1, 1], [1, 1, 1]], [[0, 0, 1], [1, 1, 1]]], found


def areal_rank_without_tokens():
    """The reductions over ranks of a rank without tokens that count, and of one with some."""
    from areal_adapter import areal  # noqa: F401  the stand-ins
    from areal.utils import data as module
    from run_areal import classes
    calls, found = [], []
    dist = types.SimpleNamespace(is_initialized=lambda: True, all_reduce=lambda *_, **__: calls.append(1),
                                 ReduceOp=types.SimpleNamespace(SUM=None))
    normalise = functools.partial(module.Normalization(classes().NormConfig(mean_level="batch", std_level="batch")), torch.ones(2, 3))
    with mock.patch.object(module, "dist", dist):
        for mask in (torch.zeros(2, 3), torch.ones(2, 3)):
            calls.clear()
            normalise(mask)
            found.append(len(calls))
    return found[0] == 0 < found[1], found


def areal_second_moments():
    """The gradient of the first response where the second one, whose tokens are far from the sampler, is in its micro-batch, and where
    each response is a micro-batch, weighted as the trainer does, by the tokens before the mask."""
    import run_areal
    batch = small_batch(reward=(1.0, 1.0))
    batch["logp_rollout"] = [list(batch["logp_old"][0]), [x - 3 for x in batch["logp_old"][1]]]
    config = {ACTOR + "kl_ctl": 0.0, ACTOR + "recompute_logprob": True, ACTOR + "use_decoupled_loss": True, ACTOR + "m2_threshold": 0.01}
    one = lambda i: {key: x[i:i + 1] if isinstance(x, list) and len(x) == 2 and key != "reward_weight" else x for key, x in batch.items()}
    of = lambda more: (run_areal.run({**config, **more}, batch)[0]["dlogp"][0][0],
                       run_areal.run({**config, **more}, one(0))[0]["dlogp"][0][0] / 2)
    found = {"m2_threshold": of({}), "without": of({ACTOR + "m2_threshold": None})}
    ratio = {name: parts / whole for name, (whole, parts) in found.items()}
    return near(ratio.values(), [0.5, 1]), ratio
