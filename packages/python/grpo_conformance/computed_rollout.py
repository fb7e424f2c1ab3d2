"""The weight of the old policy over the sampler, and mistakes in it."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Iterator, Optional

import numpy as np

from .batch import Batch
from .loader import Case

LEVELS = ("token", "sequence_sum", "sequence_mean")
HIGHEST = ("1", "1.001", "2", "3", "5", "10")


@dataclasses.dataclass(frozen=True)
class Rollout:
    """How the weight is made: weight.rollout_is and its fields."""

    kind: str
    level: str
    low: float
    high: float
    clamp: float  # of the log-weight of a token; 0: none
    sampler: Optional[np.ndarray] = None  # its log-probabilities
    times: float = 1.0  # what the log-weight is multiplied by
    given: Optional[np.ndarray] = None  # the weight itself, whatever else changes
    of_policy: bool = False  # the current policy is in the place of the old one

    def by(self, change: Callable[[np.ndarray], np.ndarray]) -> Rollout:
        """With other log-probabilities of the sampler."""
        return self if self.sampler is None else dataclasses.replace(self, sampler=change(self.sampler))

    def kept(self, p: Any) -> Rollout:
        """With the weight that it has now."""
        return dataclasses.replace(self, given=self.weight(p))

    def weight(self, p: Any) -> np.ndarray:
        """Of each slot. p: the objective with its batch."""
        if self.given is not None:
            return self.given
        if self.kind == "none" or self.sampler is None:
            return np.ones(p.mask.shape)
        q = np.where(p.mask, (p.logp if self.of_policy else p.old) - self.sampler, 0.0)
        q = np.clip(q, -self.clamp, self.clamp) if self.clamp else q
        if self.level != "token":
            share = np.maximum(p.mask.sum(1), 1) if self.level == "sequence_mean" else 1.0
            q = np.broadcast_to((q.sum(1) / share)[:, None], q.shape)
        r = np.exp(self.times * q)
        inside = (r >= self.low) & (r <= self.high)
        found: np.ndarray = np.clip(r, self.low, self.high) if self.kind == "truncate" else np.where(inside, r, 0.0)
        return found if self.kind != "reject" else inside.astype(float)


def rollout_of(case: Case, arrays: Batch) -> Rollout:
    kind, level = case.setting("weight.rollout_is"), case.setting("weight.rollout_is_level")
    low, high, clamp = (float(case.setting(f"weight.{name}") or 0) for name in ("rollout_is_low", "rollout_is_high", "rollout_clamp"))
    plain = level in LEVELS and arrays.logp_old is not None and arrays.logp_rollout is not None
    sampler = None if arrays.logp_rollout is None else arrays.logp_rollout.astype(float)
    return Rollout(kind if plain else "none", level, low, high, clamp, sampler)


def of_rollout(r: Rollout) -> Iterator[Tuple[str, Rollout]]:
    replace = dataclasses.replace
    yield "TIS-03", replace(r, kind="none")
    yield "TIS-01a", replace(r, of_policy=True)
    yield "the rollout correction is inverted: the sampler over the old policy", replace(r, times=-1.0)
    for level in LEVELS:
        if level != r.level:
            name = "TIS-05" if "token" not in (level, r.level) else f"weight.rollout_is_level = {level}"
            yield name, replace(r, level=level)
    for kind in ("truncate", "mask", "reject"):
        if kind != r.kind:
            yield f"weight.rollout_is = {kind}", replace(r, kind=kind)
    for high in HIGHEST:
        if float(high) != r.high:
            yield f"weight.rollout_is_high = {high}", replace(r, high=float(high))
    if np.isfinite(r.high):
        yield "weight.rollout_is_high = inf", replace(r, high=np.inf)
    if not r.low and np.isfinite(r.high) and r.high:
        yield "TIS-09", replace(r, low=1 / r.high)
