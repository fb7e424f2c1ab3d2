/* A split (case.h) evaluated by the headers: totals over the parts of each optimiser step, then every part with them.  Where a part holds a
 * piece of what counts as a whole, of a response, or of a group that divides, all parts of the step go as the ranks of one context group
 * (extra/grpo_context.h); where the objective asks for whole responses they are evaluated together, as after a gather. */
#ifndef SPLIT_RUN_H
#define SPLIT_RUN_H
#include "case.h"

typedef struct {
    grpo_status status;
    double loss;                        /* over the steps, averaged over ranks or added as the case says */
    grpo_real *dlogp, *term;
    double *list[CASE_N_LISTS];         /* (case_list_size) NaN: not found; NULL: never found */
    int cut, gathered;                  /* was a step evaluated from pieces of responses; together? */
} split_outcome;

split_outcome split_run(const test_case *c, const grpo_real *advantage);
void split_outcome_free(split_outcome *o);

#endif
