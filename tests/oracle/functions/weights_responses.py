"""Weights of responses and prompts."""
import itertools
import statistics
from fractions import Fraction

import reals
from functions.arithmetic import (NOTHING, Number, absolute, by_group, clamp, itself, less, mean, means, per_group, places,
                                  real, rewards_of, shares, sigmoid, variance)
from functions.batches import FOUR, SELF, TENTHS, each, marks, of_lengths, on, responses, tokens
from functions.comparing import cases_of, close, every, exactly, fraction, logistic, near, values
from functions.domains import FLAG, FRACTION, INTEGER, NOT_NEGATIVE, NUMBER, POSITIVE, integer, many, one_of, reads
from functions.registry import cases, checks, function
from limits import ZERO
from reals import mpf
from scenarios import NAN


# ---- sample_weights

@function(weight=many(NOT_NEGATIVE))
def sample_weights(batch, difficulty: many(NUMBER), by_difficulty: FLAG, by_length: FLAG):
    """ROLL: larger weights for difficult prompts, smaller ones for long responses; the mean weight is 1.

    Source: ROLL, 2506.06122, its code
    Takes: batch; `difficulty` (N), flags `by_difficulty`, `by_length`
    Gives: with T_i mask tokens of the response, Tmin and Tmax over the batch: w_i = (1/2 + 3/2 clip(difficulty_i, 0, 1) if
    by_difficulty, else 1) times (3/2 - (T_i - Tmin)/(Tmax - Tmin) if by_length, the fraction 0 if Tmax = Tmin, else 1). `weight` (N):
    w_i N / sum_j w_j; scale itself
    """
    T = [Fraction(sum(i == j for i, _ in places(batch))) for j in range(len(batch["length"]))]
    spread = max(T) - min(T)

    def weight(i):
        hard = Fraction(1, 2) + Fraction(3, 2) * clamp(difficulty[i], Fraction(0), Fraction(1)) if by_difficulty else 1
        short = Fraction(3, 2) - ((T[i] - min(T)) / spread if spread else 0) if by_length else 1
        return Fraction(hard * short)
    weights = [weight(i) for i in range(len(T))]
    return {"weight": itself(w / mean(weights) for w in weights)}


@cases("sample_weights")
def sample_weights_cases(case):
    LENGTHS = [[-0.5] * 4, [-0.5] * 2, [-0.5], [-0.5] * 3]
    HARD = [0.25, 1, 0, 0.7]

    def weights(label, comment, difficulty, by_difficulty, by_length, mask=None, logp=LENGTHS):
        case(label, comment, tokens([0, 0, 1, 1][:len(logp)], mask, logp=logp), difficulty=difficulty,
             by_difficulty=by_difficulty, by_length=by_length)

    weights("both", "by difficulty and by length: harder and shorter responses weigh more", HARD, True, True)
    weights("difficulty", "by difficulty only; difficulties outside 0 to 1 are clipped", [-0.5, 1.5, 0.25, 1], True, False)
    weights("length", "by length only: 1.5 for the shortest to 0.5 for the longest, divided by their mean", HARD, False, True)
    weights("same-length", "by length only, all responses equally long: every weight is 1", HARD, False, True, logp=[[-0.5] * 2] * 4)
    weights("same-length-difficulty", "all responses are equally long: only the difficulty counts",
            HARD, True, True, logp=[[-0.5] * 2] * 4)
    weights("neither", "neither by difficulty nor by length: every weight is 1", HARD, False, False)
    weights("holes", "length counts unmasked tokens; a fully masked response has length 0", HARD, True, True,
            "1001 11 0 110")
    weights("one", "a single response has weight 1", [0.5], True, True, logp=[[-0.5]])


@checks("sample_weights")
def check_sample_weights(check):
    for label, given, batch in cases_of("sample_weights"):
        found = [n.value for n in exactly("sample_weights", batch, **given)["weight"]]
        check(f"the mean weight is 1: {label}", sum(found) == len(found))
        check(f"no weight is 4 times another by difficulty alone: {label}", given["by_length"] or max(found) <= 4 * min(found))


# ---- invariance_weight

@function(weight=many(NUMBER))
def invariance_weight(batch: reads("reward"), meta: many(INTEGER), anchor: many(FLAG)):
    """AIR (2605.20994): responses of an open prompt are weighted by the difference between its anchors' mean reward and its own.

    Source: AIR, 2605.20994
    Takes: batch with `reward`; `meta` (groups: an integer id), `anchor` (groups, flags)
    Gives: rbar_g the group's mean. Of an open group (no anchor) Delta = (mean of rbar over the anchors of its id) - rbar_g, 0 if there
    is none. `weight` (N): Delta r_i, 0 in anchors; scale: (the same means of absolute values, plus) abs(r_i), 0 where Delta is 0 for
    lack of anchors
    """
    r, groups = rewards_of(batch), by_group(batch)
    bar = [Number(mean([r[i] for i in group]), mean([abs(r[i]) for i in group])) for group in groups]
    found = []
    for g, group in enumerate(groups):
        peers = [bar[h] for h in range(len(groups)) if anchor[h] and meta[h] == meta[g]]
        if anchor[g] or not peers:
            found += [NOTHING] * len(group)
            continue
        gap, size = mean([x.value for x in peers]) - bar[g].value, mean([x.size for x in peers]) + bar[g].size
        found += [Number(gap * r[i], size * abs(r[i])) for i in group]
    return {"weight": found}


@cases("invariance_weight")
def invariance_weight_cases(case):
    on(case,
       ("plain", "two open prompts have the same anchor; one prompt has none, so weight 0",
        responses([0, 0, 1, 1, 2, 2, 3], [1, 0.5, 1, -1, 0.25, 0.5, 1]),
        dict(meta=[7, 7, 7, 3], anchor=marks("1000"))),
       ("anchors", "two anchors with groups of different size weigh the same in the mean",
        responses([0, 0, 0, 1, 2, 2], [1, 1, -1, TENTHS, 0.25, -0.5]),
        dict(meta=[0, 0, 0], anchor=marks("110"))),
       ("alike", "anchor and open prompt have equal mean rewards: every weight is 0",
        responses([0, 0, 1, 1], [1, 0, 0.25, 0.75]), dict(meta=[5, 5], anchor=marks("10"))),
       ("other", "an anchor that comes later in the batch counts; a prompt of another id has none",
        responses([0, 1, 1, 2], [1, 0.5, TENTHS, -1]),
        dict(meta=[1, 2, 1], anchor=marks("001"))))


@checks("invariance_weight")
def check_invariance_weight(check):
    for label, given, batch, found in every("invariance_weight"):
        groups, r, w = by_group(batch), fraction(batch["reward"]), values(found["weight"])
        bar = [statistics.mean(r[i] for i in group) for group in groups]
        for g, group in enumerate(groups):
            anchors = [bar[h] for h in range(len(groups)) if given["anchor"][h] and given["meta"][h] == given["meta"][g]]
            gap = sum(x - bar[g] for x in anchors) if not given["anchor"][g] else 0
            check(f"gaps to each anchor: {label}", all(w[i] * max(len(anchors), 1) == gap * r[i] for i in group))


# ---- centred_weights

@function(surrogate=many(NUMBER), penalty=many(NUMBER))
def centred_weights(batch: reads("reward"), k: NUMBER):
    """AP-GRPO (2602.23615): right responses have larger weights in the surrogate and smaller ones in the penalty.

    Source: AP-GRPO, 2602.23615
    Takes: batch with `reward`; `k`
    Gives: `surrogate` (N): 1 + k (r - rbar), `penalty` (N): 1 - k (r - rbar), rbar the group's mean; scales 1 + abs(k)(abs(r) + mean
    abs(r))
    """
    r = rewards_of(batch)

    def weights(way):
        def of(group):
            mu, size = mean([r[i] for i in group]), mean([abs(r[i]) for i in group])
            return [Number(1 + way * k * (r[i] - mu), 1 + abs(k) * (abs(r[i]) + size)) for i in group]
        return per_group(batch, of)
    return {"surrogate": weights(1), "penalty": weights(-1)}


@cases("centred_weights")
def centred_weights_cases(case):
    for label, comment, reward, group, k in (
            ("plain", "right responses weigh more in the surrogate and less in the penalty",
             [1, 0, 0, 1, 1, 0], (0, 0, 0, 1, 1, 1), 0.5),
            ("equal", "equal rewards: every weight is 1", [1, 1, 0.5], (0, 0, 1), 0.3),
            ("large", "k = 4: weights below 0", [1, 0, TENTHS], (0, 0, 0), 4),
            ("negative", "negative k: right responses weigh less in the surrogate and more in the penalty",
             [2, -1, 0.25], (0, 0, 0), -0.7)):
        case(label, comment, responses(list(group), reward), k=k)


@checks("centred_weights")
def check_centred_weights(check):
    for label, given, batch, found in every("centred_weights"):
        both = [values(found[key]) for key in ("surrogate", "penalty")]
        check(f"together 2: {label}", all(x + y == 2 for x, y in zip(*both)))
        check(f"in the mean 1: {label}", all(sum(both[0][i] for i in group) == len(group) for group in by_group(batch)))
        apart = [(x - both[0][0], Fraction(r) - Fraction(batch["reward"][0])) for x, r in zip(both[0], batch["reward"])]
        first = apart[:len(by_group(batch)[0])]
        check(f"a line of the reward: {label}", all(x == Fraction(given["k"]) * y for x, y in first))


# ---- length_preference_weight

def preferred(T, r, power):
    """f = G softmax(h^lambda) and df/dlambda of one group, h = 1 + r z."""
    deviation = reals.sqrt(real(variance(T)))
    z = [real(t - mean(T)) / deviation if deviation else ZERO for t in T]
    h = [max(1 + real(r) * x, real(Fraction(1, 10 ** 6))) for x in z]
    g = [reals.power(x, real(power)) for x in h]
    least = max(g)
    weights = [reals.exp(x - least) for x in g]
    share = [w / sum(weights) for w in weights]
    middle = lambda xs: sum(s * x for s, x in zip(share, xs))
    slopes = [x * reals.log(y) for x, y in zip(g, h)]
    factor = [1 + x + middle(g) for x in g]
    f = [Number(len(T) * s, len(T) * s * k) for s, k in zip(share, factor)]
    df = [Number(len(T) * s * (x - middle(slopes)), len(T) * s * k * (abs(x) + middle([abs(y) for y in slopes])))
          for s, k, x in zip(share, factor, slopes)]
    return f, df


@function(weight=many(NOT_NEGATIVE), slope=many(NUMBER))
def length_preference_weight(batch, length: many(NOT_NEGATIVE), r: NUMBER, **power: {"lambda": NUMBER}):
    """lambda-GRPO (2510.06870): weights of responses by length; lambda is trained.

    Source: lambda-GRPO, 2510.06870
    Takes: batch; `length` (N numbers >= 0), `r`, `lambda`
    Gives: in a group of G: z = (T - mean T)/(population deviation), 0 if that is 0; h = max(1 + r z, 1e-6), g = h^lambda, P =
    softmax(g). `weight` (N): f = G P; `slope` (N): df/dlambda = f (g log h - sum P g log h). Scales: f F and f F (g abs(log h) + sum P
    g abs(log h)), F = 1 + g + sum P g
    """
    f, df = {}, {}
    for group in by_group(batch):
        weights, slopes = preferred([length[i] for i in group], r, power["lambda"])
        f.update(zip(group, weights))
        df.update(zip(group, slopes))
    return {"weight": [f[i] for i in range(len(f))], "slope": [df[i] for i in range(len(df))]}


@cases("length_preference_weight")
def length_preference_cases(case):
    LONG = [100, 300, 200, 50, 50]

    def preference(label, comment, power, length=None, group=(0, 0, 0, 1, 1), r=1 / 9):
        case(label, comment, responses(list(group), [0] * len(group)), length=length or LONG, r=r,
             **{"lambda": power})

    preference("start", "lambda 0: every weight is 1; the slope is 0 only where lengths are equal", 0)
    preference("skewed", "lambda above 0: long responses weigh more", 1.5)
    preference("short", "lambda below 0: short responses weigh more", -2, [10, 17, 3, 8, 9])
    preference("floor", "r = 1 and a length far below the others: 1 + r z is raised to 1e-6",
               0.5, [512, 512, 512, 512, 1], [0] * 5, 1)
    preference("small", "lengths whose squares underflow are not equal", -1, [2.0 ** -600, 2.0 ** -601, 0, 2.0 ** -700, 2.0 ** -650])
    preference("lone", "a single response has weight 1", 3, [7, 100, 200], (0, 1, 1))


@checks("length_preference_weight")
def check_length_preference_weight(check):
    h = mpf(10) ** -12
    for label, a, batch in cases_of("length_preference_weight"):
        T, r, power = ([Fraction(x) for x in a["length"]], Fraction(a["r"]), Fraction(a["lambda"]))
        at = lambda x: length_preference_weight(batch, T, r, **{"lambda": x})
        found, up, down = at(power), at(real(power) + h), at(real(power) - h)
        for group in by_group(batch):
            f, df = ([real(found[key][i].value) for i in group] for key in ("weight", "slope"))
            check(f"the mean weight is 1: {label}", near(sum(f), mpf(len(group))) and near(sum(df), mpf(0)))
            slope = [(up["weight"][i].value - down["weight"][i].value) / (2 * h) for i in group]
            check(f"the slope: {label}", all(abs(x - y) < 1e-20 for x, y in zip(slope, df)))
            check(f"lambda 0: {label}", power or f == [1] * len(group))


# ---- prompt_weight

@function(weight=many(NOT_NEGATIVE))
def prompt_weight(batch: reads("reward"), threshold: NUMBER, limit: NOT_NEGATIVE, low: NOT_NEGATIVE, form: one_of("llm", "vlm")):
    """ADORA: 1 for prompts whose longest right response is longer than their wrong ones that ended are on average.

    Source: ADORA, 2602.10019, its code
    Takes: batch with `reward`; `threshold`, `limit`, `low` >= 0, `form`
    Gives: right: r > threshold; short: not right and `length` < limit (masked tokens included). `weight` (groups): 1 if (largest length
    of the right) > (mean length of the short), else low; where there are no right ones: low (`llm`) or 1 (`vlm`); where there are right
    ones and no short ones: 1 (`llm`) or low (`vlm`); scale itself
    """
    r, T = rewards_of(batch), batch["length"]

    def weight(group):
        right = [T[i] for i in group if less(threshold, r[i])]
        wrong = [T[i] for i in group if not less(threshold, r[i]) and less(T[i], limit)]
        if form == "vlm":
            full = not right or bool(wrong) and less(mean(wrong), max(right))
        else:
            full = bool(right) and (not wrong or less(mean(wrong), max(right)))
        return Fraction(1) if full else low
    return {"weight": itself(weight(group) for group in by_group(batch))}


@cases("prompt_weight")
def prompt_weight_cases(case):
    LONG = [[-0.5] * n for n in (5, 3, 4, 2, 1, 2, 3)]
    for form in ("llm", "vlm"):
        for label, comment, reward, limit in (
                ("plain", "right responses longer than the wrong ones on average; a prompt without a right one",
                 [2, 0, 1, 2, 0, 0, 1], 100),
                ("no-wrong", "no wrong response is shorter than the limit", [2, 2, 0, 2, 2, 2, 0.5], 3)):
            case(f"{form}-{label}", comment, tokens([0, 0, 0, 1, 1, 2, 2], None, reward, logp=LONG),
                 threshold=1.01, limit=limit, low=0.1, form=form)
        case(f"{form}-equal", "the right response is exactly as long as the wrong ones on average: `low`",
             tokens([0, 0, 0], None, [2, 0, 0], logp=LONG[1:4]),
             threshold=1.01, limit=100, low=0.1, form=form)


@checks("prompt_weight")
def check_prompt_weight(check):
    for label, given, batch, found in every("prompt_weight"):
        other = exactly("prompt_weight", batch, **{**given, "form": {"llm": "vlm", "vlm": "llm"}[given["form"]]})
        for x, y, group in zip(found["weight"], other["weight"], by_group(batch)):
            right = [i for i in group if batch["reward"][i] > given["threshold"]]
            short = [i for i in group if i not in right and batch["length"][i] < given["limit"]]
            check(f"the forms differ where a side is empty: {label}", (x != y) == (not right or not short))


# ---- confidence_factor

@function(factor=many(NOT_NEGATIVE))
def confidence_factor(batch: reads("logp_old"), correct: many(FLAG), delta: NOT_NEGATIVE):
    """CoDaPO (2606.07950): 4 c p (1 - p) + delta, c the confidence of the group and p its share of right responses.

    Source: CoDaPO, 2606.07950
    Takes: batch with `logp_old`; `correct` (N flags), `delta` >= 0
    Gives: over the group's responses that have mask tokens: c = e^(mean of their means of o), p the share of correct ones. `factor`
    (groups): 4 c p (1 - p) + delta, delta without any; scale itself times 1 + the mean of their mean abs(o), delta without any
    """
    score = means(batch, "logp_old")

    def factor(group):
        chosen = [i for i in group if i in score]
        if not chosen:
            return Number(delta, delta)
        p = Fraction(sum(correct[i] for i in chosen), len(chosen))
        c = reals.exp(real(mean([score[i].value for i in chosen])))
        v = 4 * c * real(p * (1 - p)) + real(delta)
        return Number(v, v * real(1 + mean([score[i].size for i in chosen])))
    return {"factor": [factor(group) for group in by_group(batch)]}


@cases("confidence_factor")
def confidence_factor_cases(case):
    on(case,
       ("plain", "half of a group is right; a group all right has the factor delta",
        tokens([0, 0, 1], logp_old=SELF), dict(correct=marks("101"), delta=0.1)),
       ("third", "one of three responses is right; delta 0",
        tokens(logp_old=SELF), dict(correct=marks("010"), delta=0)),
       ("holes", "a fully masked right response is in neither mean; a fully masked group has delta",
        tokens([0, 0, 0, 1], "101 00 11 0", logp_old=[[-0.5, NAN, -1.25], [NAN, -3], [-1, -0.25], [NAN]]),
         dict(correct=marks("0110"), delta=0.25)),
       ("unlikely", "mean log-probabilities of -500: a factor of e^-500",
        tokens(logp_old=[[-500], [-300, -700]]), dict(correct=marks("10"), delta=0)))


@checks("confidence_factor")
def check_confidence_factor(check):
    for label, given, batch, found in every("confidence_factor"):
        free = values(exactly("confidence_factor", batch, **{**given, "delta": 0})["factor"])
        more = [near(real(x) - real(y), Fraction(given["delta"])) for x, y in zip(values(found["factor"]), free)]
        check(f"delta on top: {label}", all(more))
        wrong = exactly("confidence_factor", batch, **{**given, "correct": [not x for x in given["correct"]]})
        check(f"right and wrong change places: {label}", wrong == found)
    certain = {"group": [0, 0], "length": [1, 1], "logp": [[-1]] * 2, "logp_old": [[0]] * 2}
    half = exactly("confidence_factor", certain, correct=[True, False], delta=0.25)["factor"][0].value
    check("1 + delta at most", half == mpf(1.25))


# ---- difficulty_weight

@function(weight=many(NOT_NEGATIVE))
def difficulty_weight(batch: reads("reward"), accuracy: many(NUMBER), temperature: POSITIVE):
    """DGPO (2601.20614): larger weights for harder prompts, among those whose rewards differ.

    Source: DGPO, 2601.20614
    Takes: batch with `reward`; `accuracy` (N), `temperature` > 0
    Gives: of the v groups whose rewards are not all equal: D the mean accuracy, 1 if that is 0; P = softmax of -D/temperature over
    them. `weight` (groups): v P, 1 for the others; scale itself times 1 + the exponents' spread, 1 for the others
    """
    r, groups = rewards_of(batch), by_group(batch)
    valid = [g for g, group in enumerate(groups) if len({r[i] for i in group}) > 1]
    found = [Number(Fraction(1), Fraction(1))] * len(groups)
    if not valid:
        return {"weight": found}
    p, size = shares([-(mean([accuracy[i] for i in groups[g]]) or 1) for g in valid], temperature)
    for g, x in zip(valid, p):
        weight = len(valid) * x
        found[g] = Number(weight, weight * size)
    return {"weight": found}


@cases("difficulty_weight")
def difficulty_weight_cases(case):
    on(case,
       ("plain", "prompts with accuracies of 1/2 and 1/4; one with equal rewards has weight 1",
        of_lengths((2, 1, 1, 3, 1, 2), [0, 0, 1, 1, 2, 2], [1, 0, 1, 1, 0.5, 0]), dict(accuracy=[1, 0, 1, 1, 0.5, 0], temperature=2)),
       ("never", "an accuracy of 0 in a prompt whose rewards differ counts as 1",
        of_lengths((1, 1, 2, 2), [0, 0, 1, 1], [0.5, 0, 1, 0]),
        dict(accuracy=[0, 0, TENTHS, 0.25], temperature=0.25)),
       ("none", "every prompt has equal rewards: every weight is 1",
        of_lengths((1, 2, 1), [0, 0, 1], [1, 1, 0.5]), dict(accuracy=[1, 1, 0.5], temperature=1)),
       ("masked", "masked tokens have no effect; a single prompt with differing rewards has weight 1",
        of_lengths((2, 2, 3), [0, 0, 1], [1, 0, 1], "10 00 101"),
        dict(accuracy=[1, 0, 1], temperature=1)))


@checks("difficulty_weight")
def check_difficulty_weight(check):
    for label, given, batch, found in every("difficulty_weight"):
        groups = by_group(batch)
        valid = [g for g, group in enumerate(groups) if len({batch["reward"][i] for i in group}) > 1]
        w = values(found["weight"])
        if valid:
            check(f"their mean is 1: {label}", near(sum(w[g] for g in valid), len(valid)))
        check(f"1 for the others: {label}", all(w[g] == 1 for g in range(len(groups)) if g not in valid))
        for g, h in itertools.combinations(valid, 2):
            D = [statistics.mean(given["accuracy"][i] for i in groups[k]) or 1 for k in (g, h)]
            check(f"odds: {label}", close(reals.log(w[g] / w[h]), (D[1] - D[0]) / given["temperature"]))


# ---- semantic_entropy

@function(entropy=many(NOT_NEGATIVE))
def semantic_entropy(batch, answer: many(integer(-1)), score: many(NUMBER)):
    """SEED-GRPO, COPO: entropy of the group's final answers, with weights e^score of responses.

    Source: SEED-GRPO, 2505.12346, COPO, 2508.04138
    Takes: batch; `answer` (N ids >= 0, or -1: like no other), `score` (N: log weights)
    Gives: `entropy` (groups): -sum p log p over the different answers of the group, p = sum of e^score over those that gave it/sum over
    all; 0 for one answer; scale (1 + it)(1 + the exponents' spread, T = 1), 0 for one answer
    """
    def entropy(group):
        e = {i: reals.exp(real(score[i] - max(score[j] for j in group))) for i in group}
        clusters = {}
        for i in group:
            clusters.setdefault(answer[i] if answer[i] >= 0 else ("alone", i), []).append(e[i])
        if len(clusters) == 1:
            return NOTHING
        p = [sum(x) / sum(e.values()) for x in clusters.values()]
        H = -sum(x * reals.log(x) for x in p)
        spread = max(score[i] for i in group) - min(score[i] for i in group)
        return Number(H, (1 + H) * real(1 + spread))
    return {"entropy": [entropy(group) for group in by_group(batch)]}


@cases("semantic_entropy")
def answer_entropy_cases(case):
    for label, comment, answer, score, group in (
            ("counts", "answers given by two, one and one of four responses", [7, 7, 3, 5], [0] * 4, FOUR),
            ("none", "responses without an answer (-1) count as answers of their own", [-1, 7, -1, 7], [0] * 4, FOUR),
            ("scores", "answers weighted by e^score of their responses", [1, 2, 1, 3], [-1, -0.5, -4, -2], FOUR),
            ("groups", "equal answers: 0; a single response: 0; three different answers",
             [4, 4, 4, 9, -1, 2, 3], [-0.5, -3, -1, -2, -1, -0.25, -0.75],
             (0, 0, 0, 1, 2, 2, 2)),
            ("far", "scores up to a thousand apart: an entropy of 5e-16, not 0", [1, 2, 3], [-1, -40, -1000], (0, 0, 0))):
        case(label, comment, tokens(list(group), logp=[[-0.5]] * len(answer)), answer=answer, score=score)


@checks("semantic_entropy")
def check_semantic_entropy(check):
    for label, given, batch, found in every("semantic_entropy"):
        moved = exactly("semantic_entropy", batch, **{**given, "score": [x - 3 for x in given["score"]]})["entropy"]
        check(f"a common factor does not matter: {label}", all(near(x.value, y.value) for x, y in zip(moved, found["entropy"])))
        for x, group in zip(found["entropy"], by_group(batch)):
            check(f"at most log n: {label}", -1e-40 <= x.value <= reals.log(len(group)) + 1e-40)
    two = exactly("semantic_entropy", tokens(logp=[[-1]] * 4), answer=[1, 2, 1, 2], score=[0] * 4)["entropy"][0]
    check("two and two", near(two.value, reals.log(2)))


# ---- entropy_factor

@function(factor=many(NOT_NEGATIVE))
def entropy_factor(entropy: many(NUMBER), alpha: NOT_NEGATIVE, size: integer(2)):
    """SEED-GRPO (2505.12346), the authors' code: 1/(1 + alpha H/log G).

    Source: SEED-GRPO, 2505.12346, the authors' code
    Takes: `entropy` H (n), `alpha` >= 0, integer `size` G >= 2
    Gives: `factor` (n): 1/(1 + alpha H/log G); scale itself
    """
    factor = [1 / (1 + real(alpha * H) / reals.log(int(size))) for H in entropy]
    return {"factor": [Number(x, x) for x in factor]}


@cases("entropy_factor")
def entropy_factor_cases(case):
    each(case,
         ("code", "the authors' alpha and group size, entropies from 0 to log 8",
          dict(entropy=[0, 0.5, 2.0794415416798357], alpha=0.0417, size=8)),
         ("beyond", "an entropy above log G: the factor is not clipped", dict(entropy=[5, 1.25], alpha=2, size=4)),
         ("two", "a group of two: H is divided by log 2", dict(entropy=[0.25, 0.6875], alpha=1, size=2)),
         ("off", "alpha 0: every factor is 1", dict(entropy=[0, 3], alpha=0, size=16)))


@checks("entropy_factor")
def check_entropy_factor(check):
    for label, given, _, found in every("entropy_factor"):
        back = [(1 / x - 1) * reals.log(given["size"]) for x in values(found["factor"])]
        check(f"alpha H again: {label}", all(near(x, Fraction(given["alpha"]) * Fraction(H)) for x, H in zip(back, given["entropy"])))


# ---- consistency_weights

@function({"local": many(FRACTION), "global": many(FRACTION)})
def consistency_weights(entropy: many(NUMBER), gamma: NUMBER, centre: NUMBER):
    """COPO (2508.04138): weights of the group's advantage (answers differ) and of the batch's (answers agree).

    Source: COPO, 2508.04138
    Takes: `entropy` H (n), `gamma`, `centre`
    Gives: `local` (n): sigmoid(gamma (H - centre)); `global` (n): 1 - it, as sigmoid(-gamma (H - centre)); scales themselves times 1 +
    abs(gamma)(abs(H) + abs(centre))
    """
    def gate(H, way):
        w = sigmoid(way * gamma * (H - centre))
        return Number(w, w * real(1 + abs(gamma) * (abs(H) + abs(centre))))
    return {"local": [gate(H, 1) for H in entropy], "global": [gate(H, -1) for H in entropy]}


@cases("consistency_weights")
def consistency_weights_cases(case):
    each(case,
         ("plain", "entropies of a group that agrees, of the centre, and of a group that disagrees",
          dict(entropy=[0, 1.5, 1.75], gamma=20, centre=1.5)),
         ("soft", "gamma 0.5: the weights change slowly with the entropy", dict(entropy=[0.7, 2, 0.3], gamma=0.5, centre=1)),
         ("flat", "gamma 0: both weights are 0.5", dict(entropy=[0, 3], gamma=0, centre=1)),
         ("far", "a weight of e^-400 beside 1: 1 minus the other would round it to 0", dict(entropy=[0, 40], gamma=-20, centre=20)))


@checks("consistency_weights")
def check_consistency_weights(check):
    for label, given, _, found in every("consistency_weights"):
        both = list(zip(values(found["local"]), values(found["global"])))
        check(f"they sum to 1: {label}", all(near(x + y, 1) for x, y in both))
        gate = [real(Fraction(given["gamma"]) * (Fraction(H) - Fraction(given["centre"]))) for H in given["entropy"]]
        check(f"their odds: {label}", all(abs(reals.log(x / y) - z) < mpf(10) ** -35 for (x, y), z in zip(both, gate)))


# ---- dynamic_scale

@function(factor=many(NOT_NEGATIVE))
def dynamic_scale(hardness: many(NUMBER, least=1), gap: many(NUMBER), bound: NOT_NEGATIVE):
    """DR-IRL's GRPO-S: data hardness times the model's responsiveness, without outliers.

    Source: GRPO-S of DR-IRL, 2503.18991, as restated
    Takes: `hardness` d (n >= 1), `gap` R (n), `bound` tau
    Gives: kept: the R with (R - mean R)^2 <= tau; none is an input error. `factor` (n): sigmoid(d_i)/sigmoid(mean d) times sigmoid(mean
    of the kept)/sigmoid(mean R); scale itself times 1 + abs(d_i) + mean abs(d) + mean abs(R) + mean abs of the kept
    """
    kept = [R for R in gap if not less(bound, (R - mean(gap)) ** 2)]
    prompt = sigmoid(mean(kept)) / sigmoid(mean(gap))
    away = mean(absolute(hardness)) + mean(absolute(gap)) + mean(absolute(kept))

    def factor(d):
        x = sigmoid(d) / sigmoid(mean(hardness)) * prompt
        return Number(x, x * real(1 + abs(d) + away))
    return {"factor": [factor(d) for d in hardness]}


@cases("dynamic_scale")
def dynamic_scale_cases(case):
    each(case,
         ("plain", "an outlier among the gaps is left out of the mean of the kept",
          dict(hardness=[0.25, 0.5, 0.75], gap=[0.5, -0.25, 3], bound=2)),
         ("all", "gaps exactly at the bound are kept: only the hardness counts",
          dict(hardness=[1, -1, 0.7, 2], gap=[1, 0, 0, 1], bound=0.25)),
         ("one", "a single item: its factor is 1", dict(hardness=[0.5], gap=[2], bound=0)),
         ("far", "hardness and gaps of several units; both gaps are kept", dict(hardness=[5, -3], gap=[-4, -10], bound=9.5)))
    case("middle", "bound 0: only the gap at the mean is kept", hardness=[0.1, 0.2, 0.3], gap=[-6, 0, 6], bound=0)


@checks("dynamic_scale")
def check_dynamic_scale(check):
    for label, given, _, found in every("dynamic_scale"):
        d, R = given["hardness"], fraction(given["gap"])
        kept = [x for x in R if (x - statistics.mean(R)) ** 2 <= Fraction(given["bound"])]
        prompt = logistic(float(statistics.mean(kept))) / logistic(float(statistics.mean(R)))
        expected = [logistic(x) / logistic(statistics.mean(d)) * prompt for x in d]
        check(f"with the standard library: {label}", all(close(float(n.value), x) for n, x in zip(found["factor"], expected)))
