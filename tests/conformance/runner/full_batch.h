/* The batches of --identify: they have every array, and any two published objectives that differ give different answers on them. */
#ifndef FULL_BATCH_H
#define FULL_BATCH_H
#include "../../support/case.h"

/* FULL_PROBABLE has log-probabilities of probabilities from 0.1 to 1, the other batches very low ones.  FULL_TOKEN_ADVANTAGES has per-token
 * advantages; in the other batches all tokens of a sequence have the same advantage. */
enum { FULL_PROBABLE = 3, FULL_TOKEN_ADVANTAGES, N_FULL_BATCHES };

/* the case as the program gets it: JSON, for the caller to free */
char *full_batch_case(int which, const grpo_objective *objective);

/* the same as a case to evaluate; the caller frees it with case_free, and the returned JSON with cJSON_Delete */
struct cJSON *full_batch_read(int which, const grpo_objective *objective, test_case *out);

#endif
