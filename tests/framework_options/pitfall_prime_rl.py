"""Pitfalls of prime-rl (at the commit of the data), for pitfalls.py: its own algorithms, as in run_prime_rl.py."""
import asyncio
import types

import torch

from running import near, small_batch


def advantages(rewards, tokens=None, penalty=None):
    """By its own GRPO, of the traces of a group with these numbers of output tokens."""
    import run_prime_rl
    traces = [types.SimpleNamespace(
        reward=x, id=i, num_output_tokens=n, num_total_tokens=n, num_turns=1, has_error=False, agent=types.SimpleNamespace(trainable=True),
        nodes=[types.SimpleNamespace(mask=[True], token_ids=[0], advantages=None)])
        for i, (x, n) in enumerate(zip(rewards, tokens or [1] * len(rewards)))]
    asyncio.run(run_prime_rl.parts().score["grpo"](types.SimpleNamespace(length_penalty=penalty), [types.SimpleNamespace(traces=traces)]))
    return [trace.nodes[0].advantages[0] for trace in traces]


def prime_rl_length_bonus():
    """Two responses of 10 and 100 tokens: with the rewards -1, and 1."""
    penalty = types.SimpleNamespace(num_output_tokens_weight=0.25, num_input_tokens_weight=0.0, num_turns_weight=0.0)
    found = {str(x): advantages([x, x], [10, 100], penalty) for x in (-1.0, 1.0)}
    return found["-1.0"][1] > 0.1 and found["1.0"][1] < -0.1, found


def prime_rl_rounded_zero():
    """How many of eight responses with equal rewards keep their tokens."""
    import run_prime_rl
    found = {}
    for reward in (0.7, 0.5):
        kept = 0
        for x in advantages([reward] * 8):
            sample = types.SimpleNamespace(advantages=[x], mask=[True], rl_weights=None, ce_weights=None, ref_kl_weights=None)
            kept += run_prime_rl.parts().prune(sample)
        found[reward] = kept
    return found == {0.7: 8, 0.5: 0}, found


def prime_rl_zeros_leave():
    """The gradient of the first of two responses with rewards 1 and 0, beside one with their mean, 0.5: it is not in the divisor, and has
    no gradient of the KL, unless filter_zero_advantages is off."""
    import run_prime_rl
    batch, found = small_batch(reward=(1.0, 0.0, 0.5)), {}
    batch["logp_rollout"] = [[x - 0.1 for x in row] for row in batch["logp"]]
    for on in (True, False):
        rows = run_prime_rl.run({"orchestrator.train.filter_zero_advantages": on, "trainer.loss.kl_tau": 0.5}, batch)[0]["dlogp"]
        found[str(on)] = [rows[0][0], rows[2][0]]
    kept, whole = found.values()
    return near([kept[0] / whole[0]], [1.5]) and kept[1] == 0 != whole[1] and bool(torch.isfinite(torch.tensor(whole)).all()), found
