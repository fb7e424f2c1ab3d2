/* Numbers of binary128 and their functions. */
#ifndef REFERENCE_NUMBER_H
#define REFERENCE_NUMBER_H
#include "../../grpo.h"
#include <float.h>
#include <math.h>

#if LDBL_MANT_DIG == 113
typedef long double reference_real;
#else
__extension__ typedef __float128 reference_real;
#endif

static inline reference_real ref_abs(reference_real x) { return x < 0 ? -x : x; }

/* q(x) = e^x - x - 1 for |x| <= 1 to 1e-31: its series at x/256, then q(2x) = 2 q(x) + (x + q(x))^2, without cancellation */
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

/* an estimate of the KL from the log-ratio D, in the reward and in the penalty */
static inline reference_real ref_estimator(grpo_kl_kind kind, reference_real D) {
    switch (kind) {
    case GRPO_KL_K1:  return D;
    case GRPO_KL_K2:  return D * D / 2;
    case GRPO_KL_K3:  return ref_exp_minus_linear(-D);
    case GRPO_KL_ABS: return ref_abs(D);
    default:          return 0;
    }
}

/* ln x for x within the range of double; each step of Newton's method doubles the number of correct digits */
static inline reference_real ref_ln(reference_real x) {
    reference_real y = log((double)x);
    int k;
    for (k = 0; k < 3; k++) y += x * ref_exp(-y) - 1;
    return y;
}

/* e^a - e^b */
static inline reference_real ref_change(reference_real a, reference_real b) {
    const reference_real d = a - b;
    if (d == 0) return 0;                                              /* also where e^a overflows */
    return ref_abs(d) < 0.5 ? ref_exp(b) * (d + ref_exp_minus_linear(d)) : ref_exp(a) - ref_exp(b);
}

/* ln(1 + z) */
static inline reference_real ref_ln1p(reference_real z) {
    const reference_real third = (reference_real)1 / 3;
    if (ref_abs(z) > 1e-7) return ref_ln(1 + z);
    return z * (1 - z * ((reference_real)1 / 2 - z * (third - z / 4)));
}

/* square root, also of numbers outside the range of double */
static inline reference_real ref_sqrt(reference_real x) {
    reference_real y;
    int k;
    if (x > 0x1p1000 && x < HUGE_VAL) return 0x1p500 * ref_sqrt(x * 0x1p-1000);
    y = sqrt((double)x);
    for (k = 0; k < 3 && y > 0; k++) y = (y + x / y) / 2;
    return y;
}

static inline reference_real ref_sigmoid(reference_real z) {
    reference_real e = ref_exp(-ref_abs(z));
    return (z < 0 ? e : 1) / (1 + e);
}

static inline reference_real ref_log_one_plus_exp(reference_real z) {
    return z > 0 ? z + ref_ln1p(ref_exp(-z)) : ref_ln1p(ref_exp(z));
}

/* (1/p) log((1/n) sum e^(p x)) of n numbers */
static inline reference_real ref_log_mean_exp(const reference_real *x, int64_t n, reference_real p) {
    reference_real top = x[0], sum = 0;
    int64_t k;
    for (k = 1; k < n; k++) if (x[k] > top) top = x[k];
    for (k = 0; k < n; k++) sum += ref_exp(p * (x[k] - top));
    return top + ref_ln(sum / (reference_real)n) / p;
}

/* log Gamma(x) by Stirling's series at x + 200 or more */
static inline reference_real ref_log_gamma(reference_real x) {
    const reference_real half_log_two_pi = ref_ln((reference_real)6.283185307179586232 + 2.4492935982947064e-16) / 2;
    reference_real product = 1, below = 0, y;
    for (; x < 200; x++) {
        product *= x;
        if (product > 1e300) { below += ref_ln(product); product = 1; }        /* a logarithm for many factors: it is what takes time */
    }
    below += ref_ln(product);
    y = 1 / (x * x);
    y = (1 - y * (1 / (reference_real)30 - y * (1 / (reference_real)105 - y * (1 / (reference_real)140 - y * (1 / (reference_real)99
        - y * (691 / (reference_real)30030)))))) / (12 * x);
    return (x - (reference_real)1 / 2) * ref_ln(x) - x + half_log_two_pi + y - below;
}

/* log(x!/(x/e)^x), x! = Gamma(x + 1): log(2 pi x)/2 + 1/(12 x) - ... of a large x, where log x! and x log x would cancel */
static inline reference_real ref_log_factorial_rest(reference_real x) {
    const reference_real two_pi = (reference_real)6.283185307179586232 + 2.4492935982947064e-16;
    reference_real y;
    if (x == 0) return 0;
    if (x < 200) return ref_log_gamma(x + 1) - x * ref_ln(x) + x;
    y = 1 / (x * x);
    return ref_ln(two_pi * x) / 2 + (1 - y * (1 / (reference_real)30 - y * (1 / (reference_real)105 - y / 140))) / (12 * x);
}

/* e - log(1 + e), for e near 0 by its series e^2/2 - e^3/3 + ... */
static inline reference_real ref_less_ln1p(reference_real e) {
    reference_real sum = 0, power = -e;
    int k;
    if (ref_abs(e) > (reference_real)1 / 64) return e - ref_ln(1 + e);
    for (k = 2; k < 22; k++) { power *= -e; sum += power / k; }
    return sum;
}

/* log of the density of Beta(1 + n mu, 1 + n (1 - mu)) at p.  Factorials and powers are as large as n, and nearly cancel: of x! only
 * ref_log_factorial_rest is taken, without x log x - x, and of the powers n (mu log(p/mu) + (1 - mu) log((1 - p)/(1 - mu))) */
static inline reference_real ref_log_beta(reference_real mu, reference_real n, reference_real p) {
    const reference_real rest = 1 - mu, e = mu > 0 ? (p - mu) / mu : 0;
    return ref_ln(n + 1) + ref_log_factorial_rest(n) - ref_log_factorial_rest(n * mu) - ref_log_factorial_rest(n * rest)
           - n * (mu * ref_less_ln1p(e) + rest * ref_less_ln1p((mu - p) / rest));
}

/* a - b > margin, exactly: where the rounded difference equals the margin, its rounding error decides */
static inline int ref_leads(reference_real a, reference_real b, reference_real margin) {
    const reference_real d = a - b, v = d - a, lost = (a - (d - v)) - (b + v);
    return d > margin || (d == margin && lost > 0);
}
#endif
