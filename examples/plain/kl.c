// SPDX-License-Identifier: MIT-0
// Three estimators of KL(pi_theta, pi_ref) from tokens that pi_theta sampled. J. Schulman, "Approximating KL divergence", 2020.
//
// n responses of at most T tokens; mask[i][t] is 1 for a token of response i and 0 for padding, which is never read.
// logp, logp_ref: log-probabilities of the tokens under pi_theta and pi_ref; x = log(pi_ref / pi_theta).
// Each is the mean over all tokens; grad[i][t] = its derivative by logp[i][t].
#include <math.h>

static double count(int n, int T, int mask[n][T]) {
    double tokens = 0;
    for (int i = 0; i < n; i++)
        for (int t = 0; t < T; t++)
            tokens += mask[i][t];
    return tokens;
}

// k1 = -log(pi_ref / pi_theta): unbiased; its derivative 1 is noise, with mean 0 under pi_theta.
double kl_k1(int n, int T, int mask[n][T], double logp[n][T], double logp_ref[n][T], double grad[n][T]) {
    double kl = 0, tokens = count(n, T, mask);
    for (int i = 0; i < n; i++)
        for (int t = 0; t < T; t++) {
            grad[i][t] = 0;
            if (!mask[i][t]) continue;
            double x = logp_ref[i][t] - logp[i][t];
            kl += (-x) / tokens;
            grad[i][t] = (1.0) / tokens;
        }
    return kl;
}

// k2 = (log(pi_ref / pi_theta))^2 / 2: biased; its derivative has the gradient of KL(pi_theta, pi_ref) as its mean.
double kl_k2(int n, int T, int mask[n][T], double logp[n][T], double logp_ref[n][T], double grad[n][T]) {
    double kl = 0, tokens = count(n, T, mask);
    for (int i = 0; i < n; i++)
        for (int t = 0; t < T; t++) {
            grad[i][t] = 0;
            if (!mask[i][t]) continue;
            double x = logp_ref[i][t] - logp[i][t];
            kl += (x * x / 2) / tokens;
            grad[i][t] = (-x) / tokens;
        }
    return kl;
}

// k3 = pi_ref / pi_theta - 1 - log(pi_ref / pi_theta): unbiased and never negative; the mean of its derivative is the gradient of
// KL(pi_ref, pi_theta), the other way round.
double kl_k3(int n, int T, int mask[n][T], double logp[n][T], double logp_ref[n][T], double grad[n][T]) {
    double kl = 0, tokens = count(n, T, mask);
    for (int i = 0; i < n; i++)
        for (int t = 0; t < T; t++) {
            grad[i][t] = 0;
            if (!mask[i][t]) continue;
            double x = logp_ref[i][t] - logp[i][t];
            kl += (exp(x) - 1 - x) / tokens;
            grad[i][t] = (1 - exp(x)) / tokens;
        }
    return kl;
}
