"""LOGP: log-probabilities from logits, and their use."""
import math

import logits as axis
import logits_path as path
import reals
from attempt import narrow
from limits import ZERO
from reals import mpf

from . import vocabulary
from .table import both, defect, masked_any, of, option, uses_ratio

LOGITS = {"kind": "logits"}


def alone(case):
    """The case has log-probabilities as answers, and no gradient."""
    return not vocabulary.differentiated(case)


def softmax(a, f):
    """f(softmax, z, target, temperature) -> (log-probability, entropy) instead of the right ones."""
    def forward(original, case, x):
        original(case, x)
        x.logp, x.entropy = f(x.softmax, x.logits, x.target, case["temperature"])
    a.around(path, "forward", forward)


@defect("LOGP-01", vocabulary.hot, "tempered", "hot", *vocabulary.scenes("tempered"),
        seen="TRL #3029, OpenRLHF #857, verl #3133, slime #557, AReaL #581, NeMo-RL #316, #1900, ms-swift #3468, tunix 1253b834",
        shows="a temperature other than 1", kind=vocabulary.BOTH)
def temperature_missing(a):
    """The sampling temperature is missing. Right: log softmax(z / tau)."""
    a.case["temperature"] = 1


@defect("LOGP-02", alone, "tempered", "hot",
        seen="TRL #4163 (e086f073c), NeMo-RL #935, prime-rl #697 (225fdb41f)", shows="a temperature other than 1", **LOGITS)
def raw_from_engine(a):
    """The sampling engine returns log-probabilities of the raw logits. Right: of the tempered ones, as on the other
    side of the ratio."""
    softmax(a, lambda s, z, y, tau: (axis.Softmax(z, 1).logp[y], s.entropy))


@defect("LOGP-02a", alone, "plain", "tempered",
        seen="ms-swift #8442, TRL #6789 (open)", shows="a sampler with top-k (here: 2)", **LOGITS)
def top_k_filtered(a):
    """Log-probabilities of the filtered distribution: normalised over the k largest logits. Right: over the
    vocabulary."""
    def filtered(s, z, y, tau):
        kept = sorted(s.z, reverse=True)[:2]
        total = reals.log(sum((reals.exp(x - kept[0]) for x in kept), ZERO)) + kept[0]
        return (s.z[y] - total if s.z[y] >= kept[-1] else mpf("-inf")), s.entropy
    softmax(a, filtered)


@defect("LOGP-04", alone, "plain", "tempered",
        seen="EasyR1 #375 (739e001)", shows="always", **LOGITS)
def cross_entropy_sign(a):
    """The cross-entropy is returned, which is minus the log-probability. Right: a number that is not above 0."""
    softmax(a, lambda s, z, y, tau: (-s.logp[y], s.entropy))


@defect("LOGP-05", alone, "plain", "tempered",
        seen="Liger before #628 (bf2c67b7)", shows="a sampled token that is not the most likely", **LOGITS)
def most_likely_token(a):
    """The log-probability of the most likely token. Right: of the sampled one."""
    softmax(a, lambda s, z, y, tau: (max(s.logp), s.entropy))


@defect("LOGP-05a", lambda case: alone(case) and max(map(len, case["target"])) > 1, "plain", "tempered",
        seen="ART before 3cd4cd0", shows="responses of two tokens or more", **LOGITS)
def normalised_over_tokens(a):
    """The logsumexp is over the logits of the sampled tokens, one at each position of the row. Right: over the vocabulary at each
    position."""
    def forward(original, case, x):
        original(case, x)
        row = [axis.tempered(z, case["temperature"])[y] for z, y in zip(case["logits"][x.i], case["target"][x.i])]
        x.logp = x.softmax.z[x.target] - axis.log_sum(row)
    a.around(path, "forward", forward)


@defect("LOGP-07", alone, "plain", "tempered",
        seen="verl #2484 (73fc53f60)", shows="entropy asked for together with log-probabilities", **LOGITS)
def logits_overwritten(a):
    """The entropy kernel overwrites the logits with probabilities, which are then used as logits. Right: the logits stay unchanged."""
    def overwritten(s, z, y, tau):
        return s.p[y] - reals.log(sum((reals.exp(x) for x in s.p), ZERO)), s.entropy
    softmax(a, overwritten)


@defect("LOGP-07a", alone, "plain", "tempered",
        seen="verl before #1672 (45323080e), MindSpeed-RL before 9ac96d9",
        shows="entropy asked for together with log-probabilities", **LOGITS)
def logits_overwritten_first(a):
    """The log-probability kernel overwrites the logits with probabilities, and the entropy is computed from these. Right: the logits stay
    unchanged."""
    softmax(a, lambda s, z, y, tau: (s.logp[y], axis.Softmax(s.p, 1).entropy))


@defect("LOGP-08", lambda case: True, "plain", "tempered", "large", *vocabulary.scenes("bfloat16", "tempered"),
        seen="OpenRLHF #634, #718, TRL #2799, torchforge #237; minimind before 1191fc8, of the policy alone",
        shows="always in 16 bits, most for many or large logits",
        kind=vocabulary.BOTH)
def half_precision(a):
    """The softmax in bfloat16, every step rounded. Right: float32 or wider from the logits on."""
    def r(x):
        return x if reals.isinf(x) else narrow("bf16", x)

    def rounded(s, z, y, tau):
        x = [r(r(v) / mpf(tau)) if not reals.isinf(v) else v for v in z]
        top = max(x)
        total = ZERO
        for v in x:
            total = r(total + r(reals.exp(r(v - top))))
        lse = r(r(reals.log(total)) + top)
        lp = [r(v - lse) for v in x]
        entropy = ZERO
        for v in lp:
            entropy = r(entropy - r(axis.weighted(r(reals.exp(v)), v)))
        s.logp, s.p, s.entropy = lp, [r(reals.exp(v)) for v in lp], entropy
        return lp[y], entropy
    softmax(a, rounded)


@defect("LOGP-10", lambda o, b: True, "ragged", "signs",
        seen="unsloth-zoo #892 (d491423a), of the projection (HEAD-10)", shows="always; the loss is right", stages=("loss",))
def gradient_doubled(a):
    """A hand-written backward pass adds the gradient to the leaf and also returns it: twice the gradient. Right: once."""
    def answers(found):
        found["dlogp"] = [[2 * x for x in row] for row in found["dlogp"]]
    a.answered(answers, "dlogp")


@defect("LOGP-10a", lambda o, b: True, "ragged", "signs",
        seen="unsloth #6965, in review", shows="always; the loss is right", stages=("loss",))
def gradient_lost(a):
    """Log-probabilities come back detached: no gradient. Right: differentiated."""
    def answers(found):
        found["dlogp"] = [[0.0 for x in row] for row in found["dlogp"]]
    a.answered(answers, "dlogp")


@defect("LOGP-11", both(of(uses_ratio), masked_any, option("ratio", "level", "token")), "holes", "fully-masked",
        "nan-masked-given",
        seen="unsloth-zoo a5efee2c, with 0 on one side; ms-swift #9767, in a teacher's KL", shows="masked tokens", stages=("loss",))
def sentinel_leaks(a):
    """Masked old log-probabilities contain a sentinel (-1e10), the new ones do not: e^1e10 times 0 is NaN. Right: the difference is
    masked before the exponential."""
    nan = math.nan

    def answers(found):
        for i, row in enumerate(a.second["mask"]):
            for t, m in enumerate(row):
                if not m:
                    found["dlogp"][i][t] = found["term"][i][t] = found["loss"] = nan
    a.answered(answers, "loss", "term", "dlogp")
