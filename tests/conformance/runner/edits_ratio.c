/* Mistaken log-probabilities, and what a program makes of them: the ratio, its denominator, the mean log-ratio of a response. */
#include "edits.h"
#include "sixteen_bits.h"

/* multiplies the log-ratio by p */
void log_ratio_times_by_hand(edited *s, double p) {
    grpo_real *o = edited_denominator(s);
    for (int64_t k = 0; o && k < edited_tokens(s); k++) o[k] = s->c.batch.logp[k] - p * edited_log_ratio(s, k);
}
void log_ratio_times(edited *s, double p) {
    log_ratio_times_by_hand(s, p);
    for (int64_t k = 0; k < edited_tokens(s); k++) s->chain[k] *= p;
}
void ratio_times(edited *s, double p) {
    grpo_real *o = edited_denominator(s);
    for (int64_t k = 0; o && k < edited_tokens(s); k++) o[k] -= log(p);
}
void old_is_policy(edited *s, double p) { (void)p; edited_behaviour(s); *edited_behaviour(s) = s->c.batch.logp; }
static void old_is(edited *s, const grpo_real *array) {
    s->impossible |= !array;
    if (array) *edited_behaviour(s) = array;
}
void old_is_reference(edited *s, double p) { (void)p; old_is(s, s->c.batch.logp_ref); }
void old_is_rollout(edited *s, double p) { (void)p; old_is(s, s->c.batch.logp_rollout); }
void old_is_old(edited *s, double p) { (void)p; old_is(s, s->c.batch.logp_old); }
void old_is_certain(edited *s, double p) { old_is(s, edited_room(s, edited_tokens(s), sizeof(grpo_real))); (void)p; }
/* l/o, the quotient of two log-probabilities */
void ratio_of_logs(edited *s, double p) {
    grpo_real *o = edited_denominator(s);
    (void)p;
    for (int64_t k = 0; o && k < edited_tokens(s); k++) {
        double l = s->c.batch.logp[k], old = o[k];
        if (edited_counts(s, 0, k) && !(l < 0 && old < 0 && grpo_is_finite(l) && grpo_is_finite(old))) { s->impossible = 1; continue; }
        o[k] = l - log(l / old);
        s->chain[k] = 1 / l;
    }
}

/* the absolute value of the log-ratio */
void log_ratio_size(edited *s, double p) {
    grpo_real *o = edited_denominator(s);
    (void)p;
    for (int64_t k = 0; o && k < edited_tokens(s); k++) {
        const double d = edited_log_ratio(s, k);
        if (d < 0) o[k] = s->c.batch.logp[k] + d;
        s->chain[k] *= (d > 0) - (d < 0);
    }
}
/* log-probabilities multiplied by the mask before something is done with them: 0 where a token does not count */
void masked_are_zero(edited *s, double p) {
    const grpo_real **arrays[] = { &s->c.batch.logp, &s->c.batch.logp_old, &s->c.batch.logp_ref, &s->c.batch.logp_rollout };
    (void)p;
    for (size_t n = 0; n < sizeof arrays / sizeof *arrays; n++) {
        grpo_real *x = *arrays[n] ? edited_array(s, arrays[n]) : NULL;
        for (int64_t k = 0; x && k < edited_tokens(s); k++) if (s->c.batch.mask && !s->c.batch.mask[k]) x[k] = 0;
    }
}

typedef enum { ROLL_SEQUENCE, ROLL_ZERO, ROLL_EDGE, ROLL_BATCH } roll_kind;

static int64_t rolled_from(const edited *s, roll_kind kind, int64_t i, int64_t k, int64_t by) {
    const grpo_batch *b = &s->c.batch;
    int64_t first = b->offset[i], n = b->length[i], from = k - by;
    if (kind == ROLL_BATCH) return (from + b->n_tokens) % b->n_tokens;
    if (from >= first && from < first + n) return from;
    return kind == ROLL_ZERO ? -1 : kind == ROLL_EDGE ? k : first + (from - first + n) % n;
}

static void roll(edited *s, const grpo_real **array, roll_kind kind, int64_t by, int64_t *origin) {
    const grpo_real *from = *array;
    grpo_real *to = edited_array(s, array);
    for (int64_t i = 0; to && i < s->c.n_sequences; i++)
        for (int64_t k = s->c.batch.offset[i]; k < s->c.batch.offset[i] + s->c.batch.length[i]; k++) {
            int64_t at = rolled_from(s, kind, i, k, by);
            to[k] = at < 0 ? 0 : from[at];
            if (to[k] != to[k] && edited_counts(s, i, k)) s->impossible = 1;
            if (origin) origin[k] = at;
        }
}

#define ROLLS(KIND, kind) \
    void roll_old_##kind(edited *s, double p) { roll(s, edited_behaviour(s), KIND, (int64_t)p, NULL); } \
    void roll_reference_##kind(edited *s, double p) { roll(s, &s->c.batch.logp_ref, KIND, (int64_t)p, NULL); } \
    void roll_policy_by_hand_##kind(edited *s, double p) { roll(s, &s->c.batch.logp, KIND, (int64_t)p, NULL); } \
    void roll_policy_##kind(edited *s, double p) { \
        s->origin = edited_room(s, edited_tokens(s), sizeof *s->origin); \
        roll(s, &s->c.batch.logp, KIND, (int64_t)p, s->origin); \
    }
ROLLS(ROLL_SEQUENCE, sequence)
ROLLS(ROLL_ZERO, zero)
ROLLS(ROLL_EDGE, edge)
ROLLS(ROLL_BATCH, batch)
void pad_rows(edited *s, double p) { (void)p; edited_pad(s); }

/* Rows that are padded with 0 before their first token are read as if they were padded after the last. */
static void at_other_end(edited *s, const grpo_real **array) {
    const grpo_batch *b = &s->c.batch;
    const grpo_real *from = *array;
    grpo_real *to = edited_array(s, array);
    for (int64_t i = 0; to && i < s->c.n_sequences; i++)
        for (int64_t t = 0; t < b->length[i]; t++) {
            const int64_t at = t - ((int64_t)edited_width(s) - b->length[i]);
            to[b->offset[i] + t] = at < 0 ? 0 : from[b->offset[i] + at];
            s->impossible |= edited_counts(s, i, b->offset[i] + t) && to[b->offset[i] + t] != to[b->offset[i] + t];
        }
}
void old_at_other_end(edited *s, double p) { (void)p; at_other_end(s, edited_behaviour(s)); }
void reference_at_other_end(edited *s, double p) { (void)p; at_other_end(s, &s->c.batch.logp_ref); }

/* ---- numbers of 16 bits --------------------------------------------------------------------------------------------------------- */

static void round_array(edited *s, const grpo_real **array, int bits) {
    grpo_real *x = *array ? edited_array(s, array) : NULL;
    for (int64_t k = 0; x && k < edited_tokens(s); k++) x[k] = (grpo_real)sixteen_bits(x[k], bits);
}
/* p < 0: with a gradient that is rounded too, as by automatic differentiation */
static int bits_of(double p) { return (int)fabs(p); }
void old_rounded(edited *s, double p) { round_array(s, edited_behaviour(s), (int)p); }
void reference_rounded(edited *s, double p) { round_array(s, &s->c.batch.logp_ref, (int)p); }
void policy_rounded(edited *s, double p) {
    round_array(s, &s->c.batch.logp, bits_of(p));
    s->gradient_bits = p < 0 ? bits_of(p) : 0;
}
void all_rounded(edited *s, double p) {
    policy_rounded(s, p);
    round_array(s, &s->c.batch.logp_old, bits_of(p));
    round_array(s, &s->c.batch.logp_ref, bits_of(p));
    round_array(s, &s->c.batch.logp_rollout, bits_of(p));
}
/* of the log-ratio of each token */
void log_ratio_rounded(edited *s, double p) {
    grpo_real *o = edited_denominator(s);
    for (int64_t k = 0; o && k < edited_tokens(s); k++)
        if (edited_counts(s, 0, k)) o[k] = s->c.batch.logp[k] - sixteen_bits(edited_log_ratio(s, k), bits_of(p));
    s->policy_bits = p < 0 ? bits_of(p) : 0;
}
/* of the ratio, with the gradient of the rounded one or of the exact one */
static void round_ratio(edited *s, int bits, int exact) {
    const grpo_batch *b = &s->c.batch;
    const int mean = s->obj.ratio.level == GRPO_LEVEL_SEQUENCE_MEAN;
    grpo_real *o = edited_denominator(s);
    s->impossible |= !mean && s->obj.ratio.level != GRPO_LEVEL_TOKEN;
    for (int64_t i = 0; o && i < s->c.n_sequences; i++) {
        double sum = 0, T = edited_count(s, i);
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) if (edited_counts(s, i, k)) sum += edited_log_ratio(s, k);
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) {
            double w, y;
            if (!edited_counts(s, i, k)) continue;
            w = exp(mean ? sum / T : edited_log_ratio(s, k));
            y = sixteen_bits(w, bits);
            s->impossible |= !(y > 0) || !grpo_is_finite(y);
            o[k] = b->logp[k] - log(y);
            if (exact) s->chain[k] = w / y;
            if (s->rounded_ratio) s->rounded_ratio[k] = y;
        }
    }
}
void ratio_rounded(edited *s, double p) { round_ratio(s, bits_of(p), p < 0); }
/* have the tokens of each response that count the same advantage? */
static int is_one_advantage(const edited *s) {
    const grpo_batch *b = &s->c.batch;
    for (int64_t i = 0; i < s->c.n_sequences; i++) {
        const double *own = NULL;
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) {
            if (!edited_counts(s, i, k)) continue;
            if (own && *own != s->advantage[k]) return 0;
            own = &s->advantage[k];
        }
    }
    return 1;
}
/* By automatic differentiation, which rounds the derivative by the ratio too; each token has the ratio of its response, and where these
 * derivatives are added up, they are the same. */
void ratio_rounded_twice(edited *s, double p) {
    s->impossible |= s->obj.ratio.level != GRPO_LEVEL_TOKEN && s->obj.ratio.gradient == GRPO_GRADIENT_FULL && !is_one_advantage(s);
    s->rounded_ratio = edited_room(s, edited_tokens(s), sizeof *s->rounded_ratio);
    s->ratio_bits = (int)p;
    round_ratio(s, (int)p, 1);
}

/* ---- temperatures ------------------------------------------------------------------------------------------------------------- */

static void divide_array(edited *s, const grpo_real **array, double by) {
    grpo_real *x = *array ? edited_array(s, array) : NULL;
    for (int64_t k = 0; x && k < edited_tokens(s); k++) x[k] = (grpo_real)(x[k] / by);
}
void old_divided(edited *s, double p) { divide_array(s, edited_behaviour(s), p); }
void policy_divided(edited *s, double p) {
    divide_array(s, &s->c.batch.logp, p);
    s->slope = 1 / p;
}
void all_divided(edited *s, double p) {
    policy_divided(s, p);
    divide_array(s, &s->c.batch.logp_old, p);
    divide_array(s, &s->c.batch.logp_ref, p);
    divide_array(s, &s->c.batch.logp_rollout, p);
}

/* ---- the rollout correction ----------------------------------------------------------------------------------------------------- */

/* the logp_rollout of a rollout correction, as an array that can be written: changes it without changing the surrogate's ratio */
static grpo_real *own_rollout(edited *s) {
    s->impossible |= s->obj.ratio.behaviour != GRPO_BEHAVIOUR_OLD || !s->obj.weight.rollout_is || !s->c.batch.logp_old;
    return s->impossible ? NULL : edited_array(s, &s->c.batch.logp_rollout);
}
void rollout_weight_of_policy(edited *s, double p) {
    grpo_real *r = own_rollout(s);
    (void)p;
    for (int64_t k = 0; r && k < edited_tokens(s); k++) {
        const double d = s->c.batch.logp[k] - s->c.batch.logp_old[k];
        if (edited_counts(s, 0, k) && !grpo_is_finite(d)) s->impossible = 1;
        r[k] -= d;
    }
}
void rollout_weight_inverted(edited *s, double p) {
    grpo_real *r = own_rollout(s);
    (void)p;
    for (int64_t k = 0; r && k < edited_tokens(s); k++) {
        const double d = s->c.batch.logp_old[k] - r[k];
        if (edited_counts(s, 0, k) && !grpo_is_finite(d)) s->impossible = 1;
        r[k] += 2 * d;
    }
}

void reference_is_old(edited *s, double p) { (void)p; s->impossible |= !s->c.batch.logp_ref; s->c.batch.logp_ref = *edited_behaviour(s); }
/* another divisor of the mean log-ratio of a response */
void share_ratio(edited *s, double p) {
    grpo_real *o = edited_denominator(s);
    s->impossible |= s->obj.ratio.level != GRPO_LEVEL_SEQUENCE_MEAN;
    for (int64_t i = 0; o && i < s->c.n_sequences; i++)
        for (int64_t k = s->c.batch.offset[i]; k < s->c.batch.offset[i] + s->c.batch.length[i]; k++) {
            double share = share_of(s, i, (share_kind)p);
            o[k] = s->c.batch.logp[k] - share * edited_log_ratio(s, k);
            if (s->obj.ratio.gradient == GRPO_GRADIENT_FULL) s->chain[k] *= share;
        }
}
/* another divisor in the gradient of the mean log-ratio only */
void share_gradient(edited *s, double p) {
    s->impossible |= s->obj.ratio.level != GRPO_LEVEL_SEQUENCE_MEAN;
    for (int64_t i = 0; i < s->c.n_sequences; i++)
        for (int64_t k = s->c.batch.offset[i]; k < s->c.batch.offset[i] + s->c.batch.length[i]; k++) s->chain[k] *= share_of(s, i,
            (share_kind)p);
}
/* the ratio of a response is the mean of its tokens' ratios, not the exponential of their mean log-ratio */
void mean_of_ratios(edited *s, double p) {
    grpo_real *o = edited_denominator(s);
    const grpo_batch *b = &s->c.batch;
    s->impossible |= s->obj.ratio.level != GRPO_LEVEL_SEQUENCE_MEAN;
    for (int64_t i = 0; o && i < s->c.n_sequences; i++) {
        double sum = 0, T = edited_count(s, i);
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) if (edited_counts(s, i, k)) sum += exp(edited_log_ratio(s, k));
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) {
            if (!edited_counts(s, i, k)) continue;
            if (p > 0 && s->obj.ratio.gradient == GRPO_GRADIENT_FULL) s->chain[k] = T * exp(edited_log_ratio(s, k)) / sum;
            o[k] = b->logp[k] - log(sum / T);
        }
    }
}
/* l - sg[l] + mean, where the mean should be detached: in the gradient only */
void mean_not_detached(edited *s, double p) {
    const grpo_surrogate_kind kind = s->obj.surrogate.kind;
    (void)p;
    s->impossible |= s->obj.ratio.level != GRPO_LEVEL_SEQUENCE_MEAN || kind == GRPO_SURROGATE_REINFORCE || kind == GRPO_SURROGATE_CISPO;
    s->obj.ratio.gradient = GRPO_GRADIENT_FULL;
    s->both_gradients = 1;
}
/* The mean along the other axis: of the log-ratios of all responses at the position of a token. */
void mean_of_position(edited *s, double p) {
    grpo_real *o = edited_denominator(s);
    const grpo_batch *b = &s->c.batch;
    (void)p;
    s->impossible |= s->obj.ratio.level != GRPO_LEVEL_SEQUENCE_MEAN || s->obj.ratio.gradient != GRPO_GRADIENT_FULL || !o;
    for (int64_t t = 0; !s->impossible && (double)t < edited_width(s); t++) {
        double sum = 0, n = 0;
        for (int64_t i = 0; i < s->c.n_sequences; i++)
            if (t < b->length[i] && edited_counts(s, i, b->offset[i] + t)) { sum += edited_log_ratio(s, b->offset[i] + t); n++; }
        s->impossible |= n > 0 && !grpo_is_finite(sum);
        for (int64_t i = 0; i < s->c.n_sequences; i++)
            if (t < b->length[i] && edited_counts(s, i, b->offset[i] + t)) o[b->offset[i] + t] = b->logp[b->offset[i] + t] - sum / n;
    }
    s->obj.ratio.level = GRPO_LEVEL_TOKEN;
    s->ratio_of_position = 1;
}

static double bounded_otherwise(const grpo_ratio_axis *r, bounds_kind kind, double A, double d) {
    const double low = r->token_clip_low, high = r->token_clip_high;
    switch (kind) {
    case BOUNDS_EXCHANGED: return A < 0 ? fmin(d, high) : fmax(d, -low);
    case BOUNDS_BOTH: return fmin(fmax(d, -low), high);
    case BOUNDS_OF_RATIO: return A < 0 ? (low < 1 ? fmax(d, log(1 - low)) : d) : fmin(d, log(1 + high));
    case BOUNDS_OF_RATIO_BOTH: return fmin(low < 1 ? fmax(d, log(1 - low)) : d, log(1 + high));
    case BOUNDS_RIGHT: return A < 0 ? fmax(d, -low) : fmin(d, high);
    default: return A <= 0 ? fmax(d, -low) : fmin(d, high);
    }
}
/* GMPO with other bounds of the tokens' log-ratios, of which the mean is taken */
void pooled_otherwise(edited *s, double p) {
    grpo_real *o = edited_denominator(s);
    s->impossible |= s->obj.ratio.level != GRPO_LEVEL_SEQUENCE_CLIPPED_MEAN || s->obj.ratio.clamp_low != 0 || s->obj.ratio.clamp_high != 0;
    for (int64_t k = 0; o && !s->impossible && k < edited_tokens(s); k++) {
        const double d = edited_log_ratio(s, k), y = bounded_otherwise(&s->obj.ratio, (bounds_kind)p, s->advantage[k], d);
        if (!edited_counts(s, 0, k)) continue;
        if (!grpo_is_finite(d)) { s->impossible = 1; continue; }
        o[k] = s->c.batch.logp[k] - y;
        s->chain[k] *= y == d;
    }
    s->obj.ratio.level = GRPO_LEVEL_SEQUENCE_MEAN;
    s->obj.ratio.token_clip_low = s->obj.ratio.token_clip_high = 0;
}
void sum_not_mean(edited *s, double p) {
    (void)p;
    s->impossible |= s->obj.ratio.level != GRPO_LEVEL_SEQUENCE_MEAN;
    s->obj.ratio.level = GRPO_LEVEL_SEQUENCE_SUM;
}
/* the ratios of tokens are clipped before the mean of a response is taken, which is clipped too */
void tokens_clipped_first(edited *s, double p) {
    grpo_real *o = edited_denominator(s);
    const double low = 1 - s->obj.surrogate.eps_low, high = 1 + s->obj.surrogate.eps_high;
    (void)p;
    s->impossible |= s->obj.ratio.level != GRPO_LEVEL_SEQUENCE_MEAN || !(low > 0);
    for (int64_t k = 0; o && !s->impossible && k < edited_tokens(s); k++) {
        const double d = edited_log_ratio(s, k), y = fmin(fmax(d, log(low)), log(high));
        if (!edited_counts(s, 0, k)) continue;
        if (!grpo_is_finite(d)) { s->impossible = 1; continue; }
        o[k] = s->c.batch.logp[k] - y;
        s->chain[k] *= y == d;
    }
}
/* the truncated weight of the rollout correction multiplies the ratio before the clip, not the clipped term */
void rollout_weight_in_ratio(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    const grpo_weight w = s->obj.weight;
    grpo_real *o;
    (void)p;
    s->impossible |= w.rollout_is != GRPO_ROLLOUT_IS_TRUNCATE || w.rollout_is_level != GRPO_ROLLOUT_IS_LEVEL_TOKEN || w.rollout_clamp != 0
        || w.rollout_is_norm || w.rollout_rs || w.rollout_veto != 0 || w.off_policy_mask || s->obj.penalty.kl_importance_weight
        || s->obj.ratio.behaviour != GRPO_BEHAVIOUR_OLD || s->obj.ratio.level != GRPO_LEVEL_TOKEN || !b->logp_rollout || !b->logp_old;
    if (s->impossible) return;
    o = edited_array(s, &s->c.batch.logp_old);
    for (int64_t k = 0; k < edited_tokens(s); k++) {
        const double v = fmin(fmax(exp(o[k] - b->logp_rollout[k]), w.rollout_is_low), w.rollout_is_high);
        if (!edited_counts(s, 0, k)) continue;
        if (!grpo_is_finite(o[k]) || !(v > 0)) { s->impossible = 1; return; }
        o[k] -= log(v);
    }
    s->obj.weight.rollout_is = GRPO_ROLLOUT_IS_NONE;
    s->obj.weight.rollout_is_low = s->obj.weight.rollout_is_high = 0;
}
void rollout_cap_is_floor(edited *s, double p) {
    (void)p;
    s->impossible |= s->obj.weight.rollout_is != GRPO_ROLLOUT_IS_TRUNCATE;
    s->obj.weight.rollout_is_low = s->obj.weight.rollout_is_high;
    s->obj.weight.rollout_is_high = HUGE_VAL;
}
/* the log-ratios of masked tokens enter the mean, which is divided by the tokens that count or (p > 0) by all of the response */
void mean_of_all(edited *s, double p) {
    grpo_real *o = edited_denominator(s);
    const grpo_batch *b = &s->c.batch;
    s->impossible |= s->obj.ratio.level != GRPO_LEVEL_SEQUENCE_MEAN || !b->mask;
    for (int64_t i = 0; o && !s->impossible && i < s->c.n_sequences; i++) {
        double sum = 0, T = edited_count(s, i), by = p > 0 ? (double)b->length[i] : T;
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) sum += edited_log_ratio(s, k);
        s->impossible |= T > 0 && !grpo_is_finite(sum);
        for (int64_t k = b->offset[i]; T > 0 && k < b->offset[i] + b->length[i]; k++) {
            s->chain[k] = T / by;
            if (edited_counts(s, i, k)) o[k] = b->logp[k] - sum / by;
        }
    }
    s->ratio_of_all = 1;
}
void ratio_of_response(edited *s, double p) {
    (void)p;
    s->impossible |= s->obj.ratio.level != GRPO_LEVEL_TOKEN;
    s->obj.ratio.level = GRPO_LEVEL_SEQUENCE_SUM;
}
void taus_exchanged(edited *s, double p) {
    const double tau = s->obj.surrogate.tau_pos;
    (void)p;
    s->impossible |= s->obj.surrogate.kind != GRPO_SURROGATE_SAPO;
    s->obj.surrogate.tau_pos = s->obj.surrogate.tau_neg;
    s->obj.surrogate.tau_neg = tau;
}
void eps_low_times(edited *s, double p) { s->obj.surrogate.eps_low *= p; }
void eps_high_times(edited *s, double p) { s->obj.surrogate.eps_high *= p; }
