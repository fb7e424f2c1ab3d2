/* Random batches for tests and fuzzing: the same seed gives the same ones everywhere.
 *
 *     rng r = { 1 };
 *     rollouts b;
 *     rollouts_random(&r, RANDOM_NEG_INF, &b);
 *     grpo_batch view = rollouts_view(&b);
 *     rollouts_free(&b);
 *
 * Every array is an allocation of its own, of exactly the size needed, so that an address sanitiser detects the first access past it. */
#ifndef RANDOM_BATCH_H
#define RANDOM_BATCH_H
#include "../../grpo.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- numbers (splitmix64) ------------------------------------------------------------------------------------------------------ */

typedef struct { uint64_t state; } rng;

static inline uint64_t rng_next(rng *r) {
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline int64_t rng_below(rng *r, int64_t n) { return (int64_t)(rng_next(r) % (uint64_t)n); }
static inline int rng_chance(rng *r, int percent) { return rng_below(r, 100) < percent; }
static inline double rng_unit(rng *r) { return (double)(rng_next(r) >> 11) * 0x1p-53; }
static inline double rng_sign(rng *r) { return rng_chance(r, 50) ? 1 : -1; }
static inline double rng_pick(rng *r, const double *from, int count) { return from[rng_below(r, count)]; }

/* variance 1, within +-3 */
static inline double rng_bell(rng *r) {
    double sum = -1.5;
    int k;
    for (k = 0; k < 3; k++) sum += rng_unit(r);
    return 2 * sum;
}

static inline void rng_shuffle(rng *r, int64_t *order, int64_t n) {
    int64_t k, j, swap;
    for (k = n - 1; k > 0; k--) {
        j = rng_below(r, k + 1);
        swap = order[k]; order[k] = order[j]; order[j] = swap;
    }
}

/* a value for slots that must not be read: NaN, infinite, huge ... */
static inline grpo_real rng_garbage(rng *r) {
    static const double bad[] = { NAN, -NAN, INFINITY, -INFINITY, 3e38, -3e38, 1e-45, 0, -0.0, 12345.678 };
    return (grpo_real)rng_pick(r, bad, (int)(sizeof bad / sizeof *bad));
}

/* ---- a batch that owns its arrays ---------------------------------------------------------------------------------------------- */

enum { TOKEN_LOGP, TOKEN_OLD, TOKEN_REF, TOKEN_ROLLOUT, TOKEN_ENTROPY, TOKEN_VALUE, TOKEN_STEP_REWARD, TOKEN_TEACHER, TOKEN_SQUARES,
    TOKEN_WEIGHT,
       TOKEN_CLIP_LOW, TOKEN_CLIP_HIGH, TOKEN_DIVERGENCE_REF, TOKEN_DIVERGENCE_OLD, TOKEN_ARRAYS };

typedef struct {
    int64_t n_groups, n_sequences, n_tokens;
    int64_t *group_begin, *offset, *length;
    grpo_real *token[TOKEN_ARRAYS];
    uint8_t *step_end, *segment_end, *mask, *selected, *kl_mask, *nll_mask, *marked, *shaping_mask;
    int64_t *state, *token_id;
    grpo_real *reward;
    int64_t n_rewards;
    grpo_real *rewards, *reward_weight;
    uint8_t *truncated, *outside;
    grpo_real *baseline, *log_partition;
    int64_t *group_from;         /* after rollouts_arrange: the group of the source that each group is a copy of */
    int64_t *from;               /* after rollouts_arrange: the slot of the source that each slot is a copy of, or -1 */
} rollouts;

static inline void *test_alloc(int64_t count, size_t size) {
    void *p = malloc(count > 0 ? (size_t)count * size : 1);
    if (!p) { fputs("out of memory\n", stderr); exit(2); }
    return p;
}

/* memory whose bytes show whether they have been written */
static const unsigned char UNTOUCHED = 0x5a;

static inline void *untouched(int64_t n, size_t size) {
    void *p = test_alloc(n, size);
    memset(p, UNTOUCHED, (size_t)n * size);
    return p;
}

static inline int all_bytes(const void *p, size_t n, unsigned char value) {
    const unsigned char *x = (const unsigned char *)p;
    while (n > 0) if (x[--n] != value) return 0;
    return 1;
}

static const grpo_real UNWRITTEN = 12345;

/* an output whose elements show whether they have been written */
static inline grpo_real *unwritten(int64_t n) {
    grpo_real *x = (grpo_real *)test_alloc(n, sizeof *x);
    int64_t t;
    for (t = 0; t < n; t++) x[t] = UNWRITTEN;
    return x;
}

static inline void rollouts_alloc_groups(rollouts *b, int64_t groups, int64_t sequences, int64_t rewards) {
    memset(b, 0, sizeof *b);
    b->n_rewards = rewards;
    b->rewards = (grpo_real *)test_alloc(sequences * rewards, sizeof *b->rewards);
    b->reward_weight = (grpo_real *)test_alloc(rewards, sizeof *b->reward_weight);
    b->n_groups = groups;
    b->n_sequences = sequences;
    b->group_begin = (int64_t *)test_alloc(groups + 1, sizeof *b->group_begin);
    b->baseline = (grpo_real *)test_alloc(groups, sizeof *b->baseline);
    b->log_partition = (grpo_real *)test_alloc(groups, sizeof *b->log_partition);
    b->group_from = (int64_t *)test_alloc(groups, sizeof *b->group_from);
    b->offset = (int64_t *)test_alloc(sequences, sizeof *b->offset);
    b->length = (int64_t *)test_alloc(sequences, sizeof *b->length);
    b->reward = (grpo_real *)test_alloc(sequences, sizeof *b->reward);
    b->truncated = (uint8_t *)test_alloc(sequences, 1);
    b->outside = (uint8_t *)test_alloc(sequences, 1);
}

static inline void rollouts_alloc_tokens(rollouts *b, int64_t tokens) {
    int k;
    b->n_tokens = tokens;
    for (k = 0; k < TOKEN_ARRAYS; k++) b->token[k] = (grpo_real *)test_alloc(tokens, sizeof *b->token[k]);
    b->step_end = (uint8_t *)test_alloc(tokens, 1);
    b->segment_end = (uint8_t *)test_alloc(tokens, 1);
    b->mask = (uint8_t *)test_alloc(tokens, 1);
    b->selected = (uint8_t *)test_alloc(tokens, 1);
    b->kl_mask = (uint8_t *)test_alloc(tokens, 1);
    b->nll_mask = (uint8_t *)test_alloc(tokens, 1);
    b->marked = (uint8_t *)test_alloc(tokens, 1);
    b->shaping_mask = (uint8_t *)test_alloc(tokens, 1);
    b->state = (int64_t *)test_alloc(tokens, sizeof *b->state);
    b->token_id = (int64_t *)test_alloc(tokens, sizeof *b->token_id);
    b->from = (int64_t *)test_alloc(tokens, sizeof *b->from);
}

static inline void rollouts_free(rollouts *b) {
    int k;
    for (k = 0; k < TOKEN_ARRAYS; k++) free(b->token[k]);
    free(b->group_begin); free(b->baseline); free(b->log_partition); free(b->group_from);
    free(b->offset); free(b->length); free(b->reward); free(b->rewards); free(b->reward_weight); free(b->truncated); free(b->outside);
    free(b->step_end); free(b->segment_end); free(b->mask); free(b->selected); free(b->kl_mask); free(b->nll_mask); free(b->marked);
    free(b->shaping_mask); free(b->state); free(b->token_id); free(b->from);
    memset(b, 0, sizeof *b);
}

static inline grpo_batch rollouts_view(const rollouts *b) {
    grpo_batch v;
    memset(&v, 0, sizeof v);
    v.n_groups = b->n_groups;
    v.group_begin = b->group_begin;
    v.offset = b->offset;
    v.length = b->length;
    v.n_tokens = b->n_tokens;
    v.logp = b->token[TOKEN_LOGP];
    v.logp_old = b->token[TOKEN_OLD];
    v.logp_ref = b->token[TOKEN_REF];
    v.logp_rollout = b->token[TOKEN_ROLLOUT];
    v.entropy = b->token[TOKEN_ENTROPY];
    v.value = b->token[TOKEN_VALUE];
    v.step_reward = b->token[TOKEN_STEP_REWARD];
    v.logp_teacher = b->token[TOKEN_TEACHER];
    v.sum_pi_squared = b->token[TOKEN_SQUARES];
    v.state = b->state;
    v.token_id = b->token_id;
    v.external_weight = b->token[TOKEN_WEIGHT];
    v.eps_low = b->token[TOKEN_CLIP_LOW];
    v.eps_high = b->token[TOKEN_CLIP_HIGH];
    v.divergence_ref = b->token[TOKEN_DIVERGENCE_REF];
    v.divergence_old = b->token[TOKEN_DIVERGENCE_OLD];
    v.step_end = b->step_end;
    v.segment_end = b->segment_end;
    v.mask = b->mask;
    v.selected = b->selected;
    v.kl_mask = b->kl_mask;
    v.nll_mask = b->nll_mask;
    v.marked = b->marked;
    v.shaping_mask = b->shaping_mask;
    v.reward = b->reward;
    v.rewards = b->rewards;
    v.n_rewards = b->n_rewards;
    v.reward_weight = b->reward_weight;
    v.truncated = b->truncated;
    v.excluded = b->outside;
    v.baseline = b->baseline;
    v.log_partition = b->log_partition;
    return v;
}

/* sets random offsets for the lengths: packed or padded, in any order in memory; returns the number of slots */
static inline int64_t rollouts_place(rng *r, rollouts *b) {
    int64_t k, end = 0, width = 0, gap = rng_below(r, 4), *order = (int64_t *)test_alloc(b->n_sequences, sizeof *order);
    int padded = rng_chance(r, 50);
    for (k = 0; k < b->n_sequences; k++) {
        order[k] = k;
        if (b->length[k] > width) width = b->length[k];
    }
    if (rng_chance(r, 50)) rng_shuffle(r, order, b->n_sequences);
    for (k = 0; k < b->n_sequences; k++) {
        b->offset[order[k]] = end;
        end += (padded ? width : b->length[order[k]]) + gap;
    }
    free(order);
    return end;
}

/* fills every slot with garbage */
static inline void rollouts_garble(rng *r, rollouts *b) {
    int64_t t;
    int k;
    for (t = 0; t < b->n_tokens; t++) {
        for (k = 0; k < TOKEN_ARRAYS; k++) b->token[k][t] = rng_garbage(r);
        b->step_end[t] = (uint8_t)rng_below(r, 2);
        b->segment_end[t] = (uint8_t)rng_below(r, 2);
        b->mask[t] = (uint8_t)rng_below(r, 2);
        b->selected[t] = (uint8_t)rng_below(r, 2);
        b->kl_mask[t] = (uint8_t)rng_below(r, 2);
        b->nll_mask[t] = (uint8_t)rng_below(r, 2);
        b->marked[t] = (uint8_t)rng_below(r, 2);
        b->shaping_mask[t] = (uint8_t)rng_below(r, 2);
        b->state[t] = (int64_t)rng_next(r);
        b->token_id[t] = (int64_t)rng_next(r);
        b->from[t] = -1;
    }
}

/* ---- a random batch ------------------------------------------------------------------------------------------------------------ */

enum {
    RANDOM_EXTREME = 1,          /* log-ratios from 1e-7 to +-800 instead of around 0.3 */
    RANDOM_NEG_INF = 2,          /* some log-probabilities are -infinity */
    RANDOM_ONE_TOKEN = 4,        /* every sequence has one token, unmasked */
    RANDOM_DYADIC = 8,           /* rewards are multiples of 1/8 below 8 */
    RANDOM_ALL_MASKED = 16,
    RANDOM_SMALL = 32,           /* a few dozen tokens */
    RANDOM_LONG = 64             /* responses of up to 400 tokens */
};

static inline double random_log_ratio(rng *r, int kind) {
    static const double size[] = { 0, 1e-7, 1e-5, 1e-4, 3e-4, 1e-3, 0.1, 0.2, 0.25, 1, 3, 19.9, 20.1, 50, 88, 89, 103, 350, 700, 709, 710,
        745, 800 };
    if (kind & RANDOM_EXTREME) {
        double sign = rng_sign(r);                               /* separate: the order of draws must not depend on the compiler */
        return sign * rng_pick(r, size, (int)(sizeof size / sizeof *size));
    }
    return rng_chance(r, 10) ? 0 : 0.3 * rng_bell(r);
}

/* logp, and the other log-probabilities at random log-ratios from it, which may be above 0; with RANDOM_EXTREME none is */
static inline void random_logps(rng *r, int kind, rollouts *b, int64_t t) {
    double l[4];
    int k;
    l[0] = -4 * rng_unit(r);
    for (k = 1; k < 4; k++) l[k] = l[0] - random_log_ratio(r, kind);
    for (k = 1; k < 4; k++) {
        if (l[k] > 0 && (kind & RANDOM_EXTREME)) { l[0] -= l[k]; l[k] = 0; }
    }
    if (kind & RANDOM_NEG_INF) {
        for (k = 0; k < 4; k++) if (rng_chance(r, 5)) l[k] = -INFINITY;
    }
    for (k = 0; k < 4; k++) b->token[TOKEN_LOGP + k][t] = (grpo_real)l[k];
}

static inline double random_divergence(rng *r) {
    const double size = rng_chance(r, 20) ? 0 : rng_chance(r, 50) ? 2e-5 : 2;
    return size * rng_unit(r);
}

static inline void random_tokens(rng *r, int kind, rollouts *b, int64_t i) {
    int64_t t;
    int masked = rng_chance(r, 10), holes = rng_chance(r, 50);
    if (kind & RANDOM_ONE_TOKEN) masked = holes = 0;
    if (kind & RANDOM_ALL_MASKED) masked = 1;
    for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
        b->mask[t] = !(masked || (holes && rng_chance(r, 20)));
        if (!b->mask[t]) continue;
        random_logps(r, kind, b, t);
        b->token[TOKEN_ENTROPY][t] = (grpo_real)(2 * rng_unit(r));
        b->token[TOKEN_VALUE][t] = (grpo_real)rng_bell(r);
        b->token[TOKEN_STEP_REWARD][t] = (grpo_real)rng_bell(r);
        b->token[TOKEN_TEACHER][t] = (grpo_real)(-4 * rng_unit(r));
        if ((kind & RANDOM_NEG_INF) && rng_chance(r, 5)) b->token[TOKEN_TEACHER][t] = (grpo_real)-INFINITY;
        b->step_end[t] = (uint8_t)rng_chance(r, 30);
        b->segment_end[t] = (uint8_t)rng_chance(r, 30);
        b->selected[t] = (uint8_t)rng_chance(r, 60);
        b->kl_mask[t] = (uint8_t)rng_chance(r, 60);
        b->nll_mask[t] = (uint8_t)rng_chance(r, 60);
        b->marked[t] = (uint8_t)rng_chance(r, 60);
        b->shaping_mask[t] = (uint8_t)rng_chance(r, 60);
        b->token[TOKEN_SQUARES][t] = (grpo_real)rng_unit(r);
        b->state[t] = rng_below(r, 3) - 1;
        b->token_id[t] = rng_below(r, 3) - 1;
        b->token[TOKEN_WEIGHT][t] = (grpo_real)(rng_chance(r, 20) ? 0 : 2 * rng_unit(r));
        b->token[TOKEN_CLIP_LOW][t] = (grpo_real)(rng_chance(r, 20) ? (double)rng_below(r, 2) : 0.4 * rng_unit(r));
        b->token[TOKEN_CLIP_HIGH][t] = (grpo_real)(rng_chance(r, 20) ? 0 : 0.4 * rng_unit(r));
        b->token[TOKEN_DIVERGENCE_REF][t] = (grpo_real)random_divergence(r);
        b->token[TOKEN_DIVERGENCE_OLD][t] = (grpo_real)random_divergence(r);
    }
}

enum { REWARDS_EQUAL, REWARDS_BINARY, REWARDS_BELL, REWARDS_OFFSET, REWARDS_DYADIC, REWARD_KINDS };

static inline double random_reward(rng *r, int kind) {
    switch (kind) {
    case REWARDS_EQUAL:  return 0.7;
    case REWARDS_BINARY: return rng_chance(r, 50);
    case REWARDS_OFFSET: return 1e7 + (double)rng_below(r, 3);
    case REWARDS_DYADIC: return (double)(rng_below(r, 128) - 64) / 8;
    default:             return rng_bell(r);
    }
}

static inline void random_group(rng *r, int kind, rollouts *b, int64_t g) {
    int64_t i, k;
    int rewards = kind & RANDOM_DYADIC ? REWARDS_DYADIC : (int)rng_below(r, REWARD_KINDS);
    int others = kind & RANDOM_DYADIC ? REWARDS_DYADIC : (int)rng_below(r, REWARD_KINDS);
    b->baseline[g] = (grpo_real)rng_bell(r);
    b->log_partition[g] = (grpo_real)rng_bell(r);
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        b->reward[i] = (grpo_real)random_reward(r, rewards);
        for (k = 0; k < b->n_rewards; k++) b->rewards[i * b->n_rewards + k] = (grpo_real)random_reward(r, k ? others : rewards);
        b->truncated[i] = (uint8_t)rng_chance(r, 20);
        b->outside[i] = (uint8_t)rng_chance(r, 25);
        random_tokens(r, kind, b, i);
    }
}

static inline void rollouts_random(rng *r, int kind, rollouts *b) {
    int64_t g, i, size[8], sequences = 0, groups = 1 + rng_below(r, kind & RANDOM_SMALL ? 3 : 8);
    for (g = 0; g < groups; g++) sequences += size[g] = rng_chance(r, 20) ? 1 : 1 + rng_below(r, kind & RANDOM_SMALL ? 4 : 7);
    rollouts_alloc_groups(b, groups, sequences, 1 + rng_below(r, 3));
    for (i = 0; i < b->n_rewards; i++) b->reward_weight[i] = (grpo_real)(i ? rng_bell(r) : 1);
    for (b->group_begin[0] = 0, g = 0; g < groups; g++) b->group_begin[g + 1] = b->group_begin[g] + size[g];
    for (i = 0; i < sequences; i++) {
        b->length[i] = rng_chance(r, 10) ? 0 : 1 + rng_below(r, kind & RANDOM_LONG ? 400 : kind & RANDOM_SMALL ? 6 : 12);
        if (kind & RANDOM_ONE_TOKEN) b->length[i] = 1;
    }
    rollouts_alloc_tokens(b, rollouts_place(r, b));
    rollouts_garble(r, b);
    for (g = 0; g < groups; g++) random_group(r, kind, b, g);
}

/* set flags become other bytes than 1: any byte but 0 is a set flag.  It draws nothing */
static inline void rollouts_set_bytes(rollouts *b) {
    static const uint8_t set[] = { 1, 255, 2, 128, 1, 254, 16, 3 };
    uint8_t *const of_token[] = { b->mask, b->step_end, b->segment_end, b->selected, b->kl_mask, b->nll_mask, b->marked, b->shaping_mask };
    uint8_t *const of_sequence[] = { b->truncated, b->outside };
    int64_t t;
    int k;
    for (t = 0; t < b->n_tokens; t++) for (k = 0; k < 8; k++) if (of_token[k][t]) of_token[k][t] = set[(t + k) & 7];
    for (t = 0; t < b->n_sequences; t++) for (k = 0; k < 2; k++) if (of_sequence[k][t]) of_sequence[k][t] = set[(t + k) & 7];
}

/* ---- the same batch, rearranged ------------------------------------------------------------------------------------------------ */

enum { ARRANGE_SEQUENCES = 1, ARRANGE_TOKENS = 2 };              /* shuffled: sequences of a group, tokens of a sequence */

static inline void rollouts_copy_token(const rollouts *src, int64_t s, rollouts *dst, int64_t d) {
    int k;
    dst->from[d] = s;
    dst->mask[d] = src->mask[s];
    dst->step_end[d] = src->step_end[s];
    dst->segment_end[d] = src->segment_end[s];                   /* segments end at masked tokens too */
    if (!src->mask[s]) return;                                   /* the rest of a masked slot must not be read: it keeps its garbage */
    dst->selected[d] = src->selected[s];
    dst->kl_mask[d] = src->kl_mask[s];
    dst->nll_mask[d] = src->nll_mask[s];
    dst->marked[d] = src->marked[s];
    dst->shaping_mask[d] = src->shaping_mask[s];
    dst->state[d] = src->state[s];
    dst->token_id[d] = src->token_id[s];
    for (k = 0; k < TOKEN_ARRAYS; k++) dst->token[k][d] = src->token[k][s];
}

static inline void rollouts_copy_tokens(rng *r, int shuffle, const rollouts *src, int64_t s, rollouts *dst, int64_t d) {
    int64_t t, n = src->length[s], *order = (int64_t *)test_alloc(n, sizeof *order);
    for (t = 0; t < n; t++) order[t] = t;
    if (shuffle & ARRANGE_TOKENS) rng_shuffle(r, order, n);
    for (t = 0; t < n; t++) rollouts_copy_token(src, src->offset[s] + order[t], dst, dst->offset[d] + t);
    free(order);
}

/* dst: the listed groups of src in the listed order, in a new layout with new garbage */
static inline void rollouts_arrange(rng *r, const rollouts *src, const int64_t *groups, int64_t n_groups, int shuffle, rollouts *dst) {
    int64_t g, i, begin, size, n = 0, *order;
    for (g = 0; g < n_groups; g++) n += src->group_begin[groups[g] + 1] - src->group_begin[groups[g]];
    rollouts_alloc_groups(dst, n_groups, n, src->n_rewards);
    memcpy(dst->reward_weight, src->reward_weight, (size_t)src->n_rewards * sizeof *src->reward_weight);
    order = (int64_t *)test_alloc(n, sizeof *order);             /* the sequence of src that each sequence of dst is a copy of */
    for (dst->group_begin[0] = 0, g = 0; g < n_groups; g++) {
        begin = src->group_begin[groups[g]];
        size = src->group_begin[groups[g] + 1] - begin;
        dst->group_begin[g + 1] = dst->group_begin[g] + size;
        dst->baseline[g] = src->baseline[groups[g]];
        dst->log_partition[g] = src->log_partition[groups[g]];
        dst->group_from[g] = groups[g];
        for (i = 0; i < size; i++) order[dst->group_begin[g] + i] = begin + i;
        if (shuffle & ARRANGE_SEQUENCES) rng_shuffle(r, order + dst->group_begin[g], size);
    }
    for (i = 0; i < n; i++) {
        dst->length[i] = src->length[order[i]];
        dst->reward[i] = src->reward[order[i]];
        memcpy(dst->rewards + i * src->n_rewards, src->rewards + order[i] * src->n_rewards, (size_t)src->n_rewards * sizeof *src->rewards);
        dst->truncated[i] = src->truncated[order[i]];
        dst->outside[i] = src->outside[order[i]];
    }
    rollouts_alloc_tokens(dst, rollouts_place(r, dst));
    rollouts_garble(r, dst);
    for (i = 0; i < n; i++) rollouts_copy_tokens(r, shuffle, src, order[i], dst, i);
    free(order);
}

/* dst: the whole batch in a new layout, groups in their order or shuffled */
static inline void rollouts_rearrange(rng *r, const rollouts *src, int shuffle_groups, int shuffle, rollouts *dst) {
    int64_t g, *order = (int64_t *)test_alloc(src->n_groups, sizeof *order);
    for (g = 0; g < src->n_groups; g++) order[g] = g;
    if (shuffle_groups) rng_shuffle(r, order, src->n_groups);
    rollouts_arrange(r, src, order, src->n_groups, shuffle, dst);
    free(order);
}

/* the groups in random order, cut into parts of whole groups; shuffle: ARRANGE_SEQUENCES, ARRANGE_TOKENS */
enum { MOST_PARTS = 16 };
typedef struct { int count; rollouts batch[MOST_PARTS]; } rollouts_parts;

static inline void rollouts_cut(rng *r, const rollouts *b, int shuffle, rollouts_parts *p) {
    int64_t g, n, begin, order[MOST_PARTS];
    for (g = 0; g < b->n_groups; g++) order[g] = g;
    rng_shuffle(r, order, b->n_groups);
    for (p->count = 0, begin = 0; begin < b->n_groups; begin += n) {
        n = 1 + rng_below(r, b->n_groups - begin);
        rollouts_arrange(r, b, order + begin, n, shuffle, &p->batch[p->count++]);
    }
}

static inline void rollouts_parts_free(rollouts_parts *p) {
    int k;
    for (k = 0; k < p->count; k++) rollouts_free(&p->batch[k]);
}

/* ---- what an objective depends on --------------------------------------------------------------------------------------------------- */

static inline int is_of_a_group(grpo_surrogate_kind kind) {
    return kind == GRPO_SURROGATE_VARIANCE || kind == GRPO_SURROGATE_LOGISTIC_LSE || kind == GRPO_SURROGATE_TRAJECTORY_BALANCE
        || kind == GRPO_SURROGATE_PAIRWISE_LOGISTIC || (kind >= GRPO_SURROGATE_SOFTMAX_CROSS_ENTROPY && kind <= GRPO_SURROGATE_SOFTMAX_JS)
        || kind == GRPO_SURROGATE_STANDARDISED || kind == GRPO_SURROGATE_TILTED_CROSS_ENTROPY || kind == GRPO_SURROGATE_PAIRWISE_HINGE
        || kind == GRPO_SURROGATE_REGRESSION || kind == GRPO_SURROGATE_CONTRASTIVE;
}

/* does the loss depend on the order of the tokens of a response? */
static inline int reads_positions(const grpo_objective *o) {
    const grpo_level_kind unit = o->ratio.level;
    const grpo_weight *w = &o->weight;
    return (unit >= GRPO_LEVEL_SEGMENT_MEAN && unit <= GRPO_LEVEL_PREFIX_MEAN) || w->rollout_is_level >= GRPO_ROLLOUT_IS_LEVEL_SEGMENT_SUM
        || w->rollout_rs_level >= GRPO_ROLLOUT_RS_LEVEL_SEGMENT_SUM || w->fipo != GRPO_FIPO_NONE
            || o->aggregation.kind == GRPO_AGGREGATION_SEQ_MEAN_SEGMENT_MEAN
        || o->surrogate.bounds == GRPO_BOUNDS_POSITION || o->penalty.nll_gate == GRPO_NLL_GATE_SEGMENT;
}

/* does the loss depend on the advantage of a response's first active token? */
static inline int reads_first_token(const grpo_objective *o) {
    return is_of_a_group(o->surrogate.kind) || o->aggregation.kind == GRPO_AGGREGATION_SEQ_MEAN_BY_SIGN;
}

/* apart from the credit, have all tokens of a response the same advantage? */
static inline int tokens_alike(const grpo_advantage *a) {
    return a->entropy == GRPO_ENTROPY_NONE && a->teacher_coef == 0 && a->teacher_share == 0 && a->kl_centred_coef == 0
        && a->marked == GRPO_MARKED_NONE;
}

/* the flags of what may be shuffled without changing any term: not sequences with baseline kalman, which depends on their order; not tokens
 * where credit, token baseline or loss depend on positions, or the loss on the first token's advantage */
static inline int order_free(const grpo_objective *obj) {
    const grpo_advantage *a = &obj->advantage;
    const int tokens = a->credit == GRPO_CREDIT_OUTCOME && a->token_baseline == GRPO_TOKEN_BASELINE_NONE && a->teacher_gamma == 0
                       && (tokens_alike(a) || !reads_first_token(obj)) && !reads_positions(obj);
    return (a->baseline == GRPO_BASELINE_KALMAN ? 0 : ARRANGE_SEQUENCES) | (tokens ? ARRANGE_TOKENS : 0);
}
#endif
