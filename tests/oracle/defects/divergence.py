"""FLOW: given divergences, such as those of a sampler's Gaussian steps."""
from autodiff import sg, value
from axes import penalty as penalty_axis
from axes import weight as weight_axis
from limits import ONE, less, sign

from .table import both, defect, differs, has, option

LOSS = ("loss",)
paid = option("penalty", "kl", "external")
trusted = option("weight", "trust", "divergence")
AT = "choices-divergence-"


@defect("FLOW-01", both(trusted, lambda o, b: any("-Infinity" in row for row in b.get("logp_old", []))), AT + "trust-far-800-ratio",
        AT + "trust-far-800-reinforce", seen="none known, right in UniRL and verl-omni, which select",
        shows="an infinite ratio at a token that is dropped", stages=LOSS)
def multiplied_by_the_mask(a):
    """The loss is multiplied by the mask: where the ratio is infinite, 0 times infinity is NaN. Right: dropped tokens are left out by a
    selection."""
    a.ieee()


def dropped_if(a, test):
    """test(limits, advantage, ratio, divergence) decides which tokens trust drops"""
    a.swap(weight_axis.TRUST, "divergence", lambda n, A, w, y, l, x, token: test(n, A, w, token.divergence_old))


@defect("FLOW-02", trusted, AT + "trust-token", AT + "steps-trust",
        seen="none known, an ablation in Flow-DPPO's paper (figure 3), where training collapsed",
        shows="a ratio that has moved against its advantage", stages=LOSS)
def without_direction(a):
    """Every token with a large divergence is dropped, also where the ratio has moved against its advantage. Right: only tokens whose
    ratio has moved in the direction of their advantage."""
    dropped_if(a, lambda n, A, w, D: sign(A) > 0 and less(n.high, D) or sign(A) < 0 and less(n.low, D))


@defect("FLOW-03", both(trusted, lambda o, b: o["weight"]["trust_low"] != o["weight"]["trust_high"]), AT + "trust-token", AT + "trust-low",
        seen="none known, invited by two bounds", shows="bounds that differ", stages=LOSS)
def bounds_swapped(a):
    """The lower bound is used for positive advantages, the upper one for negative ones. Right: the other way round."""
    dropped_if(a, lambda n, A, w, D: sign(A) > 0 and less(ONE, w) and less(n.low, D) or sign(A) < 0 and less(w, ONE) and less(n.high, D))


@defect("FLOW-04", trusted, AT + "trust-token", AT + "trust-zero", seen="UniRL, verl-omni, read in their code (the paper's equation has >)",
        shows="a divergence equal to the bound", stages=LOSS)
def dropped_at_the_bound(a):
    """A token whose divergence equals the bound is dropped (implementations differ). Right: it is kept."""
    dropped_if(a, lambda n, A, w, D: (sign(A) > 0 and less(ONE, w) and not less(D, n.high)
                                      or sign(A) < 0 and less(w, ONE) and not less(D, n.low)))


@defect("FLOW-05", trusted, AT + "trust-token", AT + "steps-trust",
        seen="none known, invited by a mask", shows="a token that is dropped", stages=LOSS)
def divided_by_what_is_left(a):
    """The mean is over the tokens that are not dropped. Right: dropped tokens count in the divisor."""
    def entries(found, batch, objective):
        kept = sum(not e.dropped for e in found)
        for e in found if kept else ():
            e.c = e.c * len(found) / kept
    a.entries(entries)


@defect("FLOW-06", both(trusted, differs("penalty", "kl", "none")), AT + "trust-token", AT + "kl-trust",
        seen="none known, invited by a mask of the loss", shows="a dropped token with a KL", stages=LOSS)
def dropped_pay_nothing(a):
    """The KL of dropped tokens is left out too. Right: the mask applies to the surrogate only."""
    def entries(found, batch, objective):
        for e in found:
            if e.dropped:
                e.paid = []
    a.entries(entries)


@defect("FLOW-07", paid, AT + "kl-token_mean", AT + "steps-kl",
        seen="none known, invited by an array that is given", shows="always", stages=LOSS)
def divergence_is_detached(a):
    """The given divergence is treated as a constant: its derivative is 0. Right: the loss is differentiated with respect to it; the
    caller continues the gradient to the means."""
    a.around(penalty_axis, "weighted_kl", lambda original, *args: value(original(*args)))


@defect("FLOW-08", both(paid, has("logp_ref")), AT + "kl-for-k3", AT + "kl-selected",
        seen="none known, invited by log-probabilities of the reference in the batch",
        shows="log-probabilities of the reference", stages=LOSS)
def estimated_all_the_same(a):
    """k3 of the log-probabilities is used in place of the given divergence. Right: the given divergence."""
    a.choose("penalty", kl="k3")


@defect("FLOW-09", both(paid, has("logp_old")), AT + "kl-for-k3", AT + "kl-token_mean",
        seen="none known, invited by estimates of a KL, which are weighted by the token's ratio",
        shows="a ratio that is not 1", stages=LOSS)
def weighted_by_the_ratio(a):
    """The given divergence is weighted by the token's ratio, as an estimate from a sample would be. Right: not weighted: it is already an
    expectation."""
    def paid_by(original, choice, ratio, token, w):
        return original(choice, ratio, token, w) * sg(value(w))
    a.around(penalty_axis, "weighted_kl", paid_by)
