// SPDX-License-Identifier: MIT-0
// ASPO, asymmetric importance sampling policy optimization. arXiv 2510.06062, and the authors' code (Archer2.0).
//
// n responses of at most T tokens; group[i] is the number of the prompt that response i answers;
// mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp, logp_old, logp_ref: log-probabilities of the tokens under pi_theta, pi_old, pi_ref; grad[i][t] = d loss / d logp[i][t].
#include <math.h>

// A_it = (r_i - mean(r)) / (std(r) + 1e-6) over the responses to the same prompt, std with G - 1; a lone response: mean 0, std 1.
void aspo_advantage(int n, int T, int group[n], double reward[n], int mask[n][T], double A[n][T]) {
    for (int i = 0; i < n; i++) {
        double G = 0, mean = 0, variance = 0;
        for (int j = 0; j < n; j++)
            if (group[j] == group[i]) {
                G += 1;
                mean += reward[j];
            }
        mean = G > 1 ? mean / G : 0;
        for (int j = 0; j < n; j++)
            if (group[j] == group[i] && G > 1) variance += (reward[j] - mean) * (reward[j] - mean) / (G - 1);
        double std = G > 1 ? sqrt(variance) : 1;
        for (int t = 0; t < T; t++)
            A[i][t] = mask[i][t] ? (reward[i] - mean) / (std + 1e-6) : 0;
    }
}

// J = 1/sum |o_i| sum_i sum_t r A - beta KL, loss = -J: the mean over all tokens, and the KL where kl_mask is 1, in the
// code of at most 10 a token. Three steps make r:
// 1. tokens are masked as by PPO's clip; 2. where A > 0 the ratio is flipped, r = pi_old pi_theta / sg[pi_theta^2];
// 3. soft dual clip: an r beyond c becomes sg[c] log pi_theta, which keeps its gradient.
double aspo_loss(int n, int T, double A[n][T], int mask[n][T], double logp[n][T], double logp_old[n][T], double logp_ref[n][T],
        int kl_mask[n][T], double epsilon, double c, double beta, double grad[n][T]) {
    double tokens = 0, loss = 0;
    for (int i = 0; i < n; i++)
        for (int t = 0; t < T; t++)
            tokens += mask[i][t];
    for (int i = 0; i < n; i++)
        for (int t = 0; t < T; t++) {
            grad[i][t] = 0;
            if (!mask[i][t]) continue;

            double ratio = exp(fmin(fmax(logp[i][t] - logp_old[i][t], -20), 20));
            double r = A[i][t] > 0 ? 1 / ratio : ratio, r_grad = r; // step 2; d r / d logp = r for both signs
            if (A[i][t] > 0 && ratio > 1 + epsilon) r = 1 / (1 + epsilon), r_grad = 0; // step 1
            if (A[i][t] < 0 && ratio < 1 - epsilon) r = 1 - epsilon, r_grad = 0;
            if (r > c) r = c * logp[i][t], r_grad = c; // step 3

            double x = logp_ref[i][t] - logp[i][t]; // log(pi_ref / pi_theta)
            double kl = exp(x) - x - 1;
            double kl_grad = 1 - exp(x);
            if (kl > 10) kl = 10, kl_grad = 0;
            loss -= (r * A[i][t] - beta * kl_mask[i][t] * kl) / tokens;
            grad[i][t] = -(r_grad * A[i][t] - beta * kl_mask[i][t] * kl_grad) / tokens;
        }
    return loss;
}
