"""The advantage at tokens: entropy, a teacher, bounds, lambda by length."""
from checks.rewards import R, SIZES, batch_of, scores, tokens
from checks.tools import near


def check_tokens(check):
    H = [[0.5, 2, 0.125], [1, 0, 3], [0.25, 0.5, 1], [1, 1, 0.5]]
    mixed = batch_of((1, 0, 0.5, 0), (4,), (3,) * 4, entropy=H)
    plain = tokens(mixed, baseline="group_mean")
    lifted = tokens(mixed, baseline="group_mean", entropy="bonus", entropy_coef=0.4, entropy_kappa=2)
    check("the entropy bonus by hand", near(sum(lifted, []), [a + min(0.4 * h, abs(a) / 2) for a,
                                                              h in zip(sum(plain, []), sum(H, []))]))
    check("it turns no sign", all((a > 0) == (b > 0) for a, b in zip(sum(plain, []), sum(lifted, []))))
    settled = batch_of((1, 1, 0, 0), (2, 2), (3,) * 4, entropy=H)
    a = tokens(settled, baseline="group_mean", entropy="zero_variance", entropy_coef=0.5)
    check("right answers of a settled group get their entropy", near(sum(a[:2], []), [0.5 * h for h in sum(H[:2], [])]))
    check("wrong ones nothing at their largest entropy, and less elsewhere",
          all(near(x, [0.5 * (h - max(hs)) for h in hs]) for x, hs in zip(a[2:], H[2:])))
    taught = batch_of(R, SIZES, logp_old=[[-1 - i / 8] for i in range(9)],
                      logp_teacher=[[-2 + i / 4] for i in range(9)])
    a = [row[0] for row in tokens(taught, baseline="group_mean", teacher_coef=0.5)]
    check("the teacher's share", near(a, [x + 0.5 * (-1 + 3 * i / 8) for i,
                                          x in enumerate(scores(R, SIZES, baseline="group_mean"))]))
    check("bounds", scores(R, SIZES, clamp_low=-0.5, clamp_high=0.25) == [min(max(r, -0.5), 0.25) for r in R])
    lengths = (4,) * 3
    valued = batch_of((1, 0, 0.5), (3,), lengths, value=[[0.5, -1, 0.25, 2], [1, 1, 0, -1], [0, 0.75, 2, 0.5]])
    gae = dict(credit="gae", gamma=0.5)
    check("lambda by length: 1 - 1/(alpha l)", tokens(valued, lambda_length=0.5, **gae) == tokens(valued,
                                                                                                  **{**gae,
                                                                                                     "lambda": 0.5})
          != tokens(valued, **{**gae, "lambda": 0.25}))
    check("at least 0", tokens(valued, lambda_length=0.125, **gae) == tokens(valued, **gae))


GROUPS = (check_tokens,)
