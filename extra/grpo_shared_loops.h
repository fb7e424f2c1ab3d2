/* grpo_shared_loops.h - the loops over blocks of logits, for each instruction set.
 * Internal: extra/grpo_logits.h includes it.
 *
 * Rows of float, bfloat16 and binary16, by loops that compilers vectorise: trip counts known at compile time, plain local variables, no
 * branch.  With h = tau ln 2,
 *
 *     e^((z - R)/tau) = 2^n e^(g/tau),   n = round((z - R)/h),   g = (z - R) - n h,   |g| <= h/2
 *
 * (Cody and Waite, "Software Manual for the Elementary Functions", 1980, ch. 6).  Rounding z/tau itself would cost |z/tau| ulps.  R is 0 if
 * the largest logit is within 512 h of 0, else the largest logit rounded to a few bits: in both cases z - R is exact where the power is not
 * 0.  h = h1 + h2, with h1 so short that n h1 is exact.  So g has an error of at most 2^-25 h, and the power a relative one of 0.9 2^-23.
 *
 * A power is stored as 2^64 times its ratio to 2^N, the smallest power of two that no power exceeds: so small ones reach down to 2^-190 of
 * the largest, and those below are 0.  Sums of eight powers are added in float, sums of these in double.
 *
 * On x86-64 with gcc and clang the loops are compiled three times, for the target of the whole program, for AVX2 with FMA and for AVX-512,
 * and each row uses the widest that the processor has; GRPO_NO_DISPATCH compiles the first only.  All have the same steps in the same order
 * in as many lanes, except that multiplications and additions are fused if the processor can: so all loops with FMA give the same bits, and
 * all without give the same bits. */
#ifndef GRPO_SHARED_LOOPS_H
#define GRPO_SHARED_LOOPS_H

#include "grpo_shared_logits.h"

GRPO_C_BEGIN_

#if defined(__GNUC__)
#define GRPO_ROW_STEPS_ static inline __attribute__((always_inline))       /* inlined into a loop, and compiled for its instruction set */
#else
#define GRPO_ROW_STEPS_ static inline
#endif

/* 1 if every processor that can run the program fuses a multiplication and an addition */
#if defined(FP_FAST_FMAF) || defined(__FMA__) || defined(__aarch64__)
#define GRPO_FUSED_ 1
#else
#define GRPO_FUSED_ 0
#endif

/* prefetches `bytes` of memory that is read or written some steps later; it may be beyond the row, which does no harm */
#if defined(__GNUC__)
#define GRPO_PREFETCH_(x, bytes, write) \
    for (int line = 0; line < (bytes); line += 64) __builtin_prefetch((const void *)((uintptr_t)(x) + (uintptr_t)(2048 + line)), write, 3)
#else
#define GRPO_PREFETCH_(x, bytes, write) (void)(x)
#endif

enum { GRPO_ROW_BLOCK_ = 1024, GRPO_ROW_LANES_ = 16, GRPO_STRIDE_ = 4 * GRPO_ROW_LANES_, GRPO_STEP_ = 8 * GRPO_ROW_LANES_ };

/* constants of a temperature: 1/h, h1, h2, and e^(g/tau) = 1 + b1 g + ... + b6 g^6 with an error of 4.2e-9; and of a row's largest logit:
 * R, N, 1.5 2^23 + 191 - N, the lower bound of z - R, and largest - R */
typedef struct {
    float per, h1, h2, b1, b2, b3, b4, b5, b6;
    float origin, top, shift, least, from;
} grpo_exps_;

/* the sums of each lane of a block */
typedef struct { double sum[GRPO_ROW_LANES_], spread[GRPO_ROW_LANES_], squares[GRPO_ROW_LANES_]; } grpo_lanes_;

/* the gradient at a token that is not the target, over its power: at + slope (z - largest) */
typedef struct { double at, slope; } grpo_slope_;

/* the polynomial with a constant multiplied in: at e^(g/tau) = (high + low) + c1 g + ... + c6 g^6 */
typedef struct { float high, low, c1, c2, c3, c4, c5, c6; } grpo_powers_;

/* ---- steps: `fused` is known at compile time -------------------------------------------------------------------------------------- */

GRPO_ROW_STEPS_ GRPO_LOGITS_FN float grpo_madd_(const int fused, float a, float b, float c) { return fused ? fmaf(a, b, c) : a * b + c; }
GRPO_ROW_STEPS_ double grpo_madd_double_(const int fused, double a, double b, double c) { return fused ? fma(a, b, c) : a * b + c; }

/* z - R, not below `least` */
GRPO_ROW_STEPS_ GRPO_LOGITS_FN float grpo_above_(float z, float origin, float least) {
    const float d = z - origin;
    return d < least ? least : d;                                      /* NaN stays */
}

/* 2^(64 - N) high e^(d/tau); with `twice` 1, (high + low) in place of high and b1 .. b6 multiplied by it already.  n is in the low bits of
 * t, and is shifted from there into the exponent, which becomes 0 for `least` */
GRPO_ROW_STEPS_ GRPO_LOGITS_FN float grpo_exp_float_(const int fused, float d, float shift, float per, float h1, float h2, const int twice,
                                                     float high, float low, float b1, float b2, float b3, float b4, float b5, float b6) {
    const float t = grpo_madd_(fused, d, per, shift), n = shift - t;
    const float g = grpo_madd_(fused, n, h2, grpo_madd_(fused, n, h1, d));
    float p = grpo_madd_(fused, g, b6, b5);
    p = grpo_madd_(fused, p, g, b4);
    p = grpo_madd_(fused, p, g, b3);
    p = grpo_madd_(fused, p, g, b2);
    p = grpo_madd_(fused, p, g, b1);
    p = twice ? high + grpo_madd_(fused, p, g, low) : grpo_madd_(fused, p, g, high);
    return p * grpo_float_of_bits_(grpo_bits_of_float_(t) << 23);
}

#define GRPO_EXP_LOCALS_(k) \
    const float shift = (k)->shift, per = (k)->per, h1 = (k)->h1, h2 = (k)->h2, origin = (k)->origin, least = (k)->least, \
                from = (k)->from, b1 = (k)->b1, b2 = (k)->b2, b3 = (k)->b3, b4 = (k)->b4, b5 = (k)->b5, b6 = (k)->b6
#define GRPO_EXP_(d) grpo_exp_float_(fused, d, shift, per, h1, h2, 0, 1.0f, 0.0f, b1, b2, b3, b4, b5, b6)

GRPO_ROW_STEPS_ float grpo_largest_of_(const float *most) {
    float m = most[0];
    for (int j = 1; j < GRPO_ROW_LANES_; j++) m = most[j] > m ? most[j] : m;
    return m;
}

/* the largest of n numbers, n a multiple of GRPO_STEP_; NaN is skipped */
GRPO_ROW_STEPS_ float grpo_row_largest_(const float *z, int64_t n) {
    float most[GRPO_ROW_LANES_];
    for (int j = 0; j < GRPO_ROW_LANES_; j++) most[j] = -HUGE_VALF;
    for (int64_t v = 0; v < n; v += GRPO_ROW_LANES_)
        for (int j = 0; j < GRPO_ROW_LANES_; j++) most[j] = z[v + j] > most[j] ? z[v + j] : most[j];
    return grpo_largest_of_(most);
}

/* logit i of a lane, z - R, its power, z - largest */
#define GRPO_LANE_(i) \
    const float z##i = y[i * GRPO_ROW_LANES_], d##i = grpo_above_(z##i, origin, least), e##i = GRPO_EXP_(d##i), x##i = d##i - from
#define GRPO_LARGER_(a, b) ((a) > (b) ? (a) : (b))
#define GRPO_2_64_ 5.421010862427522e-20f                              /* 2^-64 */

/* a x + b y + c z + d w */
GRPO_ROW_STEPS_ GRPO_LOGITS_FN float grpo_four_(const int fused, float a, float x, float b, float y, float c, float z, float d, float w) {
    return grpo_madd_(fused, d, w, grpo_madd_(fused, c, z, grpo_madd_(fused, b, y, a * x)));
}

/* sums of e, e (z - largest) and, with `squares`, (2^-64 e)^2 over a block; returns the block's largest logit.  Float and double loops
 * alternate: a loop with both would have vectors of double only.  at_zero: R is 0. */
GRPO_ROW_STEPS_ float grpo_row_sums_(const int fused, const int at_zero, const int squares, const float *GRPO_RESTRICT_ z, int64_t size,
                                     const grpo_exps_ *k, grpo_lanes_ *out) {
    const float shift = k->shift, per = k->per, h1 = k->h1, h2 = k->h2, least = k->least, from = k->from;
    const float b1 = k->b1, b2 = k->b2, b3 = k->b3, b4 = k->b4, b5 = k->b5, b6 = k->b6, origin = at_zero ? 0.0f : k->origin;
    double sums[3 * GRPO_ROW_LANES_];                                  /* one array, like `part`: gcc -O3 would unroll shorter ones */
    float most[GRPO_ROW_LANES_], part[3 * GRPO_ROW_LANES_], *s = part, *w = part + GRPO_ROW_LANES_, *q = part + 2 * GRPO_ROW_LANES_;
    for (int j = 0; j < 3 * GRPO_ROW_LANES_; j++) sums[j] = 0;
    for (int j = 0; j < GRPO_ROW_LANES_; j++) most[j] = -HUGE_VALF;
    for (int64_t v = 0; v < size; v += GRPO_STEP_) {
        GRPO_PREFETCH_(z + v, GRPO_STEP_ * 4, 0);
        for (int j = 0; j < GRPO_ROW_LANES_; j++) {
            const float *y = z + v + j;
            GRPO_LANE_(0); GRPO_LANE_(1); GRPO_LANE_(2); GRPO_LANE_(3);
            GRPO_LANE_(4); GRPO_LANE_(5); GRPO_LANE_(6); GRPO_LANE_(7);
            const float z01 = GRPO_LARGER_(z0, z1), z23 = GRPO_LARGER_(z2, z3), z45 = GRPO_LARGER_(z4, z5), z67 = GRPO_LARGER_(z6, z7);
            const float first = GRPO_LARGER_(z01, z23), second = GRPO_LARGER_(z45, z67), larger = GRPO_LARGER_(first, second);
            most[j] = GRPO_LARGER_(larger, most[j]);
            s[j] = ((e0 + e1) + (e2 + e3)) + ((e4 + e5) + (e6 + e7));
            w[j] = grpo_four_(fused, e0, x0, e1, x1, e2, x2, e3, x3) + grpo_four_(fused, e4, x4, e5, x5, e6, x6, e7, x7);
            if (squares) {
                const float p0 = e0 * GRPO_2_64_, p1 = e1 * GRPO_2_64_, p2 = e2 * GRPO_2_64_, p3 = e3 * GRPO_2_64_;
                const float p4 = e4 * GRPO_2_64_, p5 = e5 * GRPO_2_64_, p6 = e6 * GRPO_2_64_, p7 = e7 * GRPO_2_64_;
                q[j] = grpo_four_(fused, p0, p0, p1, p1, p2, p2, p3, p3) + grpo_four_(fused, p4, p4, p5, p5, p6, p6, p7, p7);
            }
        }
        for (int j = 0; j < (squares ? 3 : 2) * GRPO_ROW_LANES_; j++) sums[j] += (double)part[j];
    }
    memcpy(out->sum, sums, sizeof out->sum);
    memcpy(out->spread, sums + GRPO_ROW_LANES_, sizeof out->spread);
    memcpy(out->squares, sums + 2 * GRPO_ROW_LANES_, sizeof out->squares);
    return grpo_largest_of_(most);
}

/* powers times a constant that is in the polynomial c */
GRPO_ROW_STEPS_ void grpo_row_powers_(const int fused, const float *GRPO_RESTRICT_ z, int64_t size, const grpo_exps_ *k,
                                    const grpo_powers_ *c, float *GRPO_RESTRICT_ g) {
    const float shift = k->shift, per = k->per, h1 = k->h1, h2 = k->h2, origin = k->origin, least = k->least;
    const float high = c->high, low = c->low, c1 = c->c1, c2 = c->c2, c3 = c->c3, c4 = c->c4, c5 = c->c5, c6 = c->c6;
    float out[GRPO_STRIDE_];
    for (int64_t v = 0; v < size; v += GRPO_STRIDE_) {
        GRPO_PREFETCH_(z + v, GRPO_STRIDE_ * 4, 0);
        GRPO_PREFETCH_(g + v, GRPO_STRIDE_ * 4, 1);
        for (int j = 0; j < GRPO_STRIDE_; j++)
            out[j] = grpo_exp_float_(fused, grpo_above_(z[v + j], origin, least), shift, per, h1, h2, 1, high, low, c1, c2, c3, c4, c5, c6);
        memcpy(g + v, out, sizeof out);
    }
}

/* powers times at + slope (z - largest) */
GRPO_ROW_STEPS_ void grpo_row_slopes_(const int fused, const float *GRPO_RESTRICT_ z, int64_t size, const grpo_exps_ *k, grpo_slope_ by,
                                    float *GRPO_RESTRICT_ g) {
    GRPO_EXP_LOCALS_(k);
    const double at = by.at, slope = by.slope;
    float e[GRPO_STRIDE_], x[GRPO_STRIDE_], out[GRPO_STRIDE_];
    for (int64_t v = 0; v < size; v += GRPO_STRIDE_) {
        GRPO_PREFETCH_(z + v, GRPO_STRIDE_ * 4, 0);
        GRPO_PREFETCH_(g + v, GRPO_STRIDE_ * 4, 1);
        for (int j = 0; j < GRPO_STRIDE_; j++) {
            const float d = grpo_above_(z[v + j], origin, least);
            e[j] = GRPO_EXP_(d);
            x[j] = d - from;
        }
        for (int j = 0; j < GRPO_STRIDE_; j++) out[j] = (float)((double)e[j] * grpo_madd_double_(fused, slope, (double)x[j], at));
        memcpy(g + v, out, sizeof out);
    }
}

/* conversions of n numbers between float and the 16-bit types */
GRPO_ROW_STEPS_ void grpo_row_of_bfloats_(const uint16_t *from, int64_t n, float *to) {
    int64_t v = 0;
    for (; v + GRPO_STEP_ <= n; v += GRPO_STEP_) {
        GRPO_PREFETCH_(from + v, GRPO_STEP_ * 2, 0);
        for (int j = 0; j < GRPO_STEP_; j++) to[v + j] = grpo_float_of_bits_((uint32_t)from[v + j] << 16);
    }
    for (; v < n; v++) to[v] = grpo_float_of_bits_((uint32_t)from[v] << 16);
}

GRPO_ROW_STEPS_ void grpo_row_of_halves_(const uint16_t *from, int64_t n, float *to) {
    int64_t v = 0;
    for (; v + GRPO_STEP_ <= n; v += GRPO_STEP_) {
        GRPO_PREFETCH_(from + v, GRPO_STEP_ * 2, 0);
        for (int j = 0; j < GRPO_STEP_; j++) to[v + j] = grpo_from_half_(from[v + j]);
    }
    for (; v < n; v++) to[v] = grpo_from_half_(from[v]);
}

GRPO_ROW_STEPS_ void grpo_row_to_bfloats_(const float *from, int64_t n, uint16_t *to) {
    int64_t v = 0;
    for (; v + GRPO_STEP_ <= n; v += GRPO_STEP_) {
        GRPO_PREFETCH_(to + v, GRPO_STEP_ * 2, 1);
        for (int j = 0; j < GRPO_STEP_; j++) to[v + j] = grpo_to_bfloat_(from[v + j]);
    }
    for (; v < n; v++) to[v] = grpo_to_bfloat_(from[v]);
}

GRPO_ROW_STEPS_ void grpo_row_to_halves_(const float *from, int64_t n, uint16_t *to) {
    int64_t v = 0;
    for (; v + GRPO_STEP_ <= n; v += GRPO_STEP_) {
        GRPO_PREFETCH_(to + v, GRPO_STEP_ * 2, 1);
        for (int j = 0; j < GRPO_STEP_; j++) to[v + j] = grpo_to_half_(from[v + j]);
    }
    for (; v < n; v++) to[v] = grpo_to_half_(from[v]);
}

/* sets logits that are not kept to -inf */
GRPO_ROW_STEPS_ void grpo_row_keep_(const uint8_t *kept, int64_t n, float *z) {
    int64_t v = 0;
    for (; v + GRPO_STEP_ <= n; v += GRPO_STEP_)
        for (int j = 0; j < GRPO_STEP_; j++) z[v + j] = kept[v + j] ? z[v + j] : -HUGE_VALF;
    for (; v < n; v++) z[v] = kept[v] ? z[v] : -HUGE_VALF;
}

/* ---- loops: the same for each instruction set --------------------------------------------------------------------------------------- */

typedef struct {
    float (*largest)(const float *z, int64_t n);
    float (*sums)(const float *z, int64_t size, const grpo_exps_ *k, grpo_lanes_ *out);                  /* for R = 0 */
    float (*sums_off)(const float *z, int64_t size, const grpo_exps_ *k, grpo_lanes_ *out);              /* for any other R */
    float (*sums_squared)(const float *z, int64_t size, const grpo_exps_ *k, grpo_lanes_ *out);
    void (*powers)(const float *z, int64_t size, const grpo_exps_ *k, const grpo_powers_ *c, float *g);
    void (*slopes)(const float *z, int64_t size, const grpo_exps_ *k, grpo_slope_ by, float *g);
    void (*of_bfloats)(const uint16_t *from, int64_t n, float *to);
    void (*of_halves)(const uint16_t *from, int64_t n, float *to);
    void (*to_bfloats)(const float *from, int64_t n, uint16_t *to);
    void (*to_halves)(const float *from, int64_t n, uint16_t *to);
    void (*keep)(const uint8_t *kept, int64_t n, float *z);
} grpo_row_loops_;

#define GRPO_ROW_LOOPS_(name, target, fused) \
    target static float grpo_largest_##name##_(const float *z, int64_t n) { return grpo_row_largest_(z, n); } \
    target static float grpo_sums_##name##_(const float *z, int64_t size, const grpo_exps_ *k, grpo_lanes_ *out) { \
        return grpo_row_sums_(fused, 1, 0, z, size, k, out); \
    } \
    target static float grpo_sums_off_##name##_(const float *z, int64_t size, const grpo_exps_ *k, grpo_lanes_ *out) { \
        return grpo_row_sums_(fused, 0, 0, z, size, k, out); \
    } \
    target static float grpo_sums_squared_##name##_(const float *z, int64_t size, const grpo_exps_ *k, grpo_lanes_ *out) { \
        return grpo_row_sums_(fused, 0, 1, z, size, k, out); \
    } \
    target static void grpo_powers_##name##_(const float *z, int64_t size, const grpo_exps_ *k, const grpo_powers_ *c, float *g) { \
        grpo_row_powers_(fused, z, size, k, c, g); \
    } \
    target static void grpo_slopes_##name##_(const float *z, int64_t size, const grpo_exps_ *k, grpo_slope_ by, float *g) { \
        grpo_row_slopes_(fused, z, size, k, by, g); \
    } \
    target static void grpo_of_bfloats_##name##_(const uint16_t *from, int64_t n, float *to) { grpo_row_of_bfloats_(from, n, to); } \
    target static void grpo_of_halves_##name##_(const uint16_t *from, int64_t n, float *to) { grpo_row_of_halves_(from, n, to); } \
    target static void grpo_to_bfloats_##name##_(const float *from, int64_t n, uint16_t *to) { grpo_row_to_bfloats_(from, n, to); } \
    target static void grpo_to_halves_##name##_(const float *from, int64_t n, uint16_t *to) { grpo_row_to_halves_(from, n, to); } \
    target static void grpo_keep_##name##_(const uint8_t *kept, int64_t n, float *z) { grpo_row_keep_(kept, n, z); } \
    static const grpo_row_loops_ grpo_row_loops_##name##_ = { \
        grpo_largest_##name##_, grpo_sums_##name##_, grpo_sums_off_##name##_, grpo_sums_squared_##name##_, \
        grpo_powers_##name##_, grpo_slopes_##name##_, \
        grpo_of_bfloats_##name##_, grpo_of_halves_##name##_, grpo_to_bfloats_##name##_, grpo_to_halves_##name##_, grpo_keep_##name##_ \
    };

GRPO_ROW_LOOPS_(base, , GRPO_FUSED_)

#if defined(__GNUC__) && defined(__x86_64__) && !defined(_WIN32) && !defined(__CUDACC__) && !defined(GRPO_NO_DISPATCH)
#define GRPO_DISPATCH_
#define GRPO_AVX2_ __attribute__((target("avx2,fma")))
#if defined(__clang__)
#define GRPO_AVX512_ __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,tune=x86-64"), min_vector_width(512)))
#else
#define GRPO_AVX512_ __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,prefer-vector-width=512")))
#endif
GRPO_ROW_LOOPS_(avx2, GRPO_AVX2_, 1)
GRPO_ROW_LOOPS_(avx512, GRPO_AVX512_, 1)
#endif

/* instruction sets with loops of their own */
typedef enum { GRPO_LOOPS_BASE_, GRPO_LOOPS_AVX2_, GRPO_LOOPS_AVX512_ } grpo_instructions_;

/* the widest that the processor has.  The compiler's runtime library detects it before main; this only reads flags. */
static grpo_instructions_ grpo_widest_instructions_(void) {
#ifdef GRPO_DISPATCH_
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
        && __builtin_cpu_supports("avx512vl")) return GRPO_LOOPS_AVX512_;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return GRPO_LOOPS_AVX2_;
#endif
    return GRPO_LOOPS_BASE_;
}

#ifndef GRPO_INSTRUCTIONS_                                             /* a test may define another */
#define GRPO_INSTRUCTIONS_() grpo_widest_instructions_()
#endif

static const grpo_row_loops_ *grpo_row_loops_of_(grpo_instructions_ which) {
#ifdef GRPO_DISPATCH_
    if (which == GRPO_LOOPS_AVX512_) return &grpo_row_loops_avx512_;
    if (which == GRPO_LOOPS_AVX2_) return &grpo_row_loops_avx2_;
#endif
    (void)which;
    return &grpo_row_loops_base_;
}

GRPO_C_END_
#endif /* GRPO_SHARED_LOOPS_H */
