/* The loss as tests/vectors/README.md writes it, in __float128, and its slopes: what the headers are compared with.
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
 * REFERENCE_LARGEST_LOG, a number on the way that double cannot hold to full precision, a band of the correction so near that rounding
 * may fall on either side, and for slopes a comparison that turns nearby. */
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
static const double REFERENCE_STEP = 0x1p-33;

typedef struct {
    int judged;
    reference_real value, tolerance;
} reference_answer;

typedef struct {
    const grpo_objective *obj;
    const rollouts *b;
    const grpo_real *advantage;
    reference_real factor;                       /* ranks */
    uint8_t *active;
    reference_real *l, *fixed, *weight;          /* per token; weight: v */
    reference_real *coefficient, *unit_fixed;    /* per sequence: c; y before its clamp, 0 for unit token */
    int64_t *count;                              /* per sequence: T_i */
    int unsure;                                  /* which tokens are active is a matter of rounding */
    /* of the evaluation in progress */
    uint64_t branches;                           /* which way every comparison went */
    int beyond;                                  /* a number that double does not hold to full precision */
    int rough;                                   /* too steep for the step */
    reference_real largest_log;
    reference_real scale, steep;                 /* sums of the terms' and of the derivatives' sizes */
} reference;

static inline reference_real ref_abs(reference_real x) { return x < 0 ? -x : x; }

/* ---- exponentials -------------------------------------------------------------------------------------------------------------- */

/* e^x - x - 1 for |x| <= 1 to 1e-31, by its series at x/256 and q(2x) = 2 q(x) + (x + q(x))^2, which cancels nothing */
static inline reference_real ref_small_exp_minus_linear(reference_real x)
{
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

static inline reference_real ref_times_power_of_two(reference_real x, int n)
{
    for (; n > 1000; n -= 1000) x *= 0x1p1000;
    for (; n < -1000; n += 1000) x *= 0x1p-1000;
    return x * ldexp(1, n);
}

static inline reference_real ref_exp(reference_real x)
{
    static const double ln2[3] = { 6.93147180559945286e-01, 2.31904681384629956e-17, 5.70770843841621207e-34 };
    double n;
    if (x != x) return x;
    if (x > 11300) return HUGE_VAL;
    if (x < -11300) return 0;
    n = floor((double)x * 1.44269504088896341 + 0.5);
    x = ((x - (reference_real)n * ln2[0]) - (reference_real)n * ln2[1]) - (reference_real)n * ln2[2];
    return ref_times_power_of_two(1 + (x + ref_small_exp_minus_linear(x)), (int)n);
}

static inline reference_real ref_exp_minus_linear(reference_real x)
{
    return ref_abs(x) <= 1 ? ref_small_exp_minus_linear(x) : ref_exp(x) - x - 1;
}

/* ---- what an evaluation notes -------------------------------------------------------------------------------------------------- */

static inline void ref_begin(reference *ref)
{
    ref->branches = 0;
    ref->beyond = ref->rough = 0;
    ref->scale = ref->steep = ref->largest_log = 0;
}

static inline int ref_decide(reference *ref, int yes)
{
    ref->branches = (ref->branches ^ (yes ? 1u : 2u)) * UINT64_C(0x100000001b3);
    return yes;
}

/* x is also a number of the computation in double; far from the ends of its range, so that products of two need no care */
static inline reference_real ref_note(reference *ref, reference_real x)
{
    if (x != 0 && !(ref_abs(x) >= 1e-290 && ref_abs(x) <= 1e290)) ref->beyond = 1;
    return x;
}

static inline reference_real ref_log(reference *ref, reference_real l)
{
    if (!(ref_abs(l) <= REFERENCE_LARGEST_LOG)) ref->beyond = 1;
    if (ref_abs(l) > ref->largest_log) ref->largest_log = ref_abs(l);
    return l;
}

static inline int ref_near(reference_real x, reference_real bound)
{
    return bound < HUGE_VAL && ref_abs(x - bound) <= 0x1p-40 * ref_abs(bound);
}

static inline reference_real ref_bounded(reference *ref, reference_real x, reference_real low, reference_real high)
{
    if (ref_decide(ref, x < low)) return low;
    return ref_decide(ref, x > high) ? high : x;
}

static inline reference_real ref_clamp(reference *ref, reference_real x, double low, double high)
{
    return low == 0 && high == 0 ? x : ref_bounded(ref, x, low, high);
}

/* ---- ratio --------------------------------------------------------------------------------------------------------------------- */

static inline reference_real ref_old(const reference *ref, int64_t t)
{
    return ref->b->token[ref->obj->ratio.against == GRPO_AGAINST_ROLLOUT ? TOKEN_ROLLOUT : TOKEN_OLD][t];
}

static inline reference_real ref_token_log_ratio(reference *ref, const reference_real *l, int64_t t)
{
    const grpo_ratio_axis *a = &ref->obj->ratio;
    reference_real d = ref_clamp(ref, ref_log(ref, l[t]) - ref_log(ref, ref_old(ref, t)), a->clamp_low, a->clamp_high);
    if (a->unit != GRPO_UNIT_SEQUENCE_CLIPPED_MEAN) return d;
    if (ref->advantage[t] >= 0) return ref_decide(ref, d > a->pool_high) ? a->pool_high : d;
    return ref_decide(ref, d < -a->pool_low) ? -a->pool_low : d;
}

/* y of sequence i before its clamp */
static inline reference_real ref_unit_log_ratio(reference *ref, const reference_real *l, int64_t i)
{
    reference_real sum = 0;
    int64_t t;
    if (ref->obj->ratio.unit == GRPO_UNIT_TOKEN || ref->count[i] == 0) return 0;
    for (t = ref->b->offset[i]; t < ref->b->offset[i] + ref->b->length[i]; t++) {
        if (ref->active[t]) sum += ref_token_log_ratio(ref, l, t);
    }
    return ref->obj->ratio.unit == GRPO_UNIT_SEQUENCE_SUM ? sum : sum / (reference_real)ref->count[i];
}

static inline int ref_ratio_is_own(const reference *ref)
{
    return ref->obj->ratio.unit == GRPO_UNIT_TOKEN || ref->obj->ratio.gradient == GRPO_GRADIENT_TOKEN;
}

/* y of token t; unit: what ref_unit_log_ratio says, inside the stop-gradient if there is one */
static inline reference_real ref_log_ratio(reference *ref, const reference_real *l, reference_real unit, int64_t t)
{
    const grpo_ratio_axis *a = &ref->obj->ratio;
    reference_real y = unit;
    if (a->unit == GRPO_UNIT_TOKEN) y = ref_token_log_ratio(ref, l, t);
    else if (a->gradient == GRPO_GRADIENT_TOKEN) y += ref_token_log_ratio(ref, l, t) - ref_token_log_ratio(ref, ref->fixed, t);
    return ref_clamp(ref, y, a->unit_clamp_low, a->unit_clamp_high);
}

/* ---- surrogate -----------------------------------------------------------------------------------------------------------------
 * size: what multiplies the rounding of double in the value (at first 1), and the size of the derivative with respect to y or l. */

typedef struct { reference_real rounding, derivative; } ref_size;

static inline reference_real ref_ppo_clip(reference *ref, reference_real w, reference_real A, ref_size *size)
{
    const grpo_surrogate *s = &ref->obj->surrogate;
    reference_real low = 1 - (reference_real)s->eps_low, high = 1 + (reference_real)s->eps_high, plain = -w * A;
    reference_real clipped = -ref_bounded(ref, w, low, high) * A;
    if (ref_near(w, low) || ref_near(w, high)) size->rounding = 1024;            /* the headers compare logarithms, of at most 710 */
    if (ref_decide(ref, plain > clipped)) clipped = plain;
    if (clipped == plain) ref_note(ref, w);
    size->derivative = ref_abs(clipped);
    return clipped;
}

static inline reference_real ref_dual_clip(reference *ref, reference_real w, reference_real A, ref_size *size)
{
    reference_real dual = -ref->obj->surrogate.dual * A, x = ref_ppo_clip(ref, w, A, size);
    return A < 0 && ref_decide(ref, x > dual) ? dual : x;
}

static inline reference_real ref_sigmoid(reference_real z)
{
    reference_real e = ref_exp(-ref_abs(z));
    return (z < 0 ? e : 1) / (1 + e);
}

static inline reference_real ref_sapo(reference *ref, reference_real w, reference_real A, ref_size *size)
{
    reference_real tau = A > 0 ? ref->obj->surrogate.tau_pos : ref->obj->surrogate.tau_neg;
    ref_note(ref, w);
    ref_note(ref, 4 / tau);
    if (tau * w > 0x1p14) ref->rough = 1;
    size->rounding = 2 + 2 * tau * (w < 2 ? w : 2);
    size->derivative = ref_note(ref, w * A);
    return -ref_note(ref, (4 / tau) * ref_note(ref, ref_sigmoid(tau * (w - 1)))) * A;
}

static inline reference_real ref_vespo_weight(reference *ref, reference_real y, reference_real A, ref_size *size)
{
    const grpo_surrogate *s = &ref->obj->surrogate;
    reference_real w = ref_note(ref, ref_exp(y)), k = A > 0 ? s->k_pos : s->k_neg, lambda = A > 0 ? s->lambda_pos : s->lambda_neg;
    size->rounding = 1 + 2 * ref_abs(lambda) * (w < 2 ? w : 2) + 0x1p-30 * (ref_abs(lambda) * w + ref_abs(k * y));
    if (size->rounding > 0x1p15) ref->rough = 1;
    return ref_exp(lambda + k * y - lambda * w);
}

static inline reference_real ref_detached_weight(reference *ref, int64_t i, int64_t t, ref_size *size)
{
    const grpo_surrogate *s = &ref->obj->surrogate;
    reference_real y = ref_log_ratio(ref, ref->fixed, ref->unit_fixed[i], t);
    if (s->kind == GRPO_SURROGATE_VESPO) return ref_vespo_weight(ref, y, ref->advantage[t], size);
    return ref_bounded(ref, ref_exp(y), s->weight_min, s->weight_max);
}

static inline int ref_surrogate_has_ratio(const reference *ref)
{
    const grpo_surrogate_kind kind = ref->obj->surrogate.kind;
    return kind == GRPO_SURROGATE_RATIO || kind == GRPO_SURROGATE_PPO_CLIP || kind == GRPO_SURROGATE_DUAL_CLIP || kind == GRPO_SURROGATE_SAPO;
}

/* -weight A l */
static inline reference_real ref_score(reference *ref, reference_real weight, int64_t t, ref_size *size)
{
    size->derivative = ref_note(ref, ref_note(ref, weight) * ref->advantage[t]);
    return -size->derivative * ref_log(ref, ref->l[t]);
}

static inline reference_real ref_surrogate(reference *ref, int64_t i, int64_t t, reference_real unit, ref_size *size)
{
    reference_real A = ref->advantage[t], w;
    if (A == 0) return 0;
    if (ref->obj->surrogate.kind == GRPO_SURROGATE_SCORE) return ref_score(ref, 1, t, size);
    if (!ref_surrogate_has_ratio(ref)) return ref_score(ref, ref_detached_weight(ref, i, t, size), t, size);
    w = ref_exp(ref_log_ratio(ref, ref->l, unit, t));
    switch (ref->obj->surrogate.kind) {
    case GRPO_SURROGATE_PPO_CLIP:  return ref_ppo_clip(ref, w, A, size);
    case GRPO_SURROGATE_DUAL_CLIP: return ref_dual_clip(ref, w, A, size);
    case GRPO_SURROGATE_SAPO:      return ref_sapo(ref, w, A, size);
    default:                       return -(size->derivative = ref_note(ref, w) * A);
    }
}

/* ---- penalty ------------------------------------------------------------------------------------------------------------------- */

static inline reference_real ref_estimator(grpo_kl_kind kind, reference_real D)
{
    switch (kind) {
    case GRPO_KL_K1:  return D;
    case GRPO_KL_K2:  return D * D / 2;
    case GRPO_KL_K3:  return ref_exp_minus_linear(-D);
    case GRPO_KL_ABS: return ref_abs(D);
    default:          return 0;
    }
}

static inline reference_real ref_kl(reference *ref, int64_t t, ref_size *size)
{
    const grpo_penalty *p = &ref->obj->penalty;
    const reference_real f = ref_log(ref, ref->b->token[TOKEN_REF][t]);
    reference_real D = ref_clamp(ref, ref_log(ref, ref->l[t]) - f, -p->kl_clamp_log, p->kl_clamp_log), K = ref_note(ref, ref_estimator(p->kl, D)), D0;
    size->derivative = 1 + ref_abs(D) + ref_abs(K);
    if (p->kl == GRPO_KL_ABS) ref_bounded(ref, D, 0, 0);
    if (p->kl_clamp_value != 0) {
        reference_real clamped = ref_bounded(ref, K, -p->kl_clamp_value, p->kl_clamp_value);
        if (clamped != K) return clamped;
    }
    if (p->kl_gradient == GRPO_KL_GRADIENT_OWN) return K;
    D0 = ref_clamp(ref, ref->fixed[t] - f, -p->kl_clamp_log, p->kl_clamp_log);
    return ref_estimator(p->kl, D0) + (D - D0) * (D + D0) / 2;
}

static inline reference_real ref_penalty(reference *ref, int64_t t, reference_real unit, ref_size *size)
{
    const grpo_penalty *p = &ref->obj->penalty;
    reference_real u = 1, K;
    if (p->kl == GRPO_KL_NONE || p->kl_coef == 0) return 0;
    if (p->kl_ratio == GRPO_KL_RATIO_TOKEN) u = ref_exp(ref_log(ref, ref->l[t]) - ref_log(ref, ref_old(ref, t)));
    if (p->kl_ratio == GRPO_KL_RATIO_UNIT) u = ref_exp(ref_log_ratio(ref, ref->l, unit, t));
    u = ref_note(ref, p->kl_coef * ref_note(ref, u));
    K = ref_kl(ref, t, size);
    size->derivative *= ref_abs(u);
    return u * K;
}

/* ---- weight -------------------------------------------------------------------------------------------------------------------- */

static inline int ref_counts(const reference *ref, int64_t i, int64_t t)
{
    return ref->b->mask[t] && !(ref->obj->weight.truncated == GRPO_TRUNCATED_MASK && ref->b->truncated[i]);
}

static inline reference_real ref_rollout_log_ratio(reference *ref, int64_t t)
{
    const double c = ref->obj->weight.correction_clamp;
    return ref_clamp(ref, ref_log(ref, ref->b->token[TOKEN_OLD][t]) - ref_log(ref, ref->b->token[TOKEN_ROLLOUT][t]), -c, c);
}

static inline reference_real ref_rollout_unit(reference *ref, int64_t i, int64_t t)
{
    reference_real sum = 0;
    int64_t k, n = 0;
    if (ref->obj->weight.correction_unit == GRPO_CORRECTION_TOKEN) return ref_rollout_log_ratio(ref, t);
    for (k = ref->b->offset[i]; k < ref->b->offset[i] + ref->b->length[i]; k++) {
        if (ref_counts(ref, i, k)) sum += ref_rollout_log_ratio(ref, k), n++;
    }
    return ref->obj->weight.correction_unit == GRPO_CORRECTION_SEQUENCE_MEAN ? sum / (reference_real)n : sum;
}

/* v after the correction, of a token that counts; *inside its band? */
static inline reference_real ref_weight(reference *ref, int64_t i, int64_t t, int *inside)
{
    const grpo_weight *w = &ref->obj->weight;
    reference_real low = w->correction_low, high = w->correction_high, q, v;
    *inside = 1;
    if (w->correction == GRPO_CORRECTION_NONE) return 1;
    q = ref_rollout_unit(ref, i, t);
    v = ref_exp(q);
    if (q != 0 && (ref_near(v, low) || ref_near(v, high))) ref->unsure = 1;
    *inside = v >= low && v <= high;
    if (w->correction == GRPO_CORRECTION_TRUNCATE) return ref_note(ref, v < low ? low : v > high ? high : v);
    if (!*inside) return 0;
    return w->correction == GRPO_CORRECTION_MASK ? ref_note(ref, v) : 1;
}

static inline int ref_rejects(const reference *ref)
{
    const grpo_weight *w = &ref->obj->weight;
    return w->rejected == GRPO_REJECTED_UNMASK && (w->correction == GRPO_CORRECTION_MASK || w->correction == GRPO_CORRECTION_REJECT);
}

static inline void ref_find_active(reference *ref, int64_t i)
{
    int64_t t;
    int inside;
    ref->count[i] = 0;
    for (t = ref->b->offset[i]; t < ref->b->offset[i] + ref->b->length[i]; t++) {
        if (!ref_counts(ref, i, t)) continue;
        ref->weight[t] = ref_weight(ref, i, t, &inside);
        ref->active[t] = inside || !ref_rejects(ref);
        ref->count[i] += ref->active[t];
        if (ref->active[t]) ref->l[t] = ref->fixed[t] = ref->b->token[TOKEN_LOGP][t];
    }
}

/* ---- aggregation --------------------------------------------------------------------------------------------------------------- */

static inline int64_t ref_group_tokens(const reference *ref, int64_t g)
{
    int64_t i, n = 0;
    for (i = ref->b->group_begin[g]; i < ref->b->group_begin[g + 1]; i++) n += ref->count[i];
    return n;
}

/* 1 / c, of a token in sequence i of group g */
static inline reference_real ref_divisor(const reference *ref, int64_t g, int64_t i)
{
    const grpo_aggregation *a = &ref->obj->aggregation;
    int64_t k, tokens = 0, sequences = 0, groups = 0, all = a->empty == GRPO_EMPTY_COUNT;
    for (k = 0; k < ref->b->n_sequences; k++) tokens += ref->count[k], sequences += all || ref->count[k] > 0;
    for (k = 0; k < ref->b->n_groups; k++) groups += all || ref_group_tokens(ref, k) > 0;
    switch (a->kind) {
    case GRPO_TOKEN_MEAN:            return (reference_real)tokens;
    case GRPO_SEQ_MEAN_TOKEN_MEAN:   return (reference_real)(sequences * ref->count[i]);
    case GRPO_SEQ_MEAN_TOKEN_SUM:    return (reference_real)sequences;
    case GRPO_SEQ_MEAN_CONSTANT:     return (reference_real)sequences * a->constant;
    case GRPO_CONSTANT:              return a->constant;
    case GRPO_GROUP_MEAN_TOKEN_MEAN: return (reference_real)(groups * ref_group_tokens(ref, g));
    default:                         return 1;
    }
}

static inline void ref_find_coefficients(reference *ref)
{
    int64_t g, i;
    for (g = 0; g < ref->b->n_groups; g++) {
        for (i = ref->b->group_begin[g]; i < ref->b->group_begin[g + 1]; i++) {
            ref->coefficient[i] = ref->count[i] ? ref_note(ref, ref->factor / ref_divisor(ref, g, i)) : 0;
        }
    }
}

/* ---- the loss ------------------------------------------------------------------------------------------------------------------ */

/* NaN, which is never judged, where a log-probability is infinite or too large */
static inline void ref_find_units(reference *ref)
{
    int64_t i;
    for (i = 0; i < ref->b->n_sequences; i++) {
        ref_begin(ref);
        ref->unit_fixed[i] = ref_unit_log_ratio(ref, ref->fixed, i);
        if (ref->beyond) ref->unit_fixed[i] = NAN;
    }
}

static inline reference_real *ref_zeros(int64_t n)
{
    reference_real *x = (reference_real *)test_alloc(n, sizeof *x);
    int64_t k;
    for (k = 0; k < n; k++) x[k] = 0;
    return x;
}

static inline int ref_has_ratio(const reference *ref)
{
    const grpo_penalty *p = &ref->obj->penalty;
    return ref->obj->surrogate.kind != GRPO_SURROGATE_SCORE || (p->kl != GRPO_KL_NONE && p->kl_ratio != GRPO_KL_RATIO_NONE);
}

static inline void reference_alloc(reference *ref, const grpo_objective *obj, const rollouts *b, const grpo_real *advantage, int64_t ranks)
{
    int64_t i;
    memset(ref, 0, sizeof *ref);
    ref->obj = obj;
    ref->b = b;
    ref->advantage = advantage;
    ref->factor = ranks ? (reference_real)ranks : 1;
    ref->active = (uint8_t *)test_alloc(b->n_tokens, 1);
    memset(ref->active, 0, (size_t)b->n_tokens);
    ref->l = ref_zeros(b->n_tokens);
    ref->fixed = ref_zeros(b->n_tokens);
    ref->weight = ref_zeros(b->n_tokens);
    ref->coefficient = ref_zeros(b->n_sequences);
    ref->unit_fixed = ref_zeros(b->n_sequences);
    ref->count = (int64_t *)test_alloc(b->n_sequences, sizeof *ref->count);
    for (i = 0; i < b->n_sequences; i++) ref_find_active(ref, i);
    ref_find_coefficients(ref);
    ref->unsure |= ref->beyond;
    if (ref_has_ratio(ref)) ref_find_units(ref);
}

static inline void reference_free(reference *ref)
{
    free(ref->active);
    free(ref->l); free(ref->fixed); free(ref->weight);
    free(ref->coefficient); free(ref->unit_fixed);
    free(ref->count);
}

/* c (v S + P), or of them what is asked for */
static inline reference_real ref_term(reference *ref, int64_t i, int64_t t, reference_real unit, int policy, int penalty)
{
    ref_size S_size = { 1, 0 }, P_size = { 1, 0 };
    const reference_real c = ref->coefficient[i], v = ref->weight[t];
    reference_real S = policy && v != 0 ? ref_note(ref, v * ref_note(ref, ref_surrogate(ref, i, t, unit, &S_size))) : 0;
    reference_real P = penalty ? ref_note(ref, ref_penalty(ref, t, unit, &P_size)) : 0;
    ref->scale += ref_note(ref, c * S_size.rounding * ref_abs(S)) + ref_note(ref, c * ref_abs(P));
    ref->steep += ref_note(ref, c * v * ref_abs(S_size.derivative)) + ref_note(ref, c * P_size.derivative);
    return ref_note(ref, c * S) + ref_note(ref, c * P);
}

/* y of sequence i as it is handed to its tokens */
static inline reference_real ref_unit(reference *ref, int64_t i)
{
    return ref_ratio_is_own(ref) || !ref_has_ratio(ref) ? ref->unit_fixed[i] : ref_unit_log_ratio(ref, ref->l, i);
}

static inline reference_real ref_sequence(reference *ref, int64_t i)
{
    reference_real sum = 0, unit = ref_unit(ref, i);
    int64_t t;
    for (t = ref->b->offset[i]; t < ref->b->offset[i] + ref->b->length[i]; t++) {
        if (ref->active[t]) sum += ref_term(ref, i, t, unit, 1, 1);
    }
    return sum;
}

static inline reference_answer reference_loss(reference *ref)
{
    reference_answer loss = { 0, 0, 0 };
    int64_t i;
    ref_begin(ref);
    for (i = 0; i < ref->b->n_sequences; i++) loss.value += ref_sequence(ref, i);
    loss.judged = !ref->unsure && !ref->beyond;
    loss.tolerance = 0x1p-49 * ref->scale;       /* at most sixteen roundings lie between a log-probability and the sum */
    return loss;
}

/* the terms that l[t] enters */
static inline reference_real ref_entered(reference *ref, int64_t i, int64_t t)
{
    const int policy = ref_surrogate_has_ratio(ref), penalty = ref->obj->penalty.kl_ratio == GRPO_KL_RATIO_UNIT;
    reference_real sum = 0, unit;
    int64_t k;
    ref_begin(ref);
    unit = ref_unit(ref, i);
    for (k = ref->b->offset[i]; k < ref->b->offset[i] + ref->b->length[i]; k++) {
        if (k == t) sum += ref_term(ref, i, k, unit, 1, 1);
        else if (ref->active[k] && !ref_ratio_is_own(ref)) sum += ref_term(ref, i, k, unit, policy, penalty);
    }
    return sum;
}

/* with l[t] moved */
static inline reference_real ref_moved(reference *ref, int64_t i, int64_t t, reference_real by)
{
    reference_real x;
    ref->l[t] = ref->fixed[t] + by;
    x = ref_entered(ref, i, t);
    ref->l[t] = ref->fixed[t];
    return x;
}

/* does no comparison turn within `by` of l[t]? */
static inline int ref_straight(reference *ref, int64_t i, int64_t t, reference_real by)
{
    uint64_t branches = ref->branches;
    ref_moved(ref, i, t, by);
    if (ref->branches != branches) return 0;
    ref_moved(ref, i, t, -by);
    return ref->branches == branches;
}

/* dlogp is an element: rounded to it, and an infinity beyond the largest */
static inline void ref_as_element(reference_answer *a)
{
    if (sizeof(grpo_real) != 4) return;
    if (ref_abs(a->value) + a->tolerance > 3e38) a->judged = 0;
    a->tolerance += 0x1p-24 * ref_abs(a->value) + 0x1p-149;
}

/* d loss / d l[t], of a token of sequence i */
static inline reference_answer reference_slope(reference *ref, int64_t i, int64_t t)
{
    reference_answer slope = { 0, 0, 0 };
    const reference_real h = REFERENCE_STEP;
    slope.judged = !ref->unsure;
    if (ref->unsure || !ref->active[t]) return slope;
    ref_entered(ref, i, t);
    slope.tolerance = 0x1p-33 * ref->steep;
    slope.judged = !ref->beyond && !ref->rough && ref->scale <= 0x1p35 * ref->steep;       /* or the step drowns in the terms' rounding */
    if (!slope.judged) return slope;
    /* the larger the numbers, the larger the rounding of what is compared */
    slope.judged = ref_straight(ref, i, t, 16 * h + 0x1p-40 * ref->largest_log);
    slope.value = (ref_moved(ref, i, t, h) - ref_moved(ref, i, t, -h)) / (2 * h);
    ref_as_element(&slope);
    return slope;
}

static inline int reference_agrees(const reference_answer *expected, double found)
{
    return ref_abs(found - expected->value) <= expected->tolerance;
}
#endif
