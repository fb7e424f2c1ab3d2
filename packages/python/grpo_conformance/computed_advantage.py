"""Wrong advantages that the vectors need not record: (R - b)/sigma computed again with one thing changed."""

from __future__ import annotations

import dataclasses
from typing import Callable, Iterator, Mapping, Optional, Tuple

import numpy as np

from .loader import Case

SMALL = ("1e-3", "1e-4", "1e-5", "1e-6", "1e-8", "1e-9")  # what is added to a deviation
Statistic = Callable[[np.ndarray, int], float]  # of the rewards of a group and a place in it


def _others_mean(r: np.ndarray, i: int) -> float:
    return float((r.sum() - r[i]) / (len(r) - 1)) if len(r) > 1 else 0.0


def _deviation(r: np.ndarray, divisor: int) -> float:
    return float(np.sqrt(((r - r.mean()) ** 2).sum() / divisor)) if divisor > 0 else 0.0


BASELINES: Mapping[str, Statistic] = {"none": lambda r, i: 0.0, "group_mean": lambda r, i: float(r.mean()), "leave_one_out": _others_mean}
OTHER_BASELINES: Mapping[str, Statistic] = {
    "no baseline is subtracted": BASELINES["none"],
    "the baseline is the mean of the group": BASELINES["group_mean"],
    "the baseline leaves the response out": BASELINES["leave_one_out"],
    "the baseline is the group's median": lambda r, i: float(np.median(r)),
    "the baseline is the group's lower median": lambda r, i: float(np.sort(r)[(len(r) - 1) // 2]),
    "the baseline is the group's largest reward": lambda r, i: float(r.max()),
    "the baseline is the group's smallest reward": lambda r, i: float(r.min()),
    "ADV-03": lambda r, i: float(r[0]),
    "the baseline is the group's last reward": lambda r, i: float(r[-1]),
}
DIVISORS: Mapping[str, Callable[[np.ndarray], float]] = {
    "the variance divides, not its root": lambda r: _deviation(r, len(r) - 1) ** 2,
    "the deviation is taken around 0, not around the mean": lambda r: float(np.sqrt((r**2).mean())),
    "the range of the rewards divides, not the deviation": lambda r: float(r.max() - r.min()),
    "the mean absolute deviation divides": lambda r: float(np.abs(r - r.mean()).mean()),
    "the mean divides, not the deviation": lambda r: float(r.mean()),
    "1 is added to the deviation": lambda r: _deviation(r, len(r) - 1) + 1,
}


def _range_and(small: float) -> Callable[[np.ndarray], float]:
    return lambda r: float(r.max() - r.min()) + small


@dataclasses.dataclass(frozen=True)
class Plain:
    reward: np.ndarray
    group: np.ndarray
    baseline: Statistic
    scaled: bool
    population: bool
    eps: float
    place: str
    raw: bool  # is the advantage of a response alone in its group its reward?
    divisor: Optional[Callable[[np.ndarray], float]] = None
    of_batch: bool = False  # the deviation is of the whole batch
    baseline_of_batch: bool = False
    nan_where_equal: bool = False
    always_divides: bool = False  # by 0 + eps too, where all rewards of a group are equal
    nan_alone: bool = False
    by_group: bool = True  # are the responses of a group compared with each other, by the objective?

    def sigma(self, r: np.ndarray) -> float:
        if self.divisor:
            return self.divisor(r) + self.eps
        std = _deviation(r, len(r) if self.population else len(r) - 1)
        inside = {"inside": np.sqrt(std * std + self.eps), "floor": np.sqrt(max(std * std, self.eps))}
        return float(inside.get(self.place, std + self.eps))

    def advantages(self) -> np.ndarray:
        """One for each response."""
        out = np.zeros(len(self.reward))
        for g in np.unique(self.group):
            at = np.flatnonzero(self.group == g)
            r = self.reward[at]
            for k, i in enumerate(at):
                out[i] = self._one(r, k)
        return out

    def _one(self, r: np.ndarray, k: int) -> float:
        """Of response k of a group with the rewards r."""
        alone, spread = len(r) == 1 and not self.baseline_of_batch, self.reward if self.of_batch else r
        if alone and not self.raw and (self.by_group or self.scaled):
            return np.nan if self.nan_alone else 0.0
        b = float(self.reward.mean()) if self.baseline_of_batch else 0.0 if alone and self.by_group else self.baseline(r, k)
        if not self.scaled:
            return float(r[k] - b)
        if alone and not self.of_batch and self.divisor is None:
            return float("nan") if self.nan_alone else float((r[k] - b) / (1 + (self.eps if self.place == "add" else 0)))
        if len(r) > 1 and spread.min() == spread.max() and not self.always_divides:
            return np.nan if self.nan_where_equal else 0.0
        divisor = self.sigma(spread)
        return float((r[k] - b) / divisor) if divisor else float(np.sign(r[k] - b) * np.inf) if self.always_divides and r[k] != b else 0.0


def _plain(case: Case) -> Optional[Plain]:
    baseline, scale = case.setting("advantage.baseline"), case.setting("advantage.scale")
    if baseline not in BASELINES or scale not in ("none", "group_std") or "reward" not in case.batch:
        return None
    numpy = case.numpy()
    if numpy.reward is None or "excluded" in case.batch:
        return None
    return Plain(numpy.reward.astype(float), numpy.group, BASELINES[baseline], scale == "group_std",
                 case.setting("advantage.std") == "population", float(case.setting("advantage.eps") or 0),
                 case.setting("advantage.eps_place"), case.setting("advantage.singleton") == "raw",
                 by_group=(baseline, scale) != ("none", "none"))


def _of_groups(p: Plain) -> Iterator[Tuple[str, Plain]]:
    replace, n, groups = dataclasses.replace, len(p.group), int(p.group.max(initial=0)) + 1
    yield "ADV-02", replace(p, group=np.zeros(n, int))
    yield "ADV-29", replace(p, group=np.arange(n) % groups)
    if n % groups == 0:
        yield "groups are chunks of equal size, whatever the batch says", replace(p, group=np.arange(n) // (n // groups))
    yield "each response has the reward of the next one", replace(p, reward=np.roll(p.reward, -1))
    yield "each response has the reward of the one before", replace(p, reward=np.roll(p.reward, 1))
    yield "ADV-08", replace(p, raw=not p.raw)


def changes(p: Plain) -> Iterator[Tuple[str, Plain]]:
    replace = dataclasses.replace
    batch = {"the baseline is the mean of the whole batch": replace(p, baseline_of_batch=True)}
    others = {**{name: replace(p, baseline=b) for name, b in OTHER_BASELINES.items() if b is not p.baseline}, **batch}
    for name, other in others.items():
        yield name, other
        if p.scaled:
            yield name, replace(other, always_divides=True)
            yield f"{name}, and there is no division by the deviation", replace(other, scaled=False)
    yield from _of_groups(p)
    if not p.scaled:
        yield "the advantage is divided by the group's deviation", replace(p, scaled=True)
        for small in SMALL:
            yield f"the advantage is divided by the group's deviation + {small}", replace(p, scaled=True, eps=float(small))
        return
    yield "ADV-01" if not p.eps else "there is no division by the deviation", replace(p, scaled=False)
    yield "ADV-12", replace(p, population=not p.population)
    yield "ADV-01b", replace(p, of_batch=True)
    yield "ADV-07", replace(p, nan_alone=True)
    yield "a group of equal rewards is 0/0: NaN", replace(p, nan_where_equal=True)
    yield from ((name, replace(p, divisor=f)) for name, f in DIVISORS.items())
    lowest = OTHER_BASELINES["the baseline is the group's smallest reward"]
    scaled = "rewards are scaled from 0 to 1 in their group: (R - min)/(max - min{})"
    for small in ("", " + 1e-4", " + 1e-6", " + 1e-8"):
        yield scaled.format(small), replace(p, baseline=lowest, divisor=_range_and(float(small[3:] or 0)))
    yield "rewards are scaled from -1 to 1 in their group: 2 (R - min)/(max - min) - 1", replace(
        p, baseline=lambda r, i: float(r.max() + r.min()) / 2, divisor=lambda r: float(r.max() - r.min()) / 2)
    for small in (*SMALL, "0"):
        if float(small) != p.eps and p.place == "add":
            name = f"{small} is added to the deviation" if float(small) else "nothing is added to the deviation"
            yield name, replace(p, eps=float(small))
            yield f"{name}, and the divisor of the variance is the other one", replace(p, eps=float(small), population=not p.population)
    for small in SMALL:
        yield f"{small} is added to the variance, under the root", replace(p, eps=float(small), place="inside")


def computed_advantages(case: Case) -> Iterator[Tuple[str, np.ndarray]]:
    """(cause, advantages of all slots); nothing for a case whose right answer cannot be computed in the same way."""
    p = _plain(case) if case.kind == "objective" and "advantage" in case.expect else None
    if p is None:
        return
    arrays = case.numpy()
    counts = arrays.mask

    def by_token(one: np.ndarray) -> np.ndarray:
        return np.where(counts, one[:, None], 0.0)

    right = np.zeros(counts.shape)
    for i, row in enumerate(case.expect["advantage"]):
        right[i, : len(row)] = [float(x) for x in row]
    size = float(np.abs(right).max(initial=0)) * (1 + float(np.abs(p.reward).max(initial=0)))
    if not np.all(np.abs(by_token(p.advantages()) - right) <= 1e-10 * size):
        return
    slots = np.arange(counts.shape[1]) < np.array(case.batch["length"], int)[:, None]
    yield "masked tokens have the advantage of their response, not 0", np.where(slots, p.advantages()[:, None], 0.0)
    for name, changed in changes(p):
        with np.errstate(all="ignore"):
            yield name, by_token(changed.advantages())
