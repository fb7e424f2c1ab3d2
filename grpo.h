/* grpo.h - the GRPO family of policy-optimisation objectives for language models, with exact gradients.
 *
 * C99 (and C++11), no dependency, no allocation, no state.  In one source file write
 *
 *     #define GRPO_IMPLEMENTATION
 *     #include "grpo.h"
 *
 * and include it without the macro elsewhere.  gspo.h adds the objectives whose ratio spans more than one token (GSPO, GMPO, turns ...).
 * The implementation includes grpo_rows.h, the published objectives by name, and grpo_blocks.h, a vectorised evaluation of the common
 * ones; GRPO_NO_ROWS and GRPO_NO_BLOCKS leave them out.
 *
 * A policy-optimisation objective is seven choices over a batch of rollouts: what a response is worth (reward), compared with what
 * (advantage), how far the policy has moved (ratio), which loss a ratio and an advantage give (surrogate), what is added, such as a KL
 * (penalty), which tokens count and how much (weight), what the sum is divided by (aggregation).  A published algorithm is a row of these:
 *
 *     grpo_objective obj;
 *     grpo_objective_named("dapo", &obj);              // a row; then change any field:
 *     obj.surrogate.eps_high = 0.3;
 *     obj.reward.overlong_max = 512; obj.reward.overlong_cache = 128;
 *
 *     grpo_batch batch = { 0 };                        // two prompts, two responses each; padded or packed: offsets say which
 *     batch.n_groups = 2;   batch.group_begin = group; // {0, 2, 4}
 *     batch.n_tokens = size; batch.offset = offset; batch.length = length;
 *     batch.logp = logp; batch.logp_old = logp_old; batch.reward = reward;
 *
 *     grpo_report report;
 *     grpo_output out = { 0 };                         // what to write; also: d loss / d entropy, the terms ...
 *     out.dlogp = dlogp;
 *     grpo_status st = grpo_advantages(&obj, &batch, advantage);
 *     if (!st) st = grpo_loss(&obj, &batch, advantage, NULL, &out, &report);
 *     if (st) return fprintf(stderr, "%s\n", grpo_status_message(st, text, sizeof text)), 1;    // char text[GRPO_MESSAGE_SIZE]
 *     printf("loss %.17g, clipped %.2f %%\n", report.loss, 100 * report.clip_fraction);
 *
 * dlogp is d loss / d logp, same layout as logp: hand it to your backward pass.
 *
 * Arrays hold float, or double after #define GRPO_DOUBLE; arithmetic is double either way.  One program may use both (in different
 * source files, each with its implementation): every symbol of the double build carries the suffix _f64.
 *
 * Numerical promises (tests/objective/accuracy.c measures them; MEASUREMENTS.md has the table):
 *   - loss, terms, gradients, advantages and report within 4 ulps (of 2^-52, in arrays of float 2^-23) of the scale of the exact result,
 *     which is the sum of the absolute values of what it is a sum of, extremes included, as long as the factors of a term (ratio, weight,
 *     KL, advantage) and squares of differences of rewards are normal numbers of double;
 *   - no NaN from finite input; what exceeds the largest double is an infinity and sets report.overflow;
 *   - loss, report and gradients have the same bits for every order of tokens, sequences and groups and every split between groups;
 *   - masked tokens may hold anything, NaN included.
 * They need IEEE arithmetic, rounded to nearest: -ffast-math and -ffinite-math-only do not compile; where a compiler reorders sums
 * without announcing it, fma rounds twice, and in other rounding modes, calls with a batch return GRPO_NOT_IEEE.  GRPO_ALLOW_FAST_MATH
 * voids the promises instead.  With the processor's flush-to-zero, numbers below the normal range count as 0, nothing else changes.
 * A ratio within one rounding of a bound (1 + eps in double), and a divergence (total variation, k2, binary KL) within the rounding errors
 * of its terms of a threshold, may count as on either side of it.
 *
 * Switches, the same ones wherever the header is included; KB saved out of the 275 of grpo.h and gspo.h (gcc 12 -O2, x86-64):
 *   GRPO_NO_ROWS     no grpo_rows.h: grpo_presets, grpo_objective_from_preset and _named are absent, messages say less; 59 KB
 *   GRPO_NO_TEXT     no texts of statuses: grpo_status_name, _text, _what, _other and _message are absent; 10 KB
 *   GRPO_NO_BLOCKS   no grpo_blocks.h: tokens one by one, not in blocks; the same bits but for the sign of a 0, slower; 47 KB
 * With GRPO_NO_ROWS and GRPO_NO_TEXT together fields have no names, and grpo_objective_set and _choose are absent too.  With all three
 * switches the two headers, which then still compute every objective, take 151 KB, 108 KB at -Os (tests/size.sh).
 *
 * Contents:  status | numbers | axis 1 reward | 2 advantage | 3 ratio | 4 surrogate | 5 penalty | 6 weight | 7 aggregation | objective |
 *            batch | functions | implementation of what every row uses: kernel, checks, advantage, loss
 *            after the banner "You can stop reading here": numerical functions, further choices, exact sums, parts, fields, texts
 * Optional:  extra/ has grpo_logits.h (from logits to d loss / d logits), grpo_hidden.h (from hidden states, by tiles), grpo_lint.h (which
 *            token a status points to, likely mistakes), grpo_lint_objective.h (settings without effect), and functions that no objective
 *            calls: grpo_selection.h, grpo_control.h, grpo_credit.h, grpo_rewards.h, grpo_weights.h, grpo_critic.h; grpo_distill.h,
 *            grpo_flow.h, grpo_context.h (responses split over ranks); for other languages grpo_declarations.h, grpo_layout.h.  Include
 *            what you use; each has its own implementation macro.
 *
 * Version 0.4.0.  Licence: MIT-0, at the end of the file. */
#ifndef GRPO_H
#define GRPO_H

#define GRPO_VERSION "0.4.0"
#define GRPO_VERSION_NUMBER 400      /* 10000 major + 100 minor + patch */

#if !defined(GRPO_ALLOW_FAST_MATH) && (defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(_M_FP_FAST) || \
                                       (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0))
#error "grpo.h needs IEEE arithmetic: compile without -ffast-math, /fp:fast (or define GRPO_ALLOW_FAST_MATH and lose all promises)"
#endif

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if (FLT_EVAL_METHOD == 2 || (FLT_EVAL_METHOD < 0 && !defined(__clang__))) && !defined(GRPO_ALLOW_FAST_MATH)
#error "grpo.h needs double arithmetic without excess precision: compile with -msse2 -mfpmath=sse"
#endif

#ifdef GRPO_DOUBLE
typedef double grpo_real;
#define grpo_batch grpo_batch_f64
#define grpo_output grpo_output_f64
#define grpo_advantages grpo_advantages_f64
#define grpo_advantages_with_moments grpo_advantages_with_moments_f64
#define grpo_moments_add grpo_moments_add_f64
#define grpo_moments_merge grpo_moments_merge_f64
#define grpo_dynamic_sampling_mask grpo_dynamic_sampling_mask_f64
#define grpo_totals_add grpo_totals_add_f64
#define grpo_totals_merge grpo_totals_merge_f64
#define grpo_loss grpo_loss_f64
#define grpo_loss_add grpo_loss_add_f64
#define grpo_partial_merge grpo_partial_merge_f64
#define grpo_partial_report grpo_partial_report_f64
#define grpo_objective_from_preset grpo_objective_from_preset_f64
#define grpo_objective_named grpo_objective_named_f64
#define grpo_objective_set grpo_objective_set_f64
#define grpo_objective_choose grpo_objective_choose_f64
#define grpo_objective_get grpo_objective_get_f64
#define grpo_objective_check grpo_objective_check_f64
#define grpo_presets grpo_presets_f64
#define grpo_fields grpo_fields_f64
#define grpo_status_name grpo_status_name_f64
#define grpo_status_text grpo_status_text_f64
#define grpo_status_what grpo_status_what_f64
#define grpo_status_other grpo_status_other_f64
#define grpo_status_message grpo_status_message_f64
#define grpo_field_domain grpo_field_domain_f64
#else
typedef float grpo_real;
#endif

#if defined(__CUDACC__)
#define GRPO_FN static __host__ __device__ inline
#elif defined(__GNUC__) && defined(GRPO_NO_BLOCKS)
#define GRPO_FN static __attribute__((unused))                         /* code 1/8 smaller than with inline, 1/14 slower */
#else
#define GRPO_FN static inline
#endif
#if defined(__GNUC__) && !defined(__CUDACC__) && !defined(GRPO_NO_BLOCKS)
#define GRPO_NOINLINE_FN_ static __attribute__((unused, noinline))     /* one copy: long, and called from many places */
#define GRPO_FORCE_INLINE_FN_ static inline __attribute__((always_inline)) /* so that any fused multiply-adds are the same at all calls */
#else
#define GRPO_NOINLINE_FN_ GRPO_FN
#define GRPO_FORCE_INLINE_FN_ GRPO_FN
#endif
#if defined(__GNUC__) && !defined(__CUDACC__) && defined(GRPO_NO_BLOCKS) && defined(__OPTIMIZE_SIZE__)
#define GRPO_APART_FN_ static __attribute__((unused, noinline))        /* gcc -Os would inline it, and the code would be larger */
#define GRPO_APART_ GRPO_APART_FN_
#else
#define GRPO_APART_FN_ GRPO_FN
#define GRPO_APART_ static
#endif
#if defined(__GNUC__) && !defined(__OPTIMIZE_SIZE__)
#define GRPO_INLINE_ static inline __attribute__((always_inline))      /* what gcc -O2 would not inline by itself */
#else
#define GRPO_INLINE_ static inline
#endif
#if defined(__GNUC__)
#define GRPO_NOINLINE_ static __attribute__((noinline))                /* its locals must not enlarge its caller's stack frame */
/* optimised for size: checks, and choices that are rare.  Call it only under a condition: gcc treats code that always leads to a cold
 * call as cold too, and does not vectorise it */
#define GRPO_COLD_ static __attribute__((cold))
#else
#define GRPO_NOINLINE_ static
#define GRPO_COLD_ static
#endif

#ifdef __cplusplus
#define GRPO_C_BEGIN_ extern "C" {
#define GRPO_C_END_ }
#else
#define GRPO_C_BEGIN_
#define GRPO_C_END_
#endif
#if defined(__cplusplus) || defined(_MSC_VER)
#define GRPO_RESTRICT_ __restrict
#else
#define GRPO_RESTRICT_ restrict
#endif

GRPO_C_BEGIN_
/* ---- status ---------------------------------------------------------------------------------------------------------------------
 * Every function that can fail returns a status: 0 on success; on any other status nothing has been written.  A status holds the rule that
 * was broken, what broke it (a field of the objective, an array of the batch, or an argument by its position from 1) and the index of
 * the element at fault (if the argument is a struct: of its member, from 0); extra/grpo_messages.h has the names of both:
 *
 *     char text[GRPO_MESSAGE_SIZE];
 *     puts(grpo_status_message(st, text, sizeof text));          // batch.logp_old[1041] is NaN
 *
 * Some rules are about two things: penalty.nll_gate does not go with penalty.nll_form.  grpo_status_other is the second.
 * GRPO_NO_TEXT leaves out the functions that return strings.  extra/grpo_lint.h turns an index into group, response and token. */

#define GRPO_RULES(X) \
    X(GRPO_NULL, "is NULL but needed") X(GRPO_NAN, "is NaN") X(GRPO_INFINITE, "is infinite") \
    X(GRPO_TOO_LARGE, "is larger than 1e150 in magnitude") X(GRPO_NEGATIVE, "must not be negative") \
    X(GRPO_NOT_POSITIVE, "must be positive") X(GRPO_ZERO, "must not be 0") X(GRPO_NOT_UNIT, "must lie in [0, 1]") \
    X(GRPO_NOT_BELOW_ONE, "must be less than 1") X(GRPO_NOT_ABOVE_ONE, "must exceed 1, or be 0") \
    X(GRPO_NOT_POWER, "must lie in [-16, 16]") X(GRPO_NOT_WHOLE, "must be a whole number") \
    X(GRPO_TOO_MANY, "is more than GRPO_MAX_REWARDS") X(GRPO_NOT_A_CHOICE, "has no such choice") X(GRPO_UNKNOWN, "is unknown") \
    X(GRPO_NOT_INCREASING, "must increase") X(GRPO_NEEDS_GSPO, "needs gspo.h: gspo_loss in place of grpo_loss") \
    X(GRPO_TOO_SMALL, "is less than is needed") X(GRPO_MIXED, "belongs to other totals: count all parts first") \
    X(GRPO_POSITIVE, "must not be positive") X(GRPO_OUT_OF_RANGE, "is out of range") X(GRPO_ZERO_SUM, "must not sum to 0") \
    X(GRPO_NONE_LEFT, "leaves nothing to choose from") X(GRPO_NOT_PERMUTATION, "is not a permutation") \
    X(GRPO_NOT_MIRRORED, "does not go with its mirror image") X(GRPO_WHOLE_RESPONSE, "is of whole responses and not of parts of them") \
    X(GRPO_LONE_RESPONSE, "has one response, but each is compared with the others") X(GRPO_TOO_LONG, "adds up to more than 2^53") \
    X(GRPO_NOT_IEEE, "arithmetic is not that of IEEE 754, rounded to nearest") \
    /* rules about two things */ \
    X(GRPO_CROSSED, "must not exceed") X(GRPO_NOT_BELOW, "must be less than") X(GRPO_NOT_BEYOND, "must exceed 1 +") \
    X(GRPO_PAST_END, "reaches past") X(GRPO_FEW_ITEMS, "has fewer items than") X(GRPO_COMBINATION, "does not go with")

#define GRPO_ENUM_(id, ...) id,
typedef enum { GRPO_NO_RULE, GRPO_RULES(GRPO_ENUM_) GRPO_N_RULES } grpo_rule;

typedef int64_t grpo_status;       /* rule | what << 8 | other << 18 | (index + 1) << 28 */
#define GRPO_OK ((grpo_status)0)

#define GRPO_MESSAGE_SIZE 160
GRPO_FN int grpo_status_rule(grpo_status st) { return (int)(st & 255); }
GRPO_FN int grpo_status_is(grpo_status st, int rule) { return grpo_status_rule(st) == rule; }
/* of the element at fault, -1: none; of GRPO_UNKNOWN and GRPO_NOT_A_CHOICE: of the nearest row, field or choice that there is */
GRPO_FN int64_t grpo_status_index(grpo_status st) { return (st >> 28) - 1; }
#ifndef GRPO_NO_TEXT
const char *grpo_status_name(grpo_status st);      /* name of the rule, for logs and other languages: "GRPO_NAN" */
const char *grpo_status_text(grpo_status st);      /* the rule in words: "is NaN" */
const char *grpo_status_what(grpo_status st);      /* what broke it: "batch.logp_old", "surrogate.eps_high", "argument 3"; "": nothing */
const char *grpo_status_other(grpo_status st);     /* the second thing, of a rule about two */
const char *grpo_status_message(grpo_status st, char *buffer, size_t size);      /* all of it, truncated to size > 0; returns buffer */
#endif

/* ---- numbers --------------------------------------------------------------------------------------------------------------------
 * exp turns an absolute error of its argument into a relative error of the ratio, so log-ratios keep their rounding error in lo.
 * Errors are relative; an ulp of x is 2^-52 |x|. */

/* the number hi + lo, |lo| <= ulp(hi)/2, except as grpo_dd_div returns it */
typedef struct { double hi, lo; } grpo_dd;

#define GRPO_LN2_HI_ 6.93147180559945286e-01                           /* log 2 in two words */
#define GRPO_LN2_LO_ 2.31904681384629956e-17

GRPO_FN int grpo_is_finite(double x) { return x - x == 0; }
GRPO_FN grpo_dd grpo_dd_pair_(double hi, double lo) {
    const grpo_dd x = { hi, lo };
    return x;
}

GRPO_FN grpo_dd grpo_dd_of_(double x) { return grpo_dd_pair_(x, 0); }
/* the rounding error a + b - s of s = a + b, exactly (Knuth); grpo_blocks.h uses it too */
GRPO_FN double grpo_sum_rounding_(double a, double b, double s) { const double t = s - a; return (a - (s - t)) + (b - t); }

/* a + b exactly; -inf and +inf cancel to 0, see "-inf log-probabilities" at grpo_batch */
GRPO_FN grpo_dd grpo_two_sum(double a, double b) {
    const double s = a + b;
    if (!grpo_is_finite(s)) return grpo_dd_of_(s != s ? 0 : s);
    return grpo_dd_pair_(s, grpo_sum_rounding_(a, b, s));
}

GRPO_FN grpo_dd grpo_two_diff(double a, double b) { return grpo_two_sum(a, -b); }

/* a b - p exactly, barring underflow, for p next to a b */
#if defined(GRPO_NO_EXACT_FMA_) || (defined(__MINGW32__) && !defined(__FMA__) && !defined(__aarch64__))
GRPO_NOINLINE_FN_ double grpo_product_rounding_(double a, double b, double p) {         /* mingw-w64's fma is not exact; Dekker's product */
    int m, n;
    const double x = frexp(a, &m), y = frexp(b, &n), q = ldexp(p, -m - n), u = 134217729 * x, v = 134217729 * y;
    const double x0 = u - (u - x), y0 = v - (v - y), x1 = x - x0, y1 = y - y0;
    return ldexp(((x0 * y0 - q) + x0 * y1 + x1 * y0) + x1 * y1, m + n);
}
#else
GRPO_FN double grpo_product_rounding_(double a, double b, double p) { return fma(a, b, -p); }
#endif

/* a b exactly, barring underflow */
GRPO_FN grpo_dd grpo_two_prod(double a, double b) {
    const double p = a * b;
    return grpo_dd_pair_(p, grpo_is_finite(p) ? grpo_product_rounding_(a, b, p) : 0);
}

GRPO_FN grpo_dd grpo_dd_add(grpo_dd a, grpo_dd b) {                    /* error below 2^-103 of |a| + |b| */
    grpo_dd s = grpo_two_sum(a.hi, b.hi);
    if (!grpo_is_finite(s.hi)) return s;
    const double t = a.lo + b.lo;
    s = grpo_two_sum(s.hi, s.lo + t);
    return grpo_two_sum(s.hi, s.lo + grpo_sum_rounding_(a.lo, b.lo, t));
}

/* a + b for one double b, with the bits of grpo_dd_add(a, grpo_dd_of_(b)) */
GRPO_FN grpo_dd grpo_dd_add_double_(grpo_dd a, double b) {
    const grpo_dd s = grpo_two_sum(a.hi, b);
    return grpo_two_sum(s.hi, s.lo + a.lo);
}

GRPO_NOINLINE_FN_ grpo_dd grpo_dd_mul(grpo_dd a, double b) {           /* relative error below 2^-104, 2^-103 if a is a quotient */
    grpo_dd p = grpo_two_prod(a.hi, b);
    return grpo_is_finite(p.hi) ? grpo_two_sum(p.hi, p.lo + a.lo * b) : p;
}

/* b not 0; relative error below 2^-104 (2^-103 if a is such a quotient), but |lo| may be 3/2 (7/2) ulp(hi): hi is not the nearest double */
GRPO_NOINLINE_FN_ grpo_dd grpo_dd_div(grpo_dd a, double b) {
    const double q = a.hi / b;
    return grpo_dd_pair_(q, grpo_is_finite(q) ? (a.lo - grpo_product_rounding_(q, b, a.hi)) / b : 0);
}

GRPO_NOINLINE_FN_ grpo_dd grpo_dd_product(grpo_dd a, grpo_dd b) {      /* relative error below 2^-102 */
    grpo_dd p = grpo_two_prod(a.hi, b.hi);
    return grpo_is_finite(p.hi) ? grpo_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi)) : p;
}

GRPO_NOINLINE_FN_ grpo_dd grpo_dd_quotient(grpo_dd a, grpo_dd b) {     /* b not 0; relative error below 2^-101 */
    const double q = a.hi / b.hi;
    return grpo_is_finite(q) ? grpo_two_sum(q, grpo_dd_add(a, grpo_dd_mul(b, -q)).hi / b.hi) : grpo_dd_of_(q);
}

GRPO_FN int grpo_dd_less(grpo_dd a, grpo_dd b) { return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo); }
GRPO_FN int grpo_dd_exceeds(grpo_dd x, double bound) { return (x.hi - bound) + x.lo > 0; }     /* of a quotient, too */
GRPO_FN grpo_dd grpo_dd_negative(grpo_dd x) { x.hi = -x.hi; x.lo = -x.lo; return x; }
GRPO_NOINLINE_FN_ grpo_dd grpo_dd_minus_(grpo_dd a, grpo_dd b) { return grpo_dd_add(a, grpo_dd_negative(b)); }
/* x clamped to [low, high] */
GRPO_FN double grpo_within(double x, double low, double high) { return x < low ? low : x > high ? high : x; }
/* x y, where 0 times infinity is 0 */
GRPO_FN double grpo_times(double x, double y) { return x == 0 || y == 0 ? 0 : x * y; }
/* x + y; two overflows of opposite sign, which have no sum in double, give +infinity and never NaN */
GRPO_APART_FN_ double grpo_plus(double x, double y) { double s = x + y; return s == s ? s : HUGE_VAL; }

#define GRPO_SERIES_ 0.5
GRPO_FORCE_INLINE_FN_ double grpo_exp_series_(double y);               /* e^y - y - 1 for |y| <= GRPO_SERIES_, 3 ulps */

/* 1 if x is outside the interval of the series, or NaN */
GRPO_FN int grpo_is_far_(double x) { return !(fabs(x) <= GRPO_SERIES_); }
/* e^x - x - 1 and e^x - 1 of x = hi + lo, from f = grpo_exp_series_(hi); grpo_blocks.h uses them too */
GRPO_FORCE_INLINE_FN_ double grpo_near_exp_minus_linear_(double hi, double lo, double f) { return f + lo * (hi + f); }
GRPO_FORCE_INLINE_FN_ double grpo_near_exp_minus_one_(double hi, double lo, double f) { const double e = hi + f; return e + lo * (1 + e); }

/* e^(hi + lo), 1 ulp */
GRPO_NOINLINE_FN_ double grpo_exp(grpo_dd x) {
    if (!grpo_is_far_(x.hi)) return 1 + grpo_near_exp_minus_one_(x.hi, x.lo, grpo_exp_series_(x.hi));      /* most tokens */
    const double e = exp(x.hi);
    return grpo_is_finite(e) ? e + e * x.lo : e;
}

GRPO_FN grpo_dd grpo_exp_twice(grpo_dd x);        /* e^x in double-double, relative error 2^-95 for -670 < x < 709.77; else 1 ulp */
GRPO_NOINLINE_FN_ double grpo_exp_minus_linear(grpo_dd x);             /* e^x - x - 1 >= 0, 3 ulps, no cancellation near 0 */
GRPO_NOINLINE_FN_ grpo_dd grpo_exp_minus_linear_twice(grpo_dd x);      /* the same in double-double, relative error 2^-69 */
GRPO_FN double grpo_exp_minus_one(grpo_dd x);                          /* e^x - 1, 2 ulps */
GRPO_FN grpo_dd grpo_exp_minus_one_twice(grpo_dd x);                   /* the same in double-double, relative error 2^-88 */

/* ---- exact sums -----------------------------------------------------------------------------------------------------------------
 * A fixed-point accumulator as wide as the range of double: additions are exact, so the sum does not depend on order or grouping
 * (as in Neal, "Fast exact summation using small and large superaccumulators").  Zero-initialise. */

#define GRPO_SUM_LIMBS 68
typedef struct {
    int64_t limb[GRPO_SUM_LIMBS];   /* limb k counts units of 2^(32 k - 1074) */
    int64_t pos_inf, neg_inf;       /* how many infinities were added; they cancel in pairs */
    int64_t pending;                /* additions since the carries were last propagated */
} grpo_sum;
#define GRPO_NO_SUM_ { { 0 }, 0, 0, 0 }

/* ======== axis 1: reward ==========================================================================================================
 * What is each response worth?  R_i = map(length(truncated(reward_i)) + overlong(T_i)) [- kl_coef sum_t KL_t], T_i the length. */

#define GRPO_REWARD_TRUNCATED_CHOICES(X) X(GRPO_REWARD_TRUNCATED_KEEP, keep, "") \
    X(GRPO_REWARD_TRUNCATED_SCALE, scale, "times truncated_factor where the generation was cut off (AReaL's mask_no_eos_with_zero: 0)")
typedef enum { GRPO_REWARD_TRUNCATED_CHOICES(GRPO_ENUM_) } grpo_reward_truncated_kind;
#define GRPO_LENGTH_CHOICES(X) X(GRPO_LENGTH_NONE, none, "") \
    X(GRPO_LENGTH_KIMI, kimi, "+ length_coef lambda (Kimi k1.5, 2501.12599, 2.3.3)") \
    X(GRPO_LENGTH_COSINE, cosine, "replaced by half a cosine of T (2502.03373, as TRL)") \
    X(GRPO_LENGTH_INVERSE, inverse, "divided by T (TIC-GRPO, 2508.02833)")
typedef enum { GRPO_LENGTH_CHOICES(GRPO_ENUM_) } grpo_length_kind;
#define GRPO_MAP_CHOICES(X) X(GRPO_MAP_NONE, none, "") X(GRPO_MAP_AFFINE, affine, "clamp((r + bias) factor, low, high) (AReaL)")
typedef enum { GRPO_MAP_CHOICES(GRPO_ENUM_) } grpo_map_kind;
#define GRPO_OVERLONG_CHOICES(X) X(GRPO_OVERLONG_NONE, none, "") \
    X(GRPO_OVERLONG_SOFT, soft, "DAPO eq. 13 (2503.14476): 0, then falling linearly to -factor over the last `cache` tokens, -factor " \
      "beyond") \
    X(GRPO_OVERLONG_LINEAR, linear, "the same without the floor, as verl and AReaL compute it")
typedef enum { GRPO_OVERLONG_CHOICES(GRPO_ENUM_) } grpo_overlong_kind;
/* estimators of KL(p || q) from one token of p, D = log p - log q (Schulman, "Approximating KL divergence") */
#define GRPO_KL_CHOICES(X) X(GRPO_KL_NONE, none, "") \
    X(GRPO_KL_K1, k1, "D") X(GRPO_KL_K2, k2, "D^2/2") X(GRPO_KL_K3, k3, "e^-D + D - 1") X(GRPO_KL_ABS, abs, "|D|")
/* the same for axis 5, plus a divergence that the caller computes: of a flow model's Gaussian steps, or over the whole vocabulary */
#define GRPO_PENALTY_KL_CHOICES(X) GRPO_KL_CHOICES(X) \
    X(GRPO_KL_EXTERNAL, external, "K = batch.divergence_ref, its gradient in out.ddivergence_ref (Flow-GRPO, 2505.05470)")
typedef enum { GRPO_PENALTY_KL_CHOICES(GRPO_ENUM_) } grpo_kl_kind;

typedef struct {
    grpo_reward_truncated_kind truncated;
    double truncated_factor;
    grpo_length_kind length;
    double length_coef;                    /* kimi */
    double length_max;                     /* cosine, tokens, > 0 */
    double correct_low, correct_high;      /* cosine, reward > 0: at length_max and beyond, and at 0 */
    double wrong_low, wrong_high;          /* cosine, other rewards: at 0, and at length_max and beyond */
    grpo_overlong_kind overlong;
    double overlong_max, overlong_cache;   /* L_max and L_cache, tokens */
    double overlong_factor;
    grpo_map_kind map;
    double map_bias, map_factor;           /* both 0: no reward (distillation alone), but batch.reward is still needed */
    double map_low, map_high;              /* both 0: no clamp */
    grpo_kl_kind kl;                       /* of (logp_old, logp_ref), no gradient; subtracted from the reward */
    double kl_coef;                        /* no effect with credit step, step_own, episode_step, entropy_share, prefix_tree */
} grpo_reward;

/* penalty to add to the reward of a response of `length` tokens, <= 0 */
GRPO_FN grpo_dd grpo_overlong_penalty(grpo_overlong_kind kind, double length, double max, double cache, double factor) {
    const grpo_dd over = grpo_dd_add_double_(grpo_two_diff(cache, max), length);
    if (kind == GRPO_OVERLONG_NONE || over.hi <= 0) return grpo_dd_of_(0);
    if (kind == GRPO_OVERLONG_SOFT && length > max) return grpo_dd_of_(-factor);
    return grpo_dd_mul(grpo_dd_div(over, cache), -factor);
}

typedef struct { double value, derivative; } grpo_kl_term;

/* k3 from m = -D: e^m - m - 1 and -(e^m - 1) */
GRPO_FN grpo_kl_term grpo_k3_(grpo_dd m) {
    grpo_kl_term k;
    if (!grpo_is_far_(m.hi)) {
        const double f = grpo_exp_series_(m.hi);
        k.value = grpo_near_exp_minus_linear_(m.hi, m.lo, f);
        k.derivative = -grpo_near_exp_minus_one_(m.hi, m.lo, f);
    } else { k.value = grpo_exp_minus_linear(m); k.derivative = -grpo_exp_minus_one(m); }
    return k;
}

/* KL estimator and its derivative with respect to log p, from D = log p - log q, the log-ratio */
GRPO_FN grpo_kl_term grpo_kl_estimate(grpo_kl_kind kind, grpo_dd log_ratio) {
    grpo_kl_term k = { 0, 0 };
    switch (kind) {
    case GRPO_KL_NONE: case GRPO_KL_EXTERNAL: break;
    case GRPO_KL_K1:   k.value = log_ratio.hi;                      k.derivative = 1; break;
    case GRPO_KL_K2:   k.value = 0.5 * log_ratio.hi * log_ratio.hi; k.derivative = log_ratio.hi; break;
    case GRPO_KL_K3:   return grpo_k3_(grpo_dd_negative(log_ratio));
    case GRPO_KL_ABS:  k.value = fabs(log_ratio.hi);                k.derivative = log_ratio.hi > 0 ? 1 : log_ratio.hi < 0 ? -1 : 0; break;
    }
    return k;
}

/* ======== axis 2: advantage =======================================================================================================
 * Better than what?  An item (a response, or a step of process supervision) gets a = weight (R - b)/sigma; baseline b and scale sigma are
 * as a rule those of its group (prompt).  Credit turns a into A of each token.  Sums are exact: items that all equal their mean give 0.
 * Stages, and fields of the struct, in order: items, transform, baseline, scale, reweight, batch_norm, credit, tokens. */

#define GRPO_REWARDS_CHOICES(X) \
    X(GRPO_REWARDS_ONE, one, "items are R of axis 1") \
    X(GRPO_REWARDS_EACH, each, "every column of batch.rewards by itself, then summed with batch.reward_weight (GDPO, 2601.05242)")
typedef enum { GRPO_REWARDS_CHOICES(GRPO_ENUM_) } grpo_rewards_kind;
/* R of an item that is a step (credit step, step_own, episode_step, step_gae) */
#define GRPO_STEP_VALUE_CHOICES(X) \
    X(GRPO_STEP_VALUE_REWARD, reward, "r_k = batch.step_reward at its last token") \
    X(GRPO_STEP_VALUE_RETURN, return, "sum over this and later steps of the response of gamma^(k' - k) r_k' (GiGPO, 2505.10978, eq. 5)") \
    X(GRPO_STEP_VALUE_RESPONSE, response, "R of its response (prefix trees: a node is worth what its leaves are)")
typedef enum { GRPO_STEP_VALUE_CHOICES(GRPO_ENUM_) } grpo_step_value_kind;
/* which steps of its prompt a step is compared with: this pool is the group for baseline, scale and singleton.  Finding it takes a pass
 * over the prompt's tokens for every step, and one more for every level of a history */
#define GRPO_STEP_GROUP_CHOICES(X) \
    X(GRPO_STEP_GROUP_PROMPT, prompt, "all of them") \
    X(GRPO_STEP_GROUP_STATE, state, "those that started from the same batch.state (GiGPO, 2505.10978, eq. 6)") \
    X(GRPO_STEP_GROUP_INDEX, index, "those with the same number within their response") \
    X(GRPO_STEP_GROUP_HISTORY, history, "pools of level k = 1 .. min(history_length, number of the step): the last k states are alike, " \
      "pools of one do not count; a = sum w_k a_k over the levels with a_k != 0, w_k proportional to (k + 1)^history_power (HGPO, " \
      "2602.22817, as verl-agent)")
typedef enum { GRPO_STEP_GROUP_CHOICES(GRPO_ENUM_) } grpo_step_group_kind;
/* a of responses with batch.excluded, which are left out of their group's mean, deviation and count */
#define GRPO_EXCLUDED_CHOICES(X) \
    X(GRPO_EXCLUDED_NONE, none, "none; the array is not read") X(GRPO_EXCLUDED_ZERO, zero, "a = 0 (RED-Drop, 2509.24203)") \
    X(GRPO_EXCLUDED_ANCHOR, anchor, "a = excluded_coef times the largest a of the others (TempSamp-R1, 2509.18056, (b))") \
    X(GRPO_EXCLUDED_OWN, own, "(R - b)/sigma with the mean and deviation of the others")
typedef enum { GRPO_EXCLUDED_CHOICES(GRPO_ENUM_) } grpo_excluded_kind;
/* what replaces R: n items in the group, c of them with R > 0, k = pass_k */
#define GRPO_TRANSFORM_CHOICES(X) X(GRPO_TRANSFORM_NONE, none, "") \
    X(GRPO_TRANSFORM_BEST_MINUS_SECOND, best_minus_second, "best: R less second largest, others: 0 (2503.19595); sigma: of R itself") \
    X(GRPO_TRANSFORM_PASS_AT_K, pass_at_k, "analytic pass@k advantage (2508.10751), V = Rbar (1 - Rbar)") \
    X(GRPO_TRANSFORM_PKPO_MAXRL, pkpo_maxrl, "R C(n-c, k-1)/C(n-1, k-1), rewards of 0 and 1 (the code of MaxRL, 2602.02710)") \
    /* for any rewards, over the C(n, k) subsets I of k items; n^3 (some scales: n^4) operations per group: */ \
    X(GRPO_TRANSFORM_PKPO_MAX, pkpo_max, "sum over the I with the item of max(I), over C(n, k) (2505.15201, s_i of eq. 19)") \
    X(GRPO_TRANSFORM_PKPO_GAIN, pkpo_gain, "the same of max(I) - max(I without the item), max of none being 0 (s_i^(loo-1) of eq. 33)") \
    X(GRPO_TRANSFORM_PKPO_LOO, pkpo_loo, "pkpo_max less k/(n-1) times the mean of max(J) over the sets J of k of the others, 0 where " \
      "there is none (s_i^(loo) of eq. 29)")
typedef enum { GRPO_TRANSFORM_CHOICES(GRPO_ENUM_) } grpo_transform_kind;
#define GRPO_BASELINE_CHOICES(X) X(GRPO_BASELINE_NONE, none, "0") \
    X(GRPO_BASELINE_GROUP_MEAN, group_mean, "mean of R over the prompt's responses (GRPO)") \
    X(GRPO_BASELINE_LEAVE_ONE_OUT, leave_one_out, "RLOO: mean of the others; R - b = G/(G-1) (R - mean)") \
    X(GRPO_BASELINE_LENGTH_WEIGHTED, length_weighted, "OPO: sum T R / sum T") \
    X(GRPO_BASELINE_EXTERNAL, external, "batch.baseline (ReMax: the greedy response's reward)") \
    X(GRPO_BASELINE_BATCH_MEAN, batch_mean, "mean of R over the batch") \
    X(GRPO_BASELINE_QUANTILE, quantile, "inf{x : F(x) >= quantile} (QAE, 2509.22611)") \
    X(GRPO_BASELINE_QUANTILE_LINEAR, quantile_linear, "interpolated between order statistics (QAE's code)") \
    X(GRPO_BASELINE_LOG_MEAN_EXP, log_mean_exp, "tau log mean e^(R/tau), tau = temperature (OPMD)") \
    X(GRPO_BASELINE_HDI_MEDIAN, hdi_median, "median of the narrowest interval with the share hdi_mass of the items (GAPO, 2510.21830)") \
    X(GRPO_BASELINE_KALMAN, kalman, "mean of a Kalman filter over the items in order (KRPO, 2505.07527)")
typedef enum { GRPO_BASELINE_CHOICES(GRPO_ENUM_) } grpo_baseline_kind;
#define GRPO_SCALE_CHOICES(X) X(GRPO_SCALE_NONE, none, "1") X(GRPO_SCALE_GROUP_STD, group_std, "std of R over the group (GRPO)") \
    X(GRPO_SCALE_BATCH_STD, batch_std, "std of the raw items of the batch (Lite PPO)") \
    X(GRPO_SCALE_BATCH_CENTRED_STD, batch_centred_std, "std of R - b over the batch (ScaleRL)") \
    X(GRPO_SCALE_TOKEN_WHITEN, token_whiten, "after credit: (A - mean)/sigma over the batch's tokens (REINFORCE++)") \
    X(GRPO_SCALE_GROUP_MEAN, group_mean, "m + eps, m the mean of the group (MaxRL, 2602.02710); a = 0 where m <= 0") \
    X(GRPO_SCALE_LEAVE_ONE_OUT_STD, leave_one_out_std, "std of the other items; 1 where these are all equal (NeMo-RL)") \
    X(GRPO_SCALE_RESIDUAL_RMS, residual_rms, "root of sum (R - b)^2/(n - 1) or /n, as std says, over the group (AReaL, GAPO)") \
    X(GRPO_SCALE_KALMAN_STD, kalman_std, "std of that filter after the item (KRPO)") X(GRPO_SCALE_CONSTANT, constant, "scale_divisor") \
    X(GRPO_SCALE_BETA, beta, "max(f(p), 1e-6), f a Beta density, p the mean of the group (BNPO, 2506.02864); rewards in [0, 1]") \
    X(GRPO_SCALE_MEAN_ABSOLUTE_DEVIATION, mean_absolute_deviation, \
        "(sum |R - mean R| + eps)/G over the group (DGPO, 2601.20614); a = 0 where all are equal")
typedef enum { GRPO_SCALE_CHOICES(GRPO_ENUM_) } grpo_scale_kind;
#define GRPO_STD_CHOICES(X) X(GRPO_STD_SAMPLE, sample, "over n - 1") X(GRPO_STD_POPULATION, population, "over n")
typedef enum { GRPO_STD_CHOICES(GRPO_ENUM_) } grpo_std_kind;
#define GRPO_EPS_PLACE_CHOICES(X) \
    X(GRPO_EPS_ADD, add, "sqrt(V) + eps") X(GRPO_EPS_INSIDE, inside, "sqrt(V + eps)") \
    X(GRPO_EPS_FLOOR, floor, "sqrt(max(V, eps))") X(GRPO_EPS_FLOOR_ADD, floor_add, "sqrt(max(V, eps)) + eps")
typedef enum { GRPO_EPS_PLACE_CHOICES(GRPO_ENUM_) } grpo_eps_place_kind;
#define GRPO_SINGLETON_CHOICES(X) \
    X(GRPO_SINGLETON_ZERO, zero, "an item alone in its group has a = 0, if baseline or scale come from the group") \
    X(GRPO_SINGLETON_RAW, raw, "baseline 0, deviation 1 (verl)")
typedef enum { GRPO_SINGLETON_CHOICES(GRPO_ENUM_) } grpo_singleton_kind;
#define GRPO_SAMPLES_CHOICES(X) X(GRPO_SAMPLES_RESPONSES, responses, "") \
    X(GRPO_SAMPLES_STEPS, steps, "a response counts in its group's mean and deviation once for each of its steps (GiGPO as verl-agent)")
typedef enum { GRPO_SAMPLES_CHOICES(GRPO_ENUM_) } grpo_samples_kind;
#define GRPO_REWEIGHT_CHOICES(X) X(GRPO_REWEIGHT_NONE, none, "") \
    X(GRPO_REWEIGHT_VALID_GROUPS, valid_groups, "N/(N - M), M responses in groups of equal rewards (GPG)") \
    X(GRPO_REWEIGHT_NONZERO_REWARDS, nonzero_rewards, "N/#{R != 0} (GPG as verl computes it)") \
    X(GRPO_REWEIGHT_DIFFICULTY, difficulty, "w(rho) where a > 0, w(1 - rho) elsewhere, rho the share of R > 0 (GRPO-LEAD, 2504.09696)") \
    X(GRPO_REWEIGHT_LENGTH_POWER, length_power, "T^-p over its mean in the batch (Delta L, 2509.07558)") \
    X(GRPO_REWEIGHT_EXPONENTIAL, exponential, \
        "e^(a/reweight_temperature) (Trinity-RFT's regret weighting; REC, 2509.24203, advantage weight)") \
    X(GRPO_REWEIGHT_FOCAL, focal, \
        "(1 - mu)^focal_gamma, mu the place of the group's mean in [focal_reward_low, focal_reward_high] (F-GRPO, 2602.06717)")
typedef enum { GRPO_REWEIGHT_CHOICES(GRPO_ENUM_) } grpo_reweight_kind;
#define GRPO_BATCH_NORM_CHOICES(X) X(GRPO_BATCH_NORM_NONE, none, "") \
    X(GRPO_BATCH_NORM_ITEMS, items, "(a - mean)/(std + batch_norm_eps) over the items of the batch") \
    X(GRPO_BATCH_NORM_TOKENS, tokens, "after credit: (A - mean)/sqrt(V + batch_norm_eps) over the batch's tokens (GDPO as verl)") \
    X(GRPO_BATCH_NORM_MEAN_ABS, mean_abs, "after credit: A over the mean of the responses' means of |A|, where that is not 0 (ART)")
typedef enum { GRPO_BATCH_NORM_CHOICES(GRPO_ENUM_) } grpo_batch_norm_kind;
#define GRPO_CREDIT_CHOICES(X) \
    X(GRPO_CREDIT_OUTCOME, outcome, "A_t = a at every token") \
    X(GRPO_CREDIT_RETURN, return, "a at the last token, -kl at every token, discounted reward-to-go (REINFORCE++)") \
    X(GRPO_CREDIT_STEP, step, "items are steps: discounted sum of the a of this and later steps, no kl (GRPO process supervision, 4.1.3)") \
    X(GRPO_CREDIT_GAE, gae, "generalised advantage estimation over the unmasked tokens (1506.02438)") \
    X(GRPO_CREDIT_STEP_OWN, step_own, "items are steps: A_t = a of the step t is in, 0 after the last one") \
    X(GRPO_CREDIT_EPISODE_STEP, episode_step, "e + step_coef times that, e the outcome advantage of the response (GiGPO, 2505.10978, " \
      "eq. 8)") \
    X(GRPO_CREDIT_ENTROPY_SHARE, entropy_share, "rewards of tokens by their share of the entropy at their position, normalised over " \
      "the tokens of the prompt's responses with R > 0 and over those of the others (GTPO, 2508.04349)") \
    X(GRPO_CREDIT_PREFIX_TREE, prefix_tree, "a + (V_t - V_(t-1))/sigma, V_t the mean R of the prompt's responses whose first t " \
      "tokens are i's own, as batch.token_id names them; after a masked token nobody's are (TEMPO, 2509.18314)") \
    X(GRPO_CREDIT_STEP_GAE, step_gae, "items are steps: gae whose reward is a where a step ends, and nothing at the last token (MT-GUIDE)")
typedef enum { GRPO_CREDIT_CHOICES(GRPO_ENUM_) } grpo_credit_kind;
#define GRPO_STEP_DISCOUNT_CHOICES(X) \
    X(GRPO_STEP_DISCOUNT_TOKENS, tokens, "credit step: gamma for every token between") \
    X(GRPO_STEP_DISCOUNT_STEPS, steps, "for every step (IGPO, 2510.14967)")
typedef enum { GRPO_STEP_DISCOUNT_CHOICES(GRPO_ENUM_) } grpo_step_discount_kind;
#define GRPO_BOOTSTRAP_CHOICES(X) \
    X(GRPO_BOOTSTRAP_ZERO, zero, "credit gae: the value after the last token is 0") \
    X(GRPO_BOOTSTRAP_REPEAT, repeat, "where batch.truncated it is that of the last token, whose reward is dropped (T-PPO, 2506.15050)")
typedef enum { GRPO_BOOTSTRAP_CHOICES(GRPO_ENUM_) } grpo_bootstrap_kind;
#define GRPO_ENTROPY_CHOICES(X) X(GRPO_ENTROPY_NONE, none, "") \
    X(GRPO_ENTROPY_BONUS, bonus, "A + min(entropy_coef H, |A|/entropy_kappa) (2506.14758)") \
    X(GRPO_ENTROPY_ZERO_VARIANCE, zero_variance, "coef H or -coef (max H - H) by the sign of R, in groups of equal items (RL-ZVP, " \
      "2509.21880)") \
    X(GRPO_ENTROPY_RELATIVE, relative, "A max(0, 1 + coef (H/mean H - 1)), mean over the batch's tokens (textpolicy)") \
    X(GRPO_ENTROPY_RESPONSE, response, "A - entropy_coef mean H of the response, 0 where that mean is above entropy_max (GTPO, 2508.03772)")
typedef enum { GRPO_ENTROPY_CHOICES(GRPO_ENUM_) } grpo_entropy_kind;
#define GRPO_TEACHER_NORM_CHOICES(X) X(GRPO_TEACHER_NORM_NONE, none, "") \
    X(GRPO_TEACHER_NORM_MEAN, mean, "over the sum of the discounts (MiniLLM, 2306.08543)")
typedef enum { GRPO_TEACHER_NORM_CHOICES(GRPO_ENUM_) } grpo_teacher_norm_kind;
#define GRPO_TOKEN_BASELINE_CHOICES(X) X(GRPO_TOKEN_BASELINE_NONE, none, "") \
    X(GRPO_TOKEN_BASELINE_OPTIMAL, optimal, "A - B, B the mean of the A at this position in the prompt's responses, weighted by the " \
      "energies up to it (optimal token baseline, 2602.07078); a prompt of one response keeps A") \
    X(GRPO_TOKEN_BASELINE_OPTIMAL_SHARED, optimal_shared, "as optimal where several responses have this position, else A (as verl: no " \
      "baseline where the longest response is alone)")
typedef enum { GRPO_TOKEN_BASELINE_CHOICES(GRPO_ENUM_) } grpo_token_baseline_kind;
/* A of tokens with batch.marked */
#define GRPO_MARKED_CHOICES(X) X(GRPO_MARKED_NONE, none, "") \
    X(GRPO_MARKED_FIXED, fixed, "A = marked_value (NeMo-RL: invalid tool calls)") \
    X(GRPO_MARKED_BOOST, boost, "A + marked_value |A| (HICRA, 2509.03646)")
typedef enum { GRPO_MARKED_CHOICES(GRPO_ENUM_) } grpo_marked_kind;

typedef struct {
    /* items */
    grpo_rewards_kind rewards;
    grpo_step_value_kind step_value;
    grpo_step_group_kind step_group;
    double history_length, history_power;                  /* levels, a whole number >= 1; power in [-16, 16] */
    grpo_excluded_kind excluded;
    double excluded_coef;                            /* anchor */
    grpo_transform_kind transform;
    double pass_k;                                  /* a whole number, at least 1 */
    /* baseline; baseline_shift is added to b (AsymRE, 2506.20520) */
    grpo_baseline_kind baseline;
    double baseline_shift;
    double quantile;                                /* in [0, 1] */
    double temperature;                             /* > 0 */
    double hdi_mass;                                /* share of the group, 0 < hdi_mass <= 1 */
    double process_noise, observation_noise;        /* of the Kalman filter */
    /* scale */
    grpo_scale_kind scale;
    grpo_std_kind std;
    grpo_samples_kind samples;
    double eps;                                     /* see eps_place */
    double scale_divisor;                           /* of scale constant, > 0 */
    grpo_eps_place_kind eps_place;
    grpo_singleton_kind singleton;
    /* reweighting */
    grpo_reweight_kind reweight;
    double difficulty_weight_low, difficulty_weight_high;      /* difficulty: w(x) = low + (high - low)/(1 + e^(slope (x - midpoint))) */
    double difficulty_slope, difficulty_midpoint;
    double focal_reward_low, focal_reward_high;     /* focal, low < high: the rewards of failure and of success */
    double length_power;
    double reweight_temperature;        /* not 0 */
    double focal_gamma;                 /* >= 0 */
    /* normalisation over the batch */
    grpo_batch_norm_kind batch_norm;
    double batch_norm_eps;
    /* credit */
    grpo_credit_kind credit;
    grpo_step_discount_kind step_discount;
    grpo_bootstrap_kind bootstrap;
    double gamma, lambda;                          /* discount and GAE lambda, per token that counts */
    double step_gamma;                              /* discount per step: step_value return, step_discount steps */
    double lambda_length;                           /* > 0: lambda is at least 1 - 1/max(1, lambda_length T) (VAPO, T-PPO) */
    double truncated_tail;                          /* credit return, gae, step_gae: A = 0 at the last truncated_tail tokens of a response
                                                       with batch.truncated; whitening and batch_norm skip these (T-PPO) */
    double step_coef;                               /* episode_step */
    double entropy_share_coef;                      /* c in the reward of a token: R + c n H/sum H where R > 0, else -1 - c n h/sum h */
    double entropy_share_eps;                       /* > 0: h = 1/(H + eps); sums over the n such responses with a token there */
    /* tokens, in this order */
    grpo_token_baseline_kind token_baseline;
    grpo_entropy_kind entropy;
    double entropy_coef, entropy_kappa;
    double entropy_max;                             /* entropy response: A = 0 if the mean is above this; 0: no limit */
    double teacher_share, teacher_clip;             /* A (1 - share + share clip(e^(+-(logp_teacher - logp_old)), 1 - clip, 1 + clip)), + or
                                                       - the sign of A (RLSD, 2604.03128, as ms-swift) */
    double teacher_coef;                            /* + teacher_coef (logp_teacher - logp_old): on-policy distillation */
    double teacher_gamma;                           /* not 0: that difference summed over this and later tokens, with this discount */
    grpo_teacher_norm_kind teacher_norm;
    double kl_centred_coef;                         /* + kl_centred_coef (mean D - D), D = logp_rollout - logp_ref (tinker-cookbook) */
    grpo_marked_kind marked;
    double marked_value;
    double clamp_low, clamp_high;           /* of A; both 0: none; to set one bound alone, set the other to +-HUGE_VAL */
} grpo_advantage;

/* state of KRPO's Kalman filter: starts at mean 0, variance 1; residual: last item less the mean after it */
typedef struct { grpo_dd mean, variance, residual; } grpo_kalman;

typedef struct { grpo_dd mean, size; } grpo_beta;                      /* Beta(1 + size mean, 1 + size (1 - mean)), of BNPO */

/* the divisor sigma from a variance */
GRPO_FN double grpo_deviation(double variance, double eps, grpo_eps_place_kind place) {
    switch (place) {
    case GRPO_EPS_INSIDE:    return sqrt(variance + eps);
    case GRPO_EPS_FLOOR:     return sqrt(variance > eps ? variance : eps);
    case GRPO_EPS_FLOOR_ADD: return sqrt(variance > eps ? variance : eps) + eps;
    default:                 return sqrt(variance) + eps;
    }
}

GRPO_FN grpo_dd grpo_length_lambda(double alpha, double length);       /* of VAPO: 1 - 1/max(1, alpha T) */

/* ======== axis 3: ratio ===========================================================================================================
 * How far has the policy moved?  From d_t = logp - logp_old to the log-ratio y_t of t's unit: the tokens that ratio.level pools, which are
 * t alone, its segment, the prefix that ends with it, or its response.  l = logp; sg[x]: x without its gradient. */

/* id, name, the policy whose log-probabilities are in the ratio's denominator, what it is */
#define GRPO_BEHAVIOUR_CHOICES(X) X(GRPO_BEHAVIOUR_OLD, old, OLD, "") \
    X(GRPO_BEHAVIOUR_ROLLOUT, rollout, ROLLOUT, "") X(GRPO_BEHAVIOUR_REF, ref, REF, "") \
    X(GRPO_BEHAVIOUR_CURRENT, current, CURRENT, "d = l - sg[l]: the ratio is 1, its gradient that of log-probability (exactly on-policy)") \
    X(GRPO_BEHAVIOUR_NONE, none, NO_POLICY, "d = l: y is a log-probability and no ratio")
typedef enum { GRPO_BEHAVIOUR_CHOICES(GRPO_ENUM_) } grpo_behaviour_kind;
/* a pool: which tokens a statistic is taken over, and how.  Tables of such choices: id, name, over, how, what it is */
typedef enum { GRPO_OVER_TOKEN, GRPO_OVER_SEGMENT, GRPO_OVER_PREFIX, GRPO_OVER_SEQUENCE } grpo_over;
typedef enum { GRPO_HOW_SUM, GRPO_HOW_MEAN, GRPO_HOW_MAX } grpo_how;
typedef struct { grpo_over over; grpo_how how; } grpo_pool;
#define GRPO_POOL_(id, name, over, how, text) { GRPO_OVER_##over, GRPO_HOW_##how },

#define GRPO_LEVEL_CHOICES(X) \
    X(GRPO_LEVEL_TOKEN, token, TOKEN, SUM, "y = d_t") \
    X(GRPO_LEVEL_SEQUENCE_MEAN, sequence_mean, SEQUENCE, MEAN, "y = (1/T) sum d: GSPO eq. 7 (2507.18071)") \
    X(GRPO_LEVEL_SEQUENCE_SUM, sequence_sum, SEQUENCE, SUM, "y = sum d: the ratio of the whole response") \
    X(GRPO_LEVEL_SEQUENCE_CLIPPED_MEAN, sequence_clipped_mean, SEQUENCE, MEAN, \
      "y = (1/T) sum of d clipped at token_clip_high (A >= 0) or -token_clip_low (A < 0): GMPO (2507.20673)") \
    X(GRPO_LEVEL_SEGMENT_MEAN, segment_mean, SEGMENT, MEAN, "y = mean of d over t's segment (ROLL's turns)") \
    X(GRPO_LEVEL_SEGMENT_SUM, segment_sum, SEGMENT, SUM, "y = sum of d over t's segment") \
    X(GRPO_LEVEL_PREFIX_SUM, prefix_sum, PREFIX, SUM, "y = sum of d up to and including t") \
    X(GRPO_LEVEL_PREFIX_MEAN, prefix_mean, PREFIX, MEAN, "y = mean of d up to and including t") \
    X(GRPO_LEVEL_SEQUENCE_MEAN_RATIO, sequence_mean_ratio, SEQUENCE, MEAN, "y = log((1/T) sum e^d): GRPO-S (2508.04349)") \
    X(GRPO_LEVEL_SEQUENCE_POWER_MEAN, sequence_power_mean, SEQUENCE, MEAN, \
      "y = (1/power) log((1/T) sum e^(power d)), d clipped as in GMPO: APMPO (2605.04066)")
typedef enum { GRPO_LEVEL_CHOICES(GRPO_ENUM_) } grpo_level_kind;
#define GRPO_GRADIENT_CHOICES(X) \
    X(GRPO_GRADIENT_FULL, full, "through every token of the unit") \
    X(GRPO_GRADIENT_TOKEN, token, "through the token itself: y = sg[y] + l - sg[l] (GSPO-token eq. 14)")
typedef enum { GRPO_GRADIENT_CHOICES(GRPO_ENUM_) } grpo_gradient_kind;
#define GRPO_INTERPOLATE_CHOICES(X) X(GRPO_INTERPOLATE_NONE, none, "") \
    X(GRPO_INTERPOLATE_ARITHMETIC, arithmetic, "y := log((e^d + e^y)/2): mean of the token's and the unit's ratio (ART)") \
    X(GRPO_INTERPOLATE_GEOMETRIC, geometric, "y := interpolate_token d + interpolate_level y (ART's geometric average: 1/2, 1/2)")
typedef enum { GRPO_INTERPOLATE_CHOICES(GRPO_ENUM_) } grpo_interpolate_kind;

typedef struct {
    grpo_level_kind level;
    grpo_gradient_kind gradient;
    grpo_interpolate_kind interpolate;                         /* between the token's d and the unit's y */
    double interpolate_token, interpolate_level;
    grpo_behaviour_kind behaviour;
    double token_clip_low, token_clip_high;      /* log-space bounds of the clipped mean and of the power mean */
    double power;                                /* of the power mean, in (0, 16]; 0: 1 */
    double clamp_low, clamp_high;                /* of d, derivative 0 outside; both 0: none (see advantage.clamp_low) */
    double level_clamp_low, level_clamp_high;    /* of y, likewise */
} grpo_ratio_axis;

/* an importance ratio, value = e^(log + log_lo); clips compare log, which exp has not rounded */
typedef struct { double log, log_lo, value; } grpo_ratio;

GRPO_FN grpo_ratio grpo_ratio_exp(grpo_dd log_ratio) {
    const grpo_ratio r = { log_ratio.hi, log_ratio.lo, grpo_exp(log_ratio) };
    return r;
}

GRPO_FN grpo_dd grpo_ratio_log(grpo_ratio w) { return grpo_dd_pair_(w.log, w.log_lo); }
/* the token's ratio, from log-probabilities under the new and the old policy */
GRPO_FN grpo_ratio grpo_ratio_of(double logp, double logp_old) { return grpo_ratio_exp(grpo_two_diff(logp, logp_old)); }

GRPO_FN grpo_dd grpo_clamp_far_(grpo_dd x, double low, double high, int *passes) {      /* x at a bound or outside */
    *passes = 0;
    if (grpo_dd_exceeds(grpo_dd_negative(x), -low)) return grpo_dd_of_(low);
    if (grpo_dd_exceeds(x, high)) return grpo_dd_of_(high);
    *passes = 1;
    return x;
}

/* x clamped to [low, high], both 0: not at all; *passes: the derivative, 1 or 0 */
GRPO_FORCE_INLINE_FN_ grpo_dd grpo_clamp(grpo_dd x, double low, double high, int *passes) {
    *passes = 1;
    return (low == 0 && high == 0) || (x.hi > low && x.hi < high) ? x : grpo_clamp_far_(x, low, high, passes);
}

/* ======== axis 4: surrogate =======================================================================================================
 * Which loss do a ratio and an advantage give?  w = ratio, y = log w, A = advantage, l = logp. */

/* id, name, a function of one TOKEN or of a GROUP, arrays it needs besides those of its ratio, numbers it reads and their domains (besides
 * the domains of the field table), the term as an expression, what it is */
#define GRPO_SURROGATE_CHOICES(X) \
    X(GRPO_SURROGATE_REINFORCE, reinforce, TOKEN, 0, GRPO_READS_NOTHING_, grpo_reinforce(advantage, logp), "-A l (Williams 1992)") \
    X(GRPO_SURROGATE_RATIO, ratio, TOKEN, 0, GRPO_READS_NOTHING_, grpo_ratio_term(w, advantage), "-w A") \
    X(GRPO_SURROGATE_PPO_CLIP, ppo_clip, TOKEN, 0, GRPO_READS_NOTHING_, grpo_ppo_clip(w, advantage, range), \
      "max(-w A, -clip(w, 1 - eps_low, 1 + eps_high) A): PPO (1707.06347), DAPO's clip-higher") \
    X(GRPO_SURROGATE_DUAL_CLIP, dual_clip, TOKEN, 0, GRPO_READS_NOTHING_, grpo_dual_clip(w, advantage, range, s->clip_dual), \
      "the same, and at most -clip_dual A where A < 0 (1912.09729); also the two-sided clip \"delta\" (2505.07291)") \
    X(GRPO_SURROGATE_CISPO, cispo, TOKEN, 0, GRPO_READS_RANGE_(weight_min, weight_max), \
      grpo_cispo(w, advantage, logp, s->weight_min, s->weight_max), \
      "-sg[clip(w, weight_min, weight_max)] A l (2506.13585 eq. 4)") \
    X(GRPO_SURROGATE_SAPO, sapo, TOKEN, 0, GRPO_READS_POSITIVE_(tau_pos) GRPO_READS_POSITIVE_(tau_neg), \
      grpo_sapo(w, advantage, up ? s->tau_pos : s->tau_neg), \
      "-(4/tau) sigmoid(tau (w - 1)) A, tau by the sign of A (2511.20347 eqs. 5-7)") \
    X(GRPO_SURROGATE_VESPO, vespo, TOKEN, 0, GRPO_READS_NOTHING_, \
      grpo_vespo(w, advantage, logp, up ? s->vespo_k_pos : s->vespo_k_neg, up ? s->vespo_lambda_pos : s->vespo_lambda_neg), \
      "-sg[w^k e^(lambda (1 - w))] A l, (k, lambda) by the sign of A (2602.10693)") \
    X(GRPO_SURROGATE_LOG_RATIO, log_ratio, TOKEN, 0, GRPO_READS_NOTHING_, grpo_log_ratio_term(w, advantage), "-A y, y the log-ratio") \
    X(GRPO_SURROGATE_SQUARED, squared, TOKEN, 0, GRPO_READS_NOTHING_, grpo_squared(w, advantage, s->beta), \
      "(A - beta y)^2, where A = 0 too (Kimi k1.5, 2501.12599 section 2.3.2; Kimi K2, 2507.20534)") \
    X(GRPO_SURROGATE_GPPO, gppo, TOKEN, 0, GRPO_READS_NOTHING_, \
      grpo_gppo(w, advantage, range, s->clip_dual, s->gppo_beta_low, s->gppo_beta_high), \
      "PPO clip that keeps a gradient: clipped, -beta bound A sg[1/w] w (2508.07629 eqs. 11, 17-18; CE-GPPO 2509.20712)") \
    X(GRPO_SURROGATE_ASPO, aspo, TOKEN, 0, GRPO_READS_ABOVE_ONE_(clip_dual) GRPO_READS_ABOVE_ONE_(clip_dual_pos), \
      grpo_aspo(w, advantage, logp, range, s->clip_dual, s->clip_dual_pos), \
      "weight 1/w instead of w where A > 0, soft dual clips on both sides (2510.06062)") \
    X(GRPO_SURROGATE_TOPR, topr, TOKEN, 0, GRPO_READS_RANGE_(weight_min, weight_max), \
      grpo_topr(w, advantage, logp, s->weight_min, s->weight_max), \
      "-sg[u] A l, u = 1 if A > 0, else w clipped to [weight_min, weight_max] (2503.14286)") \
    X(GRPO_SURROGATE_MASKED_WEIGHT, masked_weight, TOKEN, 0, GRPO_READS_RANGE_(weight_min, weight_max), \
        grpo_masked_weight(w, advantage, logp, s->weight_min, s->weight_max), \
      "-sg[w] A l inside [weight_min, weight_max], 0 outside") \
    X(GRPO_SURROGATE_SAPO_DETACHED, sapo_detached, TOKEN, 0, GRPO_READS_POSITIVE_(tau_pos) GRPO_READS_POSITIVE_(tau_neg), \
      grpo_sapo_detached(w, advantage, logp, up ? s->tau_pos : s->tau_neg), "-A sg[(4/tau) sigmoid(tau (w - 1))] l (Trinity-RFT)") \
    /* in gspo.h, functions of a group; ratio.level must be one of the response.  F_i is the term of each token of response i, from scores \
       s_j and advantages A_j (at the first token that counts) of the G responses with such tokens.  + and -: the n+ \
       responses with A > 0 and the n- others; v = 1/n+, or if length_decay is not 0 the softmax over + of -length_decay T. \
       An infinite score is one K, whatever its finite part and however many of its tokens are infinite */ \
    X(GRPO_SURROGATE_VARIANCE, variance, GROUP, 0, GRPO_READS_NOTHING_, none, \
        "(beta (s_i - mean s) - A_i)^2/(2 (G - 1)) (GVPO, 2504.19599)") \
    X(GRPO_SURROGATE_LOGISTIC_LSE, logistic_lse, GROUP, 0, GRPO_READS_POSITIVE_(tau_pos) GRPO_READS_POSITIVE_(tau_neg), none, \
      "A_i > 0: log(1 + sum_+ e^(-s_j/tau_pos))/n+, else log(1 + sum_- e^(s_j/tau_neg))/n-; 0 without + or without - (REAL, 2602.05630)") \
    X(GRPO_SURROGATE_TRAJECTORY_BALANCE, trajectory_balance, GROUP, GRPO_NEED_LOG_PARTITION_, GRPO_READS_NOTHING_, none, \
      "(z + s_i - reward_beta A_i)^2, z = batch.log_partition, whose gradient is grpo_output.dlog_partition (FlowRL, 2509.15207)") \
    X(GRPO_SURROGATE_PAIRWISE_LOGISTIC, pairwise_logistic, GROUP, 0, GRPO_READS_NOTHING_, none, \
      "1/P sum_b log(1 + e^(-beta (s_i - s_b))) over the P pairs of the group with A_i - A_b > min_gap") \
    X(GRPO_SURROGATE_SOFTMAX_CROSS_ENTROPY, softmax_cross_entropy, GROUP, 0, GRPO_READS_POSITIVE_(advantage_temperature), none, \
        "-softmax(A/advantage_temperature)_i log softmax(beta s)_i") \
    X(GRPO_SURROGATE_DISCRIMINATIVE_MEAN, discriminative_mean, GROUP, 0, GRPO_READS_NOTHING_, none, \
      "A_i > 0: -v_i s_i, else s_i/n-; 0 without + or without - (DisCO-b, 2505.12366)") \
    X(GRPO_SURROGATE_DISCRIMINATIVE_LSE, discriminative_lse, GROUP, 0, GRPO_READS_POSITIVE_(tau_neg), none, "A_i > 0: -v_i (s_i - " \
      "tau_neg log((1/n-) sum_- e^(s_j/tau_neg))), else 0; 0 without + or without - (DisCO; DRPO, 2510.04474, with a length_decay)") \
    X(GRPO_SURROGATE_PAIRWISE_SOFT, pairwise_soft, GROUP, 0, GRPO_READS_POSITIVE_(advantage_temperature), none, "1/(G (G - 1)) sum_j " \
      "log(1 + e^D) - p D, D = beta (s_i - s_j), p = sigmoid((A_i - A_j)/advantage_temperature) (DNO, 2404.03715, algorithm 1)") \
    X(GRPO_SURROGATE_SOFTMAX_MSE, softmax_mse, GROUP, 0, GRPO_READS_POSITIVE_(advantage_temperature), none, \
      "(p_i - u_i)^2, p = softmax(A/advantage_temperature), u = softmax(beta s) (DMPO, 2605.19461, its code)") \
    X(GRPO_SURROGATE_SOFTMAX_JS, softmax_js, GROUP, 0, GRPO_READS_POSITIVE_(advantage_temperature), none, \
      "(p_i log(p_i/q_i) + u_i log(u_i/q_i))/2, q = (p + u)/2 (the same)") \
    /* functions of one token again */ \
    X(GRPO_SURROGATE_LOGISTIC, logistic, TOKEN, 0, GRPO_READS_NOTHING_, grpo_logistic_term(w, advantage, s->beta, s->logit_shift), \
      "log(1 + e^(-+(beta y - logit_shift))), - where A > 0, else +, where A = 0 too (VPD, 2605.15113, E-step)") \
    X(GRPO_SURROGATE_DISPO, dispo, TOKEN, 0, GRPO_READS_RANGE_(weight_min, weight_max) GRPO_READS_RANGE_(weight_min_neg, weight_max_neg), \
      grpo_cispo(w, advantage, logp, up ? s->weight_min : s->weight_min_neg, up ? s->weight_max : s->weight_max_neg), \
      "cispo with bounds of its own where A < 0: weight_min_neg, weight_max_neg (2602.00983)") \
    X(GRPO_SURROGATE_BGPO, bgpo, TOKEN, 0, GRPO_READS_NOTHING_, grpo_bgpo(w, advantage), \
      "A > 0: -(1 + y) A, A < 0: -w A: a bound on -w A (2510.11683 eqs. 9-10, 12-14)") \
    X(GRPO_SURROGATE_POLICY_SHAPING, policy_shaping, TOKEN, GRPO_NEED_SHAPING_MASK_, GRPO_READS_POSITIVE_(shaping_gamma), \
        grpo_ppo_clip(w, advantage, range), \
      "-A w/(w + shaping_gamma) at tokens with batch.shaping_mask (GUIDE, 2506.13923; LUFFY, 2504.14945), ppo_clip at others") \
    X(GRPO_SURROGATE_QUADRATIC, quadratic, TOKEN, 0, GRPO_READS_POSITIVE_BOUND_(quadratic_eps), \
      grpo_quadratic(w, advantage, s->quadratic_eps), \
      "-A w + |A| (w - 1)^2/(2 quadratic_eps): best at 1 +- quadratic_eps, never clipped (CFPO, 2601.22801)") \
    X(GRPO_SURROGATE_UNBOUNDED_POSITIVE, unbounded_positive, TOKEN, 0, GRPO_READS_NOTHING_, \
        grpo_unbounded_positive(w, advantage, range, s->clip_dual), \
      "A > 0: -A, with the gradient of -A l; A < 0: dual_clip (UP, 2607.06987, eq. 15)") \
    /* of a group */ \
    X(GRPO_SURROGATE_STANDARDISED, standardised, GROUP, 0, GRPO_READS_NOTHING_, none, \
      "(A_i - beta z_i)^2, z_i = (s_i - sg[mean s])/(sg[sample std s] + group_score_eps) (GIFT, 2510.23868)") \
    X(GRPO_SURROGATE_TILTED_CROSS_ENTROPY, tilted_cross_entropy, GROUP, GRPO_NEED_OLD_, GRPO_READS_POSITIVE_(advantage_temperature), none, \
        "-q_i log softmax(beta s)_i, q = softmax(beta o + " \
      "A/advantage_temperature), o as y of logp_old: behaviour none, level sequence_mean or sequence_sum (TPO, 2604.06159)") \
    X(GRPO_SURROGATE_PAIRWISE_HINGE, pairwise_hinge, GROUP, 0, GRPO_READS_NOTHING_, none, \
      "1/P sum_b max(0, hinge_margin - beta (s_i - s_b)) over the pairs of pairwise_logistic (Click, 2306.03350)") \
    X(GRPO_SURROGATE_REGRESSION, regression, GROUP, 0, GRPO_READS_NOTHING_, none, \
      "standardised with mean and deviation differentiated too, A_i^2 of one response (Reg-GRPO, 2506.07464, eqs. 8-9)") \
    X(GRPO_SURROGATE_CONTRASTIVE, contrastive, GROUP, 0, GRPO_READS_POSITIVE_(contrast_temperature), none, \
      "A_i > 0: -(t/n+) log(e^z/(e^z + sum_- e^(s_j/t))), z = (s_i - contrast_margin)/t, t = contrast_temperature, else 0; 0 without " \
      "+ or without - (ConSPO, 2605.12969, eqs. 8, 13)") \
    /* functions of one token */ \
    X(GRPO_SURROGATE_QUADRATIC_PROBABILITY, quadratic_probability, TOKEN, 0, GRPO_READS_POSITIVE_BOUND_(quadratic_eps), none, \
      "-A w + |A| p (w - 1)^2/(2 quadratic_eps), p = sg[e^x], x the log-probability in the ratio's denominator (DRPO, 2606.09821)") \
    X(GRPO_SURROGATE_NONE, none, TOKEN, 0, GRPO_READS_NOTHING_, none, "0: the loss is the penalty alone (TRPA, 2504.04524). Needs no " \
      "ratio; advantages may be NULL if nothing else reads them")
typedef enum { GRPO_SURROGATE_CHOICES(GRPO_ENUM_) } grpo_surrogate_kind;
/* the score s of a response in the functions of a group */
#define GRPO_GROUP_SCORE_CHOICES(X) \
    X(GRPO_GROUP_SCORE_LOG, log, "s = y") X(GRPO_GROUP_SCORE_RATIO, ratio, "s = e^y")
typedef enum { GRPO_GROUP_SCORE_CHOICES(GRPO_ENUM_) } grpo_group_score_kind;
#define GRPO_BOUNDS_CHOICES(X) \
    X(GRPO_BOUNDS_FIXED, fixed, "1 - eps_low, 1 + eps_high") \
    X(GRPO_BOUNDS_PROBABILITY, probability, "wider for tokens that were less probable, of ppo_clip, dual_clip and gppo (DCPO 2509.02333)") \
    X(GRPO_BOUNDS_POSITION, position, "e^(-log_low s), e^(log_high s), e^(log_clip_dual s), s = n^position_power at the n-th token that " \
      "counts of its response, of ppo_clip and dual_clip (CTPO 2605.07331)") \
    X(GRPO_BOUNDS_EXTERNAL, external, "1 - batch.eps_low, 1 + batch.eps_high, of ppo_clip, dual_clip and gppo")
typedef enum { GRPO_BOUNDS_CHOICES(GRPO_ENUM_) } grpo_bounds_kind;

typedef struct {
    grpo_surrogate_kind kind;
    grpo_group_score_kind group_score;
    grpo_bounds_kind bounds;
    double eps_low, eps_high;      /* distances of the clip's bounds from 1, >= 0; +infinity: no bound */
    double quadratic_eps;          /* quadratic, quadratic_probability, > 0: best at 1 +- this, or 1 +- this/p */
    double bound_cap;              /* bounds probability: largest upper bound; 0: no limit */
    double log_low, log_high, log_clip_dual;    /* bounds position, >= 0: of the log-ratio, at the first token */
    double position_power;                   /* in [-16, 16] */
    double clip_dual;                        /* > 1 + eps_high (aspo: > 1); gppo, aspo: or 0, none */
    double clip_dual_pos;                    /* aspo, > 1: bound of 1/w where A > 0; 0: none */
    double gppo_beta_low, gppo_beta_high;    /* gppo; 0: no gradient where clipped, as PPO */
    double weight_min, weight_max;           /* 0 <= weight_min <= weight_max, +infinity: no bound; likewise the next two */
    double weight_min_neg, weight_max_neg;     /* dispo, where A < 0 */
    double tau_pos, tau_neg;       /* > 0: of sigmoids and log-sum-exps, by the sign of A */
    double advantage_temperature;  /* > 0: of a softmax or sigmoid of the advantages */
    double vespo_k_pos, vespo_lambda_pos, vespo_k_neg, vespo_lambda_neg;
    double beta;                   /* squared, logistic and functions of a group that have it */
    double reward_beta;            /* trajectory_balance: factor of the advantage (FlowRL's beta) */
    double length_decay;           /* discriminative_mean, discriminative_lse */
    double logit_shift;            /* logistic */
    double hinge_margin;           /* pairwise_hinge */
    double shaping_gamma;          /* policy_shaping, > 0 */
    double min_gap;                /* pairwise_logistic, pairwise_hinge, >= 0 */
    double group_score_eps;        /* standardised, regression, >= 0 */
    double contrast_temperature, contrast_margin;    /* contrastive; temperature > 0 */
} grpo_surrogate;

typedef enum { GRPO_CLIP_NO, GRPO_CLIP_LOW, GRPO_CLIP_HIGH, GRPO_CLIP_DUAL } grpo_clip_side;

/* a loss term with its derivatives with respect to the log-ratio and to logp; clip: which bound is active */
typedef struct { double value, d_log_ratio, d_logp; grpo_clip_side clip; } grpo_term;

GRPO_FN grpo_term grpo_term_of_(double value, double d_log_ratio, double d_logp) {
    const grpo_term t = { value, d_log_ratio, d_logp, GRPO_CLIP_NO };
    return t;
}

typedef struct { double low, high, log_low, log_high; } grpo_range;    /* clip bounds of the ratio */

GRPO_NOINLINE_FN_ grpo_range grpo_clip_range(double eps_low, double eps_high) {
    grpo_range r;
    r.low = 1 - eps_low;      r.log_low = r.low > 0 ? log1p(-eps_low) : -HUGE_VAL;
    r.high = 1 + eps_high;    r.log_high = log1p(eps_high);
    return r;
}

typedef struct { grpo_dd low, high, dual; } grpo_log_range;            /* of the log-ratio */

GRPO_FN grpo_term grpo_reinforce(double advantage, double logp) {
    return grpo_term_of_(grpo_times(-advantage, logp), 0, -advantage);
}

GRPO_FN grpo_term grpo_ratio_term(grpo_ratio w, double advantage) {
    const double worth = grpo_times(-advantage, w.value);
    return grpo_term_of_(worth, worth, 0);
}

GRPO_FN grpo_term grpo_clipped(double bound, double advantage, grpo_clip_side side) {
    const grpo_term t = { -bound * advantage, 0, 0, side };
    return t;
}

/* 1 if a bound of a clip is active: the ratio is past it, and A > 0 for the upper bound, A < 0 for the lower and the dual one (pass -A) */
GRPO_FN int grpo_clip_binds(double advantage, int past) { return advantage > 0 && past; }

/* which bound is active; above, below, beyond: 1 if the ratio is past the upper, the lower, the dual bound */
GRPO_FN grpo_clip_side grpo_clip_side_of(double advantage, int above, int below, int beyond) {
    if (grpo_clip_binds(advantage, above)) return GRPO_CLIP_HIGH;
    if (grpo_clip_binds(-advantage, beyond)) return GRPO_CLIP_DUAL;
    return grpo_clip_binds(-advantage, below) ? GRPO_CLIP_LOW : GRPO_CLIP_NO;
}

/* clip_dual = HUGE_VAL: no dual clip */
GRPO_FN grpo_term grpo_dual_clip(grpo_ratio w, double advantage, grpo_range range, double clip_dual) {
    switch (grpo_clip_side_of(advantage, w.log > range.log_high, w.log < range.log_low, w.value > clip_dual)) {
    case GRPO_CLIP_DUAL: return grpo_clipped(clip_dual, advantage, GRPO_CLIP_DUAL);
    case GRPO_CLIP_HIGH: return grpo_clipped(range.high, advantage, GRPO_CLIP_HIGH);
    case GRPO_CLIP_LOW:  return grpo_clipped(range.low, advantage, GRPO_CLIP_LOW);
    default:             return grpo_ratio_term(w, advantage);
    }
}

GRPO_FN grpo_term grpo_ppo_clip(grpo_ratio w, double advantage, grpo_range range) {
    return grpo_dual_clip(w, advantage, range, HUGE_VAL);
}

GRPO_FN grpo_term grpo_cispo(grpo_ratio w, double advantage, double logp, double weight_min, double weight_max) {
    grpo_term t = grpo_reinforce(grpo_times(grpo_within(w.value, weight_min, weight_max), advantage), logp);
    if (advantage != 0) t.clip = w.value < weight_min ? GRPO_CLIP_LOW : w.value > weight_max ? GRPO_CLIP_HIGH : GRPO_CLIP_NO;
    return t;
}

/* factor (w - 1), the argument of an exponential, in double-double; only if both are small may w be the rounded value */
#define GRPO_SMALL_FACTOR_ 3
GRPO_FN grpo_dd grpo_ratio_minus_one_times(grpo_ratio w, double factor) {
    const int rounded = w.value <= 2 && fabs(factor) <= GRPO_SMALL_FACTOR_;
    return grpo_dd_mul(rounded ? grpo_two_sum(w.value, -1) : grpo_exp_minus_one_twice(grpo_ratio_log(w)), factor);
}

/* sigmoid(z) and its derivative, e/(1 + e)^2, even in z */
typedef struct { double value, slope; } grpo_gate;

/* both from e = e^-|z|; up: 1 if z > 0 */
GRPO_FORCE_INLINE_FN_ double grpo_gate_value_(double e, int up) { return (up ? 1 : e) / (1 + e); }
GRPO_FORCE_INLINE_FN_ double grpo_gate_slope_(double e) { return e / ((1 + e) * (1 + e)); }

GRPO_FN grpo_gate grpo_sigmoid(grpo_dd z) {
    const double e = grpo_exp(z.hi > 0 ? grpo_dd_negative(z) : z);
    const grpo_gate g = { grpo_gate_value_(e, z.hi > 0), grpo_gate_slope_(e) };
    return g;
}

/* at z = tau (w - 1) */
GRPO_FN grpo_gate grpo_sigmoid_gate(grpo_ratio w, double tau) { return grpo_sigmoid(grpo_ratio_minus_one_times(w, tau)); }

GRPO_FN grpo_term grpo_sapo(grpo_ratio w, double advantage, double tau) {
    const grpo_gate g = grpo_sigmoid_gate(w, tau);
    return grpo_term_of_(-(4 / tau) * g.value * advantage, grpo_times(-4 * g.slope * advantage, w.value), 0);
}

/* the term of the table; for policy_shaping ppo_clip, for quadratic_probability 0.  A = 0 gives 0, except for squared and logistic */
GRPO_FN grpo_term grpo_surrogate_term(const grpo_surrogate *s, grpo_range range, grpo_ratio w, double advantage, double logp);

/* ======== axis 5: penalty =========================================================================================================
 * What is added to the surrogate?  At each token kl_coef u K - entropy_coef H: K an estimator of KL(policy || reference), u its importance
 * weight, H the entropy.  To the loss, with their own divisors: a likelihood over some tokens, a preference loss over response pairs. */

#define GRPO_KL_REFERENCE_CHOICES(X) X(GRPO_KL_REFERENCE_REF, ref, REF, "") \
    X(GRPO_KL_REFERENCE_OLD, old, OLD, "") X(GRPO_KL_REFERENCE_ROLLOUT, rollout, ROLLOUT, "") \
    X(GRPO_KL_REFERENCE_TEACHER, teacher, TEACHER, "")
typedef enum { GRPO_KL_REFERENCE_CHOICES(GRPO_ENUM_) } grpo_kl_reference_kind;
#define GRPO_KL_GRADIENT_CHOICES(X) X(GRPO_KL_GRADIENT_EXACT, exact, "") \
    X(GRPO_KL_GRADIENT_STRAIGHT_THROUGH_K2, straight_through_k2, "value of K, gradient of k2: straight-through (verl's \"k3+\")") \
    X(GRPO_KL_GRADIENT_DETACHED, detached, "value of K without its gradient; u may still have one")
typedef enum { GRPO_KL_GRADIENT_CHOICES(GRPO_ENUM_) } grpo_kl_gradient_kind;
#define GRPO_KL_IMPORTANCE_WEIGHT_CHOICES(X) \
    X(GRPO_KL_IMPORTANCE_WEIGHT_NONE, none, "u = 1") \
    X(GRPO_KL_IMPORTANCE_WEIGHT_TOKEN, token, \
        "u = e^d, d of axis 3 unclamped, differentiated: unbiased off-policy (DeepSeek-V3.2, 2512.02556)") \
    X(GRPO_KL_IMPORTANCE_WEIGHT_LEVEL, level, "u = the ratio of axis 3, differentiated (TRL at sequence level)") \
    X(GRPO_KL_IMPORTANCE_WEIGHT_SCORE_FUNCTION, score_function, "u = e^(l - sg[l]): 1, with the gradient of the score function")
typedef enum { GRPO_KL_IMPORTANCE_WEIGHT_CHOICES(GRPO_ENUM_) } grpo_kl_importance_weight_kind;
#define GRPO_KL_CLAMP_ON_CHOICES(X) X(GRPO_KL_CLAMP_ON_ESTIMATE, estimate, "kl_clamp_value bounds |K|, which is then multiplied by u") \
    X(GRPO_KL_CLAMP_ON_WEIGHTED, weighted, "kl_clamp_value bounds |u K|; where it binds, u has no gradient either (NeMo-RL, slime)")
typedef enum { GRPO_KL_CLAMP_ON_CHOICES(GRPO_ENUM_) } grpo_kl_clamp_on_kind;
#define GRPO_KL_ON_CHOICES(X) X(GRPO_KL_ON_ALL, all, "") \
    X(GRPO_KL_ON_SELECTED, selected, "at tokens with batch.kl_mask (KL-Cov, 2505.22617)")
typedef enum { GRPO_KL_ON_CHOICES(GRPO_ENUM_) } grpo_kl_on_kind;
/* aggregation of the KL and of the entropy bonus: id, name, the choice of axis 7, what it is */
#define GRPO_PENALTY_AGGREGATION_CHOICES(X) X(GRPO_PENALTY_AGGREGATION_TERMS, terms, TOKEN_SUM, "as the surrogate") \
    X(GRPO_PENALTY_AGGREGATION_TOKEN_MEAN, token_mean, TOKEN_MEAN, "") \
    X(GRPO_PENALTY_AGGREGATION_SEQ_MEAN_TOKEN_MEAN, seq_mean_token_mean, SEQ_MEAN_TOKEN_MEAN, "")
typedef enum { GRPO_PENALTY_AGGREGATION_CHOICES(GRPO_ENUM_) } grpo_penalty_aggregation_kind;
/* to the loss is added nll_coef/D times the sum of -u h over D tokens of the batch, which are: */
#define GRPO_NLL_CHOICES(X) X(GRPO_NLL_NONE, none, "") \
    X(GRPO_NLL_CORRECT, correct, "of responses with batch.reward > 0 (VAPO, 2504.05118)") \
    X(GRPO_NLL_POSITIVE, positive, "with A > 0 (OREAL, 2502.06781, as xtuner)") \
    X(GRPO_NLL_SELECTED, selected, "with batch.nll_mask (CHORD, 2508.11408: those of the demonstrations)") X(GRPO_NLL_ALL, all, "") \
    X(GRPO_NLL_NOT_NEGATIVE, not_negative, "with A >= 0 (LLDS, 2512.04220)")
typedef enum { GRPO_NLL_CHOICES(GRPO_ENUM_) } grpo_nll_kind;
/* the weight u, no gradient through it; p = e^l */
#define GRPO_NLL_WEIGHT_CHOICES(X) \
    X(GRPO_NLL_WEIGHT_NONE, none, "1") X(GRPO_NLL_WEIGHT_P, p, "p") \
    X(GRPO_NLL_WEIGHT_P_ONE_MINUS_P, p_one_minus_p, "p (1 - p) (CHORD's phi)") \
    X(GRPO_NLL_WEIGHT_TEACHER_GATE, teacher_gate, "sigmoid(nll_teacher_slope (logp_teacher - l)) (SDAR, 2605.15155)")
typedef enum { GRPO_NLL_WEIGHT_CHOICES(GRPO_ENUM_) } grpo_nll_weight_kind;
/* the summand h */
#define GRPO_NLL_FORM_CHOICES(X) \
    X(GRPO_NLL_FORM_LOGP, logp, "l") X(GRPO_NLL_FORM_TEACHER_GAP, teacher_gap, "l - logp_teacher (SDAR, 2605.15155)") \
    X(GRPO_NLL_FORM_DISPLACEMENT, displacement, "-max(logp_old - l, 0) (LLDS, 2512.04220)")
typedef enum { GRPO_NLL_FORM_CHOICES(GRPO_ENUM_) } grpo_nll_form_kind;
/* form displacement only: tokens outside what the gate passes add 0 and still count in D */
#define GRPO_NLL_GATE_CHOICES(X) X(GRPO_NLL_GATE_NONE, none, TOKEN, SUM, "") \
    X(GRPO_NLL_GATE_SEQUENCE, sequence, SEQUENCE, SUM, \
      "responses whose logp_old - l sum to more than 0, over their tokens among the D (2512.04220)") \
    X(GRPO_NLL_GATE_SEGMENT, segment, SEGMENT, SUM, "the same of segments: turns")
typedef enum { GRPO_NLL_GATE_CHOICES(GRPO_ENUM_) } grpo_nll_gate_kind;
/* in gspo.h, added to the loss: preference_coef/D times the sum of log(1 + e^(-preference_beta (s_a - s_b))) over the D pairs of responses
 * of one group with reward_a - reward_b > preference_min_gap (AMIR-GRPO, 2601.03661) */
#define GRPO_PREFERENCE_CHOICES(X) X(GRPO_PREFERENCE_NONE, none, "") X(GRPO_PREFERENCE_PAIRWISE, pairwise, "") \
    X(GRPO_PREFERENCE_PAIRWISE_ELSE_POINTWISE, pairwise_else_pointwise, "pairwise; in a batch without such pairs preference_coef/N times " \
      "the sum of log(1 + e^(-+s)) over its N responses with tokens that count, - where the reward is > 0 (TRPA, 2504.04524)")
typedef enum { GRPO_PREFERENCE_CHOICES(GRPO_ENUM_) } grpo_preference_kind;
#define GRPO_PREFERENCE_SCORE_CHOICES(X) \
    X(GRPO_PREFERENCE_SCORE_REF, ref, "s = mean of l - logp_ref over the response") \
    X(GRPO_PREFERENCE_SCORE_REFERENCE_FREE, reference_free, "s = mean of l")
typedef enum { GRPO_PREFERENCE_SCORE_CHOICES(GRPO_ENUM_) } grpo_preference_score_kind;

typedef struct {
    grpo_kl_kind kl;
    grpo_kl_reference_kind kl_reference;       /* the policy whose log-probability is x in D = l - x */
    grpo_kl_on_kind kl_on;
    grpo_kl_gradient_kind kl_gradient;
    grpo_kl_importance_weight_kind kl_importance_weight;
    double kl_importance_weight_max;                   /* upper bound of u, derivative 0 where it binds; 0: none */
    double kl_coef;
    double kl_clamp_log, kl_clamp_value;   /* bounds of |D|, and of |K| or |u K|; derivative 0 outside; 0: none */
    grpo_kl_clamp_on_kind kl_clamp_on;
    grpo_penalty_aggregation_kind kl_aggregation;
    double entropy_coef;                   /* its gradient is grpo_output.dentropy */
    grpo_penalty_aggregation_kind entropy_aggregation;
    grpo_nll_kind nll_on;
    grpo_nll_weight_kind nll_weight;
    grpo_nll_form_kind nll_form;
    grpo_nll_gate_kind nll_gate;
    double nll_teacher_slope;                /* nll_weight teacher_gate */
    double nll_coef;
    grpo_preference_kind preference;
    grpo_preference_score_kind preference_score;
    double preference_min_gap;                    /* >= 0 */
    double preference_beta, preference_coef;
    double preference_kappa;                   /* >= 0; not 0: factor of preference_beta where reward_a > 0 (TRPA's kappa) */
} grpo_penalty;

/* the KL of one token.  logp_ref: under kl_reference; token_ratio: e^d, read by kl_importance_weight token; level_ratio: w of axis 3, read
 * by kl_importance_weight level */
GRPO_APART_FN_ grpo_term grpo_kl_penalty(const grpo_penalty *p, double logp, double logp_ref, double token_ratio, double level_ratio) {
    grpo_term t = { 0, 0, 0, GRPO_CLIP_NO };
    int in_log_clamp, weighted, u_has_gradient = p->kl_importance_weight != GRPO_KL_IMPORTANCE_WEIGHT_NONE;
    if (p->kl == GRPO_KL_NONE || p->kl_coef == 0) return t;
    const grpo_dd diff = grpo_clamp(grpo_two_diff(logp, logp_ref), -p->kl_clamp_log, p->kl_clamp_log, &in_log_clamp);
    grpo_kl_term k = grpo_kl_estimate(p->kl, diff);
    if (p->kl_gradient == GRPO_KL_GRADIENT_STRAIGHT_THROUGH_K2) k.derivative = diff.hi;
    if (p->kl_gradient == GRPO_KL_GRADIENT_DETACHED || !in_log_clamp) k.derivative = 0;
    double u = p->kl_importance_weight == GRPO_KL_IMPORTANCE_WEIGHT_TOKEN ? token_ratio
        : p->kl_importance_weight == GRPO_KL_IMPORTANCE_WEIGHT_LEVEL ? level_ratio : 1;
    if (p->kl_importance_weight_max != 0 && u > p->kl_importance_weight_max) { u = p->kl_importance_weight_max; u_has_gradient = 0; }
    weighted = p->kl_clamp_on == GRPO_KL_CLAMP_ON_WEIGHTED;
    if (p->kl_clamp_value != 0 && fabs(weighted ? grpo_times(u, k.value) : k.value) > p->kl_clamp_value) {
        k.value = k.value < 0 ? -p->kl_clamp_value : p->kl_clamp_value;
        k.derivative = 0;
        if (weighted) { u = 1; u_has_gradient = 0; }
    }
    u *= p->kl_coef;
    t.value = grpo_times(u, k.value);
    t.d_logp = grpo_times(u, k.derivative);
    if (u_has_gradient && p->kl_importance_weight == GRPO_KL_IMPORTANCE_WEIGHT_LEVEL) t.d_log_ratio = t.value;
    else if (u_has_gradient) t.d_logp = grpo_plus(t.d_logp, t.value);                    /* du = u dl */
    return t;
}

/* ======== axis 6: weight ==========================================================================================================
 * Which tokens and sequences count, and how much?  The surrogate is multiplied by M v g: v = importance weight of the old over the rollout
 * policy, g of the current over the old policy, M = 0 at tokens that trust, off_policy_mask or selected drop, else 1; all detached. */

#define GRPO_WEIGHT_TRUNCATED_CHOICES(X) X(GRPO_WEIGHT_TRUNCATED_KEEP, keep, "") X(GRPO_WEIGHT_TRUNCATED_MASK, mask, "")
typedef enum { GRPO_WEIGHT_TRUNCATED_CHOICES(GRPO_ENUM_) } grpo_weight_truncated_kind;      /* mask: DAPO's overlong filtering */
#define GRPO_ROLLOUT_IS_CHOICES(X) X(GRPO_ROLLOUT_IS_NONE, none, "") \
    X(GRPO_ROLLOUT_IS_TRUNCATE, truncate, "clip(v, low, high): TIS") \
    X(GRPO_ROLLOUT_IS_MASK, mask, "v inside [low, high], else 0: MIS, IcePop (2510.18855)") \
    X(GRPO_ROLLOUT_IS_REJECT, reject, "1 inside, else 0: rejection sampling")
typedef enum { GRPO_ROLLOUT_IS_CHOICES(GRPO_ENUM_) } grpo_rollout_is_kind;
#define GRPO_ROLLOUT_IS_LEVEL_CHOICES(X) \
    X(GRPO_ROLLOUT_IS_LEVEL_TOKEN, token, TOKEN, SUM, "e^q_t, q = logp_old - logp_rollout") \
    X(GRPO_ROLLOUT_IS_LEVEL_SEQUENCE_SUM, sequence_sum, SEQUENCE, SUM, "e^(sum q)") \
    X(GRPO_ROLLOUT_IS_LEVEL_SEQUENCE_MEAN, sequence_mean, SEQUENCE, MEAN, "e^(mean q), geometric") \
    X(GRPO_ROLLOUT_IS_LEVEL_SEGMENT_SUM, segment_sum, SEGMENT, SUM, "the same over t's segment") \
    X(GRPO_ROLLOUT_IS_LEVEL_SEGMENT_MEAN, segment_mean, SEGMENT, MEAN, "")
typedef enum { GRPO_ROLLOUT_IS_LEVEL_CHOICES(GRPO_ENUM_) } grpo_rollout_is_level_kind;
/* g, clipped to [policy_is_low, policy_is_high] */
#define GRPO_POLICY_IS_CHOICES(X) \
    X(GRPO_POLICY_IS_NONE, none, TOKEN, SUM, "1") X(GRPO_POLICY_IS_TOKEN, token, TOKEN, SUM, "e^(logp - logp_old)") \
    X(GRPO_POLICY_IS_SEQUENCE_SUM, sequence_sum, SEQUENCE, SUM, "e^(sum of logp - logp_old) (FlowRL, 2509.15207)") \
    X(GRPO_POLICY_IS_SEQUENCE_MEAN, sequence_mean, SEQUENCE, MEAN, "e^(mean of it)")
typedef enum { GRPO_POLICY_IS_CHOICES(GRPO_ENUM_) } grpo_policy_is_kind;
#define GRPO_ROLLOUT_IS_NORM_CHOICES(X) X(GRPO_ROLLOUT_IS_NORM_NONE, none, "") \
    X(GRPO_ROLLOUT_IS_NORM_MEAN, mean, "v over its mean in the batch: of tokens, or of responses with rollout_is_level sequence_* (verl)")
typedef enum { GRPO_ROLLOUT_IS_NORM_CHOICES(GRPO_ENUM_) } grpo_rollout_is_norm_kind;
#define GRPO_ROLLOUT_REJECTED_CHOICES(X) \
    X(GRPO_ROLLOUT_REJECTED_ZERO_WEIGHT, zero_weight, "surrogate times 0; divisors and penalty keep the token (IcePop)") \
    X(GRPO_ROLLOUT_REJECTED_UNMASK, unmask, "the token leaves the mask altogether (verl with use_v1 false)")
typedef enum { GRPO_ROLLOUT_REJECTED_CHOICES(GRPO_ENUM_) } grpo_rollout_rejected_kind;
/* which tokens are dropped: x = log-probability in the ratio's denominator, p = e^l, p0 = e^x, w and y of axis 3, lo = trust_low, hi =
 * trust_high */
#define GRPO_TRUST_CHOICES(X) X(GRPO_TRUST_NONE, none, "") \
    X(GRPO_TRUST_ONE_SIDED, one_sided, "A > 0 and w > 1 + hi, A < 0 and w < 1 - lo: where a PPO clip would bind") \
    X(GRPO_TRUST_TWO_SIDED, two_sided, "w outside [1 - lo, 1 + hi], whatever A") \
    X(GRPO_TRUST_LOG_TWO_SIDED, log_two_sided, "y outside [-lo, hi]") \
    X(GRPO_TRUST_PROBABILITY, probability, "A > 0 and p - p0 > hi, A < 0 and p0 - p > lo (DPPO-TV, 2602.04879)") \
    X(GRPO_TRUST_PROBABILITY_BOTH, probability_both, "|p - p0| > hi") \
    X(GRPO_TRUST_BINARY_KL, binary_kl, "p moved the way A wants and KL((p0, 1 - p0) || (p, 1 - p)) > hi (A > 0) or lo (A < 0) (DPPO-KL)") \
    X(GRPO_TRUST_K2, k2, "(l - x)^2/2 > hi") \
    X(GRPO_TRUST_RING, ring, "w outside [1 - lo, 1 + hi], but not where A >= 0 and w <= 1 - rec_outer_low, or A <= 0 and w >= 1 + " \
      "rec_outer_high (REC, 2509.24203)") \
    X(GRPO_TRUST_DIVERGENCE, divergence, \
        "A > 0 and w > 1 and D > hi, A < 0 and w < 1 and D > lo, D = batch.divergence_old (Flow-DPPO, 2606.11025)") \
    X(GRPO_TRUST_NEGATIVE_BAND, negative_band, "A < 0 and w outside [1 - lo, 1 + hi] (TBPO of QaRL, 2604.07853)")
typedef enum { GRPO_TRUST_CHOICES(GRPO_ENUM_) } grpo_trust_kind;
#define GRPO_OFF_POLICY_MASK_CHOICES(X) X(GRPO_OFF_POLICY_MASK_NONE, none, NO_POLICY, "") \
    X(GRPO_OFF_POLICY_MASK_OLD, old, OLD, \
        "drop tokens with A < 0 where a sequence's mean of logp_old - logp is above off_policy_mask_threshold (2512.02556)") \
    X(GRPO_OFF_POLICY_MASK_ROLLOUT, rollout, ROLLOUT, "the same from logp_rollout") \
    X(GRPO_OFF_POLICY_MASK_TOTAL_VARIATION, total_variation, ROLLOUT, \
      "drop tokens with q A > 0 where a sequence's mean of |e^q - 1| is above it (VACO, 2603.01365)")
typedef enum { GRPO_OFF_POLICY_MASK_CHOICES(GRPO_ENUM_) } grpo_off_policy_mask_kind;
#define GRPO_SELECTED_CHOICES(X) X(GRPO_SELECTED_ALL, all, "") \
    X(GRPO_SELECTED_KEEP, keep, "drop tokens without batch.selected: they stay in the divisor (TRL's top_entropy_quantile)") \
    X(GRPO_SELECTED_DROP, drop, "drop tokens with it (Clip-Cov, 2505.22617)") \
    X(GRPO_SELECTED_ONLY, only, "tokens without it do not count, as if batch.mask were 0 (high-entropy tokens, 2506.01939, eq. 6)")
typedef enum { GRPO_SELECTED_CHOICES(GRPO_ENUM_) } grpo_selected_kind;
/* rejection besides rollout_is: where a statistic of q, pooled over a level, is outside [rollout_rs_low, rollout_rs_high] */
#define GRPO_ROLLOUT_RS_CHOICES(X) X(GRPO_ROLLOUT_RS_NONE, none, "") \
    X(GRPO_ROLLOUT_RS_RATIO, ratio, "e^(pooled q)") X(GRPO_ROLLOUT_RS_K2, k2, "q^2/2") \
    X(GRPO_ROLLOUT_RS_K3, k3, "e^q - 1 - q") X(GRPO_ROLLOUT_RS_PROBABILITY, probability, "e^logp_old - e^logp_rollout") \
    X(GRPO_ROLLOUT_RS_EXP_ABS, exp_abs, "e^|q| (NeMo-RL's probability error of a sequence)") \
    X(GRPO_ROLLOUT_RS_K3_REVERSE, k3_reverse, "e^-q - 1 + q (AReaL)") \
    X(GRPO_ROLLOUT_RS_BINARY_KL_MAX, binary_kl_max, "the larger KL, either way, between (p, 1 - p) and (b, 1 - b), p = e^logp_old, " \
      "b = e^logp_rollout (AReaL's KPop)")
typedef enum { GRPO_ROLLOUT_RS_CHOICES(GRPO_ENUM_) } grpo_rollout_rs_kind;
#define GRPO_ROLLOUT_RS_LEVEL_CHOICES(X) X(GRPO_ROLLOUT_RS_LEVEL_TOKEN, token, TOKEN, SUM, "") \
    X(GRPO_ROLLOUT_RS_LEVEL_SEQUENCE_SUM, sequence_sum, SEQUENCE, SUM, "") \
    X(GRPO_ROLLOUT_RS_LEVEL_SEQUENCE_MEAN, sequence_mean, SEQUENCE, MEAN, "") \
    X(GRPO_ROLLOUT_RS_LEVEL_SEQUENCE_MAX, sequence_max, SEQUENCE, MAX, "") \
    X(GRPO_ROLLOUT_RS_LEVEL_SEGMENT_SUM, segment_sum, SEGMENT, SUM, "") \
    X(GRPO_ROLLOUT_RS_LEVEL_SEGMENT_MEAN, segment_mean, SEGMENT, MEAN, "") \
    X(GRPO_ROLLOUT_RS_LEVEL_SEGMENT_MAX, segment_max, SEGMENT, MAX, "")
typedef enum { GRPO_ROLLOUT_RS_LEVEL_CHOICES(GRPO_ENUM_) } grpo_rollout_rs_level_kind;
#define GRPO_FIPO_CHOICES(X) X(GRPO_FIPO_NONE, none, "") \
    X(GRPO_FIPO_DECAYED, decayed, "v times clip(e^F, fipo_low, fipo_high), F = sum over k >= t of 2^(-(k - t)/half_life) d_k, " \
      "d = logp - logp_old; positions count, masked ones too (FIPO, 2603.19835)")
typedef enum { GRPO_FIPO_CHOICES(GRPO_ENUM_) } grpo_fipo_kind;
#define GRPO_EXTERNAL_CHOICES(X) X(GRPO_EXTERNAL_NONE, none, "") \
    X(GRPO_EXTERNAL_POLICY, policy, "batch.external_weight multiplies v") \
    X(GRPO_EXTERNAL_TERM, term, "batch.external_weight multiplies the whole term")
typedef enum { GRPO_EXTERNAL_CHOICES(GRPO_ENUM_) } grpo_external_kind;

typedef struct {
    grpo_weight_truncated_kind truncated;
    grpo_trust_kind trust;
    double trust_low, trust_high;          /* lo and hi, >= 0 */
    double rec_outer_low, rec_outer_high;  /* ring, >= 0 */
    grpo_off_policy_mask_kind off_policy_mask;
    double off_policy_mask_threshold;
    grpo_selected_kind selected;
    grpo_rollout_is_kind rollout_is;
    grpo_rollout_is_level_kind rollout_is_level;
    double rollout_is_low, rollout_is_high;    /* bounds of v, 0 <= low <= high; high +infinity: no bound, 0: the weight is 0 */
    double rollout_clamp;                  /* bound of |q|; 0: none */
    grpo_rollout_is_norm_kind rollout_is_norm;
    grpo_policy_is_kind policy_is;
    double policy_is_low, policy_is_high;      /* 0 <= low <= high, high > 0 */
    grpo_rollout_rs_kind rollout_rs;
    grpo_rollout_rs_level_kind rollout_rs_level;
    double rollout_rs_low, rollout_rs_high;
    double rollout_veto;                              /* a sequence with e^q below this at any token is rejected as a whole; 0: none */
    grpo_rollout_rejected_kind rollout_rejected;
    grpo_fipo_kind fipo;
    double fipo_half_life;        /* tokens */
    double fipo_ratio_max;        /* tokens with e^d above this add nothing to F; 0: none */
    double fipo_low, fipo_high;
    double fipo_safe_ratio;                       /* where A < 0 and e^d > this, the factor is also clipped to the next two; 0: never */
    double fipo_safe_low, fipo_safe_high;
    grpo_external_kind external;
} grpo_weight;

/* the weight, and whether v was inside [low, high] */
typedef struct { double value; int inside; } grpo_rollout_is_weight;
/* v.value must be e^v.log; log(v) is compared with log(bound), except where v is inside by more than a factor 1 +- 1e-9 */
GRPO_FN grpo_rollout_is_weight grpo_rollout_is(const grpo_weight *c, grpo_ratio v) {
    const int between = v.value > c->rollout_is_low * (1 + 1e-9) && v.value < c->rollout_is_high * (1 - 1e-9);
    const int below = !between && v.log < log(c->rollout_is_low), above = !between && v.log > log(c->rollout_is_high);
    grpo_rollout_is_weight r = { 1, !below && !above };
    switch (c->rollout_is) {
    case GRPO_ROLLOUT_IS_TRUNCATE: r.value = below ? c->rollout_is_low : above ? c->rollout_is_high : v.value; break;
    case GRPO_ROLLOUT_IS_MASK:     r.value = r.inside ? v.value : 0; break;
    case GRPO_ROLLOUT_IS_REJECT:   r.value = r.inside ? 1 : 0; break;
    default:                       r.inside = 1; break;
    }
    return r;
}

GRPO_FN grpo_dd grpo_fipo_decay(double half_life);                         /* of F from one position to the next: 2^(-1/half_life) */

/* ======== axis 7: aggregation =====================================================================================================
 * What is the sum divided by?  loss = sum of term times coefficient, listed below.  N sequences, T_i tokens that count, C = constant. */

#define GRPO_AGGREGATION_CHOICES(X) \
    X(GRPO_AGGREGATION_TOKEN_SUM, token_sum, "1") \
    X(GRPO_AGGREGATION_TOKEN_MEAN, token_mean, "1/sum T, all tokens of the batch (DAPO as verl and TRL run it)") \
    X(GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN, seq_mean_token_mean, "1/(N T_i) (GRPO, GSPO)") \
    X(GRPO_AGGREGATION_SEQ_MEAN_TOKEN_SUM, seq_mean_token_sum, "1/N") \
    X(GRPO_AGGREGATION_SEQ_MEAN_CONSTANT, seq_mean_constant, "1/(N C) (Dr.GRPO)") \
    X(GRPO_AGGREGATION_CONSTANT, constant, "1/C: the sum over all tokens, by a constant (verl's seq-mean-token-sum-norm up to 0.7.0)") \
    X(GRPO_AGGREGATION_GROUP_MEAN_TOKEN_MEAN, group_mean_token_mean, "1/(groups * tokens of the group) (DAPO eq. 8, ScaleRL)") \
    X(GRPO_AGGREGATION_SEQ_MEAN_LENGTH_POWER, seq_mean_length_power, "T_i^(power - 1)/N: token mean at power 0, token sum at 1") \
    X(GRPO_AGGREGATION_SEQ_SUM_TOKEN_MEAN, seq_sum_token_mean, "1/T_i") \
    X(GRPO_AGGREGATION_GROUP_MEAN, group_mean, "1/(groups * T_i): mean over groups of the sum over responses of token means (GVPO, REAL)") \
    X(GRPO_AGGREGATION_GROUP_MEAN_SEQ_MEAN, group_mean_seq_mean, "1/(groups * responses of the group * T_i)") \
    X(GRPO_AGGREGATION_TOKEN_MEAN_BY_SIGN, token_mean_by_sign, \
        "1/(tokens with A > 0) at those, 1/(the others) at the others (OREAL, 2502.06781, as xtuner)") \
    X(GRPO_AGGREGATION_SEQ_MEAN_SEGMENT_MEAN, seq_mean_segment_mean, \
        "1/(N K_i n), K_i segments with tokens that count, n of them in t's segment (RLinf's turns)") \
    X(GRPO_AGGREGATION_SEQ_MEAN_BY_SIGN, seq_mean_by_sign, \
        "1/(T_i n), n the responses of i's sign: A > 0 at the first token that counts, or not (VPD, 2605.15113)") \
    X(GRPO_AGGREGATION_TOKEN_MEAN_NONZERO_STD, token_mean_nonzero_std, \
        "1/(tokens of groups with max - min of batch.reward > 1e-6), of every token (DAPO-ZV); 1 if none")
typedef enum { GRPO_AGGREGATION_CHOICES(GRPO_ENUM_) } grpo_aggregation_kind;
#define GRPO_EMPTY_SEQUENCES_CHOICES(X) X(GRPO_EMPTY_SEQUENCES_KEEP, keep, "") X(GRPO_EMPTY_SEQUENCES_DROP, drop, "")
typedef enum { GRPO_EMPTY_SEQUENCES_CHOICES(GRPO_ENUM_) } grpo_empty_sequences_kind;  /* of N: sequences (groups) without tokens */

typedef struct {
    grpo_aggregation_kind kind;
    double constant;    /* C */
    double power;       /* seq_mean_length_power */
    grpo_empty_sequences_kind empty_sequences;
} grpo_aggregation;

/* ======== the objective ========================================================================================================== */
typedef struct {      /* all 0: numbers 0 and the first choice of every list, which is REINFORCE on raw rewards, divided by nothing */
    grpo_reward reward;
    grpo_advantage advantage;
    grpo_ratio_axis ratio;
    grpo_surrogate surrogate;
    grpo_penalty penalty;
    grpo_weight weight;
    grpo_aggregation aggregation;
} grpo_objective;

/* the domain of a number, whatever the choices are */
enum { GRPO_LOW_EXCLUDED = 1, GRPO_HIGH_EXCLUDED = 2, GRPO_WHOLE = 4, GRPO_EXCEPT_0 = 8, GRPO_OR_0 = 16 };
typedef struct {
    double low, high;        /* inclusive, even if infinite, unless a flag excludes them; +-DBL_MAX if the number must be finite */
    int flags;               /* GRPO_LOW_EXCLUDED, GRPO_HIGH_EXCLUDED: not low, high itself; GRPO_WHOLE: whole numbers only;
                                GRPO_EXCEPT_0: not 0; GRPO_OR_0: 0 too */
    grpo_rule below, above;  /* the rules that numbers below low and above high break; infinite ones: GRPO_INFINITE; NaN: GRPO_NAN */
} grpo_domain;

#if defined(GRPO_NO_ROWS) && defined(GRPO_NO_TEXT)
#define GRPO_NO_PATHS_
#endif
/* a field of grpo_objective; path: "surrogate.eps_high"; with GRPO_NO_ROWS and GRPO_NO_TEXT path and choices are "" */
typedef struct {
#ifdef GRPO_NO_PATHS_
    char path[1], choices[1];
#else
    const char *path;
    const char *choices;     /* "none|soft|linear" in the order of the enum; NULL for a number */
#endif
    uint16_t offset;         /* in grpo_objective, of an enum or of a double */
    uint16_t n_choices;      /* 0 for a number */
    uint16_t domain;         /* of a number, for grpo_field_domain */
} grpo_field;

#ifndef GRPO_NO_ROWS                  /* in grpo_rows.h */
/* a published objective, a row of the table.  paper: arXiv id where there is one; equations: their numbers, or names, in the paper.  A row
 * sets the fields that grpo_objective_get finds not 0 in its grpo_objective_from_preset; the others are 0, the first choice. */
typedef struct { const char *name, *paper, *equations, *summary; } grpo_preset;
const grpo_preset *grpo_presets(int *count);
grpo_objective grpo_objective_from_preset(const grpo_preset *preset);                         /* preset: one of grpo_presets */
grpo_status grpo_objective_named(const char *name, grpo_objective *obj);                      /* GRPO_UNKNOWN: there is no such row */
#endif
const grpo_field *grpo_fields(int *count);
#ifndef GRPO_NO_PATHS_
/* path unknown: GRPO_UNKNOWN; no such choice: GRPO_NOT_A_CHOICE.  set takes a number or the number of a choice, not NaN, and leaves its
 * domain to grpo_objective_check */
grpo_status grpo_objective_set(grpo_objective *obj, const char *path, double value);
grpo_status grpo_objective_choose(grpo_objective *obj, const char *path, const char *choice);
#endif
double      grpo_objective_get(const grpo_objective *obj, const grpo_field *field);              /* of a choice: its number */
grpo_domain grpo_field_domain(const grpo_field *field);          /* of a number; choices may narrow the domains of what they read */
grpo_status grpo_objective_check(const grpo_objective *obj);     /* domains and combinations of fields; every call checks them */

/* ======== the batch ===============================================================================================================
 * The caller's arrays, never copied.  Group g (a prompt) is the sequences group_begin[g] .. group_begin[g+1]-1; sequence i (a response) is
 * the tokens offset[i] .. offset[i]+length[i]-1 of every token array, so layouts may be padded or packed.  Sequences must not share tokens:
 * only grpo_lint checks that.  Every group has at least one sequence; group_begin[0] may be above 0, to pass some groups of a batch: arrays
 * per sequence are then still those of the batch, arrays per group (baseline, log_partition, dlog_partition) begin with the first passed.
 *
 * -inf log-probabilities stand for -K with the same K -> infinity: -inf - -inf is 0, infinite log-ratios of opposite sign in one sum
 * cancel in pairs, e^-inf times inf is 0.  NaN or +inf at an unmasked token is an error.
 * Rewards and their weights, values, baselines and sum_pi_squared are at most 1e150 in magnitude.
 * A sequence may be empty or fully masked; it still counts in its group's statistics.
 * Zero-initialise a batch; an array that nothing reads stays NULL (grpo_context_array_use of extra/grpo_context.h says what an objective
 * reads).  Sizes are believed: a shorter array is read past its end. */

#define GRPO_MAX_REWARDS 16

typedef struct {
    int64_t n_groups;
    const int64_t *group_begin;       /* (n_groups + 1), each at most 2^32 */
    const int64_t *offset, *length;   /* (sequences), in tokens, prompt and padding excluded, masked tokens included, which reward.length
                                         and reward.overlong count */
    int64_t n_tokens;                 /* elements of each token array */
    /* per token */
    const grpo_real *logp;            /* under the policy being trained */
    const grpo_real *logp_old;        /* under the policy at the start of the update */
    const grpo_real *logp_ref;        /* under the frozen reference */
    const grpo_real *logp_rollout;    /* under what sampled: the inference engine, or for replayed data an older policy */
    const grpo_real *logp_teacher;    /* under a teacher; read by penalty.kl_reference, nll_* and, finite, by advantage.teacher_* */
    const grpo_real *entropy;         /* nats; in the report; read by advantage.entropy, credit entropy_share and penalty.entropy_coef */
    const grpo_real *value;           /* of the critic, before the token: read by advantage.credit gae and step_gae */
    const grpo_real *step_reward;     /* of the step that ends here: read where step_end */
    const uint8_t *step_end;          /* 1: last token of a step; flags of masked tokens do not count */
    const uint8_t *segment_end;       /* 1: last token of a segment (a turn); flags of masked tokens count too */
    const uint8_t *mask;              /* 0: the token is ignored; NULL: all count */
    const uint8_t *selected;          /* by entropy, covariance, at random ...: read by weight.selected */
    const uint8_t *kl_mask;           /* 1: the token has a KL penalty: read by penalty.kl_on */
    const uint8_t *nll_mask;          /* 1: a token of a demonstration: read by penalty.nll_on selected */
    const uint8_t *marked;            /* read by advantage.marked */
    const uint8_t *shaping_mask;      /* 1: from another policy, or with a hint: read by surrogate.kind policy_shaping */
    const int64_t *state;             /* id of what the step started from (an observation ...): read where step_end */
    const int64_t *token_id;          /* in the vocabulary: read by advantage.credit prefix_tree */
    const grpo_real *sum_pi_squared;  /* sum of p^2 under the old policy, over the vocabulary: read by advantage.token_baseline */
    /* per sequence */
    const grpo_real *reward;
    const grpo_real *rewards;         /* (sequences, n_rewards); read where advantage.rewards is each */
    int64_t n_rewards;                /* 1 .. GRPO_MAX_REWARDS */
    const grpo_real *reward_weight;   /* (n_rewards); NULL: all 1 */
    const uint8_t *truncated;         /* 1: generation was cut off: read by reward.truncated, weight.truncated and, NULL: none, by
                                         advantage.bootstrap and truncated_tail */
    const uint8_t *excluded;          /* read by advantage.excluded; NULL: none */
    /* per group */
    const grpo_real *baseline;        /* read by advantage.baseline external */
    const grpo_real *log_partition;           /* log Z, learned: read by surrogate trajectory_balance */
    /* per token */
    const grpo_real *external_weight;          /* finite, not negative; read by weight.external */
    const grpo_real *eps_low, *eps_high;    /* 0 <= eps_low <= 1, 0 <= eps_high: read by surrogate.bounds external */
    const grpo_real *divergence_ref, *divergence_old;    /* of the policy from the reference (read by penalty.kl external) and from the
                                                            old one (by weight.trust divergence); finite, not negative */
} grpo_batch;

/* The arrays of grpo_batch: member, what there is one element for, domain of an element, needs (GRPO_NEED_*_) that read it, and those of
 * the needs that require finite elements.  The names in statuses and the checks of arrays are made from this list. */
#define GRPO_ARRAYS_(X) \
    X(logp, TOKEN, LOG_PROBABILITY, GRPO_NEED_LOGP_, 0) \
    X(logp_old, TOKEN, LOG_PROBABILITY, GRPO_NEED_OLD_ | GRPO_NEED_TEACHER_GAP_, GRPO_NEED_TEACHER_GAP_) \
    X(logp_ref, TOKEN, LOG_PROBABILITY, GRPO_NEED_REF_ | GRPO_NEED_KL_CENTRED_, GRPO_NEED_KL_CENTRED_) \
    X(logp_rollout, TOKEN, LOG_PROBABILITY, GRPO_NEED_ROLLOUT_ | GRPO_NEED_KL_CENTRED_, GRPO_NEED_KL_CENTRED_) \
    X(logp_teacher, TOKEN, LOG_PROBABILITY, GRPO_NEED_LOGP_TEACHER_ | GRPO_NEED_TEACHER_GAP_, GRPO_NEED_TEACHER_GAP_) \
    X(entropy, TOKEN, FINITE, GRPO_NEED_ENTROPY_, 0) X(value, TOKEN, MODERATE, GRPO_NEED_VALUE_, 0) \
    X(step_end, FLAG, FINITE, GRPO_NEED_STEP_END_, 0) X(segment_end, FLAG, FINITE, GRPO_NEED_SEGMENT_END_, 0) \
    X(step_reward, STEP, MODERATE, GRPO_NEED_STEP_, 0) X(selected, FLAG, FINITE, GRPO_NEED_SELECTED_, 0) \
    X(kl_mask, FLAG, FINITE, GRPO_NEED_KL_MASK_, 0) X(nll_mask, FLAG, FINITE, GRPO_NEED_NLL_MASK_, 0) \
    X(marked, FLAG, FINITE, GRPO_NEED_MARKED_, 0) X(shaping_mask, FLAG, FINITE, GRPO_NEED_SHAPING_MASK_, 0) \
    X(state, FLAG, FINITE, GRPO_NEED_STATE_, 0) X(token_id, FLAG, FINITE, GRPO_NEED_TOKEN_ID_, 0) \
    X(sum_pi_squared, TOKEN, MODERATE, GRPO_NEED_SUM_PI_SQUARED_, 0) X(reward, SEQUENCE, MODERATE, GRPO_NEED_REWARD_, 0) \
    X(rewards, COLUMNS, MODERATE, GRPO_NEED_REWARDS_, 0) X(reward_weight, COLUMN, MODERATE, GRPO_NEED_REWARDS_, 0) \
    X(truncated, FLAG, FINITE, GRPO_NEED_TRUNCATED_, 0) X(baseline, GROUP, MODERATE, GRPO_NEED_BASELINE_, 0) \
    X(log_partition, GROUP, FINITE, GRPO_NEED_LOG_PARTITION_, 0) X(external_weight, TOKEN, FACTOR, GRPO_NEED_EXTERNAL_WEIGHT_, 0) \
    X(eps_low, TOKEN, PART, GRPO_NEED_EPS_, 0) X(eps_high, TOKEN, FACTOR, GRPO_NEED_EPS_, 0) \
    X(divergence_ref, TOKEN, FACTOR, GRPO_NEED_DIVERGENCE_REF_, 0) X(divergence_old, TOKEN, FACTOR, GRPO_NEED_DIVERGENCE_OLD_, 0)

/* other things that a status can name */
#define GRPO_NAMES_(X) \
    X(objective, "objective") X(batch, "batch") X(advantage, "advantage") X(totals, "totals") X(partial, "partial") X(report, "report") \
    X(moments, "moments") X(keep, "keep") X(into, "into") X(from, "from") X(scratch, "out.scratch") X(scratch_size, "out.scratch_size") \
    X(name, "name") X(path, "path") X(n_groups, "batch.n_groups") X(group_begin, "batch.group_begin") X(offset, "batch.offset") \
    X(length, "batch.length") X(n_tokens, "batch.n_tokens") X(n_rewards, "batch.n_rewards") X(group, "group") \
    X(shaped_reward, "shaped reward") X(reward_kl, "KL in the reward") X(dlogp, "out.dlogp") X(dentropy, "out.dentropy") \
    X(ddivergence_ref, "out.ddivergence_ref") X(logits, "logits") X(logits_type, "logits.type") X(logits_logits, "logits.logits") \
    X(logits_rows, "logits.rows") X(logits_vocab, "logits.vocab") X(logits_stride, "logits.stride") X(logits_target, "logits.target") \
    X(logits_temperature, "logits.temperature") X(rows, "rows") X(rows_part, "rows.part") X(rows_logp, "rows.logp") \
    X(rows_entropy, "rows.entropy") X(rows_dlogits, "rows.dlogits") X(rows_hidden, "rows.hidden") X(rows_weight, "rows.weight") \
    X(rows_width, "rows.width") X(rows_passes, "rows.passes") X(rows_tile_rows, "rows.tile_rows") X(rows_tile, "rows.tile") \
    X(rows_row, "rows.row")

/* what and other in a status: 0 nothing, from 1 the fields in the order of grpo_fields, then these, then arguments by position, from 1 */
#define GRPO_AT_(member, ...) GRPO_AT_##member##_,
enum { GRPO_AT_LAST_FIELD_ = 255, GRPO_ARRAYS_(GRPO_AT_) GRPO_NAMES_(GRPO_AT_) GRPO_AT_END_, GRPO_AT_ARGUMENT_ = 512 };
#define GRPO_STATUS_(rule, what) ((grpo_status)(rule) | (grpo_status)(what) << 8)
#define GRPO_STATUS_ARGUMENT_(rule, place, index) (GRPO_STATUS_(rule, GRPO_AT_ARGUMENT_ + (place)) | ((grpo_status)(index) + 1) << 28)

/* the counts that the divisors are made of.  Over micro-batches and ranks merge them, or add up their 64-bit integers, those of the exact
 * sum too (MPI_Allreduce with MPI_SUM; they have room for 2 10^9 ranks).  Zero-initialise. */
typedef struct {
    int64_t tokens;                                 /* that count: see batch.mask, weight.truncated, selected, rollout_rejected */
    int64_t sequences, sequences_nonempty, groups, groups_nonempty;
    int64_t ranks;                                  /* >= 0: factor of loss and gradient, if the trainer averages gradients over ranks (or
                                                       micro-batches), the report's too; 0: 1.  Set it once, after all
                                                       has been added up */
    int64_t positive_tokens, positive_sequences;    /* with A > 0 (a sequence: at its first token that counts), if aggregation reads it */
    int64_t nonzero_std_tokens;                     /* of groups whose rewards differ, if aggregation reads it */
    int64_t nll_tokens, preference_pairs;           /* the D of penalty.nll_on and penalty.preference */
    int64_t rollout_is_count;                       /* how many rollout_is weights there are, for their mean (rollout_is_norm) */
    grpo_sum rollout_is_sum;                        /* their sum */
} grpo_totals;

typedef struct {
    double loss, policy_loss, penalty_loss;         /* policy_loss + penalty_loss; surrogates; KL, entropy bonus, NLL and preference */
    int64_t tokens, sequences, groups;              /* that count; sequences and groups: with at least one such token */
    int64_t masked_tokens, rejected_tokens;         /* that do not count; that rollout_is, rollout_rs or rollout_veto reject */
    int64_t degenerate_groups;                      /* of groups: in which A is 0 at all tokens that count, or there are no advantages */
    /* of the tokens that count; where there are none, or the array is NULL: 0, but ratio_*, ess and rollout_is_mean 1 */
    double clip_fraction, clip_fraction_low, clip_fraction_high, clip_fraction_dual; /* of tokens where clip, trust, off_policy_mask act */
    double ratio_mean, ratio_min, ratio_max;        /* of axis 3, if the surrogate or the weight of the KL use it; else 1 */
    double ess;                               /* effective sample size, (sum w)^2 / (n sum w^2); ratios above 2^500 count as 2^500 */
    double approx_kl_k1, approx_kl_k3;        /* means of estimates of KL(old || policy), nats, whatever penalty.kl is */
    double kl_k1, kl_k2, kl_k3;               /* of KL(policy || reference), likewise */
    double entropy;                           /* mean of batch.entropy, nats */
    double rollout_is_mean;                   /* of v, 0 where rejected, before rollout_is_norm */
    int overflow;                  /* 1 if a number here or in an output array has overflowed to an infinity */
} grpo_report;

enum { GRPO_SUM_POLICY, GRPO_SUM_PENALTY, GRPO_SUM_RATIO, GRPO_SUM_RATIO_EXCESS, GRPO_SUM_RATIO_SQUARED, GRPO_SUM_APPROX_KL_K1,
       GRPO_SUM_APPROX_KL_K3, GRPO_SUM_KL_K1, GRPO_SUM_KL_K2, GRPO_SUM_KL_K3, GRPO_SUM_ENTROPY, GRPO_SUM_WEIGHT, GRPO_SUM_NLL,
       GRPO_SUM_PREFERENCE, GRPO_N_SUMS };

/* divisors and factors of the sums of the loss; the same in all parts */
typedef struct {
    double divisor, factor;                         /* divisor of all terms; totals.ranks */
    double by_sign[2];                              /* divisors for A <= 0 and for A > 0, of aggregation *_by_sign; else 1 */
    double nll, preference;                         /* coef/D */
    double own[2];                                  /* divisors of KL and entropy bonus with an aggregation of their own; else 0 */
    int pointwise;                                  /* 1: preference pairwise_else_pointwise, and no pair: preference is coef/N */
    grpo_dd norm;                                   /* mean of the rollout_is weights (rollout_is_norm); 0: none */
    double norm_top;                                /* value of an infinite weight over an infinite mean */
} grpo_scales;

/* accumulators of an evaluation: exact, so that parts merge to the bits of the whole (grpo_partial_merge; not sums of integers, as for
 * totals).  Zero-initialise. */
typedef struct {
    grpo_sum sum[GRPO_N_SUMS];
    grpo_scales scales;                             /* divisor 0: nothing has been added yet */
    int64_t tokens, sequences, groups, masked_tokens, rejected_tokens, degenerate_groups;
    int64_t ratio_tokens, weight_tokens;            /* with a ratio; with a rollout_is weight */
    int64_t clips[4];                               /* tokens by grpo_clip_side */
    double ratio_min, ratio_max;
    int overflow;
} grpo_partial;

/* exact statistics of a set of values */
typedef struct {
    grpo_sum sum, squares;
    grpo_dd min, max;
    int64_t count;
} grpo_values;
#define GRPO_NO_VALUES_ { GRPO_NO_SUM_, GRPO_NO_SUM_, { 0, 0 }, { 0, 0 }, 0 }

/* batch-wide statistics of the advantage axis; exact: parts are added to the same object, or merged (not sums of integers: it has doubles).
 * Zero-initialise. */
typedef struct {
    grpo_values values;                             /* of items, R - b, a, A or prompts' means: depends on scale and batch_norm */
    grpo_sum rest, rest_squares, rest_cross;        /* of the part of A that reweighting leaves alone (KL, critic); cross: times values */
    grpo_sum column[GRPO_MAX_REWARDS];              /* sums of items by reward, for baseline batch_mean */
    grpo_sum length;                                /* sum of T^-p, for reweight length_power */
    grpo_sum entropy, divergence;                   /* sums over tokens, for entropy relative and kl_centred_coef */
    int64_t tokens, items, sequences, sequences_nonempty, degenerate_sequences, nonzero_items;
} grpo_moments;

/* output arrays, each may be NULL; must not overlap arrays of the batch, the advantages or each other.  Zero-initialise. */
typedef struct {
    grpo_real *dlogp, *dentropy;               /* per token: d loss/d logp, d loss/d entropy */
    grpo_real *term;                           /* per token: surrogate and penalty before aggregation, without NLL and preference */
    grpo_real *ddivergence_ref;                /* per token: d loss/d batch.divergence_ref */
    grpo_real *dlog_partition;                 /* per group: d loss/d batch.log_partition */
    double *scratch;                           /* working memory, for objectives of gspo.h that couple the responses of a group */
    int64_t scratch_size;                      /* its number of elements, at least gspo_scratch */
} grpo_output;

/* ======== functions =============================================================================================================== */
/* rewards -> advantage (n_tokens): written at every token of every sequence, 0 where masked; not at elements of no sequence (padding).
 * It must not overlap arrays of the batch.  If the advantage axis has statistics of the whole batch, pass the whole batch; for parts there
 * is grpo_advantages_with_moments. */
grpo_status grpo_advantages(const grpo_objective *obj, const grpo_batch *batch, grpo_real *advantage);

/* advantages, log-probabilities -> loss, the arrays of `out` (NULL: none), report (not NULL).  advantage (n_tokens): from grpo_advantages
 * or your own, not read at masked tokens.  totals: from grpo_totals_add over all parts; NULL if this batch is the whole.  Outputs are
 * written at every token of every sequence, 0 where it does not count (dlog_partition: for every group); elements of no sequence (padding)
 * keep their values: clear arrays before the call if something reads them whole. */
grpo_status grpo_loss(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                      const grpo_totals *totals, const grpo_output *out, grpo_report *report);

/* DAPO's dynamic sampling (2503.14476): keep (n_groups) = 1 if batch.reward, without the changes of axis 1, varies in the group, else 0 */
grpo_status grpo_dynamic_sampling_mask(const grpo_batch *batch, uint8_t *keep);

/* Evaluation in parts (micro-batches, threads, ranks), with the bits of the whole batch.  A part is a batch of whole groups:
 *
 *     grpo_totals_add(&obj, &part, advantage, &totals);                   // 1. every part: what the loss is divided by; reads no logp
 *     grpo_loss_add(&obj, &part, advantage, &totals, &out, &partial);     // 2. every part, between its forward and its backward pass
 *     grpo_partial_report(&partial, &report);                             // 3. once
 *
 * Ranks merge their totals after 1 and their partials after 2.  The gradients of the parts add up to that of the batch; where the trainer
 * averages them, set totals.ranks.  If advantages have statistics of the whole batch (grpo_context_needs_moments: baseline batch_mean,
 * scale batch_*, beta or token_whiten, reweight valid_groups, nonzero_rewards or length_power, batch_norm, entropy relative,
 * kl_centred_coef), add the moments of every part before its advantages.  If grpo_context_needs_groups is 0, a part may be any whole
 * responses, each as a group of its own; extra/grpo_context.h also has parts that cut a group or a response.  grpo_totals_add reads the
 * advantages for aggregation *_by_sign, nll_on positive and not_negative (else they may be NULL), and batch.reward for
 * token_mean_nonzero_std, nll_on correct and preference. */
grpo_status grpo_totals_add(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, grpo_totals *totals);
grpo_status grpo_totals_merge(grpo_totals *into, const grpo_totals *from);              /* of other ranks, in any order; the larger ranks */
grpo_status grpo_moments_add(const grpo_objective *obj, const grpo_batch *batch, grpo_moments *moments);
grpo_status grpo_moments_merge(grpo_moments *into, const grpo_moments *from);           /* of other ranks, in any order */
grpo_status grpo_advantages_with_moments(const grpo_objective *obj, const grpo_batch *batch, const grpo_moments *moments,
    grpo_real *advantage);
grpo_status grpo_loss_add(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                          const grpo_totals *totals, const grpo_output *out, grpo_partial *partial);
grpo_status grpo_partial_merge(grpo_partial *into, const grpo_partial *from);
void        grpo_partial_report(const grpo_partial *partial, grpo_report *report);      /* neither may be NULL */
GRPO_C_END_
#endif /* GRPO_H */

/* =================================================================================================================================
 * Implementation
 * ============================================================================================================================== */
#if (defined(GRPO_IMPLEMENTATION) || defined(GRPO_KERNEL_)) && !defined(GRPO_KERNEL_DEFINED_)
#define GRPO_KERNEL_DEFINED_

/* The kernel: what the implementations of the optional headers use too; each may be compiled in a source file of its own */
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#endif

GRPO_C_BEGIN_
/* ---- exact sums ---------------------------------------------------------------------------------------------------------------- */
static void grpo_sum_carry_(grpo_sum *s);                              /* propagates carries: limbs of 32 bits again */
static void grpo_sum_add_(grpo_sum *s, double x);                      /* infinities are counted apart */

/* numbers in a block, which is added at once; lanes of a vector loop */
enum { GRPO_BLOCK_ = 128, GRPO_LANES_ = 8 };

static void grpo_sum_add_dd_(grpo_sum *s, grpo_dd x) { grpo_sum_add_(s, x.hi); if (x.lo != 0) grpo_sum_add_(s, x.lo); }
/* adds a - b of log-probabilities; if one is infinite the other is still added */
static void grpo_sum_add_diff_(grpo_sum *s, double a, double b) { grpo_sum_add_(s, a); grpo_sum_add_(s, -b); }
static void grpo_sum_merge_(grpo_sum *into, const grpo_sum *from);
GRPO_NOINLINE_ double grpo_sum_value_(const grpo_sum *sum);  /* the sum rounded once; infinities of opposite sign cancel in pairs */
/* the same for losses: infinities of both signs give +infinity */
static double grpo_sum_total_(const grpo_sum *s) { return s->pos_inf && s->neg_inf ? HUGE_VAL : grpo_sum_value_(s); }
GRPO_NOINLINE_ grpo_dd grpo_sum_dd_(const grpo_sum *s);
GRPO_NOINLINE_ void grpo_sum_expand_(const grpo_sum *s, double *out, int n);    /* the sum as n doubles, largest first */
GRPO_APART_ int grpo_dd_same_(grpo_dd a, grpo_dd b) { return a.hi == b.hi && a.lo == b.lo; }

/* x/n, rounded once */
static double grpo_divide_(grpo_dd x, double n) {
    const grpo_dd q = grpo_dd_div(x, n);
    return q.hi + q.lo;
}

/* x rounded to 96 bits, so that numbers that are equal but were computed in different ways get the same bits */
static grpo_dd grpo_dd_round_96_(grpo_dd x) {
    int e;
    if (x.lo == 0) return x;
    frexp(x.hi, &e);
    if (e < -900) return grpo_dd_of_(x.hi);
    const double big = ldexp(3, e - 96 + 51);                           /* its last bit is 2^(e - 96) */
    return grpo_two_sum(x.hi, (big + x.lo) - big);
}

/* ---- exact statistics ---- */
/* sum/n; 0 if n is 0 */
static grpo_dd grpo_mean_(const grpo_sum *sum, int64_t n) { return n ? grpo_dd_div(grpo_sum_dd_(sum), (double)n) : grpo_dd_of_(0); }

/* adds sign x^2, exactly */
static void grpo_sum_add_square_(grpo_sum *s, double sign, grpo_dd x) {
    grpo_sum_add_dd_(s, grpo_two_prod(sign * x.hi, x.hi));
    if (x.lo == 0) return;
    grpo_sum_add_dd_(s, grpo_two_prod(sign * 2 * x.hi, x.lo));
    grpo_sum_add_dd_(s, grpo_two_prod(sign * x.lo, x.lo));
}

static void grpo_values_take_(grpo_values *v, grpo_dd x) {
    if (v->count == 0 || grpo_dd_less(x, v->min)) v->min = x;
    if (v->count == 0 || grpo_dd_less(v->max, x)) v->max = x;
    v->count++;
    grpo_sum_add_dd_(&v->sum, x);
    grpo_sum_add_square_(&v->squares, 1, x);
}

GRPO_COLD_ void grpo_values_merge_(grpo_values *into, const grpo_values *from) {
    if (from->count && (!into->count || grpo_dd_less(from->min, into->min))) into->min = from->min;
    if (from->count && (!into->count || grpo_dd_less(into->max, from->max))) into->max = from->max;
    into->count += from->count;
    grpo_sum_merge_(&into->sum, &from->sum);
    grpo_sum_merge_(&into->squares, &from->squares);
}

/* += n sum uv - sum u sum v, exactly */
static void grpo_covariance_add_(grpo_sum *acc, double n, const grpo_sum *uv, const grpo_sum *u, const grpo_sum *v) {
    double q[4], s[4], t[4];
    grpo_sum_expand_(uv, q, 4);
    grpo_sum_expand_(u, s, 4);
    grpo_sum_expand_(v, t, 4);
    for (int j = 0; j < 4; j++) grpo_sum_add_dd_(acc, grpo_two_prod(n, q[j]));
    for (int j = 0; j < 4; j++) for (int k = 0; k < 4; k++) grpo_sum_add_dd_(acc, grpo_two_prod(-s[j], t[k]));
}

/* n^2 times the variance: n sum x^2 - (sum x)^2; exact, so a large mean of x does no harm */
static void grpo_values_scatter_(const grpo_values *v, grpo_sum *scatter) {
    memset(scatter, 0, sizeof *scatter);
    grpo_covariance_add_(scatter, (double)v->count, &v->squares, &v->sum, &v->sum);
}

static double grpo_variance_divisor_(double n, grpo_std_kind kind) { return n * (kind == GRPO_STD_SAMPLE ? n - 1 : n); }

/* exactly 0 if and only if all values are equal, or differ by less than 1e-161 */
static double grpo_variance_(const grpo_values *v, grpo_std_kind kind) {
    grpo_sum scatter;
    if (v->count < 2 || grpo_dd_same_(v->min, v->max)) return 0;
    grpo_values_scatter_(v, &scatter);
    if (v->squares.pos_inf || scatter.pos_inf || scatter.neg_inf) return HUGE_VAL;
    return grpo_sum_value_(&scatter) / grpo_variance_divisor_((double)v->count, kind);
}

/* in double-double, of values whose squares are finite */
static grpo_dd grpo_variance_twice_(const grpo_values *v, grpo_std_kind kind) {
    grpo_sum scatter;
    if (v->count < 2 || grpo_dd_same_(v->min, v->max)) return grpo_dd_of_(0);
    grpo_values_scatter_(v, &scatter);
    return grpo_dd_div(grpo_sum_dd_(&scatter), grpo_variance_divisor_((double)v->count, kind));
}

/* 1 if the mask keeps token t */
static inline int grpo_is_unmasked_(const grpo_batch *b, int64_t t) { return !b->mask || b->mask[t]; }

/* the number of unmasked tokens of sequence i */
static int64_t grpo_unmasked_(const grpo_batch *b, int64_t i) {
    int64_t t, n = 0;
    if (!b->mask) return b->length[i];
    for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) n += b->mask[t] != 0;
    return n;
}

/* ---- arrays, layout and statuses: what the optional headers check too ---- */
/* bits for the arrays that a stage needs; TEACHER_GAP: finite logp_teacher and logp_old, for advantages */
enum { GRPO_NEED_LOGP_ = 1 << 0, GRPO_NEED_OLD_ = 1 << 1, GRPO_NEED_REF_ = 1 << 2, GRPO_NEED_ROLLOUT_ = 1 << 3, GRPO_NEED_REWARD_ = 1 << 4,
       GRPO_NEED_BASELINE_ = 1 << 5, GRPO_NEED_VALUE_ = 1 << 6, GRPO_NEED_STEP_ = 1 << 7, GRPO_NEED_TRUNCATED_ = 1 << 8,
       GRPO_NEED_ADVANTAGE_ = 1 << 9, GRPO_NEED_REWARDS_ = 1 << 10, GRPO_NEED_TEACHER_GAP_ = 1 << 11, GRPO_NEED_ENTROPY_ = 1 << 12,
       GRPO_NEED_SELECTED_ = 1 << 13, GRPO_NEED_LOGP_TEACHER_ = 1 << 14, GRPO_NEED_LOG_PARTITION_ = 1 << 15, GRPO_NEED_STEP_END_ = 1 << 16,
       GRPO_NEED_STATE_ = 1 << 17, GRPO_NEED_SUM_PI_SQUARED_ = 1 << 18, GRPO_NEED_KL_CENTRED_ = 1 << 19,
       GRPO_NEED_EXTERNAL_WEIGHT_ = 1 << 20, GRPO_NEED_EPS_ = 1 << 21, GRPO_NEED_KL_MASK_ = 1 << 22, GRPO_NEED_NLL_MASK_ = 1 << 23,
       GRPO_NEED_MARKED_ = 1 << 24, GRPO_NEED_SHAPING_MASK_ = 1 << 25, GRPO_NEED_SEGMENT_END_ = 1 << 26, GRPO_NEED_TOKEN_ID_ = 1 << 27,
       GRPO_NEED_DIVERGENCE_REF_ = 1 << 28, GRPO_NEED_DIVERGENCE_OLD_ = 1 << 29 };

static int grpo_counts_by_sign_(const grpo_objective *o) { return o->aggregation.kind == GRPO_AGGREGATION_TOKEN_MEAN_BY_SIGN; }
static int grpo_counts_nonzero_std_(const grpo_objective *o) { return o->aggregation.kind == GRPO_AGGREGATION_TOKEN_MEAN_NONZERO_STD; }
static int grpo_counts_sequences_by_sign_(const grpo_objective *o) { return o->aggregation.kind == GRPO_AGGREGATION_SEQ_MEAN_BY_SIGN; }
/* 1 if rollout_is gives weights, or rollout_rs or rollout_veto reject tokens */
static int grpo_has_rollout_weights_(const grpo_weight *w) {
    return w->rollout_is != GRPO_ROLLOUT_IS_NONE || w->rollout_rs != GRPO_ROLLOUT_RS_NONE || w->rollout_veto != 0;
}

/* id, lowest, largest, flags, the rules that numbers below and above break */
#define GRPO_DOMAINS_(X) \
    X(ANY, -HUGE_VAL, HUGE_VAL, 0, GRPO_INFINITE, GRPO_INFINITE)          /* an infinite bound means no clip or clamp */ \
    X(FINITE, -DBL_MAX, DBL_MAX, 0, GRPO_INFINITE, GRPO_INFINITE) \
    X(LOG_PROBABILITY, -HUGE_VAL, DBL_MAX, 0, GRPO_INFINITE, GRPO_INFINITE) X(FACTOR, 0, DBL_MAX, 0, GRPO_NEGATIVE, GRPO_INFINITE) \
    X(PART, 0, 1, 0, GRPO_NOT_UNIT, GRPO_NOT_UNIT) \
    X(MODERATE, -1e150, 1e150, 0, GRPO_TOO_LARGE, GRPO_TOO_LARGE)         /* squares must not overflow */ \
    X(BOUND, 0, HUGE_VAL, 0, GRPO_NEGATIVE, GRPO_INFINITE) X(POSITIVE, 0, DBL_MAX, GRPO_LOW_EXCLUDED, GRPO_NOT_POSITIVE, GRPO_INFINITE) \
    X(POSITIVE_BOUND, 0, HUGE_VAL, GRPO_LOW_EXCLUDED, GRPO_NOT_POSITIVE, GRPO_INFINITE) \
    X(MODERATE_FACTOR, 0, 1e150, 0, GRPO_NEGATIVE, GRPO_TOO_LARGE) \
    X(MODERATE_POSITIVE, 0, 1e150, GRPO_LOW_EXCLUDED, GRPO_NOT_POSITIVE, GRPO_TOO_LARGE) \
    X(BELOW_ONE, 0, 1, GRPO_HIGH_EXCLUDED, GRPO_NEGATIVE, GRPO_NOT_BELOW_ONE) \
    X(SHARE, 0, 1, GRPO_LOW_EXCLUDED, GRPO_NOT_POSITIVE, GRPO_NOT_UNIT) X(POWER, -16, 16, 0, GRPO_NOT_POWER, GRPO_NOT_POWER) \
    X(POSITIVE_POWER, 0, 16, 0, GRPO_NEGATIVE, GRPO_NOT_POWER) X(WHOLE, 0, DBL_MAX, GRPO_WHOLE, GRPO_NEGATIVE, GRPO_INFINITE) \
    X(POSITIVE_WHOLE, 1, DBL_MAX, GRPO_WHOLE, GRPO_NOT_POSITIVE, GRPO_INFINITE) \
    X(EXCEPT_0, -DBL_MAX, DBL_MAX, GRPO_EXCEPT_0, GRPO_INFINITE, GRPO_INFINITE) \
    X(ABOVE_ONE, 1, HUGE_VAL, GRPO_LOW_EXCLUDED | GRPO_OR_0, GRPO_NOT_ABOVE_ONE, GRPO_INFINITE) /* for arguments: */ \
    X(OPEN_PART, 0, 1, GRPO_LOW_EXCLUDED | GRPO_HIGH_EXCLUDED, GRPO_NOT_POSITIVE, GRPO_NOT_BELOW_ONE) \
    X(MODERATE_NEGATIVE, -1e150, 0, 0, GRPO_TOO_LARGE, GRPO_POSITIVE) X(AT_LEAST_ONE, 1, 1e150, 0, GRPO_TOO_SMALL, GRPO_TOO_LARGE) \
    X(TEMPERATURE, 1e-150, 1e150, 0, GRPO_TOO_SMALL, GRPO_TOO_LARGE) X(DIVISOR, DBL_MIN, 1e150, 0, GRPO_TOO_SMALL, GRPO_TOO_LARGE) \
    X(UP_TO_1E75, -1e75, 1e75, 0, GRPO_OUT_OF_RANGE, GRPO_OUT_OF_RANGE) \
    X(UP_TO_1E70, -1e70, 1e70, 0, GRPO_OUT_OF_RANGE, GRPO_OUT_OF_RANGE)

#define GRPO_DOMAIN_ID_(id, ...) GRPO_##id##_,
typedef enum { GRPO_DOMAINS_(GRPO_DOMAIN_ID_) GRPO_N_DOMAINS_ } grpo_domain_kind_;
#define GRPO_DOMAIN_(id, low, high, flags, below, above) { low, high, flags, below, above },
static const grpo_domain grpo_domains_[] = { GRPO_DOMAINS_(GRPO_DOMAIN_) };
#define GRPO_MAX_INDEX_ ((INT64_C(1) << 35) - 2)                       /* the largest index that a status holds; for larger ones: none */
GRPO_APART_ grpo_status grpo_status_at_(grpo_rule rule, int what, int64_t index) {
    return GRPO_STATUS_(rule, what) | (index < 0 || index > GRPO_MAX_INDEX_ ? 0 : index + 1) << 28;
}

static grpo_status grpo_status_between_(grpo_rule rule, int what, int other, int64_t index) {
    return grpo_status_at_(rule, what, index) | (grpo_status)other << 18;
}

/* the most tokens in a batch: their number is exact in double; and the largest count in totals: two add without overflow */
#define GRPO_MAX_TOKENS_ (INT64_C(1) << 53)
#define GRPO_MAX_COUNT_ (INT64_C(1) << 61)

/* the int64_t at byte `at` of a struct */
GRPO_COLD_ int64_t grpo_count_at_(const void *x, size_t at) {
    int64_t n;
    memcpy(&n, (const char *)x + at, sizeof n);
    return n;
}

/* 1 if the int64_t members from byte `at` up to byte `end` are in [0, GRPO_MAX_COUNT_], as counts from these functions are */
GRPO_COLD_ int grpo_are_counts_(const void *x, size_t at, size_t end) {
    for (; at < end; at += sizeof(int64_t)) if (grpo_count_at_(x, at) < 0 || grpo_count_at_(x, at) > GRPO_MAX_COUNT_) return 0;
    return 1;
}

static grpo_status grpo_check_layout_(const grpo_batch *b);                         /* groups, offsets and lengths */
/* arrays of `needs` must not be NULL; in these and those of `reads` that are not NULL, elements that count must be in their domain */
static grpo_status grpo_check_arrays_(const grpo_batch *b, const grpo_real *advantage, int needs, int reads);

GRPO_INLINE_ void grpo_put_(grpo_real *out, int64_t t, double x, int *overflow) {
    if (!grpo_is_finite(x)) *overflow = 1;
#ifdef GRPO_DOUBLE
    out[t] = x;
#else
    if (x > (double)FLT_MAX || x < -(double)FLT_MAX) {                 /* from halfway to 2^128 on it rounds to infinity */
        int inf = fabs(x) >= 3.4028235677973366e38;
        if (inf) *overflow = 1;
        out[t] = x > 0 ? (inf ? (float)HUGE_VAL : FLT_MAX) : (inf ? -(float)HUGE_VAL : -FLT_MAX);
    } else out[t] = (float)x;
#endif
}

/* lengths of the responses of a group, in tokens */
typedef struct { double shortest, longest; } grpo_lengths_;

/* an item: response i, or its step that ends at token t; number: of the step within the response, as grpo_next_item_ sets it */
typedef struct { int64_t i, t, number; } grpo_index_;

GRPO_FN int64_t grpo_first_sequence_(const grpo_batch *b) { return b->n_groups ? b->group_begin[0] : 0; }
GRPO_FN int64_t grpo_end_sequence_(const grpo_batch *b) { return b->n_groups ? b->group_begin[b->n_groups] : 0; }

typedef struct { int64_t tokens, sequences, nonempty; } grpo_group_counts_;

/* ---- axis 7: divisors ---- */
static double grpo_at_least_one_(int64_t n) { return n > 0 ? (double)n : 1; }

/* the divisor that all terms share */
static double grpo_divisor_(const grpo_aggregation *a, const grpo_totals *n) {
    int skip = a->empty_sequences == GRPO_EMPTY_SEQUENCES_DROP;
    double sequences = grpo_at_least_one_(skip ? n->sequences_nonempty : n->sequences);
    double groups = grpo_at_least_one_(skip ? n->groups_nonempty : n->groups);
    switch (a->kind) {
    case GRPO_AGGREGATION_TOKEN_MEAN:            return grpo_at_least_one_(n->tokens);
    case GRPO_AGGREGATION_TOKEN_MEAN_NONZERO_STD: return grpo_at_least_one_(n->nonzero_std_tokens);
    case GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN: case GRPO_AGGREGATION_SEQ_MEAN_LENGTH_POWER:
    case GRPO_AGGREGATION_SEQ_MEAN_SEGMENT_MEAN: case GRPO_AGGREGATION_SEQ_MEAN_TOKEN_SUM: return sequences;
    case GRPO_AGGREGATION_SEQ_MEAN_CONSTANT:     return sequences * a->constant;
    case GRPO_AGGREGATION_CONSTANT:              return a->constant;
    case GRPO_AGGREGATION_GROUP_MEAN: case GRPO_AGGREGATION_GROUP_MEAN_SEQ_MEAN: case GRPO_AGGREGATION_GROUP_MEAN_TOKEN_MEAN: return groups;
    default:                         return 1;
    }
}

/* the divisor that the terms of a sequence have besides */
static double grpo_sequence_divisor_(const grpo_aggregation *a, int64_t sequence_tokens, int64_t segments,
                                     const grpo_group_counts_ *group) {
    const double tokens = grpo_at_least_one_(sequence_tokens);
    switch (a->kind) {
    case GRPO_AGGREGATION_GROUP_MEAN_SEQ_MEAN:
        return tokens * grpo_at_least_one_(a->empty_sequences == GRPO_EMPTY_SEQUENCES_DROP ? group->nonempty : group->sequences);
    case GRPO_AGGREGATION_GROUP_MEAN: case GRPO_AGGREGATION_SEQ_SUM_TOKEN_MEAN:
    case GRPO_AGGREGATION_SEQ_MEAN_BY_SIGN: case GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN: return tokens;
    case GRPO_AGGREGATION_SEQ_MEAN_SEGMENT_MEAN: return grpo_at_least_one_(segments);
    case GRPO_AGGREGATION_SEQ_MEAN_LENGTH_POWER:                        /* 0/0 and inf/inf would be NaN */
        return grpo_within(pow(tokens, 1 - a->power), DBL_MIN, DBL_MAX);
    case GRPO_AGGREGATION_GROUP_MEAN_TOKEN_MEAN: return grpo_at_least_one_(group->tokens);
    default:                         return 1;
    }
}

/* ---- sets of choices: a bit for each ---- */
#define GRPO_IS_(choice) (UINT64_C(1) << (choice))
#define GRPO_ISNT_(choice) (~GRPO_IS_(choice))
#define GRPO_AMONG_(choice, set) ((int)((set) >> ((unsigned)(choice) & 63) & 1))      /* & 63: the choice may be invalid */

/* the surrogates that are functions of a group */
#define GRPO_IS_TOKEN_ 0
#define GRPO_IS_GROUP_ 1
#define GRPO_OF_GROUP_BIT_(id, name, of, ...) | (uint64_t)GRPO_IS_##of##_ << id
#define GRPO_GROUPS_ (0 GRPO_SURROGATE_CHOICES(GRPO_OF_GROUP_BIT_))

#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
GRPO_C_END_
#endif /* kernel */

#if defined(GRPO_IMPLEMENTATION) && !defined(GRPO_IMPLEMENTED)
#define GRPO_IMPLEMENTED

GRPO_C_BEGIN_
/* ---- checks -------------------------------------------------------------------------------------------------------------------- */
/* What every call checks before it writes anything, in this order: the objective (grpo_objective_check), the layout of the batch, the
 * arrays that the objective needs: present, and every element that counts in its domain.  The tables for this are after the banner. */

/* policies whose log-probabilities a ratio or a KL compares with: id, array, its need; NO_POLICY: all 0; CURRENT: logp without gradient */
#define GRPO_POLICIES_(X) \
    X(OLD, b->logp_old, GRPO_NEED_OLD_) X(ROLLOUT, b->logp_rollout, GRPO_NEED_ROLLOUT_) \
    X(REF, b->logp_ref, GRPO_NEED_REF_) X(CURRENT, b->logp, GRPO_NEED_LOGP_) \
    X(NO_POLICY, NULL, 0) X(TEACHER, b->logp_teacher, GRPO_NEED_LOGP_TEACHER_)

#define GRPO_POLICY_(policy, array, need) GRPO_##policy##_,
typedef enum { GRPO_POLICIES_(GRPO_POLICY_) } grpo_policy_id_;
/* arrays it needs besides those of its ratio */
static int grpo_surrogate_needs_(grpo_surrogate_kind kind) {
#define GRPO_NEEDS_(id, name, of, needs, ...) needs,
    static const int needs[] = { GRPO_SURROGATE_CHOICES(GRPO_NEEDS_) };
    return needs[kind];
}

/* 1 if surrogate or KL penalty use the ratio */
static int grpo_uses_ratio_(const grpo_objective *o) {
    const int without = o->surrogate.kind == GRPO_SURROGATE_REINFORCE || o->surrogate.kind == GRPO_SURROGATE_NONE;
    return !without || (o->penalty.kl != GRPO_KL_NONE && o->penalty.kl_importance_weight != GRPO_KL_IMPORTANCE_WEIGHT_NONE);
}

static int grpo_needs_ratio_(const grpo_objective *o) { return grpo_uses_ratio_(o) || o->weight.trust != GRPO_TRUST_NONE; }

/* sets of choices */
#define GRPO_STEPS_ (GRPO_IS_(GRPO_CREDIT_STEP) | GRPO_IS_(GRPO_CREDIT_STEP_OWN) | GRPO_IS_(GRPO_CREDIT_EPISODE_STEP) \
                     | GRPO_IS_(GRPO_CREDIT_STEP_GAE))
/* the surrogates that read surrogate.bounds; the bounds of the others are fixed */
#define GRPO_CLIPS_ (GRPO_IS_(GRPO_SURROGATE_PPO_CLIP) | GRPO_IS_(GRPO_SURROGATE_DUAL_CLIP) | GRPO_IS_(GRPO_SURROGATE_GPPO))
/* the levels that clip the tokens' log-ratios before they are pooled (GMPO) */
#define GRPO_CLIPS_TOKENS_ (GRPO_IS_(GRPO_LEVEL_SEQUENCE_CLIPPED_MEAN) | GRPO_IS_(GRPO_LEVEL_SEQUENCE_POWER_MEAN))

GRPO_FN int grpo_clips_token_ratios_(const grpo_ratio_axis *a) { return GRPO_AMONG_(a->level, GRPO_CLIPS_TOKENS_); }
/* the bounds of that clip by the sign of A, infinite where there is none */
GRPO_FN void grpo_token_clip_bounds_(const grpo_ratio_axis *a, double adv, double *least, double *most) {
    *least = grpo_clips_token_ratios_(a) && adv < 0 ? -a->token_clip_low : -HUGE_VAL;
    *most = grpo_clips_token_ratios_(a) && adv >= 0 ? a->token_clip_high : HUGE_VAL;
}

static int grpo_credits_steps_(const grpo_advantage *a) { return GRPO_AMONG_(a->credit, GRPO_STEPS_); }
static int grpo_has_critic_(const grpo_advantage *a) { return a->credit == GRPO_CREDIT_GAE || a->credit == GRPO_CREDIT_STEP_GAE; }

/* functions from a choice to its pool, by its table */
#define GRPO_POOL_OF_(name, kind, CHOICES) \
    static grpo_pool name(kind of) { static const grpo_pool pools[] = { CHOICES(GRPO_POOL_) }; return pools[of]; }
GRPO_POOL_OF_(grpo_level_pool_, grpo_level_kind, GRPO_LEVEL_CHOICES)
GRPO_POOL_OF_(grpo_rollout_is_pool_, grpo_rollout_is_level_kind, GRPO_ROLLOUT_IS_LEVEL_CHOICES)
GRPO_POOL_OF_(grpo_rollout_rs_pool_, grpo_rollout_rs_level_kind, GRPO_ROLLOUT_RS_LEVEL_CHOICES)
GRPO_POOL_OF_(grpo_policy_is_pool_, grpo_policy_is_kind, GRPO_POLICY_IS_CHOICES)
GRPO_POOL_OF_(grpo_gate_pool_, grpo_nll_gate_kind, GRPO_NLL_GATE_CHOICES)

static int grpo_rollout_is_over_(const grpo_weight *w, grpo_over over) {
    return w->rollout_is != GRPO_ROLLOUT_IS_NONE && grpo_rollout_is_pool_(w->rollout_is_level).over == over;
}

static int grpo_rollout_rs_over_(const grpo_weight *w, grpo_over over) {
    return w->rollout_rs != GRPO_ROLLOUT_RS_NONE && grpo_rollout_rs_pool_(w->rollout_rs_level).over == over;
}

static int grpo_has_segments_(const grpo_weight *w) {
    return grpo_rollout_is_over_(w, GRPO_OVER_SEGMENT) || grpo_rollout_rs_over_(w, GRPO_OVER_SEGMENT);
}

static int grpo_level_is_segment_(grpo_level_kind level) { return grpo_level_pool_(level).over == GRPO_OVER_SEGMENT; }

/* 1 if the advantage axis reads R of axis 1 */
static int grpo_reads_reward_(const grpo_objective *o) {
    const grpo_advantage *a = &o->advantage;
    if (grpo_credits_steps_(a)) return a->credit == GRPO_CREDIT_EPISODE_STEP || a->step_value == GRPO_STEP_VALUE_RESPONSE;
    return a->rewards == GRPO_REWARDS_ONE;
}

GRPO_COLD_ int grpo_advantage_needs_(const grpo_objective *o) {
    const grpo_advantage *a = &o->advantage;
    const int steps = grpo_credits_steps_(a);
    int n = 0;
    if (steps || a->samples == GRPO_SAMPLES_STEPS) n |= GRPO_NEED_STEP_END_;
    if (steps && a->step_value != GRPO_STEP_VALUE_RESPONSE) n |= GRPO_NEED_STEP_;
    if (steps && (a->step_group == GRPO_STEP_GROUP_STATE || a->step_group == GRPO_STEP_GROUP_HISTORY)) n |= GRPO_NEED_STATE_;
    if (a->credit == GRPO_CREDIT_PREFIX_TREE) n |= GRPO_NEED_TOKEN_ID_;
    if (a->rewards == GRPO_REWARDS_EACH) n |= GRPO_NEED_REWARDS_;
    if (grpo_reads_reward_(o)) n |= GRPO_NEED_REWARD_ | (o->reward.truncated == GRPO_REWARD_TRUNCATED_SCALE ? GRPO_NEED_TRUNCATED_ : 0);
    if (a->entropy != GRPO_ENTROPY_NONE || a->credit == GRPO_CREDIT_ENTROPY_SHARE) n |= GRPO_NEED_ENTROPY_;
    if (a->token_baseline != GRPO_TOKEN_BASELINE_NONE) n |= GRPO_NEED_OLD_ | GRPO_NEED_SUM_PI_SQUARED_;
    if (a->teacher_coef != 0 || a->teacher_share != 0) n |= GRPO_NEED_TEACHER_GAP_ | GRPO_NEED_OLD_;
    if (a->kl_centred_coef != 0) n |= GRPO_NEED_KL_CENTRED_;
    if (a->marked != GRPO_MARKED_NONE) n |= GRPO_NEED_MARKED_;
    if (grpo_has_critic_(a)) n |= GRPO_NEED_VALUE_;
    if (a->baseline == GRPO_BASELINE_EXTERNAL) n |= GRPO_NEED_BASELINE_;
    if (o->reward.kl != GRPO_KL_NONE) n |= GRPO_NEED_OLD_ | GRPO_NEED_REF_;
    return n;
}

#define GRPO_POLICY_ID_(id, name, policy, text) GRPO_##policy##_,
#define GRPO_POLICY_OF_CHOICE_(name, axis, field, CHOICES) \
    static grpo_policy_id_ name(const axis *a) { static const grpo_policy_id_ ids[] = { CHOICES(GRPO_POLICY_ID_) }; return ids[a->field]; }
GRPO_POLICY_OF_CHOICE_(grpo_behaviour_policy_, grpo_ratio_axis, behaviour, GRPO_BEHAVIOUR_CHOICES)
GRPO_POLICY_OF_CHOICE_(grpo_kl_policy_, grpo_penalty, kl_reference, GRPO_KL_REFERENCE_CHOICES)
GRPO_POLICY_OF_CHOICE_(grpo_off_policy_mask_policy_, grpo_weight, off_policy_mask, GRPO_OFF_POLICY_MASK_CHOICES)

static const grpo_real *grpo_logp_of_(const grpo_batch *b, grpo_policy_id_ policy) {
    switch (policy) {
#define GRPO_ARRAY_OF_(policy, array, need) case GRPO_##policy##_: return array;
    GRPO_POLICIES_(GRPO_ARRAY_OF_)
    default: return NULL;
    }
}

static int grpo_need_of_(grpo_policy_id_ policy) {
#define GRPO_NEED_OF_(policy, array, need) need,
    static const int need[] = { GRPO_POLICIES_(GRPO_NEED_OF_) };
    return need[policy];
}

static int grpo_reads_bounds_(const grpo_surrogate *s) { return GRPO_AMONG_(s->kind, GRPO_CLIPS_); }

/* arrays of the NLL terms */
static int grpo_nll_needs_(const grpo_penalty *p) {
    int n = 0;
    if (p->nll_on == GRPO_NLL_NONE) return 0;
    if (p->nll_form == GRPO_NLL_FORM_DISPLACEMENT) n |= GRPO_NEED_OLD_;
    if (p->nll_form == GRPO_NLL_FORM_TEACHER_GAP) n |= GRPO_NEED_LOGP_TEACHER_;
    if (p->nll_weight == GRPO_NLL_WEIGHT_TEACHER_GATE) n |= GRPO_NEED_LOGP_TEACHER_;
    if (grpo_gate_pool_(p->nll_gate).over == GRPO_OVER_SEGMENT) n |= GRPO_NEED_SEGMENT_END_;
    return n;
}

GRPO_COLD_ int grpo_count_needs_(const grpo_objective *o) {
    static const int likelihood[] = { 0, GRPO_NEED_REWARD_, GRPO_NEED_ADVANTAGE_, GRPO_NEED_NLL_MASK_, 0, GRPO_NEED_ADVANTAGE_ };
    int n = likelihood[o->penalty.nll_on];
    if (grpo_counts_by_sign_(o) || grpo_counts_sequences_by_sign_(o)) n |= GRPO_NEED_ADVANTAGE_;
    if (grpo_counts_nonzero_std_(o)) n |= GRPO_NEED_REWARD_;
    if (o->penalty.preference != GRPO_PREFERENCE_NONE) n |= GRPO_NEED_REWARD_;
    if (o->weight.truncated == GRPO_WEIGHT_TRUNCATED_MASK) n |= GRPO_NEED_TRUNCATED_;
    if (grpo_has_rollout_weights_(&o->weight)) n |= GRPO_NEED_OLD_ | GRPO_NEED_ROLLOUT_;
    if (grpo_has_segments_(&o->weight)) n |= GRPO_NEED_SEGMENT_END_;
    if (o->weight.selected == GRPO_SELECTED_ONLY) n |= GRPO_NEED_SELECTED_;
    return n;
}

/* 1 if the loss reads A, other than for counts */
static int grpo_reads_advantage_(const grpo_objective *o) {
    return o->surrogate.kind != GRPO_SURROGATE_NONE || o->weight.fipo != GRPO_FIPO_NONE
        || (grpo_clips_token_ratios_(&o->ratio) && grpo_needs_ratio_(o));
}

GRPO_COLD_ int grpo_loss_needs_(const grpo_objective *o) {
    int n = GRPO_NEED_LOGP_ | grpo_count_needs_(o) | grpo_surrogate_needs_(o->surrogate.kind);
    if (grpo_reads_advantage_(o)) n |= GRPO_NEED_ADVANTAGE_;
    if (grpo_needs_ratio_(o)) n |= grpo_need_of_(grpo_behaviour_policy_(&o->ratio));
    if (o->penalty.kl == GRPO_KL_EXTERNAL) n |= GRPO_NEED_DIVERGENCE_REF_;
    else if (o->penalty.kl != GRPO_KL_NONE) n |= grpo_need_of_(grpo_kl_policy_(&o->penalty));
    if (o->weight.trust == GRPO_TRUST_DIVERGENCE) n |= GRPO_NEED_DIVERGENCE_OLD_;
    if (grpo_needs_ratio_(o) && grpo_level_is_segment_(o->ratio.level)) n |= GRPO_NEED_SEGMENT_END_;
    if (o->aggregation.kind == GRPO_AGGREGATION_SEQ_MEAN_SEGMENT_MEAN) n |= GRPO_NEED_SEGMENT_END_;
    if (o->weight.fipo != GRPO_FIPO_NONE) n |= GRPO_NEED_OLD_;
    if (o->weight.external != GRPO_EXTERNAL_NONE) n |= GRPO_NEED_EXTERNAL_WEIGHT_;
    n |= grpo_need_of_(grpo_off_policy_mask_policy_(&o->weight)) | grpo_nll_needs_(&o->penalty);
    if (o->weight.off_policy_mask == GRPO_OFF_POLICY_MASK_TOTAL_VARIATION) n |= GRPO_NEED_OLD_;
    if (o->penalty.entropy_coef != 0) n |= GRPO_NEED_ENTROPY_;
    if (o->penalty.preference != GRPO_PREFERENCE_NONE && o->penalty.preference_score == GRPO_PREFERENCE_SCORE_REF) n |= GRPO_NEED_REF_;
    if (o->weight.policy_is != GRPO_POLICY_IS_NONE) n |= GRPO_NEED_OLD_;
    if (o->weight.selected != GRPO_SELECTED_ALL) n |= GRPO_NEED_SELECTED_;
    if (o->penalty.kl_on != GRPO_KL_ON_ALL) n |= GRPO_NEED_KL_MASK_;
    if (o->surrogate.bounds == GRPO_BOUNDS_EXTERNAL) n |= GRPO_NEED_EPS_;
    return n;
}

#define GRPO_LOSS_READS_ (GRPO_NEED_OLD_ | GRPO_NEED_REF_ | GRPO_NEED_ENTROPY_ | GRPO_NEED_ADVANTAGE_)      /* if not NULL */
#define GRPO_FIELD_(path) offsetof(grpo_objective, path)
GRPO_COLD_ int grpo_at_field_(size_t offset);                                            /* number of the field at this offset */
GRPO_COLD_ grpo_status grpo_check_dual_(const grpo_surrogate *s, const grpo_batch *b);   /* clip_dual must exceed 1 + batch.eps_high */

/* all checks; needs: gives the arrays that a valid objective needs; except: arrays that are not looked at */
static grpo_status grpo_check_(const grpo_objective *o, const grpo_batch *b, const grpo_real *advantage,
                               int (*needs)(const grpo_objective *), int reads, int except) {
    grpo_status st = grpo_objective_check(o);
    if (!st) st = grpo_check_layout_(b);
    if (!st) st = grpo_check_arrays_(b, advantage, needs(o) & ~except, reads & ~except);
    return !st && (needs(o) & GRPO_NEED_EPS_) ? grpo_check_dual_(&o->surrogate, b) : st;
}

/* ---- axes 1 and 2: rewards to advantages -------------------------------------------------------------------------------------- */
/* a group: the items that are compared with each other, in one column of rewards, and their statistics */
typedef struct {
    int64_t column;
    int steps;                          /* 1: the items are steps, 0: responses */
    grpo_step_group_kind pool;          /* of steps: the pool of step `of`, with history at this level */
    grpo_index_ of;
    int64_t level, count;               /* count: of items */
    int all_equal;                      /* 1 if all R are equal */
    grpo_dd min, max, sum;              /* of R; with a transform, of the transformed R */
    int all_doubles;                    /* 1 if all R are doubles (lo is 0), so that sums of them are exact */
    double variance;                    /* of scale group_std or residual_rms */
    grpo_dd baseline;                   /* b, if it is the same for all items and is no mean */
    double sigma;                       /* of scale group_mean, beta and mean_absolute_deviation */
    grpo_dd weighted_sum;               /* sum T R, for baseline length_weighted */
    double tokens;                      /* sum T */
    double weight_up, weight_down;      /* factors of reweight difficulty and focal: where a > 0, and elsewhere */
    grpo_dd best, up, down;             /* largest R; transformed R of the best items (or those with R > 0), and of the others */
    grpo_dd factor, kth;                /* for the transforms pkpo_*: factor of pkpo_maxrl; the pass_k-th smallest R */
} grpo_group_;

/* statistics of the token rewards of credit entropy_share, over a prompt's responses with R > 0 or over the others */
typedef struct { grpo_dd sum; double count, sigma; } grpo_shares_;

enum { GRPO_CACHED_REWARDS_ = 128 };

/* state of an advantage estimation, which goes group by group */
typedef struct {
    const grpo_objective *obj;
    const grpo_batch *batch;
    int columns;
    /* statistics of the batch */
    grpo_dd batch_sum;                  /* sum of what batch_variance is the variance of */
    double batch_variance, batch_count, items;
    double reweight;                    /* factor of advantage.reweight that is the same for the whole batch; else 1 */
    grpo_dd column_sum[GRPO_MAX_REWARDS];
    grpo_dd entropy, divergence;        /* sums over the batch's tokens */
    double tokens;
    int has_beta;                       /* 1 if the prompts' means differ */
    grpo_beta beta;
    /* the current group */
    int64_t index, begin, end;          /* number of the group; its responses */
    grpo_lengths_ lengths;
    grpo_dd reward[GRPO_CACHED_REWARDS_];      /* R of its first responses, see grpo_enter_group_ */
    grpo_group_ group[GRPO_MAX_REWARDS];       /* by column */
    grpo_group_ episode;                /* the responses as items, for credit episode_step */
    grpo_shares_ shares[2];             /* [1]: R > 0, [0]: the others */
} grpo_estimator_;

/* R - b = x/divisor, a = (R - b)/sigma, or 0 if sigma is 0 */
typedef struct { grpo_dd x; double divisor, sigma; } grpo_standardised_;

/* A = own + rest: own is what reweighting multiplies, rest is not (KL, critic) */
typedef struct { grpo_dd own, rest; } grpo_credited_;

/* state of the backward pass of credit over the tokens of response i */
typedef struct {
    int64_t i;
    double item;                        /* a of the response, or of the current step */
    double episode;                     /* e of credit episode_step */
    grpo_dd decay;                      /* lambda */
    grpo_credited_ ret;                 /* A of the current token */
    double v_next;                      /* value of the next unmasked token, 0 after the last */
    int last;                           /* 1 until the last unmasked token has been credited */
    int repeats;                        /* bootstrap repeat: the value after the last token is that of the last */
    double tail, seen;                  /* unmasked tokens at the end that get A = 0; unmasked tokens so far */
    int64_t branch;                     /* prefix_tree: nearest position at or before the token where another response parts from i */
} grpo_trajectory_;

/* what the shaping of A reads of a response, whose tokens come from the last to the first */
typedef struct {
    int equal_rewards;                  /* 1 if entropy zero_variance applies */
    int positive;                       /* 1 if R > 0 */
    double max_entropy;
    int high_entropy;                   /* 1 if its mean entropy exceeds entropy_max */
    grpo_dd mean_entropy;
    grpo_dd gap, discounts;             /* teacher's log-ratios and discounts, summed from the current token on */
} grpo_shaping_;

/* further choices, defined after the banner */
static int grpo_magnifies_rounding_(const grpo_advantage *a);
static grpo_lengths_ grpo_lengths_of_(const grpo_batch *b, int64_t g);
GRPO_COLD_ grpo_dd grpo_length_reward_(const grpo_reward *r, grpo_dd rew, int correct, double len, grpo_lengths_ group);
GRPO_COLD_ int grpo_next_pooled_step_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_index_ *at);
GRPO_COLD_ grpo_dd grpo_step_reward_(const grpo_estimator_ *e, grpo_index_ at);
GRPO_COLD_ int64_t grpo_at_least_one_step_(const grpo_batch *b, int64_t i);      /* number of steps of response i, at least 1 */
static grpo_dd grpo_transformed_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_dd rew);
GRPO_COLD_ void grpo_group_further_statistics_(const grpo_estimator_ *e, grpo_group_ *s);
static void grpo_take_credit_statistics_(grpo_estimator_ *e);
GRPO_COLD_ grpo_kalman grpo_kalman_at_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_index_ at);
GRPO_COLD_ double grpo_variance_of_others_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_index_ at);
GRPO_COLD_ double grpo_excluded_advantage_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_index_ at);
GRPO_COLD_ double grpo_weighted_columns_(const grpo_estimator_ *e, grpo_index_ at);
GRPO_COLD_ double grpo_pooled_step_advantage_(const grpo_estimator_ *e, grpo_index_ at);
GRPO_COLD_ double grpo_reweighted_advantage_(const grpo_estimator_ *e, grpo_index_ at);
GRPO_COLD_ grpo_dd grpo_step_credit_(const grpo_estimator_ *e, grpo_trajectory_ *s, int64_t t);
GRPO_COLD_ grpo_dd grpo_entropy_share_credit_(const grpo_estimator_ *e, int64_t i, int64_t t);
GRPO_COLD_ grpo_dd grpo_prefix_tree_credit_(const grpo_estimator_ *e, grpo_trajectory_ *s, int64_t t);
static int grpo_has_shaping_(const grpo_advantage *a);
static grpo_shaping_ grpo_shaping_of_(const grpo_estimator_ *e, int64_t i);
GRPO_COLD_ double grpo_shape_token_(const grpo_estimator_ *e, grpo_shaping_ *s, int64_t t, double adv);
static void grpo_moments_add_token_(const grpo_estimator_ *e, grpo_credited_ adv, double tokens, grpo_moments *m);
static double grpo_tokens_of_mean_abs_(const grpo_estimator_ *e, const grpo_trajectory_ *s);
static grpo_status grpo_check_rewards_(grpo_estimator_ *e);
GRPO_NOINLINE_ void grpo_subtract_token_baseline_(const grpo_estimator_ *e, grpo_real *advantage);

/* ---- axis 1: R of a response --------------------------------------------------------------------------------------------------- */
/* grpo_kl_estimate in double-double; k3, ten times slower so, only where baseline and scale may magnify its rounding */
static grpo_dd grpo_reward_kl_(const grpo_objective *o, const grpo_batch *b, int64_t t) {
    const grpo_dd diff = grpo_two_diff((double)b->logp_old[t], (double)b->logp_ref[t]);
    switch (o->reward.kl) {
    case GRPO_KL_K1:  return diff;
    case GRPO_KL_K2:  return grpo_dd_mul(grpo_dd_product(diff, diff), 0.5);
    case GRPO_KL_K3:
        if (!grpo_magnifies_rounding_(&o->advantage)) return grpo_dd_of_(grpo_kl_estimate(GRPO_KL_K3, diff).value);
        return grpo_exp_minus_linear_twice(grpo_dd_mul(diff, -1));
    case GRPO_KL_ABS: return diff.hi < 0 ? grpo_dd_mul(diff, -1) : diff;
    default:          return grpo_dd_of_(0);
    }
}

static int grpo_reward_has_kl_(const grpo_reward *r) { return r->kl != GRPO_KL_NONE && r->kl_coef != 0; }

/* R_i; rounded to 96 bits where it is computed, so that equal rewards have equal bits */
static grpo_dd grpo_shaped_reward_(const grpo_objective *o, const grpo_batch *b, int64_t i, grpo_lengths_ group) {
    const grpo_reward *r = &o->reward;
    const double reward = (double)b->reward[i], len = (double)b->length[i];
    const int exact = r->length == GRPO_LENGTH_NONE && r->overlong == GRPO_OVERLONG_NONE && r->map == GRPO_MAP_NONE;
    const int subtracts_kl = grpo_reward_has_kl_(r) && o->advantage.credit == GRPO_CREDIT_OUTCOME; /* other credits: per token, or never */
    grpo_dd rew = grpo_dd_of_(reward + 0);                                /* no -0 */
    grpo_sum s = GRPO_NO_SUM_;
    int passes;
    if (r->truncated == GRPO_REWARD_TRUNCATED_SCALE && b->truncated[i])
        rew = grpo_dd_add_double_(grpo_two_prod(reward, r->truncated_factor), 0);
    if (exact && !subtracts_kl) return rew;
    rew = grpo_length_reward_(r, rew, reward > 0, len, group);
    rew = grpo_dd_add(rew, grpo_dd_round_96_(
        grpo_overlong_penalty(r->overlong, len, r->overlong_max, r->overlong_cache, r->overlong_factor)));
    if (r->map == GRPO_MAP_AFFINE) {
        rew = grpo_dd_mul(grpo_dd_add_double_(rew, r->map_bias), r->map_factor);
        rew = grpo_clamp(rew, r->map_low, r->map_high, &passes);
    }
    if (!subtracts_kl) return grpo_dd_round_96_(rew);
    for (int64_t t = b->offset[i]; t < b->offset[i] + b->length[i]; t++)
        if (grpo_is_unmasked_(b, t)) grpo_sum_add_dd_(&s, grpo_dd_mul(grpo_reward_kl_(o, b, t), -r->kl_coef));
    grpo_sum_add_dd_(&s, rew);
    return grpo_dd_round_96_(grpo_sum_dd_(&s));
}

/* ---- axis 2: the advantage of a response, or of its steps ---------------------------------------------------------------------- */
/* makes g the current group.  R of its first GRPO_CACHED_REWARDS_ responses is stored; of the others it is computed at each read */
static void grpo_enter_group_(grpo_estimator_ *e, int64_t g) {
    const grpo_batch *b = e->batch;
    e->index = g;
    e->begin = b->group_begin[g]; e->end = b->group_begin[g + 1];
    if (e->obj->reward.length == GRPO_LENGTH_KIMI) e->lengths = grpo_lengths_of_(b, g);
    if (!grpo_reads_reward_(e->obj)) return;
    for (int64_t k = 0; k < e->end - e->begin && k < GRPO_CACHED_REWARDS_; k++)
        e->reward[k] = grpo_shaped_reward_(e->obj, b, e->begin + k, e->lengths);
}

static grpo_dd grpo_response_reward_(const grpo_estimator_ *e, int64_t i) {
    const int64_t k = i - e->begin;
    return k < GRPO_CACHED_REWARDS_ ? e->reward[k] : grpo_shaped_reward_(e->obj, e->batch, i, e->lengths);
}

/* ---- the items of a group ---- */
GRPO_APART_ grpo_index_ grpo_before_items_(const grpo_estimator_ *e) {
    const grpo_index_ at = { e->begin - 1, -1, -1 };
    return at;
}

static int grpo_is_excluded_(const grpo_estimator_ *e, int64_t i) {
    return e->obj->advantage.excluded != GRPO_EXCLUDED_NONE && e->batch->excluded && e->batch->excluded[i];
}

/* advances to the next item; 0 if there is none */
static int grpo_next_item_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_index_ *at) {
    if (s->steps) return grpo_next_pooled_step_(e, s, at);
    do at->i++; while (at->i < e->end && grpo_is_excluded_(e, at->i));
    return at->i < e->end;
}

static grpo_dd grpo_item_reward_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_index_ at) {
    const grpo_batch *b = e->batch;
    if (s->steps) return grpo_step_reward_(e, at);
    if (e->obj->advantage.rewards == GRPO_REWARDS_EACH) return grpo_dd_of_((double)b->rewards[at.i * b->n_rewards + s->column]);
    return grpo_response_reward_(e, at.i);
}

/* R after the transform, as baseline and scale read it */
static grpo_dd grpo_item_value_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_index_ at) {
    const grpo_dd rew = grpo_item_reward_(e, s, at);
    return e->obj->advantage.transform == GRPO_TRANSFORM_NONE ? rew : grpo_transformed_(e, s, rew);
}

/* statistics of R, or of the transformed R.  The variance for group_std: with pkpo_* of the transformed R, with best_minus_second of R */
static void grpo_group_statistics_(const grpo_estimator_ *e, grpo_group_ *s, int transformed) {
    const grpo_advantage *a = &e->obj->advantage;
    const int deviates = a->transform != GRPO_TRANSFORM_PASS_AT_K && (a->transform >= GRPO_TRANSFORM_PKPO_MAXRL) == transformed;
    const int repeated = a->samples == GRPO_SAMPLES_STEPS && !s->steps;
    grpo_index_ at = grpo_before_items_(e);
    grpo_values v = GRPO_NO_VALUES_;
    s->all_doubles = 1;
    while (grpo_next_item_(e, s, &at)) {
        const grpo_dd rew = transformed ? grpo_item_value_(e, s, at) : grpo_item_reward_(e, s, at);
        for (int64_t n = repeated ? grpo_at_least_one_step_(e->batch, at.i) : 1; n > 0; n--) grpo_values_take_(&v, rew);
        s->all_doubles &= rew.lo == 0;
    }
    s->count = v.count;
    s->min = v.min; s->max = v.max;
    s->sum = grpo_sum_dd_(&v.sum);
    if (a->scale == GRPO_SCALE_GROUP_STD && deviates) s->variance = grpo_variance_(&v, a->std);
}

/* all statistics of the items of s */
static void grpo_group_prepare_(const grpo_estimator_ *e, grpo_group_ *s) {
    grpo_group_statistics_(e, s, 0);
    s->all_equal = grpo_dd_same_(s->min, s->max);
    if (s->count) grpo_group_further_statistics_(e, s);
}

static void grpo_take_group_(grpo_estimator_ *e, int64_t g) {
    grpo_enter_group_(e, g);
    for (int k = 0; k < e->columns; k++) {
        memset(&e->group[k], 0, sizeof e->group[k]);
        e->group[k].column = k; e->group[k].steps = grpo_credits_steps_(&e->obj->advantage);
        grpo_group_prepare_(e, &e->group[k]);
    }
    grpo_take_credit_statistics_(e);
}

/* ---- a = (R - b)/sigma ---- */
/* 1 for baselines and scales that come from the group alone, so that a single item has none */
static int grpo_baseline_is_of_group_(grpo_baseline_kind k) {
    return k != GRPO_BASELINE_NONE && k != GRPO_BASELINE_EXTERNAL && k != GRPO_BASELINE_BATCH_MEAN && k != GRPO_BASELINE_KALMAN;
}

static int grpo_scale_is_of_group_(grpo_scale_kind k) {
    return k == GRPO_SCALE_GROUP_STD || k == GRPO_SCALE_GROUP_MEAN || k == GRPO_SCALE_RESIDUAL_RMS
        || k == GRPO_SCALE_MEAN_ABSOLUTE_DEVIATION;
}

static int grpo_is_zero_singleton_(const grpo_advantage *a, const grpo_group_ *s) {
    return s->count == 1 && a->singleton == GRPO_SINGLETON_ZERO
        && (grpo_baseline_is_of_group_(a->baseline) || grpo_scale_is_of_group_(a->scale));
}

/* R - b as a numerator, returned, and *divisor, so that it is rounded only once; shift is added to b */
static grpo_dd grpo_residual_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_index_ at, double shift, double *divisor) {
    const grpo_advantage *a = &e->obj->advantage;
    const int none = s->count == 1 && grpo_baseline_is_of_group_(a->baseline);            /* singleton raw: b = 0 */
    const grpo_baseline_kind baseline = none ? GRPO_BASELINE_NONE : a->baseline;
    const grpo_dd rew = grpo_item_value_(e, s, at);
    const double n = (double)s->count;
    grpo_dd x = rew;
    *divisor = 1;
    switch (baseline) {
    case GRPO_BASELINE_NONE: break;
    case GRPO_BASELINE_GROUP_MEAN: case GRPO_BASELINE_LEAVE_ONE_OUT:
        *divisor = baseline == GRPO_BASELINE_GROUP_MEAN ? n : n - 1;
        x = grpo_dd_same_(s->min, s->max) ? grpo_dd_of_(0) : grpo_dd_minus_(grpo_dd_mul(rew, n), s->sum);
        break;
    case GRPO_BASELINE_LENGTH_WEIGHTED:
        if (s->tokens == 0) break;
        *divisor = s->tokens;
        x = grpo_dd_same_(s->min, s->max) ? grpo_dd_of_(0) : grpo_dd_minus_(grpo_dd_mul(rew, s->tokens), s->weighted_sum);
        break;
    case GRPO_BASELINE_EXTERNAL: x = grpo_dd_minus_(rew, grpo_dd_of_((double)e->batch->baseline[e->index])); break;
    case GRPO_BASELINE_BATCH_MEAN:
        if (e->items == 0) break;                                       /* not known yet, or what follows subtracts a mean anyway */
        *divisor = e->items;
        x = grpo_dd_minus_(grpo_dd_mul(rew, e->items), e->column_sum[s->column]);
        break;
    case GRPO_BASELINE_KALMAN: x = grpo_kalman_at_(e, s, at).residual; break;
    default: x = grpo_dd_minus_(rew, s->baseline);
    }
    return shift == 0 ? x : grpo_dd_minus_(x, grpo_two_prod(shift, *divisor));
}

/* sigma; 0 means a = 0 */
static double grpo_sigma_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_index_ at) {
    const grpo_advantage *a = &e->obj->advantage;
    double variance;
    switch (a->scale) {
    case GRPO_SCALE_NONE: case GRPO_SCALE_TOKEN_WHITEN: return 1;
    case GRPO_SCALE_CONSTANT:     return a->scale_divisor;
    case GRPO_SCALE_GROUP_STD: case GRPO_SCALE_RESIDUAL_RMS: variance = s->count == 1 ? 1 : s->variance; break;
    case GRPO_SCALE_BATCH_STD: case GRPO_SCALE_BATCH_CENTRED_STD: variance = e->batch_variance; break;
    case GRPO_SCALE_KALMAN_STD:   variance = grpo_kalman_at_(e, s, at).variance.hi; break;
    case GRPO_SCALE_LEAVE_ONE_OUT_STD:
        variance = grpo_variance_of_others_(e, s, at);
        if (variance == 0) return 1;
        break;
    default: return s->sigma;
    }
    return variance == 0 ? 0 : grpo_deviation(variance, a->eps, a->eps_place);
}

static grpo_standardised_ grpo_standardise_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_index_ at) {
    const grpo_advantage *a = &e->obj->advantage;
    grpo_standardised_ z = { { 0, 0 }, 1, 0 };
    if (grpo_is_zero_singleton_(a, s)) return z;
    z.sigma = grpo_sigma_(e, s, at);
    z.x = grpo_residual_(e, s, at, a->baseline_shift, &z.divisor);
    return z;
}

/* a of one column, before reweighting */
static double grpo_column_advantage_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_index_ at) {
    if (grpo_is_excluded_(e, at.i)) return grpo_excluded_advantage_(e, s, at);
    const grpo_standardised_ z = grpo_standardise_(e, s, at);
    return z.sigma == 0 ? 0 : grpo_divide_(z.x, z.divisor) / z.sigma;
}

/* (x - mean)/sigma with the mean of the batch; 0 if the batch does not vary, or sigma overflows */
static double grpo_batch_normalised_(const grpo_estimator_ *e, double x, double sigma) {
    const double n = e->batch_count;
    if (e->batch_variance == 0 || !grpo_is_finite(sigma)) return 0;
    return grpo_dd_minus_(grpo_two_prod(n, x), e->batch_sum).hi / (n * sigma);
}

/* A over the mean of |A| (batch_norm mean_abs) */
static double grpo_over_mean_abs_(const grpo_estimator_ *e, double adv) {
    const double mean = e->batch_sum.hi / e->batch_count;
    return mean > 0 ? grpo_is_finite(mean) ? adv / mean : 0 : adv;
}

/* a after reweighting and batch_norm */
static double grpo_item_advantage_(const grpo_estimator_ *e, grpo_index_ at) {
    const grpo_advantage *o = &e->obj->advantage;
    if (e->group[0].steps && o->step_group != GRPO_STEP_GROUP_PROMPT) return grpo_pooled_step_advantage_(e, at);
    if (o->reweight != GRPO_REWEIGHT_NONE) return grpo_reweighted_advantage_(e, at);
    const double a = o->rewards == GRPO_REWARDS_EACH ? grpo_weighted_columns_(e, at) : grpo_column_advantage_(e, &e->group[0], at);
    if (o->batch_norm == GRPO_BATCH_NORM_ITEMS && e->batch_count > 0) return grpo_batch_normalised_(e, a,
        sqrt(e->batch_variance) + o->batch_norm_eps);
    return a == 0 ? 0 : a;                                              /* no -0 */
}

/* ---- credit: from the items to their tokens ---- */
static double grpo_credited_value_(grpo_credited_ adv) { return adv.rest.hi == 0 ? adv.own.hi : grpo_dd_add(adv.own, adv.rest).hi; }

static grpo_trajectory_ grpo_trajectory_of_(const grpo_estimator_ *e, int64_t i) {
    const grpo_advantage *a = &e->obj->advantage;
    grpo_trajectory_ s;
    const grpo_index_ at = { i, -1, -1 };
    memset(&s, 0, sizeof s);
    s.i = i;
    s.last = 1;
    s.decay = grpo_dd_of_(a->lambda);
    if (a->lambda_length > 0) {
        const grpo_dd least = grpo_length_lambda(a->lambda_length, (double)grpo_unmasked_(e->batch, i));
        if (grpo_dd_less(s.decay, least)) s.decay = least;
    }
    if (!grpo_credits_steps_(a)) s.item = grpo_item_advantage_(e, at);
    if (e->batch->truncated && e->batch->truncated[i]) {
        s.tail = a->truncated_tail;
        s.repeats = a->credit == GRPO_CREDIT_GAE && a->bootstrap == GRPO_BOOTSTRAP_REPEAT;
        if (s.repeats) s.item = 0;
    }
    if (a->credit == GRPO_CREDIT_OUTCOME) s.ret.own.hi = s.item;
    if (a->credit == GRPO_CREDIT_EPISODE_STEP) s.episode = grpo_column_advantage_(e, &e->episode, at);
    s.branch = INT64_MAX;
    return s;
}

/* token reward rho_t of credit return, gae, step_gae, and of step, which has no KL */
static grpo_credited_ grpo_token_reward_(const grpo_estimator_ *e, const grpo_trajectory_ *s, int64_t t) {
    const grpo_objective *o = e->obj;
    grpo_credited_ rho = { { 0, 0 }, { 0, 0 } };
    const grpo_index_ at = { s->i, t, -1 };
    if (!grpo_credits_steps_(&o->advantage)) { if (s->last) rho.own.hi = s->item; }
    else if (e->batch->step_end[t]) rho.own.hi = grpo_item_advantage_(e, at);
    if (grpo_reward_has_kl_(&o->reward) && o->advantage.credit != GRPO_CREDIT_STEP)
        rho.rest = grpo_dd_mul(grpo_reward_kl_(o, e->batch, t), -o->reward.kl_coef);
    return rho;
}

/* G gamma, where 0 times infinity is 0 */
static grpo_dd grpo_discounted_(grpo_dd ret, double gamma) { return gamma == 0 ? grpo_dd_of_(0) : grpo_dd_mul(ret, gamma); }

/* A of credit return, step, gae and step_gae */
GRPO_APART_ grpo_credited_ grpo_return_(const grpo_estimator_ *e, grpo_trajectory_ *s, int64_t t) {
    const grpo_advantage *a = &e->obj->advantage;
    const double gamma = a->step_discount == GRPO_STEP_DISCOUNT_TOKENS ? a->gamma : e->batch->step_end[t] ? a->step_gamma : 1;
    grpo_credited_ rho = grpo_token_reward_(e, s, t);
    if (grpo_has_critic_(a)) {
        const double v = (double)e->batch->value[t];
        if (s->last && s->repeats) s->v_next = v;
        rho.rest = grpo_dd_add_double_(grpo_dd_add(rho.rest, grpo_two_prod(a->gamma, s->v_next)), -v);
        s->v_next = v;
        s->ret.own = s->decay.hi == 0 ? grpo_dd_of_(0) : grpo_dd_product(s->ret.own, s->decay);
        s->ret.rest = grpo_dd_product(s->ret.rest, s->decay);
    }
    s->ret.own = grpo_dd_add(rho.own, grpo_discounted_(s->ret.own, gamma));
    s->ret.rest = grpo_dd_add(rho.rest, grpo_dd_mul(s->ret.rest, gamma));
    s->last = 0;
    return s->ret;
}

static grpo_credited_ grpo_credit_at_(const grpo_estimator_ *e, grpo_trajectory_ *s, int64_t t) {
    switch (e->obj->advantage.credit) {
    case GRPO_CREDIT_OUTCOME:       break;
    case GRPO_CREDIT_STEP_OWN: case GRPO_CREDIT_EPISODE_STEP: s->ret.own = grpo_step_credit_(e, s, t); break;
    case GRPO_CREDIT_ENTROPY_SHARE: s->ret.own = grpo_entropy_share_credit_(e, s->i, t); break;
    case GRPO_CREDIT_PREFIX_TREE:   s->ret.own = grpo_prefix_tree_credit_(e, s, t); break;
    default:                        return grpo_return_(e, s, t);
    }
    return s->ret;
}

/* credits response i: adds A before whitening to `moments`, or writes A to `advantage`, before shaping if a token baseline follows */
static void grpo_credit_response_(const grpo_estimator_ *e, int64_t i, grpo_moments *moments, grpo_real *advantage) {
    const grpo_batch *b = e->batch;
    const grpo_advantage *a = &e->obj->advantage;
    const int same = a->credit == GRPO_CREDIT_OUTCOME, shapes = grpo_has_shaping_(a) && a->token_baseline == GRPO_TOKEN_BASELINE_NONE;
    grpo_shaping_ shaping = grpo_shaping_of_(e, i);
    grpo_trajectory_ s = grpo_trajectory_of_(e, i);
    grpo_credited_ ret = s.ret;
    const double tokens = moments && a->batch_norm == GRPO_BATCH_NORM_MEAN_ABS ? grpo_tokens_of_mean_abs_(e, &s) : 0;
    int overflow = 0;
    if (tokens > 0) moments->values.count++;
    for (int64_t t = b->offset[i] + b->length[i] - 1; t >= b->offset[i]; t--) {
        if (!grpo_is_unmasked_(b, t)) { if (advantage) advantage[t] = 0; continue; }
        if (!same) ret = grpo_credit_at_(e, &s, t);
        const int cut = s.tail > 0 && s.seen++ < s.tail;
        if (moments) { if (!cut) grpo_moments_add_token_(e, ret, tokens, moments); continue; }
        double adv = cut ? 0 : grpo_credited_value_(ret);
        if (a->scale == GRPO_SCALE_TOKEN_WHITEN && !cut)
            adv = grpo_batch_normalised_(e, adv, grpo_deviation(e->batch_variance, a->eps, a->eps_place));
        if (a->batch_norm == GRPO_BATCH_NORM_TOKENS && !cut)
            adv = grpo_batch_normalised_(e, adv, sqrt(e->batch_variance + a->batch_norm_eps));
        if (a->batch_norm == GRPO_BATCH_NORM_MEAN_ABS) adv = grpo_over_mean_abs_(e, adv);
        grpo_put_(advantage, t, shapes ? grpo_shape_token_(e, &shaping, t, adv) : adv, &overflow);
    }
}

/* ---- rewards to advantages ---- */
static int grpo_needs_moments_(const grpo_advantage *a);               /* 1 if it has statistics of the batch */

static grpo_status grpo_estimator_start_(grpo_estimator_ *e, const grpo_objective *obj, const grpo_batch *batch) {
    const grpo_status st = grpo_check_(obj, batch, NULL, grpo_advantage_needs_, 0, 0);
    if (st) return st;
    memset(e, 0, sizeof *e);
    e->obj = obj; e->batch = batch; e->reweight = 1;
    e->columns = obj->advantage.rewards == GRPO_REWARDS_EACH ? (int)batch->n_rewards : 1;
    return grpo_check_rewards_(e);
}

static void grpo_take_moments_(grpo_estimator_ *e, const grpo_moments *m);
GRPO_NOINLINE_ void grpo_take_own_moments_(grpo_estimator_ *e);        /* the batch is the whole */

/* moments: NULL if the batch is the whole */
static grpo_status grpo_estimate_(const grpo_objective *obj, const grpo_batch *batch, const grpo_moments *moments, grpo_real *advantage) {
    grpo_estimator_ e;
    const grpo_status st = grpo_estimator_start_(&e, obj, batch);
    if (st) return st;
    if (grpo_needs_moments_(&obj->advantage)) {
        const int64_t responses = grpo_end_sequence_(batch) - grpo_first_sequence_(batch);
        if (moments && moments->sequences < responses) return GRPO_STATUS_(GRPO_TOO_SMALL, GRPO_AT_moments_);
        if (moments) grpo_take_moments_(&e, moments); else grpo_take_own_moments_(&e);
    }
    for (int64_t g = 0; g < batch->n_groups; g++) {
        grpo_take_group_(&e, g);
        for (int64_t i = e.begin; i < e.end; i++) grpo_credit_response_(&e, i, NULL, advantage);
        if (obj->advantage.token_baseline != GRPO_TOKEN_BASELINE_NONE) grpo_subtract_token_baseline_(&e, advantage);
    }
    return GRPO_OK;
}

grpo_status grpo_advantages(const grpo_objective *obj, const grpo_batch *batch, grpo_real *advantage) {
    if (!obj) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_objective_);
    return advantage ? grpo_estimate_(obj, batch, NULL, advantage) : GRPO_STATUS_(GRPO_NULL, GRPO_AT_advantage_);
}

grpo_status grpo_dynamic_sampling_mask(const grpo_batch *batch, uint8_t *keep) {
    grpo_status st = grpo_check_layout_(batch);
    if (st) return st;
    if (!keep) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_keep_);
    st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) {
        keep[g] = 0;
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++)
            if ((double)batch->reward[i] != (double)batch->reward[batch->group_begin[g]]) keep[g] = 1;
    }
    return GRPO_OK;
}

/* ---- axis 6: which tokens count ------------------------------------------------------------------------------------------------ */
typedef struct { int64_t begin, end; } grpo_span_;                     /* tokens begin .. end - 1 */

/* rejection and rollout_is weight of a segment */
typedef struct {
    grpo_span_ span;
    int rejected;
    grpo_rollout_is_weight rollout_is;
} grpo_segment_;

struct grpo_coupling_;

/* a response; constant after grpo_sequence_at_, or grpo_open_sequence_ for the second half */
typedef struct {
    int64_t index;                  /* in the batch */
    int64_t begin, end;             /* tokens */
    int64_t count;                  /* tokens that count */
    int64_t rejected_tokens;
    int truncated;                  /* 1 if weight.truncated masks the whole sequence */
    int rejected;                   /* 1 if a pooled statistic or the veto rejects the whole sequence */
    int evenly_weighted;            /* 1 if all unmasked tokens count, are not rejected and have v = rollout_is.value */
    grpo_rollout_is_weight rollout_is;      /* v, if its unit is the sequence */
    /* for the evaluation: */
    int stale;                      /* 1 if off_policy_mask drops tokens of it */
    double policy_is;               /* g, if its unit is the sequence */
    int64_t member;                 /* its number, from 0, among the group's sequences with tokens that count */
    const struct grpo_coupling_ *group;
    double divisor;                 /* a token's coefficient is factor/(this times the token's divisor times the batch's) */
    double coefficient;             /* factor/(divisor times the batch's) if that product is exact, else 0 */
    double own[2];                  /* coefficients of KL and entropy bonus over that of the terms; 0: the same */
} grpo_sequence_;

/* of a token; counts: 1 if in the mask (weight.truncated, selected only), before rejection; v: rollout_is weight, 0 if rejected */
typedef struct { int counts, rejected; double v; } grpo_mask_;

/* iterator over the tokens of a span that count, first to last: while (grpo_next_active_(o, b, s, &c)) ... c.t, c.v */
typedef struct {
    int64_t t, end;
    double v;                       /* v; weights per token only with rollout_is_norm */
    grpo_segment_ segment;          /* the last one computed */
} grpo_cursor_;

static grpo_cursor_ grpo_cursor_of_(int64_t begin, int64_t end) {
    grpo_cursor_ c;
    memset(&c, 0, sizeof c);
    c.t = begin - 1;
    c.end = end;
    c.v = 1;
    return c;
}

static int grpo_is_in_(grpo_span_ x, int64_t t) { return t >= x.begin && t < x.end; }

static grpo_dd grpo_rollout_log_ratio_(const grpo_objective *o, const grpo_batch *b, int64_t t, int *passes);      /* q */
static grpo_rollout_is_weight grpo_response_rollout_is_(const grpo_objective *o, const grpo_batch *b, grpo_span_ response);      /* v */
/* 1 if a pooled statistic or the veto rejects the whole response */
static int grpo_response_rejected_(const grpo_objective *o, const grpo_batch *b, grpo_span_ response);
/* 1 if all its unmasked tokens count and cheap bounds on their ratios show that none is rejected */
static int grpo_keeps_all_(const grpo_objective *o, const grpo_batch *b, const grpo_sequence_ *s);
/* of a token in the mask; weigh 0: only `rejected` is needed, not v; segment: of the token before, replaced if it is another */
GRPO_NOINLINE_ grpo_mask_ grpo_rollout_mask_(const grpo_objective *o, const grpo_batch *b, const grpo_sequence_ *s, int64_t t,
                                               int weigh, grpo_segment_ *segment);

GRPO_INLINE_ grpo_mask_ grpo_mask_at_(const grpo_objective *o, const grpo_batch *b, const grpo_sequence_ *s, int64_t t, int weigh,
                                      grpo_segment_ *segment) {
    grpo_mask_ k = { 0, 0, 1 };
    k.counts = !s->truncated && grpo_is_unmasked_(b, t);
    if (k.counts && !s->evenly_weighted) return grpo_rollout_mask_(o, b, s, t, weigh, segment);
    if (k.counts) k.v = s->rollout_is.value;
    return k;
}

static int grpo_is_active_(const grpo_objective *o, const grpo_mask_ *k) {
    return k->counts && !(k->rejected && o->weight.rollout_rejected == GRPO_ROLLOUT_REJECTED_UNMASK);
}

/* advances to the next token that counts; 0 if there is none.  For responses that are not evenly weighted: */
static int grpo_next_unevenly_(const grpo_objective *o, const grpo_batch *b, const grpo_sequence_ *s, grpo_cursor_ *c) {
    while (++c->t < c->end) {
        const grpo_mask_ k = grpo_mask_at_(o, b, s, c->t, o->weight.rollout_is_norm != GRPO_ROLLOUT_IS_NORM_NONE, &c->segment);
        c->v = k.v;
        if (grpo_is_active_(o, &k)) return 1;
    }
    return 0;
}

static inline int grpo_next_active_(const grpo_objective *o, const grpo_batch *b, const grpo_sequence_ *s, grpo_cursor_ *c) {
    if (s->truncated) return 0;
    if (!s->evenly_weighted) return grpo_next_unevenly_(o, b, s, c);
    c->v = s->rollout_is.value;
    while (++c->t < c->end) if (grpo_is_unmasked_(b, c->t)) return 1;
    return 0;
}

/* sequence i, before its tokens are read */
static grpo_sequence_ grpo_sequence_begin_(const grpo_objective *o, const grpo_batch *b, int64_t i) {
    grpo_sequence_ s;
    memset(&s, 0, sizeof s);
    s.index = i;
    s.begin = b->offset[i]; s.end = s.begin + b->length[i];
    s.truncated = o->weight.truncated == GRPO_WEIGHT_TRUNCATED_MASK && b->truncated[i];
    s.policy_is = s.divisor = 1;
    s.rollout_is.value = 1; s.rollout_is.inside = 1;
    s.evenly_weighted = !grpo_has_rollout_weights_(&o->weight) && o->weight.selected != GRPO_SELECTED_ONLY;
    return s;
}

/* counts its tokens; weight and rejection of the whole must be set */
static void grpo_sequence_count_(const grpo_objective *o, const grpo_batch *b, grpo_sequence_ *s) {
    grpo_segment_ segment;
    memset(&segment, 0, sizeof segment);
    if (s->truncated) return;
    if (grpo_keeps_all_(o, b, s)) {
        s->evenly_weighted |= !grpo_rollout_is_over_(&o->weight, GRPO_OVER_TOKEN) && !grpo_has_segments_(&o->weight);
        s->count = grpo_unmasked_(b, s->index);
        return;
    }
    for (int64_t t = s->begin; t < s->end; t++) {
        const grpo_mask_ k = grpo_mask_at_(o, b, s, t, 0, &segment);
        s->rejected_tokens += k.rejected;
        s->count += grpo_is_active_(o, &k);
    }
}

static grpo_sequence_ grpo_sequence_at_(const grpo_objective *o, const grpo_batch *b, int64_t i) {
    grpo_sequence_ s = grpo_sequence_begin_(o, b, i);
    if (!s.truncated && !s.evenly_weighted) {
        const grpo_span_ response = { s.begin, s.end };
        if (grpo_rollout_is_over_(&o->weight, GRPO_OVER_SEQUENCE)) s.rollout_is = grpo_response_rollout_is_(o, b, response);
        s.rejected = grpo_response_rejected_(o, b, response);
    }
    grpo_sequence_count_(o, b, &s);
    return s;
}

GRPO_COLD_ int64_t grpo_count_preference_pairs_(const grpo_objective *o, const grpo_batch *b, int64_t g);

static void grpo_count_tokens_(const grpo_objective *o, const grpo_batch *b, const grpo_real *advantage, const grpo_sequence_ *s,
                               grpo_totals *totals);                   /* positive_tokens, nll_tokens */

/* 1 if A > 0 at the first token that counts */
static int grpo_is_positive_(const grpo_objective *o, const grpo_batch *b, const grpo_real *advantage, const grpo_sequence_ *s);
/* for the mean of the rollout_is weights */
static void grpo_count_weights_(const grpo_objective *o, const grpo_batch *b, const grpo_sequence_ *s, grpo_totals *totals);
GRPO_COLD_ int grpo_rewards_vary_(const grpo_batch *b, int64_t g);         /* 1 if by more than 1e-6 */

/* grpo_totals_add after its checks */
static void grpo_count_all_(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, grpo_totals *totals) {
    for (int64_t g = 0; g < batch->n_groups; g++) {
        int64_t tokens = 0;
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            const grpo_sequence_ s = grpo_sequence_at_(obj, batch, i);
            tokens += s.count;
            totals->sequences++;
            totals->sequences_nonempty += s.count > 0;
            totals->positive_sequences += grpo_counts_sequences_by_sign_(obj) && grpo_is_positive_(obj, batch, advantage, &s);
            grpo_count_weights_(obj, batch, &s, totals);
            grpo_count_tokens_(obj, batch, advantage, &s, totals);
        }
        totals->tokens += tokens;
        if (grpo_counts_nonzero_std_(obj) && grpo_rewards_vary_(batch, g)) totals->nonzero_std_tokens += tokens;
        totals->groups++;
        totals->groups_nonempty += tokens > 0;
        if (obj->penalty.preference != GRPO_PREFERENCE_NONE) totals->preference_pairs += grpo_count_preference_pairs_(obj, batch, g);
    }
    grpo_sum_carry_(&totals->rollout_is_sum);
}

/* ---- evaluation ---------------------------------------------------------------------------------------------------------------- */
/* what the terms of a sequence depend on in other sequences of its group */
typedef struct grpo_coupling_ {
    grpo_group_counts_ count;          /* if the divisor of a sequence reads it */
    const double *value, *slope;       /* of a surrogate of a group, by member: F_i, dL/dy_i times divisor/factor; else NULL */
    const double *preference_slope;    /* of penalty.preference, by member: dL/dl/factor at each of its tokens; else NULL */
} grpo_coupling_;

/* one evaluation: what is the same for all sequences and tokens */
typedef struct {
    const grpo_objective *obj;
    const grpo_batch *batch;
    const grpo_real *advantage;
    grpo_output out;
    grpo_partial *partial;
    grpo_range range, trust;           /* of the surrogate, of the trust region */
    const grpo_real *behaviour;        /* log-probabilities in the ratio's denominator; NULL: 0 */
    int uses_ratio;                    /* 1 if the surrogate or the KL uses the ratio */
    int needs_ratio;                   /* ... or the trust region does */
    int reports_ratio;                 /* it is used, and has a denominator */
    int has_rollout_weights;           /* rollout_is, rollout_rs or rollout_veto are set */
    int has_token_factors;             /* tokens have factors besides v, or their own divisors, bounds or gates */
    int has_policy_mask;               /* trust, off_policy_mask, selected or policy_is multiply S */
    int has_own_divisors;              /* the KL or the entropy bonus has its own divisors */
    int is_plain_surrogate;            /* it reads ratio, advantage and logp, and its bounds are those of all tokens */
    grpo_scales scales;
    grpo_dd decay;                     /* of F from one token to the next */
    struct grpo_buffer_ *buffer;       /* the memory of report_buffer and block */
    struct grpo_report_buffer_ *report_buffer; /* values for the report's sums */
    struct grpo_block_ *block;         /* tokens to be evaluated together; NULL: one by one */
} grpo_run_;

/* of a token that counts: rollout_is weight v, factor of the surrogate, factor of the whole term */
typedef struct { double rollout_is, policy, term; } grpo_factors_;

/* the current token */
typedef struct {
    int64_t t;
    int counts;
    grpo_factors_ factor;
    int off_policy;                    /* 1 if off_policy_mask drops it */
    double divisor;                    /* its own: tokens of its segment, or with its sign of A; else 1 */
    int gated;                         /* 1 if nll_gate excludes it */
    grpo_log_range range;              /* with bounds position */
} grpo_token_;

/* evaluates one sequence: grpo.h has the function for token ratios, gspo.h that for all others */
typedef void (*grpo_evaluate_)(const grpo_run_ *run, const grpo_sequence_ *s);

/* how to evaluate; couple is called before the sequences of group g and fills *group; NULL: nothing is coupled */
typedef struct {
    grpo_evaluate_ evaluate;
    void (*couple)(const grpo_run_ *run, int64_t g, grpo_coupling_ *group);
    int64_t scratch;                   /* elements of out.scratch that couple needs */
} grpo_method_;

/* log-probability in the ratio's denominator */
static double grpo_behaviour_(const grpo_run_ *r, int64_t t) { return r->behaviour ? (double)r->behaviour[t] : 0; }

/* d_t of axis 3 */
GRPO_INLINE_ grpo_dd grpo_log_ratio_(const grpo_run_ *r, int64_t t, int *passes) {
    const grpo_ratio_axis *a = &r->obj->ratio;
    return grpo_clamp(grpo_two_diff((double)r->batch->logp[t], grpo_behaviour_(r, t)), a->clamp_low, a->clamp_high, passes);
}

GRPO_INLINE_ grpo_term grpo_scaled_(grpo_term t, double v) {
    t.value = grpo_times(v, t.value);
    t.d_log_ratio = grpo_times(v, t.d_log_ratio);
    t.d_logp = grpo_times(v, t.d_logp);
    return t;
}

/* 1 if trust or off_policy_mask drop the token */
GRPO_NOINLINE_ int grpo_is_dropped_(const grpo_run_ *r, const grpo_token_ *k, grpo_ratio ratio);

/* M v g S, given S = x; pool: the side on which a clipped-mean level has clipped the token's d */
GRPO_INLINE_ grpo_term grpo_weighted_term_(const grpo_run_ *r, const grpo_token_ *k, grpo_ratio ratio, grpo_clip_side pool, grpo_term x) {
    const double adv = (double)r->advantage[k->t];
    if (k->factor.policy == 1 && !r->has_policy_mask && pool == GRPO_CLIP_NO) return x;
    const int dropped = grpo_is_dropped_(r, k, ratio);
    x = grpo_scaled_(x, dropped ? 0 : k->factor.policy);
    if (pool != GRPO_CLIP_NO) x.clip = pool;
    if (dropped && adv != 0) x.clip = adv > 0 ? GRPO_CLIP_HIGH : GRPO_CLIP_LOW;
    return x;
}

/* for surrogates that are not plain (is_plain_surrogate): sets *term to S and returns 1, or sets the token's own *range and returns 0 */
GRPO_NOINLINE_ int grpo_further_surrogate_(const grpo_run_ *r, const grpo_token_ *k, grpo_ratio ratio, double adv, grpo_term *term,
                                           grpo_range *range);
/* S of axis 4 */
GRPO_INLINE_ grpo_term grpo_token_surrogate_(const grpo_run_ *r, const grpo_token_ *k, grpo_ratio ratio) {
    const double adv = (double)r->advantage[k->t];
    const grpo_range *range = &r->range;
    grpo_range own;
    grpo_term term;
    if (!r->is_plain_surrogate && adv != 0) {
        if (grpo_further_surrogate_(r, k, ratio, adv, &term, &own)) return term;
        range = &own;
    }
    return grpo_surrogate_term(&r->obj->surrogate, *range, ratio, adv, (double)r->batch->logp[k->t]);
}

GRPO_INLINE_ grpo_term grpo_policy_term_(const grpo_run_ *r, const grpo_token_ *k, grpo_ratio ratio, grpo_clip_side pool) {
    const grpo_term zero = { 0, 0, 0, GRPO_CLIP_NO };
    if (r->obj->surrogate.kind == GRPO_SURROGATE_NONE) return zero;    /* there may be no advantages */
    return grpo_weighted_term_(r, k, ratio, pool, grpo_token_surrogate_(r, k, ratio));
}

/* coefficient of the KL (part 0) or the entropy bonus (1) over that of the terms; a KL above DBL_MAX over this overflows */
static inline double grpo_own_factor_(const grpo_sequence_ *s, double divisor, int part) {
    return s->own[part] == 0 ? 1 : s->own[part] * divisor;
}

/* 1 if the token has a KL penalty */
static inline int grpo_has_kl_at_(const grpo_run_ *r, int64_t t) {
    const grpo_penalty *p = &r->obj->penalty;
    return p->kl != GRPO_KL_NONE && (p->kl_on == GRPO_KL_ON_ALL || r->batch->kl_mask[t]);
}

/* the penalty P; kl, entropy: factors of its two parts */
GRPO_NOINLINE_ grpo_term grpo_weighted_penalty_(const grpo_run_ *r, const grpo_token_ *k, grpo_ratio ratio, double kl, double entropy) {
    const grpo_penalty *p = &r->obj->penalty;
    const int64_t t = k->t;
    double l = (double)r->batch->logp[t], own = 1;
    grpo_term x = { 0, 0, 0, GRPO_CLIP_NO };
    if (grpo_has_kl_at_(r, t) && p->kl == GRPO_KL_EXTERNAL) x.value = grpo_times(kl * p->kl_coef, (double)r->batch->divergence_ref[t]);
    else if (grpo_has_kl_at_(r, t)) {
        if (p->kl_importance_weight == GRPO_KL_IMPORTANCE_WEIGHT_TOKEN) own = grpo_ratio_of(l, grpo_behaviour_(r, t)).value;
        x = grpo_kl_penalty(p, l, (double)grpo_logp_of_(r->batch, grpo_kl_policy_(p))[t], own, ratio.value);
        if (kl != 1) x = grpo_scaled_(x, kl);
    }
    if (p->entropy_coef != 0) x.value = grpo_plus(x.value, -p->entropy_coef * entropy * (double)r->batch->entropy[t]);
    return k->factor.term == 1 ? x : grpo_scaled_(x, k->factor.term);
}

/* P, scaled so that it is aggregated like the surrogate */
GRPO_INLINE_ grpo_term grpo_penalty_term_(const grpo_run_ *r, const grpo_sequence_ *s, const grpo_token_ *k, grpo_ratio ratio) {
    const grpo_penalty *p = &r->obj->penalty;
    grpo_term x = { 0, 0, 0, GRPO_CLIP_NO };
    if (p->kl != GRPO_KL_NONE || p->entropy_coef != 0) {
        const grpo_term y = grpo_weighted_penalty_(r, k, ratio, grpo_own_factor_(s, k->divisor, 0), grpo_own_factor_(s, k->divisor, 1));
        x.value = y.value; x.d_log_ratio = y.d_log_ratio; x.d_logp = y.d_logp;      /* one by one, so that x need not lie in memory */
    }
    return x;
}

GRPO_INLINE_ void grpo_write_(const grpo_run_ *r, grpo_real *out, int64_t t, double x) {
    if (out) grpo_put_(out, t, x, &r->partial->overflow);
}

static inline double grpo_aggregated_(const grpo_run_ *r, const grpo_sequence_ *s, double x) {
    return s->coefficient != 0 ? x * s->coefficient : x * r->scales.factor / s->divisor / r->scales.divisor;
}

/* factor/(divisor scales->divisor), rounded once; 0 if the product is not exact.  As a rule all three are whole numbers */
static double grpo_coefficient_(const grpo_scales *scales, double divisor) {
    const double product = divisor * scales->divisor, c = scales->factor / product;
    return grpo_product_rounding_(divisor, scales->divisor, product) == 0 && c > 1e-100 && c < 1e100 ? c : 0;
}

/* x over the token's own divisor */
static inline double grpo_over_own_(const grpo_token_ *k, double x) { return k->divisor == 1 ? x : x / k->divisor; }

static inline int grpo_has_nll_(const grpo_run_ *r, const grpo_sequence_ *s, const grpo_token_ *k);
static grpo_term grpo_nll_term_(const grpo_run_ *r, int64_t t);
/* of NLL and preference, over factor */
static double grpo_auxiliary_gradient_(const grpo_run_ *r, const grpo_sequence_ *s, const grpo_token_ *k);

/* derivatives of the token's term, over its divisor, with respect to logp and to the log-ratio; every caller gets the same bits */
static inline double grpo_slope_by_logp_(const grpo_token_ *k, const grpo_term *policy, const grpo_term *penalty) {
    return grpo_over_own_(k, grpo_plus(policy->d_logp, penalty->d_logp));
}

static inline double grpo_slope_by_ratio_(const grpo_token_ *k, const grpo_term *policy, const grpo_term *penalty) {
    return grpo_plus(grpo_over_own_(k, policy->d_log_ratio), grpo_over_own_(k, penalty->d_log_ratio));
}

/* g: gradient of the terms over the token's divisor; coupled: from the group, over the sequence's divisor as well */
GRPO_INLINE_ void grpo_write_gradient_(const grpo_run_ *r, const grpo_sequence_ *s, const grpo_token_ *k, double g, double coupled) {
    if (coupled == 0 && !s->group->preference_slope && r->scales.nll == 0) {
        grpo_write_(r, r->out.dlogp, k->t, grpo_aggregated_(r, s, g));
        return;
    }
    const double sum = grpo_plus(g / s->divisor, coupled) / r->scales.divisor;
    grpo_write_(r, r->out.dlogp, k->t, r->scales.factor * grpo_plus(sum, grpo_auxiliary_gradient_(r, s, k)));
}

/* Buffer of values that the report sums over tokens; added to the sums when it is full.  0 where there is nothing to add. */
typedef struct grpo_report_buffer_ {
    double policy[GRPO_BLOCK_], penalty[GRPO_BLOCK_], ratio[GRPO_BLOCK_], entropy[GRPO_BLOCK_], weight[GRPO_BLOCK_];
    double old[2][GRPO_BLOCK_], ref[2][GRPO_BLOCK_];                   /* hi and lo of l - logp_old and of l - logp_ref */
    int n;
} grpo_report_buffer_;

static void grpo_report_flush_(const grpo_run_ *r);                    /* adds the buffer to the sums */

/* 2^500: for the sum of squares larger ratios count as this; what they exceed it by has a sum of its own, for the mean */
#define GRPO_RATIO_CAP_ 3.2733906078961419e150
static inline void grpo_report_excess_(grpo_partial *p, double ratio) {
    if (!(ratio > GRPO_RATIO_CAP_)) return;
    grpo_sum_add_(&p->sum[GRPO_SUM_RATIO_EXCESS], ratio);
    grpo_sum_add_(&p->sum[GRPO_SUM_RATIO_EXCESS], -GRPO_RATIO_CAP_);
}

/* 2^-480: the squares of smaller ratios may underflow.  Where all ratios are smaller, report.ess is of the ratios times 2^537.  The sum of
 * the excess is free then: it holds the squares of these, below 2^115 each.  Beside an excess, a multiple of 2^448, they change no mean */
#define GRPO_RATIO_TINY_ 3.2033329522929615e-145
#define GRPO_RATIO_UNIT_ 4.4989137945431964e161
static inline double grpo_capped_ratio_(double ratio) { return ratio < GRPO_RATIO_CAP_ ? ratio : GRPO_RATIO_CAP_; }

/* takes in the smallest and largest ratio of tokens; call it before these enter p->tokens */
GRPO_INLINE_ void grpo_report_extremes_(grpo_partial *p, double least, double most) {
    if (p->tokens == 0 || least < p->ratio_min) p->ratio_min = least;
    if (p->tokens == 0 || most > p->ratio_max) p->ratio_max = most;
}

GRPO_INLINE_ void grpo_report_ratio_(const grpo_run_ *r, double ratio) {
    if (!r->reports_ratio) { grpo_report_extremes_(r->partial, 1, 1); return; }
    grpo_report_extremes_(r->partial, ratio, ratio);
    r->partial->ratio_tokens++;
    r->report_buffer->ratio[r->report_buffer->n] = grpo_capped_ratio_(ratio);
    grpo_report_excess_(r->partial, ratio);
}

/* stores l - x of the token as difference[0] + difference[1]; if it is infinite, returns 0 and stores nothing */
GRPO_INLINE_ int grpo_buffer_log_ratio_(double (*difference)[GRPO_BLOCK_], int n, double l, double x) {
    const grpo_dd d = grpo_two_diff(l, x);
    if (!grpo_is_finite(l - x)) return 0;
    difference[0][n] = d.hi; difference[1][n] = d.lo;
    return 1;
}

GRPO_COLD_ void grpo_report_old_(grpo_partial *p, double l, double old);   /* infinite ones: added to the sums at once */
GRPO_COLD_ void grpo_report_ref_(grpo_partial *p, double l, double ref);

/* everything the report takes from one token */
GRPO_INLINE_ void grpo_report_token_(const grpo_run_ *r, const grpo_sequence_ *s, const grpo_token_ *k, grpo_ratio ratio,
                                     const grpo_term *policy, const grpo_term *penalty) {
    const grpo_batch *b = r->batch;
    grpo_partial *p = r->partial;
    grpo_report_buffer_ *to = r->report_buffer;
    const int n = to->n;
    const double l = (double)b->logp[k->t];
    if (n == 0) memset(to, 0, sizeof *to);
    grpo_report_ratio_(r, ratio.value);
    p->tokens++;
    p->clips[policy->clip]++;
    to->policy[n] = grpo_over_own_(k, s->divisor == 1 ? policy->value : policy->value / s->divisor);
    if (penalty->value != 0) to->penalty[n] = grpo_over_own_(k, penalty->value / s->divisor);
    if (b->logp_old && !grpo_buffer_log_ratio_(to->old, n, l, (double)b->logp_old[k->t])) grpo_report_old_(p, l, (double)b->logp_old[k->t]);
    if (b->logp_ref && !grpo_buffer_log_ratio_(to->ref, n, l, (double)b->logp_ref[k->t])) grpo_report_ref_(p, l, (double)b->logp_ref[k->t]);
    if (b->entropy) to->entropy[n] = (double)b->entropy[k->t];
    if (r->has_rollout_weights) { p->weight_tokens++; to->weight[n] = k->factor.rollout_is; }
    if (++to->n == GRPO_BLOCK_) grpo_report_flush_(r);
}

/* *whole: P as in out.term, without the factors of own divisors; *coef: entropy_coef times its factor */
GRPO_COLD_ void grpo_unweighted_penalty_(const grpo_run_ *r, const grpo_sequence_ *s, const grpo_token_ *k, grpo_ratio ratio,
                                         double *coef, double *whole);
/* gradient with respect to batch.divergence_ref */
static void grpo_write_divergence_gradient_(const grpo_run_ *r, const grpo_sequence_ *s, const grpo_token_ *k);

/* all outputs and report of a token but out.dlogp, which may need the other tokens */
GRPO_NOINLINE_ void grpo_take_token_(const grpo_run_ *r, const grpo_sequence_ *s, const grpo_token_ *k, grpo_ratio ratio,
                                     const grpo_term *policy, const grpo_term *penalty) {
    double coef = r->obj->penalty.entropy_coef, whole = penalty->value;
    if (r->has_own_divisors) grpo_unweighted_penalty_(r, s, k, ratio, &coef, &whole);
    grpo_write_(r, r->out.term, k->t, grpo_plus(policy->value, whole));
    grpo_write_(r, r->out.dentropy, k->t, coef != 0 ? grpo_aggregated_(r, s, grpo_over_own_(k, grpo_times(-coef, k->factor.term))) : 0);
    if (r->out.ddivergence_ref) grpo_write_divergence_gradient_(r, s, k);
    grpo_report_token_(r, s, k, ratio, policy, penalty);
    if (grpo_has_nll_(r, s, k)) grpo_sum_add_(&r->partial->sum[GRPO_SUM_NLL], grpo_nll_term_(r, k->t).value);
}

static void grpo_skip_token_(const grpo_run_ *r, int64_t t) {
    r->partial->masked_tokens++;
    grpo_write_(r, r->out.term, t, 0);
    grpo_write_(r, r->out.dlogp, t, 0);
    grpo_write_(r, r->out.dentropy, t, 0);
    grpo_write_(r, r->out.ddivergence_ref, t, 0);
}

/* advances to the next token of s that counts; 0 if there is none */
static inline int grpo_next_(const grpo_run_ *r, const grpo_sequence_ *s, grpo_cursor_ *c) {
    return grpo_next_active_(r->obj, r->batch, s, c);
}

/* State of the evaluation of a response, from its last token to its first, as FIPO's weight reads later tokens.  An infinite d is K as in
 * "-inf log-probabilities" at grpo_batch; such d are summed apart from F, in units of K. */
typedef struct {
    grpo_token_ token;                 /* the current one */
    int64_t counted;                   /* tokens that count so far, it included */
    grpo_dd future;                    /* F, finite part */
    double infinite;                   /* F, infinite part, in units of K */
    grpo_segment_ segment;             /* the last one computed */
    grpo_span_ divisor_span, gate_span; /* segment of the token's divisor; tokens that share its NLL gate */
} grpo_walk_;

static grpo_walk_ grpo_walk_from_(int64_t end) {
    grpo_walk_ k;
    memset(&k, 0, sizeof k);
    k.token.t = end;
    k.token.divisor = k.token.factor.term = 1;
    return k;
}

/* sets factors, divisor, gate and bounds of the current token; v: its rollout_is weight */
static void grpo_set_factors_(const grpo_run_ *r, const grpo_sequence_ *s, grpo_walk_ *k, double v);
/* applies M and g to factor.policy, except trust, which needs the ratio */
static inline void grpo_set_policy_mask_(const grpo_run_ *r, const grpo_sequence_ *s, grpo_token_ *k);

/* moves to the token before; 0 at the beginning of the span */
GRPO_INLINE_ int grpo_step_back_(const grpo_run_ *r, const grpo_sequence_ *s, int64_t begin, grpo_walk_ *k) {
    grpo_token_ *x = &k->token;
    if (x->t == begin) return 0;
    x->t--;
    grpo_mask_ mask = grpo_mask_at_(r->obj, r->batch, s, x->t, 1, &k->segment);
    x->counts = grpo_is_active_(r->obj, &mask);
    k->counted += x->counts;
    x->factor.rollout_is = x->factor.policy = mask.v;
    if (r->has_token_factors) grpo_set_factors_(r, s, k, mask.v);
    if (r->has_policy_mask && x->counts) grpo_set_policy_mask_(r, s, x);
    return 1;
}

static int grpo_is_stale_(const grpo_run_ *r, const grpo_sequence_ *s);      /* 1 if off_policy_mask drops tokens of it */
static double grpo_sequence_policy_is_(const grpo_run_ *r, const grpo_sequence_ *s);      /* g, if its unit is the sequence */
/* buffers the tokens of a span for grpo_blocks.h and returns 1; 0 if this objective is evaluated token by token */
static int grpo_block_take_(const grpo_run_ *r, const grpo_sequence_ *s, grpo_span_ span, double ratio, const grpo_term *term);
static void grpo_use_report_buffer_(const grpo_run_ *r);               /* evaluates buffered tokens, before others that come one by one */
static void grpo_run_groups_buffered_(grpo_run_ *r, const grpo_method_ *how);

static void grpo_evaluate_tokens_(const grpo_run_ *r, const grpo_sequence_ *s) {
    const grpo_ratio_axis *a = &r->obj->ratio;
    const grpo_span_ whole = { s->begin, s->end };
    grpo_walk_ walk = grpo_walk_from_(s->end);
    const grpo_token_ *k = &walk.token;
    if (grpo_block_take_(r, s, whole, 1, NULL)) return;
    grpo_use_report_buffer_(r);
    while (grpo_step_back_(r, s, s->begin, &walk)) {
        grpo_ratio ratio = { 0, 0, 1 };
        int passes = 1, level_passes = 1;
        if (!k->counts) { grpo_skip_token_(r, k->t); continue; }
        if (r->needs_ratio)
            ratio = grpo_ratio_exp(grpo_clamp(grpo_log_ratio_(r, k->t, &passes), a->level_clamp_low, a->level_clamp_high, &level_passes));
        grpo_term policy = grpo_policy_term_(r, k, ratio, GRPO_CLIP_NO);
        grpo_term penalty = grpo_penalty_term_(r, s, k, ratio);
        if (!passes || !level_passes) policy.d_log_ratio = penalty.d_log_ratio = 0;
        const double g = grpo_plus(grpo_slope_by_logp_(k, &policy, &penalty), grpo_slope_by_ratio_(k, &policy, &penalty));
        grpo_write_gradient_(r, s, k, g, 0);
        grpo_take_token_(r, s, k, ratio, &policy, &penalty);
    }
}

static int64_t grpo_count_segments_(const grpo_run_ *r, const grpo_sequence_ *s);      /* number of segments with tokens that count */
static void grpo_take_norm_(const grpo_objective *o, const grpo_totals *n, grpo_scales *s);  /* the mean that rollout_is_norm divides by */

/* 1 if the KL (k 0) or the entropy bonus (1) has its own aggregation */
static int grpo_has_own_divisors_(const grpo_objective *o, int k) {
    const grpo_penalty *p = &o->penalty;
    if (k) return p->entropy_coef != 0 && p->entropy_aggregation != GRPO_PENALTY_AGGREGATION_TERMS;
    return p->kl != GRPO_KL_NONE && p->kl_coef != 0 && p->kl_aggregation != GRPO_PENALTY_AGGREGATION_TERMS;
}

/* that aggregation */
GRPO_APART_ grpo_aggregation grpo_own_aggregation_(const grpo_objective *o, int k) {
#define GRPO_AGGREGATION_OF_(id, name, kind, text) GRPO_AGGREGATION_##kind,
    static const grpo_aggregation_kind kinds[] = { GRPO_PENALTY_AGGREGATION_CHOICES(GRPO_AGGREGATION_OF_) };
    grpo_aggregation a = o->aggregation;
    a.kind = kinds[k ? o->penalty.entropy_aggregation : o->penalty.kl_aggregation];
    return a;
}

/* divisors and factors of the batch, from its counts */
GRPO_COLD_ grpo_scales grpo_scales_of_(const grpo_objective *o, const grpo_totals *n) {
    const grpo_penalty *p = &o->penalty;
    grpo_scales s = { 1, 1, { 1, 1 }, 0, 0, { 0, 0 }, 0, { 0, 0 }, 0 };
    s.divisor = grpo_divisor_(&o->aggregation, n);
    for (int k = 0; k < 2; k++) {
        const grpo_aggregation own = grpo_own_aggregation_(o, k);
        if (grpo_has_own_divisors_(o, k)) s.own[k] = grpo_divisor_(&own, n);
    }
    if (n->ranks) s.factor = (double)n->ranks;
    if (grpo_counts_by_sign_(o) || grpo_counts_sequences_by_sign_(o)) {
        const int64_t all = grpo_counts_by_sign_(o) ? n->tokens : n->sequences_nonempty;
        const int64_t positive = grpo_counts_by_sign_(o) ? n->positive_tokens : n->positive_sequences;
        s.by_sign[0] = grpo_at_least_one_(all - positive);
        s.by_sign[1] = grpo_at_least_one_(positive);
    }
    if (p->nll_on != GRPO_NLL_NONE && n->nll_tokens) s.nll = p->nll_coef / (double)n->nll_tokens;
    s.pointwise = p->preference == GRPO_PREFERENCE_PAIRWISE_ELSE_POINTWISE && n->preference_pairs == 0;
    if (p->preference != GRPO_PREFERENCE_NONE && n->preference_pairs) s.preference = p->preference_coef / (double)n->preference_pairs;
    if (s.pointwise && n->sequences_nonempty) s.preference = p->preference_coef / (double)n->sequences_nonempty;
    grpo_take_norm_(o, n, &s);
    return s;
}

static grpo_group_counts_ grpo_count_group_(const grpo_objective *o, const grpo_batch *b, int64_t g) {
    grpo_group_counts_ n = { 0, 0, 0 };
    const grpo_aggregation_kind kind = o->aggregation.kind;
    if (kind != GRPO_AGGREGATION_GROUP_MEAN_TOKEN_MEAN && kind != GRPO_AGGREGATION_GROUP_MEAN_SEQ_MEAN) return n;
    for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        const int64_t tokens = grpo_sequence_at_(o, b, i).count;
        n.tokens += tokens;
        n.nonempty += tokens > 0;
        n.sequences++;
    }
    return n;
}

/* sets the divisors of its terms, from its count and its group's */
static void grpo_set_divisors_(const grpo_run_ *r, grpo_sequence_ *s) {
    const grpo_aggregation *a = &r->obj->aggregation;
    s->divisor = grpo_sequence_divisor_(a, s->count, a->kind == GRPO_AGGREGATION_SEQ_MEAN_SEGMENT_MEAN ? grpo_count_segments_(r, s) : 0,
        &s->group->count);
    if (grpo_counts_sequences_by_sign_(r->obj)) s->divisor *= r->scales.by_sign[grpo_is_positive_(r->obj, r->batch, r->advantage, s)];
    s->coefficient = grpo_coefficient_(&r->scales, s->divisor);
    for (int k = 0; r->has_own_divisors && k < 2; k++) {
        const grpo_aggregation own = grpo_own_aggregation_(r->obj, k);
        const double divisor = grpo_sequence_divisor_(&own, s->count, 0, &s->group->count) * r->scales.own[k];
        s->own[k] = divisor == 0 ? 0 : s->divisor * r->scales.divisor / divisor;
    }
}

/* sequence i for evaluation; member: number of sequences of the group before it with tokens that count */
static grpo_sequence_ grpo_open_sequence_(const grpo_run_ *r, const grpo_coupling_ *group, int64_t i, int64_t member) {
    grpo_sequence_ s = grpo_sequence_at_(r->obj, r->batch, i);
    s.group = group;
    s.member = member;
    s.stale = grpo_is_stale_(r, &s);
    s.policy_is = grpo_sequence_policy_is_(r, &s);
    grpo_set_divisors_(r, &s);
    return s;
}

/* 1 if A is not 0 at a token that counts */
static int grpo_has_advantage_(const grpo_run_ *r, const grpo_sequence_ *s) {
    grpo_cursor_ c = grpo_cursor_of_(s->begin, s->end);
    while (r->advantage && grpo_next_(r, s, &c)) if (r->advantage[c.t] != 0) return 1;
    return 0;
}

static void grpo_run_group_(const grpo_run_ *r, int64_t g, const grpo_method_ *how) {
    const grpo_batch *b = r->batch;
    grpo_coupling_ group;
    int64_t i, members = 0;
    int any = 0;
    memset(&group, 0, sizeof group);
    group.count = grpo_count_group_(r->obj, b, g);
    grpo_write_(r, r->out.dlog_partition, g, 0);
    if (how->couple) how->couple(r, g, &group);
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        const grpo_sequence_ s = grpo_open_sequence_(r, &group, i, members);
        members += s.count > 0;
        r->partial->sequences += s.count > 0;
        r->partial->rejected_tokens += s.rejected_tokens;
        if (!any) any = grpo_has_advantage_(r, &s);
        how->evaluate(r, &s);
    }
    r->partial->groups += members > 0;
    r->partial->degenerate_groups += members > 0 && !any;
}

static void grpo_run_groups_(const grpo_run_ *r, const grpo_method_ *how) {
    for (int64_t g = 0; g < r->batch->n_groups; g++) grpo_run_group_(r, g, how);
}

static int grpo_has_token_factors_(const grpo_objective *o) {
    const grpo_weight *w = &o->weight;
    return w->rollout_is_norm != GRPO_ROLLOUT_IS_NORM_NONE || w->fipo != GRPO_FIPO_NONE || w->external != GRPO_EXTERNAL_NONE
        || o->penalty.nll_gate != GRPO_NLL_GATE_NONE || o->surrogate.bounds == GRPO_BOUNDS_POSITION
        || o->aggregation.kind == GRPO_AGGREGATION_SEQ_MEAN_SEGMENT_MEAN || grpo_counts_by_sign_(o);
}

static int grpo_has_policy_mask_(const grpo_weight *w) {
    return w->trust != GRPO_TRUST_NONE || w->off_policy_mask != GRPO_OFF_POLICY_MASK_NONE || w->selected != GRPO_SELECTED_ALL
        || w->policy_is != GRPO_POLICY_IS_NONE;
}

GRPO_COLD_ grpo_status grpo_check_scratch_(const grpo_output *out, const grpo_method_ *how);
/* sets *scales; refuses totals that do not cover this batch, and a partial begun with others */
GRPO_NOINLINE_ grpo_status grpo_take_scales_(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                                             const grpo_totals *totals, const grpo_partial *partial, grpo_scales *scales);

/* a run, of checked arguments; its scales are set later */
static grpo_run_ grpo_run_of_(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_output *out,
                              grpo_partial *partial) {
    grpo_run_ r;
    memset(&r, 0, sizeof r);
    r.obj = obj; r.batch = batch; r.advantage = advantage; r.partial = partial;
    if (out) r.out = *out;
    r.range = grpo_clip_range(obj->surrogate.eps_low, obj->surrogate.eps_high);
    r.trust = grpo_clip_range(obj->weight.trust_low, obj->weight.trust_high);
    r.behaviour = grpo_logp_of_(batch, grpo_behaviour_policy_(&obj->ratio));
    r.uses_ratio = grpo_uses_ratio_(obj);
    r.needs_ratio = grpo_needs_ratio_(obj);
    r.reports_ratio = r.uses_ratio && obj->ratio.behaviour != GRPO_BEHAVIOUR_NONE;
    r.has_rollout_weights = grpo_has_rollout_weights_(&obj->weight);
    r.has_token_factors = grpo_has_token_factors_(obj);
    r.has_policy_mask = obj->surrogate.kind != GRPO_SURROGATE_NONE && grpo_has_policy_mask_(&obj->weight);
    r.is_plain_surrogate = (obj->surrogate.bounds == GRPO_BOUNDS_FIXED || !grpo_reads_bounds_(&obj->surrogate))
        && obj->surrogate.kind != GRPO_SURROGATE_POLICY_SHAPING && obj->surrogate.kind != GRPO_SURROGATE_QUADRATIC_PROBABILITY;
    if (obj->weight.fipo != GRPO_FIPO_NONE) r.decay = grpo_fipo_decay(obj->weight.fipo_half_life);
    return r;
}

static void grpo_set_scales_(grpo_run_ *r, grpo_scales scales) {
    r->scales = r->partial->scales = scales;
    r->has_own_divisors = scales.own[0] != 0 || scales.own[1] != 0;
}

/* everything that a loss refuses, but for the arrays `except`; sets *scales.  partial: may be NULL */
static grpo_status grpo_check_loss_(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                                    const grpo_totals *totals, const grpo_output *out, const grpo_partial *partial,
                                    const grpo_method_ *how, int except, grpo_scales *scales) {
    grpo_status st = grpo_check_(obj, batch, advantage, grpo_loss_needs_, GRPO_LOSS_READS_, except);
    if (!st) st = grpo_check_scratch_(out, how);
    return st ? st : grpo_take_scales_(obj, batch, advantage, totals, partial, scales);
}

static grpo_status grpo_run_batch_(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                                   const grpo_totals *totals, const grpo_output *out, grpo_partial *partial, const grpo_method_ *how) {
    grpo_scales scales;
    if (!obj) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_objective_);
    if (!partial) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_partial_);
    const grpo_status st = grpo_check_loss_(obj, batch, advantage, totals, out, partial, how, 0, &scales);
    if (st) return st;
    grpo_run_ r = grpo_run_of_(obj, batch, advantage, out, partial);
    grpo_set_scales_(&r, scales);
    grpo_run_groups_buffered_(&r, how);
    return GRPO_OK;
}

/* grpo_loss and gspo_loss: _loss_add to an empty partial, and its report */
static grpo_status grpo_run_once_(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals,
                                  const grpo_output *out, grpo_report *report, const grpo_method_ *how) {
    grpo_partial partial;
    memset(&partial, 0, sizeof partial);
    if (!obj) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_objective_);
    if (!report) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_report_);
    const grpo_status st = grpo_run_batch_(obj, batch, advantage, totals, out, &partial, how);
    if (!st) grpo_partial_report(&partial, report);
    return st;
}

/* refuses what only gspo.h has: a unit of more than a token, or pairs; invalid enum values are left to the checks */
static grpo_status grpo_refuse_gspo_(const grpo_objective *obj) {
    const int level = obj ? (int)obj->ratio.level : 0, preference = obj ? (int)obj->penalty.preference : 0;
    if (level > GRPO_LEVEL_TOKEN && level <= GRPO_LEVEL_SEQUENCE_POWER_MEAN)
        return GRPO_STATUS_(GRPO_NEEDS_GSPO, grpo_at_field_(GRPO_FIELD_(ratio.level)));
    if (preference <= GRPO_PREFERENCE_NONE || preference > GRPO_PREFERENCE_PAIRWISE_ELSE_POINTWISE) return GRPO_OK;
    return GRPO_STATUS_(GRPO_NEEDS_GSPO, grpo_at_field_(GRPO_FIELD_(penalty.preference)));
}

static const grpo_method_ grpo_by_tokens_ = { grpo_evaluate_tokens_, NULL, 0 };

grpo_status grpo_loss_add(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                          const grpo_totals *totals, const grpo_output *out, grpo_partial *partial) {
    const grpo_status st = grpo_refuse_gspo_(obj);
    return st ? st : grpo_run_batch_(obj, batch, advantage, totals, out, partial, &grpo_by_tokens_);
}

grpo_status grpo_loss(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                      const grpo_totals *totals, const grpo_output *out, grpo_report *report) {
    const grpo_status st = grpo_refuse_gspo_(obj);
    return st ? st : grpo_run_once_(obj, batch, advantage, totals, out, report, &grpo_by_tokens_);
}
GRPO_C_END_
#endif /* GRPO_IMPLEMENTATION, what every row uses */

/* =================================================================================================================================
 * You can stop reading here.  Below: numerical functions, further choices of each axis, exact sums, work in parts, fields, texts
 * ============================================================================================================================== */
#ifndef GRPO_FURTHER_
#define GRPO_FURTHER_

GRPO_C_BEGIN_
/* ---- exp, log and functions made of them --------------------------------------------------------------------------------------------- */
/* (y^2/2)(1 + y/3 + y^2/12 + ... + 2 y^15/17!), by Estrin's scheme: short dependency chains, no branch; loops over it vectorise */
GRPO_FORCE_INLINE_FN_ double grpo_exp_series_(double y) {
    const double z = y * y, z2 = z * z;
    const double a = (1 + y * (2.0 / 6)) + z * (2.0 / 24 + y * (2.0 / 120));
    const double b = (2.0 / 720 + y * (2.0 / 5040)) + z * (2.0 / 40320 + y * (2.0 / 362880));
    const double c = (2.0 / 3628800 + y * (2.0 / 39916800)) + z * (2.0 / 479001600 + y * (2.0 / 6227020800));
    const double d = (2.0 / 87178291200 + y * (2.0 / 1307674368000)) + z * (2.0 / 20922789888000 + y * (2.0 / 355687428096000));
    return 0.5 * z * ((a + z2 * b) + z2 * z2 * (c + z2 * d));
}

/* fast a + b for |a| much larger than |b|, and a b: finite operands, to 2^-102; lo may be a few ulps of hi until it is renormalised */
GRPO_FORCE_INLINE_FN_ grpo_dd grpo_dd_fast_add_(grpo_dd a, grpo_dd b) {
    const double s = a.hi + b.hi;
    return grpo_dd_pair_(s, (b.hi - (s - a.hi)) + (a.lo + b.lo));
}
GRPO_FORCE_INLINE_FN_ grpo_dd grpo_dd_fast_product_(grpo_dd a, grpo_dd b) {
    const double p = a.hi * b.hi;
    return grpo_dd_pair_(p, grpo_product_rounding_(a.hi, b.hi, p) + (a.hi * b.lo + a.lo * b.hi));
}
GRPO_FORCE_INLINE_FN_ grpo_dd grpo_dd_renormalised_(grpo_dd x) {
    const double s = x.hi + x.lo;
    return grpo_dd_pair_(s, x.lo - (s - x.hi));
}

/* c[0] + x (c[1] + x (c[2] + x s)) for |x| < 1/16 and c[k] much larger than what is added to it, to 2^-102; not renormalised */
GRPO_FORCE_INLINE_FN_ grpo_dd grpo_dd_series_(const grpo_dd *c, grpo_dd x, grpo_dd s) {
    for (int k = 2; k >= 0; k--) s = grpo_dd_fast_add_(c[k], grpo_dd_fast_product_(s, x));
    return s;
}

/* e^r - 1, relative error 2^-89, for |r| < 1/180, |r.lo| < 2^-43: r + r^2 (1/2 + r (1/6 + r (1/24 + ... + r^6/10!))).  The terms from r/120
 * on are summed in double: they are less than 2^-36 of the whole.  The first that is left out, r^10/11!, is less than 2^-100 */
GRPO_FN grpo_dd grpo_small_exp_minus_one_(grpo_dd r) {
    static const grpo_dd over[3] = { { 0.5, 0 }, { 1.0 / 6, 9.25185853854297e-18 }, { 1.0 / 24, 2.3129646346357427e-18 } };
    const double x = r.hi, z = x * x, a = 1.0 / 120 + x * (1.0 / 720), b = 1.0 / 5040 + x * (1.0 / 40320);
    const grpo_dd tail = { a + z * (b + z * (1.0 / 362880 + x * (1.0 / 3628800))), r.lo * (1.0 / 720) };
    const grpo_dd square = { z, grpo_product_rounding_(x, x, z) + (2 * x + r.lo) * r.lo };
    return grpo_dd_renormalised_(grpo_dd_fast_add_(r, grpo_dd_fast_product_(square, grpo_dd_series_(over, r, tail))));
}

/* 2^n, |n| <= 1022 */
GRPO_FN double grpo_power_of_two_(int n) {
    const uint64_t bits = (uint64_t)(n + 1023) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* e^x to twice the precision: relative error 2^-95 while lo of the result is above DBL_MIN.  Needed where e^x is part of another exponent.
 * x = n log(2)/64 + r, e^x = 2^(n/64) e^r; the first two words of log(2)/64 have 36 bits each, so that their products with n are exact */
GRPO_FN grpo_dd grpo_exp_twice(grpo_dd x) {
    static const grpo_dd by_8[8] = {                                   /* 2^(j/8) */
        { 1, 0 }, { 1.0905077326652577, -3.0467820798124711e-17 }, { 1.189207115002721, 3.9820152314656461e-17 },
        { 1.2968395546510096, 2.5382502794888315e-17 }, { 1.4142135623730951, -9.6672933134529135e-17 },
        { 1.5422108254079407, 7.9498348096976209e-17 }, { 1.681792830507429, 8.1990100205814965e-17 },
        { 1.8340080864093424, 3.2831072242456272e-17 } };
    static const grpo_dd by_64[8] = {                                  /* 2^(j/64) */
        { 1, 0 }, { 1.0108892860517005, -1.5234778603368577e-17 }, { 1.0218971486541166, 5.1092250289734439e-17 },
        { 1.0330248790212284, 7.6008388740270885e-18 }, { 1.0442737824274138, 8.5518897055379649e-17 },
        { 1.0556451783605572, 1.759325738772092e-18 }, { 1.0671404006768237, -7.8998539668415821e-17 },
        { 1.0787607977571199, -6.6566604360565926e-17 } };
    const double round = 6755399441055744.0;                           /* 1.5 2^52: adding and subtracting it rounds to a whole number */
    const double n = (x.hi * 92.332482616893657 + round) - round, y = x.hi - n * 0.010830424696223417, b = n * 2.5728046223228848e-14;
    grpo_dd r, s;
    if (!(x.hi > -700 && x.hi < 709.77)) return grpo_dd_of_(grpo_exp(x));
    const int k = (int)n + 1024 * 64;
    r.hi = y - b;
    r.lo = grpo_sum_rounding_(y, -b, r.hi) + (x.lo - n * 4.7841261500291439e-26);
    s = grpo_dd_fast_product_(by_8[k >> 3 & 7], by_64[k & 7]);
    s = grpo_dd_renormalised_(grpo_dd_fast_add_(s, grpo_dd_fast_product_(s, grpo_small_exp_minus_one_(r))));
    return grpo_dd_pair_(s.hi * grpo_power_of_two_((k >> 6) - 1024), s.lo * grpo_power_of_two_((k >> 6) - 1024));
}

GRPO_FN grpo_dd grpo_exp_minus_one_twice(grpo_dd x) {
    return fabs(x.hi) < 1.0 / 256 ? grpo_small_exp_minus_one_(x) : grpo_dd_add_double_(grpo_exp_twice(x), -1);
}

/* log x to twice the precision, 2^-90 of max(1, |log x|), for 1e-300 < x < 1e299: a Newton step on e^y = x */
GRPO_NOINLINE_FN_ grpo_dd grpo_log_twice(double x) {
    const double y = log(x);
    grpo_dd e = grpo_dd_add_double_(grpo_dd_mul(grpo_exp_twice(grpo_dd_of_(-y)), x), -1);      /* x e^-y - 1 */
    e.lo -= 0.5 * e.hi * e.hi;                                          /* log(1 + e) = e - e^2/2 */
    return grpo_dd_add_double_(e, y);
}

/* log x of a double-double to twice the precision: log hi + lo/hi */
GRPO_FN grpo_dd grpo_dd_log(grpo_dd x) {
    if (!(x.hi > 1e-300 && x.hi < 1e300)) return grpo_dd_of_(log(x.hi));
    return grpo_dd_add_double_(grpo_log_twice(x.hi), x.lo / x.hi);
}

/* log x for every x > 0, however small or large */
GRPO_FN grpo_dd grpo_log_of(double x) {
    const grpo_dd ln2 = { GRPO_LN2_HI_, GRPO_LN2_LO_ };
    int e;
    const grpo_dd y = grpo_log_twice(frexp(x, &e));
    return grpo_dd_add(y, grpo_dd_mul(ln2, e));
}

GRPO_FN grpo_dd grpo_sqrt_twice_(grpo_dd x) {                          /* x >= 0 */
    grpo_dd s = grpo_dd_of_(sqrt(x.hi));
    if (s.hi == 0) return s;
    return grpo_two_sum(s.hi, grpo_dd_minus_(x, grpo_two_prod(s.hi, s.hi)).hi / (2 * s.hi));
}

/* sin^2(pi y/2) to twice the precision, 2^-95, for 0 <= y <= 1 */
GRPO_FN grpo_dd grpo_sine_squared(grpo_dd y) {
    const grpo_dd half_pi = { 1.57079632679489656, 6.12323399573676604e-17 }, one = { 1, 0 };
    const int complement = y.hi > 0.5;
    const grpo_dd x = grpo_dd_product(complement ? grpo_dd_minus_(one, y) : y, half_pi);         /* at most pi/4: x^29/29! < 2^-110 */
    const grpo_dd x2 = grpo_dd_product(x, x);
    grpo_dd s = one;
    for (int k = 14; k >= 1; k--) s = grpo_dd_add(one, grpo_dd_div(grpo_dd_product(grpo_dd_mul(x2, -1), s), 2.0 * k * (2 * k + 1)));
    s = grpo_dd_product(x2, grpo_dd_product(s, s));
    return complement ? grpo_dd_minus_(one, s) : s;
}

GRPO_NOINLINE_FN_ double grpo_exp_minus_linear(grpo_dd x) {
    double v, y = x.hi;
    if (!grpo_is_far_(y)) v = grpo_exp_series_(y);
    else if (y > -1 && y < 2) {                                        /* the same series with more terms */
        static const double inv[25] = { 0, 1, 1.0/2, 1.0/3, 1.0/4, 1.0/5, 1.0/6, 1.0/7, 1.0/8, 1.0/9, 1.0/10, 1.0/11, 1.0/12,
            1.0/13, 1.0/14, 1.0/15, 1.0/16, 1.0/17, 1.0/18, 1.0/19, 1.0/20, 1.0/21, 1.0/22, 1.0/23, 1.0/24 };
        int k;
        for (v = 1, k = 24; k >= 3; k--) v = 1 + y * inv[k] * v;
        v *= 0.5 * y * y;
    } else {
        v = exp(y);
        v = grpo_is_finite(v) ? (v - y) - 1 : v;
        if (y == -HUGE_VAL) v = HUGE_VAL;
    }
    return !(fabs(x.lo) > 0) || !grpo_is_finite(v) ? v : v + x.lo * expm1(y);      /* lo may be NaN, see grpo_sum_add_dd_block_ */
}

GRPO_NOINLINE_FN_ grpo_dd grpo_exp_minus_linear_twice(grpo_dd y) {
    const grpo_dd one = grpo_dd_of_(1);
    grpo_dd v = one;
    if (!(fabs(y.hi) < 1.0 / 1024)) return grpo_dd_minus_(grpo_dd_minus_(grpo_exp_twice(y), y), one);
    for (int k = 10; k >= 3; k--) v = grpo_dd_add(one, grpo_dd_product(grpo_dd_div(y, k), v));
    return grpo_dd_mul(grpo_dd_product(grpo_dd_product(y, y), v), 0.5);
}

GRPO_FN double grpo_exp_minus_one(grpo_dd x) {
    double e = expm1(x.hi);
    return grpo_is_finite(e) ? e + (e + 1) * x.lo : e;
}

/* e^a - e^b of log-probabilities, 4 ulps, no cancellation near a = b; a difference that underflows becomes +-DBL_MIN */
GRPO_NOINLINE_FN_ double grpo_probability_change(double a, double b) {
    grpo_dd d = grpo_two_diff(a, b);
    double x;
    if (a > b) x = -grpo_times(exp(a), grpo_exp_minus_one(grpo_dd_negative(d)));       /* from the larger: no overflow times an underflow */
    else x = grpo_times(exp(b), grpo_exp_minus_one(d));
    return x != 0 || a == b ? x : a > b ? DBL_MIN : -DBL_MIN;
}

/* KL(p0 || p) of two Bernoulli distributions, p = e^l, p0 = e^x, x <= 0, 12 ulps: p0 (x - l) + (1 - p0) log((1 - p0)/(1 - p)), computed as
 * p0 f(l - x) + (1 - p0) f(s) with s = log((1 - p)/(1 - p0)) and f(y) = e^y - y - 1 >= 0, so that nothing cancels */
GRPO_FN double grpo_binary_kl(double l, double x) {
    grpo_dd d = grpo_two_diff(l, x), s = { 0, 0 };
    double p0 = exp(x), rest = -expm1(x), change = grpo_probability_change(l, x), heads, kl;
    if (l == x) return 0;
    if (l == -HUGE_VAL) return HUGE_VAL;
    if (!(rest > 0)) return -d.hi;
    if (l >= 0) return HUGE_VAL;
    s.hi = fabs(change) < 0.5 * rest ? log1p(-change / rest) : -l < DBL_MIN || rest < DBL_MIN ? log(-expm1(l)) - log(rest)
        : log(expm1(l) / expm1(x));
    heads = d.hi > 1 ? change - grpo_times(p0, d.hi) : p0 * grpo_exp_minus_linear(d);      /* = p - p0 - p0 d: p0 may underflow */
    kl = heads + (s.hi > 1 ? -change - rest * s.hi : rest * grpo_exp_minus_linear(s));     /* the same; e^s magnifies the error of s */
    return kl > 0 ? kl : DBL_MIN;
}

/* ---- axis 1: lengths ----------------------------------------------------------------------------------------------------------------- */
/* lambda of Kimi k1.5, 2.3.3: 1/2 for the shortest response of the group, falling to -1/2 for the longest; at most 0 for wrong responses */
GRPO_FN grpo_dd grpo_kimi_length_reward(double length, double shortest, double longest, int correct) {
    const double lambda = (longest - length) - (length - shortest);
    if (longest <= shortest || (!correct && lambda > 0)) return grpo_dd_of_(0);
    return grpo_dd_div(grpo_dd_of_(lambda), 2 * (longest - shortest));
}

/* at_max + (at_0 - at_max)/2 (1 + cos(pi min(length/max, 1))) (2502.03373), as at_max + (at_0 - at_max) sin^2(pi/2 (1 - length/max)) */
GRPO_FN grpo_dd grpo_cosine_length_reward(double length, double max, double at_0, double at_max) {
    const grpo_dd left = length < max ? grpo_dd_div(grpo_two_diff(max, length), max) : grpo_dd_of_(0);
    return grpo_dd_add_double_(grpo_dd_product(grpo_two_diff(at_0, at_max), grpo_sine_squared(left)), at_max);
}

/* ---- axis 2: transforms, Kalman filter, reweighting, shaping, Beta ------------------------------------------------------------------- */
/* C(a, k)/C(b, k) for whole numbers 0 <= k <= b; 0 where a < k */
GRPO_FN grpo_dd grpo_binomial_ratio(double a, double b, double k) {
    grpo_dd p = grpo_dd_of_(1);
    if (a < k) return grpo_dd_of_(0);
    for (double j = 0; j < k; j++) p = grpo_dd_div(grpo_dd_mul(p, a - j), b - j);
    return p;
}

/* transformed rewards of pass@k (2508.10751): of items with R > 0 (up), of the others (down), and the variance of all */
typedef struct { double up, down, variance; } grpo_pass_at_k_values;

GRPO_FN grpo_pass_at_k_values grpo_pass_at_k(double n, double c, double k) {
    grpo_pass_at_k_values v = { 0, 0, 0 };
    const grpo_dd fails = grpo_binomial_ratio(n - c, n, k);                     /* 1 - Rbar */
    if (c == 0 || fails.hi == 0) return v;
    v.up = fails.hi;
    v.down = grpo_dd_div(grpo_dd_mul(fails, -c), n - c).hi;    /* C(n-c-1, k-1)/C(n-1, k-1) = (1 - Rbar) n/(n - c) */
    v.variance = grpo_dd_product(fails, grpo_dd_minus_(grpo_dd_of_(1), fails)).hi;
    return v;
}

/* A ((1 - share) + share clip(e^(sign(A) gap), 1 - clip, 1 + clip)), gap = logp_teacher - logp_old */
GRPO_FN double grpo_teacher_weighted(double advantage, grpo_dd gap, double share, double clip) {
    const double w = grpo_exp(advantage < 0 ? grpo_dd_negative(gap) : gap);
    return grpo_times(advantage, (1 - share) + share * grpo_within(w, 1 - clip, 1 + clip));
}

/* observes x: P' = P + process_noise, K = P'/(P' + observation_noise), mean += K (x - mean), P = (1 - K) P'; residual: x - new mean */
GRPO_FN grpo_kalman grpo_kalman_step(grpo_kalman f, grpo_dd x, double process_noise, double observation_noise) {
    const grpo_dd noise = grpo_dd_of_(observation_noise), predicted = grpo_dd_add_double_(f.variance, process_noise);
    const grpo_dd rest = grpo_dd_quotient(noise, grpo_dd_add(predicted, noise));                 /* 1 - K */
    f.residual = grpo_dd_product(rest, grpo_dd_minus_(x, f.mean));
    f.variance = grpo_dd_product(rest, predicted);
    f.mean = grpo_dd_minus_(x, f.residual);
    return f;
}

/* w(x) = low + (high - low)/(1 + e^(slope (x - midpoint))) of GRPO-LEAD (2504.09696), x = part/whole */
GRPO_FN double grpo_difficulty(double part, double whole, double low, double high, double slope, double midpoint) {
    const grpo_dd one = grpo_dd_of_(1), off = grpo_dd_add_double_(grpo_dd_div(grpo_dd_of_(part), whole), -midpoint);
    const grpo_dd x = grpo_dd_mul(off, slope);
    const int falling = x.hi > 0;
    const grpo_dd e = grpo_exp_twice(falling ? grpo_dd_negative(x) : x);         /* e^-|x| */
    const grpo_dd larger = grpo_dd_quotient(one, grpo_dd_add(one, e)), smaller = grpo_dd_product(e, larger);
    return grpo_dd_add(grpo_dd_mul(falling ? larger : smaller, low), grpo_dd_mul(falling ? smaller : larger, high)).hi;
}

/* T^-p of Delta L (2509.07558), T >= 1 */
GRPO_FN grpo_dd grpo_length_power(double length, double power) { return grpo_exp_twice(grpo_dd_mul(grpo_log_twice(length), -power)); }

GRPO_FN grpo_dd grpo_length_lambda(double alpha, double length) {
    const grpo_dd n = grpo_two_prod(alpha, length);
    return grpo_dd_exceeds(n, 1) ? grpo_dd_quotient(grpo_dd_add_double_(n, -1), n) : grpo_dd_of_(0);
}

/* a e^(a/temperature) */
GRPO_FN double grpo_exponential_reweight(grpo_dd a, double temperature) { return grpo_times(a.hi, grpo_exp(grpo_dd_div(a, temperature))); }

/* |dl/dlogits|^2 = 1 - 2 p + s, p = e^l the token's probability, s the sum of the squared probabilities of the vocabulary */
GRPO_FN grpo_dd grpo_logit_gradient_energy(double logp, double squares) {
    return grpo_dd_add(grpo_two_sum(1, squares), grpo_dd_mul(grpo_exp_twice(grpo_two_sum(logp, 0)), -2));
}

/* max(0, 1 + coef (H/mean - 1)); 1 where the mean is 0 */
GRPO_FN double grpo_relative_entropy(double entropy, grpo_dd mean, double coef) {
    if (mean.hi == 0) return 1;
    const grpo_dd x = grpo_dd_add_double_(grpo_dd_quotient(grpo_dd_of_(entropy), mean), -1);
    const double factor = x.hi == 0 || coef == 0 ? 1 : grpo_dd_add_double_(grpo_dd_mul(x, coef), 1).hi;
    return factor > 0 ? factor : 0;
}

/* A of a token with batch.marked */
GRPO_FN double grpo_marked(grpo_marked_kind kind, double advantage, double value) {
    if (kind == GRPO_MARKED_FIXED) return value;
    return kind == GRPO_MARKED_BOOST ? grpo_times(advantage, 1 + (advantage < 0 ? -value : value)) : advantage;
}

/* (1 - mu)^power of F-GRPO (2602.06717), mu = (mean - low)/(high - low) within [0, 1]; 0^0 = 1 */
GRPO_FN double grpo_focal_weight(grpo_dd mean, double low, double high, double power) {
    const grpo_dd rest = grpo_dd_quotient(grpo_dd_minus_(grpo_dd_of_(high), mean), grpo_two_diff(high, low));
    if (power == 0 || !grpo_dd_exceeds(grpo_dd_negative(rest), -1)) return 1;
    return rest.hi > 0 ? grpo_exp_twice(grpo_dd_mul(grpo_dd_log(rest), power)).hi : 0;
}

/* log(x! e^x/x^x) of x >= 0, x! = Gamma(x + 1), error 2^-78: 1/2 log(2 pi x) and Stirling's series; where x < 32, of z = x + k >= 32, plus
 * log(z^z e^(x - z)/(x^x (x + 1) ... (x + k))) */
GRPO_FN grpo_dd grpo_log_factorial_rest(grpo_dd x) {
    static const int32_t over[7] = { 12, -360, 1260, -1680, 1188, -360360, 156 };
    const grpo_dd half_log_two_pi = { 0.91893853320467274178, -3.8782941580672414e-17 }, one = grpo_dd_of_(1);
    grpo_dd product = one, z = x, square, log_z, rest = grpo_dd_of_(0);
    while (z.hi < 32) { z = grpo_dd_add(z, one); product = grpo_dd_product(product, z); }
    square = grpo_dd_quotient(one, grpo_dd_product(z, z));
    for (int k = 6; k >= 0; k--) rest = grpo_dd_add(grpo_dd_product(rest, square), grpo_dd_div(grpo_dd_of_(k == 5 ? 691 : 1), over[k]));
    log_z = grpo_dd_log(z);
    rest = grpo_dd_add(grpo_dd_add(grpo_dd_quotient(rest, z), half_log_two_pi), grpo_dd_mul(log_z, 0.5));
    if (product.hi == 1) return rest;
    if (x.hi > 0) product = grpo_dd_product(product, grpo_exp_twice(grpo_dd_product(x, grpo_dd_log(x))));
    return grpo_dd_add(rest, grpo_dd_minus_(grpo_dd_minus_(grpo_dd_product(z, log_z), grpo_dd_minus_(z, x)), grpo_dd_log(product)));
}

/* one outcome's part of the KL of the probability mu from p: mu (r - 1 - log r), r = p/mu */
GRPO_NOINLINE_FN_ grpo_dd grpo_outcome_kl_(grpo_dd mu, grpo_dd p) {
    if (!(mu.hi > 0)) return p;
    return grpo_dd_product(mu, grpo_exp_minus_linear_twice(grpo_dd_log(grpo_dd_quotient(p, mu))));
}

/* The density f of Beta(1 + n mu, 1 + n (1 - mu)) at p in [0, 1]: (n + 1) n!/((n mu)! (n (1 - mu))!) p^(n mu) (1 - p)^(n (1 - mu)); of the
 * powers only e^(-n KL) is left, KL = mu log(mu/p) + (1 - mu) log((1 - mu)/(1 - p)), which does not cancel where p is near mu.
 * n and mu are size and mean of b.  Relative error 2^-52 (1 + |log f|). */
GRPO_FN double grpo_beta_density(grpo_beta b, grpo_dd p) {
    const grpo_dd one = grpo_dd_of_(1), rest = grpo_dd_minus_(one, p), other = grpo_dd_minus_(one, b.mean);
    const grpo_dd x = grpo_dd_product(b.size, b.mean), y = grpo_dd_product(b.size, other), whole = grpo_dd_add(b.size, one);
    grpo_dd f;
    if (p.hi <= 0) return x.hi > 0 ? 0 : whole.hi;
    if (rest.hi <= 0) return y.hi > 0 ? 0 : whole.hi;
    f = grpo_dd_product(b.size, grpo_dd_add(grpo_outcome_kl_(b.mean, p), grpo_outcome_kl_(other, rest)));
    f = grpo_dd_add(grpo_dd_add(grpo_log_factorial_rest(x), grpo_log_factorial_rest(y)), f);
    f = grpo_dd_minus_(grpo_log_factorial_rest(b.size), f);
    return grpo_dd_product(whole, grpo_exp_twice(f)).hi;
}

/* of mean and variance of the prompts' means: n = m/3, m = mean (1 - mean)/variance - 1, 0 where m <= 0 */
GRPO_FN grpo_beta grpo_beta_of(grpo_dd mean, grpo_dd variance) {
    const grpo_dd bound = grpo_dd_product(mean, grpo_dd_minus_(grpo_dd_of_(1), mean));
    grpo_beta r;
    r.mean = mean;
    r.size = grpo_dd_div(grpo_dd_add_double_(grpo_dd_quotient(bound, variance), -1), 3);
    if (!(r.size.hi > 0)) r.size = grpo_dd_of_(0);
    return r;
}

/* ---- axis 4: further bounds and surrogates ------------------------------------------------------------------------------------------- */
/* DCPO's bounds on w, from the probability p = e^x in the ratio's denominator:
 * 1/2 + 1/2 sqrt(max(1 - 4 eps_low/p, 0)) and 1/2 + 1/2 sqrt(1 + 4 eps_high/p).  1 - 4 eps_low/p cancels where p is near 4 eps_low, so it
 * is taken in double-double.  4 eps_high/p = h^2 may overflow where h does not; the second root is then h. */
GRPO_FN grpo_range grpo_probability_range(double x, double eps_low, double eps_high, double cap) {
    const double h = eps_high < HUGE_VAL ? grpo_times(2 * sqrt(eps_high), exp(-0.5 * x)) : HUGE_VAL;
    grpo_range r = { 1, HUGE_VAL, 0, HUGE_VAL };
    grpo_dd minus_x = { 0, 0 }, q, one_less;
    double root;
    if (x > -HUGE_VAL) {
        minus_x.hi = -x;
        q = eps_low > 0 ? grpo_dd_mul(grpo_exp_twice(minus_x), 4 * eps_low) : minus_x;
        one_less = grpo_two_diff(1, q.hi);
        root = eps_low > 0 ? one_less.hi + (one_less.lo - q.lo) : 1;
        root = root > 0 ? sqrt(root) : 0;
        r.low = 0.5 + 0.5 * root;
        r.log_low = root == 1 ? 0 : root > 0 ? log1p(-0.5 * q.hi / (1 + root)) : log(0.5);
        root = h < 1e100 ? sqrt(1 + h * h) : h;
        r.high = 0.5 + 0.5 * root;
        r.log_high = h < 1e100 ? log1p(0.5 * (h * h) / (1 + root)) : 0.5 * (log(eps_high) - x);
    }
    if (cap != 0 && r.high > cap) { r.high = cap; r.log_high = log(cap); }
    return r;
}

/* n^power; exact where 2 power is a whole number and the result fits in 106 bits */
GRPO_FN grpo_dd grpo_position_scale(double n, double power) {
    const double size = fabs(power), root = sqrt(n);
    const grpo_dd one = grpo_dd_of_(1);
    grpo_dd s = one;
    if (2 * size != floor(2 * size)) return grpo_length_power(n, -power);
    for (int k = 0; k < (int)size; k++) s = grpo_dd_mul(s, n);
    if (size != floor(size)) s = grpo_dd_product(s, grpo_dd_pair_(root, -grpo_product_rounding_(root, root, n) / (2 * root)));
    return power < 0 ? grpo_dd_quotient(one, s) : s;
}

/* CTPO's bounds at the n-th token */
GRPO_FN grpo_log_range grpo_position_range(const grpo_surrogate *s, double n) {
    const grpo_dd scale = grpo_position_scale(n, s->position_power);
    grpo_log_range r;
    r.low = grpo_dd_mul(scale, -s->log_low);
    r.high = grpo_dd_mul(scale, s->log_high);
    r.dual = grpo_dd_mul(scale, s->kind == GRPO_SURROGATE_DUAL_CLIP ? s->log_clip_dual : HUGE_VAL);
    return r;
}

/* PPO's clip or dual clip with bounds on the log-ratio, compared in double-double; only the bound that binds is exponentiated */
GRPO_FN grpo_term grpo_log_clip(grpo_ratio w, double advantage, grpo_log_range range) {
    const grpo_dd y = grpo_ratio_log(w);
    switch (grpo_clip_side_of(advantage, grpo_dd_less(range.high, y), grpo_dd_less(y, range.low), grpo_dd_less(range.dual, y))) {
    case GRPO_CLIP_DUAL: return grpo_clipped(grpo_exp(range.dual), advantage, GRPO_CLIP_DUAL);
    case GRPO_CLIP_HIGH: return grpo_clipped(grpo_exp(range.high), advantage, GRPO_CLIP_HIGH);
    case GRPO_CLIP_LOW:  return grpo_clipped(grpo_exp(range.low), advantage, GRPO_CLIP_LOW);
    default:             return grpo_ratio_term(w, advantage);
    }
}

/* log(1 + e^-x) and its derivative */
typedef struct { double value, slope; } grpo_logistic;

GRPO_FN grpo_logistic grpo_logistic_loss(grpo_dd x) {
    const double e = grpo_exp(x.hi > 0 ? grpo_dd_negative(x) : x);     /* e^-|x| */
    const grpo_logistic f = { x.hi > 0 ? log1p(e) : grpo_plus(-x.hi, log1p(e)), -(x.hi > 0 ? e : 1) / (1 + e) };
    return f;
}

GRPO_FN grpo_term grpo_sapo_detached(grpo_ratio w, double advantage, double logp, double tau) {
    return grpo_reinforce((4 / tau) * grpo_sigmoid_gate(w, tau).value * advantage, logp);
}

GRPO_FN grpo_term grpo_vespo(grpo_ratio w, double advantage, double logp, double k, double lambda) {
    grpo_dd x = { 0, 0 };
    if (lambda > 0 && w.value == HUGE_VAL) return grpo_reinforce(0, logp);         /* e^(-lambda w) outweighs w^k */
    if (k != 0) x = grpo_dd_mul(grpo_ratio_log(w), k);
    if (lambda != 0) x = grpo_dd_add(x, grpo_ratio_minus_one_times(w, -lambda));
    return grpo_reinforce(grpo_times(grpo_exp(x), advantage), logp);
}

GRPO_FN grpo_term grpo_log_ratio_term(grpo_ratio w, double advantage) {
    return grpo_term_of_(grpo_times(-advantage, w.log), -advantage, 0);
}

/* (A - beta y)^2, the difference to twice the precision because it may cancel */
GRPO_FN grpo_term grpo_squared(grpo_ratio w, double advantage, double beta) {
    grpo_dd e = grpo_dd_of_(advantage);
    if (beta != 0) e = grpo_dd_add(e, grpo_dd_mul(grpo_ratio_log(w), -beta));
    return grpo_term_of_(e.hi * e.hi, grpo_times(-2 * beta, e.hi), 0);
}

/* a clip that keeps the gradient: -bound A sg[1/w] w */
GRPO_FN grpo_term grpo_gradient_preserving_clip(double bound, double advantage, grpo_clip_side side) {
    grpo_term t = grpo_clipped(bound, advantage, side);
    t.d_log_ratio = t.value;
    return t;
}

/* clip_dual 0: no dual clip */
GRPO_FN grpo_term grpo_gppo(grpo_ratio w, double advantage, grpo_range range, double clip_dual, double gppo_beta_low,
                           double gppo_beta_high) {
    switch (grpo_clip_side_of(advantage, w.log > range.log_high, w.log < range.log_low, clip_dual != 0 && w.value > clip_dual)) {
    case GRPO_CLIP_HIGH: return grpo_gradient_preserving_clip(grpo_times(gppo_beta_high, range.high), advantage, GRPO_CLIP_HIGH);
    case GRPO_CLIP_LOW:  return grpo_gradient_preserving_clip(gppo_beta_low * range.low, advantage, GRPO_CLIP_LOW);
    case GRPO_CLIP_DUAL: return grpo_clipped(clip_dual, advantage, GRPO_CLIP_DUAL);
    default:             return grpo_ratio_term(w, advantage);
    }
}

/* clip_dual or clip_dual_pos 0: no such bound */
GRPO_FN grpo_term grpo_aspo(grpo_ratio w, double advantage, double logp, grpo_range range, double clip_dual, double clip_dual_pos) {
    const grpo_ratio flipped = grpo_ratio_exp(grpo_dd_negative(grpo_ratio_log(w)));        /* 1/w */
    const double limit = advantage > 0 ? clip_dual_pos : clip_dual;
    grpo_term t;
    if (limit != 0 && (advantage > 0 ? flipped.value : w.value) > limit) {
        t = grpo_reinforce(limit * advantage, logp);
        t.clip = GRPO_CLIP_DUAL;
        return t;
    }
    if (advantage < 0) return grpo_ppo_clip(w, advantage, range);
    if (w.log > range.log_high) return grpo_clipped(1 / range.high, advantage, GRPO_CLIP_HIGH);
    return grpo_ratio_term(flipped, advantage);             /* d/dy has the sign of w's, not of 1/w's: ASPO flips inside sg (sic) */
}

GRPO_FN grpo_term grpo_topr(grpo_ratio w, double advantage, double logp, double weight_min, double weight_max) {
    return advantage > 0 ? grpo_reinforce(advantage, logp) : grpo_cispo(w, advantage, logp, weight_min, weight_max);
}

GRPO_FN grpo_term grpo_masked_weight(grpo_ratio w, double advantage, double logp, double weight_min, double weight_max) {
    grpo_term t = grpo_cispo(w, advantage, logp, weight_min, weight_max);
    if (t.clip != GRPO_CLIP_NO) t.value = t.d_logp = 0;
    return t;
}

/* A > 0 marks a correct response, A <= 0 a wrong one; x = beta y - logit_shift in double-double, because the two may cancel */
GRPO_FN grpo_term grpo_logistic_term(grpo_ratio w, double advantage, double beta, double logit_shift) {
    const double sign = advantage > 0 ? 1 : -1;
    grpo_dd x = grpo_dd_of_(-logit_shift);
    if (beta != 0) x = grpo_dd_add(x, grpo_dd_mul(grpo_ratio_log(w), beta));
    const grpo_logistic f = grpo_logistic_loss(sign < 0 ? grpo_dd_negative(x) : x);
    return grpo_term_of_(f.value, grpo_times(sign * beta, f.slope), 0);
}

/* A >= 0: -A (1 + y), where 1 + y <= w; A < 0: -A w */
GRPO_FN grpo_term grpo_bgpo(grpo_ratio w, double advantage) {
    if (advantage < 0) return grpo_ratio_term(w, advantage);
    return grpo_term_of_(grpo_times(-advantage, grpo_dd_add_double_(grpo_ratio_log(w), 1).hi), -advantage, 0);
}

/* -A w/(w + shaping_gamma), as -A sigmoid(y - log shaping_gamma), because w may overflow */
GRPO_FN grpo_term grpo_policy_shaping(grpo_ratio w, double advantage, double shaping_gamma) {
    const grpo_gate g = grpo_sigmoid(grpo_dd_minus_(grpo_ratio_log(w), grpo_log_of(shaping_gamma)));
    return grpo_term_of_(-advantage * g.value, -advantage * g.slope, 0);
}

/* -A w + |A| off pull/2 and its derivative w (-A + |A| pull), with v = w, off = w - 1, and pull as below.  The two terms may cancel, and
 * off may be small beside w, so all are in double-double */
GRPO_NOINLINE_FN_ grpo_term grpo_quadratic_from_(double advantage, grpo_term t, grpo_dd v, grpo_dd off, grpo_dd pull) {
    const double size = fabs(advantage);
    grpo_dd x = grpo_dd_mul(grpo_dd_product(grpo_dd_mul(off, size), pull), 0.5);
    if (grpo_is_finite(x.hi) && grpo_is_finite(t.value)) t.value = grpo_dd_add(x, grpo_dd_mul(v, -advantage)).hi;
    else t.value = grpo_times(size, grpo_dd_add(grpo_dd_mul(grpo_dd_product(off, pull), 0.5), advantage > 0 ? grpo_dd_negative(v) : v).hi);
    x = grpo_dd_add_double_(grpo_dd_mul(pull, size), -advantage);
    t.d_log_ratio = grpo_is_finite(x.hi) ? grpo_dd_product(v, x).hi : grpo_times(v.hi, x.hi);
    return t;
}

/* pull = (w - 1)/eps: CFPO (2601.22801) */
GRPO_FN grpo_term grpo_quadratic(grpo_ratio w, double advantage, double eps) {
    grpo_term t = grpo_ratio_term(w, advantage);
    if (eps == HUGE_VAL) return t;
    if (w.value == HUGE_VAL) { t.value = t.d_log_ratio = HUGE_VAL; return t; }
    const grpo_dd v = grpo_exp_twice(grpo_ratio_log(w));
    const grpo_dd off = grpo_dd_add_double_(v, -1);
    return grpo_quadratic_from_(advantage, t, v, off, grpo_dd_div(off, eps));
}

/* pull = p (w - 1)/eps.  Where w overflows and p w may not: p (w - 1)^2 = p w^2 - 2 p w + p without its last term, as w (p w) - 2 (p w) */
GRPO_FN grpo_term grpo_quadratic_probability(grpo_ratio w, double advantage, double eps, double logp_old) {
    const double size = fabs(advantage);
    const grpo_dd y = grpo_ratio_log(w), x = grpo_dd_of_(logp_old), adv = grpo_dd_of_(advantage);
    const grpo_dd v = grpo_exp_twice(y), off = grpo_dd_add_double_(v, -1), p = grpo_exp_twice(x);
    const grpo_dd q = w.value > 2 ? grpo_exp_twice(grpo_dd_add_double_(y, logp_old)) : p;      /* p w; not used where w <= 2 */
    grpo_term t = grpo_ratio_term(w, advantage);
    grpo_dd pull = { 0, 0 }, half;
    if (eps == HUGE_VAL || logp_old == -HUGE_VAL) return t;
    if (off.hi != 0) pull = grpo_dd_div(w.value > 2 ? grpo_dd_minus_(q, p) : grpo_dd_product(p, off), eps);
    if (w.value < HUGE_VAL) return grpo_quadratic_from_(advantage, t, v, off, pull);
    half = grpo_dd_mul(grpo_dd_div(grpo_dd_mul(q, 0.5), eps), size);
    t.value = grpo_plus(grpo_times(w.value, grpo_dd_minus_(half, adv).hi), -2 * half.hi);
    t.d_log_ratio = grpo_times(w.value, grpo_dd_minus_(grpo_dd_mul(pull, size), adv).hi);
    return t;
}

/* A > 0: -A e^(l - sg[l]); A < 0: dual clip (UP, 2607.06987, eq. 15) */
GRPO_FN grpo_term grpo_unbounded_positive(grpo_ratio w, double advantage, grpo_range range, double clip_dual) {
    return advantage < 0 ? grpo_dual_clip(w, advantage, range, clip_dual) : grpo_term_of_(-advantage, 0, -advantage);
}

GRPO_APART_FN_ grpo_term grpo_surrogate_term(const grpo_surrogate *s, grpo_range range, grpo_ratio w, double advantage, double logp) {
    const grpo_term none = { 0, 0, 0, GRPO_CLIP_NO };                  /* A = 0, and surrogates of a group (gspo.h) */
    const int up = advantage > 0;
    if (advantage == 0 && s->kind != GRPO_SURROGATE_SQUARED && s->kind != GRPO_SURROGATE_LOGISTIC) return none;
    switch (s->kind) {
#define GRPO_TERM_(id, name, of, needs, reads, term, text) case id: return term;
    GRPO_SURROGATE_CHOICES(GRPO_TERM_)
    }
    return none;
}

/* ---- axis 5: the likelihood term (nll) ----------------------------------------------------------------------------------------------- */
/* the weight u of the likelihood term, detached; only teacher_gate reads logp_teacher */
GRPO_FN double grpo_nll_weight(const grpo_penalty *p, double logp, double logp_teacher) {
    grpo_dd gap = { 0, 0 };
    switch (p->nll_weight) {
    case GRPO_NLL_WEIGHT_P:       return exp(logp);
    case GRPO_NLL_WEIGHT_P_ONE_MINUS_P: return -grpo_times(exp(logp), expm1(logp));
    case GRPO_NLL_WEIGHT_TEACHER_GATE:
        if (p->nll_teacher_slope != 0) gap = grpo_dd_mul(grpo_two_diff(logp_teacher, logp), p->nll_teacher_slope);
        return grpo_sigmoid(gap).value;
    default:                             return 1;
    }
}

/* -u h and its derivative by l; logp_old is read by form displacement, logp_teacher by form teacher_gap and weight teacher_gate */
GRPO_FN grpo_term grpo_nll(const grpo_penalty *p, double logp, double logp_old, double logp_teacher) {
    grpo_term t = { 0, 0, 0, GRPO_CLIP_NO };
    grpo_dd h = grpo_dd_of_(logp);
    if (p->nll_form == GRPO_NLL_FORM_TEACHER_GAP) h = grpo_two_diff(logp, logp_teacher);
    if (p->nll_form == GRPO_NLL_FORM_DISPLACEMENT) h = grpo_two_diff(logp, logp_old);
    if (p->nll_form == GRPO_NLL_FORM_DISPLACEMENT && !(h.hi < 0)) return t;
    t.d_logp = -grpo_nll_weight(p, logp, logp_teacher);
    t.value = grpo_times(t.d_logp, h.hi);
    return t;
}

/* ---- axis 6: trust, rejection, policy_is, fipo ------------------------------------------------------------------------------------ */
/* 1 if a cheap bound proves |p - p0| <= most, p = e^l, p0 = e^x: it is at most |l - x|/(1 - max(l, x)), as e^y <= 1/(1 - y) */
GRPO_FN int grpo_change_is_within_(double l, double x, double most) {
    const double larger = l > x ? l : x;
    return larger <= 0 && fabs(l - x) <= most * (1 - 1e-9) * (1 - larger);
}

/* 1 if a cheap bound proves KL(p0 || p) <= most: it is at most (p - p0)^2/(p (1 - p)) <= (r + r^2)^2/-l for r = |l - x| <= 1 */
GRPO_FN int grpo_binary_kl_is_within_(double l, double x, double most) {
    const double r = fabs(l - x), e = r + r * r;
    return r <= 1 && e * e < most * (1 - 1e-9) * -l;
}

/* 0 if trust drops the token.  band: 1 - trust_low to 1 + trust_high; w: the ratio of axis 3; logp_old: the log-probability in its
 * denominator */
GRPO_FN int grpo_in_trust_region(const grpo_weight *c, grpo_range band, grpo_ratio w, double advantage, double logp, double logp_old) {
    const int above = w.log > band.log_high, below = w.log < band.log_low, up = advantage > 0, down = advantage < 0;
    const grpo_dd y = grpo_ratio_log(w);
    grpo_range outer;
    double change;
    switch (c->trust) {
    case GRPO_TRUST_NONE: case GRPO_TRUST_DIVERGENCE: break;
    case GRPO_TRUST_ONE_SIDED: return grpo_clip_side_of(advantage, above, below, 0) == GRPO_CLIP_NO;
    case GRPO_TRUST_TWO_SIDED: return !above && !below;
    case GRPO_TRUST_NEGATIVE_BAND: return !down || (!above && !below);
    case GRPO_TRUST_LOG_TWO_SIDED:
        return !grpo_dd_exceeds(y, c->trust_high) && !grpo_dd_exceeds(grpo_dd_negative(y), c->trust_low);
    case GRPO_TRUST_PROBABILITY:
        if (grpo_change_is_within_(logp, logp_old, up ? c->trust_high : c->trust_low)) return 1;
        change = grpo_probability_change(logp, logp_old);
        return !(up && change > c->trust_high) && !(down && -change > c->trust_low);
    case GRPO_TRUST_PROBABILITY_BOTH:
        if (grpo_change_is_within_(logp, logp_old, c->trust_high)) return 1;
        return !(fabs(grpo_probability_change(logp, logp_old)) > c->trust_high);
    case GRPO_TRUST_BINARY_KL:
        if (grpo_binary_kl_is_within_(logp, logp_old, up ? c->trust_high : c->trust_low)) return 1;
        if (up && logp > logp_old) return !(grpo_binary_kl(logp, logp_old) > c->trust_high);
        return !(down && logp < logp_old && grpo_binary_kl(logp, logp_old) > c->trust_low);
    case GRPO_TRUST_K2:
        change = grpo_two_diff(logp, logp_old).hi;
        return !(0.5 * change * change > c->trust_high);
    case GRPO_TRUST_RING:
        if (!above && !below) return 1;
        outer = grpo_clip_range(c->rec_outer_low, c->rec_outer_high);
        if (!down && outer.low >= 0 && !(w.log > outer.log_low)) return 1;
        return !up && !(w.log < outer.log_high);
    }
    return 1;
}

/* the same for trust divergence */
GRPO_FN int grpo_in_divergence_region(const grpo_weight *c, grpo_ratio w, double advantage, double divergence) {
    const int away_up = advantage > 0 && w.log > 0, away_down = advantage < 0 && w.log < 0;
    return !(away_up && divergence > c->trust_high) && !(away_down && divergence > c->trust_low);
}

/* of one token; q = logp_old - logp_rollout after rollout_clamp */
GRPO_FN grpo_dd grpo_rollout_rs_statistic(grpo_rollout_rs_kind kind, grpo_dd q, double logp_old, double logp_rollout) {
    double s = 0;
    switch (kind) {
    case GRPO_ROLLOUT_RS_NONE:        break;
    case GRPO_ROLLOUT_RS_RATIO:       return q;
    case GRPO_ROLLOUT_RS_K2:          s = 0.5 * q.hi * q.hi; break;
    case GRPO_ROLLOUT_RS_K3:          s = grpo_exp_minus_linear(q); break;
    case GRPO_ROLLOUT_RS_PROBABILITY: s = grpo_probability_change(logp_old, logp_rollout); break;
    case GRPO_ROLLOUT_RS_EXP_ABS:     s = grpo_exp(q.hi < 0 ? grpo_dd_negative(q) : q); break;
    case GRPO_ROLLOUT_RS_K3_REVERSE:  s = grpo_exp_minus_linear(grpo_dd_negative(q)); break;
    case GRPO_ROLLOUT_RS_BINARY_KL_MAX: s = fmax(grpo_binary_kl(logp_old, logp_rollout), grpo_binary_kl(logp_rollout, logp_old)); break;
    }
    return grpo_dd_of_(s);
}

/* 1 if 1 + x <= e^x <= 1/(1 - x) proves that e^x is in [low, high]: it does for most tokens, and saves the logarithms of the bounds */
GRPO_FN int grpo_exp_is_within_(double x, double low, double high) {
    return 1 + x > low * (1 + 1e-9) && x < 1 && 1 < high * (1 - 1e-9) * (1 - x);
}

/* 1 if the pooled statistic is inside its bounds */
GRPO_FN int grpo_rollout_rs_accepts(const grpo_weight *c, grpo_dd pooled) {
    switch (c->rollout_rs) {
    case GRPO_ROLLOUT_RS_NONE:  return 1;
    case GRPO_ROLLOUT_RS_RATIO:
        if (grpo_exp_is_within_(pooled.hi, c->rollout_rs_low, c->rollout_rs_high)) return 1;
        return !(pooled.hi < log(c->rollout_rs_low)) && !(pooled.hi > log(c->rollout_rs_high));
    default:                return pooled.hi >= c->rollout_rs_low && pooled.hi <= c->rollout_rs_high;
    }
}

GRPO_FN double grpo_policy_is(const grpo_weight *c, grpo_dd log_ratio) {      /* g */
    return grpo_within(grpo_exp(log_ratio), c->policy_is_low, c->policy_is_high);
}

GRPO_FN grpo_dd grpo_fipo_decay(double half_life) {
    grpo_dd ln2 = { GRPO_LN2_HI_, GRPO_LN2_LO_ };
    return grpo_exp_twice(grpo_dd_negative(grpo_dd_div(ln2, half_life)));
}

/* FIPO's factor on v, from F; token_ratio: e^d */
GRPO_FN double grpo_fipo_weight(const grpo_weight *c, grpo_dd future, double token_ratio, double advantage) {
    const double f = grpo_within(grpo_exp(future), c->fipo_low, c->fipo_high);
    if (!(advantage < 0 && c->fipo_safe_ratio != 0 && token_ratio > c->fipo_safe_ratio)) return f;
    return grpo_within(f, c->fipo_safe_low, c->fipo_safe_high);
}
GRPO_C_END_
#endif /* GRPO_FURTHER_ */

#if (defined(GRPO_IMPLEMENTATION) || defined(GRPO_KERNEL_)) && !defined(GRPO_FURTHER_KERNEL_)
#define GRPO_FURTHER_KERNEL_

/* the rest of the kernel */
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
GRPO_C_BEGIN_
/* ---- exact sums ---------------------------------------------------------------------------------------------------------------------- */
/* propagates the carries: limbs 0 to n - 1 keep 32 bits each, limb n takes the rest with the sign */
static void grpo_limbs_carry_(int64_t *limb, int n) {
    for (int k = 0; k < n; k++) {
        const int64_t low = limb[k] & INT64_C(0xffffffff);
        limb[k + 1] += (limb[k] - low) / INT64_C(0x100000000);
        limb[k] = low;
    }
}

static void grpo_sum_carry_(grpo_sum *s) {
    grpo_limbs_carry_(s->limb, GRPO_SUM_LIMBS - 1);
    s->pending = 0;
}

/* adds x, which must be finite */
static void grpo_limbs_add_(int64_t *limb, double x) {
    uint64_t bits, m;
    int e, shift;
    memcpy(&bits, &x, sizeof bits);
    e = (int)(bits >> 52 & 2047);
    m = bits & ((UINT64_C(1) << 52) - 1);
    if (e) { m |= UINT64_C(1) << 52; e--; }                             /* |x| = m 2^(e - 1074) */
    limb += e >> 5; shift = e & 31;
    int64_t low = (int64_t)((m << shift) & 0xffffffff);
    int64_t high = (int64_t)(m >> (32 - shift));                               /* < 2^53: 1000 of them fit in an int64_t */
    if (bits >> 63) { low = -low; high = -high; }
    limb[0] += low;
    limb[1] += high;
}

static void grpo_sum_add_(grpo_sum *s, double x) {
    if (!grpo_is_finite(x)) { if (x > 0) s->pos_inf++; else s->neg_inf++; return; }
    grpo_limbs_add_(s->limb, x);
    if (++s->pending == 1000) grpo_sum_carry_(s);
}

static void grpo_sum_merge_(grpo_sum *into, const grpo_sum *from) {
    grpo_sum other = *from;
    grpo_sum_carry_(into);
    grpo_sum_carry_(&other);
    for (int k = 0; k < GRPO_SUM_LIMBS; k++) into->limb[k] += other.limb[k];
    into->pos_inf += from->pos_inf;
    into->neg_inf += from->neg_inf;
    into->pending = 2;
}

/* a copy of a sum to be read: its limbs from the lowest to the highest that is not 0, and those they carry into; the others are not set */
typedef struct {
    int64_t limb[GRPO_SUM_LIMBS + 4];
    int low, high, negative;        /* negative: the limbs hold minus the sum */
    double infinity;                /* what is left when those of opposite sign cancel in pairs; 0: none */
} grpo_window_;

/* propagates the carries into two more limbs, of which the lower takes less than 2^32 and the upper the sign; a negative sum is negated */
static void grpo_window_carry_(grpo_window_ *w) {
    int64_t *x = w->limb + w->low;
    const int n = w->high + 2 - w->low;
    x[n] = x[n - 1] = 0;
    w->high += 2;
    grpo_limbs_carry_(x, n);
    if (x[n] == 0) return;
    w->negative = !w->negative;
    for (int k = 0; k <= n; k++) x[k] = -x[k];
    grpo_limbs_carry_(x, n);
}

static void grpo_window_open_(const grpo_sum *s, grpo_window_ *w) {
    const int64_t *x = s->limb;
    int low = 0, high = GRPO_SUM_LIMBS - 1;
    while (high > 3 && !(x[high] | x[high - 1] | x[high - 2] | x[high - 3])) high -= 4;
    while (low < high - 3 && !(x[low] | x[low + 1] | x[low + 2] | x[low + 3])) low += 4;
    low = low > 2 ? low - 2 : 0;                                       /* the 53 bits of a double that is subtracted reach so far */
    w->low = low; w->high = high; w->negative = 0;
    for (; low <= high; low++) w->limb[low] = x[low];
    w->infinity = s->pos_inf == s->neg_inf ? 0 : s->pos_inf > s->neg_inf ? HUGE_VAL : -HUGE_VAL;
    grpo_window_carry_(w);
}

/* the sum, rounded once */
static double grpo_window_value_(grpo_window_ *w) {
    uint64_t l[3], top, sticky = 0;
    int k, j, z = 0;
    if (w->infinity != 0) return w->infinity;
    while (w->high > w->low && w->limb[w->high] == 0) w->high--;
    k = w->high;
    for (j = 0; j < 3; j++) l[j] = k - j >= w->low ? (uint64_t)w->limb[k - j] : 0;
    for (j = k - 3; j >= w->low; j--) sticky |= (uint64_t)w->limb[j];
    if (l[0] == 0) return 0;
    top = l[0] << 32 | l[1];                                           /* value = (top + l[2] 2^-32) 2^(32 (k-1) - 1074) */
    for (j = 16; j > 0; j >>= 1) if (!(top >> (64 - j))) { top <<= j; z += j; }
    top |= l[2] >> (32 - z);
    sticky |= l[2] << z & 0xffffffff;
    double r = (double)(int64_t)(top >> 1 | (top & 1) | (sticky != 0));       /* rounds 63 bits, the last a sticky bit for all below */
    k = 32 * (k - 1) - z - 1073;
    r = k >= -1022 && k <= 960 ? r * grpo_power_of_two_(k) : ldexp(r, k);
    return w->negative ? -r : r;
}

GRPO_NOINLINE_ double grpo_sum_value_(const grpo_sum *s) {
    grpo_window_ w;
    grpo_window_open_(s, &w);
    return grpo_window_value_(&w);
}

/* the sum as out[0] + ... + out[n-1], each the rounded remainder after those before it */
GRPO_NOINLINE_ void grpo_sum_expand_(const grpo_sum *s, double *out, int n) {
    grpo_window_ w;
    grpo_window_open_(s, &w);
    for (int k = 0; k < n; k++) {
        out[k] = grpo_window_value_(&w);
        if (out[k] == 0 || !grpo_is_finite(out[k])) continue;
        grpo_limbs_add_(w.limb, w.negative ? out[k] : -out[k]);
        grpo_window_carry_(&w);
    }
}

GRPO_NOINLINE_ grpo_dd grpo_sum_dd_(const grpo_sum *s) {
    double out[2];
    grpo_sum_expand_(s, out, 2);
    return grpo_dd_pair_(out[0], grpo_is_finite(out[0]) ? out[1] : 0);
}

/* ---- layout and arrays --------------------------------------------------------------------------------------------------------------- */
/* the rule that x breaks, or none */
GRPO_COLD_ grpo_rule grpo_rule_of_(double x, grpo_domain_kind_ domain) {
    const grpo_domain *d = &grpo_domains_[domain];
    if (d->flags == 0 && x >= d->low && x <= d->high) return GRPO_NO_RULE;
    if (x != x) return GRPO_NAN;
    if (x == 0 && (d->flags & GRPO_OR_0)) return GRPO_NO_RULE;
    if (x == 0 && (d->flags & GRPO_EXCEPT_0)) return GRPO_ZERO;
    if (x < d->low || (x == d->low && (d->flags & GRPO_LOW_EXCLUDED))) return x < -DBL_MAX ? GRPO_INFINITE : d->below;
    if (x > d->high || (x == d->high && (d->flags & GRPO_HIGH_EXCLUDED))) return x > DBL_MAX ? GRPO_INFINITE : d->above;
    return (d->flags & GRPO_WHOLE) && x != floor(x) ? GRPO_NOT_WHOLE : GRPO_NO_RULE;
}

#define GRPO_MOST_SEQUENCES_ (INT64_C(1) << 32)        /* int32_t arrays read as int64_t exceed it */
static grpo_status grpo_check_group_begin_(const grpo_batch *b) {
    if (b->group_begin[0] < 0) return grpo_status_at_(GRPO_NEGATIVE, GRPO_AT_group_begin_, 0);
    for (int64_t g = 0; g < b->n_groups; g++)
        if (b->group_begin[g + 1] <= b->group_begin[g]) return grpo_status_at_(GRPO_NOT_INCREASING, GRPO_AT_group_begin_, g + 1);
    if (b->group_begin[b->n_groups] > GRPO_MOST_SEQUENCES_) return grpo_status_at_(GRPO_OUT_OF_RANGE, GRPO_AT_group_begin_, b->n_groups);
    return GRPO_OK;
}

/* 1 if additions are rounded to nearest, the compiler does not cancel terms in grpo_sum_rounding_, and fma rounds once */
static int grpo_is_ieee_(void) {
#ifndef GRPO_ALLOW_FAST_MATH
    volatile double a = 1, b = DBL_EPSILON / 4, c = 2 / DBL_EPSILON - 3;
    const double one = a, quarter = b, sum = one + quarter, x = c;     /* quarter: of an ulp; (2^53 - 3)^2 = (2^53 - 6) 2^53 + 9 */
    return sum == one && one + 3 * quarter == one + 4 * quarter && grpo_sum_rounding_(one, quarter, sum) == quarter
        && grpo_product_rounding_(x, x, x * x) == 9;
#else
    return 1;
#endif
}

static grpo_status grpo_check_layout_(const grpo_batch *b) {
    int64_t i, rest = GRPO_MAX_TOKENS_;
    if (!grpo_is_ieee_()) return GRPO_NOT_IEEE;
    if (!b) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_batch_);
    if (b->n_groups < 0) return GRPO_STATUS_(GRPO_NEGATIVE, GRPO_AT_n_groups_);
    if (b->n_groups == 0) return GRPO_OK;
    if (!b->group_begin) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_group_begin_);
    const grpo_status st = grpo_check_group_begin_(b);
    if (st) return st;
    if (!b->offset) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_offset_);
    if (!b->length) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_length_);
    for (i = b->group_begin[0]; i < b->group_begin[b->n_groups]; i++) {
        if (b->length[i] < 0) return grpo_status_at_(GRPO_NEGATIVE, GRPO_AT_length_, i);
        if (b->offset[i] < 0) return grpo_status_at_(GRPO_NEGATIVE, GRPO_AT_offset_, i);
        if (b->offset[i] > b->n_tokens) return grpo_status_between_(GRPO_PAST_END, GRPO_AT_offset_, GRPO_AT_n_tokens_, i);
        if (b->length[i] > b->n_tokens - b->offset[i]) return grpo_status_between_(GRPO_PAST_END, GRPO_AT_length_, GRPO_AT_n_tokens_, i);
        if (b->length[i] > rest) return grpo_status_at_(GRPO_TOO_LONG, GRPO_AT_length_, i);
        rest -= b->length[i];
    }
    return GRPO_OK;
}

static int grpo_in_domain_(double x, grpo_domain_kind_ domain) { return x >= grpo_domains_[domain].low && x <= grpo_domains_[domain].high; }

/* 1 if all of x[begin] to x[end - 1] are in the domain; compared in the element's type, with bounds beyond its range moved to its limits */
static int grpo_all_in_domain_(const grpo_real *x, int64_t begin, int64_t end, grpo_domain_kind_ domain) {
    const double most = sizeof(grpo_real) == sizeof(float) ? (double)FLT_MAX : DBL_MAX;
    const double above = grpo_domains_[domain].high, below = grpo_domains_[domain].low;
    const grpo_real low = (grpo_real)(below < -most && below > -HUGE_VAL ? -most : below), high = (grpo_real)(above < most ? above : most);
    grpo_real outside[GRPO_LANES_] = { 0 };
    const int64_t n = end - begin, whole = n - n % GRPO_LANES_;
    int64_t k;
    int rest = 1;
    for (k = 0; k < whole; k += GRPO_LANES_)
        for (int64_t j = 0; j < GRPO_LANES_; j++) {
            const grpo_real y = x[begin + k + j], a = y >= low ? 0 : 1, b = y <= high ? 0 : 1;
            outside[j] += a + b;
        }
    for (; k < n; k++) rest &= x[begin + k] >= low && x[begin + k] <= high;
    for (int64_t j = 1; j < GRPO_LANES_; j++) outside[0] += outside[j];
    return rest && outside[0] == 0;
}

/* the index of the first of them outside the domain, -1: none */
static int64_t grpo_first_outside_(const grpo_real *x, int64_t begin, int64_t end, grpo_domain_kind_ domain) {
    if (grpo_all_in_domain_(x, begin, end, domain)) return -1;
    while (grpo_in_domain_((double)x[begin], domain)) begin++;
    return begin;
}

/* the first unmasked token (with `where` set, if `where` is not NULL) whose x is outside the domain, -1: none */
static int64_t grpo_first_token_outside_(const grpo_batch *b, const grpo_real *x, const uint8_t *where, grpo_domain_kind_ domain) {
    int64_t found;
    for (int64_t i = b->group_begin[0]; i < b->group_begin[b->n_groups]; i++) {
        const int64_t begin = b->offset[i], end = begin + b->length[i];
        found = !b->mask && !where ? grpo_first_outside_(x, begin, end, domain) : -1;
        if (found >= 0) return found;
        for (int64_t t = begin; (b->mask || where) && t < end; t++)
            if (grpo_is_unmasked_(b, t) && (!where || where[t]) && !grpo_in_domain_((double)x[t], domain)) return t;
    }
    return -1;
}

/* what one element of an array belongs to; the elements of a FLAG array are not checked, a COLUMN array may be NULL */
enum { GRPO_OF_TOKEN_, GRPO_OF_STEP_, GRPO_OF_SEQUENCE_, GRPO_OF_COLUMNS_, GRPO_OF_COLUMN_, GRPO_OF_GROUP_, GRPO_OF_FLAG_ };
typedef struct { uint16_t what, offset; uint8_t of, domain; int32_t needs, finite; } grpo_array_;      /* offset: in grpo_batch */

static grpo_status grpo_check_array_(const grpo_batch *b, const grpo_array_ *a, const grpo_real *x, grpo_domain_kind_ domain) {
    const int64_t begin = b->group_begin[0], end = b->group_begin[b->n_groups];
    int64_t k = -1;
    switch (a->of) {
    case GRPO_OF_TOKEN_:    k = grpo_first_token_outside_(b, x, NULL, domain); break;
    case GRPO_OF_STEP_:     k = grpo_first_token_outside_(b, x, b->step_end, domain); break;
    case GRPO_OF_SEQUENCE_: k = grpo_first_outside_(x, begin, end, domain); break;
    case GRPO_OF_COLUMNS_:  k = grpo_first_outside_(x, begin * b->n_rewards, end * b->n_rewards, domain); break;
    case GRPO_OF_COLUMN_:   k = grpo_first_outside_(x, 0, b->n_rewards, domain); break;
    case GRPO_OF_GROUP_:    k = grpo_first_outside_(x, 0, b->n_groups, domain); break;
    case GRPO_OF_FLAG_:     break;
    }
    return k < 0 ? GRPO_OK : grpo_status_at_(grpo_rule_of_((double)x[k], domain), a->what, k);
}

static const grpo_array_ grpo_arrays_[] = {
#define GRPO_ARRAY_(x, of, domain, n, finite) { GRPO_AT_##x##_, offsetof(grpo_batch, x), GRPO_OF_##of##_, GRPO_##domain##_, n, finite },
    GRPO_ARRAYS_(GRPO_ARRAY_)
    { GRPO_AT_advantage_, 0, GRPO_OF_TOKEN_, GRPO_FINITE_, GRPO_NEED_ADVANTAGE_, 0 },
};
static const void *grpo_array_of_(const grpo_batch *b, const grpo_real *advantage, const grpo_array_ *a) {
    const void *array = advantage;
    if (a->what != GRPO_AT_advantage_) memcpy(&array, (const char *)b + a->offset, sizeof array);
    return array;
}

static grpo_status grpo_check_arrays_(const grpo_batch *b, const grpo_real *advantage, int needs, int reads) {
    const grpo_array_ *a, *end = grpo_arrays_ + sizeof grpo_arrays_ / sizeof *grpo_arrays_;
    if (b->n_groups == 0) return GRPO_OK;
    for (a = grpo_arrays_; a < end; a++)
        if ((needs & a->needs) && !grpo_array_of_(b, advantage, a) && a->of != GRPO_OF_COLUMN_) return GRPO_STATUS_(GRPO_NULL, a->what);
    if ((needs & GRPO_NEED_REWARDS_) && b->n_rewards < 1) return GRPO_STATUS_(GRPO_NOT_POSITIVE, GRPO_AT_n_rewards_);
    if ((needs & GRPO_NEED_REWARDS_) && b->n_rewards > GRPO_MAX_REWARDS) return GRPO_STATUS_(GRPO_TOO_MANY, GRPO_AT_n_rewards_);
    for (a = grpo_arrays_; a < end; a++) {
        const grpo_real *x = (needs | reads) & a->needs ? (const grpo_real *)grpo_array_of_(b, advantage, a) : NULL;
        const grpo_status st = x ? grpo_check_array_(b, a, x, needs & a->finite ? GRPO_FINITE_ : (grpo_domain_kind_)a->domain) : GRPO_OK;
        if (st) return st;
    }
    return GRPO_OK;
}

/* ---- what advantages depend on ------------------------------------------------------------------------------------------------------- */
static int grpo_has_shaping_(const grpo_advantage *a) {
    return a->entropy != GRPO_ENTROPY_NONE || a->teacher_share != 0 || a->teacher_coef != 0 || a->kl_centred_coef != 0
        || a->marked != GRPO_MARKED_NONE || a->clamp_low != 0 || a->clamp_high != 0;
}

/* the scales that are statistics of the batch's items, or of its prompts */
#define GRPO_OF_BATCH_ (GRPO_IS_(GRPO_SCALE_BATCH_STD) | GRPO_IS_(GRPO_SCALE_BATCH_CENTRED_STD) | GRPO_IS_(GRPO_SCALE_BETA))
static int grpo_scale_is_of_batch_(grpo_scale_kind k) {
    return k == GRPO_SCALE_TOKEN_WHITEN || GRPO_AMONG_(k, GRPO_OF_BATCH_);
}

static int grpo_reweight_is_of_batch_(grpo_reweight_kind k) {
    return k == GRPO_REWEIGHT_VALID_GROUPS || k == GRPO_REWEIGHT_NONZERO_REWARDS || k == GRPO_REWEIGHT_LENGTH_POWER;
}

static int grpo_needs_moments_(const grpo_advantage *a) {
    return a->baseline == GRPO_BASELINE_BATCH_MEAN || grpo_scale_is_of_batch_(a->scale) || grpo_reweight_is_of_batch_(a->reweight)
        || a->batch_norm != GRPO_BATCH_NORM_NONE || a->entropy == GRPO_ENTROPY_RELATIVE || a->kl_centred_coef != 0;
}

#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
GRPO_C_END_
#endif /* kernel */

#if defined(GRPO_IMPLEMENTATION) && !defined(GRPO_FURTHER_IMPLEMENTED_)
#define GRPO_FURTHER_IMPLEMENTED_

GRPO_C_BEGIN_
/* ---- checks: what choices require of numbers, and of each other ---------------------------------------------------------------------- */
GRPO_COLD_ int grpo_at_field_(size_t offset) {                             /* the field as statuses name it: its place from 1, 0: none */
    int n;
    const grpo_field *f = grpo_fields(&n);
    for (int i = 0; i < n; i++) if (f[i].offset == offset) return i + 1;
    return 0;
}

static grpo_status grpo_status_of_fields_(grpo_rule rule, size_t field, size_t other) {
    return grpo_status_between_(rule, grpo_at_field_(field), grpo_at_field_(other), -1);
}

/* a condition on one field: it has one of some choices, or as a number is 0, or is not.  Bits 0 to 47: a bit for each choice (of a number
 * bit 0 for 0, bit 1 for all else); bits 48 to 62: the field's offset; bit 63: it is a number */
typedef uint64_t grpo_condition_;
typedef char grpo_choices_fit_[GRPO_SURROGATE_NONE < 48 ? 1 : -1];

#define GRPO_WHERE_(path, choices) ((uint64_t)GRPO_FIELD_(path) << 48 | ((choices) & 0xffffffffffff))
#define GRPO_WHERE_0_(path) (UINT64_C(1) << 63 | GRPO_WHERE_(path, UINT64_C(1)))
#define GRPO_WHERE_NOT_0_(path) (UINT64_C(1) << 63 | GRPO_WHERE_(path, UINT64_C(2)))
#define GRPO_ALWAYS_ (~UINT64_C(0))
static int grpo_choice_at_(const grpo_objective *o, size_t field) {
    int choice;
    memcpy(&choice, (const char *)o + field, sizeof choice);
    return choice;
}

static double grpo_number_at_(const grpo_objective *o, size_t field) {
    double number;
    memcpy(&number, (const char *)o + field, sizeof number);
    return number;
}

static uint16_t grpo_field_of_(grpo_condition_ c) { return (uint16_t)(c >> 48 & 0x7fff); }

static int grpo_condition_holds_(const grpo_objective *o, grpo_condition_ c) {
    return (int)(c >> (c >> 63 ? grpo_number_at_(o, grpo_field_of_(c)) != 0 : grpo_choice_at_(o, grpo_field_of_(c))) & 1);
}

/* every field by itself */
GRPO_COLD_ grpo_status grpo_check_fields_(const grpo_objective *o) {
    int n;
    const grpo_field *f = grpo_fields(&n);
    for (int i = 0; i < n; i++) {
        const double v = grpo_objective_get(o, &f[i]);
        grpo_rule rule;
        if (f[i].n_choices) rule = v >= 0 && v < f[i].n_choices ? GRPO_NO_RULE : GRPO_NOT_A_CHOICE;
        else rule = grpo_rule_of_(v, (grpo_domain_kind_)f[i].domain);
        if (rule) return grpo_status_at_(rule, i + 1, -1);
    }
    return GRPO_OK;
}

static grpo_status grpo_check_domain_(const grpo_objective *o, size_t number, int domain) {
    const grpo_rule rule = grpo_rule_of_(grpo_number_at_(o, number), (grpo_domain_kind_)domain);
    return rule ? grpo_status_at_(rule, grpo_at_field_(number), -1) : GRPO_OK;
}

#define GRPO_PASS_K_ (~(GRPO_IS_(GRPO_TRANSFORM_NONE) | GRPO_IS_(GRPO_TRANSFORM_BEST_MINUS_SECOND)))
#define GRPO_QUANTILES_ (GRPO_IS_(GRPO_BASELINE_QUANTILE) | GRPO_IS_(GRPO_BASELINE_QUANTILE_LINEAR))
#define GRPO_CONSTANTS_ (GRPO_IS_(GRPO_AGGREGATION_SEQ_MEAN_CONSTANT) | GRPO_IS_(GRPO_AGGREGATION_CONSTANT))

/* where a choice reads a number, that must lie in a narrower domain than the field's own */
GRPO_COLD_ grpo_status grpo_check_reads_(const grpo_objective *o) {
    static const struct { grpo_condition_ where; uint16_t number, domain; } reads[] = {
#define GRPO_READ_(path, choices, number, domain) { GRPO_WHERE_(path, choices), (uint16_t)GRPO_FIELD_(number), GRPO_##domain##_ }
        GRPO_READ_(reward.length, GRPO_IS_(GRPO_LENGTH_COSINE), reward.length_max, POSITIVE),
        GRPO_READ_(reward.overlong, GRPO_ISNT_(GRPO_OVERLONG_NONE), reward.overlong_cache, POSITIVE),
        GRPO_READ_(advantage.step_group, GRPO_IS_(GRPO_STEP_GROUP_HISTORY), advantage.history_length, POSITIVE_WHOLE),
        GRPO_READ_(advantage.step_group, GRPO_IS_(GRPO_STEP_GROUP_HISTORY), advantage.history_power, POWER),
        GRPO_READ_(advantage.transform, GRPO_PASS_K_, advantage.pass_k, POSITIVE_WHOLE),
        GRPO_READ_(advantage.baseline, GRPO_QUANTILES_, advantage.quantile, PART),
        GRPO_READ_(advantage.baseline, GRPO_IS_(GRPO_BASELINE_LOG_MEAN_EXP), advantage.temperature, POSITIVE),
        GRPO_READ_(advantage.baseline, GRPO_IS_(GRPO_BASELINE_HDI_MEDIAN), advantage.hdi_mass, SHARE),
        GRPO_READ_(advantage.baseline, GRPO_IS_(GRPO_BASELINE_KALMAN), advantage.process_noise, MODERATE_FACTOR),
        GRPO_READ_(advantage.baseline, GRPO_IS_(GRPO_BASELINE_KALMAN), advantage.observation_noise, MODERATE_POSITIVE),
        GRPO_READ_(advantage.scale, GRPO_IS_(GRPO_SCALE_CONSTANT), advantage.scale_divisor, POSITIVE),
        GRPO_READ_(advantage.reweight, GRPO_IS_(GRPO_REWEIGHT_LENGTH_POWER), advantage.length_power, POWER),       /* T^-p must fit */
        GRPO_READ_(advantage.reweight, GRPO_IS_(GRPO_REWEIGHT_EXPONENTIAL), advantage.reweight_temperature, EXCEPT_0),
        GRPO_READ_(advantage.reweight, GRPO_IS_(GRPO_REWEIGHT_FOCAL), advantage.focal_gamma, FACTOR),
        GRPO_READ_(advantage.credit, GRPO_IS_(GRPO_CREDIT_ENTROPY_SHARE), advantage.entropy_share_eps, POSITIVE),
        GRPO_READ_(advantage.entropy, GRPO_IS_(GRPO_ENTROPY_BONUS), advantage.entropy_kappa, POSITIVE),
        GRPO_READ_(advantage.entropy, GRPO_IS_(GRPO_ENTROPY_RESPONSE), advantage.entropy_max, FACTOR),
        GRPO_READ_(ratio.level, GRPO_IS_(GRPO_LEVEL_SEQUENCE_POWER_MEAN), ratio.power, POSITIVE_POWER),
        GRPO_READ_(weight.rollout_is, GRPO_ISNT_(GRPO_ROLLOUT_IS_NONE), weight.rollout_is_low, FACTOR),
        GRPO_READ_(weight.rollout_is, GRPO_ISNT_(GRPO_ROLLOUT_IS_NONE), weight.rollout_clamp, BOUND),
        GRPO_READ_(weight.rollout_rs, GRPO_ISNT_(GRPO_ROLLOUT_RS_NONE), weight.rollout_clamp, BOUND),
        { GRPO_WHERE_NOT_0_(weight.rollout_veto), (uint16_t)GRPO_FIELD_(weight.rollout_clamp), GRPO_BOUND_ },
        GRPO_READ_(weight.policy_is, GRPO_ISNT_(GRPO_POLICY_IS_NONE), weight.policy_is_low, FACTOR),
        GRPO_READ_(weight.policy_is, GRPO_ISNT_(GRPO_POLICY_IS_NONE), weight.policy_is_high, POSITIVE_BOUND),
        GRPO_READ_(weight.rollout_rs, GRPO_IS_(GRPO_ROLLOUT_RS_RATIO), weight.rollout_rs_low, BOUND),
        GRPO_READ_(weight.fipo, GRPO_IS_(GRPO_FIPO_DECAYED), weight.fipo_half_life, POSITIVE),
        GRPO_READ_(weight.fipo, GRPO_IS_(GRPO_FIPO_DECAYED), weight.fipo_ratio_max, BOUND),
        GRPO_READ_(weight.fipo, GRPO_IS_(GRPO_FIPO_DECAYED), weight.fipo_low, FACTOR),
        GRPO_READ_(weight.fipo, GRPO_IS_(GRPO_FIPO_DECAYED), weight.fipo_safe_ratio, BOUND),
        GRPO_READ_(weight.fipo, GRPO_IS_(GRPO_FIPO_DECAYED), weight.fipo_safe_low, FACTOR),
        GRPO_READ_(aggregation.kind, GRPO_CONSTANTS_, aggregation.constant, MODERATE_POSITIVE),
    };
    for (size_t k = 0; k < sizeof reads / sizeof *reads; k++) {
        const grpo_status st = grpo_condition_holds_(o, reads[k].where) ? grpo_check_domain_(o, reads[k].number, reads[k].domain) : GRPO_OK;
        if (st) return st;
    }
    return GRPO_OK;
}

/* what a surrogate requires of a number that it reads: `domain`, and, unless `most` is 0, number <= most.  Both are offsets of fields */
typedef struct { uint16_t number, most, domain; } grpo_read_;

/* a list for each surrogate, in the order of their constants; GRPO_N_DOMAINS_ ends each */
static const grpo_read_ grpo_surrogate_reads_[] = {
#define GRPO_READS_FIELD_(field) (uint16_t)GRPO_FIELD_(surrogate.field)
#define GRPO_READS_POSITIVE_(field) { GRPO_READS_FIELD_(field), 0, GRPO_POSITIVE_ },
#define GRPO_READS_POSITIVE_BOUND_(field) { GRPO_READS_FIELD_(field), 0, GRPO_POSITIVE_BOUND_ },
#define GRPO_READS_ABOVE_ONE_(field) { GRPO_READS_FIELD_(field), 0, GRPO_ABOVE_ONE_ },
#define GRPO_READS_RANGE_(low, high) \
    { GRPO_READS_FIELD_(low), 0, GRPO_FACTOR_ }, { GRPO_READS_FIELD_(low), GRPO_READS_FIELD_(high), GRPO_ANY_ },
#define GRPO_READS_NOTHING_
#define GRPO_READS_(id, name, of, needs, reads, term, text) reads { 0, 0, GRPO_N_DOMAINS_ },
    GRPO_SURROGATE_CHOICES(GRPO_READS_)
};
#undef GRPO_READS_FIELD_      /* undefined, they are one argument each in other uses of that table */
#undef GRPO_READS_POSITIVE_
#undef GRPO_READS_POSITIVE_BOUND_
#undef GRPO_READS_ABOVE_ONE_
#undef GRPO_READS_RANGE_
#undef GRPO_READS_NOTHING_

GRPO_COLD_ grpo_status grpo_check_surrogate_reads_(const grpo_objective *o) {
    const grpo_read_ *r = grpo_surrogate_reads_;
    int before = (int)o->surrogate.kind;
    for (; before > 0; r++) before -= r->domain == GRPO_N_DOMAINS_;
    for (; r->domain != GRPO_N_DOMAINS_; r++) {
        const grpo_status st = grpo_check_domain_(o, r->number, r->domain);
        if (st) return st;
        if (r->most && grpo_number_at_(o, r->number) > grpo_number_at_(o, r->most))
            return grpo_status_of_fields_(GRPO_CROSSED, r->number, r->most);
    }
    return GRPO_OK;
}

static int grpo_breaks_order_(grpo_rule rule, double x, double y) {
    return rule == GRPO_CROSSED ? x > y : rule == GRPO_NOT_BELOW ? !(x < y) : !(x > 1 + y);
}

/* where a choice reads two numbers, their order */
GRPO_COLD_ grpo_status grpo_check_order_(const grpo_objective *o) {
    static const struct { grpo_condition_ where; uint16_t first, second, rule; } orders[] = {
#define GRPO_ORDER_(path, choices, first, rule, second) \
        { GRPO_WHERE_(path, choices), (uint16_t)GRPO_FIELD_(first), (uint16_t)GRPO_FIELD_(second), rule }
        GRPO_ORDER_(reward.overlong, GRPO_ISNT_(GRPO_OVERLONG_NONE), reward.overlong_cache, GRPO_CROSSED, reward.overlong_max),
        GRPO_ORDER_(reward.map, GRPO_IS_(GRPO_MAP_AFFINE), reward.map_low, GRPO_CROSSED, reward.map_high),
        GRPO_ORDER_(advantage.reweight, GRPO_IS_(GRPO_REWEIGHT_FOCAL), advantage.focal_reward_low,
                    GRPO_NOT_BELOW, advantage.focal_reward_high),
        GRPO_ORDER_(advantage.credit, GRPO_ALWAYS_, advantage.clamp_low, GRPO_CROSSED, advantage.clamp_high),
        GRPO_ORDER_(ratio.level, GRPO_ALWAYS_, ratio.clamp_low, GRPO_CROSSED, ratio.clamp_high),
        GRPO_ORDER_(ratio.level, GRPO_ALWAYS_, ratio.level_clamp_low, GRPO_CROSSED, ratio.level_clamp_high),
        GRPO_ORDER_(weight.rollout_is, GRPO_ISNT_(GRPO_ROLLOUT_IS_NONE), weight.rollout_is_low, GRPO_CROSSED, weight.rollout_is_high),
        GRPO_ORDER_(weight.policy_is, GRPO_ISNT_(GRPO_POLICY_IS_NONE), weight.policy_is_low, GRPO_CROSSED, weight.policy_is_high),
        GRPO_ORDER_(weight.rollout_rs, GRPO_ISNT_(GRPO_ROLLOUT_RS_NONE), weight.rollout_rs_low, GRPO_CROSSED, weight.rollout_rs_high),
        GRPO_ORDER_(weight.fipo, GRPO_IS_(GRPO_FIPO_DECAYED), weight.fipo_low, GRPO_CROSSED, weight.fipo_high),
        GRPO_ORDER_(weight.fipo, GRPO_IS_(GRPO_FIPO_DECAYED), weight.fipo_safe_low, GRPO_CROSSED, weight.fipo_safe_high),
    };
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        const double x = grpo_number_at_(o, orders[k].first), y = grpo_number_at_(o, orders[k].second);
        if (grpo_condition_holds_(o, orders[k].where) && grpo_breaks_order_((grpo_rule)orders[k].rule, x, y))
            return grpo_status_of_fields_((grpo_rule)orders[k].rule, orders[k].first, orders[k].second);
    }
    return GRPO_OK;
}

#define GRPO_TAILS_ (GRPO_IS_(GRPO_CREDIT_RETURN) | GRPO_IS_(GRPO_CREDIT_GAE) | GRPO_IS_(GRPO_CREDIT_STEP_GAE))
/* rewards each: no axis 1, and only what acts on one column at a time */
#define GRPO_COLUMN_SCALES_ (GRPO_IS_(GRPO_SCALE_NONE) | GRPO_IS_(GRPO_SCALE_GROUP_STD) | GRPO_IS_(GRPO_SCALE_GROUP_MEAN) \
                              | GRPO_IS_(GRPO_SCALE_CONSTANT) | GRPO_IS_(GRPO_SCALE_LEAVE_ONE_OUT_STD))
/* pools of a prompt's items have only baselines and scales made of their own mean and deviation */
#define GRPO_POOL_MEANS_ (GRPO_IS_(GRPO_BASELINE_NONE) | GRPO_IS_(GRPO_BASELINE_GROUP_MEAN) | GRPO_IS_(GRPO_BASELINE_LEAVE_ONE_OUT))
#define GRPO_POOL_SCALES_ (GRPO_IS_(GRPO_SCALE_NONE) | GRPO_IS_(GRPO_SCALE_GROUP_STD) | GRPO_IS_(GRPO_SCALE_CONSTANT))
#define GRPO_MEANS_ (GRPO_IS_(GRPO_LEVEL_SEQUENCE_MEAN) | GRPO_IS_(GRPO_LEVEL_SEQUENCE_SUM))

/* the levels at which all tokens of a response share one y */
#define GRPO_OF_RESPONSE_BIT_(id, name, over, how, text) | (uint64_t)(GRPO_OVER_##over == GRPO_OVER_SEQUENCE) << id
#define GRPO_RESPONSES_ (0 GRPO_LEVEL_CHOICES(GRPO_OF_RESPONSE_BIT_))
/* where the first condition holds, the second must hold */
typedef struct { grpo_condition_ first, second; } grpo_pair_of_choices_;

static const grpo_pair_of_choices_ grpo_combinations_[] = {
#define GRPO_WITH_(path, is, other, among) { GRPO_WHERE_(path, is), GRPO_WHERE_(other, among) }
#define GRPO_WITH_EACH_(path, among) GRPO_WITH_(advantage.rewards, GRPO_IS_(GRPO_REWARDS_EACH), path, among)
#define GRPO_WITH_SHARE_(path, among) GRPO_WITH_(advantage.credit, GRPO_IS_(GRPO_CREDIT_ENTROPY_SHARE), path, among)
#define GRPO_WITH_EPISODE_(path, among) GRPO_WITH_(advantage.credit, GRPO_IS_(GRPO_CREDIT_EPISODE_STEP), path, among)
#define GRPO_WITH_SAMPLES_(field, among) GRPO_WITH_(advantage.samples, GRPO_IS_(GRPO_SAMPLES_STEPS), advantage.field, among)
#define GRPO_WITH_POOLS_(path, is) \
    GRPO_WITH_(path, is, advantage.baseline, GRPO_POOL_MEANS_), GRPO_WITH_(path, is, advantage.scale, GRPO_POOL_SCALES_), \
    GRPO_WITH_(path, is, advantage.transform, GRPO_IS_(GRPO_TRANSFORM_NONE)), \
    GRPO_WITH_(path, is, advantage.reweight, GRPO_IS_(GRPO_REWEIGHT_NONE)), \
    GRPO_WITH_(path, is, advantage.batch_norm, GRPO_IS_(GRPO_BATCH_NORM_NONE))
    GRPO_WITH_EACH_(reward.truncated, GRPO_IS_(GRPO_REWARD_TRUNCATED_KEEP)), GRPO_WITH_EACH_(reward.length, GRPO_IS_(GRPO_LENGTH_NONE)),
    GRPO_WITH_EACH_(advantage.entropy, GRPO_ISNT_(GRPO_ENTROPY_ZERO_VARIANCE)),
    GRPO_WITH_EACH_(reward.overlong, GRPO_IS_(GRPO_OVERLONG_NONE)), GRPO_WITH_EACH_(reward.map, GRPO_IS_(GRPO_MAP_NONE)),
    GRPO_WITH_EACH_(reward.kl, GRPO_IS_(GRPO_KL_NONE)),
    GRPO_WITH_EACH_(advantage.credit, GRPO_IS_(GRPO_CREDIT_OUTCOME)), GRPO_WITH_EACH_(advantage.transform, GRPO_IS_(GRPO_TRANSFORM_NONE)),
    GRPO_WITH_EACH_(advantage.reweight, GRPO_IS_(GRPO_REWEIGHT_NONE)), GRPO_WITH_EACH_(advantage.scale, GRPO_COLUMN_SCALES_),
    GRPO_WITH_(advantage.scale, GRPO_IS_(GRPO_SCALE_KALMAN_STD), advantage.baseline, GRPO_IS_(GRPO_BASELINE_KALMAN)),
    GRPO_WITH_(advantage.scale, GRPO_IS_(GRPO_SCALE_BETA), advantage.transform, GRPO_IS_(GRPO_TRANSFORM_NONE)),
    GRPO_WITH_(advantage.reweight, GRPO_IS_(GRPO_REWEIGHT_LENGTH_POWER), advantage.credit, ~GRPO_STEPS_),
    GRPO_WITH_POOLS_(advantage.step_group, GRPO_ISNT_(GRPO_STEP_GROUP_PROMPT)),
    /* credit episode_step: the advantage of the whole response has only the baseline and scale of its prompt */
    GRPO_WITH_EPISODE_(advantage.scale, ~GRPO_OF_BATCH_), GRPO_WITH_EPISODE_(advantage.baseline, GRPO_ISNT_(GRPO_BASELINE_BATCH_MEAN)),
    GRPO_WITH_EPISODE_(advantage.transform, GRPO_IS_(GRPO_TRANSFORM_NONE)),
    GRPO_WITH_EPISODE_(advantage.reweight, GRPO_IS_(GRPO_REWEIGHT_NONE)),
    GRPO_WITH_EPISODE_(advantage.batch_norm, GRPO_IS_(GRPO_BATCH_NORM_NONE)),
    /* credit entropy_share: the rewards of tokens are made of R itself */
    GRPO_WITH_SHARE_(advantage.baseline, GRPO_IS_(GRPO_BASELINE_NONE)),
    { GRPO_WHERE_(advantage.credit, GRPO_IS_(GRPO_CREDIT_ENTROPY_SHARE)), GRPO_WHERE_0_(advantage.baseline_shift) },
    GRPO_WITH_SHARE_(advantage.scale, GRPO_IS_(GRPO_SCALE_NONE)), GRPO_WITH_SHARE_(advantage.transform, GRPO_IS_(GRPO_TRANSFORM_NONE)),
    GRPO_WITH_SHARE_(advantage.reweight, GRPO_IS_(GRPO_REWEIGHT_NONE)),
    GRPO_WITH_SHARE_(advantage.batch_norm, GRPO_IS_(GRPO_BATCH_NORM_NONE)),
    /* settings that only some credits read */
    GRPO_WITH_(advantage.step_discount, GRPO_ISNT_(GRPO_STEP_DISCOUNT_TOKENS), advantage.credit, GRPO_IS_(GRPO_CREDIT_STEP)),
    { GRPO_WHERE_NOT_0_(advantage.truncated_tail), GRPO_WHERE_(advantage.credit, GRPO_TAILS_) },
    GRPO_WITH_(advantage.credit, GRPO_IS_(GRPO_CREDIT_STEP_GAE), advantage.bootstrap, GRPO_IS_(GRPO_BOOTSTRAP_ZERO)),
    GRPO_WITH_POOLS_(advantage.credit, GRPO_IS_(GRPO_CREDIT_PREFIX_TREE)),
    GRPO_WITH_(advantage.excluded, GRPO_ISNT_(GRPO_EXCLUDED_NONE), advantage.credit, GRPO_IS_(GRPO_CREDIT_OUTCOME)),
    GRPO_WITH_(advantage.excluded, GRPO_ISNT_(GRPO_EXCLUDED_NONE), advantage.rewards, GRPO_IS_(GRPO_REWARDS_ONE)),
    GRPO_WITH_POOLS_(advantage.excluded, GRPO_ISNT_(GRPO_EXCLUDED_NONE)),
    GRPO_WITH_SAMPLES_(credit, GRPO_IS_(GRPO_CREDIT_OUTCOME) | GRPO_IS_(GRPO_CREDIT_EPISODE_STEP)),
    GRPO_WITH_SAMPLES_(baseline, GRPO_ISNT_(GRPO_BASELINE_LEAVE_ONE_OUT)),
    GRPO_WITH_POOLS_(advantage.samples, GRPO_IS_(GRPO_SAMPLES_STEPS)), GRPO_WITH_SAMPLES_(rewards, GRPO_IS_(GRPO_REWARDS_ONE)),
    GRPO_WITH_SAMPLES_(excluded, GRPO_IS_(GRPO_EXCLUDED_NONE)),
    GRPO_WITH_(advantage.batch_norm, GRPO_ISNT_(GRPO_BATCH_NORM_NONE), advantage.baseline, GRPO_ISNT_(GRPO_BASELINE_BATCH_MEAN)),
    GRPO_WITH_(advantage.batch_norm, GRPO_ISNT_(GRPO_BATCH_NORM_NONE),
               advantage.scale, ~(GRPO_OF_BATCH_ | GRPO_IS_(GRPO_SCALE_TOKEN_WHITEN))),
    GRPO_WITH_(advantage.batch_norm, GRPO_ISNT_(GRPO_BATCH_NORM_NONE), advantage.reweight, GRPO_IS_(GRPO_REWEIGHT_NONE)),
    GRPO_WITH_(advantage.entropy, GRPO_IS_(GRPO_ENTROPY_ZERO_VARIANCE), advantage.credit, GRPO_IS_(GRPO_CREDIT_OUTCOME)),
    GRPO_WITH_(ratio.interpolate, GRPO_ISNT_(GRPO_INTERPOLATE_NONE), ratio.level, GRPO_ISNT_(GRPO_LEVEL_TOKEN)),
    /* tilted_cross_entropy: both softmaxes are of sums or means of log-probabilities, not of log-ratios */
    GRPO_WITH_(surrogate.kind, GRPO_IS_(GRPO_SURROGATE_TILTED_CROSS_ENTROPY), ratio.behaviour, GRPO_IS_(GRPO_BEHAVIOUR_NONE)),
    GRPO_WITH_(surrogate.kind, GRPO_IS_(GRPO_SURROGATE_TILTED_CROSS_ENTROPY), ratio.level, GRPO_MEANS_),
    GRPO_WITH_(surrogate.kind, GRPO_IS_(GRPO_SURROGATE_QUADRATIC_PROBABILITY), ratio.level, GRPO_IS_(GRPO_LEVEL_TOKEN)),
    GRPO_WITH_(surrogate.bounds, GRPO_ISNT_(GRPO_BOUNDS_FIXED), surrogate.kind, GRPO_CLIPS_),
    GRPO_WITH_(surrogate.bounds, GRPO_IS_(GRPO_BOUNDS_PROBABILITY) | GRPO_IS_(GRPO_BOUNDS_EXTERNAL),
               ratio.level, GRPO_IS_(GRPO_LEVEL_TOKEN)),
    GRPO_WITH_(surrogate.bounds, GRPO_IS_(GRPO_BOUNDS_POSITION), surrogate.kind, GRPO_CLIPS_ & GRPO_ISNT_(GRPO_SURROGATE_GPPO)),
    GRPO_WITH_(penalty.kl, GRPO_IS_(GRPO_KL_EXTERNAL), penalty.kl_reference, GRPO_IS_(GRPO_KL_REFERENCE_REF)),
    GRPO_WITH_(penalty.kl, GRPO_IS_(GRPO_KL_EXTERNAL), penalty.kl_gradient, GRPO_IS_(GRPO_KL_GRADIENT_EXACT)),
    GRPO_WITH_(penalty.kl, GRPO_IS_(GRPO_KL_EXTERNAL), penalty.kl_importance_weight, GRPO_IS_(GRPO_KL_IMPORTANCE_WEIGHT_NONE)),
    GRPO_WITH_(penalty.kl, GRPO_IS_(GRPO_KL_EXTERNAL), penalty.kl_clamp_on, GRPO_IS_(GRPO_KL_CLAMP_ON_ESTIMATE)),
    GRPO_WITH_(surrogate.kind, GRPO_GROUPS_, ratio.interpolate, GRPO_IS_(GRPO_INTERPOLATE_NONE)),
    GRPO_WITH_(surrogate.kind, GRPO_GROUPS_, ratio.level, GRPO_RESPONSES_),
    GRPO_WITH_(penalty.nll_gate, GRPO_ISNT_(GRPO_NLL_GATE_NONE), penalty.nll_form, GRPO_IS_(GRPO_NLL_FORM_DISPLACEMENT)),
    /* kl external: a divergence that is given is not clamped */
    { GRPO_WHERE_(penalty.kl, GRPO_IS_(GRPO_KL_EXTERNAL)), GRPO_WHERE_0_(penalty.kl_importance_weight_max) },
    { GRPO_WHERE_(penalty.kl, GRPO_IS_(GRPO_KL_EXTERNAL)), GRPO_WHERE_0_(penalty.kl_clamp_log) },
    { GRPO_WHERE_(penalty.kl, GRPO_IS_(GRPO_KL_EXTERNAL)), GRPO_WHERE_0_(penalty.kl_clamp_value) },
};

static grpo_status grpo_clash_(size_t field, size_t other) { return grpo_status_of_fields_(GRPO_COMBINATION, field, other); }

/* choices that exclude each other */
GRPO_COLD_ grpo_status grpo_check_combinations_(const grpo_objective *o) {
    const grpo_advantage *a = &o->advantage;
    const grpo_reweight_kind g = a->reweight;
    for (size_t k = 0; k < sizeof grpo_combinations_ / sizeof *grpo_combinations_; k++) {
        const grpo_pair_of_choices_ *c = &grpo_combinations_[k];
        if (grpo_condition_holds_(o, c->first) && !grpo_condition_holds_(o, c->second))
            return grpo_clash_(grpo_field_of_(c->first), grpo_field_of_(c->second));
    }
    /* batch_mean and token_whiten both subtract a mean over the batch: allowed where the second makes the first irrelevant */
    if (a->baseline != GRPO_BASELINE_BATCH_MEAN || a->scale != GRPO_SCALE_TOKEN_WHITEN) return GRPO_OK;
    if (a->credit != GRPO_CREDIT_OUTCOME) return grpo_clash_(GRPO_FIELD_(advantage.baseline), GRPO_FIELD_(advantage.scale));
    if (g == GRPO_REWEIGHT_DIFFICULTY || g == GRPO_REWEIGHT_LENGTH_POWER || g == GRPO_REWEIGHT_FOCAL)
        return grpo_clash_(GRPO_FIELD_(advantage.baseline), GRPO_FIELD_(advantage.reweight));
    return GRPO_OK;
}

/* clip_dual must exceed the upper bound */
GRPO_COLD_ grpo_status grpo_check_dual_numbers_(const grpo_surrogate *s) {
    const int position = s->bounds == GRPO_BOUNDS_POSITION, clips = s->kind == GRPO_SURROGATE_DUAL_CLIP;
    const int reads = (clips && !position) || s->kind == GRPO_SURROGATE_UNBOUNDED_POSITIVE
        || (s->kind == GRPO_SURROGATE_GPPO && s->clip_dual != 0);
    if (clips && position && s->log_high > s->log_clip_dual)
        return grpo_status_of_fields_(GRPO_CROSSED, GRPO_FIELD_(surrogate.log_high), GRPO_FIELD_(surrogate.log_clip_dual));
    if (reads && !(s->clip_dual > 1 + s->eps_high))
        return grpo_status_of_fields_(GRPO_NOT_BEYOND, GRPO_FIELD_(surrogate.clip_dual), GRPO_FIELD_(surrogate.eps_high));
    return GRPO_OK;
}

grpo_status grpo_objective_check(const grpo_objective *o) {
    grpo_status st = o ? grpo_check_fields_(o) : GRPO_STATUS_(GRPO_NULL, GRPO_AT_objective_);
    if (!st) st = grpo_check_reads_(o);
    if (!st) st = grpo_check_surrogate_reads_(o);
    if (!st) st = grpo_check_order_(o);
    if (!st) st = grpo_check_combinations_(o);
    return st ? st : grpo_check_dual_numbers_(&o->surrogate);
}

GRPO_COLD_ grpo_status grpo_check_dual_(const grpo_surrogate *s, const grpo_batch *b) {
    if (s->kind == GRPO_SURROGATE_PPO_CLIP || (s->kind == GRPO_SURROGATE_GPPO && s->clip_dual == 0) || b->n_groups == 0) return GRPO_OK;
    for (int64_t i = b->group_begin[0]; i < b->group_begin[b->n_groups]; i++)
        for (int64_t t = b->offset[i]; t < b->offset[i] + b->length[i]; t++)
            if (grpo_is_unmasked_(b, t) && !(s->clip_dual > 1 + (double)b->eps_high[t]))
                return grpo_status_between_(GRPO_NOT_BEYOND, grpo_at_field_(GRPO_FIELD_(surrogate.clip_dual)), GRPO_AT_eps_high_, t);
    return GRPO_OK;
}

/* ---- sums over blocks: defined in grpo_blocks.h, or below with GRPO_NO_BLOCKS ------------------------------------------------------- */
/* adds factor times each number of a block; factor: plus or minus a power of two */
static void grpo_sum_add_block_(grpo_sum *s, double factor, const double *x);
/* 1 if a number of the block is above `most` in magnitude, or is NaN */
static int grpo_block_exceeds_(const double *x, double most);
/* sum += clip(x - y, least, most) over the unmasked tokens from t to end, in blocks; y NULL: 0.  Returns the number of those tokens; or
 * -1, with sum unchanged, where |x - y| may exceed `reach` or is not finite */
static int64_t grpo_sum_add_within_(const grpo_batch *batch, int64_t t, int64_t end, const grpo_real *x, const grpo_real *y, double reach,
                                    double least, double most, grpo_sum *sum);

/* ---- axis 6: statistics pooled over spans, rejection ------------------------------------------------------------------------------ */
/* the segment of s that contains token t; without batch.segment_end the whole response */
static grpo_span_ grpo_segment_at_(const grpo_batch *b, const grpo_sequence_ *s, int64_t t) {
    grpo_span_ x = { t, t + 1 };
    while (x.begin > s->begin && !(b->segment_end && b->segment_end[x.begin - 1])) x.begin--;
    while (x.end < s->end && !(b->segment_end && b->segment_end[x.end - 1])) x.end++;
    return x;
}

static grpo_dd grpo_rollout_log_ratio_(const grpo_objective *o, const grpo_batch *b, int64_t t, int *passes) {
    double c = o->weight.rollout_clamp;
    return grpo_clamp(grpo_two_diff((double)b->logp_old[t], (double)b->logp_rollout[t]), -c, c, passes);
}

static grpo_rollout_is_weight grpo_token_rollout_is_(const grpo_objective *o, const grpo_batch *b, int64_t t, int weigh) {
    const grpo_weight *w = &o->weight;
    const grpo_rollout_is_weight inside = { 1, 1 };
    int passes;
    const grpo_dd q = grpo_rollout_log_ratio_(o, b, t, &passes);
    return !weigh && grpo_exp_is_within_(q.hi, w->rollout_is_low, w->rollout_is_high) ? inside : grpo_rollout_is(w, grpo_ratio_exp(q));
}

/* the statistic of one token; *passes: 1 if rollout_clamp leaves q as it is */
static grpo_dd grpo_statistic_(const grpo_objective *o, const grpo_batch *b, int64_t t, grpo_rollout_rs_kind kind, int *passes) {
    return grpo_rollout_rs_statistic(kind, grpo_rollout_log_ratio_(o, b, t, passes), (double)b->logp_old[t], (double)b->logp_rollout[t]);
}

/* sum, maximum and number of the statistics of a span's unmasked tokens */
typedef struct { grpo_sum sum; grpo_dd max; int64_t count; } grpo_pooling_;

static void grpo_pool_over_(const grpo_objective *o, const grpo_batch *b, grpo_span_ span, grpo_rollout_rs_kind kind, grpo_pooling_ *v) {
    grpo_dd x;
    int passes;
    memset(v, 0, sizeof *v);
    v->max.hi = -HUGE_VAL;
    for (int64_t t = span.begin; t < span.end; t++) {
        if (!grpo_is_unmasked_(b, t)) continue;
        x = grpo_statistic_(o, b, t, kind, &passes);
        if (grpo_dd_less(v->max, x)) v->max = x;
        if (kind == GRPO_ROLLOUT_RS_RATIO && passes) grpo_sum_add_diff_(&v->sum, (double)b->logp_old[t], (double)b->logp_rollout[t]);
        else grpo_sum_add_dd_(&v->sum, x);
        v->count++;
    }
}

/* a sum of n numbers, or with GRPO_HOW_MEAN their mean */
static grpo_dd grpo_sum_or_mean_(const grpo_sum *sum, grpo_how how, int64_t n) {
    const grpo_dd x = grpo_sum_dd_(sum);
    return how == GRPO_HOW_MEAN && n ? grpo_dd_div(x, (double)n) : x;
}

GRPO_NOINLINE_ grpo_dd grpo_pooled_(const grpo_objective *o, const grpo_batch *b, grpo_span_ span, grpo_rollout_rs_kind kind,
                                    grpo_how how) {
    grpo_pooling_ v;
    grpo_pool_over_(o, b, span, kind, &v);
    return how == GRPO_HOW_MAX ? v.max : grpo_sum_or_mean_(&v.sum, how, v.count);
}

/* the same of a response; sums and means of log-ratios are taken in blocks */
static grpo_dd grpo_response_pooled_(const grpo_objective *o, const grpo_batch *b, grpo_span_ span, grpo_rollout_rs_kind kind,
                                     grpo_how how) {
    const double reach = o->weight.rollout_clamp != 0 ? o->weight.rollout_clamp : DBL_MAX;
    int64_t count = -1;
    grpo_sum sum = GRPO_NO_SUM_;
    if (kind == GRPO_ROLLOUT_RS_RATIO && how != GRPO_HOW_MAX)
        count = grpo_sum_add_within_(b, span.begin, span.end, b->logp_old, b->logp_rollout, reach, -HUGE_VAL, HUGE_VAL, &sum);
    return count < 0 ? grpo_pooled_(o, b, span, kind, how) : grpo_sum_or_mean_(&sum, how, count);
}

static grpo_rollout_is_weight grpo_response_rollout_is_(const grpo_objective *o, const grpo_batch *b, grpo_span_ response) {
    const grpo_how how = grpo_rollout_is_pool_(o->weight.rollout_is_level).how;
    return grpo_rollout_is(&o->weight, grpo_ratio_exp(grpo_response_pooled_(o, b, response, GRPO_ROLLOUT_RS_RATIO, how)));
}

/* 1 if at some token the ratio of old to rollout policy is below rollout_veto */
static int grpo_vetoed_(const grpo_objective *o, const grpo_batch *b, grpo_span_ response) {
    const double veto = o->weight.rollout_veto, least = veto != 0 ? log(veto) : -HUGE_VAL;
    int passes;
    for (int64_t t = response.begin; veto != 0 && t < response.end; t++)
        if (grpo_is_unmasked_(b, t) && grpo_rollout_log_ratio_(o, b, t, &passes).hi < least) return 1;
    return 0;
}

static int grpo_response_rejected_(const grpo_objective *o, const grpo_batch *b, grpo_span_ response) {
    const grpo_weight *w = &o->weight;
    const grpo_how how = grpo_rollout_rs_pool_(w->rollout_rs_level).how;
    return (grpo_rollout_rs_over_(w, GRPO_OVER_SEQUENCE)
            && !grpo_rollout_rs_accepts(w, grpo_response_pooled_(o, b, response, w->rollout_rs, how))) || grpo_vetoed_(o, b, response);
}

GRPO_COLD_ grpo_segment_ grpo_weight_segment_(const grpo_objective *o, const grpo_batch *b, const grpo_sequence_ *s, int64_t t) {
    const grpo_weight *w = &o->weight;
    const grpo_how is_how = grpo_rollout_is_pool_(w->rollout_is_level).how, rs_how = grpo_rollout_rs_pool_(w->rollout_rs_level).how;
    grpo_segment_ x;
    x.span = grpo_segment_at_(b, s, t);
    x.rollout_is = s->rollout_is;
    if (grpo_rollout_is_over_(w, GRPO_OVER_SEGMENT))
        x.rollout_is = grpo_rollout_is(w, grpo_ratio_exp(grpo_pooled_(o, b, x.span, GRPO_ROLLOUT_RS_RATIO, is_how)));
    x.rejected = grpo_rollout_rs_over_(w, GRPO_OVER_SEGMENT)
        && !grpo_rollout_rs_accepts(w, grpo_pooled_(o, b, x.span, w->rollout_rs, rs_how));
    return x;
}

/* 1 if rollout_is mask or reject rejects a weight v outside its bounds */
static int grpo_weight_rejects_(const grpo_weight *w, grpo_rollout_is_weight v) {
    return !v.inside && (w->rollout_is == GRPO_ROLLOUT_IS_MASK || w->rollout_is == GRPO_ROLLOUT_IS_REJECT);
}
/* 1 if a cheap bound proves that the token's k3 is accepted: it is at most q^2/2/(1 - |q|), for |q| < 1 */
static int grpo_k3_is_within_(const grpo_objective *o, const grpo_batch *b, int64_t t) {
    const grpo_weight *w = &o->weight;
    const double q = fabs((double)b->logp_old[t] - (double)b->logp_rollout[t]);
    const int is_k3 = w->rollout_rs == GRPO_ROLLOUT_RS_K3 || w->rollout_rs == GRPO_ROLLOUT_RS_K3_REVERSE;
    return is_k3 && w->rollout_rs_low <= 0 && q < 1 && 0.5 * q * q <= w->rollout_rs_high * (1 - 1e-9) * (1 - q);
}

/* 1 if the token's own weight v or its own rollout_rs statistic is outside its bounds */
static int grpo_token_rejected_(const grpo_objective *o, const grpo_batch *b, int64_t t, grpo_rollout_is_weight v) {
    const grpo_weight *w = &o->weight;
    int passes;
    if (grpo_weight_rejects_(w, v)) return 1;
    if (!grpo_rollout_rs_over_(w, GRPO_OVER_TOKEN) || grpo_k3_is_within_(o, b, t)) return 0;
    return !grpo_rollout_rs_accepts(w, grpo_statistic_(o, b, t, w->rollout_rs, &passes));
}

static int grpo_keeps_all_(const grpo_objective *o, const grpo_batch *b, const grpo_sequence_ *s) {
    const grpo_weight *w = &o->weight;
    const int rejects = w->rollout_is == GRPO_ROLLOUT_IS_MASK || w->rollout_is == GRPO_ROLLOUT_IS_REJECT;
    const int by_weight = rejects && grpo_rollout_is_over_(w, GRPO_OVER_TOKEN), by_statistic = grpo_rollout_rs_over_(w, GRPO_OVER_TOKEN);
    if (w->selected == GRPO_SELECTED_ONLY || s->rejected) return 0;
    if (grpo_rollout_rs_over_(w, GRPO_OVER_SEGMENT) || (rejects && grpo_rollout_is_over_(w, GRPO_OVER_SEGMENT))) return 0;
    if (grpo_rollout_is_over_(w, GRPO_OVER_SEQUENCE) && grpo_weight_rejects_(w, s->rollout_is)) return 0;
    for (int64_t t = s->begin; (by_weight || by_statistic) && t < s->end; t++) {
        int passes;
        if (!grpo_is_unmasked_(b, t)) continue;
        const double q = grpo_rollout_log_ratio_(o, b, t, &passes).hi;
        if (by_weight && !grpo_exp_is_within_(q, w->rollout_is_low, w->rollout_is_high)) return 0;
        if (by_statistic && !grpo_k3_is_within_(o, b, t)) return 0;
    }
    return 1;
}

GRPO_NOINLINE_ grpo_mask_ grpo_rollout_mask_(const grpo_objective *o, const grpo_batch *b, const grpo_sequence_ *s, int64_t t,
                                            int weigh, grpo_segment_ *segment) {
    grpo_mask_ k = { 1, 0, 1 };
    grpo_rollout_is_weight v = s->rollout_is;
    int rejected = s->rejected;
    k.counts = o->weight.selected != GRPO_SELECTED_ONLY || b->selected[t];
    if (!k.counts) return k;
    if (grpo_has_segments_(&o->weight)) {
        if (!grpo_is_in_(segment->span, t)) *segment = grpo_weight_segment_(o, b, s, t);
        v = segment->rollout_is;
        rejected |= segment->rejected;
    }
    if (grpo_rollout_is_over_(&o->weight, GRPO_OVER_TOKEN)) v = grpo_token_rollout_is_(o, b, t, weigh);
    k.rejected = rejected || grpo_token_rejected_(o, b, t, v);
    k.v = k.rejected ? 0 : v.value;
    return k;
}

/* ---- further counts for the divisors ---------------------------------------------------------------------------------------------- */
/* 1 if the likelihood term includes token t of sequence i, provided that it counts */
static int grpo_in_nll_(const grpo_objective *o, const grpo_batch *b, const grpo_real *advantage, int64_t i, int64_t t) {
    switch (o->penalty.nll_on) {
    case GRPO_NLL_CORRECT:  return b->reward[i] > 0;
    case GRPO_NLL_POSITIVE: return advantage[t] > 0;
    case GRPO_NLL_SELECTED: return b->nll_mask[t] != 0;
    case GRPO_NLL_ALL:      return 1;
    case GRPO_NLL_NOT_NEGATIVE: return advantage[t] >= 0;
    default:                       return 0;
    }
}

/* 1 if reward a exceeds reward b by more than preference_min_gap */
static int grpo_is_preferred_(const grpo_objective *o, double a, double b) {
    return grpo_dd_exceeds(grpo_two_diff(a, b), o->penalty.preference_min_gap);
}

/* pairs (i, j) of group g with i preferred, both with tokens that count; which have them is found for 256 sequences j at a time */
GRPO_COLD_ int64_t grpo_count_preference_pairs_(const grpo_objective *o, const grpo_batch *b, int64_t g) {
    uint8_t counts[256];
    const int64_t most = (int64_t)sizeof counts, end = b->group_begin[g + 1];
    int64_t i, j, block, n, pairs = 0;
    for (block = b->group_begin[g]; block < end; block += most) {
        n = end - block < most ? end - block : most;
        for (j = 0; j < n; j++) counts[j] = grpo_sequence_at_(o, b, block + j).count > 0;
        for (i = b->group_begin[g]; i < end; i++) {
            if (!(i >= block && i < block + n ? counts[i - block] : grpo_sequence_at_(o, b, i).count > 0)) continue;
            for (j = 0; j < n; j++) pairs += counts[j] && grpo_is_preferred_(o, (double)b->reward[i], (double)b->reward[block + j]);
        }
    }
    return pairs;
}

static void grpo_count_tokens_(const grpo_objective *o, const grpo_batch *b, const grpo_real *advantage, const grpo_sequence_ *s,
                               grpo_totals *totals) {
    grpo_cursor_ c = grpo_cursor_of_(s->begin, s->end);
    if (!grpo_counts_by_sign_(o) && o->penalty.nll_on == GRPO_NLL_NONE) return;
    while (grpo_next_active_(o, b, s, &c)) {
        totals->positive_tokens += grpo_counts_by_sign_(o) && advantage[c.t] > 0;
        totals->nll_tokens += grpo_in_nll_(o, b, advantage, s->index, c.t);
    }
}

static int grpo_is_positive_(const grpo_objective *o, const grpo_batch *b, const grpo_real *advantage, const grpo_sequence_ *s) {
    grpo_cursor_ c = grpo_cursor_of_(s->begin, s->end);
    return grpo_next_active_(o, b, s, &c) && advantage[c.t] > 0;
}

/* adds to the mean of the rollout_is weights: v of each token that counts; where v is of a response, their mean once (rejected: 0) */
static void grpo_count_weights_(const grpo_objective *o, const grpo_batch *b, const grpo_sequence_ *s, grpo_totals *totals) {
    const int whole = grpo_rollout_is_pool_(o->weight.rollout_is_level).over == GRPO_OVER_SEQUENCE;
    grpo_cursor_ c = grpo_cursor_of_(s->begin, s->end);
    double v = 0, accepted = 0;
    if (o->weight.rollout_is_norm == GRPO_ROLLOUT_IS_NORM_NONE || s->count == 0) return;
    totals->rollout_is_count += whole ? 1 : s->count;
    while (grpo_next_active_(o, b, s, &c)) {
        if (!whole) grpo_sum_add_(&totals->rollout_is_sum, c.v);
        if (c.v != 0) { v = c.v; accepted++; }
    }
    if (whole && v < HUGE_VAL) grpo_sum_add_dd_(&totals->rollout_is_sum, grpo_dd_div(grpo_two_prod(v, accepted), (double)s->count));
    else if (whole) grpo_sum_add_(&totals->rollout_is_sum, v);
}

GRPO_COLD_ int grpo_rewards_vary_(const grpo_batch *b, int64_t g) {
    double least = (double)b->reward[b->group_begin[g]], most = least;
    for (int64_t i = b->group_begin[g] + 1; i < b->group_begin[g + 1]; i++) {
        least = fmin(least, (double)b->reward[i]);
        most = fmax(most, (double)b->reward[i]);
    }
    return grpo_dd_exceeds(grpo_two_diff(most, least), 1e-6);
}

GRPO_APART_ void grpo_take_norm_(const grpo_objective *o, const grpo_totals *n, grpo_scales *s) {
    if (o->weight.rollout_is_norm == GRPO_ROLLOUT_IS_NORM_NONE || n->rollout_is_count == 0) return;
    s->norm = grpo_dd_div(grpo_sum_dd_(&n->rollout_is_sum), (double)n->rollout_is_count);
    s->norm_top = n->rollout_is_sum.pos_inf ? (double)n->rollout_is_count / (double)n->rollout_is_sum.pos_inf : 0;
}

static int64_t grpo_count_segments_(const grpo_run_ *r, const grpo_sequence_ *s) {
    grpo_span_ last = { 0, 0 };
    grpo_cursor_ c = grpo_cursor_of_(s->begin, s->end);
    int64_t n = 0;
    while (grpo_next_(r, s, &c)) if (!grpo_is_in_(last, c.t)) { last = grpo_segment_at_(r->batch, s, c.t); n++; }
    return n;
}

/* ---- the factors M v g: trust, off_policy_mask, selected, policy_is; surrogates with bounds of the token's own ------------------ */
/* 1 if off_policy_mask drops token t of a stale response: its gradient would move the policy further away */
static int grpo_widens_gap_(const grpo_run_ *r, int64_t t, double adv) {
    double o, b;
    if (r->obj->weight.off_policy_mask != GRPO_OFF_POLICY_MASK_TOTAL_VARIATION) return adv < 0;
    o = (double)r->batch->logp_old[t]; b = (double)r->batch->logp_rollout[t];
    return adv > 0 ? o > b : adv < 0 && o < b;
}

static int grpo_is_dropped_(const grpo_run_ *r, const grpo_token_ *k, grpo_ratio ratio) {
    const grpo_weight *c = &r->obj->weight;
    const double adv = (double)r->advantage[k->t];
    if (k->off_policy) return 1;
    if (c->trust == GRPO_TRUST_DIVERGENCE) return !grpo_in_divergence_region(c, ratio, adv, (double)r->batch->divergence_old[k->t]);
    return c->trust != GRPO_TRUST_NONE
        && !grpo_in_trust_region(c, r->trust, ratio, adv, (double)r->batch->logp[k->t], grpo_behaviour_(r, k->t));
}

static int grpo_unselected_(const grpo_run_ *r, int64_t t) {
    const grpo_selected_kind kind = r->obj->weight.selected;
    return (kind == GRPO_SELECTED_KEEP && !r->batch->selected[t]) || (kind == GRPO_SELECTED_DROP && r->batch->selected[t]);
}

/* v g, g the policy_is weight of the token or of its sequence */
static inline double grpo_with_policy_is_(const grpo_run_ *r, const grpo_sequence_ *s, int64_t t, double v) {
    const grpo_weight *c = &r->obj->weight;
    if (c->policy_is != GRPO_POLICY_IS_TOKEN) return grpo_times(v, s->policy_is);
    return grpo_times(v, grpo_policy_is(c, grpo_two_diff((double)r->batch->logp[t], (double)r->batch->logp_old[t])));
}

/* the bounds of the clip at token t */
static grpo_range grpo_range_at_(const grpo_run_ *r, int64_t t) {
    const grpo_surrogate *s = &r->obj->surrogate;
    if (s->bounds == GRPO_BOUNDS_FIXED || !grpo_reads_bounds_(s)) return r->range;
    if (s->bounds == GRPO_BOUNDS_EXTERNAL) return grpo_clip_range((double)r->batch->eps_low[t], (double)r->batch->eps_high[t]);
    return grpo_probability_range(grpo_behaviour_(r, t), s->eps_low, s->eps_high, s->bound_cap);
}

GRPO_NOINLINE_ int grpo_further_surrogate_(const grpo_run_ *r, const grpo_token_ *k, grpo_ratio ratio, double adv, grpo_term *term,
                                           grpo_range *range) {
    const grpo_surrogate *s = &r->obj->surrogate;
    if (s->bounds == GRPO_BOUNDS_POSITION) *term = grpo_log_clip(ratio, adv, k->range);
    else if (s->kind == GRPO_SURROGATE_QUADRATIC_PROBABILITY)
        *term = grpo_quadratic_probability(ratio, adv, s->quadratic_eps, grpo_behaviour_(r, k->t));
    else if (s->kind == GRPO_SURROGATE_POLICY_SHAPING && r->batch->shaping_mask[k->t])
        *term = grpo_policy_shaping(ratio, adv, s->shaping_gamma);
    else { *range = grpo_range_at_(r, k->t); return 0; }
    return 1;
}

static inline void grpo_set_policy_mask_(const grpo_run_ *r, const grpo_sequence_ *s, grpo_token_ *k) {
    k->off_policy = s->stale && grpo_widens_gap_(r, k->t, (double)r->advantage[k->t]);
    k->factor.policy = k->off_policy || grpo_unselected_(r, k->t) ? 0 : grpo_with_policy_is_(r, s, k->t, k->factor.policy);
}

/* sum += x - y over the tokens of a response that count */
GRPO_NOINLINE_ void grpo_sum_add_log_ratios_(const grpo_run_ *r, const grpo_sequence_ *s, const grpo_real *x, const grpo_real *y,
                                          grpo_sum *sum) {
    grpo_cursor_ c = grpo_cursor_of_(s->begin, s->end);
    if (s->evenly_weighted && !s->truncated
        && grpo_sum_add_within_(r->batch, s->begin, s->end, x, y, DBL_MAX, -HUGE_VAL, HUGE_VAL, sum) >= 0) return;
    while (grpo_next_(r, s, &c)) grpo_sum_add_diff_(sum, (double)x[c.t], (double)y[c.t]);
}

/* adds up over a response what off_policy_mask takes the mean of */
static void grpo_add_staleness_(const grpo_run_ *r, const grpo_sequence_ *s, grpo_sum *sum) {
    const grpo_weight *c = &r->obj->weight;
    const grpo_batch *b = r->batch;
    grpo_cursor_ k = grpo_cursor_of_(s->begin, s->end);
    if (c->off_policy_mask != GRPO_OFF_POLICY_MASK_TOTAL_VARIATION)
        grpo_sum_add_log_ratios_(r, s, grpo_logp_of_(b, grpo_off_policy_mask_policy_(c)), b->logp, sum);
    else while (grpo_next_(r, s, &k))
        grpo_sum_add_(sum, fabs(grpo_exp_minus_one(grpo_two_diff((double)b->logp_old[k.t], (double)b->logp_rollout[k.t]))));
}

/* 1 if the mean of it over n tokens exceeds off_policy_mask_threshold */
static int grpo_staleness_exceeds_(const grpo_weight *w, const grpo_sum *staleness, int64_t n) {
    return grpo_dd_exceeds(grpo_dd_div(grpo_sum_dd_(staleness), (double)n), w->off_policy_mask_threshold);
}

static int grpo_is_stale_(const grpo_run_ *r, const grpo_sequence_ *s) {
    const grpo_weight *w = &r->obj->weight;
    if (w->off_policy_mask == GRPO_OFF_POLICY_MASK_NONE || s->count == 0) return 0;
    grpo_sum sum = GRPO_NO_SUM_;                                       /* not before: most objectives have returned */
    grpo_add_staleness_(r, s, &sum);
    return grpo_staleness_exceeds_(w, &sum, s->count);
}

static double grpo_policy_is_by_(const grpo_weight *w, const grpo_sum *log_ratio, int64_t n) {
    return grpo_policy_is(w, grpo_sum_or_mean_(log_ratio, grpo_policy_is_pool_(w->policy_is).how, n));
}

static double grpo_sequence_policy_is_(const grpo_run_ *r, const grpo_sequence_ *s) {
    const grpo_weight *w = &r->obj->weight;
    if (grpo_policy_is_pool_(w->policy_is).over == GRPO_OVER_TOKEN || s->count == 0) return 1;
    grpo_sum sum = GRPO_NO_SUM_;                                       /* not before: most objectives have returned */
    grpo_sum_add_log_ratios_(r, s, r->batch->logp, r->batch->logp_old, &sum);
    return grpo_policy_is_by_(w, &sum, s->count);
}

/* ---- further factors of a token: fipo, norm, segment, gate ---------------------------------------------------------------------- */
/* F_t = d_t + 2^(-1/half_life) F_(t+1).  k->infinite counts infinite d_t, decayed alike, but never to 0: an underflow is +-DBL_MIN */
static void grpo_fipo_add_(const grpo_run_ *r, grpo_walk_ *k, grpo_dd d) {
    const double infinite = k->infinite * r->decay.hi;
    if (k->infinite != 0) k->infinite = infinite != 0 ? infinite : k->infinite > 0 ? DBL_MIN : -DBL_MIN;
    k->future = grpo_dd_add(grpo_dd_product(k->future, r->decay), d);
    if (grpo_is_finite(k->future.hi)) return;
    k->infinite += k->future.hi > 0 ? 1 : -1;
    k->future = grpo_dd_of_(0);
}

/* the fipo factor of the token, after its d is added to F */
static double grpo_fipo_factor_(const grpo_run_ *r, grpo_walk_ *k) {
    const grpo_weight *c = &r->obj->weight;
    const int64_t t = k->token.t;
    grpo_dd d = { 0, 0 }, all;
    if (k->token.counts) d = grpo_two_diff((double)r->batch->logp[t], (double)r->batch->logp_old[t]);
    const double ratio = grpo_exp(d);
    grpo_fipo_add_(r, k, c->fipo_ratio_max != 0 && ratio > c->fipo_ratio_max ? grpo_dd_of_(0) : d);
    all = k->future;
    if (k->infinite != 0) all = grpo_dd_of_(k->infinite > 0 ? HUGE_VAL : -HUGE_VAL);
    return k->token.counts ? grpo_fipo_weight(c, all, ratio, (double)r->advantage[t]) : 1;
}

/* v divided by the mean of the rollout_is weights */
static double grpo_normalised_weight_(const grpo_run_ *r, double v) {
    if (r->scales.norm.hi == 0 || v == 0) return v;
    if (r->scales.norm.hi == HUGE_VAL) return v == HUGE_VAL ? r->scales.norm_top : 0;
    return v == HUGE_VAL ? v : grpo_dd_quotient(grpo_dd_of_(v), r->scales.norm).hi;
}

/* number of tokens that count of the segment of such a token */
static double grpo_segment_tokens_(const grpo_run_ *r, const grpo_sequence_ *s, grpo_span_ segment) {
    grpo_cursor_ c = grpo_cursor_of_(segment.begin, segment.end);
    int64_t n = 0;
    while (grpo_next_(r, s, &c)) n++;
    return (double)n;
}

/* the span that shares nll_gate with token t: its segment or the response */
static grpo_span_ grpo_gate_at_(const grpo_run_ *r, const grpo_sequence_ *s, int64_t t) {
    const grpo_span_ whole = { s->begin, s->end };
    return grpo_gate_pool_(r->obj->penalty.nll_gate).over == GRPO_OVER_SEGMENT ? grpo_segment_at_(r->batch, s, t) : whole;
}

/* 1 if the sum of logp_old - logp over the gate's likelihood tokens is not positive; an exact sum keeps its sign when it is rounded */
static int grpo_gate_is_shut_(const grpo_run_ *r, const grpo_sequence_ *s, grpo_span_ gate) {
    const grpo_batch *b = r->batch;
    grpo_cursor_ c = grpo_cursor_of_(gate.begin, gate.end);
    grpo_sum lost = GRPO_NO_SUM_;
    while (grpo_next_(r, s, &c)) if (grpo_in_nll_(r->obj, b, r->advantage, s->index, c.t))
        grpo_sum_add_diff_(&lost, (double)b->logp_old[c.t], (double)b->logp[c.t]);
    return !(grpo_sum_value_(&lost) > 0);
}

static void grpo_set_factors_(const grpo_run_ *r, const grpo_sequence_ *s, grpo_walk_ *k, double v) {
    const grpo_external_kind external = r->obj->weight.external;
    const double future = r->obj->weight.fipo != GRPO_FIPO_NONE ? grpo_fipo_factor_(r, k) : 1;
    grpo_token_ *x = &k->token;
    if (!x->counts) return;
    if (r->obj->penalty.nll_gate != GRPO_NLL_GATE_NONE && r->scales.nll != 0 && !grpo_is_in_(k->gate_span, x->t)) {
        k->gate_span = grpo_gate_at_(r, s, x->t);
        x->gated = grpo_gate_is_shut_(r, s, k->gate_span);
    }
    x->factor.policy = grpo_times(grpo_normalised_weight_(r, v), future);
    x->factor.term = external == GRPO_EXTERNAL_TERM ? (double)r->batch->external_weight[x->t] : 1;
    if (external != GRPO_EXTERNAL_NONE) x->factor.policy = grpo_times(x->factor.policy, (double)r->batch->external_weight[x->t]);
    if (r->obj->surrogate.bounds == GRPO_BOUNDS_POSITION)
        x->range = grpo_position_range(&r->obj->surrogate, (double)(s->count - k->counted + 1));
    if (grpo_counts_by_sign_(r->obj)) x->divisor = r->scales.by_sign[r->advantage[x->t] > 0];
    if (r->obj->aggregation.kind == GRPO_AGGREGATION_SEQ_MEAN_SEGMENT_MEAN && !grpo_is_in_(k->divisor_span, x->t)) {
        k->divisor_span = grpo_segment_at_(r->batch, s, x->t);
        x->divisor = grpo_segment_tokens_(r, s, k->divisor_span);
    }
}

/* ---- likelihood and preference terms; penalties with divisors of their own -------------------------------------------------------- */
static inline int grpo_has_nll_(const grpo_run_ *r, const grpo_sequence_ *s, const grpo_token_ *k) {
    return r->scales.nll != 0 && !k->gated && grpo_in_nll_(r->obj, r->batch, r->advantage, s->index, k->t);
}

static grpo_term grpo_nll_term_(const grpo_run_ *r, int64_t t) {
    const grpo_batch *b = r->batch;
    return grpo_nll(&r->obj->penalty, (double)b->logp[t], b->logp_old ? (double)b->logp_old[t] : 0,
                    b->logp_teacher ? (double)b->logp_teacher[t] : 0);
}

static double grpo_auxiliary_gradient_(const grpo_run_ *r, const grpo_sequence_ *s, const grpo_token_ *k) {
    double g = s->group->preference_slope ? s->group->preference_slope[s->member] : 0;
    if (grpo_has_nll_(r, s, k)) g = grpo_plus(g, grpo_times(r->scales.nll, grpo_nll_term_(r, k->t).d_logp));
    return g;
}

GRPO_COLD_ void grpo_unweighted_penalty_(const grpo_run_ *r, const grpo_sequence_ *s, const grpo_token_ *k, grpo_ratio ratio,
                                          double *coef, double *whole) {
    *coef *= grpo_own_factor_(s, k->divisor, 1);
    *whole = grpo_weighted_penalty_(r, k, ratio, 1, 1).value;
}

static void grpo_write_divergence_gradient_(const grpo_run_ *r, const grpo_sequence_ *s, const grpo_token_ *k) {
    const double coef = r->obj->penalty.kl == GRPO_KL_EXTERNAL && grpo_has_kl_at_(r, k->t) ? r->obj->penalty.kl_coef : 0;
    const double x = grpo_times(coef * grpo_own_factor_(s, k->divisor, 0), k->factor.term);
    grpo_write_(r, r->out.ddivergence_ref, k->t, coef != 0 ? grpo_aggregated_(r, s, grpo_over_own_(k, x)) : 0);
}

/* ---- tokens with an infinite log-ratio in the report, which are not collected in blocks ------------------------------------------- */
GRPO_COLD_ void grpo_report_old_(grpo_partial *p, double l, double old) {
    grpo_sum_add_diff_(&p->sum[GRPO_SUM_APPROX_KL_K1], old, l);
    grpo_sum_add_(&p->sum[GRPO_SUM_APPROX_KL_K3], grpo_exp_minus_linear(grpo_two_diff(l, old)));
}

GRPO_COLD_ void grpo_report_ref_(grpo_partial *p, double l, double ref) {
    const grpo_dd diff = grpo_two_diff(l, ref);
    grpo_sum_add_diff_(&p->sum[GRPO_SUM_KL_K1], l, ref);
    grpo_sum_add_(&p->sum[GRPO_SUM_KL_K2], grpo_kl_estimate(GRPO_KL_K2, diff).value);
    grpo_sum_add_(&p->sum[GRPO_SUM_KL_K3], grpo_kl_estimate(GRPO_KL_K3, diff).value);
}

/* ---- the report from its sums ------------------------------------------------------------------------------------------------------ */
static double grpo_fraction_(int64_t part, int64_t whole) { return whole ? (double)part / (double)whole : 0; }

/* (a + b)/divisor; b NULL: 0 */
GRPO_COLD_ double grpo_total_over_(const grpo_sum *a, const grpo_sum *b, double divisor) {
    grpo_sum s = *a;
    if (b) grpo_sum_merge_(&s, b);
    const double total = grpo_sum_total_(&s);
    if (grpo_is_finite(total) || s.pos_inf || s.neg_inf) return total / divisor;
    grpo_sum_carry_(&s);                                    /* the sum overflows, the mean may not: divide 2^-64 of the sum */
    for (int k = 0; k < GRPO_SUM_LIMBS; k++) s.limb[k] = k + 2 < GRPO_SUM_LIMBS ? s.limb[k + 2] : 0;
    return ldexp(grpo_sum_value_(&s) / divisor, 64);
}

/* the likelihood and preference terms of the loss, which are not divided by the aggregation's divisor */
GRPO_COLD_ double grpo_auxiliary_loss_(const grpo_partial *p) {
    const double likelihood = grpo_times(p->scales.nll, grpo_sum_total_(&p->sum[GRPO_SUM_NLL]));
    return grpo_plus(likelihood, grpo_times(p->scales.preference, grpo_sum_total_(&p->sum[GRPO_SUM_PREFERENCE])));
}

/* 1 if a number of the report is infinite.  ratio_max is so only if ratio_mean is */
GRPO_COLD_ int grpo_report_overflows_(const grpo_report *r) {
    const double numbers[] = { r->loss, r->policy_loss, r->penalty_loss, r->approx_kl_k1, r->approx_kl_k3, r->kl_k1, r->kl_k2, r->kl_k3,
                               r->entropy, r->ratio_mean, r->rollout_is_mean };
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) if (!grpo_is_finite(numbers[k])) return 1;
    return 0;
}

/* the mean of numbers of both signs, whose infinities cancel in pairs */
static double grpo_mean_of_signed_(const grpo_sum *s, double n) {
    return s->pos_inf && s->neg_inf ? grpo_sum_value_(s) / n : grpo_total_over_(s, NULL, n);
}

void grpo_partial_report(const grpo_partial *p, grpo_report *r) {
    const grpo_sum *s = p->sum;
    const double n = grpo_at_least_one_(p->tokens), divisor = p->scales.divisor != 0 ? p->scales.divisor : 1;
    const double factor = p->scales.factor != 0 ? p->scales.factor : 1, aux = grpo_auxiliary_loss_(p);
    const int tiny = p->ratio_max < GRPO_RATIO_TINY_, large = p->ratio_max > GRPO_RATIO_CAP_;
    const double sum = (tiny ? GRPO_RATIO_UNIT_ : 1) * grpo_sum_total_(&s[GRPO_SUM_RATIO]);
    const double squares = grpo_sum_total_(&s[tiny ? GRPO_SUM_RATIO_EXCESS : GRPO_SUM_RATIO_SQUARED]);
    memset(r, 0, sizeof *r);
    r->loss = factor * grpo_plus(grpo_total_over_(&s[GRPO_SUM_POLICY], &s[GRPO_SUM_PENALTY], divisor), aux);
    r->policy_loss = factor * grpo_total_over_(&s[GRPO_SUM_POLICY], NULL, divisor);
    r->penalty_loss = factor * grpo_plus(grpo_total_over_(&s[GRPO_SUM_PENALTY], NULL, divisor), aux);
    r->tokens = p->tokens; r->sequences = p->sequences; r->groups = p->groups;
    r->masked_tokens = p->masked_tokens; r->rejected_tokens = p->rejected_tokens; r->degenerate_groups = p->degenerate_groups;
    r->clip_fraction_low = grpo_fraction_(p->clips[GRPO_CLIP_LOW], p->tokens);
    r->clip_fraction_high = grpo_fraction_(p->clips[GRPO_CLIP_HIGH], p->tokens);
    r->clip_fraction_dual = grpo_fraction_(p->clips[GRPO_CLIP_DUAL], p->tokens);
    r->clip_fraction = grpo_fraction_(p->clips[GRPO_CLIP_LOW] + p->clips[GRPO_CLIP_HIGH] + p->clips[GRPO_CLIP_DUAL], p->tokens);
    r->approx_kl_k1 = grpo_mean_of_signed_(&s[GRPO_SUM_APPROX_KL_K1], n);
    r->approx_kl_k3 = grpo_total_over_(&s[GRPO_SUM_APPROX_KL_K3], NULL, n);
    r->kl_k1 = grpo_mean_of_signed_(&s[GRPO_SUM_KL_K1], n);
    r->kl_k2 = grpo_total_over_(&s[GRPO_SUM_KL_K2], NULL, n);
    r->kl_k3 = grpo_total_over_(&s[GRPO_SUM_KL_K3], NULL, n);
    r->entropy = grpo_total_over_(&s[GRPO_SUM_ENTROPY], NULL, n);
    r->ratio_mean = p->ratio_tokens ? grpo_total_over_(&s[GRPO_SUM_RATIO], large ? &s[GRPO_SUM_RATIO_EXCESS] : NULL, n) : 1;
    r->ratio_min = p->tokens ? p->ratio_min : 1;
    r->ratio_max = p->tokens ? p->ratio_max : 1;
    r->ess = squares > 0 ? (sum / n) * (sum / squares) : 1;
    r->rollout_is_mean = p->weight_tokens ? grpo_total_over_(&s[GRPO_SUM_WEIGHT], NULL, n) : 1;
    r->overflow = p->overflow || grpo_report_overflows_(r);
}

/* ---- the sums of the report, a block at a time ---------------------------------------------------------------------------------- */
/* e^x - x - 1 of a block, x = sign (hi + lo); beyond: for some x the series is not accurate */
static void grpo_block_k3_(double *GRPO_RESTRICT_ k3, double sign, const double *GRPO_RESTRICT_ hi, const double *GRPO_RESTRICT_ lo,
                           int beyond) {
    for (int k = 0; k < GRPO_BLOCK_; k++) {
        const double y = sign * hi[k];
        k3[k] = grpo_near_exp_minus_linear_(y, sign * lo[k], grpo_exp_series_(y));
    }
    for (int k = 0; beyond && k < GRPO_BLOCK_; k++)
        if (grpo_is_far_(hi[k])) k3[k] = grpo_exp_minus_linear(grpo_dd_pair_(sign * hi[k], sign * lo[k]));
}

static void grpo_sum_add_squares_block_(grpo_sum *sum, double factor, const double *from) {
    double v[GRPO_BLOCK_];
    for (int k = 0; k < GRPO_BLOCK_; k++) v[k] = factor * from[k] * from[k];
    grpo_sum_add_block_(sum, 1, v);
}

GRPO_COLD_ void grpo_report_tiny_(grpo_sum *squares, const double *ratio) {
    for (int k = 0; k < GRPO_BLOCK_; k++) {
        const double x = GRPO_RATIO_UNIT_ * ratio[k];
        if (ratio[k] < GRPO_RATIO_TINY_) grpo_sum_add_(squares, x * x);
    }
}

/* adds a block to the report's sums: terms divided by the divisors of their sequence and token, ratios, entropies */
static void grpo_report_terms_(const grpo_run_ *r, const double *policy, const double *penalty, const double *ratio,
                               const double *entropy) {
    grpo_sum *sum = r->partial->sum;
    grpo_sum_add_block_(&sum[GRPO_SUM_POLICY], 1, policy);
    if (r->obj->penalty.kl != GRPO_KL_NONE || r->obj->penalty.entropy_coef != 0) grpo_sum_add_block_(&sum[GRPO_SUM_PENALTY], 1, penalty);
    if (r->reports_ratio) {
        grpo_sum_add_block_(&sum[GRPO_SUM_RATIO], 1, ratio);
        grpo_sum_add_squares_block_(&sum[GRPO_SUM_RATIO_SQUARED], 1, ratio);
        if (r->partial->ratio_min < GRPO_RATIO_TINY_) grpo_report_tiny_(&sum[GRPO_SUM_RATIO_EXCESS], ratio);
    }
    if (r->batch->entropy) grpo_sum_add_block_(&sum[GRPO_SUM_ENTROPY], 1, entropy);
}

/* adds hi + lo of a block; lo is NaN, and negligible, where a difference next to the largest double overflowed on the way */
static void grpo_sum_add_dd_block_(grpo_sum *sum, double factor, double (*x)[GRPO_BLOCK_]) {
    double lo[GRPO_BLOCK_];
    for (int k = 0; k < GRPO_BLOCK_; k++) lo[k] = x[1][k] == x[1][k] ? x[1][k] : 0;
    grpo_sum_add_block_(sum, factor, x[0]);
    grpo_sum_add_block_(sum, factor, lo);
}

/* adds a block of d = l - logp_old (hi and lo) and of k3 = e^d - d - 1 */
static void grpo_report_old_block_(grpo_sum *sum, double (*d)[GRPO_BLOCK_], const double *k3) {
    grpo_sum_add_dd_block_(&sum[GRPO_SUM_APPROX_KL_K1], -1, d);
    grpo_sum_add_block_(&sum[GRPO_SUM_APPROX_KL_K3], 1, k3);
}

/* adds a block of D = l - logp_ref (hi and lo) and of k3 = e^-D + D - 1 */
static void grpo_report_ref_block_(grpo_sum *sum, double (*diff)[GRPO_BLOCK_], const double *k3) {
    grpo_sum_add_dd_block_(&sum[GRPO_SUM_KL_K1], 1, diff);
    grpo_sum_add_squares_block_(&sum[GRPO_SUM_KL_K2], 0.5, diff[0]);
    grpo_sum_add_block_(&sum[GRPO_SUM_KL_K3], 1, k3);
}

static void grpo_report_flush_(const grpo_run_ *r) {
    grpo_sum *sum = r->partial->sum;
    grpo_report_buffer_ *p = r->report_buffer;
    double *k3 = p->policy;                                            /* reused once p->policy is added */
    if (p->n == 0) return;
    grpo_report_terms_(r, p->policy, p->penalty, p->ratio, p->entropy);
    if (r->batch->logp_old) {
        grpo_block_k3_(k3, 1, p->old[0], p->old[1], grpo_block_exceeds_(p->old[0], GRPO_SERIES_));
        grpo_report_old_block_(sum, p->old, k3);
    }
    if (r->batch->logp_ref) {
        grpo_block_k3_(k3, -1, p->ref[0], p->ref[1], grpo_block_exceeds_(p->ref[0], GRPO_SERIES_));
        grpo_report_ref_block_(sum, p->ref, k3);
    }
    if (r->has_rollout_weights) grpo_sum_add_block_(&sum[GRPO_SUM_WEIGHT], 1, p->weight);
    p->n = 0;
}

/* ---- blocks of tokens ----
 * Most objectives collect tokens until a block is full and evaluate the block as vectors (grpo_blocks.h).  With GRPO_NO_BLOCKS tokens are
 * evaluated one by one, to the same bits. */

#ifdef GRPO_NO_BLOCKS
/* splits the numbers into high and low parts as grpo_blocks.h does, in one loop; where a part is left over, adds them one by one */
static void grpo_sum_add_block_(grpo_sum *s, double factor, const double *x) {
    double size = 0, upper = 0, lower = 0, left = 0;
    int exponent;
    for (int k = 0; k < GRPO_BLOCK_; k += 4) size += (fabs(x[k]) + fabs(x[k + 1])) + (fabs(x[k + 2]) + fabs(x[k + 3]));
    if (size == 0) return;
    if (size > 1e-200 && size < 1e200) {
        const double high = (frexp(size, &exponent), ldexp(1, exponent + 1)), low = high * (1.0 / (UINT64_C(1) << 45));
        for (int k = 0; k < GRPO_BLOCK_; k += 2) {
            const double p = (high + x[k]) - high, r = x[k] - p, q = (low + r) - low;
            const double p1 = (high + x[k + 1]) - high, r1 = x[k + 1] - p1, q1 = (low + r1) - low;
            upper += p + p1; lower += q + q1; left += fabs(r - q) + fabs(r1 - q1);
        }
        if (left == 0) { grpo_sum_add_(s, factor * upper); grpo_sum_add_(s, factor * lower); return; }
    }
    for (int k = 0; k < GRPO_BLOCK_; k++) if (x[k] != 0) grpo_sum_add_(s, factor * x[k]);
}
static int grpo_block_exceeds_(const double *x, double most) {
    for (int k = 0; k < GRPO_BLOCK_; k++) if (!(fabs(x[k]) <= most)) return 1;
    return 0;
}
static int64_t grpo_sum_add_within_(const grpo_batch *batch, int64_t t, int64_t end, const grpo_real *x, const grpo_real *y, double reach,
                                    double least, double most, grpo_sum *sum) {
    (void)batch; (void)t; (void)end; (void)x; (void)y; (void)reach; (void)least; (void)most; (void)sum;
    return -1;
}

typedef struct grpo_buffer_ { grpo_report_buffer_ report; } grpo_buffer_;

#define GRPO_ALIGNED_
static void grpo_buffer_open_(grpo_run_ *r, grpo_buffer_ *buffer) { buffer->report.n = 0; r->report_buffer = &buffer->report; }
static void grpo_use_report_buffer_(const grpo_run_ *r) { (void)r; }
static int grpo_block_take_(const grpo_run_ *r, const grpo_sequence_ *s, grpo_span_ span, double ratio, const grpo_term *term) {
    (void)r; (void)s; (void)span; (void)ratio; (void)term;
    return 0;
}
#else
GRPO_C_END_
#include "grpo_blocks.h"
GRPO_C_BEGIN_
#endif

/* evaluates the tokens that are still in the buffer */
static void grpo_buffer_close_(const grpo_run_ *r) { grpo_use_report_buffer_(r); grpo_report_flush_(r); }

/* evaluates all groups, with a buffer for tokens until their block is full */
static void grpo_run_groups_buffered_(grpo_run_ *r, const grpo_method_ *how) {
    GRPO_ALIGNED_ grpo_buffer_ buffer;
    grpo_buffer_open_(r, &buffer);
    grpo_run_groups_(r, how);
    grpo_buffer_close_(r);
}

/* ---- further choices of axes 1 and 2 ------------------------------------------------------------------------------------------- */
/* 1 if large R that are not centred may be divided by a small sigma or group mean, which magnifies their rounding */
static int grpo_magnifies_rounding_(const grpo_advantage *a) {
    const grpo_baseline_kind b = a->baseline;
    if (a->scale == GRPO_SCALE_NONE || a->scale == GRPO_SCALE_TOKEN_WHITEN || a->scale == GRPO_SCALE_CONSTANT) return 0;
    return a->scale == GRPO_SCALE_GROUP_MEAN || a->baseline_shift != 0 || b == GRPO_BASELINE_NONE || b == GRPO_BASELINE_EXTERNAL
        || b == GRPO_BASELINE_BATCH_MEAN || b == GRPO_BASELINE_KALMAN;
}

static grpo_lengths_ grpo_lengths_of_(const grpo_batch *b, int64_t g) {
    grpo_lengths_ l = { HUGE_VAL, 0 };
    for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        l.shortest = fmin(l.shortest, (double)b->length[i]);
        l.longest = fmax(l.longest, (double)b->length[i]);
    }
    return l;
}

/* R of a response of T tokens after reward.length */
GRPO_COLD_ grpo_dd grpo_length_reward_(const grpo_reward *r, grpo_dd rew, int correct, double len, grpo_lengths_ group) {
    grpo_dd lambda;
    switch (r->length) {
    case GRPO_LENGTH_KIMI:
        lambda = grpo_kimi_length_reward(len, group.shortest, group.longest, correct);
        return grpo_dd_add(rew, grpo_dd_round_96_(grpo_dd_mul(lambda, r->length_coef)));
    case GRPO_LENGTH_COSINE:
        rew = correct ? grpo_cosine_length_reward(len, r->length_max, r->correct_high, r->correct_low)
                    : grpo_cosine_length_reward(len, r->length_max, r->wrong_low, r->wrong_high);
        return grpo_dd_round_96_(rew);
    case GRPO_LENGTH_INVERSE: return len > 0 ? grpo_dd_round_96_(grpo_dd_div(rew, len)) : grpo_dd_of_(0);
    default:                  return rew;
    }
}

/* ---- steps as items ---- */
static int grpo_ends_step_(const grpo_batch *b, int64_t t) { return b->step_end[t] && grpo_is_unmasked_(b, t); }

GRPO_COLD_ int64_t grpo_at_least_one_step_(const grpo_batch *b, int64_t i) {
    int64_t n = 0;
    for (int64_t t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) n += grpo_ends_step_(b, t);
    return n ? n : 1;
}

/* moves `at` to the previous step of its response; 0: there is none */
static int grpo_previous_step_(const grpo_batch *b, grpo_index_ *at) {
    for (at->t--, at->number--; at->t >= b->offset[at->i]; at->t--) if (grpo_ends_step_(b, at->t)) return 1;
    return 0;
}

static int64_t grpo_step_number_(const grpo_batch *b, grpo_index_ at) {     /* of the step in its response, from 0 */
    for (at.number = 0; grpo_previous_step_(b, &at); ) { }
    return -at.number - 1;
}

/* moves `at` to the next step of the group; 0: there is none */
static int grpo_next_step_(const grpo_estimator_ *e, grpo_index_ *at) {
    const grpo_batch *b = e->batch;
    for (at->t++; ; at->t++) {
        while (at->i < e->begin || at->t >= b->offset[at->i] + b->length[at->i]) {
            if (++at->i >= e->end) return 0;
            at->t = b->offset[at->i];
            at->number = -1;
        }
        if (grpo_ends_step_(b, at->t)) { at->number++; return 1; }
    }
}

/* 1 if the last n states of both steps, their own and those of the steps before, are the same */
static int grpo_same_history_(const grpo_batch *b, grpo_index_ x, grpo_index_ y, int64_t n) {
    while (b->state[x.t] == b->state[y.t]) {
        if (--n == 0) return 1;
        if (!grpo_previous_step_(b, &x) || !grpo_previous_step_(b, &y)) return 0;
    }
    return 0;
}

static int grpo_in_pool_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_index_ at) {
    switch (s->pool) {
    case GRPO_STEP_GROUP_STATE:   return e->batch->state[at.t] == e->batch->state[s->of.t];
    case GRPO_STEP_GROUP_INDEX:   return at.number == s->of.number;
    case GRPO_STEP_GROUP_HISTORY: return grpo_same_history_(e->batch, at, s->of, s->level);
    default:                      return 1;
    }
}

GRPO_COLD_ int grpo_next_pooled_step_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_index_ *at) {
    while (grpo_next_step_(e, at)) if (grpo_in_pool_(e, s, *at)) return 1;
    return 0;
}

/* sum over this and later steps of gamma^(k' - k) r_k', from the last step on: equal rewards give equal bits */
static grpo_dd grpo_step_return_(const grpo_batch *b, double gamma, grpo_index_ at) {
    grpo_dd ret = grpo_dd_of_(0);
    for (int64_t t = b->offset[at.i] + b->length[at.i] - 1; t >= at.t; t--)
        if (grpo_ends_step_(b, t)) ret = grpo_dd_add_double_(grpo_dd_mul(ret, gamma), (double)b->step_reward[t]);
    return grpo_dd_round_96_(ret);
}

GRPO_COLD_ grpo_dd grpo_step_reward_(const grpo_estimator_ *e, grpo_index_ at) {
    switch (e->obj->advantage.step_value) {
    case GRPO_STEP_VALUE_RETURN:   return grpo_step_return_(e->batch, e->obj->advantage.step_gamma, at);
    case GRPO_STEP_VALUE_RESPONSE: return grpo_response_reward_(e, at.i);
    default:                       return grpo_dd_of_((double)e->batch->step_reward[at.t]);
    }
}

/* statistics of the pool of step `of`; level: the number of states of step_group history */
static void grpo_pool_prepare_(const grpo_estimator_ *e, grpo_index_ of, int64_t level, grpo_group_ *s) {
    memset(s, 0, sizeof *s);
    s->steps = 1; s->level = level; s->of = of;
    s->pool = e->obj->advantage.step_group;
    grpo_group_prepare_(e, s);
}

/* a of one level of a history; 0 where R - b is no larger than rounding (none if all R are doubles, else 2^-90 of the largest) */
static double grpo_level_advantage_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_index_ at) {
    const double largest = fmax(fabs(s->min.hi), fabs(s->max.hi));
    const grpo_standardised_ z = grpo_standardise_(e, s, at);
    if (z.sigma == 0 || fabs(z.x.hi) <= (s->all_doubles ? 0 : ldexp(z.divisor * largest, -90))) return 0;
    return grpo_divide_(z.x, z.divisor) / z.sigma;
}

/* sum w_k a_k/sum w_k of HGPO (2602.22817) over levels k with a_k != 0; the pools are nested, so one of a single step is the last */
static double grpo_history_advantage_(const grpo_estimator_ *e, grpo_index_ at) {
    const grpo_advantage *a = &e->obj->advantage;
    grpo_dd sum = grpo_dd_of_(0), weights = sum;
    grpo_group_ s;
    for (int64_t k = 1; (double)k <= a->history_length && k <= at.number + 1; k++) {
        const grpo_dd w = grpo_length_power((double)(k + 1), -a->history_power);
        grpo_pool_prepare_(e, at, k, &s);
        if (s.count < 2) break;
        const double x = grpo_level_advantage_(e, &s, at);
        if (x == 0) continue;
        weights = grpo_dd_add(weights, w);
        sum = grpo_dd_add(sum, grpo_dd_mul(w, x));
    }
    return weights.hi > 0 ? grpo_dd_quotient(sum, weights).hi : 0;
}

GRPO_COLD_ double grpo_pooled_step_advantage_(const grpo_estimator_ *e, grpo_index_ at) {
    grpo_group_ s;
    at.number = grpo_step_number_(e->batch, at);
    if (e->obj->advantage.step_group == GRPO_STEP_GROUP_HISTORY) return grpo_history_advantage_(e, at);
    grpo_pool_prepare_(e, at, 0, &s);
    return grpo_column_advantage_(e, &s, at);
}

/* A of a token of credit step_own or episode_step */
GRPO_COLD_ grpo_dd grpo_step_credit_(const grpo_estimator_ *e, grpo_trajectory_ *s, int64_t t) {
    const grpo_advantage *a = &e->obj->advantage;
    const grpo_index_ at = { s->i, t, -1 };
    if (e->batch->step_end[t]) s->item = grpo_item_advantage_(e, at);
    if (a->credit == GRPO_CREDIT_STEP_OWN) return grpo_dd_of_(s->item);
    return grpo_dd_of_(grpo_dd_add_double_(grpo_two_prod(a->step_coef, s->item), s->episode).hi);
}

/* ---- checks of rewards ---- */
/* the returns of the steps of response i must stay in the domain of rewards, and rewards of scale beta in [0, 1] */
GRPO_COLD_ grpo_status grpo_check_steps_(const grpo_estimator_ *e, int64_t i) {
    const grpo_batch *b = e->batch;
    const grpo_advantage *a = &e->obj->advantage;
    double ret = 0;
    if (a->step_value == GRPO_STEP_VALUE_RESPONSE) return GRPO_OK;
    if (a->step_value == GRPO_STEP_VALUE_REWARD && a->scale != GRPO_SCALE_BETA) return GRPO_OK;
    for (int64_t t = b->offset[i] + b->length[i] - 1; t >= b->offset[i]; t--) {
        if (!grpo_ends_step_(b, t)) continue;
        ret = (double)b->step_reward[t] + (a->step_value == GRPO_STEP_VALUE_RETURN ? a->step_gamma * ret : 0);
        if (!grpo_in_domain_(ret, GRPO_MODERATE_)) return grpo_status_at_(GRPO_TOO_LARGE, GRPO_AT_step_reward_, t);
        if (a->scale == GRPO_SCALE_BETA && !(ret >= 0 && ret <= 1)) return grpo_status_at_(GRPO_NOT_UNIT, GRPO_AT_step_reward_, t);
    }
    return GRPO_OK;
}

static int64_t grpo_count_items_(const grpo_estimator_ *e) {
    grpo_index_ at = grpo_before_items_(e);
    grpo_group_ s;
    int64_t n = 0;
    memset(&s, 0, sizeof s);
    s.steps = grpo_credits_steps_(&e->obj->advantage);
    while (grpo_next_item_(e, &s, &at)) n++;
    return n;
}

static grpo_status grpo_check_response_(const grpo_estimator_ *e, int64_t i) {
    const grpo_objective *o = e->obj;
    const grpo_batch *b = e->batch;
    grpo_status st = grpo_credits_steps_(&o->advantage) ? grpo_check_steps_(e, i) : GRPO_OK;
    if (st) return st;
    for (int64_t t = b->offset[i]; o->reward.kl != GRPO_KL_NONE && t < b->offset[i] + b->length[i]; t++) {
        if (!grpo_is_unmasked_(b, t)) continue;
        if (!grpo_in_domain_(o->reward.kl_coef * grpo_reward_kl_(o, b, t).hi, GRPO_MODERATE_))
            return grpo_status_at_(GRPO_TOO_LARGE, GRPO_AT_reward_kl_, t);
    }
    if (!grpo_reads_reward_(o)) return GRPO_OK;
    const grpo_dd rew = grpo_response_reward_(e, i);
    if (!grpo_in_domain_(rew.hi, GRPO_MODERATE_)) return grpo_status_at_(GRPO_TOO_LARGE, GRPO_AT_shaped_reward_, i);
    if (o->advantage.scale == GRPO_SCALE_BETA && (rew.hi < 0 || grpo_dd_exceeds(rew, 1)))
        return grpo_status_at_(GRPO_NOT_UNIT, GRPO_AT_shaped_reward_, i);
    return GRPO_OK;
}

/* R after axis 1 must be in the domain of rewards (with a -inf log-probability it may not be), and a group needs pass_k items.  All groups
 * are checked before anything is written, so R is computed twice */
static grpo_status grpo_check_rewards_(grpo_estimator_ *e) {
    const grpo_advantage *a = &e->obj->advantage;
    for (int64_t g = 0; g < e->batch->n_groups; g++) {
        grpo_enter_group_(e, g);
        if (GRPO_AMONG_(a->transform, GRPO_PASS_K_) && (double)grpo_count_items_(e) < a->pass_k)
            return grpo_status_between_(GRPO_FEW_ITEMS, GRPO_AT_group_, grpo_at_field_(GRPO_FIELD_(advantage.pass_k)), g);
        for (int64_t i = e->begin; i < e->end; i++) {
            const grpo_status st = grpo_check_response_(e, i);
            if (st) return st;
        }
    }
    return GRPO_OK;
}

/* ---- items in ascending order ---- */
/* the item of this rank in ascending order (0: the smallest); order: its place in the group, for ties; raw: R before the transform */
typedef struct { int64_t rank, order; grpo_dd value; int raw; } grpo_sorted_;

GRPO_COLD_ void grpo_sorted_next_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_sorted_ *x) {
    grpo_sorted_ next = { 0, -1, { 0, 0 }, 0 };
    grpo_index_ at = grpo_before_items_(e);
    for (int64_t order = 0; grpo_next_item_(e, s, &at); order++) {
        const grpo_dd rew = x->raw ? grpo_item_reward_(e, s, at) : grpo_item_value_(e, s, at);
        if (x->rank >= 0 && (grpo_dd_less(rew, x->value) || (grpo_dd_same_(rew, x->value) && order <= x->order))) continue;
        if (next.order < 0 || grpo_dd_less(rew, next.value)) { next.value = rew; next.order = order; }
    }
    next.rank = x->rank + 1;
    next.raw = x->raw;
    *x = next;
}

static grpo_sorted_ grpo_sorted_at_(const grpo_estimator_ *e, const grpo_group_ *s, int raw, int64_t rank) {
    grpo_sorted_ x = { -1, -1, { 0, 0 }, 0 };
    x.raw = raw;
    while (x.rank < rank) grpo_sorted_next_(e, s, &x);
    return x;
}

/* ---- transforms ---- */
/* number of items with a reward less than R, or with or_same at most R */
static int64_t grpo_count_below_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_dd rew, int or_same) {
    grpo_index_ at = grpo_before_items_(e);
    int64_t n = 0;
    while (grpo_next_item_(e, s, &at)) {
        const grpo_dd x = grpo_item_reward_(e, s, at);
        n += grpo_dd_less(x, rew) || (or_same && grpo_dd_same_(x, rew));
    }
    return n;
}

static double grpo_count_positive_(const grpo_estimator_ *e, const grpo_group_ *s) {
    return (double)(s->count - grpo_count_below_(e, s, grpo_dd_of_(0), 1));
}

/* the second largest R; where several items have the largest, that */
GRPO_COLD_ grpo_dd grpo_second_best_(const grpo_estimator_ *e, const grpo_group_ *s) {
    grpo_index_ at = grpo_before_items_(e);
    grpo_dd second = grpo_dd_of_(-HUGE_VAL);
    int best = 0;
    while (grpo_next_item_(e, s, &at)) {
        const grpo_dd rew = grpo_item_reward_(e, s, at);
        if (!best && grpo_dd_same_(rew, s->best)) best = 1;
        else if (grpo_dd_less(second, rew)) second = rew;
    }
    return second;
}

/* pkpo_max of the r-th smallest of n items: (C(r-1, k-1) R_r + sum over m > r of C(m-2, k-2) R_m)/C(n, k).  It is the same for the first k
 * items, and for equal items, so it is computed for the last of them */
GRPO_COLD_ grpo_dd grpo_pkpo_max_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_dd rew) {
    const double n = (double)s->count, k = e->obj->advantage.pass_k;
    grpo_sorted_ x = { 0, INT64_MAX, { 0, 0 }, 1 };
    grpo_dd own, above = grpo_dd_of_(0);
    double m;
    x.value = grpo_dd_less(rew, s->kth) ? s->kth : rew;
    x.rank = grpo_count_below_(e, s, x.value, 1) - 1;
    own = grpo_dd_div(grpo_dd_mul(grpo_dd_product(grpo_binomial_ratio((double)x.rank, n - 1, k - 1), x.value), k), n);
    if (k == 1) return grpo_dd_round_96_(own);
    for (m = (double)x.rank + 2; m <= n; m++) {
        grpo_sorted_next_(e, s, &x);
        above = grpo_dd_add(above, grpo_dd_product(grpo_binomial_ratio(m - 2, n - 2, k - 2), x.value));
    }
    return grpo_dd_round_96_(grpo_dd_add(own, grpo_dd_div(grpo_dd_mul(above, k * (k - 1)), n * (n - 1))));
}

/* pkpo_gain: sum over m of C(m-1, k-2) (R - R_m)/C(n, k), R_m the m-th smallest, of those below R; R/n where k = 1 */
GRPO_COLD_ grpo_dd grpo_pkpo_gain_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_dd rew) {
    const double n = (double)s->count, k = e->obj->advantage.pass_k, smaller = (double)grpo_count_below_(e, s, rew, 0);
    grpo_sorted_ x = { -1, -1, { 0, 0 }, 1 };
    grpo_dd sum = grpo_dd_of_(0);
    double m;
    if (k == 1) return grpo_dd_round_96_(grpo_dd_div(rew, n));
    for (m = 1; m <= smaller; m++) {
        grpo_sorted_next_(e, s, &x);
        sum = grpo_dd_add(sum, grpo_dd_product(grpo_binomial_ratio(m - 1, n - 2, k - 2), grpo_dd_minus_(rew, x.value)));
    }
    return grpo_dd_round_96_(grpo_dd_div(grpo_dd_mul(sum, k * (k - 1)), n * (n - 1)));
}

/* pkpo_loo: pkpo_max minus (k/(n-1))^2 sum over r of C(r-1, k-1)/C(n-2, k-1) R_r, R_r the r-th smallest of the others; 0 where the
 * difference is below 2^-90 of pkpo_max, the rounding of the divisions by n and n - 1 */
GRPO_COLD_ grpo_dd grpo_pkpo_loo_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_dd rew) {
    const double n = (double)s->count, k = e->obj->advantage.pass_k;
    const grpo_dd all = grpo_pkpo_max_(e, s, rew);
    grpo_sorted_ x = { -1, -1, { 0, 0 }, 1 };
    grpo_dd others = grpo_dd_of_(0), rest;
    double r = 0;
    int skipped = 0;                                                    /* the item itself, or one that is equal */
    if (n == k) return all;
    while (x.rank < s->count - 1) {
        grpo_sorted_next_(e, s, &x);
        if (!skipped && grpo_dd_same_(x.value, rew)) { skipped = 1; continue; }
        others = grpo_dd_add(others, grpo_dd_product(grpo_binomial_ratio(r++, n - 2, k - 1), x.value));
    }
    for (int twice = 0; twice < 2; twice++) others = grpo_dd_div(grpo_dd_mul(others, k), n - 1);
    rest = grpo_dd_minus_(all, others);
    return fabs(rest.hi) > ldexp(fabs(all.hi), -90) ? grpo_dd_round_96_(rest) : grpo_dd_of_(0);
}

static grpo_dd grpo_transformed_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_dd rew) {
    switch (e->obj->advantage.transform) {
    case GRPO_TRANSFORM_BEST_MINUS_SECOND: return grpo_dd_same_(rew, s->best) ? s->up : s->down;
    case GRPO_TRANSFORM_PASS_AT_K:         return rew.hi > 0 ? s->up : s->down;
    case GRPO_TRANSFORM_PKPO_MAXRL:        return grpo_dd_round_96_(grpo_dd_product(rew, s->factor));
    case GRPO_TRANSFORM_PKPO_MAX:          return grpo_pkpo_max_(e, s, rew);
    case GRPO_TRANSFORM_PKPO_GAIN:         return grpo_pkpo_gain_(e, s, rew);
    case GRPO_TRANSFORM_PKPO_LOO:          return grpo_pkpo_loo_(e, s, rew);
    default:                               return rew;
    }
}

/* what the transform needs of the group, and the statistics of the transformed items */
static void grpo_group_transform_(const grpo_estimator_ *e, grpo_group_ *s) {
    const grpo_advantage *a = &e->obj->advantage;
    const double n = (double)s->count;
    grpo_pass_at_k_values pass;
    switch (a->transform) {
    case GRPO_TRANSFORM_NONE: return;
    case GRPO_TRANSFORM_BEST_MINUS_SECOND:
        s->best = s->max;
        if (s->count > 1) s->up = grpo_dd_minus_(s->best, grpo_second_best_(e, s));
        s->up.hi += 0;                                                  /* +0 for -0 */
        break;
    case GRPO_TRANSFORM_PASS_AT_K:
        pass = grpo_pass_at_k(n, grpo_count_positive_(e, s), a->pass_k);
        s->up.hi = pass.up; s->down.hi = pass.down;
        s->variance = pass.variance;
        break;
    case GRPO_TRANSFORM_PKPO_MAXRL: s->factor = grpo_binomial_ratio(n - grpo_count_positive_(e, s), n - 1, a->pass_k - 1); break;
    case GRPO_TRANSFORM_PKPO_LOO:
    case GRPO_TRANSFORM_PKPO_MAX: s->kth = grpo_sorted_at_(e, s, 1, (int64_t)a->pass_k - 1).value; break;
    case GRPO_TRANSFORM_PKPO_GAIN: break;
    }
    grpo_group_statistics_(e, s, 1);
    if (a->transform == GRPO_TRANSFORM_PASS_AT_K) s->sum = grpo_dd_of_(0);                 /* c up + (n - c) down */
}

/* ---- baselines ---- */
/* the q-quantile inf{x : #{R <= x}/n >= q} */
static grpo_dd grpo_quantile_(const grpo_estimator_ *e, const grpo_group_ *s, double q) {
    int64_t j = 1;
    while (j < s->count && (double)j / (double)s->count < q) j++;
    return grpo_sorted_at_(e, s, 0, j - 1).value;
}

/* the q-quantile interpolated between order statistics, at position q (n - 1) */
static grpo_dd grpo_quantile_linear_(const grpo_estimator_ *e, const grpo_group_ *s, double q) {
    grpo_dd h = grpo_two_prod(q, (double)(s->count - 1));
    double whole = floor(h.hi);
    grpo_sorted_ below, above;
    if (whole == h.hi && h.lo < 0) whole--;
    below = above = grpo_sorted_at_(e, s, 0, (int64_t)whole);
    if (below.rank < s->count - 1) grpo_sorted_next_(e, s, &above);
    h = grpo_dd_add_double_(h, -whole);
    return grpo_dd_add(below.value, grpo_dd_product(h, grpo_dd_minus_(above.value, below.value)));
}

/* tau log((1/n) sum e^(R/tau)) = max + tau log mean(e^x), x = (R - max)/tau; near 1, log1p of mean(e^x - 1) is the more accurate */
static grpo_dd grpo_log_mean_exp_(const grpo_estimator_ *e, const grpo_group_ *s, double tau) {
    grpo_sum powers = GRPO_NO_SUM_, minus_one = GRPO_NO_SUM_;
    grpo_index_ at = grpo_before_items_(e);
    const double n = (double)s->count;
    if (grpo_dd_same_(s->min, s->max)) return s->max;
    while (grpo_next_item_(e, s, &at)) {
        const grpo_dd x = grpo_dd_div(grpo_dd_minus_(grpo_item_value_(e, s, at), s->max), tau);
        grpo_sum_add_(&powers, grpo_exp(x));
        grpo_sum_add_(&minus_one, grpo_exp_minus_one(x));
    }
    double below = grpo_sum_value_(&minus_one) / n;
    below = below > -0.5 ? log1p(below) : log(grpo_sum_value_(&powers) / n);
    return grpo_dd_add(s->max, grpo_two_prod(tau, below));
}

/* 1 if [c, d] is narrower than [a, b]: exactly where all four are doubles, else by more than the rounding, 2^-90 */
GRPO_APART_ int grpo_narrower_(grpo_dd a, grpo_dd b, grpo_dd c, grpo_dd d) {
    const grpo_dd gain = grpo_dd_minus_(grpo_dd_minus_(b, a), grpo_dd_minus_(d, c));
    const int doubles = a.lo == 0 && b.lo == 0 && c.lo == 0 && d.lo == 0;
    return gain.hi > (doubles ? 0 : ldexp(fabs(a.hi) + fabs(b.hi) + fabs(c.hi) + fabs(d.hi), -90));
}

/* the median of the narrowest interval of h = ceil(mass n) sorted items */
static grpo_dd grpo_hdi_median_(const grpo_estimator_ *e, const grpo_group_ *s, double mass) {
    const double n = (double)s->count, wanted = ceil(mass * n);
    const int64_t h = wanted < 1 ? 1 : wanted > n ? s->count : (int64_t)wanted;
    grpo_sorted_ low = grpo_sorted_at_(e, s, 0, 0), high = grpo_sorted_at_(e, s, 0, h - 1), first = low, last = high;
    while (high.rank < s->count - 1) {
        grpo_sorted_next_(e, s, &low);
        grpo_sorted_next_(e, s, &high);
        if (grpo_narrower_(first.value, last.value, low.value, high.value)) { first = low; last = high; }
    }
    low = high = grpo_sorted_at_(e, s, 0, first.rank + (h - 1) / 2);
    if (h % 2 == 0) grpo_sorted_next_(e, s, &high);
    return grpo_dd_mul(grpo_dd_add(low.value, high.value), 0.5);
}

/* baseline length_weighted (OPO): sum T R and sum T */
static void grpo_length_weighted_sums_(const grpo_estimator_ *e, grpo_group_ *s) {
    grpo_index_ at = grpo_before_items_(e);
    grpo_sum weighted = GRPO_NO_SUM_;
    int64_t tokens = 0;
    while (grpo_next_item_(e, s, &at)) {
        const grpo_dd rew = grpo_item_value_(e, s, at);
        const int64_t len = grpo_unmasked_(e->batch, at.i);
        tokens += len;
        grpo_sum_add_dd_(&weighted, grpo_two_prod((double)len, rew.hi));
        if (rew.lo != 0) grpo_sum_add_dd_(&weighted, grpo_two_prod((double)len, rew.lo));
    }
    s->tokens = (double)tokens;
    s->weighted_sum = grpo_sum_dd_(&weighted);
}

/* the Kalman filter after item `at` */
GRPO_COLD_ grpo_kalman grpo_kalman_at_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_index_ at) {
    const grpo_advantage *a = &e->obj->advantage;
    grpo_kalman f = { { 0, 0 }, { 1, 0 }, { 0, 0 } };
    grpo_index_ k = grpo_before_items_(e);
    while (grpo_next_item_(e, s, &k)) {
        f = grpo_kalman_step(f, grpo_item_value_(e, s, k), a->process_noise, a->observation_noise);
        if (k.i == at.i && k.t == at.t) break;
    }
    return f;
}

/* ---- scales ---- */
/* the variance of the items without `at` */
GRPO_COLD_ double grpo_variance_of_others_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_index_ at) {
    grpo_index_ k = grpo_before_items_(e);
    grpo_values others = GRPO_NO_VALUES_;
    while (grpo_next_item_(e, s, &k)) if (k.i != at.i || k.t != at.t) grpo_values_take_(&others, grpo_item_value_(e, s, k));
    return grpo_variance_(&others, e->obj->advantage.std);
}

/* sum (R - b)^2/(n - 1 or n), as advantage.std says */
static double grpo_residual_mean_square_(const grpo_estimator_ *e, const grpo_group_ *s) {
    grpo_index_ at = grpo_before_items_(e);
    const double n = (double)s->count;
    double divisor;
    grpo_sum squares = GRPO_NO_SUM_;
    if (s->count < 2) return 0;
    while (grpo_next_item_(e, s, &at)) {
        const grpo_dd x = grpo_residual_(e, s, at, e->obj->advantage.baseline_shift, &divisor);
        grpo_sum_add_square_(&squares, 1, grpo_dd_of_(grpo_divide_(x, divisor)));
    }
    return grpo_sum_value_(&squares) / (e->obj->advantage.std == GRPO_STD_SAMPLE ? n - 1 : n);
}

/* mean + eps; 0 where the mean is <= 0, or where not all R are doubles and it is within their rounding, 2^-90 of the largest */
static double grpo_group_mean_sigma_(const grpo_group_ *s, double eps) {
    const double n = (double)s->count, largest = fmax(fabs(s->min.hi), fabs(s->max.hi));
    return s->sum.hi > (s->all_doubles ? 0 : ldexp(n * largest, -90)) ? grpo_divide_(s->sum, n) + eps : 0;
}

/* sigma of DGPO (2601.20614): (sum |R - mean R| + eps)/n, 1 for a single item, 0 where all are equal */
static double grpo_mean_deviation_(const grpo_estimator_ *e, const grpo_group_ *s) {
    grpo_index_ at = grpo_before_items_(e);
    const double n = (double)s->count;
    grpo_sum sum = GRPO_NO_SUM_;
    if (s->count == 1) return 1;
    if (grpo_dd_same_(s->min, s->max)) return 0;
    while (grpo_next_item_(e, s, &at)) {
        const grpo_dd x = grpo_dd_minus_(grpo_dd_mul(grpo_item_value_(e, s, at), n), s->sum);
        grpo_sum_add_dd_(&sum, x.hi < 0 ? grpo_dd_negative(x) : x);
    }
    return grpo_divide_(grpo_dd_add_double_(grpo_dd_div(grpo_sum_dd_(&sum), n), e->obj->advantage.eps), n);
}

/* p of BNPO: the mean of the items, 0 for a single one */
static grpo_dd grpo_success_rate_(const grpo_group_ *s) {
    return s->count < 2 ? grpo_dd_of_(0) : grpo_dd_round_96_(grpo_dd_div(s->sum, (double)s->count));
}

/* fits Beta to the prompts' p; a single one has mean 0 and variance 1 */
GRPO_COLD_ void grpo_take_beta_(grpo_estimator_ *e, const grpo_values *v) {
    if (v->count == 0 || (v->count > 1 && grpo_dd_same_(v->min, v->max))) return;
    e->has_beta = 1;
    if (v->count == 1) e->beta = grpo_beta_of(grpo_dd_of_(0), grpo_dd_of_(1));
    else e->beta = grpo_beta_of(grpo_mean_(&v->sum, v->count), grpo_variance_twice_(v, GRPO_STD_SAMPLE));
}

/* the density at the prompt's p; 0: the prompts' p are all the same */
static double grpo_beta_sigma_(const grpo_estimator_ *e, const grpo_group_ *s) {
    return e->has_beta ? fmax(grpo_beta_density(e->beta, grpo_success_rate_(s)), 1e-6) : 0;
}

/* ---- reweighting ---- */
/* the factors of the group, from R before the transform */
static void grpo_group_reweight_(const grpo_estimator_ *e, grpo_group_ *s) {
    const grpo_advantage *a = &e->obj->advantage;
    const double n = (double)s->count;
    if (a->reweight == GRPO_REWEIGHT_DIFFICULTY) {
        const double successes = grpo_count_positive_(e, s);
        s->weight_up = grpo_difficulty(successes, n, a->difficulty_weight_low, a->difficulty_weight_high, a->difficulty_slope,
            a->difficulty_midpoint);
        s->weight_down = grpo_difficulty(n - successes, n, a->difficulty_weight_low, a->difficulty_weight_high, a->difficulty_slope,
            a->difficulty_midpoint);
    }
    if (a->reweight == GRPO_REWEIGHT_FOCAL)
        s->weight_up = s->weight_down =
            grpo_focal_weight(grpo_dd_div(s->sum, n), a->focal_reward_low, a->focal_reward_high, a->focal_gamma);
}

/* the factor that is the same for the whole batch */
static double grpo_batch_reweight_(grpo_reweight_kind kind, const grpo_moments *m) {
    const int64_t valid = m->sequences - m->degenerate_sequences;
    switch (kind) {
    case GRPO_REWEIGHT_VALID_GROUPS: return valid ? (double)m->sequences / (double)valid : 1;
    case GRPO_REWEIGHT_NONZERO_REWARDS: return (double)m->sequences / (double)(m->nonzero_items ? m->nonzero_items : 1);
    case GRPO_REWEIGHT_LENGTH_POWER: return m->sequences_nonempty ? (double)m->sequences_nonempty / grpo_sum_value_(&m->length) : 1;
    default: return 1;
    }
}

/* a of an item after advantage.reweight */
GRPO_COLD_ double grpo_reweighted_advantage_(const grpo_estimator_ *e, grpo_index_ at) {
    const grpo_advantage *o = &e->obj->advantage;
    const grpo_group_ *s = &e->group[0];
    const double a = o->reweight == GRPO_REWEIGHT_EXPONENTIAL ? 0 : grpo_column_advantage_(e, s, at);
    grpo_standardised_ z;
    int64_t len;
    switch (o->reweight) {
    case GRPO_REWEIGHT_EXPONENTIAL:                                         /* of a in double-double */
        z = grpo_standardise_(e, s, at);
        return z.sigma == 0 ? 0 : grpo_exponential_reweight(grpo_dd_div(grpo_dd_div(z.x, z.divisor), z.sigma), o->reweight_temperature);
    case GRPO_REWEIGHT_DIFFICULTY: case GRPO_REWEIGHT_FOCAL: return grpo_times(a, a > 0 ? s->weight_up : s->weight_down);
    case GRPO_REWEIGHT_LENGTH_POWER:
        len = grpo_unmasked_(e->batch, at.i);
        return len ? grpo_times(a, grpo_dd_mul(grpo_length_power((double)len, o->length_power), e->reweight).hi) : 0;
    default: return grpo_times(a, e->reweight);
    }
}

/* what the group's transform, baseline, scale and reweighting need beside its mean and deviation */
GRPO_COLD_ void grpo_group_further_statistics_(const grpo_estimator_ *e, grpo_group_ *s) {
    const grpo_advantage *a = &e->obj->advantage;
    if (a->reweight != GRPO_REWEIGHT_NONE) grpo_group_reweight_(e, s);              /* of R before the transform */
    if (a->transform != GRPO_TRANSFORM_NONE) grpo_group_transform_(e, s);
    switch (a->baseline) {
    case GRPO_BASELINE_QUANTILE:        s->baseline = grpo_quantile_(e, s, a->quantile); break;
    case GRPO_BASELINE_QUANTILE_LINEAR: s->baseline = grpo_quantile_linear_(e, s, a->quantile); break;
    case GRPO_BASELINE_LOG_MEAN_EXP:    s->baseline = grpo_log_mean_exp_(e, s, a->temperature); break;
    case GRPO_BASELINE_HDI_MEDIAN:      s->baseline = grpo_hdi_median_(e, s, a->hdi_mass); break;
    case GRPO_BASELINE_LENGTH_WEIGHTED: grpo_length_weighted_sums_(e, s); break;
    default: break;
    }
    s->baseline.hi += 0;                                                /* +0 for -0 */
    switch (a->scale) {
    case GRPO_SCALE_GROUP_MEAN:     s->sigma = grpo_group_mean_sigma_(s, a->eps); break;
    case GRPO_SCALE_MEAN_ABSOLUTE_DEVIATION: s->sigma = grpo_mean_deviation_(e, s); break;
    case GRPO_SCALE_BETA:           s->sigma = grpo_beta_sigma_(e, s); break;
    case GRPO_SCALE_RESIDUAL_RMS:   s->variance = grpo_residual_mean_square_(e, s); break;
    default: break;
    }
}

/* the weighted sum of the columns' a */
GRPO_COLD_ double grpo_weighted_columns_(const grpo_estimator_ *e, grpo_index_ at) {
    const grpo_real *weight = e->batch->reward_weight;
    grpo_dd a = grpo_dd_of_(0);
    for (int k = 0; k < e->columns; k++) {
        const double w = weight ? (double)weight[k] : 1, x = grpo_column_advantage_(e, &e->group[k], at);
        if (w != 0 && x != 0) a = grpo_dd_add(a, grpo_two_prod(w, x));
    }
    return a.hi;
}

/* a of a response that the statistics of its group leave out */
GRPO_COLD_ double grpo_excluded_advantage_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_index_ at) {
    const grpo_advantage *a = &e->obj->advantage;
    const grpo_dd rew = grpo_item_value_(e, s, at);
    const double sigma = grpo_sigma_(e, s, at), n = (double)s->count;
    const int centres = s->count > 1 && a->baseline != GRPO_BASELINE_NONE;
    grpo_dd x = rew;
    double best = -HUGE_VAL, own;
    if (s->count == 0 || a->excluded == GRPO_EXCLUDED_ZERO) return 0;
    if (a->excluded == GRPO_EXCLUDED_ANCHOR) {
        for (at = grpo_before_items_(e); grpo_next_item_(e, s, &at); best = own > best ? own : best) own = grpo_column_advantage_(e, s, at);
        return grpo_times(a->excluded_coef, best);
    }
    if (sigma == 0 || grpo_is_zero_singleton_(a, s)) return 0;
    if (centres)
        x = grpo_dd_same_(rew, s->min) && grpo_dd_same_(rew, s->max) ? grpo_dd_of_(0) : grpo_dd_minus_(grpo_dd_mul(rew, n), s->sum);
    if (a->baseline_shift != 0) x = grpo_dd_minus_(x, grpo_two_prod(a->baseline_shift, centres ? n : 1));
    return grpo_divide_(x, centres ? n : 1) / sigma;
}

/* ---- whitening of A in two parts ---- */
/* 1 if reweighting multiplies only a part of A: not what the critic or the KL adds */
static int grpo_reweights_a_part_(const grpo_objective *o) {
    const grpo_advantage *a = &o->advantage;
    return grpo_reweight_is_of_batch_(a->reweight) && a->credit != GRPO_CREDIT_OUTCOME
        && (grpo_has_critic_(a) || grpo_reward_has_kl_(&o->reward));
}

/* number of tokens of the response, as batch_norm tokens counts them: without truncated_tail */
static double grpo_tokens_of_mean_abs_(const grpo_estimator_ *e, const grpo_trajectory_ *s) {
    const double n = (double)grpo_unmasked_(e->batch, s->i);
    return n > s->tail ? n - s->tail : 0;
}

/* adds A of one token to the moments; tokens > 0: |A|/tokens, for batch_norm mean_abs */
static void grpo_moments_add_token_(const grpo_estimator_ *e, grpo_credited_ adv, double tokens, grpo_moments *m) {
    if (tokens > 0) { grpo_sum_add_dd_(&m->values.sum, grpo_dd_div(grpo_dd_of_(fabs(grpo_credited_value_(adv))), tokens)); return; }
    if (!grpo_reweights_a_part_(e->obj)) { grpo_values_take_(&m->values, grpo_dd_of_(grpo_credited_value_(adv))); return; }
    grpo_values_take_(&m->values, grpo_dd_of_(adv.own.hi));
    grpo_sum_add_(&m->rest, adv.rest.hi);
    grpo_sum_add_dd_(&m->rest_squares, grpo_two_prod(adv.rest.hi, adv.rest.hi));
    grpo_sum_add_dd_(&m->rest_cross, grpo_two_prod(adv.own.hi, adv.rest.hi));
}

/* variance and sum of A = factor own + rest over the batch's tokens, where reweighting multiplies only `own` */
GRPO_COLD_ void grpo_take_moments_of_parts_(grpo_estimator_ *e, const grpo_moments *m) {
    const double n = (double)m->values.count, factor = e->reweight;
    grpo_sum own, rest = GRPO_NO_SUM_, cross = GRPO_NO_SUM_;
    grpo_dd sum;
    if (!grpo_reweights_a_part_(e->obj) || m->values.count < 2) return;
    grpo_values_scatter_(&m->values, &own);
    grpo_covariance_add_(&rest, n, &m->rest_squares, &m->rest, &m->rest);
    grpo_covariance_add_(&cross, n, &m->rest_cross, &m->values.sum, &m->rest);
    sum = grpo_dd_mul(grpo_dd_mul(grpo_sum_dd_(&own), factor), factor);
    sum = grpo_dd_add(sum, grpo_dd_mul(grpo_sum_dd_(&cross), 2 * factor));
    sum = grpo_dd_add(sum, grpo_sum_dd_(&rest));
    const double variance = sum.hi / grpo_variance_divisor_(n, e->obj->advantage.std);
    e->batch_variance = variance > 0 ? variance : 0;
    e->batch_sum = grpo_dd_add(e->batch_sum, grpo_sum_dd_(&m->rest));
}

/* ---- credit by the share of the entropy ---- */
static int grpo_is_correct_(const grpo_estimator_ *e, int64_t i) { return grpo_response_reward_(e, i).hi > 0; }

/* the summand of token t in the sum over its position: H in a correct response, 1/(H + entropy_share_eps) in others */
static grpo_dd grpo_entropy_part_(const grpo_estimator_ *e, int correct, int64_t t) {
    const double ent = (double)e->batch->entropy[t];
    if (correct) return grpo_dd_of_(ent);
    return grpo_dd_quotient(grpo_dd_of_(1), grpo_two_sum(ent, e->obj->advantage.entropy_share_eps));
}

/* u of GTPO (2508.04349): R + c n H/sum H where R > 0, else -1 - c n h/sum h, h = 1/(H + eps); sums over the n responses of that kind that
 * have a token at the position */
static grpo_dd grpo_entropy_share_reward_(const grpo_estimator_ *e, int64_t i, int64_t t) {
    const grpo_batch *b = e->batch;
    const int64_t position = t - b->offset[i];
    const int correct = grpo_is_correct_(e, i);
    const double coef = e->obj->advantage.entropy_share_coef;
    const grpo_dd u = correct ? grpo_response_reward_(e, i) : grpo_dd_of_(-1);
    grpo_sum sum = GRPO_NO_SUM_;
    int64_t k, n = 0;
    for (k = e->begin; k < e->end; k++) {
        const int64_t at = b->offset[k] + position;
        if (position >= b->length[k] || !grpo_is_unmasked_(b, at) || grpo_is_correct_(e, k) != correct) continue;
        grpo_sum_add_dd_(&sum, grpo_entropy_part_(e, correct, at));
        n++;
    }
    const grpo_dd total = grpo_sum_dd_(&sum);
    grpo_dd share = grpo_dd_mul(grpo_entropy_part_(e, correct, t), (double)n);
    if (total.hi == 0 || share.hi == 0 || !grpo_is_finite(total.hi) || !grpo_is_finite(share.hi)) return u;
    share = grpo_dd_mul(grpo_dd_round_96_(grpo_dd_quotient(share, total)), correct ? coef : -coef);
    return grpo_dd_round_96_(grpo_dd_add(u, share));
}

/* the statistics of u over the tokens of the prompt's responses with R > 0, or of the others */
GRPO_COLD_ grpo_shares_ grpo_shares_of_(const grpo_estimator_ *e, int correct) {
    const grpo_batch *b = e->batch;
    const grpo_advantage *a = &e->obj->advantage;
    grpo_shares_ r;
    grpo_values v = GRPO_NO_VALUES_;
    for (int64_t i = e->begin; i < e->end; i++) {
        if (grpo_is_correct_(e, i) != correct) continue;
        for (int64_t t = b->offset[i]; t < b->offset[i] + b->length[i]; t++)
            if (grpo_is_unmasked_(b, t)) grpo_values_take_(&v, grpo_entropy_share_reward_(e, i, t));
    }
    const double variance = grpo_variance_(&v, a->std);
    r.count = (double)v.count;
    r.sum = grpo_sum_dd_(&v.sum);
    r.sigma = variance == 0 ? 0 : grpo_deviation(variance, a->eps, a->eps_place);
    return r;
}

static void grpo_take_credit_statistics_(grpo_estimator_ *e) {
    const grpo_credit_kind credit = e->obj->advantage.credit;
    if (credit == GRPO_CREDIT_EPISODE_STEP) {
        memset(&e->episode, 0, sizeof e->episode);
        grpo_group_prepare_(e, &e->episode);
    }
    for (int k = 0; credit == GRPO_CREDIT_ENTROPY_SHARE && k < 2; k++) e->shares[k] = grpo_shares_of_(e, k);
}

GRPO_COLD_ grpo_dd grpo_entropy_share_credit_(const grpo_estimator_ *e, int64_t i, int64_t t) {
    const grpo_shares_ *s = &e->shares[grpo_is_correct_(e, i)];
    if (s->sigma == 0 || !grpo_is_finite(s->sigma)) return grpo_dd_of_(0);
    const grpo_dd x = grpo_dd_minus_(grpo_dd_mul(grpo_entropy_share_reward_(e, i, t), s->count), s->sum);
    return grpo_dd_of_(grpo_divide_(x, s->count) / s->sigma);
}

/* ---- credit by prefixes of a prompt's responses ---- */
/* the number of leading tokens, all unmasked, that responses i and j have in common */
static int64_t grpo_common_prefix_(const grpo_batch *b, int64_t i, int64_t j) {
    const int64_t most = b->length[i] < b->length[j] ? b->length[i] : b->length[j], x = b->offset[i], y = b->offset[j];
    int64_t k = 0;
    while (k < most && grpo_is_unmasked_(b, x + k) && grpo_is_unmasked_(b, y + k) && b->token_id[x + k] == b->token_id[y + k]) k++;
    return k;
}

/* the last position below `limit` at which another response departs from response i; -1: there is none */
static int64_t grpo_branch_below_(const grpo_estimator_ *e, int64_t i, int64_t limit) {
    int64_t j, branch = -1;
    for (j = e->begin; j < e->end; j++) {
        const int64_t k = j != i ? grpo_common_prefix_(e->batch, i, j) : -1;
        if (k < limit && k > branch) branch = k;
    }
    return branch;
}

/* mean R of the responses that share i's first n + 1 tokens, minus that of those that share the first n; 0 where all these have equal R */
static double grpo_branch_value_(const grpo_estimator_ *e, int64_t i, int64_t n) {
    grpo_values before = GRPO_NO_VALUES_;
    grpo_sum after = GRPO_NO_SUM_;
    grpo_dd sum;
    double n_after = 0, n_before;
    for (int64_t j = e->begin; j < e->end; j++) {
        const int64_t k = j != i ? grpo_common_prefix_(e->batch, i, j) : n + 1;
        if (k < n) continue;
        grpo_values_take_(&before, grpo_response_reward_(e, j));
        if (k > n) { grpo_sum_add_dd_(&after, grpo_response_reward_(e, j)); n_after++; }
    }
    if (grpo_dd_same_(before.min, before.max)) return 0;
    n_before = (double)before.count;
    sum = grpo_dd_minus_(grpo_dd_mul(grpo_sum_dd_(&after), n_before), grpo_dd_mul(grpo_sum_dd_(&before.sum), n_after));
    return grpo_divide_(sum, n_after * n_before);
}

GRPO_COLD_ grpo_dd grpo_prefix_tree_credit_(const grpo_estimator_ *e, grpo_trajectory_ *s, int64_t t) {
    const int64_t position = t - e->batch->offset[s->i];
    const grpo_index_ at = { s->i, -1, -1 };
    while (s->branch > position) s->branch = grpo_branch_below_(e, s->i, s->branch);
    if (s->branch != position) return grpo_dd_of_(s->item);
    const double sigma = grpo_standardise_(e, &e->group[0], at).sigma;
    return grpo_dd_of_(sigma == 0 ? s->item : grpo_plus(s->item, grpo_branch_value_(e, s->i, position) / sigma));
}

/* ---- shaping of tokens: entropy, teacher, centred KL, marks, clamp ---- */
/* mean entropy of response i; high_entropy: it is above entropy_max (0: no limit), compared exactly */
GRPO_COLD_ void grpo_find_mean_entropy_(const grpo_estimator_ *e, int64_t i, grpo_shaping_ *s) {
    const grpo_batch *b = e->batch;
    const int64_t n = grpo_unmasked_(b, i);
    const double cap = e->obj->advantage.entropy_max;
    grpo_sum sum = GRPO_NO_SUM_;
    for (int64_t t = b->offset[i]; t < b->offset[i] + b->length[i]; t++)
        if (grpo_is_unmasked_(b, t)) grpo_sum_add_(&sum, (double)b->entropy[t]);
    s->mean_entropy = grpo_mean_(&sum, n);
    grpo_sum_add_dd_(&sum, grpo_two_prod(-cap, (double)n));
    s->high_entropy = cap != 0 && grpo_sum_value_(&sum) > 0;
}

static grpo_shaping_ grpo_shaping_of_(const grpo_estimator_ *e, int64_t i) {
    const grpo_batch *b = e->batch;
    grpo_shaping_ s = { 0, 0, -HUGE_VAL, 0, { 0, 0 }, { 0, 0 }, { 0, 0 } };
    int k;
    if (e->obj->advantage.entropy == GRPO_ENTROPY_RESPONSE) grpo_find_mean_entropy_(e, i, &s);
    if (e->obj->advantage.entropy != GRPO_ENTROPY_ZERO_VARIANCE) return s;
    for (s.equal_rewards = 1, k = 0; k < e->columns; k++) s.equal_rewards &= e->group[k].all_equal;
    s.positive = grpo_is_correct_(e, i);
    for (int64_t t = b->offset[i]; t < b->offset[i] + b->length[i]; t++)
        if (grpo_is_unmasked_(b, t) && (double)b->entropy[t] > s.max_entropy) s.max_entropy = (double)b->entropy[t];
    return s;
}

static double grpo_shape_by_entropy_(const grpo_estimator_ *e, const grpo_shaping_ *s, int64_t t, double adv) {
    const grpo_advantage *a = &e->obj->advantage;
    const double ent = (double)e->batch->entropy[t];
    const double bonus = a->entropy_coef * ent;
    switch (a->entropy) {
    case GRPO_ENTROPY_NONE: break;
    case GRPO_ENTROPY_BONUS: return grpo_plus(adv, grpo_within(bonus, -HUGE_VAL, fabs(adv) / a->entropy_kappa));
    case GRPO_ENTROPY_ZERO_VARIANCE:
        if (!s->equal_rewards) break;
        return s->positive ? bonus : grpo_dd_mul(grpo_two_diff(s->max_entropy, ent), -a->entropy_coef).hi;
    case GRPO_ENTROPY_RELATIVE:
        return grpo_times(adv, grpo_relative_entropy(ent, grpo_dd_div(e->entropy, e->tokens), a->entropy_coef));
    case GRPO_ENTROPY_RESPONSE:
        return s->high_entropy ? 0 : grpo_dd_add_double_(grpo_dd_mul(s->mean_entropy, -a->entropy_coef), adv).hi;
    }
    return adv;
}

/* what teacher_coef multiplies at a token with teacher log-ratio `gap`: that, or its discounted sum or mean from this token on */
static grpo_dd grpo_teacher_term_(const grpo_advantage *a, grpo_shaping_ *s, grpo_dd gap) {
    if (a->teacher_gamma == 0) return gap;
    s->gap = grpo_dd_add(gap, grpo_dd_mul(s->gap, a->teacher_gamma));
    s->discounts = grpo_dd_add_double_(grpo_dd_mul(s->discounts, a->teacher_gamma), 1);
    return a->teacher_norm == GRPO_TEACHER_NORM_MEAN ? grpo_dd_quotient(s->gap, s->discounts) : s->gap;
}

GRPO_COLD_ double grpo_shape_token_(const grpo_estimator_ *e, grpo_shaping_ *s, int64_t t, double adv) {
    const grpo_advantage *a = &e->obj->advantage;
    const grpo_batch *b = e->batch;
    if (a->entropy != GRPO_ENTROPY_NONE) adv = grpo_shape_by_entropy_(e, s, t, adv);
    if (a->teacher_coef != 0 || a->teacher_share != 0) {
        const grpo_dd gap = grpo_two_diff((double)b->logp_teacher[t], (double)b->logp_old[t]);
        if (a->teacher_share != 0) adv = grpo_teacher_weighted(adv, gap, a->teacher_share, a->teacher_clip);
        if (a->teacher_coef != 0) adv = grpo_dd_add_double_(grpo_dd_mul(grpo_teacher_term_(a, s, gap), a->teacher_coef), adv).hi;
    }
    if (a->kl_centred_coef != 0) {                                      /* mean D - D, rounded together */
        const grpo_dd diff = grpo_two_diff((double)b->logp_rollout[t], (double)b->logp_ref[t]);
        const grpo_dd off = grpo_dd_div(grpo_dd_minus_(e->divergence, grpo_dd_mul(diff, e->tokens)), e->tokens);
        adv = grpo_dd_add_double_(grpo_dd_mul(off, a->kl_centred_coef), adv).hi;
    }
    if (a->marked != GRPO_MARKED_NONE && b->marked[t]) adv = grpo_marked(a->marked, adv, a->marked_value);
    if (a->clamp_low == 0 && a->clamp_high == 0) return adv;
    return grpo_within(adv, a->clamp_low, a->clamp_high);
}

/* ---- the token baseline ----
 * From the A of a prompt, already in `advantage`, their mean at each position, weighted by W, is subtracted.  W, the running sum of the
 * energies, is kept for the first GRPO_KEPT_ENERGIES_ responses, and computed anew at each position for the others. */

enum { GRPO_KEPT_ENERGIES_ = 256 };

static grpo_dd grpo_energy_at_(const grpo_batch *b, int64_t t) {
    return grpo_logit_gradient_energy((double)b->logp_old[t], (double)b->sum_pi_squared[t]);
}

/* W: the energies of response i up to and including token t */
static grpo_dd grpo_energy_until_(const grpo_batch *b, int64_t i, int64_t t) {
    grpo_dd so_far = grpo_dd_of_(0);
    for (int64_t k = b->offset[i]; k <= t; k++) if (grpo_is_unmasked_(b, k)) so_far = grpo_dd_add(so_far, grpo_energy_at_(b, k));
    return so_far;
}

/* A - (sum A W)/sum W; A where sum W is 0 or a sum is not finite; alike: all A are the same */
static double grpo_less_weighted_mean_(double adv, grpo_dd weighted, grpo_dd weight, int alike) {
    if (weight.hi == 0) return adv;
    if (alike) return 0;
    if (!grpo_is_finite(weight.hi) || !grpo_is_finite(weighted.hi)) return adv;
    return grpo_dd_quotient(grpo_dd_minus_(grpo_dd_mul(weight, adv), weighted), weight).hi;
}

static void grpo_subtract_position_baseline_(const grpo_estimator_ *e, int64_t position, grpo_dd *energy, grpo_real *advantage) {
    const grpo_batch *b = e->batch;
    grpo_sum weights = GRPO_NO_SUM_, weighted = GRPO_NO_SUM_;
    grpo_dd so_far, product;
    double adv, low = HUGE_VAL, high = -HUGE_VAL;
    int64_t t;
    int pass, n = 0, overflow = 0;
    for (pass = 0; pass < 2; pass++) {
        const grpo_dd sum = grpo_sum_dd_(&weights), product_sum = grpo_sum_dd_(&weighted);
        for (int64_t i = e->begin; i < e->end; i++) {
            const int64_t k = i - e->begin;
            t = b->offset[i] + position;
            if (position >= b->length[i] || !grpo_is_unmasked_(b, t)) continue;
            if (pass && n == 1 && e->obj->advantage.token_baseline == GRPO_TOKEN_BASELINE_OPTIMAL_SHARED) continue;
            n += !pass;
            adv = (double)advantage[t];
            if (pass) { grpo_put_(advantage, t, grpo_less_weighted_mean_(adv, product_sum, sum, low == high), &overflow); continue; }
            so_far = k < GRPO_KEPT_ENERGIES_ ? energy[k] = grpo_dd_add(energy[k], grpo_energy_at_(b, t)) : grpo_energy_until_(b, i, t);
            low = adv < low ? adv : low;
            high = adv > high ? adv : high;
            grpo_sum_add_dd_(&weights, so_far);
            if (adv == 0) continue;
            product = grpo_two_prod(so_far.hi, adv);
            grpo_sum_add_dd_(&weighted, product);
            if (grpo_is_finite(product.hi)) grpo_sum_add_dd_(&weighted, grpo_two_prod(so_far.lo, adv));
        }
    }
}

/* subtracts the token baseline at all positions, then shapes the tokens; cold and, as declared, not inlined */
GRPO_COLD_ void grpo_subtract_token_baseline_(const grpo_estimator_ *e, grpo_real *advantage) {
    const grpo_batch *b = e->batch;
    const int64_t longest = e->end - e->begin > 1 ? (int64_t)grpo_lengths_of_(b, e->index).longest : 0;
    grpo_dd energy[GRPO_KEPT_ENERGIES_];
    int overflow = 0;
    memset(energy, 0, sizeof energy);
    for (int64_t t = 0; t < longest; t++) grpo_subtract_position_baseline_(e, t, energy, advantage);
    for (int64_t i = e->begin; i < e->end; i++) {
        grpo_shaping_ shaping = grpo_shaping_of_(e, i);
        for (int64_t t = b->offset[i] + b->length[i] - 1; t >= b->offset[i]; t--)
            if (grpo_is_unmasked_(b, t)) grpo_put_(advantage, t, grpo_shape_token_(e, &shaping, t, (double)advantage[t]), &overflow);
    }
}

/* ---- statistics of the batch ------------------------------------------------------------------------------------------------------ */
/* adds item `at` of the column of s to the moments */
static void grpo_moments_add_item_(const grpo_estimator_ *e, const grpo_group_ *s, grpo_index_ at, grpo_moments *m) {
    const grpo_advantage *a = &e->obj->advantage;
    const grpo_dd raw = grpo_item_reward_(e, s, at), rew = grpo_transformed_(e, s, raw);
    if (a->baseline == GRPO_BASELINE_BATCH_MEAN && a->transform != GRPO_TRANSFORM_PASS_AT_K) grpo_sum_add_dd_(&m->column[s->column], rew);
    if (s->column) return;
    m->items++;
    m->nonzero_items += raw.hi != 0;
    if (a->scale == GRPO_SCALE_BATCH_STD) grpo_values_take_(&m->values, rew);
    if (a->scale == GRPO_SCALE_BATCH_CENTRED_STD) {
        double divisor;
        const grpo_dd x = grpo_residual_(e, s, at, 0, &divisor);        /* without baseline_shift, which does not change V */
        const int zero = grpo_is_zero_singleton_(a, s);                 /* a is 0 after the shift, so it is the shift before */
        grpo_values_take_(&m->values, zero ? grpo_dd_of_(a->baseline_shift) : grpo_dd_round_96_(grpo_dd_div(x, divisor)));
    }
    if (a->batch_norm == GRPO_BATCH_NORM_ITEMS) grpo_values_take_(&m->values, grpo_dd_of_(grpo_item_advantage_(e, at)));
}

/* adds response i to the moments */
static void grpo_moments_add_response_(const grpo_estimator_ *e, int64_t i, grpo_moments *m) {
    const grpo_advantage *a = &e->obj->advantage;
    const grpo_batch *b = e->batch;
    const int entropy = a->entropy == GRPO_ENTROPY_RELATIVE, divergence = a->kl_centred_coef != 0;
    const int64_t len = grpo_unmasked_(b, i);
    if (a->scale == GRPO_SCALE_TOKEN_WHITEN || a->batch_norm == GRPO_BATCH_NORM_TOKENS || a->batch_norm == GRPO_BATCH_NORM_MEAN_ABS)
        grpo_credit_response_(e, i, m, NULL);
    m->sequences++;
    m->sequences_nonempty += len > 0;
    m->degenerate_sequences += e->group[0].all_equal;
    if (len && a->reweight == GRPO_REWEIGHT_LENGTH_POWER) grpo_sum_add_dd_(&m->length, grpo_length_power((double)len, a->length_power));
    for (int64_t t = b->offset[i]; (entropy || divergence) && t < b->offset[i] + b->length[i]; t++) {
        if (!grpo_is_unmasked_(b, t)) continue;
        m->tokens++;
        if (entropy) grpo_sum_add_(&m->entropy, (double)b->entropy[t]);
        if (divergence) grpo_sum_add_diff_(&m->divergence, (double)b->logp_rollout[t], (double)b->logp_ref[t]);
    }
}

/* adds the current group to the moments */
static void grpo_moments_add_group_(const grpo_estimator_ *e, grpo_moments *m) {
    for (int k = 0; k < e->columns; k++) {
        grpo_index_ at = grpo_before_items_(e);
        while (grpo_next_item_(e, &e->group[k], &at)) grpo_moments_add_item_(e, &e->group[k], at, m);
    }
    for (int64_t i = e->begin; i < e->end; i++) grpo_moments_add_response_(e, i, m);
    if (e->obj->advantage.scale == GRPO_SCALE_BETA && e->group[0].count > 0)
        grpo_values_take_(&m->values, grpo_success_rate_(&e->group[0]));
}

/* converts the batch's moments to what items and tokens read */
static void grpo_take_moments_(grpo_estimator_ *e, const grpo_moments *m) {
    const grpo_advantage *a = &e->obj->advantage;
    const double factor = grpo_batch_reweight_(a->reweight, m);
    e->reweight = factor;
    e->batch_count = (double)m->values.count;
    e->tokens = (double)m->tokens;
    e->entropy = grpo_sum_dd_(&m->entropy);
    e->divergence = grpo_sum_dd_(&m->divergence);
    e->batch_variance = grpo_variance_(&m->values, a->std);
    e->batch_sum = grpo_sum_dd_(&m->values.sum);
    if (a->scale == GRPO_SCALE_BETA) grpo_take_beta_(e, &m->values);
    if (a->scale == GRPO_SCALE_TOKEN_WHITEN) {                          /* of A = factor own + rest */
        e->batch_variance *= factor * factor;
        e->batch_sum = grpo_dd_mul(e->batch_sum, factor);
        grpo_take_moments_of_parts_(e, m);
    } else if (a->baseline == GRPO_BASELINE_BATCH_MEAN) {
        e->items = (double)m->items;
        for (int k = 0; k < e->columns; k++) e->column_sum[k] = grpo_sum_dd_(&m->column[k]);
    }
}

GRPO_COLD_ void grpo_add_moments_(grpo_estimator_ *e, grpo_moments *moments) {
    for (int64_t g = 0; g < e->batch->n_groups; g++) {
        grpo_take_group_(e, g);
        grpo_moments_add_group_(e, moments);
    }
}

GRPO_NOINLINE_ void grpo_take_own_moments_(grpo_estimator_ *e) {
    grpo_moments m;
    memset(&m, 0, sizeof m);
    grpo_add_moments_(e, &m);
    grpo_take_moments_(e, &m);
}

/* ---- evaluation in parts: micro-batches, ranks ------------------------------------------------------------------------------------ */
#define GRPO_TOTALS_ offsetof(grpo_totals, tokens), offsetof(grpo_totals, rollout_is_sum)
#define GRPO_PARTIAL_ offsetof(grpo_partial, tokens), offsetof(grpo_partial, ratio_min)

GRPO_COLD_ grpo_status grpo_check_totals_(const grpo_totals *n) {
    if (!n) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_totals_);
    return grpo_are_counts_(n, GRPO_TOTALS_) ? GRPO_OK : GRPO_STATUS_(GRPO_OUT_OF_RANGE, GRPO_AT_totals_);
}

grpo_status grpo_totals_add(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, grpo_totals *totals) {
    grpo_status st = obj ? grpo_check_totals_(totals) : GRPO_STATUS_(GRPO_NULL, GRPO_AT_objective_);
    if (!st) st = grpo_check_(obj, batch, advantage, grpo_count_needs_, 0, 0);
    if (!st) grpo_count_all_(obj, batch, advantage, totals);
    return st;
}

GRPO_COLD_ grpo_status grpo_check_moments_(const grpo_moments *m) {
    if (!m) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_moments_);
    return m->values.count >= 0 && m->values.count <= GRPO_MAX_COUNT_ && grpo_are_counts_(m, offsetof(grpo_moments, tokens), sizeof *m)
        ? GRPO_OK : GRPO_STATUS_(GRPO_OUT_OF_RANGE, GRPO_AT_moments_);
}

grpo_status grpo_moments_add(const grpo_objective *obj, const grpo_batch *batch, grpo_moments *moments) {
    grpo_estimator_ e;
    grpo_status st = obj ? grpo_check_moments_(moments) : GRPO_STATUS_(GRPO_NULL, GRPO_AT_objective_);
    if (!st) st = grpo_estimator_start_(&e, obj, batch);
    if (!st) grpo_add_moments_(&e, moments);
    return st;
}

GRPO_COLD_ void grpo_add_counts_(void *into, const void *from, size_t at, size_t end) {
    for (; at < end; at += sizeof(int64_t)) {
        const int64_t sum = grpo_count_at_(into, at) + grpo_count_at_(from, at);
        memcpy((char *)into + at, &sum, sizeof sum);
    }
}

grpo_status grpo_totals_merge(grpo_totals *into, const grpo_totals *from) {
    if (!into || grpo_check_totals_(into)) return GRPO_STATUS_(into ? GRPO_OUT_OF_RANGE : GRPO_NULL, GRPO_AT_into_);
    if (!from || grpo_check_totals_(from)) return GRPO_STATUS_(from ? GRPO_OUT_OF_RANGE : GRPO_NULL, GRPO_AT_from_);
    const int64_t ranks = into->ranks > from->ranks ? into->ranks : from->ranks;
    grpo_add_counts_(into, from, GRPO_TOTALS_);
    into->ranks = ranks;
    grpo_sum_merge_(&into->rollout_is_sum, &from->rollout_is_sum);
    grpo_sum_carry_(&into->rollout_is_sum);
    return GRPO_OK;
}

grpo_status grpo_moments_merge(grpo_moments *into, const grpo_moments *from) {
    if (!into || grpo_check_moments_(into)) return GRPO_STATUS_(into ? GRPO_OUT_OF_RANGE : GRPO_NULL, GRPO_AT_into_);
    if (!from || grpo_check_moments_(from)) return GRPO_STATUS_(from ? GRPO_OUT_OF_RANGE : GRPO_NULL, GRPO_AT_from_);
    grpo_values_merge_(&into->values, &from->values);
    for (size_t at = offsetof(grpo_moments, rest); at < offsetof(grpo_moments, tokens); at += sizeof(grpo_sum))       /* all are grpo_sum */
        grpo_sum_merge_((grpo_sum *)(void *)((char *)into + at), (const grpo_sum *)(const void *)((const char *)from + at));
    grpo_add_counts_(into, from, offsetof(grpo_moments, tokens), sizeof *into);
    return GRPO_OK;
}

grpo_status grpo_advantages_with_moments(const grpo_objective *obj, const grpo_batch *batch, const grpo_moments *moments,
    grpo_real *advantage) {
    grpo_status st = GRPO_OK;
    if (!obj) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_objective_);
    if (!advantage) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_advantage_);
    if (grpo_needs_moments_(&obj->advantage)) st = grpo_check_moments_(moments);
    return st ? st : grpo_estimate_(obj, batch, moments, advantage);
}

/* 1 if part may be of all */
GRPO_COLD_ int grpo_totals_cover_(const grpo_totals *all, const grpo_totals *part, size_t at, size_t end) {
    for (; at < end; at += sizeof(int64_t)) if (grpo_count_at_(all, at) < grpo_count_at_(part, at)) return 0;
    return all->tokens - all->positive_tokens >= part->tokens - part->positive_tokens
        && all->sequences_nonempty - all->positive_sequences >= part->sequences_nonempty - part->positive_sequences;
}

GRPO_COLD_ int grpo_same_scales_(const grpo_scales *a, const grpo_scales *b) {
    return a->divisor == b->divisor && a->factor == b->factor && a->by_sign[0] == b->by_sign[0] && a->by_sign[1] == b->by_sign[1]
        && a->nll == b->nll && a->preference == b->preference && a->pointwise == b->pointwise && a->own[0] == b->own[0]
        && a->own[1] == b->own[1] && a->norm.hi == b->norm.hi && a->norm.lo == b->norm.lo && a->norm_top == b->norm_top;
}

/* the divisors and factors from the totals, which must cover the batch's `own` counts; the partial, if there is one, must have the same */
static grpo_status grpo_scales_between_(const grpo_objective *obj, const grpo_totals *totals, const grpo_totals *own,
                                        const grpo_partial *partial, grpo_scales *scales) {
    if (partial && !grpo_are_counts_(partial, GRPO_PARTIAL_)) return GRPO_STATUS_(GRPO_OUT_OF_RANGE, GRPO_AT_partial_);
    if (!grpo_are_counts_(totals, GRPO_TOTALS_)) return GRPO_STATUS_(GRPO_OUT_OF_RANGE, GRPO_AT_totals_);
    if (!grpo_totals_cover_(totals, own, GRPO_TOTALS_)) return GRPO_STATUS_(GRPO_TOO_SMALL, GRPO_AT_totals_);
    *scales = grpo_scales_of_(obj, totals);
    if (partial && partial->scales.divisor != 0 && !grpo_same_scales_(&partial->scales, scales))
        return GRPO_STATUS_(GRPO_MIXED, GRPO_AT_partial_);
    return GRPO_OK;
}

GRPO_COLD_ grpo_status grpo_check_scratch_(const grpo_output *out, const grpo_method_ *how) {
    if (how->scratch <= 0) return GRPO_OK;
    if (!out || !out->scratch) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_scratch_);
    return out->scratch_size >= how->scratch ? GRPO_OK : GRPO_STATUS_(GRPO_TOO_SMALL, GRPO_AT_scratch_size_);
}

GRPO_NOINLINE_ grpo_status grpo_take_scales_(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                                          const grpo_totals *totals, const grpo_partial *partial, grpo_scales *scales) {
    grpo_totals own;
    memset(&own, 0, sizeof own);
    grpo_count_all_(obj, batch, advantage, &own);
    return grpo_scales_between_(obj, totals ? totals : &own, &own, partial, scales);
}

grpo_status grpo_partial_merge(grpo_partial *into, const grpo_partial *from) {
    if (!into || !grpo_are_counts_(into, GRPO_PARTIAL_)) return GRPO_STATUS_(into ? GRPO_OUT_OF_RANGE : GRPO_NULL, GRPO_AT_into_);
    if (!from || !grpo_are_counts_(from, GRPO_PARTIAL_)) return GRPO_STATUS_(from ? GRPO_OUT_OF_RANGE : GRPO_NULL, GRPO_AT_from_);
    if (from->scales.divisor == 0) return GRPO_OK;
    if (into->scales.divisor != 0 && !grpo_same_scales_(&into->scales, &from->scales)) return GRPO_STATUS_(GRPO_MIXED, GRPO_AT_from_);
    into->scales = from->scales;
    for (int k = 0; k < GRPO_N_SUMS; k++) grpo_sum_merge_(&into->sum[k], &from->sum[k]);
    if (from->tokens && (!into->tokens || from->ratio_min < into->ratio_min)) into->ratio_min = from->ratio_min;
    if (from->tokens && (!into->tokens || from->ratio_max > into->ratio_max)) into->ratio_max = from->ratio_max;
    grpo_add_counts_(into, from, GRPO_PARTIAL_);
    into->overflow |= from->overflow;
    return GRPO_OK;
}

/* ---- fields, names ------------------------------------------------------------------------------------------------------------- */
/* all fields, axis by axis: a choice with GRPO_..._CHOICES, a number with its domain */
#define GRPO_FIELDS_(CHOICE, NUMBER) \
    CHOICE(reward.truncated, REWARD_TRUNCATED) NUMBER(reward.truncated_factor, FINITE) CHOICE(reward.length, LENGTH) \
    NUMBER(reward.length_coef, FINITE) NUMBER(reward.length_max, FINITE) NUMBER(reward.correct_low, FINITE) \
    NUMBER(reward.correct_high, FINITE) NUMBER(reward.wrong_low, FINITE) NUMBER(reward.wrong_high, FINITE) \
    CHOICE(reward.overlong, OVERLONG) NUMBER(reward.overlong_max, FINITE) NUMBER(reward.overlong_cache, FINITE) \
    NUMBER(reward.overlong_factor, FINITE) CHOICE(reward.map, MAP) NUMBER(reward.map_bias, FINITE) NUMBER(reward.map_factor, FINITE) \
    NUMBER(reward.map_low, ANY) NUMBER(reward.map_high, ANY) CHOICE(reward.kl, KL) NUMBER(reward.kl_coef, FINITE) \
    CHOICE(advantage.rewards, REWARDS) CHOICE(advantage.step_value, STEP_VALUE) CHOICE(advantage.step_group, STEP_GROUP) \
    NUMBER(advantage.history_length, FINITE) NUMBER(advantage.history_power, FINITE) CHOICE(advantage.excluded, EXCLUDED) \
    NUMBER(advantage.excluded_coef, FINITE) CHOICE(advantage.transform, TRANSFORM) NUMBER(advantage.pass_k, FINITE) \
    CHOICE(advantage.baseline, BASELINE) NUMBER(advantage.baseline_shift, FINITE) NUMBER(advantage.quantile, FINITE) \
    NUMBER(advantage.temperature, FINITE) NUMBER(advantage.hdi_mass, FINITE) NUMBER(advantage.process_noise, FINITE) \
    NUMBER(advantage.observation_noise, FINITE) CHOICE(advantage.scale, SCALE) CHOICE(advantage.std, STD) \
    CHOICE(advantage.samples, SAMPLES) NUMBER(advantage.eps, FACTOR) NUMBER(advantage.scale_divisor, FACTOR) \
    CHOICE(advantage.eps_place, EPS_PLACE) CHOICE(advantage.singleton, SINGLETON) CHOICE(advantage.reweight, REWEIGHT) \
    NUMBER(advantage.difficulty_weight_low, FINITE) NUMBER(advantage.focal_reward_low, FINITE) \
    NUMBER(advantage.difficulty_weight_high, FINITE) NUMBER(advantage.focal_reward_high, FINITE) \
    NUMBER(advantage.difficulty_slope, FINITE) NUMBER(advantage.difficulty_midpoint, FINITE) NUMBER(advantage.length_power, FINITE) \
    NUMBER(advantage.reweight_temperature, FINITE) NUMBER(advantage.focal_gamma, FINITE) CHOICE(advantage.batch_norm, BATCH_NORM) \
    NUMBER(advantage.batch_norm_eps, FACTOR) CHOICE(advantage.credit, CREDIT) CHOICE(advantage.step_discount, STEP_DISCOUNT) \
    CHOICE(advantage.bootstrap, BOOTSTRAP) NUMBER(advantage.gamma, PART) NUMBER(advantage.step_gamma, PART) NUMBER(advantage.lambda, PART) \
    NUMBER(advantage.lambda_length, FACTOR) NUMBER(advantage.truncated_tail, WHOLE) NUMBER(advantage.step_coef, FINITE) \
    NUMBER(advantage.entropy_share_coef, FINITE) NUMBER(advantage.entropy_share_eps, FINITE) \
    CHOICE(advantage.token_baseline, TOKEN_BASELINE) CHOICE(advantage.entropy, ENTROPY) NUMBER(advantage.entropy_coef, FINITE) \
    NUMBER(advantage.entropy_kappa, FINITE) NUMBER(advantage.entropy_max, FINITE) NUMBER(advantage.teacher_share, PART) \
    NUMBER(advantage.teacher_clip, BELOW_ONE) NUMBER(advantage.teacher_coef, FINITE) NUMBER(advantage.teacher_gamma, PART) \
    CHOICE(advantage.teacher_norm, TEACHER_NORM) NUMBER(advantage.kl_centred_coef, FINITE) CHOICE(advantage.marked, MARKED) \
    NUMBER(advantage.marked_value, FINITE) NUMBER(advantage.clamp_low, ANY) NUMBER(advantage.clamp_high, ANY) \
    CHOICE(ratio.level, LEVEL) CHOICE(ratio.gradient, GRADIENT) CHOICE(ratio.behaviour, BEHAVIOUR) NUMBER(ratio.token_clip_low, BOUND) \
    NUMBER(ratio.token_clip_high, BOUND) NUMBER(ratio.power, FINITE) NUMBER(ratio.clamp_low, ANY) NUMBER(ratio.clamp_high, ANY) \
    NUMBER(ratio.level_clamp_low, ANY) NUMBER(ratio.level_clamp_high, ANY) CHOICE(ratio.interpolate, INTERPOLATE) \
    NUMBER(ratio.interpolate_token, FINITE) NUMBER(ratio.interpolate_level, FINITE) \
    CHOICE(surrogate.kind, SURROGATE) CHOICE(surrogate.group_score, GROUP_SCORE) CHOICE(surrogate.bounds, BOUNDS) \
    NUMBER(surrogate.eps_low, BOUND) NUMBER(surrogate.eps_high, BOUND) NUMBER(surrogate.quadratic_eps, BOUND) \
    NUMBER(surrogate.bound_cap, BOUND) NUMBER(surrogate.log_low, BOUND) NUMBER(surrogate.log_high, BOUND) \
    NUMBER(surrogate.log_clip_dual, BOUND) NUMBER(surrogate.position_power, POWER) NUMBER(surrogate.clip_dual, ANY) \
    NUMBER(surrogate.clip_dual_pos, ANY) NUMBER(surrogate.gppo_beta_low, FACTOR) NUMBER(surrogate.gppo_beta_high, FACTOR) \
    NUMBER(surrogate.weight_min, FINITE) NUMBER(surrogate.weight_max, ANY) NUMBER(surrogate.weight_min_neg, FINITE) \
    NUMBER(surrogate.weight_max_neg, ANY) NUMBER(surrogate.tau_pos, FINITE) NUMBER(surrogate.advantage_temperature, FINITE) \
    NUMBER(surrogate.tau_neg, FINITE) NUMBER(surrogate.vespo_k_pos, FINITE) NUMBER(surrogate.vespo_lambda_pos, FINITE) \
    NUMBER(surrogate.vespo_k_neg, FINITE) NUMBER(surrogate.vespo_lambda_neg, FINITE) NUMBER(surrogate.beta, FINITE) \
    NUMBER(surrogate.reward_beta, FINITE) NUMBER(surrogate.length_decay, FINITE) NUMBER(surrogate.logit_shift, FINITE) \
    NUMBER(surrogate.hinge_margin, FINITE) NUMBER(surrogate.shaping_gamma, FINITE) NUMBER(surrogate.min_gap, FACTOR) \
    NUMBER(surrogate.group_score_eps, FACTOR) NUMBER(surrogate.contrast_temperature, FACTOR) NUMBER(surrogate.contrast_margin, FINITE) \
    CHOICE(penalty.kl, PENALTY_KL) CHOICE(penalty.kl_reference, KL_REFERENCE) CHOICE(penalty.kl_on, KL_ON) \
    CHOICE(penalty.kl_gradient, KL_GRADIENT) CHOICE(penalty.kl_importance_weight, KL_IMPORTANCE_WEIGHT) \
    NUMBER(penalty.kl_importance_weight_max, BOUND) NUMBER(penalty.kl_coef, FINITE) NUMBER(penalty.kl_clamp_log, BOUND) \
    NUMBER(penalty.kl_clamp_value, BOUND) CHOICE(penalty.kl_clamp_on, KL_CLAMP_ON) CHOICE(penalty.kl_aggregation, PENALTY_AGGREGATION) \
    NUMBER(penalty.entropy_coef, FINITE) CHOICE(penalty.entropy_aggregation, PENALTY_AGGREGATION) CHOICE(penalty.nll_on, NLL) \
    CHOICE(penalty.nll_weight, NLL_WEIGHT) CHOICE(penalty.nll_form, NLL_FORM) CHOICE(penalty.nll_gate, NLL_GATE) \
    NUMBER(penalty.nll_teacher_slope, FINITE) NUMBER(penalty.nll_coef, FINITE) CHOICE(penalty.preference, PREFERENCE) \
    CHOICE(penalty.preference_score, PREFERENCE_SCORE) NUMBER(penalty.preference_min_gap, FACTOR) NUMBER(penalty.preference_beta, FINITE) \
    NUMBER(penalty.preference_coef, FINITE) NUMBER(penalty.preference_kappa, FACTOR) \
    CHOICE(weight.truncated, WEIGHT_TRUNCATED) CHOICE(weight.trust, TRUST) NUMBER(weight.trust_low, BOUND) \
    NUMBER(weight.trust_high, BOUND) NUMBER(weight.rec_outer_low, FACTOR) NUMBER(weight.rec_outer_high, BOUND) \
    CHOICE(weight.off_policy_mask, OFF_POLICY_MASK) NUMBER(weight.off_policy_mask_threshold, ANY) CHOICE(weight.selected, SELECTED) \
    CHOICE(weight.rollout_is, ROLLOUT_IS) CHOICE(weight.rollout_is_level, ROLLOUT_IS_LEVEL) NUMBER(weight.rollout_is_low, FINITE) \
    NUMBER(weight.rollout_is_high, ANY) NUMBER(weight.rollout_clamp, ANY) CHOICE(weight.rollout_is_norm, ROLLOUT_IS_NORM) \
    CHOICE(weight.policy_is, POLICY_IS) NUMBER(weight.policy_is_low, FINITE) NUMBER(weight.policy_is_high, ANY) \
    CHOICE(weight.rollout_rs, ROLLOUT_RS) CHOICE(weight.rollout_rs_level, ROLLOUT_RS_LEVEL) NUMBER(weight.rollout_rs_low, ANY) \
    NUMBER(weight.rollout_rs_high, ANY) NUMBER(weight.rollout_veto, FACTOR) CHOICE(weight.rollout_rejected, ROLLOUT_REJECTED) \
    CHOICE(weight.fipo, FIPO) NUMBER(weight.fipo_half_life, FINITE) NUMBER(weight.fipo_ratio_max, ANY) NUMBER(weight.fipo_low, FINITE) \
    NUMBER(weight.fipo_high, ANY) NUMBER(weight.fipo_safe_ratio, ANY) NUMBER(weight.fipo_safe_low, FINITE) \
    NUMBER(weight.fipo_safe_high, ANY) CHOICE(weight.external, EXTERNAL) \
    CHOICE(aggregation.kind, AGGREGATION) NUMBER(aggregation.constant, FINITE) NUMBER(aggregation.power, FINITE) \
    CHOICE(aggregation.empty_sequences, EMPTY_SEQUENCES)

const grpo_field *grpo_fields(int *count) {
#define GRPO_NAME_OR_(id, name, ...) "|" #name
#define GRPO_ONE_(...) + 1
#ifndef GRPO_NO_PATHS_
#define GRPO_CHOICE_(path, of) { #path, &(GRPO_##of##_CHOICES(GRPO_NAME_OR_))[1], GRPO_FIELD_(path), 0 GRPO_##of##_CHOICES(GRPO_ONE_), 0 },
#define GRPO_NUMBER_(path, domain) { #path, NULL, GRPO_FIELD_(path), 0, GRPO_##domain##_ },
#else
#define GRPO_CHOICE_(path, of) { "", "", GRPO_FIELD_(path), 0 GRPO_##of##_CHOICES(GRPO_ONE_), 0 },
#define GRPO_NUMBER_(path, domain) { "", "", GRPO_FIELD_(path), 0, GRPO_##domain##_ },
#endif
    static const grpo_field fields[] = { GRPO_FIELDS_(GRPO_CHOICE_, GRPO_NUMBER_) };
    *count = (int)(sizeof fields / sizeof *fields);
    return fields;
}

/* choices are read and written as int: the compiler may give an enum either signedness, but no other size */
typedef char grpo_enums_are_ints_[sizeof(grpo_credit_kind) == sizeof(int) ? 1 : -1];

double grpo_objective_get(const grpo_objective *obj, const grpo_field *field) {
    return field->n_choices ? grpo_choice_at_(obj, field->offset) : grpo_number_at_(obj, field->offset);
}

grpo_domain grpo_field_domain(const grpo_field *field) { return grpo_domains_[field->domain]; }

#ifndef GRPO_NO_PATHS_
#if defined(GRPO_NO_TEXT) || defined(GRPO_NO_ROWS)
#define grpo_nearest_(what, given) ((void)(given), -1)
#define grpo_append_help_(buffer, size, st, what) ((void)(st))
#else                 /* in grpo_rows.h: the row, field or choice of a field that a misspelt one may stand for, -1: none; what helps */
static int grpo_nearest_(int what, const char *given);
static void grpo_append_help_(char *buffer, size_t size, grpo_status st, int what);
#endif
static const grpo_field *grpo_field_named_(const char *path) {
    int n;
    const grpo_field *f = grpo_fields(&n);
    for (int i = 0; path && i < n; i++) if (strcmp(f[i].path, path) == 0) return &f[i];
    return NULL;
}

static grpo_status grpo_refuse_field_(const grpo_field *f, const char *path, grpo_rule rule, const char *choice) {
    if (!f) return grpo_status_at_(GRPO_UNKNOWN, GRPO_AT_path_, grpo_nearest_(GRPO_AT_path_, path));
    return grpo_status_at_(rule, grpo_at_field_(f->offset), choice ? grpo_nearest_(grpo_at_field_(f->offset), choice) : -1);
}

grpo_status grpo_objective_set(grpo_objective *obj, const char *path, double value) {
    const grpo_field *f = grpo_field_named_(path);
    if (!obj) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_objective_);
    if (!f || value != value) return grpo_refuse_field_(f, path, GRPO_NAN, NULL);
    if (f->n_choices && !(value >= 0 && value < f->n_choices && value == floor(value)))
        return grpo_refuse_field_(f, path, GRPO_NOT_A_CHOICE, NULL);
    if (f->n_choices) {
        const int choice = (int)value;
        memcpy((char *)obj + f->offset, &choice, sizeof choice);
    } else memcpy((char *)obj + f->offset, &value, sizeof value);
    return GRPO_OK;
}

grpo_status grpo_objective_choose(grpo_objective *obj, const char *path, const char *choice) {
    const grpo_field *f = grpo_field_named_(path);
    const char *p;
    int k = 0;
    if (!obj) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_objective_);
    if (!f || !f->choices || !choice) return grpo_refuse_field_(f, path, GRPO_NOT_A_CHOICE, NULL);
    for (p = f->choices; p; p = strchr(p, '|'), p = p ? p + 1 : NULL, k++) {
        size_t n = strcspn(p, "|");
        if (strlen(choice) == n && strncmp(choice, p, n) == 0) return grpo_objective_set(obj, path, k);
    }
    return grpo_refuse_field_(f, path, GRPO_NOT_A_CHOICE, choice);
}
#endif

/* ---- texts of statuses ---- */
#ifndef GRPO_NO_TEXT
const char *grpo_status_name(grpo_status st) {
#define GRPO_RULE_NAME_(id, text) #id,
    static const char *const names[] = { "GRPO_OK", GRPO_RULES(GRPO_RULE_NAME_) };
    const int rule = grpo_status_rule(st);
    return rule < GRPO_N_RULES ? names[rule] : "";
}

const char *grpo_status_text(grpo_status st) {
#define GRPO_TEXT_(id, text) text,
    static const char *const texts[] = { "all is well", GRPO_RULES(GRPO_TEXT_) };
    const int rule = grpo_status_rule(st);
    return rule < GRPO_N_RULES ? texts[rule] : "is not a status of this library";
}

static const char *grpo_name_at_(int what) {
#define GRPO_ARRAY_NAME_(member, ...) "batch." #member,
#define GRPO_NAME_(id, text) text,
    static const char *const names[] = { GRPO_ARRAYS_(GRPO_ARRAY_NAME_) GRPO_NAMES_(GRPO_NAME_) };
    static const char *const arguments[] = { "argument 1", "argument 2", "argument 3", "argument 4", "argument 5", "argument 6",
        "argument 7", "argument 8", "argument 9", "argument 10", "argument 11", "argument 12", "argument 13", "argument 14", "argument 15",
        "argument 16" };
    int n;
    const grpo_field *f = grpo_fields(&n);
    if (what >= 1 && what <= n) return f[what - 1].path;
    if (what > GRPO_AT_LAST_FIELD_ && what < GRPO_AT_END_) return names[what - GRPO_AT_LAST_FIELD_ - 1];
    return what > GRPO_AT_ARGUMENT_ && what <= GRPO_AT_ARGUMENT_ + 16 ? arguments[what - GRPO_AT_ARGUMENT_ - 1] : "";
}

const char *grpo_status_what(grpo_status st) { return grpo_name_at_((int)(st >> 8 & 1023)); }
const char *grpo_status_other(grpo_status st) { return grpo_name_at_((int)(st >> 18 & 1023)); }

/* appends text to the string in buffer, cut where size bytes are full */
GRPO_NOINLINE_ void grpo_append_(char *buffer, size_t size, const char *text) {
    const size_t begin = strlen(buffer), room = size - begin - 1, n = strlen(text) < room ? strlen(text) : room;
    memcpy(buffer + begin, text, n);
    buffer[begin + n] = 0;
}

static void grpo_append_index_(char *buffer, size_t size, int64_t index) {
    char digits[24];
    char *p = digits + sizeof digits;
    *--p = 0;
    *--p = ']';
    do { *--p = (char)('0' + (int)(index % 10)); index /= 10; } while (index);
    *--p = '[';
    grpo_append_(buffer, size, p);
}

const char *grpo_status_message(grpo_status st, char *buffer, size_t size) {
    const int what = (int)(st >> 8 & 1023), other = (int)(st >> 18 & 1023);
    const int first = what > GRPO_AT_LAST_FIELD_ && what != GRPO_AT_name_ && what != GRPO_AT_path_;    /* the index is of `what` */
    const int second = what <= GRPO_AT_LAST_FIELD_ && other > GRPO_AT_LAST_FIELD_;                      /* of `other`: a field has none */
    const int64_t index = grpo_status_index(st);
    if (size == 0) return "";
    buffer[0] = 0;
    grpo_append_(buffer, size, grpo_name_at_(what));
    if (index >= 0 && first) grpo_append_index_(buffer, size, index);
    if (what) grpo_append_(buffer, size, " ");
    grpo_append_(buffer, size, grpo_status_text(st));
    if (other) grpo_append_(buffer, size, " ");
    grpo_append_(buffer, size, grpo_name_at_(other));
    if (index >= 0 && second) grpo_append_index_(buffer, size, index);
    grpo_append_help_(buffer, size, st, what);
    return buffer;
}
#endif
GRPO_C_END_

#ifndef GRPO_NO_ROWS
#include "grpo_rows.h"
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
