/* gspo_loss with gradient and report for a row by name, on one batch: 64 groups of 8 responses of 64 to 256 tokens.  Compiled into a shared
 * object, with these headers and with those of another commit: rows_beside.c times both.  Rows that need further arrays (steps, a teacher
 * ...) are left out.  It must compile with older headers too. */
#define _POSIX_C_SOURCE 200112L
#define GSPO_IMPLEMENTATION
#include "gspo.h"
#include "rows.h"
#include <time.h>

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

static grpo_batch batch;
static grpo_objective objective;
static rows_arrays *arrays;

void rows_begin(rows_arrays *a) {
    int64_t i, t;
    arrays = a;
    memset(&batch, 0, sizeof batch);
    for (i = 0; i < ROWS_SEQUENCES; i++) {
        a->length[i] = 64 + (int64_t)(uniform() * (ROWS_LONGEST - 64));
        a->offset[i] = batch.n_tokens;
        batch.n_tokens += a->length[i];
        a->reward[i] = uniform() < 0.4 ? 1 : 0;
        a->baseline[i] = 0.4f;
    }
    for (i = 0; i <= ROWS_GROUPS; i++) a->group_begin[i] = i * ROWS_GROUP;
    for (t = 0; t < batch.n_tokens; t++) {
        a->logp[t] = (float)(-0.01 - 3 * uniform());
        a->logp_old[t] = (float)(a->logp[t] + 0.4 * uniform() - 0.2);
        a->logp_ref[t] = (float)(a->logp[t] + 0.6 * uniform() - 0.3);
        a->logp_rollout[t] = (float)(a->logp_old[t] + 0.02 * uniform() - 0.01);
        if (a->logp_old[t] > 0) a->logp_old[t] = 0;
        if (a->logp_ref[t] > 0) a->logp_ref[t] = 0;
        if (a->logp_rollout[t] > 0) a->logp_rollout[t] = 0;
        a->entropy[t] = (float)(2 * uniform());
        a->value[t] = (float)uniform();
    }
    batch.n_groups = ROWS_GROUPS; batch.group_begin = a->group_begin; batch.offset = a->offset; batch.length = a->length;
    batch.logp = a->logp; batch.logp_old = a->logp_old; batch.logp_ref = a->logp_ref; batch.logp_rollout = a->logp_rollout;
    batch.entropy = a->entropy; batch.value = a->value; batch.reward = a->reward; batch.baseline = a->baseline;
}

const char *rows_name(int k) {
    int n;
    const grpo_preset *presets = grpo_presets(&n);
    return k < n ? presets[k].name : NULL;
}

int rows_choose(const char *name) {
    return !grpo_objective_named(name, &objective) && !grpo_advantages(&objective, &batch, arrays->advantage);
}

int rows_tokens(void) { return (int)batch.n_tokens; }

/* the limit in ns per token: of token-level rows; of ratios of a sequence, segment or group; with a double-double exponential per token */
double rows_bound(void) {
    const grpo_level_kind level = objective.ratio.level;
    if (level == GRPO_LEVEL_SEQUENCE_MEAN_RATIO || level == GRPO_LEVEL_SEQUENCE_POWER_MEAN) return 120;
    if (objective.surrogate.kind == GRPO_SURROGATE_VESPO) return 120;
    return level == GRPO_LEVEL_TOKEN && gspo_scratch(&objective, &batch) == 0 ? 25 : 40;
}

double rows_call(double *loss, double *gradient) {
    static double scratch[32 * ROWS_GROUP];                            /* for surrogates of a group */
    grpo_output out;
    grpo_report report;
    double start, taken;
    int64_t t;
    memset(&out, 0, sizeof out);
    out.dlogp = arrays->dlogp;
    out.scratch = scratch;
    out.scratch_size = sizeof scratch / sizeof *scratch;
    start = seconds();
    if (gspo_loss(&objective, &batch, arrays->advantage, NULL, &out, &report)) return -1;
    taken = seconds() - start;
    *loss = report.loss;
    for (*gradient = 0, t = 0; t < batch.n_tokens; t++) *gradient += (double)arrays->dlogp[t] * (double)(1 + t % 7);
    return taken;
}
