/* Lesson 11: the value of the loss says little; its gradient is what a bound on the ratio changes.   Licence: MIT-0
 * GRPO: min(w A, clip(w, 1 - eps, 1 + eps) A);  CISPO: sg[min(w, C)] A log pi, MiniMax-M1, arXiv 2506.13585, equations 4 and 5;
 * masked: sg[w] A log pi where w is in a band, else 0 */
#define GSPO_IMPLEMENTATION
#include "../../gspo.h"
#include <stdio.h>

enum { N = 4, TOKENS = 16 };
static const int64_t group_begin[] = { 0, N }, offset[N] = { 0, 2, 4, 8 }, length[N] = { 2, 2, 4, 8 };
static const float reward[N] = { 1, 0, 0, 0 };
static float logp[TOKENS], logp_old[TOKENS], advantage[TOKENS], dlogp[TOKENS];
static const grpo_batch batch = { .n_groups = 1, .group_begin = group_begin, .offset = offset, .length = length, .n_tokens = TOKENS,
                                  .logp = logp, .logp_old = logp_old, .reward = reward };

/* GRPO without its KL, with another surrogate, level of the ratio and divisor */
static grpo_objective variant(const char *surrogate, const char *level, const char *divisor) {
    grpo_objective o;
    if (grpo_objective_named("grpo", &o) || grpo_objective_choose(&o, "penalty.kl", "none") ||
        grpo_objective_choose(&o, "surrogate.kind", surrogate) || grpo_objective_choose(&o, "ratio.level", level) ||
        grpo_objective_choose(&o, "aggregation.kind", divisor)) printf("no such choice\n");
    o.surrogate.weight_min = !strcmp(surrogate, "masked_weight") ? 0.5 : 0;
    o.surrogate.weight_max = 2;
    return o;
}

static void first_update(const char *name, grpo_objective o) {
    const grpo_output out = { .dlogp = dlogp };
    grpo_report report;
    if (grpo_advantages(&o, &batch, advantage) || gspo_loss(&o, &batch, advantage, NULL, &out, &report)) printf("refused\n");
    printf("  %-32s %9.4f ", name, report.loss);
    for (int i = 0; i < N; i++) printf(" %9.4f", -(double)dlogp[offset[i]]);
    printf("\n");
}

/* the push of one token, before the divisor, against its ratio */
static void by_ratio(const char *name, const char *surrogate, double A) {
    const double w[] = { 0.25, 0.6, 0.9, 1, 1.1, 1.8, 4, 8 };
    const grpo_objective o = variant(surrogate, "token", "token_mean");
    const grpo_range range = grpo_clip_range(o.surrogate.eps_low, o.surrogate.eps_high);
    printf("  A = %+g  %-30s", A, name);
    for (int k = 0; k < 8; k++) {
        const grpo_term t = grpo_surrogate_term(&o.surrogate, range, grpo_ratio_of(log(w[k]), 0), A, -1);
        printf(" %6.2f", 0 - (t.d_log_ratio + t.d_logp));
    }
    printf("\n");
}

int main(void) {
    for (int t = 0; t < TOKENS; t++) logp[t] = logp_old[t] = t < 2 ? -2 : -0.5f;
    printf("first update, all ratios 1              loss   push of a token of the response that is\n");
    printf("                                               right, 2  wrong, 2  wrong, 4  wrong, 8 tokens long\n");
    first_update("GRPO, no KL", variant("ppo_clip", "token", "seq_mean_token_mean"));
    first_update("GSPO's ratio", variant("ppo_clip", "sequence_mean", "seq_mean_token_mean"));
    first_update("CISPO's weight", variant("cispo", "token", "seq_mean_token_mean"));
    first_update("REINFORCE", variant("reinforce", "token", "seq_mean_token_mean"));
    first_update("GRPO, 1/sum T", variant("ppo_clip", "token", "token_mean"));
    first_update("CISPO, 1/sum T", variant("cispo", "token", "token_mean"));
    printf("later updates: push of a token by its ratio     0.25   0.60   0.90   1.00   1.10   1.80   4.00   8.00\n");
    for (int sign = 1; sign >= -1; sign -= 2) {
        by_ratio("PPO's clip, eps = 0.2", "ppo_clip", sign);
        by_ratio("CISPO, weight at most 2", "cispo", sign);
        by_ratio("dropped outside [0.5, 2]", "masked_weight", sign);
    }
    return 0;
}
