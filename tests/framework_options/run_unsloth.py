"""Unsloth's GRPO trainer with a given configuration, by its own code (written for unsloth and unsloth-zoo 2026.10.9, with TRL).

Its own: what becomes of the options (the lines that UnslothGRPOConfig gets before TRL's), the weights of responses, compute_loss,
grpo_accumulated_loss and grpo_compute_loss. Advantages are TRL's, whose code Unsloth keeps there (its releases up to 1.15.0 and 1.16.0 have
the same lines). Replaced: the model, its log-probabilities and entropies, torch.compile; unsloth itself is not imported, as it needs a GPU.
"""
import ast
import contextlib
import functools
import importlib.util
import inspect
import os
import re
import sys
import types
import warnings
from unittest import mock

import torch

import run_trl
import sources
from framework import Drawer, Framework
from padded import ragged
from running import answers, torch_batch

PLANTED = ("scale_rewards", "group", "advantage.scale", "none")
OWN_DEFAULTS = ("loss_type", "beta", "mask_truncated_completions", "vllm_importance_sampling_correction", "router_aux_loss_coef")
OFF = {"UNSLOTH_GRPO_SEQ_PACKING": "0", "UNSLOTH_GRPO_PREFIX_GROUPER": "0"}  # other forward passes, with the same log-probabilities


def drawer(data):
    trl = run_trl.drawer(data)
    left = {"num_iterations": "the old policy's log-probabilities are always those of another policy here",
            "router_aux_loss_coef": "needs a mixture of experts"}
    losses = (None, "grpo", "bnpo", "dr_grpo", "dapo", "luspo")
    return Drawer(data, {**trl.numbers, "epsilon_high": (0.21, 0.6)}, {"loss_type"}, left, [run_trl.delta(losses)])


# ---- its code

@functools.cache
def parts():
    """Functions of both packages."""
    import unsloth_adapter  # noqa: F401  its stand-ins
    from stand_ins import module_stand_in
    module_stand_in("unsloth_zoo.temporary_patches.utils", torch_compile_with_fallback=lambda **_: lambda function: function)
    no = lambda *_: False
    module_stand_in("unsloth_zoo.fused_losses.cross_entropy_loss", unsloth_zero3_partitioned=no, unsloth_zero3_gathered=no,
                    unsloth_fsdp_unshard=no)
    from trl.trainer.utils import nanmax, nanmin
    sys.modules["unsloth_zoo.temporary_patches.common"].UNSLOTH_ENABLE_LOGGING = False
    from unsloth_zoo import rl_replacements as zoo
    zoo.device_synchronize = lambda: None
    zoo._grpo_engine_excluded_ids = lambda trainer: None
    folder = os.path.join(importlib.util.find_spec("unsloth").submodule_search_locations[0], "models")
    path = os.path.join(folder, "rl_replacements.py")
    weights = sources.definitions(path, ("_unsloth_grpo_sample_weight_mode", "_unsloth_trl_masks_unscorable", "_unsloth_grpo_sample_weight",
                                         "_unsloth_grpo_rollout_logps_as_old", "_unsloth_grpo_accumulation_steps",
                                         "_unsloth_grpo_is_metric_values", "_unsloth_grpo_is_sequence_level"), torch=torch)
    context = {**vars(weights), "torch": torch, "inspect": inspect, "nanmax": nanmax, "nanmin": nanmin,
               "_unsloth_grpo_vision_inputs": lambda inputs: {}, "_unsloth_get_model_config": lambda model: None,
               "detect_logit_transforms": lambda config: NO_TRANSFORMS, "grpo_accumulated_loss": zoo.grpo_accumulated_loss,
               "grpo_compute_loss": zoo.grpo_compute_loss}
    return types.SimpleNamespace(zoo=zoo, weights=weights, rules=rules_of(os.path.join(folder, "rl.py")),
                                 compute_loss=nested(path, "grpo_trainer_compute_loss", "compute_loss", context))


NO_TRANSFORMS = {"logit_softcapping": 0, "logit_scale_multiply": 0, "logit_scale_divide": 0}


def function_in(path, name):
    with open(path, encoding="utf-8") as f:
        return next(node for node in ast.parse(f.read()).body if getattr(node, "name", None) == name)


def nested(path, outer, name, context):
    """A function that is defined in another one."""
    node = next(part for part in function_in(path, outer).body if getattr(part, "name", None) == name)
    exec(compile(ast.Module([sources.plain(node)], []), path, "exec"), context)
    return context[name]


def rules_of(path):
    """(defaults that differ from TRL's, the lines that change options before TRL's configuration gets them)"""
    import trl
    from packaging.version import Version
    body, defaults = function_in(path, "_patch_trl_rl_trainers_impl").body, {}
    context = {"call_args": list(inspect.signature(trl.GRPOConfig).parameters), "trl_version": Version(trl.__version__), "extra_args": "",
               "trainer_file": "grpo_trainer", "Version": Version}
    for node in body:
        text = ast.unparse(node)
        if isinstance(node, ast.Assign) and text.startswith("replacements = {'output_dir'") or isinstance(node, ast.If) and (
                text.startswith("if trainer_file == 'grpo_trainer':\n    replacements =")):
            of = node.value if isinstance(node, ast.Assign) else node.body[0].value
            defaults.update(ast.literal_eval(of))
        if isinstance(node, ast.If) and re.match("if .*'(loss_type|beta)' in call_args", text):
            exec(compile(ast.Module([node], []), path, "exec"), context)
    return defaults, context["extra_args"]


def settings(config):
    """The options that TRL's configuration gets."""
    import trl
    defaults, lines = parts().rules
    fields = {name: p.default for name, p in inspect.signature(trl.GRPOConfig).parameters.items()}
    values = {"scale_rewards": fields["scale_rewards"], "epsilon_high": fields["epsilon_high"],
              **{name: x for name, x in defaults.items() if name in OWN_DEFAULTS}, **config}
    with contextlib.redirect_stdout(None):
        exec(lines, values)
    return {name: x for name, x in values.items() if name in fields}


# ---- a trainer without a model

class Model:
    """Gives hidden states of width 1; the log-probabilities that are made of them are replaced."""
    training, device, head = True, torch.device("cpu"), types.SimpleNamespace(weight=torch.zeros(2, 1), bias=None)

    def get_output_embeddings(self):
        return self.head

    def modules(self):
        return []

    def __call__(self, input_ids, **_):
        return types.SimpleNamespace(logits=torch.zeros(*input_ids.shape, 1))


def trainer_of(c, b, columns, weights):
    import trl_adapter as adapter
    names = ("beta", "loss_type", "importance_sampling_level", "scale_rewards", "mask_truncated_completions", "top_entropy_quantile",
             "off_policy_mask_threshold", "use_vllm", "vllm_importance_sampling_correction", "vllm_importance_sampling_mode",
             "vllm_importance_sampling_clip_max", "vllm_importance_sampling_clip_min", "multi_objective_aggregation", "entropy_coef",
             "max_completion_length")
    t = adapter.trainer_for(b, adapter.GRPOTrainer, columns[:, 0], int(b.group_size[0]), epsilon_low=c.epsilon,
                            epsilon_high=c.epsilon if c.epsilon_high is None else c.epsilon_high, **{x: getattr(c, x) for x in names})
    t.penalties, t.reward_funcs, t.reward_weights = [lambda completion_ids: columns[:, 1].tolist()], [None] * 2, torch.tensor(weights)
    t.accelerator.pad_across_processes, t.accelerator.scaler = lambda x, **_: x, None
    t.accelerator.unwrap_model = lambda model, **_: model
    return t


def scored(t, c, batch):
    """What the generation gives to the loss."""
    import trl_adapter as adapter
    with mock.patch.object(t, "vllm_importance_sampling_correction", False):  # it is left to the loss
        inputs = adapter.scored(t)
    p, columns = parts().weights, torch.tensor(batch["rewards"], dtype=torch.float64)
    sampling, tool_mask = inputs.get("sampling_per_token_logps"), inputs.get("tool_mask")
    if p._unsloth_grpo_rollout_logps_as_old(t, sampling, inputs["completion_mask"], tool_mask):
        inputs["old_per_token_logps"], inputs["unsloth_rollout_logps_as_old"] = None, torch.tensor([True])
    weight = p._unsloth_grpo_sample_weight(t, "train", columns, inputs["completion_mask"], tool_mask, slice(None))
    return inputs if weight is None else {**inputs, "unsloth_sample_weight": weight}


def run(config, batch):
    import trl
    p, options = parts(), {name: x for name, x in config.items() if not name.startswith("UNSLOTH_")}
    c = run_trl.config_of(trl.GRPOConfig, settings({"reward_weights": [1.0, 1.0], **options}))
    weights = [1.0, 1.0] if c.reward_weights is None else c.reward_weights
    batch = {**batch, "reward_weight": weights, "reward": [sum(w * x for w, x in zip(weights, row)) for row in batch["rewards"]]}
    b = torch_batch(batch)
    switches = {name: x if isinstance(x, str) else f"{x:g}" for name, x in config.items() if name.startswith("UNSLOTH_") and x is not None}
    with sources.doubles(), mock.patch.dict(os.environ, {**OFF, **switches}), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        t = trainer_of(c, b, torch.tensor(batch["rewards"], dtype=torch.float64), weights)
        t.args = mock.Mock(wraps=None, spec_set=None, **{**vars(c), "steps_per_generation": 1, "gradient_accumulation_steps": 1,
                                                         "per_device_train_batch_size": b.rows, "unsloth_grpo_mini_batch": 1,
                                                         "unsloth_logit_chunk_multiplier": 1, "unsloth_num_chunks": -1, "report_to": []})
        inputs = scored(t, c, batch)
        if c.top_entropy_quantile < 1:
            counted = inputs["completion_mask"] * inputs["tool_mask"]
            batch["selected"] = ragged(t.get_high_entropy_mask(b.entropy.detach(), counted, 1 - c.top_entropy_quantile), b)
        b.leaf, t.model, t.processing_class = t.leaf, Model(), types.SimpleNamespace(pad_token_id=0)
        t._autocast_dtype, t._get_per_token_logps = None, lambda *_: None
        with mock.patch.object(p.zoo, "grpo_chunked_hidden_states_logprobs", lambda *_, **__: b.leaf), \
                mock.patch.object(p.zoo, "chunked_hidden_states_selective_log_softmax_recompute", lambda *_, **__: (b.leaf, b.entropy)):
            value = p.compute_loss(t, t.model, inputs)
    return answers(b, torch.where(b.mask, inputs["advantages"][:, None], 0), torch.ones_like(b.mask), value), batch


FRAMEWORKS = {"unsloth": Framework(drawer, run_trl.batch_with_singletons, run, 1e-9, PLANTED)}
