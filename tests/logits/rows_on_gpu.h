/* The functions of one row of extra/grpo_logits.h by the kernels of examples/cuda/rows.cuh.  Tests compiled with ROWS_ON_GPU call these on
 * the GPU, or on its simulation on the host (tests/logits/cuda_on_host), instead of the functions of the header. */
#ifndef ROWS_ON_GPU_H
#define ROWS_ON_GPU_H
#include "../../extra/grpo_logits.h"

#ifdef __cplusplus
extern "C" {
#endif
/* returns the header's status, and checks that the kernel refuses the same input.  The kernel takes dlogp and dentropy as float. */
grpo_status row_read_on_gpu(const grpo_logits *x, int64_t row, grpo_logits_part *part);
grpo_status row_gradient_on_gpu(const grpo_logits *x, int64_t row, const grpo_logits_part *part, double dlogp, double dentropy,
                                void *dlogits);
int is_there_a_gpu(void);
#ifdef __cplusplus
}
#endif

#ifdef ROWS_ON_GPU
enum { ON_GPU = 1 };
#define grpo_logits_row_read row_read_on_gpu
#define grpo_logits_row_gradient row_gradient_on_gpu
#else
enum { ON_GPU = 0 };
#endif
#endif
