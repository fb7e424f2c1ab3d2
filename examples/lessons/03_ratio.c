/* Lesson 3: the ratio of a token, of a response, and of a response per token.   Licence: MIT-0
 * w_t = pi(y_t)/pi_old(y_t);  s = (prod_t w_t)^(1/T)     GSPO, arXiv 2507.18071, equation 7 */
#define GRPO_DOUBLE
#define GRPO_NO_ROWS
#define GSPO_IMPLEMENTATION
#include "../../gspo.h"
#include <stdio.h>

enum { LONGEST = 4096, RESPONSES = 1000 };
static double logp[LONGEST], logp_old[LONGEST];

/* the standard deviation of log s over responses of n tokens, each 0.05 more or less probable in its logarithm, by chance */
static double deviation(int64_t n) {
    uint32_t state = 1;
    double square = 0;
    for (int i = 0; i < RESPONSES; i++) {
        for (int64_t t = 0; t < n; t++) logp[t] = -2 + ((state = state * 1664525u + 1013904223u) >> 31 ? 0.05 : -0.05);
        square += pow(gspo_log_ratio(logp, logp_old, NULL, n).hi, 2) / RESPONSES;
    }
    return sqrt(square);
}

int main(void) {
    printf("every token 1 %% more probable, but the last one, which is half as probable\n");
    printf("  tokens  w of a token  w of the last   product of all   s of GSPO   outside [1 - 3e-4, 1 + 4e-4]\n");
    for (int64_t n = 4; n <= LONGEST; n *= 4) {
        grpo_dd log_s;
        for (int64_t t = 0; t < n; t++) {
            logp_old[t] = -2;
            logp[t] = t < n - 1 ? -2 + log(1.01) : -2 + log(0.5);
        }
        log_s = gspo_log_ratio(logp, logp_old, NULL, n);
        printf("  %6d  %12.4f  %13.4f  %15.6g  %10.6f   %s\n", (int)n, exp(logp[0] - logp_old[0]), exp(logp[n - 1] - logp_old[n - 1]),
               exp((double)n * log_s.hi), grpo_exp(log_s), log_s.hi < log(1 - 3e-4) || log_s.hi > log(1 + 4e-4) ? "yes" : "no");
    }
    printf("every token 0.05 more or less probable in its logarithm, by chance\n  tokens  std of log s   0.05/sqrt(T)\n");
    for (int64_t n = 4; n <= LONGEST; n *= 4) printf("  %6d  %12.5f  %13.5f\n", (int)n, deviation(n), 0.05 / sqrt((double)n));
    return 0;
}
