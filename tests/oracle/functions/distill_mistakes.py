"""Known mistakes of programs that distil."""
import math
import struct

from functions.distill_divergence_cases import likeliest
from functions.mistakes import mistake, right


def finite(found):
    """The wrong answers of a case whose right ones are all finite, else None."""
    return found if "dlogits" in found and all(math.isfinite(x) for x in found["divergence"]) else None


def wrong(given, **changed):
    return finite(right("distill_divergence", given, **changed))


def scaled(given, factor):
    """Divergences and slopes times a factor."""
    found = right("distill_divergence", given)
    return finite({key: [factor * x for x in xs] for key, xs in found.items()})


def plain_sums(f):
    """Of cases without clip and bounds."""
    def only(given):
        return None if given["clip"] or given["divergence_max"] or given["logp_min"] else f(given)
    only.__doc__ = f.__doc__
    return only


@mistake("distill_divergence")
def directions_exchanged(given):
    """KL(student || teacher) for KL(teacher || student), or the other way round: PyTorch's kl_div takes them in the other order."""
    other = {"forward": "reverse", "reverse": "forward"}.get(given["kind"])
    return other and wrong(given, kind=other)


@mistake("distill_divergence")
def beta_exchanged(given):
    """beta is the student's share of the mixture, and 1 - beta the teacher's."""
    return wrong(given, beta=1 - given["beta"]) if given["kind"] == "jensen_shannon" else None


@mistake("distill_divergence")
def teacher_at_1(given):
    """The temperature divides only the student's logits."""
    return wrong(given, teacher_temperature=1)


@mistake("distill_divergence")
def student_at_1(given):
    """The temperature divides only the teacher's logits."""
    return wrong(given, temperature=1)


@mistake("distill_divergence")
def temperature_squared(given):
    """The loss is multiplied by the square of the temperature, as in distillation of classifiers; none of these sources does so."""
    return scaled(given, given["temperature"] ** 2)


@mistake("distill_divergence")
def slope_at_temperature_1(given):
    """The slope lacks the division by the temperature."""
    found = right("distill_divergence", given)
    return finite({**found, "dlogits": [x * given["temperature"] for x in found.get("dlogits", ())]})


@mistake("distill_divergence")
@plain_sums
def mean_over_vocabulary(given):
    """The mean over the vocabulary, or over the ids, in place of the sum: kl_div with reduction mean."""
    return scaled(given, 1 / len(given["teacher"][0]))


@mistake("distill_divergence")
def not_renormalised(given):
    """The student's probabilities at the ids are those over the whole vocabulary; only the teacher's are normalised again."""
    if given["tail"] != "renormalised" or "-Infinity" in sum(given["teacher"], []) or "mask" in given:
        return None
    teacher = [[x / given["teacher_temperature"] for x in row] for row in given["teacher"]]
    logs = [math.log(sum(math.exp(x) for x in row)) for row in teacher]
    return wrong(given, tail="left_out", teacher=[[x - log for x in row] for row, log in zip(teacher, logs)], teacher_temperature=1)


@mistake("distill_divergence")
def renormalised_all_the_same(given):
    """With `left_out`, both sides are normalised over the ids."""
    return wrong(given, tail="renormalised", logp_min=0) if given["tail"] == "left_out" and "ids" in given else None


@mistake("distill_divergence")
def bucket_left_out(given):
    """There is no entry for the rest."""
    return wrong(given, tail="left_out") if given["tail"] == "bucket" else None


@mistake("distill_divergence")
def other_support(given):
    """The ids are the student's most likely tokens, but the teacher's numbers belong to other ids."""
    if "ids" not in given or "mask" in given:
        return None
    places = lambda row: [-math.inf if x == "-Infinity" else x for x in row]
    return wrong(given, ids=[likeliest(places(row), len(own)) for row, own in zip(given["student"], given["ids"])])


@mistake("distill_divergence")
def row_clipped(given):
    """The clip bounds the row, not each entry of the vocabulary."""
    return wrong(given, clip=0, divergence_max=given["clip"]) if given["clip"] and not given["divergence_max"] else None


@mistake("distill_divergence")
def not_clipped(given):
    """There is no clip of the entries."""
    return wrong(given, clip=0) if given["clip"] else None


@mistake("distill_divergence")
def padding_pays(given):
    """Padding rows count like other rows."""
    return wrong({key: x for key, x in given.items() if key != "mask"}) if "mask" in given and given["kind"] != "forward" else None


def bfloat16(x):
    bits = struct.unpack("I", struct.pack("f", x))[0]
    return struct.unpack("f", struct.pack("I", (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000))[0]


@mistake("distill_divergence")
def short_mixture(given):
    """The logarithm of the mixture is rounded to 16 bits."""
    b = given["beta"]
    if given["kind"] != "jensen_shannon" or b in (0, 1) or "ids" in given or "mask" in given or "-Infinity" in sum(
            given["student"] + given["teacher"], []):
        return None
    divergences = []
    for z, t in zip(given["student"], given["teacher"]):
        p, q = probabilities(z, given["temperature"]), probabilities(t, given["teacher_temperature"])
        if 0 in p + q:
            return None
        logs = [bfloat16(math.log((1 - b) * x + b * y)) for x, y in zip(p, q)]
        divergences.append(sum(b * y * (math.log(y) - m) + (1 - b) * x * (math.log(x) - m) for x, y, m in zip(p, q, logs)))
    return {"divergence": divergences}


def probabilities(z, temperature):
    e = [math.exp((x - max(z)) / temperature) for x in z]
    return [x / sum(e) for x in e]


# ---- its inputs

@mistake("distill_top")
def normalised_over_the_top(given):
    """The log-probabilities are of a softmax over the k tokens, not over the vocabulary."""
    found, k = right("distill_top", given), given["k"]
    if -math.inf in found["logp"]:
        return None
    parts = [found["logp"][i:i + k] for i in range(0, len(found["logp"]), k)]
    logs = [max(own) + math.log(sum(math.exp(x - max(own)) for x in own)) for own in parts]
    return {"logp": [x - log for own, log in zip(parts, logs) for x in own]}


@mistake("distill_top")
def in_order_of_likelihood(given):
    """The ids are in order of likelihood, not ascending, so their log-probabilities are assigned to other tokens."""
    found, k = right("distill_top", given), given["k"]
    order = sorted(range(len(found["ids"])), key=lambda i: (i // k, -found["logp"][i], found["ids"][i]))
    return {"ids": [found["ids"][i] for i in order]}


@mistake("distill_at")
def raw_logits(given):
    """The numbers are logits over the temperature, without the log-sum-exp subtracted."""
    if "-Infinity" in sum(given["logits"], []):
        return None
    return {"logp": [row[v] / given["temperature"] for row, own in zip(given["logits"], given["ids"]) for v in own]}


@mistake("distill_importance_weight")
def not_truncated(given, batch):
    """The ratio is not truncated."""
    return right("distill_importance_weight", given, batch, clip=1e300)


@mistake("distill_importance_weight")
def upside_down(given, batch):
    """The inverse ratio: sampling policy over current policy."""
    return right("distill_importance_weight", given, {**batch, "logp": batch["logp_old"], "logp_old": batch["logp"]})


@mistake("distill_pairs")
def by_slots(given, batch):
    """Lengths count masked tokens too."""
    return right("distill_pairs", given, {key: x for key, x in batch.items() if key != "mask"})


@mistake("distill_pairs")
def pairs_exchanged(given, batch):
    """The wrong response teaches the correct one."""
    found = right("distill_pairs", given, batch)
    return {"teacher": found["student"], "student": found["teacher"]}


@mistake("frontier_weight")
def without_4(given, batch):
    """The factor 4 is missing: a prompt with half of its responses correct has a quarter of the strength."""
    return {"weight": [x / 4 for x in right("frontier_weight", given, batch)["weight"]]}


@mistake("frontier_weight")
def difficulty(given, batch):
    """The weight is that of hard prompts, strength (1 - p)."""
    n = [batch["group"].count(g) for g in range(batch["group"][-1] + 1)]
    wrong_ones = [sum(not c for c, g in zip(given["correct"], batch["group"]) if g == group) for group in range(len(n))]
    return {"weight": [given["strength"] * w / m for w, m in zip(wrong_ones, n)]}
