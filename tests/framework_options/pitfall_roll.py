"""Pitfalls of ROLL (at the commit of the data), for pitfalls.py: each configuration is run as in run_roll.py."""
import glob
import os
import re
import types

import torch

from running import near, small_batch

PG, PPO = "roll.pipeline.rlvr.actor_pg_worker.ActorPGWorker", "roll.pipeline.rlvr.actor_worker.ActorWorker"
RETURN = {"adv_estimator": "reinforce"}


def run(config, batch):
    import run_roll
    return run_roll.run(config, batch)[0]


def variant(name, worker=PG, **more):
    return {**RETURN, "actor_train.worker_cls": worker, "actor_train.pg_variant": name, **more}


def roll_filters_and_token_mean():
    """The gradient of a token that a filter removes: the sampler gave it a twentieth of the probability."""
    found, only = {}, types.SimpleNamespace(enabled=True, agg_type="token", ratio_enabled=True, ratio_low=0.5, ratio_high=2.0,
                                            diff_enabled=False)
    batch = small_batch()
    batch["logp_rollout"] = [[x - 3 * (i == t == 0) for t, x in enumerate(row)] for i, row in enumerate(batch["logp_old"])]
    for mode, cached in (("token-mean", True), ("token-mean", False), ("seq-mean-token-mean", True)):
        config = {**RETURN, "loss_agg_mode": mode, "train_infer_correction.filters": [only], "force_disable_old_logprobs_recompute": cached}
        found[f"{mode}, {'cached' if cached else 'recomputed'}"] = abs(run(config, batch)["dlogp"][0][0])
    return [x > 0 for x in found.values()] == [True, False, False], found


def roll_unread_bounds():
    """The gradient of a token whose ratio is 1.65 with each option given, over that without it."""
    batch = small_batch()
    batch["logp"] = [[x + 0.5 for x in row] for row in batch["logp_old"]]
    of = lambda config: run(config, batch)["dlogp"][0][0]
    found = {}
    for name, options in (("tis", {"tis_upper_bound": 1.5}), ("cispo", {"cispo_epsilon_high": 0.5}), ("kimi15", {"kimi15_tau": 1.0})):
        more = {"actor_train." + option: x for option, x in options.items()}
        found[name] = of({**variant(name), **more}) / of(variant(name))
    found["topr_positive_weight"] = of(variant("topr", **{"actor_train.topr_positive_weight": 2.0})) / of(variant("topr"))
    return near(found.values(), [1, 1, 1, 2]), found


def roll_variant_needs_worker():
    """The gradient of a token whose ratio is 1.65."""
    batch = small_batch()
    batch["logp"] = [[x + 0.5 for x in row] for row in batch["logp_old"]]
    found = {worker: run(variant("vanilla", worker), batch)["dlogp"][0][0] for worker in (PPO, PG)}
    return found[PPO] == 0 > found[PG], list(found.values())


def roll_seq_ratio_of_variants():
    """Whether the gradients of tokens change with importance_sampling seq."""
    batch, found = small_batch(), {}
    for worker in (PG, PPO):
        of = [run(variant("ppo", worker, importance_sampling=level), batch)["dlogp"][0] for level in ("token", "seq")]
        found[worker] = of[0] == of[1]
    return found == {PG: True, PPO: False}, list(found.values())


def readers(option):
    """How many lines of the package have the option, those where it is declared left out."""
    import sources
    found = 0
    for path in glob.glob(os.path.join(sources.path_of("roll"), "roll", "**", "*.py"), recursive=True):
        with open(path, encoding="utf-8") as f:
            found += sum(bool(re.search(rf"\b{option}\b", line)) and not re.match(rf" *{option}:", line) for line in f)
    return found


def roll_old_topr_switch():
    found = {x: readers(x) for x in ("use_topr_loss", "use_topr_neg_loss_coef", "postive_loss_coef", "topr_positive_weight")}
    return [x > 0 for x in found.values()] == [False, False, False, True], found


def roll_old_loss_type():
    found = {x: readers(x) for x in ("use_policy_loss_type", "pg_variant")}
    return found["use_policy_loss_type"] == 0 < found["pg_variant"], found


def roll_kl_of_zeros():
    """The advantage of the first token, where policy and reference agree on every token."""
    batch, found = small_batch(), {}
    batch["logp_ref"] = [list(row) for row in batch["logp_old"]]
    for forced in (True, False):
        config = {**RETURN, "add_token_level_kl": True, "init_kl_coef": 0.1, "force_disable_old_logprobs_recompute": forced}
        found[str(forced)] = run(config, batch)["advantage"][0][0]
    kl = 0.1 * sum(batch["logp_ref"][0])
    return near(found.values(), [1 + kl, 1]), found


def roll_dual_clip_bound():
    """The gradient where the advantage is -1 and the ratio 1.65, between the two bounds."""
    batch, found = small_batch(reward=(-1.0, -1.0, -1.0, 0.0)), {}
    batch["logp"] = [[x + 0.5 for x in row] for row in batch["logp_old"]]
    for clip in (0.2, 1.0):
        found[clip] = run({**RETURN, "dual_clip_loss": True, "pg_clip": clip}, batch)["dlogp"][0][0]
    return found[0.2] == 0 < found[1.0], found


def roll_equal_rewards():
    """The advantages of eight equal rewards, in float32."""
    import run_roll
    norm = run_roll.parts().functions.reward_norm
    found = {x: norm(torch.full((8,), x, dtype=torch.float32), 8, {}, "group", "group").abs().max().item() for x in (0.7, 0.5)}
    return found[0.7] > 0.01 and found[0.5] == 0, found
