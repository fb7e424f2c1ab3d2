/* rows.cu: logits -> loss -> d logits on a GPU, a block of threads for each token, two passes over its row.
 *
 *     nvcc -O3 examples/cuda/rows.cu -lcjson -o rows && ./rows tests/vectors/logits.json
 *     ./rows --time 1024 151936          milliseconds of a call on so many tokens of such a vocabulary, median of 9
 *
 * It checks itself: log-probabilities and entropies against the vectors, loss and gradients of a larger batch against grpo_logits_loss
 * on the host.  Exit status 77: there is no GPU.  The objective is DAPO's clip and token mean; any other of a token's own is as short.
 *
 * Written for exactness and to show how the functions fit together: arithmetic is double, as on the host. */
#define GSPO_IMPLEMENTATION
#define GRPO_LOGITS_IMPLEMENTATION
#include "../../extra/grpo_logits.h"
#include <cjson/cJSON.h>
#include <cstdio>
#include <cstdlib>

enum { THREADS = 256 };

/* a batch on the device: (tokens, vocab) logits, the rest per token */
struct tokens {
    int64_t n, vocab;
    const float *logits, *logp_old, *advantage;
    const int64_t *target;
    double temperature;
    float *logp, *entropy, *term, *dlogits;
};

/* the parts of all threads into the first */
static __device__ void merge_parts(grpo_logits_part *part, double temperature) {
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) grpo_logits_part_merge(&part[threadIdx.x], &part[threadIdx.x + half], temperature);
    }
    __syncthreads();
}

static __global__ void evaluate_rows(tokens x, grpo_surrogate surrogate, grpo_range range, double coefficient) {
    __shared__ grpo_logits_part part[THREADS];
    __shared__ grpo_logits_slopes slopes;
    const int64_t t = blockIdx.x;
    const float *z = x.logits + t * x.vocab;
    part[threadIdx.x] = grpo_logits_part_empty();
    for (int64_t v = threadIdx.x; v < x.vocab; v += THREADS) grpo_logits_part_add(&part[threadIdx.x], z[v], v == x.target[t], x.temperature);
    merge_parts(part, x.temperature);
    if (threadIdx.x == 0) {
        grpo_logits_row row;
        grpo_logits_part_row(&part[0], x.temperature, &row);
        const double logp = (double)(float)row.logp;                    /* as the host's arrays hold it */
        const grpo_term term = grpo_surrogate_term(&surrogate, range, grpo_ratio_of(logp, x.logp_old[t]), x.advantage[t], logp);
        x.logp[t] = (float)row.logp;
        x.entropy[t] = (float)row.entropy;
        x.term[t] = (float)term.value;
        slopes = grpo_logits_part_slopes(&part[0], x.temperature, coefficient * (term.d_log_ratio + term.d_logp), 0);
    }
    __syncthreads();
    for (int64_t v = threadIdx.x; v < x.vocab; v += THREADS)
        x.dlogits[t * x.vocab + v] = (float)grpo_logits_slope(&slopes, z[v], v == x.target[t]);
}

/* ---- the host --------------------------------------------------------------------------------------------------------------------- */

static void cuda(cudaError_t e) {
    if (e == cudaSuccess) return;
    fprintf(stderr, "%s\n", cudaGetErrorString(e));
    exit(e == cudaErrorNoDevice || e == cudaErrorInsufficientDriver ? 77 : 1);
}

/* memory that both sides see */
template <class T> static T *shared_memory(int64_t n) {
    T *p = NULL;
    cuda(cudaMallocManaged(&p, (size_t)(n > 0 ? n : 1) * sizeof(T)));
    return p;
}

/* arrays for n tokens; logits, target, logp_old and advantage are to be filled through the pointers that are not const */
struct host { tokens x; float *logits, *logp_old, *advantage; int64_t *target; };

static host host_alloc(int64_t n, int64_t vocab, double temperature) {
    host h;
    h.logits = shared_memory<float>(n * vocab); h.logp_old = shared_memory<float>(n);
    h.advantage = shared_memory<float>(n); h.target = shared_memory<int64_t>(n);
    h.x.n = n; h.x.vocab = vocab; h.x.temperature = temperature;
    h.x.logits = h.logits; h.x.logp_old = h.logp_old; h.x.advantage = h.advantage; h.x.target = h.target;
    h.x.logp = shared_memory<float>(n); h.x.entropy = shared_memory<float>(n); h.x.term = shared_memory<float>(n);
    h.x.dlogits = shared_memory<float>(n * vocab);
    for (int64_t t = 0; t < n; t++) h.logp_old[t] = h.advantage[t] = 0;
    return h;
}

static void host_free(host *h) {
    cudaFree(h->logits); cudaFree(h->logp_old); cudaFree(h->advantage); cudaFree(h->target);
    cudaFree(h->x.logp); cudaFree(h->x.entropy); cudaFree(h->x.term); cudaFree(h->x.dlogits);
}

static void evaluate(const host *h, const grpo_objective *obj, double coefficient) {
    const grpo_range range = grpo_clip_range(obj->surrogate.eps_low, obj->surrogate.eps_high);
    evaluate_rows<<<(unsigned)h->x.n, THREADS>>>(h->x, obj->surrogate, range, coefficient);
    cuda(cudaGetLastError());
    cuda(cudaDeviceSynchronize());
}

static int passed, failed;
static double worst;                                                    /* of what passed, in units of 2^-23 of the scale */

/* within k units of 2^-23 of the scale; -infinity is itself */
static void check(const char *what, double found, double expected, double scale, double k) {
    const double units = found == expected ? 0 : fabs(found - expected) / ((double)FLT_EPSILON * scale);
    if (units <= k && units > worst) worst = units;
    if (units <= k) { passed++; return; }
    if (failed++ < 20) printf("FAIL %s: %.9g, expected %.9g\n", what, found, expected);
}

/* ---- the vectors ------------------------------------------------------------------------------------------------------------------ */

static const cJSON *key(const cJSON *o, const char *name) { return cJSON_GetObjectItemCaseSensitive(o, name); }
static double number(const cJSON *x) { return cJSON_IsString(x) ? (x->valuestring[0] == '-' ? -HUGE_VAL : HUGE_VAL) : x->valuedouble; }

/* one position at a time: rows of a case may differ in width */
static void check_row(const grpo_objective *obj, const char *id, const cJSON *row, int target, double temperature, const double expected[2],
                      const double scale[2]) {
    host h = host_alloc(1, cJSON_GetArraySize(row), temperature);
    const cJSON *z = row->child;
    for (int64_t v = 0; z; z = z->next) h.logits[v++] = (float)number(z);
    h.target[0] = target;
    evaluate(&h, obj, 1);
    check(id, h.x.logp[0], expected[0], scale[0], 4);
    check(id, h.x.entropy[0], expected[1], scale[1], 4);
    host_free(&h);
}

static void check_case(const grpo_objective *obj, const cJSON *c) {
    const cJSON *expect = key(c, "expect"), *scale = key(c, "scale");
    for (int i = 0; i < cJSON_GetArraySize(key(c, "logits")); i++) {
        const cJSON *rows = cJSON_GetArrayItem(key(c, "logits"), i);
        for (int t = 0; t < cJSON_GetArraySize(rows); t++) {
            double e[2], s[2];
            for (int k = 0; k < 2; k++) {
                const char *name = k ? "entropy" : "logp";
                e[k] = number(cJSON_GetArrayItem(cJSON_GetArrayItem(key(expect, name), i), t));
                s[k] = number(cJSON_GetArrayItem(cJSON_GetArrayItem(key(scale, name), i), t));
            }
            check_row(obj, key(c, "id")->valuestring, cJSON_GetArrayItem(rows, t),
                      cJSON_GetArrayItem(cJSON_GetArrayItem(key(c, "target"), i), t)->valueint, key(c, "temperature")->valuedouble, e, s);
        }
    }
}

static void check_vectors(const grpo_objective *obj, const char *path) {
    FILE *f = fopen(path, "rb");
    static char text[1 << 20];
    if (!f) { perror(path); exit(1); }
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    cJSON *file = cJSON_Parse(text);
    if (!file) { fprintf(stderr, "%s: not JSON\n", path); exit(1); }
    for (const cJSON *c = key(file, "cases")->child; c; c = c->next) check_case(obj, c);
    cJSON_Delete(file);
}

/* ---- a batch, here and there ------------------------------------------------------------------------------------------------------ */

static double unit(void) {
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 11) * 0x1p-53;
}

static void check_batch(const grpo_objective *obj) {
    enum { N = 64, VOCAB = 5003 };
    static const int64_t group_begin[] = { 0, 4 }, offset[] = { 0, 16, 32, 48 }, length[] = { 16, 16, 16, 16 };
    static grpo_logits_part part[N];
    static float logp[N], entropy[N], dlogp[N], dentropy[N], dlogits[N * VOCAB];
    host h = host_alloc(N, VOCAB, 0.9);
    grpo_batch b = grpo_batch();
    grpo_logits_batch rows = grpo_logits_batch();
    grpo_output out = grpo_output();
    grpo_report report;
    double loss = 0;
    for (int64_t k = 0; k < N * VOCAB; k++) h.logits[k] = (float)(8 * unit());
    for (int t = 0; t < N; t++) {
        h.target[t] = (int64_t)(VOCAB * unit()); h.logp_old[t] = (float)(-9 + unit()); h.advantage[t] = (float)(unit() - 0.5);
    }
    b.n_groups = 1; b.group_begin = group_begin; b.offset = offset; b.length = length; b.n_tokens = N; b.logp_old = h.logp_old;
    rows.logits.logits = h.logits; rows.logits.rows = N; rows.logits.vocab = rows.logits.stride = VOCAB; rows.logits.target = h.target;
    rows.logits.temperature = 0.9;
    rows.part = part; rows.logp = logp; rows.entropy = entropy; rows.dlogits = dlogits;
    out.dlogp = dlogp; out.dentropy = dentropy;
    if (grpo_logits_loss(obj, &b, h.advantage, NULL, &rows, &out, &report)) exit(1);
    evaluate(&h, obj, 1.0 / N);
    for (int t = 0; t < N; t++) {
        check("logp", h.x.logp[t], logp[t], fabs(logp[t]), 4);
        check("entropy", h.x.entropy[t], entropy[t], entropy[t], 4);
        loss += (double)h.x.term[t] / N;
        for (int v = t * VOCAB; v < (t + 1) * VOCAB; v++) check("d logits", h.x.dlogits[v], dlogits[v], fabs(dlogits[v]), 4);
    }
    check("loss", loss, report.loss, 1, 4);
    host_free(&h);
}

/* ---- time -------------------------------------------------------------------------------------------------------------------------- */

enum { TURNS = 9 };

static int by_size(const void *a, const void *b) { return (*(const float *)a > *(const float *)b) - (*(const float *)a < *(const float *)b); }

static void time_rows(const grpo_objective *obj, int64_t n, int64_t vocab) {
    host h = host_alloc(n, vocab, 1);
    float ms[TURNS];
    cudaEvent_t before, after;
    cuda(cudaEventCreate(&before)); cuda(cudaEventCreate(&after));
    for (int64_t k = 0; k < n * vocab; k++) h.logits[k] = (float)(8 * unit());
    for (int64_t t = 0; t < n; t++) { h.target[t] = t % vocab; h.logp_old[t] = -12; h.advantage[t] = t % 2 ? 1.0f : -1.0f; }
    evaluate(&h, obj, 1.0 / (double)n);                                 /* brings the memory over */
    for (int k = 0; k < TURNS; k++) {
        cuda(cudaEventRecord(before));
        evaluate(&h, obj, 1.0 / (double)n);
        cuda(cudaEventRecord(after)); cuda(cudaEventSynchronize(after));
        cuda(cudaEventElapsedTime(&ms[k], before, after));
    }
    qsort(ms, TURNS, sizeof ms[0], by_size);
    printf("%lld tokens, vocabulary %lld: %.3f ms (%.3f to %.3f), %.1f GB/s of logits read twice and d logits written\n", (long long)n,
        (long long)vocab, ms[TURNS / 2], ms[0], ms[TURNS - 1], 12e-6 * (double)n * (double)vocab / ms[TURNS / 2]);
    host_free(&h);
}

int main(int argc, char **argv) {
    grpo_objective obj;
    if (grpo_objective_named("dapo", &obj)) return 1;
    if (argc == 4 && !strcmp(argv[1], "--time")) return time_rows(&obj, atoll(argv[2]), atoll(argv[3])), 0;
    if (argc != 2) return fprintf(stderr, "usage: rows tests/vectors/logits.json | rows --time TOKENS VOCABULARY\n"), 2;
    check_vectors(&obj, argv[1]);
    check_batch(&obj);
    printf("worst of what passed: %.2f units of 2^-23 of the scale\n", worst);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
