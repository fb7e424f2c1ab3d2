/* flow.c - a flow model of points in the plane learns by reinforcement, with the objective of Flow-GRPO (2505.05470).
 *
 *     cc -std=c99 -O2 examples/flow.c -lm -o flow && ./flow 1 flow.svg
 *
 * A small network is first trained by flow matching to sample points of a ring.  Then it is rewarded for points of the ring's right half:
 * the stochastic steps of its sampler are the tokens of a response, extra/grpo_flow.h computes log-ratios and divergences from their means,
 * grpo_loss the gradients, which are propagated through the means to the network.  Prints the energy distance to the right half before and
 * after; the picture shows both samples.  Exit status 1: the distance has not halved.  ./flow [SEED [FILE.svg]] */
#define GRPO_FLOW_IMPLEMENTATION
#define GRPO_IMPLEMENTATION
#include "../grpo.h"
#include "../extra/grpo_flow.h"
#include <stdio.h>
#include <stdlib.h>

enum { INPUTS = 5, HIDDEN = 32, STEPS = 10, TRAINED = STEPS - 1, GROUPS = 8, RESPONSES = 16, CHAINS = GROUPS * RESPONSES,
       TOKENS = CHAINS * TRAINED, DRAWN = 600 };

/* ---- random numbers ------------------------------------------------------------------------------------------------------------- */

static uint64_t state;

static double uniform(void) {
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static float normal(void) {
    const double radius = sqrt(-2 * log(uniform()));
    return (float)(radius * cos(6.283185307179586 * uniform()));
}

/* a random point of the ring, or of its right half */
static void ring(float *x, int half) {
    const double angle = 3.141592653589793 * (half ? uniform() - 0.5 : 2 * uniform()), radius = 2 + 0.1 * normal();
    x[0] = (float)(radius * cos(angle)); x[1] = (float)(radius * sin(angle));
}

/* ---- the network: velocity at a point and a noise level ---------------------------------------------------------------------------- */

typedef struct { float in[INPUTS + 1][HIDDEN], mid[HIDDEN + 1][HIDDEN], out[HIDDEN + 1][2]; } network;      /* the last row is a bias */
typedef struct { float x[INPUTS], h[HIDDEN], k[HIDDEN], v[2]; } activations;

static network policy, reference, gradient, first_moment, second_moment;
static int adam_steps;

static void forward(const network *m, activations *a, const float *point, double level) {
    const float inputs[INPUTS] = { point[0], point[1], (float)level, (float)sin(3 * level), (float)cos(3 * level) };
    memcpy(a->x, inputs, sizeof a->x);
    for (int j = 0; j < HIDDEN; j++) {
        float sum = m->in[INPUTS][j];
        for (int i = 0; i < INPUTS; i++) sum += a->x[i] * m->in[i][j];
        a->h[j] = tanhf(sum);
    }
    for (int j = 0; j < HIDDEN; j++) {
        float sum = m->mid[HIDDEN][j];
        for (int i = 0; i < HIDDEN; i++) sum += a->h[i] * m->mid[i][j];
        a->k[j] = tanhf(sum);
    }
    for (int j = 0; j < 2; j++) {
        a->v[j] = m->out[HIDDEN][j];
        for (int i = 0; i < HIDDEN; i++) a->v[j] += a->k[i] * m->out[i][j];
    }
}

/* back-propagation: adds d loss / d weights to `gradient`, given dv = d loss / d velocity */
static void backward(const activations *a, const float *dv) {
    float dh[HIDDEN] = { 0 }, dk[HIDDEN];
    for (int i = 0; i < HIDDEN; i++) {
        dk[i] = 0;
        for (int j = 0; j < 2; j++) { dk[i] += policy.out[i][j] * dv[j]; gradient.out[i][j] += a->k[i] * dv[j]; }
        dk[i] *= 1 - a->k[i] * a->k[i];
        gradient.mid[HIDDEN][i] += dk[i];
    }
    for (int j = 0; j < 2; j++) gradient.out[HIDDEN][j] += dv[j];
    for (int i = 0; i < HIDDEN; i++) {
        for (int j = 0; j < HIDDEN; j++) { dh[i] += policy.mid[i][j] * dk[j]; gradient.mid[i][j] += a->h[i] * dk[j]; }
        dh[i] *= 1 - a->h[i] * a->h[i];
        gradient.in[INPUTS][i] += dh[i];
        for (int k = 0; k < INPUTS; k++) gradient.in[k][i] += a->x[k] * dh[i];
    }
}

static void adam(double rate) {
    float *w = &policy.in[0][0], *g = &gradient.in[0][0], *m = &first_moment.in[0][0], *v = &second_moment.in[0][0];
    const double c1 = 1 - pow(0.9, ++adam_steps), c2 = 1 - pow(0.999, adam_steps);
    for (size_t k = 0; k < sizeof policy / sizeof(float); k++) {
        m[k] = 0.9f * m[k] + 0.1f * g[k];
        v[k] = 0.999f * v[k] + 0.001f * g[k] * g[k];
        w[k] -= (float)(rate * (m[k] / c1) / (sqrt(v[k] / c2) + 1e-8));
    }
    memset(&gradient, 0, sizeof gradient);
}

static void weights_at_random(void) {
    for (int i = 0; i < INPUTS; i++) for (int j = 0; j < HIDDEN; j++) policy.in[i][j] = normal() / sqrtf(INPUTS);
    for (int i = 0; i < HIDDEN; i++) for (int j = 0; j < HIDDEN; j++) policy.mid[i][j] = normal() / sqrtf(HIDDEN);
}

/* ---- before: flow matching, velocity = noise - point ------------------------------------------------------------------------------- */

static void teach_ring(void) {
    enum { BATCH = 128, ROUNDS = 4000 };
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < BATCH; k++) {
            const double level = uniform();
            float point[2], z[2], dv[2], noise[2];
            activations a;
            ring(point, 0);
            for (int d = 0; d < 2; d++) { noise[d] = normal(); z[d] = (float)((1 - level) * point[d] + level * noise[d]); }
            forward(&policy, &a, z, level);
            for (int d = 0; d < 2; d++) dv[d] = (a.v[d] - (noise[d] - point[d])) / BATCH;
            backward(&a, dv);
        }
        adam(round < ROUNDS / 2 ? 5e-3 : 1e-3);
    }
}

/* ---- rollout: chains of stochastic steps, and a final step without noise that is not trained ---------------------------------------- */

static struct {
    double level[STEPS + 1], a[STEPS], b[STEPS], std[TOKENS];
    int64_t begin[TOKENS + 1], group_begin[GROUPS + 1], offset[CHAINS], length[CHAINS];
    float from[TOKENS][2], sample[TOKENS][2], mean[TOKENS][2], mean_old[TOKENS][2], mean_ref[TOKENS][2], dmean[TOKENS][2];
    float reward[CHAINS], logp[TOKENS], logp_old[TOKENS], divergence[TOKENS], advantage[TOKENS], dlogp[TOKENS], ddivergence[TOKENS];
    activations act[TOKENS];
} r;

static void stop(grpo_status st) {
    char text[GRPO_MESSAGE_SIZE];
    if (!st) return;
    fprintf(stderr, "flow: %s\n", grpo_status_message(st, text, sizeof text));
    exit(2);
}

static void rollout_init(void) {
    for (int k = 0; k <= STEPS; k++) r.level[k] = 1 - (double)k / STEPS;
    for (int k = 0; k < TRAINED; k++) {
        grpo_flow_step step;
        stop(grpo_flow_schedule(GRPO_FLOW_SDE, r.level[k], r.level[k + 1], r.level[1], r.level[STEPS - 1], 0.7, &step));
        r.a[k] = step.sample_factor; r.b[k] = step.velocity_factor;
        for (int i = 0; i < CHAINS; i++) r.std[i * TRAINED + k] = step.std;
    }
    for (int t = 0; t <= TOKENS; t++) r.begin[t] = 2 * t;
    for (int g = 0; g <= GROUPS; g++) r.group_begin[g] = g * RESPONSES;
    for (int i = 0; i < CHAINS; i++) { r.offset[i] = i * TRAINED; r.length[i] = TRAINED; }
}

/* the mean of step k from point z with network m */
static void step_mean(const network *m, activations *a, const float *z, int k, float *mean) {
    forward(m, a, z, r.level[k]);
    for (int d = 0; d < 2; d++) mean[d] = (float)(r.a[k] * z[d] + r.b[k] * a->v[d]);
}

/* samples a point from noise; stores the chain as response i, unless i is -1 */
static void draw(float *z, int i) {
    activations a;
    float mean[2];
    z[0] = normal(); z[1] = normal();
    for (int k = 0; k < TRAINED; k++) {
        const int t = i * TRAINED + k;
        step_mean(&policy, &a, z, k, mean);
        if (i >= 0) { memcpy(r.from[t], z, sizeof mean); memcpy(r.mean_old[t], mean, sizeof mean); }
        for (int d = 0; d < 2; d++) z[d] = mean[d] + (float)r.std[k] * normal();
        if (i < 0) continue;
        memcpy(r.sample[t], z, sizeof mean);
        step_mean(&reference, &a, r.from[t], k, r.mean_ref[t]);
    }
    forward(&policy, &a, z, r.level[TRAINED]);
    for (int d = 0; d < 2; d++) z[d] -= (float)(r.level[TRAINED] - r.level[STEPS]) * a.v[d];
}

/* 1 in the right half, minus the distance from the ring */
static float reward_of(const float *x) { return (float)(x[0] > 0) - fabsf(hypotf(x[0], x[1]) - 2); }

/* ---- an update: steps under the current network, their loss, back-propagation ------------------------------------------------------- */

static grpo_batch batch_of_steps(void) {
    grpo_batch batch;
    memset(&batch, 0, sizeof batch);
    batch.n_groups = GROUPS; batch.group_begin = r.group_begin;
    batch.offset = r.offset; batch.length = r.length; batch.n_tokens = TOKENS;
    batch.logp = r.logp; batch.logp_old = r.logp_old;                   /* the log-ratio, and zeros */
    batch.divergence_ref = r.divergence; batch.reward = r.reward;
    return batch;
}

static double update(const grpo_objective *objective, const grpo_batch *batch, double rate) {
    const grpo_gaussian_numbers numbers = { NULL, r.logp, NULL, NULL, r.divergence };
    const grpo_gaussian_gradients by = { NULL, r.dlogp, NULL, NULL, r.ddivergence };
    const float *y = r.sample[0], *mean = r.mean[0], *old = r.mean_old[0], *ref = r.mean_ref[0];
    grpo_output out;
    grpo_report report;
    memset(&out, 0, sizeof out);
    out.dlogp = r.dlogp; out.ddivergence_ref = r.ddivergence;
    for (int t = 0; t < TOKENS; t++) step_mean(&policy, &r.act[t], r.from[t], t % TRAINED, r.mean[t]);
    stop(grpo_gaussian_steps(TOKENS, r.begin, y, mean, old, ref, r.std, NULL, &numbers));
    stop(grpo_loss(objective, batch, r.advantage, NULL, &out, &report));
    stop(grpo_gaussian_steps_backward(TOKENS, r.begin, y, mean, old, ref, r.std, NULL, &by, r.dmean[0]));
    for (int t = 0; t < TOKENS; t++) {
        const float b = (float)r.b[t % TRAINED], dv[2] = { b * r.dmean[t][0], b * r.dmean[t][1] };
        backward(&r.act[t], dv);
    }
    adam(rate);
    return report.clip_fraction;
}

static void learn(const grpo_objective *objective, int rounds) {
    const grpo_batch batch = batch_of_steps();
    for (int round = 1; round <= rounds; round++) {
        double mean = 0, clipped = 0;
        for (int i = 0; i < CHAINS; i++) {
            float x[2];
            draw(x, i);
            r.reward[i] = reward_of(x);
            mean += (double)r.reward[i] / CHAINS;
        }
        stop(grpo_advantages(objective, &batch, r.advantage));
        for (int u = 0; u < 2; u++) clipped = update(objective, &batch, 5e-4);
        if (round % (rounds / 5) == 0) printf("round %3d: reward %6.3f, %2.0f %% of the steps clipped\n", round, mean, 100 * clipped);
    }
}

/* ---- evaluation of the trained model ------------------------------------------------------------------------------------------------ */

typedef float points[DRAWN][2];

static double mean_distance(points x, points y) {
    double sum = 0;
    for (int i = 0; i < DRAWN; i++) for (int j = 0; j < DRAWN; j++) sum += hypot((double)x[i][0] - y[j][0], (double)x[i][1] - y[j][1]);
    return sum / ((double)DRAWN * DRAWN);
}

static double energy_distance(points x, points y) { return 2 * mean_distance(x, y) - mean_distance(x, x) - mean_distance(y, y); }

static void draw_panel(FILE *f, points x, points target, int left, const char *title, double distance) {
    const double x0 = left + 160, y0 = 190, unit = 50;
    fprintf(f, "<text x=\"%g\" y=\"24\" text-anchor=\"middle\" font-size=\"15\">%s: energy distance %.3f</text>\n", x0, title, distance);
    for (int i = 0; i < DRAWN; i++)
        fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2\" fill=\"#d0d0d0\"/>\n", x0 + unit * target[i][0], y0 - unit * target[i][1]);
    for (int i = 0; i < DRAWN; i++)
        fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2\" fill=\"#1f5fa8\"/>\n", x0 + unit * x[i][0], y0 - unit * x[i][1]);
}

int main(int argc, char **argv) {
    static points before, after, target;
    grpo_objective objective;
    double first, last;
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    stop(grpo_objective_named("flow-grpo", &objective));
    objective.surrogate.eps_low = objective.surrogate.eps_high = 0.05;      /* 1e-4 is for the ten thousands of elements of an image */
    weights_at_random();
    teach_ring();
    reference = policy;
    rollout_init();
    for (int i = 0; i < DRAWN; i++) { ring(target[i], 1); draw(before[i], -1); }
    learn(&objective, 100);
    for (int i = 0; i < DRAWN; i++) draw(after[i], -1);
    first = energy_distance(before, target); last = energy_distance(after, target);
    printf("energy distance to the right half of the ring: %.3f before, %.3f after\n", first, last);
    if (argc > 2) {
        FILE *f = fopen(argv[2], "w");
        if (!f) { fprintf(stderr, "flow: cannot write %s\n", argv[2]); return 2; }
        fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 660 360\" font-family=\"sans-serif\">\n"
              "<title>Samples before and after training (blue), and the rewarded half of the ring (grey)</title>\n", f);
        fputs("<rect width=\"660\" height=\"360\" fill=\"white\"/>\n", f);
        draw_panel(f, before, target, 0, "before", first);
        draw_panel(f, after, target, 330, "after", last);
        fputs("</svg>\n", f);
        fclose(f);
    }
    return last > first / 2;
}
