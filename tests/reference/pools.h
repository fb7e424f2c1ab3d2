/* Axis 1, and the baselines and scales of axis 2 that compare a response with its group or the batch, as vectors/objective/ defines them,
 * in binary128: the rest of what reference/advantage.h has for the choices that steps share. */
#ifndef REFERENCE_POOLS_H
#define REFERENCE_POOLS_H
#include "credit.h"

/* ---- axis 1 ----------------------------------------------------------------------------------------------------------------------- */

/* 1 + cos(pi x) for 0 <= x <= 1: 2 sin^2(pi (1 - x)/2) by the series of the sine */
static reference_real one_plus_cos_pi(reference_real x) {
    const reference_real pi = (reference_real)3.141592653589793116 + 1.2246467991473532e-16 - 2.9947698097183397e-33;
    const reference_real y = pi * (1 - x) / 2;
    reference_real term = y, sum = y;
    int k;
    for (k = 1; k < 20; k++) sum += term *= -y * y / ((2 * k) * (2 * k + 1));
    return 2 * sum * sum;
}

static number length_reward(const grpo_reward *o, number r, int right, double T, double shortest, double longest) {
    const reference_real low = right ? o->correct_low : o->wrong_high, high = right ? o->correct_high : o->wrong_low;
    reference_real x, lambda;
    switch (o->length) {
    case GRPO_LENGTH_KIMI:
        if (shortest == longest) return r;
        lambda = (reference_real)1 / 2 - ((reference_real)T - shortest) / ((reference_real)longest - shortest);
        r.s += ref_abs(o->length_coef * lambda);
        r.v += o->length_coef * (right || lambda < 0 ? lambda : 0);
        return r;
    case GRPO_LENGTH_COSINE:
        x = T < o->length_max ? (reference_real)T / o->length_max : 1;
        r.v = low + (high - low) / 2 * one_plus_cos_pi(x);
        r.s = ref_abs(low) + ref_abs(high - low);
        return r;
    case GRPO_LENGTH_INVERSE: return T > 0 ? times(r, 1 / (reference_real)T) : zero();
    default:                  return r;
    }
}

static number overlong_penalty(const grpo_reward *o, double T) {
    const reference_real start = (reference_real)o->overlong_max - o->overlong_cache, f = o->overlong_factor;
    const reference_real x = f * (start - T) / o->overlong_cache;
    if (o->overlong == GRPO_OVERLONG_NONE || T <= start) return zero();
    return number_of(o->overlong == GRPO_OVERLONG_SOFT && T > o->overlong_max ? -f : x);
}

static number reward_of(const evaluation *k, int64_t g, int64_t i) {
    const grpo_reward *o = &k->obj.reward;
    double shortest = (double)k->b.length[i], longest = shortest;
    number r = number_of(k->b.reward[i]);
    int64_t j, t;
    for (j = k->b.group_begin[g]; j < k->b.group_begin[g + 1]; j++) {
        if ((double)k->b.length[j] < shortest) shortest = (double)k->b.length[j];
        if ((double)k->b.length[j] > longest) longest = (double)k->b.length[j];
    }
    if (o->truncated == GRPO_REWARD_TRUNCATED_SCALE && k->b.truncated[i]) r = times(r, o->truncated_factor);
    r = length_reward(o, r, k->b.reward[i] > 0, (double)k->b.length[i], shortest, longest);
    r = plus(r, overlong_penalty(o, (double)k->b.length[i]));
    if (o->map == GRPO_MAP_AFFINE) {
        r = times(plus(r, number_of(o->map_bias)), o->map_factor);
        if (o->map_low != 0 || o->map_high != 0) r.v = r.v < o->map_low ? o->map_low : r.v > o->map_high ? o->map_high : r.v;
        r.s = r.s > ref_abs(r.v) ? r.s : ref_abs(r.v);
    }
    if (k->obj.advantage.credit != GRPO_CREDIT_OUTCOME) return r;
    for (t = k->b.offset[i]; t < k->b.offset[i] + k->b.length[i]; t++) if (is_active(&k->b, t)) r = less(r, reward_kl(k, t));
    return r;
}

/* ---- statistics ------------------------------------------------------------------------------------------------------------------- */

static int all_same(const number *x, int n) {
    int j;
    for (j = 1; j < n; j++) if (!same_number(x[j], x[0])) return 0;
    return 1;
}

static number mean_of_numbers(const number *x, int n) {
    number sum = zero();
    int j;
    for (j = 0; j < n; j++) sum = plus(sum, x[j]);
    return n ? times(sum, 1 / (reference_real)n) : zero();
}

/* 0 where there are fewer than two, or all are the same */
static reference_real variance_of_numbers(const number *x, int n, grpo_std_kind kind) {
    const reference_real mean = mean_of_numbers(x, n).v;
    reference_real squares = 0;
    int j;
    for (j = 0; j < n; j++) squares += (x[j].v - mean) * (x[j].v - mean);
    return n < 2 || all_same(x, n) ? 0 : squares / (kind == GRPO_STD_SAMPLE ? n - 1 : n);
}

static reference_real largest_size(const number *x, int n) {
    reference_real most = 0;
    int j;
    for (j = 0; j < n; j++) if (x[j].s > most) most = x[j].s;
    return most;
}

static void sort_numbers(number *x, int n) {
    int j, m;
    for (j = 1; j < n; j++) {
        const number y = x[j];
        for (m = j; m > 0 && x[m - 1].v > y.v; m--) x[m] = x[m - 1];
        x[m] = y;
    }
}

/* ---- baselines -------------------------------------------------------------------------------------------------------------------- */

static reference_real quantile_of(const number *sorted, int n, double q) {
    int j = 0;
    while (j < n - 1 && (double)(j + 1) / n < q) j++;
    return sorted[j].v;
}

static reference_real linear_quantile_of(const number *sorted, int n, double q) {
    const reference_real h = (reference_real)q * (n - 1);
    int below = (int)(double)h;
    if (below > h) below--;                                            /* where q (n - 1) was rounded up to a whole number */
    return sorted[below].v + (below < n - 1 ? (h - below) * (sorted[below + 1].v - sorted[below].v) : 0);
}

static reference_real densest_median(const number *sorted, int n, double mass) {
    const double wanted = ceil(mass * n);
    const int m = wanted < 1 ? 1 : wanted > n ? n : (int)wanted;
    int j, at = 0;
    for (j = 1; j + m <= n; j++) {
        const reference_real change = (sorted[j + m - 1].v - sorted[j].v) - (sorted[at + m - 1].v - sorted[at].v);
        hangs_on_rounding |= change != 0 && ref_abs(change) <= 0x1p-90 * sorted[j + m - 1].s;
        if (change < 0) at = j;
    }
    return (sorted[at + (m - 1) / 2].v + sorted[at + m / 2].v) / 2;
}

static reference_real log_mean_exp_of(const number *x, int n, reference_real tau) {
    static reference_real scaled[MOST_ITEMS];
    int j;
    for (j = 0; j < n; j++) scaled[j] = x[j].v / tau;
    return all_same(x, n) ? x[0].v : tau * ref_log_mean_exp(scaled, n, 1);
}

/* x and P of the filter after item `last` */
static reference_real kalman_of(const grpo_advantage *a, const number *x, int last, reference_real *P) {
    reference_real at = 0, rest;                                       /* 1 - K, without a difference */
    int j;
    for (*P = 1, j = 0; j <= last; j++) {
        *P += a->process_noise;
        rest = a->observation_noise / (*P + a->observation_noise);
        at = x[j].v - rest * (x[j].v - at);
        *P *= rest;
    }
    return at;
}

/* x: the R of group g, whole: those of the batch */
typedef struct { const evaluation *k; int64_t g, begin; int n, all; const number *x, *whole; } pool;

static int has_tokens(const pool *p) {
    int j;
    for (j = 0; j < p->n; j++) if (active_tokens_of(&p->k->b, p->begin + j)) return 1;
    return 0;
}

static number weighted_mean(const pool *p) {
    number sum = zero();
    reference_real T = 0;
    int j;
    for (j = 0; j < p->n; j++) {
        const reference_real own = (reference_real)active_tokens_of(&p->k->b, p->begin + j);
        sum = plus(sum, times(p->x[j], own));
        T += own;
    }
    return T > 0 ? times(sum, 1 / T) : zero();
}

static number baseline_of(const pool *p, int at) {
    const grpo_advantage *a = &p->k->obj.advantage;
    number sorted[MOST_ITEMS], b = zero();
    reference_real P;
    memcpy(sorted, p->x, (size_t)p->n * sizeof *sorted);
    sort_numbers(sorted, p->n);
    b.s = largest_size(sorted, p->n);
    switch (a->baseline) {
    case GRPO_BASELINE_GROUP_MEAN:      return mean_of_numbers(p->x, p->n);
    case GRPO_BASELINE_LEAVE_ONE_OUT:
        sorted[0] = p->x[at];
        b = mean_of_numbers(p->x, p->n);
        b.v = (b.v * p->n - sorted[0].v) / (p->n - 1);
        b.s = (b.s * p->n - sorted[0].s) / (p->n - 1);
        return b;
    case GRPO_BASELINE_LENGTH_WEIGHTED: return weighted_mean(p);
    case GRPO_BASELINE_EXTERNAL:        return number_of(p->k->b.baseline[p->g]);
    case GRPO_BASELINE_BATCH_MEAN:      return mean_of_numbers(p->whole, p->all);
    case GRPO_BASELINE_QUANTILE:        b.v = quantile_of(sorted, p->n, a->quantile); return b;
    case GRPO_BASELINE_QUANTILE_LINEAR: b.v = linear_quantile_of(sorted, p->n, a->quantile); return b;
    case GRPO_BASELINE_HDI_MEDIAN:      b.v = densest_median(sorted, p->n, a->hdi_mass); return b;
    case GRPO_BASELINE_KALMAN:          b.v = kalman_of(a, p->x, at, &P); return b;
    case GRPO_BASELINE_LOG_MEAN_EXP:
        b.v = log_mean_exp_of(p->x, p->n, a->temperature);
        b.s += a->temperature * ref_ln(p->n);
        return b;
    default:                            return zero();
    }
}

static int baseline_is_of_group(grpo_baseline_kind b) {
    return b != GRPO_BASELINE_NONE && b != GRPO_BASELINE_EXTERNAL && b != GRPO_BASELINE_BATCH_MEAN && b != GRPO_BASELINE_KALMAN;
}

/* R - b of item `at`; narrow: it counts as one number, but with log_mean_exp, whose logarithm is rounded, as two from the largest R */
static number centre_of(const pool *p, int at) {
    const grpo_advantage *a = &p->k->obj.advantage;
    const int alone = p->n == 1 && baseline_is_of_group(a->baseline);
    const int flat = !alone && all_same(p->x, p->n) && baseline_is_of_group(a->baseline)
                     && (a->baseline != GRPO_BASELINE_LENGTH_WEIGHTED || has_tokens(p));
    const number b = alone ? zero() : baseline_of(p, at);
    number c = less(p->x[at], plus(b, number_of(a->baseline_shift)));
    if (flat) c.v = -(reference_real)a->baseline_shift;
    if (!p->k->narrow) return c;
    c = narrowed(&p->k->obj, c);
    if (a->baseline == GRPO_BASELINE_LOG_MEAN_EXP) {
        number sorted[MOST_ITEMS];
        memcpy(sorted, p->x, (size_t)p->n * sizeof *sorted);
        sort_numbers(sorted, p->n);
        c.s += ref_abs(sorted[p->n - 1].v - b.v);
    }
    return c;
}

/* ---- scales ----------------------------------------------------------------------------------------------------------------------- */

static reference_real residual_square(const pool *p) {
    const int n = p->n - (p->k->obj.advantage.std == GRPO_STD_SAMPLE);
    reference_real sum = 0;
    int j;
    for (j = 0; j < p->n; j++) sum += centre_of(p, j).v * centre_of(p, j).v;
    return n > 0 ? sum / n : 0;
}

static reference_real variance_of_others(const pool *p, int at) {
    number others[MOST_ITEMS];
    int j, n = 0;
    for (j = 0; j < p->n; j++) if (j != at) others[n++] = p->x[j];
    return variance_of_numbers(others, n, p->k->obj.advantage.std);
}

/* the divisor of R - b; 0: a = 0.  centres: variance of all R - b */
static reference_real divisor_of(const pool *p, int at, reference_real centres) {
    const grpo_advantage *a = &p->k->obj.advantage;
    reference_real V = 0, x;
    int j;
    switch (a->scale) {
    case GRPO_SCALE_GROUP_STD:         V = p->n == 1 ? 1 : variance_of_numbers(p->x, p->n, a->std); break;
    case GRPO_SCALE_RESIDUAL_RMS:      V = p->n == 1 ? 1 : residual_square(p); break;
    case GRPO_SCALE_BATCH_STD:         V = variance_of_numbers(p->whole, p->all, a->std); break;
    case GRPO_SCALE_BATCH_CENTRED_STD: V = centres; break;
    case GRPO_SCALE_KALMAN_STD:        kalman_of(a, p->x, at, &V); break;
    case GRPO_SCALE_CONSTANT:          return a->scale_divisor;
    case GRPO_SCALE_LEAVE_ONE_OUT_STD:
        V = variance_of_others(p, at);
        if (V == 0) return 1;
        break;
    case GRPO_SCALE_GROUP_MEAN:
        x = mean_of_numbers(p->x, p->n).v;
        return x > 0x1p-90 * largest_size(p->x, p->n) ? x + a->eps : 0;
    case GRPO_SCALE_MEAN_ABSOLUTE_DEVIATION:
        if (p->n == 1) return 1;
        if (all_same(p->x, p->n)) return 0;
        for (x = a->eps, j = 0; j < p->n; j++) x += ref_abs(p->x[j].v - mean_of_numbers(p->x, p->n).v);
        return x / p->n;
    default:                           return 1;
    }
    return V == 0 ? 0 : sigma_of(V, a->eps, a->eps_place);
}

static int is_zero_singleton(const pool *p) {
    const grpo_advantage *a = &p->k->obj.advantage;
    const int of_group = a->scale == GRPO_SCALE_GROUP_STD || a->scale == GRPO_SCALE_GROUP_MEAN || a->scale == GRPO_SCALE_RESIDUAL_RMS
                         || a->scale == GRPO_SCALE_MEAN_ABSOLUTE_DEVIATION;
    return p->n == 1 && a->singleton == GRPO_SINGLETON_ZERO && (of_group || baseline_is_of_group(a->baseline));
}

/* ---- advantages ------------------------------------------------------------------------------------------------------------------- */

static pool pool_of(const evaluation *k, int64_t g, const number *whole) {
    pool p = { 0, 0, 0, 0, 0, 0, 0 };
    p.k = k; p.g = g; p.begin = k->b.group_begin[g];
    p.n = (int)(k->b.group_begin[g + 1] - p.begin);
    p.all = (int)k->b.n_sequences;
    p.whole = whole; p.x = whole + p.begin;
    return p;
}

/* a of every response from its R */
static void pool_advantages(const evaluation *k, const number *R, number *a) {
    reference_real V;
    int64_t g;
    int j;
    for (g = 0; g < k->b.n_groups; g++) {
        const pool p = pool_of(k, g, R);
        for (j = 0; j < p.n; j++) a[p.begin + j] = is_zero_singleton(&p) && baseline_is_of_group(k->obj.advantage.baseline) ? zero()
            : centre_of(&p, j);
    }
    V = variance_of_numbers(a, (int)k->b.n_sequences, k->obj.advantage.std);
    for (g = 0; g < k->b.n_groups; g++) {
        const pool p = pool_of(k, g, R);
        for (j = 0; j < p.n; j++) {
            const reference_real by = is_zero_singleton(&p) ? 0 : divisor_of(&p, j, V);
            a[p.begin + j] = by == 0 ? zero() : times(a[p.begin + j], 1 / by);
        }
    }
}

static reference_real sigma_of_items(const evaluation *k, reference_real V) { return ref_sqrt(V) + k->obj.advantage.batch_norm_eps; }

/* the advantages of responses, in k->own, and those of their tokens with credit outcome, return or gae */
static void credit_pools(evaluation *k) {
    static number R[MOST_ITEMS], part[MOST_ITEMS];
    number *at[MOST_ITEMS];
    int64_t g, i, t, c;
    const grpo_advantage *o = &k->obj.advantage;
    k->has_own = 1;
    for (i = 0; i < k->b.n_sequences; i++) { k->own[i] = zero(); at[i] = &k->own[i]; }
    for (c = 0; c < (o->rewards == GRPO_REWARDS_EACH ? k->b.n_rewards : 1); c++) {
        for (g = 0; g < k->b.n_groups; g++) for (i = k->b.group_begin[g]; i < k->b.group_begin[g + 1]; i++)
            R[i] = o->rewards == GRPO_REWARDS_EACH ? number_of(k->b.rewards[i * k->b.n_rewards + c]) : reward_of(k, g, i);
        pool_advantages(k, R, part);
        for (i = 0; i < k->b.n_sequences; i++)
            k->own[i] = plus(k->own[i], times(part[i], o->rewards == GRPO_REWARDS_EACH ? k->b.reward_weight[c] : 1));
    }
    if (o->batch_norm == GRPO_BATCH_NORM_ITEMS) normalise(k, at, (int)k->b.n_sequences, sigma_of_items);
    for (g = 0; g < k->b.n_groups; g++) if (o->credit != GRPO_CREDIT_OUTCOME) credit_returns(k, g);
    for (i = 0; o->credit == GRPO_CREDIT_OUTCOME && i < k->b.n_sequences; i++)
        for (t = k->b.offset[i]; t < k->b.offset[i] + k->b.length[i]; t++) if (is_active(&k->b, t)) k->A[t] = k->own[i];
}
#endif
