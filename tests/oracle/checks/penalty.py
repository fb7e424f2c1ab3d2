"""The penalty: KL and entropy."""
import math

import objectives
from cases import case_of
from checks.tools import bare, close, flat, found


def check_penalties(check):
    def slopes(**fields):
        o, batch = case_of("penalty", "k3-against-old", penalty={"kl_coef": 1, **fields}, surrogate=bare("reinforce"),
                          advantage={"baseline": "none"}, aggregation={"kind": "token_sum"})
        batch["reward"] = [0] * len(batch["reward"])
        held_to = batch["logp_" + o["penalty"]["kl_reference"]]
        D = [[l - x for l, x in zip(*rows)] for rows in zip(batch["logp"], held_to)]
        return flat(found(o, batch)["dlogp"]), flat(D)
    for who in ("ref", "old", "rollout"):
        g, D = slopes(kl_reference=who)
        check(f"gradient of k3 against {who}", all(close(x, -math.expm1(-d)) for x, d in zip(g, D)))
        g, D = slopes(kl_reference=who, kl_importance_weight="score_function")
        check(f"with the score function, against {who}: D, as w k3 on policy", all(close(x, d) for x, d in zip(g, D)))
    g, D = slopes(kl_importance_weight="score_function", kl_importance_weight_max=0.5)
    check("a bound below 1 halves the KL and takes the score function's part",
          all(close(x, -math.expm1(-d) / 2) for x, d in zip(g, D)))
    o, batch = case_of("penalty", "kl_on-k3")
    some, none, every = (found(objectives.changed(o, penalty=p), batch)["dlogp"]
                         for p in ({}, {"kl_coef": 0}, {"kl_on": "all"}))
    check("the selected pay, the others do not", none != every and some == [[y if s else x for x, y, s in zip(*rows)]
          for rows in zip(none, every, batch["kl_mask"])])
    o, batch = case_of("penalty", "kl_importance_weight_max-token")
    free, wide = (found(objectives.changed(o, penalty={"kl_importance_weight_max": m}), batch) for m in (0, 1000))
    check("a bound that nothing reaches", free == wide != found(o, batch))
    weighed, plain = (found(objectives.changed(o, penalty={"kl": "none", "kl_importance_weight": u, "kl_importance_weight_max": 0},
                                               surrogate=bare("reinforce")), batch)["report"] for u in ("token", "none"))
    check("the weight of a KL that is not there makes no use of the ratio", weighed == plain and weighed["ratio_max"] == 1)


def check_weighted_clamp(check):
    """w k3, bounded by c: its gradient is w D below the bound and 0 above."""
    o, batch = case_of("penalty", "kl_clamp_on-token", penalty={"kl_coef": 1}, surrogate=bare("none"), ratio={"level": "token"},
                       aggregation={"kind": "token_sum"})
    most, now = o["penalty"]["kl_clamp_value"], found(o, batch)
    rows = list(zip(*(flat(batch[key]) for key in ("logp", "logp_old", "logp_ref"))))
    weighted = [math.exp(l - old) * (math.expm1(x - l) - (x - l)) for l, old, x in rows]
    check("w k3 is bounded after the weight", all(close(t, min(v, most)) for t, v in zip(flat(now["term"]), weighted)))
    check("its gradient is that of both, or none", all(close(g, math.exp(l - old) * (l - x) if v < most else 0)
                                                        for g, v, (l, old, x) in zip(flat(now["dlogp"]), weighted, rows)))
    check("some are above the bound, some below", 0 < sum(v > most for v in weighted) < len(weighted))


def check_entropy(check):
    for label in ("entropy-k3-bonus", "entropy-unmask", "entropy-seq_mean_constant", "entropy-group_mean_token_mean"):
        o, batch = case_of("penalty", label)
        expect = found(o, batch)
        coef, free = o["penalty"]["entropy_coef"], found(objectives.changed(o, penalty={"entropy_coef": 0}), batch)
        paid = math.fsum(d * h for d, h in zip(flat(expect["dentropy"]), flat(batch["entropy"])))
        check(f"the loss is linear in the entropies: {label}", close(expect["loss"], free["loss"] + paid) and paid != 0)
        check(f"and their derivatives add up to minus the coefficient, or what divides: {label}",
              close(sum(flat(expect["dentropy"])), -coef * {"entropy-seq_mean_constant": 9 / 36}.get(label, 1)
                    * {"entropy-group_mean_token_mean": 2 / 3}.get(label, 1)))
        check(f"they do not change the policy's gradient: {label}",
              expect["dlogp"] == free["dlogp"] and "dentropy" not in free)


GROUPS = (check_penalties, check_weighted_clamp, check_entropy)
