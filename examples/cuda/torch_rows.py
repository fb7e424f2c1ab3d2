#!/usr/bin/env python3
"""The work of rows.cu in eager PyTorch on the same GPU, float32: log-probability and entropy of every token, DAPO's clipped loss, d loss / d logits.

    python3 examples/cuda/torch_rows.py 1024 151936        milliseconds, median of 9
"""
import statistics
import sys

import torch

TURNS = 9


def loss(logits, target, logp_old, advantage):
    logp_all = torch.log_softmax(logits, -1)
    logp = logp_all.gather(-1, target[:, None])[:, 0]
    entropy = -(logp_all.exp() * logp_all).sum(-1).detach()
    ratio = torch.exp(logp - logp_old)
    return -torch.minimum(ratio * advantage, ratio.clamp(1 - 0.2, 1 + 0.28) * advantage).mean(), entropy


def milliseconds(n, vocab):
    logits = (8 * torch.rand(n, vocab, device="cuda")).requires_grad_()
    target = torch.arange(n, device="cuda") % vocab
    logp_old = torch.full((n,), -12.0, device="cuda")
    advantage = torch.where(torch.arange(n, device="cuda") % 2 == 1, 1.0, -1.0)
    found = []
    for turn in range(TURNS + 3):
        before, after = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        logits.grad = None
        before.record()
        loss(logits, target, logp_old, advantage)[0].backward()
        after.record()
        torch.cuda.synchronize()
        if turn >= 3:
            found.append(before.elapsed_time(after))
    return statistics.median(found), min(found), max(found)


n, vocab = int(sys.argv[1]), int(sys.argv[2])
print(f"torch {torch.__version__}: {n} tokens, vocabulary {vocab}: %.3f ms (%.3f to %.3f)" % milliseconds(n, vocab))
