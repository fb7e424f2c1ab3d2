"""Pitfalls of slime (at the commit of the data), for pitfalls.py: each configuration is run as in run_slime.py."""
import types
from unittest import mock

import torch

from running import near, small_batch

ESTIMATOR, WHITEN = "advantage-estimator", {"normalize-advantages": True}
PLUS_PLUS = {ESTIMATOR: "reinforce_plus_plus", **WHITEN}
ICEPOP = "slime.backends.megatron_utils.loss.icepop_function"


def run(config, batch):
    import run_slime
    return run_slime.run(config, batch)[0]


def first(config, batch):
    """The advantage of each response's first token."""
    return [row[0] for row in run(config, batch)["advantage"]]


def slime_whitened_equal():
    """A share of NaN among the advantages, in float32, as in training: of 2500 tokens each of four responses with equal rewards."""
    import run_slime
    import sources
    parts, found, reduced = run_slime.parts(), {}, torch.float32
    for reward in (0.7, 0.5):
        data = {"rollout_log_probs": None, "log_probs": [torch.full((2500,), -1.0, dtype=reduced)] * 4, "rewards": [reward] * 4,
                "response_lengths": [2500] * 4, "total_lengths": [2501] * 4, "loss_masks": [torch.ones(2500, dtype=torch.int)] * 4}
        args = run_slime.arguments(PLUS_PLUS, small_batch())
        fake = types.SimpleNamespace()
        with sources.modules(megatron=fake, megatron__core=types.SimpleNamespace(mpu=parts.mpu)):
            parts.loss.compute_advantages_and_returns(args, data)
        found[reward] = torch.cat(data["advantages"]).isnan().float().mean().item()
    return found == {0.7: 1.0, 0.5: 0.0}, found


def slime_one_group():
    """Two prompts with the rewards 1, 0 and 3, 2: by themselves, and where one of three prompts is missing."""
    import run_slime
    batch = small_batch(reward=(1.0, 0.0, 3.0, 2.0), group=[0, 0, 1, 1])
    found, made = {"complete": first({}, batch)}, run_slime.arguments

    def three(config, of):
        args = made(config, of)
        args.rollout_batch_size = 3
        return args
    with mock.patch.object(run_slime, "arguments", three):
        found["incomplete"] = first({}, batch)
    one = [(x - 1.5) / 1.2909944 for x in batch["reward"]]
    return near(found["incomplete"], one, 1e-4) and near(found["complete"], [0.7071068, -0.7071068] * 2, 1e-4), found


def slime_kl_of_masked_tokens():
    """By how much the advantage of a token changes where the reference gives the next token, which is masked, 3 nats less."""
    found = {}
    for estimator in ("ppo", "reinforce_plus_plus"):
        config = {ESTIMATOR: estimator, "kl-coef": 0.5, **(PLUS_PLUS if estimator != "ppo" else {})}
        of = []
        for far in (0, 3):
            batch = small_batch(mask=[[True, False, True]] * 4)
            batch["logp_ref"] = [[x - far * (t == 1) for t, x in enumerate(row)] for row in batch["logp_old"]]
            of.append(first(config, batch)[0])
        found[estimator] = of[1] - of[0]
    return near(found.values(), [-1.5, 0]), found


def slime_masked_response():
    """A response of which no token counts."""
    batch, found = small_batch(mask=[[True] * 3] * 3 + [[False] * 3]), {}
    for name in ("reinforce_plus_plus", "reinforce_plus_plus_baseline"):
        try:
            found[name] = bool(first({**PLUS_PLUS, ESTIMATOR: name}, batch))
        except AssertionError as why:
            found[name] = str(why)
    return "fully masked" in str(found["reinforce_plus_plus"]) and found["reinforce_plus_plus_baseline"] is True, found


def slime_mismatch_metrics():
    """The gradient where every ratio of the old policy to the sampler is 20, above the bound of the function."""
    batch, more = small_batch(), {"custom-tis-function-path": ICEPOP}
    batch["logp_rollout"] = [[x - 3 for x in row] for row in batch["logp_old"]]
    found = {str(on): abs(run({**more, "get-mismatch-metrics": on}, batch)["dlogp"][0][0]) for on in (True, False)}
    return found["True"] == 0 < found["False"], found
