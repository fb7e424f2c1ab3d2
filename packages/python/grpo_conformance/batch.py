"""The arrays of a batch: padded in NumPy and torch."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Generic, List, Mapping, Optional, Sequence, TypeVar

import numpy as np

if TYPE_CHECKING:
    import torch

Array = TypeVar("Array")

WHOLE = {"group", "length", "state", "token_id", "target"}
FLAGS = {
    "truncated",
    "excluded",
    "step_end",
    "segment_end",
    "mask",
    "selected",
    "kl_mask",
    "nll_mask",
    "marked",
    "shaping_mask",
    "banned",
}
PER_GROUP = {"baseline", "log_partition"}
DIFFERENTIATED = ("logp", "entropy", "divergence_ref", "log_partition", "logits", "hidden", "weight")


@dataclasses.dataclass(frozen=True)
class BatchOf(Generic[Array]):
    """N responses of at most T tokens; None is an array that the case does not have. The vectors' batch.md says more of each."""

    # [N]
    group: Array  # the prompt of each response, from 0, ascending
    length: Array  # tokens, masked ones included
    # [N, T]
    mask: Array  # true where the token counts, false in the padding
    logp: Optional[Array] = None  # under the policy that is trained
    logp_old: Optional[Array] = None  # at the start of the update
    logp_ref: Optional[Array] = None  # under the frozen reference
    logp_rollout: Optional[Array] = None  # under the engine that sampled
    logp_teacher: Optional[Array] = None
    advantage: Optional[Array] = None  # given, or the exact ones of the objective
    entropy: Optional[Array] = None  # of the policy, at each token
    value: Optional[Array] = None  # the critic's
    external_weight: Optional[Array] = None
    eps_low: Optional[Array] = None
    eps_high: Optional[Array] = None
    divergence_ref: Optional[Array] = None  # from the reference, given
    divergence_old: Optional[Array] = None  # from the old policy, given
    sum_pi_squared: Optional[Array] = None
    step_reward: Optional[Array] = None  # read where step_end is true
    step_end: Optional[Array] = None
    segment_end: Optional[Array] = None
    state: Optional[Array] = None
    token_id: Optional[Array] = None
    selected: Optional[Array] = None
    kl_mask: Optional[Array] = None
    nll_mask: Optional[Array] = None
    marked: Optional[Array] = None
    shaping_mask: Optional[Array] = None
    # [N], but rewards [N, K] and reward_weight [K]
    reward: Optional[Array] = None
    rewards: Optional[Array] = None
    reward_weight: Optional[Array] = None
    truncated: Optional[Array] = None
    excluded: Optional[Array] = None
    # [groups]
    baseline: Optional[Array] = None
    log_partition: Optional[Array] = None
    # of the kinds "logits" and "hidden": [N, T, V], [N, T, D], [V, D], [N, T], and [N, T, V] true where a token is banned
    logits: Optional[Array] = None
    hidden: Optional[Array] = None
    weight: Optional[Array] = None
    target: Optional[Array] = None
    banned: Optional[Array] = None
    dlogp: Optional[Array] = None  # [N, T] derivatives that are given
    dentropy: Optional[Array] = None


Batch = BatchOf[np.ndarray]
TorchBatch = BatchOf["torch.Tensor"]
_NAMES = tuple(field.name for field in dataclasses.fields(BatchOf))


def ragged_rows(value: Any) -> Sequence[Sequence[Any]]:
    return value if value and isinstance(value[0], list) else [value]


def _numbers(value: Any) -> Any:
    return [_numbers(x) for x in value] if isinstance(value, list) else float(value)  # float reads "NaN" and "-Infinity" too


def _padded(rows: Sequence[Sequence[Any]], dtype: np.dtype, pad: float) -> np.ndarray:
    inner = next((np.shape(row[0]) for row in rows if row), ())
    array = np.full((len(rows), max(map(len, rows), default=0), *inner), pad, dtype)
    for i, row in enumerate(rows):
        array[i, : len(row)] = np.reshape(_numbers(row), (len(row), *inner))
    return array


def _array(name: str, value: List[Any], real: np.dtype, pad: float) -> np.ndarray:
    dtype = np.dtype("int64") if name in WHOLE else np.dtype("bool") if name in FLAGS else real
    if value and isinstance(value[0], list):
        return _padded(value, dtype, pad if dtype == real else 0)
    return np.array([float(x) for x in value]).astype(dtype)


def numpy_batch(batch: Mapping[str, Any], real: np.dtype, pad: float) -> Batch:
    value = dict(batch)
    value.setdefault("mask", [[True] * n for n in value["length"]])
    if "banned" in value:
        words = range(len(value["logits"][0][0] if "logits" in value else value["weight"]))
        value["banned"] = [[[v in banned for v in words] for banned in row] for row in value["banned"]]
    return BatchOf(**{name: _array(name, value[name], real, pad) for name in _NAMES if name in value})


def torch_batch(batch: Batch) -> TorchBatch:
    import torch

    tensors = {name: torch.from_numpy(getattr(batch, name)) for name in _NAMES if getattr(batch, name) is not None}
    for name in DIFFERENTIATED:
        if name in tensors:
            tensors[name].requires_grad_()
    return BatchOf(**tensors)
