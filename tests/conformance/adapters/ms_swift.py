"""ms-swift's GRPO trainer and arguments (written for ms-swift 4.6.0), without the rest of the package.

The arguments' class, the trainer's class and the advantages are the installed package's own files. Stood in for is what they import beside
the loss: templates, data sets, reward functions, rollout, and with them modelscope and Pillow, which the package needs and which are not
installed. The trainer's file deletes __init__ of TRL's GRPOTrainer: import it after what uses that.
"""
import protocol  # noqa: F401  first: it keeps standard output for the answers
import dataclasses
import logging
import sys
import types
from collections import defaultdict

from stand_ins import Names, module_stand_in
import swift
import torch


module_stand_in("modelscope.hub.utils.utils", get_cache_dir=None)
module_stand_in("json_repair")
module_stand_in("swift.utils.logger", get_logger=lambda: logging.getLogger("ms_swift"))
for name in ("arguments", "rlhf_trainers"):  # without their __init__
    module_stand_in("swift." + name, __path__=[swift.__path__[0] + "/" + name])
for name in ("dataset", "rewards", "rl_core.data", "rl_core.grpo_algorithm", "sequence_parallel", "trainers", "arguments.sft_args",
             "rlhf_trainers.arguments", "rlhf_trainers.gkd_helpers", "rlhf_trainers.rollout_mixin"):
    sys.modules["swift." + name] = Names("swift." + name)
for name, attributes in (("model", {"MODEL_MAPPING": {}}), ("template", {"TEMPLATE_MAPPING": {}}),
                         ("rlhf_trainers.utils", {"profiling_decorator": lambda function: function})):
    sys.modules["swift." + name] = Names("swift." + name)
    vars(sys.modules["swift." + name]).update(attributes)
from swift.rlhf_trainers import args_mixin
sys.modules["swift.rlhf_trainers"].GRPOArgumentsMixin = args_mixin.GRPOArgumentsMixin
from swift.arguments.rlhf_args import RLHFArguments
from swift.rl_core.advantage import apply_rlsd_reweight, expand_advantage_to_per_token  # noqa: F401  both also for others
from swift.rlhf_trainers.grpo_trainer import GRPOTrainer


def arguments(**given):
    """The arguments after the framework's own processing, as for training with rlhf_type grpo. Other training arguments that the two
    methods need do not affect the loss."""
    a = object.__new__(RLHFArguments)
    for field in dataclasses.fields(RLHFArguments):
        made = field.default_factory is not dataclasses.MISSING
        setattr(a, field.name, field.default_factory() if made else field.default)
    a.cached_dataset = a.cached_val_dataset = a.gradient_accumulation_steps = None
    a.rlhf_type = "grpo"
    for name, value in given.items():
        setattr(a, name, value)
    a._init_grpo()
    a._set_default()
    return a


class Trainer(GRPOTrainer):
    """A trainer without a model: its log-probabilities are those of the batch."""
    def _get_per_token_logps_and_entropies(self, *_, **__):
        return self.leaf, None


def trainer(a, b, generations):
    t = object.__new__(Trainer)
    t.args, t.leaf, t.model = a, b.logp.clone().requires_grad_(), types.SimpleNamespace(training=True)
    t._prepare_algorithm_params()
    t.beta, t.max_completion_length, t.num_generations = a.beta, a.max_completion_length, generations  # by TRL's __init__
    t.reward_weights, t.reward_func_names = torch.ones(1), ["reward"]
    t._metrics, t._logs = {"train": defaultdict(list)}, {"rewards": defaultdict(list)}
    t.accelerator = types.SimpleNamespace(num_processes=1, gather_for_metrics=lambda x: x)
    t.dynamic_num_samples = t.disable_rollout_importance_sampling = t._has_teacher = t.compute_entropy = False
    t.chord_sft_iterator = None
    t.model_accepts_loss_kwargs, t.compute_loss_func, t.current_gradient_accumulation_steps = False, None, 1
    t._compute_rollout_offpolicy_metrics = t._compute_is_correction_metrics = lambda *_: {}  # logged, and not of the loss
    return t


def advantages(t, b):
    """Advantages per token, as _postprocess_batch computes them without a teacher."""
    t_batch = types.SimpleNamespace(old_per_token_logps=b.logp_old, ref_per_token_logps=b.logp_ref, completion_mask=b.mask)
    found = t._compute_advantages([], b.reward[:, None], [{"grpo_batch": t_batch}])
    return expand_advantage_to_per_token(found, b.mask)


def loss(t, b, advantage, tokens=None, teacher=None):
    """The loss of a micro-batch. tokens: their number in the whole window of gradient accumulation. teacher: its log-probabilities."""
    batch = types.SimpleNamespace(
        completion_mask=b.mask, truncated_mask=b.truncated, old_per_token_logps=b.logp_old, ref_per_token_logps=b.logp_ref,
        rollout_per_token_logps=b.logp_rollout, teacher_per_token_logps=teacher, advantages=advantage,
        num_items_in_batch=b.mask.sum() if tokens is None else tokens)
    return t._compute_loss_and_metrics(t.model, {}, batch)[0]
