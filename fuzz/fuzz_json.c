/* Fuzzes the reader of the vectors (tests/support/case.c): any bytes are read as a file or give an error message; the cases of a file that
 * was read can be evaluated. */
#include "../gspo.h"
#include "../tests/support/case.h"
#include "../tests/support/scratch.h"
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int ok, const char *what) {
    if (ok) return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

static void evaluate(const test_case *c) {
    const size_t tokens = c->batch.n_tokens > 0 ? (size_t)c->batch.n_tokens : 1;
    grpo_real *advantage = (grpo_real *)calloc(tokens, sizeof *advantage), *dlogp = (grpo_real *)calloc(tokens, sizeof *dlogp);
    grpo_report report;
    grpo_output out = output_with_scratch(&c->objective, &c->batch);
    grpo_status st = GRPO_OK;
    out.dlogp = dlogp;
    if (advantage && dlogp) {
        if (!c->given) st = grpo_advantages(&c->objective, &c->batch, advantage);
        if (!st) st = gspo_loss(&c->objective, &c->batch, c->given ? c->given : advantage, NULL, &out, &report);
        if (!st) require(report.loss == report.loss, "NaN loss");
    }
    free(out.scratch);
    free(advantage);
    free(dlogp);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char error[200];
    case_file file;
    int64_t k;
    memset(error, 'x', sizeof error);
    memset(&file, 0, sizeof file);
    if (case_file_parse((const char *)data, size, &file, error, sizeof error)) {
        require(memchr(error, 0, sizeof error) != NULL && error[0], "refused without a message");
        return 0;
    }
    for (k = 0; k < file.n_cases; k++) evaluate(&file.cases[k]);
    case_file_free(&file);
    return 0;
}
