"""Pitfalls of ms-swift (4.6.0), for pitfalls.py."""
import math
import os
import types
from unittest import mock

import torch

from running import functions_of, near, shares, small_batch, torch_batch


def chunked(size, teacher=None, **options):
    """The gradient of a micro-batch of four samples, computed in chunks of that size, None: as a whole; teacher: its log-probabilities."""
    import ms_swift
    from swift.rlhf_trainers import grpo_trainer as module
    b, space = torch_batch(small_batch()), types.SimpleNamespace
    b.advantage = torch.tensor([1.0, -1, 0.5, 0])[:, None].expand(4, 3)
    batch = dict(completion_mask=b.mask, truncated_mask=torch.zeros(4, dtype=torch.bool), seq_lengths=torch.full((4,), 3),
                 old_per_token_logps=b.logp_old, ref_per_token_logps=None, rollout_per_token_logps=None, teacher_per_token_logps=None,
                 advantages=b.advantage, num_items_in_batch=b.mask.sum(), logits_to_keep=3)
    made = lambda **given: space(**{**batch, **given})
    t = ms_swift.trainer(ms_swift.arguments(beta=0.0, **options), b, 4)
    t.args.per_device_train_batch_size, t.template, t.is_multimodal = size, space(padding_free=False), False
    t._get_per_token_logps_and_entropies = lambda model, inputs, *_, **__: (t.leaf[inputs["input_ids"]], None)
    t._aggregate_and_update_metrics = lambda *_: None  # logged
    with mock.patch.object(module, "gather_object", lambda x: x), mock.patch.object(module, "GRPOBatch", made):
        given = t.model, {"input_ids": torch.arange(4)}, made(teacher_per_token_logps=teacher)
        (t._compute_loss_chunked(*given) if size else t._compute_loss_and_metrics(*given)[0]).backward()
    return t.leaf.grad[0, 0].item()


def ms_swift_chunks():
    found = {loss_type: chunked(2, loss_type=loss_type) / chunked(4, loss_type=loss_type) for loss_type in ("dapo", "grpo")}
    return near(found.values(), (0.5, 1)), found


def ms_swift_chunks_without_teacher():
    """What the teacher's log-probabilities add to the gradient, in two chunks and as a whole."""
    more = {"loss_type": "grpo", "sdar_loss_coef": 0.5}
    found = {str(size): chunked(size, torch.full((4, 3), -0.5), **more) - chunked(size, **more) for size in (2, None)}
    return found["2"] == 0 and abs(found["None"]) > 1e-3, found


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


def ms_swift_ring_flattened():
    """What a micro-batch is of, of two samples for each of four ranks: as a ring of four, and of four that share the heads."""
    import swift
    path, found = os.path.join(os.path.dirname(swift.__file__), "rlhf_trainers", "rollout_mixin.py"), {}
    for name, ring, heads in (("ring", 4, 1), ("heads", 1, 4)):
        ranks = types.SimpleNamespace(sp_world_size=heads, rp_world_size=ring, sp_group=None, rp_group=None, world_size=4)
        chunks = []
        trainer = types.SimpleNamespace(
            template=types.SimpleNamespace(sequence_parallel_size=4), model=types.SimpleNamespace(training=True),
            args=types.SimpleNamespace(steps_per_generation=1), accelerator=types.SimpleNamespace(device=None),
            _split_data_by_steps=lambda samples, _, chunks=chunks: chunks.extend(samples))
        gather = types.SimpleNamespace(all_gather_object=lambda out, mine, group: out.__setitem__(slice(None), [mine] * len(out)))
        split = functions_of(path, ("split_by_mini_batches",), sequence_parallel=ranks, dist=gather, to_device=lambda x, device: x)
        split.split_by_mini_batches(trainer, ["sample", "sample"])
        found[name] = sorted({type(x).__name__ for x in chunks})
    return found == {"ring": ["list"], "heads": ["str"]}, found
