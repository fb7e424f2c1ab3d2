"""verl (written for verl 0.9.1): what its trainer makes of a batch that is cut into ranks and micro-batches.

Run by its own code: the advantages (as in run_verl.py), _update_actor of both trainers (the counts that they pass), TrainingWorker
(mini-batches), the FSDP engine (counts over the ranks, the split into micro-batches, fixed or by tokens, forward_backward_batch,
optimizer_step), ppo_loss, and FSDP2 of torch, which averages gradients over the ranks, in one process per rank.

Replaced: the model, which has a parameter for each token of the batch, its log-probability (and its entropy), and with it the engine's
code from logits to log-probabilities, except where use_remove_padding or Ulysses is a setting: there the model gives logits, each place by
itself (attention, and with it what Ulysses does there, is not run); the transfer queue of the trainer with use_v1, here a batch of nested
tensors as it would give; the dispatch to the ranks, equal consecutive shares as in verl; the optimiser, which keeps the gradient. Devices
are a platform "cpu", registered as verl provides for it.
"""
import functools
import importlib.abc
import importlib.machinery
import os
import sys
import types
import warnings
from unittest import mock

import cut_fsdp
import cut_ranks
from cut_fsdp import flat

os.environ["VERL_PLATFORM"] = "cpu"
NAME, RELEASE, FRAMEWORK = "verl", "0.9.1", "verl"
HEAD = """The update of both trainers, the worker, the FSDP engine and the loss ran as they are, in one process and in two with FSDP2 of
torch. Replaced are the model, the transfer queue, the dispatch to ranks and the optimiser. verl gives every rank as many responses as the
others, and with `ppo_micro_batch_size_per_gpu` every micro-batch; with `use_dynamic_bsz` it cuts by tokens. `ppo_mini_batch_size` times
`rollout.n` is the number of responses, unless it is given. Where `use_remove_padding` is given, the engine's own code packs the rows,
splits them over the ranks of `ulysses_sequence_parallel_size` and gathers log-probabilities again, of a model without attention. Megatron
was not run."""
PROMPT = 2  # tokens of a prompt
PADDED = 7  # responses of the trainer without use_v1 are padded to the length that the configuration allows


# ---- what is compared

ACTOR, CORRECTION = "actor_rollout_ref.actor.", "algorithm.rollout_correction."
CORE, ENGINE = "verl/trainer/ppo/core_algos.py:", "verl/workers/engine/fsdp/transformer_impl.py:730-737"
TOKENS = CORE + "1169-1175; " + ENGINE
RESPONSES = CORE + "1194-1202; verl/trainer/ppo/v1/trainer_base.py:1851"
NORM = {ACTOR + "loss_agg_mode": "seq-mean-token-sum-norm"}
MODE, MEAN = ACTOR + "policy_loss.loss_mode", {ACTOR + "loss_agg_mode": "seq-mean-token-mean"}


def setting(name, config, where, expected="whole batch", **more):
    """1e-8 is added to numbers of tokens in means over responses."""
    means = "seq-mean-token-mean" in config.values() or config.get(MODE) in ("sapo", "geo_mean")
    return {"name": name, "config": {"algorithm.adv_estimator": "grpo", **config}, "where": where, "expected": expected,
            "own": bool(config.get(ACTOR + "use_dynamic_bsz")), **({"tolerance": 1e-7} if means else {}), **more}


def largest_covariances(batch, ratio=0.0002):
    """kl_mask as kl_cov chooses it in a micro-batch: the largest products of the deviations of advantage and log-probability."""
    import torch
    places = [(i, t) for i, n in enumerate(batch["length"]) for t in range(n) if "mask" not in batch or batch["mask"][i][t]]
    a, l = (torch.tensor([float(batch[name][i][t]) for i, t in places], dtype=torch.float64) for name in ("advantage", "logp"))
    chosen = torch.topk((a - a.mean()) * (l - l.mean()), max(1, int(len(places) * ratio))).indices.tolist()
    return {"kl_mask": [[(i, t) in [places[k] for k in chosen] for t in range(n)] for i, n in enumerate(batch["length"])]}


def current_weights(batch):
    """The weights of bypass_mode are those of the policy that is trained over the sampler, as numbers."""
    return {"logp_old": batch["logp"]}


# REINFORCE with such weights, truncated at 2 and divided by their mean
BYPASS = {"trainer.use_v1": False, CORRECTION + "bypass_mode": True, CORRECTION + "loss_type": "reinforce",
          CORRECTION + "rollout_is": "token"}
WEIGHTS = {"surrogate.kind": "reinforce", "ratio.behaviour": "old", "weight.rollout_is": "truncate", "weight.rollout_is_low": 0,
           "weight.rollout_is_high": 2, "weight.rollout_is_level": "token"}
BY_TOKENS = {ACTOR + "use_dynamic_bsz": True, ACTOR + "ppo_max_token_len_per_gpu": 20}
LONGEST = {"fields": lambda batch: {"aggregation.constant": max(batch["length"])}}
FILLED, FILLING = {ACTOR + "ppo_mini_batch_size": 24}, "verl/trainer/ppo/v1/trainer_base.py:1619-1621, 1851"
KL, REJECTED = {ACTOR + "use_kl_loss": True, ACTOR + "kl_loss_coef": 0.5}, {
    CORRECTION + "rollout_rs": "seq_mean_k3", CORRECTION + "rollout_rs_threshold": 0.05}

SHARING, PADDING, FILL = ACTOR + "ulysses_sequence_parallel_size", "actor_rollout_ref.model.use_remove_padding", ACTOR + "pad_to_length"
WHOLE = {SHARING, PADDING}  # where the engine's own code goes from the micro-batch to log-probabilities
PACKED, SPLIT = {PADDING: True}, {PADDING: True, SHARING: 2}
OWN, GATHER = "verl/workers/engine/fsdp/transformer_impl.py:{}; ", "verl/utils/ulysses.py:198-238; "
TAIL = {FILL: True, ACTOR + "fsdp_config.pad_to_length_bucket": 16}

SETTINGS = [
    setting("token-mean (the default)", {}, TOKENS),
    setting("token-mean, use_dynamic_bsz", BY_TOKENS, TOKENS + "; verl/utils/seqlen_balancing.py:345-505"),
    setting("token-mean, legacy trainer", {"trainer.use_v1": False}, TOKENS),
    setting("token-mean, use_remove_padding", PACKED, OWN.format("1182-1259, 1358-1453") + TOKENS),
    setting("token-mean, use_remove_padding false", {PADDING: False}, OWN.format("1274-1313, 1477-1530") + TOKENS),
    setting("token-mean, pad_to_length", {**PACKED, **TAIL}, OWN.format("665-689, 1207-1213") + TOKENS),
    setting("token-mean, Ulysses", SPLIT, GATHER + TOKENS),
    setting("token-mean, Ulysses, use_dynamic_bsz", {**SPLIT, **BY_TOKENS, ACTOR + "ppo_max_token_len_per_gpu": 10},
            GATHER + TOKENS + "; verl/workers/engine/utils.py:104-111"),
    setting("seq-mean-token-mean, Ulysses", {**SPLIT, **MEAN}, GATHER + RESPONSES),
    setting("KL, token-mean, Ulysses, pad_to_length", {**KL, **SPLIT, **TAIL}, GATHER + "verl/workers/utils/losses.py:124-135; " + TOKENS),
    setting("token-sum", {ACTOR + "loss_agg_mode": "token-sum"}, CORE + "1176-1180"),
    setting("seq-mean-token-sum", {ACTOR + "loss_agg_mode": "seq-mean-token-sum"},
            CORE + "1181-1188; verl/trainer/ppo/v1/trainer_base.py:1851"),
    setting("seq-mean-token-mean", MEAN, RESPONSES),
    setting("seq-mean-token-mean, use_dynamic_bsz", {**MEAN, **BY_TOKENS},
            RESPONSES + "; verl/utils/seqlen_balancing.py:345-505"),
    setting("seq-mean-token-sum-norm", NORM, CORE + "1189-1193; verl/workers/utils/losses.py:79-84", "mean of means", **LONGEST),
    setting("seq-mean-token-sum-norm, use_dynamic_bsz", {**NORM, **BY_TOKENS},
            CORE + "1189-1193; verl/workers/utils/losses.py:79-84", "by responses", **LONGEST),
    setting("seq-mean-token-sum-norm, loss_scale_factor", {**NORM, ACTOR + "loss_scale_factor": 6}, CORE + "1189-1193"),
    setting("seq-mean-token-sum-norm, legacy trainer", {**NORM, "trainer.use_v1": False},
            CORE + "1189-1193; verl/workers/utils/padding.py:44-45: padded to the width of the generation",
            fields={"aggregation.constant": PADDED}),
    setting("token-mean, filled up", FILLED, TOKENS + "; " + FILLING),
    setting("seq-mean-token-sum, filled up", {**FILLED, ACTOR + "loss_agg_mode": "seq-mean-token-sum"}, CORE + "1181-1188; " + FILLING,
            fields={"aggregation.kind": "seq_mean_constant", "aggregation.constant": 1.5},
            note="16 responses, filled up to a mini-batch of 24 by ones without tokens: the divisor is 24"),
    setting("KL, token-mean", KL, "verl/workers/utils/losses.py:124-135; " + TOKENS),
    setting("KL, seq-mean-token-mean", {**KL, **MEAN}, "verl/workers/utils/losses.py:124-135; " + RESPONSES),
    setting("entropy bonus, token-mean", {ACTOR + "entropy_coeff": 0.5}, "verl/workers/utils/losses.py:115-121; " + TOKENS, of="dentropy"),
    setting("entropy bonus, seq-mean-token-mean", {ACTOR + "entropy_coeff": 0.5, **MEAN},
            "verl/workers/utils/losses.py:115-121; " + RESPONSES, of="dentropy"),
    setting("gspo", {MODE: "gspo", **MEAN}, CORE + "1605-1607"),
    setting("sapo", {MODE: "sapo"}, CORE + "1688-1690"),
    setting("gpg", {MODE: "gpg"}, CORE + "1737-1739"),
    setting("cispo", {MODE: "cispo"}, CORE + "2093-2095"),
    setting("dppo_tv", {MODE: "dppo_tv"}, CORE + "1445-1447"),
    setting("geo_mean", {MODE: "geo_mean"}, CORE + "2000: torch.mean in the micro-batch, which nothing divides by their number",
            "sum of means", note="an open issue, verl #7913"),
    setting("kl_cov", {MODE: "kl_cov"}, CORE + "1899-1913", "by tokens", arrays=largest_covariances),
    setting("rollout_is token", {CORRECTION + "rollout_is": "token"}, TOKENS),
    setting("rollout_is token, rollout_is_batch_normalize",
            {CORRECTION + "rollout_is": "token", CORRECTION + "rollout_is_batch_normalize": True},
            TOKENS + "; verl/trainer/ppo/v1/trainer_base.py:1766-1775: the weights are of the generation"),
    setting("bypass_mode, reinforce, legacy trainer", BYPASS, TOKENS, fields=WEIGHTS, arrays=current_weights),
    setting("bypass_mode, reinforce, rollout_is_batch_normalize, legacy trainer",
            {**BYPASS, CORRECTION + "rollout_is_batch_normalize": True},
            "verl/trainer/ppo/core_algos.py:2496-2508, verl/trainer/ppo/rollout_corr_helper.py:628-652", "slices by tokens",
            fields={**WEIGHTS, "weight.rollout_is_norm": "mean"}, arrays=current_weights),
    setting("rollout_rs, token-mean", REJECTED, TOKENS),
    setting("rollout_rs, token-mean, legacy trainer", {**REJECTED, "trainer.use_v1": False}, TOKENS + "; verl/workers/utils/padding.py:71"),
]
PLANTED = [("token-mean (the default)", "verl/trainer/ppo/core_algos.py",
            "(loss_mat, loss_mask) / batch_num_tokens * dp_size", "(loss_mat, loss_mask) / batch_num_tokens", "over ranks"),
           ("token-mean, Ulysses", "verl/utils/ulysses.py",
            "grad_output = grad_output * ctx.sp_world_size", "pass", None)]


# ---- the framework in a rank

class Missing(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Packages that are imported and not needed: names in them are empty classes, functions of them decorators without effect."""
    PACKAGES = ("ray", "peft", "transfer_queue")

    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in self.PACKAGES:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        from stand_ins import Names
        return Names(spec.name)

    def exec_module(self, module):
        module.remote = lambda x: x


def platform():
    """torch's CPU as a platform of verl."""
    import torch
    from verl.plugin.platform.platform_base import PlatformBase
    from verl.plugin.platform.platform_manager import PlatformRegistry
    values = {"device_name": property(lambda _: "cpu"), "vendor_name": property(lambda _: "cpu"),
              "device_module": property(lambda _: types.SimpleNamespace(
                  max_memory_allocated=lambda: 0, max_memory_reserved=lambda: 0, empty_cache=lambda: None, current_device=lambda: "cpu"))}
    answers = {"is_available": True, "is_platform_available": True, "current_device": "cpu", "device_count": 1,
               "communication_backend_name": "gloo"}
    for name in PlatformBase.__abstractmethods__:
        if name not in values:
            values[name] = lambda _, *of, answer=answers.get(name), **how: answer
    PlatformRegistry.register("cpu")(type("PlatformCPU", (PlatformBase,), values))
    return torch


def engines(of_verl):
    """verl's engine as it is from the micro-batch to log-probabilities, and with the model's part replaced."""
    import torch
    from verl.utils import tensordict_utils as tu
    from verl.utils.ulysses import set_ulysses_sequence_parallel_group

    class WholeEngine(of_verl):
        """From the micro-batch to log-probabilities by its own code."""
        def __init__(self, module, optimizer, engine_config):
            self.module, self.optimizer, self.engine_config = module, optimizer, engine_config
            self.optimizer_config = types.SimpleNamespace(clip_grad=float("inf"))
            self._qat_enabled = self.scaler = None
            self.pad_to_length, self.pad_to_length_bucket = engine_config.pad_to_length, engine_config.pad_to_length_bucket
            self._init_device_mesh()
            set_ulysses_sequence_parallel_group(self.ulysses_parallel_group)  # as train_mode does
            self._autocast_dtype = torch.float32  # no autocast
            self.lr_scheduler = types.SimpleNamespace(step=lambda: None, get_last_lr=lambda: [0.0])
            self.micro_batches = []

        def is_mp_src_rank_with_outputs(self):
            return True

        def train_mode(self, **_):
            from contextlib import nullcontext
            return nullcontext()

        def prepare_model_inputs(self, micro_batch):
            self.micro_batches.append([i for i in micro_batch["number"].tolist() if i < self.module.responses])
            return super().prepare_model_inputs(micro_batch)

    class Engine(WholeEngine):
        """Whose model gives log-probabilities and entropies."""
        def prepare_model_inputs(self, micro_batch):
            self.micro_batches.append([i for i in micro_batch["number"].tolist() if i < self.module.responses])
            tokens = torch.roll(micro_batch["input_ids"].values(), -1)  # a place has the number of the next token
            tokens = tokens.where(tokens < self.module.logp.numel(), 0)
            return {"tokens": tokens}, micro_batch["input_ids"].offsets()

        def prepare_model_outputs(self, output, output_args, micro_batch, logits_processor_func):
            nested = lambda x: torch.nested.nested_tensor_from_jagged(x, offsets=output_args)
            found = {"log_probs": nested(output[0])}
            if tu.get_non_tensor_data(micro_batch, "calculate_entropy", False):
                found["entropy"] = nested(output[1])
            return found
    return WholeEngine, Engine


@functools.cache
def parts():
    """Classes and functions of verl, the engine with the model's part replaced."""
    from stand_ins import names_stand_in
    sys.meta_path.insert(0, Missing())
    names_stand_in("verl.utils.dataset.rl_dataset", "verl.utils.dataset.vision_utils", "verl.checkpoint_engine",
                   "verl.workers.rollout.base")
    platform()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # engines that are not there
        from verl.workers.engine.fsdp.transformer_impl import FSDPEngineWithLMHead
        from verl.workers import engine_workers
    import verl
    from running import functions_of
    from verl.workers.utils import losses
    whole = losses.no_padding_2_padding
    import run_verl
    run_verl.parts()  # whose batches are padded already
    losses.no_padding_2_padding = whole
    from verl.trainer.distillation import is_distillation_enabled
    from verl.trainer.ppo.padding_utils import construct_minimal_padding_template
    from verl.utils import tensordict_utils as tu
    from verl.workers.utils.padding import left_right_2_no_padding
    names = {"is_distillation_enabled": is_distillation_enabled, "left_right_2_no_padding": left_right_2_no_padding, "tu": tu}
    file = lambda *where: os.path.join(os.path.dirname(verl.__file__), "trainer", "ppo", *where)
    update = lambda *where: functions_of(file(*where), ("_update_actor",), **names)._update_actor
    WholeEngine, Engine = engines(FSDPEngineWithLMHead)
    return types.SimpleNamespace(Engine=Engine, WholeEngine=WholeEngine, Worker=engine_workers.TrainingWorker,
                                 ppo_loss=engine_workers.ppo_loss, tu=tu, filling=construct_minimal_padding_template,
                                 Profiler=engine_workers.DistProfiler, update_v1=update("v1", "trainer_base.py"),
                                 update_legacy=update("ray_trainer.py"))


def worker_of(c, batch, whole):
    """verl's worker with the model that has these numbers, or logits of them, and the optimiser."""
    v = parts()
    from verl.utils.config import omega_conf_to_dataclass
    actor = omega_conf_to_dataclass(c.actor_rollout_ref.actor)
    model = cut_fsdp.model_of(batch, whole)
    model.responses = len(batch["length"])
    kept, worker = cut_fsdp.Kept(model), object.__new__(v.Worker)
    worker.engine_config = types.SimpleNamespace(  # as engine_workers.py:553-566 sets it
        use_dynamic_bsz=actor.use_dynamic_bsz, max_token_len_per_gpu=actor.ppo_max_token_len_per_gpu, forward_only=False,
        micro_batch_size_per_gpu=actor.ppo_micro_batch_size_per_gpu, use_fused_kernels=False, use_no_sync_for_gradient_accumulation=True,
        fsdp_size=-1, ulysses_sequence_parallel_size=actor.fsdp_config.ulysses_sequence_parallel_size,
        pad_to_length=actor.fsdp_config.pad_to_length, pad_to_length_bucket=actor.fsdp_config.pad_to_length_bucket)
    worker.engine = (v.WholeEngine if whole else v.Engine)(model, kept, worker.engine_config)
    worker.model_config = {"use_remove_padding": c.actor_rollout_ref.model.use_remove_padding}
    worker.flops_counter, worker.device_name, worker.profiler = None, "cpu", v.Profiler(0, config=None)
    worker.loss_fn = functools.partial(v.ppo_loss, config=actor)
    return worker, kept


class Trained(Exception):
    """The update is done; what the trainer does then are metrics."""


def trained(c, data, own, batch, whole):
    """A rank, whose responses are `own`: what its optimiser sees in one step."""
    v = parts()
    import torch
    worker, kept = worker_of(c, batch, whole)
    trainer = types.SimpleNamespace(config=c, actor_rollout_wg=types.SimpleNamespace())
    torch.manual_seed(0)

    def update(batch):
        if c.trainer.use_v1:
            rows = v.tu.get_tensordict(nested({name: [x[i] for i in own] for name, x in data.items()}), batch.extra_info)
        else:
            rows = v.tu.chunk_tensordict(batch, worker.engine.get_data_parallel_size())[worker.engine.get_data_parallel_rank()]
        worker.train_mini_batch(rows)
        raise Trained
    trainer.actor_rollout_wg.update_actor = update
    with mock.patch.object(torch.Tensor, "float", torch.Tensor.double):
        try:
            if c.trainer.use_v1:
                v.update_v1(trainer, types.SimpleNamespace(extra_info={}), {})
            else:
                v.update_legacy(trainer, padded(data))
        except Trained:
            pass
    return kept.answer(batch, worker.engine.micro_batches)


def nested(data):
    """{name: rows, or numbers} as the transfer queue gives it."""
    import torch
    rows = lambda x: torch.nested.as_nested_tensor([torch.tensor(row) for row in x], layout=torch.jagged)
    return {name: rows(x) if isinstance(x[0], list) else torch.tensor(x) for name, x in data.items()}


def padded(data):
    """The batch of the trainer without use_v1: responses padded to the length that the configuration allows."""
    import torch
    from verl import DataProto
    longer = lambda row, width: row + [0] * (width - len(row))
    whole = ("input_ids", "position_ids", "attention_mask")
    rows = lambda name, x: torch.tensor([longer(row, PADDED + PROMPT * (name in whole)) for row in x])
    data = {**data, "attention_mask": [[1] * len(row) for row in data["input_ids"]]}
    data.pop("loss_mask")
    return DataProto.from_dict({name: rows(name, x) if isinstance(x[0], list) and name != "prompts" else torch.tensor(x)
                                for name, x in data.items()})


# ---- the batch, and what comes back

def equal(parts_of_ranks, c):
    """verl gives every rank as many responses as the others, and every micro-batch of a fixed size as many as the others."""
    from framework import Refused
    filled = c.actor_rollout_ref.actor.ppo_mini_batch_size // len(parts_of_ranks)
    if not c.actor_rollout_ref.actor.use_dynamic_bsz and filled % max(len(part) for own in parts_of_ranks for part in own):
        raise Refused("micro-batches that do not fill the mini-batch")
    micro = {len(part) for rank in parts_of_ranks for part in rank}
    if len({sum(map(len, rank)) for rank in parts_of_ranks}) > 1 or not c.actor_rollout_ref.actor.use_dynamic_bsz and len(micro) > 1:
        raise Refused("unequal numbers of responses")
    return micro.pop() if len(micro) == 1 else None


def data_of(c, b, batch):
    """The arrays that the update gets, a row for each response, after the trainer's advantages and rollout correction."""
    import numpy as np
    import torch
    import run_verl
    with mock.patch.object(torch, "float32", torch.float64), mock.patch.object(np, "float32", np.float64):
        given = run_verl.advantages_of(c, run_verl.data_of(c, b, batch), b.rows).batch
    rows = lambda x: [row[:n].tolist() for row, n in zip(x, b.length)]
    data = {"prompts": [[0] * PROMPT for _ in b.length], "responses": [[1] * n for n in b.length], "number": list(range(b.rows)),
            "input_ids": [[first] * PROMPT + row for first, row in zip(cut_fsdp.first_tokens(batch), cut_fsdp.numbers(batch))],
            "position_ids": [list(range(PROMPT + n)) for n in b.length], "loss_mask": rows(b.mask.long())}
    names = ("response_mask", "old_log_probs", "advantages", "ref_log_prob", "rollout_log_probs", "rollout_is_weights")
    data.update({name: rows(given[name]) for name in names if name in given})
    return data


def filled_up(data, count):
    """The arrays with so many more responses, as _balance_batch makes them, and what the trainer then computes for these."""
    import torch
    made, _ = parts().filling({"position_ids": torch.tensor(data["position_ids"][0])}, {}, 0)
    for k in range(count):
        row = {**{name: x.tolist() for name, x in made.items() if isinstance(x, torch.Tensor)}, "number": len(data["number"])}
        data = {name: x + [row.get(name, [0.0])] for name, x in data.items()}
    return data


def varied(data, parts_of_ranks):
    """Refuses what has no answer: if all advantages of a micro-batch are equal, so are all covariances, and rounding chooses."""
    from framework import Refused
    for part in (part for own in parts_of_ranks for part in own):
        advantages = [a for i in part for a, counts in zip(data["advantages"][i], data["response_mask"][i]) if counts]
        if advantages and max(advantages) - min(advantages) < 1e-9:
            raise Refused("a micro-batch with equal advantages: rounding chooses the tokens")


def bypasses(c):
    """As the trainer without use_v1: loss_mode becomes bypass_mode, and the loss gets the options of the correction."""
    import run_verl
    rows = types.SimpleNamespace(batch={"rollout_log_probs": None})
    run_verl.parts().helper.apply_bypass_mode(rows, c.algorithm.rollout_correction, c.actor_rollout_ref.actor.policy_loss)


def of_rank(config, batch, parts_of_ranks, rank):
    """What the optimiser of the rank sees."""
    parts()
    cut_fsdp.start()
    import run_verl
    from running import torch_batch
    c = run_verl.config_of({ACTOR + "ppo_mini_batch_size": len(batch["length"]), "actor_rollout_ref.rollout.n": 1, **config})
    micro = equal(parts_of_ranks, c)
    if not c.actor_rollout_ref.actor.use_dynamic_bsz:
        c.actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu = micro
    batch = {**batch, "rewards": [[x, x] for x in batch["reward"]]}
    data = data_of(c, torch_batch(batch), batch)
    if c.algorithm.rollout_correction.bypass_mode:
        bypasses(c)
    if config.get(MODE) == "kl_cov":
        varied(data, parts_of_ranks)
    if not c.trainer.use_v1:
        data = {name: [x[i] for own in parts_of_ranks for i in flat(own)] for name, x in data.items()}
    more = (c.actor_rollout_ref.actor.ppo_mini_batch_size - len(batch["length"])) // len(parts_of_ranks)
    rank //= config.get(SHARING, 1)
    own = flat(parts_of_ranks[rank]) + [len(batch["length"]) + rank * more + k for k in range(more)]
    return trained(c, filled_up(data, more * len(parts_of_ranks)), own, batch, bool(WHOLE & {*config}))


def gradient(config, batch, parts_of_ranks):
    from framework import Refused
    sharing = config.get(SHARING, 1)
    counts = lambda part: any(any(batch["mask"][i]) for i in part)
    if CORRECTION + "bypass_mode" in config and not all(counts(part) for own in parts_of_ranks for part in own):
        raise Refused("a micro-batch without tokens that count ends the run")
    return cut_fsdp.gathered(cut_ranks.run(__name__, config, batch, parts_of_ranks, sharing), sharing)
