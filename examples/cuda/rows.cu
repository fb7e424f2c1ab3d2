/* rows.cu: logits -> loss -> d logits with every logit on the GPU, by the two kernels of rows.cuh; in between any objective, on the host.
 *
 *     nvcc -O3 -std=c++17 -arch=native examples/cuda/rows.cu -o rows && ./rows
 *     ./rows --time 8192 151936 bfloat16       milliseconds of the kernels and of all, medians of 9; or float, float16
 *
 * Without --time it checks itself: loss, log-probabilities, entropies and gradients of batches with masked tokens, for objectives of
 * tokens, of responses and with an entropy bonus, against grpo_logits_loss on the host.  Exit status 77: there is no GPU. */
#include "rows.cuh"
#include "program.h"

/* ---- the call ---------------------------------------------------------------------------------------------------------------------- */

/* arrays of the tokens on both sides; on the device also mask, dlogp and dentropy */
typedef struct {
    grpo_logits_batch rows;                                             /* of the device */
    uint8_t *mask;
    float *dlogp, *dentropy;
    float *host_logp, *host_entropy, *host_dlogp, *host_dentropy;
} on_device;

/* logits -> loss -> d logits; batch, advantage and what it writes besides are the host's */
static void loss_on_gpu(const grpo_objective *obj, const grpo_batch *batch, const float *advantage, const on_device *x,
                        grpo_report *report) {
    const int64_t n = batch->n_tokens;
    grpo_batch b = *batch;
    grpo_output out;
    memset(&out, 0, sizeof out);
    cuda(grpo_cuda_batch_read(&x->rows, x->mask, 0));
    to_host(x->host_logp, x->rows.logp, n);
    to_host(x->host_entropy, x->rows.entropy, n);
    b.logp = x->host_logp; b.entropy = x->host_entropy;
    out.dlogp = x->host_dlogp; out.dentropy = x->host_dentropy;
    out.scratch_size = gspo_scratch(obj, batch);                        /* of objectives that look at a group as a whole */
    out.scratch = (double *)malloc((size_t)out.scratch_size * sizeof *out.scratch);
    ask(gspo_loss(obj, &b, advantage, NULL, &out, report));
    free(out.scratch);
    to_device(x->dlogp, x->host_dlogp, n);
    to_device(x->dentropy, x->host_dentropy, n);
    cuda(grpo_cuda_batch_gradient(&x->rows, x->mask, x->dlogp, x->dentropy, 0));
}

static on_device on_device_of(grpo_logits_type type, int64_t n, int64_t vocab, int64_t stride, double temperature) {
    on_device x;
    memset(&x, 0, sizeof x);
    x.rows.logits.type = type; x.rows.logits.rows = n; x.rows.logits.vocab = vocab; x.rows.logits.stride = stride;
    x.rows.logits.temperature = temperature;
    x.rows.logits.target = device<int64_t>(n);
    x.rows.logits.logits = x.rows.dlogits = device<char>(n * stride * (type == GRPO_LOGITS_REAL ? 4 : 2));      /* in place */
    x.rows.part = device<grpo_logits_part>(n);
    x.rows.logp = device<float>(n); x.rows.entropy = device<float>(n); x.dlogp = device<float>(n); x.dentropy = device<float>(n);
    x.host_logp = (float *)calloc(4 * (size_t)n, sizeof(float));
    x.host_entropy = x.host_logp + n; x.host_dlogp = x.host_logp + 2 * n; x.host_dentropy = x.host_logp + 3 * n;
    return x;
}

static void free_on_device(on_device *x) {
    cudaFree((void *)x->rows.logits.target); cudaFree(x->rows.dlogits); cudaFree(x->rows.part); cudaFree(x->rows.logp);
    cudaFree(x->rows.entropy); cudaFree(x->dlogp); cudaFree(x->dentropy); cudaFree(x->mask);
    free(x->host_logp);
}

/* ---- check ------------------------------------------------------------------------------------------------------------------------- */

static long passed, failed;
static double worst;                                                    /* of what passed, in units of 2^-23 of the scale */

/* within k units of 2^-23 of the scale, and `more` */
static void check(const char *what, double found, double expected, double scale, double k, double more) {
    const double off = fabs(found - expected) - more, units = found == expected || off <= 0 ? 0 : off / ((double)FLT_EPSILON * scale);
    if (units <= k && units > worst) worst = units;
    if (units <= k) { passed++; return; }
    if (failed++ < 20) printf("FAIL %s: %.9g, expected %.9g\n", what, found, expected);
}

/* as an element of a row */
static void put_number(grpo_logits_type type, void *z, int64_t at, double x) {
    if (type == GRPO_LOGITS_REAL) ((float *)z)[at] = (float)x;
    else ((uint16_t *)z)[at] = type == GRPO_LOGITS_BFLOAT16 ? grpo_to_bfloat_((float)x) : grpo_to_half_((float)x);
}

enum { GROUPS = 2, GROUP = 4, LENGTH = 6, TOKENS = GROUPS * GROUP * LENGTH, MOST = 5003 };

/* what a logit's gradient is added up from, in absolute values */
static double scale_of(const grpo_logits_row *row, double z, double tau, double dlogp, double dentropy) {
    const double log_p = z / tau - row->log_sum;
    return exp(log_p) * (fabs(dlogp) + fabs(dentropy) * (fabs(log_p) + row->entropy)) / tau;
}

static void check_gradients(const grpo_logits_batch *host, const float *dlogp, const float *dentropy, const void *found) {
    const grpo_logits *x = &host->logits;
    const double place = x->type == GRPO_LOGITS_REAL ? 0 : x->type == GRPO_LOGITS_BFLOAT16 ? 0x1p-7 : 0x1p-10;
    for (int64_t t = 0; t < x->rows; t++) {
        grpo_logits_row row;
        if (dlogp[t] != 0 || dentropy[t] != 0) ask(grpo_logits_part_row(&host->part[t], x->temperature, &row));
        for (int64_t v = 0; v < x->vocab; v++) {
            const double expected = grpo_stored_number_(x->type, host->dlogits, t * x->stride + v);
            const double scale = dlogp[t] == 0 && dentropy[t] == 0 ? 1
                : scale_of(&row, grpo_logit_(x, t, v), x->temperature, (double)dlogp[t], (double)dentropy[t]);
            check("d logits", grpo_stored_number_(x->type, found, t * x->stride + v), expected, fmax(fabs(expected), scale), 4,
                  place * fabs(expected) + (x->type == GRPO_LOGITS_FLOAT16 ? 0x1p-24 : 0));
        }
    }
}

static void check_batch(const char *name, double entropy_coef, grpo_logits_type type, int64_t vocab, int64_t stride) {
    static int64_t group_begin[GROUPS + 1], offset[GROUPS * GROUP], length[GROUPS * GROUP], target[TOKENS];
    static grpo_logits_part part[TOKENS];
    static float logp_old[TOKENS], advantage[TOKENS], logp[TOKENS], entropy[TOKENS], dlogp[TOKENS], dentropy[TOKENS];
    static float z[TOKENS * MOST], host_d[TOKENS * MOST], found[TOKENS * MOST];
    static uint8_t mask[TOKENS];
    const size_t bytes = (size_t)(TOKENS * stride) * (type == GRPO_LOGITS_REAL ? 4 : 2);
    on_device x = on_device_of(type, TOKENS, vocab, stride, 0.9);
    grpo_objective obj; grpo_batch b; grpo_logits_batch host; grpo_output out; grpo_report there, here;
    memset(&b, 0, sizeof b); memset(&host, 0, sizeof host); memset(&out, 0, sizeof out);
    ask(grpo_objective_named(name, &obj));
    obj.penalty.entropy_coef = entropy_coef;
    for (int g = 0; g <= GROUPS; g++) group_begin[g] = g * GROUP;
    for (int i = 0; i < GROUPS * GROUP; i++) { offset[i] = i * LENGTH; length[i] = LENGTH; }
    for (int t = 0; t < TOKENS; t++) {
        target[t] = (int64_t)((double)vocab * unit()); advantage[t] = t / LENGTH % 2 ? 1.0f : -0.5f; mask[t] = unit() > 0.1;
        for (int64_t v = 0; v < stride; v++) put_number(type, z, t * stride + v, 8 * unit());
    }
    host.logits = x.rows.logits; host.logits.logits = z; host.logits.target = target;
    host.part = part; host.logp = logp; host.entropy = entropy; host.dlogits = host_d;
    b.n_groups = GROUPS; b.group_begin = group_begin; b.offset = offset; b.length = length; b.n_tokens = TOKENS; b.mask = mask;
    b.logp_old = b.logp_ref = logp_old;
    ask(grpo_logits_batch_read(&host, NULL, 0, TOKENS));                /* an old policy near this one */
    for (int t = 0; t < TOKENS; t++) logp_old[t] = logp[t] + (float)(0.4 * unit() - 0.2);
    out.dlogp = dlogp; out.dentropy = dentropy;
    ask(grpo_logits_loss(&obj, &b, advantage, NULL, &host, &out, &here));
    to_device((char *)x.rows.dlogits, (const char *)z, (int64_t)bytes);
    to_device((int64_t *)x.rows.logits.target, target, TOKENS);
    to_device(x.mask = device<uint8_t>(TOKENS), mask, TOKENS);
    loss_on_gpu(&obj, &b, advantage, &x, &there);
    check("loss", there.loss, here.loss, 1, 4, 0);
    for (int t = 0; t < TOKENS; t++) {
        check("logp", x.host_logp[t], logp[t], fabs(logp[t]), 4, 0);
        check("entropy", x.host_entropy[t], entropy[t], entropy[t], 4, 0);
        check("d loss / d logp", x.host_dlogp[t], dlogp[t], 12 * fabs(dlogp[t]), 4, 0);     /* a ratio moves as its logp, some -12 */
    }
    ask(grpo_logits_batch_gradient(&host, mask, x.host_dlogp, x.host_dentropy, 0, TOKENS));
    to_host((char *)found, (const char *)x.rows.dlogits, (int64_t)bytes);
    check_gradients(&host, x.host_dlogp, x.host_dentropy, found);
    free_on_device(&x);
}

static int check_all() {
    for (int type = GRPO_LOGITS_REAL; type <= GRPO_LOGITS_FLOAT16; type++) {
        check_batch("dapo", 0, (grpo_logits_type)type, MOST, MOST);     /* rows begin at every address */
        check_batch("gspo", 0, (grpo_logits_type)type, 4096, 4096);
        check_batch("cispo", 0, (grpo_logits_type)type, 13, 16);
        check_batch("grpo", 0.01, (grpo_logits_type)type, 1000, 1001);
    }
    printf("worst of what passed: %.2f units of 2^-23 of the scale\n", worst);
    printf("%ld passed, %ld failed\n", passed, failed);
    return failed != 0;
}

/* ---- time -------------------------------------------------------------------------------------------------------------------------- */

static void show(const char *what, double *ms, double bytes) {
    sort_times(ms);
    printf("%s %.3f ms (%.3f to %.3f)", what, ms[TURNS / 2], ms[0], ms[TURNS - 1]);
    if (bytes > 0) printf(", %.0f GB/s", 1e-6 * bytes / ms[TURNS / 2]);
    printf("\n");
}

/* the gradient is written beside the logits, so that every turn reads the same */
static int time_rows(int64_t n, int64_t vocab, grpo_logits_type type) {
    enum { READ, BACK, WITH_ENTROPY, ALL, KINDS };
    static const char *const kind[] = { "  logits -> logp, entropy", "  -> d logits", "  -> d logits, through the entropy too",
                                        "  all, with dapo on the host and transfers" };
    const double row_bytes = (type == GRPO_LOGITS_REAL ? 4.0 : 2.0) * (double)n * (double)vocab;
    const double bytes[] = { row_bytes, 2 * row_bytes, 2 * row_bytes, 0 };
    const int64_t count = (n + 127) / 128;
    double ms[KINDS][TURNS];
    on_device x = on_device_of(type, n, vocab, vocab, 1);
    char *row = (char *)malloc(4 * (size_t)vocab);
    int64_t *target = (int64_t *)malloc((size_t)n * sizeof *target), *begin = (int64_t *)malloc((size_t)(3 * count + 2) * sizeof *begin);
    float *number = (float *)malloc(2 * (size_t)n * sizeof *number);
    grpo_objective obj; grpo_batch b; grpo_report report;
    memset(&b, 0, sizeof b);
    ask(grpo_objective_named("dapo", &obj));
    x.rows.dlogits = device<char>((int64_t)row_bytes);
    for (int64_t t = 0; t < n; t++) {
        target[t] = t % vocab; number[t] = -12; number[n + t] = t / 128 % 2 ? 1.0f : -1.0f;
        if (t < 64) for (int64_t v = 0; v < vocab; v++) put_number(type, row, v, 8 * unit());
        to_device((char *)x.rows.logits.logits + (size_t)t * (size_t)row_bytes / (size_t)n, row, (int64_t)row_bytes / n);
    }
    to_device((int64_t *)x.rows.logits.target, target, n);
    for (int64_t i = 0; i < count; i++) { begin[2 + i] = i * 128; begin[2 + count + i] = i * 128 + 128 < n ? 128 : n - i * 128; }
    begin[0] = 0; begin[1] = count;
    b.n_groups = 1; b.group_begin = begin; b.offset = begin + 2; b.length = begin + 2 + count; b.n_tokens = n; b.logp_old = number;
    loss_on_gpu(&obj, &b, number + n, &x, &report);
    for (int64_t t = 0; t < n; t++) number[t] = x.host_logp[t];        /* nothing is clipped: every row has a gradient */
    for (int turn = -2; turn < TURNS; turn++)
        for (int k = 0; k < KINDS; k++) {
            cuda(cudaDeviceSynchronize());
            const double start = seconds();
            if (k == READ) cuda(grpo_cuda_batch_read(&x.rows, NULL, 0));
            if (k == BACK) cuda(grpo_cuda_batch_gradient(&x.rows, NULL, x.dlogp, NULL, 0));
            if (k == WITH_ENTROPY) cuda(grpo_cuda_batch_gradient(&x.rows, NULL, x.dlogp, x.dlogp, 0));
            if (k == ALL) loss_on_gpu(&obj, &b, number + n, &x, &report);
            cuda(cudaDeviceSynchronize());
            if (turn >= 0) ms[k][turn] = 1e3 * (seconds() - start);
        }
    printf("%lld tokens, vocabulary %lld, type %d\n", (long long)n, (long long)vocab, (int)type);
    for (int k = 0; k < KINDS; k++) show(kind[k], ms[k], bytes[k]);
    return 0;
}

int main(int argc, char **argv) {
    need_gpu();
    if (argc == 5 && !strcmp(argv[1], "--time"))
        return time_rows(atoll(argv[2]), atoll(argv[3]), !strcmp(argv[4], "bfloat16") ? GRPO_LOGITS_BFLOAT16 :
                         !strcmp(argv[4], "float16") ? GRPO_LOGITS_FLOAT16 : GRPO_LOGITS_REAL);
    if (argc != 1) return fprintf(stderr, "usage: rows | rows --time TOKENS VOCABULARY float|bfloat16|float16\n"), 2;
    return check_all();
}
