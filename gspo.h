/* gspo.h - policy-optimisation objectives whose importance ratio spans more than one token: GSPO, GSPO-token, GMPO, LUSPO, VESPO, ratios of
 * turns or prefixes, interpolations of token and sequence ratio ...; and objectives that couple the responses of a prompt: GVPO, REAL,
 * FlowRL, AMIR-GRPO, DisCO, DRPO, DMPO ...
 *
 * It includes grpo.h, which must be in the include path or the same folder.  In one source file write
 *
 *     #define GSPO_IMPLEMENTATION            // implies GRPO_IMPLEMENTATION
 *     #include "gspo.h"
 *
 * The calls are those of grpo.h; gspo_loss accepts every objective:
 *
 *     grpo_objective_named("gspo", &obj);
 *     st = grpo_advantages(&obj, &batch, advantage);
 *     if (!st) st = gspo_loss(&obj, &batch, advantage, NULL, &out, &report);       // grpo_output out = { 0 }; out.dlogp = dlogp;
 *
 * An objective that couples the responses of a group needs a buffer, out.scratch, with out.scratch_size = gspo_scratch(&obj, &batch).
 *
 * How it works.  A unit is the tokens that are pooled into one log-ratio y: a response, a segment, or the prefix that ends with the token.
 * y is the mean or sum of their log-ratios d, or the log of the power mean of e^d.  Token t's term x_t is a function of y_t, or of an
 * interpolation y'_t of y_t and d_t.  With c_t the coefficient of x_t in the loss and own_t = dx_t/dl_t at a fixed ratio, the chain rule is
 *     d loss/d l_k = c_k (own_k + dx_k/dy' dy'_k/dd_k) + sum over t of c_t dx_t/dy' dy'_t/dy_t dy_t/dd_k,
 * or, with ratio.gradient = token, only the token's own part: d loss/d l_k = c_k (own_k + dx_k/dy')   (GSPO-token, eq. 17).
 * Sums are exact: y does not depend on the order of the tokens, and its rounding error (y = hi + lo) is carried into the exp.
 * A surrogate that couples a group adds a step: it takes the scores s_i = y_i or e^(y_i) of the responses to F_i, and the coefficients
 * C_i = sum_t c_it v_it to d loss/d y_j = sum_i C_i dF_i/ds_j ds_j/dy_j, which goes on to the tokens as above.
 *
 * Version and licence: those of grpo.h. */
#ifndef GSPO_H
#define GSPO_H

#include "grpo.h"

#ifdef GRPO_DOUBLE
#define gspo_loss gspo_loss_f64
#define gspo_loss_add gspo_loss_add_f64
#define gspo_loss_check gspo_loss_check_f64
#define gspo_log_ratio gspo_log_ratio_f64
#define gspo_scratch gspo_scratch_f64
#endif

GRPO_C_BEGIN_

/* as grpo_loss, for every ratio.level */
grpo_status gspo_loss(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                      const grpo_totals *totals, const grpo_output *out, grpo_report *report);

/* as grpo_loss_add, for every ratio.level */
grpo_status gspo_loss_add(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                          const grpo_totals *totals, const grpo_output *out, grpo_partial *partial);

/* the status with which gspo_loss_add would refuse these arguments; to be called before the forward pass: it does not read batch.logp and
 * batch.entropy.  partial: may be NULL */
grpo_status gspo_loss_check(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                            const grpo_totals *totals, const grpo_output *out, const grpo_partial *partial);

/* how many elements grpo_output.scratch must have at least, for the largest group of the batch; 0 if the objective needs none, and for
 * arguments that gspo_loss refuses before it reads scratch */
int64_t gspo_scratch(const grpo_objective *obj, const grpo_batch *batch);

/* log s of one sequence, GSPO eq. 7: the mean of logp - logp_old over those of its n tokens where mask is not 0 (mask NULL: all n); 0 if
 * there are none.  Nothing is checked.  hi + lo is the mean to twice the precision: grpo_ratio_exp of it is s to 1 ulp. */
grpo_dd gspo_log_ratio(const grpo_real *logp, const grpo_real *logp_old, const uint8_t *mask, int64_t n);

/* log(1 + x) for 1e-9 - 1 < x < 1e6 by the step of grpo_log_twice; relative error 2^-85, or what a relative 2^-102 of x makes of it */
GRPO_FN grpo_dd gspo_log_one_plus_twice(grpo_dd x) {
    const double y = log1p(x.hi);
    grpo_dd e = grpo_dd_product(grpo_dd_add_double_(x, 1), grpo_exp_minus_one_twice(grpo_dd_of_(-y)));
    e = grpo_dd_add(x, e);
    e.lo -= 0.5 * e.hi * e.hi;
    return grpo_dd_add_double_(e, y);
}

/* log cosh(z/2) for z >= 0, relative error 2^-75.  z < 0.25: a series in w = z^2; its terms from w^4 on are in double, as they are less
 * than 2^-24 of the sum, and the last one less than 2^-77.  Else z/2 + log((1 + e^-z)/2) */
GRPO_FN grpo_dd gspo_log_cosh(grpo_dd z) {
    static const grpo_dd by[3] = { { 0.125, 0 }, { -0.005208333333333333, -2.8912057932946783e-19 },
                                   { 0.00034722222222222224, -1.3251359885933943e-20 } };
    const grpo_dd w = grpo_dd_fast_product_(z, z);
    const double x = w.hi, x2 = x * x, a = -2.6351686507936509e-05 + x * 2.1356922398589067e-06;
    const double b = -1.8032298848271071e-07 + x * 1.5660435427300506e-08, c = -1.388391863871878e-09 + x * 1.250431147566024e-10;
    grpo_dd s;
    if (!(z.hi < 0.25)) {
        s = grpo_dd_mul(grpo_dd_add_double_(grpo_exp_twice(grpo_dd_negative(z)), 1), 0.5);
        return grpo_dd_add(grpo_dd_mul(z, 0.5), grpo_dd_log(s));
    }
    s = grpo_dd_series_(by, w, grpo_dd_of_(a + x2 * (b + x2 * (c + x2 * -1.1402564727952599e-11))));
    return grpo_dd_renormalised_(grpo_dd_fast_product_(w, s));
}

GRPO_C_END_
#endif /* GSPO_H */

/* =================================================================================================================================
 * Implementation
 * ============================================================================================================================== */
#if defined(GSPO_IMPLEMENTATION) && !defined(GSPO_IMPLEMENTED)
#define GSPO_IMPLEMENTED

#ifndef GRPO_IMPLEMENTATION
#define GRPO_IMPLEMENTATION
#endif
#include "grpo.h"      /* the implementation of grpo.h, unless it is already included */

GRPO_C_BEGIN_

grpo_dd gspo_log_ratio(const grpo_real *logp, const grpo_real *logp_old, const uint8_t *mask, int64_t n) {
    grpo_sum s = GRPO_NO_SUM_;
    int64_t t, count = 0;
    for (t = 0; t < n; t++)
        if (!mask || mask[t]) { grpo_sum_add_diff_(&s, (double)logp[t], (double)logp_old[t]); count++; }
    return grpo_mean_(&s, count);
}

/* a log-ratio: infinite K + finite with K -> infinity, where a log-probability of -inf stands for -K */
typedef struct { double infinite; grpo_dd finite; } gspo_log_;

static gspo_log_ gspo_log_of_(double infinite, grpo_dd finite) {
    gspo_log_ x;
    x.infinite = infinite; x.finite = finite;
    return x;
}

static grpo_dd gspo_value_(gspo_log_ x) {
    return x.infinite > 0 ? grpo_dd_of_(HUGE_VAL) : x.infinite < 0 ? grpo_dd_of_(-HUGE_VAL) : x.finite;
}

static gspo_log_ gspo_minus_(gspo_log_ a, gspo_log_ b) {
    return gspo_log_of_(a.infinite - b.infinite, grpo_dd_add(a.finite, grpo_dd_negative(b.finite)));      /* inline: once per token */
}

/* x y; 0 if y is 0, even if x is infinite */
GRPO_APART_ gspo_log_ gspo_log_times_(gspo_log_ x, double y) {
    return y == 0 ? gspo_log_of_(0, grpo_dd_of_(0)) : gspo_log_of_(x.infinite * y, grpo_dd_mul(x.finite, y));
}

/* d_t; *passes: 1 if no clamp stops its derivative */
GRPO_NOINLINE_ gspo_log_ gspo_log_ratio_at_(const grpo_run_ *r, int64_t t, int *passes) {
    const double l = (double)r->batch->logp[t], old = grpo_behaviour_(r, t);
    const grpo_dd d = grpo_log_ratio_(r, t, passes);
    if (d.hi == HUGE_VAL) return gspo_log_of_(1, grpo_dd_of_(grpo_is_finite(l) ? l : 0));
    if (d.hi == -HUGE_VAL) return gspo_log_of_(-1, grpo_dd_of_(grpo_is_finite(old) ? -old : 0));
    return gspo_log_of_(0, d);
}

/* what token t adds to its unit's pool: d_t, or the bound of GMPO's clip if d_t is beyond it; *side: which bound */
GRPO_INLINE_ gspo_log_ gspo_pool_input_(const grpo_run_ *r, int64_t t, int *passes, grpo_clip_side *side) {
    const grpo_ratio_axis *a = &r->obj->ratio;
    const gspo_log_ x = gspo_log_ratio_at_(r, t, passes);
    const double d = gspo_value_(x).hi;
    *side = GRPO_CLIP_NO;
    if (!grpo_clips_token_ratios_(a)) return x;
    const int down = r->advantage[t] < 0;
    if (down && d < -a->token_clip_low) *side = GRPO_CLIP_LOW;
    if (!down && d > a->token_clip_high) *side = GRPO_CLIP_HIGH;
    if (*side == GRPO_CLIP_NO) return x;
    *passes = 0;
    return gspo_log_of_(0, grpo_dd_of_(down ? -a->token_clip_low : a->token_clip_high));
}

/* the ratio of a token, and what the derivative of its term by y' is multiplied by on its way to d_t and to y */
typedef struct {
    grpo_ratio ratio;    /* e^y', clamped */
    gspo_log_ d;         /* what it adds to its unit's pool; not set in a uniform unit */
    double slope_token;  /* dy'/dd_t at a fixed y: without interpolation 0, or 1 if ratio.gradient = token.  0 behind a clamp */
    double slope_unit;   /* dy'/dy_t; 0 if ratio.gradient = token, or behind a clamp */
    int passes;          /* 1 if the derivative by d reaches l_t: d is neither clamped nor clipped */
    grpo_clip_side side; /* the bound of GMPO's clip that d_t is beyond */
} gspo_ratio_;

/* the tokens whose d are pooled into one y; they are visited from the last to the first */
typedef struct {
    int prefix;         /* 1 if y is of the tokens up to and including the current one */
    int mean;           /* 1 if y is divided by the number of tokens */
    int power_mean;     /* 1 if y is (1/power) log of the mean of e^(power d), not of d */
    int uniform;        /* 1 if its tokens share one ratio and one derivative: no d is clamped or clipped, and none is read again */
    grpo_span_ span;
    int64_t count;      /* tokens that count; with `prefix` those up to the current one */
    grpo_sum sum;       /* of their d; with `power_mean` of e^(power (d - top)) - 1 */
    gspo_log_ top;      /* with `power_mean`: the largest d */
    double power;
    gspo_log_ y;
    grpo_ratio ratio;   /* e^y, clamped */
    int passes;         /* 1 if the clamp lets the derivative of y pass */
    gspo_ratio_ same;   /* of every token, if the unit is uniform */
    grpo_sum through;   /* sum of the derivatives of the tokens' terms by y; with `prefix` by the current d, of this token and later ones */
    int any_through;    /* 1 if anything but 0 was added to `through` */
} gspo_unit_;

/* sign: 1 to add d to the sum, -1 to subtract it */
static void gspo_sum_log_(grpo_sum *sum, double sign, gspo_log_ d) {
    grpo_sum_add_(sum, sign * d.finite.hi);
    if (d.finite.lo != 0) grpo_sum_add_(sum, sign * d.finite.lo);
    if (d.infinite != 0) grpo_sum_add_(sum, sign * d.infinite > 0 ? HUGE_VAL : -HUGE_VAL);
}

/* with `power_mean`: finds the largest d, and the power.  A power so small that e^x - 1, x = power (d - top), is x in both words of a
 * grpo_dd is raised to where that still holds: y stays the same, and the low words do not underflow */
static void gspo_find_top_(const grpo_run_ *r, const grpo_sequence_ *s, gspo_unit_ *u) {
    grpo_cursor_ c = grpo_cursor_of_(u->span.begin, u->span.end);
    grpo_clip_side side;
    gspo_log_ d, least = { 0, { 0, 0 } };
    int passes, any = 0;
    while (grpo_next_(r, s, &c)) {
        d = gspo_pool_input_(r, c.t, &passes, &side);
        if (!any || d.infinite > u->top.infinite || (d.infinite == u->top.infinite && grpo_dd_less(u->top.finite, d.finite))) u->top = d;
        if (!any || d.finite.hi < least.finite.hi) least = d;
        any = 1;
    }
    u->power = r->obj->ratio.level == GRPO_LEVEL_SEQUENCE_POWER_MEAN && r->obj->ratio.power != 0 ? r->obj->ratio.power : 1;
    const double least_power = ldexp(1, -200) / (u->top.finite.hi - least.finite.hi);
    if (u->power < least_power && grpo_is_finite(least_power)) u->power = least_power;
}

/* with `power_mean`: the sum of e^(power (d - top)) - 1, which is -1 for a d with less of K than the largest one */
static void gspo_sum_ratios_(const grpo_run_ *r, const grpo_sequence_ *s, gspo_unit_ *u) {
    grpo_cursor_ c = grpo_cursor_of_(u->span.begin, u->span.end);
    grpo_clip_side side;
    gspo_log_ d;
    int passes;
    gspo_find_top_(r, s, u);
    while (grpo_next_(r, s, &c)) {
        d = gspo_minus_(gspo_pool_input_(r, c.t, &passes, &side), u->top);
        if (d.infinite == 0) grpo_sum_add_dd_(&u->sum, grpo_exp_minus_one_twice(grpo_dd_mul(d.finite, u->power)));
        else grpo_sum_add_(&u->sum, -1);
        u->count++;
    }
}

static void gspo_sum_logs_(const grpo_run_ *r, const grpo_sequence_ *s, gspo_unit_ *u) {
    grpo_cursor_ c = grpo_cursor_of_(u->span.begin, u->span.end);
    grpo_clip_side side;
    int passes;
    while (grpo_next_(r, s, &c)) {
        gspo_sum_log_(&u->sum, 1, gspo_pool_input_(r, c.t, &passes, &side));
        u->count++;
    }
}

/* the same in blocks, for a uniform unit or one whose tokens all have the advantage A.  Returns 0, with an empty sum, if a d is not finite,
 * no token counts, or tokens are rejected or weighted one by one */
static int gspo_sum_blocks_(const grpo_run_ *r, const grpo_sequence_ *s, double adv, gspo_unit_ *u) {
    double least, most;
    if (!s->evenly_weighted || s->truncated) return 0;
    grpo_token_clip_bounds_(&r->obj->ratio, adv, &least, &most);
    u->count = grpo_sum_add_within_(r->batch, u->span.begin, u->span.end, r->batch->logp, r->behaviour, DBL_MAX, least, most, &u->sum);
    if (u->count < 0) u->count = 0;
    return u->count > 0;
}

/* y from the sum: the infinite d of the sum go into y.infinite, the finite ones into y.finite */
static gspo_log_ gspo_pooled_(gspo_unit_ *u) {
    const double n = u->mean ? (double)u->count : 1;
    const int64_t above = u->sum.pos_inf, below = u->sum.neg_inf;
    if (u->count == 0) return gspo_log_of_(0, grpo_dd_of_(0));
    u->sum.pos_inf = u->sum.neg_inf = 0;
    grpo_dd mean = grpo_sum_dd_(&u->sum);
    u->sum.pos_inf = above; u->sum.neg_inf = below;
    if (n != 1) mean = grpo_dd_div(mean, n);
    if (!u->power_mean) return gspo_log_of_((double)(above - below) / n, mean);
    return gspo_log_of_(u->top.infinite, grpo_dd_add(u->top.finite, grpo_dd_div(gspo_log_one_plus_twice(mean), u->power)));
}

/* e^y with y clamped to level_clamp_low, level_clamp_high; *passes: 1 if the clamp lets the derivative pass */
static grpo_ratio gspo_clamped_(const grpo_run_ *r, gspo_log_ y, int *passes) {
    const grpo_ratio_axis *a = &r->obj->ratio;
    return grpo_ratio_exp(grpo_clamp(gspo_value_(y), a->level_clamp_low, a->level_clamp_high, passes));
}

static void gspo_pool_(const grpo_run_ *r, gspo_unit_ *u) {
    u->y = gspo_pooled_(u);
    u->ratio = gspo_clamped_(r, u->y, &u->passes);
}

static int gspo_is_uniform_(const grpo_ratio_axis *a, const gspo_unit_ *u) {
    return !u->prefix && !u->power_mean && !grpo_clips_token_ratios_(a) && a->interpolate == GRPO_INTERPOLATE_NONE
        && a->clamp_low == 0 && a->clamp_high == 0;
}

/* starts a unit of the tokens begin .. end - 1, with an empty sum */
static void gspo_unit_open_(const grpo_run_ *r, int64_t begin, int64_t end, gspo_unit_ *u) {
    const grpo_level_kind level = r->obj->ratio.level;
    memset(u, 0, sizeof *u);
    u->prefix = grpo_level_pool_(level).over == GRPO_OVER_PREFIX;
    u->mean = grpo_level_pool_(level).how == GRPO_HOW_MEAN;
    u->power_mean = level == GRPO_LEVEL_SEQUENCE_MEAN_RATIO || level == GRPO_LEVEL_SEQUENCE_POWER_MEAN;
    u->span.begin = begin; u->span.end = end;
    u->uniform = !r->needs_ratio || gspo_is_uniform_(&r->obj->ratio, u);
    u->same.ratio.value = 1;
}

/* finds the unit's ratio, once its sum is complete */
static void gspo_unit_close_(const grpo_run_ *r, gspo_unit_ *u) {
    gspo_pool_(r, u);
    u->same.ratio = u->ratio;
    u->same.passes = 1;
    if (u->passes) *(r->obj->ratio.gradient == GRPO_GRADIENT_TOKEN ? &u->same.slope_token : &u->same.slope_unit) = 1;
}

/* the unit whose last token is end - 1 */
static void gspo_unit_at_(const grpo_run_ *r, const grpo_sequence_ *s, int64_t end, gspo_unit_ *u) {
    gspo_unit_open_(r, s->begin, end, u);
    if (grpo_level_is_segment_(r->obj->ratio.level) && end > s->begin) u->span.begin = grpo_segment_at_(r->batch, s, end - 1).begin;
    if (!r->needs_ratio) return;
    if (u->power_mean) gspo_sum_ratios_(r, s, u);
    else if (!u->uniform || !gspo_sum_blocks_(r, s, 0, u)) gspo_sum_logs_(r, s, u);
    gspo_unit_close_(r, u);
}

/* log((e^d + e^y)/2) = (d + y)/2 + log cosh((d - y)/2); *slope_token, *slope_unit: its derivatives by d and by y */
static gspo_log_ gspo_average_(gspo_log_ d, gspo_log_ y, double *slope_token, double *slope_unit) {
    const grpo_dd ln2 = { GRPO_LN2_HI_, GRPO_LN2_LO_ };
    const gspo_log_ up = gspo_minus_(d, y);
    const grpo_dd down = grpo_dd_negative(up.finite);
    if (up.infinite != 0) {
        const gspo_log_ most = up.infinite > 0 ? d : y;
        *slope_token = up.infinite > 0;
        *slope_unit = 1 - *slope_token;
        return gspo_log_of_(most.infinite, grpo_dd_minus_(most.finite, ln2));
    }
    *slope_token = 1 / (1 + grpo_exp(down));
    *slope_unit = 1 / (1 + grpo_exp(up.finite));
    const grpo_dd half = grpo_dd_mul(grpo_dd_add(d.finite, y.finite), 0.5);
    return gspo_log_of_(d.infinite, grpo_dd_add(half, gspo_log_cosh(up.finite.hi < 0 ? down : up.finite)));
}

/* y', the interpolation of d and y; *slope_token, *slope_unit: its derivatives by d and by y */
static gspo_log_ gspo_mixed_(const grpo_ratio_axis *a, gspo_log_ d, gspo_log_ y, double *slope_token, double *slope_unit) {
    if (a->interpolate == GRPO_INTERPOLATE_ARITHMETIC) return gspo_average_(d, y, slope_token, slope_unit);
    *slope_token = a->interpolate_token; *slope_unit = a->interpolate_level;
    const gspo_log_ x = gspo_log_times_(d, a->interpolate_token);
    const gspo_log_ z = gspo_log_times_(y, a->interpolate_level);
    return gspo_log_of_(x.infinite + z.infinite, grpo_dd_add(x.finite, z.finite));
}

/* the ratio of token t: u->same in a uniform unit, else made in *own */
GRPO_NOINLINE_ const gspo_ratio_ *gspo_ratio_at_(const grpo_run_ *r, const gspo_unit_ *u, int64_t t, gspo_ratio_ *own) {
    const grpo_ratio_axis *a = &r->obj->ratio;
    gspo_log_ d;
    int own_passes, level_passes = u->passes;
    if (u->uniform) return &u->same;
    *own = u->same;
    own->d = gspo_pool_input_(r, t, &own->passes, &own->side);
    own->ratio = u->ratio;
    own->slope_unit = 1;
    own->slope_token = own->passes && a->gradient == GRPO_GRADIENT_TOKEN ? 1 : 0;
    if (a->interpolate != GRPO_INTERPOLATE_NONE) {
        d = own->d;
        own_passes = own->passes;
        if (own->side != GRPO_CLIP_NO) d = gspo_log_ratio_at_(r, t, &own_passes);
        own->ratio = gspo_clamped_(r, gspo_mixed_(a, d, u->y, &own->slope_token, &own->slope_unit), &level_passes);
        if (!own_passes) own->slope_token = 0;
    }
    if (a->gradient == GRPO_GRADIENT_TOKEN) own->slope_unit = 0;
    if (!level_passes) own->slope_token = own->slope_unit = 0;
    return own;
}

/* ---- functions of a group --------------------------------------------------------------------------------------------------------
 * Each reads scores, advantages and coefficients, and writes the values F_i and the gradient of sum_i C_i F_i by the scores.  Sums are
 * exact: the order of the responses changes no bit.  An infinite score stands for one common K -> infinity, as in all of grpo.h. */

/* the members of a group: its n responses with at least one token that counts; every array has n elements */
typedef struct {
    int64_t n;
    double *score, *score_low;      /* s_i = score + score_low, over e^shift */
    double shift;                   /* 0, or so that e^y of standardised scores does not overflow or underflow */
    double *advantage;              /* A_i, that of the first token that counts */
    double *coefficient;            /* C_i, what F_i is multiplied by in the loss, before the batch's factor and divisor */
    double *length;                 /* T_i, the number of tokens that count */
    double *old, *old_low;          /* tilted_cross_entropy: o_i = old + old_low - K old_infinite */
    double *old_infinite;
    double log_partition;
    double *value;                  /* output: F_i */
    double *slope;                  /* output: d (sum_j C_j F_j)/d s_i */
    double slope_z;                 /* output: d (sum_j C_j F_j)/d log_partition */
    double *share, *share_low;      /* scratch of the functions: the target distribution p_i of the scores, or the weights v_i */
    double *work, *work_low;        /* scratch of the functions: exponents, softmax, residuals */
} gspo_group_;

/* the same members, as penalty.preference compares them */
typedef struct {
    int64_t n;
    double *score, *score_low;      /* mean of logp - logp_ref (or of logp) over the tokens that count */
    double *reward, *tokens;        /* tokens: the number of those that count */
    double *slope;                  /* output: d loss/d l at each token, over factor */
} gspo_preferences_;

enum { GSPO_GROUP_ARRAYS_ = 14, GSPO_SCRATCH_ARRAYS_ = GSPO_GROUP_ARRAYS_ + 1 };

static grpo_dd gspo_score_(const gspo_group_ *g, int64_t i) { return grpo_dd_pair_(g->score[i], g->score_low[i]); }
static grpo_dd gspo_work_(const gspo_group_ *g, int64_t i) { return grpo_dd_pair_(g->work[i], g->work_low[i]); }
static void gspo_set_work_(const gspo_group_ *g, int64_t i, grpo_dd x) { g->work[i] = x.hi; g->work_low[i] = x.lo; }

/* k x; 0 if a factor is 0, even if the other is infinite */
static grpo_dd gspo_times_(grpo_dd x, double k) { return k == 0 || x.hi == 0 ? grpo_dd_of_(0) : grpo_dd_mul(x, k); }

/* which members: all, those with A > 0, or the others */
typedef enum { GSPO_ALL_, GSPO_PLUS_, GSPO_MINUS_ } gspo_side_;

static int gspo_is_plus_(const gspo_group_ *g, int64_t i) { return g->advantage[i] > 0; }
static int gspo_is_of_(const gspo_group_ *g, gspo_side_ side, int64_t i) {
    return side == GSPO_ALL_ || (side == GSPO_PLUS_) == gspo_is_plus_(g, i);
}

/* a sum of exponentials, sum_i e^(z_i) = e^max (1 + rest), as log-sum-exp needs it; max: the largest z_i, argmax: its index */
typedef struct { grpo_dd max; double rest; int64_t argmax; } gspo_lse_;

/* of z = the work array, over one side; with_one: e^0 = 1 is added to the sum, and argmax is -1 if no z_i is above 0 */
GRPO_COLD_ gspo_lse_ gspo_lse_of_(const gspo_group_ *g, gspo_side_ side, int with_one) {
    gspo_lse_ p;
    grpo_sum sum = GRPO_NO_SUM_;
    p.max = grpo_dd_of_(0);
    p.argmax = -1;
    for (int64_t i = 0; i < g->n; i++) {
        const grpo_dd z = gspo_work_(g, i);
        if (gspo_is_of_(g, side, i) && (grpo_dd_less(p.max, z) || (p.argmax < 0 && !with_one))) { p.max = z; p.argmax = i; }
    }
    for (int64_t i = 0; i < g->n; i++)
        if (i != p.argmax && gspo_is_of_(g, side, i)) grpo_sum_add_(&sum, grpo_exp(grpo_dd_minus_(gspo_work_(g, i), p.max)));
    if (with_one && p.argmax >= 0) grpo_sum_add_(&sum, grpo_exp(grpo_dd_negative(p.max)));
    p.rest = grpo_sum_value_(&sum);
    return p;
}

/* e^(z_i) over the sum of them: softmax(z)_i */
static double gspo_share_of_(const gspo_group_ *g, const gspo_lse_ *p, int64_t i) {
    return grpo_exp(grpo_dd_minus_(gspo_work_(g, i), p->max)) / (1 + p->rest);
}

/* the coefficient of K in a score: 1, -1 or, if it is finite, 0 */
static double gspo_sign_of_infinite_(double score) { return grpo_is_finite(score) ? 0 : score > 0 ? 1 : -1; }

/* F_i = e_i^2/(2 (G - 1)), e_i = beta (y_i - mean y) - A_i: GVPO (2504.19599).  Infinite scores: e_i = finite part + tilt_i K/n; a value or
 * slope in which K is left is infinite */
GRPO_COLD_ void gspo_variance_(const grpo_surrogate *s, gspo_group_ *g) {
    const double n = (double)g->n, others = n - 1;
    grpo_sum sum = GRPO_NO_SUM_, weighed = GRPO_NO_SUM_, tilted = GRPO_NO_SUM_;
    grpo_dd mean, mean_tilt, e;
    double infinite = 0;
    int64_t i;
    for (i = 0; i < g->n; i++) {
        const double sign = gspo_sign_of_infinite_(g->score[i]);
        infinite += sign;
        if (sign == 0) grpo_sum_add_dd_(&sum, gspo_score_(g, i));
        g->value[i] = g->slope[i] = 0;
        g->share[i] = n * sign;                                        /* then beta tilt_i C_i */
    }
    if (g->n < 2) return;
    mean = grpo_dd_div(grpo_sum_dd_(&sum), n);
    for (i = 0; i < g->n; i++) {
        const grpo_dd finite = grpo_is_finite(g->score[i]) ? gspo_score_(g, i) : grpo_dd_of_(0);
        const double tilt = s->beta * (g->share[i] - infinite);
        e = grpo_dd_add_double_(gspo_times_(grpo_dd_minus_(finite, mean), s->beta), -g->advantage[i]);
        g->value[i] = tilt != 0 ? HUGE_VAL : 0.5 * e.hi * e.hi / others;
        e = gspo_times_(e, g->coefficient[i]);
        gspo_set_work_(g, i, e);
        grpo_sum_add_dd_(&weighed, e);
        g->share[i] = tilt * g->coefficient[i];
        grpo_sum_add_(&tilted, g->share[i]);
    }
    mean = grpo_dd_div(grpo_sum_dd_(&weighed), n);
    mean_tilt = grpo_dd_div(grpo_sum_dd_(&tilted), n);
    for (i = 0; i < g->n; i++) {
        const double tilt = s->beta * grpo_dd_minus_(grpo_dd_of_(g->share[i]), mean_tilt).hi;
        g->slope[i] = tilt != 0 ? grpo_times(tilt, HUGE_VAL) : grpo_times(s->beta, grpo_dd_minus_(gspo_work_(g, i), mean).hi) / others;
    }
}

/* one side of n members: F = log(1 + sum e^z)/n, z = -y/tau if A > 0, else y/tau */
GRPO_COLD_ void gspo_logistic_lse_side_(gspo_group_ *g, gspo_side_ side, double tau) {
    const int positive = side == GSPO_PLUS_;
    grpo_sum weight = GRPO_NO_SUM_;
    grpo_dd y;
    double value, n = 0;
    for (int64_t i = 0; i < g->n; i++) {
        if (!gspo_is_of_(g, side, i)) continue;
        y = gspo_score_(g, i);
        gspo_set_work_(g, i, grpo_dd_div(positive ? grpo_dd_negative(y) : y, tau));
        grpo_sum_add_(&weight, g->coefficient[i]);
        n++;
    }
    gspo_lse_ lse = gspo_lse_of_(g, side, 1);
    value = (lse.max.hi + log1p(lse.rest)) / n;
    for (int64_t i = 0; i < g->n; i++) {
        if (!gspo_is_of_(g, side, i)) continue;
        g->value[i] = value;
        g->slope[i] = grpo_times(grpo_sum_value_(&weight), gspo_share_of_(g, &lse, i)) / tau / (positive ? -n : n);
    }
}

/* REAL (2602.05630); F = 0 if all members of the group are on one side */
static void gspo_logistic_lse_(const grpo_surrogate *s, gspo_group_ *g) {
    int64_t i, positives = 0;
    for (i = 0; i < g->n; i++) {
        positives += gspo_is_plus_(g, i);
        g->value[i] = g->slope[i] = 0;
    }
    if (positives == 0 || positives == g->n) return;
    gspo_logistic_lse_side_(g, GSPO_PLUS_, s->tau_pos);
    gspo_logistic_lse_side_(g, GSPO_MINUS_, s->tau_neg);
}

/* F_i = e_i^2, e_i = z + y_i - reward_beta A_i: FlowRL (2509.15207) */
GRPO_COLD_ void gspo_trajectory_balance_(const grpo_surrogate *s, gspo_group_ *g) {
    grpo_sum sum = GRPO_NO_SUM_;
    grpo_dd e;
    for (int64_t i = 0; i < g->n; i++) {
        e = grpo_dd_add_double_(gspo_score_(g, i), g->log_partition);
        e = grpo_dd_minus_(e, grpo_two_prod(s->reward_beta, g->advantage[i]));
        g->value[i] = e.hi * e.hi;
        g->slope[i] = grpo_times(2 * g->coefficient[i], e.hi);
        grpo_sum_add_(&sum, g->slope[i]);
    }
    g->slope_z = grpo_sum_total_(&sum);
}

/* 1 if x_i > x_j + min_gap: i wins over j */
static int gspo_wins_(const double *x, int64_t i, int64_t j, double min_gap) { return grpo_dd_exceeds(grpo_two_diff(x[i], x[j]), min_gap); }

/* beta (y_i - y_j) */
static grpo_dd gspo_lead_(grpo_dd y_i, grpo_dd y_j, double beta) { return gspo_times_(grpo_dd_minus_(y_i, y_j), beta); }

/* the loss of a pair in which i wins over j, and its derivative by beta (y_i - y_j) */
GRPO_COLD_ grpo_logistic gspo_pair_loss_(const grpo_surrogate *s, const gspo_group_ *g, int64_t i, int64_t j) {
    const grpo_dd lead = gspo_lead_(gspo_score_(g, i), gspo_score_(g, j), s->beta);
    grpo_logistic f = { 0, 0 };
    if (s->kind != GRPO_SURROGATE_PAIRWISE_HINGE) return grpo_logistic_loss(lead);
    const grpo_dd rest = grpo_dd_minus_(grpo_dd_of_(s->hinge_margin), lead);
    if (rest.hi > 0) { f.value = rest.hi; f.slope = -1; }
    return f;
}

/* F_i = 1/P sum of the losses of the pairs that i wins; P: the number of pairs of the group.  Click (2306.03350) with the hinge */
GRPO_COLD_ void gspo_pairwise_(const grpo_surrogate *s, gspo_group_ *g) {
    double pairs = 0;
    for (int64_t i = 0; i < g->n; i++) for (int64_t j = 0; j < g->n; j++) pairs += gspo_wins_(g->advantage, i, j, s->min_gap);
    for (int64_t i = 0; i < g->n; i++) {
        grpo_sum value = GRPO_NO_SUM_, slope = GRPO_NO_SUM_;
        for (int64_t j = 0; j < g->n; j++) {
            if (gspo_wins_(g->advantage, i, j, s->min_gap)) {
                const grpo_logistic f = gspo_pair_loss_(s, g, i, j);
                grpo_sum_add_(&value, f.value);
                grpo_sum_add_(&slope, grpo_times(g->coefficient[i], f.slope));
            } else if (gspo_wins_(g->advantage, j, i, s->min_gap))
                grpo_sum_add_(&slope, -grpo_times(g->coefficient[j], gspo_pair_loss_(s, g, j, i).slope));
        }
        g->value[i] = pairs > 0 ? grpo_sum_total_(&value) / pairs : 0;
        g->slope[i] = pairs > 0 ? grpo_times(s->beta, grpo_sum_total_(&slope)) / pairs : 0;
    }
}

/* the index of the largest sign (x_i + low_i); low NULL: all 0 */
static int64_t gspo_argmax_(const double *x, const double *low, int64_t n, double sign) {
    int64_t i, best = 0;
    for (i = 1; i < n; i++)
        if (sign * x[i] > sign * x[best] || (low && x[i] == x[best] && sign * low[i] > sign * low[best])) best = i;
    return best;
}

/* the work array: A/temperature, or beta y, less the largest of them */
GRPO_COLD_ void gspo_set_work_to_advantages_(const grpo_surrogate *s, gspo_group_ *g) {
    const int64_t best = gspo_argmax_(g->advantage, NULL, g->n, 1);
    for (int64_t i = 0; i < g->n; i++)
        gspo_set_work_(g, i, grpo_dd_div(grpo_two_diff(g->advantage[i], g->advantage[best]), s->advantage_temperature));
}
GRPO_COLD_ void gspo_set_work_to_scores_(const grpo_surrogate *s, gspo_group_ *g) {
    const grpo_dd top = gspo_score_(g, gspo_argmax_(g->score, g->score_low, g->n, s->beta < 0 ? -1 : 1));
    for (int64_t i = 0; i < g->n; i++) gspo_set_work_(g, i, gspo_times_(grpo_dd_minus_(gspo_score_(g, i), top), s->beta));
}

/* F_i = -p_i log softmax(beta y)_i with p = softmax(work array), which is left in `share` */
GRPO_COLD_ void gspo_cross_entropy_(const grpo_surrogate *s, gspo_group_ *g) {
    const double beta = s->beta;
    grpo_sum sum = GRPO_NO_SUM_;
    double weight, p;
    gspo_lse_ lse = gspo_lse_of_(g, GSPO_ALL_, 0);
    for (int64_t i = 0; i < g->n; i++) {
        g->share[i] = gspo_share_of_(g, &lse, i);
        grpo_sum_add_(&sum, grpo_times(g->coefficient[i], g->share[i]));
    }
    weight = grpo_sum_total_(&sum);
    gspo_set_work_to_scores_(s, g);
    lse = gspo_lse_of_(g, GSPO_ALL_, 0);
    for (int64_t i = 0; i < g->n; i++) {
        p = g->share[i];
        g->value[i] = grpo_times(p, log1p(lse.rest) - g->work[i]);
        g->slope[i] = grpo_times(beta, grpo_plus(grpo_times(gspo_share_of_(g, &lse, i), weight), -grpo_times(p, g->coefficient[i])));
    }
}

/* p = softmax(A/tau) */
static void gspo_softmax_cross_entropy_(const grpo_surrogate *s, gspo_group_ *g) {
    gspo_set_work_to_advantages_(s, g);
    gspo_cross_entropy_(s, g);
}

/* p = softmax(beta o + A/tau): TPO (2604.06159).  p_i is 0 where beta o_i has a lower coefficient of K than the largest one */
GRPO_COLD_ void gspo_tilted_cross_entropy_(const grpo_surrogate *s, gspo_group_ *g) {
    const double beta = s->beta;
    double top = -HUGE_VAL;
    for (int64_t i = 0; i < g->n; i++) if (-grpo_times(beta, g->old_infinite[i]) > top) top = -grpo_times(beta, g->old_infinite[i]);
    for (int64_t i = 0; i < g->n; i++) {
        const grpo_dd o = gspo_times_(grpo_dd_pair_(g->old[i], g->old_low[i]), beta);
        const grpo_dd z = grpo_dd_add(o, grpo_dd_div(grpo_dd_of_(g->advantage[i]), s->advantage_temperature));
        gspo_set_work_(g, i, -grpo_times(beta, g->old_infinite[i]) < top ? grpo_dd_of_(-HUGE_VAL) : z);
    }
    gspo_cross_entropy_(s, g);
}

/* mean, sample deviation and divisor (deviation + eps) of the scores, in units of 2^exponent, so that squares of very large and very small
 * scores do not overflow or underflow.  infinite: some scores are; these are then taken as 1 or -1 (in units of K), the others as 0 */
typedef struct { grpo_dd mean, deviation, divisor; int exponent, infinite; } gspo_standard_;

/* s_i in these units */
GRPO_COLD_ grpo_dd gspo_scaled_score_(const gspo_group_ *g, const gspo_standard_ *u, int64_t i) {
    const grpo_dd y = gspo_score_(g, i);
    if (u->infinite) return grpo_dd_of_(grpo_is_finite(y.hi) ? 0 : y.hi > 0 ? 1 : -1);
    return grpo_dd_round_96_(grpo_dd_pair_(ldexp(y.hi, -u->exponent), ldexp(y.lo, -u->exponent)));
}

/* the deviation is 0 if n = 1 or all scores are equal, and the divisor too if also eps is 0 */
GRPO_COLD_ gspo_standard_ gspo_standard_of_(const gspo_group_ *g, double eps) {
    gspo_standard_ u;
    grpo_values v = GRPO_NO_VALUES_;
    double most = 0;
    memset(&u, 0, sizeof u);
    for (int64_t i = 0; i < g->n; i++) {
        u.infinite |= !grpo_is_finite(g->score[i]);
        if (fabs(g->score[i]) > most) most = fabs(g->score[i]);
    }
    if (!u.infinite) frexp(most, &u.exponent);
    if (u.exponent > -400 && u.exponent < 400) u.exponent = 0;
    for (int64_t i = 0; i < g->n; i++) grpo_values_take_(&v, gspo_scaled_score_(g, &u, i));
    u.mean = grpo_mean_(&v.sum, g->n);
    u.divisor = grpo_dd_of_(u.infinite ? 0 : ldexp(grpo_times(eps, exp(-g->shift)), -u.exponent));
    if (g->n < 2 || grpo_dd_same_(v.min, v.max)) return u;
    u.deviation = grpo_sqrt_twice_(grpo_variance_twice_(&v, GRPO_STD_SAMPLE));
    u.divisor = grpo_dd_add(u.divisor, u.deviation);
    return u;
}

/* z_i = (s_i - mean)/divisor; 0 if the divisor is 0 or infinite */
GRPO_COLD_ grpo_dd gspo_z_score_(const gspo_group_ *g, const gspo_standard_ *u, int64_t i) {
    const grpo_dd off = grpo_dd_minus_(gspo_scaled_score_(g, u, i), u->mean);
    if (off.hi == 0 || u->divisor.hi == 0 || !grpo_is_finite(u->divisor.hi)) return grpo_dd_of_(0);
    return grpo_dd_quotient(off, u->divisor);
}

/* GIFT (2510.23868): F_i = e_i^2, e_i = A_i - beta z_i, z_i = (y_i - mean y)/(deviation + eps), mean and divisor detached; n = 1: the
 * divisor is 1 */
GRPO_COLD_ void gspo_standardised_(const grpo_surrogate *s, gspo_group_ *g) {
    const gspo_standard_ u = gspo_standard_of_(g, s->group_score_eps);
    const double beta = s->beta;
    for (int64_t i = 0; i < g->n; i++) {
        grpo_dd e = grpo_dd_of_(g->advantage[i]);
        double by = g->n == 1 ? beta : 0;
        if (g->n > 1 && u.divisor.hi > 0) {
            e = grpo_dd_minus_(e, gspo_times_(gspo_z_score_(g, &u, i), beta));
            by = u.infinite ? 0 : ldexp(beta / u.divisor.hi, -u.exponent);
        }
        g->value[i] = e.hi * e.hi;
        g->slope[i] = grpo_times(g->coefficient[i], grpo_times(-2 * by, e.hi));
    }
}

/* Reg-GRPO (2506.07464): the same with mean and deviation differentiated too, so that n = 1 has no gradient.  With b_i = dL/dz_i =
 * -2 beta C_i e_i, s the deviation and D = s + eps: dL/dy_j = (b_j - mean b - z_j (sum b_i z_i) D/((n - 1) s))/D */
GRPO_COLD_ void gspo_regression_(const grpo_surrogate *s, gspo_group_ *g) {
    const gspo_standard_ u = gspo_standard_of_(g, s->group_score_eps);
    const double beta = s->beta, n = (double)g->n;
    grpo_sum sum = GRPO_NO_SUM_, along = GRPO_NO_SUM_;
    grpo_dd mean, tilt = { 0, 0 };
    for (int64_t i = 0; i < g->n; i++) {
        const grpo_dd z = gspo_z_score_(g, &u, i), e = grpo_dd_minus_(grpo_dd_of_(g->advantage[i]), gspo_times_(z, beta));
        const grpo_dd b = gspo_times_(gspo_times_(e, -2 * beta), g->coefficient[i]);
        g->value[i] = e.hi * e.hi;
        g->slope[i] = 0;
        gspo_set_work_(g, i, b);
        grpo_sum_add_dd_(&sum, b);
        if (z.hi != 0) grpo_sum_add_dd_(&along, grpo_dd_product(b, z));
    }
    if (u.infinite || u.divisor.hi == 0) return;
    mean = grpo_dd_div(grpo_sum_dd_(&sum), n);
    if (u.deviation.hi > 0) tilt = grpo_dd_quotient(grpo_dd_div(grpo_sum_dd_(&along), n - 1), u.deviation);
    for (int64_t i = 0; i < g->n; i++) {
        const grpo_dd z = gspo_z_score_(g, &u, i);
        const double straight = grpo_dd_minus_(gspo_work_(g, i), mean).hi / u.divisor.hi;
        g->slope[i] = ldexp(grpo_plus(straight, -grpo_times(tilt.hi, z.hi)), -u.exponent);
    }
}

/* writes v_i of the members with A > 0 into `share`, and 0 into all values and slopes.  Returns n-, the number of the other members; 0 if
 * either side is empty, where F is 0 */
GRPO_COLD_ double gspo_share_by_length_(const grpo_surrogate *s, gspo_group_ *g) {
    const double sign = s->length_decay < 0 ? -1 : 1;
    double least = HUGE_VAL, plus = 0;
    for (int64_t i = 0; i < g->n; i++) {
        g->value[i] = g->slope[i] = 0;
        if (!gspo_is_plus_(g, i)) continue;
        if (sign * g->length[i] < least) least = sign * g->length[i];
        plus++;
    }
    if (plus == 0 || plus == (double)g->n) return 0;
    for (int64_t i = 0; i < g->n; i++) gspo_set_work_(g, i, gspo_times_(grpo_dd_of_(sign * g->length[i] - least), -fabs(s->length_decay)));
    gspo_lse_ lse = gspo_lse_of_(g, GSPO_PLUS_, 0);
    for (int64_t i = 0; i < g->n; i++) if (gspo_is_plus_(g, i)) g->share[i] = gspo_share_of_(g, &lse, i);
    return (double)g->n - plus;
}

/* DisCO-b (2505.12366) */
GRPO_COLD_ void gspo_discriminative_mean_(const grpo_surrogate *s, gspo_group_ *g) {
    const double minus = gspo_share_by_length_(s, g);
    for (int64_t i = 0; i < g->n && minus > 0; i++) {
        const double part = gspo_is_plus_(g, i) ? -g->share[i] : 1 / minus;
        g->value[i] = gspo_is_plus_(g, i) ? grpo_times(part, g->score[i]) : g->score[i] / minus;
        g->slope[i] = grpo_times(part, g->coefficient[i]);
    }
}

/* DisCO (2505.12366), DRPO (2510.04474): tau log mean_- e^(s/tau) = M + tau log((1 + rest)/n-), M the largest score of - */
GRPO_COLD_ void gspo_discriminative_lse_(const grpo_surrogate *s, gspo_group_ *g) {
    const double minus = gspo_share_by_length_(s, g);
    if (minus == 0) return;
    grpo_sum sum = GRPO_NO_SUM_;
    for (int64_t i = 0; i < g->n; i++) {
        gspo_set_work_(g, i, grpo_dd_div(gspo_score_(g, i), s->tau_neg));
        if (gspo_is_plus_(g, i)) grpo_sum_add_(&sum, grpo_times(g->coefficient[i], g->share[i]));
    }
    const double weight = grpo_sum_value_(&sum);
    gspo_lse_ lse = gspo_lse_of_(g, GSPO_MINUS_, 0);
    const grpo_dd below = grpo_two_prod(s->tau_neg, log((1 + lse.rest) / minus));
    for (int64_t i = 0; i < g->n; i++) {
        if (!gspo_is_plus_(g, i)) { g->slope[i] = grpo_times(weight, gspo_share_of_(g, &lse, i)); continue; }
        g->value[i] = grpo_times(g->share[i], grpo_dd_add(grpo_dd_minus_(gspo_score_(g, lse.argmax), gspo_score_(g, i)), below).hi);
        g->slope[i] = -grpo_times(g->share[i], g->coefficient[i]);
    }
}

/* ConSPO (2605.12969), eqs. 8, 13: F_i = (t/n+) log(1 + S e^x), x = (s_M - s_i + m)/t, S = sum_- e^((s_j - s_M)/t), M the largest of - */
GRPO_COLD_ void gspo_contrastive_(const grpo_surrogate *s, gspo_group_ *g) {
    const double t = s->contrast_temperature;
    grpo_sum sum = GRPO_NO_SUM_;
    int64_t top = -1;
    double plus = 0, weight;
    for (int64_t i = 0; i < g->n; i++) {
        g->value[i] = g->slope[i] = 0;
        plus += gspo_is_plus_(g, i);
        if (!gspo_is_plus_(g, i) && (top < 0 || grpo_dd_less(gspo_score_(g, top), gspo_score_(g, i)))) top = i;
    }
    if (plus == 0 || top < 0) return;
    for (int64_t i = 0; i < g->n; i++) gspo_set_work_(g, i, grpo_dd_div(grpo_dd_minus_(gspo_score_(g, i), gspo_score_(g, top)), t));
    gspo_lse_ lse = gspo_lse_of_(g, GSPO_MINUS_, 0);
    for (int64_t i = 0; i < g->n; i++) {
        const grpo_dd gap = grpo_dd_add_double_(grpo_dd_minus_(gspo_score_(g, top), gspo_score_(g, i)), s->contrast_margin);
        const grpo_dd x = grpo_dd_div(gap, t);
        const double total = 1 + lse.rest, e = grpo_exp(gap.hi > 0 ? grpo_dd_negative(x) : x);
        if (!gspo_is_plus_(g, i)) continue;
        g->value[i] = (gap.hi > 0 ? gap.hi + t * log1p(lse.rest + e) : t * log1p(total * e)) / plus;
        g->slope[i] = -grpo_times((gap.hi > 0 ? total / (total + e) : total * e / (1 + total * e)) / plus, g->coefficient[i]);
        grpo_sum_add_(&sum, -g->slope[i]);
    }
    weight = grpo_sum_total_(&sum);
    for (int64_t i = 0; i < g->n; i++) if (!gspo_is_plus_(g, i)) g->slope[i] = grpo_times(weight, gspo_share_of_(g, &lse, i));
}

/* sigmoid(a) - sigmoid(b) without cancellation: sigmoid(a) sigmoid(-b) (1 - e^(b - a)) */
GRPO_COLD_ double gspo_sigmoid_gap_(grpo_dd a, grpo_dd b) {
    if (grpo_dd_less(a, b)) return -gspo_sigmoid_gap_(b, a);
    return -grpo_sigmoid(a).value * grpo_sigmoid(grpo_dd_negative(b)).value * grpo_exp_minus_one(grpo_dd_minus_(b, a));
}

/* cross-entropy of a logit D for the target p = sigmoid(t): log(1 + e^D) - p D = log(1 + e^-|D|) + |D| (D < 0 ? p : 1 - p) */
GRPO_COLD_ double gspo_binary_cross_entropy_(grpo_dd lead, grpo_dd t) {
    const grpo_dd size = lead.hi < 0 ? grpo_dd_negative(lead) : lead;
    if (!grpo_is_finite(lead.hi)) return HUGE_VAL;
    return log1p(grpo_exp(grpo_dd_negative(size))) + grpo_sigmoid(lead.hi < 0 ? t : grpo_dd_negative(t)).value * size.hi;
}

/* DNO (2404.03715), algorithm 1 */
GRPO_COLD_ void gspo_pairwise_soft_(const grpo_surrogate *s, gspo_group_ *g) {
    const double beta = s->beta, pairs = (double)g->n * ((double)g->n - 1);
    for (int64_t i = 0; i < g->n; i++) {
        grpo_sum value = GRPO_NO_SUM_, slope = GRPO_NO_SUM_;
        for (int64_t j = 0; j < g->n; j++) {
            const grpo_dd lead = gspo_lead_(gspo_score_(g, i), gspo_score_(g, j), beta);
            const grpo_dd t = grpo_dd_div(grpo_two_diff(g->advantage[i], g->advantage[j]), s->advantage_temperature);
            const double gap = gspo_sigmoid_gap_(lead, t);
            if (i == j) continue;
            grpo_sum_add_(&value, gspo_binary_cross_entropy_(lead, t));
            grpo_sum_add_(&slope, grpo_times(g->coefficient[i], gap));
            grpo_sum_add_(&slope, grpo_times(g->coefficient[j], gap));      /* D and t of (j, i) are those of (i, j) negated */
        }
        g->value[i] = pairs > 0 ? grpo_sum_total_(&value) / pairs : 0;
        g->slope[i] = pairs > 0 ? grpo_times(beta, grpo_sum_total_(&slope)) / pairs : 0;
    }
}

/* replaces the work array, whose largest element must be 0, by its softmax, in double-double precision */
GRPO_COLD_ void gspo_softmax_(gspo_group_ *g) {
    grpo_sum sum = GRPO_NO_SUM_;
    for (int64_t i = 0; i < g->n; i++) {
        gspo_set_work_(g, i, grpo_exp_twice(gspo_work_(g, i)));
        grpo_sum_add_dd_(&sum, gspo_work_(g, i));
    }
    const grpo_dd whole = grpo_sum_dd_(&sum);
    for (int64_t i = 0; i < g->n; i++) gspo_set_work_(g, i, grpo_dd_quotient(gspo_work_(g, i), whole));
}

/* log(p/q), q = (p + u)/2 */
GRPO_COLD_ double gspo_log_over_mean_(grpo_dd p, grpo_dd u) {
    const double sum = grpo_dd_add(p, u).hi, lead = p.hi > 0 ? grpo_dd_minus_(p, u).hi / sum : -1;
    return lead > -0.5 ? log1p(lead) : log(2 * (p.hi > 0 ? p.hi / sum : 0));
}

/* F_i of one member, and dF_i/du_i */
typedef struct { double value, slope; } gspo_distance_;

static gspo_distance_ gspo_distance_of_(grpo_surrogate_kind kind, grpo_dd p, grpo_dd u) {
    const double lead = grpo_dd_minus_(u, p).hi;
    gspo_distance_ m;
    m.value = lead * lead;
    m.slope = 2 * lead;
    if (kind == GRPO_SURROGATE_SOFTMAX_MSE) return m;
    m.slope = 0.5 * gspo_log_over_mean_(u, p);
    m.value = 0.5 * grpo_times(p.hi, gspo_log_over_mean_(p, u)) + grpo_times(u.hi, m.slope);
    return m;
}

/* DMPO (2605.19461, its code): du_i/ds_j = beta u_i ([i = j] - u_j) */
GRPO_COLD_ void gspo_softmax_distance_(const grpo_surrogate *s, gspo_group_ *g) {
    const double beta = s->beta;
    grpo_sum sum = GRPO_NO_SUM_;
    gspo_set_work_to_advantages_(s, g);
    gspo_softmax_(g);
    for (int64_t i = 0; i < g->n; i++) { g->share[i] = g->work[i]; g->share_low[i] = g->work_low[i]; }
    gspo_set_work_to_scores_(s, g);
    gspo_softmax_(g);
    for (int64_t i = 0; i < g->n; i++) {
        const gspo_distance_ m = gspo_distance_of_(s->kind, grpo_dd_pair_(g->share[i], g->share_low[i]), gspo_work_(g, i));
        g->value[i] = m.value;
        g->slope[i] = grpo_times(g->coefficient[i], grpo_times(g->work[i], m.slope));
        grpo_sum_add_(&sum, g->slope[i]);
    }
    const double through = grpo_sum_total_(&sum);
    for (int64_t i = 0; i < g->n; i++) g->slope[i] = grpo_times(beta, grpo_plus(g->slope[i], -grpo_times(g->work[i], through)));
}

typedef void (*gspo_function_)(const grpo_surrogate *s, gspo_group_ *g);

static gspo_function_ gspo_function_of_(const grpo_objective *obj) {
    static const struct { grpo_surrogate_kind kind; gspo_function_ function; } functions[] = {
        { GRPO_SURROGATE_VARIANCE, gspo_variance_ },
        { GRPO_SURROGATE_LOGISTIC_LSE, gspo_logistic_lse_ },
        { GRPO_SURROGATE_TRAJECTORY_BALANCE, gspo_trajectory_balance_ },
        { GRPO_SURROGATE_PAIRWISE_LOGISTIC, gspo_pairwise_ },
        { GRPO_SURROGATE_SOFTMAX_CROSS_ENTROPY, gspo_softmax_cross_entropy_ },
        { GRPO_SURROGATE_DISCRIMINATIVE_MEAN, gspo_discriminative_mean_ },
        { GRPO_SURROGATE_DISCRIMINATIVE_LSE, gspo_discriminative_lse_ },
        { GRPO_SURROGATE_PAIRWISE_SOFT, gspo_pairwise_soft_ },
        { GRPO_SURROGATE_SOFTMAX_MSE, gspo_softmax_distance_ },
        { GRPO_SURROGATE_SOFTMAX_JS, gspo_softmax_distance_ },
        { GRPO_SURROGATE_STANDARDISED, gspo_standardised_ },
        { GRPO_SURROGATE_TILTED_CROSS_ENTROPY, gspo_tilted_cross_entropy_ },
        { GRPO_SURROGATE_PAIRWISE_HINGE, gspo_pairwise_ },
        { GRPO_SURROGATE_REGRESSION, gspo_regression_ },
        { GRPO_SURROGATE_CONTRASTIVE, gspo_contrastive_ },
    };
#ifndef __CUDACC__                                                     /* nvcc rewrites this sizeof wrongly */
#define GSPO_OF_GROUP_(id, name, of, ...) + GRPO_IS_##of##_
    typedef char one_for_each_row_[sizeof functions / sizeof *functions == 0 GRPO_SURROGATE_CHOICES(GSPO_OF_GROUP_) ? 1 : -1];
#undef GSPO_OF_GROUP_
    (void)sizeof(one_for_each_row_);
#endif
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
        if (functions[k].kind == obj->surrogate.kind) return functions[k].function;
    return NULL;
}

/* ---- a group and its tokens ---- */

/* the arrays of group g, in out.scratch */
static gspo_group_ gspo_group_arrays_(const grpo_run_ *r, int64_t g) {
    const int64_t size = r->batch->group_begin[g + 1] - r->batch->group_begin[g];
    double *p = r->out.scratch;                                        /* GSPO_GROUP_ARRAYS_ times size */
    gspo_group_ x;
    memset(&x, 0, sizeof x);
    x.score = p; x.score_low = p += size; x.advantage = p += size; x.coefficient = p += size; x.length = p += size;
    x.old = p += size; x.old_low = p += size; x.old_infinite = p += size; x.share = p += size; x.share_low = p += size;
    x.work = p += size; x.work_low = p += size; x.value = p += size; x.slope = p += size;
    return x;
}

/* reuses the arrays that the function of the group has read by now; the slopes have an array of their own */
static gspo_preferences_ gspo_preference_arrays_(const grpo_run_ *r, int64_t g) {
    const int64_t size = r->batch->group_begin[g + 1] - r->batch->group_begin[g];
    double *scratch = r->out.scratch;
    gspo_preferences_ x;
    x.n = 0;
    x.score = scratch; x.score_low = scratch + size; x.reward = scratch + 2 * size; x.tokens = scratch + 3 * size;
    x.slope = scratch + GSPO_GROUP_ARRAYS_ * size;
    return x;
}

/* o of the i-th member: the mean or sum of logp_old over its tokens that count */
GRPO_COLD_ void gspo_set_old_score_(const grpo_run_ *r, const grpo_sequence_ *s, int64_t i, gspo_group_ *x) {
    const double n = r->obj->ratio.level == GRPO_LEVEL_SEQUENCE_MEAN ? (double)s->count : 1;
    grpo_cursor_ c = grpo_cursor_of_(s->begin, s->end);
    grpo_sum sum = GRPO_NO_SUM_;
    while (grpo_next_(r, s, &c)) grpo_sum_add_(&sum, (double)r->batch->logp_old[c.t]);
    x->old_infinite[i] = (double)sum.neg_inf / n;
    sum.neg_inf = 0;
    const grpo_dd o = grpo_dd_div(grpo_sum_dd_(&sum), n);
    x->old[i] = o.hi; x->old_low[i] = o.lo;
}

/* C_i of a response: the sum of M v g/divisors over its tokens that count; *advantage: A of the first of these */
GRPO_NOINLINE_ double gspo_response_coefficient_(const grpo_run_ *r, const grpo_sequence_ *s, grpo_ratio ratio, double *advantage) {
    grpo_walk_ walk = grpo_walk_from_(s->end);
    const grpo_token_ *k = &walk.token;
    grpo_sum coefficient = GRPO_NO_SUM_;
    while (grpo_step_back_(r, s, s->begin, &walk)) {
        if (!k->counts) continue;
        *advantage = (double)r->advantage[k->t];                       /* backwards: ends with the first */
        grpo_sum_add_(&coefficient, grpo_over_own_(k, (grpo_is_dropped_(r, k, ratio) ? 0 : k->factor.policy) / s->divisor));
    }
    return grpo_sum_total_(&coefficient);
}

/* appends a response to the members: score, advantage, coefficient and length */
GRPO_NOINLINE_ void gspo_gather_member_(const grpo_run_ *r, const grpo_sequence_ *s, gspo_group_ *x) {
    gspo_unit_ u;
    gspo_unit_at_(r, s, s->end, &u);
    x->coefficient[x->n] = gspo_response_coefficient_(r, s, u.ratio, &x->advantage[x->n]);
    if (r->obj->surrogate.kind == GRPO_SURROGATE_TILTED_CROSS_ENTROPY) gspo_set_old_score_(r, s, x->n, x);
    const grpo_dd score = grpo_ratio_log(u.ratio);
    x->score[x->n] = score.hi; x->score_low[x->n] = score.lo;
    x->length[x->n++] = (double)s->count;
}

/* collects all members of group g */
GRPO_NOINLINE_ void gspo_gather_(const grpo_run_ *r, int64_t g, const grpo_coupling_ *group, gspo_group_ *x) {
    if (r->batch->log_partition) x->log_partition = (double)r->batch->log_partition[g];
    x->n = 0;
    for (int64_t i = r->batch->group_begin[g]; i < r->batch->group_begin[g + 1]; i++) {
        const grpo_sequence_ s = grpo_open_sequence_(r, group, i, x->n);
        if (s.count > 0) gspo_gather_member_(r, &s, x);
    }
}

/* turns the scores y into e^y if group_score asks.  A factor of all scores changes no standardised one, if eps has it too */
GRPO_COLD_ void gspo_exponentiate_(const grpo_surrogate *s, gspo_group_ *x) {
    const double top = x->score[gspo_argmax_(x->score, NULL, x->n, 1)];
    const int standardised = s->kind == GRPO_SURROGATE_STANDARDISED || s->kind == GRPO_SURROGATE_REGRESSION;
    if (s->group_score == GRPO_GROUP_SCORE_LOG) return;
    if (standardised && x->n > 1 && grpo_is_finite(top) && fabs(top) > 700) x->shift = top;
    for (int64_t i = 0; i < x->n; i++) {
        const grpo_dd w = grpo_exp_twice(grpo_dd_add_double_(gspo_score_(x, i), -x->shift));
        x->score[i] = w.hi; x->score_low[i] = w.lo;
    }
}

/* turns derivatives by s into derivatives by y: with s = e^y, ds/dy = s */
static void gspo_chain_(const grpo_surrogate *s, gspo_group_ *x) {
    if (s->group_score == GRPO_GROUP_SCORE_LOG) return;
    for (int64_t i = 0; i < x->n; i++) x->slope[i] = grpo_times(x->slope[i], x->score[i]);
}

/* score, reward and length of the members, for penalty.preference */
GRPO_NOINLINE_ void gspo_gather_preferences_(const grpo_run_ *r, int64_t g, gspo_preferences_ *x) {
    const grpo_batch *b = r->batch;
    const int free_of_ref = r->obj->penalty.preference_score == GRPO_PREFERENCE_SCORE_REFERENCE_FREE;
    x->n = 0;
    for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        const grpo_sequence_ s = grpo_sequence_at_(r->obj, b, i);
        grpo_cursor_ c = grpo_cursor_of_(s.begin, s.end);
        grpo_sum sum = GRPO_NO_SUM_;
        if (s.count == 0) continue;
        while (grpo_next_(r, &s, &c)) grpo_sum_add_diff_(&sum, (double)b->logp[c.t], free_of_ref ? 0 : (double)b->logp_ref[c.t]);
        const grpo_dd score = grpo_dd_div(grpo_sum_dd_(&sum), (double)s.count);
        x->score[x->n] = score.hi; x->score_low[x->n] = score.lo;
        x->reward[x->n] = (double)b->reward[i];
        x->tokens[x->n++] = (double)s.count;
    }
}

/* the loss of a pair in which i wins over j, and its derivative by preference_beta (y_i - y_j); kappa multiplies that if reward_i > 0 */
GRPO_COLD_ grpo_logistic gspo_preference_loss_(const grpo_penalty *p, const gspo_preferences_ *x, int64_t i, int64_t j) {
    const double kappa = p->preference_kappa != 0 && x->reward[i] > 0 ? p->preference_kappa : 1;
    const grpo_dd y_i = grpo_dd_pair_(x->score[i], x->score_low[i]), y_j = grpo_dd_pair_(x->score[j], x->score_low[j]);
    grpo_logistic f = grpo_logistic_loss(gspo_times_(gspo_lead_(y_i, y_j, p->preference_beta), kappa));
    f.slope *= kappa;
    return f;
}

/* adds the losses of all pairs to the report, and sets the slopes */
GRPO_COLD_ void gspo_compare_pairs_(const grpo_run_ *r, const gspo_preferences_ *x) {
    const grpo_penalty *p = &r->obj->penalty;
    for (int64_t i = 0; i < x->n; i++) {
        grpo_sum slope = GRPO_NO_SUM_;
        for (int64_t j = 0; j < x->n; j++) {
            if (gspo_wins_(x->reward, i, j, p->preference_min_gap)) {
                const grpo_logistic f = gspo_preference_loss_(p, x, i, j);
                grpo_sum_add_(&r->partial->sum[GRPO_SUM_PREFERENCE], f.value);
                grpo_sum_add_(&slope, f.slope);
            } else if (gspo_wins_(x->reward, j, i, p->preference_min_gap)) grpo_sum_add_(&slope, -gspo_preference_loss_(p, x, j, i).slope);
        }
        x->slope[i] = grpo_times(r->scales.preference * p->preference_beta, grpo_sum_value_(&slope)) / x->tokens[i];
    }
}

/* if the whole batch has no pair: logistic loss of every response by itself, with the sign of its reward */
GRPO_COLD_ void gspo_compare_signs_(const grpo_run_ *r, const gspo_preferences_ *x) {
    for (int64_t i = 0; i < x->n; i++) {
        const grpo_dd y = grpo_dd_pair_(x->score[i], x->score_low[i]);
        const int up = x->reward[i] > 0;
        const grpo_logistic f = grpo_logistic_loss(up ? y : grpo_dd_negative(y));
        grpo_sum_add_(&r->partial->sum[GRPO_SUM_PREFERENCE], f.value);
        x->slope[i] = grpo_times(r->scales.preference, up ? f.slope : -f.slope) / x->tokens[i];
    }
}

/* of group g, before its responses are evaluated: values and slopes of a surrogate that couples them, slopes of penalty.preference */
GRPO_COLD_ void gspo_couple_(const grpo_run_ *r, int64_t g, grpo_coupling_ *group) {
    const gspo_function_ function = gspo_function_of_(r->obj);
    if (function) {
        gspo_group_ x = gspo_group_arrays_(r, g);
        gspo_gather_(r, g, group, &x);
        if (x.n > 0) {
            gspo_exponentiate_(&r->obj->surrogate, &x);
            function(&r->obj->surrogate, &x);
        }
        gspo_chain_(&r->obj->surrogate, &x);
        grpo_write_(r, r->out.dlog_partition, g, x.slope_z * r->scales.factor / r->scales.divisor);
        group->value = x.value;
        group->slope = x.slope;
    }
    if (r->scales.preference != 0) {
        gspo_preferences_ x = gspo_preference_arrays_(r, g);
        gspo_gather_preferences_(r, g, &x);
        if (r->scales.pointwise) gspo_compare_signs_(r, &x); else gspo_compare_pairs_(r, &x);
        group->preference_slope = x.slope;
    }
}

static int gspo_couples_(const grpo_objective *obj) {
    return obj && (gspo_function_of_(obj) || obj->penalty.preference != GRPO_PREFERENCE_NONE);
}

int64_t gspo_scratch(const grpo_objective *obj, const grpo_batch *batch) {
    int64_t g, size, largest = 0;
    if (!gspo_couples_(obj) || grpo_check_layout_(batch)) return 0;
    for (g = 0; g < batch->n_groups; g++) {
        size = batch->group_begin[g + 1] - batch->group_begin[g];
        if (size > largest) largest = size;
    }
    return GSPO_SCRATCH_ARRAYS_ * largest;
}

/* ---- units and their tokens ---- */

typedef struct { grpo_term policy, penalty; } gspo_terms_;

/* M v g S with S of the token, or F_i of its response if the surrogate couples the group */
static inline grpo_term gspo_policy_term_(const grpo_run_ *r, const grpo_sequence_ *s, const grpo_token_ *k, grpo_ratio ratio,
                                          grpo_clip_side pool) {
    grpo_term x = { 0, 0, 0, GRPO_CLIP_NO };
    if (!s->group->value) return grpo_policy_term_(r, k, ratio, pool);
    x.value = s->group->value[s->member];
    return grpo_weighted_term_(r, k, ratio, pool, x);
}

static void gspo_terms_at_(const grpo_run_ *r, const grpo_sequence_ *s, const grpo_token_ *k, const gspo_ratio_ *x, gspo_terms_ *m) {
    m->policy = gspo_policy_term_(r, s, k, x->ratio, r->uses_ratio ? x->side : GRPO_CLIP_NO);
    m->penalty = grpo_penalty_term_(r, s, k, x->ratio);
}

/* adds the derivatives of a token's terms by y to u->through */
static void gspo_add_through_(const grpo_token_ *token, gspo_unit_ *u, const gspo_ratio_ *x, const gspo_terms_ *m) {
    const double each[2] = { m->policy.d_log_ratio, m->penalty.d_log_ratio };
    for (int k = 0; k < 2; k++) {
        const double y = grpo_over_own_(token, grpo_times(x->slope_unit, each[k]));
        if (y == 0) continue;
        u->any_through = 1;
        grpo_sum_add_(&u->through, u->prefix && u->mean ? y / (double)u->count : y);
    }
}

/* the derivative by l_t, from `through`, the derivative by y: through dy/dd_t */
static double gspo_slope_through_unit_(const gspo_unit_ *u, const gspo_ratio_ *x, double through) {
    gspo_log_ d;
    if (!x->passes || through == 0) return 0;
    if (u->prefix || !u->mean) return through;
    if (!u->power_mean) return through / (double)u->count;
    d = gspo_minus_(x->d, u->y);
    return d.infinite == 0 ? grpo_times(through, grpo_exp(grpo_dd_mul(d.finite, u->power))) / (double)u->count : 0;
}

/* the derivative by l_t of a surrogate that couples the group, from that by y of its response */
static double gspo_slope_through_group_(const grpo_run_ *r, const grpo_sequence_ *s, const gspo_unit_ *u, const gspo_ratio_ *x) {
    const double *slope = s->group->slope;
    if (!slope || !u->passes || !x->passes) return 0;
    return r->obj->ratio.gradient == GRPO_GRADIENT_TOKEN ? slope[s->member] : gspo_slope_through_unit_(u, x, slope[s->member]);
}

/* of a prefix: takes its last token out, and finds y of the tokens before */
static void gspo_shorten_prefix_(const grpo_run_ *r, gspo_unit_ *u, const gspo_ratio_ *x) {
    if (!r->needs_ratio) return;
    gspo_sum_log_(&u->sum, -1, x->d);
    u->count--;
    gspo_pool_(r, u);
}

/* writes the token's gradient; through: the derivative by y, summed over the tokens of the unit */
static void gspo_write_gradient_(const grpo_run_ *r, const grpo_sequence_ *s, const gspo_unit_ *u, const grpo_token_ *k,
                                 const gspo_ratio_ *x, const gspo_terms_ *m, double through) {
    const double g = grpo_plus(grpo_slope_by_logp_(k, &m->policy, &m->penalty),
                               grpo_times(x->slope_token, grpo_slope_by_ratio_(k, &m->policy, &m->penalty)));
    grpo_write_gradient_(r, s, k, grpo_plus(g, gspo_slope_through_unit_(u, x, through)), gspo_slope_through_group_(r, s, u, x));
}

/* forward: terms and report of every token, and the derivatives by y; backward: writes the gradient, which needs the sum of these */
typedef enum { GSPO_FORWARD_ = 1, GSPO_BACKWARD_ = 2, GSPO_BOTH_ = 3 } gspo_pass_;

/* Visits the tokens of the unit from the last to the first; *walk is left at its first token.  GSPO_BOTH_ completes a prefix in one pass,
 * as only the token and later ones, already visited, depend on its d; and any other unit if u->any_through stays 0.  Else the caller
 * repeats the pass with GSPO_BACKWARD_ and `through` the total of u->through. */
static void gspo_walk_(const grpo_run_ *r, const grpo_sequence_ *s, gspo_unit_ *u, grpo_walk_ *walk, gspo_pass_ pass, double through) {
    const grpo_token_ *k = &walk->token;
    while (grpo_step_back_(r, s, u->span.begin, walk)) {
        const gspo_ratio_ *x;
        gspo_ratio_ own;
        gspo_terms_ m;
        if (!k->counts) { if (pass & GSPO_FORWARD_) grpo_skip_token_(r, k->t); continue; }
        x = gspo_ratio_at_(r, u, k->t, &own);
        gspo_terms_at_(r, s, k, x, &m);
        if (pass & GSPO_FORWARD_) grpo_take_token_(r, s, k, x->ratio, &m.policy, &m.penalty);
        if (pass & (u->prefix ? GSPO_BACKWARD_ : GSPO_FORWARD_)) gspo_add_through_(k, u, x, &m);
        if (u->prefix) through = u->any_through ? grpo_sum_total_(&u->through) : 0;
        if (pass == GSPO_BACKWARD_ || (pass == GSPO_BOTH_ && (u->prefix || !u->any_through)))
            gspo_write_gradient_(r, s, u, k, x, &m, through);
        if (u->prefix) gspo_shorten_prefix_(r, u, x);
    }
}

#ifndef GRPO_NO_BLOCKS

/* the first unmasked token of the unit, -1 if there is none; *others: how many unmasked tokens have another advantage than it */
static int64_t gspo_first_token_(const grpo_run_ *r, grpo_span_ unit, int64_t *others) {
    int64_t t, first = -1, n = 0;
    for (t = unit.begin; first < 0 && t < unit.end; t++) if (grpo_is_unmasked_(r->batch, t)) first = t;
    for (; t < unit.end; t++) n += r->advantage[t] != r->advantage[first] && grpo_is_unmasked_(r->batch, t);
    *others = n;
    return first;
}

/* M v S of token t of a uniform unit */
static grpo_term gspo_uniform_term_(const grpo_run_ *r, const grpo_sequence_ *s, const gspo_unit_ *u, int64_t t) {
    grpo_token_ token;
    if (s->rollout_is.value == 1 && !r->has_policy_mask && !s->group->value)
        return grpo_surrogate_term(&r->obj->surrogate, r->range, u->ratio, (double)r->advantage[t], (double)r->batch->logp[t]);
    memset(&token, 0, sizeof token);
    token.t = t;
    token.factor.policy = s->rollout_is.value;
    return gspo_policy_term_(r, s, &token, u->ratio, GRPO_CLIP_NO);
}

/* puts the tokens of a uniform unit, all with this term, into the block */
static void gspo_take_term_(const grpo_run_ *r, const grpo_sequence_ *s, const gspo_unit_ *u, grpo_term term) {
    const double through = grpo_times(u->same.slope_unit, term.d_log_ratio) * (double)u->count;        /* rounded once */
    r->partial->clips[term.clip] += u->count;
    if (s->group->value) term.d_log_ratio = gspo_slope_through_group_(r, s, u, &u->same);
    else term.d_log_ratio = grpo_plus(grpo_times(u->same.slope_token, term.d_log_ratio), gspo_slope_through_unit_(u, &u->same, through));
    grpo_block_take_(r, s, u->span, u->ratio.value, &term);
}

/* the derivative of S by y, summed over the tokens of a uniform unit, which have different advantages */
GRPO_NOINLINE_ double gspo_sum_slopes_(const grpo_run_ *r, const grpo_sequence_ *s, const gspo_unit_ *u) {
    grpo_sum sum = GRPO_NO_SUM_;
    double slope[GRPO_BLOCK_];
    int n = 0;
    if (u->same.slope_unit == 0) return 0;
    for (int64_t t = u->span.begin; t < u->span.end; t++) {
        if (!grpo_is_unmasked_(r->batch, t)) continue;
        slope[n++] = grpo_times(u->same.slope_unit, gspo_uniform_term_(r, s, u, t).d_log_ratio);
        if (n == GRPO_BLOCK_) { grpo_sum_add_block_(&sum, 1, slope); n = 0; }
    }
    for (int k = n; k < GRPO_BLOCK_; k++) slope[k] = 0;
    grpo_sum_add_block_(&sum, 1, slope);
    return grpo_sum_total_(&sum);
}

/* puts the tokens of a uniform unit into the block, which have different advantages; the weight of the response is 1 */
static void gspo_take_terms_(const grpo_run_ *r, const grpo_sequence_ *s, const gspo_unit_ *u) {
    const double through = gspo_slope_through_unit_(u, &u->same, gspo_sum_slopes_(r, s, u));
    grpo_block_open_(r);
    for (int64_t t = u->span.begin; t < u->span.end; t++) {
        if (!grpo_is_unmasked_(r->batch, t)) { grpo_skip_token_(r, t); continue; }
        grpo_term term = gspo_uniform_term_(r, s, u, t);
        r->partial->clips[term.clip]++;
        term.d_log_ratio = grpo_plus(grpo_times(u->same.slope_token, term.d_log_ratio), through);
        grpo_block_append_(r, s, t, 1);
        grpo_block_set_(r, r->block, r->block->n - 1, 1, u->ratio.value, &term);
        if (r->block->n == GRPO_BLOCK_) grpo_block_flush_(r);
    }
}

/* Puts the tokens of a unit into the block, if the objective allows it (grpo_goes_by_blocks_); returns 0 if they must be evaluated one by
 * one.  Tokens of equal advantage share one term, but for a part that is proportional to l. */
GRPO_NOINLINE_ int gspo_take_by_block_(const grpo_run_ *r, const grpo_sequence_ *s, grpo_span_ span) {
    const int may = r->block && r->advantage && r->needs_ratio && s->coefficient != 0 && s->evenly_weighted && !s->truncated;
    int64_t others = 0;
    const int64_t t = may ? gspo_first_token_(r, span, &others) : -1;
    gspo_unit_ u;
    if (t < 0 || ((others || s->group->value) && grpo_clips_token_ratios_(&r->obj->ratio))) return 0;
    gspo_unit_open_(r, span.begin, span.end, &u);
    if (!gspo_sum_blocks_(r, s, (double)r->advantage[t], &u)) return 0;
    gspo_unit_close_(r, &u);
    const grpo_term term = gspo_uniform_term_(r, s, &u, t);
    if (s->rollout_is.value != 1 && (others || term.d_logp != 0)) return 0;      /* (v u A) l is not v (u A l) to the bit */
    if (others && !s->group->value) gspo_take_terms_(r, s, &u);
    else gspo_take_term_(r, s, &u, term);
    return 1;
}

#else

static int gspo_take_by_block_(const grpo_run_ *r, const grpo_sequence_ *s, grpo_span_ span) {
    return grpo_block_take_(r, s, span, 1, NULL);
}

#endif

/* A token's gradient needs the derivative by y, summed over all tokens of the unit.  If that is not 0, a second pass computes the terms
 * again: they are not stored, as there is no buffer for them (the outputs may be float). */
GRPO_NOINLINE_ void gspo_evaluate_unit_(const grpo_run_ *r, const grpo_sequence_ *s, gspo_unit_ *u, grpo_walk_ *walk) {
    grpo_walk_ from = *walk;
    gspo_walk_(r, s, u, walk, r->out.dlogp ? GSPO_BOTH_ : GSPO_FORWARD_, 0);
    if (r->out.dlogp && u->any_through && !u->prefix) gspo_walk_(r, s, u, &from, GSPO_BACKWARD_, grpo_sum_total_(&u->through));
}

/* evaluates the last unit that is not done yet, token by token */
GRPO_NOINLINE_ void gspo_evaluate_singly_(const grpo_run_ *r, const grpo_sequence_ *s, grpo_walk_ *walk) {
    gspo_unit_ u;
    grpo_use_report_buffer_(r);
    gspo_unit_at_(r, s, walk->token.t, &u);
    gspo_evaluate_unit_(r, s, &u, walk);
}

/* evaluates the units of a response, from the last to the first */
static void gspo_evaluate_sequence_(const grpo_run_ *r, const grpo_sequence_ *s) {
    const int by_segment = grpo_level_is_segment_(r->obj->ratio.level);
    grpo_walk_ walk = grpo_walk_from_(s->end);
    while (walk.token.t > s->begin) {
        const grpo_span_ span = { by_segment ? grpo_segment_at_(r->batch, s, walk.token.t - 1).begin : s->begin, walk.token.t };
        if (gspo_take_by_block_(r, s, span)) walk.token.t = span.begin;
        else gspo_evaluate_singly_(r, s, &walk);
    }
}

static grpo_method_ gspo_method_(const grpo_objective *obj, const grpo_batch *batch) {
    grpo_method_ how;
    how.evaluate = obj && obj->ratio.level == GRPO_LEVEL_TOKEN ? grpo_evaluate_tokens_ : gspo_evaluate_sequence_;
    how.couple = gspo_couples_(obj) ? gspo_couple_ : NULL;
    how.scratch = gspo_scratch(obj, batch);
    return how;
}

grpo_status gspo_loss_check(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                            const grpo_totals *totals, const grpo_output *out, const grpo_partial *partial) {
    const grpo_method_ how = gspo_method_(obj, batch);
    grpo_scales scales;
    return grpo_check_loss_(obj, batch, advantage, totals, out, partial, &how, GRPO_NEED_LOGP_ | GRPO_NEED_ENTROPY_, &scales);
}

grpo_status gspo_loss_add(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                          const grpo_totals *totals, const grpo_output *out, grpo_partial *partial) {
    const grpo_method_ how = gspo_method_(obj, batch);
    return grpo_run_batch_(obj, batch, advantage, totals, out, partial, &how);
}

grpo_status gspo_loss(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                      const grpo_totals *totals, const grpo_output *out, grpo_report *report) {
    const grpo_method_ how = gspo_method_(obj, batch);
    return grpo_run_once_(obj, batch, advantage, totals, out, report, &how);
}

GRPO_C_END_
#endif /* GSPO_IMPLEMENTATION */
