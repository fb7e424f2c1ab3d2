/* Lesson 8: entropy collapses, and a rare better answer has to be quick.   Licence: MIT-0
 * clip(w, 1 - eps_low, 1 + eps_high): a sampled answer no longer pushes itself up once it is above (1 + eps_high) p_old
 * DAPO, arXiv 2503.14476, section 3.1 (clip higher: 0.28 for 0.2) */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { V = 8, G = 16, RUNS = 1000, STEPS = 100, UPDATES = 8 };
static const double start[V] = { 2, 0, 0, 0, 0, 0, 0, -0.5 };      /* logits: the first answer is common, the last one rare */
static const double reward[V] = { 0.5, 0, 0, 0, 0, 0, 0, 1 };      /* and better */
static double factor[RUNS * STEPS];            /* p/p_old of the better answer, while it is below 0.3, after steps that sampled it */
static int n_factors;

static double uniform(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void softmax(const double logit[V], double p[V]) {
    double sum = 0;
    for (int v = 0; v < V; v++) sum += p[v] = exp(logit[v]);
    for (int v = 0; v < V; v++) p[v] /= sum;
}

static int sample(const double p[V], uint64_t *state) {
    int v = 0;
    for (double u = uniform(state); v < V - 1 && u >= p[v]; v++) u -= p[v];
    return v;
}

static int order(const void *a, const void *b) { const double d = *(const double *)a - *(const double *)b; return (d > 0) - (d < 0); }

/* a group of G answers, and some updates on it */
static void step(double logit[V], double eps_high, uint64_t *state) {
    double old[V], p[V], mean = 0, variance = 0;
    int answer[G], better = 0;
    softmax(logit, old);
    for (int i = 0; i < G; i++) mean += reward[answer[i] = sample(old, state)] / G, better |= answer[i] == V - 1;
    for (int i = 0; i < G; i++) variance += (reward[answer[i]] - mean) * (reward[answer[i]] - mean) / (G - 1);
    for (int k = 0; k < UPDATES && variance > 1e-12; k++) {
        double gradient[V] = { 0 };
        softmax(logit, p);
        for (int i = 0; i < G; i++) {
            const double A = (reward[answer[i]] - mean) / sqrt(variance), w = p[answer[i]] / old[answer[i]];
            if (A > 0 ? w > 1 + eps_high : w < 1 - 0.2) continue;               /* clipped */
            for (int v = 0; v < V; v++) gradient[v] += w * A * ((v == answer[i]) - p[v]) / G;
        }
        for (int v = 0; v < V; v++) logit[v] += 0.1 * gradient[v];
    }
    softmax(logit, p);
    if (better && old[V - 1] < 0.3) factor[n_factors++] = p[V - 1] / old[V - 1];
}

int main(void) {
    const double eps_high[] = { 0.2, 0.28, 0.4, 1 };
    printf("          entropy after                      the better answer: a step multiplies it by\n");
    printf("eps_high  0 steps  10 steps  100 steps       won in                95 %%    max\n");
    for (int e = 0; e < 4; e++) {
        double entropy[STEPS + 1] = { 0 };
        int won = n_factors = 0;
        for (int run = 0; run < RUNS; run++) {
            uint64_t state = (uint64_t)run;
            double logit[V], p[V];
            for (int v = 0; v < V; v++) logit[v] = start[v];
            for (int k = 0; k <= STEPS; k++) {
                softmax(logit, p);
                for (int v = 0; v < V; v++) entropy[k] -= p[v] * log(p[v]) / RUNS;
                if (k < STEPS) step(logit, eps_high[e], &state);
            }
            won += p[V - 1] > 0.5;
        }
        qsort(factor, (size_t)n_factors, sizeof *factor, order);
        printf("  %4.2f     %5.2f     %5.2f      %5.2f        %3d of %d runs   %5.2f  %5.2f\n", eps_high[e], entropy[0],
               entropy[10], entropy[STEPS], won, RUNS, factor[n_factors * 95 / 100], factor[n_factors - 1]);
    }
    return 0;
}
