/* Evaluates a case with logits or hidden states by the headers. */
#ifndef ROWS_RUN_H
#define ROWS_RUN_H
#include "../../extra/grpo_logits.h"
#include "../support/case.h"

typedef struct {
    grpo_status status;
    grpo_real *logp, *entropy;      /* (tokens) */
    double loss;
    grpo_real *dlogits;             /* (tokens, vocab); NULL: the case has no gradient */
    double *dhidden, *dweight;      /* (tokens, width), (vocab, width); NULL: CASE_LOGITS */
} rows_result;

rows_result rows_run(const test_case *c);
void rows_free(rows_result *r);

#endif
