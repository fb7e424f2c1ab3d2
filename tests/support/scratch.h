/* An output with scratch of exactly the size that the evaluation needs, so that an address sanitiser detects the first access past it.
 *
 *     grpo_output out = output_with_scratch(&obj, &batch);
 *     out.dlogp = ...
 *     free(out.scratch); */
#ifndef SCRATCH_H
#define SCRATCH_H
#include "../../gspo.h"
#include <stdlib.h>

static inline grpo_output output_with_scratch(const grpo_objective *obj, const grpo_batch *batch) {
    grpo_output out;
    memset(&out, 0, sizeof out);
    out.scratch_size = gspo_scratch(obj, batch);
    if (out.scratch_size > 0) out.scratch = (double *)malloc((size_t)out.scratch_size * sizeof *out.scratch);
    return out;
}
#endif
