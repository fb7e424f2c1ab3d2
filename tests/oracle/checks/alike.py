"""choices-alike: in every case the choice, or the mistake, that is easily taken for the right one gives other advantages, losses or
gradients, by formulas written out here; each of them does so in ten ordinary cases or more."""
import math

from cases import CASES
from checks.tools import active, near
from evaluate import evaluate
from objectives import changed
from record import differs
from scenarios import finish

ENOUGH = 10


def of_file():
    """(label, objective with the other choice, objective, batch)"""
    for file, label, _, base, changes, make in CASES:
        if file == "choices-alike":
            o = changed(base, **changes)
            yield label, base, o, finish(o, make(o))


def is_other(expect, scale, other):
    """In a number other than those of the report."""
    return any(differs(expect[name], other[name], scale[name]) for name in ("advantage", "loss", "term", "dlogp") if name in expect)


def is_ordinary(batch):
    """No probability below e^-20, no infinity, nothing that is not a number."""
    return all(isinstance(x, (int, float)) and -20 < x <= 0 for key in batch if key.startswith("logp") for row in batch[key] for x in row)


def group_normalised(o, batch, rewards):
    """The advantage of each response, in binary64."""
    found = []
    for r, g in zip(rewards, batch["group"]):
        own = [x for x, h in zip(rewards, batch["group"]) if h == g]
        m = math.fsum(own) / len(own)
        std = math.sqrt(math.fsum((x - m) ** 2 for x in own) / (len(own) - 1))
        found.append((r - m) / (std + o["advantage"]["eps"]) if std else 0.0)
    return found


def left_out(batch, rewards):
    """Less the mean of the others."""
    for r, g in zip(rewards, batch["group"]):
        own = [x for x, h in zip(rewards, batch["group"]) if h == g]
        yield r - (math.fsum(own) - r) / (len(own) - 1)


def placed(batch, numbers):
    """At the tokens that count."""
    numbers, shape = list(numbers), [[0.0] * T for T in batch["length"]]
    for i, tokens in active(batch):
        for t in tokens:
            shape[i][t] = numbers[i]
    return shape


def punished(o, batch, lengths):
    reward = o["reward"]
    most, cache = reward["overlong_max"], reward["overlong_cache"]
    for r, T in zip(batch["reward"], lengths):
        over = min(0.0, (most - cache - T) / cache)
        yield r + reward["overlong_factor"] * (over if reward["overlong"] == "linear" else max(-1.0, over))


def kl_of(o, batch, i, tokens):
    return o["reward"]["kl_coef"] * math.fsum(batch["logp_old"][i][t] - batch["logp_ref"][i][t] for t in tokens)


def paid(o, batch, counts):
    """The advantages where the KL of the tokens in `counts` is taken from the reward: of the whole response before responses are compared,
    or, with returns, of the tokens from each on after that."""
    if o["advantage"]["credit"] == "return":
        compared = list(left_out(batch, batch["reward"]))
        return [[compared[i] - kl_of(o, batch, i, [k for k in own if k >= t]) if t in tokens else 0.0 for t in range(T)]
                for T, (i, tokens), (_, own) in zip(batch["length"], active(batch), counts)]
    return placed(batch, left_out(batch, [r - kl_of(o, batch, i, own) for r, (i, own) in zip(batch["reward"], counts)]))


def pooled(o, batch, as_bad):
    """GMPO: the loss, by the mean log-ratio of each response; as_bad(A): is the log-ratio bounded below only?"""
    low, high = o["ratio"]["token_clip_low"], o["ratio"]["token_clip_high"]
    total = 0.0
    for i, tokens in active(batch):
        d = [(batch["logp"][i][t] - batch["logp_old"][i][t], batch["advantage"][i][t]) for t in tokens]
        y = math.fsum(max(x, -low) if as_bad(a) else min(x, high) for x, a in d) / len(d)
        total -= math.exp(y) * math.fsum(a for _, a in d) / len(d)
    return total / len(batch["length"])


def check_alike(check):
    told = {}
    for label, base, o, batch in of_file():
        expect, scale = evaluate(o, batch)
        topic, other = label.split("-")[0], evaluate(base, batch)[0]
        if topic == "overlong":
            whole, counted = (placed(batch, group_normalised(o, batch, list(punished(o, batch, lengths))))
                              for lengths in (batch["length"], [len(tokens) for _, tokens in active(batch)]))
        if topic == "kl":
            whole, counted = (paid(o, batch, counts) for counts in (active(batch), list(enumerate(map(range, batch["length"])))))
        if topic in ("overlong", "kl"):
            check(f"{label}: advantages", near(sum(whole, []), sum(expect["advantage"], [])))
            other = {**expect, "advantage": counted}
        if topic == "zero":
            check(f"{label}: loss", near([pooled(o, batch, lambda a: a < 0)], [expect["loss"]]))
            other = {**expect, "loss": pooled(o, batch, lambda a: a <= 0)}
        check(f"{label} does not tell its choice from the other", is_other(expect, scale, other))
        told[topic] = told.get(topic, 0) + is_ordinary(batch)
    for topic, number in told.items():
        check(f"only {number} ordinary cases of choices-alike for {topic}", number >= ENOUGH or topic in ("abs", "clamped"))


GROUPS = (check_alike,)
