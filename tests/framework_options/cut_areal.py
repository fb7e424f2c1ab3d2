"""AReaL (written for areal 1.0.4): what its actor and its engine make of a batch that is cut into ranks and micro-batches.

Run by its own code: PPOActor's advantages and normalisations on each rank (which reduce over ranks where their level is the batch),
_ppo_update (minibatches, the loss), the FSDP engine's train_batch, its split into packed micro-batches by tokens (whose number the ranks
agree on), compute_total_loss_weight, forward_backward_batch, _compute_logprobs_and_loss, and FSDP2 of torch, in one process per rank.

Replaced: the model (a table, cut_fsdp.py) with the step from logits to log-probabilities; optimizer_step, here without the clip of the
norm, which keeps the gradient; numba, by nothing. AReaL decides itself which responses a micro-batch holds: a cut says which responses a
rank has, and n_mbs, how many micro-batches there are at least.
"""
import functools
import importlib
import os
import types
from unittest import mock

import cut_fsdp
import cut_ranks
from cut_fsdp import flat
from framework import Refused

NAME, RELEASE, FRAMEWORK = "areal", "1.0.4", "AReaL"
ACTOR, SIZE = "actor.", 4  # responses of a group
LOSS, SCALE = "areal/utils/functional/functional.py:", "; areal/engine/fsdp_engine.py:2120-2121, areal/engine/core/train_engine.py:48-60"

HEAD = """The actor and the FSDP engine's `train_batch` ran as they are, in one process and in two with FSDP2 of torch. Replaced are the
model, the clip of the gradient's norm and the optimiser. AReaL decides itself which responses a micro-batch holds; ranks hold whole groups.
Megatron, sequence parallelism and tree training were not run."""


# ---- what is compared

def setting(name, config, where, expected="whole batch", **more):
    config = {ACTOR + option: x for option, x in config.items()}
    return {"name": name, "config": {ACTOR + "ppo_n_minibatches": 1, ACTOR + "kl_ctl": 0.0, **config}, "where": where, "expected": expected,
            "own": True, **more}


def kept_by_m2po(batch, threshold=0.01):
    """The mask that M2PO leaves of a micro-batch: without the tokens of the largest squares, until the mean square of the rest is small."""
    squares = lambda i, t: (batch["logp_rollout"][i][t] - batch["logp_old"][i][t]) ** 2
    mask = batch.get("mask") or [[True] * n for n in batch["length"]]
    kept = sorted((squares(i, t), i, t) for i, row in enumerate(mask) for t, counts in enumerate(row) if counts)
    dropped = []
    while len(kept) > 1 and sum(x for x, _, _ in kept) / len(kept) >= threshold:
        dropped.append(kept.pop())
    if dropped and kept[-1][0] == dropped[-1][0]:
        raise Refused("of tokens with equal squares the order of a sort decides which are dropped")
    kept = {(i, t) for _, i, t in kept}
    return {"mask": [[(i, t) in kept for t in range(n)] for i, n in enumerate(batch["length"])]}


NORM = {"reward_norm.mean_level": "group", "reward_norm.std_level": "group", "reward_norm.group_size": SIZE}
WHOLE = {"adv_norm.mean_level": "batch", "adv_norm.std_level": "batch", "adv_norm.eps": 1e-13}
REJECTION = {"rejection_sampling.metric": "ratio", "rejection_sampling.upper": 1.2, "rejection_sampling.level": "token",
             "use_decoupled_loss": True}
SETTINGS = [
    setting("grpo", NORM, LOSS + "483, 542" + SCALE),
    setting("max_tokens_per_mb", {**NORM, "mb_spec.max_tokens_per_mb": 14}, LOSS + "483, 542" + SCALE),
    setting("packing_algorithm kk", {**NORM, "mb_spec.packing_algorithm": "kk"}, LOSS + "483, 542" + SCALE),
    setting("adv_norm of the batch", {**NORM, **WHOLE}, "areal/utils/data.py:1524-1526, 1584-1586; " + LOSS + "483, 542" + SCALE),
    setting("reward_norm of the batch", {"reward_norm.mean_level": "batch", "reward_norm.std_level": "batch"},
            "areal/utils/data.py:1524-1526, 1584-1586; " + LOSS + "483, 542" + SCALE),
    setting("importance_sampling_level sequence", {**NORM, "importance_sampling_level": "sequence"}, LOSS + "483, 542" + SCALE),
    setting("use_sapo_loss", {**NORM, "use_sapo_loss": True}, LOSS + "592, 623" + SCALE),
    setting("c_clip", {**NORM, "c_clip": 3.0}, LOSS + "483, 542" + SCALE),
    setting("use_decoupled_loss", {**NORM, "use_decoupled_loss": True}, LOSS + "483, 542" + SCALE),
    setting("rejection_sampling", {**NORM, **REJECTION}, LOSS + "479-483, 542" + SCALE),
    setting("ppo_n_minibatches", {**NORM, "ppo_n_minibatches": 2, "mb_spec.n_mbs": 1}, "areal/trainer/ppo/actor.py:336-364" + SCALE,
            window=1),
    setting("m2_threshold", {**NORM, "use_decoupled_loss": True, "m2_threshold": 0.01},
            "areal/trainer/ppo/actor.py:447-448, 790-809; " + LOSS + "483, 542" + SCALE, "by tokens",
            fields={}, arrays=kept_by_m2po, distinct=True,
            note="the mask is chosen in each micro-batch; an open issue, AReaL #1730"),
]
PLANTED = [("grpo", "areal/engine/fsdp_engine.py",
            "local_weight / total_loss_weight * loss_multiplier", "local_weight / total_loss_weight", "over ranks")]


# ---- the framework in a rank

@functools.cache
def parts():
    """The engine's methods and AReaL's splitting."""
    import run_areal
    from running import classes_of, functions_of
    import areal_adapter as adapter
    from stand_ins import module_stand_in
    import dataclasses
    import sys
    module_stand_in("numba", njit=lambda function: function)
    root = os.path.join(os.path.dirname(adapter.areal.__file__), os.pardir, os.pardir)
    from areal.utils import data
    del sys.modules["areal.utils.seqpack"]
    seqpack = importlib.import_module("areal.utils.seqpack")
    specification = classes_of(os.path.join(root, "api", "cli_args.py"), ("MicroBatchSpec",), PACKING_ALGORITHMS=seqpack.PACKING_ALGORITHMS)
    data.seqpack, data.get_allocate_fn, data.MicroBatchSpec = seqpack, seqpack.get_allocate_fn, specification.MicroBatchSpec
    data.logger = adapter.areal.logger = types.SimpleNamespace(**dict.fromkeys(("info", "warning", "warning_once"), lambda *_: None))
    adapter.areal.MicroBatchSpec = specification.MicroBatchSpec
    file = os.path.join(root, "engine", "fsdp_engine.py")
    context = classes_of(file, ("FSDPTrainContext",), dataclasses=dataclasses, TrieNode=object).FSDPTrainContext
    no = lambda *_: False
    total = functions_of(os.path.join(root, "engine", "core", "train_engine.py"), ("compute_total_loss_weight",), **vars(torch_names()))
    names = ("train_batch", "forward_backward_batch", "_prepare_mb_list", "_prepare_mb_inputs", "_compute_logprobs_and_loss",
             "_normalize_batch_input")
    from contextlib import nullcontext
    methods = functions_of(
        file, names, inside="FSDPEngine", FSDPTrainContext=context, compute_total_loss_weight=total.compute_total_loss_weight,
        is_qwen_vl_model=no, is_qwen3_moe_model=no, is_qwen3_vl_model=no, is_qwen3_5_model=no, trace_scope=lambda *_: nullcontext(),
        _prepare_multimodal_forward_inputs=no, _drop_multimodal_payloads=no, Any=object, **vars(torch_names()),
        **{name: getattr(data, name) for name in ("amend_position_ids", "split_padded_tensor_dict_into_mb_list", "pack_tensor_dict",
                                                   "pad_mb_list", "unsqueeze_mb_list")})
    return types.SimpleNamespace(methods=methods, adapter=adapter, run=run_areal, Spec=specification.MicroBatchSpec)


def torch_names():
    import torch
    return types.SimpleNamespace(torch=torch, dist=torch.distributed)


def engine_of(table, kept, spec):
    """AReaL's engine with the table as its model."""
    import torch
    methods, seen = parts().methods, []
    logger = types.SimpleNamespace(info=lambda *_: None)

    class Model:
        def __call__(self, input_ids, **_):
            tokens = torch.roll(input_ids, -1, -1).clamp(min=0)  # the number of the next token
            return types.SimpleNamespace(logits=torch.stack(self.table(tokens), -1))

    class Engine:
        enable_tree_training, device, dp_group, data_parallel_group, optimizer_zero_grad = False, "cpu", None, None, kept.zero_grad
        parallel_helper = types.SimpleNamespace(dp_size=torch.distributed.get_world_size(), sp_size=1, tp_size=1)
        config = types.SimpleNamespace(mb_spec=spec, pad_to_maximum=False, is_critic=False, temperature=1.0)
        model_config, model = types.SimpleNamespace(model_type="table"), Model()
        _ensure_ready = train = lambda self: None
        get_version = lambda self: 0
        _get_vocab_min_max_logits = lambda self, logits, _: (logits[..., 0], logits[..., 0])
        _compute_logprobs_entropy = lambda self, logits, inputs, _: (logits[..., 0], logits[..., 1])

        def optimizer_step(self):
            kept.step()
            return {}
    Model.table, Engine.logger = table, logger
    for name, method in vars(methods).items():
        setattr(Engine, name, staticmethod(method) if name == "_normalize_batch_input" else method)
    whole = Engine._prepare_mb_list

    def prepared(self, given):
        mb_list = whole(self, given)
        seen.extend([int(mb["number"][start]) for start in mb["cu_seqlens"][:-1]] for mb in mb_list.mbs)
        return mb_list
    Engine._prepare_mb_list = prepared
    return Engine(), seen


def checked(config, batch, parts_of_ranks):
    """AReaL gives groups to ranks: a trajectory is what a prompt got. A rank without tokens that count leaves the normalisation before its
    reduction over ranks (areal/utils/data.py:1404-1406): the others then wait for it without end, which was seen, and is not run here."""
    counted = [sum(x for i in flat(own) for x in batch["mask"][i]) for own in parts_of_ranks]
    if config.get(ACTOR + "adv_norm.mean_level") == "batch" and 0 in counted:
        raise Refused("the ranks wait for one in which nothing counts, without end: areal/utils/data.py:1404-1406")
    groups = [{batch["group"][i] for i in flat(own)} for own in parts_of_ranks]
    if sum(map(len, groups)) > len(set(batch["group"])):
        raise Refused("a rank has whole groups")


def of_rank(config, batch, parts_of_ranks, rank):
    """What the optimiser of the rank sees."""
    checked(config, batch, parts_of_ranks)
    p, torch = parts(), cut_fsdp.start()
    from running import torch_batch
    specification = {option[len("actor.mb_spec."):]: x for option, x in config.items() if option.startswith("actor.mb_spec.")}
    count = 1 if "max_tokens_per_mb" in specification else max(map(len, parts_of_ranks))
    c = p.run.actor_config({option: x for option, x in config.items() if not option.startswith("actor.mb_spec.")})
    table = cut_fsdp.model_of(batch)
    kept = cut_fsdp.Kept(table)
    own = sorted(flat(parts_of_ranks[rank]))
    with mock.patch.object(torch.Tensor, "float", torch.Tensor.double), mock.patch.object(torch, "float32", torch.float64), \
            mock.patch.object(p.adapter.areal, "MicroBatchSpec", lambda n_mbs: p.Spec(n_mbs=n_mbs)):
        rows = {key: [x[i] for i in own] for key, x in batch.items()}
        b = torch_batch({**rows, "group": [g - rows["group"][0] for g in rows["group"]]})
        engine, seen = engine_of(table, kept, p.Spec(**{"n_mbs": count, **specification}))
        actor = p.adapter.areal.PPOActor(c, engine)
        data = p.run.data_of(c, b, config)
        data["input_ids"] = torch.tensor([[0] + row + [0] * (b.logp.shape[1] - len(row)) for row in
                                          (cut_fsdp.numbers(batch)[i] for i in own)])
        data = actor._compute_advantages(data)
        data["number"] = data["attention_mask"] * torch.tensor(own)[:, None]
        actor._ppo_update(data)
    return kept.answer(batch, seen)


def gradient(config, batch, parts_of_ranks):
    return cut_fsdp.gathered(cut_ranks.run(__name__, config, batch, parts_of_ranks))
