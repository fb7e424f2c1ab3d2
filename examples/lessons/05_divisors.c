/* Lesson 5: what the loss is divided by decides what length costs.   Licence: MIT-0
 * loss = - sum_i sum_t A_i / divisor, so the push of a token is A_i / divisor
 * 1/(N T_i): GRPO, arXiv 2402.03300;  1/sum T: DAPO, arXiv 2503.14476, the sum over the responses to one prompt, which is all there
 * is here;  1/(N C): Dr. GRPO, arXiv 2503.20783;  1/N: REINFORCE */
#define GRPO_IMPLEMENTATION
#include "../../grpo.h"
#include <stdio.h>

int main(void) {
    enum { N = 4, SHORT = 2, LONG = 8, TOKENS = 2 * (SHORT + LONG) };
    const char *divisor[] = { "seq_mean_token_mean", "token_mean", "seq_mean_constant", "seq_mean_token_sum" };
    const char *wrote[] = { "1/(N T_i)", "1/sum T", "1/(N C), C = 8", "1/N" };
    const char *who[N] = { "right, short", "right, long", "wrong, short", "wrong, long" };
    const int64_t group_begin[] = { 0, N }, length[N] = { SHORT, LONG, SHORT, LONG }, offset[N] = { 0, 2, 10, 12 };
    const float reward[N] = { 1, 1, 0, 0 };
    float logp[TOKENS], advantage[TOKENS], dlogp[TOKENS];
    for (int t = 0; t < TOKENS; t++) logp[t] = -1;
    const grpo_batch batch = { .n_groups = 1, .group_begin = group_begin, .offset = offset, .length = length, .n_tokens = TOKENS,
                               .logp = logp, .logp_old = logp, .reward = reward };
    const grpo_output out = { .dlogp = dlogp };
    printf("%-16s", "push per token");
    for (int i = 0; i < N; i++) printf("%14s", who[i]);
    printf("    a wrong long response, in all, against a wrong short one\n");
    for (int k = 0; k < 4; k++) {
        grpo_objective objective;
        grpo_report report;
        if (grpo_objective_named("dr-grpo", &objective)) return 1;
        if (grpo_objective_choose(&objective, "aggregation.kind", divisor[k])) return 1;
        if (grpo_objective_set(&objective, "aggregation.constant", 8)) return 1;
        if (grpo_advantages(&objective, &batch, advantage)) return 1;
        if (grpo_loss(&objective, &batch, advantage, NULL, &out, &report)) return 1;
        printf("%-16s", wrote[k]);
        for (int i = 0; i < N; i++) printf("%14.4f", -(double)dlogp[offset[i]]);
        printf("    %.1f times\n", LONG * (double)dlogp[offset[3]] / (SHORT * (double)dlogp[offset[2]]));
    }
    return 0;
}
