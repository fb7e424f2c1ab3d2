"""slime with a given configuration, by its own code at the commit of the data; answers are as in running.py.

Its own: what becomes of rewards and masks (RolloutManager), advantages, loss, the clip's default. Replaced: the model's log-probabilities
and entropy, Megatron's parallel state (one rank), the all-reduce. The refusals of slime_validate_args, and that the sum over tokens is
divided by their number after the last micro-batch (Megatron), are written here after the code.
"""
import functools
import types
from unittest import mock

import torch

import sources
from framework import Beyond, Drawer, Framework, Refused, holes
from running import answers, torch_batch
from sources import rows

NOT_OF_THE_LOSS = ("value-clip", "custom-loss-function-path", "disable-compute-advantages-and-returns", "ref-update-interval",
                   "use-rollout-entropy", "reset-optimizer-states", "use-stateless-adam", "use-routing-replay",
                   "use-rollout-routing-replay", "opd-type")
PLANTED = ("custom-tis-function-path", "slime.backends.megatron_utils.loss.icepop_function", "weight.rollout_is", "truncate")


def drawer(data):
    numbers = {"gamma": (0.8, 1), "lambd": (0.8, 1), "eps-clip": (0.05, 0.4), "eps-clip-high": (0.05, 0.6), "eps-clip-c": (1.1, 4),
               "kl-coef": (0.01, 0.5), "kl-loss-coef": (0.01, 0.5), "entropy-coef": (0.01, 0.2), "tis-clip": (1.05, 3),
               "tis-clip-low": (0.1, 0.95), "opsm-delta": (-0.2, 0.3), "opd-kl-coef": (0.1, 1.5)}
    high = lambda c: c["eps-clip"] if c["eps-clip-high"] is None else c["eps-clip-high"]
    beyond = [Beyond("eps-clip-c", "up to 1 + eps-clip-high", lambda c: c["advantage-estimator"] != "cispo" and c["eps-clip-c"] and
                     c["eps-clip-c"] <= 1 + high(c))]
    return Drawer(data, numbers, {"advantage-estimator", "normalize-advantages", "eps-clip-c"}, {}, beyond, fitted)


def fitted(config):
    """Without the combinations that slime refuses, which are half of all; the KL of the loss seldom has the coefficient 0."""
    if config.get("advantage-estimator", "").startswith("reinforce"):
        config["normalize-advantages"] = True
    if "kl-coef" in config and "kl-loss-coef" in config:
        del config["kl-loss-coef"]
    if config.get("use-kl-loss") and "kl-coef" not in config:
        config.setdefault("kl-loss-coef", 0.2)
    if config.get("use-rollout-logprobs"):
        config.pop("use-tis", None)
    if config.get("get-mismatch-metrics"):
        config.setdefault("custom-tis-function-path", "slime.backends.megatron_utils.loss.icepop_function")
    return config


def batch(rng, config):
    """Groups of three; masked tokens, and responses, where the data say nothing else; a reference so far that its KL is clamped."""
    from options import translate
    made = translate.random_batch(rng, True)
    steps = config.get("advantage-estimator") == "ppo" or config.get("gamma", 1) != 1
    if rng.random() < 0.5 and not steps:
        holes(rng, made)
        if rng.random() < 0.3 and not config.get("calculate-per-token-loss") and config.get("advantage-estimator") != "reinforce_plus_plus":
            made["mask"][0] = [False] * made["length"][0]
    if config.get("kl-loss-type") == "low_var_kl":
        far = [[3 * (rng.random() < 0.5) for _ in row] for row in made["logp"]]
        for key in ("logp", "logp_old", "logp_rollout", "logp_teacher"):
            made[key] = [[x - d for x, d in zip(*pair)] for pair in zip(made[key], far)]
    return made


@functools.cache
def parts():
    """Functions of the clone; what they import when they run is replaced in `run`."""
    path = functools.partial(sources.path_of, "slime", "slime")
    utils = sources.definitions(path("utils", "ppo_utils.py"), (
        "compute_approx_kl", "compute_opsm_mask", "compute_gspo_kl", "compute_policy_loss", "compute_cispo_loss", "get_grpo_returns",
        "get_reinforce_plus_plus_returns", "get_reinforce_plus_plus_baseline_advantages", "get_advantages_and_returns_batch",
        "vanilla_gae", "chunked_discounted_returns", "chunked_gae"), torch=torch, F=torch.nn.functional)
    none = lambda *_, **__: None
    dist = types.SimpleNamespace(all_reduce=none)
    mpu = types.SimpleNamespace(get_context_parallel_world_size=lambda: 1, get_context_parallel_rank=lambda: 0,
                                get_context_parallel_group=none, get_data_parallel_group=none, is_pipeline_last_stage=lambda: True,
                                get_data_parallel_world_size=lambda **_: 1)
    whiten = sources.definitions(path("utils", "distributed_utils.py"), ("distributed_masked_whiten",), torch=torch, dist=dist)
    cp = sources.definitions(path("backends", "megatron_utils", "cp_utils.py"), ("get_sum_of_sample_mean", "all_gather_with_cp"),
                             torch=torch, mpu=mpu, dist=dist)
    context = {**vars(utils), **vars(whiten), **vars(cp), "torch": torch, "mpu": mpu, "_maybe_capture_log_probs": none,
               "get_rollout_top_p_logprob_kwargs": lambda *_: {}, "get_log_probs_and_entropy": lambda logits, **_: (None, logits.of)}
    loss = sources.definitions(path("backends", "megatron_utils", "loss.py"), (
        "apply_opd_kl_to_advantages", "compute_advantages_and_returns", "vanilla_tis_function", "icepop_function",
        "policy_loss_function", "loss_function"), **context, load_function=lambda path: getattr(loss, path.split(".")[-1]))
    sample = types.SimpleNamespace(Status=types.SimpleNamespace(TRUNCATED="truncated"))
    samples = sources.definitions(path("ray", "rollout.py"), ("_post_process_rewards", "_convert_samples_to_train_data"), torch=torch,
                                  get_source=none, Sample=sample)
    defaults = sources.parser_defaults(path("utils", "arguments.py"))
    return types.SimpleNamespace(loss=loss, samples=samples, defaults=defaults, mpu=mpu)


def unlisted(data):
    """Of the options between eps-clip and the parsers that follow that of the algorithm, those that are not of other things."""
    names, every = {entry["option"] for entry in data["options"]}, list(parts().defaults)
    return [o for o in every[every.index("eps-clip"):every.index("opd-kl-coef")] if o not in names and o not in NOT_OF_THE_LOSS]


INVERTED = {"disable-grpo-std-normalization": "grpo_std_normalization", "disable-rewards-normalization": "rewards_normalization"}


def arguments(config, batch):
    """As after slime_validate_args (slime/utils/arguments.py:1829-1877, 1980-1983)."""
    c = {**parts().defaults, **config}
    args = types.SimpleNamespace(**{INVERTED.get(o, o.replace("-", "_")): not x if o in INVERTED else x for o, x in c.items()})
    asks = args.advantage_estimator.startswith("reinforce_plus_plus")
    for refused, why in ((asks and not args.normalize_advantages, "no normalize-advantages"),
                         (args.use_rollout_logprobs and args.use_tis, "use-rollout-logprobs and use-tis"),
                         (args.kl_coef and args.kl_loss_coef, "kl-coef and kl-loss-coef"),
                         (args.get_mismatch_metrics and args.custom_tis_function_path is None, "no custom-tis-function-path")):
        if refused:
            raise Refused(why)
    if args.eps_clip_high is None:
        args.eps_clip_high = args.eps_clip
    args.n_samples_per_prompt = len(batch["length"]) // (batch["group"][-1] + 1)
    args.rollout_batch_size = batch["group"][-1] + 1
    args.grpo_std_normalization &= args.n_samples_per_prompt > 1
    args.opd_type, args.allgather_cp = "megatron", False
    return args


def samples_of(b, batch):
    return [types.SimpleNamespace(
        get_reward_value=lambda _, r=batch["reward"][i]: r, reward=batch["reward"][i], rollout_id=i, index=i, tokens=[0] * (n + 1),
        response_length=n, loss_mask=b.mask[i, :n].int().tolist(), remove_sample=False, metadata={}, train_metadata=None,
        status="truncated" if b.truncated[i] else "completed", rollout_log_probs=b.logp_rollout[i, :n].tolist(),
        rollout_routed_experts=None, multimodal_train_inputs=None, teacher_log_probs=None) for i, n in enumerate(b.length)]


def run(config, batch):
    args, b, p = arguments(config, batch), torch_batch(batch), parts()
    b.leaf, teacher = b.logp.clone().requires_grad_(), torch.zeros_like(b.logp)
    for i, row in enumerate(batch["logp_teacher"]):
        teacher[i, :len(row)] = torch.tensor(row)
    manager = types.SimpleNamespace(args=args, custom_reward_post_process_func=None, custom_convert_samples_to_train_data_func=None)
    manager._post_process_rewards = lambda samples: p.samples._post_process_rewards(manager, samples)
    data, fake = {}, types.SimpleNamespace
    with sources.doubles(), sources.modules(megatron=fake(), megatron__core=fake(mpu=p.mpu)):
        data = p.samples._convert_samples_to_train_data(manager, samples_of(b, batch))
        data["loss_masks"] = [torch.tensor(mask, dtype=torch.int) for mask in data["loss_masks"]]
        data["rollout_log_probs"] = [torch.tensor(x, dtype=torch.float64) for x in data["rollout_log_probs"]]
        data["rollout_mask_sums"] = torch.tensor(data["rollout_mask_sums"], dtype=torch.float64)
        data["total_lengths"] = [n + 1 for n in b.length]
        if not args.use_rollout_logprobs or args.get_mismatch_metrics:  # slime/backends/megatron_utils/actor.py:473
            data["log_probs"] = rows(b.logp_old, b)
        data.update(ref_log_probs=rows(b.logp_ref, b), values=rows(b.value, b), teacher_log_probs=rows(teacher, b), unconcat_tokens=None)
        p.loss.compute_advantages_and_returns(args, data)
        logits = mock.NonCallableMagicMock(device=b.logp.device)
        logits.of = {"log_probs": rows(b.leaf, b), "entropy": rows(b.entropy, b)}
        value, divisor, _ = p.loss.loss_function(args, data, 1, b.rows, logits)
        value = value / divisor
    advantage = torch.where(b.mask, sources.padded(data["advantages"], b), 0)
    return answers(b, advantage, torch.ones_like(b.mask), value), batch


FRAMEWORKS = {"slime": Framework(drawer, batch, run, 1e-9, PLANTED, unlisted)}
