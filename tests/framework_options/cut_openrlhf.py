"""OpenRLHF's actor (written for openrlhf 0.11.2), with a batch cut into micro-batches and ranks: the gradient that the optimiser sees.

What runs is ActorPPOTrainer.ppo_train: the replay buffer and its loader, the windows of accumulation, dynamic batches by tokens, the loss
of a micro-batch, and the counts that it reduces over ranks; backward, step and all_reduce of DeepspeedStrategy; and DeepSpeed's engine on
CPUs over gloo, in the environment beside the frameworks (deepspeed 0.19.6, the release that openrlhf asks for), with OpenRLHF's own
configuration for float32. Replaced are the actor (a table with the log-probability of every token; with packing only the model in it), the
random order of the loader (the order that the cut asks for), ray, and the optimiser (SGD with a rate of 1, so that the parameters show the
gradient). Advantages are those of RemoteExperienceMaker for the whole batch.
"""
import os
import types

import cut_fsdp
import cut_ranks
from framework import Refused

NAME, FRAMEWORK, RELEASE = "openrlhf", "OpenRLHF", "0.11.2"
HEAD = """`ActorPPOTrainer.ppo_train` ran with its replay buffer, accumulation and dynamic batches, on DeepSpeed 0.19.6 (the release that
OpenRLHF asks for) with OpenRLHF's configuration of it, in one process and in two, in float32 on CPUs. Replaced are the model, ray, the
random order of the loader, and the optimiser (SGD). `ds.zero_stage` is 2 by default. With it and `train.dynamic_batch_enable`, DeepSpeed
is told that there is one micro-batch per step (`openrlhf/utils/deepspeed/deepspeed.py:451-453`); several are run, and each overwrites the
gradient of the one before (`deepspeed/runtime/zero/stage_1_and_2.py:955-963`). ZeRO 3 adds them up. A micro-batch always has
`train.micro_batch_size` responses, except with dynamic batches; responses that do not fill the last one are not used
(`openrlhf/trainer/ray/ppo_actor.py:167`). Where no token of a micro-batch counts on any rank, `ppo_train` ends in a ZeroDivisionError
(`openrlhf/trainer/ray/ppo_actor.py:219`). With `ds.packing_samples` the forward of OpenRLHF's actor packs the rows, splits them over a
ring and gathers log-probabilities, around a model without attention; of flash_attn, its padding functions are those of transformers, and
all_gather was written after it."""
GENERATIONS = 4


# ---- what is run

ACTOR, UTILS, LOSS = "openrlhf/trainer/ray/ppo_actor.py", "openrlhf/utils/loss_utils.py", "openrlhf/models/loss.py"
STEP, DYNAMIC = f"{UTILS}:53-78, {LOSS}:29-39", f"openrlhf/trainer/ppo_utils/replay_buffer.py:145-171, {LOSS}:29-39"
BASE = {"algo.advantage.estimator": "group_norm", "algo.kl.init_coef": 0}
SEQUENCES, GSPO = {"actor.loss_agg_mode": "seq-mean-token-mean"}, {"actor.policy_loss_type": "gspo"}
KL = {"algo.kl.use_loss": True, "algo.kl.estimator": "k3", "algo.kl.init_coef": 0.1}
BY_TOKENS = {"train.dynamic_batch_enable": True, "train.max_tokens_per_gpu": 12}
ZERO_3 = {"ds.zero_stage": 3}
LOST = f"openrlhf/utils/deepspeed/deepspeed.py:451-453, {ACTOR}:356-358; deepspeed/runtime/zero/stage_1_and_2.py:955-963"
PACKING, RING = "ds.packing_samples", "ds.ring_attn_size"
PACKED, SPLIT = {PACKING: True}, {PACKING: True, RING: 2}
UNPAD, GATHER = "; openrlhf/models/actor.py:236-239, 291-292", "; openrlhf/models/ring_attn_utils.py:142-149, 176-181"
TWO_STEPS = {"train.batch_size": "2 * micro_batch_size * ranks"}


def setting(name, config, where, expected="whole batch", **more):
    return {"name": name, "config": {**BASE, **config}, "where": where, "expected": expected, "tolerance": 1e-5,
            "own": "train.dynamic_batch_enable" in config, **more}


SETTINGS = [
    setting("token-mean, the default", {}, STEP),
    setting("token-mean with a KL", KL, STEP),
    setting("token-mean, two optimiser steps of a rollout", TWO_STEPS, STEP, window=2),
    setting("token-mean, ZeRO 3", ZERO_3, STEP),
    setting("token-mean, dynamic batches", BY_TOKENS, LOST, "last only"),
    setting("token-mean, dynamic batches, ZeRO 3", {**BY_TOKENS, **ZERO_3}, DYNAMIC),
    setting("token-mean with a KL, dynamic batches, ZeRO 3", {**KL, **BY_TOKENS, **ZERO_3}, DYNAMIC),
    setting("token-mean, packing_samples", PACKED, STEP + UNPAD),
    setting("token-mean, packing_samples, dynamic batches, ZeRO 3", {**PACKED, **BY_TOKENS, **ZERO_3}, DYNAMIC + UNPAD),
    setting("token-mean, ring attention", SPLIT, STEP + GATHER),
    setting("token-mean, ring attention, dynamic batches, ZeRO 3", {**SPLIT, **BY_TOKENS, **ZERO_3}, DYNAMIC + GATHER),
    setting("seq-mean-token-mean, ring attention", {**SEQUENCES, **SPLIT}, STEP + GATHER),
    setting("seq-mean-token-mean", SEQUENCES, STEP),
    setting("seq-mean-token-mean, two optimiser steps of a rollout", {**SEQUENCES, **TWO_STEPS}, STEP, window=2),
    setting("seq-mean-token-mean, dynamic batches", {**SEQUENCES, **BY_TOKENS}, LOST, "last only"),
    setting("seq-mean-token-mean, dynamic batches, ZeRO 3", {**SEQUENCES, **BY_TOKENS, **ZERO_3}, DYNAMIC),
    setting("gspo", GSPO, STEP),
    setting("gspo, dynamic batches, ZeRO 3", {**GSPO, **BY_TOKENS, **ZERO_3}, DYNAMIC),
    setting("the entropy", {"actor.entropy_coef": 0.1}, f"{STEP}, {ACTOR}:347-353", of="dentropy"),
    setting("the entropy, dynamic batches, ZeRO 3", {"actor.entropy_coef": 0.1, **BY_TOKENS, **ZERO_3}, f"{DYNAMIC}, {ACTOR}:347-353",
            of="dentropy"),
]
PLANTED = [("token-mean, the default", "openrlhf/models/loss.py",
            "/ batch_num_tokens * dp_size", "/ batch_num_tokens", "over ranks"),
           ("token-mean, ring attention", "openrlhf/models/loss.py", "/ batch_num_tokens * dp_size", "/ batch_num_tokens", "over ranks")]


# ---- by the framework's own code, in a process for each rank

def module_of(torch, tables, learns_entropy, batch, whole):
    """Tables of what the responses have, in float64, plus parameters of zero: after a step at a rate of 1 these are minus the gradient.
    whole: with logits for OpenRLHF's Actor, in place of log-probabilities."""
    class Tables(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.dlogp = torch.nn.Parameter(torch.zeros(tables["dlogp"].shape, dtype=torch.float32))
            self.dentropy = torch.nn.Parameter(torch.zeros_like(self.dlogp), learns_entropy)

        def forward(self, rows, width=None, **_):
            if whole:
                from transformers.modeling_outputs import CausalLMOutput
                at = torch.cat([x[:n] for x, n in zip(tables["dlogp"] + self.dlogp, batch["length"])])
                return CausalLMOutput(logits=cut_fsdp.logits_of(batch, at, rows))
            return [(tables[name] + x)[rows, :width] for name, x in (("dlogp", self.dlogp), ("dentropy", self.dentropy))]

    return Tables()


def engine_of(torch, module, own, c, size):
    """DeepSpeed's engine as OpenRLHF configures it, with SGD and without clipping."""
    import sys
    import deepspeed
    sys.modules["deepspeed.comm.torch"].build_shm_op = lambda: None  # compiles a kernel for shared memory
    config = own.get_train_ds_config(offload=False, adam_offload=False, stage=c["ds.zero_stage"], param_dtype="fp32", max_norm=0.0, zpg=1)
    config["zero_allow_untested_optimizer"] = True
    config["train_micro_batch_size_per_gpu"] = 1 if c["train.dynamic_batch_enable"] else size
    if c["train.dynamic_batch_enable"]:
        config["gradient_accumulation_steps"] = 1
    else:
        config["train_batch_size"] = c["train.batch_size"] * c[RING]
    learned = [x for x in module.parameters() if x.requires_grad]
    return deepspeed.initialize(model=module, optimizer=torch.optim.SGD(learned, lr=1.0), config=config, dist_init_required=False)[0]


def trainer_module(torch):
    """openrlhf.trainer.ray.ppo_actor and the functions of the strategy, without ray and DeepSpeed."""
    import sys
    import deepspeed  # noqa: F401  before the adapter, which has a stand-in for it
    import openrlhf_adapter as adapter
    from running import functions_of
    from stand_ins import module_stand_in, names_stand_in
    sys.modules["ray"].remote = lambda *a, **_: a[0] if a else (lambda kind: kind)
    root = adapter.ROOT
    context = {"torch": torch, "dist": torch.distributed, "F": torch.nn.functional, "Actor": Actor}
    pad = functions_of(os.path.join(root, "utils", "utils.py"), ["zero_pad_sequences"], **context).zero_pad_sequences
    sys.modules["openrlhf.trainer.ppo_utils.experience"].zero_pad_sequences = pad
    models, ppo = sys.modules["openrlhf.models"], sys.modules["openrlhf.trainer.ppo_utils"]
    models.Actor, models.PolicyLoss, models.aggregate_loss = Actor, adapter.PolicyLoss, adapter.aggregate_loss
    sys.modules["openrlhf.utils"].get_tokenizer = None
    names_stand_in("openrlhf.utils.deepspeed", "openrlhf.utils.deepspeed.deepspeed_utils", "openrlhf.utils.vlm_utils",
                   "openrlhf.utils.logging_utils", "openrlhf.trainer.ray.utils")
    sys.modules["openrlhf.utils.logging_utils"].init_logger = lambda *_: None
    module_stand_in("openrlhf.utils.distributed_util", stateless_init_process_group=None, torch_dist_barrier_and_cuda_sync=lambda: None)
    module_stand_in("openrlhf.trainer.ray.launcher", RayActorGroup=object, BaseModelActor=object)
    from openrlhf.trainer.ppo_utils.replay_buffer import NaiveReplayBuffer
    ppo.NaiveReplayBuffer = NaiveReplayBuffer
    from openrlhf.trainer.ray import ppo_actor
    loader = torch.utils.data.DataLoader
    ppo_actor.DataLoader = lambda *of, shuffle=None, **how: loader(*of, shuffle=False, **how)
    own = functions_of(os.path.join(root, "utils", "deepspeed", "deepspeed.py"), ["backward", "optimizer_step", "all_reduce"],
                       "DeepspeedStrategy", **context)
    own.get_train_ds_config = functions_of(os.path.join(root, "utils", "deepspeed", "deepspeed_utils.py"), ["get_train_ds_config"]
                                           ).get_train_ds_config
    return adapter, ppo_actor, own


class Actor:
    """The log-probabilities of the responses, which the first token of a sequence names: the prompt."""
    is_vlm = False

    def __init__(self, engine, first_prompt=0):
        self.model, self.first_prompt = engine, first_prompt

    def train(self):
        self.model.train()

    def __call__(self, sequences, action_mask, **_):
        logp, entropy = self.model(sequences[:, 0] - self.first_prompt, action_mask.shape[1])
        return logp, types.SimpleNamespace(entropy=entropy)


def nested(options):
    """{"a.b": x} as attributes"""
    found = types.SimpleNamespace()
    for name, value in options.items():
        *above, last = name.split(".")
        at = found
        for part in above:
            at.__dict__.setdefault(part, types.SimpleNamespace())
            at = getattr(at, part)
        setattr(at, last, value)
    return found


def options_of(adapter, config, parts):
    from run_openrlhf import parser_defaults
    c = {**parser_defaults(os.path.join(adapter.ROOT, "cli", "train_ppo_ray.py")), **config}
    ranks, size, count = len(parts), len(parts[0][0]), len(parts[0])
    window = int(str(config["train.batch_size"])[0]) if "train.batch_size" in config else count
    responses = sum(len(part) for rank in parts for part in rank)
    c["train.batch_size"] = responses if c["train.dynamic_batch_enable"] else window * size * ranks
    c.update({"rollout.batch_size": responses // GENERATIONS, "rollout.n_samples_per_prompt": GENERATIONS, "train.max_epochs": 1,
              PACKING: config.get(PACKING, False), RING: config.get(RING, 1), "ds.tensor_parallel_size": 1, "vllm.sync_backend": "gloo",
              "train.colocate_all": False, "train.async_enable": False})
    c["actor.eps_clip_low_high"] = c["actor.eps_clip_low_high"] or (c["actor.eps_clip"],) * 2
    return c, size, 1 if c["train.dynamic_batch_enable"] else window


def whole_actor(torch, adapter, c, engine, mesh):
    """OpenRLHF's Actor with this model, and the group of its ring; of flash_attn, which it imports, what transformers and torch have."""
    import importlib.util
    import einops
    import torch.distributed as dist
    from running import functions_of
    from stand_ins import module_stand_in
    from transformers import modeling_flash_attention_utils as padding

    class Gathered(torch.autograd.Function):  # the gradient is a reduce_scatter, as in flash_attn/utils/distributed.py
        @staticmethod
        def forward(ctx, x, group):
            ctx.group, ctx.rows = group, x.shape[0]
            found = [torch.empty_like(x) for _ in range(dist.get_world_size(group))]
            dist.all_gather(found, x.contiguous(), group=group)
            return torch.cat(found)

        @staticmethod
        def backward(ctx, gradient):
            gradient, rank = gradient.contiguous(), dist.get_rank(ctx.group)
            dist.all_reduce(gradient, group=ctx.group)
            return gradient[rank * ctx.rows:(rank + 1) * ctx.rows], None
    for name, more in (("flash_attn", {}), ("flash_attn.utils", {}), ("flash_attn.utils.distributed", {"all_gather": Gathered.apply}),
                       ("flash_attn.bert_padding", {"pad_input": padding._pad_input, "unpad_input": padding._unpad_input,
                                                    "index_first_axis": lambda x, at: x[at], "rearrange": einops.rearrange}),
                       ("ring_flash_attn", {"update_ring_flash_attn_params": lambda *_: None})):
        module_stand_in(name, **more)
    models = os.path.join(adapter.ROOT, "models")
    spec = importlib.util.spec_from_file_location("ring_attn_utils", os.path.join(models, "ring_attn_utils.py"))
    ring = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ring)
    own = functions_of(os.path.join(models, "utils.py"), ["log_probs_from_logits", "_logsumexp_by_chunk"], torch=torch)
    names = {"log_probs_from_logits": own.log_probs_from_logits, "gather_and_pad_tensor": ring.gather_and_pad_tensor,
             "unpad_and_slice_tensor": ring.unpad_and_slice_tensor}
    forward = functions_of(os.path.join(models, "actor.py"), ["forward"], "Actor", torch=torch, **names).forward
    group = mesh["sp"].get_group() if c[RING] > 1 else None
    ring.set_ring_attn_group(group)

    class Whole(Actor):
        packing_samples, temperature = c[PACKING], 1.0

        def __call__(self, *of, **how):
            return forward(self, *of, **how)
    return Whole(engine), group


def experience_of(torch, adapter, c, batch, b, rows):
    """The responses of a rank, with the advantages of the whole batch."""
    maker = adapter.maker_of(c, GENERATIONS)
    advantage = maker.compute_advantages_and_returns([adapter.experience_of(b, torch.zeros_like(b.logp))])[0].advantages
    longest = max(batch["length"][i] for i in rows)
    of = lambda x: x[rows, :longest].clone()
    sequences, attention = torch.zeros(len(rows), longest + 1, dtype=torch.long), torch.zeros(len(rows), longest + 1, dtype=torch.long)
    prompts, numbers = cut_fsdp.first_tokens(batch), cut_fsdp.numbers(batch)
    for k, i in enumerate(rows):
        sequences[k, :batch["length"][i] + 1], attention[k, :batch["length"][i] + 1] = torch.tensor([prompts[i]] + numbers[i]), 1
    return adapter.Experience(
        sequences=sequences, attention_mask=attention, action_mask=of(b.mask), action_log_probs=of(b.logp_old), info={},
        base_action_log_probs=of(b.logp_ref), rollout_log_probs=of(b.logp_rollout), advantages=of(advantage),
        total_length=torch.tensor([batch["length"][i] + 1 for i in rows]))


def of_rank(config, batch, parts, rank):
    os.environ["DS_ACCELERATOR"] = "cpu"
    import torch
    import torch.distributed as dist
    if not dist.is_initialized():
        dist.init_process_group("gloo")
    adapter, ppo_actor, own = trainer_module(torch)
    from running import torch_batch
    b = torch_batch(batch)
    c, size, accumulation = options_of(adapter, config, parts)
    whole = bool({PACKING, RING} & {*config})
    module = module_of(torch, {"dlogp": b.logp, "dentropy": b.entropy.detach()}, bool(c["actor.entropy_coef"]), batch, whole)
    engine = engine_of(torch, module, own, c, size)
    mesh = dist.init_device_mesh("cpu", (dist.get_world_size() // c[RING], c[RING]), mesh_dim_names=("dp", "sp"))
    actor, ring = whole_actor(torch, adapter, c, engine, mesh) if whole else (Actor(engine, sum(batch["length"])), None)
    strategy = types.SimpleNamespace(
        args=nested(c), ring_attn_group=ring, accumulated_gradient=accumulation, world_size=dist.get_world_size(),
        is_rank_0=lambda: False, get_grad_norm=lambda *_: 0.0, backward=lambda *of: own.backward(None, *of),
        optimizer_step=lambda *of, **how: own.optimizer_step(None, *of, **how),
        all_reduce=lambda x, op="mean": own.all_reduce(strategy, x, op),
        ds_device_mesh=mesh)
    torch.cuda.current_device = lambda: 0
    trainer = ppo_actor.ActorPPOTrainer(
        strategy, actor, None, None, types.SimpleNamespace(get_last_lr=lambda: [0.0]), micro_train_batch_size=size,
        dataloader_pin_memory=False)
    torch.cuda.current_device = lambda: "cpu"
    rows = [i for part in parts[rank // c[RING]] for i in part]
    trainer.replay_buffer.append(experience_of(torch, adapter, c, batch, b, rows))
    try:
        trainer.ppo_train(c["algo.kl.init_coef"])
    except ZeroDivisionError:
        raise Refused("no token counts in a micro-batch of all ranks: ppo_train ends in a ZeroDivisionError") from None
    made = [[rows[k] for k in part] for part in trainer.replay_buffer.dynamic_indices] or parts[rank // c[RING]]
    from deepspeed.utils import safe_get_full_fp32_param
    full = {name: -(safe_get_full_fp32_param(x) if c["ds.zero_stage"] else x.detach()) if x.requires_grad else x.detach()
            for name, x in module.named_parameters()}
    return {**{name: [row[:n].tolist() for row, n in zip(x, batch["length"])] for name, x in full.items()}, "parts": made}


def gradient(config, batch, parts):
    sizes = {len(part) for rank in parts for part in rank}
    if len(sizes) > 1 or len({len(rank) for rank in parts}) > 1:
        if not config.get("train.dynamic_batch_enable") or len({sum(map(len, rank)) for rank in parts}) > 1:
            raise Refused("every micro-batch has micro_batch_size responses, every rank as many")
    if "train.batch_size" in config and len(parts[0]) < 2:
        raise Refused("the rollout has less than an optimiser step")
    found = cut_ranks.run("cut_openrlhf", config, batch, parts, config.get(RING, 1))
    assert all(x["dlogp"] == found[0]["dlogp"] for x in found), "the ranks see different gradients"
    return {**found[0], "parts": [x["parts"] for x in found[::config.get(RING, 1)]]}
