"""MET, ENT: logged numbers."""

from autodiff import value
from axes import report as report_axis
from limits import ONE, ZERO
from reals import mpf

from .table import both, defect, has, kl_in_loss, masked_any, of, option, padded, slots, unequal, unit, uses_ratio

LOSS = ("loss",)


def per_sequence(entries):
    """The entries of each response with active tokens."""
    rows = {}
    for e in entries:
        rows.setdefault(e.token.sequence.index, []).append(e)
    return list(rows.values())


def mean(xs):
    return sum(xs, ZERO) / len(xs) if xs else ZERO


@defect("ENT-02", both(has("entropy"), padded), "reported", "mistakes-entropies",
        seen="SkyRL 62a6e1203", shows="padding", stages=LOSS)
def entropy_over_padding(a):
    """The entropy is averaged over all positions, padding included. Right: over the mask."""
    n = slots(a.second)

    def reported(found, entries, batch, objective):
        found["entropy"] = found["entropy"] * len(entries) / n
    a.reported(reported)


@defect("ENT-04", both(has("entropy"), of(uses_ratio)), "reported", "mistakes-entropies",
        seen="NeMo-RL b7302ad41, b9607949d, by design", shows="always", stages=LOSS)
def entropy_estimated(a):
    """-w l, whose expectation is the entropy, is logged as the entropy. Right: the mean of the entropies."""
    def reported(found, entries, batch, objective):
        found["entropy"] = -mean([value(e.w) * value(e.token.l) for e in entries])
    a.reported(reported)


@defect("MET-01a", of(kl_in_loss), "ragged", "signs",
        seen="open-instruct fc752397c", shows="a KL in the loss", stages=LOSS)
def total_logged_as_policy(a):
    """The total loss is logged as the policy loss. Right: without the penalty."""
    def reported(found, entries, batch, objective):
        found["policy_loss"] = found["policy_loss"] + found["penalty_loss"]
    a.reported(reported)


@defect("MET-02a", both(of(uses_ratio), option("ratio", "level", "token")), "ragged", "signs",
        seen="TRL before #6380, of clip fractions and over ranks; #6379, #7047; miles before #1968 (862ac1ea1), of lengths",
        shows="responses of more than one token", stages=LOSS)
def extrema_of_means(a):
    """Minimum and maximum of the ratio are those of means (here: of the responses'). Right: of the tokens'."""
    def reported(found, entries, batch, objective):
        means = [mean([value(e.w) for e in row]) for row in per_sequence(entries)]
        if means:
            found["ratio_min"], found["ratio_max"] = report_axis.smallest(means), report_axis.largest(means)
    a.reported(reported)


@defect("MET-03", both(of(uses_ratio), of(unit), unequal), "ragged", "signs",
        seen="TRL, read in its code; right in Liger 78125679", shows="a ratio per response, unequal lengths", stages=LOSS)
def mean_over_responses(a):
    """The ratio of responses is averaged over responses (implementations differ). Right: over active tokens."""
    def reported(found, entries, batch, objective):
        found["ratio_mean"] = mean([mean([value(e.w) for e in row]) for row in per_sequence(entries)]) if entries else ONE
    a.reported(reported)


@defect("MET-03a", both(of(uses_ratio), option("aggregation", "kind", "constant", "seq_mean_constant")), "choices-aggregation-constant-0.5",
        "choices-aggregation-seq_mean_constant-keep", "ragged",
        seen="prime-rl before #580 (7df12a4b9)", shows="a constant divisor", stages=LOSS)
def mean_by_divisor_of_loss(a):
    """The logged mean of the ratio has the divisor of the loss, a constant. Right: the number of active tokens."""
    def reported(found, entries, batch, objective):
        found["ratio_mean"] = sum((e.c * value(e.w) for e in entries), ZERO) if entries else ONE
    a.reported(reported)


@defect("MET-04", lambda o, b: masked_any(o, b) or o["weight"]["truncated"] == "mask", "truncated", "holes", "fully-masked",
        seen="SkyRL 06785afc3", shows="tokens that do not count", stages=LOSS)
def raw_lengths_logged(a):
    """The logged number of tokens is that of the whole responses. Right: of the tokens that count."""
    def reported(found, entries, batch, objective):
        found["tokens"] = mpf(sum(s.length for s in batch.sequences))
        found["masked_tokens"] = ZERO
    a.reported(reported)
