/* grpo_context_array_use against advantages, totals and loss, for every row and random objectives: a call refuses a batch without an array
 * exactly where the array is needed, and an array that it does not read may hold anything without changing a bit. */
#include "../../extra/grpo_context.h"
#include "../support/check.h"
#include "../support/random_objective.h"
#include "../support/result_bits.h"
#include "../support/scratch.h"
#include "../support/status.h"

enum { OBJECTIVES = 1500, MOST_BYTES = 1 << 16 };

typedef struct { const char *name, *path; size_t at; int uses[3]; } array;      /* uses: how many objectives use it so */
static array arrays[] = {
#define ARRAY(member, ...) { #member, "batch." #member, offsetof(grpo_batch, member), { 0, 0, 0 } },
    GRPO_ARRAYS_(ARRAY)
    ARRAY(mask, 0) ARRAY(excluded, 0) ARRAY(group_begin, 0) ARRAY(offset, 0) ARRAY(length, 0)
    { "advantage", "advantage", 0, { 0, 0, 0 } },
};
enum { ARRAYS = sizeof arrays / sizeof *arrays };

/* what a call wrote */
typedef struct { grpo_status status; grpo_totals totals; grpo_report report; grpo_real *array; } answer;

static grpo_status run(const grpo_objective *obj, grpo_reader reader, const grpo_batch *b, const grpo_real *advantage, answer *a) {
    grpo_output out = output_with_scratch(obj, b);
    for (int64_t t = 0; t < b->n_tokens; t++) a->array[t] = 0;
    memset(&a->totals, 0, sizeof a->totals);
    memset(&a->report, 0, sizeof a->report);
    out.dlogp = a->array;
    a->status = reader == GRPO_READER_ADVANTAGES ? grpo_advantages(obj, b, a->array)
        : reader == GRPO_READER_TOTALS ? grpo_totals_add(obj, b, advantage, &a->totals)
        : gspo_loss(obj, b, advantage, NULL, &out, &a->report);
    free(out.scratch);
    return a->status;
}

static int is_same(const answer *a, const answer *b, int64_t tokens) {
    return a->status == b->status && memcmp(&a->totals, &b->totals, sizeof a->totals) == 0 && same_report(&a->report, &b->report)
        && memcmp(a->array, b->array, (size_t)tokens * sizeof *a->array) == 0;
}

/* the call with another array in place of one */
static grpo_status run_with(const grpo_objective *obj, grpo_reader reader, const grpo_batch *b, const grpo_real *advantage,
                            const array *which, const void *other, answer *a) {
    grpo_batch changed = *b;
    if (strcmp(which->name, "advantage") == 0) return run(obj, reader, b, (const grpo_real *)other, a);
    memcpy((char *)&changed + which->at, &other, sizeof other);
    return run(obj, reader, &changed, advantage, a);
}

static void check_array(const char *name, const grpo_objective *obj, grpo_reader reader, const grpo_batch *b, const grpo_real *advantage,
                        array *x, const answer *given, answer *other) {
    static uint64_t garbage[MOST_BYTES / sizeof(uint64_t)];
    const grpo_array_use use = grpo_context_array_use(obj, reader, x->name);
    memset(garbage, 0xFF, sizeof garbage);                               /* NaN */
    check(use >= GRPO_ARRAY_UNREAD && use <= GRPO_ARRAY_NEEDED, "%s: how it uses %s is unknown", name, x->name);
    const grpo_status st = run_with(obj, reader, b, advantage, x, NULL, other);
    const int refused = grpo_status_is(st, GRPO_NULL) && strcmp(grpo_status_what(st), x->path) == 0;
    check(refused == (use == GRPO_ARRAY_NEEDED), "%s, call %d: %s is said to be %s, and without it: %s", name, (int)reader, x->name,
          use == GRPO_ARRAY_NEEDED ? "needed" : use == GRPO_ARRAY_OPTIONAL ? "optional" : "unread", status_line(st));
    if (use == GRPO_ARRAY_UNREAD) {
        check(is_same(given, other, b->n_tokens), "%s, call %d: %s is missed", name, (int)reader, x->name);
        run_with(obj, reader, b, advantage, x, garbage, other);
        check(is_same(given, other, b->n_tokens), "%s, call %d: %s is read", name, (int)reader, x->name);
    }
    if (use >= 0) x->uses[use]++;
}

static void check_objective(const char *name, const grpo_objective *obj, uint64_t seed) {
    rng r = { seed };
    rollouts b;
    answer given, other;
    rollouts_random(&r, 0, &b);
    const grpo_batch view = rollouts_view(&b);
    grpo_real *advantage = test_alloc(b.n_tokens, sizeof *advantage);
    for (int64_t t = 0; t < b.n_tokens; t++) advantage[t] = (grpo_real)rng_bell(&r);
    given.array = test_alloc(b.n_tokens, sizeof *given.array);
    other.array = test_alloc(b.n_tokens, sizeof *other.array);
    const int fits = b.n_tokens * 8 <= MOST_BYTES && b.n_sequences * b.n_rewards * 8 <= MOST_BYTES;
    for (int reader = GRPO_READER_ADVANTAGES; fits && reader <= GRPO_READER_LOSS; reader++) {
        if (run(obj, (grpo_reader)reader, &view, advantage, &given)) continue;      /* numbers that it refuses */
        for (int k = 0; k < ARRAYS; k++) check_array(name, obj, (grpo_reader)reader, &view, advantage, &arrays[k], &given, &other);
    }
    free(advantage); free(given.array); free(other.array);
    rollouts_free(&b);
}

static void check_unknown(void) {
    grpo_objective obj;
    check(!grpo_objective_named("grpo", &obj), "grpo");
    check(grpo_context_array_use(&obj, GRPO_READER_LOSS, "logp_new") == GRPO_ARRAY_UNKNOWN, "no array of that name");
    check(grpo_context_array_use(&obj, GRPO_READER_LOSS, NULL) == GRPO_ARRAY_UNKNOWN, "no name");
    check(grpo_context_array_use(&obj, (grpo_reader)3, "logp") == GRPO_ARRAY_UNKNOWN, "no such call");
    obj.surrogate.kind = (grpo_surrogate_kind)-1;
    check(grpo_context_array_use(&obj, GRPO_READER_LOSS, "logp") == GRPO_ARRAY_UNKNOWN, "no valid objective");
}

int main(void) {
    int n;
    rng r = { 19 };
    const grpo_preset *p = grpo_presets(&n);
    for (int k = 0; k < n; k++) {
        const grpo_objective obj = grpo_objective_from_preset(&p[k]);
        check_objective(p[k].name, &obj, 100 + (uint64_t)k);
    }
    for (int k = 0; k < OBJECTIVES / DRAWS_OVER; k++) {
        char name[40];
        grpo_objective obj;
        random_objective(&r, &obj);
        sprintf(name, "objective %d", k);
        check_objective(name, &obj, 1000 + (uint64_t)k);
    }
    check_unknown();
    for (int k = 0; k < ARRAYS; k++) {
        const int *use = arrays[k].uses, is_layout = use[GRPO_ARRAY_UNREAD] == 0;
        check(is_layout || use[GRPO_ARRAY_NEEDED] + use[GRPO_ARRAY_OPTIONAL] > 4 / DRAWS_OVER, "%s is hardly read", arrays[k].name);
    }
    return check_summary();
}
