// SPDX-License-Identifier: MIT-0
// GRPO, group relative policy optimization. DeepSeekMath, arXiv 2402.03300: equations 3 and 4, advantages of section 4.1.2.
//
// n responses of at most T tokens; group[i] is the number of the prompt that response i answers;
// mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp, logp_old, logp_ref: log-probabilities of the tokens under pi_theta, pi_old, pi_ref; grad[i][t] = d loss / d logp[i][t].
#include <math.h>

// Section 4.1.2: A_it = (r_i - mean(r)) / std(r) over the responses to the same prompt.
// The paper does not say what std divides by (here G - 1), nor what A is where std is 0 or there is one response (here 0).
void grpo_advantage(int n, int T, int group[n], double reward[n], int mask[n][T], double A[n][T]) {
    for (int i = 0; i < n; i++) {
        double G = 0, mean = 0, variance = 0;
        for (int j = 0; j < n; j++)
            if (group[j] == group[i]) {
                G += 1;
                mean += reward[j];
            }
        mean /= G;
        for (int j = 0; j < n; j++)
            if (group[j] == group[i] && G > 1) variance += (reward[j] - mean) * (reward[j] - mean) / (G - 1);
        double std = sqrt(variance);
        for (int t = 0; t < T; t++)
            A[i][t] = mask[i][t] && std > 0 ? (reward[i] - mean) / std : 0;
    }
}

// Equation 3: J = 1/G sum_i 1/|o_i| sum_t { min[ratio A, clip(ratio, 1 - epsilon, 1 + epsilon) A] - beta KL }, loss = -J
double grpo_loss(int n, int T, double A[n][T], int mask[n][T], double logp[n][T], double logp_old[n][T], double logp_ref[n][T],
        double epsilon, double beta, double grad[n][T]) {
    double loss = 0;
    for (int i = 0; i < n; i++) {
        double length = 0; // |o_i|
        for (int t = 0; t < T; t++)
            length += mask[i][t];
        for (int t = 0; t < T; t++) {
            grad[i][t] = 0;
            if (!mask[i][t]) continue;

            double ratio = exp(logp[i][t] - logp_old[i][t]);
            double clipped = fmin(fmax(ratio, 1 - epsilon), 1 + epsilon);
            double surrogate = fmin(ratio * A[i][t], clipped * A[i][t]);
            double surrogate_grad = ratio * A[i][t] <= clipped * A[i][t] ? ratio * A[i][t] : 0; // d ratio / d logp = ratio; 0 if clipped

            double x = logp_ref[i][t] - logp[i][t]; // log(pi_ref / pi_theta)
            double kl = exp(x) - x - 1;             // equation 4
            double kl_grad = 1 - exp(x);

            loss -= (surrogate - beta * kl) / (n * length);
            grad[i][t] = -(surrogate_grad - beta * kl_grad) / (n * length);
        }
    }
    return loss;
}
