"""What an implementation found, as outputs by name."""

from __future__ import annotations

from typing import Any, Dict, Mapping

from .batch import DIFFERENTIATED
from .loader import Case

_GRADIENTS = {f"d{name}": name for name in DIFFERENTIATED}


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "requires_grad") and hasattr(value, "grad_fn")


def _gradients(case: Case, loss: Any) -> Dict[str, Any]:
    """By autograd, of the tensors that case.torch() gave out."""
    import torch

    batch = vars(case).get("_torch")
    if batch is None:
        raise ValueError("a loss that autograd should differentiate is computed from the tensors of case.torch()")
    names = [name for name, leaf in _GRADIENTS.items() if name in case.expect and getattr(batch, leaf) is not None]
    found = torch.autograd.grad(loss, [getattr(batch, _GRADIENTS[name]) for name in names], allow_unused=True, retain_graph=True)
    return {name: torch.zeros_like(getattr(batch, _GRADIENTS[name])) if x is None else x for name, x in zip(names, found)}


def answer_of(case: Case, returned: Any) -> Mapping[str, Any]:
    """What a test returned, or was given to compare(), as outputs: the loss, (loss, dlogp), or a dict of outputs."""
    if isinstance(returned, Mapping):
        answer = dict(returned)
    elif isinstance(returned, tuple) and len(returned) == 2:
        answer = dict(zip(("loss", "dlogp"), returned))
    elif returned is None:
        raise ValueError(
            f"{case.id}: nothing was returned; return the loss, (loss, dlogp), or a dict of {', '.join(case.expect)}"
        )
    else:
        answer = {"loss": returned}
    loss: Any = answer.get("loss")
    if not set(_GRADIENTS) & set(answer) and _is_tensor(loss):
        if loss.requires_grad:
            answer.update(_gradients(case, loss))
        elif vars(case).get("_torch") is not None and "dlogp" in case.expect and "logp" in case.batch:  # all of it is detached
            answer["dlogp"] = [[0.0] * n for n in case.batch["length"]]
    return answer
