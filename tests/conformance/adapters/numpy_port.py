"""A port in plain NumPy, written from ../../vectors/README.md, to be read beside that page. float64 or float32; hand-written gradients.
The tokens of all sequences are in one flat array. Sums are np.sum and e^x is np.exp, without special numerical care."""
import math
import types
import numpy as np
import refusals
from protocol import OF_PORTS, Skip, serve
TOKENS = {"logp": 0, "logp_old": 0, "logp_ref": 0, "logp_rollout": 0, "value": 0, "step_reward": 0, "mask": True, "step_end": False,
          "divergence_ref": 0, "divergence_old": 0}

def load(batch, advantage, real):
    kind = lambda missing: bool if isinstance(missing, bool) else real
    flat = lambda rows, missing: np.array([kind(missing)(x) for row in rows for x in row], kind(missing))
    b = types.SimpleNamespace(group=np.array(batch["group"]), length=np.array(batch["length"]), n=len(batch["group"]))
    b.groups, b.seq = batch["group"][-1] + 1, np.repeat(np.arange(b.n), b.length)
    for key, missing in TOKENS.items():
        setattr(b, key, flat(batch.get(key, [[missing] * n for n in b.length]), missing))
    b.reward, b.baseline = np.array(batch.get("reward", [0] * b.n), real), np.array(batch.get("baseline", [0] * b.groups), real)
    b.c = np.zeros_like(b.logp)  # coefficient of each token in the loss
    b.truncated, b.A = np.array(batch.get("truncated", [False] * b.n)), flat(advantage, 0)
    return b

times = lambda x, y: np.where((x == 0) | (y == 0), 0, x * y).astype(y.dtype)  # a factor that is exactly 0 makes the product 0
minus = lambda x, y: np.where(x == y, 0, x - y).astype(x.dtype)  # -inf minus -inf is 0

def total(x, at, n, left=0):  # Sums of x by index; infinities of opposite signs cancel, and the finite parts `left` remain
    infinite, x = [np.sum(np.sign(x[(at == k) & np.isinf(x)])) for k in range(n)], np.where(np.isinf(x), left, x).astype(x.dtype)
    return np.array([infinite[k] * np.inf if infinite[k] else np.sum(x[at == k]) for k in range(n)], x.dtype)

def bounded(x, low, high):  # x clamped, and where its derivative is 1; (0, 0): no clamp
    low, high = (-np.inf, np.inf) if low == high == 0 else (float(low), float(high))
    return np.clip(x, low, high), (x >= low) & (x <= high)

def kl_of(kind, D):  # An estimator of KL and its derivative; e^-D + D - 1 by a series for small D, where it cancels
    series = D * D * np.polyval([(-1) ** n / math.factorial(n + 2) for n in range(12, -1, -1)], D)
    k3 = np.where(abs(D) < 0.1, series, np.where(np.isinf(np.exp(-D)) | np.isinf(D), np.inf, np.expm1(-D) + D)).astype(D.dtype)
    return {"k1": (D, D * 0 + 1), "k2": (D * D / 2, D), "k3": (k3, -np.expm1(-D)), "abs": (abs(D), np.sign(D))}.get(kind, (0 * D, 0 * D))

def sigma(x, c, alone):  # The scale of the values x; infinite where the advantage is defined as 0
    v = 1 if alone else 0 if len(x) < 2 or min(x) == max(x) else x.var(ddof=int(c["std"] == "sample"))
    v, eps = max(v, c["eps"]) if v and "floor" in c["eps_place"] else v, c["eps"] if v else np.inf
    return np.sqrt(v + eps) if c["eps_place"] == "inside" else np.sqrt(v) + (0 if c["eps_place"] == "floor" and v else eps)

def scored(c, R, group, T, b):  # The items' values R with baseline, scale and gain; T their lengths
    a, raw, places = R.copy(), c["singleton"] == "raw", [np.flatnonzero(group == g) for g in range(b.groups)]
    for g, i in enumerate(places):
        x, t, others = R[i], T[i], max(len(i) - 1, 1)
        base = {"group_mean": x.sum() / max(len(i), 1), "leave_one_out": (x.sum() - x) / others,
                "length_weighted": (t * x).sum() / max(t.sum(), 1)}
        a[i] -= {"external": b.baseline[g], "none": 0}.get(c["baseline"], 0 if len(i) == 1 else base.get(c["baseline"], 0))
        if len(i) == 1 and not raw and (c["baseline"] in base or c["scale"] == "group_std"):
            a[i] = 0
    spread = {"batch_std": R, "batch_centred_std": a.copy()}
    for i in places if c["scale"] in ("group_std", "batch_std", "batch_centred_std") else []:
        a[i] /= sigma(spread.get(c["scale"], R[i]), c, raw and len(i) == 1 and c["scale"] == "group_std")
    equal = sum(np.sum(b.group == g) for g, i in enumerate(places) if len(i) == 0 or min(R[i]) == max(R[i]))
    return a * R.dtype.type({"none": 1, "valid_groups": b.n / (b.n - equal or b.n),
                             "nonzero_rewards": b.n / max(1, np.sum(R != 0))}[c["reweight"]])

def credited(c, rho, V, seq):  # Returns or GAE from the rewards of tokens, backwards
    A, lam = rho - V, c["lambda"] if c["credit"] == "gae" else 1
    for k in range(len(seq) - 2, -1, -1):
        A[k] += c["gamma"] * (V[k + 1] + lam * A[k + 1]) if seq[k] == seq[k + 1] else 0
    return A

def advantages(o, b):
    c, i, A, r = o["advantage"], np.flatnonzero(b.mask), np.zeros_like(b.logp), o["reward"]
    seq, T = b.seq[i], np.bincount(b.seq[i], minlength=b.n)
    k = A[i] if r["kl"] == "none" else r["kl_coef"] * kl_of(r["kl"], minus(b.logp_old[i], b.logp_ref[i]))[0]
    over = np.minimum(r["overlong_max"] - r["overlong_cache"] - b.length, 0) / (r["overlong_cache"] or 1)
    R = b.reward + (r["overlong_factor"] * {"soft": np.maximum(over, -1), "linear": over, "none": 0 * over}[r["overlong"]]).astype(A.dtype)
    if c["credit"] == "step":
        at, rho = np.flatnonzero(b.step_end[i]), np.zeros_like(k)
        rho[at] = scored(c, b.step_reward[i[at]], b.group[seq[at]], T[seq[at]], b)
    else:
        a, rho = scored(c, R - total(k, seq, b.n) if c["credit"] == "outcome" else R, b.group, T, b), -k
        rho[np.cumsum(T)[T > 0] - 1] += a[T > 0]
    A[i] = a[seq] if c["credit"] == "outcome" else credited(c, rho, b.value[i] * (c["credit"] == "gae"), seq)
    return np.where(b.mask, A - A[i].mean(), 0).astype(A.dtype) / sigma(A[i], c, False) if c["scale"] == "token_whiten" and len(i) else A

def correction(c, b, i):  # the rollout weight v, and whether it is inside the band
    q, T = minus(b.logp_old[i], b.logp_rollout[i]), np.bincount(b.seq[i], minlength=b.n)[b.seq[i]]
    q = bounded(q, -c["rollout_clamp"], c["rollout_clamp"])[0]
    low, high, unit = float(c["rollout_is_low"]), float(c["rollout_is_high"]), c["rollout_is_level"]
    v = np.exp(q if unit == "token" else total(q, b.seq[i], b.n)[b.seq[i]] / (T if unit == "sequence_mean" else 1)).astype(q.dtype)
    band = (v >= low) & (v <= high) | (c["rollout_is"] not in ("mask", "reject"))
    return times(band, {"truncate": np.clip(v, low, high), "mask": v}.get(c["rollout_is"], np.ones_like(v))), band

def ratio(c, d, left, A, seq, T, n):  # y of each token, and the derivative of y by the token's own l
    d, J = bounded(d, c["clamp_low"], c["clamp_high"])
    if c["level"] == "sequence_clipped_mean":
        J &= np.where(A >= 0, d <= c["token_clip_high"], d >= -c["token_clip_low"])
        d = np.where(A >= 0, np.minimum(d, c["token_clip_high"]), np.maximum(d, -c["token_clip_low"]))
    share = T[seq] if "mean" in c["level"] else 1
    y, inside = bounded(d if c["level"] == "token" else total(d, seq, n, left)[seq] / share, c["level_clamp_low"], c["level_clamp_high"])
    return y.astype(d.dtype), ((J & inside) / (share if c["gradient"] == "full" else 1)).astype(d.dtype)

def contrastive(c, A, y, at, group, C):  # F of responses by their first tokens `at`, and sum_i C_i dF_i/dy of each
    tau, F, slope = c["contrast_temperature"], *np.zeros((2, len(at)), y.dtype)
    for g in np.unique(group):
        plus, rest = np.flatnonzero((group == g) & (A[at] > 0)), np.flatnonzero((group == g) & (A[at] <= 0))
        for i in plus if len(rest) else []:
            gap = (minus(y[at[rest]], y[at[i]]) + y.dtype.type(c["contrast_margin"])) / y.dtype.type(tau)
            top = max(gap.max(), 0)
            e, own = (np.isinf(gap) * 1, 0) if np.isinf(top) else (np.exp(gap - top), np.exp(-top))
            F[i] = tau / len(plus) * (top + (np.log1p(e.sum()) if top == 0 else np.log(own + e.sum())))
            slope[rest] += C[i] / len(plus) * e / (own + e.sum())
            slope[i] -= C[i] / len(plus) * e.sum() / (own + e.sum())
    return F, slope

def surrogate(c, A, y, l, x):  # S, and its derivatives with respect to y and to l itself; x: the log-probability in the denominator
    w, high, low = np.exp(y), float(c["weight_max"]), float(c["weight_min"])
    if c["kind"] in ("reinforce", "cispo", "vespo"):
        k, lam = (np.where(A > 0, c[x + "_pos"], c[x + "_neg"]) for x in ("vespo_k", "vespo_lambda"))
        phi = np.where(np.isinf(w), 0, np.exp(lam + k * y - lam * w))
        weight = times({"reinforce": np.ones_like(w), "cispo": np.clip(w, low, high), "vespo": phi}[c["kind"]], A)
        return -times(weight, l), 0 * A, -weight
    if c["kind"] == "sapo":
        tau = np.where(A > 0, c["tau_pos"], c["tau_neg"])
        e = np.exp(-abs(tau * (w - 1)))
        return -4 / tau * np.where(w > 1, 1, e) / (1 + e) * A, -4 * A * times(e / (1 + e) ** 2, w), 0 * A
    if c["kind"] == "quadratic_probability":
        far = times(np.exp(x), np.expm1(y)) / c["quadratic_eps"]
        return times(abs(A) * far, np.expm1(y)) / 2 - A * w, times(w, abs(A) * far - A), 0 * A
    bound, S = np.where(A > 0, 1 + c["eps_high"], 1 - c["eps_low"]), -times(A, w)
    bind = np.where(A > 0, w > bound, w < bound) & (c["kind"] != "ratio")
    dual = (c["kind"] == "dual_clip") & (A < 0) & (w > c["clip_dual"])
    return np.where(dual, -A * c["clip_dual"], np.where(bind, -A * bound, S)), np.where(bind | dual, 0, S), 0 * A

def penalty(c, D, d, w, given):
    if c["kl"] == "external":  # a given divergence does not depend on l
        return c["kl_coef"] * given, np.zeros_like(w), np.zeros_like(w)
    D, inside = bounded(D if c["kl"] != "none" else np.zeros_like(w), -c["kl_clamp_log"], c["kl_clamp_log"])
    K, dK = kl_of(c["kl"], D)
    K, within = bounded(K, -c["kl_clamp_value"], c["kl_clamp_value"])
    u = c["kl_coef"] * {"none": np.ones_like(w), "token": np.exp(d), "level": w}[c["kl_importance_weight"]]
    P, own = times(u, K), times(u, times(inside & within, D if c["kl_gradient"] == "straight_through_k2" else dK))
    return P, P if c["kl_importance_weight"] == "level" else np.zeros_like(w), own + (P if c["kl_importance_weight"] == "token" else 0)

def distrusted(c, A, w, far):  # outside the trust region, in the direction in which the advantage moves the policy
    if c.get("trust", "none") == "none":
        return np.zeros(len(A), bool)
    low, high = float(c["trust_low"]), float(c["trust_high"])
    if c["trust"] == "negative_band":
        return (A < 0) & ((w < 1 - low) | (w > 1 + high))
    return (A > 0) & (w > 1) & (far > high) | (A < 0) & (w < 1) & (far > low)

def coefficients(c, seq, group, T, b):
    Tg, C = np.bincount(group, minlength=b.groups), c["constant"] or 1
    n, groups = (b.n, b.groups) if c["empty_sequences"] == "keep" else (np.sum(T > 0), np.sum(Tg > 0))
    return {"token_sum": 1, "token_mean": 1 / len(seq), "seq_mean_token_mean": 1 / (n * T[seq]), "seq_mean_token_sum": 1 / n,
            "constant": 1 / C, "group_mean": 1 / (groups * T[seq]),
            "seq_mean_constant": 1 / (n * C), "group_mean_token_mean": 1 / (groups * Tg[group])}[c["kind"]] * np.ones(len(seq))

def by_divergence(o, pays):
    return {"ddivergence_ref": pays} if o["penalty"]["kl"] == "external" else {}

def objective(o, b):
    i = np.flatnonzero(b.mask & ~(b.truncated[b.seq] & (o["weight"]["truncated"] == "mask")))
    term, dlogp, pays = np.zeros((3, len(b.seq)), b.logp.dtype)
    v, band = correction(o["weight"], b, i)
    if o["weight"]["rollout_rejected"] == "unmask":
        i, v = i[band], v[band]
    if not len(i): return {"loss": 0, "term": term, "dlogp": dlogp, **by_divergence(o, pays)}
    seq, A, l, T = b.seq[i], b.A[i], b.logp[i], np.bincount(b.seq[i], minlength=b.n)
    old = {"rollout": b.logp_rollout, "old": b.logp_old}.get(o["ratio"]["behaviour"], np.zeros_like(b.logp))[i]
    d, left = minus(l, old), np.where(np.isinf(l), 0, l) - np.where(np.isinf(old), 0, old)  # the finite parts of infinite differences
    y, J = ratio(o["ratio"], d, left, A, seq, T, b.n)
    v = np.where(distrusted(o["weight"], A, np.exp(y), b.divergence_old[i]), 0, v)
    c = coefficients(o["aggregation"], seq, b.group[seq], T, b).astype(l.dtype)
    if o["surrogate"]["kind"] == "contrastive":
        of, at, back = np.unique(seq, return_index=True, return_inverse=True)
        F, coupled = (x[back] for x in contrastive(o["surrogate"], A, y, at, b.group[of], total(c * v, seq, b.n)[of]))
        S, Sy, Sl = times(v, F), *np.zeros((2, len(l)), l.dtype)
    else:
        S, Sy, Sl = (times(v, x.astype(l.dtype)) for x in surrogate(o["surrogate"], A, y, l, old))
    P, Py, Pl = penalty(o["penalty"], minus(l, b.logp_ref[i]), d, np.exp(y), b.divergence_ref[i])
    through = times(c, Sy + Py)
    if o["ratio"]["gradient"] == "full" and o["ratio"]["level"] != "token":
        through = total(through, seq, b.n)[seq]
    if o["surrogate"]["kind"] == "contrastive":
        through = through + coupled
    term[i], dlogp[i], b.c[i] = S + P, times(c, Sl + Pl) + times(J, through), c
    pays[i] = c * l.dtype.type(o["penalty"]["kl_coef"])
    return {"loss": np.sum(c * (S + P)), "term": term, "dlogp": dlogp, **by_divergence(o, pays),
            "report": {"policy_loss": np.sum(c * S), "penalty_loss": np.sum(c * P)}}

def answer(case, real):
    if case["kind"] in ("logits", "hidden"):
        import numpy_logits
        return numpy_logits.answer(case, real)
    if case["kind"] == "split":
        import numpy_split
        return numpy_split.answer(case, real)
    if case["kind"] == "refuse":
        refusals.check(case)
        case = {"advantage": case["batch"]["logp"], **case}  # the advantages do not matter: the input is invalid
    elif case["kind"] != "objective":
        raise Skip("no cases of kind " + case["kind"])
    b = load(case["batch"], case["advantage"], real)
    result = {**objective(case["objective"], b),
              **({} if "advantage" in case["batch"] else {"advantage": advantages(case["objective"], b)})}
    return {k: [list(r) for r in np.split(x, np.cumsum(b.length)[:-1])] if isinstance(x, np.ndarray) else x for k, x in result.items()}

np.seterr(all="ignore")
if __name__ == "__main__":
    serve("numpy port", "1", {"f64": np.float64, "f32": np.float32},
          ["advantage", "loss", "term", "dlogp", "ddivergence_ref", "report", "logp", "entropy", "dlogits", "dhidden", "dweight",
           "part_tokens", "part_sequences", "part_groups", "part_sum", "part_loss", "slice_tokens", "slice_log_ratio"], answer, OF_PORTS)
