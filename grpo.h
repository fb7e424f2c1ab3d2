/* grpo.h - the GRPO family of policy-optimisation objectives for language models, with exact gradients.
 *
 * C99 (and C++11), one file, no dependency, no allocation, no state.  In one source file write
 *
 *     #define GRPO_IMPLEMENTATION
 *     #include "grpo.h"
 *
 * and include it plainly elsewhere.  gspo.h adds the objectives whose ratio is taken over a whole sequence (GSPO, GMPO ...).
 *
 * A policy-optimisation objective is seven choices over a batch of rollouts: what a response is worth (reward), better than what
 * (advantage), how far the policy has moved (ratio), what a ratio and an advantage are worth together (surrogate), what else is paid
 * for (penalty), which tokens count and how much (weight), divided by what (aggregation).  A published algorithm is a row of choices:
 *
 *     grpo_objective obj;
 *     grpo_objective_named("dapo", &obj);              // a row; change any choice after it:
 *     obj.surrogate.eps_high = 0.3;
 *     obj.reward.overlong_max = 512; obj.reward.overlong_cache = 128;
 *
 *     grpo_batch batch = { 0 };                        // two prompts, two responses each; padded or packed: offsets say which
 *     batch.n_groups = 2;   batch.group_begin = group; // {0, 2, 4}
 *     batch.n_tokens = size; batch.offset = offset; batch.length = length;
 *     batch.logp = logp; batch.logp_old = logp_old; batch.reward = reward;
 *
 *     grpo_report report;
 *     grpo_status st = grpo_advantages(&obj, &batch, advantage);
 *     if (!st) st = grpo_loss(&obj, &batch, advantage, NULL, dlogp, &report);
 *     if (st) return fprintf(stderr, "%s\n", grpo_status_text(st)), 1;
 *     printf("loss %.17g, clipped %.2f %%\n", report.loss, 100 * report.clip_fraction);
 *
 * dlogp is d loss / d logp, same layout as logp: hand it to your backward pass.
 *
 * Arrays hold float, or double after #define GRPO_DOUBLE; arithmetic is double either way.  One program may use both (in different
 * source files, each with its implementation): every symbol of the double build carries the suffix _f64.
 *
 * Numerical promises (tests/accuracy.c measures them; the README has the table):
 *   - loss, terms, gradients, advantages and report within 4 ulps of the scale of the exact result, extremes included;
 *   - no NaN from finite input; what exceeds the largest double is an infinity and sets report.overflow;
 *   - loss, report and gradients have the same bits for every order of tokens, sequences and groups and every split into parts;
 *   - masked tokens may hold anything, NaN included.
 * They need IEEE arithmetic: -ffast-math is refused (GRPO_ALLOW_FAST_MATH overrides, and voids them).
 *
 * Contents:  data | exact sums | axis 1 reward | 2 advantage | 3 ratio | 4 surrogate | 5 penalty | 6 weight | 7 aggregation |
 *            objective | batch | functions | implementation: numbers, checks, the axes again in order, evaluation, presets
 *
 * Version 0.1.0.  Licence: MIT-0, at the end of the file. */
#ifndef GRPO_H
#define GRPO_H

#define GRPO_VERSION "0.1.0"

#if defined(__FAST_MATH__) && !defined(GRPO_ALLOW_FAST_MATH)
#error "grpo.h needs IEEE arithmetic: compile without -ffast-math (or define GRPO_ALLOW_FAST_MATH and lose every numerical promise)"
#endif

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if FLT_EVAL_METHOD == 2 && !defined(GRPO_ALLOW_FAST_MATH)
#error "grpo.h needs double arithmetic without excess precision: compile with -msse2 -mfpmath=sse"
#endif

#ifdef GRPO_DOUBLE
typedef double grpo_real;
#define grpo_batch grpo_batch_f64
#define grpo_output grpo_output_f64
#define grpo_advantages grpo_advantages_f64
#define grpo_advantages_with grpo_advantages_with_f64
#define grpo_moments_add grpo_moments_add_f64
#define grpo_informative grpo_informative_f64
#define grpo_count grpo_count_f64
#define grpo_loss grpo_loss_f64
#define grpo_loss_add grpo_loss_add_f64
#define grpo_partial_merge grpo_partial_merge_f64
#define grpo_report_of grpo_report_of_f64
#define grpo_objective_named grpo_objective_named_f64
#define grpo_objective_set grpo_objective_set_f64
#define grpo_objective_choose grpo_objective_choose_f64
#define grpo_objective_get grpo_objective_get_f64
#define grpo_objective_check grpo_objective_check_f64
#define grpo_presets grpo_presets_f64
#define grpo_fields grpo_fields_f64
#define grpo_status_text grpo_status_text_f64
#else
typedef float grpo_real;
#endif

#if defined(__CUDACC__)
#define GRPO_FN static __host__ __device__ inline
#else
#define GRPO_FN static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status ---------------------------------------------------------------------------------------------------------------------
 * Every function that can fail returns a status, 0 when all is well.  On any other status nothing has been written.  The text names
 * the field at fault. */

#define GRPO_STATUS_LIST(X) \
    X(GRPO_OK, "ok") \
    X(GRPO_NULL_OBJECTIVE, "objective is NULL") \
    X(GRPO_NULL_BATCH, "batch is NULL") \
    X(GRPO_NULL_OUTPUT, "an output that must be given is NULL (advantage, totals, partial, moments, keep or report)") \
    X(GRPO_NULL_GROUP_BEGIN, "batch.group_begin is NULL") \
    X(GRPO_NULL_OFFSET, "batch.offset is NULL") \
    X(GRPO_NULL_LENGTH, "batch.length is NULL") \
    X(GRPO_NULL_LOGP, "batch.logp is NULL") \
    X(GRPO_NULL_LOGP_OLD, "batch.logp_old is NULL but the objective needs it") \
    X(GRPO_NULL_LOGP_REF, "batch.logp_ref is NULL but the objective needs it") \
    X(GRPO_NULL_LOGP_ROLLOUT, "batch.logp_rollout is NULL but the objective needs it") \
    X(GRPO_NULL_REWARD, "batch.reward is NULL but the objective needs it") \
    X(GRPO_NULL_BASELINE, "batch.baseline is NULL but advantage.baseline is given") \
    X(GRPO_NULL_VALUE, "batch.value is NULL but advantage.credit is gae") \
    X(GRPO_NULL_STEP_REWARD, "batch.step_reward or batch.step_end is NULL but advantage.credit is step") \
    X(GRPO_NULL_TRUNCATED, "batch.truncated is NULL but weight.truncated is mask") \
    X(GRPO_NULL_ADVANTAGE, "advantage is NULL") \
    X(GRPO_BAD_GROUPS, "batch.n_groups is negative") \
    X(GRPO_BAD_GROUP_BEGIN, "batch.group_begin must start at 0 or later and increase: every group needs a sequence") \
    X(GRPO_BAD_LENGTH, "batch.length has a negative entry") \
    X(GRPO_BAD_OFFSET, "batch.offset is negative, or offset + length is past batch.n_tokens") \
    X(GRPO_BAD_LOGP, "batch.logp has a NaN or +infinity at an unmasked token") \
    X(GRPO_BAD_LOGP_OLD, "batch.logp_old has a NaN or +infinity at an unmasked token") \
    X(GRPO_BAD_LOGP_REF, "batch.logp_ref has a NaN or +infinity at an unmasked token") \
    X(GRPO_BAD_LOGP_ROLLOUT, "batch.logp_rollout has a NaN or +infinity at an unmasked token") \
    X(GRPO_BAD_REWARD, "batch.reward has an entry that is NaN, infinite or larger than 1e150 in magnitude") \
    X(GRPO_BAD_SHAPED_REWARD, "objective.reward makes a reward, or the KL of a token in it, infinite or larger than 1e150 in magnitude") \
    X(GRPO_BAD_BASELINE, "batch.baseline has an entry that is NaN, infinite or larger than 1e150 in magnitude") \
    X(GRPO_BAD_VALUE, "batch.value has a NaN, an infinity or a magnitude above 1e150 at an unmasked token") \
    X(GRPO_BAD_STEP_REWARD, "batch.step_reward has a NaN, an infinity or a magnitude above 1e150 at the end of a step") \
    X(GRPO_BAD_ENTROPY, "batch.entropy has a NaN or an infinity at an unmasked token") \
    X(GRPO_BAD_ADVANTAGE, "advantage has a NaN or an infinity at an unmasked token") \
    X(GRPO_BAD_CHOICE, "objective: an axis holds a value that is not one of its choices") \
    X(GRPO_BAD_OVERLONG, "objective.reward: overlong needs 0 < overlong_cache <= overlong_max") \
    X(GRPO_BAD_NUMBER, "objective: a number is NaN, or infinite where only clips and clamps may be") \
    X(GRPO_BAD_GAMMA, "objective.advantage: gamma and lambda must lie in [0, 1]") \
    X(GRPO_BAD_EPS, "objective.advantage.eps must not be negative") \
    X(GRPO_BAD_CLAMP, "objective.ratio: a clamp's low must not exceed its high") \
    X(GRPO_BAD_CLIP, "objective.surrogate: eps_low and eps_high must not be negative") \
    X(GRPO_BAD_DUAL, "objective.surrogate.dual must exceed 1 + eps_high") \
    X(GRPO_BAD_WEIGHT_RANGE, "objective.surrogate: 0 <= weight_min <= weight_max is needed") \
    X(GRPO_BAD_TAU, "objective.surrogate: tau_pos and tau_neg must be positive") \
    X(GRPO_BAD_POOL, "objective.ratio: pool_low and pool_high must not be negative") \
    X(GRPO_BAD_KL_CLAMP, "objective.penalty: kl_clamp_log and kl_clamp_value must not be negative") \
    X(GRPO_BAD_CORRECTION, "objective.weight: 0 <= correction_low <= correction_high and 0 <= correction_clamp is needed") \
    X(GRPO_BAD_CONSTANT, "objective.aggregation.constant must be positive and at most 1e150 for this kind") \
    X(GRPO_BAD_TOTALS, "totals are smaller than the part they are used with") \
    X(GRPO_NEEDS_GSPO, "objective.ratio.unit is a sequence: use gspo_loss from gspo.h") \
    X(GRPO_UNKNOWN_OBJECTIVE, "no objective has that name") \
    X(GRPO_UNKNOWN_FIELD, "no field of an objective has that path") \
    X(GRPO_UNKNOWN_CHOICE, "the field has no choice of that name or number") \
    X(GRPO_MIXED_PARTIALS, "the partials belong to different totals")

#define GRPO_STATUS_ENUM_(name, text) name,
typedef enum { GRPO_STATUS_LIST(GRPO_STATUS_ENUM_) GRPO_N_STATUS } grpo_status;
#undef GRPO_STATUS_ENUM_

/* ---- numbers --------------------------------------------------------------------------------------------------------------------
 * Rounding made before an exp is multiplied by its argument, so differences and means keep theirs in a second word. */

typedef struct { double hi, lo; } grpo_dd;                             /* the number hi + lo, |lo| <= ulp(hi)/2 */

GRPO_FN int grpo_is_finite(double x) { return x - x == 0; }

/* a + b exactly (Knuth); -inf and +inf cancel to 0, see "-inf log-probabilities" at grpo_batch */
GRPO_FN grpo_dd grpo_two_sum(double a, double b)
{
    grpo_dd r;
    double t;
    r.hi = a + b;
    if (!grpo_is_finite(r.hi)) { r.lo = 0; if (r.hi != r.hi) r.hi = 0; return r; }
    t = r.hi - a;
    r.lo = (a - (r.hi - t)) + (b - t);
    return r;
}

GRPO_FN grpo_dd grpo_two_diff(double a, double b) { return grpo_two_sum(a, -b); }

/* a b exactly, barring underflow */
GRPO_FN grpo_dd grpo_two_prod(double a, double b)
{
    grpo_dd r;
    r.hi = a * b;
    r.lo = grpo_is_finite(r.hi) ? fma(a, b, -r.hi) : 0;
    return r;
}

GRPO_FN grpo_dd grpo_dd_add(grpo_dd a, grpo_dd b)                      /* error below 2^-103 of |a| + |b| */
{
    grpo_dd s = grpo_two_sum(a.hi, b.hi), t;
    if (!grpo_is_finite(s.hi)) return s;
    t = grpo_two_sum(a.lo, b.lo);
    s = grpo_two_sum(s.hi, s.lo + t.hi);
    return grpo_two_sum(s.hi, s.lo + t.lo);
}

GRPO_FN grpo_dd grpo_dd_mul(grpo_dd a, double b)
{
    grpo_dd p = grpo_two_prod(a.hi, b);
    return grpo_is_finite(p.hi) ? grpo_two_sum(p.hi, p.lo + a.lo * b) : p;
}

GRPO_FN grpo_dd grpo_dd_div(grpo_dd a, double b)                       /* b > 0 */
{
    grpo_dd q;
    q.hi = a.hi / b;
    q.lo = grpo_is_finite(q.hi) ? (fma(-q.hi, b, a.hi) + a.lo) / b : 0;
    return q;
}

/* x y where a factor that is exactly 0 wins over an infinite one */
GRPO_FN double grpo_times(double x, double y) { return x == 0 || y == 0 ? 0 : x * y; }

/* x + y; two overflows of opposite sign, which have no sum in double, give +infinity and never NaN */
GRPO_FN double grpo_plus(double x, double y) { double s = x + y; return s == s ? s : HUGE_VAL; }

/* e^(hi + lo), 1 ulp */
GRPO_FN double grpo_exp(grpo_dd x)
{
    double e = exp(x.hi);
    return grpo_is_finite(e) ? e + e * x.lo : e;
}

/* e^x to twice the precision, 2^-90; for exponents that are exponentials themselves */
GRPO_FN grpo_dd grpo_exp_twice(grpo_dd x)
{
    static const double ln2[3] = { 6.93147180559945286e-01, 2.31904681384629956e-17, 5.70770843841621207e-34 };
    double n = floor(x.hi * 1.44269504088896341 + 0.5);
    grpo_dd r = x, s, one = { 1, 0 };
    int k;
    if (!(x.hi > -700 && x.hi < 700)) { r.hi = grpo_exp(x); r.lo = 0; return r; }
    for (k = 0; k < 3; k++) r = grpo_dd_add(r, grpo_two_prod(-n, ln2[k]));
    r.hi *= 1.0 / 64; r.lo *= 1.0 / 64;                                /* |r| < 0.0055 */
    s.hi = s.lo = 0;                                                   /* s = e^r - 1 by Horner, r^10/10! < 2^-95 */
    for (k = 9; k >= 1; k--) {                                         /* s := (r/k) (1 + s) */
        grpo_dd t = grpo_dd_add(one, s), u = grpo_dd_mul(t, r.hi);
        u = grpo_dd_add(u, grpo_two_prod(t.hi, r.lo));
        s = grpo_dd_div(u, k);
    }
    for (k = 0; k < 6; k++) {                                          /* e^2r - 1 = 2s + s^2 */
        grpo_dd q = grpo_dd_add(grpo_two_prod(s.hi, s.hi), grpo_two_prod(2 * s.hi, s.lo));
        s.hi *= 2; s.lo *= 2;
        s = grpo_dd_add(s, q);
    }
    s = grpo_dd_add(one, s);
    s.hi = ldexp(s.hi, (int)n); s.lo = ldexp(s.lo, (int)n);
    return s;
}

/* e^x - x - 1 >= 0, 3 ulps, no cancellation near 0 */
GRPO_FN double grpo_exp_minus_linear(grpo_dd x)
{
    double v, y = x.hi;
    if (y > -1 && y < 2) {                                             /* (y^2/2)(1 + y/3 (1 + y/4 (1 + ...))) */
        static const double inv[25] = { 0, 1, 1.0/2, 1.0/3, 1.0/4, 1.0/5, 1.0/6, 1.0/7, 1.0/8, 1.0/9, 1.0/10, 1.0/11, 1.0/12,
            1.0/13, 1.0/14, 1.0/15, 1.0/16, 1.0/17, 1.0/18, 1.0/19, 1.0/20, 1.0/21, 1.0/22, 1.0/23, 1.0/24 };
        int k = y > -0.0625 && y < 0.0625 ? 11 : 24;
        for (v = 1; k >= 3; k--) v = 1 + y * inv[k] * v;
        v *= 0.5 * y * y;
    } else {
        v = exp(y);
        v = grpo_is_finite(v) ? (v - y) - 1 : v;
        if (y == -HUGE_VAL) v = HUGE_VAL;
    }
    return x.lo == 0 || !grpo_is_finite(v) ? v : v + x.lo * expm1(y);
}

/* e^x - 1, 1 ulp */
GRPO_FN double grpo_exp_minus_one(grpo_dd x)
{
    double e = expm1(x.hi);
    return grpo_is_finite(e) ? e + (e + 1) * x.lo : e;
}

/* ---- exact sums -----------------------------------------------------------------------------------------------------------------
 * A fixed-point number as wide as the range of double: what is added stays exact, so the sum does not depend on order or grouping
 * (as in Neal, "Fast exact summation using small and large superaccumulators").  Zero-initialise. */

#define GRPO_SUM_LIMBS 68
typedef struct {
    int64_t limb[GRPO_SUM_LIMBS];   /* limb k counts units of 2^(32 k - 1074) */
    int64_t pos_inf, neg_inf;       /* infinities seen; equal numbers cancel */
    int64_t pending;                /* additions since the carries were last propagated */
} grpo_sum;

/* ======== axis 1: reward ==========================================================================================================
 * What is each response worth?  R_i = reward_i + overlong(T_i) [- kl_coef sum_t KL_t]. */

typedef enum {
    GRPO_OVERLONG_NONE,
    GRPO_OVERLONG_SOFT,      /* DAPO eq. 13 (2503.14476): 0, then falling linearly to -factor over the last `cache` tokens, -factor beyond */
    GRPO_OVERLONG_LINEAR     /* the same without the floor, as verl and AReaL compute it */
} grpo_overlong_kind;

/* estimators of KL(p || q) from one token of p, D = log p - log q (Schulman, "Approximating KL divergence") */
typedef enum {
    GRPO_KL_NONE,
    GRPO_KL_K1,              /* D */
    GRPO_KL_K2,              /* D^2/2 */
    GRPO_KL_K3,              /* e^-D + D - 1 */
    GRPO_KL_ABS              /* |D| */
} grpo_kl_kind;

typedef struct {
    grpo_overlong_kind overlong;
    double overlong_max, overlong_cache;   /* L_max and L_cache, tokens */
    double overlong_factor;
    grpo_kl_kind kl;                       /* of (logp_old, logp_ref), detached; subtracted from the reward */
    double kl_coef;
} grpo_reward;

/* penalty to add to the reward of a response of `length` tokens, <= 0 */
GRPO_FN double grpo_overlong(grpo_overlong_kind kind, double length, double max, double cache, double factor)
{
    double over = length - (max - cache);
    if (kind == GRPO_OVERLONG_NONE || over <= 0) return 0;
    if (kind == GRPO_OVERLONG_SOFT && length > max) return -factor;
    return factor * (-over / cache);
}

typedef struct { double value, derivative; } grpo_kl_term;

/* KL estimator and its derivative with respect to log p, from D = log p - log q */
GRPO_FN grpo_kl_term grpo_kl(grpo_kl_kind kind, grpo_dd D)
{
    grpo_kl_term k = { 0, 0 };
    grpo_dd m;
    m.hi = -D.hi; m.lo = -D.lo;
    switch (kind) {
    case GRPO_KL_NONE: break;
    case GRPO_KL_K1:   k.value = D.hi;                      k.derivative = 1; break;
    case GRPO_KL_K2:   k.value = 0.5 * D.hi * D.hi;         k.derivative = D.hi; break;
    case GRPO_KL_K3:   k.value = grpo_exp_minus_linear(m);  k.derivative = -grpo_exp_minus_one(m); break;
    case GRPO_KL_ABS:  k.value = fabs(D.hi);                k.derivative = D.hi > 0 ? 1 : D.hi < 0 ? -1 : 0; break;
    }
    return k;
}

/* ======== axis 2: advantage =======================================================================================================
 * Better than what?  Items (responses, or the steps of process supervision) get a baseline and a scale within their group (prompt),
 * a = gain (R - b)/sigma, and are then credited to tokens.  Statistics are exact; items that are all equal have a = 0 exactly. */

typedef enum {
    GRPO_CREDIT_OUTCOME,     /* A_t = a at every token */
    GRPO_CREDIT_RETURN,      /* a at the last token, -kl at every token, discounted reward-to-go (REINFORCE++) */
    GRPO_CREDIT_STEP,        /* items are steps: sum of the a of this and later steps, discounted (GRPO process supervision, 4.1.3) */
    GRPO_CREDIT_GAE          /* generalised advantage estimation over the unmasked tokens (1506.02438) */
} grpo_credit_kind;

typedef enum {
    GRPO_BASELINE_NONE,
    GRPO_BASELINE_GROUP_MEAN,        /* GRPO */
    GRPO_BASELINE_LEAVE_ONE_OUT,     /* RLOO: mean of the others; R - b = G/(G-1) (R - mean) */
    GRPO_BASELINE_LENGTH_WEIGHTED,   /* OPO: sum T R / sum T */
    GRPO_BASELINE_GIVEN              /* batch.baseline (ReMax: the greedy response's reward) */
} grpo_baseline_kind;

typedef enum {
    GRPO_SCALE_NONE,
    GRPO_SCALE_GROUP_STD,            /* GRPO */
    GRPO_SCALE_BATCH_STD,            /* std of the R of the whole batch (Lite PPO) */
    GRPO_SCALE_BATCH_CENTRED_STD,    /* std of the R - b of the whole batch (ScaleRL) */
    GRPO_SCALE_TOKEN_WHITEN          /* after credit: (A - mean)/std over all tokens of the batch (REINFORCE++) */
} grpo_scale_kind;

typedef enum { GRPO_STD_SAMPLE, GRPO_STD_POPULATION } grpo_std_kind;                            /* divisor n - 1 or n */
typedef enum {
    GRPO_EPS_ADD,            /* sqrt(V) + eps */
    GRPO_EPS_INSIDE,         /* sqrt(V + eps) */
    GRPO_EPS_FLOOR,          /* sqrt(max(V, eps)) */
    GRPO_EPS_FLOOR_ADD       /* sqrt(max(V, eps)) + eps */
} grpo_eps_place;
typedef enum {
    GRPO_SINGLETON_ZERO,     /* an item alone in its group has a = 0 when the group is its yardstick */
    GRPO_SINGLETON_RAW       /* baseline 0, deviation 1 (verl) */
} grpo_singleton_kind;
typedef enum {
    GRPO_GAIN_NONE,
    GRPO_GAIN_VALID_GROUPS,      /* N/(N - M), M responses in groups of equal rewards (GPG) */
    GRPO_GAIN_NONZERO_REWARDS    /* N/#{R != 0} (GPG as verl computes it) */
} grpo_gain_kind;

typedef struct {
    grpo_credit_kind credit;
    double gamma, lambda;
    grpo_baseline_kind baseline;
    grpo_scale_kind scale;
    grpo_std_kind std;
    double eps;
    grpo_eps_place eps_place;
    grpo_singleton_kind singleton;
    grpo_gain_kind gain;
} grpo_advantage;

/* the divisor sigma from a variance */
GRPO_FN double grpo_deviation(double variance, double eps, grpo_eps_place place)
{
    switch (place) {
    case GRPO_EPS_INSIDE:    return sqrt(variance + eps);
    case GRPO_EPS_FLOOR:     return sqrt(variance > eps ? variance : eps);
    case GRPO_EPS_FLOOR_ADD: return sqrt(variance > eps ? variance : eps) + eps;
    default:                 return sqrt(variance) + eps;
    }
}

/* ======== axis 3: ratio ===========================================================================================================
 * How far has the policy moved, over which unit?  From d_t = logp - logp_old to the log-ratio y_t of the unit that token t is in. */

typedef enum { GRPO_AGAINST_OLD, GRPO_AGAINST_ROLLOUT } grpo_against_kind;
typedef enum {
    GRPO_UNIT_TOKEN,                     /* y = d_t */
    GRPO_UNIT_SEQUENCE_MEAN,             /* y = (1/T) sum d: GSPO eq. 7 (2507.18071) */
    GRPO_UNIT_SEQUENCE_SUM,              /* y = sum d: the ratio of the whole response */
    GRPO_UNIT_SEQUENCE_CLIPPED_MEAN      /* y = (1/T) sum of d clipped at pool_high (A >= 0) or -pool_low (A < 0): GMPO (2507.20673) */
} grpo_unit_kind;
typedef enum {
    GRPO_GRADIENT_UNIT,                  /* through every token of the unit */
    GRPO_GRADIENT_TOKEN                  /* through the token itself: y = sg[y] + l - sg[l] (GSPO-token eq. 14) */
} grpo_gradient_kind;

typedef struct {
    grpo_unit_kind unit;
    grpo_gradient_kind gradient;
    grpo_against_kind against;
    double pool_low, pool_high;                /* log-space bounds of the clipped mean */
    double clamp_low, clamp_high;              /* on d, derivative 0 outside; both 0: none */
    double unit_clamp_low, unit_clamp_high;    /* on y, likewise */
} grpo_ratio_axis;

/* an importance ratio; comparisons use log, so that exp is never needed of what a clip discards */
typedef struct { double log, log_lo, value; } grpo_ratio;

GRPO_FN grpo_ratio grpo_ratio_exp(grpo_dd log_ratio)
{
    grpo_ratio r;
    r.log = log_ratio.hi; r.log_lo = log_ratio.lo; r.value = grpo_exp(log_ratio);
    return r;
}

/* the token's ratio, from log-probabilities under the new and the old policy */
GRPO_FN grpo_ratio grpo_ratio_of(double logp, double logp_old) { return grpo_ratio_exp(grpo_two_diff(logp, logp_old)); }

/* x clamped to [low, high]; *passes = 0 where the derivative is cut */
GRPO_FN grpo_dd grpo_clamp(grpo_dd x, double low, double high, int *passes)
{
    grpo_dd bound = { 0, 0 };
    *passes = 1;
    if (low == 0 && high == 0) return x;
    if (x.hi < low || (x.hi == low && x.lo < 0)) { bound.hi = low; *passes = 0; return bound; }
    if (x.hi > high || (x.hi == high && x.lo > 0)) { bound.hi = high; *passes = 0; return bound; }
    return x;
}

/* ======== axis 4: surrogate =======================================================================================================
 * What is a (ratio, advantage) pair worth?  As a loss.  w = ratio, A = advantage, l = logp. */

typedef enum {
    GRPO_SURROGATE_SCORE,      /* -A l (Williams 1992) */
    GRPO_SURROGATE_RATIO,      /* -w A */
    GRPO_SURROGATE_PPO_CLIP,   /* max(-w A, -clip(w, 1 - eps_low, 1 + eps_high) A): PPO (1707.06347), DAPO's clip-higher */
    GRPO_SURROGATE_DUAL_CLIP,  /* the same, and at most -dual A where A < 0 (1912.09729); also the two-sided clip "delta" (2505.07291) */
    GRPO_SURROGATE_CISPO,      /* -sg[clip(w, weight_min, weight_max)] A l (2506.13585 eq. 4) */
    GRPO_SURROGATE_SAPO,       /* -(4/tau) sigmoid(tau (w - 1)) A, tau by the sign of A (2511.20347 eqs. 5-7) */
    GRPO_SURROGATE_VESPO       /* -sg[w^k e^(lambda (1 - w))] A l, (k, lambda) by the sign of A (2602.10693) */
} grpo_surrogate_kind;

typedef struct {
    grpo_surrogate_kind kind;
    double eps_low, eps_high;
    double dual;
    double weight_min, weight_max;
    double tau_pos, tau_neg;
    double k_pos, lambda_pos, k_neg, lambda_neg;
} grpo_surrogate;

typedef enum { GRPO_CLIP_NO, GRPO_CLIP_LOW, GRPO_CLIP_HIGH, GRPO_CLIP_DUAL } grpo_clip_side;

/* a loss term with its derivatives with respect to the log-ratio and to logp; clip: which bound took the gradient */
typedef struct { double value, d_log_ratio, d_logp; grpo_clip_side clip; } grpo_term;

typedef struct { double low, high, log_low, log_high; } grpo_range;    /* of the ratio */

GRPO_FN grpo_range grpo_clip_range(double eps_low, double eps_high)
{
    grpo_range r;
    r.low = 1 - eps_low;      r.log_low = r.low > 0 ? log1p(-eps_low) : -HUGE_VAL;
    r.high = 1 + eps_high;    r.log_high = log1p(eps_high);
    return r;
}

GRPO_FN grpo_term grpo_score(double advantage, double logp)
{
    grpo_term t = { 0, 0, 0, GRPO_CLIP_NO };
    t.value = grpo_times(-advantage, logp);
    t.d_logp = -advantage;
    return t;
}

GRPO_FN grpo_term grpo_ratio_term(grpo_ratio w, double advantage)
{
    grpo_term t = { 0, 0, 0, GRPO_CLIP_NO };
    t.value = t.d_log_ratio = grpo_times(-advantage, w.value);
    return t;
}

GRPO_FN grpo_term grpo_clipped(double bound, double advantage, grpo_clip_side side)
{
    grpo_term t = { 0, 0, 0, GRPO_CLIP_NO };
    t.value = -bound * advantage;
    t.clip = side;
    return t;
}

GRPO_FN grpo_term grpo_ppo_clip(grpo_ratio w, double advantage, grpo_range range)
{
    if (advantage > 0 && w.log > range.log_high) return grpo_clipped(range.high, advantage, GRPO_CLIP_HIGH);
    if (advantage < 0 && w.log < range.log_low) return grpo_clipped(range.low, advantage, GRPO_CLIP_LOW);
    return grpo_ratio_term(w, advantage);
}

GRPO_FN grpo_term grpo_dual_clip(grpo_ratio w, double advantage, grpo_range range, double dual)
{
    if (advantage < 0 && w.value > dual) return grpo_clipped(dual, advantage, GRPO_CLIP_DUAL);
    return grpo_ppo_clip(w, advantage, range);
}

GRPO_FN grpo_term grpo_cispo(grpo_ratio w, double advantage, double logp, double weight_min, double weight_max)
{
    double v = w.value < weight_min ? weight_min : w.value > weight_max ? weight_max : w.value;
    grpo_term t = grpo_score(grpo_times(v, advantage), logp);
    if (advantage != 0) t.clip = w.value < weight_min ? GRPO_CLIP_LOW : w.value > weight_max ? GRPO_CLIP_HIGH : GRPO_CLIP_NO;
    return t;
}

/* w - 1 as the argument of an exponential: the ratio itself must then be known beyond double precision */
GRPO_FN grpo_dd grpo_ratio_minus_one(grpo_ratio w)
{
    grpo_dd x, v = { 0, 0 }, minus_one = { -1, 0 };
    x.hi = w.log; x.lo = w.log_lo;
    v.hi = w.value;
    return grpo_dd_add(w.value > 2 ? grpo_exp_twice(x) : v, minus_one);
}

GRPO_FN grpo_term grpo_sapo(grpo_ratio w, double advantage, double tau)
{
    grpo_term t = { 0, 0, 0, GRPO_CLIP_NO };
    grpo_dd z = grpo_dd_mul(grpo_ratio_minus_one(w), tau);
    double e, p;
    if (z.hi > 0) { z.hi = -z.hi; z.lo = -z.lo; e = grpo_exp(z); p = 1 / (1 + e); }
    else          { e = grpo_exp(z); p = e / (1 + e); }
    t.value = -(4 / tau) * p * advantage;
    t.d_log_ratio = grpo_times(-4 * (e / ((1 + e) * (1 + e))) * advantage, w.value);   /* sigmoid' = e/(1+e)^2, even in z */
    return t;
}

GRPO_FN grpo_term grpo_vespo(grpo_ratio w, double advantage, double logp, double k, double lambda)
{
    grpo_dd y, x = { 0, 0 };
    y.hi = w.log; y.lo = w.log_lo;
    if (lambda > 0 && w.value == HUGE_VAL) return grpo_score(0, logp);         /* the outer exponential wins */
    if (k != 0) x = grpo_dd_mul(y, k);
    if (lambda != 0) x = grpo_dd_add(x, grpo_dd_mul(grpo_ratio_minus_one(w), -lambda));
    return grpo_score(grpo_times(grpo_exp(x), advantage), logp);
}

/* the choice; A = 0 is worth 0 and has no gradient */
GRPO_FN grpo_term grpo_surrogate_term(const grpo_surrogate *s, grpo_range range, grpo_ratio w, double advantage, double logp)
{
    grpo_term zero = { 0, 0, 0, GRPO_CLIP_NO };
    if (advantage == 0) return zero;
    switch (s->kind) {
    case GRPO_SURROGATE_SCORE:     return grpo_score(advantage, logp);
    case GRPO_SURROGATE_RATIO:     return grpo_ratio_term(w, advantage);
    case GRPO_SURROGATE_PPO_CLIP:  return grpo_ppo_clip(w, advantage, range);
    case GRPO_SURROGATE_DUAL_CLIP: return grpo_dual_clip(w, advantage, range, s->dual);
    case GRPO_SURROGATE_CISPO:     return grpo_cispo(w, advantage, logp, s->weight_min, s->weight_max);
    case GRPO_SURROGATE_SAPO:      return grpo_sapo(w, advantage, advantage > 0 ? s->tau_pos : s->tau_neg);
    case GRPO_SURROGATE_VESPO:     return advantage > 0 ? grpo_vespo(w, advantage, logp, s->k_pos, s->lambda_pos)
                                                        : grpo_vespo(w, advantage, logp, s->k_neg, s->lambda_neg);
    }
    return zero;
}

/* ======== axis 5: penalty =========================================================================================================
 * What else is paid for?  kl_coef u K, K an estimator of KL(policy || reference) at the token. */

typedef enum {
    GRPO_KL_GRADIENT_OWN,
    GRPO_KL_GRADIENT_K2          /* value of K, gradient of k2: straight-through (verl's "k3+") */
} grpo_kl_gradient_kind;
typedef enum {
    GRPO_KL_RATIO_NONE,          /* u = 1 */
    GRPO_KL_RATIO_TOKEN,         /* u = e^d, d of axis 3 unclamped, differentiated: unbiased off-policy (DeepSeek-V3.2, 2512.02556) */
    GRPO_KL_RATIO_UNIT           /* u = the ratio of axis 3, differentiated (TRL at sequence level) */
} grpo_kl_ratio_kind;

typedef struct {
    grpo_kl_kind kl;
    grpo_kl_gradient_kind kl_gradient;
    grpo_kl_ratio_kind kl_ratio;
    double kl_coef;
    double kl_clamp_log, kl_clamp_value;   /* |D| and |K| at most this, derivative 0 outside; 0: none */
} grpo_penalty;

/* token_ratio: e^d at the token (kl_ratio token); unit: the ratio of axis 3 (kl_ratio unit) */
GRPO_FN grpo_term grpo_kl_penalty(const grpo_penalty *p, double logp, double logp_ref, double token_ratio, double unit)
{
    grpo_term t = { 0, 0, 0, GRPO_CLIP_NO };
    grpo_kl_term k;
    grpo_dd D;
    double u;
    int in_log;
    if (p->kl == GRPO_KL_NONE || p->kl_coef == 0) return t;
    D = grpo_clamp(grpo_two_diff(logp, logp_ref), -p->kl_clamp_log, p->kl_clamp_log, &in_log);
    k = grpo_kl(p->kl, D);
    if (p->kl_gradient == GRPO_KL_GRADIENT_K2) k.derivative = D.hi;
    if (!in_log) k.derivative = 0;
    if (p->kl_clamp_value != 0 && fabs(k.value) > p->kl_clamp_value) {
        k.value = k.value < 0 ? -p->kl_clamp_value : p->kl_clamp_value;
        k.derivative = 0;
    }
    u = p->kl_ratio == GRPO_KL_RATIO_TOKEN ? token_ratio : p->kl_ratio == GRPO_KL_RATIO_UNIT ? unit : 1;
    u *= p->kl_coef;
    t.value = grpo_times(u, k.value);
    t.d_logp = grpo_times(u, k.derivative);
    if (p->kl_ratio == GRPO_KL_RATIO_TOKEN) t.d_logp = grpo_plus(t.d_logp, t.value);     /* du = u dl */
    if (p->kl_ratio == GRPO_KL_RATIO_UNIT) t.d_log_ratio = t.value;
    return t;
}

/* ======== axis 6: weight ==========================================================================================================
 * Which tokens and sequences count, and how much?  v = importance weight of old over rollout policy, detached. */

typedef enum { GRPO_TRUNCATED_KEEP, GRPO_TRUNCATED_MASK } grpo_truncated_kind;      /* mask: DAPO's overlong filtering */
typedef enum {
    GRPO_CORRECTION_NONE,
    GRPO_CORRECTION_TRUNCATE,    /* clip(v, low, high): TIS */
    GRPO_CORRECTION_MASK,        /* v inside [low, high], else 0: MIS, IcePop (2510.18855) */
    GRPO_CORRECTION_REJECT       /* 1 inside, else 0: rejection sampling */
} grpo_correction_kind;
typedef enum {
    GRPO_CORRECTION_TOKEN,           /* e^q_t, q = logp_old - logp_rollout */
    GRPO_CORRECTION_SEQUENCE_SUM,    /* e^(sum q) */
    GRPO_CORRECTION_SEQUENCE_MEAN    /* e^(mean q), geometric */
} grpo_correction_unit;
typedef enum {
    GRPO_REJECTED_ZERO_WEIGHT,   /* surrogate times 0; divisors and penalty keep the token (IcePop) */
    GRPO_REJECTED_UNMASK         /* the token leaves the mask altogether (verl) */
} grpo_rejected_kind;

typedef struct {
    grpo_truncated_kind truncated;
    grpo_correction_kind correction;
    grpo_correction_unit correction_unit;
    double correction_low, correction_high;
    double correction_clamp;                  /* |q| at most this; 0: none */
    grpo_rejected_kind rejected;
} grpo_weight;

typedef struct { double value; int inside; } grpo_corrected;      /* the weight, and whether v was inside [low, high] */

/* v must be e^log_v; comparisons are made on the logarithm */
GRPO_FN grpo_corrected grpo_correct(const grpo_weight *c, grpo_ratio v)
{
    grpo_corrected r;
    int below = v.log < log(c->correction_low), above = v.log > log(c->correction_high);
    r.inside = !below && !above;
    switch (c->correction) {
    case GRPO_CORRECTION_TRUNCATE: r.value = below ? c->correction_low : above ? c->correction_high : v.value; break;
    case GRPO_CORRECTION_MASK:     r.value = r.inside ? v.value : 0; break;
    case GRPO_CORRECTION_REJECT:   r.value = r.inside ? 1 : 0; break;
    default:                       r.value = 1; r.inside = 1; break;
    }
    return r;
}

/* ======== axis 7: aggregation =====================================================================================================
 * Divided by what?  loss = sum of terms times the coefficient.  N sequences, T_i tokens that count, C = constant. */

typedef enum {
    GRPO_TOKEN_SUM,                  /* 1 */
    GRPO_TOKEN_MEAN,                 /* 1/sum T (DAPO) */
    GRPO_SEQ_MEAN_TOKEN_MEAN,        /* 1/(N T_i) (GRPO, GSPO) */
    GRPO_SEQ_MEAN_TOKEN_SUM,         /* 1/N */
    GRPO_SEQ_MEAN_CONSTANT,          /* 1/(N C) (Dr.GRPO) */
    GRPO_CONSTANT,                   /* 1/C (verl's seq-mean-token-sum-norm) */
    GRPO_GROUP_MEAN_TOKEN_MEAN       /* 1/(groups * tokens of the group) (ScaleRL's prompt average) */
} grpo_aggregation_kind;
typedef enum { GRPO_EMPTY_COUNT, GRPO_EMPTY_SKIP } grpo_empty_kind;      /* do sequences without tokens count in N? */

typedef struct {
    grpo_aggregation_kind kind;
    double constant;
    grpo_empty_kind empty;
} grpo_aggregation;

/* ======== the objective ========================================================================================================== */

typedef struct {
    grpo_reward reward;
    grpo_advantage advantage;
    grpo_ratio_axis ratio;
    grpo_surrogate surrogate;
    grpo_penalty penalty;
    grpo_weight weight;
    grpo_aggregation aggregation;
} grpo_objective;

/* a published objective */
typedef struct {
    const char *name, *paper, *equations, *summary;     /* paper: arXiv id where there is one; equations: its numbers, or what it calls them */
    grpo_objective objective;
} grpo_preset;

/* a field of grpo_objective by its path, "surrogate.eps_high" */
typedef struct {
    const char *path;
    const char *choices;     /* "none|soft|linear" in the order of the enum; NULL for a number */
    size_t offset;           /* into grpo_objective: of an enum, or of a double */
} grpo_field;

const grpo_preset *grpo_presets(int *count);
const grpo_field *grpo_fields(int *count);
grpo_status grpo_objective_named(const char *name, grpo_objective *obj);
grpo_status grpo_objective_set(grpo_objective *obj, const char *path, double value);              /* a number, or a choice by number */
grpo_status grpo_objective_choose(grpo_objective *obj, const char *path, const char *choice);
double      grpo_objective_get(const grpo_objective *obj, const grpo_field *field);
grpo_status grpo_objective_check(const grpo_objective *obj);     /* what every call checks first: are the numbers of the axes sound? */
const char *grpo_status_text(grpo_status st);

/* ======== the batch ===============================================================================================================
 * Caller's arrays, never copied.  Group g (a prompt) is the sequences group_begin[g] .. group_begin[g+1]-1; sequence i (a response) is
 * the tokens offset[i] .. offset[i]+length[i]-1 of every token array: padded and packed layouts are both views.
 *
 * -inf log-probabilities stand for -K with one K -> infinity: -inf - -inf is 0, infinite log-ratios of opposite sign in one sum
 * cancel in pairs, e^-inf times inf is 0.  NaN or +inf at an unmasked token is an error.
 * A sequence may be empty or fully masked; it still counts in its group's statistics. */

typedef struct {
    int64_t n_groups;
    const int64_t *group_begin;       /* (n_groups + 1) */
    const int64_t *offset, *length;   /* (sequences), in tokens, prompt excluded, masked tokens included */
    int64_t n_tokens;                 /* elements of each token array */
    /* per token */
    const grpo_real *logp;            /* under the policy being trained */
    const grpo_real *logp_old;        /* under the policy at the start of the update */
    const grpo_real *logp_ref;        /* under the frozen reference */
    const grpo_real *logp_rollout;    /* under the engine that sampled */
    const grpo_real *entropy;         /* nats; only reported */
    const grpo_real *value;           /* critic */
    const grpo_real *step_reward;     /* read where step_end */
    const uint8_t *step_end;          /* last token of a step */
    const uint8_t *mask;              /* 0: the token takes part in nothing; NULL: all count */
    /* per sequence */
    const grpo_real *reward;
    const uint8_t *truncated;         /* generation was cut off */
    /* per group */
    const grpo_real *baseline;
} grpo_batch;

/* what the divisors count; add up over micro-batches and ranks */
typedef struct {
    int64_t tokens;                                 /* that count */
    int64_t sequences, sequences_nonempty;
    int64_t groups, groups_nonempty;
    int64_t ranks;                                  /* loss and gradient are multiplied by it, for trainers that average gradients over ranks; 0: 1 */
} grpo_totals;

typedef struct {
    double loss, policy_loss, penalty_loss;
    int64_t tokens, sequences, groups;              /* that count; sequences and groups with at least one token */
    int64_t masked_tokens, rejected_tokens;
    int64_t degenerate_groups;                      /* whose every advantage is 0 */
    double clip_fraction, clip_low, clip_high, clip_dual;   /* of tokens whose gradient the clip took */
    double ratio_mean, ratio_min, ratio_max;
    double ess;                                     /* (sum w)^2 / (n sum w^2), ratios above 2^500 counted as 2^500 */
    double old_k1, old_k3;                          /* estimates of KL(old || policy) */
    double kl_k1, kl_k2, kl_k3;                     /* of KL(policy || reference) */
    double entropy;
    double weight_mean;                             /* of the rollout correction */
    int overflow;                                   /* 1 if a number here, or in an array that was asked for, is beyond the largest one
                                                       and so an infinity */
} grpo_report;

enum { GRPO_SUM_POLICY, GRPO_SUM_PENALTY, GRPO_SUM_RATIO, GRPO_SUM_RATIO_EXCESS, GRPO_SUM_RATIO_SQUARED, GRPO_SUM_OLD_K1, GRPO_SUM_OLD_K3,
       GRPO_SUM_KL_K1, GRPO_SUM_KL_K2, GRPO_SUM_KL_K3, GRPO_SUM_ENTROPY, GRPO_SUM_WEIGHT, GRPO_N_SUMS };

/* an evaluation in progress: exact, so that parts merge to the bits of the whole.  Zero-initialise. */
typedef struct {
    grpo_sum sum[GRPO_N_SUMS];
    double divisor, factor;                         /* of the loss; the same in all parts */
    int64_t tokens, sequences, groups, masked_tokens, rejected_tokens, degenerate_groups;
    int64_t ratio_tokens, weight_tokens;            /* that have a ratio, a correction weight */
    int64_t clips[4];                               /* by grpo_clip_side */
    double ratio_min, ratio_max;
    int overflow;
} grpo_partial;

/* batch-wide statistics of the advantage axis; exact, parts merge by being added to the same object.  Zero-initialise. */
typedef struct {
    grpo_sum sum, squares;
    double min, max;
    int64_t count;                                  /* values in the sums: items or tokens, by advantage.scale */
    int64_t items, sequences, degenerate_sequences, nonzero_items;
} grpo_moments;

typedef struct { grpo_real *dlogp, *term; } grpo_output;     /* per token; either may be NULL */

/* ======== functions =============================================================================================================== */

/* rewards -> advantage (per token, 0 where masked) */
grpo_status grpo_advantages(const grpo_objective *obj, const grpo_batch *batch, grpo_real *advantage);

/* advantages, log-probabilities -> loss, dlogp = d loss/d logp (may be NULL), report.  totals: from grpo_count over all parts, NULL if
 * this batch is all there is.  dlogp is written at every token of every sequence, 0 where it does not count. */
grpo_status grpo_loss(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                      const grpo_totals *totals, grpo_real *dlogp, grpo_report *report);

/* DAPO's dynamic-sampling test: keep[g] = the rewards of group g are not all equal */
grpo_status grpo_informative(const grpo_batch *batch, uint8_t *keep);

/* In parts (micro-batches, threads, ranks; groups are never cut).  First add every part's counts, and moments where the advantage axis
 * looks at the whole batch (scale batch_* or token_whiten, gain); then evaluate every part; then merge. */
grpo_status grpo_count(const grpo_objective *obj, const grpo_batch *batch, grpo_totals *totals);
grpo_status grpo_moments_add(const grpo_objective *obj, const grpo_batch *batch, grpo_moments *moments);
grpo_status grpo_advantages_with(const grpo_objective *obj, const grpo_batch *batch, const grpo_moments *moments, grpo_real *advantage);
grpo_status grpo_loss_add(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                          const grpo_totals *totals, const grpo_output *out, grpo_partial *partial);
grpo_status grpo_partial_merge(grpo_partial *into, const grpo_partial *from);
void        grpo_report_of(const grpo_partial *partial, grpo_report *report);

#ifdef __cplusplus
}
#endif
#endif /* GRPO_H */

/* =================================================================================================================================
 * Implementation
 * ============================================================================================================================== */
#if defined(GRPO_IMPLEMENTATION) && !defined(GRPO_IMPLEMENTED)
#define GRPO_IMPLEMENTED

#ifdef __cplusplus
extern "C" {
#endif

/* ---- exact sums ---------------------------------------------------------------------------------------------------------------- */

static void grpo_sum_carry_(grpo_sum *s)
{
    int k;
    for (k = 0; k + 1 < GRPO_SUM_LIMBS; k++) {
        int64_t low = s->limb[k] & INT64_C(0xffffffff);
        s->limb[k + 1] += (s->limb[k] - low) / INT64_C(0x100000000);
        s->limb[k] = low;
    }
    s->pending = 0;
}

static void grpo_sum_add_(grpo_sum *s, double x)
{
    uint64_t bits, m;
    int64_t low, high;
    int e, k, shift;
    if (!grpo_is_finite(x)) { if (x > 0) s->pos_inf++; else s->neg_inf++; return; }
    memcpy(&bits, &x, sizeof bits);
    e = (int)(bits >> 52 & 2047);
    m = bits & ((UINT64_C(1) << 52) - 1);
    if (e) { m |= UINT64_C(1) << 52; e--; }                             /* |x| = m 2^(e - 1074) */
    k = e >> 5; shift = e & 31;
    low = (int64_t)((m << shift) & 0xffffffff);
    high = (int64_t)(m >> (32 - shift));                               /* < 2^53: a thousand of them fit */
    if (bits >> 63) { low = -low; high = -high; }
    s->limb[k] += low;
    s->limb[k + 1] += high;
    if (++s->pending == 1000) grpo_sum_carry_(s);
}

static void grpo_sum_add_dd_(grpo_sum *s, grpo_dd x)
{
    grpo_sum_add_(s, x.hi);
    if (x.lo != 0) grpo_sum_add_(s, x.lo);
}

/* + a - b, of log-probabilities: of an infinite one the finite partner still counts */
static void grpo_sum_add_diff_(grpo_sum *s, double a, double b)
{
    grpo_sum_add_(s, a);
    grpo_sum_add_(s, -b);
}

static void grpo_sum_merge_(grpo_sum *into, const grpo_sum *from)
{
    int k;
    grpo_sum other = *from;
    grpo_sum_carry_(into);
    grpo_sum_carry_(&other);
    for (k = 0; k < GRPO_SUM_LIMBS; k++) into->limb[k] += other.limb[k];
    into->pos_inf += from->pos_inf;
    into->neg_inf += from->neg_inf;
    into->pending = 2;
}

/* the sum rounded once; infinities of opposite sign cancel in pairs */
static double grpo_sum_value_(const grpo_sum *sum)
{
    grpo_sum s = *sum;
    int64_t l[3];
    uint64_t top, rest, sticky, m;
    int k, j, negative, z = 0;
    double r;
    if (s.pos_inf != s.neg_inf) return s.pos_inf > s.neg_inf ? HUGE_VAL : -HUGE_VAL;
    grpo_sum_carry_(&s);
    negative = s.limb[GRPO_SUM_LIMBS - 1] < 0;
    if (negative) {
        for (k = 0; k < GRPO_SUM_LIMBS; k++) s.limb[k] = -s.limb[k];
        grpo_sum_carry_(&s);
    }
    for (k = GRPO_SUM_LIMBS - 1; k > 0 && s.limb[k] == 0; k--) { }
    for (j = 0; j < 3; j++) l[j] = k >= j ? s.limb[k - j] : 0;
    for (sticky = 0, j = k - 3; j >= 0; j--) sticky |= (uint64_t)s.limb[j];
    if (l[0] == 0) return 0;
    top = (uint64_t)l[0] << 32 | (uint64_t)l[1];                       /* value = (top + rest 2^-32) 2^(32 (k-1) - 1074) */
    rest = (uint64_t)l[2];
    if (k < 2 && (k == 0 || top < UINT64_C(1) << 53)) {                /* fewer bits than a double holds */
        r = ldexp((double)(k == 0 ? (uint64_t)l[0] : top), -1074);
        return negative ? -r : r;
    }
    while (!(top >> 63)) {
        top = top << 1 | (rest >> 31 & 1);
        rest = rest << 1 & 0xffffffff;
        z++;
    }
    sticky |= rest;
    m = top >> 11;
    top &= 2047;
    if (top > 1024 || (top == 1024 && (sticky || (m & 1)))) m++;
    r = ldexp((double)m, 32 * (k - 1) - z + 11 - 1074);
    return negative ? -r : r;
}

/* for sums of losses: overflows of both signs give +infinity */
static double grpo_sum_total_(const grpo_sum *s)
{
    return s->pos_inf && s->neg_inf ? HUGE_VAL : grpo_sum_value_(s);
}

/* the sum as out[0] + ... + out[n-1], each rounding what the ones before left */
static void grpo_sum_expand_(const grpo_sum *sum, double *out, int n)
{
    grpo_sum s = *sum;
    int k;
    for (k = 0; k < n; k++) {
        out[k] = grpo_sum_value_(&s);
        if (grpo_is_finite(out[k])) grpo_sum_add_(&s, -out[k]);
    }
}

static grpo_dd grpo_sum_dd_(const grpo_sum *s)
{
    double out[2];
    grpo_dd r;
    grpo_sum_expand_(s, out, 2);
    r.hi = out[0];
    r.lo = grpo_is_finite(out[0]) ? out[1] : 0;
    return r;
}

/* ---- checks -------------------------------------------------------------------------------------------------------------------- */

/* arrays a stage needs */
enum { GRPO_NEED_LOGP_ = 1, GRPO_NEED_OLD_ = 2, GRPO_NEED_REF_ = 4, GRPO_NEED_ROLLOUT_ = 8, GRPO_NEED_REWARD_ = 16, GRPO_NEED_BASELINE_ = 32,
       GRPO_NEED_VALUE_ = 64, GRPO_NEED_STEP_ = 128, GRPO_NEED_TRUNCATED_ = 256, GRPO_NEED_ADVANTAGE_ = 512 };

static int grpo_uses_ratio_(const grpo_objective *o)
{
    return o->surrogate.kind != GRPO_SURROGATE_SCORE || (o->penalty.kl != GRPO_KL_NONE && o->penalty.kl_ratio != GRPO_KL_RATIO_NONE);
}

static int grpo_advantage_needs_(const grpo_objective *o)
{
    int n = 0;
    if (o->advantage.credit == GRPO_CREDIT_STEP) n |= GRPO_NEED_STEP_;
    else n |= GRPO_NEED_REWARD_;
    if (o->advantage.credit == GRPO_CREDIT_GAE) n |= GRPO_NEED_VALUE_;
    if (o->advantage.baseline == GRPO_BASELINE_GIVEN) n |= GRPO_NEED_BASELINE_;
    if (o->reward.kl != GRPO_KL_NONE) n |= GRPO_NEED_OLD_ | GRPO_NEED_REF_;
    return n;
}

static int grpo_count_needs_(const grpo_objective *o)
{
    int n = 0;
    if (o->weight.truncated == GRPO_TRUNCATED_MASK) n |= GRPO_NEED_TRUNCATED_;
    if (o->weight.correction != GRPO_CORRECTION_NONE) n |= GRPO_NEED_OLD_ | GRPO_NEED_ROLLOUT_;
    return n;
}

static int grpo_loss_needs_(const grpo_objective *o)
{
    int n = GRPO_NEED_LOGP_ | GRPO_NEED_ADVANTAGE_ | grpo_count_needs_(o);
    if (grpo_uses_ratio_(o)) n |= o->ratio.against == GRPO_AGAINST_OLD ? GRPO_NEED_OLD_ : GRPO_NEED_ROLLOUT_;
    if (o->penalty.kl != GRPO_KL_NONE) n |= GRPO_NEED_REF_;
    return n;
}

static int grpo_choice_count_(const char *choices)
{
    int n = 1;
    for (; *choices; choices++) n += *choices == '|';
    return n;
}

/* a clip or clamp at infinity is none; elsewhere an infinite number makes NaN */
static int grpo_may_be_infinite_(const char *path)
{
    static const char *const paths[] = { "surrogate.eps_low", "surrogate.eps_high", "surrogate.dual", "surrogate.weight_max",
        "ratio.pool_low", "ratio.pool_high", "ratio.clamp_low", "ratio.clamp_high", "ratio.unit_clamp_low", "ratio.unit_clamp_high",
        "penalty.kl_clamp_log", "penalty.kl_clamp_value", "weight.correction_high", "weight.correction_clamp" };
    size_t k;
    for (k = 0; k < sizeof paths / sizeof *paths; k++) if (strcmp(path, paths[k]) == 0) return 1;
    return 0;
}

static grpo_status grpo_check_fields_(const grpo_objective *o)
{
    int i, n;
    const grpo_field *f = grpo_fields(&n);
    for (i = 0; i < n; i++) {
        double v = grpo_objective_get(o, &f[i]);
        if (v != v || (!grpo_is_finite(v) && !grpo_may_be_infinite_(f[i].path))) return GRPO_BAD_NUMBER;
        if (f[i].choices && !(v >= 0 && v < grpo_choice_count_(f[i].choices))) return GRPO_BAD_CHOICE;
    }
    return GRPO_OK;
}

grpo_status grpo_objective_check(const grpo_objective *o)
{
    const grpo_advantage *a;
    const grpo_ratio_axis *r;
    const grpo_surrogate *s;
    const grpo_weight *w;
    grpo_status st = o ? grpo_check_fields_(o) : GRPO_NULL_OBJECTIVE;
    if (st) return st;
    a = &o->advantage; r = &o->ratio; s = &o->surrogate; w = &o->weight;
    if (o->reward.overlong != GRPO_OVERLONG_NONE && !(o->reward.overlong_cache > 0 && o->reward.overlong_cache <= o->reward.overlong_max))
        return GRPO_BAD_OVERLONG;
    if (!(a->gamma >= 0 && a->gamma <= 1 && a->lambda >= 0 && a->lambda <= 1)) return GRPO_BAD_GAMMA;
    if (!(a->eps >= 0)) return GRPO_BAD_EPS;
    if (r->clamp_low > r->clamp_high || r->unit_clamp_low > r->unit_clamp_high) return GRPO_BAD_CLAMP;
    if (r->pool_low < 0 || r->pool_high < 0) return GRPO_BAD_POOL;
    if (s->eps_low < 0 || s->eps_high < 0) return GRPO_BAD_CLIP;
    if (s->kind == GRPO_SURROGATE_DUAL_CLIP && !(s->dual > 1 + s->eps_high)) return GRPO_BAD_DUAL;
    if (s->kind == GRPO_SURROGATE_CISPO && !(s->weight_min >= 0 && s->weight_min <= s->weight_max)) return GRPO_BAD_WEIGHT_RANGE;
    if (s->kind == GRPO_SURROGATE_SAPO && !(s->tau_pos > 0 && s->tau_neg > 0)) return GRPO_BAD_TAU;
    if (o->penalty.kl_clamp_log < 0 || o->penalty.kl_clamp_value < 0) return GRPO_BAD_KL_CLAMP;
    if (w->correction != GRPO_CORRECTION_NONE
        && !(w->correction_low >= 0 && w->correction_low <= w->correction_high && w->correction_clamp >= 0)) return GRPO_BAD_CORRECTION;
    if ((o->aggregation.kind == GRPO_SEQ_MEAN_CONSTANT || o->aggregation.kind == GRPO_CONSTANT) 
        && !(o->aggregation.constant > 0 && o->aggregation.constant <= 1e150)) return GRPO_BAD_CONSTANT;
    return GRPO_OK;
}

static grpo_status grpo_check_layout_(const grpo_batch *b)
{
    int64_t g, i;
    if (!b) return GRPO_NULL_BATCH;
    if (b->n_groups < 0) return GRPO_BAD_GROUPS;
    if (b->n_groups == 0) return GRPO_OK;
    if (!b->group_begin) return GRPO_NULL_GROUP_BEGIN;
    if (b->group_begin[0] < 0) return GRPO_BAD_GROUP_BEGIN;
    for (g = 0; g < b->n_groups; g++)
        if (b->group_begin[g + 1] <= b->group_begin[g]) return GRPO_BAD_GROUP_BEGIN;
    if (!b->offset) return GRPO_NULL_OFFSET;
    if (!b->length) return GRPO_NULL_LENGTH;
    for (i = b->group_begin[0]; i < b->group_begin[b->n_groups]; i++) {
        if (b->length[i] < 0) return GRPO_BAD_LENGTH;
        if (b->offset[i] < 0 || b->offset[i] > b->n_tokens || b->length[i] > b->n_tokens - b->offset[i]) return GRPO_BAD_OFFSET;
    }
    return GRPO_OK;
}

typedef enum { GRPO_LOG_PROBABILITY_, GRPO_FINITE_, GRPO_MODERATE_ } grpo_domain_;

static int grpo_in_domain_(double x, grpo_domain_ domain)
{
    switch (domain) {
    case GRPO_LOG_PROBABILITY_: return x < HUGE_VAL;                    /* false for NaN */
    case GRPO_FINITE_:          return grpo_is_finite(x);
    default:                    return fabs(x) <= 1e150;                /* squares must not overflow */
    }
}

static int grpo_tokens_in_domain_(const grpo_batch *b, const grpo_real *x, const uint8_t *where, grpo_domain_ domain)
{
    int64_t i, t;
    for (i = b->group_begin[0]; i < b->group_begin[b->n_groups]; i++)
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++)
            if ((!b->mask || b->mask[t]) && (!where || where[t]) && !grpo_in_domain_((double)x[t], domain)) return 0;
    return 1;
}

static int grpo_all_in_domain_(const grpo_real *x, int64_t begin, int64_t end, grpo_domain_ domain)
{
    for (; begin < end; begin++) if (!grpo_in_domain_((double)x[begin], domain)) return 0;
    return 1;
}

/* `needs` must be there; `reads` is looked at where it is there */
static grpo_status grpo_check_arrays_(const grpo_batch *b, const grpo_real *advantage, int needs, int reads)
{
    const struct { int bit; const grpo_real *x; const uint8_t *where; grpo_domain_ domain; grpo_status null, bad; } token[] = {
        { GRPO_NEED_LOGP_, b->logp, NULL, GRPO_LOG_PROBABILITY_, GRPO_NULL_LOGP, GRPO_BAD_LOGP },
        { GRPO_NEED_OLD_, b->logp_old, NULL, GRPO_LOG_PROBABILITY_, GRPO_NULL_LOGP_OLD, GRPO_BAD_LOGP_OLD },
        { GRPO_NEED_REF_, b->logp_ref, NULL, GRPO_LOG_PROBABILITY_, GRPO_NULL_LOGP_REF, GRPO_BAD_LOGP_REF },
        { GRPO_NEED_ROLLOUT_, b->logp_rollout, NULL, GRPO_LOG_PROBABILITY_, GRPO_NULL_LOGP_ROLLOUT, GRPO_BAD_LOGP_ROLLOUT },
        { GRPO_NEED_VALUE_, b->value, NULL, GRPO_MODERATE_, GRPO_NULL_VALUE, GRPO_BAD_VALUE },
        { GRPO_NEED_STEP_, b->step_end ? b->step_reward : NULL, b->step_end, GRPO_MODERATE_, GRPO_NULL_STEP_REWARD, GRPO_BAD_STEP_REWARD },
        { GRPO_NEED_ADVANTAGE_, advantage, NULL, GRPO_FINITE_, GRPO_NULL_ADVANTAGE, GRPO_BAD_ADVANTAGE },
    };
    int64_t begin, end;
    size_t k;
    if (b->n_groups == 0) return GRPO_OK;
    begin = b->group_begin[0]; end = b->group_begin[b->n_groups];
    for (k = 0; k < sizeof token / sizeof *token; k++)
        if ((needs & token[k].bit) && !token[k].x) return token[k].null;
    if ((needs & GRPO_NEED_REWARD_) && !b->reward) return GRPO_NULL_REWARD;
    if ((needs & GRPO_NEED_BASELINE_) && !b->baseline) return GRPO_NULL_BASELINE;
    if ((needs & GRPO_NEED_TRUNCATED_) && !b->truncated) return GRPO_NULL_TRUNCATED;
    for (k = 0; k < sizeof token / sizeof *token; k++)
        if (((needs | reads) & token[k].bit) && token[k].x && !grpo_tokens_in_domain_(b, token[k].x, token[k].where, token[k].domain))
            return token[k].bad;
    if ((needs & GRPO_NEED_REWARD_) && !grpo_all_in_domain_(b->reward, begin, end, GRPO_MODERATE_)) return GRPO_BAD_REWARD;
    if ((needs & GRPO_NEED_BASELINE_) && !grpo_all_in_domain_(b->baseline, 0, b->n_groups, GRPO_MODERATE_)) return GRPO_BAD_BASELINE;
    return GRPO_OK;
}

static double grpo_reward_kl_(const grpo_objective *o, const grpo_batch *b, int64_t t);
static double grpo_shaped_reward_(const grpo_objective *o, const grpo_batch *b, int64_t i);

/* what objective.reward does to rewards must stay in their domain: of a -inf log-probability it may not */
static grpo_status grpo_check_shaped_(const grpo_objective *o, const grpo_batch *b)
{
    int64_t i, t;
    if (b->n_groups == 0) return GRPO_OK;
    for (i = b->group_begin[0]; i < b->group_begin[b->n_groups]; i++) {
        for (t = b->offset[i]; o->reward.kl != GRPO_KL_NONE && t < b->offset[i] + b->length[i]; t++)
            if ((!b->mask || b->mask[t]) && !grpo_in_domain_(o->reward.kl_coef * grpo_reward_kl_(o, b, t), GRPO_MODERATE_)) return GRPO_BAD_SHAPED_REWARD;
        if (o->advantage.credit != GRPO_CREDIT_STEP && !grpo_in_domain_(grpo_shaped_reward_(o, b, i), GRPO_MODERATE_)) return GRPO_BAD_SHAPED_REWARD;
    }
    return GRPO_OK;
}

static grpo_status grpo_check_(const grpo_objective *o, const grpo_batch *b, const grpo_real *advantage, int needs, int reads)
{
    grpo_status st = grpo_objective_check(o);
    if (!st) st = grpo_check_layout_(b);
    if (!st) st = grpo_check_arrays_(b, advantage, needs, reads);
    return st;
}

static void grpo_put_(grpo_real *out, int64_t t, double x, int *overflow)
{
    if (!grpo_is_finite(x)) *overflow = 1;
#ifdef GRPO_DOUBLE
    out[t] = x;
#else
    if (x > FLT_MAX || x < -FLT_MAX) {                                 /* the halfway point to 2^128 rounds up */
        int inf = fabs(x) >= 3.4028235677973366e38;
        if (inf) *overflow = 1;
        out[t] = x > 0 ? (inf ? (float)HUGE_VAL : FLT_MAX) : (inf ? -(float)HUGE_VAL : -FLT_MAX);
    } else out[t] = (float)x;
#endif
}

/* ---- axes 1 and 2: rewards to advantages --------------------------------------------------------------------------------------- */

static double grpo_reward_kl_(const grpo_objective *o, const grpo_batch *b, int64_t t)
{
    return grpo_kl(o->reward.kl, grpo_two_diff((double)b->logp_old[t], (double)b->logp_ref[t])).value;
}

/* R_i */
static double grpo_shaped_reward_(const grpo_objective *o, const grpo_batch *b, int64_t i)
{
    grpo_sum s;
    int64_t t;
    const grpo_reward *r = &o->reward;
    double penalty = grpo_overlong(r->overlong, (double)b->length[i], r->overlong_max, r->overlong_cache, r->overlong_factor);
    if (r->kl == GRPO_KL_NONE || r->kl_coef == 0 || o->advantage.credit != GRPO_CREDIT_OUTCOME) return (double)b->reward[i] + penalty;
    memset(&s, 0, sizeof s);
    for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++)
        if (!b->mask || b->mask[t]) grpo_sum_add_dd_(&s, grpo_two_prod(-r->kl_coef, grpo_reward_kl_(o, b, t)));
    grpo_sum_add_(&s, (double)b->reward[i]);
    grpo_sum_add_(&s, penalty);
    return grpo_sum_value_(&s);
}

/* statistics of the items of a group */
typedef struct {
    grpo_moments m;
    grpo_sum weighted;          /* sum T R */
    int64_t weight;             /* sum T */
    int64_t index;              /* of the group */
    grpo_dd sum, weighted_sum;
    double variance;
} grpo_group_;

typedef struct {
    const grpo_objective *obj;
    const grpo_batch *batch;
    grpo_dd batch_sum;
    double batch_variance, gain;
    int64_t batch_count;
} grpo_crediting_;

static void grpo_moments_take_(grpo_moments *m, double x)
{
    if (m->count == 0 || x < m->min) m->min = x;
    if (m->count == 0 || x > m->max) m->max = x;
    m->count++;
    grpo_sum_add_(&m->sum, x);
    grpo_sum_add_dd_(&m->squares, grpo_two_prod(x, x));
}

/* (n sum x^2 - (sum x)^2)/(n (n-1) or n^2), from exact sums: no offset of x can hurt; exactly 0 iff all x are equal */
static double grpo_variance_(const grpo_moments *m, grpo_std_kind kind)
{
    double s[4], q[4], n = (double)m->count;
    grpo_sum acc;
    int j, k;
    if (m->count < 2 || m->min == m->max) return 0;
    memset(&acc, 0, sizeof acc);
    grpo_sum_expand_(&m->sum, s, 4);
    grpo_sum_expand_(&m->squares, q, 4);
    for (j = 0; j < 4; j++) grpo_sum_add_dd_(&acc, grpo_two_prod(n, q[j]));
    for (j = 0; j < 4; j++) for (k = 0; k < 4; k++) grpo_sum_add_dd_(&acc, grpo_two_prod(-s[j], s[k]));
    return grpo_sum_value_(&acc) / (n * (kind == GRPO_STD_SAMPLE ? n - 1 : n));
}

static int64_t grpo_unmasked_(const grpo_batch *b, int64_t i)
{
    int64_t t, n = 0;
    if (!b->mask) return b->length[i];
    for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) n += b->mask[t] != 0;
    return n;
}

static void grpo_group_take_(grpo_group_ *s, double value, int64_t tokens)
{
    grpo_moments_take_(&s->m, value);
    s->weight += tokens;
    grpo_sum_add_dd_(&s->weighted, grpo_two_prod((double)tokens, value));
}

static void grpo_group_of_(const grpo_objective *o, const grpo_batch *b, int64_t g, grpo_group_ *s)
{
    int64_t i, t;
    memset(s, 0, sizeof *s);
    s->index = g;
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        int64_t tokens = grpo_unmasked_(b, i);
        if (o->advantage.credit != GRPO_CREDIT_STEP) grpo_group_take_(s, grpo_shaped_reward_(o, b, i), tokens);
        else for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++)
            if (b->step_end[t] && (!b->mask || b->mask[t])) grpo_group_take_(s, (double)b->step_reward[t], tokens);
    }
    s->sum = grpo_sum_dd_(&s->m.sum);
    s->weighted_sum = grpo_sum_dd_(&s->weighted);
    s->variance = grpo_variance_(&s->m, o->advantage.std);
}

static int grpo_baseline_is_of_group_(grpo_baseline_kind k)
{
    return k == GRPO_BASELINE_GROUP_MEAN || k == GRPO_BASELINE_LEAVE_ONE_OUT || k == GRPO_BASELINE_LENGTH_WEIGHTED;
}

static grpo_dd grpo_dd_of_(double x) { grpo_dd r; r.hi = x; r.lo = 0; return r; }
static grpo_dd grpo_dd_minus_(grpo_dd a, grpo_dd b) { b.hi = -b.hi; b.lo = -b.lo; return grpo_dd_add(a, b); }

/* R - b as numerator and divisor, so that it is rounded only once */
static grpo_dd grpo_centred_(const grpo_objective *o, const grpo_batch *b, const grpo_group_ *s, double R, double *divisor)
{
    double n = (double)s->m.count;
    *divisor = 1;
    if (s->m.count == 1 && grpo_baseline_is_of_group_(o->advantage.baseline)) return grpo_dd_of_(R);     /* singleton raw */
    switch (o->advantage.baseline) {
    case GRPO_BASELINE_GROUP_MEAN:
    case GRPO_BASELINE_LEAVE_ONE_OUT:
        *divisor = o->advantage.baseline == GRPO_BASELINE_GROUP_MEAN ? n : n - 1;
        return s->m.min == s->m.max ? grpo_dd_of_(0) : grpo_dd_minus_(grpo_two_prod(n, R), s->sum);
    case GRPO_BASELINE_LENGTH_WEIGHTED:
        if (s->weight == 0) break;
        *divisor = (double)s->weight;
        return s->m.min == s->m.max ? grpo_dd_of_(0) : grpo_dd_minus_(grpo_two_prod(*divisor, R), s->weighted_sum);
    case GRPO_BASELINE_GIVEN: return grpo_two_diff(R, (double)b->baseline[s->index]);
    default: break;
    }
    return grpo_dd_of_(R);
}

/* a = (R - b)/sigma, without gain */
static double grpo_item_(const grpo_crediting_ *c, const grpo_group_ *s, double R)
{
    const grpo_advantage *a = &c->obj->advantage;
    double divisor, variance = 0;
    int single = s->m.count == 1;
    grpo_dd x;
    if (single && a->singleton == GRPO_SINGLETON_ZERO && (grpo_baseline_is_of_group_(a->baseline) || a->scale == GRPO_SCALE_GROUP_STD)) return 0;
    x = grpo_centred_(c->obj, c->batch, s, R, &divisor);
    switch (a->scale) {
    case GRPO_SCALE_NONE:
    case GRPO_SCALE_TOKEN_WHITEN: return x.hi / divisor;
    case GRPO_SCALE_GROUP_STD: variance = single ? 1 : s->variance; break;
    case GRPO_SCALE_BATCH_STD:
    case GRPO_SCALE_BATCH_CENTRED_STD: variance = c->batch_variance; break;
    }
    return variance == 0 ? 0 : x.hi / (divisor * grpo_deviation(variance, a->eps, a->eps_place));
}

/* token reward rho_t of credit return, step and gae; a: the sequence's item */
static grpo_dd grpo_token_reward_(const grpo_crediting_ *c, const grpo_group_ *s, int64_t t, int last, double a)
{
    const grpo_objective *o = c->obj;
    const grpo_batch *b = c->batch;
    grpo_dd rho = grpo_dd_of_(0);
    if (o->advantage.credit != GRPO_CREDIT_STEP) { if (last) rho.hi = a; }
    else if (b->step_end[t]) rho.hi = c->gain * grpo_item_(c, s, (double)b->step_reward[t]);
    if (o->reward.kl != GRPO_KL_NONE && o->reward.kl_coef != 0) rho = grpo_dd_add(rho, grpo_two_prod(-o->reward.kl_coef, grpo_reward_kl_(o, b, t)));
    return rho;
}

static double grpo_whitened_(const grpo_crediting_ *c, double A)
{
    const grpo_advantage *a = &c->obj->advantage;
    double n = (double)c->batch_count;
    if (c->batch_variance == 0) return 0;
    return grpo_dd_minus_(grpo_two_prod(n, A), c->batch_sum).hi / (n * grpo_deviation(c->batch_variance, a->eps, a->eps_place));
}

/* credits sequence i: its A go to `collect` before whitening, or are written to `advantage` */
static void grpo_credit_(const grpo_crediting_ *c, const grpo_group_ *s, int64_t i, grpo_moments *collect, grpo_real *advantage)
{
    const grpo_batch *b = c->batch;
    const grpo_advantage *a = &c->obj->advantage;
    double item = a->credit == GRPO_CREDIT_STEP ? 0 : c->gain * grpo_item_(c, s, grpo_shaped_reward_(c->obj, b, i)), v_next = 0;
    grpo_dd G = grpo_dd_of_(0);
    int64_t t;
    int last = 1, overflow = 0;
    for (t = b->offset[i] + b->length[i] - 1; t >= b->offset[i]; t--) {
        double A = 0;
        if (b->mask && !b->mask[t]) { if (advantage) advantage[t] = 0; continue; }
        if (a->credit == GRPO_CREDIT_OUTCOME) A = item;
        else {
            grpo_dd rho = grpo_token_reward_(c, s, t, last, item);
            if (a->credit == GRPO_CREDIT_GAE) {
                rho = grpo_dd_minus_(grpo_dd_add(rho, grpo_two_prod(a->gamma, v_next)), grpo_dd_of_((double)b->value[t]));
                v_next = (double)b->value[t];
                G = grpo_dd_mul(G, a->lambda);
            }
            G = grpo_dd_add(rho, grpo_dd_mul(G, a->gamma));
            A = G.hi;
            last = 0;
        }
        if (collect) grpo_moments_take_(collect, A);
        else grpo_put_(advantage, t, a->scale == GRPO_SCALE_TOKEN_WHITEN ? grpo_whitened_(c, A) : A, &overflow);
    }
}

static int grpo_needs_moments_(const grpo_advantage *a)
{
    return a->gain != GRPO_GAIN_NONE || (a->scale != GRPO_SCALE_NONE && a->scale != GRPO_SCALE_GROUP_STD);
}

static double grpo_gain_(grpo_gain_kind kind, const grpo_moments *m)
{
    int64_t valid = m->sequences - m->degenerate_sequences;
    switch (kind) {
    case GRPO_GAIN_VALID_GROUPS: return valid ? (double)m->sequences / (double)valid : 1;
    case GRPO_GAIN_NONZERO_REWARDS: return (double)m->sequences / (double)(m->nonzero_items ? m->nonzero_items : 1);
    default: return 1;
    }
}

/* the items of one group, or its tokens, into the batch's moments */
static void grpo_moments_of_group_(const grpo_crediting_ *c, const grpo_group_ *s, grpo_moments *m)
{
    const grpo_batch *b = c->batch;
    const grpo_scale_kind scale = c->obj->advantage.scale;
    int64_t i, t, g = s->index;
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        int step = c->obj->advantage.credit == GRPO_CREDIT_STEP;
        if (scale == GRPO_SCALE_TOKEN_WHITEN) grpo_credit_(c, s, i, m, NULL);
        for (t = step ? b->offset[i] : 0; t < (step ? b->offset[i] + b->length[i] : 1); t++) {
            double R, divisor;
            if (step && !(b->step_end[t] && (!b->mask || b->mask[t]))) continue;
            R = step ? (double)b->step_reward[t] : grpo_shaped_reward_(c->obj, b, i);
            m->items++;
            m->nonzero_items += R != 0;
            if (scale == GRPO_SCALE_BATCH_STD) grpo_moments_take_(m, R);
            if (scale == GRPO_SCALE_BATCH_CENTRED_STD) {
                grpo_dd x = grpo_centred_(c->obj, b, s, R, &divisor);
                int zero = s->m.count == 1 && c->obj->advantage.singleton == GRPO_SINGLETON_ZERO
                           && grpo_baseline_is_of_group_(c->obj->advantage.baseline);
                grpo_moments_take_(m, zero ? 0 : x.hi / divisor);
            }
        }
        m->sequences++;
        m->degenerate_sequences += s->m.min == s->m.max;
    }
}

grpo_status grpo_moments_add(const grpo_objective *obj, const grpo_batch *batch, grpo_moments *moments)
{
    grpo_crediting_ c;
    grpo_group_ s;
    grpo_status st;
    int64_t g;
    if (!obj) return GRPO_NULL_OBJECTIVE;
    if (!moments) return GRPO_NULL_OUTPUT;
    st = grpo_check_(obj, batch, NULL, grpo_advantage_needs_(obj), 0);
    if (!st) st = grpo_check_shaped_(obj, batch);
    if (st) return st;
    memset(&c, 0, sizeof c);
    c.obj = obj; c.batch = batch; c.gain = 1;
    for (g = 0; g < batch->n_groups; g++) {
        grpo_group_of_(obj, batch, g, &s);
        grpo_moments_of_group_(&c, &s, moments);
    }
    return GRPO_OK;
}

grpo_status grpo_advantages_with(const grpo_objective *obj, const grpo_batch *batch, const grpo_moments *moments, grpo_real *advantage)
{
    grpo_crediting_ c;
    grpo_group_ s;
    grpo_status st;
    int64_t g, i;
    if (!obj) return GRPO_NULL_OBJECTIVE;
    if (!advantage || (!moments && grpo_needs_moments_(&obj->advantage))) return GRPO_NULL_OUTPUT;
    st = grpo_check_(obj, batch, NULL, grpo_advantage_needs_(obj), 0);
    if (!st) st = grpo_check_shaped_(obj, batch);
    if (st) return st;
    memset(&c, 0, sizeof c);
    c.obj = obj; c.batch = batch; c.gain = 1;
    if (grpo_needs_moments_(&obj->advantage)) {
        /* whitening undoes a gain but for eps: statistics are those of A without it, scaled */
        double gain = grpo_gain_(obj->advantage.gain, moments);
        int whiten = obj->advantage.scale == GRPO_SCALE_TOKEN_WHITEN;
        c.gain = gain;
        c.batch_count = moments->count;
        c.batch_variance = grpo_variance_(moments, obj->advantage.std) * (whiten ? gain * gain : 1);
        c.batch_sum = grpo_dd_mul(grpo_sum_dd_(&moments->sum), whiten ? gain : 1);
    }
    for (g = 0; g < batch->n_groups; g++) {
        grpo_group_of_(obj, batch, g, &s);
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) grpo_credit_(&c, &s, i, NULL, advantage);
    }
    return GRPO_OK;
}

grpo_status grpo_advantages(const grpo_objective *obj, const grpo_batch *batch, grpo_real *advantage)
{
    grpo_moments m;
    grpo_status st;
    if (!obj) return GRPO_NULL_OBJECTIVE;
    if (!advantage) return GRPO_NULL_OUTPUT;
    memset(&m, 0, sizeof m);
    if (!grpo_needs_moments_(&obj->advantage)) return grpo_advantages_with(obj, batch, NULL, advantage);
    st = grpo_moments_add(obj, batch, &m);
    return st ? st : grpo_advantages_with(obj, batch, &m, advantage);
}

grpo_status grpo_informative(const grpo_batch *batch, uint8_t *keep)
{
    grpo_status st = grpo_check_layout_(batch);
    int64_t g, i;
    if (st) return st;
    if (!keep) return GRPO_NULL_OUTPUT;
    st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) {
        keep[g] = 0;
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++)
            if ((double)batch->reward[i] != (double)batch->reward[batch->group_begin[g]]) keep[g] = 1;
    }
    return GRPO_OK;
}

/* ---- axis 6: which tokens count ------------------------------------------------------------------------------------------------ */

typedef struct {
    int64_t begin, end;             /* tokens */
    int64_t count;                  /* that count */
    int64_t rejected;
    int off;                        /* the whole sequence is masked as truncated */
    grpo_corrected correction;      /* when its unit is the sequence */
} grpo_sequence_;

typedef struct { int counts; grpo_corrected correction; } grpo_token_;

static grpo_dd grpo_correction_log_(const grpo_objective *o, const grpo_batch *b, int64_t t, int *passes)
{
    double c = o->weight.correction_clamp;
    return grpo_clamp(grpo_two_diff((double)b->logp_old[t], (double)b->logp_rollout[t]), -c, c, passes);
}

static grpo_token_ grpo_token_at_(const grpo_objective *o, const grpo_batch *b, const grpo_sequence_ *s, int64_t t)
{
    grpo_token_ k;
    int passes;
    k.counts = !s->off && (!b->mask || b->mask[t]);
    k.correction = s->correction;
    if (!k.counts) return k;
    if (o->weight.correction != GRPO_CORRECTION_NONE && o->weight.correction_unit == GRPO_CORRECTION_TOKEN)
        k.correction = grpo_correct(&o->weight, grpo_ratio_exp(grpo_correction_log_(o, b, t, &passes)));
    return k;
}

/* after grpo_token_at_: does the band take the token out of the mask? */
static int grpo_unmasks_(const grpo_objective *o, const grpo_token_ *k)
{
    return o->weight.rejected == GRPO_REJECTED_UNMASK && !k->correction.inside
        && (o->weight.correction == GRPO_CORRECTION_MASK || o->weight.correction == GRPO_CORRECTION_REJECT);
}

static grpo_corrected grpo_sequence_correction_(const grpo_objective *o, const grpo_batch *b, const grpo_sequence_ *s)
{
    grpo_sum sum;
    grpo_dd q;
    int64_t t, n = 0;
    int passes;
    memset(&sum, 0, sizeof sum);
    for (t = s->begin; t < s->end; t++) {
        if (b->mask && !b->mask[t]) continue;
        q = grpo_correction_log_(o, b, t, &passes);
        if (passes) grpo_sum_add_diff_(&sum, (double)b->logp_old[t], (double)b->logp_rollout[t]);
        else grpo_sum_add_dd_(&sum, q);
        n++;
    }
    q = grpo_sum_dd_(&sum);
    if (o->weight.correction_unit == GRPO_CORRECTION_SEQUENCE_MEAN && n) q = grpo_dd_div(q, (double)n);
    return grpo_correct(&o->weight, grpo_ratio_exp(q));
}

static grpo_sequence_ grpo_sequence_at_(const grpo_objective *o, const grpo_batch *b, int64_t i)
{
    grpo_sequence_ s;
    int64_t t;
    s.begin = b->offset[i]; s.end = s.begin + b->length[i];
    s.count = s.rejected = 0;
    s.off = o->weight.truncated == GRPO_TRUNCATED_MASK && b->truncated[i];
    s.correction.value = 1; s.correction.inside = 1;
    if (!s.off && o->weight.correction != GRPO_CORRECTION_NONE && o->weight.correction_unit != GRPO_CORRECTION_TOKEN)
        s.correction = grpo_sequence_correction_(o, b, &s);
    for (t = s.begin; t < s.end; t++) {
        grpo_token_ k = grpo_token_at_(o, b, &s, t);
        if (!k.counts) continue;
        s.rejected += !k.correction.inside && o->weight.correction != GRPO_CORRECTION_TRUNCATE;
        s.count += !grpo_unmasks_(o, &k);
    }
    return s;
}

grpo_status grpo_count(const grpo_objective *obj, const grpo_batch *batch, grpo_totals *totals)
{
    grpo_status st;
    int64_t g, i;
    if (!obj) return GRPO_NULL_OBJECTIVE;
    if (!totals) return GRPO_NULL_OUTPUT;
    st = grpo_check_(obj, batch, NULL, grpo_count_needs_(obj), 0);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) {
        int64_t tokens = 0;
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            int64_t n = grpo_sequence_at_(obj, batch, i).count;
            tokens += n;
            totals->sequences++;
            totals->sequences_nonempty += n > 0;
        }
        totals->tokens += tokens;
        totals->groups++;
        totals->groups_nonempty += tokens > 0;
    }
    return GRPO_OK;
}

/* ---- evaluation ---------------------------------------------------------------------------------------------------------------- */

typedef struct {
    const grpo_objective *obj;
    const grpo_batch *batch;
    const grpo_real *advantage;
    grpo_output out;
    grpo_partial *partial;
    grpo_range range;
    int uses_ratio;
    double local, divisor, factor;     /* a coefficient is factor/(local divisor) */
} grpo_run_;

/* evaluates one sequence; grpo.h has the one for token ratios, gspo.h the one for sequences */
typedef void (*grpo_evaluate_)(grpo_run_ *run, const grpo_sequence_ *s);

/* the policy in the ratio's denominator */
static const grpo_real *grpo_old_(const grpo_run_ *r)
{
    return r->obj->ratio.against == GRPO_AGAINST_OLD ? r->batch->logp_old : r->batch->logp_rollout;
}

/* d_t of axis 3 */
static grpo_dd grpo_log_ratio_(const grpo_run_ *r, int64_t t, int *passes)
{
    const grpo_ratio_axis *a = &r->obj->ratio;
    return grpo_clamp(grpo_two_diff((double)r->batch->logp[t], (double)grpo_old_(r)[t]), a->clamp_low, a->clamp_high, passes);
}

static grpo_term grpo_scaled_(grpo_term t, double v)
{
    t.value = grpo_times(v, t.value);
    t.d_log_ratio = grpo_times(v, t.d_log_ratio);
    t.d_logp = grpo_times(v, t.d_logp);
    return t;
}

static grpo_term grpo_token_policy_(const grpo_run_ *r, int64_t t, grpo_ratio w, double v)
{
    return grpo_scaled_(grpo_surrogate_term(&r->obj->surrogate, r->range, w, (double)r->advantage[t], (double)r->batch->logp[t]), v);
}

static grpo_term grpo_token_penalty_(const grpo_run_ *r, int64_t t, grpo_ratio w)
{
    const grpo_penalty *p = &r->obj->penalty;
    double l = (double)r->batch->logp[t], own = 1;
    grpo_term none = { 0, 0, 0, GRPO_CLIP_NO };
    if (p->kl == GRPO_KL_NONE) return none;
    if (p->kl_ratio == GRPO_KL_RATIO_TOKEN) own = grpo_ratio_of(l, (double)grpo_old_(r)[t]).value;
    return grpo_kl_penalty(p, l, (double)r->batch->logp_ref[t], own, w.value);
}

static void grpo_write_(const grpo_run_ *r, grpo_real *out, int64_t t, double x)
{
    if (out) grpo_put_(out, t, x, &r->partial->overflow);
}

static void grpo_write_gradient_(const grpo_run_ *r, int64_t t, double g)
{
    grpo_write_(r, r->out.dlogp, t, g * r->factor / r->local / r->divisor);
}

/* everything the report takes from one token */
static void grpo_report_token_(grpo_run_ *r, int64_t t, grpo_ratio w, double v, const grpo_term *policy, const grpo_term *penalty)
{
    const double cap = ldexp(1, 500);
    const grpo_batch *b = r->batch;
    grpo_partial *p = r->partial;
    double l = (double)b->logp[t], capped = w.value < cap ? w.value : cap;
    if (p->tokens == 0 || w.value < p->ratio_min) p->ratio_min = w.value;
    if (p->tokens == 0 || w.value > p->ratio_max) p->ratio_max = w.value;
    p->tokens++;
    p->clips[policy->clip]++;
    grpo_sum_add_(&p->sum[GRPO_SUM_POLICY], policy->value / r->local);
    if (r->obj->penalty.kl != GRPO_KL_NONE) grpo_sum_add_(&p->sum[GRPO_SUM_PENALTY], penalty->value / r->local);
    if (r->uses_ratio) {
        p->ratio_tokens++;
        grpo_sum_add_(&p->sum[GRPO_SUM_RATIO], capped);
        grpo_sum_add_(&p->sum[GRPO_SUM_RATIO_SQUARED], capped * capped);
        if (w.value > cap) { grpo_sum_add_(&p->sum[GRPO_SUM_RATIO_EXCESS], w.value); grpo_sum_add_(&p->sum[GRPO_SUM_RATIO_EXCESS], -cap); }
    }
    if (b->logp_old) {
        grpo_dd x = grpo_two_diff(l, (double)b->logp_old[t]);
        grpo_sum_add_diff_(&p->sum[GRPO_SUM_OLD_K1], (double)b->logp_old[t], l);
        grpo_sum_add_(&p->sum[GRPO_SUM_OLD_K3], grpo_exp_minus_linear(x));
    }
    if (b->logp_ref) {
        grpo_dd D = grpo_two_diff(l, (double)b->logp_ref[t]);
        grpo_sum_add_diff_(&p->sum[GRPO_SUM_KL_K1], l, (double)b->logp_ref[t]);
        grpo_sum_add_(&p->sum[GRPO_SUM_KL_K2], grpo_kl(GRPO_KL_K2, D).value);
        grpo_sum_add_(&p->sum[GRPO_SUM_KL_K3], grpo_kl(GRPO_KL_K3, D).value);
    }
    if (b->entropy) grpo_sum_add_(&p->sum[GRPO_SUM_ENTROPY], (double)b->entropy[t]);
    if (r->obj->weight.correction != GRPO_CORRECTION_NONE) { p->weight_tokens++; grpo_sum_add_(&p->sum[GRPO_SUM_WEIGHT], v); }
}

static void grpo_skip_token_(grpo_run_ *r, int64_t t)
{
    r->partial->masked_tokens++;
    grpo_write_(r, r->out.term, t, 0);
    grpo_write_(r, r->out.dlogp, t, 0);
}

/* is token t of s counted, and with which weight? */
static int grpo_counted_(const grpo_run_ *r, const grpo_sequence_ *s, int64_t t, double *v)
{
    grpo_token_ k = grpo_token_at_(r->obj, r->batch, s, t);
    *v = k.correction.value;
    return k.counts && !grpo_unmasks_(r->obj, &k);
}

static void grpo_evaluate_tokens_(grpo_run_ *r, const grpo_sequence_ *s)
{
    const grpo_ratio_axis *a = &r->obj->ratio;
    int64_t t;
    for (t = s->begin; t < s->end; t++) {
        grpo_ratio w = { 0, 0, 1 };
        grpo_term policy, penalty;
        double v;
        int passes = 1, unit_passes = 1;
        if (!grpo_counted_(r, s, t, &v)) { grpo_skip_token_(r, t); continue; }
        if (r->uses_ratio)
            w = grpo_ratio_exp(grpo_clamp(grpo_log_ratio_(r, t, &passes), a->unit_clamp_low, a->unit_clamp_high, &unit_passes));
        policy = grpo_token_policy_(r, t, w, v);
        penalty = grpo_token_penalty_(r, t, w);
        if (!passes || !unit_passes) policy.d_log_ratio = penalty.d_log_ratio = 0;
        grpo_write_(r, r->out.term, t, grpo_plus(policy.value, penalty.value));
        grpo_write_gradient_(r, t, grpo_plus(grpo_plus(policy.d_logp, penalty.d_logp), grpo_plus(policy.d_log_ratio, penalty.d_log_ratio)));
        grpo_report_token_(r, t, w, v, &policy, &penalty);
    }
}

static double grpo_at_least_one_(double x) { return x > 0 ? x : 1; }

/* axis 7: the divisor that all terms share */
static double grpo_divisor_(const grpo_aggregation *a, const grpo_totals *n)
{
    int skip = a->empty == GRPO_EMPTY_SKIP;
    double sequences = grpo_at_least_one_((double)(skip ? n->sequences_nonempty : n->sequences));
    double groups = grpo_at_least_one_((double)(skip ? n->groups_nonempty : n->groups));
    switch (a->kind) {
    case GRPO_TOKEN_MEAN:            return grpo_at_least_one_((double)n->tokens);
    case GRPO_SEQ_MEAN_TOKEN_MEAN:
    case GRPO_SEQ_MEAN_TOKEN_SUM:    return sequences;
    case GRPO_SEQ_MEAN_CONSTANT:     return sequences * a->constant;
    case GRPO_CONSTANT:              return a->constant;
    case GRPO_GROUP_MEAN_TOKEN_MEAN: return groups;
    default:                         return 1;
    }
}

/* and the one of this sequence */
static double grpo_local_divisor_(const grpo_aggregation *a, int64_t sequence_tokens, int64_t group_tokens)
{
    switch (a->kind) {
    case GRPO_SEQ_MEAN_TOKEN_MEAN:   return grpo_at_least_one_((double)sequence_tokens);
    case GRPO_GROUP_MEAN_TOKEN_MEAN: return grpo_at_least_one_((double)group_tokens);
    default:                         return 1;
    }
}

static int64_t grpo_group_tokens_(const grpo_objective *o, const grpo_batch *b, int64_t g)
{
    int64_t i, n = 0;
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) n += grpo_sequence_at_(o, b, i).count;
    return n;
}

static int grpo_has_advantage_(const grpo_run_ *r, const grpo_sequence_ *s)
{
    int64_t t;
    double v;
    for (t = s->begin; t < s->end; t++)
        if (r->advantage[t] != 0 && grpo_counted_(r, s, t, &v)) return 1;
    return 0;
}

static void grpo_run_group_(grpo_run_ *r, int64_t g, grpo_evaluate_ evaluate)
{
    const grpo_batch *b = r->batch;
    const grpo_aggregation *a = &r->obj->aggregation;
    int64_t i, before = r->partial->tokens, tokens = a->kind == GRPO_GROUP_MEAN_TOKEN_MEAN ? grpo_group_tokens_(r->obj, b, g) : 0;
    int any = 0;
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        grpo_sequence_ s = grpo_sequence_at_(r->obj, b, i);
        r->local = grpo_local_divisor_(a, s.count, tokens);
        r->partial->sequences += s.count > 0;
        r->partial->rejected_tokens += s.rejected;
        if (!any) any = grpo_has_advantage_(r, &s);
        evaluate(r, &s);
    }
    r->partial->groups += r->partial->tokens > before;
    r->partial->degenerate_groups += r->partial->tokens > before && !any;
}

static int grpo_totals_cover_(const grpo_totals *all, const grpo_totals *part)
{
    return all->tokens >= part->tokens && all->sequences >= part->sequences && all->sequences_nonempty >= part->sequences_nonempty
        && all->groups >= part->groups && all->groups_nonempty >= part->groups_nonempty && all->ranks >= 0;
}

static grpo_status grpo_run_batch_(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals,
                                   const grpo_output *out, grpo_partial *partial, grpo_evaluate_ evaluate)
{
    grpo_run_ r;
    grpo_totals own;
    grpo_status st;
    int64_t g;
    if (!obj) return GRPO_NULL_OBJECTIVE;
    if (!partial) return GRPO_NULL_OUTPUT;
    st = grpo_check_(obj, batch, advantage, grpo_loss_needs_(obj), GRPO_NEED_OLD_ | GRPO_NEED_REF_);
    if (st) return st;
    if (batch->n_groups && batch->entropy && !grpo_tokens_in_domain_(batch, batch->entropy, NULL, GRPO_FINITE_)) return GRPO_BAD_ENTROPY;
    memset(&own, 0, sizeof own);
    st = grpo_count(obj, batch, &own);
    if (st) return st;
    if (totals && !grpo_totals_cover_(totals, &own)) return GRPO_BAD_TOTALS;
    memset(&r, 0, sizeof r);
    r.obj = obj; r.batch = batch; r.advantage = advantage; r.partial = partial;
    if (out) r.out = *out;
    r.range = grpo_clip_range(obj->surrogate.eps_low, obj->surrogate.eps_high);
    r.uses_ratio = grpo_uses_ratio_(obj);
    r.divisor = grpo_divisor_(&obj->aggregation, totals ? totals : &own);
    r.factor = totals && totals->ranks ? (double)totals->ranks : 1;
    if (partial->divisor != 0 && (partial->divisor != r.divisor || partial->factor != r.factor)) return GRPO_MIXED_PARTIALS;
    partial->divisor = r.divisor; partial->factor = r.factor;
    for (g = 0; g < batch->n_groups; g++) grpo_run_group_(&r, g, evaluate);
    return GRPO_OK;
}

/* grpo_loss and gspo_loss in terms of their _add */
static grpo_status grpo_run_once_(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals,
                                  grpo_real *dlogp, grpo_report *report, grpo_evaluate_ evaluate)
{
    grpo_partial partial;
    grpo_output out;
    grpo_status st;
    memset(&partial, 0, sizeof partial);
    out.dlogp = dlogp; out.term = NULL;
    if (!obj) return GRPO_NULL_OBJECTIVE;
    if (!report) return GRPO_NULL_OUTPUT;
    st = grpo_run_batch_(obj, batch, advantage, totals, &out, &partial, evaluate);
    if (!st) grpo_report_of(&partial, report);
    return st;
}

/* a sequence unit; a number that is no unit is left to the checks */
static int grpo_is_of_gspo_(const grpo_objective *obj)
{
    return obj && (obj->ratio.unit == GRPO_UNIT_SEQUENCE_MEAN || obj->ratio.unit == GRPO_UNIT_SEQUENCE_SUM
                   || obj->ratio.unit == GRPO_UNIT_SEQUENCE_CLIPPED_MEAN);
}

grpo_status grpo_loss_add(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                          const grpo_totals *totals, const grpo_output *out, grpo_partial *partial)
{
    if (grpo_is_of_gspo_(obj)) return GRPO_NEEDS_GSPO;
    return grpo_run_batch_(obj, batch, advantage, totals, out, partial, grpo_evaluate_tokens_);
}

grpo_status grpo_loss(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                      const grpo_totals *totals, grpo_real *dlogp, grpo_report *report)
{
    if (grpo_is_of_gspo_(obj)) return GRPO_NEEDS_GSPO;
    return grpo_run_once_(obj, batch, advantage, totals, dlogp, report, grpo_evaluate_tokens_);
}

grpo_status grpo_partial_merge(grpo_partial *into, const grpo_partial *from)
{
    int k;
    if (!into || !from) return GRPO_NULL_OUTPUT;
    if (from->divisor == 0) return GRPO_OK;
    if (into->divisor != 0 && (into->divisor != from->divisor || into->factor != from->factor)) return GRPO_MIXED_PARTIALS;
    into->divisor = from->divisor; into->factor = from->factor;
    for (k = 0; k < GRPO_N_SUMS; k++) grpo_sum_merge_(&into->sum[k], &from->sum[k]);
    if (from->tokens && (!into->tokens || from->ratio_min < into->ratio_min)) into->ratio_min = from->ratio_min;
    if (from->tokens && (!into->tokens || from->ratio_max > into->ratio_max)) into->ratio_max = from->ratio_max;
    into->tokens += from->tokens;
    into->ratio_tokens += from->ratio_tokens;
    into->weight_tokens += from->weight_tokens;
    into->sequences += from->sequences;
    into->groups += from->groups;
    into->masked_tokens += from->masked_tokens;
    into->rejected_tokens += from->rejected_tokens;
    into->degenerate_groups += from->degenerate_groups;
    for (k = 0; k < 4; k++) into->clips[k] += from->clips[k];
    into->overflow |= from->overflow;
    return GRPO_OK;
}

static double grpo_part_of_(int64_t part, int64_t whole) { return whole ? (double)part / (double)whole : 0; }

static double grpo_noted_(double x, grpo_report *r)
{
    if (!grpo_is_finite(x)) r->overflow = 1;
    return x;
}

static double grpo_total_over_(const grpo_sum *a, const grpo_sum *b, double divisor, grpo_report *r)
{
    grpo_sum s = *a;
    if (b) grpo_sum_merge_(&s, b);
    return grpo_noted_(grpo_sum_total_(&s), r) / divisor;
}

void grpo_report_of(const grpo_partial *p, grpo_report *r)
{
    const grpo_sum *s = p->sum;
    double n = grpo_at_least_one_((double)p->tokens), divisor = p->divisor != 0 ? p->divisor : 1, sum, squares;
    double factor = p->factor != 0 ? p->factor : 1;
    memset(r, 0, sizeof *r);
    r->overflow = p->overflow;
    r->loss = factor * grpo_total_over_(&s[GRPO_SUM_POLICY], &s[GRPO_SUM_PENALTY], divisor, r);
    r->policy_loss = factor * grpo_total_over_(&s[GRPO_SUM_POLICY], NULL, divisor, r);
    r->penalty_loss = factor * grpo_total_over_(&s[GRPO_SUM_PENALTY], NULL, divisor, r);
    r->tokens = p->tokens; r->sequences = p->sequences; r->groups = p->groups;
    r->masked_tokens = p->masked_tokens; r->rejected_tokens = p->rejected_tokens; r->degenerate_groups = p->degenerate_groups;
    r->clip_low = grpo_part_of_(p->clips[GRPO_CLIP_LOW], p->tokens);
    r->clip_high = grpo_part_of_(p->clips[GRPO_CLIP_HIGH], p->tokens);
    r->clip_dual = grpo_part_of_(p->clips[GRPO_CLIP_DUAL], p->tokens);
    r->clip_fraction = grpo_part_of_(p->clips[GRPO_CLIP_LOW] + p->clips[GRPO_CLIP_HIGH] + p->clips[GRPO_CLIP_DUAL], p->tokens);
    r->old_k1 = grpo_noted_(grpo_sum_value_(&s[GRPO_SUM_OLD_K1]), r) / n;
    r->old_k3 = grpo_total_over_(&s[GRPO_SUM_OLD_K3], NULL, n, r);
    r->kl_k1 = grpo_noted_(grpo_sum_value_(&s[GRPO_SUM_KL_K1]), r) / n;
    r->kl_k2 = grpo_total_over_(&s[GRPO_SUM_KL_K2], NULL, n, r);
    r->kl_k3 = grpo_total_over_(&s[GRPO_SUM_KL_K3], NULL, n, r);
    r->entropy = grpo_total_over_(&s[GRPO_SUM_ENTROPY], NULL, n, r);
    sum = grpo_sum_total_(&s[GRPO_SUM_RATIO]);
    squares = grpo_sum_total_(&s[GRPO_SUM_RATIO_SQUARED]);
    r->ratio_mean = p->ratio_tokens ? grpo_total_over_(&s[GRPO_SUM_RATIO], &s[GRPO_SUM_RATIO_EXCESS], n, r) : 1;
    r->ratio_min = p->tokens ? p->ratio_min : 1;
    r->ratio_max = p->tokens ? p->ratio_max : 1;
    r->ess = squares > 0 ? (sum / n) * (sum / squares) : 1;
    r->weight_mean = p->weight_tokens ? grpo_total_over_(&s[GRPO_SUM_WEIGHT], NULL, n, r) : 1;
}

/* ---- fields, presets, names ---------------------------------------------------------------------------------------------------- */

const grpo_field *grpo_fields(int *count)
{
    static const grpo_field fields[] = {
#define GRPO_CHOICE_(path, choices) { #path, choices, offsetof(grpo_objective, path) }
#define GRPO_NUMBER_(path) { #path, NULL, offsetof(grpo_objective, path) }
        GRPO_CHOICE_(reward.overlong, "none|soft|linear"),
        GRPO_NUMBER_(reward.overlong_max), GRPO_NUMBER_(reward.overlong_cache), GRPO_NUMBER_(reward.overlong_factor),
        GRPO_CHOICE_(reward.kl, "none|k1|k2|k3|abs"), GRPO_NUMBER_(reward.kl_coef),
        GRPO_CHOICE_(advantage.credit, "outcome|return|step|gae"), GRPO_NUMBER_(advantage.gamma), GRPO_NUMBER_(advantage.lambda),
        GRPO_CHOICE_(advantage.baseline, "none|group_mean|leave_one_out|length_weighted|given"),
        GRPO_CHOICE_(advantage.scale, "none|group_std|batch_std|batch_centred_std|token_whiten"),
        GRPO_CHOICE_(advantage.std, "sample|population"),
        GRPO_NUMBER_(advantage.eps), GRPO_CHOICE_(advantage.eps_place, "add|inside|floor|floor_add"),
        GRPO_CHOICE_(advantage.singleton, "zero|raw"), GRPO_CHOICE_(advantage.gain, "none|valid_groups|nonzero_rewards"),
        GRPO_CHOICE_(ratio.unit, "token|sequence_mean|sequence_sum|sequence_clipped_mean"),
        GRPO_CHOICE_(ratio.gradient, "unit|token"), GRPO_CHOICE_(ratio.against, "old|rollout"),
        GRPO_NUMBER_(ratio.pool_low), GRPO_NUMBER_(ratio.pool_high), GRPO_NUMBER_(ratio.clamp_low), GRPO_NUMBER_(ratio.clamp_high),
        GRPO_NUMBER_(ratio.unit_clamp_low), GRPO_NUMBER_(ratio.unit_clamp_high),
        GRPO_CHOICE_(surrogate.kind, "score|ratio|ppo_clip|dual_clip|cispo|sapo|vespo"),
        GRPO_NUMBER_(surrogate.eps_low), GRPO_NUMBER_(surrogate.eps_high), GRPO_NUMBER_(surrogate.dual),
        GRPO_NUMBER_(surrogate.weight_min), GRPO_NUMBER_(surrogate.weight_max),
        GRPO_NUMBER_(surrogate.tau_pos), GRPO_NUMBER_(surrogate.tau_neg),
        GRPO_NUMBER_(surrogate.k_pos), GRPO_NUMBER_(surrogate.lambda_pos), GRPO_NUMBER_(surrogate.k_neg), GRPO_NUMBER_(surrogate.lambda_neg),
        GRPO_CHOICE_(penalty.kl, "none|k1|k2|k3|abs"), GRPO_CHOICE_(penalty.kl_gradient, "own|k2"),
        GRPO_CHOICE_(penalty.kl_ratio, "none|token|unit"),
        GRPO_NUMBER_(penalty.kl_coef), GRPO_NUMBER_(penalty.kl_clamp_log), GRPO_NUMBER_(penalty.kl_clamp_value),
        GRPO_CHOICE_(weight.truncated, "keep|mask"), GRPO_CHOICE_(weight.correction, "none|truncate|mask|reject"),
        GRPO_CHOICE_(weight.correction_unit, "token|sequence_sum|sequence_mean"),
        GRPO_NUMBER_(weight.correction_low), GRPO_NUMBER_(weight.correction_high), GRPO_NUMBER_(weight.correction_clamp),
        GRPO_CHOICE_(weight.rejected, "zero_weight|unmask"),
        GRPO_CHOICE_(aggregation.kind, "token_sum|token_mean|seq_mean_token_mean|seq_mean_token_sum|seq_mean_constant|constant|group_mean_token_mean"),
        GRPO_NUMBER_(aggregation.constant), GRPO_CHOICE_(aggregation.empty, "count|skip")
#undef GRPO_CHOICE_
#undef GRPO_NUMBER_
    };
    *count = (int)(sizeof fields / sizeof *fields);
    return fields;
}

/* One column per axis.  Where a paper writes mean and std without more: sample standard deviation, no eps.  trl-* and verl-* rows are
 * what those frameworks compute where it differs from the papers. */
const grpo_preset *grpo_presets(int *count)
{
#define REWARD_PLAIN           { GRPO_OVERLONG_NONE, 0, 0, 0, GRPO_KL_NONE, 0 }
#define REWARD_K1(beta)        { GRPO_OVERLONG_NONE, 0, 0, 0, GRPO_KL_K1, beta }
#define REWARD_OVERLONG(m, c)  { GRPO_OVERLONG_SOFT, m, c, 1, GRPO_KL_NONE, 0 }
#define ADV(credit, gamma, lambda, base, scale, eps, place, single, gain) { GRPO_CREDIT_##credit, gamma, lambda, GRPO_BASELINE_##base, \
        GRPO_SCALE_##scale, GRPO_STD_SAMPLE, eps, GRPO_EPS_##place, GRPO_SINGLETON_##single, GRPO_GAIN_##gain }
#define ADV_OUTCOME(base, scale)  ADV(OUTCOME, 0, 0, base, scale, 0, ADD, ZERO, NONE)
#define ADV_TRL                ADV(OUTCOME, 0, 0, GROUP_MEAN, GROUP_STD, 1e-4, ADD, ZERO, NONE)
#define ADV_VERL               ADV(OUTCOME, 0, 0, GROUP_MEAN, GROUP_STD, 1e-6, ADD, RAW, NONE)
#define RATIO(unit, grad, lo, hi, ulo, uhi) { GRPO_UNIT_##unit, GRPO_GRADIENT_##grad, GRPO_AGAINST_OLD, 0, 0, lo, hi, ulo, uhi }
#define RATIO_TOKEN            RATIO(TOKEN, UNIT, 0, 0, 0, 0)
#define RATIO_TOKEN_20         RATIO(TOKEN, UNIT, -20, 20, 0, 0)
#define RATIO_GSPO             RATIO(SEQUENCE_MEAN, UNIT, 0, 0, 0, 0)
#define RATIO_ROLLOUT          { GRPO_UNIT_TOKEN, GRPO_GRADIENT_UNIT, GRPO_AGAINST_ROLLOUT, 0, 0, 0, 0, 0, 0 }
#define RATIO_GMPO             { GRPO_UNIT_SEQUENCE_CLIPPED_MEAN, GRPO_GRADIENT_UNIT, GRPO_AGAINST_OLD, 0.4, 0.4, 0, 0, 0, 0 }
#define SCORE                  { GRPO_SURROGATE_SCORE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
#define UNCLIPPED              { GRPO_SURROGATE_RATIO, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
#define CLIP(lo, hi)           { GRPO_SURROGATE_PPO_CLIP, lo, hi, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
#define DUAL(lo, hi, c)        { GRPO_SURROGATE_DUAL_CLIP, lo, hi, c, 0, 0, 0, 0, 0, 0, 0, 0 }
#define CISPO(lo, hi)          { GRPO_SURROGATE_CISPO, 0, 0, 0, lo, hi, 0, 0, 0, 0, 0, 0 }
#define SAPO(pos, neg)         { GRPO_SURROGATE_SAPO, 0, 0, 0, 0, 0, pos, neg, 0, 0, 0, 0 }
#define VESPO(kp, lp, kn, ln)  { GRPO_SURROGATE_VESPO, 0, 0, 0, 0, 0, 0, 0, kp, lp, kn, ln }
#define NO_KL                  { GRPO_KL_NONE, GRPO_KL_GRADIENT_OWN, GRPO_KL_RATIO_NONE, 0, 0, 0 }
#define KL(kind, beta)         { GRPO_KL_##kind, GRPO_KL_GRADIENT_OWN, GRPO_KL_RATIO_NONE, beta, 0, 0 }
#define KL_UNBIASED(beta)      { GRPO_KL_K3, GRPO_KL_GRADIENT_OWN, GRPO_KL_RATIO_TOKEN, beta, 0, 0 }
#define ALL                    { GRPO_TRUNCATED_KEEP, GRPO_CORRECTION_NONE, GRPO_CORRECTION_TOKEN, 0, 0, 0, GRPO_REJECTED_ZERO_WEIGHT }
#define FINISHED               { GRPO_TRUNCATED_MASK, GRPO_CORRECTION_NONE, GRPO_CORRECTION_TOKEN, 0, 0, 0, GRPO_REJECTED_ZERO_WEIGHT }
#define CORRECT(kind, unit, lo, hi, rejected) { GRPO_TRUNCATED_KEEP, GRPO_CORRECTION_##kind, GRPO_CORRECTION_##unit, lo, hi, 0, GRPO_REJECTED_##rejected }
#define AGG(kind)              { GRPO_##kind, 0, GRPO_EMPTY_COUNT }
#define AGG_SKIP(kind)         { GRPO_##kind, 0, GRPO_EMPTY_SKIP }
#define AGG_LENGTH(c)          { GRPO_SEQ_MEAN_CONSTANT, c, GRPO_EMPTY_COUNT }
    static const grpo_preset presets[] = {
        { "reinforce", "Williams 1992", "REINFORCE", "score-function gradient of the raw reward",
          { REWARD_PLAIN, ADV_OUTCOME(NONE, NONE), RATIO_TOKEN, SCORE, NO_KL, ALL, AGG(SEQ_MEAN_TOKEN_SUM) } },
        { "ppo", "1707.06347", "7, 11-12", "clipped surrogate with a critic's generalised advantages",
          { REWARD_PLAIN, ADV(GAE, 0.99, 0.95, NONE, NONE, 0, ADD, ZERO, NONE), RATIO_TOKEN, CLIP(0.2, 0.2), NO_KL, ALL, AGG(TOKEN_MEAN) } },
        { "ppo-dual-clip", "1912.09729", "dual-clip objective", "PPO, bounded for negative advantages too",
          { REWARD_PLAIN, ADV(GAE, 0.99, 0.95, NONE, NONE, 0, ADD, ZERO, NONE), RATIO_TOKEN, DUAL(0.2, 0.2, 3), NO_KL, ALL, AGG(TOKEN_MEAN) } },
        { "grpo", "2402.03300", "3-4", "PPO clip on group-normalised outcome rewards, k3 in the loss",
          { REWARD_PLAIN, ADV_OUTCOME(GROUP_MEAN, GROUP_STD), RATIO_TOKEN, CLIP(0.2, 0.2), KL(K3, 0.04), ALL, AGG(SEQ_MEAN_TOKEN_MEAN) } },
        { "grpo-process", "2402.03300", "3-4, section 4.1.3", "GRPO with rewards at the steps: normalised reward-to-go",
          { REWARD_PLAIN, ADV(STEP, 1, 0, GROUP_MEAN, GROUP_STD, 0, ADD, ZERO, NONE), RATIO_TOKEN, CLIP(0.2, 0.2),
            KL(K3, 0.04), ALL, AGG(SEQ_MEAN_TOKEN_MEAN) } },
        { "grpo-unbiased-kl", "2512.02556", "unbiased KL estimate", "no std; k3 times the token ratio: unbiased value and gradient off-policy",
          { REWARD_PLAIN, ADV_OUTCOME(GROUP_MEAN, NONE), RATIO_TOKEN, CLIP(0.2, 0.2), KL_UNBIASED(0.001), ALL, AGG(SEQ_MEAN_TOKEN_MEAN) } },
        { "dr-grpo", "2503.20783", "objective of section 3", "no std, constant length in the divisor",
          { REWARD_PLAIN, ADV_OUTCOME(GROUP_MEAN, NONE), RATIO_TOKEN, CLIP(0.2, 0.2), NO_KL, ALL, AGG_LENGTH(3000) } },
        { "dapo", "2503.14476", "8-13", "clip-higher, token mean, soft overlong penalty, no KL",
          { REWARD_OVERLONG(20480, 4096), ADV_OUTCOME(GROUP_MEAN, GROUP_STD), RATIO_TOKEN, CLIP(0.2, 0.28), NO_KL, ALL, AGG(TOKEN_MEAN) } },
        { "dapo-filter", "2503.14476", "8-12", "DAPO with truncated responses masked instead of punished",
          { REWARD_PLAIN, ADV_OUTCOME(GROUP_MEAN, GROUP_STD), RATIO_TOKEN, CLIP(0.2, 0.28), NO_KL, FINISHED, AGG(TOKEN_MEAN) } },
        { "rloo", "2402.14740", "leave-one-out estimator", "leave-one-out baseline, whole-response REINFORCE, k1 in the reward",
          { REWARD_K1(0.05), ADV_OUTCOME(LEAVE_ONE_OUT, NONE), RATIO_TOKEN, SCORE, NO_KL, ALL, AGG(SEQ_MEAN_TOKEN_SUM) } },
        { "reinforce++", "2501.03262", "REINFORCE++", "per-token k1 in the reward, returns whitened over the batch's tokens",
          { REWARD_K1(0.01), ADV(RETURN, 1, 0, NONE, TOKEN_WHITEN, 0, ADD, ZERO, NONE), RATIO_TOKEN, CLIP(0.2, 0.2), NO_KL, ALL, AGG(TOKEN_MEAN) } },
        { "reinforce++-baseline", "2501.03262", "REINFORCE++ with baseline", "group mean, then whitened over the batch's tokens, k2 in the loss",
          { REWARD_PLAIN, ADV_OUTCOME(GROUP_MEAN, TOKEN_WHITEN), RATIO_TOKEN, CLIP(0.2, 0.2), KL(K2, 0.001), ALL, AGG(TOKEN_MEAN) } },
        { "remax", "2310.10505", "ReMax estimator", "baseline is the reward of the greedy response",
          { REWARD_PLAIN, ADV_OUTCOME(GIVEN, NONE), RATIO_TOKEN, SCORE, NO_KL, ALL, AGG(SEQ_MEAN_TOKEN_SUM) } },
        { "opo", "2505.23585", "optimal baseline", "length-weighted mean reward as baseline, exactly on-policy",
          { REWARD_PLAIN, ADV_OUTCOME(LENGTH_WEIGHTED, NONE), RATIO_TOKEN, SCORE, NO_KL, ALL, AGG(TOKEN_MEAN) } },
        { "gpg", "2504.02546", "GPG objective", "plain policy gradient, rescaled for the groups that carry none",
          { REWARD_PLAIN, ADV(OUTCOME, 0, 0, GROUP_MEAN, NONE, 0, ADD, ZERO, VALID_GROUPS), RATIO_TOKEN, SCORE, NO_KL, ALL, AGG(TOKEN_MEAN) } },
        { "lite-ppo", "2508.08221", "Lite PPO", "group mean, batch std, token mean",
          { REWARD_PLAIN, ADV_OUTCOME(GROUP_MEAN, BATCH_STD), RATIO_TOKEN, CLIP(0.2, 0.2), NO_KL, ALL, AGG(TOKEN_MEAN) } },
        { "gspo", "2507.18071", "5-7", "length-normalised sequence ratio, clipped per response",
          { REWARD_PLAIN, ADV_OUTCOME(GROUP_MEAN, GROUP_STD), RATIO_GSPO, CLIP(3e-4, 4e-4), NO_KL, ALL, AGG(SEQ_MEAN_TOKEN_MEAN) } },
        { "gspo-token", "2507.18071", "13-17", "GSPO's ratio, each token's own gradient and advantage",
          { REWARD_PLAIN, ADV_OUTCOME(GROUP_MEAN, GROUP_STD), RATIO(SEQUENCE_MEAN, TOKEN, 0, 0, 0, 0), CLIP(3e-4, 4e-4),
            NO_KL, ALL, AGG(SEQ_MEAN_TOKEN_MEAN) } },
        { "gmpo", "2507.20673", "GMPO objective", "geometric mean of token ratios clipped one by one",
          { REWARD_PLAIN, ADV_OUTCOME(GROUP_MEAN, GROUP_STD), RATIO_GMPO, UNCLIPPED, NO_KL, ALL, AGG(SEQ_MEAN_TOKEN_MEAN) } },
        { "cispo", "2506.13585", "4-5", "clipped, detached ratio as the weight of REINFORCE: no token loses its gradient",
          { REWARD_PLAIN, ADV_OUTCOME(GROUP_MEAN, GROUP_STD), RATIO_TOKEN, CISPO(0, 5), NO_KL, ALL, AGG(TOKEN_MEAN) } },
        { "sapo", "2511.20347", "5-7", "sigmoid gate instead of a clip, steeper for negative advantages",
          { REWARD_PLAIN, ADV_OUTCOME(GROUP_MEAN, GROUP_STD), RATIO_TOKEN, SAPO(1, 1.05), NO_KL, ALL, AGG(SEQ_MEAN_TOKEN_MEAN) } },
        { "luspo", "2602.05261", "LUSPO objective", "GSPO times the length of the response",
          { REWARD_PLAIN, ADV_OUTCOME(GROUP_MEAN, GROUP_STD), RATIO_GSPO, CLIP(2e-3, 2.5e-3), NO_KL, ALL, AGG(SEQ_MEAN_TOKEN_SUM) } },
        { "vespo", "2602.10693", "VESPO kernel", "smooth detached weight of the whole response's ratio",
          { REWARD_PLAIN, ADV_OUTCOME(GROUP_MEAN, GROUP_STD), RATIO(SEQUENCE_SUM, UNIT, 0, 0, 0, 0), VESPO(2, 3, 3, 2),
            NO_KL, ALL, AGG(TOKEN_MEAN) } },
        { "two-sided", "2505.07291", "two-sided clip", "GRPO with the ratio bounded for negative advantages (delta)",
          { REWARD_PLAIN, ADV_OUTCOME(GROUP_MEAN, GROUP_STD), RATIO_TOKEN, DUAL(0.2, 0.2, 4), KL(K3, 0.001), ALL, AGG(SEQ_MEAN_TOKEN_MEAN) } },
        { "scalerl", "2510.13786", "ScaleRL objective", "CISPO against the rollout policy, batch std, prompt average",
          { REWARD_PLAIN, ADV_OUTCOME(GROUP_MEAN, BATCH_CENTRED_STD), RATIO_ROLLOUT, CISPO(0, 5), NO_KL, ALL, AGG(GROUP_MEAN_TOKEN_MEAN) } },
        { "tis", "Yao et al. 2025", "min(v, 2), tokens", "truncated importance weight of each token against the rollout engine",
          { REWARD_PLAIN, ADV_OUTCOME(GROUP_MEAN, GROUP_STD), RATIO_TOKEN, CLIP(0.2, 0.2),
            NO_KL, CORRECT(TRUNCATE, TOKEN, 0, 2, ZERO_WEIGHT), AGG(SEQ_MEAN_TOKEN_MEAN) } },
        { "tis-sequence", "Yao et al. 2025", "min(v, 2), responses", "the same with the weight of the whole response",
          { REWARD_PLAIN, ADV_OUTCOME(GROUP_MEAN, GROUP_STD), RATIO_TOKEN, CLIP(0.2, 0.2),
            NO_KL, CORRECT(TRUNCATE, SEQUENCE_SUM, 0, 2, ZERO_WEIGHT), AGG(SEQ_MEAN_TOKEN_MEAN) } },
        { "icepop", "2510.18855", "IcePop", "tokens whose rollout mismatch leaves a band have no gradient",
          { REWARD_PLAIN, ADV_OUTCOME(GROUP_MEAN, GROUP_STD), RATIO_TOKEN, CLIP(0.2, 0.2),
            NO_KL, CORRECT(MASK, TOKEN, 0.5, 5, ZERO_WEIGHT), AGG(SEQ_MEAN_TOKEN_MEAN) } },
        { "mis-sequence", "Liu, Li et al. 2025", "v 1[0.5 <= v <= 2], responses", "responses whose rollout mismatch leaves a band have no gradient",
          { REWARD_PLAIN, ADV_OUTCOME(GROUP_MEAN, GROUP_STD), RATIO_TOKEN, CLIP(0.2, 0.2),
            NO_KL, CORRECT(MASK, SEQUENCE_SUM, 0.5, 2, ZERO_WEIGHT), AGG(SEQ_MEAN_TOKEN_MEAN) } },
        { "geo-reject", "verl", "1[0.999 <= v <= 1.001], geometric mean", "responses whose geometric-mean mismatch leaves a narrow band are dropped",
          { REWARD_PLAIN, ADV_OUTCOME(GROUP_MEAN, GROUP_STD), RATIO_TOKEN, CLIP(0.2, 0.2),
            NO_KL, CORRECT(REJECT, SEQUENCE_MEAN, 0.999, 1.001, UNMASK), AGG(SEQ_MEAN_TOKEN_MEAN) } },
        { "trl-grpo", "2402.03300", "as TRL", "eps 1e-4 beside the std, no KL",
          { REWARD_PLAIN, ADV_TRL, RATIO_TOKEN, CLIP(0.2, 0.2), NO_KL, ALL, AGG(SEQ_MEAN_TOKEN_MEAN) } },
        { "trl-dapo", "2503.14476", "as TRL", "trl-grpo with clip-higher and token mean",
          { REWARD_PLAIN, ADV_TRL, RATIO_TOKEN, CLIP(0.2, 0.28), NO_KL, ALL, AGG(TOKEN_MEAN) } },
        { "trl-bnpo", "TRL", "as TRL", "trl-grpo with the token mean of the local batch",
          { REWARD_PLAIN, ADV_TRL, RATIO_TOKEN, CLIP(0.2, 0.2), NO_KL, ALL, AGG(TOKEN_MEAN) } },
        { "trl-rloo", "2402.14740", "as TRL", "RLOO through a clipped whole-response ratio",
          { REWARD_K1(0.05), ADV_OUTCOME(LEAVE_ONE_OUT, NONE), RATIO(SEQUENCE_SUM, UNIT, 0, 0, 0, 0), CLIP(0.2, 0.2),
            NO_KL, ALL, AGG(SEQ_MEAN_TOKEN_MEAN) } },
        { "verl-grpo", "2402.03300", "as verl", "eps 1e-6, dual clip, log-ratio clamped at 20, token mean",
          { REWARD_PLAIN, ADV_VERL, RATIO_TOKEN_20, DUAL(0.2, 0.2, 3), NO_KL, ALL, AGG_SKIP(TOKEN_MEAN) } },
        { "verl-gspo", "2507.18071", "as verl", "GSPO-token with the log-ratio clamped from above at 10",
          { REWARD_PLAIN, ADV_VERL, RATIO(SEQUENCE_MEAN, TOKEN, 0, 0, -HUGE_VAL, 10), CLIP(3e-4, 4e-4), NO_KL, ALL, AGG_SKIP(SEQ_MEAN_TOKEN_MEAN) } },
        { "verl-cispo", "2506.13585", "as verl", "CISPO with both bounds at PPO's clip range",
          { REWARD_PLAIN, ADV_VERL, RATIO_TOKEN_20, CISPO(0.8, 1.2), NO_KL, ALL, AGG_SKIP(TOKEN_MEAN) } },
        { "verl-reinforce++", "2501.03262", "as verl", "returns whitened with eps 1e-8 under the root, dual clip",
          { REWARD_PLAIN, ADV(RETURN, 1, 0, NONE, TOKEN_WHITEN, 1e-8, INSIDE, ZERO, NONE), RATIO_TOKEN_20, DUAL(0.2, 0.2, 3),
            NO_KL, ALL, AGG_SKIP(TOKEN_MEAN) } },
    };
#undef REWARD_PLAIN
#undef REWARD_K1
#undef REWARD_OVERLONG
#undef ADV
#undef ADV_OUTCOME
#undef ADV_TRL
#undef ADV_VERL
#undef RATIO
#undef RATIO_TOKEN
#undef RATIO_TOKEN_20
#undef RATIO_GSPO
#undef RATIO_ROLLOUT
#undef RATIO_GMPO
#undef SCORE
#undef UNCLIPPED
#undef CLIP
#undef DUAL
#undef CISPO
#undef SAPO
#undef VESPO
#undef NO_KL
#undef KL
#undef KL_UNBIASED
#undef ALL
#undef FINISHED
#undef CORRECT
#undef AGG
#undef AGG_SKIP
#undef AGG_LENGTH
    *count = (int)(sizeof presets / sizeof *presets);
    return presets;
}

grpo_status grpo_objective_named(const char *name, grpo_objective *obj)
{
    int i, n;
    const grpo_preset *p = grpo_presets(&n);
    if (!obj) return GRPO_NULL_OBJECTIVE;
    for (i = 0; name && i < n; i++)
        if (strcmp(p[i].name, name) == 0) { *obj = p[i].objective; return GRPO_OK; }
    return GRPO_UNKNOWN_OBJECTIVE;
}

static const grpo_field *grpo_field_named_(const char *path)
{
    int i, n;
    const grpo_field *f = grpo_fields(&n);
    for (i = 0; path && i < n; i++) if (strcmp(f[i].path, path) == 0) return &f[i];
    return NULL;
}

/* enums are reached as int: the compiler may give them either signedness, never another size */
typedef char grpo_enums_are_ints_[sizeof(grpo_credit_kind) == sizeof(int) ? 1 : -1];

double grpo_objective_get(const grpo_objective *obj, const grpo_field *field)
{
    int choice;
    double number;
    if (field->choices) {
        memcpy(&choice, (const char *)obj + field->offset, sizeof choice);
        return choice;
    }
    memcpy(&number, (const char *)obj + field->offset, sizeof number);
    return number;
}

grpo_status grpo_objective_set(grpo_objective *obj, const char *path, double value)
{
    const grpo_field *f = grpo_field_named_(path);
    int choice;
    if (!obj) return GRPO_NULL_OBJECTIVE;
    if (!f) return GRPO_UNKNOWN_FIELD;
    if (value != value) return GRPO_BAD_NUMBER;
    if (!f->choices) { memcpy((char *)obj + f->offset, &value, sizeof value); return GRPO_OK; }
    if (!(value >= 0 && value < grpo_choice_count_(f->choices) && value == floor(value))) return GRPO_UNKNOWN_CHOICE;
    choice = (int)value;
    memcpy((char *)obj + f->offset, &choice, sizeof choice);
    return GRPO_OK;
}

grpo_status grpo_objective_choose(grpo_objective *obj, const char *path, const char *choice)
{
    const grpo_field *f = grpo_field_named_(path);
    const char *p;
    int k = 0;
    if (!obj) return GRPO_NULL_OBJECTIVE;
    if (!f) return GRPO_UNKNOWN_FIELD;
    if (!f->choices || !choice) return GRPO_UNKNOWN_CHOICE;
    for (p = f->choices; p; p = strchr(p, '|'), p = p ? p + 1 : NULL, k++) {
        size_t n = strcspn(p, "|");
        if (strlen(choice) == n && strncmp(choice, p, n) == 0) return grpo_objective_set(obj, path, k);
    }
    return GRPO_UNKNOWN_CHOICE;
}

const char *grpo_status_text(grpo_status st)
{
#define GRPO_STATUS_TEXT_(name, text) text,
    static const char *const texts[] = { GRPO_STATUS_LIST(GRPO_STATUS_TEXT_) NULL };
#undef GRPO_STATUS_TEXT_
    return (int)st >= 0 && (int)st < GRPO_N_STATUS ? texts[(int)st] : "not a status of this library";
}

#ifdef __cplusplus
}
#endif
#endif /* GRPO_IMPLEMENTATION */

/* MIT No Attribution
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files
 * (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge,
 * publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
 * MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE
 * FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION
 * WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE. */
