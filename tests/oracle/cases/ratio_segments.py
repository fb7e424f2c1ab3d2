"""The ratio: segments, prefixes and means of ratios as its unit, mixtures of ratios."""
from cases.table import cases_of
from objectives import INF, MINUS_INF, changed, plain
from scenarios import NAN, full

case = cases_of("choices-units")

PPO = changed(plain(), surrogate={"kind": "ppo_clip", "eps_low": 0.2, "eps_high": 0.25}, aggregation={"kind": "seq_mean_token_mean"})
KINDS = {"ratio": {"kind": "ratio", "eps_low": 0, "eps_high": 0}, "ppo_clip": {},
         "log_ratio": {"kind": "log_ratio", "eps_low": 0, "eps_high": 0},
         "squared": {"kind": "squared", "beta": 0.5, "eps_low": 0, "eps_high": 0},
         "gppo": {"kind": "gppo", "gppo_beta_low": 0.5, "gppo_beta_high": 0.75}}
RATIO = changed(PPO, surrogate=KINDS["ratio"])


def on(unit, base=RATIO, **fields):
    return changed(base, ratio={"level": unit, **fields})


# ---- batches

D = ((0.5, -0.25, 0.125, 1, -0.75), (0.25, -0.5, 0.375), (0.75,))
A = ((1, 0.5, -0.75, 0.25, -1), (-1.25, 1, -0.5), (0.5,))
STEP_END = ((False, True, False, True, False), (True, False, True), (False,))


def turns(o):
    """Segments of one and two tokens; one ends at a masked token, one has no other token, one response is one segment."""
    batch = full(o, (2, 1), [len(x) for x in D], 701, d=lambda dice, i, t: D[i][t], mask={(0, 1), (1, 0)})
    batch["advantage"] = [list(a) for a in A]
    batch["step_end"] = [list(ends) for ends in STEP_END]
    return batch


def masked(o):
    """The same, with NaN in the masked slots."""
    batch = turns(o)
    for key in ("logp", "logp_old", "advantage"):
        batch[key][0][1] = batch[key][1][0] = NAN
    return batch


def laid(logp, old, a, step_end, seed, groups=None):
    def make(o):
        batch = full(o, groups or (len(logp),), [len(row) for row in logp], seed)
        batch["logp"], batch["logp_old"], batch["advantage"] = ([list(row) for row in rows] for rows in (logp, old, a))
        batch["step_end"] = [list(row) for row in step_end]
        return batch
    return make


NEVER = laid(((MINUS_INF, -1, -0.5), (-0.5, -1.25), (MINUS_INF, -1, -0.75)),
             ((-0.5, -1.5, -0.75), (MINUS_INF, -0.75), (-1, MINUS_INF, -0.5)),
             ((1, -0.5, 0.25), (-1, -0.5), (-0.25, 0.5, -0.75)),
             ((False, True, False), (True, False), (False, True, False)), 702)
# the same where no ratio is infinite: beside an infinite one the share of the others in a mean of ratios is a product of e^-K and e^K
SCARCE = laid(((MINUS_INF, -1, -0.5), (-0.5, -1.25), (MINUS_INF, -1, -0.75)),
              ((-0.5, -1.5, -0.75), (-2, -0.75), (-1, -3, -0.5)),
              ((1, -0.5, 0.25), (-1, -0.5), (-0.25, 0.5, -0.75)),
              ((False, True, False), (True, False), (False, True, False)), 702)
# means, sums, first prefixes of 1/2 and -1/2; ratios of 1
LEVEL = laid(((-1, -0.75, -1.25), (-2, -1, -1.5), (-0.5, -1)), ((-1.5, -1.25, -1.5), (-1.5, -0.5, -0.5), (-0.5, -1)),
             ((1, -1, 0.5), (-0.5, 0.75, -1), (1, -0.5)), ((False, True, False), (False, True, False), (False, True)), 703, (2, 1))


# ---- ratio

UNITS = ("segment_mean", "segment_sum", "prefix_sum", "prefix_mean", "sequence_mean_ratio")
for unit in UNITS:
    case(f"{unit}", f"importance ratio at level {unit}: segments of one or two tokens, one ended by a masked token",
         on("sequence_mean"), {"ratio": {"level": unit}}, turns)
for unit in ("segment_sum", "prefix_sum", "sequence_mean_ratio"):
    case(f"{unit}-token", f"level {unit} with gradient token: the ratio's value is its unit's, the derivative only the token's own",
         on(unit), {"ratio": {"gradient": "token"}}, turns)
    case(f"{unit}-neginf", f"level {unit} with probabilities of 0: infinite log-ratios of either sign, and of both in one response",
         on("sequence_mean", PPO),
         {"ratio": {"level": unit}}, SCARCE if unit == "sequence_mean_ratio" else NEVER)
for unit, kind in (("segment_mean", "ppo_clip"), ("prefix_sum", "ppo_clip"), ("segment_sum", "log_ratio"),
                   ("sequence_mean_ratio", "log_ratio"), ("prefix_mean", "squared"), ("sequence_mean_ratio", "gppo")):
    case(f"{unit}-{kind}", f"surrogate {kind} with importance ratios at level {unit}",
         on("sequence_mean", changed(PPO, surrogate=KINDS[kind])),
         {"ratio": {"level": unit}}, turns)
case("segment_mean-masked", "level segment_mean: masked tokens hold NaN and count nowhere, but one of them ends a segment",
     on("segment_sum"),
     {"ratio": {"level": "segment_mean"}}, masked)
case("prefix_mean-unit_clamp-bound", "prefix means of log-ratios clamped to -0.5..0.5: exactly at a bound the derivative passes",
     on("prefix_mean"),
     {"ratio": {"level_clamp_low": -0.5, "level_clamp_high": 0.5}}, LEVEL)

# ---- mix

AVERAGE = {"interpolate": "arithmetic"}
HALVES = {"interpolate": "geometric", "interpolate_token": 0.5, "interpolate_level": 0.5}
for name, mix in (("arithmetic", AVERAGE), ("geometric", HALVES)):
    for unit in ("sequence_mean", {"arithmetic": "segment_mean", "geometric": "prefix_sum"}[name]):
        case(f"{name}-{unit}", f"{name} mixture of the token's own ratio and its ratio at level {unit}; gradients through both",
             on(unit), {"ratio": mix}, turns)
    case(f"{name}-sequence_mean-token",
         f"{name} mixture, gradient token: the response's mean ratio is a constant, only the token's own is differentiated",
         on("sequence_mean", **mix), {"ratio": {"gradient": "token"}}, turns)
    case(f"{name}-log_ratio", f"{name} mixture in a surrogate of the log-ratio, -A y: its scale includes both parts of the mixture",
         on("sequence_mean", changed(PPO, surrogate=KINDS["log_ratio"])), {"ratio": mix}, turns)
    case(f"{name}-neginf", f"{name} mixture with infinite log-ratios of either sign, and of both in one response",
         on("sequence_mean", PPO), {"ratio": mix}, NEVER)
case("average-both-clamps", "token log-ratios are clamped before the arithmetic mixture, and the mixture's logarithm after it",
     on("sequence_mean", **AVERAGE),
     {"ratio": {"clamp_low": -0.5, "clamp_high": INF, "level_clamp_low": -0.375, "level_clamp_high": 0.25}}, turns)
case("weighted-sequence_clipped_mean", "geometric mixture with GMPO's level: the token's own part is its unclipped log-ratio",
     on("sequence_clipped_mean", token_clip_low=0.375, token_clip_high=0.25), {"ratio": HALVES}, turns)
MIXED = on("sequence_mean", PPO, **HALVES)
case("interpolate_token", "geometric mixture with 1.5 times the token's log-ratio and half of the response's mean",
     MIXED, {"ratio": {"interpolate_token": 1.5}}, turns)
case("mix-trust", "the trust region tests the arithmetic mixture of ratios, not the token's or the response's ratio",
     on("sequence_mean", **AVERAGE),
     {"weight": {"trust": "two_sided", "trust_low": 0.25, "trust_high": 0.25}}, turns)
