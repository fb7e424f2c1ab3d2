/* A copy of a case that can be edited. */
#include "edited.h"
#include <stdlib.h>

void *edited_room(edited *s, int64_t count, size_t size) { return case_memory(&s->memory, count, size); }
int64_t edited_tokens(const edited *s) { return s->c.batch.n_tokens; }

edited edited_of(const test_case *c) {
    edited s;
    grpo_real *a;
    memset(&s, 0, sizeof s);
    s.c = *c;
    s.obj = c->objective;
    s.policy_aggregation = s.penalty_aggregation = -1;
    s.penalty_value = s.penalty_gradient = s.policy_value = s.policy_gradient = s.bonus_value = s.slope = 1;
    s.advantage = edited_room(&s, c->batch.n_tokens, sizeof *s.advantage);
    s.chain = edited_room(&s, c->batch.n_tokens, sizeof *s.chain);
    a = c->given || c->advantage.expect ? compare_expected_advantage(c) : NULL;
    s.impossible = !a;
    for (int64_t k = 0; k < c->batch.n_tokens; k++) { s.advantage[k] = a ? (double)a[k] : 0; s.chain[k] = 1; }
    free(a);
    return s;
}

/* replaces an array of the batch by a copy that can be written; returns NULL, and sets impossible, if the batch does not have it */
grpo_real *edited_array(edited *s, const grpo_real **array) {
    grpo_real *p;
    if (!*array) { s->impossible = 1; return NULL; }
    p = edited_room(s, edited_tokens(s), sizeof *p);
    memcpy(p, *array, (size_t)edited_tokens(s) * sizeof *p);
    *array = p;
    return p;
}

const grpo_real **edited_behaviour(edited *s) {
    s->impossible |= s->obj.ratio.behaviour != GRPO_BEHAVIOUR_OLD && s->obj.ratio.behaviour != GRPO_BEHAVIOUR_ROLLOUT;
    return s->obj.ratio.behaviour == GRPO_BEHAVIOUR_ROLLOUT ? &s->c.batch.logp_rollout : &s->c.batch.logp_old;
}

/* the ratio's denominator, to be written by a mistake that changes the ratio alone: a rollout correction keeps its weight */
grpo_real *edited_denominator(edited *s) {
    s->keeps_correction = 1;
    return edited_array(s, edited_behaviour(s));
}

int edited_counts(const edited *s, int64_t i, int64_t k) {
    int cut = s->obj.weight.truncated == GRPO_WEIGHT_TRUNCATED_MASK && s->c.batch.truncated && s->c.batch.truncated[i];
    int left_out = s->obj.weight.selected == GRPO_SELECTED_ONLY && s->c.batch.selected && !s->c.batch.selected[k];
    return !cut && !left_out && (!s->c.batch.mask || s->c.batch.mask[k]);
}

double edited_count(const edited *s, int64_t i) {
    const grpo_batch *b = &s->c.batch;
    double n = 0;
    for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) n += edited_counts(s, i, k);
    return n;
}

double edited_width(const edited *s) {
    double most = 0;
    for (int64_t i = 0; i < s->c.n_sequences; i++) most = fmax(most, (double)s->c.batch.length[i]);
    return most;
}

double edited_log_ratio(edited *s, int64_t k) {
    double d = s->c.batch.logp[k] - (*edited_behaviour(s))[k];     /* the caller has checked that the array exists */
    if (!grpo_is_finite(d) && (!s->c.batch.mask || s->c.batch.mask[k])) s->impossible = 1;
    return d;
}

/* moves the other array of the correction's log-ratio as far as the ratio's denominator was moved from `before` */
void edited_keep_correction(edited *s, const grpo_batch *before) {
    grpo_batch *b = &s->c.batch;
    const int rollout = s->obj.ratio.behaviour == GRPO_BEHAVIOUR_ROLLOUT;
    const grpo_real *from = rollout ? before->logp_rollout : before->logp_old, *to = *edited_behaviour(s);
    grpo_real *other;
    if (!s->keeps_correction || !(s->obj.weight.rollout_is || s->obj.weight.rollout_rs) || from == to) return;
    if (s->obj.weight.off_policy_mask || s->obj.penalty.kl_reference) { s->impossible = 1; return; }
    other = edited_array(s, rollout ? &b->logp_old : &b->logp_rollout);
    for (int64_t k = 0; other && k < edited_tokens(s); k++) {
        if (edited_counts(s, 0, k) && !grpo_is_finite(to[k] - from[k])) s->impossible = 1;
        other[k] += to[k] - from[k];
    }
}

/* ---- padded rows ---------------------------------------------------------------------------------------------------------------- */

/* an array of `size` bytes for each token, in rows of `width` tokens */
static void *padded(edited *s, const void *array, size_t size, int64_t width) {
    const grpo_batch *b = &s->c.batch;
    char *to = edited_room(s, s->c.n_sequences * width, size);
    for (int64_t i = 0; i < s->c.n_sequences; i++)
        memcpy(to + (size_t)(i * width) * size, (const char *)array + (size_t)b->offset[i] * size, (size_t)b->length[i] * size);
    return to;
}

static void pad_array(edited *s, const grpo_real **array, int64_t width) {
    if (*array) *array = padded(s, *array, sizeof **array, width);
}
static void pad_flags(edited *s, const uint8_t **flags, int64_t width) { if (*flags) *flags = padded(s, *flags, 1, width); }

static uint8_t *padded_mask(edited *s, int64_t width) {
    const grpo_batch *b = &s->c.batch;
    uint8_t *m = edited_room(s, s->c.n_sequences * width, 1);
    for (int64_t i = 0; i < s->c.n_sequences; i++)
        for (int64_t t = 0; t < b->length[i]; t++) m[i * width + t] = !b->mask || b->mask[b->offset[i] + t];
    return m;
}

void edited_pad(edited *s) {
    const int64_t width = (int64_t)edited_width(s), n = s->c.n_sequences;
    int64_t *offset = edited_room(s, n, sizeof *offset), *length = edited_room(s, n, sizeof *length);
    grpo_batch b = s->c.batch;
    const grpo_real **arrays[] = { &b.logp, &b.logp_old, &b.logp_ref, &b.logp_rollout, &b.logp_teacher, &b.entropy, &b.external_weight,
        &b.eps_low, &b.eps_high, &b.divergence_ref, &b.divergence_old };
    const uint8_t **flags[] = { &b.selected, &b.kl_mask, &b.nll_mask, &b.shaping_mask };
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) pad_array(s, arrays[k], width);
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) pad_flags(s, flags[k], width);
    b.mask = padded_mask(s, width);
    s->advantage = padded(s, s->advantage, sizeof *s->advantage, width);
    s->chain = padded(s, s->chain, sizeof *s->chain, width);
    b.value = b.step_reward = b.sum_pi_squared = NULL;           /* what no mistake of padded rows reads */
    b.step_end = b.segment_end = b.marked = NULL;
    b.state = b.token_id = NULL;
    for (int64_t i = 0; i < n; i++) { offset[i] = i * width; length[i] = width; }
    b.offset = offset;
    b.length = length;
    b.n_tokens = n * width;
    s->narrow = s->c.batch;
    s->padded = 1;
    s->c.batch = b;
}
