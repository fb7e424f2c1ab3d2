/* What a program of other conventions answers: another objective, and what no field of an objective holds. */
#ifndef RECOMPUTE_H
#define RECOMPUTE_H
#include "answer.h"

typedef struct {
    grpo_objective objective;           /* with the changed fields */
    double row_tokens;                  /* added to the number of tokens that divides the mean over a response */
    double mean_tokens;                 /* ... the mean over all tokens */
    double level_tokens;                /* ... the mean log-ratio of a response */
    double whitening_tokens;            /* ... the mean and the variance that whiten */
    double pooled_tokens;               /* ... the clipped mean log-ratio, into which a token with advantage 0 enters with log-ratio 0 */
    double rejection_of_inverse;        /* not 0: the band of rollout weights is held against the inverse of the weight; the weight of what
                                           is left is cut at the upper bound */
    double penalty_token_mean;          /* not 0: the penalty is a mean over all tokens, whatever the aggregation of the policy's loss */
    double parts_apart;                 /* not 0: the mean over responses is that of each part of a split, its own */
} conventions;

double *convention_rule(conventions *v, const char *name);      /* one of the numbers above; NULL: there is none of that name */

/* 0: the headers refuse it, or a rule cannot be applied to the case */
int recompute(const test_case *c, const conventions *v, stage_kind stage, answer *out);

#endif
