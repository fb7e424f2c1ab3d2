// SPDX-License-Identifier: MIT-0
// GMPO, geometric-mean policy optimization. arXiv 2507.20673: equation 4, advantages of section 2.2.
//
// n responses of at most T tokens; group[i] is the number of the prompt that response i answers;
// mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp, logp_old: log-probabilities of the tokens under pi_theta and pi_old; grad[i][t] = d loss / d logp[i][t].
#include <math.h>

// Section 2.2: A_i = (r_i - mean(r)) / std(r) over the responses to the same prompt.
// The paper does not say what std divides by (here G - 1), nor what A is where std is 0 or there is one response (here 0).
void gmpo_advantage(int n, int group[n], double reward[n], double A[n]) {
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
        A[i] = std > 0 ? (reward[i] - mean) / std : 0;
    }
}

// Equation 4: J = 1/G sum_i { prod_t min[ratio^sgn(A), clip(ratio^sgn(A), e^-epsilon, e^epsilon)]^sgn(A) }^(1/|o_i|) A_i, loss = -J.
// In logarithms, as the paper computes it: the product is a sum, and min[] bounds log ratio above by epsilon where A > 0,
// below by -epsilon where A < 0.
double gmpo_loss(int n, int T, double A[n], int mask[n][T], double logp[n][T], double logp_old[n][T], double epsilon,
        double grad[n][T]) {
    double loss = 0;
    for (int i = 0; i < n; i++) {
        double length = 0, sum = 0, sgn = A[i] > 0 ? 1 : -1;
        for (int t = 0; t < T; t++) {
            grad[i][t] = 0;
            if (!mask[i][t]) continue;
            double log_ratio = logp[i][t] - logp_old[i][t];
            length += 1;
            sum += sgn * fmin(sgn * log_ratio, epsilon);
        }
        if (length == 0) continue;
        double geometric_mean = exp(sum / length);
        loss -= geometric_mean * A[i] / n;
        for (int t = 0; t < T; t++) // a token that is bounded has no gradient, all others have the same
            if (mask[i][t] && sgn * (logp[i][t] - logp_old[i][t]) <= epsilon) grad[i][t] = -geometric_mean * A[i] / length / n;
    }
    return loss;
}
