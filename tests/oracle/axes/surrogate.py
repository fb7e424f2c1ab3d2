"""Surrogate: what is a (ratio, advantage) pair worth? Losses, for A != 0."""
from mpmath import mpf

from autodiff import clamp, exp, maximum, minimum, sg, sigmoid, value
from limits import ZERO, bound, less, sign


def score(s, a, w, y, l):
    # REINFORCE (Williams 1992)
    return -a * l


def ratio(s, a, w, y, l):
    return -a * w


def ppo_clip(s, a, w, y, l):
    # PPO (1707.06347) eq. 7
    return maximum(-a * w, -a * clamp(w, 1 - mpf(s["eps_low"]), 1 + mpf(s["eps_high"])))


def dual_clip(s, a, w, y, l):
    # 1912.09729: for A < 0 the loss is bounded by -c A
    loss = ppo_clip(s, a, w, y, l)
    return minimum(loss, -a * mpf(s["dual"])) if sign(a) < 0 else loss


def cispo(s, a, w, y, l):
    # MiniMax-M1 (2506.13585) eqs. 4-5
    return -a * sg(clamp(w, bound(s["weight_min"]), bound(s["weight_max"]))) * l


def sapo(s, a, w, y, l):
    # SAPO (2511.20347) eqs. 5-7: (4 / tau) sigmoid(tau (w - 1))
    tau = mpf(s["tau_pos"] if sign(a) > 0 else s["tau_neg"])
    return -a * (4 / tau) * sigmoid(tau * (w - 1))


def vespo(s, a, w, y, l):
    # VESPO (2602.10693): phi(W) = W^k exp(lambda (1 - W)), W^k = e^(k y)
    side = "pos" if sign(a) > 0 else "neg"
    k, lam = mpf(s["k_" + side]), mpf(s["lambda_" + side])
    return -a * sg(exp(lam + k * y - lam * w)) * l


KIND = {"score": score, "ratio": ratio, "ppo_clip": ppo_clip, "dual_clip": dual_clip, "cispo": cispo, "sapo": sapo,
        "vespo": vespo}


def surrogate(choice, a, w, y, l):
    if sign(a) == 0:
        return ZERO
    return KIND[choice["kind"]](choice, a, w, y, l)


def clip_sides(choice, a, w):
    """(low, high, dual): whose gradient the clip changes, for the report."""
    w, kind, side = value(w), choice["kind"], sign(a)
    low = high = dual = False
    if kind in ("ppo_clip", "dual_clip"):
        low = side < 0 and less(w, 1 - mpf(choice["eps_low"]))
        high = side > 0 and less(1 + mpf(choice["eps_high"]), w)
        dual = kind == "dual_clip" and side < 0 and less(mpf(choice["dual"]), w)
    if kind == "cispo":
        low = side != 0 and less(w, bound(choice["weight_min"]))
        high = side != 0 and less(bound(choice["weight_max"]), w)
    return low, high, dual
