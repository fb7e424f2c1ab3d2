/* Mistakes in cases of kind `split`.  Most of them multiply loss and gradient of a part by a factor that depends on the counts of the
 * parts.  The right loss and gradient of each part are in the case, and the wrong ones are computed from them. */
#include "computed.h"
#include <stdlib.h>

typedef struct { double tokens, sequences, groups; } counts;

typedef struct {
    const test_case *c;
    double ranks, factor;       /* factor: multiplies the right loss of a part */
    int64_t steps;
} view;

static int64_t steps_of(const test_case *c) {
    int64_t n = 0;
    for (int64_t k = 0; k < c->n_parts; k++) if (c->parts[k].step >= n) n = c->parts[k].step + 1;
    return n;
}

static counts counts_of(const test_case *c, int64_t p) {
    const counts n = { c->list[CASE_PART_TOKENS].expect[p], c->list[CASE_PART_SEQUENCES].expect[p], c->list[CASE_PART_GROUPS].expect[p] };
    return n;
}

static void add(counts *sum, counts n) {
    sum->tokens += n.tokens;
    sum->sequences += n.sequences;
    sum->groups += n.groups;
}

/* sums of counts over all parts, or over those in the step of p (same_step), or of its rank (same_rank), or both */
static counts over(const view *v, int64_t p, int same_step, int same_rank) {
    const case_part *parts = v->c->parts;
    counts sum = { 0, 0, 0 };
    for (int64_t k = 0; k < v->c->n_parts; k++) {
        if (same_step && parts[k].step != parts[p].step) continue;
        if (!same_rank || parts[k].rank == parts[p].rank) add(&sum, counts_of(v->c, k));
    }
    return sum;
}

static double micro_batches(const view *v, int64_t step, int64_t rank) {
    double n = 0;
    for (int64_t k = 0; k < v->c->n_parts; k++) n += v->c->parts[k].step == step && v->c->parts[k].rank == rank;
    return n;
}

static double most_micro_batches(const view *v, int64_t step) {
    double most = 0;
    for (int64_t r = 0; r < v->c->ranks; r++) most = fmax(most, micro_batches(v, step, r));
    return most;
}

static double own_micro_batches(const view *v, int64_t p) { return micro_batches(v, v->c->parts[p].step, v->c->parts[p].rank); }

static int is_last_of_rank(const view *v, int64_t p) {
    const case_part *parts = v->c->parts;
    for (int64_t k = p + 1; k < v->c->n_parts; k++) if (parts[k].step == parts[p].step && parts[k].rank == parts[p].rank) return 0;
    return 1;
}

/* the first part of the same rank and step as p */
static int64_t first_of_rank(const view *v, int64_t p) {
    int64_t k = 0;
    while (v->c->parts[k].step != v->c->parts[p].step || v->c->parts[k].rank != v->c->parts[p].rank) k++;
    return k;
}

static double responses(const view *v, int64_t p) {
    const case_part *part = &v->c->parts[p];
    double n = 0;
    for (int64_t j = 0; j < part->n_ranges; j++) {
        int seen = 0;
        for (int64_t k = 0; k < j; k++) seen |= part->range[k].sequence == part->range[j].sequence;
        n += !seen;
    }
    return n;
}

static double responses_of_step(const view *v, int64_t p, int same_rank) {
    double n = 0;
    for (int64_t k = 0; k < v->c->n_parts; k++) {
        const case_part *part = &v->c->parts[k];
        if (part->step != v->c->parts[p].step || (same_rank && part->rank != v->c->parts[p].rank)) continue;
        for (int64_t j = 0; j < part->n_ranges; j++) n += !part->range[j].begin;
    }
    return n;
}

/* ---- what the aggregation divides by ---------------------------------------------------------------------------------------------- */

enum { BY_TOKENS, BY_SEQUENCES, BY_GROUPS, BY_NOTHING, BY_OTHERS };

static int divides_by(const grpo_objective *o) {
    switch (o->aggregation.kind) {
    case GRPO_AGGREGATION_TOKEN_MEAN: return BY_TOKENS;
    case GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN: case GRPO_AGGREGATION_SEQ_MEAN_TOKEN_SUM: case GRPO_AGGREGATION_SEQ_MEAN_CONSTANT:
    case GRPO_AGGREGATION_SEQ_MEAN_LENGTH_POWER: return BY_SEQUENCES;
    case GRPO_AGGREGATION_GROUP_MEAN: case GRPO_AGGREGATION_GROUP_MEAN_TOKEN_MEAN: case GRPO_AGGREGATION_GROUP_MEAN_SEQ_MEAN:
        return BY_GROUPS;
    case GRPO_AGGREGATION_TOKEN_SUM: case GRPO_AGGREGATION_CONSTANT: case GRPO_AGGREGATION_SEQ_SUM_TOKEN_MEAN: return BY_NOTHING;
    default: return BY_OTHERS;
    }
}

static double divisor(const view *v, counts n) {
    switch (divides_by(&v->c->objective)) {
    case BY_TOKENS: return n.tokens;
    case BY_SEQUENCES: return n.sequences;
    case BY_GROUPS: return n.groups;
    default: return 1;
    }
}

static double of_step(const view *v, int64_t p) { return divisor(v, over(v, p, 1, 0)); }

/* the factor if a part is divided by these counts, and not multiplied by anything; a part in which nothing counts adds 0 */
static double divided_by(const view *v, int64_t p, counts n) {
    const double d = divisor(v, n);
    return d > 0 ? of_step(v, p) / d / v->factor : 0;
}

static double within(const view *v, int64_t p) { return divided_by(v, p, counts_of(v->c, p)); }
static double within_rank(const view *v, int64_t p) { return divided_by(v, p, over(v, p, 1, 1)); }
static double mean(const view *v, int64_t p) { return within(v, p) / own_micro_batches(v, p); }

/* ---- the mistakes: factors of a part's loss ------------------------------------------------------------------------------------------ */

static double right(const view *v, int64_t p) { (void)v; (void)p; return 1; }
static double unmultiplied(const view *v, int64_t p) { (void)p; return 1 / v->factor; }
static double with_factor(const view *v, int64_t p) { (void)p; return v->factor; }
static double over_micro_batches(const view *v, int64_t p) { return 1 / own_micro_batches(v, p); }
static double over_ranks_again(const view *v, int64_t p) { (void)p; return 1 / (v->factor * v->ranks); }
static double last_alone(const view *v, int64_t p) { return is_last_of_rank(v, p) ? within(v, p) : 0; }
static double times_ranks(const view *v, int64_t p) { (void)p; return v->ranks / v->factor; }
static double mean_times_ranks(const view *v, int64_t p) { return mean(v, p) * v->ranks; }
static double over_ranks_of_sum(const view *v, int64_t p) { (void)p; return 1 / (v->c->added ? v->ranks : v->factor); }
static double over_context(const view *v, int64_t p) { (void)p; return v->c->added ? 1 : 1 / (double)v->c->context_ranks; }
static double times_context(const view *v, int64_t p) { (void)p; return (double)v->c->context_ranks; }
static double over_most(const view *v, int64_t p) { return within(v, p) / most_micro_batches(v, v->c->parts[p].step); }
static double first_rank(const view *v, int64_t p) { return v->c->parts[p].rank ? 0 : v->factor; }
static double first_context(const view *v, int64_t p) {
    return v->c->parts[p].rank % v->c->context_ranks ? 0 : v->c->added ? 1 : (double)v->c->context_ranks;
}
static double last_step(const view *v, int64_t p) { return v->c->parts[p].step == v->steps - 1; }
static double steps_left(const view *v, int64_t p) { return (double)(v->steps - v->c->parts[p].step); }

static double fixed_accumulation(const view *v, int64_t p) {
    const double first = responses(v, first_of_rank(v, p));
    return first > 0 ? within(v, p) / (responses_of_step(v, p, 1) / first) : 0;
}

static double same_place(const view *v, int64_t p) {
    const case_part *parts = v->c->parts;
    double tokens = 0;
    int64_t place = 0;
    for (int64_t k = 0; k < p; k++) place += parts[k].step == parts[p].step && parts[k].rank == parts[p].rank;
    for (int64_t r = 0; r < v->c->ranks; r++) {
        int64_t at = 0;
        for (int64_t k = 0; k < v->c->n_parts; k++)
            if (parts[k].step == parts[p].step && parts[k].rank == r && at++ == place) tokens += counts_of(v->c, k).tokens;
    }
    return tokens > 0 ? over(v, p, 1, 0).tokens / tokens : 0;
}

static double per_sequence_factor(const view *v, int64_t p) { return own_micro_batches(v, p) * v->ranks / responses_of_step(v, p, 0); }

static double last_repeated(const view *v, int64_t p) {
    return is_last_of_rank(v, p) ? 1 + most_micro_batches(v, v->c->parts[p].step) - own_micro_batches(v, p) : 1;
}

static double incomplete_dropped(const view *v, int64_t p) {
    double most = 0;
    for (int64_t k = 0; k < v->c->n_parts; k++) if (v->c->parts[k].step == v->c->parts[p].step) most = fmax(most, responses(v, k));
    return responses(v, p) == most;
}

static double floored(const view *v, int64_t p) {
    const double tokens = over(v, p, 1, 0).tokens, each = floor(tokens / v->ranks);
    return each > 0 ? tokens / (v->ranks * each) : 0;
}

static double by_responses(const view *v, int64_t p) { return within(v, p) * responses(v, p) / responses_of_step(v, p, 0) * v->factor; }

static double window(const view *v, int64_t p) { return of_step(v, p) / divisor(v, over(v, p, 0, 0)); }

static double window_of_micro_batches(const view *v, int64_t p) {
    double n = 0;
    for (int64_t k = 0; k < v->steps; k++) n += micro_batches(v, k, v->c->parts[p].rank);
    return within(v, p) / n;
}

static double first_step(const view *v, int64_t p) {
    counts n = { 0, 0, 0 };
    for (int64_t k = 0; k < v->c->n_parts; k++) if (!v->c->parts[k].step) add(&n, counts_of(v->c, k));
    return n.tokens > 0 ? over(v, p, 1, 0).tokens / n.tokens : 0;
}

static double average_of_window(const view *v, int64_t p) { return window(v, p) * (double)v->steps; }

static double at_least_one(const view *v, int64_t p) {
    double tokens = 0;
    for (int64_t k = 0; k < v->c->n_parts; k++)
        if (v->c->parts[k].step == v->c->parts[p].step) tokens += fmax(1, counts_of(v->c, k).tokens);
    return over(v, p, 1, 0).tokens / tokens;
}

static double ranks_with_tokens(const view *v, int64_t p) {
    double n = 0;
    for (int64_t r = 0; r < v->c->ranks; r++) {
        double tokens = 0;
        for (int64_t k = 0; k < v->c->n_parts; k++)
            if (v->c->parts[k].step == v->c->parts[p].step && v->c->parts[k].rank == r) tokens += counts_of(v->c, k).tokens;
        n += tokens > 0;
    }
    return v->c->added ? 1 : n / v->factor;
}

/* ---- the table -------------------------------------------------------------------------------------------------------------------- */

typedef double part_factor(const view *v, int64_t p);
enum { ANY = 31, TOKENS = 1 << BY_TOKENS, SEQUENCES = 1 << BY_SEQUENCES };
/* needs the counts by which a part alone would divide; part_loss stays right; part_tokens is at least 1 */
enum { COUNTS_PARTS = 1, KEEPS_PART_LOSS = 2, AT_LEAST_ONE = 4 };

/* gradient: the factor of gradients and part_loss; loss: the factor of the loss; by: a bit set of the divisors that it applies to */
static const struct { const char *id; part_factor *gradient, *loss; int by, how; } mistakes[] = {
    { "NORM-08", mean, mean, ANY, COUNTS_PARTS }, { "NORM-09", unmultiplied, unmultiplied, ANY, 0 },
    { "NORM-10", over_micro_batches, over_micro_batches, ANY, 0 }, { "NORM-10a", within, within, ANY, COUNTS_PARTS },
    { "NORM-11", fixed_accumulation, fixed_accumulation, SEQUENCES, COUNTS_PARTS }, { "NORM-12", right, over_micro_batches, ANY, 0 },
    { "NORM-14", same_place, same_place, TOKENS, 0 }, { "NORM-15", within, mean, TOKENS, COUNTS_PARTS },
    { "NORM-18", over_ranks_again, over_ranks_again, SEQUENCES, 0 }, { "NORM-19", per_sequence_factor, per_sequence_factor, TOKENS, 0 },
    { "NORM-20", right, over_micro_batches, ANY, 0 }, { "NORM-20a", right, within, ANY, COUNTS_PARTS },
    { "MET-01", right, last_alone, ANY, COUNTS_PARTS }, { "MET-02", right, within_rank, ANY, COUNTS_PARTS },
    { "PART-01", within_rank, within_rank, ANY, COUNTS_PARTS }, { "PART-02", times_ranks, times_ranks, ANY, 0 },
    { "PART-02a", mean_times_ranks, mean_times_ranks, ANY, COUNTS_PARTS }, { "PART-02b", over_ranks_of_sum, over_ranks_of_sum, ANY, 0 },
    { "PART-03", over_context, over_context, ANY, 0 }, { "PART-03a", times_context, times_context, ANY, 0 },
    { "PART-07", window, window, TOKENS | SEQUENCES | 1 << BY_NOTHING, 0 },
    { "PART-07a", window_of_micro_batches, window_of_micro_batches, ANY, COUNTS_PARTS },
    { "PART-07b", first_step, first_step, TOKENS, 0 },
    { "PART-07c", average_of_window, average_of_window, TOKENS | SEQUENCES | 1 << BY_NOTHING, 0 },
    { "PART-11", at_least_one, at_least_one, TOKENS, AT_LEAST_ONE }, { "PART-14", ranks_with_tokens, ranks_with_tokens, ANY, 0 },
    { "PART-15", last_repeated, last_repeated, ANY, 0 }, { "PART-15a", incomplete_dropped, incomplete_dropped, ANY, 0 },
    { "PART-16", over_most, over_most, ANY, COUNTS_PARTS }, { "PART-17", floored, floored, TOKENS, 0 },
    { "PART-18", by_responses, by_responses, TOKENS | 1 << BY_GROUPS, COUNTS_PARTS }, { "PART-19", right, first_rank, ANY, 0 },
    { "PART-19a", right, first_context, ANY, 0 }, { "PART-19c", right, with_factor, ANY, 0 }, { "PART-19b", right, last_step, ANY, 0 },
    { "PART-20", steps_left, right, ANY, KEEPS_PART_LOSS },
};
enum { N_MISTAKES = sizeof mistakes / sizeof *mistakes };

int computed_split_count(void) { return N_MISTAKES; }

computed_mistake computed_split_named(int n) {
    const computed_mistake m = { mistakes[n].id, mistakes[n].id, 0 };
    return m;
}

static int holds_pieces(const test_case *c, case_part_kind of) {
    for (int64_t k = 0; k < c->n_parts; k++) if (c->parts[k].kind >= of) return 1;
    return 0;
}

/* Would a part alone divide by its counts only?  Not where its tokens have other coefficients too. */
static int counts_alone(const test_case *c) {
    const int by = divides_by(&c->objective);
    if (by == BY_OTHERS || (by == BY_GROUPS && holds_pieces(c, CASE_PART_OF_RESPONSES))) return 0;
    if (!holds_pieces(c, CASE_PART_OF_TOKENS)) return 1;
    return (by == BY_TOKENS && c->objective.weight.rollout_rejected == GRPO_ROLLOUT_REJECTED_ZERO_WEIGHT)
        || c->objective.aggregation.kind == GRPO_AGGREGATION_CONSTANT || c->objective.aggregation.kind == GRPO_AGGREGATION_TOKEN_SUM;
}

static int applies(const test_case *c, int n) {
    for (int k = 0; k <= CASE_PART_LOSS; k++) if (!c->list[k].expect) return 0;
    if (c->objective.penalty.nll_on != GRPO_NLL_NONE || c->objective.penalty.preference != GRPO_PREFERENCE_NONE) return 0;
    if (c->objective.penalty.kl_aggregation != GRPO_PENALTY_AGGREGATION_TERMS) return 0;      /* a token has one coefficient here */
    if (c->objective.penalty.entropy_aggregation != GRPO_PENALTY_AGGREGATION_TERMS) return 0;
    return (mistakes[n].by >> divides_by(&c->objective) & 1) && (!(mistakes[n].how & COUNTS_PARTS) || counts_alone(c));
}

/* Does each token's gradient belong to one part, or do all parts of a step have the same factor?  Where a response is cut into pieces and
 * the ratio is not per token, a gradient has terms of several parts. */
static int is_uniform(const view *v, int n) {
    if (v->c->objective.ratio.level == GRPO_LEVEL_TOKEN || !holds_pieces(v->c, CASE_PART_OF_TOKENS)) return 1;
    for (int64_t p = 0; p < v->c->n_parts; p++)
        for (int64_t k = 0; k < p; k++)
            if (v->c->parts[k].step == v->c->parts[p].step && mistakes[n].gradient(v, k) != mistakes[n].gradient(v, p)) return 0;
    return 1;
}

static void multiply(const view *v, int n, answer *out) {
    const test_case *c = v->c;
    double *loss = out->of[OUT_LOSS].value;
    *loss = 0;
    for (int64_t p = 0; p < c->n_parts; p++) {
        const double by = mistakes[n].gradient(v, p), share = c->list[CASE_PART_LOSS].expect[p];
        *loss += mistakes[n].loss(v, p) * share / v->factor;
        if (mistakes[n].how & AT_LEAST_ONE) out->of[OUT_LIST + CASE_PART_TOKENS].value[p] = fmax(1, counts_of(c, p).tokens);
        if (!(mistakes[n].how & KEEPS_PART_LOSS)) out->of[OUT_LIST + CASE_PART_LOSS].value[p] *= by;
        for (int64_t j = 0; j < c->parts[p].n_ranges; j++)
            for (int64_t t = c->parts[p].range[j].begin; t < c->parts[p].range[j].end; t++)
                out->of[OUT_DLOGP].value[c->batch.offset[c->parts[p].range[j].sequence] + t] *= by;
    }
}

int computed_split(const test_case *c, int n, answer *out) {
    view v;
    memset(out, 0, sizeof *out);
    if (c->kind != CASE_SPLIT || !applies(c, n)) return 0;
    v.c = c;
    v.ranks = (double)c->ranks;
    v.factor = c->added ? 1 : v.ranks;
    v.steps = steps_of(c);
    if (!is_uniform(&v, n)) return 0;
    *out = answer_expected(c);
    multiply(&v, n, out);
    return 1;
}
