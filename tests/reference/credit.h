/* Axis 2, the credit: the advantage of every token from rewards of the group, steps, a critic or a tree of prefixes. */
#ifndef REFERENCE_CREDIT_H
#define REFERENCE_CREDIT_H
#include "advantage.h"

/* ---- steps ------------------------------------------------------------------------------------------------------------------------ */

static void credit_steps(evaluation *k, int64_t g) {
    static items all, responses;
    const grpo_advantage *a = &k->obj.advantage;
    const int by_token = a->step_discount == GRPO_STEP_DISCOUNT_TOKENS;
    int64_t i, t;
    int x;
    find_items(k, g, 1, &all);
    find_items(k, g, 0, &responses);
    for (i = k->b.group_begin[g]; i < k->b.group_begin[g + 1]; i++) {
        number now = zero(), e = item_advantage(k, &responses, number_of(k->b.reward[i]));
        for (x = all.n - 1, t = k->b.offset[i] + k->b.length[i] - 1; t >= k->b.offset[i]; t--) {
            if (!is_active(&k->b, t)) continue;
            while (x >= 0 && (all.of[x].i != i || all.of[x].t > t)) x--;
            if (a->credit == GRPO_CREDIT_STEP && (by_token || is_step(&k->b, t))) now = times(now, by_token ? a->gamma : a->step_gamma);
            if (x >= 0 && all.of[x].t == t) now = plus(a->credit == GRPO_CREDIT_STEP ? now : zero(), step_advantage(k, &all, x));
            k->A[t] = a->credit == GRPO_CREDIT_EPISODE_STEP ? plus(e, times(now, a->step_coef)) : now;
        }
    }
}

/* ---- returns and critics ---------------------------------------------------------------------------------------------------------- */

/* kl_coef k of one token; it counts as one number */
static number reward_kl(const evaluation *k, int64_t t) {
    const reference_real d = (reference_real)k->b.token[TOKEN_OLD][t] - k->b.token[TOKEN_REF][t];
    return number_of(k->obj.reward.kl_coef * ref_estimator(k->obj.reward.kl, d));
}

/* delta of credit gae; with credit return, a at the last active token and 0 before */
static number gain_at(const evaluation *k, int64_t i, int64_t t, number a) {
    const grpo_advantage *o = &k->obj.advantage;
    const int64_t next = next_active(&k->b, i, t);
    const int repeat = o->bootstrap == GRPO_BOOTSTRAP_REPEAT && k->b.truncated[i];
    const reference_real V = k->b.token[TOKEN_VALUE][t];
    number x = next < 0 && !(repeat && o->credit == GRPO_CREDIT_GAE) ? a : zero();
    x = less(x, reward_kl(k, t));
    if (o->credit == GRPO_CREDIT_RETURN) return x;
    if (next < 0 && repeat) return plus(x, plus(times(number_of(V), o->gamma), number_of(-V)));
    return plus(plus(x, next < 0 ? zero() : times(number_of(k->b.token[TOKEN_VALUE][next]), o->gamma)), number_of(-V));
}

/* the advantage of the step that ends at token t, 0 if none does */
static number step_advantage_at(const evaluation *k, const items *steps, int64_t t) {
    int x;
    for (x = 0; x < steps->n; x++) if (steps->of[x].t == t) return step_advantage(k, steps, x);
    return zero();
}

static void credit_returns(evaluation *k, int64_t g) {
    static items all, steps;
    const grpo_advantage *a = &k->obj.advantage;
    const int by_step = a->credit == GRPO_CREDIT_STEP_GAE, critic = by_step || a->credit == GRPO_CREDIT_GAE;
    int64_t t, j, left;
    int x;
    find_items(k, g, 0, &all);
    if (by_step) find_items(k, g, 1, &steps);
    for (x = 0; x < all.n; x++) {
        const int64_t i = all.of[x].i, T = active_tokens_of(&k->b, i);
        const number own = by_step ? zero() : k->has_own ? k->own[i] : item_advantage(k, &all, all.of[x].R);
        reference_real lambda = critic ? a->lambda : 1, long_lambda = a->lambda_length * (reference_real)T;
        long_lambda = long_lambda > 1 ? 1 - 1 / long_lambda : 0;
        if (critic && a->lambda_length > 0 && long_lambda > lambda) lambda = long_lambda;
        for (left = T, t = k->b.offset[i]; t < k->b.offset[i] + k->b.length[i]; t++) {
            number sum = zero();
            reference_real discount = 1;
            if (!is_active(&k->b, t)) continue;
            for (j = t; j >= 0; j = next_active(&k->b, i, j)) {
                sum = plus(sum, times(gain_at(k, i, j, own), discount));
                if (by_step) sum = plus(sum, times(step_advantage_at(k, &steps, j), discount));
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

static void credit_tree(evaluation *k, int64_t g) {
    static items all;
    static int of[MOST_ITEMS];
    const grpo_advantage *a = &k->obj.advantage;
    int64_t position;
    int x, j, leaves;
    find_items(k, g, 0, &all);
    for (x = 0; x < all.n; x++) {
        const int64_t i = all.of[x].i, begin = k->b.offset[i];
        const number own = item_advantage(k, &all, all.of[x].R);
        const reference_real V = all.n == 1 ? 1 : variance_of(&all, a->std);
        const int of_group = a->baseline != GRPO_BASELINE_NONE || a->scale == GRPO_SCALE_GROUP_STD;
        const int pinned = all.n == 1 && a->singleton == GRPO_SINGLETON_ZERO && of_group;
        reference_real sigma = a->scale == GRPO_SCALE_CONSTANT ? a->scale_divisor : 1;
        if (a->scale == GRPO_SCALE_GROUP_STD) sigma = V == 0 ? (reference_real)HUGE_VAL : sigma_of(V, a->eps, a->eps_place);
        for (j = 0; j < all.n; j++) of[j] = 1;
        for (position = 0; position < k->b.length[i]; position++) {
            const int64_t t = begin + position;
            number before = mean_of(&all, of), after;
            for (leaves = 0, j = 0; j < all.n; j++) {
                const int64_t other = all.of[j].i, at = k->b.offset[other] + position;
                const int there = position < k->b.length[other] && is_active(&k->b, at) && is_active(&k->b, t);
                const int stays = there && k->b.token_id[at] == k->b.token_id[t];
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

/* PKPO reward of item x, by enumerating all subsets of k items as bit sets */
static number pkpo_reward(const evaluation *k, const items *all, int x) {
    const int size = (int)k->obj.advantage.pass_k, gain = k->obj.advantage.transform == GRPO_TRANSFORM_PKPO_GAIN;
    number sum = zero(), elsewhere = zero();
    reference_real count = 0, apart = 0;
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
        if (!(set >> x & 1)) {
            elsewhere = plus(elsewhere, with);
            apart++;
            continue;
        }
        if (size == 1) without = zero();
        sum = plus(sum, gain ? less(with, without) : with);
    }
    sum = times(sum, 1 / count);
    if (k->obj.advantage.transform != GRPO_TRANSFORM_PKPO_LOO || apart == 0) return sum;
    return less(sum, times(elsewhere, size / (apart * (reference_real)(all->n - 1))));
}

/* own times (1 - mu)^focal_gamma, mu the mean of the rewards before the transform, scaled to [0, 1] */
static number focal_weighted(const grpo_advantage *a, const items *all, number own) {
    const reference_real span = (reference_real)a->focal_reward_high - a->focal_reward_low;
    reference_real mean = 0, size = 0, rest, w = 1, more = 1;
    int j;
    for (j = 0; j < all->n; j++) { mean += all->of[j].R.v / all->n; size += all->of[j].R.s / all->n; }
    rest = 1 - (mean - a->focal_reward_low) / span;
    if (a->focal_gamma == 0 || rest >= 1) return own;
    if (rest <= 0x1p-90 * (1 + size / span)) return zero();
    w = ref_exp(a->focal_gamma * ref_ln(rest));
    more = 1 + a->focal_gamma * (size + ref_abs((reference_real)a->focal_reward_low)) / span / rest;
    own.v *= w;
    own.s *= w * more;
    return own;
}

/* the advantage of a response that is excluded from the pool */
static number excluded_advantage(const evaluation *k, const items *pool, number R) {
    const grpo_advantage *a = &k->obj.advantage;
    number best = { -HUGE_VAL, 0 }, own;
    int j;
    if (pool->n == 0 || a->excluded == GRPO_EXCLUDED_ZERO) return zero();
    if (a->excluded == GRPO_EXCLUDED_OWN) return advantage_against(k, pool, R, 1);
    for (j = 0; j < pool->n; j++) {
        own = item_advantage(k, pool, pool->of[j].R);
        if (own.v > best.v) best.v = own.v;
        if (own.s > best.s) best.s = own.s;
    }
    return times(best, a->excluded_coef);
}

static void credit_with_excluded(evaluation *k, int64_t g) {
    static items all, pool;
    int64_t t;
    int x;
    find_items(k, g, 0, &all);
    for (pool.n = 0, x = 0; x < all.n; x++) if (!k->b.outside[all.of[x].i]) pool.of[pool.n++] = all.of[x];
    for (x = 0; x < all.n; x++) {
        const int64_t i = all.of[x].i;
        const number own = k->b.outside[i] ? excluded_advantage(k, &pool, all.of[x].R) : item_advantage(k, &pool, all.of[x].R);
        for (t = k->b.offset[i]; t < k->b.offset[i] + k->b.length[i]; t++) if (is_active(&k->b, t)) k->A[t] = own;
    }
}

static void credit_outcomes(evaluation *k, int64_t g) {
    static items all, pool;
    const grpo_advantage *a = &k->obj.advantage;
    int64_t t;
    int x;
    find_items(k, g, 0, &all);
    pool = all;
    for (x = 0; x < all.n && a->transform != GRPO_TRANSFORM_NONE; x++) pool.of[x].R = pkpo_reward(k, &all, x);
    for (x = 0; x < all.n; x++) {
        const int64_t i = all.of[x].i;
        number own = item_advantage(k, &pool, pool.of[x].R);
        if (a->reweight == GRPO_REWEIGHT_EXPONENTIAL) {
            const reference_real e = ref_exp(own.v / a->reweight_temperature);
            own.v *= e;
            own.s *= e * (1 + own.s / ref_abs(a->reweight_temperature));
        }
        if (a->reweight == GRPO_REWEIGHT_FOCAL) own = focal_weighted(a, &all, own);
        for (t = k->b.offset[i]; t < k->b.offset[i] + k->b.length[i]; t++) if (is_active(&k->b, t)) k->A[t] = own;
    }
}

/* ---- scale beta ------------------------------------------------------------------------------------------------------------------- */

/* A = (R - p) min(1/f, 1e6), p the mean of the group and f the density at p; for rewards in [0, 1] with p in (0, 1) in every group */
static void credit_beta(evaluation *k) {
    items means;
    number p = zero();
    reference_real V, m, log_f, factor;
    int64_t g, i, t;
    means.n = 0;
    for (g = 0; g < k->b.n_groups; g++) {
        const int64_t begin = k->b.group_begin[g], end = k->b.group_begin[g + 1];
        for (p = zero(), i = begin; i < end; i++) p = plus(p, number_of((reference_real)k->b.reward[i] / (reference_real)(end - begin)));
        means.of[means.n].R = p;
        means.of[means.n].times = 1;
        means.n++;
    }
    for (p = zero(), g = 0; g < means.n; g++) p = plus(p, times(means.of[g].R, 1 / (reference_real)means.n));
    V = variance_of(&means, GRPO_STD_SAMPLE);
    m = V > 0 && p.v * (1 - p.v) > V ? p.v * (1 - p.v) / V - 1 : 0;
    for (g = 0; g < k->b.n_groups; g++) for (i = k->b.group_begin[g]; i < k->b.group_begin[g + 1]; i++) {
        log_f = means.n == 1 ? 0 : V == 0 ? HUGE_VAL : ref_log_beta(p.v, m / 3, means.of[g].R.v);
        factor = log_f == HUGE_VAL ? 0 : ref_exp(-log_f);
        if (factor > 1e6) { factor = 1e6; log_f = ref_ln(1e6); }
        for (t = k->b.offset[i]; t < k->b.offset[i] + k->b.length[i]; t++) {
            if (!is_active(&k->b, t)) continue;
            k->A[t] = V == 0 && means.n > 1 ? zero() : times(less(number_of(k->b.reward[i]), means.of[g].R), factor);
            k->A[t].s *= 1 + ref_abs(log_f);
        }
    }
}

static number share_reward(const evaluation *k, int64_t g, int64_t i, int64_t t) {
    const grpo_advantage *a = &k->obj.advantage;
    const int64_t position = t - k->b.offset[i];
    const int win = k->b.reward[i] > 0;
    reference_real sum = 0, n = 0, own = k->b.token[TOKEN_ENTROPY][t], H;
    int64_t j;
    for (j = k->b.group_begin[g]; j < k->b.group_begin[g + 1]; j++) {
        if (!active_at(&k->b, j, position) || (k->b.reward[j] > 0) != win) continue;
        H = k->b.token[TOKEN_ENTROPY][k->b.offset[j] + position];
        sum += win ? H : 1 / (H + a->entropy_share_eps);
        n++;
    }
    if (win) return plus(number_of(k->b.reward[i]), number_of(sum == 0 ? 0 : a->entropy_share_coef * own * n / sum));
    return plus(number_of(-1), number_of(-a->entropy_share_coef * n / (own + a->entropy_share_eps) / sum));
}

static void credit_shares(evaluation *k, int64_t g) {
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
#endif
