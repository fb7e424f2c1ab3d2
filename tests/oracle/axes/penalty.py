"""Penalty: estimates of KL(policy || reference) from D = l - x, or a given divergence; and the entropy bonus.

Both are part of the term; their divisor is that of the term unless `kl_aggregation` or `entropy_aggregation` has another."""

from autodiff import absolute, clamp, exp, exp_minus_one_minus, half_square, minimum, sg
from axes.ratio import log_ratio
from limits import ZERO
from reals import mpf


def k1(d):
    return d


def k2(d):
    return half_square(d)


def k3(d):
    # DeepSeekMath (2402.03300) eq. 4
    return exp_minus_one_minus(-d)


ESTIMATED = {"k1": k1, "k2": k2, "k3": k3, "abs": absolute}

# the divergence of Gaussian steps is known exactly: Flow-GRPO (2505.05470) computes k/(2 c^2) from the means; it does not depend on l
GIVEN = {"external": lambda token: token.divergence_ref}
KL = {**ESTIMATED, **GIVEN}

# x: the reference; KL-Cov (2505.22617) and others have the old policy
AGAINST = {"ref": lambda token: token.f, "old": lambda token: token.o, "rollout": lambda token: token.b,
           "teacher": lambda token: token.teacher}


def own(kl, d):
    return kl


def straight_through(kl, d):
    # value of K, gradient D of k2, whose expectation is the gradient of the KL
    square = half_square(d)
    return sg(kl) + (square - sg(square))


def value_only(kl, d):
    # AReaL's pure distillation: e^(l - o) sg[l - teacher]: only the ratio is differentiated
    return sg(kl)


GRADIENT = {"exact": own, "straight_through_k2": straight_through, "detached": value_only}


def no_ratio(ratio, token, w):
    return mpf(1)


def token_ratio(ratio, token, w):
    # DeepSeek-V3.2 (2512.02556): w k3, w differentiated
    return exp(log_ratio(ratio, token))


def unit_ratio(ratio, token, w):
    return w


def score_ratio(ratio, token, w):
    # value 1, derivative 1: adds the score-function term K dl
    return exp(token.l - sg(token.l))


RATIO = {"none": no_ratio, "token": token_ratio, "level": unit_ratio, "score_function": score_ratio}

# selected: KL-Cov (2505.22617), a KL only at the tokens of largest covariance
ON = {"all": lambda token: True, "selected": lambda token: token.kl_mask}


# kl_clamp_value bounds K, or u K (NeMo-RL since 2026-06-27, slime)
CLAMP_ON = ("estimate", "weighted")


def weighted_kl(choice, ratio, token, w):
    """beta u K"""
    if choice["kl"] == "none" or not ON[choice["kl_on"]](token):
        return ZERO
    if choice["kl"] in GIVEN:
        return GIVEN[choice["kl"]](token) * mpf(choice["kl_coef"])
    d = token.l - AGAINST[choice["kl_reference"]](token)
    c = mpf(choice["kl_clamp_log"])
    if c:
        d = clamp(d, -c, c)
    kl = GRADIENT[choice["kl_gradient"]](KL[choice["kl"]](d), d)
    c = mpf(choice["kl_clamp_value"])
    if c and choice["kl_clamp_on"] == "estimate":
        kl = clamp(kl, -c, c)
    u = RATIO[choice["kl_importance_weight"]](ratio, token, w)
    most = mpf(choice["kl_importance_weight_max"])
    if most:
        u = minimum(u, most)
    kl = u * kl
    if c and choice["kl_clamp_on"] == "weighted":
        kl = clamp(kl, -c, c)
    return mpf(choice["kl_coef"]) * kl


def entropy_bonus(choice, token):
    """-alpha H, H the entropy at the token: a variable of its own, not a function of l"""
    coef = mpf(choice["entropy_coef"])
    return -coef * token.H if coef else ZERO
