#!/usr/bin/env python3
"""planted_parts.py CONFORM VECTORS: the runner names mistakes of cuts that are planted in adapters/numpy_split.py, whose ranks exchange
counts and sums; mistakes in adapters/numpy_port.py that show in several sets of cases, under one name; and mistakes of its loss in cases
with logits or hidden states. Each mistake replaces one or two expressions of the file."""
import json
import os
import re
import subprocess
import sys
import tempfile

from changed_adapters import changed_copy
from kit import ADAPTERS, attempt, check, checked

ROWS = ("dapo", "grpo", "gspo", "luspo", "cispo")

COUNTS = "totals = yield np.array([len(at), n, groups])"
FACTOR = "ranks if averaged else 1) for p in places"
THROUGH = "through = whole[seq].astype(l.dtype)"
OWN_THROUGH = "through = total(through, seq, b.n)[seq].astype(l.dtype)"

# (name, {expression: its replacement}, the cases that are run)
PLANTED = [
    ("NORM-09", {FACTOR: "1) for p in places"}, "ranks-*"),
    ("PART-02", {FACTOR: "ranks) for p in places"}, "ranks-*"),
    ("NORM-10a", {COUNTS: "yield 0; totals, factor = np.array([len(at), n, groups]), 1"}, "micro-*"),
    ("PART-05", {"sum(1 for i in here if T[i] or not drop)": "len({b.seq[k] for k in places if T[b.seq[k]] or not drop})"}, "context-*"),
    ("PART-11", {COUNTS: "totals = yield np.array([max(1, len(at)), n, groups])",
                 '"part_tokens": len(at)': '"part_tokens": max(1, len(at))'}, "survivors-*"),
    ("PART-19", {'sum(result["part_loss"]) / (ranks if averaged else 1)':
                 'sum(x for x, p in zip(result["part_loss"], case["parts"]) if p["rank"] == 0)'}, "ranks-*"),
    ("PART-19c", {'sum(result["part_loss"]) / (ranks if averaged else 1)': 'sum(result["part_loss"])'}, "ranks-*"),
    ("PART-21", {"sums = yield total(d, seq, b.n)": "yield 0; sums, T = total(d, seq, b.n), np.bincount(seq, minlength=b.n)",
                 THROUGH: OWN_THROUGH}, "context-*"),
    ("PART-22", {THROUGH: OWN_THROUGH}, "context-*"),
    ("PART-07", {"for k, s in enumerate(step_of) if s == step]": "for k, s in enumerate(step_of)]"}, "steps-[fru]*"),
]

CLIP, WEIGHT = "np.where(bind | dual, 0, S), 0 * A", "q, T = minus(b.logp_old[i], b.logp_rollout[i])"
DUAL = 'dual = (c["kind"] == "dual_clip") & (A < 0) & (w > c["clip_dual"])'
WIDE = ("choices-surrogate-*", "choices-advantage-*", "dapo-[efhrs]*", "grpo-[efhrs]*", "gspo-[efhrs]*", "ppo-*", "verl-grpo-*", "tis-*",
        "icepop-*", "rloo-*")
MEAN = '"seq_mean_token_mean": 1 / (n * T[seq])'
DUAL_ROWS = ("ppo-dual-clip-*", "verl-grpo-*")         # a mistake of the clip, before the dual clip
CORRECTED = ("tis-[efhrs]*", "icepop-[efhrs]*", "grpo-[efhrs]*")      # with and without a rollout correction: one name
REWARDED = ("rloo-*", "trl-rloo-*", "choices-reward-k1-outcome")
VALUES = ("ppo-*", "choices-advantage-gae-*")
WHITE = ("reinforce++-[efhorstu]*", "verl-reinforce++-[efhorstu]*", "choices-advantage-token_whiten*")
NEXT = 'c["gamma"] * (V[k + 1] + lam * A[k + 1])'
WEIGHED = ('return P, P if c["kl_importance_weight"] == "level" else np.zeros_like(w), own + '
           '(P if c["kl_importance_weight"] == "token" else 0)')
OVER_ALL, READ = '"token_mean": 1 / len(seq), "seq', "seq, A, l, T = b.seq[i], b.A[i], b.logp[i], np.bincount(b.seq[i], minlength=b.n)"
WHITENED = "A - A[i].mean(), 0).astype(A.dtype) / sigma(A[i], c, False)"
AROUND = """class Around:
    def __init__(self, x): self.x = x
    def __len__(self): return len(self.x)
    def __iter__(self): return iter(self.x)
    def var(self, ddof): return ((self.x - self.x.sum()) ** 2).sum() / (len(self.x) - ddof)

def scored(c, R"""
SUM, SUM_TOO = {'"group_mean": x.sum() / max(len(i), 1)': '"group_mean": x.sum()'}, {
    "def scored(c, R": AROUND, 'sigma(spread.get(c["scale"], R[i])':
    'sigma(spread.get(c["scale"], Around(R[i]) if c["baseline"] == "group_mean" else R[i])'}
TAU = 'tau = np.where(A > 0, c["tau_pos"], c["tau_neg"])'
GATE, SAPO = "e = np.exp(-abs(tau * (w - 1)))", ("sapo-*",)
OVERLONG = ("dapo-overlong", "trl-dapo-overlong", "qae-overlong*", "choices-reward-overlong*")
OVER = 'np.minimum(r["overlong_max"] - r["overlong_cache"] - b.length, 0) / (r["overlong_cache"] or 1)'
STRICT = "--strict"                                    # among cases: what is a documented convention is named too
GMPO = ("gmpo-*", "trl-gmpo-*", "verl-gmpo-*", "choices-alike-zero-advantage-*")
POOLED = 'd = np.where(A >= 0, np.minimum(d, c["token_clip_high"]), np.maximum(d, -c["token_clip_low"]))'
POOLED_GRADIENT = 'J &= np.where(A >= 0, d <= c["token_clip_high"], d >= -c["token_clip_low"])'
K1, ABS = '"k1": (D, D * 0 + 1)', '"abs": (abs(D), np.sign(D))'
PUNISHED = ("choices-alike-overlong-*", "choices-reward-overlong-*")
# (a pattern that every name must match, the edits, the cases that are run, how many of them may stay unexplained)
IN_SETS = [
    (r"sign of the policy's gradient is turned",
     {CLIP: "np.where(bind | dual, 0, np.where(c['kind'] == 'ppo_clip', -S, S)), 0 * A"}, WIDE, 11),
    (r"policy's gradient is left out", {CLIP: "0 * S, 0 * A"}, WIDE, 22),
    (r"policy's gradient is left out|LOGP-10a",
     {"times(c, Sl + Pl) + times(J, through), c": "times(c, Sl + Pl), c"}, (*WIDE, "choices-ratio-*"), 11),
    (r"surrogate.kind = ppo_clip, in the gradient only", {CLIP: "np.where(bind, 0, S), 0 * A"}, WIDE, 0),
    (r"baseline is the sum of the group", SUM, WIDE, 17),
    (r"baseline is the sum of the group", {**SUM, **SUM_TOO}, WIDE, 17),
    (r"TIS-05|rollout_is_level = sequence_mean",
     {'(T if unit == "sequence_mean" else 1)': '(T if unit != "token" else 1)'}, ("choices-weight-*",), 0),
    (r"TIS-01a",
     {WEIGHT: "q, T = minus(b.logp[i], b.logp_rollout[i])"}, ("choices-weight-*", "tis-*", "icepop-*"), 13),
    (r"sampler over the old policy",
     {WEIGHT: "q, T = minus(b.logp_rollout[i], b.logp_old[i])"}, ("choices-weight-*", "tis-*", "icepop-*"), 11),
    (r"old over new", {"d, left = minus(l, old),": "d, left = minus(old, l),"}, CORRECTED, 0),
    (r"length plus 1", {MEAN: '"seq_mean_token_mean": 1 / (n * (T[seq] + 1))'}, CORRECTED, 3),
    (r"MASK-12$", {MEAN: '"seq_mean_token_mean": 1 / (n * b.length.max())'}, CORRECTED, 1),
    (r"ADV-28c$", {"R - total(k, seq, b.n)": "R + total(k, seq, b.n)"}, REWARDED, 0),
    (r"ADV-28$", {"R - total(k, seq, b.n)": 'R + total(k, seq, b.n) / (r["kl_coef"] or 1)'}, REWARDED, 0),
    (r"CLIP-02|kind = ppo_clip", {DUAL: "dual = A != A"}, WIDE, 0),
    (r"acts where A > 0", {DUAL: DUAL.replace("A < 0", "A > 0").replace("(w >", "(np.where(bind, bound, w) <")}, DUAL_ROWS, 0),
    (r"CLIP-03", {DUAL: DUAL.replace(" & (A < 0) & (w >", " & (np.where(A < 0, w, -np.where(bind, bound, w)) > np.sign(-A) *")},
     DUAL_ROWS, 0),
    (r"wrong sign: c A",
     {DUAL: DUAL.replace(' & (w > c["clip_dual"])', ""), "np.where(dual, -A * c": "np.where(dual, A * c"}, DUAL_ROWS, 0),
    (r"divided by c, not multiplied",
     {DUAL: DUAL.replace("(w >", "(np.where(bind, bound, w) > 1 /"), "np.where(dual, -A * c": "np.where(dual, -A / c"}, DUAL_ROWS, 0),
    (r"bound is c, without", {DUAL: DUAL.replace("(w >", "(np.where(bind, -A * bound, S) >"), "np.where(dual, -A * c": "np.where(dual, c"},
     DUAL_ROWS, 0),
    (r"above CISPO's bound are dropped",
     {'"cispo": np.clip(w, low, high)': '"cispo": np.where((A > 0) & (w > high), 0, np.clip(w, low, high))'}, ("cispo-*",), 0),
    (r"SAPO's gate is around 0", {GATE: GATE.replace("w - 1", "w"), "np.where(w > 1, 1, e)": "1"}, SAPO, 4),
    (r"SAPO's gate is of the log-ratio",
     {GATE: GATE.replace("w - 1", "y"), "4 * A * times(e / (1 + e) ** 2, w)": "4 * A * e / (1 + e) ** 2"}, SAPO, 4),
    (r"by 4, not by 4/tau", {"return -4 / tau * np.where": "return -4 * np.where",
                             "4 * A * times(e / (1 + e) ** 2, w)": "4 * A * times(tau * e / (1 + e) ** 2, w)"}, SAPO, 4),
    (r"temperature is chosen by the ratio", {TAU: TAU.replace("A > 0", "w > 1")}, SAPO, 4),
    (r"lower bound is reciprocal", {'1 - c["eps_low"])': '1 / (1 + c["eps_low"]))'}, DUAL_ROWS, 3),
    (r"gradient lacks the ratio", {CLIP: "np.where(bind | dual, 0, -A), 0 * A"}, DUAL_ROWS, 7),
    (r"tau_pos and tau_neg", {'tau = np.where(A > 0, c["tau_pos"], c["tau_neg"])': 'tau = np.where(A < 0, c["tau_pos"], c["tau_neg"])'},
     ("sapo-*", "choices-surrogate-sapo*", "choices-ratio-*-sapo"), 0),
    (r"overlong punishment is turned", {"R = b.reward + (r": "R = b.reward - (r"}, ("dapo-overlong", "choices-reward-overlong-*"), 0),
    (r"ADV-22a", {"rho[np.cumsum(T)[T > 0] - 1] += a[T > 0]": """place = i - (np.cumsum(b.length) - b.length)[seq]
        for s in range(b.n):
            rho[np.flatnonzero((seq == s) & (2 * place < b.length[seq]))[-1:]] += a[s]"""},
     ("ppo-*", "reinforce++-*", "choices-advantage-return-*", "choices-advantage-gae-*"), 1),
    (r"ADV-24a", {"rho[at] = scored(c, b.step_reward[i[at]], b.group[seq[at]], T[seq[at]], b)": """of, own = seq[at], b.step_reward[i[at]]
        to_go = np.array([own[k:][of[k:] == of[k]].sum() for k in range(len(at))])
        got = scored(c, to_go, b.group[of], T[of], b)
        rho[at] = got - np.append(np.where(of[1:] == of[:-1], got[1:], 0), 0)"""}, ("grpo-process-*",), 0),
    (r"ADV-27c", {'A, lam = rho - V, c': 'A, lam = rho - V + c["gamma"] * V * np.append(seq[1:] != seq[:-1], True), c'},
     ("ppo-*", "choices-advantage-gae-*"), 2),
    (r"ADV-27d", {"def credited(c, rho, V, seq):": "def credited(c, rho, V, seq, i):", '"gae"), seq)': '"gae"), seq, i)',
                  "(V[k + 1] + lam * A[k + 1])": "(V[k + 1] * (i[k + 1] == i[k] + 1) + lam * A[k + 1])"}, VALUES, 0),
    (r"ADV-27e", {"A, lam = rho - V, c": """V = np.where(np.append(seq[1:] != seq[:-1], True), 0, np.append(V[1:], 0))
    A, lam = rho - V, c"""}, VALUES, 18),
    (r"ADV-27f", {"A, lam = rho - V, c": """V = np.where(np.append(True, seq[1:] != seq[:-1])[:len(seq)], 0, np.append(0, V)[:len(seq)])
    A, lam = rho - V, c"""}, VALUES, 18),
    (r"ADV-27g", {"rho[np.cumsum(T)[T > 0] - 1] += a[T > 0]": """late = c["gamma"] * (c["lambda"] if c["credit"] == "gae" else 1)
        rho[np.cumsum(T)[T > 0] - 1] += (a * np.where(b.length < b.length.max(), late, 1))[T > 0]"""},
     (*VALUES, "choices-advantage-return-*", "reinforce++-[efhorstu]*"), 0),
    (r"ADV-27h", {"credited(c, rho, b.value[i] *": """credited(c, rho, np.where(np.arange(len(b.seq)) - (np.cumsum(b.length) - b.length)[
        b.seq] <= b.length[np.argsort(np.argsort(-b.length, kind="stable"))][b.seq], b.value, 0)[i] *"""}, VALUES, 0),
    (r"ADV-12c", {WHITENED: "A - A[i].mean(), 0).astype(A.dtype) * sigma(A[i], c, False)"}, WHITE, 1),
    (r"ADV-12c", {"a[i] /= sigma(": "a[i] *= finite(", "def scored(c, R": """def finite(*of):
    return sigma(*of) if np.isfinite(sigma(*of)) else 0

def scored(c, R"""}, ("grpo-[efhrs]*", "dapo-[efhrs]*"), 1),
    (r"ADV-21a", {WHITENED: """A - A[i].sum() / (b.n * b.length.max()), 0).astype(A.dtype) / sigma(
        np.append(A[i], np.zeros(b.n * b.length.max() - len(i))), c, False)"""}, WHITE, 1),
    (r"ADV-22b", {"return np.where(b.mask, A - A[i].mean()": """for k in (i[b.seq[i] == s] for s in range(b.n)):
        A[k] = (A[k] - A[k].mean()) / sigma(A[k], c, False) if c["scale"] == "token_whiten" and len(k) else A[k]
    return A if c["scale"] == "token_whiten" else np.where(b.mask, A - A[i].mean()"""}, WHITE, 2),
    (r"ADV-18a", {'    result = {**objective(': """    o = case["objective"]
    b.raw = advantages({**o, "advantage": {**o["advantage"], "scale": "none"}}, b) if "advantage" not in case["batch"] else b.A
    result = {**objective(""", "    P, Py, Pl = penalty(": """    if o["advantage"]["scale"] == "token_whiten":
        w, raw = np.exp(y), times(-b.raw[i], np.exp(y))
        bound = np.clip(w, 1 - o["surrogate"]["eps_low"], 1 + o["surrogate"]["eps_high"])
        S, Sy = np.maximum(raw, -A * bound), np.where(raw > -A * bound, raw, times(w == bound, -A * w))
    P, Py, Pl = penalty("""}, ("reinforce++-[efhorstu]*",), 0),
    (r"MASK-12a", {"    term, dlogp, pays = np.zeros((3, len(b.seq))":
                   """    b.count, first = len(i), {s: k for k, s in zip(i[::-1], b.seq[i][::-1])}
    if o["aggregation"]["kind"] == "token_mean" and b.count:
        b.A = np.where(b.mask, b.A, np.array([b.A[first[s]] if s in first else 0 for s in b.seq]))
        i = np.arange(len(b.seq))
    term, dlogp, pays = np.zeros((3, len(b.seq))""", '"token_mean": 1 / len(seq), "seq': '"token_mean": 1 / b.count, "seq'},
     ("choices-reward-*outcome", "choices-reward-overlong*", "choices-reward-kl_coef"), 0),
    (r"KL-10|FLOW-06",
     {"    through = times(c, Sy + Py)\n": "    P, Py, Pl = (times(v, x) for x in (P, Py, Pl))\n    through = times(c, Sy + Py)\n"},
     ("choices-weight-*", "choices-penalty-*", "tis-*", "icepop-*"), 10),
    (r"KL is multiplied by the advantage",
     {"    through = times(c, Sy + Py)\n": "    P, Py, Pl = (times(A, x) for x in (P, Py, Pl))\n    through = times(c, Sy + Py)\n"},
     ("tunix-grpo-*", "tunix-rloo-*"), 0),
    (r"ADV-25c", {"    seq, A, l, T = b.seq[i], b.A[i],": """    first = np.unique(b.seq[i], return_index=True)[1]
    b.A = np.where(b.mask, b.A[i][first].mean(), 0).astype(b.A.dtype)
    seq, A, l, T = b.seq[i], b.A[i],"""}, ("mistakes-mean-advantage*",), 0),
    (r"ADV-27i", {"credited(c, rho, b.value[i] *": """credited(c, rho, np.array([
        b.value[k] if k < len(b.seq) else 0 for k in np.arange(len(b.seq)) + (len(b.seq) - b.length[-1] - np.cumsum(b.length) + b.length)[
            b.seq]], A.dtype)[i] *"""}, VALUES, 2),
    (r"ADV-28d", {'minus(b.logp_old[i], b.logp_ref[i]))[0]': 'minus(0 * b.logp_old[i], b.logp_ref[i]))[0]'}, REWARDED, 2),
    (r"NORM-17b|aggregation.kind = seq_mean_token_sum", {'"token_mean": 1 / len(seq), "seq': '"token_mean": 1 / n, "seq'},
     ("trl-dapo-*",), 0),
    (r"REW-01$", {OVER: OVER.replace(' - r["overlong_cache"] - b', " - b")}, OVERLONG, 0),
    (r"divided by L_max", {OVER: OVER.replace('(r["overlong_cache"] or', '(r["overlong_max"] or')}, OVERLONG, 0),
    (r"REW-01a", {OVER: OVER.replace('(r["overlong_cache"] or', '(r["overlong_max"] - r["overlong_cache"] or')}, OVERLONG, 1),
    # the plantings of an independent port: GAE, whitening, weighted KLs, cuts, rollout weights
    (r"gamma and lambda of GAE are exchanged",
     {'A, lam = rho - V, c["lambda"] if c["credit"] == "gae" else 1': 'A, lam, c = rho - V, c["gamma"], {**c, "gamma": c["lambda"]}'},
     VALUES, 0),
    (r"next value is not discounted", {NEXT: '(V[k + 1] + c["gamma"] * lam * A[k + 1])'}, VALUES, 0),
    (r"GAE has no next value", {NEXT: 'c["gamma"] * lam * A[k + 1]'}, VALUES, 0),
    (r"decays by lambda alone", {NEXT: '(c["gamma"] * V[k + 1] + lam * A[k + 1])'}, VALUES, 0),
    (r"decays by gamma alone", {NEXT: 'c["gamma"] * (V[k + 1] + A[k + 1])'}, VALUES, 0),
    (r"returns of GAE", {'(c["credit"] == "gae"), seq)': '(c["credit"] == "gae"), seq) + b.value[i] * (c["credit"] == "gae")'}, VALUES, 0),
    (r"ADV-21$", {WHITENED: "A - A[i].sum() / (b.n * b.length.max()), 0).astype(A.dtype) / sigma(A[i], c, False)"}, WHITE, 1),
    (r"subtracts no mean", {WHITENED: "A, 0).astype(A.dtype) / sigma(A[i], c, False)"}, WHITE, 1),
    (r"KL-06$", {WEIGHED: "return P, np.zeros_like(w), own"}, ("choices-penalty-k3-exact-*", "grpo-unbiased-kl-*"), 2),
    (r"KL-04$", {'"k3": (k3, -np.expm1(-D))': '"k3": (np.expm1(D) - D, np.expm1(D))'}, ("grpo-unbiased-kl-[efhrs]*", "grpo-[efhrs]*"), 0),
    (r"CLIP-09a$", {"/ (1 + e) * A, -4 * A * times(": "/ (1 + e) * -1, 4 * np.ones_like(A) * times("}, SAPO, 2),
    (r"SAPO's temperature divides", {GATE: GATE.replace("tau * (w - 1)", "(w - 1) / tau"), "-4 * A * times(e": "-4 * A / tau**2 * times(e"},
     SAPO, 4),
    (r"CISPO's bound is one too small", {'"cispo": np.clip(w, low, high)': '"cispo": np.clip(w, low, high - 1)'}, ("cispo-*",), 0),
    (r"cap of the rollout weight is its lower bound", {'"truncate": np.clip(v, low, high)': '"truncate": np.maximum(v, high)'},
     ("tis-*",), 0),
    (r"^2 micro-batches of a batch have a mean of their own",
     {OVER_ALL: '"token_mean": [1 / (2 * sum((seq < -(-b.n // 2)) == (s < -(-b.n // 2)))) for s in seq], "seq'}, ("ppo-[efhrs]*",), 0),
    (r"each is weighted by its share of the responses",
     {OVER_ALL: """"token_mean": [((s < -(-b.n // 2)) * -(-b.n // 2) + (s >= -(-b.n // 2)) * (b.n // 2)) / (b.n * sum(
         (seq < -(-b.n // 2)) == (s < -(-b.n // 2)))) for s in seq], "seq"""}, ("ppo-[efhrs]*",), 0),
    (r"most tokens that count of any response", {'"seq_mean_constant": 1 / (n * C)': '"seq_mean_constant": 1 / (n * T.max())'},
     ("dr-grpo-*",), 1),
    (r"product of the ratios without its root", {'T[seq] if "mean" in c["level"] else 1': "1"}, ("gmpo-*",), 7),
    (r"advantages are shifted by one token, to the left",
     {READ: READ + "\n    A = np.where(np.append(seq[1:], -1) == seq, np.append(A[1:], 0), 0)"},
     tuple(f"{row}-{batch}" for row in ("grpo", "gspo") for batch in ("ragged", "full", "square", "uneven", "equal-rewards")), 0),
    # the terms of a mistaken surrogate have the rollout weight
    (r"clip without its minimum: -A clip\(w\) alone",
     {'bind = np.where(A > 0, w > bound, w < bound)': 'bind = (w > 1 + c["eps_high"]) | (w < 1 - c["eps_low"])',
      "np.where(bind, -A * bound, S)": 'np.where(bind, -A * np.clip(w, 1 - c["eps_low"], 1 + c["eps_high"]), S)'},
     ("tis-[efhrs]*", "icepop-[efhrs]*"), 0),
    # a pair of settings in one row, where another row has a mistake without a name
    (r"surrogate.eps_low = 0.003 and surrogate.eps_high = 0.1",
     {"    K, dK = kl_of(c[\"kl\"], D)\n": "    K, dK = kl_of(c[\"kl\"], D)\n    K, dK = np.tanh(K), dK / np.cosh(K) ** 2\n",
      'np.where(A > 0, 1 + c["eps_high"], 1 - c["eps_low"])':
      'np.where(A > 0, 1 + (0.1 if c["eps_high"] == 4e-4 else c["eps_high"]), 1 - (3e-3 if c["eps_low"] == 3e-4 else c["eps_low"]))'},
     ("grpo-*", "gspo-*"), 71),
    # choices that agree on most batches
    (r"REW-01c", {OVER: OVER.replace("b.length", "T")}, ("dapo-*", "verl-dapo-*", "dapo-recipe-*", *PUNISHED), 0),
    (r"penalty.kl = abs|is \|D\|", {K1: '"k1": (abs(D), np.sign(D))'}, ("tunix-grpo-*", "choices-alike-k1-*"), 0),
    (r"penalty.kl = k1|is D, k1", {ABS: '"abs": (D, D * 0 + 1)'}, ("choices-penalty-abs-exact-none*", "choices-alike-abs-*"), 0),
    (r"NORM-05a|empty_sequences = drop", {'(b.n, b.groups) if c["empty_sequences"] == "keep" else': ""},
     (STRICT, "dapo-*", "cispo-*", "choices-alike-empty-group-*"), 0),
    (r"CLIP-08", {POOLED: POOLED.replace("A >= 0", "A > 0"), "J &= np.where(A >= 0": "J &= np.where(A > 0"}, GMPO, 0),
    (r"bounds are exchanged", {POOLED: POOLED.replace("A >= 0", "A < 0"), "J &= np.where(A >= 0": "J &= np.where(A < 0"}, GMPO, 8),
    (r"bounds both hold", {POOLED: 'd = np.clip(d, -c["token_clip_low"], c["token_clip_high"])', POOLED_GRADIENT:
                           'J &= (d <= c["token_clip_high"]) & (d >= -c["token_clip_low"])'}, GMPO, 7),
    (r"bounds are of the ratio, 1 - eps",
     {POOLED: POOLED.replace('d, c["token_clip_high"]', 'd, np.log1p(c["token_clip_high"])').replace(
         'd, -c["token_clip_low"]', 'd, np.log1p(-c["token_clip_low"])'),
      POOLED_GRADIENT: POOLED_GRADIENT.replace('c["token_clip_high"]', 'np.log1p(c["token_clip_high"])').replace(
          '-c["token_clip_low"]', 'np.log1p(-c["token_clip_low"])')}, GMPO, 3),
    (r"bounds are of the ratio, and both",
     {POOLED: 'd = np.log(np.clip(np.exp(d), 1 - c["token_clip_low"], 1 + c["token_clip_high"]))', POOLED_GRADIENT:
      'J &= (np.exp(d) <= 1 + c["token_clip_high"]) & (np.exp(d) >= 1 - c["token_clip_low"])'}, GMPO, 7),
    (r"ADV-28a", {"R - total(k, seq, b.n)": """R - r["kl_coef"] * np.bincount(
        b.seq, kl_of(r["kl"], minus(b.logp_old, b.logp_ref))[0], b.n)"""},
     ("rloo-[efhrsu]*", "trl-rloo-*", "choices-alike-kl-masked-rloo-*", "choices-alike-kl-masked-trl-*"), 1),
    (r"kl_clamp_value = 10", {'bounded(K, -c["kl_clamp_value"], c["kl_clamp_value"])': "bounded(K, -10, 10)"},
     (STRICT, "grpo-*", "choices-alike-unclamped-*"), 0),
    (r"kl_clamp_value = 0", {'bounded(K, -c["kl_clamp_value"], c["kl_clamp_value"])': "bounded(K, 0, 0)"},
     (STRICT, "easyr1-grpo-*", "verl-kl-loss-*", "swift-grpo-*", "choices-alike-clamped-*"), 0),
]

PATH = ("logits-*", "hidden-*")
BOTH = (*PATH, "grpo-[efhrs]*", "gspo-[efhrs]*", "dapo-[efhrs]*")
KL = '"k3": (k3, -np.expm1(-D))'
# the same, for mistakes of the loss that are named from logits and hidden states too, by the chain rule
OF_LOSS = [
    (r"CLIP-01|surrogate.kind = ratio", {'& (c["kind"] != "ratio")': "& False"}, PATH, 0),
    (r"gradient goes through the clip|CLIP-01, in the gradient only|surrogate.kind = ratio, in the gradient only",
     {CLIP: "np.where(dual, 0, -times(A, w)), 0 * A"}, PATH, 0),
    (r"eps_low and eps_high are exchanged", {'1 + c["eps_high"], 1 - c["eps_low"]': '1 + c["eps_low"], 1 - c["eps_high"]'}, PATH, 0),
    (r"old over new", {"d, left = minus(l, old),": "d, left = minus(old, l),"}, PATH, 45),
    (r"absolute value of the advantage", {"seq, A, l, T = b.seq[i], b.A[i],": "seq, A, l, T = b.seq[i], abs(b.A[i]),"}, PATH, 0),
    (r"ratio.level = sequence_sum", {'share = T[seq] if "mean" in c["level"] else 1': "share = 1"}, PATH, 15),
    (r"kind = token_mean", {MEAN: '"seq_mean_token_mean": 1 / len(seq)'}, PATH, 0),
    (r"KL-05|penalty.kl = k1|is D, k1", {KL: '"k3": (D, D * 0 + 1)'}, PATH, 0),
    (r"KL-04", {KL: '"k3": (np.expm1(D) - D, np.expm1(D))'}, PATH, 15),
    (r"dlogp multiplied by 2", {'"dlogp": dlogp, **by_divergence(o, pays),\n': '"dlogp": 2 * dlogp, **by_divergence(o, pays),\n'}, PATH, 0),
    (r"kind = token_mean", {MEAN: '"seq_mean_token_mean": 1 / len(seq)'}, BOTH, 0),
    (r"KL-05|penalty.kl = k1|is D, k1", {KL: '"k3": (D, D * 0 + 1)'}, BOTH, 0),
]


def planted(folder, edits, file="numpy_split.py"):
    changed_copy(folder, file, edits)
    return os.path.join(folder, "numpy_port.py")


def named(conform, vectors, program, cases):
    """[(name, causes with the same numbers, number of cases)] of the groups of failures."""
    globs = cases if isinstance(cases, tuple) else [f"partition-{cases}-{row}" for row in ROWS]
    only = [word for glob in globs for word in ((glob,) if glob == STRICT else ("--only", glob))]
    run = subprocess.run([conform, "--vectors", vectors, "--format", "json", *only, "--", sys.executable, "-B", program],
                         capture_output=True, text=True)
    return [(g.get("name"), g.get("also") or [], len(g.get("cases", ()))) for g in json.loads(run.stdout)["groups"]]


def told(found):
    return ", ".join(f"{n} cases: {name}" for name, _, n in found) or "no failure"


def check_part(conform, vectors, name, edits, cases):
    with tempfile.TemporaryDirectory() as folder:
        found = named(conform, vectors, planted(os.path.join(folder, "adapters"), edits), cases)
    print(f"{name}: {told(found)}", flush=True)
    check(name, found and (found[0][0] == name or name in found[0][1]))


def check_set(conform, vectors, pattern, edits, cases, most):
    with tempfile.TemporaryDirectory() as folder:
        found = named(conform, vectors, planted(os.path.join(folder, "adapters"), edits, "numpy_port.py"), cases)
    print(f"{pattern}: {told(found)}", flush=True)
    left = sum(n for name, _, n in found if name.startswith("unexplained"))
    names = [name for name, _, _ in found if not name.startswith("unexplained")]
    check(pattern, names and all(re.search(pattern, name) for name in names) and len(names) == len(set(names)) and left <= most)


def main():
    where = sys.argv[1:3]
    for part in PLANTED:
        attempt(check_part, *where, *part)
    for mistake in IN_SETS + OF_LOSS:
        attempt(check_set, *where, *mistake)
    right = named(*where, os.path.join(ADAPTERS, "numpy_port.py"), PATH)
    check("without a mistake", right == [], right)


if __name__ == "__main__":
    sys.exit(checked(main))
