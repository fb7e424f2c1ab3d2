"""A whole test of an implementation of GRPO and GSPO against ../*.json, with Python's standard library alone.

    python3 check.py

`loss_of` is the implementation; everything else is reading, comparing and counting.
"""
import json
import math
import os
import sys

K = 16  # tolerance: K * 2^-52 * scale
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def exp(x):
    return math.exp(x) if x < 709.78 else math.inf


def times(x, y):
    return 0.0 if x == 0 or y == 0 else x * y  # a factor that is exactly 0 makes the product 0


def finite(x):
    return 0.0 if math.isinf(x) else x


def sum_of_differences(pairs):
    """sum of x - y, where -inf stands for -K with one K: as many in x as in y cancel."""
    infinite = sum((y == -math.inf) - (x == -math.inf) for x, y in pairs)
    return infinite * math.inf if infinite else math.fsum(finite(x) - finite(y) for x, y in pairs)


def k3(D):
    """e^-D + D - 1 and its derivative; the sum cancels for small D, so its series there."""
    if abs(D) >= 0.1:
        return (math.inf if exp(-D) == math.inf else exp(-D) + D - 1), 1 - exp(-D)
    series = 1.0
    for n in range(12, 2, -1):
        series = 1 - D / n * series
    return D * D / 2 * series, -math.expm1(-D)


def clipped(A, w, eps_low, eps_high):
    """max(-w A, -clip(w) A) and its derivative with respect to log w."""
    if A > 0 and w > 1 + eps_high:
        return -A * (1 + eps_high), 0.0
    if A < 0 and w < 1 - eps_low:
        return -A * (1 - eps_low), 0.0
    return -times(A, w), -times(A, w)


def loss_of(objective, batch, advantage):
    """Loss and d loss / d logp of GRPO (ratio of a token) or GSPO (ratio of a sequence)."""
    surrogate, beta, rows = objective["surrogate"], objective["penalty"]["kl_coef"], len(batch["length"])
    terms, dlogp = [], [[0.0] * n for n in batch["length"]]
    for i, n in enumerate(batch["length"]):
        active = [t for t in range(n) if batch.get("mask", [[True] * n] * rows)[i][t]]
        number = lambda key, t: float(batch[key][i][t])
        pairs = {t: (number("logp", t), number("logp_old", t)) for t in active}
        whole = sum_of_differences(pairs.values()) / max(len(active), 1)
        c = 1 / (rows * max(len(active), 1))
        through = []
        for t in active:
            y = whole if objective["ratio"]["unit"] == "sequence_mean" else sum_of_differences([pairs[t]])
            S, dS = clipped(float(advantage[i][t]), exp(y), surrogate["eps_low"], surrogate["eps_high"])
            P, dP = k3(sum_of_differences([(number("logp", t), number("logp_ref", t))])) if beta else (0.0, 0.0)
            terms.append(c * (S + beta * P))
            through.append(c * dS)
            dlogp[i][t] = c * beta * dP + (c * dS if objective["ratio"]["unit"] == "token" else 0)
        if objective["ratio"]["unit"] == "sequence_mean":
            for t in active:
                dlogp[i][t] += math.fsum(through) / len(active)
    return math.fsum(terms), dlogp


def close(found, expected, scale):
    expected, scale = float(expected), float(scale)
    return found == expected or abs(found - expected) <= K * 2.0 ** -52 * scale + 5e-324 < math.inf


def differences(case):
    """Where the answer is wrong: lines of text."""
    expect, scale = case["expect"], case["scale"]
    loss, dlogp = loss_of(case["objective"], case["batch"], case["batch"].get("advantage", expect.get("advantage")))
    if not close(loss, expect["loss"], scale["loss"]):
        yield f"{case['id']}: loss {loss!r}, expected {expect['loss']}"
    for i, row in enumerate(expect["dlogp"]):
        for t, x in enumerate(row):
            if not close(dlogp[i][t], x, scale["dlogp"][i][t]):
                yield f"{case['id']}: dlogp[{i}][{t}] {dlogp[i][t]!r}, expected {x}"


def main():
    passed = failed = 0
    for name in ("gspo", "grpo"):
        with open(os.path.join(FOLDER, name + ".json")) as file:
            cases = json.load(file)["cases"]
        for case in cases:
            wrong = list(differences(case)) if case.get("kind", "objective") == "objective" else []
            print(*wrong[:1], sep="\n", end=f" ({len(wrong)} numbers)\n" if wrong else "")
            passed, failed = passed + (not wrong), failed + bool(wrong)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
