#!/usr/bin/env python3
"""The work of rows.cu by PyTorch and Liger-Kernel: log-probability and entropy of every token, DAPO's clipped loss, d loss / d logits.

    torch_rows.py 1024 151936 [--type bfloat16] [--peers eager,compiled,liger,liger_inplace] [--no-entropy] [--turns 9] [--device cpu]

eager          PyTorch, operation by operation; log-probabilities are float32 for both types
compiled       the same by torch.compile
liger          triton_grpo_loss of Liger-Kernel, which gives neither log-probabilities nor entropy
liger_inplace  the same as Liger does it by default: d logits take the place of the logits, which are restored between the calls

Milliseconds are medians of the turns, after three that do not count.  Memory is what a call adds at most to all that was there before it,
d logits and all.  The error is the worst relative one of an element of d logits in a few rows, against double; where a token is clipped all
must be zero.  A JSON line and one to read for each peer; one that cannot run says why.  TRITON_INTERPRET=1 lets Liger run on a CPU."""
import argparse
import gc
import importlib.metadata
import json
import math
import statistics
import time
import types

import torch

EPS_LOW, EPS_HIGH = 0.2, 0.28
WARM = 3


def clipped_loss(logp, logp_old, advantage):
    ratio = torch.exp(logp - logp_old)
    return -torch.minimum(ratio * advantage, ratio.clamp(1 - EPS_LOW, 1 + EPS_HIGH) * advantage).mean()


def slope(drift, advantage):
    """d loss / d logp of each token, by hand: what the peers are compared with does not come from them"""
    clipped = (advantage > 0) & (drift > math.log1p(EPS_HIGH)) | (advantage < 0) & (drift < math.log1p(-EPS_LOW))
    return torch.where(clipped, 0.0, -advantage * drift.exp() / drift.numel())


def responses(n, device):
    """length of a response; an advantage for each, none near zero; log-ratios of tokens, none near a clip, an eighth of them beyond one"""
    length = math.gcd(n, n // 4 or 1, 512)
    advantage = torch.randn(n // length, device=device)
    advantage = torch.where(advantage < 0, advantage - 0.1, advantage + 0.1)
    drift = 0.2 * torch.rand(n, device=device) - 0.1
    drift[7::8] = torch.where(drift[7::8] < 0, -0.5, 0.5)
    return length, advantage, drift


def sample(n, count, device):
    """tokens to compare, as many again of those with a log-ratio beyond a clip"""
    every = torch.arange(n, device=device)
    return torch.cat([them[torch.linspace(0, len(them) - 1, min(len(them), count)).long().to(device)] for them in (every, every[7::8])])


def measure(call, device, turns, before=lambda: None):
    """milliseconds of each turn, the most bytes that a call adds, what the last call returned"""
    found, peak = [], None
    for turn in range(WARM + turns):
        result = None
        before()
        if device == "cuda":
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()
            held = torch.cuda.memory_allocated()
            start.record()
            result = call()
            end.record()
            torch.cuda.synchronize()
            milliseconds, peak = start.elapsed_time(end), torch.cuda.max_memory_allocated() - held
        else:
            start = time.perf_counter()
            result = call()
            milliseconds = 1e3 * (time.perf_counter() - start)
        if turn >= WARM:
            found.append(milliseconds)
    return found, peak, result


def setting(o, *packages):
    """what the results were made with"""
    found = {"device": torch.cuda.get_device_name() if o.device == "cuda" else "cpu", "torch": torch.__version__}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = None
    return found


def each_peer(o, known, work):
    """work(peer) for every peer asked for; none may end the others"""
    print(json.dumps(known), flush=True)
    for peer in o.peers.split(","):
        try:
            result, line = work(peer)
        except Exception as e:
            reason = "OOM" if isinstance(e, torch.OutOfMemoryError) else f"{type(e).__name__}: {(str(e).splitlines() or [''])[0]}"
            result, line = {"did_not_run": reason}, f"did not run: {reason}"
        print(json.dumps({"peer": peer, **result}), f"{peer:15}{line}", sep="\n", flush=True)
        gc.collect()
        if o.device == "cuda":
            torch.cuda.empty_cache()


def summary(found, peak):
    middle = statistics.median(found)
    result = {"ms": middle, "ms_min": min(found), "ms_max": max(found), "peak_bytes": peak}
    memory = "" if peak is None else f", {peak / 1e9:.3f} GB"
    return result, f"{middle:9.3f} ms ({min(found):.3f} to {max(found):.3f}){memory}"


def check_finite(*tensors):
    for tensor in tensors:
        if not all(bool(torch.isfinite(part).all()) for part in (tensor if tensor.dim() else [tensor])):
            raise ArithmeticError("not finite")


def eager(logits, target, logp_old, advantage, entropy):
    logp_all = torch.log_softmax(logits, -1, dtype=torch.float32)
    logp = logp_all.gather(-1, target[:, None]).squeeze(-1)
    loss = clipped_loss(logp, logp_old, advantage)
    if not entropy:
        return loss, logp.detach()
    fixed = logp_all.detach()
    return loss, logp.detach(), -(fixed.exp() * fixed).sum(-1)


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tokens", type=int)
    p.add_argument("vocab", type=int)
    p.add_argument("--type", choices=["float32", "bfloat16"], default="float32")
    p.add_argument("--peers", default="eager,compiled,liger,liger_inplace")
    p.add_argument("--no-entropy", action="store_true")
    p.add_argument("--turns", type=int, default=9)
    p.add_argument("--device", default="cuda")
    return p.parse_args()


def make_inputs(o):
    """logits, target, logp_old, log-ratios, advantages of tokens and of responses, length of a response"""
    torch.manual_seed(1)
    logits = torch.randn(o.tokens, o.vocab, device=o.device, dtype=getattr(torch, o.type)).mul_(2)
    target = torch.randint(o.vocab, (o.tokens,), device=o.device)
    length, of_response, drift = responses(o.tokens, o.device)
    logp = torch.cat([torch.log_softmax(part, -1, dtype=torch.float32).gather(-1, ids[:, None]).squeeze(-1)
                      for part, ids in zip(logits.split(256), target.split(256))])
    return types.SimpleNamespace(logits=logits, target=target, logp_old=logp - drift, drift=drift, length=length,
                                 advantage=of_response.repeat_interleave(length), of_response=of_response)


def error_in_rows(x):
    """a function of d logits of (responses, length, vocab): the worst relative error in a few rows, against double"""
    device = x.logits.device
    some = sample(len(x.target), 8, device)
    exact = torch.softmax(x.logits[some].double(), -1).neg_()
    exact[torch.arange(len(some), device=device), x.target[some]] += 1
    # logp_old was rounded, so the ratio is not quite exp(drift)
    double = torch.log_softmax(x.logits[some].double(), -1).gather(-1, x.target[some, None]).squeeze(-1)
    rounding = double - x.logp_old[some].double() - x.drift[some].double()
    exact *= (slope(x.drift, x.advantage)[some].double() * rounding.exp())[:, None]

    def error(gradient):
        found = gradient[some // x.length, some % x.length].double()
        off = torch.where(exact == 0, torch.where(found == 0, 0.0, math.inf), (found - exact).abs() / exact.abs())
        return off.max().item()
    return error


def by_autograd(function, x, entropy):
    """what to call, and what to do before each call"""
    leaf = x.logits.detach().requires_grad_()

    def call():
        loss, *rest = function(leaf, x.target, x.logp_old, x.advantage, entropy)
        return loss.detach(), rest, torch.autograd.grad(loss, leaf)[0].view(-1, x.length, x.logits.shape[-1])
    return call, lambda: None


def by_liger(x, inplace):
    """what to call, and what to do before each call"""
    from liger_kernel.transformers.grpo_loss import triton_grpo_loss
    n, vocab = x.logits.shape
    leaf = torch.ones(n // x.length, x.length + 1, vocab, device=x.logits.device, dtype=x.logits.dtype)  # it skips a response's last row
    ids, old = x.target.view(-1, x.length), x.logp_old.view(-1, x.length)

    def restore():
        with torch.no_grad():
            leaf[:, :x.length] = x.logits.view(-1, x.length, vocab)
    restore()
    leaf.requires_grad_()

    def call():
        loss, _ = triton_grpo_loss(leaf, old, None, ids, x.of_response, temperature=1.0, beta=0.0, eps_low=EPS_LOW, eps_high=EPS_HIGH,
                                   inplace=inplace, loss_type="dapo", reduce=True)
        return loss.detach(), [], torch.autograd.grad(loss, leaf)[0][:, :x.length]
    return call, restore if inplace else lambda: None


def main():
    o = arguments()
    x = make_inputs(o)
    error = error_in_rows(x)
    peers = {"eager": lambda: by_autograd(eager, x, not o.no_entropy),
             "compiled": lambda: by_autograd(torch.compile(eager), x, not o.no_entropy),
             "liger": lambda: by_liger(x, False), "liger_inplace": lambda: by_liger(x, True)}

    def work(peer):
        call, before = peers[peer]()
        found, peak, (loss, rest, gradient) = measure(call, o.device, o.turns, before)
        check_finite(loss, gradient, *rest)
        result, line = summary(found, peak)
        result.update(entropy=len(rest) == 2, error=error(gradient), loss=loss.item())
        return result, f"{line}, error {result['error']:.1e}{'' if result['entropy'] else ', no entropy'}"

    known = {"tokens": o.tokens, "vocab": o.vocab, "type": o.type, "length": x.length, "turns": o.turns,
             **setting(o, "triton", "liger-kernel")}
    each_peer(o, known, work)


if __name__ == "__main__":
    main()
