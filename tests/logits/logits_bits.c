/* logits_bits: prints a hash of the results of rows of logits (sums, log-probabilities, gradients) for each element type, width and
 * temperature.  On one machine these must not depend on compiler and options: bits.sh compares them. */
#define GSPO_IMPLEMENTATION
#define GRPO_LOGITS_IMPLEMENTATION
#define GRPO_NO_ROWS
#include "../../extra/grpo_logits.h"
#include "../support/result_bits.h"
#include <stdio.h>

enum { WIDEST = 33000 };

static double uniform(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* random logits around `middle`: 8 times the mean of three uniform draws */
static void fill(const grpo_logits *x, void *logits, double middle) {
    uint64_t state = 7;
    for (int64_t v = 0; v < x->vocab; v++)
        grpo_put_logit_(x->type, logits, v, middle + 8 * (uniform(&state) + uniform(&state) + uniform(&state) - 1.5));
}

static uint64_t row_hash(const grpo_logits *x) {
    static grpo_real dlogits[WIDEST];
    uint64_t hash = HASH_START;
    grpo_logits_part part;
    grpo_logits_row row;
    if (grpo_logits_row_read(x, 0, &part) || grpo_logits_part_row(&part, x->temperature, &row)) return 0;
    hash = hash_bytes(hash_bytes(hash, &part, offsetof(grpo_logits_part, has_target)), &row, sizeof row);
    for (int with_entropy = 0; with_entropy < 2; with_entropy++) {
        if (grpo_logits_row_gradient(x, 0, &part, -0.75, with_entropy * 0.5, dlogits)) return 0;
        hash = hash_bytes(hash, dlogits, (size_t)x->vocab * grpo_element_size_(x->type));
    }
    return hash;
}

int main(void) {
    static const char *const name[] = { "real", "bfloat16", "float16" };
    static const int64_t vocab[] = { 5, 1500, WIDEST }, target = 3;
    static const double temperature[] = { 1, 0.7 }, middle[] = { 0, 3000 };
    static grpo_real logits[WIDEST];
    for (int k = 0; k < 36; k++) {
        grpo_logits x = { GRPO_LOGITS_REAL, NULL, 1, 0, 0, NULL, NULL, 1, 1 };
        x.type = (grpo_logits_type)(k % 3); x.vocab = x.stride = vocab[k / 3 % 3]; x.temperature = temperature[k / 9 % 2];
        x.logits = logits; x.target = &target;
        fill(&x, logits, middle[k / 18]);
        printf("%s, %d logits around %g, temperature %g: %016llx\n", name[k % 3], (int)x.vocab, middle[k / 18], x.temperature,
               (unsigned long long)row_hash(&x));
    }
    return 0;
}
