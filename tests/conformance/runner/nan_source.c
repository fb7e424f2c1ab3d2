/* Where a NaN may come from, by the numbers of the case: the likeliest source first. */
#include "nan_source.h"
#include <math.h>
#include <stddef.h>

const char *const nan_source_words[N_NAN_SOURCES] = {
    "masked tokens hold NaN, and 0 times NaN is NaN: select tokens, do not multiply by the mask",
    "a token has -inf in both log-probabilities, and -inf minus -inf is NaN",
    "0 times infinity is NaN: a ratio or log-probability is infinite where its factor is 0", NULL };

static const grpo_real *behaviour_of(const test_case *c) {
    switch (c->objective.ratio.behaviour) {
    case GRPO_BEHAVIOUR_ROLLOUT: return c->batch.logp_rollout;
    case GRPO_BEHAVIOUR_REF: return c->batch.logp_ref;
    case GRPO_BEHAVIOUR_NONE: return NULL;
    default: return c->batch.logp_old;
    }
}

static int is_nan(const grpo_real *x, int64_t k) { return x && x[k] != x[k]; }
static int is_infinite(const grpo_real *x, int64_t k) { return x && x[k] == x[k] && !(x[k] - x[k] == 0); }

nan_source nan_source_of(const test_case *c, double largest) {
    const grpo_batch *b = &c->batch;
    const grpo_real *old = behaviour_of(c), *ref = b->logp_ref;
    int masked = 0, both = 0, infinite = 0;
    for (int64_t k = 0; k < b->n_tokens; k++) {
        if (b->mask && !b->mask[k]) { masked |= is_nan(b->logp, k) || is_nan(old, k) || is_nan(ref, k); continue; }
        both |= is_infinite(b->logp, k) && (is_infinite(old, k) || is_infinite(ref, k));
        infinite |= is_infinite(b->logp, k) || is_infinite(old, k) || is_infinite(ref, k) || (old && b->logp[k] - old[k] > log(largest));
    }
    return masked ? NAN_OF_MASK : both ? NAN_OF_DIFFERENCE : infinite ? NAN_OF_PRODUCT : NAN_OF_OTHERS;
}
