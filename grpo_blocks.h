/* grpo_blocks.h - tokens side by side: the fast way of objectives of tokens, and of those of responses whose tokens share one term.
 *
 * A part of grpo.h's implementation, which includes it; it is included by nothing else.  Define GRPO_NO_BLOCKS, and grpo.h and gspo.h do
 * without this file, to the same bits.
 *
 * Tokens wait until a block of them is full.  Ratios, clips, the usual KL, gradients and the sums of the report are then found in loops
 * that vectorise; surrogates, trust regions and penalties besides these one by one, by the functions of grpo.h.  So are, over again, the
 * ratios of tokens whose policy has moved far.
 *
 * Licence: MIT-0, as grpo.h. */
#ifndef GRPO_BLOCKS_H
#define GRPO_BLOCKS_H

#ifndef GRPO_IMPLEMENTED
#error "grpo_blocks.h is a part of grpo.h: include that, with GRPO_IMPLEMENTATION defined in one source file"
#endif
#if GRPO_VERSION_NUMBER != 200
#error "grpo_blocks.h and grpo.h are of different versions"
#endif

GRPO_C_BEGIN_
/* ---- exact sums of a block ------------------------------------------------------------------------------------------------------- */
/* A block of numbers: cut at a power of two so far above them that the upper parts, multiples of one unit, add without rounding in any
 * order (Rump, Ogita and Oishi, "Accurate floating-point summation"); what is left is exact and is cut again, or added one by one. */

/* Sums over a block go by quarters, which vectorises everywhere and waits for nothing.  Of a quarter to which the rest has been added: */
static double grpo_quarter_total_(const double *x) {
    double y[GRPO_BLOCK_ / 16];
    for (int k = 0; k < GRPO_BLOCK_ / 16; k++)
        y[k] = (x[k] + x[k + GRPO_BLOCK_ / 16]) + (x[k + GRPO_BLOCK_ / 8] + x[k + 3 * GRPO_BLOCK_ / 16]);
    return ((y[0] + y[1]) + (y[2] + y[3])) + ((y[4] + y[5]) + (y[6] + y[7]));
}

static double grpo_block_total_(const double *x) {
    double y[GRPO_BLOCK_ / 4];
    for (int k = 0; k < GRPO_BLOCK_ / 4; k++)
        y[k] = (x[k] + x[k + GRPO_BLOCK_ / 4]) + (x[k + GRPO_BLOCK_ / 2] + x[k + 3 * GRPO_BLOCK_ / 4]);
    return grpo_quarter_total_(y);
}

/* sum of |x|, rounded; infinite or NaN where an x is */
static double grpo_block_magnitude_(const double *x) {
    double y[GRPO_BLOCK_ / 4];
    for (int k = 0; k < GRPO_BLOCK_ / 4; k++)
        y[k] = (fabs(x[k]) + fabs(x[k + GRPO_BLOCK_ / 4])) + (fabs(x[k + GRPO_BLOCK_ / 2]) + fabs(x[k + 3 * GRPO_BLOCK_ / 4]));
    return grpo_quarter_total_(y);
}

static int grpo_block_exceeds_(const double *x, double most) {
    double beyond[GRPO_BLOCK_];
    if (grpo_block_magnitude_(x) <= most) return 0;
    for (int k = 0; k < GRPO_BLOCK_; k++) beyond[k] = fabs(x[k]) <= most ? 0 : 1;
    return grpo_block_total_(beyond) != 0;
}

/* into upper and lower the sums of the parts of x above the units of cut[0] and of cut[1]; returns whether that is not all */
static int grpo_block_cut_(const double *x, const double *cut, double *upper, double *lower) {
    const double *x1 = x + GRPO_BLOCK_ / 4, *x2 = x1 + GRPO_BLOCK_ / 4, *x3 = x2 + GRPO_BLOCK_ / 4;
    const double high = cut[0], low = cut[1];
    double a[GRPO_BLOCK_ / 4], b[GRPO_BLOCK_ / 4], left[GRPO_BLOCK_ / 4];
    for (int k = 0; k < GRPO_BLOCK_ / 4; k++) {
        const double p0 = (high + x[k]) - high, p1 = (high + x1[k]) - high, p2 = (high + x2[k]) - high, p3 = (high + x3[k]) - high;
        const double r0 = x[k] - p0, r1 = x1[k] - p1, r2 = x2[k] - p2, r3 = x3[k] - p3;
        const double q0 = (low + r0) - low, q1 = (low + r1) - low, q2 = (low + r2) - low, q3 = (low + r3) - low;
        a[k] = (p0 + p1) + (p2 + p3);
        b[k] = (q0 + q1) + (q2 + q3);
        left[k] = (fabs(r0 - q0) + fabs(r1 - q1)) + (fabs(r2 - q2) + fabs(r3 - q3));
    }
    *upper = grpo_quarter_total_(a);
    *lower = grpo_quarter_total_(b);
    return grpo_quarter_total_(left) != 0;
}

static void grpo_sum_add_block_(grpo_sum *s, double factor, const double *x) {
    const double size = grpo_block_magnitude_(x);
    const int cuts = size > 1e-200 && size < 1e200;
    double cut[2] = { 0, 0 }, upper, lower;
    int k, exponent;
    if (size == 0) return;
    if (cuts) {
        frexp(size, &exponent);
        cut[0] = ldexp(1, exponent + 1);                               /* the parts add up to at most half of it */
        cut[1] = cut[0] * (1.0 / (UINT64_C(1) << 45));                 /* what is left of each is at most cut 2^-53 */
        k = grpo_block_cut_(x, cut, &upper, &lower);
        grpo_sum_add_(s, factor * upper);
        grpo_sum_add_(s, factor * lower);
        if (!k) return;
    }
    for (k = 0; k < GRPO_BLOCK_; k++) {
        double y = x[k];
        if (cuts) { y -= (cut[0] + y) - cut[0]; y -= (cut[1] + y) - cut[1]; }
        if (y != 0) grpo_sum_add_(s, factor * y);
    }
}

static int64_t grpo_sum_add_within_(const grpo_batch *batch, int64_t t, int64_t end, const grpo_real *x, const grpo_real *y, double reach,
                                    double least, double most, grpo_sum *sum) {
    const int bounded = least > -HUGE_VAL || most < HUGE_VAL;
    const grpo_sum before = *sum;
    double a[GRPO_BLOCK_], b[GRPO_BLOCK_];                             /* then a - b in two words */
    int64_t count = 0;
    int n;
    while (t < end) {
        for (n = 0; n < GRPO_BLOCK_ && t < end; t++) {
            if (!grpo_is_unmasked_(batch, t)) continue;
            a[n] = (double)x[t];
            b[n++] = y ? (double)y[t] : 0;
        }
        count += n;
        for (int k = n; k < GRPO_BLOCK_; k++) a[k] = b[k] = 0;
        for (int k = 0; k < GRPO_BLOCK_; k++) {
            const double d = a[k] - b[k];
            b[k] = grpo_sum_rounding_(a[k], -b[k], d);
            a[k] = d;
        }
        if (!(grpo_block_magnitude_(a) <= reach)) { *sum = before; return -1; }
        for (int k = 0; bounded && k < n; k++) {
            const double bound = grpo_within(a[k], least, most);
            if (bound != a[k]) { a[k] = bound; b[k] = 0; }
        }
        grpo_sum_add_block_(sum, 1, a);
        grpo_sum_add_block_(sum, 1, b);
    }
    return count;
}

/* ---- a block of tokens ----------------------------------------------------------------------------------------------------------- */
#ifdef __GNUC__
#define GRPO_ALIGNED_ __attribute__((aligned(64)))                     /* no vector of it lies across two lines of the cache */
#else
#define GRPO_ALIGNED_
#endif

/* what is added to the gradient of the terms: nothing; what a group gives through a response, over its divisor; what stands beside the
 * terms, over the factor */
typedef enum { GRPO_ADDS_NOTHING_, GRPO_ADDS_COUPLED_, GRPO_ADDS_BESIDE_ } grpo_adds_;

enum { GRPO_OWN_FACTORS_ = 16 };                                       /* of so many sequences at most */

typedef struct grpo_block_ {
    int64_t at[GRPO_BLOCK_];
    double logp[GRPO_BLOCK_], A[GRPO_BLOCK_];
    double old[GRPO_BLOCK_];                                           /* in the ratio's denominator; then the slope of S by logp */
    double divisor[GRPO_BLOCK_], coefficient[GRPO_BLOCK_];             /* of their sequences; with adds, what that is */
    double ratio[GRPO_BLOCK_];
    double d[2][GRPO_BLOCK_], k3[GRPO_BLOCK_];                         /* l - logp_old in two words, and e^d - d - 1; once the report has
                                                                          them, D = l - logp_ref and e^-D + D - 1 */
    double value[GRPO_BLOCK_], slope[GRPO_BLOCK_];                     /* of S; by the log-ratio */
    double penalty[GRPO_BLOCK_], penalty_slope[GRPO_BLOCK_];           /* P; by logp.  Before, the weight of axis 6, and the slope of S by
                                                                          logp where it is given, or whether off_policy_mask drops it */
    double own[2][GRPO_OWN_FACTORS_];                                  /* grpo_own_factor_ of the sequences of which there are some, */
    uint8_t whose[GRPO_BLOCK_];                                        /* and which of these are a token's */
    int owners;
    int n;
    int divided, scattered;                                            /* some divisor is not 1; their places are no single run */
    int drops;                                                         /* off_policy_mask does some */
    /* of the objective: */
    int given;                                                         /* ratio, value and slopes are those of their responses */
    int weighted;                                                      /* tokens have weights of axis 6 */
    int corrects;                                                      /* which grpo_block_correct_ finds */
    int clips, clipped;                                                /* S may be that of grpo_block_clip_; it is, of these tokens */
    int penalised;                                                     /* P by grpo_block_further_penalties_ */
    grpo_adds_ adds;
} grpo_block_;

static int grpo_is_clip_(grpo_surrogate_kind kind) {
    return kind == GRPO_SURROGATE_RATIO || kind == GRPO_SURROGATE_PPO_CLIP || kind == GRPO_SURROGATE_DUAL_CLIP;
}

/* a clamp of the log-ratio, if there is one, that nothing but a token beyond the series and beyond the bounds of the clip meets */
static int grpo_clamps_far_off_(const grpo_run_ *r) {
    const grpo_ratio_axis *a = &r->obj->ratio;
    const double low = r->range.log_low, high = r->range.log_high;
    if (a->clamp_low == 0 && a->clamp_high == 0) return 1;
    if (a->level != GRPO_LEVEL_TOKEN || !grpo_is_clip_(r->obj->surrogate.kind)) return 0;
    if (!(a->clamp_low < -GRPO_SERIES_ && a->clamp_high > GRPO_SERIES_)) return 0;
    if (r->obj->surrogate.kind == GRPO_SURROGATE_RATIO) return 1;
    return (a->clamp_low < low || low == -HUGE_VAL) && (a->clamp_high > high || high == HUGE_VAL);
}

/* is M of a unit's tokens one and the same, where their advantages are? */
static int grpo_masks_whole_units_(const grpo_weight *w) {
    const int of_ratio = w->trust == GRPO_TRUST_NONE || w->trust == GRPO_TRUST_ONE_SIDED || w->trust == GRPO_TRUST_TWO_SIDED
        || w->trust == GRPO_TRUST_LOG_TWO_SIDED || w->trust == GRPO_TRUST_RING || w->trust == GRPO_TRUST_NEGATIVE_BAND;
    return of_ratio && w->off_policy_mask == GRPO_OFF_POLICY_MASK_NONE && w->selected == GRPO_SELECTED_ALL
        && w->policy_is == GRPO_POLICY_IS_NONE;
}

/* has a response one term for all its tokens, as far as the objective goes? */
static int grpo_has_terms_of_responses_(const grpo_run_ *r) {
    const grpo_ratio_axis *a = &r->obj->ratio;
    if (a->level > GRPO_LEVEL_SEGMENT_SUM || (a->level == GRPO_LEVEL_SEQUENCE_CLIPPED_MEAN && r->has_policy_mask)) return 0;
    if (a->interpolate != GRPO_INTERPOLATE_NONE || a->clamp_low != 0 || a->clamp_high != 0) return 0;
    if (r->obj->surrogate.kind == GRPO_SURROGATE_UNBOUNDED_POSITIVE) return 0;      /* whose value is not proportional to its slope by l */
    return r->is_plain_surrogate && !r->has_token_factors && grpo_masks_whole_units_(&r->obj->weight)
        && r->obj->penalty.kl_importance_weight != GRPO_KL_IMPORTANCE_WEIGHT_LEVEL;
}

static int grpo_pays_any_kl_(const grpo_penalty *p) { return p->kl != GRPO_KL_NONE && p->kl_coef != 0; }

/* is the KL one that grpo_block_penalty_ does not know? */
static int grpo_has_further_kl_(const grpo_penalty *p) {
    return grpo_pays_any_kl_(p) && (p->kl == GRPO_KL_EXTERNAL || p->kl_on != GRPO_KL_ON_ALL);
}

/* does the objective ask no more? */
static int grpo_goes_by_blocks_(const grpo_run_ *r) {
    const grpo_objective *o = r->obj;
    const int of_group = grpo_is_of_group_(o->surrogate.kind), beside = r->scales.nll != 0 || r->scales.preference != 0;
    if (o->surrogate.bounds == GRPO_BOUNDS_POSITION || o->penalty.nll_gate != GRPO_NLL_GATE_NONE) return 0;
    if (of_group && (beside || r->has_policy_mask || o->ratio.level == GRPO_LEVEL_TOKEN)) return 0;
    /* their gradients by the entropy and by the divergence are made with the coefficient, in whose place is what is added */
    if ((of_group || beside) && (o->penalty.entropy_coef != 0 || o->penalty.kl == GRPO_KL_EXTERNAL)) return 0;
    if (r->has_own_divisors && (grpo_has_further_kl_(&o->penalty) || o->penalty.kl_importance_weight == GRPO_KL_IMPORTANCE_WEIGHT_LEVEL))
        return 0;
    if (o->weight.external == GRPO_EXTERNAL_TERM) return 0;
    if (grpo_counts_by_sign_(o) || o->aggregation.kind == GRPO_AGGREGATION_SEQ_MEAN_SEGMENT_MEAN) return 0;
    return o->ratio.level == GRPO_LEVEL_TOKEN || grpo_has_terms_of_responses_(r);
}

/* is S that of grpo_block_clip_? */
static int grpo_clips_in_blocks_(const grpo_run_ *r) {
    const grpo_weight *w = &r->obj->weight;
    const grpo_ratio_axis *a = &r->obj->ratio;
    return grpo_is_clip_(r->obj->surrogate.kind) && r->is_plain_surrogate && grpo_clamps_far_off_(r) && a->level_clamp_low == 0
        && a->level_clamp_high == 0 && w->trust == GRPO_TRUST_NONE;
}

/* may a clamp cut log-ratios?  far: some are beyond the reach of the series */
static int grpo_clamp_may_cut_(double low, double high, int far) {
    return (low != 0 || high != 0) && (far || !(low < -GRPO_SERIES_ && high > GRPO_SERIES_));
}

static int grpo_clamps_may_cut_(const grpo_ratio_axis *a, int far) {
    return grpo_clamp_may_cut_(a->clamp_low, a->clamp_high, far) || grpo_clamp_may_cut_(a->level_clamp_low, a->level_clamp_high, far);
}

/* is the penalty kl_coef K, and nothing else? */
static int grpo_kl_is_plain_(const grpo_penalty *p) {
    return p->kl_importance_weight == GRPO_KL_IMPORTANCE_WEIGHT_NONE && p->kl_importance_weight_max == 0
        && p->kl_gradient == GRPO_KL_GRADIENT_EXACT && p->kl_clamp_log == 0 && p->kl_clamp_value == 0;
}

/* is u the ratio that is at hand? */
static int grpo_kl_weight_is_ratio_(const grpo_penalty *p) {
    return p->kl_importance_weight == GRPO_KL_IMPORTANCE_WEIGHT_TOKEN || p->kl_importance_weight == GRPO_KL_IMPORTANCE_WEIGHT_LEVEL;
}

/* is it u kl_coef k3 where the series reaches?  There k3 is 0.15 at most and u 1.65, so that clamps further off cut nothing */
static int grpo_kl_by_series_(const grpo_run_ *r) {
    const grpo_penalty *p = &r->obj->penalty;
    const int of_token = p->kl_importance_weight == GRPO_KL_IMPORTANCE_WEIGHT_TOKEN;
    if (p->kl_importance_weight_max != 0 || (of_token && r->obj->ratio.level != GRPO_LEVEL_TOKEN)) return 0;
    if (grpo_kl_weight_is_ratio_(p) && grpo_clamps_may_cut_(&r->obj->ratio, 0)) return 0;
    return p->kl == GRPO_KL_K3 && p->kl_gradient == GRPO_KL_GRADIENT_EXACT && (p->kl_clamp_log == 0 || p->kl_clamp_log > GRPO_SERIES_)
        && (p->kl_clamp_value == 0 || p->kl_clamp_value > 0.25);
}

/* a - b into hi + lo, in blocks */
static void grpo_block_gap_(double *GRPO_RESTRICT_ hi, double *GRPO_RESTRICT_ lo, const double *GRPO_RESTRICT_ a,
                            const double *GRPO_RESTRICT_ b) {
    for (int k = 0; k < GRPO_BLOCK_; k++) {
        hi[k] = a[k] - b[k];
        lo[k] = grpo_sum_rounding_(a[k], -b[k], hi[k]);
    }
}

/* ratio = e^d and k3 = e^d - d - 1 of d = hi + lo, by the series */
static void grpo_block_powers_(double *GRPO_RESTRICT_ ratio, double *GRPO_RESTRICT_ k3, const double *GRPO_RESTRICT_ hi,
                               const double *GRPO_RESTRICT_ lo) {
    for (int k = 0; k < GRPO_BLOCK_; k++) {
        const double f = grpo_exp_series_(hi[k]);
        ratio[k] = 1 + grpo_near_exp_minus_one_(hi[k], lo[k], f);
        k3[k] = grpo_near_exp_minus_linear_(hi[k], lo[k], f);
    }
}

/* d_t, clamped; *passes = 0 where that cuts the derivative */
static grpo_dd grpo_block_clamped_(const grpo_run_ *r, const grpo_block_ *x, int k, int *passes) {
    return grpo_clamp(grpo_dd_pair_(x->d[0][k], x->d[1][k]), r->obj->ratio.clamp_low, r->obj->ratio.clamp_high, passes);
}

/* ratio and k3 of the block, with d = l - logp_old, clamped for the ratio of a clip alone; returns whether a d exceeds the reach of the
 * series */
GRPO_APART_ int grpo_block_ratios_(const grpo_run_ *r, grpo_block_ *x) {
    double *hi = x->d[0], *lo = x->d[1], *k3 = x->k3, *ratio = x->ratio;
    int far, passes;
    grpo_block_gap_(hi, lo, x->logp, x->old);
    far = grpo_block_exceeds_(hi, GRPO_SERIES_);
    grpo_block_powers_(ratio, k3, hi, lo);
    for (int k = 0; far && k < GRPO_BLOCK_; k++) {
        grpo_dd y;
        if (!grpo_is_far_(hi[k])) continue;
        y = grpo_two_diff(x->logp[k], x->old[k]);
        hi[k] = y.hi; lo[k] = y.lo;
        ratio[k] = grpo_exp(x->clipped ? grpo_block_clamped_(r, x, k, &passes) : y);
        k3[k] = grpo_exp_minus_linear(y);
    }
    return far;
}

/* 1 where the bound of x takes the gradient, else 0; how many there are */
static double grpo_block_binds_(double *GRPO_RESTRICT_ is, const double *GRPO_RESTRICT_ A, const double *GRPO_RESTRICT_ x, double bound) {
    for (int k = 0; k < GRPO_BLOCK_; k++) is[k] = grpo_clip_binds(A[k], x[k] > bound) ? 1 : 0;
    return grpo_block_total_(is);
}

/* ratio, ppo_clip and dual_clip, in loops with a choice each, which gcc -O2 vectorises; far: some log-ratios are large.  Where a token is
 * clipped, one of the three is 1. */
static void grpo_block_clip_(const grpo_run_ *r, grpo_block_ *x, int far) {
    const grpo_surrogate *s = &r->obj->surrogate;
    const int clips = s->kind != GRPO_SURROGATE_RATIO, twice = s->kind == GRPO_SURROGATE_DUAL_CLIP;
    const double low = grpo_is_finite(r->range.low) ? r->range.low : 0, high = grpo_is_finite(r->range.high) ? r->range.high : 0;
    const double dual = twice && grpo_is_finite(s->clip_dual) ? s->clip_dual : 0;
    const double *GRPO_RESTRICT_ d = x->d[0], *GRPO_RESTRICT_ ratio = x->ratio;
    double *GRPO_RESTRICT_ value = x->value, *GRPO_RESTRICT_ slope = x->slope;
    /* arrays that are free at this point */
    double *GRPO_RESTRICT_ by_high = x->old, *GRPO_RESTRICT_ by_low = x->penalty, *GRPO_RESTRICT_ by_dual = x->penalty_slope;
    double *GRPO_RESTRICT_ A = x->A;                                   /* then -A */
    int64_t *clip = r->partial->clips, highs, lows, duals;
    highs = (int64_t)grpo_block_binds_(by_high, A, d, clips ? r->range.log_high : HUGE_VAL);
    for (int k = 0; k < GRPO_BLOCK_; k++) { A[k] = -A[k]; value[k] = -d[k]; }
    lows = (int64_t)grpo_block_binds_(by_low, A, value, clips ? -r->range.log_low : HUGE_VAL);
    duals = (int64_t)grpo_block_binds_(by_dual, A, ratio, twice ? s->clip_dual : HUGE_VAL);
    for (int k = 0; k < GRPO_BLOCK_; k++) slope[k] = A[k] * ratio[k] + 0.0;  /* no -0 */
    for (int k = 0; far && k < GRPO_BLOCK_; k++) slope[k] = grpo_times(A[k], ratio[k]);
    for (int k = 0; k < GRPO_BLOCK_; k++) slope[k] = by_high[k] + by_low[k] + by_dual[k] > 0 ? 0 : slope[k];
    for (int k = 0; k < GRPO_BLOCK_; k++) value[k] = slope[k] + (by_high[k] * high + by_low[k] * low + by_dual[k] * dual) * A[k];
    for (int k = 0; far && k < x->n; k++) {
        int passes;
        grpo_block_clamped_(r, x, k, &passes);
        if (!passes) slope[k] = 0;
    }
    clip[GRPO_CLIP_HIGH] += highs;
    clip[GRPO_CLIP_LOW] += lows;
    clip[GRPO_CLIP_DUAL] += duals;
    clip[GRPO_CLIP_NO] += x->n - highs - lows - duals;
}

/* the ratio of a token, after its clamps; *passes: does its derivative reach l? */
GRPO_APART_ grpo_ratio grpo_block_ratio_(const grpo_run_ *r, const grpo_block_ *x, int k, int *passes) {
    const grpo_ratio_axis *a = &r->obj->ratio;
    grpo_ratio w = { 0, 0, 1 };
    int level_passes = 1;
    grpo_dd y;
    *passes = 1;
    if (!r->needs_ratio) return w;
    y = grpo_clamp(grpo_block_clamped_(r, x, k, passes), a->level_clamp_low, a->level_clamp_high, &level_passes);
    *passes &= level_passes;
    w.log = y.hi; w.log_lo = y.lo; w.value = *passes ? x->ratio[k] : grpo_exp(y);
    return w;
}

/* S of a token with a clamped ratio, or of a surrogate that grpo_surrogate_term does not know whole */
GRPO_APART_ grpo_term grpo_block_further_term_(const grpo_run_ *r, grpo_block_ *x, int k, const grpo_token_ *token) {
    int passes;
    const grpo_ratio w = grpo_block_ratio_(r, x, k, &passes);
    grpo_term t = { 0, 0, 0, GRPO_CLIP_NO };
    if (r->advantage) t = grpo_token_surrogate_(r, token, w);           /* else there is no surrogate */
    if (!passes) t.d_log_ratio = 0;
    x->ratio[k] = w.value;
    return t;
}

/* z = tau (w - 1): into up whether it is above 0, into hi and lo -|z| in two words */
static void grpo_block_gate_arguments_(const grpo_surrogate *s, const grpo_block_ *x, double *up, double *hi, double *lo) {
    for (int k = 0; k < GRPO_BLOCK_; k++) {
        const double tau = x->A[k] > 0 ? s->tau_pos : s->tau_neg, off = x->ratio[k] - 1;
        const double p = off * tau, rest = fma(off, tau, -p) + grpo_sum_rounding_(x->ratio[k], -1, off) * tau, z = p + rest;
        up[k] = z > 0;
        hi[k] = -fabs(z);
        lo[k] = z > 0 ? -grpo_sum_rounding_(p, rest, z) : grpo_sum_rounding_(p, rest, z);
    }
}

/* S of sapo and of sapo_detached, of ratios that are near 1; 0, with nothing done: some token needs more than the series */
GRPO_APART_ int grpo_block_sapo_(const grpo_run_ *r, grpo_block_ *x) {
    const grpo_surrogate *s = &r->obj->surrogate;
    double *up = x->penalty_slope, *hi = x->old, *lo = x->slope, *e = x->value, none[GRPO_BLOCK_];      /* free at this point */
    grpo_block_gate_arguments_(s, x, up, hi, lo);
    if (grpo_block_exceeds_(hi, GRPO_SERIES_)) return 0;
    grpo_block_powers_(e, none, hi, lo);
    for (int k = 0; k < GRPO_BLOCK_; k++) {
        const double scale = -4 / (x->A[k] > 0 ? s->tau_pos : s->tau_neg);
        x->slope[k] = -4 * grpo_gate_slope_(e[k]) * x->A[k] * x->ratio[k] + 0.0;       /* no -0 */
        x->value[k] = scale * grpo_gate_value_(e[k], up[k] != 0) * x->A[k] + 0.0;
        x->old[k] = 0;
    }
    for (int k = 0; s->kind == GRPO_SURROGATE_SAPO_DETACHED && k < GRPO_BLOCK_; k++) {
        x->old[k] = x->value[k];
        x->value[k] = grpo_times(x->value[k], x->logp[k]);
        x->slope[k] = 0;
    }
    r->partial->clips[GRPO_CLIP_NO] += x->n;
    return 1;
}

/* S token by token; where trust or off_policy_mask drops one its weight becomes 0.  far: some log-ratios are large */
static void grpo_block_terms_(const grpo_run_ *r, grpo_block_ *x, int far) {
    const grpo_surrogate *s = &r->obj->surrogate;
    const int further = !r->is_plain_surrogate || (r->needs_ratio && grpo_clamps_may_cut_(&r->obj->ratio, far));
    const int masks = r->has_policy_mask && (x->drops || r->obj->weight.trust != GRPO_TRUST_NONE);
    const int is_sapo = s->kind == GRPO_SURROGATE_SAPO || s->kind == GRPO_SURROGATE_SAPO_DETACHED;
    grpo_token_ token;
    if (is_sapo && !further && !masks && !far && grpo_block_sapo_(r, x)) return;
    memset(&token, 0, sizeof token);
    for (int k = 0; k < x->n; k++) {
        grpo_ratio w = { x->d[0][k], x->d[1][k], x->ratio[k] };
        grpo_term t;
        int passes;
        token.t = x->at[k];
        t = further ? grpo_block_further_term_(r, x, k, &token) : grpo_surrogate_term(s, r->range, w, x->A[k], x->logp[k]);
        if (masks) {
            if (further) w = grpo_block_ratio_(r, x, k, &passes);
            token.distrusted = x->drops && x->penalty_slope[k] != 0;
            if (grpo_is_distrusted_(r, &token, w)) {
                x->penalty[k] = 0;
                if (x->A[k] != 0) t.clip = x->A[k] > 0 ? GRPO_CLIP_HIGH : GRPO_CLIP_LOW;
            }
        }
        x->value[k] = t.value; x->slope[k] = t.d_log_ratio; x->old[k] = t.d_logp;
        r->partial->clips[t.clip]++;
    }
}

/* by the log-ratio, as far as its clamps let it */
GRPO_APART_ void grpo_block_add_slope_(const grpo_run_ *r, grpo_block_ *x, int k, double slope) {
    const grpo_ratio_axis *a = &r->obj->ratio;
    int passes, level_passes;
    if (slope == 0) return;
    grpo_clamp(grpo_log_ratio_(r, x->at[k], &passes), a->level_clamp_low, a->level_clamp_high, &level_passes);
    if (passes && level_passes) x->slope[k] = grpo_plus(x->slope[k], slope);
}

/* P of a KL that is given, or of some tokens, token by token */
GRPO_APART_ void grpo_block_further_penalties_(const grpo_run_ *r, grpo_block_ *x) {
    grpo_token_ token;
    memset(&token, 0, sizeof token);
    token.factor.term = 1;
    for (int k = 0; k < x->n; k++) {
        const grpo_ratio w = { 0, 0, x->ratio[k] };
        grpo_term t;
        token.t = x->at[k];
        t = grpo_weighted_penalty_(r, &token, w, 1, 1);
        x->penalty[k] = t.value; x->penalty_slope[k] = t.d_logp;
        grpo_block_add_slope_(r, x, k, t.d_log_ratio);
    }
}

/* coef k3 of D = hi + lo, and its derivative; the series is k3 but for what lo gave to it, and not summed again */
static void grpo_block_k3_penalty_(double *GRPO_RESTRICT_ value, double *GRPO_RESTRICT_ slope, const double *GRPO_RESTRICT_ coef,
                                   const double *GRPO_RESTRICT_ hi, const double *GRPO_RESTRICT_ lo, const double *GRPO_RESTRICT_ k3) {
    for (int k = 0; k < GRPO_BLOCK_; k++) {
        const double m = -hi[k];
        value[k] = coef[k] * k3[k];
        slope[k] = -coef[k] * grpo_near_exp_minus_one_(m, -lo[k], k3[k] + lo[k] * m);
    }
}

/* is D or, where the KL is weighted by it, the ratio beyond the series? */
static int grpo_block_kl_is_far_(const grpo_penalty *p, const grpo_block_ *x, int k) {
    return grpo_is_far_(x->d[0][k]) || (grpo_kl_weight_is_ratio_(p) && !(x->ratio[k] > 0.607 && x->ratio[k] < 1.648));
}

/* u coef k3, du = u dl or u dy */
static void grpo_block_kl_by_series_(const grpo_penalty *p, grpo_block_ *x) {
    const grpo_kl_importance_weight_kind by = p->kl_importance_weight;
    double coef[GRPO_BLOCK_];
    if (grpo_kl_weight_is_ratio_(p)) for (int k = 0; k < GRPO_BLOCK_; k++) coef[k] = x->ratio[k] * p->kl_coef;
    else for (int k = 0; k < GRPO_BLOCK_; k++) coef[k] = p->kl_coef;
    grpo_block_k3_penalty_(x->penalty, x->penalty_slope, coef, x->d[0], x->d[1], x->k3);
    if (by == GRPO_KL_IMPORTANCE_WEIGHT_NONE) return;
    if (by != GRPO_KL_IMPORTANCE_WEIGHT_LEVEL) for (int k = 0; k < GRPO_BLOCK_; k++) x->penalty_slope[k] += x->penalty[k];
    else for (int k = 0; k < GRPO_BLOCK_; k++) if (!grpo_block_kl_is_far_(p, x, k)) x->slope[k] = grpo_plus(x->slope[k], x->penalty[k]);
}

/* the penalty and its derivative, token by token; of those beyond the series alone, or of all */
static void grpo_block_kl_(const grpo_run_ *r, grpo_block_ *x, const double *ref, int all) {
    const grpo_penalty *p = &r->obj->penalty;
    const int plain = grpo_kl_is_plain_(p), of_token = p->kl_importance_weight == GRPO_KL_IMPORTANCE_WEIGHT_TOKEN;
    if (plain && p->kl == GRPO_KL_K2) {
        for (int k = 0; k < GRPO_BLOCK_; k++) x->penalty[k] = p->kl_coef * (0.5 * x->d[0][k] * x->d[0][k]);
        for (int k = 0; k < GRPO_BLOCK_; k++) x->penalty_slope[k] = p->kl_coef * x->d[0][k];
        return;
    }
    for (int k = 0; k < x->n; k++) {
        if (!all && !grpo_block_kl_is_far_(p, x, k)) continue;
        if (plain) {
            const grpo_kl_term t = grpo_kl_estimate(p->kl, grpo_dd_pair_(x->d[0][k], x->d[1][k]));
            x->penalty[k] = grpo_times(p->kl_coef, t.value);
            x->penalty_slope[k] = grpo_times(p->kl_coef, t.derivative);
        } else {
            const double own = of_token ? grpo_ratio_of(x->logp[k], grpo_behaviour_(r, x->at[k])).value : 1;
            const grpo_term t = grpo_kl_penalty(p, x->logp[k], ref[k], own, x->ratio[k]);
            x->penalty[k] = t.value;
            x->penalty_slope[k] = t.d_logp;
            grpo_block_add_slope_(r, x, k, t.d_log_ratio);
        }
    }
}

/* writes x to the places of the block's tokens */
static void grpo_block_write_(const grpo_run_ *r, const grpo_block_ *b, grpo_real *GRPO_RESTRICT_ out, const double *GRPO_RESTRICT_ x) {
    int k;
    if (!out) return;
    if (grpo_block_exceeds_(x, (double)FLT_MAX)) for (k = 0; k < b->n; k++) grpo_put_(out, b->at[k], x[k], &r->partial->overflow);
    else if (b->scattered || b->n < GRPO_BLOCK_) for (k = 0; k < b->n; k++) out[b->at[k]] = (grpo_real)x[k];
    else for (out += b->at[0], k = 0; k < GRPO_BLOCK_; k++) out[k] = (grpo_real)x[k];
}

/* of what the KL is of, where it is given */
GRPO_APART_ void grpo_block_write_divergence_(const grpo_run_ *r, const grpo_block_ *b) {
    for (int k = 0; k < b->n; k++) {
        const int pays = r->obj->penalty.kl == GRPO_KL_EXTERNAL && grpo_pays_kl_(r, b->at[k]);
        grpo_write_(r, r->out.ddivergence_ref, b->at[k], pays ? r->obj->penalty.kl_coef * b->coefficient[k] : 0);
    }
}

/* the gradient, from that of the terms, where more is added; the way of grpo_write_gradient_ */
GRPO_APART_ void grpo_block_add_to_gradient_(const grpo_run_ *r, const grpo_block_ *b, double *g) {
    const double factor = r->scales.factor, divisor = r->scales.divisor;
    for (int k = 0; k < b->n; k++) {
        const double added = b->coefficient[k], mine = g[k] / b->divisor[k];
        if (b->adds == GRPO_ADDS_BESIDE_) g[k] = factor * grpo_plus(mine / divisor, added);
        else if (added != 0) g[k] = factor * (grpo_plus(mine, added) / divisor);
        else g[k] *= grpo_coefficient_(&r->scales, b->divisor[k]);
    }
}

static void grpo_block_write_all_(const grpo_run_ *r, const grpo_block_ *b) {
    const double coef = r->obj->penalty.entropy_coef;
    const double *by_logp = b->penalty_slope;
    double x[GRPO_BLOCK_];
    if (!grpo_is_clip_(r->obj->surrogate.kind)) {
        for (int k = 0; k < GRPO_BLOCK_; k++) x[k] = grpo_plus(b->old[k], b->penalty_slope[k]);
        by_logp = x;
    }
    for (int k = 0; k < GRPO_BLOCK_; k++) x[k] = grpo_plus(by_logp[k], b->slope[k]);
    if (b->adds != GRPO_ADDS_NOTHING_) grpo_block_add_to_gradient_(r, b, x);
    else for (int k = 0; k < GRPO_BLOCK_; k++) x[k] *= b->coefficient[k];
    grpo_block_write_(r, b, r->out.dlogp, x);
    if (r->out.term && !r->has_own_divisors) {
        for (int k = 0; k < GRPO_BLOCK_; k++) x[k] = grpo_plus(b->value[k], b->penalty[k]);
        grpo_block_write_(r, b, r->out.term, x);
    }
    if (r->out.ddivergence_ref) grpo_block_write_divergence_(r, b);
    if (r->out.dentropy && coef == 0) for (int k = 0; k < b->n; k++) r->out.dentropy[b->at[k]] = 0;
    else if (r->out.dentropy) {
        for (int k = 0; k < GRPO_BLOCK_; k++) x[k] = -coef * (r->has_own_divisors ? b->own[1][b->whose[k]] : 1) * b->coefficient[k];
        grpo_block_write_(r, b, r->out.dentropy, x);
    }
}

/* the least of sign x */
static double grpo_block_least_(const double *x, double sign) {
    double y[GRPO_BLOCK_], least;
    int k;
    for (k = 0; k < GRPO_BLOCK_; k++) y[k] = sign * x[k];
    for (k = 0; k < GRPO_BLOCK_ / 2; k++) { const double a = y[k], b = y[k + GRPO_BLOCK_ / 2]; y[k] = a < b ? a : b; }
    for (k = 0; k < GRPO_BLOCK_ / 4; k++) { const double a = y[k], b = y[k + GRPO_BLOCK_ / 4]; y[k] = a < b ? a : b; }
    for (k = 0; k < GRPO_BLOCK_ / 8; k++) { const double a = y[k], b = y[k + GRPO_BLOCK_ / 8]; y[k] = a < b ? a : b; }
    for (least = y[0], k = 1; k < GRPO_BLOCK_ / 8; k++) least = y[k] < least ? y[k] : least;
    return least;
}

/* the ratios into the report; what is beyond n is none */
static void grpo_block_report_ratios_(const grpo_run_ *r, grpo_block_ *x) {
    double most, *ratio = x->ratio;
    if (!r->reports_ratio) { grpo_report_extremes_(r->partial, 1, 1); return; }
    for (int k = x->n; k < GRPO_BLOCK_; k++) ratio[k] = ratio[0];
    most = -grpo_block_least_(ratio, -1);
    grpo_report_extremes_(r->partial, grpo_block_least_(ratio, 1), most);
    for (int k = 0; most > GRPO_RATIO_CAP_ && k < x->n; k++) grpo_report_excess_(r->partial, ratio[k]);
    for (int k = 0; most > GRPO_RATIO_CAP_ && k < x->n; k++) ratio[k] = grpo_capped_ratio_(ratio[k]);
    for (int k = x->n; k < GRPO_BLOCK_; k++) ratio[k] = 0;
    r->partial->ratio_tokens += x->n;
}

/* what is infinite among the differences goes to its sums at once */
static void grpo_block_infinite_(const grpo_run_ *r, grpo_block_ *x, const grpo_real *than,
                                 void (*report)(grpo_partial *, double, double)) {
    for (int k = 0; k < x->n; k++) {
        const double other = (double)than[x->at[k]];
        if (grpo_is_finite(x->logp[k] - other)) continue;
        x->d[0][k] = x->d[1][k] = x->k3[k] = 0;
        report(r->partial, x->logp[k], other);
    }
}

/* those beyond n are of no weight: l = logp_old = logp_ref = A = 0 */
static void grpo_block_pad_(grpo_block_ *x) {
    for (int k = x->n; k < GRPO_BLOCK_; k++) {
        x->logp[k] = x->old[k] = x->A[k] = x->coefficient[k] = x->value[k] = x->slope[k] = x->penalty[k] = x->penalty_slope[k] = 0;
        x->divisor[k] = 1;
        x->whose[k] = 0;
    }
}

/* l - other into d, with its k3 of sign times that; returns whether one exceeds the reach of the series */
static int grpo_block_differ_(grpo_block_ *x, const double *other, double sign) {
    double *hi = x->d[0], *lo = x->d[1];
    int far;
    grpo_block_gap_(hi, lo, x->logp, other);
    far = grpo_block_exceeds_(hi, GRPO_SERIES_);
    for (int k = 0; far && k < x->n; k++) {
        const grpo_dd D = grpo_two_diff(x->logp[k], other[k]);
        hi[k] = D.hi; lo[k] = D.lo;
    }
    grpo_block_k3_(x->k3, sign, hi, lo, far);
    return far;
}

/* what an array has at the tokens of the block, into A, which nobody asks for by then */
static const double *grpo_block_gather_(grpo_block_ *x, const grpo_real *from) {
    for (int k = 0; k < GRPO_BLOCK_; k++) x->A[k] = k < x->n ? (double)from[x->at[k]] : 0;
    return x->A;
}

/* v S */
static void grpo_block_weigh_(const grpo_run_ *r, grpo_block_ *x, const double *weight) {
    for (int k = 0; k < x->n; k++) {
        x->value[k] = grpo_times(weight[k], x->value[k]);
        x->slope[k] = grpo_times(weight[k], x->slope[k]);
        if (!grpo_is_clip_(r->obj->surrogate.kind)) x->old[k] = grpo_times(weight[k], x->old[k]);
    }
}

/* the terms, with KL and entropy bonus as they are; then these over their own divisors, in units of the terms' */
GRPO_APART_ void grpo_block_own_penalties_(const grpo_run_ *r, grpo_block_ *x) {
    const double coef = r->obj->penalty.entropy_coef;
    double term[GRPO_BLOCK_] = { 0 };
    for (int k = 0; k < x->n; k++) {
        const double H = coef != 0 ? (double)r->batch->entropy[x->at[k]] : 0, kl = x->penalty[k];
        term[k] = grpo_plus(x->value[k], coef != 0 ? grpo_plus(kl, -coef * H) : kl);
        x->penalty[k] = grpo_times(x->own[0][x->whose[k]], kl);
        x->penalty_slope[k] = grpo_times(x->own[0][x->whose[k]], x->penalty_slope[k]);
        if (coef != 0) x->penalty[k] = grpo_plus(x->penalty[k], -coef * x->own[1][x->whose[k]] * H);
    }
    grpo_block_write_(r, x, r->out.term, term);
}

/* the penalty; returns whether d and k3 are those of logp_ref, and in *far whether one exceeds the series */
static int grpo_block_penalty_(const grpo_run_ *r, grpo_block_ *x, int *far) {
    const grpo_penalty *p = &r->obj->penalty;
    const grpo_batch *b = r->batch;
    const grpo_real *than = grpo_logp_of_(b, grpo_kl_whose_(p));
    if (x->penalised) { grpo_block_further_penalties_(r, x); return 0; }
    if (grpo_pays_any_kl_(p)) {
        const int by_series = grpo_kl_by_series_(r);
        *far = grpo_block_differ_(x, grpo_block_gather_(x, than), -1);
        if (by_series) grpo_block_kl_by_series_(p, x);
        if (*far || !by_series || grpo_kl_weight_is_ratio_(p)) grpo_block_kl_(r, x, x->A, !by_series);
    } else for (int k = 0; k < GRPO_BLOCK_; k++) x->penalty[k] = x->penalty_slope[k] = 0;
    if (r->has_own_divisors) grpo_block_own_penalties_(r, x);
    else for (int k = 0; p->entropy_coef != 0 && k < x->n; k++)
        x->penalty[k] = grpo_plus(x->penalty[k], -p->entropy_coef * (double)b->entropy[x->at[k]]);
    return grpo_pays_any_kl_(p) && than == b->logp_ref;
}

/* the differences to the reference policy, into the report; there, far: of what is in d and k3 */
static void grpo_block_report_ref_(const grpo_run_ *r, grpo_block_ *x, int there, int far) {
    const grpo_real *ref = r->batch->logp_ref;
    if (!ref) return;
    if (!there) far = grpo_block_differ_(x, grpo_block_gather_(x, ref), -1);
    if (far) grpo_block_infinite_(r, x, ref, grpo_report_ref_);
    grpo_report_ref_block_(r->partial->sum, x->d, x->k3);
}

/* what the report takes of a term: over its sequence's divisor */
static void grpo_block_divide_(double *GRPO_RESTRICT_ term, const grpo_block_ *x) {
    if (x->divided && grpo_block_magnitude_(term) != 0) for (int k = 0; k < GRPO_BLOCK_; k++) term[k] /= x->divisor[k];
}

/* what the report takes of the block, whose numbers are its own to change once the outputs are written */
static void grpo_block_report_(const grpo_run_ *r, grpo_block_ *x) {
    const grpo_batch *b = r->batch;
    double *entropy = x->slope;
    grpo_block_report_ratios_(r, x);
    grpo_block_divide_(x->value, x);
    grpo_block_divide_(x->penalty, x);
    for (int k = 0; b->entropy && k < GRPO_BLOCK_; k++) entropy[k] = k < x->n ? (double)b->entropy[x->at[k]] : 0;
    grpo_report_terms_(r, x->value, x->penalty, x->ratio, entropy);
    r->partial->tokens += x->n;
}

/* Either tokens wait to be evaluated together or, evaluated, for the report: not both, for they share their room. */
typedef struct grpo_room_ {
    union { grpo_waiting_ waiting; grpo_block_ block; } of;
    int together;
} grpo_room_;

/* may a token have a weight besides that of the correction? */
static int grpo_weighs_further_(const grpo_run_ *r) {
    const grpo_weight *w = &r->obj->weight;
    return r->has_token_factors || (r->has_policy_mask && (w->off_policy_mask != GRPO_OFF_POLICY_MASK_NONE
            || w->selected != GRPO_SELECTED_ALL || w->policy_is != GRPO_POLICY_IS_NONE));
}

/* have those of the sequence one each? */
static int grpo_weighs_tokens_further_(const grpo_run_ *r, const grpo_sequence_ *s) {
    const grpo_weight *w = &r->obj->weight;
    return w->fipo != GRPO_FIPO_NONE || w->external != GRPO_EXTERNAL_NONE || (r->has_policy_mask && (s->stale
            || w->selected != GRPO_SELECTED_ALL || w->policy_is != GRPO_POLICY_IS_NONE));
}

/* may v of the tokens be found together?  Each has its own, and none leaves the mask for it */
static int grpo_corrects_in_blocks_(const grpo_run_ *r) {
    const grpo_weight *w = &r->obj->weight;
    if (r->obj->ratio.level != GRPO_LEVEL_TOKEN || !grpo_rollout_is_over_(w, GRPO_OVER_TOKEN)) return 0;
    if (grpo_has_segments_(w) || grpo_rollout_rs_over_(w, GRPO_OVER_TOKEN) || grpo_weighs_further_(r)) return 0;
    return w->rollout_rejected == GRPO_ROLLOUT_REJECTED_ZERO_WEIGHT || w->rollout_is == GRPO_ROLLOUT_IS_TRUNCATE;
}

/* v of the tokens, in rooms that are free at this point; 0 stays 0 */
static void grpo_block_correct_(const grpo_run_ *r, grpo_block_ *x) {
    const grpo_batch *b = r->batch;
    const grpo_weight *w = &r->obj->weight;
    const double reach = w->rollout_clamp != 0 && w->rollout_clamp < GRPO_SERIES_ ? w->rollout_clamp : GRPO_SERIES_;
    double *hi = x->d[0], *lo = x->d[1], *old = x->value, *rollout = x->slope;
    for (int k = 0; k < x->n; k++) { old[k] = (double)b->logp_old[x->at[k]]; rollout[k] = (double)b->logp_rollout[x->at[k]]; }
    for (int k = x->n; k < GRPO_BLOCK_; k++) old[k] = rollout[k] = 0;
    grpo_block_gap_(hi, lo, old, rollout);
    grpo_block_powers_(x->ratio, x->k3, hi, lo);
    for (int k = 0; k < x->n; k++) {
        const grpo_ratio v = { hi[k], lo[k], x->ratio[k] };
        if (x->penalty[k] == 0) continue;
        x->penalty[k] = (fabs(hi[k]) < reach ? grpo_rollout_is(w, v) : grpo_token_rollout_is_(r->obj, b, x->at[k], 1)).value;
    }
    for (int k = x->n; k < GRPO_BLOCK_; k++) x->penalty[k] = x->value[k] = x->slope[k] = 0;
}

/* M v g S; returns whether d and k3 are no longer those of the ratio */
static int grpo_block_evaluate_(const grpo_run_ *r, grpo_block_ *x, int far) {
    const double *weight = x->penalty;
    if (x->given) { memcpy(x->old, x->penalty_slope, sizeof x->old); return 0; }
    if (x->clipped && x->weighted) weight = (const double *)memcpy(x->k3, x->penalty, sizeof x->k3);      /* which the clip leaves alone */
    if (x->clipped) grpo_block_clip_(r, x, far); else grpo_block_terms_(r, x, far);
    if (x->weighted) grpo_block_weigh_(r, x, weight);
    return x->clipped && x->weighted;
}

/* the differences to the old policy, into the report; far: of those that are there */
static void grpo_block_report_old_(const grpo_run_ *r, grpo_block_ *x, int there, int far) {
    const grpo_real *old = r->batch->logp_old;
    if (!old) return;
    if (!there) far = grpo_block_differ_(x, grpo_block_gather_(x, old), 1);
    if (far) grpo_block_infinite_(r, x, old, grpo_report_old_);
    grpo_report_old_block_(r->partial->sum, x->d, x->k3);
}

/* evaluates the tokens that wait */
static void grpo_block_flush_(const grpo_run_ *r) {
    const int is_old = r->behaviour == r->batch->logp_old;
    grpo_block_ *x = r->block;
    int far = 0, there = is_old;
    if (x->n == 0) return;
    if (x->n < GRPO_BLOCK_) grpo_block_pad_(x);
    x->clipped = x->clips && !x->drops;
    if (x->corrects) grpo_block_correct_(r, x);
    if (r->has_rollout_weights) r->partial->weight_tokens += x->n;
    if (r->has_rollout_weights && !grpo_weighs_further_(r)) grpo_sum_add_block_(&r->partial->sum[GRPO_SUM_WEIGHT], 1, x->penalty);
    if (x->given) far = is_old ? grpo_block_differ_(x, x->old, 1) : 0;
    else if (r->needs_ratio) far = grpo_block_ratios_(r, x);
    else {
        for (int k = 0; k < GRPO_BLOCK_; k++) { x->ratio[k] = 1; x->d[0][k] = x->d[1][k] = 0; }
        there = 0;
    }
    if (grpo_block_evaluate_(r, x, far)) there = 0;
    grpo_block_report_old_(r, x, there, far);
    there = grpo_block_penalty_(r, x, &far);
    grpo_block_report_ref_(r, x, there, far);
    grpo_block_write_all_(r, x);
    grpo_block_report_(r, x);
    x->n = x->owners = x->divided = x->scattered = x->drops = 0;
}

/* tokens that will be evaluated one by one come next: those that wait are done */
static void grpo_go_singly_(const grpo_run_ *r) {
    if (!r->room->together) return;
    grpo_block_flush_(r);
    r->room->together = 0;
    r->waiting->n = 0;
}

static void grpo_go_together_(const grpo_run_ *r) {
    grpo_block_ *x = r->block;
    if (r->room->together) return;
    grpo_report_flush_(r);
    r->room->together = 1;
    x->n = x->owners = x->divided = x->scattered = x->drops = 0;
    x->given = r->obj->ratio.level != GRPO_LEVEL_TOKEN;
    x->weighted = r->has_rollout_weights || r->has_policy_mask || r->has_token_factors;
    x->corrects = grpo_corrects_in_blocks_(r);
    x->clips = !x->given && grpo_clips_in_blocks_(r);
    x->adds = grpo_is_of_group_(r->obj->surrogate.kind) ? GRPO_ADDS_COUPLED_
        : r->scales.nll != 0 || r->scales.preference != 0 ? GRPO_ADDS_BESIDE_ : GRPO_ADDS_NOTHING_;
    x->penalised = grpo_has_further_kl_(&r->obj->penalty);
}

/* tokens of s come next; where there is no room for its factors, those that wait are done */
static void grpo_block_open_(const grpo_run_ *r) {
    grpo_go_together_(r);
    if (r->block->owners == GRPO_OWN_FACTORS_) grpo_block_flush_(r);
}

/* the next n tokens are of these factors */
GRPO_APART_ void grpo_block_own_(const grpo_sequence_ *s, grpo_block_ *x, int n) {
    const double kl = grpo_own_factor_(s, 1, 0), entropy = grpo_own_factor_(s, 1, 1);
    const int last = x->owners - 1;
    if (last < 0 || kl != x->own[0][last] || entropy != x->own[1][last]) {
        x->own[0][x->owners] = kl;
        x->own[1][x->owners++] = entropy;
    }
    memset(x->whose + x->n, x->owners - 1, (size_t)n);
}

/* what stands beside the terms of the tokens that have joined since, into the report and to be added to their gradient */
GRPO_APART_ void grpo_block_set_beside_(const grpo_run_ *r, const grpo_sequence_ *s, grpo_block_ *x, int since) {
    grpo_token_ token;
    memset(&token, 0, sizeof token);
    for (int k = since; k < x->n; k++) {
        token.t = x->at[k];
        if (grpo_has_nll_(r, s, &token)) grpo_sum_add_(&r->partial->sum[GRPO_SUM_NLL], grpo_nll_term_(r, token.t).value);
        x->coefficient[k] = grpo_gradient_beside_(r, s, &token);
    }
}

/* tokens begin .. begin + n - 1 of s join those that wait, among which there is room */
GRPO_INLINE_ void grpo_block_join_(const grpo_run_ *r, const grpo_sequence_ *s, int64_t begin, int n) {
    const grpo_real *logp = r->batch->logp + begin;
    const grpo_real *old = r->behaviour ? r->behaviour + begin : logp, *A = r->advantage ? r->advantage + begin : logp;
    const int at = r->block->n;
    grpo_block_ *x = r->block;
    x->scattered |= at > 0 && x->at[at - 1] != begin - 1;
    for (int k = 0; k < n; k++) x->at[at + k] = begin + k;
    for (int k = 0; k < n; k++) { x->logp[at + k] = (double)logp[k]; x->old[at + k] = (double)old[k]; x->A[at + k] = (double)A[k]; }
    if (!r->behaviour) for (int k = 0; k < n; k++) x->old[at + k] = 0;
    if (!r->advantage) for (int k = 0; k < n; k++) x->A[at + k] = 0;
    for (int k = 0; k < n; k++) { x->divisor[at + k] = s->divisor; x->coefficient[at + k] = s->coefficient; }
    if (r->has_own_divisors) grpo_block_own_(s, x, n);
    x->divided |= s->divisor != 1;
    x->n += n;
    if (x->adds == GRPO_ADDS_BESIDE_) grpo_block_set_beside_(r, s, x, at);
}

/* those whose d the ratio's pool has clipped get no slope; since: the first that has joined */
GRPO_APART_ void grpo_block_clip_pool_(const grpo_run_ *r, grpo_block_ *x, int since, grpo_clip_side clip) {
    double least, most;
    for (int k = since; k < x->n; k++) {
        const double d = x->logp[k] - x->old[k];
        grpo_pool_bounds_(&r->obj->ratio, x->A[k], &least, &most);
        if (d >= least && d <= most) continue;
        x->slope[k] = 0;
        r->partial->clips[clip]--;
        r->partial->clips[d < least ? GRPO_CLIP_LOW : GRPO_CLIP_HIGH]++;
    }
}

/* the tokens that have joined since have this weight, and where it is given this ratio and this term; what a group gives through the
 * response is in its slope */
static void grpo_block_set_(const grpo_run_ *r, grpo_block_ *x, int since, double weight, double ratio, const grpo_term *term) {
    for (int k = since; x->weighted && k < x->n; k++) { x->penalty[k] = weight; x->penalty_slope[k] = 0; }
    if (!term) return;
    for (int k = since; k < x->n; k++) { x->ratio[k] = ratio; x->value[k] = term->value; x->slope[k] = term->d_log_ratio; }
    for (int k = since; k < x->n; k++) x->penalty_slope[k] = term->d_logp;
    for (int k = since; x->adds == GRPO_ADDS_COUPLED_ && k < x->n; k++) { x->coefficient[k] = term->d_log_ratio; x->slope[k] = 0; }
    for (int k = since; term->d_logp != 0 && k < x->n; k++) x->value[k] = grpo_times(term->d_logp, x->logp[k]);
    if (r->uses_ratio && grpo_clips_pool_(&r->obj->ratio)) grpo_block_clip_pool_(r, x, since, term->clip);
}

/* those of a sequence wait, each with the weight that the correction gives it */
static void grpo_block_take_corrected_(const grpo_run_ *r, const grpo_sequence_ *s) {
    const int apart = grpo_weighs_further_(r);                      /* the report takes weights here */
    grpo_segment_ segment;
    memset(&segment, 0, sizeof segment);
    for (int64_t t = s->begin; t < s->end; t++) {
        const grpo_mask_ k = grpo_mask_at_(r->obj, r->batch, s, t, 1, &segment);
        if (!grpo_is_active_(r->obj, &k)) { grpo_skip_token_(r, t); continue; }
        r->block->penalty[r->block->n] = grpo_normalised_weight_(r, k.v);
        r->block->penalty_slope[r->block->n] = 0;
        if (apart) grpo_sum_add_(&r->partial->sum[GRPO_SUM_WEIGHT], k.v);
        grpo_block_join_(r, s, t, 1);
        if (r->block->n == GRPO_BLOCK_) grpo_block_flush_(r);
    }
}

/* those of a sequence wait, each with a weight of its own; from the last on, for what follows a token may be in its weight */
static void grpo_block_take_weighted_(const grpo_run_ *r, const grpo_sequence_ *s) {
    grpo_walk_ walk = grpo_walk_from_(s->end);
    const grpo_token_ *token = &walk.token;
    grpo_block_ *x = r->block;
    while (grpo_step_back_(r, s, s->begin, &walk)) {
        if (!token->counts) { grpo_skip_token_(r, token->t); continue; }
        if (r->has_rollout_weights) grpo_sum_add_(&r->partial->sum[GRPO_SUM_WEIGHT], token->factor.correction);
        x->penalty[x->n] = token->factor.policy;
        x->penalty_slope[x->n] = token->distrusted;
        x->drops |= token->distrusted;
        grpo_block_join_(r, s, token->t, 1);
        if (x->n == GRPO_BLOCK_) grpo_block_flush_(r);
    }
}

/* the tokens of a span of a sequence wait; 0: they are to be evaluated one by one */
static int grpo_block_take_(const grpo_run_ *r, const grpo_sequence_ *s, grpo_span_ span, double ratio, const grpo_term *term) {
    const uint8_t *mask = r->batch->mask;
    const double weight = s->correction.value;
    const int apart = r->has_rollout_weights && grpo_weighs_further_(r);      /* the report takes weights here */
    int64_t t = span.begin;
    if (!r->block || s->coefficient == 0) return 0;
    grpo_block_open_(r);
    if (grpo_weighs_tokens_further_(r, s)) { grpo_block_take_weighted_(r, s); return 1; }
    if (!s->evenly_weighted && (s->rejected || !r->block->corrects)) { grpo_block_take_corrected_(r, s); return 1; }
    while (t < span.end) {
        const int room = GRPO_BLOCK_ - r->block->n, most = s->truncated ? 0 : span.end - t < room ? (int)(span.end - t) : room;
        int n = mask ? 0 : most;
        while (mask && n < most && mask[t + n]) n++;
        if (n == 0) { grpo_skip_token_(r, t++); continue; }
        grpo_block_join_(r, s, t, n);
        grpo_block_set_(r, r->block, r->block->n - n, grpo_normalised_weight_(r, weight), ratio, term);
        for (int k = 0; apart && k < n; k++) grpo_sum_add_(&r->partial->sum[GRPO_SUM_WEIGHT], weight);
        t += n;
        if (r->block->n == GRPO_BLOCK_) grpo_block_flush_(r);
    }
    return 1;
}

/* of a call; tokens go together if its objective asks no more */
static void grpo_room_open_(grpo_run_ *r, grpo_room_ *room) {
    room->together = 0;
    room->of.waiting.n = 0;
    r->room = room;
    r->waiting = &room->of.waiting;
    r->block = grpo_goes_by_blocks_(r) ? &room->of.block : NULL;
}
GRPO_C_END_
#endif
