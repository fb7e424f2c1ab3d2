"""TRL's GRPOTrainer and RLOOTrainer (written for trl 1.16.0, transformers 5.23.0, accelerate 1.15.0), with a batch cut into micro-batches
and ranks: the gradient that the optimiser sees.

What runs is `train()` of the trainer, made by its own __init__: the sampler and the loader of each rank, rewards gathered over ranks,
advantages, the buffer of a generation and its division into micro-batches, the loss, accumulation, and DistributedDataParallel over gloo.
Replaced are: the model (a table with the log-probability of every token of every response, and no LM head: add_fused_lm_head), the
reference (another table), the tokenizer (a vocabulary of numbers), generation (rollout_func: the batch's responses), the shuffle within a
generation (the order that the cut asks for), and the update (a learning rate of 0; gradients are read where the optimiser is called).
float64 throughout.
"""
import os
from unittest import mock

import cut_ranks
from framework import Refused

EOS, OTHER, FIRST = 1, 7, 10  # token ids; the prompt of response i is FIRST + i
GENERATIONS = 4
NAME = "trl"


# ---- what is run

GRPO = "trl/trainer/grpo_trainer.py"
MEANS, TOKENS = GRPO + ":3153-3184", GRPO + ":3168-3174"


def setting(name, config, where, expected="whole batch", **more):
    return {"name": name, "config": {"num_iterations": 2, **config}, "where": where, "expected": expected, **more}


SETTINGS = [
    setting("dapo (the default)", {"loss_type": "dapo", "epsilon_high": 0.28}, TOKENS),
    setting("grpo", {"loss_type": "grpo"}, GRPO + ":3153-3157"),
]


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

def model_of(torch, transformers, batch):
    """A model whose parameters are the log-probabilities of all tokens. Without a gradient it gives the old ones."""
    width = max(batch["length"])
    table = lambda rows: torch.tensor([row + [-1.0] * (width - len(row)) for row in rows], dtype=torch.float64)

    class Table(transformers.PreTrainedModel):
        config_class, supports_gradient_checkpointing = transformers.PretrainedConfig, True

        def __init__(self, now, old):
            super().__init__(transformers.PretrainedConfig(name_or_path="table"))
            self.now, self.old = torch.nn.Parameter(table(batch[now])), table(batch[old])
            self.generation_config = transformers.GenerationConfig(eos_token_id=EOS)

        def forward(self, input_ids, attention_mask=None, labels=None, fused_lm_head=True):
            rows, longest = input_ids[:, 0] - FIRST, input_ids.shape[1] - 1  # a prompt of one token, then the responses
            found = (self.now if torch.is_grad_enabled() else self.old)[rows, :longest]
            log_probs = torch.cat([torch.zeros(len(rows), 1, dtype=found.dtype), found], 1)
            return transformers.utils.ModelOutput(log_probs=log_probs, entropy=torch.ones_like(log_probs))

    return Table


def tokenizer_of(transformers):
    import tokenizers
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({str(i): i for i in range(64)}, unk_token="2"))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=words, pad_token="0", eos_token="1", unk_token="2")


def order_of(torch, parts, chunk):
    """The permutation of a rank's generation for which its equal slices are the micro-batches."""
    return torch.tensor([chunk.index(i) for part in parts for i in part])


def rollouts(batch, chunks, parts, of_generation, trainer_module):
    """rollout_func, and the shuffle that follows it."""
    import torch
    asked = []

    def rollout(prompts, trainer):
        chunk = chunks[len(asked)]
        assert [int(p) for p in prompts] == [batch["group"][i] for i in chunk]
        asked.append(chunk)
        ids = [[OTHER] * (batch["length"][i] - 1) + [OTHER if batch["truncated"][i] else EOS] for i in chunk]
        found = {"prompt_ids": [[FIRST + i] for i in chunk], "completion_ids": ids, "logprobs": None,
                 "row": chunk}
        return {**found, "env_mask": [[int(x) for x in batch["mask"][i]] for i in chunk]} if "mask" in batch else found

    def shuffle(data):
        g = len(asked) - 1
        order = order_of(torch, parts[g * of_generation:(g + 1) * of_generation], asked[-1])
        return {key: x if x is None or torch.is_tensor(x) and not x.ndim else x[order] if torch.is_tensor(x) else [x[i] for i in order]
                for key, x in data.items()}
    return rollout, shuffle


def of_rank(config, batch, parts, rank):
    os.environ.update(TRANSFORMERS_VERBOSITY="error", TRL_EXPERIMENTAL_SILENCE="1")
    import datasets
    import torch
    import transformers
    import trl
    from trl.trainer import grpo_trainer
    torch.set_default_dtype(torch.float64)
    transformers.logging.set_verbosity_error()
    window, of_generation, size, rows = layout(batch, config, parts)
    Table = model_of(torch, transformers, batch)
    rollout, shuffle = rollouts(batch, [chunks[rank] for chunks in rows], parts[rank], of_generation, grpo_trainer)
    count = len(parts[0])
    arguments = {**config, "gradient_accumulation_steps": window, "steps_per_generation": of_generation,
                 "per_device_train_batch_size": size, "num_generations": GENERATIONS}
    args = trl.GRPOConfig(
        output_dir="/tmp/none", use_cpu=True, bf16=False, report_to=[], logging_strategy="no", save_strategy="no", disable_tqdm=True,
        optim="sgd", learning_rate=0.0, max_grad_norm=0.0, shuffle_dataset=False, gradient_checkpointing=False, num_train_epochs=1,
        max_steps=-(-count // window) if arguments["num_iterations"] > 1 else -1, remove_unused_columns=False, **arguments)
    seen = []

    class Reading(transformers.TrainerCallback):
        def on_pre_optimizer_step(self, args, state, control, model=None, **_):
            seen.append(model.now.grad.clone())

    prompts = [str(batch["group"][chunk[k]]) for chunks in rows for chunk in [[i for c in chunks for i in c]]
               for k in range(0, len(chunk), GENERATIONS)]
    with mock.patch.object(grpo_trainer, "add_fused_lm_head", lambda *_, **__: None), \
            mock.patch.object(grpo_trainer, "create_model_from_path", lambda *_, **__: Table("logp_ref", "logp_ref")), \
            mock.patch.object(grpo_trainer, "shuffle_sequence_dict", shuffle):
        trainer = trl.GRPOTrainer(
            model=Table("logp", "logp_old"), args=args, processing_class=tokenizer_of(transformers), rollout_func=rollout,
            reward_funcs=lambda row, **_: [float(batch["reward"][i]) for i in row],
            train_dataset=datasets.Dataset.from_dict({"prompt": prompts}), callbacks=[Reading()])
        trainer.train()
    total = sum(seen)
    return [row[:n].tolist() for row, n in zip(total, batch["length"])]


def gradient(config, batch, parts):
    layout(batch, config, parts)
    found = cut_ranks.run("cut_trl", config, batch, parts)
    assert all(x == found[0] for x in found), "the ranks see different gradients"
    return found[0]
