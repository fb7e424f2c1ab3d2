#!/usr/bin/env python3
"""A small port of some rows, written with automatic differentiation, with a switch for each of many mistakes.

    planted_port.py [MISTAKE]        an adapter; without a mistake it is right, except in cases with infinities
"""
import json
import math
import sys

MISTAKE = sys.argv[1] if len(sys.argv) > 1 else ""
ROWS = ("grpo", "dr-grpo", "dapo", "gspo", "cispo", "rloo", "luspo", "grpo-lead")


def wrong(*names):
    return MISTAKE in names


# ---- automatic differentiation

class Var:
    __slots__ = ("value", "parents", "grad")

    def __init__(self, value, parents=()):
        self.value, self.parents, self.grad = value, parents, 0.0

    def __add__(self, other):
        other = lift(other)
        return Var(self.value + other.value, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        other = lift(other)
        return Var(product(self.value, other.value), ((self, other.value), (other, self.value)))

    def __neg__(self):
        return Var(-self.value, ((self, -1.0),))

    def __sub__(self, other):
        return self + -lift(other)

    def __rsub__(self, other):
        return lift(other) + -self

    def __truediv__(self, x):
        return Var(self.value / x, ((self, 1.0 / x),))

    __radd__, __rmul__ = __add__, __mul__


def product(x, y):
    return 0.0 if x == 0 or y == 0 else x * y


def lift(x):
    return x if isinstance(x, Var) else Var(float(x))


def exponential(x):
    try:
        w = math.exp(x)
    except OverflowError:
        w = math.inf
    return w


def exp(x):
    w = exponential(x.value)
    return Var(w, ((x, w),))


def log(x):
    return Var(math.log(x.value), ((x, 1 / x.value),))


def detach(x):
    return Var(x.value)


def smaller(x, y):
    return x if x.value <= y.value else y


def larger(x, y):
    return x if x.value >= y.value else y


def clip(x, low, high):
    return Var(low) if x.value < low else Var(high) if x.value > high else x


def total(xs):
    xs = list(xs)
    return Var(math.fsum(x.value for x in xs) if all(math.isfinite(x.value) for x in xs) else sum(x.value for x in xs), tuple((x,
        1.0) for x in xs))


ROUNDED = object()  # the slope of a cast to bfloat16: the gradient is rounded on its way back


def backward(loss):
    order, seen, stack = [], set(), [(loss, False)]
    while stack:
        x, done = stack.pop()
        if done:
            order.append(x)
        elif id(x) not in seen:
            seen.add(id(x))
            stack.append((x, True))
            stack.extend((p, False) for p, _ in x.parents)
    loss.grad = 1.0
    for x in reversed(order):
        for parent, slope in x.parents:
            parent.grad += bfloat16(x.grad) if slope is ROUNDED else product(x.grad, slope)


# ---- advantages

def std(xs, less=1):
    if len(xs) < 2 or min(xs) == max(xs):
        return 0.0
    m = math.fsum(xs) / len(xs)
    return math.sqrt(math.fsum((x - m) ** 2 for x in xs) / (len(xs) - less))


def rewards(o, b):
    reward, R = o.get("reward", {}), list(b["reward"])
    if wrong("reward-clipped"):
        R = [min(max(r, -1.0), 1.0) for r in R]
    if wrong("reward-binary"):
        R = [1.0 if r > 0 else 0.0 for r in R]
    if wrong("reward-01"):
        R = [min(max(r, 0.0), 1.0) for r in R]
    if wrong("reward-bf16"):
        R = [bfloat16(r) for r in R]
    if wrong("reward-next"):
        R = R[1:] + R[:1]
    if reward.get("overlong") == "soft" and not wrong("overlong-forgotten"):
        top, buffer = reward["overlong_max"], reward["overlong_cache"]
        factor = reward["overlong_factor"]
        for i, n in enumerate(b["length"]):
            begin = top if wrong("overlong-late") else top - buffer
            R[i] += factor * min(0.0, max(-1.0, (begin - n) / (top if wrong("overlong-over-max") else buffer)))
    if reward.get("kl") == "k1" and not wrong("reward-kl-forgotten"):
        sign = -1 if wrong("reward-kl-sign") else 1
        for i, n in enumerate(b["length"]):
            kl = math.fsum(b["logp_old"][i][t] - b["logp_ref"][i][t] for t in range(n) if mask_of(b, i)[t])
            if wrong("reward-kl-mean"):
                kl /= max(1, sum(mask_of(b, i)))
            R[i] -= sign * reward["kl_coef"] * kl
    return R


def normalised(o, xs, every, widest):
    """The advantages of one group's rewards."""
    a, n, m = o["advantage"], len(xs), math.fsum(xs) / len(xs)
    if n == 1:
        return [math.nan] if wrong("singleton-nan") else [xs[0]] if wrong("singleton-raw") else [0.0]
    base = [(math.fsum(xs) - x) / (n - 1) for x in xs] if a["baseline"] == "leave_one_out" else [m] * n
    if wrong("no-baseline"):
        base = [0.0] * n
    if wrong("baseline-median"):
        s = sorted(xs)
        base = [(s[(n - 1) // 2] + s[n // 2]) / 2] * n
    if wrong("baseline-max"):
        base = [max(xs)] * n
    if wrong("baseline-padded", "both-padded"):
        base = [math.fsum(xs) / widest] * n
    if wrong("baseline-batch"):
        base = [math.fsum(every) / len(every)] * n
    if wrong("loo-over-g") and a["baseline"] == "leave_one_out":
        base = [(math.fsum(xs) - x) / n for x in xs]
    if wrong("loo-everywhere"):
        base = [(math.fsum(xs) - x) / (n - 1) for x in xs]
    if wrong("loo-forgotten"):
        base = [m] * n
    if wrong("baseline-first"):
        base = [xs[0]] * n
    if wrong("baseline-sum", "baseline-sum-around"):
        base = [math.fsum(xs)] * n
    if wrong("loo-sum") and a["baseline"] == "leave_one_out":
        base = [math.fsum(xs) - x for x in xs]
    A = [x - y for x, y in zip(xs, base)]
    if wrong("loo-gain-inverted") and a["baseline"] == "leave_one_out":
        A = [(x - m) * (n - 1) / n for x in xs]
    if wrong("scale-forgotten") or (a["scale"] == "none" and not wrong("scale-always")):
        return A
    if wrong("min-max"):
        return [(x - min(xs)) / (max(xs) - min(xs)) if std(xs) else 0.0 for x in xs]
    if wrong("min-max-eps"):
        return [(x - min(xs)) / (max(xs) - min(xs) + 1e-8) for x in xs]
    if wrong("min-max-centred"):
        return [2 * (x - min(xs)) / (max(xs) - min(xs)) - 1 if std(xs) else 0.0 for x in xs]
    if wrong("rank"):
        return [sorted(xs).index(x) / (n - 1) - 0.5 for x in xs]
    s = std(xs, 0 if wrong("population-std") else 1)
    if wrong("variance-divides"):
        s = s * s
    if wrong("batch-std"):
        s = std(every)
    if wrong("norm-divides"):
        s *= math.sqrt(n - 1)
    if wrong("range-divides"):
        s = max(xs) - min(xs)
    if wrong("mad-divides"):
        s = math.fsum(abs(x - m) for x in xs) / n if s else 0.0
    if wrong("baseline-sum-around"):
        s = math.sqrt(math.fsum((x - base[0]) ** 2 for x in xs) / (n - 1))
    if wrong("std-around-zero"):
        s = math.sqrt(math.fsum(x * x for x in xs) / n)
    if wrong("equal-noise") and min(xs) == max(xs):
        m = 0.0
        for x in xs:
            m = single(m + x)
        left = xs[0] - single(m / n)
        return [left / math.sqrt(n * left * left / (n - 1)) if left else 0.0] * n
    if wrong("std-around-zero-sample"):
        s = math.sqrt(math.fsum(x * x for x in xs) / (n - 1))
    if wrong("std-error"):
        s /= math.sqrt(n)
    if wrong("std-largest"):
        s = max(abs(x - m) for x in xs)
    if wrong("std-at-least-0.1"):
        s = max(s, 0.1)
    if wrong("std-at-least-1"):
        s = max(s, 1.0)
    if wrong("std-mean-of-groups"):
        of = [[x for x, g in zip(every, CASE["batch"]["group"]) if g == k] for k in range(GROUPS)]
        of = [std(x) for x in of if len(x) > 1]
        s = math.fsum(of) / len(of)
    if wrong("std-floored") and s:
        return [x / (math.sqrt(max(s * s, 1e-6)) + 1e-6) for x in A]
    if wrong("both-padded"):
        q = xs + [0.0] * (widest - n)
        p = math.fsum(q) / widest
        s = math.sqrt(math.fsum((x - p) ** 2 for x in q) / (widest - 1))
    if wrong("equal-nan") and s == 0:
        return [math.nan] * n
    eps = {"eps-1e-4": 1e-4, "eps-1e-6": 1e-6, "eps-1e-8": 1e-8, "eps-1e-5": 1e-5, "eps-0.1": 0.1}.get(MISTAKE, 0.0)
    if wrong("eps-inside"):
        return [x / math.sqrt(s * s + 1e-6) if s else 0.0 for x in A]
    if wrong("std-float32"):
        s = single(s)
    return [x / (s + eps) if s else 0.0 for x in A]


def compared_with_whole(o, b, R):
    """Each reward by mean and deviation of those responses of its group that were not cut off."""
    out = []
    for x, g in zip(R, b["group"]):
        of = [y for y, h, cut in zip(R, b["group"], b["truncated"]) if h == g and not cut]
        s = 1.0 if o["advantage"]["scale"] == "none" else std(of)
        out.append((x - math.fsum(of) / len(of)) / s if len(of) > 1 and b["group"].count(g) > 1 and s else 0.0)
    return out


def advantages(o, b):
    R, group = rewards(o, b), list(b["group"])
    if wrong("one-group"):
        group = [0] * len(group)
    if wrong("interleaved"):
        group = [i % (b["group"][-1] + 1) for i in range(len(group))]
    if wrong("equal-chunks"):
        group = [i // max(map(group.count, group)) for i in range(len(group))]
    if wrong("even-chunks") and len(group) % (group[-1] + 1) == 0:
        group = [i // (len(group) // (b["group"][-1] + 1)) for i in range(len(group))]
    widest = max(group.count(g) for g in group)
    a = [0.0] * len(R)
    if wrong("whole-alone") and "truncated" in b:
        return [[x if m else 0.0 for m in mask_of(b, i)] for i, x in enumerate(compared_with_whole(o, b, R))]
    for g in set(group):
        at = [i for i, h in enumerate(group) if h == g]
        for i, x in zip(at, normalised(o, [R[i] for i in at], R, widest)):
            a[i] = x
    if wrong("adv-twice"):
        for g in set(group):
            at = [i for i, h in enumerate(group) if h == g]
            for i, x in zip(at, normalised(o, [a[i] for i in at], a, widest)):
                a[i] = x
    if wrong("adv-whitened"):
        m = math.fsum(a) / len(a)
        a = [x - m for x in a]
    if wrong("adv-squared"):
        a = [x * x for x in a]
    if wrong("adv-tanh"):
        a = [math.tanh(x) for x in a]
    if wrong("adv-shifted"):
        a = [x + 0.1 for x in a]
    if wrong("adv-largest"):
        a = [x / (max(map(abs, a)) or 1.0) for x in a]
    if wrong("adv-sign"):
        a = [-x for x in a]
    if wrong("adv-abs"):
        a = [abs(x) for x in a]
    if wrong("adv-positive"):
        a = [max(x, 0.0) for x in a]
    if wrong("adv-clipped"):
        a = [min(max(x, -1.0), 1.0) for x in a]
    if wrong("adv-double"):
        a = [2 * x for x in a]
    if wrong("adv-next"):
        a = a[1:] + a[:1]
    if wrong("adv-length"):
        a = [x / max(1, sum(mask_of(b, i))) for i, x in enumerate(a)]
    if wrong("adv-times-length"):
        a = [x * sum(mask_of(b, i)) for i, x in enumerate(a)]
    rows = [[x if m or wrong("adv-unmasked") else 0.0 for m in mask_of(b, i)] for i, x in enumerate(a)]
    if wrong("adv-last-token"):
        rows = [[x if t == max((k for k, c in enumerate(mask_of(b, i)) if c), default=-1) else 0.0 for t, x in enumerate(row)]
                for i, row in enumerate(rows)]
    return rows


# ---- loss

def bfloat16(x):
    """To the nearest, halves to even."""
    import struct
    if not math.isfinite(x):
        return x
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000))[0]


def through_bfloat16(x):
    return Var(bfloat16(x.value), ((x, 1.0),))


def cast_to_bfloat16(x):
    return Var(bfloat16(x.value), ((x, ROUNDED),))


def single(x):
    import struct
    try:
        return struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def mask_of(b, i):
    n = b["length"][i]
    row = b["mask"][i] if "mask" in b else [True] * n
    if "truncated" in b and CASE["objective"].get("weight", {}).get("truncated") == "mask" and b["truncated"][i]:
        row = [False] * n
    return row


def loss_mask(b, i):
    row = mask_of(b, i)
    if wrong("mask-ignored"):
        row = [True] * len(row)
    if wrong("mask-last-token"):
        last = max((t for t, m in enumerate(row) if m), default=-1)
        row = [m and t != last for t, m in enumerate(row)]
    if wrong("mask-end-of-longest"):
        row = [m and t + 1 != WIDTH for t, m in enumerate(row)]
    if wrong("mask-first-token"):
        first = min((t for t, m in enumerate(row) if m), default=-1)
        row = [m and t != first for t, m in enumerate(row)]
    if wrong("mask-ahead"):
        row = row[1:] + [False]
    if wrong("mask-behind"):
        row = [False] + row[:-1]
    if wrong("mask-behind-prompt"):
        row = [True] + row[:-1]
    if wrong("mask-behind-edge"):
        row = row[:1] + row[:-1]
    if wrong("mask-ahead-edge"):
        row = row[1:] + row[-1:]
    if wrong("mask-ahead-kept"):
        row = row[1:] + [True]
    if wrong("mask-behind-round", "mask-ahead-round"):
        row = roll([row], 1 if wrong("mask-behind-round") else -1)[0]
    if wrong("mask-behind-width", "mask-ahead-width"):
        padded = row + [False] * (WIDTH - len(row))
        row = roll([padded], 1 if wrong("mask-behind-width") else -1)[0][:len(row)]
    if wrong("mask-behind-batch", "mask-ahead-batch"):
        rows = [mask_of(b, j) for j in range(len(b["length"]))]
        row = rolled_batch(rows, 1 if wrong("mask-behind-batch") else -1)[i]
    if wrong("mask-inverted"):
        row = [not m for m in row]
    return row


def roll(rows, by):
    return [row[-by % len(row):] + row[:-by % len(row)] for row in rows]


def rolled_batch(rows, by):
    flat = [x for row in rows for x in row]
    flat, out = flat[-by % len(flat):] + flat[:-by % len(flat)], []
    for row in rows:
        out.append(flat[:len(row)])
        flat = flat[len(row):]
    return out


def rolled_rows(rows, by, through=False):
    """In rows that are padded with 0 to the longest, each by itself or (through) one after the other."""
    padded = [row + [0.0] * (WIDTH - len(row)) for row in rows]
    return [new[:len(row)] for new, row in zip(rolled_batch(padded, by) if through else roll(padded, by), rows)]


def at_the_other_end(rows):
    """As rows that were padded with 0 before the first token are read where they are expected to be padded after the last."""
    return [([0.0] * (WIDTH - len(row)) + row)[:len(row)] for row in rows]


def arrays(b):
    l = [[Var(x) for x in row] for row in b["logp"]]
    leaves = l
    o, f = b["logp_old"] if "logp_old" in b else b["logp"], b.get("logp_ref")
    if wrong("old-right"):
        o = roll(o, 1)
    if wrong("old-left"):
        o = roll(o, -1)
    if wrong("old-shifted-zero"):
        o = [[0.0] + row[:-1] for row in o]
    if wrong("old-through-batch"):
        o = rolled_batch(o, 1)
    if wrong("old-right-row", "old-left-row"):
        o = rolled_rows(o, 1 if wrong("old-right-row") else -1)
    if wrong("old-right-padded", "old-left-padded"):
        o = rolled_rows(o, 1 if wrong("old-right-padded") else -1, True)
    if wrong("logp-left-row"):
        l = [[lift(x) for x in row] for row in rolled_rows(l, -1)]
    if wrong("ref-right-row") and f:
        f = rolled_rows(f, 1)
    if wrong("old-other-end"):
        o = at_the_other_end(o)
    if wrong("ref-other-end") and f:
        f = at_the_other_end(f)
    if wrong("old-bf16"):
        o = [[bfloat16(x) for x in row] for row in o]
    if wrong("logp-right"):
        l = roll(l, 1)
    if wrong("logp-left"):
        l = roll(l, -1)
    if wrong("logp-through-batch"):
        l = rolled_batch(l, -1)
    if wrong("ref-right") and f:
        f = roll(f, 1)
    if wrong("logp-bf16"):
        l = [[through_bfloat16(x) for x in row] for row in l]
    if wrong("logp-bf16-back"):
        l = [[cast_to_bfloat16(x) for x in row] for row in l]
    if wrong("old-temperature", "all-temperature"):
        o = [[x / 0.7 for x in row] for row in o]
    if wrong("logp-temperature", "all-temperature"):
        l = [[x / 0.7 for x in row] for row in l]
    if wrong("all-temperature") and f:
        f = [[x / 0.7 for x in row] for row in f]
    if wrong("old-masked-shifted"):
        o = [[0.0] + [x if m else 0.0 for x, m in zip(row, mask_of(b, i))][:-1] for i, row in enumerate(o)]
    if wrong("old-is-policy"):
        o = b["logp"]
    if wrong("old-is-reference") and f:
        o = f
    if wrong("kl-against-old") and f:
        f = o
    return leaves, l, o, f


def log_ratios(o, l, old, mask):
    """y of each token of a response."""
    def difference(x, y):
        d = lift(y) - x if wrong("ratio-inverted") else x - y
        if wrong("ratio-detached"):
            d = detach(d)
        if wrong("ratio-constant"):
            d = Var(0.0)
        d = d * {"log-ratio-halved": 0.5, "log-ratio-doubled": 2.0, "base-2": math.log(2), "temperature": 1.3}.get(MISTAKE, 1.0)
        if wrong("log-ratio-size") and d.value < 0:
            d = -d
        if wrong("ratio-halved"):
            d = d + math.log(0.5)
        if wrong("ratio-of-logs"):
            d = log(-x) - math.log(-y)
        if wrong("ratio-no-old"):
            d = x
        if wrong("log-ratio-bf16"):
            d = through_bfloat16(d)
        if wrong("log-ratio-bf16-back"):
            d = cast_to_bfloat16(d)
        if wrong("log-ratio-clamped"):
            d = clip(d, -0.1, 0.1)
        return d
    d = [difference(x, y) if m else Var(0.0) for x, y, m in zip(l, old, mask)]
    level = o["ratio"]["level"]
    if wrong("gspo-token-ratio") or (level == "token" and not wrong("sequence-ratio")):
        return d
    kept = [x for x, m in zip(d, mask) if m]
    if not kept:
        return d
    if wrong("sequence-ratio") and level == "token":
        y = total(kept)
    else:
        n = len(kept)
        n = {"gspo-sum": 1, "gspo-slots": len(mask), "gspo-length-twice": n * n, "gspo-root": math.sqrt(n), "gspo-plus-one": n + 1,
             "gspo-less-one": max(n - 1, 1),
             "gspo-width": WIDTH}.get(MISTAKE, n)
        y = total(kept) / n
        if wrong("gspo-masked-too"):
            y = total(difference(x, y_) for x, y_ in zip(l, old)) / n
        if wrong("gspo-arithmetic"):
            y = log(total(exp(x) for x in kept) / len(kept))
        if wrong("gspo-mean-probability"):
            new, of = [x for x, m in zip(l, mask) if m], [x for x, m in zip(old, mask) if m]
            y = log(total(exp(x) for x in new)) - log(total(exp(lift(x)) for x in of))
        if wrong("gspo-detached-token"):
            return [detach(y)] * len(d)
        if wrong("gspo-twice"):
            return [x - detach(x) + y for x in d]
        if wrong("gspo-token-gradient"):
            return [x - detach(x) + detach(y) for x in d]
    return [y] * len(d)


def surrogate(s, A, y, l):
    w = Var(y.value, ((y, 1.0),)) if wrong("no-exp") else exp(y)
    if wrong("ratio-linear"):
        w = y + 1.0
    A = -A if wrong("loss-adv-sign") else abs(A) if wrong("loss-adv-abs") else max(A, 0.0) if wrong("loss-adv-positive") else A
    if wrong("loss-adv-double"):
        A = 2 * A
    if wrong("loss-adv-sign-only"):
        A = float((A > 0) - (A < 0))
    if s["kind"] == "reinforce" and wrong("reinforce-of-itself"):
        return exp(l - detach(l)) * -A
    if s["kind"] == "reinforce":
        return exp(l) * -A if wrong("reinforce-probability") else l * (-1.0 if wrong("reinforce-no-advantage") else -A)
    if s["kind"] == "cispo":
        return cispo(s, A, w, l)
    low, high = 1 - s.get("eps_low", 0.0), 1 + s.get("eps_high", 0.0)
    if wrong("eps-exchanged"):
        low, high = 2 - high, 2 - low
    if wrong("eps-high-forgotten"):
        high = 2 - low
    if wrong("eps-doubled"):
        low, high = 2 * low - 1, 2 * high - 1
    if wrong("eps-odd"):
        low, high = low - 0.0173, high + 0.0173
    if wrong("eps-0.3"):
        low, high = 0.7, 1.3
    if wrong("clip-reciprocal"):
        low = 1 / high
    if wrong("clip-around-zero"):
        low, high = low - 1, high - 1
    if wrong("clip-no-lower"):
        low = 0.0
    if wrong("clip-no-upper"):
        high = math.inf
    if wrong("clip-log"):
        low, high = math.exp(low - 1), math.exp(high - 1)
    if wrong("clip-epsilons"):
        low, high = 1 - low, high - 1
    if wrong("clip-clamped-log"):
        w = exp(clip(y, low - 1, high - 1))
    clipped = clip(w, low, high)
    if wrong("clip-only-of-bad"):
        return clipped * -A if A < 0 else larger(w * -A, clipped * -A)
    if wrong("clip-detached-outside"):
        return (w if low <= w.value <= high else detach(w)) * -A
    if wrong("clip-dropped-by-high"):
        return w * -A if abs(w.value - 1) <= high - 1 else Var(0.0)
    if wrong("clip-advantage"):
        return w * -min(max(A, low), high)
    if wrong("clip-bounds-turned"):
        clipped = smaller(larger(w, Var(high)), Var(low))
    if wrong("clip-straight-through"):
        clipped = w - detach(w) + detach(clipped)
    if wrong("clip-none"):
        return w * -A
    if wrong("clip-exchanged"):
        return smaller(w * -A, clipped * -A)
    if wrong("clip-only"):
        return clipped * -A
    if wrong("clip-min-of-ratios"):
        return smaller(w, clipped) * -A
    if wrong("clip-product"):
        return larger(w * -A, -clip(w * A, low, high))
    if wrong("clip-product-twice"):
        return larger(w * -A, clip(w * A, low, high) * -A)
    if wrong("clip-added"):
        return w * -A + clipped * -A
    if wrong("clip-detached-weight"):
        return detach(clipped) * l * -A
    if wrong("clip-dropped"):
        return w * -A if low <= w.value <= high else Var(0.0)
    if wrong("clip-gradient-killed"):
        x = larger(w * -A, clipped * -A)
        return x if low <= w.value <= high else detach(x)
    if wrong("clip-gradient-elsewhere"):
        x = larger(w * -A, clipped * -A)
        harmless = (A > 0 and w.value < low) or (A < 0 and w.value > high)
        return detach(x) if harmless else detach(x) + w * -A - detach(w * -A)
    if wrong("clip-eps-of-the-other-sign"):
        clipped = clip(w, 2 - high, 2 - low) if A < 0 else clipped
        return larger(w * -A, clipped * -A)
    if wrong("clip-upper-for-good"):
        return larger(w * -A, clip(w, 0.0, high) * -A) if A > 0 else w * -A
    if wrong("clip-lower-is-eps"):
        return larger(w * -A, clip(w, 1 - low, high) * -A)
    if wrong("dual-clip-any-sign"):
        return smaller(larger(w * -A, clipped * -A), Var(3 * abs(A)))
    if wrong("gradient-sign-of-bad"):
        x = larger(w * -A, clipped * -A)
        return detach(x) + detach(x) - x if A < 0 else x
    if wrong("clip-halved-inside"):
        x = larger(w * -A, clipped * -A)
        return Var(x.value, ((x, 0.5),)) if low <= w.value <= high else x
    if wrong("ratio-bf16"):
        w = through_bfloat16(w)
        return larger(w * -A, clip(w, low, high) * -A)
    if wrong("ratio-bf16-back"):
        w = cast_to_bfloat16(w)
        return larger(w * -A, clip(w, low, high) * -A)
    if wrong("clip-soft"):
        return w * -A * math.tanh(abs(A))
    if wrong("dual-clip"):
        x = larger(w * -A, clipped * -A)
        return smaller(x, Var(-3 * A)) if A < 0 else x
    if wrong("gradient-no-ratio"):
        x = larger(w * -A, clipped * -A)
        return Var(x.value, ((y, -A if x.parents and w.value * -A == x.value else 0.0),))
    if wrong("ratio-less-one"):
        return larger((w - 1.0) * -A, (clipped - 1.0) * -A)
    if wrong("gradient-sign"):
        x = larger(w * -A, clipped * -A)
        return detach(x) + detach(x) - x
    return larger(w * -A, clipped * -A)


def cispo(s, A, w, l):
    low, high = s.get("weight_min", 0.0), float(s["weight_max"])
    if wrong("cispo-cap-more"):
        high += 1
    c = clip(w, low, high)
    if wrong("cispo-unclipped"):
        c = w
    if wrong("cispo-attached"):
        return c * l * -A
    if wrong("cispo-no-log"):
        return c * -A
    if wrong("cispo-dropped") and c is not w:
        return Var(0.0)
    if wrong("cispo-log-ratio"):
        return detach(c) * log(w) * -A
    if wrong("cispo-unweighted"):
        return l * -A
    if wrong("cispo-lower-bound"):
        c = clip(w, 1 / high, high)
    return detach(c) * l * -A


def penalty(p, l, f, A, w):
    D = l - f
    coef = p["kl_coef"]
    K = exp(-D) + D - 1.0
    if abs(D.value) < 0.1:                      # a series where the terms cancel
        v = D.value
        K = Var(math.fsum((-v) ** n / math.factorial(n) for n in range(2, 16)), ((D, -math.expm1(-v)),))
    if wrong("kl-k1"):
        K = D
    if wrong("kl-k2"):
        K = D * D * 0.5
    if wrong("kl-square"):
        K = D * D
    if wrong("kl-abs"):
        K = D if D.value >= 0 else -D
    if wrong("k3-reversed"):
        K = exp(D) - D - 1.0
    if wrong("k3-without-one"):
        K = exp(-D) + D
    if wrong("k3-mixed"):
        K = exp(D) + D - 1.0
    if wrong("kl-sign"):
        K = -K
    if wrong("kl-coef-twice"):
        coef *= coef
    if wrong("kl-no-coef"):
        coef = 1.0
    if wrong("kl-coef-0.1"):
        coef = 0.1
    if wrong("kl-forgotten"):
        coef = 0.0
    if wrong("kl-k3-gradient-of-k2"):
        K = Var(K.value, ((D, D.value),))
    if wrong("kl-k3-gradient-of-k1"):
        K = Var(K.value, ((D, 1.0),))
    if wrong("kl-weight-detached"):
        K = K * detach(w)
    if wrong("kl-clamped"):
        K = clip(K, -0.01, 0.01)
    if wrong("kl-coef-halved"):
        coef /= 2
    if wrong("kl-doubled"):
        coef *= 2
    if wrong("kl-detached"):
        K = detach(K)
    if wrong("kl-weighted"):
        K = K * w
    if wrong("kl-times-advantage"):
        K = K * A
    return K * coef


def aggregated(o, terms, kinds=None):
    """terms: of each response those that count."""
    kind, N = kinds or o["aggregation"]["kind"], len(terms)
    names = {"agg-token-mean": "token_mean", "agg-seq-mean": "seq_mean_token_mean", "agg-sum": "token_sum",
        "agg-seq-sum": "seq_mean_token_sum"}
    kind = names.get(MISTAKE, kind)
    if wrong("micro-batches") and N > 2:
        parts = [terms[k:k + 2] for k in range(0, N, 2)]
        if kind == "seq_mean_token_mean":
            return total(total(total(row) / len(row) for row in part if row) / len(part) for part in parts) / len(parts)
        if kind in ("token_mean", "group_mean_token_mean"):
            return total(total(x for row in part for x in row) / max(1, sum(map(len, part))) for part in parts) / len(parts)
    if wrong("micro-tokens") and N > 2 and kind == "seq_mean_token_mean":
        parts = [terms[k:k + 2] for k in range(0, N, 2)]
        return total(total(x for row in part for x in row) / max(1, sum(map(len, part))) for part in parts) / len(parts)
    count = sum(len(x) for x in terms)
    if kind == "token_sum":
        return total(x for row in terms for x in row)
    if kind == "token_mean":
        n = {"agg-slots": SLOTS, "agg-eps": count + 1e-8, "agg-width": WIDTH * N, "agg-plus-one": count + 1}.get(MISTAKE, count)
        return total(x for row in terms for x in row) / n if count else Var(0.0)
    if kind == "group_mean_token_mean":
        groups = [[x for i, row in enumerate(terms) if CASE["batch"]["group"][i] == g for x in row] for g in range(GROUPS)]
        lengths = [[n for n, of in zip(LENGTHS, CASE["batch"]["group"]) if of == g] for g in range(GROUPS)]
        return total(total(group) / {"agg-eps": len(group) + 1e-8, "agg-plus-one": len(group) + 1, "group-slots": sum(own),
                                     "group-width": WIDTH * len(own)}.get(MISTAKE, len(group))
                     for group, own in zip(groups, lengths) if group) / GROUPS

    def divisor(row, i):
        n = len(row)
        return {"agg-length-twice": n * n, "agg-slots": LENGTHS[i], "agg-width": WIDTH, "agg-eps": n + 1e-8,
                "agg-plus-one": n + 1, "agg-less-one": max(n - 1, 1)}.get(MISTAKE, n)
    parts = {"seq_mean_token_mean": lambda row, i: total(row) / divisor(row, i), "seq_mean_token_sum": lambda row, i: total(row),
             "seq_mean_constant": lambda row, i: total(row) / o["aggregation"].get("constant", 1)}[kind]
    if wrong("agg-per-group"):
        size = {g: CASE["batch"]["group"].count(g) for g in range(GROUPS)}
        return total(parts(row, i) / size[CASE["batch"]["group"][i]] for i, row in enumerate(terms) if row) / GROUPS
    if wrong("agg-group-token-mean"):
        groups = [[x for i, row in enumerate(terms) if CASE["batch"]["group"][i] == g for x in row] for g in range(GROUPS)]
        return total(total(group) / len(group) for group in groups if group) / GROUPS
    if wrong("agg-longest-of-group"):
        longest = {g: max(n for n, of in zip(LENGTHS, CASE["batch"]["group"]) if of == g) for g in range(GROUPS)}
        return total(total(row) / longest[CASE["batch"]["group"][i]] for i, row in enumerate(terms) if row) / N
    if wrong("empty-dropped"):
        N = sum(1 for row in terms if row) or 1
    if wrong("agg-with-advantage"):
        N = sum(1 for i in range(N) if any(x and m for x, m in zip(CASE["advantage"][i], loss_mask(CASE["batch"], i)))) or 1
    if wrong("agg-sum-of-sequences"):
        N = 1
    if wrong("agg-groups"):
        N = GROUPS
    return total(parts(row, i) for i, row in enumerate(terms) if row) / N


def column_ratios(b, l, old):
    """The mean log-ratio of each position, over the responses."""
    masks = [loss_mask(b, i) for i in range(len(l))]
    at = [[i for i, mask in enumerate(masks) if t < len(mask) and mask[t]] for t in range(WIDTH)]
    return [total(l[i][t] - old[i][t] for i in of) / max(1, len(of)) for t, of in enumerate(at)]


def mean_of_columns(b, terms):
    """The mean over the positions of the mean over the responses that have a token there."""
    places = [[t for t, m in enumerate(loss_mask(b, i)) if m] for i in range(len(terms))]
    columns = [[x for own, row in zip(places, terms) for k, x in zip(own, row) if k == t] for t in range(WIDTH)]
    return total(total(column) / len(column) for column in columns if column) / WIDTH


def evaluate(case):
    global CASE, WIDTH, LENGTHS, SLOTS, GROUPS
    o, b = case["objective"], case["batch"]
    CASE, LENGTHS, WIDTH, SLOTS, GROUPS = case, b["length"], max(b["length"]), sum(b["length"]), b["group"][-1] + 1
    result = {"advantage": advantages(o, b)} if "advantage" not in b and "reweight" not in o["advantage"] else {}
    A = case["advantage"]
    if wrong("last-response"):
        A = A[:-1] + [[0.0] * len(A[-1])]
    if wrong("first-group"):
        A = [row if g == 0 else [0.0] * len(row) for row, g in zip(A, b["group"])]
    if wrong("loss-adv-next"):
        A = [[A[(i + 1) % len(A)][0]] * len(row) for i, row in enumerate(A)]
    if wrong("loss-adv-by-length"):
        longest = sorted(range(len(A)), key=lambda i: -LENGTHS[i])
        A = [[next((x for x, m in zip(A[j], mask_of(b, j)) if m), 0.0)] * len(row) for row, j in zip(A, longest)]
    if wrong("loss-adv-rolled"):
        rows = [[x if m else 0.0 for x, m in zip(row, mask_of(b, i))] + [0.0] * (WIDTH - len(row)) for i, row in enumerate(A)]
        A = [rows[(i + 1) % len(A)][:len(row)] for i, row in enumerate(A)]
    if wrong("loss-adv-over-length", "loss-adv-times-length"):
        sizes = [sum(mask_of(b, i)) or 1 for i in range(len(A))]
        A = [[x / n if wrong("loss-adv-over-length") else x * n for x in row] for row, n in zip(A, sizes)]
    if wrong("loss-adv-axis") and len(A) == WIDTH:
        own = [next((x for x, m in zip(row, mask_of(b, i)) if m), 0.0) for i, row in enumerate(A)]
        A = [own[:len(row)] for row in A]
    if wrong("loss-adv-late"):
        late = [x for row in A for x in row[:1] + row]
        A = [[late[sum(LENGTHS[:i]) + t] for t in range(len(row))] for i, row in enumerate(A)]
    if wrong("loss-adv-first", "loss-adv-last"):
        counting = [[t for t, x in enumerate(loss_mask(b, i)) if x] for i in range(len(A))]
        one = 0 if wrong("loss-adv-first") else -1
        A = [[x if at and t == at[one] else 0.0 for t, x in enumerate(row)] for row, at in zip(A, counting)]
    if wrong("loss-adv-of-first", "loss-adv-of-last", "loss-adv-mean"):
        for i, row in enumerate(A):
            own = [x for x, m in zip(row, loss_mask(b, i)) if m] or [0.0]
            one = {"loss-adv-of-first": own[0], "loss-adv-of-last": own[-1]}.get(MISTAKE, math.fsum(own) / len(own))
            A = [*A[:i], [one] * len(row), *A[i + 1:]]
    leaves, l, old, f = arrays(b)
    policy, kl = [], []
    columns = column_ratios(b, l, old) if wrong("gspo-axis") and o["ratio"]["level"] == "sequence_mean" else None
    coef = o.get("penalty", {}).get("kl_coef", 0.0)
    for i in range(len(l)):
        mask = loss_mask(b, i)
        if wrong("kl-in-advantage") and coef and f:
            A = [list(row) for row in A]
            for t in range(len(mask)):
                if mask[t]:
                    A[i][t] -= detach(penalty(o["penalty"], l[i][t], f[i][t], 0.0, Var(1.0))).value
        y = columns or log_ratios(o, l[i], old[i], mask)
        policy.append([surrogate(o["surrogate"], A[i][t], y[t], l[i][t]) for t in range(len(mask)) if mask[t]])
        if wrong("policy-left-out", "policy-turned"):
            policy[-1] = [x * (0.0 if wrong("policy-left-out") else -1.0) for x in policy[-1]]
        if wrong("policy-detached"):
            policy[-1] = [detach(x) for x in policy[-1]]
        if wrong("eos-not-summed") and policy[-1]:
            policy[-1][-1] = Var(0.0)
        if wrong("informative-alone") and not any(A[i]):
            policy[-1] = []
        if o.get("penalty", {}).get("kl_coef") and f:
            of = [Var(x) for x in old[i]] if wrong("kl-of-old") else l[i]
            if wrong("kl-of-mean") and any(mask):
                D = total(x - y for x, y, m in zip(of, f[i], mask) if m) / sum(mask)
                of = [D + y for y in f[i]]
            in_loss = 0.0 if wrong("kl-in-advantage") else 1.0
            pays = [True] * len(mask) if wrong("kl-all-slots") else mask
            kl.append([penalty(o["penalty"], of[t], f[i][t], A[i][t], exp(y[t])) * in_loss for t in range(len(mask)) if pays[t]])
    bonus, entropies = [], [[Var(x) for x in row] for row in b.get("entropy", [])]
    if o.get("penalty", {}).get("entropy_coef"):
        coef = {"entropy-penalised": -1.0, "entropy-forgotten": 0.0}.get(MISTAKE, 1.0) * o["penalty"]["entropy_coef"]
        if wrong("entropy-no-coef"):
            coef = 1.0
        bonus = [[(detach(x) if wrong("entropy-detached") else x) * -coef for x, m in zip(row, loss_mask(b, i)) if m]
                 for i, row in enumerate(entropies)]
    if bonus:
        policy = [[x + y for x, y in zip(p, e)] for p, e in zip(policy, bonus)]
    if kl and wrong("kl-masked-too", "kl-masked-in-the-sum"):
        every = [[penalty(o["penalty"], x, y, 0.0, Var(1.0)) for x, y in zip(row, of)] for row, of in zip(l, f)]
        slots = [len(row) if wrong("kl-masked-too") else max(1, len(p)) for row, p in zip(l, policy)]
        loss = aggregated(o, policy) + total(total(row) / n for row, n in zip(every, slots)) / len(l)
    elif kl and wrong("kl-sum"):
        loss = aggregated(o, policy) + aggregated(o, kl, "token_sum")
    elif kl and wrong("kl-all-slots"):
        loss = aggregated(o, policy) + total(x for row in kl for x in row) / (WIDTH * len(l))
    elif kl and wrong("kl-sum-of-response"):
        loss = aggregated(o, policy) + aggregated(o, kl, "seq_mean_token_sum")
    elif kl and wrong("kl-token-mean"):
        loss = aggregated(o, policy) + aggregated(o, kl, "token_mean")
    else:
        terms = [[x + y for x, y in zip(p, k)] for p, k in zip(policy, kl)] if kl else policy
        of_columns = wrong("agg-axis") and o["aggregation"]["kind"] == "seq_mean_token_mean"
        loss = mean_of_columns(b, terms) if of_columns else aggregated(o, terms)
    loss = loss * {"loss-sign": -1.0, "loss-halved": 0.5, "loss-times-groups": float(GROUPS), "loss-odd": 0.9 + 0.01 * SLOTS,
                    "loss-over-4": 0.25,
                    "loss-over-tokens": 1 / max(1, sum(map(len, policy))), "loss-times-slots": SLOTS / max(1, sum(map(len, policy))),
                    "loss-over-n-plus-one": len(l) / (len(l) + 1),
                    "dr-constant": 3000 / 1024 if o["aggregation"].get("constant") else 1.0}.get(MISTAKE, 1.0)
    backward(loss)
    dlogp = [[x.grad for x in row] for row in leaves]
    if wrong("gradient-noise"):
        dlogp = [[x * (1 + 0.01 * math.sin(7 * i + 3 * t)) for t, x in enumerate(row)] for i, row in enumerate(dlogp)]
    if wrong("gradient-scaled-odd"):
        dlogp = [[1.37 * x for x in row] for row in dlogp]
    if wrong("gradient-per-length"):
        dlogp = [[x * math.log(1 + len(row)) for x in row] for row in dlogp]
    if wrong("gradient-doubled"):
        dlogp = [[2 * x for x in row] for row in dlogp]
    if wrong("loss-3-decimals"):
        loss.value = round(loss.value, 3)
    if wrong("loss-4-digits"):
        loss.value = float(f"{loss.value:.4g}")
    if wrong("gradient-float32"):
        dlogp = [[single(x) for x in row] for row in dlogp]
    value = single(loss.value) if wrong("loss-float32") else loss.value
    if wrong("sum-float32"):
        value = 0.0
        for row in policy:
            for x in row:
                value = single(value + single(x.value))
        value = single(value) * (loss.value / (math.fsum(x.value for row in policy for x in row) or 1.0))
        dlogp = [[single(x) for x in row] for row in dlogp]
    if wrong("result-bf16"):
        value, dlogp = bfloat16(value), [[bfloat16(x) for x in row] for row in dlogp]
    if bonus:
        result["dentropy"] = [[x.grad for x in row] for row in entropies]
    return {**result, "loss": value, "dlogp": dlogp}


# ---- the protocol

def json_number(x):
    return x if math.isfinite(x) else "NaN" if x != x else "Infinity" if x > 0 else "-Infinity"


def json_form(x):
    return [json_form(y) for y in x] if isinstance(x, list) else json_number(x)


def numbers(x):
    if isinstance(x, dict):
        return {k: numbers(y) for k, y in x.items()}
    if isinstance(x, list):
        return [numbers(y) for y in x]
    return {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}.get(x, x) if isinstance(x, str) else x


OTHERS = ("grpo-process-", "grpo-r1-", "grpo-unbiased-", "dapo-filter-", "dapo-zv-", "gspo-token-")


def is_of_row(name):
    return any(name.startswith(row + "-") for row in ROWS) and not name.startswith(OTHERS)


def answer(request):
    case = numbers(request["case"])
    if case["kind"] != "objective" or not is_of_row(case["id"]):
        return {"seq": request["seq"], "skip": "not this row"}
    return {"seq": request["seq"], "result": {k: json_form(x) for k, x in evaluate(case).items()}}


def main():
    for line in sys.stdin:
        request = json.loads(line)
        if request["cmd"] == "stop":
            break
        if request["cmd"] == "start":
            reply = {"version": 1, "name": "planted", "language": "python", "release": "1", "precision": "f64", "outputs": ["advantage",
                "loss", "dlogp", "dentropy"]}
        else:
            reply = answer(request)
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
