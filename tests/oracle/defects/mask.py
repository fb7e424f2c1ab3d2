"""MASK: wrong masks, and arrays that are not aligned."""
import copy

import evaluate
from autodiff import Var, linear

from attempt import Ghost
from axes import aggregation, off_policy
from axes import ratio as ratio_axis
from axes import report as report_axis
from axes import weight as weight_axis
from axes.surrogate import surrogate
from axes.penalty import weighted_kl
from limits import ONE, ZERO, less
from objectives import plain
from reals import mpf

from .table import always, both, defect, differs, has, masked_any, of, option, unequal, uses_ratio, width


def last(row):
    """Index of the last token that counts, or -1."""
    return max((t for t, m in enumerate(row) if m), default=-1)


def without(row, place):
    return [m and t != place for t, m in enumerate(row)]


def trailing(o, b):
    return any(row and not row[-1] for row in b.get("mask", []))


def inner(o, b):
    return any(not m for row in b.get("mask", []) for m in row[:last(row) + 1])


@defect("MASK-01", trailing, "holes", "fully-masked", "returns",
        seen="TRL #2708 (bbdd6db17); MemGen #33 (open)", shows="slots after the end of a response")
def after_the_end(a):
    """Everything after the end-of-sequence token counts. Right: nothing after the first one does."""
    a.masks(lambda i, row: row[:last(row) + 1] + [True] * (len(row) - last(row) - 1))


@defect("MASK-02", always, "holes", "ragged", "square",
        seen="ROLL 1f9d2171, tunix e16a9f57; TRL before #6357 (707a7172e), in distillation, and #4970, in the attention mask alone",
        shows="always")
def end_dropped(a):
    """The end-of-sequence token is masked because its id is that of the padding: T_i is one too small. Right: it counts."""
    a.masks(lambda i, row: without(row, last(row)))


@defect("MASK-02a", always, "ragged", "square", "uneven",
        seen="MindSpeed-RL from f7dfcae to c25365f", shows="the longest response")
def end_of_longest_dropped(a):
    """A response that fills its row has no padding, and its last token is masked. Right: it counts."""
    full = width(a.first)
    a.masks(lambda i, row: without(row, full - 1))


@defect("MASK-02b", always, "holes", "ragged", "square",
        seen="verl before #3287, of its supervised training", shows="always")
def first_dropped(a):
    """The mask begins one token late: the first token of each response does not count. Right: it counts."""
    a.masks(lambda i, row: without(row, row.index(True) if True in row else -1))


@defect("MASK-03", trailing, "holes", "fully-masked", "returns",
        seen="verl #213 (3140cc2f9)", shows="slots after the end of a response")
def one_end_of_several(a):
    """Of several end-of-sequence tokens only one ends the response: what follows another one counts. Right: any of them ends it."""
    after_the_end(a)


@defect("MASK-04", both(has("truncated", "mask"), option("weight", "truncated", "keep")), "mistakes-truncated-end",
        "mistakes-truncated-end-dapo",
        seen="ms-swift #6618 (bb94278ac)", shows="a truncated response with a slot after its end")
def end_appended(a):
    """A truncated response gets an end-of-sequence token that was never sampled, and that token counts. Right: none is added."""
    a.masks(lambda i, row: [m or (a.first["truncated"][i] and t == last(row) + 1) for t, m in enumerate(row)])


@defect("MASK-05", always, "holes", "ragged", "nan-masked-given",
        seen="ms-swift #8427 (0b1ecca4d)", shows="always")
def mask_not_rolled(a):
    """The mask is one position ahead of the log-probabilities: the last token is missing, and masked positions are shifted. Right: both
    at the token that is predicted."""
    a.masks(lambda i, row: row[1:] + [False])


def all_numbers(b):
    return not any(isinstance(x, str) for rows in b.values() for row in rows for x in (row if isinstance(row, list) else [row]))


def within_response(o, b):
    """Has a response masked tokens beside tokens that count?"""
    return all_numbers(b) and any(len(set(row)) > 1 for row in b.get("mask", []))


@defect("MASK-05b", within_response, "returns", "steps", "choices-advantage-return-0.5",
        seen="trlx before #509 (fbc9e04)", shows="a masked token beside one that counts", stages=("loss",))
def mask_of_token_before(a):
    """The mask is one position behind the log-probabilities: each token has the mask of the token before it, and the first token that of
    the prompt, which counts. Right: both at the token that is predicted."""
    a.masks(lambda i, row: [True] + row[:-1])


@defect("MASK-05a", both(of(uses_ratio), option("ratio", "behaviour", "old"), has("logp_old")), "ragged", "signs",
        "choices-ratio-token-full-ratio",
        seen="prime-rl #1525, in review", shows="responses of more than one token", stages=("loss",))
def old_shifted(a):
    """The old log-probabilities are shifted by one against the new. Right: the same token's."""
    a.reads_masked()
    a.second["logp_old"] = [[0] + row[:-1] for row in a.second["logp_old"]]


@defect("MASK-06", inner, "holes", "returns", "values", "steps",
        seen="verl #2543, Search-R1 #21, TRL #4975", shows="tool output inside a response")
def attention_mask(a):
    """The attention mask is used as the response mask: tool output is trained on. Right: generated tokens only."""
    a.masks(lambda i, row: [True] * (last(row) + 1) + row[last(row) + 1:])


def one_advantage_each(o, b):
    """Has each response one advantage?"""
    masks = b.get("mask") or [[True] * T for T in b["length"]]
    alike = all(len({x for x, m in zip(row, ms) if m}) < 2 for row, ms in zip(b.get("advantage", ()), masks))
    return alike and (o["advantage"]["credit"] == "outcome" or "advantage" in b)


@defect("MASK-06a", both(masked_any, one_advantage_each), "holes", "fully-masked", "returns", "steps",
        seen="UniRL before #409, of its GRPO and GSPO", shows="masked tokens", stages=("loss",))
def mask_ignored(a):
    """The mask is ignored: every token of a response counts, with the response's advantage. Right: the tokens of the mask."""
    masks = a.second.get("mask") or [[True] * T for T in a.second["length"]]
    a.masks(lambda i, row: [True] * len(row))
    if "advantage" in a.second:
        of_response = [next((x for x, m in zip(row, ms) if m), 0) for row, ms in zip(a.second["advantage"], masks)]
        a.second["advantage"] = [[x if m else A for x, m in zip(row, ms)]
                                 for row, ms, A in zip(a.second["advantage"], masks, of_response)]


@defect("MASK-09", both(option("weight", "truncated", "mask"), has("truncated", "logp_old")), "truncated", "ragged",
        "all-truncated",
        seen="TRL #4454 (941fb332c)", shows="a filter that keeps other responses than the first", stages=("loss",))
def old_not_selected(a):
    """Filtered responses are removed, but not from the old log-probabilities. Right: the same selection for all arrays."""
    a.reads_masked()
    kept = [i for i, cut in enumerate(a.second["truncated"]) if not cut]
    old = a.second["logp_old"]
    a.second["logp_old"] = list(old)
    for j, i in enumerate(kept):
        a.second["logp_old"][i] = (old[j] + [0] * len(old[i]))[:len(old[i])]


@defect("MASK-10", both(has("entropy"), unequal), "mistakes-entropies", "mistakes-entropies-dapo",
        seen="verl #1943 (b4aa2dce8)", shows="micro-batches sorted by length, entropies", stages=("loss",))
def entropies_not_restored(a):
    """Responses are sorted by length, and the entropies are not put back into the original order. Right: put back with the
    log-probabilities."""
    rows = sorted(a.second["entropy"], key=len, reverse=True)
    a.second["entropy"] = [(row + [0] * T)[:T] for row, T in zip(rows, a.second["length"])]


of_the_ratio = both(of(uses_ratio), differs("surrogate", "bounds", "position", "external"))  # a masked token has no position


@defect("MASK-11", both(of_the_ratio, masked_any), "nan-masked", "nan-masked-given",
        seen="verl #2377 (5cbad8379), SkyRL #1635, OpenRLHF #1240, NeMo-RL #4120 (open)", shows="NaN or infinities at masked positions",
        stages=("loss",))
def masked_by_product(a):
    """Masked positions are multiplied by 0, and NaN times 0 is NaN. Right: they are left out before any arithmetic."""
    a.with_ghosts()
    a.ieee()

    def naive(objective, t):
        """The loss of a masked token, computed as if it were active, times its mask."""
        y = ratio_axis.clamped(objective["ratio"], t)
        w = ratio_axis.exp(y)
        x = ratio_axis.denominator(objective["ratio"], t)
        policy = surrogate(objective["surrogate"], t.advantage, w, y, t.l, x) if t.advantage != 0 else -t.advantage * w
        return policy * ZERO if isinstance(policy, Var) else Var(policy * ZERO)

    def log_units(original, choice, tokens):
        leak = linear([(ratio_axis.clamped(choice, t) * ZERO, ONE) for t in tokens[0].sequence.ghosts])
        ys = original(choice, tokens)
        if choice["level"] == "token" or not isinstance(leak, Var) and leak == 0:
            return ys
        return [y + leak for y in ys]
    a.around(ratio_axis, "log_units", log_units)

    def entries(found, batch, objective):
        by_sequence = {e.token.sequence: e for e in found}
        for s, e in by_sequence.items():
            for t in s.ghosts:
                paid = [(weighted_kl(objective["penalty"], objective["ratio"], t, ONE) * ZERO, e.c)]
                by_token = objective["ratio"]["level"] == "token"
                policy = naive(objective, t) if by_token else Var(e.w.value * ZERO, [(e.w, ZERO)])
                found.append(Ghost(t, ONE, e.c, ZERO, ONE, policy, paid))
    a.entries(entries)
    a.swap(report_axis, "report", lambda *args: {})
    a.outputs = ("loss", "term", "dlogp")


def some_left_out(o, b):
    cut = o["weight"]["truncated"] == "mask" and any(b.get("truncated", ()))
    return (cut or masked_any(o, b)) and all_numbers(b)


def simply_weighted(o, b):
    """Does no weight but the mask reach the loss, and have KL and entropy no divisors of their own?"""
    own = {o["penalty"]["kl_aggregation"], o["penalty"]["entropy_aggregation"]}
    return {**o["weight"], "truncated": "keep"} == plain()["weight"] and own == {"terms"}


@defect("MASK-12a", both(option("aggregation", "kind", "token_mean"), option("ratio", "level", "token"),
                         option("advantage", "credit", "outcome"), simply_weighted, some_left_out), "truncated",
        "choices-reward-k1-outcome", "choices-reward-k2-outcome", "choices-advantage-length_power",
        seen="ROLL #444 (open), of its token-mean, most of whose callers have masked the advantages before",
        shows="tokens that do not count, with advantages or a KL", stages=("loss",))
def masked_in_the_sum(a):
    """The sum over tokens includes those that do not count, with the advantages of their responses and their KL, and the divisor does not:
    sum(x) / sum(m). Right: sum(x m) / sum(m)."""
    n = sum(len(weight_axis.weigh(a.objective["weight"], s)[0]) for s in evaluate.Batch(a.second).sequences)
    mask = a.second.get("mask", [[True] * T for T in a.second["length"]])
    for row, counts in zip(a.second["advantage"], mask):
        own = {x for x, m in zip(row, counts) if m}
        row[:] = [x if m or len(own) != 1 else min(own) for x, m in zip(row, counts)]
    a.masks(lambda i, row: [True] * len(row))
    a.choose("weight", truncated="keep")
    a.swap(aggregation, "coefficient", lambda choice, totals, s: mpf(1) / n if n else ZERO)
    a.outputs = ("loss", "term", "dlogp")


# ---- off-policy responses

def judged_by_drift(*who):
    return option("weight", "off_policy_mask", *who)


def of_both_signs(o, b):
    rows = [[x for x in row if isinstance(x, (int, float))] for row in b.get("advantage", ())]
    return any(row and min(row) < 0 < max(row) for row in rows)


@defect("MASK-15", both(judged_by_drift("old", "rollout"), of_both_signs), "mistakes-left-behind", "mistakes-left-behind-trl-opsm",
        "choices-weight-off_policy-old-ratio",
        seen="none known, proposed in slime #1917 (open) and miles #1127 (closed), whose code looks at each token",
        shows="a response beyond the off-policy threshold, with advantages of both signs", stages=("loss",))
def dropped_by_mean_advantage(a):
    """A whole response is dropped if the mean of its advantages is negative (implementations differ). Right: its tokens with a negative
    advantage."""
    def dropped(original, choice, tokens):
        bad = less(sum((t.advantage for t in tokens), ZERO), ZERO)
        alike = [copy.copy(t) for t in tokens]
        for t in alike:
            t.advantage = -ONE if bad else ONE
        return original(choice, alike)
    a.around(off_policy, "dropped", dropped)


@defect("MASK-16", both(judged_by_drift("rollout"), has("logp_old", "logp_rollout")), "mistakes-left-behind",
        "mistakes-left-behind-trl-opsm", "choices-weight-off_policy-rollout-ratio",
        seen="TRL before #4857 (306689179)", shows="an old policy that is not the sampler's", stages=("loss",))
def drift_from_old(a):
    """The off-policy test of a response uses the old log-probabilities recomputed by the trainer. Right: those of the sampler."""
    a.choose("weight", off_policy_mask="old")
