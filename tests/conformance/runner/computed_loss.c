/* Mistakes in the loss.  A mistake consists of edits of a copy of the case (arrays, advantages, objective, aggregation), or of another
 * formula for the surrogate or the KL, or both.  The headers evaluate the copy, policy and penalty separately; a formula is evaluated token
 * by token here.  No mistake is computed where policy and penalty without a mistake do not add up to the right answer of the case. */
#include "computed.h"
#include <stdlib.h>

#define MARGIN 1e-11

/* ---- a copy of a case that can be edited ---------------------------------------------------------------------------------------- */

typedef struct {
    test_case c;
    grpo_objective obj;
    double *advantage, *chain;          /* (tokens); chain: derivative of the edited log-ratio by the true one */
    double *share;                      /* (sequences) factor of each response's loss, beside the aggregation; NULL: 1 */
    int64_t *origin;                    /* (tokens) the token whose log-probability was moved here, -1: none; NULL: nothing was moved */
    const grpo_real *penalty_logp;      /* NULL: the policy's, logp */
    int policy_aggregation, penalty_aggregation;    /* -1: as in the objective */
    double penalty_value, penalty_gradient, policy_value, policy_gradient, bonus_value;
    double *penalty_share;              /* (tokens) detached factor of each token's penalty; NULL: 1 */
    int empty_is_nan;                   /* 1: the mean of a response without tokens that count is 0/0; 2: in the gradient too */
    int ratio_of_all;                   /* 1: masked tokens enter the mean log-ratio, and have its gradient */
    int keeps_correction;               /* 1: logp_old - logp_rollout of a rollout correction stays, where only one of them was edited */
    int impossible;                     /* the mistake cannot be made on this case */
    void **memory;
} edited;

static void *room(edited *s, int64_t count, size_t size) { return case_memory(&s->memory, count, size); }
static int64_t tokens_of(const edited *s) { return s->c.batch.n_tokens; }

static edited edited_of(const test_case *c) {
    edited s;
    grpo_real *a;
    memset(&s, 0, sizeof s);
    s.c = *c;
    s.obj = c->objective;
    s.policy_aggregation = s.penalty_aggregation = -1;
    s.penalty_value = s.penalty_gradient = s.policy_value = s.policy_gradient = s.bonus_value = 1;
    s.advantage = room(&s, c->batch.n_tokens, sizeof *s.advantage);
    s.chain = room(&s, c->batch.n_tokens, sizeof *s.chain);
    a = c->given || c->advantage.expect ? compare_expected_advantage(c) : NULL;
    s.impossible = !a;
    for (int64_t k = 0; k < c->batch.n_tokens; k++) { s.advantage[k] = a ? (double)a[k] : 0; s.chain[k] = 1; }
    free(a);
    return s;
}

/* replaces an array of the batch by a copy that can be written; returns NULL, and sets impossible, if the batch does not have it */
static grpo_real *own_array(edited *s, const grpo_real **array) {
    grpo_real *p;
    if (!*array) { s->impossible = 1; return NULL; }
    p = room(s, tokens_of(s), sizeof *p);
    memcpy(p, *array, (size_t)tokens_of(s) * sizeof *p);
    *array = p;
    return p;
}

static const grpo_real **behaviour(edited *s) {
    s->impossible |= s->obj.ratio.behaviour != GRPO_BEHAVIOUR_OLD && s->obj.ratio.behaviour != GRPO_BEHAVIOUR_ROLLOUT;
    return s->obj.ratio.behaviour == GRPO_BEHAVIOUR_ROLLOUT ? &s->c.batch.logp_rollout : &s->c.batch.logp_old;
}

/* the ratio's denominator, to be written by a mistake that changes the ratio alone: a rollout correction keeps its weight */
static grpo_real *own_denominator(edited *s) {
    s->keeps_correction = 1;
    return own_array(s, behaviour(s));
}

static int counts(const edited *s, int64_t i, int64_t k) {
    int cut = s->obj.weight.truncated == GRPO_WEIGHT_TRUNCATED_MASK && s->c.batch.truncated && s->c.batch.truncated[i];
    int left_out = s->obj.weight.selected == GRPO_SELECTED_ONLY && s->c.batch.selected && !s->c.batch.selected[k];
    return !cut && !left_out && (!s->c.batch.mask || s->c.batch.mask[k]);
}

static double tokens_that_count(const edited *s, int64_t i) {
    const grpo_batch *b = &s->c.batch;
    double n = 0;
    for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) n += counts(s, i, k);
    return n;
}

static double widest(const edited *s) {
    double most = 0;
    for (int64_t i = 0; i < s->c.n_sequences; i++) most = fmax(most, (double)s->c.batch.length[i]);
    return most;
}

/* ---- edits ---------------------------------------------------------------------------------------------------------------------- */

typedef void edit_function(edited *s, double p);
typedef struct { edit_function *make; double p; } edit;

static void advantage_times(edited *s, double p) { for (int64_t k = 0; k < tokens_of(s); k++) s->advantage[k] *= p; }
static void advantage_size(edited *s, double p) {
    (void)p;
    for (int64_t k = 0;
    k < tokens_of(s);
    k++) s->advantage[k] = fabs(s->advantage[k]);
}
static void advantage_squared(edited *s, double p) {
    (void)p;
    for (int64_t k = 0; k < tokens_of(s); k++) s->advantage[k] *= s->advantage[k];
}

static void advantage_bounded(edited *s, double p) {
    for (int64_t k = 0; k < tokens_of(s); k++) s->advantage[k] = fmin(fmax(s->advantage[k], -p), p);
}

static void advantage_sign(edited *s, double p) {
    (void)p;
    for (int64_t k = 0; k < tokens_of(s); k++) s->advantage[k] = (s->advantage[k] > 0) - (s->advantage[k] < 0);
}
static void advantage_side(edited *s, double p) {        /* advantages of the other sign become 0 */
    for (int64_t k = 0; k < tokens_of(s); k++) if (s->advantage[k] * p < 0) s->advantage[k] = 0;
}
static void advantage_one(edited *s, double p) { for (int64_t k = 0; k < tokens_of(s); k++) s->advantage[k] = p; }

static double advantage_of(const edited *s, int64_t i) {
    const grpo_batch *b = &s->c.batch;
    for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) if (!b->mask || b->mask[k]) return s->advantage[k];
    return 0;
}

/* only one counting token of each response has the advantage, the first or (p = -1) the last */
static void advantage_of_one(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    for (int64_t i = 0; i < s->c.n_sequences; i++) {
        int64_t one = -1;
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) if (counts(s, i, k) && (one < 0 || p < 0)) one = k;
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) if (k != one) s->advantage[k] = 0;
    }
}
static void advantage_of_other(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    double *a = room(s, tokens_of(s), sizeof *a);
    for (int64_t i = 0; i < s->c.n_sequences; i++) {
        int64_t j = (i + (int64_t)p + s->c.n_sequences) % s->c.n_sequences;
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) a[k] = advantage_of(s, j);
    }
    s->advantage = a;
}
/* all tokens of a response have the advantage of its first token that counts, of its last (p = -1) or the mean of all (p = 0) */
static void advantage_of_response(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    double *a = room(s, tokens_of(s), sizeof *a);
    for (int64_t i = 0; i < s->c.n_sequences; i++) {
        double first = 0, last = 0, sum = 0, T = 0;
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) {
            if (!counts(s, i, k)) continue;
            last = s->advantage[k];
            if (T++ == 0) first = last;
            sum += last;
        }
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) a[k] = p > 0 ? first : p < 0 ? last : T > 0 ? sum / T : 0;
    }
    s->advantage = a;
}
/* every response has the mean of all of their advantages; not where that is 0 but for rounding, or a response has several */
static void advantage_of_all(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    double sum = 0, most = 0;
    (void)p;
    for (int64_t i = 0; i < s->c.n_sequences; i++) {
        const double a = advantage_of(s, i);
        sum += a;
        most = fmax(most, fabs(a));
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++)
            s->impossible |= (!b->mask || b->mask[k]) && s->advantage[k] != a;
    }
    s->impossible |= s->c.n_sequences < 2 || !(fabs(sum) > 1e-9 * most);
    for (int64_t k = 0; k < tokens_of(s); k++) s->advantage[k] = sum / (double)s->c.n_sequences;
}
/* each response's advantages are one longer than its tokens, and read one after the other */
static void advantage_drifts(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    double *late = room(s, tokens_of(s) + s->c.n_sequences, sizeof *late), *a = room(s, tokens_of(s), sizeof *a);
    int64_t written = 0, read = 0;
    (void)p;
    for (int64_t i = 0; i < s->c.n_sequences; i++)
        for (int64_t t = b->length[i] ? -1 : 0; t < b->length[i]; t++) late[written++] = s->advantage[b->offset[i] + (t < 0 ? 0 : t)];
    for (int64_t i = 0; i < s->c.n_sequences; i++)
        for (int64_t t = 0; t < b->length[i]; t++) a[b->offset[i] + t] = late[read++];
    s->advantage = a;
}

static double difference_at(edited *s, int64_t k) {
    double d = s->c.batch.logp[k] - (*behaviour(s))[k];     /* the caller has checked that the array exists */
    if (!grpo_is_finite(d) && (!s->c.batch.mask || s->c.batch.mask[k])) s->impossible = 1;
    return d;
}

/* multiplies the log-ratio by p */
static void log_ratio_times_by_hand(edited *s, double p) {
    grpo_real *o = own_denominator(s);
    for (int64_t k = 0; o && k < tokens_of(s); k++) o[k] = s->c.batch.logp[k] - p * difference_at(s, k);
}
static void log_ratio_times(edited *s, double p) {
    log_ratio_times_by_hand(s, p);
    for (int64_t k = 0; k < tokens_of(s); k++) s->chain[k] *= p;
}
static void ratio_times(edited *s, double p) {
    grpo_real *o = own_denominator(s);
    for (int64_t k = 0; o && k < tokens_of(s); k++) o[k] -= log(p);
}
static void old_is_policy(edited *s, double p) { (void)p; behaviour(s); *behaviour(s) = s->c.batch.logp; }
static void old_is(edited *s, const grpo_real *array) {
    s->impossible |= !array;
    if (array) *behaviour(s) = array;
}
static void old_is_reference(edited *s, double p) { (void)p; old_is(s, s->c.batch.logp_ref); }
static void old_is_rollout(edited *s, double p) { (void)p; old_is(s, s->c.batch.logp_rollout); }
static void old_is_old(edited *s, double p) { (void)p; old_is(s, s->c.batch.logp_old); }
static void old_is_certain(edited *s, double p) { old_is(s, room(s, tokens_of(s), sizeof(grpo_real))); (void)p; }
/* l/o, the quotient of two log-probabilities */
static void ratio_of_logs(edited *s, double p) {
    grpo_real *o = own_denominator(s);
    (void)p;
    for (int64_t k = 0; o && k < tokens_of(s); k++) {
        double l = s->c.batch.logp[k], old = o[k];
        if (counts(s, 0, k) && !(l < 0 && old < 0 && grpo_is_finite(l) && grpo_is_finite(old))) { s->impossible = 1; continue; }
        o[k] = l - log(l / old);
        s->chain[k] = 1 / l;
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
    grpo_real *to = own_array(s, array);
    for (int64_t i = 0; to && i < s->c.n_sequences; i++)
        for (int64_t k = s->c.batch.offset[i]; k < s->c.batch.offset[i] + s->c.batch.length[i]; k++) {
            int64_t at = rolled_from(s, kind, i, k, by);
            to[k] = at < 0 ? 0 : from[at];
            if (to[k] != to[k] && counts(s, i, k)) s->impossible = 1;
            if (origin) origin[k] = at;
        }
}

#define ROLLS(KIND, kind) \
    static void roll_old_##kind(edited *s, double p) { roll(s, behaviour(s), KIND, (int64_t)p, NULL); } \
    static void roll_reference_##kind(edited *s, double p) { roll(s, &s->c.batch.logp_ref, KIND, (int64_t)p, NULL); } \
    static void roll_policy_by_hand_##kind(edited *s, double p) { roll(s, &s->c.batch.logp, KIND, (int64_t)p, NULL); } \
    static void roll_policy_##kind(edited *s, double p) { \
        s->origin = room(s, tokens_of(s), sizeof *s->origin); \
        roll(s, &s->c.batch.logp, KIND, (int64_t)p, s->origin); \
    }
ROLLS(ROLL_SEQUENCE, sequence)
ROLLS(ROLL_ZERO, zero)
ROLLS(ROLL_EDGE, edge)
ROLLS(ROLL_BATCH, batch)

/* the logp_rollout of a rollout correction, as an array that can be written: changes it without changing the surrogate's ratio */
static grpo_real *own_rollout(edited *s) {
    s->impossible |= s->obj.ratio.behaviour != GRPO_BEHAVIOUR_OLD || !s->obj.weight.rollout_is || !s->c.batch.logp_old;
    return s->impossible ? NULL : own_array(s, &s->c.batch.logp_rollout);
}
/* moves the other array of the correction's log-ratio as far as the ratio's denominator was moved from `before` */
static void keep_correction(edited *s, const grpo_batch *before) {
    grpo_batch *b = &s->c.batch;
    const int rollout = s->obj.ratio.behaviour == GRPO_BEHAVIOUR_ROLLOUT;
    const grpo_real *from = rollout ? before->logp_rollout : before->logp_old, *to = *behaviour(s);
    grpo_real *other;
    if (!s->keeps_correction || !(s->obj.weight.rollout_is || s->obj.weight.rollout_rs) || from == to) return;
    if (s->obj.weight.off_policy_mask || s->obj.penalty.kl_reference) { s->impossible = 1; return; }
    other = own_array(s, rollout ? &b->logp_old : &b->logp_rollout);
    for (int64_t k = 0; other && k < tokens_of(s); k++) {
        if (counts(s, 0, k) && !grpo_is_finite(to[k] - from[k])) s->impossible = 1;
        other[k] += to[k] - from[k];
    }
}
static void rollout_weight_of_policy(edited *s, double p) {
    grpo_real *r = own_rollout(s);
    (void)p;
    for (int64_t k = 0; r && k < tokens_of(s); k++) {
        const double d = s->c.batch.logp[k] - s->c.batch.logp_old[k];
        if (counts(s, 0, k) && !grpo_is_finite(d)) s->impossible = 1;
        r[k] -= d;
    }
}
static void rollout_weight_inverted(edited *s, double p) {
    grpo_real *r = own_rollout(s);
    (void)p;
    for (int64_t k = 0; r && k < tokens_of(s); k++) {
        const double d = s->c.batch.logp_old[k] - r[k];
        if (counts(s, 0, k) && !grpo_is_finite(d)) s->impossible = 1;
        r[k] += 2 * d;
    }
}

static void reference_is_old(edited *s, double p) { (void)p; s->impossible |= !s->c.batch.logp_ref; s->c.batch.logp_ref = *behaviour(s); }

/* the KL is that of the old policy, without gradient */
static void penalty_of_old(edited *s, double p) {
    (void)p;
    s->penalty_logp = *behaviour(s);
    s->penalty_gradient = 0;
    s->impossible |= !s->penalty_logp || !s->c.batch.logp_ref;
}

static double kl_estimate(const grpo_objective *o, double D) {
    return o->penalty.kl == GRPO_KL_K3 ? expm1(-D) + D : o->penalty.kl == GRPO_KL_K2 ? D * D / 2 : D;
}

/* the KL, times p, is part of the advantage and not of the loss */
static void penalty_in_advantage(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    s->impossible |= !b->logp_ref;
    for (int64_t k = 0; b->logp_ref && k < tokens_of(s); k++) {
        double D = b->logp[k] - b->logp_ref[k];
        if (grpo_is_finite(D) && (!b->mask || b->mask[k])) s->advantage[k] += p * s->obj.penalty.kl_coef * kl_estimate(&s->obj, D);
    }
    s->penalty_value = s->penalty_gradient = 0;
}

/* masks by a rule of the mask, the token's position t and the response's length n */
typedef int mask_rule(const uint8_t *mask, int64_t t, int64_t n);
static int says(const uint8_t *mask, int64_t t) { return !mask || mask[t]; }
static int last_counts(const uint8_t *mask, int64_t t, int64_t n) {
    int64_t last = -1;
    for (int64_t k = 0; k < n; k++) if (says(mask, k)) last = k;
    return says(mask, t) && t != last;
}
static int first_counts(const uint8_t *mask, int64_t t, int64_t n) {
    int64_t first = 0;
    while (first < n && !says(mask, first)) first++;
    return says(mask, t) && t != first;
}
static int all_count(const uint8_t *mask, int64_t t, int64_t n) { (void)mask; (void)t; (void)n; return 1; }
static int inverted(const uint8_t *mask, int64_t t, int64_t n) { (void)n; return mask ? !mask[t] : 0; }

static void edit_mask(edited *s, mask_rule *rule) {
    const grpo_batch *b = &s->c.batch;
    uint8_t *m = room(s, b->n_tokens, 1);
    for (int64_t i = 0; i < s->c.n_sequences; i++)
        for (int64_t t = 0; t < b->length[i]; t++) m[b->offset[i] + t] = (uint8_t)rule(b->mask ? b->mask + b->offset[i] : NULL, t,
            b->length[i]);
    s->c.batch.mask = m;
}
static void mask_all(edited *s, double p) { (void)p; edit_mask(s, all_count); }
static void mask_last(edited *s, double p) { (void)p; edit_mask(s, last_counts); }
static void mask_end_of_full_rows(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    uint8_t *m = room(s, b->n_tokens, 1);
    (void)p;
    for (int64_t i = 0; i < s->c.n_sequences; i++)
        for (int64_t t = 0; t < b->length[i]; t++)
            m[b->offset[i] + t] = says(b->mask ? b->mask + b->offset[i] : NULL, t) && (double)t + 1 < widest(s);
    s->c.batch.mask = m;
}
static void mask_first(edited *s, double p) { (void)p; edit_mask(s, first_counts); }
static void mask_inverted(edited *s, double p) { (void)p; edit_mask(s, inverted); }

/* each token has the mask of the one before (p = 1) or after (-1).  What has the token at the end of the response where none is: */
typedef enum { OFF, ON, ITS_OWN, OF_OTHER_END, OF_END_OF_ROW, OF_NEXT_RESPONSE } mask_at_end;
static int mask_beyond(const edited *s, int64_t i, int64_t t, mask_at_end at_end) {
    const grpo_batch *b = &s->c.batch;
    const int64_t n = b->length[i], end = t < 0 ? n - 1 : 0, all = tokens_of(s);
    switch (at_end) {
    case OFF: return 0;
    case ON: return 1;
    case ITS_OWN: return says(b->mask, b->offset[i] + (n - 1 - end));
    case OF_OTHER_END: return says(b->mask, b->offset[i] + end);
    case OF_END_OF_ROW: return (double)n == widest(s) && says(b->mask, b->offset[i] + end);
    default: return says(b->mask, (b->offset[i] + t + all) % all);
    }
}
static void shift_mask(edited *s, int64_t by, mask_at_end at_end) {
    const grpo_batch *b = &s->c.batch;
    uint8_t *m = room(s, b->n_tokens, 1);
    for (int64_t i = 0; i < s->c.n_sequences; i++)
        for (int64_t t = 0; t < b->length[i]; t++) {
            const int64_t from = t - by;
            m[b->offset[i] + t] = (uint8_t)(from >= 0 && from < b->length[i] ? says(b->mask, b->offset[i] + from)
                : mask_beyond(s, i, from, at_end));
        }
    s->c.batch.mask = m;
}
static void mask_shifted(edited *s, double p) { shift_mask(s, (int64_t)p, OFF); }
static void mask_shifted_on(edited *s, double p) { shift_mask(s, (int64_t)p, ON); }
static void mask_shifted_own(edited *s, double p) { shift_mask(s, (int64_t)p, ITS_OWN); }
static void mask_shifted_response(edited *s, double p) { shift_mask(s, (int64_t)p, OF_OTHER_END); }
static void mask_shifted_row(edited *s, double p) { shift_mask(s, (int64_t)p, OF_END_OF_ROW); }
static void mask_shifted_batch(edited *s, double p) { shift_mask(s, (int64_t)p, OF_NEXT_RESPONSE); }
/* a program with one advantage per response uses it at masked tokens too */
/* tokens that do not count have the advantage of their response's first that does; those that count keep their own */
static void advantage_everywhere(edited *s, double p) {
    const double *given = s->advantage;
    (void)p;
    advantage_of_other(s, 0);
    for (int64_t k = 0; k < tokens_of(s); k++) if (!s->c.batch.mask || s->c.batch.mask[k]) s->advantage[k] = given[k];
}

/* the factors by which a response's sum is multiplied or divided */
typedef enum { BY_SLOTS, BY_WIDTH, BY_TOKENS, TIMES_TOKENS, BY_ONE_MORE, BY_ONE_LESS, BY_ROOT, BY_EPS_6, BY_EPS_8, BY_EPS_5, BY_EPS_9,
    BY_EPS_4 } share_kind;
static double share_of(const edited *s, int64_t i, share_kind kind) {
    double T = tokens_that_count(s, i);
    switch (kind) {
    case BY_SLOTS: return T / (double)s->c.batch.length[i];
    case BY_WIDTH: return T / widest(s);
    case BY_TOKENS: return T > 0 ? 1 / T : 0;
    case TIMES_TOKENS: return T;
    case BY_ONE_MORE: return T / (T + 1);
    case BY_ONE_LESS: return T > 1 ? T / (T - 1) : nan("");
    case BY_ROOT: return sqrt(T);
    case BY_EPS_4: return T / (T + 1e-4);
    case BY_EPS_5: return T / (T + 1e-5);
    case BY_EPS_6: return T / (T + 1e-6);
    case BY_EPS_8: return T / (T + 1e-8);
    case BY_EPS_9: return T / (T + 1e-9);
    }
    return 1;
}
static void share_loss(edited *s, double p) {
    s->share = room(s, s->c.n_sequences, sizeof *s->share);
    for (int64_t i = 0; i < s->c.n_sequences; i++) s->share[i] = share_of(s, i, (share_kind)p);
}
/* the first response, or (p = -1) the last, is left out */
static void drop_response(edited *s, double p) {
    const int64_t left_out = p < 0 ? s->c.n_sequences - 1 : 0, n = s->c.n_sequences;
    s->share = room(s, n, sizeof *s->share);
    for (int64_t i = 0; i < n; i++) s->share[i] = i != left_out;
}
static void drop_and_uncount(edited *s, double p) {
    const double n = (double)s->c.n_sequences;
    drop_response(s, p);
    s->impossible |= n < 2;
    for (int64_t i = 0; i < s->c.n_sequences; i++) s->share[i] *= n / (n - 1);
}
/* only the first group, or (p = -1) the last, adds to the loss */
static void only_group(edited *s, double p) {
    const int64_t g = p < 0 ? s->c.batch.n_groups - 1 : 0;
    s->share = room(s, s->c.n_sequences, sizeof *s->share);
    for (int64_t i = s->c.batch.group_begin[g]; i < s->c.batch.group_begin[g + 1]; i++) s->share[i] = 1;
}

/* of the mean over all tokens: the tokens that count, and all */
static void of_token_mean(edited *s, double *counted, double *slots) {
    s->share = room(s, s->c.n_sequences, sizeof *s->share);
    s->impossible |= s->obj.aggregation.kind != GRPO_AGGREGATION_TOKEN_MEAN;
    *counted = *slots = 0;
    for (int64_t i = 0; i < s->c.n_sequences; i++) { *counted += tokens_that_count(s, i); *slots += (double)s->c.batch.length[i]; }
}

/* another divisor of the mean over all tokens */
static void share_total(edited *s, double p) {
    double T, slots;
    of_token_mean(s, &T, &slots);
    for (int64_t i = 0; i < s->c.n_sequences; i++)
        s->share[i] = p == 0 ? T / slots : p == 1 ? T / (widest(s) * (double)s->c.n_sequences) : T / (T + p);
}
/* every token is in the sum over tokens, and what is divided by are those that count */
static void sum_over_all(edited *s, double p) {
    double T, slots;
    (void)p;
    of_token_mean(s, &T, &slots);
    s->impossible |= T == 0;
    for (int64_t i = 0; i < s->c.n_sequences; i++) s->share[i] = slots / T;
    s->obj.weight.truncated = GRPO_WEIGHT_TRUNCATED_KEEP;
    mask_all(s, 0);
}
/* another divisor of the mean over a group's tokens: 0: the responses' lengths, 1: their padded width */
static void share_mean_of_group(edited *s, double p) {
    s->share = room(s, s->c.n_sequences, sizeof *s->share);
    s->impossible |= s->obj.aggregation.kind != GRPO_AGGREGATION_GROUP_MEAN_TOKEN_MEAN;
    for (int64_t g = 0; g < s->c.batch.n_groups; g++) {
        const int64_t from = s->c.batch.group_begin[g], to = s->c.batch.group_begin[g + 1];
        double T = 0, places = 0;
        for (int64_t i = from; i < to; i++) {
            T += tokens_that_count(s, i);
            places += p == 0 ? (double)s->c.batch.length[i] : widest(s);
        }
        for (int64_t i = from; i < to; i++) s->share[i] = T / places;
    }
}
static void share_mean_of_response(edited *s, double p) {
    s->impossible |= s->obj.aggregation.kind != GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN;
    share_loss(s, p);
}
/* another divisor of the mean log-ratio of a response */
static void share_ratio(edited *s, double p) {
    grpo_real *o = own_denominator(s);
    s->impossible |= s->obj.ratio.level != GRPO_LEVEL_SEQUENCE_MEAN;
    for (int64_t i = 0; o && i < s->c.n_sequences; i++)
        for (int64_t k = s->c.batch.offset[i]; k < s->c.batch.offset[i] + s->c.batch.length[i]; k++) {
            double share = share_of(s, i, (share_kind)p);
            o[k] = s->c.batch.logp[k] - share * difference_at(s, k);
            s->chain[k] = s->obj.ratio.gradient == GRPO_GRADIENT_FULL ? share : 1;
        }
}
/* another divisor in the gradient of the mean log-ratio only */
static void share_gradient(edited *s, double p) {
    s->impossible |= s->obj.ratio.level != GRPO_LEVEL_SEQUENCE_MEAN;
    for (int64_t i = 0; i < s->c.n_sequences; i++)
        for (int64_t k = s->c.batch.offset[i]; k < s->c.batch.offset[i] + s->c.batch.length[i]; k++) s->chain[k] *= share_of(s, i,
            (share_kind)p);
}
/* the ratio of a response is the mean of its tokens' ratios, not the exponential of their mean log-ratio */
static void mean_of_ratios(edited *s, double p) {
    grpo_real *o = own_denominator(s);
    const grpo_batch *b = &s->c.batch;
    s->impossible |= s->obj.ratio.level != GRPO_LEVEL_SEQUENCE_MEAN;
    for (int64_t i = 0; o && i < s->c.n_sequences; i++) {
        double sum = 0, T = tokens_that_count(s, i);
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) if (counts(s, i, k)) sum += exp(difference_at(s, k));
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) {
            if (!counts(s, i, k)) continue;
            if (p > 0 && s->obj.ratio.gradient == GRPO_GRADIENT_FULL) s->chain[k] = T * exp(difference_at(s, k)) / sum;
            o[k] = b->logp[k] - log(sum / T);
        }
    }
}
/* the log-ratios of masked tokens enter the mean, which is divided by the tokens that count or (p > 0) by all of the response */
static void mean_of_all(edited *s, double p) {
    grpo_real *o = own_denominator(s);
    const grpo_batch *b = &s->c.batch;
    s->impossible |= s->obj.ratio.level != GRPO_LEVEL_SEQUENCE_MEAN || !b->mask;
    for (int64_t i = 0; o && !s->impossible && i < s->c.n_sequences; i++) {
        double sum = 0, T = tokens_that_count(s, i), by = p > 0 ? (double)b->length[i] : T;
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) sum += difference_at(s, k);
        s->impossible |= T > 0 && !grpo_is_finite(sum);
        for (int64_t k = b->offset[i]; T > 0 && k < b->offset[i] + b->length[i]; k++) {
            s->chain[k] = T / by;
            if (counts(s, i, k)) o[k] = b->logp[k] - sum / by;
        }
    }
    s->ratio_of_all = 1;
}
static void ratio_of_response(edited *s, double p) {
    (void)p;
    s->impossible |= s->obj.ratio.level != GRPO_LEVEL_TOKEN;
    s->obj.ratio.level = GRPO_LEVEL_SEQUENCE_SUM;
}
static void policy_aggregated(edited *s, double p) {
    s->policy_aggregation = (int)p;
    s->impossible |= (int)s->obj.aggregation.kind == (int)p;
}
static void penalty_aggregated(edited *s, double p) {
    s->penalty_aggregation = (int)p;
    s->impossible |= (int)s->obj.aggregation.kind == (int)p;
}
static void all_aggregated(edited *s, double p) { s->policy_aggregation = s->penalty_aggregation = (int)p; }
static void penalty_times(edited *s, double p) { s->penalty_value *= p; s->penalty_gradient *= p; }
static void penalty_coefficient_again(edited *s, double p) {
    penalty_times(s, p > 0 ? s->obj.penalty.kl_coef : 1 / s->obj.penalty.kl_coef);
}
static void penalty_gradient_times(edited *s, double p) { s->penalty_gradient *= p; }
/* the ratio of the token, or (p > 0) of the ratio's level, here the response */
static void penalty_by_ratio(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    const int whole = p > 0;
    s->impossible |= whole != (s->obj.ratio.level == GRPO_LEVEL_SEQUENCE_MEAN) || (!whole && s->obj.ratio.level != GRPO_LEVEL_TOKEN);
    s->impossible |= s->obj.penalty.kl_importance_weight || s->obj.penalty.kl_aggregation || !*behaviour(s);
    if (s->impossible) return;
    s->penalty_share = room(s, tokens_of(s), sizeof *s->penalty_share);
    for (int64_t i = 0; i < s->c.n_sequences; i++) {
        double sum = 0, T = tokens_that_count(s, i);
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) if (counts(s, i, k)) sum += difference_at(s, k);
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++)
            if (counts(s, i, k)) s->penalty_share[k] = exp(whole ? sum / T : difference_at(s, k));
    }
}
static void empty_means(edited *s, double p) {
    s->impossible |= s->obj.aggregation.kind != GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN;
    s->empty_is_nan = (int)p;
}
static void bonus_times(edited *s, double p) { s->bonus_value *= p; }
static void policy_times(edited *s, double p) { s->policy_value *= p; s->policy_gradient *= p; }
static void policy_gradient_times(edited *s, double p) { s->policy_gradient *= p; }
static void taus_exchanged(edited *s, double p) {
    const double tau = s->obj.surrogate.tau_pos;
    (void)p;
    s->impossible |= s->obj.surrogate.kind != GRPO_SURROGATE_SAPO;
    s->obj.surrogate.tau_pos = s->obj.surrogate.tau_neg;
    s->obj.surrogate.tau_neg = tau;
}
static void eps_low_times(edited *s, double p) { s->obj.surrogate.eps_low *= p; }
static void eps_high_times(edited *s, double p) { s->obj.surrogate.eps_high *= p; }

/* ---- formulas ------------------------------------------------------------------------------------------------------------------- */

/* the value, and its derivatives by the log-ratio and by the log-probability itself */
typedef struct { double value, ratio, logp; } formula_value;
typedef formula_value formula(double A, double y, double l, const grpo_objective *obj);
/* FOR_CLIP: where a dual clip is meant, it bounds what the formula gives, as trainers do in a line of their own after the clip.
 * INSTEAD_OF_CLIP: the formula stands for both.  FOR_SINGLE_CLIP: where no dual clip is meant, FOR_DUAL_CLIP: where one is */
typedef enum { FOR_ANY, FOR_CLIP, INSTEAD_OF_CLIP, FOR_SINGLE_CLIP, FOR_DUAL_CLIP, FOR_CISPO, FOR_REINFORCE, FOR_KL, FOR_K3, FOR_LINEAR, FOR_TOKEN_MEAN
} row_kind;

/* a formula of one expression */
#define FORMULA(name, expression) \
    static formula_value name(double A, double y, double l, const grpo_objective *o) { \
        (void)A; (void)y; (void)l; (void)o; \
        return expression; \
    }

static formula_value plain_value(double value, double ratio, double logp) {
    formula_value v;
    v.value = value;
    v.ratio = ratio;
    v.logp = logp;
    return v;
}

static double low_of(const grpo_objective *o) { return 1 - o->surrogate.eps_low; }
static double high_of(const grpo_objective *o) { return 1 + o->surrogate.eps_high; }

/* the larger of -A w and -A clip(w), and its derivative by the log-ratio y */
static formula_value clipped(double A, double w, double low, double high) {
    double c = w < low ? low : w > high ? high : w;
    return -A * c > -A * w ? plain_value(-A * c, 0, 0) : plain_value(-A * w, -A * w, 0);
}

FORMULA(right_clip, clipped(A, exp(y), low_of(o), high_of(o)))
static formula_value at_most(formula_value v, double top) { return v.value > top ? plain_value(top, 0, 0) : v; }
static formula_value dual(double A, formula_value v, double c) { return A < 0 ? at_most(v, -A * c) : v; }
static formula_value with_dual(double A, formula_value v, const grpo_objective *o) {
    return o->surrogate.kind == GRPO_SURROGATE_DUAL_CLIP ? dual(A, v, o->surrogate.clip_dual) : v;
}
FORMULA(right_dual, with_dual(A, right_clip(A, y, l, o), o))
FORMULA(unclipped, plain_value(-A * exp(y), -A * exp(y), 0))
FORMULA(reinforced, plain_value(-A * l, 0, -A))
FORMULA(ratio_of_itself, plain_value(-A, 0, -A))        /* -A e^(l - sg[l]) */
static double cispo_weight(double y, const grpo_objective *o) {
    return fmin(fmax(exp(y), o->surrogate.weight_min), o->surrogate.weight_max);
}
static formula_value weighted(double A, double w, double l) { return plain_value(-A * w * l, 0, -A * w); }
FORMULA(right_cispo, weighted(A, cispo_weight(y, o), l))

/* minimum and maximum exchanged */
static formula_value smaller(double A, double w, double low, double high) {
    double c = w < low ? low : w > high ? high : w;
    return -A * c < -A * w ? plain_value(-A * c, 0, 0) : plain_value(-A * w, -A * w, 0);
}
static formula_value bounded(double A, double w, double low, double high) {
    return w < low ? plain_value(-A * low, 0, 0) : w > high ? plain_value(-A * high, 0, 0) : plain_value(-A * w, -A * w, 0);
}
FORMULA(exchanged, smaller(A, exp(y), low_of(o), high_of(o)))
FORMULA(only_clip, bounded(A, exp(y), low_of(o), high_of(o)))
FORMULA(min_of_ratios, A < 0 ? exchanged(A, y, l, o) : right_clip(A, y, l, o))
FORMULA(max_of_ratios, A > 0 ? exchanged(A, y, l, o) : right_clip(A, y, l, o))
FORMULA(reciprocal_low, clipped(A, exp(y), 1 / high_of(o), high_of(o)))
FORMULA(reciprocal_own, clipped(A, exp(y), 1 / (1 + o->surrogate.eps_low), high_of(o)))
FORMULA(reciprocal_high, clipped(A, exp(y), low_of(o), 1 / low_of(o)))
FORMULA(epsilons_exchanged, clipped(A, exp(y), 1 - o->surrogate.eps_high, 1 + o->surrogate.eps_low))
FORMULA(eps_high_twice, clipped(A, exp(y), 1 - o->surrogate.eps_high, high_of(o)))
/* clamp(w, 1 + eps, 1 - eps), with bounds exchanged, is a constant c, by the order of the two comparisons */
static formula_value constant_clip(double A, double y, double c) {
    return -A * c > -A * exp(y) ? plain_value(-A * c, 0, 0) : plain_value(-A * exp(y), -A * exp(y), 0);
}
FORMULA(turned_low, constant_clip(A, y, low_of(o)))
FORMULA(turned_high, constant_clip(A, y, high_of(o)))
FORMULA(around_zero, clipped(A, exp(y), -o->surrogate.eps_low, o->surrogate.eps_high))
FORMULA(from_eps, clipped(A, exp(y), o->surrogate.eps_low, 1 + o->surrogate.eps_high))
FORMULA(upper_only, clipped(A, exp(y), 0, high_of(o)))
FORMULA(lower_only, clipped(A, exp(y), low_of(o), HUGE_VAL))
FORMULA(at_log, clipped(A, exp(y), exp(-o->surrogate.eps_low), exp(o->surrogate.eps_high)))
static formula_value product_clipped(double A, double y, double l, const grpo_objective *o) {
    double x = A * exp(y), c = fmin(fmax(x, low_of(o)), high_of(o));
    (void)l;
    return -c > -x ? plain_value(-c, 0, 0) : plain_value(-x, -x, 0);
}
static formula_value straight_through(double A, double y, double l, const grpo_objective *o) {
    formula_value v = right_clip(A, y, l, o);
    v.ratio = -A * exp(y);
    return v;
}
static formula_value dropped_outside(double A, double y, double l, const grpo_objective *o) {
    (void)l;
    return exp(y) < low_of(o) || exp(y) > high_of(o) ? plain_value(0, 0, 0) : plain_value(-A * exp(y), -A * exp(y), 0);
}
static formula_value killed_outside(double A, double y, double l, const grpo_objective *o) {
    formula_value v = right_clip(A, y, l, o);
    if (exp(y) < low_of(o) || exp(y) > high_of(o)) v.ratio = 0;
    return v;
}
static formula_value killed_elsewhere(double A, double y, double l, const grpo_objective *o) {
    formula_value v = right_clip(A, y, l, o);
    v.ratio = (A > 0 && exp(y) < low_of(o)) || (A < 0 && exp(y) > high_of(o)) ? 0 : -A * exp(y);
    return v;
}
static formula_value without_ratio(double A, double y, double l, const grpo_objective *o) {
    formula_value v = right_clip(A, y, l, o);
    if (v.ratio != 0) v.ratio = -A;
    return v;
}
static formula_value ratio_again(double A, double y, double l, const grpo_objective *o) {
    formula_value v = right_clip(A, y, l, o);
    v.ratio *= exp(y);
    return v;
}
/* the derivative by the probability p instead of log p */
static formula_value without_log(double A, double y, double l, const grpo_objective *o) {
    formula_value v = right_clip(A, y, l, o);
    v.ratio *= exp(-l);
    return v;
}
/* the right clip with another w than e^y */
static formula_value with_ratio(double A, double w, double slope, const grpo_objective *o) {
    formula_value v = clipped(A, w, low_of(o), high_of(o));
    v.ratio = v.ratio != 0 || v.value == -A * w ? -A * slope : 0;
    return v;
}
FORMULA(no_exponential, with_ratio(A, y, 1, o))
FORMULA(linear_ratio, with_ratio(A, 1 + y, 1, o))
static formula_value ratio_less_one(double A, double y, double l, const grpo_objective *o) {
    formula_value v = right_clip(A, y, l, o);
    v.value += A;
    return v;
}
FORMULA(dual_3, dual(A, right_clip(A, y, l, o), 3))
FORMULA(dual_10, dual(A, right_clip(A, y, l, o), 10))
/* the dual clip on the wrong side of A; its larger and smaller exchanged; with 0 in place of the bound */
static formula_value dual_of_positive(double A, double y, double l, const grpo_objective *o) {
    const formula_value v = right_clip(A, y, l, o);
    return A > 0 ? at_most(v, -A * o->surrogate.clip_dual) : v;
}
static formula_value dual_exchanged(double A, double y, double l, const grpo_objective *o) {
    const formula_value v = right_clip(A, y, l, o);
    const double bound = -A * o->surrogate.clip_dual;
    return A < 0 && v.value < bound ? plain_value(bound, 0, 0) : v;
}
static formula_value dual_dropped(double A, double y, double l, const grpo_objective *o) {
    const formula_value v = right_clip(A, y, l, o);
    return A < 0 && v.value > -A * o->surrogate.clip_dual ? plain_value(0, 0, 0) : v;
}
/* the gradient goes through the clip, and through the dual clip too */
static formula_value straight_through_both(double A, double y, double l, const grpo_objective *o) {
    formula_value v = right_dual(A, y, l, o);
    v.ratio = -A * exp(y);
    return v;
}
FORMULA(clip_times_logp, weighted(A, fmin(fmax(exp(y), low_of(o)), high_of(o)), l))
static formula_value both_added(double A, double y, double l, const grpo_objective *o) {
    formula_value v = only_clip(A, y, l, o);
    return plain_value(v.value - A * exp(y), v.ratio - A * exp(y), 0);
}
static formula_value clipped_advantage(double A, double y, double l, const grpo_objective *o) {
    double a = fmin(fmax(A, -o->surrogate.eps_low), o->surrogate.eps_high);
    (void)l;
    return with_dual(a, plain_value(-a * exp(y), -a * exp(y), 0), o);
}

FORMULA(cispo_unbounded, weighted(A, exp(y), l))
FORMULA(cispo_as_loss, bounded(A, exp(y), o->surrogate.weight_min, o->surrogate.weight_max))
static formula_value cispo_attached(double A, double y, double l, const grpo_objective *o) {
    double w = cispo_weight(y, o);
    return plain_value(-A * w * l, w == exp(y) ? -A * w * l : 0, -A * w);
}
FORMULA(cispo_dropped, weighted(A, cispo_weight(y, o) == exp(y) ? exp(y) : 0, l))
FORMULA(cispo_cap_more, weighted(A, fmin(fmax(exp(y), o->surrogate.weight_min), 1 + o->surrogate.weight_max), l))
FORMULA(cispo_with_min, weighted(A, A < 0 ? exp(y) : cispo_weight(y, o), l))
FORMULA(cispo_log_capped, weighted(A, exp(fmin(y, o->surrogate.weight_max)), l))
FORMULA(probability, plain_value(-A * exp(l), 0, -A * exp(l)))
static formula_value cispo_probability(double A, double y, double l, const grpo_objective *o) {
    double w = cispo_weight(y, o);
    return plain_value(-A * w * exp(l), 0, -A * w * exp(l));
}

/* the formulas of the KL, with their derivatives; D = logp - logp_ref */
#define KL(name, value, slope) \
    static formula_value name(double A, double D, double l, const grpo_objective *o) { \
        (void)A; (void)D; (void)l; (void)o; \
        return plain_value(value, slope, 0); \
    }
KL(right_k1, D, 1)
KL(right_k2, D * D / 2, D)
KL(right_k3, expm1(-D) + D, -expm1(-D))
KL(right_abs, fabs(D), (D > 0) - (D < 0))
KL(k3_without_one, exp(-D) + D, -expm1(-D))
KL(k3_reversed, expm1(D) - D, expm1(D))
KL(k3_mixed, expm1(-D) - D, -exp(-D) - 1)
KL(k3_mixed_more, expm1(D) + D, exp(D) + 1)
KL(k3_without_linear, expm1(-D), -exp(-D))
KL(kl_square, D * D, 2 * D)
KL(kl_weighted, exp(l) * D, exp(l) * (D + 1))
KL(kl_negative, -D, -1)
KL(kl_ratio, exp(-D), -exp(-D))
KL(kl_other_ratio, exp(D), exp(D))
static formula *right_surrogate(const grpo_objective *o) {
    if (o->surrogate.bounds) return NULL;
    switch (o->surrogate.kind) {
    case GRPO_SURROGATE_PPO_CLIP: return right_clip;
    case GRPO_SURROGATE_DUAL_CLIP: return right_dual;
    case GRPO_SURROGATE_RATIO: return unclipped;
    case GRPO_SURROGATE_REINFORCE: return reinforced;
    case GRPO_SURROGATE_CISPO: return right_cispo;
    default: return NULL;
    }
}

static formula *right_kl(const grpo_objective *o) {
    switch (o->penalty.kl) {
    case GRPO_KL_K1: return right_k1;
    case GRPO_KL_K2: return right_k2;
    case GRPO_KL_K3: return right_k3;
    case GRPO_KL_ABS: return right_abs;
    default: return NULL;
    }
}

static formula_value kl_times_advantage(double A, double D, double l, const grpo_objective *o) {
    const formula_value v = right_kl(o)(A, D, l, o);        /* there is one: is_plain has evaluated it */
    return plain_value(A * v.value, A * v.ratio, 0);
}

/* is the loss a mean over responses of what is linear in their advantages? */
static int is_linear(const grpo_objective *o) {
    const int by_response = o->aggregation.kind == GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN
        || o->aggregation.kind == GRPO_AGGREGATION_SEQ_MEAN_TOKEN_SUM;
    const int surrogate = o->surrogate.kind == GRPO_SURROGATE_RATIO || o->surrogate.kind == GRPO_SURROGATE_REINFORCE
        || o->surrogate.kind == GRPO_SURROGATE_CISPO;
    return by_response && surrogate && o->penalty.kl == GRPO_KL_NONE && o->advantage.credit == GRPO_CREDIT_OUTCOME;
}

static int is_for(row_kind kind, const grpo_objective *o) {
    const int single = o->surrogate.kind == GRPO_SURROGATE_PPO_CLIP;
    switch (kind) {
    case FOR_CLIP: case INSTEAD_OF_CLIP: return single || o->surrogate.kind == GRPO_SURROGATE_DUAL_CLIP;
    case FOR_SINGLE_CLIP: return single;
    case FOR_DUAL_CLIP: return o->surrogate.kind == GRPO_SURROGATE_DUAL_CLIP;
    case FOR_CISPO: return o->surrogate.kind == GRPO_SURROGATE_CISPO;
    case FOR_REINFORCE: return o->surrogate.kind == GRPO_SURROGATE_REINFORCE;
    case FOR_KL: return o->penalty.kl != GRPO_KL_NONE && o->penalty.kl_coef != 0;
    case FOR_K3: return o->penalty.kl == GRPO_KL_K3 && o->penalty.kl_coef != 0;
    case FOR_LINEAR: return is_linear(o);
    case FOR_TOKEN_MEAN: return o->aggregation.kind == GRPO_AGGREGATION_TOKEN_MEAN && o->ratio.level == GRPO_LEVEL_TOKEN;
    case FOR_ANY: break;
    }
    return 1;
}

/* ---- parts ---------------------------------------------------------------------------------------------------------------------- */

/* the arrays are allocated in `edited` */
typedef struct { double loss, *term, *dlogp, *dentropy, policy_loss, penalty_loss; int ok; } part;

static part part_room(edited *s) {
    part p;
    memset(&p, 0, sizeof p);
    p.term = room(s, tokens_of(s), sizeof *p.term);
    p.dlogp = room(s, tokens_of(s), sizeof *p.dlogp);
    p.dentropy = room(s, tokens_of(s), sizeof *p.dentropy);
    return p;
}

static part header_part(edited *s, const grpo_objective *obj, const double *advantage) {
    part p = part_room(s);
    grpo_real *a = room(s, tokens_of(s), sizeof *a);
    outcome o;
    for (int64_t k = 0; k < tokens_of(s); k++) a[k] = (grpo_real)advantage[k];
    o = outcome_of_parts(&s->c, obj, a, gspo_loss_add);
    p.ok = !o.status;
    for (int64_t k = 0; p.ok && k < tokens_of(s); k++) { p.term[k] = o.term[k]; p.dlogp[k] = o.dlogp[k]; p.dentropy[k] = o.dentropy[k]; }
    p.loss = o.report.loss;
    outcome_free(&o);
    return p;
}

static grpo_objective without_penalty(const edited *s) {
    grpo_objective obj = s->obj;
    memset(&obj.penalty, 0, sizeof obj.penalty);
    if (s->policy_aggregation >= 0) obj.aggregation.kind = (grpo_aggregation_kind)s->policy_aggregation;
    return obj;
}

/* masked tokens have the gradient of those that count, through the mean log-ratio of their response */
static void spread_gradient(edited *s, part *p) {
    const grpo_batch *b = &s->c.batch;
    for (int64_t i = 0; i < s->c.n_sequences; i++) {
        double of_one = 0;
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) if (counts(s, i, k)) of_one = p->dlogp[k];
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) if (!counts(s, i, k)) p->dlogp[k] = of_one;
    }
}

static part policy_part(edited *s) {
    grpo_objective obj = without_penalty(s);
    part p = header_part(s, &obj, s->advantage);
    int direct = obj.surrogate.kind == GRPO_SURROGATE_REINFORCE || obj.surrogate.kind == GRPO_SURROGATE_CISPO;
    for (int64_t k = 0; k < tokens_of(s) && !direct; k++) p.dlogp[k] *= s->chain[k];
    if (s->ratio_of_all && s->obj.ratio.gradient == GRPO_GRADIENT_FULL && !direct) spread_gradient(s, &p);
    return p;
}

/* of the terms of the surrogate, with its weights; of the penalties, which only weight.external term multiplies; of the reported terms */
typedef enum { OF_SURROGATE, OF_PENALTY, OF_TERM } coefficient_of;

static double *coefficients(edited *s, int aggregation, coefficient_of what);

/* multiplies the penalty of each token by its share; not where it has a divisor of its own */
static void share_penalty(edited *s, part *p) {
    const double *c = coefficients(s, s->penalty_aggregation, OF_PENALTY);
    double loss = 0, size = 0;
    for (int64_t k = 0; k < tokens_of(s); k++) { loss += c[k] * p->term[k]; size += fabs(c[k] * p->term[k]); }
    p->ok = fabs(loss - p->loss) <= MARGIN * size;
    p->loss = 0;
    for (int64_t k = 0; k < tokens_of(s); k++) {
        p->term[k] *= s->penalty_share[k];
        p->dlogp[k] *= s->penalty_share[k];
        p->loss += c[k] * p->term[k];
    }
}

static part penalty_part(edited *s) {
    double *zero = room(s, tokens_of(s), sizeof *zero);
    grpo_objective obj = s->obj;
    const grpo_real *logp = s->c.batch.logp;
    part p;
    obj.penalty.entropy_coef = 0;
    obj.penalty.entropy_aggregation = GRPO_PENALTY_AGGREGATION_TERMS;
    if (s->penalty_aggregation >= 0) obj.aggregation.kind = (grpo_aggregation_kind)s->penalty_aggregation;
    if (s->penalty_logp) s->c.batch.logp = s->penalty_logp;
    p = header_part(s, &obj, zero);
    s->c.batch.logp = logp;
    if (s->penalty_share && p.ok) share_penalty(s, &p);
    return p;
}

/* the entropy bonus, which the mistakes of penalties leave as it is; the report counts it as penalty */
static part bonus_part(edited *s) {
    const grpo_penalty whole = s->obj.penalty;
    grpo_objective obj = s->obj;
    part p = part_room(s);
    p.ok = 1;
    if (whole.entropy_coef == 0) return p;
    memset(&obj.penalty, 0, sizeof obj.penalty);
    obj.penalty.entropy_coef = whole.entropy_coef;
    obj.penalty.entropy_aggregation = whole.entropy_aggregation;
    return header_part(s, &obj, room(s, tokens_of(s), sizeof(double)));
}

/* the weights that are not a coefficient's left out, but not what decides which tokens count */
static void without_weights(grpo_weight *w, coefficient_of what) {
    if (what == OF_SURROGATE) return;
    if (w->rollout_rejected != GRPO_ROLLOUT_REJECTED_UNMASK) {
        w->rollout_is = GRPO_ROLLOUT_IS_NONE;
        w->rollout_rs = GRPO_ROLLOUT_RS_NONE;
        w->rollout_veto = 0;
    } else if (w->rollout_is == GRPO_ROLLOUT_IS_MASK) w->rollout_is = GRPO_ROLLOUT_IS_REJECT;
    else if (w->rollout_is == GRPO_ROLLOUT_IS_TRUNCATE) w->rollout_is = GRPO_ROLLOUT_IS_NONE;
    w->rollout_is_norm = GRPO_ROLLOUT_IS_NORM_NONE;
    w->policy_is = GRPO_POLICY_IS_NONE;
    w->trust = GRPO_TRUST_NONE;
    w->off_policy_mask = GRPO_OFF_POLICY_MASK_NONE;
    w->fipo = GRPO_FIPO_NONE;
    if (w->selected != GRPO_SELECTED_ONLY) w->selected = GRPO_SELECTED_ALL;
    if (what == OF_TERM || w->external != GRPO_EXTERNAL_TERM) w->external = GRPO_EXTERNAL_NONE;
}

/* the coefficients of terms in the loss: the gradient of a loss whose terms are logp */
static double *coefficients(edited *s, int aggregation, coefficient_of what) {
    grpo_objective obj = without_penalty(s);
    double *minus = room(s, tokens_of(s), sizeof *minus);
    part p;
    if (aggregation >= 0) obj.aggregation.kind = (grpo_aggregation_kind)aggregation;
    memset(&obj.ratio, 0, sizeof obj.ratio);
    memset(&obj.surrogate, 0, sizeof obj.surrogate);
    without_weights(&obj.weight, what);
    obj.ratio.level = GRPO_LEVEL_TOKEN;
    obj.surrogate.kind = GRPO_SURROGATE_REINFORCE;
    for (int64_t k = 0; k < tokens_of(s); k++) minus[k] = -1;
    p = header_part(s, &obj, minus);
    s->impossible |= !p.ok;
    return p.dlogp;
}

static int is_plain_ratio(const grpo_objective *o) {
    return (o->ratio.level == GRPO_LEVEL_TOKEN || o->ratio.level == GRPO_LEVEL_SEQUENCE_MEAN || o->ratio.level == GRPO_LEVEL_SEQUENCE_SUM)
        && o->ratio.level_clamp_low == 0 && o->ratio.level_clamp_high == 0
        && o->ratio.power == 0 && !o->ratio.interpolate;
}

/* -inf minus -inf is 0 */
static double log_ratio_of(double l, double old) { return l == old ? 0 : l - old; }

/* the log-ratio of a token after the clamp of the ratio axis; *inside: its derivative, 1 or 0 */
static double clamped_log_ratio(const grpo_objective *o, double l, double old, double *inside) {
    const double d = log_ratio_of(l, old), low = o->ratio.clamp_low, high = o->ratio.clamp_high;
    const int has = low != 0 || high != 0;
    *inside = !has || (d >= low && d <= high);
    return !has ? d : fmin(fmax(d, low), high);
}

/* a formula, and what it is for */
typedef struct { formula *of; row_kind kind; } formula_use;

static formula_value value_of(const edited *s, formula_use f, int64_t k, double y) {
    const formula_value v = f.of(s->advantage[k], y, s->c.batch.logp[k], &s->obj);
    return f.kind == FOR_CLIP ? with_dual(s->advantage[k], v, &s->obj) : v;
}

/* adds term and gradient of one response, by the formula f */
static void formula_response(edited *s, int64_t i, formula_use f, const double *c, int unit, part *p) {
    const grpo_batch *b = &s->c.batch;
    const int of_penalty = unit < 0, whole = unit > 0, mean = s->obj.ratio.level == GRPO_LEVEL_SEQUENCE_MEAN;
    const int full = s->obj.ratio.gradient == GRPO_GRADIENT_FULL;
    const grpo_real *old = of_penalty ? b->logp_ref : *behaviour(s);
    const int64_t begin = b->offset[i], end = begin + b->length[i];
    double sum = 0, through = 0, T = tokens_that_count(s, i), *d = room(s, b->length[i], sizeof *d), *inside = room(s, b->length[i], sizeof *d);
    for (int64_t k = begin; k < end; k++) {
        inside[k - begin] = 1;
        if (!old || !counts(s, i, k)) continue;
        d[k - begin] = of_penalty ? log_ratio_of(b->logp[k], old[k]) : clamped_log_ratio(&s->obj, b->logp[k], old[k], &inside[k - begin]);
        sum += d[k - begin];
    }
    if (whole && mean) sum /= T;
    for (int64_t k = begin; k < end; k++) {
        formula_value v;
        if (!counts(s, i, k)) continue;
        v = value_of(s, f, k, whole || !old ? sum : d[k - begin]);
        p->term[k] = v.value;
        p->loss += c[k] * v.value;
        p->dlogp[k] = c[k] * (v.logp + (whole && full ? 0 : v.ratio * inside[k - begin]));
        through += c[k] * v.ratio;
    }
    for (int64_t k = begin; k < end && whole && full; k++)
        if (counts(s, i, k)) p->dlogp[k] += (mean ? through / T : through) * inside[k - begin];
}

static part formula_part(edited *s, formula_use f) {
    part p = part_room(s);
    const double *c = coefficients(s, s->policy_aggregation, OF_SURROGATE);
    if (s->impossible || !is_plain_ratio(&s->obj) || !(s->obj.surrogate.kind == GRPO_SURROGATE_REINFORCE || *behaviour(s))) return p;
    for (int64_t i = 0; i < s->c.n_sequences; i++)
        formula_response(s, i, f, c, s->obj.ratio.level != GRPO_LEVEL_TOKEN, &p);
    p.ok = p.loss == p.loss;
    return p;
}

static int is_plain_kl(const grpo_objective *o) {
    return o->penalty.kl != GRPO_KL_NONE && !o->penalty.kl_reference && !o->penalty.kl_on && !o->penalty.kl_gradient
        && !o->penalty.kl_importance_weight && o->penalty.kl_clamp_log == 0 && o->penalty.kl_clamp_value == 0;
}

static part kl_part(edited *s, formula_use f) {
    part p = part_room(s);
    double *c;
    if (!is_plain_kl(&s->obj) || !s->c.batch.logp_ref) return p;
    c = coefficients(s, s->penalty_aggregation, OF_PENALTY);
    for (int64_t i = 0; i < s->c.n_sequences; i++) formula_response(s, i, f, c, -1, &p);
    for (int64_t k = 0; k < tokens_of(s); k++) { p.term[k] *= s->obj.penalty.kl_coef; p.dlogp[k] *= s->obj.penalty.kl_coef; }
    p.loss *= s->obj.penalty.kl_coef;
    p.ok = grpo_is_finite(p.loss);
    return p;
}

/* ---- together ------------------------------------------------------------------------------------------------------------------- */

static double sequence_of_share(const edited *s, int64_t k) {
    int64_t i = 0;
    while (i + 1 < s->c.n_sequences && k >= s->c.batch.offset[i] + s->c.batch.length[i]) i++;
    return s->share[i];
}

static part together(edited *s, const part *policy, const part *penalty, const part *bonus) {
    part all = part_room(s);
    double *dlogp = room(s, tokens_of(s), sizeof *dlogp);
    const double *c = s->share ? coefficients(s, -1, OF_TERM) : NULL;
    all.ok = policy->ok && penalty->ok && bonus->ok;
    all.policy_loss = grpo_times(s->policy_value, policy->loss);
    all.penalty_loss = grpo_times(s->penalty_value, penalty->loss) + s->bonus_value * bonus->loss;
    all.loss = all.policy_loss + all.penalty_loss;
    for (int64_t k = 0; k < tokens_of(s); k++) {
        const double P = grpo_times(s->penalty_value, penalty->term[k]), slope = grpo_times(s->penalty_gradient, penalty->dlogp[k]);
        all.term[k] = grpo_times(s->policy_value, policy->term[k]) + P + s->bonus_value * bonus->term[k];
        all.dlogp[k] = grpo_times(s->policy_gradient, policy->dlogp[k]) + slope + s->bonus_value * bonus->dlogp[k];
        all.dentropy[k] = s->bonus_value * bonus->dentropy[k];
    }
    for (int64_t k = 0; k < tokens_of(s) && s->share; k++) {
        double share = sequence_of_share(s, k);
        if (c[k] == 0) continue;
        all.loss += c[k] * (share - 1) * all.term[k];
        all.policy_loss += c[k] * (share - 1) * policy->term[k];
        all.penalty_loss += c[k] * (share - 1) * (penalty->term[k] + s->bonus_value * bonus->term[k]);
        all.dlogp[k] *= share;
        all.dentropy[k] *= share;
    }
    for (int64_t i = 0; i < s->c.n_sequences && s->empty_is_nan; i++) {
        const grpo_batch *b = &s->c.batch;
        if (tokens_that_count(s, i) > 0) continue;
        all.loss = nan("");
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i] && s->empty_is_nan > 1; k++) all.dlogp[k] = nan("");
    }
    if (s->origin) {
        for (int64_t k = 0; k < tokens_of(s); k++) if (s->origin[k] >= 0) dlogp[s->origin[k]] += all.dlogp[k];
        all.dlogp = dlogp;
    }
    return all;
}

static int near(double a, double b, double scale) {
    return a == b || fabs(a - b) <= MARGIN * fmax(scale, fabs(b)) || (a != a && b != b);
}

static int is_right(const test_case *c, const part *p) {
    if (!p->ok || !near(p->loss, c->loss, c->loss_scale)) return 0;
    for (int64_t k = 0; k < c->batch.n_tokens && c->dentropy.expect; k++)
        if (!near(p->dentropy[k], c->dentropy.expect[k], c->dentropy.scale[k] + fabs(c->loss_scale))) return 0;
    for (int64_t k = 0; k < c->batch.n_tokens && c->dlogp.expect; k++)
        if (!near(p->dlogp[k], c->dlogp.expect[k], c->dlogp.scale[k] + fabs(c->loss_scale))) return 0;
    return 1;
}

typedef struct { const char *id, *name; row_kind kind; edit edits[4]; formula *policy, *penalty; } mistake;

static part made(edited *s, const mistake *m) {
    part policy, penalty, bonus;
    const grpo_batch before = s->c.batch;
    for (int k = 0; k < 4 && m && m->edits[k].make && !s->impossible; k++) m->edits[k].make(s, m->edits[k].p);
    if (!s->impossible) keep_correction(s, &before);
    memset(&policy, 0, sizeof policy);
    if (s->impossible) return policy;
    policy = m && m->policy ? formula_part(s, (formula_use){ m->policy, m->kind }) : policy_part(s);
    penalty = m && m->penalty ? kl_part(s, (formula_use){ m->penalty, FOR_KL }) : penalty_part(s);
    bonus = bonus_part(s);
    return together(s, &policy, &penalty, &bonus);
}

/* do policy and penalty, or the formulas, without a mistake give the right answer of the case? */
static int is_sum_of_parts(const test_case *c, int by_formula, int kl_by_formula) {
    edited s = edited_of(c);
    mistake none;
    part p;
    int right;
    memset(&none, 0, sizeof none);
    none.policy = by_formula ? right_surrogate(&c->objective) : NULL;
    none.penalty = kl_by_formula ? right_kl(&c->objective) : NULL;
    p = made(&s, &none);
    right = !s.impossible && is_right(c, &p) && (!by_formula || none.policy) && (!kl_by_formula || none.penalty);
    case_memory_free(&s.memory);
    return right;
}

/* the same, with the results of the last case kept */
static int is_plain(const test_case *c, int by_formula, int kl_by_formula) {
    static const test_case *last;
    static const char *last_id;
    static int known[2][2], right[2][2];
    if (last != c || last_id != c->id) { memset(known, 0, sizeof known); last = c; last_id = c->id; }
    if (!known[by_formula][kl_by_formula]) right[by_formula][kl_by_formula] = is_sum_of_parts(c, by_formula, kl_by_formula);
    known[by_formula][kl_by_formula] = 1;
    return right[by_formula][kl_by_formula];
}

/* ---- the table ------------------------------------------------------------------------------------------------------------------ */

#define MEAN_OF_TOKENS GRPO_AGGREGATION_TOKEN_MEAN
#define MEAN_OF_MEANS GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN
#define MEAN_OF_SUMS GRPO_AGGREGATION_SEQ_MEAN_TOKEN_SUM
#define SUM_OF_TOKENS GRPO_AGGREGATION_TOKEN_SUM

#define SHIFTED(name, make, p) { NULL, name, FOR_ANY, { { make, p } }, NULL, NULL }
#define ROLLED(what, shown, kind, words) \
    SHIFTED("the " shown " log-probabilities are shifted by one token, to the right" words, roll_##what##_##kind, 1), \
    SHIFTED("the " shown " log-probabilities are shifted by one token, to the left" words, roll_##what##_##kind, -1)
/* two forms: by automatic differentiation, and with the gradient at the unshifted token */
#define ROLLED_POLICY(kind, words) \
    SHIFTED("the policy's log-probabilities are shifted by one token, to the right" words, roll_policy_##kind, 1), \
    SHIFTED("the policy's log-probabilities are shifted by one token, to the right" words, roll_policy_by_hand_##kind, 1), \
    SHIFTED("the policy's log-probabilities are shifted by one token, to the left" words, roll_policy_##kind, -1), \
    SHIFTED("the policy's log-probabilities are shifted by one token, to the left" words, roll_policy_by_hand_##kind, -1)

#define POLICY(id, name, kind, f) { id, name, kind, { { NULL, 0 } }, f, NULL }
#define PENALTY(id, name, f) { id, name, FOR_KL, { { NULL, 0 } }, NULL, f }
#define K3(id, name, f) { id, name, FOR_K3, { { NULL, 0 } }, NULL, f }
#define EDIT(id, name, kind, make, p) { id, name, kind, { { make, p } }, NULL, NULL }
#define EDITS(id, name, kind, make, p, also, q) { id, name, kind, { { make, p }, { also, q } }, NULL, NULL }

/* two forms: with the given advantages at tokens that begin to count, and with that of the response */
#define MASK(id, name, make, p) EDIT(id, name, FOR_ANY, make, p), EDITS(id, name, FOR_ANY, advantage_everywhere, 0, make, p)
#define SHIFTED_MASK(words, make) \
    MASK(NULL, "the mask is one step behind the log-probabilities" words, make, 1), \
    MASK(NULL, "the mask is one step ahead of the log-probabilities" words, make, -1)

static const mistake mistakes[] = {
    /* the ratio */
    EDIT(NULL, "the ratio is inverted: old over new", FOR_ANY, log_ratio_times, -1),
    EDIT(NULL, "the ratio is inverted: old over new", FOR_ANY, log_ratio_times_by_hand, -1),
    EDIT(NULL, "the log-ratio is halved", FOR_ANY, log_ratio_times, 0.5),
    EDIT(NULL, "the log-ratio is halved", FOR_ANY, log_ratio_times_by_hand, 0.5),
    EDIT(NULL, "the log-ratio is doubled", FOR_ANY, log_ratio_times, 2),
    EDIT(NULL, "the log-ratio is doubled", FOR_ANY, log_ratio_times_by_hand, 2),
    EDIT(NULL, "the ratio is a power of 2, not of e", FOR_ANY, log_ratio_times, 0.69314718055994531),
    EDIT(NULL, "the ratio is a power of 10, not of e", FOR_ANY, log_ratio_times, 2.3025850929940457),
    EDIT(NULL, "the ratio is halved", FOR_ANY, ratio_times, 0.5),
    EDIT(NULL, "the ratio is doubled", FOR_ANY, ratio_times, 2),
    EDIT("RATIO-01", NULL, FOR_ANY, old_is_policy, 0),
    EDIT("RATIO-01a", NULL, FOR_ANY, log_ratio_times, 0),
    EDIT("RATIO-06", NULL, FOR_ANY, old_is_reference, 0),
    EDIT(NULL, "the ratio's denominator is logp_rollout", FOR_ANY, old_is_rollout, 0),
    EDIT(NULL, "the ratio's denominator is logp_old", FOR_ANY, old_is_old, 0),
    EDIT(NULL, "the ratio has no denominator: the policy's probability alone", FOR_ANY, old_is_certain, 0),
    EDIT(NULL, "the ratio is a quotient of log-probabilities", FOR_ANY, ratio_of_logs, 0),
    POLICY(NULL, "no exponential: the log-ratio is taken for the ratio", FOR_CLIP, no_exponential),
    POLICY(NULL, "1 + log-ratio is taken for the ratio", FOR_CLIP, linear_ratio),
    EDIT(NULL, "the policy's gradient is left out, as if the ratio were detached", FOR_ANY, policy_gradient_times, 0),
    EDIT(NULL, "the sign of the policy's gradient is turned", FOR_ANY, policy_gradient_times, -1),
    EDIT(NULL, "the mean log-ratio of a response is divided by its slots, masked ones included", FOR_ANY, share_ratio, BY_SLOTS),
    EDIT(NULL, "the mean log-ratio of a response is divided by the width of the batch", FOR_ANY, share_ratio, BY_WIDTH),
    EDIT(NULL, "the mean log-ratio of a response is divided by its length once more", FOR_ANY, share_ratio, BY_TOKENS),
    EDIT(NULL, "the mean log-ratio of a response is divided by the root of its length", FOR_ANY, share_ratio, BY_ROOT),
    EDIT(NULL, "the mean log-ratio of a response is divided by its length plus 1", FOR_ANY, share_ratio, BY_ONE_MORE),
    EDIT(NULL, "the mean log-ratio of a response is divided by its length less 1", FOR_ANY, share_ratio, BY_ONE_LESS),
    EDIT(NULL, "the mean log-ratio of a response is divided by its length plus 1e-4", FOR_ANY, share_ratio, BY_EPS_4),
    EDIT(NULL, "the mean log-ratio of a response is divided by its length plus 1e-5", FOR_ANY, share_ratio, BY_EPS_5),
    EDIT(NULL, "the mean log-ratio of a response is divided by its length plus 1e-6", FOR_ANY, share_ratio, BY_EPS_6),
    EDIT(NULL, "the mean log-ratio of a response is divided by its length plus 1e-8", FOR_ANY, share_ratio, BY_EPS_8),
    EDIT(NULL, "the mean log-ratio of a response is divided by its length plus 1e-9", FOR_ANY, share_ratio, BY_EPS_9),
    EDIT(NULL, "the mean of a response's ratios is taken, not of its log-ratios", FOR_ANY, mean_of_ratios, 1),
    EDIT(NULL, "the mean of a response's ratios is taken, not of its log-ratios", FOR_ANY, mean_of_ratios, 0),
    EDIT(NULL, "masked tokens enter the mean log-ratio of their response", FOR_ANY, mean_of_all, 0),
    EDIT(NULL, "masked tokens enter the mean log-ratio of their response", FOR_ANY, mean_of_all, 1),
    EDIT(NULL, "the gradient of the mean log-ratio lacks its 1/T", FOR_ANY, share_gradient, TIMES_TOKENS),
    EDIT(NULL, "the gradient of the mean log-ratio has 1/T twice", FOR_ANY, share_gradient, BY_TOKENS),
    EDIT(NULL, "the gradient of the mean log-ratio is divided by the slots of the response, masked ones included", FOR_ANY, share_gradient,
        BY_SLOTS),
    EDIT(NULL, "the gradient of the mean log-ratio is divided by the width of the batch", FOR_ANY, share_gradient, BY_WIDTH),
    EDIT("RATIO-05", NULL, FOR_ANY, ratio_of_response, 0),
    EDIT("TIS-01a", NULL, FOR_ANY, rollout_weight_of_policy, 0),
    EDIT(NULL, "the rollout correction is inverted: the sampler over the old policy", FOR_ANY, rollout_weight_inverted, 0),
    EDIT(NULL, "the temperatures of SAPO are exchanged: tau_pos and tau_neg", FOR_ANY, taus_exchanged, 0),
    /* shifted arrays */
    ROLLED(old, "old", sequence, ", round the end of the response"),
    ROLLED(old, "old", batch, ", through the whole batch"),
    ROLLED(old, "old", zero, ", with a 0 where one is missing"),
    ROLLED(old, "old", edge, ", with its own where one is missing"),
    ROLLED_POLICY(sequence, ", round the end of the response"),
    ROLLED_POLICY(batch, ", through the whole batch"),
    ROLLED_POLICY(zero, ", with a 0 where one is missing"),
    ROLLED_POLICY(edge, ", with its own where one is missing"),
    ROLLED(reference, "reference's", sequence, ", round the end of the response"),
    ROLLED(reference, "reference's", batch, ", through the whole batch"),
    ROLLED(reference, "reference's", zero, ", with a 0 where one is missing"),
    ROLLED(reference, "reference's", edge, ", with its own where one is missing"),
    /* the advantage */
    EDIT(NULL, "the sign of the advantage is turned", FOR_ANY, advantage_times, -1),
    EDIT(NULL, "the absolute value of the advantage is taken", FOR_ANY, advantage_size, 0),
    EDIT(NULL, "the sign of the advantage is taken for the advantage", FOR_ANY, advantage_sign, 0),
    EDIT(NULL, "negative advantages are left out", FOR_ANY, advantage_side, 1),
    EDIT(NULL, "positive advantages are left out", FOR_ANY, advantage_side, -1),
    EDIT(NULL, "the advantage is left out, as if it were 1", FOR_ANY, advantage_one, 1),
    EDIT(NULL, "the advantage is multiplied by 2", FOR_ANY, advantage_times, 2),
    EDIT(NULL, "the advantage is multiplied by 1/2", FOR_ANY, advantage_times, 0.5),
    EDIT(NULL, "the advantage is squared", FOR_ANY, advantage_squared, 0),
    EDIT(NULL, "the advantage is cut at -1 and 1", FOR_ANY, advantage_bounded, 1),
    EDIT(NULL, "the advantage stands at the first token of a response alone", FOR_ANY, advantage_of_one, 1),
    EDIT(NULL, "the advantage stands at the last token of a response alone", FOR_ANY, advantage_of_one, -1),
    EDIT(NULL, "each response has the advantage of the next one", FOR_ANY, advantage_of_other, 1),
    EDIT(NULL, "each response has the advantage of the one before", FOR_ANY, advantage_of_other, -1),
    EDIT(NULL, "a response has one advantage, that of its first token, where case.advantage has one for each token", FOR_ANY,
        advantage_of_response, 1),
    EDIT(NULL, "a response has one advantage, that of its last token, where case.advantage has one for each token", FOR_ANY,
        advantage_of_response, -1),
    EDIT(NULL, "a response has one advantage, the mean of those of its tokens, where case.advantage has one for each token", FOR_ANY,
        advantage_of_response, 0),
    EDIT("ADV-25b", NULL, FOR_ANY, advantage_drifts, 0),
    EDIT("ADV-25c", NULL, FOR_LINEAR, advantage_of_all, 0),
    /* the clip */
    POLICY("CLIP-01", NULL, INSTEAD_OF_CLIP, unclipped),
    POLICY("CLIP-01b", NULL, FOR_CLIP, exchanged),
    POLICY(NULL, "the clip without its minimum: -A clip(w) alone", FOR_CLIP, only_clip),
    POLICY("CLIP-01a", NULL, FOR_CLIP, min_of_ratios),
    POLICY(NULL, "the maximum is of the ratios, before A is multiplied: -A max(w, clip(w))", FOR_CLIP, max_of_ratios),
    POLICY(NULL, "the clip's lower bound is reciprocal: 1/(1 + eps_high)", FOR_CLIP, reciprocal_low),
    POLICY(NULL, "the clip's lower bound is reciprocal: 1/(1 + eps_low)", FOR_CLIP, reciprocal_own),
    POLICY(NULL, "the clip's upper bound is reciprocal: 1/(1 - eps_low)", FOR_CLIP, reciprocal_high),
    POLICY(NULL, "eps_low and eps_high are exchanged", FOR_CLIP, epsilons_exchanged),
    POLICY(NULL, "eps_high is used on both sides", FOR_CLIP, eps_high_twice),
    POLICY(NULL, "the bounds of the clip are exchanged: clip(w, 1 + eps_high, 1 - eps_low)", FOR_CLIP, turned_low),
    POLICY(NULL, "the bounds of the clip are exchanged: clip(w, 1 + eps_high, 1 - eps_low)", FOR_CLIP, turned_high),
    POLICY(NULL, "the clip is around 0: clip(w, -eps_low, eps_high)", FOR_CLIP, around_zero),
    POLICY("CLIP-02c", NULL, FOR_CLIP, from_eps),
    POLICY(NULL, "the clip has no lower bound", FOR_CLIP, upper_only),
    POLICY(NULL, "the clip has no upper bound", FOR_CLIP, lower_only),
    POLICY(NULL, "the log-ratio is clipped at -eps_low and eps_high", FOR_CLIP, at_log),
    POLICY(NULL, "the product w A is clipped, not the ratio", FOR_CLIP, product_clipped),
    POLICY(NULL, "the advantage is clipped, not the ratio", INSTEAD_OF_CLIP, clipped_advantage),
    POLICY(NULL, "clipped and unclipped loss are added", FOR_CLIP, both_added),
    POLICY(NULL, "the clipped ratio is a detached weight of the log-probability, as in CISPO", INSTEAD_OF_CLIP, clip_times_logp),
    POLICY(NULL, "the gradient goes through the clip, as if it did not bind", FOR_CLIP, straight_through),
    POLICY(NULL, "the gradient goes through the clip, as if it did not bind", INSTEAD_OF_CLIP, straight_through_both),
    POLICY(NULL, "tokens whose ratio is out of the clip's bounds are left out, whatever the sign of A", INSTEAD_OF_CLIP, dropped_outside),
    POLICY(NULL, "the clip cuts the gradient of every ratio out of its bounds, whatever the sign of A", FOR_CLIP, killed_outside),
    POLICY(NULL, "the clip cuts the gradient where it does not bind, and lets it through where it does", FOR_CLIP, killed_elsewhere),
    POLICY(NULL, "a dual clip, c = 3, where none is meant", FOR_SINGLE_CLIP, dual_3),
    POLICY(NULL, "a dual clip, c = 10, where none is meant", FOR_SINGLE_CLIP, dual_10),
    POLICY(NULL, "the dual clip acts where A > 0, not where A < 0", FOR_DUAL_CLIP, dual_of_positive),
    POLICY(NULL, "minimum and maximum are exchanged in the dual clip", FOR_DUAL_CLIP, dual_exchanged),
    POLICY(NULL, "tokens beyond the dual clip are left out, where their loss should be -c A", FOR_DUAL_CLIP, dual_dropped),
    POLICY(NULL, "the gradient lacks the ratio: -A for -A w", FOR_CLIP, without_ratio),
    POLICY(NULL, "the gradient has the ratio twice: -A w^2 for -A w", FOR_CLIP, ratio_again),
    POLICY(NULL, "the gradient is by the probability, not by the log-probability", FOR_CLIP, without_log),
    POLICY(NULL, "the ratio less 1 is taken in the loss: (w - 1) A", FOR_CLIP, ratio_less_one),
    EDITS(NULL, "both epsilons are doubled", FOR_CLIP, eps_low_times, 2, eps_high_times, 2),
    EDITS(NULL, "both epsilons are halved", FOR_CLIP, eps_low_times, 0.5, eps_high_times, 0.5),
    EDITS(NULL, "both epsilons are ten times too large", FOR_CLIP, eps_low_times, 10, eps_high_times, 10),
    EDITS(NULL, "both epsilons are ten times too small", FOR_CLIP, eps_low_times, 0.1, eps_high_times, 0.1),
    /* CISPO, REINFORCE */
    POLICY("CISPO-01", NULL, FOR_CISPO, cispo_as_loss),
    POLICY(NULL, "CISPO's weight has no bound", FOR_CISPO, cispo_unbounded),
    POLICY("TIS-02", NULL, FOR_CISPO, cispo_attached),
    POLICY(NULL, "tokens whose CISPO weight is out of its bounds are dropped", FOR_CISPO, cispo_dropped),
    POLICY("CISPO-03a", NULL, FOR_CISPO, cispo_cap_more),
    POLICY(NULL, "CISPO's weight is bounded for positive advantages alone", FOR_CISPO, cispo_with_min),
    POLICY(NULL, "CISPO's bound is taken of the log-ratio", FOR_CISPO, cispo_log_capped),
    POLICY(NULL, "CISPO's weight is left out: REINFORCE", FOR_CISPO, reinforced),
    POLICY(NULL, "probabilities are taken for log-probabilities", FOR_CISPO, cispo_probability),
    POLICY(NULL, "probabilities are taken for log-probabilities", FOR_REINFORCE, probability),
    POLICY(NULL, "the value of the loss is -A e^(l - sg[l]), so -A, where it should be -A l", FOR_REINFORCE, ratio_of_itself),
    /* the KL */
    EDIT("KL-01", NULL, FOR_KL, penalty_times, -1),
    EDIT("KL-02", NULL, FOR_KL, penalty_gradient_times, 0),
    K3("KL-04", NULL, k3_reversed),
    K3(NULL, "k3 without its 1: e^-D + D", k3_without_one),
    K3(NULL, "k3 with D of one sign in the exponent and the other beside it: e^-D - D - 1", k3_mixed),
    K3(NULL, "k3 with D of one sign in the exponent and the other beside it: e^D + D - 1", k3_mixed_more),
    K3(NULL, "k3 without its D: e^-D - 1", k3_without_linear),
    PENALTY(NULL, "the KL's estimator is D, k1", right_k1),
    PENALTY(NULL, "the KL's estimator is D^2/2, k2", right_k2),
    PENALTY(NULL, "the KL's estimator is e^-D + D - 1, k3", right_k3),
    PENALTY(NULL, "the KL's estimator is |D|", right_abs),
    PENALTY(NULL, "the KL's estimator is D^2, without its 1/2", kl_square),
    PENALTY(NULL, "the KL's estimator is -D: of the other direction", kl_negative),
    PENALTY(NULL, "the KL's estimator is p D, weighted by the policy's probability", kl_weighted),
    PENALTY(NULL, "the KL's estimator is the ratio e^-D", kl_ratio),
    PENALTY(NULL, "the KL's estimator is the ratio e^D", kl_other_ratio),
    PENALTY(NULL, "the KL is multiplied by the advantage", kl_times_advantage),
    EDIT("KL-03", NULL, FOR_KL, penalty_of_old, 0),
    EDIT(NULL, "the KL is subtracted from the advantage, and not in the loss", FOR_KL, penalty_in_advantage, -1),
    EDIT(NULL, "the KL is added to the advantage, and not in the loss", FOR_KL, penalty_in_advantage, 1),
    EDIT(NULL, "the KL is of the old policy, not of the reference", FOR_KL, reference_is_old, 0),
    EDIT(NULL, "the KL's coefficient is applied twice", FOR_KL, penalty_coefficient_again, 1),
    EDIT(NULL, "the KL's coefficient is left out", FOR_KL, penalty_coefficient_again, 0),
    EDIT(NULL, "the KL counts twice", FOR_KL, penalty_times, 2),
    EDIT(NULL, "the KL counts half", FOR_KL, penalty_times, 0.5),
    EDIT(NULL, "the KL is left out", FOR_KL, penalty_times, 0),
    EDIT(NULL, "the KL is one mean over all tokens, unlike the policy's loss", FOR_KL, penalty_aggregated, MEAN_OF_TOKENS),
    EDIT(NULL, "the KL is a mean over responses of means, unlike the policy's loss", FOR_KL, penalty_aggregated, MEAN_OF_MEANS),
    EDIT(NULL, "the KL is a mean over responses of sums, unlike the policy's loss", FOR_KL, penalty_aggregated, MEAN_OF_SUMS),
    EDIT(NULL, "the KL is a sum over tokens, unlike the policy's loss", FOR_KL, penalty_aggregated, SUM_OF_TOKENS),
    EDIT("NORM-03", NULL, FOR_KL, policy_aggregated, MEAN_OF_TOKENS),
    EDIT(NULL, "the policy's loss is left out", FOR_KL, policy_times, 0),
    EDIT(NULL, "the sign of the policy's loss is turned, that of the KL is not", FOR_ANY, policy_times, -1),
    EDIT(NULL, "the KL is multiplied by the ratio, detached", FOR_KL, penalty_by_ratio, 0),
    EDIT(NULL, "the KL is multiplied by the ratio, detached", FOR_KL, penalty_by_ratio, 1),
    EDIT("ENT-01", NULL, FOR_ANY, bonus_times, -1),
    /* the mask */
    EDIT("MASK-06a", NULL, FOR_ANY, mask_all, 0),
    EDITS("MASK-06a", NULL, FOR_ANY, advantage_everywhere, 0, mask_all, 0),
    EDIT("MASK-02", NULL, FOR_ANY, mask_last, 0),
    EDIT("MASK-02a", NULL, FOR_ANY, mask_end_of_full_rows, 0),
    EDIT("MASK-02b", NULL, FOR_ANY, mask_first, 0),
    EDIT(NULL, "the mask is inverted", FOR_ANY, mask_inverted, 0),
    EDITS(NULL, "the mask is inverted", FOR_ANY, advantage_everywhere, 0, mask_inverted, 0),
    MASK("MASK-05", NULL, mask_shifted, -1),
    MASK(NULL, "the mask is one step behind the log-probabilities", mask_shifted, 1),
    MASK("MASK-05b", NULL, mask_shifted_on, 1),
    MASK(NULL, "the mask is one step ahead of the log-probabilities, and every last token counts", mask_shifted_on, -1),
    SHIFTED_MASK(", the token at the end keeps its own", mask_shifted_own),
    SHIFTED_MASK(", round the end of the response", mask_shifted_response),
    SHIFTED_MASK(", round the end of the padded row", mask_shifted_row),
    SHIFTED_MASK(", through the whole batch", mask_shifted_batch),
    EDIT("MASK-12a", NULL, FOR_ANY, sum_over_all, 0),
    EDITS("MASK-12a", NULL, FOR_ANY, advantage_everywhere, 0, sum_over_all, 0),
    /* divisors */
    EDIT("NORM-05", NULL, FOR_ANY, empty_means, 1),
    EDIT("NORM-05", NULL, FOR_ANY, empty_means, 2),
    EDIT("NORM-02", NULL, FOR_ANY, share_mean_of_response, BY_TOKENS),
    EDIT("NORM-17b", NULL, FOR_TOKEN_MEAN, all_aggregated, MEAN_OF_SUMS),
    EDIT("NORM-13", NULL, FOR_ANY, share_mean_of_response, BY_SLOTS),
    EDIT("NORM-13", NULL, FOR_ANY, share_total, 0),
    EDIT("MASK-12", NULL, FOR_ANY, share_mean_of_response, BY_WIDTH),
    EDIT("MASK-12", NULL, FOR_ANY, share_total, 1),
    EDIT(NULL, "the mean of a group is divided by its slots, masked ones included", FOR_ANY, share_mean_of_group, 0),
    EDIT(NULL, "the mean of a group is divided by all its positions, padding included", FOR_ANY, share_mean_of_group, 1),
    EDIT(NULL, "the mean of a response is divided by its length plus 1", FOR_ANY, share_mean_of_response, BY_ONE_MORE),
    EDIT(NULL, "the mean of a response is divided by its length less 1", FOR_ANY, share_mean_of_response, BY_ONE_LESS),
    EDIT(NULL, "the mean of a response is divided by the root of its length", FOR_ANY, share_mean_of_response, BY_ROOT),
    EDIT(NULL, "the number of tokens that is divided by has 1e-4 added", FOR_ANY, share_mean_of_response, BY_EPS_4),
    EDIT(NULL, "the number of tokens that is divided by has 1e-4 added", FOR_ANY, share_total, 1e-4),
    EDIT(NULL, "the number of tokens that is divided by has 1e-5 added", FOR_ANY, share_mean_of_response, BY_EPS_5),
    EDIT(NULL, "the number of tokens that is divided by has 1e-5 added", FOR_ANY, share_total, 1e-5),
    EDIT(NULL, "the number of tokens that is divided by has 1e-6 added", FOR_ANY, share_mean_of_response, BY_EPS_6),
    EDIT(NULL, "the number of tokens that is divided by has 1e-6 added", FOR_ANY, share_total, 1e-6),
    EDIT(NULL, "the number of tokens that is divided by has 1e-8 added", FOR_ANY, share_mean_of_response, BY_EPS_8),
    EDIT(NULL, "the number of tokens that is divided by has 1e-8 added", FOR_ANY, share_total, 1e-8),
    EDIT(NULL, "the number of tokens that is divided by has 1e-9 added", FOR_ANY, share_mean_of_response, BY_EPS_9),
    EDIT(NULL, "the number of tokens that is divided by has 1e-9 added", FOR_ANY, share_total, 1e-9),
    EDIT(NULL, "the last response is left out", FOR_ANY, drop_response, -1),
    EDIT(NULL, "the last response is left out", FOR_ANY, drop_and_uncount, -1),
    EDIT(NULL, "the first response is left out", FOR_ANY, drop_response, 0),
    EDIT(NULL, "the first response is left out", FOR_ANY, drop_and_uncount, 0),
    EDIT(NULL, "only the first group counts", FOR_ANY, only_group, 0),
    EDIT(NULL, "only the last group counts", FOR_ANY, only_group, -1),
    EDIT(NULL, "responses are weighted by their length", FOR_ANY, share_loss, TIMES_TOKENS),
    EDIT(NULL, "each response is divided by its length", FOR_ANY, share_loss, BY_TOKENS)
};

enum { N_MISTAKES = sizeof mistakes / sizeof *mistakes };

int computed_loss_count(void) { return N_MISTAKES; }

computed_mistake computed_loss_named(int n) {
    computed_mistake m = { 0 };
    m.id = mistakes[n].id;
    m.name = mistakes[n].name ? mistakes[n].name : mistakes[n].id;
    m.whole = mistakes[n].edits[0].make == log_ratio_times && mistakes[n].edits[0].p == 0;      /* no gradient: a detached ratio has none */
    return m;
}

static void put_report(const test_case *c, const part *p, answer *out) {
    double *to = answer_add(out, OUT_REPORT, c->n_report);
    for (int64_t k = 0; k < c->n_report; k++) {
        const int policy = !strcmp(c->report[k].key, "policy_loss"), penalty = !strcmp(c->report[k].key, "penalty_loss");
        out->of[OUT_REPORT].given[k] = (uint8_t)(policy || penalty);
        to[k] = policy ? p->policy_loss : p->penalty_loss;
    }
}

static void put_part(const test_case *c, const part *p, answer *out) {
    *answer_add(out, OUT_LOSS, 1) = p->loss;
    if (c->term.expect) memcpy(answer_add(out, OUT_TERM, c->batch.n_tokens), p->term, (size_t)c->batch.n_tokens * sizeof *p->term);
    memcpy(answer_add(out, OUT_DLOGP, c->batch.n_tokens), p->dlogp, (size_t)c->batch.n_tokens * sizeof *p->dlogp);
    if (c->dentropy.expect)
        memcpy(answer_add(out, OUT_DENTROPY, c->batch.n_tokens), p->dentropy, (size_t)c->batch.n_tokens * sizeof *p->dentropy);
    if (c->report) put_report(c, p, out);
}

int computed_loss(const test_case *c, int n, answer *out) {
    const mistake *m = &mistakes[n];
    edited s;
    part p;
    int ok = 0;
    memset(out, 0, sizeof *out);
    if (!case_has_loss(c) || !is_for(m->kind, &c->objective) || !is_plain(c, m->policy != NULL, m->penalty != NULL)) return 0;
    s = edited_of(c);
    if (!s.impossible) {
        p = made(&s, m);
        ok = !s.impossible && p.ok;
        if (ok) put_part(c, &p, out);
    }
    case_memory_free(&s.memory);
    return ok;
}
