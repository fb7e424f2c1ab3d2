// SPDX-License-Identifier: MIT-0
// FlowRL, matching reward distributions. arXiv 2509.15207: equation 6.
//
// n responses of at most T tokens; group[i] is the number of the prompt that response i answers;
// mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// log_Z[g] is the log of the learned partition function of prompt g; logp, logp_old, logp_ref: log-probabilities of the tokens under
// pi_theta, pi_old, pi_ref; grad[i][t] = d loss / d logp[i][t], grad_log_Z[g] = d loss / d log_Z[g].
#include <math.h>

// r_i hat = (r_i - mean(r)) / std(r) over the responses to the same prompt.
// The paper does not say what std divides by (here G - 1), nor what A is where std is 0 or there is one response (here 0).
void flowrl_advantage(int n, int group[n], double reward[n], double A[n]) {
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

// Equation 6: L = w (log Z(x) + 1/|y| log pi_theta(y) - beta r hat - 1/|y| log pi_ref(y))^2, the mean over responses, with
// w = clip(pi_theta(y) / pi_old(y), w_low, w_high), 1 - epsilon and 1 + epsilon in the paper, a constant to the gradient.
double flowrl_loss(int n, int T, int groups, int group[n], double A[n], double log_Z[groups], int mask[n][T], double logp[n][T],
        double logp_old[n][T], double logp_ref[n][T], double beta, double w_low, double w_high, double grad[n][T],
        double grad_log_Z[groups]) {
    double loss = 0;
    for (int g = 0; g < groups; g++)
        grad_log_Z[g] = 0;
    for (int i = 0; i < n; i++) {
        double length = 0, log_ratio = 0, log_ref_ratio = 0; // |y|, log(pi_theta(y) / pi_old(y)), log(pi_theta(y) / pi_ref(y))
        for (int t = 0; t < T; t++) {
            grad[i][t] = 0;
            if (!mask[i][t]) continue;
            length += 1;
            log_ratio += logp[i][t] - logp_old[i][t];
            log_ref_ratio += logp[i][t] - logp_ref[i][t];
        }
        if (length == 0) continue;

        double w = fmin(fmax(exp(log_ratio), w_low), w_high);
        double delta = log_Z[group[i]] + log_ref_ratio / length - beta * A[i];
        loss += w * delta * delta / n;
        for (int t = 0; t < T; t++)
            if (mask[i][t]) grad[i][t] = 2 * w * delta / length / n;
        grad_log_Z[group[i]] += 2 * w * delta / n;
    }
    return loss;
}
