"""A KL and an entropy with divisors of their own."""
import math

from cases import case_of
from checks.tools import active, bare, close, flat, found, near
from objectives import changed

FILE = "penalty-aggregation"
OWN = ("token_mean", "seq_mean_token_mean")


def alone(o, **penalty):
    """The objective with only the KL and the entropy."""
    return changed(o, surrogate=bare("none"), penalty=penalty)


def check_parts(check):
    """The loss is the sum of three: the rest, and the KL and the entropy, each alone with its own mean as aggregation."""
    for label in ("both", "both-crossed", "kl-token_mean-seq_mean_constant", "kl-drop",
                  "kl-responses-unmask", "kl-responses-external", "kl-responses-level", "entropy-responses-external", "kl-tokens-selected"):
        o, batch = case_of(FILE, label)
        whole, p = found(o, batch), o["penalty"]
        kinds = [o["aggregation"]["kind"] if p[field] == "terms" else p[field] for field in ("kl_aggregation", "entropy_aggregation")]
        rest = found(changed(o, penalty={"kl": "none", "entropy_coef": 0}), batch)
        kl = found(changed(alone(o, entropy_coef=0, kl_aggregation="terms"), aggregation={"kind": kinds[0]}), batch)
        bonus = found(changed(alone(o, kl="none", entropy_aggregation="terms"), aggregation={"kind": kinds[1]}), batch)
        check(f"three losses: {label}", close(whole["loss"], rest["loss"] + kl["loss"] + bonus["loss"]))
        check(f"and their gradients: {label}", near(flat(whole["dlogp"]), [x + y for x, y in zip(flat(rest["dlogp"]), flat(kl["dlogp"]))]))
        check(f"the penalty is the last two: {label}", close(whole["report"]["penalty_loss"], kl["loss"] + bonus["loss"])
              and close(whole["report"]["policy_loss"], rest["report"]["policy_loss"]))
        check(f"the entropy's derivative is its own: {label}", whole.get("dentropy") == bonus.get("dentropy"))
        plain = found(changed(o, penalty={"kl_aggregation": "terms", "entropy_aggregation": "terms"}), batch)
        check(f"terms are whole, and have no divisor: {label}", whole["term"] == plain["term"])


def check_means(check):
    """k3 by hand, a mean over tokens and a mean over responses."""
    o, batch = case_of(FILE, "kl-token_mean-seq_mean_constant")
    kept = active(batch)
    k3 = [[math.expm1(f - l) - (f - l) for l, f in zip(*rows)] for rows in zip(batch["logp"], batch["logp_ref"])]
    over_tokens = math.fsum(k3[i][t] for i, ts in kept for t in ts) / sum(len(ts) for _, ts in kept)
    means = [math.fsum(k3[i][t] for t in ts) / len(ts) for i, ts in kept if ts]
    for own, empty, value in (("token_mean", "keep", over_tokens), ("token_mean", "drop", over_tokens),
                              ("seq_mean_token_mean", "keep", math.fsum(means) / len(kept)),
                              ("seq_mean_token_mean", "drop", math.fsum(means) / len(means))):
        a = found(changed(o, penalty={"kl_aggregation": own}, aggregation={"empty_sequences": empty}), batch)
        check(f"k3 by hand: {own} {empty}", close(a["report"]["penalty_loss"], 0.5 * value))


def check_nothing(check):
    """It changes nothing without a KL or an entropy, or where it equals the aggregation of the terms."""
    o, batch = case_of(FILE, "both")
    for fields, free in (({"kl": "none"}, "kl_aggregation"), ({"kl_coef": 0}, "kl_aggregation"),
                         ({"entropy_coef": 0}, "entropy_aggregation")):
        a, b = (found(changed(o, penalty={**fields, free: own}), batch) for own in OWN)
        check(f"nothing is nothing in any mean: {fields}", a == b)
    for kind in OWN:
        a = found(changed(o, aggregation={"kind": kind}, penalty={"kl_aggregation": "terms", "entropy_aggregation": "terms"}), batch)
        check(f"its own as the terms': {kind}", a == found(changed(o, aggregation={"kind": kind}, penalty={
            "kl_aggregation": kind, "entropy_aggregation": kind}), batch))
    empty = {**batch, "mask": [[False] * T for T in batch["length"]]}
    for own in OWN:
        a = found(changed(o, penalty={"kl_aggregation": own, "entropy_aggregation": own}), empty)
        check(f"no token counts: {own}", a["loss"] == 0 and not any(flat(a["dlogp"])) and not any(flat(a["dentropy"])))


GROUPS = (check_parts, check_means, check_nothing)
