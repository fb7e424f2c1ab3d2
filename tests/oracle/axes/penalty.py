"""Penalty: what else is paid for? Estimators of KL(policy || reference), D = l - x, or a divergence that is given; and entropy, which is
paid back.

Both stand in the term; what divides them is that of the term, or `kl_aggregation` and `entropy_aggregation`."""

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

# Gaussian steps know the divergence itself: Flow-GRPO (2505.05470) takes it of the means, k/(2 c^2); nothing of it goes through l
GIVEN = {"external": lambda token: token.divergence_ref}
KL = {**ESTIMATED, **GIVEN}

# x, whom the policy is held to: the reference; KL-Cov (2505.22617) and others, the policy that sampled
AGAINST = {"ref": lambda token: token.f, "old": lambda token: token.o, "rollout": lambda token: token.b,
           "teacher": lambda token: token.teacher}


def own(kl, d):
    return kl


def straight_through(kl, d):
    # value of K, gradient D of k2: the estimator whose expectation is the gradient of the KL
    square = half_square(d)
    return sg(kl) + (square - sg(square))


def value_only(kl, d):
    # AReaL's pure distillation: e^(l - o) sg[l - teacher], what is differentiated is the ratio
    return sg(kl)


GRADIENT = {"exact": own, "straight_through_k2": straight_through, "detached": value_only}


def no_ratio(ratio, token, w):
    return mpf(1)


def token_ratio(ratio, token, w):
    # DeepSeek-V3.2 (2512.02556): w k3 with w not detached
    return exp(log_ratio(ratio, token))


def unit_ratio(ratio, token, w):
    return w


def score_ratio(ratio, token, w):
    # as on policy: value 1, derivative 1, which adds the score function of K
    return exp(token.l - sg(token.l))


RATIO = {"none": no_ratio, "token": token_ratio, "level": unit_ratio, "score_function": score_ratio}

# KL-Cov (2505.22617): only the tokens of largest covariance pay
ON = {"all": lambda token: True, "selected": lambda token: token.kl_mask}


# what kl_clamp_value bounds: K, or u K (NeMo-RL since 2026-06-27, slime)
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
    """-alpha H, H the entropy at the token: no function of l, a variable of its own"""
    coef = mpf(choice["entropy_coef"])
    return -coef * token.H if coef else ZERO
