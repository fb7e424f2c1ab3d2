"""What the frameworks share that average gradients over ranks by FSDP2 of torch: a model that is a table, and the optimiser that keeps its
gradient. For a process that is a rank."""
import math
import os
import types


def start():
    """torch, with its ranks."""
    import torch
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    if not torch.distributed.is_initialized():
        torch.distributed.init_process_group("gloo", rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"]))
    return torch


def flat(rows):
    return [x for row in rows for x in row]


def numbers(batch):
    """For each response the places of its tokens in the table."""
    first = [sum(batch["length"][:i]) for i in range(len(batch["length"]))]
    return [list(range(start, start + n)) for start, n in zip(first, batch["length"])]


def model_of(batch, logits=False):
    """A model whose parameters are what a model would give: for the number of a token its log-probability and its entropy. With logits it
    gives those of logits_of instead."""
    torch = start()
    from torch.distributed.fsdp import fully_shard

    class Table(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.logp = torch.nn.Parameter(torch.tensor(flat(batch["logp"])))
            self.entropy = torch.nn.Parameter(torch.tensor(flat(batch["entropy"])))
            self.config = types.SimpleNamespace()

        def forward(self, tokens=None, input_ids=None, **_):
            tokens = input_ids if tokens is None else tokens
            if logits:
                from transformers.modeling_outputs import CausalLMOutput  # in which FSDP finds the tensor
                return CausalLMOutput(logits=logits_of(batch, self.logp, tokens))
            return self.logp[tokens], self.entropy[tokens]
    return fully_shard(Table(), mesh=torch.distributed.init_device_mesh("cpu", (torch.distributed.get_world_size(),)))


SIZE = 128  # of the vocabulary: more than 16 responses have tokens, with one of the prompt


def first_tokens(batch):
    """For each response the number of a token of its prompt, after those of the responses."""
    return [sum(batch["length"]) + i for i in range(len(batch["length"]))]


def logits_of(batch, at, tokens):
    """Logits with which the token after each of these has its log-probability, and all others have equal ones. The next token is the one of
    the next number, or the first of the response, so that a place needs to know its own token only. After the last one all are equal."""
    torch = start()
    count = len(at)
    of = [n + 1 for n in range(count)] + [row[0] for row in numbers(batch)]
    after = torch.tensor(of)[tokens.clamp(max=len(of) - 1)]
    last = torch.tensor([row[-1] for row in numbers(batch)])
    x = at[after.clamp(max=count - 1)]
    own = (x - torch.log1p(-torch.exp(x)) + math.log(SIZE - 1)).masked_fill(torch.isin(tokens, last), 0)
    return torch.zeros(*tokens.shape, SIZE).scatter(-1, after[..., None], own[..., None])


class Kept:
    """An optimiser that keeps the gradients, of several steps their sum; found: {"dlogp", "dentropy"}."""

    def __init__(self, model):
        self.model, self.found = model, {"d" + name: [0.0] * p.numel() for name, p in model.named_parameters()}

    def zero_grad(self, **_):
        for parameter in self.model.parameters():
            parameter.grad = None

    def step(self):
        for name, p in self.model.named_parameters():
            if p.grad is not None:
                now = p.grad.full_tensor().tolist()
                self.found["d" + name] = [a + b for a, b in zip(self.found["d" + name], now)]

    def answer(self, batch, micro_batches):
        """What of_rank gives: the gradients as rows of the batch, and the micro-batches of the rank."""
        return {**{name: [[x[i] for i in row] for row in numbers(batch)] for name, x in self.found.items()}, "parts": micro_batches}


def gathered(found, each=1):
    """The answer of all ranks; each: how many share the data of one."""
    assert all(x["dlogp"] == found[0]["dlogp"] and x["dentropy"] == found[0]["dentropy"] for x in found), "ranks see different gradients"
    return {**found[0], "parts": [x["parts"] for x in found[::each]]}
