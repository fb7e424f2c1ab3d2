"""ADV, REW: wrong groups, baselines, deviations, credit and reward shaping."""
import math

import evaluate
from attempt import copied, right
from autodiff import clamp, maximum
from axes import advantage as axis
from axes import credit as credit_axis
from axes import reward as reward_axis
from axes import surrogate as surrogate_axis
from axes import token_level
from axes.advantage import NOTHING, Sized
from limits import ONE, ZERO, Undefined, sqrt
from reals import mpf

from .table import (alone, both, defect, differs, equal_groups, group_sizes, kl_in_reward, masked_any, of, option,
                    padded, rewards_judged, several_groups, slots, square, unequal, unit)

MADE = ("advantage",)
NAN = Sized(mpf("nan"), mpf("nan"))


def uses_groups(o, b):
    return rewards_judged(o, b) and (o["advantage"]["baseline"] in axis.OWN_GROUP or o["advantage"]["scale"] == "group_std")


def outcome(o, b):
    return o["advantage"]["credit"] == "outcome"


def rewarded(o, b):
    return "reward" in b and rewards_judged(o, b)


def scaled(*scales):
    return both(rewards_judged, option("advantage", "scale", *scales))


group_std = scaled("group_std")
whitens = scaled("token_whiten")


def regrouped(a, group_of):
    """Advantages are computed with sequence i in group group_of(i)."""
    def advantages(original, choice, reward, batch):
        true = [s.group for s in batch.sequences], batch.groups
        for i, s in enumerate(batch.sequences):
            s.group = group_of(i)
        batch.groups = max(s.group for s in batch.sequences) + 1
        try:
            return original(choice, reward, batch)
        finally:
            batch.groups = true[1]
            for s, g in zip(batch.sequences, true[0]):
                s.group = g
    a.around(axis, "advantages", advantages)


def scores(a, f):
    """f(a of every item, choice, items, batch) changes or replaces a before the credit."""
    def scored(original, choice, items, batch):
        found = original(choice, items, batch)
        return f(found, choice, items, batch) or found
    a.around(axis, "scored", scored)


def filtered(a, f):
    def answers(found):
        if "dynamic_sampling_mask" in found:
            found["dynamic_sampling_mask"] = f(found["dynamic_sampling_mask"])
    a.answered(answers)


# ---- groups

@defect("ADV-01", both(uses_groups, option("advantage", "scale", "group_std", "batch_std", "none")), "ragged", "uneven",
        "choices-advantage-batch_std",
        seen="TRL #3992 (35702ce37); axolotl #3731 (closed), of \"none\", with sequence parallelism",
        shows="two groups of different deviation", stages=MADE)
def scale_option_mixed_up(a):
    """The scale option takes the wrong branch: "group" does not divide, "batch" divides by the group's deviation, "none" divides by the
    group's deviation + 1e-4. Right: each option does what its name says."""
    branch = {"group_std": {"scale": "none"}, "batch_std": {"scale": "group_std"},
              "none": {"scale": "group_std", "eps": 1e-4, "eps_place": "add"}}[a.objective["advantage"]["scale"]]
    a.choose("advantage", **branch)


@defect("ADV-01b", both(uses_groups, several_groups, option("advantage", "scale", "group_std", "batch_std")), "ragged", "uneven",
        "choices-advantage-batch_std",
        seen="prime-rl before #1188 (7d9a34510)", shows="two groups of different deviation", stages=MADE)
def deviations_swapped(a):
    """The other of the two deviations divides: the batch's where the group's should, or the group's where the batch's should. Right: as
    `scale` says."""
    a.choose("advantage", scale={"group_std": "batch_std", "batch_std": "group_std"}[a.objective["advantage"]["scale"]])


@defect("ADV-02", both(uses_groups, several_groups), "ragged", "uneven", "choices-advantage-group_std",
        seen="grpo-flat #2 (fixed in 597c41f), fla #1073 (open in this), slime #1918 (open), of groups of unequal size",
        shows="two groups of different mean", stages=MADE)
def one_group(a):
    """Mean and deviation over the whole batch. Right: over each prompt's responses."""
    regrouped(a, lambda i: 0)


@defect("ADV-02a", both(group_std, option("advantage", "std", "sample")), "ragged", "choices-advantage-group_std",
        seen="Liger before #628 (bf2c67b7), whose chunk was taken for the group and held one response by default",
        shows="chunks of one response", stages=MADE)
def one_row_chunks(a):
    """Mean and deviation are taken over chunks, and a chunk holds one response: the deviation of one number is NaN. Right: over the
    group."""
    scores(a, lambda found, choice, items, batch: {item: NAN for item in items})


@defect("ADV-03", both(rewards_judged, option("advantage", "baseline", "group_mean"), option("advantage", "scale", "none")),
        "ragged", "choices-advantage-group_mean",
        seen="PipelineRL #54 (fixed there), whose deviation is ADV-03a", shows="any group of unequal rewards", stages=MADE)
def first_is_baseline(a):
    """The group's mean is the reward of its first response. Right: the mean of all of them."""
    a.swap(axis.BASELINE, "group_mean", lambda item, group, batch: group[0].worth)


@defect("ADV-03a",
        both(group_std, option("advantage", "baseline", "group_mean"), option("advantage", "std", "sample")),
        "ragged", "choices-advantage-group_std",
        seen="PipelineRL #54 (fixed there)", shows="any group", stages=MADE)
def first_is_deviation(a):
    """Mean and deviation are of the group's first response only, so the deviation is NaN. Right: of all of them."""
    scores(a, lambda found, choice, items, batch: {item: NAN for item in items})


@defect("ADV-04", both(uses_groups, equal_groups), "full", "one-token", "square",
        seen="AReaL #225 (0b0d4eda9)", shows="two groups of more than one", stages=MADE)
def stride_twice(a):
    """The loop over groups advances by the group size and multiplies the index by it again: all groups but the first keep raw rewards.
    Right: every group is normalised."""
    size = group_sizes(a.first)[0]
    n = len(a.first["group"])
    reached = {i for start in range(0, n, size) for i in range(start * size, min(n, (start + 1) * size))}

    def raw(found, choice, items, batch):
        return {item: x if item.sequence.index in reached else item.worth for item, x in found.items()}
    scores(a, raw)


@defect("ADV-06", both(uses_groups, rewarded), "ragged", "uneven",
        seen="OpenRLHF e333e64a; ROLL #397 (open), whose example makes each trajectory a group",
        shows="micro-batches smaller than a group (here: of one)", stages=MADE)
def micro_batch_is_group(a):
    """A micro-batch is treated as a group: statistics and the dynamic-sampling filter see single responses. Right: regroup by prompt
    first."""
    regrouped(a, lambda i: i)
    filtered(a, lambda flags: [False] * len(flags))


@defect("SEL-03", both(uses_groups, rewarded), "ragged", "uneven",
        seen="OpenRLHF e333e64a", shows="micro-batches smaller than a group (here: of one)", stages=MADE)
def filter_by_micro_batch(a):
    """The dynamic-sampling filter and the mean look at a micro-batch instead of a group. Right: at the whole group."""
    micro_batch_is_group(a)


@defect("ADV-29", both(uses_groups, equal_groups), "full", "one-token", "square",
        seen="prime-rl before #600 and R1-V #67 (open), the other way round; old TRL (RLOO) is sample by sample and reads it so",
        shows="two groups of different mean", stages=MADE)
def group_major(a):
    """Responses stored prompt by prompt are read as if stored sample by sample: response i is put into group i mod P. Right: i div G."""
    prompts = len(group_sizes(a.first))
    regrouped(a, lambda i: i % prompts)


def transposed(i, prompts, size):
    """The response whose reward is at index i of the rewards of shape (P, G) after these are transposed to (G, P)."""
    return i % prompts * size + i // prompts


@defect("ADV-29c", both(uses_groups, equal_groups, rewarded, option("reward", "overlong", "none"), option("reward", "length", "none"),
                        option("reward", "kl", "none"), outcome), "full", "one-token", "square",
        seen="RLinf before #335 (ee9a5b2ea)", shows="two groups of different mean", stages=MADE)
def rewards_transposed(a):
    """Rewards of shape (P, G) are transposed to (G, P) and read as rows of G: a group consists of rewards of several prompts, and a
    response gets the advantage of another response's reward. Right: each prompt's own rewards, in their order."""
    rewards, sizes = a.first["reward"], group_sizes(a.first)
    a.first["reward"] = [rewards[transposed(i, len(sizes), sizes[0])] for i in range(len(rewards))]
    a.outputs = ("advantage",)


@defect("ADV-29d", both(uses_groups, several_groups, lambda o, b: len(set(group_sizes(b))) > 1), "uneven", "ragged", "singleton",
        seen="AReaL before #1454 (bbc10f0e9), whose last chunk, if it is not full, keeps its rewards and is divided by the epsilon; "
        "open-instruct #1794 (open), of the responses that were not cut off, and where their number leaves a rest it stops",
        shows="groups of unequal size", stages=MADE)
def chunks_of_fixed_size(a):
    """Groups are chunks of the size of the largest group, although some prompts have fewer responses left: a chunk has responses of
    several prompts. Right: each prompt's own responses."""
    size = max(group_sizes(a.first))
    regrouped(a, lambda i: i // size)


COUNTED = both(uses_groups, option("advantage", "credit", "outcome", "episode_step"), lambda o, b: "step_end" in b)


@defect("ADV-29a", both(COUNTED, option("advantage", "samples", "steps")), "choices-advantage-samples-mean_std",
        "choices-advantage-samples-mean", "choices-advantage-samples-episode_step-mean_std",
        seen="DrMAS (3b556f2c), read in its code; the other choice is verl-agent's",
        shows="responses of unequal numbers of steps", stages=MADE)
def statistics_of_responses(a):
    """Mean and deviation of the group count each response once (implementations differ). Right: once for each of its steps."""
    a.choose("advantage", samples="responses")


@defect("ADV-29b", both(COUNTED, option("advantage", "samples", "responses"), option("advantage", "credit", "episode_step")),
        "choices-advantage-samples-episode_step-responses",
        "choices-steps-episode_step", "choices-steps-episode_step-group_std",
        seen="verl-agent (compute_mean_std_cross_steps, its default), read in its code; miles before #2369 (63d2190ae)",
        shows="responses of unequal numbers of steps", stages=MADE)
def statistics_of_steps(a):
    """Mean and deviation of the group count a response once for each of its steps (implementations differ). Right: once."""
    a.choose("advantage", samples="steps")


# ---- one response, equal rewards, tiny deviations

@defect("ADV-07", both(group_std, option("advantage", "std", "sample"), alone), "singleton", "uneven",
        "choices-advantage-group_std",
        seen="TRL #4662 (fixed in 37ad7c2e7); ROLL 370cb24c, of one token when whitening", shows="a group of one", stages=MADE)
def deviation_of_one(a):
    """The sample deviation (divisor N - 1) of a single reward is NaN, and so is its advantage. Right: as `singleton` says."""
    def scored(found, choice, items, batch):
        sizes = [sum(1 for i in items if i.sequence.group == g) for g in range(batch.groups)]
        return {item: NAN if sizes[item.sequence.group] == 1 else x for item, x in found.items()}
    scores(a, scored)


@defect("ADV-08", both(uses_groups, alone), "singleton", "choices-advantage-group_mean", "choices-advantage-group_std",
        seen="its reward: verl (4ff3ce2fe, and the loop of its RLOO); 0: verl's vectorised RLOO (#7581, open), TRL #4662, NeMo-RL, AReaL",
        shows="a group of one", stages=MADE)
def other_singleton(a):
    """The other convention for a group of one: the advantage is its reward where it should be 0, or 0 where it should be its reward.
    Right: as `singleton` says."""
    a.choose("advantage", singleton={"zero": "raw", "raw": "zero"}[a.objective["advantage"]["singleton"]])


@defect("ADV-09", both(group_std, option("advantage", "eps_place", "add"), lambda o, b: o["advantage"]["eps"] < 1e-3),
        "tiny-spread", "choices-advantage-add-0.001",
        seen="verl 4ff3ce2fe, fixed in #6348", shows="a deviation below 1e-3", stages=MADE)
def variance_floored(a):
    """sqrt(max(V, 1e-6)) + 1e-6: the deviation cannot fall below 1e-3. Right: sqrt(V) + eps."""
    a.choose("advantage", eps=max(a.objective["advantage"]["eps"], 1e-6), eps_place="floor_add")


@defect("ADV-10", both(group_std, option("advantage", "baseline", "group_mean", "leave_one_out"), rewarded),
        "mistakes-one-success", "mistakes-one-success-trl-grpo", "ragged",
        seen="NeMo-RL #1423 (7124e4455), fixed in #1519", shows="all other rewards of the group equal", stages=MADE)
def leave_one_out_deviation(a):
    """Mean and deviation both leave the response out: where the others have equal rewards, the deviation is 0 and 1e-6 divides. Right:
    divide only where the deviation is not 0."""
    def scored(found, choice, items, batch):
        result = {}
        for item in items:
            others = [i.worth.value for i in items if i.sequence.group == item.sequence.group and i is not item]
            if not others:
                result[item] = NOTHING
                continue
            v = axis.variance("sample", others)
            deviation = ZERO if v is None else sqrt(v)
            result[item] = (item.worth - Sized(sum(others, ZERO) / len(others))).times(1 / (deviation + mpf(1e-6)))
        return result
    scores(a, scored)


@defect("ADV-11", rewarded, "equal-rewards", "uneven", "choices-advantage-valid_groups-none",
        seen="ms-swift #5813 (41d0bf7d3), in a metric", shows="one constant group among several", stages=MADE)
def zero_deviation_of_batch(a):
    """Whether all rewards of a group are equal is decided from the deviation of the whole batch. Right: from the group's rewards."""
    spread = len(set(a.first["reward"])) > 1
    filtered(a, lambda flags: [spread] * len(flags))


@defect("ADV-12", both(rewards_judged, differs("advantage", "scale", "none")), "ragged", "choices-advantage-batch_std",
        seen="N - 1: TRL, verl, SkyRL, ROLL, slime, tunix; N: open-instruct, mlx-examples #1233; read in their code",
        shows="any group of unequal rewards", stages=MADE)
def other_divisor(a):
    """The other divisor of the variance: N where N - 1 is meant, or N - 1 where N is. Right: as `std` says."""
    a.choose("advantage", std={"sample": "population", "population": "sample"}[a.objective["advantage"]["std"]])


@defect("ADV-12a",
        both(rewards_judged, differs("advantage", "scale", "none"), option("advantage", "eps_place", "add"),
             lambda o, b: o["advantage"]["eps"] < 1e-4),
        "tiny-spread", "uneven",
        seen="TRL and old Liger, read in their code; 1e-6 in verl, SkyRL, tunix, ROLL, NeMo-RL, 1e-8 in open-instruct",
        shows="a deviation near 1e-4", stages=MADE)
def other_epsilon(a):
    """1e-4 is added to the deviation. Right: the epsilon of the objective."""
    a.choose("advantage", eps=1e-4)


@defect("ADV-12b", both(group_std, option("advantage", "baseline", "group_mean"), option("advantage", "transform", "none"), rewarded),
        "ragged", "uneven", "choices-advantage-group_std",
        seen="prime-rl before #390 (748158fa6), pytorch-cpp-rl #14 (1832c60)", shows="rewards whose mean is not 0", stages=MADE)
def mean_alone_divided(a):
    """Brackets are missing, r - mean / (deviation + eps): only the mean is divided. Right: (r - mean) / (deviation + eps)."""
    def scored(found, choice, items, batch):
        result = {}
        for item in items:
            group = [i.worth for i in items if i.sequence.group == item.sequence.group]
            v = axis.variance(choice["std"], [x.value for x in group])
            divisor = axis.EPS_PLACE[choice["eps_place"]](ZERO if v is None else v, mpf(choice["eps"]))
            if len(group) == 1 and choice["std"] == "sample":
                divisor = ZERO
            result[item] = item.worth - axis.mean(group).times(1 / divisor) if divisor else NAN
        return result
    scores(a, scored)


@defect("ADV-12c", both(scaled("group_std", "batch_std", "token_whiten"), differs("advantage", "batch_norm", "tokens")), "ragged",
        "uneven", "choices-advantage-token_whiten", "choices-advantage-group_std",
        seen="ColossalAI since #6383 (083766d54), of its REINFORCE++ (rsqrt), read in its code", shows="any group of unequal rewards",
        stages=MADE)
def reciprocal_divides(a):
    """What divides is the reciprocal of the deviation, so the centred rewards or advantages are multiplied by the deviation. Right: divided
    by it."""
    a.around(axis, "sigma", lambda original, choice, v: None if v is None else 1 / original(choice, v))


@defect("ADV-12d", both(rewards_judged, option("advantage", "baseline", "group_mean"), option("advantage", "scale", "none", "group_std"),
                        option("advantage", "transform", "none")),
        "ragged", "uneven", "choices-advantage-group_mean", "choices-advantage-group_std",
        seen="grail, grail/trainer/advantages.py (at 7f8eae979), as DAPO's", shows="any group of unequal rewards", stages=MADE)
def ranks(a):
    """The advantage is the rank of the reward in its group, spread over [-1, 1]: equal rewards share their mean rank, and a response alone
    in its group has -1. Right: the reward less the mean, divided as `scale` says."""
    def scored(found, choice, items, batch):
        result = {}
        for item in items:
            others = [i.worth.value - item.worth.value for i in items if i.sequence.group == item.sequence.group and i is not item]
            below, equal = sum(x < 0 for x in others), sum(x == 0 for x in others)
            result[item] = Sized(mpf(2 * below + equal) / max(1, len(others)) - 1)
        return result
    scores(a, scored)


@defect("ADV-13", both(rewarded, lambda o, b: any(b.get("excluded", ())), option("advantage", "excluded", "zero"),
                       option("advantage", "transform", "none")), "mistakes-unscored", "mistakes-unscored-dr-grpo",
        seen="TRL before #5902 (1c7c7f988), of responses that no reward function scores", shows="an excluded response",
        stages=MADE)
def excluded_is_zero(a):
    """A response without a reward gets the reward 0: it changes its group's mean and deviation and gets an advantage. Right: it is
    excluded from both and has advantage 0."""
    a.first["reward"] = [0 if out else r for r, out in zip(a.first["reward"], a.first["excluded"])]
    a.first["excluded"] = [False] * len(a.first["reward"])
    a.outputs = ("advantage",)


@defect("ADV-15", both(uses_groups, rewarded, lambda o, b: any(not any(row) for row in b.get("mask", []))), "fully-masked",
        "choices-advantage-length_weighted-empty",
        seen="NeMo-RL since #3837, in one of its trainers, by design, as #4061 and #4160 (both open) say; proposed in verl #6452, "
        "OpenRLHF #1239 and NeMo-RL #3467 (all open), whose code counted them",
        shows="a response without tokens in a group with others", stages=MADE)
def filtered_siblings_left_out(a):
    """Responses whose tokens are all masked do not count in their group's statistics (implementations differ). Right: they count."""
    def scored(original, choice, items, batch):
        kept = [i for i in items if i.sequence.unmasked]
        return {**{i: NOTHING for i in items}, **(original(choice, kept, batch) if kept else {})}
    a.around(axis, "scored", scored)


@defect("ADV-16", both(rewarded, differs("reward", "overlong", "none")), "overlong-equal", "overlong",
        "choices-reward-overlong-soft",
        seen="NeMo-RL #2478 (fc6057383)", shows="an overlong punishment, equal raw rewards", stages=MADE)
def filter_sees_shaping(a):
    """Dynamic sampling looks at the shaped rewards: a group with equal raw rewards and different lengths is kept. Right: the raw
    rewards."""
    shaped = [r + reward_axis.overlong(a.objective["reward"], T) for r, T in zip(a.first["reward"], a.first["length"])]
    filtered(a, lambda flags: [len({x for x, h in zip(shaped, a.first["group"]) if h == g}) > 1 for g in range(len(flags))])


@defect("ADV-17", both(rewarded, option("advantage", "transform", "best_minus_second"), option("advantage", "baseline", "none"), outcome),
        "mistakes-best-of-three", "choices-advantage-best_minus_second", "choices-advantage-best_minus_second-group_std",
        seen="EasyR1 #585 (fixed in #586, dbdcd5f)", shows="rewards other than 0", stages=MADE)
def others_keep_rewards(a):
    """The best response's reward is replaced by its lead over the second best, but the others keep their rewards as advantages. Right:
    the others' advantages are 0."""
    def scored(found, choice, items, batch):
        result = dict(found)
        for item in items:
            group = [i for i in items if i.sequence.group == item.sequence.group]
            best = max(group, key=lambda i: i.worth.value)  # the first of equals
            if item is not best:
                result[item] = item.worth
        return result
    scores(a, scored)


@defect("ADV-18", group_std, "ragged", "uneven", "choices-advantage-group_std",
        seen="gem #113 (open), over the steps of a conversation; reskill #12, by default; oat from f778278 to 59eb01b",
        shows="responses of unequal length", stages=MADE)
def normalised_twice(a):
    """The normalised advantages are whitened again over all tokens. Right: one normalisation."""
    a.around(axis, "advantages",
             lambda original, choice, reward, batch: axis.whitened(choice, original(choice, reward, batch)))


@defect("ADV-18a", both(rewards_judged, option("surrogate", "kind", "ppo_clip"),
                        lambda o, b: o["advantage"]["scale"] == "token_whiten" or o["advantage"]["batch_norm"] != "none"),
        "returns", "full", "square", "choices-advantage-token_whiten",
        seen="torchrl before #1033 (4d3c5537e)", shows="advantages normalised over the batch", stages=("loss",))
def normalised_between_branches(a):
    """The advantages are normalised over the batch after the unclipped branch has been computed: the minimum is of w A with the raw
    advantage and clip(w) A with the normalised one. Right: the normalised one in both."""
    raw = copied(a.objective)
    raw["advantage"].update(scale="none", batch_norm="none")
    A = right({"objective": raw, "batch": a.first}, stages=("advantage",))["advantage"]

    def surrogate(choice, advantage, w, y, l, x, token):
        own = mpf(A[token.sequence.index][token.t])
        return maximum(-own * w, -advantage * clamp(w, *surrogate_axis.bounds(surrogate_axis.at(choice, x, token))))
    a.swap(evaluate, "surrogate", surrogate)


# ---- whitening

def with_statistics(a, f):
    """f(mean, 1 / deviation, advantages) replaces the whitening; mean and deviation are the right ones."""
    def whitened(original, choice, advantages):
        v = axis.variance(choice["std"], [x.value for x in advantages.values()])
        if v is None:
            return original(choice, advantages)
        return f(axis.mean(list(advantages.values())), 1 / axis.sigma(choice, v), advantages)
    a.around(axis, "whitened", whitened)


@defect("ADV-19", both(whitens, masked_any), "holes", "returns", "fully-masked",
        seen="verl #1527 (4e9586a3a)", shows="masked tokens", stages=MADE)
def whitened_padding(a):
    """Whitening shifts masked tokens too: they get -mean / deviation. Right: 0 at masked tokens."""
    a.with_ghosts()
    shift = []

    def whiten(m, scale, advantages):
        shift.append((NOTHING - m).times(scale))
        return {t: (x - m).times(scale) for t, x in advantages.items()}
    with_statistics(a, whiten)

    def advantages(original, choice, reward, batch):
        found = original(choice, reward, batch)
        found.update({t: shift[0] for s in batch.sequences for t in s.ghosts if shift})
        return found
    a.around(axis, "advantages", advantages)


@defect("ADV-20",
        both(rewards_judged, option("advantage", "baseline", "group_mean"), option("advantage", "scale", "none", "group_std"),
             outcome, square),
        "square", "mistakes-square",
        seen="OpenRLHF #1250 (b3d29278)", shows="as many responses as tokens", stages=MADE)
def statistics_along_tokens(a):
    """Means and deviations of shape (B,) are broadcast against advantages of shape (B, T): token t gets those of response t. Right: those
    of its own response."""
    def advantages(choice, reward, batch):
        items = axis.responses(choice, reward, batch)
        statistics = {}
        for item in items:
            group = [i for i in items if i.sequence.group == item.sequence.group]
            v = axis.variance(choice["std"], [i.worth.value for i in group])
            scale = ONE if choice["scale"] == "none" else ZERO if v is None else 1 / axis.sigma(choice, v)
            statistics[item.sequence.index] = axis.mean([i.worth for i in group]), scale
        return {t: (i.worth - statistics[t.t][0]).times(statistics[t.t][1]) for i in items for t in i.sequence.unmasked}
    a.swap(axis, "advantages", advantages)


@defect("ADV-21", whitens, "ragged", "holes", "choices-advantage-token_whiten",
        seen="SkyRL before bf243b8d6", shows="padding", stages=MADE)
def mean_over_padding(a):
    """The mean of the whitening includes padding, the deviation does not. Right: both over the mask."""
    n = slots(a.first)
    with_statistics(a, lambda m, scale, advantages: {
        t: (x - m.times(mpf(len(advantages)) / n)).times(scale) for t, x in advantages.items()})


@defect("ADV-21a", both(whitens, padded), "ragged", "holes", "choices-advantage-token_whiten",
        seen="trlx 0.7.0, read in its code", shows="padding", stages=MADE)
def statistics_over_padding(a):
    """Mean and deviation of the whitening include the padding, where the advantages are 0. Right: both over the mask."""
    n = slots(a.first)

    def whitened(original, choice, advantages):
        if not advantages:
            return original(choice, advantages)
        m = axis.mean(list(advantages.values())).times(mpf(len(advantages)) / n)
        far = sum(((x.value - m.value) ** 2 for x in advantages.values()), (n - len(advantages)) * m.value ** 2)
        if not far:
            return original(choice, advantages)
        scale = 1 / axis.sigma(choice, far / (n - (choice["std"] == "sample")))
        return {t: (x - m).times(scale) for t, x in advantages.items()}
    a.around(axis, "whitened", whitened)


@defect("ADV-22", whitens, "ragged", "holes", "choices-advantage-token_whiten",
        seen="slime #2235 (dd7f0379c)", shows="context parallelism (here: two ranks with half of each response)",
        stages=MADE)
def whitened_per_rank(a):
    """Every context-parallel rank whitens its slice of the tokens with its own mean and deviation.
    Right: one mean and deviation over all ranks."""
    def whitened(original, choice, advantages):
        first = {t: x for t, x in advantages.items() if 2 * t.t < t.sequence.length}
        second = {t: x for t, x in advantages.items() if t not in first}
        return {**original(choice, first), **original(choice, second)}
    a.around(axis, "whitened", whitened)


@defect("ADV-22b", both(whitens, lambda o, b: len(b["length"]) > 1), "ragged", "returns", "choices-advantage-token_whiten",
        seen="ColossalAI since #6383 (083766d54), of its REINFORCE++, read in its code",
        shows="more than one micro-batch (here: one of each response)", stages=MADE)
def whitened_per_micro_batch(a):
    """Every micro-batch whitens its tokens with its own mean and deviation. Right: one mean and deviation over the batch."""
    def whitened(original, choice, advantages):
        result = {}
        for s in {t.sequence for t in advantages}:
            result.update(original(choice, {t: x for t, x in advantages.items() if t.sequence is s}))
        return result
    a.around(axis, "whitened", whitened)


# ---- credit

@defect("ADV-24", both(rewards_judged, option("advantage", "credit", "step")), "steps", "ragged", "choices-advantage-step-1",
        seen="SkyRL #1507 (76b718782)", shows="steps of unequal length", stages=MADE)
def mask_of_last_step(a):
    """A step's advantages are multiplied by the mask of the last step: tokens beyond its length get 0. Right: by the mask of their own
    step."""
    def advantages(original, choice, reward, batch):
        found = original(choice, reward, batch)
        for s in batch.sequences:
            steps = [[]]
            for t in s.unmasked:
                steps[-1].append(t)
                if t.step_end:
                    steps.append([])
            last = len([step for step in steps if step][-1]) if s.unmasked else 0
            found.update({t: NOTHING for step in steps for t in step[last:]})
        return found
    a.around(axis, "advantages", advantages)


SUMMED = both(option("advantage", "credit", "step"), option("advantage", "step_value", "reward"),
              lambda o, b: o["advantage"]["step_discount"] == "steps" or o["advantage"]["gamma"] == 1)


@defect("ADV-24a", both(rewards_judged, SUMMED), "steps", "ragged", "choices-advantage-step-1", "choices-advantage-step-group_std",
        seen="IGPO #5 (its first code, then corrected)", shows="responses of more than one step", stages=MADE)
def returns_normalised(a):
    """The rewards of steps are summed to go first, and the sums are normalised. Right: the rewards are normalised, then summed to go."""
    choice = a.objective["advantage"]
    gamma = choice["step_gamma"] if choice["step_discount"] == "steps" else 1
    a.choose("advantage", step_value="return", step_gamma=gamma, credit="step_own", step_discount="tokens")


def before_hole(sequence):
    """Unmasked tokens that are followed by a masked one."""
    following = {t.t for t in sequence.unmasked}
    return {t for t in sequence.unmasked if t.t + 1 not in following}


@defect("ADV-27", both(rewards_judged, option("advantage", "credit", "return", "step"), masked_any), "returns", "holes",
        "steps", "choices-advantage-return-0.5",
        seen="verl #6376, #7278 (fixed in #7300, 8a1bf6d5b)", shows="masked tokens inside a response", stages=MADE)
def return_reset(a):
    """The running return is set to 0 at masked tokens. Right: masked tokens are skipped."""
    def reward_to_go(gamma, sequence, rho):
        result, later, reset = {}, NOTHING, before_hole(sequence)
        for t in reversed(sequence.unmasked):
            later = rho[t] + (NOTHING if t in reset else later.times(gamma))
            result[t] = later
        return result
    a.swap(credit_axis, "reward_to_go", reward_to_go)


gae_alone = both(rewards_judged, option("advantage", "credit", "gae"), option("advantage", "bootstrap", "zero"),
                 lambda o, b: o["advantage"]["lambda_length"] == 0)


def step_discount(o):
    """What a reward is multiplied by when it moves back by one token."""
    return mpf(o["advantage"]["gamma"]) * (mpf(o["advantage"]["lambda"]) if o["advantage"]["credit"] == "gae" else 1)


@defect("ADV-27a", both(rewards_judged, option("advantage", "credit", "gae"), masked_any), "values", "holes",
        "choices-advantage-gae-0.5-0.75",
        seen="none known", shows="masked tokens inside a response", stages=MADE)
def trace_reset(a):
    """Next value and trace of GAE are 0 after a masked token. Right: masked tokens are skipped."""
    def gae(choice, reward, batch, items):
        gamma, lam = mpf(choice["gamma"]), mpf(choice["lambda"])
        result = {}
        for item, x in items.items():
            rho = credit_axis.token_rewards(reward, item.sequence, x)
            next_value = later = NOTHING
            reset = before_hole(item.sequence)
            for t in reversed(item.sequence.unmasked):
                if t in reset:
                    next_value = later = NOTHING
                v = Sized(t.value)
                later = rho[t] + next_value.times(gamma) - v + later.times(gamma * lam)
                next_value = v
                result[t] = later
        return result
    a.swap(axis.CREDIT, "gae", gae)


@defect("ADV-27b", both(gae_alone, masked_any), "values", "holes", "choices-advantage-gae-0.5-0.75",
        seen="verl before #2337 (033286685), miles before #1827 (3d2e0e411)",
        shows="masked tokens inside or at the end of a response", stages=MADE)
def masked_in_trace(a):
    """GAE does not skip masked tokens: their values and KL enter, each costs a factor gamma lambda, and the reward may be placed at one
    of them. Right: masked tokens are skipped."""
    a.with_ghosts()

    def gae(choice, reward, batch, items):
        gamma, lam = mpf(choice["gamma"]), mpf(choice["lambda"])
        result = {}
        for item, x in items.items():
            s, next_value, later = item.sequence, NOTHING, NOTHING
            for t in sorted(s.every, key=lambda t: -t.t):
                v = Sized(t.value)
                paid = (x if t.t == s.length - 1 else NOTHING) - Sized(reward_axis.token_kl(reward, t))
                later = paid + next_value.times(gamma) - v + later.times(gamma * lam)
                next_value = v
                result[t] = later
        return {t: y for t, y in result.items() if t in t.sequence.unmasked}
    a.swap(axis.CREDIT, "gae", gae)


@defect("ADV-27c", both(rewards_judged, option("advantage", "credit", "gae")), "values", "choices-advantage-gae-0.5-0.75",
        seen="RLinf before #661 (791cacf06), whose value is that of what follows", shows="a value at the last token", stages=MADE)
def ended_is_bootstrapped(a):
    """GAE goes on with an estimated value after every response (here: that of its last token), also after one that has ended. Right: only
    after a response that was cut off, if at all."""
    def ended(original, choice, reward, sequence, rho):
        found, after = original(choice, reward, sequence, rho)
        last = sequence.unmasked[-1:]
        return (found, after) if found is not rho or not last else (rho, Sized(last[0].value))
    a.around(credit_axis, "ended", ended)


@defect("ADV-27d", both(gae_alone, masked_any), "values", "holes", "choices-advantage-gae-0.5-0.75",
        seen="tunix before 2b379183", shows="masked tokens inside a response", stages=MADE)
def next_value_masked(a):
    """The next value is 0 before a masked token, although the trace of GAE skips it. Right: both skip masked tokens."""
    def estimated(choice, sequence, rho, next_value):
        gamma, decayed = mpf(choice["gamma"]), mpf(choice["gamma"]) * mpf(choice["lambda"])
        result, later, before = {}, NOTHING, before_hole(sequence)
        for t in reversed(sequence.unmasked):
            v = Sized(t.value)
            beyond = NOTHING if t in before else next_value
            later, next_value = rho[t] + beyond.times(gamma) - v + later.times(decayed), v
            result[t] = later
        return result
    a.swap(credit_axis, "estimated", estimated)


def shifted_values(a, by):
    """The values of each response are shifted by one slot, and a 0 takes the place that becomes free."""
    a.first["value"] = [(row[1:] + [0] if by < 0 else [0] + row[:-1]) if row else row for row in a.first["value"]]


@defect("ADV-27e", both(gae_alone, lambda o, b: not masked_any(o, b)), "values", "ragged", "choices-advantage-gae-0.5-0.75",
        seen="ROLL #3 (af516d73)", shows="a response with values", stages=MADE)
def values_ahead(a):
    """The values are one state ahead: each token has the value of the state that it leads to (the last: here 0). Right: of the state
    in which it was sampled."""
    shifted_values(a, -1)


@defect("ADV-27f", both(gae_alone, lambda o, b: not masked_any(o, b)), "values", "ragged", "choices-advantage-gae-0.5-0.75",
        seen="TRL #44, fixed in #137 (8070ac041), of its PPO", shows="a response with values", stages=MADE)
def values_behind(a):
    """The values are one state behind: each token has the value of the state before (the first: here 0). Right: of the state in which it
    was sampled."""
    shifted_values(a, 1)


@defect("ADV-27g", both(rewards_judged, option("advantage", "credit", "return", "gae"), option("advantage", "bootstrap", "zero"), unequal,
                        lambda o, b: o["advantage"]["lambda_length"] == 0 and step_discount(o) != 1),
        "values", "ragged", "choices-advantage-gae-0.5-0.75", "choices-advantage-return-0.5",
        seen="TRL #3750 (open), #1893, of its PPO; DeepSpeed-Chat #672 (closed)", shows="a response shorter than the longest", stages=MADE)
def reward_after_the_end(a):
    """The reward is put into the slot after the last token, where the row has one: it is discounted once more, by gamma lambda (here with
    a value of 0 in that slot). Right: at the last token."""
    longest = max(a.first["length"])

    def token_rewards(original, reward, sequence, x):
        return original(reward, sequence, x.times(step_discount(a.objective)) if sequence.length < longest else x)
    a.around(credit_axis, "token_rewards", token_rewards)


@defect("ADV-27h", both(gae_alone, unequal), "values", "ragged", "choices-advantage-gae-0.5-0.75",
        seen="verl before #1440 (f147ede20), with micro-batches of a bounded number of tokens", stages=MADE,
        shows="micro-batches sorted otherwise than the batch (here: by length)")
def values_masked_in_other_order(a):
    """The values are masked before the responses are back in their order: those beyond the length of another response are 0 (its first
    value beyond the end is kept). Right: each by its own mask."""
    lengths = a.first["length"]
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    for i, T in zip(order, lengths):
        row = a.first["value"][i]
        a.first["value"][i] = row[:T + 1] + [0] * len(row[T + 1:])


@defect("ADV-27i", both(gae_alone, lambda o, b: len(b["length"]) > 1), "values", "ragged", "choices-advantage-gae-0.5-0.75",
        seen="oat before #33 (dfe3e8b), of its PPO", stages=MADE, shows="more than one micro-batch (here: one of each response)")
def values_of_last_micro_batch(a):
    """Every micro-batch has the values of the last one: the critic is asked about the same rows each time (values beyond the length of
    these are 0). Right: each its own."""
    last = a.first["value"][-1]
    a.first["value"] = [(last + [0] * T)[:T] for T in a.first["length"]]


@defect("ADV-22a", both(rewards_judged, option("advantage", "credit", "return", "gae"), option("advantage", "bootstrap", "zero")),
        "values", "ragged", "choices-advantage-return-0.5", "choices-advantage-gae-0.5-0.75",
        seen="miles before #1720 (6875694c5)", shows="context parallelism (here: two ranks with half of each response)", stages=MADE)
def reward_at_end_of_first_piece(a):
    """The first context-parallel rank puts the response's reward at the end of its own piece of the response, and a rank without a piece
    puts it nowhere. Right: at the last token of the response."""
    def token_rewards(reward, sequence, x):
        rho = {t: NOTHING - Sized(reward_axis.token_kl(reward, t)) for t in sequence.unmasked}
        piece = [t for t in sequence.unmasked if 2 * t.t < sequence.length]
        if piece:
            rho[piece[-1]] = rho[piece[-1]] + x
        return rho
    a.swap(credit_axis, "token_rewards", token_rewards)


# ---- marked tokens

@defect("ADV-26", both(rewards_judged, option("advantage", "marked", "fixed")), "mistakes-penalised", "mistakes-penalised-dapo",
        seen="NeMo-RL before #2787 (09b63d9bd)", shows="a response with marked tokens and others", stages=MADE)
def marks_in_a_view(a):
    """The advantages of a response are a view of one number, so the value written at its marked tokens becomes that of all its tokens.
    Right: at the marked tokens only."""
    def marked(original, choice, found):
        hit = {t.sequence for t in found if t.marked}
        return {t: Sized(mpf(choice["marked_value"])) if t.sequence in hit else x for t, x in found.items()}
    a.around(token_level, "marked", marked)


# ---- KL in the reward

kl_rewarded = both(rewards_judged, of(kl_in_reward))


@defect("ADV-28", kl_rewarded, "ragged", "choices-reward-k1-outcome",
        seen="slime #373 (6d65fa50a)", shows="a KL in the reward", stages=MADE)
def kl_added(a):
    """The KL is added to the reward without coefficient and sign. Right: multiplied by minus the coefficient."""
    a.choose("reward", kl_coef=-1)


@defect("ADV-28a", both(kl_rewarded, masked_any, option("advantage", "credit", "return", "outcome")), "holes", "returns",
        "choices-reward-k1-outcome", "choices-reward-k1-return",
        seen="slime #1372 (166441911), miles #1383 (open)", shows="a KL in the reward, masked tokens", stages=MADE)
def kl_of_masked(a):
    """The KL at masked tokens enters the rewards. Right: the KL there is 0."""
    a.with_ghosts()

    def responses(original, choice, reward, batch):
        items = original(choice, reward, batch)
        if choice["credit"] == "outcome":
            for item in items:
                item.worth = item.worth - axis.total(Sized(reward_axis.token_kl(reward, t)) for t in item.sequence.ghosts)
        return items
    a.around(axis, "responses", responses)

    def token_rewards(original, reward, sequence, score):
        rho = original(reward, sequence, score)
        for ghost in sequence.ghosts:
            before = [t for t in sequence.unmasked if t.t < ghost.t]
            if before:  # a later token's reward is in the return of all earlier ones, undiscounted
                rho[before[-1]] = rho[before[-1]] - Sized(reward_axis.token_kl(reward, ghost))
        return rho
    a.around(credit_axis, "token_rewards", token_rewards)


@defect("ADV-28b", kl_rewarded, "ragged", "choices-reward-k2-outcome",
        seen="slime #399 (open), and before f6f46cb17 its REINFORCE++-baseline", shows="a KL in the reward", stages=MADE)
def kl_ignored(a):
    """The KL coefficient of the reward is ignored. Right: r - beta KL."""
    a.choose("reward", kl="none")


@defect("ADV-28c", kl_rewarded, "ragged", "choices-reward-k1-outcome",
        seen="torchrl before #2908 (96c300322)", shows="a KL in the reward", stages=MADE)
def kl_paid(a):
    """The KL times the coefficient is added to the reward: distance from the reference is rewarded. Right: multiplied by minus the
    coefficient."""
    a.choose("reward", kl_coef=-a.objective["reward"]["kl_coef"])


@defect("ADV-28d", both(kl_rewarded, lambda o, b: "logp_old" in b), "ragged", "choices-reward-k1-outcome", "choices-reward-k2-outcome",
        seen="NeMo-RL before #3087 (e1b2026db), which refuses it, with force_on_policy_ratio", shows="a KL in the reward", stages=MADE)
def kl_of_placeholder(a):
    """The log-probabilities in the reward's KL are a placeholder, 0 everywhere, because the ratio does not need them. Right: those of the
    policy that sampled."""
    a.first["logp_old"] = [[0] * len(row) for row in a.first["logp_old"]]


@defect("ADV-30", both(kl_rewarded, outcome, several_groups), "ragged", "full", "choices-reward-k1-outcome",
        seen="ms-swift #9921 (e7b50c398)", shows="a KL in the reward, ranks that share groups (here: two)", stages=MADE)
def kl_gathered_twice(a):
    """KL values are gathered from two ranks that both hold the whole group: each group's values occur twice, and the later ones are
    misaligned with the rewards. Right: each once."""
    group = a.first["group"]
    gathered = [i for g in range(group[-1] + 1) for _ in range(2) for i, h in enumerate(group) if h == g]

    def responses(original, choice, reward, batch):
        items = original(choice, {**reward, "kl": "none"}, batch)
        for item, i in zip(items, gathered):
            kl = axis.total(Sized(reward_axis.token_kl(reward, t)) for t in batch.sequences[i].unmasked)
            item.worth = item.worth - kl
        return items
    a.around(axis, "responses", responses)


# ---- over the mean of absolute values

@defect("ADV-01a", both(rewards_judged, option("advantage", "batch_norm", "mean_abs")), "choices-advantage-samples-mean_abs",
        "choices-advantage-samples-mean_abs-group_std",
        seen="none known, right in ART 0.5.23, whose tokens have weights", shows="responses of unequal lengths", stages=MADE)
def mean_abs_of_tokens(a):
    """The mean of |A| is over all tokens, so long responses count more. Right: the mean over responses of the mean over their tokens."""
    def over_tokens(choice, advantages):
        m = sum((abs(x.settled()) for x in advantages.values()), ZERO) / max(1, len(advantages))
        return {t: x.times(1 / m) for t, x in advantages.items()} if m else advantages
    a.swap(axis.OVER_TOKENS, "mean_abs", over_tokens)


# ---- overlong punishment

overlong = both(rewards_judged, differs("reward", "overlong", "none"))
WINDOWS = ("overlong", "overlong-equal", "choices-reward-overlong-soft", "choices-reward-overlong-max")


@defect("REW-01", overlong, *WINDOWS,
        seen="verl's docs before #3856 (#3855, 8b7a48d4a); SkyRL before #755 had a third window, which moves with the prompt",
        shows="lengths between Lm - Lc and Lm + Lc", stages=MADE)
def window_beyond(a):
    """The window is [Lm, Lm + Lc]. Right: [Lm - Lc, Lm]."""
    a.choose("reward", overlong_max=a.objective["reward"]["overlong_max"] + a.objective["reward"]["overlong_cache"])


@defect("REW-01a", both(overlong, option("reward", "overlong", "soft")), *WINDOWS, "choices-reward-overlong-cache",
        seen="ms-swift's docs, which #5557 corrects; their window began at Lc",
        shows="lengths inside the window, Lc != Lm / 2", stages=MADE)
def slope(a):
    """The slope is 1 / (Lm - Lc). Right: 1 / Lc."""
    def soft(length, lm, lc, factor):
        return ZERO if length <= lm - lc else factor * ((lm - lc) - length) / (lm - lc) if length <= lm else -factor
    a.swap(reward_axis.OVERLONG, "soft", soft)


@defect("REW-01b", overlong, *WINDOWS,
        seen="none known; verl #2107 (closed) would warn of it", shows="any length", stages=MADE)
def window_swapped(a):
    """Lm and Lc are swapped: the expected length is negative and every response is punished. Right: Lc is the length of the window before
    Lm."""
    window = a.objective["reward"]
    a.choose("reward", overlong_max=window["overlong_cache"], overlong_cache=window["overlong_max"])


@defect("REW-01c", both(overlong, masked_any), "overlong", "choices-alike-overlong-dapo-tools", "choices-reward-overlong-masked",
        "choices-alike-overlong-verl-dapo-end",
        seen="OpenRLHF #1243, #1255 (both open), which propose it for calls of tools; its length is that of the span up to the last token "
             "of the policy",
        shows="masked tokens in a response as long as the window", stages=MADE)
def counted_length(a):
    """The length that is punished is the number of tokens that count (implementations differ). Right: the length of the response, masked
    tokens included."""
    def shaped(original, choice, sequence, group):
        whole, reward_axis.overlong = reward_axis.overlong, lambda choice, length: whole(choice, len(sequence.unmasked))
        try:
            return original(choice, sequence, group)
        finally:
            reward_axis.overlong = whole
    a.around(reward_axis, "shaped", shaped)


@defect("REW-03", overlong, *WINDOWS,
        seen="verl #4268", shows="lengths inside or beyond the window", stages=MADE)
def punishment_skipped(a):
    """The punishment is skipped when the rewards come ready from the rollout. Right: it is added to them."""
    a.choose("reward", overlong="none")


# ---- advantages as the loss sees them

@defect("ADV-23", both(of(unit), masked_any), "holes", "nan-masked-given", "fully-masked",
        seen="AReaL #1346 (b2fb234d9)", shows="masked tokens, a ratio per response", stages=("loss",))
def averaged_over_padding(a):
    """The response's advantage is the mean over all of its slots, masked ones included. Right: over the tokens that
    count."""
    numbers = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
    a.ieee()
    a.second["advantage"] = [[sum(numbers.get(x, x) for x in row) / len(row)] * len(row) for row in a.second["advantage"]]
    a.outputs = ("loss", "term", "dlogp")


@defect("ADV-25", lambda o, b: square(o, b) and o["advantage"]["credit"] == "outcome", "square", "mistakes-square",
        seen="TRL 4db63af98, a review of TRL #6095", shows="as many responses as tokens", stages=("loss",))
def advantages_along_tokens(a):
    """Advantages of shape (B,) are broadcast against terms of shape (B, T): token t gets the advantage of response t. Right: of its own
    response."""
    mask = a.second.get("mask") or [[True] * T for T in a.second["length"]]
    of_response = [next((x for x, m in zip(row, ms) if m), 0) for row, ms in zip(a.second["advantage"], mask)]
    a.second["advantage"] = [of_response[:len(row)] for row in a.second["advantage"]]


PLAIN_TOKENS = both(option("ratio", "level", "token"), option("surrogate", "kind", "ppo_clip"), option("aggregation", "kind", "token_mean"),
                    option("penalty", "kl", "none"), option("weight", "rollout_is", "none"), option("weight", "truncated", "keep"),
                    lambda o, b: "mask" not in b and len(b["length"]) > 1)


@defect("ADV-25a", PLAIN_TOKENS, "ragged", "signs",
        seen="prime-rl before 8d77a2cd9", shows="more than one response", stages=("loss",))
def advantages_of_all(a):
    """Advantages of shape (B, 1, T) are broadcast against terms of shape (B, T): a token is multiplied by the advantages of all responses
    at its position, and the products are added up. Right: by its own advantage only."""
    rows = a.second["advantage"]

    def answers(found):
        parts = [right({"objective": a.objective, "batch": {**a.second, "advantage": [(row + [0] * T)[:T] for T in a.second["length"]]}},
                       stages=("loss",)) for row in rows]
        found["loss"] = sum(part["loss"] for part in parts)
        for name in ("term", "dlogp"):
            found[name] = [[sum(part[name][i][t] for part in parts) for t in range(T)] for i, T in enumerate(a.second["length"])]
    a.answered(answers, "loss", "term", "dlogp")


def one_advantage_each(o, b):
    """Has each of several responses one advantage?"""
    masks = b.get("mask") or [[True] * T for T in b["length"]]
    alike = all(len({x for x, m in zip(row, ms) if m}) < 2 for row, ms in zip(b.get("advantage", ()), masks))
    return o["advantage"]["credit"] == "outcome" and len(masks) > 1 and alike


LINEAR = both(option("surrogate", "kind", "ratio", "reinforce", "cispo"), option("penalty", "kl", "none"), one_advantage_each,
              option("aggregation", "kind", "seq_mean_token_mean", "seq_mean_token_sum"))


@defect("ADV-25c", LINEAR, "mistakes-mean-advantage", "mistakes-mean-advantage-reinforce",
        seen="atropos before c1bb4f33, of its example trainer", shows="responses of unequal advantages", stages=("loss",))
def mean_advantage_for_all(a):
    """The means of responses, of shape (B,), are multiplied by advantages of shape (B, 1), and the mean is over the matrix: every response
    has the mean advantage of all. Right: its own."""
    mask = a.second.get("mask") or [[True] * T for T in a.second["length"]]
    of_response = [next((x for x, m in zip(row, ms) if m), 0) for row, ms in zip(a.second["advantage"], mask)]
    mean = math.fsum(of_response) / len(of_response)
    if abs(mean) < 1e-9 * max(map(abs, of_response)):
        raise Undefined("what is left is rounding")
    a.second["advantage"] = [[mean] * len(row) for row in a.second["advantage"]]
    a.outputs = ("loss", "term", "dlogp")


def several_rows(o, b):
    return len(b["length"]) > 1 and not any(isinstance(x, str) for row in b.get("advantage", ()) for x in row)


@defect("ADV-25b", several_rows, "ragged", "uneven", "choices-surrogate-ppo_clip",
        seen="xtuner before #2095, whose prompts hide it where all tokens of a response have one advantage",
        shows="several responses packed in a row (here: the batch is one row, without prompts)", stages=("loss",))
def drifting_advantages(a):
    """The advantages of each response in a packed row are one longer than its tokens, so those of the first response are one token late,
    those of the second two, and so on. Right: each at its own token."""
    late = [x for row in a.second["advantage"] for x in row[:1] + row]
    for row in a.second["advantage"]:
        row[:], late = late[:len(row)], late[len(row):]
