"""The weight: the ratio of policy to old policy as a factor (policy_is)."""
from checks.groups import answers, with_kind
from objectives import changed, plain


def check_drift(check):
    score = changed(plain(), aggregation={"kind": "token_mean"})
    for drift, unit in (("token", "token"), ("sequence_sum", "sequence_sum"), ("sequence_mean", "sequence_mean")):
        a = answers(changed(score, weight={"policy_is": drift, "policy_is_low": 0.75, "policy_is_high": 1.25}))
        b = answers(changed(with_kind("cispo", score, weight_min=0.75, weight_max=1.25), ratio={"level": unit}))
        check(f"the score function with a bounded drift is CISPO: {drift}", a["loss"] == b["loss"] and a["dlogp"] == b["dlogp"])
        check(f"which the mean weight does not know: {drift}", a["report"]["rollout_is_mean"] == 1)


GROUPS = (check_drift,)
