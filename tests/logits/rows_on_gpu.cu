/* See rows_on_gpu.h.  Rows lie at every address that an element can have; gradients in the place of the logits, or elsewhere, by turns. */
#define GRPO_HIDDEN_IMPLEMENTATION
#define GRPO_LOGITS_IMPLEMENTATION
#include "../../extra/grpo_hidden.h"
#include "../../examples/cuda/rows.cuh"
#include "rows_on_gpu.h"
#include <cstdio>
#include <cstdlib>

static void cuda(cudaError_t e) {
    if (e == cudaSuccess) return;
    fprintf(stderr, "%s\n", cudaGetErrorString(e));
    exit(1);
}

/* of the device, kept from call to call */
typedef struct { char *bytes; size_t size; } memory;

static char *at_least(memory *m, size_t size) {
    if (m->size >= size) return m->bytes;
    if (m->bytes) cuda(cudaFree(m->bytes));
    m->size = 2 * size;
    cuda(cudaMalloc(&m->bytes, m->size));
    return m->bytes;
}

static void put(void *to, const void *from, size_t size) { cuda(cudaMemcpy(to, from, size, cudaMemcpyHostToDevice)); }
static void get(void *to, const void *from, size_t size) { cuda(cudaMemcpy(to, from, size, cudaMemcpyDeviceToHost)); }

enum { NUMBERS = 4 };                                                   /* logp, entropy, dlogp, dentropy */
static memory logits, kept, gradient, rest;
static unsigned calls;

typedef struct { int64_t target; grpo_logits_part part; float number[NUMBERS]; } small;

/* one row of x on the device, and room for what comes of it */
static grpo_logits_batch to_device(const grpo_logits *x, int64_t row) {
    const size_t element = x->type == GRPO_LOGITS_REAL ? 4 : 2, size = (size_t)x->vocab * element;
    const size_t off = calls % (16 / element) * element, other = calls / 3 % 2 ? off : calls * 5 % (16 / element) * element;
    small *s = (small *)at_least(&rest, sizeof *s);
    grpo_logits_batch b;
    memset(&b, 0, sizeof b);
    b.logits = *x;
    b.logits.rows = 1;
    b.logits.stride = x->vocab;
    b.logits.logits = at_least(&logits, size + 16) + off;
    put((void *)b.logits.logits, (const char *)x->logits + (size_t)(row * x->stride) * element, size);
    if (x->kept) {
        b.logits.kept = (uint8_t *)at_least(&kept, (size_t)x->vocab);
        put((void *)b.logits.kept, x->kept + row * x->stride, (size_t)x->vocab);
    }
    b.logits.target = &s->target;
    put(&s->target, &x->target[row], sizeof s->target);
    b.part = &s->part; b.logp = &s->number[0]; b.entropy = &s->number[1];
    b.dlogits = at_least(&gradient, size + 16) + other;
    if (calls++ % 2) b.dlogits = (void *)b.logits.logits;
    return b;
}

static int is_finite_float(float x) { return x - x == 0; }

grpo_status row_read_on_gpu(const grpo_logits *x, int64_t row, grpo_logits_part *part) {
    grpo_logits_part found, host;
    grpo_logits_row numbers;
    float number[2];
    const grpo_status st = grpo_logits_row_read(x, row, &host);
    if (grpo_check_row_of_logits_(x, row)) return st;
    const grpo_logits_batch b = to_device(x, row);
    cuda(grpo_cuda_batch_read(&b, NULL, 0));
    get(&found, b.part, sizeof found);
    get(number, b.logp, sizeof number);
    if ((found.sum.hi != found.sum.hi) != (st != GRPO_OK)) { fprintf(stderr, "the device refuses other rows\n"); exit(1); }
    if (st) return st;
    *part = found;
    grpo_logits_part_row(&found, x->temperature, &numbers);
    if (found.has_target ? number[0] != (float)numbers.logp || number[1] != (float)numbers.entropy : number[0] == number[0]) {
        /* the device's logarithms may round elsewhere */
        const double apart = fabs((double)number[0] - numbers.logp), far = fabs((double)number[1] - numbers.entropy);
        if (!(apart <= 2 * FLT_EPSILON * fabs(numbers.logp) && far <= 2 * FLT_EPSILON * numbers.entropy) || !is_finite_float(number[1])) {
            fprintf(stderr, "logp %g and entropy %g, of the part %g and %g\n", number[0], number[1], numbers.logp, numbers.entropy);
            exit(1);
        }
    }
    return GRPO_OK;
}

grpo_status row_gradient_on_gpu(const grpo_logits *x, int64_t row, const grpo_logits_part *part, double dlogp, double dentropy,
                                void *dlogits) {
    const float d[2] = { (float)dlogp, (float)dentropy };
    if (grpo_check_row_of_logits_(x, row) || !part || !dlogits) return grpo_logits_row_gradient(x, row, part, dlogp, dentropy, dlogits);
    const grpo_logits_batch b = to_device(x, row);
    small *s = (small *)rest.bytes;
    put(&s->part, part, sizeof *part);
    put(&s->number[2], d, sizeof d);
    cuda(grpo_cuda_batch_gradient(&b, NULL, &s->number[2], &s->number[3], 0));
    get(dlogits, b.dlogits, (size_t)x->vocab * (x->type == GRPO_LOGITS_REAL ? 4 : 2));
    return GRPO_OK;
}

int is_there_a_gpu(void) {
    int n = 0;
    return cudaGetDeviceCount(&n) == cudaSuccess && n > 0;
}
