/* Lesson 9: prompts that are too easy or too hard teach nothing, and thin out the rest.   Licence: MIT-0
 * keep a group if 0 < number of right answers < G     DAPO, arXiv 2503.14476, equation 11 */
#define GRPO_IMPLEMENTATION
#include "../../grpo.h"
#include <stdio.h>

enum { GROUPS = 6, G = 4, N = GROUPS * G };

int main(void) {
    const float reward[N] = { 1, 1, 1, 1,   0, 0, 0, 0,   1, 0, 0, 1,   1, 1, 1, 1,   0, 1, 0, 0,   0, 0, 0, 0 };
    int64_t group_begin[GROUPS + 1], offset[N], length[N], kept_begin[GROUPS + 1], kept_offset[N];
    float logp[N], kept_reward[N], advantage[N], dlogp[N];
    uint8_t keep[GROUPS];
    int kept = 0;
    grpo_objective objective;
    grpo_report report;
    const grpo_output out = { .dlogp = dlogp };

    printf("share of groups with equal rewards, p^G + (1 - p)^G, where an answer is right with probability p\n     p   ");
    for (int n = 4; n <= 64; n *= 2) printf(" %4s%3d", "G =", n);
    for (int k = 0; k < 5; k++) {
        const double p[] = { 0.5, 0.8, 0.9, 0.95, 0.99 };
        printf("\n  %5.2f  ", p[k]);
        for (int n = 4; n <= 64; n *= 2) printf("%8.3f", pow(p[k], n) + pow(1 - p[k], n));
    }

    for (int i = 0; i < N; i++) { logp[i] = -1; offset[i] = i; length[i] = 1; }
    for (int g = 0; g <= GROUPS; g++) group_begin[g] = g * G;
    grpo_batch batch = { .n_groups = GROUPS, .group_begin = group_begin, .offset = offset, .length = length, .n_tokens = N,
                         .logp = logp, .logp_old = logp, .reward = reward };
    if (grpo_objective_named("dapo", &objective) || grpo_advantages(&objective, &batch, advantage)) return 1;
    if (grpo_loss(&objective, &batch, advantage, NULL, &out, &report) || grpo_dynamic_sampling_mask(&batch, keep)) return 1;
    printf("\n\ngroup   kept   d loss / d logp in the batch of six\n");
    for (int g = 0; g < GROUPS; g++) {
        printf("%5d   %-4s ", g, keep[g] ? "yes" : "no");
        for (int i = g * G; i < g * G + G; i++) printf(" %8.4f", (double)dlogp[i]);
        printf("\n");
        for (int i = g * G; i < g * G + G && keep[g]; i++, kept++) { kept_offset[kept] = kept; kept_reward[kept] = reward[i]; }
    }
    for (int g = 0; g <= kept / G; g++) kept_begin[g] = g * G;
    batch.n_groups = kept / G; batch.group_begin = kept_begin; batch.offset = kept_offset; batch.n_tokens = kept;
    batch.reward = kept_reward;
    if (grpo_advantages(&objective, &batch, advantage) || grpo_loss(&objective, &batch, advantage, NULL, &out, &report)) return 1;
    printf("in a batch of the kept ones:\n");
    for (int i = 0; i < kept; i++) printf("%s%8.4f%s", i % G ? " " : "              ", (double)dlogp[i], i % G == G - 1 ? "\n" : "");
    return 0;
}
