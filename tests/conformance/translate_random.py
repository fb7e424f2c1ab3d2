"""Random configurations of TRL and verl against the objectives they translate to; translate_frameworks.py runs this.

What is drawn, and what is not (LEFT), is said here per framework. Two runs draw the same configurations.
"""
import sys

import translate_configured as configured
from options import translate
from translate_drawn import Beyond, Drawer, generator

CONFIGURATIONS = 200


def whole(low, high):
    return lambda rng: rng.randint(low, high)


ACTOR, CORRECTION, ALGORITHM = "actor_rollout_ref.actor.", "algorithm.rollout_correction.", "algorithm."
OVERLONG = "reward.reward_kwargs."


# ---- what is drawn

def trl_drawer(data):
    weights = lambda rng: [rng.choice([0.25, 0.5, 1.0, 2.0]) for _ in range(2)]
    numbers = {"beta": (0.01, 0.5), "epsilon": (0.05, 0.4), "epsilon_high": (0.1, 0.6), "delta": (1.05, 4),
               "sapo_temperature_neg": (0.5, 3), "sapo_temperature_pos": (0.5, 3), "vespo_k_pos": (0.5, 3), "vespo_lambda_pos": (0.5, 4),
               "vespo_k_neg": (0.5, 4), "vespo_lambda_neg": (0.5, 3), "reward_weights": weights, "top_entropy_quantile": (0.2, 0.8),
               "entropy_coef": (0.01, 0.2), "vllm_importance_sampling_clip_max": (1.1, 4), "vllm_importance_sampling_clip_min": (0.1, 0.9),
               "off_policy_mask_threshold": (-0.2, 0.4), "max_completion_length": whole(3, 20)}
    left = {"num_iterations": "the old policy's log-probabilities are always those of another policy here",
            "use_adaptive_entropy": "needs the state of the trainer", "router_aux_loss_coef": "needs a mixture of experts"}
    return Drawer(data, numbers, {"loss_type"}, left, [])


def verl_drawer(data):
    numbers = {
        ACTOR + "clip_ratio": (0.05, 0.4), ACTOR + "clip_ratio_low": (0.05, 0.4), ACTOR + "clip_ratio_high": (0.05, 0.6),
        ACTOR + "clip_ratio_c": (1.7, 5), ACTOR + "tau_pos": (0.5, 3), ACTOR + "tau_neg": (0.5, 3),
        ACTOR + "policy_loss.clip_cov_ratio": (0.1, 0.6), ACTOR + "policy_loss.clip_cov_lb": (0, 0.3),
        ACTOR + "policy_loss.clip_cov_ub": (0.5, 5), ACTOR + "policy_loss.kl_cov_ratio": (0.1, 0.6),
        ACTOR + "policy_loss.ppo_kl_coef": (0.05, 1), ACTOR + "policy_loss.dro_beta": (0.05, 2), ACTOR + "loss_scale_factor": whole(3, 20),
        ACTOR + "entropy_coeff": (0.01, 0.2), ACTOR + "kl_loss_coef": (0.01, 0.5), ALGORITHM + "gamma": (0.8, 1), ALGORITHM + "lam": (0.8, 1),
        ALGORITHM + "kl_ctrl.kl_coef": (0.01, 0.3), ALGORITHM + "gdpo_reward_weights": lambda rng: [rng.choice([0.25, 0.5, 2.0]), 1.0],
        CORRECTION + "rollout_is_threshold": (1.1, 4), CORRECTION + "rollout_rs_threshold": (1.05, 2.5),
        OVERLONG + "overlong_buffer_cfg.len": whole(1, 3), OVERLONG + "overlong_buffer_cfg.penalty_factor": (0.2, 1),
        OVERLONG + "max_resp_len": whole(3, 6)}
    left = {ALGORITHM + "use_pf_ppo": "resamples the batch", ALGORITHM + "filter_groups.enable": "changes which prompts are in the batch",
            "distillation.enabled": "needs a teacher"}
    often = {ACTOR + "policy_loss.loss_mode", ALGORITHM + "adv_estimator", CORRECTION + "rollout_rs_threshold",
             ACTOR + "policy_loss.dro_beta"}
    return Drawer(data, numbers, often, left, [])


# ---- the batches

def holes(rng, batch, share=0.25):
    """Masks some tokens, never the last one of a response."""
    batch["mask"] = [[rng.random() >= share for _ in range(n - 1)] + [True] for n in batch["length"]]


def trl_batch(rng, config):
    batch = translate.random_batch(rng, True)
    if rng.random() < 0.5:
        holes(rng, batch)
    return batch


def verl_batch(rng, config):
    """Groups of one to four responses, no truncated ones."""
    batch = translate.random_batch(rng, True)
    del batch["truncated"]
    if config.get(ALGORITHM + "adv_estimator") != "grpo_passk":  # it refuses a group of one
        sizes = rng.choice([[3, 3, 3], [1, 4, 4], [2, 3, 4]])
        batch["group"] = [g for g, size in enumerate(sizes) for _ in range(size)]
    if rng.random() < 0.5 and config.get(ALGORITHM + "adv_estimator") != "optimal_token_baseline":  # its tail counts unmasked tokens
        holes(rng, batch)
    batch["sum_pi_squared"] = [[rng.randint(16, 60) / 64 for _ in row] for row in batch["logp"]]
    return batch


FRAMEWORKS = {"trl": (trl_drawer, trl_batch, configured.trl), "verl": (verl_drawer, verl_batch, configured.verl)}


# ---- against ours

def tolerance(name, config):
    """1e-7 for verl, as with its defaults; 1e-5 for its gdpo, which computes rewards in float32."""
    return 1e-9 if name == "trl" else 1e-5 if config.get(ALGORITHM + "adv_estimator") == "gdpo" else 1e-7


def differs(ours, theirs, bound):
    """None, or what is apart."""
    flat = lambda rows: [x for row in rows for x in row]
    pairs = [("advantage", flat(ours["advantage"]), flat(theirs["advantage"])), ("loss", [ours["loss"]], [theirs["loss"]]),
             ("gradient", flat(ours["dlogp"]), flat(theirs["dlogp"]))]
    nothing = [[0] * len(row) for row in ours["dlogp"]]
    pairs.append(("gradient of the entropy", flat(ours.get("dentropy", nothing)), flat(theirs["dentropy"])))
    for what, x, y in pairs:
        x, y = zip(*[(p, q) for p, q in zip(x, y, strict=True) if q is not None]) or ((), ())
        apart = [abs(p - q) for p, q in zip(x, y)]
        if not all(d <= bound * max(1e-2, *map(abs, x)) for d in apart):  # not of the largest: max() passes over a NaN
            return f"{what} apart by {max(apart):.3g}" + ", a NaN" * any(d != d for d in apart)
    return None


def compared(name, drawer, evaluate, config, batch):
    """None, or what is apart."""
    run = FRAMEWORKS[name][2]
    try:
        theirs, batch = run(config, dict(batch))
    except configured.Refused:
        raise
    except Exception as why:  # of the framework's own code
        return f"the framework ends in {type(why).__name__}: {why}"
    try:
        ours = evaluate(translate.objective_of(translate.translate(drawer.data, config)[0]), batch)
    except Exception as why:  # the oracle raises several kinds
        return f"the oracle refuses: {type(why).__name__}: {why}"
    return differs(ours, theirs, tolerance(name, config))


def fails(name, drawer, evaluate, n):
    """config -> what is apart, on the batch of the n-th configuration"""
    def of(config):
        try:
            return compared(name, drawer, evaluate, config, FRAMEWORKS[name][1](generator(name + " batch", n), config))
        except configured.Refused:
            return None
    return of


def passed_failed(name, count=CONFIGURATIONS):
    data = translate.data_of(name)
    drawer, evaluate, wrong, n, compared_ones, refused = FRAMEWORKS[name][0](data), translate.oracle(), [], 0, 0, 0
    stale = [b.words for b in drawer.beyond if not b.is_said(data)]
    while compared_ones < count:
        n += 1
        config = drawer.draw(generator(name, n))
        test = fails(name, drawer, evaluate, n)
        try:
            why = compared(name, drawer, evaluate, config, FRAMEWORKS[name][1](generator(name + " batch", n), config))
        except configured.Refused:
            refused += 1
            continue
        compared_ones += 1
        if why:
            least = drawer.reduced(config, test) if len(wrong) < 12 else config
            wrong.append(f"configuration {n}: {least}: {test(least)}")
    for line in wrong[:40] + [f"no `cannot say` of the data has: {words}" for words in stale] + [f"never drawn: {x}" for x in drawer.never()]:
        print(f"{name}: {line}", file=sys.stderr)
    options = {option for option, _ in drawer.seen}
    print(f"{name}: {count - len(wrong)} of {count} configurations agree; they have {len(drawer.seen)} values of {len(options)} of "
          f"{len(drawer.keys)} options; {drawer.unsaid} more cannot be expressed, {refused} the framework refuses", file=sys.stderr)
    return count - len(wrong), len(wrong) + len(stale) + len(drawer.never())
