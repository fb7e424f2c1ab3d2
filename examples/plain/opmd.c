// SPDX-License-Identifier: MIT-0
// OPMD, online policy mirror descent, as Trinity-RFT (and its report, arXiv 2505.17826) has it.
//
// n responses of at most T tokens; group[i] is the number of the prompt that response i answers;
// mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp, logp_ref: log-probabilities of the tokens under the policy being trained and the reference; grad[i][t] = d loss / d logp[i][t].
#include <math.h>

// A_it = (r_i - b) / (1 + tau), b = tau log(1/G sum_j e^(r_j / tau)) over the responses to the same prompt; b = 0 for a lone response
void opmd_advantage(int n, int T, int group[n], double reward[n], int mask[n][T], double tau, double A[n][T]) {
    for (int i = 0; i < n; i++) {
        double G = 0, sum = 0;
        for (int j = 0; j < n; j++)
            if (group[j] == group[i]) {
                G += 1;
                sum += exp(reward[j] / tau);
            }
        double b = G > 1 ? tau * log(sum / G) : 0;
        for (int t = 0; t < T; t++)
            A[i][t] = mask[i][t] ? (reward[i] - b) / (1 + tau) : 0;
    }
}

// The other baseline: b = mean(r)
void opmd_mean_advantage(int n, int T, int group[n], double reward[n], int mask[n][T], double tau, double A[n][T]) {
    for (int i = 0; i < n; i++) {
        double G = 0, mean = 0;
        for (int j = 0; j < n; j++)
            if (group[j] == group[i]) {
                G += 1;
                mean += reward[j];
            }
        mean /= G;
        for (int t = 0; t < T; t++)
            A[i][t] = mask[i][t] ? (reward[i] - (G > 1 ? mean : 0)) / (1 + tau) : 0;
    }
}

// loss = -(mean over all tokens) (A log pi - beta/2 (log(pi / pi_ref))^2): the gradient of the mirror descent step at pi = pi_old, and
// beside it, not divided by 1 + tau, the estimate k2 of the KL divergence from a reference that the code adds by default, beta = 0.001
double opmd_loss(int n, int T, double A[n][T], int mask[n][T], double logp[n][T], double logp_ref[n][T], double beta, double grad[n][T]) {
    double tokens = 0, loss = 0;
    for (int i = 0; i < n; i++)
        for (int t = 0; t < T; t++)
            tokens += mask[i][t];
    for (int i = 0; i < n; i++)
        for (int t = 0; t < T; t++) {
            grad[i][t] = 0;
            if (!mask[i][t]) continue;

            double x = logp[i][t] - logp_ref[i][t];
            double kl = x * x / 2;
            double kl_grad = x;

            loss -= (A[i][t] * logp[i][t] - beta * kl) / tokens;
            grad[i][t] = -(A[i][t] - beta * kl_grad) / tokens;
        }
    return loss;
}
