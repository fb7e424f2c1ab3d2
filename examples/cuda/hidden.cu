/* hidden.cu: hidden states -> logits -> loss -> d hidden, d weight on a GPU in bfloat16, a tile of logits at a time.
 *
 *     nvcc -O3 -std=c++17 -arch=native examples/cuda/hidden.cu -lcublas -o hidden && ./hidden
 *     ./hidden --time 8192 4096 151936 1024        tokens, width, vocabulary, rows of a tile: milliseconds beside the bare products, memory
 *
 * What extra/grpo_hidden.h does on the host, with products by cuBLAS, rows by rows.cuh, and of each tile 16 bytes a token to the host and
 * back for its objective.  A tile is as many whole groups as it has rows for, so every objective goes, in one pass and three products;
 * what the loss is divided by is counted first (grpo_totals).  d_weight is float, so that tiles do not round it.
 *
 * Without --time it checks itself against grpo_hidden_loss on the host.  Exit status 77: there is no GPU. */
#define GRPO_HIDDEN_IMPLEMENTATION
#define GRPO_LOGITS_IMPLEMENTATION
#include "../../extra/grpo_hidden.h"
#include "rows.cuh"
#include "program.h"
#include <cublas_v2.h>

static void cublas(cublasStatus_t e) {
    if (e == CUBLAS_STATUS_SUCCESS) return;
    fprintf(stderr, "cuBLAS: status %d\n", (int)e);
    exit(1);
}

/* c (m, n) = op(a) op(b), or with `add` c += op(a) op(b), row after row, sums in float.  Rows here are columns there: what is asked for is
 * c^T = op(b)^T op(a)^T */
static void product(cublasHandle_t handle, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k, const uint16_t *a,
                    const uint16_t *b, int add, void *c, cudaDataType type) {
    const float one = 1, kept = (float)add;
    cublas(cublasGemmEx(handle, transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N, transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N, (int)n, (int)m, (int)k,
                        &one, b, CUDA_R_16BF, (int)(transpose_b ? k : n), a, CUDA_R_16BF, (int)(transpose_a ? m : k), &kept, c, type,
                        (int)n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

/* on the device: bfloat16 but for d_weight and numbers of tokens; responses packed, one after the other */
typedef struct {
    cublasHandle_t handle;
    int64_t tokens, width, vocab, tile_rows;
    uint16_t *hidden, *weight, *d_hidden;                               /* (tokens, width), (vocab, width), (tokens, width) */
    float *d_weight;                                                    /* (vocab, width) */
    uint16_t *tile;                                                     /* (tile_rows, vocab) */
    int64_t *target;                                                    /* (tokens) */
    grpo_logits_part *part;                                             /* (tile_rows) */
    float *logp, *entropy, *dlogp, *dentropy;                           /* (tokens) */
    float *host_logp, *host_entropy, *host_dlogp, *host_dentropy;
} model_head;

static model_head head_alloc(int64_t tokens, int64_t width, int64_t vocab, int64_t tile_rows) {
    model_head x;
    memset(&x, 0, sizeof x);
    cublas(cublasCreate(&x.handle));
    x.tokens = tokens; x.width = width; x.vocab = vocab; x.tile_rows = tile_rows;
    x.hidden = device<uint16_t>(tokens * width); x.weight = device<uint16_t>(vocab * width);
    bytes_on_device = 0;
    x.d_hidden = device<uint16_t>(tokens * width); x.d_weight = device<float>(vocab * width); x.tile = device<uint16_t>(tile_rows * vocab);
    x.target = device<int64_t>(tokens); x.part = device<grpo_logits_part>(tile_rows);
    x.logp = device<float>(tokens); x.entropy = device<float>(tokens); x.dlogp = device<float>(tokens); x.dentropy = device<float>(tokens);
    x.host_logp = (float *)calloc(4 * (size_t)tokens, sizeof(float));
    x.host_entropy = x.host_logp + tokens; x.host_dlogp = x.host_logp + 2 * tokens; x.host_dentropy = x.host_logp + 3 * tokens;
    return x;
}

static void head_free(model_head *x) {
    cudaFree(x->hidden); cudaFree(x->weight); cudaFree(x->d_hidden); cudaFree(x->d_weight); cudaFree(x->tile); cudaFree(x->target);
    cudaFree(x->part); cudaFree(x->logp); cudaFree(x->entropy); cudaFree(x->dlogp); cudaFree(x->dentropy);
    free(x->host_logp);
    cublas(cublasDestroy(x->handle));
}

/* ---- a tile: n rows, the tokens from `first` on ------------------------------------------------------------------------------------ */

static void tile_forward(const model_head *x, int64_t first, int64_t n) {
    product(x->handle, 0, 1, n, x->vocab, x->width, x->hidden + first * x->width, x->weight, 0, x->tile, CUDA_R_16BF);
}

static void tile_backward(const model_head *x, int64_t first, int64_t n, int add) {
    product(x->handle, 1, 0, x->vocab, x->width, n, x->tile, x->hidden + first * x->width, add, x->d_weight, CUDA_R_32F);
    product(x->handle, 0, 0, n, x->width, x->vocab, x->tile, x->weight, 0, x->d_hidden + first * x->width, CUDA_R_16BF);
}

static grpo_logits_batch tile_rows_of(const model_head *x, int64_t first, int64_t n, double temperature) {
    grpo_logits_batch rows;
    memset(&rows, 0, sizeof rows);
    rows.logits.type = GRPO_LOGITS_BFLOAT16;
    rows.logits.logits = rows.dlogits = x->tile;
    rows.logits.rows = n; rows.logits.vocab = rows.logits.stride = x->vocab;
    rows.logits.target = x->target + first; rows.logits.temperature = temperature;
    rows.part = x->part; rows.logp = x->logp + first; rows.entropy = x->entropy + first;
    return rows;
}

/* the next groups that fit into a tile, from group g on: how many; tokens first .. first + *n - 1 */
static int64_t next_groups(const grpo_batch *b, int64_t g, int64_t tile_rows, int64_t *first, int64_t *n) {
    int64_t count = 0;
    *first = b->offset[b->group_begin[g]];
    for (*n = 0; g + count < b->n_groups; count++) {
        const int64_t last = b->group_begin[g + count + 1] - 1, rows = b->offset[last] + b->length[last] - *first;
        if (rows > tile_rows) break;
        *n = rows;
    }
    if (count == 0) { fprintf(stderr, "a tile has fewer rows than group %lld\n", (long long)g); exit(1); }
    return count;
}

/* ---- the call ---------------------------------------------------------------------------------------------------------------------- */

static void loss_from_hidden(const grpo_objective *obj, const grpo_batch *batch, const float *advantage, double temperature,
                             const model_head *x, grpo_report *report) {
    static grpo_totals totals;
    static grpo_partial partial;
    grpo_batch b = *batch;
    grpo_output out;
    int64_t count, first, n;
    memset(&totals, 0, sizeof totals); memset(&partial, 0, sizeof partial); memset(&out, 0, sizeof out);
    ask(grpo_totals_add(obj, batch, advantage, &totals));
    b.logp = x->host_logp; b.entropy = x->host_entropy;
    out.dlogp = x->host_dlogp; out.dentropy = x->host_dentropy;
    out.scratch_size = gspo_scratch(obj, batch);                        /* of objectives that look at a group as a whole */
    out.scratch = (double *)malloc((size_t)out.scratch_size * sizeof *out.scratch);
    for (int64_t g = 0; g < batch->n_groups; g += count) {
        count = next_groups(batch, g, x->tile_rows, &first, &n);
        const grpo_logits_batch rows = tile_rows_of(x, first, n, temperature);
        tile_forward(x, first, n);
        cuda(grpo_cuda_batch_read(&rows, NULL, 0));
        to_host(x->host_logp + first, x->logp + first, n);
        to_host(x->host_entropy + first, x->entropy + first, n);
        b.group_begin = batch->group_begin + g;
        b.n_groups = count;
        ask(gspo_loss_add(obj, &b, advantage, &totals, &out, &partial));
        to_device(x->dlogp + first, x->host_dlogp + first, n);
        to_device(x->dentropy + first, x->host_dentropy + first, n);
        cuda(grpo_cuda_batch_gradient(&rows, NULL, x->dlogp + first, x->dentropy + first, 0));
        tile_backward(x, first, n, g > 0);
    }
    grpo_partial_report(&partial, report);
    free(out.scratch);
}

/* ---- check ------------------------------------------------------------------------------------------------------------------------- */

static long passed, failed;

static void check(const char *objective, const char *what, double off, double bound) {
    if (off <= bound) { passed++; return; }
    failed++;
    printf("FAIL %s: %s is off by %.3g, and not %.3g at most\n", objective, what, off, bound);
}

/* the distance of two arrays over the length of the second */
static double apart(const float *x, const float *y, int64_t n) {
    double far = 0, size = 0;
    for (int64_t k = 0; k < n; k++) {
        far += ((double)x[k] - (double)y[k]) * ((double)x[k] - (double)y[k]);
        size += (double)y[k] * (double)y[k];
    }
    return sqrt(far / size);
}

/* Hidden states and weights are halves of small integers, so that bfloat16 holds every logit, and both sides have the same.  What the
 * device rounds to bfloat16 are d logits and d_hidden, to 2^-9 each. */
static void check_objective(const char *name, int64_t tile_rows) {
    enum { GROUPS = 4, GROUP = 4, LENGTH = 8, TOKENS = GROUPS * GROUP * LENGTH, WIDTH = 64, VOCAB = 1024 };
    static int64_t group_begin[GROUPS + 1], offset[GROUPS * GROUP], length[GROUPS * GROUP], target[TOKENS];
    static float hidden[TOKENS * WIDTH], weight[VOCAB * WIDTH], d_hidden[TOKENS * WIDTH], d_weight[VOCAB * WIDTH];
    static float advantage[TOKENS], logp_old[TOKENS], logp[TOKENS], entropy[TOKENS], dlogp[TOKENS], dentropy[TOKENS];
    static float found_hidden[TOKENS * WIDTH], found_weight[VOCAB * WIDTH], tile[TOKENS * (VOCAB + WIDTH)];
    static uint16_t small[VOCAB * WIDTH];
    static grpo_hidden_row row[TOKENS];
    model_head x = head_alloc(TOKENS, WIDTH, VOCAB, tile_rows);
    grpo_objective obj; grpo_batch b; grpo_hidden rows; grpo_output out; grpo_report here, there;
    int64_t n = 0;
    memset(&b, 0, sizeof b); memset(&rows, 0, sizeof rows); memset(&out, 0, sizeof out);
    ask(grpo_objective_named(name, &obj));
    for (int g = 0; g <= GROUPS; g++) group_begin[g] = g * GROUP;
    for (int i = 0; i < GROUPS * GROUP; i++) { offset[i] = n; n += length[i] = 1 + (int64_t)(LENGTH * unit()); }
    for (int64_t t = 0; t < n; t++) { target[t] = (int64_t)(VOCAB * unit()); advantage[t] = (float)(unit() - 0.5); logp_old[t] = -7; }
    for (int64_t k = 0; k < TOKENS * WIDTH; k++) hidden[k] = unit() < 0.5 ? -0.5f : 0.5f;
    for (int64_t k = 0; k < VOCAB * WIDTH; k++) weight[k] = 0.5f * (float)((int)(3 * unit()) - 1);
    b.n_groups = GROUPS; b.group_begin = group_begin; b.offset = offset; b.length = length; b.n_tokens = n;
    b.logp_old = b.logp_ref = logp_old;
    rows.hidden = hidden; rows.weight = weight; rows.width = WIDTH; rows.vocab = VOCAB; rows.target = target; rows.temperature = 1;
    rows.tile_rows = TOKENS; rows.tile = tile; rows.row = row; rows.logp = logp; rows.entropy = entropy;
    rows.d_hidden = d_hidden; rows.d_weight = d_weight;
    out.dlogp = dlogp; out.dentropy = dentropy;
    memset(d_weight, 0, sizeof d_weight);
    out.scratch_size = gspo_scratch(&obj, &b);
    out.scratch = (double *)malloc((size_t)out.scratch_size * sizeof *out.scratch);
    ask(grpo_hidden_loss(&obj, &b, advantage, NULL, &rows, &out, &here));
    for (int64_t t = 0; t < n; t++) logp_old[t] = logp[t] + (float)(0.4 * unit() - 0.2);        /* an old policy near this one */
    memset(d_weight, 0, sizeof d_weight);
    ask(grpo_hidden_loss(&obj, &b, advantage, NULL, &rows, &out, &here));
    for (int64_t k = 0; k < n * WIDTH; k++) small[k] = grpo_to_bfloat_(hidden[k]);
    to_device(x.hidden, small, n * WIDTH);
    for (int64_t k = 0; k < VOCAB * WIDTH; k++) small[k] = grpo_to_bfloat_(weight[k]);
    to_device(x.weight, small, VOCAB * WIDTH);
    to_device(x.target, target, n);
    loss_from_hidden(&obj, &b, advantage, 1, &x, &there);
    to_host(found_weight, x.d_weight, VOCAB * WIDTH);
    to_host(small, x.d_hidden, n * WIDTH);
    for (int64_t k = 0; k < n * WIDTH; k++) found_hidden[k] = grpo_float_of_bits_((uint32_t)small[k] << 16);
    check(name, "the loss", fabs(there.loss - here.loss), 1e-6);
    check(name, "logp", apart(x.host_logp, logp, n), 2e-7);
    check(name, "the entropy", apart(x.host_entropy, entropy, n), 2e-7);
    check(name, "d loss / d logp", apart(x.host_dlogp, dlogp, n), 5e-6);
    check(name, "d_hidden", apart(found_hidden, d_hidden, n * WIDTH), 3e-3);
    check(name, "d_weight", apart(found_weight, d_weight, VOCAB * WIDTH), 3e-3);
    free(out.scratch);
    head_free(&x);
}

/* ---- time -------------------------------------------------------------------------------------------------------------------------- */

/* n numbers between -size and size */
static void random_numbers(uint16_t *to, int64_t n, double size) {
    const int64_t block = 1 << 20;
    uint16_t *some = (uint16_t *)malloc((size_t)block * sizeof *some);
    for (int64_t k = 0; k < n; k += block) {
        const int64_t count = n - k < block ? n - k : block;
        for (int64_t j = 0; j < count; j++) some[j] = grpo_to_bfloat_((float)(size * (2 * unit() - 1)));
        to_device(to + k, some, count);
    }
    free(some);
}

static void bare_products(const grpo_batch *b, const model_head *x) {
    int64_t count, first, n;
    for (int64_t g = 0; g < b->n_groups; g += count) {
        count = next_groups(b, g, x->tile_rows, &first, &n);
        tile_forward(x, first, n);
        tile_backward(x, first, n, g > 0);
    }
}

/* groups of 4 responses of 128 tokens */
static int time_head(int64_t tokens, int64_t width, int64_t vocab, int64_t tile_rows) {
    const int64_t whole = 128, group = 4;
    enum { KINDS = 3 };
    static const char *const kind[KINDS] = { "the three products alone", "dapo", "gspo" };
    const int64_t sequences = (tokens + whole - 1) / whole, groups = (sequences + group - 1) / group;
    model_head x = head_alloc(tokens, width, vocab, tile_rows);
    int64_t *begin = (int64_t *)malloc((size_t)(groups + 1 + 2 * sequences + tokens) * sizeof *begin);
    int64_t *offset = begin + groups + 1, *length = offset + sequences, *target = length + sequences;
    float *advantage = (float *)malloc(2 * (size_t)tokens * sizeof *advantage), *logp_old = advantage + tokens;
    double ms[KINDS][TURNS];
    grpo_objective obj[KINDS]; grpo_batch b; grpo_report report;
    memset(&b, 0, sizeof b);
    for (int k = 1; k < KINDS; k++) ask(grpo_objective_named(kind[k], &obj[k]));
    for (int64_t g = 0; g <= groups; g++) begin[g] = g * group < sequences ? g * group : sequences;
    for (int64_t i = 0; i < sequences; i++) {
        offset[i] = i * whole;
        length[i] = tokens - offset[i] < whole ? tokens - offset[i] : whole;
    }
    for (int64_t t = 0; t < tokens; t++) {
        target[t] = (int64_t)((double)vocab * unit()); advantage[t] = t / whole % 2 ? 1.0f : -1.0f; logp_old[t] = -12;
    }
    b.n_groups = groups; b.group_begin = begin; b.offset = offset; b.length = length; b.n_tokens = tokens; b.logp_old = logp_old;
    random_numbers(x.hidden, tokens * width, 1);
    random_numbers(x.weight, vocab * width, 3 / sqrt((double)width));
    to_device(x.target, target, tokens);
    loss_from_hidden(&obj[1], &b, advantage, 1, &x, &report);
    for (int64_t t = 0; t < tokens; t++) logp_old[t] = x.host_logp[t];  /* nothing is clipped: every token has a gradient */
    for (int turn = -1; turn < TURNS; turn++)
        for (int k = 0; k < KINDS; k++) {
            cuda(cudaDeviceSynchronize());
            const double start = seconds();
            if (k == 0) bare_products(&b, &x);
            else loss_from_hidden(&obj[k], &b, advantage, 1, &x, &report);
            cuda(cudaDeviceSynchronize());
            if (turn >= 0) ms[k][turn] = 1e3 * (seconds() - start);
        }
    printf("%lld tokens, width %lld, vocabulary %lld, tiles of %lld rows; %.0f MB beyond hidden states and weight, %.0f of them d_weight\n",
           (long long)tokens, (long long)width, (long long)vocab, (long long)tile_rows, 1e-6 * (double)bytes_on_device,
           4e-6 * (double)(vocab * width));
    for (int k = 0; k < KINDS; k++) {
        sort_times(ms[k]);
        printf("  %-25s %8.2f ms (%.2f to %.2f), %.3f times the products\n", kind[k], ms[k][TURNS / 2], ms[k][0], ms[k][TURNS - 1],
               ms[k][TURNS / 2] / ms[0][TURNS / 2]);
    }
    return 0;
}

int main(int argc, char **argv) {
    need_gpu();
    if (argc == 6 && !strcmp(argv[1], "--time")) return time_head(atoll(argv[2]), atoll(argv[3]), atoll(argv[4]), atoll(argv[5]));
    if (argc != 1) return fprintf(stderr, "usage: hidden | hidden --time TOKENS WIDTH VOCABULARY TILE_ROWS\n"), 2;
    check_objective("dapo", 128);
    check_objective("dapo", 40);
    check_objective("gspo", 40);
    check_objective("grpo", 64);
    check_objective("gvpo", 40);
    printf("%ld passed, %ld failed\n", passed, failed);
    return failed != 0;
}
