/* Axis 7: the coefficient of a term, and the divisors of likelihood and pairs, which are added to the loss apart from the terms. */
#ifndef REFERENCE_AGGREGATION_H
#define REFERENCE_AGGREGATION_H
#include "penalty.h"

/* the number of segments of sequence i that have active tokens, times the number of active tokens in the segment of t */
static inline int64_t ref_segments_times_tokens(const reference *ref, int64_t i, int64_t t) {
    int64_t k, last = -1, segments = 0, n = 0;
    for (k = ref->b->offset[i]; k < ref_end(ref, i); k++) {
        if (!ref->active[k]) continue;
        n += ref_same_segment(ref, k, t);
        segments += last < 0 || !ref_same_segment(ref, last, k);
        last = k;
    }
    return segments * n;
}

/* do the rewards of group g differ by more than 1e-6? */
static inline int ref_is_varied(const reference *ref, int64_t g) {
    int64_t i, j;
    const int64_t begin = ref->b->group_begin[g], end = ref->b->group_begin[g + 1];
    for (i = begin; i < end; i++) for (j = begin; j < end; j++)
        if ((reference_real)ref->b->reward[i] - (reference_real)ref->b->reward[j] > 1e-6) return 1;
    return 0;
}

/* the number of responses whose advantage (at the first active token) has the sign of that of sequence i */
static inline int64_t ref_responses_of_sign(const reference *ref, int64_t i) {
    int64_t k, n = 0;
    for (k = 0; k < ref->b->n_sequences; k++)
        n += ref->count[k] && (ref->advantage[ref_first_active(ref, k)] > 0) == (ref->advantage[ref_first_active(ref, i)] > 0);
    return n;
}

/* the divisor 1 / c of token t in sequence i of group g */
static inline reference_real ref_divisor(const reference *ref, grpo_aggregation_kind kind, int64_t g, int64_t i, int64_t t) {
    const grpo_aggregation *a = &ref->obj->aggregation;
    int64_t k, tokens = 0, sequences = 0, groups = 0, all = a->empty_sequences == GRPO_EMPTY_SEQUENCES_KEEP;
    for (k = 0; k < ref->b->n_sequences; k++) tokens += ref->count[k], sequences += all || ref->count[k] > 0;
    for (k = 0; k < ref->b->n_groups; k++) groups += all || ref_group_tokens(ref, k) > 0;
    switch (kind) {
    case GRPO_AGGREGATION_TOKEN_MEAN:            return (reference_real)tokens;
    case GRPO_AGGREGATION_TOKEN_MEAN_NONZERO_STD:
        for (tokens = 0, k = 0; k < ref->b->n_groups; k++) tokens += ref_is_varied(ref, k) ? ref_group_tokens(ref, k) : 0;
        return (reference_real)(tokens ? tokens : 1);
    case GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN:   return (reference_real)(sequences * ref->count[i]);
    case GRPO_AGGREGATION_SEQ_MEAN_TOKEN_SUM:    return (reference_real)sequences;
    case GRPO_AGGREGATION_SEQ_MEAN_CONSTANT:     return (reference_real)sequences * a->constant;
    case GRPO_AGGREGATION_CONSTANT:              return a->constant;
    case GRPO_AGGREGATION_GROUP_MEAN_TOKEN_MEAN: return (reference_real)(groups * ref_group_tokens(ref, g));
    case GRPO_AGGREGATION_SEQ_MEAN_LENGTH_POWER:
        return (reference_real)sequences * ref_exp((1 - (reference_real)a->power) * ref_ln((reference_real)ref->count[i]));
    case GRPO_AGGREGATION_SEQ_SUM_TOKEN_MEAN:    return (reference_real)ref->count[i];
    case GRPO_AGGREGATION_GROUP_MEAN:            return (reference_real)(groups * ref->count[i]);
    case GRPO_AGGREGATION_GROUP_MEAN_SEQ_MEAN:
        for (sequences = 0, k = ref->b->group_begin[g]; k < ref->b->group_begin[g + 1]; k++) sequences += all || ref->count[k] > 0;
        return (reference_real)(groups * sequences * ref->count[i]);
    case GRPO_AGGREGATION_SEQ_MEAN_SEGMENT_MEAN: return (reference_real)(sequences * ref_segments_times_tokens(ref, i, t));
    case GRPO_AGGREGATION_SEQ_MEAN_BY_SIGN:      return (reference_real)(ref->count[i] * ref_responses_of_sign(ref, i));
    default:                         return 1;
    }
}

/* by_sign, and the coefficients of likelihood and pairs, from the counts of the whole batch */
static inline void ref_find_divisors(reference *ref) {
    const grpo_penalty *p = &ref->obj->penalty;
    int64_t g, i, j, t, likely = 0, pairs = 0, responses = 0, sign[2] = { 0, 0 };
    for (g = 0; g < ref->b->n_groups; g++) for (i = ref->b->group_begin[g]; i < ref->b->group_begin[g + 1]; i++) {
        for (j = ref->b->group_begin[g]; j < ref->b->group_begin[g + 1]; j++) pairs += ref_is_pair(ref, i, j);
        for (t = ref->b->offset[i]; t < ref->b->offset[i] + ref->b->length[i]; t++) {
            if (!ref->active[t]) continue;
            sign[ref->advantage[t] > 0]++;
            likely += ref_is_likely(ref, i, t);
        }
    }
    for (i = 0; i < 2; i++)
        ref->by_sign[i] = ref->obj->aggregation.kind == GRPO_AGGREGATION_TOKEN_MEAN_BY_SIGN && sign[i] ? 1 / (reference_real)sign[i] : 1;
    ref->likelihood = likely ? ref->factor * p->nll_coef / (reference_real)likely : 0;
    ref->pairs = pairs && p->preference != GRPO_PREFERENCE_NONE ? ref->factor * p->preference_coef / (reference_real)pairs : 0;
    for (i = 0; i < ref->b->n_sequences; i++) responses += ref->count[i] > 0;
    if (!pairs && responses && p->preference == GRPO_PREFERENCE_PAIRWISE_ELSE_POINTWISE) ref->signs
        = ref->factor * p->preference_coef / (reference_real)responses;
}

static inline reference_real ref_coefficient(reference *ref, grpo_aggregation_kind kind, int64_t g, int64_t i, int64_t t) {
    return ref_note(ref, ref->factor / ref_note(ref, ref_divisor(ref, kind, g, i, t)));
}

/* the coefficient of the KL or the entropy of token t: that of the policy term, or by kl_aggregation, entropy_aggregation */
static inline reference_real ref_penalty_coefficient(reference *ref, grpo_penalty_aggregation_kind kind, int64_t g, int64_t i, int64_t t) {
    switch (kind) {
    case GRPO_PENALTY_AGGREGATION_TOKEN_MEAN:          return ref_coefficient(ref, GRPO_AGGREGATION_TOKEN_MEAN, g, i, t);
    case GRPO_PENALTY_AGGREGATION_SEQ_MEAN_TOKEN_MEAN: return ref_coefficient(ref, GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN, g, i, t);
    default:                                           return ref->coefficient[t];
    }
}

static inline void ref_find_coefficients(reference *ref) {
    int64_t g, i, t;
    ref_find_divisors(ref);
    for (g = 0; g < ref->b->n_groups; g++) for (i = ref->b->group_begin[g]; i < ref->b->group_begin[g + 1]; i++) {
        for (t = ref->b->offset[i]; t < ref_end(ref, i); t++) {
            if (!ref->active[t]) continue;
            ref->coefficient[t] = ref_coefficient(ref, ref->obj->aggregation.kind, g, i, t);
            ref->coefficient[t] = ref_note(ref, ref->coefficient[t] * ref->by_sign[ref->advantage[t] > 0]);
            ref->of_kl[t] = ref_penalty_coefficient(ref, ref->obj->penalty.kl_aggregation, g, i, t);
            ref->of_entropy[t] = ref_penalty_coefficient(ref, ref->obj->penalty.entropy_aggregation, g, i, t);
        }
    }
}
#endif
