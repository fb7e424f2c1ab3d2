/* Scalar functions that avoid cancellation, against binary128: errors in ulps of the result itself. */
#include "../../gspo.h"
#include "../support/check.h"
#include "../reference/reference.h"

enum { TRIALS = 50000 / DRAWS_OVER };

typedef struct { const char *name; double limit, worst; } tally;

static void judge(tally *t, double found, reference_real expected, double a, double b) {
    const reference_real size = ref_abs(expected);
    double error = 0;
    if (size < 1e-290 || size > 1e290) return;
    error = (double)(ref_abs(found - expected) / (size * 0x1p-52));
    if (error > t->worst) t->worst = error;
    check(error <= t->limit, "%s(%.17g, %.17g) is %.17g, must be %.17g: %.3g ulps", t->name, a, b, found, (double)expected, error);
}

/* draws x <= 0 and l <= 0, from almost equal to far apart */
static void pair(rng *r, double *l, double *x) {
    static const double size[] = { 1e-9, 1e-7, 1e-5, 1e-3, 0.03, 0.5, 1, 5, 30, 300, 700 };
    const double scale = rng_pick(r, size, 11), gap = rng_pick(r, size, 11) * rng_unit(r);
    *x = -scale * rng_unit(r);
    *l = rng_chance(r, 50) ? *x - gap : *x + gap;
    if (*l > 0) *l = 0.5 * *x;
}

static void check_pairs(void) {
    tally change = { "grpo_probability_change", 4, 0 }, kl = { "grpo_binary_kl", 12, 0 }, linear = { "grpo_exp_minus_linear", 3, 0 };
    rng r = { 3 };
    int k;
    for (k = 0; k < TRIALS; k++) {
        reference ref;
        reference_real D;
        double l, x;
        memset(&ref, 0, sizeof ref);
        pair(&r, &l, &x);
        judge(&change, grpo_probability_change(l, x), ref_change(l, x), l, x);
        D = ref_binary_kl(&ref, x, l);
        if (!ref.beyond) judge(&kl, grpo_binary_kl(l, x), D, l, x);
        judge(&linear, grpo_exp_minus_linear(grpo_two_diff(l, x)), ref_exp_minus_linear((reference_real)l - x), l, x);
    }
    printf("worst: change %.2f, binary KL %.2f, e^x - x - 1 %.2f ulps\n", change.worst, kl.worst, linear.worst);
}

/* the same KL where one probability, or both, are next to 1: 1 - e^l down to the smallest number above 0 */
static void check_kl_next_to_one(void) {
    static const double size[] = { 5e-324, 1e-322, 1e-315, 1e-308, 1e-300, 1e-200, 1e-50, 1e-20, 1e-14, 1e-9, 1e-3, 1, 100 };
    tally kl = { "grpo_binary_kl", 12, 0 };
    rng r = { 15 };
    for (int k = 0; k < TRIALS; k++) {
        reference ref;
        reference_real D;
        const double x = -rng_pick(&r, size, 13) * (0.5 + rng_unit(&r)), other = -rng_pick(&r, size, 13) * (0.5 + rng_unit(&r));
        const double l = rng_chance(&r, 50) ? other : x * (1 + 0.5 * rng_bell(&r));
        memset(&ref, 0, sizeof ref);
        if (l >= 0 || x >= 0) continue;
        D = ref_binary_kl(&ref, x, l);
        if (!ref.beyond) judge(&kl, grpo_binary_kl(l, x), D, l, x);
    }
    printf("worst: binary KL next to probability 1 %.2f ulps\n", kl.worst);
}

/* -A w + |A| p (w - 1)^2/(2 eps) and its derivative by log w; the tolerance allows for cancellation of the two parts */
static void check_quadratic_probability(void) {
    static const double size[] = { 0, 1e-3, 0.2, 1.5, 12.5 };
    tally value = { "grpo_quadratic_probability", 4, 0 }, slope = { "its derivative", 4, 0 };
    rng r = { 5 };
    int k;
    for (k = 0; k < TRIALS; k++) {
        const double A = 4 * rng_unit(&r) - 2, eps = rng_pick(&r, size, 5) + 1e-9 * (1 + rng_unit(&r));
        double l, x;
        grpo_term t;
        reference_real w, off, far;
        pair(&r, &l, &x);
        t = grpo_quadratic_probability(grpo_ratio_of(l, x), A, eps, x);
        w = ref_exp((reference_real)l - x);
        off = ref_change((reference_real)l - x, 0);
        far = ref_exp(x) * off / eps * ref_abs(A);
        judge(&value, t.value, off * far / 2 - A * w, l, x);
        judge(&slope, t.d_log_ratio, w * (far - A), l, x);
    }
    printf("worst: parabola of the probability %.2f, its derivative %.2f ulps\n", value.worst, slope.worst);
}

/* the error of a double-double number, in units of 2^-bits of the expected one */
static double off(grpo_dd found, reference_real expected, int bits) {
    const reference_real error = ref_abs((reference_real)found.hi + found.lo - expected);
    return expected != 0 ? (double)(error / ref_abs(expected) * ldexp(1, bits)) : error != 0;
}

/* a number with a second word, at random or, for `quotient`, as grpo_dd_div returns it */
static grpo_dd any_pair(rng *r, int quotient) {
    const double x = rng_sign(r) * (1 + rng_unit(r)), y = x * 0x1p-53 * (2 * rng_unit(r) - 1), by = 1 + rng_unit(r);
    const grpo_dd a = grpo_two_sum(ldexp(x, (int)rng_below(r, 40) - 20), 0), b = grpo_two_sum(a.hi, a.hi * (y / x));
    return quotient ? grpo_dd_div(b, by) : b;
}

static reference_real both(grpo_dd x) { return (reference_real)x.hi + x.lo; }

/* arithmetic on numbers of two words: errors in units of the bounds that grpo.h states; `quotients`: of what grpo_dd_div returns */
static void check_pair_arithmetic(int quotients) {
    static const char *const name[] = { "sum", "sum with one word", "product with one word", "quotient by one word", "product",
                                        "quotient" };
    const int more = quotients ? 1 : 0;
    const int bits[] = { 103, 103, 104 - more, 104 - more, 102, 101 };
    double worst[6] = { 0, 0, 0, 0, 0, 0 };
    rng r = { 31 + (uint64_t)quotients };
    for (int k = 0; k < 4 * TRIALS; k++) {
        const grpo_dd a = any_pair(&r, quotients), other = any_pair(&r, 0);
        const grpo_dd p = grpo_two_prod(a.hi, other.hi), s = grpo_two_sum(a.hi, other.hi);
        const grpo_dd b = rng_chance(&r, 20) ? grpo_two_sum(-a.hi * (1 + 0x1p-40 * rng_unit(&r)), a.lo * rng_unit(&r)) : other;
        const reference_real A = both(a), B = both(b), sizes = ref_abs(A) + ref_abs(B);
        const grpo_dd found[] = { grpo_dd_add(a, b), grpo_dd_add_double_(a, b.hi), grpo_dd_mul(a, b.hi), grpo_dd_div(a, b.hi),
                                  grpo_dd_product(a, b), grpo_dd_quotient(a, b) };
        const reference_real expected[] = { A + B, A + b.hi, A * b.hi, A / b.hi, A * B, A / B };
        for (int n = 0; n < 6; n++) {
            const reference_real size = n < 2 ? sizes : ref_abs(expected[n]);
            const double error = (double)(ref_abs(both(found[n]) - expected[n]) / size * ldexp(1, bits[n]));
            if (error > worst[n]) worst[n] = error;
            check(error <= 1, "%s of %.17g and %.17g is off by %.3g of 2^-%d", name[n], a.hi, b.hi, error, bits[n]);
            if (n != 3) check(found[n].hi + found[n].lo == found[n].hi, "%s of %.17g, %.17g: no nearest hi", name[n], a.hi, b.hi);
        }
        check(fabs(found[3].lo) <= (quotients ? 3.5 : 1.5) * 0x1p-52 * fabs(found[3].hi),
              "the second word of a quotient is %g of the first", fabs(found[3].lo / found[3].hi));
        check(both(p) == (reference_real)a.hi * other.hi && both(s) == (reference_real)a.hi + other.hi,
              "a product or sum of %.17g and %.17g is not exact", a.hi, other.hi);
        check(grpo_dd_exceeds(found[3], found[3].hi) == (found[3].lo > 0) && grpo_dd_exceeds(a, b.hi) == (A > b.hi),
              "%.17g exceeds %.17g", a.hi, b.hi);
    }
    printf("worst%s:", quotients ? " of quotients" : "");
    for (int n = 0; n < 6; n++) printf(" %s %.2g of 2^-%d%s", name[n], worst[n], bits[n], n < 5 ? "," : "\n");
}

/* e^x, e^x - 1, e^x - x - 1 and their forms in two words, in the whole range that grpo.h states */
static void check_exponentials(void) {
    static const double size[] = { 1e-300, 1e-20, 1e-9, 1e-4, 0.01, 0.499, 0.501, 1, 30, 300, 669.9 };
    tally one = { "grpo_exp", 1, 0 }, less = { "grpo_exp_minus_one", 2, 0 }, linear = { "grpo_exp_minus_linear", 3, 0 };
    double worst[2] = { 0, 0 };
    rng r = { 17 };
    for (int k = 0; k < 4 * TRIALS; k++) {
        const double x = rng_chance(&r, 80) ? rng_sign(&r) * rng_pick(&r, size, 11) * rng_unit(&r) : -669.9 + rng_unit(&r);
        const grpo_dd y = grpo_two_sum(x, x * 0x1p-53 * (2 * rng_unit(&r) - 1));
        const reference_real exact = both(y), power = ref_exp(exact), rise = ref_exp_minus_linear(exact);
        judge(&one, grpo_exp(y), power, y.hi, y.lo);
        judge(&less, grpo_exp_minus_one(y), ref_change(exact, 0), y.hi, y.lo);
        judge(&linear, grpo_exp_minus_linear(y), rise, y.hi, y.lo);
        const double off_power = off(grpo_exp_twice(y), power, 95);
        const double off_rise = rise > 1e-250 ? off(grpo_exp_minus_linear_twice(y), rise, 69) : 0;
        if (off_power > worst[0]) worst[0] = off_power;
        if (off_rise > worst[1]) worst[1] = off_rise;
        check(off_power <= 1, "grpo_exp_twice(%.17g) is off by %.3g of 2^-95", x, off_power);
        check(off_rise <= 1, "grpo_exp_minus_linear_twice(%.17g) is off by %.3g of 2^-69", x, off_rise);
    }
    printf("worst: e^x %.2f, e^x - 1 %.2f, e^x - x - 1 %.2f ulps, in two words %.2g of 2^-95 and %.2g of 2^-69\n", one.worst, less.worst,
           linear.worst, worst[0], worst[1]);
}

/* GSPO's ratio of a response from gspo_log_ratio: the mean to 2^-100 of the terms, its exponential to 1 ulp */
static void check_response_ratio(void) {
    static const double apart[] = { 0, 1e-7, 1e-3, 1, 300 };
    tally ratio = { "the ratio of a response", 1, 0 };
    rng r = { 19 };
    double worst = 0;
    for (int k = 0; k < TRIALS; k++) {
        grpo_real logp[40], old[40];
        uint8_t mask[40];
        const int n = 1 + (int)rng_below(&r, 40);
        const double by = rng_pick(&r, apart, 5);
        reference_real sum = 0, size = 0;
        int count = 0;
        for (int t = 0; t < n; t++) {
            old[t] = (grpo_real)(-10 * rng_unit(&r));
            logp[t] = (grpo_real)((double)old[t] - by * rng_unit(&r));
            mask[t] = (uint8_t)rng_chance(&r, 80);
            if (!mask[t]) { logp[t] = (grpo_real)NAN; continue; }
            sum += (reference_real)logp[t] - old[t];
            size += ref_abs(logp[t]) + ref_abs(old[t]);
            count++;
        }
        const grpo_dd found = gspo_log_ratio(logp, old, mask, n);
        if (count == 0) { check(found.hi == 0 && found.lo == 0, "a response without tokens"); continue; }
        const double error = (double)(ref_abs(both(found) * count - sum) / size * 0x1p100);
        if (error > worst) worst = error;
        check(error <= 1, "the mean log-ratio %.17g is off by %.3g of 2^-100", found.hi, error);
        judge(&ratio, grpo_exp(found), ref_exp(sum / count), found.hi, n);
    }
    printf("worst: mean log-ratio %.2g of 2^-100, ratio of a response %.2f ulps\n", worst, ratio.worst);
}

/* sin^2(pi y/2) in two words */
static void check_sine(void) {
    const reference_real half_pi = 1.5707963267948966 + (reference_real)6.123233995736766e-17;         /* to 1e-33 */
    static const double size[] = { 1e-100, 1e-9, 1e-3, 0.5, 1 };
    double worst = 0;
    rng r = { 18 };
    for (int k = 0; k < TRIALS; k++) {
        const double x = rng_pick(&r, size, 5) * rng_unit(&r);
        const grpo_dd y = grpo_two_sum(x, x * 0x1p-54 * rng_unit(&r));
        const reference_real angle = half_pi * both(y);
        reference_real term = angle, sine = angle;
        for (int n = 2; n < 40; n += 2) sine += term *= -angle * angle / (n * (n + 1));
        const double error = off(grpo_sine_squared(y), sine * sine, 95);
        if (error > worst) worst = error;
        check(error <= 1, "grpo_sine_squared(%.17g) is off by %.3g of 2^-95", x, error);
    }
    printf("worst: sin^2 %.2g of 2^-95\n", worst);
}

static void check_twice(void) {
    static const double size[] = { 1e-300, 1e-12, 1e-4, 1e-3, 0.1, 0.3, 1, 30, 630 };
    static const struct { const char *name; int bits; } function[] = { { "grpo_exp_twice", 95 }, { "grpo_exp_minus_one_twice", 88 },
                                                                       { "gspo_log_one_plus_twice", 87 } };
    double worst[3] = { 0, 0, 0 };
    rng r = { 6 };
    int k, n;
    for (k = 0; k < 4 * TRIALS; k++) {
        const double far = rng_chance(&r, 90) ? 0 : 630 + 79.77 * rng_unit(&r);                 /* up to the largest double */
        const double x = far > 0 ? far : rng_pick(&r, size, 9) * rng_sign(&r) * rng_unit(&r), z = x > -0.99 ? x : -0.99;
        const grpo_dd y = grpo_two_sum(x, x * 0x1p-54 * rng_unit(&r));
        const reference_real exact = (reference_real)y.hi + y.lo, expected[3] = { ref_exp(exact), ref_change(exact, 0), ref_ln1p(z) };
        grpo_dd found[3];
        found[0] = grpo_exp_twice(y);
        found[1] = grpo_exp_minus_one_twice(y);
        found[2] = gspo_log_one_plus_twice(grpo_two_sum(z, 0));
        for (n = 0; n < 3; n++) {
            const double error = off(found[n], expected[n], function[n].bits);
            if (error > worst[n]) worst[n] = error;
            check(error <= 1, "%s(%.17g) is off by %.3g of 2^-%d", function[n].name, n == 2 ? z : x, error, function[n].bits);
        }
    }
    for (n = 0; n < 3; n++) printf("worst: %s %.2g of 2^-%d\n", function[n].name, worst[n], function[n].bits);
}

/* logarithms in their whole range: of x in units of 2^-90 of max(1, |log x|), of 1 + x in units of 2^-85 or of what
 * 2^-102 of x makes of it */
static void check_logarithms(void) {
    double worst[2] = { 0, 0 };
    rng r = { 16 };
    for (int k = 0; k < TRIALS; k++) {
        const double x = pow(10, 598.9 * rng_unit(&r) - 299.9), z = pow(10, 15 * rng_unit(&r) - 9) - 1;
        const grpo_dd y = grpo_two_sum(z, (rng_chance(&r, 50) ? -0x1p-53 : 0x1p-53) * rng_unit(&r) * fabs(z)), found = grpo_log_twice(x);
        const grpo_dd of_one = gspo_log_one_plus_twice(y);
        const reference_real exact = (reference_real)y.hi + y.lo, expected[2] = { ref_ln(x), ref_ln1p(exact) };
        const reference_real size = ref_abs(expected[0]) > 1 ? ref_abs(expected[0]) : 1, own = ref_abs(expected[1]) * 0x1p-85;
        const reference_real given = ref_abs(exact) / (1 + exact) * 0x1p-102, most = own > given ? own : given;
        const double error[2] = { (double)(ref_abs((reference_real)found.hi + found.lo - expected[0]) / size * 0x1p90),
                                  (double)(ref_abs((reference_real)of_one.hi + of_one.lo - expected[1]) / most) };
        for (int n = 0; n < 2; n++) if (error[n] > worst[n]) worst[n] = error[n];
        check(error[0] <= 1, "grpo_log_twice(%.17g) is off by %.3g of 2^-90", x, error[0]);
        check(z == 0 || error[1] <= 1, "gspo_log_one_plus_twice(%.17g + %.17g) is off by %.3g of its bound", y.hi, y.lo, error[1]);
    }
    printf("worst: log x %.2g of 2^-90, log(1 + x) %.2g of its bound\n", worst[0], worst[1]);
}

/* log(x! e^x/x^x) in units of 2^-78; the Beta density in units relative to 1 + its logarithm, up to parameters whose standard deviation is
 * 1e-13, and from 0 to 6 standard deviations from the mean */
static void check_beta(void) {
    static const double size[] = { 0, 1, 3, 31, 33, 300, 1e4, 1e6, 1e12, 1e18, 1e25 };
    double worst[2] = { 0, 0 };
    rng r = { 12 };
    for (int k = 0; k < TRIALS; k++) {
        const double x = rng_pick(&r, size, 11) * rng_unit(&r), mean = rng_chance(&r, 80) ? rng_unit(&r) : 1e-4 * rng_unit(&r);
        const double away = (rng_chance(&r, 50) ? 6 : -6) * rng_unit(&r) * sqrt(mean * (1 - mean) / (x + 2));
        const grpo_dd p = grpo_two_sum(mean, away), n = grpo_two_sum(x, x * 0x1p-54 * rng_unit(&r)), rest = grpo_log_factorial_rest(n);
        const reference_real exact = (reference_real)n.hi + n.lo, at = (reference_real)p.hi + p.lo;
        const reference_real log_density = ref_log_beta(mean, exact, at);
        grpo_beta b;
        double error = (double)(ref_abs((reference_real)rest.hi + rest.lo - ref_log_factorial_rest(exact)) * 0x1p78);
        b.mean = grpo_dd_of_(mean); b.size = n;
        if (error > worst[0]) worst[0] = error;
        check(error <= 1, "log(x! e^x/x^x) of %.17g is off by %.3g of 2^-78", x, error);
        if (!(p.hi > 0 && p.hi < 1) || log_density < -600) continue;
        error = (double)(ref_abs(grpo_beta_density(b, p) / ref_exp(log_density) - 1) * 0x1p52 / (1 + ref_abs(log_density)));
        if (error > worst[1]) worst[1] = error;
        check(error <= 1, "the density of Beta(1 + %.17g mean ...) at %.17g, mean %.17g, is off by %.3g ulps of 1 + its logarithm", x, p.hi,
              mean, error);
    }
    printf("worst: log(x! e^x/x^x) %.2g of 2^-78, the Beta density %.2g ulps\n", worst[0], worst[1]);
}

/* the cheap bounds of weight.trust on probabilities never decide differently from the exact comparison */
static void check_cheap_bounds(void) {
    long told[2] = { 0, 0 };
    rng r = { 9 };
    for (int k = 0; k < TRIALS; k++) {
        static const double size[] = { 1e-6, 0.01, 0.3, 1, 30 };
        const double l = -rng_pick(&r, size, 5) * rng_unit(&r), x = rng_chance(&r, 80) ? l * (1 + rng_bell(&r) * 0.2) : -5 * rng_unit(&r);
        const double old = x < 0 ? x : -0.5, change = fabs(grpo_probability_change(l, old)), kl = grpo_binary_kl(l, old);
        /* thresholds slightly below the exact value: the cheap bound must not accept */
        const double short_of[2] = { change * (1 - 1e-3 * rng_unit(&r)), kl * (1 - 1e-3 * rng_unit(&r)) };
        check(change == 0 || !grpo_change_is_within_(l, old, short_of[0]), "|e^%.17g - e^%.17g| is %.17g", l, old, change);
        check(kl == 0 || !grpo_binary_kl_is_within_(l, old, short_of[1]), "the KL of e^%.17g and e^%.17g is %.17g", l, old, kl);
        told[0] += grpo_change_is_within_(l, old, 0.2);
        told[1] += grpo_binary_kl_is_within_(l, old, 0.05);
    }
    check(told[0] > TRIALS / 4 && told[1] > TRIALS / 4, "bounds tell of %ld and %ld tokens only", told[0], told[1]);
    /* p = 1, and p0 = e^-1e-300 below it: infinite, although the square of the difference underflows */
    check(!grpo_binary_kl_is_within_(0, -1e-300, 1e150) && grpo_binary_kl_is_within_(-1, -1, 0.3), "the KL of p = 1 and of equal ones");
}

/* log cosh(z/2) = log(1 + (e^x - 1)^2/(2 e^x)), x = z/2 */
static void check_log_cosh(void) {
    static const double size[] = { 1e-130, 1e-5, 1e-2, 0.25, 0.3, 5, 100 };
    double worst = 0;
    rng r = { 8 };
    for (int k = 0; k < TRIALS; k++) {
        const double z = rng_pick(&r, size, 7) * rng_unit(&r);
        const grpo_dd y = grpo_two_sum(z, z * 0x1p-54 * rng_unit(&r));
        const reference_real x = ((reference_real)y.hi + y.lo) / 2, rise = ref_change(x, 0);
        const reference_real expected = ref_ln1p(rise * rise / (2 * ref_exp(x)));
        const double error = off(gspo_log_cosh(y), expected, 75);
        if (error > worst) worst = error;
        check(error <= 1, "gspo_log_cosh(%.17g) is off by %.3g of 2^-75", z, error);
    }
    printf("worst: log cosh %.2g of 2^-75\n", worst);
}

static void check_bounds(void) {
    static const double eps[] = { 3e-4, 0.1, 0.16, 0.2, 0.28, 2 };
    tally low = { "low bound", 2, 0 }, high = { "high bound", 4, 0 };
    tally log_low = { "its logarithm", 4, 0 }, log_high = { "its logarithm", 4, 0 };
    rng r = { 4 };
    int k;
    for (k = 0; k < TRIALS; k++) {
        const double e = rng_pick(&r, eps, 6), u = rng_unit(&r);
        const double x = rng_chance(&r, 50) ? -700 * u * u : log(4 * e) * (1 + 0x1p-48 * u);       /* the second: the root is near 0 */
        const reference_real p = ref_exp(x), below = 1 - 4 * e / p, root = ref_sqrt(below > 0 ? below : 0);
        const reference_real expected_low = (1 + root) / 2, expected_high = (1 + ref_sqrt(1 + 4 * e / p)) / 2;
        const grpo_range found = grpo_probability_range(x, e, e, 0);
        judge(&low, found.low, expected_low, x, e);
        judge(&high, found.high, expected_high, x, e);
        judge(&log_low, found.log_low, ref_ln1p((root - 1) / 2), x, e);
        judge(&log_high, found.log_high, ref_ln1p(expected_high - 1), x, e);
    }
    printf("worst: bounds by probability %.2f and %.2f, their logarithms %.2f and %.2f ulps\n", low.worst, high.worst, log_low.worst,
           log_high.worst);
}

/* gates and kernels whose tau or lambda is so small that they turn where the ratio is next to the largest double: an error of the ratio
 * is multiplied by tau w */
static void check_far_gates(void) {
    tally slope = { "grpo_sapo slope", 4, 0 }, value = { "grpo_vespo", 4, 0 };
    rng r = { 23 };
    for (int k = 0; k < TRIALS; k++) {
        const double y = 709.77 - 60 * rng_unit(&r) * rng_unit(&r), bend = 1 + 80 * rng_unit(&r);
        const grpo_ratio w = grpo_ratio_of(-0.5, -0.5 - y);
        const reference_real ratio = ref_exp((reference_real)w.log + w.log_lo);
        const double tau = bend / w.value;
        const reference_real z = tau * (ratio - 1), e = ref_exp(-z);
        judge(&slope, grpo_sapo(w, 1, tau).d_log_ratio / w.value, -4 * e / ((1 + e) * (1 + e)) * (ratio / w.value), y, bend);
        judge(&value, grpo_vespo(w, 1, -0.5, 0.5, tau).value, ref_exp(((reference_real)w.log + w.log_lo) / 2 - z) / 2, y, bend);
    }
    printf("worst: gates of ratios up to the largest double, slope %.2f, kernel %.2f ulps\n", slope.worst, value.worst);
}

/* ---- extreme arguments --------------------------------------------------------------------------------------------------------- */

static void check_ends(void) {
    const double inf = HUGE_VAL;
    grpo_range r;
    grpo_term t;
    check(grpo_probability_change(-inf, -inf) == 0 && grpo_probability_change(-1, -1) == 0, "no change");
    check(grpo_probability_change(0, -inf) == 1 && grpo_probability_change(-inf, 0) == -1, "from 0 to 1");
    check(grpo_probability_change(-790, -800) > 0 && grpo_probability_change(-800, -790) < 0, "a change that underflows");
    check(grpo_probability_change(-1, -800) == exp(-1.0) && grpo_probability_change(-3e38, -1) == -exp(-1.0), "from nothing");
    check(grpo_binary_kl(-inf, -inf) == 0 && grpo_binary_kl(0, 0) == 0 && grpo_binary_kl(-2, -2) == 0, "equal coins");
    check(grpo_binary_kl(0, -1e-300) == inf && grpo_binary_kl(0, -inf) == inf, "a coin that cannot show tails");
    check(grpo_binary_kl(-inf, -1) == inf && grpo_binary_kl(-inf, -800) == inf, "a coin that cannot show heads");
    check(grpo_binary_kl(-3, 0) == 3, "certain heads");
    check(fabs(grpo_binary_kl(log(0.5), -inf) - log(2.0)) < 1e-15, "certain tails");
    check(grpo_binary_kl(-1600, -800) > 0, "a KL that underflows");
    r = grpo_probability_range(-inf, 0.2, 0.2, 0);
    check(r.low == 1 && r.log_low == 0 && r.high == inf && r.log_high == inf, "bounds at probability 0");
    r = grpo_probability_range(-inf, 0.2, 0.2, 10);
    check(r.high == 10 && r.log_high == log(10.0), "their cap");
    r = grpo_probability_range(-1e5, 0.2, 0.25, 0);
    check(r.low == 0.5 && r.high == inf && r.log_high == 0.5 * (log(0.25) + 1e5), "bounds beyond the largest double");
    r = grpo_probability_range(-1, 0, 0, 0);
    check(r.low == 1 && r.high == 1 && r.log_low == 0 && r.log_high == 0, "bounds without room");
    r = grpo_probability_range(-1, inf, inf, 0);
    check(r.low == 0.5 && r.high == inf && r.log_high == inf, "bounds without end");
    t = grpo_quadratic_probability(grpo_ratio_of(0, -800), 1, 0.5, -800);
    check(t.value == -2 && t.d_log_ratio == inf, "a parabola of which all but 2 cancels: %g, %g", t.value, t.d_log_ratio);
    t = grpo_quadratic_probability(grpo_ratio_of(-1, -inf), 1, 0.5, -inf);
    check(t.value == -inf && t.d_log_ratio == -inf, "a parabola of probability 0: %g, %g", t.value, t.d_log_ratio);
    t = grpo_quadratic_probability(grpo_ratio_of(-inf, -1), 1, 0.5, -1);
    check(t.value == exp(-1.0) && t.d_log_ratio == 0, "a parabola at ratio 0: %g, %g", t.value, t.d_log_ratio);
    t = grpo_quadratic_probability(grpo_ratio_of(-1, -801), -2, inf, -801);
    check(t.value == inf, "a parabola that is flat: %g", t.value);
}

int main(void) {
    check_pairs();
    check_kl_next_to_one();
    check_quadratic_probability();
    check_pair_arithmetic(0);
    check_pair_arithmetic(1);
    check_exponentials();
    check_sine();
    check_response_ratio();
    check_twice();
    check_logarithms();
    check_beta();
    check_log_cosh();
    check_cheap_bounds();
    check_bounds();
    check_far_gates();
    check_ends();
    return check_summary();
}
