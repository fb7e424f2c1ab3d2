"""VOC, HEAD: mistakes between logits or hidden states and the loss, forward and backward."""
import math

import logits_path as path
import reals
from attempt import narrow
from limits import ZERO
from logits import Softmax, log_sum, weighted
from reals import mpf

from .table import defect

BOTH = ("logits", "hidden")
UNITS = ("grpo", "gspo", "gvpo", "dapo", "vespo", "real")
UNKNOWN = "none known"


def scenes(*labels):
    """The cases that may record a mistake in full: those of a few rows, and those with given derivatives."""
    given = [label for label in labels if label not in ("masked", "entropy")]
    return [f"{row}-{label}" for label in labels for row in UNITS] + [f"{label}-{k}" for label in given for k in (2, 3, 1, 4)]


def differentiated(case):
    return "objective" in case or "dlogp" in case


def hot(case):
    return case["temperature"] != 1


def has(name):
    return lambda case: name in case


def both(*tests):
    return lambda case: all(test(case) for test in tests)


def bonus(case):
    """Does the loss depend on the entropy?"""
    return "dentropy" in case or "objective" in case and case["objective"]["penalty"]["entropy_coef"] != 0


def impossible(case):
    """Is a token banned, or its logit -infinity?"""
    return "banned" in case or any(x == "-Infinity" for row in case.get("logits", ()) for z in row for x in z)


def poisoned(case):
    return "mask" in case.get("batch", {})


def slope(a, f):
    """f(original, case, x, v) replaces dL/d logits_v times the temperature."""
    a.around(path, "logit_slope", f)


def after_forward(a, f):
    """f(case, x) changes a position after its forward pass."""
    def forward(original, case, x):
        original(case, x)
        f(case, x)
    a.around(path, "forward", forward)


def without(x, name, then):
    """then(), called while this attribute of x is 0."""
    kept = getattr(x, name)
    setattr(x, name, ZERO)
    found = then()
    setattr(x, name, kept)
    return found


def multiplied(numbers, factor):
    return [(y * factor, size) for y, size in numbers]


# ---- temperature

@defect("VOC-01", both(differentiated, hot), *scenes("tempered", "sharded"), kind=BOTH, seen=UNKNOWN, shows="a temperature other than 1")
def temperature_twice(a):
    """The temperature divides twice: the logits, and again in the log-softmax. Right: once."""
    a.case["temperature"] = mpf(a.case["temperature"]) ** 2


@defect("VOC-02", both(differentiated, hot), *scenes("tempered", "sharded"), kind=BOTH, seen=UNKNOWN,
        shows="a temperature other than 1; the loss is right")
def gradient_untempered(a):
    """The gradient lacks the factor 1 / tau. Right: (one-hot - p) / tau."""
    a.around(path, "back", lambda original, case, x: multiplied(original(case, x), mpf(case["temperature"])))


@defect("VOC-03", both(differentiated, hot), *scenes("tempered", "sharded"), kind=BOTH, seen=UNKNOWN,
        shows="a temperature other than 1; the loss is right")
def gradient_tempered_twice(a):
    """The gradient is divided by the temperature twice. Right: once."""
    a.around(path, "back", lambda original, case, x: multiplied(original(case, x), 1 / mpf(case["temperature"])))


@defect("VOC-04", both(hot, lambda case: bonus(case) or not differentiated(case)), *scenes("entropy", "tempered", "sharded"), kind=BOTH,
        seen="OpenRLHF before #1319", shows="an entropy, and a temperature other than 1")
def raw_entropy(a):
    """The entropy is of the raw logits, and its gradient too. Right: of the tempered distribution, as the log-probability."""
    def forward(case, x):
        x.raw = Softmax(x.logits, 1)
        x.entropy = x.raw.entropy

    def f(original, case, x, v):
        p = x.raw.p[v]
        by_entropy = -x.e * p * (x.raw.logp[v] + x.raw.entropy) * mpf(case["temperature"]) if p else ZERO
        return without(x, "e", lambda: original(case, x, v)) + by_entropy
    after_forward(a, forward)
    slope(a, f)


# ---- targets

@defect("VOC-05", lambda case: differentiated(case) and any(len(set(row)) > 1 for row in case["target"]),
        *scenes("tempered", "plain", "sharded"), kind=BOTH,
        seen="none known; right ones are misplaced in MASK-05 (ms-swift #8427) and MASK-05a (prime-rl #1525)",
        shows="responses of two tokens or more")
def shifted_by_one(a):
    """The logits of a position are used for the token after the sampled one. Right: the token that was sampled from them."""
    a.case["target"] = [row[1:] + row[:1] for row in a.case["target"]]


@defect("VOC-06", differentiated, *scenes("plain", "tempered"), kind=BOTH, seen=UNKNOWN, shows="always; the loss is right")
def gradient_of_cross_entropy(a):
    """The gradient of the cross-entropy is used as that of the log-probability: its sign is wrong. Right: one-hot minus p, times dL / d
    logp."""
    a.around(path, "back", lambda original, case, x: multiplied(original(case, x), -1))


@defect("VOC-07", differentiated, *scenes("plain", "tempered"), kind=BOTH, seen=UNKNOWN, shows="always; the loss is right")
def logsumexp_detached(a):
    """The logsumexp is detached: only the sampled token's logit gets a gradient. Right: all logits, by their probabilities."""
    def f(original, case, x, v):
        by_entropy = without(x, "g", lambda: original(case, x, v))
        return x.g * (v == x.target) + by_entropy
    slope(a, f)


@defect("VOC-08", differentiated, *scenes("plain", "tempered"), kind=BOTH, seen=UNKNOWN, shows="always; the loss is right")
def softmax_unweighted(a):
    """The softmax is subtracted from the weighted one-hot without being weighted itself. Right: dL / d logp times (one-hot - p)."""
    def f(original, case, x, v):
        by_entropy = without(x, "g", lambda: original(case, x, v))
        return x.g * (v == x.target) - x.softmax.p[v] + by_entropy
    slope(a, f)


@defect("VOC-09", differentiated, *scenes("plain", "tempered"), kind=BOTH, seen=UNKNOWN, shows="always; the loss is right")
def one_hot_unweighted(a):
    """The softmax is multiplied by dL / d logp, the one-hot is not. Right: dL / d logp times (one-hot - p)."""
    def f(original, case, x, v):
        return original(case, x, v) + ((1 - x.g) * (v == x.target) if x.softmax.p[v] else ZERO)
    slope(a, f)


# ---- entropy

@defect("VOC-10", lambda case: impossible(case) and (bonus(case) or not differentiated(case)), "neginf", "neginf-tempered",
        *scenes("entropy", "banned"), kind=BOTH,
        seen="verl (entropy_from_logits), read in its code; TRL, ms-swift, open-instruct: reported, no reference",
        shows="a logit of -infinity, and an entropy")
def entropy_of_banned(a):
    """A logit of -infinity adds 0 times -infinity to the entropy, which is NaN. Right: p log p is 0 where p is 0."""
    def forward(case, x):
        if any(not p for p in x.softmax.p):
            x.entropy = mpf("nan")

    def f(original, case, x, v):
        return mpf("nan") if x.entropy != x.entropy and x.e else original(case, x, v)
    after_forward(a, forward)
    slope(a, f)


@defect("VOC-11", bonus, *scenes("entropy", "tempered"), kind=BOTH, seen="TRL #5595, #5596, #6140, in review",
        shows="an entropy bonus; the loss is right")
def entropy_detached(a):
    """The entropy is detached: the bonus is in the loss and not in its gradient. Right: differentiated."""
    slope(a, lambda original, case, x, v: without(x, "e", lambda: original(case, x, v)))


@defect("VOC-12", bonus, *scenes("entropy", "tempered"), kind=BOTH, seen=UNKNOWN, shows="an entropy bonus; the loss is right")
def entropy_uncentred(a):
    """The entropy's gradient is -p log p / tau, without the entropy itself. Right: -p (log p + H) / tau."""
    def f(original, case, x, v):
        return original(case, x, v) + x.e * x.softmax.p[v] * x.softmax.entropy
    slope(a, f)


@defect("VOC-13", bonus, *scenes("entropy", "tempered"), kind=BOTH, seen="none known; NeMo-RL b7302ad41 weighs it by a ratio (ENT-04)",
        shows="an entropy bonus")
def entropy_of_sample(a):
    """Minus the sampled token's log-probability is used as the entropy. Right: -sum p log p over the vocabulary."""
    def forward(case, x):
        x.entropy = -x.logp

    def f(original, case, x, v):
        p = x.softmax.p[v]
        return without(x, "e", lambda: original(case, x, v)) - (x.e * ((v == x.target) - p) if p else ZERO)
    after_forward(a, forward)
    slope(a, f)


@defect("VOC-13a", bonus, *scenes("entropy", "tempered"), kind=BOTH,
        seen="compose-rl before #85 (22dd44e), in a metric; Megatron-LM (calculate_grpo_loss), read in its code", shows="an entropy bonus")
def entropy_of_sample_alone(a):
    """-p log p of the sampled token alone is used as the entropy. Right: the sum over the vocabulary."""
    def forward(case, x):
        x.entropy = -x.logp * x.softmax.p[x.target] if x.softmax.p[x.target] else ZERO

    def f(original, case, x, v):
        p, own = x.softmax.p[v], x.softmax.p[x.target]
        change = own * (x.logp + 1) * ((v == x.target) - p) if p and own else ZERO
        return without(x, "e", lambda: original(case, x, v)) - x.e * change
    after_forward(a, forward)
    slope(a, f)


@defect("ENT-01", lambda case: "objective" in case and bonus(case), *scenes("entropy"), kind=BOTH,
        seen="chatllama #247, stable-baselines3 #127, open_spiel #962", shows="an entropy bonus")
def entropy_penalised(a):
    """The entropy is added to the loss instead of subtracted. Right: the loss falls as the entropy rises."""
    def f(original, case, found, measured):
        loss, size = original(case, found, measured)
        for x in found:
            loss, x.e = loss - 2 * x.e * x.entropy, -x.e
        return loss, size
    a.around(path, "from_above", f)


@defect("ENT-01a", lambda case: "objective" in case and bonus(case), *scenes("entropy"), kind=BOTH,
        seen="TRL before #6625, of its chunked projection, and #6140, in review", shows="an entropy bonus; the loss is right")
def entropy_without_gradient(a):
    """The entropy is computed without a gradient: the loss has the bonus, the gradient lacks it. Right: differentiated."""
    def f(original, case, found, measured):
        answer = original(case, found, measured)
        for x in found:
            x.e = ZERO
        return answer
    a.around(path, "from_above", f)


@defect("ENT-03", lambda case: "objective" in case and bonus(case), *scenes("entropy"), kind=BOTH,
        seen="TRL #5597, in review", shows="an entropy bonus")
def entropy_dropped(a):
    """The fused path drops the entropy bonus. Right: the same loss as without fusing."""
    a.choose("penalty", entropy_coef=0)


# ---- banned tokens, and padding of the vocabulary

@defect("VOC-14", both(differentiated, has("banned")), *scenes("banned"), seen=UNKNOWN, shows="banned tokens", kind=BOTH)
def ban_forgotten(a):
    """Tokens that the sampler was not allowed to sample keep their probability. Right: probability 0, as when sampling."""
    del a.case["banned"]


@defect("VOC-15", both(differentiated, has("banned")), *scenes("banned"), seen=UNKNOWN, shows="banned tokens", kind=BOTH)
def ban_by_product(a):
    """The logits are multiplied by the mask of allowed tokens: a banned one has logit 0. Right: -infinity."""
    a.around(path, "ban", lambda original, case, i, t, logits: [ZERO if v in case["banned"][i][t] else x for v, x in enumerate(logits)])


@defect("VOC-16", both(differentiated, has("banned"), has("logits")), *scenes("banned"), seen=UNKNOWN,
        shows="banned tokens; the loss is right", kind=BOTH)
def ban_not_in_gradient(a):
    """The gradient includes banned tokens: the backward pass recomputes the softmax without the ban. Right: the softmax over the allowed
    tokens."""
    def back(original, case, x):
        kept = x.logits, x.softmax
        x.logits = [path.number(z) for z in case["logits"][x.i][x.t]]
        x.softmax = Softmax(x.logits, case["temperature"])
        found = original(case, x)
        x.logits, x.softmax = kept
        return found
    a.around(path, "back", back)


def uneven(case):
    rows = case["weight"] if "weight" in case else next(z for row in case["logits"] for z in row)
    return differentiated(case) and len(rows) % 4 != 0


@defect("VOC-17", uneven, *scenes("plain", "tempered"), seen="verl before #5349 (37ff251ea), in its fused kernel",
        shows="a vocabulary that is no multiple of 4", kind=BOTH)
def padding_in_softmax(a):
    """The vocabulary is padded to a multiple of some size, and the padding's logits of 0 count in the softmax. Right: the padding is
    -infinity."""
    def forward(case, x):
        width = len(x.logits)
        s = Softmax(x.logits + [ZERO] * (-width % 4), case["temperature"])
        x.softmax, x.logp, x.entropy = s, s.logp[x.target], s.entropy
    after_forward(a, forward)


# ---- shards of the vocabulary

def shard_of(case, v):
    """(begin, end) of the shard that has token v."""
    begin = 0
    for width in case["shards"]:
        if v < begin + width:
            return begin, begin + width
        begin += width
    raise IndexError(v)


def in_shard(case, x, v):
    """log p of v over its own shard."""
    begin, end = shard_of(case, v)
    return x.softmax.z[v] - log_sum(x.softmax.z[begin:end])


@defect("VOC-18", has("shards"), *scenes("sharded"), seen=UNKNOWN, shows="a sharded vocabulary", kind=BOTH)
def logsumexp_of_shard(a):
    """Each shard takes the logsumexp of its own columns. Right: of all shards, by the largest and the sum over them."""
    def forward(case, x):
        s = x.softmax
        s.logp = [in_shard(case, x, v) for v in range(len(x.logits))]
        s.p = [reals.exp(l) for l in s.logp]
        begin, end = shard_of(case, x.target)
        s.entropy = -sum((weighted(p, l) for p, l in list(zip(s.p, s.logp))[begin:end]), ZERO)
        x.logp, x.entropy = s.logp[x.target], s.entropy
    after_forward(a, forward)


@defect("VOC-18a", has("shards"), *scenes("sharded"), seen="Megatron-LM #7452 (open), with labels and gathered logits",
        shows="a sharded vocabulary", kind=BOTH)
def sum_of_gathered(a):
    """Every shard has gathered all logits, and their sums are added up once more: the logsumexp is larger by the logarithm of the number of
    shards, and the one-hot is in the first shard alone. Right: each shard adds its own columns."""
    def forward(case, x):
        x.logp = x.logp - reals.log(mpf(len(case["shards"])))

    def f(original, case, x, v):
        forgotten = v == x.target and v >= case["shards"][0]
        return original(case, x, v) + x.g * (x.softmax.p[v] * (1 - mpf(1) / len(case["shards"])) - forgotten)
    after_forward(a, forward)
    slope(a, f)


@defect("VOC-19", has("shards"), *scenes("sharded"), seen=UNKNOWN, shows="a sharded vocabulary; the loss is right", kind=BOTH)
def gradient_of_shard(a):
    """The backward pass normalises by the shard's own sum. Right: by the sum over all shards."""
    def f(original, case, x, v):
        p = reals.exp(in_shard(case, x, v))
        return original(case, x, v) + x.g * (x.softmax.p[v] - p)
    slope(a, f)


@defect("VOC-19a", has("shards"), *scenes("sharded"), seen="ms-swift before #9947, with Megatron",
        shows="a sharded vocabulary; the loss is right", kind=BOTH)
def sums_without_gradient(a):
    """The sums over the shards have no gradient: only the shard that has the sampled token gets one, and its largest logit gets what its
    softmax lacks to sum to 0. Right: every shard, by the probabilities of its tokens."""
    def f(original, case, x, v):
        begin, end = shard_of(case, x.target)
        if not begin <= v < end:
            return original(case, x, v) + x.g * x.softmax.p[v]
        largest = max(range(begin, end), key=lambda u: x.softmax.z[u])
        return original(case, x, v) - x.g * (v == largest) * (1 - sum(x.softmax.p[begin:end], ZERO))
    slope(a, f)


@defect("VOC-20", has("shards"), *scenes("sharded"), seen=UNKNOWN, shows="a sharded vocabulary; the loss is right", kind=BOTH)
def offset_forgotten(a):
    """The backward pass compares the column numbers within a shard with the token's id: the one-hot is in every shard that is wide
    enough, or in none. Right: the shard's first column is subtracted from the id before."""
    def f(original, case, x, v):
        begin, _ = shard_of(case, v)
        return original(case, x, v) + x.g * ((v - begin == x.target) - (v == x.target))
    slope(a, f)


@defect("VOC-21", lambda case: "shards" in case and bonus(case), *scenes("sharded"), seen=UNKNOWN,
        shows="a sharded vocabulary, and an entropy", kind=BOTH)
def entropy_of_shard(a):
    """The entropy's sum is over the first shard alone. Right: reduced over all."""
    def forward(case, x):
        s = x.softmax
        s.entropy = -sum((weighted(p, l) for p, l in list(zip(s.p, s.logp))[:case["shards"][0]]), ZERO)
        x.entropy = s.entropy
    after_forward(a, forward)


# ---- masked tokens

@defect("VOC-22", poisoned, *scenes("masked"), seen=UNKNOWN, shows="masked tokens whose logits or hidden states are NaN", kind=BOTH)
def masked_by_product(a):
    """Masked tokens are multiplied by 0 in the backward pass, and NaN stays NaN. Right: their rows are not read, and get gradient 0."""
    name = "dlogits" if a.kind == "logits" else "dhidden"

    def answers(found):
        for i, row in enumerate(a.case["batch"]["mask"]):
            for t, m in enumerate(row):
                if not m:
                    found[name][i][t] = [math.nan] * len(found[name][i][t])
    a.answered(answers, name)


# ---- the projection

HEAD = {"kind": "hidden"}


def projection(a, f):
    """f(dweight) changes the projection's gradient."""
    def answers(found):
        found["dweight"] = f(found["dweight"])
    a.answered(answers, "dweight")


def times(factor):
    return lambda rows: [[x * factor for x in row] for row in rows]


@defect("HEAD-01", has("chunks"), *scenes("chunked"), seen=UNKNOWN, shows="several chunks of tokens; the loss is right", **HEAD)
def last_chunk(a):
    """Each chunk overwrites the projection's gradient: only the last chunk's remains. Right: the sum over all chunks."""
    def f(original, case, found, v, h):
        first = sum(case["chunks"][:-1])
        starts = [sum(map(len, case["target"][:i])) for i in range(len(case["target"]))]
        return original(case, [x for x in found if starts[x.i] + x.t >= first], v, h)
    a.around(path, "weight_slope", f)


@defect("HEAD-02", has("chunks"), *scenes("chunked"), seen=UNKNOWN, shows="several chunks of tokens; the loss is right", **HEAD)
def chunks_averaged(a):
    """The projection's gradient is the mean over the chunks. Right: their sum."""
    projection(a, times(1 / len(a.case["chunks"])))


@defect("HEAD-03", lambda case: "chunks" in case and "objective" in case, *scenes("chunked"),
        seen="Liger before #628 (bf2c67b7), whose chunks were means",
        shows="several chunks of tokens; the gradient is right", **HEAD)
def loss_of_chunks_averaged(a):
    """The loss is divided by the number of chunks, the gradient is not. Right: both are sums."""
    def answers(found):
        found["loss"] /= len(a.case["chunks"])
    a.answered(answers, "loss")


@defect("HEAD-04", has("shards"), *scenes("sharded"), seen=UNKNOWN, shows="a sharded projection; the loss is right", **HEAD)
def hidden_of_one_shard(a):
    """The gradient of the hidden states includes only the first shard's columns. Right: the sum over all shards."""
    def f(original, case, x):
        kept, x.dlogits = x.dlogits, x.dlogits[:case["shards"][0]]
        found = original(case, x)
        x.dlogits = kept
        return found
    a.around(path, "hidden_slope", f)


@defect("HEAD-05", has("shards"), *scenes("sharded"), seen=UNKNOWN, shows="a sharded projection; the loss is right", **HEAD)
def hidden_reduced_twice(a):
    """The gradient of the hidden states is summed over the shards twice, which multiplies it by the number of shards. Right: once."""
    a.around(path, "hidden_slope", lambda original, case, x: multiplied(original(case, x), len(case["shards"])))


@defect("HEAD-06", hot, *scenes("tempered"), seen=UNKNOWN, shows="a temperature other than 1; the loss is right", **HEAD)
def weight_untempered(a):
    """The projection's gradient lacks the factor 1 / tau. Right: 1 / tau, as in the gradient of the hidden states."""
    projection(a, times(a.case["temperature"]))


@defect("HEAD-07", hot, *scenes("tempered"), seen=UNKNOWN, shows="a temperature other than 1; the loss is right", **HEAD)
def hidden_untempered(a):
    """The gradient of the hidden states lacks the factor 1 / tau. Right: 1 / tau, as in the projection's gradient."""
    a.around(path, "hidden_slope", lambda original, case, x: multiplied(original(case, x), mpf(case["temperature"])))


@defect("HEAD-08", lambda case: True, *scenes("tempered", "chunked"), seen=UNKNOWN, shows="always; the loss is right", **HEAD)
def accumulated_in_16_bits(a):
    """The projection's gradient is accumulated in bfloat16, every partial sum rounded. Right: in float32 or wider."""
    def f(original, case, found, v, h):
        total = ZERO
        for x in found:
            total = narrow("bf16", total + narrow("bf16", x.dlogits[v][0] * mpf(case["hidden"][x.i][x.t][h])))
        return total, original(case, found, v, h)[1]
    a.around(path, "weight_slope", f)


@defect("HEAD-09", poisoned, *scenes("masked"), seen=UNKNOWN, shows="masked tokens whose hidden states are NaN; the loss is right", **HEAD)
def masked_in_weight(a):
    """The hidden states of masked tokens enter the projection's gradient: 0 times NaN. Right: they are not read."""
    projection(a, times(math.nan))


@defect("HEAD-10", lambda case: True, *scenes("tempered", "chunked"), seen="unsloth-zoo #892 (d491423a)",
        shows="always; the loss is right", **HEAD)
def weight_twice(a):
    """The backward pass adds the projection's gradient to the leaf and also returns it: twice the gradient. Right: once."""
    projection(a, times(2))


@defect("HEAD-11", lambda case: True, *scenes("tempered", "chunked"), seen=UNKNOWN, shows="always; the loss is right", **HEAD)
def weight_detached(a):
    """The projection is detached: no gradient. Right: differentiated."""
    projection(a, times(0.0))


@defect("HEAD-12", lambda case: True, *scenes("tempered", "chunked"), seen=UNKNOWN, shows="always; the loss is right", **HEAD)
def hidden_detached(a):
    """The hidden states are detached: the layers below the projection get no gradient. Right: differentiated."""
    a.around(path, "hidden_slope", lambda original, case, x: multiplied(original(case, x), 0))
