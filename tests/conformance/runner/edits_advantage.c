/* Mistaken advantages, as the loss reads them. */
#include "edits.h"

void advantage_times(edited *s, double p) { for (int64_t k = 0; k < edited_tokens(s); k++) s->advantage[k] *= p; }
void advantage_size(edited *s, double p) {
    (void)p;
    for (int64_t k = 0; k < edited_tokens(s); k++) s->advantage[k] = fabs(s->advantage[k]);
}
void advantage_squared(edited *s, double p) {
    (void)p;
    for (int64_t k = 0; k < edited_tokens(s); k++) s->advantage[k] *= s->advantage[k];
}

void advantage_bounded(edited *s, double p) {
    for (int64_t k = 0; k < edited_tokens(s); k++) s->advantage[k] = fmin(fmax(s->advantage[k], -p), p);
}

void advantage_sign(edited *s, double p) {
    (void)p;
    for (int64_t k = 0; k < edited_tokens(s); k++) s->advantage[k] = (s->advantage[k] > 0) - (s->advantage[k] < 0);
}
void advantage_side(edited *s, double p) {        /* advantages of the other sign become 0 */
    for (int64_t k = 0; k < edited_tokens(s); k++) if (s->advantage[k] * p < 0) s->advantage[k] = 0;
}
void advantage_one(edited *s, double p) { for (int64_t k = 0; k < edited_tokens(s); k++) s->advantage[k] = p; }

static double advantage_of(const edited *s, int64_t i) {
    const grpo_batch *b = &s->c.batch;
    for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) if (!b->mask || b->mask[k]) return s->advantage[k];
    return 0;
}

/* only one counting token of each response has the advantage, the first or (p = -1) the last */
void advantage_of_one(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    for (int64_t i = 0; i < s->c.n_sequences; i++) {
        int64_t one = -1;
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) if (edited_counts(s, i, k) && (one < 0 || p < 0)) one = k;
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) if (k != one) s->advantage[k] = 0;
    }
}
void advantage_of_other(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    double *a = edited_room(s, edited_tokens(s), sizeof *a);
    for (int64_t i = 0; i < s->c.n_sequences; i++) {
        int64_t j = (i + (int64_t)p + s->c.n_sequences) % s->c.n_sequences;
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) a[k] = advantage_of(s, j);
    }
    s->advantage = a;
}
/* the rows of the padded advantages, one token below the other */
void advantage_rolled(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    double *a = edited_room(s, edited_tokens(s), sizeof *a);
    s->impossible |= !s->padded;
    for (int64_t i = 0; i < s->c.n_sequences && !s->impossible; i++) {
        const int64_t j = (i + (int64_t)p + s->c.n_sequences) % s->c.n_sequences;
        for (int64_t t = 0; t < b->length[i]; t++)
            a[b->offset[i] + t] = edited_counts(s, j, b->offset[j] + t) ? s->advantage[b->offset[j] + t] : 0;
    }
    s->advantage = a;
}
/* the advantages of a response, one token to the left (p < 0) or right, with 0 where one is missing */
void advantage_shifted(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    double *a = edited_room(s, edited_tokens(s), sizeof *a);
    for (int64_t i = 0; i < s->c.n_sequences; i++)
        for (int64_t t = 0; t < b->length[i]; t++) {
            const int64_t from = t - (int64_t)p;
            if (from >= 0 && from < b->length[i] && edited_counts(s, i, b->offset[i] + from))
                a[b->offset[i] + t] = s->advantage[b->offset[i] + from];
        }
    s->advantage = a;
}
/* the advantage at the last position of the padded row is that of all tokens: 0 for responses shorter than the longest */
void advantage_of_last_position(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    double *a = edited_room(s, edited_tokens(s), sizeof *a);
    (void)p;
    for (int64_t i = 0; i < s->c.n_sequences; i++) {
        const int64_t end = b->offset[i] + b->length[i];
        const int full = b->length[i] && (double)b->length[i] == edited_width(s) && edited_counts(s, i, end - 1);
        for (int64_t k = b->offset[i]; k < end; k++) a[k] = full ? s->advantage[end - 1] : 0;
    }
    s->advantage = a;
}
/* multiplied or divided by a number of tokens of the response */
void advantage_by_length(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    for (int64_t i = 0; i < s->c.n_sequences; i++)
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) s->advantage[k] *= share_of(s, i, (share_kind)p);
}
/* all tokens of a response have the advantage of its first token that counts, of its last (p = -1) or the mean of all (p = 0) */
void advantage_of_response(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    double *a = edited_room(s, edited_tokens(s), sizeof *a);
    for (int64_t i = 0; i < s->c.n_sequences; i++) {
        double first = 0, last = 0, sum = 0, T = 0;
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) {
            if (!edited_counts(s, i, k)) continue;
            last = s->advantage[k];
            if (T++ == 0) first = last;
            sum += last;
        }
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) a[k] = p > 0 ? first : p < 0 ? last : T > 0 ? sum / T : 0;
    }
    s->advantage = a;
}
/* every response has the mean of all of their advantages; not where that is 0 but for rounding, or a response has several */
void advantage_of_all(edited *s, double p) {
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
    for (int64_t k = 0; k < edited_tokens(s); k++) s->advantage[k] = sum / (double)s->c.n_sequences;
}
/* each response's advantages are one longer than its tokens, and read one after the other */
void advantage_drifts(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    double *late = edited_room(s, edited_tokens(s) + s->c.n_sequences, sizeof *late), *a = edited_room(s, edited_tokens(s), sizeof *a);
    int64_t written = 0, read = 0;
    (void)p;
    for (int64_t i = 0; i < s->c.n_sequences; i++)
        for (int64_t t = b->length[i] ? -1 : 0; t < b->length[i]; t++) late[written++] = s->advantage[b->offset[i] + (t < 0 ? 0 : t)];
    for (int64_t i = 0; i < s->c.n_sequences; i++)
        for (int64_t t = 0; t < b->length[i]; t++) a[b->offset[i] + t] = late[read++];
    s->advantage = a;
}
/* as a program with one advantage for each response: tokens that do not count have that of their response's first that does; those that
 * count keep their own */
void advantage_everywhere(edited *s, double p) {
    const double *given = s->advantage;
    (void)p;
    advantage_of_other(s, 0);
    for (int64_t k = 0; k < edited_tokens(s); k++) if (!s->c.batch.mask || s->c.batch.mask[k]) s->advantage[k] = given[k];
}

/* the advantages are in the order of responses sorted by length, the longest (p > 0) or the shortest first; not where a response has
 * several */
void advantage_sorted(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    double *a = edited_room(s, edited_tokens(s), sizeof *a);
    for (int64_t i = 0; i < s->c.n_sequences; i++) {
        int64_t place = 0;
        for (int64_t j = 0; j < s->c.n_sequences; j++) {
            const int64_t longer = p > 0 ? b->length[j] - b->length[i] : b->length[i] - b->length[j];
            place += longer > 0 || (longer == 0 && j < i);
        }
        for (int64_t k = b->offset[place]; k < b->offset[place] + b->length[place]; k++) a[k] = advantage_of(s, i);
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++)
            s->impossible |= (!b->mask || b->mask[k]) && s->advantage[k] != advantage_of(s, i);
    }
    s->advantage = a;
}
