"""Pitfalls of verl (0.9.1), for pitfalls.py."""
import contextlib
import io
import math
import os
import types

import numpy as np
import torch

from running import finite, functions_of, near, small_batch

CORRECTION, AGGREGATION = "algorithm.rollout_correction.", "actor_rollout_ref.actor.loss_agg_mode"
MODE = "actor_rollout_ref.actor.policy_loss.loss_mode"


def path_of(*names):
    import verl
    return os.path.join(os.path.dirname(verl.__file__), *names)


def advantages_of(config, scores, mask, uids):
    """compute_advantage of the trainer; scores: of each response, at its last place."""
    import run_verl
    v, c = run_verl.parts(), run_verl.config_of(config)
    rewards = torch.zeros(mask.shape)
    rewards[:, -1] = torch.tensor(scores)
    data = v.DataProto.from_dict({"token_level_rewards": rewards, "response_mask": mask}, {"uid": np.array(uids, dtype=object)})
    return v.advantage(data, adv_estimator=c.algorithm.adv_estimator, config=c.algorithm).batch["advantages"]


def update(config, advantages, mask, counted=None, weights=None, **outputs):
    """The loss, and the gradient where all log-probabilities are -1. counted: the mask of which batch_num_tokens is; outputs: further ones
    of the model."""
    import run_verl
    from padded import Rows
    from verl.utils.config import omega_conf_to_dataclass
    v, c = run_verl.parts(), run_verl.config_of(config)
    old, logp = torch.full(mask.shape, -1.0), torch.full(mask.shape, -1.0, requires_grad=True)
    rows = {"response_mask": mask, "old_log_probs": old, "advantages": advantages, "dp_size": 1, "global_batch_size": len(mask),
            "batch_num_tokens": int((mask if counted is None else counted).sum())}
    rows.update({} if weights is None else {"rollout_is_weights": weights})
    loss, _ = v.adapter.losses.ppo_loss(omega_conf_to_dataclass(c.actor_rollout_ref.actor), {"log_probs": logp, **outputs}, Rows(rows))
    loss.backward()
    return loss.item(), logp.grad


def steps(gradient):
    """Does the engine's optimizer_step change a parameter with this gradient?"""
    step = functions_of(path_of("workers", "engine", "fsdp", "transformer_impl.py"), ("optimizer_step",), torch=torch, FSDP=(),
                        FSDPModule=(), DTensor=()).optimizer_step
    module = torch.nn.Linear(1, 1)
    module.weight.grad = gradient.abs().sum().reshape(1, 1)
    before = module.weight.item()
    with contextlib.redirect_stdout(io.StringIO()):
        step(types.SimpleNamespace(module=module, optimizer=torch.optim.SGD(module.parameters(), 1.0), _qat_enabled=False,
                                   optimizer_config=types.SimpleNamespace(clip_grad=1.0)))
    return module.weight.item() != before


def step_v1(config, keys, rows):
    """What _compute_advantage of the trainer with use_v1 writes back; keys: UID_SESSION_OUTPUT; rows: the arrays of the transfer queue."""
    import run_verl
    from tensordict import TensorDict
    from tensordict.tensorclass import NonTensorData, NonTensorStack
    from verl.workers.utils.padding import response_to_nested
    v, c, written = run_verl.parts(), run_verl.config_of(config), {}
    nested = lambda x: torch.nested.as_nested_tensor([torch.tensor(row) for row in x], layout=torch.jagged)

    def get(select_fields, **_):
        found = TensorDict({name: nested(rows[name]) for name in select_fields if name in rows}, batch_size=len(keys))
        found["uid"] = NonTensorStack(*[NonTensorData(key.split("_")[0]) for key in keys])
        return found
    queue = types.SimpleNamespace(kv_batch_get=get, kv_batch_put=lambda fields, **_: written.update(fields))
    compute = functions_of(
        path_of("trainer", "ppo", "v1", "trainer_base.py"), ("_compute_advantage",), tq=queue, DataProto=v.DataProto, np=np, torch=torch,
        TensorDict=TensorDict, apply_kl_penalty=v.kl_in_reward, response_to_nested=response_to_nested,
        compute_rollout_correction_and_add_to_batch=v.helper.compute_rollout_correction_and_add_to_batch,
        compute_advantage_for_multi_trajectories=v.advantage_v1)._compute_advantage

    class Batch:
        partition_id = "train"

        def __len__(self):
            return len(keys)
    Batch.keys = keys
    metrics = {}
    compute(types.SimpleNamespace(config=c, kl_ctrl_in_reward=None), Batch(), metrics)
    return {name: [row.tolist() for row in x.unbind()] for name, x in written.items()}, metrics


def verl_opo_without_tokens():
    mask = torch.tensor([[1, 1]] * 4 + [[0, 0]] * 2)
    found = {}
    for estimator in ("opo", "rloo"):
        config = {"algorithm.adv_estimator": estimator}
        advantages = advantages_of(config, [1.0, 0.0, 1.0, 0.5, 0.0, 0.0], mask, ["a", "a", "b", "b", "pad", "pad"])
        loss, gradient = update(config, advantages, mask)
        found[estimator] = finite(advantages), math.isfinite(loss), finite(gradient), steps(gradient)
    return found["opo"] == (False, True, False, False) and found["rloo"] == (True,) * 4, found


def verl_gpg_filled_up():
    mask = torch.tensor([[1, 1]] * 4 + [[0, 0]] * 2)
    scores, uids = [1.0, 0.0, 1.0, 0.5, 0.0, 0.0], ["a", "a", "b", "b", "pad", "pad"]
    of = lambda estimator, n: advantages_of({"algorithm.adv_estimator": estimator}, scores[:n], mask[:n], uids[:n])[:4, 0].tolist()
    ratio = {name: of(name, 6)[0] / of(name, 4)[0] for name in ("gpg", "rloo")}
    return near(ratio.values(), (1.5, 1)), ratio


def verl_resampled_advantages():
    """One response of four has a reward, so each resampled one is that."""
    rows = {"response_mask": [[1, 1]] * 4, "rm_scores": [[0.0, 1.0]] + [[0.0, 0.0]] * 3, "values": [[0.0, 0.0]] * 4}
    found, keys = {}, ["a_0_0", "a_1_0", "b_0_0", "b_1_0"]
    for on in (True, False):
        torch.manual_seed(0)
        written, _ = step_v1({"algorithm.adv_estimator": "gae", "algorithm.use_pf_ppo": on}, keys, rows)
        found[on] = [row[0] for row in written["advantages"]]
    return min(found[True]) > 0 and max(found[False][1:]) < 0, found


REJECTING = {CORRECTION + "rollout_rs": "seq_max_k3", CORRECTION + "rollout_rs_threshold": 0.01}


def verl_rejected_last_output():
    rows = {"response_mask": [[1, 1]] * 3, "rm_scores": [[0.0, 1.0], [0.0, 1.0], [0.0, 0.0]], "old_log_probs": [[-1.0, -1.0]] * 3,
            "rollout_log_probs": [[-1.0, -1.0], [-4.0, -1.0], [-1.0, -1.0]]}
    found = {}
    for how, more in (("rejected", REJECTING), ("kept", {})):
        written, _ = step_v1({"algorithm.adv_estimator": "grpo", **more}, ["a_0_0", "a_0_1", "a_1_0"], rows)
        found[how] = [row[0] for row in written["advantages"]]
    return found["rejected"][0] == 0 and found["kept"][0] > 0.7 and found["rejected"][2] == found["kept"][2], found


def sessions(estimator):
    """The advantages of three responses, the first two of which are outputs of one session, with the reward 1."""
    rows = {"response_mask": [[1, 1]] * 3, "rm_scores": [[0.0, 1.0], [0.0, 1.0], [0.0, 0.0]]}
    written, _ = step_v1({"algorithm.adv_estimator": estimator}, ["a_0_0", "a_0_1", "a_1_0"], rows)
    return [row[0] for row in written["advantages"]]


def verl_several_outputs():
    """Of two sessions with the rewards 1 and 0, RLOO's advantages would be 1 and -1, and centred ones 0.5 and -0.5."""
    found = {name: sessions(name) for name in ("rloo", "rloo_vectorized", "grpo_vectorized", "gpg", "opo",
                                                    "reinforce_plus_plus_baseline", "grpo")}
    opposite = {name: abs(x[0] + x[2]) < 1e-6 for name, x in found.items()}
    return near(found["rloo"], (0.5, 0.5, -1)) and opposite == {name: name == "grpo" for name in found}, found


def verl_several_best_outputs():
    one = step_v1({"algorithm.adv_estimator": "grpo_passk"}, ["a_0_0", "a_1_0"], {
        "response_mask": [[1, 1]] * 2, "rm_scores": [[0.0, 1.0], [0.0, 0.0]]})[0]["advantages"]
    found = {"two outputs": sessions("grpo_passk"), "one": [row[0] for row in one]}
    return found["two outputs"] == [0, 0, 0] and found["one"][0] > 1, found


def verl_rejected_in_baseline():
    """The advantage of a response with the reward 0 beside a rejected one with 1, and with 0."""
    of = lambda estimator, reward: step_v1({"algorithm.adv_estimator": estimator, **REJECTING}, ["a_0_0", "a_1_0"], {
        "response_mask": [[1, 1]] * 2, "rm_scores": [[0.0, reward], [0.0, 0.0]], "old_log_probs": [[-1.0, -1.0]] * 2,
        "rollout_log_probs": [[-4.0, -1.0], [-1.0, -1.0]]})[0]["advantages"][1][0]
    found = {name: (of(name, 1.0), of(name, 0.0)) for name in ("grpo", "grpo_vectorized", "rloo", "rloo_vectorized", "gpg", "opo")}
    return {name: x != y for name, (x, y) in found.items()} == {name: name != "opo" for name in found}, found


def verl_rejected_tokens_divide():
    """Half of the tokens are rejected: of the mini-batch the trainer with use_v1 counts loss_mask, which has them, the other one
    response_mask."""
    whole, kept, advantages = torch.ones(2, 4), torch.tensor([[1.0, 1, 0, 0]] * 2), torch.ones(2, 4)
    config = {AGGREGATION: "token-mean"}
    found = [update(config, advantages, kept, counted)[1].sum().item() for counted in (whole, kept)]
    with open(path_of("workers", "engine", "fsdp", "transformer_impl.py"), encoding="utf-8") as f:
        counts = 'batch_num_tokens = data["loss_mask"].sum()' in f.read()
    written = step_v1({"algorithm.adv_estimator": "grpo", **REJECTING}, ["a_0_0", "a_1_0"], {
        "response_mask": [[1, 1]] * 2, "rm_scores": [[0.0, 1.0], [0.0, 0.0]], "old_log_probs": [[-1.0, -1.0]] * 2,
        "rollout_log_probs": [[-4.0, -1.0], [-1.0, -1.0]]})[0]
    rejected = "loss_mask" not in written and written["response_mask"] == [[0, 0], [1, 1]]
    return counts and rejected and near(found, (-0.5, -1)), found


def verl_rejected_responses_divide():
    kept, advantages = torch.tensor([[1.0, 1], [0, 0]]), torch.ones(2, 2)
    found = {mode: update({AGGREGATION: mode}, advantages, kept)[1].sum().item()
             for mode in ("seq-mean-token-mean", "seq-mean-token-sum", "token-mean")}
    return near(found.values(), (-0.5, -1, -1)), found


def verl_all_rejected():
    found = {}
    for mode in ("token-mean", "seq-mean-token-mean"):
        loss, gradient = update({AGGREGATION: mode}, torch.ones(2, 2), torch.zeros(2, 2))
        found[mode] = math.isfinite(loss), gradient.tolist()
    return list(found.values()) == [(False, [[0, 0], [0, 0]]), (True, [[0, 0], [0, 0]])], found


def verl_no_log_probs():
    rows = {"response_mask": [[1, 1]] * 2, "rm_scores": [[0.0, 1.0], [0.0, 0.0]], "old_log_probs": [[-1.0, -1.0]] * 2}
    found = {}
    for log_probs in (True, False):
        given = {**rows, "rollout_log_probs": [[-4.0, -1.0], [-1.0, -1.0]]} if log_probs else rows
        config = {"algorithm.adv_estimator": "grpo", CORRECTION + "rollout_is": "token", **REJECTING,
                  "actor_rollout_ref.rollout.calculate_log_probs": log_probs}
        written, metrics = step_v1(config, ["a_0_0", "a_1_0"], given)
        found[log_probs] = sorted(written), bool(metrics)
    return found == {False: (["advantages", "returns"], False),
                     True: (["advantages", "response_mask", "returns", "rollout_is_weights"], True)}, found


def verl_geo_mean_band():
    """A response of five tokens, one of which has the weight 0."""
    mask, weights = torch.ones(1, 5), torch.tensor([[0.0, 1, 1, 1, 1]])
    found = {mode: update({MODE: mode, AGGREGATION: "seq-mean-token-mean"}, torch.ones(1, 5), mask, weights=weights)[0]
             for mode in ("geo_mean", "vanilla")}
    return near(found.values(), (-10 ** (-10 / 5), -0.8)), found


def verl_nan_entropy():
    """A vocabulary of three tokens, one of which has the logit -inf, and one of two."""
    from verl.utils.torch_functional import entropy_from_logits
    found, option = {}, "actor_rollout_ref.actor.calculate_entropy"
    for name, last in (("-inf", -math.inf), ("0", 0.0)):
        logits = torch.tensor([[[0.5, 0.0, last]]], requires_grad=True)
        loss, _ = update({option: True}, torch.ones(1, 1), torch.ones(1, 1), entropy=entropy_from_logits(logits))
        found[name] = math.isfinite(loss), finite(logits.grad)
    return list(found.values()) == [(False, False), (True, True)], found


def verl_bypass_without_tokens():
    import run_verl
    run_verl.parts()
    found = {}
    for name, mask in (("none", torch.zeros(1, 2)), ("one", torch.tensor([[1.0, 0.0]]))):
        config = {MODE: "bypass_mode", "actor_rollout_ref.actor.policy_loss.rollout_correction": {"bypass_mode": True}}
        try:
            found[name] = math.isfinite(update(config, torch.ones(1, 2), mask, counted=torch.ones(1, 2))[0])
        except (AssertionError, ValueError) as why:
            found[name] = str(why)
    return "at least one valid token" in str(found["none"]) and found["one"] is True, found


def verl_nearly_equal_metric():
    """Which groups are left out: of equal metrics 0.1 or 0.5 by three responses each, and of unequal ones."""
    from collections import Counter, defaultdict
    metrics = {"a": [0.1] * 3, "b": [0.5] * 3, "c": [0.0, 0.5, 1.0]}
    keys = [f"{uid}_{i}_0" for uid, values in metrics.items() for i in range(len(values))]
    data = [{"reward_extra_info": {"acc": x}} for values in metrics.values() for x in values]
    method = functions_of(path_of("trainer", "ppo", "v1", "replay_buffer.py"), ("_dapo_filtered_keys",), np=np, Counter=Counter,
                          defaultdict=defaultdict, FILTER_GROUPS_REWARD_METRIC="reward", tq=types.SimpleNamespace(
                              kv_batch_get=lambda **_: {"extra_fields": data}))._dapo_filtered_keys
    buffer = types.SimpleNamespace(filter_groups_metric="acc", finished_keys={"train": set(metrics)}, partitions={"train": keys},
                                   _dapo_classification_cache={"train": {}})
    found = sorted(method(buffer, "train")[0])
    return found == ["b"], found


def first_advantages(config, batch):
    """Of each response's first token, by the steps of the trainer."""
    import run_verl
    return [row[0] for row in run_verl.run(config, batch)[0]["advantage"]]


def verl_deviation_anyway():
    """Are the advantages the same with and without norm_adv_by_std_in_grpo?"""
    found, batch = {}, small_batch()
    for name in ("grpo_vectorized", "gdpo", "grpo"):
        config = {"algorithm.adv_estimator": name, "algorithm.norm_adv_by_std_in_grpo": False}
        found[name] = first_advantages(config, batch) == first_advantages({"algorithm.adv_estimator": name}, batch)
    return found == {"grpo_vectorized": True, "gdpo": True, "grpo": False}, found


BUFFER = "reward.reward_kwargs."
PENALTY = {BUFFER + "overlong_buffer_cfg.enable": True, BUFFER + "overlong_buffer_cfg.len": 2, BUFFER + "max_resp_len": 4,
           BUFFER + "overlong_buffer_cfg.penalty_factor": 1.0}


def changes(config, more):
    """Does more change the advantages? The responses have 2, 3, 4 and 3 tokens."""
    batch = small_batch(length=[2, 3, 4, 3])
    batch["logp_ref"] = [[x - 0.1 * i for x in row] for i, row in enumerate(batch["logp_old"])]
    return first_advantages(config, batch) != first_advantages({**config, **more}, batch)


def verl_overlong_unread():
    found = {name: changes({"algorithm.adv_estimator": "grpo", "reward.reward_manager.name": name}, PENALTY)
             for name in ("naive", "gdpo", "rate_limited", "remote", "dapo")}
    return [name for name, x in found.items() if x] == ["dapo"], found


def verl_components_alone():
    """Of gdpo, and of grpo."""
    dapo, kl = {"reward.reward_manager.name": "dapo"}, {"algorithm.use_kl_in_reward": True, "algorithm.kl_ctrl.kl_coef": 0.5}
    found = {name: [changes({"algorithm.adv_estimator": name, **dapo}, more) for more in (PENALTY, kl)] for name in ("gdpo", "grpo")}
    return found == {"gdpo": [False, False], "grpo": [True, True]}, found
