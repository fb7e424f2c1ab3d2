"""KL: the penalty of the loss, and what is reported of it."""

import limits
from attempt import narrow
from autodiff import exp_minus_one_minus, linear, sg, unary, value
from axes import credit as credit_axis
from axes import penalty as axis
from axes import report as report_axis
from axes import reward as reward_axis
from limits import ONE, ZERO, less, sign
from reals import mpf

from .table import both, corrected, defect, differs, has, kl_in_loss, kl_in_reward, of, option, uses_ratio

LOSS = ("loss",)
paid = of(kl_in_loss)
APART = "choices-penalty-"


def penalties(a, f):
    """f(original, choice, ratio, token, w) replaces the KL of a token in the loss."""
    a.around(axis, "weighted_kl", f)


@defect("KL-01", paid, "ragged", "signs", APART + "k3-exact-none",
        seen="verl #179 (a65c9157b), and rllm before 35be3771 and Logic-RL #58, whose copies of verl had it; ToolRL #52 (open); marin, "
             "as its #1742 says",
        shows="a reference that is not the policy", stages=LOSS)
def subtracted(a):
    """The KL is subtracted. Right: added."""
    a.choose("penalty", kl_coef=-a.objective["penalty"]["kl_coef"])


@defect("ENT-03a", both(option("penalty", "nll_on", "correct"), lambda o, b: o["penalty"]["nll_coef"] != 0), "values",
        "choices-own-likelihood-correct", seen="NeMo-RL #3792 (open)", shows="the likelihood of right responses in the loss", stages=LOSS)
def likelihood_left_out(a):
    """The loss does not get the rewards, and leaves the likelihood of right responses out. Right: it is added with its coefficient."""
    a.choose("penalty", nll_coef=0)


@defect("KL-02", paid, "ragged", "signs", APART + "k3-exact-none",
        seen="open-instruct #531 (8313b38e9), SkyRL #1353, Flow-Factory before #123 (8bc04d0)",
        shows="a reference that is not the policy", stages=LOSS)
def without_gradient(a):
    """The KL is computed without gradient: the loss is right, the gradient lacks the KL. Right: differentiated."""
    penalties(a, lambda original, *args: value(original(*args)))


@defect("KL-03", both(paid, has("logp_old")), "ragged", "signs", APART + "k3-exact-none",
        seen="open-instruct 8313b38e9", shows="a policy that has moved", stages=LOSS)
def of_old_policy(a):
    """The KL of the old policy, computed once: f(o - f). Right: of the policy being trained."""
    def penalty(original, choice, ratio, token, w):
        l, token.l = token.l, token.o
        try:
            return value(original(choice, ratio, token, w))
        finally:
            token.l = l
    penalties(a, penalty)


@defect("KL-04", both(paid, option("penalty", "kl", "k3")), "ragged", "reference", APART + "k3-exact-none",
        seen="ColossalAI before #4338 (75c538903), RLinf before #129 (88e46586d); mlx-examples #1233, in review",
        shows="a log-ratio near 1", stages=LOSS)
def other_direction(a):
    """k3 of the other direction: e^D - D - 1. Right: e^-D + D - 1."""
    a.swap(axis.KL, "k3", exp_minus_one_minus)


@defect("KL-04a", has("logp_ref"), "reported", "ragged",
        seen="ms-swift #7145 (9f5bad309), of the KL between sampler and trainer", shows="a reference that is not the policy", stages=LOSS)
def metric_of_other_sign(a):
    """The logged k1 has the other sign. Right: mean of l - f."""
    def reported(found, entries, batch, objective):
        found["kl_k1"] = -found["kl_k1"]
    a.reported(reported)


@defect("KL-05", both(paid, option("penalty", "kl", "k2", "k3")), "ragged", "signs", APART + "k3-exact-none",
        seen="OpenRLHF, by default; open-instruct #535 discusses it", shows="a reference that is not the policy", stages=LOSS)
def k1_as_loss(a):
    """k1 as a loss: its gradient is 1 wherever the reference is. Right: the estimator of the objective."""
    a.choose("penalty", kl="k1")


@defect("KL-05a", both(paid, option("aggregation", "kind", "seq_mean_token_mean"), option("penalty", "kl", "k1", "k2", "k3"),
                       option("penalty", "kl_aggregation", "terms"), option("penalty", "kl_reference", "ref"),
                       option("penalty", "kl_on", "all"), has("logp_ref")), "ragged", "signs", APART + "k3-exact-none",
        seen="grail #42 (00a9810), until its KL was of tokens", shows="a response of more than one token", stages=LOSS)
def square_of_response(a):
    """The KL is the square of the response's log-ratio to the reference, the sum over its tokens. Right: the estimator at each token."""
    def entries(found, batch, objective):
        sums = {}
        for e in found:
            sums.setdefault(e.token.sequence, []).append(e.token.l - e.token.f)
        for e in found:
            D = linear([(x, ONE) for x in sums[e.token.sequence]])
            (kl, c), bonus = e.paid[0], e.paid[1:]
            e.paid = [(mpf(objective["penalty"]["kl_coef"]) * D * D, c), *bonus]
    a.entries(entries)


@defect("KL-06", both(paid, differs("penalty", "kl_importance_weight", "none")), "ragged", "signs", APART + "k3-exact-token",
        seen="NeMo-RL #2506 (33bce20d7)", shows="a KL weighted by a ratio", stages=LOSS)
def weight_detached(a):
    """The ratio that weighs the KL is detached: the score-function term K dw is missing. Right: differentiated."""
    for name in ("token", "level"):
        a.around(axis.RATIO, name, lambda original, *args: sg(original(*args)))


@defect("KL-07", both(paid, differs("penalty", "kl_importance_weight", "none"), lambda o, b: o["penalty"]["kl_clamp_log"] != 0),
        "mistakes-clamped-kl", APART + "k3-exact-token-log", APART + "k3-exact-level-log",
        seen="NeMo-RL since #2958 (2206ae11f)", shows="a weighted KL whose clamp is active", stages=LOSS)
def weight_detached_where_clamped(a):
    """Where D is beyond its clamp, the weight of the KL is detached too (implementations differ: NeMo-RL since its fix). Right: the
    derivative of D is 0 there; the weight is differentiated as written."""
    def penalty(original, choice, ratio, token, w):
        D, c = value(token.l - token.f), mpf(choice["kl_clamp_log"])
        found = original(choice, ratio, token, w)
        return value(found) if less(c, abs(D)) else found
    penalties(a, penalty)


@defect("KL-08", both(paid, option("penalty", "kl", "k3"), lambda o, b: o["penalty"]["kl_clamp_value"] != 0),
        "mistakes-far-reference", "mistakes-far-reference-dapo",
        seen="OpenRLHF from d90b3d1f to #1335, verl before #1779, MindSpeed-RL before 6d36f6c; AReaL (at cbff54d64), ROLL (8eb27cc2) and "
        "slime (624b824a8), read in their code; NeMo-RL #876, ms-swift #8464 and tunix #1560 bound a k3 that overflowed",
        shows="f - l beyond the exponent's range (709 in binary64, 88 in binary32)", stages=LOSS)
def only_result_clamped(a):
    """Only the result of k3 is clamped: the exponential overflows before, and the clamp's gradient is 0 times infinity. Right: exactly 0
    beyond the clamp."""
    a.ieee()


def binary32_k3(x):
    """(e^x - 1) - x, every step rounded to binary32."""
    x = narrow("f32", x)
    return narrow("f32", narrow("f32", narrow("f32", limits.exp(x)) - 1) - x)


@defect("KL-09", lambda o, b: "logp_ref" in b or "logp_old" in b, "near",
        seen="open-instruct before 79ff8fbee, marin #4620, in review", shows="log-ratios below 1e-3", stages=LOSS)
def k3_cancels(a):
    """(e^x - 1) - x in binary32: for a log-ratio of 1e-5 the result is 0 or negative. Right: expm1(x) - x, or a series."""
    a.swap(report_axis, "k3", binary32_k3)
    a.swap(axis.KL, "k3", lambda d: unary(binary32_k3, lambda v: limits.exp(v) - 1, -d))


@defect("KL-10", both(paid, of(corrected)), "choices-weight-mask-token-zero_weight",
        "choices-weight-truncate-token-zero_weight", "rollout",
        seen="ms-swift since #8321 (a58ac38e2); TRL and Liger weigh the policy term alone",
        shows="a correction weight that is not 1, a KL in the loss",
        stages=LOSS)
def kl_weighted(a):
    """The correction weight multiplies the KL too (implementations differ). Right: only the policy term."""
    def entries(found, batch, objective):
        for e in found:
            e.paid = [(e.v * e.factor * x, c) for x, c in e.paid]
    a.entries(entries)


@defect("KL-11", has("logp_ref"), "ragged", "reported", "reference",
        seen="TRL before #3004 (3f0695a4c)", shows="unequal lengths", stages=LOSS)
def metric_mean_of_means(a):
    """The logged KL is the mean of the responses' means. Right: the mean over tokens."""
    def reported(found, entries, batch, objective):
        rows = {}
        for e in entries:
            rows.setdefault(e.token.sequence, []).append(value(e.token.l) - e.token.f)
        for name, f in (("kl_k1", lambda d: d), ("kl_k2", lambda d: d * d / 2), ("kl_k3", lambda d: report_axis.k3(-d))):
            means = [sum((f(d) for d in row), ZERO) / len(row) for row in rows.values()]
            found[name] = sum(means, ZERO) / max(1, len(means))
    a.reported(reported)


@defect("KL-11a", has("logp_ref"), "ragged", "reported", "reference",
        seen="ROLL 2d7848fa", shows="a reference that is not the policy", stages=LOSS)
def metric_not_logged(a):
    """The KL is logged as 0 unless it is part of the reward. Right: logged wherever there is a reference."""
    def reported(found, entries, batch, objective):
        found["kl_k1"] = found["kl_k2"] = found["kl_k3"] = ZERO
    a.reported(reported)


@defect("KL-11b", both(of(kl_in_reward), option("advantage", "credit", "return", "gae"), has("logp_ref", "logp_old", "reward")), "returns",
        "reference", "values", "choices-reward-k1-return", "choices-reward-k2-return",
        seen="slime before #2114 (045310b2b), of its PPO", shows="a KL in the reward of tokens", stages=LOSS)
def metric_overwritten(a):
    """The KL that is logged has become the tokens' rewards, which were written over it: minus the coefficient times the KL, and at the
    last token the response's reward as well. Right: mean of l - f."""
    def reported(found, entries, batch, objective):
        choice, rewards = objective["reward"], []
        for s in batch.sequences:
            worth = reward_axis.shaped(choice, s, [x for x in batch.sequences if x.group == s.group])
            rewards += [x.value for x in credit_axis.token_rewards(choice, s, worth).values()]
        found["kl_k1"] = sum(rewards, ZERO) / len(rewards) if rewards else ZERO
    a.reported(reported)


@defect("KL-12", both(of(uses_ratio), has("logp_old")), "ragged", "signs",
        seen="OpenRLHF feeb0283", shows="always", stages=LOSS)
def ppo_kl_is_ratio(a):
    """The "PPO KL" is the mean of minus the ratio, near -1. Right: mean of o - l."""
    def reported(found, entries, batch, objective):
        found["approx_kl_k1"] = -found["ratio_mean"] if entries else ZERO
    a.reported(reported)


@defect("KL-12a", both(of(uses_ratio), has("logp_old", "entropy")), "reported", "every-array", "mistakes-entropies",
        seen="TRL before #168 (a757ac436), of its PPO; ROLL's policykl, read in its code", shows="a policy that has moved", stages=LOSS)
def ppo_kl_of_other_sign(a):
    """The "PPO KL" has the other sign: mean of l - o. Right: mean of o - l."""
    def reported(found, entries, batch, objective):
        found["approx_kl_k1"] = -found["approx_kl_k1"]
    a.reported(reported)


@defect("KL-13", both(paid, option("penalty", "kl", "k1", "k2", "abs")), "ragged", "signs", APART + "k1-exact-none",
        APART + "k2-exact-none",
        seen="AReaL #408, in review; tunix from e16a9f57 to e7e9a6f3, of unknown names", shows="an estimator other than k3", stages=LOSS)
def always_k3(a):
    """Every estimator's name selects k3. Right: k1, k2 or abs as named; unknown names are refused."""
    a.choose("penalty", kl="k3")


@defect("KL-13a", both(paid, option("penalty", "kl_gradient", "straight_through_k2")), APART + "k3-straight_through_k2-none",
        APART + "k1-straight_through_k2-none",
        seen="none known; verl #6058 (from #2953) raised an error at such names", shows="a straight-through estimator", stages=LOSS)
def straight_through_ignored(a):
    """The "+" of "k3+" is ignored: the estimator's own gradient. Right: value of the estimator, gradient of k2."""
    a.choose("penalty", kl_gradient="exact")


@defect("KL-14", of(uses_ratio), "ragged", "signs",
        seen="unsloth-zoo #296 (3986cf01)", shows="always", stages=LOSS)
def helper_averages_kl(a):
    """The metric averages the KL (0 when beta is 0) in place of its argument: the logged ratio is a KL. Right: the mean of the ratio."""
    def reported(found, entries, batch, objective):
        name = objective["penalty"]["kl"]
        found["ratio_mean"] = found.get("kl_" + name, ZERO) if kl_in_loss(objective) else ZERO
    a.reported(reported)


@defect("KL-15", both(paid, option("penalty", "kl", "k2"), option("surrogate", "kind", "cispo", "vespo")),
        "mistakes-cispo-k2", "mistakes-vespo-k2",
        seen="prime-rl #1697, #1701 (both closed)", shows="a policy below the reference", stages=LOSS)
def squared_inside_coefficient(a):
    """The squared KL is inside the detached coefficient: its gradient always lowers l. Right: outside, differentiated."""
    def penalty(original, choice, ratio, token, w):
        return sg(w) * value(original(choice, ratio, token, w)) * token.l
    penalties(a, penalty)


@defect("KL-16", paid, "equal-rewards", "mistakes-zero-group",
        seen="none known, proposed in TRL #5597 (closed)", shows="a group without advantages, a KL in the loss", stages=LOSS)
def silent_groups_pay_nothing(a):
    """Groups whose advantages are all 0 have no KL (implementations differ). Right: they have it."""
    def entries(found, batch, objective):
        moved = {e.token.sequence.group for e in found if sign(e.token.advantage) != 0}
        for e in found:
            if e.token.sequence.group not in moved:
                e.paid = []
    a.entries(entries)


@defect("KL-17", both(of(kl_in_reward), has("logp_ref")), "ragged", "holes", "choices-reward-k1-outcome",
        seen="none known; TRL #5889 and #6096 distinguish the two, which share the name of one option; in NeMo-RL #2530, in review, the "
        "KL was in both", shows="a KL in the reward")
def in_loss_for_reward(a):
    """The KL is in the loss as k3, with a gradient. Right: in the reward, of the old policy, without a gradient."""
    a.choose("penalty", kl="k3", kl_coef=a.objective["reward"]["kl_coef"])
    a.choose("reward", kl="none")
