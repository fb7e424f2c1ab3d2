/* The functions of extra/ against the cases of kind `call` in DIRECTORY/calls.json.
 *
 *     calls DIRECTORY */
#include "extra.h"
#include "call_run.h"
#include <cJSON.h>

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

int main(int argc, char **argv) {
    if (argc != 2) return fputs("usage: calls DIRECTORY\n", stderr), 2;
    check_vectors(argv[1]);
    print_tallies();
    return check_summary();
}
