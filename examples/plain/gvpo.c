// SPDX-License-Identifier: MIT-0
// GVPO, group variance policy optimization. arXiv 2504.19599, and the authors' code for the divisor.
//
// n responses of at most T tokens; group[i] is the number of the prompt that response i answers;
// mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp, logp_old: log-probabilities of the tokens under pi_theta and pi_old; grad[i][t] = d loss / d logp[i][t].

// The central distance of the rewards: A_i = R_i - mean(R) over the responses to the same prompt
void gvpo_advantage(int n, int group[n], double reward[n], double A[n]) {
    for (int i = 0; i < n; i++) {
        double k = 0, mean = 0;
        for (int j = 0; j < n; j++)
            if (group[j] == group[i]) {
                k += 1;
                mean += reward[j];
            }
        mean /= k;
        A[i] = reward[i] - mean;
    }
}

// L = E_prompts 1/(k - 1) sum_i 1/2 [ (R_theta(y_i) - mean(R_theta)) - (R_i - mean(R)) ]^2, R_theta(y) = beta log(pi_theta(y) / pi_old(y)).
// A lone response has no variance and so no loss. Responses without tokens are not counted in k.
double gvpo_loss(int n, int T, int groups, int group[n], double A[n], int mask[n][T], double logp[n][T], double logp_old[n][T],
        double beta, double grad[n][T]) {
    double loss = 0, R_theta[n], length[n];
    for (int i = 0; i < n; i++) {
        double log_ratio = 0;
        length[i] = 0;
        for (int t = 0; t < T; t++)
            if (mask[i][t]) {
                length[i] += 1;
                log_ratio += logp[i][t] - logp_old[i][t];
            }
        R_theta[i] = beta * log_ratio;
    }
    for (int i = 0; i < n; i++) {
        double k = 0, mean = 0, mean_distance = 0;
        for (int j = 0; j < n; j++)
            if (group[j] == group[i] && length[j] > 0) {
                k += 1;
                mean += R_theta[j];
            }
        mean /= k;
        for (int j = 0; j < n; j++)
            if (group[j] == group[i] && length[j] > 0) mean_distance += ((R_theta[j] - mean) - A[j]) / k;
        double distance = (R_theta[i] - mean) - A[i];
        int counts = length[i] > 0 && k > 1;
        if (counts) loss += distance * distance / 2 / (k - 1) / groups;
        for (int t = 0; t < T; t++) // d/d log pi(y_i): beta times the distance, less the group's mean of it, which mean(R_theta) takes away
            grad[i][t] = counts && mask[i][t] ? beta * (distance - mean_distance) / (k - 1) / groups : 0;
    }
    return loss;
}
