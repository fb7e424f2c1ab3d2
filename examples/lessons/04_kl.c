/* Lesson 4: three estimators of one KL divergence.   Licence: MIT-0
 * D = log p - log q of a sample from p:  k1 = D,  k2 = D^2/2,  k3 = e^-D - 1 + D     Schulman, "Approximating KL Divergence", 2020;
 * k3 is equation 4 of DeepSeekMath, arXiv 2402.03300 */
#define GRPO_NO_ROWS
#define GRPO_IMPLEMENTATION
#include "../../grpo.h"
#include <stdio.h>

/* the policy chooses among three tokens; no sampling: every mean is a sum over all tokens */
static void compare(const char *name, const double p[3], const double q[3]) {
    const grpo_kl_kind kind[3] = { GRPO_KL_K1, GRPO_KL_K2, GRPO_KL_K3 };
    double kl = 0, slope[3];
    for (int v = 0; v < 3; v++) kl += p[v] * log(p[v] / q[v]);
    for (int v = 0; v < 3; v++) slope[v] = p[v] * (log(p[v] / q[v]) - kl);       /* d KL / d logit */
    printf("%s: KL %.5f, its gradient by the logits %8.5f %8.5f %8.5f\n", name, kl, slope[0], slope[1], slope[2]);
    for (int k = 0; k < 3; k++) {
        double mean = 0, square = 0, gradient[3] = { 0, 0, 0 };
        for (int v = 0; v < 3; v++) {
            const grpo_kl_term x = grpo_kl_estimate(kind[k], grpo_two_diff(log(p[v]), log(q[v])));
            mean += p[v] * x.value;
            square += p[v] * x.value * x.value;
            for (int u = 0; u < 3; u++) gradient[u] += p[v] * x.derivative * ((u == v) - p[u]);   /* d log p_v / d logit_u */
        }
        for (int u = 0; u < 3; u++) if (fabs(gradient[u]) < 1e-12) gradient[u] = 0;                  /* what rounding left */
        printf("  k%d  mean %.5f  std %.5f  the gradient of the term %8.5f %8.5f %8.5f\n", k + 1, mean, sqrt(square - mean * mean),
               gradient[0], gradient[1], gradient[2]);
    }
}

int main(void) {
    const double q[3] = { 0.5, 0.3, 0.2 }, near[3] = { 0.55, 0.28, 0.17 }, far[3] = { 0.9, 0.08, 0.02 };
    compare("close to the reference", near, q);
    compare("far from it", far, q);
    return 0;
}
