/* Mistakes in what follows the advantage of a response: GAE over its tokens, and whitening over the tokens of the batch. */
#include "computed.h"
#include <stdlib.h>

#define MARGIN 1e-11

typedef enum { RIGHT, EXCHANGED, NO_GAMMA, NO_NEXT, TRACE_BY_LAMBDA, TRACE_BY_GAMMA, REWARD_FIRST, RETURNS,
    MEAN_OF_SLOTS, AROUND_MEAN_OF_SLOTS, ALL_OF_SLOTS, NOT_CENTRED } change;
typedef struct { const char *id, *name; change how; } mistake;

static const mistake mistakes[] = {
    { NULL, "gamma and lambda of GAE are exchanged", EXCHANGED },
    { NULL, "GAE's next value is not discounted: r + V' - V", NO_GAMMA },
    { NULL, "GAE has no next value: r - V", NO_NEXT },
    { NULL, "GAE's trace decays by lambda alone, not by gamma lambda", TRACE_BY_LAMBDA },
    { NULL, "GAE's trace decays by gamma alone, not by gamma lambda", TRACE_BY_GAMMA },
    { NULL, "the reward of a response is at its first token, where it should be at the last", REWARD_FIRST },
    { NULL, "the returns of GAE, A + V, are taken for its advantages", RETURNS },
    { "ADV-21", NULL, MEAN_OF_SLOTS },
    { "ADV-21", NULL, AROUND_MEAN_OF_SLOTS },
    { "ADV-21a", NULL, ALL_OF_SLOTS },
    { NULL, "whitening divides by the deviation and subtracts no mean", NOT_CENTRED }
};

int computed_credit_count(void) { return (int)(sizeof mistakes / sizeof *mistakes); }

computed_mistake computed_credit_named(int n) {
    computed_mistake m = { 0 };
    m.id = mistakes[n].id;
    m.name = mistakes[n].name ? mistakes[n].name : mistakes[n].id;
    return m;
}

static int counts(const test_case *c, int64_t k) { return !c->batch.mask || c->batch.mask[k]; }

/* the headers' advantages for another objective; returns 0 if they refuse it */
static int advantages_for(const test_case *c, const grpo_objective *obj, double *A) {
    outcome o = outcome_of_advantages(c, obj);
    const int ok = !o.status;
    for (int64_t k = 0; ok && k < c->batch.n_tokens; k++) A[k] = o.advantage[k];
    outcome_free(&o);
    return ok;
}

/* GAE of one response, backwards over its tokens; A comes with the rewards less the values, which gamma = lambda = 0 gives */
static void gae_of_response(const test_case *c, int64_t i, change how, double *A) {
    const grpo_batch *b = &c->batch;
    const double gamma = c->objective.advantage.gamma, lambda = c->objective.advantage.lambda;
    const double decay = how == TRACE_BY_LAMBDA ? lambda : how == TRACE_BY_GAMMA ? gamma : gamma * lambda;
    double next = 0, trace = 0;
    for (int64_t k = b->offset[i] + b->length[i] - 1; k >= b->offset[i]; k--) {
        if (!counts(c, k)) continue;
        trace = A[k] + (how == NO_GAMMA ? 1 : how == NO_NEXT ? 0 : gamma) * next + decay * trace;
        next = b->value[k];
        A[k] = how == RETURNS ? trace + next : trace;
    }
}

/* the reward, which stands at the last token, moved to the first */
static void move_reward(const test_case *c, int64_t i, double *A) {
    const grpo_batch *b = &c->batch;
    int64_t first = -1, last = -1;
    double reward;
    for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) {
        if (!counts(c, k)) continue;
        if (first < 0) first = k;
        last = k;
    }
    if (first < 0) return;
    reward = A[last] + b->value[last];
    A[last] -= reward;
    A[first] += reward;
}

static int gae(const test_case *c, change how, double *A) {
    grpo_objective obj = c->objective;
    if (obj.advantage.credit != GRPO_CREDIT_GAE || !c->batch.value || obj.advantage.lambda_length > 0 || obj.advantage.bootstrap
        || obj.advantage.scale == GRPO_SCALE_TOKEN_WHITEN || obj.advantage.batch_norm) return 0;
    if (how == EXCHANGED) {
        obj.advantage.gamma = c->objective.advantage.lambda;
        obj.advantage.lambda = c->objective.advantage.gamma;
        return advantages_for(c, &obj, A);
    }
    obj.advantage.gamma = obj.advantage.lambda = 0;
    if (!advantages_for(c, &obj, A)) return 0;
    for (int64_t i = 0; i < c->n_sequences; i++) {
        if (how == REWARD_FIRST) move_reward(c, i, A);
        gae_of_response(c, i, how, A);
    }
    return how != REWARD_FIRST || !c->objective.reward.kl;
}

static double widest(const test_case *c) {
    int64_t most = 0;
    for (int64_t i = 0; i < c->n_sequences; i++) if (c->batch.length[i] > most) most = c->batch.length[i];
    return (double)most;
}

static double divisor_for(const grpo_objective *o, double variance) {
    const double eps = o->advantage.eps;
    return o->advantage.eps_place == GRPO_EPS_INSIDE ? sqrt(variance + eps) : sqrt(variance) + eps;
}

static int whiten(const test_case *c, change how, double *A) {
    grpo_objective obj = c->objective;
    const double slots = widest(c) * (double)c->n_sequences, less = obj.advantage.std == GRPO_STD_SAMPLE;
    double n = 0, sum = 0, far = 0, m, around, by;
    if (obj.advantage.scale != GRPO_SCALE_TOKEN_WHITEN || obj.advantage.batch_norm || obj.advantage.eps_place > GRPO_EPS_INSIDE) return 0;
    obj.advantage.scale = GRPO_SCALE_NONE;
    obj.advantage.eps = 0;
    obj.advantage.eps_place = GRPO_EPS_ADD;
    obj.advantage.std = GRPO_STD_SAMPLE;
    if (!advantages_for(c, &obj, A)) return 0;
    for (int64_t k = 0; k < c->batch.n_tokens; k++) if (counts(c, k)) { sum += A[k]; n++; }
    m = how == RIGHT || how == NOT_CENTRED ? sum / n : sum / slots;
    around = how == AROUND_MEAN_OF_SLOTS || how == ALL_OF_SLOTS ? m : sum / n;
    for (int64_t k = 0; k < c->batch.n_tokens; k++) if (counts(c, k)) far += (A[k] - around) * (A[k] - around);
    if (how == ALL_OF_SLOTS) far += (slots - n) * m * m;
    by = divisor_for(&c->objective, far / ((how == ALL_OF_SLOTS ? slots : n) - less));
    for (int64_t k = 0; k < c->batch.n_tokens; k++) A[k] = counts(c, k) ? (A[k] - (how == NOT_CENTRED ? 0 : m)) / by : 0;
    return n > 1 && far > 0;
}

static int make(const test_case *c, change how, double *A) {
    return how == RIGHT ? gae(c, how, A) || whiten(c, how, A) : how < MEAN_OF_SLOTS ? gae(c, how, A) : whiten(c, how, A);
}

/* does the computation without a mistake give the right advantages of the case? */
static int is_right(const test_case *c, double *room) {
    if (!make(c, RIGHT, room)) return 0;
    for (int64_t k = 0; k < c->batch.n_tokens; k++)
        if (!(fabs(room[k] - c->advantage.expect[k]) <= MARGIN * fmax(c->advantage.scale[k], 1))) return 0;
    return 1;
}

int computed_credit(const test_case *c, int n, answer *out) {
    static last_case last;
    static int plain;
    double *to;
    memset(out, 0, sizeof *out);
    if (!c->advantage.expect) return 0;
    to = answer_add(out, OUT_ADVANTAGE, c->batch.n_tokens);
    if (!is_last_case(&last, c)) plain = is_right(c, to);
    return plain && make(c, mistakes[n].how, to);
}
