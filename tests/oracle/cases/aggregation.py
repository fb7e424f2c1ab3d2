"""The aggregation: divisors of tokens and responses."""
from cases.table import cases_of
from cases.advantage import stepped
from cases.bases import PPO
from objectives import changed, objective
from scenarios import full

case = cases_of("choices-aggregation")


# ---- aggregation

def empties(o):
    return full(o, (2, 3, 1), (3, 2, 1, 2, 4, 2), 161, mask={(1, 0), (1, 1), (4, 2), (5, 0), (5, 1)},
                reward=(1, 0, 0.5, -0.5, 1, 1))


AGGREGATED = changed(PPO, advantage={"baseline": "none"})
for kind in ("token_sum", "token_mean", "seq_mean_token_mean", "seq_mean_token_sum", "seq_mean_constant", "constant",
             "group_mean_token_mean"):
    constant = 6 if "constant" in kind else 0
    for empty in ("keep", "drop"):
        if empty == "drop" and kind in ("token_sum", "token_mean", "constant"):
            continue  # nothing to skip
        base = changed(AGGREGATED, aggregation={"kind": "token_sum" if kind != "token_sum" else "token_mean"})
        if empty == "drop":
            base = changed(AGGREGATED, aggregation={"kind": kind, "constant": constant})
        case(f"{kind}-{empty}",
             f"aggregation {kind}, empty_sequences {empty}: unequal lengths, one response and one group without counting tokens",
             base,
             {"aggregation": {"kind": kind, "constant": constant, "empty_sequences": empty}}, empties)
for constant in (0.5, 3000):
    case(f"constant-{constant}", f"the loss is the sum over all tokens divided by the constant {constant}, whatever the batch size",
         changed(AGGREGATED, aggregation={"kind": "constant", "constant": 6}),
         {"aggregation": {"constant": constant}}, empties)
for empty in ("keep", "drop"):
    for power in (0.5, 0, 1, -1, 2):
        fields = {"kind": "seq_mean_length_power", "power": power, "empty_sequences": empty}
        case(f"seq_mean_length_power-{power}-{empty}",
             f"token sums times T^({power} - 1), averaged over responses; responses without counting tokens: {empty}",
             changed(AGGREGATED, aggregation={**fields, "power": 0.25}), {"aggregation": fields}, empties)
    case(f"seq_sum_token_mean-{empty}",
         f"the token means of the responses are added up, not averaged; responses without counting tokens: {empty}", AGGREGATED,
         {"aggregation": {"kind": "seq_sum_token_mean", "empty_sequences": empty}}, empties)
case("seq_mean_length_power-skip", "token sums times T^(-1/4), averaged over those responses only that have tokens that count",
     changed(AGGREGATED, aggregation={"kind": "seq_mean_length_power", "power": 0.75}),
     {"aggregation": {"empty_sequences": "drop"}}, empties)
case("process", "step rewards with the aggregation group_mean_token_mean: every prompt weighs the same, then every token of it",
     objective("grpo-process"),
     {"aggregation": {"kind": "group_mean_token_mean"}}, stepped)
