/* extra/grpo_selection.h: random batches against sorted lists and sums in binary128, distances by their definitions, and worked cases. */
#include "extra.h"

/* ---- tokens -------------------------------------------------------------------------------------------------------------------------- */

static void test_top(rng *r, trial *t) {
    sorted_list l = list_of(t);
    const double rank = (double)rng_below(r, l.n + 1) / (double)(l.n > 1 ? l.n - 1 : 1);
    const double fractions[] = { 0, 1, 0.2, 0.5, rng_unit(r), rank, 1 - 0x1p-53, 0x1p-60 };
    list_sort(&l);
    for (size_t f = 0; f < sizeof fractions / sizeof *fractions; f++) {
        const double fraction = fractions[f] > 1 ? 1 : fractions[f];
        const reference_real position = (reference_real)(1 - fraction) * (l.n - 1);
        const int64_t k = (int64_t)position;
        expect_nothing(t);
        for (int64_t j = 0; j < l.n; j++) {
            const reference_real low = l.token[k].x, high = l.token[k + 1 < l.n ? k + 1 : k].x;
            t->expected[l.token[j].slot] = l.token[j].x >= low + (position - k) * (high - low);
        }
        check_selected(t, "select_top_fraction", grpo_select_top_fraction(&t->view, t->by, fraction, t->selected));
    }
    free(l.token);
}

static void test_largest(rng *r, trial *t) {
    sorted_list l = list_of(t);
    const int64_t counts[] = { 0, 1, l.n / 2, l.n, l.n + 3, rng_below(r, l.n + 1), INT64_MAX };
    for (int64_t j = 0; j < l.n; j++) l.token[j].x = -l.token[j].x;
    list_sort(&l);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        expect_nothing(t);
        for (int64_t j = 0; j < l.n && j < counts[c]; j++) t->expected[l.token[j].slot] = 1;
        check_selected(t, "select_top_k", grpo_select_top_k(&t->view, t->by, counts[c], t->selected));
    }
    free(l.token);
}

static void test_between(rng *r, trial *t) {
    int64_t *order = test_alloc(t->total, sizeof *order), n = 0;
    const double bounds[] = { -1, -0.25, 0, 0.25, 1, 1e30, -1e30, (double)(grpo_real)0.1 };
    const double one = rng_pick(r, bounds, 8), other = rng_pick(r, bounds, 8);
    const double low = one < other ? one : other, high = one < other ? other : one;
    const int64_t part = 1 + rng_below(r, 5), count = rng_below(r, t->total + 2) / part;
    const uint8_t *excluded = rng_chance(r, 50) ? t->excluded : NULL;
    for (int64_t k = 0; k < t->total; k++) order[k] = k;
    rng_shuffle(r, order, t->total);
    expect_nothing(t);
    for (int64_t k = 0; k < t->total; k++) {
        int64_t s = t->place[order[k]];
        if (!t->b.mask[s] || (excluded && excluded[s]) || !((double)t->by[s] > low) || !((double)t->by[s] < high)) continue;
        t->expected[s] = n++ < count;
    }
    check_selected(t, "select_between", grpo_select_between(&t->view, t->by, low, high, excluded, order, count, t->selected));
    if (t->total > 1) {
        order[0] = order[1];
        memcpy(t->expected, t->selected, (size_t)t->b.n_tokens);
        check(says("select_between", grpo_select_between(&t->view, t->by, low, high, excluded, order, count, t->selected),
                   GRPO_NOT_PERMUTATION, "order"), "an entry twice");
        check(!memcmp(t->expected, t->selected, (size_t)t->b.n_tokens), "select_between wrote before it checked");
    }
    free(order);
}

/* ---- second moments ------------------------------------------------------------------------------------------------------------------ */

/* delta^2 of the candidate tokens; drifting 0 (form all): every token is a candidate */
static void squares_of(const trial *t, sorted_list *l, int drifting) {
    int64_t n = 0;
    for (int64_t j = 0; j < l->n; j++) {
        const int64_t s = l->token[j].slot;
        const double old = (double)t->view.logp_old[s], A = (double)t->advantage[s];
        const double own = (double)(drifting ? t->view.logp : t->view.logp_rollout)[s];
        const reference_real delta = (reference_real)own - old;
        if (drifting && !(A > 0 && delta > 0) && !(A < 0 && delta < 0)) continue;
        l->rounded |= (reference_real)(double)delta != delta || (reference_real)own - delta != old;
        l->token[n] = l->token[j];
        l->token[n++].x = delta * delta;
    }
    l->n = n;
}

/* the number of tokens of the sorted list that are selected; -1 where rounding may decide */
static int64_t prefix_of(const sorted_list *l, double threshold, int drifting) {
    reference_real sum = 0, with, excess;
    int64_t k, size = 0;
    int rounded = l->rounded;
    for (k = 0; k < l->n; k++) {
        if (rounded && k > 0 && l->token[k].x - l->token[k - 1].x < 1e-28 * l->token[k].x) return -1;
        with = sum + l->token[k].x;
        rounded |= with - sum != l->token[k].x || with - l->token[k].x != sum;
        sum = with;
        excess = sum - (reference_real)threshold * (k + 1);
        if ((rounded || excess != 0) && ref_abs(excess) < 1e-28 * sum) return -1;
        if (drifting ? excess <= 0 : excess < 0) size = k + 1;
    }
    return size || drifting || l->n == 0 ? size : 1;
}

static void test_second_moment_at(trial *t, const sorted_list *l, const sorted_list *all, double threshold, int drifting) {
    const grpo_second_moment_form form = drifting ? GRPO_SECOND_MOMENT_DRIFTING : GRPO_SECOND_MOMENT_ALL;
    const int64_t size = prefix_of(l, threshold, drifting);
    if (size < 0) return;
    expect_nothing(t);
    for (int64_t j = 0; j < all->n && drifting; j++) t->expected[all->token[j].slot] = 1;
    for (int64_t j = 0; j < l->n; j++) t->expected[l->token[j].slot] = j < size;
    check_selected(t, drifting ? "select_second_moment drifting" : "select_second_moment all",
                   grpo_select_second_moment(&t->view, drifting ? t->advantage : NULL, form, threshold, t->selected));
}

static void test_second_moment(rng *r, trial *t) {
    for (int drifting = 0; drifting < 2; drifting++) {
        sorted_list l = list_of(t), all = list_of(t);
        reference_real sum = 0;
        squares_of(t, &l, drifting);
        list_sort(&l);
        for (int64_t k = 0; k < l.n; k++) {
            sum += l.token[k].x;
            if (rng_chance(r, 90) && ((k + 1) & k)) continue;          /* the mean of a prefix of 1, 2, 4 ... tokens is exact in double */
            if ((double)(sum / (k + 1)) > 0) test_second_moment_at(t, &l, &all, (double)(sum / (k + 1)), drifting);
        }
        test_second_moment_at(t, &l, &all, 0.04, drifting);
        test_second_moment_at(t, &l, &all, DBL_MIN, drifting);
        test_second_moment_at(t, &l, &all, DBL_MAX, drifting);
        free(l.token);
        free(all.token);
    }
}

/* deltas of 1 - 2^-60 and 1 are equal when rounded to double, but are compared exactly */
static void check_all(const grpo_batch *b, double threshold, int first, int second) {
    uint8_t selected[2] = { 9, 9 };
    check(grpo_select_second_moment(b, NULL, GRPO_SECOND_MOMENT_ALL, threshold, selected) == GRPO_OK, "close squares");
    check(selected[0] == first && selected[1] == second, "close squares, below %g: %d, %d", threshold, selected[0], selected[1]);
}

static void test_close_squares(void) {
    static const int64_t group[] = { 0, 1 }, offset[] = { 0 }, length[] = { 2 };
    grpo_real old[2], rollout[2] = { -1, -1 };
    grpo_batch b;
    memset(&b, 0, sizeof b);
    b.n_groups = 1; b.group_begin = group; b.offset = offset; b.length = length; b.n_tokens = 2;
    b.logp_old = old; b.logp_rollout = rollout;
    old[0] = (grpo_real)-0x1p-60; old[1] = 0;                           /* delta = -1 + 2^-60 and -1 */
    check_all(&b, 1e-3, 1, 0);
    check_all(&b, 1, 1, 1);                                             /* the mean is just below 1 */
    old[0] = 0; old[1] = (grpo_real)-0x1p-60;
    check_all(&b, 1e-3, 0, 1);
    old[1] = 0;
    check_all(&b, 1, 1, 0);                                             /* 1 is not below 1: at least one token, the first */
}

/* ---- entropy clips and probabilities ------------------------------------------------------------------------------------------------- */

/* x > bound: 0, 1, or -1 where rounding may decide; numbers that differ by less than 1e-25 count as equal */
static int exceeds(reference_real x, reference_real bound) {
    const reference_real d = x - bound, near = ref_abs(x) + ref_abs(bound);
    if (ref_abs(d) <= 1e-25 * near) return 0;
    return ref_abs(d) < 1e-15 * near ? -1 : d > 0;
}

/* the list of the signals of all unmasked tokens; *mean, *deviation: their statistics */
static sorted_list signals_of(const trial *t, const grpo_batch *view, const grpo_real *expected, reference_real *mean,
                              reference_real *std) {
    sorted_list l = list_of(t);
    reference_real sum = 0, V = 0, size = 0;
    for (int64_t j = 0; j < l.n; j++) {
        const int64_t s = l.token[j].slot;
        l.token[j].x = ref_exp(view->logp[s]) * ((reference_real)view->entropy[s] + view->logp[s]);
        if (expected) l.token[j].x = expected[s] - l.token[j].x;
        sum += l.token[j].x;
        size += ref_abs(l.token[j].x);
    }
    *mean = l.n ? sum / l.n : 0;
    for (int64_t j = 0; j < l.n; j++) V += (l.token[j].x - *mean) * (l.token[j].x - *mean);
    *std = l.n ? ref_sqrt(V / l.n) : 0;
    if (*std < 1e-25 * size) *std = 0;
    return l;
}

static void test_entropy_clip_batch(rng *r, trial *t) {
    static const double mus[] = { 0, 0.5, 1, 2, 2.5, -0.5, -1, -1e308 };
    const double mu = rng_pick(r, mus, 8);
    grpo_real *l = more_tokens(r, t, -4, 0), *H = more_tokens(r, t, 0, 2);
    grpo_batch view = t->view;
    reference_real mean, std;
    sorted_list all;
    int sure = 1;
    view.logp = l; view.entropy = H;
    all = signals_of(t, &view, NULL, &mean, &std);
    expect_nothing(t);
    for (int64_t j = 0; j < all.n; j++) {
        const int64_t s = all.token[j].slot;
        const int out = std > 0 ? exceeds(mean, mu * std + all.token[j].x) : 0;
        sure &= out >= 0;
        t->expected[s] = t->advantage[s] < 0 && out > 0;
    }
    if (sure) check_selected(t, "entropy_clip_batch", grpo_entropy_clip_batch(&view, t->advantage, mu, t->selected));
    free(all.token); free(l); free(H);
}

static void test_entropy_clip_vocabulary(rng *r, trial *t) {
    static const double mus[] = { 0, 0.5, 1, 2, -0.5, -1, 1e308, -1e308 }, fractions[] = { 0, 1e-4, 0.1, 0.25, 1 };
    const double mu = rng_pick(r, mus, 8), fraction = rng_pick(r, fractions, 5);
    grpo_real *l = more_tokens(r, t, -4, 0), *H = more_tokens(r, t, 0, 2), *N = more_tokens(r, t, -1, 1);
    grpo_batch view = t->view;
    reference_real mean, std;
    sorted_list all;
    int64_t most, n = 0;
    int sure = 1;
    view.logp = l; view.entropy = H;
    all = signals_of(t, &view, N, &mean, &std);
    most = (int64_t)((reference_real)fraction * all.n);
    if (most < 1) most = 1;
    for (int64_t j = 0; j < all.n; j++) all.token[j].x = -all.token[j].x;
    list_sort(&all);
    expect_nothing(t);
    for (int64_t j = 0; j < all.n; j++) {
        const int64_t s = all.token[j].slot;
        const int out = std > 0 ? exceeds(-all.token[j].x, mu * std) : 0;
        sure &= out >= 0;
        if (t->advantage[s] < 0 && out > 0) t->expected[s] = n++ < most;
    }
    if (sure) check_selected(t, "entropy_clip_vocabulary", grpo_entropy_clip_vocabulary(&view, t->advantage, N, mu, fraction, t->selected));
    free(all.token); free(l); free(H); free(N);
}

static void test_select_low_probability(rng *r, trial *t) {
    const double x = rng_chance(r, 10) ? 0 : rng_chance(r, 10) ? 1 : rng_unit(r);
    check(grpo_select_low_probability(&t->view, x, t->selected) == GRPO_OK, "select_low_probability");
    for (int64_t k = 0; k < t->total; k++) {
        const int64_t s = t->place[k];
        const double o = t->b.mask[s] ? (double)t->view.logp_old[s] : 0;
        const int below = x > 0 && (o < -20000 || (o < 1 && ref_exp(o) < x));
        check(t->selected[s] == (t->b.mask[s] && below), "select_low_probability: slot %lld", (long long)s);
    }
}

static void test_clip_by_hand(void) {
    static const int64_t group[] = { 0, 1 }, offset[] = { 0 }, length[] = { 5 };
    const grpo_real l[] = { -1, -1, -2, -1, -1 }, H[] = { 2, 2, 1, 2, 2 }, A[] = { -1, -1, -1, -1, -1 };
    uint8_t selected[5];
    grpo_batch b;
    memset(&b, 0, sizeof b);
    b.n_groups = 1; b.group_begin = group; b.offset = offset; b.length = length; b.n_tokens = 5; b.logp = l; b.entropy = H;
    check(grpo_entropy_clip_batch(&b, A, 2, selected) == GRPO_OK && !selected[2],
        "entropy_clip_batch: one of five is 2 std below, not more");
    check(grpo_entropy_clip_batch(&b, A, 2 - 1e-12, selected) == GRPO_OK && selected[2] && !selected[0],
        "entropy_clip_batch: just more than mu std");
}

/* ---- statistics of groups and sequences ---------------------------------------------------------------------------------------------- */

static void test_covariance(rng *r, trial *t) {
    (void)r;
    grpo_real *found = test_alloc(t->b.n_tokens, sizeof *found);
    sorted_list l = list_of(t);
    reference_real A = 0, logp = 0, size_A = 0, size_l = 0;
    const int64_t n = l.n ? l.n : 1;
    for (int64_t j = 0; j < l.n; j++) {
        A += t->advantage[l.token[j].slot]; size_A += fabs((double)t->advantage[l.token[j].slot]);
        logp += t->view.logp[l.token[j].slot]; size_l += fabs((double)t->view.logp[l.token[j].slot]);
    }
    for (int64_t s = 0; s < t->b.n_tokens; s++) found[s] = 4321;
    check(grpo_covariance(&t->view, t->advantage, found) == GRPO_OK, "covariance");
    for (int64_t k = 0; k < t->total; k++) {
        const int64_t s = t->place[k];
        const reference_real a = (reference_real)(double)t->advantage[s], x = (reference_real)(double)t->view.logp[s];
        if (!t->b.mask[s]) check(found[s] == 0, "covariance of a masked token");
        else judge("covariance", (double)found[s], (a - A / n) * (x - logp / n), (ref_abs(a) + size_A / n) * (ref_abs(x) + size_l / n), 1);
    }
    free(found);
    free(l.token);
}

static void test_keep(rng *r, trial *t) {
    uint8_t *keep = test_alloc(t->b.n_groups, 1);
    const double one = rng_chance(r, 50) ? 0 : (double)t->b.reward[0];
    const double other = rng_chance(r, 50) ? 1 : (double)t->b.reward[t->b.n_sequences - 1];
    const double low = one < other ? one : other, high = one < other ? other : one;
    check(grpo_reward_range_filter(&t->view, low, high, keep) == GRPO_OK, "reward_range_filter");
    for (int64_t g = 0; g < t->b.n_groups; g++) {
        const int64_t n = t->b.group_begin[g + 1] - t->b.group_begin[g];
        reference_real sum = 0;
        for (int64_t i = t->b.group_begin[g]; i < t->b.group_begin[g + 1]; i++) sum += t->b.reward[i];
        check(keep[g] == (sum > (reference_real)low * n && sum < (reference_real)high * n), "reward_range_filter: group %lld",
            (long long)g);
    }
    free(keep);
}

static void test_weights(rng *r, trial *t) {
    static const double powers[] = { 0, 0.5, 1, 2, 3.25, 40 }, eps[] = { 0, 1e-8, 1 };
    double *weight = test_alloc(t->b.n_sequences, sizeof *weight);
    const double p = rng_pick(r, powers, 6), e = rng_pick(r, eps, 3);
    check(grpo_resampling_weights(&t->view, p, e, weight) == GRPO_OK, "resampling_weights");
    for (int64_t i = 0; i < t->b.n_sequences; i++) {
        const double x = fabs((double)t->b.reward[i]);
        const reference_real expected = e + (p == 0 ? 1 : x == 0 ? 0 : ref_exp(p * ref_ln(x)));
        judge("resampling_weights", weight[i], expected, expected, 0);
    }
    free(weight);
}

static void test_score(rng *r, trial *t) {
    (void)r;
    double *score = test_alloc(t->b.n_groups, sizeof *score);
    check(grpo_replay_score(&t->view, t->advantage, score) == GRPO_OK, "replay_score");
    for (int64_t g = 0; g < t->b.n_groups; g++) {
        const int64_t begin = t->b.group_begin[g], end = t->b.group_begin[g + 1];
        reference_real sum = 0, reward = 0, V = 0, d;
        for (int64_t i = begin; i < end; i++) {
            int64_t k = 0;
            while (k < t->b.length[i] && !t->b.mask[t->b.offset[i] + k]) k++;
            if (k < t->b.length[i]) sum += fabs((double)t->advantage[t->b.offset[i] + k]);
            reward += t->b.reward[i];
        }
        for (int64_t i = begin; i < end; i++) {
            d = (reference_real)(double)t->b.reward[i] * (end - begin) - reward;
            V += d * d;
        }
        V = end - begin > 1 ? V / (end - begin) / (end - begin) / (end - begin - 1) : 0;
        judge("replay_score", score[g], sum * ref_sqrt(V), sum * ref_sqrt(V), 0);
    }
    free(score);
}

static void test_group_keeps(rng *r, trial *t) {
    uint8_t *keep = test_alloc(t->b.n_groups, 1), *valid = test_alloc(t->b.n_sequences, 1);
    int64_t *index = test_alloc(t->b.n_sequences, sizeof *index), count = -1, n = 0;
    const double least = rng_chance(r, 30) ? 0 : rng_chance(r, 50) ? 0.5 : rng_unit(r);
    check(grpo_reward_std_filter(&t->view, least, keep) == GRPO_OK, "reward_std_filter");
    for (int64_t i = 0; i < t->b.n_sequences; i++) valid[i] = (uint8_t)rng_chance(r, 60);
    check(grpo_pad_valid(&t->view, valid, index, &count) == GRPO_OK, "pad_valid");
    for (int64_t g = 0; g < t->b.n_groups; g++) {
        const int64_t begin = t->b.group_begin[g], G = t->b.group_begin[g + 1] - begin;
        reference_real sum = 0, squares = 0, excess;
        int64_t good = 0, passed = 0;
        for (int64_t i = begin; i < begin + G; i++) {
            const reference_real x = t->b.reward[i];
            sum += x; squares += x * x;
            good += valid[i];
        }
        excess = G * squares - sum * sum - (reference_real)G * least * ((reference_real)G * least);
        if (ref_abs(excess) > 1e-28 * (G * squares) || (G * squares < 1e6 && least != 0 && least != 0.5))
            check(keep[g] == (excess >= 0), "reward_std_filter: group %lld", (long long)g);
        for (int64_t j = 0; 2 * good > G && j < G; j++, n++) {
            int64_t i = begin;
            for (passed = valid[i]; passed <= j % good; passed += valid[++i]) { }
            check(n < count && index[n] == i, "pad_valid: place %lld", (long long)n);
        }
    }
    check(n == count, "pad_valid: %lld indices", (long long)count);
    free(keep); free(valid); free(index);
}

static void test_resample(rng *r) {
    enum { MOST = 40, DRAWS = 30 };
    double weight[MOST], uniform[DRAWS];
    int64_t index[DRAWS], n = 1 + rng_below(r, MOST);
    const int lattice = rng_chance(r, 50);
    reference_real total = 0;
    for (int64_t i = 0; i < n; i++) {
        weight[i] = rng_chance(r, 30) ? 0 : lattice ? (double)rng_below(r, 4) : random_scaled(r, 60);
        if (i == n - 1 && total == 0) weight[i] = 1;
        total += weight[i];
    }
    for (int k = 0; k < DRAWS; k++) uniform[k] = k == 0 ? 0 : k == 1 ? 1 - 0x1p-53 : lattice ? (double)rng_below(r, 64) / 64 : rng_unit(r);
    if (lattice) uniform[2] = (double)(weight[0] / total) < 1 ? (double)(weight[0] / total) : 0;
    check(grpo_resample(weight, n, uniform, DRAWS, index) == GRPO_OK, "resample");
    for (int k = 0; k < DRAWS; k++) {
        reference_real sum = 0;
        int64_t j = -1;
        while (j + 1 < n && !(j >= 0 && sum > uniform[k] * total)) sum += weight[++j];
        check(index[k] == j, "resample: draw %d is %lld, expected %lld", k, (long long)index[k], (long long)j);
    }
}

/* ---- lists: subsets, allocation, sampling -------------------------------------------------------------------------------------------- */

enum { LIST = 12, LONG_LIST = 300 };

/* mostly short lists, for which every order occurs */
static int64_t list_length(rng *r) { return rng_below(r, rng_chance(r, 5) ? LONG_LIST : LIST); }

static void reference_subset(const double *reward, int64_t n, int64_t count, double low, double high, int64_t *best) {
    reference_real distance = 0, spread = 0;
    best[0] = -1;
    for (int64_t set = 0; set < 1 << n; set++) {                       /* index 0 is the highest bit: descending is lexicographic */
        const int64_t mask = (1 << n) - 1 - set;
        int64_t index[16], size = 0;
        reference_real sum = 0, d, least = 1e30, most = -1e30;
        for (int64_t k = 0; k < n; k++) if (mask >> (n - 1 - k) & 1) {
            index[size++] = k;
            sum += reward[k];
            least = reward[k] < least ? reward[k] : least;
            most = reward[k] > most ? reward[k] : most;
        }
        if (size != count || !(sum > (reference_real)low * count) || !(sum < (reference_real)high * count)) continue;
        d = ref_abs(2 * sum - count * ((reference_real)low + high));
        if (best[0] >= 0 && !(d < distance || (d == distance && most - least > spread))) continue;
        distance = d; spread = most - least;
        memcpy(best, index, (size_t)count * sizeof *best);
    }
}

static void test_subset(rng *r) {
    double reward[12];
    int64_t found[12], best[12];
    const int64_t n = 1 + rng_below(r, rng_chance(r, 10) ? 11 : 6), count = 1 + rng_below(r, n);
    const int lattice = rng_chance(r, 70);
    const double low = rng_chance(r, 50) ? 0 : 0.25, high = rng_chance(r, 50) ? 1 : 0.75;
    grpo_status st;
    for (int64_t k = 0; k < n; k++) reward[k] = lattice ? (double)rng_below(r, 5) / 4 : rng_unit(r);
    reference_subset(reward, n, count, low, high, best);
    st = grpo_balanced_subset(reward, n, count, low, high, found);
    if (best[0] < 0) { check(says("balanced_subset", st, GRPO_NONE_LEFT, "low"), "balanced_subset: %s", status_line(st)); return; }
    check(st == GRPO_OK && !memcmp(found, best, (size_t)count * sizeof *best), "balanced_subset of %d from %d", (int)count, (int)n);
}

static int descending_number(const void *a, const void *b) {
    const sorted_token *p = a, *q = b;
    return p->x > q->x ? -1 : p->x < q->x ? 1 : p->rank < q->rank ? -1 : 1;
}

static reference_real knapsack_value(double p, int64_t N) {
    const reference_real q = 1 - (reference_real)p;
    reference_real right = 1, wrong = 1;
    for (int64_t j = 0; j < N; j++) { right *= p; wrong *= q; }
    return (1 - right - wrong) * p * q * q;
}

/* the largest sum over all allocations, by enumeration */
static reference_real best_allocation(const double *p, int64_t n, int64_t low, int64_t high, int64_t total) {
    reference_real best = -1, x;
    if (n == 0) return 0;
    for (int64_t N = low; N <= high && N + (n - 1) * low <= total; N++) {
        x = knapsack_value(p[0], N) + best_allocation(p + 1, n - 1, low, high, total - N);
        if (x > best) best = x;
    }
    return best;
}

static void test_allocate_rollouts(rng *r) {
    static const double lattice[] = { 0, 0.125, 0.25, 0.5, 0.75, 1 };
    double p[4];
    int64_t count[4], expected[4], sum = 0;
    const int64_t n = 1 + rng_below(r, 4), low = 1 + rng_below(r, 3), high = low + rng_below(r, 6), total = n * low + rng_below(r, 20);
    const int many = rng_chance(r, 5);                                  /* powers that underflow */
    reference_real found = 0;
    for (int64_t k = 0; k < n; k++) p[k] = rng_chance(r, 60) ? rng_pick(r, lattice, 6) : rng_unit(r);
    if (many) p[0] = 0.5;
    if (n > 1 && p[0] < 1 && rng_chance(r, 30)) p[1] = p[0] * (1 - 0x1p-45 * (double)rng_below(r, 5)); /* almost equal gains */
    check(grpo_allocate_rollouts(p, n, low, high, total, count) == GRPO_OK, "allocate_rollouts");
    for (int64_t k = 0; k < n; k++) {
        expected[k] = low;
        sum += count[k];
        found += knapsack_value(p[k], count[k]);
        check(count[k] >= low && count[k] <= high && ((p[k] > 0 && p[k] < 1) || count[k] == low), "allocate: bounds");
    }
    check(sum <= total && best_allocation(p, n, low, high, total) - found <= 1e-30, "allocate: not the best");
    for (int64_t left = total - n * low; left > 0; left--) {
        int64_t best = -1;
        reference_real most = 1e-30, x;
        for (int64_t k = 0; k < n; k++) {
            if (count[k] < 0 || expected[k] == high || !(p[k] > 0 && p[k] < 1)) continue;
            x = knapsack_value(p[k], expected[k] + 1) - knapsack_value(p[k], expected[k]);
            if (x > most) { most = x; best = k; }
        }
        if (best >= 0) expected[best]++;
    }
    if (n < 4) check(!memcmp(count, expected, (size_t)n * sizeof *count), "allocate: not in order");
}

static void test_information(rng *r) {
    static const double lattice[] = { 0, 1, 0.25, 0.5, 1.0 / 3, 0x1.5555555555556p-2, 0x1.5555555555554p-2 };
    double q[LONG_LIST];
    int64_t index[LONG_LIST];
    sorted_token sorted[LONG_LIST];
    const int64_t n = list_length(r), count = rng_below(r, n + 1);
    for (int64_t k = 0; k < n; k++) {
        q[k] = rng_chance(r, 50) ? rng_pick(r, lattice, 7) : rng_unit(r);
        sorted[k].rank = k;
        sorted[k].x = q[k] * (1 - (reference_real)q[k]) * (1 - (reference_real)q[k]);
    }
    qsort(sorted, (size_t)n, sizeof *sorted, descending_number);
    check(grpo_select_value_of_information(q, n, count, index) == GRPO_OK, "select_value_of_information");
    for (int64_t k = 0; k < count; k++) check(index[k] == sorted[k].rank, "select_value_of_information: place %lld", (long long)k);
}

static void test_downsample(rng *r) {
    double A[LONG_LIST];
    int64_t index[LONG_LIST], best = 0;
    sorted_token sorted[LONG_LIST];
    const int64_t n = list_length(r), count = rng_below(r, n + 1), levels = rng_chance(r, 50) ? 9 : 2001;
    reference_real most = -1;
    const double unit = rng_chance(r, 20) ? 0x1p400 : 1;
    for (int64_t k = 0; k < n; k++) {
        A[k] = (double)(rng_below(r, levels) - levels / 2) / 4 * unit;
        sorted[k].rank = k;
        sorted[k].x = A[k] / unit;
    }
    qsort(sorted, (size_t)n, sizeof *sorted, descending_number);
    for (int64_t top = 0; top <= count; top++) {
        reference_real sum = 0, squares = 0;
        for (int64_t k = 0; k < count; k++) {
            const reference_real x = sorted[k < top ? k : n - count + k].x;
            sum += x;
            squares += x * x;
        }
        if (count * squares - sum * sum > most) { most = count * squares - sum * sum; best = top; }
    }
    check(grpo_max_variance_subset(A, n, count, index) == GRPO_OK, "max_variance_subset");
    for (int64_t k = 0; k < count; k++)
        check(index[k] == sorted[k < best ? k : n - count + k].rank, "max_variance_subset: place %lld", (long long)k);
}

static void test_advantage_filter(rng *r) {
    double A[LIST];
    uint8_t keep[LIST];
    sorted_token sorted[LIST];
    const int64_t n = rng_below(r, LIST), multiple = rng_below(r, 5);
    const int positive = rng_chance(r, 50);
    int64_t kept = 0, m = 0;
    for (int64_t k = 0; k < n; k++) {
        A[k] = (double)(rng_below(r, 9) - 4) / 4;
        if (positive && A[k] <= 0) continue;
        sorted[m].rank = k;
        sorted[m++].x = fabs(A[k]);
        kept += fabs(A[k]) >= 0.5;
    }
    qsort(sorted, (size_t)m, sizeof *sorted, descending_number);
    while (multiple > 1 && kept % multiple && kept < m) kept++;
    check(grpo_advantage_filter(A, n, 0.5, multiple, positive, keep) == GRPO_OK, "advantage_filter");
    for (int64_t k = 0; k < m; k++) check(keep[sorted[k].rank] == (k < kept), "advantage_filter: place %lld", (long long)k);
    for (int64_t k = 0; k < n; k++) check(!positive || A[k] > 0 || !keep[k], "advantage_filter: not positive");
}

static void test_visit_value(rng *r) {
    double x[LIST], found[LIST], diversity[LIST];
    const double a = rng_bell(r), b = rng_bell(r);
    for (int k = 0; k < LIST; k++) { x[k] = rng_unit(r); diversity[k] = rng_unit(r); }
    check(grpo_visit_value(x, diversity, LIST, a, b, found) == GRPO_OK, "visit_value");
    for (int k = 0; k < LIST; k++) {
        const reference_real V = a * (x[k] * (1 - (reference_real)x[k])), D = (reference_real)b * diversity[k];
        judge("visit_value", found[k], V + D, ref_abs(V) + ref_abs(D), 0);
    }
}

static void test_mixed_group_probability(rng *r) {
    const double p = rng_unit(r);
    const int64_t n = 1 + rng_below(r, 40);
    const reference_real q = 1 - (reference_real)p;
    reference_real right = 1, wrong = 1;
    for (int64_t j = 0; j < n; j++) { right *= p; wrong *= q; }
    judge("mixed_group_probability", grpo_mixed_group_probability(p, n), 1 - right - wrong, right + 1 - wrong, 0);
}

static void test_lists_by_hand(void) {
    const double halves[] = { 0.5, 0.5 }, many[] = { 1e-300, 1e300, 0, 1e300, 1e-300 }, u[] = { 0, 1e-300, 0.5 };
    int64_t count[2], index[3];
    check(says("resample", grpo_resample(many, 5, u, 3, index), GRPO_TOO_LARGE, "weight[1]"), "weights too large");
    check(fabs(grpo_mixed_group_probability(0.5, 8) * 0.125 - 0.1240234375) < 1e-17, "Knapsack-RL's 8 at 1/2");
    check(grpo_mixed_group_probability(0, 8) == 0 && grpo_mixed_group_probability(1, 8) == 0 && grpo_mixed_group_probability(0.3, 1) == 0,
          "mixed_group_probability: never");
    check(grpo_allocate_rollouts(halves, 2, 1, 2000, 3001, count) == GRPO_OK && count[0] == 1501 && count[1] == 1500, "allocate: 2^-1500");
    check(isnan(grpo_mixed_group_probability(1.5, 2)) && isnan(grpo_mixed_group_probability(0.5, 0)), "mixed_group_probability: NaN");
}

/* the gain of the second response, 2 p^2 q^3, is largest at p = 2/5: of two neighbouring doubles, the nearer one gets the response */
static void test_allocate_beside(void) {
    static const double p[] = { 0.37, 0.39, 0.41, 0.45 };
    for (int k = 0; k < 4; k++) {
        const double other = nextafter(p[k], p[k] < 0.4 ? 0 : 1), pair[] = { other, p[k] };
        int64_t count[2] = { 0, 0 };
        check(grpo_allocate_rollouts(pair, 2, 1, 4, 3, count) == GRPO_OK, "allocate");
        check(count[0] == 1 && count[1] == 2, "allocate: beside %g the first has %lld", p[k], (long long)count[0]);
    }
}

/* outputs that may be the input arrays */
static void test_clusters_in_place(void) {
    const double rate[3] = { 0.5, 0.25, 0.5 }, probability[3] = { 1, 2, 1 }, success[3] = { -1, 1, 0 };
    double new_rate[3], new_probability[3], own_rate[3], own_probability[3];
    memcpy(own_rate, rate, sizeof rate);
    memcpy(own_probability, probability, sizeof probability);
    check(!grpo_cluster_probability(rate, probability, success, 3, 0.5, new_rate, new_probability), "cluster_probability");
    check(!grpo_cluster_probability(own_rate, own_probability, success, 3, 0.5, own_rate, own_probability), "cluster_probability");
    check(!memcmp(new_rate, own_rate, sizeof rate) && !memcmp(new_probability, own_probability, sizeof rate), "rates in place");
    check(new_rate[0] == 0.5 && new_rate[1] == 1 && new_rate[2] == 0, "cluster_probability: rates");
}

/* ---- distances between sequences ----------------------------------------------------------------------------------------------------- */

/* the definition by exhaustive recursion, for small n and m */
static int64_t least_edits(const int64_t *a, int64_t n, const int64_t *b, int64_t m) {
    int64_t straight, bent;
    if (n == 0 || m == 0) return n + m;
    straight = least_edits(a + 1, n - 1, b + 1, m - 1) + (*a != *b);
    bent = 1 + least_edits(a + 1, n - 1, b, m);
    if (1 + least_edits(a, n, b + 1, m - 1) < bent) bent = 1 + least_edits(a, n, b + 1, m - 1);
    return straight < bent ? straight : bent;
}

static int64_t most_common(const int64_t *a, int64_t n, const int64_t *b, int64_t m) {
    int64_t x, y;
    if (n == 0 || m == 0) return 0;
    if (*a == *b) return 1 + most_common(a + 1, n - 1, b + 1, m - 1);
    x = most_common(a + 1, n - 1, b, m);
    y = most_common(a, n, b + 1, m - 1);
    return x > y ? x : y;
}

static int64_t longest_suffix(const int64_t *a, int64_t n, const int64_t *b, int64_t m) {
    for (int64_t size = n < m ? n : m; size > 0; size--)
        for (int64_t k = 0; k + size <= m; k++) if (!memcmp(a + n - size, b + k, (size_t)size * sizeof *a)) return size;
    return 0;
}

static void test_distances(rng *r) {
    const int64_t n = 1 + rng_below(r, 6), m = 1 + rng_below(r, 6), longer = n > m ? n : m;
    int64_t a[6], b[6], scratch[14], u, v;
    double found[3];
    for (int64_t k = 0; k < 6; k++) { a[k] = rng_below(r, 3); b[k] = rng_below(r, 3); }
    check(!grpo_sequence_distance(a, n, b, m, GRPO_DISTANCE_EDIT, scratch, &found[0]), "edit");
    check(!grpo_sequence_distance(a, n, b, m, GRPO_DISTANCE_SUFFIX, NULL, &found[1]), "suffix");
    check(!grpo_sequence_distance(a, n, b, m, GRPO_DISTANCE_ROUGE_L, scratch, &found[2]), "rouge_l");
    u = longest_suffix(a, n, b, m); v = longest_suffix(b, m, a, n);
    check(found[0] == (double)least_edits(a, n, b, m) / (double)longer, "edits: %g", found[0]);
    check(found[1] == (double)(u > v ? u : v) / (double)longer, "suffix: %g", found[1]);
    check(found[2] == 2.0 * (double)most_common(a, n, b, m) / (double)(n + m), "rouge_l: %g", found[2]);
}

/* rewards times a power of two have exactly that multiple of the deviation */
static void test_units_of_rewards(void) {
    static const double plain[] = { 0, 1, 2, 1 }, units[] = { 0x1p-700, 0x1p-490, 0x1p490 };
    double score = 0, found = 0;
    four f;
    four_make(&f);
    for (int i = 0; i < 4; i++) f.reward[i] = (grpo_real)plain[i];
    check(!grpo_replay_score(&f.b, f.tokens, &score) && score > 3, "replay_score: %g", score);
    for (int k = 0; k < 3 && sizeof(grpo_real) == sizeof(double); k++) {
        for (int i = 0; i < 4; i++) f.reward[i] = (grpo_real)(plain[i] * units[k]);
        check(!grpo_replay_score(&f.b, f.tokens, &found), "replay_score");
        check(found == score * units[k], "replay_score in units of %g: %g", units[k], found);
    }
}

int main(void) {
    static trial_test *const of_batches[] = {
        test_top, test_largest, test_between, test_second_moment, test_covariance, test_keep, test_weights, test_score,
        test_entropy_clip_batch, test_entropy_clip_vocabulary, test_group_keeps, test_select_low_probability
    };
    static list_test *const of_lists[] = {
        test_resample, test_subset, test_information, test_downsample, test_advantage_filter, test_visit_value,
        test_mixed_group_probability
    };
    static list_test *const exhaustive[] = {
        test_allocate_rollouts, test_distances
    };
    test_trials(20, 250, of_batches, COUNT(of_batches));
    test_lists(21, 3000, of_lists, COUNT(of_lists));
    test_lists(22, 1000, exhaustive, COUNT(exhaustive));
    test_close_squares();
    test_clip_by_hand();
    test_lists_by_hand();
    test_allocate_beside();
    test_clusters_in_place();
    test_units_of_rewards();
    print_tallies();
    return check_summary();
}
