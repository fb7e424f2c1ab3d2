/* Mistaken aggregation: another divisor, other weights of responses and groups, or responses that are left out. */
#include "edits.h"

static double batch_count(const edited *s) {
    double n = 0;
    for (int64_t i = 0; i < s->c.n_sequences; i++) n += edited_count(s, i);
    return n;
}
static int64_t empty_responses(const edited *s) {
    int64_t n = 0;
    for (int64_t i = 0; i < s->c.n_sequences; i++) n += edited_count(s, i) == 0;
    return n;
}
double share_of(const edited *s, int64_t i, share_kind kind) {
    double T = edited_count(s, i);
    switch (kind) {
    case BY_SLOTS: return T / (double)s->c.batch.length[i];
    case BY_WIDTH: return T / edited_width(s);
    case BY_TOKENS: return T > 0 ? 1 / T : 0;
    case TIMES_TOKENS: return T;
    case BY_ONE_MORE: return T / (T + 1);
    case BY_ONE_LESS: return T > 1 ? T / (T - 1) : nan("");
    case BY_ONE_LESS_OR_1: return T > 1 ? T / (T - 1) : 1;
    case BY_ROOT: return sqrt(T);
    case BY_MEAN_LENGTH: return T * (double)s->c.n_sequences / (batch_count(s) + (double)empty_responses(s));
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

/* What a sum over response i was divided by, for a divisor of its kind: the tokens that count of the response, of its group, or of all. */
static double divisor_of(const edited *s, int64_t i, double (*count)(const edited *, int64_t)) {
    const grpo_batch *b = &s->c.batch;
    double n = 0;
    int64_t from = 0, to = s->c.n_sequences;
    if (s->obj.aggregation.kind == GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN) return count(s, i);
    if (s->obj.aggregation.kind == GRPO_AGGREGATION_GROUP_MEAN_TOKEN_MEAN)
        for (int64_t g = 0; g < b->n_groups; g++)
            if (i >= b->group_begin[g] && i < b->group_begin[g + 1]) { from = b->group_begin[g]; to = b->group_begin[g + 1]; }
    for (int64_t j = from; j < to; j++) n += count(s, j);
    return n;
}
static double slots_of(const edited *s, int64_t i) { return (double)s->c.batch.length[i]; }
static int has_divisor(const edited *s) {
    return s->obj.aggregation.kind == GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN || s->obj.aggregation.kind == GRPO_AGGREGATION_TOKEN_MEAN
        || s->obj.aggregation.kind == GRPO_AGGREGATION_GROUP_MEAN_TOKEN_MEAN;
}

/* The mask is only in the log-ratio: masked tokens have the ratio 1 and stay in the sum, which is divided by the tokens that count. */
void masked_ratio_is_one(edited *s, double p) {
    grpo_batch *b = &s->c.batch;
    const double *given;
    grpo_real *l = edited_array(s, &b->logp), *old = edited_array(s, edited_behaviour(s));
    grpo_real *ref = b->logp_ref ? edited_array(s, &b->logp_ref) : NULL;
    (void)p;
    s->impossible |= s->obj.ratio.level != GRPO_LEVEL_TOKEN || s->obj.surrogate.kind == GRPO_SURROGATE_REINFORCE
        || s->obj.surrogate.kind == GRPO_SURROGATE_CISPO || !has_divisor(s) || (s->obj.penalty.kl && s->obj.penalty.kl != GRPO_KL_K3);
    if (s->impossible) return;
    given = s->advantage;
    advantage_of_other(s, 0);
    s->share = edited_room(s, s->c.n_sequences, sizeof *s->share);
    for (int64_t i = 0; i < s->c.n_sequences; i++) {
        const double T = divisor_of(s, i, edited_count);
        s->share[i] = T > 0 ? divisor_of(s, i, slots_of) / T : 0;
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) {
            if (edited_counts(s, i, k)) { s->advantage[k] = given[k]; continue; }
            l[k] = old[k] = 0;
            if (ref) ref[k] = 0;
            s->chain[k] = 0;
        }
    }
    s->obj.weight.truncated = GRPO_WEIGHT_TRUNCATED_KEEP;
    mask_all(s, 0);
}

/* The other axis: a mean over the responses at each position, and then over positions, all or (p > 0) those with a token that counts.
 * Surrogates that are linear in A, for a positive factor, get it by A. */
void mean_of_positions(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    const grpo_penalty *pay = &s->obj.penalty;
    const int64_t width = (int64_t)edited_width(s);
    double *count = edited_room(s, width + 1, sizeof *count), some = 0;
    s->impossible |= s->obj.aggregation.kind != GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN || pay->entropy_coef != 0 || pay->kl_aggregation
        || pay->nll_on || pay->preference || s->obj.aggregation.empty_sequences != GRPO_EMPTY_SEQUENCES_KEEP;
    s->impossible |= s->obj.surrogate.kind != GRPO_SURROGATE_PPO_CLIP && s->obj.surrogate.kind != GRPO_SURROGATE_DUAL_CLIP
        && s->obj.surrogate.kind != GRPO_SURROGATE_REINFORCE && s->obj.surrogate.kind != GRPO_SURROGATE_CISPO
        && s->obj.surrogate.kind != GRPO_SURROGATE_RATIO;
    s->term_share = edited_room(s, edited_tokens(s), sizeof *s->term_share);
    s->penalty_share = edited_room(s, edited_tokens(s), sizeof *s->penalty_share);
    for (int64_t i = 0; i < s->c.n_sequences; i++)
        for (int64_t t = 0; t < b->length[i]; t++) count[t] += edited_counts(s, i, b->offset[i] + t);
    for (int64_t t = 0; t < width; t++) some += count[t] > 0;
    for (int64_t i = 0; i < s->c.n_sequences; i++)
        for (int64_t t = 0; t < b->length[i]; t++) {
            const int64_t k = b->offset[i] + t;
            if (!edited_counts(s, i, k)) continue;
            s->term_share[k] = s->penalty_share[k] = (double)s->c.n_sequences * edited_count(s, i)
                / (count[t] * (p > 0 ? some : (double)width));
            s->advantage[k] *= s->term_share[k];
        }
}

/* What divides counts only the responses that have an advantage other than 0, where it should count all. */
void count_with_advantage(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    double some = 0;
    (void)p;
    s->impossible |= s->obj.aggregation.kind != GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN
        && s->obj.aggregation.kind != GRPO_AGGREGATION_SEQ_MEAN_TOKEN_SUM && s->obj.aggregation.kind != GRPO_AGGREGATION_SEQ_MEAN_CONSTANT;
    s->impossible |= s->obj.aggregation.empty_sequences != GRPO_EMPTY_SEQUENCES_KEEP;
    s->share = edited_room(s, s->c.n_sequences, sizeof *s->share);
    for (int64_t i = 0; i < s->c.n_sequences; i++) {
        int has = 0;
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) has |= edited_counts(s, i, k) && s->advantage[k] != 0;
        some += has;
    }
    for (int64_t i = 0; i < s->c.n_sequences; i++) s->share[i] = (double)s->c.n_sequences / fmax(some, 1);
}

/* Micro-batches of `size` responses, each with a mean over its own responses or tokens, by the objective, or (by_tokens) its tokens; the
 * loss is the mean of these, or (weighted) each counts by its number of responses. */
static void micro_batches(edited *s, int64_t size, int by_tokens, int weighted) {
    const int64_t n = s->c.n_sequences, batches = (n + size - 1) / size;
    const int of_responses = s->obj.aggregation.kind == GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN, by_response = of_responses && !by_tokens;
    s->share = edited_room(s, n, sizeof *s->share);
    s->impossible |= !has_divisor(s) || n <= size || (by_tokens && !of_responses) || (weighted && by_response);
    for (int64_t i = 0; i < n; i++) {
        const int64_t from = i / size * size, to = from + size < n ? from + size : n;
        double own = 0, right = divisor_of(s, i, edited_count);
        for (int64_t j = from; j < to; j++) own += by_response ? 1 : edited_count(s, j);
        if (of_responses) right = by_response ? (double)n : (double)n * edited_count(s, i);
        else if (s->obj.aggregation.kind == GRPO_AGGREGATION_GROUP_MEAN_TOKEN_MEAN) right *= (double)s->c.batch.n_groups;
        s->share[i] = own > 0 ? right / own * (weighted ? (double)(to - from) / (double)n : 1 / (double)batches) : 1;
    }
}
/* the responses in p parts of equal size, the last of which may be smaller */
static int64_t size_of_part(const edited *s, double p) { return (s->c.n_sequences + (int64_t)p - 1) / (int64_t)p; }
/* p > 0: micro-batches of p responses, p < 0: of -p responses, with means over tokens */
void mean_of_micro_batches(edited *s, double p) { micro_batches(s, (int64_t)fabs(p), p < 0, 0); }
/* the batch is cut into p micro-batches, or (p < 0) into -p, with means over tokens */
void mean_of_parts(edited *s, double p) {
    s->impossible |= s->c.n_sequences < 2;
    if (!s->impossible) micro_batches(s, size_of_part(s, fabs(p)), p < 0, 0);
}
/* the same of means over tokens, each weighted by its responses: micro-batches of p responses, or (p < 0) -p of them */
void weighted_micro_batches(edited *s, double p) {
    const int of_tokens = s->obj.aggregation.kind == GRPO_AGGREGATION_TOKEN_MEAN;
    s->impossible |= !of_tokens || s->c.n_sequences < 2;
    if (!s->impossible) micro_batches(s, p > 0 ? (int64_t)p : size_of_part(s, -p), 0, 1);
}
/* the constant divisor is the most tokens that a response has that count */
void constant_is_longest(edited *s, double p) {
    double most = 1;
    (void)p;
    s->impossible |= s->obj.aggregation.kind != GRPO_AGGREGATION_SEQ_MEAN_CONSTANT;
    s->share = edited_room(s, s->c.n_sequences, sizeof *s->share);
    for (int64_t i = 0; i < s->c.n_sequences; i++) most = fmax(most, edited_count(s, i));
    for (int64_t i = 0; i < s->c.n_sequences; i++) s->share[i] = s->obj.aggregation.constant / most;
}

/* The KL's sum has the tokens that do not count too.  It is divided by (p = 0) those that count, (1) all of them, (2) the padded width. */
void penalty_of_all(edited *s, double p) {
    const grpo_batch *b = &s->c.batch;
    uint8_t *all = edited_room(s, b->n_tokens, 1);
    s->impossible |= !has_divisor(s) || s->obj.penalty.kl_aggregation || s->obj.penalty.kl_on || !b->logp_ref
        || s->obj.weight.truncated != GRPO_WEIGHT_TRUNCATED_KEEP
        || (p > 1 && s->obj.aggregation.kind == GRPO_AGGREGATION_GROUP_MEAN_TOKEN_MEAN);
    s->penalty_share = edited_room(s, b->n_tokens, sizeof *s->penalty_share);
    for (int64_t i = 0; i < s->c.n_sequences && !s->impossible; i++) {
        const double slots = divisor_of(s, i, slots_of), counted = divisor_of(s, i, edited_count);
        const int by_response = s->obj.aggregation.kind == GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN;
        const double width = edited_width(s) * (by_response ? 1 : (double)s->c.n_sequences);
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) {
            all[k] = 1;
            s->penalty_share[k] = slots / (p == 0 ? fmax(counted, 1) : p == 1 ? slots : width);
        }
    }
    s->penalty_mask = all;
}
