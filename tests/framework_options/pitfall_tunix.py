"""Pitfalls of tunix, for pitfalls.py: each configuration is run as in run_tunix.py."""
from running import near, small_batch


def run(config, batch):
    import run_tunix
    return run_tunix.run({"num_generations": 4, **config}, batch)[0]


def tunix_kl_without_reference():
    """The gradients of the first response's first two tokens, where every reward is equal: with a reference that agrees with the policy,
    and with one that does not."""
    batch, found = small_batch(reward=(0.0,) * 4), {}
    for mode in ("kl", "low_var_kl"):
        for far in (0, 2):
            batch["logp_ref"] = [[x - far for x in row] for row in batch["logp"]]
            found[f"{mode}, {far} nats away"] = run({"kl_loss_mode": mode, "beta": 0.12}, batch)["dlogp"][0][:2]
    same = [near(found[f"{mode}, 0 nats away"], found[f"{mode}, 2 nats away"]) for mode in ("kl", "low_var_kl")]
    return same == [True, False] and near(found["kl, 0 nats away"], [0.01, 0.01]) and near(found["low_var_kl, 0 nats away"], [0, 0]), found


def tunix_sum_norm():
    batch, found = small_batch(length=[2, 4, 3, 3]), {}
    for mode in ("sequence-mean-token-sum-norm", "seq-mean-token-sum", "token-mean"):
        found[mode] = run({"loss_agg_mode": mode}, batch)["loss"]
    x, y, z = found.values()
    return near([x], [y]) and not near([x], [z], 1e-3), found


def tunix_documented_bound():
    """The documented option, and one that is a field."""
    import run_tunix
    found = {}
    for option in ("epsilon_high", "epsilon"):
        try:
            found[option] = getattr(run_tunix.settings({option: 0.28}), option)
        except TypeError as why:
            found[option] = str(why).partition("__init__() ")[2]
    return "unexpected keyword argument" in str(found["epsilon_high"]) and found["epsilon"] == 0.28, found
