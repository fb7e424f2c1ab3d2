// SPDX-License-Identifier: MIT-0
// DAPO, decoupled clip and dynamic sampling. arXiv 2503.14476: equations 8 and 9, overlong penalty of equation 13.
//
// n responses of at most T tokens; group[i] is the number of the prompt that response i answers;
// mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp, logp_old: log-probabilities of the tokens under pi_theta and pi_old; grad[i][t] = d loss / d logp[i][t].
// Dynamic sampling (the condition of equation 8) keeps prompts whose responses are neither all right nor all wrong; it is the caller's.
#include <math.h>

// Equation 9: A_it = (R_i - mean(R)) / std(R) over the responses to the same prompt, R the reward with the penalty of equation 13.
// The paper does not say what std divides by (here G - 1), nor what A is where std is 0 or there is one response (here 0).
void dapo_advantage(int n, int T, int group[n], double reward[n], int length[n], int mask[n][T], double L_max, double L_cache,
        double A[n][T]) {
    for (int i = 0; i < n; i++) {
        double G = 0, mean = 0, variance = 0, R[n];
        for (int j = 0; j < n; j++) {
            double excess = ((L_max - L_cache) - length[j]) / L_cache; // equation 13: 0, this, or -1
            R[j] = reward[j] + fmax(-1, fmin(0, excess));
            if (group[j] != group[i]) continue;
            G += 1;
            mean += R[j];
        }
        mean /= G;
        for (int j = 0; j < n; j++)
            if (group[j] == group[i] && G > 1) variance += (R[j] - mean) * (R[j] - mean) / (G - 1);
        double std = sqrt(variance);
        for (int t = 0; t < T; t++)
            A[i][t] = mask[i][t] && std > 0 ? (R[i] - mean) / std : 0;
    }
}

// Equation 8: J = E_prompts 1/sum_i |o_i| sum_i sum_t min[ratio A, clip(ratio, 1 - epsilon_low, 1 + epsilon_high) A], loss = -J.
// The sum of |o_i| is over the responses to one prompt. The authors' script, verl and TRL divide by the tokens of the whole batch instead.
double dapo_loss(int n, int T, int groups, int group[n], double A[n][T], int mask[n][T], double logp[n][T], double logp_old[n][T],
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
            double clipped = fmin(fmax(ratio, 1 - epsilon_low), 1 + epsilon_high);
            double surrogate = fmin(ratio * A[i][t], clipped * A[i][t]);
            double surrogate_grad = ratio * A[i][t] <= clipped * A[i][t] ? ratio * A[i][t] : 0; // d ratio / d logp = ratio; 0 if clipped

            loss -= surrogate / (groups * tokens);
            grad[i][t] = -surrogate_grad / (groups * tokens);
        }
    }
    return loss;
}
