// SPDX-License-Identifier: MIT-0
// IcePop, Ring-1T, arXiv 2510.18855, equations 1 and 2: GRPO without tokens on which trainer and engine disagree.
//
// n responses of at most T tokens; group[i] is the number of the prompt that response i answers;
// mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp, logp_old, logp_rollout: log-probabilities of the tokens under the policy being trained, under the same at the start of the
// update (the trainer's), and under the engine that sampled; grad[i][t] = d loss / d logp[i][t].
#include <math.h>

// As in GRPO: A_it = (r_i - mean(r)) / std(r) over the responses to the same prompt.
// The paper does not say what std divides by (here G - 1), nor what A is where std is 0 or there is one response (here 0).
void icepop_advantage(int n, int T, int group[n], double reward[n], int mask[n][T], double A[n][T]) {
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

// Equation 1 without its KL (coefficient 0): J = E 1/G sum_i 1/|y_i| sum_t M(k) min[ratio A, clip(ratio, 1 - epsilon, 1 + epsilon) A],
// loss = -J. Equation 2: M(k) = k where alpha <= k <= beta, else 0; k = pi_old / pi_rollout, a constant to the gradient.
double icepop_loss(int n, int T, double A[n][T], int mask[n][T], double logp[n][T], double logp_old[n][T], double logp_rollout[n][T],
        double epsilon, double alpha, double beta, double grad[n][T]) {
    double loss = 0;
    for (int i = 0; i < n; i++) {
        double length = 0; // |y_i|
        for (int t = 0; t < T; t++)
            length += mask[i][t];
        for (int t = 0; t < T; t++) {
            grad[i][t] = 0;
            if (!mask[i][t]) continue;

            double ratio = exp(logp[i][t] - logp_old[i][t]);
            double clipped = fmin(fmax(ratio, 1 - epsilon), 1 + epsilon);
            double surrogate = fmin(ratio * A[i][t], clipped * A[i][t]);
            double surrogate_grad = ratio * A[i][t] <= clipped * A[i][t] ? ratio * A[i][t] : 0; // d ratio / d logp = ratio; 0 if clipped

            double k = exp(logp_old[i][t] - logp_rollout[i][t]);
            double M = k >= alpha && k <= beta ? k : 0;
            loss -= M * surrogate / (n * length);
            grad[i][t] = -M * surrogate_grad / (n * length);
        }
    }
    return loss;
}
