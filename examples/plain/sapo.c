// SPDX-License-Identifier: MIT-0
// SAPO, soft adaptive policy optimization. arXiv 2511.20347: equations 5 to 7.
//
// n responses of at most T tokens; group[i] is the number of the prompt that response i answers;
// mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp, logp_old: log-probabilities of the tokens under pi_theta and pi_old; grad[i][t] = d loss / d logp[i][t].
#include <math.h>

// As in GRPO: A_it = (r_i - mean(r)) / std(r) over the responses to the same prompt.
// The paper does not say what std divides by (here G - 1), nor what A is where std is 0 or there is one response (here 0).
void sapo_advantage(int n, int T, int group[n], double reward[n], int mask[n][T], double A[n][T]) {
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

// Equation 5: J = 1/G sum_i 1/|y_i| sum_t f(ratio) A, loss = -J
double sapo_loss(int n, int T, double A[n][T], int mask[n][T], double logp[n][T], double logp_old[n][T], double tau_pos,
        double tau_neg, double grad[n][T]) {
    double loss = 0;
    for (int i = 0; i < n; i++) {
        double length = 0; // |y_i|
        for (int t = 0; t < T; t++)
            length += mask[i][t];
        for (int t = 0; t < T; t++) {
            grad[i][t] = 0;
            if (!mask[i][t]) continue;

            double ratio = exp(logp[i][t] - logp_old[i][t]);
            double tau = A[i][t] > 0 ? tau_pos : tau_neg;         // equation 7
            double p = 1 / (1 + exp(-tau * (ratio - 1)));         // sigmoid
            double f = 4 / tau * p;                               // equation 6
            double f_grad = 4 * p * (1 - p) * ratio;              // d f / d logp: 1 on policy, whatever tau

            loss -= f * A[i][t] / (n * length);
            grad[i][t] = -f_grad * A[i][t] / (n * length);
        }
    }
    return loss;
}
