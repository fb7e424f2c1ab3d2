/* Sums are exact and rounded once, tested through public functions: with surrogate reinforce, advantage -1 and no divisor the loss is the
 * sum of logp; report.entropy is the sum of entropy divided by the number of tokens. */
#include "../../gspo.h"
#include "../support/status.h"
#include "../support/check.h"
#include "../support/random_batch.h"

enum { MANY = 4096 };

static grpo_objective sum_objective(void) {
    grpo_objective obj;
    memset(&obj, 0, sizeof obj);                                 /* surrogate reinforce, summed over tokens */
    return obj;
}

/* one group of one sequence of n tokens */
static grpo_batch one_sequence(const grpo_real *x, const int64_t *n) {
    static const int64_t group_begin[] = { 0, 1 }, offset[] = { 0 };
    grpo_batch b;
    memset(&b, 0, sizeof b);
    b.n_groups = 1;
    b.group_begin = group_begin;
    b.offset = offset;
    b.length = n;
    b.n_tokens = *n;
    b.logp = x;
    b.entropy = x;
    return b;
}

/* adds a batch of x to the partial, `times` times */
static grpo_status add(grpo_partial *p, const grpo_real *x, int64_t n, int64_t times) {
    const grpo_objective obj = sum_objective();
    const grpo_batch b = one_sequence(x, &n);
    grpo_real *advantage = (grpo_real *)test_alloc(n, sizeof *advantage);
    grpo_totals totals;
    grpo_status st = GRPO_OK;
    int64_t k;
    memset(&totals, 0, sizeof totals);
    totals.tokens = totals.sequences = totals.sequences_nonempty = totals.groups = totals.groups_nonempty = INT64_C(1) << 40;
    for (k = 0; k < n; k++) advantage[k] = -1;
    for (k = 0; k < times && !st; k++) st = grpo_loss_add(&obj, &b, advantage, &totals, NULL, p);
    free(advantage);
    return st;
}

static grpo_report sum(const grpo_real *x, int64_t n) {
    static grpo_partial p;
    grpo_report r;
    grpo_status st;
    memset(&p, 0, sizeof p);
    st = add(&p, x, n, 1);
    check(!st, "a sum of %d: %s", (int)n, status_line(st));
    grpo_partial_report(&p, &r);
    return r;
}

static void check_sum(const char *what, const grpo_real *x, int64_t n, double expected) {
    grpo_report r = sum(x, n);
    check(r.loss == expected && !r.overflow, "%s: %.17g instead of %.17g", what, r.loss, expected);
}

/* ---- cancellation -------------------------------------------------------------------------------------------------------------- */

static void check_small_sums(void) {
    static const grpo_real nothing[] = { 0, (grpo_real)-0.0 }, one[] = { (grpo_real)-0.7 }, pair[] = { (grpo_real)0.1, (grpo_real)-0.1 };
    static const grpo_real far[] = { 1, (grpo_real)3e38, (grpo_real)-3e38 }, both[]
        = { (grpo_real)3e38, 1, (grpo_real)-3e38, (grpo_real)1e-30 };
    check_sum("zeros", nothing, 2, 0);
    check_sum("one number", one, 1, (double)one[0]);
    check_sum("a pair", pair, 2, 0);
    check_sum("1 beside 3e38", far, 3, 1);
    check_sum("1 and 1e-30 beside 3e38", both, 4, 1);
    check(!signbit(sum(pair, 2).loss), "an empty sum is +0");
}

/* pairs of huge numbers that cancel, shuffled, with a known remainder */
static void check_pairs(double huge, double rest) {
    static grpo_real x[MANY];
    static int64_t order[MANY];
    static grpo_real shuffled[MANY];
    rng r = { 3 };
    int64_t k;
    for (k = 0; k < MANY; k++) order[k] = k;
    for (k = 0; k + 1 < MANY; k += 2) {
        x[k] = (grpo_real)(huge / 4 * (1 + rng_unit(&r)));
        x[k + 1] = -x[k];
    }
    x[0] = (grpo_real)rest;
    x[1] = 0;
    rng_shuffle(&r, order, MANY);
    for (k = 0; k < MANY; k++) shuffled[k] = x[order[k]];
    check_sum("pairs", x, MANY, (double)x[0]);
    check_sum("shuffled pairs", shuffled, MANY, (double)x[0]);
}

static void check_cancellation(void) {
    const double huge = sizeof(grpo_real) == 8 ? 1e308 : 3e38, tiny = sizeof(grpo_real) == 8 ? 5e-324 : 1.4e-45;
    check_pairs(huge, 1);
    check_pairs(huge, tiny);
    check_pairs(huge, -tiny);
    check_pairs(1, -1e-20);
    check_pairs(1e-20, 1e-30);
}

/* ---- rounding ------------------------------------------------------------------------------------------------------------------ */

#ifdef GRPO_DOUBLE
static void check_three(double a, double b, double c, double expected) {
    double x[3];
    x[0] = a; x[1] = b; x[2] = c;
    check_sum("three numbers", x, 3, expected);
    x[0] = -a; x[1] = -b; x[2] = -c;
    check_sum("three negative numbers", x, 3, -expected);
    x[0] = c; x[1] = a; x[2] = b;
    check_sum("three numbers in another order", x, 3, expected);
}

/* rounding to nearest, ties to even; a tie may be broken by a bit far below */
static void check_rounding(void) {
    check_three(1, 0x1p-53, 0, 1);
    check_three(1, 0x1p-53, 0x1p-1074, 1 + 0x1p-52);
    check_three(1, 0x1p-53, -0x1p-1074, 1);
    check_three(1, 0x3p-53, 0, 1 + 0x1p-51);
    check_three(1, 0x3p-53, -0x1p-1074, 1 + 0x1p-52);
    check_three(1, -0x1p-54, 0, 1);
    check_three(1, -0x1p-54, -0x1p-1000, 1 - 0x1p-53);
    check_three(1, -0x1p-1074, 0, 1);
    check_three(0x1p53, 1, 0, 0x1p53);
    check_three(0x1p53, 1, 0x1p-60, 0x1p53 + 2);
    check_three(0x1.fffffffffffffp0, 0x1p-53, 0, 2);
    check_three(0x1p-1022, -0x1p-1074, 0, 0x1p-1022 - 0x1p-1074);
    check_three(0x1p-1074, 0x1p-1074, 0x1p-1074, 0x3p-1074);
    check_three(0x1p-1022, 0x1p-1022, 0x1p-1074, 0x1.0000000000001p-1021 - 0x1p-1074);
    check_three(0x1p-1021, 0x1p-1074, 0, 0x1p-1021);
    check_three(0x1p-1021, 0x1p-1074, 0x1p-1074, 0x1p-1021 + 0x1p-1073);
    check_three(DBL_MAX, 0x1p969, 0, DBL_MAX);
    check_three(DBL_MAX, DBL_MAX, -DBL_MAX, DBL_MAX);
}

/* the bit that breaks the tie, at every distance */
static void check_ties(void) {
    int k;
    for (k = 54; k <= 1074; k += k < 200 ? 1 : 23) {
        check_three(1, 0x1p-53, ldexp(1, -k), 1 + 0x1p-52);
        check_three(1, 0x1p-53, -ldexp(1, -k), 1);
        check_three(0x1p9, 0x1p-44, ldexp(1, -k), k > 43 ? 0x1p9 + 0x1p-43 : 0x1p9);
        check_three(0x1p-17, -0x1p-71, -ldexp(1, -k - 20), k + 20 <= 1074 ? 0x1p-17 - 0x1p-70 : 0x1p-17);
    }
}

/* sums read as two doubles: powers of two, which are in one limb, and their differences, whose second double may have the other sign */
static void check_two_words(void) {
    static const int gap[] = { 1, 20, 31, 32, 33, 52, 53, 54, 63, 64, 65, 96, 200, 3000 };
    int k, j;
    for (k = -1074; k < 1023; k++)
        for (j = 0; j < 2 * (int)(sizeof gap / sizeof *gap); j++) {
            const double sign = j & 1 ? -1 : 1, a = sign * ldexp(1, k), b = sign * ldexp(1, k - gap[j / 2]);
            const grpo_dd found = gspo_log_ratio(&a, &b, NULL, 1), expected = grpo_two_diff(a, b);
            check(found.hi == expected.hi && found.lo == expected.lo, "%g - %g: %a + %a, must be %a + %a", a, b, found.hi, found.lo,
                  expected.hi, expected.lo);
        }
}

/* the mean of a power of two and so many zeros that the carries have been propagated: a single bit remains in its limb */
static void check_carried(void) {
    double x[512] = { 0 }, zero[512] = { 0 };
    for (int k = -1000; k < 1023; k++)
        for (x[0] = ldexp(1, k); x[0] >= -ldexp(1, k); x[0] -= 2 * ldexp(1, k)) {
            const grpo_dd found = gspo_log_ratio(x, zero, NULL, 512);
            check(found.hi == x[0] / 512 && found.lo == 0, "the mean of %g and 511 zeros: %a + %a", x[0], found.hi, found.lo);
        }
}

static void check_overflow(void) {
    double x[2], y[2];
    grpo_report r, q;
    x[0] = x[1] = DBL_MAX;
    r = sum(x, 2);
    check(r.loss == HUGE_VAL && r.overflow == 1, "2 DBL_MAX: %g, overflow %d", r.loss, r.overflow);
    x[0] = x[1] = -DBL_MAX;
    r = sum(x, 2);
    check(r.loss == -HUGE_VAL && r.overflow == 1, "-2 DBL_MAX: %g, overflow %d", r.loss, r.overflow);
    y[0] = DBL_MAX; y[1] = 0x1p970;                              /* halfway to 2^1024 */
    q = sum(y, 2);
    check(q.loss == HUGE_VAL && q.overflow == 1, "DBL_MAX + 2^970: %g, overflow %d", q.loss, q.overflow);
    y[1] = 0x1.fffffffffffffp969;
    q = sum(y, 2);
    check(q.loss == DBL_MAX && q.overflow == 0, "just below: %g, overflow %d", q.loss, q.overflow);
}

/* the largest double added and subtracted a million times */
static void check_far_overflow(void) {
    static grpo_partial p;
    static double x[MANY];
    double one = 1;
    grpo_report r;
    int64_t k;
    memset(&p, 0, sizeof p);
    for (k = 0; k < MANY; k++) x[k] = DBL_MAX;
    check(add(&p, x, MANY, 256) == GRPO_OK, "a million times the largest");
    grpo_partial_report(&p, &r);
    check(r.loss == HUGE_VAL && r.overflow == 1, "a million times the largest: %g", r.loss);
    for (k = 0; k < MANY; k++) x[k] = -DBL_MAX;
    check(add(&p, x, MANY, 256) == GRPO_OK && add(&p, &one, 1, 1) == GRPO_OK, "and back");
    grpo_partial_report(&p, &r);
    check(r.loss == 1 && r.overflow == 0, "a million times the largest and back, + 1: %.17g, overflow %d", r.loss, r.overflow);
}
#endif

/* ---- against integers ---------------------------------------------------------------------------------------------------------- */

/* random multiples of 2^scale whose sum fits into 64 bits */
static void check_integers(int scale, int bits, int64_t n) {
    grpo_real *x = (grpo_real *)test_alloc(n, sizeof *x);
    rng r = { 17 };
    int64_t k, m, total = 0;
    grpo_report found;
    r.state += (uint64_t)(scale + 2000);
    for (k = 0; k < n; k++) {
        m = rng_below(&r, INT64_C(1) << bits) - (INT64_C(1) << (bits - 1));
        total += m;
        x[k] = (grpo_real)ldexp((double)m, scale);
    }
    found = sum(x, n);
    check(found.loss == ldexp((double)total, scale), "integers times 2^%d: %.17g instead of %.17g", scale, found.loss,
        ldexp((double)total, scale));
    check(found.entropy == ldexp((double)total / (double)n, scale), "mean of integers times 2^%d", scale);
    free(x);
}

static void check_against_integers(void) {
    const int lowest = sizeof(grpo_real) == 8 ? -1074 : -149, highest = sizeof(grpo_real) == 8 ? 970 : 100;
    int scale;
    for (scale = lowest; scale <= highest; scale += 13) check_integers(scale, 20, 1024);
    check_integers(0, 24, 100000);
    check_integers(-40, 24, 1);
}

/* ---- carries ------------------------------------------------------------------------------------------------------------------- */

/* every addition of 2^k - 1 units carries over several limbs; -1 after +1 borrows across all of them */
static void check_millions(double value) {
    static grpo_partial p;
    static grpo_real x[MANY];
    grpo_report r;
    grpo_real minus;
    double expected;
    int64_t k;
    memset(&p, 0, sizeof p);
    for (k = 0; k < MANY; k++) x[k] = (grpo_real)value;
    check(add(&p, x, MANY, 1024) == GRPO_OK, "millions");
    grpo_partial_report(&p, &r);
    expected = ldexp((double)x[0], 22);
    check(r.loss == expected, "2^22 times %.9g: %.17g instead of %.17g", value, r.loss, expected);
    check(r.tokens == INT64_C(1) << 22 && r.entropy == (double)x[0], "mean of 2^22 times %.9g: %.17g", value, r.entropy);
    minus = (grpo_real)-value;
    for (k = 0; k < MANY; k++) x[k] = minus;
    check(add(&p, x, MANY, 1024) == GRPO_OK, "millions back");
    grpo_partial_report(&p, &r);
    check(r.loss == 0 && r.entropy == 0, "2^22 times %.9g and back: %.17g", value, r.loss);
}

static void check_carries(void) {
    const double lowest = sizeof(grpo_real) == 8 ? 0x1p-1074 : 0x1p-149;
    check_millions(lowest);
    check_millions((double)(grpo_real)0.7);
    check_millions((double)(grpo_real)-0x1.fffffep31);
    check_millions(sizeof(grpo_real) == 8 ? -0x1.fffffffffffffp-100 : -0x1.fffffep-100);
}

/* a chain of merged partials has the same carries as one long sum */
static void check_merges(void) {
    static grpo_partial part, total;
    static grpo_real x[MANY];
    grpo_report r;
    int64_t k;
    int m;
    memset(&part, 0, sizeof part);
    memset(&total, 0, sizeof total);
    for (k = 0; k < MANY; k++) x[k] = (grpo_real)-0x1.fffffep20;
    check(add(&part, x, MANY, 1) == GRPO_OK, "a part");
    for (m = 0; m < 5000; m++) check(grpo_partial_merge(&total, &part) == GRPO_OK, "merge %d", m);
    grpo_partial_report(&total, &r);
    check(r.loss == (double)x[0] * MANY * 5000, "5000 merges: %.17g instead of %.17g", r.loss, (double)x[0] * MANY * 5000);
    check(r.tokens == (int64_t)MANY * 5000, "5000 merges: tokens");
}

/* 2^60 times a number, by merging a partial with its copy 60 times */
static void check_doubling(void) {
    static grpo_partial p, copy;
    grpo_real x[] = { 1, (grpo_real)-0.375 };
    grpo_report r;
    int k;
    memset(&p, 0, sizeof p);
    check(add(&p, x, 2, 1) == GRPO_OK, "doubling");
    for (k = 0; k < 60; k++) {
        copy = p;
        check(grpo_partial_merge(&p, &copy) == GRPO_OK, "doubling %d", k);
    }
    grpo_partial_report(&p, &r);
    check(r.loss == 0.625 * 0x1p60, "doubled 60 times: %.17g", r.loss);
}

/* the loss is finite and its gradient times four ranks overflows: merging must keep the flag */
static void check_overflow_merges(void) {
    static grpo_partial part, total;
    const grpo_objective obj = sum_objective();
    const grpo_real logp[] = { (grpo_real)-0.0078125 }, advantage[] = { (grpo_real)(sizeof(grpo_real) == 8 ? 1e308 : 3e38) };
    const int64_t n = 1;
    const grpo_batch b = one_sequence(logp, &n);
    grpo_totals totals;
    grpo_real dlogp[] = { 0 };
    grpo_output out;
    grpo_report r;
    memset(&out, 0, sizeof out);
    memset(&totals, 0, sizeof totals);
    totals.tokens = totals.sequences = totals.sequences_nonempty = totals.groups = totals.groups_nonempty = 1;
    totals.ranks = 4;
    memset(&part, 0, sizeof part);
    memset(&total, 0, sizeof total);
    out.dlogp = dlogp;
    check(grpo_loss_add(&obj, &b, advantage, &totals, &out, &part) == GRPO_OK, "an infinite gradient");
    check(grpo_partial_merge(&total, &part) == GRPO_OK, "merging an infinite gradient");
    grpo_partial_report(&total, &r);
    check(dlogp[0] == (grpo_real)-INFINITY && grpo_is_finite(r.loss), "gradient %g, loss %g", (double)dlogp[0], r.loss);
    check(r.overflow == 1, "a merged partial forgets an overflow");
}

/* the sum of the terms is finite; its quotient by a small constant, or that times the ranks, is not: report.overflow must say so */
static void check_overflow_of_loss(double constant, int64_t ranks, int overflow) {
    grpo_objective obj = sum_objective();
    const grpo_real logp[] = { -1 }, advantage[] = { (grpo_real)-1e30 };
    const int64_t n = 1;
    const grpo_batch b = one_sequence(logp, &n);
    grpo_totals totals;
    grpo_report r;
    obj.aggregation.kind = GRPO_AGGREGATION_CONSTANT;
    obj.aggregation.constant = constant;
    memset(&totals, 0, sizeof totals);
    check(grpo_totals_add(&obj, &b, advantage, &totals) == GRPO_OK, "counts");
    totals.ranks = ranks;
    check(grpo_loss(&obj, &b, advantage, &totals, NULL, &r) == GRPO_OK, "a loss of -1e30/%g times %d", constant, (int)ranks);
    check(r.loss < -1e300 && grpo_is_finite(r.loss) == !overflow && r.policy_loss == r.loss && r.overflow == overflow,
          "-1e30/%g times %d: %g, overflow %d", constant, (int)ranks, r.loss, r.overflow);
}

/* ---- statistics of rewards ----------------------------------------------------------------------------------------------------- */

enum { REWARDS = 8 };

static grpo_objective normalising(grpo_scale_kind scale) {
    grpo_objective obj;
    memset(&obj, 0, sizeof obj);
    obj.advantage.baseline = GRPO_BASELINE_GROUP_MEAN;
    obj.advantage.scale = scale;
    return obj;
}

/* advantages of one group of responses of one token each */
static grpo_status advantages_of(const grpo_objective *obj, const double *reward, grpo_real *advantage) {
    static const int64_t group_begin[] = { 0, REWARDS }, offset[] = { 0, 1, 2, 3, 4, 5, 6, 7 }, length[] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    static const grpo_real logp[REWARDS];
    grpo_real r[REWARDS];
    grpo_batch b;
    int k;
    memset(&b, 0, sizeof b);
    b.n_groups = 1;
    b.group_begin = group_begin;
    b.offset = offset;
    b.length = length;
    b.n_tokens = REWARDS;
    b.logp = logp;
    b.reward = r;
    for (k = 0; k < REWARDS; k++) r[k] = (grpo_real)reward[k];
    return grpo_advantages(obj, &b, advantage);
}

/* z-scores of eight rewards, of which three are 1 above the others: (1 - 3/8)/sigma and -(3/8)/sigma, sigma^2 = 15/8/7 */
static void check_offset(grpo_scale_kind scale, double base, double step) {
    static const int above[REWARDS] = { 0, 1, 0, 0, 1, 0, 1, 0 };
    const grpo_objective obj = normalising(scale);
    const double eps = sizeof(grpo_real) == 8 ? 0x1p-52 : 0x1p-23, sigma = sqrt(15.0 / 56);
    double reward[REWARDS];
    grpo_real found[REWARDS];
    int k;
    for (k = 0; k < REWARDS; k++) reward[k] = base + step * above[k];
    check(advantages_of(&obj, reward, found) == GRPO_OK, "offset %g: status", base);
    for (k = 0; k < REWARDS; k++) {
        double expected = (above[k] - 0.375) / sigma;
        check(fabs((double)found[k] - expected) <= 2 * eps * fabs(expected), "rewards %.9g + {0, %g}, scale %d: %.17g instead of %.17g",
            base, step,
              (int)scale, (double)found[k], expected);
    }
}

static void check_offsets(void) {
    static const grpo_scale_kind scale[] = { GRPO_SCALE_GROUP_STD, GRPO_SCALE_BATCH_STD, GRPO_SCALE_BATCH_CENTRED_STD,
        GRPO_SCALE_TOKEN_WHITEN };
    const double small = sizeof(grpo_real) == 8 ? 0x1p-300 : 0x1p-140;
    int k;
    for (k = 0; k < 4; k++) {
        check_offset(scale[k], 0, 1);
        check_offset(scale[k], 1e7, 1);
        check_offset(scale[k], -1e7, 1);
        check_offset(scale[k], 0x1p24, 2);
        check_offset(scale[k], 0.5, 0x1p-24);
        check_offset(scale[k], 0, small);
        check_offset(scale[k], 0, 0x1p120);
        if (sizeof(grpo_real) == 8) check_offset(scale[k], 0x1p50, 0x1p-2);
    }
}

int main(void) {
    check_small_sums();
    check_cancellation();
#ifdef GRPO_DOUBLE
    check_rounding();
    check_ties();
    check_two_words();
    check_carried();
    check_overflow();
    check_far_overflow();
#endif
    check_against_integers();
    check_carries();
    check_merges();
    check_doubling();
    check_overflow_merges();
    check_overflow_of_loss(1e-300, 1, 1);
    check_overflow_of_loss(1e-277, 1000, 1);
    check_overflow_of_loss(1e-277, 1, 0);
    check_offsets();
    return check_summary();
}
