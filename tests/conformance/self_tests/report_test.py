#!/usr/bin/env python3
"""report_test.py CONFORM VECTORS ADAPTER_C: the wording of the report and of --identify for some programs with mistakes, and what they
must not say."""
import os
import re
import subprocess
import sys
import tempfile

from kit import ADAPTERS, attempt, check, checked
from snippets_test import snippet

# GSPO with running sums; FACTOR multiplies the answer, GRADIENT its gradient, which ignores the clip if THROUGH
GSPO = """
import math

def running(numbers):
    total = 0.0
    for x in numbers:
        total += x
    return total

def my_loss(logp, logp_old, advantage, mask, eps_low, eps_high):
    terms, dlogp = [], [[0.0] * len(row) for row in logp]
    for i, row in enumerate(dlogp):
        active = [t for t in range(len(row)) if mask is None or mask[i][t]]
        n = len(active) or 1
        y = running(0.0 if logp[i][t] == logp_old[i][t] else logp[i][t] - logp_old[i][t] for t in active) / n
        w, through = math.exp(y) if y < 709 else math.inf, []
        for a in (advantage[i][t] for t in active):
            plain, clipped = (-w * a, -min(max(w, 1 - eps_low), 1 + eps_high) * a) if a else (0.0, 0.0)
            terms.append(FACTOR * max(plain, clipped) / n / len(logp))
            through.append(FACTOR * (plain if plain >= clipped or THROUGH else 0.0) / n / len(logp))
        for t in active:
            row[t] = GRADIENT * running(through) / n
    return running(terms), dlogp

"""


def gspo(factor="1.0", through="False", gradient="1.0"):
    sequences = snippet().replace('{"level": "token"}', '{"level": "sequence_mean"}')
    return GSPO.replace("FACTOR", factor).replace("THROUGH", through).replace("GRADIENT", gradient) + sequences


def with_advantages(code):
    """The program with the case's advantages, multiplied, beside its loss."""
    more = '"dlogp": dlogp, "advantage": [[1.5 * float(x) for x in row] for row in case["advantage"]]}}'
    for there, instead in (('"dlogp": dlogp}}', more), ('["loss", "dlogp"]', '["advantage", "loss", "dlogp"]')):
        assert code.count(there) == 1, there
        code = code.replace(there, instead)
    return code


def with_one_objective(code):
    """The program with the one objective gspo, which ignores case.objective as --identify requires."""
    for there, instead in ((' or not known(case["objective"])', ""), ('s.get("eps_low", 0), s.get("eps_high", 0)', "3e-4, 4e-4")):
        assert code.count(there) == 1, there
        code = code.replace(there, instead)
    return code


# the NumPy port with a ratio that has no gradient
DETACHED = f"""import sys
sys.path[:0] = [{ADAPTERS!r}]
import numpy as np, numpy_port, protocol
own = numpy_port.surrogate

def detached(*arguments):
    S, through, beside = own(*arguments)
    return S, np.zeros_like(through), beside

numpy_port.surrogate = detached
protocol.serve("detached", "1", {{"f64": np.float64}}, ["loss", "dlogp"], numpy_port.answer)
"""
# k2 for k3 in two rows, one of which weighs the KL; other rows with a k3 have a wrong loss
ESTIMATOR = f"""import sys, zlib
sys.path[:0] = [{ADAPTERS!r}]
import numpy as np, numpy_port, protocol

def answer(case, real):
    o, found = case["objective"], numpy_port.answer(case, real)
    if case["id"].startswith(("grpo-", "verl-kl-loss-")):
        return numpy_port.answer({{**case, "objective": {{**o, "penalty": {{**o["penalty"], "kl": "k2"}}}}}}, real)
    return {{**found, "loss": found["loss"] * (1 + zlib.crc32(case["id"].encode()) / 2**32)}}

protocol.serve("estimator", "1", {{"f64": np.float64}}, ["loss", "dlogp"], answer)
"""
# advantages with a mistake that has no name, where CONDITION of the case holds
UNNAMED = f"""import sys
sys.path[:0] = [{ADAPTERS!r}]
import numpy as np, numpy_port, protocol
own = numpy_port.advantages

def advantages(o, b):
    return own(o, b) * (1.3 if CONDITION else 1) + (0.2 * b.mask if CONDITION else 0)

numpy_port.advantages = advantages
protocol.serve("unnamed", "1", {{"f64": np.float64}}, ["advantage"], numpy_port.answer)
"""
# a first version: an epsilon, masked tokens with the advantage of their response, NaN where a response is alone in its group
FIRST = f"""import sys
sys.path[:0] = [{ADAPTERS!r}]
import numpy as np, numpy_port, protocol
own = numpy_port.advantages

def advantages(o, b):
    a = own({{**o, "advantage": {{**o["advantage"], "eps": 1e-6, "eps_place": "add"}}}}, b)
    counts, begin = np.bincount(b.group), np.concatenate([[0], np.cumsum(b.length)[:-1]])
    for i, (k, n) in enumerate(zip(begin, b.length)):
        one = a[k:k + n][b.mask[k:k + n]][:1]
        a[k:k + n] = np.nan if counts[b.group[i]] == 1 else one[0] if len(one) else 0.5
    return a

numpy_port.advantages = advantages
protocol.serve("first", "1", {{"f64": np.float64}}, ["advantage"], numpy_port.answer)
"""
# the other divisor of the variance, and no guard where it is 0: NaN where rewards are equal, or a response is alone
UNGUARDED = f"""import sys
sys.path[:0] = [{ADAPTERS!r}]
import numpy as np, numpy_port, protocol
own = numpy_port.advantages

def advantages(o, b):
    a = own({{**o, "advantage": {{**o["advantage"], "std": "population"}}}}, b)
    for g in range(b.groups):
        at = b.group[b.seq] == g
        a[at & b.mask] = np.nan if len(set(b.reward[b.group == g])) == 1 else a[at & b.mask]
    return a

numpy_port.advantages = advantages
protocol.serve("unguarded", "1", {{"f64": np.float64}}, ["advantage"], numpy_port.answer)
"""
# losses rounded to float32 towards 0, and a gradient that is too small everywhere
TOWARDS_ZERO = f"""import sys
sys.path[:0] = [{ADAPTERS!r}]
import numpy as np, numpy_port, protocol

def answer(case, real):
    found = numpy_port.answer(case, real)
    x = np.float32(found["loss"])
    x = np.nextafter(x, np.float32(0)) if abs(float(x)) > abs(found["loss"]) else x
    return {{"loss": float(x), "dlogp": [[0.99999999 * y for y in row] for row in found["dlogp"]]}}

protocol.serve("towards zero", "1", {{"f64": np.float64}}, ["loss", "dlogp"], answer)
"""
# a ratio in float32: in a long response all tokens have one coefficient, which is rounded one way
RATIO_IN_FLOAT32 = f"""import sys
sys.path[:0] = [{ADAPTERS!r}]
import numpy as np, numpy_port, protocol

def answer(case, real):
    found = numpy_port.answer(case, real)
    rounded = lambda x, k: x * (1 + 3e-8 * (-1) ** k)
    return {{"loss": rounded(found["loss"], len(case["id"])),
             "dlogp": [[rounded(x, t if len(row) < 1000 else 0) for t, x in enumerate(row)] for row in found["dlogp"]]}}

protocol.serve("ratio in float32", "1", {{"f64": np.float64}}, ["loss", "dlogp"], answer)
"""
# a loss as a log prints it
PRINTED = f"""import sys
sys.path[:0] = [{ADAPTERS!r}]
import numpy as np, numpy_port, protocol

def answer(case, real):
    found = numpy_port.answer(case, real)
    return {{"loss": float(f"{{found['loss']:.4f}}"), "dlogp": found["dlogp"]}}

protocol.serve("printed", "1", {{"f64": np.float64}}, ["loss", "dlogp"], answer)
"""
# advantages of the wrong sign in most cases, right ones in the others: more contradict than a name may have
MOSTLY = UNNAMED.replace("own(o, b) * (1.3 if CONDITION else 1) + (0.2 * b.mask if CONDITION else 0)",
                         "own(o, b) * (-1 if b.logp.sum() % 1 < 0.78 else 1)")
# CISPO's weight has a lower bound that is above its upper one in trl-cispo-signs, where any constant ratio does the same
BOUNDED = f"""import sys
sys.path[:0] = [{ADAPTERS!r}]
import numpy as np, numpy_port, protocol

def answer(case, real):
    o = case["objective"]
    w = {{**o["surrogate"], "weight_min": min(0.8, float(o["surrogate"].get("weight_max", 0)))}}
    return numpy_port.answer({{**case, "objective": {{**o, "surrogate": w}}}}, real)

protocol.serve("bounded", "1", {{"f64": np.float64}}, ["loss", "dlogp"], answer)
"""
# log-ratios are clamped at -10 and 10, where there are some of 50 and more: the right losses are so large that the error which they may
# have is larger than all that is found
CLAMPED = f"""import sys
sys.path[:0] = [{ADAPTERS!r}]
import numpy as np, numpy_port, protocol

def answer(case, real):
    o = case["objective"]
    found = numpy_port.answer({{**case, "objective": {{**o, "ratio": {{**o["ratio"], "clamp_low": -10, "clamp_high": 10}}}}}}, real)
    return {{"loss": found["loss"], "dlogp": found["dlogp"]}}

protocol.serve("clamped", "1", {{"f32": np.float32}}, ["loss", "dlogp"], answer)
"""
# the gradient of the branch that min() does not take is 0 times infinity, and -inf minus -inf is NaN
NAN = f"""import sys
sys.path[:0] = [{ADAPTERS!r}]
import numpy as np, numpy_port, protocol
numpy_port.minus = lambda x, y: x - y
own = numpy_port.surrogate

def surrogate(c, A, y, *rest):
    S, through, beside = own(c, A, y, *rest)
    return S, np.where(through == 0, 0 * np.exp(y), through), beside

numpy_port.surrogate = surrogate

def answer(case, real):
    found = numpy_port.answer(case, real)
    return {{"loss": found["loss"], "dlogp": found["dlogp"]}}

protocol.serve("nan", "1", {{"f64": np.float64, "f32": np.float32}}, ["loss", "dlogp"], answer)
"""
UNEXPLAINED = r"\n1\. \d+ cases: unexplained: the advantage is wrong\n"
ROUNDING = "rounding of a long sum: errors below 1e-11"
ROWS = "What the settings of the failing rows are based on:"
FRAGILE = r"for example \S*-(extreme|neginf|nan|offset)"
EXAMPLE_OF_CLIP = (r"1\. \d+ cases: CLIP-01, in the gradient only.*\n.* \(in the gradient only\); right: .*\n"
                   r"   for example (?!\S*-(extreme|neginf))")
# a name, the program (its source, the arguments of ADAPTER_C, or None: one that does not start), options of conform, patterns that the
# output must have, patterns that it must not have
TABLE = (
    ("a running sum", gspo(), ["--only", "gspo-*"],
     [r"1 of \d+ answered cases fail \(\d+ were not answered\), for 1 reason:", r"1\. 1 case: " + ROUNDING, ", 1 failed,",
     r"for example gspo-long \(one response of thousands of tokens"],
     ["unexplained"]),
    ("a running sum beside other advantages", with_advantages(gspo()), ["--only", "gspo-*"],
     [ROUNDING + r".*\n   for example gspo-long .*\n      dlogp"], [ROUNDING + r".*\n   for example gspo-long .*\n      advantage"]),
    ("a running sum and a mistake", gspo(factor="2.0"), ["--only", "gspo-*"], ["for 1 reason:", "multiplied by 2"],
     ["unexplained", "does not agree with every case", FRAGILE]),
    ("a running sum and a mistake elsewhere", gspo(through="True"), ["--only", "gspo-*"], [EXAMPLE_OF_CLIP],
     ["all of these cases, and"]),
    ("a ratio that is detached", DETACHED, ["--only", "dr-grpo-*", "--only", "cispo-*"],
     [r"1\. \d+ cases: LOGP-10a.*policy's gradient is left out"], ["cispo, in the", "weight, in the"]),
    # what explains the second row too is the name of both, not what was named for the first
    ("a mistake in two rows", ESTIMATOR, [word for row in ("grpo-[efhrs]*", "torchtune-grpo-*", "easyr1-grpo-*", "verl-kl-loss-*")
                                          for word in ("--only", row)],
     [r"1\. 21 cases: penalty.kl = k2, in aggregation.kind = seq_mean_token_mean and advantage.singleton = raw only\n",
      r"2\. 7 cases: unexplained"], [r"\n3\.", "k2, in .* and .* and", r"estimator is D\^2/2, k2, in"]),
    ("what no passing case has", UNNAMED.replace("CONDITION", "o['advantage']['std'] == 'population'"), [],
     [UNEXPLAINED + r"   all of these cases, and no passing case, have: advantage.std = population\n"], []),
    ("a flag that few passing cases have", UNNAMED.replace("CONDITION", "(np.bincount(b.group) == 1).any()"), [],
     [UNEXPLAINED + r"   all of these cases, and few passing cases, have: the flag Singleton\n"], []),
    ("a flag that a third of the passing cases has", UNNAMED.replace("CONDITION", "(np.bincount(b.group) == 1).any() and b.n > 4"), [],
     [UNEXPLAINED + r"   all of these cases, and at most a third of the passing ones, have: the flag Singleton\n"], []),
    ("nothing in common", UNNAMED.replace("CONDITION", "b.logp.sum() % 1 < 0.5"), [], [UNEXPLAINED], ["all of these cases"]),
    ("a first version", FIRST, ["--only", "grpo-[efhorsu]*"],
     [r"\n1\. \d+ cases: advantage.eps = 1e-06\n(   .*\n)*?   besides: masked tokens "
     r"have the advantage of their response, not 0, in \d+ of them; a response alone in its group has NaN in \d+ of them\n"], []),
    ("a deviation of 0", UNGUARDED, ["--only", "grpo-[aefhnorst]*", "--skip-flag", "OffsetRewards"],
     [r"for 1 reason:\n\n1\. \d+ cases: ADV-12.*\n(   .*\n)*?   "
     r"besides: a response alone in its group has NaN in \d of them; a group of equal rewards has NaN in \d of them\n"], []),
    ("losses in float32 towards 0", TOWARDS_ZERO, ["--only", "grpo-*", "--only", "gspo-*", "--skip-flag", "Long"],
     [r"\n1\. \d+ cases: rounding: errors as of float32"], []),
    ("a ratio in float32", RATIO_IN_FLOAT32, ["--only", "grpo-[aefhlorst]*", "--skip-flag", "Extreme"],
     [r"\n1\. \d+ cases: rounding: errors as of float32"], []),
    ("losses of four decimals", PRINTED, ["--only", "grpo-*", "--only", "dr-grpo-*", "--skip-flag", "Extreme", "--skip-flag", "NegInf"],
     [r"\n1\. \d+ cases: rounding: loss rounded to 4 decimals\n"], ["multiplied", "unexplained", "float32"]),
    ("a cause that nearly explains", MOSTLY, ["--only", "cispo-*"],
     [UNEXPLAINED + r"   nearly: in \d+ of them all numbers are those of `the sign of the advantage is turned`, in \d cases, such as "
      r"cispo-\S+, "
      r"they are not"], []),
    ("numbers within the error of an enormous right one", CLAMPED, ["--precision", "f32", "--only", "grpo-extreme-*", "--only",
     "igrpo-extreme-*"], [r"\n1\. 5 cases: unexplained: the loss is wrong\n", ", 0 skipped\n"], ["dual clip", "acceptable"]),
    ("what gives NaN, and an example of it", NAN, ["--only", "dapo-*"], [r"\n1\. \d+ cases: NUM-01\n.*\n   NaN is found in \d of them: in "
     r"\d, a token has -inf in both log-probabilities, .*; in \d, 0 times infinity is NaN: .*\n   for example dapo-extreme-800-good"], []),
    ("a case that many causes explain", BOUNDED, ["--only", "trl-cispo-signs"], [r"\n1\. 1 case: one of \d+ causes that this case does not "
     r"tell apart, such as "], []),
    ("the fields of another preset's axis", ["--as", "kimi-k1.5"], ["--only", "grpo-*"], [r"\n   \w+ as in \S+: \w+\.\w+ = "], []),
    ("another objective", ["--as", "dapo"], ["--only", "*-signs"],
     [ROWS + r"(\n   \S+: .*){5}\n   and \d+ more rows \(--verbose all\)\n\n"], []),
    ("all of it", ["--as", "dapo"], ["--only", "*-signs", "--verbose", "all"], [ROWS + r"(\n   \S+: .*){100}"], ["more rows"]),
    ("a program that does not start", None, [], [r"1\. \d+ cases: the program does not start"], [ROWS]),
    ("a gradient through the clip", with_one_objective(gspo(through="True")), ["--identify"], ["the loss is that of gspo or trl-gspo; "
     "its gradient is that of gspo with surrogate.kind = ratio or trl-gspo with surrogate.kind = ratio\n"], ["nearest"]),
    ("a gradient of none", with_one_objective(gspo(gradient="1.37")), ["--identify"],
     ["the loss is that of gspo or gspo-token or trl-gspo; its gradient is that of none\n"], ["nearest"]),
    ("a loss of many rows", ["--as", "lite-ppo"], ["--identify"],
     [r"loss: as in .*\n   all of these have surrogate.kind = ppo_clip, surrogate.eps_low = 0.2, surrogate.eps_high = 0.2, "
      r"aggregation.kind = token_mean\nit computes lite-ppo\n"], ["ratio.level", "advantage.baseline ="]),
    ("a loss of one row", ["--as", "dapo-recipe"], ["--identify"], ["it computes dapo-recipe\n"], ["all of these have"]),
    ("a program that skips all", gspo(), ["--identify"], ["the program skipped all 5 batches: another objective\n--identify sends cases"],
     ["batch full-0"]),
)


def command_of(program, folder):
    if program is None:
        return [sys.executable, "-c", "raise SystemExit(1)"]
    if isinstance(program, list):
        return [sys.argv[3], *program]
    path = os.path.join(folder, "adapter.py")
    with open(path, "w", encoding="utf-8") as f:
        f.write(program)
    return [sys.executable, path]


def check_report(name, program, options, has, lacks):
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([sys.argv[1], "--vectors", sys.argv[2], *options, "--", *command_of(program, folder)],
                             capture_output=True, text=True)
    wrong = [f"the report lacks {pattern}" for pattern in has if not re.search(pattern, run.stdout)]
    wrong += [f"the report has {pattern}" for pattern in lacks if re.search(pattern, run.stdout)]
    right = 0 if any("it computes" in pattern for pattern in has) else 1
    wrong += [f"exit status {run.returncode}"] * (run.returncode != right)
    check(name, not wrong, "\n".join([*wrong, run.stdout[:3000]]))


def main():
    for row in TABLE:
        attempt(check_report, *row)


if __name__ == "__main__":
    sys.exit(checked(main))
