// SPDX-License-Identifier: MIT-0
// CISPO, clipped importance-sampling-weight policy optimization. MiniMax-M1, arXiv 2506.13585: equations 4 and 5.
//
// n responses of at most T tokens; group[i] is the number of the prompt that response i answers;
// mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp, logp_old: log-probabilities of the tokens under pi_theta and pi_old; grad[i][t] = d loss / d logp[i][t].
#include <math.h>

// As in GRPO: A_it = (r_i - mean(r)) / std(r) over the responses to the same prompt.
// The paper does not say what std divides by (here G - 1), nor what A is where std is 0 or there is one response (here 0).
void cispo_advantage(int n, int T, int group[n], double reward[n], int mask[n][T], double A[n][T]) {
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

// Equation 4: J = E_prompts 1/sum_i |o_i| sum_i sum_t sg[weight] A log pi_theta, loss = -J. The paper sets epsilon_low so large
// that the weight has no lower bound (a ratio is positive, so any epsilon_low >= 1 will do) and does not print epsilon_high.
double cispo_loss(int n, int T, int groups, int group[n], double A[n][T], int mask[n][T], double logp[n][T], double logp_old[n][T],
        double epsilon_low, double epsilon_high, double grad[n][T]) {
    double loss = 0;
    for (int i = 0; i < n; i++) {
        double tokens = 0; // sum_j |o_j| over the responses to the same prompt
        for (int j = 0; j < n; j++)
            for (int t = 0; t < T; t++)
                if (group[j] == group[i]) tokens += mask[j][t];
        for (int t = 0; t < T; t++) {
            grad[i][t] = 0;
            if (!mask[i][t]) continue;

            double ratio = exp(logp[i][t] - logp_old[i][t]);
            double weight = fmin(fmax(ratio, 1 - epsilon_low), 1 + epsilon_high); // equation 5; a constant to the gradient

            loss -= weight * A[i][t] * logp[i][t] / (groups * tokens);
            grad[i][t] = -weight * A[i][t] / (groups * tokens);
        }
    }
    return loss;
}
