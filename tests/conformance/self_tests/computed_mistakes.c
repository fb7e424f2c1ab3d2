/* computed_mistakes VECTORS: computed_split.c and computed_rows.c compute for each mistake the answers that the vectors record, in every
 * case that records it; forms of one mistake are adjacent; and the sizes that mistakes of the loss are compared by are those of the terms
 * of each number. */
#include "../../support/case.h"
#include "../../support/check.h"
#include "../runner/computed.h"
#include "../runner/judge.h"
#include <stdlib.h>

typedef struct {
    const char *what;
    stage_kind stage;
    int (*count)(void);
    computed_mistake (*named)(int n);
    int (*answers)(const test_case *c, int n, answer *out);
    long least, held;               /* the number of comparisons: required, and made */
} source;

static source sources[] = {
    { "cuts", STAGE_LOSS, computed_split_count, computed_split_named, computed_split, 7490, 0 },
    { "logits and hidden states", STAGE_LOGITS, computed_rows_count, computed_rows_named, computed_rows, 2780, 0 },
};

static long sizes;

static source *source_of(case_kind kind) {
    return kind == CASE_SPLIT ? &sources[0] : kind == CASE_LOGITS || kind == CASE_HIDDEN ? &sources[1] : NULL;
}

static void check_recorded(source *s, const test_case *c, int n, const cJSON *recorded) {
    const rules r = { &compare_f64, 64 };
    const char *id = s->named(n).id;
    answer computed, mistake;
    char error[200];
    question q;
    if (!s->answers(c, n, &computed)) return;
    q = question_of(c);
    if (answer_is_brief(recorded) ? !answer_read_brief(recorded, c, &mistake) : !answer_read(recorded, c, &mistake, error, sizeof error)) {
        const judge_how how = answer_is_brief(recorded) ? JUDGE_NAMED : JUDGE_ALL;
        check(judge_against(&r, &q, s->stage, &computed, &mistake, how, NULL) == JUDGE_SAME,
              "%s: %s: the computed answer differs from the recorded one", c->id, id);
        answer_free(&mistake);
        s->held++;
    } else check(0, "%s: %s cannot be read", c->id, id);
    answer_free(&computed);
    question_free(&q);
}

static void put(answer *a, output_kind output, const double *from, int64_t count) {
    double *to = answer_add(a, output, count);
    for (int64_t k = 0; k < count; k++) to[k] = from[k];
}

/* the terms of a number are at least as large as it, and at most as its scale, which has the scales of what they are made of */
static void check_sizes(const test_case *c, const answer *a) {
    static const output_kind outputs[] = { OUT_DLOGITS, OUT_DHIDDEN, OUT_DWEIGHT };
    question q = question_of(c);
    for (size_t n = 0; n < sizeof outputs / sizeof *outputs; n++) {
        const numbers *x = &a->of[outputs[n]], *scale = &q.scale.of[outputs[n]];
        for (int64_t k = 0; x->value && k < x->count; k++) {
            if (!grpo_is_finite(x->value[k]) || !grpo_is_finite(scale->value[k])) continue;
            check(x->size[k] >= fabs(x->value[k]) * (1 - 1e-12), "%s: %s %lld: the size %g is less than %g", c->id, output_name[outputs[n]],
                  (long long)k, x->size[k], fabs(x->value[k]));
            check(x->size[k] <= scale->value[k] * (1 + 1e-6), "%s: %s %lld: the size %g is more than the scale %g", c->id,
                  output_name[outputs[n]], (long long)k, x->size[k], scale->value[k]);
            sizes++;
        }
    }
    question_free(&q);
}

static void check_rows(const test_case *c) {
    test_case *loss = c->kind == CASE_LOGITS || c->kind == CASE_HIDDEN ? loss_of_rows(c) : NULL;
    answer of_loss, a;
    if (!loss) return;
    memset(&of_loss, 0, sizeof of_loss);
    put(&of_loss, OUT_LOSS, &c->loss, 1);
    put(&of_loss, OUT_DLOGP, loss->dlogp.expect, c->batch.n_tokens);
    put(&of_loss, OUT_DENTROPY, loss->dentropy.expect, c->batch.n_tokens);
    if (check(answer_of_rows(c, &of_loss, &a), "%s: has no answer", c->id)) check_sizes(c, &a);
    answer_free(&a);
    answer_free(&of_loss);
    loss_of_rows_free(loss);
}

static void check_case(const test_case *c) {
    const cJSON *defects = cJSON_GetObjectItemCaseSensitive(c->json, "defects");
    source *s = source_of(c->kind);
    for (int n = 0; s && n < s->count(); n++) {
        const cJSON *recorded = cJSON_GetObjectItemCaseSensitive(defects, s->named(n).id);
        if (recorded) check_recorded(s, c, n, recorded);
    }
    check_rows(c);
}

static void check_file(void *user, const char *name, const case_file *file) {
    (void)user;
    (void)name;
    for (int64_t k = 0; k < file->n_cases; k++) check_case(&file->cases[k]);
}

/* the forms of a name are adjacent: diagnose.c counts on from the first */
static void check_adjacent(stage_kind stage) {
    for (int n = 1; n < computed_count(stage); n++) {
        const char *name = computed_named(stage, n).name;
        int first = 0;
        while (strcmp(computed_named(stage, first).name, name)) first++;
        for (int k = first; k < n; k++) check(!strcmp(computed_named(stage, k).name, name), "\"%s\" stands in two places", name);
    }
}

int main(int argc, char **argv) {
    if (argc != 2) return fputs("usage: computed_mistakes VECTORS\n", stderr), 2;
    for (int stage = 0; stage < N_STAGES; stage++) check_adjacent((stage_kind)stage);
    check(!case_each_file(argv[1], check_file, NULL), "%s: not all can be read", argv[1]);
    for (size_t k = 0; k < sizeof sources / sizeof *sources; k++) {
        check(sources[k].held >= sources[k].least, "of %s only %ld mistakes were compared", sources[k].what, sources[k].held);
        printf("%s: %ld mistakes compared\n", sources[k].what, sources[k].held);
    }
    printf("%ld sizes\n", sizes);
    check(sizes >= 1000, "only %ld sizes were compared", sizes);
    return check_summary();
}
