#!/usr/bin/env python3
"""The work of bench.c in PyTorch, for compare.py: log_softmax, gather, entropy, clipped loss, backward.

    serve_torch.py --modes            one line: the version, then the available modes: eager, compiled
    serve_torch.py eager|compiled     one line "pass type tokens vocabulary threads" in, one line of seconds out

Compiled is torch.compile, which needs a C++ compiler.  Compilation and the first calls are not timed."""
import os
import shutil
import sys
import time

import torch

TYPES = {"float": torch.float32, "bfloat16": torch.bfloat16}
WARM_UP = 4


def clipped(logp, old, advantage):
    """DAPO's clipped loss, the mean over all tokens."""
    ratio = torch.exp(logp - old)
    return -torch.min(ratio * advantage, torch.clamp(ratio, 0.8, 1.28) * advantage).mean()


def from_logits(logits, target, old, advantage):
    """The loss, and the entropies without a gradient."""
    logp = torch.log_softmax(logits, -1)
    with torch.no_grad():
        entropy = -(logp.exp() * logp).sum(-1)
    return clipped(logp.gather(-1, target).squeeze(-1).float(), old, advantage), entropy


class Work:
    def __init__(self, compiled, dtype, tokens, vocab):
        torch.manual_seed(1)
        self.logits = (2 * torch.randn(tokens, vocab)).to(dtype).requires_grad_() if vocab else None
        self.target = torch.randint(vocab, (tokens, 1)) if vocab else None
        self.logp = (-2 * torch.rand(tokens)).requires_grad_()
        self.old = torch.full((tokens,), -11.0) if vocab else self.logp.detach() + 0.4 * (torch.rand(tokens) - 0.5)
        self.advantage = torch.rand(tokens) - 0.5
        self.from_logits, self.clipped = from_logits, clipped
        if compiled:
            torch._dynamo.reset()
            self.from_logits = torch.compile(from_logits, dynamic=False)
            self.clipped = torch.compile(clipped, dynamic=False)
        self.warm = set()

    def forward(self):
        with torch.no_grad():
            return self.from_logits(self.logits, self.target, self.old, self.advantage)

    def both(self):
        self.from_logits(self.logits, self.target, self.old, self.advantage)[0].backward()

    def objective(self):
        self.clipped(self.logp, self.old, self.advantage).backward()

    def once(self, what):
        for x in (self.logits, self.logp):
            if x is not None:
                x.grad = None
        start = time.perf_counter()
        getattr(self, what)()
        return time.perf_counter() - start

    def seconds(self, what):
        for _ in range(WARM_UP if what not in self.warm else 0):
            self.once(what)
        self.warm.add(what)
        return self.once(what)


def serve(compiled):
    work, opened = None, None
    for line in sys.stdin:
        what, kind, tokens, vocab, threads = line.split()
        job = kind, int(tokens), 0 if what == "objective" else int(vocab), int(threads)
        if job != opened:
            work = None
            torch.set_num_threads(job[3])
            work, opened = Work(compiled, TYPES[kind], *job[1:3]), job
        print(work.seconds(what), flush=True)


def main():
    if sys.argv[1:] == ["--modes"]:
        compiler = shutil.which(os.environ.get("CXX", "g++"))
        debian = " (Debian)" if "/dist-packages/" in torch.__file__ else ""
        print(torch.__version__ + debian, "eager", *(["compiled"] if hasattr(torch, "compile") and compiler else []), sep=";")
    elif sys.argv[1:] in (["eager"], ["compiled"]):
        serve(sys.argv[1] == "compiled")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
