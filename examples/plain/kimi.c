// SPDX-License-Identifier: MIT-0
// Kimi k1.5, arXiv 2501.12599, section 2.3.2, and Kimi K2, arXiv 2507.20534, section 3.2.3: policy optimization by a squared loss.
//
// n responses of at most T tokens; group[i] is the number of the prompt that response i answers;
// mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp, logp_old: log-probabilities of the tokens under pi_theta and pi_old; grad[i][t] = d loss / d logp[i][t].
#include <math.h>

// k1.5: r_i - tau log Z, tau log Z = tau log(1/k sum_j e^(r_j / tau)) over the responses to the same prompt
void kimi_k15_advantage(int n, int group[n], double reward[n], double tau, double A[n]) {
    for (int i = 0; i < n; i++) {
        double k = 0, sum = 0;
        for (int j = 0; j < n; j++)
            if (group[j] == group[i]) {
                k += 1;
                sum += exp(reward[j] / tau);
            }
        A[i] = reward[i] - tau * log(sum / k);
    }
}

// K2: r_i - mean(r)
void kimi_k2_advantage(int n, int group[n], double reward[n], double A[n]) {
    for (int i = 0; i < n; i++) {
        double k = 0, mean = 0;
        for (int j = 0; j < n; j++)
            if (group[j] == group[i]) {
                k += 1;
                mean += reward[j];
            }
        mean /= k;
        A[i] = reward[i] - mean;
    }
}

// L = 1/k sum_i ( A_i - tau log(pi_theta(y_i) / pi_old(y_i)) )^2, the probabilities of whole responses. The gradient that the k1.5 paper
// prints is this one without the factor -2 tau, and with mean(r) in place of tau log Z.
double kimi_loss(int n, int T, double A[n], int mask[n][T], double logp[n][T], double logp_old[n][T], double tau, double grad[n][T]) {
    double loss = 0;
    for (int i = 0; i < n; i++) {
        double length = 0, log_ratio = 0;
        for (int t = 0; t < T; t++)
            if (mask[i][t]) {
                length += 1;
                log_ratio += logp[i][t] - logp_old[i][t];
            }
        double residual = A[i] - tau * log_ratio;
        if (length > 0) loss += residual * residual / n;
        for (int t = 0; t < T; t++)
            grad[i][t] = mask[i][t] ? -2 * tau * residual / n : 0;
    }
    return loss;
}
