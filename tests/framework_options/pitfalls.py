#!/usr/bin/env python3
"""Shows the pitfalls of data/ (FORMAT.md) by the frameworks' own code (verl 0.9.1, OpenRLHF 0.11.2, ms-swift 4.6.0, TRL 1.16.0).

    VENV/bin/python tests/framework_options/pitfalls.py [WORDS]        VENV: that of ../conformance/frameworks.sh; only names with them

Each is a function FRAMEWORK_NAME. It computes the configuration that the pitfall is of and one beside it that has none, and gives whether
the first is what the data say and the second is not.  One that fails means that the release that is installed does something else.
"""
import contextlib
import functools
import importlib
import importlib.util
import io
import json
import math
import os
import sys
import types
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "conformance", "adapters"), os.path.join(HERE, os.pardir, "oracle")]
sys.dont_write_bytecode = True

import protocol  # noqa: E402, F401  it keeps standard output for answers; here they are lines
import numpy as np  # noqa: E402
import torch  # noqa: E402
from framework import generator  # noqa: E402
from options import translate  # noqa: E402
from running import functions_of, torch_batch  # noqa: E402

# framework: package; in this order, as their stand-ins differ
PACKAGES = {"trl": "trl", "trl_rloo": "trl", "verl": "verl", "openrlhf": "openrlhf", "ms_swift": "swift"}


def near(x, y, error=1e-5):
    return all(abs(a - b) <= error * max(1, abs(b)) for a, b in zip(x, y))


def finite(rows):
    return bool(torch.isfinite(torch.as_tensor(rows)).all())


def small_batch():
    batch = translate.random_batch(generator("pitfalls", 0), True)
    batch.update(length=[3] * 4, group=[0] * 4, reward=[1.0, 0.0, 0.5, 0.0], truncated=[False, True, False, False])
    for name in ("logp", "logp_old", "logp_ref", "logp_rollout", "entropy", "value"):
        batch[name] = [[-1.0 - 0.1 * ((3 * i + t) % 7) for t in range(3)] for i in range(4)]
    batch["logp"] = [[x + 0.05 * (-1) ** t for t, x in enumerate(row)] for row in batch["logp"]]
    return batch


# ---- verl

CORRECTION, AGGREGATION = "algorithm.rollout_correction.", "actor_rollout_ref.actor.loss_agg_mode"
MODE = "actor_rollout_ref.actor.policy_loss.loss_mode"


def verl_path(*names):
    import verl
    return os.path.join(os.path.dirname(verl.__file__), *names)


def verl_advantages(config, scores, mask, uids):
    """compute_advantage of the trainer; scores: of each response, at its last place."""
    import run_verl
    v, c = run_verl.parts(), run_verl.config_of(config)
    rewards = torch.zeros(mask.shape)
    rewards[:, -1] = torch.tensor(scores)
    data = v.DataProto.from_dict({"token_level_rewards": rewards, "response_mask": mask}, {"uid": np.array(uids, dtype=object)})
    return v.advantage(data, adv_estimator=c.algorithm.adv_estimator, config=c.algorithm).batch["advantages"]


def verl_update(config, advantages, mask, counted=None, weights=None, **outputs):
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


def verl_steps(gradient):
    """Does the engine's optimizer_step change a parameter with this gradient?"""
    step = functions_of(verl_path("workers", "engine", "fsdp", "transformer_impl.py"), ("optimizer_step",), torch=torch, FSDP=(),
                        FSDPModule=(), DTensor=()).optimizer_step
    module = torch.nn.Linear(1, 1)
    module.weight.grad = gradient.abs().sum().reshape(1, 1)
    before = module.weight.item()
    with contextlib.redirect_stdout(io.StringIO()):
        step(types.SimpleNamespace(module=module, optimizer=torch.optim.SGD(module.parameters(), 1.0), _qat_enabled=False,
                                   optimizer_config=types.SimpleNamespace(clip_grad=1.0)))
    return module.weight.item() != before


def verl_step_v1(config, keys, rows):
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
        verl_path("trainer", "ppo", "v1", "trainer_base.py"), ("_compute_advantage",), tq=queue, DataProto=v.DataProto, np=np, torch=torch,
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
        advantages = verl_advantages(config, [1.0, 0.0, 1.0, 0.5, 0.0, 0.0], mask, ["a", "a", "b", "b", "pad", "pad"])
        loss, gradient = verl_update(config, advantages, mask)
        found[estimator] = finite(advantages), math.isfinite(loss), finite(gradient), verl_steps(gradient)
    return found["opo"] == (False, True, False, False) and found["rloo"] == (True,) * 4, found


def verl_gpg_filled_up():
    mask = torch.tensor([[1, 1]] * 4 + [[0, 0]] * 2)
    scores, uids = [1.0, 0.0, 1.0, 0.5, 0.0, 0.0], ["a", "a", "b", "b", "pad", "pad"]
    of = lambda estimator, n: verl_advantages({"algorithm.adv_estimator": estimator}, scores[:n], mask[:n], uids[:n])[:4, 0].tolist()
    ratio = {name: of(name, 6)[0] / of(name, 4)[0] for name in ("gpg", "rloo")}
    return near(ratio.values(), (1.5, 1)), ratio


def verl_resampled_advantages():
    """One response of four has a reward, so each resampled one is that."""
    rows = {"response_mask": [[1, 1]] * 4, "rm_scores": [[0.0, 1.0]] + [[0.0, 0.0]] * 3, "values": [[0.0, 0.0]] * 4}
    found, keys = {}, ["a_0_0", "a_1_0", "b_0_0", "b_1_0"]
    for on in (True, False):
        torch.manual_seed(0)
        written, _ = verl_step_v1({"algorithm.adv_estimator": "gae", "algorithm.use_pf_ppo": on}, keys, rows)
        found[on] = [row[0] for row in written["advantages"]]
    return min(found[True]) > 0 and max(found[False][1:]) < 0, found


REJECTING = {CORRECTION + "rollout_rs": "seq_max_k3", CORRECTION + "rollout_rs_threshold": 0.01}


def verl_rejected_last_output():
    rows = {"response_mask": [[1, 1]] * 3, "rm_scores": [[0.0, 1.0], [0.0, 1.0], [0.0, 0.0]], "old_log_probs": [[-1.0, -1.0]] * 3,
            "rollout_log_probs": [[-1.0, -1.0], [-4.0, -1.0], [-1.0, -1.0]]}
    found = {}
    for how, more in (("rejected", REJECTING), ("kept", {})):
        written, _ = verl_step_v1({"algorithm.adv_estimator": "grpo", **more}, ["a_0_0", "a_0_1", "a_1_0"], rows)
        found[how] = [row[0] for row in written["advantages"]]
    return found["rejected"][0] == 0 and found["kept"][0] > 0.7 and found["rejected"][2] == found["kept"][2], found


def verl_sessions(estimator):
    """The advantages of three responses, the first two of which are outputs of one session, with the reward 1."""
    rows = {"response_mask": [[1, 1]] * 3, "rm_scores": [[0.0, 1.0], [0.0, 1.0], [0.0, 0.0]]}
    written, _ = verl_step_v1({"algorithm.adv_estimator": estimator}, ["a_0_0", "a_0_1", "a_1_0"], rows)
    return [row[0] for row in written["advantages"]]


def verl_several_outputs():
    """Of two sessions with the rewards 1 and 0, RLOO's advantages would be 1 and -1, and centred ones 0.5 and -0.5."""
    found = {name: verl_sessions(name) for name in ("rloo", "rloo_vectorized", "grpo_vectorized", "gpg", "opo",
                                                    "reinforce_plus_plus_baseline", "grpo")}
    opposite = {name: abs(x[0] + x[2]) < 1e-6 for name, x in found.items()}
    return near(found["rloo"], (0.5, 0.5, -1)) and opposite == {name: name == "grpo" for name in found}, found


def verl_several_best_outputs():
    one = verl_step_v1({"algorithm.adv_estimator": "grpo_passk"}, ["a_0_0", "a_1_0"], {
        "response_mask": [[1, 1]] * 2, "rm_scores": [[0.0, 1.0], [0.0, 0.0]]})[0]["advantages"]
    found = {"two outputs": verl_sessions("grpo_passk"), "one": [row[0] for row in one]}
    return found["two outputs"] == [0, 0, 0] and found["one"][0] > 1, found


def verl_rejected_in_baseline():
    """The advantage of a response with the reward 0 beside a rejected one with 1, and with 0."""
    of = lambda estimator, reward: verl_step_v1({"algorithm.adv_estimator": estimator, **REJECTING}, ["a_0_0", "a_1_0"], {
        "response_mask": [[1, 1]] * 2, "rm_scores": [[0.0, reward], [0.0, 0.0]], "old_log_probs": [[-1.0, -1.0]] * 2,
        "rollout_log_probs": [[-4.0, -1.0], [-1.0, -1.0]]})[0]["advantages"][1][0]
    found = {name: (of(name, 1.0), of(name, 0.0)) for name in ("grpo", "grpo_vectorized", "rloo", "rloo_vectorized", "gpg", "opo")}
    return {name: x != y for name, (x, y) in found.items()} == {name: name != "opo" for name in found}, found


def verl_rejected_tokens_divide():
    """Half of the tokens are rejected: of the mini-batch the trainer with use_v1 counts loss_mask, which has them, the other one
    response_mask."""
    whole, kept, advantages = torch.ones(2, 4), torch.tensor([[1.0, 1, 0, 0]] * 2), torch.ones(2, 4)
    config = {AGGREGATION: "token-mean"}
    found = [verl_update(config, advantages, kept, counted)[1].sum().item() for counted in (whole, kept)]
    with open(verl_path("workers", "engine", "fsdp", "transformer_impl.py"), encoding="utf-8") as f:
        counts = 'batch_num_tokens = data["loss_mask"].sum()' in f.read()
    written = verl_step_v1({"algorithm.adv_estimator": "grpo", **REJECTING}, ["a_0_0", "a_1_0"], {
        "response_mask": [[1, 1]] * 2, "rm_scores": [[0.0, 1.0], [0.0, 0.0]], "old_log_probs": [[-1.0, -1.0]] * 2,
        "rollout_log_probs": [[-4.0, -1.0], [-1.0, -1.0]]})[0]
    rejected = "loss_mask" not in written and written["response_mask"] == [[0, 0], [1, 1]]
    return counts and rejected and near(found, (-0.5, -1)), found


def verl_rejected_responses_divide():
    kept, advantages = torch.tensor([[1.0, 1], [0, 0]]), torch.ones(2, 2)
    found = {mode: verl_update({AGGREGATION: mode}, advantages, kept)[1].sum().item()
             for mode in ("seq-mean-token-mean", "seq-mean-token-sum", "token-mean")}
    return near(found.values(), (-0.5, -1, -1)), found


def verl_all_rejected():
    found = {}
    for mode in ("token-mean", "seq-mean-token-mean"):
        loss, gradient = verl_update({AGGREGATION: mode}, torch.ones(2, 2), torch.zeros(2, 2))
        found[mode] = math.isfinite(loss), gradient.tolist()
    return list(found.values()) == [(False, [[0, 0], [0, 0]]), (True, [[0, 0], [0, 0]])], found


def verl_no_log_probs():
    rows = {"response_mask": [[1, 1]] * 2, "rm_scores": [[0.0, 1.0], [0.0, 0.0]], "old_log_probs": [[-1.0, -1.0]] * 2}
    found = {}
    for log_probs in (True, False):
        given = {**rows, "rollout_log_probs": [[-4.0, -1.0], [-1.0, -1.0]]} if log_probs else rows
        config = {"algorithm.adv_estimator": "grpo", CORRECTION + "rollout_is": "token", **REJECTING,
                  "actor_rollout_ref.rollout.calculate_log_probs": log_probs}
        written, metrics = verl_step_v1(config, ["a_0_0", "a_1_0"], given)
        found[log_probs] = sorted(written), bool(metrics)
    return found == {False: (["advantages", "returns"], False),
                     True: (["advantages", "response_mask", "returns", "rollout_is_weights"], True)}, found


def verl_geo_mean_band():
    """A response of five tokens, one of which has the weight 0."""
    mask, weights = torch.ones(1, 5), torch.tensor([[0.0, 1, 1, 1, 1]])
    found = {mode: verl_update({MODE: mode, AGGREGATION: "seq-mean-token-mean"}, torch.ones(1, 5), mask, weights=weights)[0]
             for mode in ("geo_mean", "vanilla")}
    return near(found.values(), (-10 ** (-10 / 5), -0.8)), found


def verl_nan_entropy():
    """A vocabulary of three tokens, one of which has the logit -inf, and one of two."""
    from verl.utils.torch_functional import entropy_from_logits
    found, option = {}, "actor_rollout_ref.actor.calculate_entropy"
    for name, last in (("-inf", -math.inf), ("0", 0.0)):
        logits = torch.tensor([[[0.5, 0.0, last]]], requires_grad=True)
        loss, _ = verl_update({option: True}, torch.ones(1, 1), torch.ones(1, 1), entropy=entropy_from_logits(logits))
        found[name] = math.isfinite(loss), finite(logits.grad)
    return list(found.values()) == [(False, False), (True, True)], found


def verl_bypass_without_tokens():
    import run_verl
    run_verl.parts()
    found = {}
    for name, mask in (("none", torch.zeros(1, 2)), ("one", torch.tensor([[1.0, 0.0]]))):
        config = {MODE: "bypass_mode", "actor_rollout_ref.actor.policy_loss.rollout_correction": {"bypass_mode": True}}
        try:
            found[name] = math.isfinite(verl_update(config, torch.ones(1, 2), mask, counted=torch.ones(1, 2))[0])
        except (AssertionError, ValueError) as why:
            found[name] = str(why)
    return "at least one valid token" in str(found["none"]) and found["one"] is True, found


def verl_nearly_equal_metric():
    """Which groups are left out: of equal metrics 0.1 or 0.5 by three responses each, and of unequal ones."""
    from collections import Counter, defaultdict
    metrics = {"a": [0.1] * 3, "b": [0.5] * 3, "c": [0.0, 0.5, 1.0]}
    keys = [f"{uid}_{i}_0" for uid, values in metrics.items() for i in range(len(values))]
    data = [{"reward_extra_info": {"acc": x}} for values in metrics.values() for x in values]
    method = functions_of(verl_path("trainer", "ppo", "v1", "replay_buffer.py"), ("_dapo_filtered_keys",), np=np, Counter=Counter,
                          defaultdict=defaultdict, FILTER_GROUPS_REWARD_METRIC="reward", tq=types.SimpleNamespace(
                              kv_batch_get=lambda **_: {"extra_fields": data}))._dapo_filtered_keys
    buffer = types.SimpleNamespace(filter_groups_metric="acc", finished_keys={"train": set(metrics)}, partitions={"train": keys},
                                   _dapo_classification_cache={"train": {}})
    found = sorted(method(buffer, "train")[0])
    return found == ["b"], found


# ---- OpenRLHF

def openrlhf_equal_rewards():
    import openrlhf_adapter as adapter
    from run_openrlhf import parser_defaults
    c, found = parser_defaults(os.path.join(adapter.ROOT, "cli", "train_ppo_ray.py")), {}
    rewards = torch.tensor([0.7] * 8 + [1.0, 0.0] * 4, dtype=torch.float32)
    for estimator, clip in (("group_norm", None), ("group_norm", c["reward.clip_range"]), ("dr_grpo", None)):
        b = types.SimpleNamespace(mask=torch.ones(16, 2, dtype=torch.bool), reward=rewards, value=None, length=[2] * 16, rows=16)
        maker = adapter.maker_of({**c, "algo.advantage.estimator": estimator, "reward.clip_range": clip, "algo.kl.init_coef": 0.0}, 8)
        experience = maker.compute_advantages_and_returns([adapter.experience_of(b, torch.zeros(16, 2))])[0]
        found[estimator, str(clip)] = experience.advantages[:8, 0].tolist()
    plain, clipped, other = found.values()
    return near(plain, [59.6] * 8, 1e-3) and near(clipped, [10.0] * 8) and near(other, [0.0] * 8, 1e-2), {
        " ".join(key): x[0] for key, x in found.items()}


# ---- ms-swift

def ms_swift_chunks():
    import ms_swift
    from swift.rlhf_trainers import grpo_trainer as module
    b, found = torch_batch(small_batch()), {}
    b.advantage = torch.tensor([1.0, -1, 0.5, 0])[:, None].expand(4, 3)
    space = types.SimpleNamespace
    batch = dict(completion_mask=b.mask, truncated_mask=torch.zeros(4, dtype=torch.bool), seq_lengths=torch.full((4,), 3),
                 old_per_token_logps=b.logp_old, ref_per_token_logps=None, rollout_per_token_logps=None, teacher_per_token_logps=None,
                 advantages=b.advantage, num_items_in_batch=b.mask.sum(), logits_to_keep=3)
    made = lambda **given: space(**{**batch, **given})
    for loss_type in ("dapo", "grpo"):
        of = []
        for chunk in (4, 2):
            t = ms_swift.trainer(ms_swift.arguments(loss_type=loss_type, beta=0.0), b, 4)
            t.args.per_device_train_batch_size, t.template, t.is_multimodal = chunk, space(padding_free=False), False
            t._get_per_token_logps_and_entropies = lambda model, inputs, *_, **__: (t.leaf[inputs["input_ids"]], None)
            t._aggregate_and_update_metrics = lambda *_: None  # logged
            with mock.patch.object(module, "gather_object", lambda x: x), mock.patch.object(module, "GRPOBatch", made):
                t._compute_loss_chunked(t.model, {"input_ids": torch.arange(4)}, made()).backward()
            of.append(t.leaf.grad[0, 0].item())
        found[loss_type] = of[1] / of[0]
    return near(found.values(), (0.5, 1)), found


LIGER = {"none": {}, "epsilon": {"epsilon": 0.01, "epsilon_high": 0.01}, **{name: {name: x} for name, x in (
    ("overlong_filter", True), ("off_policy_sequence_mask_delta", -5.0), ("delta", 1.05), ("top_entropy_quantile", 0.4))}}


def ms_swift_ignored_by_liger():
    """Its loss with Liger and without it, on the same log-probabilities: an option that Liger's loss reads, epsilon, changes both."""
    import ms_swift
    from swift.rlhf_trainers import grpo_trainer as module
    batch = small_batch()
    b, space = torch_batch(batch), types.SimpleNamespace
    b.advantage = torch.tensor([1.0, -1, 0.5, -0.5])[:, None].expand(4, 3)
    torch.manual_seed(0)
    hidden, weight, ids = torch.randn(4, 3, 5), torch.randn(11, 5), torch.randint(11, (4, 3))
    logits = (hidden @ weight.T).log_softmax(-1)
    logp, entropy = logits.gather(2, ids[..., None])[..., 0], -(logits.exp() * logits).sum(-1)
    b.logp, b.logp_old = logp, logp - torch.tensor([[0.3, -0.2, 0.1]])
    found = {}
    for name, options in LIGER.items():
        a = ms_swift.arguments(loss_type="grpo", beta=0.0, **options)
        t = ms_swift.trainer(a, b, 4)
        t.compute_entropy = a.top_entropy_quantile < 1
        t._get_per_token_logps_and_entropies = lambda *_, **__: (logp, entropy.clone())
        plain = ms_swift.loss(t, b, b.advantage).item()
        t.template, t.temperature, t.args.use_liger_kernel, t.control = space(padding_free=False), 1.0, True, space(should_evaluate=False)
        t._get_last_hidden_state = lambda *_: hidden
        with mock.patch.object(module, "gather_object", lambda x: x):
            t._prepare_liger_loss()
            rows = space(logits_to_keep=3, completion_mask=b.mask, truncated_mask=b.truncated, old_per_token_logps=b.logp_old,
                         rollout_per_token_logps=None, ref_per_token_logps=None, advantages=b.advantage)
            head = space(lm_head=space(weight=weight, bias=None))
            found[name] = plain, t.compute_liger_loss(head, {"input_ids": ids}, rows).item()
    same = {name: [abs(x - y) < 1e-6 for x, y in zip(of, found["none"])] for name, of in found.items() if name != "none"}
    return near(found["none"][:1], found["none"][1:]) and same == {
        name: [False, name != "epsilon"] for name in LIGER if name != "none"}, same


def ms_swift_no_log_probs():
    """The loss of a micro-batch with log-probabilities of the sampler, without, and without a correction; and of one with them on a rank
    beside one without."""
    import ms_swift
    from swift.rlhf_trainers import grpo_trainer as module
    b, found = torch_batch(small_batch()), {}
    b.logp_rollout = b.logp_old - torch.tensor([0.3, 0.0, -0.2])
    for name, mode, given, others in (("with", "token_truncate", b.logp_rollout, []), ("without", "token_truncate", None, []),
                                      ("other rank without", "token_truncate", b.logp_rollout, [False]), ("off", None, None, [])):
        own = types.SimpleNamespace(**{**vars(b), "logp_rollout": given})
        t = ms_swift.trainer(ms_swift.arguments(loss_type="grpo", beta=0.0, rollout_importance_sampling_mode=mode), own, 4)
        with mock.patch.object(module, "gather_object", lambda x, others=others: x + others):
            found[name] = ms_swift.loss(t, own, torch.tensor([[1.0], [-1], [0.5], [0]]).expand(4, 3)).item()
    return found["with"] != found["off"] and found["without"] == found["other rank without"] == found["off"], found


def ms_swift_unscored():
    """Three responses with reward 1 and one without any, by functions that return nothing for it, and the same with reward 0."""
    from ms_swift import GRPOTrainer  # noqa: F401  the stand-ins
    from swift.rl_core.advantage import compute_advantages
    of = lambda last: compute_advantages(torch.tensor([[1.0]] * 3 + [[last]]), torch.ones(1), 4)[0].tolist()
    found = {"None": of(math.nan), "0": of(0.0)}
    return found["None"] == found["0"] and found["None"][0] > 0.4, found


def shares(selected, mask):
    return [(row[counts].float().mean()).item() for row, counts in zip(selected, mask)]


def ms_swift_quantile_of_micro_batch():
    """The share of the tokens of each response that have a loss, of four responses of one micro-batch, and of one each."""
    import ms_swift
    b = torch_batch(small_batch())
    entropy, found = torch.arange(12.0).reshape(4, 3), {}
    a = ms_swift.arguments(loss_type="dr_grpo", beta=0.0, top_entropy_quantile=0.34)
    for name, parts in (("one", [[0, 1, 2, 3]]), ("four", [[0], [1], [2], [3]])):
        found[name] = []
        for rows in parts:
            own = types.SimpleNamespace(**{key: x[rows] for key, x in vars(b).items() if torch.is_tensor(x) and len(x) == 4})
            t = ms_swift.trainer(a, own, 4)
            t.compute_entropy, t._get_per_token_logps_and_entropies = True, lambda *_, rows=rows, t=t, **__: (t.leaf, entropy[rows].clone())
            ms_swift.loss(t, own, torch.ones(len(rows), 3)).backward()
            found[name] += shares(t.leaf.grad != 0, own.mask)
    return near(found["one"], [0, 0, 1 / 3, 1]) and near(found["four"], [1 / 3] * 4), found


def ms_swift_equal_rewards():
    from ms_swift import GRPOTrainer  # noqa: F401  the stand-ins
    from swift.rl_core.advantage import compute_advantages
    rewards, found = torch.tensor([0.7] * 8 + [1.0, 0.0] * 4, dtype=torch.float32)[:, None], {}
    for scale in ("gdpo", "group"):
        found[scale] = compute_advantages(rewards, torch.ones(1, dtype=torch.float32), 8, scale_rewards=scale)[0][:8].tolist()
    return min(found["gdpo"]) > 0.5 and near(found["group"], [0.0] * 8, 1e-2), {scale: x[0] for scale, x in found.items()}


# ---- TRL

def trl_quantile_of_micro_batch():
    import trl_adapter as adapter
    entropy, mask = torch.arange(12.0).reshape(4, 3), torch.ones(4, 3)
    accelerator = types.SimpleNamespace(pad_across_processes=lambda x, **_: x, gather=lambda x: x)
    chosen = functools.partial(adapter.GRPOTrainer.get_high_entropy_mask, types.SimpleNamespace(accelerator=accelerator))
    found = {"one": shares(chosen(entropy, mask, 0.66), mask.bool()),
             "four": sum((shares(chosen(entropy[[i]], mask[[i]], 0.66), mask[[i]].bool()) for i in range(4)), [])}
    return near(found["one"], [0, 0, 1 / 3, 1]) and near(found["four"], [1 / 3] * 4), found


def trl_vespo_masked_token():
    import trl_adapter as adapter
    found = {}
    for name, weight in (("outside the bounds", 0.0), ("at the bound", 3.0)):  # token_mask and token_truncate
        ratio = torch.tensor([[1.0, weight, 1.0]])
        found[name] = adapter.GRPOTrainer.get_gamma_weights(torch.ones(1, 1), torch.zeros(1, 3), torch.ones(1, 3), ratio).item()
    return found["outside the bounds"] < 1e-12 and found["at the bound"] > 0.01, found


def trl_rloo_infinite_ratio():
    """The loss, and whether the gradient of a response with A > 0 is finite, for a sum of log-ratios below and above 88."""
    import padded
    import trl_adapter as adapter
    found = {}
    for far in (10.0, 30.0):
        b = padded.batch_of({"batch": small_batch(), "advantage": [[0] * 3] * 4}, torch.float32)
        b.logp_old, b.logp = b.logp, b.logp.clone()
        b.logp[0] += far  # of three tokens
        t = adapter.trainer_for(b, adapter.RLOOTrainer, b.reward, 4)
        t.accelerator.gather_for_metrics = lambda x: x
        loss = t._compute_loss(t.model, adapter.scored(t))
        loss.backward()
        found[far] = loss.item(), finite(t.leaf.grad[0])
    return near(found[10.0][:1], found[30.0][:1]) and [x[1] for x in found.values()] == [True, False], found


# ---- all of them

def tests():
    """{FRAMEWORK_NAME: (framework, function)} of the data; a name without a function, or a function without data, is an error."""
    found = {}
    data = {framework: translate.data_of(framework).get("pitfalls", ()) for framework in translate.frameworks()}
    for framework in sorted(filter(data.get, data), key=[*PACKAGES].index):
        for case in data[framework]:
            name = f"{framework}_{case['name']}"
            found[name] = framework, globals()[name]
    return found


def main(words):
    torch.set_default_dtype(torch.float64)
    passed = failed = 0
    for name, (framework, test) in tests().items():
        if not all(word in name for word in words):
            continue
        if importlib.util.find_spec(PACKAGES[framework]) is None:
            print(f"skipped: {name}, {framework} is not installed", file=sys.stderr)
            continue
        try:
            if framework == "verl":
                importlib.import_module("run_verl").parts()  # with the stand-ins that importing verl needs
            good, numbers = test()
        except Exception as why:  # counted and named
            good, numbers = False, f"{type(why).__name__}: {why}"
        passed, failed = passed + good, failed + (not good)
        numbers = numbers if isinstance(numbers, str) else json.dumps(numbers)
        print(f"{'ok' if good else 'FAIL'} {name}: {numbers}", file=sys.stderr)
    print(f"{passed} passed, {failed} failed", file=sys.stderr)
    return int(failed > 0 or not passed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
