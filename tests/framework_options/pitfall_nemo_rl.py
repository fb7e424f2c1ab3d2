"""Pitfalls of NeMo-RL (at the commit of the data), for pitfalls.py: its own estimators and loss, as in run_nemo_rl.py."""
import contextlib
import io
import math

import torch

from running import near, small_batch

ESTIMATOR = "grpo.adv_estimator."
CORRECTED = {"loss_fn.use_importance_sampling_correction": True, "loss_fn.sequence_level_importance_ratios": True,
             "loss_fn.token_level_loss": False}


def advantages(rewards, config, mask=1.0):
    """Of the responses to one prompt, in float32, as in training."""
    import run_nemo_rl
    parts, one = run_nemo_rl.parts(), torch.float32
    rewards = torch.tensor(rewards, dtype=one)
    before = torch.get_default_dtype()
    torch.set_default_dtype(one)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            estimator = parts.grpo._create_advantage_estimator(run_nemo_rl.configured(config))
        return estimator.compute_advantage(prompt_ids=torch.zeros(len(rewards), 1), rewards=rewards, repeated_batch=None,
                                           mask=torch.full((len(rewards), 2), mask))[:, 0].tolist()
    finally:
        torch.set_default_dtype(before)


def run(config, batch):
    import run_nemo_rl
    return run_nemo_rl.run(config, batch)[0]


def nemo_rl_lone_success():
    """One reward of 10 among zeros: of two responses, and of four; with the mean and the deviation of all of them."""
    all_of_them = {ESTIMATOR + "use_leave_one_out_baseline": False}
    found = {"of two": advantages([10.0, 0.0], {}), "of four": advantages([10.0, 0.0, 0.0, 0.0], {}),
             "with itself": advantages([10.0, 0.0, 0.0, 0.0], all_of_them)}
    return near(found["of two"], [10, -10]) and near(found["of four"], [10] + [-0.57735] * 3, 1e-4) and near(
        found["with itself"], [1.5] + [-0.5] * 3, 1e-4), found


def nemo_rl_rounded_deviation():
    """The advantage of one reward of 1.3 among seven of 0.3, and of 1.5 among seven of 0.5."""
    found = {str(x): advantages([x + 1] + [x] * 7, {})[0] for x in (0.3, 0.5)}
    return found["0.3"] > 1e4 and near([found["0.5"]], [1]), found


def nemo_rl_infinite_weight():
    """The gradient of a response whose log-ratios to the sampler add up to 900 (in float32 above 88 is enough), and to 30."""
    found = {}
    for far in (300, 10):
        batch = small_batch(reward=(1.0, 0.0))
        batch["logp_rollout"] = [[x - far for x in batch["logp_old"][0]], batch["logp_old"][1]]
        found[far] = abs(run({"loss_fn.reference_policy_kl_penalty": 0.0, **CORRECTED}, batch)["dlogp"][0][0])
    return found[300] == 0 and found[10] > 1e10, found


def nemo_rl_all_masked():
    found = {}
    for name in ("reinforce_plus_plus", "grpo"):
        rows = advantages([1.0, 0.0, 0.5, 0.0], {ESTIMATOR + "name": name}, 0.0)
        found[name] = sum(map(math.isnan, rows))
    return found == {"reinforce_plus_plus": 4, "grpo": 0}, found


def nemo_rl_no_rewards():
    """The loss by the weight, as the batch of GRPO has no rewards; and with the rewards that that of PPO has."""
    import run_nemo_rl
    import sources
    found, made, batch = {}, run_nemo_rl.training_data, small_batch()
    with open(sources.path_of("nemo_rl", "nemo_rl", "algorithms", "grpo.py"), encoding="utf-8") as f:
        built = [text.split("}")[0] for text in f.read().split("BatchedDataDict[ClippedPGLossDataDict](")[1:]]
    found["built with rewards"] = sum('"rewards"' in text for text in built) if built else None

    def with_rewards(c, b, of):
        data = made(c, b, of)
        data["rewards"] = b.reward
        return data
    for name, how in (("grpo", made), ("with rewards", with_rewards)):
        run_nemo_rl.training_data = how
        try:
            found[name] = [run({"loss_fn.positive_example_nll_weight": weight}, batch)["loss"] for weight in (0.0, 0.5)]
        finally:
            run_nemo_rl.training_data = made
    return found["built with rewards"] == 0 and found["grpo"][0] == found["grpo"][1] and (
        found["with rewards"][1] > found["with rewards"][0] + 0.1), found
