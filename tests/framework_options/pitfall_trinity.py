"""Pitfalls of Trinity-RFT, for pitfalls.py: each configuration is run as in run_trinity.py."""
import torch

from running import near, small_batch

TYPE, LOSS = "algorithm.algorithm_type", "algorithm.policy_loss_fn_args."
MODE = "algorithm.loss_agg_mode"


def run(config, batch):
    import run_trinity
    return run_trinity.run(config, batch)[0]


def settings(config):
    import run_trinity
    return run_trinity.settings(config)


def share(config, **more):
    """The gradient of a token of the first response, of 2 tokens, over that of one of the second, of 4, which has the same advantage: 1
    where the loss is a mean over tokens, 2 where it is one over responses."""
    batch = small_batch(reward=(1.0, 1.0, 0.0, 0.0), length=[2, 4, 3, 3])
    batch["logp_rollout"] = batch["logp_old"] = [list(row) for row in batch["logp"]]
    config = {TYPE: "grpo", "algorithm.kl_loss_fn": "none", **config, **more}
    rows = run(config, batch)["dlogp"]
    return rows[0][0] / rows[1][0]


def trinity_gspo_is_token_mean():
    found = {"default": share({TYPE: "gspo"}), "loss_agg_mode": share({TYPE: "gspo", MODE: "seq-mean-token-mean"})}
    return near(found.values(), [1, 2]), found


def trinity_mode_in_args():
    given = {LOSS + "loss_agg_mode": "seq-mean-token-mean", LOSS + "clip_range": 0.2}
    found = {"in args": share(given), "of the algorithm": share(given, **{MODE: "seq-mean-token-mean"})}
    return near(found.values(), [1, 2]), found


def trinity_mode_beside_args():
    found = {str(given): share({MODE: "seq-mean-token-mean", **given}) for given in ({}, {LOSS + "clip_range": 0.2})}
    return near(found.values(), [2, 1]), found


def trinity_args_replace_defaults():
    ring = {LOSS + "clip_mode": "ring"}
    found = {str(given): [settings({TYPE: "rec", **given}).policy_loss_fn_args.get(name) for name in
                          ("epsilon_low_prime", "epsilon_high_prime")] for given in ({}, ring)}
    from trinity.algorithm import POLICY_LOSS_FN
    made = POLICY_LOSS_FN.get("rec")(clip_mode="ring")
    found["used"] = [made.epsilon_low_prime, made.epsilon_high_prime]
    return list(found.values()) == [[0.6, 2], [None, None], [0.4, 0.4]], found


def trinity_penalty_unread():
    """The advantage of the first token where the reference is 1 nat away at each token, with a coefficient of 0.1 and without."""
    batch, found = small_batch(), {}
    batch["logp_ref"] = [[x - 1 for x in row] for row in batch["logp_old"]]
    batch["logp_rollout"] = [list(row) for row in batch["logp_old"]]
    for kind in ("grpo", "rloo"):
        of = [run({TYPE: kind, **more}, batch)["advantage"][0][0] for more in (
            {"algorithm.kl_penalty_fn": "k1", "algorithm.kl_penalty_fn_args.kl_coef": x} for x in (0.0, 0.1))]
        found[kind] = of[1] - of[0]
    batch["logp_ref"][0] = list(batch["logp_old"][0])
    of = [run({TYPE: "rloo", "algorithm.kl_penalty_fn": "k1", "algorithm.kl_penalty_fn_args.kl_coef": x}, batch)["advantage"][0][0]
          for x in (0.0, 0.1)]
    found["rloo, one response at the reference"] = of[1] - of[0]
    return found["grpo"] == 0 and near([found["rloo, one response at the reference"]], [0.3]), found


def trinity_correction_unread():
    """How many lines of code of the trainers have it, the one that passes it on to verl's configuration left out; and whether the loss
    changes."""
    import glob
    import os
    import run_trinity
    import trinity
    run_trinity.parts()
    batch, found = small_batch(), {}
    for trainer in ("verl", "verl_legacy"):
        lines = []
        for path in glob.glob(os.path.join(list(trinity.__path__)[0], "trainer", trainer, "*.py")):
            with open(path, encoding="utf-8") as f:
                lines += [line for line in f if "rollout_corr" in line and not line.strip().startswith(("#", '"rollout_correction": cfg'))]
        found[trainer] = len(lines)
    batch["logp_rollout"] = [[x - 3 * (i == t == 0) for t, x in enumerate(row)] for i, row in enumerate(batch["logp_old"])]
    config = {TYPE: "grpo", "algorithm.bypass_old_logprobs": False}
    of = [run({**config, **more}, batch)["dlogp"][0][0] for more in ({}, {"algorithm.rollout_correction": {
        "bypass_mode": False, "rollout_is": "token", "rollout_is_threshold": 2.0}})]
    return found["verl"] == 0 < found["verl_legacy"] and of[0] == of[1] != 0, [found, of]


def trinity_equal_rewards():
    """The largest advantage of eight equal rewards, in float32."""
    import run_trinity
    from trinity.algorithm import ADVANTAGE_FN
    from trinity.common.experience import EID, Experience
    run_trinity.parts()
    found = {}
    for reward in (0.7, 0.5):
        made = [Experience(eid=EID(task=0, run=i), tokens=torch.zeros(3), prompt_length=1, reward=reward,
                           action_mask=torch.ones(2, dtype=torch.bool)) for i in range(8)]
        made, _ = ADVANTAGE_FN.get("grpo")()(made)
        found[reward] = max(abs(x.advantages).max().item() for x in made)
    return found[0.7] > 0.01 and found[0.5] == 0, found
