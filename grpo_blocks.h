/* grpo_blocks.h - evaluates tokens in blocks of GRPO_BLOCK_: the fast path, for objectives with token ratios and for those with response or
 * segment ratios whose tokens share one term.
 *
 * A part of grpo.h's implementation, which includes it; nothing else includes it.  With GRPO_NO_BLOCKS defined, grpo.h and gspo.h do not
 * need this file, and give the same bits.
 *
 * Tokens are buffered until a block is full.  Loops that vectorise then compute ratios, clips, the gate of SAPO, the KL estimates k2 and
 * k3, gradients and the sums of the report.  Other surrogates, trust regions and penalties go token by token through the functions of
 * grpo.h; so do, in a second step, the ratios of tokens whose log-ratio is beyond the range of the series (GRPO_SERIES_).
 *
 * Licence: MIT-0, as grpo.h. */
#ifndef GRPO_BLOCKS_H
#define GRPO_BLOCKS_H

#ifndef GRPO_IMPLEMENTED
#error "grpo_blocks.h is a part of grpo.h: include that, with GRPO_IMPLEMENTATION defined in one source file"
#endif
#if GRPO_VERSION_NUMBER != 400
#error "grpo_blocks.h and grpo.h are of different versions"
#endif

GRPO_C_BEGIN_
/* ---- exact sums of a block ------------------------------------------------------------------------------------------------------- */
/* Each number is cut at a power of two, so far above all of them that the upper parts are multiples of one unit and add without rounding
 * in any order (Rump, Ogita and Oishi, "Accurate floating-point summation"); the lower parts are exact: cut again, or added one by one. */

/* Sums over a block add its four quarters element by element: this vectorises with every compiler, and no addition waits for the one
 * before.  The sum of a quarter: */
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

/* sum of |x|, rounded; infinite or NaN if an x is */
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

/* *upper: the sum of the parts of x above the unit of cut[0]; *lower: that of the rests, above the unit of cut[1].  Returns 1 if more is
 * left */
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
        cut[0] = ldexp(1, exponent + 1);                               /* the parts add up to at most cut[0]/2 */
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
    double a[GRPO_BLOCK_], b[GRPO_BLOCK_];                             /* x and y; then x - y in two words, a + b */
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
#define GRPO_ALIGNED_ __attribute__((aligned(64)))                     /* no vector crosses a cache line */
#else
#define GRPO_ALIGNED_
#endif

/* what is added to the gradient of the terms: nothing; the gradient of a surrogate that couples the group, before the batch's factor and
 * divisor; that of the auxiliary losses (NLL, penalty.preference), before the factor */
typedef enum { GRPO_ADDS_NOTHING_, GRPO_ADDS_COUPLED_, GRPO_ADDS_AUXILIARY_ } grpo_adds_;

enum { GRPO_OWN_FACTORS_ = 16 };                                       /* how many pairs of them a block can hold */

typedef struct grpo_block_ {
    int64_t at[GRPO_BLOCK_];                                           /* the tokens' indices in the batch */
    double logp[GRPO_BLOCK_], adv[GRPO_BLOCK_];
    double old[GRPO_BLOCK_];                                           /* logp in the ratio's denominator; then dS/dlogp */
    double divisor[GRPO_BLOCK_], coefficient[GRPO_BLOCK_];             /* of their sequences; divisor: by sign of A, of the token;
                                                                          coefficient: with `adds` the added gradient */
    double ratio[GRPO_BLOCK_];
    double d[2][GRPO_BLOCK_], k3[GRPO_BLOCK_];                         /* d = l - old in two words, and e^d - d - 1; then the same of
                                                                          logp_old; then D = l - logp_ref, and e^-D + D - 1 */
    double value[GRPO_BLOCK_], slope[GRPO_BLOCK_];                     /* S, and its derivative by the log-ratio */
    double penalty[GRPO_BLOCK_], penalty_slope[GRPO_BLOCK_];           /* P, and its derivative by logp.  Before that: the weight of axis
                                                                          6; dS/dlogp if unit_terms, else 1 if off_policy_mask drops it */
    double own[2][GRPO_OWN_FACTORS_];                                  /* factors of the KL and of the entropy bonus (grpo_own_factor_) */
    uint8_t own_index[GRPO_BLOCK_];                                    /* index of the token's factors in `own` */
    int n_own;                                                         /* how many pairs `own` holds */
    int n;                                                             /* how many tokens the block holds */
    int has_divisors, scattered;                                       /* a divisor is not 1; the tokens are not contiguous in the batch */
    int has_dropped;                                                   /* off_policy_mask drops a token */
    /* the same for all blocks of a call: */
    int unit_terms;                                                    /* the caller sets ratio, value and slopes (units of gspo.h) */
    int weighted;                                                      /* tokens have weights of axis 6 */
    int finds_weights;                                                 /* grpo_block_rollout_is_ finds these weights */
    int may_clip, by_clip;                                             /* grpo_block_clip_ may compute S; it does so for this block */
    int further_penalty;                                               /* grpo_block_further_penalties_ computes P */
    grpo_adds_ adds;
} grpo_block_;

static int grpo_is_clip_(grpo_surrogate_kind kind) {
    return kind == GRPO_SURROGATE_RATIO || kind == GRPO_SURROGATE_PPO_CLIP || kind == GRPO_SURROGATE_DUAL_CLIP;
}

/* 1 if the log-ratio has no clamp, or one that changes only log-ratios beyond the range of the series and beyond the clip bounds */
static int grpo_clamps_far_off_(const grpo_run_ *r) {
    const grpo_ratio_axis *a = &r->obj->ratio;
    const double low = r->range.log_low, high = r->range.log_high;
    if (a->clamp_low == 0 && a->clamp_high == 0) return 1;
    if (a->level != GRPO_LEVEL_TOKEN || !grpo_is_clip_(r->obj->surrogate.kind)) return 0;
    if (!(a->clamp_low < -GRPO_SERIES_ && a->clamp_high > GRPO_SERIES_)) return 0;
    if (r->obj->surrogate.kind == GRPO_SURROGATE_RATIO) return 1;
    return (a->clamp_low < low || low == -HUGE_VAL) && (a->clamp_high > high || high == HUGE_VAL);
}

/* 1 if M is the same for all tokens of a unit that have the same advantage */
static int grpo_masks_whole_units_(const grpo_weight *w) {
    const int of_ratio = w->trust == GRPO_TRUST_NONE || w->trust == GRPO_TRUST_ONE_SIDED || w->trust == GRPO_TRUST_TWO_SIDED
        || w->trust == GRPO_TRUST_LOG_TWO_SIDED || w->trust == GRPO_TRUST_RING || w->trust == GRPO_TRUST_NEGATIVE_BAND;
    return of_ratio && w->off_policy_mask == GRPO_OFF_POLICY_MASK_NONE && w->selected == GRPO_SELECTED_ALL
        && w->policy_is == GRPO_POLICY_IS_NONE;
}

/* 1 if the objective gives all tokens of a unit that have the same advantage the same term, but for a part proportional to l */
static int grpo_has_unit_terms_(const grpo_run_ *r) {
    const grpo_ratio_axis *a = &r->obj->ratio;
    if (a->level > GRPO_LEVEL_SEGMENT_SUM || (a->level == GRPO_LEVEL_SEQUENCE_CLIPPED_MEAN && r->has_policy_mask)) return 0;
    if (a->interpolate != GRPO_INTERPOLATE_NONE || a->clamp_low != 0 || a->clamp_high != 0) return 0;
    if (r->obj->surrogate.kind == GRPO_SURROGATE_UNBOUNDED_POSITIVE) return 0;      /* its value is not l times its derivative by l */
    return r->is_plain_surrogate && !r->has_token_factors && grpo_masks_whole_units_(&r->obj->weight)
        && r->obj->penalty.kl_importance_weight != GRPO_KL_IMPORTANCE_WEIGHT_LEVEL;
}

static int grpo_has_kl_(const grpo_penalty *p) { return p->kl != GRPO_KL_NONE && p->kl_coef != 0; }

/* 1 if the KL is one that grpo_block_further_penalties_ must compute */
static int grpo_has_further_kl_(const grpo_penalty *p) {
    return grpo_has_kl_(p) && (p->kl == GRPO_KL_EXTERNAL || p->kl_on != GRPO_KL_ON_ALL);
}

/* 1 if the tokens of this objective can be evaluated in blocks */
static int grpo_goes_by_blocks_(const grpo_run_ *r) {
    const grpo_objective *o = r->obj;
    const int of_group = GRPO_AMONG_(o->surrogate.kind, GRPO_GROUPS_), auxiliary = r->scales.nll != 0 || r->scales.preference != 0;
    const int by_sign = grpo_counts_by_sign_(o);
    if (o->surrogate.bounds == GRPO_BOUNDS_POSITION || o->penalty.nll_gate != GRPO_NLL_GATE_NONE) return 0;
    if (of_group && (auxiliary || r->has_policy_mask || o->ratio.level == GRPO_LEVEL_TOKEN)) return 0;
    /* dentropy and ddivergence_ref need grpo_block_.coefficient, which holds the added gradient instead, and have no divisor by sign */
    if ((of_group || auxiliary || by_sign) && (o->penalty.entropy_coef != 0 || o->penalty.kl == GRPO_KL_EXTERNAL)) return 0;
    if ((r->has_own_divisors || by_sign)
        && (grpo_has_further_kl_(&o->penalty) || o->penalty.kl_importance_weight == GRPO_KL_IMPORTANCE_WEIGHT_LEVEL)) return 0;
    if (r->has_own_divisors && by_sign) return 0;
    if (o->weight.external == GRPO_EXTERNAL_TERM) return 0;
    if (o->aggregation.kind == GRPO_AGGREGATION_SEQ_MEAN_SEGMENT_MEAN) return 0;
    return o->ratio.level == GRPO_LEVEL_TOKEN || grpo_has_unit_terms_(r);
}

/* 1 if grpo_block_clip_ can compute S */
static int grpo_clips_in_blocks_(const grpo_run_ *r) {
    const grpo_weight *w = &r->obj->weight;
    const grpo_ratio_axis *a = &r->obj->ratio;
    return grpo_is_clip_(r->obj->surrogate.kind) && r->is_plain_surrogate && grpo_clamps_far_off_(r) && a->level_clamp_low == 0
        && a->level_clamp_high == 0 && w->trust == GRPO_TRUST_NONE;
}

/* 1 if a clamp may change log-ratios; beyond: some are beyond the range of the series */
static int grpo_clamp_may_cut_(double low, double high, int beyond) {
    return (low != 0 || high != 0) && (beyond || !(low < -GRPO_SERIES_ && high > GRPO_SERIES_));
}

static int grpo_clamps_may_cut_(const grpo_ratio_axis *a, int beyond) {
    return grpo_clamp_may_cut_(a->clamp_low, a->clamp_high, beyond) || grpo_clamp_may_cut_(a->level_clamp_low, a->level_clamp_high, beyond);
}

/* 1 if the KL penalty is kl_coef times the estimate: no importance weight, no clamp, exact gradient */
static int grpo_kl_is_plain_(const grpo_penalty *p) {
    return p->kl_importance_weight == GRPO_KL_IMPORTANCE_WEIGHT_NONE && p->kl_importance_weight_max == 0
        && p->kl_gradient == GRPO_KL_GRADIENT_EXACT && p->kl_clamp_log == 0 && p->kl_clamp_value == 0;
}

/* 1 if the importance weight u of the KL is the block's ratio */
static int grpo_kl_weight_is_ratio_(const grpo_penalty *p) {
    return p->kl_importance_weight == GRPO_KL_IMPORTANCE_WEIGHT_TOKEN || p->kl_importance_weight == GRPO_KL_IMPORTANCE_WEIGHT_LEVEL;
}

/* 1 if the penalty is u kl_coef k3 wherever the series is valid; k3 is at most 0.15 and u 1.65 there, so that wider clamps and bounds do
 * nothing */
static int grpo_kl_by_series_(const grpo_run_ *r) {
    const grpo_penalty *p = &r->obj->penalty;
    const int of_token = p->kl_importance_weight == GRPO_KL_IMPORTANCE_WEIGHT_TOKEN;
    if (p->kl_importance_weight_max != 0 && p->kl_importance_weight_max < 1.65) return 0;
    if (of_token && r->obj->ratio.level != GRPO_LEVEL_TOKEN) return 0;
    if (grpo_kl_weight_is_ratio_(p) && grpo_clamps_may_cut_(&r->obj->ratio, 0)) return 0;
    return p->kl == GRPO_KL_K3 && p->kl_gradient == GRPO_KL_GRADIENT_EXACT && (p->kl_clamp_log == 0 || p->kl_clamp_log > GRPO_SERIES_)
        && (p->kl_clamp_value == 0 || p->kl_clamp_value > 0.25);
}

/* hi + lo = a - b, of a block */
static void grpo_block_gap_(double *GRPO_RESTRICT_ hi, double *GRPO_RESTRICT_ lo, const double *GRPO_RESTRICT_ a,
                            const double *GRPO_RESTRICT_ b) {
    for (int k = 0; k < GRPO_BLOCK_; k++) {
        hi[k] = a[k] - b[k];
        lo[k] = grpo_sum_rounding_(a[k], -b[k], hi[k]);
    }
}

/* ratio = e^d and k3 = e^d - d - 1 for d = hi + lo, by the series */
static void grpo_block_exp_(double *GRPO_RESTRICT_ ratio, double *GRPO_RESTRICT_ k3, const double *GRPO_RESTRICT_ hi,
                               const double *GRPO_RESTRICT_ lo) {
    for (int k = 0; k < GRPO_BLOCK_; k++) {
        const double f = grpo_exp_series_(hi[k]);
        ratio[k] = 1 + grpo_near_exp_minus_one_(hi[k], lo[k], f);
        k3[k] = grpo_near_exp_minus_linear_(hi[k], lo[k], f);
    }
}

/* d of token k, clamped; *passes: 0 if the clamp stops the derivative */
static grpo_dd grpo_block_clamped_(const grpo_run_ *r, const grpo_block_ *x, int k, int *passes) {
    return grpo_clamp(grpo_dd_pair_(x->d[0][k], x->d[1][k]), r->obj->ratio.clamp_low, r->obj->ratio.clamp_high, passes);
}

/* d = l - old, ratio = e^d and k3 of the block; the ratio that grpo_block_clip_ reads is that of the clamped d, which differs only beyond
 * the series.  Returns 1 if a |d| is beyond the range of the series */
GRPO_NOINLINE_ int grpo_block_ratios_(const grpo_run_ *r, grpo_block_ *x) {
    double *hi = x->d[0], *lo = x->d[1], *k3 = x->k3, *ratio = x->ratio;
    int beyond, passes;
    grpo_block_gap_(hi, lo, x->logp, x->old);
    beyond = grpo_block_exceeds_(hi, GRPO_SERIES_);
    grpo_block_exp_(ratio, k3, hi, lo);
    for (int k = 0; beyond && k < GRPO_BLOCK_; k++) {
        if (!grpo_is_far_(hi[k])) continue;
        const grpo_dd y = grpo_two_diff(x->logp[k], x->old[k]);
        hi[k] = y.hi; lo[k] = y.lo;
        ratio[k] = grpo_exp(x->by_clip ? grpo_block_clamped_(r, x, k, &passes) : y);
        k3[k] = grpo_exp_minus_linear(y);
    }
    return beyond;
}

/* is[k] = 1 if the bound stops the gradient of token k (A > 0, x > bound), else 0; returns their number */
static double grpo_block_binds_(double *GRPO_RESTRICT_ is, const double *GRPO_RESTRICT_ adv, const double *GRPO_RESTRICT_ x, double bound) {
    for (int k = 0; k < GRPO_BLOCK_; k++) is[k] = grpo_clip_binds(adv[k], x[k] > bound) ? 1 : 0;
    return grpo_block_total_(is);
}

/* S of the surrogates ratio, ppo_clip and dual_clip, in loops with one conditional each, which gcc -O2 vectorises; beyond: some log-ratios
 * are beyond the series.  Of a clipped token exactly one of by_high, by_low and by_dual is 1. */
static void grpo_block_clip_(const grpo_run_ *r, grpo_block_ *x, int beyond) {
    const grpo_surrogate *s = &r->obj->surrogate;
    const int clips = s->kind != GRPO_SURROGATE_RATIO, twice = s->kind == GRPO_SURROGATE_DUAL_CLIP;
    const double low = grpo_is_finite(r->range.low) ? r->range.low : 0, high = grpo_is_finite(r->range.high) ? r->range.high : 0;
    const double dual = twice && grpo_is_finite(s->clip_dual) ? s->clip_dual : 0;
    const double *GRPO_RESTRICT_ d = x->d[0], *GRPO_RESTRICT_ ratio = x->ratio;
    double *GRPO_RESTRICT_ value = x->value, *GRPO_RESTRICT_ slope = x->slope;
    /* arrays of the block that hold nothing at this point */
    double *GRPO_RESTRICT_ by_high = x->old, *GRPO_RESTRICT_ by_low = x->penalty, *GRPO_RESTRICT_ by_dual = x->penalty_slope;
    double *GRPO_RESTRICT_ adv = x->adv;                                   /* negated below */
    int64_t *clip = r->partial->clips, highs, lows, duals;
    highs = (int64_t)grpo_block_binds_(by_high, adv, d, clips ? r->range.log_high : HUGE_VAL);
    for (int k = 0; k < GRPO_BLOCK_; k++) { adv[k] = -adv[k]; value[k] = -d[k]; }
    lows = (int64_t)grpo_block_binds_(by_low, adv, value, clips ? -r->range.log_low : HUGE_VAL);
    duals = (int64_t)grpo_block_binds_(by_dual, adv, ratio, twice ? s->clip_dual : HUGE_VAL);
    for (int k = 0; k < GRPO_BLOCK_; k++) slope[k] = adv[k] * ratio[k] + 0.0;  /* no -0 */
    for (int k = 0; beyond && k < GRPO_BLOCK_; k++) slope[k] = grpo_times(adv[k], ratio[k]);
    for (int k = 0; k < GRPO_BLOCK_; k++) slope[k] = by_high[k] + by_low[k] + by_dual[k] > 0 ? 0 : slope[k];
    for (int k = 0; k < GRPO_BLOCK_; k++) value[k] = slope[k] + (by_high[k] * high + by_low[k] * low + by_dual[k] * dual) * adv[k];
    for (int k = 0; beyond && k < x->n; k++) {
        int passes;
        grpo_block_clamped_(r, x, k, &passes);
        if (!passes) slope[k] = 0;
    }
    clip[GRPO_CLIP_HIGH] += highs;
    clip[GRPO_CLIP_LOW] += lows;
    clip[GRPO_CLIP_DUAL] += duals;
    clip[GRPO_CLIP_NO] += x->n - highs - lows - duals;
}

/* the ratio of token k, of an objective that needs it, after its clamps; *passes: 0 if a clamp stops its derivative by l */
GRPO_NOINLINE_ grpo_ratio grpo_block_ratio_(const grpo_run_ *r, const grpo_block_ *x, int k, int *passes) {
    const grpo_ratio_axis *a = &r->obj->ratio;
    grpo_ratio w;
    int level_passes;
    const grpo_dd y = grpo_clamp(grpo_block_clamped_(r, x, k, passes), a->level_clamp_low, a->level_clamp_high, &level_passes);
    *passes &= level_passes;
    w.log = y.hi; w.log_lo = y.lo; w.value = *passes ? x->ratio[k] : grpo_exp(y);
    return w;
}

/* S of token k, if its ratio is clamped or the surrogate needs more than grpo_surrogate_term */
GRPO_NOINLINE_ grpo_term grpo_block_further_term_(const grpo_run_ *r, grpo_block_ *x, int k, const grpo_token_ *token) {
    int passes;
    const grpo_ratio w = grpo_block_ratio_(r, x, k, &passes);
    grpo_term t = { 0, 0, 0, GRPO_CLIP_NO };
    if (r->advantage) t = grpo_token_surrogate_(r, token, w);           /* without advantages S is 0 */
    if (!passes) t.d_log_ratio = 0;
    x->ratio[k] = w.value;
    return t;
}

/* for z = tau (w - 1): up = (z > 0), hi + lo = -|z| */
static void grpo_block_gate_arguments_(const grpo_surrogate *s, const grpo_block_ *x, double *up, double *hi, double *lo) {
    for (int k = 0; k < GRPO_BLOCK_; k++) {
        const double tau = x->adv[k] > 0 ? s->tau_pos : s->tau_neg, off = x->ratio[k] - 1;
        const double p = off * tau, rest = grpo_product_rounding_(off, tau, p) + grpo_sum_rounding_(x->ratio[k], -1, off) * tau;
        const double z = p + rest;
        up[k] = z > 0;
        hi[k] = -fabs(z);
        lo[k] = z > 0 ? -grpo_sum_rounding_(p, rest, z) : grpo_sum_rounding_(p, rest, z);
    }
}

/* S of sapo and sapo_detached, for ratios near 1.  Returns 0 if a token's z is beyond the series: S is then still to be computed */
GRPO_NOINLINE_ int grpo_block_sapo_(const grpo_run_ *r, grpo_block_ *x) {
    const grpo_surrogate *s = &r->obj->surrogate;
    double *up = x->penalty_slope, *hi = x->old, *lo = x->slope, *e = x->value, none[GRPO_BLOCK_];      /* not in use yet */
    if (s->tau_pos > GRPO_SMALL_FACTOR_ || s->tau_neg > GRPO_SMALL_FACTOR_) return 0;
    grpo_block_gate_arguments_(s, x, up, hi, lo);
    if (grpo_block_exceeds_(hi, GRPO_SERIES_)) return 0;
    grpo_block_exp_(e, none, hi, lo);
    for (int k = 0; k < GRPO_BLOCK_; k++) {
        const double scale = -4 / (x->adv[k] > 0 ? s->tau_pos : s->tau_neg);
        x->slope[k] = -4 * grpo_gate_slope_(e[k]) * x->adv[k] * x->ratio[k] + 0.0;       /* no -0 */
        x->value[k] = x->adv[k] == 0 ? 0 : scale * grpo_gate_value_(e[k], up[k] != 0) * x->adv[k] + 0.0;  /* scale may be infinite */
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

/* S token by token; the weight of a token that trust or off_policy_mask drops becomes 0.  beyond: some log-ratios are beyond the series */
static void grpo_block_terms_(const grpo_run_ *r, grpo_block_ *x, int beyond) {
    const grpo_surrogate *s = &r->obj->surrogate;
    const int further = !r->is_plain_surrogate || (r->needs_ratio && grpo_clamps_may_cut_(&r->obj->ratio, beyond));
    const int masks = r->has_policy_mask && (x->has_dropped || r->obj->weight.trust != GRPO_TRUST_NONE);
    const int is_sapo = s->kind == GRPO_SURROGATE_SAPO || s->kind == GRPO_SURROGATE_SAPO_DETACHED;
    grpo_token_ token;
    if (is_sapo && !further && !masks && !beyond && grpo_block_sapo_(r, x)) return;
    memset(&token, 0, sizeof token);
    for (int k = 0; k < x->n; k++) {
        grpo_ratio w = { x->d[0][k], x->d[1][k], x->ratio[k] };
        grpo_term t;
        int passes;
        token.t = x->at[k];
        t = further ? grpo_block_further_term_(r, x, k, &token) : grpo_surrogate_term(s, r->range, w, x->adv[k], x->logp[k]);
        if (masks) {
            if (further) w = grpo_block_ratio_(r, x, k, &passes);
            token.off_policy = x->has_dropped && x->penalty_slope[k] != 0;
            if (grpo_is_dropped_(r, &token, w)) {
                x->penalty[k] = 0;
                if (x->adv[k] != 0) t.clip = x->adv[k] > 0 ? GRPO_CLIP_HIGH : GRPO_CLIP_LOW;
            }
        }
        x->value[k] = t.value; x->slope[k] = t.d_log_ratio; x->old[k] = t.d_logp;
        r->partial->clips[t.clip]++;
    }
}

/* adds `slope` to the derivative by the log-ratio of token k, unless a clamp stops it */
GRPO_NOINLINE_ void grpo_block_add_slope_(const grpo_run_ *r, grpo_block_ *x, int k, double slope) {
    const grpo_ratio_axis *a = &r->obj->ratio;
    int passes, level_passes;
    if (slope == 0) return;
    grpo_clamp(grpo_log_ratio_(r, x->at[k], &passes), a->level_clamp_low, a->level_clamp_high, &level_passes);
    if (passes && level_passes) x->slope[k] = grpo_plus(x->slope[k], slope);
}

/* P token by token, if the KL is given by the caller (GRPO_KL_EXTERNAL) or not at all tokens */
GRPO_NOINLINE_ void grpo_block_further_penalties_(const grpo_run_ *r, grpo_block_ *x) {
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

/* coef k3 for D = hi + lo, and its derivative by D; the series in it is k3 without the share of lo, so it is not summed a second time */
static void grpo_block_k3_penalty_(double *GRPO_RESTRICT_ value, double *GRPO_RESTRICT_ slope, const double *GRPO_RESTRICT_ coef,
                                   const double *GRPO_RESTRICT_ hi, const double *GRPO_RESTRICT_ lo, const double *GRPO_RESTRICT_ k3) {
    for (int k = 0; k < GRPO_BLOCK_; k++) {
        const double m = -hi[k];
        value[k] = coef[k] * k3[k];
        slope[k] = -coef[k] * grpo_near_exp_minus_one_(m, -lo[k], k3[k] + lo[k] * m);
    }
}

/* 1 if D is beyond the range of the series, or the ratio is, where it weights the KL */
static int grpo_block_kl_is_far_(const grpo_penalty *p, const grpo_block_ *x, int k) {
    return grpo_is_far_(x->d[0][k]) || (grpo_kl_weight_is_ratio_(p) && !(x->ratio[k] > 0.607 && x->ratio[k] < 1.648));
}

/* the penalty u kl_coef k3 and its derivatives; u has the derivative u by l or, with the weight level, by y */
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

/* the penalty and its derivative, token by token: of all tokens, or (all = 0) of those beyond the series */
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

/* writes x to the elements of out that belong to the block's tokens */
static void grpo_block_write_(const grpo_run_ *r, const grpo_block_ *b, grpo_real *GRPO_RESTRICT_ out, const double *GRPO_RESTRICT_ x) {
    int k;
    if (!out) return;
    if (grpo_block_exceeds_(x, (double)FLT_MAX)) for (k = 0; k < b->n; k++) grpo_put_(out, b->at[k], x[k], &r->partial->overflow);
    else if (b->scattered || b->n < GRPO_BLOCK_) for (k = 0; k < b->n; k++) out[b->at[k]] = (grpo_real)x[k];
    else for (out += b->at[0], k = 0; k < GRPO_BLOCK_; k++) out[k] = (grpo_real)x[k];
}

/* writes the derivative by batch.divergence_ref, of a KL that is given by the caller */
GRPO_NOINLINE_ void grpo_block_write_divergence_(const grpo_run_ *r, const grpo_block_ *b) {
    for (int k = 0; k < b->n; k++) {
        const int has_kl = r->obj->penalty.kl == GRPO_KL_EXTERNAL && grpo_has_kl_at_(r, b->at[k]);
        grpo_write_(r, r->out.ddivergence_ref, b->at[k], has_kl ? r->obj->penalty.kl_coef * b->coefficient[k] : 0);
    }
}

/* turns g, the gradient of the terms, into the whole gradient if something is added to it; rounded as grpo_write_gradient_ does */
GRPO_NOINLINE_ void grpo_block_add_to_gradient_(const grpo_run_ *r, const grpo_block_ *b, double *g) {
    const double factor = r->scales.factor, divisor = r->scales.divisor;
    for (int k = 0; k < b->n; k++) {
        const double added = b->coefficient[k], mine = grpo_counts_by_sign_(r->obj) ? g[k] : g[k] / b->divisor[k];
        if (b->adds == GRPO_ADDS_AUXILIARY_) g[k] = factor * grpo_plus(mine / divisor, added);
        else if (added != 0) g[k] = factor * (grpo_plus(mine, added) / divisor);
        else g[k] *= grpo_coefficient_(&r->scales, b->divisor[k]);
    }
}

/* divides x by the divisors */
static void grpo_block_divide_(double *GRPO_RESTRICT_ x, const grpo_block_ *b) {
    if (b->has_divisors && grpo_block_magnitude_(x) != 0) for (int k = 0; k < GRPO_BLOCK_; k++) x[k] /= b->divisor[k];
}

/* writes all outputs of the block */
static void grpo_block_write_all_(const grpo_run_ *r, grpo_block_ *b) {
    const double coef = r->obj->penalty.entropy_coef;
    double x[GRPO_BLOCK_], *by_logp = b->penalty_slope;
    if (!grpo_is_clip_(r->obj->surrogate.kind)) {
        for (int k = 0; k < GRPO_BLOCK_; k++) x[k] = grpo_plus(b->old[k], b->penalty_slope[k]);
        by_logp = x;
    }
    if (grpo_counts_by_sign_(r->obj)) { grpo_block_divide_(by_logp, b); grpo_block_divide_(b->slope, b); }
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
        for (int k = 0; k < GRPO_BLOCK_; k++) x[k] = -coef * (r->has_own_divisors ? b->own[1][b->own_index[k]] : 1) * b->coefficient[k];
        grpo_block_write_(r, b, r->out.dentropy, x);
    }
}

/* the smallest sign x[k] */
static double grpo_block_min_(const double *x, double sign) {
    double y[GRPO_BLOCK_], least;
    int k;
    for (k = 0; k < GRPO_BLOCK_; k++) y[k] = sign * x[k];
    for (k = 0; k < GRPO_BLOCK_ / 2; k++) { const double a = y[k], b = y[k + GRPO_BLOCK_ / 2]; y[k] = a < b ? a : b; }
    for (k = 0; k < GRPO_BLOCK_ / 4; k++) { const double a = y[k], b = y[k + GRPO_BLOCK_ / 4]; y[k] = a < b ? a : b; }
    for (k = 0; k < GRPO_BLOCK_ / 8; k++) { const double a = y[k], b = y[k + GRPO_BLOCK_ / 8]; y[k] = a < b ? a : b; }
    for (least = y[0], k = 1; k < GRPO_BLOCK_ / 8; k++) least = y[k] < least ? y[k] : least;
    return least;
}

/* adds the ratios to the report; entries from n on do not count */
static void grpo_block_report_ratios_(const grpo_run_ *r, grpo_block_ *x) {
    double most, *ratio = x->ratio;
    if (!r->reports_ratio) { grpo_report_extremes_(r->partial, 1, 1); return; }
    for (int k = x->n; k < GRPO_BLOCK_; k++) ratio[k] = ratio[0];
    most = -grpo_block_min_(ratio, -1);
    grpo_report_extremes_(r->partial, grpo_block_min_(ratio, 1), most);
    for (int k = 0; most > GRPO_RATIO_CAP_ && k < x->n; k++) grpo_report_excess_(r->partial, ratio[k]);
    for (int k = 0; most > GRPO_RATIO_CAP_ && k < x->n; k++) ratio[k] = grpo_capped_ratio_(ratio[k]);
    for (int k = x->n; k < GRPO_BLOCK_; k++) ratio[k] = 0;
    r->partial->ratio_tokens += x->n;
}

/* infinite differences to `against`: adds them to their sums by `report`, and sets them to 0 in the block */
static void grpo_block_report_infinite_(const grpo_run_ *r, grpo_block_ *x, const grpo_real *against,
                                 void (*report)(grpo_partial *, double, double)) {
    for (int k = 0; k < x->n; k++) {
        const double other = (double)against[x->at[k]];
        if (grpo_is_finite(x->logp[k] - other)) continue;
        x->d[0][k] = x->d[1][k] = x->k3[k] = 0;
        report(r->partial, x->logp[k], other);
    }
}

/* fills the block up with tokens of weight 0: l = old = A = 0 */
static void grpo_block_pad_(grpo_block_ *x) {
    for (int k = x->n; k < GRPO_BLOCK_; k++) {
        x->logp[k] = x->old[k] = x->adv[k] = x->coefficient[k] = x->value[k] = x->slope[k] = x->penalty[k] = x->penalty_slope[k] = 0;
        x->divisor[k] = 1;
        x->own_index[k] = 0;
    }
}

/* d = l - other, and k3 of sign d; returns 1 if a |d| is beyond the range of the series */
static int grpo_block_differ_(grpo_block_ *x, const double *other, double sign) {
    double *hi = x->d[0], *lo = x->d[1];
    grpo_block_gap_(hi, lo, x->logp, other);
    const int beyond = grpo_block_exceeds_(hi, GRPO_SERIES_);
    for (int k = 0; beyond && k < x->n; k++) {
        const grpo_dd diff = grpo_two_diff(x->logp[k], other[k]);
        hi[k] = diff.hi; lo[k] = diff.lo;
    }
    grpo_block_k3_(x->k3, sign, hi, lo, beyond);
    return beyond;
}

/* gathers the elements of `from` at the block's tokens, into A, which is no longer needed */
static const double *grpo_block_gather_(grpo_block_ *x, const grpo_real *from) {
    for (int k = 0; k < GRPO_BLOCK_; k++) x->adv[k] = k < x->n ? (double)from[x->at[k]] : 0;
    return x->adv;
}

/* multiplies S and its derivatives by the weights */
static void grpo_block_weigh_(const grpo_run_ *r, grpo_block_ *x, const double *weight) {
    for (int k = 0; k < x->n; k++) {
        x->value[k] = grpo_times(weight[k], x->value[k]);
        x->slope[k] = grpo_times(weight[k], x->slope[k]);
        if (!grpo_is_clip_(r->obj->surrogate.kind)) x->old[k] = grpo_times(weight[k], x->old[k]);
    }
}

/* if KL or entropy bonus have divisors of their own: writes out.term with both as they are, then multiplies each by its factor */
GRPO_NOINLINE_ void grpo_block_own_penalties_(const grpo_run_ *r, grpo_block_ *x) {
    const double coef = r->obj->penalty.entropy_coef;
    double term[GRPO_BLOCK_] = { 0 };
    for (int k = 0; k < x->n; k++) {
        const double ent = coef != 0 ? (double)r->batch->entropy[x->at[k]] : 0, kl = x->penalty[k];
        term[k] = grpo_plus(x->value[k], coef != 0 ? grpo_plus(kl, -coef * ent) : kl);
        x->penalty[k] = grpo_times(x->own[0][x->own_index[k]], kl);
        x->penalty_slope[k] = grpo_times(x->own[0][x->own_index[k]], x->penalty_slope[k]);
        if (coef != 0) x->penalty[k] = grpo_plus(x->penalty[k], -coef * x->own[1][x->own_index[k]] * ent);
    }
    grpo_block_write_(r, x, r->out.term, term);
}

/* computes P; returns 1 if d and k3 are now those of logp_ref, with *beyond: 1 if a |d| is beyond the series */
static int grpo_block_penalty_(const grpo_run_ *r, grpo_block_ *x, int *beyond) {
    const grpo_penalty *p = &r->obj->penalty;
    const grpo_batch *b = r->batch;
    const grpo_real *ref = grpo_logp_of_(b, grpo_kl_policy_(p));
    if (x->further_penalty) { grpo_block_further_penalties_(r, x); return 0; }
    if (grpo_has_kl_(p)) {
        const int by_series = grpo_kl_by_series_(r);
        *beyond = grpo_block_differ_(x, grpo_block_gather_(x, ref), -1);
        if (by_series) grpo_block_kl_by_series_(p, x);
        if (*beyond || !by_series || grpo_kl_weight_is_ratio_(p)) grpo_block_kl_(r, x, x->adv, !by_series);
    } else for (int k = 0; k < GRPO_BLOCK_; k++) x->penalty[k] = x->penalty_slope[k] = 0;
    if (r->has_own_divisors) grpo_block_own_penalties_(r, x);
    else for (int k = 0; p->entropy_coef != 0 && k < x->n; k++)
        x->penalty[k] = grpo_plus(x->penalty[k], -p->entropy_coef * (double)b->entropy[x->at[k]]);
    return grpo_has_kl_(p) && ref == b->logp_ref;
}

/* adds the differences to the reference policy to the report; computed: 1 if d and k3 hold them already, with this beyond */
static void grpo_block_report_ref_(const grpo_run_ *r, grpo_block_ *x, int computed, int beyond) {
    const grpo_real *ref = r->batch->logp_ref;
    if (!ref) return;
    if (!computed) beyond = grpo_block_differ_(x, grpo_block_gather_(x, ref), -1);
    if (beyond) grpo_block_report_infinite_(r, x, ref, grpo_report_ref_);
    grpo_report_ref_block_(r->partial->sum, x->d, x->k3);
}

/* adds the block to the report; overwrites its arrays, as the outputs are written by then */
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

/* one buffer for two uses: tokens to be evaluated as a block, or what the report sums of tokens that are evaluated one by one */
typedef struct grpo_buffer_ {
    union { grpo_report_buffer_ report; grpo_block_ block; } of;
    int holds_block;
} grpo_buffer_;

/* 1 if a token may have a weight besides that of rollout_is */
static int grpo_weighs_further_(const grpo_run_ *r) {
    const grpo_weight *w = &r->obj->weight;
    return r->has_token_factors || (r->has_policy_mask && (w->off_policy_mask != GRPO_OFF_POLICY_MASK_NONE
            || w->selected != GRPO_SELECTED_ALL || w->policy_is != GRPO_POLICY_IS_NONE));
}

/* 1 if such weights may differ from token to token of the sequence */
static int grpo_weighs_tokens_further_(const grpo_run_ *r, const grpo_sequence_ *s) {
    const grpo_weight *w = &r->obj->weight;
    return w->fipo != GRPO_FIPO_NONE || w->external != GRPO_EXTERNAL_NONE || (r->has_policy_mask && (s->stale
            || w->selected != GRPO_SELECTED_ALL || w->policy_is != GRPO_POLICY_IS_NONE));
}

/* 1 if grpo_block_rollout_is_ can find the weights v: each token has its own, and none is masked out because of it */
static int grpo_rollout_is_in_blocks_(const grpo_run_ *r) {
    const grpo_weight *w = &r->obj->weight;
    if (r->obj->ratio.level != GRPO_LEVEL_TOKEN || !grpo_rollout_is_over_(w, GRPO_OVER_TOKEN)) return 0;
    if (grpo_has_segments_(w) || grpo_rollout_rs_over_(w, GRPO_OVER_TOKEN) || grpo_weighs_further_(r)) return 0;
    if (w->selected == GRPO_SELECTED_ONLY) return 0;                   /* with a surrogate the mask on the policy says so too */
    return w->rollout_rejected == GRPO_ROLLOUT_REJECTED_ZERO_WEIGHT || w->rollout_is == GRPO_ROLLOUT_IS_TRUNCATE;
}

/* finds the weights v of the tokens, into penalty; a weight of 0 stays 0.  Uses arrays that hold nothing yet as scratch */
static void grpo_block_rollout_is_(const grpo_run_ *r, grpo_block_ *x) {
    const grpo_batch *b = r->batch;
    const grpo_weight *w = &r->obj->weight;
    const double reach = w->rollout_clamp != 0 && w->rollout_clamp < GRPO_SERIES_ ? w->rollout_clamp : GRPO_SERIES_;
    double *hi = x->d[0], *lo = x->d[1], *old = x->value, *rollout = x->slope;
    for (int k = 0; k < x->n; k++) { old[k] = (double)b->logp_old[x->at[k]]; rollout[k] = (double)b->logp_rollout[x->at[k]]; }
    for (int k = x->n; k < GRPO_BLOCK_; k++) old[k] = rollout[k] = 0;
    grpo_block_gap_(hi, lo, old, rollout);
    grpo_block_exp_(x->ratio, x->k3, hi, lo);
    for (int k = 0; k < x->n; k++) {
        const grpo_ratio v = { hi[k], lo[k], x->ratio[k] };
        if (x->penalty[k] == 0) continue;
        x->penalty[k] = (fabs(hi[k]) < reach ? grpo_rollout_is(w, v) : grpo_token_rollout_is_(r->obj, b, x->at[k], 1)).value;
    }
    for (int k = x->n; k < GRPO_BLOCK_; k++) x->penalty[k] = x->value[k] = x->slope[k] = 0;
}

/* computes M v g S; returns 1 if k3 has been overwritten */
static int grpo_block_evaluate_(const grpo_run_ *r, grpo_block_ *x, int beyond) {
    const double *weight = x->penalty;
    if (x->unit_terms) { memcpy(x->old, x->penalty_slope, sizeof x->old); return 0; }
    if (x->by_clip && x->weighted) weight = (const double *)memcpy(x->k3, x->penalty, sizeof x->k3);      /* k3 is not used by the clip */
    if (x->by_clip) grpo_block_clip_(r, x, beyond); else grpo_block_terms_(r, x, beyond);
    if (x->weighted) grpo_block_weigh_(r, x, weight);
    return x->by_clip && x->weighted;
}

/* adds the differences to the old policy to the report; computed: 1 if d and k3 hold them already, with this beyond */
static void grpo_block_report_old_(const grpo_run_ *r, grpo_block_ *x, int computed, int beyond) {
    const grpo_real *old = r->batch->logp_old;
    if (!old) return;
    if (!computed) beyond = grpo_block_differ_(x, grpo_block_gather_(x, old), 1);
    if (beyond) grpo_block_report_infinite_(r, x, old, grpo_report_old_);
    grpo_report_old_block_(r->partial->sum, x->d, x->k3);
}

static void grpo_block_clear_(grpo_block_ *x) { x->n = x->n_own = x->has_divisors = x->scattered = x->has_dropped = 0; }

/* evaluates the buffered tokens, and empties the block */
static void grpo_block_flush_(const grpo_run_ *r) {
    const int is_old = r->behaviour == r->batch->logp_old;
    grpo_block_ *x = r->block;
    int beyond = 0, computed = is_old;
    if (x->n == 0) return;
    if (x->n < GRPO_BLOCK_) grpo_block_pad_(x);
    x->by_clip = x->may_clip && !x->has_dropped;
    if (x->finds_weights) grpo_block_rollout_is_(r, x);
    if (r->has_rollout_weights) r->partial->weight_tokens += x->n;
    if (r->has_rollout_weights && !grpo_weighs_further_(r)) grpo_sum_add_block_(&r->partial->sum[GRPO_SUM_WEIGHT], 1, x->penalty);
    if (x->unit_terms) beyond = is_old ? grpo_block_differ_(x, x->old, 1) : 0;
    else if (r->needs_ratio) beyond = grpo_block_ratios_(r, x);
    else {
        for (int k = 0; k < GRPO_BLOCK_; k++) { x->ratio[k] = 1; x->d[0][k] = x->d[1][k] = 0; }
        computed = 0;
    }
    if (grpo_block_evaluate_(r, x, beyond)) computed = 0;
    grpo_block_report_old_(r, x, computed, beyond);
    computed = grpo_block_penalty_(r, x, &beyond);
    grpo_block_report_ref_(r, x, computed, beyond);
    grpo_block_write_all_(r, x);
    grpo_block_report_(r, x);
    grpo_block_clear_(x);
}

/* to be called before tokens are evaluated one by one: flushes the block, so that the buffer can be used for them */
static void grpo_use_report_buffer_(const grpo_run_ *r) {
    if (!r->buffer->holds_block) return;
    grpo_block_flush_(r);
    r->buffer->holds_block = 0;
    r->report_buffer->n = 0;
}

/* to be called before tokens are put into the block: flushes those evaluated one by one, so that the buffer can be used for it */
static void grpo_use_block_(const grpo_run_ *r) {
    grpo_block_ *x = r->block;
    if (r->buffer->holds_block) return;
    grpo_report_flush_(r);
    r->buffer->holds_block = 1;
    grpo_block_clear_(x);
    x->unit_terms = r->obj->ratio.level != GRPO_LEVEL_TOKEN;
    x->weighted = r->has_rollout_weights || r->has_policy_mask || r->has_token_factors;
    x->finds_weights = grpo_rollout_is_in_blocks_(r);
    x->may_clip = !x->unit_terms && grpo_clips_in_blocks_(r);
    x->adds = GRPO_AMONG_(r->obj->surrogate.kind, GRPO_GROUPS_) ? GRPO_ADDS_COUPLED_
        : r->scales.nll != 0 || r->scales.preference != 0 ? GRPO_ADDS_AUXILIARY_ : GRPO_ADDS_NOTHING_;
    x->further_penalty = grpo_has_further_kl_(&r->obj->penalty);
}

/* to be called before tokens of a sequence are put into the block; flushes it if it cannot hold the factors of one more sequence */
static void grpo_block_open_(const grpo_run_ *r) {
    grpo_use_block_(r);
    if (r->block->n_own == GRPO_OWN_FACTORS_) grpo_block_flush_(r);
}

/* gives the next n tokens, which are of s, their factors of KL and entropy bonus; equal factors of neighbours are stored once */
GRPO_NOINLINE_ void grpo_block_set_own_(const grpo_sequence_ *s, grpo_block_ *x, int n) {
    const double kl = grpo_own_factor_(s, 1, 0), entropy = grpo_own_factor_(s, 1, 1);
    const int last = x->n_own - 1;
    if (last < 0 || kl != x->own[0][last] || entropy != x->own[1][last]) {
        x->own[0][x->n_own] = kl;
        x->own[1][x->n_own++] = entropy;
    }
    memset(x->own_index + x->n, x->n_own - 1, (size_t)n);
}

/* for the tokens from index `since` on: adds their NLL to the report, and sets the gradient of the auxiliary losses */
GRPO_NOINLINE_ void grpo_block_set_auxiliary_(const grpo_run_ *r, const grpo_sequence_ *s, grpo_block_ *x, int since) {
    grpo_token_ token;
    memset(&token, 0, sizeof token);
    for (int k = since; k < x->n; k++) {
        token.t = x->at[k];
        if (grpo_has_nll_(r, s, &token)) grpo_sum_add_(&r->partial->sum[GRPO_SUM_NLL], grpo_nll_term_(r, token.t).value);
        x->coefficient[k] = grpo_auxiliary_gradient_(r, s, &token);
    }
}

/* appends the tokens begin .. begin + n - 1 of s to the block, which must have room for them */
GRPO_INLINE_ void grpo_block_append_(const grpo_run_ *r, const grpo_sequence_ *s, int64_t begin, int n) {
    const grpo_real *logp = r->batch->logp + begin;
    const grpo_real *old = r->behaviour ? r->behaviour + begin : logp, *adv = r->advantage ? r->advantage + begin : logp;
    const int at = r->block->n;
    grpo_block_ *x = r->block;
    x->scattered |= at > 0 && x->at[at - 1] != begin - 1;
    for (int k = 0; k < n; k++) x->at[at + k] = begin + k;
    for (int k = 0; k < n; k++) { x->logp[at + k] = (double)logp[k]; x->old[at + k] = (double)old[k]; x->adv[at + k] = (double)adv[k]; }
    if (!r->behaviour) for (int k = 0; k < n; k++) x->old[at + k] = 0;
    if (!r->advantage) for (int k = 0; k < n; k++) x->adv[at + k] = 0;
    for (int k = 0; k < n; k++) { x->divisor[at + k] = s->divisor; x->coefficient[at + k] = s->coefficient; }
    if (r->has_own_divisors) grpo_block_set_own_(s, x, n);
    if (grpo_counts_by_sign_(r->obj)) for (int k = 0; k < n; k++) x->divisor[at + k] = r->scales.by_sign[x->adv[at + k] > 0];
    x->has_divisors |= s->divisor != 1 || grpo_counts_by_sign_(r->obj);
    x->n += n;
    if (x->adds == GRPO_ADDS_AUXILIARY_) grpo_block_set_auxiliary_(r, s, x, at);
}

/* tokens from index `since` on whose d GMPO's clip has bounded: no derivative by the ratio, counted as clipped on that side */
GRPO_NOINLINE_ void grpo_block_clip_pool_(const grpo_run_ *r, grpo_block_ *x, int since, grpo_clip_side clip) {
    double least, most;
    for (int k = since; k < x->n; k++) {
        const double d = x->logp[k] - x->old[k];
        grpo_token_clip_bounds_(&r->obj->ratio, x->adv[k], &least, &most);
        if (d >= least && d <= most) continue;
        x->slope[k] = 0;
        r->partial->clips[clip]--;
        r->partial->clips[d < least ? GRPO_CLIP_LOW : GRPO_CLIP_HIGH]++;
    }
}

/* sets the weight of the tokens from index `since` on and, if term is not NULL, their ratio and term; with GRPO_ADDS_COUPLED_
 * term->d_log_ratio is the gradient of the surrogate that couples the group */
static void grpo_block_set_(const grpo_run_ *r, grpo_block_ *x, int since, double weight, double ratio, const grpo_term *term) {
    for (int k = since; x->weighted && k < x->n; k++) { x->penalty[k] = weight; x->penalty_slope[k] = 0; }
    if (!term) return;
    for (int k = since; k < x->n; k++) { x->ratio[k] = ratio; x->value[k] = term->value; x->slope[k] = term->d_log_ratio; }
    for (int k = since; k < x->n; k++) x->penalty_slope[k] = term->d_logp;
    for (int k = since; x->adds == GRPO_ADDS_COUPLED_ && k < x->n; k++) { x->coefficient[k] = term->d_log_ratio; x->slope[k] = 0; }
    for (int k = since; term->d_logp != 0 && k < x->n; k++) x->value[k] = grpo_times(term->d_logp, x->logp[k]);
    if (r->uses_ratio && grpo_clips_token_ratios_(&r->obj->ratio)) grpo_block_clip_pool_(r, x, since, term->clip);
}

/* puts the tokens of a sequence into the block, each with its rollout_is weight */
static void grpo_block_take_unevenly_(const grpo_run_ *r, const grpo_sequence_ *s) {
    const int adds_weights = grpo_weighs_further_(r);                      /* the report's sum of weights is made here */
    grpo_segment_ segment;
    memset(&segment, 0, sizeof segment);
    for (int64_t t = s->begin; t < s->end; t++) {
        const grpo_mask_ k = grpo_mask_at_(r->obj, r->batch, s, t, 1, &segment);
        if (!grpo_is_active_(r->obj, &k)) { grpo_skip_token_(r, t); continue; }
        r->block->penalty[r->block->n] = grpo_normalised_weight_(r, k.v);
        r->block->penalty_slope[r->block->n] = 0;
        if (adds_weights) grpo_sum_add_(&r->partial->sum[GRPO_SUM_WEIGHT], k.v);
        grpo_block_append_(r, s, t, 1);
        if (r->block->n == GRPO_BLOCK_) grpo_block_flush_(r);
    }
}

/* puts the tokens of a sequence into the block, each with a weight of its own; backwards, as the weight may depend on later tokens */
static void grpo_block_take_weighted_(const grpo_run_ *r, const grpo_sequence_ *s) {
    grpo_walk_ walk = grpo_walk_from_(s->end);
    const grpo_token_ *token = &walk.token;
    grpo_block_ *x = r->block;
    while (grpo_step_back_(r, s, s->begin, &walk)) {
        if (!token->counts) { grpo_skip_token_(r, token->t); continue; }
        if (r->has_rollout_weights) grpo_sum_add_(&r->partial->sum[GRPO_SUM_WEIGHT], token->factor.rollout_is);
        x->penalty[x->n] = token->factor.policy;
        x->penalty_slope[x->n] = token->off_policy;
        x->has_dropped |= token->off_policy;
        grpo_block_append_(r, s, token->t, 1);
        if (x->n == GRPO_BLOCK_) grpo_block_flush_(r);
    }
}

/* puts the tokens of a span of s into the block, with this ratio and term unless term is NULL; returns 0 if they must be evaluated one by
 * one */
static int grpo_block_take_(const grpo_run_ *r, const grpo_sequence_ *s, grpo_span_ span, double ratio, const grpo_term *term) {
    const uint8_t *mask = r->batch->mask;
    const double weight = s->rollout_is.value;
    const int adds_weights = r->has_rollout_weights && grpo_weighs_further_(r);      /* the report's sum of weights is made here */
    int64_t t = span.begin;
    if (!r->block || s->coefficient == 0) return 0;
    grpo_block_open_(r);
    if (grpo_weighs_tokens_further_(r, s)) { grpo_block_take_weighted_(r, s); return 1; }
    if (!s->evenly_weighted && (s->rejected || !r->block->finds_weights)) { grpo_block_take_unevenly_(r, s); return 1; }
    while (t < span.end) {
        const int room = GRPO_BLOCK_ - r->block->n, most = s->truncated ? 0 : span.end - t < room ? (int)(span.end - t) : room;
        int n = mask ? 0 : most;
        while (mask && n < most && mask[t + n]) n++;
        if (n == 0) { grpo_skip_token_(r, t++); continue; }
        grpo_block_append_(r, s, t, n);
        grpo_block_set_(r, r->block, r->block->n - n, grpo_normalised_weight_(r, weight), ratio, term);
        for (int k = 0; adds_weights && k < n; k++) grpo_sum_add_(&r->partial->sum[GRPO_SUM_WEIGHT], weight);
        t += n;
        if (r->block->n == GRPO_BLOCK_) grpo_block_flush_(r);
    }
    return 1;
}

/* sets up the buffer of a call; r->block stays NULL if the objective cannot go by blocks */
static void grpo_buffer_open_(grpo_run_ *r, grpo_buffer_ *buffer) {
    buffer->holds_block = 0;
    buffer->of.report.n = 0;
    r->buffer = buffer;
    r->report_buffer = &buffer->of.report;
    r->block = grpo_goes_by_blocks_(r) ? &buffer->of.block : NULL;
}
GRPO_C_END_
#endif
