// SPDX-License-Identifier: MIT-0
// PPO, proximal policy optimization. arXiv 1707.06347: equation 7, with the advantages of equations 11 and 12.
//
// n responses of at most T tokens; mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp, logp_old: log-probabilities of the tokens under pi_theta and pi_old; value: the critic's V(s_t);
// grad[i][t] = d loss / d logp[i][t].
#include <math.h>

// Equations 11 and 12: A_t = delta_t + (gamma lambda) delta_(t+1) + ..., delta_t = r_t + gamma V(s_(t+1)) - V(s_t).
// The reward of the response is that of its last token; after it V is 0. Padding in the middle is no step.
void ppo_advantage(int n, int T, double reward[n], double value[n][T], int mask[n][T], double gamma, double lambda,
        double A[n][T]) {
    for (int i = 0; i < n; i++) {
        double next_value = 0, next_A = 0, r = reward[i];
        for (int t = T - 1; t >= 0; t--) {
            A[i][t] = 0;
            if (!mask[i][t]) continue;
            double delta = r + gamma * next_value - value[i][t]; // equation 12
            A[i][t] = delta + gamma * lambda * next_A;           // equation 11
            next_value = value[i][t];
            next_A = A[i][t];
            r = 0;
        }
    }
}

// Equation 7: L_CLIP = E_t min[ratio A, clip(ratio, 1 - epsilon, 1 + epsilon) A], the mean over all tokens; loss = -L_CLIP
double ppo_loss(int n, int T, double A[n][T], int mask[n][T], double logp[n][T], double logp_old[n][T], double epsilon,
        double grad[n][T]) {
    double tokens = 0, loss = 0;
    for (int i = 0; i < n; i++)
        for (int t = 0; t < T; t++)
            tokens += mask[i][t];
    for (int i = 0; i < n; i++)
        for (int t = 0; t < T; t++) {
            grad[i][t] = 0;
            if (!mask[i][t]) continue;

            double ratio = exp(logp[i][t] - logp_old[i][t]);
            double clipped = fmin(fmax(ratio, 1 - epsilon), 1 + epsilon);
            double surrogate = fmin(ratio * A[i][t], clipped * A[i][t]);
            double surrogate_grad = ratio * A[i][t] <= clipped * A[i][t] ? ratio * A[i][t] : 0; // d ratio / d logp = ratio; 0 if clipped

            loss -= surrogate / tokens;
            grad[i][t] = -surrogate_grad / tokens;
        }
    return loss;
}
