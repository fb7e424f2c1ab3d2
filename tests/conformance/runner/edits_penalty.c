/* A mistaken KL: of another policy, somewhere else than in the loss, or multiplied; and factors of policy, penalty and entropy bonus. */
#include "edits.h"

/* the KL is that of the old policy, without gradient */
void penalty_of_old(edited *s, double p) {
    (void)p;
    s->penalty_logp = *edited_behaviour(s);
    s->penalty_gradient = 0;
    s->impossible |= !s->penalty_logp || !s->c.batch.logp_ref;
}

static double kl_estimate(const grpo_objective *o, double D) {
    return o->penalty.kl == GRPO_KL_K3 ? expm1(-D) + D : o->penalty.kl == GRPO_KL_K2 ? D * D / 2 : D;
}

/* the KL, times p, is part of the advantage and not of the loss */
void penalty_in_advantage(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    s->impossible |= !b->logp_ref;
    for (int64_t k = 0; b->logp_ref && k < edited_tokens(s); k++) {
        double D = b->logp[k] - b->logp_ref[k];
        if (grpo_is_finite(D) && (!b->mask || b->mask[k])) s->advantage[k] += p * s->obj.penalty.kl_coef * kl_estimate(&s->obj, D);
    }
    s->penalty_value = s->penalty_gradient = 0;
}
/* The estimator is of the mean log-ratio of a response, not the mean of the estimators of its tokens: each has that log-ratio. */
void penalty_of_mean(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    grpo_real *ref = edited_array(s, &s->c.batch.logp_ref);
    (void)p;
    s->impossible |= s->obj.penalty.kl_reference || s->obj.penalty.kl_aggregation || s->obj.penalty.kl_on
        || s->obj.penalty.kl_importance_weight;
    for (int64_t i = 0; ref && i < s->c.n_sequences; i++) {
        double sum = 0, T = edited_count(s, i);
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) if (edited_counts(s, i, k)) sum += b->logp[k] - ref[k];
        s->impossible |= T > 0 && !grpo_is_finite(sum);
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) if (edited_counts(s, i, k)) ref[k] = b->logp[k] - sum / T;
    }
}
void penalty_times(edited *s, double p) { s->penalty_value *= p; s->penalty_gradient *= p; }
void penalty_coefficient_again(edited *s, double p) {
    penalty_times(s, p > 0 ? s->obj.penalty.kl_coef : 1 / s->obj.penalty.kl_coef);
}
void penalty_gradient_times(edited *s, double p) { s->penalty_gradient *= p; }
/* multiplies the KL of each token by its ratio, or by that of its response, without a gradient */
static void share_by_ratio(edited *s, int whole) {
    const grpo_batch *b = &s->c.batch;
    s->penalty_share = edited_room(s, edited_tokens(s), sizeof *s->penalty_share);
    for (int64_t i = 0; i < s->c.n_sequences; i++) {
        double sum = 0, T = edited_count(s, i);
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) if (edited_counts(s, i, k)) sum += edited_log_ratio(s, k);
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++)
            if (edited_counts(s, i, k)) s->penalty_share[k] = exp(whole ? sum / T : edited_log_ratio(s, k));
    }
}
/* the ratio of the token, or (p > 0) of the ratio's level, here the response */
void penalty_by_ratio(edited *s, double p) {
    const int whole = p > 0;
    s->impossible |= whole != (s->obj.ratio.level == GRPO_LEVEL_SEQUENCE_MEAN) || (!whole && s->obj.ratio.level != GRPO_LEVEL_TOKEN);
    s->impossible |= s->obj.penalty.kl_importance_weight || s->obj.penalty.kl_aggregation || !*edited_behaviour(s);
    if (s->impossible) return;
    share_by_ratio(s, whole);
}
/* the ratio that weighs the KL is detached */
void penalty_weight_detached(edited *s, double p) {
    const grpo_objective *o = &s->obj;
    const int whole = o->penalty.kl_importance_weight == GRPO_KL_IMPORTANCE_WEIGHT_LEVEL && o->ratio.level != GRPO_LEVEL_TOKEN;
    (void)p;
    s->impossible |= o->penalty.kl_importance_weight != GRPO_KL_IMPORTANCE_WEIGHT_TOKEN
        && o->penalty.kl_importance_weight != GRPO_KL_IMPORTANCE_WEIGHT_LEVEL;
    s->impossible |= (whole && o->ratio.level != GRPO_LEVEL_SEQUENCE_MEAN) || o->ratio.interpolate || o->penalty.kl_clamp_on
        || o->penalty.kl_importance_weight_max != 0 || o->penalty.kl_aggregation || !*edited_behaviour(s);
    s->impossible |= o->ratio.clamp_low != 0 || o->ratio.clamp_high != 0 || o->ratio.level_clamp_low != 0 || o->ratio.level_clamp_high != 0;
    if (s->impossible) return;
    s->obj.penalty.kl_importance_weight = GRPO_KL_IMPORTANCE_WEIGHT_NONE;
    share_by_ratio(s, whole);
}
void bonus_times(edited *s, double p) { s->bonus_value *= p; }
void bonus_without_coefficient(edited *s, double p) { (void)p; s->bonus_value /= s->obj.penalty.entropy_coef; }
void policy_times(edited *s, double p) { s->policy_value *= p; s->policy_gradient *= p; }
void policy_gradient_times(edited *s, double p) { s->policy_gradient *= p; }
