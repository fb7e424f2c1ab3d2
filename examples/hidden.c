/* hidden: trains the head of a language model from hidden states without ever storing all logits.
 *
 *     cc -std=c99 -O2 examples/hidden.c -lm -o hidden && ./hidden
 *     cc -std=c99 -O2 -DUSE_CBLAS examples/hidden.c -lopenblas -lm -o hidden && ./hidden       (libopenblas-dev; some ten times as fast)
 *
 * 512 tokens of 32 responses, a vocabulary of 8192: 16 MB of logits, of which only a tile of 64 rows, 2 MB, is stored at a time.  It takes
 * ten gradient steps on the weight with the objective named on the command line (default dapo; gspo reads all tiles before the loss) and
 * prints the mean log-probability of the tokens of rewarded responses and of the others, which change until the clip stops them.  d_hidden
 * is the gradient for the layers below. */
#define GRPO_HIDDEN_IMPLEMENTATION
#define GRPO_LOGITS_IMPLEMENTATION
#include "../extra/grpo_hidden.h"
#include <stdio.h>
#include <stdlib.h>
#ifdef USE_CBLAS
#include <cblas.h>
#endif

enum { GROUPS = 4, GROUP = 8, LENGTH = 16, TOKENS = GROUPS * GROUP * LENGTH, WIDTH = 256, VOCAB = 8192, TILE = 64, STEPS = 10 };

static int64_t group_begin[GROUPS + 1], offset[GROUPS * GROUP], length[GROUPS * GROUP], target[TOKENS];
static float hidden[TOKENS * WIDTH], d_hidden[TOKENS * WIDTH], weight[VOCAB * WIDTH], d_weight[VOCAB * WIDTH];
static float reward[GROUPS * GROUP], advantage[TOKENS], logp[TOKENS], logp_old[TOKENS], entropy[TOKENS], dlogp[TOKENS], dentropy[TOKENS];
static float tile[TILE * (VOCAB + WIDTH)];
static grpo_hidden_row row[TILE];

static void ask(grpo_status st) {
    char text[GRPO_MESSAGE_SIZE];
    if (!st) return;
    fprintf(stderr, "%s\n", grpo_status_message(st, text, sizeof text));
    exit(1);
}

static float unit(void) {                                               /* -1 .. 1 */
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (float)((double)(state >> 11) / 4503599627370496.0 - 1);
}

#ifdef USE_CBLAS
static void by_blas(void *context, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k, const float *a, const float *b,
                    int add, float *c) {
    (void)context;
    cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans, transpose_b ? CblasTrans : CblasNoTrans, (int)m, (int)n, (int)k,
                1, a, (int)(transpose_a ? m : k), b, (int)(transpose_b ? k : n), (float)add, c, (int)n);
}
#endif

static void make_batch(void) {
    for (int g = 0; g <= GROUPS; g++) group_begin[g] = g * GROUP;
    for (int i = 0; i < GROUPS * GROUP; i++) {
        offset[i] = i * LENGTH;
        length[i] = 1 + (int64_t)(LENGTH * (0.5f + 0.49f * unit()));
        reward[i] = (float)(unit() > 0);
    }
    for (int t = 0; t < TOKENS; t++) target[t] = (int64_t)(VOCAB * (0.5 + 0.49 * (double)unit()));
    for (int k = 0; k < TOKENS * WIDTH; k++) hidden[k] = unit();
    for (int k = 0; k < VOCAB * WIDTH; k++) weight[k] = 0.1f * unit();
}

/* mean log-probability of the tokens of responses with reward `of` */
static double mean_logp(float of) {
    double sum = 0, n = 0;
    for (int i = 0; i < GROUPS * GROUP; i++)
        for (int64_t t = offset[i]; reward[i] == of && t < offset[i] + length[i]; t++) { sum += (double)logp[t]; n++; }
    return n > 0 ? sum / n : 0;
}

int main(int argc, char **argv) {
    grpo_objective objective;
    grpo_batch batch;
    grpo_hidden rows;
    grpo_output out;
    grpo_report report;
    memset(&batch, 0, sizeof batch); memset(&rows, 0, sizeof rows); memset(&out, 0, sizeof out);
    make_batch();
    batch.n_groups = GROUPS; batch.group_begin = group_begin; batch.offset = offset; batch.length = length; batch.n_tokens = TOKENS;
    batch.reward = reward; batch.logp_old = batch.logp_ref = logp_old;
    rows.hidden = hidden; rows.weight = weight; rows.width = WIDTH; rows.vocab = VOCAB; rows.target = target; rows.temperature = 1;
    rows.tile_rows = TILE; rows.tile = tile; rows.row = row; rows.logp = logp; rows.entropy = entropy;
#ifdef USE_CBLAS
    rows.product = by_blas;
#endif
    out.dlogp = dlogp; out.dentropy = dentropy;
    ask(grpo_objective_named(argc > 1 ? argv[1] : "dapo", &objective));
    ask(grpo_advantages(&objective, &batch, advantage));
    for (int step = 0; step <= STEPS; step++) {
        ask(grpo_hidden_loss(&objective, &batch, advantage, NULL, &rows, &out, &report));      /* step 0: log-probabilities, no gradient */
        if (step == 0) { memcpy(logp_old, logp, sizeof logp); rows.d_hidden = d_hidden; rows.d_weight = d_weight; continue; }
        for (int k = 0; k < VOCAB * WIDTH; k++) { weight[k] -= 0.1f * d_weight[k]; d_weight[k] = 0; }
        printf("step %2d  loss %+.6f  clipped %3.0f %%  mean logp with reward %.4f, without %.4f\n", step, report.loss,
               100 * report.clip_fraction, mean_logp(1), mean_logp(0));
    }
    printf("passes over the tiles: %d\n", grpo_hidden_passes(&objective));
    return 0;
}
