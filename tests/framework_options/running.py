"""What the runs of several frameworks share: the batch in torch, the answers, and how definitions are taken from an installed file."""
import ast
import dataclasses
import types
import typing

import torch

from framework import generator, holes, regroup
from options import translate
from padded import batch_of, ragged


def torch_batch(batch):
    b = batch_of({"batch": batch, "advantage": [[0] * n for n in batch["length"]]}, torch.float64)
    if b.entropy is not None:
        b.entropy.requires_grad_()
    return b


class Tensors(dict):
    """The tensors of a batch by name, as verl's protocol and what is derived from it hold them."""
    @property
    def batch_size(self):
        return self["response_mask"].shape[:1]


def regrouped(rng, config):
    """A random batch in groups of several sizes; masked tokens in half of them."""
    made = translate.random_batch(rng, True)
    regroup(rng, made)
    if rng.random() < 0.5:
        holes(rng, made)
    return made


def answers(b, advantage, compared, value):
    """compared: mask of the tokens at which the advantages are compared."""
    value.backward()
    zero = torch.zeros_like(b.logp)
    dentropy = b.entropy.grad if b.entropy.grad is not None else zero
    rows = [[a if c else None for a, c in zip(*row)] for row in zip(ragged(advantage, b), ragged(compared, b))]
    return {"advantage": rows, "loss": value.item(), "dlogp": ragged(torch.where(b.mask, b.leaf.grad, zero), b),
            "dentropy": ragged(torch.where(b.mask, dentropy, zero), b)}


def functions_of(path, names, inside=None, **context):
    """Functions and methods of a file (of the class `inside`), without importing it: it imports engines. Decorators and annotations are
    left out."""
    with open(path, encoding="utf-8") as f:
        tree = ast.parse(f.read())
    tree = next((node for node in tree.body if inside and getattr(node, "name", None) == inside), tree)
    found = [node for node in ast.walk(tree) if getattr(node, "name", None) in names]
    for node in found:
        node.decorator_list, node.returns = [], None
        for argument in node.args.args:
            argument.annotation = None
    exec(compile(ast.Module(found, []), path, "exec"), context)
    return types.SimpleNamespace(**{name: context[name] for name in names})


def classes_of(path, names, **context):
    """Dataclasses of a file, without importing it; names: in an order in which each knows its bases."""
    with open(path, encoding="utf-8") as f:
        every = {node.name: node for node in ast.parse(f.read()).body if isinstance(node, ast.ClassDef)}
    context = {"dataclass": dataclasses.dataclass, "field": dataclasses.field, **vars(typing), "__name__": "classes", **context}
    exec(compile(ast.Module([every[name] for name in names], []), path, "exec"), context)
    return types.SimpleNamespace(**{name: context[name] for name in names})


# ---- for pitfalls

def near(x, y, error=1e-5):
    return all(abs(a - b) <= error * max(1, abs(b)) for a, b in zip(x, y))


def finite(rows):
    return bool(torch.isfinite(torch.as_tensor(rows)).all())


def shares(selected, mask):
    """Of each response the share of its tokens that are selected."""
    return [(row[counts].float().mean()).item() for row, counts in zip(selected, mask)]


def small_batch(reward=(1.0, 0.0, 0.5, 0.0), length=3, **arrays):
    """Responses of one prompt and of one length, or of the lengths in a list; arrays: others than those that are made here."""
    n, batch = len(reward), translate.random_batch(generator("pitfalls", 0), True)
    length = [length] * n if isinstance(length, int) else length
    batch.update(length=length, group=[0] * n, reward=list(reward), truncated=[i == 1 for i in range(n)],
                 rewards=[[x, x] for x in reward], selected=[[True] * k for k in length])
    for name in ("logp", "logp_old", "logp_ref", "logp_rollout", "logp_teacher", "entropy", "value"):
        batch[name] = [[-1.0 - 0.1 * ((3 * i + t) % 7) for t in range(k)] for i, k in enumerate(length)]
    batch["logp"] = [[x + 0.05 * (-1) ** t for t, x in enumerate(row)] for row in batch["logp"]]
    return {**batch, **arrays}
