"""NeMo-RL (a clone at the commit of the data, see sources.py): what its policy worker makes of a batch that is cut into ranks and
micro-batches.

Run by its own code: advantages (as in run_nemo_rl.py), BatchedDataDict, process_global_batch (the counts over ranks),
make_microbatch_iterator, automodel_forward_backward, LossPostProcessor, ClippedPGLossFn, and FSDP2 of torch, in one process per rank.

Replaced: the model (a table, cut_fsdp.py) with the steps from its output to log-probabilities; scale_grads_and_clip_grad_norm and the
optimiser, of which only the gradient is kept. The order in which the worker calls these is written here after
nemo_rl/models/policy/workers/dtensor_policy_worker_v2.py:473-524. Not run: micro-batches by tokens, packed sequences, Megatron.
"""
import collections
import copy
import functools
import io
import os
import contextlib
import types
import typing
import warnings
from unittest import mock

import cut_fsdp
import cut_ranks

NAME, FRAMEWORK, RELEASE = "nemo_rl", "NeMo-RL", "7ea279abfbeb698b092856d0dab61e7cf39bc909"
LOSS, TRAIN = "nemo_rl/algorithms/loss/loss_functions.py:", "; nemo_rl/models/automodel/train.py:545-548, data.py:408-420"

HEAD = """The counts over ranks, the loop over micro-batches (`automodel_forward_backward`) and the loss ran as they are, in one process and
in two with FSDP2 of torch. Replaced are the model and the optimiser; the order of the calls was written after the worker
(dtensor_policy_worker_v2). Micro-batches by tokens, packed sequences and Megatron were not run."""


# ---- what is compared

def setting(name, config, where, expected="whole batch", **more):
    """1e-8 is added to every divisor."""
    return {"name": name, "config": config, "where": where + TRAIN, "expected": expected, "tolerance": 1e-7, **more}


RESPONSES = {"loss_fn.token_level_loss": False}
COUNTED = {"fields": {"aggregation.empty_sequences": "keep"}, "note": "a response whose tokens are all masked counts in the divisor"}
SETTINGS = [
    setting("token_level_loss true (the default)", {"loss_fn.reference_policy_kl_penalty": 0}, LOSS + "678-683"),
    setting("token_level_loss false", {"loss_fn.reference_policy_kl_penalty": 0, **RESPONSES}, LOSS + "685-693", **COUNTED),
    setting("token_level_loss false, overlong_filtering", {"grpo.overlong_filtering": True, "loss_fn.reference_policy_kl_penalty": 0,
                                                           **RESPONSES}, LOSS + "685-693", silence="truncated", plain=True,
            note="a response that overlong_filtering removes does not count in the divisor"),
    setting("KL, token_level_loss true", {"loss_fn.reference_policy_kl_penalty": 0.5}, LOSS + "507-509, 678-683"),
    setting("KL, token_level_loss false", {"loss_fn.reference_policy_kl_penalty": 0.5, **RESPONSES}, LOSS + "511-515, 685-693", **COUNTED),
    setting("sequence_level_importance_ratios",
            {"loss_fn.reference_policy_kl_penalty": 0, "loss_fn.sequence_level_importance_ratios": True, **RESPONSES},
            LOSS + "529, 685-693", **COUNTED),
]
PLANTED = [("token_level_loss true (the default)", "nemo_rl/models/automodel/train.py",
            "loss = result * dp_size * cp_size", "loss = result * cp_size", "over ranks")]


# ---- the framework in a rank

@functools.cache
def parts():
    import run_nemo_rl
    import sources
    sources.FOLDER = os.environ["SOURCES"]
    import torch
    path = functools.partial(sources.path_of, "nemo_rl", "nemo_rl")
    nothing = type("PackedTensor", (), {})
    data = sources.definitions(path("distributed", "batched_data_dict.py"), ("BatchedDataDict", "SlicedDataDict"), torch=torch,
                               UserDict=collections.UserDict, DictT=typing.TypeVar("DictT"), PackedTensor=nothing,
                               deepcopy=copy.deepcopy, **{name: getattr(typing, name) for name in typing.__all__})
    kinds = sources.definitions(path("algorithms", "loss", "interfaces.py"), ("LossType",), enum=__import__("enum"))
    whole = sources.definitions(path("models", "automodel", "data.py"), ("process_global_batch",), torch=torch, LossType=kinds.LossType)
    others = {name: type(name, (), {}) for name in ("LogprobsPostProcessor", "TopkLogitsPostProcessor", "FullLogitsPostProcessor",
                                                    "ScorePostProcessor")}
    train = sources.definitions(
        path("models", "automodel", "train.py"), ("LossPostProcessor", "forward_with_post_processing_fn", "automodel_forward_backward"),
        torch=torch, partial=functools.partial, prepare_loss_input=lambda logits, data, _, **__: ({"next_token_logprobs": logits}, data),
        _needs_kv_cache_for_shared_layers=lambda _: False, model_forward=lambda model, inputs, **_: model(inputs)[0],
        extract_logits=lambda _, outputs: outputs, apply_temperature_scaling=lambda logits, _: logits, LossFunction=object,
        PolicyConfig=object, **others)
    return types.SimpleNamespace(run=run_nemo_rl, Dict=data.BatchedDataDict, whole=whole.process_global_batch, train=train)


def trained(data, rule, table, kept, micro, torch):
    """As DTensorPolicyWorkerV2.train calls it."""
    p = parts()
    made = p.whole(data, rule, None, batch_idx=0, batch_size=data.size)
    post = p.train.LossPostProcessor(rule, {}, None, None, None, 1, torch.distributed.get_world_size())
    kept.zero_grad()
    batches = [types.SimpleNamespace(data_dict=part, processed_inputs=part["tokens"]) for part in
               made["batch"].make_microbatch_iterator(micro)]
    p.train.automodel_forward_backward(
        table, iter(batches), post, global_valid_seqs=made["global_valid_seqs"], global_valid_toks=made["global_valid_toks"],
        dp_size=torch.distributed.get_world_size(), num_valid_microbatches=len(batches))
    kept.step()


def checked(parts_of_ranks):
    from framework import Refused
    sizes = {len(part) for own in parts_of_ranks for part in own}
    if len(sizes) > 1 or len({len(own) for own in parts_of_ranks}) > 1:
        raise Refused("unequal numbers of responses")
    return sizes.pop()


def of_rank(config, batch, parts_of_ranks, rank):
    """What the optimiser of the rank sees."""
    micro, p, torch = checked(parts_of_ranks), parts(), cut_fsdp.start()
    import sources
    from running import torch_batch
    b = torch_batch({**batch, "reward_weight": [1.0, 1.0]})
    own = cut_fsdp.flat(parts_of_ranks[rank])
    table = cut_fsdp.model_of(batch)
    kept = cut_fsdp.Kept(table)
    with sources.doubles(), mock.patch.object(torch.Tensor, "cuda", lambda x: x), warnings.catch_warnings(), \
            contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        c = p.run.configured(config)
        given = p.run.training_data(c, b, {**batch, "reward_weight": [1.0, 1.0]})
        given["tokens"] = torch.tensor([row + [0] * (b.logp.shape[1] - len(row)) for row in cut_fsdp.numbers(batch)])
        data = p.Dict({name: x[own] for name, x in given.items() if isinstance(x, torch.Tensor)})
        trained(data, p.run.parts().loss.ClippedPGLossFn(c.loss_fn), table, kept, micro, torch)
    return kept.answer(batch, parts_of_ranks[rank])


def gradient(config, batch, parts_of_ranks):
    return cut_fsdp.gathered(cut_ranks.run(__name__, config, batch, parts_of_ranks))
