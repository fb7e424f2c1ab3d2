/* The functions of rows.c, and the arrays of its batch.  Both compiled versions use the same arrays, so that addresses do not affect the
 * comparison. */
#ifndef GRPO_BENCH_ROWS_H
#define GRPO_BENCH_ROWS_H
#include <stdint.h>

enum { ROWS_GROUPS = 64, ROWS_GROUP = 8, ROWS_SEQUENCES = ROWS_GROUPS * ROWS_GROUP, ROWS_LONGEST = 256 };
enum { ROWS_MOST = ROWS_SEQUENCES * ROWS_LONGEST + 144 };     /* no power of two, which would map all arrays to the same cache sets */

typedef struct {
    float logp[ROWS_MOST], logp_old[ROWS_MOST], logp_ref[ROWS_MOST], logp_rollout[ROWS_MOST], entropy[ROWS_MOST], value[ROWS_MOST];
    float advantage[ROWS_MOST], dlogp[ROWS_MOST], reward[ROWS_SEQUENCES], baseline[ROWS_SEQUENCES];
    int64_t group_begin[ROWS_GROUPS + 1], offset[ROWS_SEQUENCES], length[ROWS_SEQUENCES];
} rows_arrays;

void rows_begin(rows_arrays *arrays);
const char *rows_name(int k);                           /* NULL after the last */
int rows_choose(const char *name);                      /* 0: no such row, or it needs further arrays */
int rows_tokens(void);                                  /* number of tokens of the batch */
double rows_bound(void);                                /* limit of the chosen row in ns per token, with -O3 -march=native */
double rows_call(double *loss, double *gradient);       /* seconds; gradient: a weighted sum of it.  -1: refused */
#endif
