/* A copy of a case of which arrays, advantages, objective and aggregation can be changed, to compute what a program with a mistake
 * answers. */
#ifndef EDITED_H
#define EDITED_H
#include "computed.h"

typedef struct {
    test_case c;
    grpo_objective obj;
    double *advantage, *chain;          /* (tokens); chain: derivative of the edited log-ratio by the true one */
    double *share;                      /* (sequences) factor of each response's loss, beside the aggregation; NULL: 1 */
    double slope;                       /* derivative of the log-probabilities that are read by the true ones */
    int64_t *origin;                    /* (tokens) the token whose log-probability was moved here, -1: none; NULL: nothing was moved */
    const grpo_real *penalty_logp;      /* NULL: the policy's, logp */
    int policy_aggregation, penalty_aggregation;    /* -1: as in the objective */
    double penalty_value, penalty_gradient, policy_value, policy_gradient, bonus_value;
    double *penalty_share;              /* (tokens) detached factor of each token's penalty; NULL: 1 */
    int empty_is_nan;                   /* 1: the mean of a response without tokens that count is 0/0; 2: in the gradient too */
    const uint8_t *penalty_mask;        /* NULL: the mask */
    int padded;                         /* all rows are as wide as the longest; `narrow` is the batch before */
    grpo_batch narrow;
    int ratio_of_position;              /* 1: the ratio is of the responses at a position, and each has the gradient of all of them */
    double *term_share;                 /* (tokens) factor of the terms in the loss, by advantage and penalty_share; NULL: 1 */
    int both_gradients;                 /* 1: the gradient of the mean log-ratio, and that of each token beside it */
    int ratio_of_all;                   /* 1: masked tokens enter the mean log-ratio, and have its gradient */
    int gradient_bits, policy_bits;     /* of sixteen_bits.h: all of the gradient, or the policy's, is rounded; 0: none */
    double *rounded_ratio;              /* (tokens) NULL, or: the derivative by this ratio is rounded to ratio_bits */
    int ratio_bits;
    int keeps_correction;               /* 1: logp_old - logp_rollout of a rollout correction stays, where only one of them was edited */
    int impossible;                     /* the mistake cannot be made on this case */
    void **memory;
} edited;

edited edited_of(const test_case *c);               /* its memory is freed with case_memory_free */
void *edited_room(edited *s, int64_t count, size_t size);
int64_t edited_tokens(const edited *s);             /* of the batch */

/* replaces an array of the batch by a copy that can be written; returns NULL, and sets impossible, if the batch does not have it */
grpo_real *edited_array(edited *s, const grpo_real **array);
const grpo_real **edited_behaviour(edited *s);      /* the array of the policy that the ratio is taken against */
/* the ratio's denominator, to be written by a mistake that changes the ratio alone: a rollout correction keeps its weight */
grpo_real *edited_denominator(edited *s);
/* moves the other array of the correction's log-ratio as far as the ratio's denominator was moved from `before` */
void edited_keep_correction(edited *s, const grpo_batch *before);
/* gives every response a row as wide as the longest, with zeros where it has no tokens; these do not count */
void edited_pad(edited *s);
double edited_log_ratio(edited *s, int64_t k);      /* of a token, before any clamp */

int edited_counts(const edited *s, int64_t i, int64_t k);       /* does token k of response i count? */
double edited_count(const edited *s, int64_t i);    /* the tokens of response i that count */
double edited_width(const edited *s);               /* the length of the longest response */

#endif
