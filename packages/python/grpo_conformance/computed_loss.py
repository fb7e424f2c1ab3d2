"""Wrong losses that the vectors need not record: the plainest objectives computed again with one thing changed, and the exact terms of any
objective aggregated in another way."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Tuple

import numpy as np

from .batch import Batch
from .computed_policy import POLICIES, Policy, of_cispo, of_clip, of_reinforce, of_sapo
from .computed_rollout import Rollout, of_rollout, rollout_of
from .loader import Case
from .sixteen_bits import NAMES, sixteen_bits

Arrays = Dict[str, np.ndarray]  # loss, term, dlogp
TEMPERATURES = ("0.5", "0.6", "0.7", "0.8", "0.9", "1.2", "1.5")
KL_COEFS = ("0.001", "0.01", "0.04", "0.1", "1")
SMALL = ("1e-4", "1e-5", "1e-6", "1e-8", "1e-9")  # what is added to divisors
MICRO_BATCHES = "micro-batches of {} responses have a mean of their own, and the loss is the mean of these"
MICRO_TOKENS = "micro-batches of {} responses have a mean over their tokens, and the loss is the mean of these"
PARTS = "2 micro-batches of a batch have a mean of their own, and the loss is the mean of these"
PARTS_OF_TOKENS = "2 micro-batches of a batch have a mean over their tokens, and the loss is the mean of these"
WEIGHTED = " have a mean over their tokens, and each is weighted by its share of the responses"
LONGEST = "the constant divisor is the most tokens that count of any response in the batch"
ADDED = "the number of tokens that is divided by has {} added"


# ---- aggregation: one coefficient for all tokens of a response


@dataclasses.dataclass(frozen=True)
class Counts:
    """Of each response: its active tokens, its slots, its group; and the width of the batch."""

    tokens: np.ndarray
    slots: np.ndarray
    group: np.ndarray
    width: int


def _over(numerator: float, divisor: Any) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.where(np.asarray(divisor) == 0, 0.0, numerator / np.asarray(divisor, float))


def coefficients(kind: str, n: Counts, constant: float, drop: bool) -> Optional[np.ndarray]:
    """c of every response; None for a kind whose coefficients vary within a response, or with the advantages."""
    some = n.tokens > 0
    of_group = np.array([n.tokens[n.group == g].sum() for g in n.group], float)
    in_group = np.array([(some if drop else some | True)[n.group == g].sum() for g in n.group], float)
    responses = some.sum() if drop else len(n.tokens)
    groups = len(set(n.group[some].tolist() if drop else n.group.tolist()))
    ones = np.ones(len(n.tokens))
    divisors = {
        "token_sum": ones,
        "token_mean": ones * n.tokens.sum(),
        "seq_mean_token_mean": responses * n.tokens,
        "seq_mean_token_sum": ones * responses,
        "seq_mean_constant": ones * responses * constant,
        "constant": ones * constant,
        "group_mean_token_mean": groups * of_group,
        "seq_sum_token_mean": n.tokens,
        "group_mean": groups * n.tokens,
        "group_mean_seq_mean": groups * in_group * n.tokens,
    }
    return _over(1, divisors[kind]) if kind in divisors else None


NAMED = {  # (from, to): the name of the mistake
    ("token_mean", "seq_mean_token_mean"): "NORM-07",
    ("seq_mean_token_mean", "token_mean"): "NORM-07a",
    ("seq_mean_token_sum", "seq_mean_token_mean"): "NORM-01",
    ("seq_mean_constant", "constant"): "NORM-17",
    ("token_mean", "token_sum"): "NORM-17a",
}


def _weights(case: Case, n: Counts, kind: str, constant: float, drop: bool) -> Iterator[Tuple[str, Optional[np.ndarray]]]:
    """Other coefficients, by the name of what is wrong with them."""
    right = coefficients(kind, n, constant, drop)
    of_response = case.setting("ratio.level").startswith("sequence")
    for other in ("token_mean", "seq_mean_token_mean", "seq_mean_token_sum", "token_sum", "group_mean_token_mean", "seq_sum_token_mean",
                  "group_mean", "group_mean_seq_mean", "constant", "seq_mean_constant"):
        if other != kind and (constant or "constant" not in other):
            name = NAMED.get((kind, other), f"aggregation.kind = {other}")
            if of_response and kind == "seq_mean_token_mean":
                name = {"token_mean": "GSPO-09", "seq_mean_token_sum": "NORM-24a"}.get(other, name)
            yield name, coefficients(other, n, constant, drop)
    yield "NORM-05a", coefficients(kind, n, constant, not drop)
    yield "MASK-12", _over(1, np.ones(len(n.tokens)) * len(n.tokens) * n.width) if "constant" not in kind else None
    for size in (2, 3, 4) if kind in ("seq_mean_token_mean", "token_mean", "group_mean_token_mean") and not drop else ():
        if len(n.tokens) > size:
            yield MICRO_BATCHES.format(size), _of_micro_batches(n, size, kind == "seq_mean_token_mean")
    if kind in ("seq_mean_token_mean", "token_mean", "group_mean_token_mean") and not drop and len(n.tokens) > 1:
        yield PARTS, _of_micro_batches(n, -(-len(n.tokens) // 2), kind == "seq_mean_token_mean")
    if kind == "token_mean" and len(n.tokens) > 1:
        yield f"2 micro-batches of a batch{WEIGHTED}", _of_micro_batches(n, -(-len(n.tokens) // 2), False, True)
        for size in (size for size in (2, 3, 4) if len(n.tokens) > size):
            yield f"micro-batches of {size} responses{WEIGHTED}", _of_micro_batches(n, size, False, True)
    if kind.startswith("seq_mean") and right is not None:
        yield from _of_responses(n, kind, right)
    if kind == "seq_mean_constant":
        yield "NORM-16", coefficients(kind, n, n.width, drop)
        yield LONGEST, coefficients(kind, n, max(1, int(n.tokens.max(initial=0))), drop)
    if right is not None and kind.endswith("token_mean"):
        of_all = kind != "seq_mean_token_mean"
        counted, slots = (np.sum(n.tokens), np.sum(n.slots)) if of_all else (n.tokens, n.slots)
        if kind != "group_mean_token_mean":
            yield "NORM-13", right * _over(1, slots) * counted
            for small in SMALL:
                yield ADDED.format(small), right * counted / (counted + float(small))


def _of_responses(n: Counts, kind: str, right: np.ndarray) -> Iterator[Tuple[str, np.ndarray]]:
    """Each response weighs something else."""
    tokens = n.tokens.astype(float)
    yield "responses are weighted by their length", right * tokens
    yield "each response is divided by its length", right * _over(1, tokens)
    if kind == "seq_mean_token_mean":
        for name, divisor in (("its length plus 1", tokens + 1), ("the root of its length", np.sqrt(tokens))):
            yield f"the mean of a response is divided by {name}", right * tokens * _over(1, divisor)
        for size in (2, 3, 4):
            if len(tokens) > size:
                yield MICRO_TOKENS.format(size), _of_micro_batches(n, size, False)
        if len(tokens) > 1:
            yield PARTS_OF_TOKENS, _of_micro_batches(n, -(-len(tokens) // 2), False)


def _of_micro_batches(n: Counts, size: int, by_response: bool, weighted: bool = False) -> np.ndarray:
    """Each has a mean over its own tokens, or over the means of its responses; the loss is the mean of these, or weighted by responses."""
    which = np.arange(len(n.tokens)) // size
    own = np.array([(which == k).sum() if by_response else n.tokens[which == k].sum() for k in which], float)
    if weighted:
        return _over(1, own) * np.array([(which == k).sum() for k in which]) / len(which)
    return _over(1, own * (which.max() + 1) * (n.tokens if by_response else 1))


def _counts(case: Case, mask: np.ndarray, group: np.ndarray) -> Counts:
    length = np.array(case.batch["length"], int)
    return Counts(mask.sum(1), length, group, int(length.max(initial=0)))


# ---- estimators of the KL


def _k3(q: np.ndarray) -> np.ndarray:
    """e^q - q - 1"""
    series = q * q / 2 * (1 + q / 3 * (1 + q / 4 * (1 + q / 5 * (1 + q / 6 * (1 + q / 7)))))
    found: np.ndarray = np.where(np.abs(q) < 1e-2, series, np.expm1(q) - q)
    return found


KLS: Mapping[str, Callable[[np.ndarray], Tuple[np.ndarray, np.ndarray]]] = {  # of q = f - l: the estimate, and its derivative by l
    "k1": lambda q: (-q, np.ones_like(q)),
    "k2": lambda q: (q * q / 2, -q),
    "k3": lambda q: (_k3(q), -np.expm1(q)),
}


@dataclasses.dataclass(frozen=True)
class Plain:
    """A plain objective with its batch."""

    kind: str
    level: str
    eps_low: float
    eps_high: float
    clip_dual: float
    weight_min: float
    weight_max: float
    tau_pos: float
    tau_neg: float
    kl: str
    kl_coef: float
    clamp: Tuple[float, ...]  # of a log-ratio, from and to
    level_clamp: Tuple[float, ...]  # of that of a response
    by_token: bool  # is the mean of a response detached?
    logp: np.ndarray
    old: np.ndarray
    ref: Optional[np.ndarray]
    advantage: np.ndarray
    mask: np.ndarray
    weight: np.ndarray  # c of each response, or of each token
    counts: Counts
    aggregation: Tuple[str, float, bool]  # kind, constant, are empty responses dropped?
    rollout: Rollout
    token_clip: Tuple[float, float]  # GMPO's bounds of a token's log-ratio, below and above 0
    cut: np.ndarray  # is a response left out because it was cut off?
    kl_weight: float = 1.0  # what the KL is multiplied by
    kl_gradient: float = 1.0
    gradient: float = 1.0  # what the policy's derivative is multiplied by
    ratio_gradient: float = 1.0  # the same of what goes through the ratio, not through a log-probability beside it
    ratio_times: float = 1.0  # what the log-ratio is multiplied by
    share: Optional[np.ndarray] = None  # what the sum of a response's log-ratios is divided by
    d_bits: int = 0  # log-ratios are rounded to numbers of 16 bits
    ratio_bits: int = 0  # the same of ratios; negative: with the gradient of the exact ratio
    by_ratio_bits: int = 0  # the derivative by the ratio of a token is rounded too, as by automatic differentiation
    policy_bits: int = 0  # the same of the policy's derivative by the log-ratio
    gradient_bits: int = 0  # the same of the whole gradient
    counted: Optional[np.ndarray] = None  # tokens that have a gradient, where masked ones stay in the sum
    moved: Tuple[int, bool] = (0, False)  # the log-probabilities were moved by so many tokens, in rows or through the padded batch
    slope: float = 1.0  # derivative of the log-probabilities that are read by the true ones
    d_size: bool = False  # the absolute value of the log-ratio is taken
    of_position: bool = False  # the mean log-ratio is of the responses at a position
    pool: Optional[Callable[[np.ndarray, np.ndarray], np.ndarray]] = None  # of a log-ratio and its advantage, in the place of GMPO's clip
    both_gradients: bool = False  # the mean log-ratio is not detached beside the token's own
    mean_ratio: bool = False  # the ratio of a response is the mean of its tokens' ratios
    kl_mean: bool = False  # the estimator is of the mean log-ratio of a response
    kl_by_ratio: bool = False  # each token's estimate is multiplied by its ratio, detached
    kl_weights: Optional[np.ndarray] = None  # c of each response in the sum of the KL
    kl_of_all: Optional[np.ndarray] = None  # the KL of all slots counts, with this coefficient of each response
    policy: Optional[Policy] = None
    estimate: Optional[Callable[[np.ndarray], Tuple[np.ndarray, np.ndarray]]] = None

    def answer(self) -> Arrays:
        with np.errstate(all="ignore"):
            return self._answer()

    def _answer(self) -> Arrays:
        m, tokens = self.mask, np.maximum(self.mask.sum(1), 1)
        c = self.weight if self.weight.ndim > 1 else self.weight[:, None]
        l = np.where(m, self.logp, 0.0)
        d = l - np.where(m, self.old, 0.0)
        d = sixteen_bits(d, self.d_bits) if self.d_bits else d
        free = (d >= self.clamp[0]) & (d <= self.clamp[1])
        y = np.clip(d, self.clamp[0], self.clamp[1]) * self.ratio_times
        inner = np.sign(d) if self.d_size else np.ones_like(d)
        y = np.abs(y) if self.d_size else y
        a = np.where(m, self.advantage, 0.0)
        if self.level == "sequence_clipped_mean":
            pooled = np.where(m, (self.pool or _pooled(*self.token_clip))(y, a), 0.0)
            inner, y = inner * (pooled == y), pooled
        of_response = self.level.startswith("sequence") and not self.of_position
        share = self.share if self.share is not None else tokens if self.level.endswith("mean") else np.ones(len(tokens))
        if self.of_position:
            y = np.broadcast_to(y.sum(0) / np.maximum(m.sum(0), 1), l.shape)
        elif of_response and self.mean_ratio:
            e = np.where(m, np.exp(y), 0.0)
            inner = inner * e * np.where(m.any(1), share / np.where(e.sum(1) > 0, e.sum(1), 1), 1)[:, None]
            y = np.log(np.where(m.any(1), e.sum(1) / share, 1))[:, None] + np.zeros_like(l)
        elif of_response:
            y = np.broadcast_to((y.sum(1) / share)[:, None], l.shape)
        bound = np.clip(y, self.level_clamp[0], self.level_clamp[1])
        exact, rounded = bound, 0.0
        if self.ratio_bits:
            exact, bound = bound, np.log(sixteen_bits(np.exp(bound), abs(self.ratio_bits)))
            rounded = exact - bound if self.ratio_bits < 0 else 0.0
        x, dy, dl = (self.policy or POLICIES[self.kind])(self, np.exp(bound), bound, l, a)
        v = self.rollout.weight(self)
        x, dy, dl = (_times(v, x) for x in (x, dy, dl))
        dy = np.where(m, dy * c, 0.0)
        if self.by_ratio_bits:
            dy = sixteen_bits(dy * np.exp(-bound), self.by_ratio_bits) * np.exp(bound)
        dy = dy * np.exp(rounded)
        if self.of_position:
            dy = np.broadcast_to(dy.sum(0) / np.maximum(m.sum(0), 1), l.shape)
        if of_response:
            dy = self._through_mean(np.where(exact == y, dy, 0.0), share)
        slope = self.gradient * (np.where(free, dy * inner, 0.0) * self.ratio_gradient * self.ratio_times + c * dl)
        slope = sixteen_bits(slope, self.policy_bits) if self.policy_bits else slope
        if self.ref is not None and self.kl_coef and self.kl != "none":
            if self.kl_of_all is not None:
                return self._kl_of_all(x, slope)
            q = np.where(m, self.ref, 0.0) - l
            q = np.broadcast_to((q.sum(1) / tokens)[:, None], q.shape) if self.kl_mean else q
            k, dk = (self.estimate or KLS[self.kl])(q)
            times = self.kl_coef * self.kl_weight * (np.exp(d) if self.kl_by_ratio else 1.0)
            own = c if self.kl_weights is None else self.kl_weights[:, None]
            slope = slope + own * times * self.kl_gradient * dk
            if self.kl_weights is not None:
                x, k = np.where(m, x, 0.0), np.where(m, times * k, 0.0)
                return {"loss": np.array([(c * x + own * k).sum()]), "term": x + k, "dlogp": np.where(m, slope, 0.0)}
            x = x + times * k
        has = m if self.counted is None else self.counted
        slope = sixteen_bits(slope, self.gradient_bits) if self.gradient_bits else slope
        x, slope = np.where(m, x, 0.0), _moved(np.where(has, slope * self.slope, 0.0), -self.moved[0], self.moved[1])
        return {"loss": np.array([(c * x).sum()]), "term": x, "dlogp": slope}

    def _through_mean(self, dy: np.ndarray, share: np.ndarray) -> np.ndarray:
        through = np.broadcast_to((dy.sum(1) / share)[:, None], dy.shape)
        return dy + through if self.both_gradients else dy if self.by_token else through

    def _kl_of_all(self, x: np.ndarray, slope: np.ndarray) -> Arrays:
        slots = np.arange(x.shape[1]) < self.counts.slots[:, None]
        own = np.where(slots, np.asarray(self.kl_of_all)[:, None], 0.0)
        k, dk = KLS[self.kl](np.where(slots, np.asarray(self.ref) - self.logp, 0.0))
        policy, k = np.where(self.mask, x, 0.0), np.where(slots, self.kl_coef * k, 0.0)
        return {"loss": np.array([(self.weight[:, None] * policy).sum() + (own * k).sum()]), "term": policy + k,
                "dlogp": np.where(self.mask, slope, 0.0) + own * self.kl_coef * dk}


def _times(v: np.ndarray, x: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.where(v == 0, 0.0, v * x)
    return found


def _pooled(low: float, high: float) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """GMPO: the log-ratio of a token is bounded below where A < 0, else above."""
    return lambda d, a: np.where(a < 0, np.maximum(d, -low), np.minimum(d, high))


def _pools(low: float, high: float) -> Iterator[Tuple[str, Callable[[np.ndarray, np.ndarray], np.ndarray]]]:
    below = np.log1p(-low) if low < 1 else -np.inf
    yield "GMPO's bounds are exchanged: the lower one where A >= 0, the upper one where A < 0", (
        lambda d, a: np.where(a < 0, np.minimum(d, high), np.maximum(d, -low)))
    yield "GMPO's bounds both hold, whatever the sign of A", lambda d, a: np.clip(d, -low, high)
    name = "GMPO's bounds are of the ratio, "
    yield name + "1 - eps and 1 + eps, not of the log-ratio", _pooled(-below, float(np.log1p(high)))
    yield name + "and both hold, whatever the sign of A", lambda d, a: np.clip(d, below, np.log1p(high))
    yield "CLIP-08", lambda d, a: np.where(a <= 0, np.maximum(d, -low), np.minimum(d, high))


def _moved(x: np.ndarray, by: int, through: bool = False) -> np.ndarray:
    """In rows that are padded, each by itself or (through) one after the other."""
    found: np.ndarray = np.roll(x, by).reshape(x.shape) if through else np.roll(x, by, 1)
    return found


def _real(found: Optional[np.ndarray]) -> Optional[np.ndarray]:
    return None if found is None else found.astype(float)


def plain(case: Case, arrays: Batch, mask: np.ndarray, counts: Counts, weight: Optional[np.ndarray],
          aggregation: Tuple[str, float, bool], cut: np.ndarray) -> Optional[Plain]:
    kind, level, kl = (case.setting(path) for path in ("surrogate.kind", "ratio.level", "penalty.kl"))
    known = kind in POLICIES and level in ("token", "sequence_mean", "sequence_sum", "sequence_clipped_mean") and kl in (*KLS, "none")
    logp, old, advantage = (_real(getattr(arrays, name)) for name in ("logp", "logp_old", "advantage"))
    if not known or weight is None or logp is None or advantage is None:
        return None
    if old is None and kind != "reinforce":
        return None
    number: Dict[str, Any] = {
        name: float(case.setting(f"surrogate.{name}") or 0)
        for name in ("eps_low", "eps_high", "clip_dual", "weight_min", "weight_max", "tau_pos", "tau_neg")
    }
    ratio = case.objective.get("ratio", {})
    clamps = [tuple(float(ratio.get(f"{name}_{side}", infinity)) for side, infinity in (("low", -np.inf), ("high", np.inf)))
              for name in ("clamp", "level_clamp")]
    return Plain(kind, level, kl=kl, kl_coef=float(case.setting("penalty.kl_coef") or 0), clamp=clamps[0], level_clamp=clamps[1],
                 by_token=case.setting("ratio.gradient") == "token", logp=logp,
                 old=logp if old is None else old, ref=_real(arrays.logp_ref), advantage=advantage, mask=mask, weight=weight, counts=counts,
                 aggregation=aggregation, cut=cut, rollout=rollout_of(case, arrays),
                 token_clip=(float(case.setting("ratio.token_clip_low") or 0), float(case.setting("ratio.token_clip_high") or 0)),
                 **number)


def _slots(p: Plain) -> Optional[Tuple[np.ndarray, np.ndarray]]:
    """Of each response the tokens that its sum is divided by, and those with the tokens that do not count; None: another aggregation."""
    n, kind = p.counts, p.aggregation[0]
    if kind == "seq_mean_token_mean":
        return n.tokens, n.slots
    groups = n.group if kind == "group_mean_token_mean" else np.zeros(len(n.tokens), int)
    found = tuple(np.array([x[groups == g].sum() for g in groups]) for x in (n.tokens, n.slots))
    return (found[0], found[1]) if kind in ("token_mean", "group_mean_token_mean") else None


def _kl_changes(p: Plain) -> Iterator[Tuple[str, Plain]]:
    replace = dataclasses.replace
    yield "KL-01", replace(p, kl_weight=-1.0)
    yield "KL-02", replace(p, kl_gradient=0.0)
    yield "the KL is left out", replace(p, kl_weight=0.0)
    yield "the KL counts twice", replace(p, kl_weight=2.0)
    yield "the KL counts half", replace(p, kl_weight=0.5)
    yield "the KL's coefficient is left out", replace(p, kl_coef=1.0)
    for coef in KL_COEFS:
        if float(coef) != p.kl_coef:
            yield f"penalty.kl_coef = {coef}", replace(p, kl_coef=float(coef))
    yield "the KL is of the old policy, not of the reference", replace(p, ref=p.old)
    for kl, form in (("k1", "D"), ("k2", "D^2/2"), ("k3", "e^-D + D - 1")):
        if kl != p.kl:
            yield ("KL-05" if kl == "k1" and p.kl == "k3" else f"the KL's estimator is {form}, {kl}"), replace(p, kl=kl)
    yield "the KL's coefficient is applied twice", replace(p, kl_coef=p.kl_coef**2)
    yield "the KL's estimator is of the mean log-ratio of a response, not of each token's", replace(p, kl_mean=True)
    if p.level == "token":
        yield "the KL is multiplied by the ratio, detached", replace(p, kl_by_ratio=True)
    if p.kl == "k3":
        for sign, word in ((-1, "subtracted from"), (1, "added to")):
            kl = p.kl_coef * _k3(np.where(p.mask, np.asarray(p.ref) - p.logp, 0.0))
            yield f"the KL is {word} the advantage, and not in the loss", replace(p, advantage=p.advantage + sign * kl, kl_weight=0.0)
    for kind, words in (("token_mean", "one mean over all tokens"), ("seq_mean_token_mean", "a mean over responses of means"),
                        ("seq_mean_token_sum", "a mean over responses of sums"), ("token_sum", "a sum over tokens")):
        own = coefficients(kind, p.counts, 0, p.aggregation[2])
        if kind != p.aggregation[0] and own is not None:
            yield f"the KL is {words}, unlike the policy's loss", replace(p, kl_weights=own)
    slots = _slots(p)
    if slots is not None and not p.cut.any():
        for name, divisor in (("the KL of tokens that do not count is in its sum, which is divided by the tokens that count",
                               np.maximum(slots[0], 1)), ("the KL is averaged over tokens that do not count, too", slots[1])):
            everywhere = coefficients(p.aggregation[0], dataclasses.replace(p.counts, tokens=p.counts.slots), *p.aggregation[1:])
            if everywhere is not None:
                yield name, replace(p, kl_of_all=everywhere * slots[1] / divisor)
    estimates: Mapping[str, Callable[[np.ndarray], Tuple[np.ndarray, np.ndarray]]] = {
        "D^2, without its 1/2": lambda q: (q * q, -2 * q),
        "|D|": lambda q: (np.abs(q), -np.sign(q)),
        "-D: of the other direction": lambda q: (q, -np.ones_like(q)),
        "the ratio e^-D": lambda q: (np.exp(q), -np.exp(q)),
        "the ratio e^D": lambda q: (np.exp(-q), np.exp(-q)),
        "p D, weighted by the policy's probability": lambda q: (-np.exp(p.logp) * q, np.exp(p.logp) * (1 - q)),
    }
    for name, estimate in estimates.items():
        yield f"the KL's estimator is {name}", replace(p, estimate=estimate)
    if p.kl == "k3":
        yield "KL-04", replace(p, estimate=lambda q: (_k3(-q), np.expm1(-q)))
        yield "k3 without its 1: e^-D + D", replace(p, estimate=lambda q: (np.exp(q) - q, -np.expm1(q)))
        yield "k3 without its D: e^-D - 1", replace(p, estimate=lambda q: (np.expm1(q), -np.exp(q)))


def _ratio_changes(p: Plain) -> Iterator[Tuple[str, Plain]]:
    replace = dataclasses.replace
    for gradient in (1.0, -1.0):
        yield "the ratio is inverted: old over new", replace(p, ratio_times=-1.0, ratio_gradient=gradient)
    for times, words in ((0.5, "the log-ratio is halved"), (2.0, "the log-ratio is doubled"),
                         (np.log(2.0), "the ratio is a power of 2, not of e"), (np.log(10.0), "the ratio is a power of 10, not of e")):
        for gradient in (1.0, 1 / times) if words.startswith("the log") else (1.0,):
            yield words, replace(p, ratio_times=times, ratio_gradient=gradient)
    yield "the absolute value of the log-ratio is taken", replace(p, d_size=True)
    yield "the ratio has no denominator: the policy's probability alone", replace(p, old=np.zeros_like(p.old))
    yield from _temperatures(p)
    if p.level == "sequence_mean":
        yield "the mean of a response's ratios is taken, not of its log-ratios", replace(p, mean_ratio=True)
        if p.kind not in ("reinforce", "cispo"):
            yield "GSPO-05", replace(p, both_gradients=True)
    for rollout in (p.rollout, p.rollout.kept(p)):
        yield "RATIO-01", replace(p, old=p.logp, rollout=rollout)
        if p.ref is not None:
            yield "RATIO-06", replace(p, old=p.ref, rollout=rollout)
    yield "the policy's gradient is left out, as if the ratio were detached", replace(p, gradient=0.0)
    yield "the sign of the policy's gradient is turned", replace(p, gradient=-1.0)
    if p.level == "sequence_clipped_mean":
        yield from ((name, replace(p, pool=pool)) for name, pool in _pools(*p.token_clip))
    for level in ("token", "sequence_mean", "sequence_sum"):
        if level != p.level:
            yield f"ratio.level = {level}", replace(p, level=level)
    if p.level.startswith("sequence"):
        yield f"ratio.gradient = {'full' if p.by_token else 'token'}", replace(p, by_token=not p.by_token)
    if p.level == "sequence_mean":
        n, mean = p.counts, "the mean log-ratio of a response is divided by "
        yield mean + "its slots, masked ones included", replace(p, share=np.maximum(n.slots, 1))
        yield mean + "the width of the batch", replace(p, share=np.full(len(n.slots), n.width))
        yield mean + "its length once more", replace(p, share=np.maximum(n.tokens, 1) ** 2)
        yield mean + "the root of its length", replace(p, share=np.sqrt(np.maximum(n.tokens, 1)))
        yield mean + "its length plus 1", replace(p, share=n.tokens + 1.0)
        for least in (np.nan, 1.0):
            yield mean + "its length less 1", replace(p, share=np.where(n.tokens > 1, n.tokens - 1.0, np.where(n.tokens, least, 1)))
        if not p.by_token:
            name = "the mean log-ratio is of the responses at a position, not of the tokens of a response"
            yield name, replace(p, of_position=True)
        yield mean + "the mean length of all responses", replace(p, share=np.full(len(n.slots), np.maximum(n.tokens, 1).mean()))
        for small in SMALL:
            yield f"{mean}its length plus {small}", replace(p, share=np.where(n.tokens, n.tokens + float(small), 1))


def _temperatures(p: Plain) -> Iterator[Tuple[str, Plain]]:
    for by in TEMPERATURES:
        name, ref = "log-probabilities are divided by a temperature, " + by, None if p.ref is None else p.ref / float(by)
        new = dataclasses.replace(p, logp=p.logp / float(by), slope=1 / float(by))
        yield f"the old {name}", dataclasses.replace(p, old=p.old / float(by))
        yield f"the policy's {name}, and the others are not", new
        yield f"all {name}", dataclasses.replace(new, old=p.old / float(by), ref=ref, rollout=p.rollout.by(lambda x: x / float(by)))


def _advantage_changes(p: Plain) -> Iterator[Tuple[str, Plain]]:
    replace, a = dataclasses.replace, p.advantage
    alike = bool(np.all(np.where(p.mask, a == a[np.arange(len(a)), p.mask.argmax(1)][:, None], True)))
    yield "the sign of the advantage is turned", replace(p, advantage=-a)
    yield "the absolute value of the advantage is taken", replace(p, advantage=np.abs(a))
    yield "the sign of the advantage is taken for the advantage", replace(p, advantage=np.sign(a))
    yield "negative advantages are left out", replace(p, advantage=np.maximum(a, 0))
    yield "positive advantages are left out", replace(p, advantage=np.minimum(a, 0))
    yield "the advantage is left out, as if it were 1", replace(p, advantage=np.ones_like(a))
    yield "the advantage is squared", replace(p, advantage=a * a)
    yield "the advantage is cut at -1 and 1", replace(p, advantage=np.clip(a, -1, 1))
    tokens, place = p.mask.sum(1)[:, None], np.cumsum(p.mask, 1)
    yield "the advantage is divided by the response's length", replace(p, advantage=a / np.maximum(tokens, 1))
    yield "the advantage is multiplied by the response's length", replace(p, advantage=a * tokens)
    yield "the advantage stands at the first token of a response alone", replace(p, advantage=np.where(place == 1, a, 0.0))
    yield "the advantage stands at the last token of a response alone", replace(p, advantage=np.where(place == tokens, a, 0.0))
    for step, side in ((-1, "left"), (1, "right")):
        name = f"the advantages are shifted by one token, to the {side}, with a 0 where one is missing"
        yield name, replace(p, advantage=_advantages_shifted(np.where(p.mask, a, 0.0), step, p.counts.slots))
    full = p.mask[:, -1:] & (p.counts.slots == a.shape[1])[:, None]
    name = "all tokens have the advantage at the last position of the padded row: 0 in responses shorter than the longest"
    yield name, replace(p, advantage=np.where(full, a[:, -1:], 0.0) * np.ones_like(a))
    name = "a response's advantage is the mean over all positions of the padded row"
    yield name, replace(p, advantage=np.broadcast_to((_of_rows(p) * p.mask.sum(1) / max(a.shape[1], 1))[:, None], a.shape))
    if not alike:
        rows, last = np.arange(len(a)), a.shape[1] - 1 - p.mask[:, ::-1].argmax(1)
        for whose, one in (("that of its first token", a[rows, p.mask.argmax(1)]), ("that of its last token", a[rows, last]),
                           ("the mean of those of its tokens", _of_rows(p))):
            name = f"a response has one advantage, {whose}, where case.advantage has one for each token"
            yield name, replace(p, advantage=np.broadcast_to(one[:, None], a.shape))
    if alike and len(a):
        one = a[np.arange(len(a)), p.mask.argmax(1)] * p.mask.any(1)
        for sign, first in ((-1, "longest"), (1, "shortest")):
            order = np.argsort(sign * p.counts.slots, kind="stable")
            name = f"the advantages are in the order of responses sorted by length, the {first} first"
            yield name, replace(p, advantage=np.broadcast_to(one[order][:, None], a.shape))
    for step, which in ((-1, "the next one"), (1, "the one before")):
        name = f"each response has the advantage of {which}"
        yield name, replace(p, advantage=np.roll(np.where(p.mask, a, 0.0), step, 0))
        yield name, replace(p, advantage=np.broadcast_to(np.roll(_of_rows(p), step)[:, None], a.shape))


def _shifted_masks(p: Plain, slots: np.ndarray) -> Dict[str, np.ndarray]:
    """The mask one step behind or ahead, by what has the token at the end of its response."""
    rows, end = np.arange(len(p.mask)), np.maximum(p.counts.slots - 1, 0)
    flat, found = p.mask[slots], {}
    for step, words, at, other in ((1, "behind the", 0 * end, end), (-1, "ahead of the", end, 0 * end)):
        name, moved, through = f"the mask is one step {words} log-probabilities", np.roll(p.mask, step, 1) & slots, np.zeros_like(p.mask)
        through[slots] = np.roll(flat, step)
        keeps, turns = ", the token at the end keeps its own", ", round the end of the response"
        for how, mask in ((keeps, p.mask[rows, at]), (turns, p.mask[rows, other])):
            found[name + how] = moved.copy()
            found[name + how][rows, at] = mask
        found[name + ", round the end of the padded row"] = moved
        if not p.cut.any():
            found[name + ", through the whole batch"] = through
    counts = np.hstack([p.mask[:, 1:], np.zeros_like(p.mask[:, :1])]) & slots
    counts[rows, end] = True
    found["the mask is one step ahead of the log-probabilities, and every last token counts"] = counts
    return {name: mask & slots & ~p.cut[:, None] for name, mask in found.items()}


def _padded_masks(p: Plain) -> Iterator[Tuple[str, np.ndarray]]:
    """Masks of padded rows, in which padding may begin to count."""
    behind, ahead = (f"the mask is one step {words} log-probabilities" for words in ("behind the", "ahead of the"))
    first = np.arange(p.mask.shape[1]) == 0
    yield behind, np.where(first, False, _moved(p.mask, 1))
    yield "MASK-05b", np.where(first, True, _moved(p.mask, 1))
    for words, by in ((behind, 1), (ahead, -1)):
        yield words + ", round the end of the padded row", _moved(p.mask, by)
        yield words + ", through the padded batch", _moved(p.mask, by, True)
    yield "the mask is ignored, and padding counts too", np.ones_like(p.mask)


def _fewer_tokens(p: Plain, slots: np.ndarray) -> Iterator[Tuple[str, np.ndarray]]:
    counts = p.mask & (p.advantage != 0)
    if not p.cut.any():
        yield "responses with a masked token do not count", p.mask & (p.mask == slots).all(1)[:, None]
    yield "tokens with an advantage of 0 do not count", counts
    yield "responses whose advantages are all 0 do not count", p.mask & counts.any(1)[:, None]


def _in_log_ratio_alone(p: Plain, slots: np.ndarray) -> Iterator[Tuple[str, Plain]]:
    """Masked tokens have log-probabilities of 0, so the ratio 1 and no gradient; what divides are the tokens that count."""
    divided = _slots(p)
    if p.level != "token" or p.kind in ("reinforce", "cispo") or p.kl not in ("none", "k3") or divided is None:
        return
    zero = {name: None if x is None else np.where(p.mask, x, 0.0) for name, x in (("logp", p.logp), ("old", p.old), ("ref", p.ref))}
    advantage = np.where(p.mask, p.advantage, _of_rows(p)[:, None])
    if not bool(np.all(np.where(p.mask, p.advantage == p.advantage[np.arange(len(p.mask)), p.mask.argmax(1)][:, None], True))):
        return  # whose advantage would a masked token have?
    for mask in (slots, np.ones_like(slots)):
        yield "the mask is in the log-ratio alone: masked tokens have the ratio 1, and stay in the sum", dataclasses.replace(
            p, mask=mask, advantage=advantage, counted=p.mask, **zero)


def _of_mask(p: Plain) -> Iterator[Tuple[str, Plain]]:
    """Other masks, with the advantages as they are and with that of the response everywhere."""
    slots = np.arange(p.mask.shape[1]) < p.counts.slots[:, None]
    off, on = np.zeros_like(p.mask[:, :1]), np.ones_like(p.mask[:, :1])
    last = p.mask & (np.cumsum(p.mask, 1) == p.mask.sum(1)[:, None])
    masks = {
        "MASK-05": np.hstack([p.mask[:, 1:], off]) & slots,
        "the mask is one step behind the log-probabilities": np.hstack([off, p.mask[:, :-1]]) & slots,
        "MASK-05b": np.hstack([on, p.mask[:, :-1]]) & slots & ~p.cut[:, None],
        **_shifted_masks(p, slots),
        "MASK-06a": slots & ~p.cut[:, None],
        "the mask is inverted": slots & ~p.mask,
        "MASK-02": p.mask & ~last,
        "MASK-02a": p.mask & (np.arange(p.mask.shape[1]) < p.counts.slots.max() - 1),
        "MASK-02b": p.mask & ~(p.mask & (np.cumsum(p.mask, 1) == 1)),
    }
    everywhere = np.where(p.mask, p.advantage, _of_rows(p)[:, None])  # tokens that count keep their own
    for name, mask in (*masks.items(), *(_padded_masks(p) if not p.cut.any() else ()), *_fewer_tokens(p, slots)):
        weight = coefficients(p.aggregation[0], dataclasses.replace(p.counts, tokens=mask.sum(1)), *p.aggregation[1:])
        if weight is not None and (mask == p.mask).all():
            yield name, p  # not wrong here: another form of the mistake, in padded rows, is no contradiction
        elif weight is not None:
            changed = dataclasses.replace(p, mask=mask, weight=weight)
            yield name, changed
            yield name, dataclasses.replace(changed, advantage=everywhere)
    yield from _in_log_ratio_alone(p, slots)
    if p.aggregation[0] == "token_mean" and (slots != p.mask).any():
        summed = dataclasses.replace(p, mask=slots)
        yield "MASK-12a", summed
        yield "MASK-12a", dataclasses.replace(summed, advantage=np.where(p.advantage, p.advantage, everywhere))


def _advantages_shifted(a: np.ndarray, step: int, slots: np.ndarray) -> np.ndarray:
    """Each row moved by one place within its slots, with 0 where one is missing."""
    zero, inside = np.zeros((len(a), 1)), np.arange(a.shape[1]) < slots[:, None]
    moved = np.hstack([zero, a[:, :-1]]) if step > 0 else np.hstack([a[:, 1:], zero])
    found: np.ndarray = np.where(inside, moved[:, : a.shape[1]], 0.0)
    return found


def _of_rows(p: Plain) -> np.ndarray:
    """The advantage of each response, the mean over its tokens."""
    sums: np.ndarray = np.where(p.mask, p.advantage, 0.0).sum(1) / np.maximum(p.mask.sum(1), 1)
    return sums


def _of_positions(p: Plain) -> Iterator[Tuple[str, Plain]]:
    """The mean over the responses at each position, and then over all positions, or over those with a token that counts."""
    counts = p.mask.sum(0)
    if p.aggregation[0] != "seq_mean_token_mean" or p.aggregation[2]:
        return
    for positions in (p.mask.shape[1], int((counts > 0).sum())):
        weight = np.where(p.mask, _over(1, counts * positions), 0.0)
        yield "the mean over the responses at each position, and then over positions", dataclasses.replace(p, weight=weight)


def _at_the_other_end(p: Plain, x: np.ndarray) -> np.ndarray:
    """Rows that are padded with 0 before their first token, read as if they were padded after the last."""
    found, width = np.zeros_like(x), x.shape[1]
    for i, n in enumerate(p.counts.slots):
        found[i, width - n :] = x[i, :n]
    return found


def _finite(x: np.ndarray) -> bool:
    return bool(np.isfinite(x).all())


def _shifted(p: Plain) -> Iterator[Tuple[str, Plain]]:
    """Log-probabilities one token off, in padded rows."""
    replace = dataclasses.replace
    for by, where in ((1, "right"), (-1, "left")):
        for through, words in ((False, "round the end of the padded row"), (True, "through the padded batch")):
            name = f"log-probabilities are shifted by one token, to the {where}, {words}"
            if p.kind != "reinforce" and _finite(p.old):
                yield f"the old {name}", replace(p, old=_moved(p.old, by, through))
            if _finite(p.logp):
                logp = _moved(p.logp, by, through)
                yield f"the policy's {name}", replace(p, logp=logp, moved=(by, through))
                yield f"the policy's {name}", replace(p, logp=logp)
            if p.ref is not None and _finite(p.ref) and p.kl_coef:
                yield f"the reference's {name}", replace(p, ref=_moved(p.ref, by, through))
    name = "log-probabilities are padded before their first token, the others after their last"
    if p.kind != "reinforce" and _finite(p.old):
        yield f"the old {name}", replace(p, old=_at_the_other_end(p, p.old))
    if p.ref is not None and _finite(p.ref) and p.kl_coef:
        yield f"the reference's {name}", replace(p, ref=_at_the_other_end(p, p.ref))


def _cut(p: Plain) -> Iterator[Tuple[str, Plain]]:
    """One array is a token longer than the other; both are cut to the same length."""
    for by, words, column in ((-1, "ahead of the policy's, and the last column", -1), (1, "behind the policy's, and the first column", 0)):
        mask = p.mask.copy()
        mask[:, column] = False
        weight = coefficients(p.aggregation[0], dataclasses.replace(p.counts, tokens=mask.sum(1)), *p.aggregation[1:])
        if p.kind != "reinforce" and _finite(p.old) and weight is not None:
            yield f"the old log-probabilities are one token {words} of the padded batch is cut off", dataclasses.replace(
                p, old=_moved(p.old, by), mask=mask, weight=weight)


def _rounded(p: Plain) -> Iterator[Tuple[str, Plain]]:
    """Numbers of 16 bits on the way to the ratio."""
    replace = dataclasses.replace
    for bits, name in NAMES.items():
        ref = None if p.ref is None else sixteen_bits(p.ref, bits)
        for back in (0, bits):  # automatic differentiation rounds the gradient of what was rounded
            yield f"the log-probabilities of all policies are rounded to {name}", replace(
                p, logp=sixteen_bits(p.logp, bits), old=sixteen_bits(p.old, bits), ref=ref, gradient_bits=back,
                rollout=p.rollout.by(lambda x: sixteen_bits(x, bits)))
            yield f"the policy's log-probabilities are rounded to {name}", replace(p, logp=sixteen_bits(p.logp, bits), gradient_bits=back)
            if p.kind != "reinforce":
                yield f"the log-ratios are rounded to {name}", replace(p, d_bits=bits, policy_bits=back)
        if p.kind != "reinforce":
            yield f"the old log-probabilities are rounded to {name}", replace(p, old=sixteen_bits(p.old, bits))
        if ref is not None and p.kl_coef:
            yield f"the reference's log-probabilities are rounded to {name}", replace(p, ref=ref)
        if p.kind != "reinforce" and p.level != "sequence_sum":
            for sign in (1, -1):
                yield f"the ratio is rounded to {name}", replace(p, ratio_bits=sign * bits)
            yield f"the ratio is rounded to {name}", replace(p, ratio_bits=-bits, by_ratio_bits=bits)


def changes(p: Plain) -> Iterator[Tuple[str, Plain]]:
    yield from _ratio_changes(p)
    yield from _advantage_changes(p)
    yield from _of_mask(p)
    if p.kind in ("ppo_clip", "dual_clip"):
        yield from ((name, dataclasses.replace(p, policy=policy)) for name, policy in of_clip(p))
    if p.kind == "cispo":
        yield from ((name, dataclasses.replace(p, policy=policy)) for name, policy in of_cispo(p))
    if p.kind == "reinforce":
        yield from ((name, dataclasses.replace(p, policy=policy)) for name, policy in of_reinforce())
    if p.ref is not None and p.kl_coef and p.kl != "none":
        yield from _kl_changes(p)
    if p.kind == "sapo":
        yield from ((name, dataclasses.replace(p, policy=policy)) for name, policy in of_sapo())
    if p.rollout.kind != "none":
        yield from ((name, dataclasses.replace(p, rollout=rollout)) for name, rollout in of_rollout(p.rollout))
    yield from _of_positions(p)
    yield from _shifted(p)
    yield from _cut(p)
    yield from _rounded(p)


# ---- of a case


def _near(found: np.ndarray, right: Any, size: float) -> bool:
    return bool(np.isfinite(found).all() and np.all(np.abs(found - right) <= 1e-11 * size))


def _padded(rows: Any, width: int) -> np.ndarray:
    out = np.zeros((len(rows), width))
    for i, row in enumerate(rows):
        out[i, : len(row)] = np.array([float(x) for x in row])
    return out


def computed_losses(case: Case) -> Iterator[Tuple[str, Arrays]]:
    """(cause, loss, terms and gradient); nothing for a case whose right answer cannot be computed in the same way."""
    arrays = case.numpy()
    if case.kind != "objective" or not {"term", "dlogp"} <= set(case.expect) or not arrays.mask.size:
        return
    truncated = arrays.truncated if case.setting("weight.truncated") == "mask" else None
    cut = np.zeros(len(arrays.mask), bool) if truncated is None else truncated
    mask = arrays.mask & ~cut[:, None]
    n = _counts(case, mask, arrays.group)
    kind, constant = case.setting("aggregation.kind"), float(case.setting("aggregation.constant") or 0)
    drop = case.setting("aggregation.empty_sequences") == "drop"
    weight = coefficients(kind, n, constant, drop)
    term, slope = (_padded(case.expect[name], n.width) for name in ("term", "dlogp"))
    loss, size = float(case.expect["loss"]), float(case.scale["loss"])
    if weight is None or not np.isfinite(term).all() or not _near((weight[:, None] * term).sum(), loss, size):
        return
    some = int((mask & (arrays.advantage != 0)).any(1).sum()) if arrays.advantage is not None else 0
    if kind in ("seq_mean_token_mean", "seq_mean_token_sum", "seq_mean_constant") and not drop and some:
        yield "what divides counts only the responses that have an advantage", {
            "loss": np.array([loss * len(mask) / some]), "term": term, "dlogp": slope * len(mask) / some}
    for name, other in _weights(case, n, kind, constant, drop):
        if other is not None:
            yield name, {"loss": np.array([(other[:, None] * term).sum()]), "term": term,
                         "dlogp": slope * (other * _over(1, weight))[:, None]}
    p = plain(case, arrays, mask, n, weight, (kind, constant, drop), cut)
    if p is not None:
        right = p.answer()
        if _near(right["loss"][0], loss, size) and _near(right["dlogp"], slope, float(np.abs(slope).max(initial=0))):
            yield from ((name, changed.answer()) for name, changed in changes(p))
