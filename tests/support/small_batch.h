/* A batch with every array: two prompts of two responses, eight tokens; one token is masked and one response is empty. */
#ifndef SMALL_BATCH_H
#define SMALL_BATCH_H
#include "random_batch.h"

enum { TOKENS = 8, SEQUENCES = 4, GROUPS = 2, REWARDS = 2, FIRST_UNMASKED = 0, MASKED = 2, LAST_UNMASKED = 7 };

static inline void fill_batch(rollouts *b) {
    static const int64_t group_begin[] = { 0, 2, 4 }, length[] = { 3, 2, 0, 3 }, offset[] = { 0, 3, 5, 5 };
    int64_t t;
    int k;
    rollouts_alloc_groups(b, GROUPS, SEQUENCES, REWARDS);
    rollouts_alloc_tokens(b, TOKENS);
    memcpy(b->group_begin, group_begin, sizeof group_begin);
    memcpy(b->length, length, sizeof length);
    memcpy(b->offset, offset, sizeof offset);
    for (t = 0; t < SEQUENCES; t++) { b->reward[t] = (grpo_real)t; b->truncated[t] = b->outside[t] = 0; }
    for (t = 0; t < SEQUENCES * REWARDS; t++) b->rewards[t] = (grpo_real)(t % 3);
    for (t = 0; t < REWARDS; t++) b->reward_weight[t] = 1;
    for (t = 0; t < GROUPS; t++) b->baseline[t] = b->log_partition[t] = (grpo_real)0.5;
    for (t = 0; t < TOKENS; t++) {
        for (k = 0; k < TOKEN_ARRAYS; k++) b->token[k][t] = (grpo_real)(-0.125 * (double)(t + k));
        b->token[TOKEN_WEIGHT][t] = b->token[TOKEN_CLIP_HIGH][t] = (grpo_real)(0.25 * (double)t);
        b->token[TOKEN_DIVERGENCE_REF][t] = b->token[TOKEN_DIVERGENCE_OLD][t] = (grpo_real)(0.25 * (double)t);
        b->token[TOKEN_CLIP_LOW][t] = (grpo_real)(0.125 * (double)t);
        b->mask[t] = t != MASKED;
        b->selected[t] = 1;
        b->step_end[t] = 1;
        b->state[t] = t % 2;
    }
}
#endif
