// SPDX-License-Identifier: MIT-0
// GPPO, gradient-preserving clipping. Klear-Reasoner, arXiv 2508.07629: equations 4, 11 and 12.
//
// n responses of at most T tokens; group[i] is the number of the prompt that response i answers;
// mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp, logp_old: log-probabilities of the tokens under pi_theta and pi_old; grad[i][t] = d loss / d logp[i][t].
#include <math.h>

// Equation 4, as in GRPO: A_it = (r_i - mean(r)) / std(r) over the responses to the same prompt, std^2 = 1/G sum_j (r_j - mean(r))^2.
// The paper does not say what A is where std is 0, as it is for a lone response (here 0).
void gppo_advantage(int n, int T, int group[n], double reward[n], int mask[n][T], double A[n][T]) {
    for (int i = 0; i < n; i++) {
        double G = 0, mean = 0, variance = 0;
        for (int j = 0; j < n; j++)
            if (group[j] == group[i]) {
                G += 1;
                mean += reward[j];
            }
        mean /= G;
        for (int j = 0; j < n; j++)
            if (group[j] == group[i]) variance += (reward[j] - mean) * (reward[j] - mean) / G;
        double std = sqrt(variance);
        for (int t = 0; t < T; t++)
            A[i][t] = mask[i][t] && std > 0 ? (reward[i] - mean) / std : 0;
    }
}

// Equation 11: J = E_prompts 1/sum_j |y_j| sum_j sum_t min[ratio A, clip(ratio, low, high) A], loss = -J, with the bounds
// low = (1 - epsilon_low) ratio / sg[ratio] and high = (1 + epsilon_high) ratio / sg[ratio]: constants that have a gradient.
double gppo_loss(int n, int T, int groups, int group[n], double A[n][T], int mask[n][T], double logp[n][T], double logp_old[n][T],
        double epsilon_low, double epsilon_high, double grad[n][T]) {
    double loss = 0;
    for (int i = 0; i < n; i++) {
        double tokens = 0; // sum_j |y_j| over the responses to the same prompt
        for (int j = 0; j < n; j++)
            for (int t = 0; t < T; t++)
                if (group[j] == group[i]) tokens += mask[j][t];
        for (int t = 0; t < T; t++) {
            grad[i][t] = 0;
            if (!mask[i][t]) continue;

            double ratio = exp(logp[i][t] - logp_old[i][t]);
            double F = ratio; // equation 12: what multiplies A in the value, and in the gradient too
            if (A[i][t] > 0 && ratio > 1 + epsilon_high) F = 1 + epsilon_high;
            if (A[i][t] < 0 && ratio < 1 - epsilon_low) F = 1 - epsilon_low;

            loss -= F * A[i][t] / (groups * tokens);
            grad[i][t] = -F * A[i][t] / (groups * tokens);
        }
    }
    return loss;
}
