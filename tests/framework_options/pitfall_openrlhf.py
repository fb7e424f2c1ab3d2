"""Pitfalls of OpenRLHF (0.11.2), for pitfalls.py."""
import os
import types

import torch

from running import near


def openrlhf_equal_rewards():
    import openrlhf_adapter as adapter
    from run_openrlhf import parser_defaults
    c, found = parser_defaults(os.path.join(adapter.ROOT, "cli", "train_ppo_ray.py")), {}
    rewards = torch.tensor([0.7] * 8 + [1.0, 0.0] * 4, dtype=torch.float32)
    for estimator, clip in (("group_norm", None), ("group_norm", c["reward.clip_range"]), ("dr_grpo", None)):
        b = types.SimpleNamespace(mask=torch.ones(16, 2, dtype=torch.bool), reward=rewards, value=None, length=[2] * 16, rows=16)
        maker = adapter.maker_of({**c, "algo.advantage.estimator": estimator, "reward.clip_range": clip, "algo.kl.init_coef": 0.0}, 8)
        experience = maker.compute_advantages_and_returns([adapter.experience_of(b, torch.zeros(16, 2))])[0]
        found[estimator, str(clip)] = experience.advantages[:8, 0].tolist()
    plain, clipped, other = found.values()
    return near(plain, [59.6] * 8, 1e-3) and near(clipped, [10.0] * 8) and near(other, [0.0] * 8, 1e-2), {
        " ".join(key): x[0] for key, x in found.items()}
