/* For every row: advantages and outputs of the loss are written at every token of every response, 0 at masked ones, and for every group;
 * slots outside the responses are not written to. */
#include "../../gspo.h"
#include "../support/check.h"
#include "../support/random_batch.h"
#include "../support/scratch.h"

static long outside, masked;

/* frees x */
static void check_tokens(const char *row, const char *what, const rollouts *b, grpo_real *x) {
    uint8_t *inside = (uint8_t *)test_alloc(b->n_tokens, 1);
    memset(inside, 0, (size_t)b->n_tokens);
    for (int64_t i = 0; i < b->n_sequences; i++) memset(inside + b->offset[i], 1, (size_t)b->length[i]);
    for (int64_t t = 0; t < b->n_tokens; t++) {
        outside += !inside[t];
        masked += inside[t] && !b->mask[t];
        if (!inside[t]) check(x[t] == UNWRITTEN, "%s, %s[%d]: written outside of every response", row, what, (int)t);
        else if (!b->mask[t]) check(x[t] == 0, "%s, %s[%d]: masked, and %g", row, what, (int)t, (double)x[t]);
        else check(x[t] != UNWRITTEN, "%s, %s[%d]: not written", row, what, (int)t);
    }
    free(inside);
    free(x);
}

typedef grpo_status loss_function(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                                  const grpo_totals *totals, const grpo_output *out, grpo_report *report);

static grpo_status check_loss(const char *row, const grpo_objective *obj, const rollouts *b, const grpo_real *A, loss_function *loss) {
    const grpo_batch batch = rollouts_view(b);
    grpo_output out = output_with_scratch(obj, &batch);
    grpo_report report;
    grpo_status st;
    out.dlogp = unwritten(b->n_tokens); out.dentropy = unwritten(b->n_tokens); out.term = unwritten(b->n_tokens);
    out.ddivergence_ref = unwritten(b->n_tokens);
    out.dlog_partition = unwritten(b->n_groups);
    st = loss(obj, &batch, A, NULL, &out, &report);
    for (int64_t g = 0; !st && g < b->n_groups; g++) check(out.dlog_partition[g] != UNWRITTEN, "%s: group %d is not written", row, (int)g);
    if (st) {
        free(out.dlogp); free(out.dentropy); free(out.ddivergence_ref); free(out.term);
    } else {
        check_tokens(row, "dlogp", b, out.dlogp);
        check_tokens(row, "dentropy", b, out.dentropy);
        check_tokens(row, "ddivergence_ref", b, out.ddivergence_ref);
        check_tokens(row, "term", b, out.term);
    }
    free(out.dlog_partition);
    free(out.scratch);
    return st;
}

/* returns 1 if the row accepts the batch: some rows need particular rewards or numbers of responses */
static int check_row(const char *row, const grpo_objective *obj, const rollouts *b) {
    const grpo_batch batch = rollouts_view(b);
    grpo_real *A = unwritten(b->n_tokens), *copy;
    grpo_status st = grpo_advantages(obj, &batch, A);
    if (!st) {
        copy = unwritten(b->n_tokens);
        memcpy(copy, A, (size_t)b->n_tokens * sizeof *A);
        check_tokens(row, "advantage", b, copy);
        st = check_loss(row, obj, b, A, gspo_loss);
        if (!st && obj->ratio.level == GRPO_LEVEL_TOKEN) check_loss(row, obj, b, A, grpo_loss);
    }
    free(A);
    return !st;
}

int main(void) {
    rng r = { 5 };
    int n;
    const grpo_preset *p = grpo_presets(&n);
    for (int k = 0; k < n; k++) {
        const grpo_objective obj = grpo_objective_from_preset(&p[k]);
        int taken = 0;
        for (int tries = 0; tries < 400 && taken < 3; tries++) {
            rollouts b;
            rollouts_random(&r, tries % 2 ? RANDOM_SMALL : 0, &b);
            for (int64_t i = 0; tries % 4 > 1 && i < b.n_sequences; i++) b.reward[i] = (grpo_real)(i % 2);
            taken += check_row(p[k].name, &obj, &b);
            rollouts_free(&b);
        }
        check(taken > 0, "%s takes none of the batches", p[k].name);
    }
    check(outside > 10000 && masked > 10000, "%ld elements outside of responses, %ld masked", outside, masked);
    return check_summary();
}
