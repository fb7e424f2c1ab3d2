/* quickstart.c - GRPO and GSPO on eight recorded responses.
 *
 *     cc -std=c99 -O2 examples/quickstart.c -lm -o quickstart && ./quickstart
 *
 * rollouts.inc was written, from the top folder, by   ./train --objective grpo --steps 93 --record examples/rollouts.inc */
#define GSPO_IMPLEMENTATION
#include "../gspo.h"
#include <stdio.h>

#include "rollouts.inc"

int main(void) {
    const char *name[] = { "grpo", "gspo" };
    const grpo_batch batch = {
        .n_groups = N_GROUPS, .group_begin = group_begin,
        .offset = offset, .length = length, .n_tokens = N_TOKENS,
        .logp = logp, .logp_old = logp_old, .logp_ref = logp_ref,
        .reward = reward, .truncated = truncated
    };
    for (int k = 0; k < 2; k++) {
        grpo_objective obj;
        grpo_report report;
        char text[GRPO_MESSAGE_SIZE];
        float advantage[N_TOKENS], dlogp[N_TOKENS];
        const grpo_output out = { .dlogp = dlogp };

        grpo_status st = grpo_objective_named(name[k], &obj);
        if (!st) st = grpo_advantages(&obj, &batch, advantage);
        if (!st) st = gspo_loss(&obj, &batch, advantage, NULL, &out, &report);
        if (st) return fprintf(stderr, "%s: %s\n", name[k], grpo_status_message(st, text, sizeof text)), 1;

        printf("%s\n  reward  advantage  d loss / d logp of each token\n", name[k]);
        for (int i = 0; i < N_RESPONSES; i++) {
            if (i && i == group_begin[1]) printf("\n");
            printf("  %6.3f  %9.4f ", (double)reward[i], (double)advantage[offset[i]]);
            for (int64_t t = offset[i]; t < offset[i] + length[i]; t++) printf(" %9.6f", (double)dlogp[t]);
            printf("\n");
        }
        printf("\n  loss       %.9f = policy %.9f + penalty %.9f\n", report.loss, report.policy_loss, report.penalty_loss);
        printf("  ratio      mean %.4f, from %.4f to %.4f\n", report.ratio_mean, report.ratio_min, report.ratio_max);
        printf("  clipped    %.1f %% of the tokens: %.1f %% low, %.1f %% high\n",
               100 * report.clip_fraction, 100 * report.clip_fraction_low, 100 * report.clip_fraction_high);
        printf("  KL         %.4f to the reference (k3)\n\n", report.kl_k3);
    }
    return 0;
}
