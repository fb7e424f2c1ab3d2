"""The aggregation: powers of the length, means over groups, means by sign, groups whose rewards vary."""
import math

import objectives
from cases import case_of
from checks.groups import A, LENGTHS, answers, batch_of
from checks.tools import close, flat, found, near
from evaluate import evaluate
from objectives import changed, plain


def check_varied(check):
    o, batch = case_of("aggregation-groups", "token_mean_nonzero_std")
    free = changed(o, penalty={"kl": "none", "kl_coef": 0})
    found, mean = evaluate(free, batch)[0], evaluate(changed(free, aggregation={"kind": "token_mean"}), batch)[0]
    check("5 of 9 tokens are in groups that vary", near([x * 5 for x in flat(found["dlogp"])], [x * 9 for x in flat(mean["dlogp"])]))
    kept = [i for i, g in enumerate(batch["group"]) if g in (0, 2)]
    left = {key: [batch[key][i] for i in kept] for key in batch if len(batch[key]) == len(batch["group"]) and key != "group"}
    alone = evaluate(changed(free, aggregation={"kind": "token_mean"}), {**left, "group": [0, 0, 1, 1]})[0]
    check("the batch without the others, whose advantages are small", near(flat(alone["dlogp"]), flat([found["dlogp"][i] for i in kept])))


def check_divisors(check):
    score = changed(plain(), aggregation={"kind": "token_mean"})
    for kind in ("group_mean", "group_mean_seq_mean", "seq_mean_token_mean", "seq_sum_token_mean"):
        o = changed(score, aggregation={"kind": kind})
        found, batch = answers(o), batch_of(o)
        means = [-a * math.fsum(row) / len(row) for a, row in zip(A, batch["logp"])]
        c = {"group_mean": [1 / 3] * 6, "group_mean_seq_mean": [1 / 9] * 3 + [1 / 3] + [1 / 6] * 2, "seq_mean_token_mean": [1 / 6] * 6,
             "seq_sum_token_mean": [1] * 6}[kind]
        check(f"responses weighted by their group: {kind}", near([found["loss"]], [math.fsum(x * m for x, m in zip(c, means))]))
    o = changed(score, aggregation={"kind": "token_mean_by_sign"})
    counts = {True: 2 + 3 + 1, False: 1 + 2 + 4}
    check("every sign has its own mean", near([x for row in answers(o)["dlogp"] for x in row],
          [-a / counts[a > 0] for a, T in zip(A, LENGTHS) for _ in range(T)]))
    flat = [[1] * T for T in LENGTHS]
    check("of one sign it is the mean over tokens", answers(o, advantage=flat) == answers(score, advantage=flat))


def check_by_sign(check):
    o = changed(plain(), aggregation={"kind": "seq_mean_by_sign"})
    found = answers(o)
    good_ones, others = sum(a > 0 for a in A), sum(a <= 0 for a in A)
    check("a mean of means for either side", near(flat(found["dlogp"]),
          [-a / T / (good_ones if a > 0 else others) for a, T in zip(A, LENGTHS) for _ in range(T)]))
    turned = answers(o, advantage=[[a] + [-a] * (T - 1) for a, T in zip(A, LENGTHS)])
    check("the first token says which", near([abs(x) for x in flat(turned["dlogp"])], [abs(x) for x in flat(found["dlogp"])]))
    one = [[abs(a) + 1] * T for a, T in zip(A, LENGTHS)]
    check("of one side it is the mean over responses", answers(o, advantage=one)
          == answers(changed(o, aggregation={"kind": "seq_mean_token_mean"}), advantage=one))


def check_lengths(check):
    o, batch = case_of("aggregation", "seq_mean_length_power-0.5-keep")
    for empty in ("keep", "drop"):
        for power, kind in ((0, "seq_mean_token_mean"), (1, "seq_mean_token_sum")):
            a = found(objectives.changed(o, aggregation={"power": power, "empty_sequences": empty}), batch)
            b = found(objectives.changed(o, aggregation={"kind": kind, "power": 0, "empty_sequences": empty}), batch)
            check(f"length to the power {power} is {kind}: {empty}", a == b != found(o, batch))
        means = found(objectives.changed(o, aggregation={"kind": "seq_mean_token_mean", "empty_sequences": empty}), batch)
        added = found(objectives.changed(o, aggregation={"kind": "seq_sum_token_mean", "empty_sequences": empty}), batch)
        N = {"keep": 6, "drop": 4}[empty]
        check(f"the sum of means is N times their mean: {empty}", close(added["loss"], N * means["loss"])
              and all(close(x, N * y) for x, y in zip(flat(added["dlogp"]), flat(means["dlogp"]))))


GROUPS = (check_lengths, check_divisors, check_by_sign, check_varied)
