"""TIS: the weights that correct for a sampler that is not the old policy."""

import autodiff
from autodiff import clamp, linear, sg, value
from axes import factors
from axes import surrogate as surrogate_axis
from axes import weight as axis
from limits import ONE, ZERO, bound, exp
from reals import mpf

from .table import both, corrected, defect, differs, has, of, option

LOSS = ("loss",)
used = of(corrected)
MISMATCH = "choices-weight-"


def weights_from(a, log_weight):
    """Weights are e^log_weight(token), which may have a gradient."""
    def importance(choice, tokens):
        q = [log_weight(t) for t in tokens]
        c = mpf(choice["rollout_clamp"])
        q = [clamp(x, -c, c) for x in q] if c else q
        if choice["rollout_is_level"] == "token" or not q:
            return [autodiff.exp(x) for x in q]
        divisor = mpf(len(q)) if choice["rollout_is_level"] == "sequence_mean" else ONE
        return [autodiff.exp(linear([(x, ONE) for x in q]) / divisor)] * len(q)
    a.swap(axis, "importance", importance)
    a.around(axis, "outside", lambda original, choice, v: original(choice, value(v)))

    def entries(found, batch, objective):
        for e in found:
            e.v = value(e.v)
    a.entries(entries)


@defect("TIS-01", used, "rollout", "ragged", MISMATCH + "truncate-token-zero_weight",
        seen="RL2 from d8ea865 to 5b011ca; slime from #234 (e74666b67) to #236 (fd7c64e84)", shows="a policy that has moved", stages=LOSS)
def current_over_rollout(a):
    """The weight is current policy over sampler, and differentiated: the policy update is counted twice. Right: sg of old over
    rollout."""
    weights_from(a, lambda t: t.l - t.b)


@defect("TIS-01a", used, "rollout", "ragged", MISMATCH + "truncate-token-zero_weight",
        seen="slime from #179 (067d65a4a) to #234 (e74666b67); RL2 since 5b011ca, read in its code",
        shows="a policy that has moved", stages=LOSS)
def current_over_rollout_detached(a):
    """The weight is current policy over sampler, detached: it moves with the policy that is trained. Right: old over rollout."""
    weights_from(a, lambda t: value(t.l) - t.b)


@defect("TIS-02", lambda o, b: corrected(o) or o["surrogate"]["kind"] in ("cispo", "vespo"), "rollout", "ragged", "signs",
        MISMATCH + "truncate-token-zero_weight",
        seen="verl #4105 (504696245), unsloth-zoo #343", shows="a weight that no bound cuts", stages=LOSS)
def weight_not_detached(a):
    """The weight is not detached: the loss is right, and its gradient has an additional term A l dw. Right: sg[w]."""
    if corrected(a.objective):
        weights_from(a, lambda t: t.o - t.b + (t.l - sg(t.l)))

    def cispo(s, A, w, y, l):
        return -A * clamp(w, bound(s["weight_min"]), bound(s["weight_max"])) * l

    def vespo(s, A, w, y, l):
        side = "pos" if A > 0 else "neg"
        k, lam = mpf(s["vespo_k_" + side]), mpf(s["vespo_lambda_" + side])
        return -A * autodiff.exp(lam + k * y - lam * w) * l
    a.swap(surrogate_axis.KIND, "cispo", cispo)
    a.swap(surrogate_axis.KIND, "vespo", vespo)


@defect("TIS-03", used, "rollout", "ragged", MISMATCH + "mask-token-zero_weight",
        seen="verl #3274, #3694, TRL #5031, Liger #1088, unsloth-zoo #870", shows="a weight that is not 1", stages=LOSS)
def never_applied(a):
    """The weight is computed but not applied by this loss. Right: every loss applies it."""
    a.choose("weight", rollout_is="none")


@defect("TIS-04", both(used, option("weight", "rollout_is_level", "sequence_sum")), "rollout", "ragged",
        MISMATCH + "truncate-sequence_sum-zero_weight",
        seen="unsloth-zoo #870, in review", shows="responses of more than one token", stages=LOSS)
def sum_of_exponentials(a):
    """The response's weight is the sum of its tokens' weights. Right: their product."""
    a.swap(axis.UNIT, "sequence_sum", lambda q: [sum((exp(x) for x in q), ZERO)] * len(q))


@defect("TIS-05", both(used, option("weight", "rollout_is_level", "sequence_sum", "sequence_mean")), "rollout", "ragged",
        MISMATCH + "truncate-sequence_sum-zero_weight", MISMATCH + "truncate-sequence_mean-zero_weight",
        seen="the sum: TRL #5814, which keeps it; the mean: none known; NeMo-RL #2269 and prime-rl #1044 discuss it",
        shows="responses of more than one token", stages=LOSS)
def sum_for_mean(a):
    """The weight is made from the mean of the log-weights where their sum is meant, or from the sum where the mean is (implementations
    differ). Right: as `rollout_is_level` says."""
    other = {"sequence_sum": "sequence_mean", "sequence_mean": "sequence_sum"}
    a.choose("weight", rollout_is_level=other[a.objective["weight"]["rollout_is_level"]])


@defect("TIS-06", both(used, option("ratio", "behaviour", "old"), has("logp_rollout")), "rollout", "ragged",
        MISMATCH + "truncate-token-zero_weight",
        seen="SkyRL #1859 (dda1cb3c8), in CISPO; right in OpenRLHF 8f16a959, which has no weight there, and in verl 418f964ab, whose "
        "bypass has weights of 1",
        shows="an old policy that is not the sampler's",
        stages=LOSS)
def mismatch_twice(a):
    """The ratio's denominator is the sampler, and the weight corrects for the sampler again. Right: one of the two."""
    a.choose("ratio", behaviour="rollout")


@defect("TIS-07", both(used, option("weight", "rollout_is", "mask"), option("weight", "rollout_rejected", "zero_weight")),
        "mistakes-rollout-overflow", "neginf-rollout",
        seen="OpenRLHF #1314, prime-rl #2084",
        shows="a rejected token whose log-weight is beyond the exponent's range (709 in binary64, 88 in binary32)",
        stages=LOSS)
def infinity_times_zero(a):
    """A rejected token's weight is multiplied by 0, and infinity times 0 is NaN. Right: the weight is set to 0."""
    a.ieee()
    a.swap(axis.CORRECTION, "mask", lambda choice, v: v * (ZERO if axis.outside(choice, v) else ONE))


@defect("TIS-08", both(used, has("logp_old")), "rollout", "ragged", MISMATCH + "truncate-token-zero_weight",
        seen="ROLL bcc5818c", shows="a policy that has moved", stages=LOSS)
def weight_metric_of_current(a):
    """The logged weight is of the current policy over the sampler. Right: of the old one."""
    def reported(found, entries, batch, objective):
        choice = objective["weight"]
        total = ZERO
        for s in batch.sequences:
            active = {e.token for e in entries}
            tokens = axis.before_rejection(choice, s)
            q = [value(t.l) - t.b for t in tokens]
            for t, v in zip(tokens, axis.pooled(axis.UNIT, choice["rollout_is_level"], tokens, q) if tokens else ()):
                if t in active:
                    total = total + axis.CORRECTION[choice["rollout_is"]](choice, v)
        found["rollout_is_mean"] = total / len(entries) if entries else ONE
    a.reported(reported)


@defect("TIS-09",
        both(used, option("weight", "rollout_is_low", 0), differs("weight", "rollout_is_high", 0, "Infinity")),
        "rollout", "ragged",
        seen="verl 21271aabb (#3694), by design; right in unsloth-zoo a5efee2c", shows="a weight below 1 / C", stages=LOSS)
def reciprocal_default(a):
    """A lower bound that is not set becomes 1 / upper (implementations differ). Right: 0, no bound."""
    a.choose("weight", rollout_is_low=1 / a.objective["weight"]["rollout_is_high"])


@defect("TIS-10", both(used, option("weight", "rollout_is_norm", "mean"), option("weight", "rollout_is_level", *factors.AVERAGED)),
        "mistakes-weights-of-responses", "mistakes-weights-of-responses-sequence_mean",
        seen="none known, right in verl since #4070 (2c6c65cb0)", shows="responses of unequal lengths, with one weight each", stages=LOSS)
def norm_over_tokens(a):
    """The mean that divides the weights counts a response's weight once for each of its tokens. Right: once."""
    for level in factors.AVERAGED:
        a.swap(factors.AVERAGED, level, factors.of_tokens)
