#!/usr/bin/env python3
"""The same work in PyTorch and by the headers, in turn in one run: log_softmax, gather, entropy, clipped loss, backward.

    compare.py [--python PATH ...] [--tokens 256] [--vocab 151936] [--threads 1] [--repeats 15] [--write] ["gcc -O2" "clang -O2" ...]

PyTorch is that of each --python (default: the interpreter of this script), eager and, where available, compiled; torch_env.sh creates an
environment with the newest.  bench.c is built with each compiler command.  Prints Markdown: medians and quartiles, speed relative to
PyTorch, and as a fraction of the bandwidth of a plain read of the same logits in the same run (forward + backward: two reads and a write,
compared with three reads); then the output of bench --scaling.  The logits of 256 tokens exceed the caches.
--write puts the tables between the marks of MEASUREMENTS.md, and a sentence between those of README.md."""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile

import machine

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
COMPILERS = ["gcc -O2", "gcc -O2 -DGRPO_NO_DISPATCH", "gcc -O3 -march=native", "clang -O2", "clang -O3 -march=native"]
TYPES = ["float", "bfloat16"]
SIZES = [10240, 102400, 1024000, 10240000]
MARKS = "<!-- speed -->", "<!-- end of speed -->"
KEPT = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "MALLOC_TOP_PAD_": str(1 << 28)}


class Program:
    """A program that reads a job from a line and prints the seconds it took."""
    def __init__(self, name, command, more=None):
        self.name, self.command = name, command
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **(more or {})})

    def seconds(self, *job):
        print(*job, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"{' '.join(self.command)} does not answer: {' '.join(map(str, job))}")
        return float(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def build(command, folder, flags):
    program = os.path.join(folder, re.sub(r"\W+", "_", " ".join([command] + flags)))
    subprocess.run(command.split() + ["-std=c99"] + flags + [os.path.join(HERE, "bench.c"), "-lm", "-o", program], check=True)
    return program


def torch_programs(pythons):
    """Each interpreter's PyTorch, as installed and with an allocator that keeps freed memory."""
    found = []
    server = os.path.join(HERE, "serve_torch.py")
    for python in pythons:
        asked = subprocess.run([python, server, "--modes"], stdout=subprocess.PIPE, text=True)
        if asked.returncode:
            sys.exit(f"{python} has no PyTorch: python3-torch, or torch_env.sh FOLDER and --python FOLDER/bin/python")
        version, *modes = asked.stdout.strip().split(";")
        for mode in modes:
            found.append(Program(f"PyTorch {version}, {mode}", [python, server, mode]))
            found.append(Program(f"PyTorch {version}, {mode}, memory kept", [python, server, mode], KEPT))
    return found


def by_turns(repeats, calls):
    """(lower quartile, median, upper quartile) of each call; the first round is not counted."""
    rounds = [[call() for call in calls] for _ in range(repeats + 1)][1:]
    return [statistics.quantiles(column, n=4, method="inclusive") for column in zip(*rounds)]


def figure(x, like=None):
    """x with as many decimals as three digits of `like` have."""
    like = x if like is None else like
    return f"{x:.{3 if like < 1 else 2 if like < 10 else 1 if like < 100 else 0}f}"


def shown(quartiles, per):
    low, middle, high = (per * x for x in quartiles)
    return f"{figure(middle)} ({figure(low, middle)} to {figure(high, middle)})"


def newest_eager(torches):
    """The name of eager PyTorch as installed, of the last --python."""
    return [t.name for t in torches if t.name.endswith("eager")][-1]


def logits_table(args, torches, benches, kind):
    """The table's lines; and for each build its speed relative to the newest eager PyTorch and to the fastest, forward and both."""
    job = (kind, args.tokens, args.vocab, args.threads)
    jobs = [(p, what) for p in torches + benches for what in ("forward", "both")] + [(b, "read") for b in benches]
    times = by_turns(args.repeats, [lambda p=p, what=what: p.seconds(what, *job) for p, what in jobs])
    found = {(p.name, what): t for (p, what), t in zip(jobs, times)}
    per, read = 1e9 / (args.tokens * args.vocab), min(found[b.name, "read"][1] for b in benches)
    eager = newest_eager(torches)
    lines = [f"{kind}, {args.tokens} tokens, V = {args.vocab}, {args.threads} thread{'s' * (args.threads > 1)}; ns per logit, medians "
             f"(and quartiles) of {args.repeats} by", f"turns; a plain read takes {figure(per * read)}:", "", "| | forward | times eager "
             "| times the fastest | of the read bandwidth | forward + backward | times eager | times the fastest | of three reads |",
             "|---" * 9 + "|"]
    ratios = {}
    for p in torches + benches:
        cells = []
        for what in ("forward", "both"):
            own = found[p.name, what][1]
            ratio = found[eager, what][1] / own, min(found[t.name, what][1] for t in torches) / own
            ratios.setdefault(p.name, []).append(ratio)
            cells += [shown(found[p.name, what], per), *(f"{x:.1f}" for x in ratio)]
            moved = read if what == "forward" else 3 * read        # backward reads the logits again, and writes as much
            cells.append(f"{100 * moved / own:.0f} %" if p in benches else "")
        lines.append(f"| {p.name} | " + " | ".join(cells) + " |")
    return lines + [""], {b.name: ratios[b.name] for b in benches}


def objective_table(args, torches, benches):
    programs = torches + benches
    rows, fewer = [[] for _ in programs], min(args.repeats, 5)
    for tokens in SIZES:
        calls = [lambda p=p: p.seconds("objective", "float", tokens, 0, 1) for p in programs]
        for row, times in zip(rows, by_turns(args.repeats if tokens < 5e6 else fewer, calls)):
            row.append(shown(times, 1e9 / tokens))
    return ["Objective alone (dapo), loss and gradient: in PyTorch in float, here in double arithmetic with exact sums and the whole",
            f"report; one thread; ns per token, medians (and quartiles) of {args.repeats} by turns, of ten million tokens {fewer}:", "",
            "| tokens |" + "".join(f" {n} |" for n in SIZES), "|---|" + "---|" * len(SIZES),
            *(f"| {p.name} | " + " | ".join(row) + " |" for p, row in zip(programs, rows)), ""]


def scaling(command, folder):
    program = build(command, folder, ["-fopenmp"])
    text = subprocess.run([program, "--scaling"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [f"Scaling, {command}; KB: by how much the peak of resident memory grew in the first call of a size, which in the first row",
            "are the program's own pages (it is counted in steps of 128). A call takes no memory but up to 32 KB of stack a thread.", "",
            *text.rstrip("\n").split("\n")[:-1]]


def sentence(eager, ratios):
    """README's sentence, from the builds with -O2 alone."""
    plain = [pair for name, pairs in ratios.items() if name.endswith(" -O2") for pair in pairs]
    if not plain:
        return None
    than_eager, than_fastest = (f"{min(column):.1f} to {max(column):.1f}" for column in zip(*plain))
    version = re.match(r"PyTorch [\d.]+", eager)[0]
    return (f"From logits to loss and back to their gradient, in float on one core at -O2: {than_eager} times as fast as eager {version}, "
            f"{than_fastest} times as fast as PyTorch's fastest.")


def put(name, text):
    path = os.path.join(TOP, name)
    with open(path, encoding="utf-8") as f:
        old = f.read()
    new, n = re.subn("(%s).*?(%s)" % MARKS, lambda m: m[1] + text + m[2], old, flags=re.DOTALL)
    if n != 1:
        sys.exit(f"{name} has {n} places between {' and '.join(MARKS)}")
    with open(path, "w", encoding="utf-8") as f:
        f.write(new)


def beside_torch(args, folder, told):
    """Yields the tables line by line, and appends README's sentence to `told`."""
    torches = torch_programs(args.python)
    benches = [Program(c, [build(c, folder, ["-fopenmp"] if args.threads > 1 else []), "--serve"]) for c in args.compilers]
    eager = newest_eager(torches)
    yield from ["Eager: " + eager + ". The fastest: of all lines of PyTorch in the table. Memory kept: malloc keeps what it has had, where",
                "else each call's pages come anew from the system; here arrays are the caller's.", ""]
    for kind in TYPES if args.only != "objective" else []:
        lines, ratios = logits_table(args, torches, benches, kind)
        yield from lines
        if kind == "float":
            told.append(sentence(eager, ratios))
    if args.only != "logits":
        yield from objective_table(args, torches, benches)
    for program in torches + benches:
        program.close()


def measured(args, folder, told):
    yield from machine.described(args.compilers)
    if args.only != "scaling":
        yield from beside_torch(args, folder, told)
    if args.only in (None, "scaling"):
        yield from scaling(args.compilers[0], folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("compilers", nargs="*", default=COMPILERS)
    parser.add_argument("--python", action="append", metavar="PATH")
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--vocab", type=int, default=151936)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--only", choices=["logits", "objective", "scaling"])
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    args.python = args.python or [sys.executable]
    if args.repeats < 2 or (args.write and args.only):
        parser.error("quartiles take two repeats, --write takes all tables")
    lines, told = [], []
    with tempfile.TemporaryDirectory() as folder:
        for line in measured(args, folder, told):
            print(line, flush=True)
            lines.append(line)
    for text in filter(None, told):
        print("\nREADME.md: " + text)
        if args.write:
            put("README.md", text)
    if args.write:
        put("MEASUREMENTS.md", "\n" + "\n".join(lines).rstrip("\n") + "\n")


if __name__ == "__main__":
    main()
