/* Mistaken masks: another rule of which tokens count, or a mask that is shifted. */
#include "edits.h"

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
static int only_whole_responses(const uint8_t *mask, int64_t t, int64_t n) {
    (void)t;
    for (int64_t k = 0; k < n; k++) if (!says(mask, k)) return 0;
    return 1;
}
static int not_at_the_beginning(const uint8_t *mask, int64_t t, int64_t n) { (void)n; return t > 0 && says(mask, t); }
static int inverted(const uint8_t *mask, int64_t t, int64_t n) { (void)n; return mask ? !mask[t] : 0; }

/* tokens with an advantage of 0 do not count, or (p > 0) responses all of whose advantages are 0 */
void mask_zero_advantages(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    uint8_t *m = edited_room(s, b->n_tokens, 1);
    for (int64_t i = 0; i < s->c.n_sequences; i++) {
        int any = 0;
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) any |= says(b->mask, k) && s->advantage[k] != 0;
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++)
            m[k] = says(b->mask, k) && (p > 0 ? any : s->advantage[k] != 0);
    }
    s->c.batch.mask = m;
}

static void edit_mask(edited *s, mask_rule *rule) {
    const grpo_batch *b = &s->c.batch;
    uint8_t *m = edited_room(s, b->n_tokens, 1);
    for (int64_t i = 0; i < s->c.n_sequences; i++)
        for (int64_t t = 0; t < b->length[i]; t++) m[b->offset[i] + t] = (uint8_t)rule(b->mask ? b->mask + b->offset[i] : NULL, t,
            b->length[i]);
    s->c.batch.mask = m;
}
void mask_all(edited *s, double p) { (void)p; edit_mask(s, all_count); }
void mask_last(edited *s, double p) { (void)p; edit_mask(s, last_counts); }
void mask_end_of_full_rows(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    uint8_t *m = edited_room(s, b->n_tokens, 1);
    (void)p;
    for (int64_t i = 0; i < s->c.n_sequences; i++)
        for (int64_t t = 0; t < b->length[i]; t++)
            m[b->offset[i] + t] = says(b->mask ? b->mask + b->offset[i] : NULL, t) && (double)t + 1 < edited_width(s);
    s->c.batch.mask = m;
}
void mask_first(edited *s, double p) { (void)p; edit_mask(s, first_counts); }
void mask_inverted(edited *s, double p) { (void)p; edit_mask(s, inverted); }
void mask_whole_responses(edited *s, double p) { (void)p; edit_mask(s, only_whole_responses); }
void mask_first_column(edited *s, double p) { (void)p; edit_mask(s, not_at_the_beginning); }

/* each token has the mask of the one before (p = 1) or after (-1).  What has the token at the end of the response where none is: */
typedef enum { OFF, ON, ITS_OWN, OF_OTHER_END, OF_END_OF_ROW, OF_NEXT_RESPONSE } mask_at_end;
static int mask_beyond(const edited *s, int64_t i, int64_t t, mask_at_end at_end) {
    const grpo_batch *b = &s->c.batch;
    const int64_t n = b->length[i], end = t < 0 ? n - 1 : 0, all = edited_tokens(s);
    switch (at_end) {
    case OFF: return 0;
    case ON: return 1;
    case ITS_OWN: return says(b->mask, b->offset[i] + (n - 1 - end));
    case OF_OTHER_END: return says(b->mask, b->offset[i] + end);
    case OF_END_OF_ROW: return (double)n == edited_width(s) && says(b->mask, b->offset[i] + end);
    default: return says(b->mask, (b->offset[i] + t + all) % all);
    }
}
static void shift_mask(edited *s, int64_t by, mask_at_end at_end) {
    const grpo_batch *b = &s->c.batch;
    uint8_t *m = edited_room(s, b->n_tokens, 1);
    for (int64_t i = 0; i < s->c.n_sequences; i++)
        for (int64_t t = 0; t < b->length[i]; t++) {
            const int64_t from = t - by;
            m[b->offset[i] + t] = (uint8_t)(from >= 0 && from < b->length[i] ? says(b->mask, b->offset[i] + from)
                : mask_beyond(s, i, from, at_end));
        }
    s->c.batch.mask = m;
}
void mask_shifted(edited *s, double p) { shift_mask(s, (int64_t)p, OFF); }
void mask_shifted_on(edited *s, double p) { shift_mask(s, (int64_t)p, ON); }
void mask_shifted_own(edited *s, double p) { shift_mask(s, (int64_t)p, ITS_OWN); }
void mask_shifted_response(edited *s, double p) { shift_mask(s, (int64_t)p, OF_OTHER_END); }
void mask_shifted_row(edited *s, double p) { shift_mask(s, (int64_t)p, OF_END_OF_ROW); }
void mask_shifted_batch(edited *s, double p) { shift_mask(s, (int64_t)p, OF_NEXT_RESPONSE); }
