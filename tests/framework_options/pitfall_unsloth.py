"""Pitfalls of Unsloth, for pitfalls.py: each configuration is run as in run_unsloth.py."""
from running import small_batch

ON = {"use_vllm": True, "vllm_importance_sampling_correction": True}


def settings(config, *names):
    """What TRL's configuration gets of these options."""
    import run_unsloth
    found = run_unsloth.settings(config)
    return [found.get(name) for name in names]


def gradient(config, batch):
    """The absolute gradients of each response, added."""
    import run_unsloth
    return [sum(map(abs, row)) for row in run_unsloth.run(config, batch)[0]["dlogp"]]


def unsloth_explicit_dapo():
    """epsilon_high and mask_truncated_completions, and whether the second response, which is truncated, has a gradient."""
    batch, found = small_batch(), {}
    for name, config in (("given", {"loss_type": "dapo"}), ("by default", {})):
        found[name] = settings(config, "epsilon_high", "mask_truncated_completions") + [gradient(config, batch)[1] > 0]
    return found == {"given": [0.28, True, False], "by default": [None, False, True]}, found


def unsloth_kl_by_default():
    found = {str(loss): settings({"loss_type": loss} if loss else {}, "beta")[0] for loss in ("grpo", "bnpo", "cispo", None, "dr_grpo")}
    return found == {"grpo": 0.001, "bnpo": 0.001, "cispo": 0.001, "None": 0.0, "dr_grpo": 0.0}, found


def unsloth_dr_grpo_scales():
    found = {f"{loss} {x}": settings({"loss_type": loss, "scale_rewards": x}, "scale_rewards")[0]
             for loss, x in (("dr_grpo", True), ("dr_grpo", "group"), ("dr_grpo", None), ("grpo", True), ("dr_grpo", "batch"))}
    return list(found.values()) == [False, False, True, True, "batch"], found


def unsloth_uncorrected():
    """The gradient of the first response where the sampler gave each of its tokens a third of the probability."""
    batch, found = small_batch(), {}
    batch["logp_rollout"] = [[x - 1.1 for x in row] for row in batch["logp_old"]]
    for name, config in (("corrected", ON), ("by default", {"use_vllm": True}), ("without vLLM", {})):
        found[name] = gradient(config, batch)[0]
    return found["corrected"] == 0 < found["by default"] == found["without vLLM"], found


def unsloth_adaptive_entropy():
    """The derivative of the loss by an entropy."""
    import run_unsloth
    found = {str(on): run_unsloth.run({"entropy_coef": 0.1, "use_adaptive_entropy": on}, small_batch())[0]["dentropy"][0][0]
             for on in (True, False)}
    return found["True"] == 0 > found["False"], found


def unsloth_vespo_masked_token():
    """The gradient of the first response, one of whose tokens is outside the bound of the correction, and where none is."""
    found = {}
    for far in (0, 3):
        batch = small_batch()
        batch["logp_rollout"] = [[x - far * (i == t == 0) for t, x in enumerate(row)] for i, row in enumerate(batch["logp_old"])]
        found[far] = gradient({"loss_type": "vespo", "beta": 0.0, "vllm_importance_sampling_mode": "token_mask", **ON}, batch)[0]
    return found[3] < 1e-8 < found[0], found
