"""Wrong losses that the vectors need not record: the plainest objectives computed again with one thing changed, and the exact terms of any
objective aggregated in another way."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Tuple

import numpy as np

from .batch import Batch
from .loader import Case

Arrays = Dict[str, np.ndarray]  # loss, term, dlogp
Policy = Callable[[Any, np.ndarray, np.ndarray, np.ndarray, np.ndarray], Tuple[np.ndarray, np.ndarray, np.ndarray]]
SMALL = ("1e-4", "1e-5", "1e-6", "1e-8", "1e-9")  # what is added to divisors
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
    if kind == "seq_mean_constant":
        yield "NORM-16", coefficients(kind, n, n.width, drop)
    if right is not None and kind.endswith("token_mean"):
        of_all = kind != "seq_mean_token_mean"
        counted, slots = (np.sum(n.tokens), np.sum(n.slots)) if of_all else (n.tokens, n.slots)
        if kind != "group_mean_token_mean":
            yield "NORM-13", right * _over(1, slots) * counted
            for small in SMALL:
                yield ADDED.format(small), right * counted / (counted + float(small))


def _counts(case: Case, mask: np.ndarray, group: np.ndarray) -> Counts:
    length = np.array(case.batch["length"], int)
    return Counts(mask.sum(1), length, group, int(length.max(initial=0)))


# ---- the plainest objectives


def _clip(s: Any, w: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.clip(w, 1 - s.eps_low, 1 + s.eps_high)
    return found


def _where(binds: np.ndarray, w: np.ndarray, bound: np.ndarray, a: np.ndarray) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """-w A, or -bound A without a gradient where it binds."""
    return np.where(binds, -bound * a, -w * a), np.where(binds, 0.0, -w * a), np.zeros_like(w)


def ppo_clip(s: Any, w: np.ndarray, y: np.ndarray, l: np.ndarray, a: np.ndarray) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    return _where((_clip(s, w) * a < w * a), w, _clip(s, w), a)


def _then_dual(policy: Policy) -> Policy:
    """Trainers bound the loss where A < 0 in a line of its own, after the clip."""

    def bounded(s: Any, w: np.ndarray, y: np.ndarray, l: np.ndarray, a: np.ndarray) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        value, dy, dl = policy(s, w, y, l, a)
        binds = (a < 0) & (value > -s.clip_dual * a)
        return np.where(binds, -s.clip_dual * a, value), np.where(binds, 0.0, dy), np.where(binds, 0.0, dl)

    return bounded


dual_clip = _then_dual(ppo_clip)


def cispo(s: Any, w: np.ndarray, y: np.ndarray, l: np.ndarray, a: np.ndarray) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    c = np.clip(w, s.weight_min, s.weight_max)
    return -c * a * l, np.zeros_like(w), -c * a


def reinforce(s: Any, w: np.ndarray, y: np.ndarray, l: np.ndarray, a: np.ndarray) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    return -a * l, np.zeros_like(w), -a


POLICIES: Mapping[str, Policy] = {"ppo_clip": ppo_clip, "dual_clip": dual_clip, "cispo": cispo, "reinforce": reinforce}


def _with(policy: Policy, **changed: Any) -> Policy:
    return lambda s, w, y, l, a: policy(dataclasses.replace(s, **changed), w, y, l, a)


def _exchanged(s: Any, w: np.ndarray, y: np.ndarray, l: np.ndarray, a: np.ndarray) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    return _where(_clip(s, w) * a > w * a, w, _clip(s, w), a)


def _outside(s: Any, w: np.ndarray) -> np.ndarray:
    found: np.ndarray = (w < 1 - s.eps_low) | (w > 1 + s.eps_high)
    return found


def _no_exponential(s: Any, w: np.ndarray, y: np.ndarray, l: np.ndarray, a: np.ndarray) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    binds = _clip(s, y) * a < y * a
    return np.where(binds, -_clip(s, y) * a, -y * a), np.where(binds, 0.0, -a), np.zeros_like(w)


def _of_clip_alone(s: Any) -> Iterator[Tuple[str, Policy]]:
    """The clip with a mistake, before a dual clip."""
    none = np.zeros_like
    yield "the clip has no lower bound", _with(ppo_clip, eps_low=np.inf)
    yield "the clip has no upper bound", _with(ppo_clip, eps_high=np.inf)
    yield "CLIP-02a", _with(ppo_clip, eps_high=s.eps_low)
    yield "eps_high is used on both sides", _with(ppo_clip, eps_low=s.eps_high)
    yield "eps_low and eps_high are exchanged", _with(ppo_clip, eps_low=s.eps_high, eps_high=s.eps_low)
    yield "CLIP-01b", _exchanged
    yield "the clip without its minimum: -A clip(w) alone", lambda s, w, y, l, a: _where(_outside(s, w), w, _clip(s, w), a)
    yield "CLIP-01a", (
        lambda s, w, y, l, a: _where(w > 1 + s.eps_high, w, _clip(s, w), a))
    yield "the log-ratio is clipped at -eps_low and eps_high", (
        lambda s, w, y, l, a: _where(np.where(a > 0, y > s.eps_high, y < -s.eps_low), w, np.exp(np.clip(y, -s.eps_low, s.eps_high)), a))
    yield "the gradient goes through the clip, as if it did not bind", lambda s, w, y, l, a: (ppo_clip(s, w, y, l, a)[0], -w * a, none(w))
    yield "the clip cuts the gradient of every ratio out of its bounds, whatever the sign of A", (
        lambda s, w, y, l, a: (ppo_clip(s, w, y, l, a)[0], np.where(_outside(s, w), 0.0, -w * a), none(w)))
    yield "no exponential: the log-ratio is taken for the ratio", _no_exponential


def _of_dual(s: Any) -> Iterator[Tuple[str, Policy]]:
    """The dual clip with a mistake, after the right clip."""

    def after(of: Callable[[np.ndarray, np.ndarray], np.ndarray], bound: float = 1) -> Policy:
        def policy(s: Any, w: np.ndarray, y: np.ndarray, l: np.ndarray, a: np.ndarray) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
            value, dy, dl = ppo_clip(s, w, y, l, a)
            binds = of(a, value + s.clip_dual * a)
            return np.where(binds, -bound * s.clip_dual * a, value), np.where(binds, 0.0, dy), dl

        return policy

    yield "the dual clip acts where A > 0, not where A < 0", after(lambda a, more: (a > 0) & (more > 0))
    yield "minimum and maximum are exchanged in the dual clip", after(lambda a, more: (a < 0) & (more < 0))
    yield "tokens beyond the dual clip are left out, where their loss should be -c A", after(lambda a, more: (a < 0) & (more > 0), 0)


def _of_clip(s: Any) -> Iterator[Tuple[str, Policy]]:
    none = np.zeros_like
    yield "CLIP-01", lambda s, w, y, l, a: (-w * a, -w * a, none(w))
    yield "tokens whose ratio is out of the clip's bounds are left out, whatever the sign of A", (
        lambda s, w, y, l, a: (np.where(_outside(s, w), 0.0, -w * a), np.where(_outside(s, w), 0.0, -w * a), none(w)))
    yield "the clipped ratio is a detached weight of the log-probability, as in CISPO", (
        lambda s, w, y, l, a: (-_clip(s, w) * a * l, none(w), -_clip(s, w) * a))
    if s.kind == "ppo_clip":
        yield from _of_clip_alone(s)
        for c in (3, 10):
            yield f"a dual clip, c = {c}, where none is meant", _with(dual_clip, clip_dual=float(c))
    else:
        yield from ((name, _then_dual(policy)) for name, policy in _of_clip_alone(s))
        yield "CLIP-02", ppo_clip
        yield from _of_dual(s)


def _of_cispo(s: Any) -> Iterator[Tuple[str, Policy]]:
    none = np.zeros_like

    def c(s: Any, w: np.ndarray) -> np.ndarray:
        found: np.ndarray = np.clip(w, s.weight_min, s.weight_max)
        return found

    def inside(s: Any, w: np.ndarray) -> np.ndarray:
        found: np.ndarray = (w >= s.weight_min) & (w <= s.weight_max)
        return found

    yield "CISPO-01", lambda s, w, y, l, a: (-c(s, w) * a, np.where(inside(s, w), -w * a, 0.0), none(w))
    yield "CISPO's weight has no bound", _with(cispo, weight_max=np.inf, weight_min=0.0)
    yield "TIS-02", lambda s, w, y, l, a: (-c(s, w) * a * l, np.where(inside(s, w), -w * a * l, 0.0), -c(s, w) * a)
    yield "tokens whose CISPO weight is out of its bounds are dropped", (
        lambda s, w, y, l, a: (np.where(inside(s, w), -w * a * l, 0.0), none(w), np.where(inside(s, w), -w * a, 0.0)))
    yield "CISPO-03a", _with(cispo, weight_max=1 + s.weight_max)
    yield "CISPO's weight is left out: REINFORCE", reinforce


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
    weight: np.ndarray  # c of each response
    counts: Counts
    aggregation: Tuple[str, float, bool]  # kind, constant, are empty responses dropped?
    cut: np.ndarray  # is a response left out because it was cut off?
    kl_weight: float = 1.0  # what the KL is multiplied by
    kl_gradient: float = 1.0
    gradient: float = 1.0  # what the policy's derivative is multiplied by
    ratio_gradient: float = 1.0  # the same of what goes through the ratio, not through a log-probability beside it
    ratio_times: float = 1.0  # what the log-ratio is multiplied by
    share: Optional[np.ndarray] = None  # what the sum of a response's log-ratios is divided by
    policy: Optional[Policy] = None
    estimate: Optional[Callable[[np.ndarray], Tuple[np.ndarray, np.ndarray]]] = None

    def answer(self) -> Arrays:
        with np.errstate(all="ignore"):
            return self._answer()

    def _answer(self) -> Arrays:
        m, tokens, c = self.mask, np.maximum(self.mask.sum(1), 1), self.weight[:, None]
        l = np.where(m, self.logp, 0.0)
        d = l - np.where(m, self.old, 0.0)
        free = (d >= self.clamp[0]) & (d <= self.clamp[1])
        y = np.clip(d, self.clamp[0], self.clamp[1]) * self.ratio_times
        of_response = self.level.startswith("sequence")
        share = self.share if self.share is not None else tokens if self.level == "sequence_mean" else np.ones(len(tokens))
        if of_response:
            y = np.broadcast_to((y.sum(1) / share)[:, None], l.shape)
        a = np.where(m, self.advantage, 0.0)
        bound = np.clip(y, self.level_clamp[0], self.level_clamp[1])
        x, dy, dl = (self.policy or POLICIES[self.kind])(self, np.exp(bound), bound, l, a)
        dy = np.where(m, dy * c, 0.0)
        if of_response:
            dy = np.where(bound == y, dy, 0.0)
            dy = dy if self.by_token else np.broadcast_to((dy.sum(1) / share)[:, None], l.shape)
        slope = self.gradient * (np.where(free, dy, 0.0) * self.ratio_gradient * self.ratio_times + c * dl)
        if self.ref is not None and self.kl_coef and self.kl != "none":
            k, dk = (self.estimate or KLS[self.kl])(np.where(m, self.ref, 0.0) - l)
            x, slope = x + self.kl_weight * self.kl_coef * k, slope + c * self.kl_weight * self.kl_gradient * self.kl_coef * dk
        x, slope = np.where(m, x, 0.0), np.where(m, slope, 0.0)
        return {"loss": np.array([(c * x).sum()]), "term": x, "dlogp": slope}


def _real(found: Optional[np.ndarray]) -> Optional[np.ndarray]:
    return None if found is None else found.astype(float)


def plain(case: Case, arrays: Batch, mask: np.ndarray, counts: Counts, weight: Optional[np.ndarray],
          aggregation: Tuple[str, float, bool], cut: np.ndarray) -> Optional[Plain]:
    kind, level, kl = (case.setting(path) for path in ("surrogate.kind", "ratio.level", "penalty.kl"))
    known = kind in POLICIES and level in ("token", "sequence_mean", "sequence_sum") and kl in (*KLS, "none")
    logp, old, advantage = (_real(getattr(arrays, name)) for name in ("logp", "logp_old", "advantage"))
    if not known or weight is None or logp is None or advantage is None:
        return None
    if old is None and kind != "reinforce":
        return None
    number: Dict[str, Any] = {
        name: float(case.setting(f"surrogate.{name}") or 0) for name in ("eps_low", "eps_high", "clip_dual", "weight_min", "weight_max")
    }
    ratio = case.objective.get("ratio", {})
    clamps = [tuple(float(ratio.get(f"{name}_{side}", infinity)) for side, infinity in (("low", -np.inf), ("high", np.inf)))
              for name in ("clamp", "level_clamp")]
    return Plain(kind, level, kl=kl, kl_coef=float(case.setting("penalty.kl_coef") or 0), clamp=clamps[0], level_clamp=clamps[1],
                 by_token=case.setting("ratio.gradient") == "token", logp=logp,
                 old=logp if old is None else old, ref=_real(arrays.logp_ref), advantage=advantage, mask=mask, weight=weight, counts=counts,
                 aggregation=aggregation, cut=cut,
                 **number)


def _kl_changes(p: Plain) -> Iterator[Tuple[str, Plain]]:
    replace = dataclasses.replace
    yield "KL-01", replace(p, kl_weight=-1.0)
    yield "KL-02", replace(p, kl_gradient=0.0)
    yield "the KL is left out", replace(p, kl_weight=0.0)
    yield "the KL counts twice", replace(p, kl_weight=2.0)
    yield "the KL counts half", replace(p, kl_weight=0.5)
    yield "the KL's coefficient is left out", replace(p, kl_coef=1.0)
    yield "the KL is of the old policy, not of the reference", replace(p, ref=p.old)
    for kl, form in (("k1", "D"), ("k2", "D^2/2"), ("k3", "e^-D + D - 1")):
        if kl != p.kl:
            yield ("KL-05" if kl == "k1" and p.kl == "k3" else f"the KL's estimator is {form}, {kl}"), replace(p, kl=kl)
    yield "the KL's estimator is D^2, without its 1/2", replace(p, estimate=lambda q: (q * q, -2 * q))
    if p.kl == "k3":
        yield "KL-04", replace(p, estimate=lambda q: (_k3(-q), np.expm1(-q)))
        yield "k3 without its 1: e^-D + D", replace(p, estimate=lambda q: (np.exp(q) - q, -np.expm1(q)))


def _ratio_changes(p: Plain) -> Iterator[Tuple[str, Plain]]:
    replace = dataclasses.replace
    for gradient in (1.0, -1.0):
        yield "the ratio is inverted: old over new", replace(p, ratio_times=-1.0, ratio_gradient=gradient)
    yield "RATIO-01", replace(p, old=p.logp)
    if p.ref is not None:
        yield "RATIO-06", replace(p, old=p.ref)
    yield "the policy's gradient is left out, as if the ratio were detached", replace(p, gradient=0.0)
    yield "the sign of the policy's gradient is turned", replace(p, gradient=-1.0)
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
        for small in SMALL:
            yield f"{mean}its length plus {small}", replace(p, share=np.where(n.tokens, n.tokens + float(small), 1))


def _advantage_changes(p: Plain) -> Iterator[Tuple[str, Plain]]:
    replace, a = dataclasses.replace, p.advantage
    alike = bool(np.all(np.where(p.mask, a == a[np.arange(len(a)), p.mask.argmax(1)][:, None], True)))
    yield "the sign of the advantage is turned", replace(p, advantage=-a)
    yield "the absolute value of the advantage is taken", replace(p, advantage=np.abs(a))
    yield "the sign of the advantage is taken for the advantage", replace(p, advantage=np.sign(a))
    yield "negative advantages are left out", replace(p, advantage=np.maximum(a, 0))
    yield "positive advantages are left out", replace(p, advantage=np.minimum(a, 0))
    yield "the advantage is left out, as if it were 1", replace(p, advantage=np.ones_like(a))
    if not alike:
        rows, last = np.arange(len(a)), a.shape[1] - 1 - p.mask[:, ::-1].argmax(1)
        for whose, one in (("that of its first token", a[rows, p.mask.argmax(1)]), ("that of its last token", a[rows, last]),
                           ("the mean of those of its tokens", _of_rows(p))):
            name = f"a response has one advantage, {whose}, where case.advantage has one for each token"
            yield name, replace(p, advantage=np.broadcast_to(one[:, None], a.shape))
    for step, which in ((-1, "the next one"), (1, "the one before")):
        name = f"each response has the advantage of {which}"
        yield name, replace(p, advantage=np.roll(np.where(p.mask, a, 0.0), step, 0))
        if alike:
            yield name, replace(p, advantage=np.broadcast_to(np.roll(_of_rows(p), step)[:, None], a.shape))


def _shifted_masks(p: Plain, slots: np.ndarray) -> Dict[str, np.ndarray]:
    """The mask one step behind or ahead, by what has the token at the end of its response."""
    rows, end = np.arange(len(p.mask)), np.maximum(p.counts.slots - 1, 0)
    flat, found = p.mask[slots], {}
    for step, words, at, other in ((1, "behind the", 0 * end, end), (-1, "ahead of the", end, 0 * end)):
        name, moved, through = f"the mask is one step {words} log-probabilities", np.roll(p.mask, step, 1) & slots, np.zeros_like(p.mask)
        through[slots] = np.roll(flat, step)
        for how, mask in ((", the token at the end keeps its own", p.mask[rows, at]), (", round the end of the response", p.mask[rows, other])):
            found[name + how] = moved.copy()
            found[name + how][rows, at] = mask
        found[name + ", round the end of the padded row"] = moved
        if not p.cut.any():
            found[name + ", through the whole batch"] = through
    counts = np.hstack([p.mask[:, 1:], np.zeros_like(p.mask[:, :1])]) & slots
    counts[rows, end] = True
    found["the mask is one step ahead of the log-probabilities, and every last token counts"] = counts
    return {name: mask & slots & ~p.cut[:, None] for name, mask in found.items()}


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
    for name, mask in masks.items():
        weight = coefficients(p.aggregation[0], dataclasses.replace(p.counts, tokens=mask.sum(1)), *p.aggregation[1:])
        if weight is not None and (mask != p.mask).any():
            changed = dataclasses.replace(p, mask=mask, weight=weight)
            yield name, changed
            yield name, dataclasses.replace(changed, advantage=everywhere)
    if p.aggregation[0] == "token_mean" and (slots != p.mask).any():
        summed = dataclasses.replace(p, mask=slots)
        yield "MASK-12a", summed
        yield "MASK-12a", dataclasses.replace(summed, advantage=np.where(p.advantage, p.advantage, everywhere))


def _of_rows(p: Plain) -> np.ndarray:
    """The advantage of each response, the mean over its tokens."""
    sums: np.ndarray = np.where(p.mask, p.advantage, 0.0).sum(1) / np.maximum(p.mask.sum(1), 1)
    return sums


def _shifted(p: Plain) -> Iterator[Tuple[str, Plain]]:
    """The old policy's log-probabilities one token off."""
    for step, where in ((-1, "ahead"), (1, "behind")):
        name = f"the old policy's log-probabilities are one token {where}"
        yield name, dataclasses.replace(p, old=np.roll(np.where(p.mask, p.old, 0.0), step, 1))


def changes(p: Plain) -> Iterator[Tuple[str, Plain]]:
    yield from _ratio_changes(p)
    yield from _advantage_changes(p)
    yield from _of_mask(p)
    if p.kind in ("ppo_clip", "dual_clip"):
        yield from ((name, dataclasses.replace(p, policy=policy)) for name, policy in _of_clip(p))
    if p.kind == "cispo":
        yield from ((name, dataclasses.replace(p, policy=policy)) for name, policy in _of_cispo(p))
    if p.kind == "reinforce":
        value_a: Policy = lambda s, w, y, l, a: (-a, np.zeros_like(w), -a)
        yield "the value of the loss is -A e^(l - sg[l]), so -A, where it should be -A l", dataclasses.replace(p, policy=value_a)
    if p.ref is not None and p.kl_coef and p.kl != "none":
        yield from _kl_changes(p)
    if p.kind != "reinforce":
        yield from _shifted(p)


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
    for name, other in _weights(case, n, kind, constant, drop):
        if other is not None:
            yield name, {"loss": np.array([(other[:, None] * term).sum()]), "term": term,
                         "dlogp": slope * (other * _over(1, weight))[:, None]}
    p = plain(case, arrays, mask, n, weight, (kind, constant, drop), cut)
    if p is not None:
        right = p.answer()
        if _near(right["loss"][0], loss, size) and _near(right["dlogp"], slope, float(np.abs(slope).max(initial=0))):
            yield from ((name, changed.answer()) for name, changed in changes(p))
