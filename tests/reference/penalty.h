/* Axis 5: the KL and the entropy of a term; likelihood of tokens and preference of pairs, which are added to the loss beside the terms. */
#ifndef REFERENCE_PENALTY_H
#define REFERENCE_PENALTY_H
#include "surrogate.h"

static inline reference_real ref_kl(reference *ref, int64_t t, ref_size *size) {
    const grpo_penalty *p = &ref->obj->penalty;
    static const int source[] = { TOKEN_REF, TOKEN_OLD, TOKEN_ROLLOUT, TOKEN_TEACHER };
    const reference_real f = ref_log(ref, ref->b->token[source[p->kl_reference]][t]);
    reference_real D = ref_clamp(ref, ref_log(ref, ref->l[t]) - f, -p->kl_clamp_log, p->kl_clamp_log);
    reference_real K = ref_note(ref, ref_estimator(p->kl, D)), D0;
    size->derivative = 1 + ref_abs(D) + ref_abs(K);
    if (p->kl == GRPO_KL_ABS) ref_bounded(ref, D, 0, 0);
    if (p->kl_clamp_value != 0 && p->kl_clamp_on == GRPO_KL_CLAMP_ON_ESTIMATE) {
        reference_real clamped = ref_bounded(ref, K, -p->kl_clamp_value, p->kl_clamp_value);
        if (clamped != K) return clamped;
    }
    if (p->kl_gradient == GRPO_KL_GRADIENT_EXACT) return K;
    D0 = ref_clamp(ref, ref->fixed[t] - f, -p->kl_clamp_log, p->kl_clamp_log);
    if (p->kl_gradient == GRPO_KL_GRADIENT_DETACHED) return ref_estimator(p->kl, D0);
    return ref_estimator(p->kl, D0) + (D - D0) * (D + D0) / 2;
}

static inline reference_real ref_entropy_bonus(const reference *ref, int64_t t) {
    const double alpha = ref->obj->penalty.entropy_coef;
    return alpha != 0 ? -alpha * (reference_real)ref->b->token[TOKEN_ENTROPY][t] : 0;
}

/* beta K of the given divergence batch.divergence_ref, which does not depend on any log-probability */
static inline reference_real ref_given_divergence(reference *ref, int64_t t, ref_size *size) {
    const reference_real given = ref_note(ref, ref->b->token[TOKEN_DIVERGENCE_REF][t]);
    const reference_real K = ref_note(ref, ref_note(ref, ref->obj->penalty.kl_coef) * given);
    size->derivative = 0;
    size->added = ref_abs(K);
    return K;
}

/* beta u K, u the importance weight of the KL */
static inline reference_real ref_weighted_kl(reference *ref, int64_t t, reference_real unit, ref_size *size) {
    const grpo_penalty *p = &ref->obj->penalty;
    reference_real u = 1, K;
    if (p->kl == GRPO_KL_NONE || p->kl_coef == 0 || (p->kl_on == GRPO_KL_ON_SELECTED && !ref->b->kl_mask[t])) return 0;
    if (p->kl == GRPO_KL_EXTERNAL) return ref_given_divergence(ref, t, size);
    if (p->kl_importance_weight == GRPO_KL_IMPORTANCE_WEIGHT_TOKEN) u = ref_exp(ref_log(ref, ref->l[t]) - ref_log(ref, ref_old(ref, t)));
    if (p->kl_importance_weight == GRPO_KL_IMPORTANCE_WEIGHT_LEVEL) u = ref_exp(ref_log_ratio(ref, ref->l, unit, t));
    if (p->kl_importance_weight == GRPO_KL_IMPORTANCE_WEIGHT_SCORE_FUNCTION) u = ref_exp(ref->l[t] - ref->fixed[t]);
    if (p->kl_importance_weight_max != 0) u = ref_bounded(ref, u, 0, p->kl_importance_weight_max);
    K = ref_kl(ref, t, size);
    if (p->kl_clamp_value != 0 && p->kl_clamp_on == GRPO_KL_CLAMP_ON_WEIGHTED) {
        const reference_real product = ref_note(ref, u * K), bounded = ref_bounded(ref, product, -p->kl_clamp_value, p->kl_clamp_value);
        if (bounded != product) {
            size->derivative *= ref_abs(p->kl_coef * u);
            size->added = ref_abs(p->kl_coef * bounded);
            return p->kl_coef * bounded;
        }
    }
    u = ref_note(ref, ref_note(ref, p->kl_coef) * ref_note(ref, u));
    size->derivative *= ref_abs(u);
    size->added = ref_abs(u * K);
    return u * K;
}

/* ---- likelihood -------------------------------------------------------------------------------------------------------------------- */

static inline int ref_is_likely(const reference *ref, int64_t i, int64_t t) {
    switch (ref->obj->penalty.nll_on) {
    case GRPO_NLL_CORRECT:  return ref->b->reward[i] > 0;
    case GRPO_NLL_POSITIVE: return ref->advantage[t] > 0;
    case GRPO_NLL_SELECTED: return ref->b->nll_mask[t] != 0;
    case GRPO_NLL_ALL:      return 1;
    case GRPO_NLL_NOT_NEGATIVE: return ref->advantage[t] >= 0;
    default:                       return 0;
    }
}

/* the weight of token t, and its amplification of rounding */
static inline reference_real ref_likelihood_weight(reference *ref, int64_t t, reference_real *rounding) {
    const grpo_penalty *p = &ref->obj->penalty;
    const reference_real l = ref->fixed[t], e = ref_exp(l);
    reference_real gap;
    *rounding = 1;
    switch (p->nll_weight) {
    case GRPO_NLL_WEIGHT_P:       return e;
    case GRPO_NLL_WEIGHT_P_ONE_MINUS_P: return -e * ref_change(l, 0);
    case GRPO_NLL_WEIGHT_TEACHER_GATE:
        gap = p->nll_teacher_slope * (ref_log(ref, ref->b->token[TOKEN_TEACHER][t]) - l);
        *rounding += ref_abs(gap);
        return ref_sigmoid(gap);
    default: return 1;
    }
}

/* has the likelihood of the tokens that the gate looks at fallen since logp_old?  1 without a gate */
static inline int ref_passes(reference *ref, int64_t i, int64_t t) {
    const grpo_nll_gate_kind gate = ref->obj->penalty.nll_gate;
    reference_real lost = 0;
    int64_t k;
    if (gate == GRPO_NLL_GATE_NONE) return 1;
    for (k = ref->b->offset[i]; k < ref_end(ref, i); k++) {
        if (!ref->active[k] || !ref_is_likely(ref, i, k)) continue;
        if (gate == GRPO_NLL_GATE_SEGMENT && !ref_same_segment(ref, k, t)) continue;
        lost += ref_log(ref, ref->b->token[TOKEN_OLD][k]) - ref_log(ref, ref->fixed[k]);
    }
    if (lost != 0 && ref_abs(lost) < REFERENCE_BLUR) ref->beyond = 1;
    return lost > 0;
}

static inline reference_real ref_likelihood(reference *ref, int64_t i, int64_t t) {
    const grpo_nll_form_kind form = ref->obj->penalty.nll_form;
    const reference_real l = ref_log(ref, ref->l[t]);
    reference_real h = l, weight, rounding;
    if (ref->likelihood == 0 || !ref_is_likely(ref, i, t) || !ref_passes(ref, i, t)) return 0;
    if (form == GRPO_NLL_FORM_TEACHER_GAP) h = l - ref_log(ref, ref->b->token[TOKEN_TEACHER][t]);
    if (form == GRPO_NLL_FORM_DISPLACEMENT) h = ref_bounded(ref, l - ref_log(ref, ref->b->token[TOKEN_OLD][t]), -HUGE_VAL, 0);
    weight = ref_note(ref, ref->likelihood * ref_note(ref, ref_likelihood_weight(ref, t, &rounding)));
    ref->size += ref_abs(weight * h) * rounding;
    ref->scale += ref_abs(weight * h) * rounding;
    ref->steep += ref_abs(weight) * rounding;
    return -ref_note(ref, weight * h);
}

/* ---- preference pairs -------------------------------------------------------------------------------------------------------------- */

/* is (i, j) a pair: does the reward of i exceed that of j by more than the margin? */
static inline int ref_is_pair(const reference *ref, int64_t i, int64_t j) {
    return ref->count[i] && ref->count[j] && ref_leads(ref->b->reward[i], ref->b->reward[j], ref->obj->penalty.preference_min_gap);
}

static inline reference_real ref_pair_score(reference *ref, int64_t i) {
    const int free_of_ref = ref->obj->penalty.preference_score == GRPO_PREFERENCE_SCORE_REFERENCE_FREE;
    reference_real sum = 0;
    int64_t t;
    for (t = ref->b->offset[i]; t < ref->b->offset[i] + ref->b->length[i]; t++)
        if (ref->active[t]) sum += ref_log(ref, ref->l[t]) - (free_of_ref ? 0 : ref_log(ref, ref->b->token[TOKEN_REF][t]));
    return sum / (reference_real)ref->count[i];
}

static inline reference_real ref_pairs(reference *ref, int64_t g) {
    const grpo_penalty *p = &ref->obj->penalty;
    const reference_real c = ref->pairs;
    const int64_t begin = ref->b->group_begin[g], end = ref->b->group_begin[g + 1];
    reference_real sum = 0, a, b, x, beta;
    int64_t i, j;
    if (c == 0) return 0;
    for (i = begin; i < end; i++) for (j = begin; j < end; j++) {
        if (!ref_is_pair(ref, i, j)) continue;
        beta = (reference_real)p->preference_beta * (p->preference_kappa != 0 && ref->b->reward[i] > 0 ? p->preference_kappa : 1);
        a = ref_pair_score(ref, i);
        b = ref_pair_score(ref, j);
        x = beta * (a - b);
        sum += ref_note(ref, c * ref_note(ref, ref_log_one_plus_exp(-x)));
        ref->size += ref_abs(c) * (ref_log_one_plus_exp(-x) + ref_sigmoid(-x) * ref_abs(beta) * (ref_abs(a) + ref_abs(b)));
        ref->scale += ref_abs(c) * (ref_log_one_plus_exp(-x) + ref_sigmoid(-x) * ref_abs(beta) * (ref_abs(a) + ref_abs(b)));
        ref->steep += 2 * ref_abs(c * beta) * ref_sigmoid(-x) * (1 + ref_abs(beta) * (ref_abs(a) + ref_abs(b)));
    }
    return sum;
}

/* the pointwise loss by the sign of the reward, used where the batch has no pair */
static inline reference_real ref_signs(reference *ref, int64_t g) {
    reference_real sum = 0, s, x;
    int64_t i;
    for (i = ref->b->group_begin[g]; ref->signs != 0 && i < ref->b->group_begin[g + 1]; i++) {
        if (!ref->count[i]) continue;
        s = ref_pair_score(ref, i);
        x = ref->b->reward[i] > 0 ? s : -s;
        sum += ref_note(ref, ref->signs * ref_note(ref, ref_log_one_plus_exp(-x)));
        ref->size += ref_abs(ref->signs) * (ref_log_one_plus_exp(-x) + ref_sigmoid(-x) * ref_abs(s));
        ref->scale += ref_abs(ref->signs) * (ref_log_one_plus_exp(-x) + ref_sigmoid(-x) * ref_abs(s));
        ref->steep += ref_abs(ref->signs) * ref_sigmoid(-x) * (1 + ref_abs(s));
    }
    return sum;
}
#endif
