"""Trinity-RFT with a given configuration, by its own code (written for trinity-rft 0.6.0); answers are as in running.py.

Its own: the defaults of an algorithm and of its functions (AlgorithmConfigValidator), advantages, the KL in the reward, the loss that its
trainer gives to verl's engine. Replaced: ray, the model, experiences without text. The order is that of trainer/verl/trainer.py:512-560.
"""
import functools
import logging
import os
import sys
import types
from importlib.machinery import ModuleSpec

import torch

import sources
from framework import Beyond, Drawer, Framework, Refused, holes, nearly_equal, regroup
from options import translate
from running import Tensors, answers, torch_batch

PLANTED = ("algorithm.policy_loss_fn", "sapo", "surrogate.kind", "sapo")
ALGORITHM, LOSS, ADVANTAGE = "algorithm.", "algorithm.policy_loss_fn_args.", "algorithm.advantage_fn_args."
IN_TRAINER = ("ppo", "reinforceplusplus", "rloo")


def drawer(data):
    numbers = {LOSS + name: of for name, of in {
        "clip_range": (0.05, 0.4), "clip_range_low": (0.05, 0.4), "clip_range_high": (0.05, 0.6), "clip_ratio_c": (1.7, 4),
        "delta_sequence_masking": (0, 0.3), "mask_clip_range_low": (0.05, 0.4), "mask_clip_range_high": (0.05, 0.4), "tau_pos": (0.5, 1.5),
        "tau_neg": (1.5, 3), "epsilon_low": (0.1, 0.4), "epsilon_high": (0.1, 0.4), "epsilon_low_prime": (0.4, 0.8),
        "epsilon_high_prime": (0.4, 2), "temp": (0.5, 2), "tau": (0.2, 2), "regularizer_coef": (0.01, 0.3),
        "loss_agg_mode": lambda rng: "seq-mean-token-sum"}.items()}
    numbers.update({ADVANTAGE + name: of for name, of in {
        "epsilon": lambda rng: rng.choice([1e-4, 1e-2, 0.1]), "opmd_baseline": lambda rng: "logavgexp", "tau": (0.5, 2),
        "baseline_shift": (-0.3, 0.3), "gamma": (0.8, 1), "lam": (0.8, 1)}.items()})
    numbers.update({ALGORITHM + name: of for name, of in {
        "kl_loss_fn_args.kl_coef": (0.01, 0.5), "kl_penalty_fn_args.kl_coef": (0.01, 0.5), "entropy_loss_fn_args.entropy_coef": (0.01, 0.2),
        "kl_penalty_fn": lambda rng: "k1", "rollout_correction": lambda rng: {"rollout_is": "token"}}.items()})
    left = {ALGORITHM + "policy_loss_fn_args": "it is there where one of its fields is"}
    beyond = [Beyond(LOSS + "clip_ratio_c", "up to 1 + clip_range_high", lambda c: c[ALGORITHM + "policy_loss_fn"] == "ppo" and (
        c[LOSS + "clip_range_high"] or 0) + 1 >= c[LOSS + "clip_ratio_c"])]
    return Drawer(data, numbers, {ALGORITHM + "algorithm_type", LOSS + "clip_range"}, left, beyond, functools.partial(fitted, data))


def arguments_of(option, values):
    """Do the arguments of this option belong to the functions that are chosen?"""
    import inspect
    from trinity.algorithm import ADVANTAGE_FN, POLICY_LOSS_FN
    for section, registry, name in ((LOSS, POLICY_LOSS_FN, "policy_loss_fn"), (ADVANTAGE, ADVANTAGE_FN, "advantage_fn")):
        if option.startswith(section):
            kind = registry.get(values[ALGORITHM + name])
            return kind is not None and option[len(section):] in inspect.signature(kind.__init__).parameters
    return True


def fitted(data, config):
    """Without the arguments that the chosen functions do not have, which is an error in Trinity-RFT."""
    parts()
    values = translate.values_of(data, config)[0]
    config = {option: x for option, x in config.items() if arguments_of(option, values)}
    values = translate.values_of(data, config)[0]
    if values[ALGORITHM + "policy_loss_fn"] in ("ppo", "gspo") and any(option.startswith(LOSS) for option in config):
        config.setdefault(LOSS + "clip_range", 0.25)
    return config


def batch(rng, config):
    made = translate.random_batch(rng, True)
    kind, advantage = config.get(ALGORITHM + "algorithm_type", "ppo"), config.get(ALGORITHM + "advantage_fn", "")
    if not {kind, advantage} & {"rec", "asymre"}:
        regroup(rng, made)
    if rng.random() < 0.5 and kind not in ("ppo", "reinforceplusplus"):
        holes(rng, made)
        if rng.random() < 0.4 and kind not in IN_TRAINER:
            made["mask"][0] = [False] * made["length"][0]
    elif rng.random() < 0.2:
        nearly_equal(made)
    return made


@functools.cache
def parts():
    if getattr(sys.modules.get("ray"), "__spec__", True) is None:  # another framework's stand-in, which find_spec refuses
        sys.modules["ray"].__spec__, sys.modules["ray"].ObjectRef = ModuleSpec("ray", None), object
    import trinity_adapter as adapter
    import trinity
    logging.disable(logging.WARNING)
    from trinity.common.config import AlgorithmConfig, set_if_none
    logger = types.SimpleNamespace(warning=lambda *_: None)
    path = os.path.join(list(trinity.__path__)[0], "common", "config_validator.py")
    validator = sources.definitions(path, ("AlgorithmConfigValidator",), ConfigValidator=object, set_if_none=set_if_none)
    return types.SimpleNamespace(adapter=adapter, config=AlgorithmConfig, validator=validator.AlgorithmConfigValidator, logger=logger)


def settings(config):
    """The configuration of the algorithm, after its own checks."""
    of, inner = parts().config(), {}
    for option, x in config.items():
        name, _, field = option[len(ALGORITHM):].partition(".")
        if field:
            inner.setdefault(name, {})[field] = x
        else:
            setattr(of, name, x)
    for name, given in inner.items():
        setattr(of, name, given)
    validator = object.__new__(parts().validator)
    validator.logger = parts().logger
    validator.validate(types.SimpleNamespace(algorithm=of, mode="both"))
    return of


def grouped(c, b):
    """The advantages of groups, which are made before the trainer; and what becomes of the factors of the loss (as the fields have it)."""
    from trinity.algorithm import ADVANTAGE_FN
    from trinity.common.experience import EID, Experience
    experiences = [Experience(eid=EID(task=int(g), run=i), tokens=torch.zeros(n + 1), prompt_length=1, reward=float(r), action_mask=m[:n])
                   for i, (g, n, r, m) in enumerate(zip(b.group, b.length, b.reward, b.mask))]
    found, _ = ADVANTAGE_FN.get(c.advantage_fn)(**c.advantage_fn_args)(experiences)
    result = torch.zeros_like(b.logp)
    for experience in found:
        row = experience.eid.run
        result[row, :b.length[row]] = experience.advantages
    return result


def in_trainer(c, b, old):
    from padded import rewards_at_end
    from trinity.algorithm import ADVANTAGE_FN, KL_FN
    mask = b.mask.long()
    tensors = Tensors(token_level_scores=rewards_at_end(b), response_mask=mask, responses=mask, attention_mask=mask, old_log_probs=old,
                    ref_log_prob=b.logp_ref, values=torch.where(b.mask, b.value, 0))
    data = types.SimpleNamespace(batch=tensors, non_tensor_batch={"uid": b.group.numpy()})
    data, _ = KL_FN.get(c.kl_penalty_fn)(**c.kl_penalty_fn_args).apply_kl_penalty_to_reward(data)
    return ADVANTAGE_FN.get(c.advantage_fn)(**c.advantage_fn_args)(data)[0].batch["advantages"]


def as_fields_have_it(c, advantage):
    """The factors that the fields count to the advantages, and Trinity-RFT to the loss."""
    of = c.policy_loss_fn_args
    if c.policy_loss_fn == "opmd":
        return advantage / (1 + of.get("tau", 1.0))
    return advantage * torch.exp(advantage / of.get("temp", 1.0)) if of.get("weight") == "advantage" else advantage


def run(config, batch):
    p = parts()
    b = torch_batch(batch)
    b.leaf, b.reward = b.logp.clone().requires_grad_(), torch.tensor(batch["reward"])
    with sources.doubles():
        try:
            c = settings(config)
            rule = p.adapter.build_trinity_loss(c)
            old = b.logp_rollout if c.bypass_old_logprobs else b.logp_old
            advantage = in_trainer(c, b, old) if c.algorithm_type in IN_TRAINER else grouped(c, b)
            tensors = {"response_mask": b.mask, "advantages": advantage, "old_log_probs": old, "ref_log_prob": b.logp_ref}
            value = rule({"log_probs": b.leaf, "entropy": b.entropy}, p.adapter.Rows(tensors))[0]
        except (AssertionError, ValueError) as why:
            raise Refused(str(why)) from None
        except TypeError as why:
            if "unexpected keyword argument" in str(why):
                raise Refused(str(why)) from None
            raise
    return answers(b, torch.where(b.mask, as_fields_have_it(c, advantage), 0), torch.ones_like(b.mask), value), batch


FRAMEWORKS = {"trinity": Framework(drawer, batch, run, 1e-7, PLANTED)}
