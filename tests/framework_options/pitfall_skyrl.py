"""Pitfalls of SkyRL (0.4.0), for pitfalls.py: each configuration is run as in run_skyrl.py, with its KL off."""
from running import near, small_batch

NAME = "trainer.algorithm."
CORRECTION, LOSS = NAME + "off_policy_correction.", NAME + "policy_loss_type"


def run(config, batch):
    import run_skyrl
    return run_skyrl.run({NAME + "use_kl_loss": False, **config}, batch)


def slope(config, batch):
    """The gradient of the first token."""
    return run(config, batch)[0]["dlogp"][0][0]


def from_the_sampler():
    """The policy is the old one; its ratio to the sampler is 1.1 at every token."""
    old = small_batch()["logp_old"]
    return small_batch(logp=old, logp_rollout=[[x - 0.0953101798 for x in row] for row in old])


def skyrl_clip_cov_scale():
    """Of 12 tokens three have a covariance between clip_cov_lb, 1, and clip_cov_ub, 5: how many are taken out by these bounds, and by
    bounds that are divided by 12, as the advantages are."""
    old = [[-0.01, -6.0, -0.01], [-5.0, -0.1, -0.1], [-1.0] * 3, [-1.0] * 3]
    batch, found = small_batch(reward=(1.0, 0.0, 0.0, 0.0), logp=old, logp_old=old), {}
    for by in (1, 12):
        config = {LOSS: "clip_cov", NAME + "clip_cov.clip_ratio": 1.0, NAME + "clip_cov.clip_cov_lb": 1 / by,
                  NAME + "clip_cov.clip_cov_ub": 5 / by}
        found[by] = sum(sum(row) for row in run(config, batch)[1]["selected"])
    return found[1] == 0 < found[12] == 3, found


def skyrl_kl_cov_sum():
    """What the loss changes by ppo_kl_coef, for a batch and for one of four of its copies; and what use_kl_loss changes."""
    found = {}
    one, name = small_batch(), NAME + "kl_cov.ppo_kl_coef"
    four = {key: x * 4 if isinstance(x, list) else x for key, x in one.items()}
    four.update(group=[i // 4 for i in range(16)], baseline=[0.5] * 4, reward_weight=[1, 0.5])
    for how, off, on in (("kl_cov", {LOSS: "kl_cov", name: 0.0}, {LOSS: "kl_cov", name: 1.0}),
                         ("use_kl_loss", {}, {NAME + "use_kl_loss": True, NAME + "kl_loss_coef": 1.0})):
        found[how] = [run(on, batch)[0]["loss"] - run(off, batch)[0]["loss"] for batch in (one, four)]
    ratio = {how: of_four / of_one for how, (of_one, of_four) in found.items()}
    return ratio["kl_cov"] > 3 and near([ratio["use_kl_loss"]], [1]), ratio


def skyrl_corrected_twice():
    """The weight of a token whose ratio to the sampler is 1.1."""
    on, batch = {CORRECTION + "tis_ratio_type": "token"}, from_the_sampler()
    plain = slope({}, batch)
    found = {name: [slope({LOSS: name, **more}, batch) / plain for more in ({}, on)] for name in ("rollout_is", "dppo", "regular")}
    twice = [1.1, 1.21]
    return near(found["rollout_is"], twice) and near(found["dppo"], twice) and near(found["regular"], [1, 1.1]), found


def skyrl_negative_mean():
    """The advantages of three responses with the reward -1 and one with 0; of two with -1 and two with 1."""
    first, second = small_batch(reward=(-1.0, -1.0, -1.0, 0.0)), small_batch(reward=(-1.0, -1.0, 1.0, 1.0))
    of = lambda name, batch: [row[0] for row in run({NAME + "advantage_estimator": name}, batch)[0]["advantage"]]
    found = {name: of(name, first) for name in ("maxrl", "grpo")}
    found["mean 0"] = of("maxrl", second)
    return near(found["maxrl"], [1 / 3] * 3 + [-1]) and found["grpo"][3] > 1 and near(found["mean 0"], [-1e6] * 2 + [1e6] * 2), found


def skyrl_negative_cap():
    batch = from_the_sampler()
    plain, on = slope({}, batch), {NAME + "use_tis": True}
    found = {"-1 (the default)": slope(on, batch) / plain, "2": slope({**on, NAME + "tis_imp_ratio_cap": 2.0}, batch) / plain}
    return near(found.values(), [-1, 1.1]), found


def skyrl_uncorrected():
    batch, on = from_the_sampler(), {CORRECTION + "tis_ratio_type": "token"}
    found = {name: slope({LOSS: name, **on}, batch) / slope({LOSS: name}, batch) for name in ("importance_sampling", "regular")}
    return near(found.values(), [1, 1.1]), found


def skyrl_half_a_bound():
    """Tokens whose ratio to the sampler is 1.1, with an upper bound of 1.05: by it alone, and with a lower bound."""
    batch, name = from_the_sampler(), CORRECTION + "token_mask_is_threshold_"
    plain = slope({}, batch)
    found = [slope({name + "high": 1.05, **more}, batch) / plain for more in ({}, {name + "low": 0.5})]
    return found == [1, 0], found


def skyrl_mean_over_padding():
    """The mean over the tokens of the advantages that advantage_batch_normalize makes, where one response is longer than the others, and
    where none is. The policy is the old one, so the gradient is the advantage over the number of tokens."""
    found = {}
    for length in ([1, 1, 1, 9], [3, 3, 3, 3]):
        batch = small_batch(reward=(0.0, 0.0, 0.0, 1.0), length=length)
        batch["logp"] = batch["logp_old"]
        rows = run({NAME + "advantage_batch_normalize": True}, batch)[0]["dlogp"]
        found[str(length)] = -sum(map(sum, rows))
    return found["[1, 1, 1, 9]"] > 0.5 and near([found["[3, 3, 3, 3]"]], [0]), found
