"""The aggregation: means over the segments of a response."""
from cases.table import cases_of
from cases.ratio_segments import PPO, turns
from objectives import changed

case = cases_of("choices-units", 2)


# ---- divisor

SEGMENTS = {"kind": "seq_mean_segment_mean"}


def without(o):
    """The batch with one response fully masked."""
    batch = turns(o)
    batch["mask"][2] = [False]
    return batch


case("seq_mean_segment_mean", "mean over tokens of a segment, then over segments of a response, then over responses",
     PPO, {"aggregation": SEGMENTS}, turns)
case("seq_mean_segment_mean-skip", "mean over segments, then over responses, of which one without counting tokens is left out",
     changed(PPO, aggregation=SEGMENTS),
     {"aggregation": {"empty_sequences": "drop"}}, without)
case("seq_mean_segment_mean-entropy", "KL penalty and entropy bonus are averaged over segments and responses as the policy loss is",
     changed(PPO, aggregation=SEGMENTS, penalty={"kl": "k1", "kl_coef": 0.25}), {"penalty": {"entropy_coef": 0.25}}, turns)
