"""The C file that `conform --repro ID --format c` writes names mistake, formula and source, compiles without a warning with the compilers
that are here, exits with 1 for the planted mistake and as it is written, and with 0 for what is right.

    python3 tests/conformance/self_tests/repro_c_test.py CONFORM ADAPTER_C
"""
import os
import shutil
import subprocess
import sys
import tempfile

from kit import HERE, attempt, check, checked

CONFORM, ADAPTER = sys.argv[1:3]
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror"]
EMPTY = "    (void)objective, (void)batch, (void)advantage, (void)found;\n"
GSPO = """
    found->loss[0] = 0;
    for (int i = 0; i < RESPONSES; i++) {
        double d = 0, w, sum = 0;
        for (int k = batch->first[i]; k < batch->first[i] + batch->length[i]; k++) d += batch->logp[k] - batch->logp_old[k];
        w = exp(d / batch->length[i]);
        for (int k = batch->first[i]; k < batch->first[i] + batch->length[i]; k++) {
            const double a = advantage[k], low = 1 - objective->surrogate_eps_low, high = 1 + HIGH;
            const int clipped = a > 0 ? w > high : w < low;
            found->loss[0] -= (clipped ? a > 0 ? high : low : w) * a / batch->length[i] / RESPONSES;
            sum -= clipped ? 0 : w * a / batch->length[i] / RESPONSES;
        }
        for (int k = batch->first[i]; k < batch->first[i] + batch->length[i]; k++) found->dlogp[k] = sum / batch->length[i];
    }
"""
GRPO = """
    for (int i = 0; i < RESPONSES; i++) {
        double n = 0, mean = 0, squares = 0, a;
        for (int j = 0; j < RESPONSES; j++) if (batch->group[j] == batch->group[i]) { n++; mean += batch->reward[j]; }
        mean /= n;
        for (int j = 0; j < RESPONSES; j++)
            if (batch->group[j] == batch->group[i]) squares += (batch->reward[j] - mean) * (batch->reward[j] - mean);
        a = squares > 0 ? (batch->reward[i] - BASELINE) / sqrt(squares / (n - 1)) : 0;
        for (int k = batch->first[i]; k < batch->first[i] + batch->length[i]; k++) found->advantage[k] = a;
    }
    (void)objective, (void)advantage;
"""
CASES = [  # rows, case, the mistake, what the text must say, the function with the mistake, the right one
    ("gspo-*", "gspo-signs", "surrogate.eps_high=0.3", ["surrogate.eps_high = 0.3", "2507.18071, equations 5-7", "length-normalised"],
     GSPO.replace("HIGH", "0.3"), GSPO.replace("HIGH", "objective->surrogate_eps_high")),
    ("grpo-*", "grpo-full", "advantage.baseline=none", ["baseline", "2402.03300"], GRPO.replace("BASELINE", "0"),
     GRPO.replace("BASELINE", "mean")),
]
INFINITE = ("ppo-*", "ppo-nan-masked", "surrogate.eps_high=0.5")  # its arrays have NaN, infinities and flags


def compilers():
    return [name for name in ("gcc", "clang") if shutil.which(name)]


def run(folder, compiler, text):
    """The exit status of the program, None if it does not compile."""
    path = os.path.join(folder, "repro.c")
    with open(path, "w") as file:
        file.write(text)
    if subprocess.run([compiler, *FLAGS, path, "-lm", "-o", os.path.join(folder, "repro")]).returncode:
        return None
    return subprocess.run([os.path.join(folder, "repro")], stdout=subprocess.DEVNULL).returncode


def written(rows, case, *program):
    return subprocess.run([CONFORM, "--only", rows, "--repro", case, "--format", "c", "--", *program], capture_output=True, text=True)


def check_case(folder, rows, case, mistake, words, wrong, right):
    done = written(rows, case, ADAPTER, "--set", mistake)
    missing = [word for word in words if word not in done.stdout]
    texts = [done.stdout.replace(EMPTY, body) for body in (EMPTY, wrong, right)]
    found = {compiler: [run(folder, compiler, text) for text in texts] for compiler in compilers()}
    check(case, done.returncode == 0 and found and not missing and all(x == [1, 1, 0] for x in found.values()),
          f"the text lacks {missing}, exit statuses empty, with the mistake, right: {found}; {done.stderr}")


def compiles(folder, rows, case, mistake):
    done = written(rows, case, ADAPTER, "--set", mistake)
    found = {compiler: run(folder, compiler, done.stdout) for compiler in compilers()}
    check(f"{case}, with infinities", "NAN" in done.stdout and all(x == 1 for x in found.values()), f"exit statuses {found}")


def infinite(folder):
    """Where an infinite loss is right, no finite one is, nor the other infinity or NaN."""
    tampered = os.path.join(HERE, "tampered.py")
    program = [sys.executable, tampered, "if case: reply['result'] = {'loss': 5}"]
    text = written("gspo-extreme-*", "gspo-extreme-800-bad", *program, ADAPTER).stdout
    found = [run(folder, compilers()[0], text.replace(EMPTY, EMPTY + f"    found->loss[0] = {x};\n"))
             for x in ("5", "-INFINITY", "NAN", "INFINITY")]
    check("an infinite loss", found == [1, 1, 1, 0], f"exit statuses {found}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            attempt(check_case, folder, *case)
        attempt(compiles, folder, *INFINITE)
        attempt(infinite, folder)
    check("a case with which nothing is wrong", written("gspo-*", "gspo-signs", ADAPTER).returncode == 2)
    without = subprocess.run([CONFORM, "--format", "c", "--", ADAPTER], stderr=subprocess.DEVNULL)
    check("--format c without --repro", without.returncode == 2)


if __name__ == "__main__":
    sys.exit(checked(main))
