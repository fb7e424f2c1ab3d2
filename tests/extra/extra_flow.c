/* extra/grpo_flow.h: schedules, steps and losses against their definitions in binary128; gradients against differences of the definitions,
 * which are exact where these are quadratic; and worked cases. */
#include "../../extra/grpo_flow.h"
#include "extra.h"

enum { MOST_STEPS = 4, MOST_ELEMENTS = 40 };
static const reference_real HALF_PI = 1.5707963267948966 + (reference_real)6.123233995736766e-17;      /* to 1e-33 */

/* ---- schedules -------------------------------------------------------------------------------------------------------------------- */

/* cos x or sin x by its series, |x| <= 1.6 */
static reference_real circular(reference_real x, int is_sine) {
    reference_real term = is_sine ? x : 1, sum = term;
    for (int k = is_sine ? 2 : 1; k < 60; k += 2) {
        term *= -x * x / ((reference_real)k * (k + 1));
        sum += term;
    }
    return sum;
}

static reference_real schedule_variance(grpo_flow_kind kind, double s0, double s1, double most, double least, double eta) {
    const reference_real h = (reference_real)s0 - s1, bound = (reference_real)997 / 1000;
    const reference_real from = s0 > 0.997 ? bound : (reference_real)s0;
    reference_real g = eta;
    if (kind == GRPO_FLOW_SDE) g *= ref_sqrt(s0 / (1 - (reference_real)(s0 < 1 ? s0 : most)));
    if (kind == GRPO_FLOW_FLASH_SDE) g *= least + ((reference_real)most - least) * s0;
    if (kind == GRPO_FLOW_SAGE_SDE) return g * g * (ref_ln((1 - (reference_real)s1) / (1 - from)) - h);
    return g * g * h;
}

static void test_one_schedule(rng *r) {
    const grpo_flow_kind kind = (grpo_flow_kind)rng_below(r, 5);
    const double s0 = rng_chance(r, 10) ? 1 : rng_chance(r, 20) ? 1 - 1e-3 * rng_unit(r) : rng_unit(r) + 1e-9;
    const double s1 = rng_chance(r, 10) ? s0 * (1 - 1e-6) : s0 * rng_unit(r), most = 0.5 + 0.499 * rng_unit(r), least = 0.5 * rng_unit(r);
    const double eta = kind == GRPO_FLOW_CPS ? (rng_chance(r, 20) ? 1 : rng_unit(r)) : random_size(r, 2) * (rng_chance(r, 10) ? 1e-200 : 1);
    const reference_real h = (reference_real)s0 - s1, one = 1;
    reference_real a, b, s, size_a, size_b;
    grpo_flow_step x;
    const grpo_status st = grpo_flow_schedule(kind, s0, s1, most, least, eta, &x);
    if (kind == GRPO_FLOW_CPS) {
        const reference_real c = circular(eta * HALF_PI, 0), keeps = s1 * c, loses = s0 * (one - s1);
        a = size_a = one - s1 + keeps;
        b = (one - s0) * keeps - loses; size_b = (one - s0) * keeps + loses;
        s = s1 * circular(eta * HALF_PI, 1);
    } else {
        const reference_real V = schedule_variance(kind, s0, s1, most, least, 1), half = V * eta * eta / (2 * (reference_real)s0);
        if (V <= 0) { check(st == GRPO_STATUS_ARGUMENT_(GRPO_OUT_OF_RANGE, 3, -1), "schedule: a variance of %g", (double)V); return; }
        a = 1 - half; size_a = 1 + half;
        b = -h * 1 - half * (one - s0); size_b = -b;
        s = eta * ref_sqrt(V);
    }
    if (!check(!st, "schedule: kind %d, %g to %g: %s", (int)kind, s0, s1, status_line(st))) return;
    judge("sample_factor", x.sample_factor, a, size_a, 0);
    judge("velocity_factor", x.velocity_factor, b, size_b, 0);
    judge("std", x.std, s, s, 0);
    judge("rate", x.rate, s / ref_abs(b), s / ref_abs(b) * (size_b / ref_abs(b)), 0);
}

/* worked case: noise level 0.6 to 0.5, sigma_max 0.9, eta 0.7 */
static void test_worked_schedules(void) {
    static const struct { grpo_flow_kind kind; double a, b, s; } worked[] = {
        { GRPO_FLOW_SDE, 0.93875, -0.1245, 0.271109 }, { GRPO_FLOW_DANCE_SDE, 0.959167, -0.116333, 0.221359 },
        { GRPO_FLOW_SAGE_SDE, 0.949716, -0.120113, 0.245643 }, { GRPO_FLOW_CPS, 0.726995, -0.209202, 0.445503 },
    };
    grpo_flow_step x;
    for (size_t k = 0; k < COUNT(worked); k++) {
        check(!grpo_flow_schedule(worked[k].kind, 0.6, 0.5, 0.9, 0.1, 0.7, &x), "worked schedule %d", (int)k);
        check(fabs(x.sample_factor - worked[k].a) < 1e-6 && fabs(x.velocity_factor - worked[k].b) < 1e-6
              && fabs(x.std - worked[k].s) < 1e-6, "worked schedule %d: %g, %g, %g", (int)k, x.sample_factor, x.velocity_factor, x.std);
    }
    check(!grpo_flow_schedule(GRPO_FLOW_SDE, 1, 0.9, 0.9, 0.1, 0.7, &x) && fabs(x.std - 0.7) < 1e-12, "at level 1 sigma_max stands in: %g",
          x.std);
    check(grpo_flow_schedule(GRPO_FLOW_CPS, 0.1, 0, 0.9, 0.1, 0.7, &x) == GRPO_STATUS_ARGUMENT_(GRPO_OUT_OF_RANGE, 3, -1),
          "a step of cps without noise");
}

/* the last steps of a long schedule: s^2 of sage_sde is about s0^2/2, a difference of two numbers near s0.  With q = h/(1 - s0) it is
 * q s0 + log(1 + q) - q, from the series */
static void test_low_levels(void) {
    for (int k = 1; k <= 140; k++) {
        const double s0 = 0.7 * pow(10, -k), s1 = k % 3 ? 0.3 * s0 : 0;
        const reference_real q = ((reference_real)s0 - s1) / (1 - (reference_real)s0);
        reference_real square = q * s0, power = q;
        grpo_flow_step x;
        for (int j = 2; j < 40; j++) square += (power *= -q) / j;
        if (!check(!grpo_flow_schedule(GRPO_FLOW_SAGE_SDE, s0, s1, 0.9, 0.1, 1, &x), "sage_sde is refused at level %g", s0)) continue;
        judge("std at low levels", x.std, ref_sqrt(square), ref_sqrt(square), 0);
        const reference_real factor = (s0 - (reference_real)s1) + square / (2 * (reference_real)s0) * (1 - s0);
        judge("velocity_factor at them", -x.velocity_factor, factor, s0, 0);
    }
}

static void test_balance(rng *r) {
    double rate[9], weight[9], sorted[9];
    const int64_t n = 1 + rng_below(r, 9);
    reference_real sum = 0;
    for (int64_t k = 0; k < n; k++) {
        int64_t j = k;
        rate[k] = rng_chance(r, 20) ? 0.5 : random_size(r, 3);
        sum += rate[k];
        for (; j > 0 && sorted[j - 1] < rate[k]; j--) sorted[j] = sorted[j - 1];      /* descending, so that the reciprocals ascend */
        sorted[j] = rate[k];
    }
    check(!grpo_balance_steps(n, rate, GRPO_BALANCE_MEDIAN, weight), "balance");
    for (int64_t k = 0; k < n; k++)
        judge("median weight", weight[k], (reference_real)rate[k] / sorted[(n - 1) / 2], rate[k] / sorted[(n - 1) / 2], 0);
    check(!grpo_balance_steps(n, rate, GRPO_BALANCE_MEAN, weight), "balance");
    for (int64_t k = 0; k < n; k++) {
        const reference_real w = rate[k] * (reference_real)n / sum;
        judge("mean weight", weight[k], w, w, 0);
    }
}

/* ---- steps ------------------------------------------------------------------------------------------------------------------------ */

typedef enum { EASY, NEAR, FAR, EQUAL, N_SHAPES } shape;
enum { LOGP, LOG_RATIO, REGULATED, DIVERGENCE_OLD, DIVERGENCE_REF, N_NUMBERS };
static const char *const number_names[N_NUMBERS] = { "logp", "log_ratio", "regulated", "divergence_old", "divergence_ref" };

typedef struct {
    int64_t n, begin[MOST_STEPS + 1];
    grpo_real sample[MOST_ELEMENTS], mean[MOST_ELEMENTS], old[MOST_ELEMENTS], ref[MOST_ELEMENTS], dmean[MOST_ELEMENTS];
    double std[MOST_STEPS], kl_std[MOST_STEPS];
    grpo_real found[N_NUMBERS][MOST_STEPS], by[N_NUMBERS][MOST_STEPS];
    int own_kl_std;
} steps;

static grpo_real random_element(rng *r, shape how, grpo_real near) {
    if (how == EQUAL) return near;
    if (how == NEAR) return (grpo_real)((double)near + 1e-6 * rng_bell(r));
    return (grpo_real)(how == FAR ? random_signed(r, 15) : rng_bell(r));
}

static void random_spans(rng *r, int64_t n, int64_t *begin) {
    begin[0] = rng_below(r, 3);
    for (int64_t k = 0; k < n; k++) begin[k + 1] = begin[k] + 1 + rng_below(r, 8);
}

static void random_steps(rng *r, steps *x) {
    const shape how = (shape)rng_below(r, N_SHAPES);
    x->n = 1 + rng_below(r, MOST_STEPS);
    random_spans(r, x->n, x->begin);
    x->own_kl_std = rng_chance(r, 50);
    for (int64_t d = 0; d < MOST_ELEMENTS; d++) {
        x->sample[d] = random_element(r, EASY, 0);
        x->mean[d] = random_element(r, how == FAR ? FAR : EASY, 0);
        x->old[d] = random_element(r, how, x->mean[d]);
        x->ref[d] = random_element(r, how, x->mean[d]);
    }
    for (int64_t k = 0; k < x->n; k++) {
        x->std[k] = random_size(r, how == FAR ? 8 : 2);
        x->kl_std[k] = random_size(r, 2);
        for (int j = 0; j < N_NUMBERS; j++) x->by[j][k] = rng_chance(r, 30) ? 0 : (grpo_real)random_signed(r, 3);
    }
}

/* the five numbers of step k with element `at` of its mean moved by `move`, and the sizes of their sums */
static void define_step(const steps *x, int64_t k, int64_t at, reference_real move, reference_real *number, reference_real *size) {
    const reference_real n = x->begin[k + 1] - x->begin[k], s = x->std[k], c = x->own_kl_std ? x->kl_std[k] : x->std[k];
    const reference_real half_log_2_pi = ref_ln(4 * HALF_PI) / 2;
    reference_real q = 0, q_old = 0, m = 0, ref = 0, parts = 0, cross_parts = 0;
    for (int64_t d = x->begin[k]; d < x->begin[k + 1]; d++) {
        const reference_real y = x->sample[d], mu = x->mean[d] + (d == at ? move : 0), old = x->old[d];
        q += (y - mu) * (y - mu) / n; q_old += (y - old) * (y - old) / n;
        m += (mu - old) * (mu - old) / n; ref += (mu - x->ref[d]) * (mu - x->ref[d]) / n;
        parts += ref_abs(mu - old) * (ref_abs(y - mu) + ref_abs(y - old)) / n;
        cross_parts += ref_abs((mu - old) * (y - old)) / n;
    }
    number[LOGP] = -q / (2 * s * s) - ref_ln(s) - half_log_2_pi;
    number[LOG_RATIO] = (q_old - q) / (2 * s * s);
    number[REGULATED] = s * number[LOG_RATIO] + m / (2 * s);
    number[DIVERGENCE_OLD] = m / (2 * s * s);
    number[DIVERGENCE_REF] = ref / (2 * c * c);
    size[LOGP] = q / (2 * s * s) + ref_abs(ref_ln(s)) + half_log_2_pi;
    size[LOG_RATIO] = parts / (2 * s * s); size[REGULATED] = cross_parts / s;
    size[DIVERGENCE_OLD] = number[DIVERGENCE_OLD]; size[DIVERGENCE_REF] = number[DIVERGENCE_REF];
}

/* the sum of `by` times the numbers of step k: quadratic in the mean, so central differences are exact but for rounding */
static reference_real weighed(const steps *x, int64_t k, int64_t d, reference_real move) {
    reference_real number[N_NUMBERS], size[N_NUMBERS], sum = 0;
    define_step(x, k, d, move, number, size);
    for (int j = 0; j < N_NUMBERS; j++) sum += x->by[j][k] * number[j];
    return sum;
}

static void check_slope(const steps *x, int64_t k, int64_t d) {
    const reference_real n = x->begin[k + 1] - x->begin[k], s = x->std[k], c = x->own_kl_std ? x->kl_std[k] : x->std[k];
    const reference_real y = x->sample[d], mu = x->mean[d], old = x->old[d], ref = x->ref[d];
    const reference_real part[N_NUMBERS] = {
        (y - mu) / (s * s) * x->by[LOGP][k] / n, (y - mu) / (s * s) * x->by[LOG_RATIO][k] / n, (y - old) / s * x->by[REGULATED][k] / n,
        (mu - old) / (s * s) * x->by[DIVERGENCE_OLD][k] / n, (mu - ref) / (c * c) * x->by[DIVERGENCE_REF][k] / n
    };
    const reference_real move = ref_abs(mu) + 1, difference = (weighed(x, k, d, move) - weighed(x, k, d, -move)) / (2 * move);
    const reference_real whole = ref_abs(weighed(x, k, d, move)) + ref_abs(weighed(x, k, d, -move));
    reference_real sum = 0, size = 0;
    for (int j = 0; j < N_NUMBERS; j++) { sum += part[j]; size += ref_abs(part[j]); }
    judge("dmean", (double)x->dmean[d], sum, size, 1);
    check(ref_abs(difference - sum) <= 1e-21 * (size + whole / move), "dmean: slope %g, difference %g", (double)sum, (double)difference);
}

static void test_one_batch_of_steps(rng *r) {
    static steps x;
    const grpo_gaussian_numbers out = { x.found[LOGP], x.found[LOG_RATIO], x.found[REGULATED], x.found[DIVERGENCE_OLD],
                                        x.found[DIVERGENCE_REF] };
    const grpo_gaussian_gradients by = { x.by[LOGP], x.by[LOG_RATIO], x.by[REGULATED], x.by[DIVERGENCE_OLD], x.by[DIVERGENCE_REF] };
    const double *kl_std;
    random_steps(r, &x);
    kl_std = x.own_kl_std ? x.kl_std : NULL;
    check(!grpo_gaussian_steps(x.n, x.begin, x.sample, x.mean, x.old, x.ref, x.std, kl_std, &out), "steps");
    check(!grpo_gaussian_steps_backward(x.n, x.begin, x.sample, x.mean, x.old, x.ref, x.std, kl_std, &by, x.dmean), "backward");
    for (int64_t k = 0; k < x.n; k++) {
        reference_real number[N_NUMBERS], size[N_NUMBERS];
        define_step(&x, k, -1, 0, number, size);
        for (int j = 0; j < N_NUMBERS; j++) judge(number_names[j], (double)x.found[j][k], number[j], size[j], 1);
        for (int64_t d = x.begin[k]; d < x.begin[k + 1]; d++) check_slope(&x, k, d);
    }
}

/* worked case: two elements, deviation 0.5 */
static void test_worked_step(void) {
    static const grpo_real sample[2] = { (grpo_real)0.5, (grpo_real)-0.25 }, mean[2] = { (grpo_real)0.1, (grpo_real)-0.2 }, zero[2];
    static const int64_t begin[2] = { 0, 2 };
    static const double s[1] = { 0.5 };
    grpo_real log_ratio, regulated, old, ref, logp = 0;
    grpo_gaussian_numbers out = { NULL, &log_ratio, &regulated, &old, &ref };
    check(!grpo_gaussian_steps(1, begin, sample, mean, zero, zero, s, NULL, &out), "worked step");
    check(fabs((double)log_ratio - 0.15) < 1e-7 && fabs((double)regulated - 0.1) < 1e-7 && fabs((double)old - 0.05) < 1e-7
          && old == ref, "worked step: %g, %g, %g", (double)log_ratio, (double)regulated, (double)old);
    memset(&out, 0, sizeof out);
    out.logp = &logp;
    check(!grpo_gaussian_steps(1, begin, sample, mean, NULL, NULL, s, NULL, &out) && logp < 0, "logp alone needs no other mean");
}

/* extreme inputs give finite or infinite numbers, no NaN */
static void test_extremes(void) {
    const grpo_real most = sizeof(grpo_real) == 4 ? (grpo_real)FLT_MAX : (grpo_real)DBL_MAX;
    const grpo_real numbers[] = { most, -most, 0, (grpo_real)1e-30, -1 };
    static const int64_t begin[2] = { 0, 1 };
    static const double stds[] = { 5e-324, 1e-300, 1, 1e300, DBL_MAX };
    for (int k = 0; k < 5 * 5 * 5 * 5; k++) {
        const grpo_real *y = &numbers[k % 5], *mu = &numbers[k / 5 % 5], *old = &numbers[k / 25 % 5];
        const double *s = &stds[k / 125];
        grpo_real x[N_NUMBERS], by = 1, d;
        const grpo_gaussian_numbers out = { &x[0], &x[1], &x[2], &x[3], &x[4] };
        const grpo_gaussian_gradients all = { &by, &by, &by, &by, &by };
        check(!grpo_gaussian_steps(1, begin, y, mu, old, old, s, NULL, &out), "an extreme step");
        check(!grpo_gaussian_steps_backward(1, begin, y, mu, old, old, s, NULL, &all, &d), "an extreme step");
        for (int j = 0; j < N_NUMBERS; j++) check(x[j] == x[j], "extreme %d: %s is NaN", k, number_names[j]);
        check(d == d, "extreme %d: dmean is NaN", k);
        check(*mu != *old || (x[LOG_RATIO] == 0 && x[REGULATED] == 0 && x[DIVERGENCE_OLD] == 0), "extreme %d: equal means", k);
    }
}

/* ---- losses without sampler steps ------------------------------------------------------------------------------------------------- */

static void test_denoising(rng *r) {
    static grpo_real prediction[MOST_ELEMENTS], target[MOST_ELEMENTS], d[MOST_ELEMENTS];
    int64_t begin[MOST_STEPS + 1];
    double error[MOST_STEPS], ref[MOST_STEPS], weight[MOST_STEPS], slope[MOST_STEPS], loss, beta = random_size(r, 4);
    reference_real u = 0, s;
    const int64_t n = 1 + rng_below(r, MOST_STEPS);
    random_spans(r, n, begin);
    for (int64_t j = 0; j < MOST_ELEMENTS; j++) {
        prediction[j] = (grpo_real)rng_bell(r);
        target[j] = random_element(r, NEAR, prediction[j]);
    }
    for (int64_t k = 0; k < n; k++) { ref[k] = rng_unit(r); weight[k] = rng_bell(r); slope[k] = rng_bell(r); }
    check(!grpo_denoising_error(n, begin, prediction, target, error), "error");
    check(!grpo_denoising_error_backward(n, begin, prediction, target, slope, d), "error, backward");
    for (int64_t k = 0; k < n; k++) {
        const reference_real count = begin[k + 1] - begin[k];
        reference_real e = 0;
        for (int64_t j = begin[k]; j < begin[k + 1]; j++) {
            const reference_real gap = (reference_real)prediction[j] - target[j], g = 2 * gap * slope[k] / count;
            e += gap * gap / count;
            judge("dprediction", (double)d[j], g, ref_abs(g), 1);
        }
        judge("error", error[k], e, e, 0);
        if (rng_chance(r, 30)) error[k] = ref[k];
    }
    check(!grpo_denoising_preference(n, error, ref, weight, beta, &loss, slope), "preference");
    for (int64_t k = 0; k < n; k++) u += beta / (reference_real)2 * weight[k] * ((reference_real)error[k] - ref[k]);
    s = ref_log_one_plus_exp(u);
    judge("preference", loss, s, s, 0);
    for (int64_t k = 0; k < n; k++) {
        const reference_real g = ref_sigmoid(u) * beta / 2 * weight[k];
        if (ref_abs(g) > 1e-290) judge("derror", slope[k], g, ref_abs(g), 0);      /* else below the normal range on the way */
    }
}

typedef struct {
    int64_t n, begin[MOST_STEPS + 1];
    grpo_real v[MOST_ELEMENTS], old[MOST_ELEMENTS], ref[MOST_ELEMENTS], noisy[MOST_ELEMENTS], clean[MOST_ELEMENTS], d[MOST_ELEMENTS];
    double level[MOST_STEPS], advantage[MOST_STEPS], share[MOST_STEPS], loss[MOST_STEPS];
    grpo_nft settings;
} nft;

/* the prediction of the given sign minus the clean sample, and the size of its parts */
static reference_real nft_gap(const nft *x, int64_t k, int64_t d, int sign, reference_real move, reference_real *size) {
    const reference_real beta = x->settings.beta, v = x->v[d] + move, old = x->old[d];
    const reference_real u = sign > 0 ? beta * v + (1 - beta) * old : (1 + beta) * old - beta * v;
    *size = ref_abs((reference_real)x->noisy[d] - x->clean[d]) + x->level[k] * (ref_abs(old) + beta * ref_abs(v - old));
    return x->noisy[d] - x->level[k] * u - x->clean[d];
}

/* the mean square of the gaps of sample k, with element `at` moved by `move` */
static reference_real nft_squares(const nft *x, int64_t k, int sign, int64_t at, reference_real move) {
    const reference_real n = x->begin[k + 1] - x->begin[k];
    reference_real sum = 0, size;
    for (int64_t d = x->begin[k]; d < x->begin[k + 1]; d++) {
        const reference_real e = nft_gap(x, k, d, sign, d == at ? move : 0, &size);
        sum += e * e / n;
    }
    return sum;
}

static reference_real nft_weight(const nft *x, int64_t k, int sign) {
    const reference_real n = x->begin[k + 1] - x->begin[k], least = (reference_real)1 / 100000;
    reference_real sum = 0, size;
    for (int64_t d = x->begin[k]; d < x->begin[k + 1]; d++) sum += ref_abs(nft_gap(x, k, d, sign, 0, &size)) / n;
    return sum > least ? sum : least;
}

static reference_real nft_loss(const nft *x, int64_t k, reference_real r, int64_t at, reference_real move) {
    const reference_real n = x->begin[k + 1] - x->begin[k], M = x->settings.advantage_max;
    reference_real kl = 0;
    for (int64_t d = x->begin[k]; d < x->begin[k + 1]; d++) {
        const reference_real gap = (reference_real)x->v[d] - x->ref[d] + (d == at ? move : 0);
        kl += gap * gap / n;
    }
    return M / x->settings.beta * (r * nft_squares(x, k, 1, at, move) / nft_weight(x, k, 1)
                                   + (1 - r) * nft_squares(x, k, -1, at, move) / nft_weight(x, k, -1)) + x->settings.kl_coef * kl;
}

static void check_nft_sample(const nft *x, int64_t k) {
    const reference_real M = x->settings.advantage_max, A = x->advantage[k], clipped = A > M ? M : A < -M ? -M : A;
    const reference_real r = clipped / (2 * M) + (reference_real)1 / 2, loss = nft_loss(x, k, r, -1, 0), n = x->begin[k + 1] - x->begin[k];
    judge("share", x->share[k], r, 1, 0);
    judge("nft loss", x->loss[k], loss, loss, 0);
    for (int64_t d = x->begin[k]; d < x->begin[k + 1]; d++) {
        /* quadratic in the element: a difference over +-1 is exact */
        const reference_real g = (nft_loss(x, k, r, d, 1) - nft_loss(x, k, r, d, -1)) / 2;
        reference_real up, down, size;
        nft_gap(x, k, d, 1, 0, &up); nft_gap(x, k, d, -1, 0, &down);
        size = 2 * M * x->level[k] / n * (r * up / nft_weight(x, k, 1) + (1 - r) * down / nft_weight(x, k, -1))
            + 2 * x->settings.kl_coef * ref_abs((reference_real)x->v[d] - x->ref[d]) / n;
        judge("dvelocity", (double)x->d[d], g, size + 1e-17 * loss, 1);
    }
}

static void test_nft(rng *r) {
    static nft x;
    const shape how = (shape)rng_below(r, N_SHAPES);
    x.n = 1 + rng_below(r, MOST_STEPS);
    random_spans(r, x.n, x.begin);
    x.settings.advantage_max = rng_chance(r, 50) ? 5 : random_size(r, 1);
    x.settings.beta = rng_chance(r, 50) ? 1 : random_size(r, 1);
    x.settings.kl_coef = rng_chance(r, 50) ? 0 : random_size(r, 2);
    for (int64_t d = 0; d < MOST_ELEMENTS; d++) {
        x.v[d] = (grpo_real)rng_bell(r);
        x.old[d] = random_element(r, how == FAR ? EASY : how, x.v[d]);
        x.ref[d] = random_element(r, how == FAR ? EASY : how, x.v[d]);
        x.clean[d] = (grpo_real)rng_bell(r);
        x.noisy[d] = random_element(r, how == FAR ? EASY : how, x.clean[d]);
    }
    for (int64_t k = 0; k < x.n; k++) {
        x.level[k] = rng_chance(r, 10) ? 0 : rng_chance(r, 10) ? 1 : rng_unit(r);
        x.advantage[k] = rng_chance(r, 20) ? 0 : 4 * rng_bell(r);
    }
    check(!grpo_diffusion_nft(x.n, x.begin, x.v, x.old, x.settings.kl_coef != 0 ? x.ref : NULL, x.noisy, x.clean, x.level, x.advantage,
                              &x.settings, x.share, x.loss, x.d), "nft");
    for (int64_t k = 0; k < x.n; k++) check_nft_sample(&x, k);
}

/* errors whose squares overflow; elements so large that a difference would overflow are refused */
static void test_large_nft(void) {
    static const int64_t begin[2] = { 0, 1 };
    const grpo_real zero = 0, unread = (grpo_real)NAN, v = (grpo_real)1e30;
    const grpo_real most = sizeof(grpo_real) == 4 ? v : (grpo_real)DBL_MAX, least = -most;
    const double one = 1, none = 0, half = 0.5;
    const grpo_nft x = { 1, 1e145, 0 };
    double loss, share;
    grpo_real d;
    check(!grpo_diffusion_nft(1, begin, &v, &zero, NULL, &zero, &zero, &one, &half, &x, &share, &loss, &d), "large nft");
    check(fabs(loss / (double)v - 1) < 1e-15 && fabs((double)d - 2) < 1e-6, "an error of 1e175: %g, %g", loss, (double)d);
    check(!grpo_diffusion_nft(1, begin, &v, &zero, &unread, &zero, &zero, &one, &half, &x, &share, &loss, &d), "velocity_ref is not read");
    if (sizeof(grpo_real) == 4) return;
    check(grpo_diffusion_nft(1, begin, &most, &least, NULL, &zero, &zero, &none, &one, &x, &share, &loss, &d)
          == GRPO_STATUS_ARGUMENT_(GRPO_TOO_LARGE, 3, 0), "large nft");
    check(grpo_denoising_error(1, begin, &most, &least, &loss) == GRPO_STATUS_ARGUMENT_(GRPO_TOO_LARGE, 3, 0), "large error");
    check(grpo_denoising_error_backward(1, begin, &v, &least, &none, &d) == GRPO_STATUS_ARGUMENT_(GRPO_TOO_LARGE, 4, 0), "large error");
}

int main(void) {
    rng r = { 20260 };
    for (int k = 0; k < 4000; k++) test_one_schedule(&r);
    for (int k = 0; k < 500; k++) test_balance(&r);
    for (int k = 0; k < 800; k++) test_one_batch_of_steps(&r);
    for (int k = 0; k < 500; k++) test_denoising(&r);
    for (int k = 0; k < 300; k++) test_nft(&r);
    test_worked_schedules();
    test_low_levels();
    test_worked_step();
    test_extremes();
    test_large_nft();
    print_tallies();
    return check_summary();
}
