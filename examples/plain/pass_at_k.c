// SPDX-License-Identifier: MIT-0
// Pass@k training. arXiv 2508.10751: the analytic advantages of equations 11 to 15, in DAPO's objective.
//
// n responses of at most T tokens; group[i] is the number of the prompt that response i answers;
// mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp, logp_old: log-probabilities of the tokens under pi_theta and pi_old; grad[i][t] = d loss / d logp[i][t].
#include <math.h>

// C(a, b), 0 where b > a or a < 0
static double choose(double a, double b) {
    if (b > a || a < 0) return 0;
    double product = 1;
    for (double j = 1; j <= b; j++)
        product = product * (a - b + j) / j;
    return product;
}

// Equations 11 to 15: N responses to the same prompt, N_neg of them with reward 0 and the others with 1
void pass_at_k_advantage(int n, int T, int group[n], double reward[n], int mask[n][T], double k, double A[n][T]) {
    for (int i = 0; i < n; i++) {
        double N = 0, N_neg = 0;
        for (int j = 0; j < n; j++)
            if (group[j] == group[i]) {
                N += 1;
                if (reward[j] <= 0) N_neg += 1;
            }
        double R = 1 - choose(N_neg, k) / choose(N, k); // the mean reward of k responses
        double sigma = sqrt(R * (1 - R));
        double positive = (1 - R) / sigma;
        double negative = (1 - R - choose(N_neg - 1, k - 1) / choose(N - 1, k - 1)) / sigma;
        for (int t = 0; t < T; t++)
            A[i][t] = mask[i][t] && sigma > 0 ? (reward[i] > 0 ? positive : negative) : 0;
    }
}

// DAPO's: J = E_prompts 1/sum_i |o_i| sum_i sum_t min[ratio A, clip(ratio, 1 - epsilon_low, 1 + epsilon_high) A], loss = -J
double pass_at_k_loss(int n, int T, int groups, int group[n], double A[n][T], int mask[n][T], double logp[n][T],
        double logp_old[n][T], double epsilon_low, double epsilon_high, double grad[n][T]) {
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
