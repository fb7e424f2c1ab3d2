"""The batches. Deterministic, small, and every number a short binary fraction that binary32 holds exactly.

A scenario makes a batch with every array, then keeps the arrays that the objective reads and those that the scenario tests. `wanted` says
for which objectives a scenario is useful.
"""
import math
import struct

from axes.choice import about

NAN, INF, MINUS_INF = "NaN", "Infinity", "-Infinity"


def binary32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


class Dice:
    """A small linear congruential generator (constants of Numerical Recipes): the same numbers every time."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 1664525 + 1013904223) % 2 ** 32
        return (self.state >> 8) * n >> 24

    def fraction(self, low, high, denominator):
        """A multiple of 1/denominator in [low, high]."""
        return low + self.below(int((high - low) * denominator) + 1) / denominator

    def signed(self, low, high, denominator):
        return self.fraction(low, high, denominator) * (1 - 2 * self.below(2))


# ---- the arrays that an objective reads

def surrogate_says(o, what, field="kind"):
    return about("surrogate", field, o["surrogate"][field], what)


def uses_ratio(o):
    penalty = o["penalty"]
    return surrogate_says(o, "ratio") is not False or (penalty["kl"] != "none" and penalty["kl_importance_weight"] != "none")


def needs_ratio(o):
    return uses_ratio(o) or o["weight"]["trust"] != "none"


def kl_in_reward(o):
    return o["reward"]["kl"] != "none"


def kl_in_loss(o):
    return o["penalty"]["kl"] != "none"


def reads_divergence(o):
    return o["penalty"]["kl"] == "external" or o["weight"]["trust"] == "divergence"


def kl_of_logp(o):
    """Is the KL estimated from log-probabilities, not given as a divergence?"""
    return o["penalty"]["kl"] not in ("none", "external")


STEP_CREDITS = ("step", "step_own", "episode_step", "step_gae")


def reads_steps(a):
    if a["credit"] not in STEP_CREDITS:
        return {"step_end"} if a["samples"] == "steps" else set()
    arrays = {"step_end"} | ({"step_reward"} if a["step_value"] != "response" else set())
    return arrays | ({"state"} if a["step_group"] in ("state", "history") else set())


def reads_tokens(a):
    arrays = {"logp_old", "sum_pi_squared"} if a["token_baseline"] != "none" else set()
    if a["kl_centred_coef"]:
        arrays |= {"logp_rollout", "logp_ref"}
    if a["marked"] != "none":
        arrays |= {"marked"}
    if a["bootstrap"] != "zero" or a["truncated_tail"]:
        arrays |= {"truncated"}
    arrays |= {"token_id"} if a["credit"] == "prefix_tree" else set()
    return arrays | ({"entropy"} if a["credit"] == "entropy_share" else set())


def reads_shaping(o):
    """The arrays that single choices of reward and advantage read."""
    arrays = {"rewards", "reward_weight"} if o["advantage"]["rewards"] == "each" else set()
    arrays |= reads_steps(o["advantage"]) | reads_tokens(o["advantage"])
    if o["reward"]["truncated"] == "scale":
        arrays.add("truncated")
    if o["advantage"]["entropy"] != "none":
        arrays.add("entropy")
    if o["advantage"]["teacher_coef"] or o["advantage"]["teacher_share"]:
        arrays |= {"logp_teacher", "logp_old"}
    if o["advantage"]["excluded"] != "none":
        arrays |= {"excluded"}
    return arrays


def reads(o, given=False):
    arrays = {"logp"}
    if not given:
        arrays |= {"reward"}
        if o["advantage"]["credit"] in ("gae", "step_gae"):
            arrays.add("value")
        if o["advantage"]["baseline"] == "external":
            arrays.add("baseline")
        if kl_in_reward(o):
            arrays |= {"logp_old", "logp_ref"}
        arrays |= reads_shaping(o)
    return arrays | read_by_loss(o)


LOGP = {"old": {"logp_old"}, "ref": {"logp_ref"}, "rollout": {"logp_rollout"}, "teacher": {"logp_teacher"}, "current": set(),
        "none": set(), "reference_free": set(), "total_variation": {"logp_old", "logp_rollout"}}


def read_by_own_terms(penalty):
    """The arrays that the penalties with a divisor of their own read."""
    arrays = {"correct": {"reward"}, "selected": {"nll_mask"}}.get(penalty["nll_on"], set())
    if penalty["nll_on"] != "none":
        arrays = arrays | {"teacher_gap": {"logp_teacher"}, "displacement": {"logp_old"}}.get(penalty["nll_form"], set())
        arrays |= {"logp_teacher"} if penalty["nll_weight"] == "teacher_gate" else set()
        arrays |= {"segment_end"} if penalty["nll_gate"] == "segment" else set()
    return arrays | (LOGP[penalty["preference_score"]] | {"reward"} if penalty["preference"] != "none" else set())


def names_segments(o):
    weight = o["weight"]
    names = [o["aggregation"]["kind"], *([o["ratio"]["level"]] if needs_ratio(o) else [])]
    names += [weight[f"{field}_level"] for field in ("rollout_is", "rollout_rs") if weight[field] != "none"]
    return any("segment_" in name for name in names)


def read_by_loss(o):
    penalty, weight = o["penalty"], o["weight"]
    arrays = LOGP[weight["off_policy_mask"]] | (LOGP[o["ratio"]["behaviour"]] if needs_ratio(o) else set()) | read_by_own_terms(penalty)
    if weight["policy_is"] != "none":
        arrays |= {"logp_old"}
    arrays |= surrogate_says(o, "reads") | surrogate_says(o, "reads", "bounds")
    if o["aggregation"]["kind"] == "token_mean_nonzero_std":
        arrays |= {"reward"}
    if kl_of_logp(o):
        arrays |= LOGP[penalty["kl_reference"]]
    if penalty["kl"] == "external":
        arrays |= {"divergence_ref"}
    if weight["trust"] == "divergence":
        arrays |= {"divergence_old"}
    if penalty["entropy_coef"] != 0:
        arrays |= {"entropy"}
    if weight["rollout_is"] != "none" or weight["rollout_rs"] != "none" or weight["rollout_veto"] != 0:
        arrays |= {"logp_old", "logp_rollout"}
    if weight["selected"] != "all":
        arrays |= {"selected"}
    if penalty["kl_on"] == "selected":
        arrays |= {"kl_mask"}
    if weight["truncated"] == "mask":
        arrays |= {"truncated"}
    if weight["fipo"] != "none":
        arrays |= {"logp_old"}
    if weight["external"] != "none":
        arrays |= {"external_weight"}
    if names_segments(o):
        arrays |= {"segment_end"}
    return arrays


PER_TOKEN = ("logp", "logp_old", "logp_ref", "logp_rollout", "logp_teacher", "sum_pi_squared", "entropy", "value",
             "step_reward", "step_end", "segment_end", "state", "token_id", "mask", "selected", "kl_mask", "nll_mask", "marked",
             "shaping_mask", "external_weight", "eps_low", "eps_high", "divergence_ref", "divergence_old", "advantage")
ORDER = ("group", "length", "reward", "rewards", "reward_weight", "truncated", "excluded", "baseline", "log_partition") + PER_TOKEN
COPIES = {"segment_end": "step_end", "token_id": "state", "kl_mask": "selected", "nll_mask": "selected", "marked": "selected",
          "shaping_mask": "selected"}  # equal to that array unless a case says otherwise
LATER = {"excluded", "eps_low", "eps_high", "divergence_ref", "divergence_old"}  # present only if an objective reads them


def like(lengths, f):
    return [[f(i, t) for t in range(T)] for i, T in enumerate(lengths)]


def squares(logp, spare):
    """A possible sum of squared probabilities where one token has probability p: from p^2 to p^2 + (1 - p)^2."""
    p = math.exp(logp)
    return math.ceil(256 * (p * p + spare * (1 - p) ** 2)) / 256


def full(o, groups, lengths, seed, d=None, reward=None, f_gap=None, b_gap=None, mask=None, more=()):
    """A batch with every array.

    groups: sizes; d(dice, i, t): log-ratio l - o (l - b, l - f when the ratio is against those); f_gap, b_gap: how far
    reference and rollout are; mask: {(i, t) that are masked}; more: optional arrays to show besides what is read.
    """
    dice = Dice(seed)
    d = d or (lambda dice, i, t: dice.signed(0, 0.75, 64))
    f_gap = f_gap or (lambda dice, i, t: dice.signed(1 / 64, 0.5, 64))
    # two responses of three are within 0.1 % of the sampler, one is not
    b_gap = b_gap or (lambda dice, i, t: dice.signed(0, 3 / 4096, 4096) if i % 3 < 2 else dice.signed(0, 0.75, 64))
    batch = {"group": [g for g, size in enumerate(groups) for _ in range(size)], "length": list(lengths)}
    ratio, f_gaps, b_gaps = (like(lengths, lambda i, t: f(dice, i, t)) for f in (d, f_gap, b_gap))
    # so low that no log-probability is above 0
    room = lambda i, t: max(0, ratio[i][t]) + max(0, f_gaps[i][t], b_gaps[i][t])
    o_lp = like(lengths, lambda i, t: -dice.fraction(1 / 8, 2, 64) - room(i, t))
    batch["logp"] = like(lengths, lambda i, t: o_lp[i][t] + ratio[i][t])
    batch["logp_old"] = o_lp
    near = "logp" if kl_of_logp(o) else "logp_old"
    batch["logp_ref"] = like(lengths, lambda i, t: batch[near][i][t] + f_gaps[i][t])
    batch["logp_rollout"] = like(lengths, lambda i, t: o_lp[i][t] + b_gaps[i][t])
    if o["ratio"]["behaviour"] == "rollout":
        batch["logp_old"], batch["logp_rollout"] = batch["logp_rollout"], batch["logp_old"]
    if o["ratio"]["behaviour"] == "ref":
        batch["logp_old"], batch["logp_ref"] = batch["logp_ref"], batch["logp_old"]
    batch["reward"] = list(reward) if reward else [dice.fraction(-1, 2, 4) + i / 64 for i in range(len(lengths))]
    batch["baseline"] = [dice.fraction(-1, 1, 8) for _ in groups]
    batch["truncated"] = [dice.below(4) == 0 for _ in lengths]
    batch["entropy"] = like(lengths, lambda i, t: dice.fraction(0, 2, 16))
    batch["value"] = like(lengths, lambda i, t: dice.signed(0, 1, 16))
    batch["step_reward"] = like(lengths, lambda i, t: dice.fraction(-1, 1, 8))
    batch["step_end"] = like(lengths, lambda i, t: t == lengths[i] - 1 or dice.below(3) == 0)
    batch["rewards"] = [[dice.fraction(-1, 2, 4), dice.fraction(0, 1, 2)] for _ in lengths]
    batch["reward_weight"] = [1, 0.5]
    batch["logp_teacher"] = like(lengths, lambda i, t: -dice.fraction(1 / 8, 3, 64))
    if mask is not None:
        batch["mask"] = like(lengths, lambda i, t: (i, t) not in mask)
    batch["selected"] = like(lengths, lambda i, t: dice.below(3) == 0)
    batch["log_partition"] = [dice.fraction(-1, 1, 16) for _ in groups]
    batch["state"] = like(lengths, lambda i, t: dice.below(2))
    batch["sum_pi_squared"] = like(lengths, lambda i, t: squares(batch["logp_old"][i][t], dice.fraction(0, 0.75, 8)))
    if o["advantage"]["scale"] == "beta":  # which allows only rewards in [0, 1]
        batch["reward"] = [min(1, max(0, r)) for r in batch["reward"]]
    if o["weight"]["external"] != "none":
        batch["external_weight"] = like(lengths, lambda i, t: dice.fraction(0, 2, 8))
    batch["excluded"] = [dice.below(3) == 0 for _ in lengths]
    for key in ("eps_low", "eps_high"):
        batch[key] = like(lengths, lambda i, t: dice.fraction(1 / 8, 5 / 8, 16))
    batch["divergence_ref"] = like(lengths, lambda i, t: dice.fraction(0, 0.5, 64))
    batch["divergence_old"] = like(lengths, lambda i, t: dice.fraction(0, 2, 64) / 2 ** 16)  # from 0 to 3e-5, for a bound of 1e-5
    batch.setdefault("external_weight", like(lengths, lambda i, t: dice.fraction(0, 2, 8)))
    batch["more"] = set(more)
    return batch


def placed(o, seed, groups, a=None, **arrays):
    """A batch with these arrays, by their names in the batch; other log-probabilities are those of `full`."""
    batch = full(o, groups, [len(row) for row in arrays["logp"]], seed)
    batch.update({key: [list(row) for row in rows] for key, rows in arrays.items()})
    if a is not None:
        batch["advantage"] = [list(row) for row in a]
    return batch


def completed(batch):
    for new, like_this in COPIES.items():
        if like_this in batch:
            batch.setdefault(new, batch[like_this])
    return batch


def finish(o, batch):
    """Keeps the arrays that are read and those that the scenario tests."""
    completed(batch)
    keep = reads(o, "advantage" in batch) | batch.pop("more") | {"group", "length", "mask", "advantage"}
    return {key: batch[key] for key in ORDER if key in keep and key in batch}


# ---- scenarios

SCENARIOS = []


def scenario(name, comment, wanted=lambda o: True, adapt=None):
    """Registers make(objective) -> batch with every array. adapt: fields of the objective that the scenario changes."""
    def register(make):
        SCENARIOS.append((name, comment, wanted, adapt, make))
        return make
    return register


def any_of(*tests):
    return lambda o: any(test(o) for test in tests)


def all_of(*tests):
    return lambda o: all(test(o) for test in tests)


def stepwise(o):
    return o["advantage"]["credit"] in STEP_CREDITS


def rewarded(o):
    return o["advantage"]["credit"] not in ("step", "step_own", "step_gae")


def compares(o):
    """Does the advantage depend on other responses?"""
    return rewarded(o) and (o["advantage"]["baseline"] not in ("none", "external") or o["advantage"]["scale"] != "none")


def grouped(o):
    return (o["advantage"]["baseline"] in ("group_mean", "leave_one_out", "length_weighted", "quantile", "quantile_linear",
                                           "log_mean_exp", "hdi_median", "kalman")
            or o["advantage"]["scale"] in ("group_std", "group_mean", "leave_one_out_std", "residual_rms",
                                           "mean_absolute_deviation")) and any_size(o)


def any_size(o):
    """May groups have one response?"""
    return o["advantage"]["pass_k"] <= 1 and not is_weighed(o)


def unit(o):
    return o["ratio"]["level"] != "token"


def clips(o):
    return o["surrogate"]["kind"] in ("ppo_clip", "dual_clip", "cispo") or o["ratio"]["level"] in ("sequence_clipped_mean",
        "sequence_power_mean")


def corrected(o):
    return o["weight"]["rollout_is"] != "none" or o["weight"]["rollout_rs"] != "none" or o["weight"]["rollout_veto"] != 0


@scenario("ragged", "two groups of different size, responses of 1 to 6 tokens, ratios inside and outside of the usual clips")
def ragged(o):
    return full(o, (3, 2), (4, 1, 6, 2, 3), 11)


@scenario("full", "all responses have the same length, so means over tokens and means over responses agree")
def equal_lengths(o):
    return full(o, (2, 2), (3, 3, 3, 3), 12)


@scenario("square", "as many responses as the longest has tokens: a transposed or broadcast axis does not show in the shapes")
def square(o):
    return full(o, (2, 2), (4, 2, 3, 1), 13)


@scenario("one-token", "every response is one token: a mean and a sum over its tokens are the same")
def one_token(o):
    return full(o, (2, 2), (1, 1, 1, 1), 14)


@scenario("near", "log-ratios from 1e-7 to 1e-3: e^x - x - 1 and e^x - 1 lose most digits if computed as written",
          any_of(uses_ratio, kl_of_logp))
def near(o):
    sizes = (1, 7, 80, 900, 8000)  # in units of 2^-23
    step = lambda dice, i, t: (1 - 2 * dice.below(2)) * sizes[(i + 2 * t) % 5] / 2 ** 23
    batch = full(o, (2, 2), (3, 2, 1, 3), 15, d=step, f_gap=step, b_gap=step)
    # all values in [-2, -1], where 2^-23 is the spacing of binary32
    shift = lambda x: x if -2 <= x <= -1 else -1.5 + (x - round(x * 64) / 64)
    for key in ("logp", "logp_old", "logp_ref", "logp_rollout"):
        batch[key] = like(batch["length"], lambda i, t: shift(batch[key][i][t]))
    return batch


@scenario("fine", "the responses' mean log-ratios are below, inside and above a clip of a few 1e-4, for A of both signs",
          lambda o: o["surrogate"]["kind"] == "ppo_clip" and o["surrogate"]["eps_high"] < 0.01)
def fine(o):
    # means of -2e-3, -2e-4, 1e-4, 5e-4, 4e-3 or so, for responses of both signs of A
    means = (40, -8, 2, -40, 3, -2, 8, -3)
    return full(o, (4, 4), (2, 3, 1, 2, 3, 2, 1, 2), 16, d=lambda dice, i, t: means[i] / 8192 + (1 - 2 * (t % 2)) / 65536,
                reward=(1, 0, 1, 0, 0, 1, 0, 1))


@scenario("on-policy", "all policies equal: every ratio is exactly 1, nothing is clipped, every KL is 0",
          any_of(uses_ratio, kl_of_logp, kl_in_reward))
def on_policy(o):
    zero = lambda dice, i, t: 0
    return full(o, (2, 2), (2, 1, 3, 1), 17, d=zero, f_gap=zero, b_gap=zero)


@scenario("extreme-50", "log-ratios of +-20 (exactly the bound of some clamps), +-20.5 and +-50, for A of both signs",
          uses_ratio)
def extreme_50(o):
    values = ((20, -20), (-50,), (0.25, -20.5), (50,), (20.5,), (-0.25, 0.125))
    return full(o, (3, 3), [len(v) for v in values], 18, d=lambda dice, i, t: values[i][t], reward=(1, 1, 0, 0, 0, 1))


@scenario("extreme-200", "log-ratios of +-200: e^200 overflows binary32, e^-200 underflows it", uses_ratio)
def extreme_200(o):
    values = ((200,), (-0.25, 0.5), (-200, 0.25), (0.125,))
    return full(o, (2, 2), [len(v) for v in values], 19, d=lambda dice, i, t: values[i][t], reward=(0, 1, 0, 1))


@scenario("extreme-700", "log-ratios of +-700: e^700 and e^-700 are just inside binary64, their squares are not",
          uses_ratio)
def extreme_700(o):
    values = ((700,), (0.25, -0.125), (-700,), (0.5,))
    return full(o, (2, 2), [len(v) for v in values], 60, d=lambda dice, i, t: values[i][t], reward=(0, 1, 1, 0))


def below(dice, i, t):
    """A reference below the policy: D > 0, so that an infinite ratio times a KL has the same sign in value and gradient."""
    return -dice.fraction(1 / 64, 0.5, 64)


@scenario("extreme-800-good", "log-ratio 800 where A > 0 and -800 where A < 0: e^800 overflows binary64, e^-800 underflows", uses_ratio)
def extreme_800_good(o):
    values = ((800,), (-800,), (0.25, -0.125))
    return full(o, (3,), [len(v) for v in values], 20, d=lambda dice, i, t: values[i][t], reward=(1, -1, 0.5), f_gap=below)


@scenario("extreme-800-bad", "log-ratio 800 where A < 0 and -800 where A > 0: the loss is infinite where no clip bounds it", uses_ratio)
def extreme_800_bad(o):
    values = ((-800,), (800,), (0.25, -0.125))
    return full(o, (3,), [len(v) for v in values], 21, d=lambda dice, i, t: values[i][t], reward=(1, -1, 0.5), f_gap=below)


@scenario("all-clipped-high",
          "every token has A > 0 and a ratio above the upper clip: a clipped objective has gradient 0 everywhere", clips)
def all_clipped_high(o):
    batch = full(o, (2,), (2, 3), 22, d=lambda dice, i, t: dice.fraction(2, 3, 8))
    batch["advantage"] = like(batch["length"], lambda i, t: (4 + i + t) / 4)
    return batch


@scenario("all-clipped-low", "every token has A < 0 and a ratio below the lower clip: a clipped objective has gradient 0 everywhere", clips)
def all_clipped_low(o):
    batch = full(o, (2,), (2, 3), 23, d=lambda dice, i, t: -dice.fraction(2, 3, 8))
    batch["advantage"] = like(batch["length"], lambda i, t: -(4 + i + t) / 4)
    return batch


@scenario("signs",
          "given advantages that are positive, negative and 0 inside a response, each with a ratio below, inside and above the clip")
def signs(o):
    d = ((-2, 0.0625, 2), (2, -0.0625, -2, 1.25), (2, -2, 0.125), (0.03125, 1.5))
    a = ((1, 0.5, -0.75), (1.25, -1, 0, 0.25), (0, -0.5, -1.5), (-0.25, -1))
    batch = full(o, (2, 2), [len(x) for x in d], 24, d=lambda dice, i, t: d[i][t])
    batch["advantage"] = [list(x) for x in a]
    return batch


@scenario("all-zero-advantage", "given advantages that are all 0 in one group and 0 but for a single token in the other",
          lambda o: o["aggregation"]["empty_sequences"] == "keep" and uses_ratio(o) and unit(o))
def zero_advantages(o):
    batch = full(o, (2, 1), (1, 2, 2), 25, d=lambda dice, i, t: dice.signed(0.5, 2, 8))
    batch["advantage"] = [[0], [0, 0], [0, -1]]
    return batch


@scenario("equal-rewards",
          "eight equal rewards of 0.7, which binary fractions cannot hold: A must be exactly 0, no rounding error scaled up",
          compares)
def equal_rewards(o):
    x = binary32(0.7)
    return full(o, (8, 2), (1,) * 10, 26, reward=[x] * 8 + [x, 1])


@scenario("all-equal-rewards", "every reward of the batch is 0.1, so every difference and every deviation is exactly 0",
          compares)
def all_equal_rewards(o):
    return full(o, (3, 2), (1, 2, 1, 1, 1), 27, reward=[binary32(0.1)] * 5)


@scenario("offset-rewards", "rewards of 1e7 and 1e7 + 1: the spread is in the last bit of binary32, squares of rewards lose it", rewarded)
def offset_rewards(o):
    return full(o, (3, 2), (1, 2, 1, 1, 2), 28, reward=[1e7, 1e7 + 1, 1e7, 1e7 + 1, 1e7])


@scenario("singleton", "groups of one, two and one response: a lone response has nothing to be compared with",
          all_of(grouped, rewarded))
def singleton(o):
    return full(o, (1, 2, 1), (2, 1, 2, 1), 29, reward=(1, 1, -0.5, 0.75))


@scenario("singleton-step", "a group whose only response has one step, and a group with three steps",
          stepwise)
def singleton_step(o):
    batch = full(o, (1, 2), (2, 3, 1), 30)
    batch["step_end"] = [[False, True], [True, False, True], [True]]
    return batch


@scenario("uneven", "groups of two, four and three responses, one of them with equal rewards",
          all_of(compares, rewarded))
def uneven(o):
    return full(o, (2, 4, 3), (2, 1, 1, 3, 1, 2, 1, 1, 2), 31, reward=(1, 0, 0.5, 0.5, 0.5, 0.5, 1, 0, 0.25))


@scenario("fully-masked", "one response whose tokens are all masked, and one group with no other response")
def fully_masked(o):
    return full(o, (2, 2, 1), (2, 3, 2, 1, 2), 32, mask={(1, 0), (1, 1), (1, 2), (4, 0), (4, 1)}, reward=(1, 0, 0.5, 1, 0.25))


@scenario("holes", "masked tokens (such as tool output) in the middle, at the start and at the end of responses")
def holes(o):
    return full(o, (2, 2), (5, 4, 3, 2), 33, mask={(0, 1), (0, 2), (1, 0), (2, 2), (3, 0)})


@scenario("nan-masked", "masked tokens hold NaN and infinities in every array: no output may change or become NaN")
def nan_masked(o):
    masked = {(0, 1): NAN, (0, 2): INF, (1, 0): MINUS_INF, (2, 0): NAN, (2, 1): NAN}
    batch = full(o, (2, 2), (4, 2, 2, 1), 34, mask=set(masked), reward=(1, 0, 0.5, -0.5))
    for key in ("logp", "logp_old", "logp_ref", "logp_rollout", "logp_teacher", "entropy", "value", "step_reward"):
        for (i, t), junk in masked.items():
            batch[key][i][t] = junk
    for i, t in masked:
        batch["step_end"][i][t] = True
    return batch


@scenario("nan-masked-given", "masked tokens hold NaN and infinities in log-probabilities and given advantages",
          uses_ratio)
def nan_masked_given(o):
    batch = full(o, (2,), (3, 1), 35, mask={(0, 0), (0, 2)})
    batch["advantage"] = [[NAN, 0.5, INF], [-1]]
    batch["logp"][0][0] = batch["logp"][0][2] = NAN
    return batch


@scenario("everything-masked", "every token of the batch is masked: loss 0, gradient 0, no NaN from 0/0")
def everything_masked(o):
    return full(o, (2, 1), (1, 2, 1), 36, mask={(0, 0), (1, 0), (1, 1), (2, 0)})


def with_infinity(o, seed, places, arrays, reward=(1, -1, 0.5)):
    batch = full(o, (3,), (2, 2, 1), seed, reward=reward, f_gap=below)
    for key in arrays:
        for i, t in places:
            batch[key][i][t] = MINUS_INF
    if "logp_old" in arrays and "logp_rollout" not in arrays and corrected(o):
        for i, t in places:  # so that the correction weight is 1
            batch["logp_rollout"][i][t] = MINUS_INF
    # so that the KL is small, except where the scenario tests the reference
    follows = "logp" if kl_of_logp(o) else "logp_old"
    if follows in arrays and "logp_ref" not in arrays:
        for i, t in places:
            batch["logp_ref"][i][t] = MINUS_INF
    return batch


def denominator(o):
    return "logp_old" if o["ratio"]["behaviour"] == "old" else "logp_rollout"


@scenario("neginf-policy-good", "the policy gives probability 0 to a token with A > 0 (the reference too): ratio 0")
def neginf_policy_good(o):
    return with_infinity(o, 37, [(0, 1)], ["logp"])


@scenario("neginf-policy-bad", "the policy gives probability 0 to a token with A < 0 (the reference too): ratio 0")
def neginf_policy_bad(o):
    return with_infinity(o, 38, [(1, 0)], ["logp"])


@scenario("neginf-old-good", "the behaviour policy gave probability 0 to a token with A > 0: an infinite ratio", uses_ratio)
def neginf_old_good(o):
    return with_infinity(o, 39, [(0, 0)], [denominator(o)])


@scenario("neginf-old-bad",
          "the behaviour policy gave probability 0 to a token with A < 0: infinite ratio, infinite loss if unbounded", uses_ratio)
def neginf_old_bad(o):
    return with_infinity(o, 40, [(1, 1)], [denominator(o)])


@scenario("neginf-both", "all policies give probability 0 to a token: -inf minus -inf counts as a log-ratio of 0, not NaN",
          any_of(uses_ratio, kl_of_logp, kl_in_reward))
def neginf_both(o):
    return with_infinity(o, 41, [(0, 0)], ["logp", "logp_old", "logp_ref", "logp_rollout"])


@scenario("neginf-pair", "one response has log-ratios of +infinity and -infinity: they cancel, its mean or summed log-ratio is finite",
          unit)
def neginf_pair(o):
    batch = with_infinity(o, 42, [(0, 1)], [denominator(o)])
    batch["logp"][0][0] = MINUS_INF
    if kl_of_logp(o):
        batch["logp_ref"][0][0] = MINUS_INF
    return batch


@scenario("neginf-ref", "the reference policy gives probability 0 to a token, so its KL may be infinite", kl_of_logp)
def neginf_ref(o):
    return with_infinity(o, 43, [(0, 1)], ["logp_ref"])


@scenario("neginf-policy-kl", "the policy gives probability 0 to a token, the reference does not: the KL's log-ratio is -infinity",
          kl_of_logp)
def neginf_policy_kl(o):
    batch = with_infinity(o, 44, [(1, 0)], ["logp"])
    batch["logp_ref"][1][0] = -1.25
    return batch


@scenario("overlong",
          "overlong punishment from 4 to 8 tokens: lengths at, inside and beyond that range; a masked token counts in the length",
          lambda o: o["reward"]["overlong"] != "none", {"reward": {"overlong_max": 8, "overlong_cache": 4}})
def overlong(o):
    # a masked token still counts in the length
    return full(o, (2, 3), (4, 5, 8, 9, 1), 45, reward=(1, 1, 1, -1, 0.5), mask={(1, 2)})


@scenario("overlong-equal", "equal rewards, unequal lengths: the overlong punishment (from 2 to 4 tokens) alone makes the advantages",
          lambda o: o["reward"]["overlong"] != "none", {"reward": {"overlong_max": 4, "overlong_cache": 2}})
def overlong_equal(o):
    return full(o, (3,), (2, 3, 5), 46, reward=(1, 1, 1))


@scenario("truncated", "truncated responses are masked in the loss but still count in their group's mean and deviation",
          lambda o: o["weight"]["truncated"] == "mask")
def truncated(o):
    batch = full(o, (2, 2), (3, 2, 1, 2), 47, reward=(1, 0, 0.5, 1))
    batch["truncated"] = [True, False, False, True]
    return batch


@scenario("all-truncated", "every response is truncated and masked in the loss: loss 0, no 0/0",
          lambda o: o["weight"]["truncated"] == "mask")
def all_truncated(o):
    batch = full(o, (2,), (2, 1), 48, reward=(1, 0))
    batch["truncated"] = [True, True]
    return batch


@scenario("rollout", "weights of old over rollout policy inside, outside on both sides of the usual bounds, and exactly 1",
          any_of(corrected, lambda o: o["ratio"]["behaviour"] == "rollout"))
def rollout(o):
    gaps = ((0, 0.5, -0.5), (-1.75, 0.25), (0, 0), (2, -2.25, 0.125, 0.0625), (-0.0078125, 0.0078125), (0.25, -0.25, -0.5))
    return full(o, (3, 3), [len(g) for g in gaps], 49, b_gap=lambda dice, i, t: gaps[i][t], d=lambda dice, i,
                t: dice.signed(0, 0.25, 64),
                reward=(1, 0, 0.5, 0, 1, 1), more=("logp_old",))


@scenario("rollout-far", "the rollout policy is far off: weights of old over rollout policy of e^-50, e^12 and e^50",
          corrected)
def rollout_far(o):
    gaps = ((50,), (-12, 0.125), (-50,), (0.0625, -0.0625))
    return full(o, (2, 2), [len(g) for g in gaps], 50, b_gap=lambda dice, i, t: gaps[i][t], reward=(1, 0, 1, 0))


@scenario("neginf-rollout", "the rollout policy reports probability 0 for a token: an infinite weight of old over rollout policy",
          corrected)
def neginf_rollout(o):
    return with_infinity(o, 51, [(0, 1)], ["logp_rollout"])


@scenario("reference", "log-ratios to the reference policy from 1e-7 to 30, of both signs",
          any_of(kl_of_logp, kl_in_reward))
def reference(o):
    gaps = ((2 ** -23, -1, 0.125), (-30, 2 ** -18), (30, -2 ** -13), (-2 ** -23, 1), (4, -4))
    batch = full(o, (2, 3), [len(g) for g in gaps], 52, d=lambda dice, i, t: dice.signed(0, 0.125, 64),
                 f_gap=lambda dice, i, t: gaps[i][t])
    near = "logp" if kl_of_logp(o) else "logp_old"
    for i, row in enumerate(gaps):
        for t, gap in enumerate(row):
            if abs(gap) < 1e-3:  # to about -1, where binary32 can hold the difference
                shift = -1.25 - batch["logp_old"][i][t]
                batch["logp_old"][i][t] += shift
                batch["logp"][i][t] += shift
                batch["logp_ref"][i][t] = batch[near][i][t] + gap
    return batch


@scenario("reference-far", "the reference's log-probability is 200 above and 200 below the policy's", kl_of_logp)
def reference_far(o):
    gaps = ((200,), (-200, 0.25))
    return full(o, (2,), [len(g) for g in gaps], 53, f_gap=lambda dice, i, t: gaps[i][t], reward=(1, 0))


@scenario("kl-bounded", "KL estimates inside and beyond their clamp, before and after weights of e^+-1; log-ratios beyond their own clamp",
          lambda o: o["penalty"]["kl_reference"] in ("ref", "teacher") and (o["penalty"]["kl_clamp_value"] or o["penalty"]["kl_clamp_log"]))
def kl_bounded(o):
    beyond = (o["penalty"]["kl_clamp_log"] or 12) + 1
    gaps = ((3, -12, 0.25), (2.25, -8.5, 2.5), (-beyond, 0.5), (beyond,))
    d = ((-1, 0.25, 0.125), (1, 1, -0.25), (-0.125, 0.25), (-0.5,))
    batch = full(o, (2, 2), [len(g) for g in gaps], 68, d=lambda dice, i, t: d[i][t], f_gap=lambda dice, i, t: gaps[i][t],
                 reward=(1, 0, 0, 1))
    batch["logp_teacher"] = batch["logp_ref"]
    return batch


@scenario("steps", "steps of different number and length; masked tokens hold a step end and step rewards, which do not count",
          stepwise)
def step_rewards(o):
    batch = full(o, (2, 2), (6, 4, 3, 2), 54, mask={(0, 2), (1, 3), (2, 0)})
    batch["step_end"] = [[False, True, True, False, True, False], [True, False, True, True], [True, True, False], [False, False]]
    return batch


@scenario("values", "GAE with masked tokens inside the response: its differences and its trace skip them",
          lambda o: o["advantage"]["credit"] in ("gae", "step_gae"))
def values(o):
    return full(o, (1, 2), (6, 3, 2), 55, mask={(0, 1), (0, 2), (0, 5), (1, 0)}, reward=(1, -0.5, 0))


@scenario("returns", "discounted returns with masked tokens inside the response: they are skipped, the sum is not reset there",
          lambda o: o["advantage"]["credit"] == "return")
def returns(o):
    return full(o, (2, 1), (5, 3, 2), 56, mask={(0, 1), (0, 4), (1, 0)}, reward=(1, -0.5, 0.25))


@scenario("reported", "entropy and all policies are given: what the loss does not read changes the report only",
          lambda o: not (kl_in_reward(o) or corrected(o)))
def reported(o):
    more = {"entropy", "logp_ref"} | ({"logp_old"} if o["ratio"]["behaviour"] == "old" else {"logp_old", "logp_rollout"})
    return full(o, (2,), (3, 2), 57, reward=(1, 0), more=more)


def distrusts(o):
    return o["weight"]["trust"] != "none" or o["weight"]["off_policy_mask"] in ("old", "rollout")


@scenario("likely", "tokens of probability 0.1 to 0.9 that change by tenths; responses with A < 0 far from the behaviour policy",
          distrusts)
def likely(o):
    d = ((0.75, 0.5, 1), (-0.75, -1, -0.5), (0.5, -0.25), (-1.25, -0.125))
    return full(o, (2, 2), [len(x) for x in d], 62, d=lambda dice, i, t: d[i][t], reward=(1, 0, 0.75, -0.5))


@scenario("lagged", "VACO: responses near and far from the rollout policy, tokens with A and log-weight of either sign",
          lambda o: o["weight"]["off_policy_mask"] == "total_variation")
def lagged(o):
    gaps = ((-2, 0.5, -1), (-1.5, -0.125), (0, 0.25), (-3, 1, 2, 0.75))
    batch = full(o, (2, 2), [len(g) for g in gaps], 63, b_gap=lambda dice, i, t: gaps[i][t], reward=(1, 0, 0.75, -0.5))
    return batch


@scenario("two-wrong", "two responses with reward 1 and two with reward 0, whose scores are far apart",
          lambda o: o["surrogate"]["kind"] in ("discriminative_mean", "discriminative_lse", "contrastive"))
def two_wrong(o):
    batch = full(o, (4,), (2, 1, 2, 1), 64, reward=(1, 0, 0, 1))
    batch["logp"] = [[-1, -0.5], [-6.25], [-0.5, -0.25], [-12]]
    d = ((0.25, -0.25), (-1,), (1.5, 1), (-0.5,))
    batch["logp_old"] = [[l - x for l, x in zip(*rows)] for rows in zip(batch["logp"], d)]
    return batch


@scenario("some-right", "two of four and one of three responses succeed: some sets of k responses hold a success, others do not",
          lambda o: o["advantage"]["pass_k"] > 1)
def some_right(o):
    return full(o, (4, 3), (2, 1, 2, 1, 1, 2, 1), 66, reward=(1, 0, 0, 1, 0, 1, 0))


@scenario("long-enough", "responses of 24 and 40 tokens, so that GAE's lambda by length is not 0",
          lambda o: o["advantage"]["lambda_length"] != 0)
def long_enough(o):
    return full(o, (2,), (24, 40), 67, reward=(1, -0.5))


@scenario("far-rewards", "rewards up to 3 apart in a group: preference pairs exist even if they need a difference above two",
          lambda o: o["penalty"]["preference"] != "none" and o["penalty"]["preference_min_gap"] >= 1)
def far_rewards(o):
    return full(o, (3, 2), (2, 1, 3, 1, 2), 65, reward=(2, -1, 0.5, -0.5, 2.5))


def is_weighed(o):
    """Does only this objective read weights or divergences of tokens, or states with segments? Its case has all arrays that others read."""
    both = o["advantage"]["step_group"] == "state" and o["aggregation"]["kind"] == "seq_mean_segment_mean"
    return o["weight"]["external"] != "none" or reads_divergence(o) or both


def is_special(o):
    """Does it differ from similar objectives only with states, squared probabilities and rewards between 0 and 1?"""
    a = o["advantage"]
    return (is_weighed(o) or a["step_group"] in ("state", "history") or a["token_baseline"] != "none" or a["scale"] == "beta"
            or a["transform"] in ("pkpo_max", "pkpo_gain", "pkpo_loo", "pkpo_maxrl"))


def lacks_entropy_elsewhere(o):
    """It reads states, and entropies in the loss; it needs a case of its own to differ from objectives that read a partition function."""
    return o["advantage"]["step_group"] in ("state", "history") and o["penalty"]["entropy_coef"] != 0


@scenario("every-array", "one batch with every array, the same for all objectives: any two objectives differ in some number here")
def every_array(o):
    # ratios in the units of the widths of clips, from 3e-4 (means over responses) to beyond 5, for A of both signs
    d = ((0.21875, 1.75, -0.5, 0.0625), (1.25,), (1.5, -0.25, 0.125), (0, 0), (0.25, -0.25 + 3 / 4096),
         (-0.25, 0.203125, 0.375, 0, 0.0078125), (0.5, -0.125))
    # of rollout over old: inside and on both sides of bands of 0.1 % (means over responses), 0.5 to 2 (products) and 0.5 to 5
    b = ((0, 0.5, -1, -1.75), (1 / 2048,), (0.125, -0.125, 1 / 1024), (0, 0), (1, -0.875), (-0.25, -0.375, 0.0625, 0, -0.25),
         (0.25, 0.5))
    batch = full(o, (4, 2, 1) if any_size(o) else (4, 3), [len(x) for x in d], 61, d=lambda dice, i, t: d[i][t], b_gap=lambda dice, i,
                 t: b[i][t],
                 mask={(3, 0), (3, 1), (5, 3)}, reward=(1, 0, 0.25, 0.5, -0.5, 1.5, 0.75),
                 more=set(ORDER) - LATER - {"advantage"} - (set() if is_weighed(o) else {"external_weight"})
                 - (set() if is_weighed(o) or lacks_entropy_elsewhere(o) else {"log_partition"})
                 - (set() if is_special(o) else {"state", "token_id", "sum_pi_squared"})
                 | ({"divergence_ref", "divergence_old"} if reads_divergence(o) else set()))
    if is_special(o):
        batch["reward"] = [min(1, max(0, r)) for r in batch["reward"]]
    batch["truncated"] = [i == 2 for i in range(len(d))]
    batch["value"][1][0] = 0.75  # a critic's advantage below 0 where the ratio is above 3
    # no two masks are equal, so that a confusion of two shows; all responses of a prompt share the first token, pairs share all
    batch["kl_mask"] = like(batch["length"], lambda i, t: (i + t) % 2 == 0)
    batch["nll_mask"] = like(batch["length"], lambda i, t: (i + t) % 3 != 1)
    batch["marked"] = like(batch["length"], lambda i, t: (i + 2 * t) % 3 == 0)
    batch["shaping_mask"] = like(batch["length"], lambda i, t: (2 * i + t) % 3 != 2)
    batch["segment_end"] = like(batch["length"], lambda i, t: t + 1 == batch["length"][i] or (i + t) % 3 == 0)
    batch["token_id"] = like(batch["length"], lambda i, t: i // 2 if t else 0)
    return batch


@scenario("tiny-spread", "rewards 1e-5 and 1e-3 apart: standard deviations far below and near the usual epsilons",
          lambda o: compares(o) and o["advantage"]["scale"] != "none")
def tiny_spread(o):
    reward = [1 + 1e-5 * i for i in range(8)] + [0.5 + 1e-3 * i for i in range(3)]
    return full(o, (8, 3), (1,) * 11, 59, reward=[binary32(r) for r in reward])


@scenario("long", "one response of thousands of tokens beside one of three: sums must not lose digits")
def long(o):
    values = (1 / 64, -1 / 64, 0, 1 / 32, -3 / 64)
    longest = 4096 if o["ratio"]["level"] == "token" else 2048
    batch = full(o, (2,), (longest, 3), 58, reward=(1, 0), d=lambda dice, i, t: values[dice.below(5)],
                 f_gap=lambda dice, i, t: values[dice.below(3)])
    olds = (-0.5, -0.25, -1, -2)
    for key in ("logp", "logp_ref", "logp_rollout"):
        batch[key] = like(batch["length"], lambda i, t: batch[key][i][t] - batch["logp_old"][i][t] + olds[t % 4])
    batch["logp_old"] = like(batch["length"], lambda i, t: olds[t % 4])
    return batch


# The sets of scenarios that a row may name in rows.txt. A row that recombines choices needs few: the cases of single choices test every
# choice in detail.
EVERY = tuple(scenario[0] for scenario in SCENARIOS if scenario[0] != "long")
LIBRARY = ("signs", "singleton", "every-array", "values", "likely", "lagged", "kl-bounded")
SETS = {
    "long": EVERY + ("long",),  # with a response of thousands of tokens
    "every": EVERY,
    "corners": ("extreme-50", "signs", "equal-rewards", "singleton", "holes", "every-array", "steps", "values", "returns", "likely",
                "lagged", "some-right", "long-enough", "far-rewards", "kl-bounded"),
    "library-in-full": LIBRARY + ("ragged", "tiny-spread"),  # for rows of the libraries in which most mistakes were seen
    "library": LIBRARY,
    "short": ("singleton", "every-array", "steps", "some-right", "kl-bounded"),
    # the default; the first one has a group of one response
    "small": ("every-array", "steps", "values", "two-wrong", "some-right", "long-enough", "far-rewards", "kl-bounded"),
}
IN_FULL = ("long", "every", "library-in-full")  # rows with these sets record mistakes in full, other rows by one number
