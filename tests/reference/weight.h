/* Axis 6: active tokens; importance sampling against the rollout policy, rejection; trust region; policy importance sampling; FIPO; given
 * weights; off-policy masks. */
#ifndef REFERENCE_WEIGHT_H
#define REFERENCE_WEIGHT_H
#include "ratio.h"

static inline int ref_counts(const reference *ref, int64_t i, int64_t t) {
    return ref->b->mask[t] && !(ref->obj->weight.truncated == GRPO_WEIGHT_TRUNCATED_MASK && ref->b->truncated[i]);
}

/* treated as masked, but included in what is pooled over the sequence */
static inline int ref_left_out(const reference *ref, int64_t t) {
    return ref->obj->weight.selected == GRPO_SELECTED_ONLY && !ref->b->selected[t];
}

static inline reference_real ref_rollout_log_ratio(reference *ref, int64_t t) {
    const double c = ref->obj->weight.rollout_clamp;
    return ref_clamp(ref, ref_log(ref, ref->b->token[TOKEN_OLD][t]) - ref_log(ref, ref->b->token[TOKEN_ROLLOUT][t]), -c, c);
}

/* KL between the Bernoulli distributions with probabilities e^x and e^l; not judged where either exceeds 1 */
static inline reference_real ref_binary_kl(reference *ref, reference_real x, reference_real l) {
    const reference_real p0 = ref_exp(x), rest = -ref_change(x, 0), left = -ref_change(l, 0), heads = p0 * (x - l);
    reference_real tails;
    if (x > 0 || l > 0) ref->beyond = 1;
    if (ref->beyond) return 0;
    if (l == 0) return x < 0 ? HUGE_VAL : 0;
    if (x == 0) tails = 0;
    else if (left < rest / 2 || left > 2 * rest) tails = rest * (ref_ln(rest) - ref_ln(left));      /* either may be below 1e-300 */
    else tails = -rest * ref_ln1p(-ref_change(l, x) / rest);
    if (!(heads + tails > 0x1p-40 * ref_abs(heads) && heads + tails < HUGE_VAL)) ref->beyond = 1;    /* cancellation, or overflow */
    return heads + tails;
}

/* the larger of the KLs in the two directions */
static inline reference_real ref_larger_binary_kl(reference *ref, reference_real x, reference_real l) {
    const reference_real forward = x == l ? 0 : ref_binary_kl(ref, x, l), reverse = x == l ? 0 : ref_binary_kl(ref, l, x);
    return ref_note(ref, forward > reverse ? forward : reverse);
}

/* the statistic of one token that rollout_rs compares with its bounds; for rollout_rs ratio its logarithm, which rollout_is uses too */
static inline reference_real ref_statistic(reference *ref, grpo_rollout_rs_kind kind, int64_t t) {
    const grpo_real *o = ref->b->token[TOKEN_OLD], *b = ref->b->token[TOKEN_ROLLOUT];
    const reference_real q = ref_note(ref, ref_rollout_log_ratio(ref, t));
    switch (kind) {
    case GRPO_ROLLOUT_RS_K2:          return ref_note(ref, q * q / 2);
    case GRPO_ROLLOUT_RS_K3:          return ref_note(ref, ref_exp_minus_linear(q));
    case GRPO_ROLLOUT_RS_K3_REVERSE:  return ref_note(ref, ref_exp_minus_linear(-q));
    case GRPO_ROLLOUT_RS_BINARY_KL_MAX: return ref_larger_binary_kl(ref, ref_log(ref, o[t]), ref_log(ref, b[t]));
    case GRPO_ROLLOUT_RS_EXP_ABS:     return ref_note(ref, ref_exp(ref_abs(q)));
    case GRPO_ROLLOUT_RS_PROBABILITY: return ref_change(ref_log(ref, o[t]), ref_log(ref, b[t]));
    default:                      return q;
    }
}

/* the statistic pooled over the unit of token t of sequence i */
static inline reference_real ref_pooled(reference *ref, grpo_rollout_rs_kind kind, grpo_rollout_rs_level_kind unit, int64_t i, int64_t t) {
    const int segment = unit >= GRPO_ROLLOUT_RS_LEVEL_SEGMENT_SUM;
    reference_real sum = 0, most = -HUGE_VAL, x;
    int64_t k, n = 0;
    if (unit == GRPO_ROLLOUT_RS_LEVEL_TOKEN) return ref_statistic(ref, kind, t);
    for (k = ref->b->offset[i]; k < ref_end(ref, i); k++) {
        if (!ref_counts(ref, i, k) || (segment && !ref_same_segment(ref, k, t))) continue;
        x = ref_statistic(ref, kind, k);
        sum += x, n++;
        if (x > most) most = x;
    }
    if (unit == GRPO_ROLLOUT_RS_LEVEL_SEQUENCE_MAX || unit == GRPO_ROLLOUT_RS_LEVEL_SEGMENT_MAX) return most;
    return unit == GRPO_ROLLOUT_RS_LEVEL_SEQUENCE_MEAN || unit == GRPO_ROLLOUT_RS_LEVEL_SEGMENT_MEAN ? sum / (reference_real)n : sum;
}

/* is x in [low, high]?  exact: neither side rounds x */
static inline int ref_within(reference *ref, reference_real x, reference_real low, reference_real high, int exact) {
    if (ref_is_uncertain(ref, x, low, exact) || ref_is_uncertain(ref, x, high, exact)) ref->unsure = 1;
    return x >= low && x <= high;
}

/* v of a token that counts, from rollout_is; *inside: 1 if the ratio is within the bounds, or truncated to them */
static inline reference_real ref_weight(reference *ref, int64_t i, int64_t t, int *inside) {
    static const grpo_rollout_rs_level_kind unit[]
        = { GRPO_ROLLOUT_RS_LEVEL_TOKEN, GRPO_ROLLOUT_RS_LEVEL_SEQUENCE_SUM, GRPO_ROLLOUT_RS_LEVEL_SEQUENCE_MEAN,
                                             GRPO_ROLLOUT_RS_LEVEL_SEGMENT_SUM, GRPO_ROLLOUT_RS_LEVEL_SEGMENT_MEAN };
    const grpo_weight *w = &ref->obj->weight;
    reference_real low = w->rollout_is_low, high = w->rollout_is_high, q, v;
    *inside = 1;
    if (w->rollout_is == GRPO_ROLLOUT_IS_NONE) return 1;
    q = ref_pooled(ref, GRPO_ROLLOUT_RS_RATIO, unit[w->rollout_is_level], i, t);
    v = ref_exp(q);
    *inside = ref_within(ref, v, low, high, q == 0);
    if (w->rollout_is == GRPO_ROLLOUT_IS_TRUNCATE) { *inside = 1; return ref_note(ref, v < low ? low : v > high ? high : v); }
    if (!*inside) return 0;
    return w->rollout_is == GRPO_ROLLOUT_IS_MASK ? ref_note(ref, v) : 1;
}

static inline int ref_vetoed(reference *ref, int64_t i) {
    const grpo_weight *w = &ref->obj->weight;
    reference_real x;
    int64_t k;
    for (k = ref->b->offset[i]; w->rollout_veto != 0 && k < ref->b->offset[i] + ref->b->length[i]; k++) {
        if (!ref_counts(ref, i, k)) continue;
        x = ref_rollout_log_ratio(ref, k);
        if (!ref_within(ref, ref_exp(x), w->rollout_veto, HUGE_VAL, x == 0)) return 1;
    }
    return 0;
}

static inline int ref_accepted(reference *ref, int64_t i, int64_t t) {
    const grpo_weight *w = &ref->obj->weight;
    reference_real x;
    if (ref_vetoed(ref, i)) return 0;
    if (w->rollout_rs == GRPO_ROLLOUT_RS_NONE) return 1;
    x = ref_pooled(ref, w->rollout_rs, w->rollout_rs_level, i, t);
    return ref_within(ref, w->rollout_rs == GRPO_ROLLOUT_RS_RATIO ? ref_exp(x) : x, w->rollout_rs_low, w->rollout_rs_high, x == 0);
}

/* g of token t of sequence i: the clamped importance ratio of weight.policy_is */
static inline reference_real ref_policy_is(reference *ref, int64_t i, int64_t t) {
    const grpo_weight *w = &ref->obj->weight;
    const int own = w->policy_is == GRPO_POLICY_IS_TOKEN;
    const int64_t begin = own ? t : ref->b->offset[i], end = own ? t + 1 : ref_end(ref, i);
    reference_real sum = 0, g;
    int64_t k;
    if (w->policy_is == GRPO_POLICY_IS_NONE) return 1;
    for (k = begin; k < end; k++) if (ref->active[k]) sum += ref_log(ref, ref->fixed[k]) - ref_log(ref, ref->b->token[TOKEN_OLD][k]);
    g = ref_exp(w->policy_is == GRPO_POLICY_IS_SEQUENCE_MEAN ? sum / (reference_real)ref->count[i] : sum);
    return ref_note(ref, g < w->policy_is_low ? w->policy_is_low : g > w->policy_is_high ? w->policy_is_high : g);
}

static inline void ref_find_active(reference *ref, int64_t i) {
    int64_t t;
    int inside;
    ref->count[i] = 0;
    for (t = ref->b->offset[i]; t < ref->b->offset[i] + ref->b->length[i]; t++) {
        if (!ref_counts(ref, i, t) || ref_left_out(ref, t)) continue;
        ref->weight[t] = ref_weight(ref, i, t, &inside);
        if (!ref_accepted(ref, i, t)) ref->weight[t] = inside = 0;
        ref->rejected += !inside;
        ref->active[t] = inside || ref->obj->weight.rollout_rejected != GRPO_ROLLOUT_REJECTED_UNMASK;
        ref->count[i] += ref->active[t];
        ref->whole[t] = 1;
        if (ref->active[t]) ref->l[t] = ref->fixed[t] = ref->b->token[TOKEN_LOGP][t];
    }
}

/* v divided by its mean in the batch, with rollout_is_norm */
static inline void ref_norm(reference *ref) {
    const grpo_rollout_is_level_kind unit = ref->obj->weight.rollout_is_level;
    const int whole = unit == GRPO_ROLLOUT_IS_LEVEL_SEQUENCE_SUM || unit == GRPO_ROLLOUT_IS_LEVEL_SEQUENCE_MEAN;
    reference_real sum = 0, n = 0;
    int64_t i, t;
    if (ref->obj->weight.rollout_is_norm == GRPO_ROLLOUT_IS_NORM_NONE) return;
    for (i = 0; i < ref->b->n_sequences; i++) {
        const reference_real each = whole ? (reference_real)ref->count[i] : 1;
        for (t = ref->b->offset[i]; t < ref_end(ref, i); t++) if (ref->active[t]) sum += ref->weight[t] / each, n += !whole;
        n += whole && ref->count[i] > 0;
    }
    if (sum == 0) return;
    for (t = 0; t < ref->b->n_tokens; t++) ref->weight[t] = ref_note(ref, ref->weight[t] / ref_note(ref, sum / n));
}

/* FIPO's factor on the weight of token t: the clamped exponential of the discounted log-ratios from t on */
static inline reference_real ref_fipo(reference *ref, int64_t i, int64_t t) {
    const grpo_weight *w = &ref->obj->weight;
    const grpo_real *o = ref->b->token[TOKEN_OLD];
    reference_real F = 0, f, d;
    int64_t k;
    for (k = t; k < ref_end(ref, i); k++) {
        if (!ref->active[k]) continue;
        d = ref_log(ref, ref->fixed[k]) - ref_log(ref, o[k]);
        if (w->fipo_ratio_max != 0 && ref_exceeds(ref, ref_exp(d), w->fipo_ratio_max)) continue;
        F += d * ref_exp(-(reference_real)(k - t) / w->fipo_half_life * ref_ln(2));
    }
    f = ref_exp(F);
    f = f < w->fipo_low ? w->fipo_low : f > w->fipo_high ? w->fipo_high : f;
    if (ref->advantage[t] >= 0 || w->fipo_safe_ratio == 0) return f;
    if (!ref_exceeds(ref, ref_exp(ref->fixed[t] - o[t]), w->fipo_safe_ratio)) return f;
    return f < w->fipo_safe_low ? w->fipo_safe_low : f > w->fipo_safe_high ? w->fipo_safe_high : f;
}

static inline void ref_weigh(reference *ref) {
    const grpo_weight *w = &ref->obj->weight;
    int64_t i, t;
    ref_begin(ref);
    ref_norm(ref);
    for (i = 0; i < ref->b->n_sequences; i++) for (t = ref->b->offset[i]; t < ref_end(ref, i); t++) {
        if (!ref->active[t]) continue;
        if (w->fipo != GRPO_FIPO_NONE) ref->weight[t] *= ref_fipo(ref, i, t);
        if (w->external != GRPO_EXTERNAL_NONE) ref->weight[t] *= ref->b->token[TOKEN_WEIGHT][t];
        if (w->external == GRPO_EXTERNAL_TERM) ref->whole[t] = ref->b->token[TOKEN_WEIGHT][t];
    }
    ref->unsure |= ref->beyond;
}

static inline int ref_ring(reference *ref, reference_real w, reference_real A) {
    const grpo_weight *c = &ref->obj->weight;
    if (!ref_is_outside(ref, w, 1 - c->trust_low, 1 + c->trust_high)) return 1;
    if (A >= 0 && !ref_exceeds(ref, w, 1 - (reference_real)c->rec_outer_low)) return 1;
    return A <= 0 && !ref_exceeds(ref, -w, -(1 + (reference_real)c->rec_outer_high));
}

static inline int ref_trusted(reference *ref, int64_t t) {
    const grpo_weight *c = &ref->obj->weight;
    const reference_real A = ref->advantage[t], l = ref_log(ref, ref->fixed[t]), x = ref_log(ref, ref_old(ref, t)), rise = ref_change(l, x);
    const reference_real y = ref_log_ratio(ref, ref->fixed, ref->unit_fixed[t], t), w = ref_ratio(ref, y);
    const reference_real low = 1 - (reference_real)c->trust_low, high = 1 + (reference_real)c->trust_high;
    switch (c->trust) {
    case GRPO_TRUST_ONE_SIDED:        return !(A > 0 && ref_exceeds(ref, w, high)) && !(A < 0 && ref_exceeds(ref, -w, -low));
    case GRPO_TRUST_TWO_SIDED:        return !ref_exceeds(ref, w, high) && !ref_exceeds(ref, -w, -low);
    case GRPO_TRUST_RING:             return ref_ring(ref, w, A);
    case GRPO_TRUST_LOG_TWO_SIDED:    return !ref_exceeds(ref, y, c->trust_high) && !ref_exceeds(ref, -y, c->trust_low);
    case GRPO_TRUST_PROBABILITY:
        return !(A > 0 && ref_exceeds(ref, rise, c->trust_high)) && !(A < 0 && ref_exceeds(ref, -rise, c->trust_low));
    case GRPO_TRUST_PROBABILITY_BOTH: return !ref_exceeds(ref, ref_abs(rise), c->trust_high);
    case GRPO_TRUST_BINARY_KL:
        if (A > 0 && l > x) return !ref_exceeds(ref, ref_binary_kl(ref, x, l), c->trust_high);
        return !(A < 0 && l < x && ref_exceeds(ref, ref_binary_kl(ref, x, l), c->trust_low));
    case GRPO_TRUST_NEGATIVE_BAND:    return !(A < 0 && (ref_exceeds(ref, -w, -low) || ref_exceeds(ref, w, high)));
    case GRPO_TRUST_DIVERGENCE:
        if (A > 0 && ref->b->token[TOKEN_DIVERGENCE_OLD][t] > c->trust_high) return !ref_exceeds(ref, w, 1);
        return !(A < 0 && ref->b->token[TOKEN_DIVERGENCE_OLD][t] > c->trust_low && ref_exceeds(ref, -w, -1));
    case GRPO_TRUST_K2:               return !ref_exceeds(ref, ref_note(ref, (l - x) * (l - x) / 2), c->trust_high);
    default:                          return 1;
    }
}

/* does sequence i exceed off_policy_mask_threshold? */
static inline int ref_is_off_policy(reference *ref, int64_t i) {
    const grpo_weight *c = &ref->obj->weight;
    const grpo_real *o = ref->b->token[TOKEN_OLD], *b = ref->b->token[TOKEN_ROLLOUT], *x = c->off_policy_mask == GRPO_OFF_POLICY_MASK_OLD
        ? o : b;
    reference_real sum = 0;
    int64_t t;
    if (c->off_policy_mask == GRPO_OFF_POLICY_MASK_NONE || ref->count[i] == 0) return 0;
    for (t = ref->b->offset[i]; t < ref_end(ref, i); t++) {
        if (!ref->active[t]) continue;
        if (c->off_policy_mask == GRPO_OFF_POLICY_MASK_TOTAL_VARIATION) sum += ref_abs(ref_exp(ref_log(ref, o[t]) - ref_log(ref,
            b[t])) - 1);
        else sum += ref_log(ref, x[t]) - ref_log(ref, ref->fixed[t]);
    }
    return ref_exceeds(ref, sum / (reference_real)ref->count[i], c->off_policy_mask_threshold);
}

/* does off_policy_mask drop token t of a response that exceeds the threshold? */
static inline int ref_drops_off_policy(const reference *ref, int64_t t) {
    const double A = (double)ref->advantage[t], q = (double)ref->b->token[TOKEN_OLD][t] - (double)ref->b->token[TOKEN_ROLLOUT][t];
    return ref->obj->weight.off_policy_mask == GRPO_OFF_POLICY_MASK_TOTAL_VARIATION ? (q > 0 && A > 0) || (q < 0 && A < 0) : A < 0;
}

/* dropped, and the weights: 0 where M is 0, times g elsewhere */
static inline void ref_find_dropped(reference *ref, int64_t i) {
    const grpo_weight *c = &ref->obj->weight;
    int64_t t;
    int off_policy;
    ref_begin(ref);
    off_policy = ref_is_off_policy(ref, i);
    for (t = ref->b->offset[i]; t < ref->b->offset[i] + ref->b->length[i]; t++) {
        if (!ref->active[t]) continue;
        ref->dropped[t] = (off_policy && ref_drops_off_policy(ref, t)) || (c->trust != GRPO_TRUST_NONE && !ref_trusted(ref, t));
        ref->weight[t] = ref->dropped[t] ? 0 : ref_note(ref, ref->weight[t] * ref_policy_is(ref, i, t));
        if (c->selected == GRPO_SELECTED_KEEP && !ref->b->selected[t]) ref->weight[t] = 0;
        if (c->selected == GRPO_SELECTED_DROP && ref->b->selected[t]) ref->weight[t] = 0;
    }
    ref->unsure |= ref->beyond;
}
#endif
