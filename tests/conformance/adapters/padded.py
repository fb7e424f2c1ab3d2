"""Batches as in training frameworks: right-padded (sequences x longest) torch tensors and a mask. Used by the torch adapters."""
import types

from protocol import Skip, wanted
import torch

PRECISIONS = {"f64": torch.float64, "f32": torch.float32}
PAD = -1.0  # the value of padding; answers must not depend on it
PER_TOKEN = ("logp", "logp_old", "logp_ref", "logp_rollout", "sum_pi_squared", "entropy", "value", "step_reward", "divergence_ref",
             "divergence_old")


def padded(rows, lengths, fill, dtype):
    longest = max(lengths)
    return torch.tensor([[number(x) for x in row] + [fill] * (longest - len(row)) for row in rows], dtype=dtype)


def number(x):
    return x if isinstance(x, bool) else float(x)


def batch_of(case, dtype):
    """The arrays of the case; None for those that it does not have."""
    source = case["batch"]
    b = types.SimpleNamespace(length=source["length"], group=torch.tensor(source["group"]), rows=len(source["length"]))
    for key in PER_TOKEN:
        setattr(b, key, padded(source[key], b.length, PAD, dtype) if key in source else None)
    b.mask = padded(source.get("mask") or [[True] * n for n in b.length], b.length, False, torch.bool)
    b.step_end = padded(source["step_end"], b.length, False, torch.bool) if "step_end" in source else None
    b.advantage = padded(case["advantage"], b.length, 0.0, dtype)
    b.reward = torch.tensor(source["reward"], dtype=dtype) if "reward" in source else None
    b.baseline = torch.tensor(source["baseline"], dtype=dtype) if "baseline" in source else None
    b.truncated = torch.tensor(source.get("truncated") or [False] * b.rows)
    b.groups = source["group"][-1] + 1
    b.group_size = torch.bincount(b.group)
    return b


def one_per_row(x, mask):
    """One value per row, if each row has the same value wherever the mask is true (0 for a row without tokens), else None."""
    values = []
    for row, active in zip(x, mask):
        row = row[active]
        if len(row) and not bool((row == row[0]).all()):
            return None
        values.append(row[0] if len(row) else x.new_zeros(()))
    return torch.stack(values)


def logits_of(case, dtype):
    """A case of kind logits: (rows, longest, vocabulary) logits and their targets; padding is uniform."""
    b = types.SimpleNamespace(length=[len(row) for row in case["logits"]])
    longest, size = max(b.length), len(case["logits"][0][0])
    rows = [row + [[0.0] * size] * (longest - len(row)) for row in case["logits"]]
    b.logits = torch.tensor([[[float(z) for z in token] for token in row] for row in rows], dtype=dtype)
    for i, row in enumerate(case.get("banned", [])):
        for t, tokens in enumerate(row):
            b.logits[i, t, tokens] = -torch.inf
    b.target = torch.tensor([row + [0] * (longest - len(row)) for row in case["target"]])
    return b


def part_of(case, part):
    """The sequences of a part as a separate case, and their indices in the whole case."""
    source = case["batch"]
    rows = sorted(part["responses"]) if "responses" in part else [i for i, g in enumerate(source["group"]) if g in part["groups"]]
    batch = {key: [x[i] for i in rows] for key, x in source.items() if key != "baseline"}
    names = sorted(set(batch["group"]))
    batch["group"] = [names.index(g) for g in batch["group"]]
    return {**case, "batch": batch, "advantage": [case["advantage"][i] for i in rows]}, rows


def one_averaged_step(case):
    """Skips splits that a trainer called once per micro-batch, for one optimiser step, cannot express."""
    parts = case["parts"]
    wanted(all(part.get("groups") or part.get("responses") for part in parts), "only micro-batches of whole responses, at least one each")
    wanted(case.get("reduce", "mean") == "mean", "gradients are always averaged over ranks")
    wanted(not any("step" in part for part in parts) and "filtered" not in case, "only one optimiser step with the whole batch")


def optimiser_step(case, loss_of_part):
    """A case of kind split: loss and gradient summed over the micro-batches of a rank, averaged over ranks."""
    ranks, loss, dlogp = case["ranks"], 0.0, [[0.0] * n for n in case["batch"]["length"]]
    for part in case["parts"]:
        piece, rows = part_of(case, part)
        found = loss_of_part(piece, part["rank"])
        loss += found["loss"] / ranks
        for i, row in zip(rows, found["dlogp"]):
            dlogp[i] = [x / ranks for x in row]
    return {"loss": loss, "dlogp": dlogp}


def accumulation_steps(case):
    """The number of micro-batches of a rank, where it is a constant of the training."""
    counts = [sum(part["rank"] == rank for part in case["parts"]) for rank in range(case["ranks"])]
    wanted(len(set(counts)) == 1, "every rank has gradient_accumulation_steps micro-batches")
    return counts[0]


def ragged(x, b):
    return [row[:n].tolist() for row, n in zip(x.detach(), b.length)]


def answer_by(case, dtype, advantages, loss, split=None, log_probabilities=None):
    """A framework's answer, from functions for its parts: advantages(o, b), loss(o, b), split(case, o, dtype), log_probabilities(case,
    dtype). If advantages or loss cannot express the case, the other one is still answered."""
    torch.set_default_dtype(dtype)
    if case["kind"] == "logits":
        wanted("objective" not in case and log_probabilities, "log-probabilities without a loss")
        return log_probabilities(case, dtype)
    if case["kind"] == "split" and split:
        one_averaged_step(case)
        return split(case, case["objective"], dtype)
    wanted(case["kind"] == "objective", "no cases of kind " + case["kind"])
    wanted(all(case["batch"]["length"]), "a response of length 0, which generation does not produce")
    o, b, result, reasons = case["objective"], batch_of(case, dtype), {}, []
    for stage in (lambda: {"advantage": ragged(advantages(o, b), b)} if "advantage" not in case["batch"] else {}, lambda: loss(o, b)):
        try:
            result.update(stage())
        except Skip as reason:
            reasons.append(str(reason))
    wanted(result, "; ".join(reasons))
    return result


class Rows(dict):
    """The TensorDict that verl's engine passes to a loss, with rows that are already padded."""
    def select(self, *names):
        return Rows({name: self[name] for name in names if name in self})

    def to_padded_tensor(self):
        return self


def rewards_at_end(b):
    """The reward at the last token that counts, or at the last token if none counts."""
    rewards = torch.zeros_like(b.logp)
    for row, mask in enumerate(b.mask):
        places = torch.nonzero(mask)[:, 0]
        rewards[row, places[-1] if len(places) else b.length[row] - 1] = b.reward[row]
    return rewards
