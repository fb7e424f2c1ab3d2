/* Evaluates a split (case.h) by the headers: adds up the totals over the parts of each optimiser step, then evaluates every part with them.
 * If a part has a piece of a response, or of a group where a divisor is per group, all parts of the step are evaluated as ranks of one
 * context group (extra/grpo_context.h); where the objective needs whole responses, in one piece, as after a gather. */
#ifndef SPLIT_RUN_H
#define SPLIT_RUN_H
#include "case.h"

typedef struct {
    grpo_status status;
    double loss;                        /* over the steps, averaged over ranks or added as the case says */
    grpo_real *dlogp, *term;
    double *list[CASE_N_LISTS];         /* (case_list_size) NaN: not computed; NULL: none computed */
    int cut, gathered;                  /* was a step evaluated from pieces of responses; in one piece after a gather? */
} split_outcome;

split_outcome split_run(const test_case *c, const grpo_real *advantage);
void split_outcome_free(split_outcome *o);

#endif
