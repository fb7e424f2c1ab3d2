"""Cases of kind split in NumPy (../../vectors/partitions.md), as ranks compute them: each part has only its own tokens, and needs of the
other parts only sums over all parts of its optimiser step.

`part` is a coroutine. It yields its contribution to such a sum, an array by response, group or count, and is sent the sum. The backward
pass has such sums too: the gradient of a rank's loss by a response's ratio belongs to the response's tokens on all ranks."""
import types
import numpy as np
from numpy_port import bounded, load, minus, penalty, surrogate, times, total
from protocol import OF_PORTS, Skip


def ranges(case, part):
    """[(response, begin, end)]"""
    if "tokens" in part:
        return part["tokens"]
    group, length = case["batch"]["group"], case["batch"]["length"]
    rows = part.get("rows", [part.get("responses", [i for g in part.get("groups", ()) for i, of in enumerate(group) if of == g])])
    return [(i, 0, length[i]) for row in rows for i in row]


def pooled(level, own, sums, T, seq):
    """The pooled log-ratio of a response, from the sum over its tokens."""
    return own if level == "token" else sums[seq] / (T[seq] if "mean" in level else 1)


def corrected(c, b, at, T):
    """(v, whether it is inside the band) of the tokens; yields the sums of their log-weights."""
    q = bounded(minus(b.logp_old[at], b.logp_rollout[at]), -c["rollout_clamp"], c["rollout_clamp"])[0]
    sums = yield total(q, b.seq[at], b.n)
    v, low, high = np.exp(pooled(c["rollout_is_level"], q, sums, T, b.seq[at])), float(c["rollout_is_low"]), float(c["rollout_is_high"])
    band = (v >= low) & (v <= high) | (c["rollout_is"] not in ("mask", "reject"))
    return times(band, {"truncate": np.clip(v, low, high), "mask": v}.get(c["rollout_is"], np.ones_like(v))), band


def counted(c, b, places, T, Tg):
    """The numbers of responses and groups whose first token is among the places; those without counting tokens only if they are kept."""
    drop, here = c["empty_sequences"] == "drop", [b.seq[k] for k in places if b.first[k]]
    first = {b.group[i]: i for i in reversed(b.responses)}
    return (sum(1 for i in here if T[i] or not drop), sum(1 for i in here if first[b.group[i]] == i and (Tg[b.group[i]] or not drop)))


def coefficient(c, totals, T, Tg, seq, group):
    tokens, n, groups = totals
    C = c["constant"] or 1
    return {"token_sum": 1, "token_mean": 1 / max(tokens, 1), "seq_mean_token_mean": 1 / (n * T[seq]), "seq_mean_token_sum": 1 / n,
            "constant": 1 / C, "seq_mean_constant": 1 / (n * C), "group_mean_token_mean": 1 / (groups * Tg[group])}[c["kind"]]


def ratio(c, b, at, T):
    """y of each token, its derivative by the token's own l, and d; yields the sums of d."""
    d0, A, seq = minus(b.logp[at], (b.logp_rollout if c["behaviour"] == "rollout" else b.logp_old)[at]), b.A[at], b.seq[at]
    d, J = bounded(d0, c["clamp_low"], c["clamp_high"])
    if c["level"] == "sequence_clipped_mean":
        J &= np.where(A >= 0, d <= c["token_clip_high"], d >= -c["token_clip_low"])
        d = np.where(A >= 0, np.minimum(d, c["token_clip_high"]), np.maximum(d, -c["token_clip_low"]))
    sums = yield total(d, seq, b.n)
    y, inside = bounded(pooled(c["level"], d, sums, T, seq), c["level_clamp_low"], c["level_clamp_high"])
    share = T[seq] if "mean" in c["level"] and c["gradient"] == "full" else 1
    return y.astype(d.dtype), ((J & inside) / share).astype(d.dtype), d0


def part(o, b, places, factor):
    """Forward and backward pass of a part: writes its gradients into b.dlogp, to be reduced, and returns the outputs of the part."""
    at = np.array([k for k in places if b.active[k]], int)
    T = yield np.bincount(b.seq[at], minlength=b.n)
    v, band = yield from corrected(o["weight"], b, at, T)
    if o["weight"]["rollout_rejected"] == "unmask":
        at, v = at[band], v[band]
        T = yield np.bincount(b.seq[at], minlength=b.n)
    seq, group, A, l = b.seq[at], b.group[b.seq[at]], b.A[at], b.logp[at]
    Tg = yield np.bincount(group, minlength=b.groups)
    n, groups = counted(o["aggregation"], b, places, T, Tg)
    totals = yield np.array([len(at), n, groups])
    y, J, d = yield from ratio(o["ratio"], b, at, T)
    S, Sy, Sl = (times(v, x.astype(l.dtype)) for x in surrogate(o["surrogate"], A, y, l, None))
    P, Py, Pl = penalty(o["penalty"], minus(l, b.logp_ref[at]), d, np.exp(y), None)
    c = (factor * coefficient(o["aggregation"], totals, T, Tg, seq, group) * np.ones(len(at))).astype(l.dtype)
    through = times(c, Sy + Py)
    whole = yield total(through, seq, b.n)
    if o["ratio"]["gradient"] == "full" and o["ratio"]["level"] != "token":
        through = whole[seq].astype(l.dtype)
    b.dlogp[at] = times(c, Sl + Pl) + times(J, through)
    return {"part_tokens": len(at), "part_sequences": n, "part_groups": groups, "part_sum": np.sum(S + P), "part_loss": np.sum(c * (S + P)),
            "d": dict(zip(at.tolist(), d))}


def in_step(parts):
    """Runs coroutines side by side; sends each the sum of what all of them yield."""
    reports, sent = [None] * len(parts), None
    while None in reports:
        shared = []
        for k, each in enumerate(parts):
            try:
                shared.append(each.send(sent))
            except StopIteration as end:
                reports[k] = end.value
        sent = sum(shared[1:], shared[0]) if shared else None
    return reports


def answer(case, real):
    o, raw = case["objective"], case["batch"]
    b, ranks, averaged = load(raw, case["advantage"], real), case["ranks"], case.get("reduce", "mean") == "mean"
    if o["weight"]["truncated"] != "keep" and "truncated" in raw:
        raise Skip("no truncated responses in parts")
    choices = {f"{axis}.{field}": x for axis, fields in o.items() for field, x in fields.items() if x not in (0, "none")}
    if any(choices.get(f"{axis}.{field}") in x.split() for axis, fields in OF_PORTS.items() for field, x in fields.items() if x):
        raise Skip("no splits with fields that no framework has")
    begin, b.active, b.dlogp = np.cumsum(b.length) - b.length, b.mask, np.zeros_like(b.logp)
    b.first = np.isin(np.arange(len(b.seq)), begin)
    cuts = [ranges(case, p) for p in case["parts"]]
    reports, step_of = [None] * len(cuts), [p.get("step", 0) for p in case["parts"]]
    for step in sorted(set(step_of)):
        mine = [k for k, s in enumerate(step_of) if s == step]
        view = types.SimpleNamespace(**{**vars(b), "responses": sorted({i for k in mine for i, _, _ in cuts[k]})})
        places = [[begin[i] + t for i, low, high in cuts[k] for t in range(low, high)] for k in mine]
        for k, report in zip(mine, in_step([part(o, view, p, ranks if averaged else 1) for p in places])):
            reports[k] = report
    result = {key: [r[key] for r in reports] for key in ("part_tokens", "part_sequences", "part_groups", "part_sum", "part_loss")}
    reduced = b.dlogp / real(ranks if averaged else 1)
    result["loss"] = sum(result["part_loss"]) / (ranks if averaged else 1)
    result["dlogp"] = [list(row) for row in np.split(reduced, np.cumsum(b.length)[:-1])]
    pieces = [[r["d"][k] for k in range(begin[i] + low, begin[i] + high) if k in r["d"]]
              for p, r, cut in zip(case["parts"], reports, cuts) if "tokens" in p for i, low, high in cut]
    return {**result, **({"slice_tokens": [len(x) for x in pieces], "slice_log_ratio": [sum(x) for x in pieces]} if pieces else {})}
