/* train.c - a tiny transformer learns to reverse lists, by reinforcement learning alone, with any objective of grpo.h and gspo.h.
 *
 *     cc -std=c99 -O2 examples/train.c -lm -o train
 *     ./train --objective gspo
 *     ./train --help
 *
 * The prompt is a list of digits, "3 1 2 0 .", and the right response is the list in reverse, "0 2 1 3 .".  The policy starts from
 * random weights and is never shown a right response: it samples a group of responses to every prompt, a verifier scores them, the
 * library turns scores into advantages and advantages into d loss / d logp, and the rest is back-propagation.
 *
 * Many objectives read more than log-probabilities and rewards: a reference, a teacher, a critic, demonstrations ...  The table ARRAYS
 * lists all arrays and what the trainer computes them from, each in the simplest way possible.
 *
 * Contents:  sizes | random numbers | policy: linear, attention, feed-forward, head; forward, backward, Adam | task | arrays | rollout |
 *            critic, partition function | update | pictures | files | objectives | options | training
 * To understand training, read down to `update`, then `training`; the sections between write files and texts.
 *
 * Licence: MIT-0, as grpo.h. */
#define _POSIX_C_SOURCE 200112L   /* clock_gettime, isatty, nl_langinfo, popen */
#define GSPO_IMPLEMENTATION
#include "../gspo.h"
#define GRPO_SELECTION_IMPLEMENTATION
#include "../extra/grpo_selection.h"   /* tokens selected by entropy, covariance, probability */
#define GRPO_WEIGHTS_IMPLEMENTATION
#include "../extra/grpo_weights.h"     /* weights of tokens that good and bad responses share */
#define GRPO_CONTEXT_IMPLEMENTATION
#include "../extra/grpo_context.h"     /* which arrays an objective reads */
#define GRPO_LINT_OBJECTIVE_IMPLEMENTATION
#include "../extra/grpo_lint_objective.h"     /* warnings of settings without effect */

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
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
    F = 64,                           /* width of the feed-forward layer */
    LANES = 8,                        /* vector width that loops are written for; the widths are multiples of it */
    H = 16                            /* width of the head: V, padded with unused columns */
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
    float head[D * H], head_bias[H];
} model;

enum { N_FLOATS = sizeof(model) / sizeof(float), N_WEIGHTS = N_FLOATS - (D + 1) * (H - V) };

/* activations of the forward pass, for the backward pass; row t is position t */
typedef struct {
    float x[T][D];             /* token + position */
    float q[T][D], k[T][D], v[T][D];
    float att[T][T];           /* att[t][s]: attention of t to s <= t */
    float mix[T][D];           /* sum of att v */
    float y[T][D];             /* x + attention */
    float h[T][F];             /* relu */
    float z[T][D];             /* y + feed-forward */
    float prob[T][H];          /* of the token at t + 1 */
} activations;

/* y += x w,  x (rows, n), w (n, m), y (rows, m) */
static void linear_forward(float *restrict y, const float *restrict x, const float *restrict w, int rows, int n, int m) {
    for (; rows > 0; rows--, x += n, y += m)
        for (int j = 0; j < m; j += LANES) {
            float sum[LANES];
            for (int k = 0; k < LANES; k++) sum[k] = y[j + k];
            for (int i = 0; i < n; i++)
                for (int k = 0; k < LANES; k++) sum[k] += x[i] * w[i * m + j + k];
            for (int k = 0; k < LANES; k++) y[j + k] = sum[k];
        }
}

/* dx += dy w^T, dw += x^T dy */
static void linear_backward(float *restrict dx, float *restrict dw, const float *restrict dy, const float *restrict x,
                            const float *restrict w, int rows, int n, int m) {
    for (; rows > 0; rows--, x += n, dx += n, dy += m)
        for (int i = 0; i < n; i++) {
            float sum[LANES] = { 0 };
            for (int j = 0; j < m; j += LANES)
                for (int k = 0; k < LANES; k++) {
                    sum[k] += w[i * m + j + k] * dy[j + k];
                    dw[i * m + j + k] += x[i] * dy[j + k];
                }
            for (int k = 0; k < LANES; k++) dx[i] += sum[k];
        }
}

/* in place; (n) */
static void softmax(float *x, int n) {
    float max = x[0], sum = 0;
    for (int i = 1; i < n; i++) if (x[i] > max) max = x[i];
    for (int i = 0; i < n; i++) sum += x[i] = expf(x[i] - max);
    for (int i = 0; i < n; i++) x[i] /= sum;
}

/* a . b, (D) */
static float dot(const float *a, const float *b) {
    float sum[LANES] = { 0 }, total = 0;
    for (int i = 0; i < D; i += LANES)
        for (int k = 0; k < LANES; k++) sum[k] += a[i + k] * b[i + k];
    for (int k = 0; k < LANES; k++) total += sum[k];
    return total;
}

/* y += c x, (D) */
static void add(float *restrict y, float c, const float *restrict x) {
    for (int i = 0; i < D; i++) y[i] += c * x[i];
}

/* position t attends to positions first .. t */
static void attention_forward(activations *a, int first, int t) {
    for (int s = first; s <= t; s++) a->att[t][s] = dot(a->q[t], a->k[s]) / sqrtf(D);
    softmax(&a->att[t][first], t - first + 1);
    memset(a->mix[t], 0, sizeof a->mix[t]);
    for (int s = first; s <= t; s++) add(a->mix[t], a->att[t][s], a->v[s]);
}

/* dmix (D) -> dq (D) of position t, dk and dv (T, D) of the positions it attended to */
static void attention_backward(const activations *a, int first, int t, const float *dmix, float *dq, float (*dk)[D], float (*dv)[D]) {
    float datt[T], mean = 0;
    for (int s = first; s <= t; s++) {
        datt[s] = dot(dmix, a->v[s]);
        mean += a->att[t][s] * datt[s];
        add(dv[s], a->att[t][s], dmix);
    }
    for (int s = first; s <= t; s++) {
        const float dscore = a->att[t][s] * (datt[s] - mean) / sqrtf(D);
        add(dq, dscore, a->k[s]);
        add(dk[s], dscore, a->q[t]);
    }
}

/* The positions from .. to - 1 of tokens (T), given all earlier ones: a whole sequence at once, or one more token while sampling.
 * Before the '.' of the prompt nothing is predicted, and there only the keys and values are needed. */
static void forward(const model *m, activations *a, const int *tokens, int first, int from, int to) {
    for (int t = from; t < to; t++)
        for (int i = 0; i < D; i++) {
            a->x[t][i] = m->token[tokens[t]][i] + m->position[t][i];
            a->q[t][i] = a->k[t][i] = a->v[t][i] = 0;
        }
    linear_forward(a->k[from], a->x[from], m->key, to - from, D, D);
    linear_forward(a->v[from], a->x[from], m->value, to - from, D, D);

    if (from < MAX_DIGITS) from = MAX_DIGITS;
    const int rows = to - from;
    linear_forward(a->q[from], a->x[from], m->query, rows, D, D);
    for (int t = from; t < to; t++) {
        attention_forward(a, first, t);
        memcpy(a->y[t], a->x[t], sizeof a->y[t]);
        memcpy(a->h[t], m->up_bias, sizeof a->h[t]);
        memcpy(a->prob[t], m->head_bias, sizeof a->prob[t]);
    }
    linear_forward(a->y[from], a->mix[from], m->merge, rows, D, D);

    linear_forward(a->h[from], a->y[from], m->up, rows, D, F);
    for (int t = from; t < to; t++) {
        for (int i = 0; i < F; i++) if (a->h[t][i] < 0) a->h[t][i] = 0;
        memcpy(a->z[t], a->y[t], sizeof a->z[t]);
    }
    linear_forward(a->z[from], a->h[from], m->down, rows, F, D);

    linear_forward(a->prob[from], a->z[from], m->head, rows, D, H);
    for (int t = from; t < to; t++) softmax(a->prob[t], V);
}

/* in nats */
static float entropy_of(const float *prob) {
    float entropy = 0;
    for (int k = 0; k < V; k++) entropy -= prob[k] > 0 ? prob[k] * logf(prob[k]) : 0;
    return entropy;
}

static float log_over(float p, float q) { return logf(p) - logf(q > 1e-30f ? q : 1e-30f); }

/* KL(p || q) */
static float divergence_of(const float *p, const float *q) {
    float sum = 0;
    for (int k = 0; k < V; k++) sum += p[k] > 0 ? p[k] * log_over(p[k], q[k]) : 0;
    return sum > 0 ? sum : 0;
}

/* d loss / d logits of one position, dlogit (H): from those with respect to the log-probability of `token` and to the entropy */
static void head_backward(const float *prob, int token, float dlogp, float dentropy, float *dlogit) {
    const float entropy = dentropy != 0 ? entropy_of(prob) : 0;
    for (int k = 0; k < V; k++) {
        dlogit[k] = dlogp * ((float)(k == token) - prob[k]);
        if (dentropy != 0 && prob[k] > 0) dlogit[k] -= dentropy * prob[k] * (logf(prob[k]) + entropy);
    }
}

/* adds the gradient through the divergence from q (V) */
static void divergence_backward(const float *prob, const float *q, float ddivergence, float *dlogit) {
    const float divergence = divergence_of(prob, q);
    for (int k = 0; k < V; k++) if (prob[k] > 0) dlogit[k] += ddivergence * prob[k] * (log_over(prob[k], q[k]) - divergence);
}

/* Adds to dm the gradient of a loss with respect to every weight, from dlogp and dentropy (to - MAX_DIGITS), its gradient with respect to
 * the log-probability of the token after each position MAX_DIGITS .. to - 1 and to the entropy there, and ddivergence, that with respect
 * to the divergence from `reference`. */
static void backward(const model *m, model *dm, const activations *a, const int *tokens, int first, int to, const grpo_real *dlogp,
                     const grpo_real *dentropy, const grpo_real *ddivergence, float (*reference)[H]) {
    enum { P = MAX_DIGITS };                                           /* the first position that predicts a token */
    const int rows = to - P;
    float dk[T][D] = { { 0 } }, dv[T][D] = { { 0 } }, dq[T][D] = { { 0 } }, dx[T][D] = { { 0 } };
    float dlogit[T][H] = { { 0 } }, dz[T][D] = { { 0 } }, dh[T][F] = { { 0 } }, dmix[T][D] = { { 0 } };
    for (int t = P; t < to; t++) {
        head_backward(a->prob[t], tokens[t + 1], (float)dlogp[t - P], (float)dentropy[t - P], dlogit[t]);
        if (ddivergence[t - P] != 0) divergence_backward(a->prob[t], reference[t - P], (float)ddivergence[t - P], dlogit[t]);
        for (int k = 0; k < V; k++) dm->head_bias[k] += dlogit[t][k];
    }
    linear_backward(dz[P], dm->head, dlogit[P], a->z[P], m->head, rows, D, H);

    linear_backward(dh[P], dm->down, dz[P], a->h[P], m->down, rows, F, D);
    for (int t = P; t < to; t++)
        for (int i = 0; i < F; i++) {
            if (a->h[t][i] == 0) dh[t][i] = 0;
            dm->up_bias[i] += dh[t][i];
        }
    linear_backward(dz[P], dm->up, dh[P], a->y[P], m->up, rows, D, F);   /* dz becomes dy: the residual stream passes it on */

    linear_backward(dmix[P], dm->merge, dz[P], a->mix[P], m->merge, rows, D, D);
    for (int t = P; t < to; t++) attention_backward(a, first, t, dmix[t], dq[t], dk, dv);
    memcpy(dx[P], dz[P], (size_t)rows * sizeof dx[P]);
    linear_backward(dx[P], dm->query, dq[P], a->x[P], m->query, rows, D, D);
    linear_backward(dx[first], dm->key, dk[first], a->x[first], m->key, to - first, D, D);
    linear_backward(dx[first], dm->value, dv[first], a->x[first], m->value, to - first, D, D);
    for (int t = first; t < to; t++) {
        add(dm->token[tokens[t]], 1, dx[t]);
        add(dm->position[t], 1, dx[t]);
    }
}

static void model_init(model *m, uint64_t *rng) {
    float *w = (float *)m;
    for (int i = 0; i < N_FLOATS; i++) w[i] = 0.6f * (random_uniform(rng) - 0.5f);    /* deviation 1/sqrt(D) */
    memset(m->up_bias, 0, sizeof m->up_bias);
    memset(m->head_bias, 0, sizeof m->head_bias);
    for (int i = 0; i < D * H; i++) m->head[i] *= 0.1f;                /* all tokens almost equally likely: explore first */
}

typedef struct {
    model policy, gradient, mean, square;   /* Adam's moving averages of gradient and squared gradient */
    int steps;
} learner;

/* Adam (1412.6980) with the gradient's norm clipped to 1 */
static void adam(learner *l, double lr) {
    float *w = (float *)&l->policy, *dw = (float *)&l->gradient, *mean = (float *)&l->mean, *square = (float *)&l->square;
    const float b1 = 0.9f, b2 = 0.99f;
    double norm = 0;
    for (int i = 0; i < N_FLOATS; i++) norm += (double)dw[i] * dw[i];
    norm = sqrt(norm);
    const float clip = norm > 1 ? (float)(1 / norm) : 1.0f;
    l->steps++;
    const float rate = (float)(lr * sqrt(1 - pow(b2, l->steps)) / (1 - pow(b1, l->steps)));
    for (int i = 0; i < N_FLOATS; i++) {
        const float g = dw[i] * clip;
        mean[i] = b1 * mean[i] + (1 - b1) * g;
        square[i] = b2 * square[i] + (1 - b2) * g * g;
        w[i] -= rate * mean[i] / (sqrtf(square[i]) + 1e-8f);
    }
}

/* ---- task ----------------------------------------------------------------------------------------------------------------------- */

/* writes n random digits and '.' to the right end of tokens (MAX_DIGITS + 1); returns the index of the first */
static int task_prompt(int *tokens, int n, uint64_t *rng) {
    const int first = MAX_DIGITS - n;
    for (int t = first; t < MAX_DIGITS; t++) tokens[t] = random_below(rng, 10);
    tokens[MAX_DIGITS] = END;
    return first;
}

/* the right token at place j of the response */
static int task_right(const int *tokens, int first, int j) { return j < MAX_DIGITS - first ? tokens[MAX_DIGITS - 1 - j] : END; }

/* Verifier: the square of the fraction of positions with the right token, so that correcting the last mistake gains most; 1 only for the
 * right response. */
static float task_reward(const int *tokens, int first, int64_t length) {
    const int64_t n = MAX_DIGITS - first + 1;
    int count = 0;
    for (int j = 0; j < length && j < n; j++) count += tokens[MAX_DIGITS + 1 + j] == task_right(tokens, first, j);
    const float share = (float)count / (float)(length > n ? length : n);
    return share * share;
}

/* Expert: a rule that solves the task, in place of a larger model.  Its probability of token k at position j: */
static float expert_prob(const int *tokens, int first, int j, int k) {
    return k == task_right(tokens, first, j) ? 0.99f : 0.01f / (V - 1);
}

/* appends the expert's most probable response to the prompt; returns its number of tokens */
static int expert_response(int *tokens, int first) {
    const int n = MAX_DIGITS - first + 1;
    for (int j = 0; j < n; j++) tokens[MAX_DIGITS + 1 + j] = task_right(tokens, first, j);
    return n;
}

/* ---- arrays ---------------------------------------------------------------------------------------------------------------------
 * The arrays of a batch: type, name in grpo_batch, elements per token, response, or prompt; its name in --list, and its source.  Only
 * arrays that the objective reads are filled, the others are NULL. */

#define ARRAYS(X) \
    X(grpo_real, logp,            token,    NULL, "the policy as it is now") \
    X(grpo_real, logp_old,        token,    NULL, "the policy that sampled") \
    X(grpo_real, reward,          response, NULL, "the verifier") \
    X(uint8_t,   truncated,       response, NULL, "the response has not ended after ten tokens") \
    X(grpo_real, entropy,         token,    NULL, "the policy as it is now") \
    X(grpo_real, logp_ref,        token,    "reference", "the policy before training, almost uniform") \
    X(grpo_real, logp_rollout,    token,    "engine", "the sampler, which rounds log-probabilities to bfloat16 and so differs a little") \
    X(grpo_real, logp_teacher,    token,    "teacher", "a rule that knows the answer: 0.99 for the right token") \
    X(grpo_real, baseline,        prompt,   "baseline", "the reward of the greedy response") \
    X(grpo_real, value,           token,    "critic", "a linear guess of the reward from the last layer; with a teacher's log-ratio as " \
                                                      "advantage, the mean of that") \
    X(uint8_t,   step_end,        token,    "steps", "two tokens are a step") \
    X(grpo_real, step_reward,     token,    "steps", "the share of right tokens in the step") \
    X(int64_t,   state,           token,    "states", "the place in the response where the step begins, and the token before") \
    X(uint8_t,   segment_end,     token,    "segments", "two tokens are a segment, or turn") \
    X(grpo_real, rewards,         response, "rewards", "two of them: the verifier, and half as much for the right number of tokens") \
    X(int64_t,   token_id,        token,    "tokens", "the tokens themselves") \
    X(grpo_real, sum_pi_squared,  token,    "squares", "the policy that sampled: the sum of its squared probabilities") \
    X(uint8_t,   selected,        token,    "selected", "the fifth of the highest entropy; or a hundredth, by covariance of advantage " \
        "and log-probability; or by probability, below and above 1/2 in turns; or the expert's") \
    X(uint8_t,   kl_mask,         token,    "KL mask", "the hundredth of the largest covariance; or as selected") \
    X(uint8_t,   nll_mask,        token,    "expert", "the last response to each prompt is the expert's: the right one") \
    X(uint8_t,   shaping_mask,    token,    "expert", "the last response to each prompt is the expert's: the right one") \
    X(uint8_t,   excluded,        response, "excluded", "the expert's response; or half of those worse than the mean, at random") \
    X(uint8_t,   marked,          token,    "marked", "the first token, which plans where to begin") \
    X(grpo_real, log_partition,   prompt,   "partition", "learned, one number for each length of the list") \
    X(grpo_real, external_weight, token,    "weights", \
      "grpo_conflict_weight in place of the row's own weights: less for tokens that good and bad responses share") \
    X(grpo_real, eps_low,         token,    "bounds", "0.1, and 0.2 more where the entropy is highest") \
    X(grpo_real, eps_high,        token,    "bounds", "0.1, and 0.4 more where the entropy is highest") \
    X(grpo_real, divergence_ref,  token,    "divergence", "KL over all tokens, of the policy as it is from that before training") \
    X(grpo_real, divergence_old,  token,    "divergence", "the same, from the policy that sampled")

#define ARRAY_ID(type, name, of, word, source) ARRAY_##name,
enum { ARRAYS(ARRAY_ID) N_ARRAYS };

enum { of_token = 't', of_response = 'r', of_prompt = 'p' };
#define ARRAY_INFO(type, name, of, word, source) { #name, word, source, #type, of_##of, sizeof(type), offsetof(grpo_batch, name) },
static const struct { const char *name, *word, *source, *type; char of; size_t size, at; } arrays[] = { ARRAYS(ARRAY_INFO) };

enum { N_REWARDS = 2, STEP = 2 };
static const grpo_real reward_weight[N_REWARDS] = { 1, 0.5f };

/* does the objective read array k? */
static int is_read(const grpo_objective *obj, int k) {
    return !arrays[k].word || grpo_context_array_use(obj, GRPO_READER_ADVANTAGES, arrays[k].name) > GRPO_ARRAY_UNREAD ||
           grpo_context_array_use(obj, GRPO_READER_LOSS, arrays[k].name) == GRPO_ARRAY_NEEDED;   /* the report may read others */
}

/* is the last response to each prompt the expert's? */
static int reads_expert(const grpo_objective *obj) {
    return is_read(obj, ARRAY_nll_mask) || is_read(obj, ARRAY_shaping_mask) || obj->advantage.excluded > GRPO_EXCLUDED_ZERO;
}

/* ---- rollout --------------------------------------------------------------------------------------------------------------------
 * N responses, `group` for each prompt, in the library's layout: N rows of LIMIT elements in every token array. */

#define ARRAY_MEMBER(type, name, of, word, source) type *name;
typedef struct {
    int prompts, group, n;
    int64_t *group_begin;                                   /* (prompts + 1) */
    int64_t *offset, *length;                               /* (N) */
    int *first;                                             /* (N), where the prompt begins in tokens */
    int (*tokens)[T + 1];                                   /* (N), prompt and response */
    activations *act;                                       /* (N) */
    ARRAYS(ARRAY_MEMBER)                                    /* token: (N, LIMIT), response: (N), prompt: (prompts) */
    grpo_real *advantage, *dlogp, *dentropy, *ddivergence;  /* (N, LIMIT) */
    float (*prob_ref)[H], (*prob_old)[H];                   /* (N, LIMIT) for divergences from these policies */
    grpo_real *covariance, *dlog_partition;                 /* (N, LIMIT), (prompts) */
    int has_expert;                                         /* is the last response to each prompt the expert's? */
    float partition[MAX_DIGITS + 1];                        /* log_partition, by the length of the list */
    float critic[D + 1];
    grpo_batch batch;                                       /* a view of these arrays */
} rollout;

static void *alloc(size_t count, size_t size) {
    void *p = calloc(count, size);
    if (!p) { fprintf(stderr, "train: out of memory\n"); exit(1); }
    return p;
}

static void rollout_init(rollout *r, const grpo_objective *obj, int prompts, int group) {
    const size_t p = (size_t)prompts, n = p * (size_t)group, tokens = n * LIMIT;
    r->prompts = prompts; r->group = group; r->n = (int)n;
    r->group_begin = alloc(p + 1, sizeof *r->group_begin);
    r->offset = alloc(n, sizeof *r->offset);
    r->length = alloc(n, sizeof *r->length);
    r->first = alloc(n, sizeof *r->first);
    r->tokens = alloc(n, sizeof *r->tokens);
    r->act = alloc(n, sizeof *r->act);
    grpo_real **per_token[] = { &r->advantage, &r->dlogp, &r->dentropy, &r->ddivergence, &r->covariance };
    r->prob_ref = alloc(tokens, sizeof *r->prob_ref);
    r->prob_old = alloc(tokens, sizeof *r->prob_old);
    for (int k = 0; k < 5; k++) *per_token[k] = alloc(tokens, sizeof(grpo_real));
    r->dlog_partition = alloc(p, sizeof *r->dlog_partition);
    for (int g = 0; g <= prompts; g++) r->group_begin[g] = (int64_t)g * group;
    for (int i = 0; i < r->n; i++) r->offset[i] = (int64_t)i * LIMIT;

    r->batch = (grpo_batch){ .n_groups = prompts, .group_begin = r->group_begin, .offset = r->offset, .length = r->length,
                             .n_tokens = (int64_t)tokens, .n_rewards = N_REWARDS, .reward_weight = reward_weight };
#define ARRAY_ALLOC(type, name, of, word, source) \
    if (is_read(obj, ARRAY_##name)) \
        r->batch.name = r->name = alloc((of_##of == of_token ? tokens : of_##of == of_response ? n : p) * N_REWARDS, sizeof(type));
    ARRAYS(ARRAY_ALLOC)                                     /* times N_REWARDS: one of them is (N, N_REWARDS) */
    r->has_expert = reads_expert(obj);
}

/* x rounded to bfloat16, which has eight significant bits */
static float bfloat16(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x8000u) & 0xFFFF0000u;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* the probabilities (V) of an inference engine with lower precision */
static void engine_prob(const float *prob, float *out) {
    for (int k = 0; k < V; k++) out[k] = bfloat16(logf(prob[k] > 1e-30f ? prob[k] : 1e-30f));
    softmax(out, V);
}

enum { GREEDY, SAMPLE, SAMPLE_COARSELY };

/* continues tokens after the prompt.  Returns the number of tokens, '.' included. */
static int generate(const model *m, activations *a, int *tokens, int first, int how, uint64_t *rng) {
    int n = 0, from = first, token;
    do {
        const int t = MAX_DIGITS + n;
        float coarse[V];
        const float *p = a->prob[t];
        forward(m, a, tokens, first, from, t + 1);
        from = t + 1;
        token = 0;
        if (how == SAMPLE_COARSELY) { engine_prob(p, coarse); p = coarse; }
        if (how == GREEDY) {
            for (int k = 1; k < V; k++) if (p[k] > p[token]) token = k;
        } else {
            float u = random_uniform(rng) - p[0];
            while (u >= 0 && token < V - 1) u -= p[++token];
        }
        tokens[t + 1] = token;
        n++;
    } while (token != END && n < LIMIT);
    return n;
}

/* log-probabilities of response i from the activations of a forward pass, logp (LIMIT) */
static void response_logp(const rollout *r, int i, const activations *a, grpo_real *logp) {
    for (int j = 0; j < r->length[i]; j++) {
        const float p = a->prob[MAX_DIGITS + j][r->tokens[i][MAX_DIGITS + 1 + j]];
        logp[j] = logf(p > 1e-30f ? p : 1e-30f);
    }
}

/* fills the token arrays at position j of response i */
static void fill_token(rollout *r, int i, int j) {
    const int *tokens = r->tokens[i], *response = &tokens[MAX_DIGITS + 1], first = r->first[i];
    const float *p = r->act[i].prob[MAX_DIGITS + j];
    const int64_t t = r->offset[i] + j;
    const int start = j - j % STEP, ends = j % STEP == STEP - 1 || j == r->length[i] - 1;
    const int is_experts = r->has_expert && i % r->group == r->group - 1;
    float coarse[V], sum = 0;
    if (is_experts) r->logp_old[t] = logf(expert_prob(tokens, first, j, response[j]));     /* the policy that wrote it */
    if (r->logp_teacher) r->logp_teacher[t] = logf(expert_prob(tokens, first, j, response[j]));
    if (r->logp_rollout) {
        engine_prob(p, coarse);
        r->logp_rollout[t] = logf(coarse[response[j]] > 1e-30f ? coarse[response[j]] : 1e-30f);
    }
    if (r->logp_rollout && is_experts) r->logp_rollout[t] = r->logp_old[t];
    r->entropy[t] = entropy_of(p);
    memcpy(r->prob_old[t], p, sizeof r->prob_old[t]);
    for (int k = 0; k < V; k++) sum += p[k] * p[k];
    if (r->sum_pi_squared) r->sum_pi_squared[t] = sum;
    if (r->token_id) r->token_id[t] = response[j];
    if (r->state) r->state[t] = start * V + response[start - 1];                            /* the '.' of the prompt at place -1 */
    if (r->segment_end) r->segment_end[t] = (uint8_t)ends;
    if (r->step_end) r->step_end[t] = (uint8_t)ends;
    if (r->step_reward) {
        int right = 0;
        for (int k = start; k <= j; k++) right += response[k] == task_right(tokens, first, k);
        r->step_reward[t] = (float)right / (float)(j - start + 1);
    }
    if (r->marked) r->marked[t] = j == 0;
    if (r->nll_mask) r->nll_mask[t] = (uint8_t)is_experts;
    if (r->shaping_mask) r->shaping_mask[t] = (uint8_t)is_experts;
}

/* fills the arrays of response i, whose tokens and activations are already there */
static void fill_response(rollout *r, int i, const model *reference, activations *scratch) {
    const int first = r->first[i], n = MAX_DIGITS - first + 1;
    r->truncated[i] = r->tokens[i][MAX_DIGITS + r->length[i]] != END;
    r->reward[i] = task_reward(r->tokens[i], first, r->length[i]);
    if (r->rewards) {
        r->rewards[i * N_REWARDS] = r->reward[i];
        r->rewards[i * N_REWARDS + 1] = (float)(r->length[i] == n);
    }
    response_logp(r, i, &r->act[i], &r->logp_old[r->offset[i]]);
    if (r->logp_ref || r->divergence_ref) {
        forward(reference, scratch, r->tokens[i], first, first, MAX_DIGITS + (int)r->length[i]);
        if (r->logp_ref) response_logp(r, i, scratch, &r->logp_ref[r->offset[i]]);
        memcpy(r->prob_ref[r->offset[i]], scratch->prob[MAX_DIGITS], (size_t)r->length[i] * sizeof *r->prob_ref);
    }
    for (int j = 0; j < r->length[i]; j++) fill_token(r, i, j);
}

/* the expert's response for those that use one, else half of the responses below the mean (RED-Drop) */
static void fill_excluded(rollout *r, int g, uint64_t *rng) {
    const int begin = g * r->group, end = begin + r->group;
    float mean = 0;
    for (int i = begin; i < end; i++) mean += (float)r->reward[i] / (float)r->group;
    for (int i = begin; i < end; i++)
        r->excluded[i] = (uint8_t)(r->has_expert ? i == end - 1 : r->reward[i] < mean && random_below(rng, 2));
}

static void rollout_sample(rollout *r, const model *policy, const model *reference, activations *scratch, uint64_t *rng) {
    for (int g = 0; g < r->prompts; g++) {
        int tokens[T + 1];
        const int first = task_prompt(tokens, MIN_DIGITS + random_below(rng, MAX_DIGITS - MIN_DIGITS + 1), rng);
        for (int i = g * r->group; i < (g + 1) * r->group; i++) {
            memcpy(r->tokens[i], tokens, sizeof tokens);
            r->first[i] = first;
            r->length[i] = generate(policy, &r->act[i], r->tokens[i], first, r->logp_rollout ? SAMPLE_COARSELY : SAMPLE, rng);
            if (r->has_expert && i % r->group == r->group - 1) {
                r->length[i] = expert_response(r->tokens[i], first);
                forward(policy, &r->act[i], r->tokens[i], first, first, MAX_DIGITS + (int)r->length[i]);
            }
            fill_response(r, i, reference, scratch);
        }
        if (r->baseline) r->baseline[g] = task_reward(tokens, first, generate(policy, scratch, tokens, first, GREEDY, NULL));
        if (r->excluded) fill_excluded(r, g, rng);
    }
}

/* mean reward, or mean length, of the policy's own responses */
static double own_mean(const rollout *r, int of_length) {
    const int own = r->group - r->has_expert;
    double sum = 0;
    for (int i = 0; i < r->n; i++)
        if (i % r->group < own) sum += of_length ? (double)r->length[i] : (double)r->reward[i];
    return sum / ((double)r->prompts * own);
}

/* ---- critic, partition function -------------------------------------------------------------------------------------------------
 * The value V of GAE: a linear prediction of the reward from the policy's last layer, before each token.  It is trained by normalised least
 * mean squares; no gradient of it reaches the policy. */

static void fill_value(rollout *r) {
    float *w = r->critic;                                   /* (D + 1) */
    for (int i = 0; i < r->n; i++) {
        grpo_real *value = &r->value[r->offset[i]];
        for (int j = 0; j < r->length[i]; j++) value[j] = w[D] + dot(w, r->act[i].z[MAX_DIGITS + j]);
        for (int j = 0; j < r->length[i]; j++) {            /* after all values are computed, so that no value depends on its own reward */
            const float *z = r->act[i].z[MAX_DIGITS + j];
            const float step = 0.02f * ((float)r->reward[i] - (float)value[j]) / (1 + dot(z, z));
            add(w, step, z);
            w[D] += step;
        }
    }
}

/* where the advantage is the teacher's log-ratio, the value of a token is the log-ratio's mean over the vocabulary (VOPD) */
static void fill_value_of_teacher(rollout *r) {
    for (int i = 0; i < r->n; i++)
        for (int j = 0; j < r->length[i]; j++) {
            const float *p = r->act[i].prob[MAX_DIGITS + j];
            float mean = 0;
            for (int k = 0; k < V; k++) mean += p[k] > 0 ? p[k] * (logf(expert_prob(r->tokens[i], r->first[i], j, k)) - logf(p[k])) : 0;
            r->value[r->offset[i] + j] = mean;
        }
}

/* FlowRL's log Z for a minibatch; its gradient step follows after the minibatch */
static void fill_log_partition(rollout *r) {
    for (int g = 0; g < r->prompts; g++) r->log_partition[g] = r->partition[MAX_DIGITS - r->first[g * r->group]];
}

static void learn_log_partition(rollout *r, int64_t g0, int64_t g1) {
    for (int64_t g = g0; g < g1; g++) r->partition[MAX_DIGITS - r->first[g * r->group]] -= (float)r->dlog_partition[g - g0];
}

/* ---- update ---------------------------------------------------------------------------------------------------------------------
 * The responses are split into minibatches of whole groups, with one step of Adam for each.  The first is on-policy; before every later one
 * the policy has changed since it sampled, which ratios and clips account for. */

typedef struct { double reward, loss, clip_fraction, ratio_mean, ratio_max, entropy, approx_kl, length, tokens_per_s; } metrics;

/* log-probabilities, entropies and divergences of a minibatch under the current m; clip bounds that grow with the entropy, where the batch
 * gives them */
static void evaluate(rollout *r, const model *m, const grpo_batch *part) {
    for (int i = (int)part->group_begin[0]; i < part->group_begin[part->n_groups]; i++) {
        forward(m, &r->act[i], r->tokens[i], r->first[i], r->first[i], MAX_DIGITS + (int)r->length[i]);
        response_logp(r, i, &r->act[i], &r->logp[r->offset[i]]);
        for (int64_t t = r->offset[i]; t < r->offset[i] + r->length[i]; t++) {
            const float *p = r->act[i].prob[MAX_DIGITS + t - r->offset[i]];
            r->entropy[t] = entropy_of(p);
            if (r->divergence_ref) r->divergence_ref[t] = divergence_of(p, r->prob_ref[t]);
            if (r->divergence_old) r->divergence_old[t] = divergence_of(p, r->prob_old[t]);
            if (r->eps_low) r->eps_low[t] = 0.1f + 0.2f * r->entropy[t] / logf(V);
            if (r->eps_high) r->eps_high[t] = 0.1f + 0.4f * r->entropy[t] / logf(V);
        }
    }
}

static int64_t count_tokens(const rollout *r, const grpo_batch *part) {
    int64_t n = 0;
    for (int64_t i = part->group_begin[0]; i < part->group_begin[part->n_groups]; i++) n += r->length[i];
    return n;
}

/* selects at most `count` random tokens whose covariance is within the bounds of the paper's code (Clip-Cov) */
static grpo_status select_at_random(rollout *r, const grpo_batch *part, int64_t count, uint64_t *rng) {
    const int64_t n = count_tokens(r, part);
    int64_t *order = alloc((size_t)n + 1, sizeof *order);
    for (int64_t k = 0; k < n; k++) {                       /* a random permutation */
        const int64_t other = random_below(rng, (int)k + 1);
        order[k] = order[other];
        order[other] = k;
    }
    const grpo_status st = grpo_select_between(part, r->covariance, 1, 5, NULL, order, count, r->selected);
    free(order);
    return st;
}

/* selects tokens of minibatch u for weight.selected and penalty.kl_on, depending on the objective */
static grpo_status fill_selected(const grpo_objective *obj, rollout *r, const grpo_batch *part, int u, uint64_t *rng) {
    const int64_t hundredth = count_tokens(r, part) / 100 + 1;
    const int keeps = obj->weight.selected == GRPO_SELECTED_KEEP || obj->weight.selected == GRPO_SELECTED_ONLY;
    grpo_status st = grpo_covariance(part, r->advantage, r->covariance);
    if (st) return st;
    if (r->kl_mask && keeps) {                              /* Lopti: first the tokens of low probability, then the others */
        st = grpo_select_low_probability(part, 0.5, r->selected);
        for (int64_t t = 0; t < part->n_tokens; t++) r->kl_mask[t] = r->selected[t] = r->selected[t] != u % 2;
    } else if (r->kl_mask) st = grpo_select_top_k(part, r->covariance, hundredth, r->kl_mask);
    if (st || !r->selected || (r->kl_mask && keeps)) return st;
    if (keeps) return grpo_select_top_fraction(part, r->entropy, 0.2, r->selected);
    if (!r->nll_mask) return select_at_random(r, part, hundredth, rng);
    memcpy(r->selected, r->nll_mask, (size_t)part->n_tokens);               /* demonstrations are trained by likelihood instead (CHORD) */
    return GRPO_OK;
}

/* weights for tokens that responses with advantages of both signs share (GTPO) */
static grpo_status fill_external_weight(rollout *r, const grpo_batch *part) {
    int64_t *sign = alloc((size_t)r->n, sizeof *sign), *token = alloc((size_t)part->n_tokens, sizeof *token);
    for (int i = 0; i < r->n; i++) {
        const grpo_real a = r->advantage[r->offset[i]];
        sign[i] = (a > 0) - (a < 0);
        for (int j = 0; j < r->length[i]; j++) token[r->offset[i] + j] = r->tokens[i][MAX_DIGITS + 1 + j];
    }
    const grpo_status st = grpo_conflict_weight(part, token, sign, 2, r->external_weight);
    free(sign); free(token);
    return st;
}

/* loss and gradient of the minibatch, then one step of Adam */
static grpo_status update_once(const grpo_objective *obj, rollout *r, learner *l, const grpo_batch *part, grpo_output out, double lr,
                               grpo_report *report) {
    const grpo_status st = gspo_loss(obj, part, r->advantage, NULL, &out, report);
    if (st) return st;
    memset(&l->gradient, 0, sizeof l->gradient);
    for (int i = (int)part->group_begin[0]; i < part->group_begin[part->n_groups]; i++)
        backward(&l->policy, &l->gradient, &r->act[i], r->tokens[i], r->first[i], MAX_DIGITS + (int)r->length[i],
                 &r->dlogp[r->offset[i]], &r->dentropy[r->offset[i]], &r->ddivergence[r->offset[i]], &r->prob_ref[r->offset[i]]);
    adam(l, lr);
    return GRPO_OK;
}

static void add_report(metrics *now, const grpo_report *report, int updates) {
    now->loss += report->loss / updates;
    now->clip_fraction += report->clip_fraction / updates;
    now->ratio_mean += report->ratio_mean / updates;
    now->ratio_max = report->ratio_max > now->ratio_max ? report->ratio_max : now->ratio_max;
    now->entropy += report->entropy / updates;
    now->approx_kl += report->approx_kl_k3 / updates;
}

static grpo_status update(const grpo_objective *obj, rollout *r, learner *l, int updates, double lr, uint64_t *rng, metrics *now) {
    const int64_t room = gspo_scratch(obj, &r->batch);      /* for surrogates of a group */
    double *scratch = alloc((size_t)room + 1, sizeof *scratch);
    const grpo_output out = { .dlogp = r->dlogp, .dentropy = obj->penalty.entropy_coef != 0 ? r->dentropy : NULL,
                              .ddivergence_ref = r->divergence_ref ? r->ddivergence : NULL,
                              .dlog_partition = r->log_partition ? r->dlog_partition : NULL, .scratch = scratch, .scratch_size = room };
    grpo_status st = grpo_advantages(obj, &r->batch, r->advantage);
    for (int u = 0; u < updates && !st; u++) {
        const int64_t g0 = (int64_t)r->prompts * u / updates, g1 = (int64_t)r->prompts * (u + 1) / updates;
        grpo_batch part = r->batch;                         /* a minibatch: the same arrays, fewer groups */
        grpo_report report;
        part.group_begin = r->group_begin + g0;
        part.n_groups = g1 - g0;
        evaluate(r, &l->policy, &part);
        if (r->log_partition) { fill_log_partition(r); part.log_partition = r->log_partition + g0; }
        if (r->selected || r->kl_mask) st = fill_selected(obj, r, &part, u, rng);
        if (!st && r->external_weight) st = fill_external_weight(r, &part);
        if (!st) st = update_once(obj, r, l, &part, out, lr, &report);
        if (st) break;
        if (r->log_partition) learn_log_partition(r, g0, g1);
        add_report(now, &report, updates);
    }
    free(scratch);
    return st;
}

/* ---- pictures ------------------------------------------------------------------------------------------------------------------- */

static void fail(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("train: ", stderr);
    vfprintf(stderr, format, args);
    fputs("\n", stderr);
    va_end(args);
    exit(2);
}

enum { COLUMNS = 60, CHART_ROWS = 10 };

/* means of x (n) over at most COLUMNS intervals of equal length; returns their number */
static int bin(const double *x, int n, double *mean) {
    const int columns = n < COLUMNS ? n : COLUMNS;
    for (int c = 0; c < columns; c++) {
        const int begin = (int)((int64_t)n * c / columns), end = (int)((int64_t)n * (c + 1) / columns);
        mean[c] = 0;
        for (int k = begin; k < end; k++) mean[c] += x[k] / (end - begin);
    }
    return columns;
}

/* x as one of `levels` levels between 0 and top */
static int level_of(double x, double top, int levels) {
    const int k = top > 0 ? (int)(x / top * levels) : 0;
    return k < 0 ? 0 : k > levels - 1 ? levels - 1 : k;
}

static double largest(const double *x, int n) {
    double top = 0;
    for (int k = 0; k < n; k++) if (x[k] > top) top = x[k];
    return top;
}

static void print_sparkline(const char *label, const double *x, int n, double top) {
    static const char *const block[] = { "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588" };
    static const char *const plain[] = { "_", ".", ":", "-", "=", "+", "*", "#" };
    const char *const *mark = strcmp(nl_langinfo(CODESET), "UTF-8") ? plain : block;
    double mean[COLUMNS];
    const int columns = bin(x, n, mean);
    printf("  %-8s ", label);
    for (int c = 0; c < columns; c++) fputs(mark[level_of(mean[c], top, 8)], stdout);
    printf("  0 .. %.3g\n", top);
}

static void print_chart(const char *title, const double *x, int n, double top) {
    double mean[COLUMNS];
    const int columns = bin(x, n, mean);
    printf("\n  %s\n", title);
    for (int row = CHART_ROWS - 1; row >= 0; row--) {
        printf("  %5.2f |", top * (row + 0.5) / CHART_ROWS);
        for (int c = 0; c < columns; c++) putchar(level_of(mean[c], top, CHART_ROWS) == row ? '*' : ' ');
        putchar('\n');
    }
    printf("         step 1 .. %d\n", n);
}

static int ends_with(const char *text, const char *end) {
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

/* writes text in single quotes for gnuplot */
static void put_quoted(FILE *f, const char *text) {
    putc('\'', f);
    for (; *text; text++) { if (*text == '\'') putc('\'', f); putc(*text, f); }
    putc('\'', f);
}

/* plots reward and clip fraction over the steps from the log; returns whether gnuplot succeeded */
static int plot_with_gnuplot(const char *path, const char *csv, const char *objective) {
    static const struct { const char *label, *using; } panel[] = { { "mean reward", "1:2" }, { "clipped tokens, %", "1:(100*$4)" } };
    if (system("command -v gnuplot >/dev/null 2>&1")) return 0;
    FILE *f = popen("gnuplot", "w");
    if (!f) return 0;
    fprintf(f, "set terminal %s size 700, 560\nset output ", ends_with(path, ".png") ? "pngcairo" : "svg");
    put_quoted(f, path);
    fputs("\nset datafile separator comma\nset grid\nset xlabel 'step'\nset yrange [0:*]\nset multiplot layout 2, 1\n", f);
    for (int k = 0; k < 2; k++) {
        fprintf(f, "set ylabel '%s'\nplot ", panel[k].label);
        put_quoted(f, csv);
        fprintf(f, " skip 1 using %s with lines lw 2 title ", panel[k].using);
        put_quoted(f, objective);
        putc('\n', f);
    }
    return pclose(f) == 0;
}

static void plot(const char *path, const char *csv, const char *objective, const double *reward, const double *clipped, int n) {
    if (plot_with_gnuplot(path, csv, objective)) { printf("picture in %s, its numbers in %s\n", path, csv); return; }
    print_chart("mean reward", reward, n, largest(reward, n) > 1 ? largest(reward, n) : 1);
    print_chart("clipped share of the tokens", clipped, n, largest(clipped, n));
    printf("no gnuplot here to write %s; the numbers are in %s\n", path, csv);
}

/* ---- files ---------------------------------------------------------------------------------------------------------------------- */

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

/* element t of array k */
static void json_element(FILE *f, int first, int k, const void *x, int64_t t) {
    if (!strcmp(arrays[k].type, "uint8_t")) fprintf(f, "%s%s", first ? "" : ", ", ((const uint8_t *)x)[t] ? "true" : "false");
    else if (!strcmp(arrays[k].type, "int64_t")) json_number(f, first, (double)((const int64_t *)x)[t]);
    else json_number(f, first, (double)((const grpo_real *)x)[t]);
}

static void json_array(FILE *f, const rollout *r, int k, const void *x) {
    const int n = arrays[k].of == of_prompt ? r->prompts : r->n, is_table = arrays[k].of == of_token || k == ARRAY_rewards;
    fprintf(f, ",\n    \"%s\": [", arrays[k].name);
    for (int i = 0; i < n; i++) {
        const int64_t columns = k == ARRAY_rewards ? N_REWARDS : r->length[i], begin = k == ARRAY_rewards ? i * columns : r->offset[i];
        if (!is_table) { json_element(f, !i, k, x, i); continue; }
        fputs(i ? ",\n      [" : "\n      [", f);
        for (int64_t j = 0; j < columns; j++) json_element(f, !j, k, x, begin + j);
        fputs("]", f);
    }
    fputs("]", f);
}

/* the arrays of the batch that the objective reads, in the format of tests/vectors */
static void dump_json(FILE *f, const char *objective, const rollout *r) {
    fprintf(f, "{ \"objective\": \"%s\",\n  \"batch\": {\n    \"group\": [", objective);
    for (int i = 0; i < r->n; i++) json_number(f, !i, i / r->group);
    fputs("],\n    \"length\": [", f);
    for (int i = 0; i < r->n; i++) json_number(f, !i, (double)r->length[i]);
    fputs("]", f);
    for (int k = 0; k < N_ARRAYS; k++) {
        const void *x;
        memcpy(&x, (const char *)&r->batch + arrays[k].at, sizeof x);
        if (x) json_array(f, r, k, x);
    }
    if (r->rewards) fprintf(f, ",\n    \"reward_weight\": [%g, %g]", (double)reward_weight[0], (double)reward_weight[1]);
    fputs("\n  }\n}\n", f);
}

/* ---- objectives: what --list, --show and --fields print --------------------------------------------------------------------------
 * The headers' tables of choices have a line of text for each: X(constant, name, ..., text).  TEXT_OF takes the last of 3, 4, 5 or 7. */

#define TEXT_3(id, name, text) text,
#define TEXT_4(id, name, a, text) text,
#define TEXT_5(id, name, a, b, text) text,
#define TEXT_7(id, name, a, b, c, d, text) text,
#define COUNT_(a, b, c, d, e, f, g, h, n, ...) n
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define TEXT_OF(...) JOIN(TEXT_, COUNT_(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0))(__VA_ARGS__)
#define TEXTS_OF_CHOICE(path, of) { #path, { GRPO_##of##_CHOICES(TEXT_OF) } },
#define NO_TEXTS(path, domain)
enum { MAX_CHOICES = 48 };
static const struct { const char *path, *text[MAX_CHOICES]; } choice_texts[] = { GRPO_FIELDS_(TEXTS_OF_CHOICE, NO_TEXTS) };

/* what choice k of a field is, "" if the name says it all */
static const char *choice_text(const grpo_field *f, int k) {
    for (size_t i = 0; i < sizeof choice_texts / sizeof *choice_texts; i++)
        if (!strcmp(choice_texts[i].path, f->path)) return choice_texts[i].text[k];
    return "";
}

/* the name of choice k: where it begins, and its length */
static const char *choice_name(const grpo_field *f, int k, int *length) {
    const char *name = f->choices;
    for (; k > 0; k--) name += strcspn(name, "|") + 1;
    *length = (int)strcspn(name, "|");
    return name;
}

static const grpo_field *field_named(const char *path) {
    int n;
    const grpo_field *f = grpo_fields(&n);
    for (int i = 0; i < n; i++) if (!strcmp(f[i].path, path)) return &f[i];
    return NULL;
}

static double get(const grpo_objective *obj, const char *path) { return grpo_objective_get(obj, field_named(path)); }

enum { LONGEST_NAME = 63 };

static int lower(char c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; }
static int same_letter(char a, char b) { return lower(a) == lower(b); }

/* edit distance of two names: 2 for a missing, additional or wrong letter, 1 for two exchanged ones */
static int name_distance(const char *a, const char *b) {
    static int d[LONGEST_NAME + 1][LONGEST_NAME + 1];
    const int n = (int)strlen(a), m = (int)strlen(b);
    if (n > LONGEST_NAME || m > LONGEST_NAME) return 2 * (n + m);
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++) {
            if (!i || !j) { d[i][j] = 2 * (i + j); continue; }
            d[i][j] = d[i - 1][j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0 : 2);
            if (d[i - 1][j] + 2 < d[i][j]) d[i][j] = d[i - 1][j] + 2;
            if (d[i][j - 1] + 2 < d[i][j]) d[i][j] = d[i][j - 1] + 2;
            if (i < 2 || j < 2 || !same_letter(a[i - 1], b[j - 2]) || !same_letter(a[i - 2], b[j - 1])) continue;
            if (d[i - 2][j - 2] + 1 < d[i][j]) d[i][j] = d[i - 2][j - 2] + 1;
        }
    return d[n][m];
}

/* does the name begin with what was typed, or its part after a dot?  eps: surrogate.eps_low, surrogate.eps_high ... */
static int begins_with(const char *name, const char *typed) {
    const char *part = strchr(name, '.');
    int n = 0;
    while (typed[n] && same_letter(name[n], typed[n])) n++;
    return !typed[n] || (part && begins_with(part + 1, typed));
}

/* the most similar of the names, "" if none is similar; the list ends with NULL */
static const char *nearest(const char *wrong, const char *const *names) {
    int best = 2 * ((int)strlen(wrong) / 3 + 1) + 1;
    const char *found = "";
    for (; *names; names++)
        if (name_distance(wrong, *names) < best) { best = name_distance(wrong, *names); found = *names; }
    return found;
}

/* " (did you mean gspo?)", or nothing: the names that begin with what was typed, if these are few, else the nearest */
static const char *did_you_mean(const char *wrong, const char *const *names) {
    enum { FEW = 4 };
    static char text[64 + FEW * (LONGEST_NAME + 4)];
    const char *found[FEW] = { "" };
    int n = 0, used;
    for (int k = 0; names[k]; k++)
        if (begins_with(names[k], wrong) && n++ < FEW) found[n - 1] = names[k];
    if (n == 0 || n > FEW || name_distance(wrong, nearest(wrong, names)) == 0) { found[0] = nearest(wrong, names); n = 1; }
    text[0] = 0;
    if (!*found[0]) return text;
    used = snprintf(text, sizeof text, " (did you mean %s", found[0]);
    for (int k = 1; k < n; k++) used += snprintf(text + used, sizeof text - (size_t)used, "%s%s", k + 1 < n ? ", " : " or ", found[k]);
    snprintf(text + used, sizeof text - (size_t)used, "?)");
    return text;
}

static void unknown_objective(const char *name) {
    int n;
    const grpo_preset *preset = grpo_presets(&n);
    static const char **names;
    names = alloc((size_t)n + 1, sizeof *names);
    for (int k = 0; k < n; k++) names[k] = preset[k].name;
    fail("no objective \"%s\"%s; --list shows all %d", name, did_you_mean(name, names), n);
}

static void print_needs(const grpo_objective *obj, const char *between, const char *none) {
    const char *last = NULL;
    for (int k = 0; k < N_ARRAYS; k++) {
        if (!arrays[k].word || !is_read(obj, k) || (last && !strcmp(last, arrays[k].word))) continue;
        printf("%s%s", last ? between : "", arrays[k].word);
        last = arrays[k].word;
    }
    if (!last) fputs(none, stdout);
}

static void list_objectives(void) {
    int n;
    const grpo_preset *preset = grpo_presets(&n);
    for (int i = 0; i < n; i++) {
        const grpo_objective obj = grpo_objective_from_preset(&preset[i]);
        printf("%-27s %-12s %s [", preset[i].name, preset[i].paper ? preset[i].paper : "", preset[i].summary);
        print_needs(&obj, ", ", "-");
        puts("]");
    }
    puts("\nIn brackets: what a row reads besides rewards and log-probabilities, and what it is made from here:");
    for (int k = 0; k < N_ARRAYS; k++) if (arrays[k].word) printf("  %-10s %s: %s\n", arrays[k].word, arrays[k].name, arrays[k].source);
}

static void print_setting(const grpo_field *f, double value) {
    int length;
    printf("  %-35s ", f->path);
    if (!f->choices) { printf("%.15g\n", value); return; }
    const char *name = choice_name(f, (int)value, &length), *text = choice_text(f, (int)value);
    printf("%.*s%s%s\n", length, name, *text ? ": " : "", text);
}

/* prints the text of the objective's choice, or its name */
static void print_part(const char *symbol, const grpo_objective *obj, const char *path) {
    const grpo_field *f = field_named(path);
    const int k = (int)grpo_objective_get(obj, f);
    int length;
    const char *name = choice_name(f, k, &length), *text = choice_text(f, k);
    printf("  %s %.*s%s%s\n", symbol, length, name, *text ? ": " : "", text);
}

/* the weight's factors before F, and what each of them is; the factor of the whole term, which is c's, is external_weight */
static const struct { const char *factor, *symbol, *path; int choice; } weights[] = {                   /* choice -1: any but the first */
    { "M", "M  trust:     ", "weight.trust", -1 },
    { "M", "M  stale:     ", "weight.off_policy_mask", -1 },
    { "M", "M  selected:  ", "weight.selected", -1 },
    { "v", "v  correction:", "weight.rollout_is", -1 },
    { "v", "v  rejection: ", "weight.rollout_rs", -1 },
    { "v", "v  future:    ", "weight.fipo", -1 },
    { "v", "v  given:     ", "weight.external", GRPO_EXTERNAL_POLICY },
    { "g", "g  policy:    ", "weight.policy_is", -1 },
    { "e", "e  given:     ", "weight.external", GRPO_EXTERNAL_TERM },
};
enum { N_WEIGHTINGS = sizeof weights / sizeof *weights };

static int has_weight(const grpo_objective *obj, int k) {
    const double choice = get(obj, weights[k].path);
    return weights[k].choice < 0 ? choice != 0 : choice == weights[k].choice;
}

static int has_factor(const grpo_objective *obj, const char *factor) {
    int any = *factor == 'v' && obj->weight.rollout_veto != 0;
    for (int k = 0; k < N_WEIGHTINGS; k++) any |= !strcmp(weights[k].factor, factor) && has_weight(obj, k);
    return any;
}

static void show_weights(const grpo_objective *obj) {
    for (int k = 0; k < N_WEIGHTINGS; k++) {
        if (!has_weight(obj, k)) continue;
        print_part(weights[k].symbol, obj, weights[k].path);
        if (!strcmp(weights[k].path, "weight.rollout_is")) print_part("   of v:      ", obj, "weight.rollout_is_level");
        if (!strcmp(weights[k].path, "weight.rollout_rs")) print_part("   pooled:    ", obj, "weight.rollout_rs_level");
    }
    if (obj->weight.rollout_veto != 0) printf("  v  veto:       0 in a response with e^q below %.15g at a token\n",
                                              obj->weight.rollout_veto);
    if (obj->weight.truncated == GRPO_WEIGHT_TRUNCATED_MASK) puts("     left out:  responses whose generation was cut off");
}

/* what else changes a part of the formula, where it is not the field's first choice */
static const struct { char part; const char *symbol, *path; } changes[] = {
    { 'F', "   bounds:    ", "surrogate.bounds" },
    { 'w', "   gradient:  ", "ratio.gradient" },
    { 'w', "   mixed with:", "ratio.interpolate" },
    { 'A', "   entropy:   ", "advantage.entropy" },
    { 'A', "   baseline:  ", "advantage.token_baseline" },
    { 'A', "   over batch:", "advantage.batch_norm" },
    { 'a', "   times:     ", "advantage.reweight" },
    { 'R', "R  cut off:   ", "reward.truncated" },
    { 'R', "R  length:    ", "reward.length" },
    { 'R', "R  overlong:  ", "reward.overlong" },
    { 'R', "R  map:       ", "reward.map" },
    { 'R', "R  transform: ", "advantage.transform" },
    { 'K', "   times u:   ", "penalty.kl_importance_weight" },
    { 'K', "   gradient:  ", "penalty.kl_gradient" },
    { 'K', "   on:        ", "penalty.kl_on" },
};

static void show_changes(const grpo_objective *obj, char part) {
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++)
        if (changes[k].part == part && get(obj, changes[k].path) != 0) print_part(changes[k].symbol, obj, changes[k].path);
}

static int ignores_ratio(const grpo_objective *obj) {
    return (obj->surrogate.kind == GRPO_SURROGATE_REINFORCE || obj->surrogate.kind == GRPO_SURROGATE_NONE) &&
           get(obj, "weight.trust") == 0 && get(obj, "weight.policy_is") == 0 && get(obj, "penalty.kl_importance_weight") == 0;
}

/* the KL in the reward */
static void show_reward_kl(const grpo_objective *obj) {
    if (get(obj, "reward.kl") == 0 || obj->reward.kl_coef == 0) return;
    print_part("kl in reward: ", obj, "reward.kl");
    if (obj->advantage.credit == GRPO_CREDIT_OUTCOME) puts("                 R is less kl_coef times its sum over the response");
    puts("                 there D = logp_old - logp_ref");
}

static void show_formula(const grpo_objective *obj) {
    const int kl = get(obj, "penalty.kl") != 0 && get(obj, "penalty.kl_coef") != 0;
    const char *c = has_factor(obj, "e") ? "c e" : "c";
    printf("\nformula\n  loss = sum over the tokens of %s%s%s%s F", c, has_factor(obj, "M") ? " M" : "", has_factor(obj, "v") ? " v" : "",
           has_factor(obj, "g") ? " g" : "");
    if (kl) printf(" + %s kl_coef K", c);
    if (obj->penalty.entropy_coef != 0) printf(" - %s entropy_coef H", c);
    if (get(obj, "penalty.nll_on") != 0 && obj->penalty.nll_coef != 0) printf(" + likelihood");
    if (get(obj, "penalty.preference") != 0 && obj->penalty.preference_coef != 0) printf(" + preference");
    puts("");
    show_weights(obj);
    print_part("F  surrogate: ", obj, "surrogate.kind");
    show_changes(obj, 'F');
    if (!ignores_ratio(obj)) { print_part("w  ratio e^y: ", obj, "ratio.level"); show_changes(obj, 'w'); }
    print_part("A  credit:    ", obj, "advantage.credit");
    show_changes(obj, 'A');
    puts("  a  = (R - b)/sigma");
    show_changes(obj, 'a');
    show_changes(obj, 'R');
    show_reward_kl(obj);
    print_part("b  baseline:  ", obj, "advantage.baseline");
    print_part("sigma, scale: ", obj, "advantage.scale");
    print_part("c  factor:    ", obj, "aggregation.kind");
    if (kl) { print_part("K  penalty:   ", obj, "penalty.kl"); show_changes(obj, 'K'); }
    static const char *const d[] = { [GRPO_BEHAVIOUR_OLD] = "logp - logp_old", [GRPO_BEHAVIOUR_ROLLOUT] = "logp - logp_rollout",
        [GRPO_BEHAVIOUR_REF] = "logp - logp_ref", [GRPO_BEHAVIOUR_CURRENT] = "logp less itself, detached", [GRPO_BEHAVIOUR_NONE] = "logp" };
    printf("  d = %s, l = logp, R: rewards, sg[x]: x as a constant of the gradient; N: responses, T or T_i: tokens of a\n"
           "  response; grpo.h has the rest\n", d[obj->ratio.behaviour]);
    if (kl && obj->penalty.kl != GRPO_KL_EXTERNAL) {
        int length;
        const char *whose = choice_name(field_named("penalty.kl_reference"), (int)get(obj, "penalty.kl_reference"), &length);
        printf("  D = logp - logp_%.*s\n", length, whose);
    }
}

static void show_objective(const char *name, const grpo_objective *obj) {
    int n, n_fields;
    const grpo_preset *preset = grpo_presets(&n);
    const grpo_field *f = grpo_fields(&n_fields);
    while (strcmp(preset->name, name)) preset++;
    printf("%s\n  %s\n\nsource\n  ", name, preset->summary);
    if (preset->paper && strlen(preset->paper) == 10 && preset->paper[4] == '.') printf("https://arxiv.org/abs/");
    printf("%s, %s\n", preset->paper ? preset->paper : "", preset->equations);
    show_formula(obj);
    puts("\nsettings (all others are the first choice, or 0)");
    for (int k = 0; k < n_fields; k++) if (grpo_objective_get(obj, &f[k]) != 0) print_setting(&f[k], grpo_objective_get(obj, &f[k]));
    puts("\nreads, besides rewards and log-probabilities");
    int reads = 0;
    for (int k = 0; k < N_ARRAYS; k++)
        if (arrays[k].word && is_read(obj, k)) { printf("  %-16s here: %s\n", arrays[k].name, arrays[k].source); reads++; }
    if (!reads) puts("  nothing");
}

/* what a number may be, by the field alone */
static void print_field_domain(const grpo_field *f) {
    const grpo_domain d = grpo_field_domain(f);
    if (d.low > -DBL_MAX) printf("%s %g", d.flags & GRPO_LOW_EXCLUDED ? " above" : " from", d.low);
    if (d.high < DBL_MAX) printf("%s %g", d.flags & GRPO_HIGH_EXCLUDED ? " below" : " to", d.high);
}

/* What a number may be where it is read, which can be less: the rules that a very low, a very high and a broken number break in the first
 * row that sets and reads it.  "a number that must not be negative" */
static void print_domain(const grpo_field *f) {
    static const double tried[] = { -1e6, 1e6, 2.5 };
    char text[GRPO_MESSAGE_SIZE], last[GRPO_MESSAGE_SIZE] = "";
    const size_t path = strlen(f->path);
    int n, said = 0;
    const grpo_preset *preset = grpo_presets(&n);
    fputs("a number", stdout);
    for (int i = 0; i < n; i++) {
        const grpo_objective row = grpo_objective_from_preset(&preset[i]);
        if (grpo_objective_get(&row, f) == 0 || !grpo_objective_reads(&row, f)) continue;
        for (int k = 0; k < 3; k++) {
            grpo_objective obj = row;
            grpo_status st = grpo_objective_set(&obj, f->path, tried[k]);
            if (!st) st = grpo_objective_check(&obj);
            if (!st || strcmp(grpo_status_message(st, text, sizeof text), last) == 0) continue;
            if (k == 2 && grpo_status_rule(st) != GRPO_NOT_WHOLE) continue;
            snprintf(last, sizeof last, "%s", text);
            if (strncmp(text, f->path, path)) printf("%s %s", said++ ? "," : ":", text);
            else printf("%s%s", said++ ? " and" : " that", text + path);
        }
        return;
    }
    print_field_domain(f);
}

/* the number in the objective that trains, and in all rows */
static void print_values(const grpo_field *f, const char *name, double here) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    int n, rows = 0;
    const grpo_preset *preset = grpo_presets(&n);
    for (int i = 0; i < n; i++) {
        const grpo_objective row = grpo_objective_from_preset(&preset[i]);
        const double x = grpo_objective_get(&row, f);
        if (x == 0) continue;
        if (x < low) low = x;
        if (x > high) high = x;
        rows++;
    }
    printf("; %g in %s, ", here, name);
    if (rows == 0) fputs("0 in all rows", stdout);
    else if (low == high) printf("%g in %d of %d rows", low, rows, n);
    else printf("%g to %g in %d of %d rows", low, high, rows, n);
}

/* which choices read the number: what the linter says of it in an objective that has none of them */
static void print_readers(const grpo_field *f) {
    static grpo_objective_finding finding[GRPO_LINT_OBJECTIVE_MOST];
    char text[GRPO_LINT_MESSAGE_SIZE];
    grpo_objective obj;
    memset(&obj, 0, sizeof obj);
    if (grpo_objective_set(&obj, f->path, 1)) return;
    const int n = grpo_lint_objective(&obj, NULL, finding, GRPO_LINT_OBJECTIVE_MOST);
    for (int k = 0; k < n; k++) {
        if (finding[k].rule != GRPO_OBJECTIVE_UNREAD || strcmp(finding[k].what, f->path)) continue;
        const char *field = strstr(grpo_objective_finding_message(&finding[k], text, sizeof text), " while ");
        const char *readers = field ? strstr(field, "(what does: ") : NULL;
        if (!readers) return;
        printf("; read by %.*s: %.*s", (int)strcspn(field + 7, "="), field + 7, (int)strcspn(readers + 12, ")"), readers + 12);
        return;
    }
}

static void print_choices(FILE *out, const grpo_field *f) {
    for (int k = 0; k < f->n_choices; k++) {
        int length;
        const char *name = choice_name(f, k, &length);
        fprintf(out, "    %.*s%*s %s\n", length, name, length < 24 ? 24 - length : 0, "", choice_text(f, k));
    }
}

/* every field; of numbers also what they are in the objective of that name */
static void list_fields(const char *name) {
    int n;
    const grpo_field *f = grpo_fields(&n);
    grpo_objective obj;
    if (grpo_objective_named(name, &obj)) unknown_objective(name);
    for (int i = 0; i < n; i++) {
        printf("%s%s", f[i].path, f[i].choices ? "\n" : "  ");
        if (f[i].choices) { print_choices(stdout, &f[i]); continue; }
        print_domain(&f[i]);
        print_values(&f[i], name, grpo_objective_get(&obj, &f[i]));
        print_readers(&f[i]);
        putchar('\n');
    }
    puts("\nR: reward of a response, T: its tokens; a, A: advantage of a response, of a token; b: baseline; l = logp,\n"
         "d = logp - logp_old, D = logp - logp_ref, w = e^y: ratio; F: surrogate, K: KL, H: entropy; sg[x]: x as a constant of the\n"
         "gradient.  A number that is not set is 0, a choice the first of its field.");
}

/* ---- options -------------------------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *objective, *show, *log, *plot, *dump;
    const char **set;                                       /* (n_set), "PATH=VALUE" */
    int n_set, steps, prompts, group, updates;
    int help, list, fields;
    int64_t seed;
    double lr, target;
} options;

typedef struct {
    const char *name, *argument;                            /* NULL: takes none */
    enum { FLAG, TEXT, COUNT, SEED, NUMBER } kind;
    void *value;
    const char *help;
} option;

enum { N_OPTIONS = 16 };

static void option_table(options *o, option *table) {
    const option all[N_OPTIONS] = {
        { "--objective", "NAME", TEXT, &o->objective, "what to train with: a published objective of --list (gspo)" },
        { "--set", "PATH=VALUE", TEXT, NULL, "change it: surrogate.eps_high=0.3, aggregation.kind=token_mean ...; may be repeated" },
        { "--list", NULL, FLAG, &o->list, "the objectives, what each reads, and what that is made from here" },
        { "--show", "NAME", TEXT, &o->show, "an objective's formula, source and settings" },
        { "--fields", NULL, FLAG, &o->fields, "every field for --set: its choices, or its domain and what --objective has" },
        { "--steps", "N", COUNT, &o->steps, "rollout batches (300)" },
        { "--prompts", "N", COUNT, &o->prompts, "prompts in a rollout batch (32)" },
        { "--group", "N", COUNT, &o->group, "responses to a prompt (16)" },
        { "--updates", "N", COUNT, &o->updates, "minibatches, each one step of Adam, in a rollout batch (4)" },
        { "--lr", "X", NUMBER, &o->lr, "learning rate (0.0015)" },
        { "--seed", "N", SEED, &o->seed, "of weights, prompts and samples (1)" },
        { "--plot", "FILE", TEXT, &o->plot, "picture of reward and clip fraction, .svg or .png; without gnuplot a chart in the terminal" },
        { "--log", "FILE.csv", TEXT, &o->log, "one line for each step" },
        { "--dump", "FILE.json", TEXT, &o->dump, "the last batch as the loss saw it, in the format of tests/vectors" },
        { "--target", "X", NUMBER, &o->target, "exit with status 1 if the mean reward of the last tenth of the steps is below it" },
        { "--help", NULL, FLAG, &o->help, "this (also -h)" }
    };
    memcpy(table, all, sizeof all);
}

static void print_usage(const option *table) {
    puts("usage: train [options]\n\nA small transformer learns to write a list of digits backwards, by reinforcement learning alone.\n");
    for (int k = 0; k < N_OPTIONS; k++)
        printf("  %-12s%-11s %s\n", table[k].name, table[k].argument ? table[k].argument : "", table[k].help);
    puts("\n  train --objective gspo --steps 300 --seed 1\n  train --objective=dapo --set surrogate.eps_high=0.4 --plot dapo.svg");
}

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

/* the option that argv's word names, before a '=' if it has one */
static const option *find_option(const option *table, const char *word) {
    const char *names[N_OPTIONS + 1] = { NULL };
    char name[64];
    if (!strcmp(word, "-h")) word = "--help";
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    for (int k = 0; k < N_OPTIONS; k++) {
        names[k] = table[k].name;
        if (!strcmp(name, table[k].name)) return &table[k];
    }
    fail("unknown option \"%s\"%s; --help lists them", word, did_you_mean(name, names));
    return NULL;
}

static void take_option(options *o, const option *opt, const char *value) {
    switch (opt->kind) {
    case FLAG:   *(int *)opt->value = 1; break;
    case TEXT:   if (opt->value) *(const char **)opt->value = value; else o->set[o->n_set++] = value; break;
    case COUNT:  *(int *)opt->value = (int)parse_integer(opt->name, value, 1, 100000); break;
    case SEED:   *(int64_t *)opt->value = parse_integer(opt->name, value, 0, INT64_MAX); break;
    case NUMBER: *(double *)opt->value = parse_number(opt->name, value, 0); break;
    }
}

static options parse_options(int argc, char **argv) {
    options o = { .objective = "gspo", .steps = 300, .prompts = 32, .group = 16, .updates = 4, .seed = 1, .lr = 0.0015 };
    option table[N_OPTIONS];
    option_table(&o, table);
    o.set = alloc((size_t)argc, sizeof *o.set);
    for (int i = 1; i < argc; i++) {
        const option *opt = find_option(table, argv[i]);
        const char *equals = strchr(argv[i], '='), *value = equals ? equals + 1 : NULL;
        if (!opt->argument && value) fail("%s takes no value", opt->name);
        if (opt->argument && !value) value = i + 1 < argc ? argv[++i] : NULL;
        if (opt->argument && !value) fail("%s needs a value: %s", opt->name, opt->argument);
        take_option(&o, opt, value);
    }
    if (o.help) { print_usage(table); exit(0); }
    if (o.list) { list_objectives(); exit(0); }
    if (o.fields) { list_fields(o.objective); exit(0); }
    if (o.updates > o.prompts) fail("--updates %d needs at least as many --prompts: a group is never cut", o.updates);
    if (o.prompts > 1000000 / o.group) fail("--prompts %d times --group %d is more than a million responses", o.prompts, o.group);
    if (o.plot && !ends_with(o.plot, ".svg") && !ends_with(o.plot, ".png"))
        fail("--plot needs a file name that ends in .svg or .png, not \"%s\"", o.plot);
    return o;
}

/* Options of TRL, verl and others under the names that these give them, and the fields that they set; tests/framework_options has more. */
#define OPTIONS_PAGE "tests/framework_options/OPTIONS.md"
enum { FEW_FIELDS = 4 };

/* Adds to found (n of them so far, room for FEW_FIELDS) the fields that a row of the page's tables sets: those that are the option's value,
 * `surrogate.eps_high` = `$`, or, if there are none, all; returns their number. */
static int add_fields_set(const char *row, const grpo_field **found, int n) {
    static const char *const set[] = { "` = `$`", "` = `" };
    for (int k = 0; k < 2 && (k == 0 || !strstr(row, set[0])); k++)
        for (const char *end = strstr(row, set[k]); end && n < FEW_FIELDS; end = strstr(end + 1, set[k])) {
            char path[LONGEST_NAME + 1];
            const char *start = end;
            while (start > row && start[-1] != '`') start--;
            snprintf(path, sizeof path, "%.*s", (int)(end - start), start);
            found[n] = field_named(path);
            int is_new = found[n] != NULL;
            for (int j = 0; j < n; j++) is_new &= found[j] != found[n];
            n += is_new;
        }
    return n;
}

/* "; options of that name set surrogate.eps_high or weight.trust_high", or nothing, as where the program does not run in the top folder */
static const char *option_elsewhere(const char *typed, char *text, size_t size) {
    const grpo_field *found[FEW_FIELDS] = { NULL };
    static char line[4096];
    int n = 0;
    FILE *f = fopen(OPTIONS_PAGE, "r");
    text[0] = 0;
    while (f && n < FEW_FIELDS && fgets(line, sizeof line, f)) {
        if (strncmp(line, "| `", 3)) continue;                                          /* | `actor.clip_ratio_high` | ... */
        const char *name = line + 3, *end = name + strcspn(name, "`"), *last = end;
        while (last > name && last[-1] != '.') last--;
        if (strlen(typed) == (size_t)(end - last) && !strncmp(last, typed, strlen(typed))) n = add_fields_set(end, found, n);
    }
    if (f) fclose(f);
    int used = n ? snprintf(text, size, "; options of that name in " OPTIONS_PAGE " set ") : 0;
    for (int k = 0; k < n; k++)
        used += snprintf(text + used, size - (size_t)used, "%s%s", k == 0 ? "" : k + 1 < n ? ", " : " or ", found[k]->path);
    return text;
}

static void unknown_field(const char *path) {
    int n;
    char options_set[FEW_FIELDS * (LONGEST_NAME + 4) + 128];
    const grpo_field *f = grpo_fields(&n);
    static const char **paths;
    paths = alloc((size_t)n + 1, sizeof *paths);
    for (int k = 0; k < n; k++) paths[k] = f[k].path;
    fail("no field \"%s\"%s%s; --fields lists them", path, did_you_mean(path, paths),
         option_elsewhere(path, options_set, sizeof options_set));
}

/* "PATH=VALUE" */
static void set_field(grpo_objective *obj, const char *setting) {
    char path[64], *end;
    const char *equals = strchr(setting, '=');
    if (!equals || equals == setting || !equals[1]) fail("--set needs PATH=VALUE, not \"%s\"", setting);
    snprintf(path, sizeof path, "%.*s", (int)(equals - setting), setting);
    const grpo_field *f = field_named(path);
    if (!f) { unknown_field(path); return; }
    const double number = strtod(equals + 1, &end);
    if (!f->choices && *end) fail("--set %s: %s is a number, not \"%s\"", setting, path, equals + 1);
    if (*end ? grpo_objective_choose(obj, path, equals + 1) : grpo_objective_set(obj, path, number)) {
        fprintf(stderr, "train: --set %s: \"%s\" is none of the choices of %s:\n", setting, equals + 1, path);
        print_choices(stderr, f);
        exit(2);
    }
}

/* the objective of that name, for training with lengths adapted to this task, then with the changes of the command line */
static grpo_objective make_objective(const options *o, const char *name, int trains) {
    grpo_objective obj;
    if (grpo_objective_named(name, &obj)) unknown_objective(name);
    if (trains) {
        if (obj.reward.length_max != 0) obj.reward.length_max = LIMIT;
        obj.reward.overlong_max = LIMIT;
        obj.reward.overlong_cache = LIMIT - (MAX_DIGITS + 1);               /* no right response is that long */
        obj.aggregation.constant = LIMIT;
    }
    for (int i = 0; i < o->n_set; i++) set_field(&obj, o->set[i]);
    return obj;
}

/* ends the program with a message if the objective cannot be trained with these options */
static void check_objective(const options *o, const grpo_objective *obj) {
    char text[GRPO_MESSAGE_SIZE];
    const grpo_status st = grpo_objective_check(obj);
    if (st) fail("%s with these settings: %s", o->objective, grpo_status_message(st, text, sizeof text));
    if (obj->advantage.transform >= GRPO_TRANSFORM_PASS_AT_K && obj->advantage.pass_k > o->group)
        fail("%s looks at %g responses at a time: --group %d is too few, take %g or more", o->objective, obj->advantage.pass_k, o->group,
             obj->advantage.pass_k);
    if (reads_expert(obj) && o->group == 1)
        fail("%s learns from an expert's response beside the policy's own: --group 1 is too few, take 2 or more", o->objective);
    if (o->group == 1)
        fputs("train: warning: --group 1 leaves a response without siblings. Objectives that compare it with them (grpo, gspo, rloo ...) "
              "have the advantage 0 everywhere, and learn nothing; take 2 or more\n", stderr);
}

/* warns of settings without effect, or without any gradient; for the objective before its lengths are adapted to the task, so what is an
 * error there is none in the objective that trains, which check_objective has accepted */
static void warn_of_settings(const grpo_objective *obj) {
    static grpo_objective_finding finding[GRPO_LINT_OBJECTIVE_MOST];
    char text[GRPO_LINT_MESSAGE_SIZE];
    const int n = grpo_lint_objective(obj, NULL, finding, GRPO_LINT_OBJECTIVE_MOST);
    for (int k = 0; k < n; k++)
        if (finding[k].level != GRPO_LINT_ERROR)
            fprintf(stderr, "train: %s\n", grpo_objective_finding_message(&finding[k], text, sizeof text));
}

/* ---- training ------------------------------------------------------------------------------------------------------------------- */

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void put_tokens(const int *tokens, int n, int width) {
    for (int k = 0; k < n; k++) printf("%c ", tokens[k] == END ? '.' : (char)('0' + tokens[k]));
    printf("%*s", 2 * (width - n), "");
}

static int is_palindrome(const int *digit, int n) {
    int k = 0;
    while (k < n / 2 && digit[k] == digit[n - 1 - k]) k++;
    return k == n / 2;
}

/* prints the policy's responses to three fixed prompts that are no palindromes */
static void show_responses(const char *when, const model *policy, activations *scratch) {
    uint64_t prompts = 2, samples = 3;
    printf("\n%s:\n", when);
    for (int digits = 3; digits <= 5; digits++) {
        int tokens[T + 1], first = task_prompt(tokens, digits, &prompts);
        while (is_palindrome(&tokens[first], digits)) first = task_prompt(tokens, digits, &prompts);
        const int n = generate(policy, scratch, tokens, first, SAMPLE, &samples);
        const int is_right = n == digits + 1 && task_reward(tokens, first, n) == 1;
        printf("  prompt  ");
        put_tokens(&tokens[first], digits + 1, MAX_DIGITS + 1);
        printf("  response  ");
        put_tokens(&tokens[MAX_DIGITS + 1], n, LIMIT);
        printf("  %s\n", is_right ? "right" : "wrong");
    }
}

static void print_task(const options *o, const grpo_objective *obj) {
    printf("Task: read a list of digits, \"3 1 2 0 .\", and write it backwards, \"0 2 1 3 .\"; a right response is worth 1, others less.\n"
           "A transformer with %d random weights learns it by %s, from groups of %d responses to each of %d prompts in a step.\n",
           N_WEIGHTS, o->objective, o->group, o->prompts);
    for (int k = 0; k < N_ARRAYS; k++)
        if (arrays[k].word && is_read(obj, k)) printf("  %s reads %s: %s\n", o->objective, arrays[k].name, arrays[k].source);
}

/* prints a line after every tenth of the run; on a terminal also a line that is overwritten in between */
static void print_progress(int live, int step, int steps, const metrics *now, double start) {
    const int tenth = steps >= 10 ? steps / 10 : 1, done = step + 1;
    const int left = (int)((seconds() - start) * (steps - done) / done + 0.5);
    if (live) printf("\r%40s\r", "");
    if (step == 0) printf("\n    step  reward  clipped  entropy  length\n");
    if (done % tenth == 0 || done == steps)
        printf("  %6d  %6.3f  %5.1f %%  %7.3f  %6.1f   %d s left\n", done, now->reward, 100 * now->clip_fraction, now->entropy, now->length,
               left);
    else if (live) printf("  %6d of %d, %d s left", done, steps, left);
    fflush(stdout);
}

static void write_log(FILE *csv, int step, const metrics *now) {
    if (step == 0) fputs("step,reward,loss,clip_fraction,ratio_mean,ratio_max,entropy,approx_kl,length,tokens_per_s\n", csv);
    fprintf(csv, "%d,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.0f\n", step + 1, now->reward, now->loss, now->clip_fraction,
            now->ratio_mean, now->ratio_max, now->entropy, now->approx_kl, now->length, now->tokens_per_s);
}

typedef struct {
    rollout r;
    learner l;
    model reference;
    activations scratch;
    uint64_t rng;
    double *reward, *clipped;                               /* (steps) */
} trainer;

static void train(trainer *t, const options *o, const grpo_objective *obj, FILE *csv) {
    const int live = isatty(STDOUT_FILENO);
    const double start = seconds();
    double tokens = 0;
    for (int step = 0; step < o->steps; step++) {
        metrics now = { 0 };
        char text[GRPO_MESSAGE_SIZE];
        rollout_sample(&t->r, &t->l.policy, &t->reference, &t->scratch, &t->rng);
        if (t->r.value && t->r.logp_teacher && obj->advantage.teacher_coef != 0) fill_value_of_teacher(&t->r);
        else if (t->r.value) fill_value(&t->r);
        grpo_status st = update(obj, &t->r, &t->l, o->updates, o->lr, &t->rng, &now);
        if (st) fail("%s, step %d: %s", o->objective, step + 1, grpo_status_message(st, text, sizeof text));
        now.reward = own_mean(&t->r, 0);
        now.length = own_mean(&t->r, 1);
        tokens += now.length * t->r.n;
        now.tokens_per_s = tokens / (seconds() - start + 1e-9);
        t->reward[step] = now.reward;
        t->clipped[step] = now.clip_fraction;
        print_progress(live, step, o->steps, &now, start);
        if (csv) write_log(csv, step, &now);
    }
}

int main(int argc, char **argv) {
    static trainer t;                                       /* static: memory stays reachable until the end */
    static options o;
    static char plot_csv[1024];
    setlocale(LC_CTYPE, "");
    o = parse_options(argc, argv);
    const grpo_objective shown = make_objective(&o, o.show ? o.show : o.objective, 0), obj = make_objective(&o, o.objective, 1);
    if (o.show) { show_objective(o.show, &shown); return 0; }
    check_objective(&o, &obj);
    warn_of_settings(&shown);
    snprintf(plot_csv, sizeof plot_csv, "%s.csv", o.plot ? o.plot : "");
    if (o.plot && !o.log) o.log = plot_csv;
    FILE *csv = o.log ? open_file(o.log) : NULL;
    FILE *dump = o.dump ? open_file(o.dump) : NULL;

    const int n = o.steps, last = n >= 10 ? n / 10 : 1;
    t.rng = (uint64_t)o.seed;
    t.reward = alloc((size_t)n, sizeof *t.reward);
    t.clipped = alloc((size_t)n, sizeof *t.clipped);
    rollout_init(&t.r, &obj, o.prompts, o.group);
    model_init(&t.l.policy, &t.rng);
    t.reference = t.l.policy;

    print_task(&o, &obj);
    show_responses("Before training", &t.l.policy, &t.scratch);
    const double start = seconds();
    train(&t, &o, &obj, csv);
    const double took = seconds() - start, top = largest(t.reward, n);
    puts("");
    print_sparkline("reward", t.reward, n, top > 1 ? top : 1);
    print_sparkline("clipped", t.clipped, n, largest(t.clipped, n));
    show_responses("After training", &t.l.policy, &t.scratch);
    double last_reward = 0;
    for (int k = n - last; k < n; k++) last_reward += t.reward[k] / last;
    printf("\nobjective %s: reward %.2f -> %.2f in %.1f s\n", o.objective, t.reward[0], last_reward, took);

    if (csv) close_file(csv, o.log);
    if (o.plot) plot(o.plot, o.log, o.objective, t.reward, t.clipped, n);
    if (dump) { dump_json(dump, o.objective, &t.r); close_file(dump, o.dump); }
    return last_reward < o.target;
}
