/* The bits of the results of an evaluation: the same report, and hashes (FNV-1a, 64 bits) of numbers, with -0 counted as 0. */
#ifndef RESULT_BITS_H
#define RESULT_BITS_H
#include "../../gspo.h"

/* the members before `overflow` are eight bytes each, without padding */
static inline int same_report(const grpo_report *a, const grpo_report *b) {
    return !memcmp(a, b, offsetof(grpo_report, overflow)) && a->overflow == b->overflow;
}

#define HASH_START UINT64_C(14695981039346656037)

static inline uint64_t hash_bytes(uint64_t hash, const void *data, size_t size) {
    const unsigned char *byte = (const unsigned char *)data;
    size_t k;
    for (k = 0; k < size; k++) hash = (hash ^ byte[k]) * UINT64_C(1099511628211);
    return hash;
}

static inline uint64_t hash_number(uint64_t hash, double x) {
    if (x == 0) x = 0;                                             /* -0 too */
    return hash_bytes(hash, &x, sizeof x);
}

static inline uint64_t hash_array(uint64_t hash, const grpo_real *x, int64_t n) {
    int64_t k;
    for (k = 0; k < n; k++) hash = hash_number(hash, (double)x[k]);
    return hash;
}

static inline uint64_t hash_report(uint64_t hash, const grpo_report *r) {
    const double number[] = { r->loss, r->policy_loss, r->penalty_loss, r->clip_fraction, r->clip_fraction_low, r->clip_fraction_high,
        r->clip_fraction_dual, r->ratio_mean, r->ratio_min, r->ratio_max, r->ess, r->approx_kl_k1, r->approx_kl_k3, r->kl_k1, r->kl_k2,
        r->kl_k3, r->entropy, r->rollout_is_mean, (double)r->tokens, (double)r->sequences, (double)r->groups, (double)r->masked_tokens,
        (double)r->rejected_tokens, (double)r->degenerate_groups, (double)r->overflow };
    size_t k;
    for (k = 0; k < sizeof number / sizeof *number; k++) hash = hash_number(hash, number[k]);
    return hash;
}
#endif
