/* The counts of the report: tokens, rejected tokens, clips by side. */
#ifndef REFERENCE_REPORT_H
#define REFERENCE_REPORT_H
#include "loss.h"

typedef struct {
    int judged;
    int64_t tokens, rejected, clips[4];          /* by grpo_clip_side */
} reference_counts;

static inline grpo_clip_side ref_pool_side(reference *ref, int64_t t) {
    const grpo_ratio_axis *a = &ref->obj->ratio;
    reference_real d;
    if (!ref_clips_pool(a) || !ref_has_ratio(ref)) return GRPO_CLIP_NO;
    d = ref_clamp(ref, ref_log(ref, ref->fixed[t]) - ref_log(ref, ref_old(ref, t)), a->clamp_low, a->clamp_high);
    if (ref->advantage[t] < 0) return d < -a->token_clip_low ? GRPO_CLIP_LOW : GRPO_CLIP_NO;
    return d > a->token_clip_high ? GRPO_CLIP_HIGH : GRPO_CLIP_NO;
}

/* the clip of token t with surrogate.bounds position; up: A > 0 */
static inline grpo_clip_side ref_position_side(reference *ref, int64_t t, int up) {
    const ref_log_bounds b = ref_position_bounds(ref, t);
    const reference_real y = ref_log_ratio(ref, ref->fixed, ref->unit_fixed[t], t);
    if (up) return ref_exceeds(ref, y, b.high) ? GRPO_CLIP_HIGH : GRPO_CLIP_NO;
    if (ref_exceeds(ref, y, b.dual)) return GRPO_CLIP_DUAL;
    return ref_exceeds(ref, -y, -b.low) ? GRPO_CLIP_LOW : GRPO_CLIP_NO;
}

static inline grpo_clip_side ref_weight_side(reference *ref, reference_real w, double low, double high) {
    return ref_exceeds(ref, -w, -low) ? GRPO_CLIP_LOW : ref_exceeds(ref, w, high) ? GRPO_CLIP_HIGH : GRPO_CLIP_NO;
}

/* the clip of token t by its surrogate, A not 0 */
static inline grpo_clip_side ref_surrogate_side(reference *ref, int64_t t) {
    const grpo_surrogate *s = &ref->obj->surrogate;
    const int up = ref->advantage[t] > 0, aspo = s->kind == GRPO_SURROGATE_ASPO;
    const reference_real w = ref_ratio(ref, ref_log_ratio(ref, ref->fixed, ref->unit_fixed[t], t));
    reference_real low, high, dual = up ? 0 : s->clip_dual;
    switch (s->kind) {
    case GRPO_SURROGATE_TOPR:
        return up ? GRPO_CLIP_NO : ref_weight_side(ref, w, s->weight_min, s->weight_max);
    case GRPO_SURROGATE_DISPO: if (!up) return ref_weight_side(ref, w, s->weight_min_neg, s->weight_max_neg); /* fall through */
    case GRPO_SURROGATE_CISPO: case GRPO_SURROGATE_MASKED_WEIGHT: return ref_weight_side(ref, w, s->weight_min, s->weight_max);
    case GRPO_SURROGATE_POLICY_SHAPING: if (ref->b->shaping_mask[t]) return GRPO_CLIP_NO; /* fall through */
    case GRPO_SURROGATE_PPO_CLIP: dual = 0; break;
    case GRPO_SURROGATE_UNBOUNDED_POSITIVE: if (up) return GRPO_CLIP_NO; break;
    case GRPO_SURROGATE_DUAL_CLIP: case GRPO_SURROGATE_GPPO: break;
    case GRPO_SURROGATE_ASPO: dual = up ? s->clip_dual_pos : s->clip_dual; break;
    default: return GRPO_CLIP_NO;
    }
    if (s->bounds == GRPO_BOUNDS_POSITION) return ref_position_side(ref, t, up);
    ref_clip_range(ref, t, &low, &high);
    if (aspo) { low = 1 - (reference_real)s->eps_low; high = 1 + (reference_real)s->eps_high; }
    if (dual != 0 && ref_exceeds(ref, up ? 1 / w : w, dual)) return GRPO_CLIP_DUAL;
    if (up) return ref_exceeds(ref, w, high) ? GRPO_CLIP_HIGH : GRPO_CLIP_NO;
    return ref_exceeds(ref, -w, -low) ? GRPO_CLIP_LOW : GRPO_CLIP_NO;
}

static inline grpo_clip_side ref_side(reference *ref, int64_t t) {
    const double A = (double)ref->advantage[t];
    const grpo_clip_side pool = ref_pool_side(ref, t);
    if (ref->obj->surrogate.kind == GRPO_SURROGATE_NONE) return GRPO_CLIP_NO;
    if (A != 0 && ref->dropped[t]) return A > 0 ? GRPO_CLIP_HIGH : GRPO_CLIP_LOW;
    if (pool != GRPO_CLIP_NO || A == 0) return pool;
    return ref_surrogate_side(ref, t);
}

static inline reference_counts reference_count(reference *ref) {
    reference_counts n;
    int64_t i, t;
    memset(&n, 0, sizeof n);
    ref_begin(ref);
    n.rejected = ref->rejected;
    for (i = 0; i < ref->b->n_sequences; i++) {
        for (t = ref->b->offset[i]; t < ref->b->offset[i] + ref->b->length[i]; t++) {
            if (!ref->active[t]) continue;
            n.tokens++;
            n.clips[ref_side(ref, t)]++;
        }
    }
    n.judged = !ref->unsure && !ref->beyond;
    return n;
}
#endif
