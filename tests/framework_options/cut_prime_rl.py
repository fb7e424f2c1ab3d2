"""prime-rl (a clone at the commit of the data, see sources.py): what its trainer makes of a batch that is packed into micro-batches on
ranks.

Run by its own code: advantages and weights (as in run_prime_rl.py), prepare_batch (packing, ranks, micro-batches that fill up), of the
function train the statements that count tokens over the ranks and those that compute the loss of a micro-batch, compute_loss,
scale_gradients_, and FSDP2 of torch, in one process per rank.

Replaced: the model (a table, cut_fsdp.py), the devices, the optimiser, which keeps the gradient. That micro-batches become tensors, and
that train runs backward for each and then scale_gradients_, is written here after src/prime_rl/trainer/rl/train.py:337-345, 478-480, 558.
prime-rl decides itself what a rank and a micro-batch hold: of a cut only the number of ranks is used.
"""
import ast
import collections
import copy
import dataclasses
import functools
import heapq
import os
import types
import typing

import cut_fsdp
import cut_ranks

NAME, FRAMEWORK, RELEASE = "prime_rl", "prime-rl", "559b44772e471d1538537b8805cc77f3824a5e64"
TRAIN, LENGTH, FILTER = "src/prime_rl/trainer/rl/train.py:300-322, 558; src/prime_rl/trainer/rl/loss.py:393", "trainer.seq_len", (
    "orchestrator.train.filter_zero_advantages")

HEAD = """The packing, the count of tokens over ranks and the loss of `train` ran as they are, in one process and in two with FSDP2 of
torch. Replaced are the model and the optimiser; the loop over micro-batches was written after the code. `trainer.seq_len` is the length
of a row; prime-rl decides itself which responses a rank and a row hold."""


# ---- what is compared

def with_advantage(batch):
    return {"selected": [[a != 0 for a in row] for row in batch["advantage"]]}


def setting(name, config, where=TRAIN, **more):
    return {"name": name, "config": {LENGTH: 14, **config}, "where": where, "expected": "whole batch", "own": True, **more}


SETTINGS = [
    setting("the defaults", {}, arrays=with_advantage, note="tokens of advantage 0 are left out, also of the divisor"),
    setting("filter_zero_advantages false", {FILTER: False}),
    setting("a row for (nearly) every response", {FILTER: False, LENGTH: 7}),
    setting("one row", {FILTER: False, LENGTH: 200}),
    setting("ipo", {FILTER: False, "trainer.loss.type": "ipo"}),
]
PLANTED = [("the defaults", "src/prime_rl/trainer/rl/train.py",
            "dist.all_reduce(global_scales, op=dist.ReduceOp.SUM, group=dp_cp_group)", "pass", None)]


# ---- the framework in a rank

PACKING = ("STREAM_FILL", "build_bin_cost", "_WeightedSet", "_KKState", "_karmarkar_karp", "_partition_loads", "_refine_by_swapping",
           "balanced_partition", "multimodal_sample_error", "prepare_sample", "_is_multimodal_sample", "_MicroBatchBin", "_materialize_bin",
           "_expand_bins_by_splitting", "packed_samples_into_micro_bs", "_distribute_group", "pad_micro_batch",
           "_assert_token_arrays_aligned", "_make_dummy_batch", "_pad_group_for_distribution", "prepare_batch")


def names_of(statement):
    """The names that a statement assigns."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}


def statements(path, first, last):
    """The statements of a function's loop from the one that assigns `first` to the one that assigns `last`, compiled."""
    with open(path, encoding="utf-8") as f:
        tree = ast.parse(f.read())
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        begin = [k for k, x in enumerate(body) if first in names_of(x)] if isinstance(body, list) else []
        end = [k for k, x in enumerate(body) if last in names_of(x)] if begin else []
        if end:
            return compile(ast.Module(body[begin[0]:end[0] + 1], []), path, "exec")
    raise LookupError(f"{path} does not assign {first} and {last}")


@functools.cache
def parts():
    import run_prime_rl
    import sources
    sources.FOLDER = os.environ["SOURCES"]
    import numpy
    path = functools.partial(sources.path_of, "prime_rl", "src", "prime_rl", "trainer")
    packing = sources.definitions(
        path("batch.py"), PACKING, copy=copy, heapq=heapq, np=numpy, dataclass=dataclasses.dataclass, field=dataclasses.field,
        Any=typing.Any, Callable=collections.abc.Callable, Sequence=collections.abc.Sequence, EncodedTensor=object,
        MicroBatch=types.SimpleNamespace, RoutedExperts=object, TrainingSample=object)
    import torch
    scale = sources.definitions(path("utils.py"), ("scale_gradients_",)).scale_gradients_
    train = path("rl", "train.py")
    return types.SimpleNamespace(run=run_prime_rl, packing=packing, scale=torch.no_grad()(scale), count=statements(
        train, "local_rl_scale", "rl_scale"), loss=statements(train, "sequence_lengths", "loss"))


def samples(config, batch, b):
    """The training samples, with a prompt of one token."""
    advantage, weights = parts().run.scored(config, b, batch)
    made = []
    for i, (row, n) in enumerate(zip(cut_fsdp.numbers(batch), b.length)):
        made.append(types.SimpleNamespace(
            token_ids=[0] + row, mask=[False] + b.mask[i, :n].tolist(), logprobs=[0.0] + b.logp_rollout[i, :n].tolist(),
            advantages=[0.0] + advantage[i, :n].tolist(), rl_weights=weights[i] and [0.0] + weights[i], ce_weights=None,
            ref_kl_weights=None, temperatures=[1.0] * (n + 1), env_name="one", ref_logprobs=None, routed_experts=None,
            mm_token_type_ids=None, mm_kwargs=None))
    return made


def tensors(micro_batch, torch):
    """As the data loader makes them."""
    kinds = {"input_ids": torch.long, "loss_mask": torch.bool, "advantages": None, "inference_logprobs": None, "rl_weights": None,
             "ce_weights": None, "ref_kl_weights": None, "ref_logprobs": None}
    given = {name: getattr(micro_batch, name) for name in kinds}
    return {"sequence_lengths": micro_batch.sequence_lengths,
            **{name: x if x is None else torch.tensor(x, dtype=kinds[name] or torch.float64)[None] for name, x in given.items()}}


def trained(micro_batches, rule, table, torch):
    """As train calls it."""
    p, ranks = parts(), torch.distributed.get_world_size()
    group = types.SimpleNamespace(get_mesh=lambda _: types.SimpleNamespace(get_group=lambda: None), fsdp_gradient_divide_factor=ranks)
    on_cpu = types.SimpleNamespace(int64=torch.int64, tensor=lambda x, dtype, device: torch.tensor(x, dtype=dtype))
    names = {"micro_batches": micro_batches, "parallel_dims": group, "dist": torch.distributed, "torch": on_cpu, "rl_loss_fn": rule,
             "compute_loss": p.run.parts().loss.compute_loss}
    exec(p.count, names)
    for micro_batch in micro_batches:
        streams = ("inference_logprobs", "ref_logprobs", "advantages", "loss_mask", "rl_weights", "ce_weights", "ref_kl_weights")
        names.update({name: micro_batch[name] for name in streams}, micro_batch=micro_batch,
                     out={"logprobs": table(micro_batch["input_ids"])[0]})
        exec(p.loss, names)
        names["loss"].backward()
    p.scale(None, table, group.fsdp_gradient_divide_factor)


def of_rank(config, batch, parts_of_ranks, rank):
    """What the optimiser of the rank sees."""
    p, torch = parts(), cut_fsdp.start()
    import sources
    from running import torch_batch
    table = cut_fsdp.model_of(batch)
    kept = cut_fsdp.Kept(table)
    with sources.doubles():
        made = samples(config, batch, torch_batch(batch))
        packed = p.packing.prepare_batch(made, config[LENGTH], len(parts_of_ranks), p.packing.build_bin_cost(None))[rank]
        rule = p.run.parts().loss.setup_rl_loss_fn(p.run.rule_of(config))
        trained([tensors(x, torch) for x in packed], rule, table, torch)
    kept.step()
    of_first = {row[0]: i for i, row in enumerate(cut_fsdp.numbers(batch))}
    firsts = [[sum(x.sequence_lengths[:k]) + 1 for k in range(len(x.sequence_lengths))] for x in packed]
    held = [[of_first[x.input_ids[at]] for at in places] if any(x.loss_mask) else [] for x, places in zip(packed, firsts)]
    return kept.answer(batch, held)


def gradient(config, batch, parts_of_ranks):
    return cut_fsdp.gathered(cut_ranks.run(__name__, config, batch, parts_of_ranks))
