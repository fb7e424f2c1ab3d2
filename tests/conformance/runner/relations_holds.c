/* For each relation: the outputs for which it holds, from the choices of the objective. */
#include "relations_holds.h"
#include "relations.h"
#include "request.h"
#include <string.h>

static int is(const cJSON *q, const char *path, const char *words) { return request_is(q, path, words); }
static int is_zero(const cJSON *q, const char *path) { return request_field(q, path) == 0; }

static int of_kind(const cJSON *q, const char *kind) { return !strcmp(json_get(q, "kind")->valuestring, kind); }
static int has_groups(const cJSON *q) { return !of_kind(q, "split") && request_groups(q) > 0; }
static int is_objective(const cJSON *q) { return of_kind(q, "objective"); }

/* ---- every objective, with exceptions -------------------------------------------------------------------------------------------- */

int holds_everywhere(const cJSON *q) { return has_groups(q) ? OF_ALL : 0; }

int holds_in_any_order(const cJSON *q) {
    if (!has_groups(q)) return 0;
    return is(q, "advantage.baseline", "kalman") || is(q, "advantage.transform", "best_minus_second") ? OF_LOSS : OF_ALL;
}

int holds_padded_right(const cJSON *q) {
    if (!has_groups(q)) return 0;
    return is(q, "reward.length", "none") && is(q, "reward.overlong", "none") ? OF_ALL : OF_LOSS;
}

int holds_padded_left(const cJSON *q) {
    return is(q, "advantage.credit", "prefix_tree") ? holds_padded_right(q) & OF_LOSS : holds_padded_right(q);
}

/* ---- the batch twice ------------------------------------------------------------------------------------------------------------ */

/* duplicating the batch leaves a statistic of the whole batch unchanged if it is a mean with divisor n, not n - 1 */
static int advantages_of_twice(const cJSON *q) {
    const int sample = is(q, "advantage.std", "sample");
    if (is(q, "advantage.scale", "beta") || is(q, "advantage.reweight", "nonzero_rewards")) return 0;
    return !sample || (is(q, "advantage.scale", "none group_std group_mean leave_one_out_std residual_rms kalman_std constant "
                                                "mean_absolute_deviation")
                       && is(q, "advantage.batch_norm", "none mean_abs"));
}

int holds_as_mean(const cJSON *q) {
    static const char *const means = "token_mean seq_mean_token_mean seq_mean_token_sum seq_mean_constant group_mean_token_mean "
        "seq_mean_length_power group_mean group_mean_seq_mean seq_mean_by_sign token_mean_by_sign seq_mean_segment_mean";
    if (!is_objective(q)) return 0;
    return (is(q, "aggregation.kind", means) ? OF_LOSS : 0) | (advantages_of_twice(q) ? OF_ADVANTAGE : 0);
}

static int penalties_as_terms(const cJSON *q) {
    return (is(q, "penalty.kl", "none") || is(q, "penalty.kl_aggregation", "terms"))
        && (is_zero(q, "penalty.entropy_coef") || is(q, "penalty.entropy_aggregation", "terms"))
        && is(q, "penalty.nll_on", "none") && is(q, "penalty.preference", "none");
}

int holds_as_sum(const cJSON *q) {
    return is_objective(q) && is(q, "aggregation.kind", "token_sum constant seq_sum_token_mean") && penalties_as_terms(q) ? OF_LOSS : 0;
}

/* ---- rewards -------------------------------------------------------------------------------------------------------------------- */

enum { NOT_HOMOGENEOUS = -1 };      /* else a power p: when all rewards are multiplied by f, advantages are multiplied by f^p */

static int reward_has_a_unit(const cJSON *q) {
    return !is(q, "reward.kl", "none") || !is(q, "reward.map", "none") || !is(q, "reward.overlong", "none")
        || !is(q, "reward.length", "none inverse") || !is(q, "advantage.transform", "none")
        || is(q, "advantage.baseline", "log_mean_exp") || !is_zero(q, "advantage.baseline_shift")
        || is(q, "advantage.singleton", "raw") || is(q, "advantage.reweight", "focal exponential")
        || is(q, "advantage.credit", "entropy_share") || is(q, "advantage.scale", "leave_one_out_std beta");
}

static int tokens_have_a_unit(const cJSON *q) {
    return is(q, "advantage.entropy", "bonus zero_variance response") || !is_zero(q, "advantage.teacher_coef")
        || !is_zero(q, "advantage.kl_centred_coef") || is(q, "advantage.marked", "fixed")
        || !is_zero(q, "advantage.clamp_low") || !is_zero(q, "advantage.clamp_high");
}

/* the power after baseline and scale; an epsilon beside a deviation has the unit of rewards, and makes it not homogeneous */
static int power_of_items(const cJSON *q) {
    const int norm = is(q, "advantage.batch_norm", "items");
    if (norm && !is_zero(q, "advantage.batch_norm_eps")) return NOT_HOMOGENEOUS;
    if (is(q, "advantage.scale", "none constant kalman_std token_whiten")) return norm ? 0 : 1;
    return is_zero(q, "advantage.eps") ? 0 : NOT_HOMOGENEOUS;
}

static int power_of_advantages(const cJSON *q) {
    int power = power_of_items(q);
    if (reward_has_a_unit(q) || power < 0) return NOT_HOMOGENEOUS;
    if (power == 0 && is(q, "advantage.credit", "gae step_gae")) return NOT_HOMOGENEOUS;       /* values have the rewards' unit */
    if (is(q, "advantage.scale", "token_whiten")) power = is_zero(q, "advantage.eps") ? 0 : NOT_HOMOGENEOUS;
    if (is(q, "advantage.batch_norm", "tokens") && power == 1) power = is_zero(q, "advantage.batch_norm_eps") ? 0 : NOT_HOMOGENEOUS;
    if (is(q, "advantage.batch_norm", "mean_abs") && power == 1) power = 0;
    return power == 1 && tokens_have_a_unit(q) ? NOT_HOMOGENEOUS : power;
}

static int has_own_advantages(const cJSON *q) { return is_objective(q) && !json_get(json_get(q, "batch"), "advantage"); }

int holds_normalised(const cJSON *q) { return has_own_advantages(q) && power_of_advantages(q) == 0 ? OF_ADVANTAGE : 0; }
int holds_unnormalised(const cJSON *q) { return has_own_advantages(q) && power_of_advantages(q) == 1 ? OF_ADVANTAGE : 0; }

/* nothing but a baseline and a scale, so that the scale of the shifted advantages can be computed */
static int is_plain_advantage(const cJSON *q) {
    return is(q, "reward.truncated", "keep") && is(q, "reward.length", "none") && is(q, "reward.map", "none")
        && is(q, "reward.overlong", "none") && is(q, "reward.kl", "none") && is(q, "advantage.rewards", "one")
        && is(q, "advantage.transform", "none") && is(q, "advantage.singleton", "zero") && is(q, "advantage.samples", "responses")
        && is(q, "advantage.reweight", "none") && is(q, "advantage.batch_norm", "none") && is(q, "advantage.excluded", "none")
        && is(q, "advantage.credit", "outcome") && is_zero(q, "advantage.baseline_shift") && is(q, "advantage.token_baseline", "none")
        && is(q, "advantage.entropy", "none") && is_zero(q, "advantage.teacher_share") && !tokens_have_a_unit(q)
        && is(q, "advantage.marked", "none");
}

int holds_shifted_rewards(const cJSON *q) {
    return has_own_advantages(q) && is_plain_advantage(q) && is(q, "advantage.baseline", "group_mean leave_one_out batch_mean")
        && is(q, "advantage.scale", "none group_std batch_std batch_centred_std residual_rms constant mean_absolute_deviation")
        ? OF_ADVANTAGE : 0;
}

/* ---- advantages ----------------------------------------------------------------------------------------------------------------- */

static int has_no_penalty(const cJSON *q) {
    return (is(q, "penalty.kl", "none") || is_zero(q, "penalty.kl_coef")) && is_zero(q, "penalty.entropy_coef")
        && is(q, "penalty.nll_on", "none") && is(q, "penalty.preference", "none");
}

int holds_linear(const cJSON *q) {
    static const char *const linear = "reinforce ratio ppo_clip dual_clip cispo sapo vespo log_ratio gppo aspo topr masked_weight "
        "sapo_detached dispo bgpo policy_shaping quadratic quadratic_probability unbounded_positive";
    return is_objective(q) && is(q, "surrogate.kind", linear) && has_no_penalty(q) ? OF_LOSS : 0;
}

/* ---- log-probabilities ---------------------------------------------------------------------------------------------------------- */

static int reads_probabilities(const cJSON *q) {
    return is(q, "ratio.behaviour", "none") || is(q, "surrogate.bounds", "probability")
        || is(q, "surrogate.kind", "quadratic_probability")
        || is(q, "weight.trust", "probability probability_both binary_kl") || is(q, "weight.rollout_rs", "probability binary_kl_max")
        || (!is(q, "penalty.nll_on", "none") && (is(q, "penalty.nll_form", "logp") || is(q, "penalty.nll_weight", "p p_one_minus_p")))
        || (!is(q, "penalty.preference", "none") && is(q, "penalty.preference_score", "reference_free"));
}

/* the value is A times log p; the gradient depends on differences only */
static int reads_log_probability(const cJSON *q) {
    return is(q, "surrogate.kind", "reinforce cispo vespo topr masked_weight sapo_detached dispo aspo");
}

int holds_for_differences(const cJSON *q) {
    const int advantage = is(q, "advantage.token_baseline", "optimal optimal_shared") ? 0 : OF_ADVANTAGE;
    if (!is_objective(q)) return 0;
    return advantage | (reads_probabilities(q) ? 0 : reads_log_probability(q) ? OF_GRADIENT : OF_LOSS);
}

/* Is a factor detached from logp?  Weights and masks that are piecewise constant do not count: their derivative is 0. */
static int detaches(const cJSON *q) {
    return is(q, "ratio.gradient", "token") || is(q, "ratio.behaviour", "current") || !is(q, "weight.fipo", "none")
        || !is(q, "weight.policy_is", "none") || !is(q, "penalty.kl_gradient", "exact")
        || is(q, "penalty.kl_importance_weight", "score_function")
        || (!is(q, "penalty.nll_on", "none") && !is(q, "penalty.nll_weight", "none"));
}

int holds_for_exact_gradients(const cJSON *q) {
    static const char *const differentiated = "reinforce ratio ppo_clip dual_clip sapo log_ratio squared logistic bgpo policy_shaping "
        "quadratic quadratic_probability none variance logistic_lse trajectory_balance pairwise_logistic softmax_cross_entropy "
        "discriminative_mean "
        "discriminative_lse pairwise_soft softmax_mse softmax_js regression tilted_cross_entropy pairwise_hinge contrastive";
    return is_objective(q) && is(q, "surrogate.kind", differentiated) && !detaches(q) ? OF_LOSS : 0;
}

/* ---- cuts, and rows of logits --------------------------------------------------------------------------------------------------- */

int holds_cut(const cJSON *q) { return is_objective(q) ? OF_LOSS : 0; }
int holds_for_logits(const cJSON *q) { return of_kind(q, "logits") ? OF_ALL : 0; }
int holds_for_rows(const cJSON *q) { return of_kind(q, "logits") || of_kind(q, "hidden") ? OF_ALL : 0; }
int holds_for_softmax(const cJSON *q) { return of_kind(q, "logits") && !json_get(q, "objective") ? OF_VALUE : 0; }
