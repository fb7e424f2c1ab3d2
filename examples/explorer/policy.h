/* A small policy that trains in the page, once by objective A and once by B: a table of logits, a row for each prompt and token before.
 *
 * Task: the last token before the end is the prompt's answer; any others may come before it.  The reward is 1 if it is, and if the response
 * has ended within LIMIT tokens, else 0.  The answer to a later prompt is less likely at the start.
 *
 * A batch is `responses` to each prompt.  Several steps of Adam follow on the whole batch: at the first the policy is the one that sampled.
 * RUNS policies train by the same objective on responses of their own; A and B begin with the same random numbers. */
#define GRPO_LOGITS_IMPLEMENTATION
#include "../../extra/grpo_logits.h"

enum { PROMPTS = 4, VOCAB = 6, END = 0, START = 0, LIMIT = 12, RUNS = 8 };
enum { MOST_SAMPLED = PROMPTS * MOST_RESPONSES, MOST_ROWS = MOST_SAMPLED * LIMIT };
enum { N_LOGITS = PROMPTS * VOCAB * VOCAB };                                /* (prompt, token before, token) */

typedef struct {
    double logits[N_LOGITS], mean[N_LOGITS], square[N_LOGITS];              /* the policy; Adam's means of the gradient and of its square */
    double mean_left, square_left;                                          /* 0.9^steps, 0.99^steps */
    uint64_t random;
} learner;

static learner learners[2][RUNS];

/* a batch of responses, one after the other, and the rows of logits that its tokens were drawn from */
static struct {
    int64_t group_begin[PROMPTS + 1], offset[MOST_SAMPLED], length[MOST_SAMPLED], token[MOST_ROWS];
    int row[MOST_ROWS];                                                     /* where in the policy's table the token's row begins */
    double logits[MOST_ROWS * VOCAB], dlogits[MOST_ROWS * VOCAB], gradient[N_LOGITS];
    double logp[MOST_ROWS], logp_old[MOST_ROWS], logp_ref[MOST_ROWS], entropy[MOST_ROWS], entropy_old[MOST_ROWS], advantage[MOST_ROWS];
    double dlogp[MOST_ROWS], dentropy[MOST_ROWS], reward[MOST_SAMPLED];
    uint8_t truncated[MOST_SAMPLED];
    grpo_logits_part part[MOST_ROWS];
} sampled;

static int answer_to(int prompt) { return prompt + 1; }
static int row_of(int prompt, int before) { return (prompt * VOCAB + before) * VOCAB; }

static double first_logit(int k) {
    const int prompt = k / (VOCAB * VOCAB), token = k % VOCAB;
    return token == END ? -1 : token == answer_to(prompt) ? -0.75 * prompt : 0;
}

static double random_uniform(uint64_t *state) { /* [0, 1), splitmix64 */
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

static int draw_token(const double *z, uint64_t *random) {
    double p[VOCAB], sum = 0, u;
    int k = 0;
    for (int v = 0; v < VOCAB; v++) sum += p[v] = grpo_exp(grpo_two_sum(z[v], 0));
    u = random_uniform(random) * sum;
    while (k + 1 < VOCAB && u >= p[k]) u -= p[k++];
    return k;
}

/* one response to the prompt, from token t of the batch on; its length */
static int sample_response(learner *l, int prompt, int i, int t) {
    int n = 0, before = START, token = START;
    do {
        sampled.row[t + n] = row_of(prompt, token);
        before = token;
        token = draw_token(l->logits + sampled.row[t + n], &l->random);
        sampled.token[t + n++] = token;
    } while (token != END && n < LIMIT);
    sampled.offset[i] = t;
    sampled.length[i] = n;
    sampled.truncated[i] = token != END;
    sampled.reward[i] = token == END && before == answer_to(prompt);
    return n;
}

static grpo_batch sample_batch(learner *l, int responses) {
    static const double weight[1] = { 1 };
    grpo_batch b;
    int t = 0;
    memset(&b, 0, sizeof b);
    for (int g = 0; g < PROMPTS; g++)
        for (int i = g * responses; i < (g + 1) * responses; i++) t += sample_response(l, g, i, t);
    for (int g = 0; g <= PROMPTS; g++) sampled.group_begin[g] = g * responses;
    b.n_groups = PROMPTS; b.n_tokens = t; b.n_rewards = 1; b.reward_weight = weight;
    b.group_begin = sampled.group_begin; b.offset = sampled.offset; b.length = sampled.length;
    b.logp = b.logp_old = b.logp_rollout = sampled.logp_old; b.logp_ref = sampled.logp_ref; b.entropy = sampled.entropy_old;
    b.reward = b.rewards = sampled.reward; b.truncated = sampled.truncated; b.token_id = sampled.token;
    return b;
}

/* the rows of the batch's tokens in a policy's logits; the first policy's, if NULL */
static grpo_logits_batch rows_of(const double *logits, const grpo_batch *b, double *logp, double *entropy) {
    grpo_logits_batch x;
    memset(&x, 0, sizeof x);
    for (int64_t t = 0; t < b->n_tokens; t++)
        for (int v = 0; v < VOCAB; v++) {
            const int k = sampled.row[t] + v;
            sampled.logits[VOCAB * t + v] = logits ? logits[k] : first_logit(k);
        }
    x.logits.logits = sampled.logits; x.logits.rows = b->n_tokens; x.logits.vocab = x.logits.stride = VOCAB;
    x.logits.target = sampled.token; x.logits.temperature = 1;
    x.part = sampled.part; x.logp = logp; x.entropy = entropy; x.dlogits = sampled.dlogits;
    return x;
}

static void adam(learner *l, double rate) {
    l->mean_left *= 0.9;
    l->square_left *= 0.99;
    for (int k = 0; k < N_LOGITS; k++) {
        const double g = sampled.gradient[k];
        l->mean[k] = 0.9 * l->mean[k] + 0.1 * g;
        l->square[k] = 0.99 * l->square[k] + 0.01 * (g * g);
        l->logits[k] -= rate * (l->mean[k] / (1 - l->mean_left)) / (sqrt(l->square[k] / (1 - l->square_left)) + 1e-8);
    }
}

/* from the policy's logits to the loss and back, then a step */
static grpo_status step(learner *l, const grpo_objective *o, const grpo_batch *b, double rate, grpo_report *report) {
    const grpo_logits_batch rows = rows_of(l->logits, b, sampled.logp, sampled.entropy);
    grpo_output out;
    grpo_status status;
    memset(&out, 0, sizeof out);
    out.dlogp = sampled.dlogp; out.dentropy = sampled.dentropy; out.scratch = a.scratch; out.scratch_size = MOST_SCRATCH;
    status = grpo_logits_loss(o, b, sampled.advantage, NULL, &rows, &out, report);
    if (status) return status;
    memset(sampled.gradient, 0, sizeof sampled.gradient);
    for (int64_t t = 0; t < b->n_tokens; t++)
        for (int v = 0; v < VOCAB; v++) sampled.gradient[sampled.row[t] + v] += sampled.dlogits[VOCAB * t + v];
    adam(l, rate);
    return GRPO_OK;
}

/* adds a batch's mean reward, clip fraction, tokens per response and entropy per token, each over RUNS, to `number` */
static grpo_status train_run(learner *l, const grpo_objective *o, int responses, int updates, double rate) {
    const grpo_batch b = sample_batch(l, responses);
    const int n = PROMPTS * responses;
    grpo_logits_batch rows = rows_of(NULL, &b, sampled.logp_ref, sampled.entropy_old);
    grpo_status status = grpo_logits_batch_read(&rows, NULL, 0, b.n_tokens);
    rows = rows_of(l->logits, &b, sampled.logp_old, sampled.entropy_old);
    if (!status) status = grpo_logits_batch_read(&rows, NULL, 0, b.n_tokens);
    if (!status) status = grpo_advantages(o, &b, sampled.advantage);
    for (int i = 0; i < n; i++) number[0] += sampled.reward[i] / (n * RUNS);
    number[2] += (double)b.n_tokens / (n * RUNS);
    for (int64_t t = 0; t < b.n_tokens; t++) number[3] += sampled.entropy_old[t] / ((double)b.n_tokens * RUNS);
    for (int u = 0; u < updates && !status; u++) {
        grpo_report report;
        status = step(l, o, &b, rate, &report);
        if (!status) number[1] += report.clip_fraction / (updates * RUNS);
    }
    return status;
}

EXPORT(train_begin) void train_begin(int side) {
    memset(learners[side], 0, sizeof learners[side]);
    for (int r = 0; r < RUNS; r++) {
        learner *l = &learners[side][r];
        for (int k = 0; k < N_LOGITS; k++) l->logits[k] = first_logit(k);
        l->mean_left = l->square_left = 1;
        l->random = (uint64_t)r + 1;
    }
}

/* a batch of each run.  number: mean reward, clip fraction, tokens per response, entropy per token; 0: refused, and `text` says why */
EXPORT(train_batch) int train_batch(int side, int responses, int updates, double rate) {
    grpo_status status = GRPO_OK;
    for (int k = 0; k < 4; k++) number[k] = 0;
    for (int r = 0; r < RUNS && !status; r++) status = train_run(&learners[side][r], &objective[side], responses, updates, rate);
    grpo_status_message(status, text, ROOM);
    return status == GRPO_OK;
}

/* text: of each prompt, responses that the first run's policy draws now, and whether they are right; the run does not notice */
EXPORT(train_responses) void train_responses(int side) {
    learner l = learners[side][0];
    written = 0;
    for (int g = 0; g < PROMPTS; g++) {
        for (int i = 0; i < 3; i++) {
            char line[LIMIT + 1];
            const int n = sample_response(&l, g, 0, 0);
            for (int t = 0; t < n; t++) line[t] = sampled.token[t] == END ? '.' : (char)('a' + sampled.token[t] - 1);
            line[n] = 0;
            put(line, 037);
            put(sampled.reward[0] > 0 ? "right" : "wrong", 037);
        }
        put("", 036);
    }
}
