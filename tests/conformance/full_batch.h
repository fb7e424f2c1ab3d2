/* Batches that have every array, on which no two of the published objectives give the same answers. */
#ifndef FULL_BATCH_H
#define FULL_BATCH_H
#include "../case.h"

enum { FULL_TOKEN_ADVANTAGES = 3, N_FULL_BATCHES };     /* advantages of all but the last are the same at every token of a sequence */

/* the case as the protocol asks it: JSON, for the caller to free */
char *full_batch_case(int which, const grpo_objective *objective);

/* the same as a case to evaluate; case_free and cJSON_Delete it */
struct cJSON *full_batch_read(int which, const grpo_objective *objective, test_case *out);

#endif
