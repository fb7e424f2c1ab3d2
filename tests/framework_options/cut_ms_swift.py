"""ms-swift's GRPOTrainer (written for ms-swift 4.6.0), with a batch cut into micro-batches and ranks: the gradient that the optimiser sees.

What runs is train() of transformers with ms-swift's trainer: its _prepare_inputs with the buffer of a generation, _prepare_batch_inputs,
which counts the tokens over ranks, compute_loss with all that it calls, TRL's sampler and training_step, accumulation, and
DistributedDataParallel over gloo. Replaced are the model (a table with the log-probability of every token), the trainer's __init__ (which
loads templates and engines), encoding and collation, generation and its division into micro-batches (equal slices, in the order that the
cut asks for), and the update (a rate of 0; gradients are read where the optimiser is called). Advantages are those of the trainer's own
method for the whole batch. float64 throughout.

ms-swift asks for trl < 1.0 and transformers < 5.20, which leave `loss_is_scaled_for_ga` at None; TRL 1.16.0 sets it, so it is None here.
"""
import contextlib
import functools
import os
import types
import typing

import cut_fsdp
import cut_ranks
from cut_trl import highest_entropies, layout
from framework import Refused

NAME, FRAMEWORK, RELEASE = "ms_swift", "ms-swift", "4.6.0"
HEAD = """`train()` ran with ms-swift's own buffer of a generation, counts of tokens, loss and accumulation, in one process and in two with
DistributedDataParallel; on transformers 5.23.0 and TRL 1.16.0, newer than those that ms-swift asks for, with TRL's `loss_is_scaled_for_ga`
taken back to None, as there. Replaced are the model, the trainer's `__init__`, templates and collation, generation, and the division of a
generation into equal slices (`swift/rlhf_trainers/rollout_mixin.py:308-318`). With dapo, cispo and fipo the gradient is NaN if no token of
a generation counts (`swift/rlhf_trainers/grpo_trainer.py:1128`). With `padding_free`, `sequence_parallel_size` or `use_liger_kernel` its
own collation, packing, splitting and gathering ran around a model without attention, and the trainer's division of a generation; a
sequence is split as a ring where the model has fewer heads than `sequence_parallel_size`, in place of whose division another was run
(below). Where no token of a micro-batch counts (without `padding_free`: of a response), one logit too few is kept, an error
(`swift/rlhf_trainers/utils.py:2238`). Megatron, and rollouts with a variable number of samples, were not run."""


# ---- what is run

FILE = "swift/rlhf_trainers/grpo_trainer.py"
MEAN, TOKENS = FILE + ":{}, transformers/trainer.py:2111", FILE + ":799-801, 1126-1132, 1228-1241"


def setting(name, config, where, expected="whole batch", **more):
    return {"name": name, "config": {"num_iterations": 2, **config}, "where": where, "expected": expected, **more}


def several(name, config, where, expected):
    return setting(name + ", two optimiser steps of a generation", {**config, "gradient_accumulation_steps": 2, "steps_per_generation": 4,
                                                                     "num_iterations": 1}, where, expected, window=2, generation=4)


def each(name, config, where, expected):
    return setting(name + ", a generation for each micro-batch", {**config, "steps_per_generation": 1, "num_iterations": 1}, where,
                   expected, generation=1)


def incomplete(name, config, where, expected):
    return setting(name + ", the last accumulation incomplete",
                   {**config, "gradient_accumulation_steps": 3, "steps_per_generation": 4, "num_iterations": 1}, where, expected,
                   window=3, generation=4)


def loss(kind, **more):
    return {"loss_type": kind, "beta": 0.0, **more}


WHOLE = ("padding_free", "sequence_parallel_size", "use_liger_kernel")  # where the trainer makes log-probabilities or the loss of logits
HEADS = "num_key_value_heads"  # of the model: with fewer than ranks a sequence is a ring
FREE, SPLIT, RING = {"padding_free": True}, {"sequence_parallel_size": 2}, {HEADS: 1}
MULTIPLE = "rows padded to a multiple of"  # no option: what the rows that the collator makes happen to be
EVEN = {MULTIPLE: 2}
LIGER, LIGER_TOKENS = {"use_liger_kernel": True}, "; liger_kernel/chunked_loss/fused_linear_ppo.py:462-496"
KNOWN = "the tokens of the generation are not passed to Liger; TRL's was the same (Liger-Kernel #1082, TRL #5890)"
GATHER, LIGER_AT = "; swift/sequence_parallel/utils.py:30-62", FILE + ":1775-1806"

SETTINGS = [
    setting("grpo, the default", {"loss_type": "grpo"}, MEAN.format("1082-1084")),
    several("grpo", loss("grpo"), MEAN.format("1082-1084"), "whole batch"),
    incomplete("grpo", loss("grpo"), MEAN.format("1082-1084"), "whole batch"),
    setting("grpo, a ratio per response (GSPO)", loss("grpo", importance_sampling_level="sequence"), MEAN.format("1082-1084")),
    setting("sapo", loss("sapo"), MEAN.format("1082-1084")),
    setting("bnpo", loss("bnpo"), MEAN.format("1085-1086"), "mean of means"),
    setting("dr_grpo", loss("dr_grpo"), MEAN.format("1087-1089")),
    setting("dapo", loss("dapo"), TOKENS),
    setting("dapo with a KL", loss("dapo", beta=0.1), TOKENS),
    several("dapo", loss("dapo"), TOKENS, "tokens of the generation"),
    each("dapo", loss("dapo"), TOKENS, "tokens of the generation"),
    incomplete("dapo", loss("dapo"), TOKENS, "tokens of the generation"),
    setting("cispo", loss("cispo", epsilon_high=5.0), TOKENS),
    setting("dapo, top_entropy_quantile", loss("dapo", top_entropy_quantile=0.5), FILE + ":959-962, 1061-1062", "by tokens",
            arrays=highest_entropies),
    setting("grpo, padding_free", loss("grpo", **FREE), MEAN.format("1564-1608, 1635-1668")),
    setting("dapo, padding_free", loss("dapo", **FREE), TOKENS + "; " + FILE + ":1564-1608, 1635-1668"),
    setting("grpo, sequence_parallel_size", loss("grpo", **SPLIT, **EVEN), MEAN.format("152-153, 1470-1562") + GATHER, plain=True),
    setting("dapo, sequence_parallel_size", loss("dapo", **SPLIT, **EVEN), TOKENS + "; " + FILE + ":152-153, 1470-1562" + GATHER,
            plain=True),
    setting("dapo, sequence_parallel_size, rows of any width", loss("dapo", **SPLIT),
            FILE + ":1558; swift/sequence_parallel/sequence_parallel.py:397-411", "first tokens lost", plain=True,
            note="a row whose width `sequence_parallel_size` does not divide is padded; a token then has a later one's log-probability"),
    setting("dapo, sequence_parallel_size, padding_free", loss("dapo", **SPLIT, **FREE), TOKENS + "; " + FILE + ":1470-1562" + GATHER),
    setting("dapo, sequence_parallel_size as a ring", loss("dapo", **SPLIT, **FREE, **RING), TOKENS + "; " + FILE + ":1470-1562" + GATHER),
    setting("grpo, use_liger_kernel", loss("grpo", **LIGER), LIGER_AT, plain=True, tolerance=1e-5),
    setting("dapo, use_liger_kernel", loss("dapo", **LIGER), LIGER_AT + LIGER_TOKENS, "mean of slices", plain=True, tolerance=1e-5,
            note=KNOWN),
    setting("cispo, use_liger_kernel", loss("cispo", epsilon_high=5.0, **LIGER), LIGER_AT + LIGER_TOKENS, "mean of slices", plain=True,
            tolerance=1e-5, note=KNOWN),
]
PLANTED = [("dapo", "swift/rlhf_trainers/grpo_trainer.py",
            "grpo_batch.num_items_in_batch / self.accelerator.num_processes", "grpo_batch.num_items_in_batch", "over ranks"),
           ("dapo, sequence_parallel_size, padding_free", "swift/sequence_parallel/utils.py",
            "_grad = grad_output[0] * sequence_parallel.world_size", "_grad = grad_output[0]", None)]


# ---- by the framework's own code, in a process for each rank

def module_of(torch, tables):
    class Tables(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.dlogp = torch.nn.Parameter(tables.logp.clone())

        def forward(self, rows, width):
            return (self.dlogp if torch.is_grad_enabled() else tables.logp_old)[rows, :width]

    return Tables()


def logits_module_of(torch, batch, tables, name="logp"):
    """A model with logits, of which log-probabilities are those of a table; a head that does nothing, for Liger."""
    from transformers.modeling_outputs import CausalLMOutput

    class Body(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.dlogp = torch.nn.Parameter(tables[name].clone())

        def forward(self, input_ids, **_):
            found = self.dlogp if torch.is_grad_enabled() or name != "logp" else tables["logp_old"]
            at = torch.cat([row[:n] for row, n in zip(found, batch["length"])])
            return types.SimpleNamespace(last_hidden_state=cut_fsdp.logits_of(batch, at, input_ids))

    class Whole(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model, self.lm_head = Body(), torch.nn.Linear(cut_fsdp.SIZE, cut_fsdp.SIZE, bias=False)
            self.lm_head.weight = torch.nn.Parameter(torch.eye(cut_fsdp.SIZE), requires_grad=False)

        def forward(self, input_ids, **_):
            return CausalLMOutput(logits=self.model(input_ids).last_hidden_state)
    return Whole()


@functools.cache
def own():
    """What the adapter has stand-ins for: collation, padding-free rows, sequence parallelism."""
    import importlib
    import swift
    import torch
    from running import classes_of, functions_of
    from stand_ins import module_stand_in, names_stand_in
    folder = functools.partial(os.path.join, swift.__path__[0])
    module_stand_in("swift.sequence_parallel", __path__=[folder("sequence_parallel")])
    names_stand_in("swift.dataloader")
    parallel = importlib.import_module("swift.sequence_parallel.utils")
    from swift.utils import get_cu_seqlens_from_position_ids, to_device

    class Batch:
        old_per_token_logps = ref_per_token_logps = rollout_per_token_logps = teacher_per_token_logps = advantages = None

        def __init__(self, **given):
            vars(self).update(given)
    utils = functions_of(folder("rlhf_trainers", "utils.py"), (
        "collate_to_grpo_micro_batch", "build_completion_mask_and_seq_lengths", "pad_logps_back_to_batch", "build_rollout_logps",
        "build_routed_experts_batch"), torch=torch, F=torch.nn.functional, GRPOBatch=Batch, Template=object, List=list,
        Optional=typing.Optional, pad_sequence=torch.nn.utils.rnn.pad_sequence, to_device=to_device)
    forward = classes_of(folder("rlhf_trainers", "utils.py"), ("_ForwardRedirection",), nn=torch.nn)._ForwardRedirection
    mixin = functions_of(folder("rlhf_trainers", "rollout_mixin.py"), ("split_by_mini_batches",), dist=torch.distributed,
                         sequence_parallel=parallel.sequence_parallel, to_device=to_device)
    steps = functions_of(folder("rlhf_trainers", "base_rollout_mixin.py"), ("_split_data_by_steps",))
    from swift.rlhf_trainers import grpo_trainer as module
    module.GatherLoss, module.sequence_parallel = parallel.GatherLoss, parallel.sequence_parallel
    module.pad_logps_back_to_batch, module._ForwardRedirection = utils.pad_logps_back_to_batch, forward
    module.get_cu_seqlens_from_position_ids = get_cu_seqlens_from_position_ids
    return types.SimpleNamespace(collate=utils.collate_to_grpo_micro_batch, split=mixin.split_by_mini_batches,
                                 by_steps=steps._split_data_by_steps, parallel=parallel.sequence_parallel)


class Template:
    """Rows of a prompt of one token and a response, padded at the right end or one after the other."""
    padding_side, pad = "right", -100

    def __init__(self, torch, batch, config):
        self.torch, self.padding_free, self.multiple = torch, config.get("padding_free", False), config.get(MULTIPLE, 1)
        self.sequence_parallel_size = config.get("sequence_parallel_size", 1)
        mask = batch.get("mask") or [[True] * n for n in batch["length"]]
        self.rows = [([first] + row, [-100] + [x if counts else -100 for x, counts in zip(row, counted)])
                     for first, row, counted in zip(cut_fsdp.first_tokens(batch), cut_fsdp.numbers(batch), mask)]

    def data_collator(self, encoded, padding_to=None):
        rows = [self.rows[x["row"]] for x in encoded]
        places = [list(range(len(ids))) for ids, _ in rows]
        if self.padding_free:
            return {"input_ids": self.tensor([sum((ids for ids, _ in rows), [])]), "labels": self.tensor([sum((x for _, x in rows), [])]),
                    "position_ids": self.tensor([sum(places, [])])}
        width = max(3, *map(len, places))  # see collated of trainer_class
        width += -width % self.multiple
        filled = lambda row, x: row + [x] * (width - len(row))
        return {"input_ids": self.tensor([filled(ids, 0) for ids, _ in rows]), "labels": self.tensor([filled(x, -100) for _, x in rows]),
                "position_ids": self.tensor([list(range(width)) for _ in rows]),
                "attention_mask": self.tensor([filled([1] * len(x), 0) for x in places])}

    def tensor(self, rows):
        return self.torch.tensor(rows)


def whole_class(torch, kind, module, b, batch, config, advantage):
    """The trainer class with its own way from a micro-batch to log-probabilities; all of its SP group's responses are of one rank."""
    o, size = own(), config.get("sequence_parallel_size", 1)
    module.encode_sample = lambda sample, template: {"row": sample.row}
    each = [next((a for a, counts in zip(row.tolist(), counted.tolist()) if counts), 0.0) for row, counted in zip(advantage, b.mask)]

    def collated(samples, template, **how):
        found, made = o.collate(samples, template, **how)
        made.advantages = torch.tensor([each[s.row] for s in samples])[:, None].expand(made.completion_mask.shape)
        return found, made
    module.collate_to_grpo_micro_batch = collated
    parallel = o.parallel
    parallel.num_heads, parallel.padding_free, parallel.world_size = config.get(HEADS, 2), config.get("padding_free", False), size
    parallel.tokenizer = types.SimpleNamespace(pad_token_id=0)
    parallel._init_device_mesh()

    def by_ring(self, samples):
        """In place of its own, which flattens what it gathers once too little and ends in an error (rollout_mixin.py:323-327)."""
        found = [None] * size
        torch.distributed.all_gather_object(found, samples, group=parallel.rp_group)
        return o.by_steps([s for x in found for s in x], self.args.steps_per_generation * size)

    class Given(kind):
        model_kwarg_keys = ()
        _get_per_token_logps_and_entropies = module.GRPOTrainer._get_per_token_logps_and_entropies
        _get_train_sampler = module.GRPOTrainer._get_train_sampler
        _split_data_by_steps = staticmethod(o.by_steps)
        split_by_mini_batches = by_ring if parallel.rp_world_size > 1 else o.split

        def __init__(self, args, model=None, **given):
            super().__init__(args, model=model, **given)
            self.template, self.temperature, self.processing_class = Template(torch, batch, config), 1.0, parallel.tokenizer
            self.shuffle_dataset = False
            if size > 1:
                parallel._prepare_forward_hook(model)
                args.gradient_accumulation_steps = args.gradient_accumulation_steps * size  # as its __init__ does
            if args.beta:
                self.ref_model = logits_module_of(torch, batch, vars(b), "logp_ref")
            args.use_liger_kernel = config.get("use_liger_kernel", False)
            self._prepare_liger_loss()
            args.use_liger_kernel = False  # of transformers, which would replace layers
    return Given


def trainer_class(torch, transformers, package, module, b, generations, advantage):
    """generations: what this rank generates, each a list of micro-batches."""
    module.encode_sample = lambda sample, template: {}
    module.build_opsd_samples = lambda batch: None
    module.should_compute_local_teacher_logps = lambda **_: False
    module.disable_gradient_checkpointing = lambda *_: contextlib.nullcontext()

    def collated(samples, template, device, use_logits_to_keep):
        rows = torch.tensor([s.row for s in samples])
        width = max(2, *(b.length[i] for i in rows.tolist()))  # a width of 1 is taken for values per response, in metrics
        return {"input_ids": rows}, types.SimpleNamespace(
            completion_mask=b.mask[rows, :width], truncated_mask=b.truncated[rows], seq_lengths=torch.tensor(b.length)[rows],
            advantages=advantage[rows, :width], rollout_per_token_logps=None, teacher_per_token_logps=None)
    module.collate_to_grpo_micro_batch = collated

    class Given(package.GRPOTrainer):
        loss_is_scaled_for_ga = None

        def __init__(self, args, **given):
            self.args, self.given = args, iter(generations)
            self._prepare_algorithm_params()
            transformers.Trainer.__init__(self, args=args, data_collator=lambda x: x, **given)
            self.template = types.SimpleNamespace(sequence_parallel_size=1, padding_free=False)
            self._template_context = lambda *_: contextlib.nullcontext()
            self.beta, self.max_completion_length, self.num_generations = args.beta, args.max_completion_length, args.num_generations
            self.ref_model = object() if args.beta else None
            self._step, self._buffered_inputs, self._current_train_step_time, self.eval_flag = 0, None, 0.0, False
            self._metrics, self._logs = {"train": module.defaultdict(list)}, module.defaultdict(list)
            self.dynamic_num_samples = self.is_multimodal = self._has_teacher = self.use_teacher_api = self.use_liger_loss = False
            self._is_dynamic_self_distillation = self.disable_rollout_importance_sampling = False
            self.compute_entropy = args.top_entropy_quantile < 1
            self.log_completions = False
            self._has_teacher_explicit, self.chord_sft_iterator, self.model_accepts_loss_kwargs = (lambda: False), None, False

        def _generate_and_score_completions(self, inputs):
            self.parts = next(self.given)
            samples = [types.SimpleNamespace(row=i, rollout_infos=None, rollout_logprobs=None, is_truncated=bool(b.truncated[i]))
                       for part in self.parts for i in part]
            return self._prepare_batch_inputs(samples)

        def split_by_mini_batches(self, samples):
            samples = iter(samples)
            return [[next(samples) for _ in part] for part in self.parts]

        def _get_per_token_logps_and_entropies(self, model, model_inputs, batch, **_):
            rows, width = model_inputs["input_ids"], batch.completion_mask.shape[1]
            entropy = b.entropy.detach()[rows, :width].clone() if self.compute_entropy else None
            return (b.logp_ref[rows, :width] if model is self.ref_model else model(rows, width)), entropy

    return Given


def arguments_of(transformers, package, config, window, of_generation, size, ranks, steps):
    """TrainingArguments of transformers with the options of ms-swift beside them."""
    a = package.arguments(**config)
    args = transformers.TrainingArguments(
        output_dir="none", use_cpu=True, bf16=False, report_to=[], logging_strategy="no", save_strategy="no", optim="sgd",
        learning_rate=0.0, max_grad_norm=0.0, num_train_epochs=1, max_steps=steps, remove_unused_columns=False,
        gradient_accumulation_steps=window, per_device_train_batch_size=size)
    for name, value in vars(a).items():
        if not hasattr(type(args), name) and name not in vars(args):
            object.__setattr__(args, name, value)
    for name, value in (("steps_per_generation", of_generation), ("generation_batch_size", of_generation * size * ranks),
                        ("num_generations", 4), ("dataset_shuffle", False), ("async_generate", False)):
        object.__setattr__(args, name, value)
    return a, args


def shared(parts, size):
    """The micro-batches that each rank generates where so many ranks have one rank's."""
    if any(len(own) % size for own in parts):
        raise Refused("of the micro-batches of a rank each of those that share them generates as many")
    return [own[k:k + len(own) // size] for own in parts for k in range(0, len(own), len(own) // size)]


def of_rank(config, batch, parts, rank):
    import datasets
    import torch
    import transformers
    torch.set_default_dtype(torch.float64)
    import ms_swift as package
    from running import torch_batch
    from swift.rlhf_trainers import grpo_trainer as module
    window, of_generation, size, rows = layout(batch, config, parts)
    b = torch_batch(batch)
    count, sharing, whole = len(parts[0]), config.get("sequence_parallel_size", 1), bool({*WHOLE} & {*config})
    given = {k: x for k, x in config.items() if "steps" not in k and k not in (*WHOLE, HEADS, MULTIPLE)}
    a, args = arguments_of(transformers, package, given, window // sharing, of_generation // sharing, size,
                           len(parts) * sharing, -(-count // window) if config["num_iterations"] > 1 else -1)
    advantage = package.advantages(package.trainer(a, b, 4), b)
    mine = shared(parts, sharing)[rank]
    generations = [mine[k:k + of_generation // sharing] for k in range(0, len(mine), of_generation // sharing)]
    seen, prompts = [], [str(i) for chunks in rows for chunk in chunks for i in chunk][::4]

    class Reading(transformers.TrainerCallback):
        def on_pre_optimizer_step(self, args, state, control, model=None, **_):
            seen.append((model.model if whole else model).dlogp.grad.clone())
    kind = trainer_class(torch, transformers, package, module, b, generations, advantage)
    kind = whole_class(torch, kind, module, b, batch, config, advantage) if whole else kind
    model = logits_module_of(torch, batch, vars(b)) if whole else module_of(torch, b)
    kind(args, model=model, train_dataset=datasets.Dataset.from_dict({"prompt": prompts}), callbacks=[Reading()]).train()
    return [row[:n].tolist() for row, n in zip(sum(seen), batch["length"])]


def gradient(config, batch, parts):
    layout(batch, config, parts)
    sharing = config.get("sequence_parallel_size", 1)
    shared(parts, sharing)
    if config.get("padding_free") and not all(any(any(batch["mask"][i]) for i in part) for own in parts for part in own):
        raise Refused("no token of a micro-batch counts: it keeps one logit too few, an error (swift/rlhf_trainers/utils.py:2238)")
    found = cut_ranks.run("cut_ms_swift", config, batch, parts, sharing)
    if any(x != x for row in found[0] for x in row):
        raise Refused("the gradient is NaN: no token of a generation counts (swift/rlhf_trainers/grpo_trainer.py:1128)")
    assert all(x == found[0] for x in found), "the ranks see different gradients"
    return found[0]
