// SPDX-License-Identifier: MIT-0
// GSPO-token. arXiv 2507.18071: equations 13 and 14, gradient: equation 17.
//
// n responses of at most T tokens; group[i] is the number of the prompt that response i answers;
// mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp, logp_old: log-probabilities of the tokens under pi_theta and pi_old; grad[i][t] = d loss / d logp[i][t].
#include <math.h>

// Equation 6: A_it = A_i = (r_i - mean(r)) / std(r) over the responses to the same prompt; any other A_it will do in equation 13.
// The paper does not say what std divides by (here G - 1), nor what A is where std is 0 or there is one response (here 0).
void gspo_token_advantage(int n, int T, int group[n], double reward[n], int mask[n][T], double A[n][T]) {
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

// Equation 13: J = 1/G sum_i 1/|y_i| sum_t min[s_it A_it, clip(s_it, 1 - epsilon_low, 1 + epsilon_high) A_it], loss = -J
double gspo_token_loss(int n, int T, double A[n][T], int mask[n][T], double logp[n][T], double logp_old[n][T],
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
        for (int t = 0; t < T; t++) {
            if (!mask[i][t]) continue;
            double s = exp(log_ratio / length); // equation 14: s_it = sg[s_i] pi_theta(y_it) / sg[pi_theta(y_it)] is s_i, and
            double s_grad = s;                  // d s_it / d logp_it = s_i, d s_it / d logp_ik = 0
            double clipped = fmin(fmax(s, 1 - epsilon_low), 1 + epsilon_high);
            loss -= fmin(s * A[i][t], clipped * A[i][t]) / (n * length);
            if (s * A[i][t] <= clipped * A[i][t]) grad[i][t] = -s_grad * A[i][t] / (n * length); // equation 17; 0 if clipped
        }
    }
    return loss;
}
