/* grpo_shared_mixture.h - one token's term of the generalised Jensen-Shannon divergence.
 * Internal: include the headers that need it.
 *
 * p the teacher's probability, q the student's, M = beta p + (1 - beta) q (GKD, 2306.13649, eq. 1). */
#ifndef GRPO_SHARED_MIXTURE_H
#define GRPO_SHARED_MIXTURE_H

#include "../grpo.h"

GRPO_C_BEGIN_

/* log(rest + w e^x), rest = 1 - w: log(M/p) for x = log(q/p) and w = 1 - beta; log(M/q) for x = log(p/q) and w = beta */
GRPO_FN double grpo_mixture_log_(grpo_dd x, double w, double rest) {
    const double e = w * grpo_exp_minus_one(x);
    if (e < -0.5) return log(rest + w * grpo_exp(x));
    return grpo_is_finite(e) ? log1p(e) : x.hi + log(w);
}

/* beta p log(p/M) + (1 - beta) q log(q/M), given over_p = log(M/p) and over_q = log(M/q) */
GRPO_FN double grpo_mixture_term_(double p, double q, double over_p, double over_q, double beta) {
    return grpo_plus(-grpo_times(beta * p, over_p), -grpo_times((1 - beta) * q, over_q));
}

GRPO_C_END_
#endif /* GRPO_SHARED_MIXTURE_H */
