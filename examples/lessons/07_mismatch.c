/* Lesson 7: the sampler is not quite the policy.   Licence: MIT-0
 * E_q[(p/q) A d log p] = E_p[A d log p], p the policy by the trainer and q by the engine that sampled; truncated: min(p/q, C)
 * TIS: Yao et al., "Your Efficient RL Framework Secretly Brings You Off-Policy RL Training", 2025; masked outside [1/2, 5]: IcePop,
 * arXiv 2510.18855 */
#include <math.h>
#include <stdio.h>

enum { V = 4 };
static double ignored(double v) { return v > 0; }
static double full(double v) { return v; }
static double truncated(double v) { return v > 2 ? 2 : v; }
static double masked(double v) { return v < 0.5 || v > 5 ? 0 : v; }

/* no sampling: every mean is a sum over the tokens.  The gradient is d E_p[A]/d logit of token 0 */
static void compare(const char *name, const double p[V], const double q[V], const double A[V]) {
    double (*weight[])(double) = { ignored, full, truncated, masked };
    const char *who[] = { "1", "p/q", "min(p/q, 2)", "p/q in [1/2, 5], or 0" };
    double right = 0;
    for (int v = 0; v < V; v++) right += p[v] * A[v] * ((v == 0) - p[0]);
    printf("%s; the gradient by the logit of token 0 ought to be %.4f\n", name, right);
    for (int k = 0; k < 4; k++) {
        double mean = 0, square = 0;
        for (int v = 0; v < V; v++) {
            const double x = weight[k](p[v] / q[v]) * A[v] * ((v == 0) - p[0]);
            mean += q[v] * x;
            square += q[v] * x * x;
        }
        printf("  weight %-22s mean %7.4f   error of the mean %7.4f   std of a sample %7.4f\n", who[k], mean, mean - right,
               sqrt(square - mean * mean));
    }
}

int main(void) {
    const double A[V] = { 1, -0.5, -0.5, 0.8 };
    const double p[V] = { 0.50, 0.30, 0.15, 0.05 };
    const double q_near[V] = { 0.51, 0.30, 0.145, 0.045 }, q_far[V] = { 0.60, 0.22, 0.179, 0.001 };
    compare("close: rounding to fewer bits", p, q_near, A);
    compare("far: one token nearly lost", p, q_far, A);
    return 0;
}
