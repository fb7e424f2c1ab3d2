/* bench/hidden: the cost from hidden states to d hidden and d weight by tiles, compared with the matrix products alone.
 *
 *     hidden WHAT TOKENS WIDTH VOCABULARY TILE_ROWS
 *
 * WHAT: one (dapo, one pass), two (gspo, two passes), three (the three products of a linear layer with all logits in memory), plain (one,
 * with grpo_hidden_product).  Prints the bytes that a first call adds to the resident memory beyond hidden states and weight, outputs
 * included; then, for each line it reads, the seconds of one more call (tests/bench/hidden.py).  With -DUSE_CBLAS -lopenblas the products
 * are OpenBLAS's.  No token is clipped or has A = 0, so that no product is skipped. */
#define _POSIX_C_SOURCE 200112L
#define GRPO_HIDDEN_IMPLEMENTATION
#define GRPO_LOGITS_IMPLEMENTATION
#include "../../extra/grpo_hidden.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#ifdef USE_CBLAS
#include <cblas.h>
#endif

enum { GROUP = 8, LENGTH = 8 };

static grpo_objective obj;
static grpo_batch batch;
static grpo_hidden rows;
static grpo_output out;
static float *advantage, *logits;
static int64_t tokens;
static int alone;                       /* 1: the products alone */

static void *array(int64_t n, size_t size) {
    void *p = malloc((size_t)n * size);
    if (!p) { fputs("out of memory\n", stderr); exit(2); }
    return p;
}

static float *reals(int64_t n) { return (float *)array(n, sizeof(float)); }
static int64_t *integers(int64_t n) { return (int64_t *)array(n, sizeof(int64_t)); }

static float unit(void) {               /* -1 .. 1 */
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (float)((double)(state >> 11) / 4503599627370496.0 - 1);
}

static float *random_reals(int64_t n, float size) {
    float *x = reals(n);
    for (int64_t k = 0; k < n; k++) x[k] = size * unit();
    return x;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* resident memory of this process in bytes, current (VmRSS) or peak (VmHWM); 0 without /proc */
static double resident(const char *which) {
    char line[200];
    double kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f)) if (strncmp(line, which, strlen(which)) == 0) kib = atof(line + strlen(which));
    if (f) fclose(f);
    return 1024 * kib;
}

static void forget_peak(void) {
    FILE *f = fopen("/proc/self/clear_refs", "w");
    if (f) { fputs("5", f); fclose(f); }
}

static void product(void *context, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k, const float *a, const float *b,
                    int add, float *c) {
#ifdef USE_CBLAS
    (void)context;
    cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans, transpose_b ? CblasTrans : CblasNoTrans, (int)m, (int)n, (int)k,
                1, a, (int)(transpose_a ? m : k), b, (int)(transpose_b ? k : n), (float)add, c, (int)n);
#else
    grpo_hidden_product(context, transpose_a, transpose_b, m, n, k, a, b, add, c);
#endif
}

static void call(void) {
    grpo_report report;
    char text[GRPO_MESSAGE_SIZE];
    grpo_status st;
    if (alone) {
        product(NULL, 0, 1, tokens, rows.vocab, rows.width, rows.hidden, rows.weight, 0, logits);
        product(NULL, 0, 0, tokens, rows.width, rows.vocab, logits, rows.weight, 0, rows.d_hidden);
        product(NULL, 1, 0, rows.vocab, rows.width, tokens, logits, rows.hidden, 1, rows.d_weight);
        return;
    }
    st = grpo_hidden_loss(&obj, &batch, advantage, NULL, &rows, &out, &report);
    if (st) { fprintf(stderr, "%s\n", grpo_status_message(st, text, sizeof text)); exit(1); }
}

/* responses of LENGTH tokens, in groups of GROUP; logp_old is logp */
static void make_batch(void) {
    const int64_t responses = tokens / LENGTH, groups = responses / GROUP;
    int64_t *begin = integers(groups + 1), *offset = integers(responses), *length = integers(responses), *target = integers(tokens);
    float *old = reals(tokens), *d_hidden = rows.d_hidden, *d_weight = rows.d_weight;
    for (int64_t g = 0; g <= groups; g++) begin[g] = g * GROUP;
    for (int64_t i = 0; i < responses; i++) { offset[i] = i * LENGTH; length[i] = LENGTH; }
    for (int64_t t = 0; t < tokens; t++) {
        target[t] = (int64_t)((double)rows.vocab * (0.5 + 0.49 * (double)unit()));
        advantage[t] = t / LENGTH % 2 ? 1 : -1;
        old[t] = 0;
    }
    batch.n_groups = groups; batch.group_begin = begin; batch.offset = offset; batch.length = length; batch.n_tokens = tokens;
    batch.logp_old = old;
    rows.target = target; rows.d_hidden = rows.d_weight = NULL;
    call();
    memcpy(old, rows.logp, (size_t)tokens * sizeof *old);
    rows.d_hidden = d_hidden; rows.d_weight = d_weight;
}

int main(int argc, char **argv) {
    double before;
    char line[10];
    if (argc != 6) { fputs("hidden one|two|three|plain TOKENS WIDTH VOCABULARY TILE_ROWS\n", stderr); return 2; }
    tokens = atol(argv[2]) / (GROUP * LENGTH) * (GROUP * LENGTH);
    rows.width = atol(argv[3]); rows.vocab = atol(argv[4]); rows.tile_rows = atol(argv[5]); rows.temperature = 1;
    rows.hidden = random_reals(tokens * rows.width, 1);
    rows.weight = random_reals(rows.vocab * rows.width, 0.1f);
    before = resident("VmRSS:");
    forget_peak();
    alone = strcmp(argv[1], "three") == 0;
    if (strcmp(argv[1], "plain") != 0) rows.product = product;
    rows.d_hidden = reals(tokens * rows.width);
    rows.d_weight = random_reals(rows.vocab * rows.width, 0);
    if (alone) { logits = random_reals(tokens * rows.vocab, 1); call(); }
    else {
        rows.tile = reals(rows.tile_rows * (rows.vocab + rows.width));
        rows.row = (grpo_hidden_row *)array(rows.tile_rows, sizeof *rows.row);
        rows.logp = reals(tokens); rows.entropy = reals(tokens); out.dlogp = reals(tokens); out.dentropy = reals(tokens);
        advantage = reals(tokens);
        if (grpo_objective_named(strcmp(argv[1], "two") == 0 ? "gspo" : "dapo", &obj)) return 2;
        make_batch();
        call();
    }
    printf("%.0f\n", resident("VmHWM:") - before);
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        const double start = now();
        call();
        printf("%.9f\n", now() - start);
        fflush(stdout);
    }
    return 0;
}
