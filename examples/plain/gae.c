// SPDX-License-Identifier: MIT-0
// GAE, generalised advantage estimation. arXiv 1506.02438, equation 16; with the length-adaptive lambda of VAPO, arXiv 2504.05118.
//
// n responses of at most T tokens; mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// value[i][t] is the critic's V(s_t): of the state in which token t is chosen.
#include <math.h>

// Equation 16: A_t = sum_(l >= 0) (gamma lambda)^l delta_(t + l), delta_t = r_t + gamma V(s_(t+1)) - V(s_t), as a sum backwards over
// the tokens. The reward of the response is that of its last token; after it V is 0. Padding in the middle is no step.
static void gae(int T, double reward, double value[T], int mask[T], double gamma, double lambda, double A[T]) {
    double next_value = 0, next_A = 0, r = reward;
    for (int t = T - 1; t >= 0; t--) {
        A[t] = 0;
        if (!mask[t]) continue;
        double delta = r + gamma * next_value - value[t];
        A[t] = delta + gamma * lambda * next_A;
        next_value = value[t];
        next_A = A[t];
        r = 0;
    }
}

void gae_advantage(int n, int T, double reward[n], double value[n][T], int mask[n][T], double gamma, double lambda,
        double A[n][T]) {
    for (int i = 0; i < n; i++)
        gae(T, reward[i], value[i], mask[i], gamma, lambda, A[i]);
}

// VAPO, equation 5: lambda = 1 - 1/(alpha l), l the length of the response: 1/(1 - lambda), how far the sum reaches, grows with l.
// The paper does not say what lambda is where that is negative (here 0).
void vapo_advantage(int n, int T, double reward[n], double value[n][T], int mask[n][T], double gamma, double alpha, double A[n][T]) {
    for (int i = 0; i < n; i++) {
        double l = 0;
        for (int t = 0; t < T; t++)
            l += mask[i][t];
        gae(T, reward[i], value[i], mask[i], gamma, fmax(0, 1 - 1 / (alpha * l)), A[i]);
    }
}
