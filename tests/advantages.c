/* advantages: steps, transforms, gains and tokens of the advantage axis as vectors/objective/ writes them, in binary128 and without care for
 * speed, on random batches: within 4 ulps of their sizes, and 0 where they are exactly 0. */
#include "check.h"
#include "status.h"
#include "reference.h"

enum { MOST_ITEMS = 512, MOST_TOKENS = 1024, TRIALS = 400 };
static const double ULP = sizeof(grpo_real) == 4 ? 0x1p-23 : 0x1p-52;
static const double SMALLEST = sizeof(grpo_real) == 4 ? 0x1p-149 : 0x1p-1074;
static double worst;                                             /* ulps of size */
static long compared;

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
    number A[MOST_TOKENS];                       /* by slot */
    int cut[MOST_TOKENS];                        /* 0 by truncated_tail */
} book;

static int is_active(const rollouts *b, int64_t t) { return b->mask[t] != 0; }
static int is_step(const rollouts *b, int64_t t) { return is_active(b, t) && b->step_end[t]; }

/* ---- items ------------------------------------------------------------------------------------------------------------------------ */

typedef struct { int64_t i, t; int step; number R; } item;
typedef struct { int n; item of[MOST_ITEMS]; } items;

static number step_value(const book *k, int64_t i, int64_t t) {
    const grpo_advantage *a = &k->obj.advantage;
    number R = zero();
    reference_real discount = 1;
    if (a->step_value == GRPO_STEP_VALUE_RESPONSE) return number_of(k->b.reward[i]);
    if (a->step_value == GRPO_STEP_VALUE_REWARD) return number_of(k->b.token[TOKEN_STEP_REWARD][t]);
    for (; t < k->b.offset[i] + k->b.length[i]; t++) {
        if (!is_step(&k->b, t)) continue;
        R = plus(R, times(number_of(k->b.token[TOKEN_STEP_REWARD][t]), discount));
        discount *= a->gamma;
    }
    return R;
}

static void find_items(const book *k, int64_t g, int steps, items *all) {
    int64_t i, t;
    all->n = 0;
    for (i = k->b.group_begin[g]; i < k->b.group_begin[g + 1]; i++) {
        int step = 0;
        if (!steps) { item x = { i, -1, 0, { 0, 0 } }; x.R = number_of(k->b.reward[i]); all->of[all->n++] = x; continue; }
        for (t = k->b.offset[i]; t < k->b.offset[i] + k->b.length[i]; t++) {
            item x = { i, t, 0, { 0, 0 } };
            if (!is_step(&k->b, t)) continue;
            x.step = step++;
            x.R = step_value(k, i, t);
            all->of[all->n++] = x;
        }
    }
}

/* the last `level` states of both, found in the list of all */
static int same_past(const book *k, const items *all, int x, int y, int level) {
    int back;
    if (all->of[x].step + 1 < level || all->of[y].step + 1 < level) return 0;
    for (back = 0; back < level; back++) if (k->b.state[all->of[x - back].t] != k->b.state[all->of[y - back].t]) return 0;
    return 1;
}

static int pooled(const book *k, const items *all, int x, int y, int level) {
    switch (k->obj.advantage.step_group) {
    case GRPO_STEP_GROUP_STATE:   return k->b.state[all->of[x].t] == k->b.state[all->of[y].t];
    case GRPO_STEP_GROUP_INDEX:   return all->of[x].step == all->of[y].step;
    case GRPO_STEP_GROUP_HISTORY: return same_past(k, all, x, y, level);
    default:                      return 1;
    }
}

static reference_real variance_of(const items *pool, grpo_std_kind kind) {
    reference_real mean = 0, squares = 0, n = pool->n;
    int j, same = 1;
    for (j = 0; j < pool->n; j++) { mean += pool->of[j].R.v / n; same &= ref_abs(pool->of[j].R.v - pool->of[0].R.v) <= 0x1p-95 * pool->of[0].R.s; }
    for (j = 0; j < pool->n; j++) squares += (pool->of[j].R.v - mean) * (pool->of[j].R.v - mean);
    return same || n < 2 ? 0 : squares / (kind == GRPO_STD_SAMPLE ? n - 1 : n);
}

static reference_real sigma_of(reference_real variance, double eps, grpo_eps_place place) {
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

/* (R - b)/sigma of R within its pool; baselines none, group_mean, leave_one_out, scales none, group_std, constant, mean_deviation; other: it is of none */
static number worth_beside(const grpo_advantage *a, const items *pool, number R, int other) {
    const int of_group = a->baseline != GRPO_BASELINE_NONE, alone = pool->n == 1, mean = a->baseline == GRPO_BASELINE_GROUP_MEAN || other;
    number sum = zero(), b = zero();
    reference_real V = alone ? 1 : variance_of(pool, a->std);
    int j, same = alone || variance_of(pool, a->std) == 0;
    if (alone && a->singleton == GRPO_SINGLETON_ZERO
        && (of_group || a->scale == GRPO_SCALE_GROUP_STD || a->scale == GRPO_SCALE_MEAN_DEVIATION)) return zero();
    for (j = 0; j < pool->n; j++) sum = plus(sum, pool->of[j].R);
    if (of_group && !alone) b = mean ? times(sum, 1 / (reference_real)pool->n) : times(less(sum, R), 1 / (reference_real)(pool->n - 1));
    b.s = of_group && !alone && !mean ? (sum.s - R.s) / (pool->n - 1) : b.s;
    b = plus(b, number_of(a->shift));
    R = less(R, b);
    if (of_group && !alone && same && !other) R.v = -(reference_real)a->shift;
    if (ref_abs(R.v) < 0x1p-85 * R.s) R.v = 0;
    if (a->scale == GRPO_SCALE_MEAN_DEVIATION) return alone ? R : same ? zero() : times(R, 1 / mean_deviation(pool, a->eps));
    if (a->scale == GRPO_SCALE_GROUP_STD) return V == 0 ? zero() : times(R, 1 / sigma_of(V, a->eps, a->eps_place));
    return a->scale == GRPO_SCALE_CONSTANT ? times(R, 1 / (reference_real)a->eps) : R;
}

static number item_worth(const grpo_advantage *a, const items *pool, number R) { return worth_beside(a, pool, R, 0); }

static number level_worth(const book *k, const items *all, int x, int level, int *count) {
    static items pool;
    int j;
    for (pool.n = 0, j = 0; j < all->n; j++) if (pooled(k, all, x, j, level)) pool.of[pool.n++] = all->of[j];
    *count = pool.n;
    return item_worth(&k->obj.advantage, &pool, all->of[x].R);
}

static number step_worth(const book *k, const items *all, int x) {
    const grpo_advantage *a = &k->obj.advantage;
    reference_real weights = 0, w;
    number sum = zero(), own;
    int level, n;
    if (a->step_group != GRPO_STEP_GROUP_HISTORY) return level_worth(k, all, x, 0, &n);
    for (level = 1; level <= a->history && level <= all->of[x].step + 1; level++) {
        own = level_worth(k, all, x, level, &n);
        if (n < 2 || own.v == 0) continue;
        w = ref_exp(a->history_power * ref_ln(level + 1));
        weights += w;
        sum = plus(sum, times(own, w));
    }
    return weights > 0 ? times(sum, 1 / weights) : zero();
}

/* ---- credit ----------------------------------------------------------------------------------------------------------------------- */

static void credit_steps(book *k, int64_t g) {
    static items all, responses;
    const grpo_advantage *a = &k->obj.advantage;
    const int by_token = a->step_discount == GRPO_STEP_DISCOUNT_TOKENS;
    int64_t i, t;
    int x;
    find_items(k, g, 1, &all);
    find_items(k, g, 0, &responses);
    for (i = k->b.group_begin[g]; i < k->b.group_begin[g + 1]; i++) {
        number now = zero(), e = item_worth(a, &responses, number_of(k->b.reward[i]));
        for (x = all.n - 1, t = k->b.offset[i] + k->b.length[i] - 1; t >= k->b.offset[i]; t--) {
            if (!is_active(&k->b, t)) continue;
            while (x >= 0 && (all.of[x].i != i || all.of[x].t > t)) x--;
            if (a->credit == GRPO_CREDIT_STEP && (by_token || is_step(&k->b, t))) now = times(now, a->gamma);
            if (x >= 0 && all.of[x].t == t) now = a->credit == GRPO_CREDIT_STEP ? plus(now, step_worth(k, &all, x)) : step_worth(k, &all, x);
            k->A[t] = a->credit == GRPO_CREDIT_EPISODE_STEP ? plus(e, times(now, a->step_coef)) : now;
        }
    }
}

/* ---- returns and critics ---------------------------------------------------------------------------------------------------------- */

static int64_t active_tokens_of(const rollouts *b, int64_t i) {
    int64_t t, n = 0;
    for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) n += is_active(b, t);
    return n;
}

static int64_t next_active(const rollouts *b, int64_t i, int64_t t) {
    for (t++; t < b->offset[i] + b->length[i]; t++) if (is_active(b, t)) return t;
    return -1;
}

/* delta of credit gae, or the reward of credit return */
static number gain_at(const book *k, int64_t i, int64_t t, number a) {
    const grpo_advantage *o = &k->obj.advantage;
    const int64_t next = next_active(&k->b, i, t);
    const int repeat = o->bootstrap == GRPO_BOOTSTRAP_REPEAT && k->b.truncated[i];
    const reference_real V = k->b.token[TOKEN_VALUE][t];
    number x = next < 0 ? a : zero();
    if (o->credit == GRPO_CREDIT_RETURN) return x;
    if (next < 0 && repeat) return plus(times(number_of(V), o->gamma), number_of(-V));
    return plus(plus(x, next < 0 ? zero() : times(number_of(k->b.token[TOKEN_VALUE][next]), o->gamma)), number_of(-V));
}

/* what the step that ends at token t is worth, 0 where none does */
static number step_at(const book *k, const items *steps, int64_t t) {
    int x;
    for (x = 0; x < steps->n; x++) if (steps->of[x].t == t) return step_worth(k, steps, x);
    return zero();
}

static void credit_returns(book *k, int64_t g) {
    static items all, steps;
    const grpo_advantage *a = &k->obj.advantage;
    const int by_step = a->credit == GRPO_CREDIT_STEP_GAE, critic = by_step || a->credit == GRPO_CREDIT_GAE;
    int64_t t, j, left;
    int x;
    find_items(k, g, 0, &all);
    if (by_step) find_items(k, g, 1, &steps);
    for (x = 0; x < all.n; x++) {
        const int64_t i = all.of[x].i, T = active_tokens_of(&k->b, i);
        const number own = by_step ? zero() : item_worth(a, &all, all.of[x].R);
        reference_real lambda = critic ? a->lambda : 1, long_lambda = a->lambda_length * (reference_real)T;
        long_lambda = long_lambda > 1 ? 1 - 1 / long_lambda : 0;
        if (critic && a->lambda_length > 0 && long_lambda > lambda) lambda = long_lambda;
        for (left = T, t = k->b.offset[i]; t < k->b.offset[i] + k->b.length[i]; t++) {
            number sum = zero();
            reference_real discount = 1;
            if (!is_active(&k->b, t)) continue;
            for (j = t; j >= 0; j = next_active(&k->b, i, j)) {
                sum = plus(sum, times(gain_at(k, i, j, own), discount));
                if (by_step) sum = plus(sum, times(step_at(k, &steps, j), discount));
                discount *= a->gamma * lambda;
            }
            k->cut[t] = k->b.truncated[i] && (double)left-- <= a->truncated_tail;
            k->A[t] = k->cut[t] ? zero() : sum;
        }
    }
}

/* ---- trees of prefixes ------------------------------------------------------------------------------------------------------------ */

static number mean_of(const items *all, const int *of) {
    number sum = zero();
    int j, n = 0;
    for (j = 0; j < all->n; j++) if (of[j]) sum = plus(sum, all->of[j].R), n++;
    return times(sum, 1 / (reference_real)n);
}

static void credit_tree(book *k, int64_t g) {
    static items all;
    static int of[MOST_ITEMS];
    const grpo_advantage *a = &k->obj.advantage;
    int64_t position;
    int x, j, leaves;
    find_items(k, g, 0, &all);
    for (x = 0; x < all.n; x++) {
        const int64_t i = all.of[x].i, begin = k->b.offset[i];
        const number own = item_worth(a, &all, all.of[x].R);
        const reference_real V = all.n == 1 ? 1 : variance_of(&all, a->std);
        const int of_group = a->baseline != GRPO_BASELINE_NONE || a->scale == GRPO_SCALE_GROUP_STD;
        const int pinned = all.n == 1 && a->singleton == GRPO_SINGLETON_ZERO && of_group;
        reference_real sigma = a->scale == GRPO_SCALE_CONSTANT ? a->eps : 1;
        if (a->scale == GRPO_SCALE_GROUP_STD) sigma = V == 0 ? (reference_real)HUGE_VAL : sigma_of(V, a->eps, a->eps_place);
        for (j = 0; j < all.n; j++) of[j] = 1;
        for (position = 0; position < k->b.length[i]; position++) {
            const int64_t t = begin + position;
            number before = mean_of(&all, of), after;
            for (leaves = 0, j = 0; j < all.n; j++) {
                const int64_t other = all.of[j].i, at = k->b.offset[other] + position;
                const int there = position < k->b.length[other] && is_active(&k->b, at) && is_active(&k->b, t);
                const int stays = there && k->b.state[at] == k->b.state[t];
                if (j != x && of[j] && !stays) { of[j] = 0; leaves++; }
            }
            if (!is_active(&k->b, t)) continue;
            after = mean_of(&all, of);
            k->A[t] = own;
            if (!leaves || pinned) continue;
            before = times(less(after, before), 1 / sigma);
            if (ref_abs(before.v) < 0x1p-85 * before.s) before.v = 0;
            k->A[t] = plus(own, before);
        }
    }
}

/* subsets of k of the items as bits */
static number subsets(const book *k, const items *all, int x) {
    const int size = (int)k->obj.advantage.pass_k, gain = k->obj.advantage.transform == GRPO_TRANSFORM_PKPO_GAIN;
    number sum = zero();
    reference_real count = 0;
    unsigned set;
    int j;
    for (set = 0; set < 1u << all->n; set++) {
        number with = { -HUGE_VAL, 0 }, without = { -HUGE_VAL, 0 };
        int members = 0;
        for (j = 0; j < all->n; j++) if (set >> j & 1) {
            members++;
            if (all->of[j].R.v > with.v) with = all->of[j].R;
            if (j != x && all->of[j].R.v > without.v) without = all->of[j].R;
        }
        if (members != size) continue;
        count++;
        if (!(set >> x & 1)) continue;
        if (size == 1) without = zero();
        sum = plus(sum, gain ? less(with, without) : with);
    }
    return times(sum, 1 / count);
}

/* times (1 - mu)^power, mu of the items before the transform */
static number failing(const grpo_advantage *a, const items *all, number own) {
    const reference_real span = (reference_real)a->gain_high - a->gain_low;
    reference_real mean = 0, size = 0, rest, w = 1, more = 1;
    int j;
    for (j = 0; j < all->n; j++) { mean += all->of[j].R.v / all->n; size += all->of[j].R.s / all->n; }
    rest = 1 - (mean - a->gain_low) / span;
    if (a->gain_power == 0 || rest >= 1) return own;
    if (rest <= 0x1p-90 * (1 + size / span)) return zero();
    w = ref_exp(a->gain_power * ref_ln(rest));
    more = 1 + a->gain_power * (size + ref_abs((reference_real)a->gain_low)) / span / rest;
    own.v *= w;
    own.s *= w * more;
    return own;
}

/* a of a response that is no part of the pool of the others */
static number outside_worth(const grpo_advantage *a, const items *pool, number R) {
    number best = { -HUGE_VAL, 0 }, own;
    int j;
    if (pool->n == 0 || a->outside == GRPO_OUTSIDE_ZERO) return zero();
    if (a->outside == GRPO_OUTSIDE_OWN) return worth_beside(a, pool, R, 1);
    for (j = 0; j < pool->n; j++) {
        own = item_worth(a, pool, pool->of[j].R);
        if (own.v > best.v) best.v = own.v;
        if (own.s > best.s) best.s = own.s;
    }
    return times(best, a->outside_coef);
}

static void credit_beside(book *k, int64_t g) {
    static items all, pool;
    const grpo_advantage *a = &k->obj.advantage;
    int64_t t;
    int x;
    find_items(k, g, 0, &all);
    for (pool.n = 0, x = 0; x < all.n; x++) if (!k->b.outside[all.of[x].i]) pool.of[pool.n++] = all.of[x];
    for (x = 0; x < all.n; x++) {
        const int64_t i = all.of[x].i;
        const number own = k->b.outside[i] ? outside_worth(a, &pool, all.of[x].R) : item_worth(a, &pool, all.of[x].R);
        for (t = k->b.offset[i]; t < k->b.offset[i] + k->b.length[i]; t++) if (is_active(&k->b, t)) k->A[t] = own;
    }
}

static void credit_outcomes(book *k, int64_t g) {
    static items all, pool;
    const grpo_advantage *a = &k->obj.advantage;
    int64_t t;
    int x;
    find_items(k, g, 0, &all);
    pool = all;
    for (x = 0; x < all.n && a->transform != GRPO_TRANSFORM_NONE; x++) pool.of[x].R = subsets(k, &all, x);
    for (x = 0; x < all.n; x++) {
        number own = item_worth(a, &pool, pool.of[x].R);
        if (a->gain == GRPO_GAIN_EXPONENTIAL) {
            const reference_real e = ref_exp(own.v / a->gain_temperature);
            own.v *= e;
            own.s *= e * (1 + own.s / ref_abs(a->gain_temperature));
        }
        if (a->gain == GRPO_GAIN_FAILURE_POWER) own = failing(a, &all, own);
        for (t = k->b.offset[all.of[x].i]; t < k->b.offset[all.of[x].i] + k->b.length[all.of[x].i]; t++) if (is_active(&k->b, t)) k->A[t] = own;
    }
}

/* ---- scale beta ------------------------------------------------------------------------------------------------------------------- */

/* log Gamma(x) by Stirling's series at x + 200 or more */
static reference_real log_gamma(reference_real x) {
    const reference_real half_log_two_pi = ref_ln((reference_real)6.283185307179586232 + 2.4492935982947064e-16) / 2;
    reference_real below = 0, y;
    for (; x < 200; x++) below += ref_ln(x);
    y = 1 / (x * x);
    y = (1 - y * (1 / (reference_real)30 - y * (1 / (reference_real)105 - y * (1 / (reference_real)140 - y * (1 / (reference_real)99
        - y * (691 / (reference_real)30030)))))) / (12 * x);
    return (x - (reference_real)1 / 2) * ref_ln(x) - x + half_log_two_pi + y - below;
}

/* log of the density of Beta(1 + max(0, m mu/3), 1 + max(0, m (1 - mu)/3)) at p */
static reference_real log_beta(reference_real mu, reference_real V, reference_real p) {
    const reference_real m = mu * (1 - mu) / V - 1;
    const reference_real alpha = m > 0 ? 1 + m * mu / 3 : 1, beta = m > 0 ? 1 + m * (1 - mu) / 3 : 1;
    return log_gamma(alpha + beta) - log_gamma(alpha) - log_gamma(beta) + (alpha - 1) * ref_ln(p) + (beta - 1) * ref_ln(1 - p);
}

/* rewards in [0, 1], a mean strictly between them in every group: A = (R - p) min(1/f, 1e6) */
static void credit_beta(book *k) {
    items means;
    number p = zero();
    reference_real V, log_f, factor;
    int64_t g, i, t;
    means.n = 0;
    for (g = 0; g < k->b.n_groups; g++) {
        const int64_t begin = k->b.group_begin[g], end = k->b.group_begin[g + 1];
        for (p = zero(), i = begin; i < end; i++) p = plus(p, number_of((reference_real)k->b.reward[i] / (reference_real)(end - begin)));
        means.of[means.n].R = p;
        means.n++;
    }
    for (p = zero(), g = 0; g < means.n; g++) p = plus(p, times(means.of[g].R, 1 / (reference_real)means.n));
    V = variance_of(&means, GRPO_STD_SAMPLE);
    for (g = 0; g < k->b.n_groups; g++) for (i = k->b.group_begin[g]; i < k->b.group_begin[g + 1]; i++) {
        log_f = means.n == 1 ? 0 : V == 0 ? HUGE_VAL : log_beta(p.v, V, means.of[g].R.v);
        factor = log_f == HUGE_VAL ? 0 : ref_exp(-log_f);
        if (factor > 1e6) { factor = 1e6; log_f = ref_ln(1e6); }
        for (t = k->b.offset[i]; t < k->b.offset[i] + k->b.length[i]; t++) {
            if (!is_active(&k->b, t)) continue;
            k->A[t] = V == 0 && means.n > 1 ? zero() : times(less(number_of(k->b.reward[i]), means.of[g].R), factor);
            k->A[t].s *= 1 + ref_abs(log_f);
        }
    }
}

static int active_at(const rollouts *b, int64_t i, int64_t position) {
    return position < b->length[i] && is_active(b, b->offset[i] + position);
}

static number share_reward(const book *k, int64_t g, int64_t i, int64_t t) {
    const grpo_advantage *a = &k->obj.advantage;
    const int64_t position = t - k->b.offset[i];
    const int win = k->b.reward[i] > 0;
    reference_real sum = 0, n = 0, own = k->b.token[TOKEN_ENTROPY][t], H;
    int64_t j;
    for (j = k->b.group_begin[g]; j < k->b.group_begin[g + 1]; j++) {
        if (!active_at(&k->b, j, position) || (k->b.reward[j] > 0) != win) continue;
        H = k->b.token[TOKEN_ENTROPY][k->b.offset[j] + position];
        sum += win ? H : 1 / (H + a->share_eps);
        n++;
    }
    if (win) return plus(number_of(k->b.reward[i]), number_of(sum == 0 ? 0 : a->share_coef * own * n / sum));
    return plus(number_of(-1), number_of(-a->share_coef * n / (own + a->share_eps) / sum));
}

static void normalise(const book *k, number *const *at, int n, reference_real (*sigma)(const book *k, reference_real V)) {
    number sum = zero();
    reference_real squares = 0, V, mean;
    int j, same = 1;
    for (j = 0; j < n; j++) { sum = plus(sum, *at[j]); same &= ref_abs(at[j]->v - at[0]->v) <= 0x1p-95 * at[0]->s; }
    mean = n ? sum.v / n : 0;
    for (j = 0; j < n; j++) squares += (at[j]->v - mean) * (at[j]->v - mean);
    V = n < 2 || same ? 0 : squares / (k->obj.advantage.std == GRPO_STD_SAMPLE ? n - 1 : n);
    for (j = 0; j < n; j++) *at[j] = V == 0 ? zero() : times(less(*at[j], times(sum, 1 / (reference_real)n)), 1 / sigma(k, V));
}

static reference_real sigma_of_scale(const book *k, reference_real V) { return sigma_of(V, k->obj.advantage.eps, k->obj.advantage.eps_place); }
static reference_real sigma_of_second(const book *k, reference_real V) { return ref_sqrt(V + k->obj.advantage.second_eps); }

static void credit_shares(book *k, int64_t g) {
    number *at[MOST_TOKENS];
    int64_t i, t;
    int win, n;
    for (win = 0; win < 2; win++) {
        for (n = 0, i = k->b.group_begin[g]; i < k->b.group_begin[g + 1]; i++) {
            if ((k->b.reward[i] > 0) != win) continue;
            for (t = k->b.offset[i]; t < k->b.offset[i] + k->b.length[i]; t++) {
                if (!is_active(&k->b, t)) continue;
                k->A[t] = share_reward(k, g, i, t);
                at[n++] = &k->A[t];
            }
        }
        normalise(k, at, n, sigma_of_scale);
    }
}

/* ---- tokens ----------------------------------------------------------------------------------------------------------------------- */

static void subtract_optimal(book *k, int64_t g) {
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
            *A = n == 1 ? zero() : less(*A, times(sum, 1 / weight));
        }
    }
}

/* less the mean entropy of the response, 0 where that is above the cap; the sums of a test are exact */
static void finish_response(const book *k, int64_t i, number *A) {
    const grpo_advantage *a = &k->obj.advantage;
    reference_real sum = 0;
    int64_t t;
    for (t = k->b.offset[i]; t < k->b.offset[i] + k->b.length[i]; t++) if (is_active(&k->b, t)) sum += k->b.token[TOKEN_ENTROPY][t];
    sum /= (reference_real)active_tokens_of(&k->b, i);
    *A = a->entropy_cap != 0 && sum > a->entropy_cap ? zero() : plus(*A, number_of(-(reference_real)a->entropy_coef * sum));
}

static void finish_teacher(const book *k, int64_t i, int64_t t, number *A) {
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

static void finish_token(const book *k, int64_t i, int64_t t, number H, number D, number *A) {
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
    if (a->marked == GRPO_MARKED_FIXED && k->b.selected[t]) *A = number_of(a->marked_value);
    if (a->marked == GRPO_MARKED_BOOST && k->b.selected[t]) { A->v += a->marked_value * ref_abs(A->v); A->s *= 1 + ref_abs(a->marked_value); }
    if (a->advantage_low == 0 && a->advantage_high == 0) return;
    if (A->v < a->advantage_low) A->v = a->advantage_low;
    if (A->v > a->advantage_high) A->v = a->advantage_high;
}

static void finish_all(book *k) {
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
    if (a->second == GRPO_SECOND_TOKENS) normalise(k, at, n, sigma_of_second);
    for (g = 0; a->token_baseline == GRPO_TOKEN_BASELINE_OPTIMAL && g < k->b.n_groups; g++) subtract_optimal(k, g);
    H = times(H, 1 / (reference_real)tokens);
    D = times(D, 1 / (reference_real)tokens);
    for (i = 0; i < k->b.n_sequences; i++) for (t = k->b.offset[i]; t < k->b.offset[i] + k->b.length[i]; t++)
        if (is_active(&k->b, t)) finish_token(k, i, t, H, D, &k->A[t]);
}

/* ---- the comparison --------------------------------------------------------------------------------------------------------------- */

static void compare(book *k, const char *what, int trial) {
    const grpo_batch batch = rollouts_view(&k->b);
    grpo_real *found = (grpo_real *)test_alloc(k->b.n_tokens, sizeof *found);
    const grpo_status st = grpo_advantages(&k->obj, &batch, found);
    int64_t i, t;
    check(!st, "%s %d: %s", what, trial, status_line(st));
    for (i = 0; i < k->b.n_sequences && !st; i++) for (t = k->b.offset[i]; t < k->b.offset[i] + k->b.length[i]; t++) {
        const reference_real off = ref_abs((reference_real)found[t] - k->A[t].v);
        if (!is_active(&k->b, t) || !(k->A[t].s < (sizeof *found == 4 ? 1e37 : 1e290))) continue;         /* an exponential of too much */
        compared++;
        if (off > SMALLEST && (double)(off / k->A[t].s) / ULP > worst) worst = (double)(off / k->A[t].s) / ULP;
        check(off <= 4 * ULP * k->A[t].s + SMALLEST, "%s %d: %.17g instead of %.17g, %.3g ulps of its size, sequence %d, token %d", what, trial,
              (double)found[t], (double)k->A[t].v, (double)(off / k->A[t].s) / ULP, (int)i, (int)(t - k->b.offset[i]));
    }
    free(found);
}

static double any(rng *r, double a, double b, double c) { const double x[] = { a, b, c }; return rng_pick(r, x, 3); }

/* baseline, scale and what comes after credit */
static void random_common(rng *r, grpo_advantage *a) {
    static const grpo_scale_kind scale[] = { GRPO_SCALE_NONE, GRPO_SCALE_GROUP_STD, GRPO_SCALE_CONSTANT, GRPO_SCALE_TOKEN_WHITEN,
                                             GRPO_SCALE_MEAN_DEVIATION };
    a->baseline = (grpo_baseline_kind)rng_below(r, 3);
    a->scale = scale[rng_below(r, a->step_group == GRPO_STEP_GROUP_PROMPT ? 5 : 3)];
    a->std = (grpo_std_kind)rng_below(r, 2);
    a->eps_place = (grpo_eps_place)rng_below(r, 4);
    a->eps = any(r, 1e-6, 0.5, 1);
    a->singleton = (grpo_singleton_kind)rng_below(r, 2);
    a->shift = rng_chance(r, 25) ? -0.1 : 0;
    if (a->step_group == GRPO_STEP_GROUP_PROMPT && a->scale != GRPO_SCALE_TOKEN_WHITEN && rng_chance(r, 30)) a->second = GRPO_SECOND_TOKENS;
    a->second_eps = any(r, 0, 1e-8, 0.5);
}

static void random_finish(rng *r, grpo_advantage *a) {
    if (rng_chance(r, 40)) a->token_baseline = GRPO_TOKEN_BASELINE_OPTIMAL;
    if (rng_chance(r, 30)) { a->entropy = GRPO_ENTROPY_RELATIVE; a->entropy_coef = any(r, 0.3, 2, -1); }
    else if (rng_chance(r, 30)) {
        a->entropy = GRPO_ENTROPY_RESPONSE;
        a->entropy_coef = any(r, 0.1, 1, -1);
        a->entropy_cap = any(r, 0, 0.7, 1);
    }
    if (rng_chance(r, 30)) { a->teacher_share = any(r, 0.5, 1, 0.1); a->teacher_clip = any(r, 0.2, 0, 0.9); }
    if (rng_chance(r, 30)) a->teacher_coef = any(r, 1, -0.5, 3);
    if (rng_chance(r, 50)) { a->teacher_gamma = any(r, 1, 0.9, 0.25); a->teacher_norm = (grpo_teacher_norm_kind)rng_below(r, 2); }
    if (rng_chance(r, 30)) a->kl_centred_coef = any(r, 0.1, -1, 3);
    a->marked = (grpo_marked_kind)rng_below(r, 3);
    a->marked_value = any(r, 0.2, -5, -0.5);
    if (rng_chance(r, 20)) { a->advantage_low = -0.5; a->advantage_high = 1; }
}

/* rewards that meet: multiples of 1/8, or a few of them */
static void random_rewards(rng *r, rollouts *b) {
    const int kind = rng_chance(r, 50) ? REWARDS_DYADIC : REWARDS_BELL, few = rng_chance(r, 50);
    int64_t i, t;
    for (i = 0; i < b->n_sequences; i++) {
        b->reward[i] = (grpo_real)random_reward(r, few ? REWARDS_BINARY : kind);
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++)
            if (b->mask[t]) b->token[TOKEN_STEP_REWARD][t] = (grpo_real)(few ? (double)rng_below(r, 3) - 1 : random_reward(r, kind));
    }
}

static void trial_steps(rng *r, int trial) {
    static book k;
    grpo_advantage *a = &k.obj.advantage;
    int64_t g;
    memset(&k.obj, 0, sizeof k.obj);
    a->credit = (grpo_credit_kind)(rng_chance(r, 30) ? GRPO_CREDIT_STEP : rng_chance(r, 50) ? GRPO_CREDIT_STEP_OWN : GRPO_CREDIT_EPISODE_STEP);
    a->step_value = (grpo_step_value_kind)rng_below(r, 3);
    a->step_group = (grpo_step_group_kind)rng_below(r, 4);
    a->gamma = any(r, 1, 0.95, 0.5);
    a->history = any(r, 1, 2, 4);
    a->history_power = any(r, 0, 1, -1.5);
    a->step_coef = any(r, 1, 0.5, -2);
    if (a->credit == GRPO_CREDIT_STEP) a->step_discount = (grpo_step_discount_kind)rng_below(r, 2);
    random_common(r, a);
    rollouts_random(r, 0, &k.b);
    random_rewards(r, &k.b);
    for (g = 0; g < k.b.n_groups; g++) credit_steps(&k, g);
    random_finish(r, a);
    finish_all(&k);
    compare(&k, "steps", trial);
    rollouts_free(&k.b);
}

static void trial_outcomes(rng *r, int trial) {
    static book k;
    grpo_advantage *a = &k.obj.advantage;
    int64_t g, smallest = MOST_ITEMS;
    memset(&k.obj, 0, sizeof k.obj);
    random_common(r, a);
    rollouts_random(r, 0, &k.b);
    random_rewards(r, &k.b);
    for (g = 0; g < k.b.n_groups; g++) if (k.b.group_begin[g + 1] - k.b.group_begin[g] < smallest) smallest = k.b.group_begin[g + 1] - k.b.group_begin[g];
    a->pass_k = (double)(1 + rng_below(r, smallest));
    if (rng_chance(r, 60)) a->transform = rng_chance(r, 50) ? GRPO_TRANSFORM_PKPO_MAX : GRPO_TRANSFORM_PKPO_GAIN;
    if (a->scale != GRPO_SCALE_TOKEN_WHITEN && a->second == GRPO_SECOND_NONE && rng_chance(r, 50)) a->gain = GRPO_GAIN_EXPONENTIAL;
    a->gain_temperature = any(r, 1, 5, -2);
    if (a->gain == GRPO_GAIN_EXPONENTIAL && rng_chance(r, 50)) a->gain = GRPO_GAIN_FAILURE_POWER;
    a->gain_low = any(r, 0, -1, 0.1);
    a->gain_high = any(r, 1, 0.9, 2);
    a->gain_power = any(r, 1, 0, 2.5);
    for (g = 0; g < k.b.n_groups; g++) credit_outcomes(&k, g);
    random_finish(r, a);
    finish_all(&k);
    compare(&k, "outcomes", trial);
    rollouts_free(&k.b);
}

static void trial_returns(rng *r, int trial) {
    static book k;
    grpo_advantage *a = &k.obj.advantage;
    int64_t g;
    memset(&k, 0, sizeof k);
    a->credit = rng_chance(r, 30) ? GRPO_CREDIT_RETURN : trial % 2 ? GRPO_CREDIT_STEP_GAE : GRPO_CREDIT_GAE;
    a->gamma = any(r, 1, 0.95, 0.5);
    a->lambda = any(r, 1, 0.9, 0);
    a->lambda_length = any(r, 0, 0.3, 1);
    if (a->credit == GRPO_CREDIT_STEP_GAE) a->step_value = (grpo_step_value_kind)rng_below(r, 3);
    if (a->credit == GRPO_CREDIT_STEP_GAE) a->step_group = (grpo_step_group_kind)rng_below(r, 4);
    a->history = any(r, 1, 2, 4);
    a->history_power = any(r, 0, 1, -1.5);
    if (a->credit != GRPO_CREDIT_STEP_GAE) a->bootstrap = (grpo_bootstrap_kind)rng_below(r, 2);
    a->truncated_tail = any(r, 0, 1, 4);
    random_common(r, a);
    rollouts_random(r, 0, &k.b);
    for (g = 0; g < k.b.n_sequences; g++) k.b.truncated[g] = (uint8_t)rng_chance(r, 50);
    random_rewards(r, &k.b);
    for (g = 0; g < k.b.n_groups; g++) credit_returns(&k, g);
    random_finish(r, a);
    finish_all(&k);
    compare(&k, "returns", trial);
    rollouts_free(&k.b);
}

/* trees, and responses beside the others of their group: the few choices that go with both */
static void trial_plain(rng *r, int trial) {
    static const grpo_scale_kind scale[] = { GRPO_SCALE_NONE, GRPO_SCALE_GROUP_STD, GRPO_SCALE_CONSTANT };
    static book k;
    grpo_advantage *a = &k.obj.advantage;
    int64_t g;
    memset(&k, 0, sizeof k);
    random_common(r, a);
    a->second = GRPO_SECOND_NONE;
    a->scale = scale[rng_below(r, 3)];
    if (trial % 2) a->credit = GRPO_CREDIT_PREFIX_TREE;
    else a->outside = (grpo_outside_kind)(1 + rng_below(r, 3));
    a->outside_coef = any(r, 1.2, 0, -1);
    rollouts_random(r, 0, &k.b);
    for (g = 0; g < k.b.n_tokens; g++) if (rng_chance(r, 50)) k.b.state[g] = 0;                /* longer prefixes */
    random_rewards(r, &k.b);
    for (g = 0; g < k.b.n_groups; g++) { if (trial % 2) credit_tree(&k, g); else credit_beside(&k, g); }
    random_finish(r, a);
    finish_all(&k);
    compare(&k, trial % 2 ? "tree" : "outside", trial);
    rollouts_free(&k.b);
}

static void trial_shares(rng *r, int trial) {
    static book k;
    grpo_advantage *a = &k.obj.advantage;
    int64_t g;
    memset(&k.obj, 0, sizeof k.obj);
    a->credit = GRPO_CREDIT_ENTROPY_SHARE;
    a->share_coef = any(r, 0.1, 0, 3);
    a->share_eps = any(r, 1e-8, 0.5, 1);
    a->std = (grpo_std_kind)rng_below(r, 2);
    a->eps_place = (grpo_eps_place)rng_below(r, 4);
    a->eps = any(r, 1e-8, 0.5, 0);
    rollouts_random(r, 0, &k.b);
    random_rewards(r, &k.b);
    for (g = 0; g < k.b.n_groups; g++) credit_shares(&k, g);
    random_finish(r, a);
    finish_all(&k);
    compare(&k, "shares", trial);
    rollouts_free(&k.b);
}

static void trial_beta(rng *r, int trial) {
    static book k;
    const int kind = (int)rng_below(r, 3);
    int64_t g, i;
    memset(&k.obj, 0, sizeof k.obj);
    k.obj.advantage.baseline = GRPO_BASELINE_GROUP_MEAN;
    k.obj.advantage.scale = GRPO_SCALE_BETA;
    rollouts_random(r, 0, &k.b);
    for (g = 0; g < k.b.n_groups; g++) {
        const int64_t begin = k.b.group_begin[g], end = k.b.group_begin[g + 1];
        for (i = begin; i < end; i++) k.b.reward[i] = (grpo_real)(kind == 0 ? rng_chance(r, 50) : kind == 1 ? rng_unit(r) : 0.5 + rng_bell(r) / 4096);
        if (end - begin > 1) { k.b.reward[begin] = (grpo_real)0.25; k.b.reward[begin + 1] = (grpo_real)0.75; }
    }
    for (g = 0; g < k.b.n_groups; g++) if (k.b.group_begin[g + 1] - k.b.group_begin[g] == 1) { rollouts_free(&k.b); return; }
    credit_beta(&k);
    compare(&k, "beta", trial);
    rollouts_free(&k.b);
}

/* ---- large groups ------------------------------------------------------------------------------------------------------------------- */

/* the responses of the only group in another order: from `first` on, then those before it.  The tokens stay where they are */
static void rotate_responses(const rollouts *b, int64_t first, rollouts *to) {
    const int64_t n = b->n_sequences;
    int64_t i;
    for (i = 0; i < n; i++) {
        const int64_t from = (i + first) % n;
        to->offset[i] = b->offset[from]; to->length[i] = b->length[from];
        to->reward[i] = b->reward[from]; to->truncated[i] = b->truncated[from];
    }
}

/* one that asks for R of any response at any time */
static void large_group_objective(int kind, grpo_objective *obj) {
    grpo_advantage *a = &obj->advantage;
    memset(obj, 0, sizeof *obj);
    obj->reward.length = GRPO_LENGTH_KIMI; obj->reward.length_coef = 0.5;
    obj->reward.kl = GRPO_KL_K2; obj->reward.kl_coef = 0.25;
    a->baseline = GRPO_BASELINE_GROUP_MEAN; a->scale = GRPO_SCALE_GROUP_STD; a->eps = 1e-6;
    if (kind == 1) {                                                /* acts where all R are the same */
        memset(&obj->reward, 0, sizeof obj->reward);
        a->entropy = GRPO_ENTROPY_ZERO_VARIANCE; a->entropy_coef = 0.1;
    }
    if (kind == 2) a->token_baseline = GRPO_TOKEN_BASELINE_OPTIMAL;
    if (kind == 3) { a->credit = GRPO_CREDIT_STEP_OWN; a->step_value = GRPO_STEP_VALUE_RESPONSE; }
    if (kind == 4) a->credit = GRPO_CREDIT_PREFIX_TREE;
    if (kind == 5) {
        a->credit = GRPO_CREDIT_ENTROPY_SHARE; a->share_coef = 0.5; a->share_eps = 0.01;
        a->baseline = GRPO_BASELINE_NONE; a->scale = GRPO_SCALE_NONE;
    }
}

/* R, and energies, of the first responses of a group are kept: a response is worth the same wherever it stands */
static void check_large_group(rng *r, int trial) {
    static const int64_t first[] = { 1, 100, 257 };
    enum { RESPONSES = 300 };
    const int kind = trial % 6;
    rollouts b, turned;
    grpo_objective obj;
    grpo_batch view;
    grpo_real *A, *B;
    int64_t i, size;
    int k;
    large_group_objective(kind, &obj);
    rollouts_alloc_groups(&b, 1, RESPONSES, 1);
    rollouts_alloc_groups(&turned, 1, RESPONSES, 1);
    b.group_begin[0] = turned.group_begin[0] = 0; b.group_begin[1] = turned.group_begin[1] = RESPONSES;
    for (i = 0; i < RESPONSES; i++) b.length[i] = 1 + rng_below(r, 3);
    rollouts_alloc_tokens(&b, rollouts_place(r, &b));
    rollouts_garble(r, &b);
    random_group(r, 0, &b, 0);
    for (i = 0; kind == 1 && i < RESPONSES; i++) b.reward[i] = 1;
    size = b.n_tokens;
    A = (grpo_real *)test_alloc(size, sizeof *A);
    B = (grpo_real *)test_alloc(size, sizeof *B);
    memset(A, 0, (size_t)size * sizeof *A);
    memset(B, 0, (size_t)size * sizeof *B);
    view = rollouts_view(&b);
    check(grpo_advantages(&obj, &view, A) == GRPO_OK, "trial %d: a large group is refused", trial);
    for (k = 0; k < 3; k++) {
        rotate_responses(&b, first[k], &turned);
        view.offset = turned.offset; view.length = turned.length; view.reward = turned.reward; view.truncated = turned.truncated;
        check(grpo_advantages(&obj, &view, B) == GRPO_OK, "trial %d: a large group in another order is refused", trial);
        check(memcmp(A, B, (size_t)size * sizeof *A) == 0, "trial %d, kind %d: the order of %d responses changes their advantages", trial, kind,
              (int)RESPONSES);
    }
    free(A); free(B);
    rollouts_free(&b);
    rollouts_free(&turned);
}

int main(void) {
    rng r = { 29 };
    int trial;
    for (trial = 0; trial < TRIALS; trial++) trial_steps(&r, trial);
    for (trial = 0; trial < TRIALS; trial++) trial_outcomes(&r, trial);
    for (trial = 0; trial < TRIALS; trial++) trial_returns(&r, trial);
    for (trial = 0; trial < 2 * TRIALS; trial++) trial_plain(&r, trial);
    for (trial = 0; trial < TRIALS; trial++) trial_shares(&r, trial);
    for (trial = 0; trial < TRIALS; trial++) trial_beta(&r, trial);
    for (trial = 0; trial < 12; trial++) check_large_group(&r, trial);
    printf("worst of %ld advantages %.2f ulps of size\n", compared, worst);
    return check_summary();
}
