"""TRL's GRPOTrainer (written for trl 1.16.0) with a given configuration: advantages, loss and gradient by its own code.

Replaced are the model, the sampler and the processes (../conformance/adapters/trl_adapter.py). The second reward comes as one of TRL's
penalties. Some batches have groups of one response: training refuses them (grpo_config.py:1137), an evaluation with num_generations_eval
computes them by the same lines.
"""
import torch

from framework import Beyond, Drawer, Framework, Refused, holes, whole
from options import translate
from padded import ragged
from running import answers, torch_batch


# ---- what is drawn

def delta(losses):
    high = lambda c: c["epsilon"] if c["epsilon_high"] is None else c["epsilon_high"]
    return Beyond("delta", "delta <= 1 + epsilon_high", lambda c: c["loss_type"] in losses and c["delta"] and c["delta"] <= 1 + high(c))


def drawer(data):
    weights = lambda rng: [rng.choice([0.25, 0.5, 1.0, 2.0]) for _ in range(2)]
    numbers = {"beta": (0.01, 0.5), "epsilon": (0.05, 0.4), "epsilon_high": (0.1, 0.6), "delta": (1.05, 4),
               "sapo_temperature_neg": (0.5, 3), "sapo_temperature_pos": (0.5, 3), "vespo_k_pos": (0.5, 3), "vespo_lambda_pos": (0.5, 4),
               "vespo_k_neg": (0.5, 4), "vespo_lambda_neg": (0.5, 3), "reward_weights": weights, "top_entropy_quantile": (0.2, 0.8),
               "entropy_coef": (0.01, 0.2), "vllm_importance_sampling_clip_max": (1.1, 4), "vllm_importance_sampling_clip_min": (0.1, 0.9),
               "off_policy_mask_threshold": (-0.2, 0.4), "max_completion_length": whole(3, 20)}
    left = {"num_iterations": "the old policy's log-probabilities are always those of another policy here",
            "use_adaptive_entropy": "needs the state of the trainer", "router_aux_loss_coef": "needs a mixture of experts"}
    return Drawer(data, numbers, {"loss_type"}, left, [delta(("grpo", "bnpo", "dr_grpo", "dapo", "luspo"))])


def batch(rng, config):
    batch = translate.random_batch(rng, True)
    if rng.random() < 0.5:
        holes(rng, batch)
    return batch


def batch_with_singletons(rng, config):
    made = batch(rng, config)
    if rng.random() < 0.2:
        made["group"] = list(range(len(made["length"])))
    return made


# ---- by the framework's own code

def config_of(kind, config):
    """The configuration of one of TRL's trainers."""
    try:
        return kind(output_dir="none", bf16=False, use_cpu=True, report_to=[], **config)
    except ValueError as why:
        raise Refused(str(why)) from None


def run(config, batch, kind=None, trainer=None):
    """kind, trainer: of a trainer with GRPOTrainer's advantages, if not that one itself."""
    import trl_adapter as adapter
    c = config_of(kind or adapter.trl.GRPOConfig, {"reward_weights": [1.0, 1.0], **config})
    weights = [1.0, 1.0] if c.reward_weights is None else c.reward_weights
    batch = {**batch, "reward_weight": weights, "reward": [sum(w * x for w, x in zip(weights, row)) for row in batch["rewards"]]}
    b = torch_batch(batch)
    names = ("beta", "loss_type", "importance_sampling_level", "scale_rewards", "mask_truncated_completions", "top_entropy_quantile",
             "off_policy_mask_threshold", "use_vllm", "vllm_importance_sampling_correction", "vllm_importance_sampling_mode",
             "vllm_importance_sampling_clip_max", "vllm_importance_sampling_clip_min", "multi_objective_aggregation", "entropy_coef",
             "use_adaptive_entropy", "max_completion_length")
    of_args = ("delta", "use_bias_correction_kl", "sapo_temperature_neg", "sapo_temperature_pos", "vespo_k_pos", "vespo_lambda_pos",
               "vespo_k_neg", "vespo_lambda_neg")
    columns = torch.tensor(batch["rewards"], dtype=torch.float64)
    t = adapter.trainer_for(b, trainer or adapter.GRPOTrainer, columns[:, 0], int(b.group_size[0]), epsilon_low=c.epsilon,
                            epsilon_high=c.epsilon if c.epsilon_high is None else c.epsilon_high,
                            **{name: getattr(c, name) for name in names + of_args})
    t.penalties, t.reward_funcs, t.reward_weights = [lambda completion_ids: columns[:, 1].tolist()], [None] * 2, torch.tensor(weights)
    t.accelerator.pad_across_processes = lambda x, **_: x
    t._entropy_bonus_enabled = c.entropy_coef != 0 or c.use_adaptive_entropy
    inputs = adapter.scored(t)
    if c.top_entropy_quantile < 1:
        counted = inputs["completion_mask"] * inputs["tool_mask"]
        batch["selected"] = ragged(t.get_high_entropy_mask(b.entropy.detach(), counted, 1 - c.top_entropy_quantile), b)
    b.leaf = t.leaf
    value = t._compute_loss(t.model, inputs)
    return answers(b, torch.where(b.mask, inputs["advantages"][:, None], 0), torch.ones_like(b.mask), value), batch


FRAMEWORKS = {"trl": Framework(drawer, batch_with_singletons, run, 1e-9,
                               ("vllm_importance_sampling_mode", "sequence_mask", "weight.rollout_is_level", "sequence_mean"))}
