/* Calls the functions of extra/ by their names in the vectors (vectors/README.md, "Functions").  call_run.c has a table of them. */
#ifndef CALL_RUN_H
#define CALL_RUN_H
#include "../support/case.h"

typedef struct {
    struct cJSON *answers;      /* an object like a case's `expect`; NULL: none, and error says why */
    int elements;               /* 1: the numbers have been rounded to grpo_real; 0: doubles in every build */
    int unknown;                /* 1: an unknown function, argument or choice */
    char error[160];
} call_result;

call_result call_run(const test_case *c);       /* of kind CASE_CALL */
/* the same with the batch's responses at the indices from `first`; indices of responses among the answers are larger by that */
call_result call_run_from(const test_case *c, int64_t first);
void call_free(call_result *r);

#endif
