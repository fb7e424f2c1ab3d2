"""The weight: normalised corrections, off-policy masks, FIPO, external weights."""
import math

from cases import case_of
from checks.ratio_segments import found
from checks.tools import active, flat, log_ratios, near


def check_norms(check):
    for label in ("norm-truncate-token-zero_weight", "norm-truncate-segment_mean-zero_weight", "norm-truncate-sequence_sum-zero_weight"):
        free = {"rollout_is_low": 0, "rollout_is_high": "Infinity"}
        o, batch = case_of("factors", label, weight=free)
        moved = {**batch, "logp_rollout": [[x - 0.5 for x in row] for row in batch["logp_rollout"]]}  # two tokens of each count
        check(f"a factor of every weight does not matter: {label}", near(flat(found(o, moved)["dlogp"]), flat(found(o, batch)["dlogp"])))
    o, batch = case_of("factors", "norm-truncate-token-zero_weight", aggregation={"kind": "token_sum"})
    raw, now = found(o, batch, weight={"rollout_is_norm": "none"}), found(o, batch)
    check("every term is divided by the mean weight",
          near([x * raw["report"]["rollout_is_mean"] for x in flat(now["term"])], flat(raw["term"]))
          and now["report"] == {**raw["report"], "policy_loss": now["report"]["policy_loss"]})
    o, batch = case_of("factors", "norm-truncate-sequence_sum-zero_weight")
    raw, now = found(o, batch, weight={"rollout_is_norm": "none"}), found(o, batch)
    v = [min(max(math.exp(math.fsum(q[t] for t in places)), 0.5), 1.5)
         for (i, places), q in zip(active(batch), log_ratios(batch, "logp_old", "logp_rollout"))]
    check("of responses the mean is over responses", near([x * sum(v) / 3 for x in flat(now["term"])], flat(raw["term"])))
    for unit in ("token", "sequence_sum", "segment_mean"):
        o, batch = case_of("factors", f"norm-infinite-{unit}")
        far = {**batch, "logp_rollout": [[-400 if x == "-Infinity" else x for x in row] for row in batch["logp_rollout"]]}
        check(f"an infinite weight over the mean is the limit of large ones: {unit}",
              near(flat(found(o, far)["term"] + found(o, far)["dlogp"]), flat(found(o, batch)["term"] + found(o, batch)["dlogp"])))
    o, batch = case_of("factors", "norm-zero")
    check("weights that are all 0 stay 0", found(o, batch)["report"]["policy_loss"] == 0 != found(o, batch)["loss"])


def check_drops(check):
    o, batch = case_of("factors", "exp_abs-token")
    band = found(o, batch, weight={"rollout_rs": "ratio", "rollout_rs_low": 0.5, "rollout_rs_high": 2})
    check("exp_abs of a token is a band of its ratio", found(o, batch) == band and band["report"]["rejected_tokens"] > 0)

    o, batch = case_of("factors", "k3_reverse-token")
    other = {**batch, "logp_old": batch["logp_rollout"], "logp_rollout": batch["logp_old"]}
    check("k3 the other way round", found(o, batch)["report"]["rejected_tokens"]
          == found(o, other, weight={"rollout_rs": "k3"})["report"]["rejected_tokens"] > 0)
    o, batch = case_of("factors", "binary_kl_max-token")
    worst = [max(sum(x * math.log(x / y) for x, y in pairs) for pairs in (((p, b), (1 - p, 1 - b)), ((b, p), (1 - b, 1 - p))))
             for i, places in active(batch) for t in places
             for p, b in [(math.exp(batch["logp_old"][i][t]), math.exp(batch["logp_rollout"][i][t]))]]
    check("the larger divergence by hand", 0 < sum(x > o["weight"]["rollout_rs_high"] for x in worst)
          == found(o, batch)["report"]["rejected_tokens"])

    o, batch = case_of("factors", "binary_kl_max-one_way")
    check("either divergence rejects, their sum does not", found(o, batch)["report"]["rejected_tokens"] == 2)

    o, batch = case_of("factors", "total_variation", aggregation={"kind": "token_sum"})
    limit, dropped = o["weight"]["off_policy_mask_threshold"], 0
    now, q, d = found(o, batch), log_ratios(batch, "logp_old", "logp_rollout"), log_ratios(batch)
    for i, places in active(batch):
        far = sum(abs(math.expm1(q[i][t])) for t in places) / len(places) > limit
        for t in places:
            a = batch["advantage"][i][t]
            gone = far and q[i][t] * a > 0
            dropped += gone
            check("VACO by hand", near([now["term"][i][t]], [0 if gone else -a * math.exp(d[i][t])]))
    tokens = now["report"]["tokens"]
    check("what is dropped is counted as clipped", 0 < dropped < tokens and near([now["report"]["clip_fraction"]], [dropped / tokens]))

    o, batch = case_of("factors", "ring")
    low, high = o["weight"]["trust_low"], o["weight"]["trust_high"]
    two, one, now = (found(o, batch, weight={"trust": trust}) for trust in ("two_sided", "one_sided", "ring"))
    beyond = found(o, batch, weight={"rec_outer_low": "Infinity", "rec_outer_high": "Infinity"})
    check("a second ring beyond everything: the first alone", beyond == two != now)
    check("a second ring that begins where the first ends: one-sided trust",
          found(o, batch, weight={"rec_outer_low": low, "rec_outer_high": high}) == one != now)


def check_future(check):
    o, batch = case_of("factors", "future", aggregation={"kind": "token_sum"})
    choice, d, now = o["weight"], log_ratios(batch), found(o, batch)
    g = 2 ** (-1 / choice["fipo_half_life"])
    for i, places in active(batch):
        for t in places:
            F = math.fsum(g ** (k - t) * d[i][k] for k in places if k >= t)
            f = min(max(math.exp(F), choice["fipo_low"]), choice["fipo_high"])
            check("FIPO by hand", near([now["term"][i][t]], [-batch["advantage"][i][t] * math.exp(d[i][t]) * f])
                  and near([now["dlogp"][i][t]], [now["term"][i][t]]))
    free = {"fipo_low": 0, "fipo_high": "Infinity", "fipo_half_life": 2 ** -10}
    alone = found(o, batch, weight=free)
    plain = found(o, batch, weight={"fipo": "none"})
    check("no memory: the ratio itself", near(flat(alone["term"]), [x * math.exp(y) for x, y in zip(flat(plain["term"]), flat(d))]))
    check("a bound of 1 on both sides is none", found(o, batch, weight={"fipo_low": 1, "fipo_high": 1}) == plain)
    check("nothing within a bound that every ratio exceeds: none",
          found(o, batch, weight={"fipo_ratio_max": 2 ** -20, "fipo_low": 0.5}) == plain)


def check_given(check):
    o, batch = case_of("factors", "given-policy", penalty={"entropy_coef": 0})
    ones = {**batch, "external_weight": [[1] * T for T in batch["length"]]}
    free = found(o, batch, weight={"external": "none"})
    check("weights of 1 are none", all(found(o, ones, weight={"external": what}) == free for what in ("policy", "term")))
    scaled = [[a * w for a, w in zip(*rows)] for rows in zip(batch["advantage"], given_ones(batch))]
    now = found(o, batch)
    other = found(o, {**batch, "advantage": scaled}, weight={"external": "none"})
    check("weights of the policy's part are factors of its advantages", now["dlogp"] == other["dlogp"] and now["loss"] == other["loss"])
    term = found(o, batch, weight={"external": "term"})
    check("weights of everything are factors of every term",
          near(flat(term["term"]), [x * w for x, w in zip(flat(free["term"]), flat(given_ones(batch)))])
          and near(flat(term["dlogp"]), [x * w for x, w in zip(flat(free["dlogp"]), flat(given_ones(batch)))]))


def given_ones(batch):
    """The weights, 1 where the mask is false."""
    mask = batch["mask"]
    return [[w if counts else 1 for w, counts in zip(*rows)] for rows in zip(batch["external_weight"], mask)]


GROUPS = (check_norms, check_drops, check_future, check_given)
