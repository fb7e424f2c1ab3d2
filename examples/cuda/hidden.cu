/* hidden.cu: the products of extra/grpo_hidden.h by cuBLAS, rows on the host, in memory that both sides see.
 *
 *     nvcc -O3 examples/cuda/hidden.cu -lcublas -o hidden && ./hidden
 *
 * Every objective goes this way.  It checks itself against grpo_hidden_product on the host and prints the seconds of both.  What is left
 * on the host are two passes over each row of logits; rows.cu has them on the GPU, for objectives of tokens.  Exit status 77: no GPU. */
#define GRPO_HIDDEN_IMPLEMENTATION
#define GRPO_LOGITS_IMPLEMENTATION
#include "../../extra/grpo_hidden.h"
#include <cublas_v2.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>

enum { GROUPS = 4, GROUP = 8, LENGTH = 16, TOKENS = GROUPS * GROUP * LENGTH, WIDTH = 256, VOCAB = 8192, TILE = 128 };

static void cuda(cudaError_t e) {
    if (e == cudaSuccess) return;
    fprintf(stderr, "%s\n", cudaGetErrorString(e));
    exit(e == cudaErrorNoDevice || e == cudaErrorInsufficientDriver ? 77 : 1);
}

static void cublas(cublasStatus_t e) {
    if (e == CUBLAS_STATUS_SUCCESS) return;
    fprintf(stderr, "cuBLAS: status %d\n", (int)e);
    exit(1);
}

static void ask(grpo_status st) {
    char text[GRPO_MESSAGE_SIZE];
    if (!st) return;
    fprintf(stderr, "%s\n", grpo_status_message(st, text, sizeof text));
    exit(1);
}

/* rows here are columns there: what is asked for is c^T = op(b)^T op(a)^T */
static void by_cublas(void *context, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k, const float *a, const float *b,
                      int add, float *c) {
    const float one = 1, kept = (float)add;
    cublas(cublasSgemm((cublasHandle_t)context, transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N, transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N,
                       (int)n, (int)m, (int)k, &one, b, (int)(transpose_b ? k : n), a, (int)(transpose_a ? m : k), &kept, c, (int)n));
    cuda(cudaDeviceSynchronize());
}

template <class T> static T *shared_memory(int64_t n) {
    T *p = NULL;
    cuda(cudaMallocManaged(&p, (size_t)n * sizeof(T)));
    memset(p, 0, (size_t)n * sizeof(T));
    return p;
}

static float unit() { return (float)rand() / (float)RAND_MAX; }

/* one call from zeroed gradients; seconds */
static double call(const grpo_objective *obj, const grpo_batch *batch, const float *advantage, const grpo_hidden *rows,
                   const grpo_output *out, grpo_report *report) {
    const auto begin = std::chrono::steady_clock::now();
    memset(rows->d_weight, 0, (size_t)(rows->vocab * rows->width) * sizeof *rows->d_weight);
    ask(grpo_hidden_loss(obj, batch, advantage, NULL, rows, out, report));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/* the largest distance over the largest number */
static double apart(const float *x, const float *y, int64_t n) {
    double most = 0, size = 0;
    for (int64_t k = 0; k < n; k++) { most = fmax(most, fabs((double)x[k] - (double)y[k])); size = fmax(size, fabs((double)y[k])); }
    return most / size;
}

int main() {
    static int64_t group_begin[GROUPS + 1], offset[GROUPS * GROUP], length[GROUPS * GROUP], target[TOKENS];
    static float advantage[TOKENS], logp_old[TOKENS], logp[TOKENS], entropy[TOKENS], dlogp[TOKENS], dentropy[TOKENS];
    static grpo_hidden_row row[TILE];
    float *hidden = shared_memory<float>(TOKENS * WIDTH), *weight = shared_memory<float>(VOCAB * WIDTH);
    float *d_hidden[2] = { shared_memory<float>(TOKENS * WIDTH), shared_memory<float>(TOKENS * WIDTH) };
    float *d_weight[2] = { shared_memory<float>(VOCAB * WIDTH), shared_memory<float>(VOCAB * WIDTH) };
    grpo_objective obj; grpo_batch batch; grpo_hidden rows; grpo_output out; grpo_report report[2];
    cublasHandle_t handle;
    double seconds[2], far[2];
    memset(&batch, 0, sizeof batch); memset(&rows, 0, sizeof rows); memset(&out, 0, sizeof out);
    cublas(cublasCreate(&handle));
    for (int g = 0; g <= GROUPS; g++) group_begin[g] = g * GROUP;
    for (int i = 0; i < GROUPS * GROUP; i++) { offset[i] = i * LENGTH; length[i] = 1 + rand() % LENGTH; }
    for (int t = 0; t < TOKENS; t++) { target[t] = rand() % VOCAB; advantage[t] = unit() - 0.5f; logp_old[t] = -9 - unit(); }
    for (int k = 0; k < TOKENS * WIDTH; k++) hidden[k] = unit() - 0.5f;
    for (int k = 0; k < VOCAB * WIDTH; k++) weight[k] = 0.2f * (unit() - 0.5f);
    batch.n_groups = GROUPS; batch.group_begin = group_begin; batch.offset = offset; batch.length = length; batch.n_tokens = TOKENS;
    batch.logp_old = logp_old;
    rows.hidden = hidden; rows.weight = weight; rows.width = WIDTH; rows.vocab = VOCAB; rows.target = target; rows.temperature = 1;
    rows.tile_rows = TILE; rows.tile = shared_memory<float>(TILE * (VOCAB + WIDTH)); rows.row = row;
    rows.logp = logp; rows.entropy = entropy;
    out.dlogp = dlogp; out.dentropy = dentropy;
    ask(grpo_objective_named("dapo", &obj));
    for (int k = 0; k < 4; k++) {                                       /* twice each: the first moves memory and starts the library */
        rows.product = k & 1 ? by_cublas : NULL; rows.context = handle;
        rows.d_hidden = d_hidden[k & 1]; rows.d_weight = d_weight[k & 1];
        seconds[k & 1] = call(&obj, &batch, advantage, &rows, &out, &report[k & 1]);
    }
    far[0] = apart(d_hidden[1], d_hidden[0], TOKENS * WIDTH);
    far[1] = apart(d_weight[1], d_weight[0], VOCAB * WIDTH);
    printf("loss %.9g by plain loops, %.9g by cuBLAS; d_hidden %.1e apart, d_weight %.1e; %.4f and %.4f seconds\n", report[0].loss,
           report[1].loss, far[0], far[1], seconds[0], seconds[1]);
    return !(far[0] < 1e-4 && far[1] < 1e-4 && fabs(report[0].loss - report[1].loss) < 1e-5);
}
