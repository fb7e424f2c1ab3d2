/* Lesson 12: a critic, and how far it is believed.   Licence: MIT-0
 * A_t = sum_k (gamma lambda)^k delta_(t+k),  delta_t = r_t + gamma V_(t+1) - V_t     GAE, arXiv 1506.02438, equation 16
 * lambda = 1 - 1/(alpha T), alpha = 0.05     VAPO, arXiv 2504.05118, equation 5 */
#define GRPO_DOUBLE
#define GRPO_IMPLEMENTATION
#include "../../grpo.h"
#include <stdio.h>

enum { T = 8, NEEDED = 6, N = 1 << T };         /* bit t of a response is 1 if its token t is right; all N responses are enumerated */
enum { EXACT, SHIFTED, OLDER, CONSTANT, FITTED };
static const double p = 0.7;                    /* probability that the policy chooses a right token */
static double reward[N], probability[N], value[N * T], advantage[N * T], fitted[T][T];

static int right_before(int i, int t) { int n = 0; while (t > 0) n += i >> --t & 1; return n; }

/* the mean of R where n of the first t tokens are right and the others will be with probability q */
static double chance(int t, int n, double q) {
    return t == T ? n >= NEEDED : q * chance(t + 1, n + 1, q) + (1 - q) * chance(t + 1, n, q);
}

static double critic(int which, int t, int n) {
    const double V[] = { chance(t, n, p), chance(t, n, p) + 0.3, chance(t, n, 0.4), chance(0, 0, p), fitted[t][n] };
    return V[which];
}

/* prints mean and deviation of A d log pi/d logit; then fits the critic to V + A by least squares: the mean in each state */
static void estimate(const char *name, int which, double lambda, const grpo_batch *batch) {
    const double ought = p * (1 - p) * (chance(1, 1, p) - chance(1, 0, p));
    double mean[T] = { 0 }, square = 0, bias = 0, target[T][T] = {{ 0 }}, weight[T][T] = {{ 0 }};
    grpo_objective o;
    if (grpo_objective_named("ppo", &o)) return;
    o.advantage.gamma = 1;
    o.advantage.lambda = lambda;
    for (int k = 0; k < N * T; k++) value[k] = critic(which, k % T, right_before(k / T, k % T));
    if (grpo_advantages(&o, batch, advantage)) return;
    for (int k = 0; k < N * T; k++) {
        const int i = k / T, t = k % T, n = right_before(i, t);
        const double x = advantage[k] * ((i >> t & 1) - p);            /* d log pi/d logit = 1[right] - p */
        mean[t] += probability[i] * x;
        square += probability[i] * x * x;
        target[t][n] += probability[i] * (advantage[k] + value[k]);
        weight[t][n] += probability[i];
    }
    for (int t = 0; t < T; t++) {
        for (int n = 0; n <= t; n++) fitted[t][n] = target[t][n] / weight[t][n];
        bias += pow(mean[t] - ought, 2);
        square -= mean[t] * mean[t];
    }
    printf("  %-27s  %4.2f  %8.4f %8.4f %8.4f  %8.4f  %8.4f\n", name, lambda, mean[0] + 1e-9, mean[T / 2 - 1] + 1e-9, mean[T - 1],
           sqrt(bias), sqrt(square));                                  /* 1e-9: no -0.0000 */
}

int main(void) {
    const char *name[] = { "exact", "exact + 0.3", "exact for an older policy", "constant, the mean of R" };
    const double lambda[] = { 0, 0.95, 1 };
    int64_t group_begin[] = { 0, N }, offset[N], length[N];
    const grpo_batch batch = { .n_groups = 1, .group_begin = group_begin, .offset = offset, .length = length, .n_tokens = N * T,
                               .reward = reward, .value = value };
    for (int i = 0; i < N; i++) {
        const int n = right_before(i, T);
        offset[i] = i * T; length[i] = T;
        reward[i] = n >= NEEDED;
        probability[i] = pow(p, n) * pow(1 - p, T - n);
    }
    printf("the gradient by the logit of a token ought to be %.4f\n", p * (1 - p) * (chance(1, 1, p) - chance(1, 0, p)));
    printf("  critic                     lambda   token 1        4        8      bias       std of a sample\n");
    for (int k = 0; k < 12; k++) {
        estimate(name[k / 3], k / 3, lambda[k % 3], &batch);
        if (k / 3 == CONSTANT) estimate("  after a fit to this V + A", FITTED, 0, &batch);
    }
    printf("     T   lambda   1/(1 - lambda)   lambda^(T - 1)      VAPO: lambda   1/(1 - lambda)   lambda^(T - 1)\n");
    for (int n = T; n <= 8000; n *= 10) {
        const double vapo = grpo_length_lambda(0.05, n).hi;
        printf("  %4d   %6.2f   %14.0f   %14.1e      %12.4f   %14.0f   %14.1e\n", n, lambda[1], 1 / (1 - lambda[1]),
               pow(lambda[1], n - 1), vapo, 1 / (1 - vapo), pow(vapo, n - 1));
    }
    return 0;
}
