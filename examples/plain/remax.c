// SPDX-License-Identifier: MIT-0
// ReMax. arXiv 2310.10505, algorithm 1: REINFORCE with the reward of the greedy response as the baseline.
//
// n responses of at most T tokens; group[i] is the number of the prompt that response i answers;
// mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// greedy_reward[g] is the reward of the greedy (argmax) response to prompt g; logp: log-probabilities under the policy being trained;
// grad[i][t] = d loss / d logp[i][t].

// A_i = r(x, y_i) - r(x, greedy y)
void remax_advantage(int n, int T, int groups, int group[n], double reward[n], double greedy_reward[groups], int mask[n][T],
        double A[n][T]) {
    for (int i = 0; i < n; i++)
        for (int t = 0; t < T; t++)
            A[i][t] = mask[i][t] ? reward[i] - greedy_reward[group[i]] : 0;
}

// gradient estimate: 1/N sum_i sum_t grad log pi(a_t|x, a_<t) A_i; loss = -(1/n) sum_i sum_t A_i log pi(a_t|x, a_<t)
double remax_loss(int n, int T, double A[n][T], int mask[n][T], double logp[n][T], double grad[n][T]) {
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
