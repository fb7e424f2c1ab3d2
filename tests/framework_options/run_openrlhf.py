"""OpenRLHF (written for openrlhf 0.11.2) with a given configuration: advantages, loss and gradient by its own code.

Replaced are models, engines and processes (../conformance/adapters/openrlhf_adapter.py). Code that asks for float32 gets float64.
"""
import ast
import os
from unittest import mock

import torch

from framework import Beyond, Drawer, Framework, Refused, far_rollout, holes, nearly_equal, whole
from options import translate
from running import answers, torch_batch


# ---- what is drawn

def drawer(data):
    a = "algo.advantage."
    band = lambda rng: [round(rng.uniform(0.3, 0.9), 3), round(rng.uniform(1.1, 3), 3)]
    numbers = {a + "gamma": (0.8, 1), a + "lambd": (0.8, 1), "algo.kl.init_coef": (0.01, 0.5),
               "reward.clip_range": lambda rng: [round(rng.uniform(-2, 0.4), 3), round(rng.uniform(0.5, 2), 3)],
               "reward.overlong_buffer_len": whole(1, 4), "reward.overlong_penalty_factor": (0.2, 1.5),
               "reward.stop_properly_penalty_coef": (0, 1), "actor.eps_clip": (0.05, 0.4),
               "actor.eps_clip_low_high": lambda rng: [round(rng.uniform(0.05, 0.4), 3), round(rng.uniform(0.05, 0.6), 3)],
               "actor.dual_clip": (1.1, 5), "rollout.max_new_tokens": whole(4, 7), "actor.entropy_coef": (0.01, 0.2),
               a + "is_correction_threshold": band}
    left = {"algo.kl.target": "needs the state of the trainer", "actor.aux_loss_coef": "needs a mixture of experts",
            "reward.normalize_enable": "the reward model's", "algo.dynamic_filtering_enable": "changes which prompts are in the batch"}

    def fitted(config):
        """A clip of rewards less their baseline does not bind; a divergence has an upper bound only."""
        if config.get(a + "estimator", "gae") not in ("gae", "reinforce") and "reward.clip_range" in config:
            config["reward.clip_range"] = [x * 20 - 10 * (x > 0) - 5 for x in (-0.5, 1.5)]
        if config.get(a + "is_correction_gating") == "tv":
            config[a + "is_correction_threshold"] = [0.0, round(config.get(a + "is_correction_threshold", [0, 1.5])[1] / 10, 4)]
        return config
    high = lambda c: (c["actor.eps_clip_low_high"] or [c["actor.eps_clip"]])[-1]
    beyond = [Beyond("actor.dual_clip", "up to 1 + eps_clip", lambda c: c["actor.dual_clip"] and c["actor.dual_clip"] <= 1 + high(c))]
    return Drawer(data, numbers, {a + "estimator", a + "is_correction_level", "rollout.max_new_tokens"}, left, beyond, fitted)


def batch(rng, config):
    batch = translate.random_batch(rng, True)
    if rng.random() < 0.5 and config.get("algo.advantage.estimator", "gae") not in ("gae", "reinforce"):  # there it is a step
        holes(rng, batch)
        if rng.random() < 0.3:  # a response of which no token counts
            batch["mask"][4] = [False] * batch["length"][4]
    if rng.random() < 0.3:
        far_rollout(batch)
    if config.get("algo.advantage.is_correction_gating") == "tv":  # a ratio far from 1, of probabilities that are near each other
        batch["logp_rollout"] = [[old + 1.25 if old < -2 else x for x, old in zip(*rows)]
                                 for rows in zip(batch["logp_rollout"], batch["logp_old"])]
    if rng.random() < 0.2:
        nearly_equal(batch)
    return batch


# ---- by the framework's own code

def parser_defaults(path):
    """{option: default} of the calls of add_argument in a file: the parser itself is made and used in one breath."""
    with open(path, encoding="utf-8") as f:
        calls = [n for n in ast.walk(ast.parse(f.read())) if isinstance(n, ast.Call) and getattr(n.func, "attr", "") == "add_argument"]
    found = {}
    for call in calls:
        words = {k.arg: k.value for k in call.keywords}
        switch = "action" in words and ast.literal_eval(words["action"]) == "store_true"
        try:
            found[call.args[0].value.lstrip("-")] = ast.literal_eval(words["default"]) if "default" in words else False if switch else None
        except (AttributeError, ValueError):
            pass  # not a literal: none of the options that are needed here
    return found


def run(config, batch):
    import openrlhf_adapter as adapter
    c = {**parser_defaults(os.path.join(adapter.ROOT, "cli", "train_ppo_ray.py")), **config}
    threshold = c["algo.advantage.is_correction_threshold"]
    c["algo.advantage.is_correction_threshold"] = threshold if len(threshold) == 2 else [0.0, *threshold]  # as after parsing
    b, zero = torch_batch(batch), torch.zeros(1)
    with mock.patch.object(torch.Tensor, "float", torch.Tensor.double), mock.patch.object(torch, "float32", torch.float64):
        kl = zero.expand_as(b.logp) if c["algo.kl.use_loss"] else adapter.compute_approx_kl(
            b.logp_old, b.logp_ref, kl_estimator=c["algo.kl.estimator"])
        maker = adapter.maker_of(c, 3, c["rollout.max_new_tokens"])
        experience = adapter.experience_of(b, kl)
        experience.truncated = b.truncated
        b.advantage = maker.compute_advantages_and_returns([experience])[0].advantages
        try:
            rule = adapter.rule_of(c)
        except (ValueError, AssertionError) as why:
            raise Refused(str(why)) from None
        b.leaf, info = b.logp.clone().requires_grad_(), adapter.get_loss_batch_info(None, b.mask)
        value = rule(b.leaf, b.logp_old, b.advantage, action_mask=b.mask, rollout_log_probs=b.logp_rollout, **info)[0]
        if c["algo.kl.use_loss"]:
            kl = adapter.compute_approx_kl(b.leaf, b.logp_ref, log_probs_old=b.logp_old, kl_estimator=c["algo.kl.estimator"],
                                           unbiased_gradient=c["algo.kl.unbiased_gradient"])
            value = value + adapter.aggregate_loss(kl, b.mask, **info) * c["algo.kl.init_coef"]
        if c["actor.entropy_coef"]:
            value = value - adapter.aggregate_loss(b.entropy, b.mask, **info) * c["actor.entropy_coef"]
    return answers(b, torch.where(b.mask, b.advantage, 0), torch.ones_like(b.mask), value), batch


FRAMEWORKS = {"openrlhf": Framework(drawer, batch, run, 1e-7, ("algo.advantage.estimator", "group_norm", "advantage.std", "population"))}
