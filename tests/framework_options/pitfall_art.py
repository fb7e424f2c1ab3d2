"""Pitfalls of ART, for pitfalls.py: each configuration is run as in run_art.py."""
from running import near, small_batch


def run(config, batch):
    import run_art
    return run_art.run(config, batch)[0]


def art_unnormalised_is_normalised():
    """The advantages of the rewards 1, 0, 0.5, 0, and of those times 10."""
    found = {}
    for on in (False, True):
        for times in (1, 10):
            batch = small_batch(reward=tuple(x * times for x in (1.0, 0.0, 0.5, 0.0)))
            found[f"{on}, times {times}"] = [row[0] for row in run({"normalize_advantages": on}, batch)["advantage"]]
    raw = [0.625, -0.375, 0.125, -0.375]
    same = near(found["False, times 1"], found["False, times 10"], 1e-6)
    return same and near(found["False, times 1"], [x / 0.375 for x in raw], 1e-6), found


def art_cispo_upper_bound():
    """The gradient of a token whose ratio is 3, over that of one whose ratio is 1: with epsilon 0.2, by itself and with epsilon_high."""
    batch, found = small_batch(), {}
    batch["logp_rollout"] = [[x - 1.0986122886681098 * (i == t == 0) for t, x in enumerate(row)] for i, row in enumerate(batch["logp"])]
    for high in (None, 0.2):
        row = run({"epsilon": 0.2, "epsilon_high": high}, batch)["dlogp"][0]
        found[str(high)] = row[0] / row[1]
    return near(found.values(), [3, 1.2]), found


def art_bound_of_both_signs():
    """The gradients of a token with a positive advantage and of one with a negative one, both with the ratio 3, with the bound 1 over
    those without it."""
    batch, of = small_batch(), {}
    batch["logp_rollout"] = [[x - 1.0986122886681098 for x in row] for row in batch["logp"]]
    for bound in (1.0, None):
        rows = run({"max_negative_advantage_importance_sampling_weight": bound}, batch)["dlogp"]
        of[bound] = rows[0][0], rows[1][0]
    found = [x / y for x, y in zip(of[1.0], of[None])]
    return near(found, [1 / 3, 1 / 3]), found
