// SPDX-License-Identifier: MIT-0
// DPPO, divergence PPO. arXiv 2602.04879: equation 12, with the masks of equation 13 (total variation) or 14 (KL).
//
// n responses of at most T tokens; group[i] is the number of the prompt that response i answers;
// mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp, logp_rollout: log-probabilities of the tokens under pi and under mu, the engine that sampled; grad[i][t] = d loss / d logp[i][t].
#include <math.h>

// A_it = r_i - mean(r) over the responses to the same prompt: no std
void dppo_advantage(int n, int T, int group[n], double reward[n], int mask[n][T], double A[n][T]) {
    for (int i = 0; i < n; i++) {
        double G = 0, mean = 0;
        for (int j = 0; j < n; j++)
            if (group[j] == group[i]) {
                G += 1;
                mean += reward[j];
            }
        mean /= G;
        for (int t = 0; t < T; t++)
            A[i][t] = mask[i][t] ? reward[i] - mean : 0;
    }
}

// Total variation of {this token, any other} between mu and pi
static double binary_tv(double logp, double logp_rollout) {
    return fabs(exp(logp_rollout) - exp(logp));
}

// KL(mu, pi) of {this token, any other}
static double binary_kl(double logp, double logp_rollout) {
    double p = exp(logp), q = exp(logp_rollout);
    return q * (logp_rollout - logp) + (1 - q) * log((1 - q) / (1 - p));
}

// Equation 12: J = E sum_t M ratio A, ratio = pi / mu, M = 0 where the token is further than delta from mu and A would move it away;
// loss = -J
static double dppo_loss(int n, int T, double A[n][T], int mask[n][T], double logp[n][T], double logp_rollout[n][T], double delta,
        double divergence(double, double), double grad[n][T]) {
    double loss = 0;
    for (int i = 0; i < n; i++)
        for (int t = 0; t < T; t++) {
            grad[i][t] = 0;
            if (!mask[i][t]) continue;

            double ratio = exp(logp[i][t] - logp_rollout[i][t]);
            int away = (A[i][t] > 0 && ratio > 1) || (A[i][t] < 0 && ratio < 1);
            double M = away && divergence(logp[i][t], logp_rollout[i][t]) > delta ? 0 : 1;

            loss -= M * ratio * A[i][t] / n;
            grad[i][t] = -M * ratio * A[i][t] / n;
        }
    return loss;
}

double dppo_tv_loss(int n, int T, double A[n][T], int mask[n][T], double logp[n][T], double logp_rollout[n][T], double delta,
        double grad[n][T]) {
    return dppo_loss(n, T, A, mask, logp, logp_rollout, delta, binary_tv, grad); // equation 13
}

double dppo_kl_loss(int n, int T, double A[n][T], int mask[n][T], double logp[n][T], double logp_rollout[n][T], double delta,
        double grad[n][T]) {
    return dppo_loss(n, T, A, mask, logp, logp_rollout, delta, binary_kl, grad); // equation 14
}
