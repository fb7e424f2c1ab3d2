"""The cases of the kind `refuse`: each is a valid input with a single fault added. Also ordinary cases whose input looks invalid but is
defined."""
import copy

from objectives import changed, objective
from refused import faults
from scenarios import INF, MINUS_INF, NAN, finish, full

CASES = []  # (label, comment, row, fields that differ from it, fault, are the advantages given?)


def case(label, row, fault, comment, given=False, **axes):
    CASES.append((label, comment, row, axes, fault, given))


# ---- faults: each changes (objective, batch)

def put(key, *place, x):
    def change(o, batch):
        row = batch[key]
        for k in place[:-1]:
            row = row[k]
        row[place[-1]] = x
    return change


def cut(key, i=None):
    """Removes the last entry of an array, or of its row i."""
    return lambda o, batch: (batch[key] if i is None else batch[key][i]).pop()


def longer(key, i=None):
    def change(o, batch):
        row = batch[key] if i is None else batch[key][i]
        row.append(copy.deepcopy(row[-1]))
    return change


def without(*keys):
    def change(o, batch):
        for key in keys:
            del batch[key]
    return change


def sets(**axes):
    def change(o, batch):
        for axis, fields in axes.items():
            o[axis].update(fields)
    return change


# ---- rewards and other arrays of responses

case("reward-nan", "grpo", put("reward", 1, x=NAN), "a reward is NaN")
case("reward-nan-rloo", "rloo", put("reward", 2, x=NAN), "a reward is NaN, leave-one-out")
case("reward-nan-ppo", "ppo", put("reward", 0, x=NAN), "a reward is NaN, with a critic")
case("reward-inf", "dapo", put("reward", 3, x=INF), "a reward is infinite")
case("reward-minus-inf", "reinforce++", put("reward", 0, x=MINUS_INF), "a reward is minus infinity")
case("reward-short", "gspo", cut("reward"), "one reward too few")
case("reward-long", "grpo", longer("reward"), "one reward too many")
case("reward-missing", "grpo", without("reward"), "no rewards")
case("rewards-nan", "gdpo", put("rewards", 1, 0, x=NAN), "one of several rewards is NaN")
case("rewards-ragged", "gdpo", cut("rewards", 2), "a response has fewer rewards than the others")
case("rewards-missing", "gdpo", without("rewards", "reward_weight"), "no columns of rewards")
case("reward_weight-nan", "gdpo", put("reward_weight", 1, x=NAN), "the weight of a reward is NaN")
case("reward_weight-long", "gdpo", longer("reward_weight"), "more weights than rewards")
case("reward-beta", "bnpo", put("reward", 1, x=2), "a reward beyond 1 beside a Beta density")
case("baseline-nan", "remax", put("baseline", 1, x=NAN), "a baseline is NaN")
case("baseline-short", "remax", cut("baseline"), "a baseline too few")
case("baseline-missing", "remax", without("baseline"), "the greedy response's reward is missing")
case("value-nan", "ppo", put("value", 2, 1, x=NAN), "a value of the critic is NaN")
case("value-inf", "vapo-gae", put("value", 0, 2, x=INF), "a value of the critic is infinite")
case("value-missing", "ppo", without("value"), "no critic")
case("step_reward-nan", "grpo-process", put("step_reward", 1, 2, x=NAN), "the reward of a step is NaN")
case("step_reward-missing", "grpo-process", without("step_reward"), "no rewards of steps")
case("reward-kl-inf", "reinforce++", put("logp_ref", 1, 1, x=MINUS_INF), "the KL in the reward is infinite")
case("reward-kl-missing", "rloo", without("logp_ref"), "no reference for the KL in the reward")
case("truncated-short", "t-ppo", cut("truncated"), "a flag too few")
case("pass-at-k-few", "pass-at-k", sets(advantage={"pass_k": 3}), "groups of two cannot give three samples")

# ---- the shape of the batch

case("group-first", "grpo", put("group", 0, x=1), "the groups do not begin with 0")
case("group-decreasing", "gspo", put("group", 3, x=0), "a group that was over comes again")
case("group-gap", "dapo", put("group", 3, x=3), "a group is left out")
case("group-short", "grpo", cut("group"), "fewer groups than lengths")
case("length-negative", "grpo", put("length", 1, x=-3), "a negative length")
case("length-short", "gspo", cut("length"), "a length too few")

# ---- log-probabilities

case("logp-nan", "grpo", put("logp", 1, 2, x=NAN), "a log-probability is NaN", given=True)
case("logp-nan-gspo", "gspo", put("logp", 3, 0, x=NAN), "NaN in the mean of a response", given=True)
case("logp-nan-reinforce", "reinforce", put("logp", 0, 1, x=NAN), "NaN without any ratio", given=True)
case("logp-inf", "grpo", put("logp", 0, 0, x=INF), "a log-probability is +infinity", given=True)
case("logp-inf-gspo", "gspo", put("logp", 2, 1, x=INF), "+infinity in the mean of a response", given=True)
case("logp-short", "grpo", cut("logp", 1), "a response has fewer log-probabilities than tokens", given=True)
case("logp-long", "dapo", longer("logp", 2), "a response has more log-probabilities than tokens", given=True)
case("logp-rows", "gspo", cut("logp"), "a response has no log-probabilities", given=True)
case("logp-missing", "grpo", without("logp"), "no log-probabilities", given=True)
case("logp_old-nan", "dapo", put("logp_old", 0, 2, x=NAN), "NaN under the old policy", given=True)
case("logp_old-nan-gspo", "gspo", put("logp_old", 1, 1, x=NAN), "NaN under the old policy, in the mean of a response", given=True)
case("logp_old-inf", "cispo", put("logp_old", 2, 0, x=INF), "+infinity under the old policy", given=True)
case("logp_old-short", "gspo", cut("logp_old", 3), "fewer old log-probabilities than tokens", given=True)
case("logp_old-missing", "grpo", without("logp_old"), "a ratio without an old policy", given=True)
case("logp_old-missing-gspo", "gspo", without("logp_old"), "a ratio of responses without an old policy", given=True)
case("logp_ref-nan", "grpo", put("logp_ref", 1, 0, x=NAN), "NaN under the reference", given=True)
case("logp_ref-inf", "grpo", put("logp_ref", 2, 2, x=INF), "+infinity under the reference", given=True)
case("logp_ref-missing", "grpo", without("logp_ref"), "a KL without a reference", given=True)
case("logp_rollout-nan", "tis", put("logp_rollout", 1, 1, x=NAN), "NaN under the engine that sampled", given=True)
case("logp_rollout-inf", "icepop", put("logp_rollout", 0, 1, x=INF), "+infinity under the engine that sampled", given=True)
case("logp_rollout-missing", "tis", without("logp_rollout"), "a rollout weight without the engine's log-probabilities", given=True)
case("logp_teacher-missing", "opd", without("logp_teacher"), "distillation without a teacher")

# ---- other arrays

case("advantage-nan", "grpo", put("advantage", 0, 1, x=NAN), "a given advantage is NaN", given=True)
case("advantage-inf", "gspo", put("advantage", 2, 0, x=INF), "a given advantage is infinite", given=True)
case("advantage-short", "dapo", cut("advantage", 1), "fewer advantages than tokens", given=True)
case("advantage-rows", "gspo", longer("advantage"), "more rows of advantages than responses", given=True)
case("mask-short", "grpo", cut("mask", 0), "fewer flags than tokens", given=True)
case("mask-rows", "dapo", cut("mask"), "a response has no mask", given=True)
case("entropy-nan", "grpo", put("entropy", 1, 1, x=NAN), "an entropy is NaN", given=True, penalty={"entropy_coef": 0.125})
case("entropy-inf", "ppo", put("entropy", 0, 0, x=INF), "an entropy is infinite", given=True, penalty={"entropy_coef": 0.125})
case("entropy-missing", "ppo", without("entropy"), "an entropy bonus without entropies", given=True, penalty={"entropy_coef": 0.125})
case("external_weight-negative", "gtpo-conf", put("external_weight", 1, 1, x=-0.5), "a weight from outside is negative", given=True)
case("external_weight-nan", "gtpo-conf", put("external_weight", 0, 2, x=NAN), "a weight from outside is NaN", given=True)
case("eps_low-above-1", "ppo", put("eps_low", 0, 1, x=1.5), "a bound below the ratio 0", given=True,
     surrogate={"bounds": "external", "eps_low": 0, "eps_high": 0})
case("eps_high-negative", "ppo", put("eps_high", 3, 1, x=-0.25), "an upper bound below 1", given=True,
     surrogate={"bounds": "external", "eps_low": 0, "eps_high": 0})
case("log_partition-inf", "flowrl", put("log_partition", 1, x=INF), "the log of a partition function is infinite")

# ---- numbers of the objective

case("surrogate-eps_low", "grpo", sets(surrogate={"eps_low": -0.25}), "a negative clip", given=True)
case("surrogate-eps_high", "gspo", sets(surrogate={"eps_high": -0.25}), "a negative clip", given=True)
case("surrogate-eps_high-nan", "dapo", sets(surrogate={"eps_high": NAN}), "a clip that is NaN", given=True)
case("surrogate-clip_dual", "ppo-dual-clip", sets(surrogate={"clip_dual": 1}), "a dual clip inside of the clip", given=True)
case("surrogate-clip_dual-0", "ppo-dual-clip", sets(surrogate={"clip_dual": 0}), "a dual clip without a bound", given=True)
case("surrogate-weight", "cispo", sets(surrogate={"weight_min": 6}), "the least weight is above the largest", given=True)
case("surrogate-tau_pos", "sapo", sets(surrogate={"tau_pos": 0}), "a temperature of 0", given=True)
case("surrogate-tau_neg", "sapo", sets(surrogate={"tau_neg": -1}), "a negative temperature", given=True)
case("surrogate-quadratic_eps", "cfpo", sets(surrogate={"quadratic_eps": 0}), "a parabola of width 0", given=True)
case("aggregation-constant", "dr-grpo", sets(aggregation={"constant": 0}), "the constant that divides is 0", given=True)
case("aggregation-constant-negative", "dr-grpo", sets(aggregation={"constant": -8}), "the constant that divides is negative", given=True)
case("penalty-kl_coef-nan", "grpo", sets(penalty={"kl_coef": NAN}), "a coefficient that is NaN", given=True)
case("penalty-kl_coef-inf", "grpo", sets(penalty={"kl_coef": INF}), "an infinite coefficient", given=True)
case("penalty-kl_clamp_value", "gigpo", sets(penalty={"kl_clamp_value": -10}), "a negative clamp", given=True)
case("advantage-eps", "grpo", sets(advantage={"eps": -0.125}), "a negative epsilon beside the deviation")
case("advantage-gamma-nan", "ppo", sets(advantage={"gamma": NAN}), "a discount that is NaN")
case("advantage-lambda-inf", "ppo", sets(advantage={"lambda": INF}), "an infinite lambda")
case("advantage-quantile", "qae", sets(advantage={"quantile": 1.5}), "a quantile beyond 1")
case("advantage-pass_k", "pass-at-k", sets(advantage={"pass_k": 0}), "samples of nothing")
case("advantage-observation_noise", "krpo", sets(advantage={"observation_noise": 0}), "a Kalman filter without noise")
case("ratio-clamp", "verl-grpo", sets(ratio={"clamp_low": 32}), "the lower bound of the log-ratio is above the upper one", given=True)
case("weight-rollout_is", "icepop", sets(weight={"rollout_is_low": 8}), "a band of weights whose ends are crossed", given=True)
case("reward-overlong_cache", "dapo-recipe", sets(reward={"overlong_cache": 32768}), "a buffer longer than the window")

# ---- choices that do not go together

case("clash-batch_norm-reweight", "gdpo", sets(advantage={"reweight": "valid_groups"}), "normalised over the batch and reweighted",
     advantage={"rewards": "one"})
case("clash-rewards-credit", "gdpo", sets(advantage={"credit": "return", "gamma": 1}), "several rewards and a credit of tokens")
case("clash-kalman_std", "krpo", sets(advantage={"baseline": "group_mean"}), "the deviation of a filter that is not asked for")
case("clash-length_power-step", "grpo-process", sets(advantage={"reweight": "length_power", "length_power": 1}), "lengths of steps")
case("clash-episode_step-tokens", "gigpo", sets(advantage={"batch_norm": "tokens", "batch_norm_eps": 0.125}),
     "episode and step together, normalised over tokens", advantage={"step_group": "prompt", "samples": "responses"})
case("clash-entropy_share-tokens", "gtpo", sets(advantage={"batch_norm": "tokens", "batch_norm_eps": 0.125}),
     "shares of the entropy, normalised once more over tokens")
case("clash-truncated_tail", "grpo", sets(advantage={"truncated_tail": 1}), "a tail that waits for a value, without values")
case("clash-excluded-credit", "red-drop", sets(advantage={"credit": "return", "gamma": 1}), "responses outside, with a credit of tokens")
case("clash-group-token", "gvpo", sets(ratio={"level": "token"}), "a function of the group on ratios of tokens")
case("clash-nll_gate", "oreal", sets(penalty={"nll_gate": "sequence"}), "a gate without the form that it belongs to")
case("clash-bounds-level", "gspo", sets(surrogate={"bounds": "external", "eps_low": 0, "eps_high": 0}), "bounds of tokens, ratios of responses",
     given=True)
case("clash-entropy-credit", "rl-zvp", sets(advantage={"credit": "return", "gamma": 1}), "entropies of prompts without variance, on returns")

# ---- given divergences

EXTERNAL = {"kl": "external"}
TRUST = {"surrogate": {"kind": "ratio", "eps_low": 0, "eps_high": 0},
         "weight": {"trust": "divergence", "trust_low": 0.25, "trust_high": 0.25}}
case("divergence_ref-nan", "grpo", put("divergence_ref", 1, 2, x=NAN), "a divergence that is paid is NaN", given=True, penalty=EXTERNAL)
case("divergence_ref-inf", "grpo", put("divergence_ref", 0, 0, x=INF), "a divergence that is paid is infinite", given=True,
     penalty=EXTERNAL)
case("divergence_ref-negative", "grpo", put("divergence_ref", 3, 1, x=-0.125), "a divergence below 0", given=True, penalty=EXTERNAL)
case("divergence_ref-short", "grpo", cut("divergence_ref", 2), "fewer divergences than tokens", given=True, penalty=EXTERNAL)
case("divergence_ref-missing", "grpo", without("divergence_ref"), "a divergence is paid, and none is given", given=True, penalty=EXTERNAL)
case("divergence_old-nan", "grpo", put("divergence_old", 0, 1, x=NAN), "a divergence that decides is NaN", given=True, **TRUST)
case("divergence_old-inf", "grpo", put("divergence_old", 2, 0, x=INF), "a divergence that decides is infinite", given=True, **TRUST)
case("divergence_old-negative", "grpo", put("divergence_old", 1, 1, x=-0.125), "a divergence below 0", given=True, **TRUST)
case("divergence_old-rows", "grpo", cut("divergence_old"), "a response has no divergences", given=True, **TRUST)
case("divergence_old-missing", "grpo", without("divergence_old"), "trust by a divergence that is not given", given=True, **TRUST)
case("weight-trust_high", "grpo", sets(weight={"trust_high": -0.25}), "a negative bound of the divergence", given=True, **TRUST)
for field, x in (("kl_reference", "old"), ("kl_gradient", "straight_through_k2"), ("kl_importance_weight", "token"),
                 ("kl_clamp_on", "weighted"), ("kl_importance_weight_max", 2), ("kl_clamp_log", 1), ("kl_clamp_value", 1)):
    case(f"clash-external-{field}", "grpo", sets(penalty={field: x}), "a divergence that is given, and what is for estimates of one",
         given=True, penalty=EXTERNAL)
BANDED = {"weight": {"trust": "negative_band", "trust_low": 0.25, "trust_high": 0.5}}
CONTRAST = {"surrogate": {"kind": "contrastive", "tau_neg": 0, "contrast_temperature": 0.5, "contrast_margin": 0.125}}
case("weight-trust_low", "grpo", sets(weight={"trust_low": -0.25}), "a negative bound of the band for bad responses", given=True,
     **BANDED)
case("surrogate-contrast_temperature", "disco", sets(surrogate={"contrast_temperature": 0}), "a contrast of temperature 0", given=True,
     **CONTRAST)
case("clash-contrastive-token", "disco", sets(ratio={"level": "token"}), "a contrast of responses, scores of tokens", given=True,
     **CONTRAST)
case("surrogate-quadratic_eps-probability", "cfpo", sets(surrogate={"quadratic_eps": 0}), "a parabola of width 0, by probability",
     given=True, surrogate={"kind": "quadratic_probability"})
case("clash-quadratic_probability-level", "cfpo", sets(ratio={"level": "sequence_mean"}), "the probability of a token, ratios of responses",
     given=True, surrogate={"kind": "quadratic_probability"})

# ---- valid input that looks invalid

DEFINED = []  # (label, comment, flags, objective, batch)
LENGTHS, NO_TOKENS, NOTHING = (3, 0, 2, 3), (0, 0, 2, 1), (0, 0, 0, 0)


def defined(row, label, lengths, comment, seed):
    o = objective(row)
    flags = ["FullyMasked"] + (["UnequalLengths"] if any(lengths) else [])
    DEFINED.append((f"defined-{label}-{row}", comment, flags, o, finish(o, full(o, (2, 2), lengths, seed, reward=(1, 0, 0.5, -0.5)))))


for k, row in enumerate(("grpo", "dapo", "dr-grpo", "gspo", "rloo", "reinforce++", "cispo", "ppo")):
    defined(row, "no-tokens", LENGTHS if k % 2 else NO_TOKENS, "responses without any token are defined", 4000 + k)
for k, row in enumerate(("grpo", "dapo", "gspo", "ppo")):
    defined(row, "empty", NOTHING, "no response has a token: loss 0, an empty gradient, no NaN", 4010 + k)


# ---- together

def base(row, axes, given, seed):
    o = changed(objective(row), **axes)
    batch = full(o, (2, 2), (3, 3, 3, 3), seed, reward=(1, 0, 0.5, 0.25), mask={(3, 2)})
    if given:
        batch["advantage"] = [[a] * 3 for a in (0.75, -0.75, 0.5, -0.5)]
    return o, finish(o, batch)


def is_about(found, first):
    return set(found.fields) & set(first.fields)


def refused(label, comment, row, axes, change, given, seed):
    """(label, comment, objective, batch, fault): the input is valid except for this one fault."""
    o, batch = base(row, axes, given, seed)
    if faults(o, batch):
        raise AssertionError(f"{label}: it is wrong without its fault: {[f.reason for f in faults(o, batch)]}")
    o, batch = copy.deepcopy(o), copy.deepcopy(batch)
    change(o, batch)
    found = faults(o, batch)
    if not found or not all(is_about(f, found[0]) for f in found):
        raise AssertionError(f"{label}: not one fault: {[f.reason for f in found]}")
    return label, comment, o, batch, found[0]


def made():
    for k, (label, comment, row, axes, change, given) in enumerate(CASES):
        yield refused(label, comment, row, axes, change, given, 5000 + k)
