/* The functions of extra/ against the cases of kind `call` in DIRECTORY/calls.json, and again with batches that begin at response 3.
 *
 *     calls DIRECTORY */
#include "extra.h"
#include "call_run.h"
#include <cJSON.h>

/* 1 if this answer, "pivot[0]", is the index of a response; -1 is none */
static int is_response(const char *function, const char *where, double answer) {
    static const char *const indices[][2] = {
        { "pad_valid", "index" }, { "median_advantage", "pivot" }, { "hard_negative_advantage", "replace" }, { "distill_pairs", "teacher" },
        { "distill_pairs", "student" }
    };
    for (size_t k = 0; answer >= 0 && k < COUNT(indices); k++)
        if (!strcmp(function, indices[k][0]) && !strncmp(where, indices[k][1], strlen(indices[k][1]))) return 1;
    return 0;
}

static void check_answers(const test_case *c, const call_result *r, int64_t first) {
    double *value = test_alloc(c->n_call, sizeof *value);
    uint8_t *given = test_alloc(c->n_call, 1);
    char why[200], where[120];
    *why = 0;
    check(!case_call_read(c, r->answers, value, given, why, sizeof why), "%s: %s", c->id, why);
    for (int64_t k = 0; k < c->n_call && !*why; k++) {
        double expected = c->call.expect[k], scale = c->call.scale[k], error;
        case_call_where(c, k, where, sizeof where);
        if (is_response(c->function, where, expected)) expected += (double)first;
        error = r->elements ? compare_error(value[k], expected, scale, 1) : compare_error_in(&compare_f64, value[k], expected, scale);
        if (scale > 0) tally(c->function, error);
        check(given[k] && error <= COMPARE_LIMIT, "%s: %s is %.17g, expected %.17g, %.3g ulps", c->id, where, value[k], expected, error);
    }
    free(value);
    free(given);
}

static void check_call(const test_case *c, int64_t first) {
    call_result r = call_run_from(c, first);
    if (check(r.answers != NULL, "%s from response %d: %s", c->id, (int)first, r.error)) {
        check_answers(c, &r, first);
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
    for (k = 0; k < file.n_cases; k++) {
        if (file.cases[k].kind != CASE_CALL) continue;
        check_call(&file.cases[k], 0);
        check_call(&file.cases[k], 3);
        n++;
    }
    check(n > 0, "%s: no calls", path);
    printf("%lld calls of %s\n", (long long)n, path);
    case_file_free(&file);
}

int main(int argc, char **argv) {
    if (argc != 2) return fputs("usage: calls DIRECTORY\n", stderr), 2;
    check_vectors(argv[1]);
    print_tallies();
    return check_summary();
}
