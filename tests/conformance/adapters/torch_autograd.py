"""The objectives in PyTorch, written as training code writes them: padded tensors, masked sums, detach(), and autograd for the gradient.

Inputs of masked slots are replaced before anything is computed from them: multiplying by the mask would keep their NaN.
"""
import types

import refusals
from protocol import OF_PORTS, Skip, serve
import torch
from padded import PRECISIONS, batch_of, ragged

OWN = ("group_mean", "leave_one_out", "length_weighted")


def masked(x, mask):
    return torch.where(mask, x, torch.zeros_like(x))


def difference(x, y):
    return torch.where(x == y, torch.zeros_like(x), x - y)  # -inf minus -inf is 0


class Exp(torch.autograd.Function):
    """e^x with derivative 0 where the incoming gradient is 0: autograd's exp gives 0 * inf = NaN behind a clip."""

    @staticmethod
    def forward(ctx, x):
        w = x.exp()
        ctx.save_for_backward(w)
        return w

    @staticmethod
    def backward(ctx, gradient):
        return torch.where(gradient == 0, gradient, gradient * ctx.saved_tensors[0])


exp = Exp.apply


def clip(x, low, high):
    """A clamp without Tensor.clamp, whose derivative exactly at a bound depends on the version of torch."""
    x = x if high is None else torch.where(x > float(high), float(high), x)
    return x if low is None else torch.where(x < float(low), float(low), x)


def clamp(x, low, high):
    return x if float(low) == float(high) == 0 else clip(x, low, high)


def row_mean(x, mask):
    return masked(x, mask).sum(-1, keepdim=True) / mask.sum(-1, keepdim=True).clamp(min=1)


def k3(D):
    """e^-D + D - 1, by a series where that cancels. Each branch gets only arguments at which its derivative is finite."""
    small = abs(D) < 0.5
    x, series = torch.where(small, D, torch.zeros_like(D)), torch.ones_like(D)
    for n in range(18, 2, -1):
        series = 1 - x / n * series
    return torch.where(small, x * x / 2 * series, exp(-D) - 1 + clip(D, torch.finfo(D.dtype).min, None))  # inf minus inf is NaN


KL = {"k1": lambda D: D, "k2": lambda D: D * D / 2, "k3": k3, "abs": torch.abs}


# ---- advantage

def sigma(values, c):
    """The scale of the values; None where the advantage is defined as 0."""
    if len(values) < 2 or bool((values == values[0]).all()):
        return None
    return root(values.var(unbiased=c["std"] == "sample"), c)


def root(variance, c):
    if c["eps_place"] in ("floor", "floor_add"):
        variance = variance.clamp(min=c["eps"])
    if c["eps_place"] == "inside":
        return (variance + c["eps"]).sqrt()
    return variance.sqrt() + (c["eps"] if c["eps_place"] in ("add", "floor_add") else 0)


def centred(c, values, tokens, given):
    """The advantages of one group's rewards."""
    if c["baseline"] == "external":
        return values - given
    if c["baseline"] == "none":
        return values
    if len(values) == 1:
        return values if c["singleton"] == "raw" else torch.zeros_like(values)
    if c["baseline"] == "leave_one_out":
        return values - (values.sum() - values) / (len(values) - 1)
    weight = tokens if c["baseline"] == "length_weighted" else torch.ones_like(tokens)
    return values - (weight * values).sum() / weight.sum().clamp(min=1)


def scaled(c, values, group, tokens, b):
    places = [torch.nonzero(group == g)[:, 0] for g in range(b.groups)]
    a = values.clone()
    for g, i in enumerate(places):
        a[i] = centred(c, values[i], tokens[i], None if b.baseline is None else b.baseline[g])
    spread = {"batch_std": values, "batch_centred_std": a.clone()}
    for i in places:
        raw = len(i) == 1 and c["singleton"] == "raw"
        if c["scale"] in ("group_std", "batch_std", "batch_centred_std"):
            s = root(torch.ones_like(a[0]), c) if raw and c["scale"] == "group_std" else sigma(spread.get(c["scale"], values[i]), c)
            a[i] = a[i] / s if s is not None else 0 * a[i]
        if len(i) == 1 and not raw and (c["baseline"] in OWN or c["scale"] == "group_std"):
            a[i] = 0
    return a * gain(c, values, places, b)


def gain(c, values, places, b):
    if c["reweight"] == "valid_groups":
        dead = sum(int(b.group_size[g]) for g, i in enumerate(places) if bool((values[i] == values[i][:1]).all()))
        return b.rows / (b.rows - dead or b.rows)
    return b.rows / max(1, int((values != 0).sum())) if c["reweight"] == "nonzero_rewards" else 1


def overlong(c, length):
    over = ((c["overlong_max"] - c["overlong_cache"] - length) / (c["overlong_cache"] or 1)).clamp(max=0)
    return {"none": 0 * over, "soft": c["overlong_factor"] * over.clamp(min=-1), "linear": c["overlong_factor"] * over}[c["overlong"]]


def credited(c, rho, value, mask):
    A = torch.zeros_like(rho)
    for row in range(len(rho)):
        later = following = 0
        for t in reversed(torch.nonzero(mask[row])[:, 0].tolist()):
            later = rho[row, t] + c["gamma"] * following - value[row, t] + c["gamma"] * (c["lambda"] if c["credit"] == "gae" else 1) * later
            A[row, t], following = later, value[row, t]
    return A


def advantages(o, b):
    c, zero, tokens = o["advantage"], torch.zeros_like(b.logp), b.mask.sum(-1).to(b.logp.dtype)
    kl = zero if o["reward"]["kl"] == "none" else o["reward"]["kl_coef"] * masked(KL[o["reward"]["kl"]](difference(b.logp_old,
        b.logp_ref)), b.mask)
    if c["credit"] == "step":
        row, t = torch.nonzero(b.mask & b.step_end, as_tuple=True)
        rho = zero.clone()
        rho[row, t] = scaled(c, b.step_reward[row, t], b.group[row], tokens[row], b)
        A = credited(c, rho, zero, b.mask)
    else:
        R = b.reward + overlong(o["reward"], torch.tensor(b.length, dtype=zero.dtype))
        a = scaled(c, R - kl.sum(-1) if c["credit"] == "outcome" else R, b.group, tokens, b)[:, None]
        last = b.mask & (b.mask.flip(-1).cumsum(-1).flip(-1) == 1)
        A = masked(a.expand_as(zero), b.mask) if c["credit"] == "outcome" else credited(
            c, masked(a.expand_as(zero), last) - kl, b.value if c["credit"] == "gae" else zero, b.mask)
    if c["scale"] == "token_whiten":
        s = sigma(A[b.mask], c)
        A = zero if s is None else masked((A - A[b.mask].mean()) / s, b.mask)
    return A


# ---- loss

def correction(c, b, mask):
    """The detached rollout weight, and which tokens are inside the band."""
    if c["rollout_is"] == "none":
        return torch.ones_like(b.logp), mask
    q = masked(difference(b.logp_old, b.logp_rollout), mask)
    q = clamp(q, -c["rollout_clamp"], c["rollout_clamp"])
    if c["rollout_is_level"] != "token":
        q = row_mean(q, mask).expand_as(q) if c["rollout_is_level"] == "sequence_mean" else q.sum(-1, keepdim=True).expand_as(q)
    v, low, high = q.exp(), float(c["rollout_is_low"]), float(c["rollout_is_high"])
    if c["rollout_is"] == "truncate":
        return v.clamp(low, high), mask
    band = (v >= low) & (v <= high)
    return masked(v if c["rollout_is"] == "mask" else torch.ones_like(v), band), mask & band


def log_ratio(c, d, A, mask, step):
    """The log-ratio y, with the gradient that the objective defines."""
    y = clamp(d, c["clamp_low"], c["clamp_high"])
    if c["level"] == "sequence_clipped_mean":
        y = torch.where(A >= 0, clip(y, None, c["token_clip_high"]), clip(y, -c["token_clip_low"], None))
    own = torch.where(y == d, step, 0)
    if c["level"] != "token":
        y = masked(y, mask).sum(-1, keepdim=True) if c["level"] == "sequence_sum" else row_mean(y, mask)
        y = y.expand_as(d)
    if c["gradient"] == "token":
        y = y.detach() + own
    return clamp(y, c["level_clamp_low"], c["level_clamp_high"])


def product(weight, l):
    return torch.where(weight == 0, torch.zeros_like(l), weight * l)  # 0 * -inf is 0


def contrastive(c, A, y, mask, group, by_token):
    """F of every response, at all its tokens; its score and advantage are at its first counting token. by_token: y has a gradient for every
    token."""
    first = mask & (mask.cumsum(-1) == 1)
    s, a, here = masked(y, first).sum(-1), masked(A, first).sum(-1), mask.any(-1)
    if bool(torch.isinf(s).any()):
        raise Skip("infinite scores in a group: inf - inf")
    if by_token:
        s = s.detach() + masked(y - y.detach(), mask).sum(-1)
    F = torch.zeros_like(s)
    for g in group.unique():
        plus, minus = (here & (group == g) & side for side in (a > 0, a <= 0))
        if bool(plus.any()) and bool(minus.any()):
            gaps = (s[minus] - s[plus][:, None] + c["contrast_margin"]) / c["contrast_temperature"]
            F[plus] = torch.nn.functional.softplus(torch.logsumexp(gaps, -1), threshold=80) * c["contrast_temperature"] / plus.sum()
    return F[:, None].expand_as(y)


def surrogate(c, A, y, w, l, x):
    """x: the log-probability in the ratio's denominator"""
    kind = c["kind"]
    if kind == "quadratic_probability":
        far = torch.where(x == -torch.inf, 0, w - 1)
        return abs(A) * x.exp() * far * far / (2 * c["quadratic_eps"]) - w * A
    if kind == "reinforce":
        return -A * l
    if kind == "cispo":
        return -product(w.detach().clamp(float(c["weight_min"]), float(c["weight_max"])) * A, l)
    if kind == "vespo":
        k, lam = (torch.where(A > 0, float(c[name + "_pos"]), float(c[name + "_neg"])) for name in ("vespo_k", "vespo_lambda"))
        root = torch.where(w.isinf(), torch.zeros_like(w), ((lam + k * y - lam * w) / 2).exp()).detach()  # of phi, which underflows first
        return -product(root * A, l) * root
    if kind == "sapo":
        tau = torch.where(A > 0, float(c["tau_pos"]), float(c["tau_neg"]))
        z = tau * (w - 1)
        return -4 / tau * torch.where(z > 0, 1 - torch.sigmoid(-z), torch.sigmoid(z)) * A  # sigmoid's own derivative cancels near 1
    if kind == "ratio":
        return -w * A
    loss = torch.max(-w * A, -clip(w, 1 - c["eps_low"], 1 + c["eps_high"]) * A)
    return torch.where(A < 0, torch.min(loss, -c["clip_dual"] * A), loss) if kind == "dual_clip" else loss


def penalty(c, D, d, w):
    if c["kl"] == "none":
        return torch.zeros_like(D)
    D = clamp(D, -c["kl_clamp_log"], c["kl_clamp_log"])
    K = KL[c["kl"]](D)
    if c["kl_gradient"] == "straight_through_k2":
        K = K.detach() + D * D / 2 - (D * D / 2).detach()
    K = clamp(K, -c["kl_clamp_value"], c["kl_clamp_value"])
    return c["kl_coef"] * {"none": lambda: K, "token": lambda: exp(d) * K, "level": lambda: w * K}[c["kl_importance_weight"]]()


def distrusted(c, A, w, far):
    """Is the token outside the trust region, in the direction in which the advantage moves the policy?"""
    if c["trust"] == "none":
        return torch.zeros_like(A, dtype=torch.bool)
    if c["trust"] == "negative_band":
        return (A < 0) & ((w < 1 - float(c["trust_low"])) | (w > 1 + float(c["trust_high"])))
    return (A > 0) & (w > 1) & (far > float(c["trust_high"])) | (A < 0) & (w < 1) & (far > float(c["trust_low"]))


def aggregated(c, x, mask, b):
    T = mask.sum(-1)
    per_group = torch.zeros(b.groups, dtype=T.dtype).index_add(0, b.group, T)
    n, groups = (b.rows, b.groups) if c["empty_sequences"] == "keep" else ((T > 0).sum().clamp(min=1), (per_group > 0).sum().clamp(min=1))
    x = masked(x, mask)
    sums = x.sum(-1)
    if c["kind"] in ("token_sum", "token_mean", "constant"):
        return x.sum() / {"token_sum": 1, "token_mean": mask.sum().clamp(min=1), "constant": c["constant"] or 1}[c["kind"]]
    if c["kind"] == "group_mean_token_mean":
        return (sums / per_group[b.group].clamp(min=1)).sum() / groups
    if c["kind"] == "group_mean":
        return (sums / T.clamp(min=1)).sum() / groups
    return (sums / {"seq_mean_token_mean": T.clamp(min=1), "seq_mean_token_sum": 1, "seq_mean_constant": c["constant"]
                    or 1}[c["kind"]]).sum() / n


def unsupported(o, d, D):
    """Skips cases in which infinities cancel, which autograd's sums cannot express; D: the log-ratio of the penalty, or None."""
    if o["ratio"]["level"] != "token" and bool(((d == -torch.inf).any(-1) & (d == torch.inf).any(-1)).any()):
        raise Skip("infinite log-ratios of both signs in one response")
    if o["penalty"]["kl_importance_weight"] != "none" and bool((torch.isinf(d.exp()) | torch.isinf(exp(-D))).any()):
        raise Skip("derivative of a ratio times a KL, one of them infinite: inf - inf")


def objective(o, b, entropy=0.0):
    """The loss. entropy: that of the bonus, a leaf if its gradient is wanted."""
    mask = b.mask & ~b.truncated[:, None] if o["weight"]["truncated"] == "mask" else b.mask
    v, inside = correction(o["weight"], b, mask)
    if o["weight"]["rollout_rejected"] == "unmask":
        mask = inside
    step = torch.zeros_like(b.logp, requires_grad=True)  # the leaf: l + step, so that differences of infinities stay out of the graph
    l, A = masked(b.logp, mask), masked(b.advantage, mask)
    against = {"rollout": b.logp_rollout, "old": b.logp_old, "none": torch.zeros_like(l)}[o["ratio"]["behaviour"]]
    d = step + (torch.zeros_like(l) if against is None else difference(l, masked(against, mask)))
    D = difference(l, masked(b.logp_ref, mask)) if o["penalty"]["kl"] not in ("none", "external") else None
    unsupported(o, d.detach(), D)
    y = log_ratio(o["ratio"], d, A, mask, step)
    w = exp(y)
    kept = ~distrusted(o["weight"], A, w.detach(), b.divergence_old)
    if o["surrogate"]["kind"] == "contrastive":
        x = masked(v * contrastive(o["surrogate"], A, y, mask, b.group, o["ratio"]["gradient"] == "token"), mask & (v != 0) & kept)
    else:
        x = masked(v * surrogate(o["surrogate"], A, y, w, l + step, against), mask & (A != 0) & (v != 0) & kept)
    if o["penalty"]["kl"] == "external":
        far = masked(b.divergence_ref, mask).requires_grad_()
        x = x + o["penalty"]["kl_coef"] * far
    elif o["penalty"]["kl"] != "none":
        x = x + penalty(o["penalty"], step + D, d, w)
    x = x + entropy
    loss = aggregated(o["aggregation"], x, mask, b)
    loss.backward()
    by_divergence = {"ddivergence_ref": ragged(far.grad, b)} if o["penalty"]["kl"] == "external" else {}
    return {"loss": loss.item(), "term": ragged(masked(x, mask), b), "dlogp": ragged(step.grad, b), **by_divergence}


def vectors(rows, lengths, width, dtype):
    """A (rows, longest, width) tensor; padding and NaN become 0."""
    longest = max(lengths)
    filled = [row + [[0.0] * width] * (longest - len(row)) for row in rows]
    return torch.tensor([[[float(x) for x in token] for token in row] for row in filled], dtype=dtype).nan_to_num(0, torch.inf, -torch.inf)


def log_probabilities(case, logits, target):
    """Log-probabilities of the sampled tokens, and entropies; tokens of probability 0 are left out of both derivatives, where autograd
    would give 0 * inf."""
    if "banned" in case:
        kept = torch.ones_like(logits, dtype=torch.bool)
        for i, row in enumerate(case["banned"]):
            for t, tokens in enumerate(row):
                kept[i, t, tokens] = False
        logits = logits.masked_fill(~kept, -torch.inf)
    logp = torch.log_softmax(logits / case["temperature"], -1)
    possible = logp > -torch.inf
    finite = torch.where(possible, logp, torch.zeros_like(logp))
    entropy = -(torch.where(possible, logp.exp(), torch.zeros_like(logp)) * finite).sum(-1)
    return logp.gather(-1, target[..., None])[..., 0], entropy


def from_above(case, b, logp, entropy, dtype):
    """dL/d logp and dL/d entropy, given in the case or from the objective; and the loss."""
    if "objective" not in case:
        given = (vectors([[[x] for x in row] for row in case[name]], b.length, 1, dtype)[..., 0] for name in ("dlogp", "dentropy"))
        return (*given, {"logp": ragged(logp, b), "entropy": ragged(entropy, b)})
    batch = batch_of({**case, "batch": {**case["batch"], "logp": ragged(logp, b)}}, dtype)
    H = entropy.detach().clone().requires_grad_()
    found = objective(case["objective"], batch, -case["entropy_coef"] * H)
    slope = torch.zeros_like(logp)
    for i, row in enumerate(found["dlogp"]):
        slope[i, :len(row)] = torch.tensor(row, dtype=dtype)
    return slope, H.grad, {"loss": found["loss"]}


def from_logits(case, dtype):
    """Makes the leaves, evaluates, and calls backward."""
    b = types.SimpleNamespace(length=[len(row) for row in case["target"]])
    longest = max(b.length)
    target = torch.tensor([row + [0] * (longest - len(row)) for row in case["target"]])
    if case["kind"] == "hidden":
        weight = torch.tensor(case["weight"], dtype=dtype).requires_grad_()
        leaf = vectors(case["hidden"], b.length, weight.shape[1], dtype).requires_grad_()
        logits = leaf @ weight.T
    else:
        leaf = vectors(case["logits"], b.length, len(case["logits"][0][0]), dtype).requires_grad_()
        logits = leaf
    logp, entropy = log_probabilities(case, logits, target)
    if "objective" not in case and "dlogp" not in case:
        return {"logp": ragged(logp, b), "entropy": ragged(entropy, b)}
    dlogp, dentropy, result = from_above(case, b, logp, entropy, dtype)
    torch.autograd.backward([logp, entropy], [dlogp, dentropy])
    if case["kind"] == "hidden":
        return {**result, "dhidden": ragged(leaf.grad, b), "dweight": weight.grad.tolist()}
    return {**result, "dlogits": ragged(leaf.grad, b)}


def answer(case, dtype):
    torch.set_default_dtype(dtype)  # the type of torch.where(condition, 1.0, 1.05)
    if case["kind"] in ("logits", "hidden"):
        return from_logits(case, dtype)
    if case["kind"] == "refuse":
        refusals.check(case)
        case = {"advantage": case["batch"]["logp"], **case}  # the advantages do not matter: the input is invalid
    elif case["kind"] != "objective":
        raise Skip("no cases of kind " + case["kind"])
    b = batch_of(case, dtype)
    result = {} if "advantage" in case["batch"] else {"advantage": ragged(advantages(case["objective"], b), b)}
    return {**result, **objective(case["objective"], b)}


serve("torch autograd", torch.__version__.split("+")[0], {**PRECISIONS, "bf16": torch.bfloat16},
      ["advantage", "loss", "term", "dlogp", "ddivergence_ref", "logp", "entropy", "dlogits", "dhidden", "dweight"], answer, OF_PORTS)
