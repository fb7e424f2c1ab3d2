"""The advantage at tokens: shaping by entropy, token baselines, entropy shares."""
import itertools
import math
import statistics

from checks.rewards import R, SIZES, batch_of, scores, tokens
from checks.tools import flat, near

H = [[0.5, 2, 0.125], [1, 0.25, 3], [0.25, 0.5, 1], [1, 1, 0.5]]


def check_shaping(check):
    a = scores(R, SIZES, baseline="group_mean", reweight="exponential", reweight_temperature=0.5)
    check("e^(a/tau)", near(a, [x * math.exp(x / 0.5) for x in scores(R, SIZES, baseline="group_mean")]))
    lengths = (1, 2, 3, 4, 5, 1, 2, 3, 4)
    a = flat(tokens(batch_of(R, SIZES, lengths), baseline="group_mean", batch_norm="tokens"))
    check("over the tokens: mean 0, variance 1", abs(sum(a)) < 1e-12 and abs(sum(x * x for x in a) - len(a) + 1) < 1e-12)
    norm = dict(baseline="group_mean", scale="group_std")
    check("one token each: over the responses",
          scores(R, SIZES, batch_norm="tokens", **norm) == scores(R, SIZES, batch_norm="items", **norm))
    mixed = batch_of((1, 0, 0.5, 0), (4,), (3,) * 4, entropy=H)
    plain, mean_H = tokens(mixed, baseline="group_mean"), statistics.mean(flat(H))
    for beta in (0, 0.4, 3, -1):
        a = tokens(mixed, baseline="group_mean", entropy="relative", entropy_coef=beta)
        check(f"relative entropy by hand: {beta}",
              near(flat(a), [x * max(0, 1 + beta * (h / mean_H - 1)) for x, h in zip(flat(plain), flat(H))]))
    gaps = batch_of(R, SIZES, logp_rollout=[[-1 - i / 8] for i in range(9)], logp_ref=[[-2 + i * i / 16] for i in range(9)])
    D = [1 - i / 8 - i * i / 16 for i in range(9)]
    a = flat(tokens(gaps, kl_centred_coef=0.5))
    check("the centred KL by hand", near(a, [r + 0.5 * (statistics.mean(D) - d) for r, d in zip(R, D)]))
    check("it adds nothing in all", abs(sum(a) - sum(R)) < 1e-14)
    chosen = batch_of(R, SIZES, marked=[[i % 2 == 0] for i in range(9)])
    check("fixed", flat(tokens(chosen, marked="fixed", marked_value=-5)) == [-5 if i % 2 == 0 else r for i, r in enumerate(R)])
    check("boost", near(flat(tokens(chosen, marked="boost", marked_value=0.2)),
                        [r + 0.2 * abs(r) if i % 2 == 0 else r for i, r in enumerate(R)]))


def check_optimal(check):
    rewards, lengths = (1, 0, 0.5, 0.25), (3, 2, 3, 1)
    old = [[-0.5 - (i + 2 * t) % 3 for t in range(T)] for i, T in enumerate(lengths)]
    squares = [[0.75 - 0.125 * ((i + t) % 3) for t in range(T)] for i, T in enumerate(lengths)]
    batch = batch_of(rewards, (4,), lengths, logp_old=old, sum_pi_squared=squares)
    a = tokens(batch, token_baseline="optimal")
    e = [[1 - 2 * math.exp(o) + s for o, s in zip(*rows)] for rows in zip(old, squares)]
    W = [list(itertools.accumulate(row)) for row in e]
    for t in range(3):
        here = [i for i in range(4) if t < lengths[i]]
        b = sum(rewards[i] * W[i][t] for i in here) / sum(W[i][t] for i in here)
        check(f"OTB by hand: {t}", near([a[i][t] for i in here], [rewards[i] - b for i in here]))
    same = {**batch, "logp_old": [[-1] * T for T in lengths], "sum_pi_squared": [[0.5] * T for T in lengths]}
    a = tokens(same, token_baseline="optimal")
    check("where all have the same at stake it is the mean", near([row[0] for row in a], scores(rewards, (4,), baseline="group_mean")))
    check("the only one left has nothing", tokens({**same, "length": [3, 2, 2, 1], **{
        key: [row[:T] for row, T in zip(same[key], (3, 2, 2, 1))] for key in ("logp", "logp_old", "sum_pi_squared")}},
        token_baseline="optimal")[0][2] == 0)
    alone = {**batch, "length": [3, 2, 2, 1], **{key: [row[:T] for row, T in zip(batch[key], (3, 2, 2, 1))] for key in ("logp", "logp_old",
             "sum_pi_squared")}}
    shared, all_of_them = (tokens(alone, token_baseline=x) for x in ("optimal_shared", "optimal"))
    check("or keeps its reward, where a baseline takes two", shared[0][2] == 1 and all_of_them[0][2] == 0)
    check("and nothing else changes", shared[0][:2] + shared[1:] == all_of_them[0][:2] + all_of_them[1:])


def check_shares(check):
    rewards, c, e = (1, 0.5, 0, -1, 1), 0.5, 0.125
    entropy = [[0.5, 2, 0.125], [1, 0.25], [0.25, 0.5, 1], [1, 1.5], [3]]
    batch = batch_of(rewards, (5,), [len(h) for h in entropy], entropy=entropy)
    a = tokens(batch, credit="entropy_share", entropy_share_coef=c, entropy_share_eps=e, std="population")
    for right in (True, False):
        side = [i for i, r in enumerate(rewards) if (r > 0) == right]
        u = {}
        for i in side:
            for t, h in enumerate(entropy[i]):
                peers = [entropy[k][t] for k in side if t < len(entropy[k])]
                if right:
                    u[i, t] = rewards[i] + c * h / sum(peers) * len(peers)
                else:
                    u[i, t] = -1 - c / (h + e) / sum(1 / (p + e) for p in peers) * len(peers)
        m, s = statistics.mean(u.values()), statistics.pstdev(u.values())
        check(f"GTPO by hand: {right}", near([a[i][t] for i, t in u], [(x - m) / s for x in u.values()]))
    alone = tokens(batch_of((1, 0), (2,), (2, 3), entropy=[[0.5, 2], [0.1875, 0.5, 1]]), credit="entropy_share",
                   entropy_share_coef=c, entropy_share_eps=e)
    check("one of a side has all of the share everywhere: nothing", not any(flat(alone)))


GROUPS = (check_shaping, check_optimal, check_shares)
