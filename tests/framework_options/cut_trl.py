"""TRL's GRPOTrainer, RLOOTrainer and SDPOTrainer (written for trl 1.16.0, transformers 5.23.0, accelerate 1.15.0), with a batch cut into
micro-batches and ranks: the gradient that the optimiser sees.

What runs is `train()` of the trainer, made by its own __init__: the sampler and the loader of each rank, rewards gathered over ranks,
advantages, the buffer of a generation and its division into micro-batches, the loss, accumulation, and DistributedDataParallel over gloo.
Replaced are: the model (a table with the log-probability of every token of every response, and no LM head: add_fused_lm_head), the
reference (another table), the tokenizer (a vocabulary of numbers), generation (rollout_func: the batch's responses), the shuffle within a
generation (the order that the cut asks for), and the update (a learning rate of 0; gradients are read where the optimiser is called).
Of SDPOTrainer the policy's loss runs, not that of the distillation (distillation_weight is 0): the teacher's prompts are left out, and the
model's table takes the place of logits. It does not shuffle within a generation; here it is in the order that the cut asks for.
float64 throughout, except with DeepSpeed, which calls the optimiser itself: there SGD with a rate of 1 shows the gradient, in float32.
"""
import contextlib
import inspect
import os
import sys
from unittest import mock

import cut_ranks
from framework import Refused

EOS, OTHER, FIRST = 1, 7, 10  # token ids; the prompt of response i is FIRST + i
HEAD = """`train()` of GRPOTrainer and RLOOTrainer ran as it is, and that of SDPOTrainer without its distillation (`distillation_weight` 0),
with transformers 5.23.0 and accelerate 1.15.0, in one process and in two with DistributedDataParallel. Replaced are the model, the
reference, the tokenizer, generation, and the random order within a generation. A micro-batch always has `per_device_train_batch_size`
responses, and an optimiser step `gradient_accumulation_steps` of them on each rank; without `steps_per_generation` a generation is one
optimiser step. `num_iterations` is 2 where the ratios are to be those of another policy; the first pass over the generation was compared.
`zero_stage` is with DeepSpeed 0.19.6 in float32, `fsdp_version` with FSDP2, both as accelerate prepares them, which was told that the CPUs
are GPUs. DeepSpeed's `gradient_clipping` is 0 here: left out it is 1.0, whatever `max_grad_norm` is
(`deepspeed/runtime/constants.py:261`). GRPOTrainer and RLOOTrainer of this release have no packing and no padding-free rows, refuse context
parallelism (`trl/trainer/grpo_config.py:1068-1076`), and `use_liger_kernel` no longer changes the loss
(`trl/trainer/grpo_trainer.py:1049-1064`)."""
GENERATIONS = 4
WIDTH = 8  # of prompts and responses; no response is longer
NAME, FRAMEWORK, RELEASE = "trl", "TRL", "1.16.0"


# ---- what is run

GRPO = "trl/trainer/grpo_trainer.py"
RLOO = "trl/trainer/rloo_trainer.py:1833, transformers/trainer.py:2111"
MEANS, TOKENS = GRPO + ":{}", GRPO + ":2498, 3168-3174"


def setting(name, config, where, expected="whole batch", **more):
    return {"name": name, "config": {"num_iterations": 2, **config}, "where": where, "expected": expected, **more}


def several(name, config, where, expected, **more):
    """Two optimiser steps of a generation."""
    return setting(name + ", two optimiser steps of a generation", {**config, "gradient_accumulation_steps": 2, "steps_per_generation": 4,
                                                                     "num_iterations": 1}, where, expected, window=2, generation=4, **more)


def each(name, config, where, expected, **more):
    """A generation for every micro-batch."""
    return setting(name + ", a generation for each micro-batch", {**config, "steps_per_generation": 1, "num_iterations": 1}, where,
                   expected, generation=1, on_policy=True, **more)


def incomplete(name, config, where, expected, **more):
    return setting(name + ", the last accumulation incomplete",
                   {**config, "gradient_accumulation_steps": 3, "steps_per_generation": 4, "num_iterations": 1}, where, expected,
                   window=3, generation=4, **more)


def grpo(loss, **more):
    return {"loss_type": loss, **more}


def highest_entropies(batch, share=0.5):
    """selected as TRL chooses it of what it is given: entropies that are at least their quantile."""
    import torch
    rows = [[(x, counts) for x, counts in zip(*pair)] for pair in zip(batch["entropy"], batch["mask"])]
    least = torch.quantile(torch.tensor([x for row in rows for x, counts in row if counts], dtype=torch.float32), 1 - share).item()
    return {"selected": [[counts and x >= least for x, counts in row] for row in rows]}


def sdpo(loss, **more):
    """Without its distillation."""
    return {"loss_type": loss, "distillation_weight": 0.0, "teacher_model_kind": "live", **more}


SHARE, SDPO = "share of the generation", "trl/experimental/sdpo/sdpo_trainer.py:1142-1143, {}"
DAPO, BNPO = grpo("dapo", epsilon_high=0.28), grpo("bnpo")
ENGINE = "; transformers/trainer.py:2115-2116, accelerate/utils/deepspeed.py:264-282"
FSDP = "; accelerate/accelerator.py:1166-1171"


def zero(stage):
    more = {"zero_stage": stage}
    return [setting(f"dapo, ZeRO {stage}", {**DAPO, **more}, TOKENS + ENGINE, tolerance=1e-5),
            incomplete(f"grpo, ZeRO {stage}", {**grpo("grpo"), **more}, MEANS.format("3153-3157") + ENGINE, "whole batch", tolerance=1e-5)]


def fsdp():
    more = {"fsdp_version": 2}
    return [setting("dapo, FSDP2", {**DAPO, **more}, TOKENS + FSDP),
            incomplete("grpo, FSDP2", {**grpo("grpo"), **more}, MEANS.format("3153-3157") + FSDP, "whole batch")]


SETTINGS = [
    setting("dapo, the default", DAPO, TOKENS),
    setting("dapo, every response used once", {**DAPO, "num_iterations": 1}, TOKENS, on_policy=True),
    setting("dapo with a KL", {**DAPO, "beta": 0.1}, TOKENS),
    setting("dapo, truncated responses masked", {**DAPO, "mask_truncated_completions": True}, TOKENS, silence="truncated"),
    several("dapo", DAPO, TOKENS, SHARE),
    each("dapo", DAPO, TOKENS, "mean of slices"),
    incomplete("dapo", DAPO, TOKENS, SHARE),
    setting("cispo", grpo("cispo", epsilon_high=5.0), TOKENS),
    setting("vespo", grpo("vespo"), TOKENS),
    setting("bnpo", BNPO, MEANS.format("3158-3162"), "mean of means"),
    several("bnpo", BNPO, MEANS.format("3158-3162"), "mean of means"),
    incomplete("bnpo", BNPO, MEANS.format("3158-3162"), "mean of means"),
    setting("grpo", grpo("grpo"), MEANS.format("3153-3157")),
    several("grpo", grpo("grpo"), MEANS.format("3153-3157"), "whole batch"),
    each("grpo", grpo("grpo"), MEANS.format("3153-3157"), "whole batch"),
    incomplete("grpo", grpo("grpo"), MEANS.format("3153-3157"), "whole batch"),
    setting("grpo, a ratio per response (GSPO)", grpo("grpo", importance_sampling_level="sequence", epsilon=3e-4, epsilon_high=4e-4),
            MEANS.format("3153-3157")),
    setting("grpo, truncated responses masked", grpo("grpo", mask_truncated_completions=True), MEANS.format("3153-3157"),
            silence="truncated"),
    setting("dr_grpo", grpo("dr_grpo"), MEANS.format("3163-3167")),
    setting("luspo", grpo("luspo", importance_sampling_level="sequence"), MEANS.format("3175-3182")),
    setting("sapo", grpo("sapo"), MEANS.format("3153-3157")),
    setting("dapo, its entropy bonus", {**DAPO, "entropy_coef": 0.1}, GRPO + ":3198-3201", "mean of means", of="dentropy"),
    setting("dapo, top_entropy_quantile", {**DAPO, "top_entropy_quantile": 0.5}, GRPO + ":1395-1413, 3049-3050", "slices by tokens",
            arrays=highest_entropies),
    setting("SDPOTrainer, dapo", sdpo("dapo"), SDPO.format("1174-1175"), "mean of means", plain=True),
    setting("SDPOTrainer, dapo, truncated responses masked", sdpo("dapo", mask_truncated_completions=True), SDPO.format("1174-1175"),
            "mean of means", plain=True, silence="truncated"),
    several("SDPOTrainer, dapo", sdpo("dapo"), SDPO.format("1174-1175"), "mean of means", plain=True),
    setting("SDPOTrainer, grpo", sdpo("grpo"), SDPO.format("1167-1169"), plain=True),
    setting("SDPOTrainer, dr_grpo", sdpo("dr_grpo", max_completion_length=20), SDPO.format("1172-1173"), plain=True),
    incomplete("RLOOTrainer, ZeRO 2", {"zero_stage": 2}, RLOO + ENGINE, "whole batch", data="trl_rloo", plain=True, tolerance=1e-5),
    *[x for stage in (1, 2, 3) for x in zero(stage)],
    *fsdp(),
    setting("RLOOTrainer", {}, RLOO, data="trl_rloo", plain=True),
    several("RLOOTrainer", {}, RLOO, "whole batch", data="trl_rloo", plain=True),
    incomplete("RLOOTrainer", {}, RLOO, "whole batch", data="trl_rloo", plain=True),
]
PLANTED = [("dapo, the default", "trl/trainer/grpo_trainer.py",
            '"].clamp(min=1.0) / self.accelerator.num_processes', '"].clamp(min=1.0)', "over ranks"),
           ("SDPOTrainer, dapo", "trl/experimental/sdpo/sdpo_trainer.py",
            "return loss / accumulation_scale", "return loss", "sum of means"),
           ("dapo, ZeRO 2", "transformers/trainer.py", 'kwargs["scale_wrt_gas"] = False', "pass", "over micro-batches")]
RLOO_CONFIGS = [s["config"] for s in SETTINGS if s.get("data") == "trl_rloo"]


# ---- the batch in the order of generation

def layout(batch, config, parts):
    """(micro-batches of an optimiser step, micro-batches of a generation, their size, for each generation and rank the responses as they
    are generated). Refused if TRL cannot cut like that."""
    counts, sizes = {len(rank) for rank in parts}, {len(part) for rank in parts for part in rank}
    if len(counts) > 1 or len(sizes) > 1:
        raise Refused("every micro-batch has per_device_train_batch_size responses, every rank as many micro-batches")
    count, size = counts.pop(), sizes.pop()
    window = config.get("gradient_accumulation_steps") or count
    of_generation = config.get("steps_per_generation") or window
    if config["num_iterations"] > 1 and count != of_generation:
        raise Refused("a generation is used again before the next")
    if count % of_generation or of_generation * size * len(parts) % GENERATIONS:
        raise Refused("a generation has whole groups")
    rows = []
    for g in range(0, count, of_generation):
        chunks = [sorted((i for part in rank[g:g + of_generation] for i in part), key=lambda i: (batch["group"][i], i)) for rank in parts]
        groups = [batch["group"][i] for chunk in chunks for i in chunk]
        if any(len(set(groups[k:k + GENERATIONS])) > 1 for k in range(0, len(groups), GENERATIONS)):
            raise Refused("the responses of a group are generated one after the other")
        rows.append(chunks)
    return window, of_generation, size, rows


# ---- by the framework's own code, in a process for each rank

def model_of(torch, transformers, batch, learns_entropy, float32):
    """A model whose parameters are the log-probabilities and entropies of all tokens. Without a gradient it gives the old ones. DeepSpeed
    has parameters of float32 only: these are what is added to the tables, zeros."""
    table = lambda name: torch.tensor([row + [-1.0] * (WIDTH - len(row)) for row in batch[name]], dtype=torch.float64)

    class Table(transformers.PreTrainedModel):
        config_class = transformers.PretrainedConfig

        def __init__(self, now, old):
            super().__init__(transformers.PretrainedConfig(name_or_path="table"))
            given = [table(now), table("entropy")]
            self.plus = given if float32 else [0, 0]
            given = [torch.zeros_like(x, dtype=torch.float32) for x in given] if float32 else given
            self.dlogp, self.dentropy = torch.nn.Parameter(given[0]), torch.nn.Parameter(given[1], learns_entropy)
            self.old = table(old)
            self.get_input_embeddings = self.get_output_embeddings = lambda: None
            self.generation_config = transformers.GenerationConfig(eos_token_id=EOS)

        def forward(self, input_ids, attention_mask=None, labels=None, fused_lm_head=True):
            assert input_ids.shape[1] == 2 * WIDTH
            rows = input_ids[:, WIDTH - 1] - FIRST  # the last token of the prompt
            of = lambda x: torch.cat([x.new_zeros(len(rows), WIDTH), x[rows]], 1)
            now, entropy = self.dlogp + self.plus[0], self.dentropy + self.plus[1]
            return transformers.utils.ModelOutput(log_probs=of(now if torch.is_grad_enabled() else self.old),
                                                  entropy=of(entropy if learns_entropy else entropy.detach()))

    return Table


def tokenizer_of(transformers):
    import tokenizers
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({str(i): i for i in range(64)}, unk_token="2"))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=words, pad_token="0", eos_token="1", unk_token="2")


class Generation:
    """The responses of a rank, a generation after the other, and the order in which they are then cut."""
    def __init__(self, batch, chunks, parts, of_generation):
        self.batch, self.chunks, self.parts, self.of_generation, self.at = batch, chunks, parts, of_generation, -1

    def rollout(self, prompts, trainer=None):
        self.at += 1
        chunk, batch = self.chunks[self.at], self.batch
        assert [int(p) for p in prompts] == [batch["group"][i] for i in chunk], "responses are not those of the prompts"
        ids = [[OTHER] * (batch["length"][i] - 1) + [OTHER if batch["truncated"][i] else EOS] for i in chunk]
        found = {"prompt_ids": [[FIRST + i] for i in chunk], "completion_ids": ids, "logprobs": None}
        return {**found, "env_mask": [[int(x) for x in batch["mask"][i]] for i in chunk]} if "mask" in batch else found

    def rewards(self, prompts, **_):
        return [float(self.batch["reward"][i]) for i in self.chunks[self.at]]

    def shuffled(self, data):
        """In place of a random order: one of which equal slices are the micro-batches of the cut."""
        first, chunk = self.at * self.of_generation, self.chunks[self.at]
        order = [chunk.index(i) for part in self.parts[first:first + self.of_generation] for i in part]
        moved = lambda x: x if x is None or getattr(x, "ndim", 1) == 0 else [x[i] for i in order] if isinstance(x, list) else x[order]
        return {key: moved(x) for key, x in data.items()}


def kinds_of(config):
    """(module, trainer, configuration)"""
    import trl
    from trl.trainer import grpo_trainer, rloo_trainer
    if config in RLOO_CONFIGS:
        return rloo_trainer, trl.RLOOTrainer, trl.RLOOConfig
    if "distillation_weight" in config:
        from trl.experimental.sdpo import SDPOConfig, sdpo_trainer
        return sdpo_trainer, without_teacher(sdpo_trainer), SDPOConfig
    return grpo_trainer, trl.GRPOTrainer, trl.GRPOConfig


def without_teacher(module):
    """SDPOTrainer without prompts for a teacher, whose logits are the log-probabilities of the table."""
    import torch
    module.selective_log_softmax = lambda table, _: table

    class Teacher:
        last_metrics = {}

        def build(self, batch, *_, **__):
            ids = batch["completion_ids"]
            return {"teacher_input_ids": ids, "teacher_attention_mask": torch.ones_like(ids),
                    "self_distillation_mask": torch.ones(len(ids))}

    class Alone(module.SDPOTrainer):
        def __init__(self, *of, **how):
            super().__init__(*of, **how)
            self.teacher_context_builder = Teacher()

        def _forward_logits(self, model, input_ids, attention_mask, logits_to_keep):
            rows = input_ids.new_zeros(len(input_ids), 2 * WIDTH)
            rows[:, WIDTH - 1] = input_ids[:, -logits_to_keep - 1]
            return model(rows).log_probs[:, WIDTH:WIDTH + logits_to_keep]

        def _prepare_training_batch(self, inputs):
            return module.shuffle_sequence_dict(super()._prepare_training_batch(inputs))
    return Alone


def trainer_of(torch, transformers, config, batch, prompts, arguments, generation, seen):
    import datasets
    module, kind, args_kind = kinds_of(config)
    has_rollouts = "rollout_func" in inspect.signature(kind.__init__).parameters

    class Reading(transformers.TrainerCallback):
        def on_pre_optimizer_step(self, args, state, control, model=None, **_):
            seen.append({name: gradient_of(torch, getattr(model, name)) for name in ("dlogp", "dentropy")})

        def on_train_end(self, args, state, control, model=None, **_):
            if "zero_stage" in config:  # where accelerate calls the optimiser in backward
                seen[:] = [{name: changed(getattr(model, name)) for name in ("dlogp", "dentropy")}]

    class Given(kind):  # without rollout_func
        def _generate(self, given):
            found = generation.rollout(self.processing_class.batch_decode(given) if "distillation_weight" in config else given)
            return (found["prompt_ids"], found["completion_ids"], given)[:2 if "distillation_weight" in config else 3]

    table = model_of(torch, transformers, batch, "entropy_coef" in config, "zero_stage" in config)
    args = args_kind(
        output_dir="none", bf16=False, report_to=[], logging_strategy="no", save_strategy="no", optim="sgd",
        max_grad_norm=0.0, shuffle_dataset=False, gradient_checkpointing=False, num_train_epochs=1,
        # a width of 1 is taken for values per response, in metrics, whose type is then another
        **({"pad_to_multiple_of": WIDTH} if hasattr(args_kind, "pad_to_multiple_of") else {}), num_generations=GENERATIONS, **arguments)
    for name, stand_in in (("add_fused_lm_head", lambda *_, **__: None), ("shuffle_sequence_dict", generation.shuffled),
                           ("create_model_from_path", lambda *_, **__: table("logp_ref", "logp_ref"))):
        setattr(module, name, stand_in)
    return (kind if has_rollouts else Given)(
        model=table("logp", "logp_old"), args=args, processing_class=tokenizer_of(transformers), reward_funcs=generation.rewards,
        train_dataset=datasets.Dataset.from_dict({"prompt": prompts}), callbacks=[Reading()],
        **({"rollout_func": generation.rollout} if has_rollouts else {}))


def gradient_of(torch, parameter):
    found = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad.clone()
    return found.full_tensor() if hasattr(found, "full_tensor") else found


def changed(parameter):
    """After steps at a rate of 1 from zeros: minus the gradient that DeepSpeed's optimiser had."""
    from deepspeed.utils import safe_get_full_fp32_param
    return -safe_get_full_fp32_param(parameter) if parameter.requires_grad else parameter.detach()


@contextlib.contextmanager
def sharding(config, torch):
    """The arguments of a run with DeepSpeed or FSDP2, for which accelerate is told that its devices are GPUs: CPUs have neither there."""
    if not {"zero_stage", "fsdp_version"} & {*config}:
        yield {"use_cpu": True, "learning_rate": 0.0}
        return
    from accelerate.state import PartialState
    from accelerate.utils import DistributedType
    gpu = lambda *_: ("gloo", DistributedType.MULTI_GPU)
    device = lambda self: setattr(self, "device", torch.device("cpu"))
    with mock.patch.dict(os.environ, ACCELERATE_USE_CPU="false", DS_ACCELERATOR="cpu"), \
            mock.patch.object(PartialState, "_prepare_backend", gpu), mock.patch.object(PartialState, "set_device", device):
        if "fsdp_version" in config:
            yield {"learning_rate": 0.0, "fsdp": True, "fsdp_config": {"version": config["fsdp_version"]}}
            return
        import deepspeed  # noqa: F401
        sys.modules["deepspeed.comm.torch"].build_shm_op = lambda: None  # compiles a kernel for shared memory
        given = {"zero_optimization": {"stage": config["zero_stage"]}, "zero_allow_untested_optimizer": True, "gradient_clipping": 0.0,
                 **dict.fromkeys(("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps"), "auto")}
        yield {"learning_rate": 1.0, "lr_scheduler_type": "constant", "deepspeed": given}


def of_rank(config, batch, parts, rank):
    os.environ.update(TRANSFORMERS_VERBOSITY="error", TRL_EXPERIMENTAL_SILENCE="1")
    import torch
    import transformers
    torch.set_default_dtype(torch.float64)
    window, of_generation, size, rows = layout(batch, config, parts)
    generation = Generation(batch, [chunks[rank] for chunks in rows], parts[rank], of_generation)
    steps = -(-len(parts[0]) // window) if config["num_iterations"] > 1 else -1  # of the first iteration
    options = {key: x for key, x in config.items() if key not in ("zero_stage", "fsdp_version")}
    arguments = {**options, "gradient_accumulation_steps": window, "steps_per_generation": of_generation,
                 "per_device_train_batch_size": size, "max_steps": steps}
    generated = [[i for chunk in chunks for i in chunk] for chunks in rows]
    prompts = [str(batch["group"][order[k]]) for order in generated for k in range(0, len(order), GENERATIONS)]
    seen = []
    with sharding(config, torch) as more:
        trainer_of(torch, transformers, config, batch, prompts, {**arguments, **more}, generation, seen).train()
    total = {name: sum(step[name] for step in seen) for name in seen[0]}
    return {name: [row[:n].tolist() for row, n in zip(x, batch["length"])] for name, x in total.items()}


def gradient(config, batch, parts):
    layout(batch, config, parts)
    found = cut_ranks.run("cut_trl", config, batch, parts)
    assert all(x == found[0] for x in found), "the ranks see different gradients"
    return found[0]
