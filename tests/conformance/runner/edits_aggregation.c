/* Mistaken aggregation: another divisor, other weights of responses and groups, or responses that are left out. */
#include "edits.h"

double share_of(const edited *s, int64_t i, share_kind kind) {
    double T = edited_count(s, i);
    switch (kind) {
    case BY_SLOTS: return T / (double)s->c.batch.length[i];
    case BY_WIDTH: return T / edited_width(s);
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
void share_loss(edited *s, double p) {
    s->share = edited_room(s, s->c.n_sequences, sizeof *s->share);
    for (int64_t i = 0; i < s->c.n_sequences; i++) s->share[i] = share_of(s, i, (share_kind)p);
}
/* the first response, or (p = -1) the last, is left out */
void drop_response(edited *s, double p) {
    const int64_t left_out = p < 0 ? s->c.n_sequences - 1 : 0, n = s->c.n_sequences;
    s->share = edited_room(s, n, sizeof *s->share);
    for (int64_t i = 0; i < n; i++) s->share[i] = i != left_out;
}
void drop_and_uncount(edited *s, double p) {
    const double n = (double)s->c.n_sequences;
    drop_response(s, p);
    s->impossible |= n < 2;
    for (int64_t i = 0; i < s->c.n_sequences; i++) s->share[i] *= n / (n - 1);
}
/* only the first group, or (p = -1) the last, adds to the loss */
void only_group(edited *s, double p) {
    const int64_t g = p < 0 ? s->c.batch.n_groups - 1 : 0;
    s->share = edited_room(s, s->c.n_sequences, sizeof *s->share);
    for (int64_t i = s->c.batch.group_begin[g]; i < s->c.batch.group_begin[g + 1]; i++) s->share[i] = 1;
}

/* of the mean over all tokens: the tokens that count, and all */
static void of_token_mean(edited *s, double *counted, double *slots) {
    s->share = edited_room(s, s->c.n_sequences, sizeof *s->share);
    s->impossible |= s->obj.aggregation.kind != GRPO_AGGREGATION_TOKEN_MEAN;
    *counted = *slots = 0;
    for (int64_t i = 0; i < s->c.n_sequences; i++) { *counted += edited_count(s, i); *slots += (double)s->c.batch.length[i]; }
}

/* another divisor of the mean over all tokens */
void share_total(edited *s, double p) {
    double T, slots;
    of_token_mean(s, &T, &slots);
    for (int64_t i = 0; i < s->c.n_sequences; i++)
        s->share[i] = p == 0 ? T / slots : p == 1 ? T / (edited_width(s) * (double)s->c.n_sequences) : T / (T + p);
}
/* every token is in the sum over tokens, and what is divided by are those that count */
void sum_over_all(edited *s, double p) {
    double T, slots;
    (void)p;
    of_token_mean(s, &T, &slots);
    s->impossible |= T == 0;
    for (int64_t i = 0; i < s->c.n_sequences; i++) s->share[i] = slots / T;
    s->obj.weight.truncated = GRPO_WEIGHT_TRUNCATED_KEEP;
    mask_all(s, 0);
}
/* another divisor of the mean over a group's tokens: 0: the responses' lengths, 1: their padded width */
void share_mean_of_group(edited *s, double p) {
    s->share = edited_room(s, s->c.n_sequences, sizeof *s->share);
    s->impossible |= s->obj.aggregation.kind != GRPO_AGGREGATION_GROUP_MEAN_TOKEN_MEAN;
    for (int64_t g = 0; g < s->c.batch.n_groups; g++) {
        const int64_t from = s->c.batch.group_begin[g], to = s->c.batch.group_begin[g + 1];
        double T = 0, places = 0;
        for (int64_t i = from; i < to; i++) {
            T += edited_count(s, i);
            places += p == 0 ? (double)s->c.batch.length[i] : edited_width(s);
        }
        for (int64_t i = from; i < to; i++) s->share[i] = T / places;
    }
}
void share_mean_of_response(edited *s, double p) {
    s->impossible |= s->obj.aggregation.kind != GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN;
    share_loss(s, p);
}
void policy_aggregated(edited *s, double p) {
    s->policy_aggregation = (int)p;
    s->impossible |= (int)s->obj.aggregation.kind == (int)p;
}
void penalty_aggregated(edited *s, double p) {
    s->penalty_aggregation = (int)p;
    s->impossible |= (int)s->obj.aggregation.kind == (int)p;
}
void all_aggregated(edited *s, double p) { s->policy_aggregation = s->penalty_aggregation = (int)p; }
void empty_means(edited *s, double p) {
    s->impossible |= s->obj.aggregation.kind != GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN;
    s->empty_is_nan = (int)p;
}
