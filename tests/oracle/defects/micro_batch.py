"""NORM-08 and after, and PART-01 and after: optimiser steps in several micro-batches, on several ranks."""
import math

import evaluate
import split as axis
from autodiff import linear
from axes import ratio
from limits import ONE, ZERO, Undefined
from reals import mpf

from .table import always, both, defect, differs, option

SPLIT = {"kind": "split"}


def of_split(cut):
    return {"kind": "split", "cut": cut}


ADDED_RANKS = of_split(lambda case: case.get("reduce") == "sum" and case["ranks"] > 1)
AVERAGED_RANKS = of_split(lambda case: case.get("reduce") != "sum" and case["ranks"] > 1)
MORE_RANKS = of_split(lambda case: case["ranks"] > 1)
WHOLE_ON_RANKS = of_split(lambda case: len(case["batch"]["length"]) % case["ranks"] and all("tokens" not in p for p in case["parts"]))
PIECES = of_split(lambda case: any("tokens" in part for part in case["parts"]))
BROKEN_GROUPS = of_split(lambda case: not all("groups" in part for part in case["parts"]))
ROWS = of_split(lambda case: all("rows" in part for part in case["parts"]))
MORE_STEPS = of_split(lambda case: any("step" in part for part in case["parts"]))
FILTERED = of_split(lambda case: "filtered" in case)
MASKED = of_split(lambda case: "mask" in case["batch"])
TOKEN_MEAN = option("aggregation", "kind", "token_mean")
SEQ_MEAN = option("aggregation", "kind", "seq_mean_token_mean", "seq_mean_token_sum", "seq_mean_constant", "seq_mean_length_power")
GROUP_MEAN = option("aggregation", "kind", "group_mean", "group_mean_token_mean", "group_mean_seq_mean")
BY_LENGTH = option("aggregation", "kind", "seq_mean_token_mean", "seq_sum_token_mean", "group_mean_seq_mean")
SEQUENCE_RATIO = option("ratio", "level", "sequence_mean", "sequence_sum", "sequence_clipped_mean")
RIGHT = axis.share
CONTEXT, PACKED, STEPS, SURVIVORS = (f"partition-{name}-" for name in ("context", "packed", "steps", "survivors"))
RANKS, MICRO = "partition-ranks-", "partition-micro-"


def shared(a, f):
    """f(step, part, entry): the coefficient that is differentiated, and that of the logged loss."""
    a.swap(axis, "share", f)


def logged(a, f):
    """f(step, part, entry): the coefficient of the loss that is logged; the gradient is right."""
    a.swap(axis, "logged", f)


WHAT_DIVIDES = {"tokens_of": TOKEN_MEAN, "responses_of": SEQ_MEAN, "groups_of": GROUP_MEAN}


def counted(a, what, f):
    """f(step, part): the count that the part reports; what: tokens_of, responses_of or groups_of."""
    a.swap(axis, what, f)


def miscounted(a, what, f):
    """The same; where these counts are divisors, their sum is used."""
    right = getattr(axis, what)

    def share(step, part, e):
        return RIGHT(step, part, e) * mpf(sum(right(step, p) for p in step.parts)) / sum(f(step, p) for p in step.parts)
    counted(a, what, f)
    if WHAT_DIVIDES[what](a.objective, a.second):
        shared(a, share)


def micro_batches(step, part):
    return len(step.on_rank(part.rank))


def local(step, places, e):
    """The coefficient of a token computed as if only these tokens existed."""
    return coefficient(step.alone(places).entries, e)


def coefficient(found, e):
    """The coefficient of the same token in another set of tokens."""
    if e.token.place not in found:
        raise Undefined("a token that is rejected among other tokens of its response")
    return axis.coefficient_of(found[e.token.place], e.which)


def within(step, part, e):
    return local(step, part.places, e)


def on_rank(step, part, e):
    return local(step, [place for p in step.on_rank(part.rank) for place in p.places], e)


def mean(step, part, e):
    return within(step, part, e) / micro_batches(step, part)


def all_tokens(step):
    return mpf(len(step.whole.entries))


# ---- micro-batches and ranks

@defect("NORM-08", always, "dapo", "dapo-ranks", "scalerl", "grpo",
        seen="open-instruct #1161, SkyRL #1296, OpenRLHF #1249, prime-rl #583, NeMo-RL #266, TRL #3231, Liger e07abecd, "
             "GRPO-Zero before 8ca8b08; TRL #3021 (open) asks about it",
        shows="micro-batches or ranks of unequal token counts", **SPLIT)
def mean_per_micro_batch(a):
    """The mean is taken in each micro-batch, then averaged over micro-batches and ranks. Right: one mean over the
    step."""
    shared(a, mean)


@defect("NORM-09", always, "dapo-ranks", "grpo-ranks",
        seen="verl before #5366 (3671d37fe), in one mode", shows="more than one rank", **MORE_RANKS)
def ranks_not_multiplied(a):
    """Losses are divided by the global count, and the average over ranks divides again. Right: multiplied by the number of ranks."""
    shared(a, lambda step, part, e: e.c)


@defect("NORM-09a", TOKEN_MEAN, "dapo-ranks", "dapo",
        seen="miles, with FSDP; #3231 (open) would fix it", shows="always", **SPLIT)
def raw_sums(a):
    """Plain token sums are differentiated, and only the average over ranks divides. Right: divided by the tokens of the step."""
    shared(a, lambda step, part, e: mpf(1))


@defect("NORM-10", always, "dapo", "grpo",
        seen="ms-swift #10117 (fixed by #10116); with Megatron: AReaL before #1273 (5e9fb505c), verl #5863 (open)",
        shows="more than one micro-batch", **SPLIT)
def divided_by_accumulation_too(a):
    """After the global divisor, the trainer also divides by the number of micro-batches. Right: the divisor alone."""
    shared(a, lambda step, part, e: RIGHT(step, part, e) / micro_batches(step, part))


@defect("NORM-10a", both(always), "dapo-even", "grpo",
        seen="TRL #2647 (d14f7f3eb); verl 0.9.1 (#7913, open), its geo_mean", shows="more than one micro-batch", **SPLIT)
def accumulation_not_divided(a):
    """Means of micro-batches are added up and not divided by their number. Right: one mean over the step."""
    shared(a, within)


@defect("NORM-11", SEQ_MEAN, "grpo", "gspo", "dr-grpo",
        seen="verl #141 (695bdbb03)", shows="micro-batches with unequal numbers of responses", **SPLIT)
def fixed_accumulation(a):
    """Means of micro-batches of unequal size are divided by a fixed number of micro-batches (all responses over those of the first).
    Right: each is weighted by its responses."""
    def share(step, part, e):
        here = step.on_rank(part.rank)
        count = mpf(sum(len(p.responses) for p in here)) / len(here[0].responses)
        return within(step, part, e) / count
    shared(a, share)


@defect("NORM-12", always, "dapo", "grpo",
        seen="TRL #4852 (7c4b6f169)", shows="evaluation, more than one micro-batch", **SPLIT)
def evaluation_divided(a):
    """In evaluation, too, the loss is divided by the number of micro-batches. Right: by 1."""
    logged(a, lambda step, part, e: RIGHT(step, part, e) / micro_batches(step, part))


def over_tokens_apart(o, b):
    return "token_mean" in (o["penalty"]["kl_aggregation"], o["penalty"]["entropy_aggregation"])


@defect("NORM-13a", over_tokens_apart, "kl-responses", "kl-tokens",
        seen="SkyRL 0.4.0 (worker.py:1216-1244), its entropy", shows="a KL or an entropy over tokens, unequal micro-batches", **SPLIT)
def penalty_per_micro_batch(a):
    """A KL or an entropy with its own mean over tokens is averaged in each micro-batch, and these means are weighted by the
    micro-batches' shares of the responses. Right: one mean over the tokens of the step."""
    def share(step, part, e):
        penalty = step.objective["penalty"]
        if ("terms", penalty["kl_aggregation"], penalty["entropy_aggregation"])[e.which] == "terms":
            return RIGHT(step, part, e)
        return within(step, part, e) * step.cut.factor * len(part.responses) / len(step.whole.responses)
    shared(a, share)


@defect("NORM-14", TOKEN_MEAN, "dapo", "dapo-ranks",
        seen="Liger #1202 (e07abecd)", shows="more than one micro-batch", **SPLIT)
def tokens_of_micro_batch(a):
    """The divisor is the tokens of the current micro-batch over all ranks, and micro-batches are added. Right: those
    of the step."""
    def share(step, part, e):
        at = step.on_rank(part.rank).index(part)
        same = [p[at] for p in (step.on_rank(r) for r in range(step.ranks)) if at < len(p)]
        return mpf(step.cut.factor) / sum(axis.tokens_of(step, p) for p in same)
    shared(a, share)


@defect("NORM-15", TOKEN_MEAN, "dapo", "dapo-even",
        seen="Liger before #628 (bf2c67b7)", shows="more than one chunk", **SPLIT)
def chunk_means(a):
    """Chunk means are averaged in the loss, but added in the gradient. Right: sums over one divisor in both."""
    logged(a, mean)
    shared(a, within)


@defect("NORM-18", SEQ_MEAN, "grpo-ranks", "dr-grpo-ranks",
        seen="verl #4510 (6a5852147), reverted in #4769", shows="more than one rank", **MORE_RANKS)
def ranks_divided(a):
    """Responses are divided by the number of responses times ranks, and the average over ranks divides again. Right: divided by the
    number of responses, multiplied by the number of ranks."""
    shared(a, lambda step, part, e: e.c / step.ranks)


@defect("NORM-19", TOKEN_MEAN, "dapo", "dapo-ranks",
        seen="slime before #987 (763f18d5b)", shows="micro-batches times ranks other than responses", **SPLIT)
def per_sequence_factor(a):
    """The per-token loss is multiplied by micro-batches times ranks over responses, the factor of the per-response mode. Right:
    normalised once, by the tokens."""
    def share(step, part, e):
        return RIGHT(step, part, e) * micro_batches(step, part) * step.ranks / len(step.whole.responses)
    shared(a, share)


@defect("NORM-20", always, "dapo", "grpo",
        seen="verl #4778, #4711, cosmos-rl before #351 (1500fdc4)", shows="more than one micro-batch", **SPLIT)
def mean_of_shares(a):
    """For the log, shares of a global mean are averaged over micro-batches. Right: added."""
    logged(a, lambda step, part, e: RIGHT(step, part, e) / micro_batches(step, part))


@defect("NORM-20a", always, "dapo-even", "grpo",
        seen="NeMo-RL #3791 (open), of one term; af9f6e861, b9607949d, of other metrics", shows="more than one micro-batch", **SPLIT)
def sum_of_means(a):
    """For the log, means of micro-batches are added up. Right: averaged by weight."""
    logged(a, within)


@defect("MASK-08", always, "dapo", "gspo",
        seen="ms-swift #9128 (41b2741c0)", shows="more than one micro-batch", **SPLIT)
def advantages_not_sliced(a):
    """Every micro-batch reads the advantages from the start of the batch. Right: its own slice."""
    advantage = a.second["advantage"]
    moved = [list(row) for row in advantage]
    for part in a.case["parts"]:
        rows = [] if "tokens" in part else [i for i, _, _ in axis.ranges(a.second, part)]
        for j, i in enumerate(rows):
            moved[i] = [advantage[j][0]] * len(moved[i])
    a.second["advantage"] = moved


@defect("MASK-13", always, "dapo-empty", "grpo-empty",
        seen="none known in sums of parts (of whole batches: NORM-21); in verl 80c860f9c and slime 92682315a such a part broke the "
             "collective or the graph", shows="a micro-batch without any token that counts", **SPLIT)
def empty_micro_batch(a):
    """A micro-batch without active tokens gives 0/0, and the sum is NaN. Right: it adds 0."""
    mask = a.second.get("mask") or [[True] * T for T in a.second["length"]]
    parts = [axis.Part(k, a.second, part) for k, part in enumerate(a.case["parts"])]
    empty = [part for part in parts if not any(mask[i][t] for i, t in part.places)]

    def answers(found):
        for part in empty:
            found["loss"] = found["part_loss"][part.index] = math.nan
            for i, t in part.places:
                found["dlogp"][i][t] = math.nan
    a.answered(answers)


@defect("MET-01", always, "dapo", "grpo",
        seen="verl #2259 (6d9ac2f7b), of its KL", shows="more than one micro-batch", **SPLIT)
def last_micro_batch_logged(a):
    """Every micro-batch overwrites the logged value: only the last one's remains. Right: accumulated."""
    def only_last(step, part, e):
        return within(step, part, e) if step.on_rank(part.rank)[-1] is part else ZERO
    logged(a, only_last)


@defect("MET-02", always, "dapo-ranks", "grpo-ranks",
        seen="TRL before #6380 (c1f6f24e1), of KL, entropy and clip fractions; #6379", shows="ranks of unequal token counts", **SPLIT)
def mean_of_rank_means(a):
    """The logged loss is the mean of the ranks' means. Right: the mean over all."""
    logged(a, on_rank)


@defect("PART-01", always, RANKS + "two-dapo", RANKS + "four-grpo",
        seen="prime-rl before #2562, EasyR1 before #419 (b308f6b)", shows="ranks of unequal counts", **MORE_RANKS)
def counts_of_rank(a):
    """Every rank divides by the counts of its own micro-batches. Right: by those of all ranks."""
    shared(a, on_rank)


@defect("PART-02", always, RANKS + "two-added-dapo", RANKS + "three-added-grpo",
        seen="none known, the reverse of NORM-09", shows="gradients that are added over ranks", **ADDED_RANKS)
def sum_taken_for_average(a):
    """Losses are multiplied by the number of ranks, and the reduction adds instead of averaging. Right: not multiplied."""
    shared(a, lambda step, part, e: e.c * step.ranks)


@defect("PART-02a", always, RANKS + "two-dapo", RANKS + "ragged-grpo",
        seen="NeMo Automodel #3846, found in review of #3830", shows="more than one rank", **MORE_RANKS)
def local_means_multiplied(a):
    """Means of micro-batches, divided by their number, are also multiplied by the number of ranks. Right: only what is divided by a count
    over all ranks."""
    shared(a, lambda step, part, e: mean(step, part, e) * step.ranks)


@defect("PART-02b", always, RANKS + "three-added-dapo", RANKS + "four-added-gspo",
        seen="none known", shows="gradients that are added over ranks", **ADDED_RANKS)
def divided_before_sum(a):
    """Every rank divides its loss by the number of ranks, and the reduction adds. Right: divided by the count of the step only."""
    shared(a, lambda step, part, e: e.c if step.cut.averaged else e.c / step.ranks)


@defect("PART-15", always, RANKS + "ragged-dapo", RANKS + "three-added-grpo",
        seen="none known, invited by samplers that fill up to equal numbers",
        shows="ranks with unequal numbers of micro-batches", **MORE_RANKS)
def last_repeated(a):
    """A rank with fewer micro-batches repeats its last one until it has as many as the others. Right: it adds nothing."""
    def share(step, part, e):
        most = max(len(step.on_rank(r)) for r in range(step.ranks))
        here = step.on_rank(part.rank)
        return RIGHT(step, part, e) * (1 + most - len(here) if here[-1] is part else 1)
    shared(a, share)


@defect("PART-15a", always, MICRO + "unequal-dapo", MICRO + "apart-gspo",
        seen="miles #1927, without its option: not confirmed", shows="micro-batches of unequal numbers of responses", **SPLIT)
def incomplete_dropped(a):
    """A micro-batch with fewer responses than the largest is dropped, but still counted. Right: it takes part."""
    def share(step, part, e):
        most = max(len(p.responses) for p in step.parts)
        return RIGHT(step, part, e) if len(part.responses) == most else ZERO
    shared(a, share)


@defect("PART-15b", both(TOKEN_MEAN, option("penalty", "kl", "none")), RANKS + "two-dapo", RANKS + "three-added-dapo",
        seen="rllm before #508 (45c99f1c), which fills up to its mini-batch too", shows="responses that the ranks do not divide",
        **WHOLE_ON_RANKS)
def fillers_counted(a):
    """The batch is filled up to a multiple of the ranks by copies of its first responses, with advantages of 0, and the divisor counts
    the copies' tokens. Right: the copies are masked."""
    def share(step, part, e):
        more = -len(step.whole.responses) % step.ranks
        extra = sum(step.whole.active[i] for i in sorted(step.whole.responses)[:more])
        return RIGHT(step, part, e) * all_tokens(step) / (all_tokens(step) + extra)
    shared(a, share)


@defect("PART-15c", TOKEN_MEAN, RANKS + "two-dapo", RANKS + "three-added-dapo",
        seen="verl-omni #602 (open)", shows="responses that the ranks do not divide", **WHOLE_ON_RANKS)
def fillers_take_part(a):
    """The batch is filled up to a multiple of the ranks by copies of its first responses, which take part like any others: these responses
    count twice. Right: the copies are masked."""
    def share(step, part, e):
        copied = sorted(step.whole.responses)[:-len(step.whole.responses) % step.ranks]
        extra = sum(step.whole.active[i] for i in copied)
        return RIGHT(step, part, e) * (2 if e.token.place[0] in copied else 1) * all_tokens(step) / (all_tokens(step) + extra)
    shared(a, share)


@defect("PART-16", always, RANKS + "ragged-grpo", RANKS + "three-added-dapo",
        seen="none known", shows="ranks with unequal numbers of micro-batches", **MORE_RANKS)
def most_accumulation(a):
    """Means of micro-batches are divided by the largest number of them on any rank. Right: one mean over the step."""
    shared(a, lambda step, part, e: within(step, part, e) / max(len(step.on_rank(r)) for r in range(step.ranks)))


@defect("PART-17", TOKEN_MEAN, RANKS + "two-dapo", RANKS + "three-added-dapo",
        seen="none known", shows="tokens that the ranks do not divide", **MORE_RANKS)
def floored(a):
    """The tokens per rank are rounded down. Right: an exact quotient."""
    def share(step, part, e):
        return RIGHT(step, part, e) * all_tokens(step) / (step.ranks * (len(step.whole.entries) // step.ranks))
    shared(a, share)


@defect("PART-18", differs("aggregation", "kind", "seq_mean_token_mean", "seq_mean_token_sum", "seq_mean_constant"),
        MICRO + "unequal-dapo", MICRO + "unequal-cispo", seen="verl #141 (695bdbb03), whose weights are right for means over responses",
        shows="micro-batches whose tokens are not as their responses", **SPLIT)
def weighed_by_responses(a):
    """Means of micro-batches are weighted by their responses, whatever they are means over. Right: by what their divisors count."""
    def share(step, part, e):
        return within(step, part, e) * len(part.responses) / len(step.whole.responses) * step.cut.factor
    shared(a, share)


@defect("PART-19", always, RANKS + "two-dapo", RANKS + "apart-grpo",
        seen="none known", shows="more than one rank", **MORE_RANKS)
def first_rank_logged(a):
    """The loss of the first rank is logged as that of all ranks. Right: reduced like the gradients."""
    logged(a, lambda step, part, e: ZERO if part.rank else RIGHT(step, part, e) * step.cut.factor)


@defect("PART-19c", always, RANKS + "two-dapo", RANKS + "apart-grpo", "dapo-ranks",
        seen="NeMo-RL (global_loss, dtensor_policy_worker.py:958-1001 at 7ea279a), read in its code; tinker-cloud #66 saw it there",
        shows="more than one rank", **AVERAGED_RANKS)
def ranks_in_the_log(a):
    """The logged loss has the factor that only the average over ranks of the gradients needs: the number of ranks. Right: without it."""
    logged(a, lambda step, part, e: RIGHT(step, part, e) * step.cut.factor)


@defect("PART-27", always, MICRO + "unequal-dapo", MICRO + "unequal-grpo",
        seen="none known; verl #4778, of metrics, is NORM-20", shows="always", **SPLIT)
def divided_twice(a):
    """What is already divided by the count of the step is averaged within the micro-batch too. Right: added up."""
    shared(a, lambda step, part, e: RIGHT(step, part, e) * within(step, part, e))


@defect("PART-28", always, MICRO + "unequal-dapo", MICRO + "apart-gspo", "dapo", "grpo",
        seen="open-instruct before #1498 (48664c504), with ZeRO-2; torchtitan before #3575; TRL before #407 (61af5f26b), "
             "alpaca_farm #57, of their PPO; "
             "OpenRLHF 0.11.2 with dynamic batches and ZeRO-2 of DeepSpeed 0.19.6; of requests or chunks: SkyRL before #2008 "
             "(adb75adc5), NeMo-RL before #3660 (f8ed29527)",
        shows="more than one micro-batch",
        **SPLIT)
def last_gradient_kept(a):
    """Every backward pass starts with gradients of 0, so only the last micro-batch's remain. Right: they are added up."""
    def last(original, step):
        every = step.parts
        step.parts = [step.on_rank(rank)[-1] for rank in range(step.ranks) if step.on_rank(rank)]
        try:
            return original(step)
        finally:
            step.parts = every
    a.around(axis, "gradient_of", last)


# ---- one response on several ranks

@defect("PART-03", always, CONTEXT + "data-dapo", CONTEXT + "halves-grpo",
        seen="slime before #990 (f9f00b2cb), SkyRL before #1420", shows="context parallelism", **PIECES)
def context_not_multiplied(a):
    """Losses are multiplied by the number of data-parallel ranks, but the average is over the context-parallel ranks as well. Right: by
    the number of all ranks that the average divides by."""
    shared(a, lambda step, part, e: RIGHT(step, part, e) / (step.cut.context if step.cut.averaged else 1))


@defect("PART-03a", always, CONTEXT + "data-dapo", CONTEXT + "halves-grpo",
        seen="SkyRL before #1751 (861e005b4); Megatron-LM #906, as reported; right in #673, where the average has both",
        shows="context parallelism", **PIECES)
def context_multiplied_twice(a):
    """Losses are multiplied by the number of all ranks, and again by that of the context-parallel ones. Right: by all ranks, once."""
    shared(a, lambda step, part, e: RIGHT(step, part, e) * step.cut.context)


@defect("PART-03b", always, CONTEXT + "halves-dapo", CONTEXT + "data-added-dapo",
        seen="prime-rl #2562, in review", shows="context parallelism", **PIECES)
def counted_on_each(a):
    """Every context-parallel rank counts the tokens of the whole response, and the counts are added. Right: of its piece."""
    def tokens(step, part):
        return sum(step.whole.active[i] for i in part.responses)
    miscounted(a, "tokens_of", tokens)


@defect("PART-04", BY_LENGTH, CONTEXT + "uneven-grpo", CONTEXT + "halves-prompt-mean",
        seen="none known", shows="a response that is cut", **PIECES)
def length_of_piece(a):
    """The mean over a response is taken in each of its pieces. Right: over all its tokens, wherever they are."""
    def share(step, part, e):
        i = e.token.place[0]
        return RIGHT(step, part, e) * step.whole.active[i] / sum(place[0] == i and place in step.whole.entries for place in part.places)
    shared(a, share)


@defect("PART-05", always, CONTEXT + "halves-gspo", CONTEXT + "uneven-grpo",
        seen="none known; in agent-lightning #594 (closed) a rollout counts once for each of its rows",
        shows="a response that is cut", **PIECES)
def pieces_counted(a):
    """A response counts on every rank that has a piece of it. Right: once."""
    def responses(step, part):
        return sum(step.counts(i) for i in part.responses)
    miscounted(a, "responses_of", responses)


@defect("PART-05a", always, MICRO + "apart-cispo", RANKS + "apart-prompt-mean",
        seen="none known", shows="a prompt whose responses are in several parts", **BROKEN_GROUPS)
def pieces_of_prompts_counted(a):
    """A prompt counts in every part that has a response of it. Right: once."""
    def prompts(step, part):
        return len({step.raw["group"][i] for i in part.responses if step.counts_group(step.raw["group"][i])})
    miscounted(a, "groups_of", prompts)


@defect("PART-06", GROUP_MEAN, MICRO + "apart-prompt-mean", CONTEXT + "halves-cispo",
        seen="none known", shows="a prompt whose responses are in several parts", **BROKEN_GROUPS)
def prompt_within_part(a):
    """The mean over a prompt is taken in each part, and the number of prompts is that of the step. Right: over all its tokens or
    responses, wherever they are."""
    def share(step, part, e):
        g = step.raw["group"][e.token.place[0]]
        alone = [place for place in step.places if step.raw["group"][place[0]] == g]
        here = [place for place in part.places if step.raw["group"][place[0]] == g]
        return RIGHT(step, part, e) * local(step, here, e) / local(step, alone, e)
    shared(a, share)


@defect("PART-19a", always, CONTEXT + "halves-dapo", CONTEXT + "data-grpo",
        seen="ROLL 2eba7c3a, ms-swift #9380", shows="context parallelism", **PIECES)
def context_not_logged(a):
    """The logged loss is reduced over data-parallel ranks only, so it is that of the first pieces of responses. Right: over
    context-parallel ranks as well."""
    def first(step, part, e):
        more = step.cut.context if step.cut.averaged else 1
        return ZERO if part.rank % step.cut.context else RIGHT(step, part, e) * more
    logged(a, first)


def pieces(step, i):
    """{part: its tokens of the response}"""
    return [[place for place in p.places if place[0] == i and place in step.whole.entries] for p in step.parts if i in p.responses]


def terms_of_parts(step):
    """The terms that every part computes from its own tokens."""
    return complete(step, {at: x for p in step.parts if p.places for at, x in step.alone(p.places).terms().items()})


def complete(step, found):
    if set(found) != set(step.whole.entries):
        raise Undefined("a token that is rejected among other tokens of its response")
    return found


def with_units(a, f):
    """f(step, tokens, ys) replaces the log-ratios of the tokens of a response."""
    def terms(step):
        original = evaluate.units

        def units(objective, tokens):
            ys = f(step, tokens, original(objective, tokens)[0])
            return ys, ratio.ratios(ys)
        evaluate.units = units
        try:
            return axis.Evaluated(step.objective, step.raw, step.places).terms()
        finally:
            evaluate.units = original
    a.swap(axis, "terms", terms)


@defect("PART-21", SEQUENCE_RATIO, CONTEXT + "halves-gspo", CONTEXT + "uneven-vespo", CONTEXT + "zigzag-gmpo",
        seen="none known", shows="a response that is cut, with one ratio for all of it", **PIECES)
def ratio_of_piece(a):
    """Each rank makes the response's ratio from its own piece. Right: from all tokens of the response."""
    a.swap(axis, "terms", terms_of_parts)


@defect("PART-21a", option("ratio", "level", "sequence_mean"), CONTEXT + "halves-gspo", CONTEXT + "uneven-luspo",
        seen="none known", shows="a response that is cut, with one ratio for all of it", **PIECES)
def sum_over_own_count(a):
    """The log-ratios of the whole response are added up, and divided by the tokens of the piece. Right: by those of the response."""
    def units(step, tokens, ys):
        found = pieces(step, tokens[0].place[0])
        own = {place: len(piece) for piece in found for place in piece}
        return [y * (mpf(len(tokens)) / own[t.place]) if t.place in own else y for t, y in zip(tokens, ys)]
    with_units(a, units)


@defect("PART-21b", option("ratio", "level", "sequence_mean"), CONTEXT + "uneven-gspo", CONTEXT + "packed-gspo",
        seen="none known", shows="a response that is cut into unequal pieces, with one ratio for all of it", **PIECES)
def mean_of_piece_means(a):
    """The mean log-ratios of the pieces are averaged. Right: the sums are added and divided by the response's tokens."""
    def units(step, tokens, ys):
        found = [piece for piece in pieces(step, tokens[0].place[0]) if piece]
        weight = {place: mpf(1) / (len(found) * len(piece)) for piece in found for place in piece}
        y = linear([(ratio.log_ratio(step.objective["ratio"], t), weight.get(t.place, ZERO)) for t in tokens])
        return [y] * len(tokens)
    with_units(a, units)


@defect("PART-22", SEQUENCE_RATIO, CONTEXT + "halves-gspo", CONTEXT + "uneven-luspo",
        seen="none known", shows="a response that is cut, with one ratio for all of it", **PIECES)
def reduced_without_gradient(a):
    """The sums of the pieces are added without a gradient, so a token's derivative has only the terms of its own rank. Right: those of
    all tokens of the response."""
    def own(step, part, x):
        return {at: slope for at, slope in x.slopes.items() if at in part.places}
    a.swap(axis, "slopes_of", own)


PER_TOKEN = ("logp_old", "logp_ref", "logp_rollout", "advantage", "mask")


@defect("PART-23", always, CONTEXT + "halves-dapo", CONTEXT + "uneven-gspo",
        seen="none known", shows="a response that is cut", **PIECES)
def old_not_sliced(a):
    """A later piece of a response reads the old log-probabilities from the response's start. Right: its own slice."""
    rows = [list(row) for row in a.second.get("logp_old", [])]
    for part in a.case["parts"] if rows else ():
        for i, begin, end in part.get("tokens", ()):
            for t in range(begin, end):
                rows[i][t] = a.second["logp_old"][i][t - begin]
    if rows:
        a.second["logp_old"] = rows


@defect("PART-24", always, CONTEXT + "zigzag-dapo", CONTEXT + "zigzag-gspo",
        seen="none known", shows="a rank that has both ends of a response", **PIECES)
def gathered_in_order_of_ranks(a):
    """Pieces are concatenated rank after rank, so log-probabilities are combined with values of other tokens. Right: each at its
    position."""
    order = [[] for _ in a.second["length"]]
    for part in a.case["parts"]:
        for i, begin, end in part.get("tokens", ()):
            order[i] += range(begin, end)
    for key in PER_TOKEN:
        for i, row in enumerate(a.second.get(key, ())):
            was = list(row)
            for k, t in enumerate(order[i]):
                row[t] = was[k]


# ---- several optimiser steps on one generation

def window(step):
    return [place for p in step.cut.parts for place in p.places]


@defect("PART-07", always, STEPS + "two-dapo", STEPS + "ranks-grpo",
        seen="TRL before #6024; #5619 asks about it; ms-swift 4.6.0 where steps_per_generation is not gradient_accumulation_steps",
        shows="a generation of several optimiser steps", **MORE_STEPS)
def counts_of_generation(a):
    """The divisor counts the whole generation. Right: the optimiser step."""
    shared(a, lambda step, part, e: local(step, window(step), e) * step.cut.factor)


@defect("PART-07a", always, STEPS + "four-grpo", STEPS + "uneven-dapo",
        seen="none known; TRL #5619 (open) asks for such a division", shows="a generation of several optimiser steps", **MORE_STEPS)
def micro_batches_of_generation(a):
    """Means of micro-batches are divided by the micro-batches of the generation. Right: one mean over the optimiser step."""
    shared(a, lambda step, part, e: within(step, part, e) / sum(1 for p in step.cut.parts if p.rank == part.rank))


@defect("PART-07b", TOKEN_MEAN, STEPS + "two-dapo", STEPS + "uneven-dapo",
        seen="none known", shows="a generation of several optimiser steps", **MORE_STEPS)
def count_of_first_step(a):
    """The tokens of the first optimiser step divide in the later ones too. Right: each has its own."""
    shared(a, lambda step, part, e: RIGHT(step, part, e) * all_tokens(step) / all_tokens(step.cut.steps[0]))


@defect("PART-07c", always, STEPS + "two-dapo", STEPS + "uneven-grpo",
        seen="TRL 1.16.0 where steps_per_generation is not gradient_accumulation_steps",
        shows="optimiser steps of unequal counts", **MORE_STEPS)
def average_count_of_generation(a):
    """The divisor is the generation's over the number of its optimiser steps. Right: that of the step."""
    shared(a, lambda step, part, e: local(step, window(step), e) * step.cut.factor * len(step.cut.steps))


@defect("PART-19b", always, STEPS + "two-dapo", STEPS + "ranks-grpo",
        seen="none known", shows="a generation of several optimiser steps", **MORE_STEPS)
def last_step_logged(a):
    """Of the optimiser steps of a generation only the last is logged. Right: every one."""
    logged(a, lambda step, part, e: RIGHT(step, part, e) if step is step.cut.steps[-1] else ZERO)


@defect("PART-20", always, STEPS + "two-dapo", STEPS + "uneven-gspo",
        seen="none known", shows="a generation of several optimiser steps", **MORE_STEPS)
def gradient_kept(a):
    """Gradients are not set to 0 between optimiser steps: each step also applies those before it. Right: its own only."""
    def again(original, step):
        times = len(step.cut.steps) - step.cut.steps.index(step)
        return {at: (x * times, size) for at, (x, size) in original(step).items()}
    a.around(axis, "gradient_of", again)


# ---- packed rows

def row_of(step, place):
    return next(row for p in step.parts for row in p.rows or () if place[0] in row)


def as_rows(step):
    """The entries when each packed row is treated as one response."""
    raw, rows = step.raw, [row for p in step.parts for row in p.rows or ()]
    merged = {key: [[x for i in row for x in of[i]] for row in rows] for key, of in raw.items()
              if key not in (*axis.PER_RESPONSE, *axis.PER_GROUP, *axis.AS_THEY_ARE)}
    merged.update({key: [raw[key][row[0]] for row in rows] for key in axis.PER_RESPONSE if key in raw and key not in ("group", "length")})
    merged.update({key: raw[key] for key in axis.AS_THEY_ARE if key in raw})
    groups = sorted({raw["group"][row[0]] for row in rows})
    order = sorted(range(len(rows)), key=lambda r: (raw["group"][rows[r][0]], r))
    merged = {key: [of[r] for r in order] if key not in axis.AS_THEY_ARE else of for key, of in merged.items()}
    merged["group"] = [groups.index(raw["group"][rows[r][0]]) for r in order]
    merged["length"] = [sum(raw["length"][i] for i in rows[r]) for r in order]
    merged.update({key: [raw[key][g] for g in groups] for key in axis.PER_GROUP if key in raw})
    place = {(k, t): at for k, r in enumerate(order)
             for t, at in enumerate((i, t) for i in rows[r] for t in range(raw["length"][i]))}
    found = axis.Evaluated(step.objective, merged, list(place))
    return {place[at]: e for at, e in found.entries.items()}, {l: place[at] for l, at in found.place_of.items()}


def rows_as_responses(a):
    def terms(step):
        entries, place_of = as_rows(step)
        return complete(step, {at: axis.Term(e, place_of) for at, e in entries.items()})
    a.swap(axis, "terms", terms)


@defect("PART-13", always, PACKED + "rows-gspo", PACKED + "micro-grpo",
        seen="tunix 59deac39", shows="several responses in a row", **ROWS)
def borders_ignored(a):
    """A packed row is treated as one response: in its ratio, in its mean and in the number of responses. Right: each response by
    itself."""
    rows_as_responses(a)
    found = {}

    def share(step, part, e):
        if step.number not in found:
            found[step.number] = as_rows(step)[0]
        return coefficient(found[step.number], e) * step.cut.factor
    shared(a, share)
    counted(a, "responses_of", lambda step, part: len(part.rows))


@defect("PART-13a", always, PACKED + "rows-grpo", PACKED + "ranks-gspo",
        seen="none known", shows="several responses in a row", **ROWS)
def rows_counted(a):
    """The number of responses is that of the packed rows. Right: every response counts."""
    miscounted(a, "responses_of", lambda step, part: len(part.rows))


@defect("PART-13b", SEQUENCE_RATIO, PACKED + "rows-gspo", PACKED + "ranks-vespo",
        seen="none known; tunix before 59deac39 had ratios and means of the row",
        shows="several responses in a row, with one ratio for a response", **ROWS)
def ratio_of_row(a):
    """The ratio is that of the packed row; the means are right. Right: one ratio for each response."""
    rows_as_responses(a)


@defect("PART-13c", always, PACKED + "rows-dapo", PACKED + "micro-gspo",
        seen="none known", shows="several responses in a row", **ROWS)
def first_tokens_lost(a):
    """The shift by one in a packed row loses the first token of every response except the first of the row. Right: it counts."""
    shared(a, lambda step, part, e: ZERO if e.token.place[1] == 0 and row_of(step, e.token.place)[0] != e.token.place[0]
           else RIGHT(step, part, e))


@defect("PART-12", always, PACKED + "micro-dapo", MICRO + "unequal-dapo",
        seen="none known", shows="rows of unequal lengths", **SPLIT)
def padding_counted(a):
    """The tokens counted are those of rows padded to the longest of their micro-batch. Right: the tokens that count."""
    def slots(step, part):
        rows = part.rows or [[i] for i in part.responses]
        length = [sum(end - begin for i, begin, end in part.ranges if i in row) for row in rows]
        return len(length) * max(length, default=0)
    miscounted(a, "tokens_of", slots)


# ---- filtered responses and empty parts

def with_filtered(step):
    return step.places + [(i, t) for i in step.cut.filtered for t in range(step.raw["length"][i])]


@defect("PART-08", always, SURVIVORS + "filtered-dapo", SURVIVORS + "filtered-ranks-grpo",
        seen="none known, NORM-06 for responses that leave the batch", shows="responses that are filtered out before the step", **FILTERED)
def counted_before_filter(a):
    """The divisor counts what was generated. Right: what remains after filtering."""
    shared(a, lambda step, part, e: local(step, with_filtered(step), e) * step.cut.factor)


def by_other_counts(a, objective, raw):
    """The counts, and so the coefficients, are those of another objective or batch."""
    found = {}

    def share(step, part, e):
        if step.number not in found:
            found[step.number] = axis.Evaluated(objective(step.objective), raw(step.raw), step.places).entries
        return coefficient(found[step.number], e) * step.cut.factor
    shared(a, share)


def changed(objective, axis_name, **fields):
    return {**objective, axis_name: {**objective[axis_name], **fields}}


@defect("PART-09", always, MICRO + "masked-dapo", CONTEXT + "masked-grpo",
        seen="TRL #6439 (7c1fa85ad), slime #365", shows="masked tokens", **MASKED)
def masked_counted(a):
    """Every part counts its masked tokens as well. Right: those that count."""
    by_other_counts(a, lambda o: o, lambda raw: {key: x for key, x in raw.items() if key != "mask"})
    counted(a, "tokens_of", lambda step, part: len(part.places))


@defect("PART-09a", option("weight", "rollout_rejected", "unmask"), RANKS + "two-geo-reject", MICRO + "unequal-geo-reject",
        seen="verl #3915 (4424616d7), verl #4852 (open), of its bypass mode, torchtitan before #4174",
        shows="rejected tokens or responses", **SPLIT)
def rejected_counted(a):
    """The counts are taken before tokens are rejected. Right: after."""
    by_other_counts(a, lambda o: changed(o, "weight", rollout_rejected="zero_weight"), lambda raw: raw)


@defect("PART-10", always, SURVIVORS + "empty-rank-grpo", SURVIVORS + "empty-micro-openrlhf-gspo",
        seen="verl #3915 (4424616d7), tunix d09da21b", shows="a response without tokens that count", **MASKED)
def other_empties(a):
    """Responses and prompts without tokens that count are counted where the objective drops them, or dropped where it counts
    them. Right: as the objective says."""
    other = {"keep": "drop", "drop": "keep"}
    by_other_counts(a, lambda o: changed(o, "aggregation", empty_sequences=other[o["aggregation"]["empty_sequences"]]), lambda raw: raw)

    def counts(step, i):
        return step.objective["aggregation"]["empty_sequences"] == "drop" or step.whole.active[i] > 0
    counted(a, "responses_of", lambda step, part: sum(1 for i, t in part.places if t == 0 and counts(step, i)))


@defect("PART-11", always, SURVIVORS + "empty-micro-dapo", SURVIVORS + "nothing-dapo",
        seen="none known, invited by guards against 0/0 that are put before the sum; slime has one for each response (NORM-13b)",
        shows="a part without any token that counts", **SPLIT)
def at_least_one(a):
    """Every part reports at least one token, and these counts are added. Right: the guard against 0 applies to the sum."""
    def tokens(step, part):
        return max(1, sum(1 for place in part.places if place in step.whole.entries))
    miscounted(a, "tokens_of", tokens)


@defect("PART-14", always, SURVIVORS + "empty-rank-dapo", SURVIVORS + "nothing-grpo",
        seen="none known", shows="a rank without any token that counts", **MORE_RANKS)
def average_of_others(a):
    """Losses are multiplied by the number of ranks that have tokens, and averaged over all. Right: by all ranks."""
    def share(step, part, e):
        alive = sum(1 for r in range(step.ranks) if any(axis.tokens_of(step, p) for p in step.on_rank(r)))
        return e.c * (alive if step.cut.averaged else 1)
    shared(a, share)


@defect("PART-25", both(lambda o, b: o["penalty"]["nll_on"] != "none" or o["penalty"]["preference"] != "none"),
        RANKS + "two-pairs", MICRO + "unequal-pairs",
        seen="none known", shows="a penalty with a divisor of its own, in several parts", **SPLIT)
def own_counts_of_part(a):
    """Penalties with a divisor of their own are divided by the part's count, then averaged over micro-batches and ranks. Right: by
    the step's."""
    def own(step, part):
        alone = step.alone(part.places) if part.places else None
        factor = ONE / (micro_batches(step, part) * step.cut.factor)
        return [(term, factor, alone.place_of) for term in alone.own] if alone else []
    a.swap(axis, "own_terms", own)


@defect("PART-26", differs("weight", "rollout_is_norm", "none"), RANKS + "two-tis-normalized", MICRO + "unequal-tis-normalized",
        seen="none known", shows="weights divided by their mean, in several parts", **SPLIT)
def weights_of_part(a):
    """Weights are divided by their mean in the part. Right: by that of the step."""
    a.swap(axis, "terms", terms_of_parts)
