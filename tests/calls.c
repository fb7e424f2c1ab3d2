/* Selection, control and sampling: random batches against sorted lists and sums in __float128, small cases by hand, every status, and the
 * cases of kind `call` in DIRECTORY/calls.json.
 *
 *     calls DIRECTORY */
#include "../extra/grpo_control.h"
#include "../extra/grpo_credit.h"
#include "../extra/grpo_critic.h"
#include "../extra/grpo_rewards.h"
#include "../extra/grpo_selection.h"
#include "../extra/grpo_weights.h"
#include "compare.h"
#include "status.h"
#include "call_run.h"
#include "check.h"
#include "reference.h"
#include <cJSON.h>

/* ---- errors, in ulps of the scale ------------------------------------------------------------------------------------------------ */

#ifdef GRPO_DOUBLE
static const double REAL_EPS = DBL_EPSILON, REAL_TINY = 0x1p-1074, REAL_MAX = DBL_MAX;
#else
static const double REAL_EPS = FLT_EPSILON, REAL_TINY = 0x1p-149, REAL_MAX = FLT_MAX;
#endif

enum { MAX_TALLIES = 192 };
static struct { char name[40]; double worst; long count; } tallies[MAX_TALLIES];

static void tally(const char *name, double error) {
    int k = 0;
    while (*tallies[k].name && strcmp(tallies[k].name, name)) k++;
    if (k == MAX_TALLIES - 1) abort();
    snprintf(tallies[k].name, sizeof tallies[k].name, "%s", name);
    tallies[k].count++;
    if (error > tallies[k].worst) tallies[k].worst = error;
}

static void print_tallies(void) {
    for (int k = 0; *tallies[k].name; k++)
        printf("%-24s %8ld numbers, worst %.3g ulps\n", tallies[k].name, tallies[k].count, tallies[k].worst);
}

/* stored: found is an element of a token array, else it is a double whatever the elements are */
static void judge(const char *name, double found, reference_real expected, reference_real scale, int stored) {
    const double eps = stored ? REAL_EPS : DBL_EPSILON, tiny = stored ? REAL_TINY : 0x1p-1074, max = stored ? REAL_MAX : DBL_MAX;
    reference_real off = ref_abs((reference_real)found - expected);
    double error;
    if (ref_abs(expected) > max) { check(found == (expected > 0 ? HUGE_VAL : -HUGE_VAL), "%s: %g is no infinity", name, found); return; }
    off = off > tiny ? off - tiny : 0;
    error = off == 0 ? 0 : scale > 0 ? (double)(off / scale / eps) : HUGE_VAL;
    if (found != found) error = HUGE_VAL;
    tally(name, error);
    check(error <= COMPARE_LIMIT, "%s: %.17g, expected %.17g, %.3g ulps", name, found, (double)expected, error);
}

/* ---- random batches ------------------------------------------------------------------------------------------------------------- */

typedef struct {
    rollouts b;
    grpo_batch view;
    grpo_real *by, *advantage;              /* garbage where masked */
    uint8_t *excluded, *selected, *expected;
    int64_t *place;                         /* (tokens of all sequences): their slots, in order */
    int64_t total;
} trial;

enum { SMOOTH, LATTICE, WIDE, CONSTANT, MIXTURES };

static grpo_real random_value(rng *r, int mixture) {
    static const double lattice[] = { -1, -0.5, -0.25, -0.0, 0, 0.25, 0.5, 2 };
    double sign, x;
    switch (mixture) {
    case SMOOTH:  return (grpo_real)rng_bell(r);
    case LATTICE: return (grpo_real)rng_pick(r, lattice, 8);
    case WIDE:
        sign = rng_sign(r);
        x = 1 + rng_unit(r);
        return (grpo_real)(sign * ldexp(x, (int)rng_below(r, 160) - 80));
    default:      return (grpo_real)0.1;
    }
}

/* two draws, one after the other whatever the compiler */
static double random_scaled(rng *r, int binades) {
    const double x = rng_unit(r);
    return ldexp(x, (int)rng_below(r, binades));
}

/* hundreds of short sequences */
static void many_sequences(rng *r, rollouts *b) {
    const int64_t n = 256 + rng_below(r, 1000);
    rollouts_alloc_groups(b, 2, n, 1);
    b->group_begin[0] = 0; b->group_begin[1] = n / 3; b->group_begin[2] = n;
    b->reward_weight[0] = 1;
    for (int64_t i = 0; i < n; i++) b->length[i] = rng_below(r, 4);
    rollouts_alloc_tokens(b, rollouts_place(r, b));
    rollouts_garble(r, b);
    random_group(r, 0, b, 0);
    random_group(r, 0, b, 1);
}

static void trial_values(rng *r, trial *t) {
    const int mixture = (int)rng_below(r, MIXTURES), logs = (int)rng_below(r, MIXTURES);
    for (int64_t k = 0; k < t->total; k++) {
        int64_t s = t->place[k];
        t->excluded[s] = (uint8_t)rng_chance(r, 20);
        if (!t->b.mask[s]) continue;
        t->by[s] = random_value(r, mixture);
        t->advantage[s] = rng_chance(r, 10) ? 0 : random_value(r, (int)rng_below(r, 2));
        if (logs != SMOOTH) for (int a = TOKEN_LOGP; a <= TOKEN_ROLLOUT; a++) t->b.token[a][s] = random_value(r, logs);
    }
}

static void trial_make(rng *r, trial *t) {
    const int kinds[] = { 0, RANDOM_EXTREME, RANDOM_DYADIC, RANDOM_SMALL, RANDOM_ONE_TOKEN, RANDOM_ALL_MASKED };
    const int64_t kind = rng_below(r, 20);
    if (kind == 19) many_sequences(r, &t->b);
    else rollouts_random(r, kinds[kind < 15 ? kind % 5 : kind == 15 ? 5 : 0], &t->b);
    t->view = rollouts_view(&t->b);
    t->by = test_alloc(t->b.n_tokens, sizeof *t->by);
    t->advantage = test_alloc(t->b.n_tokens, sizeof *t->advantage);
    t->excluded = test_alloc(t->b.n_tokens, 1);
    t->selected = test_alloc(t->b.n_tokens, 1);
    t->expected = test_alloc(t->b.n_tokens, 1);
    t->place = test_alloc(t->b.n_tokens, sizeof *t->place);
    for (int64_t s = 0; s < t->b.n_tokens; s++) t->by[s] = t->advantage[s] = rng_garbage(r);
    t->total = 0;
    for (int64_t i = 0; i < t->b.n_sequences; i++)
        for (int64_t k = 0; k < t->b.length[i]; k++) t->place[t->total++] = t->b.offset[i] + k;
    trial_values(r, t);
    if (rng_chance(r, 20)) {                /* without a mask nothing may be garbage */
        for (int64_t k = 0; k < t->total; k++) {
            t->b.mask[t->place[k]] = 1;
            for (int a = 0; a < TOKEN_ARRAYS; a++) t->b.token[a][t->place[k]] = 0;
        }
        trial_values(r, t);
        t->view.mask = NULL;
    }
}

static void trial_free(trial *t) {
    rollouts_free(&t->b);
    free(t->by); free(t->advantage); free(t->excluded); free(t->selected); free(t->expected); free(t->place);
}

/* slots outside the sequences are not written to */
static void expect_nothing(trial *t) {
    memset(t->selected, 0x5a, (size_t)t->b.n_tokens);
    memset(t->expected, 0x5a, (size_t)t->b.n_tokens);
    for (int64_t k = 0; k < t->total; k++) t->expected[t->place[k]] = 0;
}

static void check_selected(const trial *t, const char *what, grpo_status st) {
    int64_t s = 0;
    while (s < t->b.n_tokens && t->selected[s] == t->expected[s]) s++;
    check(st == GRPO_OK, "%s: %s", what, status_line(st));
    check(s == t->b.n_tokens, "%s: slot %lld of %lld", what, (long long)s, (long long)t->b.n_tokens);
}

/* ---- the tokens of the mask, sorted --------------------------------------------------------------------------------------------- */

typedef struct { reference_real x; int64_t rank, slot; } sorted_token;
typedef struct { sorted_token *token; int64_t n; int rounded; } sorted_list;    /* rounded: __float128 does not hold every x */

static int ascending(const void *a, const void *b) {
    const sorted_token *p = a, *q = b;
    return p->x < q->x ? -1 : p->x > q->x ? 1 : p->rank < q->rank ? -1 : 1;
}

static sorted_list list_of(const trial *t) {
    sorted_list l;
    l.token = test_alloc(t->total, sizeof *l.token);
    l.n = 0;
    l.rounded = 0;
    for (int64_t k = 0; k < t->total; k++) {
        sorted_token *p = &l.token[l.n];
        if (!t->b.mask[t->place[k]]) continue;
        p->rank = k;
        p->slot = t->place[k];
        p->x = t->by[p->slot];
        l.n++;
    }
    return l;
}

static void list_sort(sorted_list *l) { qsort(l->token, (size_t)l->n, sizeof *l->token, ascending); }

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
        check_selected(t, "select_top", grpo_select_top(&t->view, t->by, fraction, t->selected));
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
        check_selected(t, "select_largest", grpo_select_largest(&t->view, t->by, counts[c], t->selected));
    }
    free(l.token);
}

static void test_between(rng *r, trial *t) {
    int64_t *order = test_alloc(t->total, sizeof *order), n = 0;
    const double bounds[] = { -1, -0.25, 0, 0.25, 1, 1e30, -1e30, (double)(grpo_real)0.1 };
    const double low = rng_pick(r, bounds, 8), high = rng_pick(r, bounds, 8);
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

/* ---- second moments ------------------------------------------------------------------------------------------------------------- */

/* delta^2 of the candidates; 0 for form all: every token is one */
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

/* how many of the sorted list stay; -1 where rounding may decide */
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
            if (rng_chance(r, 90) && ((k + 1) & k)) continue;          /* the mean of a prefix of 1, 2, 4 ... is a double on the lattice */
            if ((double)(sum / (k + 1)) > 0) test_second_moment_at(t, &l, &all, (double)(sum / (k + 1)), drifting);
        }
        test_second_moment_at(t, &l, &all, 0.04, drifting);
        test_second_moment_at(t, &l, &all, DBL_MIN, drifting);
        test_second_moment_at(t, &l, &all, DBL_MAX, drifting);
        free(l.token);
        free(all.token);
    }
}

/* ---- statistics of the batch ---------------------------------------------------------------------------------------------------- */

static void test_covariance(trial *t) {
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

/* rho < target: 1 or 0; -1 where rounding may decide */
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
    if (rng_chance(r, 20)) { c.low = 0.9; c.high = 2.5; }                /* nowhere to go */
    if (rng_chance(r, 20)) { c.low_max = 0.6; c.step = 0.3; }
    b.low = c.low; b.high = c.high;
    while (b.low < c.low_max && (heavy = is_heavy(t, &l, b, c.target)) > 0) b.low = fmin(b.low + c.step, c.low_max);
    while (heavy >= 0 && b.high < c.high_max && (heavy = is_heavy(t, &l, b, c.target)) > 0) b.high = fmin(b.high + c.step, c.high_max);
    check(grpo_balanced_bounds(&t->view, t->advantage, &c, &found) == GRPO_OK, "balanced_bounds");
    if (heavy >= 0)
        check(found.low == b.low && found.high == b.high, "balanced_bounds: %.17g, %.17g, expected %.17g, %.17g", found.low, found.high,
              b.low, b.high);
    free(l.token);
}

/* ---- groups and sequences ------------------------------------------------------------------------------------------------------- */

static void test_keep(rng *r, trial *t) {
    uint8_t *keep = test_alloc(t->b.n_groups, 1);
    const double low = rng_chance(r, 50) ? 0 : (double)t->b.reward[0];
    const double high = rng_chance(r, 50) ? 1 : (double)t->b.reward[t->b.n_sequences - 1];
    check(grpo_keep_between(&t->view, low, high, keep) == GRPO_OK, "keep_between");
    for (int64_t g = 0; g < t->b.n_groups; g++) {
        const int64_t n = t->b.group_begin[g + 1] - t->b.group_begin[g];
        reference_real sum = 0;
        for (int64_t i = t->b.group_begin[g]; i < t->b.group_begin[g + 1]; i++) sum += t->b.reward[i];
        check(keep[g] == (sum > (reference_real)low * n && sum < (reference_real)high * n), "keep_between: group %lld", (long long)g);
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

static void test_score(trial *t) {
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

/* ---- scalars -------------------------------------------------------------------------------------------------------------------- */

static double random_size(rng *r, int decades) { return exp(log(10) * decades * (2 * rng_unit(r) - 1)); }

static double random_signed(rng *r, int decades) {
    const double x = rng_bell(r);
    return x * random_size(r, decades);
}

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

static void test_random(void) {
    rng r = { 20 };
    for (int k = 0; k < 600; k++) {
        trial t;
        trial_make(&r, &t);
        test_top(&r, &t);
        test_largest(&r, &t);
        test_between(&r, &t);
        test_second_moment(&r, &t);
        test_covariance(&t);
        test_bounds(&r, &t);
        test_keep(&r, &t);
        test_weights(&r, &t);
        test_score(&t);
        trial_free(&t);
    }
    for (int k = 0; k < 3000; k++) test_resample(&r);
    for (int k = 0; k < 30000; k++) {
        test_kl_control(&r);
        test_entropy_control(&r);
        test_smooth_advantage(&r);
        test_running_moments(&r);
    }
}

/* ---- by hand: numbers that random ones do not meet --------------------------------------------------------------------------------- */

static void test_extremes(void) {
    const double huge = 1e300, tiny = 1e-300, bad[] = { NAN, INFINITY, -INFINITY };
    const double many[] = { tiny, huge, 0, huge, tiny }, u[] = { 0, tiny, 0.5 };
    grpo_mean_variance zero = { 0, 0 }, far = { 1e200, 1 }, worse;
    int64_t index[3];
    check(grpo_kl_control(huge, 2 * tiny, tiny, tiny, tiny) == huge * 1.2, "kl_control: 1.2 times");
    check(grpo_kl_control(1, 2, 1, huge, tiny) == HUGE_VAL, "kl_control beyond the largest double");
    check(grpo_kl_control(0, 2, 1, huge, tiny) == 0 && grpo_kl_control(3, 1, 1, huge, tiny) == 3, "kl_control: 0 wins");
    check(grpo_kl_control(1e-200, 2, 1, 1e200, 1e-150) == 1e-200 * 1e200 * 0.2 / 1e-150, "kl_control: no overflow on the way");
    check(grpo_running_moments(1, far, zero).mean == 0 && grpo_running_moments(1, far, zero).variance == 0, "the first visit");
    check(grpo_running_moments(2, far, zero).variance == HUGE_VAL, "running_moments beyond the largest double");
    check(says("resample", grpo_resample(many, 5, u, 3, index), GRPO_TOO_LARGE, "weight[1]"), "weights too large");
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
    check(isnan(grpo_kl_control(1, 1, 0, 1, 1)) && isnan(grpo_kl_control(1, 1, 1, -1, 1)), "kl_control: range");
    check(isnan(grpo_kl_control(1, 1, 1, 1, 0)), "kl_control: horizon");
    check(isnan(grpo_entropy_control(1, 1, 1, 1, 2, 1, 0).coef), "entropy_control: low > high");
    check(isnan(grpo_smooth_advantage(0, 1, 1)) && isnan(grpo_running_moments(0, far, far).mean), "no visit");
}

/* equal in double and not in truth: 1 - 2^-60 and 1, as differences of elements */
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

/* ---- beside the axes ------------------------------------------------------------------------------------------------------------- */

/* garbage but at unmasked tokens, which are on a lattice of quarters or anywhere in between */
static grpo_real *more_tokens(rng *r, const trial *t, double low, double high) {
    grpo_real *x = test_alloc(t->b.n_tokens, sizeof *x);
    const int lattice = rng_chance(r, 50);
    for (int64_t s = 0; s < t->b.n_tokens; s++) x[s] = rng_garbage(r);
    for (int64_t k = 0; k < t->total; k++) {
        double u = low + (high - low) * rng_unit(r);
        if (lattice) u = low + floor((u - low) * 4) / 4;
        if (t->b.mask[t->place[k]]) x[t->place[k]] = (grpo_real)u;
    }
    return x;
}

static grpo_real *no_tokens(const trial *t) {
    grpo_real *x = test_alloc(t->b.n_tokens, sizeof *x);
    for (int64_t s = 0; s < t->b.n_tokens; s++) x[s] = 4321;
    return x;
}

static int64_t mask_tokens(const trial *t, int64_t begin, int64_t end) {
    int64_t n = 0;
    for (int64_t i = begin; i < end; i++) for (int64_t k = 0; k < t->b.length[i]; k++) n += t->b.mask[t->b.offset[i] + k];
    return n;
}

static reference_real at_least_one(int64_t n) { return n > 0 ? n : 1; }

/* c of a token of sequence i in group g */
static reference_real reference_coefficient(const trial *t, const grpo_aggregation *a, int64_t g, int64_t i) {
    const int64_t T = mask_tokens(t, i, i + 1), of_group = mask_tokens(t, t->b.group_begin[g], t->b.group_begin[g + 1]);
    int64_t N = 0, G = 0, in_group = 0;
    for (int64_t j = 0; j < t->b.n_sequences; j++) {
        const int counts = a->empty == GRPO_EMPTY_COUNT || mask_tokens(t, j, j + 1) > 0;
        N += counts;
        in_group += counts && j >= t->b.group_begin[g] && j < t->b.group_begin[g + 1];
    }
    for (int64_t j = 0; j < t->b.n_groups; j++)
        G += a->empty == GRPO_EMPTY_COUNT || mask_tokens(t, t->b.group_begin[j], t->b.group_begin[j + 1]) > 0;
    switch (a->kind) {
    case GRPO_TOKEN_SUM:             return 1;
    case GRPO_TOKEN_MEAN:            return 1 / at_least_one(mask_tokens(t, 0, t->b.n_sequences));
    case GRPO_SEQ_MEAN_TOKEN_MEAN:   return 1 / (at_least_one(N) * T);
    case GRPO_SEQ_MEAN_TOKEN_SUM:    return 1 / at_least_one(N);
    case GRPO_SEQ_MEAN_CONSTANT:     return 1 / (at_least_one(N) * a->constant);
    case GRPO_CONSTANT:              return 1 / (reference_real)a->constant;
    case GRPO_GROUP_MEAN:            return 1 / (at_least_one(G) * T);
    case GRPO_GROUP_MEAN_TOKEN_MEAN: return 1 / (at_least_one(G) * of_group);
    case GRPO_GROUP_MEAN_SEQ_MEAN:   return 1 / (at_least_one(G) * at_least_one(in_group) * T);
    case GRPO_SEQ_MEAN_LENGTH_POWER: return ref_exp((a->power - 1) * ref_ln(T)) / at_least_one(N);
    default:                         return 1 / (reference_real)T;
    }
}

static void test_value_with(trial *t, const grpo_real *V, const grpo_real *old, const grpo_real *R, double clip,
                            const grpo_aggregation *a) {
    grpo_real *dvalue = no_tokens(t);
    grpo_value_report found = { 0, 0 };
    reference_real loss = 0, scale = 0, v, error, other, c;
    int64_t clipped = 0;
    const int64_t n = mask_tokens(t, 0, t->b.n_sequences);
    check(grpo_value_loss(&t->view, V, old, R, clip, a, dvalue, &found) == GRPO_OK, "value_loss");
    for (int64_t g = 0; g < t->b.n_groups; g++)
        for (int64_t i = t->b.group_begin[g]; i < t->b.group_begin[g + 1]; i++) {
            c = mask_tokens(t, i, i + 1) ? reference_coefficient(t, a, g, i) : 0;
            for (int64_t s = t->b.offset[i]; s < t->b.offset[i] + t->b.length[i]; s++) {
                if (!t->b.mask[s]) { check(dvalue[s] == 0, "dvalue of a masked token"); continue; }
                v = V[s];
                if (clip > 0 && v > (reference_real)old[s] + clip) v = (reference_real)old[s] + clip;
                if (clip > 0 && v < (reference_real)old[s] - clip) v = (reference_real)old[s] - clip;
                error = ref_abs((reference_real)V[s] - R[s]); other = ref_abs(v - R[s]);
                if (other > error) {
                    clipped++;
                    loss += c * other * other / 2;
                    scale += c * (ref_abs(v) + fabs((double)R[s])) * (ref_abs(v) + fabs((double)R[s])) / 2;
                    check(dvalue[s] == 0, "dvalue where the clip binds");
                } else {
                    loss += c * error * error / 2;
                    scale += c * (fabs((double)V[s]) + fabs((double)R[s])) * (fabs((double)V[s]) + fabs((double)R[s])) / 2;
                    judge("value_loss dvalue", (double)dvalue[s], c * ((reference_real)V[s] - R[s]),
                          c * (fabs((double)V[s]) + fabs((double)R[s])), 1);
                }
            }
        }
    judge("value_loss", found.loss, loss, scale, 0);
    judge("value_loss clip_fraction", found.clip_fraction, n ? (reference_real)clipped / n : 0, 1, 0);
    free(dvalue);
}

static void test_value(rng *r, trial *t) {
    static const double clips[] = { 0, 0.25, 0.2, 1e-3, 1, 50 };
    grpo_real *V = more_tokens(r, t, -2, 2), *old = more_tokens(r, t, -2, 2), *R = more_tokens(r, t, -2, 2);
    grpo_aggregation a;
    memset(&a, 0, sizeof a);
    a.kind = (grpo_aggregation_kind)rng_below(r, GRPO_GROUP_MEAN_SEQ_MEAN + 1);
    a.constant = 3000.7; a.power = rng_unit(r) * 2; a.empty = rng_chance(r, 50) ? GRPO_EMPTY_SKIP : GRPO_EMPTY_COUNT;
    test_value_with(t, V, old, R, rng_pick(r, clips, 6), &a);
    free(V); free(old); free(R);
}

static void test_proximal(rng *r, trial *t) {
    grpo_real *l = more_tokens(r, t, -20, 0), *b = more_tokens(r, t, rng_chance(r, 50) ? -20 : -0.01, 0), *found = no_tokens(t);
    int64_t *behaviour = test_alloc(t->b.n_tokens, sizeof *behaviour);
    const int64_t version = rng_chance(r, 50) ? 5 : 1000000;
    const int form = (int)rng_below(r, 2);
    grpo_batch view = t->view;
    view.logp = l; view.logp_rollout = b;
    for (int64_t s = 0; s < t->b.n_tokens; s++) behaviour[s] = t->b.mask[s] ? rng_below(r, rng_chance(r, 10) ? version + 1 : 6) : -7;
    for (int64_t k = 0; k < t->total; k++) if (t->b.mask[t->place[k]] && rng_chance(r, 20)) l[t->place[k]] = b[t->place[k]];
    check(grpo_proximal_logp(&view, version, behaviour, form ? GRPO_PROXIMAL_LINEAR : GRPO_PROXIMAL_LOG_LINEAR, found) == GRPO_OK,
          "proximal_logp");
    for (int64_t k = 0; k < t->total; k++) {
        const int64_t s = t->place[k], lag = version - behaviour[s];
        reference_real alpha, e;
        if (!t->b.mask[s]) { check(found[s] == 0, "proximal_logp of a masked token"); continue; }
        alpha = lag ? (reference_real)(lag - 1) / lag : 0;
        e = form ? ref_ln((1 - alpha) * ref_exp(b[s]) + alpha * ref_exp(l[s])) : b[s] + alpha * ((reference_real)l[s] - b[s]);
        judge(form ? "proximal_logp linear" : "proximal_logp log_linear", (double)found[s], e, ref_abs(e), 1);
    }
    free(l); free(b); free(found); free(behaviour);
}

static double random_amount(rng *r) { return rng_chance(r, 30) ? 0 : rng_chance(r, 50) ? (double)rng_below(r, 4) : 1000 * rng_unit(r); }

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

static void test_relative_cost(rng *r, trial *t) {
    const int64_t N = t->b.n_sequences;
    double *x[3];
    grpo_real *found = test_alloc(N, sizeof *found);
    grpo_cost c;
    const double coefs[] = { 0.25, rng_bell(r), 0.1 };
    for (int k = 0; k < 3; k++) {
        x[k] = test_alloc(N, sizeof **x);
        for (int64_t i = 0; i < N; i++) x[k][i] = random_amount(r);
    }
    c.output = x[0]; c.input = x[1]; c.turns = x[2]; c.output_coef = coefs[0]; c.input_coef = coefs[1]; c.turns_coef = coefs[2];
    check(grpo_relative_cost(&t->view, &c, found) == GRPO_OK, "relative_cost");
    for (int64_t g = 0; g < t->b.n_groups; g++) {
        const int64_t begin = t->b.group_begin[g], end = t->b.group_begin[g + 1];
        reference_real mean = 0, size = 0, most[3] = { 0, 0, 0 };
        for (int64_t i = begin; i < end; i++) {
            mean += t->b.reward[i];
            size += fabs((double)t->b.reward[i]);
            for (int k = 0; k < 3; k++) if (x[k][i] > most[k]) most[k] = x[k][i];
        }
        for (int64_t i = begin; i < end; i++) {
            reference_real share = 0, all = 0;
            for (int k = 0; k < 3; k++) {
                share += most[k] > 0 ? coefs[k] * (x[k][i] / most[k]) : 0;
                all += most[k] > 0 ? fabs(coefs[k]) * (x[k][i] / most[k]) : 0;
            }
            judge("relative_cost", (double)found[i], t->b.reward[i] - mean / (end - begin) * share,
                  fabs((double)t->b.reward[i]) + size / (end - begin) * all, 1);
        }
    }
    for (int k = 0; k < 3; k++) free(x[k]);
    free(found);
}

static void test_diversity(rng *r) {
    enum { MOST = 12 };
    double reward[MOST], similarity[MOST * MOST], found[MOST];
    const int64_t n = 1 + rng_below(r, MOST);
    reference_real sum;
    for (int64_t k = 0; k < n * n; k++) similarity[k] = k % (n + 1) == 0 ? 1 : 2 * rng_unit(r) - 1;
    for (int64_t k = 0; k < n; k++) reward[k] = rng_bell(r);
    check(grpo_diversity_reward(reward, similarity, n, 1e-6, found) == GRPO_OK, "diversity_reward");
    for (int64_t i = 0; i < n; i++) {
        sum = 1e-6;
        for (int64_t j = 0; j < n; j++) sum += similarity[i * n + j];
        judge("diversity_reward", found[i], reward[i] / sum, ref_abs(reward[i] / sum), 0);
    }
}

/* ---- key tokens: everything as the formulas are written ---- */

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
        judge("key_tokens", (double)found[s], e, ref_abs(e), 1);
    }
}

static void test_key_tokens(rng *r, trial *t) {
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
    check(grpo_key_tokens(&t->view, token, &m, scratch, t->b.n_tokens, found) == GRPO_OK, "key_tokens");
    for (int64_t g = 0; g < t->b.n_groups; g++) reference_keys(t, g, token, &m, found);
    free(found); free(token); free(scratch);
}

/* ---- advantages ---- */

static void test_running_baseline(rng *r) {
    enum { MOST = 50 };
    double reward[MOST], found[MOST], momentum = rng_chance(r, 50) ? 0.95 : rng_chance(r, 20) ? (double)rng_below(r, 2) : rng_unit(r);
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
        if (ref_abs(m) < 0.1) {                                        /* the logarithms of P/M and Q/M would cancel */
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

/* ---- entropy clips ---- */

/* 0, 1, or -1 where rounding may decide; what differs by less than 1e-25 is equal */
static int exceeds(reference_real x, reference_real bound) {
    const reference_real d = x - bound, near = ref_abs(x) + ref_abs(bound);
    if (ref_abs(d) <= 1e-25 * near) return 0;
    return ref_abs(d) < 1e-15 * near ? -1 : d > 0;
}

/* the signal of every mask token in l.x; *mean, *deviation */
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

static void test_clip_below(rng *r, trial *t) {
    static const double mus[] = { 0, 0.5, 1, 2, 2.5 };
    const double mu = rng_pick(r, mus, 5);
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
    if (sure) check_selected(t, "clip_below", grpo_clip_below(&view, t->advantage, mu, t->selected));
    free(all.token); free(l); free(H);
}

static void test_clip_value(rng *r, trial *t) {
    static const double mus[] = { 0, 0.5, 1, 2 }, fractions[] = { 0, 1e-4, 0.1, 0.25, 1 };
    const double mu = rng_pick(r, mus, 4), fraction = rng_pick(r, fractions, 5);
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
    if (sure) check_selected(t, "clip_value", grpo_clip_value(&view, t->advantage, N, mu, fraction, t->selected));
    free(all.token); free(l); free(H); free(N);
}

/* ---- subsets, controls ---- */

static void reference_subset(const double *reward, int64_t n, int64_t count, double low, double high, int64_t *best) {
    reference_real distance = 0, spread = 0;
    best[0] = -1;
    for (int64_t set = 0; set < 1 << n; set++) {                       /* index 0 is the highest bit: downwards is lexicographic order */
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

static void test_preference(rng *r) {
    static const double q[] = { 0.3, 0.7, 0.1, 0.5, 1 };
    const double coef = rng_chance(r, 50) ? (double)(1 + rng_below(r, 8)) / 64 : 0.1 * rng_unit(r);
    const double pair = rng_chance(r, 30) ? 3 * (double)rng_below(r, 3) : rng_unit(r);
    const double loss = rng_chance(r, 50) ? coef * pair / rng_pick(r, q, 5) : rng_chance(r, 10) ? -1 : rng_bell(r);
    const reference_real base = loss > 1e-9 ? (reference_real)loss : 1 / (reference_real)1000000000, top = (reference_real)coef * pair * 10;
    reference_real e = coef;
    if (top < 3 * base) e = (reference_real)1.25 * coef < (reference_real)1 / 20 ? (reference_real)1.25 * coef : (reference_real)1 / 20;
    if (top > 7 * base) e = (reference_real)coef * 4 / 5 > (reference_real)1 / 200 ? (reference_real)coef * 4 / 5 : (reference_real)1 / 200;
    judge("preference_margin_control", grpo_preference_margin_control(coef, pair, loss), e, ref_abs(e), 0);
}

static void test_random_beside(void) {
    rng r = { 21 };
    for (int k = 0; k < 600; k++) {
        trial t;
        trial_make(&r, &t);
        test_value(&r, &t);
        test_proximal(&r, &t);
        test_sample_weights(&r, &t);
        test_relative_cost(&r, &t);
        if (t.total < 300) test_key_tokens(&r, &t);
        test_jsd(&r, &t);
        test_distribution(&r, &t);
        test_clip_below(&r, &t);
        test_clip_value(&r, &t);
        trial_free(&t);
    }
    for (int k = 0; k < 2000; k++) {
        test_diversity(&r);
        test_running_baseline(&r);
        test_subset(&r);
        test_regret(&r);
    }
    for (int k = 0; k < 30000; k++) test_preference(&r);
}

/* ---- by hand ---- */

static void test_beside_by_hand(void) {
    static const int64_t group[] = { 0, 1 }, offset[] = { 0 }, length[] = { 5 };
    const grpo_real l[] = { -1, -1, -2, -1, -1 }, H[] = { 2, 2, 1, 2, 2 }, A[] = { -1, -1, -1, -1, -1 };
    const double lone[] = { -1 }, both[] = { -2, 1 };
    const int64_t lengths[] = { 1, 1 };
    double temperature = -1;
    uint8_t selected[5];
    grpo_batch b;
    memset(&b, 0, sizeof b);
    b.n_groups = 1; b.group_begin = group; b.offset = offset; b.length = length; b.n_tokens = 5; b.logp = l; b.entropy = H;
    check(grpo_clip_below(&b, A, 2, selected) == GRPO_OK && !selected[2], "clip_below: one of five is 2 std below, not more");
    check(grpo_clip_below(&b, A, 2 - 1e-12, selected) == GRPO_OK && selected[2] && !selected[0], "clip_below: just more than mu std");
    check(grpo_value_square(2, 0, 1.25, 0.5).clipped == 0, "value_square: as far on the other side");
    check(grpo_value_square(2, 0, 1.25 + 0x1p-50, 0.5).clipped == 1, "value_square: a little further");
    check(grpo_value_square(-2, 0, -1.25, 0.5).slope == -0.75, "value_square: the slope is the value's own");
    check(grpo_regret_temperature(lengths, lone, 1, &temperature) == GRPO_OK && fabs(temperature - 0.824) < 0.025, "regret: never");
    check(grpo_regret_temperature(lengths, both, 2, &temperature) == GRPO_OK && temperature > 4 && temperature < 4.5, "regret: 3/log 2");
    check(grpo_preference_margin_control(0.25, 3, 2.5) == 0.25 && grpo_preference_margin_control(0.4375, 4, 2.5) == 0.4375, "ties of q");
    check(isnan(grpo_preference_margin_control(NAN, 1, 1)) && isnan(grpo_preference_margin_control(1, INFINITY, 1)), "preference: NaN");
    check(isnan(grpo_preference_margin_control(1, 1, -INFINITY)), "preference: loss");
    check(grpo_jensen_shannon(-1, -800, 0.5) > 0 && grpo_is_finite(grpo_jensen_shannon(-1e4, -1, 1e-15)), "jensen_shannon far apart");
}

/* ---- trackers, samplers, allocators --------------------------------------------------------------------------------------------- */

enum { LIST = 12 };

static int descending_number(const void *a, const void *b) {
    const sorted_token *p = a, *q = b;
    return p->x > q->x ? -1 : p->x < q->x ? 1 : p->rank < q->rank ? -1 : 1;
}

static void test_counts(rng *r) {
    const double alpha = 10 * rng_unit(r), beta = rng_chance(r, 20) ? 0 : 5 * rng_unit(r), decay = rng_chance(r, 10) ? 1 : rng_unit(r);
    const double k = (double)rng_below(r, 9), e = rng_bell(r), x = rng_chance(r, 20) ? e : rng_bell(r), c = rng_bell(r), p = rng_unit(r);
    const grpo_counts found = grpo_decayed_counts(alpha, beta, decay, k, 8 - k);
    const grpo_target_coef target = grpo_entropy_target_coef(e, x, c);
    const int64_t n = 1 + rng_below(r, 40), step = rng_below(r, 1000), steps = rng_below(r, 3) * 333;
    const reference_real q = 1 - (reference_real)p, moved = (1 - (reference_real)decay) * x + (reference_real)decay * e;
    reference_real right = 1, wrong = 1, budget = alpha + 1;
    judge("decayed_counts", found.alpha, (reference_real)decay * alpha + k, (reference_real)decay * alpha + k, 0);
    judge("decayed_counts", found.beta, (reference_real)decay * beta + 8 - k, (reference_real)decay * beta + 8 - k, 0);
    judge("moving_average", grpo_moving_average(e, x, decay), moved, ref_abs((1 - (reference_real)decay) * x) + ref_abs(decay * e), 0);
    for (int64_t j = 0; j < n; j++) { right *= p; wrong *= q; }
    judge("informative_probability", grpo_informative_probability(p, n), 1 - right - wrong, right + 1 - wrong, 0);
    check(target.coef == (e == x ? 0 : e < x ? c : -c), "entropy_target_coef");
    judge("entropy_target_coef", target.value, c * ref_abs((reference_real)e - x), ref_abs(c) * (ref_abs(e) + ref_abs(x)), 0);
    judge("kl_hinge", grpo_kl_hinge(e, x, c), e > x ? c * ((reference_real)e - x) : 0, ref_abs(c) * (ref_abs(e) + ref_abs(x)), 0);
    judge("linear_decay", grpo_linear_decay(c, (double)step, (double)steps),
          steps == 0 ? c : step > steps ? 0 : c * (1 - (reference_real)step / steps), ref_abs(c), 0);
    for (int64_t j = 0; j < step / 100; j++) budget *= decay > 0 ? decay : 1;
    if (budget < 1) budget = 1;
    judge("count_budget", grpo_count_budget(alpha + 1, decay > 0 ? decay : 1, step, 100), budget, budget, 0);
}

static void test_quantile_track(rng *r) {
    double q[LIST], level[LIST], S[LIST], found[LIST];
    const int64_t n = rng_below(r, LIST), m = 1 + rng_below(r, LIST - 1);
    const double rate = rng_unit(r);
    for (int64_t k = 0; k < LIST; k++) { q[k] = (double)rng_below(r, 5); level[k] = rng_unit(r); S[k] = (double)rng_below(r, 5); }
    check(grpo_quantile_track(q, level, n, rate, S, m, found) == GRPO_OK, "quantile_track");
    for (int64_t k = 0; k < n; k++) {
        int64_t below = 0;
        for (int64_t j = 0; j < m; j++) below += S[j] < q[k];
        judge("quantile_track", found[k], q[k] + rate * (level[k] - (reference_real)below / m),
              q[k] + rate * (level[k] + (reference_real)below / m), 0);
    }
}

/* the mean of d or of its magnitude over the mask of sequences begin .. end - 1 */
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
    check(grpo_decay_by_drift(&t->view, half, low, high, &decay) == GRPO_OK, "decay_by_drift");
    judge("decay_by_drift", decay, expected, expected, 0);
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

static reference_real knapsack_value(double p, int64_t N) {
    const reference_real q = 1 - (reference_real)p;
    reference_real right = 1, wrong = 1;
    for (int64_t j = 0; j < N; j++) { right *= p; wrong *= q; }
    return (1 - right - wrong) * p * q * q;
}

/* the best sum that any choice of counts has */
static reference_real best_allocation(const double *p, int64_t n, int64_t low, int64_t high, int64_t total) {
    reference_real best = -1, x;
    if (n == 0) return 0;
    for (int64_t N = low; N <= high && N + (n - 1) * low <= total; N++) {
        x = knapsack_value(p[0], N) + best_allocation(p + 1, n - 1, low, high, total - N);
        if (x > best) best = x;
    }
    return best;
}

static void test_allocate(rng *r) {
    static const double lattice[] = { 0, 0.125, 0.25, 0.5, 0.75, 1 };
    double p[4];
    int64_t count[4], expected[4], sum = 0;
    const int64_t n = 1 + rng_below(r, 4), low = 1 + rng_below(r, 3), high = low + rng_below(r, 6), total = n * low + rng_below(r, 20);
    const int many = rng_chance(r, 5);                                  /* powers that no double holds */
    reference_real found = 0;
    for (int64_t k = 0; k < n; k++) p[k] = rng_chance(r, 60) ? rng_pick(r, lattice, 6) : rng_unit(r);
    if (many) p[0] = 0.5;
    check(grpo_allocate(p, n, low, high, total, count) == GRPO_OK, "allocate");
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
    double q[LIST];
    int64_t index[LIST];
    sorted_token sorted[LIST];
    const int64_t n = rng_below(r, LIST), count = rng_below(r, n + 1);
    for (int64_t k = 0; k < n; k++) {
        q[k] = rng_chance(r, 50) ? rng_pick(r, lattice, 7) : rng_unit(r);
        sorted[k].rank = k;
        sorted[k].x = q[k] * (1 - (reference_real)q[k]) * (1 - (reference_real)q[k]);
    }
    qsort(sorted, (size_t)n, sizeof *sorted, descending_number);
    check(grpo_value_information(q, n, count, index) == GRPO_OK, "value_information");
    for (int64_t k = 0; k < count; k++) check(index[k] == sorted[k].rank, "value_information: place %lld", (long long)k);
}

static void test_downsample(rng *r) {
    double A[LIST];
    int64_t index[LIST], best = 0;
    sorted_token sorted[LIST];
    const int64_t n = rng_below(r, LIST), count = rng_below(r, n + 1);
    reference_real most = -1;
    const double unit = rng_chance(r, 20) ? 0x1p400 : 1;
    for (int64_t k = 0; k < n; k++) {
        A[k] = (double)(rng_below(r, 9) - 4) / 4 * unit;
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
    check(grpo_downsample_variance(A, n, count, index) == GRPO_OK, "downsample_variance");
    for (int64_t k = 0; k < count; k++)
        check(index[k] == sorted[k < best ? k : n - count + k].rank, "downsample_variance: place %lld", (long long)k);
}

static void test_advantage_keep(rng *r) {
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
    check(grpo_advantage_keep(A, n, 0.5, multiple, positive, keep) == GRPO_OK, "advantage_keep");
    for (int64_t k = 0; k < m; k++) check(keep[sorted[k].rank] == (k < kept), "advantage_keep: place %lld", (long long)k);
    for (int64_t k = 0; k < n; k++) check(!positive || A[k] > 0 || !keep[k], "advantage_keep: not positive");
}

static void test_mix(rng *r) {
    double x[LIST], y[LIST], found[LIST], diversity[LIST];
    const double a = rng_bell(r), b = rng_bell(r);
    for (int k = 0; k < LIST; k++) { x[k] = rng_bell(r); y[k] = rng_chance(r, 20) ? -a * x[k] / b : rng_bell(r); }
    check(grpo_mix_advantages(x, y, LIST, a, b, found) == GRPO_OK, "mix_advantages");
    for (int k = 0; k < LIST; k++) check(found[k] == (double)((reference_real)a * x[k] + (reference_real)b * y[k]), "mix_advantages");
    for (int k = 0; k < LIST; k++) { x[k] = rng_unit(r); diversity[k] = rng_unit(r); }
    check(grpo_visit_value(x, diversity, LIST, a, b, found) == GRPO_OK, "visit_value");
    for (int k = 0; k < LIST; k++) {
        const reference_real V = a * (x[k] * (1 - (reference_real)x[k])), D = (reference_real)b * diversity[k];
        judge("visit_value", found[k], V + D, ref_abs(V) + ref_abs(D), 0);
    }
}

static void test_group_keeps(rng *r, trial *t) {
    uint8_t *keep = test_alloc(t->b.n_groups, 1), *valid = test_alloc(t->b.n_sequences, 1);
    int64_t *index = test_alloc(t->b.n_sequences, sizeof *index), count = -1, n = 0;
    const double least = rng_chance(r, 30) ? 0 : rng_chance(r, 50) ? 0.5 : rng_unit(r);
    check(grpo_spread_keep(&t->view, least, keep) == GRPO_OK, "spread_keep");
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
            check(keep[g] == (excess >= 0), "spread_keep: group %lld", (long long)g);
        for (int64_t j = 0; 2 * good > G && j < G; j++, n++) {
            int64_t i = begin;
            for (passed = valid[i]; passed <= j % good; passed += valid[++i]) { }
            check(n < count && index[n] == i, "pad_valid: place %lld", (long long)n);
        }
    }
    check(n == count, "pad_valid: %lld indices", (long long)count);
    free(keep); free(valid); free(index);
}

static void test_probability_select(rng *r, trial *t) {
    const double x = rng_chance(r, 10) ? 0 : rng_chance(r, 10) ? 1 : rng_unit(r);
    check(grpo_probability_select(&t->view, x, t->selected) == GRPO_OK, "probability_select");
    for (int64_t k = 0; k < t->total; k++) {
        const int64_t s = t->place[k];
        const double o = t->b.mask[s] ? (double)t->view.logp_old[s] : 0;
        const int below = x > 0 && (o < -20000 || (o < 1 && ref_exp(o) < x));
        check(t->selected[s] == (t->b.mask[s] && below), "probability_select: slot %lld", (long long)s);
    }
}

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

static void test_preference_of_lengths(rng *r, trial *t) {
    double *length = test_alloc(t->b.n_sequences, sizeof *length), *weight = test_alloc(t->b.n_sequences, sizeof *weight);
    double *slope = test_alloc(t->b.n_sequences, sizeof *slope);
    const double k = rng_chance(r, 50) ? 1.0 / 9 : 2 * rng_bell(r), lambda = rng_chance(r, 30) ? 0 : rng_bell(r);
    for (int64_t i = 0; i < t->b.n_sequences; i++) length[i] = (double)rng_below(r, rng_chance(r, 50) ? 2 : 1000);
    if (grpo_length_preference(&t->view, length, k, lambda, weight, slope) != GRPO_OK) check(lambda < 0, "length_preference");
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
            if (P < 1e-290) continue;                                      /* less than its factors are known to */
            judge("length_preference", weight[i], P, P, 0);
            judge("length_preference", slope[i], P * (h * y - tilt / total), P * (h * ref_abs(y) + tilt_size / total), 0);
        }
    }
    free(length); free(weight); free(slope);
}

static reference_real ref_log_entropy(double H) { return ref_ln(H * (reference_real)100000000 > 1 ? H : (reference_real)1 / 100000000); }

static void test_entropy_standard(rng *r, trial *t) {
    sorted_list l = list_of(t);
    grpo_real *entropy = more_tokens(r, t, 0, 3), *found = no_tokens(t);
    const double quantiles[] = { 0.8, 0, 1, 0.5, rng_unit(r) }, q = rng_pick(r, quantiles, 5);
    const int coded = rng_chance(r, 50);
    const reference_real tiny = (reference_real)1 / 100000000;
    reference_real m, square = 0, above = 0, below = 0, s;
    int64_t rank = 1;
    if (rng_chance(r, 30)) for (int64_t j = 0; j < l.n; j++) entropy[l.token[j].slot] = rng_chance(r, 50) ? 0 : (grpo_real)0.75;
    t->view.entropy = entropy;
    check(grpo_entropy_standard(&t->view, q, coded ? GRPO_STANDARD_CODED : GRPO_STANDARD_INTENDED, found) == GRPO_OK, "entropy_standard");
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
        judge("entropy_standard", (double)found[l.token[j].slot], x, ref_abs(x), 1);
    }
    for (int64_t k = 0; k < t->total; k++) if (!t->b.mask[t->place[k]]) check(found[t->place[k]] == 0, "entropy_standard: masked");
    free(l.token); free(entropy); free(found);
}

static void test_random_state(void) {
    rng r = { 22 };
    for (int k = 0; k < 600; k++) {
        trial t;
        trial_make(&r, &t);
        test_drift(&r, &t);
        test_group_keeps(&r, &t);
        test_probability_select(&r, &t);
        if (t.b.n_sequences < 300) test_median(&r, &t);
        if (t.b.n_sequences < 300) test_preference_of_lengths(&r, &t);
        test_entropy_standard(&r, &t);
        trial_free(&t);
    }
    for (int k = 0; k < 3000; k++) {
        test_counts(&r);
        test_quantile_track(&r);
        test_information(&r);
        test_downsample(&r);
        test_advantage_keep(&r);
        test_mix(&r);
        if (k % 3 == 0) test_allocate(&r);
    }
}

/* ---- statuses ------------------------------------------------------------------------------------------------------------------- */

enum {
    TOP = 1, LARGEST = 2, BETWEEN = 4, MOMENT_ALL = 8, DRIFTING = 16, COVARIANCE = 32, BOUNDS = 64, KEEP = 128, WEIGHTS = 256, SCORE = 512,
    RESAMPLE = 1024, VALUE = 1 << 11, PROXIMAL = 1 << 12, SAMPLE = 1 << 13, COST = 1 << 14, KEY = 1 << 15, BELOW = 1 << 16, CLIPV = 1 << 17,
    JSD = 1 << 18, DISTRIBUTION = 1 << 19, DIVERSITY = 1 << 20, RUNNING = 1 << 21, SUBSET = 1 << 22, REGRET = 1 << 23,
    CLIPS = BELOW | CLIPV, LISTS = RESAMPLE | DIVERSITY | RUNNING | SUBSET | REGRET, ALL = (1 << 24) - 1, BATCH = ALL - LISTS,
    MOMENTS = MOMENT_ALL | DRIFTING, BY = TOP | LARGEST | BETWEEN
};
enum { TOKENS = 8, SEQUENCES = 4, GROUPS = 2, MASKED = 2, DRAWS = 3 };

typedef struct {
    uint8_t selected[TOKENS], keep[GROUPS];
    grpo_real covariance[TOKENS];
    double weight[SEQUENCES], score[GROUPS];
    int64_t index[DRAWS];
    grpo_bounds bounds;
    grpo_value_report value;
    grpo_real tokens[TOKENS], shaped[SEQUENCES];
    double list[SEQUENCES], number;
} results;

typedef struct {
    grpo_batch batch;
    int64_t group_begin[GROUPS + 1], offset[SEQUENCES], length[SEQUENCES], order[TOKENS];
    grpo_real logp[TOKENS], logp_old[TOKENS], logp_rollout[TOKENS], advantage[TOKENS], by[TOKENS], reward[SEQUENCES];
    uint8_t mask[TOKENS];
    double fraction, low, high, threshold, power, eps, weight[SEQUENCES], uniform[DRAWS];
    int64_t count, n, draws;
    grpo_balance balance;
    const grpo_batch *pass_batch;
    const grpo_real *pass_by, *pass_advantage;
    const int64_t *pass_order;
    const grpo_balance *pass_balance;
    const double *pass_weight, *pass_uniform;
    int bad_form, no_output;
    /* beside the axes */
    grpo_real entropy[TOKENS], teacher[TOKENS], value[TOKENS], value_old[TOKENS], returns[TOKENS], expected[TOKENS], tempered[TOKENS];
    int64_t behaviour[TOKENS], token[TOKENS], version, capacity, responses[SEQUENCES], list_n, subset_n, subset_count;
    double clip, mu, beta, coef, momentum, start, current, base, tie;
    double difficulty[SEQUENCES], amount[3][SEQUENCES], numbers[SEQUENCES], score[SEQUENCES], similarity[SEQUENCES * SEQUENCES];
    uint8_t correct[SEQUENCES];
    grpo_aggregation aggregation;
    grpo_cost cost;
    grpo_key_measure measure;
    grpo_token_place places[TOKENS];
    const grpo_real *pass_value, *pass_value_old, *pass_returns, *pass_expected, *pass_tempered;
    const int64_t *pass_behaviour, *pass_token, *pass_responses;
    const double *pass_numbers, *pass_score, *pass_similarity;
    const uint8_t *pass_correct;
    const grpo_aggregation *pass_aggregation;
    const grpo_cost *pass_cost;
    const grpo_key_measure *pass_measure;
    grpo_token_place *pass_places;
    results out, before;
} setup;

static void setup_beside(setup *s) {
    const grpo_key_measure measure = { 1, 1, 1, 1, -1 };
    for (int t = 0; t < TOKENS; t++) {
        s->entropy[t] = (grpo_real)(0.25 * t); s->teacher[t] = (grpo_real)(-0.5 * t); s->tempered[t] = -2; s->expected[t] = 1;
        s->value[t] = (grpo_real)t; s->value_old[t] = 1; s->returns[t] = 2;
        s->token[t] = t % 3; s->behaviour[t] = t;
    }
    s->entropy[MASKED] = s->teacher[MASKED] = s->tempered[MASKED] = s->expected[MASKED] = (grpo_real)NAN;
    s->value[MASKED] = s->value_old[MASKED] = s->returns[MASKED] = (grpo_real)NAN;
    s->behaviour[MASKED] = -1;
    for (int i = 0; i < SEQUENCES; i++) {
        s->responses[i] = i; s->numbers[i] = 0.5 * i; s->score[i] = -0.5 * i; s->difficulty[i] = 0.25 * i; s->correct[i] = i % 2 == 1;
        for (int k = 0; k < 3; k++) s->amount[k][i] = i + k;
        for (int k = 0; k < SEQUENCES; k++) s->similarity[i * SEQUENCES + k] = 1;
    }
    s->batch.entropy = s->entropy; s->batch.logp_teacher = s->teacher;
    s->version = 8; s->capacity = TOKENS; s->list_n = SEQUENCES; s->subset_n = SEQUENCES; s->subset_count = 2;
    s->clip = 0.5; s->mu = 1; s->beta = 0.5; s->coef = 1; s->momentum = 0.95; s->current = 0.25; s->base = 0.5; s->tie = 1e-6;
    s->aggregation.kind = GRPO_SEQ_MEAN_CONSTANT; s->aggregation.constant = 8;
    s->cost.output = s->amount[0]; s->cost.input = s->amount[1]; s->cost.turns = s->amount[2];
    s->cost.output_coef = s->cost.input_coef = s->cost.turns_coef = 0.25;
    s->measure = measure;
    s->pass_value = s->value; s->pass_value_old = s->value_old; s->pass_returns = s->returns; s->pass_expected = s->expected;
    s->pass_tempered = s->tempered; s->pass_behaviour = s->behaviour; s->pass_token = s->token; s->pass_responses = s->responses;
    s->pass_numbers = s->numbers; s->pass_score = s->score; s->pass_similarity = s->similarity; s->pass_correct = s->correct;
    s->pass_aggregation = &s->aggregation; s->pass_cost = &s->cost; s->pass_measure = &s->measure; s->pass_places = s->places;
}

static void setup_make(setup *s) {
    static const int64_t group_begin[] = { 0, 2, 4 }, length[] = { 3, 2, 0, 3 }, offset[] = { 0, 3, 5, 5 };
    const grpo_balance balance = { 0.6, 1.2, 0.8, 2, 0.05, 1 };
    memset(s, 0, sizeof *s);
    memcpy(s->group_begin, group_begin, sizeof group_begin);
    memcpy(s->length, length, sizeof length);
    memcpy(s->offset, offset, sizeof offset);
    for (int t = 0; t < TOKENS; t++) {
        s->mask[t] = t != MASKED;
        s->order[t] = TOKENS - 1 - t;
        s->logp[t] = (grpo_real)(-0.125 * t); s->logp_old[t] = -1; s->logp_rollout[t] = (grpo_real)(-0.25 * t);
        s->advantage[t] = (grpo_real)(t - 3); s->by[t] = (grpo_real)(t % 3);
    }
    s->logp[MASKED] = s->logp_old[MASKED] = s->logp_rollout[MASKED] = s->advantage[MASKED] = s->by[MASKED] = (grpo_real)NAN;
    for (int i = 0; i < SEQUENCES; i++) { s->reward[i] = (grpo_real)i; s->weight[i] = i; }
    s->batch.n_groups = GROUPS; s->batch.group_begin = s->group_begin; s->batch.offset = s->offset; s->batch.length = s->length;
    s->batch.n_tokens = TOKENS; s->batch.logp = s->logp; s->batch.logp_old = s->logp_old; s->batch.logp_rollout = s->logp_rollout;
    s->batch.mask = s->mask; s->batch.reward = s->reward;
    s->fraction = 0.5; s->low = 0; s->high = 3; s->threshold = 0.5; s->power = 2; s->eps = 1;
    s->count = 2; s->n = SEQUENCES; s->draws = DRAWS;
    s->balance = balance;
    s->pass_batch = &s->batch; s->pass_by = s->by; s->pass_advantage = s->advantage; s->pass_order = s->order;
    s->pass_balance = &s->balance; s->pass_weight = s->weight; s->pass_uniform = s->uniform;
    setup_beside(s);
    memset(&s->out, 0x5a, sizeof s->out);
    s->before = s->out;
}

#define OUT(place) (s->no_output ? NULL : (place))
static grpo_status call_top(setup *s) { return grpo_select_top(s->pass_batch, s->pass_by, s->fraction, OUT(s->out.selected)); }
static grpo_status call_largest(setup *s) { return grpo_select_largest(s->pass_batch, s->pass_by, s->count, OUT(s->out.selected)); }
static grpo_status call_between(setup *s) {
    return grpo_select_between(s->pass_batch, s->pass_by, s->low, s->high, NULL, s->pass_order, s->count, OUT(s->out.selected));
}
static grpo_second_moment_form form_of(const setup *s, grpo_second_moment_form right) {
    const int wrong = 2;
    grpo_second_moment_form form = right;
    if (s->bad_form) memcpy(&form, &wrong, sizeof form);
    return form;
}
static grpo_status call_moment_all(setup *s) {
    return grpo_select_second_moment(s->pass_batch, NULL, form_of(s, GRPO_SECOND_MOMENT_ALL), s->threshold, OUT(s->out.selected));
}
static grpo_status call_drifting(setup *s) {
    return grpo_select_second_moment(s->pass_batch, s->pass_advantage, form_of(s, GRPO_SECOND_MOMENT_DRIFTING), s->threshold,
                                     OUT(s->out.selected));
}
static grpo_status call_covariance(setup *s) { return grpo_covariance(s->pass_batch, s->pass_advantage, OUT(s->out.covariance)); }
static grpo_status call_bounds(setup *s) {
    return grpo_balanced_bounds(s->pass_batch, s->pass_advantage, s->pass_balance, OUT(&s->out.bounds));
}
static grpo_status call_keep(setup *s) { return grpo_keep_between(s->pass_batch, s->low, s->high, OUT(s->out.keep)); }
static grpo_status call_weights(setup *s) { return grpo_resampling_weights(s->pass_batch, s->power, s->eps, OUT(s->out.weight)); }
static grpo_status call_score(setup *s) { return grpo_replay_score(s->pass_batch, s->pass_advantage, OUT(s->out.score)); }
static grpo_status call_resample(setup *s) { return grpo_resample(s->pass_weight, s->n, s->pass_uniform, s->draws, OUT(s->out.index)); }

static grpo_status call_value(setup *s) {
    return grpo_value_loss(s->pass_batch, s->pass_value, s->pass_value_old, s->pass_returns, s->clip, s->pass_aggregation, s->out.tokens,
                           OUT(&s->out.value));
}
static grpo_status call_proximal(setup *s) {
    const int wrong = 2;
    grpo_proximal_form form = GRPO_PROXIMAL_LINEAR;
    if (s->bad_form) memcpy(&form, &wrong, sizeof form);
    return grpo_proximal_logp(s->pass_batch, s->version, s->pass_behaviour, form, OUT(s->out.tokens));
}
static grpo_status call_sample(setup *s) { return grpo_sample_weights(s->pass_batch, s->difficulty, 1, OUT(s->out.weight)); }
static grpo_status call_cost(setup *s) { return grpo_relative_cost(s->pass_batch, s->pass_cost, OUT(s->out.shaped)); }
static grpo_status call_key(setup *s) {
    return grpo_key_tokens(s->pass_batch, s->pass_token, s->pass_measure, s->pass_places, s->capacity, OUT(s->out.tokens));
}
static grpo_status call_below(setup *s) { return grpo_clip_below(s->pass_batch, s->pass_advantage, s->mu, OUT(s->out.selected)); }
static grpo_status call_clip_value(setup *s) {
    return grpo_clip_value(s->pass_batch, s->pass_advantage, s->pass_expected, s->mu, s->fraction, OUT(s->out.selected));
}
static grpo_status call_jsd(setup *s) { return grpo_jsd_advantage(s->pass_batch, s->beta, s->coef, OUT(s->out.tokens)); }
static grpo_status call_distribution(setup *s) {
    return grpo_distribution_advantage(s->pass_batch, s->pass_advantage, s->pass_tempered, s->pass_correct, s->current, s->base,
                                       OUT(s->out.tokens));
}
static grpo_status call_diversity(setup *s) {
    return grpo_diversity_reward(s->pass_numbers, s->pass_similarity, s->list_n, s->tie, OUT(s->out.list));
}
static grpo_status call_running(setup *s) {
    double baseline = s->start;
    const grpo_status st = grpo_running_baseline(s->pass_numbers, s->list_n, s->momentum, s->out.list, OUT(&baseline));
    if (!st) s->out.number = baseline;
    return st;
}
static grpo_status call_subset(setup *s) {
    return grpo_balanced_subset(s->pass_numbers, s->subset_n, s->subset_count, s->low, s->high, OUT(s->out.index));
}
static grpo_status call_regret(setup *s) {
    return grpo_regret_temperature(s->pass_responses, s->pass_score, s->list_n, OUT(&s->out.number));
}

static const struct { int bit; const char *name; grpo_status (*make)(setup *s); } calls[] = {
    { TOP, "select_top", call_top }, { LARGEST, "select_largest", call_largest }, { BETWEEN, "select_between", call_between },
    { MOMENT_ALL, "select_second_moment all", call_moment_all }, { DRIFTING, "select_second_moment drifting", call_drifting },
    { COVARIANCE, "covariance", call_covariance }, { BOUNDS, "balanced_bounds", call_bounds }, { KEEP, "keep_between", call_keep },
    { WEIGHTS, "resampling_weights", call_weights }, { SCORE, "replay_score", call_score }, { RESAMPLE, "resample", call_resample },
    { VALUE, "value_loss", call_value }, { PROXIMAL, "proximal_logp", call_proximal }, { SAMPLE, "sample_weights", call_sample },
    { COST, "relative_cost", call_cost }, { KEY, "key_tokens", call_key }, { BELOW, "clip_below", call_below },
    { CLIPV, "clip_value", call_clip_value }, { JSD, "jsd_advantage", call_jsd },
    { DISTRIBUTION, "distribution_advantage", call_distribution }, { DIVERSITY, "diversity_reward", call_diversity },
    { RUNNING, "running_baseline", call_running }, { SUBSET, "balanced_subset", call_subset },
    { REGRET, "regret_temperature", call_regret },
};

/* a place in a setup, and what is put there */
typedef enum { A_POINTER, AN_INT64, A_DOUBLE, AN_ELEMENT, A_FLAG } place_kind;
typedef struct { int rule, calls; const char *thing; size_t place; place_kind kind; double value; } fault;
#define AT(member) offsetof(setup, member)
#define TOKEN(array, t) (offsetof(setup, array) + (t) * sizeof(grpo_real))

static void put(setup *s, const fault *f) {
    char *at = (char *)s + f->place;
    const int64_t count = fabs(f->value) < 9e18 ? (int64_t)f->value : 0;
    const grpo_real x = (grpo_real)f->value;
    const int flag = 1;
    switch (f->kind) {
    case A_POINTER:  memset(at, 0, sizeof(void *)); break;
    case AN_INT64:   memcpy(at, &count, sizeof count); break;
    case A_DOUBLE:   memcpy(at, &f->value, sizeof f->value); break;
    case AN_ELEMENT: memcpy(at, &x, sizeof x); break;
    default:         memcpy(at, &flag, sizeof flag);
    }
}

static void test_fault(const fault *f) {
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
        setup s;
        grpo_status st;
        setup_make(&s);
        put(&s, f);
        st = calls[k].make(&s);
        if (!(f->calls & calls[k].bit)) check(st == GRPO_OK, "%s, %s: \"%s\"", calls[k].name, f->thing, status_line(st));
        else check(says(calls[k].name, st, f->rule, f->thing), "%s: \"%s\" instead of %s: %s", calls[k].name, status_line(st), f->thing,
                   grpo_status_text(f->rule));
        if (st) check(!memcmp(&s.out, &s.before, sizeof s.out), "%s, %s: something has been written", calls[k].name, status_line(st));
        else check(memcmp(&s.out, &s.before, sizeof s.out) != 0, "%s has written nothing", calls[k].name);
    }
}

enum { LOGP_CALLS = DRIFTING | COVARIANCE | BOUNDS | PROXIMAL | CLIPS, OLD_CALLS = MOMENTS | BOUNDS | JSD | DISTRIBUTION,
       ADVANTAGE_CALLS = DRIFTING | COVARIANCE | BOUNDS | SCORE | CLIPS | DISTRIBUTION, REWARD_CALLS = KEEP | WEIGHTS | SCORE | COST | KEY,
       ROLLOUT_CALLS = MOMENT_ALL | PROXIMAL, NUMBER_CALLS = DIVERSITY | RUNNING | SUBSET };

static const fault faults[] = {
    { GRPO_NULL, BATCH, "batch", AT(pass_batch), A_POINTER, 0 },
    { GRPO_NULL, ALL, "last", AT(no_output), A_FLAG, 0 },
    { GRPO_NEGATIVE, BATCH, "batch.n_groups", AT(batch.n_groups), AN_INT64, -1 },
    { GRPO_NULL, BATCH, "batch.group_begin", AT(batch.group_begin), A_POINTER, 0 },
    { GRPO_NULL, BATCH, "batch.offset", AT(batch.offset), A_POINTER, 0 },
    { GRPO_NULL, BATCH, "batch.length", AT(batch.length), A_POINTER, 0 },
    { GRPO_NOT_INCREASING, BATCH, "batch.group_begin[1]", AT(group_begin[1]), AN_INT64, 0 },
    { GRPO_NEGATIVE, BATCH, "batch.length[0]", AT(length[0]), AN_INT64, -1 },
    { GRPO_PAST_END, BATCH, "batch.length[3], batch.n_tokens", AT(offset[3]), AN_INT64, 6 },
    { GRPO_NULL, BY, "by", AT(pass_by), A_POINTER, 0 },
    { GRPO_NULL, LOGP_CALLS, "batch.logp", AT(batch.logp), A_POINTER, 0 },
    { GRPO_NULL, OLD_CALLS, "batch.logp_old", AT(batch.logp_old), A_POINTER, 0 },
    { GRPO_NULL, ROLLOUT_CALLS, "batch.logp_rollout", AT(batch.logp_rollout), A_POINTER, 0 },
    { GRPO_NULL, ADVANTAGE_CALLS, "advantage", AT(pass_advantage), A_POINTER, 0 },
    { GRPO_NULL, REWARD_CALLS, "batch.reward", AT(batch.reward), A_POINTER, 0 },
    { GRPO_NULL, BETWEEN, "order", AT(pass_order), A_POINTER, 0 },
    { GRPO_NULL, BOUNDS, "balance", AT(pass_balance), A_POINTER, 0 },
    { GRPO_NULL, RESAMPLE, "weight", AT(pass_weight), A_POINTER, 0 },
    { GRPO_NULL, RESAMPLE, "uniform", AT(pass_uniform), A_POINTER, 0 },
    { GRPO_NAN, BY, "by[7]", TOKEN(by, 7), AN_ELEMENT, NAN },
    { GRPO_INFINITE, BY, "by[0]", TOKEN(by, 0), AN_ELEMENT, -INFINITY },
    { GRPO_INFINITE, BY, "by[0]", TOKEN(by, 0), AN_ELEMENT, INFINITY },
    { GRPO_NAN, LOGP_CALLS, "batch.logp[7]", TOKEN(logp, 7), AN_ELEMENT, NAN },
    { GRPO_INFINITE, LOGP_CALLS, "batch.logp[0]", TOKEN(logp, 0), AN_ELEMENT, INFINITY },
    { GRPO_INFINITE, LOGP_CALLS, "batch.logp[0]", TOKEN(logp, 0), AN_ELEMENT, -INFINITY },
    { GRPO_NAN, OLD_CALLS, "batch.logp_old[7]", TOKEN(logp_old, 7), AN_ELEMENT, NAN },
    { GRPO_INFINITE, OLD_CALLS, "batch.logp_old[7]", TOKEN(logp_old, 7), AN_ELEMENT, -INFINITY },
    { GRPO_NAN, ROLLOUT_CALLS, "batch.logp_rollout[7]", TOKEN(logp_rollout, 7), AN_ELEMENT, NAN },
    { GRPO_INFINITE, ROLLOUT_CALLS, "batch.logp_rollout[7]", TOKEN(logp_rollout, 7), AN_ELEMENT, -INFINITY },
    { GRPO_NAN, ADVANTAGE_CALLS, "advantage[7]", TOKEN(advantage, 7), AN_ELEMENT, NAN },
    { GRPO_INFINITE, ADVANTAGE_CALLS, "advantage[0]", TOKEN(advantage, 0), AN_ELEMENT, INFINITY },
#ifdef GRPO_DOUBLE
    { GRPO_TOO_LARGE, ADVANTAGE_CALLS, "advantage[0]", TOKEN(advantage, 0), AN_ELEMENT, -2e150 },
    { GRPO_TOO_LARGE, LOGP_CALLS, "batch.logp[0]", TOKEN(logp, 0), AN_ELEMENT, -2e150 },
#endif
    { GRPO_NAN, REWARD_CALLS, "batch.reward[3]", TOKEN(reward, 3), AN_ELEMENT, NAN },
    { GRPO_INFINITE, REWARD_CALLS, "batch.reward[0]", TOKEN(reward, 0), AN_ELEMENT, -INFINITY },
    { GRPO_NOT_UNIT, TOP | CLIPV, "fraction", AT(fraction), A_DOUBLE, -0x1p-60 },
    { GRPO_NOT_UNIT, TOP | CLIPV, "fraction", AT(fraction), A_DOUBLE, 1.0001 },
    { GRPO_NAN, TOP | CLIPV, "fraction", AT(fraction), A_DOUBLE, NAN },
    { GRPO_NEGATIVE, LARGEST | BETWEEN, "count", AT(count), AN_INT64, -1 },
    { GRPO_NEGATIVE, RESAMPLE, "n", AT(n), AN_INT64, -1 },
    { GRPO_NEGATIVE, RESAMPLE, "draws", AT(draws), AN_INT64, -1 },
    { GRPO_NAN, BETWEEN | KEEP | SUBSET, "low", AT(low), A_DOUBLE, NAN },
    { GRPO_INFINITE, BETWEEN | KEEP | SUBSET, "low", AT(low), A_DOUBLE, -INFINITY },
    { GRPO_INFINITE, BETWEEN | KEEP | SUBSET, "high", AT(high), A_DOUBLE, INFINITY },
    { GRPO_NOT_PERMUTATION, BETWEEN, "order", AT(order[7]), AN_INT64, 8 },
    { GRPO_NOT_PERMUTATION, BETWEEN, "order", AT(order[0]), AN_INT64, -1 },
    { GRPO_NOT_PERMUTATION, BETWEEN, "order", AT(order[0]), AN_INT64, 5 },
    { GRPO_NOT_POSITIVE, MOMENTS, "threshold", AT(threshold), A_DOUBLE, 0 },
    { GRPO_NOT_POSITIVE, MOMENTS, "threshold", AT(threshold), A_DOUBLE, -1 },
    { GRPO_NAN, MOMENTS, "threshold", AT(threshold), A_DOUBLE, NAN },
    { GRPO_INFINITE, MOMENTS, "threshold", AT(threshold), A_DOUBLE, INFINITY },
    { GRPO_NOT_A_CHOICE, MOMENTS | PROXIMAL, "form", AT(bad_form), A_FLAG, 0 },
    { GRPO_NAN, BOUNDS, "balance[0]", AT(balance.low), A_DOUBLE, NAN },
    { GRPO_INFINITE, BOUNDS, "balance[1]", AT(balance.high), A_DOUBLE, -INFINITY },
    { GRPO_INFINITE, BOUNDS, "balance[2]", AT(balance.low_max), A_DOUBLE, INFINITY },
    { GRPO_TOO_LARGE, BOUNDS, "balance[3]", AT(balance.high_max), A_DOUBLE, 2e150 },
    { GRPO_NAN, BOUNDS, "balance[5]", AT(balance.target), A_DOUBLE, NAN },
    { GRPO_NOT_POSITIVE, BOUNDS, "balance[4]", AT(balance.step), A_DOUBLE, 0 },
    { GRPO_NAN, BOUNDS, "balance[4]", AT(balance.step), A_DOUBLE, NAN },
    { GRPO_INFINITE, BOUNDS, "balance[4]", AT(balance.step), A_DOUBLE, INFINITY },
    { GRPO_TOO_SMALL, BOUNDS, "balance[4]", AT(balance.step), A_DOUBLE, 1e-7 },
    { GRPO_TOO_SMALL, BOUNDS, "balance[4]", AT(balance.low), A_DOUBLE, -1e17 },
    { GRPO_NEGATIVE, WEIGHTS, "power", AT(power), A_DOUBLE, -1 },
    { GRPO_INFINITE, WEIGHTS, "power", AT(power), A_DOUBLE, INFINITY },
    { GRPO_NEGATIVE, WEIGHTS, "eps", AT(eps), A_DOUBLE, -1e-300 },
    { GRPO_NAN, WEIGHTS, "eps", AT(eps), A_DOUBLE, NAN },
    { GRPO_NAN, RESAMPLE, "weight[3]", AT(weight[3]), A_DOUBLE, NAN },
    { GRPO_NEGATIVE, RESAMPLE, "weight[0]", AT(weight[0]), A_DOUBLE, -1e-300 },
    { GRPO_INFINITE, RESAMPLE, "weight[0]", AT(weight[0]), A_DOUBLE, INFINITY },
    { GRPO_ZERO_SUM, RESAMPLE, "weight", AT(n), AN_INT64, 0 },
    { GRPO_ZERO_SUM, RESAMPLE, "weight", AT(n), AN_INT64, 1 },
    { GRPO_NOT_BELOW_ONE, RESAMPLE, "uniform[2]", AT(uniform[2]), A_DOUBLE, 1 },
    { GRPO_NEGATIVE, RESAMPLE, "uniform[0]", AT(uniform[0]), A_DOUBLE, -1e-300 },
    { GRPO_NAN, RESAMPLE, "uniform[0]", AT(uniform[0]), A_DOUBLE, NAN },
    { GRPO_NULL, VALUE, "value", AT(pass_value), A_POINTER, 0 },
    { GRPO_NULL, VALUE, "value_old", AT(pass_value_old), A_POINTER, 0 },
    { GRPO_NULL, VALUE, "returns", AT(pass_returns), A_POINTER, 0 },
    { GRPO_NULL, VALUE, "aggregation", AT(pass_aggregation), A_POINTER, 0 },
    { GRPO_NULL, PROXIMAL, "behaviour_version", AT(pass_behaviour), A_POINTER, 0 },
    { GRPO_NULL, COST, "cost", AT(pass_cost), A_POINTER, 0 },
    { GRPO_NULL, COST, "cost[1]", AT(cost.input), A_POINTER, 0 },
    { GRPO_NULL, NUMBER_CALLS, "reward", AT(pass_numbers), A_POINTER, 0 },
    { GRPO_NULL, DIVERSITY, "similarity", AT(pass_similarity), A_POINTER, 0 },
    { GRPO_NULL, KEY, "token", AT(pass_token), A_POINTER, 0 },
    { GRPO_NULL, KEY, "measure", AT(pass_measure), A_POINTER, 0 },
    { GRPO_NULL, CLIPV, "expected", AT(pass_expected), A_POINTER, 0 },
    { GRPO_NULL, REGRET, "length", AT(pass_responses), A_POINTER, 0 },
    { GRPO_NULL, REGRET, "score", AT(pass_score), A_POINTER, 0 },
    { GRPO_NULL, DISTRIBUTION, "tempered", AT(pass_tempered), A_POINTER, 0 },
    { GRPO_NULL, DISTRIBUTION, "correct", AT(pass_correct), A_POINTER, 0 },
    { GRPO_NULL, JSD, "batch.logp_teacher", AT(batch.logp_teacher), A_POINTER, 0 },
    { GRPO_INFINITE, JSD, "batch.logp_teacher[7]", TOKEN(teacher, 7), AN_ELEMENT, -INFINITY },
    { GRPO_NULL, CLIPS, "batch.entropy", AT(batch.entropy), A_POINTER, 0 },
    { GRPO_INFINITE, CLIPS, "batch.entropy[0]", TOKEN(entropy, 0), AN_ELEMENT, INFINITY },
    { GRPO_NAN, VALUE, "value[7]", TOKEN(value, 7), AN_ELEMENT, NAN },
    { GRPO_INFINITE, VALUE, "value_old[0]", TOKEN(value_old, 0), AN_ELEMENT, INFINITY },
    { GRPO_INFINITE, VALUE, "returns[0]", TOKEN(returns, 0), AN_ELEMENT, -INFINITY },
    { GRPO_NEGATIVE, VALUE, "clip", AT(clip), A_DOUBLE, -1e-300 },
    { GRPO_TOO_LARGE, VALUE, "clip", AT(clip), A_DOUBLE, 2e150 },
    { GRPO_NAN, VALUE, "clip", AT(clip), A_DOUBLE, NAN },
    { GRPO_NOT_POSITIVE, VALUE, "aggregation.constant", AT(aggregation.constant), A_DOUBLE, 0 },
    { GRPO_INFINITE, VALUE, "aggregation.power", AT(aggregation.power), A_DOUBLE, INFINITY },
    { GRPO_CROSSED, PROXIMAL, "behaviour_version[7], version", AT(version), AN_INT64, 6 },
    { GRPO_OUT_OF_RANGE, PROXIMAL, "version", AT(version), AN_INT64, 0x1p54 },
    { GRPO_NEGATIVE, PROXIMAL, "behaviour_version[0]", AT(behaviour[0]), AN_INT64, -1 },
    { GRPO_INFINITE, SAMPLE, "difficulty[3]", AT(difficulty[3]), A_DOUBLE, INFINITY },
    { GRPO_NAN, SAMPLE, "difficulty[0]", AT(difficulty[0]), A_DOUBLE, NAN },
    { GRPO_NEGATIVE, COST, "cost[0]", AT(amount[0][3]), A_DOUBLE, -1 },
    { GRPO_NAN, COST, "cost[2]", AT(amount[2][0]), A_DOUBLE, NAN },
    { GRPO_INFINITE, COST, "cost[5]", AT(cost.turns_coef), A_DOUBLE, INFINITY },
    { GRPO_TOO_LARGE, NUMBER_CALLS, "reward[3]", AT(numbers[3]), A_DOUBLE, 2e150 },
    { GRPO_NEGATIVE, REGRET, "length[1]", AT(responses[1]), AN_INT64, -1 },
    { GRPO_NAN, REGRET, "score[3]", AT(score[3]), A_DOUBLE, NAN },
    { GRPO_NAN, DIVERSITY, "similarity[15]", AT(similarity[15]), A_DOUBLE, NAN },
    { GRPO_INFINITE, DIVERSITY, "eps", AT(tie), A_DOUBLE, INFINITY },
    { GRPO_ZERO_SUM, DIVERSITY, "similarity[0]", AT(tie), A_DOUBLE, -4 },
    { GRPO_NEGATIVE, KEY, "measure[0]", AT(measure.fisher), A_DOUBLE, -1 },
    { GRPO_INFINITE, KEY, "measure[1]", AT(measure.gain), A_DOUBLE, INFINITY },
    { GRPO_NAN, KEY, "measure[2]", AT(measure.top), A_DOUBLE, NAN },
    { GRPO_NULL, KEY, "scratch", AT(pass_places), A_POINTER, 0 },
    { GRPO_TOO_SMALL, KEY, "capacity", AT(capacity), AN_INT64, 3 },
    { GRPO_NEGATIVE, DIVERSITY | RUNNING | REGRET, "n", AT(list_n), AN_INT64, -1 },
    { GRPO_NOT_UNIT, RUNNING, "momentum", AT(momentum), A_DOUBLE, 1 + 0x1p-52 },
    { GRPO_NAN, RUNNING, "momentum", AT(momentum), A_DOUBLE, NAN },
    { GRPO_INFINITE, RUNNING, "baseline[0]", AT(start), A_DOUBLE, INFINITY },
    { GRPO_OUT_OF_RANGE, SUBSET, "n", AT(subset_n), AN_INT64, 21 },
    { GRPO_NOT_POSITIVE, SUBSET, "count", AT(subset_count), AN_INT64, 0 },
    { GRPO_CROSSED, SUBSET, "count, n", AT(subset_count), AN_INT64, 5 },
    { GRPO_INFINITE, CLIPS, "mu", AT(mu), A_DOUBLE, -HUGE_VAL },
    { GRPO_NAN, CLIPS, "mu", AT(mu), A_DOUBLE, NAN },
    { GRPO_NAN, CLIPV, "expected[7]", TOKEN(expected, 7), AN_ELEMENT, NAN },
    { GRPO_NOT_UNIT, JSD, "beta", AT(beta), A_DOUBLE, 1 + 0x1p-52 },
    { GRPO_NAN, JSD, "beta", AT(beta), A_DOUBLE, NAN },
    { GRPO_INFINITE, JSD, "coef", AT(coef), A_DOUBLE, INFINITY },
    { GRPO_INFINITE, DISTRIBUTION, "tempered[0]", TOKEN(tempered, 0), AN_ELEMENT, -INFINITY },
    { GRPO_NAN, DISTRIBUTION, "entropy", AT(current), A_DOUBLE, NAN },
    { GRPO_INFINITE, DISTRIBUTION, "entropy_base", AT(base), A_DOUBLE, INFINITY },
};

/* a batch of no groups needs no arrays */
static void test_empty(void) {
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
        setup s;
        setup_make(&s);
        memset(&s.batch, 0, sizeof s.batch);
        s.pass_by = s.pass_advantage = NULL;
        s.pass_order = NULL;
        s.draws = s.list_n = 0;
        check(calls[k].make(&s) == GRPO_OK, "%s: an empty batch", calls[k].name);
        if (calls[k].bit == VALUE) check(s.out.value.loss == 0 && s.out.value.clip_fraction == 0, "value_loss of nothing");
        if (calls[k].bit & (VALUE | SUBSET | REGRET | RUNNING)) continue;
        if (calls[k].bit == BOUNDS) check(s.out.bounds.low == 0.6 && s.out.bounds.high == 1.2, "balanced_bounds of nothing");
        else check(!memcmp(&s.out, &s.before, sizeof s.out), "%s: an empty batch has results", calls[k].name);
    }
}

/* what takes more than one thing that is wrong */
static void test_other_statuses(void) {
    setup s;
    setup_make(&s);
    s.high = 0.25;
    check(says("balanced_subset", call_subset(&s), GRPO_NONE_LEFT, "low") && !memcmp(&s.out, &s.before, sizeof s.out), "no subset");
    s.measure.fisher = s.measure.gain = 0;
    check(says("key_tokens", call_key(&s), GRPO_ZERO, "measure[0]"), "no measure of the key");
    s.aggregation.kind = GRPO_TOKEN_MEAN; s.aggregation.constant = -1; s.clip = 0; s.pass_value_old = NULL;
    check(call_value(&s) == GRPO_OK, "value_loss: constant and value_old are not read");
    s.aggregation.kind = GRPO_TOKEN_MEAN_BY_SIGN;
    check(says("value_loss", call_value(&s), GRPO_NOT_A_CHOICE, "aggregation[0]"), "value_loss: no sign of an advantage");
    s.aggregation.kind = GRPO_TOKEN_MEAN_VARIED;
    check(says("value_loss", call_value(&s), GRPO_NOT_A_CHOICE, "aggregation[0]"), "value_loss: no rewards to differ");
    s.aggregation.kind = GRPO_TOKEN_MEAN;
    check(grpo_value_loss(&s.batch, s.value, NULL, s.returns, 0, &s.aggregation, NULL, &s.out.value) == GRPO_OK, "value_loss: no gradient");
}

/* ---- of trackers, samplers and allocators ---- */

static void expect_status(const char *call, grpo_status found, int rule, const char *thing) {
    check(says(call, found, rule, thing), "%s: \"%s\" instead of %s: %s", call, status_line(found), thing, grpo_status_text(rule));
}
#define expect(call, rule, thing) expect_status(#call, call, rule, thing)

static void test_batch_statuses(setup *s) {
    const grpo_batch *b = &s->batch;
    double *list = s->out.list, *weight = s->out.weight, x = 0;
    int64_t *index = s->out.index, room[SEQUENCES], n;
    uint8_t valid[SEQUENCES] = { 1, 1, 1, 1 };
    expect(grpo_decay_by_drift(b, 1, 0, 1, NULL), GRPO_NULL, "decay");
    expect(grpo_decay_by_drift(NULL, 1, 0, 1, &x), GRPO_NULL, "batch");
    expect(grpo_decay_by_drift(b, 0, 0, 1, &x), GRPO_NOT_POSITIVE, "half_life");
    expect(grpo_decay_by_drift(b, 1, 0, NAN, &x), GRPO_NAN, "high");
    expect(grpo_decay_by_drift(b, 1, 1, 0, &x), GRPO_CROSSED, "low, high");
    expect(grpo_turn_factor(b, NULL, 0, 1, list), GRPO_NULL, "factor");
    expect(grpo_turn_factor(b, s->weight, 1.5, 1, list), GRPO_NOT_UNIT, "low");
    expect(grpo_turn_factor(b, s->weight, 0, NAN, list), GRPO_NAN, "high");
    s->weight[3] = -1;
    expect(grpo_turn_factor(b, s->weight, 0, 1, list), GRPO_NEGATIVE, "factor[3]");
    expect(grpo_pad_valid(b, NULL, room, &n), GRPO_NULL, "valid");
    expect(grpo_pad_valid(b, valid, NULL, &n), GRPO_NULL, "index");
    expect(grpo_pad_valid(b, valid, room, NULL), GRPO_NULL, "count");
    expect(grpo_spread_keep(b, -1, s->out.keep), GRPO_NEGATIVE, "least");
    expect(grpo_median_advantage(b, NAN, list, index), GRPO_NAN, "eps");
    expect(grpo_median_advantage(b, 1, list, NULL), GRPO_NULL, "pivot");
    expect(grpo_probability_select(b, 1.5, s->out.selected), GRPO_NOT_UNIT, "probability");
    expect(grpo_length_preference(b, NULL, 1, 1, list, weight), GRPO_NULL, "length");
    expect(grpo_length_preference(b, s->difficulty, 1, 1, list, NULL), GRPO_NULL, "slope");
    expect(grpo_length_preference(b, s->difficulty, NAN, 1, list, weight), GRPO_NAN, "r");
    expect(grpo_length_preference(b, s->difficulty, 1, 2e149, list, weight), GRPO_OUT_OF_RANGE, "lambda");
    expect(grpo_length_preference(b, s->weight, 1, 1, list, weight), GRPO_NEGATIVE, "length[3]");
    expect(grpo_entropy_standard(b, 1.5, GRPO_STANDARD_CODED, s->out.tokens), GRPO_NOT_UNIT, "quantile");
    s->entropy[0] = (grpo_real)NAN;
    expect(grpo_entropy_standard(b, 1, GRPO_STANDARD_CODED, s->out.tokens), GRPO_NAN, "batch.entropy[0]");
    s->reward[0] = (grpo_real)NAN;
    expect(grpo_spread_keep(b, 1, s->out.keep), GRPO_NAN, "batch.reward[0]");
    expect(grpo_median_advantage(b, 1, list, index), GRPO_NAN, "batch.reward[0]");
    s->logp_old[0] = -(grpo_real)INFINITY;
    expect(grpo_probability_select(b, 0.5, s->out.selected), GRPO_INFINITE, "batch.logp_old[0]");
    expect(grpo_decay_by_drift(b, 1, 0, 1, &x), GRPO_INFINITE, "batch.logp_old[0]");
    check(!memcmp(&s->out, &s->before, sizeof s->out), "something has been written");
}

static void test_list_statuses(void) {
    const double half[] = { 0.5, 0.5 }, bad[] = { 0.5, 2e150 };
    double out[2];
    int64_t index[2];
    uint8_t keep[2];
    expect(grpo_quantile_track(half, half, 2, 1, half, 2, NULL), GRPO_NULL, "tracked");
    expect(grpo_quantile_track(half, half, -1, 1, half, 2, out), GRPO_NEGATIVE, "n");
    expect(grpo_quantile_track(NULL, half, 2, 1, half, 2, out), GRPO_NULL, "quantile");
    expect(grpo_quantile_track(half, NULL, 2, 1, half, 2, out), GRPO_NULL, "level");
    expect(grpo_quantile_track(half, half, 2, 1, NULL, 2, out), GRPO_NULL, "observed");
    expect(grpo_quantile_track(half, half, 2, 1, half, 0, out), GRPO_NOT_POSITIVE, "m");
    expect(grpo_quantile_track(bad, half, 2, 1, half, 2, out), GRPO_TOO_LARGE, "quantile[1]");
    expect(grpo_quantile_track(half, bad, 2, 1, half, 2, out), GRPO_TOO_LARGE, "level[1]");
    expect(grpo_quantile_track(half, half, 2, NAN, half, 2, out), GRPO_NAN, "rate");
    expect(grpo_allocate(NULL, 2, 1, 2, 4, index), GRPO_NULL, "p");
    expect(grpo_allocate(bad, 2, 1, 2, 4, index), GRPO_NOT_UNIT, "p[1]");
    expect(grpo_allocate(half, 2, 0, 2, 4, index), GRPO_NOT_POSITIVE, "low");
    expect(grpo_allocate(half, 2, 2, 1, 4, index), GRPO_CROSSED, "low, high");
    expect(grpo_allocate(half, 2, 2, 4, 3, index), GRPO_TOO_SMALL, "total");
    expect(grpo_value_information(NULL, 2, 1, index), GRPO_NULL, "draw");
    expect(grpo_value_information(bad, 2, 1, index), GRPO_NOT_UNIT, "draw[1]");
    expect(grpo_value_information(half, 2, 3, index), GRPO_CROSSED, "count, n");
    expect(grpo_visit_value(half, NULL, 2, 1, 1, out), GRPO_NULL, "diversity");
    expect(grpo_visit_value(half, bad, 2, 1, 1, out), GRPO_TOO_LARGE, "diversity[1]");
    expect(grpo_visit_value(half, half, 2, NAN, 1, out), GRPO_NAN, "alpha");
    expect(grpo_downsample_variance(NULL, 2, 1, index), GRPO_NULL, "advantage");
    expect(grpo_downsample_variance(bad, 2, 1, index), GRPO_TOO_LARGE, "advantage[1]");
    expect(grpo_downsample_variance(half, 2, -1, index), GRPO_NEGATIVE, "count");
    expect(grpo_advantage_keep(half, 2, -1, 1, 0, keep), GRPO_NEGATIVE, "least");
    expect(grpo_advantage_keep(half, 2, 1, -1, 0, keep), GRPO_NEGATIVE, "multiple");
    expect(grpo_advantage_keep(bad, 2, 1, 1, 0, keep), GRPO_TOO_LARGE, "advantage[1]");
    expect(grpo_mix_advantages(half, NULL, 2, 1, 1, out), GRPO_NULL, "y");
    expect(grpo_mix_advantages(half, bad, 2, 1, 1, out), GRPO_TOO_LARGE, "y[1]");
    expect(grpo_mix_advantages(half, half, 2, NAN, 1, out), GRPO_NAN, "a");
}

static void test_state_by_hand(void) {
    const double halves[] = { 0.5, 0.5 };
    const grpo_counts vade = grpo_decayed_counts(0.1, 8.4, 0.2, 1, 7);
    int64_t count[2];
    check(fabs(vade.alpha - 1.02) < 1e-15 && fabs(vade.beta - 8.68) < 1e-14, "decayed_counts: VADE's figure");
    check(fabs(grpo_informative_probability(0.5, 8) * 0.125 - 0.1240234375) < 1e-17, "Knapsack-RL's 8 at 1/2");
    check(grpo_informative_probability(0, 8) == 0 && grpo_informative_probability(1, 8) == 0 && grpo_informative_probability(0.3, 1) == 0,
          "informative_probability: never");
    check(grpo_allocate(halves, 2, 1, 2000, 3001, count) == GRPO_OK && count[0] == 1501 && count[1] == 1500, "allocate: 2^-1500");
    check(isnan(grpo_decayed_counts(-1, 1, 1, 1, 1).alpha) && isnan(grpo_decayed_counts(1, 1, 2, 1, 1).beta), "decayed_counts: NaN");
    check(isnan(grpo_informative_probability(1.5, 2)) && isnan(grpo_informative_probability(0.5, 0)), "informative_probability: NaN");
    check(isnan(grpo_moving_average(1, 1, 2)) && isnan(grpo_kl_hinge(NAN, 1, 1)), "moving_average, kl_hinge: NaN");
    check(isnan(grpo_entropy_target_coef(1, NAN, 1).coef) && isnan(grpo_linear_decay(1, NAN, 2)), "entropy_target_coef, linear_decay: NaN");
    check(isnan(grpo_count_budget(0, 1, 1, 1)) && isnan(grpo_count_budget(1, 0.5, 1, 0)), "count_budget: NaN");
    check(grpo_count_budget(256, 0.5, 299, 100) == 64 && grpo_count_budget(256, 0.5, 100000, 1) == 1, "count_budget");
}

static void test_statuses(void) {
    setup s;
    test_empty();
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
        setup_make(&s);
        check(calls[k].make(&s) == GRPO_OK, "%s: nothing is wrong", calls[k].name);
    }
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) test_fault(&faults[k]);
    test_other_statuses();
    setup_make(&s);
    test_batch_statuses(&s);
    test_list_statuses();
}

/* ---- the vectors ---------------------------------------------------------------------------------------------------------------- */

static void check_answers(const test_case *c, const call_result *r) {
    double *value = test_alloc(c->n_call, sizeof *value);
    uint8_t *given = test_alloc(c->n_call, 1);
    char why[200], where[120];
    *why = 0;
    check(!case_call_read(c, r->answers, value, given, why, sizeof why), "%s: %s", c->id, why);
    for (int64_t k = 0; k < c->n_call && !*why; k++) {
        const double expected = c->call.expect[k], scale = c->call.scale[k];
        const double error = r->elements ? compare_error(value[k], expected, scale, 1)
                                         : compare_error_in(&compare_f64, value[k], expected, scale);
        case_call_where(c, k, where, sizeof where);
        if (scale > 0) tally(c->function, error);
        check(given[k] && error <= COMPARE_LIMIT, "%s: %s is %.17g, expected %.17g, %.3g ulps", c->id, where, value[k], expected, error);
    }
    free(value);
    free(given);
}

static void check_call(const test_case *c) {
    call_result r = call_run(c);
    if (check(r.answers != NULL, "%s: %s", c->id, r.error)) {
        check_answers(c, &r);
        check(cJSON_GetArraySize(c->answers) == cJSON_GetArraySize(r.answers), "%s: not the answers of expect", c->id);
    }
    call_free(&r);
}

static void check_vectors(const char *directory) {
    char path[4096], error[512];
    case_file file;
    FILE *f;
    int64_t k, n = 0;
    snprintf(path, sizeof path, "%s/calls.json", directory);
    f = fopen(path, "rb");
    if (!f) { printf("%s is not there: its cases are skipped\n", path); return; }
    fclose(f);
    if (!check(!case_file_load(path, &file, error, sizeof error), "%s", path)) { printf("     %s\n", error); return; }
    for (k = 0; k < file.n_cases; k++) if (file.cases[k].kind == CASE_CALL) { check_call(&file.cases[k]); n++; }
    check(n > 0, "%s: no calls", path);
    printf("%lld calls of %s\n", (long long)n, path);
    case_file_free(&file);
}

/* ---- weights, rewards and advantages of papers ----------------------------------------------------------------------------------- */

typedef struct {
    grpo_batch b;
    grpo_real *logp, *old, *ref, *teacher, *reward, *found, *tokens;
    double *number, *other, *positive, *unit;           /* (sequences) */
    int64_t *whole, *id;
    uint8_t *flag, *second;
    grpo_dd *scratch;
    int64_t N;
} paper;

static void paper_make(rng *r, const trial *t, paper *p) {
    const int64_t N = p->N = t->b.n_sequences;
    const int binary = rng_chance(r, 50);
    p->b = t->view;
    p->logp = more_tokens(r, t, -5, 0); p->old = more_tokens(r, t, -5, 0); p->ref = more_tokens(r, t, -5, 0);
    p->teacher = more_tokens(r, t, -5, 0); p->tokens = no_tokens(t);
    p->reward = test_alloc(N, sizeof *p->reward); p->found = test_alloc(N, sizeof *p->found);
    p->number = test_alloc(N, sizeof *p->number); p->other = test_alloc(N, sizeof *p->other);
    p->positive = test_alloc(N, sizeof *p->positive); p->unit = test_alloc(N, sizeof *p->unit);
    p->whole = test_alloc(N, sizeof *p->whole); p->id = test_alloc(t->b.n_tokens, sizeof *p->id);
    p->flag = test_alloc(N, 1); p->second = test_alloc(N, 1); p->scratch = test_alloc(N, sizeof *p->scratch);
    for (int64_t i = 0; i < N; i++) {
        p->reward[i] = (grpo_real)(binary ? (double)rng_below(r, 2) : rng_bell(r));
        p->number[i] = rng_chance(r, 50) ? (double)rng_below(r, 3) - 1 : rng_bell(r);
        p->other[i] = rng_bell(r);
        p->positive[i] = rng_chance(r, 50) ? (double)rng_below(r, 4) : 100 * rng_unit(r);
        p->unit[i] = rng_chance(r, 30) ? 0 : rng_unit(r);
        p->whole[i] = rng_below(r, 3) - 1;
        p->flag[i] = (uint8_t)rng_below(r, 2); p->second[i] = (uint8_t)rng_chance(r, 20);
    }
    for (int64_t k = 0; k < t->b.n_tokens; k++) p->id[k] = rng_below(r, 2);
    p->b.logp = p->logp; p->b.logp_old = p->old; p->b.logp_ref = p->ref; p->b.logp_teacher = p->teacher; p->b.reward = p->reward;
}

static void paper_free(paper *p) {
    void *const all[] = { p->logp, p->old, p->ref, p->teacher, p->reward, p->found, p->tokens, p->number, p->other, p->positive, p->unit,
                          p->whole, p->id, p->flag, p->second, p->scratch };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
}

static int counts(const paper *p, int64_t t) { return !p->b.mask || p->b.mask[t]; }

static reference_real paper_mean(const paper *p, const grpo_real *x, const grpo_real *y, int64_t i, int64_t *n) {
    reference_real sum = 0;
    *n = 0;
    for (int64_t t = p->b.offset[i]; t < p->b.offset[i] + p->b.length[i]; t++)
        if (counts(p, t)) { sum += (reference_real)x[t] - (y ? (reference_real)y[t] : 0); (*n)++; }
    return *n ? sum / *n : 0;
}

static void test_token_weights(rng *r, const trial *t, paper *p) {
    const double strength = rng_unit(r), clip = rng_unit(r) * 0.9 + 0.01, gamma = rng_bell(r);
    const int trl = rng_chance(r, 50);
    grpo_real *gain = no_tokens(t), *discrepancy = no_tokens(t);
    check(!grpo_teacher_gate(&p->b, t->advantage, strength, clip, t->excluded, p->tokens), "teacher_gate");
    check(!grpo_probability_gain(&p->b, strength, gain), "probability_gain");
    check(!grpo_prefix_discrepancy(&p->b, gamma, trl ? GRPO_DISCREPANCY_TRL : GRPO_DISCREPANCY_PAPER, discrepancy), "prefix_discrepancy");
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
            judge("probability_gain", (double)gain[s], e, e, 1);
            rest = whole > 0 ? (whole - before) / whole : trl;
            judge("prefix_discrepancy", (double)discrepancy[s], 1 + gamma * rest, 1 + ref_abs(gamma * rest), 1);
            before += ref_abs((reference_real)p->teacher[s] - p->old[s]);
        }
    }
    free(gain); free(discrepancy);
}

static void test_rewards_by_likelihood(rng *r, paper *p) {
    const double beta = rng_bell(r), lambda = rng_bell(r), alpha = 20 * rng_unit(r), kappa = rng_unit(r);
    for (int what = 0; what < 3; what++) {
        if (what == 0) check(!grpo_unlikeliness(&p->b, beta, p->scratch, p->found), "unlikeliness");
        if (what == 1) check(!grpo_retention_reward(&p->b, lambda, alpha, p->found), "retention_reward");
        if (what == 2) check(!grpo_sharpening(&p->b, p->number, lambda, kappa, p->scratch, p->found), "sharpening");
        for (int64_t g = 0; g < p->b.n_groups; g++)
            for (int64_t i = p->b.group_begin[g]; i < p->b.group_begin[g + 1]; i++) {
                const int64_t G = p->b.group_begin[g + 1] - p->b.group_begin[g];
                const double A = p->number[i], R = (double)p->reward[i];
                reference_real centre = 0, mine, other, more;
                int64_t rank = 0, with = 0, n, T;
                mine = paper_mean(p, p->old, NULL, i, &T);
                for (int64_t j = p->b.group_begin[g]; j < p->b.group_begin[g + 1]; j++) {
                    other = paper_mean(p, p->old, NULL, j, &n);
                    rank += other < mine || (other == mine && j < i);
                    if (n) { centre += other; with++; }
                }
                if (what == 0) judge("unlikeliness", (double)p->found[i], R * (1 - beta * (reference_real)rank / G),
                                     fabs(R) * (1 + fabs(beta) * (reference_real)rank / G), 1);
                if (what == 1) {
                    more = paper_mean(p, p->old, p->ref, i, &n);
                    more = lambda * ref_exp(more > 0 ? -alpha * more : 0);
                    judge("retention_reward", (double)p->found[i], R + more, fabs(R) + ref_abs(more), 1);
                }
                if (what < 2) continue;
                more = T && R > 0 && A > 0 ? lambda * (1 - ref_exp(mine - centre / with)) : 0;
                if (more < 0) more = 0;
                if (more > kappa * A && more > 0) more = kappa * (reference_real)A;
                judge("sharpening", (double)p->found[i], A + more, fabs(A) + more, 1);
            }
    }
}

static void test_shares(rng *r, paper *p) {
    const double temperature = 0.1 + rng_unit(r), threshold = rng_chance(r, 50) ? 0 : rng_bell(r);
    const int by_length = rng_chance(r, 50);
    grpo_real *share = test_alloc(p->N, sizeof *share);
    check(!grpo_boltzmann_advantage(&p->b, temperature, p->found), "boltzmann_advantage");
    check(!grpo_likelihood_share(&p->b, threshold, temperature, by_length, p->scratch, share), "likelihood_share");
    for (int64_t g = 0; g < p->b.n_groups; g++) {
        const int64_t begin = p->b.group_begin[g], end = p->b.group_begin[g + 1];
        reference_real all = 0, some = 0, e, m;
        int64_t n;
        for (int pass = 0; pass < 2; pass++) for (int64_t i = begin; i < end; i++) {
            e = ref_exp((reference_real)p->reward[i] / temperature);
            m = paper_mean(p, p->old, NULL, i, &n);
            m = (double)p->reward[i] > threshold && n > 0 ? ref_exp(m / temperature) / (by_length ? n : 1) : 0;
            if (pass == 0) { all += e; some += m; continue; }
            judge("boltzmann_advantage", (double)p->found[i], e * (end - begin) / all, e * (end - begin) / all, 1);
            if (some > 0) judge("likelihood_share", (double)share[i], m / some, m / some, 1);
            else check(share[i] == 0, "likelihood_share: nobody takes part");
        }
    }
    free(share);
}

static void test_canon(rng *r, paper *p) {
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

static void test_virtual(rng *r, paper *p) {
    const double most = rng_chance(r, 50) ? 1 : rng_bell(r), eps = rng_chance(r, 50) ? 1e-6 : 0;
    const int64_t count = rng_below(r, 4);
    check(!grpo_virtual_reward(&p->b, most, count, eps, p->found), "virtual_reward");
    for (int64_t g = 0; g < p->b.n_groups; g++) {
        const int64_t begin = p->b.group_begin[g], end = p->b.group_begin[g + 1], n = end - begin + count;
        reference_real mean = count * (reference_real)most, size = ref_abs(mean), squares = 0, off;
        for (int64_t i = begin; i < end; i++) { mean += p->reward[i]; size += ref_abs(p->reward[i]); }
        mean /= n;
        for (int64_t i = begin; i < end; i++) squares += ((reference_real)p->reward[i] - mean) * ((reference_real)p->reward[i] - mean);
        squares += count * (most - mean) * (most - mean);
        for (int64_t i = begin; i < end; i++) {
            off = (reference_real)p->reward[i] - mean;
            if (end - begin == 1) check(p->found[i] == p->reward[i], "virtual_reward: a group of one");
            else if (squares < 1e-40) check(p->found[i] == 0, "virtual_reward: equal rewards");
            else judge("virtual_reward", (double)p->found[i], off / (ref_sqrt(squares / (n - 1)) + eps),
                       (ref_abs(p->reward[i]) + size / n) / (ref_sqrt(squares / (n - 1)) + eps), 1);
        }
    }
}

static reference_real ref_sine(reference_real x) {
    reference_real s = 0, term = x;
    for (int k = 1; k < 40; k++) { s += term; term *= -x * x / (2 * k * (2 * k + 1)); }
    return s;
}

static void test_group_rewards(rng *r, paper *p) {
    const reference_real pi = 3.14159265358979312 + (reference_real)1.22464679914735321e-16;
    const double smooth = 0.1 + rng_unit(r), alpha = rng_bell(r);
    const int form = (int)rng_below(r, 2);
    grpo_real *credit = test_alloc(p->N, sizeof *credit);
    check(!grpo_tool_efficiency(&p->b, p->positive, p->flag, smooth, alpha, form ? GRPO_TOOLS_GRPO : GRPO_TOOLS_PPO, p->found), "tools");
    check(!grpo_entity_credit(&p->b, p->unit, p->flag, p->second, alpha, credit), "entity_credit");
    for (int64_t g = 0; g < p->b.n_groups; g++) {
        const int64_t begin = p->b.group_begin[g], end = p->b.group_begin[g + 1];
        double least = HUGE_VAL, most = 0;
        for (int64_t i = begin; i < end; i++) {
            if (p->flag[i] && p->positive[i] < least) least = p->positive[i];
            if (p->unit[i] > most) most = p->unit[i];
        }
        for (int64_t i = begin; i < end; i++) {
            const reference_real m = p->positive[i];
            reference_real x = form && least > 0 ? m / (m + least) * pi : pi / 2 + m * pi / (2 * m + smooth);
            x = p->flag[i] ? alpha * ref_sine(x) : 0;
            judge("tool_efficiency", (double)p->found[i], x, ref_abs(x), 1);
            x = p->second[i] ? 0 : p->flag[i] ? 1 : most > 0 ? alpha * (reference_real)p->unit[i] / most : 0;
            judge("entity_credit", (double)credit[i], x, ref_abs(x), 1);
        }
    }
    free(credit);
}

static void test_feature_and_answers(rng *r, paper *p) {
    double *entropy = test_alloc(p->b.n_groups, sizeof *entropy);
    grpo_feature f = { NULL, NULL, NULL, NULL, 0, 0 };
    for (int64_t i = 0; i < p->N; i++) p->positive[i] += 1;
    f.advantage = p->number; f.feature = p->other; f.divisor = p->positive; f.eligible = p->flag;
    f.delta = rng_bell(r); f.k = rng_unit(r);
    check(!grpo_feature_bonus(&p->b, &f, p->found), "feature_bonus");
    check(!grpo_answer_entropy(&p->b, p->whole, p->other, entropy), "answer_entropy");
    for (int64_t g = 0; g < p->b.n_groups; g++) {
        const int64_t begin = p->b.group_begin[g], end = p->b.group_begin[g + 1];
        reference_real centre = 0, size = 0, by = 0, all = 0, H = 0, part, more, most;
        for (int64_t i = begin; i < end; i++) {
            if (p->flag[i]) { centre += p->other[i]; size += fabs(p->other[i]); by += p->positive[i]; }
            all += ref_exp(p->other[i]);
        }
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
        judge("answer_entropy", entropy[g], H > 1e-30 ? H : 0, H > 1e-30 ? H : 0, 0);
        for (int64_t i = begin; i < end; i++) {
            int64_t n = 0;
            for (int64_t j = begin; j < end; j++) n += p->flag[j];
            most = f.k * (reference_real)fabs(p->number[i]);
            more = p->flag[i] ? f.delta * (p->other[i] - centre / n) / (by / n) : 0;
            part = p->flag[i] ? fabs(f.delta) * (fabs(p->other[i]) + size / n) / (by / n) : 0;
            more = more > most ? most : more < -most ? -most : more;
            judge("feature_bonus", (double)p->found[i], p->number[i] + more, fabs(p->number[i]) + (part < most ? part : most), 1);
        }
    }
    free(entropy);
}

static void test_bundles(rng *r, paper *p) {
    const grpo_risk x = { -0.5 + rng_bell(r), 0.5 + rng_bell(r), 0.2, 0.8, 1.5, 1e-6 };
    const int64_t n_groups = p->b.n_groups;
    int64_t *bundle = test_alloc(n_groups, sizeof *bundle);
    grpo_dd *scratch = test_alloc(n_groups, sizeof *scratch);
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

static void test_window(rng *r) {
    enum { MOST = 12 };
    double x[MOST], weight[MOST], normalised[MOST];
    const double target = (double)(1 + rng_below(r, 9)) + (rng_chance(r, 50) ? 0.3 : 0), temperature = 0.2 + rng_unit(r);
    const int64_t n = 1 + rng_below(r, MOST);
    reference_real low = -1000, high = 1000, middle = 0, sum;
    for (int64_t i = 0; i < n; i++) x[i] = rng_chance(r, 40) ? -(double)rng_below(r, 3) : -3 * rng_unit(r);
    check(!grpo_window_weight(x, n, target, temperature, weight, normalised), "window_weight");
    for (int k = 0; k < 130 && target < (double)n; k++) {
        middle = (low + high) / 2;
        sum = 0;
        for (int64_t i = 0; i < n; i++) sum += x[i] >= middle ? 1 : ref_exp((x[i] - middle) / temperature);
        if (sum > target) low = middle; else high = middle;
    }
    for (int64_t i = 0; i < n; i++) {
        const reference_real w = target >= (double)n || x[i] >= middle ? 1 : ref_exp((x[i] - middle) / temperature);
        judge("window_weight", weight[i], w, w, 0);
        judge("window_weight", normalised[i], target >= (double)n ? 1 : w * n / target, target >= (double)n ? 1 : w * n / target, 0);
    }
}

static void test_log_exp_map(rng *r) {
    const double threshold = rng_bell(r), upper = rng_bell(r), x = rng_bell(r);
    const double lower = rng_chance(r, 20) ? 0 : rng_chance(r, 50) ? 5 * rng_bell(r) : 100 * rng_unit(r);
    const reference_real d = (reference_real)threshold - x;
    reference_real term = d <= 0 ? upper * ref_ln1p(-d) : lower == 0 ? -d : -(ref_exp(lower * d) - 1) / (ref_exp(lower) - 1);
    double found;
    check(!grpo_log_exp_map(&x, 1, threshold, upper, lower, &found), "log_exp_map");
    judge("log_exp_map", found, threshold + term, fabs(threshold) + ref_abs(term), 0);
}

static void test_random_papers(void) {
    rng r = { 55 };
    for (int k = 0; k < 300; k++) {
        trial t;
        paper p;
        trial_make(&r, &t);
        paper_make(&r, &t, &p);
        if (p.N < 200) {
            test_token_weights(&r, &t, &p);
            test_rewards_by_likelihood(&r, &p);
            test_shares(&r, &p);
            test_canon(&r, &p);
            test_virtual(&r, &p);
            test_group_rewards(&r, &p);
            test_feature_and_answers(&r, &p);
            if (p.N < 40) test_bundles(&r, &p);
        }
        paper_free(&p);
        trial_free(&t);
    }
    for (int k = 0; k < 3000; k++) { test_window(&r); test_log_exp_map(&r); }
}

static void near_list(const char *name, const double *found, const double *expected, int n) {
    for (int k = 0; k < n; k++) judge(name, found[k], expected[k], fabs(expected[k]), 0);
}

static void near_reals(const char *name, const grpo_real *found, const double *expected, int n) {
    for (int k = 0; k < n; k++) check(found[k] == (grpo_real)expected[k], "%s: %g, expected %g", name, (double)found[k], expected[k]);
}

/* one group of four responses of three tokens */
typedef struct {
    int64_t group_begin[2], offset[4], length[4];
    grpo_real tokens[12], reward[4], found[12];
    uint8_t mask[12];
    grpo_batch b;
} four;

static void four_make(four *f) {
    memset(f, 0, sizeof *f);
    f->group_begin[1] = 4;
    for (int i = 0; i < 4; i++) { f->offset[i] = 3 * i; f->length[i] = 3; }
    for (int k = 0; k < 12; k++) { f->tokens[k] = -1; f->mask[k] = 1; }
    f->b.n_groups = 1; f->b.group_begin = f->group_begin; f->b.offset = f->offset; f->b.length = f->length; f->b.n_tokens = 12;
    f->b.logp = f->b.logp_old = f->b.logp_ref = f->b.logp_teacher = f->tokens; f->b.reward = f->reward; f->b.mask = f->mask;
}

static void test_lists_by_hand(void) {
    const double rewards[] = { 1, 0.5, 0.25, 2, 0, 4 }, ones[] = { 1, 1, 1 }, gated[] = { 1.625, 2 };
    const double confidence[] = { 0.75, -1, 2, 7 }, brier[] = { 0.9375, 0, 1, -0.25 }, length[] = { 64, 192, 256, 512 };
    const double parabola[] = { 0.75, 0.5, -1, -17 }, polyline[] = { 0.5, 0, -1, -5 }, triangle[] = { 0.5, 0.5, 0, 0 };
    const double node[] = { 0, 1, 0.5, 0 }, most[] = { 1, 1, 0.5, 0 }, mean[] = { 0.75, 1, 0.5, 0 }, divided[] = { 0.375, 1, 0.5, 0 };
    const double pooled[] = { 1, 0, 0, 1 }, sets[] = { 0.25, -0.25 };
    const int64_t gate[] = { -1, -1, 1 }, parent[] = { -1, 0, 0, -1 }, depth[] = { 1, 2, 2, 1 }, klass[] = { 0, 1, 0, 1 };
    const int64_t member[] = { 0, 1, 0, 2 }, begin[] = { 0, 2, 4 };
    const uint8_t correct[] = { 1, 1, 1, 1 }, missing[] = { 0, 0, 0, 1 };
    grpo_dd scratch[4];
    double found[4], y;
    check(!grpo_gated_sum(rewards, 2, 3, ones, gate, found), "gated_sum");
    near_list("gated_sum", found, gated, 2);
    check(!grpo_brier_reward(confidence, 4, correct, missing, found), "brier_reward");
    near_list("brier_reward", found, brier, 4);
    check(!grpo_length_shape(length, 4, GRPO_SHAPE_PARABOLA, 0.5, 256, found), "length_shape");
    near_list("length_shape", found, parabola, 4);
    check(!grpo_length_shape(length, 4, GRPO_SHAPE_POLYLINE, 0.5, 256, found), "length_shape");
    near_list("length_shape", found, polyline, 4);
    check(!grpo_length_shape(length, 4, GRPO_SHAPE_TRIANGLE, 128, 1, found), "length_shape");
    near_list("length_shape", found, triangle, 4);
    check(!grpo_tree_reward(parent, node, NULL, 4, 9, GRPO_TREE_MAX, 0, scratch, found), "tree_reward");
    near_list("tree_reward", found, most, 4);
    check(!grpo_tree_reward(parent, node, NULL, 4, 1, GRPO_TREE_MEAN, 0, scratch, found), "tree_reward");
    near_list("tree_reward", found, mean, 4);
    check(!grpo_tree_reward(parent, node, depth, 4, 1, GRPO_TREE_MEAN_BY_DEPTH, 2, scratch, found), "tree_reward");
    near_list("tree_reward", found, divided, 4);
    check(!grpo_set_advantage(pooled, klass, 4, member, begin, 2, found), "set_advantage");      /* 1/2 2/2, 1/2 1/2 less their mean */
    for (int k = 0; k < 2; k++) check(found[k] == sets[k] / 2, "set_advantage: %g", found[k]);
    check(!grpo_reference_advantage(pooled, 3, 1, 1, 1, 1, found, &y), "reference_advantage");    /* A = (1, -1, -1), A_y = 1, mean -1/3 */
    check(found[0] * 3 == 8 && found[1] == -found[0] && fabs(y - 16 / 3.0) < 1e-15, "reference_advantage: %g %g", found[0], y);
    check(!grpo_reference_advantage(pooled, 3, 1, 1, 1, 0, found, &y) && fabs(y - 4 * sqrt(2)) < 4e-15, "reference_advantage: %g", y);
}

static void test_groups_by_hand(void) {
    const double exits[] = { 1, 0, 0.5, 0.25 }, outcomes[] = { 0.6, 0.4, 0.1, 1 }, thought[] = { 0.5, 0.25, 8, 0.5 };
    const double trusted[] = { 1.1, 0.65, 0.1, 1.5 }, conflict[] = { 2, 2, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1 };
    const int64_t ids[] = { 5, 6, 1, 5, 6, 2, 5, 7, 3, 5, 6, 1 }, sign[] = { 1, -1, 0, 0 }, same[] = { 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5 };
    const grpo_trust_bounds bounds = { 0.2, 0.5, 0.9, 0.1 };
    double weight;
    four f;
    four_make(&f);
    f.reward[0] = f.reward[2] = f.reward[3] = 1;
    check(!grpo_early_exit(&f.b, f.found), "early_exit");
    near_reals("early_exit", f.found, exits, 4);
    check(!grpo_trust_reward(&f.b, outcomes, thought, 1, &bounds, f.found), "trust_reward");       /* mc = 1/2, mw = 1/8 */
    near_reals("trust_reward", f.found, trusted, 4);
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
    f.reward[2] = f.reward[3] = 0;
    check(!grpo_group_relative_scale(&f.b, 1, 0.5, f.found), "group_relative_scale");             /* p = 1/4, std = 1/2 */
    weight = 1 / (0.5 + 1e-6) / (0.5 + 1e-6);
    check(fabs((double)f.found[0] - 0.1875 * weight) < 1e-7, "group_relative_scale: %g", (double)f.found[0]);
    check(fabs((double)f.found[1] + 0.125 * weight) < 1e-7, "group_relative_scale: %g", (double)f.found[1]);
}

static void test_papers_by_hand(void) {
    test_lists_by_hand();
    test_groups_by_hand();
}

/* ---- of these, what no vector asks -------------------------------------------------------------------------------------------------- */

/* d value/d student against differences of the value; it sums to 0 */
static void test_divergence_slopes(rng *r) {
    static const double betas[] = { 0, 1, 0.5, 0.125, 0.9 };
    const double beta = rng_pick(r, betas, 5), tau = 0.5 + rng_unit(r), h = 1e-5;
    double student[6], teacher[6], slope[6], up, down, sum = 0;
    for (int v = 0; v < 6; v++) { student[v] = rng_bell(r); teacher[v] = rng_bell(r); }
    if (beta > 0 && beta < 1) { student[1] = -INFINITY; teacher[2] = -INFINITY; }
    check(!grpo_divergence(student, teacher, 6, tau, beta, &up, slope) && up > 0, "divergence: %g", up);
    for (int v = 0; v < 6; v++) {
        const double at = student[v];
        sum += slope[v];
        if (at == -INFINITY) { check(slope[v] == 0, "divergence: a banned token has a slope"); continue; }
        student[v] = at + h;
        check(!grpo_divergence(student, teacher, 6, tau, beta, &up, NULL), "divergence");
        student[v] = at - h;
        check(!grpo_divergence(student, teacher, 6, tau, beta, &down, NULL), "divergence");
        student[v] = at;
        check(fabs((up - down) / (2 * h) - slope[v]) < 1e-8, "divergence: slope %g, difference %g", slope[v], (up - down) / (2 * h));
    }
    check(fabs(sum) < 1e-14, "divergence: slopes sum to %g", sum);
}

static void test_infinite_divergence(void) {
    const double all[3] = { 0, 1, 2 }, less[3] = { 0, 1, -INFINITY };
    double value, slope[3];
    check(!grpo_divergence(less, all, 3, 1, 0, &value, slope) && value == HUGE_VAL && slope[2] == 0, "divergence: mass that p lacks");
    check(!grpo_divergence(all, less, 3, 1, 1, &value, slope) && value == HUGE_VAL && slope[2] == HUGE_VAL,
          "divergence: mass that q lacks");
    check(!grpo_divergence(less, all, 3, 1, 1, &value, slope) && grpo_is_finite(value), "divergence: mass that only q has");
    check(!grpo_divergence(all, less, 3, 1, 0, &value, slope) && grpo_is_finite(value), "divergence: mass that only p has");
    for (int v = 0; v < 3; v++) check(grpo_is_finite(slope[v]), "divergence: slope %d", v);
}

/* what may be written over what is read */
static void test_overwriting(void) {
    const double rate[3] = { 0.5, 0.25, 0.5 }, probability[3] = { 1, 2, 1 }, success[3] = { -1, 1, 0 };
    const int64_t level[3] = { 3, 0, 1 };
    double new_rate[3], new_probability[3], own_rate[3], own_probability[3];
    int64_t new_level[3], own_level[3];
    memcpy(own_rate, rate, sizeof rate);
    memcpy(own_probability, probability, sizeof probability);
    memcpy(own_level, level, sizeof level);
    check(!grpo_cluster_probability(rate, probability, success, 3, 0.5, new_rate, new_probability), "cluster_probability");
    check(!grpo_cluster_probability(own_rate, own_probability, success, 3, 0.5, own_rate, own_probability), "cluster_probability");
    check(!memcmp(new_rate, own_rate, sizeof rate) && !memcmp(new_probability, own_probability, sizeof rate), "rates in place");
    check(new_rate[0] == 0.5 && new_rate[1] == 1 && new_rate[2] == 0, "cluster_probability: rates");
    check(!grpo_hint_level(level, rate, 3, 0.3, 0.4, 3, new_level), "hint_level");
    check(!grpo_hint_level(own_level, rate, 3, 0.3, 0.4, 3, own_level), "hint_level");
    check(!memcmp(new_level, own_level, sizeof level) && new_level[0] == 2 && new_level[1] == 1 && new_level[2] == 0, "levels in place");
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
    check(!grpo_adapted_clip(b, b->logp_teacher, b->logp_ref, &adaptation, x->clip[0], x->clip[1], x->clip[2]), "adapted_clip");
    check(!grpo_centroid_weight(b, b->logp_teacher, b->logp_ref, &centroids, scratch, x->centroid), "centroid_weight");
    check(!grpo_agent_weights(b, agent, x->agent), "agent_weights");
    check(!grpo_logistic_shift(b, correct, 0.5, &x->shift), "logistic_shift");
    check(!grpo_ratio_quantile(b, 0.5, 0, &x->quantile), "ratio_quantile");
}

/* the same answers where sequences stand apart and what is between them is NaN, which nobody writes to */
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
    apart.b.selected = chosen; packed.b.selected = dense_chosen;
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

/* the definitions, by trying everything; n is small */
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

static void test_roles(rng *r) {
    double reward[12], found[3][12];
    int64_t role[12], n = rng_below(r, 13);
    const double scale = rng_pick(r, (const double[]){ 1, 1e-200, 1e150, 1e-6 }, 4);
    for (int64_t k = 0; k < n; k++) {
        reward[k] = scale * (rng_chance(r, 50) ? rng_bell(r) / 10 : 1);
        role[k] = rng_below(r, 3) * (INT64_C(1) << 61);
    }
    for (int form = 0; form < 3; form++) check(!grpo_role_reward(reward, role, n, (grpo_role_form)form, found[form]), "role_reward");
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
        judge("role_reward", found[0][k], reward[k] - mean, size, 0);
        judge("role_reward", found[1][k], x, size / s, 0);
        judge("role_reward", found[2][k], x < -1 ? -1 : x > 3 ? 3 : x, size / s, 0);
    }
    check(!grpo_role_reward(reward, role, n, GRPO_ROLE_MEAN_STD, reward), "role_reward");
    check(!memcmp(reward, found[1], (size_t)n * sizeof *reward), "role_reward: written over what is read, it is another");
}

static void test_power_clip(rng *r) {
    const double mean = rng_bell(r), deviation = rng_unit(r), gamma = 5 * rng_unit(r), low = rng_unit(r), high = low + rng_unit(r);
    const grpo_power_bounds b = grpo_power_clip(mean, deviation, gamma, low, high, 1e-6);
    const reference_real x = (reference_real)mean / ((reference_real)deviation + 1e-6), e = ref_exp(-2 * ref_abs(x)), t = (1 - e) / (1 + e);
    const reference_real eps = low + ((reference_real)high - low) * (x < 0 ? -t : t), size = low + ((reference_real)high - low) * t;
    const reference_real power = ref_exp(-(reference_real)gamma * mean);
    if (eps <= -1) { check(b.power != b.power && b.eps != b.eps && b.log_high != b.log_high, "power_clip below -1"); return; }
    judge("power_clip", b.power, power, power * (1 + ref_abs(gamma * mean)), 0);
    judge("power_clip", b.eps, eps, size, 0);
    judge("power_clip", b.log_high, ref_ln1p(eps), size / (1 + eps), 0);
}

static void test_power_by_hand(void) {
    const double inf = HUGE_VAL;
    check(grpo_power_clip(0, 1, 3, 0.1, 0.3, 0).power == 1 && grpo_power_clip(0, 1, 3, 0.1, 0.3, 0).eps == 0.1, "power_clip at mean 0");
    check(grpo_power_clip(1, 1e-300, 1, 0.1, 0.3, 0).eps == 0.3, "power_clip without deviation");
    check(!grpo_is_finite(grpo_power_clip(1, 0, 1, 0.1, 0.3, 0).eps) && !grpo_is_finite(grpo_power_clip(1, -1, 1, 0.1, 0.3, 2).eps)
          && !grpo_is_finite(grpo_power_clip(1, 1, 1, 0.3, 0.1, 0).eps) && !grpo_is_finite(grpo_power_clip(1, 1, 1, -0.1, 0.3, 0).eps)
          && !grpo_is_finite(grpo_power_clip(inf, 1, 1, 0.1, 0.3, 0).eps) && !grpo_is_finite(grpo_power_clip(1, 1, inf, 0.1, 0.3, 0).eps)
          && !grpo_is_finite(grpo_power_clip(1, inf, 1, 0.1, 0.3, 0).eps) && !grpo_is_finite(grpo_power_clip(-9, 1, 1, 0.1, 3, 0).eps),
          "power_clip refuses");
}

static void test_routes(rng *r) {
    trial t;
    double beta = rng_pick(r, (const double[]){ 0, 1, 0.3, 1e3 }, 4);
    trial_make(r, &t);
    uint8_t *routed = test_alloc(t.b.n_sequences, 1);
    grpo_real *H = more_tokens(r, &t, 0, 8), *weight = no_tokens(&t);
    reference_real least = HUGE_VAL, sum = 0, most = 0, n = 0;
    for (int64_t i = 0; i < t.b.n_sequences; i++) routed[i] = (uint8_t)rng_chance(r, 60);
    t.view.entropy = H;
    check(!grpo_route_weight(&t.view, routed, beta, weight), "route_weight");
    for (int pass = 0; pass < 3; pass++) for (int64_t i = 0; i < t.b.n_sequences; i++)
        for (int64_t s = t.b.offset[i]; s < t.b.offset[i] + t.b.length[i]; s++) {
            const int on = t.b.mask[s] && routed[i];
            if (pass == 0 && on) { n = n + 1; if (H[s] < least) least = H[s]; if (H[s] > most) most = H[s]; }
            if (pass == 1 && on) sum += ref_exp(-beta * (H[s] - least));
            if (pass == 2 && on) {
                const reference_real x = ref_exp(-beta * (H[s] - least)) * n / sum;
                judge("route_weight", (double)weight[s], x, x * (1 + beta * (ref_abs(H[s]) + most)), 1);
            }
            if (pass == 2 && !on) check(weight[s] == 0, "route_weight: a token that is not routed has a weight");
        }
    free(routed); free(H); free(weight);
    trial_free(&t);
}

static void test_new_papers(void) {
    rng r = { 77 };
    test_power_by_hand();
    for (int k = 0; k < 500; k++) { test_distances(&r); test_roles(&r); test_power_clip(&r); }
    for (int k = 0; k < 60; k++) test_routes(&r);
    test_infinite_divergence();
    test_overwriting();
    for (int k = 0; k < 200; k++) { test_divergence_slopes(&r); test_between_sequences(&r); }
}

/* a call with one thing wrong: its status, and nothing is written */
static void wrong(const char *what, grpo_status found, int rule, const char *thing, const grpo_real *out) {
    check(says(what, found, rule, thing), "%s: \"%s\" instead of %s: %s", what, status_line(found), thing, grpo_status_text(rule));
    for (int k = 0; out && k < 12; k++) check(out[k] == 0, "%s has written", what);
}

static void test_token_statuses(four *f) {
    const grpo_batch *b = &f->b;
    grpo_batch other = f->b;
    grpo_real *out = f->found, A[12] = { 1 }, broken[12];
    const int64_t ids[12] = { 0 };
    wrong("teacher_gate", grpo_teacher_gate(b, A, 1.5, 0.2, NULL, out), GRPO_NOT_UNIT, "strength", out);
    wrong("teacher_gate", grpo_teacher_gate(b, A, 0.5, 1, NULL, out), GRPO_NOT_BELOW_ONE, "clip", out);
    wrong("teacher_gate", grpo_teacher_gate(b, NULL, 0.5, 0.5, NULL, out), GRPO_NULL, "advantage", out);
    wrong("teacher_gate", grpo_teacher_gate(b, A, 0.5, 0.5, NULL, NULL), GRPO_NULL, "weight", out);
    wrong("probability_gain", grpo_probability_gain(b, NAN, out), GRPO_NAN, "strength", out);
    wrong("prefix_discrepancy", grpo_prefix_discrepancy(b, NAN, GRPO_DISCREPANCY_TRL, out), GRPO_NAN, "gamma", out);
    wrong("conflict_weight", grpo_conflict_weight(b, ids, NULL, 2, out), GRPO_NULL, "sign", out);
    wrong("conflict_weight", grpo_conflict_weight(b, NULL, ids, 2, out), GRPO_NULL, "token", out);
    wrong("conflict_weight", grpo_conflict_weight(b, ids, ids, INFINITY, out), GRPO_INFINITE, "inside", out);
    memcpy(broken, f->tokens, sizeof broken);
    broken[2] = (grpo_real)NAN;
    other.logp_teacher = other.logp_ref = broken;
    wrong("teacher_gate", grpo_teacher_gate(&other, A, 0.5, 0.5, NULL, out), GRPO_NAN, "batch.logp_teacher[2]", out);
    wrong("prefix_discrepancy", grpo_prefix_discrepancy(&other, 1, GRPO_DISCREPANCY_TRL, out), GRPO_NAN, "batch.logp_teacher[2]", out);
    wrong("retention_reward", grpo_retention_reward(&other, 1, 1, out), GRPO_NAN, "batch.logp_ref[2]", out);
    f->tokens[2] = (grpo_real)NAN;
    wrong("teacher_gate", grpo_teacher_gate(b, A, 0.5, 0.5, NULL, out), GRPO_NAN, "batch.logp[2]", out);
    wrong("prefix_discrepancy", grpo_prefix_discrepancy(b, 1, GRPO_DISCREPANCY_TRL, out), GRPO_NAN, "batch.logp_old[2]", out);
    wrong("probability_gain", grpo_probability_gain(b, 0.5, out), GRPO_NAN, "batch.logp_old[2]", out);
    wrong("retention_reward", grpo_retention_reward(b, 1, 1, out), GRPO_NAN, "batch.logp_old[2]", out);
    f->tokens[2] = -1;
}

static void test_group_statuses(four *f) {
    const grpo_batch *b = &f->b;
    grpo_real *out = f->found;
    const double ok[4] = { 1, 1, 1, 1 }, bad[4] = { 1, 1, 1, NAN }, none[4] = { 0 };
    const uint8_t flags[4] = { 1, 0, 0, 0 };
    const grpo_trust_bounds bounds = { 0.2, 0.5, 0.9, 0.1 }, no_bounds = { 0.2, NAN, 0.9, 0.1 };
    const grpo_canon canon = { 1, 0, 1, GRPO_HALF_LOW };
    const grpo_feature no_feature = { ok, bad, ok, flags, 1, 1 }, no_divisor = { ok, ok, none, flags, 1, 1 };
    const grpo_risk no_risk = { 0, 1, 0.8, 0.8, 1.5, 1e-6 };
    grpo_dd scratch[4];
    double number[4];
    int64_t ids[4] = { 0 };
    wrong("unlikeliness", grpo_unlikeliness(b, 0.25, NULL, out), GRPO_NULL, "scratch", out);
    wrong("unlikeliness", grpo_unlikeliness(b, NAN, scratch, out), GRPO_NAN, "beta", out);
    wrong("trust_reward", grpo_trust_reward(b, ok, bad, 1, &bounds, out), GRPO_NAN, "thought[3]", out);
    wrong("trust_reward", grpo_trust_reward(b, ok, ok, 1, &no_bounds, out), GRPO_NAN, "bounds[1]", out);
    wrong("trust_reward", grpo_trust_reward(b, ok, ok, 1, NULL, out), GRPO_NULL, "bounds", out);
    wrong("tool_efficiency", grpo_tool_efficiency(b, bad, flags, 1, 1, GRPO_TOOLS_PPO, out), GRPO_NAN, "calls[3]", out);
    wrong("tool_efficiency", grpo_tool_efficiency(b, ok, flags, 0, 1, GRPO_TOOLS_PPO, out), GRPO_NOT_POSITIVE, "smooth", out);
    wrong("tool_efficiency", grpo_tool_efficiency(b, ok, NULL, 1, 1, GRPO_TOOLS_PPO, out), GRPO_NULL, "correct", out);
    wrong("entity_credit", grpo_entity_credit(b, bad, flags, flags, 1, out), GRPO_NAN, "found[3]", out);
    wrong("retention_reward", grpo_retention_reward(b, 1, -1, out), GRPO_NEGATIVE, "alpha", out);
    wrong("boltzmann_advantage", grpo_boltzmann_advantage(b, 0, out), GRPO_TOO_SMALL, "temperature", out);
    wrong("likelihood_share", grpo_likelihood_share(b, 0, INFINITY, 0, scratch, out), GRPO_INFINITE, "temperature", out);
    wrong("canon_advantage", grpo_canon_advantage(b, bad, &canon, out), GRPO_NAN, "metric[3]", out);
    wrong("canon_advantage", grpo_canon_advantage(b, ok, NULL, out), GRPO_NULL, "canon", out);
    wrong("sharpening", grpo_sharpening(b, bad, 1, 1, scratch, out), GRPO_NAN, "advantage[3]", out);
    wrong("feature_bonus", grpo_feature_bonus(b, &no_feature, out), GRPO_NAN, "feature[1]", out);
    wrong("feature_bonus", grpo_feature_bonus(b, &no_divisor, out), GRPO_TOO_SMALL, "feature[2]", out);
    wrong("virtual_reward", grpo_virtual_reward(b, 1, -1, 0, out), GRPO_NEGATIVE, "count", out);
    wrong("virtual_reward", grpo_virtual_reward(b, 1, 1, -1, out), GRPO_NEGATIVE, "eps", out);
    wrong("answer_entropy", grpo_answer_entropy(b, ids, bad, number), GRPO_NAN, "score[3]", out);
    wrong("prompt_weight", grpo_prompt_weight(b, NAN, 1, 1, GRPO_PROMPT_LLM, number), GRPO_NAN, "threshold", out);
    wrong("bundle_advantage", grpo_bundle_advantage(b, ids, &no_risk, scratch, out), GRPO_TOO_SMALL, "risk[3]", out);
    wrong("bundle_advantage", grpo_bundle_advantage(b, ids, NULL, scratch, out), GRPO_NULL, "risk", out);
    f->reward[3] = 0.5;
    wrong("group_relative_scale", grpo_group_relative_scale(b, 1, 0.5, out), GRPO_NOT_A_CHOICE, "batch.reward[3]", out);
    wrong("group_relative_scale", grpo_group_relative_scale(b, 0, 0.5, out), GRPO_NOT_POSITIVE, "alpha", out);
    f->reward[3] = (grpo_real)NAN;
    wrong("early_exit", grpo_early_exit(b, out), GRPO_NAN, "batch.reward[3]", out);
    wrong("virtual_reward", grpo_virtual_reward(b, 1, 1, 0, out), GRPO_NAN, "batch.reward[3]", out);
}

static void test_paper_list_statuses(void) {
    const double ok[4] = { 0 }, bad[4] = { 0, NAN, 0, 0 };
    const int64_t wide[4] = { 0, 1, 2, 9 }, zero[5] = { 0 };
    const uint8_t flags[4] = { 0 };
    grpo_dd scratch[4];
    double out[4], y;
    wrong("window_weight", grpo_window_weight(ok, 4, 0, 1, out, out), GRPO_NOT_POSITIVE, "target", NULL);
    wrong("window_weight", grpo_window_weight(bad, 4, 1, 1, out, out), GRPO_NAN, "x[1]", NULL);
    wrong("gated_sum", grpo_gated_sum(ok, 1, 4, ok, wide, out), GRPO_OUT_OF_RANGE, "gate[3]", NULL);
    wrong("gated_sum", grpo_gated_sum(bad, 1, 4, ok, zero, out), GRPO_NAN, "rewards[1]", NULL);
    wrong("brier_reward", grpo_brier_reward(bad, 4, flags, NULL, out), GRPO_NAN, "confidence[1]", NULL);
    wrong("length_shape", grpo_length_shape(ok, 4, GRPO_SHAPE_PARABOLA, 1, 1, out), GRPO_NOT_BELOW_ONE, "peak", NULL);
    wrong("length_shape", grpo_length_shape(bad, 4, GRPO_SHAPE_TRIANGLE, 1, 1, out), GRPO_NAN, "length[1]", NULL);
    wrong("log_exp_map", grpo_log_exp_map(bad, 4, 0, 1, 1, out), GRPO_NAN, "reward[1]", NULL);
    wrong("log_exp_map", grpo_log_exp_map(ok, 4, 0, 1, NAN, out), GRPO_NAN, "lower", NULL);
    wrong("tree_reward", grpo_tree_reward(wide, ok, NULL, 4, 1, GRPO_TREE_MAX, 0, scratch, out), GRPO_OUT_OF_RANGE, "parent[0]", NULL);
    wrong("tree_reward", grpo_tree_reward(wide, ok, NULL, 4, 1, GRPO_TREE_MEAN_BY_DEPTH, 1, scratch, out), GRPO_NULL, "depth", NULL);
    wrong("set_advantage", grpo_set_advantage(ok, zero, 4, wide, zero, 2, out), GRPO_NOT_INCREASING, "set_begin[1]", NULL);
    wrong("reference_advantage", grpo_reference_advantage(bad, 4, 1, 1, 1, 0, out, &y), GRPO_NAN, "reward[1]", NULL);
    wrong("reference_advantage", grpo_reference_advantage(ok, 4, 1, INFINITY, 1, 0, out, &y), GRPO_INFINITE, "beta", NULL);
}

static void test_paper_statuses(void) {
    four f;
    four_make(&f);
    test_token_statuses(&f);
    test_group_statuses(&f);
    test_paper_list_statuses();
}

int main(int argc, char **argv) {
    if (argc != 2) return fputs("usage: calls DIRECTORY\n", stderr), 2;
    test_random();
    test_extremes();
    test_close_squares();
    test_random_beside();
    test_beside_by_hand();
    test_random_papers();
    test_papers_by_hand();
    test_new_papers();
    test_random_state();
    test_state_by_hand();
    test_statuses();
    test_paper_statuses();
    check_vectors(argv[1]);
    print_tallies();
    return check_summary();
}
