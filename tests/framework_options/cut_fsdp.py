"""What the frameworks share that average gradients over ranks by FSDP2 of torch: a model that is a table, and the optimiser that keeps its
gradient. For a process that is a rank."""
import os


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


def model_of(batch):
    """A model whose parameters are what a model would give: for the number of a token its log-probability and its entropy."""
    torch = start()
    from torch.distributed.fsdp import fully_shard

    class Table(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.logp = torch.nn.Parameter(torch.tensor(flat(batch["logp"])))
            self.entropy = torch.nn.Parameter(torch.tensor(flat(batch["entropy"])))

        def forward(self, tokens, **_):
            return self.logp[tokens], self.entropy[tokens]
    return fully_shard(Table(), mesh=torch.distributed.init_device_mesh("cpu", (torch.distributed.get_world_size(),)))


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


def gathered(found):
    """The answer of all ranks."""
    assert all(x["dlogp"] == found[0]["dlogp"] and x["dentropy"] == found[0]["dentropy"] for x in found), "ranks see different gradients"
    return {**found[0], "parts": [x["parts"] for x in found]}
