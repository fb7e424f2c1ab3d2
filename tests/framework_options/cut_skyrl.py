"""SkyRL (written for skyrl 0.4.0): what its trainer makes of a batch that is cut into ranks and micro-batches.

Run by its own code: advantages and their division by the divisor of the loss (as in run_skyrl.py), stage_chunks (the shares of the ranks),
the policy worker's forward_backward and _forward_backward_micro with the iterators of micro-batches (fixed, or by tokens, which agrees on
their number over the ranks), backward and optimizer_step of its FSDP strategy, and FSDP2 of torch, in one process per rank.

Replaced: the model (a table, cut_fsdp.py), the object store of ray (stage_chunks gives the chunks themselves), the optimiser, which keeps
the gradient. As there, the tokens of a response are at the right end of their row.
"""
import contextlib
import functools
import os
import types
from unittest import mock

import cut_fsdp
import cut_ranks

NAME, RELEASE, FRAMEWORK = "skyrl", "0.4.0", "SkyRL"
OPTION = "trainer.algorithm."
BY_TOKENS = {"trainer.max_tokens_per_microbatch": 14}
UTILS, WORKER = "skyrl/backends/skyrl_train/utils/ppo_utils.py:", "skyrl/backends/skyrl_train/workers/worker.py:"
TIMES = "; " + WORKER + "1236-1244"

HEAD = """The division of the advantages, the shares of the ranks, the policy worker's `forward_backward` and the FSDP strategy ran as they
are, in one process and in two with FSDP2 of torch. Replaced are the model, the object store and the optimiser. Every rank has as many
responses as the others, and without `max_tokens_per_microbatch` every micro-batch. With `remove_microbatch_padding` or
`sequence_parallel_size` SkyRL's own wrapper of the model packs, splits and gathers, around a model without attention, with the padding
functions of transformers in place of flash_attn's. Megatron was not run."""


# ---- what is compared

def setting(name, config, where, expected="whole batch", **more):
    config = {(option if option.startswith("trainer.") else OPTION + option): x for option, x in config.items()}
    return {"name": name, "config": config, "where": where, "expected": expected,
            "own": "trainer.max_tokens_per_microbatch" in config, **more}


SHARING, PACKING = "trainer.policy.sequence_parallel_size", "trainer.remove_microbatch_padding"
PACKED, SPLIT = {PACKING: True}, {PACKING: True, SHARING: 2}
WRAPPER = "; skyrl/backends/skyrl_train/workers/model_wrapper.py:"
GATHER = "; skyrl/backends/skyrl_train/distributed/ulysses/utils.py:199-239"
KL, BONUS = {"use_kl_loss": True, "kl_loss_coef": 0.5}, {"use_entropy_loss": True, "entropy_loss_coef": 0.5}
SETTINGS = [
    setting("token_mean (the default)", {"loss_reduction": "token_mean"}, UTILS + "1180-1181" + TIMES),
    setting("token_mean, max_tokens_per_microbatch", {"loss_reduction": "token_mean", **BY_TOKENS}, UTILS + "1180-1181" + TIMES),
    setting("token_mean, remove_microbatch_padding", {"loss_reduction": "token_mean", **PACKED},
            UTILS + "1180-1181" + TIMES + WRAPPER + "351-364, 442-451"),
    setting("token_mean, sequence_parallel_size", {"loss_reduction": "token_mean", **SPLIT}, UTILS + "1180-1181" + TIMES + GATHER),
    setting("token_mean, sequence_parallel_size, padded", {"loss_reduction": "token_mean", SHARING: 2},
            UTILS + "1180-1181" + TIMES + GATHER),
    setting("token_mean, sequence_parallel_size, max_tokens_per_microbatch", {"loss_reduction": "token_mean", **SPLIT, **BY_TOKENS},
            UTILS + "1180-1181" + TIMES + GATHER),
    setting("KL, sequence_parallel_size", {**KL, **SPLIT}, WORKER + "1222-1231, 1244" + GATHER),
    setting("token_mean_legacy", {"loss_reduction": "token_mean_legacy"}, UTILS + "1184-1195" + TIMES, "mean of means",
            fields={"aggregation.kind": "token_mean"}),
    setting("sequence_mean", {"loss_reduction": "sequence_mean"}, UTILS + "1198-1199" + TIMES),
    setting("sequence_mean, max_tokens_per_microbatch", {"loss_reduction": "sequence_mean", **BY_TOKENS}, UTILS + "1198-1199" + TIMES),
    setting("seq_mean_token_sum_norm", {"loss_reduction": "seq_mean_token_sum_norm", "max_seq_len": 8}, UTILS + "1202-1203" + TIMES),
    setting("prompt_mean", {"loss_reduction": "prompt_mean"}, UTILS + "1209-1215" + TIMES),
    setting("KL", KL, WORKER + "1222-1231, 1244"),
    setting("KL, max_tokens_per_microbatch", {**KL, **BY_TOKENS}, WORKER + "1222-1231, 1244"),
    setting("entropy bonus", BONUS, WORKER + "1209-1218, 1244", "mean of means", of="dentropy"),
    setting("entropy bonus, max_tokens_per_microbatch", {**BONUS, **BY_TOKENS}, WORKER + "1209-1218, 1244", "by responses", of="dentropy"),
    setting("gspo", {"policy_loss_type": "gspo", "loss_reduction": "sequence_mean"}, UTILS + "1198-1199" + TIMES),
    setting("sapo", {"policy_loss_type": "sapo", "loss_reduction": "sequence_mean"}, UTILS + "1198-1199" + TIMES),
    setting("cispo", {"policy_loss_type": "cispo"}, UTILS + "1180-1181" + TIMES),
    setting("dual_clip", {"policy_loss_type": "dual_clip"}, UTILS + "1180-1181" + TIMES),
    setting("token TIS", {"off_policy_correction.tis_ratio_type": "token", "off_policy_correction.token_tis_ratio_clip_high": 1.2},
            UTILS + "1180-1181" + TIMES),
]
PLANTED = [("token_mean (the default)", "skyrl/backends/skyrl_train/workers/worker.py",
            "loss = policy_loss * grad_sum_correction_factor + (kl", "loss = policy_loss + (kl", None),
           ("token_mean, sequence_parallel_size", "skyrl/backends/skyrl_train/distributed/ulysses/utils.py",
            "grad_output = grad_output * ctx.sp_world_size", "pass", None)]


# ---- the framework in a rank

@functools.cache
def parts():
    import run_skyrl
    own = run_skyrl.parts()
    import torch
    from stand_ins import names_stand_in, without_init
    without_init("skyrl.backends.skyrl_train.distributed", "skyrl.backends.skyrl_train.workers", "skyrl.train.dataset")
    names_stand_in("skyrl.train.generators", "skyrl.train.generators.base")
    from skyrl.backends.skyrl_train.workers import worker_utils
    from skyrl.backends.skyrl_train import training_batch
    from running import functions_of
    root = os.path.join(os.path.dirname(own.core.__file__), os.pardir)
    context = {name: getattr(own.core, name) for name in ("compute_approx_kl", "masked_mean", "PolicyLossRegistry")}
    names = ("get_microbatch_iterator", "BaseBatchIterator", "TokenBasedBatchIterator", "reduce_metrics", "all_reduce_metrics",
             "compute_minibatch_rollout_logprob_diff_metrics")
    context.update({name: getattr(worker_utils, name) for name in names})
    import collections
    worker = functions_of(os.path.join(root, "workers", "worker.py"), ("forward_backward", "_forward_backward_micro"),
                          inside="PolicyWorkerBase", torch=torch, defaultdict=collections.defaultdict,
                          WorkerOutput=lambda **how: how, **context)
    dispatch = functions_of(os.path.join(root, "distributed", "dispatch.py"), ("stage_chunks",), inside="MeshDispatch",
                            ray=types.SimpleNamespace(put=lambda x: x), pad_training_input_batch=training_batch.pad_training_input_batch)
    strategy = functions_of(os.path.join(root, "distributed", "fsdp_strategy.py"), ("backward", "optimizer_step"), inside="FSDPStrategy",
                            torch=torch, HFModelWrapper=(), FSDPModule=None)
    return types.SimpleNamespace(worker=worker, stage=dispatch.stage_chunks, strategy=strategy, Batch=training_batch.TrainingInputBatch,
                                 own=own)


@functools.cache
def wrapper():
    """SkyRL's HFModelWrapper, with what transformers has of flash_attn's padding."""
    parts()
    from transformers import modeling_flash_attention_utils as padding
    from stand_ins import module_stand_in, names_stand_in, without_init
    module_stand_in("flash_attn")
    module_stand_in("flash_attn.bert_padding", pad_input=padding._pad_input, unpad_input=padding._unpad_input)
    names_stand_in("peft", "peft.tuners", "peft.tuners.lora")
    without_init("skyrl.backends.skyrl_train.distributed.ulysses", "skyrl.backends.skyrl_train.distributed.megatron")
    from skyrl.backends.skyrl_train.distributed.ulysses.utils import set_ulysses_sequence_parallel_group
    from skyrl.backends.skyrl_train.workers.model_wrapper import HFModelWrapper
    return HFModelWrapper, set_ulysses_sequence_parallel_group


class Model:
    """The table as the worker calls its model: log-probabilities of the last num_actions tokens, entropies at the place before."""
    def __init__(self, table, torch):
        self.table, self.torch = table, torch

    def train(self):
        pass

    def __call__(self, sequences, num_actions, **_):
        tokens = sequences.clamp(max=self.table.logp.numel() - 1)  # micro-batches of padding have random ones
        logp, entropy = self.table(tokens)
        return logp[:, -num_actions:], {"entropy": self.torch.roll(entropy, -1, -1)}


def model_of(config, table, torch):
    """(the model, ranks that have data of their own): the table, or SkyRL's wrapper of a model that gives logits."""
    sharing, ranks = config.get(SHARING, 1), torch.distributed.get_world_size()
    mesh = torch.distributed.init_device_mesh("cpu", (ranks // sharing, sharing), mesh_dim_names=("dp", "sp"))
    if not {SHARING, PACKING} & {*config}:
        return Model(table, torch), mesh
    whole, put_group = wrapper()
    put_group(mesh["sp"].get_group() if sharing > 1 else None)
    packs = bool(config.get(PACKING))
    return whole(table, use_flash_attention_2=packs, sequence_parallel_size=sharing, remove_microbatch_padding=packs), mesh


def worker_of(config, algorithm, micro, by_tokens, table, kept, torch):
    """(the worker, the list of its micro-batches' first columns)"""
    p, seen = parts(), []
    model, mesh = model_of(config, table, torch)
    cfg = types.SimpleNamespace(algorithm=algorithm, micro_train_batch_size_per_gpu=micro, max_tokens_per_microbatch=by_tokens)
    worker = types.SimpleNamespace(
        cfg=cfg, model=model, policy_loss_fn=p.own.core.PolicyLossRegistry.get(algorithm.policy_loss_type), optimizer=kept,
        scheduler=types.SimpleNamespace(get_last_lr=lambda: [0.0], step=lambda: None),
        mesh_rank=types.SimpleNamespace(dp_size=mesh.size(0)), device_mesh=mesh,
        strategy=types.SimpleNamespace(max_norm=0, all_reduce=lambda metrics, **_: metrics))
    worker.strategy.backward = functools.partial(p.strategy.backward, worker.strategy)

    def micro_batch(experience, *of, **how):
        if not experience.metadata.get("is_padding_batch"):
            seen.append(experience.sequences[:, -1].tolist())
        return p.worker._forward_backward_micro(worker, experience, *of, **how)
    worker._forward_backward_micro = micro_batch
    return worker, seen


def data_of(algorithm, batch, order, micro, torch):
    """The trainer's batch in this order, after the division of its advantages."""
    import run_skyrl
    from framework import Refused
    from running import torch_batch
    p, b = parts(), torch_batch(batch)
    longest = b.logp.shape[1]
    right = lambda x: torch.stack([torch.roll(row, longest - n) for row, n in zip(x, b.length)])
    given, before = run_skyrl.advantages(algorithm, b, right)
    rows = [[0] * (longest - n) + [first] + row for first, row, n in zip(cut_fsdp.first_tokens(batch), cut_fsdp.numbers(batch), b.length)]
    ends = [[0] * (longest - n) + [1] * (n + 1) for n in b.length]
    given.update(advantages=before, sequences=torch.tensor(rows), attention_mask=torch.tensor(ends))
    data = p.Batch({name: x[order] for name, x in given.items() if name not in ("rewards", "values", "returns")})
    data.metadata = {"response_length": longest}
    groups = [batch["group"][i] for i in order]
    first = [k for k in range(len(order)) if k == 0 or groups[k] != groups[k - 1]]
    if algorithm.loss_reduction == "prompt_mean" and len(first) > len(set(groups)):
        raise Refused("the responses of a prompt follow one another")
    trainer = types.SimpleNamespace(cfg=types.SimpleNamespace(trainer=types.SimpleNamespace(
        algorithm=algorithm, micro_train_batch_size_per_gpu=micro)))
    return p.own.trainer._normalize_advantages(trainer, data, [(0, len(order))], list(zip(first, first[1:] + [len(order)])))


def of_rank(config, batch, parts_of_ranks, rank):
    """What the optimiser of the rank sees."""
    p, torch = parts(), cut_fsdp.start()
    import run_skyrl
    from framework import Refused
    by_tokens = config.get("trainer.max_tokens_per_microbatch", 0)
    sizes = {len(part) for own in parts_of_ranks for part in own}
    if len({sum(map(len, own)) for own in parts_of_ranks}) > 1 or not by_tokens and len(sizes) > 1:
        raise Refused("unequal numbers of responses")
    micro, order = max(sizes), [i for own in parts_of_ranks for part in own for i in part]
    algorithm, table = run_skyrl.algorithm_of(config), cut_fsdp.model_of(batch, bool({SHARING, PACKING} & {*config}))
    algorithm.temperature = 1.0  # of the sampling parameters
    kept = cut_fsdp.Kept(table)
    worker, seen = worker_of(config, algorithm, micro, by_tokens, table, kept, torch)
    with mock.patch.object(torch, "float32", torch.float64), mock.patch.object(torch.Tensor, "float", torch.Tensor.double), \
            mock.patch.object(torch.cuda, "current_device", lambda: "cpu"), \
            mock.patch.object(torch, "autocast", lambda **_: contextlib.nullcontext()):
        data = data_of(algorithm, batch, order, micro, torch)
        chunk = p.stage(None, len(parts_of_ranks), data, [(0, len(order))])[0][rank // config.get(SHARING, 1)]
        p.worker.forward_backward(worker, chunk)
        p.strategy.optimizer_step(worker.strategy, kept, table, worker.scheduler)
    of_last = {row[-1]: i for i, row in enumerate(cut_fsdp.numbers(batch))}
    return kept.answer(batch, [[of_last[x] for x in part] for part in seen])


def gradient(config, batch, parts_of_ranks):
    sharing = config.get(SHARING, 1)
    return cut_fsdp.gathered(cut_ranks.run(__name__, config, batch, parts_of_ranks, sharing), sharing)
