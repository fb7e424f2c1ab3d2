"""Surrogate: the loss of a ratio and an advantage, for A != 0 (`squared` and `logistic` also for A = 0)."""

from autodiff import Var, added, clamp, exp, maximum, minimum, sg, sigmoid, size, softplus, square, value
from axes.choice import ABOVE_0, AT_LEAST_0, Table, one_of, only, rule
from limits import ONE, ZERO, antilog, bound, is_infinite, less, limit, log, sign, sqrt
from reals import mpf

KIND, BOUNDS = Table("surrogate", "kind"), Table("surrogate", "bounds")


# ---- the bounds of the ratio

@BOUNDS.choice()
def fixed(s):
    return 1 - bound(s["eps_low"]), 1 + bound(s["eps_high"])


OF_ONE_TOKEN = {"kind": one_of("ppo_clip", "dual_clip", "gppo"), "ratio.level": only("token")}


rule("surrogate", "bounds", ("probability",), OF_ONE_TOKEN, computed=True)


@BOUNDS.choice()
def probability(s):
    # DCPO (2509.02333) section 4.1: abs(w - 1) p w <= eps, p = e^x the probability in the ratio's denominator
    p = limit(exp(s["x"]))
    cap = bound(s["bound_cap"]) or mpf("inf")
    if p == 0:
        return ONE, cap
    low = mpf(1) / 2 + sqrt(max(1 - 4 * mpf(s["eps_low"]) / p, ZERO)) / 2
    high = mpf(1) / 2 + sqrt(1 + 4 * mpf(s["eps_high"]) / p) / 2
    return low, min(high, cap)


def stretch(s):
    """n_t^p: the factor of the logarithmic bounds at the n-th active token"""
    return mpf(s["position"]) ** mpf(s["position_power"])


def log_dual_is_outside(o):
    return o["surrogate"]["kind"] == "ppo_clip" or bound(o["surrogate"]["log_clip_dual"]) >= bound(o["surrogate"]["log_high"])


@BOUNDS.choice(beside={"kind": one_of("ppo_clip", "dual_clip"), "log_low": AT_LEAST_0, "log_high": AT_LEAST_0, "log_clip_dual": AT_LEAST_0,
                        "position_power": {"minimum": -16, "maximum": 16}}, also=log_dual_is_outside)
def position(s):
    # CTPO (2605.07331), official code: log w within [-low n_t^p, high n_t^p]
    return antilog(-mpf(s["log_low"]) * stretch(s)), antilog(mpf(s["log_high"]) * stretch(s))


@BOUNDS.choice(reads=("eps_low", "eps_high"), beside=OF_ONE_TOKEN)
def external(s):
    return 1 - s["clip_low"], 1 + s["clip_high"]


def bounds(s):
    """(low, high)"""
    return BOUNDS[s["bounds"]](s)


def dual_bound(s):
    return antilog(mpf(s["log_clip_dual"]) * stretch(s)) if s["bounds"] == "position" else mpf(s["clip_dual"])


OF_TOKEN = ("position", "shaping_mask", "clip_low", "clip_high")


def at(choice, x, token=None):
    """The choice, extended by x, the log-probability in the ratio's denominator, and the other numbers of the token that kinds read."""
    return {**choice, "x": x, **{name: getattr(token, name, None) for name in OF_TOKEN}}


# ---- which clip changes the gradient: (low, high, dual)

def never(s, a, w):
    return False, False, False


def ppo_sides(s, a, w):
    low, high = bounds(s)
    return sign(a) < 0 and less(w, low), sign(a) > 0 and less(high, w), False


def dual_clip_sides(s, a, w):
    return (*ppo_sides(s, a, w)[:2], sign(a) < 0 and less(dual_bound(s), w))


def gppo_sides(s, a, w):
    return dual_clip_sides(s, a, w) if s["clip_dual"] else ppo_sides(s, a, w)


def aspo_sides(s, a, w):
    low, high, _ = ppo_sides({**s, "bounds": "fixed"}, a, w)
    if sign(a) > 0:
        return low, high, bool(s["clip_dual_pos"]) and less(w, 1 / mpf(s["clip_dual_pos"]))  # 1/w > clip_dual_pos
    return low, high, bool(s["clip_dual"]) and sign(a) < 0 and less(mpf(s["clip_dual"]), w)


def weight_sides(s, a, w):
    """For both signs of A."""
    return sign(a) != 0 and less(w, bound(s["weight_min"])), sign(a) != 0 and less(bound(s["weight_max"]), w), False


def unbounded_positive_sides(s, a, w):
    return dual_clip_sides({**s, "bounds": "fixed"}, a, w) if sign(a) < 0 else (False, False, False)


def topr_sides(s, a, w):
    return weight_sides(s, a, w) if sign(a) < 0 else (False, False, False)


def dispo_sides(s, a, w):
    return weight_sides(signed_weights(s, a), a, w)


def shaped_sides(s, a, w):
    return never(s, a, w) if s["shaping_mask"] else ppo_sides(s, a, w)


# ---- S

@KIND.choice(ratio=False)
def reinforce(s, a, w, y, l):
    # REINFORCE (Williams 1992)
    return -a * l


@KIND.choice()
def ratio(s, a, w, y, l):
    return -a * w


@KIND.choice(sides=ppo_sides)
def ppo_clip(s, a, w, y, l):
    # PPO (1707.06347) eq. 7
    return maximum(-a * w, -a * clamp(w, *bounds(s)))


@KIND.choice(sides=dual_clip_sides)
def dual_clip(s, a, w, y, l):
    # 1912.09729: for A < 0 the loss is bounded by -c A
    loss = ppo_clip(s, a, w, y, l)
    return minimum(loss, -a * dual_bound(s)) if sign(a) < 0 else loss


def clipped_weight(s, w):
    return clamp(w, bound(s["weight_min"]), bound(s["weight_max"]))


RANGE = {"weight_min": AT_LEAST_0}


@KIND.choice(sides=weight_sides, beside=RANGE)
def cispo(s, a, w, y, l):
    # MiniMax-M1 (2506.13585) eqs. 4-5
    return -a * sg(clipped_weight(s, w)) * l


def gate(s, a, w):
    # SAPO (2511.20347) eqs. 5-7: (4 / tau) sigmoid(tau (w - 1))
    tau = mpf(s["tau_pos"] if sign(a) > 0 else s["tau_neg"])
    return (4 / tau) * sigmoid(tau * (w - 1))


@KIND.choice()
def sapo(s, a, w, y, l):
    return -a * gate(s, a, w)


@KIND.choice()
def vespo(s, a, w, y, l):
    # VESPO (2602.10693): phi(W) = W^k exp(lambda (1 - W)), W^k = e^(k y)
    side = "pos" if sign(a) > 0 else "neg"
    k, lam = mpf(s["vespo_k_" + side]), mpf(s["vespo_lambda_" + side])
    return -a * sg(exp(lam + k * y - lam * w)) * l


@KIND.choice()
def log_ratio(s, a, w, y, l):
    # sPPO of Trinity-RFT: the log-ratio of the unit
    return -a * y


@KIND.choice(without_advantage=True)
def squared(s, a, w, y, l):
    # Kimi k1.5 (2501.12599) section 2.3.2 and K2 (2507.20534): (r - rbar - tau log(pi/pi_old))^2
    return square(added(a, -mpf(s["beta"]) * y))


def over_itself(y):
    """w / sg[w] = e^(y - sg[y]): value 1, derivative 1 by y."""
    return exp(y - sg(y))


@KIND.choice(sides=gppo_sides)
def gppo(s, a, w, y, l):
    # GPPO (2508.07629) eqs. 11-14, CE-GPPO (2509.20712): the clipped value, with a gradient scaled by beta
    low, high, dual = gppo_sides(s, a, value(w))
    one = over_itself(y)
    if dual:
        return -mpf(s["clip_dual"]) * a
    if high:
        return -mpf(s["gppo_beta_high"]) * bounds(s)[1] * a * one
    if low:
        return -mpf(s["gppo_beta_low"]) * bounds(s)[0] * a * one
    return -a * w


def aspo_bad(s, a, w, l, low, high, dual):
    if dual:
        return -a * mpf(s["clip_dual"]) * l
    return -a * (1 - mpf(s["eps_low"])) if low else -a * w


@KIND.choice(sides=aspo_sides)
def aspo(s, a, w, y, l):
    # ASPO (2510.06062), official code: weight 1/w where A > 0; value -A (q / sg[q]) / sg[q], q = min(w, 1 + eps_high)
    low, high, dual = aspo_sides(s, a, value(w))
    one = over_itself(y)
    if sign(a) < 0:
        return aspo_bad(s, a, w, l, low, high, dual)
    if dual:
        return -a * mpf(s["clip_dual_pos"]) * l
    return -a / (1 + mpf(s["eps_high"])) if high else -a * sg(exp(-value(y))) * one


@KIND.choice(sides=topr_sides, beside=RANGE)
def topr(s, a, w, y, l):
    # TOPR (2503.14286): weight 1 where A > 0, the clipped ratio where A < 0
    return -sg(clipped_weight(s, w) if sign(a) < 0 else ONE) * a * l


@KIND.choice(sides=weight_sides, beside=RANGE)
def masked_weight(s, a, w, y, l):
    # MiMo-V2-Flash MOPD (eqs. 5-9): sg[w] inside the band, 0 outside
    weight = sg(ZERO if any(weight_sides(s, a, value(w))) else w)
    return -weight * a * l


@KIND.choice()
def sapo_detached(s, a, w, y, l):
    # Trinity-RFT's SAPO: the gate as a detached weight of the score function
    return -a * sg(gate(s, a, w)) * l


@KIND.choice(without_advantage=True)
def logistic(s, a, w, y, l):
    # VPD (2605.15113), E-step: -log sigmoid(+-(beta y - delta)), + for a right response and - for the others
    k, delta, way = mpf(s["beta"]), mpf(s["logit_shift"]), 1 if sign(a) > 0 else -1
    x = (delta - k * y) * way
    slope, loss = sigmoid(value(x)), value(softplus(x))
    moved = abs(delta) + (ZERO if is_infinite(value(y)) else abs(k) * size(y))  # an infinite y has no rounding error
    parents = [(y, -slope * k * way, slope * abs(k) * (1 + moved))] if isinstance(y, Var) else []
    return Var(loss, parents, loss + slope * moved)


def signed_weights(s, a):
    """The choice with the bounds for the sign of A."""
    return {**s, "weight_min": s["weight_min_neg"], "weight_max": s["weight_max_neg"]} if sign(a) < 0 else s


@KIND.choice(sides=dispo_sides, beside={**RANGE, "weight_min_neg": AT_LEAST_0})
def dispo(s, a, w, y, l):
    # DISPO (2602.00983): CISPO with bounds by the sign of the advantage
    return cispo(signed_weights(s, a), a, w, y, l)


@KIND.choice()
def bgpo(s, a, w, y, l):
    # BGPO (2510.11683): a lower bound of w A: 1 + y <= e^y where A > 0
    return -a * added(y, ONE) if sign(a) > 0 else -a * w


@KIND.choice(sides=shaped_sides, reads=("shaping_mask",), beside={"shaping_gamma": ABOVE_0})
def policy_shaping(s, a, w, y, l):
    # Guide-GRPO (2506.13923): w/(w + g) = sigmoid(y - log g) at the tokens of a hinted response, unclipped
    return -a * sigmoid(y - log(mpf(s["shaping_gamma"]))) if s["shaping_mask"] else ppo_clip(s, a, w, y, l)


@KIND.choice(beside={"quadratic_eps": ABOVE_0})
def quadratic(s, a, w, y, l):
    # CFPO (2601.22801): -(A w - |A| (w - 1)^2/(2 eps)), a parabola of w in place of the clip
    v, eps, size = value(w), mpf(s["quadratic_eps"]), abs(a)
    off = v - 1
    bend = size * off * off / (2 * eps)
    slope, slope_size = v * (off * (size / eps) - a), v * (abs(off) * (size / eps) + size)
    return Var(-a * v + bend, [(y, slope, slope_size)] if isinstance(y, Var) else [], size * v + bend)


@KIND.choice(beside={"quadratic_eps": ABOVE_0, "ratio.level": only("token")})
def quadratic_probability(s, a, w, y, l):
    # DRPO (2606.09821): the parabola of `quadratic` times p, the probability in the ratio's denominator
    v, eps, size, p = value(w), mpf(s["quadratic_eps"]), abs(a), limit(exp(s["x"]))
    if p == 0:
        return -a * w
    off = v - 1
    bend = size * p * off * off / (2 * eps)
    slope, slope_size = v * (p * off * (size / eps) - a), v * (p * abs(off) * (size / eps) + size)
    return Var(-a * v + bend, [(y, slope, slope_size)] if isinstance(y, Var) else [], size * v + bend)


@KIND.choice(sides=unbounded_positive_sides)
def unbounded_positive(s, a, w, y, l):
    # UP (2607.06987) eq. 15: REINFORCE where A > 0, value -A; the dual clip where A < 0
    if sign(a) > 0:
        return -a * exp(l - sg(l))
    return dual_clip({**s, "bounds": "fixed"}, a, w, y, l)


@KIND.choice(ratio=False)
def none(s, a, w, y, l):
    # TRPA (2504.04524): the loss has only preferences and a KL
    return ZERO


def surrogate(choice, a, w, y, l, x=None, token=None):
    """x: the log-probability in the ratio's denominator; x and token are read only by choices that depend on them."""
    if sign(a) == 0 and not KIND.has(choice["kind"], "without_advantage"):
        return ZERO
    return KIND[choice["kind"]](at(choice, x, token), a, w, y, l)


def clip_sides(choice, a, w):
    """(low, high, dual): which clip changes the token's gradient, for the report. choice: from `at`."""
    return (KIND.has(choice["kind"], "sides") or never)(choice, a, value(w))
