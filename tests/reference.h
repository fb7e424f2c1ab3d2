/* The loss as tests/vectors/objective/ writes it, in __float128, and its slopes: what the headers are compared with.
 *
 *     reference ref;
 *     reference_alloc(&ref, &objective, &batch, advantage, ranks);
 *     reference_answer loss = reference_loss(&ref), slope = reference_slope(&ref, i, t);      token t of sequence i
 *     if (loss.judged) check(reference_agrees(&loss, report.loss));
 *     if (slope.judged) check(reference_agrees(&slope, dlogp[t]));
 *     reference_free(&ref);
 *
 * A slope is a central difference of the terms that l[t] enters, with `fixed` for the log-probabilities inside a stop-gradient, so every
 * objective has one.  An answer is not judged where the comparison would mean nothing: a log-probability infinite or beyond
 * REFERENCE_LARGEST_LOG, a number on the way whose products double may not hold to full precision, a band of the correction so near that
 * rounding may fall on either side, and for slopes a difference that does not resolve them or a comparison that turns nearby. */
#ifndef REFERENCE_H
#define REFERENCE_H
#include "random_batch.h"

#if LDBL_MANT_DIG == 113
typedef long double reference_real;
#else
__extension__ typedef __float128 reference_real;
#endif

/* differences of larger ones lose too much of what the step adds */
static const double REFERENCE_LARGEST_LOG = 1e9;
/* sums with smaller ones are rounded in here, to at most REFERENCE_BLUR from what they are */
static const double REFERENCE_SMALLEST_LOG = 0x1p-30, REFERENCE_BLUR = 0x1p-60;
static const double REFERENCE_STEP = 0x1p-33;
/* a product of three numbers up to this, or of their reciprocals, is one of double in whichever order they are multiplied */
static const double REFERENCE_LARGEST = 1e100;

typedef struct {
    int judged;
    reference_real value, tolerance;
} reference_answer;

typedef struct {
    const grpo_objective *obj;
    const rollouts *b;
    const grpo_real *advantage;
    reference_real factor;                       /* ranks */
    uint8_t *active, *dropped;                   /* dropped: by trust or off_policy */
    int64_t rejected;                            /* tokens */
    reference_real *l, *fixed, *weight, *whole;  /* per token; weight: what multiplies S; whole: the term */
    reference_real *coefficient, *unit_fixed;    /* per token: c; y of its unit, 0 for unit token */
    reference_real by_sign[2];                   /* what of c tells A <= 0 from A > 0 */
    reference_real likelihood, pairs, signs;     /* coef/D times ranks; signs: coef/N where there is no pair */
    reference_real log_z_moved;                  /* by how much every log_z is another */
    int64_t *count;                              /* per sequence: T_i */
    int blurred;                                 /* sums of log-probabilities are rounded */
    int unsure;                                  /* which tokens are active is a matter of rounding */
    /* of the evaluation in progress */
    uint64_t branches;                           /* which way every comparison went */
    int beyond;                                  /* a number, or the products of it, that double may not hold to full precision */
    int rough;                                   /* too steep for the step */
    reference_real largest_log;
    reference_real scale, steep;                 /* sums of the terms' and of the derivatives' sizes, times what roundings may grow to */
    reference_real size;                         /* the scale of vectors/scale.md */
} reference;

static inline reference_real ref_abs(reference_real x) { return x < 0 ? -x : x; }

/* ---- exponentials -------------------------------------------------------------------------------------------------------------- */

/* e^x - x - 1 for |x| <= 1 to 1e-31, by its series at x/256 and q(2x) = 2 q(x) + (x + q(x))^2, which cancels nothing */
static inline reference_real ref_small_exp_minus_linear(reference_real x) {
    const reference_real one = 1;
    const reference_real inverse[] = { 0, 0, 0, one / 3, one / 4, one / 5, one / 6, one / 7, one / 8, one / 9, one / 10, one / 11, one / 12,
                                       one / 13 };
    reference_real q = 1;
    int k;
    x /= 256;
    for (k = 13; k >= 3; k--) q = 1 + x * inverse[k] * q;
    q *= x * x / 2;
    for (k = 0; k < 8; k++) {
        q = 2 * q + (x + q) * (x + q);
        x *= 2;
    }
    return q;
}

static inline reference_real ref_times_power_of_two(reference_real x, int n) {
    for (; n > 1000; n -= 1000) x *= 0x1p1000;
    for (; n < -1000; n += 1000) x *= 0x1p-1000;
    return x * ldexp(1, n);
}

static inline reference_real ref_exp(reference_real x) {
    static const double ln2[3] = { 6.93147180559945286e-01, 2.31904681384629956e-17, 5.70770843841621207e-34 };
    double n;
    if (x != x) return x;
    if (x > 11300) return HUGE_VAL;
    if (x < -11300) return 0;
    n = floor((double)x * 1.44269504088896341 + 0.5);
    x = ((x - (reference_real)n * ln2[0]) - (reference_real)n * ln2[1]) - (reference_real)n * ln2[2];
    return ref_times_power_of_two(1 + (x + ref_small_exp_minus_linear(x)), (int)n);
}

static inline reference_real ref_exp_minus_linear(reference_real x) {
    return ref_abs(x) <= 1 ? ref_small_exp_minus_linear(x) : ref_exp(x) - x - 1;
}

/* of a number within the range of double; each step of Newton's doubles the digits */
static inline reference_real ref_ln(reference_real x) {
    reference_real y = log((double)x);
    int k;
    for (k = 0; k < 3; k++) y += x * ref_exp(-y) - 1;
    return y;
}

/* e^a - e^b */
static inline reference_real ref_change(reference_real a, reference_real b) {
    const reference_real d = a - b;
    if (d == 0) return 0;                                              /* also where e^a is beyond the largest number */
    return ref_abs(d) < 0.5 ? ref_exp(b) * (d + ref_exp_minus_linear(d)) : ref_exp(a) - ref_exp(b);
}

/* ln(1 + z) */
static inline reference_real ref_ln1p(reference_real z) {
    const reference_real third = (reference_real)1 / 3;
    if (ref_abs(z) > 1e-9) return ref_ln(1 + z);
    return z * (1 - z * ((reference_real)1 / 2 - z * (third - z / 4)));
}

static inline reference_real ref_sqrt(reference_real x) {
    reference_real y = sqrt((double)x);
    int k;
    for (k = 0; k < 3 && y > 0; k++) y = (y + x / y) / 2;
    return y;
}

/* ---- what an evaluation notes -------------------------------------------------------------------------------------------------- */

static inline void ref_begin(reference *ref) {
    ref->branches = 0;
    ref->beyond = ref->rough = 0;
    ref->scale = ref->steep = ref->size = ref->largest_log = 0;
}

static inline int ref_decide(reference *ref, int yes) {
    ref->branches = (ref->branches ^ (yes ? 1u : 2u)) * UINT64_C(0x100000001b3);
    return yes;
}

/* x is also a number of the computation in double */
static inline reference_real ref_note(reference *ref, reference_real x) {
    if (x != 0 && !(ref_abs(x) * REFERENCE_LARGEST >= 1 && ref_abs(x) <= REFERENCE_LARGEST)) ref->beyond = 1;
    return x;
}

static inline reference_real ref_log(reference *ref, reference_real l) {
    if (!(ref_abs(l) <= REFERENCE_LARGEST_LOG)) ref->beyond = 1;
    if (l != 0 && ref_abs(l) < REFERENCE_SMALLEST_LOG) ref->blurred = 1;
    if (ref_abs(l) > ref->largest_log) ref->largest_log = ref_abs(l);
    return l;
}

static inline int ref_near(reference_real x, reference_real bound) {
    return bound < HUGE_VAL && ref_abs(x - bound) <= 0x1p-40 * ref_abs(bound);
}

/* may rounding put x on the other side of the bound, or beside it?  exact: x is the same number in double if it is not blurred */
static inline int ref_wavers(const reference *ref, reference_real x, reference_real bound, int exact) {
    if (x != x || (ref->blurred && ref_abs(x - bound) <= REFERENCE_BLUR)) return 1;
    return !exact && ref_near(x, bound);
}

/* x > bound, on which something jumps: what rounding may put on either side is not judged */
static inline int ref_jumps(reference *ref, reference_real x, reference_real bound) {
    if (ref_wavers(ref, x, bound, x == bound)) ref->beyond = 1;
    return ref_decide(ref, x > bound);
}

/* e^y; a y so small that e^y is 1 in here has a side of 1 all the same */
static inline reference_real ref_ratio(reference *ref, reference_real y) {
    const reference_real w = ref_exp(y);
    if (w == 1 && y != 0) ref->beyond = 1;
    return w;
}

static inline int ref_jumps_out(reference *ref, reference_real x, double low, double high) {
    return ref_jumps(ref, x, high) || ref_jumps(ref, -x, -(reference_real)low);
}

static inline reference_real ref_bounded(reference *ref, reference_real x, reference_real low, reference_real high) {
    if (ref_decide(ref, x < low)) return low;
    return ref_decide(ref, x > high) ? high : x;
}

static inline reference_real ref_clamp(reference *ref, reference_real x, double low, double high) {
    return low == 0 && high == 0 ? x : ref_bounded(ref, x, low, high);
}

/* ---- ratio --------------------------------------------------------------------------------------------------------------------- */

static inline reference_real ref_old(const reference *ref, int64_t t) {
    switch (ref->obj->ratio.against) {
    case GRPO_AGAINST_ROLLOUT: return ref->b->token[TOKEN_ROLLOUT][t];
    case GRPO_AGAINST_REF:     return ref->b->token[TOKEN_REF][t];
    case GRPO_AGAINST_CURRENT: return ref->fixed[t];
    case GRPO_AGAINST_NOTHING: return 0;
    default:                   return ref->b->token[TOKEN_OLD][t];
    }
}

/* d, and what the token gives to its unit */
static inline reference_real ref_own_log_ratio(reference *ref, const reference_real *l, int64_t t) {
    const grpo_ratio_axis *a = &ref->obj->ratio;
    return ref_clamp(ref, ref_log(ref, l[t]) - ref_log(ref, ref_old(ref, t)), a->clamp_low, a->clamp_high);
}

static inline int ref_clips_pool(const grpo_ratio_axis *a) {
    return a->unit == GRPO_UNIT_SEQUENCE_CLIPPED_MEAN || a->unit == GRPO_UNIT_SEQUENCE_POWER_MEAN;
}

static inline reference_real ref_token_log_ratio(reference *ref, const reference_real *l, int64_t t) {
    const grpo_ratio_axis *a = &ref->obj->ratio;
    const reference_real d = ref_own_log_ratio(ref, l, t);
    if (!ref_clips_pool(a)) return d;
    if (ref->advantage[t] >= 0) return ref_decide(ref, d > a->pool_high) ? a->pool_high : d;
    return ref_decide(ref, d < -a->pool_low) ? -a->pool_low : d;
}

static inline int64_t ref_end(const reference *ref, int64_t i) { return ref->b->offset[i] + ref->b->length[i]; }

/* are tokens j and k of a response in one segment? */
static inline int ref_same_segment(const reference *ref, int64_t j, int64_t k) {
    int64_t t;
    for (t = j < k ? j : k; t < (j < k ? k : j); t++) if (ref->b->step_end[t]) return 0;
    return 1;
}

/* is token k in the unit of token t? */
static inline int ref_in_unit(const reference *ref, int64_t t, int64_t k) {
    switch (ref->obj->ratio.unit) {
    case GRPO_UNIT_TOKEN:                                     return k == t;
    case GRPO_UNIT_SEGMENT_MEAN: case GRPO_UNIT_SEGMENT_SUM:  return ref_same_segment(ref, t, k);
    case GRPO_UNIT_PREFIX_SUM: case GRPO_UNIT_PREFIX_MEAN:    return k <= t;
    default:                                                  return 1;
    }
}

/* (1/p) log((1/n) sum e^(p x)) of n numbers */
static inline reference_real ref_log_mean_exp(const reference_real *x, int64_t n, reference_real p) {
    reference_real top = x[0], sum = 0;
    int64_t k;
    for (k = 1; k < n; k++) if (x[k] > top) top = x[k];
    for (k = 0; k < n; k++) sum += ref_exp(p * (x[k] - top));
    return top + ref_ln(sum / (reference_real)n) / p;
}

/* y of token t of sequence i before its mixture and clamp */
static inline reference_real ref_unit_log_ratio(reference *ref, const reference_real *l, int64_t i, int64_t t) {
    const grpo_unit_kind unit = ref->obj->ratio.unit;
    reference_real sum = 0, d[64] = { 0 };                           /* more tokens than any response of a test has */
    int64_t k, n = 0;
    if (unit == GRPO_UNIT_TOKEN) return 0;
    for (k = ref->b->offset[i]; k < ref_end(ref, i); k++) {
        if (ref->active[k] && ref_in_unit(ref, t, k)) sum += d[n++] = ref_token_log_ratio(ref, l, k);
    }
    if (unit == GRPO_UNIT_SEQUENCE_MEAN_RATIO) return ref_log_mean_exp(d, n, 1);
    if (unit == GRPO_UNIT_SEQUENCE_POWER_MEAN) return ref_log_mean_exp(d, n, ref->obj->ratio.power != 0 ? ref->obj->ratio.power : 1);
    return unit == GRPO_UNIT_SEQUENCE_SUM || unit == GRPO_UNIT_SEGMENT_SUM || unit == GRPO_UNIT_PREFIX_SUM ? sum : sum / (reference_real)n;
}

static inline int ref_ratio_is_own(const reference *ref) {
    return ref->obj->ratio.unit == GRPO_UNIT_TOKEN || ref->obj->ratio.gradient == GRPO_GRADIENT_TOKEN;
}

/* y' of the mixture */
static inline reference_real ref_mixed(reference *ref, const reference_real *l, reference_real unit, int64_t t) {
    const grpo_ratio_axis *a = &ref->obj->ratio;
    reference_real both[2];
    both[0] = ref_own_log_ratio(ref, l, t);
    both[1] = unit;
    return a->mix == GRPO_MIX_AVERAGE ? ref_log_mean_exp(both, 2, 1) : a->mix_token * both[0] + a->mix_unit * unit;
}

/* y of token t; unit: what ref_unit_log_ratio says, inside the stop-gradient if there is one */
static inline reference_real ref_log_ratio(reference *ref, const reference_real *l, reference_real unit, int64_t t) {
    const grpo_ratio_axis *a = &ref->obj->ratio;
    reference_real y = unit;
    if (a->unit == GRPO_UNIT_TOKEN) y = ref_token_log_ratio(ref, l, t);
    else if (a->mix != GRPO_MIX_NONE) y = ref_mixed(ref, l, unit, t);
    else if (a->gradient == GRPO_GRADIENT_TOKEN) y += ref_token_log_ratio(ref, l, t) - ref_token_log_ratio(ref, ref->fixed, t);
    return ref_clamp(ref, y, a->unit_clamp_low, a->unit_clamp_high);
}

/* ---- surrogate -----------------------------------------------------------------------------------------------------------------
 * size: what multiplies the rounding of double in the value (at first 1), the size of the derivative with respect to y or l, and that of
 * what was added to make the value (0: its absolute value). */

typedef struct { reference_real rounding, derivative, added; } ref_size;

/* the clip's range of w at token t */
static inline void ref_clip_range(const reference *ref, int64_t t, reference_real *low, reference_real *high) {
    const grpo_surrogate *s = &ref->obj->surrogate;
    reference_real p, below;
    *low = 1 - (reference_real)s->eps_low;
    *high = 1 + (reference_real)s->eps_high;
    if (s->bounds == GRPO_BOUNDS_FIXED || s->kind == GRPO_SURROGATE_SHAPED || s->kind == GRPO_SURROGATE_UNBOUNDED_POSITIVE) return;
    if (s->bounds == GRPO_BOUNDS_GIVEN) {
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
    if (ref_near(w, low) || ref_near(w, high)) size->rounding = 1024;            /* the headers compare logarithms, of at most 710 */
    if (ref_decide(ref, plain > clipped)) clipped = plain;
    if (clipped == plain) ref_note(ref, w);
    size->derivative = ref_abs(clipped);
    return clipped;
}

static inline reference_real ref_dual_clip(reference *ref, int64_t t, reference_real w, reference_real A, ref_size *size) {
    reference_real dual = -ref->obj->surrogate.dual * A, x = ref_ppo_clip(ref, t, w, A, size);
    return A < 0 && ref_decide(ref, x > dual) ? dual : x;
}

static inline reference_real ref_sigmoid(reference_real z) {
    reference_real e = ref_exp(-ref_abs(z));
    return (z < 0 ? e : 1) / (1 + e);
}

static inline reference_real ref_log_one_plus_exp(reference_real z) {
    return z > 0 ? z + ref_ln1p(ref_exp(-z)) : ref_ln1p(ref_exp(z));
}

/* n^p, n the active tokens of the response up to token t */
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
    b.dual = s->kind == GRPO_SURROGATE_DUAL_CLIP ? s->log_dual * scale : (reference_real)HUGE_VAL;
    return b;
}

static inline reference_real ref_position_clip(reference *ref, int64_t t, reference_real y, reference_real A, ref_size *size) {
    const ref_log_bounds b = ref_position_bounds(ref, t);
    if (A < 0 && ref_decide(ref, y > b.dual)) y = b.dual;
    else if (A < 0 ? ref_decide(ref, y < b.low) : ref_decide(ref, y > b.high)) y = A < 0 ? b.low : b.high;
    return -(size->derivative = ref_note(ref, ref_exp(y)) * A);
}

static inline reference_real ref_sapo(reference *ref, reference_real w, reference_real A, ref_size *size) {
    reference_real tau = A > 0 ? ref->obj->surrogate.tau_pos : ref->obj->surrogate.tau_neg;
    ref_note(ref, w);
    ref_note(ref, 4 / tau);
    if (tau * w > 0x1p14) ref->rough = 1;
    size->rounding = 2 + 2 * tau * (w < 2 ? w : 2);
    size->derivative = ref_note(ref, w * A);
    return -ref_note(ref, (4 / tau) * ref_note(ref, ref_sigmoid(tau * (w - 1)))) * A;
}

static inline reference_real ref_vespo_weight(reference *ref, reference_real y, reference_real A, ref_size *size) {
    const grpo_surrogate *s = &ref->obj->surrogate;
    reference_real w = ref_note(ref, ref_exp(y)), k = A > 0 ? s->k_pos : s->k_neg, lambda = A > 0 ? s->lambda_pos : s->lambda_neg;
    size->rounding = 1 + 2 * ref_abs(lambda) * (w < 2 ? w : 2) + 0x1p-30 * (ref_abs(lambda) * w + ref_abs(k * y));
    if (size->rounding > 0x1p15) ref->rough = 1;
    return ref_exp(lambda + k * y - lambda * w);
}

static inline reference_real ref_gate(reference *ref, reference_real w, reference_real A, ref_size *size) {
    reference_real tau = A > 0 ? ref->obj->surrogate.tau_pos : ref->obj->surrogate.tau_neg;
    size->rounding = 2 + 2 * tau * (w < 2 ? w : 2);
    return ref_note(ref, (4 / tau) * ref_note(ref, ref_sigmoid(tau * (ref_note(ref, w) - 1))));
}

static inline reference_real ref_detached_weight(reference *ref, int64_t t, ref_size *size) {
    const grpo_surrogate *s = &ref->obj->surrogate;
    const reference_real A = ref->advantage[t], y = ref_log_ratio(ref, ref->fixed, ref->unit_fixed[t], t), w = ref_ratio(ref, y);
    if (s->kind == GRPO_SURROGATE_TOPR && A > 0) return 1;
    switch (s->kind) {
    case GRPO_SURROGATE_SCORE:         return 1;
    case GRPO_SURROGATE_VESPO:         return ref_vespo_weight(ref, y, A, size);
    case GRPO_SURROGATE_SAPO_DETACHED: return ref_gate(ref, w, A, size);
    case GRPO_SURROGATE_BAND:          return ref_jumps_out(ref, w, s->weight_min, s->weight_max) ? 0 : w;
    case GRPO_SURROGATE_DISPO:         return A > 0 ? ref_bounded(ref, w, s->weight_min, s->weight_max)
                                                    : ref_bounded(ref, w, s->weight_min_neg, s->weight_max_neg);
    default:                           return ref_bounded(ref, w, s->weight_min, s->weight_max);
    }
}

static inline int ref_surrogate_has_ratio(const reference *ref) {
    switch (ref->obj->surrogate.kind) {
    case GRPO_SURROGATE_SCORE: case GRPO_SURROGATE_CISPO: case GRPO_SURROGATE_VESPO: case GRPO_SURROGATE_TOPR: case GRPO_SURROGATE_BAND:
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
    const reference_real k = ref_note(ref, ref->obj->surrogate.strength), e = A - k * y, most = ref_abs(A) + ref_abs(k * y);
    size->added = ref_note(ref, most * most);
    size->derivative = 2 * ref_abs(k) * most;
    if (ref->obj->ratio.mix == GRPO_MIX_AVERAGE) size->derivative += 0x1p-31 * k * k;        /* y' is bent: the step sees it where e is 0 */
    return e * e;
}

/* -weight A w, w only as what its gradient comes from: of value 1 */
static inline reference_real ref_through(reference *ref, reference_real weight, reference_real A, reference_real move, ref_size *size) {
    size->derivative = ref_note(ref, weight * A);
    return -size->derivative * ref_exp(move);
}

/* move: y - sg[y] */
static inline reference_real ref_gppo(reference *ref, int64_t t, reference_real w, reference_real move, reference_real A, ref_size *size) {
    const grpo_surrogate *s = &ref->obj->surrogate;
    reference_real low, high;
    ref_clip_range(ref, t, &low, &high);
    if (A < 0 && s->dual != 0 && ref_decide(ref, w > s->dual)) return -(size->derivative = s->dual * A);
    if (A > 0 && ref_jumps(ref, w, high)) return ref_through(ref, s->beta_high * high, A, move, size);
    if (A < 0 && ref_jumps(ref, -w, -low)) return ref_through(ref, s->beta_low * low, A, move, size);
    return -(size->derivative = ref_note(ref, w) * A);
}

static inline reference_real ref_aspo(reference *ref, int64_t t, reference_real w, reference_real move, reference_real A, ref_size *size) {
    const grpo_surrogate *s = &ref->obj->surrogate;
    const reference_real low = 1 - (reference_real)s->eps_low;
    if (A < 0 && s->dual != 0 && ref_jumps(ref, w, s->dual)) return ref_score(ref, s->dual, t, size);
    if (A < 0) return -(size->derivative = A * (ref_decide(ref, w < low) ? low : ref_note(ref, w)));
    if (s->dual_pos != 0 && ref_jumps(ref, 1 / w, s->dual_pos)) return ref_score(ref, s->dual_pos, t, size);
    if (ref_decide(ref, w > 1 + (reference_real)s->eps_high)) return -(size->derivative = A / (1 + (reference_real)s->eps_high));
    return ref_through(ref, 1 / ref_note(ref, w / ref_exp(move)), A, move, size);
}

static inline reference_real ref_quadratic(reference *ref, reference_real y, reference_real w, reference_real A, ref_size *size) {
    const reference_real eps = ref_note(ref, ref->obj->surrogate.eps_high), off = ref_change(y, 0), far = ref_note(ref, off / eps);
    size->added = ref_note(ref, ref_abs(A) * ref_note(ref, w + ref_note(ref, off * far) / 2));
    size->derivative = ref_note(ref, w * ref_abs(A) * (1 + ref_abs(far)));
    size->derivative += 0x1p-31 * w * ref_abs(A) * (1 + w / eps);        /* it is bent: the step sees it where the slope is 0 */
    return ref_abs(A) * off * far / 2 - A * w;
}

static inline reference_real ref_logistic(reference *ref, reference_real y, reference_real A, ref_size *size) {
    const reference_real k = ref_note(ref, ref->obj->surrogate.strength), shift = ref->obj->surrogate.shift;
    const reference_real x = A > 0 ? k * y - shift : shift - k * y, value = ref_log_one_plus_exp(-x), slope = ref_sigmoid(-x);
    size->added = value + slope * (ref_abs(k * y) + ref_abs(shift));
    size->derivative = slope * ref_abs(k) * (1 + ref_abs(k * y) + ref_abs(shift));
    if (ref->obj->ratio.mix == GRPO_MIX_AVERAGE) size->derivative += 0x1p-31 * k * k;        /* as of squared */
    return value;
}

static inline reference_real ref_bgpo(reference *ref, reference_real y, reference_real w, reference_real A, ref_size *size) {
    if (A < 0) return -(size->derivative = ref_note(ref, w) * A);
    size->added = A * (1 + ref_abs(y));
    size->derivative = A;
    return -(1 + y) * A;
}

static inline reference_real ref_shaped(reference *ref, int64_t t, reference_real w, reference_real A, ref_size *size) {
    const reference_real g = ref->obj->surrogate.shape, whole = ref_note(ref, w) + g;
    if (!ref->b->selected[t]) return ref_ppo_clip(ref, t, w, A, size);
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
    case GRPO_SURROGATE_SHAPED:    return ref_shaped(ref, t, w, A, size);
    case GRPO_SURROGATE_PPO_CLIP:  return ref_ppo_clip(ref, t, w, A, size);
    case GRPO_SURROGATE_DUAL_CLIP:
    case GRPO_SURROGATE_UNBOUNDED_POSITIVE: return ref_dual_clip(ref, t, w, A, size);
    case GRPO_SURROGATE_QUADRATIC: return ref_quadratic(ref, y, w, A, size);
    case GRPO_SURROGATE_SAPO:      return ref_sapo(ref, w, A, size);
    case GRPO_SURROGATE_LOG_RATIO: size->derivative = A; return -A * y;
    case GRPO_SURROGATE_SQUARED:   return ref_squared(ref, y, A, size);
    case GRPO_SURROGATE_GPPO:      return ref_gppo(ref, t, w, move, A, size);
    case GRPO_SURROGATE_ASPO:      return ref_aspo(ref, t, w, move, A, size);
    default:                       return -(size->derivative = ref_note(ref, w) * A);
    }
}

/* ---- penalty ------------------------------------------------------------------------------------------------------------------- */

static inline reference_real ref_estimator(grpo_kl_kind kind, reference_real D) {
    switch (kind) {
    case GRPO_KL_K1:  return D;
    case GRPO_KL_K2:  return D * D / 2;
    case GRPO_KL_K3:  return ref_exp_minus_linear(-D);
    case GRPO_KL_ABS: return ref_abs(D);
    default:          return 0;
    }
}

static inline reference_real ref_kl(reference *ref, int64_t t, ref_size *size) {
    const grpo_penalty *p = &ref->obj->penalty;
    static const int source[] = { TOKEN_REF, TOKEN_OLD, TOKEN_ROLLOUT, TOKEN_TEACHER };
    const reference_real f = ref_log(ref, ref->b->token[source[p->kl_against]][t]);
    reference_real D = ref_clamp(ref, ref_log(ref, ref->l[t]) - f, -p->kl_clamp_log, p->kl_clamp_log), K = ref_note(ref, ref_estimator(p->kl, D)), D0;
    size->derivative = 1 + ref_abs(D) + ref_abs(K);
    if (p->kl == GRPO_KL_ABS) ref_bounded(ref, D, 0, 0);
    if (p->kl_clamp_value != 0) {
        reference_real clamped = ref_bounded(ref, K, -p->kl_clamp_value, p->kl_clamp_value);
        if (clamped != K) return clamped;
    }
    if (p->kl_gradient == GRPO_KL_GRADIENT_OWN) return K;
    D0 = ref_clamp(ref, ref->fixed[t] - f, -p->kl_clamp_log, p->kl_clamp_log);
    if (p->kl_gradient == GRPO_KL_GRADIENT_NONE) return ref_estimator(p->kl, D0);
    return ref_estimator(p->kl, D0) + (D - D0) * (D + D0) / 2;
}

static inline reference_real ref_penalty(reference *ref, int64_t t, reference_real unit, ref_size *size) {
    const grpo_penalty *p = &ref->obj->penalty;
    reference_real u = 1, K, bonus = p->entropy_coef != 0 ? p->entropy_coef * (reference_real)ref->b->token[TOKEN_ENTROPY][t] : 0;
    size->added = ref_abs(bonus);
    if (p->kl == GRPO_KL_NONE || p->kl_coef == 0 || (p->kl_on == GRPO_KL_ON_SELECTED && !ref->b->selected[t])) return -bonus;
    if (p->kl_ratio == GRPO_KL_RATIO_TOKEN) u = ref_exp(ref_log(ref, ref->l[t]) - ref_log(ref, ref_old(ref, t)));
    if (p->kl_ratio == GRPO_KL_RATIO_UNIT) u = ref_exp(ref_log_ratio(ref, ref->l, unit, t));
    if (p->kl_ratio == GRPO_KL_RATIO_SCORE) u = ref_exp(ref->l[t] - ref->fixed[t]);
    if (p->kl_ratio_max != 0) u = ref_bounded(ref, u, 0, p->kl_ratio_max);
    u = ref_note(ref, ref_note(ref, p->kl_coef) * ref_note(ref, u));
    K = ref_kl(ref, t, size);
    size->derivative *= ref_abs(u);
    size->added += ref_abs(u * K);
    return u * K - bonus;
}

/* ---- weight -------------------------------------------------------------------------------------------------------------------- */

static inline int ref_counts(const reference *ref, int64_t i, int64_t t) {
    return ref->b->mask[t] && !(ref->obj->weight.truncated == GRPO_TRUNCATED_MASK && ref->b->truncated[i]);
}

static inline reference_real ref_rollout_log_ratio(reference *ref, int64_t t) {
    const double c = ref->obj->weight.correction_clamp;
    return ref_clamp(ref, ref_log(ref, ref->b->token[TOKEN_OLD][t]) - ref_log(ref, ref->b->token[TOKEN_ROLLOUT][t]), -c, c);
}

/* what `reject` looks at, of one token; the correction's q is that of `ratio` */
static inline reference_real ref_statistic(reference *ref, grpo_reject_kind kind, int64_t t) {
    const reference_real q = ref_note(ref, ref_rollout_log_ratio(ref, t));
    switch (kind) {
    case GRPO_REJECT_K2:          return ref_note(ref, q * q / 2);
    case GRPO_REJECT_K3:          return ref_note(ref, ref_exp_minus_linear(q));
    case GRPO_REJECT_EXP_ABS:     return ref_note(ref, ref_exp(ref_abs(q)));
    case GRPO_REJECT_PROBABILITY: return ref_change(ref_log(ref, ref->b->token[TOKEN_OLD][t]), ref_log(ref, ref->b->token[TOKEN_ROLLOUT][t]));
    default:                      return q;
    }
}

/* pooled over the unit that token t of sequence i belongs to */
static inline reference_real ref_pooled(reference *ref, grpo_reject_kind kind, grpo_reject_unit unit, int64_t i, int64_t t) {
    const int segment = unit >= GRPO_REJECT_SEGMENT_SUM;
    reference_real sum = 0, most = -HUGE_VAL, x;
    int64_t k, n = 0;
    if (unit == GRPO_REJECT_TOKEN) return ref_statistic(ref, kind, t);
    for (k = ref->b->offset[i]; k < ref_end(ref, i); k++) {
        if (!ref_counts(ref, i, k) || (segment && !ref_same_segment(ref, k, t))) continue;
        x = ref_statistic(ref, kind, k);
        sum += x, n++;
        if (x > most) most = x;
    }
    if (unit == GRPO_REJECT_SEQUENCE_MAX || unit == GRPO_REJECT_SEGMENT_MAX) return most;
    return unit == GRPO_REJECT_SEQUENCE_MEAN || unit == GRPO_REJECT_SEGMENT_MEAN ? sum / (reference_real)n : sum;
}

/* is x in [low, high]?  sure: x is what both sides compute without rounding */
static inline int ref_within(reference *ref, reference_real x, reference_real low, reference_real high, int sure) {
    if (ref_wavers(ref, x, low, sure) || ref_wavers(ref, x, high, sure)) ref->unsure = 1;      /* also a probability beyond the largest number */
    return x >= low && x <= high;
}

/* v after the correction, of a token that counts; *inside its band? */
static inline reference_real ref_weight(reference *ref, int64_t i, int64_t t, int *inside) {
    static const grpo_reject_unit unit[] = { GRPO_REJECT_TOKEN, GRPO_REJECT_SEQUENCE_SUM, GRPO_REJECT_SEQUENCE_MEAN,
                                             GRPO_REJECT_SEGMENT_SUM, GRPO_REJECT_SEGMENT_MEAN };
    const grpo_weight *w = &ref->obj->weight;
    reference_real low = w->correction_low, high = w->correction_high, q, v;
    *inside = 1;
    if (w->correction == GRPO_CORRECTION_NONE) return 1;
    q = ref_pooled(ref, GRPO_REJECT_RATIO, unit[w->correction_unit], i, t);
    v = ref_exp(q);
    *inside = ref_within(ref, v, low, high, q == 0);
    if (w->correction == GRPO_CORRECTION_TRUNCATE) { *inside = 1; return ref_note(ref, v < low ? low : v > high ? high : v); }
    if (!*inside) return 0;
    return w->correction == GRPO_CORRECTION_MASK ? ref_note(ref, v) : 1;
}

static inline int ref_vetoed(reference *ref, int64_t i) {
    const grpo_weight *w = &ref->obj->weight;
    reference_real x;
    int64_t k;
    for (k = ref->b->offset[i]; w->veto != 0 && k < ref->b->offset[i] + ref->b->length[i]; k++) {
        if (!ref_counts(ref, i, k)) continue;
        x = ref_rollout_log_ratio(ref, k);
        if (!ref_within(ref, ref_exp(x), w->veto, HUGE_VAL, x == 0)) return 1;
    }
    return 0;
}

static inline int ref_accepted(reference *ref, int64_t i, int64_t t) {
    const grpo_weight *w = &ref->obj->weight;
    reference_real x;
    if (ref_vetoed(ref, i)) return 0;
    if (w->reject == GRPO_REJECT_NONE) return 1;
    x = ref_pooled(ref, w->reject, w->reject_unit, i, t);
    return ref_within(ref, w->reject == GRPO_REJECT_RATIO ? ref_exp(x) : x, w->reject_low, w->reject_high, x == 0);
}

/* g of token t of sequence i */
static inline reference_real ref_drift(reference *ref, int64_t i, int64_t t) {
    const grpo_weight *w = &ref->obj->weight;
    const int64_t begin = w->drift == GRPO_DRIFT_TOKEN ? t : ref->b->offset[i], end = w->drift == GRPO_DRIFT_TOKEN ? t + 1 : begin + ref->b->length[i];
    reference_real sum = 0, g;
    int64_t k;
    if (w->drift == GRPO_DRIFT_NONE) return 1;
    for (k = begin; k < end; k++) if (ref->active[k]) sum += ref_log(ref, ref->fixed[k]) - ref_log(ref, ref->b->token[TOKEN_OLD][k]);
    g = ref_exp(w->drift == GRPO_DRIFT_SEQUENCE_MEAN ? sum / (reference_real)ref->count[i] : sum);
    return ref_note(ref, g < w->drift_low ? w->drift_low : g > w->drift_high ? w->drift_high : g);
}

static inline void ref_find_active(reference *ref, int64_t i) {
    int64_t t;
    int inside;
    ref->count[i] = 0;
    for (t = ref->b->offset[i]; t < ref->b->offset[i] + ref->b->length[i]; t++) {
        if (!ref_counts(ref, i, t)) continue;
        ref->weight[t] = ref_weight(ref, i, t, &inside);
        if (!ref_accepted(ref, i, t)) ref->weight[t] = inside = 0;
        ref->rejected += !inside;
        ref->active[t] = inside || ref->obj->weight.rejected != GRPO_REJECTED_UNMASK;
        ref->count[i] += ref->active[t];
        ref->whole[t] = 1;
        if (ref->active[t]) ref->l[t] = ref->fixed[t] = ref->b->token[TOKEN_LOGP][t];
    }
}

/* v over its mean in the batch */
static inline void ref_norm(reference *ref) {
    const grpo_correction_unit unit = ref->obj->weight.correction_unit;
    const int whole = unit == GRPO_CORRECTION_SEQUENCE_SUM || unit == GRPO_CORRECTION_SEQUENCE_MEAN;
    reference_real sum = 0, n = 0;
    int64_t i, t;
    if (ref->obj->weight.correction_norm == GRPO_CORRECTION_NORM_NONE) return;
    for (i = 0; i < ref->b->n_sequences; i++) {
        const reference_real each = whole ? (reference_real)ref->count[i] : 1;
        for (t = ref->b->offset[i]; t < ref_end(ref, i); t++) if (ref->active[t]) sum += ref->weight[t] / each, n += !whole;
        n += whole && ref->count[i] > 0;
    }
    if (sum == 0) return;
    for (t = 0; t < ref->b->n_tokens; t++) ref->weight[t] = ref_note(ref, ref->weight[t] / ref_note(ref, sum / n));
}

/* FIPO's factor on the weight of token t */
static inline reference_real ref_ahead(reference *ref, int64_t i, int64_t t) {
    const grpo_weight *w = &ref->obj->weight;
    const grpo_real *o = ref->b->token[TOKEN_OLD];
    reference_real F = 0, f, d;
    int64_t k;
    for (k = t; k < ref_end(ref, i); k++) {
        if (!ref->active[k]) continue;
        d = ref_log(ref, ref->fixed[k]) - ref_log(ref, o[k]);
        if (w->future_max != 0 && ref_jumps(ref, ref_exp(d), w->future_max)) continue;
        F += d * ref_exp(-(reference_real)(k - t) / w->future_half_life * ref_ln(2));
    }
    f = ref_exp(F);
    f = f < w->future_low ? w->future_low : f > w->future_high ? w->future_high : f;
    if (!(ref->advantage[t] < 0 && w->future_safe != 0 && ref_jumps(ref, ref_exp(ref->fixed[t] - o[t]), w->future_safe))) return f;
    return f < w->future_safe_low ? w->future_safe_low : f > w->future_safe_high ? w->future_safe_high : f;
}

static inline void ref_weigh(reference *ref) {
    const grpo_weight *w = &ref->obj->weight;
    int64_t i, t;
    ref_begin(ref);
    ref_norm(ref);
    for (i = 0; i < ref->b->n_sequences; i++) for (t = ref->b->offset[i]; t < ref_end(ref, i); t++) {
        if (!ref->active[t]) continue;
        if (w->future != GRPO_FUTURE_NONE) ref->weight[t] *= ref_ahead(ref, i, t);
        if (w->given != GRPO_GIVEN_NONE) ref->weight[t] *= ref->b->token[TOKEN_WEIGHT][t];
        if (w->given == GRPO_GIVEN_TERM) ref->whole[t] = ref->b->token[TOKEN_WEIGHT][t];
    }
    ref->unsure |= ref->beyond;
}

/* KL between coins that show heads with p0 = e^x and p = e^l; more than 1 is no probability */
static inline reference_real ref_coins(reference *ref, reference_real x, reference_real l) {
    const reference_real p0 = ref_exp(x), rest = -ref_change(x, 0), heads = p0 * (x - l);
    reference_real tails;
    if (x > 0 || l > 0) ref->beyond = 1;
    if (ref->beyond) return 0;
    if (l == 0) return x < 0 ? HUGE_VAL : 0;
    tails = x < 0 ? -rest * ref_ln1p(-ref_change(l, x) / rest) : 0;
    if (!(heads + tails > 0x1p-40 * ref_abs(heads) && heads + tails < HUGE_VAL)) ref->beyond = 1;      /* nothing is left of it, or an overflow */
    return heads + tails;
}

static inline int ref_ring(reference *ref, reference_real w, reference_real A) {
    const grpo_weight *c = &ref->obj->weight;
    if (!ref_jumps_out(ref, w, 1 - c->trust_low, 1 + c->trust_high)) return 1;
    if (A >= 0 && !ref_jumps(ref, w, 1 - (reference_real)c->ring_low)) return 1;
    return A <= 0 && !ref_jumps(ref, -w, -(1 + (reference_real)c->ring_high));
}

static inline int ref_trusted(reference *ref, int64_t t) {
    const grpo_weight *c = &ref->obj->weight;
    const reference_real A = ref->advantage[t], l = ref_log(ref, ref->fixed[t]), x = ref_log(ref, ref_old(ref, t)), rise = ref_change(l, x);
    const reference_real y = ref_log_ratio(ref, ref->fixed, ref->unit_fixed[t], t), w = ref_ratio(ref, y);
    const reference_real low = 1 - (reference_real)c->trust_low, high = 1 + (reference_real)c->trust_high;
    switch (c->trust) {
    case GRPO_TRUST_ONE_SIDED:        return !(A > 0 && ref_jumps(ref, w, high)) && !(A < 0 && ref_jumps(ref, -w, -low));
    case GRPO_TRUST_TWO_SIDED:        return !ref_jumps(ref, w, high) && !ref_jumps(ref, -w, -low);
    case GRPO_TRUST_RING:             return ref_ring(ref, w, A);
    case GRPO_TRUST_LOG_TWO_SIDED:    return !ref_jumps(ref, y, c->trust_high) && !ref_jumps(ref, -y, c->trust_low);
    case GRPO_TRUST_PROBABILITY:      return !(A > 0 && ref_jumps(ref, rise, c->trust_high)) && !(A < 0 && ref_jumps(ref, -rise, c->trust_low));
    case GRPO_TRUST_PROBABILITY_BOTH: return !ref_jumps(ref, ref_abs(rise), c->trust_high);
    case GRPO_TRUST_BINARY_KL:
        if (A > 0 && l > x) return !ref_jumps(ref, ref_coins(ref, x, l), c->trust_high);
        return !(A < 0 && l < x && ref_jumps(ref, ref_coins(ref, x, l), c->trust_low));
    case GRPO_TRUST_K2:               return !ref_jumps(ref, ref_note(ref, (l - x) * (l - x) / 2), c->trust_high);
    default:                          return 1;
    }
}

/* is the sequence too far from what sampled it? */
static inline int ref_strays(reference *ref, int64_t i) {
    const grpo_weight *c = &ref->obj->weight;
    const grpo_real *o = ref->b->token[TOKEN_OLD], *b = ref->b->token[TOKEN_ROLLOUT], *x = c->off_policy == GRPO_OFF_POLICY_OLD ? o : b;
    reference_real sum = 0;
    int64_t t;
    if (c->off_policy == GRPO_OFF_POLICY_NONE || ref->count[i] == 0) return 0;
    for (t = ref->b->offset[i]; t < ref_end(ref, i); t++) {
        if (!ref->active[t]) continue;
        if (c->off_policy == GRPO_OFF_POLICY_TOTAL_VARIATION) sum += ref_abs(ref_exp(ref_log(ref, o[t]) - ref_log(ref, b[t])) - 1);
        else sum += ref_log(ref, x[t]) - ref_log(ref, ref->fixed[t]);
    }
    return ref_jumps(ref, sum / (reference_real)ref->count[i], c->off_policy_max);
}

/* of a response that does: does off_policy drop the token? */
static inline int ref_drops(const reference *ref, int64_t t) {
    const double A = (double)ref->advantage[t], q = (double)ref->b->token[TOKEN_OLD][t] - (double)ref->b->token[TOKEN_ROLLOUT][t];
    return ref->obj->weight.off_policy == GRPO_OFF_POLICY_TOTAL_VARIATION ? (q > 0 && A > 0) || (q < 0 && A < 0) : A < 0;
}

/* M, into the weights */
static inline void ref_find_dropped(reference *ref, int64_t i) {
    const grpo_weight *c = &ref->obj->weight;
    int64_t t;
    int strays;
    ref_begin(ref);
    strays = ref_strays(ref, i);
    for (t = ref->b->offset[i]; t < ref->b->offset[i] + ref->b->length[i]; t++) {
        if (!ref->active[t]) continue;
        ref->dropped[t] = (strays && ref_drops(ref, t)) || (c->trust != GRPO_TRUST_NONE && !ref_trusted(ref, t));
        ref->weight[t] = ref->dropped[t] ? 0 : ref_note(ref, ref->weight[t] * ref_drift(ref, i, t));
        if (c->selected == GRPO_SELECTED_KEEP && !ref->b->selected[t]) ref->weight[t] = 0;
        if (c->selected == GRPO_SELECTED_DROP && ref->b->selected[t]) ref->weight[t] = 0;
    }
    ref->unsure |= ref->beyond;
}

/* ---- aggregation --------------------------------------------------------------------------------------------------------------- */

static inline int64_t ref_group_tokens(const reference *ref, int64_t g) {
    int64_t i, n = 0;
    for (i = ref->b->group_begin[g]; i < ref->b->group_begin[g + 1]; i++) n += ref->count[i];
    return n;
}

/* K n: segments of sequence i with active tokens, active tokens in that of t */
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

static inline int64_t ref_first_active(const reference *ref, int64_t i) {
    int64_t t = ref->b->offset[i];
    while (!ref->active[t]) t++;
    return t;
}

/* responses whose first active token has A of the sign of that of sequence i */
static inline int64_t ref_like(const reference *ref, int64_t i) {
    int64_t k, n = 0;
    for (k = 0; k < ref->b->n_sequences; k++)
        n += ref->count[k] && (ref->advantage[ref_first_active(ref, k)] > 0) == (ref->advantage[ref_first_active(ref, i)] > 0);
    return n;
}

/* 1 / c, of token t in sequence i of group g */
static inline reference_real ref_divisor(const reference *ref, int64_t g, int64_t i, int64_t t) {
    const grpo_aggregation *a = &ref->obj->aggregation;
    int64_t k, tokens = 0, sequences = 0, groups = 0, all = a->empty == GRPO_EMPTY_COUNT;
    for (k = 0; k < ref->b->n_sequences; k++) tokens += ref->count[k], sequences += all || ref->count[k] > 0;
    for (k = 0; k < ref->b->n_groups; k++) groups += all || ref_group_tokens(ref, k) > 0;
    switch (a->kind) {
    case GRPO_TOKEN_MEAN:            return (reference_real)tokens;
    case GRPO_TOKEN_MEAN_VARIED:
        for (tokens = 0, k = 0; k < ref->b->n_groups; k++) tokens += ref_is_varied(ref, k) ? ref_group_tokens(ref, k) : 0;
        return (reference_real)(tokens ? tokens : 1);
    case GRPO_SEQ_MEAN_TOKEN_MEAN:   return (reference_real)(sequences * ref->count[i]);
    case GRPO_SEQ_MEAN_TOKEN_SUM:    return (reference_real)sequences;
    case GRPO_SEQ_MEAN_CONSTANT:     return (reference_real)sequences * a->constant;
    case GRPO_CONSTANT:              return a->constant;
    case GRPO_GROUP_MEAN_TOKEN_MEAN: return (reference_real)(groups * ref_group_tokens(ref, g));
    case GRPO_SEQ_MEAN_LENGTH_POWER:
        return (reference_real)sequences * ref_exp((1 - (reference_real)a->power) * ref_ln((reference_real)ref->count[i]));
    case GRPO_SEQ_SUM_TOKEN_MEAN:    return (reference_real)ref->count[i];
    case GRPO_GROUP_MEAN:            return (reference_real)(groups * ref->count[i]);
    case GRPO_GROUP_MEAN_SEQ_MEAN:
        for (sequences = 0, k = ref->b->group_begin[g]; k < ref->b->group_begin[g + 1]; k++) sequences += all || ref->count[k] > 0;
        return (reference_real)(groups * sequences * ref->count[i]);
    case GRPO_SEQ_MEAN_SEGMENT_MEAN: return (reference_real)(sequences * ref_segments_times_tokens(ref, i, t));
    case GRPO_SEQ_MEAN_BY_SIGN:      return (reference_real)(ref->count[i] * ref_like(ref, i));
    default:                         return 1;
    }
}

static inline int ref_is_likely(const reference *ref, int64_t i, int64_t t) {
    switch (ref->obj->penalty.likelihood_on) {
    case GRPO_LIKELIHOOD_CORRECT:  return ref->b->reward[i] > 0;
    case GRPO_LIKELIHOOD_POSITIVE: return ref->advantage[t] > 0;
    case GRPO_LIKELIHOOD_SELECTED: return ref->b->selected[t];
    case GRPO_LIKELIHOOD_ALL:      return 1;
    case GRPO_LIKELIHOOD_NOT_NEGATIVE: return ref->advantage[t] >= 0;
    default:                       return 0;
    }
}

/* a - b > margin, exactly: what the difference loses decides where it is the margin */
static inline int ref_leads(reference_real a, reference_real b, reference_real margin) {
    const reference_real d = a - b, v = d - a, lost = (a - (d - v)) - (b + v);
    return d > margin || (d == margin && lost > 0);
}

static inline int ref_outdoes(const reference *ref, int64_t i, int64_t j) {
    return ref->count[i] && ref->count[j] && ref_leads(ref->b->reward[i], ref->b->reward[j], ref->obj->penalty.pair_margin);
}

/* the divisors of the sign of A, and of what is beside the terms */
static inline void ref_find_divisors(reference *ref) {
    const grpo_penalty *p = &ref->obj->penalty;
    int64_t g, i, j, t, likely = 0, pairs = 0, responses = 0, sign[2] = { 0, 0 };
    for (g = 0; g < ref->b->n_groups; g++) for (i = ref->b->group_begin[g]; i < ref->b->group_begin[g + 1]; i++) {
        for (j = ref->b->group_begin[g]; j < ref->b->group_begin[g + 1]; j++) pairs += ref_outdoes(ref, i, j);
        for (t = ref->b->offset[i]; t < ref->b->offset[i] + ref->b->length[i]; t++) {
            if (!ref->active[t]) continue;
            sign[ref->advantage[t] > 0]++;
            likely += ref_is_likely(ref, i, t);
        }
    }
    for (i = 0; i < 2; i++) ref->by_sign[i] = ref->obj->aggregation.kind == GRPO_TOKEN_MEAN_BY_SIGN && sign[i] ? 1 / (reference_real)sign[i] : 1;
    ref->likelihood = likely ? ref->factor * p->likelihood_coef / (reference_real)likely : 0;
    ref->pairs = pairs && p->pairs != GRPO_PAIRS_NONE ? ref->factor * p->pair_coef / (reference_real)pairs : 0;
    for (i = 0; i < ref->b->n_sequences; i++) responses += ref->count[i] > 0;
    if (!pairs && responses && p->pairs == GRPO_PAIRS_MARGIN_ELSE_SIGN) ref->signs = ref->factor * p->pair_coef / (reference_real)responses;
}

static inline void ref_find_coefficients(reference *ref) {
    int64_t g, i, t;
    ref_find_divisors(ref);
    for (g = 0; g < ref->b->n_groups; g++) for (i = ref->b->group_begin[g]; i < ref->b->group_begin[g + 1]; i++) {
        for (t = ref->b->offset[i]; t < ref_end(ref, i); t++) {
            if (!ref->active[t]) continue;
            ref->coefficient[t] = ref_note(ref, ref->factor / ref_note(ref, ref_divisor(ref, g, i, t)));
            ref->coefficient[t] = ref_note(ref, ref->coefficient[t] * ref->by_sign[ref->advantage[t] > 0]);
        }
    }
}

/* ---- the loss ------------------------------------------------------------------------------------------------------------------ */

/* NaN, which is never judged, where a log-probability is infinite or too large */
static inline void ref_find_units(reference *ref) {
    int64_t i, t;
    for (i = 0; i < ref->b->n_sequences; i++) for (t = ref->b->offset[i]; t < ref_end(ref, i); t++) {
        ref_begin(ref);
        if (ref->active[t]) ref->unit_fixed[t] = ref_unit_log_ratio(ref, ref->fixed, i, t);
        if (ref->beyond) ref->unit_fixed[t] = NAN;
    }
}

static inline reference_real *ref_zeros(int64_t n) {
    reference_real *x = (reference_real *)test_alloc(n, sizeof *x);
    int64_t k;
    for (k = 0; k < n; k++) x[k] = 0;
    return x;
}

static inline uint8_t *ref_flags(int64_t n) {
    uint8_t *x = (uint8_t *)test_alloc(n, 1);
    int64_t k;
    for (k = 0; k < n; k++) x[k] = 0;
    return x;
}

static inline int ref_has_ratio(const reference *ref) {
    const grpo_penalty *p = &ref->obj->penalty;
    const int without = ref->obj->surrogate.kind == GRPO_SURROGATE_SCORE || ref->obj->surrogate.kind == GRPO_SURROGATE_NONE;
    return !without || (p->kl != GRPO_KL_NONE && p->kl_ratio != GRPO_KL_RATIO_NONE);
}

static inline void reference_alloc(reference *ref, const grpo_objective *obj, const rollouts *b, const grpo_real *advantage,
                                   int64_t ranks) {
    int64_t i;
    memset(ref, 0, sizeof *ref);
    ref->obj = obj;
    ref->b = b;
    ref->advantage = advantage;
    ref->factor = ranks ? (reference_real)ranks : 1;
    ref->active = ref_flags(b->n_tokens);
    ref->dropped = ref_flags(b->n_tokens);
    ref->l = ref_zeros(b->n_tokens);
    ref->fixed = ref_zeros(b->n_tokens);
    ref->weight = ref_zeros(b->n_tokens);
    ref->whole = ref_zeros(b->n_tokens);
    ref->coefficient = ref_zeros(b->n_tokens);
    ref->unit_fixed = ref_zeros(b->n_tokens);
    ref->count = (int64_t *)test_alloc(b->n_sequences, sizeof *ref->count);
    for (i = 0; i < b->n_sequences; i++) ref_find_active(ref, i);
    ref_find_coefficients(ref);
    ref->unsure |= ref->beyond;
    ref_weigh(ref);
    if (ref_has_ratio(ref) || obj->weight.trust != GRPO_TRUST_NONE) ref_find_units(ref);
    for (i = 0; i < b->n_sequences; i++) ref_find_dropped(ref, i);
}

static inline void reference_free(reference *ref) {
    free(ref->active); free(ref->dropped);
    free(ref->l); free(ref->fixed); free(ref->weight); free(ref->whole);
    free(ref->coefficient); free(ref->unit_fixed);
    free(ref->count);
}

/* c (v S + P), or of them what is asked for */
static inline reference_real ref_term(reference *ref, int64_t t, reference_real c, reference_real unit, int policy, int penalty) {
    ref_size S_size = { 1, 0, 0 }, P_size = { 1, 0, 0 };
    const reference_real v = ref_note(ref, ref->weight[t]);
    reference_real S = policy && v != 0 ? ref_note(ref, v * ref_note(ref, ref_surrogate(ref, t, unit, &S_size))) : 0;
    reference_real P = penalty ? ref_note(ref, ref->whole[t] * ref_note(ref, ref_penalty(ref, t, unit, &P_size))) : 0;
    const reference_real S_scale = S_size.added != 0 ? v * S_size.added : ref_abs(S);
    P_size.added *= ref->whole[t];
    P_size.derivative *= ref->whole[t];
    ref->size += c * (S_scale + P_size.added);
    ref->scale += ref_note(ref, c * S_size.rounding * S_scale) + ref_note(ref, c * P_size.added);
    ref->steep += ref_note(ref, c * v * ref_abs(S_size.derivative)) + ref_note(ref, c * P_size.derivative);
    return ref_note(ref, c * S) + ref_note(ref, c * P);
}

/* y of the unit of token t of sequence i */
static inline reference_real ref_unit(reference *ref, int64_t i, int64_t t) {
    return ref_ratio_is_own(ref) || !ref_has_ratio(ref) ? ref->unit_fixed[t] : ref_unit_log_ratio(ref, ref->l, i, t);
}

static inline reference_real ref_sequence(reference *ref, int64_t i) {
    reference_real sum = 0;
    int64_t t;
    for (t = ref->b->offset[i]; t < ref_end(ref, i); t++) {
        if (ref->active[t]) sum += ref_term(ref, t, ref->coefficient[t], ref_unit(ref, i, t), !is_of_a_group(ref->obj->surrogate.kind), 1);
    }
    return sum;
}

/* ---- groups, and what is beside the terms ----------------------------------------------------------------------------------------
 * With everything as written, sums over all the others for each; the size of a derivative is what it may lose, as the scales say. */

/* y_i with all its clamps; a gradient of the token moves it by what its tokens move */
static inline reference_real ref_score_of(reference *ref, const reference_real *l, int64_t i) {
    const grpo_ratio_axis *a = &ref->obj->ratio;
    const int64_t first = ref_first_active(ref, i);
    reference_real y = ref_unit_log_ratio(ref, l, i, first);
    int64_t t;
    if (a->gradient == GRPO_GRADIENT_TOKEN) {
        y = ref->unit_fixed[first];
        for (t = ref->b->offset[i]; t < ref->b->offset[i] + ref->b->length[i]; t++)
            if (ref->active[t]) y += ref_token_log_ratio(ref, l, t) - ref_token_log_ratio(ref, ref->fixed, t);
    }
    return ref_clamp(ref, y, a->unit_clamp_low, a->unit_clamp_high);
}

/* o_i of `target` */
static inline reference_real ref_old_score(reference *ref, int64_t i) {
    reference_real sum = 0;
    int64_t t;
    for (t = ref->b->offset[i]; t < ref_end(ref, i); t++) if (ref->active[t]) sum += ref_log(ref, ref->b->token[TOKEN_OLD][t]);
    return ref->obj->ratio.unit == GRPO_UNIT_SEQUENCE_MEAN ? sum / (reference_real)ref->count[i] : sum;
}

enum { REFERENCE_MOST = 64 };
/* y: the scores; size: that of them; rate: the largest size of ds/dy */
typedef struct {
    int n;
    int64_t sequence[REFERENCE_MOST];
    reference_real y[REFERENCE_MOST], A[REFERENCE_MOST], T[REFERENCE_MOST], size[REFERENCE_MOST], rate, log_z;
    reference_real still[REFERENCE_MOST], old[REFERENCE_MOST];          /* y inside a stop-gradient, and that of logp_old */
} ref_group;

/* a value, its size in the sense of the scales, and that of its derivatives by all y, sum of absolute values */
typedef struct { reference_real value, size, slope; } ref_worth;

static inline ref_worth ref_variance_of(const reference *ref, const ref_group *g, int i) {
    const reference_real k = ref->obj->surrogate.strength, n = g->n;
    reference_real mean = 0, size = 0, e, most;
    ref_worth w = { 0, 0, 0 };
    int j;
    if (g->n < 2) return w;
    for (j = 0; j < g->n; j++) { mean += g->y[j] / n; size += g->size[j] / n; }
    e = k * (g->y[i] - mean) - g->A[i];
    most = ref_abs(k) * (g->size[i] + size) + ref_abs(g->A[i]);
    w.value = e * e / (2 * (n - 1));
    w.size = most * most / (2 * (n - 1));
    w.slope = 2 * ref_abs(k) * most / (n - 1);
    return w;
}

static inline ref_worth ref_labels_of(const reference *ref, const ref_group *g, int i) {
    const int up = g->A[i] > 0;
    const reference_real tau = up ? ref->obj->surrogate.tau_pos : ref->obj->surrogate.tau_neg;
    reference_real z[REFERENCE_MOST], top = 0, sum, n = 0, largest = 0;
    ref_worth w = { 0, 0, 0 };
    int j, alike = 0;
    for (j = 0; j < g->n; j++) alike += (g->A[j] > 0) == up;
    if (alike == g->n) return w;
    for (j = 0; j < g->n; j++) {
        if ((g->A[j] > 0) != up) continue;
        z[j] = (up ? -g->y[j] : g->y[j]) / tau;
        if (z[j] > top) top = z[j];
        if (g->size[j] / tau > largest) largest = g->size[j] / tau;
        n = n + 1;
    }
    for (sum = ref_exp(-top), j = 0; j < g->n; j++) if ((g->A[j] > 0) == up) sum += ref_exp(z[j] - top);
    for (j = 0; j < g->n; j++) if ((g->A[j] > 0) == up) {
        const reference_real p = ref_exp(z[j] - top) / sum;
        w.size += p * g->size[j] / tau / n;
        w.slope += p / tau / n * (1 + largest);
    }
    w.value = (top + ref_ln(sum)) / n;
    if (top == 0) for (w.value = 0, sum = 0, j = 0; j < g->n; j++) if ((g->A[j] > 0) == up) sum += ref_exp(z[j]);
    if (top == 0) w.value = ref_ln1p(sum) / n;
    w.size += w.value;
    return w;
}

static inline ref_worth ref_balance_of(const reference *ref, const ref_group *g, int i) {
    const reference_real k = ref->obj->surrogate.strength, e = g->log_z + g->y[i] - k * g->A[i];
    const reference_real most = ref_abs(g->log_z) + g->size[i] + ref_abs(k * g->A[i]);
    ref_worth w;
    w.value = e * e;
    w.size = most * most;
    w.slope = 2 * most;
    return w;
}

static inline ref_worth ref_pairs_of(const reference *ref, const ref_group *g, int i) {
    const reference_real k = ref->obj->surrogate.strength, margin = ref->obj->surrogate.margin;
    reference_real pairs = 0;
    ref_worth w = { 0, 0, 0 };
    int a, b;
    for (a = 0; a < g->n; a++) for (b = 0; b < g->n; b++) if (ref_leads(g->A[a], g->A[b], margin)) pairs = pairs + 1;
    for (b = 0; b < g->n; b++) {
        const reference_real x = k * (g->y[i] - g->y[b]);
        if (!ref_leads(g->A[i], g->A[b], margin)) continue;
        w.value += ref_log_one_plus_exp(-x) / pairs;
        w.size += (ref_log_one_plus_exp(-x) + ref_abs(k) * ref_sigmoid(-x) * (g->size[i] + g->size[b])) / pairs;
        w.slope += 2 * ref_abs(k) * ref_sigmoid(-x) / pairs * (1 + ref_abs(k) * (g->size[i] + g->size[b]));
    }
    return w;
}

/* of `target` too, which has the old scores beside A/tau */
static inline ref_worth ref_contrast_of(const reference *ref, const ref_group *g, int i) {
    const reference_real k = ref->obj->surrogate.strength, tau = ref->obj->surrogate.tau_pos;
    const reference_real old = ref->obj->surrogate.kind == GRPO_SURROGATE_TARGET ? k : 0;
    reference_real top = old * g->old[0] + g->A[0] / tau, high = k * g->y[0], weights = 0, sum = 0, p, largest = 0;
    ref_worth w = { 0, 0, 0 };
    int j;
    for (j = 0; j < g->n; j++) {
        if (old * g->old[j] + g->A[j] / tau > top) top = old * g->old[j] + g->A[j] / tau;
        if (k * g->y[j] > high) high = k * g->y[j];
        if (g->size[j] > largest) largest = g->size[j];
        if (old != 0 && ref_abs(g->old[j]) > largest) largest = ref_abs(g->old[j]);
    }
    for (j = 0; j < g->n; j++) { weights += ref_exp(old * g->old[j] + g->A[j] / tau - top); sum += ref_exp(k * g->y[j] - high); }
    p = ref_exp(old * g->old[i] + g->A[i] / tau - top) / weights;
    w.value = p * (ref_ln(sum) - (k * g->y[i] - high));
    w.slope = 2 * p * ref_abs(k) * (1 + ref_abs(k) * largest);
    w.size = ref_abs(w.value) + 2 * p * ref_abs(k) * largest;
    return w;
}

/* mean and deviation are inside a stop-gradient; not judged where the scores are so close that rounding may be all of the deviation */
static inline ref_worth ref_standardised_of(reference *ref, const ref_group *g, int i) {
    const reference_real k = ref->obj->surrogate.strength, n = g->n;
    reference_real mean = 0, size = 0, V = 0, s = 1, e, most;
    ref_worth w = { 0, 0, 0 };
    int j, same = 1;
    for (j = 0; j < g->n; j++) { mean += g->still[j] / n; size += g->size[j] / n; }
    for (j = 0; j < g->n; j++) {
        V += (g->still[j] - mean) * (g->still[j] - mean) / (n - 1);
        same &= g->still[j] == g->still[0];
    }
    if (g->n > 1) s = (same ? 0 : ref_sqrt(V)) + ref->obj->surrogate.score_eps;
    if (g->n > 1 && !same && s < 0x1p-40 * size) ref->beyond = 1;
    if (s == 0) { w.value = w.size = g->A[i] * g->A[i]; return w; }
    e = g->A[i] - k * (g->y[i] - (g->n > 1 ? mean : g->still[i])) / s;
    most = ref_abs(g->A[i]) + ref_abs(k) * (g->size[i] + size) / s;
    w.value = e * e;
    w.size = ref_note(ref, most * most);
    w.slope = 2 * ref_abs(k) / s * (most + 0x1p-31 * ref_abs(k) / s);
    return w;
}

/* the same with nothing inside one */
static inline ref_worth ref_regression_of(reference *ref, const ref_group *g, int i) {
    const reference_real k = ref->obj->surrogate.strength, n = g->n;
    reference_real mean = 0, size = 0, V = 0, s, D, e, most, all = 0;
    ref_worth w = { 0, 0, 0 };
    int j, same = 1;
    for (j = 0; j < g->n; j++) { mean += g->y[j] / n; size += g->size[j] / n; }
    for (j = 0; j < g->n; j++) {
        V += (g->y[j] - mean) * (g->y[j] - mean);
        all += g->size[j] + size;
        same &= g->y[j] == g->y[0];
    }
    s = ref_decide(ref, same) ? 0 : ref_sqrt(V / (n - 1));
    D = s + ref->obj->surrogate.score_eps;
    if (!same && s < 0x1p-40 * size) ref->beyond = 1;
    if (g->n == 1 || D == 0) { w.value = w.size = g->A[i] * g->A[i]; return w; }
    e = g->A[i] - k * (g->y[i] - mean) / D;
    most = ref_abs(g->A[i]) + ref_abs(k) * (g->size[i] + size) / D;
    w.value = e * e;
    w.size = ref_note(ref, most * most);
    w.slope = 2 * ref_abs(k) / D * (most + 0x1p-31 * ref_abs(k) / D) * (2 + (same ? 0 : (g->size[i] + size) * all / (D * (n - 1) * s)));
    return w;
}

static inline ref_worth ref_hinge_of(reference *ref, const ref_group *g, int i) {
    const grpo_surrogate *s = &ref->obj->surrogate;
    const reference_real k = s->strength;
    reference_real pairs = 0, x;
    ref_worth w = { 0, 0, 0 };
    int a, b;
    for (a = 0; a < g->n; a++) for (b = 0; b < g->n; b++) if (ref_leads(g->A[a], g->A[b], s->margin)) pairs = pairs + 1;
    for (b = 0; b < g->n; b++) {
        if (!ref_leads(g->A[i], g->A[b], s->margin)) continue;
        x = s->shift - k * (g->y[i] - g->y[b]);
        w.size += (ref_abs((reference_real)s->shift) + ref_abs(k) * (g->size[i] + g->size[b])) / pairs;
        if (!ref_jumps(ref, x, 0)) continue;
        w.value += x / pairs;
        w.slope += 2 * ref_abs(k) / pairs;
    }
    return w;
}

static inline reference_real ref_largest_size(const ref_group *g) {
    reference_real largest = 0;
    int j;
    for (j = 0; j < g->n; j++) if (g->size[j] > largest) largest = g->size[j];
    return largest;
}

/* e^z_i over their sum, of the n numbers where `of` */
static inline reference_real ref_share(const reference_real *z, const int *of, int n, int i) {
    reference_real sum = 0;
    int j;
    for (j = 0; j < n; j++) if (of[j]) sum += ref_exp(z[j] - z[i]);
    return 1 / sum;
}

static inline ref_worth ref_contrast_means_of(const reference *ref, const ref_group *g, int i) {
    const grpo_surrogate *s = &ref->obj->surrogate;
    const int lse = s->kind == GRPO_SURROGATE_CONTRAST_LSE;
    reference_real z[REFERENCE_MOST], v, tau = s->tau_neg, others, sum = 0, top = -HUGE_VAL, largest = ref_largest_size(g);
    int plus[REFERENCE_MOST], j, n = 0;
    ref_worth w = { 0, 0, 0 };
    for (j = 0; j < g->n; j++) { z[j] = -(reference_real)s->length_rate * g->T[j]; n += plus[j] = g->A[j] > 0; }
    if (n == 0 || n == g->n) return w;
    others = g->n - n;
    if (!plus[i] && lse) return w;
    if (!plus[i]) { w.value = g->y[i] / others; w.size = g->size[i] / others; w.slope = 1 / others; return w; }
    v = ref_share(z, plus, g->n, i);
    if (!lse) { w.value = -v * g->y[i]; w.size = v * g->size[i]; w.slope = v; return w; }
    for (j = 0; j < g->n; j++) if (!plus[j] && g->y[j] > top) top = g->y[j];
    for (j = 0; j < g->n; j++) if (!plus[j]) sum += ref_exp((g->y[j] - top) / tau);
    w.value = v * (top + tau * ref_ln(sum / others) - g->y[i]);
    w.size = v * (2 * g->size[i] + tau * ref_ln(others) + 2 * largest);
    w.slope = 2 * v * (1 + largest / tau);
    return w;
}

static inline ref_worth ref_soft_pairs_of(const reference *ref, const ref_group *g, int i) {
    const reference_real k = ref->obj->surrogate.strength, pairs = (reference_real)g->n * (g->n - 1), largest = ref_largest_size(g);
    ref_worth w = { 0, 0, 0 };
    int j;
    for (j = 0; j < g->n; j++) {
        const reference_real D = k * (g->y[i] - g->y[j]), p = ref_sigmoid((g->A[i] - g->A[j]) / ref->obj->surrogate.tau_pos);
        const reference_real gap = ref_abs(k * (ref_sigmoid(D) - p));
        if (j == i) continue;
        w.value += (ref_log_one_plus_exp(D) - p * D) / pairs;
        w.size += (ref_log_one_plus_exp(D) + p * ref_abs(D) + gap * (g->size[i] + g->size[j])) / pairs;
        w.slope += 2 * gap * (1 + ref_abs(k) * largest) / pairs;
    }
    return w;
}

static inline ref_worth ref_match_of(reference *ref, const ref_group *g, int i) {
    const reference_real k = ref->obj->surrogate.strength, reach = 1 + ref_abs(k) * ref_largest_size(g);
    reference_real z[REFERENCE_MOST], p, u, q, r;
    int all[REFERENCE_MOST], j;
    ref_worth w = { 0, 0, 0 };
    for (j = 0; j < g->n; j++) { z[j] = g->A[j] / ref->obj->surrogate.tau_pos; all[j] = 1; }
    p = ref_share(z, all, g->n, i);
    for (j = 0; j < g->n; j++) z[j] = k * g->y[j];
    u = ref_share(z, all, g->n, i);
    if (g->n == 1) return w;
    if (ref->obj->surrogate.kind == GRPO_SURROGATE_MATCH) {
        w.value = (p - u) * (p - u);
        w.slope = 4 * (p + u) * ref_abs(k) * u * reach;
        w.size = w.value + 2 * ref_abs(p - u) * (p + u) + 4 * ref_abs(p - u) * u * (reach - 1);
        return w;
    }
    ref_note(ref, p);
    ref_note(ref, u);
    if (ref->beyond) return w;
    q = ref_ln1p((p - u) / (p + u));
    r = ref_ln1p((u - p) / (p + u));
    w.value = (p * q + u * r) / 2;
    w.slope = ref_abs(r * k) * u * reach;
    w.size = (p * ref_abs(q) + u * ref_abs(r)) / 2 + ref_abs(r) * u * (reach - 1);
    return w;
}

static inline ref_worth ref_worth_of(reference *ref, const ref_group *g, int i) {
    ref_worth w = { 0, 0, 0 };
    switch (ref->obj->surrogate.kind) {
    case GRPO_SURROGATE_VARIANCE: w = ref_variance_of(ref, g, i); break;
    case GRPO_SURROGATE_LABELS:   w = ref_labels_of(ref, g, i); break;
    case GRPO_SURROGATE_BALANCE:  w = ref_balance_of(ref, g, i); break;
    case GRPO_SURROGATE_PAIRS:    w = ref_pairs_of(ref, g, i); break;
    case GRPO_SURROGATE_TARGET:
    case GRPO_SURROGATE_CONTRAST: w = ref_contrast_of(ref, g, i); break;
    case GRPO_SURROGATE_STANDARDISED: w = ref_standardised_of(ref, g, i); break;
    case GRPO_SURROGATE_REGRESSION: w = ref_regression_of(ref, g, i); break;
    case GRPO_SURROGATE_HINGE:    w = ref_hinge_of(ref, g, i); break;
    case GRPO_SURROGATE_CONTRAST_MEAN: case GRPO_SURROGATE_CONTRAST_LSE: w = ref_contrast_means_of(ref, g, i); break;
    case GRPO_SURROGATE_SOFT_PAIRS: w = ref_soft_pairs_of(ref, g, i); break;
    case GRPO_SURROGATE_MATCH: case GRPO_SURROGATE_MATCH_JS: w = ref_match_of(ref, g, i); break;
    default: break;
    }
    ref_note(ref, w.value);
    return w;
}

/* a gradient that is the token's own counts every response as often as it has tokens */
static inline ref_group ref_group_of(reference *ref, const reference_real *l, int64_t g) {
    ref_group x;
    int64_t i;
    memset(&x, 0, sizeof x);
    x.log_z = ref->b->log_z[g] + ref->log_z_moved;
    x.rate = ref->obj->surrogate.score == GRPO_SCORE_RATIO ? 0 : 1;
    for (i = ref->b->group_begin[g]; i < ref->b->group_begin[g + 1]; i++) {
        if (!ref->count[i] || x.n == REFERENCE_MOST) continue;
        x.y[x.n] = ref_score_of(ref, l, i);
        x.size[x.n] = ref_abs(x.y[x.n]);
        x.T[x.n] = (reference_real)ref->count[i];
        if (ref->obj->surrogate.score == GRPO_SCORE_RATIO) {
            const reference_real size = ref_abs(x.y[x.n]);
            x.y[x.n] = ref_note(ref, ref_exp(x.y[x.n]));
            x.size[x.n] = x.y[x.n] * (1 + size);
            if (x.size[x.n] > x.rate) x.rate = x.size[x.n];
        }
        x.still[x.n] = ref_score_of(ref, ref->fixed, i);
        if (ref->obj->surrogate.score == GRPO_SCORE_RATIO) x.still[x.n] = ref_note(ref, ref_exp(x.still[x.n]));
        x.old[x.n] = ref->obj->surrogate.kind == GRPO_SURROGATE_TARGET ? ref_old_score(ref, i) : 0;
        x.A[x.n] = (double)ref->advantage[ref_first_active(ref, i)];
        x.sequence[x.n++] = i;
    }
    return x;
}

/* M v g F of every token of group g; an infinite size is none */
static inline reference_real ref_coupled(reference *ref, int64_t g) {
    const ref_group x = ref_group_of(ref, ref->l, g);
    reference_real sum = 0, c;
    ref_worth w;
    int64_t t;
    int i;
    if (!is_of_a_group(ref->obj->surrogate.kind)) return 0;
    for (i = 0; i < x.n; i++) {
        const int64_t s = x.sequence[i];
        w = ref_worth_of(ref, &x, i);
        for (t = ref->b->offset[s]; t < ref->b->offset[s] + ref->b->length[s]; t++) {
            if (!ref->active[t]) continue;
            c = ref->coefficient[t] * ref->weight[t];
            sum += ref_note(ref, c * w.value);
            ref->size += c * w.size;
            ref->scale += ref_note(ref, c * w.size);
            ref->steep += ref_note(ref, c * w.slope * (ref->log_z_moved == 0 ? x.rate : 1));
        }
    }
    return sum;
}

/* u, and how much its rounding may grow */
static inline reference_real ref_likelihood_weight(reference *ref, int64_t t, reference_real *rounding) {
    const grpo_penalty *p = &ref->obj->penalty;
    const reference_real l = ref->fixed[t], e = ref_exp(l);
    reference_real gap;
    *rounding = 1;
    switch (p->likelihood_weight) {
    case GRPO_LIKELIHOOD_WEIGHT_P:       return e;
    case GRPO_LIKELIHOOD_WEIGHT_P_NOT_P: return -e * ref_change(l, 0);
    case GRPO_LIKELIHOOD_WEIGHT_TEACHER_GATE:
        gap = p->likelihood_gain * (ref_log(ref, ref->b->token[TOKEN_TEACHER][t]) - l);
        *rounding += ref_abs(gap);
        return ref_sigmoid(gap);
    default: return 1;
    }
}

/* does the gate let token t pass? */
static inline int ref_passes(reference *ref, int64_t i, int64_t t) {
    const grpo_likelihood_gate_kind gate = ref->obj->penalty.likelihood_gate;
    reference_real lost = 0;
    int64_t k;
    if (gate == GRPO_LIKELIHOOD_GATE_NONE) return 1;
    for (k = ref->b->offset[i]; k < ref_end(ref, i); k++) {
        if (!ref->active[k] || !ref_is_likely(ref, i, k) || (gate == GRPO_LIKELIHOOD_GATE_SEGMENT && !ref_same_segment(ref, k, t))) continue;
        lost += ref_log(ref, ref->b->token[TOKEN_OLD][k]) - ref_log(ref, ref->fixed[k]);
    }
    if (lost != 0 && ref_abs(lost) < REFERENCE_BLUR) ref->beyond = 1;
    return lost > 0;
}

static inline reference_real ref_likelihood(reference *ref, int64_t i, int64_t t) {
    const grpo_likelihood_form_kind form = ref->obj->penalty.likelihood_form;
    const reference_real l = ref_log(ref, ref->l[t]);
    reference_real h = l, weight, rounding;
    if (ref->likelihood == 0 || !ref_is_likely(ref, i, t) || !ref_passes(ref, i, t)) return 0;
    if (form == GRPO_LIKELIHOOD_FORM_TEACHER_GAP) h = l - ref_log(ref, ref->b->token[TOKEN_TEACHER][t]);
    if (form == GRPO_LIKELIHOOD_FORM_LOST) h = ref_bounded(ref, l - ref_log(ref, ref->b->token[TOKEN_OLD][t]), -HUGE_VAL, 0);
    weight = ref_note(ref, ref->likelihood * ref_note(ref, ref_likelihood_weight(ref, t, &rounding)));
    ref->size += ref_abs(weight * h) * rounding;
    ref->scale += ref_abs(weight * h) * rounding;
    ref->steep += ref_abs(weight) * rounding;
    return -ref_note(ref, weight * h);
}

static inline reference_real ref_pair_score(reference *ref, int64_t i) {
    const int free_of_ref = ref->obj->penalty.pair_score == GRPO_PAIR_SCORE_FREE;
    reference_real sum = 0;
    int64_t t;
    for (t = ref->b->offset[i]; t < ref->b->offset[i] + ref->b->length[i]; t++)
        if (ref->active[t]) sum += ref_log(ref, ref->l[t]) - (free_of_ref ? 0 : ref_log(ref, ref->b->token[TOKEN_REF][t]));
    return sum / (reference_real)ref->count[i];
}

static inline reference_real ref_pairs(reference *ref, int64_t g) {
    const grpo_penalty *p = &ref->obj->penalty;
    const reference_real c = ref->pairs;
    reference_real sum = 0, a, b, x, beta;
    int64_t i, j;
    if (c == 0) return 0;
    for (i = ref->b->group_begin[g]; i < ref->b->group_begin[g + 1]; i++) for (j = ref->b->group_begin[g]; j < ref->b->group_begin[g + 1]; j++) {
        if (!ref_outdoes(ref, i, j)) continue;
        beta = (reference_real)p->pair_beta * (p->pair_gain != 0 && ref->b->reward[i] > 0 ? p->pair_gain : 1);
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

/* where there is no pair */
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

/* of group g all that is no sequence's own */
static inline reference_real ref_of_group(reference *ref, int64_t g) {
    return ref_coupled(ref, g) + ref_pairs(ref, g) + ref_signs(ref, g);
}

static inline reference_answer reference_loss(reference *ref) {
    reference_answer loss = { 0, 0, 0 };
    int64_t i, t;
    ref_begin(ref);
    for (i = 0; i < ref->b->n_sequences; i++) loss.value += ref_sequence(ref, i);
    for (i = 0; i < ref->b->n_groups; i++) loss.value += ref_of_group(ref, i);
    for (i = 0; i < ref->b->n_sequences; i++) for (t = ref->b->offset[i]; t < ref->b->offset[i] + ref->b->length[i]; t++)
        if (ref->active[t]) loss.value += ref_likelihood(ref, i, t);
    loss.judged = !ref->unsure && !ref->beyond;
    loss.tolerance = 0x1p-49 * ref->scale;       /* at most sixteen roundings lie between a log-probability and the sum */
    return loss;
}

/* the terms that l[t] enters */
static inline reference_real ref_entered(reference *ref, int64_t i, int64_t t) {
    const int coupled = is_of_a_group(ref->obj->surrogate.kind), policy = ref_surrogate_has_ratio(ref) && !coupled;
    const int penalty = ref->obj->penalty.kl_ratio == GRPO_KL_RATIO_UNIT;
    reference_real sum;
    int64_t k, g = 0;
    ref_begin(ref);
    while (ref->b->group_begin[g + 1] <= i) g++;
    sum = ref_of_group(ref, g) + ref_likelihood(ref, i, t);
    for (k = ref->b->offset[i]; k < ref_end(ref, i); k++) {
        if (k != t && (!ref->active[k] || ref_ratio_is_own(ref) || !ref_in_unit(ref, k, t))) continue;
        sum += ref_term(ref, k, ref->coefficient[k], ref_unit(ref, i, k), k == t ? !coupled : policy, k == t || penalty);
    }
    return sum;
}

/* with l[t] moved */
static inline reference_real ref_moved(reference *ref, int64_t i, int64_t t, reference_real by) {
    reference_real x;
    ref->l[t] = ref->fixed[t] + by;
    x = ref_entered(ref, i, t);
    ref->l[t] = ref->fixed[t];
    return x;
}

/* a central difference, and whether its two ends are as fit to be compared as l[t] itself: a huge factor times the step may be anything */
typedef struct { reference_real value, scale; uint64_t branches[2]; int beyond; } ref_difference;

static inline ref_difference ref_central(reference *ref, int64_t i, int64_t t, reference_real by) {
    ref_difference d = { 0, 0, { 0, 0 }, 0 };
    int end;
    for (end = 0; end < 2; end++) {
        const reference_real x = ref_moved(ref, i, t, end ? by : -by);
        d.value += end ? x : -x;
        if (ref->scale > d.scale) d.scale = ref->scale;
        d.beyond |= ref->beyond;
        d.branches[end] = ref->branches;
    }
    d.value /= 2 * by;
    return d;
}

/* does no comparison turn within `by` of l[t]? */
static inline int ref_straight(reference *ref, int64_t i, int64_t t, reference_real by, uint64_t branches) {
    const ref_difference d = ref_central(ref, i, t, by);
    return d.branches[0] == branches && d.branches[1] == branches;
}

/* dlogp is an element: rounded to it, and an infinity beyond the largest */
static inline void ref_as_element(reference_answer *a) {
    if (sizeof(grpo_real) != 4) return;
    if (ref_abs(a->value) + a->tolerance > 3e38) a->judged = 0;
    a->tolerance += 0x1p-24 * ref_abs(a->value) + 0x1p-149;
}

/* does the step rise out of the rounding of the terms at its ends, which is at most 2^-103 of their scale? */
static inline int ref_resolves(const ref_difference *d, reference_real steep) {
    return !d->beyond && d->scale <= 0x1p35 * steep;
}

/* d loss / d l[t], of a token of sequence i.  The step is short enough where twice the step changes less than the tolerance: a third of the
 * change is the error that is left. */
static inline reference_answer reference_slope(reference *ref, int64_t i, int64_t t) {
    reference_answer slope = { 0, 0, 0 };
    const reference_real h = REFERENCE_STEP;
    reference_real steep, reach;
    uint64_t branches;
    ref_difference near, far;
    slope.judged = !ref->unsure;
    if (ref->unsure || !ref->active[t]) return slope;
    ref_entered(ref, i, t);
    steep = ref->steep;
    branches = ref->branches;
    reach = 16 * h + 0x1p-40 * ref->largest_log;           /* the larger the numbers, the larger the rounding of what is compared */
    slope.tolerance = 0x1p-33 * steep;
    slope.judged = !ref->beyond && !ref->rough && ref->scale <= 0x1p35 * steep;
    if (!slope.judged) return slope;
    near = ref_central(ref, i, t, h);
    far = ref_central(ref, i, t, 2 * h);
    slope.value = near.value;
    slope.judged = ref_resolves(&near, steep) && ref_resolves(&far, steep) && ref_abs(near.value - far.value) <= slope.tolerance
                   && ref_straight(ref, i, t, reach, branches);
    ref_as_element(&slope);
    return slope;
}

/* M v g F */
static inline reference_real ref_coupled_term(reference *ref, int64_t i, int64_t t) {
    int64_t g = 0;
    int k;
    ref_group x;
    while (ref->b->group_begin[g + 1] <= i) g++;
    x = ref_group_of(ref, ref->l, g);
    for (k = 0; x.sequence[k] != i; k++) { }
    ref->size += ref->weight[t] * ref_worth_of(ref, &x, k).size;
    ref->scale += ref->weight[t] * ref_worth_of(ref, &x, k).size;
    return ref_note(ref, ref->weight[t] * ref_worth_of(ref, &x, k).value);
}

/* d loss / d log_z of group g: the loss is a square in it, and has the slope of its secant */
static inline reference_answer reference_log_z_slope(reference *ref, int64_t g) {
    reference_answer slope = { 0, 0, 0 };
    ref_begin(ref);
    ref->log_z_moved = 1;
    slope.value = ref_coupled(ref, g);
    ref->log_z_moved = -1;
    slope.value = (slope.value - ref_coupled(ref, g)) / 2;
    ref->log_z_moved = 0;
    slope.judged = ref->obj->surrogate.kind == GRPO_SURROGATE_BALANCE && !ref->unsure && !ref->beyond && ref->size <= 0x1p58 * ref->steep;
    slope.tolerance = 0x1p-50 * ref->steep;
    ref_as_element(&slope);
    return slope;
}

/* the term of a token of sequence i, within what the headers promise */
static inline reference_answer reference_term(reference *ref, int64_t i, int64_t t) {
    reference_answer term = { 0, 0, 0 };
    if (ref->unsure || !ref->active[t]) return term;
    ref_begin(ref);
    term.value = ref_term(ref, t, 1, ref_unit(ref, i, t), !is_of_a_group(ref->obj->surrogate.kind), 1);
    if (is_of_a_group(ref->obj->surrogate.kind)) term.value += ref_coupled_term(ref, i, t);
    term.judged = !ref->beyond && ref->scale <= 512 * ref->size;       /* not at a bound, where logarithms are compared */
    term.tolerance = 0x1p-50 * ref->size;
    ref_as_element(&term);
    return term;
}

/* d loss / d entropy, likewise */
static inline reference_answer reference_entropy_slope(reference *ref, int64_t t) {
    reference_answer slope = { 0, 0, 0 };
    ref_begin(ref);
    slope.value = ref->active[t] ? ref_note(ref, -ref->coefficient[t] * ref->whole[t] * ref->obj->penalty.entropy_coef) : 0;
    slope.judged = !ref->unsure && !ref->beyond;
    slope.tolerance = 0x1p-50 * ref_abs(slope.value);
    ref_as_element(&slope);
    return slope;
}

/* ---- what the report counts ---------------------------------------------------------------------------------------------------- */

typedef struct {
    int judged;
    int64_t tokens, rejected, clips[4];          /* by grpo_clip_side */
} reference_counts;

static inline grpo_clip_side ref_pool_side(reference *ref, int64_t t) {
    const grpo_ratio_axis *a = &ref->obj->ratio;
    reference_real d;
    if (!ref_clips_pool(a) || !ref_has_ratio(ref)) return GRPO_CLIP_NO;
    d = ref_clamp(ref, ref_log(ref, ref->fixed[t]) - ref_log(ref, ref_old(ref, t)), a->clamp_low, a->clamp_high);
    if (ref->advantage[t] < 0) return d < -a->pool_low ? GRPO_CLIP_LOW : GRPO_CLIP_NO;
    return d > a->pool_high ? GRPO_CLIP_HIGH : GRPO_CLIP_NO;
}

/* with bounds position */
static inline grpo_clip_side ref_position_side(reference *ref, int64_t t, int up) {
    const ref_log_bounds b = ref_position_bounds(ref, t);
    const reference_real y = ref_log_ratio(ref, ref->fixed, ref->unit_fixed[t], t);
    if (up) return ref_jumps(ref, y, b.high) ? GRPO_CLIP_HIGH : GRPO_CLIP_NO;
    if (ref_jumps(ref, y, b.dual)) return GRPO_CLIP_DUAL;
    return ref_jumps(ref, -y, -b.low) ? GRPO_CLIP_LOW : GRPO_CLIP_NO;
}

static inline grpo_clip_side ref_weight_side(reference *ref, reference_real w, double low, double high) {
    return ref_jumps(ref, -w, -low) ? GRPO_CLIP_LOW : ref_jumps(ref, w, high) ? GRPO_CLIP_HIGH : GRPO_CLIP_NO;
}

/* of a token with an advantage */
static inline grpo_clip_side ref_surrogate_side(reference *ref, int64_t t) {
    const grpo_surrogate *s = &ref->obj->surrogate;
    const int up = ref->advantage[t] > 0, aspo = s->kind == GRPO_SURROGATE_ASPO;
    const reference_real w = ref_ratio(ref, ref_log_ratio(ref, ref->fixed, ref->unit_fixed[t], t));
    reference_real low, high, dual = up ? 0 : s->dual;
    switch (s->kind) {
    case GRPO_SURROGATE_TOPR:
        return up ? GRPO_CLIP_NO : ref_weight_side(ref, w, s->weight_min, s->weight_max);
    case GRPO_SURROGATE_DISPO: if (!up) return ref_weight_side(ref, w, s->weight_min_neg, s->weight_max_neg); /* fall through */
    case GRPO_SURROGATE_CISPO: case GRPO_SURROGATE_BAND: return ref_weight_side(ref, w, s->weight_min, s->weight_max);
    case GRPO_SURROGATE_SHAPED: if (ref->b->selected[t]) return GRPO_CLIP_NO; /* fall through */
    case GRPO_SURROGATE_PPO_CLIP: dual = 0; break;
    case GRPO_SURROGATE_UNBOUNDED_POSITIVE: if (up) return GRPO_CLIP_NO; break;
    case GRPO_SURROGATE_DUAL_CLIP: case GRPO_SURROGATE_GPPO: break;
    case GRPO_SURROGATE_ASPO: dual = up ? s->dual_pos : s->dual; break;
    default: return GRPO_CLIP_NO;
    }
    if (s->bounds == GRPO_BOUNDS_POSITION) return ref_position_side(ref, t, up);
    ref_clip_range(ref, t, &low, &high);
    if (aspo) { low = 1 - (reference_real)s->eps_low; high = 1 + (reference_real)s->eps_high; }
    if (dual != 0 && ref_jumps(ref, up ? 1 / w : w, dual)) return GRPO_CLIP_DUAL;
    if (up) return ref_jumps(ref, w, high) ? GRPO_CLIP_HIGH : GRPO_CLIP_NO;
    return ref_jumps(ref, -w, -low) ? GRPO_CLIP_LOW : GRPO_CLIP_NO;
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

static inline int reference_agrees(const reference_answer *expected, double found) {
    return ref_abs(found - expected->value) <= expected->tolerance;
}
#endif
