"""The NumPy port for the kinds `logits` and `hidden`: log-probabilities or a loss from logits or hidden states; hand-written gradients."""
import numpy as np
import numpy_port


def from_above(case, logp, H, cut, real):  # dL/d logp and dL/d entropy of each token, given or of the objective, and what goes with them
    if "objective" not in case:
        given = (np.array([x for row in case.get(name, []) for x in row] or [0] * len(H), real) for name in ("dlogp", "dentropy"))
        return (*given, {"logp": cut(logp), "entropy": cut(H)})
    b = numpy_port.load({**case["batch"], "logp": cut(logp)}, case["advantage"], real)
    found, e = numpy_port.objective(case["objective"], b), -real(case["entropy_coef"]) * b.c
    return found["dlogp"], e, {"loss": found["loss"] + np.sum(e * H)}


def answer(case, real):  # Every token a row: softmax, what comes from above, and back
    unlikely = -np.inf if case["kind"] == "logits" else 0  # in hidden states only masked tokens are not finite
    flat = lambda rows: np.nan_to_num(np.array([[real(x) for x in z] for row in rows for z in row]), nan=0, posinf=0, neginf=unlikely)
    cut = lambda x: [r.tolist() for r in np.split(x, np.cumsum([len(row) for row in case["target"]])[:-1])]
    x, W = flat(case["hidden" if case["kind"] == "hidden" else "logits"]), np.array(case.get("weight", []), real)
    z, tau = x @ W.T if len(W) else x.copy(), real(case["temperature"])
    for t, tokens in enumerate(tokens for row in case.get("banned", []) for tokens in row):
        z[t, tokens] = -np.inf
    drawn = np.array([v for row in case["target"] for v in row])[:, None] == np.arange(z.shape[1])
    z = z / tau - z.max(1, keepdims=True) / tau
    log_p = z - np.log(np.exp(z).sum(1, keepdims=True))
    p, logp = np.exp(log_p), log_p[drawn]
    H = -numpy_port.times(p, log_p).sum(1)
    g, e, result = from_above(case, logp, H, cut, real)
    if "objective" not in case and "dlogp" not in case: return result
    d = np.where(p > 0, g[:, None] * (drawn - p) - numpy_port.times(e[:, None] * p, log_p + H[:, None]), 0) / tau
    return {**result, **({"dhidden": cut(d @ W), "dweight": (d.T @ x).tolist()} if len(W) else {"dlogits": cut(d)})}
