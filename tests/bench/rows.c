/* rows: seconds of gspo_loss with gradient and report, of each row by name, on one batch: 64 groups of 8 responses of 64 to 256 tokens.
 *
 *     rows [NAME ...]        "NAME seconds loss gradient" a line, seconds the least of several calls, gradient a weighted sum of it:
 *                            by these two rows.sh sees whether a row computes what it did; all rows without names
 *
 * Rows that need arrays that are not here (steps, a teacher ...) are left out. It compiles with older headers too: rows.sh compares. */
#define _POSIX_C_SOURCE 200112L
#define GSPO_IMPLEMENTATION
#include "gspo.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { GROUPS = 64, GROUP = 8, SEQUENCES = GROUPS * GROUP, LONGEST = 256, MOST = SEQUENCES * LONGEST, CALLS = 9 };
static grpo_real logp[MOST], logp_old[MOST], logp_ref[MOST], logp_rollout[MOST], entropy[MOST], value[MOST], advantage[MOST], dlogp[MOST];
static grpo_real reward[SEQUENCES], baseline[SEQUENCES];
static int64_t group_begin[GROUPS + 1], offset[SEQUENCES], length[SEQUENCES];

static double uniform(void) { /* in [0, 1), the same on every machine */
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return (state >> 8) / 16777216.0;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static grpo_batch make_batch(void) {
    grpo_batch b;
    int64_t i, t;
    memset(&b, 0, sizeof b);
    for (i = 0; i < SEQUENCES; i++) {
        length[i] = 64 + (int64_t)(uniform() * (LONGEST - 64));
        offset[i] = b.n_tokens;
        b.n_tokens += length[i];
        reward[i] = uniform() < 0.4 ? 1 : 0;
        baseline[i] = 0.4f;
    }
    for (i = 0; i <= GROUPS; i++) group_begin[i] = i * GROUP;
    for (t = 0; t < b.n_tokens; t++) {
        logp[t] = (grpo_real)(-0.01 - 3 * uniform());
        logp_old[t] = (grpo_real)(logp[t] + 0.4 * uniform() - 0.2);
        logp_ref[t] = (grpo_real)(logp[t] + 0.6 * uniform() - 0.3);
        logp_rollout[t] = (grpo_real)(logp_old[t] + 0.02 * uniform() - 0.01);
        if (logp_old[t] > 0) logp_old[t] = 0;
        if (logp_ref[t] > 0) logp_ref[t] = 0;
        if (logp_rollout[t] > 0) logp_rollout[t] = 0;
        entropy[t] = (grpo_real)(2 * uniform());
        value[t] = (grpo_real)uniform();
    }
    b.n_groups = GROUPS; b.group_begin = group_begin; b.offset = offset; b.length = length;
    b.logp = logp; b.logp_old = logp_old; b.logp_ref = logp_ref; b.logp_rollout = logp_rollout;
    b.entropy = entropy; b.value = value; b.reward = reward; b.baseline = baseline;
    return b;
}

static void time_row(const char *name, const grpo_batch *batch) {
    grpo_objective objective;
    grpo_output out;
    grpo_report report;
    double least = HUGE_VAL, gradient = 0;
    int64_t t;
    int call;
    memset(&out, 0, sizeof out);
    out.dlogp = dlogp;
    if (grpo_objective_named(name, &objective) || grpo_advantages(&objective, batch, advantage)) return;
    for (call = 0; call < CALLS; call++) {
        const double start = seconds();
        double taken;
        if (gspo_loss(&objective, batch, advantage, NULL, &out, &report)) return;
        taken = seconds() - start;
        if (taken < least) least = taken;
    }
    for (t = 0; t < batch->n_tokens; t++) gradient += (double)dlogp[t] * (double)(1 + t % 7);
    printf("%s %.9f %.9g %.9g\n", name, least, report.loss, gradient);
}

int main(int count, char **names) {
    const grpo_batch batch = make_batch();
    int n, k;
    const grpo_preset *presets = grpo_presets(&n);
    if (count > 1) for (k = 1; k < count; k++) time_row(names[k], &batch);
    else for (k = 0; k < n; k++) time_row(presets[k].name, &batch);
    return 0;
}
