/* bench: the cost of the path from logits to gradient, compared with a plain read of the same memory in the same run.
 *
 *     bench                                  a table: ns per token, GB/s of logits, fraction of the read bandwidth
 *     bench --scaling                        tables: cost per element and memory from 1e3 to 1e7 tokens, from 1e3 to 3e5 logits a row,
 *                                            by one thread and by two; ends with "N passed, N failed", which check memory only
 *     bench --smoke [PROGRAM]                checks that the cost is linear and memory constant.  PROGRAM: this program compiled with
 *                                            GRPO_NO_DISPATCH, which must be slower.  Ends with "N passed, N failed"
 *     bench --serve [processor]              one line "pass type tokens vocabulary threads" in, one line of seconds out (compare.py);
 *                                            processor: CPU seconds instead of elapsed ones
 *
 * Passes: forward (logp, entropy), both (logits -> loss -> d logits), objective (loss, its gradient and report, of tokens alone), read. */
#define _POSIX_C_SOURCE 200112L
#define GSPO_IMPLEMENTATION
#define GRPO_LOGITS_IMPLEMENTATION
#include "../../extra/grpo_logits.h"
#include "../support/status.h"
#include "../support/check.h"
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__GNUC__) && defined(__x86_64__)
#define WIDE_LOADS
#include <immintrin.h>
#endif
#ifdef _OPENMP
#include <omp.h>
#define OMP(directive) _Pragma(directive)
static void use_threads(int n) { omp_set_num_threads(n); }
#else
#define OMP(directive)
static void use_threads(int n) { (void)n; }
#endif

enum { GROUP = 8, MOST_REPEATS = 101, MOST_KINDS = 8, MOST_THREADS = 16 };
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
    size_t bytes, all;             /* size of the logits, of all arrays */
} workload;

/* 1: measure CPU time, 0: elapsed time.  --smoke runs in one thread beside other programs */
static int of_processor;

static double now(void) {
    struct timespec t;
    clock_gettime(of_processor ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double unit(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-53;
}

/* touches every page (with a value other than 0, since a compiler may turn that into calloc), so that only memory allocated by a call
 * raises the peak.  Aligned to cache lines, like PyTorch's arrays */
static void *alloc(workload *w, size_t bytes) {
    void *p;
    if (posix_memalign(&p, 64, bytes + 64)) { fputs("out of memory\n", stderr); exit(2); }
    memset(p, 1, bytes + 64);
    w->all += bytes + 64;
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
    length[sequences - 1] += n % sequences;
    for (k = 0; k < n; k++) {
        x[k] = (grpo_real)(-2 * unit(state));                           /* logp; overwritten if there are logits */
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
    if (n < sequences || grpo_objective_named("dapo", &w->obj)) { fputs("a token for each sequence, at least\n", stderr); exit(2); }
    w->real = (grpo_real *)alloc(w, (size_t)n * 7 * sizeof *w->real);
    w->integer = (int64_t *)alloc(w, (size_t)(n + 3 * sequences + 1) * sizeof *w->integer);
    w->bytes = of.what == OBJECTIVE ? 0 : (size_t)(n * of.vocab) * element;
    if (w->bytes) w->rows.part = (grpo_logits_part *)alloc(w, (size_t)n * sizeof *w->rows.part);
    if (w->bytes) w->logits = alloc(w, w->bytes);
    if (of.what == BOTH) w->dlogits = alloc(w, w->bytes);
    fill_tokens(w, sequences, &state);
    if (w->bytes) fill_logits(w, &state);
    w->rows.logits.type = of.type; w->rows.logits.logits = w->logits; w->rows.dlogits = w->dlogits;
    w->rows.logits.rows = n; w->rows.logits.vocab = w->rows.logits.stride = of.vocab; w->rows.logits.temperature = 1;
}

static void workload_close(workload *w) {
    free(w->real); free(w->integer); free(w->rows.part); free(w->logits); free(w->dlogits);
}

/* ---- a plain read of the logits, by the widest loads of the processor, independent of the build's flags --------------------------- */

#ifdef WIDE_LOADS
__attribute__((target("avx512f")))
static uint32_t read_512(const uint32_t *x, size_t words) {
    __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;
    uint32_t sum[16], all = 0;
    size_t k;
    for (k = 0; k + 64 <= words; k += 64) {
        a = _mm512_add_epi32(a, _mm512_loadu_si512(x + k));
        b = _mm512_add_epi32(b, _mm512_loadu_si512(x + k + 16));
        c = _mm512_add_epi32(c, _mm512_loadu_si512(x + k + 32));
        d = _mm512_add_epi32(d, _mm512_loadu_si512(x + k + 48));
    }
    _mm512_storeu_si512(sum, _mm512_add_epi32(_mm512_add_epi32(a, b), _mm512_add_epi32(c, d)));
    for (k = 0; k < 16; k++) all += sum[k];
    return all;
}

__attribute__((target("avx2")))
static uint32_t read_256(const uint32_t *x, size_t words) {
    __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
    uint32_t sum[8], all = 0;
    size_t k;
    for (k = 0; k + 32 <= words; k += 32) {
        a = _mm256_add_epi32(a, _mm256_loadu_si256((const __m256i *)(const void *)(x + k)));
        b = _mm256_add_epi32(b, _mm256_loadu_si256((const __m256i *)(const void *)(x + k + 8)));
        c = _mm256_add_epi32(c, _mm256_loadu_si256((const __m256i *)(const void *)(x + k + 16)));
        d = _mm256_add_epi32(d, _mm256_loadu_si256((const __m256i *)(const void *)(x + k + 24)));
    }
    _mm256_storeu_si256((__m256i *)(void *)sum, _mm256_add_epi32(_mm256_add_epi32(a, b), _mm256_add_epi32(c, d)));
    for (k = 0; k < 8; k++) all += sum[k];
    return all;
}
#endif

static uint32_t read_plain(const uint32_t *x, size_t words) {
    uint32_t sum[64], all = 0;
    size_t k;
    int j;
    memset(sum, 0, sizeof sum);
    for (k = 0; k + 64 <= words; k += 64) for (j = 0; j < 64; j++) sum[j] += x[k + (size_t)j];
    for (j = 0; j < 64; j++) all += sum[j];
    return all;
}

static void read_all(const uint32_t *x, size_t words) {
#ifdef WIDE_LOADS
    if (__builtin_cpu_supports("avx512f")) sink = sink + read_512(x, words);
    else if (__builtin_cpu_supports("avx2")) sink = sink + read_256(x, words);
    else
#endif
    sink = sink + read_plain(x, words);
}

/* ---- one call of a pass ------------------------------------------------------------------------------------------------------------ */

/* the groups are split among the threads: totals of all parts, then every part, then their partials are merged */
static grpo_status objective_in_parts(workload *w, const grpo_real *advantage, grpo_report *report) {
    grpo_partial partial[MOST_THREADS];
    grpo_totals totals;
    grpo_status st[MOST_THREADS + 1];
    const int parts = w->of.threads < MOST_THREADS ? w->of.threads : MOST_THREADS;
    int k;
    memset(partial, 0, sizeof partial); memset(&totals, 0, sizeof totals); memset(st, 0, sizeof st);
    st[parts] = grpo_totals_add(&w->obj, &w->batch, advantage, &totals);
    OMP("omp parallel for schedule(static)")
    for (k = 0; k < parts; k++) {
        const int64_t first = w->batch.n_groups * k / parts, end = w->batch.n_groups * (k + 1) / parts;
        grpo_batch own = w->batch;
        own.n_groups = end - first; own.group_begin += first;
        st[k] = gspo_loss_add(&w->obj, &own, advantage, &totals, &w->out, &partial[k]);
    }
    for (k = 1; k < parts; k++) if (!st[parts]) st[parts] = grpo_partial_merge(&partial[0], &partial[k]);
    grpo_partial_report(&partial[0], report);
    for (k = 0; k < parts; k++) if (!st[parts]) st[parts] = st[k];
    return st[parts];
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
    else if (what != OBJECTIVE) st = grpo_logits_loss(&w->obj, &w->batch, advantage, NULL, &rows, &w->out, &report);
    else if (w->of.threads > 1) st = objective_in_parts(w, advantage, &report);
    else st = gspo_loss(&w->obj, &w->batch, advantage, NULL, &w->out, &report);
    start = now() - start;
    if (st) { fprintf(stderr, "%s\n", status_line(st)); exit(2); }
    return start;
}

typedef struct { double low, middle, high; } quartiles;                 /* of seconds */

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static quartiles quartiles_of(double *x, int n) {
    quartiles q;
    qsort(x, (size_t)n, sizeof *x, ascending);
    q.low = x[n / 4]; q.middle = x[n / 2]; q.high = x[n - 1 - n / 4];
    return q;
}

/* times the kinds in turn, so that other load on the machine affects all alike; calls: consecutive calls per turn (NULL: one) */
static void alternate(workload *const w[], const pass what[], const int64_t calls[], int kinds, int repeats, quartiles *seconds) {
    static double all[MOST_KINDS][MOST_REPEATS];
    int64_t c, n;
    int k, j;
    for (k = 0; k < repeats; k++) for (j = 0; j < kinds; j++) {
        n = calls ? calls[j] : 1;
        all[j][k] = 0;
        for (c = 0; c < n; c++) all[j][k] += run(w[j], what[j]) / (double)n;
    }
    for (j = 0; j < kinds; j++) seconds[j] = quartiles_of(all[j], repeats);
}

/* ---- the table ------------------------------------------------------------------------------------------------------------------- */

static void show_logits(job of) {
    static const pass what[] = { FORWARD, BOTH, READ };
    workload w, *const of_all[] = { &w, &w, &w };
    quartiles t[3];
    int k;
    of.what = BOTH;
    workload_open(&w, of);
    alternate(of_all, what, NULL, 3, 7, t);
    for (k = 0; k < 2; k++)
        printf("%-10s %-9s %8lld %8lld %7d %12.0f %8.3f %8.2f %8.2f\n", pass_name[what[k]], type_name[of.type], (long long)of.tokens,
               (long long)of.vocab, of.threads, 1e9 * t[k].middle / (double)of.tokens,
               1e9 * t[k].middle / (double)(of.tokens * of.vocab), 1e-9 * (double)w.bytes / t[k].middle, t[2].middle / t[k].middle);
    workload_close(&w);
}

static void show_objective(int64_t tokens) {
    static const pass what[] = { OBJECTIVE };
    const job of = { OBJECTIVE, GRPO_LOGITS_REAL, tokens, 0, 1 };
    workload w, *const of_all[] = { &w };
    quartiles t;
    workload_open(&w, of);
    alternate(of_all, what, NULL, 1, tokens > 2000000 ? 3 : 9, &t);
    printf("%-10s %-9s %8lld %8s %7d %12.1f\n", pass_name[OBJECTIVE], "float", (long long)tokens, "", 1, 1e9 * t.middle / (double)tokens);
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

static long peak(void) {                                               /* kilobytes of the process */
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

/* resets the peak of resident memory, where the system can */
static void forget_peak(void) {
    FILE *f = fopen("/proc/self/clear_refs", "w");
    if (f) { fputs("5\n", f); fclose(f); }
}

static double elements(const job *of) { return (double)of->tokens * (double)(of->vocab ? of->vocab : 1); }

/* the cost per element of the larger workload over that of the smaller one */
static double cost_ratio(pass what, workload *small, workload *large, int repeats) {
    const pass both[] = { what, what };
    workload *const of_all[] = { small, large };
    quartiles t[2];
    alternate(of_all, both, NULL, 2, repeats, t);
    return t[1].middle / t[0].middle * elements(&small->of) / elements(&large->of);
}

static void check_linear(pass what, job small, job large) {
    workload a, b;
    double grown, ratio;
    long before;
    workload_open(&a, small);
    workload_open(&b, large);
    run(&a, what);                                                      /* maps the program's own pages */
    forget_peak();
    before = peak();
    ratio = cost_ratio(what, &a, &b, 15);
    grown = 1024.0 * (double)(peak() - before) / (double)b.all;
    printf("%s, %lld tokens, %lld logits each, for %lld and %lld: %.2f of the cost per element; memory grew by %.4f of the arrays\n",
           pass_name[what], (long long)large.tokens, (long long)large.vocab, (long long)small.tokens, (long long)small.vocab, ratio, grown);
    check(ratio > 0.2 && ratio < 4, "%s: the cost is not linear", pass_name[what]);
    check(grown < 0.02, "%s: memory", pass_name[what]);
    workload_close(&a);
    workload_close(&b);
}

/* a token of a batch of 1e6 costs as much as one of a batch of 1e5; three tries, since other programs may disturb one */
static void check_flat(void) {
    const job few = { OBJECTIVE, GRPO_LOGITS_REAL, 100000, 0, 1 }, many = { OBJECTIVE, GRPO_LOGITS_REAL, 1000000, 0, 1 };
    workload a, b;
    double ratio = HUGE_VAL;
    int tries;
    workload_open(&a, few);
    workload_open(&b, many);
    for (tries = 0; tries < 3 && !(ratio < 1.5); tries++) {
        ratio = cost_ratio(OBJECTIVE, &a, &b, 9);
        printf("objective, a token of %lld costs %.2f of one of %lld\n", (long long)many.tokens, ratio, (long long)few.tokens);
    }
    check(ratio < 1.5, "objective: a token of a large batch costs %.2f of one of a small batch", ratio);
    workload_close(&a);
    workload_close(&b);
}

/* ---- comparison with another program --------------------------------------------------------------------------------------------- */

typedef struct { FILE *to, *from; pid_t process; } other_program;

static void other_open(other_program *other, const char *path) {
    int in[2], out[2];
    fflush(stdout);
    if (pipe(in) || pipe(out) || (other->process = fork()) < 0) { perror("bench"); exit(2); }
    if (!other->process) {
        dup2(in[0], 0); dup2(out[1], 1);
        close(in[0]); close(in[1]); close(out[0]); close(out[1]);
        execl(path, path, "--serve", "processor", (char *)NULL);
        perror(path);
        _exit(2);
    }
    close(in[0]); close(out[1]);
    other->to = fdopen(in[1], "w"); other->from = fdopen(out[0], "r");
    if (!other->to || !other->from) { perror("bench"); exit(2); }
}

static double other_run(other_program *other, pass what, const job *of) {
    double seconds;
    fprintf(other->to, "%s %s %lld %lld %d\n", pass_name[what], type_name[of->type], (long long)of->tokens, (long long)of->vocab,
            of->threads);
    fflush(other->to);
    if (fscanf(other->from, "%lf", &seconds) != 1) { fputs("the other program does not answer\n", stderr); exit(2); }
    return seconds;
}

static void other_close(other_program *other) {
    fclose(other->to); fclose(other->from);
    waitpid(other->process, NULL, 0);
}

/* the reason why loops chosen at run time cannot be faster than those of the build; NULL: they can */
static const char *nothing_to_choose(void) {
#if defined(GRPO_NO_DISPATCH)
    return "this program is itself compiled with GRPO_NO_DISPATCH";
#elif defined(__AVX2__)
    return "the build is for a processor with AVX2 anyway";
#elif defined(WIDE_LOADS)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? NULL : "the processor has no AVX2";
#else
    return "it is for x86-64, by gcc and clang";
#endif
}

/* the loops chosen at run time must be at least 1.5 times as fast as those of the build */
static void check_dispatch(const char *path) {
    static const pass passes[] = { FORWARD, BOTH };
    const job of = { BOTH, GRPO_LOGITS_REAL, 32, 32768, 1 };
    const char *reason = nothing_to_choose();
    double own[9], others[9], ratio;
    other_program other;
    workload w;
    int k, p, tries;
    if (reason) { printf("skipped: the loops chosen at run time, for %s\n", reason); return; }
    workload_open(&w, of);
    other_open(&other, path);
    for (p = 0; p < 2; p++) {
        for (tries = 0, ratio = 0; tries < 3 && !(ratio >= 1.5); tries++) {
            run(&w, passes[p]); other_run(&other, passes[p], &of);
            for (k = 0; k < 9; k++) { own[k] = run(&w, passes[p]); others[k] = other_run(&other, passes[p], &of); }
            ratio = quartiles_of(others, 9).middle / quartiles_of(own, 9).middle;
            printf("%s: the loops chosen at run time are %.2f times as fast as those of the build\n", pass_name[passes[p]], ratio);
        }
        check(ratio >= 1.5, "%s: the loops chosen at run time are only %.2f times as fast", pass_name[passes[p]], ratio);
    }
    other_close(&other);
    workload_close(&w);
}

static int smoke(const char *other) {
    const job few = { BOTH, GRPO_LOGITS_REAL, 16, 32768, 1 }, more = { BOTH, GRPO_LOGITS_REAL, 128, 32768, 1 };
    const job wide = { BOTH, GRPO_LOGITS_REAL, 16, 262144, 1 };
    const job tokens = { OBJECTIVE, GRPO_LOGITS_REAL, 64 * GROUP * 20, 0, 1 };
    const job all_tokens = { OBJECTIVE, GRPO_LOGITS_REAL, 64 * GROUP * 400, 0, 1 };
    of_processor = 1;
    check_linear(FORWARD, few, more);
    check_linear(FORWARD, few, wide);
    check_linear(BOTH, few, more);
    check_linear(BOTH, few, wide);
    check_linear(OBJECTIVE, tokens, all_tokens);
    check_flat();
    if (other) check_dispatch(other);
    return check_summary();
}

/* ---- scaling --------------------------------------------------------------------------------------------------------------------- */

/* kilobytes by which the peak may grow: the stack of each thread; the program's own pages, which the first call maps, and the inaccuracy of
 * the system's count */
enum { STACK = 32, GRAIN = 768 };

static void show_scaled(const workload *w, const quartiles *t, const quartiles *before, const job *of_before, long grown) {
    const double per = 1e9 / elements(&w->of), ns = t->middle * per;
    const int digits = ns < 1 ? 3 : ns < 10 ? 2 : ns < 100 ? 1 : 0;
    char ratio[32] = "";
    if (before) snprintf(ratio, sizeof ratio, "%.2f", ns / (before->middle * 1e9 / elements(of_before)));
    printf("| %lld | ", (long long)w->of.tokens);
    if (w->of.vocab) printf("%lld | ", (long long)w->of.vocab);
    printf("%d | %.*f | %.*f to %.*f | %s | %.3g | %ld |\n", w->of.threads, digits, ns, digits, t->low * per, digits, t->high * per, ratio,
           1e-6 * (double)w->all, grown);
}

/* all workloads are allocated beforehand, so that a call cannot reuse freed memory without raising the peak */
static void scale(workload *w, int n, pass what, int threads, int repeats) {
    workload *of_all[MOST_KINDS];
    pass passes[MOST_KINDS];
    quartiles t[MOST_KINDS];
    int64_t calls[MOST_KINDS];
    long grown[MOST_KINDS], before, all;
    int k;
    for (k = 0; k < n; k++) {
        of_all[k] = &w[k]; passes[k] = what;
        w[k].of.threads = threads;
        calls[k] = elements(&w[k].of) < 3e5 ? (int64_t)(3e5 / elements(&w[k].of)) : 1;
    }
    use_threads(threads);                                               /* OpenMP allocates on first use */
    forget_peak();
    before = all = peak();
    for (k = 0; k < n; k++) {
        run(&w[k], what);
        grown[k] = peak() - before;
        before += grown[k];
    }
    alternate(of_all, passes, calls, n, repeats, t);
    all = peak() - all;
    for (k = 0; k < n; k++) show_scaled(&w[k], &t[k], k ? &t[k - 1] : NULL, k ? &w[k - 1].of : NULL, grown[k]);
    check(all <= STACK * threads + GRAIN, "%s, %d threads: %ld KB more than the arrays", pass_name[what], threads, all);
}

static void scale_all(const char *title, const char *sizes, const char *rule, const job *of, int n, const pass *what, int passes) {
    workload w[MOST_KINDS];
    int k, p, threads;
    for (k = 0; k < n; k++) workload_open(&w[k], of[k]);
    for (p = 0; p < passes; p++) {
        printf("%s%s; ns per element, medians and quartiles by turns:\n\n| tokens | %sthreads | ns | quartiles | times the size before "
               "| MB of arrays | KB more in a call |\n|---:|%s---:|---:|---:|---:|---:|---:|\n", title, pass_name[what[p]], sizes, rule);
        for (threads = 1; threads <= 2; threads++) {
#ifndef _OPENMP
            if (threads > 1) continue;
#endif
            scale(w, n, what[p], threads, 11);
        }
        putchar('\n');
        fflush(stdout);
    }
    for (k = 0; k < n; k++) workload_close(&w[k]);
}

static int scaling(void) {
    static const int64_t vocab[] = { 1000, 3000, 10000, 30000, 100000, 300000 };
    static const pass rows[] = { FORWARD, BOTH }, alone[] = { OBJECTIVE };
    job of[6] = { { OBJECTIVE, GRPO_LOGITS_REAL, 1000, 0, 1 } };
    int k;
    for (k = 1; k < 5; k++) { of[k] = of[0]; of[k].tokens = 10 * of[k - 1].tokens; }
    scale_all("Tokens alone: ", "", "", of, 5, alone, 1);
    for (k = 0; k < 6; k++) { of[k] = of[0]; of[k].what = BOTH; of[k].vocab = vocab[k]; of[k].tokens = 15000000 / vocab[k]; }
    scale_all("Fifteen million logits, ", "vocabulary | ", "---:|", of, 6, rows, 2);
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
    if ((argc == 2 || argc == 3) && !strcmp(argv[1], "--smoke")) return smoke(argc == 3 ? argv[2] : NULL);
    if (argc == 2 && !strcmp(argv[1], "--scaling")) return scaling();
    if ((argc == 2 || argc == 3) && !strcmp(argv[1], "--serve")) { of_processor = argc == 3; return serve(); }
    if (argc == 1) return show();
    fputs("usage: bench [--scaling | --smoke [PROGRAM] | --serve [processor]]\n", stderr);
    return 2;
}
