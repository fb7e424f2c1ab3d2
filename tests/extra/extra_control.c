/* extra/grpo_control.h: random numbers and batches against binary128, and worked cases for extremes. */
#include "extra.h"

/* ---- numbers ------------------------------------------------------------------------------------------------------------------------- */

static void test_kl_control(rng *r) {
    const double coef = random_signed(r, 3), target = random_size(r, 3), horizon = random_size(r, 5), steps = random_size(r, 5);
    const double kl = rng_chance(r, 50) ? target * (1 + random_signed(r, 12) * 1e-12) : rng_bell(r);
    reference_real clip = (reference_real)kl / target - 1;
    clip = clip < -0.2 ? -0.2 : clip > 0.2 ? 0.2 : clip;
    judge("kl_control", grpo_kl_control(coef, kl, target, steps, horizon), coef * (1 + clip * steps / horizon),
          fabs(coef) * (1 + ref_abs(clip) * steps / horizon), 0);
}

static void test_entropy_control(rng *r) {
    const double coef = rng_bell(r), delta = rng_bell(r), target = (double)rng_below(r, 4), entropy = (double)rng_below(r, 4);
    const double low = -2 * rng_unit(r), high = 2 * rng_unit(r);
    const int inclusive = rng_chance(r, 50), below = inclusive ? entropy <= target : entropy < target;
    const grpo_entropy_coef found = grpo_entropy_control(coef, entropy, target, delta, low, high, inclusive);
    reference_real c = below ? (reference_real)coef + delta : (reference_real)coef - delta;
    c = c < low ? low : c > high ? high : c;
    judge("entropy_control", found.coef, c, fabs(coef) + fabs(delta), 0);
    judge("entropy_control", found.used, below ? c : 0, fabs(coef) + fabs(delta), 0);
}

static void test_smooth_advantage(rng *r) {
    const int64_t i = 1 + rng_below(r, rng_chance(r, 50) ? 4 : 1000);
    const double fresh = rng_chance(r, 30) ? rng_sign(r) : rng_bell(r);
    const double total = rng_chance(r, 20) ? -fresh : rng_chance(r, 30) ? rng_sign(r) : rng_bell(r);
    const reference_real a = ((reference_real)fresh * (i - 1) + total) / i, b = (fresh + (reference_real)total * (i - 1)) / i;
    const reference_real scale_a = ((reference_real)fabs(fresh) * (i - 1) + fabs(total)) / i;
    const reference_real scale_b = (fabs(fresh) + (reference_real)fabs(total) * (i - 1)) / i;
    const int first = ref_abs(a) < ref_abs(b);
    judge("smooth_advantage", grpo_smooth_advantage(i, fresh, total), first ? a : b, first ? scale_a : scale_b, 0);
}

static void test_running_moments(rng *r) {
    const int64_t i = 1 + rng_below(r, rng_chance(r, 50) ? 4 : 1000000);
    grpo_mean_variance before, observed, found;
    reference_real d, past;
    before.mean = random_signed(r, 3);
    observed.mean = rng_chance(r, 50) ? before.mean * (1 + 1e-12 * rng_bell(r)) : random_signed(r, 3);
    before.variance = rng_chance(r, 30) ? 0 : random_size(r, 3);
    observed.variance = rng_chance(r, 30) ? 0 : random_size(r, 3);
    found = grpo_running_moments(i, before, observed);
    past = (reference_real)(i - 1);
    d = (reference_real)observed.mean - before.mean;
    judge("running_moments", found.mean, (past * before.mean + observed.mean) / i, (past * fabs(before.mean) + fabs(observed.mean)) / i, 0);
    d = (past * before.variance + observed.variance + past / i * d * d) / i;
    judge("running_moments", found.variance, d, d, 0);
}

static void test_preference(rng *r) {
    static const double q[] = { 0.3, 0.7, 0.1, 0.5, 1 };
    const double coef = rng_chance(r, 50) ? (double)(1 + rng_below(r, 8)) / 64 : 0.1 * rng_unit(r);
    const double pair = rng_chance(r, 30) ? 3 * (double)rng_below(r, 3) : rng_unit(r);
    const double loss = rng_chance(r, 50) ? coef * pair / rng_pick(r, q, 5) : rng_chance(r, 10) ? -1 : rng_bell(r);
    const reference_real base = loss > 1e-9 ? (reference_real)loss : 1 / (reference_real)1000000000, top = (reference_real)coef * pair * 10;
    reference_real e = coef;
    if (top < 3 * base) e = (reference_real)1.25 * coef < (reference_real)1 / 20 ? (reference_real)1.25 * coef : (reference_real)1 / 20;
    if (top > 7 * base) e = (reference_real)coef * 4 / 5 > (reference_real)1 / 200 ? (reference_real)coef * 4 / 5 : (reference_real)1 / 200;
    judge("preference_coef_control", grpo_preference_coef_control(coef, pair, loss), e, ref_abs(e), 0);
}

static void test_counts(rng *r) {
    const double alpha = 10 * rng_unit(r), beta = rng_chance(r, 20) ? 0 : 5 * rng_unit(r), decay = rng_chance(r, 10) ? 1 : rng_unit(r);
    const double k = (double)rng_below(r, 9), e = rng_bell(r), x = rng_chance(r, 20) ? e : rng_bell(r), c = rng_bell(r);
    const grpo_counts found = grpo_decayed_counts(alpha, beta, decay, k, 8 - k);
    const grpo_target_coef target = grpo_entropy_target_coef(e, x, c);
    const int64_t step = rng_below(r, 1000), steps = rng_below(r, 3) * 333;
    const reference_real moved = (1 - (reference_real)decay) * x + (reference_real)decay * e;
    reference_real budget = alpha + 1;
    judge("decayed_counts", found.alpha, (reference_real)decay * alpha + k, (reference_real)decay * alpha + k, 0);
    judge("decayed_counts", found.beta, (reference_real)decay * beta + 8 - k, (reference_real)decay * beta + 8 - k, 0);
    judge("moving_average", grpo_moving_average(e, x, decay), moved, ref_abs((1 - (reference_real)decay) * x) + ref_abs(decay * e), 0);
    check(target.coef == (e == x ? 0 : e < x ? c : -c), "entropy_target_coef");
    judge("entropy_target_coef", target.value, c * ref_abs((reference_real)e - x), ref_abs(c) * (ref_abs(e) + ref_abs(x)), 0);
    judge("kl_hinge", grpo_kl_hinge(e, x, c), e > x ? c * ((reference_real)e - x) : 0, ref_abs(c) * (ref_abs(e) + ref_abs(x)), 0);
    judge("linear_schedule", grpo_linear_schedule(c, (double)step, (double)steps),
          steps == 0 ? c : step > steps ? 0 : c * (1 - (reference_real)step / steps), ref_abs(c), 0);
    for (int64_t j = 0; j < step / 100; j++) budget *= decay > 0 ? decay : 1;
    if (budget < 1) budget = 1;
    judge("token_budget_schedule", grpo_token_budget_schedule(alpha + 1, decay > 0 ? decay : 1, step, 100), budget, budget, 0);
}

static void test_power_mean_bounds(rng *r) {
    const double mean = rng_bell(r), deviation = rng_unit(r), gamma = 5 * rng_unit(r), low = rng_unit(r), high = low + rng_unit(r);
    const grpo_power_bounds b = grpo_power_mean_bounds(mean, deviation, gamma, low, high, 1e-6);
    const reference_real x = (reference_real)mean / ((reference_real)deviation + 1e-6), e = ref_exp(-2 * ref_abs(x)), t = (1 - e) / (1 + e);
    const reference_real eps = low + ((reference_real)high - low) * (x < 0 ? -t : t), size = low + ((reference_real)high - low) * t;
    const reference_real power = ref_exp(-(reference_real)gamma * mean);
    if (eps <= -1) { check(b.power != b.power && b.eps != b.eps && b.log_high != b.log_high, "power_clip below -1"); return; }
    judge("power_mean_bounds", b.power, power, power * (1 + ref_abs(gamma * mean)), 0);
    judge("power_mean_bounds", b.eps, eps, size, 0);
    judge("power_mean_bounds", b.log_high, ref_ln1p(eps), size / (1 + eps), 0);
}

/* sin^2(pi r/2) by its series */
static reference_real ref_rise(reference_real r) {
    const reference_real half_pi = (reference_real)1.5707963267948966 + 6.123233995736766e-17, x = half_pi * r;
    reference_real term = x, sum = 0;
    for (int k = 1; k < 60; k += 2) {
        sum += term;
        term *= -x * x / ((k + 1) * (k + 2));
    }
    return sum * sum;
}

static void test_margin_schedule(rng *r) {
    static const double shares[] = { 0.3, 1, 0.5, 1e-3, 1e-300 };
    const double margin = random_signed(r, 3), share = rng_chance(r, 70) ? rng_pick(r, shares, 5) : 1 - rng_unit(r);
    const double progress = rng_chance(r, 20) ? rng_unit(r) : rng_chance(r, 10) ? share : share * rng_unit(r);
    const reference_real at = progress < share ? (reference_real)progress / share : 1, e = margin * ref_rise(at);
    judge("margin_schedule", grpo_margin_schedule(margin, progress, share), e, ref_abs(e), 0);
}

/* ---- lists --------------------------------------------------------------------------------------------------------------------------- */

enum { LIST = 12 };

static void test_running_baseline(rng *r) {
    enum { MOST = 50 };
    double reward[MOST] = { 0 }, found[MOST];
    double momentum = rng_chance(r, 50) ? 0.95 : rng_chance(r, 20) ? (double)rng_below(r, 2) : rng_unit(r);
    double start = rng_chance(r, 50) ? 0 : rng_bell(r), baseline = start;
    const int64_t n = rng_below(r, MOST + 1);
    reference_real b = start, size = fabs(start);
    for (int64_t k = 0; k < n; k++) reward[k] = rng_chance(r, 50) ? (double)rng_below(r, 2) : random_signed(r, 3);
    check(grpo_running_baseline(reward, n, momentum, found, &baseline) == GRPO_OK, "running_baseline");
    for (int64_t k = 0; k < n; k++) {
        judge("running_baseline", found[k], reward[k] - b, fabs(reward[k]) + ref_abs(b), 0);
        b = momentum * b + (1 - (reference_real)momentum) * reward[k];
        size = momentum * size + (1 - (reference_real)momentum) * fabs(reward[k]);
    }
    judge("running_baseline", baseline, b, size, 0);
}

static void test_multiplier_update(rng *r) {
    enum { MOST = 20 };
    double score[MOST] = { 0 }, mean, found, before = rng_chance(r, 30) ? 0 : 5 * rng_unit(r);
    uint8_t counted[MOST];
    const int64_t n = 1 + rng_below(r, MOST), least = rng_below(r, 9);
    grpo_constraint x = { 0, 0.05, 5, 0 };
    reference_real m = 0, size = 0, moved;
    int64_t count = 0;
    x.target = rng_chance(r, 50) ? 0.95 : rng_bell(r);
    x.rate = rng_chance(r, 50) ? 0.05 : 3 * rng_unit(r);
    x.least = least;
    if (rng_chance(r, 20)) x.max = rng_unit(r);
    for (int64_t k = 0; k < n; k++) {
        score[k] = rng_chance(r, 50) ? (double)rng_below(r, 2) : rng_bell(r);
        counted[k] = (uint8_t)rng_chance(r, 60);
        if (counted[k]) { m += score[k]; size += fabs(score[k]); count++; }
        else score[k] = NAN;
    }
    if (count) { m /= count; size /= count; }
    found = before;
    check(grpo_multiplier_update(score, counted, n, &x, &found, &mean) == GRPO_OK, "multiplier_update");
    judge("multiplier_update", mean, m, size, 0);
    moved = before + x.rate * (x.target - m);
    moved = moved > x.max ? x.max : moved < 0 ? 0 : moved;
    if (count == 0 || count < least) check(found == before, "multiplier_update of %d scores", (int)count);
    else judge("multiplier_update", found, moved, before + x.rate * (fabs(x.target) + size), 0);
}

static reference_real regret(const int64_t *length, const double *score, int64_t n, reference_real temperature) {
    reference_real sum = 0;
    for (int64_t k = 0; k < n; k++) sum += length[k] * (score[k] * ref_exp(score[k] / temperature));
    return sum;
}

static void test_regret(rng *r) {
    double score[12], found = -1;
    int64_t length[12], n = rng_below(r, 12);
    reference_real low = (reference_real)8 / 10, high = 100, middle = 0, sum = 0;
    for (int64_t k = 0; k < n; k++) {
        length[k] = rng_below(r, rng_chance(r, 20) ? 2 : 100);
        score[k] = rng_chance(r, 20) ? 0 : rng_bell(r) * (rng_chance(r, 20) ? 100 : 1) - (rng_chance(r, 30) ? 1 : 0);
        sum += (reference_real)score[k] * length[k];
    }
    for (int k = 0; k < 20 && sum < 0; k++) {
        middle = (low + high) / 2;
        if (regret(length, score, n, middle) < 0) high = middle;
        else low = middle;
        if (high - low < 0.05) break;
    }
    check(grpo_regret_temperature(length, score, n, &found) == GRPO_OK, "regret_temperature");
    judge("regret_temperature", found, middle, middle, 0);
}

static void test_quantile_tracker(rng *r) {
    double q[LIST], level[LIST], S[LIST], found[LIST];
    const int64_t n = rng_below(r, LIST), m = 1 + rng_below(r, LIST - 1);
    const double rate = rng_unit(r);
    for (int64_t k = 0; k < LIST; k++) { q[k] = (double)rng_below(r, 5); level[k] = rng_unit(r); S[k] = (double)rng_below(r, 5); }
    check(grpo_quantile_tracker(q, level, n, rate, S, m, found) == GRPO_OK, "quantile_tracker");
    for (int64_t k = 0; k < n; k++) {
        int64_t below = 0;
        for (int64_t j = 0; j < m; j++) below += S[j] < q[k];
        judge("quantile_tracker", found[k], q[k] + rate * (level[k] - (reference_real)below / m),
              q[k] + rate * (level[k] + (reference_real)below / m), 0);
    }
}

/* ---- batches ------------------------------------------------------------------------------------------------------------------------- */

/* 1: rho < target, 0: not; -1: rounding may decide */
static int is_heavy(const trial *t, const sorted_list *l, grpo_bounds b, double target) {
    reference_real P = 0, Q = 0, excess;
    for (int64_t j = 0; j < l->n; j++) {
        const int64_t s = l->token[j].slot;
        const reference_real A = (reference_real)(double)t->advantage[s];
        reference_real w = ref_exp((reference_real)(double)t->view.logp[s] - (reference_real)(double)t->view.logp_old[s]);
        if (A >= 0 && w > b.high) w = b.high;
        if (A < 0 && w < b.low) w = b.low;
        if (w * A > 0) P += w * A;
        else Q += ref_abs(w * A);
    }
    excess = P - target * Q;
    if (excess != 0 && ref_abs(excess) < 1e-12 * (P + Q)) return -1;
    return Q != 0 && excess < 0;
}

static void test_bounds(rng *r, trial *t) {
    static const double targets[] = { 1, 1, 0.5, 3, 1e-3, 100, 0, -1 };
    grpo_balance c = { 0.6, 1.2, 0.8, 2.0, 0.05, 1 };
    grpo_bounds found = { 0, 0 }, b;
    sorted_list l = list_of(t);
    int heavy = 0;
    c.target = rng_pick(r, targets, 8);
    if (rng_chance(r, 20)) { c.low = 0.9; c.high = 2.5; }                /* the bounds are at their limits */
    if (rng_chance(r, 20)) { c.low_max = 0.6; c.step = 0.3; }
    b.low = c.low; b.high = c.high;
    while (b.low < c.low_max && (heavy = is_heavy(t, &l, b, c.target)) > 0) b.low = fmin(b.low + c.step, c.low_max);
    while (heavy >= 0 && b.high < c.high_max && (heavy = is_heavy(t, &l, b, c.target)) > 0) b.high = fmin(b.high + c.step, c.high_max);
    check(grpo_balanced_clip_bounds(&t->view, t->advantage, &c, &found) == GRPO_OK, "balanced_clip_bounds");
    if (heavy >= 0)
        check(found.low == b.low && found.high == b.high, "balanced_clip_bounds: %.17g, %.17g, expected %.17g, %.17g", found.low,
            found.high,
              b.low, b.high);
    free(l.token);
}

/* the mean of d, or of |d|, over the unmasked tokens of sequences begin .. end - 1 */
static reference_real reference_change(const trial *t, int64_t begin, int64_t end, int magnitude) {
    reference_real sum = 0, d;
    for (int64_t i = begin; i < end; i++)
        for (int64_t s = t->b.offset[i]; s < t->b.offset[i] + t->b.length[i]; s++) {
            if (!t->b.mask[s]) continue;
            d = (reference_real)t->view.logp[s] - t->view.logp_old[s];
            sum += magnitude ? ref_abs(d) : d;
        }
    return sum / at_least_one(mask_tokens(t, begin, end));
}

static reference_real clamped(reference_real x, reference_real low, reference_real high) { return x < low ? low : x > high ? high : x; }

static void test_drift(rng *r, trial *t) {
    const double half = 0.06 + rng_unit(r), low = rng_chance(r, 50) ? 0 : 0.875, high = 0.96;
    const double down = 0.5 * rng_unit(r), up = 0.5 * rng_unit(r);
    const reference_real D = reference_change(t, 0, t->b.n_sequences, 1);
    const reference_real expected = clamped(D / half > 4000 ? 0 : ref_exp(-D / half * ref_ln(2)), low, high);
    double *factor = test_alloc(t->b.n_sequences, sizeof *factor), *found = test_alloc(t->b.n_sequences, sizeof *found), decay = -1;
    check(grpo_drift_decay(&t->view, half, low, high, &decay) == GRPO_OK, "drift_decay");
    judge("drift_decay", decay, expected, expected, 0);
    for (int64_t i = 0; i < t->b.n_sequences; i++) factor[i] = rng_chance(r, 30) ? 1 : 2 * rng_unit(r);
    check(grpo_turn_factor(&t->view, factor, down, up, found) == GRPO_OK, "turn_factor");
    for (int64_t i = 0; i < t->b.n_sequences; i++) {
        const reference_real L = 1 - (reference_real)down, U = 1 + (reference_real)up;
        const reference_real g = clamped(reference_change(t, i, i + 1, 0), -10, 10);
        const reference_real x = clamped(factor[i] * clamped(ref_exp(g), L, U), L, U);
        judge("turn_factor", found[i], x, x, 0);
    }
    free(factor); free(found);
}

static reference_real ref_log_entropy(double H) { return ref_ln(H * (reference_real)100000000 > 1 ? H : (reference_real)1 / 100000000); }

static void test_standardised_entropy(rng *r, trial *t) {
    sorted_list l = list_of(t);
    grpo_real *entropy = more_tokens(r, t, 0, 3), *found = no_tokens(t);
    const double quantiles[] = { 0.8, 0, 1, 0.5, rng_unit(r) }, q = rng_pick(r, quantiles, 5);
    const int coded = rng_chance(r, 50);
    const reference_real tiny = (reference_real)1 / 100000000;
    reference_real m, square = 0, above = 0, below = 0, s;
    int64_t rank = 1;
    if (rng_chance(r, 30)) for (int64_t j = 0; j < l.n; j++) entropy[l.token[j].slot] = rng_chance(r, 50) ? 0 : (grpo_real)0.75;
    t->view.entropy = entropy;
    check(grpo_standardised_entropy(&t->view, q, coded ? GRPO_STANDARD_CODED : GRPO_STANDARD_INTENDED, found) == GRPO_OK,
        "standardised_entropy");
    while ((double)rank / (double)l.n < q) rank++;
    for (int64_t j = 0; j < l.n; j++) l.token[j].x = ref_log_entropy((double)entropy[l.token[j].slot]);
    list_sort(&l);
    m = l.n ? l.token[rank - 1].x : 0;
    for (int64_t j = 0; j < l.n; j++) {
        const reference_real d = l.token[j].x - m;
        square += d * d / l.n;
        if (d > above) above = d;
        if (-d > below) below = -d;
    }
    s = ref_sqrt(square > tiny ? square : tiny);
    if (above < tiny * s) above = tiny * s;
    if (below < tiny * s) below = tiny * s;
    for (int64_t j = 0; j < l.n; j++) {
        const reference_real d = l.token[j].x - m, x = d > 0 ? d / above : (coded ? -d : d) / below;
        judge("standardised_entropy", (double)found[l.token[j].slot], x, ref_abs(x), 1);
    }
    for (int64_t k = 0; k < t->total; k++) if (!t->b.mask[t->place[k]]) check(found[t->place[k]] == 0, "standardised_entropy: masked");
    free(l.token); free(entropy); free(found);
}

enum { FOUR = 12 };
typedef struct { grpo_real a[FOUR], clip[3][FOUR], centroid[FOUR], agent[FOUR]; double shift, quantile; } four_answers;

static void four_ask(const grpo_batch *b, const int64_t *agent, four_answers *x) {
    static const uint8_t correct[4] = { 1, 0, 0, 1 };
    const grpo_adaptation adaptation = { 0.2, 0.25, 1, 1 };
    const grpo_centroids centroids = { 1, 1, 0.8, 1.2 };
    grpo_dd scratch[2 * FOUR + 2];
    memset(x, 0, sizeof *x);
    check(!grpo_implicit_advantage(b, b->logp_ref, 5, 5, x->a), "implicit_advantage");
    check(!grpo_adaptive_clip(b, b->logp_teacher, b->logp_ref, &adaptation, x->clip[0], x->clip[1], x->clip[2]), "adaptive_clip");
    check(!grpo_centroid_weight(b, b->logp_teacher, b->logp_ref, &centroids, scratch, x->centroid), "centroid_weight");
    check(!grpo_agent_weights(b, agent, x->agent), "agent_weights");
    check(!grpo_logit_shift(b, correct, 0.5, &x->shift), "logit_shift");
    check(!grpo_ratio_quantile(b, 0.5, 0, &x->quantile), "ratio_quantile");
}

/* gaps between sequences filled with NaN change no result and are not written to */
static void test_between_sequences(rng *r) {
    four apart, packed;
    four_answers x, y;
    grpo_real spread[5][FOUR], dense[5][FOUR];
    uint8_t chosen[FOUR], dense_chosen[FOUR];
    int64_t agent[FOUR], dense_agent[FOUR], n = 0;
    four_make(&apart); four_make(&packed);
    for (int k = 0; k < 5; k++) for (int t = 0; t < FOUR; t++) spread[k][t] = dense[k][t] = (grpo_real)NAN;
    for (int i = 0; i < 4; i++) {
        apart.reward[i] = packed.reward[i] = (grpo_real)(i % 2);
        apart.length[i] = packed.length[i] = i == 0 ? 3 : 2;
        packed.offset[i] = n;
        for (int64_t t = apart.offset[i]; t < apart.offset[i] + apart.length[i]; t++, n++) {
            for (int k = 0; k < 5; k++) spread[k][t] = dense[k][n] = (grpo_real)rng_bell(r);
            agent[t] = dense_agent[n] = rng_below(r, 2);
            chosen[t] = dense_chosen[n] = (uint8_t)rng_below(r, 2);
        }
    }
    apart.b.logp = spread[0]; apart.b.logp_old = spread[1]; apart.b.logp_ref = spread[2]; apart.b.logp_teacher = spread[3];
    packed.b.logp = dense[0]; packed.b.logp_old = dense[1]; packed.b.logp_ref = dense[2]; packed.b.logp_teacher = dense[3];
    apart.b.selected = apart.b.shaping_mask = chosen; packed.b.selected = packed.b.shaping_mask = dense_chosen;
    packed.b.n_tokens = n;
    four_ask(&apart.b, agent, &x);
    four_ask(&packed.b, dense_agent, &y);
    check(x.shift == y.shift && x.quantile == y.quantile, "numbers of a batch that stands apart");
    for (int i = 0; i < 4; i++) for (int64_t t = 0; t < apart.length[i]; t++) {
        const int64_t u = apart.offset[i] + t, v = packed.offset[i] + t;
        int same = x.a[u] == y.a[v] && x.centroid[u] == y.centroid[v] && x.agent[u] == y.agent[v];
        for (int k = 0; k < 3; k++) same &= x.clip[k][u] == y.clip[k][v];
        check(same, "tokens of a batch that stands apart");
    }
    for (int t = 5; t < FOUR; t += 3) check(x.a[t] == 0 && x.centroid[t] == 0 && x.agent[t] == 0 && x.clip[2][t] == 0, "between sequences");
}

/* ---- worked cases -------------------------------------------------------------------------------------------------------------------- */

static void test_extremes(void) {
    const double huge = 1e300, tiny = 1e-300, bad[] = { NAN, INFINITY, -INFINITY };
    grpo_mean_variance zero = { 0, 0 }, far = { 1e200, 1 }, worse;
    check(grpo_kl_control(huge, 2 * tiny, tiny, tiny, tiny) == huge * 1.2, "kl_control: 1.2 times");
    check(grpo_kl_control(1, 2, 1, huge, tiny) == HUGE_VAL, "kl_control beyond the largest double");
    check(grpo_kl_control(0, 2, 1, huge, tiny) == 0 && grpo_kl_control(3, 1, 1, huge, tiny) == 3, "kl_control: 0 wins");
    check(grpo_kl_control(1e-200, 2, 1, 1e200, 1e-150) == 1e-200 * 1e200 * 0.2 / 1e-150, "kl_control: no overflow on the way");
    check(fabs(grpo_kl_control(1.7e308, 0, 1, 9, 1) / -1.36e308 - 1) < 1e-15, "kl_control: the step alone overflows");
    check(fabs(grpo_kl_control(-1.7e308, 1e308, 1.7e308, 9e300, 1e300) / 1.36e308 - 1) < 1e-15, "kl_control: the same, negative");
    check(grpo_kl_control(1.7e308, 0, 1, 15, 1) == -HUGE_VAL, "kl_control: the sum overflows");
    check(grpo_running_moments(1, far, zero).mean == 0 && grpo_running_moments(1, far, zero).variance == 0, "the first visit");
    check(grpo_running_moments(2, far, zero).variance == HUGE_VAL, "running_moments beyond the largest double");
    for (int k = 0; k < 3; k++) {
        double x[6];
        for (int j = 0; j < 5; j++) {
            for (int i = 0; i < 6; i++) x[i] = i == j ? bad[k] : 1;
            check(isnan(grpo_kl_control(x[0], x[1], x[2], x[3], x[4])), "kl_control: argument %d", j);
        }
        for (int j = 0; j < 6; j++) {
            for (int i = 0; i < 6; i++) x[i] = i == j ? bad[k] : 1;
            check(isnan(grpo_entropy_control(x[0], x[1], x[2], x[3], x[4], x[5], 0).coef), "entropy_control: argument %d", j);
            check(isnan(grpo_entropy_control(x[0], x[1], x[2], x[3], x[4], x[5], 0).used), "entropy_control: argument %d", j);
        }
        check(isnan(grpo_smooth_advantage(1, bad[k], 0)) && isnan(grpo_smooth_advantage(1, 0, bad[k])), "smooth_advantage");
        for (int j = 0; j < 2; j++) {
            worse = far;
            *(j ? &worse.mean : &worse.variance) = bad[k];
            check(isnan(grpo_running_moments(2, worse, far).mean), "running_moments: before");
            check(isnan(grpo_running_moments(2, far, worse).variance), "running_moments: observed");
        }
    }
    check(grpo_margin_schedule(0.01, 0, 0.3) == 0 && grpo_margin_schedule(0.01, 0.3, 0.3) == 0.01, "margin_schedule: its ends");
    check(fabs(grpo_margin_schedule(0.01, 0.15, 0.3) - 0.005) < 1e-18, "margin_schedule: half way");
    check(isnan(grpo_margin_schedule(1, 1.5, 1)) && isnan(grpo_margin_schedule(1, -1, 1)), "margin_schedule: progress");
    check(isnan(grpo_margin_schedule(1, 0, 0)) && isnan(grpo_margin_schedule(1, 0, 1.5)), "margin_schedule: share");
    check(isnan(grpo_kl_control(1, 1, 0, 1, 1)) && isnan(grpo_kl_control(1, 1, 1, -1, 1)), "kl_control: range");
    check(isnan(grpo_kl_control(1, 1, 1, 1, 0)), "kl_control: horizon");
    check(isnan(grpo_entropy_control(1, 1, 1, 1, 2, 1, 0).coef), "entropy_control: low > high");
    check(isnan(grpo_smooth_advantage(0, 1, 1)) && isnan(grpo_running_moments(0, far, far).mean), "no visit");
}

static void test_regret_by_hand(void) {
    const double lone[] = { -1 }, both[] = { -2, 1 };
    const int64_t lengths[] = { 1, 1 };
    double temperature = -1;
    check(grpo_regret_temperature(lengths, lone, 1, &temperature) == GRPO_OK && fabs(temperature - 0.824) < 0.025, "regret: never");
    check(grpo_regret_temperature(lengths, both, 2, &temperature) == GRPO_OK && temperature > 4 && temperature < 4.5, "regret: 3/log 2");
    check(grpo_preference_coef_control(0.25, 3, 2.5) == 0.25 && grpo_preference_coef_control(0.4375, 4, 2.5) == 0.4375, "ties of q");
    check(grpo_preference_coef_control(0x1.9b42d2194f58ep-7, 0x1.9aa6cdcb84018p-26, 1e-9) > 0.0156,       /* q: 0.3 in units of 1e-9 */
          "preference: a loss of the double 1e-9");
    check(isnan(grpo_preference_coef_control(NAN, 1, 1)) && isnan(grpo_preference_coef_control(1, INFINITY, 1)), "preference: NaN");
    check(isnan(grpo_preference_coef_control(1, 1, -INFINITY)), "preference: loss");
}

static void test_schedules_by_hand(void) {
    const grpo_counts vade = grpo_decayed_counts(0.1, 8.4, 0.2, 1, 7);
    check(fabs(vade.alpha - 1.02) < 1e-15 && fabs(vade.beta - 8.68) < 1e-14, "decayed_counts: VADE's figure");
    check(grpo_decayed_counts(1e308, 1e308, 0.5, 1e308, 1e308).alpha == 1.5e308, "decayed_counts: large ones");
    check(grpo_kl_hinge(DBL_MAX, -DBL_MAX, 0) == 0 && grpo_kl_hinge(DBL_MAX, -DBL_MAX, -1) == -HUGE_VAL, "kl_hinge: far beyond");
    check(grpo_entropy_target_coef(DBL_MAX, -DBL_MAX, 0).value == 0 && grpo_entropy_target_coef(DBL_MAX, -DBL_MAX, 1).value == HUGE_VAL,
          "entropy_target_coef: far beyond");
    check(isnan(grpo_decayed_counts(-1, 1, 1, 1, 1).alpha) && isnan(grpo_decayed_counts(1, 1, 2, 1, 1).beta), "decayed_counts: NaN");
    check(isnan(grpo_moving_average(1, 1, 2)) && isnan(grpo_kl_hinge(NAN, 1, 1)), "moving_average, kl_hinge: NaN");
    check(isnan(grpo_entropy_target_coef(1, NAN, 1).coef) && isnan(grpo_linear_schedule(1, NAN, 2)),
        "entropy_target_coef, linear_decay: NaN");
    check(isnan(grpo_token_budget_schedule(0, 1, 1, 1)) && isnan(grpo_token_budget_schedule(1, 0.5, 1, 0)), "token_budget_schedule: NaN");
    check(grpo_token_budget_schedule(256, 0.5, 299, 100) == 64 && grpo_token_budget_schedule(256, 0.5, 100000, 1) == 1,
        "token_budget_schedule");
    {                                                                   /* exponents beyond 2^53, which are no doubles */
        const double factor = 1 - 0x1p-53, found = grpo_token_budget_schedule(1e290, factor, (INT64_C(1) << 62) + 479, 1);
        const reference_real exponent = (reference_real)(INT64_C(1) << 62) + 479, exact = 1e290 * ref_exp(exponent * ref_ln1p(-0x1p-53));
        judge("token_budget_schedule", found, exact, exact, 0);
    }
}

static void test_power_by_hand(void) {
    const double inf = HUGE_VAL;
    check(grpo_power_mean_bounds(0, 1, 3, 0.1, 0.3, 0).power == 1 && grpo_power_mean_bounds(0, 1, 3, 0.1, 0.3, 0).eps == 0.1,
        "power_clip at mean 0");
    check(grpo_power_mean_bounds(1, 1e-300, 1, 0.1, 0.3, 0).eps == 0.3, "power_clip without deviation");
    check(!grpo_is_finite(grpo_power_mean_bounds(1, 0, 1, 0.1, 0.3, 0).eps)
        && !grpo_is_finite(grpo_power_mean_bounds(1, -1, 1, 0.1, 0.3, 2).eps)
          && !grpo_is_finite(grpo_power_mean_bounds(1, 1, 1, 0.3, 0.1, 0).eps)
              && !grpo_is_finite(grpo_power_mean_bounds(1, 1, 1, -0.1, 0.3, 0).eps)
          && !grpo_is_finite(grpo_power_mean_bounds(inf, 1, 1, 0.1, 0.3, 0).eps)
              && !grpo_is_finite(grpo_power_mean_bounds(1, 1, inf, 0.1, 0.3, 0).eps)
          && !grpo_is_finite(grpo_power_mean_bounds(1, inf, 1, 0.1, 0.3, 0).eps)
              && !grpo_is_finite(grpo_power_mean_bounds(-9, 1, 1, 0.1, 3, 0).eps),
          "power_clip refuses");
}

/* two tokens, of log-probability `up` and `down` above the old one */
static grpo_batch pair_of_tokens(grpo_real up, grpo_real down, grpo_real *logp) {
    static const int64_t group_begin[] = { 0, 1 }, offset[] = { 0 }, length[] = { 2 };
    static const grpo_real old[2];
    grpo_batch b;
    memset(&b, 0, sizeof b);
    logp[0] = up; logp[1] = down;
    b.n_groups = 1; b.n_tokens = 2; b.group_begin = group_begin; b.offset = offset; b.length = length;
    b.logp = logp; b.logp_old = old;
    return b;
}

/* a double next to the ratio is above or below it: decided by digits that the ratio as a double does not have */
static void test_ratios_between_doubles(rng *r) {
    const grpo_real A[2] = { 1, -1 }, standard[2] = { -1, -1 };
    grpo_real logp[2], low[2], high[2], shaped[2];
    grpo_adaptation how = { 0, 1e100, 0, 1 };
    grpo_balance balance = { 0.5, 1e100, 0.75, 1e100, 1, 0 };
    grpo_bounds found;
    for (int k = 0; k < 1000; k++) {
        const grpo_real d = (grpo_real)(-0.5 - rng_unit(r));
        const grpo_batch b = pair_of_tokens(d, 0, logp);
        const reference_real w = ref_exp((reference_real)d);
        balance.target = (double)w;
        check(!grpo_balanced_clip_bounds(&b, A, &balance, &found) && (found.low > 0.5) == (w < (reference_real)balance.target),
              "balanced_clip_bounds: e^%.17g against the double next to it", (double)d);
        how.low = 2 * (double)(1 - w);
        check(!grpo_adaptive_clip(&b, A, standard, &how, low, high, shaped)
              && (shaped[0] == 0) == (w > 1 - (reference_real)how.low / 2),
              "adaptive_clip: e^%.17g against the bound next to it", (double)d);
    }
}

/* ratios that underflow count all the same where no bound raises them */
static void test_ratios_that_underflow(void) {
    const grpo_real A[2] = { 1, -1 }, wrong[2] = { 0, -1 }, little[2] = { 0, (grpo_real)-1e-30 };
    const grpo_balance balance = { 0, 1.2, 0.8, 2, 0.8, 2 };
    grpo_real logp[2];
    grpo_bounds found;
    grpo_batch b = pair_of_tokens(0, -800, logp);
    check(!grpo_balanced_clip_bounds(&b, wrong, &balance, &found) && found.low == 0.8 && found.high == 2, "P = 0, and Q = e^-800");
    check(!grpo_balanced_clip_bounds(&b, A, &balance, &found) && found.low == 0 && found.high == 1.2, "P = 1, and Q = e^-800");
    b = pair_of_tokens(-800, -801, logp);
    check(!grpo_balanced_clip_bounds(&b, A, &balance, &found) && found.low == 0 && found.high == 1.2, "P = e^-800, and Q = e^-801");
    b = pair_of_tokens(-80000, -80000, logp);
    check(!grpo_balanced_clip_bounds(&b, A, &balance, &found) && found.low == 0.8 && found.high == 2, "P = Q = e^-80000");
    b = pair_of_tokens(0, -695, logp);
    check(!grpo_balanced_clip_bounds(&b, little, &balance, &found) && found.low == 0.8 && found.high == 2, "P = 0, and Q = 1e-30 e^-695");
}

/* a ratio beyond the largest double, of which the quantile has a fraction that is not */
static void test_quantile_that_overflows(void) {
    static const uint8_t both[2] = { 1, 1 };
    grpo_real logp[2];
    grpo_batch b = pair_of_tokens(0, 710, logp);
    reference_real w;
    double found;
    b.shaping_mask = both;
    check(!grpo_ratio_quantile(&b, 0.25, 0, &found), "ratio_quantile");
    w = 0.75 + ref_exp(710) / 4;
    judge("ratio_quantile", found, w, w, 0);
    b = pair_of_tokens(709, 720, logp);
    b.shaping_mask = both;
    check(!grpo_ratio_quantile(&b, 0x1p-20, 0, &found), "ratio_quantile");
    w = ref_exp(709) * (1 - 0x1p-20) + ref_exp(720) * 0x1p-20;
    judge("ratio_quantile", found, w, w, 0);
    check(!grpo_ratio_quantile(&b, 0.5, 0, &found) && found == HUGE_VAL, "ratio_quantile: half of e^720 is beyond the largest double");
}

/* outputs that may be the input arrays */
static void test_levels_in_place(void) {
    const double rate[3] = { 0.5, 0.25, 0.5 };
    const int64_t level[3] = { 3, 0, 1 };
    int64_t new_level[3], own_level[3];
    memcpy(own_level, level, sizeof level);
    check(!grpo_hint_level(level, rate, 3, 0.3, 0.4, 3, new_level), "hint_level");
    check(!grpo_hint_level(own_level, rate, 3, 0.3, 0.4, 3, own_level), "hint_level");
    check(!memcmp(new_level, own_level, sizeof level) && new_level[0] == 2 && new_level[1] == 1 && new_level[2] == 0, "levels in place");
}

int main(void) {
    static trial_test *const of_batches[] = {
        test_bounds, test_drift, test_standardised_entropy
    };
    static list_test *const of_numbers[] = {
        test_kl_control, test_entropy_control, test_smooth_advantage, test_running_moments, test_preference
    };
    static list_test *const of_lists[] = {
        test_running_baseline, test_regret, test_counts, test_quantile_tracker, test_multiplier_update, test_margin_schedule
    };
    static list_test *const of_both[] = {
        test_power_mean_bounds, test_between_sequences
    };
    test_trials(20, 600, of_batches, COUNT(of_batches));
    test_lists(21, 30000, of_numbers, COUNT(of_numbers));
    test_lists(22, 3000, of_lists, COUNT(of_lists));
    test_lists(77, 500, of_both, COUNT(of_both));
    test_extremes();
    test_regret_by_hand();
    test_schedules_by_hand();
    test_power_by_hand();
    test_ratios_between_doubles(&(rng){ 78 });
    test_ratios_that_underflow();
    test_quantile_that_overflows();
    test_levels_in_place();
    print_tallies();
    return check_summary();
}
