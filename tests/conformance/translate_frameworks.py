#!/usr/bin/env python3
"""The frameworks compute the objectives of `translate`: for each framework, with the defaults of the installed package and on 50 random
batches, advantages, loss and gradient by its own functions are compared with the oracle's for the translated objective; then with
random configurations (translate_random.py), which have every value that the data has fields for.

    VENV/bin/python tests/conformance/translate_frameworks.py [NAME ...]
    VENV/bin/python tests/conformance/translate_frameworks.py --changed NAME    changes the data, one field at a time: which is not noticed?
    VENV/bin/python tests/conformance/translate_frameworks.py --sources FOLDER [--changed NAME | NAME ...]
                                                                               the same for slime, nemo_rl, prime_rl and open_instruct

VENV is the environment of frameworks.sh, with mpmath and gmpy2. The defaults are those of the installed package, not those of the data. The
batches are restricted to one micro-batch, equally large groups, no masked tokens, no truncated responses, no infinities. float64; the
tolerance is 1e-9 of the largest advantage or gradient and of the loss; 1e-7 for verl, which adds 1e-8 to the number of tokens by which a
mean is divided (without that all 50 agree at 1e-9); 1e-5 for OpenRLHF, which computes rewards in float32 (at 1e-6, 40 of 50 agree).
AReaL, SkyRL and TRL's further trainers are run with the empty configuration by the functions of translate_areal.py, translate_skyrl.py and
translate_trl_trainers.py, which also say what is replaced; their tolerance is 1e-9.
From ms-swift the files of the trainer, the arguments and the advantages are loaded without the rest of the package (adapters/ms_swift.py);
its own methods replace the nulls among its defaults. Its batches are one window of gradient accumulation, without a teacher.

Four frameworks are in no package index. FOLDER (or SOURCES in the environment) has a clone of each, at the commit that `translate --list`
names: of https://github.com/THUDM/slime in FOLDER/slime, NVIDIA-NeMo/RL in FOLDER/nemo_rl, PrimeIntellect-ai/prime-rl in FOLDER/prime_rl,
allenai/open-instruct in FOLDER/open_instruct. Their packages need not be installed: translate_sources.py.
"""
import importlib.metadata
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "adapters"), os.path.join(HERE, os.pardir, "oracle")]
sys.dont_write_bytecode = True

import protocol  # noqa: E402  it keeps standard output for answers; here they are lines
import torch  # noqa: E402
import translate_configured as configured  # noqa: E402
import translate_random  # noqa: E402
import translate_sources  # noqa: E402
from options import translate  # noqa: E402
from padded import batch_of, ragged  # noqa: E402

BATCHES = 50
TOLERANCE = {"verl": 1e-7, "openrlhf": 1e-5}


def random_batch(rng):
    batch = translate.random_batch(rng, True)
    return {key: x for key, x in batch.items() if key not in ("truncated", "selected", "rewards", "reward_weight")}


def torch_batch(batch):
    return batch_of({"batch": batch, "advantage": [[0] * n for n in batch["length"]]}, torch.float64)


# ---- by the framework's own defaults and functions: (advantages, loss, gradient)

def trl(batch):
    import dataclasses
    import trl_adapter as adapter
    c = {f.name: f.default for f in dataclasses.fields(adapter.trl.GRPOConfig)}
    b = torch_batch(batch)
    high = c["epsilon"] if c["epsilon_high"] is None else c["epsilon_high"]
    names = ("beta", "loss_type", "importance_sampling_level", "scale_rewards", "mask_truncated_completions", "top_entropy_quantile",
             "off_policy_mask_threshold", "use_vllm", "vllm_importance_sampling_correction", "multi_objective_aggregation",
             "delta", "use_bias_correction_kl", "max_completion_length")
    options = {name: c[name] for name in names}
    t = adapter.trainer_for(b, adapter.GRPOTrainer, b.reward, 3, epsilon_low=c["epsilon"], epsilon_high=high, **options)
    inputs = adapter.scored(t)
    value = t._compute_loss(t.model, inputs)
    value.backward()
    return [[a] * n for a, n in zip(inputs["advantages"].tolist(), b.length)], value.item(), ragged(t.leaf.grad, b)


def verl(batch):
    import verl_adapter as adapter
    from omegaconf import OmegaConf
    import verl as package
    from hydra import compose, initialize_config_dir
    b, v = torch_batch(batch), adapter.verl
    with initialize_config_dir(os.path.join(os.path.dirname(package.__file__), "trainer", "config"), version_base=None):
        c = compose("ppo_trainer")
    a, algorithm = c.actor_rollout_ref.actor, c.algorithm
    assert algorithm.adv_estimator == "gae" and not algorithm.use_kl_in_reward and not a.use_kl_loss and not a.entropy_coeff
    assert algorithm.rollout_correction.rollout_is is None and algorithm.rollout_correction.rollout_rs is None
    rewards, mask = torch.zeros_like(b.logp), b.mask.long()
    for row, n in enumerate(b.length):
        rewards[row, n - 1] = b.reward[row]
    advantage = v.compute_gae_advantage_return(rewards, b.value, mask, algorithm.gamma, algorithm.lam)[0]
    config = adapter.ActorConfig(strategy="fsdp", rollout_n=1, ppo_micro_batch_size_per_gpu=1, clip_ratio=a.clip_ratio,
                                 clip_ratio_low=a.clip_ratio_low, clip_ratio_high=a.clip_ratio_high, clip_ratio_c=a.clip_ratio_c)
    config.global_batch_info.update(dp_size=1, batch_num_tokens=int(b.mask.sum()), global_batch_size=b.rows, loss_scale_factor=None)
    leaf = b.logp.clone().requires_grad_()
    value = v.get_policy_loss_fn(a.policy_loss.loss_mode)(old_log_prob=b.logp_old, log_prob=leaf, advantages=advantage,
                                                         response_mask=mask, loss_agg_mode=a.loss_agg_mode, config=config)[0]
    value.backward()
    return ragged(advantage, b), value.item(), ragged(leaf.grad, b)


def openrlhf(batch):
    import openrlhf_adapter as adapter
    b, c = torch_batch(batch), configured.parser_defaults(os.path.join(adapter.ROOT, "cli", "train_ppo_ray.py"))
    assert not c["algo.kl.use_loss"] and not c["actor.entropy_coef"] and c["algo.advantage.is_correction_level"] == "off"
    kl = adapter.compute_approx_kl(b.logp_old, b.logp_ref, kl_estimator=c["algo.kl.estimator"])
    maker = adapter.maker_of(c, 3)
    b.advantage = maker.compute_advantages_and_returns([adapter.experience_of(b, kl)])[0].advantages
    rule = adapter.rule_of(c)
    leaf = b.logp.clone().requires_grad_()
    value = rule(leaf, b.logp_old, b.advantage, action_mask=b.mask, **adapter.get_loss_batch_info(None, b.mask))[0]
    value.backward()
    return ragged(b.advantage, b), value.item(), ragged(leaf.grad, b)


def ms_swift(batch):
    import ms_swift as package
    b = torch_batch(batch)
    c = package.arguments()
    assert c.rollout_importance_sampling_mode is None and c.off_policy_sequence_mask_delta is None and not c.sdar_loss_coef
    t = package.trainer(c, b, 3)
    advantage = package.advantages(t, b)
    value = package.loss(t, b, advantage)
    value.backward()
    return ragged(advantage, b), value.item(), ragged(t.leaf.grad, b)


def by_defaults(run):
    """The answers of a framework's run with the empty configuration; the batch gets the arrays that the framework made itself."""
    def answers(batch):
        found, made = run({}, {**batch, "rewards": [[x, 0] for x in batch["reward"]]})
        batch.update(made)
        return found["advantage"], found["loss"], found["dlogp"]
    return answers


FRAMEWORKS = {"trl": trl, "verl": verl, "openrlhf": openrlhf, "ms_swift": ms_swift,
              **{name: by_defaults(of[2]) for module in translate_random.MODULES for name, of in module.FRAMEWORKS.items()}}


# ---- against ours

def differs(name, ours, theirs):
    """None, or what is apart."""
    advantage, loss, dlogp = theirs
    tolerance = TOLERANCE.get(name, 1e-9)
    flat = lambda rows: [x for row in rows for x in row]
    for what, x, y in (("advantage", flat(ours["advantage"]), flat(advantage)), ("loss", [ours["loss"]], [loss]),
                       ("gradient", flat(ours["dlogp"]), flat(dlogp))):
        bound = tolerance * max(1e-2, *map(abs, x))
        apart = [abs(p - q) for p, q in zip(x, y)]
        if len(x) != len(y) or not all(d <= bound for d in apart):  # not of the largest: max() passes over a NaN
            return f"{what} apart by {max(apart):.3g}, {len(x)} and {len(y)} numbers" + ", a NaN" * any(d != d for d in apart)
    return None


def compared(name):
    """(passed, failed)"""
    data = translate.data_of(name)
    fields, unsaid, _, _ = translate.translate(data, {})
    evaluate, rng, wrong = translate.oracle(), random.Random(7), []
    for n in range(BATCHES):
        batch = random_batch(rng)
        theirs = FRAMEWORKS[name](batch)
        ours = evaluate(translate.objective_of(fields), batch)
        wrong += [f"batch {n}: {why}" for why in [differs(name, ours, theirs)] if why]
    for why in wrong[:3] + unsaid:
        print(f"{name}: {why}", file=sys.stderr)
    if name in translate_random.FROM_SOURCES:
        translate_sources.told_commit(name)
        installed = data["release"]
    else:
        installed = importlib.metadata.version(data["framework"])
    if installed != data["release"]:
        print(f"{name}: {installed} is installed, the data are of {data['release']}", file=sys.stderr)
    return (0, BATCHES) if unsaid else (BATCHES - len(wrong), len(wrong))


def main(names):
    torch.set_default_dtype(torch.float64)
    if names[:1] == ["--sources"]:
        translate_sources.FOLDER, names = names[1], names[2:] or list(translate_random.FROM_SOURCES)
    if translate_sources.FOLDER:
        asked = [name for name in translate_random.FROM_SOURCES if name in names or not names]
        translate_random.with_sources(asked)
        FRAMEWORKS.update({name: by_defaults(translate_random.FRAMEWORKS[name][2]) for name in asked})
    for name in names:
        if name not in FRAMEWORKS and name != "--changed":
            print(f"{name}: unknown, or needs --sources FOLDER", file=sys.stderr)
            return 2
    if names[:1] == ["--changed"]:
        return translate_random.changed(names[1])
    found = {name: compared(name) for name in FRAMEWORKS if name in names or not names}  # in this order, as their stand-ins differ
    for name, (passed, failed) in found.items():
        print(f"{name}: {passed} of {passed + failed} batches agree", file=sys.stderr)
    found.update({name + " drawn": translate_random.passed_failed(name) for name in translate_random.FRAMEWORKS if name in found})
    print(f"{sum(p for p, _ in found.values())} passed, {sum(f for _, f in found.values())} failed", file=sys.stderr)
    return int(any(f for _, f in found.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
