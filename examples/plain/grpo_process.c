// SPDX-License-Identifier: MIT-0
// GRPO with process supervision. DeepSeekMath, arXiv 2402.03300: equations 3 and 4, advantages of section 4.1.3.
//
// n responses of at most T tokens; group[i] is the number of the prompt that response i answers;
// mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp, logp_old, logp_ref: log-probabilities of the tokens under pi_theta, pi_old, pi_ref; grad[i][t] = d loss / d logp[i][t].
#include <math.h>

// Section 4.1.3: R is the set of the rewards of all steps of the responses to the same prompt, a step's reward standing at its last
// token (step_end). A_it is the sum over the steps that end at t or later of (r - mean(R)) / std(R).
// The paper does not say what std divides by (here the number of steps - 1), nor what A is where std is 0 or there is one step (here 0).
void grpo_process_advantage(int n, int T, int group[n], double step_reward[n][T], int step_end[n][T], int mask[n][T], double A[n][T]) {
    for (int i = 0; i < n; i++) {
        double steps = 0, mean = 0, variance = 0;
        for (int j = 0; j < n; j++)
            for (int t = 0; t < T; t++)
                if (group[j] == group[i] && mask[j][t] && step_end[j][t]) {
                    steps += 1;
                    mean += step_reward[j][t];
                }
        mean /= steps;
        for (int j = 0; j < n; j++)
            for (int t = 0; t < T; t++)
                if (group[j] == group[i] && mask[j][t] && step_end[j][t] && steps > 1)
                    variance += (step_reward[j][t] - mean) * (step_reward[j][t] - mean) / (steps - 1);
        double std = sqrt(variance), later = 0;
        for (int t = T - 1; t >= 0; t--) {
            if (mask[i][t] && step_end[i][t] && std > 0) later += (step_reward[i][t] - mean) / std;
            A[i][t] = mask[i][t] ? later : 0;
        }
    }
}

// Equation 3: J = 1/G sum_i 1/|o_i| sum_t { min[ratio A, clip(ratio, 1 - epsilon, 1 + epsilon) A] - beta KL }, loss = -J
double grpo_process_loss(int n, int T, double A[n][T], int mask[n][T], double logp[n][T], double logp_old[n][T], double logp_ref[n][T],
        double epsilon, double beta, double grad[n][T]) {
    double loss = 0;
    for (int i = 0; i < n; i++) {
        double length = 0; // |o_i|
        for (int t = 0; t < T; t++)
            length += mask[i][t];
        for (int t = 0; t < T; t++) {
            grad[i][t] = 0;
            if (!mask[i][t]) continue;

            double ratio = exp(logp[i][t] - logp_old[i][t]);
            double clipped = fmin(fmax(ratio, 1 - epsilon), 1 + epsilon);
            double surrogate = fmin(ratio * A[i][t], clipped * A[i][t]);
            double surrogate_grad = ratio * A[i][t] <= clipped * A[i][t] ? ratio * A[i][t] : 0; // d ratio / d logp = ratio; 0 if clipped

            double x = logp_ref[i][t] - logp[i][t]; // log(pi_ref / pi_theta)
            double kl = exp(x) - x - 1;             // equation 4
            double kl_grad = 1 - exp(x);

            loss -= (surrogate - beta * kl) / (n * length);
            grad[i][t] = -(surrogate_grad - beta * kl_grad) / (n * length);
        }
    }
    return loss;
}
