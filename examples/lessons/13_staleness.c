/* Lesson 13: responses that an older policy sampled.   Licence: MIT-0
 * sg[v] min(w A, clip(w, 1 - eps, 1 + eps) A), w = pi/pi_prox, v = pi_prox/pi_behav     decoupled PPO: arXiv 2110.00641; AReaL, arXiv
 * 2505.24298, equation 5;  min(v, C): TIS (lesson 7);  s = (prod_t w_t)^(1/T): GSPO (lesson 3) */
#define GSPO_IMPLEMENTATION
#include "../../gspo.h"
#include <stdio.h>

enum { T = 8, NEEDED = 6, N = 1 << T, LAGS = 5 };      /* bit t of a response is 1 if its token t is right; all N are enumerated */
static const double p = 0.7, step = 0.2;               /* of a right token: its probability now; what an update has added to its logit */
static const int lag[LAGS] = { 0, 1, 2, 4, 8 };        /* how many updates the sampler is behind */
static int64_t group_begin[N + 1], offset[N], length[N];
static float logp[N * T], logp_behav[N * T], advantage[N * T], dlogp[N * T];
static double reward[N], probability[N];               /* of a response; its probability under the sampler */
typedef struct { const char *name, *row; int ratio_to_sampler; double bound, eps; } method;      /* bound, eps: 0 for the row's own */

static int is_right(int k) { return k / T >> k % T & 1; }          /* token k % T of response k / T */

static void sample(int updates_behind) {
    const double q = 1 / (1 + (1 - p) / p * exp(step * updates_behind));
    double mean = 0;
    for (int i = 0; i < N; i++) probability[i] = 1;
    for (int k = 0; k < N * T; k++) {
        logp[k] = (float)log(is_right(k) ? p : 1 - p);
        logp_behav[k] = (float)log(is_right(k) ? q : 1 - q);
        probability[k / T] *= is_right(k) ? q : 1 - q;
    }
    for (int i = 0; i < N; i++) mean += probability[i] * reward[i];
    for (int k = 0; k < N * T; k++) advantage[k] = (float)(reward[k / T] - mean);
}

/* mean and deviation of a response's gradient by the logit, the sum of -d loss/d logp (1[right] - p); the clipped tokens in percent */
static void estimate(const method *m, double *mean, double *std, double *clipped) {
    const grpo_output out = { .dlogp = dlogp };
    grpo_report report;
    grpo_objective o;
    if (grpo_objective_named(m->row, &o)) printf("no such row\n");
    if (m->bound > 0) o.weight.rollout_is_high = m->bound;
    if (m->eps > 0) o.surrogate.eps_low = o.surrogate.eps_high = m->eps;
    o.aggregation.kind = GRPO_AGGREGATION_TOKEN_SUM;
    *mean = *std = *clipped = 0;
    for (int i = 0; i < N; i++) {
        const grpo_batch one = { .n_groups = 1, .group_begin = group_begin + i, .offset = offset, .length = length, .n_tokens = N * T,
                                 .logp = logp, .logp_old = m->ratio_to_sampler ? logp_behav : logp, .logp_rollout = logp_behav };
        double x = 0;
        if (gspo_loss(&o, &one, advantage, NULL, &out, &report)) printf("refused\n");
        for (int k = i * T; k < i * T + T; k++) x -= (double)dlogp[k] * (is_right(k) - p);
        *mean += probability[i] * x;
        *std += probability[i] * x * x;
        *clipped += 100 * probability[i] * report.clip_fraction;
    }
    *std = sqrt(*std - *mean * *mean);
}

static void print(const char *format, const double x[LAGS]) { for (int k = 0; k < LAGS; k++) printf(format, x[k]); }

static void compare(const char *task, double ought) {
    static const method all[] = {
        { "no correction, w = v = 1", "ppo", 0, 0, 0 }, { "PPO, w = pi/pi_behav", "ppo", 1, 0, 0 },
        { "decoupled PPO, v up to 5", "decoupled-ppo", 0, 0, 0 }, { "TIS, min(v, 2)", "tis", 0, 0, 0 },
        { "TIS, v of the response", "tis-sequence", 0, 0, 0 }, { "  without the bound", "tis-sequence", 0, HUGE_VAL, 0 },
        { "GSPO, s of pi/pi_behav", "gspo", 1, 0, 0 }, { "  with eps = 0.2", "gspo", 1, 0, 0.2 } };
    printf("%-32s the gradient ought to be %.3f\n", task, ought);
    printf("  updates behind: mean       0      1      2      4      8    std: 0     1     2     4     8"
           "   %% clipped: 0   1   2   4   8\n");
    for (int m = 0; m < 8; m++) {
        double mean[LAGS], std[LAGS], clipped[LAGS];
        for (int k = 0; k < LAGS; k++) { sample(lag[k]); estimate(&all[m], &mean[k], &std[k], &clipped[k]); }
        printf("  %-24s", all[m].name);
        print(" %6.3f", mean); printf("  "); print(" %5.2f", std); printf("          "); print(" %3.0f", clipped); printf("\n");
    }
}

int main(void) {
    for (int i = 0; i < N; i++) { offset[i] = i * T; length[i] = T; group_begin[i + 1] = i + 1; }
    for (int k = 0; k < N * T; k++) reward[k / T] += is_right(k) / (double)T;
    compare("R = the share of right tokens", p * (1 - p));
    for (int i = 0; i < N; i++) reward[i] = reward[i] >= (double)NEEDED / T;
    compare("R = 1 if at least 6 are right", T * p * (1 - p) * 21 * pow(p, 5) * pow(1 - p, 2));
    return 0;
}
