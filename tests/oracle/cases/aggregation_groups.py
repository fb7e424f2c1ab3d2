"""The aggregation: means over groups, means by the sign of tokens and of responses, groups whose rewards vary."""
from cases.bases import only
from cases.surrogate_logistic import LOGISTIC
from cases.table import cases_of
from objectives import changed, plain
from scenarios import full

# ---- over groups, and by sign of tokens

case = cases_of("choices-group", 2)
PLAIN_MEAN = changed(plain(), advantage={"baseline": "group_mean"}, aggregation={"kind": "token_mean"})


def empties(o):
    return full(o, (2, 3, 1), (3, 2, 1, 2, 4, 2), 721, mask={(1, 0), (1, 1), (4, 2), (5, 0), (5, 1)},
                reward=(1, 0, 0.5, -0.5, 1, 1))


def signs(o):
    """Tokens with A > 0, A < 0 and A = 0 in one response; a response without A > 0."""
    batch = full(o, (2, 1), (3, 2, 2), 722, mask={(2, 0)})
    batch["advantage"] = [[1, -0.5, 0], [-0.25, -1], [2, 0.5]]
    return batch


WITH_KL = changed(PLAIN_MEAN, advantage={"baseline": "none"}, penalty={"kl": "k3", "kl_coef": 0.25})
for name in ("group_mean", "group_mean_seq_mean"):
    for empty in ("keep", "drop"):
        case(f"{name}-{empty}", f"aggregation {name}, empty_sequences {empty}: responses without counting tokens, and a group of only such",
             WITH_KL if empty == "keep" else changed(WITH_KL, aggregation={"kind": name}),
             {"aggregation": {"kind": name, "empty_sequences": empty}},
             empties)
TOKENS_BY_SIGN = {"aggregation": {"kind": "token_mean_by_sign"}}
case("by_sign", "tokens with A > 0 are averaged by themselves, and so are tokens with A <= 0, the KL penalty included",
     WITH_KL, TOKENS_BY_SIGN, signs)


# ---- by the sign of the first active token

case = cases_of("choices-scores", 3)


def signed(o):
    """First active tokens with A > 0 in two responses, A < 0 in one; tokens of the other sign inside, and masked ones at the start."""
    batch = full(o, (2, 2), (3, 2, 2, 2), 1031, mask={(0, 0), (3, 0), (3, 1)})
    batch["advantage"] = [[-1, 1, -0.5], [0, 1], [0.5, -0.25], [1, 1]]
    return batch


RESPONSES_BY_SIGN = changed(LOGISTIC, penalty={"kl": "k3", "kl_coef": 0.25}, aggregation={"kind": "token_mean_by_sign"})
case("seq_mean_by_sign", "responses are averaged apart by the sign of A at their first counting token, A > 0 or A <= 0", RESPONSES_BY_SIGN,
     {"aggregation": {"kind": "seq_mean_by_sign"}}, signed)
case("seq_mean_by_sign-all", "every response begins with A > 0: one average over all of them, none over an empty set", RESPONSES_BY_SIGN,
     {"aggregation": {"kind": "seq_mean_by_sign"}}, lambda o: {**signed(o), "advantage": [[1] * 3, [0.5, -1], [2, 0], [1, 1]]})


# ---- tokens of groups whose rewards vary

case = cases_of("choices-aggregation-groups")
SCORE = changed(plain(), aggregation={"kind": "token_mean"})
K3 = changed(SCORE, advantage={"baseline": "group_mean"}, penalty={"kl": "k3", "kl_coef": 0.25})
VARIED = {"aggregation": {"kind": "token_mean_nonzero_std"}}
# differences of 1, 2^-20 (less than 1e-6), 2^-19 and 0; the response that differs may have no active token
ranges = only((2, 2, 2, 1), 921, ((0.25, -0.5), (0.5,), (0.125,), (-0.25, 0.75), (1, 0), (0.5, 0.25), (0.5,)),
              reward=(1, 0, 0.5, 0.5 + 2 ** -20, 1, 1 + 2 ** -19, 2), mask={(1, 0), (4, 1)})
alike = only((2, 1), 922, ((0.25, -0.5), (0.5,), (-0.25,)), reward=(0.5, 0.5, 1))
case("token_mean_nonzero_std",
     "only tokens of groups whose rewards vary (by more than 1e-6) count in the divisor; all tokens are in the sum", K3,
     VARIED,
     ranges)
case("token_mean_varied-none", "no group's rewards vary, so no token counts in the divisor: it is 1, not 0", K3, VARIED, alike)
case("token_mean_varied-given", "given advantages: the divisor counts tokens of groups whose rewards vary, not whose advantages do",
     changed(SCORE, aggregation={"kind": "token_mean_by_sign"}), VARIED,
     only((2, 2), 923, ((0.25, -0.5), (0.5,), (-0.25,), (0,)), ((0, 0), (0,), (1,), (-0.5,)), reward=(1, 0, 0.25, 0.25)))
