// SPDX-License-Identifier: MIT-0
// MaxRL, maximum likelihood reinforcement learning. arXiv 2602.02710, and the authors' code for the surrogate.
//
// n responses of at most T tokens; group[i] is the number of the prompt that response i answers;
// mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp, logp_old: log-probabilities of the tokens under pi_theta and pi_old; grad[i][t] = d loss / d logp[i][t].
#include <math.h>

// A_it = (r_i - r hat) / r hat, r hat = mean(r) over the responses to the same prompt, rewards 0 or 1 (in the code r hat + 1e-6);
// 0 where r hat is 0.
void maxrl_advantage(int n, int T, int group[n], double reward[n], int mask[n][T], double A[n][T]) {
    for (int i = 0; i < n; i++) {
        double G = 0, mean = 0;
        for (int j = 0; j < n; j++)
            if (group[j] == group[i]) {
                G += 1;
                mean += reward[j];
            }
        mean /= G;
        for (int t = 0; t < T; t++)
            A[i][t] = mask[i][t] && mean > 0 ? (reward[i] - mean) / (mean + 1e-6) : 0;
    }
}

// ratio = pi_theta / pi_old, in the code its logarithm bounded to -20 .. 20. PPO's clip, min[ratio A, clip(ratio, 1 - epsilon,
// 1 + epsilon) A], and where A < 0 not below c A (dual clip); the mean over all tokens, loss = -that
double maxrl_loss(int n, int T, double A[n][T], int mask[n][T], double logp[n][T], double logp_old[n][T], double epsilon, double c,
        double grad[n][T]) {
    double tokens = 0, loss = 0;
    for (int i = 0; i < n; i++)
        for (int t = 0; t < T; t++)
            tokens += mask[i][t];
    for (int i = 0; i < n; i++)
        for (int t = 0; t < T; t++) {
            grad[i][t] = 0;
            if (!mask[i][t]) continue;

            double x = logp[i][t] - logp_old[i][t];
            double ratio = exp(fmin(fmax(x, -20), 20));
            double clipped = fmin(fmax(ratio, 1 - epsilon), 1 + epsilon);
            double surrogate = fmin(ratio * A[i][t], clipped * A[i][t]);
            double surrogate_grad = ratio * A[i][t] <= clipped * A[i][t] ? ratio * A[i][t] : 0; // d ratio / d logp = ratio; 0 if clipped
            if (A[i][t] < 0 && ratio > c) surrogate = c * A[i][t], surrogate_grad = 0;
            if (fabs(x) > 20) surrogate_grad = 0;

            loss -= surrogate / tokens;
            grad[i][t] = -surrogate_grad / tokens;
        }
    return loss;
}
