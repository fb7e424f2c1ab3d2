#!/usr/bin/env python3
"""Plants mistakes in a port (planted_port.py), one at a time, and checks the name that the runner gives.

    planted.py CONFORM VECTORS [all|PART+PART...] [MISTAKE...]
                            parts: even, odd and eighth (of PLANTED), further, issues, bits, port, axes, nameless

Prints what was planted and what was named. The first group of the report must name 95 % rightly, and no group may name one wrongly; a
mistake without a name is not a wrong name.
"""
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import Counter

from kit import HERE, attempt, check, checked

FEW_WRONG = 0.95
ROWS = ("grpo", "dr-grpo", "dapo", "gspo", "cispo", "rloo", "grpo-lead")
SCENARIOS = ("ragged", "square", "holes", "signs", "uneven", "singleton", "equal-rewards", "fully-masked",
             "every-array", "tiny-spread", "overlong")

# (what is planted, a pattern that its name must match)
PLANTED = (
    # advantages
    ("reward-clipped", r"rewards are cut at -1 and 1"), ("reward-binary", r"a reward is 1 where it is positive"),
    ("reward-next", r"reward of the next"), ("overlong-forgotten", r"reward.overlong = none|REW-03|reward.overlong_factor = 0"),
    ("reward-kl-forgotten", r"reward.kl(_coef)? = (none|0)|ADV-28b"), ("reward-kl-sign", r"ADV-28c$|reward's KL.*sign|KL.*reward.*added"),
    ("reward-kl-mean", r"KL.*reward.*mean"), ("singleton-nan", r"ADV-07"), ("singleton-raw", r"ADV-08|singleton = raw"),
    ("no-baseline", r"baseline = none|no baseline"), ("baseline-median", r"median"), ("baseline-max", r"largest reward"),
    ("baseline-padded", r"padded zeros.*baseline"), ("both-padded", r"padded zeros.*baseline"),
    ("baseline-batch", r"baseline.*batch"), ("loo-over-g", r"divided by G for G - 1"), ("loo-everywhere",
        r"leave_one_out|leaves the response out$"),
    ("loo-forgotten", r"baseline = group_mean|baseline is the mean of the group"), ("baseline-first", r"ADV-03$"),
    ("scale-forgotten", r"scale = none|no division by the deviation"), ("scale-always",
        r"scale = group_std|ADV-01|divided by the group's deviation"),
    ("population-std", r"ADV-12$|std = population"), ("variance-divides", r"variance divides"), ("batch-std",
        r"batch_std|deviation is of the whole batch|ADV-01b"),
    ("norm-divides", r"not divided by the number"), ("range-divides", r"range"), ("mad-divides", r"mean.absolute.deviation"),
    ("equal-nan", r"equal rewards is 0/0"), ("eps-1e-4", r"ADV-12a|eps = 0.0001"), ("eps-1e-6", r"eps = 1e-06"), ("eps-1e-8",
        r"eps = 1e-08"),
    ("eps-1e-5", r"eps = 1e-05"), ("eps-inside", r"eps_place = inside|NUM-03|under the root"),
    ("one-group", r"ADV-02$"), ("interleaved", r"ADV-29"),
    ("adv-whitened", r"centred again"), ("adv-sign", r"sign.*turned"), ("adv-abs", r"absolute value of the advantage"),
    ("adv-positive", r"negative advantages are left out"), ("adv-clipped", r"cut at -1 and 1"), ("adv-double", r"multiplied by 2"),
    ("adv-next", r"advantage of the next"), ("adv-length", r"divided by the response's length"), ("adv-unmasked",
        r"masked tokens have the advantage"),
    ("adv-last-token", r"only the last token"), ("std-float32", r"float32"),
    # masks, arrays
    ("mask-ignored", r"MASK-06a"), ("mask-last-token", r"MASK-02\b"), ("mask-first-token", r"MASK-02b"), ("mask-ahead",
        r"MASK-05$"),
    ("mask-behind", r"mask is one step behind"), ("mask-inverted", r"mask is inverted"), ("old-right",
        r"old log-prob.*right, round|MASK-05a"),
    ("old-left", r"old log-prob.*left, round"), ("old-shifted-zero", r"MASK-05a|old log-prob.*right, with a 0"),
    ("old-through-batch", r"old log-prob.*right, through"), ("logp-right", r"policy's log-prob.*right, round"),
    ("logp-left", r"policy's log-prob.*left, round"), ("logp-through-batch", r"policy's log-prob.*left, through"),
    ("ref-right", r"reference's log-prob.*right, round"), ("old-is-policy", r"RATIO-0[12]"), ("old-is-reference", r"RATIO-06"),
    ("kl-against-old", r"KL is of the old policy"),
    # the ratio
    ("ratio-inverted", r"ratio is inverted"), ("ratio-detached", r"LOGP-10a|GSPO-05[bd]|detached"), ("log-ratio-halved",
        r"log-ratio is halved"),
    ("log-ratio-doubled", r"log-ratio is doubled"), ("ratio-halved", r"the ratio is halved"), ("ratio-of-logs", r"quotient of log-prob"),
    ("ratio-no-old", r"no denominator"), ("gspo-token-ratio", r"ratio.level = token"), ("sequence-ratio", r"RATIO-05|level = sequence_sum"),
    ("gspo-sum", r"level = sequence_sum"), ("gspo-slots", r"mean log-ratio.*slots"), ("gspo-length-twice",
        r"GSPO-01$|mean log-ratio.*once more"),
    ("gspo-root", r"mean log-ratio.*root"), ("gspo-plus-one", r"mean log-ratio.*plus 1"), ("gspo-width", r"mean log-ratio.*width"),
    ("gspo-arithmetic", r"mean of a response's ratios|sequence_mean_ratio"), ("gspo-token-gradient", r"ratio.gradient = token"),
    ("no-exp", r"no exponential"), ("ratio-linear", r"1 \+ log-ratio"),
    # the advantage in the loss
    ("loss-adv-sign", r"sign.*turned"), ("loss-adv-abs", r"absolute value of the advantage"), ("loss-adv-positive",
        r"negative advantages are left out"),
    ("loss-adv-double", r"multiplied by 2"), ("loss-adv-sign-only", r"sign of the advantage is taken for"), ("loss-adv-next",
        r"advantage of the next"),
    # surrogates
    ("reinforce-probability", r"probabilities are taken for log-prob"), ("reinforce-no-advantage", r"advantage is left out"),
    ("eps-exchanged", r"eps_low and eps_high are exchanged"), ("eps-high-forgotten", r"CLIP-02a|eps_high = "), ("eps-doubled",
        r"epsilons are doubled"),
    ("clip-reciprocal", r"lower bound is reciprocal"), ("clip-around-zero", r"clip is around 0"), ("clip-no-lower",
        r"no lower bound|eps_low = 1"),
    ("clip-no-upper", r"no upper bound|eps_high = inf"), ("clip-log", r"log-ratio is clipped"), ("clip-bounds-turned",
        r"bounds of the clip are exchanged"),
    ("clip-straight-through", r"gradient goes through the clip|CLIP-01, in the gradient only"),
    ("clip-none", r"CLIP-01|surrogate.kind = ratio"),
    ("clip-exchanged", r"CLIP-01b"), ("clip-only", r"clip without its minimum"),
    ("clip-min-of-ratios", r"CLIP-01a"), ("clip-product", r"product w A is clipped"), ("clip-added",
        r"clipped and unclipped loss are added"),
    ("clip-detached-weight", r"as in CISPO|CISPO-02"), ("clip-gradient-killed", r"gradient of every ratio out of its bounds"),
    ("dual-clip", r"dual"), ("gradient-no-ratio", r"gradient lacks the ratio"), ("ratio-less-one", r"ratio less 1"),
    ("gradient-sign", r"(gradient|dlogp).*sign|sign.*(gradient|dlogp)"), ("cispo-cap-more", r"CISPO-03a"),
    ("cispo-unclipped", r"CISPO's weight has no bound|weight_max = inf"), ("cispo-attached", r"TIS-02"),
    ("cispo-no-log", r"CISPO-01"), ("cispo-dropped", r"out of its bounds are dropped|masked_weight"), ("cispo-unweighted",
        r"REINFORCE|kind = reinforce"),
    # the KL
    ("kl-k1", r"KL-05|k1"), ("kl-k2", r"k2"), ("kl-square", r"D\^2, without"), ("kl-abs", r"abs|\|D\|"), ("k3-reversed", r"KL-04"),
    ("k3-without-one", r"k3 without its 1"), ("k3-mixed", r"k3 with D of one sign"), ("kl-sign", r"KL-01"), ("kl-coef-twice",
        r"coefficient is applied twice"),
    ("kl-no-coef", r"kl_coef = 1|coefficient is left out"), ("kl-coef-0.1", r"kl_coef = 0.1"), ("kl-forgotten",
        r"kl(_coef)? = (none|0)|KL is left out"),
    ("kl-doubled", r"KL counts twice"), ("kl-detached", r"KL-02|kl_gradient = detached"), ("kl-weighted",
        r"kl_importance_weight = (token|level)"),
    ("kl-times-advantage", r"KL is multiplied by the advantage"), ("kl-token-mean", r"KL is one mean over all tokens"),
    # divisors
    ("agg-token-mean", r"kind = token_mean|NORM-24|GSPO-09"), ("agg-seq-mean",
        r"kind = seq_mean_token_mean|NORM-0[17]|whatever was asked for"), ("agg-sum", r"kind = token_sum"),
    ("agg-seq-sum", r"kind = seq_mean_token_sum"), ("agg-slots", r"NORM-13"), ("agg-width", r"MASK-12"), ("agg-eps", r"has 1e-8 added"),
    ("agg-plus-one", r"plus 1"), ("agg-length-twice", r"NORM-02$"), ("empty-dropped", r"NORM-05a|empty_sequences = drop"),
    ("agg-sum-of-sequences", r"number of sequences|NORM-17a?\b|seq_sum_token_mean|kind = constant"), ("agg-groups", r"sequences per group"),
    ("loss-sign", r"CLIP-11|sign is turned"), ("loss-halved", r"(loss and dlogp|advantage).*(divided by 2|multiplied by (0.5|1/2))"),
        ("loss-times-groups", r"number of groups"),
    ("gradient-doubled", r"LOGP-10$|dlogp multiplied by 2"), ("gradient-float32", r"float32"), ("loss-float32", r"float32"),
        ("sum-float32", r"float32"),
)

FURTHER = (
    ("adv-squared", r"advantage is squared"), ("adv-largest", r"largest of the batch"), ("min-max", r"from 0 to 1"),
    ("base-2", r"power of 2"), ("kl-weight-detached", r"KL is multiplied by the ratio, detached"),
    ("loss-adv-of-first", r"one advantage, that of its first token"), ("loss-adv-of-last", r"one advantage, that of its last token"),
    ("loss-adv-mean", r"one advantage, the mean"), ("reinforce-of-itself", r"-A e\^\(l - sg\[l\]\)"),
    ("clip-dropped", r"out of the clip's bounds are left out"), ("gspo-masked-too", r"masked tokens enter the mean log-ratio"),
    ("clip-gradient-elsewhere", r"gradient where it does not bind|CLIP-01b, in the gradient only"),
    ("last-response", r"last response is left out"),
    ("first-group", r"only the first group"), ("kl-in-advantage", r"KL is subtracted from the advantage"), ("kl-of-old", r"KL-03$"),
    ("gradient-scaled-odd", r"dlogp multiplied by 1.37"), ("loss-over-n-plus-one", r"divided by sequences plus one"),
    ("loss-adv-first", r"first token of a response alone"), ("loss-adv-last", r"last token of a response alone"),
    ("group-width", r"mean of a group.*padding"), ("group-slots", r"mean of a group.*slots"),
    ("policy-detached", r"policy's gradient is left out"),
    ("dr-constant", r"multiplied by 2.92969|constant = 1024"),
)

# what threads of TRL, verl, ms-swift, OpenRLHF, Liger and others report, as a port would have it
FROM_ISSUES = (
    ("baseline-sum", r"baseline is the sum of the group"), ("baseline-sum-around", r"baseline is the sum of the group"),
    ("loo-sum", r"sum of the other responses"), ("std-around-zero", r"deviation is taken around 0"), ("std-floored", r"ADV-09|eps = 1e-06"),
    ("reward-01", r"cut at 0 and 1"), ("reward-bf16", r"NUM-06"), ("adv-twice", r"normalised twice"),
    ("gspo-detached-token", r"GSPO-05|LOGP-10a|gradient is left out"), ("gspo-twice", r"GSPO-05$"),
    ("clip-eps-of-the-other-sign", r"eps_high is used on both sides"), ("clip-upper-for-good", r"no lower bound"),
    ("clip-lower-is-eps", r"CLIP-02c"), ("clip-product-twice", r"CLIP-01d"), ("dual-clip-any-sign", r"dual"),
    ("kl-k3-gradient-of-k2", r"straight_through_k2"), ("kl-k3-gradient-of-k1", r"k1, in the gradient only"),
    ("kl-coef-halved", r"KL counts half"), ("kl-sum", r"KL is a sum over tokens"), ("kl-all-slots", r"NORM-26$"),
    ("kl-sum-of-response", r"KL is a mean over responses of sums"), ("agg-per-group", r"kind = group_mean_seq_mean"),
    ("agg-group-token-mean", r"kind = group_mean_token_mean"), ("eos-not-summed", r"MASK-02\b"),
    ("informative-alone", r"KL-16|advantages are all 0 do not count"),
    ("mask-behind-prompt", r"MASK-05b"), ("equal-chunks", r"ADV-29d"), ("ratio-constant", r"RATIO-01a"), ("loss-adv-late", r"ADV-25b"),
    ("mask-end-of-longest", r"MASK-02a"), ("mask-behind-edge", r"step behind.*keeps its own"),
    ("mask-ahead-edge", r"step ahead.*keeps its own"),
    ("mask-behind-round", r"step behind.*end of the response"), ("mask-ahead-round", r"step ahead.*end of the response"),
    ("mask-behind-width", r"step behind.*padded row"), ("mask-ahead-width", r"step ahead.*padded row"),
    ("mask-behind-batch", r"step behind.*whole batch"), ("mask-ahead-batch", r"step ahead.*whole batch"),
    ("mask-ahead-kept", r"every last token counts"), ("overlong-late", r"REW-01$"), ("overlong-over-max", r"divided by L_max"),
    ("loss-over-4", r"loss and dlogp multiplied by 0.25"), ("loss-over-tokens", r"divided by the number of tokens that count"),
    ("loss-times-slots", r"divided by tokens that count over all tokens"),
)

# arrays in padded rows, 16 bits, an entropy bonus
ROWS_AND_BITS = (
    ("old-right-row", r"old.*right, round the end of the padded row"), ("old-left-row", r"old.*left, round the end of the padded row"),
    ("old-right-padded", r"old.*right, through the padded batch"), ("old-left-padded", r"old.*left, through the padded batch"),
    ("logp-left-row", r"policy's log-prob.*left, round the end of the padded row"),
    ("ref-right-row", r"reference's.*right, round the end of the padded row"),
    ("old-bf16", r"old log-probabilities are rounded to bfloat16"),
    ("ratio-bf16", r"ratio is rounded to bfloat16"), ("log-ratio-bf16", r"log-ratios are rounded to bfloat16"),
    ("result-bf16", r"computed in bfloat16, or rounded"), ("min-max-eps", r"from 0 to 1.*1e-8"), ("min-max-centred", r"from -1 to 1"),
    ("kl-masked-too", r"averaged over tokens that do not count, too"),
    ("kl-masked-in-the-sum", r"KL of tokens that do not count is in its sum"),
    ("entropy-penalised", r"ENT-01$|sign of the entropy bonus"), ("entropy-forgotten", r"entropy_coef = 0$"),
    ("entropy-no-coef", r"entropy bonus has no coefficient"), ("entropy-detached", r"entropy_coef = 0, in the gradient only"),
    ("loss-adv-by-length", r"sorted by length, the longest first"), ("micro-batches", r"micro-batches of 2 responses"),
)

# what a port with padded tensors may have wrong (../NAMES.md)
OF_A_PORT = (
    ("std-error", r"as a standard error"), ("std-largest", r"largest distance from the mean"), ("std-at-least-0.1", r"at least 0.1$"),
    ("std-at-least-1", r"at least 1$"), ("std-mean-of-groups", r"mean of the groups' deviations"), ("whole-alone", r"cut off do not count"),
    ("adv-times-length", r"advantage is multiplied by the response's length"), ("logp-bf16", r"policy's log-prob.* rounded to bfloat16"),
    ("old-temperature", r"old log-prob.* temperature, 0.7"), ("logp-temperature", r"policy's log-prob.* temperature, 0.7"),
    ("all-temperature", r"all log-prob.* temperature, 0.7"), ("old-masked-shifted", r"MASK-05a|old log-prob.*right, with a 0"),
    ("log-ratio-size", r"absolute value of the log-ratio"), ("clip-epsilons", r"epsilons themselves"),
    ("clip-clamped-log", r"log-ratio is clamped at -eps_low"), ("clip-only-of-bad", r"without its minimum where A < 0"),
    ("clip-detached-outside", r"ratio has no gradient out of"),
    ("clip-dropped-by-high", r"further from 1 than eps_high|bounds are left out"),
    ("clip-advantage", r"advantage is clipped, not"), ("cispo-log-ratio", r"multiplies the log-ratio"),
    ("kl-of-mean", r"mean log-ratio of a response, not"),
    ("agg-with-advantage", r"counts only the responses that have"), ("micro-tokens", r"2 responses have a mean over their tokens"),
    ("loss-adv-rolled", r"advantage of the next"),
    ("loss-adv-over-length", r"advantage is divided by the response's length|NORM-02|divided by its length"),
    ("loss-adv-times-length", r"advantage is multiplied by the response's length|weighted by their length|seq_mean_token_sum|NORM-"),
    ("logp-bf16-back", r"policy's log-prob.* rounded to bfloat16"), ("log-ratio-bf16-back", r"log-ratios are rounded to bfloat16"),
    ("ratio-bf16-back", r"ratio is rounded to bfloat16"), ("gspo-less-one", r"mean log-ratio.*length less 1"),
    ("agg-less-one", r"mean of a response.*length less 1"),
    ("loss-3-decimals", r"loss rounded to 3 decimals"), ("loss-4-digits", r"loss rounded to 4 significant digits"),
)

# the other axis, the other end, chunks
OF_AXES = (
    ("even-chunks", r"chunks of equal size|ADV-29d"), ("std-around-zero-sample", r"deviation is taken around 0"),
    ("old-other-end", r"old log-prob.*padded before"), ("ref-other-end", r"reference's log-prob.*padded before"),
    ("clip-halved-inside", r"gradient of ratios within the clip's bounds is halved"),
    ("loss-adv-axis", r"ADV-25$"), ("gspo-axis", r"mean log-ratio.*of the responses at a position"),
    ("equal-noise", r"rounding error of its mean"), ("agg-axis", r"mean over the responses at each position"),
)

# conventions that some framework documents (profiles/conventions.json): acceptable unless --strict, which names them. No other is.
DOCUMENTED = {"singleton-raw", "eps-1e-4", "eps-1e-6", "population-std", "empty-dropped", "agg-eps"}
# these have no name, and must get none
NAMELESS = ("adv-tanh", "adv-shifted", "rank", "temperature", "clip-soft", "eps-odd", "gradient-noise", "gradient-per-length", "loss-odd",
            "loo-gain-inverted", "log-ratio-clamped", "gspo-mean-probability", "gradient-sign-of-bad", "kl-clamped",
            "agg-longest-of-group")


def parts_of(which):
    nameless = tuple((mistake, None) for mistake in NAMELESS)
    parts = {"all": (*PLANTED, *FURTHER, *FROM_ISSUES, *ROWS_AND_BITS, *OF_A_PORT, *OF_AXES, *nameless),
             "even": PLANTED[::2], "odd": PLANTED[1::2], "eighth": PLANTED[1::8], "further": FURTHER, "issues": FROM_ISSUES,
             "bits": ROWS_AND_BITS, "port": OF_A_PORT, "axes": OF_AXES, "nameless": nameless}
    return [planted for part in which.split("+") for planted in parts[part]]


def chosen_cases(vectors, directory):
    """Writes the cases that are run into files of their own, since reading all files would take most of the time."""
    shutil.copy(os.path.join(vectors, "DEFECTS.md"), directory)
    for row in ROWS:
        with open(os.path.join(vectors, row + ".json")) as file:
            read = json.load(file)
        read["cases"] = [c for c in read["cases"] if c["id"][len(row) + 1:] in SCENARIOS]
        with open(os.path.join(directory, row + ".json"), "w") as file:
            json.dump(read, file)


def report(conform, vectors, mistake, *options):
    command = [conform, *options, "--vectors", vectors, "--format", "json", "--", sys.executable, os.path.join(HERE, "planted_port.py")]
    done = subprocess.run(command + ([mistake] if mistake else []), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return json.loads(done.stdout)


def named(found):
    """The names of the groups that have a cause."""
    return [g["name"] for g in found["groups"] if g["kind"] not in ("unexplained", "protocol")]


def verdict(names, pattern):
    if pattern is None:
        return "wrong" if names else "right"
    right = [bool(re.search(pattern, name)) for name in names]
    return "wrong" if not all(right) else "right" if right else "no name"


def main():
    conform, vectors, *which = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        chosen_cases(vectors, directory)
        plant(conform, directory, which[0] if which else "all", which[1:])


def check_mistake(conform, vectors, mistake, pattern):
    """right, wrong or no name."""
    found = report(conform, vectors, mistake)
    documented = found["acceptable"] > 0
    if documented:
        found = report(conform, vectors, mistake, "--strict")
    names = named(found)
    said = verdict(names, pattern) if found["failed"] else "no name"
    print(f"{mistake:24} {found['failed']:4} fail  {said:8} {'; '.join(names) or '(none)'}", flush=True)
    check(f"{mistake} has no wrong name", said != "wrong", names)
    as_said = check(f"{mistake} is a documented convention if it is said to be", documented == (mistake in DOCUMENTED), documented)
    return said if as_said else "wrong"


def plant(conform, vectors, which, only):
    plain = report(conform, vectors, "")
    check("without a mistake", plain["passed"] and not plain["failed"] and not plain["acceptable"], plain["failed"] + plain["acceptable"])
    said = Counter(attempt(check_mistake, conform, vectors, mistake, pattern)
                   for mistake, pattern in parts_of(which) if not only or mistake in only)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = (f"{said.total()} planted: {said['right']} named rightly, {said['wrong']} wrongly, {said['no name']} not; "
            f"{used.ru_utime + used.ru_stime:.0f} s")
    print(told)
    check(f"{FEW_WRONG:.0%} are named rightly", said.total() and said["right"] >= FEW_WRONG * said.total(), told)


if __name__ == "__main__":
    sys.exit(checked(main))
