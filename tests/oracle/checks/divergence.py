"""Given divergences: as penalty and as trust region."""
import math

import objectives
from cases import case_of
from checks.tools import active, close, flat, found
from scenarios import MINUS_INF


def coefficients(kind, batch):
    """c of every active token, by response."""
    tokens = dict(active(batch))
    n, count = len(batch["length"]), sum(map(len, tokens.values()))
    groups = len(set(batch["group"]))
    of_group = [sum(len(tokens[i]) for i, h in enumerate(batch["group"]) if h == g) for g in range(groups)]
    of = {"token_sum": lambda i: 1, "token_mean": lambda i: 1 / count, "seq_mean_token_mean": lambda i: 1 / (n * len(tokens[i])),
          "seq_mean_constant": lambda i: 1 / (6 * n), "group_mean_token_mean": lambda i: 1 / (groups * of_group[batch["group"][i]])}
    return {(i, t): of[kind](i) for i, ts in tokens.items() for t in ts}


def check_paid(check):
    """The loss is linear in the given divergence, with the coefficient of the aggregation; this KL does not depend on l."""
    for kind in ("token_sum", "token_mean", "seq_mean_token_mean", "seq_mean_constant", "group_mean_token_mean"):
        o, batch = case_of("divergence", f"kl-{kind}")
        now, free = found(o, batch), found(objectives.changed(o, penalty={"kl": "none"}), batch)
        c = coefficients(kind, batch)
        paid = math.fsum(0.5 * c[i, t] * batch["divergence_ref"][i][t] for i, t in c)
        check(f"what is paid: {kind}", paid > 0 and close(now["loss"], free["loss"] + paid) and close(now["report"]["penalty_loss"], paid))
        check(f"its derivative: {kind}", all(close(x, 0.5 * c.get((i, t), 0)) for i, row in enumerate(now["ddivergence_ref"])
                                             for t, x in enumerate(row)) and "ddivergence_ref" not in free)
        check(f"nothing goes to the log-probabilities: {kind}", now["dlogp"] == free["dlogp"])
    o, batch = case_of("divergence", "kl-selected")
    pays = found(o, batch)["ddivergence_ref"]
    tokens = dict(active(batch))
    check("only the selected pay", all((x != 0) == (t in tokens[i] and batch["kl_mask"][i][t]) for i, row in enumerate(pays)
                                       for t, x in enumerate(row)))
    weighted, batch = case_of("divergence", "kl-weighted")
    plain = found(objectives.changed(weighted, weight={"external": "policy"}), batch)["ddivergence_ref"]
    check("a weight of the term is one of the divergence", all(close(x, y * w) for x, y, w in zip(
        *map(flat, (found(weighted, batch)["ddivergence_ref"], plain, batch["external_weight"])))))
    o, batch = case_of("divergence", "kl-for-k3")
    check("the report's KL is that of the log-probabilities", found(o, batch)["report"]["kl_k3"]
          == found(objectives.changed(o, penalty={"kl": "k3"}), batch)["report"]["kl_k3"] != 0)


def is_dropped(A, w, D, low, high):
    return A > 0 and w > 1 and D > high or A < 0 and w < 1 and D > low


def check_trusted(check):
    for label in ("trust-token", "trust-low", "trust-high", "trust-zero", "trust-rollout"):
        o, batch = case_of("divergence", label, penalty={"kl": "none", "kl_coef": 0}, aggregation={"kind": "token_sum"})
        against = flat(batch["logp_" + o["ratio"]["behaviour"]])
        some, low, high = found(o, batch), o["weight"]["trust_low"], o["weight"]["trust_high"]
        ratios = [math.exp(l - x) for l, x in zip(flat(batch["logp"]), against)]
        rows = list(zip(flat(batch["advantage"]), ratios, flat(batch["divergence_old"])))
        gone = [is_dropped(*row, low, high) for row in rows]
        check(f"by hand: {label}", all(close(x, 0 if g else -A * w) for x, g, (A, w, _) in zip(flat(some["dlogp"]), gone, rows)))
        check(f"some are dropped for either sign: {label}", {A > 0 for g, (A, _, _) in zip(gone, rows) if g} == {True, False})
        check(f"and count as clips: {label}", close(some["report"]["clip_fraction"], sum(gone) / len(gone)))
    o, batch = case_of("divergence", "trust-token")
    free = found(objectives.changed(o, weight={"trust": "none"}), batch)
    check("without bounds none is", found(objectives.changed(o, weight={"trust_low": "Infinity", "trust_high": "Infinity"}), batch) == free)
    nearer = [[min(x, 0.25) for x in row] for row in batch["divergence_old"]]
    check("at a bound none is", found(objectives.changed(o, weight={"trust_low": 0.25}), {**batch, "divergence_old": nearer}) == free)
    far = [[1] * T for T in batch["length"]]
    one = found(objectives.changed(o, weight={"trust_low": 0, "trust_high": 0}), {**batch, "divergence_old": far})
    check("of steps that are all far it is the one-sided trust without a margin",
          one == found(objectives.changed(o, weight={"trust": "one_sided", "trust_low": 0, "trust_high": 0}), batch) != free)
    o, batch = case_of("divergence", "trust-far-800-ratio")
    lost = [(i, t) for i, row in enumerate(batch["divergence_old"]) for t, D in enumerate(row) if D > 0.5]
    expect = found(o, batch)
    check("an infinite ratio that is dropped adds 0", lost and batch["logp_old"][0][0] == MINUS_INF and expect["term"][0][0] == 0)
    check("and one that is kept all of it", expect["loss"] == math.inf)


GROUPS = (check_paid, check_trusted)
