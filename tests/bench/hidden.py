#!/usr/bin/env python3
"""From hidden states to d hidden and d weight: extra/grpo_hidden.h with OpenBLAS, PyTorch eager and compiled, Liger's chunked loss.

    hidden.py [--tokens 256] [--width 1024] [--vocab 32768] [--tile 128] [--repeats 7] [--cc "gcc -O2"]

Needs libopenblas-dev, torch, and for its row liger-kernel.  One thread, float32, DAPO's clipped loss; each is a process of its own, called
in turn.  Prints Markdown: medians of seconds, their ratio to the three products of a linear layer in OpenBLAS and in the same library, and
the peak memory that a call adds beyond hidden states and weight, outputs included.  Here only grpo_hidden.h computes the entropy."""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LENGTH = 8                                               # tokens of a response, as in hidden.c
KINDS = {"torch three": "PyTorch, the products alone", "eager": "PyTorch, eager", "compiled": "PyTorch, compiled",
         "liger": "Liger, chunked"}


def resident(which):
    with open("/proc/self/status") as f:
        return next(1024 * int(line.split()[1]) for line in f if line.startswith(which))


def forget_peak():
    with open("/proc/self/clear_refs", "w") as f:
        f.write("5")


def work(kind, tokens, width, vocab, tile):
    """A function of (hidden, weight) that sets their gradients."""
    import torch
    target = torch.randint(vocab, (tokens,))
    advantage = torch.tensor([1.0, -1.0]).repeat(tokens // LENGTH // 2)
    each = advantage.repeat_interleave(LENGTH)

    def loss(hidden, weight):
        logp = torch.log_softmax(hidden @ weight.t(), -1).gather(-1, target[:, None]).squeeze(-1)
        ratio = torch.exp(logp - logp.detach())
        return -torch.min(ratio * each, torch.clamp(ratio, 0.8, 1.28) * each).mean()

    if kind == "torch three":
        logits = torch.randn(tokens, vocab)

        def three(hidden, weight):
            with torch.no_grad():
                torch.mm(hidden, weight.t(), out=logits)
                hidden.grad = torch.mm(logits, weight)
                weight.grad = torch.mm(logits.t(), hidden)
        return three
    if kind == "liger":
        from liger_kernel.chunked_loss import LigerFusedLinearGRPOLoss
        chunked = LigerFusedLinearGRPOLoss(beta=0.0, compiled=False, use_ref_model=False, chunk_size=tile // LENGTH, epsilon_high=0.28,
                                           loss_type="dapo")
        mask = torch.ones(tokens // LENGTH, LENGTH)

        def loss(hidden, weight):
            return chunked(hidden.view(-1, LENGTH, width), weight, target.view(-1, LENGTH), mask, advantage)[0]
    one = torch.compile(loss) if kind == "compiled" else loss
    return lambda hidden, weight: one(hidden, weight).backward()


def serve(kind, *sizes):
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(1)
    tokens, width, vocab, _ = sizes = [int(n) for n in sizes]
    hidden = torch.randn(tokens, width).requires_grad_()
    weight = (0.05 * torch.randn(vocab, width)).requires_grad_()
    step = work(kind, *sizes)

    def call():
        hidden.grad = weight.grad = None
        step(hidden, weight)

    if kind == "compiled":                               # compilation is not counted
        call()
        hidden.grad = weight.grad = None
    before = resident("VmRSS:")
    forget_peak()
    call()
    print(resident("VmHWM:") - before, flush=True)
    import time
    for _ in sys.stdin:
        start = time.perf_counter()
        call()
        print(time.perf_counter() - start, flush=True)


class Server:
    def __init__(self, name, command, rows):
        self.name, self.rows, self.times = name, rows, []
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.bytes = self.process.stdout.readline().strip()

    def call(self):
        print(file=self.process.stdin, flush=True)
        self.times.append(float(self.process.stdout.readline()))


def servers(o, folder):
    sizes = [str(n) for n in (o.tokens, o.width, o.vocab)]
    program = os.path.join(folder, "hidden")
    source = os.path.join(HERE, "hidden.c")
    subprocess.run([*o.cc.split(), "-std=c99", "-DUSE_CBLAS", source, "-lopenblas", "-lm", "-o", program], check=True)
    ours = {"three": "OpenBLAS, the products alone", "one": "ours, one pass (dapo)", "two": "ours, two passes (gspo)"}
    for what, name in ours.items():
        for tile in [o.tile] if what != "one" else sorted({o.tile, o.tile // 2}):
            title = name if what == "three" else f"{name}, tile of {tile}"
            yield Server(title, [program, what, *sizes, str(tile)], tile)
    for kind, name in KINDS.items():
        yield Server(name, [sys.executable, __file__, "--serve", kind, *sizes, str(o.tile)], o.tile)


def main():
    if sys.argv[1:2] == ["--serve"]:
        return serve(*sys.argv[2:])
    p = argparse.ArgumentParser()
    for name, value in dict(tokens=256, width=1024, vocab=32768, tile=128, repeats=7).items():
        p.add_argument(f"--{name}", type=int, default=value)
    p.add_argument("--cc", default="gcc -O2")
    o = p.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        all_of_them = list(servers(o, folder))
        running = [s for s in all_of_them if s.bytes]
        for _ in range(o.repeats):
            for s in running:
                s.call()
    products = statistics.median(running[0].times)
    torch = next((statistics.median(s.times) for s in running if s.name == KINDS["torch three"]), None)
    print(f"{o.tokens} tokens, width {o.width}, vocabulary {o.vocab}; {o.cc}; medians of {o.repeats}, by turns\n")
    print("| | seconds | over OpenBLAS's products | over PyTorch's products | MB beyond the inputs |\n|---|---:|---:|---:|---:|")
    for s in all_of_them:
        if not s.bytes:
            print(f"| {s.name} | did not run | | | |")
            continue
        seconds = statistics.median(s.times)
        beside = f"{seconds / torch:.2f}" if torch else ""
        print(f"| {s.name} | {seconds:.3f} | {seconds / products:.2f} | {beside} | {float(s.bytes) / 1e6:.0f} |")
        s.process.stdin.close()
        s.process.wait()


main()
