/* Lesson 1: what a group teaches, and what equal rewards do.   Licence: MIT-0
 * A_i = (R_i - mean R) / std R     DeepSeekMath, arXiv 2402.03300, section 4.1.2;
 * without the divisor: Dr. GRPO, arXiv 2503.20783 */
#define GRPO_IMPLEMENTATION
#include "../../grpo.h"
#include <stdio.h>

enum { GROUPS = 5, G = 4, N = GROUPS * G };

int main(void) {
    const char *name[GROUPS] = { "one right", "three right", "all right", "all wrong", "almost equal" };
    const char *row[] = { "grpo", "dr-grpo" };
    const float reward[N] = { 1, 0, 0, 0,   1, 1, 1, 0,   1, 1, 1, 1,   0, 0, 0, 0,   .51f, .5f, .5f, .5f };
    int64_t group_begin[GROUPS + 1], offset[N], length[N];
    float advantage[N];
    for (int g = 0; g <= GROUPS; g++) group_begin[g] = g * G;
    for (int i = 0; i < N; i++) { offset[i] = i; length[i] = 1; }               /* responses of one token */
    const grpo_batch batch = { .n_groups = GROUPS, .group_begin = group_begin, .offset = offset, .length = length, .n_tokens = N,
                               .reward = reward };
    for (int k = 0; k < 2; k++) {
        grpo_objective objective;
        if (grpo_objective_named(row[k], &objective)) return 1;
        if (grpo_advantages(&objective, &batch, advantage)) return 1;
        printf("%-14s rewards                       advantages\n", row[k]);
        for (int g = 0; g < GROUPS; g++) {
            printf("  %-12s", name[g]);
            for (int i = g * G; i < g * G + G; i++) printf(" %5.2f", (double)reward[i]);
            printf("     ");
            for (int i = g * G; i < g * G + G; i++) printf(" %7.4f", (double)advantage[i]);
            printf("\n");
        }
    }
    return 0;
}
