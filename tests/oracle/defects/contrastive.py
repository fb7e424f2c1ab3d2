"""CON: a contrastive loss of the scores of a group."""
from autodiff import log_sum_exp, sg
from axes import group
from limits import ONE, ZERO
from reals import mpf

from .table import both, defect, option

LOSS = ("loss",)
contrastive = option("surrogate", "kind", "contrastive")
with_margin = both(contrastive, lambda o, b: o["surrogate"]["contrast_margin"] != 0)
AT = "choices-surrogate-contrastive-"


def instead(a, rivals_of=None, share=None, held=lambda x: x, factor=None):
    """The same loss with other rivals (a function of the positive and negative places and i), another divisor, the rivals' scores passed
    through `held`, another factor."""
    def loss(s, y, adv, z, lengths):
        good, others = group.sides(adv)
        tau, margin = mpf(s["contrast_temperature"]), mpf(s["contrast_margin"])
        n = share(good, y) if share else ONE / len(good) if good else ZERO

        def term(i):
            rivals = [held(y[j]) for j in (rivals_of(good, others, i) if rivals_of else others)]
            return log_sum_exp([ZERO] + [(x - y[i] + margin) / tau for x in rivals]) * (n * (tau if factor is None else factor))
        return [term(i) if i in good else ZERO for i in range(len(y))]
    a.swap(group.KIND, "contrastive", loss)


@defect("CON-01", with_margin, AT + "contrastive", AT + "contrastive-scores",
        seen="none known; an early restatement adds it to the negative responses' scores, which is equivalent to the right form",
        shows="a margin", stages=LOSS)
def margin_of_the_other_sign(a):
    """The margin is added to the positive response's score, which makes the loss smaller. Right: it is subtracted."""
    a.choose("surrogate", contrast_margin=-a.objective["surrogate"]["contrast_margin"])


@defect("CON-02", with_margin, AT + "contrastive", AT + "contrastive-margin",
        seen="none known, invited by a margin of scores", shows="a margin",
        stages=LOSS)
def margin_off_every_score(a):
    """The margin is subtracted from every score, positive or negative, and cancels. Right: from the positive response's score only."""
    a.choose("surrogate", contrast_margin=0)


@defect("CON-03", contrastive, AT + "contrastive", AT + "contrastive-first",
        seen="daiwk/auto-research, a small reimplementation, without the margin",
        shows="two positive responses in a group", stages=LOSS)
def good_ones_against_each_other(a):
    """The softmax is over the whole group, including the other positive responses. Right: over the positive response and the negative
    ones."""
    instead(a, rivals_of=lambda good, others, i: [j for j in sorted(good + others) if j != i])


@defect("CON-04", both(contrastive, lambda o, b: o["surrogate"]["contrast_temperature"] != 1), AT + "contrastive", AT + "contrastive-warm",
        seen="none known, invited by the usual contrastive loss", shows="a temperature that is not 1", stages=LOSS)
def without_the_temperature_in_front(a):
    """The factor tau in front of the logarithm is missing: the gradient grows as the temperature falls. Right: tau log softmax."""
    instead(a, factor=ONE)


@defect("CON-05", contrastive, AT + "contrastive", AT + "contrastive-scores",
        seen="none known, invited by a mean over the group", shows="always",
        stages=LOSS)
def divided_by_the_group(a):
    """The mean is over all responses of the group. Right: over the positive ones."""
    instead(a, share=lambda good, y: ONE / len(y))


@defect("CON-06", both(contrastive, option("ratio", "level", "sequence_mean")), AT + "contrastive", AT + "contrastive-scores",
        seen="none known, invited by preference losses, which use sums", shows="responses of several tokens", stages=LOSS)
def scores_are_sums(a):
    """The score is the sum of a response's log-probabilities, so long responses have lower scores. Right: their mean."""
    a.choose("ratio", level="sequence_sum")


@defect("CON-07", contrastive, AT + "contrastive", AT + "contrastive-scores",
        seen="none known, invited by a baseline", shows="always", stages=LOSS)
def others_are_detached(a):
    """The scores of negative responses are detached: the gradient does not lower them. Right: they are differentiated like the positive
    response's score."""
    instead(a, held=sg)
