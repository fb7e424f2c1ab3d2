/* Random batches and objectives for tests and fuzzing: the same seed gives the same ones everywhere.
 *
 *     rng r = { 1 };
 *     rollouts b;
 *     rollouts_random(&r, RANDOM_NEG_INF, &b);
 *     grpo_batch view = rollouts_view(&b);
 *     rollouts_free(&b);
 *
 * Every array is its own allocation of exactly the size needed, so that an address sanitiser sees the first step past it. */
#ifndef RANDOM_BATCH_H
#define RANDOM_BATCH_H
#include "../grpo.h"
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

/* what a slot that nothing may read can hold */
static inline grpo_real rng_garbage(rng *r) {
    static const double bad[] = { NAN, -NAN, INFINITY, -INFINITY, 3e38, -3e38, 1e-45, 0, -0.0, 12345.678 };
    return (grpo_real)rng_pick(r, bad, (int)(sizeof bad / sizeof *bad));
}

/* ---- a batch that owns its arrays ---------------------------------------------------------------------------------------------- */

enum { TOKEN_LOGP, TOKEN_OLD, TOKEN_REF, TOKEN_ROLLOUT, TOKEN_ENTROPY, TOKEN_VALUE, TOKEN_STEP_REWARD, TOKEN_TEACHER, TOKEN_SQUARES, TOKEN_WEIGHT,
       TOKEN_CLIP_LOW, TOKEN_CLIP_HIGH, TOKEN_ARRAYS };

typedef struct {
    int64_t n_groups, n_sequences, n_tokens;
    int64_t *group_begin, *offset, *length;
    grpo_real *token[TOKEN_ARRAYS];
    uint8_t *step_end, *mask, *selected;
    int64_t *state;
    grpo_real *reward;
    int64_t n_rewards;
    grpo_real *rewards, *reward_weight;
    uint8_t *truncated, *outside;
    grpo_real *baseline, *log_z;
    int64_t *group_from;         /* after rollouts_arrange: the group of the source that each group copies */
    int64_t *from;               /* after rollouts_arrange: the slot of the source that each slot copies, or -1 */
} rollouts;

static inline void *test_alloc(int64_t count, size_t size) {
    void *p = malloc(count > 0 ? (size_t)count * size : 1);
    if (!p) { fputs("out of memory\n", stderr); exit(2); }
    return p;
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
    b->log_z = (grpo_real *)test_alloc(groups, sizeof *b->log_z);
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
    b->mask = (uint8_t *)test_alloc(tokens, 1);
    b->selected = (uint8_t *)test_alloc(tokens, 1);
    b->state = (int64_t *)test_alloc(tokens, sizeof *b->state);
    b->from = (int64_t *)test_alloc(tokens, sizeof *b->from);
}

static inline void rollouts_free(rollouts *b) {
    int k;
    for (k = 0; k < TOKEN_ARRAYS; k++) free(b->token[k]);
    free(b->group_begin); free(b->baseline); free(b->log_z); free(b->group_from);
    free(b->offset); free(b->length); free(b->reward); free(b->rewards); free(b->reward_weight); free(b->truncated); free(b->outside);
    free(b->step_end); free(b->mask); free(b->selected); free(b->state); free(b->from);
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
    v.probability_squares = b->token[TOKEN_SQUARES];
    v.state = b->state;
    v.weight = b->token[TOKEN_WEIGHT];
    v.clip_low = b->token[TOKEN_CLIP_LOW];
    v.clip_high = b->token[TOKEN_CLIP_HIGH];
    v.step_end = b->step_end;
    v.mask = b->mask;
    v.selected = b->selected;
    v.reward = b->reward;
    v.rewards = b->rewards;
    v.n_rewards = b->n_rewards;
    v.reward_weight = b->reward_weight;
    v.truncated = b->truncated;
    v.outside = b->outside;
    v.baseline = b->baseline;
    v.log_z = b->log_z;
    return v;
}

/* offsets for the lengths, packed or padded, in any order in memory; the number of slots */
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

/* garbage in every slot, to be overwritten where something is */
static inline void rollouts_garble(rng *r, rollouts *b) {
    int64_t t;
    int k;
    for (t = 0; t < b->n_tokens; t++) {
        for (k = 0; k < TOKEN_ARRAYS; k++) b->token[k][t] = rng_garbage(r);
        b->step_end[t] = (uint8_t)rng_below(r, 2);
        b->mask[t] = (uint8_t)rng_below(r, 2);
        b->selected[t] = (uint8_t)rng_below(r, 2);
        b->state[t] = (int64_t)rng_next(r);
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
    static const double size[] = { 0, 1e-7, 1e-5, 1e-4, 3e-4, 1e-3, 0.1, 0.2, 0.25, 1, 3, 19.9, 20.1, 50, 88, 89, 103, 350, 700, 709, 710, 745, 800 };
    if (kind & RANDOM_EXTREME) {
        double sign = rng_sign(r);                               /* first: the order of draws must not be the compiler's choice */
        return sign * rng_pick(r, size, (int)(sizeof size / sizeof *size));
    }
    return rng_chance(r, 10) ? 0 : 0.3 * rng_bell(r);
}

/* logp in the middle, the others at a log-ratio from it, none above 0 */
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
        b->selected[t] = (uint8_t)rng_chance(r, 60);
        b->token[TOKEN_SQUARES][t] = (grpo_real)rng_unit(r);
        b->state[t] = rng_below(r, 3) - 1;
        b->token[TOKEN_WEIGHT][t] = (grpo_real)(rng_chance(r, 20) ? 0 : 2 * rng_unit(r));
        b->token[TOKEN_CLIP_LOW][t] = (grpo_real)(rng_chance(r, 20) ? (double)rng_below(r, 2) : 0.4 * rng_unit(r));
        b->token[TOKEN_CLIP_HIGH][t] = (grpo_real)(rng_chance(r, 20) ? 0 : 0.4 * rng_unit(r));
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
    b->log_z[g] = (grpo_real)rng_bell(r);
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

/* ---- the same batch otherwise arranged ----------------------------------------------------------------------------------------- */

enum { ARRANGE_SEQUENCES = 1, ARRANGE_TOKENS = 2 };              /* what is shuffled, besides the groups as listed */

static inline void rollouts_copy_token(const rollouts *src, int64_t s, rollouts *dst, int64_t d) {
    int k;
    dst->from[d] = s;
    dst->mask[d] = src->mask[s];
    dst->step_end[d] = src->step_end[s];                         /* segments end at masked tokens too */
    if (!src->mask[s]) return;                                   /* what else it holds is nobody's business: keep the garbage */
    dst->selected[d] = src->selected[s];
    dst->state[d] = src->state[s];
    for (k = 0; k < TOKEN_ARRAYS; k++) dst->token[k][d] = src->token[k][s];
}

static inline void rollouts_copy_tokens(rng *r, int shuffle, const rollouts *src, int64_t s, rollouts *dst, int64_t d) {
    int64_t t, n = src->length[s], *order = (int64_t *)test_alloc(n, sizeof *order);
    for (t = 0; t < n; t++) order[t] = t;
    if (shuffle & ARRANGE_TOKENS) rng_shuffle(r, order, n);
    for (t = 0; t < n; t++) rollouts_copy_token(src, src->offset[s] + order[t], dst, dst->offset[d] + t);
    free(order);
}

/* the groups listed, in that order, in a new layout with new garbage; a part of the batch where not all are listed */
static inline void rollouts_arrange(rng *r, const rollouts *src, const int64_t *groups, int64_t n_groups, int shuffle, rollouts *dst) {
    int64_t g, i, begin, size, n = 0, *order;
    for (g = 0; g < n_groups; g++) n += src->group_begin[groups[g] + 1] - src->group_begin[groups[g]];
    rollouts_alloc_groups(dst, n_groups, n, src->n_rewards);
    memcpy(dst->reward_weight, src->reward_weight, (size_t)src->n_rewards * sizeof *src->reward_weight);
    order = (int64_t *)test_alloc(n, sizeof *order);             /* the sequence of src that each one of dst is */
    for (dst->group_begin[0] = 0, g = 0; g < n_groups; g++) {
        begin = src->group_begin[groups[g]];
        size = src->group_begin[groups[g] + 1] - begin;
        dst->group_begin[g + 1] = dst->group_begin[g] + size;
        dst->baseline[g] = src->baseline[groups[g]];
        dst->log_z[g] = src->log_z[groups[g]];
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

/* the whole batch, groups in their order or shuffled */
static inline void rollouts_rearrange(rng *r, const rollouts *src, int shuffle_groups, int shuffle, rollouts *dst) {
    int64_t g, *order = (int64_t *)test_alloc(src->n_groups, sizeof *order);
    for (g = 0; g < src->n_groups; g++) order[g] = g;
    if (shuffle_groups) rng_shuffle(r, order, src->n_groups);
    rollouts_arrange(r, src, order, src->n_groups, shuffle, dst);
    free(order);
}

/* does the loss look at the order of the tokens of a response? */
static inline int reads_positions(const grpo_objective *o) {
    const grpo_unit_kind unit = o->ratio.unit;
    const grpo_weight *w = &o->weight;
    return (unit >= GRPO_UNIT_SEGMENT_MEAN && unit <= GRPO_UNIT_PREFIX_MEAN) || w->correction_unit >= GRPO_CORRECTION_SEGMENT_SUM
        || w->reject_unit >= GRPO_REJECT_SEGMENT_SUM || w->future != GRPO_FUTURE_NONE || o->aggregation.kind == GRPO_SEQ_MEAN_SEGMENT_MEAN
        || o->surrogate.bounds == GRPO_BOUNDS_POSITION || o->penalty.likelihood_gate == GRPO_LIKELIHOOD_GATE_SEGMENT;
}

/* ---- a random objective -------------------------------------------------------------------------------------------------------- */

static inline int field_choices(const grpo_field *f) {
    const char *c = f->choices;
    int n = 1;
    for (; *c; c++) n += *c == '|';
    return n;
}

/* any of these goes with any other, so that every random objective is a valid one */
static inline double random_number(rng *r, const char *path) {
    static const struct { const char *path; int count; double value[6]; } menu[] = {
        { "reward.truncated_factor", 3, { 0, 0.5, 0.3 } },
        { "reward.length_coef", 3, { 0, 0.1, 1 } },
        { "reward.length_max", 3, { 4.5, 8, 1024 } },
        { "reward.correct_low", 2, { 0, 0.5 } },
        { "reward.correct_high", 2, { 1, 0.7 } },
        { "reward.wrong_low", 2, { -1, 0 } },
        { "reward.wrong_high", 2, { -0.5, 0.1 } },
        { "reward.map_bias", 3, { 0, -0.5, 0.1 } },
        { "reward.map_factor", 4, { 1, 10, -0.3, 0 } },
        { "reward.map_low", 4, { 0, 0, -0.5, -20 } },
        { "reward.map_high", 4, { 0, 0, 0.5, 20 } },
        { "reward.overlong_max", 2, { 8, 12 } },
        { "reward.overlong_cache", 3, { 2, 3, 8 } },
        { "reward.overlong_factor", 3, { 0, 0.5, 1 } },
        { "reward.kl_coef", 3, { 0, 0.05, 1 } },
        { "advantage.pass_k", 3, { 1, 1, 2 } },
        { "advantage.history", 3, { 1, 2, 5 } },
        { "advantage.history_power", 4, { 0, 1, 0.5, -2 } },
        { "advantage.gain_temperature", 4, { 1, 0.3, -2, 50 } },
        { "advantage.gain_power", 4, { 0, 1, 0.5, 3 } },
        { "advantage.step_coef", 4, { 0, 1, 0.5, -3 } },
        { "advantage.share_coef", 3, { 0, 0.1, -1 } },
        { "advantage.share_eps", 2, { 1e-8, 0.5 } },
        { "advantage.kl_centred_coef", 4, { 0, 0, 0.1, -1 } },
        { "advantage.marked_value", 4, { 0, 0.2, -5, 1 } },
        { "advantage.shift", 4, { 0, 0, -0.1, 3 } },
        { "advantage.quantile", 5, { 0, 0.4, 0.5, 0.75, 1 } },
        { "advantage.temperature", 3, { 1e-3, 1, 100 } },
        { "advantage.window", 4, { 0.01, 0.5, 0.75, 1 } },
        { "advantage.process_noise", 3, { 0, 1e-5, 1 } },
        { "advantage.observation_noise", 3, { 1e-12, 0.01, 1 } },
        { "advantage.gain_low", 3, { 0, 0.4, -1 } },
        { "advantage.gain_high", 2, { 1, 1.5 } },
        { "advantage.gain_slope", 3, { 10, -3, 2000 } },
        { "advantage.gain_centre", 2, { 0.5, 0.75 } },
        { "advantage.length_power", 4, { 0, 0.75, 1, -16 } },
        { "advantage.second_eps", 3, { 0, 1e-4, 1 } },
        { "advantage.lambda_length", 4, { 0, 0, 0.3, 1 } },
        { "advantage.entropy_coef", 3, { 0, 0.1, 0.4 } },
        { "advantage.entropy_cap", 3, { 0.5, 1, 2 } },
        { "advantage.teacher_coef", 4, { 0, 0, 1, -0.3 } },
        { "advantage.teacher_share", 4, { 0, 0, 0.5, 1 } },
        { "advantage.teacher_clip", 3, { 0.2, 0, 0.9 } },
        { "advantage.teacher_gamma", 4, { 0, 0, 0.5, 1 } },
        { "advantage.truncated_tail", 4, { 0, 0, 1, 3 } },
        { "advantage.outside_coef", 4, { 1.2, 0, 1, -1 } },
        { "advantage.advantage_low", 4, { 0, 0, 0, -0.5 } },
        { "advantage.advantage_high", 4, { 0, 0, 0, 2 } },
        { "advantage.gamma", 4, { 1, 0.99, 0.5, 0 } },
        { "advantage.lambda", 4, { 1, 0.95, 0.5, 0 } },
        { "advantage.eps", 4, { 0, 1e-8, 1e-4, 1 } },
        { "ratio.pool_low", 3, { 0, 3e-4, 0.4 } },
        { "ratio.pool_high", 3, { 0, 4e-4, 0.4 } },
        { "ratio.power", 5, { 0, 0.5, 3, 16, 1e-3 } },
        { "ratio.clamp_low", 4, { 0, 0, -0.5, -20 } },
        { "ratio.clamp_high", 4, { 0, 0, 0.5, 20 } },
        { "ratio.unit_clamp_low", 4, { 0, 0, -0.1, -10 } },
        { "ratio.unit_clamp_high", 4, { 0, 0, 0.1, 10 } },
        { "ratio.mix_token", 4, { 0.5, 1, 0, -0.25 } },
        { "ratio.mix_unit", 4, { 0.5, 0.7, 0, 1 } },
        { "surrogate.eps_low", 6, { 0, 3e-4, 0.2, 0.8, 1, 1.5 } },
        { "surrogate.eps_high", 5, { 0, 4e-4, 0.2, 0.28, 1.5 } },
        { "surrogate.bound_cap", 3, { 0, 1.5, 10 } },
        { "surrogate.log_low", 4, { 0, 0.025, 0.3, INFINITY } },
        { "surrogate.log_high", 3, { 0, 0.05, 0.3 } },
        { "surrogate.log_dual", 3, { 0.3, 1, INFINITY } },
        { "surrogate.position_power", 6, { 0, 0.5, -0.5, 1, 0.3, -16 } },
        { "surrogate.weight_min_neg", 3, { 0, 0.5, 0.9 } },
        { "surrogate.weight_max_neg", 4, { 1, 1.2, 101, 1e300 } },
        { "surrogate.shift", 4, { 0, 0.5, -1, 3 } },
        { "surrogate.length_rate", 4, { 0, 0, 0.3, -0.1 } },
        { "surrogate.shape", 4, { 1, 0.2, 1e-4, 1e3 } },
        { "surrogate.dual", 2, { 3, 10 } },
        { "surrogate.dual_pos", 3, { 0, 1.5, 3 } },
        { "surrogate.beta_low", 3, { 0, 0.75, 1 } },
        { "surrogate.beta_high", 3, { 0, 1, 2 } },
        { "surrogate.weight_min", 3, { 0, 0.5, 0.9 } },
        { "surrogate.weight_max", 4, { 1, 1.2, 5, 1e300 } },
        { "surrogate.tau_pos", 3, { 0.5, 1, 2 } },
        { "surrogate.tau_neg", 3, { 0.5, 1.05, 2 } },
        { "surrogate.k_pos", 4, { 0, 1, 2, -1 } },
        { "surrogate.lambda_pos", 3, { 0, 1, 3 } },
        { "surrogate.k_neg", 4, { 0, 1, 3, -1 } },
        { "surrogate.lambda_neg", 3, { 0, 1, 2 } },
        { "surrogate.strength", 5, { 0, 0.1, 1, 3, -1 } },
        { "surrogate.margin", 3, { 0, 0.1, 1 } },
        { "surrogate.shift", 4, { 0, 0.5, 20, -1 } },
        { "surrogate.score_eps", 3, { 0, 1e-6, 0.5 } },
        { "penalty.likelihood_coef", 4, { 0, 0.1, 1, -0.3 } },
        { "penalty.likelihood_gain", 4, { 5, 0, 1, -0.7 } },
        { "penalty.pair_margin", 3, { 0, 0.1, 1 } },
        { "penalty.pair_beta", 4, { 0, 0.2, 1, -2 } },
        { "penalty.pair_coef", 3, { 0, 0.01, 1 } },
        { "penalty.pair_gain", 4, { 0, 0, 2.5, 0.3 } },
        { "penalty.kl_coef", 4, { 0, 0.001, 0.04, 1 } },
        { "penalty.kl_ratio_max", 4, { 0, 0, 0.9, 1.5 } },
        { "penalty.entropy_coef", 4, { 0, 0, 0.01, -1 } },
        { "penalty.kl_clamp_log", 4, { 0, 0, 0.5, 20 } },
        { "penalty.kl_clamp_value", 4, { 0, 0, 0.1, 10 } },
        { "weight.trust_low", 5, { 0, 0.1, 0.3, 0.5, 1.5 } },
        { "weight.trust_high", 5, { 0, 0.01, 0.1, 0.3, 0.5 } },
        { "weight.ring_low", 4, { 0, 0.1, 0.6, 1.5 } },
        { "weight.ring_high", 3, { 0, 0.3, 2 } },
        { "weight.future_half_life", 3, { 0.5, 2, 32 } },
        { "weight.future_max", 4, { 0, 0, 1.1, 10 } },
        { "weight.future_low", 4, { 0, 0.5, 0.8, 1 } },
        { "weight.future_high", 3, { 1, 1.2, 5 } },
        { "weight.future_safe", 3, { 0, 1.05, 4 } },
        { "weight.future_safe_low", 2, { 0, 0.8 } },
        { "weight.future_safe_high", 2, { 0.9, 1 } },
        { "weight.off_policy_max", 3, { -0.1, 0, 0.1 } },
        { "weight.correction_low", 3, { 0, 0.5, 0.9 } },
        { "weight.correction_high", 4, { 1, 1.1, 2, 5 } },
        { "weight.correction_clamp", 4, { 0, 0, 0.5, 20 } },
        { "weight.drift_low", 3, { 0, 0.8, 1 } },
        { "weight.drift_high", 4, { 1, 1.2, 5, INFINITY } },
        { "weight.reject_low", 4, { 0, 0.001, 0.5, 0.8 } },
        { "weight.reject_high", 4, { 0.8, 1, 1.5, 5 } },
        { "weight.veto", 4, { 0, 0, 0.3, 0.6 } },
        { "aggregation.constant", 3, { 1, 100, 1024 } },
        { "aggregation.power", 4, { 0, 0.5, 1, -0.7 } },
    };
    size_t k;
    for (k = 0; k < sizeof menu / sizeof *menu; k++) {
        if (!strcmp(path, menu[k].path)) return rng_pick(r, menu[k].value, menu[k].count);
    }
    return 0;
}

/* what drops tokens is mostly absent: all of it together would leave none */
static inline double random_choice(rng *r, const grpo_field *f) {
    static const char *const drops[] = { "weight.trust", "weight.off_policy", "weight.selected", "weight.reject" };
    size_t k;
    for (k = 0; k < sizeof drops / sizeof *drops; k++) if (!strcmp(f->path, drops[k]) && rng_chance(r, 60)) return 0;
    return (double)rng_below(r, field_choices(f));
}

static inline int is_of_a_group(grpo_surrogate_kind kind) {
    return kind == GRPO_SURROGATE_VARIANCE || kind == GRPO_SURROGATE_LABELS || kind == GRPO_SURROGATE_BALANCE
        || kind == GRPO_SURROGATE_PAIRS || (kind >= GRPO_SURROGATE_CONTRAST && kind <= GRPO_SURROGATE_MATCH_JS)
        || kind == GRPO_SURROGATE_STANDARDISED || kind == GRPO_SURROGATE_TARGET || kind == GRPO_SURROGATE_HINGE
        || kind == GRPO_SURROGATE_REGRESSION;
}

static inline int is_of_a_response(grpo_unit_kind unit) {
    return (unit >= GRPO_UNIT_SEQUENCE_MEAN && unit <= GRPO_UNIT_SEQUENCE_CLIPPED_MEAN) || unit >= GRPO_UNIT_SEQUENCE_MEAN_RATIO;
}

/* does the loss look at the advantage of a response's first token? */
static inline int reads_first_token(const grpo_objective *o) {
    return is_of_a_group(o->surrogate.kind) || o->aggregation.kind == GRPO_SEQ_MEAN_BY_SIGN;
}

/* choices that exclude each other */
static inline void random_objective_settle(rng *r, grpo_objective *obj) {
    grpo_surrogate *s = &obj->surrogate;
    if (is_of_a_group(s->kind) && !is_of_a_response(obj->ratio.unit)) obj->ratio.unit = (grpo_unit_kind)(GRPO_UNIT_SEQUENCE_MEAN + rng_below(r, 3));
    if (s->kind == GRPO_SURROGATE_TARGET) {
        obj->ratio.against = GRPO_AGAINST_NOTHING;
        if (obj->ratio.unit != GRPO_UNIT_SEQUENCE_MEAN) obj->ratio.unit = GRPO_UNIT_SEQUENCE_SUM;
    }
    if (s->kind == GRPO_SURROGATE_QUADRATIC && s->eps_high == 0) s->eps_high = 0.1;
    if (obj->ratio.unit == GRPO_UNIT_TOKEN || is_of_a_group(s->kind)) obj->ratio.mix = GRPO_MIX_NONE;
    if (s->bounds != GRPO_BOUNDS_POSITION && obj->ratio.unit != GRPO_UNIT_TOKEN) s->bounds = GRPO_BOUNDS_FIXED;
    if (s->bounds >= GRPO_BOUNDS_POSITION && s->kind != GRPO_SURROGATE_PPO_CLIP && s->kind != GRPO_SURROGATE_DUAL_CLIP
        && (s->bounds == GRPO_BOUNDS_POSITION || s->kind != GRPO_SURROGATE_GPPO)) s->bounds = GRPO_BOUNDS_FIXED;
    if (obj->penalty.likelihood_form != GRPO_LIKELIHOOD_FORM_LOST) obj->penalty.likelihood_gate = GRPO_LIKELIHOOD_GATE_NONE;
    if ((s->kind == GRPO_SURROGATE_GPPO || s->kind == GRPO_SURROGATE_ASPO) && rng_chance(r, 50)) s->dual = 0;
}

/* are the tokens of a response alike in all but their credit? */
static inline int tokens_alike(const grpo_advantage *a) {
    return a->entropy == GRPO_ENTROPY_NONE && a->teacher_coef == 0 && a->teacher_share == 0 && a->kl_centred_coef == 0
        && a->marked == GRPO_MARKED_NONE;
}

/* what may be shuffled without changing what a token is: a filter knows an order, so do credit and baseline of tokens, and so does a
 * surrogate of a group, or an aggregation, that sees the advantage of the first token */
static inline int order_free(const grpo_objective *obj) {
    const grpo_advantage *a = &obj->advantage;
    const int tokens = a->credit == GRPO_CREDIT_OUTCOME && a->token_baseline == GRPO_TOKEN_BASELINE_NONE && a->teacher_gamma == 0
                       && (tokens_alike(a) || !reads_first_token(obj)) && !reads_positions(obj);
    return (a->baseline == GRPO_BASELINE_KALMAN ? 0 : ARRANGE_SEQUENCES) | (tokens ? ARRANGE_TOKENS : 0);
}

/* credit of steps, and of shares of the entropy, knows few other choices */
static inline void random_steps_settle(rng *r, grpo_advantage *a) {
    static const grpo_scale_kind of_group[] = { GRPO_SCALE_NONE, GRPO_SCALE_GROUP_STD, GRPO_SCALE_CONSTANT };
    const int pools = a->step_group != GRPO_STEP_GROUP_PROMPT, shares = a->credit == GRPO_CREDIT_ENTROPY_SHARE;
    if (a->credit != GRPO_CREDIT_STEP && a->credit != GRPO_CREDIT_STEP_OWN && a->credit != GRPO_CREDIT_EPISODE_STEP
        && a->credit != GRPO_CREDIT_STEP_GAE) {
        a->step_group = GRPO_STEP_GROUP_PROMPT;
        if (!shares) return;
    }
    a->rewards = GRPO_REWARDS_ONE;
    if (a->entropy == GRPO_ENTROPY_ZERO_VARIANCE) a->entropy = GRPO_ENTROPY_BONUS;
    if (!pools && !shares && a->credit != GRPO_CREDIT_EPISODE_STEP) return;
    a->transform = GRPO_TRANSFORM_NONE;
    a->gain = GRPO_GAIN_NONE;
    a->second = pools || rng_chance(r, 50) ? GRPO_SECOND_NONE : GRPO_SECOND_TOKENS;
    a->baseline = shares ? GRPO_BASELINE_NONE : (grpo_baseline_kind)rng_below(r, 3);
    a->scale = shares ? GRPO_SCALE_NONE : of_group[rng_below(r, 3)];
    if (shares) a->shift = 0;
}

/* what knows no more than means and deviations of the prompt */
static inline void random_plain_settle(rng *r, grpo_advantage *a) {
    static const grpo_scale_kind of_group[] = { GRPO_SCALE_NONE, GRPO_SCALE_GROUP_STD, GRPO_SCALE_CONSTANT };
    if (a->credit == GRPO_CREDIT_PREFIX_TREE || rng_chance(r, 60)) a->outside = GRPO_OUTSIDE_NONE;
    if (a->outside == GRPO_OUTSIDE_NONE && a->credit != GRPO_CREDIT_PREFIX_TREE) return;
    if (a->outside != GRPO_OUTSIDE_NONE) a->credit = GRPO_CREDIT_OUTCOME;
    a->rewards = GRPO_REWARDS_ONE;
    a->transform = GRPO_TRANSFORM_NONE;
    a->gain = GRPO_GAIN_NONE;
    a->second = GRPO_SECOND_NONE;
    a->baseline = (grpo_baseline_kind)rng_below(r, 3);
    a->scale = of_group[rng_below(r, 3)];
}

/* one of two choices that do not go together gives way */
static inline void random_advantage_settle(rng *r, grpo_objective *obj) {
    grpo_advantage *a = &obj->advantage;
    static const grpo_scale_kind for_columns[] = { GRPO_SCALE_NONE, GRPO_SCALE_GROUP_STD, GRPO_SCALE_GROUP_MEAN, GRPO_SCALE_CONSTANT,
                                                   GRPO_SCALE_LEAVE_ONE_OUT_STD };
    random_plain_settle(r, a);
    random_steps_settle(r, a);
    if (a->rewards == GRPO_REWARDS_EACH) {
        obj->reward.length = GRPO_LENGTH_NONE; obj->reward.overlong = GRPO_OVERLONG_NONE;
        obj->reward.map = GRPO_MAP_NONE; obj->reward.kl = GRPO_KL_NONE;
        a->credit = GRPO_CREDIT_OUTCOME; a->transform = GRPO_TRANSFORM_NONE; a->gain = GRPO_GAIN_NONE;
        a->scale = for_columns[rng_below(r, 5)];
    }
    if (a->entropy == GRPO_ENTROPY_ZERO_VARIANCE) a->credit = GRPO_CREDIT_OUTCOME;
    if (a->gain == GRPO_GAIN_LENGTH_POWER && a->credit >= GRPO_CREDIT_STEP) a->credit = GRPO_CREDIT_RETURN;
    if (a->scale == GRPO_SCALE_BETA) a->transform = GRPO_TRANSFORM_NONE;
    if (a->scale == GRPO_SCALE_KALMAN_STD) a->baseline = GRPO_BASELINE_KALMAN;
    if (a->scale >= GRPO_SCALE_BATCH_STD && a->scale <= GRPO_SCALE_TOKEN_WHITEN) a->second = GRPO_SECOND_NONE;
    if (a->scale == GRPO_SCALE_BETA) a->second = GRPO_SECOND_NONE;
    if (a->second != GRPO_SECOND_NONE) a->gain = GRPO_GAIN_NONE;
    if (a->baseline == GRPO_BASELINE_BATCH_MEAN && (a->second != GRPO_SECOND_NONE || a->scale == GRPO_SCALE_TOKEN_WHITEN))
        a->baseline = GRPO_BASELINE_DENSEST;
    if (a->scale == GRPO_SCALE_CONSTANT && a->eps == 0) a->eps = 0.5;
    if (a->credit != GRPO_CREDIT_STEP) a->step_discount = GRPO_STEP_DISCOUNT_TOKENS;
    if (a->credit != GRPO_CREDIT_RETURN && a->credit != GRPO_CREDIT_GAE && a->credit != GRPO_CREDIT_STEP_GAE) a->truncated_tail = 0;
    if (a->credit == GRPO_CREDIT_STEP_GAE) a->bootstrap = GRPO_BOOTSTRAP_ZERO;
}

static inline void random_objective(rng *r, grpo_objective *obj) {
    int k, count;
    const grpo_field *field = grpo_fields(&count);
    memset(obj, 0, sizeof *obj);
    for (k = 0; k < count; k++) {
        double value = field[k].choices ? random_choice(r, &field[k]) : random_number(r, field[k].path);
        grpo_objective_set(obj, field[k].path, value);
    }
    random_objective_settle(r, obj);
    random_advantage_settle(r, obj);
}
#endif
