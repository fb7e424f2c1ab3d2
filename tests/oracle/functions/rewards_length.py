"""Rewards by length, cost, calls and repetition."""
import itertools
import math
import statistics
from fractions import Fraction

import reals
from functions.arithmetic import (HALF, NOTHING, Number, by_group, itself, lengths_of, mean, own_tokens, per_group, places,
                                  population_deviation, real, rewards_of, sigmoid)
from functions.batches import TENTHS, marks, of_lengths, responses, tokens
from functions.comparing import cases_of, close, every, exactly, fraction, logistic, near, values
from functions.domains import COUNT, FLAG, FRACTION, INTEGER, NOT_NEGATIVE, NUMBER, POSITIVE, integer, many, one_of, reads
from functions.registry import cases, checks, function
from limits import ONE, ZERO


# ---- relative_cost_penalty

@function(reward=many(NUMBER))
def relative_cost_penalty(batch: reads("reward"), output: many(NOT_NEGATIVE), input: many(NOT_NEGATIVE), turns: many(NOT_NEGATIVE),
                  output_coef: NUMBER, input_coef: NUMBER, turns_coef: NUMBER):
    """prime-rl: penalties on costs relative to the group's largest cost, scaled by the group's mean reward.

    Source: prime-rl
    Takes: batch with `reward`; `output`, `input`, `turns` (N numbers >= 0 each), `output_coef`, `input_coef`, `turns_coef`
    Gives: `reward` (N): r_i - rbar sum over the three of coef x_i/max x, rbar and the maxima over the group, the quotient 0 if the
    maximum is 0; scale abs(r_i) + (mean abs(r) of the group) sum abs(coef x_i/max x)
    """
    r = [Fraction(x) for x in batch["reward"]]
    shaped = {}
    for group in by_group(batch):
        share = lambda x, i: x[i] / max(x[j] for j in group) if any(x[j] for j in group) else Fraction(0)
        for i in group:
            costs = [output_coef * share(output, i), input_coef * share(input, i), turns_coef * share(turns, i)]
            size = abs(r[i]) + mean([abs(r[j]) for j in group]) * sum(abs(x) for x in costs)
            shaped[i] = Number(r[i] - mean([r[j] for j in group]) * sum(costs), size)
    return {"reward": [shaped[i] for i in range(len(r))]}


@cases("relative_cost_penalty")
def relative_cost_cases(case):
    COSTS = dict(output=[100, 50, 25, 10, 40], input=[7, 14, 0, 3, 3], turns=[1, 4, 2, 2, 2])

    def costly(label, comment, reward, group=(0, 0, 0, 1, 1), coefs=(0.25, 0.1, 0.1), **costs):
        made = {**COSTS, **costs}
        case(label, comment, responses(list(group), reward), **made,
             **dict(zip(("output_coef", "input_coef", "turns_coef"), coefs)))

    costly("plain", "each cost is a share of its group's largest", [1, 0, 1, 1, 1])
    costly("hopeless", "groups with a mean reward of 0: costs change nothing", [0, 0, 0, 1, -1])
    costly("negative", "groups with a negative mean reward: a cost raises the reward", [-1, 0.5, -0.25, -0.5, -1])
    costly("no-input", "the largest input cost of a group is 0: it costs nothing, and nothing is divided by 0",
           [1, 0.5, 1, 1, 0], input=[0] * 5, turns=[0, 0, 0, 2, 1])
    costly("one-coefficient", "only the coefficient of turns is not 0", [1, 0, 1, 1, 0.25], coefs=(0, 0, 0.5))
    costly("lone", "a single response has its group's largest costs", [1, 0, 0.25, 1, 0.75], (0, 0, 1, 2, 2))
    costly("small", "coefficient times cost underflows, the penalty of a response without a reward does not",
           [2.0 ** 100, 2.0 ** 100, 0, 1, 1], output=[0] * 5, coefs=(2.0 ** -100, 0, 2.0 ** -980), turns=[2.0 ** 60, 1, 2.0 ** -60, 2, 1])
    costly("thirds", "cost shares and mean rewards that are no binary fractions", [1, 0, 0, TENTHS, 1], output=[3, 7, 1, 11, 9],
           input=[6, 5, 2, 1, 13])


@checks("relative_cost_penalty")
def check_relative_cost_penalty(check):
    for label, given, batch in cases_of("relative_cost_penalty"):
        found = exactly("relative_cost_penalty", batch, **given)["reward"]
        free = exactly("relative_cost_penalty", batch, **{**given, "output_coef": 0, "input_coef": 0, "turns_coef": 0})["reward"]
        check(f"nothing costs: {label}", [n.value for n in free] == batch["reward"])
        for kind in ("output", "input", "turns"):
            scaled = exactly("relative_cost_penalty", batch, **{**given, kind: [3 * x for x in given[kind]]})["reward"]
            check(f"units of {kind} do not matter: {label}", scaled == found)


# ---- length_shape_reward

def parabola(x, p):
    off = (1 - x / p) ** 2 if x <= p else 2 * ((x - p) / (1 - p)) ** 2
    return Number(1 - off, 1 + off)


def polyline(x, p):
    off = 2 * (x - p) / (1 - p)
    return Number(x / p, x / p) if x <= p else Number(1 - off, 1 + off)


def triangle(x, p):
    if x <= p:
        return Number(x / p, x / p)
    return Number(2 - x / p, 2 + x / p) if x <= 2 * p else Number(Fraction(0), Fraction(0))


SHAPES = {"parabola": parabola, "polyline": polyline, "triangle": triangle}


@function(reward=many(NUMBER))
def length_shape_reward(length: many(NOT_NEGATIVE), form: one_of("parabola", "polyline", "triangle"), peak: POSITIVE, max: POSITIVE):
    """1 at a peak length, less for shorter and longer responses.

    Source: 2505.19439, eq. 1-5 (`parabola`, `polyline`: p 0.5); 2508.08940 (`triangle`: p 1)
    Takes: `length` (n numbers >= 0), `form`, `peak` p > 0 (< 1 for the first two), `max` > 0
    Gives: `reward` (n), x = length/max: `parabola`: 1 - (1 - x/p)^2 if x <= p, else 1 - 2((x - p)/(1 - p))^2; `polyline`: x/p if x <=
    p, else 1 - 2(x - p)/(1 - p) (p = 1/2: 2x, 3 - 4x); both go on beyond x = 1; `triangle`: x/p if x <= p, 2 - x/p if x <= 2p, else 0;
    scale: the absolute values of the terms, squares and x - p as one
    """
    return {"reward": [SHAPES[form](x / max, peak) for x in length]}


@cases("length_shape_reward")
def length_shape_cases(case):
    for label, comment, length, form, peak, most in (
            ("parabola", "lengths of 0, 1/4, 1/2, 3/4 and 1 of the maximum, peak at 1/2",
             [0, 768, 1536, 2304, 3072], "parabola", 0.5, 3072),
            ("parabola-off-centre", "peak at a quarter of the maximum, and a length beyond the maximum",
             [100, 1024, 1228, 4096], "parabola", 0.25, 3072),
            ("polyline", "2x up to the peak at x = 1/2, then 3 - 4x", [0, 500, 1536, 2304, 3072], "polyline", 0.5, 3072),
            ("polyline-beyond", "lengths beyond the maximum: the falling line goes on below -1",
             [3073, 4000, 6144], "polyline", 0.5, 3072),
            ("triangle", "rises to the peak, falls until twice the peak, 0 beyond",
             [0, 100, 256, 300, 512, 513, 4000], "triangle", 256, 1),
            ("triangle-small", "length/max underflows, divided by the peak it does not", [2.0 ** -900, 2.0 ** -901], "triangle",
             2.0 ** -500, 2.0 ** 200),
            ("triangle-one", "a peak at one token: lengths 0, 1 and 2 give 0, 1 and 0", [0, 1, 2, 3], "triangle", 1, 1)):
        case(label, comment, length=length, form=form, peak=peak, max=most)


@checks("length_shape_reward")
def check_length_shape_reward(check):
    at = lambda form, x, p: exactly("length_shape_reward", length=[Fraction(x) * 512], form=form, peak=p, max=512)["reward"][0].value
    for p in (Fraction(1, 4), HALF):
        ends = [[at(form, x, p) for x in (0, p, 1)] for form in ("parabola", "polyline")]
        check("0, the peak, the most", ends == [[0, 1, -1]] * 2)
        check("the triangle", [at("triangle", p * k / 2, p) for k in range(7)] == [0, HALF, 1, HALF, 0, 0, 0])
    check("the page's quarters", [at("parabola", Fraction(k, 4), HALF) for k in (1, 3, 4)] == [Fraction(3, 4), HALF, -1])


# ---- shorter_correct_reward

@function(reward=many(NUMBER))
def shorter_correct_reward(batch: reads("reward"), coef: NUMBER):
    """AGPO (2503.15952): the shortest right response of a group that is not all right earns up to coef more.

    Source: AGPO, 2503.15952
    Takes: batch with `reward`; `coef`
    Gives: T_i mask tokens. Where some response of the group has r = 1, some has not, and the T of those with r = 1 are not all equal,
    `reward` (N) of these is r (1 + coef (1 - (T - Tmin)/(Tmax - Tmin))), Tmin and Tmax over them; else r; scale abs(r)(1 + abs(coef))
    """
    r, T = rewards_of(batch), lengths_of(batch)

    def shaped(group):
        right = [T[i] for i in group if r[i] == 1]
        bonus = lambda i: coef * (1 - Fraction(T[i] - min(right), max(right) - min(right)))
        acts = right and len(right) < len(group) and min(right) < max(right)
        return [Number(r[i] * (1 + bonus(i)) if acts and r[i] == 1 else r[i], abs(r[i]) * (1 + abs(coef))) for i in group]
    return {"reward": per_group(batch, shaped)}


@cases("shorter_correct_reward")
def shorter_correct_cases(case):
    def shorter(label, comment, lengths, reward, group=(0, 0, 0, 0), mask=None, coef=0.1):
        case(label, comment, of_lengths(lengths, list(group), reward, mask), coef=coef)

    shorter("plain", "of the right responses the shortest gains 10 %, the longest nothing; a wrong one is shorter still",
            (4, 2, 1, 3), [1, 1, 0, 1])
    shorter("right", "all responses are right: no reward changes",
            (4, 2, 1), [1, 1, 1], (0, 0, 0))
    shorter("same", "all right responses are equally long, or none has reward 1: no reward changes",
            (2, 1, 2, 3, 1), [1, 0.5, 1, TENTHS, 0],
            (0, 0, 0, 1, 1))
    shorter("masked", "length counts unmasked tokens: a fully masked right response is the shortest",
            (3, 2, 3, 2), [1, 1, 1, -2], mask="101 00 111 11",
            coef=-0.25)


@checks("shorter_correct_reward")
def check_shorter_correct_reward(check):
    for label, given, batch, found in every("shorter_correct_reward"):
        T, r, coef = lengths_of(batch), fraction(batch["reward"]), Fraction(given["coef"])
        for group in by_group(batch):
            gain = {i: found["reward"][i].value - r[i] for i in group}
            right = [i for i in group if r[i] == 1]
            check(f"only right ones: {label}", not any(gain[i] for i in group if i not in right))
            if any(gain.values()):
                ends = {gain[i] for i in right if T[i] in (min(T[j] for j in right), max(T[j] for j in right))}
                line = {(gain[i] - gain[j]) / (T[j] - T[i]) for i in right for j in right if T[i] != T[j]}
                check(f"from coef to 0 on a line: {label}", ends == {coef, 0} and len(line) == 1 and len(right) < len(group))


# ---- correct_length_reward

@function(reward=many(NUMBER))
def correct_length_reward(batch, correct: many(FLAG), alpha: NUMBER, eps: NOT_NEGATIVE, wrong: NUMBER):
    """GRPO-LEAD (2504.09696): e^(-alpha z), z the standardised length among the group's right responses.

    Source: GRPO-LEAD, 2504.09696
    Takes: batch; `correct` (N flags), `alpha`, `eps` >= 0, `wrong`
    Gives: T mask tokens; m and s mean and population deviation of T over the group's correct responses. `reward` (N): e^(-alpha (T -
    m)/(s + eps)) if correct, 1 if s = 0; else wrong; scale itself, times 1 + abs(alpha)(T + m)/(s + eps) if s > 0
    """
    T = lengths_of(batch)

    def shaped(group):
        right = [Fraction(T[i]) for i in group if correct[i]]
        s = population_deviation(right) if right else ZERO

        def worth(i):
            if not correct[i]:
                return Number(wrong, abs(wrong))
            if not s:
                return Number(ONE, ONE)
            z = real(T[i] - mean(right)) / (s + real(eps))
            x = reals.exp(-real(alpha) * z)
            return Number(x, x * (1 + abs(real(alpha)) * real(T[i] + mean(right)) / (s + real(eps))))
        return [worth(i) for i in group]
    return {"reward": per_group(batch, shaped)}


@cases("correct_length_reward")
def correct_length_cases(case):
    def lead(label, comment, lengths, correct, group=None, mask=None, alpha=0.05, eps=0.000001, wrong=-1):
        case(label, comment, of_lengths(lengths, group, mask=mask), correct=marks(correct), alpha=alpha, eps=eps,
             wrong=wrong)

    lead("plain", "short right responses are worth more than 1, long ones less, wrong ones -1", (4, 2, 1, 3), "1101")
    lead("same", "right responses of equal length, and a single right one: their reward is 1",
         (2, 2, 5, 3, 4), "11010", [0, 0, 0, 1, 1], alpha=2)
    lead("wrong", "no response is right: every reward is `wrong`", (1, 2), "00", wrong=0)
    lead("masked", "length counts unmasked tokens, one response has none; eps 0",
         (3, 2, 3), "111", mask="101 00 111", alpha=-0.75, eps=0)


@checks("correct_length_reward")
def check_correct_length_reward(check):
    for label, given, batch, found in every("correct_length_reward"):
        for group in by_group(batch):
            right = [i for i in group if given["correct"][i]]
            z = [reals.log(found["reward"][i].value) / -real(Fraction(given["alpha"])) for i in right]
            check(f"their mean is 0: {label}", near(sum(z), 0))
            spread = len({lengths_of(batch)[i] for i in right}) > 1
            square = float(sum(x * x for x in z)) if right else 0
            check(f"and their variance almost 1: {label}", abs(square - spread * len(right)) < 1e-4)
            check(f"the others: {label}", all(found["reward"][i].value == given["wrong"] for i in group if i not in right))


# ---- efficiency_reward

@function(reward=many(NUMBER), efficient=many(FLAG))
def efficiency_reward(batch, correct: many(FLAG), share: FRACTION, alpha: NOT_NEGATIVE):
    """GRPO-lambda (2505.18086): in the groups with the highest success rates, short right responses get larger rewards.

    Source: GRPO-lambda, 2505.18086
    Takes: batch; `correct` (N flags), 0 <= `share` <= 1, `alpha` >= 0
    Gives: T_i mask tokens. Groups by falling share of the correct, the earlier first where equal: the first max(1, ceil(share times the
    number of groups)) are efficient, the product in binary64. `reward` (N): 0 if not correct; 1 in the other groups; in an efficient
    one 1 - alpha sigmoid((T_i - m)/s), m and s mean and population deviation of T over the group's correct ones, sigmoid(0) if s = 0;
    scale 1 + alpha, of 0 and 1 itself. `efficient` (groups): flags
    """
    groups, T = by_group(batch), [Fraction(len(own)) for own in own_tokens(batch)]
    solved = [Fraction(sum(correct[i] for i in group), len(group)) for group in groups]
    order = sorted(range(len(groups)), key=lambda g: (-solved[g], g))
    best = order[:max(1, math.ceil(float(share) * len(groups)))]  # the product of binary64
    found = {}
    for g, group in enumerate(groups):
        right = [T[i] for i in group if correct[i]]
        s = reals.sqrt(real(mean([(t - mean(right)) ** 2 for t in right]))) if right else ZERO
        for i in group:
            far = real(T[i] - mean(right)) / s if correct[i] and s else ZERO
            short = Number(1 - real(alpha) * sigmoid(far), real(1 + alpha))
            found[i] = NOTHING if not correct[i] else short if g in best else Number(Fraction(1), Fraction(1))
    return {"reward": [found[i] for i in range(len(T))], "efficient": [g in best for g in range(len(groups))]}


@cases("efficiency_reward")
def efficiency_reward_cases(case):
    def efficient(label, comment, lengths, group, correct, share=0.5, alpha=0.6, mask=None):
        case(label, comment, tokens(list(group), mask, logp=[[-0.5] * T for T in lengths]), correct=marks(correct),
             share=share, alpha=alpha)

    efficient("plain", "only the prompt with the higher success rate is efficient: its short right responses gain",
              [2, 4, 3, 1, 1, 3], (0, 0, 0, 1, 1, 1), "110111")
    efficient("even", "equal success rates: the earlier prompt is efficient; equal lengths give 1 - alpha/2",
              [2, 2, 1, 3, 1, 2], (0, 0, 0, 1, 1, 1), "110101", 0.1)
    efficient("product", "share 0.2 of five prompts is 1.0 in binary64, though 0.2 is slightly above 1/5: one prompt",
              [1, 2, 1, 1, 1, 1, 1], (0, 0, 1, 2, 3, 4, 4), "1011101", 0.2, 1)
    efficient("none", "no response is right, share 0: the first prompt is efficient, but every reward is 0",
              [1, 2, 3], (0, 0, 1), "000", 0)
    efficient("all", "share 1: every prompt is efficient, even one without a right response; masked tokens do not count",
              [4, 1, 3, 2, 2], (0, 0, 0, 1, 1),
              "10100", 1, 0.5,
              "1010 1 111 00 10")


@checks("efficiency_reward")
def check_efficiency_reward(check):
    for label, given, batch, found in every("efficiency_reward"):
        groups, T = by_group(batch), [len(line) for line in own_tokens(batch)]
        solved = [Fraction(sum(given["correct"][i] for i in group), len(group)) for group in groups]
        ahead = [sum(x > y or x == y and h < g for h, x in enumerate(solved)) for g, y in enumerate(solved)]
        count = max(1, math.ceil(given["share"] * len(groups)))
        check(f"the best prompts: {label}", found["efficient"] == [k < count for k in ahead])
        for g, group in enumerate(groups):
            right = [i for i in group if given["correct"][i]]
            s = statistics.pstdev([T[i] for i in right]) if right else 0
            for i in group:
                z = (T[i] - statistics.mean(T[j] for j in right)) / s if s and i in right else 0
                worth = (1 - given["alpha"] * logistic(z) if found["efficient"][g] else 1) if i in right else 0
                check(f"with the standard library: {label}", close(float(found["reward"][i].value), worth))


# ---- tool_efficiency_reward

def cosine_of_calls(m, c):
    return reals.cospi(real(m / (2 * m + c)))


def fewest_calls(m, n, c):
    """1 at the fewest calls of a right response: f = 2nm/(m + n), sin(f pi/(2n))."""
    if n == 0:
        return ONE if m == 0 else cosine_of_calls(m, c)
    return reals.sinpi(real(m / (m + n)))


@function(reward=many(NUMBER))
def tool_efficiency_reward(batch, calls: many(COUNT), correct: many(FLAG), smooth: POSITIVE, alpha: NUMBER, form: one_of("ppo", "grpo")):
    """OTC (2504.14870): right responses with fewer tool calls get larger rewards.

    Source: OTC, 2504.14870
    Takes: batch; `calls` m (N integers >= 0), `correct` (N flags), `smooth` c > 0, `alpha`, `form`
    Gives: `reward` (N): 0 if not correct, else alpha t: `ppo`: t = cos(m pi/(2m + c)); `grpo`: with n the smallest m of the correct
    ones of the group: n = 0: 1 if m = 0, else that cos; n > 0: sin(f pi/(2n)), f = 2nm/(m + n), so 1 at m = n; scale abs(alpha), or 0
    """
    def shaped(group):
        right = [calls[i] for i in group if correct[i]]
        worth = {"ppo": lambda m: cosine_of_calls(m, smooth), "grpo": lambda m: fewest_calls(m, min(right), smooth)}[form]
        return [Number(real(alpha) * worth(calls[i]), real(abs(alpha))) if correct[i] else NOTHING for i in group]
    return {"reward": per_group(batch, shaped)}


@cases("tool_efficiency_reward")
def tool_efficiency_cases(case):
    def otc(form, label, comment, calls, correct, group=(0, 0, 0, 0), smooth=2, alpha=1):
        case(f"{form}-{label}", comment, tokens(list(group), logp=[[-0.5]] * len(calls)),
             calls=calls, correct=marks(correct), smooth=smooth, alpha=alpha, form=form)

    otc("ppo", "plain", "right responses with 0 to 10 calls: no call is worth most", [0, 1, 3, 10], "1111")
    otc("ppo", "wrong", "wrong responses have reward 0, whatever their calls", [0, 1, 3, 100], "0101", alpha=0.5, smooth=0.5)
    otc("grpo", "plain", "the right response with the fewest calls has exactly 1; a wrong one with fewer is ignored",
        [2, 3, 5, 1], "1110")
    otc("grpo", "none-needed", "a right response needed no call: it has 1, right ones with calls have less", [0, 0, 1, 7], "1011")
    otc("grpo", "wrong", "no response is right: every reward is 0", [1, 2, 0, 3], "0000")
    otc("grpo", "groups", "the fewest calls are those of the right responses of the own group",
        [4, 2, 3, 9, 0], "11101", (0, 0, 1, 1, 2), alpha=2, smooth=1.5)


@checks("tool_efficiency_reward")
def check_tool_efficiency_reward(check):
    for label, given, batch, found in every("tool_efficiency_reward"):
        alpha = Fraction(given["alpha"])
        for group in by_group(batch):
            right = [i for i in group if given["correct"][i]]
            rest = [i for i in group if i not in right]
            check(f"wrong ones get nothing: {label}", not any(found["reward"][i].value for i in rest))
            fewest = min((given["calls"][i] for i in right), default=None)
            best = [found["reward"][i].value for i in right if given["calls"][i] == fewest]
            check(f"the fewest calls: {label}", given["form"] == "ppo" or all(near(x, alpha) for x in best))
            for i, j in itertools.permutations(right, 2):
                more = given["calls"][i] > given["calls"][j]
                check(f"more calls, less: {label}", not more or found["reward"][i].value < found["reward"][j].value)
    check("sin(f pi/(2n)) of the page", all(near(fewest_calls(Fraction(m), Fraction(n), Fraction(1)), reals.sin(
        real(Fraction(2 * n * m, m + n) / (2 * n)) * reals.pi())) for m in range(1, 9) for n in range(1, m + 1)))


# ---- early_exit_reward

@function(reward=many(FRACTION))
def early_exit_reward(batch: reads("reward")):
    """S-GRPO (2505.07686): the group is ordered by exit position; each right response halves the reward of the next.

    Source: S-GRPO, 2505.07686
    Takes: batch with `reward`, a group in the order of its exits
    Gives: `reward` (N): 2^(1 - c) if r > 0, c the number of r > 0 in the group up to and with it; else 0; scale itself
    """
    right = [r > 0 for r in batch["reward"]]

    def shaped(group):
        count = [sum(right[j] for j in group if j <= i) for i in group]
        return itself(Fraction(1, 2 ** (c - 1)) if right[i] else Fraction(0) for i, c in zip(group, count))
    return {"reward": per_group(batch, shaped)}


@cases("early_exit_reward")
def early_exit_cases(case):
    for label, comment, reward, group in (
            ("source", "the second and third right response of the group have 1/2 and 1/4", [1, 0, 1, 1], (0, 0, 0, 0)),
            ("groups", "right responses are counted anew in each group; any reward above 0 counts as right",
             [0.5, 2, -1, 1, 0, 3], (0, 0, 1, 1, 1, 2)),
            ("wrong", "no response is right: every reward is 0", [0, 0, -1], (0, 0, 0)),
            ("late", "wrong responses before the first right one do not lower its reward", [0, 0, 0, 1, 1], (0, 0, 0, 0, 0))):
        case(label, comment, responses(list(group), reward))


@checks("early_exit_reward")
def check_early_exit_reward(check):
    for label, _, batch, found in every("early_exit_reward"):
        for group in by_group(batch):
            earned = [x for x in values(found["reward"][i] for i in group) if x]
            check(f"halved each time: {label}", earned == [HALF ** k for k in range(len(earned))])


# ---- repetition_penalty

@function(reward=many(NUMBER))
def repetition_penalty(batch, token: many(many(INTEGER)), size: integer(1), penalty: NUMBER):
    """2502.03373 appendix C.2, on token ids as in TRL: the fraction of n-grams that are repetitions.

    Source: 2502.03373, appendix C.2, as TRL
    Takes: batch; `token` per token: an integer id; `size` n >= 1, `penalty`
    Gives: with T mask tokens and u different runs of n of them, one after the other (masked ones left out): `reward` (N): penalty (T -
    n + 1 - u)/(T - n + 1), 0 where T < n; scale itself
    """
    n, line = int(size), [[] for _ in batch["length"]]
    for i, t in places(batch):
        line[i].append(token[i][t])

    def repeated(i):
        grams = [tuple(line[i][k:k + n]) for k in range(len(line[i]) - n + 1)]
        x = penalty * Fraction(len(grams) - len(set(grams)), len(grams)) if grams else Fraction(0)
        return Number(x, abs(x))
    return {"reward": [repeated(i) for i in range(len(batch["length"]))]}


@cases("repetition_penalty")
def repetition_reward_cases(case):
    def repeating(label, comment, ids, size, penalty=-1, mask=None):
        case(label, comment, of_lengths([len(row) for row in ids], mask=mask), token=ids, size=size, penalty=penalty)

    repeating("plain", "bigrams of equal tokens, of different tokens, and of two alternating tokens",
              [[4, 4, 4, 4], [1, 2, 3], [7, 8, 7, 8, 7]], 2)
    repeating("three", "trigrams; a response with fewer than three tokens has no penalty", [[1, 2, 3, 1, 2, 3, 1], [5, 5]], 3, -0.5)
    repeating("one", "size 1: repetitions of single tokens", [[3, 3, 9], [0]], 1)
    repeating("holes", "masked tokens are left out: the tokens before and after them form a bigram",
              [[1, 2, 6, 1, 2], [3, 3]], 2, mask="11011 00")


@checks("repetition_penalty")
def check_repetition_penalty(check):
    for label, given, batch, found in every("repetition_penalty"):
        mask = batch.get("mask", [[True] * n for n in batch["length"]])
        for i, (ids, counts) in enumerate(zip(given["token"], mask)):
            own, again = [x for x, yes in zip(ids, counts) if yes], 0
            total = max(0, len(own) - given["size"] + 1)
            for k in range(total):
                again += any(own[j:j + given["size"]] == own[k:k + given["size"]] for j in range(k))
            x = found["reward"][i].value
            check(f"n-grams that were there before: {label}", x * total == Fraction(given["penalty"]) * again if total else x == 0)
