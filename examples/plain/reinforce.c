// SPDX-License-Identifier: MIT-0
// REINFORCE, Williams 1992 (Machine Learning 8, 229-256), episodic form: d theta = alpha (r - b) sum_t d ln pi(a_t) / d theta.
//
// n responses of at most T tokens; mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp[i][t] is the log-probability of token t under the policy being trained; grad[i][t] = d loss / d logp[i][t].

// The reward of the whole response at each of its tokens; b = 0 (any baseline that does not depend on the response will do).
void reinforce_advantage(int n, int T, double reward[n], int mask[n][T], double A[n][T]) {
    for (int i = 0; i < n; i++)
        for (int t = 0; t < T; t++)
            A[i][t] = mask[i][t] ? reward[i] : 0;
}

// L = -(1/n) sum_i sum_t A_it log pi(o_it): its gradient is minus Williams's step, averaged over n episodes.
double reinforce_loss(int n, int T, double A[n][T], int mask[n][T], double logp[n][T], double grad[n][T]) {
    double loss = 0;
    for (int i = 0; i < n; i++)
        for (int t = 0; t < T; t++) {
            grad[i][t] = 0;
            if (!mask[i][t]) continue;
            loss -= A[i][t] * logp[i][t] / n;
            grad[i][t] = -A[i][t] / n;
        }
    return loss;
}
