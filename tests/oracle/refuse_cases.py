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
case("reward-nan-rloo", "rloo", put("reward", 2, x=NAN), "a reward is NaN, with a leave-one-out baseline")
case("reward-nan-ppo", "ppo", put("reward", 0, x=NAN), "a reward is NaN, in an objective with a critic")
case("reward-inf", "dapo", put("reward", 3, x=INF), "a reward is infinite")
case("reward-minus-inf", "reinforce++", put("reward", 0, x=MINUS_INF), "a reward is minus infinity")
case("reward-short", "gspo", cut("reward"), "one reward too few")
case("reward-long", "grpo", longer("reward"), "one reward too many")
case("reward-missing", "grpo", without("reward"), "the rewards are missing")
case("rewards-nan", "gdpo", put("rewards", 1, 0, x=NAN), "one of a response's several rewards is NaN")
case("rewards-ragged", "gdpo", cut("rewards", 2), "a response has fewer rewards than the others")
case("rewards-missing", "gdpo", without("rewards", "reward_weight"), "an objective with several reward columns, but they are missing")
case("reward_weight-nan", "gdpo", put("reward_weight", 1, x=NAN), "the weight of a reward column is NaN")
case("reward_weight-long", "gdpo", longer("reward_weight"), "more reward weights than reward columns")
case("reward-beta", "bnpo", put("reward", 1, x=2), "a reward of 2, where the Beta distribution needs rewards in 0 .. 1")
case("baseline-nan", "remax", put("baseline", 1, x=NAN), "a baseline is NaN")
case("baseline-short", "remax", cut("baseline"), "one baseline too few")
case("baseline-missing", "remax", without("baseline"), "the baseline, the greedy response's reward, is missing")
case("value-nan", "ppo", put("value", 2, 1, x=NAN), "a value of the critic is NaN")
case("value-inf", "vapo-gae", put("value", 0, 2, x=INF), "a value of the critic is infinite")
case("value-missing", "ppo", without("value"), "an objective with a critic, but the critic's values are missing")
case("step_reward-nan", "grpo-process", put("step_reward", 1, 2, x=NAN), "a process reward (of a step) is NaN")
case("step_reward-missing", "grpo-process", without("step_reward"), "an objective with process rewards, but they are missing")
case("reward-kl-inf", "reinforce++", put("logp_ref", 1, 1, x=MINUS_INF),
     "a KL in the reward is infinite, because the reference gives a token probability 0")
case("reward-kl-missing", "rloo", without("logp_ref"), "a KL in the reward, but the reference's log-probabilities are missing")
case("truncated-short", "t-ppo", cut("truncated"), "one flag too few of which responses are truncated")
case("pass-at-k-few", "pass-at-k", sets(advantage={"pass_k": 3}), "pass_k is 3, but the groups have two responses")

# ---- the shape of the batch

case("group-first", "grpo", put("group", 0, x=1), "the first response's group is 1, not 0")
case("group-decreasing", "gspo", put("group", 3, x=0), "a response of group 0 follows one of group 1")
case("group-gap", "dapo", put("group", 3, x=3), "group 3 follows group 1: a group is left out")
case("group-short", "grpo", cut("group"), "fewer entries in batch.group than in batch.length")
case("length-negative", "grpo", put("length", 1, x=-3), "a response has a negative length")
case("length-short", "gspo", cut("length"), "fewer entries in batch.length than in batch.group")

# ---- log-probabilities

case("logp-nan", "grpo", put("logp", 1, 2, x=NAN), "a log-probability is NaN", given=True)
case("logp-nan-gspo", "gspo", put("logp", 3, 0, x=NAN), "a log-probability is NaN, with one ratio per response", given=True)
case("logp-nan-reinforce", "reinforce", put("logp", 0, 1, x=NAN), "a log-probability is NaN, in an objective without a ratio", given=True)
case("logp-inf", "grpo", put("logp", 0, 0, x=INF), "a log-probability is +infinity", given=True)
case("logp-inf-gspo", "gspo", put("logp", 2, 1, x=INF), "a log-probability is +infinity, with one ratio per response", given=True)
case("logp-short", "grpo", cut("logp", 1), "a response has fewer log-probabilities than tokens", given=True)
case("logp-long", "dapo", longer("logp", 2), "a response has more log-probabilities than tokens", given=True)
case("logp-rows", "gspo", cut("logp"), "the last response's log-probabilities are missing", given=True)
case("logp-missing", "grpo", without("logp"), "the log-probabilities are missing", given=True)
case("logp_old-nan", "dapo", put("logp_old", 0, 2, x=NAN), "a log-probability of the old policy is NaN", given=True)
case("logp_old-nan-gspo", "gspo", put("logp_old", 1, 1, x=NAN), "a log-probability of the old policy is NaN, with one ratio per response",
     given=True)
case("logp_old-inf", "cispo", put("logp_old", 2, 0, x=INF), "a log-probability of the old policy is +infinity", given=True)
case("logp_old-short", "gspo", cut("logp_old", 3), "a response has fewer log-probabilities of the old policy than tokens", given=True)
case("logp_old-missing", "grpo", without("logp_old"), "an importance ratio, but the old policy's log-probabilities are missing",
     given=True)
case("logp_old-missing-gspo", "gspo", without("logp_old"),
     "one importance ratio per response, but the old policy's log-probabilities are missing", given=True)
case("logp_ref-nan", "grpo", put("logp_ref", 1, 0, x=NAN), "a log-probability of the reference is NaN", given=True)
case("logp_ref-inf", "grpo", put("logp_ref", 2, 2, x=INF), "a log-probability of the reference is +infinity", given=True)
case("logp_ref-missing", "grpo", without("logp_ref"), "a KL penalty, but the reference's log-probabilities are missing", given=True)
case("logp_rollout-nan", "tis", put("logp_rollout", 1, 1, x=NAN), "a log-probability of the rollout engine is NaN", given=True)
case("logp_rollout-inf", "icepop", put("logp_rollout", 0, 1, x=INF), "a log-probability of the rollout engine is +infinity", given=True)
case("logp_rollout-missing", "tis", without("logp_rollout"), "a rollout weight, but the rollout engine's log-probabilities are missing",
     given=True)
case("logp_teacher-missing", "opd", without("logp_teacher"), "distillation, but the teacher's log-probabilities are missing")

# ---- other arrays

case("advantage-nan", "grpo", put("advantage", 0, 1, x=NAN), "a given advantage is NaN", given=True)
case("advantage-inf", "gspo", put("advantage", 2, 0, x=INF), "a given advantage is infinite", given=True)
case("advantage-short", "dapo", cut("advantage", 1), "a response has fewer given advantages than tokens", given=True)
case("advantage-rows", "gspo", longer("advantage"), "more rows of advantages than responses", given=True)
case("mask-short", "grpo", cut("mask", 0), "a response has fewer mask flags than tokens", given=True)
case("mask-rows", "dapo", cut("mask"), "the last response's mask is missing", given=True)
case("entropy-nan", "grpo", put("entropy", 1, 1, x=NAN), "an entropy is NaN, with an entropy bonus",
     given=True, penalty={"entropy_coef": 0.125})
case("entropy-inf", "ppo", put("entropy", 0, 0, x=INF), "an entropy is infinite, with an entropy bonus",
     given=True, penalty={"entropy_coef": 0.125})
case("entropy-missing", "ppo", without("entropy"), "an entropy bonus, but the entropies are missing",
     given=True, penalty={"entropy_coef": 0.125})
case("external_weight-negative", "gtpo-conf", put("external_weight", 1, 1, x=-0.5), "an external weight of a token is negative",
     given=True)
case("external_weight-nan", "gtpo-conf", put("external_weight", 0, 2, x=NAN), "an external weight of a token is NaN", given=True)
case("eps_low-above-1", "ppo", put("eps_low", 0, 1, x=1.5), "a token's eps_low is 1.5: the lower bound of its ratio would be below 0",
     given=True,
     surrogate={"bounds": "external", "eps_low": 0, "eps_high": 0})
case("eps_high-negative", "ppo", put("eps_high", 3, 1, x=-0.25),
     "a token's eps_high is negative: the upper bound of its ratio would be below 1", given=True,
     surrogate={"bounds": "external", "eps_low": 0, "eps_high": 0})
case("log_partition-inf", "flowrl", put("log_partition", 1, x=INF), "the log partition function of a prompt is infinite")

# ---- numbers of the objective

case("surrogate-eps_low", "grpo", sets(surrogate={"eps_low": -0.25}), "eps_low, the clip range downwards, is negative", given=True)
case("surrogate-eps_high", "gspo", sets(surrogate={"eps_high": -0.25}), "eps_high, the clip range upwards, is negative", given=True)
case("surrogate-eps_high-nan", "dapo", sets(surrogate={"eps_high": NAN}), "eps_high, the clip range upwards, is NaN", given=True)
case("surrogate-clip_dual", "ppo-dual-clip", sets(surrogate={"clip_dual": 1}), "a dual clip of 1 is not above 1 + eps_high", given=True)
case("surrogate-clip_dual-0", "ppo-dual-clip", sets(surrogate={"clip_dual": 0}), "a dual clip of 0 is not above 1 + eps_high", given=True)
case("surrogate-weight", "cispo", sets(surrogate={"weight_min": 6}), "weight_min is above weight_max", given=True)
case("surrogate-tau_pos", "sapo", sets(surrogate={"tau_pos": 0}), "tau_pos, a temperature that divides, is 0", given=True)
case("surrogate-tau_neg", "sapo", sets(surrogate={"tau_neg": -1}), "tau_neg, a temperature, is negative", given=True)
case("surrogate-quadratic_eps", "cfpo", sets(surrogate={"quadratic_eps": 0}), "quadratic_eps, which divides, is 0", given=True)
case("aggregation-constant", "dr-grpo", sets(aggregation={"constant": 0}), "the constant divisor is 0", given=True)
case("aggregation-constant-negative", "dr-grpo", sets(aggregation={"constant": -8}), "the constant divisor is negative", given=True)
case("penalty-kl_coef-nan", "grpo", sets(penalty={"kl_coef": NAN}), "the coefficient of the KL is NaN", given=True)
case("penalty-kl_coef-inf", "grpo", sets(penalty={"kl_coef": INF}), "the coefficient of the KL is infinite", given=True)
case("penalty-kl_clamp_value", "gigpo", sets(penalty={"kl_clamp_value": -10}), "the clamp of the KL is negative", given=True)
case("advantage-eps", "grpo", sets(advantage={"eps": -0.125}), "the epsilon that is added to the deviation is negative")
case("advantage-gamma-nan", "ppo", sets(advantage={"gamma": NAN}), "the discount gamma is NaN")
case("advantage-lambda-inf", "ppo", sets(advantage={"lambda": INF}), "the lambda of GAE is infinite")
case("advantage-quantile", "qae", sets(advantage={"quantile": 1.5}), "a quantile of 1.5, which is above 1")
case("advantage-pass_k", "pass-at-k", sets(advantage={"pass_k": 0}), "pass_k is 0: pass@0 is not defined")
case("advantage-observation_noise", "krpo", sets(advantage={"observation_noise": 0}), "the observation noise of the Kalman filter is 0")
case("ratio-clamp", "verl-grpo", sets(ratio={"clamp_low": 32}), "the lower clamp of the log-ratio is above the upper one", given=True)
case("weight-rollout_is", "icepop", sets(weight={"rollout_is_low": 8}), "the lower bound of the rollout weight is above the upper one",
     given=True)
case("reward-overlong_cache", "dapo-recipe", sets(reward={"overlong_cache": 32768}),
     "the buffer of the overlong penalty is longer than the maximum length")

# ---- choices that do not go together

case("clash-batch_norm-reweight", "gdpo", sets(advantage={"reweight": "valid_groups"}),
     "normalisation over the batch does not go with reweighting by valid groups",
     advantage={"rewards": "one"})
case("clash-rewards-credit", "gdpo", sets(advantage={"credit": "return", "gamma": 1}),
     "several reward columns do not go with a credit per token")
case("clash-kalman_std", "krpo", sets(advantage={"baseline": "group_mean"}),
     "scaling by the Kalman filter's deviation needs the Kalman filter's baseline")
case("clash-length_power-step", "grpo-process", sets(advantage={"reweight": "length_power", "length_power": 1}),
     "reweighting by length does not go with process rewards")
case("clash-episode_step-tokens", "gigpo", sets(advantage={"batch_norm": "tokens", "batch_norm_eps": 0.125}),
     "episode and step advantages together do not go with normalisation over tokens",
     advantage={"step_group": "prompt", "samples": "responses"})
case("clash-entropy_share-tokens", "gtpo", sets(advantage={"batch_norm": "tokens", "batch_norm_eps": 0.125}),
     "credit by shares of the entropy does not go with normalisation over tokens")
case("clash-truncated_tail", "grpo", sets(advantage={"truncated_tail": 1}),
     "truncated_tail needs a credit by GAE or returns, which the objective has not")
case("clash-excluded-credit", "red-drop", sets(advantage={"credit": "return", "gamma": 1}),
     "excluded responses do not go with a credit per token")
case("clash-group-token", "gvpo", sets(ratio={"level": "token"}), "a surrogate over the whole group does not go with one ratio per token")
case("clash-nll_gate", "oreal", sets(penalty={"nll_gate": "sequence"}), "nll_gate is set without the nll_form that has one")
case("clash-bounds-level", "gspo", sets(surrogate={"bounds": "external", "eps_low": 0, "eps_high": 0}),
     "clip ranges given per token do not go with one ratio per response",
     given=True)
case("clash-entropy-credit", "rl-zvp", sets(advantage={"credit": "return", "gamma": 1}),
     "entropies as advantages of groups with equal rewards do not go with returns")

# ---- given divergences

EXTERNAL = {"kl": "external"}
TRUST = {"surrogate": {"kind": "ratio", "eps_low": 0, "eps_high": 0},
         "weight": {"trust": "divergence", "trust_low": 0.25, "trust_high": 0.25}}
case("divergence_ref-nan", "grpo", put("divergence_ref", 1, 2, x=NAN), "a given divergence from the reference is NaN",
     given=True, penalty=EXTERNAL)
case("divergence_ref-inf", "grpo", put("divergence_ref", 0, 0, x=INF), "a given divergence from the reference is infinite", given=True,
     penalty=EXTERNAL)
case("divergence_ref-negative", "grpo", put("divergence_ref", 3, 1, x=-0.125), "a given divergence from the reference is negative",
     given=True, penalty=EXTERNAL)
case("divergence_ref-short", "grpo", cut("divergence_ref", 2), "a response has fewer given divergences from the reference than tokens",
     given=True, penalty=EXTERNAL)
case("divergence_ref-missing", "grpo", without("divergence_ref"),
     "the KL penalty is of given divergences from the reference, but they are missing", given=True, penalty=EXTERNAL)
case("divergence_old-nan", "grpo", put("divergence_old", 0, 1, x=NAN), "a given divergence from the old policy is NaN",
     given=True, **TRUST)
case("divergence_old-inf", "grpo", put("divergence_old", 2, 0, x=INF), "a given divergence from the old policy is infinite",
     given=True, **TRUST)
case("divergence_old-negative", "grpo", put("divergence_old", 1, 1, x=-0.125), "a given divergence from the old policy is negative",
     given=True, **TRUST)
case("divergence_old-rows", "grpo", cut("divergence_old"), "the last response's divergences from the old policy are missing",
     given=True, **TRUST)
case("divergence_old-missing", "grpo", without("divergence_old"),
     "the trust region is by given divergences from the old policy, but they are missing", given=True, **TRUST)
case("weight-trust_high", "grpo", sets(weight={"trust_high": -0.25}), "the trust region's bound of the divergence is negative",
     given=True, **TRUST)
for field, x in (("kl_reference", "old"), ("kl_gradient", "straight_through_k2"), ("kl_importance_weight", "token"),
                 ("kl_clamp_on", "weighted"), ("kl_importance_weight_max", 2), ("kl_clamp_log", 1), ("kl_clamp_value", 1)):
    case(f"clash-external-{field}", "grpo", sets(penalty={field: x}), f"{field} is for estimates of the KL, but its divergences are given",
         given=True, penalty=EXTERNAL)
BANDED = {"weight": {"trust": "negative_band", "trust_low": 0.25, "trust_high": 0.5}}
CONTRAST = {"surrogate": {"kind": "contrastive", "tau_neg": 0, "contrast_temperature": 0.5, "contrast_margin": 0.125}}
case("weight-trust_low", "grpo", sets(weight={"trust_low": -0.25}), "the trust region's lower bound for tokens with A < 0 is negative",
     given=True,
     **BANDED)
case("surrogate-contrast_temperature", "disco", sets(surrogate={"contrast_temperature": 0}), "contrast_temperature, which divides, is 0",
     given=True,
     **CONTRAST)
case("clash-contrastive-token", "disco", sets(ratio={"level": "token"}),
     "a surrogate that contrasts responses does not go with one ratio per token", given=True,
     **CONTRAST)
case("surrogate-quadratic_eps-probability", "cfpo", sets(surrogate={"quadratic_eps": 0}),
     "quadratic_eps, which divides, is 0, in the surrogate `quadratic_probability`",
     given=True, surrogate={"kind": "quadratic_probability"})
case("clash-quadratic_probability-level", "cfpo", sets(ratio={"level": "sequence_mean"}),
     "a surrogate with the token's probability does not go with one ratio per response",
     given=True, surrogate={"kind": "quadratic_probability"})

# ---- valid input that looks invalid

DEFINED = []  # (label, comment, objective, batch)
LENGTHS, NO_TOKENS, NOTHING = (3, 0, 2, 3), (0, 0, 2, 1), (0, 0, 0, 0)


def defined(row, label, lengths, comment, seed):
    o = objective(row)
    DEFINED.append((f"defined-{label}-{row}", comment, o, finish(o, full(o, (2, 2), lengths, seed, reward=(1, 0, 0.5, -0.5)))))


for k, row in enumerate(("grpo", "dapo", "dr-grpo", "gspo", "rloo", "reinforce++", "cispo", "ppo")):
    defined(row, "no-tokens", LENGTHS if k % 2 else NO_TOKENS, "responses of length 0 are valid input: the answer is finite", 4000 + k)
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
