// SPDX-License-Identifier: MIT-0
// REINFORCE++. arXiv 2501.03262 (version 9), equations 1, 4, 5: token rewards with a KL, returns, batch-normalised advantages, clip.
//
// n responses of at most T tokens; mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp, logp_old, logp_ref: log-probabilities of the tokens under pi_theta, pi_old, pi_ref; grad[i][t] = d loss / d logp[i][t].
#include <math.h>

// Equation 4: A_t = r(x, y) - beta sum_(k >= t) KL(k), KL(k) = log(pi_old(y_k) / pi_ref(y_k)). Equation 5: (A - mean(A)) / (std(A) +
// epsilon), over all tokens of the batch; epsilon has no number (here 0).
// The paper does not say what std divides by (here the tokens - 1), nor what A is where std is 0 (here 0).
void reinforce_plus_plus_advantage(int n, int T, double reward[n], int mask[n][T], double logp_old[n][T], double logp_ref[n][T],
        double beta, double A[n][T]) {
    double tokens = 0, mean = 0, variance = 0;
    for (int i = 0; i < n; i++) {
        double remaining = reward[i]; // the return from t on
        for (int t = T - 1; t >= 0; t--) {
            A[i][t] = 0;
            if (!mask[i][t]) continue;
            remaining -= beta * (logp_old[i][t] - logp_ref[i][t]);
            A[i][t] = remaining;
            tokens += 1;
            mean += remaining;
        }
    }
    mean /= tokens;
    for (int i = 0; i < n; i++)
        for (int t = 0; t < T; t++)
            if (mask[i][t] && tokens > 1) variance += (A[i][t] - mean) * (A[i][t] - mean) / (tokens - 1);
    double std = sqrt(variance);
    for (int i = 0; i < n; i++)
        for (int t = 0; t < T; t++)
            if (mask[i][t]) A[i][t] = std > 0 ? (A[i][t] - mean) / std : 0;
}

// Equation 1: J = E 1/|o_i| sum_t min[ratio A, clip(ratio, 1 - epsilon, 1 + epsilon) A], loss = -J
double reinforce_plus_plus_loss(int n, int T, double A[n][T], int mask[n][T], double logp[n][T], double logp_old[n][T],
        double epsilon, double grad[n][T]) {
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

            loss -= surrogate / (n * length);
            grad[i][t] = -surrogate_grad / (n * length);
        }
    }
    return loss;
}
