/* grpo_lint.h - where a status points, and what looks wrong with a batch although no function refuses it.
 * grpo_lint_objective.h examines the settings of an objective instead.
 * An optional part of grpo.h and gspo.h.  In one source file write
 *
 *     #define GRPO_LINT_IMPLEMENTATION
 *     #include "extra/grpo_lint.h"
 *
 * (a file of its own, or behind the implementation of gspo.h) and include it plainly elsewhere.  No objective needs it.  It includes
 * grpo_logits.h for the types of grpo_logits_fault_message.
 *
 *     char text[GRPO_LINT_MESSAGE_SIZE];
 *     if (st) puts(grpo_fault_message(st, &obj, &batch, advantage, text, sizeof text));
 *         // batch.logp_old[1041] is NaN: group 3, response 2 of it, token 17 of it
 *         // batch.kl_mask is NULL but needed: for penalty.kl_on; penalty.kl_on=selected reads it
 *
 *     grpo_finding finding[GRPO_LINT_MOST];
 *     const int n = grpo_lint(&obj, &batch, advantage, totals, &out, finding, GRPO_LINT_MOST);
 *     for (int k = 0; k < n; k++) puts(grpo_finding_message(&finding[k], text, sizeof text));
 *         // likely mistake: batch.offset[3] begins within sequence 1, so that shared tokens lose a gradient: group 1, response 1 of it
 *
 * and in parts, after the last: grpo_lint_parts(&totals, &partial, NULL, finding, GRPO_LINT_MOST);
 *         // likely mistake: partial.tokens is 38, but totals have 56: a part is missing, or totals were not cleared, ...
 *
 * Groups, responses, tokens and elements are counted from 0, as batch.baseline, batch.reward and batch.logp are.  For the first steps of a
 * new trainer, and when a run goes wrong: each call reads the whole batch.  Nothing is allocated; only the outputs named below are written.
 * With GRPO_NO_TEXT there are no messages, and grpo_fault.what is "". */
#ifndef GRPO_LINT_H
#define GRPO_LINT_H

#include "../gspo.h"
#include "grpo_logits.h"

#if GRPO_VERSION_NUMBER != 400
#error "extra/grpo_lint.h and grpo.h are of different versions"
#endif

#ifdef GRPO_DOUBLE
#define grpo_fault_of grpo_fault_of_f64
#define grpo_fault_message grpo_fault_message_f64
#define grpo_lint grpo_lint_f64
#define grpo_lint_own_moments grpo_lint_own_moments_f64
#define grpo_lint_parts grpo_lint_parts_f64
#define grpo_logits_fault_message grpo_logits_fault_message_f64
#define grpo_finding_message grpo_finding_message_f64
#endif

GRPO_C_BEGIN_

/* ---- where a status points ---- */
typedef struct {
    const char *what;              /* "batch.logp_old", "surrogate.eps_high"; of a field and an array, the array; "": nothing */
    int64_t index;                 /* index of the element, -1: the array as a whole */
    int64_t group, response;       /* the prompt, and which of its responses; -1: not of a single group or response */
    int64_t sequence, token;       /* the same response as an index into batch.reward; the token's position in it */
    int64_t column;                /* of batch.rewards and reward_weight */
    int has_value, has_other;
    double value, other;           /* of the element or field, and what it is compared with (batch.n_tokens, a second field); a choice as
                                      its number; of a length that reaches past n_tokens, offset + length; 0 if there is none */
} grpo_fault;

/* the place that a status of grpo.h or gspo.h is about.  obj, batch, advantage: the arguments of that call, each may be NULL; what is
 * not in them is -1.  For a status of a function of extra/, arrays of the batch are found, its arguments are not. */
grpo_fault grpo_fault_of(grpo_status st, const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage);

/* ---- findings ---- */
typedef enum {
    GRPO_LINT_NOTE,                /* may be intended */
    GRPO_LINT_LIKELY,              /* likely mistake: no function refuses it, but hardly anybody wants it */
    GRPO_LINT_ERROR                /* a function refuses it */
} grpo_lint_level;

/* A rule, its level (that of group_of_one and equal_rewards depends) and sentence.  In the sentence: %v value, %o other, %b a second array.
 * A rule that compares two arrays has a finding of its own for each pair.  Tokens are unmasked tokens.  An overlong punishment that begins
 * beyond the longest response does not shape rewards.
 *   positive_logp     above 0.001, more than rounding            probabilities, negated    of all tokens, at least 4
 *   other_type        at least 8 pairs of floats have the bits of a double from -50 to 0, each of them, and at least a quarter of the pairs
 *                     is above 0, below -50 or NaN as floats; or the first half of an array, at least 12 doubles, has the bits of pairs of
 *                     floats from -50 to 0, at least a quarter with a first one below -0.001
 *   ahead, behind     over 16 or more pairs of neighbouring tokens, the arrays differ by more than 0.1 on average, and shifted by one token
 *                     by less than a quarter of that
 *   far               more than half of at least 16 tokens differ by more than 1, and the last two do not explain it
 *   unlike            else: by more than 0.6 on average (of those within 1e6), and more than half by more than 0.3, at least 32 tokens: the
 *                     usual ratio is then outside of any clip
 *   apart             else: by more than 0.2 on average, at least 16 tokens: a temperature of 0.8 instead of 1 gives 0.3 to 0.4 on sampled
 *                     tokens, an optimiser step or another inference engine 0.05
 *   zeros             at all of at least 4 tokens, while logp (for logp: logp_old) is below -0.01 at half of them; a note if no function
 *                     needs the array.  Not logp_old with surrogate policy_shaping, whose w is a probability where logp_old is 0
 *   padded            all responses are equally long, and at least half of them, at least two, end with two or more tokens whose logp and
 *                     logp_old are both 0
 *   padded_one        the same if only one of them is 0 there, and the other is below -0.1 at one of these tokens
 *   not_sampled       logp_rollout (or logp_old) is exactly 0 at 4 or more tokens in a row, while logp_old (or logp) is below -0.7 at
 *                     half of them or more: what a sampler gives to a tool's output, and a trainer to what it did not evaluate.  Not
 *                     where it is zeros or padded_one, not at tokens of batch.shaping_mask and nll_mask, and not logp_old with
 *                     policy_shaping
 *   fixed_length      at least 8 responses, all of the same length, at least 8, no mask, and not all are truncated
 *   padded_length     at least 4 responses, all equally long, and at least half of them, at least two, end with two or more masked tokens,
 *                     not all with as many, while the objective has a reward.length or reward.overlong
 *   none_count        a note if totals have tokens of other parts
 *   mask_bytes        its bytes are those of 1.0 as float or double; or 0 but for one index modulo 4, more than once in some response
 *   inverted_mask     at least 4 tokens count and all have a 0; at least half of the tokens left out, at least 4, have a log-probability
 *                     below 0
 *   counts_end        at least 4 responses, all equally long, each masked up to some place, not the same in all, and nowhere after it
 *   first_left_out, last_left_out     in each of at least 4 responses, while its neighbour counts; the last is the last token whose
 *                     logp_old is not 0.  For the last, likely if in two or more a later token counts, whose logp_old is 0
 *   no_groups         if there are tokens, and no totals, with which it is an empty part
 *   flag              of any array of flags
 *   short_truncated   at least two responses are truncated and two not, and each of the former is shorter, up to its last unmasked token,
 *                     than each of the latter.  Likely if there are 3 of each and the others are equally long: those that a limit has cut
 *   group_of_one      if the baseline is the group's and advantage.singleton is zero; advantages, if given, are 0 there.  Likely if all
 *                     groups are like that, and totals have no other parts
 *   equal_rewards     in groups of two or more, under the same conditions.  Likely if all groups are like that, at least 8
 *   lone_advantage    totals have other parts, a group of one has advantages that are not 0, which the objective would not give it, and the
 *                     loss looks at the responses of a group together
 *   per_response      advantages that by the objective are the same at all tokens of a response change within one, and are 0 from the
 *                     element on whose index is the number of responses
 *   no_advantage      rewards differ within a group, in responses that have tokens, and the objective does not shape them, yet all
 *                     advantages are 0, or all below 1e-30 although rewards differ by more than 1e-20
 *   against_reward    if the objective does not shape rewards, or only by reward.overlong soft and these rewards differ by overlong_factor
 *                     or more: advantages that are not 0 and the same at all tokens of their response are compared with those of the
 *                     response before, and of the lowest and the highest reward of the group.  Likely if at least 8 responses, at least a
 *                     quarter, contradict their rewards: advantages of your own may have other reasons
 *   unequal           if the objective does not shape rewards: advantages that are the same at all tokens of their response are compared
 *                     with those of the response before, and of the first with the lowest and with the highest reward, if the rewards are
 *                     equal
 *   raw_reward        baseline group_mean, leave_one_out or length_weighted, rewards of one sign, and in every group whose rewards differ
 *                     the advantages are the rewards; not if half of the responses have the same reward and half have 0
 *   cut_group         totals have other parts, and of at least three groups the first or the last is smaller than the others, which have
 *                     the same size
 *   uncentred         totals have other parts, the loss looks at the responses of a group together, and by the objective the advantages of
 *                     a group add up to 0, but in a group of two or more they do not, by a thousandth of the largest: of a group whose
 *                     other responses are in other parts, or advantages of your own
 *   other_totals      totals minus this batch cannot be the counts of any batches
 *   unwritten         not 0 outside of every sequence, where the loss does not write; without totals only between sequences, and not at all
 *                     if totals count other parts, which may have written there.  Likely if one is NaN: no loss wrote it
 *   lost_gradient     out.dlogp is written, but not the array for a gradient that the loss also has: by the entropy of a bonus, or by a
 *                     divergence
 *   own_moments       of grpo_lint_own_moments
 *   uncorrected       at least 4 tokens, and weights or rejections by logp_rollout are asked for
 *   missing_part, repeated_part, pieces, not_merged, missing_moments, more_moments     of grpo_lint_parts */
#ifdef GRPO_DOUBLE
#define GRPO_LINT_TYPES_ "float, but is read as double"
#else
#define GRPO_LINT_TYPES_ "double, but is read as float"
#endif
#define GRPO_LINT_RULES(X) \
    X(GRPO_LINT_REFUSED, refused, ERROR, "") \
    X(GRPO_LINT_REPEATED, repeated, LIKELY, "and its length are those of sequence %o: a response that is there twice loses a gradient") \
    X(GRPO_LINT_OVERLAP, overlap, LIKELY, "begins within sequence %o, so that shared tokens lose a gradient") \
    X(GRPO_LINT_NO_TOKENS, no_tokens, LIKELY, "has no token: every response is empty or masked") \
    X(GRPO_LINT_NO_GROUPS, no_groups, LIKELY, "is %v, and batch.n_tokens %o: has it been set?") \
    X(GRPO_LINT_POSITIVE_LOGP, positive_logp, LIKELY, "is %v, but a log-probability is at most 0") \
    X(GRPO_LINT_PROBABILITIES, probabilities, LIKELY, "lies within 0 and 1 at every token: it looks like probabilities") \
    X(GRPO_LINT_NEGATED, negated, LIKELY, "is negative at no token: it looks like log-probabilities with the wrong sign") \
    X(GRPO_LINT_OTHER_TYPE, other_type, LIKELY, "looks like an array of " GRPO_LINT_TYPES_) \
    X(GRPO_LINT_AHEAD, ahead, LIKELY, \
        "differs from %b by %v on average, one token later by %o only: it looks shifted by one token against it") \
    X(GRPO_LINT_BEHIND, behind, LIKELY, \
        "differs from %b by %v on average, one token earlier by %o only: it looks shifted by one token against it") \
    X(GRPO_LINT_ZEROS, zeros, LIKELY, "is 0 at every token, and %b is not: it looks unwritten") \
    X(GRPO_LINT_UNLIKE, unlike, LIKELY, \
        "differs from %b by %v on average: of other tokens or type of logits, by temperature, or too long a step?") \
    X(GRPO_LINT_FAR, far, LIKELY, \
        "is more than 1 away from %b at a share of %v of the tokens: of another text, model or base of logarithms?") \
    X(GRPO_LINT_PADDED, padded, LIKELY, \
        "and batch.logp_old are 0 from here to the end of the response: it looks like padding that counts, for want of a mask") \
    X(GRPO_LINT_PADDED_ONE, padded_one, LIKELY, \
        "is 0 from here to the end of the response, and %b is not: it looks like padding that counts, for want of a mask") \
    X(GRPO_LINT_NOT_SAMPLED, not_sampled, LIKELY, \
        "is 0 at this and the next tokens, and %b is not: do tokens count that were not sampled, such as a tool's output?") \
    X(GRPO_LINT_NONE_COUNT, none_count, LIKELY, "has no token that counts: all are masked, truncated or rejected") \
    X(GRPO_LINT_MASK_BYTES, mask_bytes, LIKELY, \
        "looks like numbers of another type read as bytes: a flag is one byte, 0 or 1") \
    X(GRPO_LINT_INVERTED_MASK, inverted_mask, LIKELY, "counts only tokens whose %b is 0, and leaves out others: it looks inverted") \
    X(GRPO_LINT_FIRST_LEFT_OUT, first_left_out, NOTE, \
        "leaves out the first token of every response and counts the second: is it shifted by one token?") \
    X(GRPO_LINT_SHORT_TRUNCATED, short_truncated, NOTE, \
        "is of a response of %v tokens, and those that are not truncated have %o or more: are the flags inverted?") \
    X(GRPO_LINT_NEGATIVE_ENTROPY, negative_entropy, LIKELY, "is %v, but an entropy is at least 0") \
    X(GRPO_LINT_PER_RESPONSE, per_response, LIKELY, \
        "is 0, as is all behind as many elements as there are responses: it looks like an advantage per response, not per token") \
    X(GRPO_LINT_NO_ADVANTAGE, no_advantage, LIKELY, \
        "is %v, and no larger at any token, though rewards of a group differ: it looks unwritten") \
    X(GRPO_LINT_AGAINST_REWARD, against_reward, NOTE, \
        "is %v, but %o where the reward is higher: of another step or reward, or with the wrong sign?") \
    X(GRPO_LINT_UNEQUAL, unequal, NOTE, \
        "is %v, but %o for the same reward in this group: computed from a part of the group, or weighted by you?") \
    X(GRPO_LINT_RAW_REWARD, raw_reward, LIKELY, "is %v, the reward itself, as at every token: nothing has been subtracted") \
    X(GRPO_LINT_OWN_MOMENTS, own_moments, LIKELY, \
        "is that of this part alone, but it depends on the whole batch: of grpo_advantages, without the moments of other parts?") \
    X(GRPO_LINT_OTHER_TOTALS, other_totals, LIKELY, "cannot be of this batch and others: they count something else, or another batch") \
    X(GRPO_LINT_UNWRITTEN, unwritten, NOTE, \
        "is %v outside of every sequence, where the loss writes nothing: clear the array before the first part, if it is read whole") \
    X(GRPO_LINT_LOST_GRADIENT, lost_gradient, LIKELY, "is NULL, and out.dlogp is not: the gradient by %b is lost") \
    X(GRPO_LINT_MISSING_PART, missing_part, LIKELY, \
        "is %v, but totals have %o: a part is missing, or totals were not cleared, or also added up over a context group") \
    X(GRPO_LINT_REPEATED_PART, repeated_part, LIKELY, \
        "is %v, but totals have %o: a part is there twice, or not in totals, or partial was not cleared") \
    X(GRPO_LINT_PIECES, pieces, LIKELY, \
        "is %v, but totals have %o of as many tokens: cut responses are not counted once, by one rank of a " \
        "context group, or the totals have other groups") \
    X(GRPO_LINT_NOT_MERGED, not_merged, LIKELY, \
        "is %v, but totals.ranks makes it %o: partials are of other totals, or were added up as integers and not by grpo_partial_merge") \
    X(GRPO_LINT_MISSING_MOMENTS, missing_moments, LIKELY, "is %v, but totals have %o: advantages are of moments that lack a part") \
    X(GRPO_LINT_MORE_MOMENTS, more_moments, NOTE, \
        "is %v, and totals have %o: of more than this step, or not cleared since the last batch?") \
    X(GRPO_LINT_GROUP_OF_ONE, group_of_one, NOTE, "begins a group of one response, with nothing to compare it with: its advantage is 0") \
    X(GRPO_LINT_EQUAL_REWARDS, equal_rewards, NOTE, "is %v, as the reward of every response of the group: nothing is learnt from it") \
    X(GRPO_LINT_EMPTY, empty, NOTE, "is 0: a response without tokens") \
    X(GRPO_LINT_MASKED, masked, NOTE, "is of a response whose every token batch.mask leaves out") \
    X(GRPO_LINT_LAST_LEFT_OUT, last_left_out, NOTE, \
        "leaves out the last token of every response and counts the one before: is it shifted by one token?") \
    X(GRPO_LINT_COUNTS_END, counts_end, NOTE, \
        "leaves out the beginning of every response and counts its end, all equally long: is it inverted, and padding counts?") \
    X(GRPO_LINT_FLAG, flag, NOTE, "is %v, but flags are 0 or 1: an array of another type?") \
    X(GRPO_LINT_FIXED_LENGTH, fixed_length, NOTE, "is %v, as that of every response, and there is no mask: does padding count?") \
    X(GRPO_LINT_PADDED_LENGTH, padded_length, NOTE, \
        "is %v, as that of every response, and batch.mask leaves out ends: is it padding?  reward.length and overlong take it for text") \
    X(GRPO_LINT_CUT_GROUP, cut_group, NOTE, \
        "begins a group of %v responses, where the others of this part have %o: is it cut?  Parts are of whole groups") \
    X(GRPO_LINT_LONE_ADVANTAGE, lone_advantage, NOTE, \
        "begins a group of one response whose advantage is not 0: is it cut?  This loss looks at whole groups") \
    X(GRPO_LINT_UNCENTRED, uncentred, NOTE, \
        "begins a group whose advantages add up to %v, not to 0: is it cut?  This loss looks at whole groups") \
    X(GRPO_LINT_ZERO_PROBABILITY, zero_probability, NOTE, "is -infinity: a token whose probability is 0") \
    X(GRPO_LINT_APART, apart, NOTE, "differs from %b by %v on average: by temperature, a filter, or many steps of the policy?") \
    X(GRPO_LINT_SAME, same, NOTE, "is %b at every token: ratios are 1 and no clip acts, as in the first step on a batch") \
    X(GRPO_LINT_UNCORRECTED, uncorrected, NOTE, \
        "is %b at every token, so that there is nothing to correct or to reject: are both the sampler's?")

#define GRPO_LINT_ID_(id, ...) id,
typedef enum { GRPO_LINT_RULES(GRPO_LINT_ID_) GRPO_N_LINT_RULES } grpo_lint_rule;
#undef GRPO_LINT_ID_

typedef struct {
    grpo_lint_rule rule;
    grpo_lint_level level;
    grpo_status status;            /* of refused: what the function returns; else the array that `at` is in, without a rule */
    grpo_fault at;                 /* the first place */
    int64_t count;                 /* how many such elements, responses or groups; 1 if it is the array as a whole */
} grpo_finding;

enum { GRPO_LINT_MESSAGE_SIZE = 400,       /* size of a buffer for a message */
       GRPO_LINT_MOST = 64 };              /* there are never more findings than this */

/* writes what looks wrong, the worst first, to finding (room; NULL if room is 0) and returns the number of findings, of which the first
 * `room` are written.  The arguments are those of gspo_loss: advantage (n_tokens), NULL if not computed yet: then it reports what
 * grpo_advantages refuses, else what gspo_loss does.  totals: from grpo_totals_add over all parts, or NULL.  out: NULL, or what the loss
 * has written; of its gradients the elements outside of every sequence are examined.  The loss is not evaluated.  Time is linear in the
 * tokens, and quadratic in the number of responses if they are not stored in order. */
int grpo_lint(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals,
              const grpo_output *out, grpo_finding *finding, int room);

/* for work in parts: advantages that by the objective depend on the whole batch (grpo_context_needs_moments), but are, to the bit and not
 * all 0, those that grpo_advantages gives this part alone, where totals have other parts.  Returns 1 and writes the finding, or 0.  A note
 * if only a factor of reweighting depends on the batch, which other parts may have too; not if the factor is 1.
 * alone (n_tokens): working memory, no array of the batch, not advantage.  Takes the time of grpo_advantages, once or twice */
int grpo_lint_own_moments(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals,
                          grpo_real *alone, grpo_finding *finding);

/* for work in parts, after the last part has been evaluated and, if totals are of all ranks, the partials of all ranks merged: checks that
 * every part has been counted and evaluated once.  partial and totals must have the same numbers of tokens, and of sequences and groups
 * that have tokens; moments (NULL: none) and totals the same number of sequences.  partial has the factor of totals.ranks.  Not found here,
 * because nothing in these structs says so: a group that was cut (totals.groups should be the number of prompts, if parts are of whole
 * groups), totals.ranks set on each rank before totals were added up (it should be the number of ranks, or 0), and a part that was
 * evaluated without totals, which is in no partial. */
int grpo_lint_parts(const grpo_totals *totals, const grpo_partial *partial, const grpo_moments *moments, grpo_finding *finding, int room);

#ifndef GRPO_NO_TEXT
/* a status with values and place, in one sentence, truncated to buffer (size bytes); returns buffer, or "" if size is 0.  Arguments as for
 * grpo_fault_of */
const char *grpo_fault_message(grpo_status st, const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                               char *buffer, size_t size);
/* the same for what a function of grpo_logits.h refused: for logits the row, the entry of the vocabulary, the target, the token; for an
 * array of the batch the place.  batch: tells which token a row belongs to (grpo_logits_loss), or NULL */
const char *grpo_logits_fault_message(grpo_status st, const grpo_logits *logits, const grpo_batch *batch, char *buffer, size_t size);
/* level, sentence and place of a finding, in the same way */
const char *grpo_finding_message(const grpo_finding *finding, char *buffer, size_t size);
#endif

GRPO_C_END_
#endif /* GRPO_LINT_H */

#if defined(GRPO_LINT_IMPLEMENTATION) && !defined(GRPO_LINT_IMPLEMENTED)
#define GRPO_LINT_IMPLEMENTED

#define GRPO_KERNEL_
#include "../grpo.h"
#include "grpo_shared.h"
#include "grpo_shared_text.h"

GRPO_C_BEGIN_

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

/* 1 if the groups are valid; 1 if groups, offsets and lengths are */
static int grpo_has_groups_(const grpo_batch *b) { return b && b->n_groups > 0 && b->group_begin && !grpo_check_group_begin_(b); }
static int grpo_has_layout_(const grpo_batch *b) { return b && b->n_groups > 0 && !grpo_check_layout_(b); }

static int grpo_place_sequence_(const grpo_batch *b, int64_t i, grpo_fault *f) {
    if (!grpo_has_groups_(b) || i < b->group_begin[0] || i >= b->group_begin[b->n_groups]) return 0;
    for (f->group = 0; i >= b->group_begin[f->group + 1]; ) f->group++;
    f->response = i - b->group_begin[f->group];
    f->sequence = i;
    return 1;
}

/* fills in the first sequence that contains element t */
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

/* fills in the place, in an array of GRPO_ARRAYS_, and its value if the place exists */
static void grpo_place_array_(const grpo_batch *b, const grpo_array_ *a, const grpo_real *x, int64_t k, grpo_fault *f) {
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
    if (there && x) grpo_fault_value_(f, (double)x[k]);
}

static int grpo_place_real_(const grpo_batch *b, const grpo_real *advantage, int what, int64_t k, grpo_fault *f) {
    for (size_t n = 0; n < sizeof grpo_arrays_ / sizeof *grpo_arrays_; n++) {
        const grpo_array_ *a = &grpo_arrays_[n];
        if (a->what != what) continue;
        grpo_place_array_(b, a, (const grpo_real *)grpo_array_of_(b, advantage, a), k, f);
        return 1;
    }
    return 0;
}

/* fills in the place of element k of array `what`; b is not NULL */
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

/* fills in the values of the fields that a status is about, but only if obj is what was refused: grpo_objective_set refuses a number that
 * is not in obj */
static void grpo_take_fields_(grpo_status st, const grpo_objective *obj, grpo_fault *f) {
    const grpo_field *first = grpo_field_at_(grpo_what_of_(st)), *second = grpo_field_at_(grpo_other_of_(st));
    const int of_element = grpo_status_index(st) >= 0 && !grpo_status_is(st, GRPO_NOT_A_CHOICE);
    if (!obj || !first || (!of_element && grpo_objective_check(obj) != st)) return;
    grpo_fault_value_(f, grpo_objective_get(obj, first));
    if (second) grpo_fault_other_(f, grpo_objective_get(obj, second));
}

static void grpo_take_other_(grpo_status st, const grpo_objective *obj, const grpo_batch *b, grpo_fault *f) {
    const grpo_field *field = grpo_field_at_(grpo_other_of_(st));
    if (obj && field) grpo_fault_other_(f, grpo_objective_get(obj, field));
    if (!b || grpo_other_of_(st) != GRPO_AT_n_tokens_) return;
    grpo_fault_other_(f, (double)b->n_tokens);
    if (grpo_what_of_(st) == GRPO_AT_length_ && f->has_value) grpo_fault_value_(f, f->value + (double)b->offset[f->index]);
}

grpo_fault grpo_fault_of(grpo_status st, const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage) {
    const int field = grpo_what_of_(st) <= GRPO_AT_LAST_FIELD_, array = grpo_other_of_(st) > GRPO_AT_LAST_FIELD_;
    const int what = field && array ? grpo_other_of_(st) : grpo_what_of_(st);            /* of field and array, the array */
    grpo_fault f = grpo_no_fault_();
    f.what = grpo_name_of_(what);
    f.index = st > 0 ? grpo_status_index(st) : -1;
    if (st <= 0) return f;
    if (what <= GRPO_AT_LAST_FIELD_ || what == GRPO_AT_name_ || what == GRPO_AT_path_) f.index = -1;      /* of the nearest that there is */
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
    int64_t begin, end;            /* range of sequences */
    grpo_finding *finding;         /* the worst first */
    int room, count;
} grpo_lint_;

static const grpo_lint_level grpo_lint_levels_[] = {
#define GRPO_LEVEL_OF_(id, name, level, text) GRPO_LINT_##level,
    GRPO_LINT_RULES(GRPO_LEVEL_OF_)
#undef GRPO_LEVEL_OF_
};

/* inserts x before the findings of a lower level; if there is no room the last one is dropped.  No batch is known that has GRPO_LINT_MOST
 * findings: a caller with room for so many may rely on the count */
static void grpo_keep_finding_(grpo_lint_ *l, const grpo_finding *x) {
    int k = l->count < l->room ? l->count : l->room;
    if (l->count < GRPO_LINT_MOST) l->count++;
    while (k > 0 && l->finding[k - 1].level < x->level) {
        if (k < l->room) l->finding[k] = l->finding[k - 1];
        k--;
    }
    if (k < l->room) l->finding[k] = *x;
}

/* a finding at element `index` of array `what` (-1: all of it); other: a second array, 0: none */
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

/* names an array that statuses have no name for */
static void grpo_name_finding_(grpo_finding *x, const char *name) {
#ifdef GRPO_NO_TEXT
    (void)x; (void)name;
#else
    x->at.what = name;
#endif
}

/* ---- what functions refuse ---- */
GRPO_NOINLINE_ grpo_status grpo_refused_advantages_(const grpo_objective *obj, const grpo_batch *batch) {
    grpo_moments m;
    memset(&m, 0, sizeof m);
    return grpo_moments_add(obj, batch, &m);
}

/* what gspo_loss refuses, without evaluating it; if there are no outputs, scratch is not checked */
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

/* 1 if a function needs array `what`, which is NULL in `without` */
static int grpo_array_is_needed_(const grpo_lint_ *l, const grpo_batch *without, int what) {
    const grpo_status st = GRPO_STATUS_(GRPO_NULL, what);
    return grpo_refused_loss_(l->obj, without, l->advantage, NULL, NULL) == st || grpo_refused_advantages_(l->obj, without) == st;
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

/* 1 if the responses are stored in order, none overlapping the one before */
static int grpo_are_stored_in_order_(const grpo_lint_ *l) {
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
            if (!same && b->offset[i] == b->offset[j] && j > i) continue;          /* of two with the same offset, the later one */
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

/* the offset of the first response after `end`, n_tokens if there is none; -1 if a response contains `end`, or if an earlier one ends
 * there */
static int64_t grpo_end_of_gap_(const grpo_lint_ *l, int64_t end, int64_t i, int in_order) {
    int64_t next = l->b->n_tokens;
    for (int64_t j = in_order ? i + 1 : l->begin; j < l->end; j++) {
        if (l->b->length[j] == 0) continue;
        if (l->b->offset[j] <= end && grpo_end_of_(l->b, j) > end) return -1;
        if (j < i && grpo_end_of_(l->b, j) == end) return -1;                       /* this gap has been examined */
        if (l->b->offset[j] > end && l->b->offset[j] < next) next = l->b->offset[j];
        if (in_order) break;
    }
    return next;
}

/* whole: 1 if the batch is not a view of some groups, so that the elements before the first and after the last response belong to nobody */
static void grpo_lint_unwritten_(grpo_lint_ *l, const grpo_real *x, int what, int in_order, int whole) {
    int64_t count = 0, first = -1;
    int garbage = 0;
    grpo_finding found;
    for (int64_t i = whole ? l->begin - 1 : l->begin; x && i < l->end; i++) {
        const int64_t end = i < l->begin ? 0 : grpo_end_of_(l->b, i);
        const int64_t until = i < l->begin || l->b->length[i] > 0 ? grpo_end_of_gap_(l, end, i, in_order) : -1;
        for (int64_t t = end; t < until && (whole || until < l->b->n_tokens); t++) {
            garbage |= x[t] != x[t];
            if (!(x[t] == 0) && count++ == 0) first = t;
        }
    }
    if (count == 0) return;
    found = grpo_finding_at_(l, GRPO_LINT_UNWRITTEN, what, 0, first, count);
    if (garbage) found.level = GRPO_LINT_LIKELY;
    grpo_fault_value_(&found.at, (double)x[first]);
    grpo_keep_finding_(l, &found);
}

static void grpo_lint_lost_gradient_(grpo_lint_ *l, const grpo_output *out) {
    const grpo_penalty *p = &l->obj->penalty;
    const grpo_finding by_entropy = grpo_finding_at_(l, GRPO_LINT_LOST_GRADIENT, GRPO_AT_dentropy_, GRPO_AT_entropy_, -1, 1);
    const grpo_finding by_divergence = grpo_finding_at_(l, GRPO_LINT_LOST_GRADIENT, GRPO_AT_ddivergence_ref_, GRPO_AT_divergence_ref_,
                                                        -1, 1);
    if (!out || !out->dlogp) return;
    if (p->entropy_coef != 0 && !out->dentropy) grpo_keep_finding_(l, &by_entropy);
    if (p->kl == GRPO_KL_EXTERNAL && !out->ddivergence_ref) grpo_keep_finding_(l, &by_divergence);
}

static int grpo_are_equally_long_(const grpo_lint_ *l) {
    for (int64_t i = l->begin; i < l->end; i++) if (l->b->length[i] != l->b->length[l->begin]) return 0;
    return 1;
}

/* counts the unmasked tokens at the end of a response where x and y are 0; with `live` those where x is 0, but 0 if y is not below -0.1 at
 * one of them */
static int64_t grpo_zeros_at_end_(const grpo_batch *b, const grpo_real *x, const grpo_real *y, int64_t i, int live) {
    int64_t n = 0;
    int any = 0;
    for (int64_t t = grpo_end_of_(b, i); --t >= b->offset[i]; n++) {
        if (!grpo_is_unmasked_(b, t) || x[t] != 0 || (!live && y[t] != 0)) break;
        any |= (double)y[t] < -0.1;
    }
    return live && !any ? 0 : n;
}

static int grpo_find_padded_(grpo_lint_ *l, const grpo_real *x, const grpo_real *y, const int what[2], int live) {
    const grpo_batch *b = l->b;
    int64_t count = 0, first = -1;
    grpo_finding found;
    for (int64_t i = l->begin; i < l->end; i++) {
        const int64_t zeros = grpo_zeros_at_end_(b, x, y, i, live);
        if (zeros >= 2 && zeros < b->length[i] && count++ == 0) first = grpo_end_of_(b, i) - zeros;
    }
    if (count < 2 || 2 * count < l->end - l->begin) return 0;
    found = grpo_finding_at_(l, live ? GRPO_LINT_PADDED_ONE : GRPO_LINT_PADDED, what[0], what[1], first, count);
    grpo_keep_finding_(l, &found);
    return 1;
}

static void grpo_lint_padded_(grpo_lint_ *l) {
    static const int old[] = { GRPO_AT_logp_old_, GRPO_AT_logp_ }, now[] = { GRPO_AT_logp_, GRPO_AT_logp_old_ };
    const grpo_batch *b = l->b;
    if (!b->logp || !b->logp_old || !grpo_are_equally_long_(l) || grpo_find_padded_(l, b->logp, b->logp_old, now, 0)) return;
    if (!grpo_find_padded_(l, b->logp_old, b->logp, old, 1)) grpo_find_padded_(l, b->logp, b->logp_old, now, 1);
}

static void grpo_lint_fixed_length_(grpo_lint_ *l) {
    const grpo_batch *b = l->b;
    int64_t truncated = 0;
    if (b->mask || l->end - l->begin < 8 || b->length[l->begin] < 8 || !grpo_are_equally_long_(l)) return;
    for (int64_t i = l->begin; b->truncated && i < l->end; i++) truncated += b->truncated[i] != 0;
    if (truncated < l->end - l->begin) grpo_find_(l, GRPO_LINT_FIXED_LENGTH, GRPO_AT_length_, l->begin, l->end - l->begin);
}

/* the length of a response up to its last unmasked token */
static int64_t grpo_length_to_last_unmasked_(const grpo_batch *b, int64_t i) {
    int64_t t = grpo_end_of_(b, i);
    while (t > b->offset[i] && !grpo_is_unmasked_(b, t - 1)) t--;
    return t - b->offset[i];
}

static void grpo_lint_padded_length_(grpo_lint_ *l, const grpo_reward *r) {
    const grpo_batch *b = l->b;
    int64_t count = 0, least = INT64_MAX, most = 0;
    if (!b->mask || (r->length == GRPO_LENGTH_NONE && r->overlong == GRPO_OVERLONG_NONE)) return;
    if (l->end - l->begin < 4 || !grpo_are_equally_long_(l)) return;
    for (int64_t i = l->begin; i < l->end; i++) {
        const int64_t n = grpo_length_to_last_unmasked_(b, i);
        least = n < least ? n : least;
        most = n > most ? n : most;
        count += b->length[i] - n >= 2;
    }
    if (count >= 2 && 2 * count >= l->end - l->begin && least < most)
        grpo_find_(l, GRPO_LINT_PADDED_LENGTH, GRPO_AT_length_, l->begin, l->end - l->begin);
}

/* ---- flags ---- */
/* a finding at an element of an array of flags, per token or per response */
static void grpo_find_flag_(grpo_lint_ *l, grpo_lint_rule rule, const char *name, int of_token, int64_t index, int64_t count,
                            grpo_lint_level level, double value) {
    grpo_finding x = grpo_finding_at_(l, rule, GRPO_AT_batch_, 0, -1, count);
    grpo_name_finding_(&x, name);
    x.level = level;
    x.at.index = index;
    if (of_token && index >= 0) grpo_place_token_(l->b, index, &x.at);
    if (!of_token) grpo_place_sequence_(l->b, index, &x.at);
    grpo_fault_value_(&x.at, value);
    grpo_keep_finding_(l, &x);
}

static void grpo_lint_flags_of_(grpo_lint_ *l, const uint8_t *x, const char *name, int of_token) {
    int64_t count = 0, first = -1;
    for (int64_t i = l->begin; x && i < l->end; i++) {
        const int64_t begin = of_token ? l->b->offset[i] : i, end = of_token ? grpo_end_of_(l->b, i) : i + 1;
        for (int64_t k = begin; k < end; k++) if (x[k] > 1 && count++ == 0) first = k;
    }
    if (count) grpo_find_flag_(l, GRPO_LINT_FLAG, name, of_token, first, count, GRPO_LINT_NOTE, (double)x[first]);
}

static void grpo_lint_flags_(grpo_lint_ *l, int mask_is_of_bytes) {
    const grpo_batch *b = l->b;
    if (!mask_is_of_bytes) grpo_lint_flags_of_(l, b->mask, "batch.mask", 1);
    grpo_lint_flags_of_(l, b->step_end, "batch.step_end", 1);
    grpo_lint_flags_of_(l, b->segment_end, "batch.segment_end", 1);
    grpo_lint_flags_of_(l, b->selected, "batch.selected", 1);
    grpo_lint_flags_of_(l, b->kl_mask, "batch.kl_mask", 1);
    grpo_lint_flags_of_(l, b->nll_mask, "batch.nll_mask", 1);
    grpo_lint_flags_of_(l, b->marked, "batch.marked", 1);
    grpo_lint_flags_of_(l, b->shaping_mask, "batch.shaping_mask", 1);
    grpo_lint_flags_of_(l, b->truncated, "batch.truncated", 0);
    grpo_lint_flags_of_(l, b->excluded, "batch.excluded", 0);
}

/* 1 if mask looks like numbers of another type.  In little-endian order the integer 1 in 4 or 8 bytes is 1 0 0 0 ..., 1.0 ends with 0x80
 * 0x3f or 0xf0 0x3f */
static int grpo_lint_mask_bytes_(grpo_lint_ *l) {
    const grpo_batch *b = l->b;
    int64_t tokens = 0, counted = 0, of_one = 0;
    int places = 0, twice = 0;
    for (int64_t i = l->begin; b->mask && i < l->end; i++) {
        const int64_t before = counted;
        tokens += b->length[i];
        for (int64_t t = b->offset[i]; t < grpo_end_of_(b, i); t++) {
            if (!b->mask[t]) continue;
            counted++;
            places |= 1 << (t & 3);
            of_one += b->mask[t] == 0x80 || b->mask[t] == 0xf0 || b->mask[t] == 0x3f;
        }
        twice |= counted > before + 1;
    }
    if (counted < 8 || tokens < 32) return 0;
    if (of_one < counted && ((places & (places - 1)) || !twice || 32 * counted < tokens)) return 0;
    grpo_find_flag_(l, GRPO_LINT_MASK_BYTES, "batch.mask", 1, -1, 1, GRPO_LINT_LIKELY, 0);
    return 1;
}

/* 1 if x is 0 wherever the mask counts, and below 0 at half or more of the tokens it leaves out */
static int grpo_is_inverted_by_(const grpo_lint_ *l, const grpo_real *x) {
    int64_t counted = 0, left_out = 0, live = 0;
    for (int64_t i = l->begin; x && i < l->end; i++)
        for (int64_t t = l->b->offset[i]; t < grpo_end_of_(l->b, i); t++) {
            if (!grpo_is_unmasked_(l->b, t)) { left_out++; live += x[t] < 0 && (double)x[t] >= -1e6; continue; }
            if (x[t] != 0) return 0;
            counted++;
        }
    return counted >= 4 && live >= 4 && 2 * live >= left_out;
}

/* if the responses are equally long and each is masked up to a place of its own: the index of that place in the first, else -1 */
static int64_t grpo_masked_beginnings_(const grpo_lint_ *l) {
    const grpo_batch *b = l->b;
    int64_t responses = 0, first = -1, place = -1, others = 0;
    if (!grpo_are_equally_long_(l)) return -1;
    for (int64_t i = l->begin; i < l->end; i++) {
        int64_t t = b->offset[i];
        while (t < grpo_end_of_(b, i) && !grpo_is_unmasked_(b, t)) t++;
        if (t == grpo_end_of_(b, i)) continue;
        if (t == b->offset[i]) return -1;
        if (responses++ == 0) { first = t; place = t - b->offset[i]; }
        others += t - b->offset[i] != place;
        while (t < grpo_end_of_(b, i) && grpo_is_unmasked_(b, t)) t++;
        if (t < grpo_end_of_(b, i)) return -1;
    }
    return responses >= 4 && others ? first : -1;
}

/* counts of responses: with tokens; whose first token is left out while the second counts; likewise the last; with counted tokens after the
 * last logp_old that is not 0 */
typedef struct { int64_t responses, first, last, with_zeros, at_first, at_last; } grpo_left_out_;

static void grpo_look_at_ends_(const grpo_batch *b, int64_t i, grpo_left_out_ *n) {
    const int64_t begin = b->offset[i];
    int64_t end = grpo_end_of_(b, i), last = end;
    if (grpo_unmasked_(b, i) == 0) return;
    n->responses++;
    while (b->logp_old && end > begin && b->logp_old[end - 1] == 0) end--;
    while (!grpo_is_unmasked_(b, last - 1)) last--;
    if (end - begin < 2) return;
    if (!grpo_is_unmasked_(b, begin) && grpo_is_unmasked_(b, begin + 1) && n->first++ == 0) n->at_first = begin;
    if (!grpo_is_unmasked_(b, end - 1) && grpo_is_unmasked_(b, end - 2) && n->last++ == 0) n->at_last = end - 1;
    n->with_zeros += last > end;
}

static void grpo_lint_mask_(grpo_lint_ *l) {
    static const int by[] = { GRPO_AT_logp_old_, GRPO_AT_logp_ };
    const grpo_batch *b = l->b;
    grpo_left_out_ n;
    grpo_finding x;
    int64_t t;
    memset(&n, 0, sizeof n);
    for (int k = 0; k < 2; k++) {
        if (!grpo_is_inverted_by_(l, k ? b->logp : b->logp_old)) continue;
        x = grpo_finding_at_(l, GRPO_LINT_INVERTED_MASK, GRPO_AT_batch_, by[k], -1, 1);
        grpo_name_finding_(&x, "batch.mask");
        grpo_keep_finding_(l, &x);
        return;
    }
    t = grpo_masked_beginnings_(l);
    if (t >= 0) { grpo_find_flag_(l, GRPO_LINT_COUNTS_END, "batch.mask", 1, t, 1, GRPO_LINT_NOTE, 1); return; }
    for (int64_t i = l->begin; i < l->end; i++) grpo_look_at_ends_(b, i, &n);
    if (n.responses < 4) return;
    if (n.first == n.responses || n.last == n.responses) {
        const int first = n.first == n.responses;
        grpo_find_flag_(l, first ? GRPO_LINT_FIRST_LEFT_OUT : GRPO_LINT_LAST_LEFT_OUT, "batch.mask", 1, first ? n.at_first : n.at_last, 1,
                        !first && n.with_zeros >= 2 ? GRPO_LINT_LIKELY : GRPO_LINT_NOTE, 0);
    }
}

static void grpo_lint_truncated_(grpo_lint_ *l) {
    const grpo_batch *b = l->b;
    int64_t count[2] = { 0, 0 }, least = INT64_MAX, most = -1, longest = -1, first = -1;
    grpo_lint_level level;
    for (int64_t i = l->begin; b->truncated && i < l->end; i++) {
        const int64_t n = grpo_length_to_last_unmasked_(b, i);
        const int truncated = b->truncated[i] != 0;
        if (n == 0) continue;
        if (count[truncated]++ == 0 && truncated) first = i;
        if (truncated) { most = n > most ? n : most; continue; }
        least = n < least ? n : least;
        longest = n > longest ? n : longest;
    }
    if (count[0] < 2 || count[1] < 2 || most >= least) return;
    level = count[0] >= 3 && count[1] >= 3 && least == longest ? GRPO_LINT_LIKELY : GRPO_LINT_NOTE;
    {
        grpo_finding x = grpo_finding_at_(l, GRPO_LINT_SHORT_TRUNCATED, GRPO_AT_truncated_, 0, first, count[1]);
        x.level = level;
        grpo_place_sequence_(b, first, &x.at);
        grpo_fault_value_(&x.at, (double)grpo_length_to_last_unmasked_(b, first));
        grpo_fault_other_(&x.at, (double)least);
        grpo_keep_finding_(l, &x);
    }
}

/* ---- log-probabilities ---- */
static int grpo_may_be_logp_(double x) { return x <= 0 && x >= -50; }

#ifdef GRPO_DOUBLE
/* the two floats whose bits x has may be log-probabilities; other: and the first of them hardly by chance */
static int grpo_is_of_other_type_(const grpo_real *x, int *other) {
    float half[2];
    memcpy(half, x, sizeof half);
    *other = (double)half[0] < -1e-3;
    return grpo_may_be_logp_((double)half[0]) && grpo_may_be_logp_((double)half[1]);
}
#else
/* the double whose bits x[0] and x[1] have may be a log-probability; other: and they may not */
static int grpo_is_of_other_type_(const grpo_real *x, int *other) {
    double both;
    memcpy(&both, x, sizeof both);
    *other = !grpo_may_be_logp_((double)x[0]) || !grpo_may_be_logp_((double)x[1]);
    return grpo_may_be_logp_(both);
}
#endif

static int grpo_looks_of_other_type_(const grpo_lint_ *l, const grpo_real *x) {
    const int64_t width = (int64_t)(sizeof(double) / sizeof(grpo_real));     /* elements that are looked at together */
    const int64_t readable = width == 1 ? l->b->n_tokens / 2 : l->b->n_tokens;
    int64_t seen = 0, others = 0;
    for (int64_t i = l->begin; i < l->end; i++)
        for (int64_t t = (l->b->offset[i] + width - 1) / width * width; t + width <= grpo_end_of_(l->b, i); t += width) {
            int other;
            if (t >= readable || !grpo_is_unmasked_(l->b, t) || !grpo_is_unmasked_(l->b, t + width - 1)) continue;
            if (!grpo_is_of_other_type_(&x[t], &other)) return 0;
            seen++;
            others += other;
        }
    return seen >= (width == 1 ? 12 : 8) && 4 * others >= seen;
}

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
    if (x && grpo_looks_of_other_type_(l, x)) grpo_find_(l, GRPO_LINT_OTHER_TYPE, what, -1, 1);
    else if (tokens >= 4 && negative == 0 && above_one == 0 && 2 * within >= tokens) grpo_find_(l, GRPO_LINT_PROBABILITIES, what, -1, 1);
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

/* counts over two arrays x, y: all tokens; `moderate`: those where both are at most 1e6 in magnitude; `neighbours`: those whose next token
 * is moderate too */
typedef struct {
    int64_t tokens, equal, distant, unlike, moderate, neighbours;
    double apart;                  /* over moderate tokens, the sum of |x_t - y_t|; over neighbours: */
    double here, ahead, behind;    /* sums of |x_t - y_t|, |x_t+1 - y_t|, |x_t - y_t+1| */
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
            s->distant += d > 1;
            s->unlike += d > 0.3;
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

/* 1 if x is 0 at all tokens, at least 4, while y is below -0.01 at half of them */
static int grpo_are_zeros_(const grpo_lint_ *l, const grpo_real *x, const grpo_real *y) {
    int64_t tokens = 0, live = 0;
    for (int64_t i = l->begin; i < l->end; i++)
        for (int64_t t = l->b->offset[i]; t < grpo_end_of_(l->b, i); t++) {
            if (!grpo_is_unmasked_(l->b, t)) continue;
            if (x[t] != 0) return 0;
            tokens++;
            live += (double)y[t] < -0.01;
        }
    return tokens >= 4 && 2 * live >= tokens;
}

/* all: 1: every rule; 0: only those that also hold between a policy and its reference */
static void grpo_lint_two_(grpo_lint_ *l, const grpo_real *a, const grpo_real *b, const int what[2], int all) {
    grpo_two_arrays_ s;
    double n, shifted;
    if (!a || !b || grpo_are_zeros_(l, a, b) || grpo_are_zeros_(l, b, a)) return;
    grpo_look_at_two_(l, a, b, &s);
    n = (double)s.neighbours;
    shifted = s.ahead < s.behind ? s.ahead : s.behind;
    if (s.neighbours >= 16 && s.here > 0.1 * n && shifted < s.here / 4)
        grpo_find_two_(l, s.ahead < s.behind ? GRPO_LINT_AHEAD : GRPO_LINT_BEHIND, what, s.here / n, shifted / n);
    else if (!all) return;
    else if (s.tokens >= 16 && 2 * s.distant > s.tokens) grpo_find_two_(l, GRPO_LINT_FAR, what, (double)s.distant / (double)s.tokens, 0);
    else if (s.moderate >= 32 && s.apart > 0.6 * (double)s.moderate && 2 * s.unlike > s.tokens)
        grpo_find_two_(l, GRPO_LINT_UNLIKE, what, s.apart / (double)s.moderate, 0);
    else if (s.moderate >= 16 && s.apart > 0.2 * (double)s.moderate)
        grpo_find_two_(l, GRPO_LINT_APART, what, s.apart / (double)s.moderate, 0);
    else if (s.equal == s.tokens && what[0] == GRPO_AT_logp_) grpo_find_two_(l, GRPO_LINT_SAME, what, 0, 0);
    else if (s.equal == s.tokens && s.tokens >= 4 && what[0] == GRPO_AT_logp_old_ && grpo_has_rollout_weights_(&l->obj->weight))
        grpo_find_two_(l, GRPO_LINT_UNCORRECTED, what, 0, 0);
}

/* 1 if token t is of a demonstration or of another policy, which nobody sampled */
static int grpo_is_given_(const grpo_batch *b, int64_t t) {
    return (b->shaping_mask && b->shaping_mask[t]) || (b->nll_mask && b->nll_mask[t]);
}

/* the first of 4 or more unmasked tokens in a row of response i where x is 0, while y is below -0.7 at half of them or more; -1: none.
 * Not at its end if `inside` */
static int64_t grpo_not_sampled_(const grpo_batch *b, const grpo_real *x, const grpo_real *y, int64_t i, int inside) {
    int64_t first = -1, zeros = 0, live = 0;
    for (int64_t t = b->offset[i]; t <= grpo_end_of_(b, i); t++) {
        const int end = t == grpo_end_of_(b, i);
        if (!end && !grpo_is_unmasked_(b, t)) continue;
        if (!end && x[t] == 0 && !grpo_is_given_(b, t)) {
            if (zeros++ == 0) first = t;
            live += (double)y[t] < -0.7;
            continue;
        }
        if (zeros >= 4 && 2 * live >= zeros && !(end && inside)) return first;
        zeros = live = 0;
    }
    return -1;
}

static void grpo_lint_not_sampled_(grpo_lint_ *l, const grpo_real *x, const grpo_real *y, int what, int other) {
    int64_t count = 0, first = -1;
    const int inside = what == GRPO_AT_logp_old_ && grpo_are_equally_long_(l);             /* an end of zeros is that of padded_one */
    grpo_finding found;
    if (!x || !y || grpo_are_zeros_(l, x, y)) return;
    if (what == GRPO_AT_logp_old_ && l->obj->surrogate.kind == GRPO_SURROGATE_POLICY_SHAPING) return;
    for (int64_t i = l->begin; i < l->end; i++) {
        const int64_t t = grpo_not_sampled_(l->b, x, y, i, inside);
        if (t >= 0 && count++ == 0) first = t;
    }
    if (count == 0) return;
    found = grpo_finding_at_(l, GRPO_LINT_NOT_SAMPLED, what, other, first, count);
    grpo_keep_finding_(l, &found);
}

/* reports x if it is 0 at every token while `live` is not */
static void grpo_lint_zeros_(grpo_lint_ *l, const grpo_real *x, const grpo_real *live, int what, int other) {
    grpo_batch without = *l->b;
    grpo_finding found;
    if (!x || !live || !grpo_are_zeros_(l, x, live)) return;
    if (what == GRPO_AT_logp_old_ && l->obj->surrogate.kind == GRPO_SURROGATE_POLICY_SHAPING) return;
    if (what == GRPO_AT_logp_) without.logp = NULL;
    if (what == GRPO_AT_logp_old_) without.logp_old = NULL;
    if (what == GRPO_AT_logp_ref_) without.logp_ref = NULL;
    if (what == GRPO_AT_logp_rollout_) without.logp_rollout = NULL;
    found = grpo_finding_at_(l, GRPO_LINT_ZEROS, what, other, -1, 1);
    if (!grpo_array_is_needed_(l, &without, what)) found.level = GRPO_LINT_NOTE;
    grpo_keep_finding_(l, &found);
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
    grpo_lint_zeros_(l, b->logp, b->logp_old, GRPO_AT_logp_, GRPO_AT_logp_old_);
    grpo_lint_zeros_(l, b->logp_old, b->logp, GRPO_AT_logp_old_, GRPO_AT_logp_);
    grpo_lint_zeros_(l, b->logp_ref, b->logp, GRPO_AT_logp_ref_, GRPO_AT_logp_);
    grpo_lint_zeros_(l, b->logp_rollout, b->logp, GRPO_AT_logp_rollout_, GRPO_AT_logp_);
    grpo_lint_not_sampled_(l, b->logp_rollout, b->logp_old ? b->logp_old : b->logp, GRPO_AT_logp_rollout_,
                           b->logp_old ? GRPO_AT_logp_old_ : GRPO_AT_logp_);
    grpo_lint_not_sampled_(l, b->logp_old, b->logp, GRPO_AT_logp_old_, GRPO_AT_logp_);
    grpo_lint_two_(l, b->logp, b->logp_old, old, 1);
    grpo_lint_two_(l, b->logp_old, b->logp_rollout, rollout, 1);
    grpo_lint_two_(l, b->logp, b->logp_ref, ref, 0);
}

/* ---- rewards and advantages ---- */
/* 1 if totals count more than this batch */
static int grpo_have_other_parts_(const grpo_lint_ *l, const grpo_totals *totals) {
    return totals && totals->sequences > l->end - l->begin;
}

/* 1 if a response is compared with the others of its group, by a single reward */
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

/* 1 if all tokens of a response have the same advantage */
static int grpo_tokens_are_alike_(const grpo_advantage *a) {
    return a->credit == GRPO_CREDIT_OUTCOME && a->token_baseline == GRPO_TOKEN_BASELINE_NONE && a->entropy == GRPO_ENTROPY_NONE
        && a->teacher_coef == 0 && a->teacher_share == 0 && a->kl_centred_coef == 0 && a->marked == GRPO_MARKED_NONE;
}

/* 1 if, in addition, advantages differ whenever batch.reward differs within a group: rewards are neither shaped first nor thrown away */
static int grpo_differences_count_(const grpo_objective *obj) {
    const grpo_advantage *a = &obj->advantage;
    int n;
    const grpo_field *f = grpo_fields(&n);
    for (int k = 0; k < n; k++) if (f[k].offset < sizeof obj->reward && grpo_objective_get(obj, &f[k]) != 0) return 0;
    return grpo_compares_responses_(a) && grpo_tokens_are_alike_(a) && a->transform == GRPO_TRANSFORM_NONE && a->scale != GRPO_SCALE_BETA
        && a->scale != GRPO_SCALE_GROUP_MEAN && a->reweight == GRPO_REWEIGHT_NONE && a->clamp_low == 0 && a->clamp_high == 0
        && a->excluded == GRPO_EXCLUDED_NONE;
}

/* 1 if they at least do not fall where rewards differ by as much as overlong soft takes from one */
static int grpo_order_counts_(const grpo_objective *obj) {
    grpo_objective plain = *obj;
    if (obj->reward.overlong == GRPO_OVERLONG_SOFT) {
        plain.reward.overlong = GRPO_OVERLONG_NONE;
        plain.reward.overlong_max = plain.reward.overlong_cache = plain.reward.overlong_factor = 0;
    }
    return grpo_differences_count_(&plain);
}

/* 1 if the advantage is 0 at all tokens of sequences begin .. end - 1 */
static int grpo_advantage_is_zero_(const grpo_lint_ *l, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++)
        for (int64_t t = l->b->offset[i]; t < grpo_end_of_(l->b, i); t++)
            if (grpo_is_unmasked_(l->b, t) && !(l->advantage[t] == 0)) return 0;
    return 1;
}

/* the first response whose reward differs from that of the group's first one, -1 if there is none; with_tokens: only responses with
 * tokens */
static int64_t grpo_other_reward_(const grpo_batch *b, int64_t g, int with_tokens) {
    int64_t first = -1;
    for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        if (with_tokens && grpo_unmasked_(b, i) == 0) continue;
        if (first < 0) first = i;
        else if (b->reward[i] != b->reward[first]) return i;
    }
    return -1;
}

/* 1 if the objective gives the response of a group of one the advantage 0 */
static int grpo_lone_is_zero_(const grpo_advantage *a) {
    return grpo_compares_responses_(a) && grpo_tokens_are_alike_(a) && a->transform == GRPO_TRANSFORM_NONE && a->baseline_shift == 0
        && a->excluded == GRPO_EXCLUDED_NONE && a->batch_norm == GRPO_BATCH_NORM_NONE && a->scale != GRPO_SCALE_TOKEN_WHITEN;
}

/* 1 if nothing but batch.reward makes an advantage other than 0: no length, no KL, no critic, no teacher, no shift */
static int grpo_rewards_alone_teach_(const grpo_objective *obj) {
    const grpo_advantage *a = &obj->advantage;
    return obj->reward.length == GRPO_LENGTH_NONE && obj->reward.overlong == GRPO_OVERLONG_NONE
        && obj->reward.truncated == GRPO_REWARD_TRUNCATED_KEEP && (obj->reward.kl == GRPO_KL_NONE || obj->reward.kl_coef == 0)
        && a->credit != GRPO_CREDIT_GAE && a->baseline_shift == 0 && a->teacher_coef == 0 && a->kl_centred_coef == 0
        && (a->marked != GRPO_MARKED_FIXED || a->marked_value == 0);
}

static void grpo_lint_groups_(grpo_lint_ *l, const grpo_totals *totals) {
    const grpo_batch *b = l->b;
    const int taught = grpo_rewards_alone_teach_(l->obj);
    int64_t alone = 0, equal = 0, first_alone = -1, first_equal = -1;
    grpo_finding x;
    for (int64_t g = 0; g < b->n_groups; g++) {
        const int64_t begin = b->group_begin[g], end = b->group_begin[g + 1];
        if (end - begin == 1) {
            if ((l->advantage ? grpo_advantage_is_zero_(l, begin, end) : taught) && alone++ == 0) first_alone = g;
            continue;
        }
        if (!b->reward || grpo_other_reward_(b, g, 0) >= 0) continue;
        if ((l->advantage ? grpo_advantage_is_zero_(l, begin, end) : taught) && equal++ == 0) first_equal = begin;
    }
    if (alone) {
        x = grpo_finding_at_(l, GRPO_LINT_GROUP_OF_ONE, GRPO_AT_group_begin_, 0, first_alone, alone);
        x.at.group = first_alone;
        if (alone == b->n_groups && !grpo_have_other_parts_(l, totals)) x.level = GRPO_LINT_LIKELY;
        grpo_keep_finding_(l, &x);
    }
    if (equal) {
        x = grpo_finding_at_(l, GRPO_LINT_EQUAL_REWARDS, GRPO_AT_reward_, 0, first_equal, equal);
        if (equal == b->n_groups && equal >= 8) x.level = GRPO_LINT_LIKELY;
        grpo_keep_finding_(l, &x);
    }
}

/* the first unmasked token of a response that has some */
static int64_t grpo_first_unmasked_(const grpo_batch *b, int64_t i) {
    int64_t t = b->offset[i];
    while (!grpo_is_unmasked_(b, t)) t++;
    return t;
}

/* reports advantages that are all 0 or too small although rewards differ, at the largest one, or at a response whose reward differs */
static void grpo_lint_no_advantage_(grpo_lint_ *l) {
    const grpo_batch *b = l->b;
    int64_t i = -1, most = -1;
    double largest = 0;
    if (!b->reward) return;
    for (int64_t k = l->begin; k < l->end; k++)
        for (int64_t t = b->offset[k]; t < grpo_end_of_(b, k); t++) {
            const double adv = grpo_is_unmasked_(b, t) ? fabs((double)l->advantage[t]) : 0;
            if (!(adv <= 1e-30)) return;
            if (adv > largest) { largest = adv; most = t; }
        }
    for (int64_t g = 0; g < b->n_groups && i < 0; g++) {
        i = grpo_other_reward_(b, g, 1);
        for (int64_t k = b->group_begin[g]; largest > 0 && i >= 0 && k < b->group_begin[g + 1]; k++)
            if (fabs((double)b->reward[k] - (double)b->reward[i]) > 1e-20) break;
            else if (k + 1 == b->group_begin[g + 1]) i = -1;
    }
    if (i >= 0) grpo_find_(l, GRPO_LINT_NO_ADVANTAGE, GRPO_AT_advantage_, most >= 0 ? most : grpo_first_unmasked_(b, i), 1);
}

/* 1 if A increases with R within a group; not if R - b or sigma differ between its responses */
static int grpo_rises_with_reward_(const grpo_advantage *a) {
    return a->baseline != GRPO_BASELINE_KALMAN && a->scale != GRPO_SCALE_KALMAN_STD && a->scale != GRPO_SCALE_LEAVE_ONE_OUT_STD;
}

/* the advantage that all unmasked tokens of the response have; 0 if they differ, or there are none */
static double grpo_advantage_of_(const grpo_lint_ *l, int64_t i) {
    double adv = 0;
    int any = 0;
    for (int64_t t = l->b->offset[i]; t < grpo_end_of_(l->b, i); t++) {
        if (!grpo_is_unmasked_(l->b, t)) continue;
        if (any && (double)l->advantage[t] != adv) return 0;
        adv = (double)l->advantage[t];
        any = 1;
    }
    return adv;
}

/* 1 if the response with the higher reward has a clearly lower advantage than the other */
static int grpo_contradicts_reward_(const grpo_lint_ *l, int64_t i, int64_t j, double Ai, double Aj) {
    const double least = 1e-3 * (fabs(Ai) > fabs(Aj) ? fabs(Ai) : fabs(Aj)), gap = fabs((double)l->b->reward[i] - (double)l->b->reward[j]);
    if (l->obj->reward.overlong == GRPO_OVERLONG_SOFT && gap < fabs(l->obj->reward.overlong_factor)) return 0;
    if (l->b->reward[i] == l->b->reward[j] || Ai == 0 || Aj == 0) return 0;
    return l->b->reward[i] < l->b->reward[j] ? Ai > Aj + least : Aj > Ai + least;
}

/* the first such pair (lower reward, higher reward); how many responses were compared, how many contradict their reward */
typedef struct { int64_t lower, higher, compared, against; } grpo_reward_order_;

static void grpo_order_of_group_(const grpo_lint_ *l, int64_t g, grpo_reward_order_ *n) {
    const grpo_batch *b = l->b;
    int64_t with[3] = { -1, -1, -1 };                      /* the responses with the lowest and the highest reward, and the one before */
    double adv[3] = { 0, 0, 0 };
    for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        if (grpo_unmasked_(b, i) == 0) continue;
        if (with[0] < 0 || b->reward[i] < b->reward[with[0]]) with[0] = i;
        if (with[1] < 0 || b->reward[i] > b->reward[with[1]]) with[1] = i;
    }
    if (with[0] < 0 || b->reward[with[0]] == b->reward[with[1]]) return;
    for (int k = 0; k < 2; k++) adv[k] = grpo_advantage_of_(l, with[k]);
    for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        const double own = grpo_unmasked_(b, i) ? grpo_advantage_of_(l, i) : 0;
        int found = 0;
        if (own == 0) continue;
        n->compared++;
        for (int k = 0; k < 3 && !found; k++) {
            if (with[k] < 0 || !grpo_contradicts_reward_(l, i, with[k], own, adv[k])) continue;
            found = 1;
            if (n->against++ > 0) continue;
            n->lower = b->reward[i] < b->reward[with[k]] ? i : with[k];
            n->higher = n->lower == i ? with[k] : i;
        }
        with[2] = i;
        adv[2] = own;
    }
}

static void grpo_lint_against_reward_(grpo_lint_ *l) {
    grpo_reward_order_ n;
    grpo_finding x;
    memset(&n, 0, sizeof n);
    if (!l->b->reward) return;
    for (int64_t g = 0; g < l->b->n_groups; g++) grpo_order_of_group_(l, g, &n);
    if (n.against == 0) return;
    x = grpo_finding_at_(l, GRPO_LINT_AGAINST_REWARD, GRPO_AT_advantage_, 0, grpo_first_unmasked_(l->b, n.lower), n.against);
    if (n.against >= 8 && 4 * n.against >= n.compared) x.level = GRPO_LINT_LIKELY;
    grpo_fault_other_(&x.at, (double)l->advantage[grpo_first_unmasked_(l->b, n.higher)]);
    grpo_keep_finding_(l, &x);
}

/* 1 if all unmasked tokens of the response, at least one, have one advantage */
static int grpo_has_one_advantage_(const grpo_lint_ *l, int64_t i, double *adv) {
    int any = 0;
    for (int64_t t = l->b->offset[i]; t < grpo_end_of_(l->b, i); t++) {
        if (!grpo_is_unmasked_(l->b, t)) continue;
        if (any && (double)l->advantage[t] != *adv) return 0;
        *adv = (double)l->advantage[t];
        any = 1;
    }
    return any;
}

/* counts the responses of group g whose advantage is another than that of one with the same reward; the first such pair -> pair */
static int64_t grpo_unequal_of_group_(const grpo_lint_ *l, int64_t g, int64_t pair[2]) {
    const grpo_batch *b = l->b;
    int64_t with[3] = { -1, -1, -1 }, count = 0;           /* the first with the lowest and the highest reward, and the one before */
    double adv[3] = { 0, 0, 0 }, own = 0;
    for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        int found = 0;
        if (!grpo_has_one_advantage_(l, i, &own)) continue;
        for (int k = 0; k < 3 && !found; k++) {
            if (with[k] < 0 || b->reward[i] != b->reward[with[k]]) continue;
            found = fabs(own - adv[k]) > 1e-3 * (fabs(own) > fabs(adv[k]) ? fabs(own) : fabs(adv[k]));
            if (found && count++ == 0) { pair[0] = i; pair[1] = with[k]; }
        }
        if (with[0] < 0 || b->reward[i] < b->reward[with[0]]) { with[0] = i; adv[0] = own; }
        if (with[1] < 0 || b->reward[i] > b->reward[with[1]]) { with[1] = i; adv[1] = own; }
        with[2] = i; adv[2] = own;
    }
    return count;
}

static void grpo_lint_unequal_(grpo_lint_ *l) {
    int64_t first[2] = { -1, -1 }, count = 0;
    grpo_finding x;
    for (int64_t g = 0; l->b->reward && g < l->b->n_groups; g++) {
        int64_t pair[2] = { -1, -1 };
        const int64_t more = grpo_unequal_of_group_(l, g, pair);
        if (more && count == 0) memcpy(first, pair, sizeof pair);
        count += more;
    }
    if (count == 0) return;
    x = grpo_finding_at_(l, GRPO_LINT_UNEQUAL, GRPO_AT_advantage_, 0, grpo_first_unmasked_(l->b, first[0]), count);
    grpo_fault_other_(&x.at, (double)l->advantage[grpo_first_unmasked_(l->b, first[1])]);
    grpo_keep_finding_(l, &x);
}

/* whether A is the reward at every response of the group: 1 yes, which only a missing baseline explains; 0 no; -1 the group tells
 * nothing */
static int grpo_is_raw_(const grpo_lint_ *l, int64_t g) {
    const grpo_batch *b = l->b;
    int64_t zeros = 0, responses = 0;
    int signs = 0, alike = 1;
    double one = 0;
    if (grpo_other_reward_(b, g, 1) < 0) return -1;
    for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        const double rew = (double)b->reward[i];
        if (grpo_unmasked_(b, i) == 0) continue;
        if (grpo_advantage_of_(l, i) != rew) return 0;
        responses++;
        zeros += rew == 0;
        signs |= rew > 0 ? 1 : rew < 0 ? 2 : 0;
        alike &= rew == 0 || one == 0 || rew == one;
        if (rew != 0) one = rew;
    }
    return signs == 3 || (alike && 2 * zeros == responses) ? -1 : 1;
}

static void grpo_lint_raw_reward_(grpo_lint_ *l) {
    const grpo_baseline_kind k = l->obj->advantage.baseline;
    int64_t first = -1, count = 0;
    if (!l->b->reward || (k != GRPO_BASELINE_GROUP_MEAN && k != GRPO_BASELINE_LEAVE_ONE_OUT && k != GRPO_BASELINE_LENGTH_WEIGHTED)) return;
    for (int64_t g = 0; g < l->b->n_groups; g++) {
        const int raw = grpo_is_raw_(l, g);
        if (raw == 0) return;
        if (raw > 0 && count++ == 0) first = grpo_other_reward_(l->b, g, 1);
    }
    if (count) grpo_find_(l, GRPO_LINT_RAW_REWARD, GRPO_AT_advantage_, grpo_first_unmasked_(l->b, first), count);
}

/* reports advantages that are 0 from index `responses` on, not before it, and that change within a response */
static void grpo_lint_per_response_(grpo_lint_ *l) {
    const int64_t responses = l->end - l->begin;
    int64_t written = 0, changes = 0, after = -1;
    for (int64_t i = l->begin; i < l->end; i++) {
        double last = 0;
        int any = 0;
        for (int64_t t = l->b->offset[i]; t < grpo_end_of_(l->b, i); t++) {
            const double adv = (double)l->advantage[t];
            if (!grpo_is_unmasked_(l->b, t)) continue;
            if (t >= responses && adv != 0) return;
            if (t >= responses && (after < 0 || t < after)) after = t;
            written += t < responses && adv != 0;
            changes += any && adv != last;
            last = adv;
            any = 1;
        }
    }
    if (written >= 2 && changes && after >= 0) grpo_find_(l, GRPO_LINT_PER_RESPONSE, GRPO_AT_advantage_, after, 1);
}

/* ---- totals, work in parts, the call ---- */
/* 1 if `all` minus `own` can be the counts of other batches, or of none */
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
    grpo_finding x;
    memset(&own, 0, sizeof own);
    if (grpo_totals_add(l->obj, l->b, l->advantage, &own)) return;
    if (own.tokens == 0) {
        x = grpo_finding_at_(l, GRPO_LINT_NONE_COUNT, GRPO_AT_batch_, 0, -1, 1);
        if (totals && totals->tokens > 0) x.level = GRPO_LINT_NOTE;
        grpo_keep_finding_(l, &x);
    }
    if (totals && !grpo_is_rest_(totals, &own)) grpo_find_(l, GRPO_LINT_OTHER_TOTALS, GRPO_AT_totals_, -1, 1);
}

static void grpo_lint_lone_(grpo_lint_ *l, const grpo_totals *totals) {
    const grpo_batch *b = l->b;
    int64_t n = 0, first = -1;
    if (!l->advantage || !grpo_have_other_parts_(l, totals)) return;
    if (!grpo_needs_groups_(l->obj) || !grpo_lone_is_zero_(&l->obj->advantage)) return;
    for (int64_t g = 0; g < b->n_groups; g++) {
        const int64_t begin = b->group_begin[g], end = b->group_begin[g + 1];
        if (end - begin == 1 && !grpo_advantage_is_zero_(l, begin, end) && n++ == 0) first = g;
    }
    if (n) {
        grpo_finding x = grpo_finding_at_(l, GRPO_LINT_LONE_ADVANTAGE, GRPO_AT_group_begin_, 0, first, n);
        x.at.group = first;
        grpo_keep_finding_(l, &x);
    }
}

/* 1 if the advantages of a group of two or more add up to 0 over its responses */
static int grpo_is_centred_(const grpo_advantage *a) {
    if (a->baseline != GRPO_BASELINE_GROUP_MEAN && a->baseline != GRPO_BASELINE_LEAVE_ONE_OUT) return 0;
    return a->scale != GRPO_SCALE_LEAVE_ONE_OUT_STD && a->scale != GRPO_SCALE_KALMAN_STD && a->scale != GRPO_SCALE_TOKEN_WHITEN
        && grpo_tokens_are_alike_(a) && !grpo_has_shaping_(a) && a->samples == GRPO_SAMPLES_RESPONSES && a->excluded == GRPO_EXCLUDED_NONE
        && a->transform == GRPO_TRANSFORM_NONE && a->baseline_shift == 0 && a->reweight == GRPO_REWEIGHT_NONE
        && a->batch_norm == GRPO_BATCH_NORM_NONE;
}

/* the sum of the advantages of a group; 0 if it is within rounding of 0, or a response has no token to read it from */
static double grpo_excess_of_(const grpo_lint_ *l, int64_t g) {
    double sum = 0, most = 0;
    for (int64_t i = l->b->group_begin[g]; i < l->b->group_begin[g + 1]; i++) {
        double adv;
        if (grpo_unmasked_(l->b, i) == 0) return 0;
        adv = (double)l->advantage[grpo_first_unmasked_(l->b, i)];
        sum += adv;
        most = fmax(most, fabs(adv));
    }
    return fabs(sum) > 1e-3 * most ? sum : 0;
}

static void grpo_lint_uncentred_(grpo_lint_ *l, const grpo_totals *totals) {
    const grpo_batch *b = l->b;
    int64_t n = 0, first = -1;
    if (!l->advantage || !grpo_have_other_parts_(l, totals)) return;
    if (!grpo_needs_groups_(l->obj) || !grpo_is_centred_(&l->obj->advantage)) return;
    for (int64_t g = 0; g < b->n_groups; g++)
        if (b->group_begin[g + 1] - b->group_begin[g] > 1 && grpo_excess_of_(l, g) != 0 && n++ == 0) first = g;
    if (n) {
        grpo_finding x = grpo_finding_at_(l, GRPO_LINT_UNCENTRED, GRPO_AT_group_begin_, 0, first, n);
        x.at.group = first;
        grpo_fault_value_(&x.at, grpo_excess_of_(l, first));
        grpo_keep_finding_(l, &x);
    }
}

static void grpo_lint_cut_group_(grpo_lint_ *l, const grpo_totals *totals) {
    const grpo_batch *b = l->b;
    const int64_t n = b->n_groups, *begin = b->group_begin;
    int64_t size, cut = -1;
    if (!grpo_have_other_parts_(l, totals) || n < 3) return;
    size = begin[2] - begin[1];
    for (int64_t g = 1; g + 1 < n; g++) if (begin[g + 1] - begin[g] != size) return;
    if (begin[1] - begin[0] > size || begin[n] - begin[n - 1] > size) return;
    if (n == 3 && begin[1] - begin[0] < size && begin[3] - begin[2] < size) return;       /* with one full group alone the usual size is
                                                                                             unknown */
    if (begin[n] - begin[n - 1] < size) cut = n - 1;
    if (begin[1] - begin[0] < size) cut = 0;
    if (cut >= 0) {
        grpo_finding x = grpo_finding_at_(l, GRPO_LINT_CUT_GROUP, GRPO_AT_group_begin_, 0, cut, 1);
        x.at.group = cut;
        grpo_fault_value_(&x.at, (double)(begin[cut + 1] - begin[cut]));
        grpo_fault_other_(&x.at, (double)size);
        grpo_keep_finding_(l, &x);
    }
}

static void grpo_find_count_(grpo_lint_ *l, grpo_lint_rule rule, int what, const char *name, int64_t count, int64_t of_totals) {
    grpo_finding x = grpo_finding_at_(l, rule, what, GRPO_AT_totals_, -1, 1);
    grpo_name_finding_(&x, name);
    grpo_fault_value_(&x.at, (double)count);
    grpo_fault_other_(&x.at, (double)of_totals);
    grpo_keep_finding_(l, &x);
}

/* 1 if the two arrays are equal at every unmasked token; *any: 1 if one of these is not 0 */
static int grpo_are_same_advantages_(const grpo_batch *b, const grpo_real *x, const grpo_real *y, int *any) {
    grpo_index_ at = grpo_before_tokens_(b);
    int64_t t;
    while ((t = grpo_next_token_(b, &at)) >= 0) {
        if (x[t] != y[t]) return 0;
        *any |= x[t] != 0;
    }
    return 1;
}

int grpo_lint_own_moments(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals,
                          grpo_real *alone, grpo_finding *finding) {
    grpo_objective rest = *obj;
    grpo_lint_ l;
    grpo_finding x;
    int any = 0, only_factor;
    memset(&l, 0, sizeof l);
    l.b = batch; l.obj = obj;
    rest.advantage.reweight = GRPO_REWEIGHT_NONE;
    only_factor = !grpo_needs_moments_(&rest.advantage);
    if (!advantage || !grpo_needs_moments_(&obj->advantage) || grpo_advantages(obj, batch, alone)) return 0;
    if (!totals || batch->n_groups == 0 || totals->sequences <= batch->group_begin[batch->n_groups] - batch->group_begin[0]) return 0;
    if (!grpo_are_same_advantages_(batch, alone, advantage, &any) || !any) return 0;
    if (only_factor && (grpo_advantages(&rest, batch, alone) || grpo_are_same_advantages_(batch, alone, advantage, &any))) return 0;
    x = grpo_finding_at_(&l, GRPO_LINT_OWN_MOMENTS, GRPO_AT_advantage_, 0, -1, 1);
    if (only_factor) x.level = GRPO_LINT_NOTE;
    *finding = x;
    return 1;
}

int grpo_lint_parts(const grpo_totals *totals, const grpo_partial *partial, const grpo_moments *moments, grpo_finding *finding, int room) {
    grpo_lint_ l;
    memset(&l, 0, sizeof l);
    l.finding = finding; l.room = finding && room > 0 ? room : 0;
    if (totals && partial && partial->tokens != totals->tokens)
        grpo_find_count_(&l, partial->tokens < totals->tokens ? GRPO_LINT_MISSING_PART : GRPO_LINT_REPEATED_PART, GRPO_AT_partial_,
                         "partial.tokens", partial->tokens, totals->tokens);
    else if (totals && partial && partial->sequences != totals->sequences_nonempty)
        grpo_find_count_(&l, GRPO_LINT_PIECES, GRPO_AT_partial_, "partial.sequences", partial->sequences, totals->sequences_nonempty);
    else if (totals && partial && partial->groups != totals->groups_nonempty)
        grpo_find_count_(&l, GRPO_LINT_PIECES, GRPO_AT_partial_, "partial.groups", partial->groups, totals->groups_nonempty);
    if (totals && partial && partial->scales.divisor != 0 && partial->scales.factor != (totals->ranks ? (double)totals->ranks : 1)) {
        grpo_finding x = grpo_finding_at_(&l, GRPO_LINT_NOT_MERGED, GRPO_AT_partial_, GRPO_AT_totals_, -1, 1);
        grpo_name_finding_(&x, "partial.scales.factor");
        grpo_fault_value_(&x.at, partial->scales.factor);
        grpo_fault_other_(&x.at, totals->ranks ? (double)totals->ranks : 1);
        grpo_keep_finding_(&l, &x);
    }
    if (totals && moments && moments->sequences != totals->sequences)
        grpo_find_count_(&l, moments->sequences < totals->sequences ? GRPO_LINT_MISSING_MOMENTS : GRPO_LINT_MORE_MOMENTS, GRPO_AT_moments_,
                         "moments.sequences", moments->sequences, totals->sequences);
    return l.count;
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

static void grpo_lint_no_groups_(grpo_lint_ *l) {
    grpo_finding x = grpo_finding_at_(l, GRPO_LINT_NO_GROUPS, GRPO_AT_n_groups_, 0, -1, 1);
    grpo_fault_value_(&x.at, 0);
    grpo_fault_other_(&x.at, (double)l->b->n_tokens);
    grpo_keep_finding_(l, &x);
}

/* the objective without an overlong punishment that begins beyond the longest response */
static grpo_objective grpo_as_it_acts_(const grpo_objective *obj, const grpo_lint_ *l) {
    grpo_objective o = *obj;
    grpo_reward *r = &o.reward;
    int64_t i = l->begin;
    while (i < l->end && (double)l->b->length[i] <= r->overlong_max - r->overlong_cache) i++;
    if (i < l->end && r->overlong != GRPO_OVERLONG_NONE) return o;
    r->overlong = GRPO_OVERLONG_NONE;
    r->overlong_max = r->overlong_cache = r->overlong_factor = 0;
    return o;
}

int grpo_lint(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals,
              const grpo_output *out, grpo_finding *finding, int room) {
    const grpo_status st = advantage ? grpo_refused_loss_(obj, batch, advantage, totals, out) : grpo_refused_advantages_(obj, batch);
    grpo_lint_ l;
    int in_order, bytes;
    memset(&l, 0, sizeof l);
    l.obj = obj; l.b = batch; l.advantage = advantage;
    l.finding = finding; l.room = finding && room > 0 ? room : 0;
    if (st) grpo_lint_refused_(&l, st);
    else if (batch->n_groups == 0 && batch->n_tokens > 0 && !totals) grpo_lint_no_groups_(&l);
    if (grpo_objective_check(obj) || !grpo_has_layout_(batch)) return l.count;
    l.begin = batch->group_begin[0]; l.end = batch->group_begin[batch->n_groups];
    const grpo_objective acts = grpo_as_it_acts_(obj, &l);
    l.obj = &acts;
    in_order = grpo_are_stored_in_order_(&l);
    grpo_lint_overlap_(&l, in_order);
    grpo_lint_lost_gradient_(&l, out);
    if (grpo_have_other_parts_(&l, totals)) out = NULL;
    grpo_lint_unwritten_(&l, out ? out->dlogp : NULL, GRPO_AT_dlogp_, in_order, totals != NULL);
    grpo_lint_unwritten_(&l, out ? out->dentropy : NULL, GRPO_AT_dentropy_, in_order, totals != NULL);
    grpo_lint_unwritten_(&l, out ? out->ddivergence_ref : NULL, GRPO_AT_ddivergence_ref_, in_order, totals != NULL);
    if (grpo_compares_responses_(&obj->advantage)) grpo_lint_groups_(&l, totals);
    grpo_lint_cut_group_(&l, totals);
    grpo_lint_lone_(&l, totals);
    grpo_lint_uncentred_(&l, totals);
    bytes = grpo_lint_mask_bytes_(&l);
    grpo_lint_flags_(&l, bytes);
    if (!grpo_lint_tokens_(&l)) return l.count;
    if (batch->mask && !bytes) grpo_lint_mask_(&l);
    grpo_lint_truncated_(&l);
    grpo_lint_padded_(&l);
    grpo_lint_fixed_length_(&l);
    if (!bytes) grpo_lint_padded_length_(&l, &obj->reward);
    grpo_lint_policies_(&l);
    grpo_lint_entropy_(&l);
    if (advantage && grpo_tokens_are_alike_(&obj->advantage)) grpo_lint_per_response_(&l);
    if (advantage && grpo_differences_count_(&acts)) {
        grpo_lint_no_advantage_(&l);
        grpo_lint_raw_reward_(&l);
        if (grpo_rises_with_reward_(&obj->advantage)) grpo_lint_unequal_(&l);
    }
    if (advantage && grpo_order_counts_(&acts) && grpo_rises_with_reward_(&obj->advantage)) grpo_lint_against_reward_(&l);
    grpo_lint_totals_(&l, totals);
    return l.count;
}

/* ---- sentences ------------------------------------------------------------------------------------------------------------------ */
#ifndef GRPO_NO_TEXT
/* a number, or the name of a choice if `what` is a field with choices */
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
    grpo_say_integer_(to, n);
    grpo_say_(to, behind);
}

/* "group 3, response 2 of it, token 17 of it", after `before`; nothing if there is no place */
static void grpo_say_place_(grpo_text_ *to, const char *before, const grpo_fault *at) {
    if (at->group >= 0) grpo_say_(to, before);
    grpo_say_count_(to, "group ", at->group, "");
    grpo_say_count_(to, ", response ", at->response, " of it");
    grpo_say_count_(to, ", token ", at->token, " of it");
    grpo_say_count_(to, at->group >= 0 ? ", reward " : ": reward ", at->column, "");
}

/* the status, and the values that its message does not contain; if a rule is about a field and an array, f is of the array.  help: what
 * the message ends with if it says what helps and there are values, to be said after the place, else empty */
static int grpo_say_status_(grpo_text_ *to, grpo_status st, const grpo_fault *f, char help[GRPO_MESSAGE_SIZE]) {
    const int what = grpo_what_of_(st), other = grpo_other_of_(st), array = what <= GRPO_AT_LAST_FIELD_ && other > GRPO_AT_LAST_FIELD_;
    const int values = f->has_value && f->value == f->value && (f->has_other || !array);
    char text[GRPO_MESSAGE_SIZE], *colon;
    grpo_status_message(st, text, sizeof text);
    colon = values || f->has_other ? strstr(text, ": ") : NULL;
    help[0] = 0;
    if (colon) { strcpy(help, colon + 2); *colon = 0; }
    grpo_say_(to, text);
    if (values) {
        grpo_say_(to, array ? ": they are " : what == GRPO_AT_length_ && other == GRPO_AT_n_tokens_ ? ": it ends at " : ": it is ");
        grpo_say_value_(to, what, array ? f->other : f->value);
    }
    if (f->has_other) {
        grpo_say_(to, !values ? ", which is " : array ? " and " : other ? ", the other " : ", the one before ");
        grpo_say_value_(to, other, array ? f->value : f->other);
    }
    return values;
}

/* 1 for what two integers of 32 bits are if they are read as one of 64, up to 2^53 */
static int grpo_is_of_32_bits_(double x) { return x >= 4294967296.0 && x < 9007199254740992.0 && fmod(x, 4294967296.0) < 2147483648.0; }

/* the same, the place, and what helps */
static void grpo_say_fault_(grpo_text_ *to, grpo_status st, const grpo_fault *f) {
    char help[GRPO_MESSAGE_SIZE];
    const int values = grpo_say_status_(to, st, f, help), what = grpo_what_of_(st);
    grpo_say_place_(to, values ? "; " : ": ", f);
    if (*help) grpo_say_(to, "; ");
    grpo_say_(to, help);
    if (grpo_status_is(st, GRPO_NOT_A_CHOICE) && f->has_value) grpo_say_(to, "; was the objective initialised?");
    if ((what == GRPO_AT_offset_ || what == GRPO_AT_length_ || what == GRPO_AT_group_begin_) && grpo_is_of_32_bits_(
        what == GRPO_AT_group_begin_ && f->other >= f->value ? f->other : f->value))
        grpo_say_(to, "; is it an array of 32-bit integers? It is read as int64_t");
}

/* of a missing array: the first field without which (0 instead) it would not be missed, as statuses name it; 0: there is none */
static int grpo_reader_of_(grpo_status st, const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage) {
    const int what = grpo_what_of_(st);
    int n, of_loss;
    const grpo_field *f = grpo_fields(&n);
    if (!obj || !batch || !grpo_status_is(st, GRPO_NULL) || what < GRPO_AT_logp_ || what > GRPO_AT_divergence_old_) return 0;
    of_loss = grpo_refused_advantages_(obj, batch) != st;
    if (of_loss && grpo_refused_loss_(obj, batch, advantage, NULL, NULL) != st) return 0;
    for (int k = 0; k < n; k++) {
        grpo_objective other = *obj;
        memset((char *)&other + f[k].offset, 0, f[k].n_choices ? sizeof(int) : sizeof(double));
        if (grpo_objective_get(obj, &f[k]) == 0 || grpo_objective_check(&other)) continue;
        if ((of_loss ? grpo_refused_loss_(&other, batch, advantage, NULL, NULL) : grpo_refused_advantages_(&other, batch)) != st)
            return k + 1;
    }
    return 0;
}

/* says which setting reads an array that is missing */
static void grpo_say_reader_(grpo_text_ *to, int field, const grpo_objective *obj) {
    const grpo_field *f = grpo_field_at_(field);
    if (!f) return;
    grpo_say_(to, "; ");
    grpo_say_(to, f->path);
    grpo_say_(to, "=");
    grpo_say_value_(to, field, grpo_objective_get(obj, f));
    grpo_say_(to, " reads it");
}

const char *grpo_fault_message(grpo_status st, const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                               char *buffer, size_t size) {
    const grpo_fault f = grpo_fault_of(st, obj, batch, advantage);
    grpo_text_ to;
    if (size == 0) return "";
    to.buffer = buffer; to.room = size - 1;
    *buffer = 0;
    grpo_say_fault_(&to, st, &f);
    grpo_say_reader_(&to, grpo_reader_of_(st, obj, batch, advantage), obj);
    return buffer;
}

/* fills in a size or temperature, and what it is compared with */
static void grpo_take_logits_(grpo_status st, const grpo_logits *x, const grpo_batch *batch, grpo_fault *f) {
    switch (grpo_what_of_(st)) {
    case GRPO_AT_logits_rows_:        grpo_fault_value_(f, (double)x->rows); break;
    case GRPO_AT_logits_vocab_:       grpo_fault_value_(f, (double)x->vocab); break;
    case GRPO_AT_logits_temperature_: grpo_fault_value_(f, x->temperature); break;
    default: break;
    }
    if (grpo_other_of_(st) == GRPO_AT_logits_stride_) grpo_fault_other_(f, (double)x->stride);
    if (batch && grpo_other_of_(st) == GRPO_AT_n_tokens_) grpo_fault_other_(f, (double)batch->n_tokens);
}

const char *grpo_logits_fault_message(grpo_status st, const grpo_logits *x, const grpo_batch *batch, char *buffer, size_t size) {
    grpo_fault f = grpo_fault_of(st, NULL, batch, NULL);
    const int what = grpo_what_of_(st), of_logits = what == GRPO_AT_logits_logits_;
    int64_t row = !x || (!of_logits && what != GRPO_AT_logits_target_) ? -1 : of_logits && x->stride > 0 ? f.index / x->stride : f.index;
    char help[GRPO_MESSAGE_SIZE];
    grpo_text_ to;
    int values;
    if (size == 0) return "";
    to.buffer = buffer; to.room = size - 1;
    *buffer = 0;
    if (f.index < 0 || (x && row >= x->rows)) row = -1;
    if (x) grpo_take_logits_(st, x, batch, &f);
    if (row >= 0 && batch) grpo_place_token_(batch, row, &f);
    if (row >= 0 && !of_logits && x->target) grpo_fault_value_(&f, (double)x->target[row]);
    values = grpo_say_status_(&to, st, &f, help);
    if (row >= 0 && !of_logits) grpo_say_count_(&to, ", and the vocabulary has ", x->vocab, " entries");
    if (row >= 0 && of_logits && x->stride > 0) {
        grpo_say_count_(&to, ": row ", row, "");
        grpo_say_count_(&to, ", vocabulary entry ", f.index % x->stride, "");
    }
    grpo_say_place_(&to, values || of_logits ? "; " : ": ", &f);
    return buffer;
}

/* a sentence of GRPO_LINT_RULES, with its values */
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

GRPO_C_END_
#endif /* GRPO_LINT_IMPLEMENTATION */
