/* grpo_lint.h - where a status points, and what looks wrong with a batch that no function refuses.
 * grpo_lint_objective.h looks at the settings of an objective instead.
 * An optional part of grpo.h and gspo.h.  In one source file write
 *
 *     #define GRPO_LINT_IMPLEMENTATION
 *     #include "extra/grpo_lint.h"
 *
 * (a file of its own, or behind the implementation of gspo.h) and include it plainly elsewhere.  No objective needs it.
 *
 *     char text[GRPO_LINT_MESSAGE_SIZE];
 *     if (st) puts(grpo_fault_message(st, &obj, &batch, advantage, text, sizeof text));
 *         // batch.logp_old[1041] is NaN: group 3, response 2 of it, token 17 of it
 *
 *     grpo_finding finding[GRPO_LINT_MOST];
 *     const int n = grpo_lint(&obj, &batch, advantage, totals, &out, finding, GRPO_LINT_MOST);
 *     for (int k = 0; k < n; k++) puts(grpo_finding_message(&finding[k], text, sizeof text));
 *         // likely mistake: batch.offset[3] begins within sequence 1, so that shared tokens lose a gradient: group 1, response 1 of it
 *
 * Groups, responses, tokens and elements are counted from 0, as batch.baseline, batch.reward and batch.logp are.  For the first steps of a
 * new trainer, and where a run goes wrong: each call looks at the whole batch.  Nothing is allocated, and nothing but what is said written.
 * With GRPO_NO_TEXT there are no messages, and grpo_fault.what is "". */
#ifndef GRPO_LINT_H
#define GRPO_LINT_H

#include "../gspo.h"

#if GRPO_VERSION_NUMBER != 200
#error "extra/grpo_lint.h and grpo.h are of different versions"
#endif

#ifdef GRPO_DOUBLE
#define grpo_fault_of grpo_fault_of_f64
#define grpo_fault_message grpo_fault_message_f64
#define grpo_lint grpo_lint_f64
#define grpo_finding_message grpo_finding_message_f64
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- where a status points ---- */
typedef struct {
    const char *what;              /* "batch.logp_old", "surrogate.eps_high"; of a field and an array the array; "": nothing */
    int64_t index;                 /* the element of it, -1: all of it */
    int64_t group, response;       /* the prompt, and which of its responses; -1: neither one group, response ... nor its element */
    int64_t sequence, token;       /* the same response as batch.reward counts them; the token within it */
    int64_t column;                /* of batch.rewards and reward_weight */
    int has_value, has_other;
    double value, other;           /* of the element or field, and what it is held against (batch.n_tokens, a second field); a choice by its
                                      number; 0 where there is none */
} grpo_fault;

/* The place of what a function of grpo.h or gspo.h refused.  obj, batch, advantage: what it was called with, each may be NULL; what they do
 * not hold is -1.  Of a status of extra/'s functions the arrays of the batch are found, not the arguments. */
grpo_fault grpo_fault_of(grpo_status st, const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage);

/* ---- findings ---- */
typedef enum {
    GRPO_LINT_NOTE,                /* may be meant */
    GRPO_LINT_LIKELY,              /* likely mistake: nothing refuses it, hardly anybody wants it */
    GRPO_LINT_ERROR                /* a function refuses it */
} grpo_lint_level;

/* A rule, its level (that of group_of_one and equal_rewards depends) and sentence.  Of the sentence: %v value, %o other, %b a second array;
 * one behind another array is a finding of its own.  Tokens are those of the mask.
 *   positive_logp     above 0.001, more than rounding            probabilities, negated    of all tokens, 4 at least
 *   ahead, behind     at 16 tokens or more that have a neighbour the arrays differ by more than 0.1 on average, and shifted by one token by
 *                     less than a quarter of that
 *   far               more than half of the tokens, of 16 at least, differ by more than 1, and neither of the last two says why
 *   apart             else, by more than 0.2 on average (those within 1e6), 16 tokens at least: a temperature of 0.8 where the other has 1
 *                     makes 0.3 to 0.4 of sampled tokens, a step of the policy or another engine 0.05
 *   padded            all responses are equally long, and half of them or more, two at least, end with two tokens or more whose logp and
 *                     logp_old are both 0
 *   group_of_one      where the baseline is of the group and advantage.singleton is zero; likely if all groups are
 *   equal_rewards     of groups of two or more, likewise; advantages, if given, are 0 there.  Likely if all groups are, 8 at least
 *   per_response      advantages, one for all tokens of a response by the objective, change within one, and are 0 from the element on whose
 *                     number is the count of responses
 *   no_advantage      rewards of a group differ in responses that have tokens, and nothing shapes them, yet all advantages are 0
 *   other_totals      the rest, totals minus this batch, is not what any batch counts
 *   unwritten         not 0, outside of every sequence, where the loss does not write */
#define GRPO_LINT_RULES(X) \
    X(GRPO_LINT_REFUSED, refused, ERROR, "") \
    X(GRPO_LINT_REPEATED, repeated, LIKELY, "and its length are those of sequence %o: a response that is there twice loses a gradient") \
    X(GRPO_LINT_OVERLAP, overlap, LIKELY, "begins within sequence %o, so that shared tokens lose a gradient") \
    X(GRPO_LINT_NO_TOKENS, no_tokens, LIKELY, "has no token: every response is empty or masked") \
    X(GRPO_LINT_POSITIVE_LOGP, positive_logp, LIKELY, "is %v, but a log-probability is at most 0") \
    X(GRPO_LINT_PROBABILITIES, probabilities, LIKELY, "lies within 0 and 1 at every token: it looks like probabilities") \
    X(GRPO_LINT_NEGATED, negated, LIKELY, "is negative at no token: it looks like log-probabilities with the wrong sign") \
    X(GRPO_LINT_AHEAD, ahead, LIKELY, \
        "differs from %b by %v on average, one token later by %o only: it looks shifted by one token against it") \
    X(GRPO_LINT_BEHIND, behind, LIKELY, \
        "differs from %b by %v on average, one token earlier by %o only: it looks shifted by one token against it") \
    X(GRPO_LINT_FAR, far, LIKELY, "is more than 1 away from %b at a share of %v of the tokens: of another text, or another model?") \
    X(GRPO_LINT_PADDED, padded, LIKELY, \
        "and batch.logp_old are 0 from here to the end of the response: it looks like padding that counts, for want of a mask") \
    X(GRPO_LINT_NEGATIVE_ENTROPY, negative_entropy, LIKELY, "is %v, but an entropy is at least 0") \
    X(GRPO_LINT_PER_RESPONSE, per_response, LIKELY, \
        "is 0, as is all behind as many elements as there are responses: it looks like an advantage per response, not per token") \
    X(GRPO_LINT_NO_ADVANTAGE, no_advantage, LIKELY, "is 0 at every token, though rewards of this group differ: it looks unwritten") \
    X(GRPO_LINT_OTHER_TOTALS, other_totals, LIKELY, "cannot be of this batch and others: they count something else, or another batch") \
    X(GRPO_LINT_UNWRITTEN, unwritten, LIKELY, "is %v outside of every sequence, where the loss writes nothing: clear the array first") \
    X(GRPO_LINT_GROUP_OF_ONE, group_of_one, NOTE, "begins a group of one response, with nothing to compare it with: its advantage is 0") \
    X(GRPO_LINT_EQUAL_REWARDS, equal_rewards, NOTE, "is %v, as the reward of every response of the group: nothing is learnt from it") \
    X(GRPO_LINT_EMPTY, empty, NOTE, "is 0: a response without tokens") \
    X(GRPO_LINT_MASKED, masked, NOTE, "is of a response whose every token batch.mask leaves out") \
    X(GRPO_LINT_ZERO_PROBABILITY, zero_probability, NOTE, "is -infinity: a token whose probability is 0") \
    X(GRPO_LINT_APART, apart, NOTE, "differs from %b by %v on average: by temperature, a filter, or many steps of the policy?") \
    X(GRPO_LINT_SAME, same, NOTE, "is %b at every token: ratios are 1 and no clip acts, as in the first step on a batch")

#define GRPO_LINT_ID_(id, ...) id,
typedef enum { GRPO_LINT_RULES(GRPO_LINT_ID_) GRPO_N_LINT_RULES } grpo_lint_rule;
#undef GRPO_LINT_ID_

typedef struct {
    grpo_lint_rule rule;
    grpo_lint_level level;
    grpo_status status;            /* of refused: what the function returns; of others what `at` is about, without a rule */
    grpo_fault at;                 /* the first place */
    int64_t count;                 /* of such elements, responses or groups; 1 where it is the array as a whole */
} grpo_finding;

enum { GRPO_LINT_MESSAGE_SIZE = 400,       /* of buffers for what follows */
       GRPO_LINT_MOST = 64 };              /* there are never more findings */

/* What looks wrong, the worst first; the number of findings, of which the first `room` are written to finding (room; NULL if room is 0).
 * The arguments are those of gspo_loss: advantage (n_tokens), NULL before there is one: then what grpo_advantages refuses is found, else
 * what gspo_loss does.  totals: from grpo_totals_add over all parts, or NULL.  out: NULL, or what the loss has written, of which the
 * gradients' elements outside of every sequence are looked at.  The loss is not evaluated.  Time grows with the tokens, and
 * with the square of the number of responses where they do not stand in memory in their order. */
int grpo_lint(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals,
              const grpo_output *out, grpo_finding *finding, int room);

#ifndef GRPO_NO_TEXT
/* a status with values and place, in one sentence, cut where buffer (size) ends; returns buffer.  Arguments as of grpo_fault_of */
const char *grpo_fault_message(grpo_status st, const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                               char *buffer, size_t size);
/* level, sentence and place of a finding, likewise */
const char *grpo_finding_message(const grpo_finding *finding, char *buffer, size_t size);
#endif

#ifdef __cplusplus
}
#endif
#endif /* GRPO_LINT_H */

#if defined(GRPO_LINT_IMPLEMENTATION) && !defined(GRPO_LINT_IMPLEMENTED)
#define GRPO_LINT_IMPLEMENTED

#define GRPO_KERNEL_
#include "../grpo.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- places --------------------------------------------------------------------------------------------------------------------- */
static grpo_fault grpo_no_fault_(void) {
    grpo_fault f;
    memset(&f, 0, sizeof f);
    f.what = "";
    f.index = f.group = f.response = f.sequence = f.token = f.column = -1;
    return f;
}

static void grpo_fault_value_(grpo_fault *f, double value) { f->has_value = 1; f->value = value; }
static void grpo_fault_other_(grpo_fault *f, double other) { f->has_other = 1; f->other = other; }

static int grpo_has_group_(const grpo_batch *b, int64_t g) { return g >= 0 && g < b->n_groups; }

/* are groups, and offsets and lengths, sound? */
static int grpo_has_groups_(const grpo_batch *b) { return b && b->n_groups > 0 && b->group_begin && !grpo_check_group_begin_(b); }
static int grpo_has_layout_(const grpo_batch *b) { return b && b->n_groups > 0 && !grpo_check_layout_(b); }

static int grpo_place_sequence_(const grpo_batch *b, int64_t i, grpo_fault *f) {
    if (!grpo_has_groups_(b) || i < b->group_begin[0] || i >= b->group_begin[b->n_groups]) return 0;
    for (f->group = 0; i >= b->group_begin[f->group + 1]; ) f->group++;
    f->response = i - b->group_begin[f->group];
    f->sequence = i;
    return 1;
}

/* of the first sequence that has it */
static int grpo_place_token_(const grpo_batch *b, int64_t t, grpo_fault *f) {
    if (!grpo_has_layout_(b)) return 0;
    for (int64_t i = b->group_begin[0]; i < b->group_begin[b->n_groups]; i++)
        if (t >= b->offset[i] && t - b->offset[i] < b->length[i]) {
            f->token = t - b->offset[i];
            return grpo_place_sequence_(b, i, f);
        }
    return 0;
}

static int grpo_place_column_(const grpo_batch *b, int64_t k, int by_sequence, grpo_fault *f) {
    if (!b || b->n_rewards < 1 || (by_sequence ? !grpo_place_sequence_(b, k / b->n_rewards, f) : k >= b->n_rewards)) return 0;
    f->column = k % b->n_rewards;
    return 1;
}

/* an array of GRPO_ARRAYS_, whose value stands where the place is one */
static void grpo_place_array_(const grpo_batch *b, const grpo_array_ *a, int64_t k, grpo_fault *f) {
    int there = 0;
    switch (a->of) {
    case GRPO_OF_TOKEN_:
    case GRPO_OF_STEP_:     there = grpo_place_token_(b, k, f); break;
    case GRPO_OF_SEQUENCE_: there = grpo_place_sequence_(b, k, f); break;
    case GRPO_OF_COLUMNS_:  there = grpo_place_column_(b, k, 1, f); break;
    case GRPO_OF_COLUMN_:   there = grpo_place_column_(b, k, 0, f); break;
    case GRPO_OF_GROUP_:    there = b && grpo_has_group_(b, k); if (there) f->group = k; break;
    case GRPO_OF_FLAG_:     break;
    }
    if (there && a->array) grpo_fault_value_(f, (double)((const grpo_real *)a->array)[k]);
}

static int grpo_place_real_(const grpo_batch *b, const grpo_real *advantage, int what, int64_t k, grpo_fault *f) {
    const grpo_array_ arrays[] = {
#define GRPO_ARRAY_(member, of, domain, needs, finite) { GRPO_AT_##member##_, GRPO_OF_##of##_, GRPO_##domain##_, needs, finite, b->member },
        GRPO_ARRAYS_(GRPO_ARRAY_)
#undef GRPO_ARRAY_
        { GRPO_AT_advantage_, GRPO_OF_TOKEN_, GRPO_FINITE_, 0, 0, advantage },
    };
    for (size_t n = 0; n < sizeof arrays / sizeof *arrays; n++)
        if (arrays[n].what == what) { grpo_place_array_(b, &arrays[n], k, f); return 1; }
    return 0;
}

/* element k of what, of a batch that is there */
static void grpo_place_element_(const grpo_batch *b, const grpo_real *advantage, int what, int64_t k, grpo_fault *f) {
    if (grpo_place_real_(b, advantage, what, k, f)) return;
    switch (what) {
    case GRPO_AT_group_begin_:
        if (!b->group_begin || b->n_groups < 1 || k < 0 || k > b->n_groups) return;
        f->group = k > 0 ? k - 1 : 0;
        grpo_fault_value_(f, (double)b->group_begin[k]);
        if (k > 0) grpo_fault_other_(f, (double)b->group_begin[k - 1]);
        return;
    case GRPO_AT_offset_:
    case GRPO_AT_length_:
        if (!grpo_place_sequence_(b, k, f) || !b->offset || !b->length) return;
        grpo_fault_value_(f, (double)(what == GRPO_AT_offset_ ? b->offset : b->length)[k]);
        return;
    case GRPO_AT_group_:         if (grpo_has_group_(b, k)) f->group = k; return;
    case GRPO_AT_shaped_reward_: grpo_place_sequence_(b, k, f); return;
    case GRPO_AT_reward_kl_:
    case GRPO_AT_dlogp_:
    case GRPO_AT_dentropy_: case GRPO_AT_ddivergence_ref_:      grpo_place_token_(b, k, f); return;
    default:                     return;
    }
}

/* ---- statuses ------------------------------------------------------------------------------------------------------------------- */
static int grpo_what_of_(grpo_status st) { return (int)(st >> 8 & 1023); }
static int grpo_other_of_(grpo_status st) { return (int)(st >> 18 & 1023); }

static const grpo_field *grpo_field_at_(int what) {
    int n;
    const grpo_field *f = grpo_fields(&n);
    return what >= 1 && what <= n ? &f[what - 1] : NULL;
}

static const char *grpo_name_of_(int what) {
#ifdef GRPO_NO_TEXT
    (void)what;
    return "";
#else
    return grpo_status_what(GRPO_STATUS_(0, what));
#endif
}

/* The fields' own numbers: only where they are what is refused.  grpo_objective_set refuses a number that the objective does not hold */
static void grpo_take_fields_(grpo_status st, const grpo_objective *obj, grpo_fault *f) {
    const grpo_field *first = grpo_field_at_(grpo_what_of_(st)), *second = grpo_field_at_(grpo_other_of_(st));
    if (!obj || !first || (grpo_status_index(st) < 0 && grpo_objective_check(obj) != st)) return;
    grpo_fault_value_(f, grpo_objective_get(obj, first));
    if (second) grpo_fault_other_(f, grpo_objective_get(obj, second));
}

static void grpo_take_other_(grpo_status st, const grpo_objective *obj, const grpo_batch *b, grpo_fault *f) {
    const grpo_field *field = grpo_field_at_(grpo_other_of_(st));
    if (obj && field) grpo_fault_other_(f, grpo_objective_get(obj, field));
    if (b && grpo_other_of_(st) == GRPO_AT_n_tokens_) grpo_fault_other_(f, (double)b->n_tokens);
}

grpo_fault grpo_fault_of(grpo_status st, const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage) {
    const int field = grpo_what_of_(st) <= GRPO_AT_LAST_FIELD_, array = grpo_other_of_(st) > GRPO_AT_LAST_FIELD_;
    const int what = field && array ? grpo_other_of_(st) : grpo_what_of_(st);            /* of the two the one that has elements */
    grpo_fault f = grpo_no_fault_();
    f.what = grpo_name_of_(what);
    f.index = st > 0 ? grpo_status_index(st) : -1;
    if (st <= 0) return f;
    if (batch && f.index >= 0) grpo_place_element_(batch, advantage, what, f.index, &f);
    if (batch && what == GRPO_AT_n_groups_) grpo_fault_value_(&f, (double)batch->n_groups);
    if (batch && what == GRPO_AT_n_rewards_) grpo_fault_value_(&f, (double)batch->n_rewards);
    if (!field) grpo_take_other_(st, obj, batch, &f);
    else if (!array) grpo_take_fields_(st, obj, &f);
    else if (obj && grpo_field_at_(grpo_what_of_(st))) grpo_fault_other_(&f, grpo_objective_get(obj, grpo_field_at_(grpo_what_of_(st))));
    return f;
}

/* ---- findings ------------------------------------------------------------------------------------------------------------------- */
typedef struct {
    const grpo_objective *obj;
    const grpo_batch *b;
    const grpo_real *advantage;
    int64_t begin, end;            /* sequences */
    grpo_finding *finding;         /* the worst first */
    int room, count;
} grpo_lint_;

static const grpo_lint_level grpo_lint_levels_[] = {
#define GRPO_LEVEL_OF_(id, name, level, text) GRPO_LINT_##level,
    GRPO_LINT_RULES(GRPO_LEVEL_OF_)
#undef GRPO_LEVEL_OF_
};

/* before those that are less bad, of which the last may fall out */
static void grpo_keep_finding_(grpo_lint_ *l, const grpo_finding *x) {
    int k = l->count < l->room ? l->count : l->room;
    l->count++;
    while (k > 0 && l->finding[k - 1].level < x->level) {
        if (k < l->room) l->finding[k] = l->finding[k - 1];
        k--;
    }
    if (k < l->room) l->finding[k] = *x;
}

/* of element `index` of what (-1: of all of it); other: a second array, 0 none */
static grpo_finding grpo_finding_at_(const grpo_lint_ *l, grpo_lint_rule rule, int what, int other, int64_t index, int64_t count) {
    grpo_finding x;
    memset(&x, 0, sizeof x);
    x.rule = rule;
    x.level = grpo_lint_levels_[rule];
    x.status = grpo_status_between_(GRPO_NO_RULE, what, other, index);
    x.at = grpo_no_fault_();
    x.at.what = grpo_name_of_(what);
    x.at.index = index;
    if (index >= 0) grpo_place_element_(l->b, l->advantage, what, index, &x.at);
    x.count = count;
    return x;
}

static void grpo_find_(grpo_lint_ *l, grpo_lint_rule rule, int what, int64_t index, int64_t count) {
    const grpo_finding x = grpo_finding_at_(l, rule, what, 0, index, count);
    grpo_keep_finding_(l, &x);
}

/* ---- tokens and responses ---- */
static int grpo_lint_tokens_(grpo_lint_ *l) {
    const grpo_batch *b = l->b;
    int64_t tokens = 0, empty = 0, masked = 0, first_empty = -1, first_masked = -1;
    for (int64_t i = l->begin; i < l->end; i++) {
        const int64_t n = grpo_unmasked_(b, i);
        tokens += n;
        if (b->length[i] == 0 && empty++ == 0) first_empty = i;
        if (b->length[i] > 0 && n == 0 && masked++ == 0) first_masked = i;
    }
    if (tokens == 0) grpo_find_(l, GRPO_LINT_NO_TOKENS, GRPO_AT_batch_, -1, 1);
    else if (empty) grpo_find_(l, GRPO_LINT_EMPTY, GRPO_AT_length_, first_empty, empty);
    if (tokens && masked) grpo_find_(l, GRPO_LINT_MASKED, GRPO_AT_length_, first_masked, masked);
    return tokens > 0;
}

static int64_t grpo_end_of_(const grpo_batch *b, int64_t i) { return b->offset[i] + b->length[i]; }

/* does every response stand in memory behind the one before? */
static int grpo_stand_in_order_(const grpo_lint_ *l) {
    int64_t end = 0;
    for (int64_t i = l->begin; i < l->end; i++) {
        if (l->b->length[i] == 0) continue;
        if (l->b->offset[i] < end) return 0;
        end = grpo_end_of_(l->b, i);
    }
    return 1;
}

static void grpo_lint_overlap_(grpo_lint_ *l, int in_order) {
    const grpo_batch *b = l->b;
    int64_t count[2] = { 0, 0 }, first[2] = { -1, -1 }, with[2] = { -1, -1 };
    for (int64_t i = l->begin; !in_order && i < l->end; i++) {
        for (int64_t j = l->begin; j < l->end; j++) {
            const int same = b->offset[i] == b->offset[j] && b->length[i] == b->length[j];
            if (j == i || b->length[i] == 0 || (same && j > i)) continue;
            if (b->offset[i] < b->offset[j] || b->offset[i] >= grpo_end_of_(b, j)) continue;
            if (!same && b->offset[i] == b->offset[j] && j > i) continue;          /* of two that begin together the later one */
            if (count[same]++ == 0) { first[same] = i; with[same] = j; }
            break;
        }
    }
    for (int same = 0; same < 2; same++) {
        grpo_finding x;
        if (count[same] == 0) continue;
        x = grpo_finding_at_(l, same ? GRPO_LINT_REPEATED : GRPO_LINT_OVERLAP, GRPO_AT_offset_, 0, first[same], count[same]);
        grpo_fault_other_(&x.at, (double)with[same]);
        grpo_keep_finding_(l, &x);
    }
}

/* where the next response begins that ends behind `end`, n_tokens if none does; -1: `end` lies within one */
static int64_t grpo_gap_until_(const grpo_lint_ *l, int64_t end, int64_t i, int in_order) {
    int64_t next = l->b->n_tokens;
    for (int64_t j = in_order ? i + 1 : l->begin; j < l->end; j++) {
        if (l->b->length[j] == 0) continue;
        if (l->b->offset[j] <= end && grpo_end_of_(l->b, j) > end) return -1;
        if (j < i && grpo_end_of_(l->b, j) == end) return -1;                       /* its gap, which has been looked at */
        if (l->b->offset[j] > end && l->b->offset[j] < next) next = l->b->offset[j];
        if (in_order) break;
    }
    return next;
}

static void grpo_lint_unwritten_(grpo_lint_ *l, const grpo_real *x, int what, int in_order) {
    int64_t count = 0, first = -1;
    grpo_finding found;
    for (int64_t i = l->begin - 1; x && i < l->end; i++) {
        const int64_t end = i < l->begin ? 0 : grpo_end_of_(l->b, i);
        const int64_t until = i < l->begin || l->b->length[i] > 0 ? grpo_gap_until_(l, end, i, in_order) : -1;
        for (int64_t t = end; t < until; t++) if (!(x[t] == 0) && count++ == 0) first = t;
    }
    if (count == 0) return;
    found = grpo_finding_at_(l, GRPO_LINT_UNWRITTEN, what, 0, first, count);
    grpo_fault_value_(&found.at, (double)x[first]);
    grpo_keep_finding_(l, &found);
}

/* the tokens at the end of a response whose logp and logp_old are both 0 */
static int64_t grpo_zeros_at_end_(const grpo_batch *b, int64_t i) {
    int64_t n = 0;
    for (int64_t t = grpo_end_of_(b, i); --t >= b->offset[i]; n++)
        if (!grpo_is_unmasked_(b, t) || b->logp[t] != 0 || b->logp_old[t] != 0) break;
    return n;
}

static void grpo_lint_padded_(grpo_lint_ *l) {
    const grpo_batch *b = l->b;
    int64_t count = 0, first = -1;
    if (!b->logp || !b->logp_old) return;
    for (int64_t i = l->begin; i < l->end; i++) {
        const int64_t zeros = grpo_zeros_at_end_(b, i);
        if (b->length[i] != b->length[l->begin]) return;
        if (zeros >= 2 && zeros < b->length[i] && count++ == 0) first = grpo_end_of_(b, i) - zeros;
    }
    if (count >= 2 && 2 * count >= l->end - l->begin) grpo_find_(l, GRPO_LINT_PADDED, GRPO_AT_logp_, first, count);
}

/* ---- log-probabilities ---- */
static void grpo_lint_logp_(grpo_lint_ *l, const grpo_real *x, int what) {
    int64_t tokens = 0, negative = 0, positive = 0, within = 0, above_one = 0, none = 0, first = -1, first_none = -1;
    for (int64_t i = l->begin; x && i < l->end; i++)
        for (int64_t t = l->b->offset[i]; t < grpo_end_of_(l->b, i); t++) {
            if (!grpo_is_unmasked_(l->b, t)) continue;
            tokens++;
            negative += !(x[t] >= 0);
            within += x[t] > 0 && x[t] < 1;
            above_one += x[t] > 1;
            if ((double)x[t] > 1e-3 && positive++ == 0) first = t;
            if ((double)x[t] < -DBL_MAX && none++ == 0) first_none = t;
        }
    if (tokens >= 4 && negative == 0 && above_one == 0 && 2 * within >= tokens) grpo_find_(l, GRPO_LINT_PROBABILITIES, what, -1, 1);
    else if (tokens >= 4 && negative == 0 && 2 * positive >= tokens) grpo_find_(l, GRPO_LINT_NEGATED, what, -1, 1);
    else if (positive) grpo_find_(l, GRPO_LINT_POSITIVE_LOGP, what, first, positive);
    if (none) grpo_find_(l, GRPO_LINT_ZERO_PROBABILITY, what, first_none, none);
}

static void grpo_lint_entropy_(grpo_lint_ *l) {
    const grpo_batch *b = l->b;
    int64_t count = 0, first = -1;
    for (int64_t i = l->begin; b->entropy && i < l->end; i++)
        for (int64_t t = b->offset[i]; t < grpo_end_of_(b, i); t++)
            if (grpo_is_unmasked_(b, t) && (double)b->entropy[t] < -1e-3 && count++ == 0) first = t;
    if (count) grpo_find_(l, GRPO_LINT_NEGATIVE_ENTROPY, GRPO_AT_entropy_, first, count);
}

/* two arrays beside each other: at all tokens; at those where both are at most 1e6 in magnitude; at those with such a token behind them */
typedef struct {
    int64_t tokens, equal, far, moderate, neighbours;
    double apart;                  /* the sum of |x_t - y_t|, and over neighbours: */
    double here, ahead, behind;    /* of |x_t - y_t|, |x_t+1 - y_t|, |x_t - y_t+1| */
} grpo_two_arrays_;

static int grpo_is_moderate_(double x, double y) { return fabs(x) <= 1e6 && fabs(y) <= 1e6; }

static void grpo_look_at_two_(const grpo_lint_ *l, const grpo_real *a, const grpo_real *b, grpo_two_arrays_ *s) {
    memset(s, 0, sizeof *s);
    for (int64_t i = l->begin; i < l->end; i++)
        for (int64_t t = l->b->offset[i], end = grpo_end_of_(l->b, i); t < end; t++) {
            const double x = (double)a[t], y = (double)b[t], d = fabs(x - y);
            if (!grpo_is_unmasked_(l->b, t)) continue;
            s->tokens++;
            s->equal += x == y;
            s->far += d > 1;
            if (!grpo_is_moderate_(x, y)) continue;
            s->moderate++;
            s->apart += d;
            if (t + 1 == end || !grpo_is_unmasked_(l->b, t + 1) || !grpo_is_moderate_((double)a[t + 1], (double)b[t + 1])) continue;
            s->neighbours++;
            s->here += d;
            s->ahead += fabs((double)a[t + 1] - y);
            s->behind += fabs(x - (double)b[t + 1]);
        }
}

static void grpo_find_two_(grpo_lint_ *l, grpo_lint_rule rule, const int what[2], double value, double other) {
    grpo_finding x = grpo_finding_at_(l, rule, what[0], what[1], -1, 1);
    grpo_fault_value_(&x.at, value);
    grpo_fault_other_(&x.at, other);
    grpo_keep_finding_(l, &x);
}

/* all: also what is no mistake between a policy and its reference */
static void grpo_lint_two_(grpo_lint_ *l, const grpo_real *a, const grpo_real *b, const int what[2], int all) {
    grpo_two_arrays_ s;
    double n, shifted;
    if (!a || !b) return;
    grpo_look_at_two_(l, a, b, &s);
    n = (double)s.neighbours;
    shifted = s.ahead < s.behind ? s.ahead : s.behind;
    if (s.neighbours >= 16 && s.here > 0.1 * n && shifted < s.here / 4)
        grpo_find_two_(l, s.ahead < s.behind ? GRPO_LINT_AHEAD : GRPO_LINT_BEHIND, what, s.here / n, shifted / n);
    else if (!all) return;
    else if (s.tokens >= 16 && 2 * s.far > s.tokens) grpo_find_two_(l, GRPO_LINT_FAR, what, (double)s.far / (double)s.tokens, 0);
    else if (s.moderate >= 16 && s.apart > 0.2 * (double)s.moderate)
        grpo_find_two_(l, GRPO_LINT_APART, what, s.apart / (double)s.moderate, 0);
    else if (s.equal == s.tokens && what[0] == GRPO_AT_logp_) grpo_find_two_(l, GRPO_LINT_SAME, what, 0, 0);
}

static void grpo_lint_policies_(grpo_lint_ *l) {
    static const int old[] = { GRPO_AT_logp_, GRPO_AT_logp_old_ }, ref[] = { GRPO_AT_logp_, GRPO_AT_logp_ref_ },
                     rollout[] = { GRPO_AT_logp_old_, GRPO_AT_logp_rollout_ };
    const grpo_batch *b = l->b;
    grpo_lint_logp_(l, b->logp, GRPO_AT_logp_);
    grpo_lint_logp_(l, b->logp_old, GRPO_AT_logp_old_);
    grpo_lint_logp_(l, b->logp_ref, GRPO_AT_logp_ref_);
    grpo_lint_logp_(l, b->logp_rollout, GRPO_AT_logp_rollout_);
    grpo_lint_logp_(l, b->logp_teacher, GRPO_AT_logp_teacher_);
    grpo_lint_two_(l, b->logp, b->logp_old, old, 1);
    grpo_lint_two_(l, b->logp_old, b->logp_rollout, rollout, 1);
    grpo_lint_two_(l, b->logp, b->logp_ref, ref, 0);
}

/* ---- rewards and advantages ---- */
/* is a response compared with the others of its group, by one reward? */
static int grpo_compares_responses_(const grpo_advantage *a) {
    switch (a->baseline) {
    case GRPO_BASELINE_NONE:
    case GRPO_BASELINE_EXTERNAL:
    case GRPO_BASELINE_BATCH_MEAN: return 0;
    default: break;
    }
    return a->rewards == GRPO_REWARDS_ONE && a->singleton == GRPO_SINGLETON_ZERO && a->credit != GRPO_CREDIT_STEP
        && a->credit != GRPO_CREDIT_STEP_OWN && a->credit != GRPO_CREDIT_EPISODE_STEP && a->credit != GRPO_CREDIT_STEP_GAE;
}

/* do all tokens of a response have one advantage? */
static int grpo_tokens_are_alike_(const grpo_advantage *a) {
    return a->credit == GRPO_CREDIT_OUTCOME && a->token_baseline == GRPO_TOKEN_BASELINE_NONE && a->entropy == GRPO_ENTROPY_NONE
        && a->teacher_coef == 0 && a->teacher_share == 0 && a->kl_centred_coef == 0 && a->marked == GRPO_MARKED_NONE;
}

/* and has a group an advantage whenever batch.reward differs in it?  Not if rewards are shaped first, or thrown away */
static int grpo_differences_count_(const grpo_objective *obj) {
    const grpo_advantage *a = &obj->advantage;
    int n;
    const grpo_field *f = grpo_fields(&n);
    for (int k = 0; k < n; k++) if (f[k].offset < sizeof obj->reward && grpo_objective_get(obj, &f[k]) != 0) return 0;
    return grpo_compares_responses_(a) && grpo_tokens_are_alike_(a) && a->transform == GRPO_TRANSFORM_NONE && a->scale != GRPO_SCALE_BETA
        && a->reweight == GRPO_REWEIGHT_NONE && a->clamp_low == 0 && a->clamp_high == 0 && a->excluded == GRPO_EXCLUDED_NONE;
}

/* is the advantage 0 at all tokens of sequences begin .. end - 1? */
static int grpo_advantage_is_zero_(const grpo_lint_ *l, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++)
        for (int64_t t = l->b->offset[i]; t < grpo_end_of_(l->b, i); t++)
            if (grpo_is_unmasked_(l->b, t) && !(l->advantage[t] == 0)) return 0;
    return 1;
}

/* a response whose reward is another than that of the group's first with tokens, -1: none */
static int64_t grpo_other_reward_(const grpo_batch *b, int64_t g, int with_tokens) {
    int64_t first = -1;
    for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        if (with_tokens && grpo_unmasked_(b, i) == 0) continue;
        if (first < 0) first = i;
        else if (b->reward[i] != b->reward[first]) return i;
    }
    return -1;
}

static void grpo_lint_groups_(grpo_lint_ *l) {
    const grpo_batch *b = l->b;
    int64_t alone = 0, equal = 0, first_alone = -1, first_equal = -1;
    grpo_finding x;
    for (int64_t g = 0; g < b->n_groups; g++) {
        const int64_t begin = b->group_begin[g], end = b->group_begin[g + 1];
        if (end - begin == 1) { if (alone++ == 0) first_alone = g; continue; }
        if (!b->reward || grpo_other_reward_(b, g, 0) >= 0) continue;
        if ((!l->advantage || grpo_advantage_is_zero_(l, begin, end)) && equal++ == 0) first_equal = begin;
    }
    if (alone) {
        x = grpo_finding_at_(l, GRPO_LINT_GROUP_OF_ONE, GRPO_AT_group_begin_, 0, first_alone, alone);
        x.at.group = first_alone;
        if (alone == b->n_groups) x.level = GRPO_LINT_LIKELY;
        grpo_keep_finding_(l, &x);
    }
    if (equal) {
        x = grpo_finding_at_(l, GRPO_LINT_EQUAL_REWARDS, GRPO_AT_reward_, 0, first_equal, equal);
        if (equal == b->n_groups && equal >= 8) x.level = GRPO_LINT_LIKELY;
        grpo_keep_finding_(l, &x);
    }
}

static void grpo_lint_no_advantage_(grpo_lint_ *l) {
    int64_t i = -1, t;
    if (!l->b->reward || !grpo_advantage_is_zero_(l, l->begin, l->end)) return;
    for (int64_t g = 0; g < l->b->n_groups && i < 0; g++) i = grpo_other_reward_(l->b, g, 1);
    if (i < 0) return;
    for (t = l->b->offset[i]; !grpo_is_unmasked_(l->b, t); ) t++;
    grpo_find_(l, GRPO_LINT_NO_ADVANTAGE, GRPO_AT_advantage_, t, 1);
}

/* as many numbers as there are responses, and zeros behind them: nowhere but there, and not alike within a response */
static void grpo_lint_per_response_(grpo_lint_ *l) {
    const int64_t responses = l->end - l->begin;
    int64_t written = 0, changes = 0, after = -1;
    for (int64_t i = l->begin; i < l->end; i++) {
        double last = 0;
        int any = 0;
        for (int64_t t = l->b->offset[i]; t < grpo_end_of_(l->b, i); t++) {
            const double A = (double)l->advantage[t];
            if (!grpo_is_unmasked_(l->b, t)) continue;
            if (t >= responses && A != 0) return;
            if (t >= responses && (after < 0 || t < after)) after = t;
            written += t < responses && A != 0;
            changes += any && A != last;
            last = A;
            any = 1;
        }
    }
    if (written >= 2 && changes && after >= 0) grpo_find_(l, GRPO_LINT_PER_RESPONSE, GRPO_AT_advantage_, after, 1);
}

/* ---- totals, and what functions refuse ---- */
/* can other batches, or none, have counted this? */
static int grpo_is_rest_(const grpo_totals *all, const grpo_totals *own) {
    const int64_t counts[] = { all->tokens, all->sequences, all->sequences_nonempty, all->groups, all->groups_nonempty,
                               all->positive_tokens, all->positive_sequences, all->nonzero_std_tokens };
    int64_t tokens, sequences, groups, nonempty, with_tokens;
    if (!grpo_are_counts_(counts, 0, sizeof counts)) return 0;
    tokens = all->tokens - own->tokens; sequences = all->sequences - own->sequences; groups = all->groups - own->groups;
    nonempty = all->sequences_nonempty - own->sequences_nonempty; with_tokens = all->groups_nonempty - own->groups_nonempty;
    return (groups > 0) == (sequences > 0) && with_tokens <= groups && with_tokens <= nonempty
        && (with_tokens > 0) == (nonempty > 0) && nonempty <= tokens && (nonempty > 0) == (tokens > 0)
        && sequences - nonempty >= groups - with_tokens && all->positive_tokens - own->positive_tokens <= tokens
        && all->positive_sequences - own->positive_sequences <= nonempty && all->nonzero_std_tokens - own->nonzero_std_tokens <= tokens;
}

static void grpo_lint_totals_(grpo_lint_ *l, const grpo_totals *totals) {
    grpo_totals own;
    memset(&own, 0, sizeof own);
    if (!totals || grpo_totals_add(l->obj, l->b, l->advantage, &own) || grpo_is_rest_(totals, &own)) return;
    grpo_find_(l, GRPO_LINT_OTHER_TOTALS, GRPO_AT_totals_, -1, 1);
}

GRPO_APART_ grpo_status grpo_refused_advantages_(const grpo_objective *obj, const grpo_batch *batch) {
    grpo_moments m;
    memset(&m, 0, sizeof m);
    return grpo_moments_add(obj, batch, &m);
}

/* what gspo_loss refuses, without evaluating it; without outputs there is no room to complain of */
static grpo_status grpo_refused_loss_(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                                      const grpo_totals *totals, const grpo_output *out) {
    double nothing = 0;
    grpo_output room;
    grpo_status st;
    memset(&room, 0, sizeof room);
    room.scratch = &nothing; room.scratch_size = INT64_MAX;
    st = gspo_loss_check(obj, batch, advantage, totals, out ? out : &room, NULL);
    if (st) return st;
    return grpo_check_arrays_(batch, NULL, GRPO_NEED_LOGP_ | (obj->penalty.entropy_coef != 0 ? GRPO_NEED_ENTROPY_ : 0), GRPO_NEED_ENTROPY_);
}

static void grpo_lint_refused_(grpo_lint_ *l, grpo_status st) {
    grpo_finding x;
    memset(&x, 0, sizeof x);
    x.rule = GRPO_LINT_REFUSED;
    x.level = GRPO_LINT_ERROR;
    x.status = st;
    x.at = grpo_fault_of(st, l->obj, l->b, l->advantage);
    x.count = 1;
    grpo_keep_finding_(l, &x);
}

int grpo_lint(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals,
              const grpo_output *out, grpo_finding *finding, int room) {
    const grpo_status st = advantage ? grpo_refused_loss_(obj, batch, advantage, totals, out) : grpo_refused_advantages_(obj, batch);
    grpo_lint_ l;
    int in_order;
    memset(&l, 0, sizeof l);
    l.obj = obj; l.b = batch; l.advantage = advantage;
    l.finding = finding; l.room = finding && room > 0 ? room : 0;
    if (st) grpo_lint_refused_(&l, st);
    if (grpo_objective_check(obj) || !grpo_has_layout_(batch)) return l.count;
    l.begin = batch->group_begin[0]; l.end = batch->group_begin[batch->n_groups];
    in_order = grpo_stand_in_order_(&l);
    grpo_lint_overlap_(&l, in_order);
    grpo_lint_unwritten_(&l, out ? out->dlogp : NULL, GRPO_AT_dlogp_, in_order);
    grpo_lint_unwritten_(&l, out ? out->dentropy : NULL, GRPO_AT_dentropy_, in_order);
    grpo_lint_unwritten_(&l, out ? out->ddivergence_ref : NULL, GRPO_AT_ddivergence_ref_, in_order);
    if (grpo_compares_responses_(&obj->advantage)) grpo_lint_groups_(&l);
    if (!grpo_lint_tokens_(&l)) return l.count;
    grpo_lint_padded_(&l);
    grpo_lint_policies_(&l);
    grpo_lint_entropy_(&l);
    if (advantage && grpo_tokens_are_alike_(&obj->advantage)) grpo_lint_per_response_(&l);
    if (advantage && grpo_differences_count_(obj)) grpo_lint_no_advantage_(&l);
    grpo_lint_totals_(&l, totals);
    return l.count;
}

/* ---- sentences ------------------------------------------------------------------------------------------------------------------ */
#ifndef GRPO_NO_TEXT
typedef struct { char *buffer; size_t room; } grpo_text_;              /* what follows, and how many characters fit before the end */

static void grpo_say_(grpo_text_ *to, const char *text) {
    const size_t n = strlen(text) < to->room ? strlen(text) : to->room;
    memcpy(to->buffer, text, n);
    to->buffer += n;
    to->room -= n;
    *to->buffer = 0;
}

static void grpo_say_whole_(grpo_text_ *to, int64_t n) {
    char digits[24];
    char *p = digits + sizeof digits;
    *--p = 0;
    do { *--p = (char)('0' + (int)(n % 10)); n /= 10; } while (n);
    grpo_say_(to, p);
}

/* six digits n with a point behind `before` of them, or without, if that is 7; zeros at the end are left out */
static void grpo_say_digits_(grpo_text_ *to, int64_t n, int before) {
    char digits[6], text[8];
    int k, last = 1, place = 0;
    for (k = 5; k >= 0; k--, n /= 10) digits[k] = (char)('0' + (int)(n % 10));
    for (k = 0; k < 6; k++) if (digits[k] != '0') last = k + 1;
    for (k = 0; k < last || (k < before && before < 7); k++) {
        if (k == before) text[place++] = '.';
        text[place++] = digits[k];
    }
    text[place] = 0;
    grpo_say_(to, text);
}

static void grpo_say_positive_(grpo_text_ *to, double x) {
    int e = (int)floor(log10(x));
    double digits = e < -290 ? x * 1e300 * pow(10, -295 - e) : e > 290 ? x / pow(10, e - 5) : x * pow(10, 5 - e);
    int64_t n;
    if (digits >= 999999.5) { digits /= 10; e++; }
    n = (int64_t)floor(digits + 0.5);
    if (e >= 0 && e < 6) { grpo_say_digits_(to, n, e + 1); return; }
    if (e < 0 && e >= -4) {
        grpo_say_(to, "0.");
        for (; e < -1; e++) grpo_say_(to, "0");
        grpo_say_digits_(to, n, 7);
        return;
    }
    grpo_say_digits_(to, n, 1);
    grpo_say_(to, e < 0 ? "e-" : "e+");
    grpo_say_whole_(to, e < 0 ? -e : e);
}

/* to six digits, whole numbers below 1e15 all of theirs */
static void grpo_say_number_(grpo_text_ *to, double x) {
    if (x != x) { grpo_say_(to, "NaN"); return; }
    if (x < 0) grpo_say_(to, "-");
    x = fabs(x);
    if (!grpo_is_finite(x)) grpo_say_(to, "infinity");
    else if (x < 1e15 && x == floor(x)) grpo_say_whole_(to, (int64_t)x);
    else grpo_say_positive_(to, x);
}

/* a number, or the name of a choice */
static void grpo_say_value_(grpo_text_ *to, int what, double x) {
    const grpo_field *f = grpo_field_at_(what);
    const char *name = f && x >= 0 && x < f->n_choices ? f->choices : NULL;
    char text[64];
    size_t n;
    if (!name || !*name) { grpo_say_number_(to, x); return; }
    for (; x > 0; x--) name = strchr(name, '|') + 1;
    n = strcspn(name, "|");
    if (n >= sizeof text) n = sizeof text - 1;
    memcpy(text, name, n);
    text[n] = 0;
    grpo_say_(to, text);
}

static void grpo_say_count_(grpo_text_ *to, const char *before, int64_t n, const char *behind) {
    if (n < 0) return;
    grpo_say_(to, before);
    grpo_say_whole_(to, n);
    grpo_say_(to, behind);
}

/* "group 3, response 2 of it, token 17 of it", behind `before`; nothing where the place is none */
static void grpo_say_place_(grpo_text_ *to, const char *before, const grpo_fault *at) {
    if (at->group >= 0) grpo_say_(to, before);
    grpo_say_count_(to, "group ", at->group, "");
    grpo_say_count_(to, ", response ", at->response, " of it");
    grpo_say_count_(to, ", token ", at->token, " of it");
    grpo_say_count_(to, at->group >= 0 ? ", reward " : ": reward ", at->column, "");
}

/* the status, the values that its rule does not say, the place; a fault is of the array where a rule is about a field and an array */
static void grpo_say_fault_(grpo_text_ *to, grpo_status st, const grpo_fault *f) {
    const int what = grpo_what_of_(st), other = grpo_other_of_(st), array = what <= GRPO_AT_LAST_FIELD_ && other > GRPO_AT_LAST_FIELD_;
    const int values = f->has_value && f->value == f->value && (f->has_other || !array);
    char text[GRPO_MESSAGE_SIZE];
    grpo_say_(to, grpo_status_message(st, text, sizeof text));
    if (values) {
        grpo_say_(to, array ? ": they are " : ": it is ");
        grpo_say_value_(to, what, array ? f->other : f->value);
    }
    if (f->has_other) {
        grpo_say_(to, !values ? ", which is " : array ? " and " : other ? ", the other " : ", the one before ");
        grpo_say_value_(to, other, array ? f->value : f->other);
    }
    grpo_say_place_(to, values ? "; " : ": ", f);
}

const char *grpo_fault_message(grpo_status st, const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                               char *buffer, size_t size) {
    const grpo_fault f = grpo_fault_of(st, obj, batch, advantage);
    grpo_text_ to;
    if (size == 0) return "";
    to.buffer = buffer; to.room = size - 1;
    *buffer = 0;
    grpo_say_fault_(&to, st, &f);
    return buffer;
}

/* a sentence of GRPO_LINT_RULES */
static void grpo_say_sentence_(grpo_text_ *to, const char *sentence, const grpo_finding *x) {
    char piece[2] = { 0, 0 };
    for (; *sentence; sentence++) {
        piece[0] = *sentence;
        if (*sentence != '%') { grpo_say_(to, piece); continue; }
        switch (*++sentence) {
        case 'v': grpo_say_number_(to, x->at.value); break;
        case 'o': grpo_say_number_(to, x->at.other); break;
        default:  grpo_say_(to, grpo_name_of_(grpo_other_of_(x->status))); break;
        }
    }
}

const char *grpo_finding_message(const grpo_finding *finding, char *buffer, size_t size) {
    static const char *const levels[] = { "note: ", "likely mistake: ", "error: " };
#define GRPO_SENTENCE_(id, name, level, text) text,
    static const char *const sentences[] = { GRPO_LINT_RULES(GRPO_SENTENCE_) };
#undef GRPO_SENTENCE_
    grpo_text_ to;
    if (size == 0) return "";
    to.buffer = buffer; to.room = size - 1;
    *buffer = 0;
    if ((unsigned)finding->level > GRPO_LINT_ERROR || (unsigned)finding->rule >= GRPO_N_LINT_RULES) return buffer;
    grpo_say_(&to, levels[finding->level]);
    if (finding->rule == GRPO_LINT_REFUSED) { grpo_say_fault_(&to, finding->status, &finding->at); return buffer; }
    grpo_say_(&to, finding->at.what);
    grpo_say_count_(&to, "[", finding->at.index, "] ");
    if (finding->at.index < 0) grpo_say_(&to, " ");
    grpo_say_sentence_(&to, sentences[finding->rule], finding);
    grpo_say_place_(&to, ": ", &finding->at);
    if (finding->count > 1) grpo_say_count_(&to, "; ", finding->count, " in all");
    return buffer;
}
#endif

#ifdef __cplusplus
}
#endif
#endif /* GRPO_LINT_IMPLEMENTATION */
