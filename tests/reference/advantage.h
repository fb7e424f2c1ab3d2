/* Axis 2 but for the credit, as vectors/objective/ defines it, in binary128 and without regard for speed: the advantage of an item (a
 * response or a step) within its pool, and what is applied to the advantages of tokens afterwards. */
#ifndef REFERENCE_ADVANTAGE_H
#define REFERENCE_ADVANTAGE_H
#include "../support/random_batch.h"
#include "number.h"

enum { MOST_ITEMS = 512, MOST_TOKENS = 1024 };

/* 1: the rounding of R to 96 bits decides what a result is, such as which of two windows is the narrower one; it is not judged */
static int hangs_on_rounding;

/* a number and the size that its error is measured against */
typedef struct { reference_real v, s; } number;

static number number_of(reference_real v) { number x; x.v = v; x.s = ref_abs(v); return x; }
static number plus(number x, number y) { x.v += y.v; x.s += y.s; return x; }
static number times(number x, reference_real by) { x.v *= by; x.s *= ref_abs(by); return x; }
static number less(number x, number y) { return plus(x, times(y, -1)); }
static number zero(void) { return number_of(0); }

typedef struct {
    grpo_objective obj;
    rollouts b;
    number A[MOST_TOKENS];                       /* advantage of each slot */
    int cut[MOST_TOKENS];                        /* 1: truncated_tail sets the advantage to 0 */
    int has_own;                                 /* 1: own holds the advantages of responses, of pools.h */
    number own[MOST_ITEMS];
    int narrow;                                  /* 1: the size of R - b is its own absolute value, as for numbers that are exact */
} evaluation;

/* are they the same but for the rounding of the reference? */
static int same_number(number x, number y) {
    return ref_abs(x.v - y.v) <= (y.s < HUGE_VAL ? 0x1p-95 * y.s : 0x1p-95 * ref_abs(y.v));
}

/* are all R doubles?  Others are numbers of 96 bits in the headers */
static int has_exact_rewards(const grpo_objective *o) {
    const grpo_reward *r = &o->reward;
    const int given = r->truncated == GRPO_REWARD_TRUNCATED_KEEP && r->length == GRPO_LENGTH_NONE && r->overlong == GRPO_OVERLONG_NONE
                      && r->map == GRPO_MAP_NONE && (r->kl == GRPO_KL_NONE || o->advantage.credit != GRPO_CREDIT_OUTCOME);
    return given && o->advantage.transform == GRPO_TRANSFORM_NONE && o->advantage.step_value != GRPO_STEP_VALUE_RETURN;
}

/* R - b counting as one number, and R and b with 2^-44 of their size where they are not doubles; infinite size, so that nothing is judged,
 * where R - b has lost too many digits of the reference */
static number narrowed(const grpo_objective *o, number x) {
    const reference_real lost = has_exact_rewards(o) ? 0 : 0x1p-44 * x.s;
    x.s = ref_abs(x.v) < 0x1p-55 * x.s ? (reference_real)HUGE_VAL : ref_abs(x.v) + lost;
    return x;
}

static int is_active(const rollouts *b, int64_t t) { return b->mask[t] != 0; }
static int is_step(const rollouts *b, int64_t t) { return is_active(b, t) && b->step_end[t]; }

static int64_t active_tokens_of(const rollouts *b, int64_t i) {
    int64_t t, n = 0;
    for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) n += is_active(b, t);
    return n;
}

static int64_t next_active(const rollouts *b, int64_t i, int64_t t) {
    for (t++; t < b->offset[i] + b->length[i]; t++) if (is_active(b, t)) return t;
    return -1;
}

/* ---- items ------------------------------------------------------------------------------------------------------------------------ */

typedef struct { int64_t i, t; int step; number R; int times; } item;      /* times: how often it counts in its pool */
typedef struct { int n; item of[MOST_ITEMS]; } items;

static number step_value(const evaluation *k, int64_t i, int64_t t) {
    const grpo_advantage *a = &k->obj.advantage;
    number R = zero();
    reference_real discount = 1;
    if (a->step_value == GRPO_STEP_VALUE_RESPONSE) return number_of(k->b.reward[i]);
    if (a->step_value == GRPO_STEP_VALUE_REWARD) return number_of(k->b.token[TOKEN_STEP_REWARD][t]);
    for (; t < k->b.offset[i] + k->b.length[i]; t++) {
        if (!is_step(&k->b, t)) continue;
        R = plus(R, times(number_of(k->b.token[TOKEN_STEP_REWARD][t]), discount));
        discount *= a->step_gamma;
    }
    return R;
}

/* active tokens that end a step, at least 1 */
static int steps_of(const rollouts *b, int64_t i) {
    int64_t t;
    int n = 0;
    for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) n += is_step(b, t);
    return n ? n : 1;
}

/* the number of samples in a pool: each item counts `times` times */
static int samples_of(const items *pool) {
    int j, n = 0;
    for (j = 0; j < pool->n; j++) n += pool->of[j].times;
    return n;
}

static void find_items(const evaluation *k, int64_t g, int steps, items *all) {
    int64_t i, t;
    all->n = 0;
    for (i = k->b.group_begin[g]; i < k->b.group_begin[g + 1]; i++) {
        int step = 0;
        if (!steps) {
            item x = { i, -1, 0, { 0, 0 }, 1 };
            x.R = number_of(k->b.reward[i]);
            if (k->obj.advantage.samples == GRPO_SAMPLES_STEPS) x.times = steps_of(&k->b, i);
            all->of[all->n++] = x;
            continue;
        }
        for (t = k->b.offset[i]; t < k->b.offset[i] + k->b.length[i]; t++) {
            item x = { i, t, 0, { 0, 0 }, 1 };
            if (!is_step(&k->b, t)) continue;
            x.step = step++;
            x.R = step_value(k, i, t);
            all->of[all->n++] = x;
        }
    }
}

/* are the last `level` states of steps x and y the same? */
static int same_past(const evaluation *k, const items *all, int x, int y, int level) {
    int back;
    if (all->of[x].step + 1 < level || all->of[y].step + 1 < level) return 0;
    for (back = 0; back < level; back++) if (k->b.state[all->of[x - back].t] != k->b.state[all->of[y - back].t]) return 0;
    return 1;
}

static int pooled(const evaluation *k, const items *all, int x, int y, int level) {
    switch (k->obj.advantage.step_group) {
    case GRPO_STEP_GROUP_STATE:   return k->b.state[all->of[x].t] == k->b.state[all->of[y].t];
    case GRPO_STEP_GROUP_INDEX:   return all->of[x].step == all->of[y].step;
    case GRPO_STEP_GROUP_HISTORY: return same_past(k, all, x, y, level);
    default:                      return 1;
    }
}

static reference_real variance_of(const items *pool, grpo_std_kind kind) {
    reference_real mean = 0, squares = 0, n = samples_of(pool);
    int j, same = 1;
    for (j = 0; j < pool->n; j++) {
        mean += pool->of[j].times * pool->of[j].R.v / n;
        same &= same_number(pool->of[j].R, pool->of[0].R);
    }
    for (j = 0; j < pool->n; j++) squares += pool->of[j].times * (pool->of[j].R.v - mean) * (pool->of[j].R.v - mean);
    return same || n < 2 ? 0 : squares / (kind == GRPO_STD_SAMPLE ? n - 1 : n);
}

static reference_real sigma_of(reference_real variance, double eps, grpo_eps_place_kind place) {
    const reference_real floored = variance > eps ? variance : eps;
    switch (place) {
    case GRPO_EPS_INSIDE:    return ref_sqrt(variance + eps);
    case GRPO_EPS_FLOOR:     return ref_sqrt(floored);
    case GRPO_EPS_FLOOR_ADD: return ref_sqrt(floored) + eps;
    default:                 return ref_sqrt(variance) + eps;
    }
}

/* (sum |R - mean| + eps)/n */
static reference_real mean_deviation(const items *pool, double eps) {
    reference_real mean = 0, sum = eps;
    int j;
    for (j = 0; j < pool->n; j++) mean += pool->of[j].R.v / pool->n;
    for (j = 0; j < pool->n; j++) sum += ref_abs(pool->of[j].R.v - mean);
    return sum / pool->n;
}

/* advantage (R - b)/sigma of reward R against a pool; baselines none, group_mean, leave_one_out; scales none, group_std, constant,
 * mean_deviation.  other: R is not in the pool */
static number advantage_against(const evaluation *k, const items *pool, number R, int other) {
    const grpo_advantage *a = &k->obj.advantage;
    const int of_group = a->baseline != GRPO_BASELINE_NONE, n = samples_of(pool), alone = n == 1;
    const int mean = a->baseline == GRPO_BASELINE_GROUP_MEAN || other;
    number sum = zero(), b = zero();
    reference_real V = alone ? 1 : variance_of(pool, a->std);
    int j, same = alone || variance_of(pool, a->std) == 0;
    if (alone && a->singleton == GRPO_SINGLETON_ZERO
        && (of_group || a->scale == GRPO_SCALE_GROUP_STD || a->scale == GRPO_SCALE_MEAN_ABSOLUTE_DEVIATION)) return zero();
    for (j = 0; j < pool->n; j++) sum = plus(sum, times(pool->of[j].R, pool->of[j].times));
    if (of_group && !alone) b = mean ? times(sum, 1 / (reference_real)n) : times(less(sum, R), 1 / (reference_real)(n - 1));
    b.s = of_group && !alone && !mean ? (sum.s - R.s) / (n - 1) : b.s;
    b = plus(b, number_of(a->baseline_shift));
    R = less(R, b);
    if (of_group && !alone && same && !other) R.v = -(reference_real)a->baseline_shift;
    if (ref_abs(R.v) < 0x1p-85 * R.s) R.v = 0;
    if (k->narrow) R = narrowed(&k->obj, R);
    if (a->scale == GRPO_SCALE_MEAN_ABSOLUTE_DEVIATION) return alone ? R : same ? zero() : times(R, 1 / mean_deviation(pool, a->eps));
    if (a->scale == GRPO_SCALE_GROUP_STD) return V == 0 ? zero() : times(R, 1 / sigma_of(V, a->eps, a->eps_place));
    return a->scale == GRPO_SCALE_CONSTANT ? times(R, 1 / (reference_real)a->scale_divisor) : R;
}

static number item_advantage(const evaluation *k, const items *pool, number R) { return advantage_against(k, pool, R, 0); }

static number level_advantage(const evaluation *k, const items *all, int x, int level, int *count) {
    static items pool;
    int j;
    for (pool.n = 0, j = 0; j < all->n; j++) if (pooled(k, all, x, j, level)) pool.of[pool.n++] = all->of[j];
    *count = pool.n;
    return item_advantage(k, &pool, all->of[x].R);
}

static number step_advantage(const evaluation *k, const items *all, int x) {
    const grpo_advantage *a = &k->obj.advantage;
    reference_real weights = 0, w;
    number sum = zero(), own;
    int level, n;
    if (a->step_group != GRPO_STEP_GROUP_HISTORY) return level_advantage(k, all, x, 0, &n);
    for (level = 1; level <= a->history_length && level <= all->of[x].step + 1; level++) {
        own = level_advantage(k, all, x, level, &n);
        if (n < 2 || own.v == 0) continue;
        w = ref_exp(a->history_power * ref_ln(level + 1));
        weights += w;
        sum = plus(sum, times(own, w));
    }
    return weights > 0 ? times(sum, 1 / weights) : zero();
}

/* ---- normalisation over tokens ---------------------------------------------------------------------------------------------------- */

static int active_at(const rollouts *b, int64_t i, int64_t position) {
    return position < b->length[i] && is_active(b, b->offset[i] + position);
}

static void normalise(const evaluation *k, number *const *at, int n, reference_real (*sigma)(const evaluation *k, reference_real V)) {
    number sum = zero();
    reference_real squares = 0, V, mean;
    int j, same = 1;
    for (j = 0; j < n; j++) { sum = plus(sum, *at[j]); same &= same_number(*at[j], *at[0]); }
    mean = n ? sum.v / n : 0;
    for (j = 0; j < n; j++) squares += (at[j]->v - mean) * (at[j]->v - mean);
    V = n < 2 || same ? 0 : squares / (k->obj.advantage.std == GRPO_STD_SAMPLE ? n - 1 : n);
    for (j = 0; j < n; j++) *at[j] = V == 0 ? zero() : times(less(*at[j], times(sum, 1 / (reference_real)n)), 1 / sigma(k, V));
}

/* A divided by the mean over responses of the mean of |A| over their active tokens that are not cut */
static void over_mean_abs(const evaluation *k, number *A) {
    number m = zero();
    int64_t i, t, responses = 0;
    for (i = 0; i < k->b.n_sequences; i++) {
        number sum = zero();
        int64_t n = 0;
        for (t = k->b.offset[i]; t < k->b.offset[i] + k->b.length[i]; t++) if (is_active(&k->b, t) && !k->cut[t]) {
            sum.v += ref_abs(A[t].v);
            sum.s += A[t].s;
            n++;
        }
        if (n) m = plus(m, times(sum, 1 / (reference_real)n)), responses++;
    }
    hangs_on_rounding |= k->obj.advantage.transform != GRPO_TRANSFORM_NONE && m.v <= 0x1p-90 * m.s;
    if (m.v == 0) return;
    m = times(m, 1 / (reference_real)responses);
    for (t = 0; t < k->b.n_tokens; t++) {
        A[t].s = (A[t].s + ref_abs(A[t].v) * m.s / m.v) / m.v;
        A[t].v /= m.v;
    }
}

static reference_real sigma_of_scale(const evaluation *k, reference_real V) {
    return sigma_of(V, k->obj.advantage.eps, k->obj.advantage.eps_place);
}

static reference_real sigma_of_second(const evaluation *k, reference_real V) { return ref_sqrt(V + k->obj.advantage.batch_norm_eps); }

/* ---- baseline, entropy and teacher of a token ------------------------------------------------------------------------------------- */

static void subtract_optimal(evaluation *k, int64_t g) {
    static reference_real W[MOST_TOKENS];
    const int64_t begin = k->b.group_begin[g], end = k->b.group_begin[g + 1];
    int64_t i, t, position, longest = 0;
    if (end - begin == 1) return;
    for (i = begin; i < end; i++) {
        reference_real sum = 0;
        if (k->b.length[i] > longest) longest = k->b.length[i];
        for (t = k->b.offset[i]; t < k->b.offset[i] + k->b.length[i]; t++) {
            if (!is_active(&k->b, t)) continue;
            sum += 1 - 2 * ref_exp(k->b.token[TOKEN_OLD][t]) + k->b.token[TOKEN_SQUARES][t];
            W[t] = sum;
        }
    }
    for (position = 0; position < longest; position++) {
        reference_real weight = 0;
        number sum = zero();
        int n = 0;
        for (i = begin; i < end; i++) if (active_at(&k->b, i, position)) {
            t = k->b.offset[i] + position;
            n++;
            sum = plus(sum, times(k->A[t], W[t]));
            weight += W[t];
        }
        for (i = begin; i < end; i++) if (active_at(&k->b, i, position)) {
            number *A = &k->A[k->b.offset[i] + position];
            if (weight == 0) continue;
            if (n == 1 && k->obj.advantage.token_baseline == GRPO_TOKEN_BASELINE_OPTIMAL_SHARED) continue;
            *A = n == 1 ? zero() : less(*A, times(sum, 1 / weight));
        }
    }
}

/* minus entropy_coef times the mean entropy of the response; 0 where that mean exceeds entropy_max */
static void finish_response(const evaluation *k, int64_t i, number *A) {
    const grpo_advantage *a = &k->obj.advantage;
    reference_real sum = 0;
    int64_t t;
    for (t = k->b.offset[i]; t < k->b.offset[i] + k->b.length[i]; t++) if (is_active(&k->b, t)) sum += k->b.token[TOKEN_ENTROPY][t];
    sum /= (reference_real)active_tokens_of(&k->b, i);
    *A = a->entropy_max != 0 && sum > a->entropy_max ? zero() : plus(*A, number_of(-(reference_real)a->entropy_coef * sum));
}

static void finish_teacher(const evaluation *k, int64_t i, int64_t t, number *A) {
    const grpo_advantage *a = &k->obj.advantage;
    const reference_real c = a->teacher_clip, s = a->teacher_share;
    reference_real gap = (reference_real)k->b.token[TOKEN_TEACHER][t] - k->b.token[TOKEN_OLD][t], w, discount = 1, discounts = 0;
    number sum = zero();
    int64_t j;
    w = ref_exp(A->v < 0 ? -gap : gap);
    if (s != 0) *A = times(*A, (1 - s) + s * (w < 1 - c ? 1 - c : w > 1 + c ? 1 + c : w));
    for (j = t; j >= 0; j = next_active(&k->b, i, j)) {
        sum = plus(sum, times(number_of((reference_real)k->b.token[TOKEN_TEACHER][j] - k->b.token[TOKEN_OLD][j]), discount));
        discounts += discount;
        discount *= a->teacher_gamma;
        if (a->teacher_gamma == 0) break;
    }
    if (a->teacher_norm == GRPO_TEACHER_NORM_MEAN && a->teacher_gamma != 0) sum = times(sum, 1 / discounts);
    if (a->teacher_coef != 0) *A = plus(*A, times(sum, a->teacher_coef));
}

static void finish_token(const evaluation *k, int64_t i, int64_t t, number H, number D, number *A) {
    const grpo_advantage *a = &k->obj.advantage;
    const reference_real h = k->b.token[TOKEN_ENTROPY][t], d = (reference_real)k->b.token[TOKEN_ROLLOUT][t] - k->b.token[TOKEN_REF][t];
    reference_real factor;
    if (a->entropy == GRPO_ENTROPY_RELATIVE && H.v != 0) {
        factor = 1 + a->entropy_coef * (h / H.v - 1);
        A->v *= factor > 0 ? factor : 0;
        A->s *= 1 + ref_abs(a->entropy_coef) * (h / H.v + 1);
    }
    if (a->entropy == GRPO_ENTROPY_RESPONSE) finish_response(k, i, A);
    finish_teacher(k, i, t, A);
    if (a->kl_centred_coef != 0) { A->v += a->kl_centred_coef * (D.v - d); A->s += ref_abs(a->kl_centred_coef) * (ref_abs(d) + D.s); }
    if (a->marked == GRPO_MARKED_FIXED && k->b.marked[t]) *A = number_of(a->marked_value);
    if (a->marked == GRPO_MARKED_BOOST && k->b.marked[t]) {
        A->v += a->marked_value * ref_abs(A->v);
        A->s *= 1 + ref_abs(a->marked_value);
    }
    if (a->clamp_low == 0 && a->clamp_high == 0) return;
    if (A->v < a->clamp_low) A->v = a->clamp_low;
    if (A->v > a->clamp_high) A->v = a->clamp_high;
}

static void finish_all(evaluation *k) {
    const grpo_advantage *a = &k->obj.advantage;
    number *at[MOST_TOKENS], H = zero(), D = zero();
    int64_t i, t, g;
    int n = 0, tokens = 0;
    for (i = 0; i < k->b.n_sequences; i++) for (t = k->b.offset[i]; t < k->b.offset[i] + k->b.length[i]; t++) {
        if (!is_active(&k->b, t)) continue;
        H = plus(H, number_of(k->b.token[TOKEN_ENTROPY][t]));
        D = plus(D, number_of((reference_real)k->b.token[TOKEN_ROLLOUT][t] - k->b.token[TOKEN_REF][t]));
        tokens++;
        if (!k->cut[t]) at[n++] = &k->A[t];
    }
    if (!tokens) return;
    if (a->scale == GRPO_SCALE_TOKEN_WHITEN) normalise(k, at, n, sigma_of_scale);
    if (a->batch_norm == GRPO_BATCH_NORM_TOKENS) normalise(k, at, n, sigma_of_second);
    if (a->batch_norm == GRPO_BATCH_NORM_MEAN_ABS) over_mean_abs(k, k->A);
    for (g = 0; a->token_baseline != GRPO_TOKEN_BASELINE_NONE && g < k->b.n_groups; g++) subtract_optimal(k, g);
    H = times(H, 1 / (reference_real)tokens);
    D = times(D, 1 / (reference_real)tokens);
    for (i = 0; i < k->b.n_sequences; i++) for (t = k->b.offset[i]; t < k->b.offset[i] + k->b.length[i]; t++)
        if (is_active(&k->b, t)) finish_token(k, i, t, H, D, &k->A[t]);
}
#endif
