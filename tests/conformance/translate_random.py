"""Random configurations of frameworks against the objectives they translate to; translate_frameworks.py runs this.

Those of TRL, verl, OpenRLHF and ms-swift are here, the others in MODULES. Each framework has a Drawer, which says in which range a number
is drawn, and which options are left at their defaults and why. Two runs draw the same configurations. A configuration that does not agree
is shown with the options that matter. A configuration that the framework refuses, or whose loss is 0 divided by 0 on the batch, is counted
and not compared.

The batches have masked tokens, truncated responses (except for verl) and for verl groups of one to four responses; they are one micro-batch
of one step. Compared are the advantages of the tokens that count, the loss, and its gradients by the log-probabilities and the entropy, in
float64: code that asks for float32 gets float64. The bounds are those of TOLERANCE, times the scale of the loss, or the largest gradient or
advantage.
"""
import copy
import importlib
import json
import sys

import translate_areal
import translate_skyrl
import translate_trl_trainers
import translate_configured as configured
from options import translate
from translate_drawn import Beyond, Drawer, generator, holes, whole

CONFIGURATIONS = 200
TOLERANCE = {"trl": 1e-9, "verl": 1e-7, "openrlhf": 1e-7, "ms_swift": 1e-9}  # two add 1e-8 to numbers of tokens
# option, its value, field, a wrong value
PLANTED = {"trl": ("vllm_importance_sampling_mode", "sequence_mask", "weight.rollout_is_level", "sequence_mean"),
           "verl": ("algorithm.adv_estimator", "opo", "advantage.baseline", "group_mean"),
           "openrlhf": ("algo.advantage.estimator", "group_norm", "advantage.std", "population"),
           "ms_swift": ("rollout_importance_sampling_mode", "token_mask", "weight.rollout_is", "truncate")}


ACTOR, CORRECTION, ALGORITHM = "actor_rollout_ref.actor.", "algorithm.rollout_correction.", "algorithm."
OVERLONG = "reward.reward_kwargs."


# ---- what is drawn

def delta(losses):
    high = lambda c: c["epsilon"] if c["epsilon_high"] is None else c["epsilon_high"]
    return Beyond("delta", "delta <= 1 + epsilon_high", lambda c: c["loss_type"] in losses and c["delta"] and c["delta"] <= 1 + high(c))


def trl_drawer(data):
    weights = lambda rng: [rng.choice([0.25, 0.5, 1.0, 2.0]) for _ in range(2)]
    numbers = {"beta": (0.01, 0.5), "epsilon": (0.05, 0.4), "epsilon_high": (0.1, 0.6), "delta": (1.05, 4),
               "sapo_temperature_neg": (0.5, 3), "sapo_temperature_pos": (0.5, 3), "vespo_k_pos": (0.5, 3), "vespo_lambda_pos": (0.5, 4),
               "vespo_k_neg": (0.5, 4), "vespo_lambda_neg": (0.5, 3), "reward_weights": weights, "top_entropy_quantile": (0.2, 0.8),
               "entropy_coef": (0.01, 0.2), "vllm_importance_sampling_clip_max": (1.1, 4), "vllm_importance_sampling_clip_min": (0.1, 0.9),
               "off_policy_mask_threshold": (-0.2, 0.4), "max_completion_length": whole(3, 20)}
    left = {"num_iterations": "the old policy's log-probabilities are always those of another policy here",
            "use_adaptive_entropy": "needs the state of the trainer", "router_aux_loss_coef": "needs a mixture of experts"}
    return Drawer(data, numbers, {"loss_type"}, left, [delta(("grpo", "bnpo", "dr_grpo", "dapo", "luspo"))])


def verl_drawer(data):
    numbers = {
        ACTOR + "clip_ratio": (0.05, 0.4), ACTOR + "clip_ratio_low": (0.05, 0.4), ACTOR + "clip_ratio_high": (0.05, 0.6),
        ACTOR + "clip_ratio_c": (1.2, 5), ACTOR + "tau_pos": (0.5, 3), ACTOR + "tau_neg": (0.5, 3),
        ACTOR + "policy_loss.clip_cov_ratio": (0.1, 0.6), ACTOR + "policy_loss.clip_cov_lb": (0, 0.3),
        ACTOR + "policy_loss.clip_cov_ub": (0.5, 5), ACTOR + "policy_loss.kl_cov_ratio": (0.1, 0.6),
        ACTOR + "policy_loss.ppo_kl_coef": (0.05, 1), ACTOR + "policy_loss.dro_beta": (0.05, 2), ACTOR + "loss_scale_factor": whole(3, 20),
        ACTOR + "entropy_coeff": (0.01, 0.2), ACTOR + "kl_loss_coef": (0.01, 0.5), ALGORITHM + "gamma": (0.8, 1),
        ALGORITHM + "lam": (0.8, 1),
        ALGORITHM + "kl_ctrl.kl_coef": (0.01, 0.3), ALGORITHM + "gdpo_reward_weights": lambda rng: [rng.choice([0.25, 0.5, 2.0]), 1.0],
        CORRECTION + "rollout_is_threshold": (1.1, 4),
        CORRECTION + "rollout_rs_threshold": lambda rng: round(10 ** rng.uniform(-2.5, -0.3), 4),
        OVERLONG + "overlong_buffer_cfg.len": whole(1, 3), OVERLONG + "overlong_buffer_cfg.penalty_factor": (0.2, 1),
        OVERLONG + "max_resp_len": whole(3, 6)}
    left = {ALGORITHM + "use_pf_ppo": "resamples the batch", ALGORITHM + "filter_groups.enable": "changes which prompts are in the batch",
            "distillation.enabled": "needs a teacher"}
    often = {ACTOR + "policy_loss.loss_mode", ALGORITHM + "adv_estimator", CORRECTION + "rollout_rs_threshold",
             ACTOR + "policy_loss.dro_beta"}
    high = lambda c: c[ACTOR + "clip_ratio"] if c[ACTOR + "clip_ratio_high"] is None else c[ACTOR + "clip_ratio_high"]
    dual = ("vanilla", "bypass_mode")
    beyond = [Beyond(ACTOR + "clip_ratio_c", "up to 1 + clip_ratio_high", lambda c: c[ACTOR + "policy_loss.loss_mode"] in dual and
                     c[ACTOR + "clip_ratio_c"] <= 1 + high(c))]

    def fitted(config):
        """A bound of a ratio is above 1, that of another statistic below."""
        bound, test = CORRECTION + "rollout_rs_threshold", config.get(CORRECTION + "rollout_rs") or ""
        if test.endswith("k1") and isinstance(config.get(bound), float) and config[bound] < 1:
            config[bound] = round(1 + config[bound], 4)
        return config
    return Drawer(data, numbers, often, left, beyond, fitted)


def ms_swift_drawer(data):
    weights = lambda rng: [rng.choice([0.25, 0.5, 1.0, 2.0]) for _ in range(2)]
    numbers = {"beta": (0.01, 0.5), "epsilon": (0.05, 0.4), "epsilon_high": (0.1, 0.6), "delta": (1.05, 4), "tau_pos": (0.5, 3),
               "tau_neg": (0.5, 3), "real_tau": (0.3, 2), "fipo_decay_rate": (1, 32), "fipo_clip_range": (0.2, 0.9),
               "fipo_safety_threshold": (1.01, 1.5), "reward_weights": weights, "max_completion_length": whole(3, 20),
               "top_entropy_quantile": (0.2, 0.8), "rollout_importance_sampling_threshold": (1.05, 3)}
    teacher = ("teacher_model", "teacher_kl_coef", "advantage_reweight", "rlsd_lambda", "rlsd_reweight_clip_range", "rlsd_negative_only",
               "rlsd_lambda_warmup_steps", "rlsd_lambda_decay_steps", "sdar_loss_coef", "sdar_gate_beta")
    left = {**{option: "needs a teacher" for option in teacher}, "chord_mu_peak": "needs expert data",
            "reward_funcs": "the reward functions are the caller's", "soft_cache_length": "one of them", "soft_max_length": "one of them",
            "off_policy_sequence_mask_delta": "its numbers cannot be expressed"}
    return Drawer(data, numbers, {"loss_type"}, left, [delta(("grpo", "bnpo", "dr_grpo", "dapo", "fipo"))])


def openrlhf_drawer(data):
    a = "algo.advantage."
    band = lambda rng: [round(rng.uniform(0.3, 0.9), 3), round(rng.uniform(1.1, 3), 3)]
    numbers = {a + "gamma": (0.8, 1), a + "lambd": (0.8, 1), "algo.kl.init_coef": (0.01, 0.5),
               "reward.clip_range": lambda rng: [round(rng.uniform(-2, 0.4), 3), round(rng.uniform(0.5, 2), 3)],
               "reward.overlong_buffer_len": whole(1, 4), "reward.overlong_penalty_factor": (0.2, 1.5),
               "reward.stop_properly_penalty_coef": (0, 1), "actor.eps_clip": (0.05, 0.4),
               "actor.eps_clip_low_high": lambda rng: [round(rng.uniform(0.05, 0.4), 3), round(rng.uniform(0.05, 0.6), 3)],
               "actor.dual_clip": (1.1, 5), "rollout.max_new_tokens": whole(4, 7), "actor.entropy_coef": (0.01, 0.2),
               a + "is_correction_threshold": band}
    left = {"algo.kl.target": "needs the state of the trainer", "actor.aux_loss_coef": "needs a mixture of experts",
            "reward.normalize_enable": "the reward model's", "algo.dynamic_filtering_enable": "changes which prompts are in the batch"}

    def fitted(config):
        """A clip of rewards less their baseline does not bind; a divergence has an upper bound only."""
        if config.get(a + "estimator", "gae") not in ("gae", "reinforce") and "reward.clip_range" in config:
            config["reward.clip_range"] = [x * 20 - 10 * (x > 0) - 5 for x in (-0.5, 1.5)]
        if config.get(a + "is_correction_gating") == "tv":
            config[a + "is_correction_threshold"] = [0.0, round(config.get(a + "is_correction_threshold", [0, 1.5])[1] / 30, 4)]
        return config
    high = lambda c: (c["actor.eps_clip_low_high"] or [c["actor.eps_clip"]])[-1]
    beyond = [Beyond("actor.dual_clip", "up to 1 + eps_clip", lambda c: c["actor.dual_clip"] and c["actor.dual_clip"] <= 1 + high(c))]
    return Drawer(data, numbers, {a + "estimator", a + "is_correction_level", "rollout.max_new_tokens"}, left, beyond, fitted)


# ---- the batches

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
    if config.get(ACTOR + "kl_loss_type") in ("low_var_kl+", "k3+"):  # no clamp binds
        batch["logp_ref"] = [[min(max(f, x - 1.5), x + 1.5) for f, x in zip(*rows)] for rows in zip(batch["logp_ref"], batch["logp"])]
    batch["sum_pi_squared"] = [[rng.randint(16, 60) / 64 for _ in row] for row in batch["logp"]]
    return batch


def openrlhf_batch(rng, config):
    batch = translate.random_batch(rng, True)
    if rng.random() < 0.5 and config.get("algo.advantage.estimator", "gae") not in ("gae", "reinforce"):  # there it is a step
        holes(rng, batch)
    return batch


FRAMEWORKS = {"trl": (trl_drawer, trl_batch, configured.trl), "verl": (verl_drawer, verl_batch, configured.verl),
              "openrlhf": (openrlhf_drawer, openrlhf_batch, configured.openrlhf),
              "ms_swift": (ms_swift_drawer, trl_batch, configured.ms_swift)}

UNLISTED = {}  # name: function of the data that returns the options of the framework's classes that are neither there nor of other things
MODULES = (translate_trl_trainers, translate_areal, translate_skyrl)  # of a framework each: the same tables
for module in MODULES:
    FRAMEWORKS.update(module.FRAMEWORKS)
    TOLERANCE.update(module.TOLERANCE)
    PLANTED.update(module.PLANTED)
    UNLISTED.update(getattr(module, "UNLISTED", {}))

FROM_SOURCES = ("slime", "nemo_rl", "prime_rl", "open_instruct")  # modules with drawer, batch, run, unlisted, TOLERANCE, PLANTED


def with_sources(names):
    """Adds frameworks that are not installed."""
    for name in names:
        module = importlib.import_module("translate_" + name)
        FRAMEWORKS[name] = (module.drawer, module.batch, module.run)
        TOLERANCE[name], PLANTED[name], UNLISTED[name] = module.TOLERANCE, module.PLANTED, module.unlisted


# ---- against ours

def differs(ours, scale, theirs, bound):
    """None, or what is apart: the loss by more than `bound` times its scale (the sum of the absolute terms, at least 1e-6), a gradient or
    an advantage by more than `bound` times the largest."""
    flat = lambda rows: [x for row in rows for x in row]
    if not abs(ours["loss"] - theirs["loss"]) <= bound * max(scale["loss"], 1e-6):
        return f"loss apart by {abs(ours['loss'] - theirs['loss']):.3g}, of {scale['loss']:.3g}"
    pairs = [("advantage", flat(ours["advantage"]), flat(theirs["advantage"])), ("gradient", flat(ours["dlogp"]), flat(theirs["dlogp"]))]
    nothing = [[0] * len(row) for row in ours["dlogp"]]
    pairs.append(("gradient of the entropy", flat(ours.get("dentropy", nothing)), flat(theirs["dentropy"])))
    for what, x, y in pairs:
        both = [(p, q) for p, q in zip(x, y, strict=True) if q is not None]
        apart, largest = [abs(p - q) for p, q in both], max([1e-2] + [abs(p) for p, _ in both])
        if not all(d <= bound * largest for d in apart):  # not of the largest: max() passes over a NaN
            return f"{what} apart by {max(apart):.3g}" + ", a NaN" * any(d != d for d in apart)
    return None


def evaluate(objective, batch):
    """(answers, their scales) of the oracle."""
    import evaluate as oracle
    import objectives
    return oracle.evaluate(objectives.filled(objective), batch)


def compared(name, drawer, config, batch):
    """None, or what is apart."""
    run = FRAMEWORKS[name][2]
    try:
        theirs, batch = run(config, dict(batch))
    except configured.Refused:
        raise
    except Exception as why:  # of the framework's own code
        return f"the framework ends in {type(why).__name__}: {why}"
    try:
        ours, scale = evaluate(translate.objective_of(translate.translate(drawer.data, config)[0]), batch)
    except Exception as why:  # the oracle raises several kinds
        return f"the oracle refuses: {type(why).__name__}: {why}"
    return differs(ours, scale, theirs, TOLERANCE[name])


def fails(name, drawer, n):
    """configuration -> what is apart, on the batch of the n-th configuration"""
    return lambda config: compared(name, drawer, config, FRAMEWORKS[name][1](generator(name + " batch", n), config))


def configurations(name, drawer):
    """Yields (number, configuration): CONFIGURATIONS drawn freely, then more with the values that fewer than `times` had (None: none was
    found)."""
    for n in range(CONFIGURATIONS):
        yield n, drawer.draw(generator(name, n))
    n = CONFIGURATIONS
    for place in drawer.rare(drawer.times):
        for _ in range(drawer.times - drawer.seen.get(place, 0)):
            yield n, drawer.draw_with(*place, generator(name, n))
            n += 1


def planted(name):
    """Is a wrong translation noticed?"""
    data = copy.deepcopy(translate.data_of(name))
    option, key, field, wrong = PLANTED[name]
    entry = next(e for e in data["options"] if e["option"] == option and field in e["fields"].get(key, ()))
    entry["fields"][key][field] = wrong
    drawer = FRAMEWORKS[name][0](data)
    for n in range(5):
        config = drawer.draw_with(data["options"].index(entry), key, generator(name, n))
        if fails(name, drawer, n)(config):
            return True
    return False


def other_value(x, field):
    """A wrong value for a field of the data."""
    axis, name = field.split(".")
    with open(translate.SCHEMA, encoding="utf-8") as f:
        domain = json.load(f)["$defs"]["objective"]["properties"][axis]["properties"][name]
    if "enum" not in domain:
        return "1+$" if x == "$" else 0.37
    likely = ("sequence_mean", "token", "group_std", "none", "group_mean", "population", "k2", "k1")
    return next(c for c in (*likely, *domain["enum"]) if c in domain["enum"] and c != x)


def places(drawer):
    """(words, how to find it in the data, field) of every field that the data sets."""
    yield from (("always", lambda data: data["always"], field) for field in drawer.data["always"])
    for i, entry in enumerate(drawer.data["options"]):
        for key, to in entry.get("fields", {}).items() if entry["option"] in drawer.options else ():
            find = lambda data, i=i, key=key: data["options"][i]["fields"][key]
            yield from ((drawer.said((i, key)), find, field) for field in to or ())


def changed(name):
    """Changes every field of the data, one at a time, and prints those that no configuration notices."""
    drawer, answers, unnoticed, number = FRAMEWORKS[name][0](translate.data_of(name)), [], [], 0
    for n, config in configurations(name, drawer):
        try:
            answers.append((config, *FRAMEWORKS[name][2](config, FRAMEWORKS[name][1](generator(name + " batch", n), config))))
        except configured.Refused:
            pass
    fields_of = lambda data, config: translate.translate(data, config)[0]
    for words, find, field in places(drawer):
        data, number = copy.deepcopy(drawer.data), number + 1
        to = find(data)
        to[field] = other_value(to[field], field)
        for config, theirs, batch in answers:
            try:
                fields = fields_of(data, config)
                same = fields == fields_of(drawer.data, config)
                if not same and differs(*evaluate(translate.objective_of(fields), batch), theirs, TOLERANCE[name]):
                    break
            except Exception:  # not an objective
                break
        else:
            unnoticed.append(f"{words}: {field}")
    print(f"{name}: {number - len(unnoticed)} of {number} changed fields are noticed; not: " + "; ".join(unnoticed), file=sys.stderr)


def passed_failed(name):
    drawer = FRAMEWORKS[name][0](translate.data_of(name))
    wrong, passed, refused = [f"no `cannot say` of the data has: {b.words}" for b in drawer.beyond if not b.is_said(drawer.data)], 0, 0
    wrong += ["not in the data: " + option for option in UNLISTED[name](drawer.data)] if name in UNLISTED else []
    wrong += [] if planted(name) else ["a planted wrong translation is not noticed"]
    for n, config in configurations(name, drawer):
        if config is None:
            continue  # reported as never drawn
        test = fails(name, drawer, n)
        try:
            why = test(config)
        except configured.Refused:
            refused += 1
            continue
        passed += not why
        if why:
            least = drawer.reduced(config, test) if len(wrong) < 20 else config
            wrong.append(f"configuration {n}: {least}: {test(least)}")
    wrong += ["never drawn: " + drawer.said(place) for place in drawer.rare(1)]
    for line in wrong[:20]:
        print(f"{name}: {line}", file=sys.stderr)
    options = {drawer.data["options"][number]["option"] for number, _ in drawer.seen}
    print(f"{name}: {passed} configurations agree, {len(wrong)} do not; they have {len(drawer.seen)} values of {len(options)} of "
          f"{len(drawer.keys)} options; {drawer.unsaid} more cannot be expressed, {refused} the framework refuses", file=sys.stderr)
    return passed, len(wrong)
