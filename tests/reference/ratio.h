/* Axis 3: the log-ratio y of a token, its unit, mixture and clamps. */
#ifndef REFERENCE_RATIO_H
#define REFERENCE_RATIO_H
#include "evaluation.h"

static inline reference_real ref_old(const reference *ref, int64_t t) {
    switch (ref->obj->ratio.behaviour) {
    case GRPO_BEHAVIOUR_ROLLOUT: return ref->b->token[TOKEN_ROLLOUT][t];
    case GRPO_BEHAVIOUR_REF:     return ref->b->token[TOKEN_REF][t];
    case GRPO_BEHAVIOUR_CURRENT: return ref->fixed[t];
    case GRPO_BEHAVIOUR_NONE: return 0;
    default:                   return ref->b->token[TOKEN_OLD][t];
    }
}

/* log-ratio d of token t, clamped */
static inline reference_real ref_own_log_ratio(reference *ref, const reference_real *l, int64_t t) {
    const grpo_ratio_axis *a = &ref->obj->ratio;
    return ref_clamp(ref, ref_log(ref, l[t]) - ref_log(ref, ref_old(ref, t)), a->clamp_low, a->clamp_high);
}

static inline int ref_clips_pool(const grpo_ratio_axis *a) {
    return a->level == GRPO_LEVEL_SEQUENCE_CLIPPED_MEAN || a->level == GRPO_LEVEL_SEQUENCE_POWER_MEAN;
}

static inline reference_real ref_token_log_ratio(reference *ref, const reference_real *l, int64_t t) {
    const grpo_ratio_axis *a = &ref->obj->ratio;
    const reference_real d = ref_own_log_ratio(ref, l, t);
    if (!ref_clips_pool(a)) return d;
    if (ref->advantage[t] >= 0) return ref_decide(ref, d > a->token_clip_high) ? a->token_clip_high : d;
    return ref_decide(ref, d < -a->token_clip_low) ? -a->token_clip_low : d;
}

/* is token k in the unit of token t? */
static inline int ref_in_unit(const reference *ref, int64_t t, int64_t k) {
    switch (ref->obj->ratio.level) {
    case GRPO_LEVEL_TOKEN:                                     return k == t;
    case GRPO_LEVEL_SEGMENT_MEAN: case GRPO_LEVEL_SEGMENT_SUM:  return ref_same_segment(ref, t, k);
    case GRPO_LEVEL_PREFIX_SUM: case GRPO_LEVEL_PREFIX_MEAN:    return k <= t;
    default:                                                  return 1;
    }
}

/* y of the unit of token t of sequence i, before interpolation and clamp; 0 for level token */
static inline reference_real ref_unit_log_ratio(reference *ref, const reference_real *l, int64_t i, int64_t t) {
    const grpo_level_kind unit = ref->obj->ratio.level;
    reference_real sum = 0, d[64] = { 0 };                           /* no response of a test is longer */
    int64_t k, n = 0;
    if (unit == GRPO_LEVEL_TOKEN) return 0;
    for (k = ref->b->offset[i]; k < ref_end(ref, i); k++) {
        if (ref->active[k] && ref_in_unit(ref, t, k)) sum += d[n++] = ref_token_log_ratio(ref, l, k);
    }
    if (unit == GRPO_LEVEL_SEQUENCE_MEAN_RATIO) return ref_log_mean_exp(d, n, 1);
    if (unit == GRPO_LEVEL_SEQUENCE_POWER_MEAN) return ref_log_mean_exp(d, n, ref->obj->ratio.power != 0 ? ref->obj->ratio.power : 1);
    return unit == GRPO_LEVEL_SEQUENCE_SUM || unit == GRPO_LEVEL_SEGMENT_SUM || unit == GRPO_LEVEL_PREFIX_SUM ? sum
        : sum / (reference_real)n;
}

static inline int ref_ratio_is_own(const reference *ref) {
    return ref->obj->ratio.level == GRPO_LEVEL_TOKEN || ref->obj->ratio.gradient == GRPO_GRADIENT_TOKEN;
}

/* y interpolated between token and unit */
static inline reference_real ref_interpolated(reference *ref, const reference_real *l, reference_real unit, int64_t t) {
    const grpo_ratio_axis *a = &ref->obj->ratio;
    reference_real both[2];
    both[0] = ref_own_log_ratio(ref, l, t);
    both[1] = unit;
    return a->interpolate == GRPO_INTERPOLATE_ARITHMETIC ? ref_log_mean_exp(both, 2, 1)
        : a->interpolate_token * both[0] + a->interpolate_level * unit;
}

/* y of token t; unit: ref_unit_log_ratio, evaluated at `fixed` if it is inside a stop-gradient */
static inline reference_real ref_log_ratio(reference *ref, const reference_real *l, reference_real unit, int64_t t) {
    const grpo_ratio_axis *a = &ref->obj->ratio;
    reference_real y = unit;
    if (a->level == GRPO_LEVEL_TOKEN) y = ref_token_log_ratio(ref, l, t);
    else if (a->interpolate != GRPO_INTERPOLATE_NONE) y = ref_interpolated(ref, l, unit, t);
    else if (a->gradient == GRPO_GRADIENT_TOKEN) y += ref_token_log_ratio(ref, l, t) - ref_token_log_ratio(ref, ref->fixed, t);
    return ref_clamp(ref, y, a->level_clamp_low, a->level_clamp_high);
}
#endif
