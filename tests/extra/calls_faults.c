/* Functions of extra/ that read a batch, with one fault at a time in the batch or the arguments: every function of a table is called with
 * the fault; those that read it return a status that names it and write nothing, the others succeed.  Functions that are not in the table
 * are tested in calls_refused.c; what is missing or not finite by itself, in the table of calls_arguments.c. */
#include "extra.h"

enum {
    TOP = 1, LARGEST = 2, BETWEEN = 4, MOMENT_ALL = 8, DRIFTING = 16, COVARIANCE = 32, BOUNDS = 64, KEEP = 128, WEIGHTS = 256, SCORE = 512,
    RESAMPLE = 1024, VALUE = 1 << 11, PROXIMAL = 1 << 12, SAMPLE = 1 << 13, COST = 1 << 14, KEY = 1 << 15, BELOW = 1 << 16, CLIPV = 1 << 17,
    JSD = 1 << 18, DISTRIBUTION = 1 << 19, DIVERSITY = 1 << 20, RUNNING = 1 << 21, SUBSET = 1 << 22, REGRET = 1 << 23,
    CLIPS = BELOW | CLIPV, LISTS = RESAMPLE | DIVERSITY | RUNNING | SUBSET | REGRET, ALL = (1 << 24) - 1, BATCH = ALL - LISTS,
    MOMENTS = MOMENT_ALL | DRIFTING, BY = TOP | LARGEST | BETWEEN
};
enum { TOKENS = 8, SEQUENCES = 4, GROUPS = 2, MASKED = 2, DRAWS = 3 };

typedef struct {
    uint8_t selected[TOKENS], keep[GROUPS];
    grpo_real covariance[TOKENS];
    double weight[SEQUENCES], score[GROUPS];
    int64_t index[DRAWS];
    grpo_bounds bounds;
    grpo_value_report value;
    grpo_real tokens[TOKENS], shaped[SEQUENCES];
    double list[SEQUENCES], number;
} results;

typedef struct {
    grpo_batch batch;
    int64_t group_begin[GROUPS + 1], offset[SEQUENCES], length[SEQUENCES], order[TOKENS];
    grpo_real logp[TOKENS], logp_old[TOKENS], logp_rollout[TOKENS], advantage[TOKENS], by[TOKENS], reward[SEQUENCES];
    uint8_t mask[TOKENS];
    double fraction, low, high, threshold, power, eps, weight[SEQUENCES], uniform[DRAWS];
    int64_t count, n, draws;
    grpo_balance balance;
    const grpo_batch *pass_batch;
    const grpo_real *pass_by, *pass_advantage;
    const int64_t *pass_order;
    int bad_form, no_output;
    /* inputs of functions of extra/ */
    grpo_real entropy[TOKENS], teacher[TOKENS], value[TOKENS], value_old[TOKENS], returns[TOKENS], expected[TOKENS], tempered[TOKENS];
    int64_t behaviour[TOKENS], token[TOKENS], version, capacity, responses[SEQUENCES], list_n, subset_n, subset_count;
    double clip, mu, beta, coef, momentum, start, current, base, tie;
    double difficulty[SEQUENCES], amount[3][SEQUENCES], numbers[SEQUENCES], score[SEQUENCES], similarity[SEQUENCES * SEQUENCES];
    uint8_t correct[SEQUENCES];
    grpo_aggregation aggregation;
    grpo_cost cost;
    grpo_key_measure measure;
    grpo_token_place places[TOKENS];
    const grpo_real *pass_value_old;
    results out, before;
} setup;

static void setup_beside(setup *s) {
    const grpo_key_measure measure = { 1, 1, 1, 1, -1 };
    for (int t = 0; t < TOKENS; t++) {
        s->entropy[t] = (grpo_real)(0.25 * t); s->teacher[t] = (grpo_real)(-0.5 * t); s->tempered[t] = -2; s->expected[t] = 1;
        s->value[t] = (grpo_real)t; s->value_old[t] = 1; s->returns[t] = 2;
        s->token[t] = t % 3; s->behaviour[t] = t;
    }
    s->entropy[MASKED] = s->teacher[MASKED] = s->tempered[MASKED] = s->expected[MASKED] = (grpo_real)NAN;
    s->value[MASKED] = s->value_old[MASKED] = s->returns[MASKED] = (grpo_real)NAN;
    s->behaviour[MASKED] = -1;
    for (int i = 0; i < SEQUENCES; i++) {
        s->responses[i] = i; s->numbers[i] = 0.5 * i; s->score[i] = -0.5 * i; s->difficulty[i] = 0.25 * i; s->correct[i] = i % 2 == 1;
        for (int k = 0; k < 3; k++) s->amount[k][i] = i + k;
        for (int k = 0; k < SEQUENCES; k++) s->similarity[i * SEQUENCES + k] = 1;
    }
    s->batch.entropy = s->entropy; s->batch.logp_teacher = s->teacher;
    s->version = 8; s->capacity = TOKENS; s->list_n = SEQUENCES; s->subset_n = SEQUENCES; s->subset_count = 2;
    s->clip = 0.5; s->mu = 1; s->beta = 0.5; s->coef = 1; s->momentum = 0.95; s->current = 0.25; s->base = 0.5; s->tie = 1e-6;
    s->aggregation.kind = GRPO_AGGREGATION_SEQ_MEAN_CONSTANT; s->aggregation.constant = 8;
    s->cost.output = s->amount[0]; s->cost.input = s->amount[1]; s->cost.turns = s->amount[2];
    s->cost.output_coef = s->cost.input_coef = s->cost.turns_coef = 0.25;
    s->measure = measure;
    s->pass_value_old = s->value_old;
}

static void setup_make(setup *s) {
    static const int64_t group_begin[] = { 0, 2, 4 }, length[] = { 3, 2, 0, 3 }, offset[] = { 0, 3, 5, 5 };
    const grpo_balance balance = { 0.6, 1.2, 0.8, 2, 0.05, 1 };
    memset(s, 0, sizeof *s);
    memcpy(s->group_begin, group_begin, sizeof group_begin);
    memcpy(s->length, length, sizeof length);
    memcpy(s->offset, offset, sizeof offset);
    for (int t = 0; t < TOKENS; t++) {
        s->mask[t] = t != MASKED;
        s->order[t] = TOKENS - 1 - t;
        s->logp[t] = (grpo_real)(-0.125 * t); s->logp_old[t] = -1; s->logp_rollout[t] = (grpo_real)(-0.25 * t);
        s->advantage[t] = (grpo_real)(t - 3); s->by[t] = (grpo_real)(t % 3);
    }
    s->logp[MASKED] = s->logp_old[MASKED] = s->logp_rollout[MASKED] = s->advantage[MASKED] = s->by[MASKED] = (grpo_real)NAN;
    for (int i = 0; i < SEQUENCES; i++) { s->reward[i] = (grpo_real)i; s->weight[i] = i; }
    s->batch.n_groups = GROUPS; s->batch.group_begin = s->group_begin; s->batch.offset = s->offset; s->batch.length = s->length;
    s->batch.n_tokens = TOKENS; s->batch.logp = s->logp; s->batch.logp_old = s->logp_old; s->batch.logp_rollout = s->logp_rollout;
    s->batch.mask = s->mask; s->batch.reward = s->reward;
    s->fraction = 0.5; s->low = 0; s->high = 3; s->threshold = 0.5; s->power = 2; s->eps = 1;
    s->count = 2; s->n = SEQUENCES; s->draws = DRAWS;
    s->balance = balance;
    s->pass_batch = &s->batch; s->pass_by = s->by; s->pass_advantage = s->advantage; s->pass_order = s->order;
    setup_beside(s);
    memset(&s->out, 0x5a, sizeof s->out);
    s->before = s->out;
}

#define OUT(place) (s->no_output ? NULL : (place))
static grpo_status call_top(setup *s) { return grpo_select_top_fraction(s->pass_batch, s->pass_by, s->fraction, OUT(s->out.selected)); }
static grpo_status call_largest(setup *s) { return grpo_select_top_k(s->pass_batch, s->pass_by, s->count, OUT(s->out.selected)); }
static grpo_status call_between(setup *s) {
    return grpo_select_between(s->pass_batch, s->pass_by, s->low, s->high, NULL, s->pass_order, s->count, OUT(s->out.selected));
}
static grpo_second_moment_form form_of(const setup *s, grpo_second_moment_form right) {
    const int wrong = 2;
    grpo_second_moment_form form = right;
    if (s->bad_form) memcpy(&form, &wrong, sizeof form);
    return form;
}
static grpo_status call_moment_all(setup *s) {
    return grpo_select_second_moment(s->pass_batch, NULL, form_of(s, GRPO_SECOND_MOMENT_ALL), s->threshold, OUT(s->out.selected));
}
static grpo_status call_drifting(setup *s) {
    return grpo_select_second_moment(s->pass_batch, s->pass_advantage, form_of(s, GRPO_SECOND_MOMENT_DRIFTING), s->threshold,
                                     OUT(s->out.selected));
}
static grpo_status call_covariance(setup *s) { return grpo_covariance(s->pass_batch, s->pass_advantage, OUT(s->out.covariance)); }
static grpo_status call_bounds(setup *s) {
    return grpo_balanced_clip_bounds(s->pass_batch, s->pass_advantage, &s->balance, OUT(&s->out.bounds));
}
static grpo_status call_keep(setup *s) { return grpo_reward_range_filter(s->pass_batch, s->low, s->high, OUT(s->out.keep)); }
static grpo_status call_weights(setup *s) { return grpo_resampling_weights(s->pass_batch, s->power, s->eps, OUT(s->out.weight)); }
static grpo_status call_score(setup *s) { return grpo_replay_score(s->pass_batch, s->pass_advantage, OUT(s->out.score)); }
static grpo_status call_resample(setup *s) { return grpo_resample(s->weight, s->n, s->uniform, s->draws, OUT(s->out.index)); }

static grpo_status call_value(setup *s) {
    return grpo_value_loss(s->pass_batch, s->value, s->pass_value_old, s->returns, s->clip, &s->aggregation, s->out.tokens,
                           OUT(&s->out.value));
}
static grpo_status call_proximal(setup *s) {
    const int wrong = 2;
    grpo_proximal_form form = GRPO_PROXIMAL_LINEAR;
    if (s->bad_form) memcpy(&form, &wrong, sizeof form);
    return grpo_proximal_logp(s->pass_batch, s->version, s->behaviour, form, OUT(s->out.tokens));
}
static grpo_status call_sample(setup *s) { return grpo_sample_weights(s->pass_batch, s->difficulty, 1, OUT(s->out.weight)); }
static grpo_status call_cost(setup *s) { return grpo_relative_cost_penalty(s->pass_batch, &s->cost, OUT(s->out.shaped)); }
static grpo_status call_key(setup *s) {
    return grpo_key_token_advantage(s->pass_batch, s->token, &s->measure, s->places, s->capacity, OUT(s->out.tokens));
}
static grpo_status call_below(setup *s) { return grpo_entropy_clip_batch(s->pass_batch, s->pass_advantage, s->mu, OUT(s->out.selected)); }
static grpo_status call_entropy_clip_vocabulary(setup *s) {
    return grpo_entropy_clip_vocabulary(s->pass_batch, s->pass_advantage, s->expected, s->mu, s->fraction, OUT(s->out.selected));
}
static grpo_status call_jsd(setup *s) { return grpo_jsd_advantage(s->pass_batch, s->beta, s->coef, OUT(s->out.tokens)); }
static grpo_status call_distribution(setup *s) {
    return grpo_distribution_advantage(s->pass_batch, s->pass_advantage, s->tempered, s->correct, s->current, s->base,
                                       OUT(s->out.tokens));
}
static grpo_status call_diversity(setup *s) {
    return grpo_diversity_reward(s->numbers, s->similarity, s->list_n, s->tie, OUT(s->out.list));
}
static grpo_status call_running(setup *s) {
    double baseline = s->start;
    const grpo_status st = grpo_running_baseline(s->numbers, s->list_n, s->momentum, s->out.list, OUT(&baseline));
    if (!st) s->out.number = baseline;
    return st;
}
static grpo_status call_subset(setup *s) {
    return grpo_balanced_subset(s->numbers, s->subset_n, s->subset_count, s->low, s->high, OUT(s->out.index));
}
static grpo_status call_regret(setup *s) {
    return grpo_regret_temperature(s->responses, s->score, s->list_n, OUT(&s->out.number));
}

static const struct { int bit; const char *name; grpo_status (*make)(setup *s); } calls[] = {
    { TOP, "select_top_fraction", call_top }, { LARGEST, "select_top_k", call_largest }, { BETWEEN, "select_between", call_between },
    { MOMENT_ALL, "select_second_moment all", call_moment_all }, { DRIFTING, "select_second_moment drifting", call_drifting },
    { COVARIANCE, "covariance", call_covariance }, { BOUNDS, "balanced_clip_bounds", call_bounds },
        { KEEP, "reward_range_filter", call_keep },
    { WEIGHTS, "resampling_weights", call_weights }, { SCORE, "replay_score", call_score }, { RESAMPLE, "resample", call_resample },
    { VALUE, "value_loss", call_value }, { PROXIMAL, "proximal_logp", call_proximal }, { SAMPLE, "sample_weights", call_sample },
    { COST, "relative_cost_penalty", call_cost }, { KEY, "key_token_advantage", call_key }, { BELOW, "entropy_clip_batch", call_below },
    { CLIPV, "entropy_clip_vocabulary", call_entropy_clip_vocabulary }, { JSD, "jsd_advantage", call_jsd },
    { DISTRIBUTION, "distribution_advantage", call_distribution }, { DIVERSITY, "diversity_reward", call_diversity },
    { RUNNING, "running_baseline", call_running }, { SUBSET, "balanced_subset", call_subset },
    { REGRET, "regret_temperature", call_regret },
};

/* a member of a setup, and the faulty value to store there */
typedef enum { A_POINTER, AN_INT64, A_DOUBLE, AN_ELEMENT, A_FLAG } place_kind;
typedef struct { int rule, calls; const char *thing; size_t place; place_kind kind; double value; } fault;
#define AT(member) offsetof(setup, member)
#define TOKEN(array, t) (offsetof(setup, array) + (t) * sizeof(grpo_real))

static void put(setup *s, const fault *f) {
    char *at = (char *)s + f->place;
    const int64_t count = fabs(f->value) < 9e18 ? (int64_t)f->value : 0;
    const grpo_real x = (grpo_real)f->value;
    const int flag = 1;
    switch (f->kind) {
    case A_POINTER:  memset(at, 0, sizeof(void *)); break;
    case AN_INT64:   memcpy(at, &count, sizeof count); break;
    case A_DOUBLE:   memcpy(at, &f->value, sizeof f->value); break;
    case AN_ELEMENT: memcpy(at, &x, sizeof x); break;
    default:         memcpy(at, &flag, sizeof flag);
    }
}

static void test_fault(const fault *f) {
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
        setup s;
        grpo_status st;
        setup_make(&s);
        put(&s, f);
        st = calls[k].make(&s);
        if (!(f->calls & calls[k].bit)) check(st == GRPO_OK, "%s, %s: \"%s\"", calls[k].name, f->thing, status_line(st));
        else check(says(calls[k].name, st, f->rule, f->thing), "%s: \"%s\" instead of %s: %s", calls[k].name, status_line(st), f->thing,
                   grpo_status_text(f->rule));
        if (st) check(!memcmp(&s.out, &s.before, sizeof s.out), "%s, %s: something has been written", calls[k].name, status_line(st));
        else check(memcmp(&s.out, &s.before, sizeof s.out) != 0, "%s has written nothing", calls[k].name);
    }
}

enum { LOGP_CALLS = DRIFTING | COVARIANCE | BOUNDS | PROXIMAL | CLIPS, OLD_CALLS = MOMENTS | BOUNDS | JSD | DISTRIBUTION,
       ADVANTAGE_CALLS = DRIFTING | COVARIANCE | BOUNDS | SCORE | CLIPS | DISTRIBUTION, REWARD_CALLS = KEEP | WEIGHTS | SCORE | COST | KEY,
       ROLLOUT_CALLS = MOMENT_ALL | PROXIMAL, NUMBER_CALLS = DIVERSITY | RUNNING | SUBSET };

static const fault faults[] = {
    { GRPO_NULL, BATCH, "batch", AT(pass_batch), A_POINTER, 0 },
    { GRPO_NULL, ALL, "last", AT(no_output), A_FLAG, 0 },
    { GRPO_NEGATIVE, BATCH, "batch.n_groups", AT(batch.n_groups), AN_INT64, -1 },
    { GRPO_NULL, BATCH, "batch.group_begin", AT(batch.group_begin), A_POINTER, 0 },
    { GRPO_NULL, BATCH, "batch.offset", AT(batch.offset), A_POINTER, 0 },
    { GRPO_NULL, BATCH, "batch.length", AT(batch.length), A_POINTER, 0 },
    { GRPO_NOT_INCREASING, BATCH, "batch.group_begin[1]", AT(group_begin[1]), AN_INT64, 0 },
    { GRPO_NEGATIVE, BATCH, "batch.length[0]", AT(length[0]), AN_INT64, -1 },
    { GRPO_PAST_END, BATCH, "batch.length[3], batch.n_tokens", AT(offset[3]), AN_INT64, 6 },
    { GRPO_NULL, OLD_CALLS, "batch.logp_old", AT(batch.logp_old), A_POINTER, 0 },
    { GRPO_NULL, ROLLOUT_CALLS, "batch.logp_rollout", AT(batch.logp_rollout), A_POINTER, 0 },
    { GRPO_NAN, BY, "by[7]", TOKEN(by, 7), AN_ELEMENT, NAN },
    { GRPO_INFINITE, BY, "by[0]", TOKEN(by, 0), AN_ELEMENT, -INFINITY },
    { GRPO_INFINITE, BY, "by[0]", TOKEN(by, 0), AN_ELEMENT, INFINITY },
    { GRPO_NAN, LOGP_CALLS, "batch.logp[7]", TOKEN(logp, 7), AN_ELEMENT, NAN },
    { GRPO_INFINITE, LOGP_CALLS, "batch.logp[0]", TOKEN(logp, 0), AN_ELEMENT, INFINITY },
    { GRPO_INFINITE, LOGP_CALLS, "batch.logp[0]", TOKEN(logp, 0), AN_ELEMENT, -INFINITY },
    { GRPO_NAN, OLD_CALLS, "batch.logp_old[7]", TOKEN(logp_old, 7), AN_ELEMENT, NAN },
    { GRPO_INFINITE, OLD_CALLS, "batch.logp_old[7]", TOKEN(logp_old, 7), AN_ELEMENT, -INFINITY },
    { GRPO_NAN, ROLLOUT_CALLS, "batch.logp_rollout[7]", TOKEN(logp_rollout, 7), AN_ELEMENT, NAN },
    { GRPO_INFINITE, ROLLOUT_CALLS, "batch.logp_rollout[7]", TOKEN(logp_rollout, 7), AN_ELEMENT, -INFINITY },
    { GRPO_NAN, ADVANTAGE_CALLS, "advantage[7]", TOKEN(advantage, 7), AN_ELEMENT, NAN },
    { GRPO_INFINITE, ADVANTAGE_CALLS, "advantage[0]", TOKEN(advantage, 0), AN_ELEMENT, INFINITY },
#ifdef GRPO_DOUBLE
    { GRPO_TOO_LARGE, ADVANTAGE_CALLS, "advantage[0]", TOKEN(advantage, 0), AN_ELEMENT, -2e150 },
    { GRPO_TOO_LARGE, LOGP_CALLS, "batch.logp[0]", TOKEN(logp, 0), AN_ELEMENT, -2e150 },
#endif
    { GRPO_NAN, REWARD_CALLS, "batch.reward[3]", TOKEN(reward, 3), AN_ELEMENT, NAN },
    { GRPO_INFINITE, REWARD_CALLS, "batch.reward[0]", TOKEN(reward, 0), AN_ELEMENT, -INFINITY },
    { GRPO_NOT_UNIT, TOP | CLIPV, "fraction", AT(fraction), A_DOUBLE, -0x1p-60 },
    { GRPO_NOT_UNIT, TOP | CLIPV, "fraction", AT(fraction), A_DOUBLE, 1.0001 },
    { GRPO_NEGATIVE, LARGEST | BETWEEN, "count", AT(count), AN_INT64, -1 },
    { GRPO_NEGATIVE, RESAMPLE, "n", AT(n), AN_INT64, -1 },
    { GRPO_NEGATIVE, RESAMPLE, "draws", AT(draws), AN_INT64, -1 },
    { GRPO_NOT_PERMUTATION, BETWEEN, "order", AT(order[7]), AN_INT64, 8 },
    { GRPO_NOT_PERMUTATION, BETWEEN, "order", AT(order[0]), AN_INT64, -1 },
    { GRPO_NOT_PERMUTATION, BETWEEN, "order", AT(order[0]), AN_INT64, 5 },
    { GRPO_NOT_POSITIVE, MOMENTS, "threshold", AT(threshold), A_DOUBLE, 0 },
    { GRPO_NOT_POSITIVE, MOMENTS, "threshold", AT(threshold), A_DOUBLE, -1 },
    { GRPO_NAN, MOMENTS, "threshold", AT(threshold), A_DOUBLE, NAN },
    { GRPO_INFINITE, MOMENTS, "threshold", AT(threshold), A_DOUBLE, INFINITY },
    { GRPO_NOT_A_CHOICE, MOMENTS | PROXIMAL, "form", AT(bad_form), A_FLAG, 0 },
    { GRPO_TOO_LARGE, BOUNDS, "balance.high_max", AT(balance.high_max), A_DOUBLE, 2e150 },
    { GRPO_NOT_POSITIVE, BOUNDS, "balance.step", AT(balance.step), A_DOUBLE, 0 },
    { GRPO_TOO_SMALL, BOUNDS, "balance.step", AT(balance.step), A_DOUBLE, 1e-7 },
    { GRPO_TOO_SMALL, BOUNDS, "balance.step", AT(balance.low), A_DOUBLE, -1e17 },
    { GRPO_NEGATIVE, WEIGHTS, "power", AT(power), A_DOUBLE, -1 },
    { GRPO_NEGATIVE, WEIGHTS, "eps", AT(eps), A_DOUBLE, -1e-300 },
    { GRPO_NAN, RESAMPLE, "weight[3]", AT(weight[3]), A_DOUBLE, NAN },
    { GRPO_NEGATIVE, RESAMPLE, "weight[0]", AT(weight[0]), A_DOUBLE, -1e-300 },
    { GRPO_INFINITE, RESAMPLE, "weight[0]", AT(weight[0]), A_DOUBLE, INFINITY },
    { GRPO_ZERO_SUM, RESAMPLE, "weight", AT(n), AN_INT64, 0 },
    { GRPO_ZERO_SUM, RESAMPLE, "weight", AT(n), AN_INT64, 1 },
    { GRPO_NOT_BELOW_ONE, RESAMPLE, "uniform[2]", AT(uniform[2]), A_DOUBLE, 1 },
    { GRPO_NEGATIVE, RESAMPLE, "uniform[0]", AT(uniform[0]), A_DOUBLE, -1e-300 },
    { GRPO_NAN, RESAMPLE, "uniform[0]", AT(uniform[0]), A_DOUBLE, NAN },
    { GRPO_INFINITE, JSD, "batch.logp_teacher[7]", TOKEN(teacher, 7), AN_ELEMENT, -INFINITY },
    { GRPO_INFINITE, CLIPS, "batch.entropy[0]", TOKEN(entropy, 0), AN_ELEMENT, INFINITY },
    { GRPO_NAN, VALUE, "value[7]", TOKEN(value, 7), AN_ELEMENT, NAN },
    { GRPO_INFINITE, VALUE, "value_old[0]", TOKEN(value_old, 0), AN_ELEMENT, INFINITY },
    { GRPO_INFINITE, VALUE, "returns[0]", TOKEN(returns, 0), AN_ELEMENT, -INFINITY },
    { GRPO_NEGATIVE, VALUE, "clip", AT(clip), A_DOUBLE, -1e-300 },
    { GRPO_TOO_LARGE, VALUE, "clip", AT(clip), A_DOUBLE, 2e150 },
    { GRPO_NOT_POSITIVE, VALUE, "aggregation.constant", AT(aggregation.constant), A_DOUBLE, 0 },
    { GRPO_INFINITE, VALUE, "aggregation.power", AT(aggregation.power), A_DOUBLE, INFINITY },
    { GRPO_CROSSED, PROXIMAL, "behaviour_version[7], version", AT(version), AN_INT64, 6 },
    { GRPO_OUT_OF_RANGE, PROXIMAL, "version", AT(version), AN_INT64, 0x1p54 },
    { GRPO_NEGATIVE, PROXIMAL, "behaviour_version[0]", AT(behaviour[0]), AN_INT64, -1 },
    { GRPO_INFINITE, SAMPLE, "difficulty[3]", AT(difficulty[3]), A_DOUBLE, INFINITY },
    { GRPO_NAN, SAMPLE, "difficulty[0]", AT(difficulty[0]), A_DOUBLE, NAN },
    { GRPO_NEGATIVE, COST, "cost.output", AT(amount[0][3]), A_DOUBLE, -1 },
    { GRPO_NAN, COST, "cost.turns", AT(amount[2][0]), A_DOUBLE, NAN },
    { GRPO_TOO_LARGE, NUMBER_CALLS, "reward[3]", AT(numbers[3]), A_DOUBLE, 2e150 },
    { GRPO_NEGATIVE, REGRET, "length[1]", AT(responses[1]), AN_INT64, -1 },
    { GRPO_NAN, REGRET, "score[3]", AT(score[3]), A_DOUBLE, NAN },
    { GRPO_NAN, DIVERSITY, "similarity[15]", AT(similarity[15]), A_DOUBLE, NAN },
    { GRPO_ZERO_SUM, DIVERSITY, "similarity[0]", AT(tie), A_DOUBLE, -4 },
    { GRPO_NEGATIVE, KEY, "measure.fisher", AT(measure.fisher), A_DOUBLE, -1 },
    { GRPO_TOO_SMALL, KEY, "capacity", AT(capacity), AN_INT64, 3 },
    { GRPO_NEGATIVE, DIVERSITY | RUNNING | REGRET, "n", AT(list_n), AN_INT64, -1 },
    { GRPO_NOT_UNIT, RUNNING, "momentum", AT(momentum), A_DOUBLE, 1 + 0x1p-52 },
    { GRPO_INFINITE, RUNNING, "baseline[0]", AT(start), A_DOUBLE, INFINITY },
    { GRPO_OUT_OF_RANGE, SUBSET, "n", AT(subset_n), AN_INT64, 21 },
    { GRPO_NOT_POSITIVE, SUBSET, "count", AT(subset_count), AN_INT64, 0 },
    { GRPO_CROSSED, SUBSET, "count, n", AT(subset_count), AN_INT64, 5 },
    { GRPO_NAN, CLIPV, "expected[7]", TOKEN(expected, 7), AN_ELEMENT, NAN },
    { GRPO_NOT_UNIT, JSD, "beta", AT(beta), A_DOUBLE, 1 + 0x1p-52 },
    { GRPO_INFINITE, DISTRIBUTION, "tempered[0]", TOKEN(tempered, 0), AN_ELEMENT, -INFINITY },
};

/* a batch of no groups needs no arrays */
static void test_empty(void) {
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
        setup s;
        setup_make(&s);
        memset(&s.batch, 0, sizeof s.batch);
        s.pass_by = s.pass_advantage = NULL;
        s.pass_order = NULL;
        s.draws = s.list_n = 0;
        check(calls[k].make(&s) == GRPO_OK, "%s: an empty batch", calls[k].name);
        if (calls[k].bit == VALUE) check(s.out.value.loss == 0 && s.out.value.clip_fraction == 0, "value_loss of nothing");
        if (calls[k].bit & (VALUE | SUBSET | REGRET | RUNNING)) continue;
        if (calls[k].bit == BOUNDS) check(s.out.bounds.low == 0.6 && s.out.bounds.high == 1.2, "balanced_bounds of nothing");
        else check(!memcmp(&s.out, &s.before, sizeof s.out), "%s: an empty batch has results", calls[k].name);
    }
}

/* statuses that depend on more than one value */
static void test_other_statuses(void) {
    setup s;
    setup_make(&s);
    s.high = 0.25;
    check(says("balanced_subset", call_subset(&s), GRPO_NONE_LEFT, "low") && !memcmp(&s.out, &s.before, sizeof s.out), "no subset");
    s.measure.fisher = s.measure.gain = 0;
    check(says("key_token_advantage", call_key(&s), GRPO_ZERO, "measure.fisher"), "no measure of the key");
    s.aggregation.kind = GRPO_AGGREGATION_TOKEN_MEAN; s.aggregation.constant = -1; s.clip = 0; s.pass_value_old = NULL;
    check(call_value(&s) == GRPO_OK, "value_loss: constant and value_old are not read");
    s.aggregation.kind = GRPO_AGGREGATION_TOKEN_MEAN_BY_SIGN;
    check(says("value_loss", call_value(&s), GRPO_NOT_A_CHOICE, "aggregation.kind"), "value_loss: no sign of an advantage");
    s.aggregation.kind = GRPO_AGGREGATION_TOKEN_MEAN_NONZERO_STD;
    check(says("value_loss", call_value(&s), GRPO_NOT_A_CHOICE, "aggregation.kind"), "value_loss: no rewards to differ");
    s.aggregation.kind = GRPO_AGGREGATION_TOKEN_MEAN;
    check(grpo_value_loss(&s.batch, s.value, NULL, s.returns, 0, &s.aggregation, NULL, &s.out.value) == GRPO_OK, "value_loss: no gradient");
}

/* ---- of trackers, samplers and allocators ---- */

static void expect_status(const char *call, grpo_status found, int rule, const char *thing) {
    check(says(call, found, rule, thing), "%s: \"%s\" instead of %s: %s", call, status_line(found), thing, grpo_status_text(rule));
}
#define expect(call, rule, thing) expect_status(#call, call, rule, thing)

static void test_batch_statuses(setup *s) {
    const grpo_batch *b = &s->batch;
    double *list = s->out.list, *weight = s->out.weight, x = 0;
    int64_t *index = s->out.index;
    expect(grpo_drift_decay(b, 0, 0, 1, &x), GRPO_NOT_POSITIVE, "half_life");
    expect(grpo_drift_decay(b, 1, 1, 0, &x), GRPO_CROSSED, "low, high");
    expect(grpo_turn_factor(b, s->weight, 1.5, 1, list), GRPO_NOT_UNIT, "low");
    s->weight[3] = -1;
    expect(grpo_turn_factor(b, s->weight, 0, 1, list), GRPO_NEGATIVE, "factor[3]");
    expect(grpo_reward_std_filter(b, -1, s->out.keep), GRPO_NEGATIVE, "least");
    expect(grpo_select_low_probability(b, 1.5, s->out.selected), GRPO_NOT_UNIT, "probability");
    expect(grpo_length_preference_weight(b, s->difficulty, 1, 2e149, list, weight), GRPO_OUT_OF_RANGE, "lambda");
    expect(grpo_length_preference_weight(b, s->weight, 1, 1, list, weight), GRPO_NEGATIVE, "length[3]");
    expect(grpo_standardised_entropy(b, 1.5, GRPO_STANDARD_CODED, s->out.tokens), GRPO_NOT_UNIT, "quantile");
    s->entropy[0] = (grpo_real)NAN;
    expect(grpo_standardised_entropy(b, 1, GRPO_STANDARD_CODED, s->out.tokens), GRPO_NAN, "batch.entropy[0]");
    s->reward[0] = (grpo_real)NAN;
    expect(grpo_reward_std_filter(b, 1, s->out.keep), GRPO_NAN, "batch.reward[0]");
    expect(grpo_median_advantage(b, 1, list, index), GRPO_NAN, "batch.reward[0]");
    s->logp_old[0] = -(grpo_real)INFINITY;
    expect(grpo_select_low_probability(b, 0.5, s->out.selected), GRPO_INFINITE, "batch.logp_old[0]");
    expect(grpo_drift_decay(b, 1, 0, 1, &x), GRPO_INFINITE, "batch.logp_old[0]");
    check(!memcmp(&s->out, &s->before, sizeof s->out), "something has been written");
}

static void test_list_statuses(void) {
    const double half[] = { 0.5, 0.5 }, bad[] = { 0.5, 2e150 };
    double out[2];
    int64_t index[2];
    uint8_t keep[2];
    expect(grpo_quantile_tracker(half, half, -1, 1, half, 2, out), GRPO_NEGATIVE, "n");
    expect(grpo_quantile_tracker(half, half, 2, 1, half, 0, out), GRPO_NOT_POSITIVE, "m");
    expect(grpo_quantile_tracker(bad, half, 2, 1, half, 2, out), GRPO_TOO_LARGE, "quantile[1]");
    expect(grpo_quantile_tracker(half, bad, 2, 1, half, 2, out), GRPO_TOO_LARGE, "level[1]");
    expect(grpo_allocate_rollouts(bad, 2, 1, 2, 4, index), GRPO_NOT_UNIT, "p[1]");
    expect(grpo_allocate_rollouts(half, 2, 0, 2, 4, index), GRPO_NOT_POSITIVE, "low");
    expect(grpo_allocate_rollouts(half, 2, 2, 1, 4, index), GRPO_CROSSED, "low, high");
    expect(grpo_allocate_rollouts(half, 2, 2, 4, 3, index), GRPO_TOO_SMALL, "total");
    expect(grpo_select_value_of_information(bad, 2, 1, index), GRPO_NOT_UNIT, "draw[1]");
    expect(grpo_select_value_of_information(half, 2, 3, index), GRPO_CROSSED, "count, n");
    expect(grpo_visit_value(half, bad, 2, 1, 1, out), GRPO_TOO_LARGE, "diversity[1]");
    expect(grpo_max_variance_subset(bad, 2, 1, index), GRPO_TOO_LARGE, "advantage[1]");
    expect(grpo_max_variance_subset(half, 2, -1, index), GRPO_NEGATIVE, "count");
    expect(grpo_advantage_filter(half, 2, -1, 1, 0, keep), GRPO_NEGATIVE, "least");
    expect(grpo_advantage_filter(half, 2, 1, -1, 0, keep), GRPO_NEGATIVE, "multiple");
    expect(grpo_advantage_filter(bad, 2, 1, 1, 0, keep), GRPO_TOO_LARGE, "advantage[1]");
    expect(grpo_mix_advantages(half, bad, 2, 1, 1, out), GRPO_TOO_LARGE, "y[1]");
}

static void test_statuses(void) {
    setup s;
    test_empty();
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
        setup_make(&s);
        check(calls[k].make(&s) == GRPO_OK, "%s: nothing is wrong", calls[k].name);
    }
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) test_fault(&faults[k]);
    test_other_statuses();
    setup_make(&s);
    test_batch_statuses(&s);
    test_list_statuses();
}

/* checks the status of a call with one fault, and that nothing was written to out */
static void wrong(const char *what, grpo_status found, int rule, const char *thing, const grpo_real *out) {
    check(says(what, found, rule, thing), "%s: \"%s\" instead of %s: %s", what, status_line(found), thing, grpo_status_text(rule));
    for (int k = 0; out && k < 12; k++) check(out[k] == 0, "%s has written", what);
}

static void test_token_statuses(four *f) {
    const grpo_batch *b = &f->b;
    grpo_batch other = f->b;
    grpo_real *out = f->found, A[12] = { 1 }, broken[12];
    wrong("teacher_gate", grpo_teacher_gate(b, A, 1.5, 0.2, NULL, out), GRPO_NOT_UNIT, "strength", out);
    wrong("teacher_gate", grpo_teacher_gate(b, A, 0.5, 1, NULL, out), GRPO_NOT_BELOW_ONE, "clip", out);
    memcpy(broken, f->tokens, sizeof broken);
    broken[2] = (grpo_real)NAN;
    other.logp_teacher = other.logp_ref = broken;
    wrong("teacher_gate", grpo_teacher_gate(&other, A, 0.5, 0.5, NULL, out), GRPO_NAN, "batch.logp_teacher[2]", out);
    wrong("prefix_discrepancy_weight", grpo_prefix_discrepancy_weight(&other, 1, GRPO_DISCREPANCY_TRL, out), GRPO_NAN,
        "batch.logp_teacher[2]", out);
    wrong("retention_reward", grpo_retention_reward(&other, 1, 1, out), GRPO_NAN, "batch.logp_ref[2]", out);
    f->tokens[2] = (grpo_real)NAN;
    wrong("teacher_gate", grpo_teacher_gate(b, A, 0.5, 0.5, NULL, out), GRPO_NAN, "batch.logp[2]", out);
    wrong("prefix_discrepancy_weight", grpo_prefix_discrepancy_weight(b, 1, GRPO_DISCREPANCY_TRL, out), GRPO_NAN, "batch.logp_old[2]", out);
    wrong("probability_weight", grpo_probability_weight(b, 0.5, out), GRPO_NAN, "batch.logp_old[2]", out);
    wrong("retention_reward", grpo_retention_reward(b, 1, 1, out), GRPO_NAN, "batch.logp_old[2]", out);
    f->tokens[2] = -1;
}

static void test_group_statuses(four *f) {
    const grpo_batch *b = &f->b;
    grpo_real *out = f->found;
    const double ok[4] = { 1, 1, 1, 1 }, bad[4] = { 1, 1, 1, NAN }, none[4] = { 0 };
    const uint8_t flags[4] = { 1, 0, 0, 0 };
    const grpo_trust_bounds bounds = { 0.2, 0.5, 0.9, 0.1 }, crossed = { 0.2, 0.5, 0.1, 0.9 };
    const grpo_canon canon = { 1, 0, 1, GRPO_HALF_LOW };
    const grpo_feature no_feature = { ok, bad, ok, flags, 1, 1 }, no_divisor = { ok, ok, none, flags, 1, 1 };
    const grpo_risk no_risk = { 0, 1, 0.8, 0.8, 1.5, 1e-6 };
    grpo_dd scratch[4];
    double number[4];
    int64_t ids[4] = { 0 };
    wrong("trust_reward", grpo_trust_reward(b, ok, bad, 1, &bounds, out), GRPO_NAN, "thought[3]", out);
    wrong("trust_reward", grpo_trust_reward(b, ok, ok, 1, &crossed, out), GRPO_OUT_OF_RANGE, "bounds.none", out);
    wrong("tool_efficiency_reward", grpo_tool_efficiency_reward(b, bad, flags, 1, 1, GRPO_TOOLS_PPO, out), GRPO_NAN, "calls[3]", out);
    wrong("tool_efficiency_reward", grpo_tool_efficiency_reward(b, ok, flags, 0, 1, GRPO_TOOLS_PPO, out), GRPO_NOT_POSITIVE, "smooth", out);
    wrong("entity_reward", grpo_entity_reward(b, bad, flags, flags, 1, out), GRPO_NAN, "found[3]", out);
    wrong("retention_reward", grpo_retention_reward(b, 1, -1, out), GRPO_NEGATIVE, "alpha", out);
    wrong("boltzmann_advantage", grpo_boltzmann_advantage(b, 0, out), GRPO_TOO_SMALL, "temperature", out);
    wrong("canon_advantage", grpo_canon_advantage(b, bad, &canon, out), GRPO_NAN, "metric[3]", out);
    wrong("sharpening_advantage", grpo_sharpening_advantage(b, bad, 1, 1, scratch, out), GRPO_NAN, "advantage[3]", out);
    wrong("feature_advantage", grpo_feature_advantage(b, &no_feature, out), GRPO_NAN, "feature.feature", out);
    wrong("feature_advantage", grpo_feature_advantage(b, &no_divisor, out), GRPO_TOO_SMALL, "feature.divisor", out);
    wrong("virtual_reward_advantage", grpo_virtual_reward_advantage(b, 1, -1, 0, out), GRPO_NEGATIVE, "count", out);
    wrong("virtual_reward_advantage", grpo_virtual_reward_advantage(b, 1, 1, -1, out), GRPO_NEGATIVE, "eps", out);
    wrong("semantic_entropy", grpo_semantic_entropy(b, ids, bad, number), GRPO_NAN, "score[3]", out);
    wrong("bundle_advantage", grpo_bundle_advantage(b, ids, &no_risk, scratch, out), GRPO_TOO_SMALL, "risk.c", out);
    f->reward[3] = 0.5;
    wrong("asymmetric_advantage", grpo_asymmetric_advantage(b, 1, 0.5, out), GRPO_NOT_A_CHOICE, "batch.reward[3]", out);
    wrong("asymmetric_advantage", grpo_asymmetric_advantage(b, 0, 0.5, out), GRPO_NOT_POSITIVE, "alpha", out);
    f->reward[3] = (grpo_real)NAN;
    wrong("early_exit_reward", grpo_early_exit_reward(b, out), GRPO_NAN, "batch.reward[3]", out);
    wrong("virtual_reward_advantage", grpo_virtual_reward_advantage(b, 1, 1, 0, out), GRPO_NAN, "batch.reward[3]", out);
}

static void test_list_of_numbers_statuses(void) {
    const double ok[4] = { 0 }, bad[4] = { 0, NAN, 0, 0 };
    const int64_t wide[4] = { 0, 1, 2, 9 }, zero[5] = { 0 }, both[2] = { 2, 4 }, below[4] = { -1, -2, 0, 0 }, roots[4] = { -1, -1, -1, -1 };
    int64_t index[4] = { 9, 9, 9, 9 };
    const uint8_t flags[4] = { 0 };
    grpo_dd scratch[4];
    double out[4] = { 9, 9, 9, 9 }, y = 9;
    wrong("soft_top_k_weight", grpo_soft_top_k_weight(ok, 4, 0, 1, out, out), GRPO_NOT_POSITIVE, "target", NULL);
    wrong("soft_top_k_weight", grpo_soft_top_k_weight(bad, 4, 1, 1, out, out), GRPO_NAN, "x[1]", NULL);
    wrong("gated_reward_sum", grpo_gated_reward_sum(ok, 1, 4, ok, wide, out), GRPO_OUT_OF_RANGE, "gate[3]", NULL);
    wrong("gated_reward_sum", grpo_gated_reward_sum(ok, 1, 4, ok, below, out), GRPO_OUT_OF_RANGE, "gate[1]", NULL);
    wrong("gated_reward_sum", grpo_gated_reward_sum(bad, 1, 4, ok, zero, out), GRPO_NAN, "rewards[1]", NULL);
    wrong("brier_reward", grpo_brier_reward(bad, 4, flags, NULL, out), GRPO_NAN, "confidence[1]", NULL);
    wrong("length_shape_reward", grpo_length_shape_reward(ok, 4, GRPO_SHAPE_PARABOLA, 1, 1, out), GRPO_NOT_BELOW_ONE, "peak", NULL);
    wrong("length_shape_reward", grpo_length_shape_reward(bad, 4, GRPO_SHAPE_TRIANGLE, 1, 1, out), GRPO_NAN, "length[1]", NULL);
    wrong("log_exp_reward", grpo_log_exp_reward(bad, 4, 0, 1, 1, out), GRPO_NAN, "reward[1]", NULL);
    wrong("tree_reward", grpo_tree_reward(below, ok, NULL, 4, 1, GRPO_TREE_MAX, 0, scratch, out), GRPO_OUT_OF_RANGE, "parent[1]", NULL);
    wrong("tree_reward", grpo_tree_reward(roots, ok, zero, 4, 1, GRPO_TREE_MEAN_BY_DEPTH, 9, scratch, out), GRPO_OUT_OF_RANGE, "depth[0]",
          NULL);
    wrong("tree_reward", grpo_tree_reward(wide, ok, NULL, 4, 1, GRPO_TREE_MAX, 0, scratch, out), GRPO_OUT_OF_RANGE, "parent[0]", NULL);
    wrong("set_advantage", grpo_set_advantage(ok, zero, 4, wide, zero, 2, out), GRPO_NOT_INCREASING, "set_begin[1]", NULL);
    wrong("set_advantage", grpo_set_advantage(ok, zero, 4, wide, both, 1, out), GRPO_OUT_OF_RANGE, "member[3]", NULL);
    wrong("max_variance_subset", grpo_max_variance_subset(ok, 2, 3, index), GRPO_CROSSED, "count, n", NULL);
    wrong("permutation_reward", grpo_permutation_reward(NULL, 1, 1, GRPO_PERMUTATION_VOTES, out), GRPO_NULL, "choice", NULL);
    wrong("reference_advantage", grpo_reference_advantage(bad, 4, 1, 1, 1, 0, out, &y), GRPO_NAN, "reward[1]", NULL);
    check(y == 9, "a list of numbers: a number was written");
    for (int k = 0; k < 4; k++) check(out[k] == 9 && index[k] == 9, "a list of numbers: entry %d was written", k);
}

static void test_statuses_of_four(void) {
    four f;
    four_make(&f);
    test_token_statuses(&f);
    test_group_statuses(&f);
    test_list_of_numbers_statuses();
}

int main(void) {
    test_statuses();
    test_statuses_of_four();
    return check_summary();
}
