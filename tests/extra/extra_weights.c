/* extra/grpo_weights.h: weights of random batches against their formulas in binary128, and worked cases. */
#include "extra.h"

/* ---- tokens -------------------------------------------------------------------------------------------------------------------------- */

static void test_token_weights(rng *r, sequences *p) {
    const trial *t = p->t;
    const double strength = rng_unit(r), clip = rng_unit(r) * 0.9 + 0.01, gamma = rng_bell(r);
    const int trl = rng_chance(r, 50);
    grpo_real *gain = no_tokens(t), *discrepancy = no_tokens(t);
    check(!grpo_teacher_gate(&p->b, t->advantage, strength, clip, t->excluded, p->tokens), "teacher_gate");
    check(!grpo_probability_weight(&p->b, strength, gain), "probability_weight");
    check(!grpo_prefix_discrepancy_weight(&p->b, gamma, trl ? GRPO_DISCREPANCY_TRL : GRPO_DISCREPANCY_PAPER, discrepancy),
        "prefix_discrepancy_weight");
    for (int64_t i = 0; i < p->N; i++) {
        reference_real whole = 0, before = 0, last = 0;
        for (int64_t s = p->b.offset[i]; s < p->b.offset[i] + p->b.length[i]; s++)
            if (counts(p, s)) { last = ref_abs((reference_real)p->teacher[s] - p->old[s]); whole += last; }
        if (!trl) whole -= last;
        for (int64_t s = p->b.offset[i]; s < p->b.offset[i] + p->b.length[i]; s++) {
            reference_real e, rest;
            if (!counts(p, s)) { check(p->tokens[s] == 0 && gain[s] == 0 && discrepancy[s] == 0, "a masked token has a weight"); continue; }
            e = ref_exp((t->advantage[s] > 0 ? 1 : -1) * ((reference_real)p->teacher[s] - p->logp[s]));
            e = e < 1 - (reference_real)clip ? 1 - (reference_real)clip : e > 1 + (reference_real)clip ? 1 + (reference_real)clip : e;
            e = t->advantage[s] == 0 || !t->excluded[s] ? 1 : 1 - (reference_real)strength + strength * e;
            judge("teacher_gate", (double)p->tokens[s], e, e, 1);
            e = strength * ref_exp(p->old[s]) + 1 - (reference_real)strength;
            judge("probability_weight", (double)gain[s], e, e, 1);
            rest = whole > 0 ? (whole - before) / whole : trl;
            judge("prefix_discrepancy_weight", (double)discrepancy[s], 1 + gamma * rest, 1 + ref_abs(gamma * rest), 1);
            before += ref_abs((reference_real)p->teacher[s] - p->old[s]);
        }
    }
    free(gain); free(discrepancy);
}

static void test_routes(rng *r, trial *t) {
    double beta = rng_pick(r, (const double[]){ 0, 1, 0.3, 1e3, 1e18, 1e40 }, 6);
    uint8_t *routed = test_alloc(t->b.n_sequences, 1);
    grpo_real *H = more_tokens(r, t, 0, 8), *weight = no_tokens(t);
    reference_real least = HUGE_VAL, sum = 0, n = 0;
    for (int64_t i = 0; i < t->b.n_sequences; i++) routed[i] = (uint8_t)rng_chance(r, 60);
    t->view.entropy = H;
    check(!grpo_routed_weight(&t->view, routed, beta, weight), "routed_weight");
    for (int pass = 0; pass < 3; pass++) for (int64_t i = 0; i < t->b.n_sequences; i++)
        for (int64_t s = t->b.offset[i]; s < t->b.offset[i] + t->b.length[i]; s++) {
            const int on = t->b.mask[s] && routed[i];
            if (pass == 0 && on) { n = n + 1; if (H[s] < least) least = H[s]; }
            if (pass == 1 && on) sum += ref_exp(-beta * (H[s] - least));
            if (pass == 2 && on) {
                const reference_real x = ref_exp(-beta * (H[s] - least)) * n / sum;
                judge("routed_weight", (double)weight[s], x, x, 1);
            }
            if (pass == 2 && !on) check(weight[s] == 0, "routed_weight: a token that is not routed has a weight");
        }
    free(routed); free(H); free(weight);
}

/* ---- sequences and groups ------------------------------------------------------------------------------------------------------------ */

static void test_sample_weights(rng *r, trial *t) {
    const int64_t N = t->b.n_sequences;
    double *difficulty = test_alloc(N, sizeof *difficulty), *found = test_alloc(N, sizeof *found);
    reference_real *w = test_alloc(N, sizeof *w), sum = 0;
    const int by_difficulty = rng_chance(r, 60), by_length = rng_chance(r, 60);
    int64_t least = t->b.n_tokens, most = 0;
    for (int64_t i = 0; i < N; i++) {
        const int64_t T = mask_tokens(t, i, i + 1);
        difficulty[i] = rng_chance(r, 50) ? (double)rng_below(r, 3) - 0.5 : 3 * rng_unit(r) - 1;
        if (T < least) least = T;
        if (T > most) most = T;
    }
    for (int64_t i = 0; i < N; i++) {
        const reference_real d = difficulty[i] < 0 ? 0 : difficulty[i] > 1 ? 1 : difficulty[i];
        w[i] = by_difficulty ? 0.5 + 1.5 * d : 1;
        if (by_length) w[i] *= 1.5 - (most > least ? (reference_real)(mask_tokens(t, i, i + 1) - least) / (most - least) : 0);
        sum += w[i];
    }
    check(grpo_sample_weights(&t->view, by_difficulty ? difficulty : NULL, by_length, found) == GRPO_OK, "sample_weights");
    for (int64_t i = 0; i < N; i++) judge("sample_weights", found[i], w[i] * N / sum, w[i] * N / sum, 0);
    if (!by_difficulty && !by_length) for (int64_t i = 0; i < N; i++) check(found[i] == 1, "sample_weights: all equal");
    free(difficulty); free(found); free(w);
}

static void test_preference_of_lengths(rng *r, trial *t) {
    double *length = test_alloc(t->b.n_sequences, sizeof *length), *weight = test_alloc(t->b.n_sequences, sizeof *weight);
    double *slope = test_alloc(t->b.n_sequences, sizeof *slope);
    const double k = rng_chance(r, 50) ? 1.0 / 9 : 2 * rng_bell(r), lambda = rng_chance(r, 30) ? 0 : rng_bell(r);
    for (int64_t i = 0; i < t->b.n_sequences; i++) length[i] = (double)rng_below(r, rng_chance(r, 50) ? 2 : 1000);
    if (grpo_length_preference_weight(&t->view, length, k, lambda, weight, slope) != GRPO_OK) check(lambda < 0, "length_preference_weight");
    else for (int64_t g = 0; g < t->b.n_groups; g++) {
        const int64_t begin = t->b.group_begin[g], end = t->b.group_begin[g + 1], G = end - begin;
        reference_real sum = 0, squares = 0, total = 0, tilt = 0, tilt_size = 0, most = -1;
        for (int pass = 0; pass < 4; pass++) for (int64_t i = begin; i < end; i++) {
            reference_real h = 1, e, P, y;
            const reference_real least = (reference_real)1 / 1000000;
            if (pass == 0) { sum += length[i]; squares += (reference_real)length[i] * length[i]; continue; }
            if (G * squares > sum * sum) h = 1 + k * (((reference_real)length[i] * G - sum) / ref_sqrt(G * squares - sum * sum));
            if (h < least) h = least;
            y = ref_ln(h); h = ref_exp(lambda * y);
            if (pass == 1) { if (h > most) most = h; continue; }
            e = most - h > 5000 ? 0 : ref_exp(h - most);
            if (pass == 2) { total += e; tilt += e * h * y; tilt_size += e * h * ref_abs(y); continue; }
            P = G * e / total;
            if (P < 1e-290) continue;                                      /* too small for the accuracy of its factors */
            judge("length_preference_weight", weight[i], P, P, 0);
            judge("length_preference_weight", slope[i], P * (h * y - tilt / total), P * (h * ref_abs(y) + tilt_size / total), 0);
        }
    }
    free(length); free(weight); free(slope);
}

static void test_answers(rng *r, sequences *p) {
    double *entropy = test_alloc(p->b.n_groups, sizeof *entropy);
    (void)r;
    check(!grpo_semantic_entropy(&p->b, p->whole, p->other, entropy), "semantic_entropy");
    for (int64_t g = 0; g < p->b.n_groups; g++) {
        const int64_t begin = p->b.group_begin[g], end = p->b.group_begin[g + 1];
        reference_real all = 0, H = 0, part;
        for (int64_t i = begin; i < end; i++) all += ref_exp(p->other[i]);
        for (int64_t i = begin; i < end; i++) {
            int first = 1;
            part = 0;
            for (int64_t j = begin; j < end; j++) {
                if (j != i && (p->whole[i] < 0 || p->whole[i] != p->whole[j])) continue;
                part += ref_exp(p->other[j]);
                first &= j >= i;
            }
            if (first) H -= part / all * ref_ln(part / all);
        }
        judge("semantic_entropy", entropy[g], H > 1e-30 ? H : 0, H > 1e-30 ? H : 0, 0);
    }
    free(entropy);
}

static void test_window(rng *r) {
    enum { MOST = 12 };
    double x[MOST], weight[MOST], normalised[MOST];
    const double target = rng_chance(r, 10) ? 0x1p-1000 : (double)(1 + rng_below(r, 9)) + (rng_chance(r, 50) ? 0.3 : 0);
    const double temperature = 0.2 + rng_unit(r);
    const int64_t n = 1 + rng_below(r, MOST);
    reference_real low = -1000, high = 1000, middle = 0, sum;
    for (int64_t i = 0; i < n; i++)
        x[i] = rng_chance(r, 40) ? -(double)rng_below(r, 3) : rng_chance(r, 10) ? -30 * rng_unit(r) : -3 * rng_unit(r);
    check(!grpo_soft_top_k_weight(x, n, target, temperature, weight, normalised), "soft_top_k_weight");
    for (int k = 0; k < 130 && target < (double)n; k++) {
        middle = (low + high) / 2;
        sum = 0;
        for (int64_t i = 0; i < n; i++) sum += x[i] >= middle ? 1 : ref_exp((x[i] - middle) / temperature);
        if (sum > target) low = middle; else high = middle;
    }
    for (int64_t i = 0; i < n; i++) {
        const reference_real w = target >= (double)n || x[i] >= middle ? 1 : ref_exp((x[i] - middle) / temperature);
        judge("soft_top_k_weight", weight[i], w, w, 0);
        judge("soft_top_k_weight", normalised[i], target >= (double)n ? 1 : w * n / target, target >= (double)n ? 1 : w * n / target, 0);
    }
}

/* ---- worked cases -------------------------------------------------------------------------------------------------------------------- */

static void test_groups_by_hand(void) {
    const double conflict[] = { 2, 2, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1 };
    const int64_t ids[] = { 5, 6, 1, 5, 6, 2, 5, 7, 3, 5, 6, 1 }, sign[] = { 1, -1, 0, 0 }, same[] = { 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5 };
    double weight;
    four f;
    four_make(&f);
    f.reward[0] = f.reward[2] = f.reward[3] = 1;
    check(!grpo_conflict_weight(&f.b, ids, sign, 2, f.found), "conflict_weight");
    near_reals("conflict_weight", f.found, conflict, 12);
    check(!grpo_conflict_weight(&f.b, same, sign, 2, f.found) && f.found[0] == 4 && f.found[3] == 0 && f.found[6] == 1, "both runs");
    f.mask[0] = 0;
    check(!grpo_conflict_weight(&f.b, same, sign, 2, f.found), "conflict_weight");
    check(f.found[0] == 0 && f.found[1] == 4 && f.found[5] == 0, "conflict_weight: places of the mask");
    f.length[1] = 2;
    check(!grpo_prompt_weight(&f.b, 0.5, 4, 0.1, GRPO_PROMPT_LLM, &weight) && weight == 1, "prompt_weight");
    check(!grpo_prompt_weight(&f.b, 0.5, 2, 0.1, GRPO_PROMPT_LLM, &weight) && weight == 1, "prompt_weight: none short and wrong");
    check(!grpo_prompt_weight(&f.b, 0.5, 2, 0.1, GRPO_PROMPT_VLM, &weight) && weight == 0.1, "prompt_weight: none short and wrong");
    check(!grpo_prompt_weight(&f.b, 1.5, 4, 0.1, GRPO_PROMPT_LLM, &weight) && weight == 0.1, "prompt_weight: none right");
    check(!grpo_prompt_weight(&f.b, 1.5, 4, 0.1, GRPO_PROMPT_VLM, &weight) && weight == 1, "prompt_weight: none right");
    for (int k = 0; k < 12; k++) f.tokens[k] = 800;
    check(!grpo_confidence_factor(&f.b, f.mask + 1, 0.25, &weight) && weight == 0.25, "confidence_factor: all are right, %g", weight);
}

/* c^2/(2 V) has no unit: advantages times a power of two give the same bits */
static void test_units_of_advantages(void) {
    static const double units[] = { 1, 0x1p-700, 0x1p-490, 0x1p490 };
    grpo_real advantage[12], plain[12] = { 0 };
    four f;
    four_make(&f);
    for (int k = 0; k < 12; k++) f.tokens[k] = (grpo_real)(-0.25 * (k % 5));
    for (int u = 0; u < (sizeof(grpo_real) == sizeof(double) ? 4 : 1); u++) {
        for (int k = 0; k < 12; k++) advantage[k] = (grpo_real)((k % 3 - 1) * units[u]);
        check(!grpo_covariance_weight(&f.b, advantage, f.found), "covariance_weight");
        check(f.found[0] > 0 && f.found[0] != f.found[2], "covariance_weight: all alike in units of %g", units[u]);
        if (u == 0) memcpy(plain, f.found, sizeof plain);
        check(!memcmp(plain, f.found, sizeof plain), "covariance_weight in units of %g", units[u]);
    }
}

static void test_few_preferences_of_lengths(rng *r, trial *t) { if (t->b.n_sequences < 300) test_preference_of_lengths(r, t); }

/* lengths of 1 and 3: h is 1e-6 and 2, so that the power of the first reaches 1e150 at lambda -25 */
static void test_preference_bound(void) {
    static const int64_t group[] = { 0, 2 }, offset[] = { 0, 1 }, length[] = { 1, 1 };
    static const double lengths[] = { 1, 3 };
    double weight[2], slope[2];
    grpo_batch b;
    memset(&b, 0, sizeof b);
    b.n_groups = 1; b.group_begin = group; b.offset = offset; b.length = length; b.n_tokens = 2;
    check(!grpo_length_preference_weight(&b, lengths, 1, -24.9, weight, slope) && weight[0] == 2 && weight[1] == 0,
          "length_preference_weight: a power of 1e149.4");
    check(grpo_status_is(grpo_length_preference_weight(&b, lengths, 1, -25.1, weight, slope), GRPO_OUT_OF_RANGE),
          "length_preference_weight: a power of 1e150.6");
}

int main(void) {
    static trial_test *const of_batches[] = {
        test_sample_weights, test_few_preferences_of_lengths
    };
    static trial_test *const of_routes[] = {
        test_routes
    };
    static sequence_test *const of_sequences[] = {
        test_token_weights, test_answers
    };
    static list_test *const of_lists[] = {
        test_window
    };
    test_trials(21, 600, of_batches, COUNT(of_batches));
    test_trials(77, 75, of_routes, COUNT(of_routes));
    test_sequences(55, 300, of_sequences, COUNT(of_sequences));
    test_lists(22, 3000, of_lists, COUNT(of_lists));
    test_groups_by_hand();
    test_units_of_advantages();
    test_preference_bound();
    print_tallies();
    return check_summary();
}
