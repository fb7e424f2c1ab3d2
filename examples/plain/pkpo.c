// SPDX-License-Identifier: MIT-0
// PKPO, pass-at-k policy optimization. arXiv 2505.15201: the transformed rewards of equations 19, 29 and 33.
//
// n responses of at most T tokens; group[i] is the number of the prompt that response i answers;
// mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp: log-probabilities of the tokens under the policy being trained; grad[i][t] = d loss / d logp[i][t].

// C(a, b), 0 where b > a or b < 0
static double choose(int a, int b) {
    if (b > a || b < 0) return 0;
    double product = 1;
    for (int j = 1; j <= b; j++)
        product = product * (a - b + j) / j;
    return product;
}

// The place of response i among the responses to its prompt, from 1 for the lowest reward; of equal ones the first is lower.
static int place(int n, int group[n], double reward[n], int i) {
    int lower = 0;
    for (int j = 0; j < n; j++)
        lower += group[j] == group[i] && (reward[j] < reward[i] || (reward[j] == reward[i] && j < i));
    return lower + 1;
}

// The means over the sets of k of the N responses to a prompt, by how many of them response j is the best:
// 19: of max(set) where i is in the set; 29: of that, less k/(N-1) times the mean of max(set) of the sets of k without i;
// 33: of max(set) - max(set without i) where i is in the set
static void transform(int n, int T, int group[n], double reward[n], int mask[n][T], int k, int equation, double A[n][T]) {
    for (int i = 0; i < n; i++) {
        int N = 0, p = place(n, group, reward, i);
        for (int j = 0; j < n; j++)
            N += group[j] == group[i];
        double s = choose(p - 1, k - 1) * reward[i] / choose(N, k); // the sets in which i itself is the best
        for (int j = 0; j < n; j++) {
            if (group[j] != group[i] || j == i) continue;
            int q = place(n, group, reward, j);
            if (equation != 33 && q > p) s += choose(q - 2, k - 2) * reward[j] / choose(N, k);
            if (equation == 29 && N > k) s -= choose(q < p ? q - 1 : q - 2, k - 1) * reward[j] / choose(N - 1, k) * k / (N - 1);
            if (equation == 33 && q < p) s -= choose(q - 1, k - 2) * reward[j] / choose(N, k);
        }
        for (int t = 0; t < T; t++)
            A[i][t] = mask[i][t] ? s : 0;
    }
}

void pkpo_max(int n, int T, int group[n], double reward[n], int mask[n][T], int k, double A[n][T]) {
    transform(n, T, group, reward, mask, k, 19, A);
}

void pkpo_leave_one_out(int n, int T, int group[n], double reward[n], int mask[n][T], int k, double A[n][T]) {
    transform(n, T, group, reward, mask, k, 29, A);
}

void pkpo_gain(int n, int T, int group[n], double reward[n], int mask[n][T], int k, double A[n][T]) {
    transform(n, T, group, reward, mask, k, 33, A);
}

// gradient estimate: sum_i s_i grad log pi(y_i); loss = -(1/n) sum_i s_i log pi(y_i)
double pkpo_loss(int n, int T, double A[n][T], int mask[n][T], double logp[n][T], double grad[n][T]) {
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
