// SPDX-License-Identifier: MIT-0
// GSPO, group sequence policy optimization. arXiv 2507.18071, equations 5 to 7; gradient: equations 8 to 10.
//
// n responses of at most T tokens; group[i] is the number of the prompt that response i answers;
// mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp, logp_old: log-probabilities of the tokens under pi_theta and pi_old; grad[i][t] = d loss / d logp[i][t].
#include <math.h>

// Equation 6: A_i = (r_i - mean(r)) / std(r) over the responses to the same prompt.
// The paper does not say what std divides by (here G - 1), nor what A is where std is 0 or there is one response (here 0).
void gspo_advantage(int n, int group[n], double reward[n], double A[n]) {
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
        A[i] = std > 0 ? (reward[i] - mean) / std : 0;
    }
}

// Equation 5: J = 1/G sum_i min[s_i A_i, clip(s_i, 1 - epsilon_low, 1 + epsilon_high) A_i], loss = -J
double gspo_loss(int n, int T, double A[n], int mask[n][T], double logp[n][T], double logp_old[n][T],
        double epsilon_low, double epsilon_high, double grad[n][T]) {
    double loss = 0;
    for (int i = 0; i < n; i++) {
        double length = 0, log_ratio = 0; // |y_i|, and log(pi_theta(y_i) / pi_old(y_i))
        for (int t = 0; t < T; t++) {
            grad[i][t] = 0;
            if (!mask[i][t]) continue;
            length += 1;
            log_ratio += logp[i][t] - logp_old[i][t];
        }
        if (length == 0) continue;

        double s = exp(log_ratio / length); // equation 7
        double clipped = fmin(fmax(s, 1 - epsilon_low), 1 + epsilon_high);
        loss -= fmin(s * A[i], clipped * A[i]) / n;
        for (int t = 0; t < T; t++)         // equation 10: every token has the same weight, s_i A_i / |y_i|; 0 if clipped
            if (mask[i][t] && s * A[i] <= clipped * A[i]) grad[i][t] = -s * A[i] / length / n;
    }
    return loss;
}
