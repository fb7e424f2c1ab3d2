/* grpo_context.h - context parallelism: the loss when the tokens of a response are on several ranks, with the bits of the undivided batch.
 * An optional part of gspo.h.  In the one source file that has the implementation of gspo.h write instead
 *
 *     #define GRPO_CONTEXT_IMPLEMENTATION    // implies GSPO_IMPLEMENTATION
 *     #include "extra/grpo_context.h"
 *
 * and include it plainly elsewhere.
 *
 * Every rank of a context group has a batch with the same groups and responses, and of each response the tokens that are on this rank: one
 * after the other in its arrays, in any order (two stripes of a ring, say), some or none.  What is per response or group is on every rank.
 * A is computed from whole responses (grpo_advantages there, or with their lengths): reward.length and overlong, baselines, gains and
 * credit read a response's length, which a part does not have.  Then, with A given per token:
 *
 *     grpo_response whole[N], part[N];              // N responses, some 3 KB each: better malloc; totals, out and partial start as 0
 *     for (k = 0; !st && k < grpo_context_rounds(&obj); k++) {
 *         st = grpo_context_measure(&obj, &batch, advantage, k ? whole : NULL, part);
 *         // whole = sum of part over the context group, integer by integer: MPI_Allreduce(part, whole, ..., MPI_INT64_T, MPI_SUM)
 *     }
 *     if (!st) st = grpo_context_totals_add(&obj, &batch, whole, &totals);     // the same on every rank of the context group,
 *     // to be summed over data-parallel ranks and micro-batches, but not over the context group
 *     if (!st) st = grpo_context_loss_add(&obj, &batch, advantage, whole, &totals, &out, rank == 0, &partial, through);
 *     // through: N exact sums, to be summed over the context group in the same way
 *     if (!st) st = grpo_context_backward(&obj, &batch, advantage, whole, through, &out, &partial);
 *     // the partials, merged over all ranks with grpo_partial_merge, give the report of the whole; out.dlogp is of the tokens on this rank
 *
 * If through is not summed, or the last call is missing, loss and report are right and the gradient is wrong wherever the ratio is pooled
 * over the response: no call can tell.
 *
 * The sums are exact and integers: neither the split nor the order of ranks changes a bit of loss, gradient or report.
 *
 * Micro-batches add their totals before the first of them is evaluated, and the records that totals are added from ask for batch.logp.  But
 * nothing that totals count depends on it: where the policy's log-probabilities of later micro-batches are not there yet, measure them with
 * any valid array in place of logp (logp_old), add the totals, and measure each again when its forward pass has been made.
 *
 * Micro-batches may split a group.  If the loss does not depend on groups (grpo_context_needs_groups is 0: most objectives) each has any
 * whole responses, each as a group of its own, and grpo_totals_add, gspo_loss_add and grpo_partial_merge are all that is needed: same bits
 * as the whole, except that the report counts groups differently.  Otherwise each has the batch of all responses of its groups, with length
 * 0 for those that are not in it, and is a "rank" in the sense above; but as each response is whole in its part, its sum of through is
 * complete there, and one part is done before the next begins, once all have been measured.  A is computed beforehand, from the whole
 * groups, in both cases.
 *
 * examples/cuts.c does all of this; examples/cuts.md says which cut is right for which objective.
 *
 * Supported ratios are those of the token and of the response (ratio.level token, sequence_mean, sequence_sum, sequence_clipped_mean);
 * weights and rejection pooled over the response, off_policy_mask and divisors by length are those of the whole response.  Choices that
 * depend on a token's position in its response, on segments or on other responses of its group are refused with GRPO_WHOLE_RESPONSE: gather
 * the response's log-probabilities instead. */
#ifndef GRPO_CONTEXT_H
#define GRPO_CONTEXT_H

#include "../gspo.h"

#if GRPO_VERSION_NUMBER != 400
#error "extra/grpo_context.h and grpo.h are of different versions"
#endif

#ifdef GRPO_DOUBLE
#define grpo_context_check grpo_context_check_f64
#define grpo_context_rounds grpo_context_rounds_f64
#define grpo_context_needs_groups grpo_context_needs_groups_f64
#define grpo_context_needs_moments grpo_context_needs_moments_f64
#define grpo_context_array_use grpo_context_array_use_f64
#define grpo_context_add grpo_context_add_f64
#define grpo_context_add_sums grpo_context_add_sums_f64
#define grpo_context_measure grpo_context_measure_f64
#define grpo_context_totals_add grpo_context_totals_add_f64
#define grpo_context_loss_add grpo_context_loss_add_f64
#define grpo_context_backward grpo_context_backward_f64
#endif

GRPO_C_BEGIN_

/* what a part of a response contributes: counts and exact sums, all int64_t, which add up integer by integer to those of the whole */
typedef struct {
    int64_t in_mask;                   /* unmasked tokens */
    int64_t vetoed;                    /* parts with a token below weight.rollout_veto */
    int64_t above, reaching;           /* parts whose largest statistic is above rollout_rs_high; parts whose largest is not below
                                          rollout_rs_low */
    int64_t tokens;                    /* tokens that count */
    int64_t with_advantage;            /* how many of them have A not 0 */
    int64_t positive_tokens, nll_tokens;      /* as in grpo_totals */
    grpo_sum rollout_is, rollout_rs;   /* the sums that weight.rollout_is and rollout_rs pool */
    grpo_sum log_ratio;                /* sum of d of axis 3 over the tokens that count, as ratio.level pools it */
    grpo_sum stale, policy_is;         /* the sums that weight.off_policy_mask and policy_is pool */
} grpo_response;

/* GRPO_OK if parts of responses are enough; GRPO_WHOLE_RESPONSE names the field that needs more; else as grpo_objective_check. */
grpo_status grpo_context_check(const grpo_objective *obj);
/* how many rounds of measuring and adding: 2 if all tokens of a response decide which of them count, else 1; 0: the objective is refused */
int grpo_context_rounds(const grpo_objective *obj);

/* 1 if the loss depends on how responses are grouped (a divisor by groups, a surrogate of a group, pairs).  0: with A given, the grouping
 * changes only the counts of groups in the report */
int grpo_context_needs_groups(const grpo_objective *obj);

/* 1 if A depends on the whole batch: grpo_advantages of a part alone gives another A, and no function can tell.  Then add the grpo_moments
 * of all parts, merge them over ranks, and call grpo_advantages_with_moments.  0: grpo_advantages of whole groups is enough */
int grpo_context_needs_moments(const grpo_objective *obj);

/* How do these calls use an array?  array: its name as a member of grpo_batch, "logp_old", or "advantage".  Unknown too where the objective
 * is refused */
typedef enum { GRPO_READER_ADVANTAGES, GRPO_READER_TOTALS, GRPO_READER_LOSS } grpo_reader;      /* moments read what advantages do */
typedef enum {
    GRPO_ARRAY_UNKNOWN = -1,
    GRPO_ARRAY_UNREAD,
    GRPO_ARRAY_OPTIONAL,          /* read where there is one; by the loss, for the report too */
    GRPO_ARRAY_NEEDED             /* a batch with groups is refused where it is NULL */
} grpo_array_use;
grpo_array_use grpo_context_array_use(const grpo_objective *obj, grpo_reader reader, const char *array);

/* part (sequences): written, what the tokens of this batch contribute to each response.  whole (sequences): NULL in the first round, then
 * the sum of the parts of that round; part may be that array.  advantage (n_tokens): of the tokens on this rank.  Counts that no sum of
 * parts can have are GRPO_OUT_OF_RANGE, here and below. */
grpo_status grpo_context_measure(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                                 const grpo_response *whole, grpo_response *part);
/* into[k] += from[k] for n responses, or for n sums of `through`: for callers without a library that sums int64_t */
void grpo_context_add(grpo_response *into, const grpo_response *from, int64_t n);
void grpo_context_add_sums(grpo_sum *into, const grpo_sum *from, int64_t n);

/* grpo_totals_add of the whole responses; totals starts as 0 */
grpo_status grpo_context_totals_add(const grpo_objective *obj, const grpo_batch *batch, const grpo_response *whole, grpo_totals *totals);

/* gspo_loss_add of the tokens on this rank.  whole (sequences); totals: required.  leads: not 0 on exactly one rank of the context group,
 * which counts the responses and groups of the report.  through (sequences): written, per response the sum of its tokens' derivatives by
 * the pooled log-ratio, to be summed over the context group.  out (arrays of n_tokens; NULL: no gradient); out.dlogp is complete after
 * grpo_context_backward. */
grpo_status grpo_context_loss_add(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                                  const grpo_response *whole, const grpo_totals *totals, const grpo_output *out, int leads,
                                  grpo_partial *partial, grpo_sum *through);

/* completes out.dlogp by d loss/d logp through the ratio of the response; does nothing for ratio.level token.  through (sequences): summed
 * over the context group.  partial: that of grpo_context_loss_add, for its divisors and overflow flag */
grpo_status grpo_context_backward(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                                  const grpo_response *whole, const grpo_sum *through, const grpo_output *out, grpo_partial *partial);

GRPO_C_END_
#endif /* GRPO_CONTEXT_H */

#if defined(GRPO_CONTEXT_IMPLEMENTATION) && !defined(GRPO_CONTEXT_IMPLEMENTED)
#define GRPO_CONTEXT_IMPLEMENTED

#ifndef GSPO_IMPLEMENTATION
#define GSPO_IMPLEMENTATION
#endif
#include "../gspo.h"      /* includes its implementation, if this file does not have it yet */
#include "grpo_shared.h"

GRPO_C_BEGIN_

/* ---- which objectives ---- */

/* the field whose choice needs more than a part of a response; 0 if there is none.  (Field 0 is of axis 1, which no loss reads.) */
static size_t grpo_context_obstacle_(const grpo_objective *o) {
    const grpo_weight *w = &o->weight;
    if (gspo_function_of_(o)) return GRPO_FIELD_(surrogate.kind);
    if (o->ratio.level > GRPO_LEVEL_SEQUENCE_CLIPPED_MEAN) return GRPO_FIELD_(ratio.level);
    if (o->surrogate.bounds == GRPO_BOUNDS_POSITION) return GRPO_FIELD_(surrogate.bounds);
    if (o->penalty.preference != GRPO_PREFERENCE_NONE) return GRPO_FIELD_(penalty.preference);
    if (o->penalty.nll_gate != GRPO_NLL_GATE_NONE) return GRPO_FIELD_(penalty.nll_gate);
    if (grpo_rollout_is_over_(w, GRPO_OVER_SEGMENT)) return GRPO_FIELD_(weight.rollout_is_level);
    if (grpo_rollout_rs_over_(w, GRPO_OVER_SEGMENT)) return GRPO_FIELD_(weight.rollout_rs_level);
    if (w->rollout_is_norm != GRPO_ROLLOUT_IS_NORM_NONE) return GRPO_FIELD_(weight.rollout_is_norm);
    if (w->fipo != GRPO_FIPO_NONE) return GRPO_FIELD_(weight.fipo);
    if (o->aggregation.kind == GRPO_AGGREGATION_SEQ_MEAN_SEGMENT_MEAN || o->aggregation.kind == GRPO_AGGREGATION_SEQ_MEAN_BY_SIGN)
        return GRPO_FIELD_(aggregation.kind);
    return 0;
}

grpo_status grpo_context_check(const grpo_objective *obj) {
    const grpo_status st = grpo_objective_check(obj);
    const size_t obstacle = st ? 0 : grpo_context_obstacle_(obj);
    return obstacle ? GRPO_STATUS_(GRPO_WHOLE_RESPONSE, grpo_at_field_(obstacle)) : st;
}

/* 1 if all tokens of a response together decide which of them count */
static int grpo_is_pooled_(const grpo_weight *w) {
    return grpo_rollout_is_over_(w, GRPO_OVER_SEQUENCE) || grpo_rollout_rs_over_(w, GRPO_OVER_SEQUENCE) || w->rollout_veto != 0;
}

int grpo_context_rounds(const grpo_objective *obj) { return grpo_context_check(obj) ? 0 : grpo_is_pooled_(&obj->weight) ? 2 : 1; }

int grpo_context_needs_groups(const grpo_objective *obj) { return grpo_needs_groups_(obj); }
int grpo_context_needs_moments(const grpo_objective *obj) { return grpo_needs_moments_(&obj->advantage); }

/* of an array that these needs read */
static grpo_array_use grpo_use_by_needs_(const grpo_objective *o, grpo_reader reader, int needs) {
    const int needed = reader == GRPO_READER_ADVANTAGES ? grpo_advantage_needs_(o)
        : reader == GRPO_READER_TOTALS ? grpo_count_needs_(o) : grpo_loss_needs_(o);
    const int optional = reader == GRPO_READER_LOSS ? GRPO_LOSS_READS_
        : reader == GRPO_READER_ADVANTAGES && grpo_reads_truncated_(&o->advantage) ? GRPO_NEED_TRUNCATED_ : 0;
    return needed & needs ? GRPO_ARRAY_NEEDED : optional & needs ? GRPO_ARRAY_OPTIONAL : GRPO_ARRAY_UNREAD;
}

static grpo_array_use grpo_use_of_layout_(const grpo_objective *obj, grpo_reader reader, const char *array) {
    static const char *const layout[] = { "group_begin", "offset", "length" };
    for (size_t k = 0; k < sizeof layout / sizeof *layout; k++) if (strcmp(array, layout[k]) == 0) return GRPO_ARRAY_NEEDED;
    if (strcmp(array, "mask") == 0) return GRPO_ARRAY_OPTIONAL;
    if (strcmp(array, "excluded") != 0) return GRPO_ARRAY_UNKNOWN;
    return reader == GRPO_READER_ADVANTAGES && obj->advantage.excluded != GRPO_EXCLUDED_NONE ? GRPO_ARRAY_OPTIONAL : GRPO_ARRAY_UNREAD;
}

grpo_array_use grpo_context_array_use(const grpo_objective *obj, grpo_reader reader, const char *array) {
    static const struct { const char *name; int needs; } arrays[] = {
#define GRPO_CONTEXT_ARRAY_(member, of, domain, needs, finite) { #member, needs },
        GRPO_ARRAYS_(GRPO_CONTEXT_ARRAY_)
        { "advantage", GRPO_NEED_ADVANTAGE_ }
    };
    if (!array || grpo_objective_check(obj) || (unsigned)reader > GRPO_READER_LOSS) return GRPO_ARRAY_UNKNOWN;
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        if (strcmp(array, arrays[k].name) != 0) continue;
        const grpo_array_use use = grpo_use_by_needs_(obj, reader, arrays[k].needs);
        return use == GRPO_ARRAY_NEEDED && strcmp(array, "reward_weight") == 0 ? GRPO_ARRAY_OPTIONAL : use;
    }
    return grpo_use_of_layout_(obj, reader, array);
}

/* ---- a response from its record ---- */

/* 1 if the largest statistic is within one of the two bounds: the upper (upper = 1) or the lower */
static int grpo_bound_accepts_(const grpo_weight *w, grpo_dd most, int upper) {
    grpo_weight one = *w;
    if (upper) one.rollout_rs_low = w->rollout_rs == GRPO_ROLLOUT_RS_RATIO ? 0 : -HUGE_VAL;
    else one.rollout_rs_high = HUGE_VAL;
    return grpo_rollout_rs_accepts(&one, most);
}

static int grpo_whole_rejected_(const grpo_weight *w, const grpo_response *x) {
    const grpo_how how = grpo_rollout_rs_pool_(w->rollout_rs_level).how;
    if (x->vetoed) return 1;
    if (!grpo_rollout_rs_over_(w, GRPO_OVER_SEQUENCE)) return 0;
    if (how == GRPO_HOW_MAX) return x->above || !x->reaching;
    return !grpo_rollout_rs_accepts(w, grpo_sum_or_mean_(&x->rollout_rs, how, x->in_mask));
}

/* sequence i with its tokens on this rank; x: the record of the whole response */
static grpo_sequence_ grpo_context_sequence_(const grpo_objective *o, const grpo_batch *b, int64_t i, const grpo_response *x) {
    const grpo_weight *w = &o->weight;
    grpo_sequence_ s = grpo_sequence_begin_(o, b, i);
    if (!s.truncated && !s.evenly_weighted) {
        const grpo_how how = grpo_rollout_is_pool_(w->rollout_is_level).how;
        if (grpo_rollout_is_over_(w, GRPO_OVER_SEQUENCE))
            s.rollout_is = grpo_rollout_is(w, grpo_ratio_exp(grpo_sum_or_mean_(&x->rollout_is, how, x->in_mask)));
        s.rejected = grpo_whole_rejected_(w, x);
    }
    grpo_sequence_count_(o, b, &s);
    return s;
}

/* ---- measuring ---- */

static void grpo_measure_pools_(const grpo_objective *o, const grpo_batch *b, int64_t i, grpo_response *x) {
    const grpo_weight *w = &o->weight;
    const grpo_span_ span = { b->offset[i], b->offset[i] + b->length[i] };
    grpo_pooling_ v;
    x->in_mask = grpo_unmasked_(b, i);
    x->vetoed = grpo_vetoed_(o, b, span);
    if (grpo_rollout_is_over_(w, GRPO_OVER_SEQUENCE)) {
        grpo_pool_over_(o, b, span, GRPO_ROLLOUT_RS_RATIO, &v);
        x->rollout_is = v.sum;
    }
    if (!grpo_rollout_rs_over_(w, GRPO_OVER_SEQUENCE)) return;
    grpo_pool_over_(o, b, span, w->rollout_rs, &v);
    x->rollout_rs = v.sum;
    x->above = !grpo_bound_accepts_(w, v.max, 1);
    x->reaching = grpo_bound_accepts_(w, v.max, 0);
}

static void grpo_measure_tokens_(const grpo_run_ *r, const grpo_sequence_ *s, grpo_response *x) {
    const grpo_objective *o = r->obj;
    const grpo_batch *b = r->batch;
    grpo_cursor_ c = grpo_cursor_of_(s->begin, s->end);
    grpo_totals n;
    gspo_unit_ u;
    memset(&n, 0, sizeof n);
    grpo_count_tokens_(o, b, r->advantage, s, &n);
    x->tokens = s->count;
    x->positive_tokens = n.positive_tokens;
    x->nll_tokens = n.nll_tokens;
    while (grpo_next_(r, s, &c)) x->with_advantage += r->advantage && r->advantage[c.t] != 0;
    if (o->weight.off_policy_mask != GRPO_OFF_POLICY_MASK_NONE) grpo_add_staleness_(r, s, &x->stale);
    if (grpo_policy_is_pool_(o->weight.policy_is).over != GRPO_OVER_TOKEN)
        grpo_sum_add_log_ratios_(r, s, b->logp, b->logp_old, &x->policy_is);
    if (!r->needs_ratio || o->ratio.level == GRPO_LEVEL_TOKEN) return;
    gspo_unit_open_(r, s->begin, s->end, &u);
    gspo_sum_logs_(r, s, &u);
    x->log_ratio = u.sum;
}

/* normalises the limbs of the sums to 32 bits, so that many records can be added */
static void grpo_context_carry_(grpo_response *x) {
    grpo_sum_carry_(&x->rollout_is);
    grpo_sum_carry_(&x->rollout_rs);
    grpo_sum_carry_(&x->log_ratio);
    grpo_sum_carry_(&x->stale);
    grpo_sum_carry_(&x->policy_is);
}

static grpo_status grpo_check_records_(const grpo_response *whole, const grpo_batch *b, int place) {
    const int64_t end = grpo_end_sequence_(b);
    const grpo_status st = grpo_check_not_null_(whole, end, place);
    for (int64_t i = grpo_first_sequence_(b); !st && i < end; i++)
        if (!grpo_are_counts_(&whole[i], 0, offsetof(grpo_response, rollout_is))) return grpo_refuse_(GRPO_OUT_OF_RANGE, place, i);
    return st;
}

/* checks objective, batch and advantages */
static grpo_status grpo_context_check_call_(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage) {
    const grpo_status st = grpo_context_check(obj);
    return st ? st : grpo_check_(obj, batch, advantage, grpo_loss_needs_, GRPO_LOSS_READS_, 0);
}

grpo_status grpo_context_measure(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                                 const grpo_response *whole, grpo_response *part) {
    grpo_partial none;
    grpo_run_ r;
    grpo_status st = grpo_context_check_call_(obj, batch, advantage);
    if (!st && whole) st = grpo_check_records_(whole, batch, 4);
    if (!st) st = grpo_check_not_null_(part, grpo_end_sequence_(batch), 5);
    if (st) return st;
    memset(&none, 0, sizeof none);
    r = grpo_run_of_(obj, batch, advantage, NULL, &none);
    for (int64_t i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++) {
        grpo_response x;
        grpo_sequence_ s;
        memset(&x, 0, sizeof x);
        if (r.has_rollout_weights) grpo_measure_pools_(obj, batch, i, &x);
        s = grpo_context_sequence_(obj, batch, i, whole ? &whole[i] : &x);
        grpo_measure_tokens_(&r, &s, &x);
        grpo_context_carry_(&x);
        part[i] = x;
    }
    return GRPO_OK;
}

void grpo_context_add(grpo_response *into, const grpo_response *from, int64_t n) {
    for (int64_t i = 0; i < n; i++) grpo_add_counts_(&into[i], &from[i], 0, sizeof *into);
}

void grpo_context_add_sums(grpo_sum *into, const grpo_sum *from, int64_t n) {
    for (int64_t i = 0; i < n; i++) grpo_add_counts_(&into[i], &from[i], 0, sizeof *into);
}

/* ---- totals ---- */

static void grpo_context_count_(const grpo_objective *obj, const grpo_batch *b, const grpo_response *whole, grpo_totals *n) {
    for (int64_t g = 0; g < b->n_groups; g++) {
        int64_t tokens = 0;
        for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
            tokens += whole[i].tokens;
            n->sequences++;
            n->sequences_nonempty += whole[i].tokens > 0;
            n->positive_tokens += whole[i].positive_tokens;
            n->nll_tokens += whole[i].nll_tokens;
        }
        n->tokens += tokens;
        if (grpo_counts_nonzero_std_(obj) && grpo_rewards_vary_(b, g)) n->nonzero_std_tokens += tokens;
        n->groups++;
        n->groups_nonempty += tokens > 0;
    }
}

grpo_status grpo_context_totals_add(const grpo_objective *obj, const grpo_batch *batch, const grpo_response *whole, grpo_totals *totals) {
    grpo_status st = grpo_context_check(obj);
    if (!st) st = grpo_check_layout_(batch);
    if (!st) st = grpo_check_arrays_(batch, NULL, grpo_counts_nonzero_std_(obj) ? GRPO_NEED_REWARD_ : 0, 0);
    if (!st) st = grpo_check_records_(whole, batch, 3);
    if (!st) st = grpo_check_totals_(totals);
    if (!st) grpo_context_count_(obj, batch, whole, totals);
    return st;
}

/* ---- loss and gradient ---- */

/* a response whose tokens on this rank are to be evaluated, with what is decided over the whole response */
static grpo_sequence_ grpo_context_open_(const grpo_run_ *r, const grpo_coupling_ *group, int64_t i, const grpo_response *x) {
    const grpo_weight *w = &r->obj->weight;
    grpo_sequence_ s = grpo_context_sequence_(r->obj, r->batch, i, x);
    s.group = group;
    s.count = x->tokens;
    if (s.count && w->off_policy_mask != GRPO_OFF_POLICY_MASK_NONE) s.stale = grpo_staleness_exceeds_(w, &x->stale, s.count);
    if (s.count && grpo_policy_is_pool_(w->policy_is).over != GRPO_OVER_TOKEN) s.policy_is = grpo_policy_is_by_(w, &x->policy_is, s.count);
    grpo_set_divisors_(r, &s);
    return s;
}

static grpo_coupling_ grpo_context_group_(const grpo_batch *b, int64_t g, const grpo_response *whole) {
    grpo_coupling_ group;
    memset(&group, 0, sizeof group);
    for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        group.count.tokens += whole[i].tokens;
        group.count.nonempty += whole[i].tokens > 0;
        group.count.sequences++;
    }
    return group;
}

/* the response as a unit of the ratio, with the sum over the whole response */
static void grpo_context_unit_(const grpo_run_ *r, const grpo_sequence_ *s, const grpo_response *x, gspo_unit_ *u) {
    gspo_unit_open_(r, s->begin, s->end, u);
    if (!r->needs_ratio) return;
    u->sum = x->log_ratio;
    u->count = x->tokens;
    gspo_unit_close_(r, u);
}

static void grpo_context_forward_(const grpo_run_ *r, const grpo_sequence_ *s, const grpo_response *x, grpo_sum *through) {
    grpo_walk_ walk = grpo_walk_from_(s->end);
    gspo_unit_ u;
    if (r->obj->ratio.level == GRPO_LEVEL_TOKEN) { grpo_evaluate_tokens_(r, s); return; }
    grpo_context_unit_(r, s, x, &u);
    gspo_walk_(r, s, &u, &walk, GSPO_FORWARD_, 0);
    *through = u.through;
    grpo_sum_carry_(through);
}

/* the report's counts of responses and groups, added by one rank for all parts */
static void grpo_context_report_(const grpo_batch *b, const grpo_response *whole, grpo_partial *p) {
    for (int64_t g = 0; g < b->n_groups; g++) {
        int64_t members = 0, with_advantage = 0;
        for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
            members += whole[i].tokens > 0;
            with_advantage += whole[i].with_advantage;
        }
        p->sequences += members;
        p->groups += members > 0;
        p->degenerate_groups += members > 0 && !with_advantage;
    }
}

static void grpo_context_run_(grpo_run_ *r, const grpo_response *whole, grpo_sum *through) {
    const grpo_batch *b = r->batch;
    grpo_buffer_ buffer;
    grpo_buffer_open_(r, &buffer);
    for (int64_t g = 0; g < b->n_groups; g++) {
        const grpo_coupling_ group = grpo_context_group_(b, g, whole);
        for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
            const grpo_sequence_ s = grpo_context_open_(r, &group, i, &whole[i]);
            r->partial->rejected_tokens += s.rejected_tokens;
            memset(&through[i], 0, sizeof *through);
            grpo_context_forward_(r, &s, &whole[i], &through[i]);
        }
    }
    grpo_buffer_close_(r);
}

grpo_status grpo_context_loss_add(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                                  const grpo_response *whole, const grpo_totals *totals, const grpo_output *out, int leads,
                                  grpo_partial *partial, grpo_sum *through) {
    grpo_scales scales;
    grpo_totals own;
    grpo_run_ r;
    grpo_status st = grpo_context_check_call_(obj, batch, advantage);
    if (!st) st = grpo_check_records_(whole, batch, 4);
    if (!st) st = grpo_check_totals_(totals);
    if (!st) st = partial ? GRPO_OK : GRPO_STATUS_(GRPO_NULL, GRPO_AT_partial_);
    if (!st) st = grpo_check_not_null_(through, grpo_end_sequence_(batch), 9);
    if (st) return st;
    memset(&own, 0, sizeof own);
    grpo_context_count_(obj, batch, whole, &own);
    st = grpo_scales_between_(obj, totals, &own, partial, &scales);
    if (st) return st;
    r = grpo_run_of_(obj, batch, advantage, out, partial);
    grpo_set_scales_(&r, scales);
    grpo_context_run_(&r, whole, through);
    if (leads) grpo_context_report_(batch, whole, partial);
    return GRPO_OK;
}

grpo_status grpo_context_backward(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                                  const grpo_response *whole, const grpo_sum *through, const grpo_output *out, grpo_partial *partial) {
    grpo_run_ r;
    grpo_status st = grpo_context_check_call_(obj, batch, advantage);
    if (!st) st = grpo_check_records_(whole, batch, 4);
    if (!st) st = grpo_check_not_null_(through, grpo_end_sequence_(batch), 5);
    if (!st) st = partial ? GRPO_OK : GRPO_STATUS_(GRPO_NULL, GRPO_AT_partial_);
    if (!st && (!grpo_are_counts_(partial, GRPO_PARTIAL_) || partial->scales.divisor == 0))
        st = GRPO_STATUS_(GRPO_OUT_OF_RANGE, GRPO_AT_partial_);
    if (st || !out || !out->dlogp || obj->ratio.level == GRPO_LEVEL_TOKEN) return st;
    r = grpo_run_of_(obj, batch, advantage, out, partial);
    grpo_set_scales_(&r, partial->scales);
    for (int64_t g = 0; g < batch->n_groups; g++) {
        const grpo_coupling_ group = grpo_context_group_(batch, g, whole);
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            const grpo_sequence_ s = grpo_context_open_(&r, &group, i, &whole[i]);
            grpo_walk_ walk = grpo_walk_from_(s.end);
            gspo_unit_ u;
            grpo_context_unit_(&r, &s, &whole[i], &u);
            gspo_walk_(&r, &s, &u, &walk, GSPO_BACKWARD_, grpo_sum_total_(&through[i]));
        }
    }
    return GRPO_OK;
}

GRPO_C_END_
#endif /* GRPO_CONTEXT_IMPLEMENTATION */
