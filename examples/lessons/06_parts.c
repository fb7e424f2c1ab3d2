/* Lesson 6: a batch in parts, wrongly and rightly.   Licence: MIT-0
 * loss = 1/(sum T) sum of all tokens' terms, both sums over the whole batch, in however many parts it is evaluated.
 * The terms are those of DAPO, arXiv 2503.14476; frameworks divide them so, its equation 8 prompt by prompt (lesson 5) */
#define GRPO_IMPLEMENTATION
#include "../../grpo.h"
#include <stdio.h>

enum { GROUPS = 2, N = 4, TOKENS = 20, PARTS = 2 };
static const int64_t group_begin[] = { 0, 2, 4 }, offset[] = { 0, 2, 4, 12 }, length[] = { 2, 2, 8, 8 };
static const float reward[] = { 1, 0, 0, 1 };
static float logp[TOKENS], logp_old[TOKENS], advantage[TOKENS], dlogp[TOKENS];

/* some of the groups; the arrays are those of all */
static grpo_batch groups(int first, int count) {
    const grpo_batch batch = { .n_groups = count, .group_begin = group_begin + first, .offset = offset, .length = length,
                               .n_tokens = TOKENS, .logp = logp, .logp_old = logp_old, .reward = reward };
    return batch;
}

static void show(const char *how, double loss, double share) {
    printf("  %-46s %12.9f   %11.6f   %11.6f\n", how, loss, share * (double)dlogp[0], share * (double)dlogp[4]);
}

int main(void) {
    const grpo_output out = { .dlogp = dlogp };
    const grpo_batch whole = groups(0, GROUPS);
    grpo_objective objective;
    grpo_report report;
    grpo_totals totals;
    grpo_partial partial, sum;
    double mean = 0;
    for (int t = 0; t < TOKENS; t++) { logp_old[t] = -1; logp[t] = -1 + 0.01f * (float)t; }
    if (grpo_objective_named("dapo", &objective) || grpo_objective_choose(&objective, "aggregation.kind", "token_mean")) return 1;
    if (grpo_advantages(&objective, &whole, advantage)) return 1;
    printf("two prompts, with 4 tokens and with 16                 loss   d loss/d logp of the first token\n");
    printf("                                                                of prompt 1   of prompt 2\n");

    if (grpo_loss(&objective, &whole, advantage, NULL, &out, &report)) return 1;
    show("at once", report.loss, 1);

    for (int k = 0; k < PARTS; k++) {              /* wrong: every part divides by its own tokens, then 1/(number of parts) */
        const grpo_batch part = groups(k, 1);
        if (grpo_loss(&objective, &part, advantage, NULL, &out, &report)) return 1;
        mean += report.loss / PARTS;
    }
    show("mean of the parts' losses: wrong", mean, 1.0 / PARTS);

    memset(&totals, 0, sizeof totals);             /* right: first count all parts, then every part divides by the total */
    memset(&sum, 0, sizeof sum);
    for (int k = 0; k < PARTS; k++) {
        const grpo_batch part = groups(k, 1);
        if (grpo_totals_add(&objective, &part, advantage, &totals)) return 1;
    }
    for (int k = 0; k < PARTS; k++) {
        const grpo_batch part = groups(k, 1);
        memset(&partial, 0, sizeof partial);
        if (grpo_loss_add(&objective, &part, advantage, &totals, &out, &partial) || grpo_partial_merge(&sum, &partial)) return 1;
    }
    grpo_partial_report(&sum, &report);
    show("sum of the parts by the whole's tokens: right", report.loss, 1);
    return 0;
}
