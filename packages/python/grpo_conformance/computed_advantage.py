"""Wrong advantages that the vectors need not record: (R - b)/sigma computed again with one thing changed."""

from __future__ import annotations

import dataclasses
from typing import Callable, Dict, Iterator, Mapping, Optional, Tuple

import numpy as np

from .loader import Case

OF_TOKENS = "the baseline is the mean over the group's tokens: a response counts once for each of them"
BOTH_OF_TOKENS = "baseline and deviation are over the group's tokens: a response counts once for each of them"
EQUAL_IS_NOISE = "a group of equal rewards is divided by the rounding error of its mean"
REWARD_FIRST = "the reward of a response is at its first token, where it should be at the last"
EQUAL_IS_NAN = "a group of equal rewards is 0/0: NaN"
SMALL = ("1e-3", "1e-4", "1e-5", "1e-6", "1e-8", "1e-9")  # what is added to a deviation
Statistic = Callable[[np.ndarray, int, np.ndarray], float]  # of the rewards of a group, a place in it, and the tokens of each response
Divisor = Callable[[np.ndarray, int], float]  # of the rewards of a group, and 1 if the divisor of the variance is n - 1, else 0
Step = Callable[[np.ndarray], np.ndarray]  # of the advantages of all responses


def _others_mean(r: np.ndarray, i: int, t: np.ndarray) -> float:
    return float((r.sum() - r[i]) / (len(r) - 1)) if len(r) > 1 else 0.0


def _deviation(r: np.ndarray, divisor: int) -> float:
    return float(np.sqrt(((r - r.mean()) ** 2).sum() / divisor)) if divisor > 0 else 0.0


def _token_mean(r: np.ndarray, t: np.ndarray) -> float:
    return float((t * r).sum() / t.sum()) if t.sum() > 0 else 0.0


def _token_deviation(r: np.ndarray, t: np.ndarray, less: int) -> float:
    """Around the mean over tokens, of each token with the reward of its response."""
    n = t.sum() - less
    return float(np.sqrt((t * (r - _token_mean(r, t)) ** 2).sum() / n)) if n > 0 and np.ptp(r) > 0 else 0.0


BASELINES: Mapping[str, Statistic] = {
    "none": lambda r, i, t: 0.0, "group_mean": lambda r, i, t: float(r.mean()), "leave_one_out": _others_mean
}
OTHER_BASELINES: Mapping[str, Statistic] = {
    "no baseline is subtracted": BASELINES["none"],
    "the baseline is the mean of the group": BASELINES["group_mean"],
    "the baseline leaves the response out": BASELINES["leave_one_out"],
    "the baseline leaves the response out, and is divided by G for G - 1": lambda r, i, t: float((r.sum() - r[i]) / len(r)),
    "the sum of the whole group is divided by G - 1 in the baseline": lambda r, i, t: float(r.sum() / (len(r) - 1)) if len(r) > 1 else 0.0,
    "the baseline is the sum of the group": lambda r, i, t: float(r.sum()),
    "the baseline is the sum of the other responses": lambda r, i, t: float(r.sum() - r[i]),
    "the baseline is the group's median": lambda r, i, t: float(np.median(r)),
    "the baseline is the group's lower median": lambda r, i, t: float(np.sort(r)[(len(r) - 1) // 2]),
    "the baseline is the group's largest reward": lambda r, i, t: float(r.max()),
    "the baseline is the group's smallest reward": lambda r, i, t: float(r.min()),
    "ADV-03": lambda r, i, t: float(r[0]),
    "the baseline is the group's last reward": lambda r, i, t: float(r[-1]),
    OF_TOKENS: lambda r, i, t: _token_mean(r, t),
}
DIVISORS: Mapping[str, Divisor] = {
    "the variance divides, not its root": lambda r, less: _deviation(r, len(r) - less) ** 2,
    "the root of the deviation divides": lambda r, less: float(np.sqrt(_deviation(r, len(r) - less))),
    "the deviation is not divided by the number of responses": lambda r, less: _deviation(r, 1),
    "the deviation is divided by the root of the number of responses, as a standard error is": (
        lambda r, less: _deviation(r, len(r) - less) / float(np.sqrt(len(r)))),
    "the deviation is taken around 0, not around the mean": lambda r, less: float(np.sqrt((r**2).mean())),
    "the range of the rewards divides, not the deviation": lambda r, less: float(np.ptp(r)),
    "the largest distance from the mean divides, not the deviation": lambda r, less: float(np.abs(r - r.mean()).max()),
    "the mean absolute deviation divides": lambda r, less: float(np.abs(r - r.mean()).mean()),
    "the mean divides, not the deviation": lambda r, less: float(r.mean()),
    "1 is added to the deviation": lambda r, less: _deviation(r, len(r) - less) + 1,
}
FLOORS = ("1", "0.1", "0.01", "1e-3", "1e-4")  # below which a deviation is not taken
REWARDS: Mapping[str, Step] = {
    "rewards are cut at 0 and 1": lambda r: np.clip(r, 0, 1),
    "rewards are cut at -1 and 1": lambda r: np.clip(r, -1, 1),
    "the sign of the reward is taken for the reward": np.sign,
    "a reward is 1 where it is positive, else 0": lambda r: (r > 0).astype(float),
    "rewards are squared": lambda r: r * r,
    "each response has the reward of the next one": lambda r: np.roll(r, -1),
    "each response has the reward of the one before": lambda r: np.roll(r, 1),
}


def _over_largest(a: np.ndarray) -> np.ndarray:
    size = float(np.abs(a).max(initial=0))
    return a / size if size > 0 else a


def _bound(at: float) -> Step:
    return lambda a: np.clip(a, -at, at)


STEPS: Mapping[str, Step] = {
    "the sign of the advantage is turned": lambda a: -a,
    "the absolute value of the advantage is taken": np.abs,
    "the sign of the advantage is taken for the advantage": np.sign,
    "negative advantages are left out": lambda a: np.maximum(a, 0),
    "the advantage is multiplied by 2": lambda a: 2 * a,
    "the advantage is multiplied by 1/2": lambda a: a / 2,
    **{f"the advantage is cut at -{at} and {at}": _bound(at) for at in (1, 2, 3, 5, 10)},
    "the advantage is squared": lambda a: a * a,
    "the advantages are divided by the largest of the batch": _over_largest,
    "the advantages are centred again over the batch": lambda a: a - a.mean(),
    "each response has the advantage of the next one": lambda a: np.roll(a, -1),
    "each response has the advantage of the one before": lambda a: np.roll(a, 1),
}


def _range_and(small: float) -> Divisor:
    return lambda r, less: float(np.ptp(r)) + small


def _at_least(floor: float) -> Divisor:
    return lambda r, less: max(_deviation(r, len(r) - less), floor)


@dataclasses.dataclass(frozen=True)
class Plain:
    reward: np.ndarray
    group: np.ndarray
    tokens: np.ndarray  # of each response, how many count
    baseline: Statistic
    scaled: bool
    less: int  # the divisor of the variance is n - less
    eps: float
    place: str
    raw: bool  # is the advantage of a response alone in its group its reward?
    kl: Optional[np.ndarray] = None  # what the KL of each response takes from its reward
    by_group: bool = True  # are the responses of a group compared with each other, by the objective?
    truncated: Optional[np.ndarray] = None
    by_counted: Optional[np.ndarray] = None  # what an overlong punishment by the tokens that count adds to that by the length
    divisor: Optional[Divisor] = None
    around: bool = False  # the deviation is taken around the baseline, not around the mean
    of_batch: bool = False  # the deviation is of the whole batch
    of_tokens: bool = False  # the deviation is over tokens
    mean_of_groups: bool = False  # the deviation is the mean of the groups' deviations
    baseline_of_batch: bool = False
    alone_too: bool = True  # by a baseline of the batch, a response alone in its group has an advantage
    only_whole: bool = False  # responses that were cut off do not count in their group's baseline and deviation
    nan_where_equal: bool = False
    noise: float = 0.0  # 1 or -1: where all rewards of a group are equal, its mean is off by a rounding error, or by minus that
    always_divides: bool = False  # by 0 + eps too, where all rewards of a group are equal
    nan_alone: bool = False

    def sigma(self, r: np.ndarray, t: np.ndarray) -> float:
        if self.divisor:
            return self.divisor(r, self.less) + self.eps
        std = _token_deviation(r, t, self.less) if self.of_tokens else self._deviation(r, t)
        inside = {"inside": np.sqrt(std * std + self.eps), "floor": np.sqrt(max(std * std, self.eps))}
        return float(inside.get(self.place, std + self.eps))

    def _deviation(self, r: np.ndarray, t: np.ndarray) -> float:
        if self.mean_of_groups:
            of = [self.reward[self.group == g] for g in np.unique(self.group)]
            return float(np.mean([_deviation(x, len(x) - self.less) for x in of if len(x) > 1] or [0.0]))
        if not self.around or len(r) <= self.less:
            return _deviation(r, len(r) - self.less)
        centre = np.array([self.reward.mean() if self.baseline_of_batch else self.baseline(r, k, t) for k in range(len(r))])
        return float(np.sqrt(((r - centre) ** 2).sum() / (len(r) - self.less)))

    def advantages(self) -> np.ndarray:
        """One for each response."""
        out = np.zeros(len(self.reward))
        for g in np.unique(self.group):
            at = np.flatnonzero(self.group == g)
            for k, i in enumerate(at):
                out[i] = self._of_whole(at, i) if self.only_whole else self._one(self.reward[at], k, self.tokens[at])
        return out

    def _of_whole(self, at: np.ndarray, i: int) -> float:
        """Of response i, with the mean and the deviation of those responses of its group that were not cut off."""
        r = self.reward[at[~np.asarray(self.truncated)[at]]]
        if len(r) < 2 or len(at) < 2:
            return 0.0
        std = _deviation(r, len(r) - self.less) + self.eps if self.scaled else 1.0
        return float((self.reward[i] - r.mean()) / std) if std else 0.0

    def _one(self, r: np.ndarray, k: int, t: np.ndarray) -> float:
        """Of response k of a group with the rewards r."""
        alone, spread = len(r) == 1 and not (self.baseline_of_batch and self.alone_too), self.reward if self.of_batch else r
        if alone and not self.raw and (self.by_group or self.scaled):
            return np.nan if self.nan_alone else 0.0
        b = float(self.reward.mean()) if self.baseline_of_batch else 0.0 if alone and self.by_group else self.baseline(r, k, t)
        if not self.scaled:
            return float(r[k] - b)
        if alone and not self.of_batch and self.divisor is None:
            return float("nan") if self.nan_alone else float((r[k] - b) / (1 + (self.eps if self.place == "add" else 0)))
        if self.noise and len(r) > 1 and spread.min() == spread.max():
            return self.noise * self._of_noise(r)
        if len(r) > 1 and spread.min() == spread.max() and not self.always_divides:
            return np.nan if self.nan_where_equal else 0.0
        divisor = self.sigma(spread, t)
        return float((r[k] - b) / divisor) if divisor else float(np.sign(r[k] - b) * np.inf) if self.always_divides and r[k] != b else 0.0


    def _of_noise(self, r: np.ndarray) -> float:
        """What is left of equal rewards when their mean in float32 is subtracted, divided by the deviation that it makes."""
        error = float(np.float32(r[0]) - np.cumsum(r.astype(np.float32))[-1] / np.float32(len(r)))
        std = abs(error) * float(np.sqrt(len(r) / (len(r) - self.less)))
        inside = {"inside": np.sqrt(std * std + self.eps), "floor": np.sqrt(max(std * std, self.eps))}
        return error / float(inside.get(self.place, std + self.eps)) if error else 0.0


def _overlong(case: Case, length: np.ndarray) -> np.ndarray:
    """What the length of each response adds to its reward."""
    kind, (most, cache, factor) = case.setting("reward.overlong"), (
        float(case.setting(f"reward.overlong_{name}") or 0) for name in ("max", "cache", "factor"))
    over = np.minimum(most - cache - length, 0) / (cache or 1)
    return factor * (np.maximum(over, -1) if kind == "soft" else over if kind == "linear" else 0 * over)


def _kl(case: Case) -> Optional[np.ndarray]:
    """What the KL of each response takes from its reward."""
    b, kind = case.numpy(pad=0.0), case.setting("reward.kl")
    if kind == "none" or b.logp_old is None or b.logp_ref is None:
        return None
    with np.errstate(all="ignore"):
        d = np.where(b.mask & (b.logp_old != b.logp_ref), b.logp_old - b.logp_ref, 0.0)
        of_token = {"k1": d, "k2": d * d / 2, "k3": np.expm1(-d) + d, "abs": np.abs(d)}[kind]
    taken: np.ndarray = float(case.setting("reward.kl_coef") or 0) * of_token.sum(1)
    return taken


def _plain(case: Case) -> Optional[Plain]:
    baseline, scale = case.setting("advantage.baseline"), case.setting("advantage.scale")
    if baseline not in BASELINES or scale not in ("none", "group_std") or "reward" not in case.batch:
        return None
    numpy = case.numpy()
    if numpy.reward is None or "excluded" in case.batch:
        return None
    reward = numpy.reward.astype(float) + _overlong(case, np.array(case.batch["length"], float))
    counted = numpy.mask.sum(1).astype(float)
    punished = case.setting("reward.overlong") != "none" and (counted != np.array(case.batch["length"])).any()
    kl = _kl(case)
    reward = reward if kl is None else reward - kl
    return Plain(reward, numpy.group, counted, BASELINES[baseline], scale == "group_std",
                 0 if case.setting("advantage.std") == "population" else 1, float(case.setting("advantage.eps") or 0),
                 case.setting("advantage.eps_place"), case.setting("advantage.singleton") == "raw",
                 by_group=(baseline, scale) != ("none", "none"), truncated=numpy.truncated, kl=kl,
                 by_counted=_overlong(case, counted) - _overlong(case, np.array(case.batch["length"], float)) if punished else None)


def _of_kl(p: Plain, kl: np.ndarray) -> Iterator[Tuple[str, Plain]]:
    """The KL in the reward."""
    for name, taken in (("ADV-28b", 0 * kl), ("ADV-28c", -kl), ("the KL in the reward counts twice", 2 * kl),
                        ("the KL in the reward is a mean over the response, not a sum", kl / np.maximum(p.tokens, 1))):
        yield name, dataclasses.replace(p, reward=p.reward + kl - taken)


def _of_groups(p: Plain) -> Iterator[Tuple[str, Plain]]:
    replace, n, groups = dataclasses.replace, len(p.group), int(p.group.max(initial=0)) + 1
    yield "ADV-02", replace(p, group=np.zeros(n, int))
    yield "ADV-29", replace(p, group=np.arange(n) % groups)
    if n % groups == 0:
        yield "groups are chunks of equal size, whatever the batch says", replace(p, group=np.arange(n) // (n // groups))
    for name, change in REWARDS.items():
        yield name, replace(p, reward=change(p.reward))
    yield "ADV-08", replace(p, raw=not p.raw)
    yield "the advantages are normalised twice in their group", replace(p, reward=p.advantages())
    if p.truncated is not None:
        yield "responses that were cut off do not count in their group's baseline and deviation", replace(p, only_whole=True)


def _of_baseline(p: Plain) -> Iterator[Tuple[str, Plain]]:
    replace = dataclasses.replace
    batch = "the baseline is the mean of the whole batch"
    others = [(name, replace(p, baseline=b)) for name, b in OTHER_BASELINES.items() if b is not p.baseline]
    others += [(batch, replace(p, baseline_of_batch=True, alone_too=too)) for too in (True, False)]
    for name, other in others:
        yield name, other
        if p.scaled:
            for always, around in ((False, False), (False, True), (True, False), (True, True)):
                yield name, replace(other, always_divides=always, around=around)
            yield f"{name}, and there is no division by the deviation", replace(other, scaled=False)


def _of_deviation(p: Plain) -> Iterator[Tuple[str, Plain]]:
    replace = dataclasses.replace
    yield "ADV-01" if not p.eps else "there is no division by the deviation", replace(p, scaled=False)
    yield "ADV-12", replace(p, less=1 - p.less)
    yield "ADV-01b", replace(p, of_batch=True)
    yield "ADV-07", replace(p, nan_alone=True)
    for too in (False, True):  # a response alone in its group may be 0/0 too
        yield EQUAL_IS_NAN, replace(p, nan_where_equal=True, nan_alone=too)
    for sign in (1.0, -1.0):
        yield EQUAL_IS_NOISE, replace(p, noise=sign)
    yield from ((name, replace(p, divisor=f)) for name, f in DIVISORS.items())
    around = "the deviation is taken around 0, not around the mean"
    yield around, replace(p, divisor=lambda r, less: float(np.sqrt((r**2).sum() / max(len(r) - 1, 1))))
    yield from ((f"the deviation is at least {floor}", replace(p, divisor=_at_least(float(floor)))) for floor in FLOORS)
    yield "the deviation is the mean of the groups' deviations", replace(p, mean_of_groups=True)
    for less in (p.less, 1 - p.less):
        yield BOTH_OF_TOKENS, replace(p, baseline=OTHER_BASELINES[OF_TOKENS], of_tokens=True, less=less)
    lowest = OTHER_BASELINES["the baseline is the group's smallest reward"]
    scaled = "rewards are scaled from 0 to 1 in their group: (R - min)/(max - min{})"
    for small in ("", " + 1e-4", " + 1e-6", " + 1e-8"):
        yield scaled.format(small), replace(p, baseline=lowest, divisor=_range_and(float(small[3:] or 0)))
    yield "rewards are scaled from -1 to 1 in their group: 2 (R - min)/(max - min) - 1", replace(
        p, baseline=lambda r, i, t: float(r.max() + r.min()) / 2, divisor=lambda r, less: float(np.ptp(r)) / 2)
    for small in (*SMALL, "0"):
        if float(small) != p.eps and p.place == "add":
            name = f"{small} is added to the deviation" if float(small) else "nothing is added to the deviation"
            yield name, replace(p, eps=float(small))
            yield f"{name}, and the divisor of the variance is the other one", replace(p, eps=float(small), less=1 - p.less)
    for small in SMALL:
        yield f"{small} is added to the variance, under the root", replace(p, eps=float(small), place="inside")


def changes(p: Plain) -> Iterator[Tuple[str, Plain]]:
    replace = dataclasses.replace
    yield from _of_baseline(p)
    yield from _of_groups(p)
    if p.kl is not None:
        yield from _of_kl(p, p.kl)
    if p.by_counted is not None:
        yield "REW-01c", replace(p, reward=p.reward + p.by_counted)
    if p.scaled:
        yield from _of_deviation(p)
        return
    yield "the advantage is divided by the group's deviation", replace(p, scaled=True)
    for small in SMALL:
        yield f"the advantage is divided by the group's deviation + {small}", replace(p, scaled=True, eps=float(small))


def _whitened(a: np.ndarray, counts: np.ndarray, less: int, eps: float) -> np.ndarray:
    x = a[counts]
    std = float(np.sqrt(((x - x.mean()) ** 2).sum() / (len(x) - less))) if len(x) > less else 0.0
    return np.where(counts, (a - x.mean()) / (std + eps) if std else 0.0, 0.0) if len(x) else a


def _of_tokens(a: np.ndarray, counts: np.ndarray, slots: np.ndarray, p: Plain) -> Iterator[Tuple[str, np.ndarray]]:
    """The right advantage of each response, spread over its tokens in another way."""
    at = np.where(counts, a[:, None], 0.0)
    order = np.cumsum(counts, 1)
    yield "masked tokens have the advantage of their response, not 0", np.where(slots, a[:, None], 0.0)
    yield "the advantage is divided by the response's length", at / np.maximum(p.tokens, 1)[:, None]
    yield "the advantage is multiplied by the response's length", at * p.tokens[:, None]
    yield "only the last token of a response has its advantage", np.where(order == p.tokens[:, None], at, 0.0)
    yield "only the first token of a response has its advantage", np.where(order == 1, at, 0.0)
    for eps in {0.0, p.eps if p.place == "add" else 0.0}:
        yield "ADV-18", _whitened(at, counts, p.less, eps)


def _gae(case: Case) -> Iterator[Tuple[str, np.ndarray]]:
    """GAE with one thing changed, from the right one: its rewards are what gives that."""
    arrays, gamma, lam = case.numpy(), float(case.setting("advantage.gamma")), float(case.setting("advantage.lambda"))
    value = getattr(arrays, "value", None)
    if value is None or case.setting("advantage.scale") != "none" or case.setting("advantage.batch_norm") != "none":
        return
    if case.setting("advantage.lambda_length") or case.setting("advantage.bootstrap") != "zero":
        return
    per_token = []  # the reward of each token that counts, by its place
    for right, own, counted in zip(case.expect["advantage"], value, arrays.mask):
        rewards: Dict[int, float] = {}
        after = next_ = 0.0
        for t in [t for t in reversed(range(len(right))) if counted[t]]:
            rewards[t] = float(right[t]) - gamma * lam * after + float(own[t]) - gamma * next_
            after, next_ = float(right[t]), float(own[t])
        per_token.append(dict(sorted(rewards.items())))
    changes = {
        "gamma and lambda of GAE are exchanged": (lam, gamma * lam, False),
        "GAE's next value is not discounted: r + V' - V": (1.0, gamma * lam, False),
        "GAE has no next value: r - V": (0.0, gamma * lam, False),
        "GAE's trace decays by lambda alone, not by gamma lambda": (gamma, lam, False),
        "GAE's trace decays by gamma alone, not by gamma lambda": (gamma, gamma, False),
        **({} if case.setting("reward.kl") != "none" else {REWARD_FIRST: (gamma, gamma * lam, False)}),
        "the returns of GAE, A + V, are taken for its advantages": (gamma, gamma * lam, True),
    }
    for name, (discount, decay, returns) in changes.items():
        moved = name == REWARD_FIRST
        found = np.zeros(arrays.mask.shape)
        for i, (own, rewards) in enumerate(zip(value, per_token)):
            next_, trace = 0.0, 0.0
            for t in reversed(list(rewards)):
                reward = rewards[t] if not moved else sum(rewards.values()) if t == min(rewards) else 0.0
                trace = reward + discount * next_ - own[t] + decay * trace
                next_ = float(own[t])
                found[i, t] = trace + next_ if returns else trace
        yield name, found


def computed_advantages(case: Case) -> Iterator[Tuple[str, np.ndarray]]:
    """(cause, advantages of all slots); nothing for a case whose right answer cannot be computed in the same way."""
    p = _plain(case) if case.kind == "objective" and "advantage" in case.expect else None
    if case.kind == "objective" and "advantage" in case.expect and case.setting("advantage.credit") == "gae":
        yield from _gae(case)
    if p is None:
        return
    arrays = case.numpy()
    counts = arrays.mask

    def by_token(one: np.ndarray) -> np.ndarray:
        return np.where(counts, one[:, None], 0.0)

    right, one = np.zeros(counts.shape), p.advantages()
    for i, row in enumerate(case.expect["advantage"]):
        right[i, : len(row)] = [float(x) for x in row]
    size = float(np.abs(right).max(initial=0)) * (1 + float(np.abs(p.reward).max(initial=0)))
    if not np.all(np.abs(by_token(one) - right) <= 1e-10 * size):
        return
    slots = np.arange(counts.shape[1]) < np.array(case.batch["length"], int)[:, None]
    with np.errstate(all="ignore"):
        yield from _of_tokens(one, counts, slots, p)
        for name, step in STEPS.items():
            yield name, by_token(step(one))
        for name, changed in changes(p):
            yield name, by_token(changed.advantages())
