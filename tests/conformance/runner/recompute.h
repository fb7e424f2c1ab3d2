/* Computes the right answer under other conventions: changed fields of the objective, and rules for which there is no field. */
#ifndef RECOMPUTE_H
#define RECOMPUTE_H
#include "answer.h"

typedef struct {
    grpo_objective objective;           /* with the changed fields */
    double row_tokens;                  /* added to the divisor of the mean over a response's tokens */
    double mean_tokens;                 /* ... of the mean over all tokens */
    double level_tokens;                /* ... of the mean log-ratio of a response */
    double whitening_tokens;            /* ... of mean and variance in whitening */
    double pooled_tokens;               /* ... of the clipped mean log-ratio, in which a token with advantage 0 has log-ratio 0 */
    double rejection_of_inverse;        /* not 0: the band of rollout weights is compared with the inverse of the weight; weights that are
                                           not rejected are truncated at the upper bound */
    double penalty_token_mean;          /* not 0: the penalty is a mean over all tokens, whatever the aggregation of the policy's loss */
    double parts_apart;                 /* not 0: the mean over responses is taken within each part of a split */
} conventions;

double *convention_rule(conventions *v, const char *name);      /* the rule of this name; NULL: there is none */

/* 0 if the headers refuse the objective, or a rule cannot be applied to the case */
int recompute(const test_case *c, const conventions *v, stage_kind stage, answer *out);

#endif
