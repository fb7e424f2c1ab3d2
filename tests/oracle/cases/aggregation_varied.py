"""The aggregation: tokens of groups whose rewards are apart."""
from cases.table import cases_of
from cases.bases import only
from objectives import changed, plain


case = cases_of("choices-found", 2)

SCORE = changed(plain(), aggregation={"kind": "token_mean"})


# ---- the divisor

K3 = changed(SCORE, advantage={"baseline": "group_mean"}, penalty={"kl": "k3", "kl_coef": 0.25})
VARIED = {"aggregation": {"kind": "token_mean_varied"}}
# apart by 1, by 2^-20 (which is less than 1e-6), by 2^-19, not at all; the response that differs may have no token that counts
ranges = only((2, 2, 2, 1), 921, ((0.25, -0.5), (0.5,), (0.125,), (-0.25, 0.75), (1, 0), (0.5, 0.25), (0.5,)),
              reward=(1, 0, 0.5, 0.5 + 2 ** -20, 1, 1 + 2 ** -19, 2), mask={(1, 0), (4, 1)})
alike = only((2, 1), 922, ((0.25, -0.5), (0.5,), (-0.25,)), reward=(0.5, 0.5, 1))
case("token_mean_varied", "tokens of groups of equal rewards are not in the divisor, their penalties are divided all the same", K3, VARIED,
     ranges)
case("token_mean_varied-none", "no group varies: 1 divides", K3, VARIED, alike)
case("token_mean_varied-given", "rewards decide, not the advantages that are given",
     changed(SCORE, aggregation={"kind": "token_mean_by_sign"}), VARIED,
     only((2, 2), 923, ((0.25, -0.5), (0.5,), (-0.25,), (0,)), ((0, 0), (0,), (1,), (-0.5,)), reward=(1, 0, 0.25, 0.25)))
