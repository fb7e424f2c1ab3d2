"""Only selected tokens: the same numbers as masking the others by hand, and equation 6 of 2506.01939."""
import math

import objectives
import scenarios
from cases import CASES, case_of
from checks.tools import close, found, near, preset_batches

FILE = "choices-selected"
OF_ADVANTAGES = ("advantage", "dynamic_sampling_mask")
POOLS = ("sequence", "segment")


def of_all(o):
    return objectives.changed(o, weight={"selected": "all"})


def selected_alone(batch, also=lambda i, t: True):
    """The batch with a mask without the tokens that are not selected, or not in `also`."""
    mask = batch.get("mask") or [[True] * T for T in batch["length"]]
    both = [[m and s and also(i, t) for t, (m, s) in enumerate(zip(*rows))] for i, rows in enumerate(zip(mask, batch["selected"]))]
    return {**batch, "mask": both}


def pools(o):
    """Does a correction or a rejection depend on other tokens than its own?"""
    w = o["weight"]
    wide = [w[field] != "none" and w[field + "_level"].startswith(POOLS) for field in ("rollout_is", "rollout_rs")]
    return w["rollout_veto"] != 0 or any(wide)


def batches():
    """(label, objective with `only`, its batch, with the advantages that it has or that are made from all tokens)"""
    for file, label, _, base, changes, make in CASES:
        o = objectives.changed(base, **changes)
        if file == FILE and o["weight"]["selected"] == "only":
            batch = scenarios.finish(o, make(o))
            yield label, o, batch if "advantage" in batch else {**batch, "advantage": found(o, batch)["advantage"]}


def check_masked_by_hand(check):
    seen = 0
    for label, o, batch in batches():
        if pools(o):
            continue
        seen += 1
        a, b = found(o, batch), found(of_all(o), selected_alone(batch))
        check(f"as masked by hand: {label}", {k: x for k, x in a.items() if k not in OF_ADVANTAGES}
              == {k: x for k, x in b.items() if k not in OF_ADVANTAGES})
    check("most cases can be masked by hand", seen > 60)


def check_advantages(check):
    for label in ("whiten", "norm", "length_weighted", "gae"):
        o, batch = case_of("selected", f"advantage-{label}")
        a = found(o, batch)["advantage"]
        check(f"advantages are those of all tokens: {label}", a == found(of_all(o), batch)["advantage"]
              and a != found(of_all(o), selected_alone(batch))["advantage"])


def check_pooled(check):
    """The same tokens are rejected as without a selection; the tokens not selected are as if masked; the report counts selected ones."""
    for label, o, batch in batches():
        w = o["weight"]
        if not pools(o) or w["rollout_is"] in ("truncate", "mask"):
            continue
        stay = found(objectives.changed(of_all(o), weight={"rollout_rejected": "unmask"}), batch)["term"]  # stay active
        by_hand = objectives.changed(of_all(o), weight={"rollout_is": "none", "rollout_rs": "none", "rollout_veto": 0})
        some, report = found(o, batch), found(o, batch)["report"]
        rejected = sum(m and s and x == 0 for rows in zip(batch["mask"], batch["selected"], stay) for m, s, x in zip(*rows))
        check(f"the selected that are rejected are counted: {label}", report["rejected_tokens"] == rejected)
        if w["rollout_rejected"] == "unmask":
            other = found(by_hand, selected_alone(batch, lambda i, t: stay[i][t] != 0))
        else:
            weight = {**batch, "external_weight": [[float(x != 0) for x in row] for row in stay]}
            other = found(objectives.changed(by_hand, weight={"external": "policy"}), selected_alone(weight))
        check(f"rejected by every token of the response: {label}",
              all(some[key] == other[key] for key in ("loss", "term", "dlogp", "dentropy")))


def check_weights(check):
    """The weight of a response is computed from all its tokens."""
    for unit, pooled in (("sum", math.fsum), ("mean", lambda q: math.fsum(q) / len(q))):
        o, batch = case_of("selected", f"truncate-sequence_{unit}-zero_weight")
        low, high = o["weight"]["rollout_is_low"], o["weight"]["rollout_is_high"]
        plain = found(objectives.changed(o, weight={"rollout_is": "none"}, penalty={"kl": "none", "entropy_coef": 0}), batch)["term"]
        some = found(objectives.changed(o, penalty={"kl": "none", "entropy_coef": 0}), batch)["term"]
        for i, mask in enumerate(batch["mask"]):
            q = [x - y for x, y, m in zip(batch["logp_old"][i], batch["logp_rollout"][i], mask) if m]
            v = min(max(math.exp(pooled(q)), low), high)
            check(f"the weight of a response by hand: {unit} {i}", near(some[i], [v * x for x in plain[i]]))


def check_equation(check):
    """2506.01939 eq. 6, sums of plain numbers: of each prompt the mean over the tokens with I = 1, then the mean over prompts."""
    for label, o, batch in preset_batches("high-entropy", ("ragged", "signs", "holes", "square")):
        expect = found(o, batch)
        given = batch.get("advantage") or expect["advantage"]
        mask = batch.get("mask") or [[True] * T for T in batch["length"]]
        sums, counts = {}, {}
        for i, g in enumerate(batch["group"]):
            sums.setdefault(g, []), counts.setdefault(g, 0)
            for l, old, a, m, chosen in zip(batch["logp"][i], batch["logp_old"][i], given[i], mask[i], batch["selected"][i]):
                if m and chosen:
                    r = math.exp(l - old)
                    sums[g].append(-min(r * a, min(max(r, 0.8), 1.28) * a))
                    counts[g] += 1
        by_hand = [math.fsum(sums[g]) / counts[g] if counts[g] else 0 for g in sums]
        check(f"equation 6 by hand: {label}", close(expect["loss"], math.fsum(by_hand) / len(by_hand), 1e-12))
        kept = found(objectives.changed(o, weight={"selected": "keep"}, aggregation={"kind": "token_mean"}), batch)
        only = found(objectives.changed(o, aggregation={"kind": "token_mean"}), batch)
        check(f"keep divides by all tokens: {label}", close(kept["loss"] * kept["report"]["tokens"],
              only["loss"] * only["report"]["tokens"]) and kept["report"]["tokens"] > only["report"]["tokens"])


GROUPS = (check_masked_by_hand, check_advantages, check_pooled, check_weights, check_equation)
