#!/usr/bin/env python3
"""Advantages and losses of ../../examples/python/verl_loss.py in verl's own update (verl 0.9.1), beside verl's own losses and the oracle.

    VENV/bin/python tests/framework_options/verl_policy_loss.py [WORDS]        VENV: that of ../conformance/frameworks.sh; only such names

Both are chosen by their names in verl's registries.  What runs is what cut_verl.py runs: verl's advantages, _update_actor, the worker, the
FSDP engine with its micro-batches and counts, ppo_loss, and FSDP2 in one process and in two; the model is a table.  Random batches are cut
in several ways.  Compared are the gradient that reaches the optimiser, and the loss, averaged over ranks,

- with the oracle's of the row for the whole mini-batch, in every cut;
- with verl's own, where verl has the objective: equal, or, where verl's depends on the cut (CUTS.md), different, which is printed.

What verl does not hand over is refused, by name.
"""
import contextlib
import io
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, os.pardir, os.pardir, "examples", "python")
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "conformance", "adapters"), os.path.join(HERE, os.pardir, "oracle")]
sys.dont_write_bytecode = True

import cut_ranks  # noqa: E402
import cut_verl  # noqa: E402
import cuts  # noqa: E402
from cut_verl import ACTOR, BY_TOKENS, CORRECTION, FILLED, KL, MEAN, MODE, NORM  # noqa: E402

NEAR, BATCHES = 2e-6, 2  # of the gradient's length: arrays go through float32
CUTS = {cut.name: cut for cut in cuts.CUTS}
UNCUT, ONE = CUTS["not cut"], CUTS["micro-batches of one response"]
SOME = [UNCUT, CUTS["four micro-batches"], CUTS["two ranks, four micro-batches each"],
        CUTS["two ranks with half of each group, four micro-batches each"], CUTS["four micro-batches, nothing counts in one of them"], ONE]
LONG = [cut for cut in SOME if cut is not SOME[4]]  # of a group of responses without tokens verl's baseline is 0/0
PASS_ON = "PASS_ON"


# ---- what is run

def scenario(row, fields=(), theirs=None, both=(), **more):
    """theirs: verl's options for the row; equal: False where verl's gradient depends on the cut; counts: False where its clip fraction is
    of something else, reports: False where its KL is too (rejected tokens leave its reports); oracle: another row's fields, or None"""
    return {"row": row, "fields": dict(fields), "theirs": theirs, "both": dict(both), "equal": True, "counts": True, "reports": True,
            "cuts": SOME, "oracle": {}, **more}


def invariant(row, fields=(), **more):
    """verl has it not"""
    return scenario(row, fields, None, **more)


FEW, IS = [SOME[1], SOME[3], SOME[4]], {CORRECTION + "rollout_is": "token", CORRECTION + "rollout_is_threshold": 1.2}
RS = {CORRECTION + "rollout_rs": "token_k3", CORRECTION + "rollout_rs_threshold": 0.01}
TRUNCATED = {"weight.rollout_is": "truncate", "weight.rollout_is_high": 1.2, "weight.rollout_clamp": 20.0}
BAND = {"weight.rollout_is": "mask", "weight.rollout_is_low": 0.8, "weight.rollout_is_high": 1.25, "weight.rollout_clamp": 20.0}
NARROW = {"weight.rollout_rs_low": 0.8, "weight.rollout_rs_high": 1.25}  # of these batches
REJECTED = {"weight.rollout_rs": "k3", "weight.rollout_rs_high": 0.01, "weight.rollout_clamp": 20.0, "weight.rollout_rejected": "unmask"}
TOKEN_MEANS = {"aggregation.kind": "seq_mean_token_mean"}
REF, OWN_KL = {ACTOR + "use_kl_loss": True, ACTOR + "kl_loss_coef": 0.0}, {"penalty.kl": "none", "penalty.kl_coef": 0.0}
SCENARIOS = [
    scenario("verl-grpo", theirs={}), scenario("verl-grpo", theirs={}, both=BY_TOKENS),
    scenario("verl-grpo", theirs={}, both={"trainer.use_v1": False}),
    scenario("verl-gspo", theirs={MODE: "gspo"}), scenario("verl-cispo", theirs={MODE: "cispo"}, counts=False),
    scenario("verl-gspo", {"aggregation.kind": "seq_mean_token_mean"}, theirs={MODE: "gspo", **MEAN}),
    scenario("verl-sapo", theirs={MODE: "sapo"}), scenario("verl-gpg", theirs={MODE: "gpg", "algorithm.adv_estimator": "gpg"}),
    scenario("verl-dppo-tv", theirs={MODE: "dppo_tv"}, counts=False), scenario("verl-dppo-kl", theirs={MODE: "dppo_kl"}),
    scenario("verl-dro", theirs={MODE: "dro", ACTOR + "policy_loss.dro_beta": 0.05}),
    scenario("verl-rloo", theirs={"algorithm.adv_estimator": "rloo"}),
    scenario("verl-opo", theirs={"algorithm.adv_estimator": "opo"}, cuts=LONG),
    scenario("verl-reinforce++", theirs={"algorithm.adv_estimator": "reinforce_plus_plus"}),
    scenario("verl-passk", theirs={"algorithm.adv_estimator": "grpo_passk"}, cuts=SOME[1:]),      # uncut, no group has two rewards
    scenario("verl-dr-grpo", {"aggregation.constant": 6.0}, theirs={**NORM, ACTOR + "loss_scale_factor": 6,
                                                                   "algorithm.norm_adv_by_std_in_grpo": False}),
    scenario("verl-grpo", {"aggregation.kind": "seq_mean_token_mean"}, theirs=MEAN),
    scenario("verl-grpo", {"aggregation.kind": "seq_mean_token_sum"}, theirs={ACTOR + "loss_agg_mode": "seq-mean-token-sum"}, both=FILLED,
             cuts=[SOME[1], SOME[2], ONE], oracle={"aggregation.kind": "seq_mean_constant", "aggregation.constant": 1.5}),
    scenario("verl-grpo", theirs={}, both={CORRECTION + "rollout_is": "token"}, oracle=None),
    scenario("verl-grpo", theirs={}, both=KL, oracle=None), scenario("verl-grpo", theirs={}, both={ACTOR + "entropy_coeff": 0.5}),
    scenario("verl-gmpo", theirs={MODE: "geo_mean"}, counts=False, cuts=[UNCUT]),
    scenario("verl-gmpo", theirs={MODE: "geo_mean"}, equal=False, cuts=SOME[1:4]),
    scenario("verl-dr-grpo", {"aggregation.constant": 6.0}, theirs={**NORM, "algorithm.norm_adv_by_std_in_grpo": False}, equal=False,
             cuts=[ONE]),
    invariant("gspo"), invariant("cispo", {"aggregation.kind": "token_mean", **OWN_KL}),
    invariant("dapo", {"reward.overlong": "none", "aggregation.kind": "token_mean"}),
    invariant("reinforce++", {"reward.kl": "none", "reward.kl_coef": 0.0, **OWN_KL}), invariant("grpo", OWN_KL),
]
PASSED_ON = [
    scenario("verl-kl-loss", {"penalty.kl_coef": 0.5}, theirs=KL, ours=REF),
    scenario("verl-grpo", {"penalty.entropy_coef": 0.5}, of="dentropy", theirs={ACTOR + "entropy_coeff": 0.5},
             ours={ACTOR + "calculate_entropy": True}),
    invariant("grpo", ours=REF), invariant("trinity-cispo"), invariant("trinity-sapo"),
    # rollout weights of the row, beside those that verl makes itself
    scenario("verl-grpo", TRUNCATED, theirs=IS),
    scenario("verl-grpo", TRUNCATED, theirs=IS, both=BY_TOKENS, cuts=FEW),
    scenario("verl-grpo", TRUNCATED, theirs=IS, both=FILLED, cuts=FEW[:1]),
    scenario("verl-grpo", {**TRUNCATED, **TOKEN_MEANS}, theirs={**IS, **MEAN}, cuts=FEW),
    scenario("verl-tis", theirs={CORRECTION + "rollout_is": "sequence"}, cuts=FEW),
    scenario("verl-gspo", {**TRUNCATED, "weight.rollout_is_level": "sequence_sum"}, cuts=FEW,
             theirs={MODE: "gspo", **IS, CORRECTION + "rollout_is": "sequence"}),
    scenario("verl-grpo", BAND, theirs={**IS, CORRECTION + "rollout_is_threshold": "0.8_1.25"}, cuts=FEW),
    scenario("verl-token-k3", theirs=RS, reports=False),
    scenario("verl-geo-rs", NARROW, reports=False, cuts=FEW,
             theirs={CORRECTION + "rollout_rs": "seq_mean_k1", CORRECTION + "rollout_rs_threshold": "0.8_1.25"}),
    scenario("verl-grpo", {**REJECTED, **TOKEN_MEANS}, theirs={**RS, **MEAN}, reports=False),
    scenario("verl-grpo", {**REJECTED, "aggregation.kind": "seq_mean_token_sum"}, reports=False, cuts=FEW,
             theirs={**RS, ACTOR + "loss_agg_mode": "seq-mean-token-sum"}),
    invariant("tis", cuts=FEW), invariant("icepop", cuts=FEW), invariant("mis-sequence", cuts=FEW),
    invariant("geo-reject", NARROW, cuts=FEW),
    # and that these weights do something to these batches
    *(scenario(row, fields, theirs=theirs, equal=False, cuts=FEW[:1]) for row, fields, theirs in (
        ("verl-grpo", TRUNCATED, {}), ("verl-tis", {}, {}), ("verl-grpo", BAND, {}), ("verl-token-k3", {}, {}), ("verl-geo-rs", NARROW, {}),
        ("verl-grpo", {**REJECTED, **TOKEN_MEANS}, MEAN))),
]
REFUSED = [("gvpo", {}, "group_begin"), ("grpo", {}, "logp_ref"), ("oreal", {}, "totals.positive_tokens"),
           ("ppo", {}, "value"), ("verl-cispo", {ACTOR + "clip_ratio_high": 0.3}, "clip_ratio_high"),
           ("verl-cispo", {"algorithm.norm_adv_by_std_in_grpo": False}, "norm_adv_by_std_in_grpo"),
           ("verl-clip-cov", {}, "selected: it is chosen among all tokens of the mini-batch"),
           ("verl-kl-cov", {}, "kl_mask: it is chosen among all tokens of the mini-batch"), ("tis", {}, "logp_rollout: call pass_on()")]
REFUSED_PASSED_ON = [
    ("verl-tis-normalized", {}, {}, "totals.rollout_is_count: leave"), ("tis", {}, IS, "weights of its own"),
    ("verl-grpo", REJECTED, {}, "totals.tokens, after a rejection: choose weight.rollout_rejected=zero_weight"),
    ("verl-kl-loss", {**REJECTED, **TOKEN_MEANS, "penalty.kl_aggregation": "token_mean"}, REF, "totals.tokens, after a rejection"),
    ("verl-grpo", {**TRUNCATED, "weight.rollout_veto": 0.1, "weight.rollout_rejected": "unmask"}, {}, "totals.tokens, after a rejection")]


# ---- in a process for each rank

FOUND = {}  # metrics of the last step


def ready():
    """verl with verl_loss, as VERL_USE_EXTERNAL_MODULES imports it. Its padded is not that of the adapters."""
    if "verl_loss" in sys.modules:
        return
    from stand_ins import names_stand_in
    sys.meta_path.insert(0, cut_verl.Missing())
    names_stand_in("verl.utils.dataset.rl_dataset", "verl.utils.dataset.vision_utils", "verl.checkpoint_engine",
                   "verl.workers.rollout.base")
    theirs = sys.modules.pop("padded", None)
    sys.path.insert(0, EXAMPLES)
    os.environ["VERL_USE_EXTERNAL_MODULES"] = "verl_loss"
    import verl  # noqa: F401
    if PASS_ON in os.environ:
        sys.modules["verl_loss"].pass_on()
    sys.path.remove(EXAMPLES)
    del sys.modules["padded"]
    if theirs:
        sys.modules["padded"] = theirs
    v = cut_verl.parts()
    its = v.Worker._postprocess_output

    def kept(self, *of, **how):
        found = its(self, *of, **how)
        FOUND.update(v.tu.get(found, "metrics"))
        return found
    v.Worker._postprocess_output = kept


def of_rank(config, batch, parts, rank):
    ready()
    if config == "mixed":
        return mixed()
    config = dict(config)
    name, row, fields = config.pop("register", (None, None, None))
    verl_loss = sys.modules["verl_loss"]
    if name and name not in verl_loss.core_algos.ADV_ESTIMATOR_REGISTRY:
        verl_loss.register(name, row, fields)
    FOUND.clear()
    answer = cut_verl.of_rank(config, batch, parts, rank)

    def mean(x):
        return sum(map(mean, x)) / len(x) if isinstance(x, list) else float(x.aggregate() if hasattr(x, "aggregate") else x)
    return {**answer, "loss": FOUND["loss"], "metrics": {k: mean(x) for k, x in FOUND.items() if k.startswith("actor/p")}}


def mixed():
    """The distance between advantages of groups of unequal size in order, and of the same responses mixed, with two that fill the batch."""
    import torch
    torch.manual_seed(0)
    estimator, score = sys.modules["verl_loss"].core_algos.get_adv_estimator_fn("grpo.h/lite-ppo"), torch.rand(9, 5)
    mask, uid, order = torch.rand(9, 5) < 0.8, list("aaaabbccc"), torch.randperm(9)
    right = estimator(token_level_rewards=score, response_mask=mask, index=uid)[0]
    filled = lambda x: torch.cat([x[order], torch.zeros(2, 5, dtype=x.dtype)])
    found = estimator(token_level_rewards=filled(score), response_mask=filled(mask), index=[uid[i] for i in order] + ["pad0", "pad0"])[0]
    return (found - filled(right)).abs().max().item(), right.abs().max().item(), order.tolist()


def run(config, batch, cut):
    found = cut_ranks.run("verl_policy_loss", config, batch, cut.parts)
    assert all(x["dlogp"] == found[0]["dlogp"] and x["loss"] == found[0]["loss"] for x in found), "ranks differ"
    return found[0]


# ---- the comparison

def of_oracle(row, fields, batch, of):
    import evaluate
    import objectives
    objective = objectives.objective(row)
    for path, x in fields.items():
        axis, field = path.split(".")
        objective[axis][field] = x
    found = evaluate.evaluate(objective, batch)[0]
    return {of: found[of], "loss": found["loss"]}


def flat(rows):
    return [x for row in rows for x in row]


def short(options):
    return " ".join(f"{path.rpartition('.')[2]}={x}" for path, x in options.items())


def name_of(s):
    other = "" if s["theirs"] is None else f" and verl {short(s['theirs'])}"
    of = f", {s['of']}" if "of" in s else ""
    return " ".join(filter(None, (s["row"], short(s["fields"]), short(s["both"])))) + f"{other}{of} [{len(s['cuts'])} cuts]"


def compared(s):
    """The largest distances of our gradient from the oracle's and from verl's, of the losses, and of what both report."""
    of, name = s.get("of", "dlogp"), f"{s['row']} {json.dumps(s['fields'])}"
    ours = {"algorithm.adv_estimator": name, MODE: name, **s["both"], **s.get("ours", {}), "register": (name, s["row"], s["fields"])}
    theirs = None if s["theirs"] is None else {"algorithm.adv_estimator": "grpo", **s["both"], **s["theirs"]}
    found = {"oracle": [0.0], "verl": [0.0], "losses": [0.0], "reports": [0.0]}
    for cut, n in ((cut, n) for cut in s["cuts"] for n in range(BATCHES)):
        batch = cuts.batch_of({}, cut, n)
        mine = run(ours, batch, cut)
        assert any(flat(mine[of])), "no gradient"
        if s["oracle"] is not None:
            right = of_oracle(s["row"], {**s["fields"], **s["oracle"]}, batch, of)
            found["oracle"].append(cuts.apart(flat(mine[of]), flat(right[of])))
            if not any(ACTOR + x in s["both"] for x in ("entropy_coeff", "use_kl_loss")):
                found["losses"].append(abs(mine["loss"] - right["loss"]) / max(1, abs(right["loss"])))
        if theirs:
            other = run(theirs, batch, cut)
            found["verl"].append(cuts.apart(flat(mine[of]), flat(other[of])))
            if s["equal"]:
                found["losses"].append(abs(mine["loss"] - other["loss"]) / max(1, abs(other["loss"])))
                reported = ["actor/ppo_kl", "actor/pg_clipfrac"][:(1 + s["counts"]) * s["reports"]]
                found["reports"] += [abs(mine["metrics"][k] - x) for k, x in other["metrics"].items() if k in reported]
    return {what: max(x) for what, x in found.items()}


def judged(s):
    found = compared(s)
    good = max(found[x] for x in ("oracle", "losses")) < NEAR
    return good and (max(found["verl"], found["reports"]) < NEAR if s["equal"] else found["verl"] > 100 * NEAR), ", ".join(
        f"{what} {x:.1g}" for what, x in found.items())


def refused(row, fields, options, word):
    """Does verl's update stop with a message that names what is missing, or was set in vain?"""
    name = f"{row} {json.dumps(fields)}" if fields else "grpo.h/" + row
    registered = {"register": (name, row, fields)} if fields else {}
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            run({"algorithm.adv_estimator": name, MODE: name, **options, **registered}, cuts.batch_of({}, UNCUT, 0), UNCUT)
    except RuntimeError as why:
        last = str(why).strip().splitlines()[-1]
        return word in last and name in last, last
    return False, "is computed"


def in_any_order():
    """Batch-wide deviation, so that responses which fill the batch would change it"""
    far, size, order = cut_ranks.run("verl_policy_loss", "mixed", None, [[]])[0]
    return far < NEAR and size > 0.1 and order != sorted(order), f"{far:.1g} apart"


def main(arguments):
    passed = failed = 0
    refusal = lambda row, fields, options, word: (
        f"{row} {short({**fields, **options})} is refused: {word}", refused, (row, fields, options, word))
    tests = [(name_of(s), judged, (s,)) for s in SCENARIOS] + [refusal(row, {}, options, word) for row, options, word in REFUSED]
    tests += [("groups of unequal size, mixed and filled up", in_any_order, ())]
    tests += [("pass_on", None, ())] + [(f"pass_on, {name_of(s)}", judged, (s,)) for s in PASSED_ON]
    tests += [(f"pass_on, {name}", test, of) for name, test, of in (refusal(*x) for x in REFUSED_PASSED_ON)]
    for name, test, of in tests:
        if test is None:
            os.environ[PASS_ON] = "1"
            cut_ranks.KEPT.clear()                                      # new processes, which call pass_on
        elif all(word in name for word in arguments):
            good, words = test(*of)
            passed, failed = passed + good, failed + (not good)
            print(f"{'ok' if good else 'FAIL'} {name}: {words}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0 or not passed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
