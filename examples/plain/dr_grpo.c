// SPDX-License-Identifier: MIT-0
// Dr. GRPO, GRPO done right. arXiv 2503.20783, the objective of section 3.2.
//
// n responses of at most T tokens; group[i] is the number of the prompt that response i answers;
// mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp, logp_old: log-probabilities of the tokens under pi_theta and pi_old; grad[i][t] = d loss / d logp[i][t].
#include <math.h>

// A_it = r_i - mean(r) over the responses to the same prompt: no std.
void dr_grpo_advantage(int n, int T, int group[n], double reward[n], int mask[n][T], double A[n][T]) {
    for (int i = 0; i < n; i++) {
        double G = 0, mean = 0;
        for (int j = 0; j < n; j++)
            if (group[j] == group[i]) {
                G += 1;
                mean += reward[j];
            }
        mean /= G;
        for (int t = 0; t < T; t++)
            A[i][t] = mask[i][t] ? reward[i] - mean : 0;
    }
}

// J = 1/G sum_i sum_t min[ratio A, clip(ratio, 1 - epsilon, 1 + epsilon) A]: no 1/|o_i|. Listing 1 and the authors' code
// divide by a constant, the longest that a response may be (generation budget), in place of |o_i|; loss = -J / budget
double dr_grpo_loss(int n, int T, double A[n][T], int mask[n][T], double logp[n][T], double logp_old[n][T],
        double epsilon, double budget, double grad[n][T]) {
    double loss = 0;
    for (int i = 0; i < n; i++)
        for (int t = 0; t < T; t++) {
            grad[i][t] = 0;
            if (!mask[i][t]) continue;

            double ratio = exp(logp[i][t] - logp_old[i][t]);
            double clipped = fmin(fmax(ratio, 1 - epsilon), 1 + epsilon);
            double surrogate = fmin(ratio * A[i][t], clipped * A[i][t]);
            double surrogate_grad = ratio * A[i][t] <= clipped * A[i][t] ? ratio * A[i][t] : 0; // d ratio / d logp = ratio; 0 if clipped

            loss -= surrogate / (n * budget);
            grad[i][t] = -surrogate_grad / (n * budget);
        }
    return loss;
}
