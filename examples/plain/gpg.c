// SPDX-License-Identifier: MIT-0
// GPG, group policy gradient. arXiv 2504.02546: log-probabilities alone, no ratio, no clip, no KL.
//
// n responses of at most T tokens; group[i] is the number of the prompt that response i answers;
// mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp: log-probabilities of the tokens under the policy being trained; grad[i][t] = d loss / d logp[i][t].

// A_i = alpha (r_i - mean(r)) / F_norm, F_norm = 1; alpha = B / (B - M), B the responses of the batch, M those of prompts whose
// responses all have the same reward, and so no gradient.
void gpg_advantage(int n, int T, int group[n], double reward[n], int mask[n][T], double A[n][T]) {
    double M = 0;
    for (int i = 0; i < n; i++) {
        int equal = 1;
        for (int j = 0; j < n; j++)
            if (group[j] == group[i] && reward[j] != reward[i]) equal = 0;
        M += equal;
    }
    double alpha = M < n ? n / (n - M) : 1;
    for (int i = 0; i < n; i++) {
        double G = 0, mean = 0;
        for (int j = 0; j < n; j++)
            if (group[j] == group[i]) {
                G += 1;
                mean += reward[j];
            }
        mean /= G;
        for (int t = 0; t < T; t++)
            A[i][t] = mask[i][t] ? alpha * (reward[i] - mean) : 0;
    }
}

// J = 1/sum_i |o_i| sum_i sum_t log pi(o_it) A_it, loss = -J. The sum of |o_i| is over the whole batch, as in the authors' code; the
// paper's equation 5 has it for the responses to one prompt.
double gpg_loss(int n, int T, double A[n][T], int mask[n][T], double logp[n][T], double grad[n][T]) {
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
