"""NORM-08 and after: one optimiser step in several micro-batches, on several ranks."""
import math

from mpmath import mpf

import split as axis
from limits import ZERO

from .table import always, both, defect, option

SPLIT = {"kind": "split"}
TOKEN_MEAN = option("aggregation", "kind", "token_mean")
SEQ_MEAN = option("aggregation", "kind", "seq_mean_token_mean", "seq_mean_token_sum", "seq_mean_constant")
RIGHT = axis.share


def shared(a, f):
    """f(step, part, entry): the coefficient that is differentiated, and logged."""
    a.swap(axis, "share", f)


def logged(a, f):
    """f(step, part, entry): the coefficient of the loss that is logged; the gradient is right."""
    a.swap(axis, "logged", f)


def micro_batches(step, part):
    return len(step.on_rank(part.rank))


@defect("NORM-08", always, "dapo", "dapo-ranks", "scalerl", "grpo",
        seen="open-instruct #1161, SkyRL #1296, OpenRLHF #1249, prime-rl #583, NeMo-RL #266, TRL #3231, Liger e07abecd",
        shows="micro-batches or ranks of unequal token counts", **SPLIT)
def mean_per_micro_batch(a):
    """The mean is taken in each micro-batch, then averaged over micro-batches and ranks. Right: one mean over the
    step."""
    shared(a, lambda step, part, e: axis.local(step, part.sequences, e) / micro_batches(step, part))


@defect("NORM-09", always, "dapo-ranks", "grpo-ranks",
        seen="EasyR1 #419 (b308f6b), miles #3231", shows="more than one rank", **SPLIT)
def ranks_not_multiplied(a):
    """Losses are divided by the global count, and the average over ranks divides again. Right: times the number of
    ranks."""
    shared(a, lambda step, part, e: e.c)


@defect("NORM-09a", TOKEN_MEAN, "dapo-ranks", "dapo",
        seen="miles #3231", shows="always", **SPLIT)
def raw_sums(a):
    """Raw token sums are differentiated, and only the ranks are averaged. Right: divided by the tokens of the step."""
    shared(a, lambda step, part, e: mpf(1))


@defect("NORM-10", always, "dapo", "grpo",
        seen="ms-swift #10117", shows="more than one micro-batch", **SPLIT)
def divided_by_accumulation_too(a):
    """After the global divisor, the trainer divides by the number of micro-batches. Right: the divisor alone."""
    shared(a, lambda step, part, e: RIGHT(step, part, e) / micro_batches(step, part))


@defect("NORM-10a", both(always), "dapo-even", "grpo",
        seen="TRL #2647 (d14f7f3eb)", shows="more than one micro-batch", **SPLIT)
def accumulation_not_divided(a):
    """Means of micro-batches are added up and not divided by their number. Right: one mean over the step."""
    shared(a, lambda step, part, e: axis.local(step, part.sequences, e))


@defect("NORM-11", SEQ_MEAN, "grpo", "gspo", "dr-grpo",
        seen="verl #141 (695bdbb03)", shows="micro-batches with unequal numbers of responses", **SPLIT)
def fixed_accumulation(a):
    """Means of micro-batches of unequal size are divided by a fixed number of them (responses over those of the first).
    Right: each weighs with its responses."""
    def share(step, part, e):
        here = step.on_rank(part.rank)
        count = mpf(sum(len(p.sequences) for p in here)) / len(here[0].sequences)
        return axis.local(step, part.sequences, e) / count
    shared(a, share)


@defect("NORM-12", always, "dapo", "grpo",
        seen="TRL #4852 (7c4b6f169)", shows="evaluation, more than one micro-batch", **SPLIT)
def evaluation_divided(a):
    """In evaluation too the loss is divided by the number of micro-batches. Right: by 1."""
    logged(a, lambda step, part, e: RIGHT(step, part, e) / micro_batches(step, part))


@defect("NORM-14", TOKEN_MEAN, "dapo", "dapo-ranks",
        seen="Liger #1202 (e07abecd)", shows="more than one micro-batch", **SPLIT)
def tokens_of_micro_batch(a):
    """The divisor is the tokens of the current micro-batch over all ranks, and micro-batches are added. Right: those
    of the step."""
    def share(step, part, e):
        at = step.on_rank(part.rank).index(part)
        same = [p[at] for p in (step.on_rank(r) for r in range(step.ranks)) if at < len(p)]
        return mpf(step.ranks) / sum(p.tokens for p in same)
    shared(a, share)


@defect("NORM-15", TOKEN_MEAN, "dapo", "dapo-even",
        seen="Liger before #628 (bf2c67b7)", shows="more than one chunk", **SPLIT)
def chunk_means(a):
    """Chunk means are averaged in the loss, and added in the gradient. Right: sums over one divisor in both."""
    logged(a, lambda step, part, e: axis.local(step, part.sequences, e) / micro_batches(step, part))
    shared(a, lambda step, part, e: axis.local(step, part.sequences, e))


@defect("NORM-18", SEQ_MEAN, "grpo-ranks", "dr-grpo-ranks",
        seen="verl #4510 (6a5852147), #4769", shows="more than one rank", **SPLIT)
def ranks_divided(a):
    """Responses are divided by the number of responses times ranks, and the average over ranks divides again.
    Right: times ranks."""
    shared(a, lambda step, part, e: e.c / step.ranks)


@defect("NORM-19", TOKEN_MEAN, "dapo", "dapo-ranks",
        seen="slime #987, #990", shows="micro-batches times ranks other than responses", **SPLIT)
def per_sequence_factor(a):
    """The per-token loss is multiplied by micro-batches times ranks over responses, as the per-response mode is.
    Right: normalised once, by the tokens."""
    def share(step, part, e):
        return RIGHT(step, part, e) * micro_batches(step, part) * step.ranks / len(step.batch.sequences)
    shared(a, share)


@defect("NORM-20", always, "dapo", "grpo",
        seen="verl #4778, #4711", shows="more than one micro-batch", **SPLIT)
def mean_of_shares(a):
    """Shares of a global mean are averaged over micro-batches for the log. Right: added."""
    logged(a, lambda step, part, e: RIGHT(step, part, e) / micro_batches(step, part))


@defect("NORM-20a", always, "dapo-even", "grpo",
        seen="NeMo-RL af9f6e861, b9607949d", shows="more than one micro-batch", **SPLIT)
def sum_of_means(a):
    """Means of micro-batches are added up for the log. Right: averaged by weight."""
    logged(a, lambda step, part, e: axis.local(step, part.sequences, e))


@defect("MASK-08", always, "dapo", "gspo",
        seen="ms-swift #9128 (41b2741c0), #7346", shows="more than one micro-batch", **SPLIT)
def advantages_not_sliced(a):
    """Every micro-batch reads the advantages from the start of the batch. Right: its own slice."""
    advantage, parts = a.second["advantage"], a.case["parts"]
    moved = [list(row) for row in advantage]
    for part in parts:
        rows = [i for i, g in enumerate(a.second["group"]) if g in part["groups"]]
        for j, i in enumerate(rows):
            moved[i] = [advantage[j][0]] * len(moved[i])
    a.second["advantage"] = moved


@defect("MASK-13", always, "dapo-empty", "grpo-empty",
        seen="verl 80c860f9c, slime 92682315a", shows="a micro-batch without any token that counts", **SPLIT)
def empty_micro_batch(a):
    """A micro-batch without active tokens gives 0/0, and the sum is NaN. Right: it adds 0."""
    groups = a.second["group"]
    mask = a.second.get("mask") or [[True] * T for T in a.second["length"]]
    empty = [[i for i, g in enumerate(groups) if g in p["groups"]] for p in a.case["parts"]]
    empty = [rows for rows in empty if not any(m for i in rows for m in mask[i])]

    def answers(found):
        for rows in empty:
            found["loss"] = math.nan
            for i in rows:
                found["dlogp"][i] = [math.nan] * len(found["dlogp"][i])
    a.answered(answers)


@defect("MET-01", always, "dapo", "grpo",
        seen="verl #2259 (6d9ac2f7b)", shows="more than one micro-batch", **SPLIT)
def last_micro_batch_logged(a):
    """Every micro-batch overwrites the logged value: the last one's is left. Right: accumulated."""
    def only_last(step, part, e):
        return axis.local(step, part.sequences, e) if step.on_rank(part.rank)[-1] is part else ZERO
    logged(a, only_last)


@defect("MET-02", always, "dapo-ranks", "grpo-ranks",
        seen="TRL #6380 (c1f6f24e1), #6379", shows="ranks of unequal token counts", **SPLIT)
def mean_of_rank_means(a):
    """The logged loss is the mean of the ranks' means. Right: the mean over all."""
    def of_rank(step, part, e):
        sequences = [s for p in step.on_rank(part.rank) for s in p.sequences]
        return axis.local(step, sequences, e)
    logged(a, of_rank)
