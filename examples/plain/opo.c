// SPDX-License-Identifier: MIT-0
// OPO, on-policy RL with optimal reward baseline. arXiv 2505.23585: the baseline that weighs rewards by length.
//
// n responses of at most T tokens; group[i] is the number of the prompt that response i answers;
// mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp: log-probabilities of the tokens under the policy being trained; grad[i][t] = d loss / d logp[i][t].

// A_i = r_i - b, b = sum_j |y_j| r_j / sum_j |y_j| over the responses to the same prompt: no std
void opo_advantage(int n, int T, int group[n], double reward[n], int mask[n][T], double A[n][T]) {
    for (int i = 0; i < n; i++) {
        double weighted = 0, tokens = 0;
        for (int j = 0; j < n; j++)
            for (int t = 0; t < T; t++)
                if (group[j] == group[i] && mask[j][t]) {
                    weighted += reward[j];
                    tokens += 1;
                }
        for (int t = 0; t < T; t++)
            A[i][t] = mask[i][t] ? reward[i] - weighted / tokens : 0;
    }
}

// Exactly on-policy, so there is no ratio and no clip: loss = -(mean over all tokens) A log pi, as the authors' code. The paper's own
// estimate is a mean over responses, of A log pi(y_i) with the log-probability of the whole response.
double opo_loss(int n, int T, double A[n][T], int mask[n][T], double logp[n][T], double grad[n][T]) {
    double tokens = 0, loss = 0;
    for (int i = 0; i < n; i++)
        for (int t = 0; t < T; t++)
            tokens += mask[i][t];
    for (int i = 0; i < n; i++)
        for (int t = 0; t < T; t++) {
            grad[i][t] = 0;
            if (!mask[i][t]) continue;

            loss -= A[i][t] * logp[i][t] / tokens;
            grad[i][t] = -A[i][t] / tokens;
        }
    return loss;
}
