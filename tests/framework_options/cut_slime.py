"""slime (a clone at the commit of the data, see sources.py): what its loss makes of a batch that is cut into ranks and micro-batches.

Run by its own code: rewards, masks and the divisors of the samples (RolloutManager), advantages on each rank, loss_function for each
micro-batch, in one process per rank. Megatron was not run; what it does with the loss is written here after megatron-core
(pipeline_parallel/schedules.py: forward_step_calc_loss; distributed/finalize_model_grads.py): without calculate_per_token_loss each loss is
divided by the number of micro-batches and gradients are averaged over ranks; with it gradients are added, and divided by the sum of the
counts that loss_function gives.

Replaced: the model (a table, cut_fsdp.py), the optimiser, which keeps the gradient; the average over ranks is that of FSDP2.
"""
import functools
import os
import types
from unittest import mock

import cut_fsdp
import cut_ranks

NAME, FRAMEWORK, RELEASE = "slime", "slime", "624b824a898ab0ec1fcb4d373004c7f3852bf515"
LOSS, CP = "slime/backends/megatron_utils/loss.py:1353-1361", "slime/backends/megatron_utils/cp_utils.py:73-90; "

HEAD = """The divisors of the samples, the advantages and `loss_function` ran as they are, in one process and in two. Replaced are the
model and the optimiser. Megatron was not run: its division by micro-batches, ranks or tokens was written after megatron-core. Ranks have
equal numbers of micro-batches, of any size."""


# ---- what is compared

def setting(name, config, expected="whole batch", **more):
    return {"name": name, "config": config, "where": CP + LOSS, "expected": expected, **more}


TOKENS = {"calculate-per-token-loss": True}
KL = {"use-kl-loss": True, "kl-loss-coef": 0.5}
SETTINGS = [
    setting("the defaults", {}),
    setting("calculate-per-token-loss", TOKENS, plain=True, note="a response without tokens that count is counted as one token"),
    setting("KL", KL),
    setting("KL, calculate-per-token-loss", {**KL, **TOKENS}, plain=True),
    setting("entropy bonus", {"entropy-coef": 0.5}, of="dentropy"),
    setting("entropy bonus, calculate-per-token-loss", {"entropy-coef": 0.5, **TOKENS}, of="dentropy", plain=True),
    setting("gspo", {"advantage-estimator": "gspo"}),
    setting("normalize-advantages", {"normalize-advantages": True}),
]
PLANTED = [("the defaults", "slime/backends/megatron_utils/loss.py",
            "* mpu.get_data_parallel_world_size(with_context_parallel=True)", "* 1", "over ranks")]


# ---- the framework in a rank

@functools.cache
def parts():
    import run_slime
    import sources
    sources.FOLDER = os.environ["SOURCES"]
    import torch
    p = run_slime.parts()
    p.mpu.get_data_parallel_world_size = lambda **_: torch.distributed.get_world_size()
    whiten = p.loss.compute_advantages_and_returns.__globals__["distributed_masked_whiten"]
    whiten.__globals__["dist"] = torch.distributed
    return types.SimpleNamespace(run=run_slime, own=p)


def taken(data, rows):
    """The data of some responses."""
    return {name: x[rows] if hasattr(x, "shape") else [x[i] for i in rows] if isinstance(x, list) and len(x) == len(data["tokens"]) else x
            for name, x in data.items()}


def data_of(args, batch, b, torch):
    """What the ranks get, before advantages."""
    import sources
    p = parts()
    manager = types.SimpleNamespace(args=args, custom_reward_post_process_func=None, custom_convert_samples_to_train_data_func=None)
    manager._post_process_rewards = lambda samples: p.own.samples._post_process_rewards(manager, samples)
    data = p.own.samples._convert_samples_to_train_data(manager, p.run.samples_of(b, batch))
    data["loss_masks"] = [torch.tensor(mask, dtype=torch.int) for mask in data["loss_masks"]]
    data["rollout_log_probs"] = [torch.tensor(x, dtype=torch.float64) for x in data["rollout_log_probs"]]
    data["rollout_mask_sums"] = torch.tensor(data["rollout_mask_sums"], dtype=torch.float64)
    data.update(total_lengths=[n + 1 for n in b.length], log_probs=sources.rows(b.logp_old, b), ref_log_probs=sources.rows(b.logp_ref, b),
                values=sources.rows(b.value, b), unconcat_tokens=None, places=cut_fsdp.numbers(batch))
    return data


def stepped(args, data, own, parts_of_rank, table, torch):
    """The micro-batches of a rank, and after them Megatron's division."""
    p, count, ranks = parts(), 0, torch.distributed.get_world_size()
    for part in parts_of_rank:
        micro = taken(data, [own.index(i) for i in part])
        logits = mock.NonCallableMagicMock(device=torch.device("cpu"))
        found = [table(torch.tensor(places)) for places in micro["places"]]
        logits.of = {"log_probs": [x for x, _ in found], "entropy": [x for _, x in found]}
        value, tokens, _ = p.own.loss.loss_function(args, micro, len(parts_of_rank), len(data["tokens"]) * ranks, logits)
        count += tokens
        (value if args.calculate_per_token_loss else value / len(parts_of_rank)).backward()
    if args.calculate_per_token_loss:
        count = torch.as_tensor(count, dtype=torch.float64)
        torch.distributed.all_reduce(count)
        for parameter in table.parameters():
            if parameter.grad is not None:
                parameter.grad.mul_(ranks / count.item())


def of_rank(config, batch, parts_of_ranks, rank):
    """What the optimiser of the rank sees."""
    from framework import Refused
    if len({len(own) for own in parts_of_ranks}) > 1 or len({sum(map(len, own)) for own in parts_of_ranks}) > 1:
        raise Refused("unequal numbers of micro-batches or responses")
    p, torch = parts(), cut_fsdp.start()
    import sources
    from running import torch_batch
    table, own = cut_fsdp.model_of(batch), cut_fsdp.flat(parts_of_ranks[rank])
    kept, args, fake = cut_fsdp.Kept(table), p.run.arguments(config, batch), types.SimpleNamespace
    with sources.doubles(), sources.modules(megatron=fake(), megatron__core=fake(mpu=p.own.mpu)):
        data = taken(data_of(args, batch, torch_batch(batch), torch), own)
        p.own.loss.compute_advantages_and_returns(args, data)
        stepped(args, data, own, parts_of_ranks[rank], table, torch)
    kept.step()
    return kept.answer(batch, parts_of_ranks[rank])


def gradient(config, batch, parts_of_ranks):
    return cut_fsdp.gathered(cut_ranks.run(__name__, config, batch, parts_of_ranks))
