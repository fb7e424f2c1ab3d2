"""TRL's own loss and advantages, written for trl 1.16.0 (requirements.txt pins it): GRPOTrainer, RLOOTrainer and GMPOTrainer.

No code of TRL is copied here. A trainer is made without its __init__ and given the attributes that the two methods under test read:
_generate_and_score_completions (rewards to advantages, rollout weights, masks, num_items_in_batch) and _compute_loss. Three methods are
replaced and return data of the case instead of calling a model, an engine or a reward function: _get_per_token_logps_and_entropies,
_generate and _calculate_rewards.

num_iterations is 2, so that old log-probabilities are used. For cases of kind split there is one call per micro-batch, with the ranks and
gradient_accumulation_steps that the trainer would have; num_items_in_batch, which it gathers from all of them, is that of the whole batch.
"""
from protocol import serve, wanted  # first: it keeps standard output for the answers
import os
import types
from collections import defaultdict

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
import torch
import transformers
import trl
from trl import GRPOTrainer, RLOOTrainer
from trl.rewards import get_soft_overlong_punishment
from trl.trainer.utils import entropy_from_logits, selective_log_softmax

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
from trl.experimental.gmpo import GMPOTrainer

from options import UNCLAMPED, VESPO_CLAMPS, Options, clamps, corrects_kl, fields_of
from padded import PRECISIONS, accumulation_steps, answer_by, batch_of, logits_of, one_per_row, optimiser_step, part_of, ragged

GRPO, RLOO, GMPO = Options("trl"), Options("trl_rloo"), Options("trl_gmpo")
STD_EPS = 1e-4  # in _generate_and_score_completions; no option
EOS, OTHER = 1, 7  # token ids; the pad token is 0


# ---- a trainer without a model

class Accelerator:
    """A stand-in for the accelerator, with one process."""
    device, num_processes, process_index, is_main_process, sync_gradients = torch.device("cpu"), 1, 0, True, True

    def gather(self, x):
        return x

    def reduce(self, x, reduction):
        return x


def bench_of(trainer):
    class Bench(trainer):
        def _get_per_token_logps_and_entropies(self, model, *_, **__):
            asked = self.case.logp_ref if model is self.ref_model else self.leaf if torch.is_grad_enabled() else self.case.logp_old
            return asked, self.case.entropy if self.case.entropy is not None else torch.zeros_like(self.leaf), None

        def _calculate_rewards(self, inputs, prompts, completions, completion_ids_list):
            columns = [self.rewards] + [r.new_tensor(f(completion_ids=completion_ids_list)) for f in self.penalties for r in [self.rewards]]
            return torch.stack(columns, dim=1)

        def _generate(self, prompts):
            b = self.case
            ids = [[OTHER] * (n - 1) + [OTHER if cut else EOS] for n, cut in zip(b.length, b.truncated)]
            if issubclass(trainer, RLOOTrainer):
                return [[OTHER]] * b.rows, ids, prompts
            tool_mask = [row[:n].int().tolist() for row, n in zip(b.mask, b.length)]
            sampled = ragged(b.logp_rollout, b) if self.use_vllm else None
            return [[OTHER]] * b.rows, ids, tool_mask, prompts, sampled, {}, None, []

    return Bench


BENCH = {trainer: bench_of(trainer) for trainer in (GRPOTrainer, RLOOTrainer, GMPOTrainer)}


def trainer_for(b, trainer, rewards, generations, **options):
    t = object.__new__(BENCH[trainer])
    t.case, t.rewards, t.penalties, t.leaf = b, rewards, [], b.logp.clone().requires_grad_()
    t.accelerator, t.model, t.ref_model = Accelerator(), types.SimpleNamespace(training=True, is_gradient_checkpointing=False), object()
    t._tokenizer, t.eos_token_ids, t.pad_to_multiple_of, t.processing_class = types.SimpleNamespace(pad_token_id=0), [EOS], None, None
    t.num_generations, t.num_iterations, t.current_gradient_accumulation_steps = generations, 2, 1
    t.reward_weights, t.reward_func_names, t.reward_funcs = torch.ones(1), [], []
    t.multi_objective_aggregation, t.scale_rewards, t.reward_clip_range, t.normalize_advantages = "sum_then_normalize", "group", None, False
    t.mask_truncated_completions, t.use_vllm, t.vllm_importance_sampling_correction = False, False, False
    t.tools = t.environments = t.environment_factories = None
    t.beta, t.loss_type, t.importance_sampling_level, t.epsilon_low, t.epsilon_high = 0.0, "grpo", "token", 0.2, 0.2
    t.top_entropy_quantile, t.off_policy_mask_threshold, t._entropy_bonus_enabled, t.aux_loss_enabled = 1.0, None, False, False
    t._metrics, t._logs = {"train": defaultdict(list)}, defaultdict(list)
    t._logs["rewards"], t._logs["extra"], t._pending_extra_logs, t._pending_metrics = defaultdict(list), defaultdict(list), {}, {}
    t.args = types.SimpleNamespace(
        steps_per_generation=1, gradient_accumulation_steps=1, per_device_train_batch_size=b.rows, gradient_checkpointing_kwargs=None,
        use_bias_correction_kl=False, delta=None, report_to=[])
    for name, value in options.items():
        name = "epsilon_low" if name == "epsilon" else name  # as the trainers' __init__ has it
        setattr(t.args if hasattr(t.args, name) or name.startswith(("sapo_", "vespo_")) else t, name, value)
    return t


def scored(t):
    return t._generate_and_score_completions([{"prompt": str(i)} for i in range(t.case.rows)])


# ---- advantages

def advantages(o, b):
    a, r = o["advantage"], o["reward"]
    wanted(b.reward is not None, "no rewards")
    wanted(len(set(b.group_size.tolist())) == 1, "num_generations: groups of one size only")
    wanted(b.group_size[0] > 1, "training needs num_generations >= 2")
    wanted(a["credit"] == "outcome" and a["reweight"] == "none", "one advantage per completion, without gain")
    wanted(a["std"] == "sample" or a["scale"] == "none", "sample std only")
    wanted(a["eps"] in (0, STD_EPS) and (a["eps_place"] == "add" or a["eps"] == 0) or a["scale"] == "none", "std + 1e-4 only")
    trainer, options = advantage_options(a, r)
    wanted(trainer is not RLOOTrainer or bool(b.mask.sum() == sum(b.length)), "RLOOTrainer: no token masks")
    t = trainer_for(b, trainer, b.reward, int(b.group_size[0]), **options)
    if r["overlong"] != "none":
        t.penalties = [get_soft_overlong_punishment(r["overlong_max"], r["overlong_cache"])]
        t.reward_weights = torch.tensor([1.0, r["overlong_factor"]])
    return torch.where(b.mask, scored(t)["advantages"][:, None], 0)


def advantage_options(a, r):
    wanted(r["overlong"] in ("none", "soft"), "overlong penalty: soft only")
    if a["baseline"] == "leave_one_out":
        wanted(r["kl"] in ("none", "k1") and a["scale"] in ("none", "batch_centred_std"),
               "RLOOTrainer: k1 in the reward, batch normalisation")
        return RLOOTrainer, {**RLOO.of((), {}, fields_of({"reward": r}, "reward")), "normalize_advantages": a["scale"] != "none"}
    wanted(a["baseline"] == "group_mean", "baseline " + a["baseline"])
    wanted(r["kl"] == "none", "GRPOTrainer: no KL in the reward")
    options = GRPO.of(("scale_rewards",), {"advantage.scale": a["scale"]})
    wanted(options, "scale " + a["scale"])
    return GRPOTrainer, options


# ---- loss

def loss_options(case, o, b):
    r, g, k = o["ratio"], o["aggregation"], o["surrogate"]["kind"]
    wanted(r["behaviour"] == "old" and b.logp_old is not None, "only ratios against old log-probabilities")
    wanted(clamps(r) == UNCLAMPED or k == "vespo" and clamps(r) == VESPO_CLAMPS, "no clamp of log-ratios")
    wanted(g["empty_sequences"] == "keep", "responses without tokens always count")
    wanted(r["gradient"] == "full" or r["level"] == "token", "no GSPO-token")
    options = {**penalty_options(o), **weight_options(o)}
    asked = fields_of(o, "ratio", "surrogate", "penalty", "aggregation")
    if r["level"] == "sequence_clipped_mean":
        wanted(k == "ratio" and g["kind"] == "seq_mean_token_mean" and "use_vllm" not in options,
               "GMPOTrainer has only the mean over responses of token means, without a clip after pooling")
        wanted(not options.get("use_bias_correction_kl"), "GMPOTrainer: plain k3")
        return GMPOTrainer, {**options, **GMPO.of((), {}, asked)}
    if r["level"] == "sequence_sum" and k == "ppo_clip":
        wanted(g["kind"] == "seq_mean_token_mean" and o["penalty"]["kl"] == "none" and "use_vllm" not in options,
               "RLOOTrainer has only the mean over responses of token means, with ppo_clip")
        wanted(bool(b.mask.sum() == sum(b.length)), "RLOOTrainer: no token masks")
        return RLOOTrainer, {**options, **RLOO.of((), {}, asked)}
    return GRPOTrainer, {**options, **grpo_options(case, o, asked)}


def grpo_options(case, o, asked):
    s, g, unit = o["surrogate"], o["aggregation"], o["ratio"]["level"]
    names, same = ("loss_type", "delta", "importance_sampling_level"), {"surrogate.kind": s["kind"], "ratio.level": unit}
    wanted((unit == "sequence_sum") == (s["kind"] == "vespo"), f"{s['kind']} with ratio.level {unit}")
    wanted(GRPO.of(names, same), "no surrogate " + s["kind"])
    wanted(s["kind"] != "cispo" or s["weight_min"] == 0, "cispo has no lower bound")
    options = GRPO.of(names, {**same, "aggregation.kind": g["kind"]}, asked)
    fixed = s["kind"] not in ("ppo_clip", "dual_clip")
    wanted(options, f"{s['kind']} fixes its aggregation" if fixed else "aggregation " + g["kind"])
    # with one micro-batch, bnpo and dapo are both the token mean
    return {**options, "loss_type": "bnpo"} if "bnpo" in case["id"] and not fixed else options


def penalty_options(o):
    p, corrected = o["penalty"], corrects_kl(o["penalty"], o["ratio"]["level"])
    if p["kl"] == "none":
        return {}
    wanted(p["kl"] == "k3" and p["kl_gradient"] == "exact" and p["kl_clamp_log"] == p["kl_clamp_value"] == 0,
           "KL in the loss: plain k3 only")
    wanted(corrected is not None, "use_bias_correction_kl takes the ratio of importance_sampling_level")
    return {"use_bias_correction_kl": True} if corrected else {}


def weight_options(o):
    w = o["weight"]
    options = {"mask_truncated_completions": True} if w["truncated"] == "mask" else {}
    if w["rollout_is"] == "none":
        return options
    wanted(w["rollout_is"] in ("truncate", "mask") and w["rollout_rejected"] == "zero_weight",
           "rollout weights only truncate or mask, without rejecting tokens")
    rollout = GRPO.of(("vllm_importance_sampling_mode",),
                      {"weight.rollout_is": w["rollout_is"], "weight.rollout_is_level": w["rollout_is_level"]},
                      fields_of(o, "weight"), use_vllm=True, vllm_importance_sampling_correction=True)
    wanted(rollout and w["rollout_clamp"] == 0, "rollout weights of tokens or their product, unclamped")
    wanted(o["surrogate"]["kind"] != "vespo", "vespo folds the rollout weight into phi")
    return {**options, **rollout}


def advantage_input(b, trainer):
    """Advantages: (rows,) if each row has one, else (rows, longest), which GRPOTrainer accepts from subclasses."""
    per_row = one_per_row(b.advantage, b.mask)
    wanted(per_row is not None or trainer is GRPOTrainer, "one advantage per completion")
    return b.advantage if per_row is None else per_row


def loss(case, o, b, step=None):
    """The loss of a micro-batch. step: attributes of its optimiser step."""
    trainer, options = loss_options(case, o, b)
    t = trainer_for(b, trainer, torch.zeros(b.rows), b.rows, **options)
    if step:
        t.accelerator.num_processes, t.current_gradient_accumulation_steps = step.ranks, step.accumulation
        t.args.steps_per_generation = t.args.gradient_accumulation_steps = step.accumulation
    inputs = scored(t)
    inputs["advantages"] = advantage_input(b, trainer)
    if step:
        inputs["num_items_in_batch"] = step.tokens
    value = t._compute_loss(t.model, inputs)
    value.backward()
    report = {"kl_k3": t._metrics["train"]["kl"][0]} if options.get("beta") and "use_bias_correction_kl" not in options else {}
    return {"loss": value.item(), "dlogp": ragged(t.leaf.grad, b), "report": report}


def split(case, o, dtype):
    whole = batch_of(case, dtype)
    trainer, options = loss_options(case, o, whole)
    rows = {len(part_of(case, part)[1]) for part in case["parts"]}
    accumulation = accumulation_steps(case)
    wanted(len(rows) == 1 or trainer is GRPOTrainer and options["loss_type"] in ("dapo", "cispo", "vespo"),
           "micro-batches need equally many responses")
    counted = whole.mask & ~whole.truncated[:, None] if options.get("mask_truncated_completions") else whole.mask
    step = types.SimpleNamespace(ranks=case["ranks"], accumulation=accumulation, tokens=counted.sum())
    return optimiser_step(case, lambda part, rank: loss(part, o, batch_of(part, dtype), step))


def log_probabilities(case, dtype):
    b = logits_of(case, dtype)
    logp = selective_log_softmax(b.logits, b.target, temperature=case["temperature"])
    return {"logp": ragged(logp, b), "entropy": ragged(entropy_from_logits(b.logits / case["temperature"]), b)}


def answer(case, dtype):
    return answer_by(case, dtype, advantages, lambda o, b: loss(case, o, b), split, log_probabilities)


transformers.logging.set_verbosity_error()
if __name__ == "__main__":
    serve("TRL", trl.__version__, PRECISIONS, ["advantage", "loss", "dlogp", "report", "logp", "entropy"], answer)
