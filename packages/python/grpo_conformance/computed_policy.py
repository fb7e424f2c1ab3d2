"""Surrogates of one token, right and mistaken: value, and derivatives by the log-ratio y and by the log-probability l."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Iterator, Mapping, Tuple

import numpy as np

Derived = Tuple[np.ndarray, np.ndarray, np.ndarray]
Policy = Callable[[Any, np.ndarray, np.ndarray, np.ndarray, np.ndarray], Derived]


def _clip(s: Any, w: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.clip(w, 1 - s.eps_low, 1 + s.eps_high)
    return found


def _where(binds: np.ndarray, w: np.ndarray, bound: np.ndarray, a: np.ndarray) -> Derived:
    """-w A, or -bound A without a gradient where it binds."""
    return np.where(binds, -bound * a, -w * a), np.where(binds, 0.0, -w * a), np.zeros_like(w)


def ppo_clip(s: Any, w: np.ndarray, y: np.ndarray, l: np.ndarray, a: np.ndarray) -> Derived:
    return _where((_clip(s, w) * a < w * a), w, _clip(s, w), a)


def _then_dual(policy: Policy) -> Policy:
    """Trainers bound the loss where A < 0 in a line of its own, after the clip."""

    def bounded(s: Any, w: np.ndarray, y: np.ndarray, l: np.ndarray, a: np.ndarray) -> Derived:
        value, dy, dl = policy(s, w, y, l, a)
        binds = (a < 0) & (value > -s.clip_dual * a)
        return np.where(binds, -s.clip_dual * a, value), np.where(binds, 0.0, dy), np.where(binds, 0.0, dl)

    return bounded


dual_clip = _then_dual(ppo_clip)


def cispo(s: Any, w: np.ndarray, y: np.ndarray, l: np.ndarray, a: np.ndarray) -> Derived:
    c = np.clip(w, s.weight_min, s.weight_max)
    return -c * a * l, np.zeros_like(w), -c * a


def reinforce(s: Any, w: np.ndarray, y: np.ndarray, l: np.ndarray, a: np.ndarray) -> Derived:
    return -a * l, np.zeros_like(w), -a


def ratio(s: Any, w: np.ndarray, y: np.ndarray, l: np.ndarray, a: np.ndarray) -> Derived:
    return -w * a, -w * a, np.zeros_like(w)


def _gate(a: np.ndarray, z: np.ndarray, slope: np.ndarray, factor: Any) -> Derived:
    """-A factor sigmoid(z), and its derivative by the log-ratio; slope: that of z."""
    e = np.exp(-np.abs(z))
    return -a * factor * np.where(z > 0, 1.0, e) / (1 + e), -a * factor * e / (1 + e) ** 2 * slope, np.zeros_like(z)


def _tau(s: Any, a: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.where(a > 0, s.tau_pos, s.tau_neg)
    return found


def sapo(s: Any, w: np.ndarray, y: np.ndarray, l: np.ndarray, a: np.ndarray) -> Derived:
    tau = _tau(s, a)
    return _gate(a, tau * np.expm1(y), tau * w, 4 / tau)


POLICIES: Mapping[str, Policy] = {
    "ppo_clip": ppo_clip, "dual_clip": dual_clip, "cispo": cispo, "reinforce": reinforce, "sapo": sapo, "ratio": ratio
}


def _with(policy: Policy, **changed: Any) -> Policy:
    return lambda s, w, y, l, a: policy(dataclasses.replace(s, **changed), w, y, l, a)


def _exchanged(s: Any, w: np.ndarray, y: np.ndarray, l: np.ndarray, a: np.ndarray) -> Derived:
    return _where(_clip(s, w) * a > w * a, w, _clip(s, w), a)


def _outside(s: Any, w: np.ndarray) -> np.ndarray:
    found: np.ndarray = (w < 1 - s.eps_low) | (w > 1 + s.eps_high)
    return found


def _of_ratio(of: Callable[[np.ndarray], np.ndarray]) -> Policy:
    """The clip of another ratio, whose derivative by the log-ratio is 1."""

    def policy(s: Any, w: np.ndarray, y: np.ndarray, l: np.ndarray, a: np.ndarray) -> Derived:
        x = of(y)
        binds = _clip(s, x) * a < x * a
        return np.where(binds, -_clip(s, x) * a, -x * a), np.where(binds, 0.0, -a), np.zeros_like(w)

    return policy


def _between(low: float, high: float) -> Policy:
    """The clip with other bounds."""

    def policy(s: Any, w: np.ndarray, y: np.ndarray, l: np.ndarray, a: np.ndarray) -> Derived:
        c = np.minimum(np.maximum(w, low), high)
        return _where(c * a < w * a, w, c, a)

    return policy


def _other_bounds(s: Any) -> Iterator[Tuple[str, float, float]]:
    low, high = 1 - s.eps_low, 1 + s.eps_high
    yield "the clip's lower bound is reciprocal: 1/(1 + eps_high)", 1 / high, high
    yield "the clip's lower bound is reciprocal: 1/(1 + eps_low)", 1 / (1 + s.eps_low), high
    yield "the clip's upper bound is reciprocal: 1/(1 - eps_low)", low, 1 / low if low else np.inf
    yield "the clip is around 0: clip(w, -eps_low, eps_high)", -s.eps_low, s.eps_high
    yield "the bounds of the clip are the epsilons themselves: clip(w, eps_low, eps_high)", s.eps_low, s.eps_high
    yield "CLIP-02c", s.eps_low, high
    for times, words in ((2, "doubled"), (0.5, "halved"), (10, "ten times too large"), (0.1, "ten times too small")):
        yield f"both epsilons are {words}", 1 - times * s.eps_low, 1 + times * s.eps_high


def _clamped_log(s: Any, w: np.ndarray, y: np.ndarray, l: np.ndarray, a: np.ndarray) -> Derived:
    z = np.clip(y, -s.eps_low, s.eps_high)
    value, dy, dl = ppo_clip(s, np.exp(z), z, l, a)
    return value, np.where(z == y, dy, 0.0), dl


def _product_clipped(s: Any, w: np.ndarray, y: np.ndarray, l: np.ndarray, a: np.ndarray) -> Derived:
    c = np.clip(w * a, 1 - s.eps_low, 1 + s.eps_high)
    return np.where(c < w * a, -c, -w * a), np.where(c < w * a, 0.0, -w * a), np.zeros_like(w)


def _slope(s: Any, w: np.ndarray, y: np.ndarray, l: np.ndarray, a: np.ndarray, times: np.ndarray) -> Derived:
    value, dy, dl = ppo_clip(s, w, y, l, a)
    return value, dy * times, dl


def _more(of: Derived, value: np.ndarray) -> Derived:
    return of[0] + value, of[1], of[2]


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
    name = "the gradient of ratios within the clip's bounds is halved, as of a minimum of two equal numbers, one of them detached"
    yield name, lambda s, w, y, l, a: _slope(s, w, y, l, a, np.where(_outside(s, w), 1.0, 0.5))
    yield "no exponential: the log-ratio is taken for the ratio", _of_ratio(lambda y: y)
    yield "1 + log-ratio is taken for the ratio", _of_ratio(lambda y: 1 + y)
    yield "the clip without its minimum where A < 0: -A clip(w) there", (
        lambda s, w, y, l, a: _where(np.where(a < 0, _outside(s, w), _clip(s, w) * a < w * a), w, _clip(s, w), a))
    yield "the maximum is of the ratios, before A is multiplied: -A max(w, clip(w))", (
        lambda s, w, y, l, a: _where(w < 1 - s.eps_low, w, _clip(s, w), a))
    for name, low, high in _other_bounds(s):
        yield name, _between(low, high)
    yield "the log-ratio is clamped at -eps_low and eps_high before the clip, whatever the sign of A", _clamped_log
    yield "the product w A is clipped, not the ratio", _product_clipped
    yield "clipped and unclipped loss are added", (
        lambda s, w, y, l, a: (-(_clip(s, w) + w) * a, np.where(_outside(s, w), -w * a, -2 * w * a), none(w)))
    yield "the gradient lacks the ratio: -A for -A w", lambda s, w, y, l, a: _slope(s, w, y, l, a, 1 / w)
    yield "the gradient has the ratio twice: -A w^2 for -A w", lambda s, w, y, l, a: _slope(s, w, y, l, a, w)
    yield "the ratio less 1 is taken in the loss: (w - 1) A", lambda s, w, y, l, a: _more(ppo_clip(s, w, y, l, a), a)


def _of_dual(s: Any) -> Iterator[Tuple[str, Policy]]:
    """The dual clip with a mistake, after the right clip."""

    def after(of: Callable[[np.ndarray, np.ndarray], np.ndarray], bound: float = 1) -> Policy:
        def policy(s: Any, w: np.ndarray, y: np.ndarray, l: np.ndarray, a: np.ndarray) -> Derived:
            value, dy, dl = ppo_clip(s, w, y, l, a)
            binds = of(a, value + s.clip_dual * a)
            return np.where(binds, -bound * s.clip_dual * a, value), np.where(binds, 0.0, dy), dl

        return policy

    yield "the dual clip acts where A > 0, not where A < 0", after(lambda a, more: (a > 0) & (more > 0))
    yield "minimum and maximum are exchanged in the dual clip", after(lambda a, more: (a < 0) & (more < 0))
    def bounded(bound: Callable[[Any, np.ndarray], Any]) -> Policy:
        def policy(s: Any, w: np.ndarray, y: np.ndarray, l: np.ndarray, a: np.ndarray) -> Derived:
            value, dy, dl = ppo_clip(s, w, y, l, a)
            binds = (a < 0) & (value > bound(s, a))
            return np.where(binds, bound(s, a), value), np.where(binds, 0.0, dy), dl

        return policy

    yield "the dual clip's bound has the wrong sign: c A, not -c A", bounded(lambda s, a: s.clip_dual * a)
    yield "the dual clip's bound is divided by c, not multiplied: -A / c, not -c A", bounded(lambda s, a: -a / s.clip_dual)
    yield "the dual clip's bound is c, without the advantage", bounded(lambda s, a: s.clip_dual)
    yield "tokens beyond the dual clip are left out, where their loss should be -c A", after(lambda a, more: (a < 0) & (more > 0), 0)


def _advantage_clipped(low: float, high: float) -> Policy:
    def policy(s: Any, w: np.ndarray, y: np.ndarray, l: np.ndarray, a: np.ndarray) -> Derived:
        c = np.clip(a, low, high)
        return -w * c, -w * c, np.zeros_like(w)

    return policy


def of_clip(s: Any) -> Iterator[Tuple[str, Policy]]:
    none = np.zeros_like
    yield "CLIP-01", lambda s, w, y, l, a: (-w * a, -w * a, none(w))
    yield "tokens whose ratio is out of the clip's bounds are left out, whatever the sign of A", (
        lambda s, w, y, l, a: (np.where(_outside(s, w), 0.0, -w * a), np.where(_outside(s, w), 0.0, -w * a), none(w)))
    yield "tokens whose ratio is further from 1 than eps_high are left out, whatever the sign of A", (
        lambda s, w, y, l, a: (*(np.where(np.abs(np.expm1(y)) > s.eps_high, 0.0, -w * a),) * 2, none(w)))
    yield "the ratio has no gradient out of the clip's bounds, whatever the sign of A, and its value is not clipped", (
        lambda s, w, y, l, a: (-w * a, np.where(_outside(s, w), 0.0, -w * a), none(w)))
    for low, high in ((-s.eps_low, s.eps_high), (1 - s.eps_low, 1 + s.eps_high)):
        yield "the advantage is clipped, not the ratio", _advantage_clipped(low, high)
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


def of_cispo(s: Any) -> Iterator[Tuple[str, Policy]]:
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
    yield "CISPO's bound is one too small: eps where it is 1 + eps", _with(cispo, weight_max=s.weight_max - 1)
    yield "CISPO's weight is left out: REINFORCE", reinforce
    yield "CISPO's detached weight multiplies the ratio, not the log-probability", (
        lambda s, w, y, l, a: (-c(s, w) * w * a, -c(s, w) * w * a, none(w)))

    def dropped(s: Any, w: np.ndarray, y: np.ndarray, l: np.ndarray, a: np.ndarray) -> Derived:
        weight = np.where((a > 0) & (w > s.weight_max), 0.0, c(s, w))
        return -weight * a * l, none(w), -weight * a

    yield "tokens above CISPO's bound are dropped where A > 0", dropped
    yield "CISPO's detached weight multiplies the log-ratio, not the log-probability", (
        lambda s, w, y, l, a: (-c(s, w) * a * y, none(w), -c(s, w) * a))
    yield "CISPO's weight is bounded for positive advantages alone", (
        lambda s, w, y, l, a: (-np.where(a < 0, w, c(s, w)) * a * l, none(w), -np.where(a < 0, w, c(s, w)) * a))
    yield "probabilities are taken for log-probabilities", (
        lambda s, w, y, l, a: (-c(s, w) * a * np.exp(l), none(w), -c(s, w) * a * np.exp(l)))


def of_reinforce() -> Iterator[Tuple[str, Policy]]:
    yield "the value of the loss is -A e^(l - sg[l]), so -A, where it should be -A l", lambda s, w, y, l, a: (-a, np.zeros_like(w), -a)
    yield "probabilities are taken for log-probabilities", lambda s, w, y, l, a: (-a * np.exp(l), np.zeros_like(w), -a * np.exp(l))


def of_sapo() -> Iterator[Tuple[str, Policy]]:
    def twice(s: Any, w: np.ndarray, y: np.ndarray, l: np.ndarray, a: np.ndarray) -> Derived:
        value, dy, dl = sapo(s, w, y, l, a)
        return value * w, (value + dy) * w, dl

    yield "SAPO's gate is around 0, not around the ratio 1: sigmoid(tau w)", (
        lambda s, w, y, l, a: _gate(a, _tau(s, a) * w, _tau(s, a) * w, 4 / _tau(s, a)))
    yield "SAPO's gate is of the log-ratio: sigmoid(tau log w)", (
        lambda s, w, y, l, a: _gate(a, _tau(s, a) * y, _tau(s, a), 4 / _tau(s, a)))
    yield "SAPO's gate is multiplied by 4, not by 4/tau", lambda s, w, y, l, a: _gate(a, _tau(s, a) * np.expm1(y), _tau(s, a) * w, 4.0)
    yield "SAPO's temperature is chosen by the ratio, w > 1, not by the sign of A", (
        lambda s, w, y, l, a: _gate(a, _tau(s, y) * np.expm1(y), _tau(s, y) * w, 4 / _tau(s, y)))
    yield "SAPO's gate is multiplied by the ratio once more", twice
    yield "CLIP-09a", lambda s, w, y, l, a: _gate(-np.ones_like(a), _tau(s, a) * np.expm1(y), _tau(s, a) * w, 4 / _tau(s, a))
    divided = "SAPO's temperature divides: sigmoid((w - 1)/tau)"
    yield divided, lambda s, w, y, l, a: _gate(a, np.expm1(y) / _tau(s, a), w / _tau(s, a), 4 / _tau(s, a))
    yield divided, lambda s, w, y, l, a: _gate(a, np.expm1(y) / _tau(s, a), w / _tau(s, a), 4 * _tau(s, a))
    yield "the temperatures of SAPO are exchanged: tau_pos and tau_neg", (
        lambda s, w, y, l, a: sapo(dataclasses.replace(s, tau_pos=s.tau_neg, tau_neg=s.tau_pos), w, y, l, a))
