/* train.c - a tiny transformer learns to reverse lists, by reinforcement learning alone, with any objective of grpo.h and gspo.h.
 *
 *     cc -std=c99 -O2 examples/train.c -lm -o train
 *     ./train --objective gspo
 *
 * The prompt is a list of digits, "3 1 2 0 .", and the right response is the list in reverse, "0 2 1 3 .".  The policy starts from
 * random weights and is never shown a right response: it samples a group of responses to every prompt, a verifier scores them, the
 * library turns scores into advantages and advantages into d loss / d logp, and the rest is back-propagation.
 *
 * Contents:  sizes | random numbers | policy: linear, attention, feed-forward, head; forward, backward, Adam | task | rollout | critic |
 *            update | files | options | training
 *
 * Licence: MIT-0, as grpo.h. */
#define _POSIX_C_SOURCE 200112L   /* isatty */
#define GSPO_IMPLEMENTATION
#include "../gspo.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* ---- sizes -------------------------------------------------------------------------------------------------------------------- */

enum {
    MIN_DIGITS = 3, MAX_DIGITS = 6,   /* in a prompt */
    LIMIT = 10,                       /* longest response; a right one has at most MAX_DIGITS + 1 tokens */
    END = 10,                         /* the token '.', which closes the prompt and the response */
    V = 11,                           /* vocabulary: ten digits and '.' */
    T = MAX_DIGITS + LIMIT,           /* positions: prompts are padded on the left, so that '.' is always at MAX_DIGITS */
    D = 32,                           /* width of the residual stream */
    F = 64                            /* width of the feed-forward layer */
};

/* ---- random numbers ------------------------------------------------------------------------------------------------------------- */

static uint64_t random_bits(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static float random_uniform(uint64_t *state) { return (float)(random_bits(state) >> 40) * (1.0f / 16777216); }    /* [0, 1) */
static int random_below(uint64_t *state, int n) { return (int)(random_bits(state) % (uint64_t)n); }

/* ---- policy ---------------------------------------------------------------------------------------------------------------------
 * One transformer block with one attention head.  Every weight matrix is (in, out).  Only floats, so that a model is also an array. */

typedef struct {
    float token[V][D], position[T][D];
    float query[D * D], key[D * D], value[D * D], merge[D * D];
    float up[D * F], up_bias[F], down[F * D];
    float head[D * V], head_bias[V];
} model;

enum { N_WEIGHTS = sizeof(model) / sizeof(float) };

/* what the forward pass leaves for the backward pass; row t is position t */
typedef struct {
    float x[T][D];             /* token + position */
    float q[T][D], k[T][D], v[T][D];
    float att[T][T];           /* att[t][s]: how much t looks at s <= t */
    float mix[T][D];           /* sum of att v */
    float y[T][D];             /* x + attention */
    float h[T][F];             /* relu */
    float z[T][D];             /* y + feed-forward */
    float prob[T][V];          /* of the token at t + 1 */
} activations;

/* y += x w,  x (n), w (n, m), y (m) */
static void linear_forward(float *restrict y, const float *restrict x, const float *restrict w, int n, int m) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) y[j] += x[i] * w[i * m + j];
}

/* dx += w dy, dw += x dy */
static void linear_backward(float *restrict dx, float *restrict dw, const float *restrict dy, const float *restrict x,
                            const float *restrict w, int n, int m) {
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int j = 0; j < m; j++) { sum += w[i * m + j] * dy[j]; dw[i * m + j] += x[i] * dy[j]; }
        dx[i] += sum;
    }
}

/* in place; (n) */
static void softmax(float *x, int n) {
    float max = x[0], sum = 0;
    for (int i = 1; i < n; i++) if (x[i] > max) max = x[i];
    for (int i = 0; i < n; i++) sum += x[i] = expf(x[i] - max);
    for (int i = 0; i < n; i++) x[i] /= sum;
}

/* position t looks at the positions first .. t */
static void attention_forward(activations *a, int first, int t) {
    const float scale = 1 / sqrtf(D);
    for (int s = first; s <= t; s++) {
        float dot = 0;
        for (int i = 0; i < D; i++) dot += a->q[t][i] * a->k[s][i];
        a->att[t][s] = dot * scale;
    }
    softmax(&a->att[t][first], t - first + 1);
    memset(a->mix[t], 0, sizeof a->mix[t]);
    for (int s = first; s <= t; s++)
        for (int i = 0; i < D; i++) a->mix[t][i] += a->att[t][s] * a->v[s][i];
}

/* dmix (D) -> dq (D) of position t, dk and dv (T, D) of the positions it looked at */
static void attention_backward(const activations *a, int first, int t, const float *dmix, float *dq, float (*dk)[D], float (*dv)[D]) {
    const float scale = 1 / sqrtf(D);
    float datt[T], mean = 0;
    for (int s = first; s <= t; s++) {
        datt[s] = 0;
        for (int i = 0; i < D; i++) {
            datt[s] += dmix[i] * a->v[s][i];
            dv[s][i] += dmix[i] * a->att[t][s];
        }
        mean += a->att[t][s] * datt[s];
    }
    for (int s = first; s <= t; s++) {
        float dscore = a->att[t][s] * (datt[s] - mean) * scale;
        for (int i = 0; i < D; i++) {
            dq[i] += dscore * a->k[s][i];
            dk[s][i] += dscore * a->q[t][i];
        }
    }
}

/* The positions from .. to - 1 of tokens (T), given all earlier ones: a whole sequence at once, or one more token while sampling.
 * Before the '.' of the prompt nothing is predicted, and there only the keys and values are needed. */
static void forward(const model *m, activations *a, const int *tokens, int first, int from, int to) {
    for (int t = from; t < to; t++) {
        memset(a->q[t], 0, sizeof a->q[t]);
        memset(a->k[t], 0, sizeof a->k[t]);
        memset(a->v[t], 0, sizeof a->v[t]);
        for (int i = 0; i < D; i++) a->x[t][i] = m->token[tokens[t]][i] + m->position[t][i];
        linear_forward(a->k[t], a->x[t], m->key, D, D);
        linear_forward(a->v[t], a->x[t], m->value, D, D);
        if (t < MAX_DIGITS) continue;

        linear_forward(a->q[t], a->x[t], m->query, D, D);
        attention_forward(a, first, t);
        memcpy(a->y[t], a->x[t], sizeof a->y[t]);
        linear_forward(a->y[t], a->mix[t], m->merge, D, D);

        memcpy(a->h[t], m->up_bias, sizeof a->h[t]);
        linear_forward(a->h[t], a->y[t], m->up, D, F);
        for (int i = 0; i < F; i++) if (a->h[t][i] < 0) a->h[t][i] = 0;
        memcpy(a->z[t], a->y[t], sizeof a->z[t]);
        linear_forward(a->z[t], a->h[t], m->down, F, D);

        memcpy(a->prob[t], m->head_bias, sizeof a->prob[t]);
        linear_forward(a->prob[t], a->z[t], m->head, D, V);
        softmax(a->prob[t], V);
    }
}

/* Adds to dm the gradient of a loss with respect to every weight, from dlogp (to - MAX_DIGITS), the loss's gradient with respect to the
 * log-probability of the token after each position MAX_DIGITS .. to - 1. */
static void backward(const model *m, model *dm, const activations *a, const int *tokens, int first, int to, const grpo_real *dlogp) {
    float dk[T][D] = { { 0 } }, dv[T][D] = { { 0 } }, dx[T][D] = { { 0 } };
    for (int t = to - 1; t >= MAX_DIGITS; t--) {
        float dlogit[V], dz[D] = { 0 }, dh[F] = { 0 }, dmix[D] = { 0 }, dq[D] = { 0 };
        float g = dlogp[t - MAX_DIGITS];
        for (int i = 0; i < V; i++) {                                  /* d log softmax: 1 at the sampled token, minus prob */
            dlogit[i] = g * ((float)(i == tokens[t + 1]) - a->prob[t][i]);
            dm->head_bias[i] += dlogit[i];
        }
        linear_backward(dz, dm->head, dlogit, a->z[t], m->head, D, V);

        linear_backward(dh, dm->down, dz, a->h[t], m->down, F, D);
        for (int i = 0; i < F; i++) {
            if (a->h[t][i] == 0) dh[i] = 0;
            dm->up_bias[i] += dh[i];
        }
        linear_backward(dz, dm->up, dh, a->y[t], m->up, D, F);         /* dz becomes dy: the residual stream passes it on */

        linear_backward(dmix, dm->merge, dz, a->mix[t], m->merge, D, D);
        attention_backward(a, first, t, dmix, dq, dk, dv);
        linear_backward(dx[t], dm->query, dq, a->x[t], m->query, D, D);
        for (int i = 0; i < D; i++) dx[t][i] += dz[i];
    }
    for (int t = first; t < to; t++) {
        linear_backward(dx[t], dm->key, dk[t], a->x[t], m->key, D, D);
        linear_backward(dx[t], dm->value, dv[t], a->x[t], m->value, D, D);
        for (int i = 0; i < D; i++) {
            dm->token[tokens[t]][i] += dx[t][i];
            dm->position[t][i] += dx[t][i];
        }
    }
}

static void model_init(model *m, uint64_t *rng) {
    float *w = (float *)m;
    for (int i = 0; i < N_WEIGHTS; i++) w[i] = 0.6f * (random_uniform(rng) - 0.5f);   /* deviation 1/sqrt(D) */
    memset(m->up_bias, 0, sizeof m->up_bias);
    memset(m->head_bias, 0, sizeof m->head_bias);
    for (int i = 0; i < D * V; i++) m->head[i] *= 0.1f;                /* all tokens almost equally likely: explore first */
}

typedef struct {
    model policy, gradient, mean, square;   /* mean and square of the gradient: Adam's memory */
    int steps;
} learner;

/* Adam (1412.6980) with the gradient's norm clipped to 1 */
static void adam(learner *l, double lr) {
    float *w = (float *)&l->policy, *dw = (float *)&l->gradient, *mean = (float *)&l->mean, *square = (float *)&l->square;
    const float b1 = 0.9f, b2 = 0.99f;
    double norm = 0;
    for (int i = 0; i < N_WEIGHTS; i++) norm += (double)dw[i] * dw[i];
    norm = sqrt(norm);
    const float clip = norm > 1 ? (float)(1 / norm) : 1.0f;
    l->steps++;
    const float rate = (float)(lr * sqrt(1 - pow(b2, l->steps)) / (1 - pow(b1, l->steps)));
    for (int i = 0; i < N_WEIGHTS; i++) {
        const float g = dw[i] * clip;
        mean[i] = b1 * mean[i] + (1 - b1) * g;
        square[i] = b2 * square[i] + (1 - b2) * g * g;
        w[i] -= rate * mean[i] / (sqrtf(square[i]) + 1e-8f);
    }
}

/* ---- task ----------------------------------------------------------------------------------------------------------------------- */

/* a list of digits and '.', at the right end of tokens (MAX_DIGITS + 1); returns where it begins */
static int task_prompt(int *tokens, uint64_t *rng) {
    const int first = random_below(rng, MAX_DIGITS - MIN_DIGITS + 1);
    for (int t = first; t < MAX_DIGITS; t++) tokens[t] = random_below(rng, 10);
    tokens[MAX_DIGITS] = END;
    return first;
}

/* Verifier: the square of the share of positions that hold the right token: the last mistake costs the most, and only the right response
 * is worth 1.  right (length) tells which positions. */
static float task_reward(const int *tokens, int first, int64_t length, float *right) {
    const int64_t n = MAX_DIGITS - first + 1;
    int count = 0;
    for (int j = 0; j < length; j++) {
        const int expected = j < n - 1 ? tokens[MAX_DIGITS - 1 - j] : END;
        const int ok = j < n && tokens[MAX_DIGITS + 1 + j] == expected;
        right[j] = (float)ok;
        count += ok;
    }
    const float share = (float)count / (float)(length > n ? length : n);
    return share * share;
}

/* ---- rollout --------------------------------------------------------------------------------------------------------------------
 * N responses in all, group responses to each prompt, as the library wants them: N rows of LIMIT in every token array. */

typedef struct {
    int prompts, group, n;
    int64_t *group_begin;                                   /* (prompts + 1) */
    int64_t *offset, *length;                               /* (N) */
    int *first;                                             /* (N), where the prompt begins in tokens */
    int (*tokens)[T + 1];                                   /* (N), prompt and response */
    activations *act;                                       /* (N) */
    grpo_real *logp, *logp_old, *logp_ref, *entropy;        /* (N, LIMIT) */
    grpo_real *value, *step_reward, *advantage, *dlogp;     /* (N, LIMIT) */
    uint8_t *step_end, *truncated;                          /* (N, LIMIT), (N) */
    grpo_real *reward, *baseline;                           /* (N), (prompts) */
    grpo_batch batch;                                       /* a view of all that */
} rollout;

static void *alloc(size_t count, size_t size) {
    void *p = calloc(count, size);
    if (!p) { fprintf(stderr, "train: out of memory\n"); exit(1); }
    return p;
}

static void rollout_init(rollout *r, int prompts, int group) {
    const size_t n = (size_t)prompts * (size_t)group, tokens = n * LIMIT;
    grpo_real **per_token[] = { &r->logp, &r->logp_old, &r->logp_ref, &r->entropy, &r->value, &r->step_reward, &r->advantage, &r->dlogp };
    for (size_t i = 0; i < sizeof per_token / sizeof *per_token; i++) *per_token[i] = alloc(tokens, sizeof(grpo_real));
    r->prompts = prompts; r->group = group; r->n = (int)n;
    r->group_begin = alloc((size_t)prompts + 1, sizeof *r->group_begin);
    r->offset = alloc(n, sizeof *r->offset);
    r->length = alloc(n, sizeof *r->length);
    r->first = alloc(n, sizeof *r->first);
    r->tokens = alloc(n, sizeof *r->tokens);
    r->act = alloc(n, sizeof *r->act);
    r->step_end = alloc(tokens, 1);
    r->truncated = alloc(n, 1);
    r->reward = alloc(n, sizeof *r->reward);
    r->baseline = alloc((size_t)prompts, sizeof *r->baseline);
    for (int g = 0; g <= prompts; g++) r->group_begin[g] = (int64_t)g * group;
    for (int i = 0; i < r->n; i++) r->offset[i] = (int64_t)i * LIMIT;
    memset(r->step_end, 1, tokens);                         /* a step of process supervision is one token here */

    r->batch = (grpo_batch){
        .n_groups = prompts, .group_begin = r->group_begin,
        .offset = r->offset, .length = r->length, .n_tokens = (int64_t)tokens,
        .logp = r->logp, .logp_old = r->logp_old, .logp_ref = r->logp_ref,
        .logp_rollout = r->logp_old,                        /* the engine that samples is the policy itself */
        .entropy = r->entropy, .value = r->value, .step_reward = r->step_reward, .step_end = r->step_end, .segment_end = r->step_end,
        .reward = r->reward, .truncated = r->truncated, .baseline = r->baseline
    };
}

/* continues tokens after the prompt; rng NULL: always the likeliest token.  Returns the number of tokens, '.' included. */
static int generate(const model *m, activations *a, int *tokens, int first, uint64_t *rng) {
    int n = 0, from = first, token;
    do {
        int t = MAX_DIGITS + n;
        forward(m, a, tokens, first, from, t + 1);
        from = t + 1;
        token = 0;
        if (rng) {
            float u = random_uniform(rng) - a->prob[t][0];
            while (u >= 0 && token < V - 1) u -= a->prob[t][++token];
        } else {
            for (int i = 1; i < V; i++) if (a->prob[t][i] > a->prob[t][token]) token = i;
        }
        tokens[t + 1] = token;
        n++;
    } while (token != END && n < LIMIT);
    return n;
}

/* log-probabilities of response i from the activations of a forward pass: logp (LIMIT), entropy (LIMIT) unless NULL */
static void response_logp(const rollout *r, int i, const activations *a, grpo_real *logp, grpo_real *entropy) {
    for (int j = 0; j < r->length[i]; j++) {
        const float *p = a->prob[MAX_DIGITS + j];
        logp[j] = logf(p[r->tokens[i][MAX_DIGITS + 1 + j]]);
        if (!entropy) continue;
        entropy[j] = 0;
        for (int k = 0; k < V; k++) entropy[j] -= p[k] > 0 ? p[k] * logf(p[k]) : 0;
    }
}

static void rollout_sample(rollout *r, const model *policy, const model *reference, activations *scratch, uint64_t *rng) {
    for (int g = 0; g < r->prompts; g++) {
        int tokens[T + 1];
        float right[LIMIT];
        const int first = task_prompt(tokens, rng);
        for (int i = g * r->group; i < (g + 1) * r->group; i++) {
            memcpy(r->tokens[i], tokens, sizeof tokens);
            r->first[i] = first;
            r->length[i] = generate(policy, &r->act[i], r->tokens[i], first, rng);
            r->truncated[i] = r->tokens[i][MAX_DIGITS + r->length[i]] != END;
            r->reward[i] = task_reward(r->tokens[i], first, r->length[i], &r->step_reward[r->offset[i]]);
            response_logp(r, i, &r->act[i], &r->logp_old[r->offset[i]], NULL);
            forward(reference, scratch, r->tokens[i], first, first, MAX_DIGITS + (int)r->length[i]);
            response_logp(r, i, scratch, &r->logp_ref[r->offset[i]], NULL);
        }
        const int greedy = generate(policy, scratch, tokens, first, NULL);
        r->baseline[g] = task_reward(tokens, first, greedy, right);
    }
}

/* ---- critic ---------------------------------------------------------------------------------------------------------------------
 * What GAE calls V: a linear guess of the reward from the policy's last layer, made before each token.  It learns by normalised least
 * mean squares, and no gradient of it reaches the policy: with and without a critic the policy is the same. */

static void critic(float *w, rollout *r) {                  /* w (D + 1) */
    for (int i = 0; i < r->n; i++) {
        grpo_real *value = &r->value[r->offset[i]];
        for (int j = 0; j < r->length[i]; j++) {
            const float *z = r->act[i].z[MAX_DIGITS + j];
            value[j] = w[D];
            for (int k = 0; k < D; k++) value[j] += w[k] * z[k];
        }
        for (int j = 0; j < r->length[i]; j++) {            /* only now, so that no value has seen its own reward */
            const float *z = r->act[i].z[MAX_DIGITS + j];
            float norm = 1;
            for (int k = 0; k < D; k++) norm += z[k] * z[k];
            const float step = 0.02f * (r->reward[i] - value[j]) / norm;
            for (int k = 0; k < D; k++) w[k] += step * z[k];
            w[D] += step;
        }
    }
}

/* ---- update ---------------------------------------------------------------------------------------------------------------------
 * The responses are cut into minibatches of whole groups, one step of Adam for each.  The first is on-policy; before every other one
 * the policy has moved away from the one that sampled, which is what ratios and clips are about. */

typedef struct { double reward, loss, clip_fraction, ratio_mean, ratio_max, kl, length, tokens_per_s; } metrics;

/* log-probabilities under m as it is now of the responses begin .. end - 1 */
static void rollout_evaluate(rollout *r, const model *m, int64_t begin, int64_t end) {
    for (int i = (int)begin; i < end; i++) {
        forward(m, &r->act[i], r->tokens[i], r->first[i], r->first[i], MAX_DIGITS + (int)r->length[i]);
        response_logp(r, i, &r->act[i], &r->logp[r->offset[i]], &r->entropy[r->offset[i]]);
    }
}

static grpo_status update(const grpo_objective *obj, rollout *r, learner *l, int updates, double lr, metrics *now) {
    const int64_t room = gspo_scratch(obj, &r->batch);      /* for objectives that look at a group as a whole */
    double *scratch = alloc((size_t)room + 1, sizeof *scratch);
    grpo_status st = grpo_advantages(obj, &r->batch, r->advantage);
    for (int u = 0; u < updates && !st; u++) {
        const int64_t g0 = (int64_t)r->prompts * u / updates, g1 = (int64_t)r->prompts * (u + 1) / updates;
        grpo_batch part = r->batch;                         /* a minibatch is the same arrays with fewer groups */
        grpo_report report;
        const grpo_output out = { .dlogp = r->dlogp, .scratch = scratch, .scratch_size = room };
        part.group_begin = r->group_begin + g0;
        part.n_groups = g1 - g0;
        rollout_evaluate(r, &l->policy, r->group_begin[g0], r->group_begin[g1]);
        st = gspo_loss(obj, &part, r->advantage, NULL, &out, &report);
        if (st) break;
        memset(&l->gradient, 0, sizeof l->gradient);
        for (int i = (int)r->group_begin[g0]; i < r->group_begin[g1]; i++)
            backward(&l->policy, &l->gradient, &r->act[i], r->tokens[i], r->first[i], MAX_DIGITS + (int)r->length[i],
                     &r->dlogp[r->offset[i]]);
        adam(l, lr);

        now->loss += report.loss / updates;
        now->clip_fraction += report.clip_fraction / updates;
        now->ratio_mean += report.ratio_mean / updates;
        now->ratio_max = report.ratio_max > now->ratio_max ? report.ratio_max : now->ratio_max;
        now->kl += report.kl_k1 / updates;                  /* k3 has too heavy a tail once the policy is sure of itself */
    }
    free(scratch);
    return st;
}

/* ---- files ---------------------------------------------------------------------------------------------------------------------- */

static void fail(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("train: ", stderr);
    vfprintf(stderr, format, args);
    fputs("\n", stderr);
    va_end(args);
    exit(2);
}

static FILE *open_file(const char *path) {
    FILE *f = fopen(path, "w");
    if (!f) fail("cannot write %s: %s", path, strerror(errno));
    return f;
}

static void close_file(FILE *f, const char *path) {
    int bad = ferror(f);
    if (fclose(f) || bad) fail("cannot write %s", path);
}

/* an element of a JSON list; 17 digits are exactly the float */
static void json_number(FILE *f, int first, double x) {
    if (!first) fputs(", ", f);
    if (grpo_is_finite(x)) fprintf(f, "%.17g", x);
    else fputs(x > 0 ? "\"Infinity\"" : "\"-Infinity\"", f);
}

/* a row for each response; x (N, LIMIT), NULL: true everywhere */
static void json_rows(FILE *f, const rollout *r, const char *key, const grpo_real *x) {
    fprintf(f, ",\n    \"%s\": [", key);
    for (int i = 0; i < r->n; i++) {
        fputs(i ? ",\n      [" : "\n      [", f);
        for (int j = 0; j < r->length[i]; j++)
            if (x) json_number(f, !j, x[r->offset[i] + j]);
            else fputs(j ? ", true" : "true", f);
        fputs("]", f);
    }
    fputs("]", f);
}

/* the whole batch in the format of tests/vectors */
static void dump_json(FILE *f, const char *objective, const rollout *r) {
    fprintf(f, "{ \"objective\": \"%s\",\n  \"batch\": {\n    \"group\": [", objective);
    for (int i = 0; i < r->n; i++) json_number(f, !i, i / r->group);
    fputs("],\n    \"length\": [", f);
    for (int i = 0; i < r->n; i++) json_number(f, !i, (double)r->length[i]);
    fputs("],\n    \"reward\": [", f);
    for (int i = 0; i < r->n; i++) json_number(f, !i, r->reward[i]);
    fputs("],\n    \"truncated\": [", f);
    for (int i = 0; i < r->n; i++) fprintf(f, "%s%s", i ? ", " : "", r->truncated[i] ? "true" : "false");
    fputs("],\n    \"baseline\": [", f);
    for (int g = 0; g < r->prompts; g++) json_number(f, !g, r->baseline[g]);
    fputs("]", f);
    const struct { const char *key; const grpo_real *x; } token[] = {
        { "logp", r->logp }, { "logp_old", r->logp_old }, { "logp_ref", r->logp_ref }, { "logp_rollout", r->logp_old },
        { "entropy", r->entropy }, { "value", r->value }, { "step_reward", r->step_reward }, { "step_end", NULL }
    };
    for (size_t k = 0; k < sizeof token / sizeof *token; k++) json_rows(f, r, token[k].key, token[k].x);
    fputs("\n  }\n}\n", f);
}

enum { RECORD_GROUPS = 2, RECORD_RESPONSES = 4, RECORD_N = RECORD_GROUPS * RECORD_RESPONSES };

/* largest minus smallest reward among the responses of group g that a record would show */
static float reward_spread(const rollout *r, int g) {
    const grpo_real *x = &r->reward[g * r->group];
    float low = x[0], high = x[0];
    for (int i = 1; i < RECORD_RESPONSES; i++) {
        if (x[i] < low) low = x[i];
        if (x[i] > high) high = x[i];
    }
    return high - low;
}

static void record_tokens(FILE *f, const rollout *r, const int *row, const char *name, const grpo_real *x) {
    fprintf(f, "\nstatic const float %s[] = {\n", name);
    for (int i = 0; i < RECORD_N; i++) {
        fputs("   ", f);
        for (int j = 0; j < r->length[row[i]]; j++) fprintf(f, " %#.9gf,", (double)x[r->offset[row[i]] + j]);   /* exactly the float */
        fputs("\n", f);
    }
    fputs("};\n", f);
}

/* Packed C arrays: the first responses of two groups of from .. prompts - 1, those whose rewards differ most, since a group of equal
 * rewards teaches nothing. */
static void record_c(FILE *f, int argc, char **argv, const rollout *r, int from) {
    int row[RECORD_N];
    for (int k = 0; k < RECORD_GROUPS; k++) {
        int best = from + (k && row[0] == from * r->group);
        for (int g = from; g < r->prompts; g++)
            if (!(k && row[0] == g * r->group) && reward_spread(r, g) > reward_spread(r, best)) best = g;
        for (int i = 0; i < RECORD_RESPONSES; i++) row[k * RECORD_RESPONSES + i] = best * r->group + i;
    }

    fputs("/*", f);
    for (int i = 0; i < argc; i++) fprintf(f, " %s", argv[i]);
    fputs("\n *\n", f);
    for (int i = 0; i < RECORD_N; i++) {
        fprintf(f, " * %d:", i);
        for (int t = 0; t <= MAX_DIGITS + r->length[row[i]]; t++) {
            const int token = r->tokens[row[i]][t];
            fprintf(f, " %c", t < r->first[row[i]] ? ' ' : token == END ? '.' : (char)('0' + token));
        }
        fputs(r->truncated[row[i]] ? " ...\n" : "\n", f);
    }
    fprintf(f, " */\nenum { N_GROUPS = %d, N_RESPONSES = %d };\nstatic const int64_t group_begin[] = {", RECORD_GROUPS, RECORD_N);
    for (int k = 0; k <= RECORD_GROUPS; k++) fprintf(f, " %d,", k * RECORD_RESPONSES);
    fputs(" };\nstatic const int64_t offset[] = {", f);
    int total = 0;
    for (int i = 0; i < RECORD_N; total += (int)r->length[row[i]], i++) fprintf(f, " %d,", total);
    fputs(" };\nstatic const int64_t length[] = {", f);
    for (int i = 0; i < RECORD_N; i++) fprintf(f, " %d,", (int)r->length[row[i]]);
    fprintf(f, " };\nenum { N_TOKENS = %d };\n\nstatic const float reward[] = {", total);
    for (int i = 0; i < RECORD_N; i++) fprintf(f, " %#.9gf,", (double)r->reward[row[i]]);
    fputs(" };\nstatic const uint8_t truncated[] = {", f);
    for (int i = 0; i < RECORD_N; i++) fprintf(f, " %d,", r->truncated[row[i]]);
    fputs(" };\n", f);
    record_tokens(f, r, row, "logp", r->logp);
    record_tokens(f, r, row, "logp_old", r->logp_old);
    record_tokens(f, r, row, "logp_ref", r->logp_ref);
}

/* ---- options -------------------------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *objective, *log, *dump, *record;
    const char **set;                                       /* (n_set), "PATH=VALUE" */
    int n_set, steps, prompts, group, updates;
    int64_t seed;
    double lr, target;
} options;

static const char usage[] =
    "usage: train [options]\n"
    "  --objective NAME   a row of the table of published objectives (gspo)\n"
    "  --set PATH=VALUE   change one choice of it, such as surrogate.eps_high=0.3 or aggregation.kind=token_mean; may be repeated\n"
    "  --list             the objectives, then exit\n"
    "  --steps N          rollout batches (300)\n"
    "  --prompts N        prompts in a rollout batch (64)\n"
    "  --group N          responses to a prompt (16)\n"
    "  --updates N        minibatches, each one step of Adam, in a rollout batch (4)\n"
    "  --lr X             learning rate (0.0015)\n"
    "  --seed N           of weights, prompts and samples (1)\n"
    "  --log FILE.csv     one line for each step\n"
    "  --dump FILE.json   the last batch as the loss saw it, in the format of tests/vectors\n"
    "  --record FILE      eight responses of the last minibatch as C arrays\n"
    "  --target X         exit with status 1 if the mean reward of the last tenth of the steps is below X\n";

static int64_t parse_integer(const char *name, const char *text, int64_t low, int64_t high) {
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (end == text || *end || errno || n < low || n > high)
        fail("%s needs a whole number from %lld to %lld, not \"%s\"", name, (long long)low, (long long)high, text);
    return n;
}

static double parse_number(const char *name, const char *text, double low) {
    char *end;
    double x = strtod(text, &end);
    if (end == text || *end || !grpo_is_finite(x) || x < low) fail("%s needs a number of at least %g, not \"%s\"", name, low, text);
    return x;
}

static void list_objectives(void) {
    int n;
    const grpo_preset *preset = grpo_presets(&n);
    for (int i = 0; i < n; i++) printf("%-24s %-12s %s\n", preset[i].name, preset[i].paper ? preset[i].paper : "", preset[i].summary);
}

static options parse_options(int argc, char **argv) {
    options o = { .objective = "gspo", .steps = 300, .prompts = 64, .group = 16, .updates = 4, .seed = 1, .lr = 0.0015 };
    o.set = alloc((size_t)argc, sizeof *o.set);
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(name, "--help")) { fputs(usage, stdout); exit(0); }
        if (!strcmp(name, "--list")) { list_objectives(); exit(0); }

        const char **text = !strcmp(name, "--objective") ? &o.objective : !strcmp(name, "--log") ? &o.log :
                            !strcmp(name, "--dump") ? &o.dump : !strcmp(name, "--record") ? &o.record :
                            !strcmp(name, "--set") ? &o.set[o.n_set] : NULL;
        int *count = !strcmp(name, "--steps") ? &o.steps : !strcmp(name, "--prompts") ? &o.prompts :
                     !strcmp(name, "--group") ? &o.group : !strcmp(name, "--updates") ? &o.updates : NULL;
        double *number = !strcmp(name, "--lr") ? &o.lr : !strcmp(name, "--target") ? &o.target : NULL;
        int is_seed = !strcmp(name, "--seed");
        if (!text && !count && !number && !is_seed) fail("unknown option \"%s\"; --help lists them", name);
        if (!value) fail("%s needs a value", name);
        if (text) *text = value;
        if (text == &o.set[o.n_set]) o.n_set++;
        if (count) *count = (int)parse_integer(name, value, 1, 100000);
        if (number) *number = parse_number(name, value, 0);
        if (is_seed) o.seed = parse_integer(name, value, 0, INT64_MAX);
    }
    if (o.updates > o.prompts) fail("--updates %d needs at least as many --prompts: a group is never cut", o.updates);
    if (o.prompts > 1000000 / o.group) fail("--prompts %d times --group %d is more than a million responses", o.prompts, o.group);
    if (o.record && (o.prompts < RECORD_GROUPS * o.updates || o.group < RECORD_RESPONSES))
        fail("--record needs at least --prompts %d and --group %d", RECORD_GROUPS * o.updates, RECORD_RESPONSES);
    return o;
}

/* a row of the table, its lengths cut to this task's, then what the command line changes */
static grpo_objective make_objective(const options *o) {
    grpo_objective obj;
    char text[GRPO_MESSAGE_SIZE];
    grpo_status st = grpo_objective_named(o->objective, &obj);
    if (st) fail("--objective %s: %s; --list shows them", o->objective, grpo_status_message(st, text, sizeof text));
    obj.reward.overlong_max = LIMIT;
    obj.reward.overlong_cache = LIMIT - (MAX_DIGITS + 1);   /* no right response is that long */
    obj.aggregation.constant = LIMIT;
    for (int i = 0; i < o->n_set; i++) {
        char path[64], *end;
        const char *equals = strchr(o->set[i], '=');
        if (!equals || equals == o->set[i] || !equals[1] || equals - o->set[i] >= (ptrdiff_t)sizeof path)
            fail("--set needs PATH=VALUE, not \"%s\"", o->set[i]);
        memcpy(path, o->set[i], (size_t)(equals - o->set[i]));
        path[equals - o->set[i]] = 0;
        double number = strtod(equals + 1, &end);
        st = *end ? grpo_objective_choose(&obj, path, equals + 1) : grpo_objective_set(&obj, path, number);
        if (st) fail("--set %s: %s", o->set[i], grpo_status_message(st, text, sizeof text));
    }
    return obj;
}

/* ---- training ------------------------------------------------------------------------------------------------------------------- */

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static void print_progress(int live, int step, int steps, const metrics *now) {
    const int tenth = steps >= 10 ? steps / 10 : 1, last = step == steps - 1;
    if (!live && step % tenth && !last) return;
    printf("%sstep %4d/%d  reward %.3f  clipped %5.1f %%  kl %.3f  length %4.1f  %6.0f tokens/s%s",
           live ? "\r" : "", step + 1, steps, now->reward, 100 * now->clip_fraction, now->kl, now->length, now->tokens_per_s,
           live && !last ? "" : "\n");
    fflush(stdout);
}

int main(int argc, char **argv) {
    static options o;                                       /* static: all memory is needed, and reachable, to the end */
    static rollout r;
    static learner l;
    static model reference;
    static activations scratch;
    static float critic_weights[D + 1];

    o = parse_options(argc, argv);
    const grpo_objective obj = make_objective(&o);
    const int live = isatty(STDOUT_FILENO);
    FILE *csv = o.log ? open_file(o.log) : NULL;
    FILE *dump = o.dump ? open_file(o.dump) : NULL;
    FILE *record = o.record ? open_file(o.record) : NULL;

    uint64_t rng = (uint64_t)o.seed;
    rollout_init(&r, o.prompts, o.group);
    model_init(&l.policy, &rng);
    reference = l.policy;

    if (csv) fputs("step,reward,loss,clip_fraction,ratio_mean,ratio_max,kl,length,tokens_per_s\n", csv);
    double first_reward = 0, last_reward = 0;
    const int last_steps = o.steps >= 10 ? o.steps / 10 : 1;
    const double start = seconds();
    double tokens = 0;
    for (int step = 0; step < o.steps; step++) {
        metrics now = { 0 };
        rollout_sample(&r, &l.policy, &reference, &scratch, &rng);
        critic(critic_weights, &r);
        grpo_status st = update(&obj, &r, &l, o.updates, o.lr, &now);
        char text[GRPO_MESSAGE_SIZE];
        if (st) fail("%s: %s", o.objective, grpo_status_message(st, text, sizeof text));

        for (int i = 0; i < r.n; i++) {
            now.reward += (double)r.reward[i] / r.n;
            now.length += (double)r.length[i] / r.n;
        }
        tokens += now.length * r.n;
        now.tokens_per_s = tokens / (seconds() - start + 1e-9);
        if (step == 0) first_reward = now.reward;
        if (step >= o.steps - last_steps) last_reward += now.reward / last_steps;
        print_progress(live, step, o.steps, &now);
        if (csv)
            fprintf(csv, "%d,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.0f\n", step + 1, now.reward, now.loss, now.clip_fraction,
                    now.ratio_mean, now.ratio_max, now.kl, now.length, now.tokens_per_s);
    }
    printf("objective %s: reward %.2f -> %.2f in %.1f s\n", o.objective, first_reward, last_reward, seconds() - start);

    if (dump) dump_json(dump, o.objective, &r);
    if (record) record_c(record, argc, argv, &r, o.prompts * (o.updates - 1) / o.updates);
    if (csv) close_file(csv, o.log);
    if (dump) close_file(dump, o.dump);
    if (record) close_file(record, o.record);
    return last_reward < o.target;
}
