#!/usr/bin/env python3
"""From hidden states to d hidden and d weight of DAPO's clipped loss, by PyTorch, Liger-Kernel and cut-cross-entropy.

    torch_hidden.py [8192 4096 151936] [--type bfloat16] [--peers products,eager,...] [--rows 2048] [--chunk-size 4] [--scale 5]
                    [--turns 9] [--device cpu]

products      the three matrix products alone, logits = H W^T, dH = dZ W, dW = dZ^T H, with --rows rows of logits at a time
eager         PyTorch, operation by operation on all logits; log-probabilities are float32
compiled      the same by torch.compile
liger         LigerFusedLinearGRPOLoss of Liger-Kernel, --chunk-size responses at a time; its backward products are of float32
liger_tf32    the same, with those products in TF32
liger_rows    all logits by PyTorch, then triton_grpo_loss of Liger-Kernel, which puts d logits in their place
cce           linear_cross_entropy of cut-cross-entropy by default: blocks of d logits below filter_eps are left out
cce_nofilter  the same with filter_eps=None
cce_exact     its impl="cce_exact": no filter, sums in float32; Apple's repository has it, release 25.1.1 of the package index has not
cce_compile   its impl="torch_compile", which also runs without a GPU

products:512 and liger:16 put a number of their own beside the name.  Hidden states and weight are normal, logits have the deviation
--scale: what cce leaves out depends on it.  Targets are drawn from these logits.  Milliseconds, memory and JSON lines as in torch_rows.py,
memory beyond hidden states and weight, both gradients and all.  A gradient is compared in a few rows with that of the same inputs in
float32: norm of the difference over norm, the worst row and the median; where a token is clipped all must be zero."""
import argparse

import torch

from torch_rows import EPS_HIGH, EPS_LOW, check_finite, clipped_loss, each_peer, measure, responses, sample, setting, slope, summary

PEERS = "products,eager,compiled,liger,liger_tf32,liger_rows,cce,cce_nofilter,cce_exact,cce_compile"


def make_inputs(o):
    """hidden, weight, target, log-ratio, advantages of tokens and of responses, length, log-sum-exp, logp_old, mean of logp"""
    torch.manual_seed(1)
    n, type_ = o.tokens, getattr(torch, o.type)
    hidden = torch.randn(n, o.width, device=o.device, dtype=type_)
    weight = torch.randn(o.vocab, o.width, device=o.device, dtype=type_).mul_(o.scale / o.width ** 0.5)
    length, of_response, drift = responses(n, o.device)
    full, logp, log_sum, target = weight.float(), [], [], []
    for part in hidden.split(256):
        logits = part.float() @ full.t()
        log_sum.append(logits.logsumexp(-1))
        target.append(torch.multinomial(torch.softmax(logits, -1), 1).squeeze(-1))
        logp.append(logits.gather(-1, target[-1][:, None]).squeeze(-1) - log_sum[-1])
    logp = torch.cat(logp)
    each = of_response.repeat_interleave(length)
    return hidden, weight, torch.cat(target), drift, each, of_response, length, torch.cat(log_sum), logp - drift, logp.mean().item()


def reference(hidden, weight, target, log_sum, each, tokens, words):
    """rows of d hidden and of d weight in float32, from log_sum and d loss / d logp of every token"""
    full = weight.float()
    slopes = torch.exp(hidden[tokens].float() @ full.t() - log_sum[tokens, None]).neg_()
    slopes[torch.arange(len(tokens), device=target.device), target[tokens]] += 1
    of_hidden = (slopes * each[tokens, None]) @ full
    slopes = (target[:, None] == words).float() - torch.exp(hidden.float() @ full[words].t() - log_sum[:, None])
    return of_hidden, (slopes * each[:, None]).t() @ hidden.float()


def apart(found, exact):
    """worst and median row"""
    size, off = exact.norm(dim=-1), (found.float() - exact).norm(dim=-1)
    off = torch.where(size == 0, torch.where(off == 0, 0.0, torch.inf), off / size)
    return off.max().item(), off[size > 0].median().item()


def products(hidden, weight, rows):
    """a function without arguments: no loss, and the products that d hidden and d weight take, the logits in place of d logits"""
    @torch.no_grad()
    def call():
        of_hidden, of_weight = torch.empty_like(hidden), torch.empty_like(weight)
        logits = hidden.new_empty(min(rows, len(hidden)), len(weight))
        for first in range(0, len(hidden), rows):
            part = hidden[first:first + rows]
            z = torch.mm(part, weight.t(), out=logits[:len(part)])
            torch.mm(z, weight, out=of_hidden[first:first + rows])
            of_weight.addmm_(z.t(), part, beta=1 if first else 0)
        return None, of_hidden, of_weight
    return call


def make_peers(o, hidden, weight, target, of_response, advantage, length, logp_old):
    """functions of a number, or none, that give a function without arguments: loss, d hidden, d weight"""
    h, w = hidden.requires_grad_(), weight.requires_grad_()
    shape = (-1, length)

    def graded(loss_of):
        def call():
            loss = loss_of()
            return loss.detach(), *torch.autograd.grad(loss, (h, w))
        return call

    def whole(hidden, weight, target, logp_old, advantage):
        logp = torch.log_softmax(hidden @ weight.t(), -1, dtype=torch.float32).gather(-1, target[:, None]).squeeze(-1)
        return clipped_loss(logp, logp_old, advantage)

    def eager(number, function=whole):
        return graded(lambda: function(h, w, target, logp_old, advantage))

    def liger(number, precision="highest"):
        from liger_kernel.chunked_loss import LigerFusedLinearGRPOLoss
        torch.set_float32_matmul_precision(precision)
        chunked = LigerFusedLinearGRPOLoss(beta=0.0, use_ref_model=False, chunk_size=number or o.chunk_size, epsilon_low=EPS_LOW,
                                           epsilon_high=EPS_HIGH, loss_type="dapo", temperature=1.0)
        ids, mask, old = target.view(shape), torch.ones(shape[1], device=o.device).expand(len(of_response), -1), logp_old.view(shape)
        return graded(lambda: chunked(h.view(-1, length, o.width), w, ids, mask, of_response, old_per_token_logps=old)[0])

    def liger_rows(number):
        from liger_kernel.transformers.grpo_loss import triton_grpo_loss
        with torch.no_grad():                                                        # it skips the last row of every response
            states = hidden.view(-1, length, o.width)
            states = torch.cat([states, states[:, :1]], 1).view(-1, o.width).requires_grad_()
        ids, old = target.view(shape), logp_old.view(shape)

        def call():
            logits = (states @ w.t()).view(-1, length + 1, o.vocab)
            loss, _ = triton_grpo_loss(logits, old, None, ids, of_response, temperature=1.0, beta=0.0, eps_low=EPS_LOW, eps_high=EPS_HIGH,
                                       inplace=True, loss_type="dapo", reduce=True)
            del logits
            of_states, of_weight = torch.autograd.grad(loss, (states, w))
            return loss.detach(), of_states.view(-1, length + 1, o.width)[:, :length].reshape(-1, o.width), of_weight
        return call

    def cce(number, **options):
        from cut_cross_entropy import linear_cross_entropy
        return graded(lambda: clipped_loss(-linear_cross_entropy(h, w, target, reduction="none", **options), logp_old, advantage))

    return {"products": lambda number: products(hidden, weight, number or o.rows), "eager": eager,
            "compiled": lambda number: eager(number, torch.compile(whole)), "liger": liger,
            "liger_tf32": lambda number: liger(number, "high"), "liger_rows": liger_rows, "cce": cce,
            "cce_nofilter": lambda number: cce(number, filter_eps=None), "cce_exact": lambda number: cce(number, impl="cce_exact"),
            "cce_compile": lambda number: cce(number, impl="torch_compile")}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in dict(tokens=8192, width=4096, vocab=151936).items():
        p.add_argument(name, type=int, nargs="?", default=value)
    p.add_argument("--type", choices=["bfloat16", "float32"], default="bfloat16")
    p.add_argument("--peers", default=PEERS)
    p.add_argument("--rows", type=int, default=2048)
    p.add_argument("--chunk-size", type=int, default=4)
    p.add_argument("--scale", type=float, default=5)
    p.add_argument("--turns", type=int, default=9)
    p.add_argument("--device", default="cuda")
    o = p.parse_args()

    hidden, weight, target, drift, advantage, of_response, length, log_sum, logp_old, mean = make_inputs(o)
    tokens = sample(o.tokens, 32, o.device)
    words = torch.cat([target[tokens[:8]], torch.arange(8, device=o.device) * (o.vocab // 8)])
    exact = reference(hidden, weight, target, log_sum, slope(drift, advantage), tokens, words)
    peers = make_peers(o, hidden, weight, target, of_response, advantage, length, logp_old)
    of_products = []

    def work(peer):
        torch.set_float32_matmul_precision("highest")
        name, _, number = peer.partition(":")
        found, peak, (loss, of_hidden, of_weight) = measure(peers[name](int(number or 0)), o.device, o.turns)
        check_finite(of_hidden, of_weight)
        result, line = summary(found, peak)
        if name == "products":
            of_products[:] = of_products or [result["ms"]]
        if of_products:
            result["times_products"] = result["ms"] / of_products[0]
            line += f", {result['times_products']:.2f} x the products"
        if loss is not None:
            check_finite(loss)
            result["loss"] = loss.item()
            for what, both in ("d_hidden", apart(of_hidden[tokens], exact[0])), ("d_weight", apart(of_weight[words], exact[1])):
                result[f"{what}_worst"], result[f"{what}_median"] = both
                line += ", %s off by %.1e (median %.1e)" % (what.replace("_", " "), *both)
        return result, line

    known = {**{key: value for key, value in vars(o).items() if key not in ("device", "peers")}, "length": length, "mean_logp": mean,
             **setting(o, "triton", "liger-kernel", "cut-cross-entropy")}
    each_peer(o, known, work)


if __name__ == "__main__":
    main()
