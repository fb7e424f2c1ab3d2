/* computed_table VECTORS ROW...: prints what each computed mistake gives in each case of the rows, a line for each output: the case, the
 * stage, the name, the output and its numbers, separated by tabs.  For computed_test.py. */
#include "../runner/computed.h"
#include "../runner/text.h"
#include <stdio.h>
#include <stdlib.h>

static void print_mistake(const test_case *c, stage_kind stage, int n) {
    static const output_kind outputs[] = { OUT_ADVANTAGE, OUT_LOSS, OUT_TERM, OUT_DLOGP, OUT_DENTROPY };
    const computed_mistake m = computed_named(stage, n);
    answer a;
    if (!computed_answer(c, stage, n, &a)) return;
    for (size_t k = 0; k < sizeof outputs / sizeof *outputs; k++) {
        const numbers *x = &a.of[outputs[k]];
        if (!x->value) continue;
        printf("%s\t%s\t%s\t%s\t", c->id, stage == STAGE_LOSS ? "loss" : "advantage", m.id ? m.id : m.name, output_name[outputs[k]]);
        for (int64_t j = 0; j < x->count; j++) printf("%s%.17g", j ? " " : "", x->value[j]);
        puts("");
    }
    answer_free(&a);
}

int main(int argc, char **argv) {
    if (argc < 3) return fputs("usage: computed_table VECTORS ROW...\n", stderr), 2;
    for (int row = 2; row < argc; row++) {
        case_file file;
        char error[512];
        if (case_list_load(argv[1], argv[row], &file, error, sizeof error)) return fprintf(stderr, "%s: %s\n", argv[row], error), 2;
        for (int64_t k = 0; k < file.n_cases; k++)
            for (int stage = STAGE_ADVANTAGE; stage <= STAGE_LOSS; stage++)
                for (int n = 0; n < computed_count((stage_kind)stage); n++) print_mistake(&file.cases[k], (stage_kind)stage, n);
        case_file_free(&file);
    }
    return 0;
}
