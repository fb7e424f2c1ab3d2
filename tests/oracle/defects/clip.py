"""CLIP, CISPO: mistakes in clips and detached weights."""

from autodiff import clamp, linear, maximum, minimum, sigmoid, value
from axes import ratio as ratio_axis
from axes import report as report_axis
from axes import surrogate as axis
from limits import ONE, ZERO, bound, less, sign
from reals import mpf

from .table import both, defect, differs, farther_than, has, kl_in_loss, of, option, unit

LOSS = ("loss",)
numbers = differs("surrogate", "bounds", "position", "external")  # the others do not read eps
ppo = both(numbers, option("surrogate", "kind", "ppo_clip", "dual_clip"))
dual = both(numbers, option("surrogate", "kind", "dual_clip"))
cispo = option("surrogate", "kind", "cispo")
EVERY_SIDE = "choices-surrogate-"


def report_sides(a, f):
    """f(choice, advantage, w) -> (low, high, dual) replaces the conditions that the report counts."""
    a.swap(report_axis, "clip_sides", f)
    a.outputs = ("report",)


@defect("CLIP-01", ppo, "ragged", "signs", EVERY_SIDE + "ppo_clip", EVERY_SIDE + "dual_clip",
        seen="rllm #81", shows="a ratio at which the clip binds", stages=LOSS)
def unclipped_reduced(a):
    """The clipped loss is computed, but the unclipped one is aggregated. Right: the larger of the two."""
    for kind in ("ppo_clip", "dual_clip"):
        a.swap(axis.KIND, kind, axis.ratio)


def clip_is(a, f):
    """f(A, w, low, high) replaces -min(w A, clip(w) A); a dual clip bounds what it gives."""
    def ppo_clip(s, A, w, y, l):
        return f(A, w, *axis.bounds(s))
    a.swap(axis.KIND, "ppo_clip", ppo_clip)
    a.swap(axis, "ppo_clip", ppo_clip)


@defect("CLIP-01a", ppo, "signs", "ragged", EVERY_SIDE + "ppo_clip", EVERY_SIDE + "dual_clip",
        seen="takuseno/ppo #3 (a4fbd38)", shows="A < 0, a ratio out of range", stages=LOSS)
def minimum_of_ratios(a):
    """The minimum is of the ratios, before A is multiplied: -A min(w, clip(w)). Right: of the products, -min(w A, clip(w) A)."""
    clip_is(a, lambda A, w, low, high: -A * minimum(w, clamp(w, low, high)))


@defect("CLIP-01b", ppo, "signs", "ragged", EVERY_SIDE + "ppo_clip", EVERY_SIDE + "dual_clip",
        seen="safe-grid-agents before #28 (70c452e), of the two means over the batch", shows="a ratio out of range", stages=LOSS)
def maximum_of_products(a):
    """Minimum and maximum are exchanged in the clip: -max(w A, clip(w) A). Right: -min(w A, clip(w) A)."""
    clip_is(a, lambda A, w, low, high: minimum(-A * w, -A * clamp(w, low, high)))


@defect("CLIP-01c", both(option("surrogate", "bounds", "fixed"), option("surrogate", "kind", "ppo_clip")), "signs", "ragged",
        EVERY_SIDE + "ppo_clip",
        seen="safe-grid-agents from #28 to #47 (5ae2860)", shows="a ratio out of range", stages=LOSS)
def minimum_of_means(a):
    """The minimum is of the two means over the batch: -min(mean(w A), mean(clip(w) A)). Right: the mean of each token's minimum."""
    def entries(found, batch, objective):
        low, high = axis.bounds(objective["surrogate"])
        forms = [[-e.token.advantage * x * e.v * e.factor for e, x in zip(found, ws)]
                 for ws in ([e.w for e in found], [clamp(e.w, low, high) for e in found])]
        totals = [sum((e.c * value(x) for e, x in zip(found, form) if not e.dropped), ZERO) for form in forms]
        for e, x in zip(found, forms[less(totals[0], totals[1])]):
            e.policy = ZERO if e.dropped else x
    a.entries(entries)
    a.outputs = ("loss", "dlogp")


@defect("CLIP-01d", ppo, "signs", "ragged", EVERY_SIDE + "ppo_clip", EVERY_SIDE + "dual_clip",
        seen="Pytorch-DPPO #3 (8972c52)", shows="always", stages=LOSS)
def clip_of_product(a):
    """What is clipped is the product w A, and A multiplies once more: -min(w A, clip(w A) A). Right: the ratio, -min(w A, clip(w) A)."""
    clip_is(a, lambda A, w, low, high: maximum(-A * w, -A * clamp(A * w, low, high)))


@defect("CLIP-02", dual, "signs", "ragged", EVERY_SIDE + "dual_clip",
        seen="slime #2247 (78156c53c), miles before #1729 (9525fc77f), RLinf #29 (ceb94ab39), #316; Liger #1082, of its delta",
        shows="A < 0, ratio above c", stages=LOSS)
def dual_not_passed(a):
    """The dual-clip constant is not passed on: the loss is the plain clip. Right: the loss of tokens with A < 0 is bounded by -c A."""
    a.swap(axis.KIND, "dual_clip", axis.ppo_clip)


@defect("CLIP-02a", both(ppo, lambda o, b: o["surrogate"]["eps_high"] > o["surrogate"]["eps_low"]), "mistakes-high-clip",
        "mistakes-high-clip-trl-dapo", "signs", "ragged", "fine", EVERY_SIDE + "ppo_clip-eps_high-1",
        seen="none known of this option; OpenRLHF 6eb5724f had it of another, policy_loss_type",
        shows="A > 0, ratio between the two upper clips",
        stages=LOSS)
def eps_high_not_passed(a):
    """The upper epsilon is not passed on: the lower one is used on both sides. Right: the upper one above 1."""
    a.choose("surrogate", eps_high=a.objective["surrogate"]["eps_low"])


@defect("CLIP-02c", both(ppo, option("surrogate", "bounds", "fixed"), lambda o, b: o["surrogate"]["eps_low"] != 0.5),
        "signs", "ragged", EVERY_SIDE + "ppo_clip", EVERY_SIDE + "dual_clip", "grpo-extreme-50",
        seen="RL2 #21 (1addbc0)", shows="A < 0, a ratio below the lower bound", stages=LOSS)
def lower_bound_is_epsilon(a):
    """The clip's lower bound is eps, not 1 - eps: clip(w, eps, 1 + eps). Right: clip(w, 1 - eps, 1 + eps)."""
    a.choose("surrogate", eps_low=1 - a.objective["surrogate"]["eps_low"])


@defect("CLIP-02b", option("ratio", "level", "sequence_clipped_mean"), "ragged", "signs",
        "choices-ratio-sequence_clipped_mean-full-ratio",
        seen="TRL #6808, #7270", shows="any ratio", stages=LOSS)
def gmpo_becomes_grpo(a):
    """GMPO with the fused kernel trains GRPO: clipped token ratios. Right: the geometric mean."""
    a.choose("ratio", level="token", token_clip_low=0, token_clip_high=0)
    a.choose("surrogate", kind="ppo_clip", eps_low=0.2, eps_high=0.2)


@defect("CLIP-03", dual, "ragged", "signs", EVERY_SIDE + "dual_clip",
        seen="tianshou #433, slime before 2b10784d8", shows="A > 0", stages=LOSS)
def dual_for_good_tokens(a):
    """The dual clip acts on A > 0 too: there c A is larger than both branches, and the loss is -c A. Right: only for A < 0."""
    def dual_clip(s, A, w, y, l):
        # L = -max(min(w A, clip(w) A), c A)
        return minimum(axis.ppo_clip(s, A, w, y, l), -A * mpf(s["clip_dual"]))
    a.swap(axis.KIND, "dual_clip", dual_clip)


@defect("CLIP-04", dual, "signs", "ragged", EVERY_SIDE + "dual_clip-clip_dual-4",
        seen="ROLL (1 + 2 pg_clip), read in its code", shows="A < 0, ratio between 1 + 2 eps and c", stages=LOSS)
def dual_from_epsilon(a):
    """The dual-clip constant is 1 + 2 eps (implementations differ). Right: its own constant, typically 3."""
    a.choose("surrogate", clip_dual=1 + 2 * a.objective["surrogate"]["eps_high"])


@defect("CLIP-05", dual, "signs", "ragged", EVERY_SIDE + "dual_clip",
        seen="verl #972 (88db55407)", shows="A < 0, ratio above c", stages=LOSS)
def dual_compared_with_itself(a):
    """The dual-clip fraction compares a minimum with one of its own arguments in a way that is never true: always 0. Right: the fraction
    of tokens with A < 0 and w > c."""
    report_sides(a, lambda s, A, w: (*axis.clip_sides(s, A, w)[:2], False))


@defect("CLIP-06", dual, "mistakes-two-sided-unit", "signs", "ragged", EVERY_SIDE + "dual_clip",
        seen="TRL #3434, #3499, in the clip fractions alone: its KL is weighted by the ratio as it was",
        shows="a ratio above delta", stages=LOSS)
def everything_sees_delta(a):
    """The ratio itself is bounded by delta, so the KL's weight and the report change too. Right: only the surrogate is bounded."""
    top = mpf(a.objective["surrogate"]["clip_dual"])
    a.around(ratio_axis, "ratios", lambda original, ys: [minimum(w, top) for w in original(ys)])


sequence_kl = both(of(unit, kl_in_loss))


@defect("CLIP-07", both(sequence_kl, option("penalty", "kl_importance_weight", "token")), "choices-penalty-k3-exact-token",
        "choices-penalty-k2-exact-token", "mistakes-clamped-kl",
        seen="TRL (#6586, closed, objects), Liger since #1202 (e07abecd)",
        shows="a ratio per response and a KL weighted by the token's ratio",
        stages=LOSS)
def kl_weighted_by_unit(a):
    """The KL is weighted by the response's ratio (implementations differ). Right: by the token's."""
    a.choose("penalty", kl_importance_weight="level")


@defect("CLIP-07a", both(sequence_kl, option("penalty", "kl_importance_weight", "level")), "choices-penalty-k3-exact-level",
        "choices-penalty-k2-exact-level",
        seen="Liger before #1202", shows="a ratio per response that weighs the KL", stages=LOSS)
def kl_weighted_by_token(a):
    """The KL is weighted by the token's ratio (implementations differ). Right: by the response's."""
    a.choose("penalty", kl_importance_weight="token")


@defect("CLIP-08", option("ratio", "level", "sequence_clipped_mean"), "signs", "mistakes-zero-pooled",
        seen="TRL #6078, its first GMPO; #6095 (open) would fix it",
        shows="A = 0 and a ratio beyond a bound, inside a response", stages=LOSS)
def zero_advantage_inflates(a):
    """Tokens with A = 0 are clipped like tokens with A < 0, so they have no upper bound. Right: like tokens with A > 0."""
    def pool_clipped(choice, t, d):
        if less(ZERO, t.advantage):
            return minimum(d, mpf(choice["token_clip_high"]))
        return maximum(d, -mpf(choice["token_clip_low"]))
    a.swap(ratio_axis, "pool_clipped", pool_clipped)


@defect("CLIP-09", option("surrogate", "kind", "sapo"), "ragged", "signs", EVERY_SIDE + "sapo",
        seen="ms-swift #7852 (a7986dca1)", shows="always", stages=LOSS)
def gate_without_factor(a):
    """The sigmoid gate lacks the factor 4/tau: at ratio 1 the gradient is a quarter of the right one. Right: (4/tau) sigmoid(tau (w -
    1))."""
    def sapo(s, A, w, y, l):
        tau = mpf(s["tau_pos"] if sign(A) > 0 else s["tau_neg"])
        return -A * sigmoid(tau * (w - 1))
    a.swap(axis.KIND, "sapo", sapo)


@defect("CLIP-09a", option("surrogate", "kind", "sapo"), "ragged", "signs", EVERY_SIDE + "sapo",
        seen="unsloth-zoo #869, in review", shows="always", stages=LOSS)
def gate_is_loss(a):
    """The gate itself is the loss: the factor -A is missing. Right: -gate A."""
    def sapo(s, A, w, y, l):
        tau = mpf(s["tau_pos"] if sign(A) > 0 else s["tau_neg"])
        return (4 / tau) * sigmoid(tau * (w - 1))
    a.swap(axis.KIND, "sapo", sapo)


@defect("CLIP-10", both(cispo, option("ratio", "level", "sequence_sum")), "mistakes-topr", "mistakes-topr-holes",
        seen="ROLL 46b75d6a", shows="any old policy that is not certain", stages=LOSS)
def probability_for_ratio(a):
    """TOPR's weight is the response's probability under the old policy. Right: the detached ratio, clipped to [0,
    1]."""
    def log_units(choice, tokens):
        return [linear([(t.o, ONE) for t in tokens])] * len(tokens)
    a.swap(ratio_axis, "log_units", log_units)


@defect("CLIP-11", lambda o, b: True, "ragged", "signs",
        seen="fla #1073, fixed in #1076", shows="always", stages=LOSS)
def negated_twice(a):
    """The loss is negated twice: L = -mean(-(min(...) - beta KL)). Right: negated once."""
    def entries(found, batch, objective):
        for e in found:
            e.c, e.paid = -e.c, [(x, -c) for x, c in e.paid]
    a.entries(entries)


@defect("CLIP-12", ppo, "signs", "ragged", EVERY_SIDE + "ppo_clip",
        seen="TRL #3145 (dee37342a), fixed in #3175 (5b586da3c); its AsyncGRPO before #6021; ms-swift before #3844 (483dca27e)",
        shows="a ratio out of range where the clip does not bind", stages=LOSS)
def clip_fraction_of_any_sign(a):
    """The clip fractions count every ratio out of range, whatever the sign of A. Right: those whose gradient the clip
    changes."""
    def sides(s, A, w):
        return less(value(w), 1 - mpf(s["eps_low"])), less(1 + mpf(s["eps_high"]), value(w)), False
    report_sides(a, sides)


@defect("CLIP-12a", ppo, "signs", "ragged", EVERY_SIDE + "ppo_clip",
        seen="TRL before #3145 (#3032, #3144), Liger c3ef611a, fixed in 397ab301",
        shows="a ratio out of range where the clip does not bind", stages=LOSS)
def clip_fraction_inverted(a):
    """The clip fraction counts w A < clip(w) A: tokens that are out of range and not clipped. Right: the clipped ones."""
    def sides(s, A, w):
        low, high = less(value(w), 1 - mpf(s["eps_low"])), less(1 + mpf(s["eps_high"]), value(w))
        return sign(A) > 0 and low, sign(A) < 0 and high, False
    report_sides(a, sides)


@defect("CLIP-12b", both(ppo, of(report_axis.uses_ratio), has("entropy")), "reported", "every-array", "mistakes-entropies",
        "mistakes-entropies-dapo",
        seen="torchrl before #2021 (4bce3716b)", shows="always", stages=LOSS)
def clip_fraction_is_ratio(a):
    """The mean of the clipped ratio, near 1, is logged as the clip fraction. Right: the fraction of tokens whose gradient the clip
    changes."""
    def reported(found, entries, batch, objective):
        of_token = (axis.at(objective["surrogate"], ratio_axis.denominator(objective["ratio"], e.token), e.token) for e in entries)
        ratios = [value(clamp(e.w, *axis.bounds(s))) for e, s in zip(entries, of_token)]
        found["clip_fraction"] = sum(ratios, ZERO) / len(ratios) if ratios else ZERO
    a.reported(reported)


@defect("CLIP-13", cispo, "ragged", "signs", EVERY_SIDE + "cispo",
        seen="open-instruct #1679 (54440244d); #1735, in review", shows="a ratio above the cap", stages=LOSS)
def cispo_never_clips(a):
    """CISPO's clip fraction compares a loss with itself: always 0. Right: the fraction of weights outside their bounds."""
    report_sides(a, lambda s, A, w: (False, False, False))


@defect("CISPO-01", cispo, "ragged", "signs", EVERY_SIDE + "cispo",
        seen="open-instruct #1269 (0fecacc93)", shows="a ratio above the cap (gradient), any (loss)", stages=LOSS)
def weight_is_loss(a):
    """-A clip(w) is differentiated: the log-probability is missing, and the gradient above the cap is 0. Right: -A sg[clip(w)] l."""
    a.swap(axis.KIND, "cispo", lambda s, A, w, y, l: -A * clamp(w, bound(s["weight_min"]), bound(s["weight_max"])))


@defect("CISPO-02", both(numbers, option("surrogate", "kind", "ppo_clip", "cispo")), "ragged", "signs", EVERY_SIDE + "ppo_clip",
        EVERY_SIDE + "cispo",
        seen="TRL #4499 (97ca1a256)", shows="any", stages=LOSS)
def branches_inverted(a):
    """The branch is inverted: clipped objectives run CISPO, and CISPO runs the clip. Right: each runs its own."""
    s = a.objective["surrogate"]
    if s["kind"] == "ppo_clip":
        a.choose("surrogate", kind="cispo", weight_min=0, weight_max=1 + s["eps_high"])
    elif s["weight_max"] != "Infinity":
        a.choose("surrogate", kind="ppo_clip", eps_low=1 - s["weight_min"], eps_high=s["weight_max"] - 1)


@defect("CISPO-03", cispo, "ragged", "signs", EVERY_SIDE + "cispo",
        seen="SkyRL #1928 (fdfcb4352)", shows="a ratio below 1", stages=LOSS)
def bounds_as_epsilons(a):
    """The bounds 0 and 5 are read as epsilons: weights in [1 - 0, 1 + 5]. Right: [0, 5]."""
    s = a.objective["surrogate"]
    if s["weight_max"] != "Infinity":
        a.choose("surrogate", weight_min=1 - s["weight_min"], weight_max=1 + s["weight_max"])


@defect("CISPO-03a", cispo, "signs", "extreme-50", "mistakes-cispo-cap", EVERY_SIDE + "cispo",
        seen="1 + cap: open-instruct, AReaL, slime, SkyRL; the cap itself: TRL, Liger; read in their code",
        shows="a ratio between the two caps",
        stages=LOSS)
def cap_as_epsilon(a):
    """The cap is read as an epsilon: 1 + cap (implementations differ). Right: as `weight_max` says."""
    if a.objective["surrogate"]["weight_max"] != "Infinity":
        a.choose("surrogate", weight_max=1 + a.objective["surrogate"]["weight_max"])


@defect("CISPO-04",
        both(cispo, option("ratio", "behaviour", "rollout"), option("weight", "rollout_is", "none"), has("logp_old")),
        "rollout", "mistakes-cispo-rollout",
        seen="SkyRL #1859 (dda1cb3c8), which refuses it now", shows="an old policy that is not the sampler's", stages=LOSS)
def corrected_twice(a):
    """CISPO with the sampler in the ratio's denominator is multiplied by the truncated weight of old over rollout: the mismatch is
    corrected twice. Right: one of the two."""
    a.choose("weight", rollout_is="truncate", rollout_is_level="token", rollout_is_low=0, rollout_is_high=2)


@defect("NUM-01", both(ppo, farther_than(80)), "extreme-800-good", "mistakes-overflow",
        seen="TRL's loss, as Soup #342 and #1084 analyse it; OpenRLHF #1293 (open), of GSPO; NeMo-RL #4120 (open)",
        shows="A > 0 and a log-ratio beyond the exponent's range (709 in binary64, 88 in binary32)", stages=LOSS)
def gradient_of_branch_not_taken(a):
    """The ratio overflows; min() takes the clipped branch (finite loss), and the gradient of the other branch is 0 times infinity: NaN.
    Right: exactly 0."""
    a.ieee()


@defect("MET-05", both(ppo, lambda o, b: o["surrogate"]["eps_high"] != o["surrogate"]["eps_low"]), "mistakes-high-clip",
        "mistakes-high-clip-trl-dapo", "fine", "ragged",
        seen="reported, no reference", shows="a ratio between the two epsilons", stages=LOSS)
def thresholds_swapped(a):
    """The clip fractions use the lower epsilon above and the upper one below. Right: each its own."""
    report_sides(a, lambda s, A, w: axis.clip_sides({**s, "eps_low": s["eps_high"], "eps_high": s["eps_low"]}, A, w))


@defect("MET-05b", both(ppo, lambda o, b: o["surrogate"]["eps_high"] != o["surrogate"]["eps_low"]), "mistakes-high-clip",
        "mistakes-high-clip-trl-dapo", "fine", "reported",
        seen="ms-swift before #3652 (a61648924)", shows="a ratio between the two upper bounds", stages=LOSS)
def one_threshold(a):
    """The clip fractions use the lower epsilon on both sides, the loss has two. Right: the bounds of the loss."""
    report_sides(a, lambda s, A, w: axis.clip_sides({**s, "eps_high": s["eps_low"]}, A, w))


@defect("MET-05a",
        both(ppo, option("weight", "rollout_rejected", "zero_weight"), option("weight", "rollout_is", "mask", "reject")),
        "rollout", "ragged", "mistakes-clipped-rejected", "choices-weight-mask-token-zero_weight",
        seen="open-instruct 54440244d", shows="a clipped token that is rejected", stages=LOSS)
def clip_fraction_of_kept(a):
    """The clip fractions leave out tokens whose weight is 0 (implementations differ). Right: every active token that
    the clip changes."""
    a.around(report_axis, "clips",
             lambda original, objective, entries: original(objective, [e for e in entries if e.v != 0]))
    a.outputs = ("report",)
