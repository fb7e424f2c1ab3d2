#!/usr/bin/env python3
"""The same work in PyTorch and here, by turns in one run: log_softmax, gather, entropy, clipped loss, backward.

    compare.py [--tokens 64] [--vocab 151936] [--threads 1] [--repeats 9] ["gcc -O2" "clang -O3 -march=native" ...]

Builds tests/bench/bench.c with each compiler command, and prints Markdown: medians, their ratios, and forward as a part of the
bandwidth that a plain read of the same logits has in the same run."""
import argparse
import os
import statistics
import subprocess
import tempfile
import time

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
COMPILERS = ["gcc -O2", "gcc -O3 -march=native", "clang -O2", "clang -O3 -march=native"]
TYPES = {"float": torch.float32, "bfloat16": torch.bfloat16}


class Bench:
    def __init__(self, command, folder, threads):
        program = os.path.join(folder, command.replace(" ", "_").replace("/", "_"))
        flags = ["-std=c99"] + (["-fopenmp"] if threads > 1 else [])
        subprocess.run(command.split() + flags + [os.path.join(HERE, "bench.c"), "-lm", "-o", program], check=True)
        self.process = subprocess.Popen([program, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self, *job):
        print(*job, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def clipped(logp, old, advantage):
    """DAPO's loss: the mean over all tokens"""
    ratio = torch.exp(logp - old)
    return -torch.min(ratio * advantage, torch.clamp(ratio, 0.8, 1.28) * advantage).mean()


class Torch:
    def __init__(self, tokens, vocab, dtype):
        torch.manual_seed(1)
        self.logits = (2 * torch.randn(tokens, vocab)).to(dtype).requires_grad_() if vocab else None
        self.target = torch.randint(vocab, (tokens, 1)) if vocab else None
        self.logp = (-2 * torch.rand(tokens)).requires_grad_()
        self.old = torch.full((tokens,), -11.0) if vocab else self.logp.detach() + 0.4 * (torch.rand(tokens) - 0.5)
        self.advantage = torch.rand(tokens) - 0.5

    def rows(self):
        logp = torch.log_softmax(self.logits, -1)
        with torch.no_grad():                            # reported, without a gradient
            entropy = -(logp.exp() * logp).sum(-1)
        return logp.gather(-1, self.target).squeeze(-1), entropy

    def forward(self):
        with torch.no_grad():
            logp, entropy = self.rows()
            return clipped(logp.float(), self.old, self.advantage)

    def both(self):
        self.logits.grad = None
        logp, entropy = self.rows()
        clipped(logp.float(), self.old, self.advantage).backward()

    def objective(self):
        self.logp.grad = None
        clipped(self.logp, self.old, self.advantage).backward()

    def seconds(self, what):
        start = time.perf_counter()
        getattr(self, what)()
        return time.perf_counter() - start


def by_turns(repeats, calls):
    """medians; the first round is not counted"""
    rounds = [[call() for call in calls] for _ in range(repeats + 1)][1:]
    return [statistics.median(column) for column in zip(*rounds)]


def logits_table(args, benches, name, threads):
    other = Torch(args.tokens, args.vocab, TYPES[name])
    job = (name, args.tokens, args.vocab, threads)
    calls = [lambda: other.seconds("forward"), lambda: other.seconds("both")]
    for bench in benches:
        calls += [lambda b=bench, p=p: b.seconds(p, *job) for p in ("forward", "both", "read")]
    found = by_turns(args.repeats, calls)
    per = 1e9 / (args.tokens * args.vocab)
    print(f"\n{name}, {args.tokens} tokens, V = {args.vocab}, {threads} thread(s); ns per logit, medians of {args.repeats} by turns\n")
    print("| | forward | times torch | of the read bandwidth | forward + backward | times torch |\n|---|---|---|---|---|---|")
    print(f"| torch {torch.__version__} | {found[0] * per:.2f} | 1 | | {found[1] * per:.2f} | 1 |")
    for k, command in enumerate(args.compilers):
        forward, both, read = found[2 + 3 * k:5 + 3 * k]
        print(f"| {command} | {forward * per:.2f} | {found[0] / forward:.1f} | {100 * read / forward:.0f} % ({read * per:.2f}) "
              f"| {both * per:.2f} | {found[1] / both:.1f} |", flush=True)


def objective_table(args, benches):
    sizes = [10240, 102400, 1024000, 10240000]
    print("\nobjective only (dapo), ns per token, one thread\n")
    print("| tokens | torch |" + "".join(f" {c} |" for c in args.compilers) + "\n|---|---|" + "---|" * len(benches))
    for tokens in sizes:
        other = Torch(tokens, 0, torch.float32)
        calls = [lambda: other.seconds("objective")] + [lambda b=b: b.seconds("objective", "float", tokens, 0, 1) for b in benches]
        found = by_turns(args.repeats if tokens < 5e6 else 3, calls)
        print(f"| {tokens} |" + "".join(f" {1e9 * x / tokens:.1f} |" for x in found), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("compilers", nargs="*", default=COMPILERS)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--vocab", type=int, default=151936)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--only", choices=["logits", "objective"])
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    with tempfile.TemporaryDirectory() as folder:
        benches = [Bench(command, folder, args.threads) for command in args.compilers]
        for name in TYPES if args.only != "objective" else []:
            logits_table(args, benches, name, args.threads)
        if args.only != "logits":
            objective_table(args, benches)
        for bench in benches:
            bench.close()


if __name__ == "__main__":
    main()
