"""open-instruct (a clone at the commit of the data, see sources.py): what its trainer makes of a batch that is cut into ranks and
micro-batches.

Run by its own code: the preparation of the data (advantages, packing), prepare_collated_data_for_workers (ranks, micro-batches), step of
PolicyTrainerRayProcess (the loop over micro-batches, the counts over ranks, the factor of the ranks), in one process per rank.

Replaced: the model (a table, cut_fsdp.py), and DeepSpeed, of which backward is that of torch, and the average over ranks that of FSDP2
(DeepSpeed's is of the same kind; with prescale_gradients false and its accumulation set to 1 it divides by the ranks and nothing else,
open_instruct/utils.py:1456, open_instruct/grpo_fast.py:341). There is one epoch for the old log-probabilities, whose gradient is not
taken, and the next is compared. The shuffle of a rank's rows gives the order that the cut asks for.
"""
import contextlib
import dataclasses
import functools
import math
import os
import types
from unittest import mock

import cut_fsdp
import cut_ranks

NAME, FRAMEWORK, RELEASE = "open_instruct", "open-instruct", "e6c3044aa6201c8bfa4573c1b03142af599e730d"
FIRST, PACK = 10, "pack_length"  # FIRST: the id of the first token
STEP, COUNTS = "open_instruct/grpo_fast.py:", "open_instruct/grpo_utils.py:651-671"

HEAD = """The packing, the collation and `step` of the trainer ran as they are, in one process and in two. Replaced are the model, the
random order of rows, the optimiser, and DeepSpeed, whose average over ranks is that of FSDP2 here. `per_device_train_batch_size` is the
size of a micro-batch, in rows; without `pack_length` a row is a response."""


# ---- what is compared

def setting(name, config, where, expected="whole batch", **more):
    return {"name": name, "config": config, "where": where, "expected": expected, "own": PACK in config, **more}


def of_step(count, mini_batches):
    """How many of so many micro-batches an optimiser step has (open_instruct/grpo_fast.py:602)."""
    return max(math.ceil(count / mini_batches - 0.5), 1)


SETTINGS = [
    setting("loss_denominator token (the default)", {}, STEP + "654-666, 719-724; " + COUNTS),
    setting("loss_denominator, a number", {"loss_denominator": 30}, STEP + "656-666, 719-724"),
    setting("pack_length", {PACK: 12}, STEP + "654-666, 719-724; " + COUNTS,
            note="rows that the ranks do not divide are dropped (open_instruct/data_loader.py:1231-1238)"),
    setting("num_mini_batches 2", {"num_mini_batches": 2}, STEP + "602-608, 654-666, 719-733; " + COUNTS, window=lambda n: of_step(n, 2)),
    setting("num_mini_batches 3", {"num_mini_batches": 3}, STEP + "602-608, 654-666, 719-733; " + COUNTS, window=lambda n: of_step(n, 3),
            note="16 micro-batches are three steps of five; the last one is dropped (open_instruct/grpo_fast.py:602-606)"),
    setting("cispo", {"loss_fn": "cispo"}, STEP + "654-666, 719-724; " + COUNTS),
]
PLANTED = [("loss_denominator token (the default)", "open_instruct/grpo_fast.py",
            "loss *= self.args.world_size // self.args.sequence_parallel_size", "loss *= 1", "over ranks")]


# ---- the framework in a rank

@functools.cache
def parts():
    import run_open_instruct
    import sources
    sources.FOLDER = os.environ["SOURCES"]
    import torch
    p = run_open_instruct.parts()
    collate = sources.definitions(p.path("data_loader.py"), ("prepare_collated_data_for_workers", "collate_fn"),
                                  data_types=types.SimpleNamespace(CollatedBatchData=p.Collated), **p.of_classes)
    counts = sources.definitions(p.path("grpo_utils.py"), ("calculate_token_counts",), torch=torch, dist=torch.distributed)
    return types.SimpleNamespace(own=p, run=run_open_instruct, collate=collate.prepare_collated_data_for_workers,
                                 counts=counts.calculate_token_counts)


def collated(config, batch, b, parts_of_ranks, rank):
    """The micro-batches of a rank."""
    p = parts()
    tokens = [[FIRST + x for x in row] for row in cut_fsdp.numbers(batch)]
    packed = p.run.prepared({}, b, batch, tokens, config.get(PACK, 1))
    size = 1
    if PACK not in config:  # a row is a response
        size = len(parts_of_ranks[0][0])
        order = [i for own in parts_of_ranks for part in own for i in part]
        lists = {name: x for name, x in vars(packed).items() if isinstance(x, list) and len(x) == len(order)}
        packed = dataclasses.replace(packed, **{name: [x[i] for i in order] for name, x in lists.items()})
    with mock.patch.object(p.own.of_classes["np"].random, "permutation", lambda n: list(range(n))):
        return p.collate(packed, len(parts_of_ranks), size, 0, False)[rank]


class Engine:
    """DeepSpeed's engine as step calls it."""
    def __init__(self, table, kept):
        self.table, self.kept, self.ends = table, kept, False

    def set_gradient_accumulation_boundary(self, ends):
        self.ends = ends

    def backward(self, loss):
        if loss.requires_grad:
            self.table.set_requires_gradient_sync(self.ends)
            loss.backward()

    def step(self):
        self.kept.step()
        self.kept.zero_grad()

    def get_global_grad_norm(self):
        return 0.0


def stepped(args, batch, data, table, kept, torch):
    """Runs step; the rows of the micro-batches of the epoch that is compared."""
    p, rows_of = parts(), []
    at = lambda rows: (rows[:, 1:] - FIRST).clamp(min=0)
    values = lambda name: torch.tensor(cut_fsdp.flat(batch[name]))

    def forward(model, rows, *_, **__):
        rows_of.append(rows)
        epoch = sum(x is rows for x in rows_of)
        return (table(at(rows))[0] if epoch == 2 else values("logp_old")[at(rows)]), None

    def all_of(model, data, *_, **__):
        name = "logp_ref" if model == "reference" else "logp_old"
        of_rows = zip(data.query_responses, data.response_masks)
        return [p.own.grpo.mask_logprobs(values(name)[at(rows)], mask[:, 1:]) for rows, mask in of_rows]
    none = lambda *_, **__: None
    import sources
    utils = types.SimpleNamespace(**{
        **vars(p.own.grpo), "calculate_token_counts": p.counts, "forward_for_logprobs": forward, "compute_logprobs": all_of,
        "create_loss_stats": none, "compute_vllm_local_debug_metrics": lambda **_: {}, "accumulate_rho_histograms": none,
        "populate_sample_loss_stats": none, "finalize_rho_histograms": lambda _: {}})
    step = sources.definitions(p.own.path("grpo_fast.py"), ("step",), grpo_utils=utils, masked_mean=p.own.rl.masked_mean,
                               Timer=lambda *_, **__: contextlib.nullcontext(), **p.own.of_classes).step
    args.num_epochs, args.world_size = 2, torch.distributed.get_world_size()
    step(types.SimpleNamespace(
        dataloader=iter([{"batch": data, "metrics": {}}]), splitter=None, device=torch.device("cpu"), args=args,
        num_mini_batches=args.num_mini_batches,
        ref_policy="reference", pad_token_id=0, streaming_config=types.SimpleNamespace(temperature=1.0),
        model=Engine(table, kept), local_metrics=p.run.Metrics(), rank=0, _compute_loss_metrics=none))
    return rows_of[len(rows_of) // 2:]


def checked(config, parts_of_ranks):
    from framework import Refused
    sizes = {len(part) for own in parts_of_ranks for part in own}
    if PACK not in config and (len(sizes) > 1 or len({len(own) for own in parts_of_ranks}) > 1):
        raise Refused("unequal numbers of responses")


def of_rank(config, batch, parts_of_ranks, rank):
    """What the optimiser of the rank sees."""
    checked(config, parts_of_ranks)
    p, torch = parts(), cut_fsdp.start()
    import sources
    from running import torch_batch
    b = torch_batch(batch)
    with sources.doubles():
        args = p.own.grpo.GRPOExperimentConfig(**{option: x for option, x in config.items() if option != PACK})
        data = collated(config, batch, b, parts_of_ranks, rank)
        table = cut_fsdp.model_of(batch)
        kept = cut_fsdp.Kept(table)
        seen = stepped(args, batch, data, table, kept, torch)
    of_first = {FIRST + row[0]: i for i, row in enumerate(cut_fsdp.numbers(batch))}
    return kept.answer(batch, [[of_first[x] for x in rows.flatten().tolist() if x in of_first] for rows in seen])


def gradient(config, batch, parts_of_ranks):
    return cut_fsdp.gathered(cut_ranks.run(__name__, config, batch, parts_of_ranks))
