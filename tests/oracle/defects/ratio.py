"""RATIO, GSPO: wrong ratios, wrong units, wrong gradients of a ratio."""

import evaluate
from attempt import Ghost
from autodiff import linear, sg
from axes import penalty as penalty_axis
from axes import ratio as axis
from axes import weight
from limits import ONE, ZERO
from reals import mpf

from .table import both, defect, farther_than, has, masked_any, of, option, several_groups, square, unit, uses_ratio

LOSS = ("loss",)
ratio_used = of(uses_ratio)
means = both(ratio_used, option("ratio", "level", "sequence_mean"))


# ---- the denominator

def denominator_is_policy(a):
    for module in (axis, penalty_axis):
        a.swap(module, "log_ratio", lambda choice, t: t.l - sg(t.l))


@defect("RATIO-01", ratio_used, "ragged", "signs", "choices-surrogate-ratio",
        seen="open-instruct #755 (15686bb06), torchforge #571, DeepSeekRL-Extended #5, prime-rl before 413cf0d1d, ColossalAI before #6364 "
        "(c7829769e), with pipeline parallelism; tinker-cloud before #66",
        shows="a policy that has moved", stages=LOSS)
def ratio_always_one(a):
    """The old log-probabilities are those of the policy itself, detached: every ratio is 1. Right: frozen before the
    update."""
    denominator_is_policy(a)


@defect("RATIO-02", ratio_used, "ragged", "signs", "choices-surrogate-ratio",
        seen="TRL #3725, #3388, ms-swift #4852, cosmos-rl before #356 (c5daa3ea)", shows="more optimiser steps than generations",
        stages=LOSS)
def on_policy_shortcut(a):
    """The on-policy shortcut (ratio 1) is used where the batch is trained on for several steps. Right: only where the policy has not
    moved."""
    denominator_is_policy(a)


@defect("RATIO-05", both(ratio_used, option("ratio", "level", "token")), "ragged", "signs", "choices-surrogate-ppo_clip",
        seen="reasoning-from-scratch #243; hands-on-modern-rl #75, in its text", shows="responses of more than one token", stages=LOSS)
def ratio_of_response(a):
    """One ratio of the probabilities of whole responses, clipped once. Right: one ratio per token."""
    a.choose("ratio", level="sequence_sum")


@defect("RATIO-06", both(ratio_used, has("logp_ref")), "ragged", "reported", "signs",
        seen="mlx-examples #1233, in review; proposed in DeepSeekRL-Extended #5",
        shows="a reference that is not the old policy", stages=LOSS)
def ratio_against_reference(a):
    """The ratio is against the reference. Right: against the policy that sampled."""
    for module in (axis, penalty_axis):
        a.swap(module, "log_ratio", lambda choice, t: t.l - t.f)


@defect("RATIO-07", means, "ragged", "holes", "choices-ratio-sequence_mean-full-ratio",
        seen="Soup #723, fixed in #744", shows="any batch", stages=LOSS)
def batch_centred(a):
    """The log-ratio minus the mean of its column over the batch, masked tokens included. Right: the mean over the
    response."""
    a.with_ghosts()
    columns = {}

    def remember(original, objective, batch):
        columns.clear()
        for s in batch.sequences:
            for t in s.every:
                columns.setdefault(t.t, []).append((axis.log_ratio(objective["ratio"], t), mpf(1) / len(batch.sequences)))
        entries, rejected = original(objective, batch)
        return entries + [Ghost(t, ONE, ZERO, ZERO, ONE, ZERO, []) for s in batch.sequences for t in s.ghosts], rejected
    a.around(evaluate, "entries_of", remember)
    a.swap(axis, "log_units", lambda choice, tokens: [axis.log_ratio(choice, t) - linear(columns[t.t]) for t in tokens])


@defect("RATIO-01a", ratio_used, "ragged", "signs", "choices-surrogate-ppo_clip", "choices-surrogate-ratio",
        seen="mlx-lm-lora before f84e54e (#49, #50), by default", shows="a surrogate whose gradient comes from the ratio", stages=LOSS)
def ratio_without_graph(a):
    """The log-ratio is a constant 0, which does not depend on the policy: every ratio is 1, and its gradient 0. Right: the policy's
    log-probability minus that of the policy that sampled."""
    for module in (axis, penalty_axis):
        a.swap(module, "log_ratio", lambda choice, t: ZERO)


# ---- the unit

@defect("GSPO-01", means, "ragged", "signs", "choices-ratio-sequence_mean-full-ratio",
        seen="Trinity #154, its first version", shows="responses of more than one token", stages=LOSS)
def divided_not_summed(a):
    """Every token's log-ratio is divided by the length, but the quotients are not summed. Right: one mean per response."""
    a.swap(axis.UNIT, "sequence_mean", lambda parts: [p / len(parts) for p in parts])


def with_sums(a, unit_of):
    """unit_of(t, tokens, parts of every response) replaces the unit's log-ratio; parts are the log-ratios of active tokens."""
    parts = {}

    def remember(original, objective, batch):
        parts.clear()
        for s in batch.sequences:
            parts[s.index] = [axis.clamped(objective["ratio"], t) for t, _ in weight.weigh(objective["weight"], s)[0]]
        return original(objective, batch)
    a.around(evaluate, "entries_of", remember)
    a.swap(axis, "log_units", lambda choice, tokens: [unit_of(t, tokens, parts) for t in tokens])


def mean_of(parts):
    return linear([(p, ONE) for p in parts]) / mpf(len(parts)) if parts else ZERO


@defect("GSPO-01a", both(means, square), "square", "mistakes-square",
        seen="ms-swift #6014 (ab85a61de)", shows="as many responses as tokens", stages=LOSS)
def sums_over_column_of_lengths(a):
    """Sums of shape (B,) are divided by lengths of shape (B, 1): the result is a matrix whose entry i, t is the sum of response t over
    T_i. Right: each sum by the length of the same response."""
    with_sums(a, lambda t, tokens, parts: linear([(p, ONE) for p in parts[t.t]]) / mpf(len(tokens)) if parts[t.t] else ZERO)


@defect("GSPO-02", both(means, square), "square", "mistakes-square",
        seen="EasyR1 #596 (fixed in fd9a5d9)", shows="as many responses as tokens", stages=LOSS)
def ratio_along_tokens(a):
    """Ratios of shape (B,) are broadcast against tokens of shape (B, T): token t gets the ratio of response t. Right: its own
    response's."""
    with_sums(a, lambda t, tokens, parts: mean_of(parts[t.t]))


@defect("GSPO-03", both(of(unit), option("surrogate", "kind", "ppo_clip", "dual_clip"), farther_than(80)), "extreme-800-good",
        seen="OpenRLHF #1293 (open)",
        shows="a response's mean log-ratio beyond the exponent's range (709 in binary64, 88 in binary32), A > 0",
        stages=LOSS)
def overflow_of_response(a):
    """The response's ratio overflows; min() takes the clipped branch, and the gradient of the other branch is 0 times infinity. Right:
    0."""
    a.ieee()


@defect("GSPO-04", both(of(unit), lambda o, b: any(not any(row) for row in b.get("mask", []))), "fully-masked",
        "everything-masked",
        seen="OpenRLHF before df78645e", shows="a response without any token that counts", stages=LOSS)
def empty_mean(a):
    """The mean log-ratio of a response without tokens is 0/0: NaN times its mask is NaN. Right: the response adds nothing."""
    nan = float("nan")
    empty = [i for i, row in enumerate(a.second["mask"]) if not any(row)]

    def answers(found):
        found["loss"] = found["report"]["policy_loss"] = nan
        for i in empty:
            found["dlogp"][i] = found["term"][i] = [nan] * len(found["dlogp"][i])
    a.answered(answers)


@defect("GSPO-07", both(means, several_groups), "ragged", "holes", "choices-ratio-sequence_mean-full-ratio",
        seen="tunix before 59deac39",
        shows="several responses packed in a row (here: those of a group)", stages=LOSS)
def mean_over_packed_row(a):
    """The mean log-ratio is taken over the packed row. Right: over each response of the row."""
    groups = a.second["group"]

    def packed(t, tokens, parts):
        return mean_of([p for i, row in parts.items() if groups[i] == t.sequence.group for p in row])
    with_sums(a, packed)


# ---- its gradient

token_gradient = both(ratio_used, option("ratio", "level", "sequence_mean"), option("ratio", "gradient", "token"))
GSPO_TOKEN = ("ragged", "signs", "choices-ratio-sequence_mean-token-ratio")


@defect("GSPO-05", token_gradient, *GSPO_TOKEN,
        seen="none known, right in verl #2775, Trinity #154, labs-molt #53", shows="any ratio inside the clip", stages=LOSS)
def attached_twice(a):
    """GSPO-token without the stop-gradient on the mean: the gradient flows through the mean as well as through the token. Right: sg[mean]
    + l - sg[l]."""
    a.swap(axis, "own_token", lambda ys, parts: [y + (p - sg(p)) for y, p in zip(ys, parts)])


@defect("GSPO-05b", token_gradient, *GSPO_TOKEN,
        seen="none known, right in verl #2775, Trinity #154, labs-molt #53", shows="any ratio inside the clip", stages=LOSS)
def detached_whole(a):
    """GSPO-token with everything detached: no gradient. Right: sg[mean] + l - sg[l]."""
    a.swap(axis, "own_token", lambda ys, parts: [sg(y) for y in ys])


@defect("GSPO-05c", both(token_gradient, masked_any), "holes", "fully-masked",
        seen="none known, right in verl #2775, Trinity #154, labs-molt #53", shows="masked tokens", stages=LOSS)
def mean_without_mask(a):
    """GSPO-token whose detached mean includes masked tokens. Right: the mean over the mask."""
    a.with_ghosts()

    def log_units(original, choice, tokens):
        mean = sg(mean_of([axis.clamped(choice, t) for t in tokens[0].sequence.every]))
        return [y - sg(y) + mean for y in original(choice, tokens)]
    a.around(axis, "log_units", log_units)


@defect("GSPO-05d", both(means, option("ratio", "gradient", "full")), "ragged", "signs",
        "choices-ratio-sequence_mean-full-ratio",
        seen="prime-rl before #1123 (48b9ec7a8), which filled in a number", shows="any ratio inside the clip", stages=LOSS)
def sequence_detached(a):
    """The plain form with a detached ratio: no gradient. Right: differentiated through the mean."""
    a.around(axis, "log_units", lambda original, choice, tokens: [sg(y) for y in original(choice, tokens)])


@defect("GSPO-06", of(unit), "extreme-50", "mistakes-far-unit", "extreme-800-bad",
        seen="tunix, later than a52883ea (whose bound is 20 on both sides)", shows="a response's log-ratio above 10, A < 0", stages=LOSS)
def bounded_from_above(a):
    """The response's log-ratio is bounded above at 10 (derivative 0 beyond) where no bound is meant, or is not bounded where 10 is meant
    (implementations differ). Right: as `ratio.level_clamp_high` says."""
    bounded = a.objective["ratio"]["level_clamp_high"] not in (0, "Infinity")
    low, high = (0, 0) if bounded else ("-Infinity", 10)
    a.choose("ratio", level_clamp_low=low, level_clamp_high=high)
