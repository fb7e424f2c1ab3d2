/* The room an evaluation needs, of exactly that size, so that an address sanitiser sees the first step past it.
 *
 *     grpo_output out = output_with_scratch(&obj, &batch);
 *     out.dlogp = ...
 *     free(out.scratch); */
#ifndef SCRATCH_H
#define SCRATCH_H
#include "../gspo.h"
#include <stdlib.h>

static inline grpo_output output_with_scratch(const grpo_objective *obj, const grpo_batch *batch) {
    grpo_output out;
    memset(&out, 0, sizeof out);
    out.scratch_size = gspo_scratch(obj, batch);
    if (out.scratch_size > 0) out.scratch = (double *)malloc((size_t)out.scratch_size * sizeof *out.scratch);
    return out;
}
#endif
