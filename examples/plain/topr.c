// SPDX-License-Identifier: MIT-0
// TOPR, tapered off-policy REINFORCE. arXiv 2503.14286: its gradient, with the bounds 0 and 1.
//
// n responses of at most T tokens; mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp, logp_old: log-probabilities of the tokens under pi and under mu, the policy that sampled; grad[i][t] = d loss / d logp[i][t].
#include <math.h>

// A_i = R(tau_i), positive for good responses and negative for bad ones: no baseline
void topr_advantage(int n, double reward[n], double A[n]) {
    for (int i = 0; i < n; i++)
        A[i] = reward[i];
}

// grad J = sum_(good) mu(tau) R(tau) grad log pi(tau) + sum_(bad) mu(tau) [pi(tau) / mu(tau)]_0^1 R(tau) grad log pi(tau), where
// [x]_0^1 = min(max(x, 0), 1) and pi(tau) is the probability of the whole response.
// loss = -(1/n) sum_i weight_i R_i log pi(tau_i) with constant weights
double topr_loss(int n, int T, double A[n], int mask[n][T], double logp[n][T], double logp_old[n][T], double grad[n][T]) {
    double loss = 0;
    for (int i = 0; i < n; i++) {
        double log_ratio = 0;
        for (int t = 0; t < T; t++)
            if (mask[i][t]) log_ratio += logp[i][t] - logp_old[i][t];
        double weight = A[i] > 0 ? 1 : fmin(fmax(exp(log_ratio), 0), 1);
        for (int t = 0; t < T; t++) {
            grad[i][t] = 0;
            if (!mask[i][t]) continue;
            loss -= weight * A[i] * logp[i][t] / n;
            grad[i][t] = -weight * A[i] / n;
        }
    }
    return loss;
}
