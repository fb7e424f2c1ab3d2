"""The aggregation: means over groups, and of good tokens and the others."""
from cases.table import cases_of
from objectives import changed, plain
from scenarios import full

case = cases_of("choices-group", 2)

SCORE = changed(plain(), advantage={"baseline": "group_mean"}, aggregation={"kind": "token_mean"})


# ---- aggregation

def empties(o):
    return full(o, (2, 3, 1), (3, 2, 1, 2, 4, 2), 721, mask={(1, 0), (1, 1), (4, 2), (5, 0), (5, 1)},
                reward=(1, 0, 0.5, -0.5, 1, 1))


def signs(o):
    """Good, bad and indifferent tokens in one response; a response without good ones."""
    batch = full(o, (2, 1), (3, 2, 2), 722, mask={(2, 0)})
    batch["advantage"] = [[1, -0.5, 0], [-0.25, -1], [2, 0.5]]
    return batch


K3 = changed(SCORE, advantage={"baseline": "none"}, penalty={"kl": "k3", "kl_coef": 0.25})
for name in ("group_mean", "group_mean_seq_mean"):
    for empty in ("count", "skip"):
        case(f"{name}-{empty}", "responses without active tokens, and a group without any",
             K3 if empty == "count" else changed(K3, aggregation={"kind": name}), {"aggregation": {"kind": name, "empty": empty}},
             empties)
BY_SIGN = {"aggregation": {"kind": "token_mean_by_sign"}}
case("by_sign", "good tokens have a mean of their own, and so have the others", K3, BY_SIGN, signs)
