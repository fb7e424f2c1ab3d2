/* Shared by the tests of the functions of extra/: random batches, sorted lists of their tokens in binary128, errors in ulps. */
#ifndef EXTRA_H
#define EXTRA_H
#include "../../extra/grpo_control.h"
#include "../../extra/grpo_credit.h"
#include "../../extra/grpo_critic.h"
#include "../../extra/grpo_rewards.h"
#include "../../extra/grpo_selection.h"
#include "../../extra/grpo_weights.h"
#include "../support/check.h"
#include "../support/compare.h"
#include "../reference/reference.h"
#include "../support/status.h"

/* ---- errors, in ulps of the scale ------------------------------------------------------------------------------------------------ */

#ifdef GRPO_DOUBLE
static const double REAL_EPS = DBL_EPSILON, REAL_TINY = 0x1p-1074, REAL_MAX = DBL_MAX;
#else
static const double REAL_EPS = FLT_EPSILON, REAL_TINY = 0x1p-149, REAL_MAX = FLT_MAX;
#endif

enum { MAX_TALLIES = 192 };
static struct { char name[40]; double worst; long count; } tallies[MAX_TALLIES];

static inline void tally(const char *name, double error) {
    int k = 0;
    while (*tallies[k].name && strcmp(tallies[k].name, name)) k++;
    if (k == MAX_TALLIES - 1) abort();
    snprintf(tallies[k].name, sizeof tallies[k].name, "%s", name);
    tallies[k].count++;
    if (error > tallies[k].worst) tallies[k].worst = error;
}

static inline void print_tallies(void) {
    for (int k = 0; *tallies[k].name; k++)
        printf("%-24s %8ld numbers, worst %.3g ulps\n", tallies[k].name, tallies[k].count, tallies[k].worst);
}

/* stored: found is an element of an array; 0: a double in both builds */
static inline void judge(const char *name, double found, reference_real expected, reference_real scale, int stored) {
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

static inline void near_list(const char *name, const double *found, const double *expected, int n) {
    for (int k = 0; k < n; k++) judge(name, found[k], expected[k], fabs(expected[k]), 0);
}

static inline void near_reals(const char *name, const grpo_real *found, const double *expected, int n) {
    for (int k = 0; k < n; k++) check(found[k] == (grpo_real)expected[k], "%s: %g, expected %g", name, (double)found[k], expected[k]);
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

static inline grpo_real random_value(rng *r, int mixture) {
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

/* draws twice, in statements of their own, so that the order does not depend on the compiler */
static inline double random_scaled(rng *r, int binades) {
    const double x = rng_unit(r);
    return ldexp(x, (int)rng_below(r, binades));
}

static inline double random_size(rng *r, int decades) { return exp(log(10) * decades * (2 * rng_unit(r) - 1)); }

static inline double random_signed(rng *r, int decades) {
    const double x = rng_bell(r);
    return x * random_size(r, decades);
}

/* a batch of hundreds of short sequences */
static inline void many_sequences(rng *r, rollouts *b) {
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

static inline void trial_values(rng *r, trial *t) {
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

static inline void trial_make(rng *r, trial *t) {
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
    if (rng_chance(r, 20)) {                /* without a mask no token may be garbage */
        for (int64_t k = 0; k < t->total; k++) {
            t->b.mask[t->place[k]] = 1;
            for (int a = 0; a < TOKEN_ARRAYS; a++) t->b.token[a][t->place[k]] = 0;
        }
        trial_values(r, t);
        t->view.mask = NULL;
    }
}

static inline void trial_free(trial *t) {
    rollouts_free(&t->b);
    free(t->by); free(t->advantage); free(t->excluded); free(t->selected); free(t->expected); free(t->place);
}

/* ---- the tokens of a trial ------------------------------------------------------------------------------------------------------ */

/* expects 0 in `selected` at every token; slots outside the sequences must stay untouched */
static inline void expect_nothing(trial *t) {
    memset(t->selected, 0x5a, (size_t)t->b.n_tokens);
    memset(t->expected, 0x5a, (size_t)t->b.n_tokens);
    for (int64_t k = 0; k < t->total; k++) t->expected[t->place[k]] = 0;
}

static inline void check_selected(const trial *t, const char *what, grpo_status st) {
    int64_t s = 0;
    while (s < t->b.n_tokens && t->selected[s] == t->expected[s]) s++;
    check(st == GRPO_OK, "%s: %s", what, status_line(st));
    check(s == t->b.n_tokens, "%s: slot %lld of %lld", what, (long long)s, (long long)t->b.n_tokens);
}

typedef struct { reference_real x; int64_t rank, slot; } sorted_token;
typedef struct { sorted_token *token; int64_t n; int rounded; } sorted_list;    /* rounded: binary128 does not hold every x exactly */

static inline int ascending(const void *a, const void *b) {
    const sorted_token *p = a, *q = b;
    return p->x < q->x ? -1 : p->x > q->x ? 1 : p->rank < q->rank ? -1 : 1;
}

static inline sorted_list list_of(const trial *t) {
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

static inline void list_sort(sorted_list *l) { qsort(l->token, (size_t)l->n, sizeof *l->token, ascending); }

/* an array that is garbage except at unmasked tokens, which have multiples of 1/4 or any numbers in [low, high] */
static inline grpo_real *more_tokens(rng *r, const trial *t, double low, double high) {
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

static inline grpo_real *no_tokens(const trial *t) {
    grpo_real *x = test_alloc(t->b.n_tokens, sizeof *x);
    for (int64_t s = 0; s < t->b.n_tokens; s++) x[s] = 4321;
    return x;
}

static inline int64_t mask_tokens(const trial *t, int64_t begin, int64_t end) {
    int64_t n = 0;
    for (int64_t i = begin; i < end; i++) for (int64_t k = 0; k < t->b.length[i]; k++) n += t->b.mask[t->b.offset[i] + k];
    return n;
}

static inline reference_real at_least_one(int64_t n) { return n > 0 ? n : 1; }

/* ---- a trial with random numbers of every kind for each sequence ------------------------------------------------------------------ */

typedef struct {
    const trial *t;
    grpo_batch b;                                       /* the view of t with the arrays below */
    grpo_real *logp, *old, *ref, *teacher, *reward, *found, *tokens;
    double *number, *other, *positive, *unit;           /* (sequences) */
    int64_t *whole, *id;
    uint8_t *flag, *second;
    grpo_dd *scratch;
    int64_t N;
} sequences;

static inline void sequences_make(rng *r, const trial *t, sequences *p) {
    const int64_t N = p->N = t->b.n_sequences;
    const int binary = rng_chance(r, 50);
    p->t = t;
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

static inline void sequences_free(sequences *p) {
    void *const all[] = { p->logp, p->old, p->ref, p->teacher, p->reward, p->found, p->tokens, p->number, p->other, p->positive, p->unit,
                          p->whole, p->id, p->flag, p->second, p->scratch };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
}

static inline int counts(const sequences *p, int64_t t) { return !p->b.mask || p->b.mask[t]; }

static inline reference_real mean_of(const sequences *p, const grpo_real *x, const grpo_real *y, int64_t i, int64_t *n) {
    reference_real sum = 0;
    *n = 0;
    for (int64_t t = p->b.offset[i]; t < p->b.offset[i] + p->b.length[i]; t++)
        if (counts(p, t)) { sum += (reference_real)x[t] - (y ? (reference_real)y[t] : 0); (*n)++; }
    return *n ? sum / *n : 0;
}

/* ---- one group of four responses of three tokens --------------------------------------------------------------------------------- */

typedef struct {
    int64_t group_begin[2], offset[4], length[4];
    grpo_real tokens[12], reward[4], found[12];
    uint8_t mask[12];
    grpo_batch b;
} four;

static inline void four_make(four *f) {
    memset(f, 0, sizeof *f);
    f->group_begin[1] = 4;
    for (int i = 0; i < 4; i++) { f->offset[i] = 3 * i; f->length[i] = 3; }
    for (int k = 0; k < 12; k++) { f->tokens[k] = -1; f->mask[k] = 1; }
    f->b.n_groups = 1; f->b.group_begin = f->group_begin; f->b.offset = f->offset; f->b.length = f->length; f->b.n_tokens = 12;
    f->b.logp = f->b.logp_old = f->b.logp_ref = f->b.logp_teacher = f->tokens; f->b.reward = f->reward; f->b.mask = f->mask;
}

/* ---- runs all tests of a program in turn, each `times` times ------------------------------------------------------------------------- */

typedef void list_test(rng *r);
typedef void trial_test(rng *r, trial *t);
typedef void sequence_test(rng *r, sequences *p);
#define COUNT(array) (sizeof(array) / sizeof *(array))

static inline void test_lists(uint64_t seed, int times, list_test *const *test, size_t n) {
    rng r = { seed };
    for (int k = 0; k < times / DRAWS_OVER; k++) for (size_t j = 0; j < n; j++) test[j](&r);
}

static inline void test_trials(uint64_t seed, int times, trial_test *const *test, size_t n) {
    rng r = { seed };
    for (int k = 0; k < times / DRAWS_OVER; k++) {
        trial t;
        trial_make(&r, &t);
        for (size_t j = 0; j < n; j++) test[j](&r, &t);
        trial_free(&t);
    }
}

/* with batches of less than 200 sequences */
static inline void test_sequences(uint64_t seed, int times, sequence_test *const *test, size_t n) {
    rng r = { seed };
    for (int k = 0; k < times / DRAWS_OVER; k++) {
        trial t;
        sequences p;
        trial_make(&r, &t);
        sequences_make(&r, &t, &p);
        for (size_t j = 0; j < n && p.N < 200; j++) test[j](&r, &p);
        sequences_free(&p);
        trial_free(&t);
    }
}
#endif
