/* gspo.h - policy-optimisation objectives whose importance ratio belongs to more than a token: GSPO, GSPO-token, GMPO, LUSPO, VESPO, turns,
 * prefixes, mixtures of token and unit ..., and those that look at the responses of a prompt together: GVPO, REAL, FlowRL, AMIR-GRPO,
 * DisCO, DRPO, DMPO ...
 *
 * Goes with grpo.h (include path or same folder) and has everything in it.  In one source file write
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
 * An objective that looks at a group as a whole needs room for it, gspo_scratch elements in out.scratch.
 *
 * How it works.  The units of the tokens are a map from their log-ratios d to y: a mean or sum over the response, over a segment, over the
 * prefix that ends with the token; or the log of the power mean of e^d.  Token t's term x_t is a function of y_t, or of a mixture y'_t of
 * y_t and d_t, and the gradient goes back through the transposed map:
 *     d loss/d l_k = c_k (own_k + dx_k/dy' dy'_k/dd_k) + sum over t of c_t dx_t/dy' dy'_t/dy_t dy_t/dd_k,
 * or, with ratio.gradient = token, stays with the token: d loss/d l_k = c_k (own_k + dx_k/dy')   (GSPO-token, eq. 17).
 * The sums are exact, so y does not depend on the order in which they are made, and its rounding is carried into the exp.
 * A surrogate that couples a group is one step more: from the scores s_i = y_i or e^(y_i) of its responses to F_i, from C_i = sum_t c_it
 * v_it to d loss/d y_j = sum_i C_i dF_i/ds_j ds_j/dy_j, and from there to the tokens as before.
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

#ifdef __cplusplus
extern "C" {
#endif

/* as grpo_loss, for every ratio.level */
grpo_status gspo_loss(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                      const grpo_totals *totals, const grpo_output *out, grpo_report *report);

/* as grpo_loss_add, for every ratio.level */
grpo_status gspo_loss_add(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                          const grpo_totals *totals, const grpo_output *out, grpo_partial *partial);

/* what gspo_loss_add would refuse, before there are log-probabilities: batch.logp and batch.entropy are not looked at.  partial: NULL if
 * there is none */
grpo_status gspo_loss_check(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                            const grpo_totals *totals, const grpo_output *out, const grpo_partial *partial);

/* elements that grpo_output.scratch must have, by the largest group of the batch; 0 for objectives that need none */
int64_t gspo_scratch(const grpo_objective *obj, const grpo_batch *batch);

/* log s of one sequence, GSPO eq. 7: the mean of logp - logp_old over its n tokens where mask (NULL: all) is not 0; 0 if there is
 * none.  hi is the mean rounded once, lo what that rounding left: grpo_ratio_exp of it is s to 1 ulp. */
grpo_dd gspo_log_ratio(const grpo_real *logp, const grpo_real *logp_old, const uint8_t *mask, int64_t n);

/* log(1 + x) to 2^-85 of it, or what an error of 2^-102 of x does to it, for -1 < x < 1e300: Newton's step as in grpo_log_twice */
GRPO_FN grpo_dd gspo_log_one_plus_twice(grpo_dd x) {
    const grpo_dd one = { 1, 0 };
    grpo_dd y = { 0, 0 }, e;
    y.hi = -log1p(x.hi);
    e = grpo_dd_add(x, grpo_dd_product(grpo_dd_add(one, x), grpo_exp_minus_one_twice(y)));
    e.lo -= 0.5 * e.hi * e.hi;
    y.hi = -y.hi;
    return grpo_dd_add(y, e);
}

/* log cosh(z/2) for z >= 0 and to 2^-75 of it: a series in w = z^2, from w^4 on in double, for that is less than 2^-24 of the whole and
 * the last term 2^-77; or z/2 + log((1 + e^-z)/2) */
GRPO_FN grpo_dd gspo_log_cosh(grpo_dd z) {
    static const grpo_dd by[3] = { { 0.125, 0 }, { -0.005208333333333333, -2.8912057932946783e-19 },
                                   { 0.00034722222222222224, -1.3251359885933943e-20 } };
    const grpo_dd w = grpo_dd_times_(z, z);
    const double x = w.hi, x2 = x * x, a = -2.6351686507936509e-05 + x * 2.1356922398589067e-06;
    const double b = -1.8032298848271071e-07 + x * 1.5660435427300506e-08, c = -1.388391863871878e-09 + x * 1.250431147566024e-10;
    grpo_dd s;
    if (!(z.hi < 0.25)) {
        s = grpo_dd_mul(grpo_dd_add(grpo_dd_of_(1), grpo_exp_twice(grpo_dd_negative(z))), 0.5);
        return grpo_dd_add(grpo_dd_mul(z, 0.5), grpo_dd_log(s));
    }
    s = grpo_dd_series_(by, w, grpo_dd_of_(a + x2 * (b + x2 * (c + x2 * -1.1402564727952599e-11))));
    return grpo_dd_folded_(grpo_dd_times_(w, s));
}

#ifdef __cplusplus
}
#endif
#endif /* GSPO_H */

/* =================================================================================================================================
 * Implementation
 * ============================================================================================================================== */
#if defined(GSPO_IMPLEMENTATION) && !defined(GSPO_IMPLEMENTED)
#define GSPO_IMPLEMENTED

#ifndef GRPO_IMPLEMENTATION
#define GRPO_IMPLEMENTATION
#endif
#include "grpo.h"      /* its implementation, if this file has not had it yet */

#ifdef __cplusplus
extern "C" {
#endif

grpo_dd gspo_log_ratio(const grpo_real *logp, const grpo_real *logp_old, const uint8_t *mask, int64_t n) {
    grpo_sum s;
    int64_t t, count = 0;
    memset(&s, 0, sizeof s);
    for (t = 0; t < n; t++)
        if (!mask || mask[t]) { grpo_sum_add_diff_(&s, (double)logp[t], (double)logp_old[t]); count++; }
    return grpo_mean_(&s, count);
}

/* a log-ratio: level K + rest, K -> infinity being what -inf log-probabilities stand for */
typedef struct { double level; grpo_dd rest; } gspo_log_;

static gspo_log_ gspo_log_of_(double level, grpo_dd rest) {
    gspo_log_ x;
    x.level = level; x.rest = rest;
    return x;
}

static grpo_dd gspo_value_(gspo_log_ x) { return x.level > 0 ? grpo_dd_of_(HUGE_VAL) : x.level < 0 ? grpo_dd_of_(-HUGE_VAL) : x.rest; }

static gspo_log_ gspo_minus_(gspo_log_ a, gspo_log_ b) { return gspo_log_of_(a.level - b.level, grpo_dd_minus_(a.rest, b.rest)); }

/* x y; a factor that is exactly 0 wins */
static gspo_log_ gspo_log_times_(gspo_log_ x, double y) {
    return y == 0 ? gspo_log_of_(0, grpo_dd_of_(0)) : gspo_log_of_(x.level * y, grpo_dd_mul(x.rest, y));
}

/* d_t; *passes: does its derivative pass? */
GRPO_APART_ gspo_log_ gspo_own_log_(const grpo_run_ *r, int64_t t, int *passes) {
    const double l = (double)r->batch->logp[t], old = grpo_behaviour_(r, t);
    const grpo_dd d = grpo_log_ratio_(r, t, passes);
    if (d.hi == HUGE_VAL) return gspo_log_of_(1, grpo_dd_of_(grpo_is_finite(l) ? l : 0));
    if (d.hi == -HUGE_VAL) return gspo_log_of_(-1, grpo_dd_of_(grpo_is_finite(old) ? -old : 0));
    return gspo_log_of_(0, d);
}

/* what token t gives to its unit: d, or of GMPO the bound its clip takes, which *side tells */
GRPO_INLINE_ gspo_log_ gspo_token_log_(const grpo_run_ *r, int64_t t, int *passes, grpo_clip_side *side) {
    const grpo_ratio_axis *a = &r->obj->ratio;
    const gspo_log_ x = gspo_own_log_(r, t, passes);
    const double d = gspo_value_(x).hi;
    int down;
    *side = GRPO_CLIP_NO;
    if (!grpo_clips_pool_(a)) return x;
    down = r->advantage[t] < 0;
    if (down && d < -a->token_clip_low) *side = GRPO_CLIP_LOW;
    if (!down && d > a->token_clip_high) *side = GRPO_CLIP_HIGH;
    if (*side == GRPO_CLIP_NO) return x;
    *passes = 0;
    return gspo_log_of_(0, grpo_dd_of_(down ? -a->token_clip_low : a->token_clip_high));
}

/* what y of a unit is made of */
typedef struct {
    int segment;        /* of the token's segment, not of the whole response */
    int prefix;         /* up to and including the token */
    int mean;           /* divided by the number of tokens */
    int ratios;         /* log of the sum of e^(power d) over power, not the sum of d */
} gspo_map_;

static gspo_map_ gspo_map_of_(grpo_level_kind unit) {
    static const gspo_map_ of[] = { { 0, 0, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 0, 0 }, { 0, 0, 1, 0 }, { 1, 0, 1, 0 }, { 1, 0, 0, 0 },
                                    { 0, 1, 0, 0 }, { 0, 1, 1, 0 }, { 0, 0, 1, 1 }, { 0, 0, 1, 1 } };
    return of[unit];
}

/* the ratio of a token, and what its term's derivative by y' is multiplied by for the token itself and for its unit */
typedef struct {
    grpo_ratio ratio;
    gspo_log_ d;         /* what it gives to its unit; not of a uniform one */
    double own, unit;
    int passes;          /* does a derivative by that reach l? */
    grpo_clip_side side;
} gspo_ratio_;

/* tokens that are in one another's y, met from the last to the first */
typedef struct {
    gspo_map_ map;
    int uniform;        /* one ratio and one derivative for all its tokens: every d passes, and none is asked for again */
    grpo_span_ span;
    int64_t count;      /* tokens that count; with `prefix` those up to the one at hand */
    grpo_sum sum;       /* of their d; with `ratios` of e^(power (d - top)) - 1 */
    gspo_log_ top;      /* with `ratios`: the largest d */
    double power;
    gspo_log_ y;
    grpo_ratio ratio;   /* of y, clamped; passes: does its derivative? */
    int passes;
    gspo_ratio_ same;   /* of every token, if it is uniform */
    grpo_sum through;   /* what their terms hand back: sum of c dx/dy; with `prefix` of the tokens from the one at hand on */
    int handed;         /* anything but 0 */
} gspo_unit_;

/* sign: 1 to add d to the sum, -1 to take it away */
static void gspo_sum_log_(grpo_sum *sum, double sign, gspo_log_ d) {
    grpo_sum_add_(sum, sign * d.rest.hi);
    if (d.rest.lo != 0) grpo_sum_add_(sum, sign * d.rest.lo);
    if (d.level != 0) grpo_sum_add_(sum, sign * d.level > 0 ? HUGE_VAL : -HUGE_VAL);
}

/* with `ratios`: the largest d, and the power.  One so small that e^(power (d - top)) - 1 is power (d - top) to the last bit of twice the
 * precision may as well be larger, for the sake of these numbers' own last bits */
static void gspo_find_top_(const grpo_run_ *r, const grpo_sequence_ *s, gspo_unit_ *u) {
    grpo_cursor_ c = grpo_cursor_of_(u->span.begin, u->span.end);
    grpo_clip_side side;
    gspo_log_ d, least = { 0, { 0, 0 } };
    double least_power;
    int passes, any = 0;
    while (grpo_next_(r, s, &c)) {
        d = gspo_token_log_(r, c.t, &passes, &side);
        if (!any || d.level > u->top.level || (d.level == u->top.level && grpo_dd_less(u->top.rest, d.rest))) u->top = d;
        if (!any || d.rest.hi < least.rest.hi) least = d;
        any = 1;
    }
    u->power = r->obj->ratio.level == GRPO_LEVEL_SEQUENCE_POWER_MEAN && r->obj->ratio.power != 0 ? r->obj->ratio.power : 1;
    least_power = ldexp(1, -200) / (u->top.rest.hi - least.rest.hi);
    if (u->power < least_power && grpo_is_finite(least_power)) u->power = least_power;
}

/* those below the level of the top are nothing beside it */
static void gspo_sum_ratios_(const grpo_run_ *r, const grpo_sequence_ *s, gspo_unit_ *u) {
    grpo_cursor_ c = grpo_cursor_of_(u->span.begin, u->span.end);
    grpo_clip_side side;
    gspo_log_ d;
    int passes;
    gspo_find_top_(r, s, u);
    while (grpo_next_(r, s, &c)) {
        d = gspo_minus_(gspo_token_log_(r, c.t, &passes, &side), u->top);
        if (d.level == 0) grpo_sum_add_dd_(&u->sum, grpo_exp_minus_one_twice(grpo_dd_mul(d.rest, u->power)));
        else grpo_sum_add_(&u->sum, -1);
        u->count++;
    }
}

static void gspo_sum_logs_(const grpo_run_ *r, const grpo_sequence_ *s, gspo_unit_ *u) {
    grpo_cursor_ c = grpo_cursor_of_(u->span.begin, u->span.end);
    grpo_clip_side side;
    int passes;
    while (grpo_next_(r, s, &c)) {
        gspo_sum_log_(&u->sum, 1, gspo_token_log_(r, c.t, &passes, &side));
        u->count++;
    }
}

/* the same of a uniform unit, or of one whose tokens have the same A, in blocks; 0, with nothing in the sum: a d is not finite */
static int gspo_sum_blocks_(const grpo_run_ *r, const grpo_sequence_ *s, double A, gspo_unit_ *u) {
    double least, most;
    if (!s->evenly_weighted || s->truncated) return 0;
    grpo_pool_bounds_(&r->obj->ratio, A, &least, &most);
    u->count = grpo_sum_add_within_(r->batch, u->span.begin, u->span.end, r->batch->logp, r->behaviour, DBL_MAX, least, most, &u->sum);
    if (u->count < 0) u->count = 0;
    return u->count > 0;
}

/* y from the sum, whose infinities are set aside meanwhile: the level is made of them, and rest of what is finite */
static gspo_log_ gspo_pooled_(gspo_unit_ *u) {
    const double n = u->map.mean ? (double)u->count : 1;
    const int64_t above = u->sum.pos_inf, below = u->sum.neg_inf;
    grpo_dd mean;
    if (u->count == 0) return gspo_log_of_(0, grpo_dd_of_(0));
    u->sum.pos_inf = u->sum.neg_inf = 0;
    mean = grpo_sum_dd_(&u->sum);
    u->sum.pos_inf = above; u->sum.neg_inf = below;
    if (n != 1) mean = grpo_dd_div(mean, n);
    if (!u->map.ratios) return gspo_log_of_((double)(above - below) / n, mean);
    return gspo_log_of_(u->top.level, grpo_dd_add(u->top.rest, grpo_dd_div(gspo_log_one_plus_twice(mean), u->power)));
}

static grpo_ratio gspo_clamped_(const grpo_run_ *r, gspo_log_ y, int *passes) {
    const grpo_ratio_axis *a = &r->obj->ratio;
    return grpo_ratio_exp(grpo_clamp(gspo_value_(y), a->level_clamp_low, a->level_clamp_high, passes));
}

static void gspo_pool_(const grpo_run_ *r, gspo_unit_ *u) {
    u->y = gspo_pooled_(u);
    u->ratio = gspo_clamped_(r, u->y, &u->passes);
}

static int gspo_is_uniform_(const grpo_ratio_axis *a, gspo_map_ map) {
    return !map.prefix && !map.ratios && !grpo_clips_pool_(a) && a->interpolate == GRPO_INTERPOLATE_NONE
        && a->clamp_low == 0 && a->clamp_high == 0;
}

/* of the tokens from begin to the one before end, with nothing in its sum */
static void gspo_unit_open_(const grpo_run_ *r, int64_t begin, int64_t end, gspo_unit_ *u) {
    memset(u, 0, sizeof *u);
    u->map = gspo_map_of_(r->obj->ratio.level);
    u->span.begin = begin; u->span.end = end;
    u->uniform = !r->needs_ratio || gspo_is_uniform_(&r->obj->ratio, u->map);
    u->same.ratio.value = 1;
}

/* its ratio, once the sum is there */
static void gspo_unit_close_(const grpo_run_ *r, gspo_unit_ *u) {
    gspo_pool_(r, u);
    u->same.ratio = u->ratio;
    u->same.passes = 1;
    if (u->passes) *(r->obj->ratio.gradient == GRPO_GRADIENT_TOKEN ? &u->same.own : &u->same.unit) = 1;
}

/* the unit whose last token is the one before `end` */
static void gspo_unit_at_(const grpo_run_ *r, const grpo_sequence_ *s, int64_t end, gspo_unit_ *u) {
    gspo_unit_open_(r, s->begin, end, u);
    if (u->map.segment && end > s->begin) u->span.begin = grpo_segment_at_(r->batch, s, end - 1).begin;
    if (!r->needs_ratio) return;
    if (u->map.ratios) gspo_sum_ratios_(r, s, u);
    else if (!u->uniform || !gspo_sum_blocks_(r, s, 0, u)) gspo_sum_logs_(r, s, u);
    gspo_unit_close_(r, u);
}

/* log((e^d + e^y)/2) = (d + y)/2 + log cosh((d - y)/2); *own, *unit: its derivatives by d and y */
static gspo_log_ gspo_average_(gspo_log_ d, gspo_log_ y, double *own, double *unit) {
    const grpo_dd ln2 = { GRPO_LN2_HI_, GRPO_LN2_LO_ };
    const gspo_log_ up = gspo_minus_(d, y);
    const grpo_dd down = grpo_dd_negative(up.rest);
    grpo_dd half;
    if (up.level != 0) {
        const gspo_log_ most = up.level > 0 ? d : y;
        *own = up.level > 0;
        *unit = 1 - *own;
        return gspo_log_of_(most.level, grpo_dd_minus_(most.rest, ln2));
    }
    *own = 1 / (1 + grpo_exp(down));
    *unit = 1 / (1 + grpo_exp(up.rest));
    half = grpo_dd_mul(grpo_dd_add(d.rest, y.rest), 0.5);
    return gspo_log_of_(d.level, grpo_dd_add(half, gspo_log_cosh(up.rest.hi < 0 ? down : up.rest)));
}

/* y', and its derivatives */
static gspo_log_ gspo_mixed_(const grpo_ratio_axis *a, gspo_log_ d, gspo_log_ y, double *own, double *unit) {
    gspo_log_ x, z;
    if (a->interpolate == GRPO_INTERPOLATE_ARITHMETIC) return gspo_average_(d, y, own, unit);
    *own = a->interpolate_token; *unit = a->interpolate_level;
    x = gspo_log_times_(d, a->interpolate_token);
    z = gspo_log_times_(y, a->interpolate_level);
    return gspo_log_of_(x.level + z.level, grpo_dd_add(x.rest, z.rest));
}

/* of token t; where it has none of its own, that of its unit */
GRPO_APART_ const gspo_ratio_ *gspo_ratio_at_(const grpo_run_ *r, const gspo_unit_ *u, int64_t t, gspo_ratio_ *own) {
    const grpo_ratio_axis *a = &r->obj->ratio;
    gspo_log_ d;
    int own_passes, level_passes = u->passes;
    if (u->uniform) return &u->same;
    *own = u->same;
    own->d = gspo_token_log_(r, t, &own->passes, &own->side);
    own->ratio = u->ratio;
    own->unit = 1;
    own->own = own->passes && a->gradient == GRPO_GRADIENT_TOKEN ? 1 : 0;
    if (a->interpolate != GRPO_INTERPOLATE_NONE) {
        d = own->d;
        own_passes = own->passes;
        if (own->side != GRPO_CLIP_NO) d = gspo_own_log_(r, t, &own_passes);
        own->ratio = gspo_clamped_(r, gspo_mixed_(a, d, u->y, &own->own, &own->unit), &level_passes);
        if (!own_passes) own->own = 0;
    }
    if (a->gradient == GRPO_GRADIENT_TOKEN) own->unit = 0;
    if (!level_passes) own->own = own->unit = 0;
    return own;
}

/* ---- functions of a group --------------------------------------------------------------------------------------------------------
 * From scores, advantages and weights to values and the slope of what they add up to.  Sums are exact: no order of the responses
 * changes a bit.  An infinite score stands for one and the same K -> infinity, as everywhere. */

/* the n responses of a group that have tokens that count */
typedef struct {
    int64_t n;
    double *score, *score_low;      /* s_i = score + score_low */
    double *advantage;              /* A_i, at the first token that counts */
    double *coefficient;            /* C_i, what F_i is multiplied by in the loss */
    double *length;                 /* T_i, tokens that count */
    double *old, *old_low;          /* of tilted_cross_entropy: o_i = old + old_low - K old_infinite */
    double *old_infinite;
    double log_partition;
    double *value;                  /* out: F_i */
    double *slope;                  /* out: d (sum_j C_j F_j)/d s_i */
    double slope_z;                 /* out: that by log_partition */
    double *share, *share_low;      /* (n) for the function's own use: the distribution that the scores are to have, */
    double *work, *work_low;        /* exponents, and what becomes of them */
} gspo_group_;

/* the same n, as penalty.preference compares them */
typedef struct {
    int64_t n;
    double *score, *score_low;
    double *reward, *tokens;        /* tokens that count */
    double *slope;                  /* out: d loss/d l over ranks at each token */
} gspo_preferences_;

enum { GSPO_GROUP_ARRAYS_ = 14, GSPO_SCRATCH_ARRAYS_ = GSPO_GROUP_ARRAYS_ + 1 };

static grpo_dd gspo_score_(const gspo_group_ *g, int64_t i) { return grpo_dd_pair_(g->score[i], g->score_low[i]); }
static grpo_dd gspo_work_(const gspo_group_ *g, int64_t i) { return grpo_dd_pair_(g->work[i], g->work_low[i]); }
static void gspo_keep_(const gspo_group_ *g, int64_t i, grpo_dd x) { g->work[i] = x.hi; g->work_low[i] = x.lo; }

/* k x, where a 0 wins over an infinity */
static grpo_dd gspo_times_(grpo_dd x, double k) { return k == 0 || x.hi == 0 ? grpo_dd_of_(0) : grpo_dd_mul(x, k); }

/* the responses of a group by the sign of A */
typedef enum { GSPO_ALL_, GSPO_PLUS_, GSPO_MINUS_ } gspo_side_;

static int gspo_is_plus_(const gspo_group_ *g, int64_t i) { return g->advantage[i] > 0; }
static int gspo_is_of_(const gspo_group_ *g, gspo_side_ side, int64_t i) {
    return side == GSPO_ALL_ || (side == GSPO_PLUS_) == gspo_is_plus_(g, i);
}

/* sum of e^z over the work array = e^most (1 + rest); at: where most is, -1: it is the 0 of with_one */
typedef struct { grpo_dd most; double rest; int64_t at; } gspo_peak_;

/* of one side; with_one: and e^0 */
GRPO_SMALL_ gspo_peak_ gspo_peak_of_(const gspo_group_ *g, gspo_side_ side, int with_one) {
    gspo_peak_ p;
    grpo_sum sum;
    memset(&sum, 0, sizeof sum);
    p.most = grpo_dd_of_(0);
    p.at = -1;
    for (int64_t i = 0; i < g->n; i++) {
        const grpo_dd z = gspo_work_(g, i);
        if (gspo_is_of_(g, side, i) && (grpo_dd_less(p.most, z) || (p.at < 0 && !with_one))) { p.most = z; p.at = i; }
    }
    for (int64_t i = 0; i < g->n; i++)
        if (i != p.at && gspo_is_of_(g, side, i)) grpo_sum_add_(&sum, grpo_exp(grpo_dd_minus_(gspo_work_(g, i), p.most)));
    if (with_one && p.at >= 0) grpo_sum_add_(&sum, grpo_exp(grpo_dd_negative(p.most)));
    p.rest = grpo_sum_value_(&sum);
    return p;
}

/* e^z_i over their sum */
static double gspo_share_of_(const gspo_group_ *g, const gspo_peak_ *p, int64_t i) {
    return grpo_exp(grpo_dd_minus_(gspo_work_(g, i), p->most)) / (1 + p->rest);
}

/* y_i - mean y, from the sum of y */
static grpo_dd gspo_centred_(const gspo_group_ *g, const grpo_sum *sum, int64_t i) {
    const grpo_dd y = gspo_score_(g, i);
    int64_t tilt = sum->neg_inf - sum->pos_inf;                        /* how often K is in n (y_i - mean y) */
    if (!grpo_is_finite(y.hi)) tilt += y.hi > 0 ? g->n : -g->n;
    if (tilt != 0) return grpo_dd_of_(tilt > 0 ? HUGE_VAL : -HUGE_VAL);
    if (!grpo_is_finite(y.hi)) return grpo_dd_of_(0);
    return grpo_dd_minus_(y, grpo_dd_div(grpo_sum_dd_(sum), (double)g->n));
}

/* F_i = e_i^2/(2 (G - 1)), e_i = k (y_i - mean y) - A_i: GVPO (2504.19599) */
GRPO_SMALL_ void gspo_variance_(const grpo_surrogate *s, gspo_group_ *g) {
    const double n = (double)g->n, others = n - 1;
    grpo_sum sum, weighed;
    grpo_dd mean, e;
    memset(&sum, 0, sizeof sum);
    memset(&weighed, 0, sizeof weighed);
    for (int64_t i = 0; i < g->n; i++) { grpo_sum_add_dd_(&sum, gspo_score_(g, i)); g->value[i] = g->slope[i] = 0; }
    if (g->n < 2) return;
    for (int64_t i = 0; i < g->n; i++) {
        e = grpo_dd_add(gspo_times_(gspo_centred_(g, &sum, i), s->beta), grpo_dd_of_(-g->advantage[i]));
        g->value[i] = 0.5 * e.hi * e.hi / others;
        e = gspo_times_(e, g->coefficient[i]);
        gspo_keep_(g, i, e);
        grpo_sum_add_dd_(&weighed, e);
    }
    mean = grpo_dd_div(grpo_sum_dd_(&weighed), n);
    for (int64_t i = 0; i < g->n; i++) g->slope[i] = grpo_times(s->beta, grpo_dd_minus_(gspo_work_(g, i), mean).hi) / others;
}

/* one of the two sides: n responses of it, F = log(1 + sum e^z)/n with z = -y/tau of positives, y/tau of the others */
GRPO_SMALL_ void gspo_logistic_lse_side_(gspo_group_ *g, gspo_side_ side, double tau) {
    const int positive = side == GSPO_PLUS_;
    gspo_peak_ peak;
    grpo_sum weight;
    grpo_dd y;
    double value, n = 0;
    memset(&weight, 0, sizeof weight);
    for (int64_t i = 0; i < g->n; i++) {
        if (!gspo_is_of_(g, side, i)) continue;
        y = gspo_score_(g, i);
        gspo_keep_(g, i, grpo_dd_div(positive ? grpo_dd_negative(y) : y, tau));
        grpo_sum_add_(&weight, g->coefficient[i]);
        n++;
    }
    peak = gspo_peak_of_(g, side, 1);
    value = (peak.most.hi + log1p(peak.rest)) / n;
    for (int64_t i = 0; i < g->n; i++) {
        if (!gspo_is_of_(g, side, i)) continue;
        g->value[i] = value;
        g->slope[i] = grpo_times(grpo_sum_value_(&weight), gspo_share_of_(g, &peak, i)) / tau / (positive ? -n : n);
    }
}

/* REAL (2602.05630): a group of one label is worth nothing */
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

/* F_i = e_i^2, e_i = z + y_i - k A_i: FlowRL (2509.15207) */
GRPO_SMALL_ void gspo_trajectory_balance_(const grpo_surrogate *s, gspo_group_ *g) {
    grpo_sum sum;
    grpo_dd e;
    memset(&sum, 0, sizeof sum);
    for (int64_t i = 0; i < g->n; i++) {
        e = grpo_dd_add(gspo_score_(g, i), grpo_dd_of_(g->log_partition));
        e = grpo_dd_minus_(e, grpo_two_prod(s->reward_beta, g->advantage[i]));
        g->value[i] = e.hi * e.hi;
        g->slope[i] = grpo_times(2 * g->coefficient[i], e.hi);
        grpo_sum_add_(&sum, g->slope[i]);
    }
    g->slope_z = grpo_sum_total_(&sum);
}

/* does i win over j by more than min_gap?  x: what they are compared by */
static int gspo_wins_(const double *x, int64_t i, int64_t j, double min_gap) { return grpo_dd_exceeds(grpo_two_diff(x[i], x[j]), min_gap); }

/* k (y_i - y_j) */
static grpo_dd gspo_lead_(grpo_dd y_i, grpo_dd y_j, double k) { return gspo_times_(grpo_dd_minus_(y_i, y_j), k); }

/* what the pair costs that i wins over j, and its derivative by k (y_i - y_j) */
GRPO_SMALL_ grpo_logistic gspo_cost_(const grpo_surrogate *s, const gspo_group_ *g, int64_t i, int64_t j) {
    const grpo_dd lead = gspo_lead_(gspo_score_(g, i), gspo_score_(g, j), s->beta);
    grpo_logistic f = { 0, 0 };
    grpo_dd rest;
    if (s->kind != GRPO_SURROGATE_PAIRWISE_HINGE) return grpo_logistic_loss(lead);
    rest = grpo_dd_minus_(grpo_dd_of_(s->hinge_margin), lead);
    if (rest.hi > 0) { f.value = rest.hi; f.slope = -1; }
    return f;
}

/* F_i = 1/P of what the pairs cost that i wins, of the P pairs of the group */
GRPO_SMALL_ void gspo_pairwise_(const grpo_surrogate *s, gspo_group_ *g) {
    grpo_sum value, slope;
    double pairs = 0;
    for (int64_t i = 0; i < g->n; i++) for (int64_t j = 0; j < g->n; j++) pairs += gspo_wins_(g->advantage, i, j, s->min_gap);
    for (int64_t i = 0; i < g->n; i++) {
        memset(&value, 0, sizeof value);
        memset(&slope, 0, sizeof slope);
        for (int64_t j = 0; j < g->n; j++) {
            if (gspo_wins_(g->advantage, i, j, s->min_gap)) {
                const grpo_logistic f = gspo_cost_(s, g, i, j);
                grpo_sum_add_(&value, f.value);
                grpo_sum_add_(&slope, grpo_times(g->coefficient[i], f.slope));
            } else if (gspo_wins_(g->advantage, j, i, s->min_gap))
                grpo_sum_add_(&slope, -grpo_times(g->coefficient[j], gspo_cost_(s, g, j, i).slope));
        }
        g->value[i] = pairs > 0 ? grpo_sum_total_(&value) / pairs : 0;
        g->slope[i] = pairs > 0 ? grpo_times(s->beta, grpo_sum_total_(&slope)) / pairs : 0;
    }
}

/* the index of the largest of +-x */
static int64_t gspo_first_(const double *x, const double *low, int64_t n, double sign) {
    int64_t i, best = 0;
    for (i = 1; i < n; i++)
        if (sign * x[i] > sign * x[best] || (low && x[i] == x[best] && sign * low[i] > sign * low[best])) best = i;
    return best;
}

/* F_i = -p_i log softmax(k y)_i, p the softmax of the work array, into `share` */
GRPO_SMALL_ void gspo_cross_entropy_(const grpo_surrogate *s, gspo_group_ *g) {
    const double k = s->beta;
    gspo_peak_ peak;
    grpo_sum sum;
    grpo_dd top;
    double weight, p;
    memset(&sum, 0, sizeof sum);
    peak = gspo_peak_of_(g, GSPO_ALL_, 0);
    for (int64_t i = 0; i < g->n; i++) {
        g->share[i] = gspo_share_of_(g, &peak, i);
        grpo_sum_add_(&sum, grpo_times(g->coefficient[i], g->share[i]));
    }
    weight = grpo_sum_total_(&sum);
    top = gspo_score_(g, gspo_first_(g->score, g->score_low, g->n, k < 0 ? -1 : 1));
    for (int64_t i = 0; i < g->n; i++) gspo_keep_(g, i, gspo_times_(grpo_dd_minus_(gspo_score_(g, i), top), k));
    peak = gspo_peak_of_(g, GSPO_ALL_, 0);
    for (int64_t i = 0; i < g->n; i++) {
        p = g->share[i];
        g->value[i] = grpo_times(p, log1p(peak.rest) - g->work[i]);
        g->slope[i] = grpo_times(k, grpo_plus(grpo_times(gspo_share_of_(g, &peak, i), weight), -grpo_times(p, g->coefficient[i])));
    }
}

/* p = softmax(A/tau) */
static void gspo_softmax_cross_entropy_(const grpo_surrogate *s, gspo_group_ *g) {
    int64_t i, best = gspo_first_(g->advantage, NULL, g->n, 1);
    for (i = 0; i < g->n; i++) gspo_keep_(g, i, grpo_dd_div(grpo_two_diff(g->advantage[i], g->advantage[best]), s->advantage_temperature));
    gspo_cross_entropy_(s, g);
}

/* p = softmax(k o + A/tau): TPO (2604.06159).  Those with less than the most of K in k o have no share */
GRPO_SMALL_ void gspo_tilted_cross_entropy_(const grpo_surrogate *s, gspo_group_ *g) {
    const double k = s->beta;
    double top = -HUGE_VAL;
    for (int64_t i = 0; i < g->n; i++) if (-grpo_times(k, g->old_infinite[i]) > top) top = -grpo_times(k, g->old_infinite[i]);
    for (int64_t i = 0; i < g->n; i++) {
        const grpo_dd o = gspo_times_(grpo_dd_pair_(g->old[i], g->old_low[i]), k);
        const grpo_dd z = grpo_dd_add(o, grpo_dd_div(grpo_dd_of_(g->advantage[i]), s->advantage_temperature));
        gspo_keep_(g, i, -grpo_times(k, g->old_infinite[i]) < top ? grpo_dd_of_(-HUGE_VAL) : z);
    }
    gspo_cross_entropy_(s, g);
}

/* the scores as GIFT standardises them; where their squares may be no numbers, in units of 2^exponent.  An infinite one is K or -K, beside
 * which the others are 0 */
typedef struct { grpo_dd mean, deviation, divisor; int exponent, infinite; } gspo_standard_;

GRPO_SMALL_ grpo_dd gspo_standing_(const gspo_group_ *g, const gspo_standard_ *u, int64_t i) {
    const grpo_dd y = gspo_score_(g, i);
    if (u->infinite) return grpo_dd_of_(grpo_is_finite(y.hi) ? 0 : y.hi > 0 ? 1 : -1);
    return grpo_dd_steady_(grpo_dd_pair_(ldexp(y.hi, -u->exponent), ldexp(y.lo, -u->exponent)));
}

/* divisor 0: there is nothing to divide by */
GRPO_SMALL_ gspo_standard_ gspo_standard_of_(const gspo_group_ *g, double eps) {
    gspo_standard_ u;
    grpo_values v;
    double most = 0;
    memset(&u, 0, sizeof u);
    memset(&v, 0, sizeof v);
    for (int64_t i = 0; i < g->n; i++) {
        u.infinite |= !grpo_is_finite(g->score[i]);
        if (fabs(g->score[i]) > most) most = fabs(g->score[i]);
    }
    if (!u.infinite) frexp(most, &u.exponent);
    if (u.exponent > -400 && u.exponent < 400) u.exponent = 0;
    for (int64_t i = 0; i < g->n; i++) grpo_values_take_(&v, gspo_standing_(g, &u, i));
    u.mean = grpo_mean_(&v.sum, g->n);
    u.divisor = grpo_dd_of_(u.infinite ? 0 : ldexp(eps, -u.exponent));
    if (g->n < 2 || grpo_dd_same_(v.min, v.max)) return u;
    u.deviation = grpo_sqrt_twice_(grpo_variance_twice_(&v, GRPO_STD_SAMPLE));
    u.divisor = grpo_dd_add(u.divisor, u.deviation);
    return u;
}

/* z_i, 0 where there is nothing to divide by */
GRPO_SMALL_ grpo_dd gspo_standardise_(const gspo_group_ *g, const gspo_standard_ *u, int64_t i) {
    const grpo_dd off = grpo_dd_minus_(gspo_standing_(g, u, i), u->mean);
    if (off.hi == 0 || u->divisor.hi == 0 || !grpo_is_finite(u->divisor.hi)) return grpo_dd_of_(0);
    return grpo_dd_quotient(off, u->divisor);
}

/* F_i = e_i^2, e_i = A_i - k z_i, z_i = (y_i - mean y)/(deviation + eps), of which only y_i is differentiated: GIFT (2510.23868) */
GRPO_SMALL_ void gspo_standardised_(const grpo_surrogate *s, gspo_group_ *g) {
    const gspo_standard_ u = gspo_standard_of_(g, s->group_score_eps);
    const double k = s->beta;
    for (int64_t i = 0; i < g->n; i++) {
        grpo_dd e = grpo_dd_of_(g->advantage[i]);
        double by = g->n == 1 ? k : 0;
        if (g->n > 1 && u.divisor.hi > 0) {
            e = grpo_dd_minus_(e, gspo_times_(gspo_standardise_(g, &u, i), k));
            by = u.infinite ? 0 : ldexp(k / u.divisor.hi, -u.exponent);
        }
        g->value[i] = e.hi * e.hi;
        g->slope[i] = grpo_times(g->coefficient[i], grpo_times(-2 * by, e.hi));
    }
}

/* the same with all of z_i differentiated, which is 0 of a single response: Reg-GRPO (2506.07464).  With b_i = -2 k C_i e_i what is handed
 * to z_i, s the deviation and D = s + eps: dL/dy_j = (b_j - mean b - z_j (sum b_i z_i) D/((n - 1) s))/D */
GRPO_SMALL_ void gspo_regression_(const grpo_surrogate *s, gspo_group_ *g) {
    const gspo_standard_ u = gspo_standard_of_(g, s->group_score_eps);
    const double k = s->beta, n = (double)g->n;
    grpo_sum sum, along;
    grpo_dd mean, tilt = { 0, 0 };
    memset(&sum, 0, sizeof sum);
    memset(&along, 0, sizeof along);
    for (int64_t i = 0; i < g->n; i++) {
        const grpo_dd z = gspo_standardise_(g, &u, i), e = grpo_dd_minus_(grpo_dd_of_(g->advantage[i]), gspo_times_(z, k));
        const grpo_dd b = gspo_times_(gspo_times_(e, -2 * k), g->coefficient[i]);
        g->value[i] = e.hi * e.hi;
        g->slope[i] = 0;
        gspo_keep_(g, i, b);
        grpo_sum_add_dd_(&sum, b);
        if (z.hi != 0) grpo_sum_add_dd_(&along, grpo_dd_product(b, z));
    }
    if (u.infinite || u.divisor.hi == 0) return;
    mean = grpo_dd_div(grpo_sum_dd_(&sum), n);
    if (u.deviation.hi > 0) tilt = grpo_dd_quotient(grpo_dd_div(grpo_sum_dd_(&along), n - 1), u.deviation);
    for (int64_t i = 0; i < g->n; i++) {
        const grpo_dd z = gspo_standardise_(g, &u, i);
        const double straight = grpo_dd_minus_(gspo_work_(g, i), mean).hi / u.divisor.hi;
        g->slope[i] = ldexp(grpo_plus(straight, -grpo_times(tilt.hi, z.hi)), -u.exponent);
    }
}

/* v_i of the responses with A > 0, into `share`; the number of the others, or 0 where either are missing and all is 0 */
GRPO_SMALL_ double gspo_share_by_length_(const grpo_surrogate *s, gspo_group_ *g) {
    const double sign = s->length_decay < 0 ? -1 : 1;
    double least = HUGE_VAL, plus = 0;
    gspo_peak_ peak;
    for (int64_t i = 0; i < g->n; i++) {
        g->value[i] = g->slope[i] = 0;
        if (!gspo_is_plus_(g, i)) continue;
        if (sign * g->length[i] < least) least = sign * g->length[i];
        plus++;
    }
    if (plus == 0 || plus == (double)g->n) return 0;
    for (int64_t i = 0; i < g->n; i++) gspo_keep_(g, i, gspo_times_(grpo_dd_of_(sign * g->length[i] - least), -fabs(s->length_decay)));
    peak = gspo_peak_of_(g, GSPO_PLUS_, 0);
    for (int64_t i = 0; i < g->n; i++) if (gspo_is_plus_(g, i)) g->share[i] = gspo_share_of_(g, &peak, i);
    return (double)g->n - plus;
}

/* DisCO-b (2505.12366) */
GRPO_SMALL_ void gspo_discriminative_mean_(const grpo_surrogate *s, gspo_group_ *g) {
    const double minus = gspo_share_by_length_(s, g);
    for (int64_t i = 0; i < g->n && minus > 0; i++) {
        const double part = gspo_is_plus_(g, i) ? -g->share[i] : 1 / minus;
        g->value[i] = gspo_is_plus_(g, i) ? grpo_times(part, g->score[i]) : g->score[i] / minus;
        g->slope[i] = grpo_times(part, g->coefficient[i]);
    }
}

/* DisCO (2505.12366), DRPO (2510.04474): tau log mean_- e^(s/tau) = M + tau log((1 + rest)/n-), M the largest score */
GRPO_SMALL_ void gspo_discriminative_lse_(const grpo_surrogate *s, gspo_group_ *g) {
    const double minus = gspo_share_by_length_(s, g);
    gspo_peak_ peak;
    grpo_sum sum;
    grpo_dd below;
    double weight;
    if (minus == 0) return;
    memset(&sum, 0, sizeof sum);
    for (int64_t i = 0; i < g->n; i++) {
        gspo_keep_(g, i, grpo_dd_div(gspo_score_(g, i), s->tau_neg));
        if (gspo_is_plus_(g, i)) grpo_sum_add_(&sum, grpo_times(g->coefficient[i], g->share[i]));
    }
    weight = grpo_sum_value_(&sum);
    peak = gspo_peak_of_(g, GSPO_MINUS_, 0);
    below = grpo_two_prod(s->tau_neg, log((1 + peak.rest) / minus));
    for (int64_t i = 0; i < g->n; i++) {
        if (!gspo_is_plus_(g, i)) { g->slope[i] = grpo_times(weight, gspo_share_of_(g, &peak, i)); continue; }
        g->value[i] = grpo_times(g->share[i], grpo_dd_add(grpo_dd_minus_(gspo_score_(g, peak.at), gspo_score_(g, i)), below).hi);
        g->slope[i] = -grpo_times(g->share[i], g->coefficient[i]);
    }
}

/* ConSPO (2605.12969), eqs. 8, 13: F_i = (t/n+) log(1 + S e^x), x = (s_M - s_i + m)/t, S = sum_- e^((s_j - s_M)/t), M the largest of - */
GRPO_SMALL_ void gspo_contrastive_(const grpo_surrogate *s, gspo_group_ *g) {
    const double t = s->contrast_temperature;
    gspo_peak_ peak;
    grpo_sum sum;
    int64_t top = -1;
    double plus = 0, weight;
    memset(&sum, 0, sizeof sum);
    for (int64_t i = 0; i < g->n; i++) {
        g->value[i] = g->slope[i] = 0;
        plus += gspo_is_plus_(g, i);
        if (!gspo_is_plus_(g, i) && (top < 0 || grpo_dd_less(gspo_score_(g, top), gspo_score_(g, i)))) top = i;
    }
    if (plus == 0 || top < 0) return;
    for (int64_t i = 0; i < g->n; i++) gspo_keep_(g, i, grpo_dd_div(grpo_dd_minus_(gspo_score_(g, i), gspo_score_(g, top)), t));
    peak = gspo_peak_of_(g, GSPO_MINUS_, 0);
    for (int64_t i = 0; i < g->n; i++) {
        const grpo_dd gap = grpo_dd_add(grpo_dd_minus_(gspo_score_(g, top), gspo_score_(g, i)), grpo_dd_of_(s->contrast_margin));
        const grpo_dd x = grpo_dd_div(gap, t);
        const double S = 1 + peak.rest, e = grpo_exp(gap.hi > 0 ? grpo_dd_negative(x) : x);
        if (!gspo_is_plus_(g, i)) continue;
        g->value[i] = (gap.hi > 0 ? gap.hi + t * log1p(peak.rest + e) : t * log1p(S * e)) / plus;
        g->slope[i] = -grpo_times((gap.hi > 0 ? S / (S + e) : S * e / (1 + S * e)) / plus, g->coefficient[i]);
        grpo_sum_add_(&sum, -g->slope[i]);
    }
    weight = grpo_sum_total_(&sum);
    for (int64_t i = 0; i < g->n; i++) if (!gspo_is_plus_(g, i)) g->slope[i] = grpo_times(weight, gspo_share_of_(g, &peak, i));
}

/* sigmoid(a) - sigmoid(b) = sigmoid(a) sigmoid(-b) (1 - e^(b - a)), where nothing cancels */
GRPO_SMALL_ double gspo_sigmoid_gap_(grpo_dd a, grpo_dd b) {
    if (grpo_dd_less(a, b)) return -gspo_sigmoid_gap_(b, a);
    return -grpo_sigmoid(a).value * grpo_sigmoid(grpo_dd_negative(b)).value * grpo_exp_minus_one(grpo_dd_minus_(b, a));
}

/* log(1 + e^D) - p D for p = sigmoid(t), as log(1 + e^-|D|) + |D| (1 - p or p) */
GRPO_SMALL_ double gspo_coin_entropy_(grpo_dd D, grpo_dd t) {
    const grpo_dd size = D.hi < 0 ? grpo_dd_negative(D) : D;
    if (!grpo_is_finite(D.hi)) return HUGE_VAL;
    return log1p(grpo_exp(grpo_dd_negative(size))) + grpo_sigmoid(D.hi < 0 ? t : grpo_dd_negative(t)).value * size.hi;
}

/* DNO (2404.03715), algorithm 1 */
GRPO_SMALL_ void gspo_pairwise_soft_(const grpo_surrogate *s, gspo_group_ *g) {
    const double k = s->beta, pairs = (double)g->n * ((double)g->n - 1);
    grpo_sum value, slope;
    for (int64_t i = 0; i < g->n; i++) {
        memset(&value, 0, sizeof value);
        memset(&slope, 0, sizeof slope);
        for (int64_t j = 0; j < g->n; j++) {
            const grpo_dd D = gspo_times_(grpo_dd_minus_(gspo_score_(g, i), gspo_score_(g, j)), k);
            const grpo_dd t = grpo_dd_div(grpo_two_diff(g->advantage[i], g->advantage[j]), s->advantage_temperature);
            const double gap = gspo_sigmoid_gap_(D, t);
            if (i == j) continue;
            grpo_sum_add_(&value, gspo_coin_entropy_(D, t));
            grpo_sum_add_(&slope, grpo_times(g->coefficient[i], gap));
            grpo_sum_add_(&slope, grpo_times(g->coefficient[j], gap));      /* D and t of (j, i) are those of (i, j) with the other sign */
        }
        g->value[i] = pairs > 0 ? grpo_sum_total_(&value) / pairs : 0;
        g->slope[i] = pairs > 0 ? grpo_times(k, grpo_sum_total_(&slope)) / pairs : 0;
    }
}

/* the work array, whose largest number is 0, becomes its softmax, to twice the precision */
GRPO_SMALL_ void gspo_softmax_(gspo_group_ *g) {
    grpo_sum sum;
    grpo_dd whole;
    memset(&sum, 0, sizeof sum);
    for (int64_t i = 0; i < g->n; i++) {
        gspo_keep_(g, i, grpo_exp_twice(gspo_work_(g, i)));
        grpo_sum_add_dd_(&sum, gspo_work_(g, i));
    }
    whole = grpo_sum_dd_(&sum);
    for (int64_t i = 0; i < g->n; i++) gspo_keep_(g, i, grpo_dd_quotient(gspo_work_(g, i), whole));
}

/* log(p/q), q = (p + u)/2 */
GRPO_SMALL_ double gspo_log_over_mean_(grpo_dd p, grpo_dd u) {
    const double sum = grpo_dd_add(p, u).hi, lead = p.hi > 0 ? grpo_dd_minus_(p, u).hi / sum : -1;
    return lead > -0.5 ? log1p(lead) : log(2 * (p.hi > 0 ? p.hi / sum : 0));
}

/* F of one response, and dF/du */
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

/* DMPO (2605.19461, its code): du_i/ds_j = k u_i ([i = j] - u_j) */
GRPO_SMALL_ void gspo_softmax_distance_(const grpo_surrogate *s, gspo_group_ *g) {
    const double k = s->beta;
    const int64_t best = gspo_first_(g->advantage, NULL, g->n, 1), top = gspo_first_(g->score, g->score_low, g->n, k < 0 ? -1 : 1);
    grpo_sum sum;
    double through;
    memset(&sum, 0, sizeof sum);
    for (int64_t i = 0; i < g->n; i++)
        gspo_keep_(g, i, grpo_dd_div(grpo_two_diff(g->advantage[i], g->advantage[best]), s->advantage_temperature));
    gspo_softmax_(g);
    for (int64_t i = 0; i < g->n; i++) { g->share[i] = g->work[i]; g->share_low[i] = g->work_low[i]; }
    for (int64_t i = 0; i < g->n; i++) gspo_keep_(g, i, gspo_times_(grpo_dd_minus_(gspo_score_(g, i), gspo_score_(g, top)), k));
    gspo_softmax_(g);
    for (int64_t i = 0; i < g->n; i++) {
        const gspo_distance_ m = gspo_distance_of_(s->kind, grpo_dd_pair_(g->share[i], g->share_low[i]), gspo_work_(g, i));
        g->value[i] = m.value;
        g->slope[i] = grpo_times(g->coefficient[i], grpo_times(g->work[i], m.slope));
        grpo_sum_add_(&sum, g->slope[i]);
    }
    through = grpo_sum_total_(&sum);
    for (int64_t i = 0; i < g->n; i++) g->slope[i] = grpo_times(k, grpo_plus(g->slope[i], -grpo_times(g->work[i], through)));
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
#ifndef __CUDACC__                                                     /* which writes sizeof out anew, and wrong */
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

static gspo_group_ gspo_room_(const grpo_run_ *r, int64_t g) {
    const int64_t size = r->batch->group_begin[g + 1] - r->batch->group_begin[g];
    double *room = r->out.scratch;
    gspo_group_ x;
    double **array[GSPO_GROUP_ARRAYS_];
    memset(&x, 0, sizeof x);
    array[0] = &x.score; array[1] = &x.score_low; array[2] = &x.advantage; array[3] = &x.coefficient; array[4] = &x.length;
    array[5] = &x.old; array[6] = &x.old_low; array[7] = &x.old_infinite; array[8] = &x.share; array[9] = &x.share_low;
    array[10] = &x.work; array[11] = &x.work_low; array[12] = &x.value; array[13] = &x.slope;
    for (int k = 0; k < GSPO_GROUP_ARRAYS_; k++) *array[k] = room + k * size;
    return x;
}

/* in the place of what a function of the group has read by then, but for the slopes */
static gspo_preferences_ gspo_preference_room_(const grpo_run_ *r, int64_t g) {
    const int64_t size = r->batch->group_begin[g + 1] - r->batch->group_begin[g];
    double *room = r->out.scratch;
    gspo_preferences_ x;
    x.n = 0;
    x.score = room; x.score_low = room + size; x.reward = room + 2 * size; x.tokens = room + 3 * size;
    x.slope = room + GSPO_GROUP_ARRAYS_ * size;
    return x;
}

/* o of the i-th member, mean or sum of logp_old over its tokens that count */
GRPO_SMALL_ void gspo_set_old_score_(const grpo_run_ *r, const grpo_sequence_ *s, int64_t i, gspo_group_ *x) {
    const double n = r->obj->ratio.level == GRPO_LEVEL_SEQUENCE_MEAN ? (double)s->count : 1;
    grpo_cursor_ c = grpo_cursor_of_(s->begin, s->end);
    grpo_sum sum;
    grpo_dd o;
    memset(&sum, 0, sizeof sum);
    while (grpo_next_(r, s, &c)) grpo_sum_add_(&sum, (double)r->batch->logp_old[c.t]);
    x->old_infinite[i] = (double)sum.neg_inf / n;
    sum.neg_inf = 0;
    o = grpo_dd_div(grpo_sum_dd_(&sum), n);
    x->old[i] = o.hi; x->old_low[i] = o.lo;
}

/* the coefficient of a response, summed over its tokens; *advantage: that of its first */
GRPO_APART_ double gspo_response_coefficient_(const grpo_run_ *r, const grpo_sequence_ *s, grpo_ratio ratio, double *advantage) {
    grpo_walk_ walk = grpo_walk_from_(s->end);
    const grpo_token_ *k = &walk.token;
    grpo_sum coefficient;
    memset(&coefficient, 0, sizeof coefficient);
    while (grpo_step_back_(r, s, s->begin, &walk)) {
        if (!k->counts) continue;
        *advantage = (double)r->advantage[k->t];                       /* the last one met is the first */
        grpo_sum_add_(&coefficient, grpo_over_own_(k, (grpo_is_distrusted_(r, k, ratio) ? 0 : k->factor.policy) / s->divisor));
    }
    return grpo_sum_total_(&coefficient);
}

/* score, advantage, coefficient and length of the next member of a group */
GRPO_APART_ void gspo_gather_member_(const grpo_run_ *r, const grpo_sequence_ *s, gspo_group_ *x) {
    grpo_dd score;
    gspo_unit_ u;
    gspo_unit_at_(r, s, s->end, &u);
    x->coefficient[x->n] = gspo_response_coefficient_(r, s, u.ratio, &x->advantage[x->n]);
    if (r->obj->surrogate.kind == GRPO_SURROGATE_TILTED_CROSS_ENTROPY) gspo_set_old_score_(r, s, x->n, x);
    score = grpo_ratio_log(u.ratio);
    if (r->obj->surrogate.group_score == GRPO_GROUP_SCORE_RATIO) score = grpo_exp_twice(score);
    x->score[x->n] = score.hi; x->score_low[x->n] = score.lo;
    x->length[x->n++] = (double)s->count;
}

/* of all members of group g */
GRPO_APART_ void gspo_gather_(const grpo_run_ *r, int64_t g, const grpo_coupling_ *group, gspo_group_ *x) {
    if (r->batch->log_partition) x->log_partition = (double)r->batch->log_partition[g];
    x->n = 0;
    for (int64_t i = r->batch->group_begin[g]; i < r->batch->group_begin[g + 1]; i++) {
        const grpo_sequence_ s = grpo_open_sequence_(r, group, i, x->n);
        if (s.count > 0) gspo_gather_member_(r, &s, x);
    }
}

/* from slopes by s to slopes by y */
static void gspo_chain_(const grpo_surrogate *s, gspo_group_ *x) {
    if (s->group_score == GRPO_GROUP_SCORE_LOG) return;
    for (int64_t i = 0; i < x->n; i++) x->slope[i] = grpo_times(x->slope[i], x->score[i]);
}

GRPO_APART_ void gspo_gather_preferences_(const grpo_run_ *r, int64_t g, gspo_preferences_ *x) {
    const grpo_batch *b = r->batch;
    const int free_of_ref = r->obj->penalty.preference_score == GRPO_PREFERENCE_SCORE_REFERENCE_FREE;
    grpo_sum sum;
    grpo_dd score;
    int64_t i;
    for (x->n = 0, i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        const grpo_sequence_ s = grpo_sequence_at_(r->obj, b, i);
        grpo_cursor_ c = grpo_cursor_of_(s.begin, s.end);
        if (s.count == 0) continue;
        memset(&sum, 0, sizeof sum);
        while (grpo_next_(r, &s, &c)) grpo_sum_add_diff_(&sum, (double)b->logp[c.t], free_of_ref ? 0 : (double)b->logp_ref[c.t]);
        score = grpo_dd_div(grpo_sum_dd_(&sum), (double)s.count);
        x->score[x->n] = score.hi; x->score_low[x->n] = score.lo;
        x->reward[x->n] = (double)b->reward[i];
        x->tokens[x->n++] = (double)s.count;
    }
}

/* what the pair costs that i wins over j, and how much steeper it is than others */
GRPO_SMALL_ grpo_logistic gspo_preference_cost_(const grpo_penalty *p, const gspo_preferences_ *x, int64_t i, int64_t j) {
    const double kappa = p->preference_kappa != 0 && x->reward[i] > 0 ? p->preference_kappa : 1;
    const grpo_dd y_i = grpo_dd_pair_(x->score[i], x->score_low[i]), y_j = grpo_dd_pair_(x->score[j], x->score_low[j]);
    grpo_logistic f = grpo_logistic_loss(gspo_times_(gspo_lead_(y_i, y_j, p->preference_beta), kappa));
    f.slope *= kappa;
    return f;
}

GRPO_SMALL_ void gspo_compare_pairs_(const grpo_run_ *r, const gspo_preferences_ *x) {
    const grpo_penalty *p = &r->obj->penalty;
    grpo_sum slope;
    for (int64_t i = 0; i < x->n; i++) {
        memset(&slope, 0, sizeof slope);
        for (int64_t j = 0; j < x->n; j++) {
            if (gspo_wins_(x->reward, i, j, p->preference_min_gap)) {
                const grpo_logistic f = gspo_preference_cost_(p, x, i, j);
                grpo_sum_add_(&r->partial->sum[GRPO_SUM_PREFERENCE], f.value);
                grpo_sum_add_(&slope, f.slope);
            } else if (gspo_wins_(x->reward, j, i, p->preference_min_gap)) grpo_sum_add_(&slope, -gspo_preference_cost_(p, x, j, i).slope);
        }
        x->slope[i] = grpo_times(r->scales.preference * p->preference_beta, grpo_sum_value_(&slope)) / x->tokens[i];
    }
}

/* where the step has no pair: every response against 0, by the sign of its reward */
GRPO_SMALL_ void gspo_compare_signs_(const grpo_run_ *r, const gspo_preferences_ *x) {
    for (int64_t i = 0; i < x->n; i++) {
        const grpo_dd y = grpo_dd_pair_(x->score[i], x->score_low[i]);
        const int up = x->reward[i] > 0;
        const grpo_logistic f = grpo_logistic_loss(up ? y : grpo_dd_negative(y));
        grpo_sum_add_(&r->partial->sum[GRPO_SUM_PREFERENCE], f.value);
        x->slope[i] = grpo_times(r->scales.preference, up ? f.slope : -f.slope) / x->tokens[i];
    }
}

GRPO_SMALL_ void gspo_couple_(const grpo_run_ *r, int64_t g, grpo_coupling_ *group) {
    const gspo_function_ function = gspo_function_of_(r->obj);
    if (function) {
        gspo_group_ x = gspo_room_(r, g);
        gspo_gather_(r, g, group, &x);
        if (x.n > 0) function(&r->obj->surrogate, &x);
        gspo_chain_(&r->obj->surrogate, &x);
        grpo_write_(r, r->out.dlog_partition, g, x.slope_z * r->scales.factor / r->scales.divisor);
        group->value = x.value;
        group->slope = x.slope;
    }
    if (r->scales.preference != 0) {
        gspo_preferences_ x = gspo_preference_room_(r, g);
        gspo_gather_preferences_(r, g, &x);
        if (r->scales.alone) gspo_compare_signs_(r, &x); else gspo_compare_pairs_(r, &x);
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

/* M v g S, S of the token or of the group */
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

/* what they hand back to the unit */
static void gspo_hand_back_(const grpo_token_ *token, gspo_unit_ *u, const gspo_ratio_ *x, const gspo_terms_ *m) {
    const double each[2] = { m->policy.d_log_ratio, m->penalty.d_log_ratio };
    for (int k = 0; k < 2; k++) {
        const double y = grpo_over_own_(token, grpo_times(x->unit, each[k]));
        if (y == 0) continue;
        u->handed = 1;
        grpo_sum_add_(&u->through, u->map.prefix && u->map.mean ? y / (double)u->count : y);
    }
}

/* the part of it that is token t's: times dy/dd_t */
static double gspo_part_(const gspo_unit_ *u, const gspo_ratio_ *x, double through) {
    gspo_log_ d;
    if (!x->passes || through == 0) return 0;
    if (u->map.prefix || !u->map.mean) return through;
    if (!u->map.ratios) return through / (double)u->count;
    d = gspo_minus_(x->d, u->y);
    return d.level == 0 ? grpo_times(through, grpo_exp(grpo_dd_mul(d.rest, u->power))) / (double)u->count : 0;
}

/* what token t gets of the slope that the group has by the response's y */
static double gspo_coupled_(const grpo_run_ *r, const grpo_sequence_ *s, const gspo_unit_ *u, const gspo_ratio_ *x) {
    const double *slope = s->group->slope;
    if (!slope || !u->passes || !x->passes) return 0;
    return r->obj->ratio.gradient == GRPO_GRADIENT_TOKEN ? slope[s->member] : gspo_part_(u, x, slope[s->member]);
}

/* of a prefix: y of the tokens before the one at hand */
static void gspo_leave_(const grpo_run_ *r, gspo_unit_ *u, const gspo_ratio_ *x) {
    if (!r->needs_ratio) return;
    gspo_sum_log_(&u->sum, -1, x->d);
    u->count--;
    gspo_pool_(r, u);
}

/* the token's gradient, where its unit is handed back so much */
static void gspo_write_gradient_(const grpo_run_ *r, const grpo_sequence_ *s, const gspo_unit_ *u, const grpo_token_ *k,
                                 const gspo_ratio_ *x, const gspo_terms_ *m, double handed) {
    const double g = grpo_plus(grpo_slope_by_logp_(k, &m->policy, &m->penalty),
                               grpo_times(x->own, grpo_slope_by_ratio_(k, &m->policy, &m->penalty)));
    grpo_write_gradient_(r, s, k, grpo_plus(g, gspo_part_(u, x, handed)), gspo_coupled_(r, s, u, x));
}

/* forward: terms and report of every token, and what they hand back; backward: the gradient, for which that must be known */
typedef enum { GSPO_FORWARD_ = 1, GSPO_BACKWARD_ = 2, GSPO_BOTH_ = 3 } gspo_pass_;

/* The walk ends where it is to begin anew.  Both at once is as far as it goes: a prefix is handed back what comes from the tokens met so
 * far; others end with u->handed where the gradient must be written once more, with all of it. */
static void gspo_walk_(const grpo_run_ *r, const grpo_sequence_ *s, gspo_unit_ *u, grpo_walk_ *walk, gspo_pass_ pass, double handed) {
    const grpo_token_ *k = &walk->token;
    while (grpo_step_back_(r, s, u->span.begin, walk)) {
        const gspo_ratio_ *x;
        gspo_ratio_ own;
        gspo_terms_ m;
        if (!k->counts) { if (pass & GSPO_FORWARD_) grpo_skip_token_(r, k->t); continue; }
        x = gspo_ratio_at_(r, u, k->t, &own);
        gspo_terms_at_(r, s, k, x, &m);
        if (pass & GSPO_FORWARD_) grpo_take_token_(r, s, k, x->ratio, &m.policy, &m.penalty);
        if (pass & (u->map.prefix ? GSPO_BACKWARD_ : GSPO_FORWARD_)) gspo_hand_back_(k, u, x, &m);
        if (u->map.prefix) handed = u->handed ? grpo_sum_total_(&u->through) : 0;
        if (pass == GSPO_BACKWARD_ || (pass == GSPO_BOTH_ && (u->map.prefix || !u->handed)))
            gspo_write_gradient_(r, s, u, k, x, &m, handed);
        if (u->map.prefix) gspo_leave_(r, u, x);
    }
}

#ifndef GRPO_NO_BLOCKS

/* the first token of the unit that is in the mask, -1: there is none; *others: how many of them have another advantage */
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
    if (s->correction.value == 1 && !r->has_policy_mask && !s->group->value)
        return grpo_surrogate_term(&r->obj->surrogate, r->range, u->ratio, (double)r->advantage[t], (double)r->batch->logp[t]);
    memset(&token, 0, sizeof token);
    token.t = t;
    token.factor.policy = s->correction.value;
    return gspo_policy_term_(r, s, &token, u->ratio, GRPO_CLIP_NO);
}

/* n tokens wait that have this term, with the derivative of all that reaches each of them, of which `handed` goes through the unit */
static void gspo_take_term_(const grpo_run_ *r, const grpo_sequence_ *s, const gspo_unit_ *u, grpo_span_ span, int64_t n, grpo_term term,
                            double handed) {
    r->partial->clips[term.clip] += n;
    if (s->group->value) term.d_log_ratio = gspo_coupled_(r, s, u, &u->same);
    else term.d_log_ratio = grpo_plus(grpo_times(u->same.own, term.d_log_ratio), gspo_part_(u, &u->same, handed));
    grpo_block_take_(r, s, span, u->ratio.value, &term);
}

/* of a unit whose tokens have advantages of their own */
static void gspo_take_terms_(const grpo_run_ *r, const grpo_sequence_ *s, const gspo_unit_ *u) {
    double handed;
    grpo_sum through;
    memset(&through, 0, sizeof through);
    for (int64_t t = u->span.begin; u->same.unit != 0 && t < u->span.end; t++)
        if (grpo_is_unmasked_(r->batch, t)) grpo_sum_add_(&through, grpo_times(u->same.unit, gspo_uniform_term_(r, s, u, t).d_log_ratio));
    handed = grpo_sum_total_(&through);
    for (int64_t t = u->span.begin; t < u->span.end; t++) {
        const grpo_span_ one = { t, t + 1 };
        if (!grpo_is_unmasked_(r->batch, t)) grpo_skip_token_(r, t);
        else gspo_take_term_(r, s, u, one, 1, gspo_uniform_term_(r, s, u, t), handed);
    }
}

/* Where the objective asks no more (grpo_goes_by_blocks_), the tokens of a unit wait for their block; 0: they are to be evaluated one by
 * one.  Its terms are one where its advantages are, but for what is proportional to l. */
GRPO_APART_ int gspo_take_by_block_(const grpo_run_ *r, const grpo_sequence_ *s, grpo_span_ span) {
    const int may = r->block && r->advantage && r->needs_ratio && s->coefficient != 0 && s->evenly_weighted && !s->truncated;
    int64_t others = 0;
    const int64_t t = may ? gspo_first_token_(r, span, &others) : -1;
    grpo_term term;
    gspo_unit_ u;
    if (t < 0 || ((others || s->group->value) && grpo_clips_pool_(&r->obj->ratio))) return 0;
    gspo_unit_open_(r, span.begin, span.end, &u);
    if (!gspo_sum_blocks_(r, s, (double)r->advantage[t], &u)) return 0;
    gspo_unit_close_(r, &u);
    term = gspo_uniform_term_(r, s, &u, t);
    if (s->correction.value != 1 && (others || term.d_logp != 0)) return 0;      /* (v u A) l is not v (u A l) to the bit */
    if (others && !s->group->value) gspo_take_terms_(r, s, &u);
    else {
        const double handed = grpo_times(u.same.unit, term.d_log_ratio) * (double)u.count;      /* the sum over its tokens, rounded once */
        gspo_take_term_(r, s, &u, span, u.count, term, handed);
    }
    return 1;
}

#else

static int gspo_take_by_block_(const grpo_run_ *r, const grpo_sequence_ *s, grpo_span_ span) {
    return grpo_block_take_(r, s, span, 1, NULL);
}

#endif

/* A token's gradient needs what all tokens of its unit hand back; where that is not nothing, terms are made once more for it: there is no
 * room to keep them in, the outputs being too narrow. */
GRPO_APART_ void gspo_evaluate_unit_(const grpo_run_ *r, const grpo_sequence_ *s, gspo_unit_ *u, grpo_walk_ *walk) {
    grpo_walk_ from = *walk;
    gspo_walk_(r, s, u, walk, r->out.dlogp ? GSPO_BOTH_ : GSPO_FORWARD_, 0);
    if (r->out.dlogp && u->handed && !u->map.prefix) gspo_walk_(r, s, u, &from, GSPO_BACKWARD_, grpo_sum_total_(&u->through));
}

/* the last unit of those that are left, token by token */
GRPO_APART_ void gspo_evaluate_singly_(const grpo_run_ *r, const grpo_sequence_ *s, grpo_walk_ *walk) {
    gspo_unit_ u;
    grpo_go_singly_(r);
    gspo_unit_at_(r, s, walk->token.t, &u);
    gspo_evaluate_unit_(r, s, &u, walk);
}

/* every unit by itself, from the last on */
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
    grpo_scales scales;
    grpo_method_ how;
    int needs;
    grpo_status st = grpo_objective_check(obj);
    if (!st) st = grpo_check_layout_(batch);
    if (st) return st;
    needs = grpo_loss_needs_(obj) & ~(GRPO_NEED_LOGP_ | GRPO_NEED_ENTROPY_);
    st = grpo_check_arrays_(batch, advantage, needs, GRPO_NEED_OLD_ | GRPO_NEED_REF_ | GRPO_NEED_ADVANTAGE_);
    if (!st && (needs & GRPO_NEED_CLIPS_)) st = grpo_check_dual_(&obj->surrogate, batch);
    if (st) return st;
    how = gspo_method_(obj, batch);
    st = grpo_check_room_(out, &how);
    if (st) return st;
    return grpo_take_scales_(obj, batch, advantage, totals, partial, &scales);
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

#ifdef __cplusplus
}
#endif
#endif /* GSPO_IMPLEMENTATION */
