// SPDX-License-Identifier: MIT-0
// RLOO, REINFORCE leave-one-out. arXiv 2402.14740 (Ahmadian et al.): whole responses as actions, the others as the baseline.
//
// n responses of at most T tokens; group[i] is the number of the prompt that response i answers;
// mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp, logp_old, logp_ref: log-probabilities of the tokens under the policy being trained, the one that sampled, and the reference;
// grad[i][t] = d loss / d logp[i][t].

// R(x, y) = r(x, y) - beta log(pi(y|x) / pi_ref(y|x)), then A_i = R_i - 1/(k - 1) sum_(j != i) R_j.
// The paper does not say what a lone response gets (here 0).
void rloo_advantage(int n, int T, int group[n], double reward[n], int mask[n][T], double logp_old[n][T], double logp_ref[n][T],
        double beta, double A[n][T]) {
    for (int i = 0; i < n; i++) {
        double own = 0, others = 0, k = 0;
        for (int j = 0; j < n; j++) {
            if (group[j] != group[i]) continue;
            double R = reward[j];
            for (int t = 0; t < T; t++)
                if (mask[j][t]) R -= beta * (logp_old[j][t] - logp_ref[j][t]);
            k += 1;
            if (j == i) own = R;
            else others += R;
        }
        for (int t = 0; t < T; t++)
            A[i][t] = mask[i][t] && k > 1 ? own - others / (k - 1) : 0;
    }
}

// gradient estimate: 1/k sum_i A_i grad log pi(y_i|x), log pi(y|x) = sum_t log pi(y_t|x, y_<t); loss = -(1/n) sum_i A_i log pi(y_i|x)
double rloo_loss(int n, int T, double A[n][T], int mask[n][T], double logp[n][T], double grad[n][T]) {
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
