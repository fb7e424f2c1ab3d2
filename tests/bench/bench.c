/* bench: what the path from logits to gradient costs, beside what reading the same memory costs on this machine in the same run.
 *
 *     bench                                  a table: ns per token, GB/s of logits, the part of the read bandwidth
 *     bench --smoke                          does the cost grow linearly, and does memory not grow?  ends with "N passed, N failed"
 *     bench --serve                          one line "pass type tokens vocabulary threads" in, one line of seconds out (compare.py)
 *
 * Passes: forward (logp, entropy), both (logits -> loss -> d logits), objective (loss, its gradient and report, of tokens alone), read. */
#define _POSIX_C_SOURCE 200112L
#define GSPO_IMPLEMENTATION
#define GRPO_LOGITS_IMPLEMENTATION
#include "../../extra/grpo_logits.h"
#include "../status.h"
#include "../check.h"
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
static void use_threads(int n) { omp_set_num_threads(n); }
#else
static void use_threads(int n) { (void)n; }
#endif

enum { GROUP = 8, MOST_REPEATS = 101 };
typedef enum { FORWARD, BOTH, OBJECTIVE, READ, N_PASSES } pass;
static const char *const pass_name[] = { "forward", "both", "objective", "read" };
static const char *const type_name[] = { "float", "bfloat16", "float16" };
static volatile uint64_t sink;

typedef struct { pass what; grpo_logits_type type; int64_t tokens, vocab; int threads; } job;

/* one batch: groups of eight sequences, all of one length */
typedef struct {
    job of;
    grpo_objective obj;
    grpo_batch batch;
    grpo_logits_batch rows;
    grpo_output out;
    grpo_real *real;
    int64_t *integer;
    void *logits, *dlogits;
    size_t bytes;                  /* of the logits */
} workload;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double unit(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-53;
}

/* every page is touched (not with 0, which a compiler may leave to calloc): memory that a call took would show */
static void *alloc(size_t bytes) {
    void *p = malloc(bytes + 64);
    if (!p) { fputs("out of memory\n", stderr); exit(2); }
    memset(p, 1, bytes + 64);
    return p;
}

static void fill_logits(workload *w, uint64_t *state) {
    const int64_t n = w->of.tokens * w->of.vocab;
    int64_t k;
    for (k = 0; k < n; k++) {
        const float z = (float)(4 * (unit(state) + unit(state) + unit(state) - 1.5));
        if (w->of.type == GRPO_LOGITS_REAL) ((float *)w->logits)[k] = z;
        else ((uint16_t *)w->logits)[k] = w->of.type == GRPO_LOGITS_BFLOAT16 ? grpo_to_bfloat_(z) : grpo_to_half_(z);
    }
}

static void fill_tokens(workload *w, int64_t sequences, uint64_t *state) {
    const int64_t n = w->of.tokens;
    grpo_real *x = w->real;
    int64_t *group = w->integer, *offset = group + sequences + 1, *length = offset + sequences, *target = length + sequences, k;
    for (k = 0; k <= sequences / GROUP; k++) group[k] = k * GROUP;
    for (k = 0; k < sequences; k++) { offset[k] = k * (n / sequences); length[k] = n / sequences; }
    for (k = 0; k < n; k++) {
        x[k] = (grpo_real)(-2 * unit(state));                           /* logp, unless logits give it */
        x[n + k] = (grpo_real)((w->of.what == OBJECTIVE ? x[k] : -11) + 0.4 * (unit(state) - 0.5));
        x[2 * n + k] = (grpo_real)(unit(state) - 0.5);
        target[k] = w->of.vocab > 0 ? (int64_t)(unit(state) * (double)w->of.vocab) : 0;
    }
    w->batch.n_groups = sequences / GROUP; w->batch.group_begin = group;
    w->batch.n_tokens = n; w->batch.offset = offset; w->batch.length = length;
    w->batch.logp = x; w->batch.logp_old = x + n;
    w->out.dlogp = x + 3 * n; w->out.dentropy = x + 4 * n;
    w->rows.logp = x + 5 * n; w->rows.entropy = x + 6 * n;
    w->rows.logits.target = target;
}

static void workload_open(workload *w, job of) {
    const int64_t n = of.tokens, sequences = n >= 64 * GROUP ? n / 64 / GROUP * GROUP : GROUP;
    const size_t element = of.type == GRPO_LOGITS_REAL ? sizeof(float) : sizeof(uint16_t);
    uint64_t state = 1;
    memset(w, 0, sizeof *w);
    w->of = of;
    if (n % sequences != 0 || grpo_objective_named("dapo", &w->obj)) { fputs("tokens must fill the sequences\n", stderr); exit(2); }
    w->real = (grpo_real *)alloc((size_t)n * 7 * sizeof *w->real);
    w->integer = (int64_t *)alloc((size_t)(n + 3 * sequences + 1) * sizeof *w->integer);
    w->rows.part = (grpo_logits_part *)alloc((size_t)n * sizeof *w->rows.part);
    w->bytes = of.what == OBJECTIVE ? 0 : (size_t)(n * of.vocab) * element;
    w->logits = alloc(w->bytes);
    if (of.what == BOTH) w->dlogits = alloc(w->bytes);
    fill_tokens(w, sequences, &state);
    if (w->bytes) fill_logits(w, &state);
    w->rows.logits.type = of.type; w->rows.logits.logits = w->logits; w->rows.dlogits = w->dlogits;
    w->rows.logits.rows = n; w->rows.logits.vocab = w->rows.logits.stride = of.vocab; w->rows.logits.temperature = 1;
}

static void workload_close(workload *w) {
    free(w->real); free(w->integer); free(w->rows.part); free(w->logits); free(w->dlogits);
}

static void read_all(const uint32_t *x, size_t words) {
    uint32_t sum[64], all = 0;
    size_t k;
    int j;
    memset(sum, 0, sizeof sum);
    for (k = 0; k + 64 <= words; k += 64) for (j = 0; j < 64; j++) sum[j] += x[k + (size_t)j];
    for (j = 0; j < 64; j++) all += sum[j];
    sink = sink + all;
}

/* seconds */
static double run(workload *w, pass what) {
    const grpo_real *advantage = w->real + 2 * w->of.tokens;
    grpo_logits_batch rows = w->rows;
    grpo_report report;
    grpo_status st = GRPO_OK;
    double start;
    use_threads(w->of.threads);
    if (what == FORWARD) rows.dlogits = NULL;
    start = now();
    if (what == READ) read_all((const uint32_t *)w->logits, w->bytes / 4);
    else if (what == OBJECTIVE) st = gspo_loss(&w->obj, &w->batch, advantage, NULL, &w->out, &report);
    else st = grpo_logits_loss(&w->obj, &w->batch, advantage, NULL, &rows, &w->out, &report);
    start = now() - start;
    if (st) { fprintf(stderr, "%s\n", status_line(st)); exit(2); }
    return start;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n) {
    qsort(x, (size_t)n, sizeof *x, ascending);
    return x[n / 2];
}

/* alternating, so that what else the machine does falls on all alike */
static void medians(workload *const w[], const pass what[], int kinds, int repeats, double *seconds) {
    static double all[8][MOST_REPEATS];
    int k, j;
    for (k = 0; k < repeats; k++) for (j = 0; j < kinds; j++) all[j][k] = run(w[j], what[j]);
    for (j = 0; j < kinds; j++) seconds[j] = median(all[j], repeats);
}

/* ---- the table ------------------------------------------------------------------------------------------------------------------- */

static void show_logits(job of) {
    static const pass what[] = { FORWARD, BOTH, READ };
    workload w, *const of_all[] = { &w, &w, &w };
    double t[3];
    int k;
    of.what = BOTH;
    workload_open(&w, of);
    medians(of_all, what, 3, 7, t);
    for (k = 0; k < 2; k++)
        printf("%-10s %-9s %8lld %8lld %7d %12.0f %8.3f %8.2f %8.2f\n", pass_name[what[k]], type_name[of.type], (long long)of.tokens,
               (long long)of.vocab, of.threads, 1e9 * t[k] / (double)of.tokens, 1e9 * t[k] / (double)(of.tokens * of.vocab),
               1e-9 * (double)w.bytes / t[k], t[2] / t[k]);
    workload_close(&w);
}

static void show_objective(int64_t tokens) {
    static const pass what[] = { OBJECTIVE };
    const job of = { OBJECTIVE, GRPO_LOGITS_REAL, tokens, 0, 1 };
    workload w, *const of_all[] = { &w };
    double t;
    workload_open(&w, of);
    medians(of_all, what, 1, tokens > 2000000 ? 3 : 9, &t);
    printf("%-10s %-9s %8lld %8s %7d %12.1f\n", pass_name[OBJECTIVE], "float", (long long)tokens, "", 1, 1e9 * t / (double)tokens);
    workload_close(&w);
}

static int show(void) {
    static const int64_t vocab[] = { 32000, 151936 }, tokens[] = { 10240, 102400, 1024000, 10240000 };
    int v, k, threads;
    printf("%-10s %-9s %8s %8s %7s %12s %8s %8s %8s\n", "pass", "type", "tokens", "vocab", "threads", "ns/token", "ns/logit", "GB/s",
           "of read");
    for (v = 0; v < 2; v++) for (k = 0; k < 3; k++) for (threads = 1; threads <= 2; threads++) {
        job of = { BOTH, GRPO_LOGITS_REAL, 128, 0, 1 };
        of.type = (grpo_logits_type)k; of.vocab = vocab[v]; of.threads = threads;
#ifndef _OPENMP
        if (threads > 1) continue;
#endif
        show_logits(of);
    }
    for (k = 0; k < 4; k++) show_objective(tokens[k]);
    return 0;
}

/* ---- ratios ---------------------------------------------------------------------------------------------------------------------- */

static long peak(void) {                                               /* kilobytes, of the process */
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

/* cost per element at eight times the size over that at the size */
static void check_linear(pass what, job small, job large) {
    const pass both[] = { what, what };
    workload a, b, *const of_all[] = { &a, &b };
    const int64_t n = small.tokens * (small.vocab ? small.vocab : 1), m = large.tokens * (large.vocab ? large.vocab : 1);
    double t[2], grown, ratio;
    long before;
    workload_open(&a, small);
    workload_open(&b, large);
    run(&a, what);                                                      /* the program's own pages */
    before = peak();
    medians(of_all, both, 2, 15, t);
    grown = 1024.0 * (double)(peak() - before) / (double)(b.bytes + (size_t)large.tokens * 7 * sizeof(grpo_real));
    ratio = t[1] / t[0] * (double)n / (double)m;
    printf("%s, %lld tokens, %lld logits each, for %lld and %lld: %.2f of the cost per element; memory grew by %.4f of the arrays\n",
           pass_name[what], (long long)large.tokens, (long long)large.vocab, (long long)small.tokens, (long long)small.vocab, ratio, grown);
    check(ratio > 0.2 && ratio < 4, "%s: the cost is not linear", pass_name[what]);
    check(grown < 0.02, "%s: memory", pass_name[what]);
    workload_close(&a);
    workload_close(&b);
}

static int smoke(void) {
    const job few = { BOTH, GRPO_LOGITS_REAL, 16, 32768, 1 }, more = { BOTH, GRPO_LOGITS_REAL, 128, 32768, 1 };
    const job wide = { BOTH, GRPO_LOGITS_REAL, 16, 262144, 1 };
    const job tokens = { OBJECTIVE, GRPO_LOGITS_REAL, 64 * GROUP * 20, 0, 1 };
    const job all_tokens = { OBJECTIVE, GRPO_LOGITS_REAL, 64 * GROUP * 400, 0, 1 };
    check_linear(FORWARD, few, more);
    check_linear(FORWARD, few, wide);
    check_linear(BOTH, few, more);
    check_linear(BOTH, few, wide);
    check_linear(OBJECTIVE, tokens, all_tokens);
    return check_summary();
}

/* ---- for compare.py -------------------------------------------------------------------------------------------------------------- */

static int named(const char *name, const char *const *names, int n) {
    int k;
    for (k = 0; k < n; k++) if (!strcmp(name, names[k])) return k;
    fprintf(stderr, "what is %s?\n", name);
    exit(2);
}

static int serve(void) {
    workload w;
    char what[16], type[16];
    long long tokens, vocab;
    int threads, open = 0;
    while (scanf("%15s %15s %lld %lld %d", what, type, &tokens, &vocab, &threads) == 5) {
        job of = { BOTH, GRPO_LOGITS_REAL, 0, 0, 1 };
        const pass asked = (pass)named(what, pass_name, N_PASSES);
        of.type = (grpo_logits_type)named(type, type_name, 3);
        of.what = asked == OBJECTIVE ? OBJECTIVE : BOTH;
        of.tokens = tokens; of.vocab = vocab; of.threads = threads;
        if (open && (w.of.what != of.what || w.of.type != of.type || w.of.tokens != tokens || w.of.vocab != vocab)) {
            workload_close(&w);
            open = 0;
        }
        if (!open) workload_open(&w, of);
        open = 1;
        w.of.threads = threads;
        printf("%.9f\n", run(&w, asked));
        fflush(stdout);
    }
    if (open) workload_close(&w);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && !strcmp(argv[1], "--smoke")) return smoke();
    if (argc == 2 && !strcmp(argv[1], "--serve")) return serve();
    if (argc == 1) return show();
    fputs("usage: bench [--smoke | --serve]\n", stderr);
    return 2;
}
