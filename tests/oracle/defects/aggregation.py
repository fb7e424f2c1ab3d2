"""NORM: wrong divisors."""
import math

import evaluate
from attempt import Ghost
from axes import aggregation, penalty, weight
from limits import ONE, ZERO, Undefined
from reals import mpf

from .table import both, defect, differs, has, kl_in_loss, of, option, padded, slots, unequal, unit, width

LOSS = ("loss",)
SEQ_MEAN = ("seq_mean_token_mean", "seq_mean_token_sum", "seq_mean_constant")
DIVIDES_BY_TOKENS = ("token_mean", "seq_mean_token_mean", "group_mean_token_mean")


def kind(a, name):
    a.choose("aggregation", kind=name)


def active_tokens(a):
    """T_i of every sequence, by the weight axis."""
    return [len(weight.weigh(a.objective["weight"], s)[0]) for s in evaluate.Batch(a.second).sequences]


def some_empty(o, b):
    if o["weight"]["truncated"] == "mask" and any(b.get("truncated", ())):
        return True
    return any(not any(row) for row in b.get("mask", []))


@defect("NORM-01", option("aggregation", "kind", "seq_mean_token_sum"), "ragged",
        "choices-aggregation-seq_mean_token_sum-keep",
        seen="verl #931 (4d722b176)", shows="seq-mean-token-sum, any response of more than one token", stages=LOSS)
def sum_is_mean(a):
    """The mode "mean over responses of the token sum" still divides by the length. Right: mean_i(sum_t x)."""
    kind(a, "seq_mean_token_mean")


@defect("NORM-02", option("aggregation", "kind", "seq_mean_token_mean"), "ragged",
        "choices-aggregation-seq_mean_token_mean-keep",
        seen="ROLL d8d7e78f", shows="responses of more than one token", stages=LOSS)
def length_divides_twice(a):
    """The mean over a response's tokens is divided by its length once more. Right: mean_i(sum_t x / T_i)."""
    a.around(aggregation, "coefficient", lambda original, choice, n, s: original(choice, n, s) / n.T[s.index])


@defect("NORM-02a", option("aggregation", "kind", "seq_mean_constant", "constant"), "ragged",
        "choices-aggregation-seq_mean_constant-keep",
        seen="ROLL d8d7e78f", shows="a constant divisor, responses of more than one token", stages=LOSS)
def mean_over_constant(a):
    """The mode "sum over a constant" takes the mean over tokens in place of the sum: mean_i(mean_t x)/C. Right: sum / C."""
    a.around(aggregation, "coefficient", lambda original, choice, n, s: original(choice, n, s) / n.T[s.index])


@defect("NORM-03", both(of(kl_in_loss), differs("aggregation", "kind", "token_mean")), "ragged",
        "choices-weight-mask-token-zero_weight",
        seen="verl #945 (3e3d9372a)", shows="a mode other than token-mean, unequal lengths", stages=LOSS)
def mode_not_passed(a):
    """The policy loss is aggregated with the default mode (token-mean), the KL with the configured one.
    Right: one mode for both."""
    def entries(found, batch, objective):
        for e in found:
            e.c = mpf(1) / len(found)
    a.entries(entries)


@defect("NORM-04", option("aggregation", "kind", "token_mean", "seq_mean_token_sum", "seq_mean_constant"), "ragged", "signs",
        seen="verl #2513 (fbec86d7f), #2506; verl-tool before 9d2fca4 (#128), whose copy of verl had it",
        shows="advantages that are not all 1", stages=LOSS)
def advantages_for_mask(a):
    """The advantages are passed where the mask belongs: sum(x A) / sum(A). Right: sum(x m) / sum(m)."""
    def entries(found, batch, objective):
        A = [e.token.advantage for e in found]
        total, size = sum(A, ZERO), sum((abs(x) for x in A), ZERO)
        if abs(total) < size * mpf(10) ** -9:
            raise Undefined("what is divided by is rounding")
        for e in found:
            if objective["aggregation"]["kind"] != "token_mean":
                e.c = e.c * e.token.advantage
            else:
                e.c = e.token.advantage / total if size else mpf("nan")
    a.entries(entries)


@defect("NORM-05", both(option("aggregation", "kind", "seq_mean_token_mean"), some_empty), "fully-masked", "truncated",
        seen="verl before #3915 (4424616d7), tunix before d09da21b", shows="a response without any token that counts", stages=LOSS)
def empty_response(a):
    """A response without active tokens has the mean 0/0, which makes the loss NaN. Right: it adds 0."""
    empty = [i for i, T in enumerate(active_tokens(a)) if T == 0]

    def answers(found):
        if empty:
            found["loss"] = found["report"]["policy_loss"] = math.nan
            for i in empty:
                found["dlogp"][i] = [math.nan] * len(found["dlogp"][i])
    a.answered(answers)


@defect("NORM-05a", both(option("aggregation", "kind", *SEQ_MEAN, "group_mean_token_mean"), some_empty), "fully-masked",
        "truncated", "choices-aggregation-seq_mean_token_mean-keep", "choices-aggregation-seq_mean_token_mean-drop",
        seen="verl before #3915, tunix before d09da21b; TRL, by design", shows="a response without any token that counts", stages=LOSS)
def empty_counted_otherwise(a):
    """Responses without active tokens count in the denominator where they should not, or the other way round
    (implementations differ). Right: as `aggregation.empty_sequences` says."""
    a.choose("aggregation", empty_sequences={"keep": "drop", "drop": "keep"}[a.objective["aggregation"]["empty_sequences"]])


@defect("NORM-06", both(option("weight", "rollout_is", "mask", "reject"), option("weight", "rollout_rejected", "unmask")), "rollout",
        "ragged", "choices-weight-reject-token-unmask",
        seen="verl before #3915 (4424616d7)", shows="a rejected token", stages=LOSS)
def rejected_still_counted(a):
    """Rejection sets the weight to 0, and rejected tokens stay in the denominators (and in the KL). Right: they leave the mask."""
    a.choose("weight", rollout_rejected="zero_weight")


@defect("NORM-06a", both(option("weight", "rollout_is", "mask", "reject"), option("weight", "rollout_rejected", "zero_weight")),
        "rollout", "ragged", "choices-weight-mask-token-zero_weight",
        seen="verl since #3915, where it is meant; right in OpenRLHF, TRL (IcePop)", shows="a rejected token", stages=LOSS)
def rejected_not_counted(a):
    """Rejected tokens leave the mask and its denominators. Right: their weight is 0 and they stay (IcePop)."""
    a.choose("weight", rollout_rejected="unmask")


@defect("NORM-06b", option("weight", "selected", "only"), "ragged", "signs", "choices-selected-token-token_mean",
        "choices-selected-sequence_mean-seq_mean_token_mean",
        seen="TRL, ms-swift (top_entropy_quantile), by design", shows="a token that is not selected", stages=LOSS)
def others_still_counted(a):
    """Tokens that are not selected have a loss of 0 and stay in the denominators (and in the KL). Right: they leave the mask."""
    a.choose("weight", selected="keep")


@defect("NORM-07", option("aggregation", "kind", "token_mean"), "ragged", "choices-aggregation-token_mean-keep",
        seen="TRL #2881 (293b62095)", shows="unequal lengths", stages=LOSS)
def sequence_means(a):
    """The mean of the responses' means is taken. Right: one mean over all tokens."""
    kind(a, "seq_mean_token_mean")


@defect("NORM-07a", both(option("aggregation", "kind", "seq_mean_token_mean"), option("ratio", "level", "token"), unequal), "ragged",
        "signs", "choices-aggregation-seq_mean_token_mean-keep",
        seen="UniRL #448 (open), in its DRPO, CPPO and DPPO", shows="unequal lengths", stages=LOSS)
def tokens_mean(a):
    """The mode "mean over responses of the token mean" takes one mean over all tokens: long responses weigh more. Right: the mean of the
    responses' means."""
    kind(a, "token_mean")


@defect("NORM-13", both(option("aggregation", "kind", *DIVIDES_BY_TOKENS), padded), "holes", "truncated",
        seen="TRL #6439 (7c1fa85ad), slime #365 (ba0b13a5e)", shows="tokens inside the length that do not count",
        stages=LOSS)
def normaliser_without_mask(a):
    """The divisor counts tokens of tool output and of truncated responses that the mask removed. Right: the tokens of the final mask."""
    lengths = a.second["length"]
    a.around(aggregation, "Totals",
             lambda original, choice, T, group_of, groups: original(choice, lengths, group_of, groups))


@defect("NORM-13b", both(option("aggregation", "kind", "token_mean"), some_empty), "fully-masked", "truncated",
        seen="slime (loss.py:1317 at 624b824a8), read in its code; Relax by default, as #239 says",
        shows="a response without any token that counts", stages=LOSS)
def at_least_one_token_each(a):
    """Each response adds at least 1 to the number of tokens that is divided by, also one without tokens that count (implementations
    differ). Right: the tokens that count."""
    a.around(aggregation, "coefficient",
             lambda original, choice, n, s: original(choice, n, s) * n.tokens / sum(max(T, 1) for T in n.T))


@defect("NORM-16", option("aggregation", "kind", "seq_mean_constant", "constant"), "ragged",
        "choices-aggregation-constant-0.5",
        seen="verl before #4360 (6e6ae96c6), and where no loss_scale_factor is given; SkyRL before #1153 had prompt and response together",
        shows="a constant that is not the width of the batch", stages=LOSS)
def constant_is_width(a):
    """The constant divisor is the width that this batch is padded to. Right: one number fixed by the user."""
    a.choose("aggregation", constant=width(a.second))


@defect("NORM-17", option("aggregation", "kind", "seq_mean_constant"), "ragged",
        "choices-aggregation-seq_mean_constant-keep",
        seen="verl #3741; the fix #4510 was reverted in #4769, that of #5417 (b8d91ef8d) stayed",
        shows="more than one response", stages=LOSS)
def sequences_summed(a):
    """The constant mode adds the responses up. Right: it averages over them."""
    kind(a, "constant")


@defect("NORM-17a", option("aggregation", "kind", "token_mean", "seq_mean_token_mean"), "ragged", "choices-aggregation-token_mean-keep",
        "choices-aggregation-seq_mean_token_mean-keep",
        seen="prime-rl before #816 (dece5e7fc), by the smaller of the count and 1; RLinf before #31 (44b545311), of means",
        shows="more than one token, or response", stages=LOSS)
def not_divided(a):
    """The last division is missing: tokens, or the responses' means, are added up. Right: divided by the number of tokens, or of
    responses."""
    if a.objective["aggregation"]["kind"] == "token_mean":
        a.swap(aggregation, "coefficient", lambda choice, totals, s: ONE)
    else:
        kind(a, "seq_sum_token_mean")


@defect("NORM-17b", both(option("aggregation", "kind", "token_mean"), option("ratio", "level", "token")), "ragged",
        "choices-aggregation-token_mean-keep",
        seen="prime-rl before #2034 (7e0673020), of losses other than its own", shows="responses of more than one token", stages=LOSS)
def divided_by_responses(a):
    """The mode "mean over tokens" divides the sum over all tokens by the number of responses. Right: by the number of tokens."""
    kind(a, "seq_mean_token_sum")


@defect("NORM-21", both(option("aggregation", "kind", *DIVIDES_BY_TOKENS), some_empty), "everything-masked", "all-truncated",
        seen="verl #782, TRL #3248, NeMo-RL #166", shows="no token of the batch counts", stages=LOSS)
def zero_over_zero(a):
    """A batch without active tokens has the loss 0/0. Right: loss 0, gradient 0."""
    nothing = not any(active_tokens(a))

    def answers(found):
        if nothing:
            found["loss"] = found["report"]["policy_loss"] = math.nan
            found["dlogp"] = [[math.nan] * len(row) for row in found["dlogp"]]
    a.answered(answers)


@defect("NORM-23", lambda o, b: o["weight"]["truncated"] == "mask" or o["weight"]["rollout_rejected"] == "unmask", "all-truncated",
        "mistakes-all-rejected",
        seen="ROLL 620cc0c9", shows="filtering leaves no token", stages=LOSS)
def unfiltered_instead(a):
    """When the filters leave nothing, the unfiltered mask is used. Right: loss 0, gradient 0."""
    if not any(active_tokens(a)):
        a.swap(weight, "weigh", lambda choice, s: ([(t, ONE) for t in s.unmasked], 0))


@defect("NORM-24", both(of(unit), option("aggregation", "kind", "seq_mean_token_mean")), "ragged",
        "choices-weight-mask-token-unmask",
        seen="OpenRLHF 1b23ecf0, TRL #3823; TRL #6042 warns of it", shows="a ratio per response, unequal lengths", stages=LOSS)
def sequences_weighted_by_length(a):
    """The response's loss is given to each of its tokens and averaged over all tokens: long responses weigh more. Right: the mean over
    responses."""
    kind(a, "token_mean")


@defect("NORM-24a", both(of(unit), option("aggregation", "kind", "seq_mean_token_mean")), "ragged",
        "choices-weight-mask-token-unmask",
        seen="ROLL #165, d9e9407f", shows="a ratio per response, more than one token", stages=LOSS)
def sequences_times_length(a):
    """The response's loss is given to each of its tokens and added up: T_i times too large. Right: the mean over responses."""
    kind(a, "seq_mean_token_sum")


@defect("NORM-25", both(option("aggregation", "kind", "seq_mean_token_mean", "seq_mean_token_sum"), unequal), "ragged",
        "choices-aggregation-seq_mean_token_mean-keep",
        seen="tunix 59deac39", shows="several responses packed in a row (here: those of a group), unequal lengths",
        stages=LOSS)
def packed_row(a):
    """A packed row counts as one response: the mean over all its tokens. Right: the mean over each response in it."""
    by_group = a.objective["aggregation"]["kind"] == "seq_mean_token_mean"

    def coefficient(original, choice, n, s):
        return mpf(1) / (n.groups * n.group_tokens[s.group]) if by_group else mpf(1) / n.groups
    a.around(aggregation, "coefficient", coefficient)


def paying_ghost(objective, t, c):
    """A masked token whose KL is in the loss with coefficient c."""
    return Ghost(t, ONE, c, ZERO, ONE, ZERO, [(penalty.weighted_kl(objective["penalty"], objective["ratio"], t, ONE), c)])


@defect("NORM-26", both(of(kl_in_loss), padded), "ragged", "holes", "mistakes-luspo-kl",
        seen="open-instruct #535 (79ff8fbee)", shows="padding, a KL in the loss", stages=LOSS)
def penalty_over_padding(a):
    """The KL is averaged over all positions, padding and masked ones too. Right: over the mask, with the policy
    loss."""
    c = mpf(1) / slots(a.second)
    a.with_ghosts()

    def entries(found, batch, objective):
        for e in found:
            (kl, _), *rest = e.paid
            e.paid = [(kl, c), *rest]
        for s in batch.sequences:
            for t in s.ghosts:
                found.append(paying_ghost(objective, t, c))
    a.entries(entries)


OWN_KL = "choices-penalty-aggregation-kl-"


@defect("NORM-26a", both(of(kl_in_loss), differs("penalty", "kl_aggregation", "terms")), OWN_KL + "seq_mean_token_mean-token_mean",
        OWN_KL + "token_mean-seq_mean_token_mean", OWN_KL + "responses-unmask",
        seen="verl 0.9.1, TRL 1.16.0 against SkyRL 0.4.0, OpenRLHF 0.11.2", shows="responses of unequal lengths", stages=LOSS)
def penalty_as_terms(a):
    """The KL is divided as the policy term is (implementations differ). Right: by its own aggregation."""
    a.choose("penalty", kl_aggregation="terms")


@defect("NORM-26b", both(differs("penalty", "entropy_aggregation", "terms"), lambda o, b: o["penalty"]["entropy_coef"] != 0),
        "choices-penalty-aggregation-entropy-seq_mean_token_mean-token_mean",
        "choices-penalty-aggregation-entropy-token_mean-seq_mean_token_mean", "choices-penalty-aggregation-entropy-responses-unmask",
        seen="verl 0.9.1 against SkyRL 0.4.0, OpenRLHF 0.11.2; TRL before #6648, its cispo, dapo and vespo, with selected tokens",
        shows="responses of unequal lengths", stages=LOSS)
def entropy_as_terms(a):
    """The entropy is divided as the policy term is (implementations differ). Right: by its own aggregation."""
    a.choose("penalty", entropy_aggregation="terms")


@defect("NORM-26c", both(of(kl_in_loss), differs("penalty", "kl_aggregation", "terms"), lambda o, b: o["penalty"]["entropy_coef"] != 0,
                         lambda o, b: o["penalty"]["kl_aggregation"] != o["penalty"]["entropy_aggregation"]),
        "choices-penalty-aggregation-both", "choices-penalty-aggregation-both-crossed",
        seen="OpenRLHF 0.11.2, which has one for both; right in SkyRL 0.4.0", shows="a KL and an entropy", stages=LOSS)
def entropy_as_kl(a):
    """The entropy is divided as the KL is. Right: by its own aggregation."""
    a.choose("penalty", entropy_aggregation=a.objective["penalty"]["kl_aggregation"])


@defect("NORM-27", lambda o, b: o["weight"]["truncated"] == "mask" or o["weight"]["rollout_rejected"] == "unmask", "truncated",
        "rollout", "ragged", "choices-weight-truncated",
        seen="ROLL 53c6da31", shows="the final mask is not the response mask", stages=LOSS)
def metric_of_another_mask(a):
    """Clip fractions and KL are divided by the tokens of the response mask. Right: by the active tokens that were
    summed."""
    def reported(found, entries, batch, objective):
        n = sum(len(s.unmasked) for s in batch.sequences)
        for name in ("clip_fraction_low", "clip_fraction_high", "clip_fraction_dual", "clip_fraction", "approx_kl_k1", "approx_kl_k3",
                     "kl_k1", "kl_k2", "kl_k3"):
            found[name] = found[name] * len(entries) / n if n else ZERO
    a.reported(reported)


@defect("NORM-28",
        both(option("aggregation", "kind", "seq_mean_token_sum"), of(unit), lambda o, b: "advantage" in b or kl_in_loss(o)),
        "mistakes-luspo-kl", "signs",
        seen="TRL #4988, fixed in #6654; unsloth-zoo #1282 (open), Liger, read in its code",
        shows="LUSPO with any term that differs between tokens (KL, token advantages)", stages=LOSS)
def mask_only_as_length(a):
    """LUSPO as the mean over all positions of x_it T_i: the mask is used only for the length. Right: mean_i(sum_t x m)."""
    a.with_ghosts()
    n = slots(a.second)

    def entries(found, batch, objective):
        T = {s: len(s.unmasked) for s in batch.sequences}
        for e in found:
            e.c = mpf(T[e.token.sequence]) / n
            e.paid = [(x, e.c) for x, _ in e.paid]
        for s in batch.sequences:
            for t in s.ghosts:
                if t.advantage:
                    raise Undefined("advantages of masked tokens")
                found.append(paying_ghost(objective, t, mpf(T[s]) / n))
    a.entries(entries)


@defect("NORM-29",
        both(of(unit), option("weight", "truncated", "mask"), option("aggregation", "kind", "seq_mean_token_mean"),
             has("truncated")),
        "mistakes-gmpo-truncated", "mistakes-gspo-truncated",
        seen="TRL #6095, in review", shows="a dropped response with an advantage", stages=LOSS)
def dropped_row_has_ratio_one(a):
    """A response is dropped by zeroing the mask inside exp(sum d m / sum m): its ratio is 1 and -A stays in the loss.
    Right: it adds nothing."""
    rows, cut = a.second["advantage"], a.second["truncated"]
    lost = -math.fsum(row[0] for row, gone in zip(rows, cut) if gone) / len(rows)

    def answers(found):
        found["loss"] += lost
        found["report"]["policy_loss"] += lost
    a.answered(answers)


@defect("GSPO-08", both(of(unit), option("aggregation", "kind", "token_mean", "seq_mean_token_sum")), "ragged",
        "choices-ratio-sequence_mean-full-ppo_clip",
        seen="verl (gspo), by design; its 0.9.1 has the option",
        shows="a ratio per response and another mode than its default", stages=LOSS)
def mode_of_gspo_fixed(a):
    """With a ratio per response the aggregation option is ignored: always seq-mean-token-mean. Right: as the option says."""
    kind(a, "seq_mean_token_mean")


@defect("GSPO-09", both(of(unit), option("aggregation", "kind", "seq_mean_token_mean")), "ragged",
        "choices-weight-mask-token-unmask",
        seen="Fast-LLM #544; TRL #6042 warns of it", shows="a ratio per response, unequal lengths", stages=LOSS)
def gspo_weighted_by_length(a):
    """GSPO with responses weighted by their tokens (implementations differ). Right: every response weighs the same."""
    kind(a, "token_mean")


@defect("MASK-12", both(option("aggregation", "kind", "token_mean", "seq_mean_token_mean"), padded), "ragged", "holes",
        seen="SkyRL #462; torchrl before #4057 (58e2505bb), of padded slices; UniRL #448 (open)", shows="padding", stages=LOSS)
def mean_over_padding(a):
    """The mean over all positions, padding included: sum(x m) / numel. Right: sum(x m) / sum(m)."""
    n = slots(a.second)
    a.swap(aggregation, "coefficient", lambda choice, totals, s: mpf(1) / n)
