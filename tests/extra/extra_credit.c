/* extra/grpo_credit.h: advantages of random batches against their formulas in binary128, and worked cases. */
#include "extra.h"

/* ---- key tokens: formulas as written ------------------------------------------------------------------------------------------------- */

static reference_real ref_atan(reference_real x) {
    reference_real sum = 0, power, square;
    for (int k = 0; k < 12; k++) x = x / (1 + ref_sqrt(1 + x * x));
    power = x; square = x * x;
    for (int k = 1; k < 24; k += 2) { sum += power / (k % 4 == 1 ? k : -k); power *= square; }
    return 4096 * sum;
}

static reference_real ref_asin_sqrt(reference_real y) { return ref_atan(ref_sqrt(y / (1 - y))); }

static reference_real ref_choose(int64_t n, int64_t k) {
    reference_real c = 1;
    for (int64_t j = 0; j < k; j++) c = c * (n - j) / (j + 1);
    return k < 0 || k > n ? 0 : c;
}

static reference_real ref_entropy2(reference_real p) { return p > 0 ? -p * ref_ln(p) / ref_ln(2) : 0; }

static reference_real reference_key(const grpo_key_measure *m, const int64_t *with, const int64_t *all, const int64_t *hits,
                                    const int64_t *L) {
    const reference_real tiny = (reference_real)1 / 100000, ten = 10000000000.0;
    const int64_t a = with[0], b = with[1], c = all[0] - a, d = all[1] - b, N = all[0] + all[1];
    reference_real p = 0, f, gain, h, tf[2], x;
    int certain = 1;
    for (int64_t k = 0; k <= a + b; k++) {
        const reference_real own = ref_choose(all[0], a) * ref_choose(all[1], b), w = ref_choose(all[0], k) * ref_choose(all[1], a + b - k);
        if (w <= own * (1 + 1e-20)) p += w;
        else certain = 0;
    }
    p /= ref_choose(N, a + b);
    f = certain ? 0 : ref_exp(-2 * p);
    gain = ref_entropy2((reference_real)all[0] / N) + ref_entropy2((reference_real)all[1] / N)
         - (reference_real)(a + b) / N * (ref_entropy2((reference_real)a / (a + b)) + ref_entropy2((reference_real)b / (a + b)));
    if (c + d > 0)
        gain -= (reference_real)(c + d) / N * (ref_entropy2((reference_real)c / (c + d)) + ref_entropy2((reference_real)d / (c + d)));
    h = ref_asin_sqrt(a / (a + c + 1 / ten)) - ref_asin_sqrt(b / (b + d + 1 / ten));
    for (int k = 0; k < 2; k++) {
        const reference_real q = hits[k] ? (reference_real)hits[k] / L[k] : 0;
        tf[k] = q > 0 ? 3 * q / (q + 2 * (0.5 + 0.5 * (L[k] / ((reference_real)(L[0] + L[1]) / 2)))) : 0;
    }
    if (m->frequency) h += tf[0] / (tf[1] + tiny) - tf[1] / (tf[0] + tiny);
    x = (m->fisher * f + m->gain * gain) * h / ((reference_real)m->fisher + m->gain);
    if (ref_abs(x) < 1e-20) return 0;
    return 2 * (1 / (1 + ref_exp(-x)) - (reference_real)0.5) * m->top;
}

static void reference_keys(const trial *t, int64_t g, const int64_t *token, const grpo_key_measure *m, const grpo_real *found) {
    const int64_t begin = t->b.group_begin[g], end = t->b.group_begin[g + 1];
    int64_t all[2] = { 0, 0 }, L[2] = { 0, 0 };
    for (int64_t i = begin; i < end; i++) {
        all[!(t->b.reward[i] > 0)]++;
        L[!(t->b.reward[i] > 0)] += mask_tokens(t, i, i + 1);
    }
    for (int64_t i = begin; i < end; i++) for (int64_t k = 0; k < t->b.length[i]; k++) {
        const int64_t s = t->b.offset[i] + k;
        int64_t with[2] = { 0, 0 }, hits[2] = { 0, 0 };
        reference_real e;
        if (!t->b.mask[s]) { check(found[s] == 0, "key of a masked token"); continue; }
        for (int64_t j = begin; j < end; j++) {
            int64_t n = 0;
            for (int64_t q = t->b.offset[j]; q < t->b.offset[j] + t->b.length[j]; q++) n += t->b.mask[q] && token[q] == token[s];
            hits[!(t->b.reward[j] > 0)] += n;
            with[!(t->b.reward[j] > 0)] += n > 0;
        }
        e = all[0] && all[1] && token[s] != m->ignored ? reference_key(m, with, all, hits, L) : 0;
        judge("key_token_advantage", (double)found[s], e, ref_abs(e), 1);
    }
}

static void test_key_token_advantage(rng *r, trial *t) {
    grpo_real *found = no_tokens(t);
    int64_t *token = test_alloc(t->b.n_tokens, sizeof *token);
    grpo_token_place *scratch = test_alloc(t->b.n_tokens, sizeof *scratch);
    const int64_t ids = 1 + rng_below(r, 20);
    grpo_key_measure m = { 1, 1, 1, 1, -1 };
    if (rng_chance(r, 30)) m.fisher = rng_unit(r);
    if (rng_chance(r, 20)) m.gain = 0;
    else if (rng_chance(r, 20)) m.fisher = 0;
    if (rng_chance(r, 50)) m.frequency = 0;
    if (rng_chance(r, 30)) m.ignored = rng_below(r, ids);
    m.top = rng_chance(r, 50) ? 1 : rng_bell(r);
    for (int64_t s = 0; s < t->b.n_tokens; s++) token[s] = rng_chance(r, 5) ? INT64_MIN + 1 : rng_below(r, ids);
    check(grpo_key_token_advantage(&t->view, token, &m, scratch, t->b.n_tokens, found) == GRPO_OK, "key_token_advantage");
    for (int64_t g = 0; g < t->b.n_groups; g++) reference_keys(t, g, token, &m, found);
    free(found); free(token); free(scratch);
}

/* an id in all right responses and no wrong one, with so many responses that the number of tables overflows a double: p is 0, f is 1 */
static void test_key_of_many(void) {
    enum { MANY = 1200 };
    static int64_t offset[MANY], length[MANY], token[MANY];
    static grpo_real reward[MANY], found[MANY];
    static grpo_token_place scratch[MANY];
    const int64_t group_begin[] = { 0, MANY };
    const grpo_key_measure m = { 1, 0, 1, 0, -1 };
    const reference_real h = ref_atan(ref_sqrt((reference_real)(MANY / 2) * 1e10)), e = ref_exp(h);      /* asin sqrt(a/(a + eps)) */
    grpo_batch b;
    memset(&b, 0, sizeof b);
    b.n_groups = 1; b.group_begin = group_begin; b.offset = offset; b.length = length; b.n_tokens = MANY; b.reward = reward;
    for (int i = 0; i < MANY; i++) { offset[i] = i; length[i] = 1; token[i] = i % 2; reward[i] = (grpo_real)(i % 2); }
    check(!grpo_key_token_advantage(&b, token, &m, scratch, MANY, found), "key_token_advantage");
    judge("key of many", (double)found[1], (e - 1) / (e + 1), (e - 1) / (e + 1), 1);
    check(found[0] == -found[1], "key of many: %g, %g", (double)found[0], (double)found[1]);
}

/* ---- odds of success -------------------------------------------------------------------------------------------------------------- */

/* sigmoid(L + e) - sigmoid(L), without cancellation */
static reference_real ref_sigmoid_change(reference_real L, reference_real e) {
    const reference_real low = e < 0 ? L + e : L, size = ref_abs(e);
    const reference_real x = ref_sigmoid(low + size) * ref_sigmoid(-low) * -ref_change(-size, 0);
    return e < 0 ? -x : x;
}

static void test_odds_advantage(rng *r, trial *t) {
    static const double priors[] = { 0, 1, 0.5, 0.25, 1e-300, 1e-12, 1 - 0x1p-53 };
    const double far = rng_chance(r, 20) ? -800 : -4, limit = rng_chance(r, 50) ? 0 : rng_unit(r);
    grpo_real *informed = more_tokens(r, t, far, 0), *plain = more_tokens(r, t, far, 0), *found = no_tokens(t);
    double *prior = test_alloc(t->b.n_sequences, sizeof *prior);
    for (int64_t i = 0; i < t->b.n_sequences; i++) prior[i] = rng_chance(r, 50) ? rng_pick(r, priors, 7) : rng_unit(r);
    for (int64_t k = 0; k < t->total; k++)
        if (t->b.mask[t->place[k]] && rng_chance(r, 40)) informed[t->place[k]] = (grpo_real)((double)plain[t->place[k]] * (1 + 1e-6));
    check(grpo_odds_advantage(&t->view, informed, plain, prior, limit, found) == GRPO_OK, "odds_advantage");
    for (int64_t i = 0; i < t->b.n_sequences; i++) {
        const int open = prior[i] > 0 && prior[i] < 1;
        reference_real L = open ? ref_ln(prior[i]) - ref_ln(1 - (reference_real)prior[i]) : 0;
        for (int64_t s = t->b.offset[i]; s < t->b.offset[i] + t->b.length[i]; s++) {
            reference_real e, A;
            if (!open || !t->b.mask[s]) { check(found[s] == 0, "odds_advantage of a token that has none"); continue; }
            e = (reference_real)informed[s] - plain[s];
            if (limit > 0) e = e > limit ? limit : e < -limit ? -limit : e;
            A = ref_sigmoid_change(L, e);
            judge("odds_advantage", (double)found[s], A, ref_abs(A), 1);
            L += e;
        }
    }
    free(informed); free(plain); free(found); free(prior);
}

/* ---- advantages of tokens ------------------------------------------------------------------------------------------------------------ */

static void test_jsd(rng *r, trial *t) {
    static const double betas[] = { 0, 1, 0.5, 0.1, 1e-12, 1 - 0x1p-40 };
    grpo_real *p = more_tokens(r, t, rng_chance(r, 30) ? -300 : -5, 0), *q = more_tokens(r, t, -5, 0), *found = no_tokens(t);
    const double beta = rng_pick(r, betas, 6), coef = rng_bell(r);
    grpo_batch view = t->view;
    view.logp_teacher = p; view.logp_old = q;
    for (int64_t k = 0; k < t->total; k++)
        if (t->b.mask[t->place[k]] && rng_chance(r, 20))
            q[t->place[k]] = (grpo_real)((double)p[t->place[k]] * (rng_chance(r, 50) ? 1 : 1 + 1e-6));
    check(grpo_jsd_advantage(&view, beta, coef, found) == GRPO_OK, "jsd_advantage");
    for (int64_t k = 0; k < t->total; k++) {
        const int64_t s = t->place[k];
        reference_real P, Q, m, x, y;
        if (!t->b.mask[s]) { check(found[s] == 0, "jsd_advantage of a masked token"); continue; }
        P = ref_exp(p[s]); Q = ref_exp(q[s]);
        m = ref_ln(beta * P + (1 - (reference_real)beta) * Q);
        x = beta * P * (p[s] - m); y = (1 - (reference_real)beta) * Q * (q[s] - m);
        m = (reference_real)p[s] - q[s];
        if (ref_abs(m) < 0.1) {                                        /* the logarithms of P/M and Q/M would be inaccurate */
            x = -beta * P * ref_ln1p((1 - (reference_real)beta) * (ref_exp_minus_linear(-m) - m));
            y = -(1 - (reference_real)beta) * Q * ref_ln1p(beta * (ref_exp_minus_linear(m) + m));
        }
        if (beta == 0 || beta == 1) x = y = 0;
        judge("jsd_advantage", (double)found[s], -coef * (x + y), fabs(coef) * (ref_abs(x) + ref_abs(y)), 1);
    }
    free(p); free(q); free(found);
}

static void test_distribution(rng *r, trial *t) {
    grpo_real *o = more_tokens(r, t, -5, 0), *tempered = more_tokens(r, t, -5, 0), *found = no_tokens(t);
    uint8_t *correct = test_alloc(t->b.n_sequences, 1);
    const double entropy = rng_chance(r, 30) ? 0.5 : rng_unit(r), base = 0.5;
    const int percent = rng_chance(r, 30) ? 0 : 50;
    grpo_batch view = t->view;
    reference_real c = 0, a, alpha;
    view.logp_old = o;
    for (int64_t i = 0; i < t->b.n_sequences; i++) { correct[i] = (uint8_t)rng_chance(r, percent); c += correct[i]; }
    check(grpo_distribution_advantage(&view, t->advantage, tempered, correct, entropy, base, found) == GRPO_OK, "distribution_advantage");
    a = ref_abs((reference_real)base - entropy);
    if (a > (reference_real)1 / 10) a = (reference_real)1 / 10;
    a = c > 0 ? a * t->b.n_sequences / c : 0;
    alpha = a / (1 + a);
    for (int64_t i = 0; i < t->b.n_sequences; i++) for (int64_t s = t->b.offset[i]; s < t->b.offset[i] + t->b.length[i]; s++) {
        reference_real A, push;
        if (!t->b.mask[s]) { check(found[s] == 0, "distribution_advantage of a masked token"); continue; }
        A = (1 - alpha) * t->advantage[s]; push = correct[i] ? alpha * ref_exp((reference_real)tempered[s] - o[s]) : 0;
        judge("distribution_advantage", (double)found[s], A + push, ref_abs(A) + push, 1);
        if (c == 0) check(found[s] == t->advantage[s], "distribution_advantage without a right response");
    }
    free(o); free(tempered); free(found); free(correct);
}

/* ---- advantages of responses --------------------------------------------------------------------------------------------------------- */

static reference_real middle_of(sorted_token *x, int64_t n) {
    qsort(x, (size_t)n, sizeof *x, ascending);
    return x[(n - 1) / 2].x;
}

static void test_median(rng *r, trial *t) {
    double *found = test_alloc(t->b.n_sequences, sizeof *found);
    int64_t *pivot = test_alloc(t->b.n_groups, sizeof *pivot);
    sorted_token *x = test_alloc(t->b.n_sequences, sizeof *x);
    const double eps = rng_chance(r, 50) ? 1e-3 : rng_unit(r);
    check(grpo_median_advantage(&t->view, eps, found, pivot) == GRPO_OK, "median_advantage");
    for (int64_t g = 0; g < t->b.n_groups; g++) {
        const int64_t begin = t->b.group_begin[g], G = t->b.group_begin[g + 1] - begin;
        reference_real median, scale;
        int64_t first = -1;
        for (int64_t k = 0; k < G; k++) { x[k].x = t->b.reward[begin + k]; x[k].rank = k; }
        median = middle_of(x, G);
        for (int64_t k = 0; k < G; k++) { x[k].x = ref_abs(t->b.reward[begin + k] - median); x[k].rank = k; }
        scale = middle_of(x, G) + eps;
        for (int64_t i = begin; i < begin + G; i++) {
            const reference_real A = (t->b.reward[i] - median) / scale;
            if (A == 0 && first < 0) first = i;
            if (A == 0) check(found[i] == 0, "median_advantage: of the median");
            judge("median_advantage", found[i], A, ref_abs(A), 0);
        }
        check(pivot[g] == first, "median_advantage: pivot");
    }
    free(found); free(pivot); free(x);
}

static void test_sharpening_advantage(rng *r, sequences *p) {
    const double lambda = rng_bell(r), kappa = rng_unit(r);
    check(!grpo_sharpening_advantage(&p->b, p->number, lambda, kappa, p->scratch, p->found), "sharpening_advantage");
    for (int64_t g = 0; g < p->b.n_groups; g++)
        for (int64_t i = p->b.group_begin[g]; i < p->b.group_begin[g + 1]; i++) {
            const double A = p->number[i], R = (double)p->reward[i];
            reference_real centre = 0, mine, other, more;
            int64_t with = 0, n, T;
            mine = mean_of(p, p->old, NULL, i, &T);
            for (int64_t j = p->b.group_begin[g]; j < p->b.group_begin[g + 1]; j++) {
                other = mean_of(p, p->old, NULL, j, &n);
                if (n) { centre += other; with++; }
            }
            more = T && R > 0 && A > 0 ? lambda * (1 - ref_exp(mine - centre / with)) : 0;
            if (more < 0) more = 0;
            if (more > kappa * A && more > 0) more = kappa * (reference_real)A;
            judge("sharpening_advantage", (double)p->found[i], A + more, fabs(A) + more, 1);
        }
}

static void test_shares(rng *r, sequences *p) {
    const double temperature = 0.1 + rng_unit(r), threshold = rng_chance(r, 50) ? 0 : rng_bell(r);
    const int by_length = rng_chance(r, 50);
    grpo_real *share = test_alloc(p->N, sizeof *share);
    check(!grpo_boltzmann_advantage(&p->b, temperature, p->found), "boltzmann_advantage");
    check(!grpo_likelihood_advantage(&p->b, threshold, temperature, by_length, p->scratch, share), "likelihood_advantage");
    for (int64_t g = 0; g < p->b.n_groups; g++) {
        const int64_t begin = p->b.group_begin[g], end = p->b.group_begin[g + 1];
        reference_real all = 0, some = 0, e, m;
        int64_t n;
        for (int pass = 0; pass < 2; pass++) for (int64_t i = begin; i < end; i++) {
            e = ref_exp((reference_real)p->reward[i] / temperature);
            m = mean_of(p, p->old, NULL, i, &n);
            m = (double)p->reward[i] > threshold && n > 0 ? ref_exp(m / temperature) / (by_length ? n : 1) : 0;
            if (pass == 0) { all += e; some += m; continue; }
            judge("boltzmann_advantage", (double)p->found[i], e * (end - begin) / all, e * (end - begin) / all, 1);
            if (some > 0) judge("likelihood_advantage", (double)share[i], m / some, m / some, 1);
            else check(share[i] == 0, "likelihood_advantage: nobody takes part");
        }
    }
    free(share);
}

static void test_canon(rng *r, sequences *p) {
    grpo_canon c;
    c.alpha = rng_bell(r); c.offset = rng_bell(r); c.mix = rng_unit(r); c.scaled = rng_chance(r, 50) ? GRPO_HALF_LOW : GRPO_HALF_HIGH;
    check(!grpo_canon_advantage(&p->b, p->number, &c, p->found), "canon_advantage");
    for (int64_t g = 0; g < p->b.n_groups; g++) {
        const int64_t begin = p->b.group_begin[g], end = p->b.group_begin[g + 1];
        reference_real sum[2] = { 0, 0 }, size[2] = { 0, 0 }, A, S, factor[2];
        int64_t n[2] = { 0, 0 }, rank;
        factor[0] = c.scaled == GRPO_HALF_HIGH ? c.alpha : 1; factor[1] = c.scaled == GRPO_HALF_LOW ? c.alpha : 1;
        for (int pass = 0; pass < 2; pass++) for (int64_t i = begin; i < end; i++) {
            const reference_real R = p->reward[i];
            int low;
            rank = 0;
            for (int64_t j = begin; j < end; j++) rank += p->number[j] < p->number[i] || (p->number[j] == p->number[i] && j < i);
            low = rank < (end - begin) / 2;
            if (pass == 0) { sum[low] += R; size[low] += ref_abs(R); n[low]++; continue; }
            A = c.mix * (factor[low] * R - factor[!low] * (n[!low] ? sum[!low] / n[!low] : 0) + (low ? -c.offset : c.offset));
            A += (1 - (reference_real)c.mix) * (R - sum[low] / n[low]);
            S = ref_abs(factor[low] * R) + ref_abs(factor[!low]) * (n[!low] ? size[!low] / n[!low] : 0) + fabs(c.offset);
            judge("canon_advantage", (double)p->found[i], A, c.mix * S + (1 - c.mix) * (ref_abs(R) + size[low] / n[low]), 1);
        }
    }
}

static void test_virtual(rng *r, sequences *p) {
    const double most = rng_chance(r, 50) ? 1 : rng_bell(r), eps = rng_chance(r, 50) ? 1e-6 : 0;
    const int64_t count = rng_below(r, 4);
    check(!grpo_virtual_reward_advantage(&p->b, most, count, eps, p->found), "virtual_reward_advantage");
    for (int64_t g = 0; g < p->b.n_groups; g++) {
        const int64_t begin = p->b.group_begin[g], end = p->b.group_begin[g + 1], n = end - begin + count;
        reference_real mean = count * (reference_real)most, size = ref_abs(mean), squares = 0, off;
        for (int64_t i = begin; i < end; i++) { mean += p->reward[i]; size += ref_abs(p->reward[i]); }
        mean /= n;
        for (int64_t i = begin; i < end; i++) squares += ((reference_real)p->reward[i] - mean) * ((reference_real)p->reward[i] - mean);
        squares += count * (most - mean) * (most - mean);
        for (int64_t i = begin; i < end; i++) {
            off = (reference_real)p->reward[i] - mean;
            if (end - begin == 1) check(p->found[i] == p->reward[i], "virtual_reward_advantage: a group of one");
            else if (squares < 1e-40) check(p->found[i] == 0, "virtual_reward_advantage: equal rewards");
            else judge("virtual_reward_advantage", (double)p->found[i], off / (ref_sqrt(squares / (n - 1)) + eps),
                       (ref_abs(p->reward[i]) + size / n) / (ref_sqrt(squares / (n - 1)) + eps), 1);
        }
    }
}

static void test_feature(rng *r, sequences *p) {
    grpo_feature f = { NULL, NULL, NULL, NULL, 0, 0 };
    for (int64_t i = 0; i < p->N; i++) p->positive[i] += 1;
    f.advantage = p->number; f.feature = p->other; f.divisor = p->positive; f.eligible = p->flag;
    f.delta = rng_bell(r); f.k = rng_unit(r);
    check(!grpo_feature_advantage(&p->b, &f, p->found), "feature_advantage");
    for (int64_t g = 0; g < p->b.n_groups; g++) {
        const int64_t begin = p->b.group_begin[g], end = p->b.group_begin[g + 1];
        reference_real centre = 0, size = 0, by = 0, part, more, most;
        int64_t n = 0;
        for (int64_t i = begin; i < end; i++)
            if (p->flag[i]) { centre += p->other[i]; size += fabs(p->other[i]); by += p->positive[i]; n++; }
        for (int64_t i = begin; i < end; i++) {
            most = f.k * (reference_real)fabs(p->number[i]);
            more = p->flag[i] ? f.delta * (p->other[i] - centre / n) / (by / n) : 0;
            part = p->flag[i] ? fabs(f.delta) * (fabs(p->other[i]) + size / n) / (by / n) : 0;
            more = more > most ? most : more < -most ? -most : more;
            judge("feature_advantage", (double)p->found[i], p->number[i] + more, fabs(p->number[i]) + (part < most ? part : most), 1);
        }
    }
}

static void test_bundles(rng *r, sequences *p) {
    const double from = rng_bell(r), width = rng_chance(r, 10) ? 0 : fabs(rng_bell(r));
    const grpo_risk x = { from, from + width, 0.2, 0.8, 1.5, 1e-6 };
    const int64_t n_groups = p->b.n_groups;
    int64_t *bundle = test_alloc(n_groups, sizeof *bundle);
    grpo_dd *scratch = test_alloc(n_groups, sizeof *scratch);
    memset(bundle, 0, (size_t)n_groups * sizeof *bundle);
    for (int64_t g = 0; g < n_groups; g++) bundle[g] = rng_below(r, 2);
    check(!grpo_bundle_advantage(&p->b, bundle, &x, scratch, p->found), "bundle_advantage");
    for (int64_t g = 0; g < n_groups; g++) {
        int64_t n = INT64_MAX, groups = 0;
        reference_real sum = 0, squares = 0, mean, mine = 0;
        for (int64_t h = 0; h < n_groups; h++) {
            if (bundle[h] != bundle[g]) continue;
            if (p->b.group_begin[h + 1] - p->b.group_begin[h] < n) n = p->b.group_begin[h + 1] - p->b.group_begin[h];
            groups++;
        }
        for (int pass = 0; pass < 3; pass++) for (int64_t k = 0; k < n; k++) {
            reference_real S = 0, D = 0, size = 0, u, v, s;
            for (int64_t h = 0; h < n_groups; h++) {
                const int64_t begin = p->b.group_begin[h], end = p->b.group_begin[h + 1];
                if (bundle[h] != bundle[g]) continue;
                mean = 0;
                for (int64_t i = begin; i < end; i++) mean += p->reward[i];
                mean /= end - begin;
                S += p->reward[begin + k]; D += p->reward[begin + k] - mean; size += ref_abs(p->reward[begin + k]) + ref_abs(mean);
                if (h == g) mine = p->reward[begin + k] - mean;
            }
            if (pass == 0) { sum += S; continue; }
            if (pass == 1) { squares += (S - sum / n) * (S - sum / n); continue; }
            s = (n > 1 ? ref_sqrt(squares / (n - 1)) : 1) + x.eps;
            u = ((S > x.low ? S - x.low : 0) - (S > x.high ? S - x.high : 0)) / ((reference_real)x.c - x.a + x.eps);
            v = x.omega * (x.low > S ? x.low - S : 0) / ((reference_real)x.a + x.eps);
            if (n > 1 && squares < 1e-20) continue;
            if (ref_abs(D) > 0.99e-6 && ref_abs(D) < 1.01e-6) continue;
            mine = ref_abs(D) > 1e-6 ? mine / D : 1 / (reference_real)groups;
            size = ref_abs(D) > 1e-6 ? 1 + size / ref_abs(D) : 1;
            size *= (ref_abs(u) + v + ref_abs(S) + fabs(x.low) + fabs(x.high)) * (1 + ref_abs(mine)) / s;
            judge("bundle_advantage", (double)p->found[p->b.group_begin[g] + k], (u - v) / (x.omega + 1) / s * mine, size, 1);
        }
        for (int64_t i = p->b.group_begin[g] + n; i < p->b.group_begin[g + 1]; i++) check(p->found[i] == 0, "bundle_advantage: beyond n");
    }
    free(bundle); free(scratch);
}

/* ---- lists --------------------------------------------------------------------------------------------------------------------------- */

static void test_mix(rng *r) {
    enum { LIST = 12 };
    double x[LIST], y[LIST], found[LIST];
    const double a = rng_bell(r), b = rng_bell(r);
    for (int k = 0; k < LIST; k++) { x[k] = rng_bell(r); y[k] = rng_chance(r, 20) ? -a * x[k] / b : rng_bell(r); }
    check(grpo_mix_advantages(x, y, LIST, a, b, found) == GRPO_OK, "mix_advantages");
    for (int k = 0; k < LIST; k++) check(found[k] == (double)((reference_real)a * x[k] + (reference_real)b * y[k]), "mix_advantages");
}

static void test_roles(rng *r) {
    double reward[12], found[3][12];
    int64_t role[12], n = rng_below(r, 13);
    const double scale = rng_pick(r, (const double[]){ 1, 1e-200, 1e150, 1e-6 }, 4);
    for (int64_t k = 0; k < n; k++) {
        reward[k] = scale * (rng_chance(r, 50) ? rng_bell(r) / 10 : 1);
        role[k] = rng_below(r, 3) * (INT64_C(1) << 61);
    }
    for (int form = 0; form < 3; form++) check(!grpo_role_advantage(reward, role, n, (grpo_role_form)form, found[form]), "role_advantage");
    for (int64_t k = 0; k < n; k++) {
        reference_real mean = 0, size = 0, V = 0, G = 0, s, x;
        int same = 1;
        for (int64_t j = 0; j < n; j++) {
            if (role[j] != role[k]) continue;
            mean += reward[j]; size += ref_abs(reward[j]); G = G + 1;
            same &= reward[j] == reward[k];
        }
        mean /= G; size = size / G + ref_abs(reward[k]);
        for (int64_t j = 0; j < n; j++) if (role[j] == role[k]) V += (reward[j] - mean) / scale * ((reward[j] - mean) / scale);
        s = same ? 1 : ref_sqrt(V / (G - 1)) * scale + (reference_real)1 / 1000000;
        x = same ? 0 : (reward[k] - mean) / s;
        judge("role_advantage", found[0][k], reward[k] - mean, size, 0);
        judge("role_advantage", found[1][k], x, size / s, 0);
        judge("role_advantage", found[2][k], x < -1 ? -1 : x > 3 ? 3 : x, size / s, 0);
    }
    check(!grpo_role_advantage(reward, role, n, GRPO_ROLE_MEAN_STD, reward), "role_advantage");
    check(!memcmp(reward, found[1], (size_t)n * sizeof *reward), "role_advantage: written over what is read, it is another");
}

/* ---- worked cases -------------------------------------------------------------------------------------------------------------------- */

static void test_lists_by_hand(void) {
    const double pooled[] = { 1, 0, 0, 1 }, sets[] = { 0.25, -0.25 };
    const int64_t klass[] = { 0, 1, 0, 1 }, member[] = { 0, 1, 0, 2 }, begin[] = { 0, 2, 4 };
    double found[4], y;
    check(!grpo_set_advantage(pooled, klass, 4, member, begin, 2, found), "set_advantage");      /* 1/2 2/2, 1/2 1/2 less their mean */
    for (int k = 0; k < 2; k++) check(found[k] == sets[k] / 2, "set_advantage: %g", found[k]);
    check(!grpo_reference_advantage(pooled, 3, 1, 1, 1, 1, found, &y), "reference_advantage");    /* A = (1, -1, -1), A_y = 1, mean -1/3 */
    check(found[0] * 3 == 8 && found[1] == -found[0] && fabs(y - 16 / 3.0) < 1e-15, "reference_advantage: %g %g", found[0], y);
    check(!grpo_reference_advantage(pooled, 3, 1, 1, 1, 0, found, &y) && fabs(y - 4 * sqrt(2)) < 4e-15, "reference_advantage: %g", y);
    check(grpo_jensen_shannon(-1, -800, 0.5) > 0 && grpo_is_finite(grpo_jensen_shannon(-1e4, -1, 1e-15)), "jensen_shannon far apart");
    check(isnan(grpo_jensen_shannon(HUGE_VAL, -2, 0.5)) && isnan(grpo_jensen_shannon(-1, HUGE_VAL, 0.5))
          && grpo_jensen_shannon(-HUGE_VAL, -HUGE_VAL, 0.5) == 0, "jensen_shannon: infinities");
    check(isnan(grpo_jensen_shannon(NAN, -2, 0.5)) && isnan(grpo_jensen_shannon(-1, NAN, 1)) && isnan(grpo_jensen_shannon(-1, -2, 2))
          && isnan(grpo_jensen_shannon(-1, -2, NAN)), "jensen_shannon: what is no number, or out of range, is NaN");
}

/* log-probabilities of -1e20, whose product with alpha is rounded: two leaves with the same one still have the same weight */
static void test_branch_far_away(void) {
    static const int64_t parent[] = { -1, 0, 0, 1, 1 };
    static const double reward[] = { 0, 0, 1, 1, 0 };
    grpo_branch scratch[5];
    double found[5];
    for (int j = 1; j < 100; j++) {
        const double far = -1e20 * j, logp[] = { 0, far, far, far, far };
        check(!grpo_branch_advantage(parent, reward, logp, 5, GRPO_BRANCH_PROBABILITY, 0.3, scratch, found), "branch_advantage");
        check(found[1] < 0 && found[2] == -found[1] && found[3] > 0, "branch_advantage: %g, %g and %g", found[1], found[2], found[3]);
    }
}

/* a deviation of 1e-6 as a double is below 1e-6 */
static void test_branch_near_its_bound(void) {
    static const int64_t parent[] = { -1, 0, 0, 0 };
    grpo_branch scratch[4];
    double reward[] = { 0, -1e-6, 0, 1e-6 }, found[4];
    check(!grpo_branch_advantage(parent, reward, NULL, 4, GRPO_BRANCH_LEAVES, 1, scratch, found), "branch_advantage");
    check(found[1] == 0 && found[3] == 0, "branch_advantage: a deviation below 1e-6 by 5e-23: %g", found[3]);
    reward[3] = nextafter(1e-6, 1);
    reward[1] = -reward[3];
    check(!grpo_branch_advantage(parent, reward, NULL, 4, GRPO_BRANCH_LEAVES, 1, scratch, found), "branch_advantage");
    check(found[1] == -found[3] && found[3] > 0.9, "branch_advantage: a deviation above 1e-6: %g", found[3]);
}

static void test_group_by_hand(void) {
    const double weight = 1 / (0.5 + 1e-6) / (0.5 + 1e-6);
    four f;
    four_make(&f);
    f.reward[0] = 1;
    check(!grpo_asymmetric_advantage(&f.b, 1, 0.5, f.found), "asymmetric_advantage");             /* p = 1/4, std = 1/2 */
    check(fabs((double)f.found[0] - 0.1875 * weight) < 1e-7, "asymmetric_advantage: %g", (double)f.found[0]);
    check(fabs((double)f.found[1] + 0.125 * weight) < 1e-7, "asymmetric_advantage: %g", (double)f.found[1]);
    f.reward[1] = 1;                                                    /* p = 1/2; with U = 2 the factor is negative */
    check(!grpo_asymmetric_advantage(&f.b, 4, 2, f.found), "asymmetric_advantage");
    check(f.found[0] < 0 && f.found[2] == -2 * f.found[0], "asymmetric_advantage: U/alpha above the mean: %g, %g", (double)f.found[0],
          (double)f.found[2]);
}

/* the limit of token_advantage is compared with the exact quantity: a right response of one token beside a wrong one of four has r - m =
 * 4/5, less than the double 0.8, and (r - m)/s = 2 */
static void test_token_limit(void) {
    static const struct { double limit; int scaled, reached; } tried[] = {
        { 0.8, 0, 0 }, { 0.8 - 0x1p-53, 0, 1 }, { 1, 0, 0 }, { 2, 1, 1 }, { 2 - 0x1p-52, 1, 1 }, { 2 + 0x1p-51, 1, 0 }, { HUGE_VAL, 1, 0 },
    };
    const int64_t group_begin[] = { 0, 2 }, offset[] = { 0, 1 }, length[] = { 1, 4 };
    const grpo_real reward[] = { 1, 0 };
    grpo_real found[2];
    grpo_batch b;
    memset(&b, 0, sizeof b);
    b.n_groups = 1; b.group_begin = group_begin; b.offset = offset; b.length = length; b.n_tokens = 5; b.reward = reward;
    for (size_t k = 0; k < COUNT(tried); k++) {
        check(!grpo_token_advantage(&b, 0, tried[k].limit, tried[k].scaled, found), "token_advantage");
        check((found[0] == -found[1]) == tried[k].reached, "token_advantage, limit %.17g: %g, %g", tried[k].limit, (double)found[0],
              (double)found[1]);
    }
}

/* the reward of a response without tokens has no part in mean and deviation, however large it is */
static void test_token_advantage_without_tokens(void) {
    static const int64_t group_begin[] = { 0, 3 }, offset[] = { 0, 1, 3 }, length[] = { 1, 2, 0 };
    grpo_real reward[] = { 1 + (grpo_real)0x1p-20, 1, 0 }, found[2][3];
    grpo_batch b;
    memset(&b, 0, sizeof b);
    b.n_groups = 1; b.group_begin = group_begin; b.offset = offset; b.length = length; b.n_tokens = 3; b.reward = reward;
    for (int k = 0; k < 2; k++) {
        reward[2] = (grpo_real)(k ? sizeof(grpo_real) == sizeof(float) ? 1e38 : 1e149 : 0);
        check(!grpo_token_advantage(&b, 0, 5, 1, found[k]), "token_advantage");
    }
    check(!memcmp(found[0], found[1], 2 * sizeof(grpo_real)), "token_advantage beside a response without tokens: %.17g, not %.17g",
          (double)found[1][0], (double)found[0][0]);
}

/* the share of an improbable third token, by hand; small rewards do not take its digits */
static void test_improbable_candidates(void) {
    static const double far[] = { -300, -500, -690, -760 }, unit[] = { 1, 1e-30, 1e-100, 1e-290 };
    for (int k = 0; k < 16; k++) {
        const double logp_old[] = { 0, 0, far[k % 4] }, reward[] = { 0, unit[k / 4], 0.25 * unit[k / 4] };
        const double p = exp(far[k % 4]);
        double a[3];
        check(!grpo_position_advantage(logp_old, reward, 3, a) && a[0] == -0.5 && a[1] == 0.5, "two of three: %g, %g", a[0], a[1]);
        check(fabs(a[2] + 0.25 * p) <= 1e-15 * p + DBL_MIN * DBL_EPSILON, "logp_old %g, reward %g: %g", far[k % 4], reward[2], a[2]);
    }
    for (int k = 0; k < 2; k++) {           /* a large reward makes up for a probability that double does not have */
        const double logp_old[] = { 0, 0, k ? -1100 : -760 }, small = k ? 1e-200 : 1e-90, reward[] = { 0, small, 1e90 };
        const double exact = exp(0.5 * logp_old[2]) * (1e90 / small) * exp(0.5 * logp_old[2]);
        double a[3];
        check(!grpo_position_advantage(logp_old, reward, 3, a) && fabs(a[2] / exact - 1) < 1e-14, "logp_old %g: %g, not %g", logp_old[2],
              a[2], exact);
    }
}

/* rewards whose squares overflow or underflow: a power of two as factor changes nothing where they are divided by their deviation alone */
static void test_units_of_rewards(void) {
    static const double plain[] = { 0, 1, 2, 1 }, nothing[] = { 0, 0, 0, 0 }, units[] = { 0x1p-700, 0x1p-490, 0x1p490 };
    static const int64_t bundle[] = { 7 };
    grpo_real found[5][4];
    double list[2][4], none[2][4], y[4], reward[4];
    grpo_dd scratch[1];
    four f;
    for (int k = 0; k < 4; k++) {
        const double unit = k ? units[k - 1] : 1;
        const grpo_risk risk = { 0, unit, 0.2, 0.8, 1.5, 0 };
        four_make(&f);
        for (int i = 0; i < 4; i++) { reward[i] = plain[i] * unit; f.reward[i] = (grpo_real)reward[i]; }
        check(!grpo_reference_advantage(reward, 4, 2 * unit, 1, 0.5, 1, list[k > 0], &y[k > 0]), "reference_advantage");
        check(k == 0 || (!memcmp(list[0], list[1], sizeof list[0]) && y[0] == y[1]), "reference_advantage in units of %g", unit);
        check(!grpo_reference_advantage(nothing, 4, unit, 1, 0.5, 1, none[k > 0], &y[2 + (k > 0)]), "reference_advantage");
        check(k == 0 || (!memcmp(none[0], none[1], sizeof none[0]) && y[2] == y[3]), "reference_advantage of 0 beside %g", unit);
        if (k && sizeof(grpo_real) != sizeof(double)) continue;
        for (int form = 0; form < 2; form++) {
            check(!grpo_token_advantage(&f.b, 0, form ? 0.5 : HUGE_VAL, 1, f.found), "token_advantage");
            check(k == 0 || !memcmp(f.found, found[form], sizeof *found), "token_advantage in units of %g: %g", unit, (double)f.found[0]);
            memcpy(found[form], f.found, sizeof *found);
            check(!grpo_virtual_reward_advantage(&f.b, 3 * unit, form, 0, f.found), "virtual_reward_advantage");
            check(k == 0 || !memcmp(f.found, found[2 + form], sizeof *found), "virtual_reward_advantage in units of %g", unit);
            memcpy(found[2 + form], f.found, sizeof *found);
        }
        check(!grpo_bundle_advantage(&f.b, bundle, &risk, scratch, f.found), "bundle_advantage");
        check(k == 0 || unit > 1 || !memcmp(f.found, found[4], sizeof *found), "bundle_advantage in units of %g", unit);
        if (k == 0) memcpy(found[4], f.found, sizeof *found);
    }
    four_make(&f);
    for (int i = 0; i < 4; i++) f.found[i] = 5;
    {
        const grpo_risk risk = { 0, 1, 0.2, 0.8, 1.5, 0 };
        check(!grpo_bundle_advantage(&f.b, bundle, &risk, scratch, f.found), "bundle_advantage");
    }
    for (int i = 0; i < 4; i++) check(f.found[i] == 0, "bundle_advantage of equal sums, no eps: %g", (double)f.found[i]);
}

/* quadratic in the number of tokens or sequences: small batches only */
static void test_few_key_tokens(rng *r, trial *t) { if (t->total < 300) test_key_token_advantage(r, t); }
static void test_few_medians(rng *r, trial *t) { if (t->b.n_sequences < 300) test_median(r, t); }
static void test_few_bundles(rng *r, sequences *p) { if (p->N < 40) test_bundles(r, p); }

int main(void) {
    static trial_test *const of_batches[] = {
        test_few_key_tokens, test_jsd, test_distribution, test_few_medians, test_odds_advantage
    };
    static sequence_test *const of_sequences[] = {
        test_sharpening_advantage, test_shares, test_canon, test_virtual, test_feature, test_few_bundles
    };
    static list_test *const of_lists[] = {
        test_mix
    };
    static list_test *const of_turns[] = {
        test_roles
    };
    test_trials(21, 720, of_batches, COUNT(of_batches));
    test_sequences(55, 300, of_sequences, COUNT(of_sequences));
    test_lists(22, 3000, of_lists, COUNT(of_lists));
    test_lists(77, 500, of_turns, COUNT(of_turns));
    test_lists_by_hand();
    test_key_of_many();
    test_branch_far_away();
    test_branch_near_its_bound();
    test_group_by_hand();
    test_token_limit();
    test_units_of_rewards();
    test_improbable_candidates();
    test_token_advantage_without_tokens();
    print_tallies();
    return check_summary();
}
