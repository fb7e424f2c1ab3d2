"""The weight: trust, off-policy responses, rejection."""
import math

import objectives
from cases import case_of
from checks.tools import bare, close, flat, found, on_levels


def check_trust(check):
    clip = {"eps_low": 0.2, "eps_high": 0.25}
    ppo, tokens = on_levels(bare("ppo_clip", **clip))
    one, _ = on_levels(bare("ratio"), weight={"trust": "one_sided", "trust_low": 0.2, "trust_high": 0.25})
    check("one-sided trust is the clip's gradient", one["dlogp"] == ppo["dlogp"] and one["loss"] != ppo["loss"])
    check("and its clip fractions", all(one["report"][k] == ppo["report"][k] > 0 for k in ("clip_fraction_low", "clip_fraction_high")))
    c = 0.515625  # between the levels
    log, _ = on_levels(bare("ratio"), weight={"trust": "log_two_sided", "trust_low": c, "trust_high": c})
    k2, _ = on_levels(bare("ratio"), weight={"trust": "k2", "trust_high": c * c / 2})
    two, _ = on_levels(bare("ratio"),
                       weight={"trust": "two_sided", "trust_low": 1 - math.exp(-c), "trust_high": math.expm1(c)})
    check("three ways to say the same of a token's ratio", log == k2 == two and log["report"]["clip_fraction"] > 0)
    for trust, drops in (("probability", lambda A, p, q: A > 0 and p - q > 0.03 or A < 0 and q - p > 0.2),
                         ("probability_both", lambda A, p, q: abs(p - q) > 0.03),
                         ("binary_kl", lambda A, p, q: (A > 0 and p > q and bernoulli(q, p) > 0.03
                                                        or A < 0 and p < q and bernoulli(q, p) > 0.2))):
        some, tokens = on_levels(bare("ratio"), weight={"trust": trust, "trust_low": 0.2, "trust_high": 0.03})
        gone = [drops(A, math.exp(l), math.exp(o)) for A, l, o in tokens]
        check(f"{trust} by hand", all(close(x, 0 if g else -A * math.exp(l - o))
              for x, g, (A, l, o) in zip(flat(some["dlogp"]), gone, tokens)) and len(set(gone)) == 2)
        check(f"{trust} counts as clips", close(some["report"]["clip_fraction"],
              sum(g and A != 0 for g, (A, _, _) in zip(gone, tokens)) / len(tokens)))
    free, _ = on_levels(bare("ratio"))
    for trust in ("one_sided", "two_sided", "log_two_sided", "probability", "probability_both", "binary_kl", "k2"):
        check(f"{trust} without limits is none", on_levels(bare("ratio"), weight={"trust": trust, "trust_low": math.inf,
              "trust_high": math.inf})[0] == free)


def bernoulli(q, p):
    return q * math.log(q / p) + (1 - q) * math.log((1 - q) / (1 - p))


def check_off_policy(check):
    o, batch = case_of("weight", "off_policy-old-ratio", penalty={"kl": "none", "kl_coef": 0},
                      aggregation={"kind": "token_sum"})
    some = found(o, batch)
    for i, row in enumerate(some["dlogp"]):
        active = [t for t, m in enumerate(batch["mask"][i]) if m]
        d = {t: batch["logp"][i][t] - batch["logp_old"][i][t] for t in active}
        left = -sum(d.values()) / len(d) > 0.25
        check("off-policy masking by hand", all(close(row[t], 0 if left and batch["advantage"][i][t] < 0 else
              -batch["advantage"][i][t] * math.exp(d[t])) for t in active))
    check("some responses were left, some not", 0 < some["report"]["clip_fraction_low"] < 0.5)
    none = found(objectives.changed(o, weight={"off_policy_mask_threshold": "Infinity"}), batch)
    every = found(objectives.changed(o, weight={"off_policy_mask_threshold": "-Infinity"}), batch)
    good = [[max(a, 0) for a in row] for row in batch["advantage"]]
    check("without a limit nothing is dropped, with none every bad token is",
          none["dlogp"] == found(objectives.changed(o, weight={"off_policy_mask": "none"}), batch)["dlogp"] != some["dlogp"]
          and every["dlogp"] == found(objectives.changed(o, weight={"off_policy_mask": "none"}),
                                      {**batch, "advantage": good})["dlogp"])
    keep, batch = case_of("weight", "selected-keep-token")
    turned = [[not x for x in row] for row in batch["selected"]]
    drop = found(objectives.changed(keep, weight={"selected": "drop"}), {**batch, "selected": turned})
    check("to keep some is to drop the others", found(keep, batch) == drop)


def check_rejection(check):
    for unit in ("token", "sequence_sum", "sequence_mean"):
        for rejected in ("zero_weight", "unmask"):
            o, batch = case_of("weight", f"reject-{unit}-{rejected}")
            low, high = o["weight"]["rollout_is_low"], o["weight"]["rollout_is_high"]
            other = objectives.changed(o, weight={"rollout_is": "none", "rollout_rs": "ratio", "rollout_rs_level": unit,
                                                  "rollout_rs_low": low, "rollout_rs_high": high})
            a, b = found(o, batch), found(other, batch)
            check(f"two ways to reject by the ratio of a {unit}: {rejected}",
                  a == b and a["report"]["rejected_tokens"] > 0)
    o, batch = case_of("weight", "reject-k2-token-unmask")
    c = math.sqrt(2 * o["weight"]["rollout_rs_high"])
    other = objectives.changed(o, weight={"rollout_rs": "ratio", "rollout_rs_low": math.exp(-c), "rollout_rs_high": math.exp(c)})
    check("k2 of a token is a band of its ratio", found(o, batch) == found(other, batch))
    top, batch = case_of("weight", "reject-k3-sequence_max-unmask", weight={"rollout_rs_high": 0.3})
    for row_o, row_b, row in zip(batch["logp_old"], batch["logp_rollout"], found(top, batch)["term"]):
        worst = max(math.expm1(o - b) - (o - b) for o, b in zip(row_o, row_b))
        check("the largest k3 of a response decides", any(row) == (worst <= 0.3))
    o, batch = case_of("weight", "veto-none-unmask")
    for row_o, row_b, row in zip(batch["logp_old"], batch["logp_rollout"], found(o, batch)["term"]):
        check("one token vetoes the response", any(row) == all(math.exp(o - b) >= 0.25 for o, b in zip(row_o, row_b)))
    for rejected, penalised in (("zero_weight", True), ("unmask", False)):
        report = found(*case_of("weight", f"reject-all-{rejected}"))["report"]
        check(f"everything rejected: {rejected}",
              report["policy_loss"] == 0 and (report["penalty_loss"] != 0) == penalised
              and report["rejected_tokens"] == 10 and report["tokens"] == (10 if penalised else 0))


GROUPS = (check_trust, check_off_policy, check_rejection)
