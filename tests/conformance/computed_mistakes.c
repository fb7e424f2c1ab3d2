/* computed_mistakes VECTORS: plain_split.c and plain_rows.c compute for each mistake the answers that the vectors record, in every case
 * that records it. */
#include "../case.h"
#include "../check.h"
#include "judge.h"
#include "plain.h"
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

static void check_case(const test_case *c) {
    const cJSON *defects = cJSON_GetObjectItemCaseSensitive(c->json, "defects");
    source *s = source_of(c->kind);
    for (int n = 0; s && n < s->count(); n++) {
        const cJSON *recorded = cJSON_GetObjectItemCaseSensitive(defects, s->named(n).id);
        if (recorded) check_recorded(s, c, n, recorded);
    }
}

int main(int argc, char **argv) {
    case_list list;
    if (argc != 2 || case_list_read(argv[1], &list)) return fputs("usage: computed_mistakes VECTORS\n", stderr), 2;
    for (int64_t k = 0; k < list.count; k++) {
        case_file file;
        char error[512];
        if (!check(!case_list_load(argv[1], list.name[k], &file, error, sizeof error), "%s: cannot be read", list.name[k])) continue;
        for (int64_t n = 0; n < file.n_cases; n++) check_case(&file.cases[n]);
        case_file_free(&file);
    }
    for (size_t k = 0; k < sizeof sources / sizeof *sources; k++) {
        check(sources[k].held >= sources[k].least, "of %s only %ld mistakes were compared", sources[k].what, sources[k].held);
        printf("%s: %ld mistakes compared\n", sources[k].what, sources[k].held);
    }
    case_list_free(&list);
    return check_summary();
}
