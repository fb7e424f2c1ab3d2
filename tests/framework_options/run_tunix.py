"""tunix's GRPO learner with a given configuration, by its own code (written for google-tunix 0.1.7, in jax); answers as in running.py.

Its own: the configuration class, the advantages, the loss. Replaced: the model's log-probabilities. Code that asks for float32 gets
float64.
"""
import dataclasses
import functools
import os
import types
from unittest import mock

import torch

import sources
from framework import Drawer, Framework, holes
from options import translate
from padded import ragged
from running import torch_batch

PLANTED = ("kl_loss_mode", "kl", "penalty.kl", "k2")


def drawer(data):
    numbers = {"beta": (0.01, 0.5), "kl_clamp_value": (0.05, 0.5), "epsilon": (0.05, 0.4)}
    left = {"num_iterations": "the old policy's log-probabilities are always those of another policy here",
            "num_generations": "that of the batch"}
    return Drawer(data, numbers, {"loss_algo", "advantage_estimator"}, left, [])


def batch(rng, config):
    """Groups of three; masked tokens, and once in a while a response without tokens; ratios so far that GSPO's clamp binds."""
    made = translate.random_batch(rng, True)
    if rng.random() < 0.5:
        holes(rng, made)
        if rng.random() < 0.4:
            made["mask"][0] = [False] * made["length"][0]
    if rng.random() < 0.2:
        made["logp_old"] = [[x - 12 for x in row] for row in made["logp_old"]]
    return made


@functools.cache
def parts():
    import tunix_adapter as adapter
    return adapter


def settings(config):
    """The configuration, by its own class."""
    import tunix
    parts()
    from tunix.rl import algorithm_config
    path = os.path.join(list(tunix.__path__)[0], "rl", "grpo", "grpo_learner.py")
    kind = sources.definitions(path, ("GRPOConfig",), algo_config_lib=algorithm_config, dataclasses=dataclasses).GRPOConfig
    return kind(**config)


def run(config, batch):
    adapter = parts()
    jax, numbers = adapter.jax, adapter.jax.numpy
    b, c = torch_batch(batch), settings({"num_generations": 3, **config})
    c.temperature = 1.0
    with jax.enable_x64(True), mock.patch.object(numbers, "float32", numbers.float64):
        estimate = adapter.function_registry.get_advantage_estimator(c.advantage_estimator)
        rewards = torch.tensor(batch["reward"], dtype=torch.float64).numpy()
        advantage = torch.tensor(adapter.np.array(estimate(rewards=rewards, num_generations=c.num_generations)))
        array, rule = adapter.array, adapter.function_registry.get_policy_loss_fn(c.policy_loss_fn)
        example = types.SimpleNamespace(completion_ids=None, prompt_ids=None, completion_mask=array(b.mask.double()),
                                        advantages=array(advantage), old_per_token_logps=array(b.logp_old),
                                        ref_per_token_logps=array(b.logp_ref) if c.beta else None)

        def of(logp):
            made = lambda *_, **__: (logp, numbers.zeros((*logp.shape, 2)))
            with mock.patch.object(adapter.algo_core.common, "compute_per_token_logps", made):
                return rule(adapter.nnx.Module(), example, c, 0, 1)[0]
        value, gradient = jax.value_and_grad(of)(array(b.logp))
    zero = torch.zeros_like(b.logp)
    return {"advantage": ragged(torch.where(b.mask, advantage[:, None], zero), b), "loss": float(value), "dentropy": ragged(zero, b),
            "dlogp": ragged(torch.where(b.mask, torch.tensor(adapter.np.asarray(gradient).copy()), zero), b)}, batch


FRAMEWORKS = {"tunix": Framework(drawer, batch, run, 1e-7, PLANTED)}
