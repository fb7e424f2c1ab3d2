/* Axis 4: the surrogates of a token.
 *
 * ref_size: the amplification of double's rounding in the value (initially 1), the size of the derivative with respect to y or l, and the
 * sum of the absolute values that were added up to the value (0: the value's own). */
#ifndef REFERENCE_SURROGATE_H
#define REFERENCE_SURROGATE_H
#include "ratio.h"

typedef struct { reference_real rounding, derivative, added; } ref_size;

/* the clip range of w at token t */
static inline void ref_clip_range(const reference *ref, int64_t t, reference_real *low, reference_real *high) {
    const grpo_surrogate *s = &ref->obj->surrogate;
    reference_real p, below;
    *low = 1 - (reference_real)s->eps_low;
    *high = 1 + (reference_real)s->eps_high;
    if (s->bounds == GRPO_BOUNDS_FIXED || s->kind == GRPO_SURROGATE_POLICY_SHAPING || s->kind == GRPO_SURROGATE_UNBOUNDED_POSITIVE) return;
    if (s->bounds == GRPO_BOUNDS_EXTERNAL) {
        *low = 1 - (reference_real)ref->b->token[TOKEN_CLIP_LOW][t];
        *high = 1 + (reference_real)ref->b->token[TOKEN_CLIP_HIGH][t];
        return;
    }
    p = ref_exp(ref_old(ref, t));
    below = 1 - 4 * s->eps_low / p;
    *low = ((reference_real)1 + ref_sqrt(below > 0 ? below : 0)) / 2;
    *high = (1 + ref_sqrt(1 + 4 * s->eps_high / p)) / 2;
    if (s->bound_cap != 0 && *high > s->bound_cap) *high = s->bound_cap;
}

static inline reference_real ref_ppo_clip(reference *ref, int64_t t, reference_real w, reference_real A, ref_size *size) {
    reference_real low, high, plain = -w * A, clipped;
    ref_clip_range(ref, t, &low, &high);
    ref_note(ref, high);
    clipped = -ref_bounded(ref, w, low, high) * A;
    if (ref_near(w, low) || ref_near(w, high)) size->rounding = 1024;            /* the headers compare logarithms, up to 710 */
    if (ref_decide(ref, plain > clipped)) clipped = plain;
    if (clipped == plain) ref_note(ref, w);
    size->derivative = ref_abs(clipped);
    return clipped;
}

static inline reference_real ref_dual_clip(reference *ref, int64_t t, reference_real w, reference_real A, ref_size *size) {
    reference_real dual = -ref->obj->surrogate.clip_dual * A, x = ref_ppo_clip(ref, t, w, A, size);
    return A < 0 && ref_decide(ref, x > dual) ? dual : x;
}

/* n^position_power, n the number of active tokens of the response up to and including t */
static inline reference_real ref_position_scale(const reference *ref, int64_t t) {
    int64_t i = 0, k, n = 0;
    while (t < ref->b->offset[i] || t >= ref_end(ref, i)) i++;
    for (k = ref->b->offset[i]; k <= t; k++) n += ref->active[k];
    return ref_exp(ref->obj->surrogate.position_power * ref_ln((reference_real)n));
}

typedef struct { reference_real low, high, dual; } ref_log_bounds;

static inline ref_log_bounds ref_position_bounds(const reference *ref, int64_t t) {
    const grpo_surrogate *s = &ref->obj->surrogate;
    const reference_real scale = ref_position_scale(ref, t);
    ref_log_bounds b;
    b.low = -s->log_low * scale;
    b.high = s->log_high * scale;
    b.dual = s->kind == GRPO_SURROGATE_DUAL_CLIP ? s->log_clip_dual * scale : (reference_real)HUGE_VAL;
    return b;
}

static inline reference_real ref_position_clip(reference *ref, int64_t t, reference_real y, reference_real A, ref_size *size) {
    const ref_log_bounds b = ref_position_bounds(ref, t);
    if (A < 0 && ref_decide(ref, y > b.dual)) y = b.dual;
    else if (A < 0 ? ref_decide(ref, y < b.low) : ref_decide(ref, y > b.high)) y = A < 0 ? b.low : b.high;
    return -(size->derivative = ref_note(ref, ref_exp(y)) * A);
}

/* what the rounding of w to double adds, multiplied in an exponent; the headers do not round it beside larger factors and ratios */
static inline reference_real ref_of_rounded_ratio(reference_real factor, reference_real w) {
    return ref_abs(factor) <= 3 && w < 2.001 ? 2 * ref_abs(factor) * w : 0;
}

static inline reference_real ref_sapo(reference *ref, reference_real w, reference_real A, ref_size *size) {
    reference_real tau = A > 0 ? ref->obj->surrogate.tau_pos : ref->obj->surrogate.tau_neg;
    ref_note(ref, w);
    ref_note(ref, 4 / tau);
    if (tau * w > 0x1p14) ref->rough = 1;
    size->rounding = 2 + ref_of_rounded_ratio(tau, w);
    size->derivative = ref_note(ref, w * A);
    return -ref_note(ref, (4 / tau) * ref_note(ref, ref_sigmoid(tau * (w - 1)))) * A;
}

static inline reference_real ref_vespo_weight(reference *ref, reference_real y, reference_real A, ref_size *size) {
    const grpo_surrogate *s = &ref->obj->surrogate;
    reference_real w = ref_note(ref, ref_exp(y)), k = A > 0 ? s->vespo_k_pos : s->vespo_k_neg, lambda = A > 0 ? s->vespo_lambda_pos
        : s->vespo_lambda_neg;
    size->rounding = 1 + ref_of_rounded_ratio(lambda, w) + 0x1p-30 * (ref_abs(lambda) * w + ref_abs(k * y));
    if (size->rounding > 0x1p15) ref->rough = 1;
    return ref_exp(lambda + k * y - lambda * w);
}

static inline reference_real ref_gate(reference *ref, reference_real w, reference_real A, ref_size *size) {
    reference_real tau = A > 0 ? ref->obj->surrogate.tau_pos : ref->obj->surrogate.tau_neg;
    size->rounding = 2 + ref_of_rounded_ratio(tau, w);
    return ref_note(ref, (4 / tau) * ref_note(ref, ref_sigmoid(tau * (ref_note(ref, w) - 1))));
}

static inline reference_real ref_detached_weight(reference *ref, int64_t t, ref_size *size) {
    const grpo_surrogate *s = &ref->obj->surrogate;
    const reference_real A = ref->advantage[t], y = ref_log_ratio(ref, ref->fixed, ref->unit_fixed[t], t), w = ref_ratio(ref, y);
    if (s->kind == GRPO_SURROGATE_TOPR && A > 0) return 1;
    switch (s->kind) {
    case GRPO_SURROGATE_REINFORCE:         return 1;
    case GRPO_SURROGATE_VESPO:         return ref_vespo_weight(ref, y, A, size);
    case GRPO_SURROGATE_SAPO_DETACHED: return ref_gate(ref, w, A, size);
    case GRPO_SURROGATE_MASKED_WEIGHT:          return ref_is_outside(ref, w, s->weight_min, s->weight_max) ? 0 : w;
    case GRPO_SURROGATE_DISPO:         return A > 0 ? ref_bounded(ref, w, s->weight_min, s->weight_max)
                                                    : ref_bounded(ref, w, s->weight_min_neg, s->weight_max_neg);
    default:                           return ref_bounded(ref, w, s->weight_min, s->weight_max);
    }
}

static inline int ref_surrogate_has_ratio(const reference *ref) {
    switch (ref->obj->surrogate.kind) {
    case GRPO_SURROGATE_REINFORCE: case GRPO_SURROGATE_CISPO: case GRPO_SURROGATE_VESPO: case GRPO_SURROGATE_TOPR:
    case GRPO_SURROGATE_MASKED_WEIGHT:
    case GRPO_SURROGATE_SAPO_DETACHED: case GRPO_SURROGATE_DISPO: case GRPO_SURROGATE_NONE: return 0;
    default: return 1;
    }
}

/* -weight A l */
static inline reference_real ref_score(reference *ref, reference_real weight, int64_t t, ref_size *size) {
    size->derivative = ref_note(ref, ref_note(ref, weight) * ref->advantage[t]);
    return -size->derivative * ref_log(ref, ref->l[t]);
}

static inline reference_real ref_squared(reference *ref, reference_real y, reference_real A, ref_size *size) {
    const reference_real k = ref_note(ref, ref->obj->surrogate.beta), e = A - k * y, most = ref_abs(A) + ref_abs(k * y);
    size->added = ref_note(ref, most * most);
    size->derivative = 2 * ref_abs(k) * most;
    if (ref->obj->ratio.interpolate == GRPO_INTERPOLATE_ARITHMETIC) size->derivative += 0x1p-31 * k * k;    /* curvature at e = 0 */
    return e * e;
}

/* -weight A w/sg[w]: the value is -weight A, the gradient that of w */
static inline reference_real ref_through(reference *ref, reference_real weight, reference_real A, reference_real move, ref_size *size) {
    size->derivative = ref_note(ref, weight * A);
    return -size->derivative * ref_exp(move);
}

/* move: y - sg[y] */
static inline reference_real ref_gppo(reference *ref, int64_t t, reference_real w, reference_real move, reference_real A, ref_size *size) {
    const grpo_surrogate *s = &ref->obj->surrogate;
    reference_real low, high;
    ref_clip_range(ref, t, &low, &high);
    if (A < 0 && s->clip_dual != 0 && ref_decide(ref, w > s->clip_dual)) return -(size->derivative = s->clip_dual * A);
    if (A > 0 && ref_exceeds(ref, w, high)) return ref_through(ref, s->gppo_beta_high * high, A, move, size);
    if (A < 0 && ref_exceeds(ref, -w, -low)) return ref_through(ref, s->gppo_beta_low * low, A, move, size);
    return -(size->derivative = ref_note(ref, w) * A);
}

static inline reference_real ref_aspo(reference *ref, int64_t t, reference_real w, reference_real move, reference_real A, ref_size *size) {
    const grpo_surrogate *s = &ref->obj->surrogate;
    const reference_real low = 1 - (reference_real)s->eps_low;
    if (A < 0 && s->clip_dual != 0 && ref_exceeds(ref, w, s->clip_dual)) return ref_score(ref, s->clip_dual, t, size);
    if (A < 0) return -(size->derivative = A * (ref_decide(ref, w < low) ? low : ref_note(ref, w)));
    if (s->clip_dual_pos != 0 && ref_exceeds(ref, 1 / w, s->clip_dual_pos)) return ref_score(ref, s->clip_dual_pos, t, size);
    if (ref_decide(ref, w > 1 + (reference_real)s->eps_high)) return -(size->derivative = A / (1 + (reference_real)s->eps_high));
    return ref_through(ref, 1 / ref_note(ref, w / ref_exp(move)), A, move, size);
}

static inline reference_real ref_quadratic(reference *ref, reference_real y, reference_real w, reference_real A, ref_size *size) {
    const reference_real eps = ref_note(ref, ref->obj->surrogate.quadratic_eps), off = ref_change(y, 0), far = ref_note(ref, off / eps);
    size->added = ref_note(ref, ref_abs(A) * ref_note(ref, w + ref_note(ref, off * far) / 2));
    size->derivative = ref_note(ref, w * ref_abs(A) * (1 + ref_abs(far)));
    size->derivative += 0x1p-31 * w * ref_abs(A) * (1 + w / eps);        /* curvature, where the slope is 0 */
    return ref_abs(A) * off * far / 2 - A * w;
}

/* surrogate quadratic, with the square multiplied by p, the old probability */
static inline reference_real ref_quadratic_probability(reference *ref, int64_t t, reference_real y, reference_real w, reference_real A,
                                                       ref_size *size) {
    const reference_real eps = ref_note(ref, ref->obj->surrogate.quadratic_eps), x = ref_old(ref, t), p = x == -HUGE_VAL ? 0 : ref_exp(x);
    const reference_real off = ref_change(y, 0), far = p == 0 ? 0 : ref_note(ref, p * off / eps);
    const reference_real bend = p == 0 ? 0 : ref_note(ref, off * far);
    size->added = ref_note(ref, ref_abs(A) * ref_note(ref, w + bend / 2));
    size->derivative = ref_note(ref, w * ref_abs(A) * (1 + ref_abs(far)));
    size->derivative += 0x1p-31 * w * ref_abs(A) * (1 + (p == 0 ? 0 : p * w / eps));                    /* curvature, as above */
    return ref_abs(A) * bend / 2 - A * w;
}

static inline reference_real ref_logistic(reference *ref, reference_real y, reference_real A, ref_size *size) {
    const reference_real k = ref_note(ref, ref->obj->surrogate.beta), shift = ref->obj->surrogate.logit_shift;
    const reference_real x = A > 0 ? k * y - shift : shift - k * y, value = ref_log_one_plus_exp(-x), slope = ref_sigmoid(-x);
    size->added = value + slope * (ref_abs(k * y) + ref_abs(shift));
    size->derivative = slope * ref_abs(k) * (1 + ref_abs(k * y) + ref_abs(shift));
    if (ref->obj->ratio.interpolate == GRPO_INTERPOLATE_ARITHMETIC) size->derivative += 0x1p-31 * k * k;    /* as in ref_squared */
    return value;
}

static inline reference_real ref_bgpo(reference *ref, reference_real y, reference_real w, reference_real A, ref_size *size) {
    if (A < 0) return -(size->derivative = ref_note(ref, w) * A);
    size->added = A * (1 + ref_abs(y));
    size->derivative = A;
    return -(1 + y) * A;
}

static inline reference_real ref_shaped(reference *ref, int64_t t, reference_real w, reference_real A, ref_size *size) {
    const reference_real g = ref->obj->surrogate.shaping_gamma, whole = ref_note(ref, w) + g;
    if (!ref->b->shaping_mask[t]) return ref_ppo_clip(ref, t, w, A, size);
    size->derivative = A * (w / whole) * (g / whole);
    return -A * (w / whole);
}

static inline reference_real ref_surrogate(reference *ref, int64_t t, reference_real unit, ref_size *size) {
    const grpo_surrogate_kind kind = ref->obj->surrogate.kind;
    reference_real A = ref_note(ref, ref->advantage[t]), y, w, move;
    if (kind == GRPO_SURROGATE_NONE || (A == 0 && kind != GRPO_SURROGATE_SQUARED && kind != GRPO_SURROGATE_LOGISTIC)) return 0;
    if (!ref_surrogate_has_ratio(ref)) return ref_score(ref, ref_detached_weight(ref, t, size), t, size);
    if (ref->obj->surrogate.kind == GRPO_SURROGATE_UNBOUNDED_POSITIVE && A > 0) {
        size->derivative = A;
        return -A * ref_exp(ref_log(ref, ref->l[t]) - ref->fixed[t]);
    }
    y = ref_log_ratio(ref, ref->l, unit, t);
    w = ref_ratio(ref, y);
    move = y - ref_log_ratio(ref, ref->fixed, ref->unit_fixed[t], t);
    if (ref->obj->surrogate.bounds == GRPO_BOUNDS_POSITION) return ref_position_clip(ref, t, y, A, size);
    switch (kind) {
    case GRPO_SURROGATE_LOGISTIC:  return ref_logistic(ref, y, A, size);
    case GRPO_SURROGATE_BGPO:      return ref_bgpo(ref, y, w, A, size);
    case GRPO_SURROGATE_POLICY_SHAPING:    return ref_shaped(ref, t, w, A, size);
    case GRPO_SURROGATE_PPO_CLIP:  return ref_ppo_clip(ref, t, w, A, size);
    case GRPO_SURROGATE_DUAL_CLIP:
    case GRPO_SURROGATE_UNBOUNDED_POSITIVE: return ref_dual_clip(ref, t, w, A, size);
    case GRPO_SURROGATE_QUADRATIC: return ref_quadratic(ref, y, w, A, size);
    case GRPO_SURROGATE_QUADRATIC_PROBABILITY: return ref_quadratic_probability(ref, t, y, w, A, size);
    case GRPO_SURROGATE_SAPO:      return ref_sapo(ref, w, A, size);
    case GRPO_SURROGATE_LOG_RATIO: size->derivative = A; return -A * y;
    case GRPO_SURROGATE_SQUARED:   return ref_squared(ref, y, A, size);
    case GRPO_SURROGATE_GPPO:      return ref_gppo(ref, t, w, move, A, size);
    case GRPO_SURROGATE_ASPO:      return ref_aspo(ref, t, w, move, A, size);
    default:                       return -(size->derivative = ref_note(ref, w) * A);
    }
}
#endif
