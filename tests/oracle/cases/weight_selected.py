"""The weight: the selected tokens only, in the sum and in the divisor."""
from cases.bases import NEG, PPO
from cases.table import cases_of, settings
from objectives import changed
from scenarios import full, like, placed

case = cases_of("choices-selected")

ONLY = {"weight": {"selected": "only"}}
SELECTED = ((True, False, True), (False, False), (True, False, False, True), (True, True), (True, True, False, True), (False, False, False),
            (False, False))
A = ((1, -0.5, 0.75), (-1, 0.25), (0.5, -1.25, 0.25, -0.75), (-0.5, 0.75), (1.25, 0.5, -1, -0.25), (-0.25, 1, -0.75), (0.5, -0.5))


def some(o, b_gap=lambda dice, i, t: dice.signed(1 / 64, 0.25, 64)):
    """Three groups: a response without a selected token, a selected token that is masked, a group without any selected one."""
    batch = full(o, (2, 3, 2), [len(row) for row in A], 951, d=lambda dice, i, t: dice.signed(1 / 64, 0.75, 64), b_gap=b_gap,
                 mask={(0, 0), (2, 2), (4, 0)}, reward=(1, 0, 0.5, -0.5, 1, 0.25, 0.25))
    batch["advantage"] = [list(row) for row in A]
    batch["selected"] = [list(row) for row in SELECTED]
    batch["step_end"] = [[False, True, True], [True, True], [True, False, False, True], [True, True], [True, False, True, True],
                         [False, False, True], [False, True]]
    batch["kl_mask"] = like(batch["length"], lambda i, t: (i + t) % 2 == 0)
    batch["nll_mask"] = like(batch["length"], lambda i, t: (i + t) % 3 > 0)
    return batch


def of_rewards(o):
    """The same without given advantages."""
    batch = some(o)
    del batch["advantage"]
    return batch


def none(o):
    batch = some(o)
    batch["selected"] = like(batch["length"], lambda i, t: False)
    return batch


def every(o):
    batch = some(o)
    batch["selected"] = like(batch["length"], lambda i, t: True)
    return batch


# ---- divisors

PAYING = changed(PPO, penalty={"kl": "k3", "kl_coef": 0.25, "entropy_coef": 0.125})
DIVIDES = ("token_mean", "seq_mean_token_mean", "seq_mean_token_sum", "seq_mean_constant", "group_mean_token_mean", "seq_mean_length_power",
           "seq_sum_token_mean", "group_mean", "group_mean_seq_mean", "seq_mean_segment_mean", "token_mean_by_sign", "seq_mean_by_sign",
           "token_mean_nonzero_std")
DROP = ("seq_mean_token_mean", "seq_mean_token_sum", "group_mean_token_mean", "seq_mean_length_power", "group_mean_seq_mean",
        "seq_mean_segment_mean")


def over(kind, base=PAYING, **ratio):
    return changed(base, ratio=ratio, aggregation={"kind": kind, "constant": 6 if "constant" in kind else 0,
                                                   "power": 0.5 if "power" in kind else 0})


for kind in DIVIDES:
    case(f"token-{kind}", f"selected = only, aggregation {kind}: unselected tokens are neither in the sum nor in the divisor",
         over(kind), ONLY, some)
    case(f"sequence_mean-{kind}", f"selected = only, aggregation {kind}: the response's ratio and the divisor are of selected tokens only",
         over(kind, level="sequence_mean"), ONLY,
         some)
for kind in DROP:
    case(f"token-{kind}-drop", f"selected = only, {kind}: responses and groups without a selected token are dropped from the divisor",
         changed(over(kind), **ONLY), {"aggregation": {"empty_sequences": "drop"}}, some)
for label, ratio in (("sequence_sum", {"level": "sequence_sum"}), ("segment_mean", {"level": "segment_mean"}),
                     ("prefix_mean", {"level": "prefix_mean"}), ("sequence_mean-token", {"level": "sequence_mean", "gradient": "token"}),
                     ("sequence_clipped_mean", {"level": "sequence_clipped_mean", "token_clip_low": 0.25, "token_clip_high": 0.25})):
    case(f"{label}-seq_mean_token_mean",
         f"selected = only: importance ratios at level {label.replace('-token', ', gradient token')} are of selected tokens only",
         over("seq_mean_token_mean", **ratio), ONLY, some)
MEAN = over("token_mean")
case("keep", "selected = only in place of keep: unselected tokens leave the KL penalty and the divisor too, not just the surrogate",
     changed(MEAN, weight={"selected": "keep"}), ONLY,
     some)
case("none", "selected = only, but no token is selected: loss 0, gradient 0, no 0/0", MEAN, ONLY, none)
case("none-drop", "selected = only, but no token is selected and every response is dropped from the divisor: loss 0",
     changed(over("seq_mean_token_mean"), aggregation={"empty_sequences": "drop"}), ONLY, none)
case("every", "selected = only where every token is selected: the same numbers as without a selection",
     changed(MEAN, weight={"selected": "drop"}), ONLY, every)

# ---- the advantages include every token

for label, fields in (("whiten", {"scale": "token_whiten"}), ("norm", {"batch_norm": "tokens", "credit": "return", "gamma": 0.5}),
                      ("length_weighted", {"baseline": "length_weighted"}), ("gae", {"credit": "gae", "gamma": 1, "lambda": 0.5})):
    case(f"advantage-{label}", f"selected = only: advantages are computed from all tokens of the mask; {settings({'advantage': fields})}",
         changed(MEAN, advantage={"baseline": "group_mean", **fields}), ONLY, of_rewards)
case("advantage-token_mean_nonzero_std",
     "selected = only, token_mean_nonzero_std: the divisor counts selected tokens of groups with varying rewards",
     over("token_mean_nonzero_std"), ONLY, of_rewards)

# ---- penalties

for own in ("token_mean", "seq_mean_token_mean"):
    case(f"kl-{own}", f"selected = only: KL penalty and entropy bonus, averaged by {own}, are of selected tokens only",
         changed(over("seq_mean_token_sum"), penalty={"kl_aggregation": own, "entropy_aggregation": own}), ONLY, some)
case("kl_on", "selected = only with kl_on = selected: the KL is at selected tokens that also have kl_mask",
     changed(MEAN, penalty={"kl_on": "selected"}),
     ONLY, some)
case("kl-level", "selected = only: the KL is weighted by the response's mean ratio, which is of selected tokens",
     changed(over("seq_mean_token_mean", level="sequence_mean"), penalty={"kl_importance_weight": "level"}), ONLY, some)
for on in ("correct", "positive", "selected", "all"):
    case(f"nll-{on}", f"selected = only: NLL term on {on} tokens, of which only selected ones are in its sum and divisor",
         changed(MEAN, penalty={"nll_on": on, "nll_coef": 0.25}), ONLY, some)
case("nll-gate", "selected = only: LLDS's gate sums the lost log-probability over the selected tokens of a response",
     changed(MEAN, penalty={"nll_on": "all", "nll_coef": 0.25, "nll_form": "displacement", "nll_gate": "sequence"}), ONLY, some)
case("preference", "selected = only: the scores of preference pairs are means over selected tokens",
     changed(MEAN, penalty={"preference": "pairwise", "preference_coef": 0.5, "preference_beta": 0.75}), ONLY, some)

# ---- correction and rejection: sums over a sequence include every token

GAPS = ((0.125, 0.75, -0.125), (0.0625, 1.5), (0.25, -1.25, 0.125, 0.0625), (0.75, -0.125), (0.125, 0.0625, 0.25, -0.125), (0.25, 0, 0.125),
        (1, 0.25))


def mismatch(o):
    """Tokens far from the sampler that are not selected, and selected tokens near it."""
    return some(o, lambda dice, i, t: -GAPS[i][t])


BAND = {"rollout_is_low": 0.5, "rollout_is_high": 1.5}
NARROW = {"rollout_is_low": 0.75, "rollout_is_high": 1.25}
UNMASK = (("mask", "token"), ("reject", "sequence_sum"), ("reject", "segment_sum"))
for correction in ("truncate", "mask", "reject"):
    for unit in ("token", "sequence_sum", "sequence_mean", "segment_sum"):
        rejected = "unmask" if (correction, unit) in UNMASK else "zero_weight"
        case(f"{correction}-{unit}-{rejected}",
             f"selected = only, rollout_is {correction} by {unit}{', unselected tokens included' * (unit != 'token')}; {rejected}",
             changed(over("seq_mean_token_mean"), weight={"rollout_is": correction, "rollout_is_level": unit, "rollout_rejected": rejected,
                                                          **(NARROW if unit == "sequence_mean" else BAND)}), ONLY, mismatch)
for unit in ("token", "sequence_sum", "sequence_mean", "sequence_max", "segment_mean", "segment_max"):
    for rejected in ("zero_weight", "unmask"):
        case(f"reject-k2-{unit}-{rejected}",
             f"selected = only, rollout_rs k2 by {unit}{', unselected tokens included' * (unit != 'token')}; {rejected}",
             changed(over("group_mean_token_mean"), weight={"rollout_rs": "k2", "rollout_rs_level": unit, "rollout_rs_high": 0.25,
                                                            "rollout_rejected": rejected}), ONLY, mismatch)
for rejected in ("zero_weight", "unmask"):
    case(f"veto-{rejected}", f"selected = only: an unselected token can veto its response; rollout_rejected = {rejected}",
         changed(MEAN, weight={"rollout_veto": 0.375, "rollout_rejected": rejected}), ONLY, mismatch)
for unit in ("token", "sequence_sum"):
    case(f"norm-{unit}", f"selected = only: the mean that divides rollout weights ({unit}) is over selected tokens, or responses with any",
         changed(MEAN, weight={"rollout_is": "truncate", "rollout_is_level": unit, **BAND, "rollout_is_norm": "mean"}), ONLY, mismatch)
case("reject-sequence_mean", "selected = only: a response is rejected for unselected tokens far from the rollout policy, and has no ratio",
     changed(over("seq_mean_token_mean", level="sequence_mean"),
             weight={"rollout_rs": "k2", "rollout_rs_level": "sequence_max", "rollout_rs_high": 0.5, "rollout_rejected": "unmask"}),
     ONLY, mismatch)

# ---- sums over active tokens include only selected ones


def cut_off(o):
    batch = some(o)
    batch["truncated"] = [True, False, False, False, False, True, False]
    return batch


for label, fields in (("off_policy-old", {"off_policy_mask": "old", "off_policy_mask_threshold": 0.0625}),
                      ("off_policy-total_variation", {"off_policy_mask": "total_variation", "off_policy_mask_threshold": 0.25}),
                      ("policy_is-sequence_mean", {"policy_is": "sequence_mean", "policy_is_low": 0.5, "policy_is_high": 1.5}),
                      ("fipo", {"fipo": "decayed", "fipo_half_life": 2, "fipo_low": 0.5, "fipo_high": 1.5}),
                      ("external", {"external": "term"}), ("trust", {"trust": "two_sided", "trust_low": 0.25, "trust_high": 0.25})):
    case(label, f"selected = only: sums over active tokens are of selected ones; {settings({'weight': fields})}",
         changed(MEAN, weight=fields), ONLY, mismatch)
case("truncated", "selected = only: tokens of truncated responses are masked as well as unselected ones",
     changed(MEAN, weight={"truncated": "mask"}), ONLY, cut_off)
case("position", "selected = only: clip bounds by position count selected tokens only",
     changed(MEAN, surrogate={"bounds": "position", "eps_low": 0, "eps_high": 0, "log_low": 0.125, "log_high": 0.1875,
                              "position_power": 0.5}), ONLY, some)
for kind, fields in (("variance", {"beta": 0.5}), ("logistic_lse", {"tau_pos": 2, "tau_neg": 0.5})):
    case(kind, f"selected = only with surrogate {kind}: the scores of a group's responses are of their selected tokens only",
         changed(over("group_mean", base=changed(PPO, surrogate={"kind": kind, "eps_low": 0, "eps_high": 0, **fields}),
                      level="sequence_sum")), ONLY, of_rewards)


def extreme(o):
    """Log-ratios of 800 and probabilities of 0 at tokens that are not selected: as if they were masked."""
    batch = placed(o, 952, (2, 1), ((1, -0.5, 0.75), (-1, 0.25), (0.5, 0.5)),
                   logp=((-1, NEG, -0.5), (-900, -0.75), (-0.25, -1.5)), logp_old=((-1.25, -0.5, -0.75), (-100, -0.5), (NEG, -1)))
    batch["selected"] = [[True, False, True], [False, True], [False, True]]
    return batch


for level in ("token", "sequence_mean"):
    case(f"extreme-{level}", f"selected = only: unselected tokens with probability 0 or a log-ratio of -800 are not read; level {level}",
         changed(over("seq_mean_token_mean", base=PPO, level=level)), ONLY, extreme)
