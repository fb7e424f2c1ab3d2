/* Axis 4: the surrogates of a group.
 *
 * Formulas as written, with a sum over all responses of the group for each of them.  Sizes are as in vectors/scale.md. */
#ifndef REFERENCE_GROUP_H
#define REFERENCE_GROUP_H
#include "surrogate.h"

/* log-ratio y_i of a response, clamped; with ratio.gradient token it changes with each of its tokens */
static inline reference_real ref_score_of(reference *ref, const reference_real *l, int64_t i) {
    const grpo_ratio_axis *a = &ref->obj->ratio;
    const int64_t first = ref_first_active(ref, i);
    reference_real y = ref_unit_log_ratio(ref, l, i, first);
    int64_t t;
    if (a->gradient == GRPO_GRADIENT_TOKEN) {
        y = ref->unit_fixed[first];
        for (t = ref->b->offset[i]; t < ref->b->offset[i] + ref->b->length[i]; t++)
            if (ref->active[t]) y += ref_token_log_ratio(ref, l, t) - ref_token_log_ratio(ref, ref->fixed, t);
    }
    return ref_clamp(ref, y, a->level_clamp_low, a->level_clamp_high);
}

/* log-probability of a response under the old policy, for surrogate tilted_cross_entropy */
static inline reference_real ref_old_score(reference *ref, int64_t i) {
    reference_real sum = 0;
    int64_t t;
    for (t = ref->b->offset[i]; t < ref_end(ref, i); t++) if (ref->active[t]) sum += ref_log(ref, ref->b->token[TOKEN_OLD][t]);
    return ref->obj->ratio.level == GRPO_LEVEL_SEQUENCE_MEAN ? sum / (reference_real)ref->count[i] : sum;
}

enum { REFERENCE_MOST = 64 };
/* the responses of a group that have active tokens; y: scores s, size: of the scores, rate: the largest size of ds/dy */
typedef struct {
    int n;
    int64_t sequence[REFERENCE_MOST];
    reference_real y[REFERENCE_MOST], A[REFERENCE_MOST], T[REFERENCE_MOST], size[REFERENCE_MOST], rate, log_partition;
    reference_real still[REFERENCE_MOST], old[REFERENCE_MOST];          /* score inside a stop-gradient, under logp_old */
} ref_group;

/* the value F of a response, its size (vectors/scale.md), and the sum of the sizes of its derivatives by all y */
typedef struct { reference_real value, size, slope; } ref_worth;

static inline ref_worth ref_variance_of(const reference *ref, const ref_group *g, int i) {
    const reference_real k = ref->obj->surrogate.beta, n = g->n;
    reference_real mean = 0, size = 0, e, most;
    ref_worth w = { 0, 0, 0 };
    int j;
    if (g->n < 2) return w;
    for (j = 0; j < g->n; j++) { mean += g->y[j] / n; size += g->size[j] / n; }
    e = k * (g->y[i] - mean) - g->A[i];
    most = ref_abs(k) * (g->size[i] + size) + ref_abs(g->A[i]);
    w.value = e * e / (2 * (n - 1));
    w.size = most * most / (2 * (n - 1));
    w.slope = 2 * ref_abs(k) * most / (n - 1);
    return w;
}

static inline ref_worth ref_labels_of(const reference *ref, const ref_group *g, int i) {
    const int up = g->A[i] > 0;
    const reference_real tau = up ? ref->obj->surrogate.tau_pos : ref->obj->surrogate.tau_neg;
    reference_real z[REFERENCE_MOST], top = 0, sum, n = 0, largest = 0;
    ref_worth w = { 0, 0, 0 };
    int j, alike = 0;
    for (j = 0; j < g->n; j++) alike += (g->A[j] > 0) == up;
    if (alike == g->n) return w;
    for (j = 0; j < g->n; j++) {
        if ((g->A[j] > 0) != up) continue;
        z[j] = (up ? -g->y[j] : g->y[j]) / tau;
        if (z[j] > top) top = z[j];
        if (g->size[j] / tau > largest) largest = g->size[j] / tau;
        n = n + 1;
    }
    for (sum = ref_exp(-top), j = 0; j < g->n; j++) if ((g->A[j] > 0) == up) sum += ref_exp(z[j] - top);
    for (j = 0; j < g->n; j++) if ((g->A[j] > 0) == up) {
        const reference_real p = ref_exp(z[j] - top) / sum;
        w.size += p * g->size[j] / tau / n;
        w.slope += p / tau / n * (1 + largest);
    }
    w.value = (top + ref_ln(sum)) / n;
    if (top == 0) for (w.value = 0, sum = 0, j = 0; j < g->n; j++) if ((g->A[j] > 0) == up) sum += ref_exp(z[j]);
    if (top == 0) w.value = ref_ln1p(sum) / n;
    w.size += w.value;
    return w;
}

static inline ref_worth ref_balance_of(const reference *ref, const ref_group *g, int i) {
    const reference_real k = ref->obj->surrogate.reward_beta, e = g->log_partition + g->y[i] - k * g->A[i];
    const reference_real most = ref_abs(g->log_partition) + g->size[i] + ref_abs(k * g->A[i]);
    ref_worth w;
    w.value = e * e;
    w.size = most * most;
    w.slope = 2 * most;
    return w;
}

static inline ref_worth ref_pairs_of(const reference *ref, const ref_group *g, int i) {
    const reference_real k = ref->obj->surrogate.beta, margin = ref->obj->surrogate.min_gap;
    reference_real pairs = 0;
    ref_worth w = { 0, 0, 0 };
    int a, b;
    for (a = 0; a < g->n; a++) for (b = 0; b < g->n; b++) if (ref_leads(g->A[a], g->A[b], margin)) pairs = pairs + 1;
    for (b = 0; b < g->n; b++) {
        const reference_real x = k * (g->y[i] - g->y[b]);
        if (!ref_leads(g->A[i], g->A[b], margin)) continue;
        w.value += ref_log_one_plus_exp(-x) / pairs;
        w.size += (ref_log_one_plus_exp(-x) + ref_abs(k) * ref_sigmoid(-x) * (g->size[i] + g->size[b])) / pairs;
        w.slope += 2 * ref_abs(k) * ref_sigmoid(-x) / pairs * (1 + ref_abs(k) * (g->size[i] + g->size[b]));
    }
    return w;
}

/* old o_j + A_j/tau less that of i; differences first: A may be so large that o does not show beside it */
static inline reference_real ref_tilt_above(const ref_group *g, int j, int i, reference_real old, reference_real tau) {
    return old * (g->old[j] - g->old[i]) + (g->A[j] - g->A[i]) / tau;
}

/* cross-entropy to the softmax of A/tau; with tilted_cross_entropy to the softmax of beta times the old score + A/tau */
static inline ref_worth ref_contrast_of(const reference *ref, const ref_group *g, int i) {
    const reference_real k = ref->obj->surrogate.beta, tau = ref->obj->surrogate.advantage_temperature;
    const reference_real old = ref->obj->surrogate.kind == GRPO_SURROGATE_TILTED_CROSS_ENTROPY ? k : 0;
    reference_real high = k * g->y[0], weights = 0, sum = 0, p, largest = 0;
    ref_worth w = { 0, 0, 0 };
    int j, top = 0;
    for (j = 0; j < g->n; j++) {
        if (ref_tilt_above(g, j, top, old, tau) > 0) top = j;
        if (k * g->y[j] > high) high = k * g->y[j];
        if (g->size[j] > largest) largest = g->size[j];
        if (old != 0 && ref_abs(g->old[j]) > largest) largest = ref_abs(g->old[j]);
    }
    for (j = 0; j < g->n; j++) { weights += ref_exp(ref_tilt_above(g, j, top, old, tau)); sum += ref_exp(k * g->y[j] - high); }
    p = ref_exp(ref_tilt_above(g, i, top, old, tau)) / weights;
    w.value = p * (ref_ln(sum) - (k * g->y[i] - high));
    w.slope = 2 * p * ref_abs(k) * (1 + ref_abs(k) * largest);
    w.size = ref_abs(w.value) + 2 * p * ref_abs(k) * largest;
    return w;
}

/* (A - beta z)^2, z the z-score with mean and deviation inside a stop-gradient; not judged where the deviation may be rounding alone */
static inline ref_worth ref_standardised_of(reference *ref, const ref_group *g, int i) {
    const reference_real k = ref->obj->surrogate.beta, n = g->n;
    reference_real mean = 0, size = 0, V = 0, s = 1, e, most;
    ref_worth w = { 0, 0, 0 };
    int j, same = 1;
    for (j = 0; j < g->n; j++) { mean += g->still[j] / n; size += g->size[j] / n; }
    for (j = 0; j < g->n; j++) {
        V += (g->still[j] - mean) * (g->still[j] - mean) / (n - 1);
        same &= g->still[j] == g->still[0];
    }
    if (g->n > 1) s = (same ? 0 : ref_sqrt(V)) + ref->obj->surrogate.group_score_eps;
    if (g->n > 1 && !same && s < 0x1p-40 * size) ref->beyond = 1;
    if (s == 0) { w.value = w.size = g->A[i] * g->A[i]; return w; }
    e = g->A[i] - k * (g->y[i] - (g->n > 1 ? mean : g->still[i])) / s;
    most = ref_abs(g->A[i]) + ref_abs(k) * (g->size[i] + size) / s;
    w.value = e * e;
    w.size = ref_note(ref, most * most);
    w.slope = 2 * ref_abs(k) / s * (most + 0x1p-31 * ref_abs(k) / s);
    return w;
}

/* the same without a stop-gradient */
static inline ref_worth ref_regression_of(reference *ref, const ref_group *g, int i) {
    const reference_real k = ref->obj->surrogate.beta, n = g->n;
    reference_real mean = 0, size = 0, V = 0, s, D, e, most, all = 0;
    ref_worth w = { 0, 0, 0 };
    int j, same = 1;
    for (j = 0; j < g->n; j++) { mean += g->y[j] / n; size += g->size[j] / n; }
    for (j = 0; j < g->n; j++) {
        V += (g->y[j] - mean) * (g->y[j] - mean);
        all += g->size[j] + size;
        same &= g->y[j] == g->y[0];
    }
    s = ref_decide(ref, same) ? 0 : ref_sqrt(V / (n - 1));
    D = s + ref->obj->surrogate.group_score_eps;
    if (!same && s < 0x1p-40 * size) ref->beyond = 1;
    if (g->n == 1 || D == 0) { w.value = w.size = g->A[i] * g->A[i]; return w; }
    e = g->A[i] - k * (g->y[i] - mean) / D;
    most = ref_abs(g->A[i]) + ref_abs(k) * (g->size[i] + size) / D;
    w.value = e * e;
    w.size = ref_note(ref, most * most);
    w.slope = 2 * ref_abs(k) / D * (most + 0x1p-31 * ref_abs(k) / D) * (2 + (same ? 0 : (g->size[i] + size) * all / (D * (n - 1) * s)));
    return w;
}

static inline ref_worth ref_hinge_of(reference *ref, const ref_group *g, int i) {
    const grpo_surrogate *s = &ref->obj->surrogate;
    const reference_real k = s->beta;
    reference_real pairs = 0, x;
    ref_worth w = { 0, 0, 0 };
    int a, b;
    for (a = 0; a < g->n; a++) for (b = 0; b < g->n; b++) if (ref_leads(g->A[a], g->A[b], s->min_gap)) pairs = pairs + 1;
    for (b = 0; b < g->n; b++) {
        if (!ref_leads(g->A[i], g->A[b], s->min_gap)) continue;
        x = s->hinge_margin - k * (g->y[i] - g->y[b]);
        w.size += (ref_abs((reference_real)s->hinge_margin) + ref_abs(k) * (g->size[i] + g->size[b])) / pairs;
        if (!ref_exceeds(ref, x, 0)) continue;
        w.value += x / pairs;
        w.slope += 2 * ref_abs(k) / pairs;
    }
    return w;
}

static inline reference_real ref_largest_size(const ref_group *g) {
    reference_real largest = 0;
    int j;
    for (j = 0; j < g->n; j++) if (g->size[j] > largest) largest = g->size[j];
    return largest;
}

/* softmax of z at i, over those of the n numbers whose `of` is set */
static inline reference_real ref_share(const reference_real *z, const int *of, int n, int i) {
    reference_real sum = 0;
    int j;
    for (j = 0; j < n; j++) if (of[j]) sum += ref_exp(z[j] - z[i]);
    return 1 / sum;
}

static inline ref_worth ref_contrast_means_of(const reference *ref, const ref_group *g, int i) {
    const grpo_surrogate *s = &ref->obj->surrogate;
    const int lse = s->kind == GRPO_SURROGATE_DISCRIMINATIVE_LSE;
    reference_real z[REFERENCE_MOST], v, tau = s->tau_neg, others, sum = 0, top = -HUGE_VAL, largest = ref_largest_size(g);
    int plus[REFERENCE_MOST], j, n = 0;
    ref_worth w = { 0, 0, 0 };
    for (j = 0; j < g->n; j++) { z[j] = -(reference_real)s->length_decay * g->T[j]; n += plus[j] = g->A[j] > 0; }
    if (n == 0 || n == g->n) return w;
    others = g->n - n;
    if (!plus[i] && lse) return w;
    if (!plus[i]) { w.value = g->y[i] / others; w.size = g->size[i] / others; w.slope = 1 / others; return w; }
    v = ref_share(z, plus, g->n, i);
    if (!lse) { w.value = -v * g->y[i]; w.size = v * g->size[i]; w.slope = v; return w; }
    for (j = 0; j < g->n; j++) if (!plus[j] && g->y[j] > top) top = g->y[j];
    for (j = 0; j < g->n; j++) if (!plus[j]) sum += ref_exp((g->y[j] - top) / tau);
    w.value = v * (top + tau * ref_ln(sum / others) - g->y[i]);
    w.size = v * (2 * g->size[i] + tau * ref_ln(others) + 2 * largest);
    w.slope = 2 * v * (1 + largest / tau);
    return w;
}

/* the share of a response with A > 0; sizes include the rounding of margin and distances in the exponents */
static inline ref_worth ref_contrastive_of(const reference *ref, const ref_group *g, int i) {
    const reference_real tau = ref->obj->surrogate.contrast_temperature, m = ref->obj->surrogate.contrast_margin;
    const reference_real largest = ref_largest_size(g);
    reference_real top = 0, sum = 0, rest = 0, share;
    int j, n = 0;
    ref_worth w = { 0, 0, 0 };
    for (j = 0; j < g->n; j++) n += g->A[j] > 0;
    if (n == 0 || n == g->n || g->A[i] <= 0) return w;
    for (j = 0; j < g->n; j++) if (g->A[j] <= 0 && (g->y[j] - g->y[i] + m) / tau > top) top = (g->y[j] - g->y[i] + m) / tau;
    for (j = 0; j < g->n; j++) if (g->A[j] <= 0) {
        sum += ref_exp((g->y[j] - g->y[i] + m) / tau - top);
        rest += ref_exp((g->y[j] - g->y[i] + m) / tau - top) * g->size[j];
    }
    share = 1 / (1 + ref_exp(-top) / sum);                                                               /* of the responses with A <= 0 */
    w.value = tau / n * (top == 0 ? ref_ln1p(sum) : top + ref_ln(ref_exp(-top) + sum));
    w.size = w.value + share / n * (ref_abs(m) + g->size[i] + rest / sum);
    w.slope = 2 * share / n * (1 + (largest + ref_abs(m)) / tau);
    return w;
}

static inline ref_worth ref_soft_pairs_of(const reference *ref, const ref_group *g, int i) {
    const reference_real k = ref->obj->surrogate.beta, pairs = (reference_real)g->n * (g->n - 1), largest = ref_largest_size(g);
    ref_worth w = { 0, 0, 0 };
    int j;
    for (j = 0; j < g->n; j++) {
        const reference_real D = k * (g->y[i] - g->y[j]), p = ref_sigmoid((g->A[i] - g->A[j]) / ref->obj->surrogate.advantage_temperature);
        const reference_real gap = ref_abs(k * (ref_sigmoid(D) - p));
        if (j == i) continue;
        w.value += (ref_log_one_plus_exp(D) - p * D) / pairs;
        w.size += (ref_log_one_plus_exp(D) + p * ref_abs(D) + gap * (g->size[i] + g->size[j])) / pairs;
        w.slope += 2 * gap * (1 + ref_abs(k) * largest) / pairs;
    }
    return w;
}

static inline ref_worth ref_match_of(reference *ref, const ref_group *g, int i) {
    const reference_real k = ref->obj->surrogate.beta, reach = 1 + ref_abs(k) * ref_largest_size(g);
    reference_real z[REFERENCE_MOST], p, u, q, r;
    int all[REFERENCE_MOST], j;
    ref_worth w = { 0, 0, 0 };
    for (j = 0; j < g->n; j++) { z[j] = g->A[j] / ref->obj->surrogate.advantage_temperature; all[j] = 1; }
    p = ref_share(z, all, g->n, i);
    for (j = 0; j < g->n; j++) z[j] = k * g->y[j];
    u = ref_share(z, all, g->n, i);
    if (g->n == 1) return w;
    if (ref->obj->surrogate.kind == GRPO_SURROGATE_SOFTMAX_MSE) {
        w.value = (p - u) * (p - u);
        w.slope = 4 * (p + u) * ref_abs(k) * u * reach;
        w.size = w.value + 2 * ref_abs(p - u) * (p + u) + 4 * ref_abs(p - u) * u * (reach - 1);
        return w;
    }
    ref_note(ref, p);
    ref_note(ref, u);
    if (ref->beyond) return w;
    q = ref_ln1p((p - u) / (p + u));
    r = ref_ln1p((u - p) / (p + u));
    w.value = (p * q + u * r) / 2;
    w.slope = ref_abs(r * k) * u * reach;
    w.size = (p * ref_abs(q) + u * ref_abs(r)) / 2 + ref_abs(r) * u * (reach - 1);
    return w;
}

static inline ref_worth ref_worth_of(reference *ref, const ref_group *g, int i) {
    ref_worth w = { 0, 0, 0 };
    switch (ref->obj->surrogate.kind) {
    case GRPO_SURROGATE_VARIANCE: w = ref_variance_of(ref, g, i); break;
    case GRPO_SURROGATE_LOGISTIC_LSE:   w = ref_labels_of(ref, g, i); break;
    case GRPO_SURROGATE_TRAJECTORY_BALANCE:  w = ref_balance_of(ref, g, i); break;
    case GRPO_SURROGATE_PAIRWISE_LOGISTIC:    w = ref_pairs_of(ref, g, i); break;
    case GRPO_SURROGATE_TILTED_CROSS_ENTROPY:
    case GRPO_SURROGATE_SOFTMAX_CROSS_ENTROPY: w = ref_contrast_of(ref, g, i); break;
    case GRPO_SURROGATE_STANDARDISED: w = ref_standardised_of(ref, g, i); break;
    case GRPO_SURROGATE_REGRESSION: w = ref_regression_of(ref, g, i); break;
    case GRPO_SURROGATE_PAIRWISE_HINGE:    w = ref_hinge_of(ref, g, i); break;
    case GRPO_SURROGATE_DISCRIMINATIVE_MEAN: case GRPO_SURROGATE_DISCRIMINATIVE_LSE: w = ref_contrast_means_of(ref, g, i); break;
    case GRPO_SURROGATE_CONTRASTIVE: w = ref_contrastive_of(ref, g, i); break;
    case GRPO_SURROGATE_PAIRWISE_SOFT: w = ref_soft_pairs_of(ref, g, i); break;
    case GRPO_SURROGATE_SOFTMAX_MSE: case GRPO_SURROGATE_SOFTMAX_JS: w = ref_match_of(ref, g, i); break;
    default: break;
    }
    ref_note(ref, w.value);
    return w;
}

/* the group evaluated at log-probabilities l; y and `still` differ only in what is inside a stop-gradient */
static inline ref_group ref_group_of(reference *ref, const reference_real *l, int64_t g) {
    ref_group x;
    int64_t i;
    memset(&x, 0, sizeof x);
    x.log_partition = ref->b->log_partition[g] + ref->log_z_moved;
    x.rate = ref->obj->surrogate.group_score == GRPO_GROUP_SCORE_RATIO ? 0 : 1;
    for (i = ref->b->group_begin[g]; i < ref->b->group_begin[g + 1]; i++) {
        if (!ref->count[i] || x.n == REFERENCE_MOST) continue;
        x.y[x.n] = ref_score_of(ref, l, i);
        x.size[x.n] = ref_abs(x.y[x.n]);
        x.T[x.n] = (reference_real)ref->count[i];
        if (ref->obj->surrogate.group_score == GRPO_GROUP_SCORE_RATIO) {
            const reference_real size = ref_abs(x.y[x.n]);
            x.y[x.n] = ref_note(ref, ref_exp(x.y[x.n]));
            x.size[x.n] = x.y[x.n] * (1 + size);
            if (x.size[x.n] > x.rate) x.rate = x.size[x.n];
        }
        x.still[x.n] = ref_score_of(ref, ref->fixed, i);
        if (ref->obj->surrogate.group_score == GRPO_GROUP_SCORE_RATIO) x.still[x.n] = ref_note(ref, ref_exp(x.still[x.n]));
        x.old[x.n] = ref->obj->surrogate.kind == GRPO_SURROGATE_TILTED_CROSS_ENTROPY ? ref_old_score(ref, i) : 0;
        x.A[x.n] = (double)ref->advantage[ref_first_active(ref, i)];
        x.sequence[x.n++] = i;
    }
    return x;
}

/* the sum of c M v g F over the tokens of group g */
static inline reference_real ref_coupled(reference *ref, int64_t g) {
    const ref_group x = ref_group_of(ref, ref->l, g);
    reference_real sum = 0, c;
    ref_worth w;
    int64_t t;
    int i;
    if (!is_of_a_group(ref->obj->surrogate.kind)) return 0;
    for (i = 0; i < x.n; i++) {
        const int64_t s = x.sequence[i];
        w = ref_worth_of(ref, &x, i);
        for (t = ref->b->offset[s]; t < ref->b->offset[s] + ref->b->length[s]; t++) {
            if (!ref->active[t]) continue;
            c = ref->coefficient[t] * ref->weight[t];
            sum += ref_note(ref, c * w.value);
            ref->size += c * w.size;
            ref->scale += ref_note(ref, c * w.size);
            ref->steep += ref_note(ref, c * w.slope * (ref->log_z_moved == 0 ? x.rate : 1));
        }
    }
    return sum;
}

/* M v g F of token t of sequence i, without c */
static inline reference_real ref_coupled_term(reference *ref, int64_t i, int64_t t) {
    int64_t g = 0;
    int k;
    ref_group x;
    while (ref->b->group_begin[g + 1] <= i) g++;
    x = ref_group_of(ref, ref->l, g);
    for (k = 0; x.sequence[k] != i; k++) { }
    ref->size += ref->weight[t] * ref_worth_of(ref, &x, k).size;
    ref->scale += ref->weight[t] * ref_worth_of(ref, &x, k).size;
    return ref_note(ref, ref->weight[t] * ref_worth_of(ref, &x, k).value);
}
#endif
