/* Lesson 10: why everything stays a logarithm, and why 32 bits need care.   Licence: MIT-0
 * w = e^y, y = log p - log p_old;  s = e^(mean of y), GSPO, arXiv 2507.18071, equation 7;  k3 = e^-D - 1 + D, D = log p - log p_ref */
#define GRPO_NO_ROWS
#define GSPO_IMPLEMENTATION
#include "../../gspo.h"
#include <stdio.h>

enum { LONGEST = 16384 };
static float logp[LONGEST], logp_old[LONGEST];

int main(void) {
    printf("the ratio of a response, every token 2^-10 more probable in its logarithm: s = 1.000977\n");
    printf("  tokens   product of probabilities       32-bit sums, then the difference   32-bit sum of differences   gspo_log_ratio\n");
    for (int n = 16; n <= LONGEST; n *= 4) {
        float p = 1, p_old = 1, sum = 0, sum_old = 0, sum_of_y = 0;
        int lost = 0;                                       /* the token from which on the product is 0 */
        for (int t = 0; t < n; t++) {
            logp_old[t] = -2.3f - 0.37f * (float)(t % 7);
            logp[t] = logp_old[t] + 1 / 1024.0f;
            p *= expf(logp[t]); p_old *= expf(logp_old[t]);
            sum += logp[t]; sum_old += logp_old[t]; sum_of_y += logp[t] - logp_old[t];
            if (p_old == 0 && !lost) lost = t + 1;
        }
        printf("  %6d   ", n);
        if (p_old > 0) printf("%-28.6f   ", pow((double)p / (double)p_old, 1.0 / n));
        else printf("0 / 0, from token %-10d   ", lost);
        printf("%-32.6f   %-25.6f   %.6f\n", (double)expf((sum - sum_old) / (float)n), (double)expf(sum_of_y / (float)n),
               grpo_exp(gspo_log_ratio(logp, logp_old, NULL, n)));
    }
    printf("\nk3 in 32 bits\n       D   expf(-D) - 1 + D   as it is         error\n");
    for (int k = 0; k <= 5; k++) {
        const float d = (float)pow(10, -k);
        const float usual = expf(-d) - 1 + d;
        const double right = grpo_kl_estimate(GRPO_KL_K3, grpo_dd_of_((double)d)).value;
        printf("  %6.0e   %16.3g   %-10.3g  %10.2f %%\n", (double)d, (double)usual, right, 100 * fabs((double)usual - right) / right);
    }
    printf("\na clipped token: its ratio times 0, as a mask does it, and by a comparison of logarithms\n");
    for (int y = 80; y <= 100; y += 10) {
        const float w = expf((float)y), masked = w * 0.0f;
        const grpo_term term = grpo_ppo_clip(grpo_ratio_of(0, -y), 1, grpo_clip_range(0.2, 0.2));
        printf("  y = %3d   w = %-11.4g   w * 0 = %-4s   %g\n", y, (double)w, masked == masked ? "0" : "NaN", term.d_log_ratio);
    }
    return 0;
}
