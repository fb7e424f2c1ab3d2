"""The aggregation: means of responses by how they begin."""
from cases.table import cases_of
from cases.surrogate_logistic import LOGISTIC
from objectives import changed
from scenarios import full

case = cases_of("choices-scores", 3)


# ---- aggregation

def signed(o):
    """Two responses that begin well and one that does not; tokens of the other sign inside, and masked ones at the start."""
    batch = full(o, (2, 2), (3, 2, 2, 2), 1031, mask={(0, 0), (3, 0), (3, 1)})
    batch["advantage"] = [[-1, 1, -0.5], [0, 1], [0.5, -0.25], [1, 1]]
    return batch


BY_SIGN = changed(LOGISTIC, penalty={"kl": "k3", "kl_coef": 0.25}, aggregation={"kind": "token_mean_by_sign"})
case("seq_mean_by_sign", "responses that begin well have a mean of their own, and so have the others", BY_SIGN,
     {"aggregation": {"kind": "seq_mean_by_sign"}}, signed)
case("seq_mean_by_sign-all", "no response begins badly", BY_SIGN,
     {"aggregation": {"kind": "seq_mean_by_sign"}}, lambda o: {**signed(o), "advantage": [[1] * 3, [0.5, -1], [2, 0], [1, 1]]})
