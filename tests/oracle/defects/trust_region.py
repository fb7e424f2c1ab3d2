"""TRUST: trust regions by probability or by the sign of the advantage."""
from autodiff import exp
from axes import surrogate, weight
from limits import limit, sign
from reals import mpf

from .table import both, defect, option

LOSS = ("loss",)
parabola = option("surrogate", "kind", "quadratic_probability")
banded = option("weight", "trust", "negative_band")
AT = "choices-trust-region-"


def ordinary(o, b):
    return not any("-Infinity" in row for key in ("logp", "logp_old") for row in b.get(key, []))


def bent(a, bend):
    """S becomes -A w + bend(s, a, w, l); log-probabilities are finite"""
    a.swap(surrogate.KIND, "quadratic_probability", lambda s, adv, w, y, l: -adv * w + bend(s, adv, w, l))


@defect("TRUST-01", both(parabola, ordinary), AT + "quadratic_probability", AT + "quadratic_probability-eps",
        seen="a mode of UniRL's DRPO, read in its code", shows="a probability below 1", stages=LOSS)
def without_the_probability(a):
    """The parabola is one of the ratio alone: as steep for improbable tokens as for probable ones. Right: multiplied by the old
    probability."""
    bent(a, lambda s, adv, w, l: (w - 1) * (w - 1) * (abs(adv) / (2 * mpf(s["quadratic_eps"]))))


@defect("TRUST-02", both(parabola, ordinary), AT + "quadratic_probability", AT + "quadratic_probability-eps",
        seen="none known, invited by a probability", shows="a policy that has moved", stages=LOSS)
def probability_of_the_policy(a):
    """The parabola is weighted by the probability under the policy, differentiated. Right: by the detached probability in the ratio's
    denominator."""
    bent(a, lambda s, adv, w, l: exp(l) * (w - 1) * (w - 1) * (abs(adv) / (2 * mpf(s["quadratic_eps"]))))


@defect("TRUST-03", both(parabola, ordinary), AT + "quadratic_probability", AT + "quadratic_probability-rollout",
        seen="none known, invited by one formula for both signs", shows="a negative advantage", stages=LOSS)
def parabola_with_the_sign(a):
    """The parabola is multiplied by A: moving far is rewarded where A < 0. Right: by the absolute value of A."""
    bent(a, lambda s, adv, w, l: (w - 1) * (w - 1) * (limit(exp(s["x"])) * adv / (2 * mpf(s["quadratic_eps"]))))


@defect("TRUST-04", both(parabola, ordinary), AT + "quadratic_probability", AT + "quadratic_probability-eps",
        seen="none known, invited by a square",
        shows="a policy that has moved", stages=LOSS)
def twice_the_parabola(a):
    """The 2 in the parabola's denominator is missing. Right: abs(A) p (w - 1)^2/(2 eps), whose derivative has no 2."""
    bent(a, lambda s, adv, w, l: (w - 1) * (w - 1) * (limit(exp(s["x"])) * abs(adv) / mpf(s["quadratic_eps"])))


def dropped_if(a, test):
    """test(limits, advantage, ratio) decides which tokens trust drops"""
    a.swap(weight.TRUST, "negative_band", lambda n, adv, w, y, l, x, token: test(n, adv, w))


@defect("TRUST-05", banded, AT + "negative_band-token", AT + "negative_band-low", seen="none known, invited by a band",
        shows="a token with A > 0 outside the band", stages=LOSS)
def band_for_both_signs(a):
    """Tokens with A > 0 outside the band are dropped too. Right: only those with A < 0."""
    dropped_if(a, lambda n, adv, w: weight.not_within(w, 1 - n.low, 1 + n.high))


@defect("TRUST-06", banded, AT + "negative_band-token", AT + "negative_band-high",
        seen="none known, invited by PPO's clip, which is one-sided where A < 0",
        shows="a token with A < 0 above the band", stages=LOSS)
def one_side_only(a):
    """Tokens with A < 0 are dropped only below the band. Right: above it too."""
    dropped_if(a, lambda n, adv, w: sign(adv) < 0 and weight.less(w, 1 - n.low))


@defect("TRUST-07", both(banded, lambda o, b: o["weight"]["trust_low"] != o["weight"]["trust_high"]), AT + "negative_band-token",
        AT + "negative_band-high-inf", seen="none known, invited by two bounds", shows="bounds that differ", stages=LOSS)
def bounds_of_the_band_swapped(a):
    """The lower bound is used above 1 and the upper one below. Right: the other way round."""
    dropped_if(a, lambda n, adv, w: sign(adv) < 0 and weight.not_within(w, 1 - n.high, 1 + n.low))
