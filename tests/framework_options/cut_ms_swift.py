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
import types

import cut_ranks
from cut_trl import layout
from framework import Refused

NAME, FRAMEWORK, RELEASE = "ms_swift", "ms-swift", "4.6.0"
HEAD = """`train()` ran with ms-swift's own buffer of a generation, counts of tokens, loss and accumulation, in one process and in two with
DistributedDataParallel; on transformers 5.23.0 and TRL 1.16.0, newer than those that ms-swift asks for, with TRL's
`loss_is_scaled_for_ga` taken back to None, as there. Replaced are the model, the trainer's `__init__`, templates and collation, generation,
and the division of a generation into equal slices (`swift/rlhf_trainers/rollout_mixin.py:308-318`). With dapo, cispo and fipo the gradient
is NaN if no token of a generation counts (`swift/rlhf_trainers/grpo_trainer.py:1128`). Sequence parallelism, padding-free
batches, Megatron, and rollouts with a variable number of samples were not run."""


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
]


# ---- by the framework's own code, in a process for each rank

def module_of(torch, tables):
    class Tables(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.dlogp = torch.nn.Parameter(tables.logp.clone())

        def forward(self, rows, width):
            return (self.dlogp if torch.is_grad_enabled() else tables.logp_old)[rows, :width]

    return Tables()


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
            self._is_dynamic_self_distillation = self.compute_entropy = self.disable_rollout_importance_sampling = False
            self.log_completions = False
            self._has_teacher_explicit, self.chord_sft_iterator, self.model_accepts_loss_kwargs = (lambda: False), None, False

        def _generate_and_score_completions(self, inputs):
            self.parts = next(self.given)
            samples = [types.SimpleNamespace(row=i, rollout_infos=None) for part in self.parts for i in part]
            return self._prepare_batch_inputs(samples)

        def split_by_mini_batches(self, samples):
            samples = iter(samples)
            return [[next(samples) for _ in part] for part in self.parts]

        def _get_per_token_logps_and_entropies(self, model, model_inputs, batch, **_):
            rows, width = model_inputs["input_ids"], batch.completion_mask.shape[1]
            return (b.logp_ref[rows, :width] if model is self.ref_model else model(rows, width)), None

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
    count = len(parts[0])
    a, args = arguments_of(transformers, package, {k: x for k, x in config.items() if "steps" not in k}, window, of_generation, size,
                           len(parts), -(-count // window) if config["num_iterations"] > 1 else -1)
    advantage = package.advantages(package.trainer(a, b, 4), b)
    generations = [parts[rank][k:k + of_generation] for k in range(0, count, of_generation)]
    seen, prompts = [], [str(i) for chunks in rows for chunk in chunks for i in chunk][::4]

    class Reading(transformers.TrainerCallback):
        def on_pre_optimizer_step(self, args, state, control, model=None, **_):
            seen.append(model.dlogp.grad.clone())
    kind = trainer_class(torch, transformers, package, module, b, generations, advantage)
    kind(args, model=module_of(torch, b), train_dataset=datasets.Dataset.from_dict({"prompt": prompts}), callbacks=[Reading()]).train()
    return [row[:n].tolist() for row, n in zip(sum(seen), batch["length"])]


def gradient(config, batch, parts):
    layout(batch, config, parts)
    found = cut_ranks.run("cut_ms_swift", config, batch, parts)
    if any(x != x for row in found[0] for x in row):
        raise Refused("the gradient is NaN: no token of a generation counts (swift/rlhf_trainers/grpo_trainer.py:1128)")
    assert all(x == found[0] for x in found), "the ranks see different gradients"
    return found[0]
