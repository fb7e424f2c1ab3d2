"""The weight over segments."""
from cases.table import cases_of
from cases.ratio_segments import A, D, RATIO, STEP_END, on
from objectives import changed
from scenarios import full

case = cases_of("choices-units", 1)


# ---- levels of the weight

GAPS = ((0, 0.5, -0.75, 0.375, -1.5), (-1.75, 0.25, 0.125), (0.0625,))


def mismatch(o):
    batch = full(o, (2, 1), [len(g) for g in GAPS], 711, b_gap=lambda dice, i, t: GAPS[i][t], d=lambda dice, i, t: D[i][t] / 4,
                 mask={(0, 1)})
    batch["advantage"] = [list(a) for a in A]
    batch["step_end"] = [list(ends) for ends in STEP_END]
    return batch


BAND = {"rollout_is_low": 0.5, "rollout_is_high": 1.5}
for unit, correction, rejected in (("segment_mean", "mask", "zero_weight"), ("segment_sum", "reject", "unmask")):
    fields = {"rollout_is": correction, **BAND, "rollout_rejected": rejected}
    case(f"{correction}-{unit}", f"rollout_is = {correction} with one weight per segment, level {unit}; rollout_rejected = {rejected}",
         changed(RATIO, weight={**fields, "rollout_is_level": unit.replace("segment", "sequence")}),
         {"weight": {"rollout_is_level": unit}}, mismatch)
for reject, unit, rejected, low, high in (("ratio", "segment_sum", "unmask", 0.5, 1.5), ("k2", "segment_mean", "zero_weight", 0, 0.25),
                                          ("ratio", "segment_max", "unmask", 0.5, 1.5)):
    fields = {"rollout_rs": reject, "rollout_rs_low": low, "rollout_rs_high": high, "rollout_rejected": rejected}
    case(f"reject-{reject}-{unit}", f"rollout_rs = {reject}, level {unit}: whole segments are rejected, the response's others stay",
         changed(RATIO, weight={**fields, "rollout_rs_level": unit.replace("segment", "sequence")}),
         {"weight": {"rollout_rs_level": unit}}, mismatch)
case("reject-unit-segments", "a rejected segment (unmask) is not in the prefix means of the tokens after it",
     on("segment_mean", changed(RATIO, weight={"rollout_rs": "k2", "rollout_rs_high": 0.25, "rollout_rejected": "unmask"})),
     {"ratio": {"level": "prefix_mean"}}, mismatch)
