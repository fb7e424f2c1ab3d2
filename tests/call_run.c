#include "../extra/grpo_control.h"
#include "../extra/grpo_credit.h"
#include "../extra/grpo_critic.h"
#include "../extra/grpo_rewards.h"
#include "../extra/grpo_selection.h"
#include "../extra/grpo_weights.h"
#include "call_run.h"
#include "status.h"
#include <cJSON.h>
#include <stb_ds.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    const test_case *c;
    const grpo_batch *batch;
    call_result *out;
    int read;                   /* arguments */
    void **memory;
} call;

/* ---- what goes wrong, and memory ------------------------------------------------------------------------------------------------ */

/* the first reason stays */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void fail(call *r, const char *format, ...) {
    va_list args;
    if (*r->out->error) return;
    va_start(args, format);
    vsnprintf(r->out->error, sizeof r->out->error, format, args);
    va_end(args);
}

static void check_status(call *r, grpo_status st) { if (st) fail(r, "%s", status_line(st)); }

/* every bit is set: NaN, -1, no flag.  What a function forgets to write is seen. */
static void *allocate(call *r, int64_t count, size_t size) {
    void *p = malloc((size_t)(count + 1) * size);
    if (!p) abort();
    memset(p, 0xff, (size_t)(count + 1) * size);
    arrput(r->memory, p);
    return p;
}

/* ---- arguments: a function reads each once -------------------------------------------------------------------------------------- */

static const cJSON *argument(call *r, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(r->c->arguments, key);
    if (item) r->read++;
    else fail(r, "argument %s is missing", key);
    return item;
}

static int is_there(const call *r, const char *key) { return cJSON_GetObjectItemCaseSensitive(r->c->arguments, key) != NULL; }

static double number(call *r, const char *key) {
    double x = 0;
    if (!case_number(argument(r, key), &x)) fail(r, "argument %s is no number", key);
    return x;
}

static int64_t whole_of(call *r, const char *key, double x) {
    if (fabs(x) <= 0x1p53 && x == floor(x)) return (int64_t)x;
    fail(r, "argument %s is no whole number", key);
    return 0;
}

static int64_t whole(call *r, const char *key) { return whole_of(r, key, number(r, key)); }

static int flag(call *r, const char *key) {
    const cJSON *item = argument(r, key);
    if (!cJSON_IsBool(item)) fail(r, "argument %s is no flag", key);
    return cJSON_IsTrue(item);
}

/* which of `count` names, 0 after a failure */
static int choice(call *r, const char *key, const char *const *names, int count) {
    const cJSON *item = argument(r, key);
    for (int k = 0; cJSON_IsString(item) && k < count; k++) if (!strcmp(names[k], item->valuestring)) return k;
    r->out->unknown |= cJSON_IsString(item) && !*r->out->error;
    fail(r, "argument %s is none that is known here", key);
    return 0;
}

/* the numbers or flags of a list */
static double *list(call *r, const char *key, int64_t *count) {
    const cJSON *json = argument(r, key);
    double *x = allocate(r, cJSON_GetArraySize(json), sizeof *x);
    *count = 0;
    if (!cJSON_IsArray(json)) fail(r, "argument %s is no list", key);
    for (const cJSON *item = cJSON_IsArray(json) ? json->child : NULL; item; item = item->next)
        if (!case_number(item, &x[(*count)++])) fail(r, "argument %s is not all numbers", key);
    return x;
}

/* a whole number for each token of the batch; zeros after a failure */
static int64_t *token_order(call *r, const char *key) {
    const int64_t n = r->batch->n_tokens;
    int64_t *order = allocate(r, n, sizeof *order), count;
    const double *x = list(r, key, &count);
    if (count != n) fail(r, "argument %s has not an entry for each token", key);
    for (int64_t k = 0; k < n; k++) order[k] = k < count ? whole_of(r, key, x[k]) : 0;
    return order;
}

/* a flag for each token of the batch */
static const uint8_t *token_flags(call *r, const char *key) {
    uint8_t *flags = allocate(r, r->batch->n_tokens, 1);
    const cJSON *row = argument(r, key);
    int64_t k, i;
    if (cJSON_GetArraySize(row) != r->c->n_sequences) fail(r, "argument %s has not a row for each sequence", key);
    for (i = 0, row = row ? row->child : NULL; row && i < r->c->n_sequences; row = row->next, i++) {
        const cJSON *item = row->child;
        if (cJSON_GetArraySize(row) != r->batch->length[i]) fail(r, "argument %s has not a flag for each token", key);
        for (k = 0; item && k < r->batch->length[i]; item = item->next, k++) {
            if (!cJSON_IsBool(item)) fail(r, "argument %s is not all flags", key);
            flags[r->batch->offset[i] + k] = cJSON_IsTrue(item) ? 1 : 0;
        }
    }
    return flags;
}

/* a number for each of the batch's sequences */
static const double *sequence_numbers(call *r, const char *key) {
    int64_t count;
    const double *x = list(r, key, &count);
    if (count != r->c->n_sequences) fail(r, "argument %s has not an entry for each sequence", key);
    return count == r->c->n_sequences ? x : allocate(r, r->c->n_sequences, sizeof *x);
}

static const uint8_t *sequence_flags(call *r, const char *key) {
    uint8_t *flags = allocate(r, r->c->n_sequences, 1);
    const cJSON *json = argument(r, key), *item = json ? json->child : NULL;
    if (cJSON_GetArraySize(json) != r->c->n_sequences) fail(r, "argument %s has not a flag for each sequence", key);
    for (int64_t i = 0; item && i < r->c->n_sequences; item = item->next, i++) {
        if (!cJSON_IsBool(item)) fail(r, "argument %s is not all flags", key);
        flags[i] = cJSON_IsTrue(item) ? 1 : 0;
    }
    return flags;
}

/* a number for each token of the batch, in its layout; NaN stays in slots that no sequence has, and after a failure */
static const double *token_numbers(call *r, const char *key) {
    double *x = allocate(r, r->batch->n_tokens, sizeof *x);
    const cJSON *row = argument(r, key);
    int64_t k, i;
    if (cJSON_GetArraySize(row) != r->c->n_sequences) fail(r, "argument %s has not a row for each sequence", key);
    for (i = 0, row = row ? row->child : NULL; row && i < r->c->n_sequences; row = row->next, i++) {
        const cJSON *item = row->child;
        if (cJSON_GetArraySize(row) != r->batch->length[i]) fail(r, "argument %s has not a number for each token", key);
        for (k = 0; item && k < r->batch->length[i]; item = item->next, k++)
            if (!case_number(item, &x[r->batch->offset[i] + k])) fail(r, "argument %s is not all numbers", key);
    }
    return x;
}

/* as elements, which must hold them */
static const grpo_real *token_reals(call *r, const char *key) {
    const double *x = token_numbers(r, key);
    grpo_real *y = allocate(r, r->batch->n_tokens, sizeof *y);
    for (int64_t t = 0; t < r->batch->n_tokens; t++) {
        y[t] = (grpo_real)x[t];
        if (x[t] == x[t] && (double)y[t] != x[t]) fail(r, "argument %s has a number that an element does not hold", key);
    }
    return y;
}

static const int64_t *token_wholes(call *r, const char *key) {
    const double *x = token_numbers(r, key);
    int64_t *y = allocate(r, r->batch->n_tokens, sizeof *y);
    for (int64_t t = 0; t < r->batch->n_tokens; t++) if (x[t] == x[t]) y[t] = whole_of(r, key, x[t]);
    return y;
}

/* the array of the batch that `by` names */
static const grpo_real *by(call *r) {
    static const char *const names[] = { "logp", "logp_old", "logp_ref", "logp_rollout", "logp_teacher", "entropy", "value", "step_reward",
                                         "advantage" };
    const grpo_batch *b = r->batch;
    const grpo_real *const arrays[] = { b->logp, b->logp_old, b->logp_ref, b->logp_rollout, b->logp_teacher, b->entropy, b->value,
                                        b->step_reward, r->c->given };
    return arrays[choice(r, "by", names, (int)(sizeof names / sizeof *names))];
}

/* ---- answers -------------------------------------------------------------------------------------------------------------------- */

typedef cJSON *leaf(const void *array, int64_t k);

static cJSON *number_json(double x) {
    if (grpo_is_finite(x)) return cJSON_CreateNumber(x);
    return cJSON_CreateString(x != x ? "NaN" : x > 0 ? "Infinity" : "-Infinity");
}

static cJSON *double_at(const void *array, int64_t k) { return number_json(((const double *)array)[k]); }
static cJSON *real_at(const void *array, int64_t k) { return number_json((double)((const grpo_real *)array)[k]); }
static cJSON *index_at(const void *array, int64_t k) { return number_json((double)((const int64_t *)array)[k]); }

static cJSON *flag_at(const void *array, int64_t k) {
    const uint8_t f = ((const uint8_t *)array)[k];
    return f > 1 ? cJSON_CreateNull() : cJSON_CreateBool(f);
}

static cJSON *list_json(const void *array, int64_t first, int64_t count, leaf *at) {
    cJSON *json = cJSON_CreateArray();
    for (int64_t k = 0; k < count; k++) cJSON_AddItemToArray(json, at(array, first + k));
    return json;
}

static void add(call *r, const char *key, cJSON *json) { cJSON_AddItemToObject(r->out->answers, key, json); }
static void add_number(call *r, const char *key, double x) { add(r, key, number_json(x)); }

static void add_list(call *r, const char *key, const void *array, int64_t count, leaf *at) { add(r, key, list_json(array, 0, count, at)); }

static void add_tokens(call *r, const char *key, const void *array, leaf *at) {
    cJSON *rows = cJSON_CreateArray();
    for (int64_t i = 0; i < r->c->n_sequences; i++)
        cJSON_AddItemToArray(rows, list_json(array, r->batch->offset[i], r->batch->length[i], at));
    add(r, key, rows);
}

/* ---- selection ------------------------------------------------------------------------------------------------------------------ */

static uint8_t *token_out(call *r) { return allocate(r, r->batch->n_tokens, 1); }

static void select_done(call *r, const uint8_t *selected, grpo_status st) {
    check_status(r, st);
    add_tokens(r, "selected", selected, flag_at);
}

static void run_select_top(call *r) {
    uint8_t *selected = token_out(r);
    select_done(r, selected, grpo_select_top(r->batch, by(r), number(r, "fraction"), selected));
}

static void run_select_largest(call *r) {
    uint8_t *selected = token_out(r);
    select_done(r, selected, grpo_select_largest(r->batch, by(r), whole(r, "count"), selected));
}

static void run_select_between(call *r) {
    uint8_t *selected = token_out(r);
    const uint8_t *excluded = is_there(r, "excluded") ? token_flags(r, "excluded") : NULL;
    select_done(r, selected, grpo_select_between(r->batch, by(r), number(r, "low"), number(r, "high"), excluded, token_order(r, "order"),
                                                 whole(r, "count"), selected));
}

static void run_select_second_moment(call *r) {
    static const char *const names[] = { "all", "drifting" };
    static const grpo_second_moment_form forms[] = { GRPO_SECOND_MOMENT_ALL, GRPO_SECOND_MOMENT_DRIFTING };
    uint8_t *selected = token_out(r);
    select_done(r, selected, grpo_select_second_moment(r->batch, r->c->given, forms[choice(r, "form", names, 2)], number(r, "threshold"),
                                                       selected));
}

static void run_covariance(call *r) {
    grpo_real *covariance = allocate(r, r->batch->n_tokens, sizeof *covariance);
    check_status(r, grpo_covariance(r->batch, r->c->given, covariance));
    add_tokens(r, "covariance", covariance, real_at);
}

static void run_keep_between(call *r) {
    uint8_t *keep = allocate(r, r->batch->n_groups, 1);
    check_status(r, grpo_keep_between(r->batch, number(r, "low"), number(r, "high"), keep));
    add_list(r, "keep", keep, r->batch->n_groups, flag_at);
}

/* ---- control -------------------------------------------------------------------------------------------------------------------- */

static void run_kl_control(call *r) {
    add_number(r, "kl_coef", grpo_kl_control(number(r, "kl_coef"), number(r, "kl"), number(r, "target"), number(r, "steps"),
                                             number(r, "horizon")));
}

static void run_entropy_control(call *r) {
    const grpo_entropy_coef e = grpo_entropy_control(number(r, "coef"), number(r, "entropy"), number(r, "target"), number(r, "delta"),
                                                     number(r, "low"), number(r, "high"), flag(r, "inclusive"));
    add_number(r, "coef", e.coef);
    add_number(r, "used", e.used);
}

static void run_balanced_bounds(call *r) {
    grpo_balance c;
    grpo_bounds b = { NAN, NAN };
    c.low = number(r, "low"); c.high = number(r, "high"); c.low_max = number(r, "low_max"); c.high_max = number(r, "high_max");
    c.step = number(r, "step"); c.target = number(r, "target");
    check_status(r, grpo_balanced_bounds(r->batch, r->c->given, &c, &b));
    add_number(r, "low", b.low);
    add_number(r, "high", b.high);
}

static void run_smooth_advantage(call *r) {
    add_number(r, "advantage", grpo_smooth_advantage(whole(r, "visits"), number(r, "new"), number(r, "total")));
}

static void run_running_moments(call *r) {
    grpo_mean_variance before, observed, m;
    before.mean = number(r, "mean"); before.variance = number(r, "variance");
    observed.mean = number(r, "new_mean"); observed.variance = number(r, "new_variance");
    m = grpo_running_moments(whole(r, "visits"), before, observed);
    add_number(r, "mean", m.mean);
    add_number(r, "variance", m.variance);
}

/* ---- sampling ------------------------------------------------------------------------------------------------------------------- */

static void run_resampling_weights(call *r) {
    double *weight = allocate(r, r->c->n_sequences, sizeof *weight);
    check_status(r, grpo_resampling_weights(r->batch, number(r, "power"), number(r, "eps"), weight));
    add_list(r, "weight", weight, r->c->n_sequences, double_at);
}

static void run_resample(call *r) {
    int64_t n, draws, *index;
    const double *weight = list(r, "weight", &n), *uniform = list(r, "uniform", &draws);
    index = allocate(r, draws, sizeof *index);
    check_status(r, grpo_resample(weight, n, uniform, draws, index));
    add_list(r, "index", index, draws, index_at);
}

static void run_replay_score(call *r) {
    double *score = allocate(r, r->batch->n_groups, sizeof *score);
    check_status(r, grpo_replay_score(r->batch, r->c->given, score));
    add_list(r, "score", score, r->batch->n_groups, double_at);
}

/* ---- beside the axes ------------------------------------------------------------------------------------------------------------ */

/* the choices of aggregation.kind are those of the objective */
static grpo_aggregation aggregation(call *r) {
    grpo_objective o;
    const cJSON *kind = argument(r, "aggregation");
    memset(&o, 0, sizeof o);
    if (!cJSON_IsString(kind) || grpo_objective_choose(&o, "aggregation.kind", kind->valuestring)) {
        r->out->unknown |= cJSON_IsString(kind) && !*r->out->error;
        fail(r, "argument aggregation is none that is known here");
    }
    if (is_there(r, "constant")) o.aggregation.constant = number(r, "constant");
    if (is_there(r, "power")) o.aggregation.power = number(r, "power");
    return o.aggregation;
}

static void run_value_loss(call *r) {
    const grpo_real *value = token_reals(r, "value"), *returns = token_reals(r, "returns");
    const grpo_real *value_old = is_there(r, "value_old") ? token_reals(r, "value_old") : NULL;
    const grpo_aggregation divide = aggregation(r);
    grpo_real *dvalue = allocate(r, r->batch->n_tokens, sizeof *dvalue);
    grpo_value_report report = { NAN, NAN };
    check_status(r, grpo_value_loss(r->batch, value, value_old, returns, number(r, "clip"), &divide, dvalue, &report));
    add_number(r, "loss", report.loss);
    add_tokens(r, "dvalue", dvalue, real_at);
    add_number(r, "clip_fraction", report.clip_fraction);
}

static void run_proximal_logp(call *r) {
    static const char *const names[] = { "log_linear", "linear" };
    static const grpo_proximal_form forms[] = { GRPO_PROXIMAL_LOG_LINEAR, GRPO_PROXIMAL_LINEAR };
    const int64_t *behaviour = token_wholes(r, "behaviour_version"), version = whole(r, "version");
    grpo_real *logp_old = allocate(r, r->batch->n_tokens, sizeof *logp_old);
    check_status(r, grpo_proximal_logp(r->batch, version, behaviour, forms[choice(r, "form", names, 2)], logp_old));
    add_tokens(r, "logp_old", logp_old, real_at);
}

static void run_sample_weights(call *r) {
    double *weight = allocate(r, r->c->n_sequences, sizeof *weight);
    const int by_difficulty = flag(r, "by_difficulty"), by_length = flag(r, "by_length");
    const double *difficulty = by_difficulty || is_there(r, "difficulty") ? sequence_numbers(r, "difficulty") : NULL;
    check_status(r, grpo_sample_weights(r->batch, by_difficulty ? difficulty : NULL, by_length, weight));
    add_list(r, "weight", weight, r->c->n_sequences, double_at);
}

static void run_relative_cost(call *r) {
    grpo_real *reward = allocate(r, r->c->n_sequences, sizeof *reward);
    grpo_cost c;
    c.output = sequence_numbers(r, "output"); c.input = sequence_numbers(r, "input"); c.turns = sequence_numbers(r, "turns");
    c.output_coef = number(r, "output_coef"); c.input_coef = number(r, "input_coef"); c.turns_coef = number(r, "turns_coef");
    check_status(r, grpo_relative_cost(r->batch, &c, reward));
    add_list(r, "reward", reward, r->c->n_sequences, real_at);
}

/* a list of n lists of n numbers */
static const double *square(call *r, const char *key, int64_t n) {
    double *x = allocate(r, n * n, sizeof *x);
    const cJSON *row = argument(r, key);
    int64_t i, k;
    if (cJSON_GetArraySize(row) != n) fail(r, "argument %s is not square", key);
    for (i = 0, row = row ? row->child : NULL; row && i < n; row = row->next, i++) {
        const cJSON *item = row->child;
        if (cJSON_GetArraySize(row) != n) fail(r, "argument %s is not square", key);
        for (k = 0; item && k < n; item = item->next, k++)
            if (!case_number(item, &x[i * n + k])) fail(r, "argument %s is not all numbers", key);
    }
    return x;
}

static void run_diversity_reward(call *r) {
    int64_t n;
    const double *reward = list(r, "reward", &n), *similarity = square(r, "similarity", n);
    double *shaped = allocate(r, n, sizeof *shaped);
    check_status(r, grpo_diversity_reward(reward, similarity, n, number(r, "eps"), shaped));
    add_list(r, "reward", shaped, n, double_at);
}

static void run_key_tokens(call *r) {
    const int64_t *token = token_wholes(r, "token");
    grpo_token_place *scratch = allocate(r, r->batch->n_tokens, sizeof *scratch);
    grpo_real *key = allocate(r, r->batch->n_tokens, sizeof *key);
    grpo_key_measure m;
    m.fisher = number(r, "fisher"); m.gain = number(r, "gain"); m.top = number(r, "top");
    m.frequency = flag(r, "frequency"); m.ignored = whole(r, "ignored");
    check_status(r, grpo_key_tokens(r->batch, token, &m, scratch, r->batch->n_tokens, key));
    add_tokens(r, "key", key, real_at);
}

static void run_running_baseline(call *r) {
    int64_t n;
    const double *reward = list(r, "reward", &n);
    double *advantage = allocate(r, n, sizeof *advantage), baseline = number(r, "baseline");
    check_status(r, grpo_running_baseline(reward, n, number(r, "momentum"), advantage, &baseline));
    add_list(r, "advantage", advantage, n, double_at);
    add_number(r, "baseline", baseline);
}

static void run_balanced_subset(call *r) {
    int64_t n, count = whole(r, "count"), *index = allocate(r, count > 0 && count <= 20 ? count : 20, sizeof *index);
    const double *reward = list(r, "reward", &n);
    grpo_status st = grpo_balanced_subset(reward, n, count, number(r, "low"), number(r, "high"), index);
    if (grpo_status_is(st, GRPO_NONE_LEFT)) count = 0;                    /* there is none: an answer, and no error of the arguments */
    else check_status(r, st);
    add_list(r, "index", index, count > 0 && count <= 20 ? count : 0, index_at);
}

static void run_clip_below(call *r) {
    uint8_t *selected = token_out(r);
    select_done(r, selected, grpo_clip_below(r->batch, r->c->given, number(r, "mu"), selected));
}

static void run_clip_value(call *r) {
    uint8_t *selected = token_out(r);
    const grpo_real *expected = token_reals(r, "expected");
    select_done(r, selected, grpo_clip_value(r->batch, r->c->given, expected, number(r, "mu"), number(r, "fraction"), selected));
}

static void run_regret_temperature(call *r) {
    double temperature = NAN;
    int64_t n, count, *length;
    const double *wholes = list(r, "length", &n), *score = list(r, "score", &count);
    length = allocate(r, n, sizeof *length);
    for (int64_t k = 0; k < n; k++) length[k] = whole_of(r, "length", wholes[k]);
    if (n != count) fail(r, "length and score have not as many entries");
    else check_status(r, grpo_regret_temperature(length, score, n, &temperature));
    add_number(r, "temperature", temperature);
}

static void run_jsd_advantage(call *r) {
    grpo_real *advantage = allocate(r, r->batch->n_tokens, sizeof *advantage);
    check_status(r, grpo_jsd_advantage(r->batch, number(r, "beta"), number(r, "coef"), advantage));
    add_tokens(r, "advantage", advantage, real_at);
}

static void run_distribution_advantage(call *r) {
    const grpo_real *tempered = token_reals(r, "tempered");
    const uint8_t *correct = sequence_flags(r, "correct");
    grpo_real *advantage = allocate(r, r->batch->n_tokens, sizeof *advantage);
    check_status(r, grpo_distribution_advantage(r->batch, r->c->given, tempered, correct, number(r, "entropy"), number(r, "entropy_base"),
                                                advantage));
    add_tokens(r, "advantage", advantage, real_at);
}

static void run_preference_margin_control(call *r) {
    add_number(r, "coef", grpo_preference_margin_control(number(r, "coef"), number(r, "pair_loss"), number(r, "loss")));
}

/* ---- weights, rewards and advantages of papers ----------------------------------------------------------------------------------- */

static grpo_real *token_real_out(call *r) { return allocate(r, r->batch->n_tokens, sizeof(grpo_real)); }
static grpo_real *sequence_out(call *r) { return allocate(r, r->c->n_sequences, sizeof(grpo_real)); }
static grpo_dd *dd_scratch(call *r, int64_t n) { return allocate(r, n, sizeof(grpo_dd)); }

static void weight_done(call *r, const grpo_real *weight, grpo_status st) {
    check_status(r, st);
    add_tokens(r, "weight", weight, real_at);
}

static void sequences_done(call *r, const char *key, const grpo_real *x, grpo_status st) {
    check_status(r, st);
    add_list(r, key, x, r->c->n_sequences, real_at);
}

/* the whole numbers or flags of a list */
static int64_t *wholes(call *r, const char *key, int64_t *count) {
    const double *x = list(r, key, count);
    int64_t *y = allocate(r, *count, sizeof *y);
    for (int64_t k = 0; k < *count; k++) y[k] = whole_of(r, key, x[k]);
    return y;
}

static const int64_t *sequence_wholes(call *r, const char *key) {
    int64_t n, *x = wholes(r, key, &n);
    if (n != r->c->n_sequences) fail(r, "argument %s has not an entry for each sequence", key);
    return n == r->c->n_sequences ? x : allocate(r, r->c->n_sequences, sizeof *x);
}

/* a list of n entries, as the one before */
static double *list_of(call *r, const char *key, int64_t n) {
    int64_t count;
    double *x = list(r, key, &count);
    if (count == n) return x;
    fail(r, "argument %s has not as many entries as the others", key);
    x = allocate(r, n, sizeof *x);
    for (int64_t k = 0; k < n; k++) x[k] = 0;
    return x;
}

static const int64_t *wholes_of(call *r, const char *key, int64_t n) {
    const double *x = list_of(r, key, n);
    int64_t *y = allocate(r, n, sizeof *y);
    for (int64_t k = 0; k < n; k++) y[k] = whole_of(r, key, x[k]);
    return y;
}

static const uint8_t *flags_of(call *r, const char *key, int64_t n) {
    uint8_t *flags = allocate(r, n, 1);
    const cJSON *json = argument(r, key), *item = json ? json->child : NULL;
    if (cJSON_GetArraySize(json) != n) fail(r, "argument %s has not as many entries as the others", key);
    for (int64_t k = 0; item && k < n; item = item->next, k++) {
        if (!cJSON_IsBool(item)) fail(r, "argument %s is not all flags", key);
        flags[k] = cJSON_IsTrue(item) ? 1 : 0;
    }
    return flags;
}

static void run_teacher_gate(call *r) {
    grpo_real *weight = token_real_out(r);
    weight_done(r, weight, grpo_teacher_gate(r->batch, r->c->given, number(r, "strength"), number(r, "clip"), r->batch->selected, weight));
}

static void run_prefix_discrepancy(call *r) {
    static const char *const names[] = { "paper", "trl" };
    static const grpo_discrepancy_form forms[] = { GRPO_DISCREPANCY_PAPER, GRPO_DISCREPANCY_TRL };
    grpo_real *weight = token_real_out(r);
    weight_done(r, weight, grpo_prefix_discrepancy(r->batch, number(r, "gamma"), forms[choice(r, "form", names, 2)], weight));
}

static void run_window_weight(call *r) {
    int64_t n;
    const double *x = list(r, "x", &n);
    double *weight = allocate(r, n, sizeof *weight), *normalised = allocate(r, n, sizeof *normalised);
    check_status(r, grpo_window_weight(x, n, number(r, "target"), number(r, "temperature"), weight, normalised));
    add_list(r, "weight", weight, n, double_at);
    add_list(r, "normalised", normalised, n, double_at);
}

static void run_probability_gain(call *r) {
    grpo_real *weight = token_real_out(r);
    weight_done(r, weight, grpo_probability_gain(r->batch, number(r, "strength"), weight));
}

static void run_conflict_weight(call *r) {
    grpo_real *weight = token_real_out(r);
    const int64_t *token = token_wholes(r, "token"), *sign = sequence_wholes(r, "sign");
    weight_done(r, weight, grpo_conflict_weight(r->batch, token, sign, number(r, "inside"), weight));
}

static void run_prompt_weight(call *r) {
    static const char *const names[] = { "llm", "vlm" };
    static const grpo_prompt_form forms[] = { GRPO_PROMPT_LLM, GRPO_PROMPT_VLM };
    double *weight = allocate(r, r->batch->n_groups, sizeof *weight);
    check_status(r, grpo_prompt_weight(r->batch, number(r, "threshold"), number(r, "limit"), number(r, "low"),
                                       forms[choice(r, "form", names, 2)], weight));
    add_list(r, "weight", weight, r->batch->n_groups, double_at);
}

static void run_unlikeliness(call *r) {
    grpo_real *reward = sequence_out(r);
    sequences_done(r, "reward", reward, grpo_unlikeliness(r->batch, number(r, "beta"), dd_scratch(r, r->c->n_sequences), reward));
}

static void run_early_exit(call *r) {
    grpo_real *reward = sequence_out(r);
    sequences_done(r, "reward", reward, grpo_early_exit(r->batch, reward));
}

/* of one group, which is all that the function reads of a batch */
static void run_trust_reward(call *r) {
    int64_t n, begin[2] = { 0, 0 };
    const double *outcome = list(r, "outcome", &n), *thought = list_of(r, "thought", n);
    grpo_real *reward = allocate(r, n, sizeof *reward);
    int64_t *empty = allocate(r, n, sizeof *empty);
    grpo_batch group;
    grpo_trust_bounds b;
    memset(&group, 0, sizeof group);
    memset(empty, 0, (size_t)n * sizeof *empty);
    begin[1] = n;
    group.n_groups = 1; group.group_begin = begin; group.offset = group.length = empty;
    b.low = number(r, "least"); b.right = number(r, "right"); b.every = number(r, "high"); b.none = number(r, "low");
    check_status(r, grpo_trust_reward(&group, outcome, thought, number(r, "decay"), &b, reward));
    add_list(r, "reward", reward, n, real_at);
}

static void run_tool_efficiency(call *r) {
    static const char *const names[] = { "ppo", "grpo" };
    static const grpo_tools_form forms[] = { GRPO_TOOLS_PPO, GRPO_TOOLS_GRPO };
    grpo_real *reward = sequence_out(r);
    const double *calls = sequence_numbers(r, "calls");
    const uint8_t *correct = sequence_flags(r, "correct");
    sequences_done(r, "reward", reward, grpo_tool_efficiency(r->batch, calls, correct, number(r, "smooth"), number(r, "alpha"),
                                                             forms[choice(r, "form", names, 2)], reward));
}

static void run_entity_credit(call *r) {
    grpo_real *reward = sequence_out(r);
    const double *found = sequence_numbers(r, "found");
    const uint8_t *correct = sequence_flags(r, "correct"), *invalid = sequence_flags(r, "invalid");
    sequences_done(r, "reward", reward, grpo_entity_credit(r->batch, found, correct, invalid, number(r, "alpha"), reward));
}

static void run_retention_reward(call *r) {
    grpo_real *reward = sequence_out(r);
    sequences_done(r, "reward", reward, grpo_retention_reward(r->batch, number(r, "lambda"), number(r, "alpha"), reward));
}

/* the rows of a matrix, one after the other */
static const double *matrix(call *r, const char *key, int64_t *rows, int64_t columns) {
    const cJSON *json = argument(r, key), *row = json ? json->child : NULL;
    double *x = allocate(r, cJSON_GetArraySize(json) * columns, sizeof *x);
    for (*rows = 0; row; row = row->next, (*rows)++) {
        const cJSON *item = row->child;
        if (cJSON_GetArraySize(row) != columns) fail(r, "argument %s has a row of another size", key);
        for (int64_t k = 0; item && k < columns; item = item->next, k++)
            if (!case_number(item, &x[*rows * columns + k])) fail(r, "argument %s is not all numbers", key);
    }
    return x;
}

static void run_gated_sum(call *r) {
    int64_t n, columns;
    const double *weight = list(r, "weight", &columns), *rewards = matrix(r, "rewards", &n, columns);
    const int64_t *gate = wholes_of(r, "gate", columns);
    double *reward = allocate(r, n, sizeof *reward);
    check_status(r, grpo_gated_sum(rewards, n, columns, weight, gate, reward));
    add_list(r, "reward", reward, n, double_at);
}

static void run_brier_reward(call *r) {
    int64_t n;
    const double *confidence = list(r, "confidence", &n);
    const int64_t *right = wholes_of(r, "correct", n);
    const uint8_t *missing = is_there(r, "missing") ? flags_of(r, "missing", n) : NULL;
    uint8_t *correct = allocate(r, n, 1);
    double *reward = allocate(r, n, sizeof *reward);
    for (int64_t k = 0; k < n; k++) correct[k] = right[k] != 0;
    check_status(r, grpo_brier_reward(confidence, n, correct, missing, reward));
    add_list(r, "reward", reward, n, double_at);
}

static void run_length_shape(call *r) {
    static const char *const names[] = { "parabola", "polyline", "triangle" };
    static const grpo_shape_form forms[] = { GRPO_SHAPE_PARABOLA, GRPO_SHAPE_POLYLINE, GRPO_SHAPE_TRIANGLE };
    int64_t n;
    const double *length = list(r, "length", &n);
    double *reward = allocate(r, n, sizeof *reward);
    check_status(r, grpo_length_shape(length, n, forms[choice(r, "form", names, 3)], number(r, "peak"), number(r, "max"), reward));
    add_list(r, "reward", reward, n, double_at);
}

static void run_log_exp_map(call *r) {
    int64_t n;
    const double *reward = list(r, "reward", &n);
    double *mapped = allocate(r, n, sizeof *mapped);
    check_status(r, grpo_log_exp_map(reward, n, number(r, "threshold"), number(r, "upper"), number(r, "lower"), mapped));
    add_list(r, "reward", mapped, n, double_at);
}

static void run_tree_reward(call *r) {
    static const char *const names[] = { "max", "mean", "mean_by_depth" };
    static const grpo_tree_form forms[] = { GRPO_TREE_MAX, GRPO_TREE_MEAN, GRPO_TREE_MEAN_BY_DEPTH };
    int64_t n, turns;
    const double *reward = list(r, "reward", &n);
    const int64_t *parent = wholes_of(r, "parent", n), *depth = is_there(r, "depth") ? wholes_of(r, "depth", n) : NULL;
    double *shaped = allocate(r, n, sizeof *shaped);
    turns = is_there(r, "turns") ? whole(r, "turns") : 0;
    check_status(r, grpo_tree_reward(parent, reward, depth, n, is_there(r, "gamma") ? number(r, "gamma") : 0,
                                     forms[choice(r, "form", names, 3)], turns, dd_scratch(r, n), shaped));
    add_list(r, "reward", shaped, n, double_at);
}

static void run_boltzmann_advantage(call *r) {
    grpo_real *advantage = sequence_out(r);
    sequences_done(r, "advantage", advantage, grpo_boltzmann_advantage(r->batch, number(r, "temperature"), advantage));
}

static void run_likelihood_share(call *r) {
    grpo_real *advantage = sequence_out(r);
    sequences_done(r, "advantage", advantage, grpo_likelihood_share(r->batch, number(r, "threshold"), number(r, "temperature"),
                                                                    flag(r, "by_length"), dd_scratch(r, r->c->n_sequences), advantage));
}

static void run_canon_advantage(call *r) {
    static const char *const names[] = { "low", "high" };
    static const grpo_half halves[] = { GRPO_HALF_LOW, GRPO_HALF_HIGH };
    grpo_real *advantage = sequence_out(r);
    const double *metric = sequence_numbers(r, "metric");
    grpo_canon c;
    c.alpha = number(r, "alpha"); c.offset = number(r, "offset"); c.mix = number(r, "mix");
    c.scaled = halves[choice(r, "scaled", names, 2)];
    sequences_done(r, "advantage", advantage, grpo_canon_advantage(r->batch, metric, &c, advantage));
}

/* the official code's; the paper does not say which deviation it means */
static void run_group_relative_scale(call *r) {
    static const char *const names[] = { "code" };
    grpo_real *advantage = sequence_out(r);
    choice(r, "form", names, 1);
    sequences_done(r, "advantage", advantage, grpo_group_relative_scale(r->batch, number(r, "alpha"), number(r, "mean_reward"), advantage));
}

static void run_sharpening(call *r) {
    grpo_real *shaped = sequence_out(r);
    const double *advantage = sequence_numbers(r, "advantage");
    sequences_done(r, "advantage", shaped, grpo_sharpening(r->batch, advantage, number(r, "lambda"), number(r, "kappa"),
                                                           dd_scratch(r, r->c->n_sequences), shaped));
}

static void run_feature_bonus(call *r) {
    grpo_real *shaped = sequence_out(r);
    grpo_feature f;
    f.advantage = sequence_numbers(r, "advantage"); f.feature = sequence_numbers(r, "feature"); f.divisor = sequence_numbers(r, "divisor");
    f.eligible = sequence_flags(r, "eligible");
    f.delta = number(r, "delta"); f.k = number(r, "k");
    sequences_done(r, "advantage", shaped, grpo_feature_bonus(r->batch, &f, shaped));
}

static void run_virtual_reward(call *r) {
    grpo_real *advantage = sequence_out(r);
    sequences_done(r, "advantage", advantage, grpo_virtual_reward(r->batch, number(r, "virtual"), whole(r, "count"), number(r, "eps"),
                                                                  advantage));
}

static void run_set_advantage(call *r) {
    int64_t n, n_sets, *begin, *member, total = 0;
    const double *reward = list(r, "reward", &n);
    const int64_t *klass = wholes_of(r, "class", n);
    const cJSON *json = argument(r, "sets"), *set = json ? json->child : NULL;
    double *advantage;
    n_sets = cJSON_GetArraySize(json);
    begin = allocate(r, n_sets + 1, sizeof *begin);
    advantage = allocate(r, n_sets, sizeof *advantage);
    for (; set; set = set->next) total += cJSON_GetArraySize(set);
    member = allocate(r, total, sizeof *member);
    set = json ? json->child : NULL;
    for (begin[0] = total = n_sets = 0; set; set = set->next, begin[++n_sets] = total)
        for (const cJSON *item = set->child; item; item = item->next) {
            double x = -1;
            if (!case_number(item, &x)) fail(r, "argument sets is not all numbers");
            member[total++] = whole_of(r, "sets", x);
        }
    check_status(r, grpo_set_advantage(reward, klass, n, member, begin, n_sets, advantage));
    add_list(r, "advantage", advantage, n_sets, double_at);
}

static void run_answer_entropy(call *r) {
    double *entropy = allocate(r, r->batch->n_groups, sizeof *entropy);
    const int64_t *answer = sequence_wholes(r, "answer");
    check_status(r, grpo_answer_entropy(r->batch, answer, sequence_numbers(r, "score"), entropy));
    add_list(r, "entropy", entropy, r->batch->n_groups, double_at);
}

static void run_reference_advantage(call *r) {
    int64_t n;
    const double *reward = list(r, "reward", &n);
    double *advantage = allocate(r, n, sizeof *advantage), reference = NAN;
    check_status(r, grpo_reference_advantage(reward, n, number(r, "reference_reward"), number(r, "beta"), number(r, "lambda"),
                                             flag(r, "with_reference"), advantage, &reference));
    add_list(r, "advantage", advantage, n, double_at);
    add_number(r, "reference_advantage", reference);
}

static void run_bundle_advantage(call *r) {
    grpo_real *advantage = sequence_out(r);
    const int64_t *bundle = wholes_of(r, "bundle", r->batch->n_groups);
    grpo_risk x;
    x.low = number(r, "low_quantile"); x.high = number(r, "high_quantile"); x.a = number(r, "low_level"); x.c = number(r, "high_level");
    x.omega = number(r, "omega"); x.eps = number(r, "eps");
    sequences_done(r, "advantage", advantage, grpo_bundle_advantage(r->batch, bundle, &x, dd_scratch(r, r->batch->n_groups), advantage));
}

static void run_invariance_weight(call *r) {
    grpo_real *weight = sequence_out(r);
    const int64_t *meta = wholes_of(r, "meta", r->batch->n_groups);
    const uint8_t *anchor = flags_of(r, "anchor", r->batch->n_groups);
    sequences_done(r, "weight", weight, grpo_invariance_weight(r->batch, meta, anchor, weight));
}

/* a row of `width` elements for each token of the batch, in the order of sequences; NaN stays in slots that no sequence has */
static const grpo_real *token_rows(call *r, const char *key, int64_t width) {
    int64_t rows, k = 0;
    const double *x = matrix(r, key, &rows, width);
    grpo_real *y = allocate(r, r->batch->n_tokens * width, sizeof *y);
    for (int64_t i = 0; i < r->c->n_sequences; i++)
        for (int64_t t = 0; t < r->batch->length[i] * width && k < rows * width; t++, k++) {
            grpo_real *at = &y[r->batch->offset[i] * width + t];
            *at = (grpo_real)x[k];
            if (x[k] == x[k] && (double)*at != x[k]) fail(r, "argument %s has a number that an element does not hold", key);
        }
    for (int64_t i = 0; i < r->c->n_sequences; i++) rows -= r->batch->length[i];
    if (rows != 0) fail(r, "argument %s has not a row for each token", key);
    return y;
}

static void run_centroid_weight(call *r) {
    grpo_real *weight = token_real_out(r);
    grpo_centroids c;
    const grpo_real *feature;
    c.width = whole(r, "width"); c.refine = whole(r, "refine"); c.low = number(r, "low"); c.high = number(r, "high");
    feature = token_rows(r, "feature", c.width > 0 ? c.width : 1);
    weight_done(r, weight, grpo_centroid_weight(r->batch, r->c->given, feature, &c,
                                                dd_scratch(r, 2 * (r->batch->n_tokens + (c.width > 0 ? c.width : 0))), weight));
}

static void run_adapted_clip(call *r) {
    grpo_real *low = token_real_out(r), *high = token_real_out(r), *shaped = token_real_out(r);
    const grpo_real *standard = token_reals(r, "standard");
    grpo_adaptation a;
    a.low = number(r, "low"); a.high = number(r, "high"); a.clip_coef = number(r, "clip_coef"); a.gain = number(r, "gain");
    check_status(r, grpo_adapted_clip(r->batch, r->c->given, standard, &a, low, high, shaped));
    add_tokens(r, "clip_low", low, real_at);
    add_tokens(r, "clip_high", high, real_at);
    add_tokens(r, "advantage", shaped, real_at);
}

static void run_agent_weights(call *r) {
    grpo_real *weight = token_real_out(r);
    weight_done(r, weight, grpo_agent_weights(r->batch, token_wholes(r, "agent"), weight));
}

static void run_centred_weights(call *r) {
    grpo_real *surrogate = sequence_out(r), *penalty = sequence_out(r);
    sequences_done(r, "surrogate", surrogate, grpo_centred_weights(r->batch, number(r, "k"), surrogate, penalty));
    add_list(r, "penalty", penalty, r->c->n_sequences, real_at);
}

static void run_consistency_weights(call *r) {
    int64_t n;
    const double *entropy = list(r, "entropy", &n);
    double *local = allocate(r, n, sizeof *local), *global = allocate(r, n, sizeof *global);
    check_status(r, grpo_consistency_weights(entropy, n, number(r, "gamma"), number(r, "centre"), local, global));
    add_list(r, "local", local, n, double_at);
    add_list(r, "global", global, n, double_at);
}

static void run_efficiency_reward(call *r) {
    grpo_real *reward = sequence_out(r);
    uint8_t *efficient = allocate(r, r->batch->n_groups, 1);
    const uint8_t *correct = sequence_flags(r, "correct");
    sequences_done(r, "reward", reward, grpo_efficiency_reward(r->batch, correct, number(r, "share"), number(r, "alpha"), reward,
                                                               efficient));
    add_list(r, "efficient", efficient, r->batch->n_groups, flag_at);
}

static void run_consistency_bonus(call *r) {
    grpo_real *reward = sequence_out(r);
    const double *accuracy = sequence_numbers(r, "accuracy");
    sequences_done(r, "reward", reward, grpo_consistency_bonus(r->batch, accuracy, number(r, "lambda"), number(r, "cap"),
                                                               number(r, "margin"), reward));
}

static void run_hint_reward(call *r) {
    static const char *const names[] = { "variance", "informative" };
    static const grpo_hint_form forms[] = { GRPO_HINT_VARIANCE, GRPO_HINT_INFORMATIVE };
    int64_t n;
    const double *reward = list(r, "reward", &n), *gap = list_of(r, "gap", n);
    double shaped = NAN;
    check_status(r, grpo_hint_reward(reward, gap, n, number(r, "temperature"), forms[choice(r, "form", names, 2)], flag(r, "gate"),
                                     &shaped));
    add_number(r, "reward", shaped);
}

static void run_meta_reward(call *r) {
    int64_t n, m;
    const int64_t *length = wholes(r, "length", &n), *net = wholes(r, "net", &m);
    const uint8_t *correct = flags_of(r, "correct", n);
    double reward = NAN;
    check_status(r, grpo_meta_reward(correct, length, n, net, m, whole(r, "passes"), whole(r, "predicted_length"), &reward));
    add_number(r, "reward", reward);
}

static void run_pairwise_wins(call *r) {
    const int64_t n = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(r->c->arguments, "wins"));
    const double *wins = square(r, "wins", n);
    double *reward = allocate(r, n, sizeof *reward);
    check_status(r, grpo_pairwise_wins(wins, n, reward));
    add_list(r, "reward", reward, n, double_at);
}

static void run_entropy_rank_reward(call *r) {
    int64_t n;
    const double *peak = list(r, "peak", &n), *overall = list_of(r, "overall", n);
    int64_t *scratch = allocate(r, n, sizeof *scratch);
    double *reward = allocate(r, n, sizeof *reward);
    check_status(r, grpo_entropy_rank_reward(peak, overall, n, number(r, "top"), scratch, reward));
    add_list(r, "reward", reward, n, double_at);
}

static void run_interval_reward(call *r) {
    int64_t n;
    const double *begin = list(r, "begin", &n), *end = list_of(r, "end", n);
    double *reward = allocate(r, n, sizeof *reward);
    check_status(r, grpo_interval_reward(begin, end, n, number(r, "gamma"), flag(r, "sample"), reward));
    add_list(r, "reward", reward, n, double_at);
}

static void run_dense_rewards(call *r) {
    int64_t n;
    const double *reward = list(r, "reward", &n);
    double *shaped = allocate(r, n, sizeof *shaped);
    check_status(r, grpo_dense_rewards(reward, n, number(r, "score"), number(r, "total"), shaped));
    add_list(r, "reward", shaped, n, double_at);
}

static void run_information_gain(call *r) {
    static const char *const names[] = { "log", "probability" };
    static const grpo_information_form forms[] = { GRPO_INFORMATION_LOG, GRPO_INFORMATION_PROBABILITY };
    int64_t n;
    const double *logp = list(r, "logp", &n);
    double *gain = allocate(r, n, sizeof *gain);
    check_status(r, grpo_information_gain(logp, n, forms[choice(r, "form", names, 2)], gain));
    add_list(r, "gain", gain, n > 0 ? n - 1 : 0, double_at);
}

static void run_implicit_advantage(call *r) {
    const grpo_real *process = token_reals(r, "process");
    grpo_real *advantage = token_real_out(r);
    check_status(r, grpo_implicit_advantage(r->batch, process, number(r, "process_coef"), number(r, "outcome_coef"), advantage));
    add_tokens(r, "advantage", advantage, real_at);
}

static void run_hardness_advantage(call *r) {
    grpo_real *advantage = sequence_out(r);
    sequences_done(r, "advantage", advantage, grpo_hardness_advantage(r->batch, number(r, "slope"), number(r, "offset"), advantage));
}

static void run_token_advantage(call *r) {
    grpo_real *advantage = sequence_out(r);
    sequences_done(r, "advantage", advantage, grpo_token_advantage(r->batch, number(r, "eps"), number(r, "limit"), flag(r, "scaled"),
                                                                   advantage));
}

static void run_future_success(call *r) {
    int64_t n;
    const double *reward = list(r, "reward", &n);
    double *advantage = allocate(r, n, sizeof *advantage);
    check_status(r, grpo_future_success(reward, n, advantage));
    add_list(r, "advantage", advantage, n, double_at);
}

static void run_coplayer_credit(call *r) {
    int64_t n;
    const double *own = list(r, "own", &n), *other = list_of(r, "other", n);
    double *credit = allocate(r, n, sizeof *credit);
    grpo_coplayer c;
    c.gamma = number(r, "gamma"); c.weight_gamma = number(r, "weight_gamma"); c.beta = number(r, "beta"); c.clip = number(r, "clip");
    c.inclusive = flag(r, "inclusive"); c.sign = flag(r, "sign"); c.per_step = flag(r, "per_step"); c.discount = flag(r, "discount");
    check_status(r, grpo_coplayer_credit(own, other, n, &c, credit));
    add_list(r, "credit", credit, n, double_at);
}

static void run_project_advantage(call *r) {
    int64_t n, k;
    const double *advantage = list(r, "advantage", &n), *basis = matrix(r, "basis", &k, n);
    double *shaped = allocate(r, n, sizeof *shaped);
    check_status(r, grpo_project_advantage(advantage, n, basis, k, number(r, "alpha"), flag(r, "positive"), dd_scratch(r, k), shaped));
    add_list(r, "advantage", shaped, n, double_at);
}

static void run_dynamic_scale(call *r) {
    int64_t n;
    const double *hardness = list(r, "hardness", &n), *gap = list_of(r, "gap", n);
    double *factor = allocate(r, n, sizeof *factor);
    check_status(r, grpo_dynamic_scale(hardness, gap, n, number(r, "bound"), factor));
    add_list(r, "factor", factor, n, double_at);
}

static void run_branch_advantage(call *r) {
    static const char *const names[] = { "leaves", "probability" };
    static const grpo_branch_form forms[] = { GRPO_BRANCH_LEAVES, GRPO_BRANCH_PROBABILITY };
    int64_t n;
    const int64_t *parent = wholes(r, "parent", &n);
    const double *reward = list_of(r, "reward", n), *logp = list_of(r, "logp", n);
    grpo_branch *scratch = allocate(r, n, sizeof *scratch);
    double *advantage = allocate(r, n, sizeof *advantage);
    check_status(r, grpo_branch_advantage(parent, reward, logp, n, forms[choice(r, "form", names, 2)], number(r, "alpha"), scratch,
                                          advantage));
    add_list(r, "advantage", advantage, n, double_at);
}

/* the gradient of an infinite value is not pinned */
static void run_divergence(call *r) {
    int64_t n;
    const double *student = list(r, "student", &n), *teacher = list_of(r, "teacher", n);
    double *dstudent = allocate(r, n, sizeof *dstudent), value = NAN;
    check_status(r, grpo_divergence(student, teacher, n, number(r, "temperature"), number(r, "beta"), &value, dstudent));
    add_number(r, "value", value);
    if (grpo_is_finite(value)) add_list(r, "dstudent", dstudent, n, double_at);
}

static void run_set_gap(call *r) {
    int64_t n;
    const double *student = list(r, "student", &n), *teacher = list_of(r, "teacher", n);
    double gap = NAN;
    check_status(r, grpo_set_gap(student, teacher, n, whole(r, "target"), &gap));
    add_number(r, "gap", gap);
}

/* as vectors/README.md has a set of indices */
static void sort_indices(int64_t *index, int64_t n) {
    for (int64_t k = 1; k < n; k++)
        for (int64_t j = k; j > 0 && index[j] < index[j - 1]; j--) { int64_t x = index[j]; index[j] = index[j - 1]; index[j - 1] = x; }
}

/* ---- trackers, samplers, allocators ---------------------------------------------------------------------------------------------- */

/* as many as the list of before has */
static double *list_like(call *r, const char *key, int64_t n) {
    int64_t count;
    double *x = list(r, key, &count);
    if (count == n) return x;
    fail(r, "argument %s has not as many entries as the one before", key);
    return allocate(r, n, sizeof *x);
}

static void run_decayed_counts(call *r) {
    const grpo_counts c = grpo_decayed_counts(number(r, "alpha"), number(r, "beta"), number(r, "decay"), number(r, "successes"),
                                              number(r, "failures"));
    add_number(r, "alpha", c.alpha);
    add_number(r, "beta", c.beta);
}

static void run_decay_by_drift(call *r) {
    double decay = NAN;
    check_status(r, grpo_decay_by_drift(r->batch, number(r, "half_life"), number(r, "low"), number(r, "high"), &decay));
    add_number(r, "decay", decay);
}

static void run_moving_average(call *r) {
    add_number(r, "state", grpo_moving_average(number(r, "state"), number(r, "value"), number(r, "rate")));
}

static void run_quantile_track(call *r) {
    int64_t n, m;
    const double *quantile = list(r, "quantile", &n), *level = list_like(r, "level", n), *observed = list(r, "observed", &m);
    double *tracked = allocate(r, n, sizeof *tracked);
    check_status(r, grpo_quantile_track(quantile, level, n, number(r, "rate"), observed, m, tracked));
    add_list(r, "quantile", tracked, n, double_at);
}

static void run_turn_factor(call *r) {
    const double *factor = sequence_numbers(r, "factor");
    double *updated = allocate(r, r->c->n_sequences, sizeof *updated);
    check_status(r, grpo_turn_factor(r->batch, factor, number(r, "low"), number(r, "high"), updated));
    add_list(r, "factor", updated, r->c->n_sequences, double_at);
}

static void run_linear_decay(call *r) {
    add_number(r, "value", grpo_linear_decay(number(r, "start"), number(r, "step") - number(r, "offset"), number(r, "steps")));
}

static void run_count_budget(call *r) {
    add_number(r, "value", grpo_count_budget(number(r, "start"), number(r, "factor"), whole(r, "step"), whole(r, "interval")));
}

static void run_informative_probability(call *r) {
    add_number(r, "probability", grpo_informative_probability(number(r, "p"), whole(r, "n")));
}

static void run_allocate(call *r) {
    int64_t n, *count;
    const double *p = list(r, "p", &n);
    count = allocate(r, n, sizeof *count);
    check_status(r, grpo_allocate(p, n, whole(r, "low"), whole(r, "high"), whole(r, "total"), count));
    add_list(r, "count", count, n, index_at);
}

/* room for `count` of n indices */
static int64_t *indices(call *r, int64_t n, int64_t count) { return allocate(r, count >= 0 && count <= n ? count : 0, sizeof(int64_t)); }

static void run_value_information(call *r) {
    int64_t n, count = whole(r, "count"), *index;
    const double *draw = list(r, "draw", &n);
    index = indices(r, n, count);
    check_status(r, grpo_value_information(draw, n, count, index));
    if (!*r->out->error) sort_indices(index, count);
    if (!*r->out->error) add_list(r, "index", index, count, index_at);
}

static void run_visit_value(call *r) {
    static const char *const names[] = { "paper" };
    int64_t n;
    const double *p = list(r, "p", &n), *diversity = list_like(r, "diversity", n);
    double *weight = allocate(r, n, sizeof *weight);
    if (is_there(r, "form")) choice(r, "form", names, 1);
    check_status(r, grpo_visit_value(p, diversity, n, number(r, "alpha"), number(r, "beta"), weight));
    add_list(r, "weight", weight, n, double_at);
}

static void run_downsample_variance(call *r) {
    int64_t n, count = whole(r, "count"), *index;
    const double *advantage = list(r, "advantage", &n);
    index = indices(r, n, count);
    check_status(r, grpo_downsample_variance(advantage, n, count, index));
    if (!*r->out->error) sort_indices(index, count);
    if (!*r->out->error) add_list(r, "index", index, count, index_at);
}

static void run_pad_valid(call *r) {
    const uint8_t *valid = sequence_flags(r, "valid");
    int64_t count = 0, *index = allocate(r, r->c->n_sequences, sizeof *index);
    check_status(r, grpo_pad_valid(r->batch, valid, index, &count));
    add_list(r, "index", index, count, index_at);
}

static void run_spread_keep(call *r) {
    uint8_t *keep = allocate(r, r->batch->n_groups, 1);
    check_status(r, grpo_spread_keep(r->batch, number(r, "least"), keep));
    add_list(r, "keep", keep, r->batch->n_groups, flag_at);
}

static void run_advantage_keep(call *r) {
    int64_t n;
    const double *advantage = list(r, "advantage", &n);
    uint8_t *keep = allocate(r, n, 1);
    const int64_t multiple = is_there(r, "multiple") ? whole(r, "multiple") : 0;
    check_status(r, grpo_advantage_keep(advantage, n, number(r, "least"), multiple, is_there(r, "positive") && flag(r, "positive"), keep));
    add_list(r, "keep", keep, n, flag_at);
}

static void run_probability_select(call *r) {
    uint8_t *selected = token_out(r);
    select_done(r, selected, grpo_probability_select(r->batch, number(r, "probability"), selected));
}

static void run_median_advantage(call *r) {
    double *advantage = allocate(r, r->c->n_sequences, sizeof *advantage);
    int64_t *pivot = allocate(r, r->batch->n_groups, sizeof *pivot);
    check_status(r, grpo_median_advantage(r->batch, number(r, "eps"), advantage, pivot));
    add_list(r, "advantage", advantage, r->c->n_sequences, double_at);
    add_list(r, "pivot", pivot, r->batch->n_groups, index_at);
}

static void run_mix_advantages(call *r) {
    int64_t n;
    const double *x = list(r, "x", &n), *y = list_like(r, "y", n);
    double *mixed = allocate(r, n, sizeof *mixed);
    check_status(r, grpo_mix_advantages(x, y, n, number(r, "a"), number(r, "b"), mixed));
    add_list(r, "advantage", mixed, n, double_at);
}

static void run_length_preference(call *r) {
    const double *length = sequence_numbers(r, "length");
    double *weight = allocate(r, r->c->n_sequences, sizeof *weight), *slope = allocate(r, r->c->n_sequences, sizeof *slope);
    check_status(r, grpo_length_preference(r->batch, length, number(r, "r"), number(r, "lambda"), weight, slope));
    add_list(r, "weight", weight, r->c->n_sequences, double_at);
    add_list(r, "slope", slope, r->c->n_sequences, double_at);
}

static void run_entropy_standard(call *r) {
    static const char *const names[] = { "coded", "intended" };
    static const grpo_standard_form forms[] = { GRPO_STANDARD_CODED, GRPO_STANDARD_INTENDED };
    grpo_real *standard = allocate(r, r->batch->n_tokens, sizeof *standard);
    check_status(r, grpo_entropy_standard(r->batch, number(r, "quantile"), forms[choice(r, "form", names, 2)], standard));
    add_tokens(r, "standard", standard, real_at);
}

static void run_entropy_target_coef(call *r) {
    const grpo_target_coef c = grpo_entropy_target_coef(number(r, "entropy"), number(r, "target"), number(r, "coef"));
    add_number(r, "coef", c.coef);
    add_number(r, "value", c.value);
}

static void run_kl_hinge(call *r) { add_number(r, "coef", grpo_kl_hinge(number(r, "kl"), number(r, "delta"), number(r, "beta"))); }

static void run_cluster_probability(call *r) {
    int64_t n;
    const double *rate = list(r, "rate", &n), *probability = list_like(r, "probability", n), *success = list_like(r, "success", n);
    double *new_rate = allocate(r, n, sizeof *new_rate), *new_probability = allocate(r, n, sizeof *new_probability);
    check_status(r, grpo_cluster_probability(rate, probability, success, n, number(r, "alpha"), new_rate, new_probability));
    add_list(r, "rate", new_rate, n, double_at);
    add_list(r, "probability", new_probability, n, double_at);
}

static void run_explore_weight(call *r) {
    int64_t n;
    const double *value = list(r, "value", &n);
    double *weight = allocate(r, n, sizeof *weight);
    check_status(r, grpo_explore_weight(value, n, number(r, "least"), weight));
    add_list(r, "weight", weight, n, double_at);
}

static void run_hint_level(call *r) {
    int64_t n;
    const int64_t *level = wholes(r, "level", &n);
    const double *success = list_like(r, "success", n);
    int64_t *next = allocate(r, n, sizeof *next);
    check_status(r, grpo_hint_level(level, success, n, number(r, "low"), number(r, "high"), whole(r, "max"), next));
    add_list(r, "level", next, n, index_at);
}

static void run_ratio_quantile(call *r) {
    double value = NAN;
    check_status(r, grpo_ratio_quantile(r->batch, number(r, "quantile"), number(r, "least"), &value));
    add_number(r, "value", value);
}

static void run_logistic_shift(call *r) {
    const uint8_t *correct = sequence_flags(r, "correct");
    double shift = NAN;
    check_status(r, grpo_logistic_shift(r->batch, correct, number(r, "beta"), &shift));
    add_number(r, "shift", shift);
}

static void run_gram_rank(call *r) {
    int64_t n, rank = -1;
    const double *advantage = list(r, "advantage", &n), *gram = square(r, "gram", n);
    double effective = NAN;
    check_status(r, grpo_gram_rank(gram, advantage, n, number(r, "share"), whole(r, "least"), whole(r, "most"), &rank, &effective));
    add_number(r, "rank", (double)rank);
    add_number(r, "effective", effective);
}

/* ---- found in pull requests and code -------------------------------------------------------------------------------------------- */

static double *group_out(call *r) { return allocate(r, r->batch->n_groups, sizeof(double)); }

static void add_groups(call *r, const char *key, const double *x, grpo_status st) {
    check_status(r, st);
    add_list(r, key, x, r->batch->n_groups, double_at);
}

static void add_doubles(call *r, const char *key, const double *x, int64_t n, grpo_status st) {
    check_status(r, st);
    add_list(r, key, x, n, double_at);
}

static void run_repetition_reward(call *r) {
    grpo_real *reward = sequence_out(r);
    const int64_t *token = token_wholes(r, "token");
    sequences_done(r, "reward", reward, grpo_repetition_reward(r->batch, token, whole(r, "size"), number(r, "penalty"), reward));
}

static void run_confidence_factor(call *r) {
    double *factor = group_out(r);
    add_groups(r, "factor", factor, grpo_confidence_factor(r->batch, sequence_flags(r, "correct"), number(r, "delta"), factor));
}

static void run_collapsed_advantage(call *r) {
    grpo_real *advantage = sequence_out(r);
    sequences_done(r, "advantage", advantage, grpo_collapsed_advantage(r->batch, number(r, "eps"), advantage));
}

static void run_shorter_correct(call *r) {
    grpo_real *reward = sequence_out(r);
    sequences_done(r, "reward", reward, grpo_shorter_correct(r->batch, number(r, "coef"), reward));
}

static void run_surprisal_weight(call *r) {
    grpo_real *weight = token_real_out(r);
    weight_done(r, weight, grpo_surprisal_weight(r->batch, r->c->given, number(r, "share"), number(r, "up"), number(r, "down"),
                                                 number(r, "target"), weight));
}

static void run_prefix_budget(call *r) {
    uint8_t *selected = token_out(r);
    double *scratch = allocate(r, r->batch->n_tokens, sizeof *scratch);
    grpo_prefix_gate x;
    x.width = whole(r, "width");
    x.least = number(r, "least"); x.delta = number(r, "delta"); x.budget = number(r, "budget");
    x.quantile = number(r, "quantile"); x.factor = number(r, "factor");
    select_done(r, selected, grpo_prefix_budget(r->batch, r->c->given, &x, scratch, selected));
}

static void run_difficulty_weight(call *r) {
    double *weight = group_out(r);
    add_groups(r, "weight", weight, grpo_difficulty_weight(r->batch, sequence_numbers(r, "accuracy"), number(r, "temperature"), weight));
}

static void run_variant_advantage(call *r) {
    int64_t n;
    const double *advantage = list(r, "advantage", &n), *difficulty = list_of(r, "difficulty", n), *mean = list_of(r, "mean", n);
    double *weighted = allocate(r, n, sizeof *weighted);
    add_doubles(r, "advantage", weighted, n, grpo_variant_advantage(advantage, difficulty, mean, n, number(r, "k"), weighted));
}

static void run_step_weight(call *r) {
    int64_t n;
    const double *advantage = list(r, "advantage", &n), *weight = list_of(r, "weight", n);
    double *weighted = allocate(r, n, sizeof *weighted);
    add_doubles(r, "advantage", weighted, n, grpo_step_weight(advantage, weight, n, weighted));
}

static void run_tree_advantage(call *r) {
    static const char *const names[] = { "td", "siblings", "paper" };
    static const grpo_tree_advantage_form forms[] = { GRPO_TREE_TD, GRPO_TREE_SIBLINGS, GRPO_TREE_PARENT };
    int64_t n;
    const int64_t *parent = wholes(r, "parent", &n);
    const double *reward = list_of(r, "reward", n), *value = is_there(r, "value") ? list_of(r, "value", n) : NULL;
    const double gamma = is_there(r, "gamma") ? number(r, "gamma") : 0;
    double *advantage = allocate(r, n, sizeof *advantage);
    grpo_tree_state *scratch = allocate(r, n, sizeof *scratch);
    add_doubles(r, "advantage", advantage, n,
                grpo_tree_advantage(parent, reward, value, n, gamma, forms[choice(r, "form", names, 3)], scratch, advantage));
}

static void run_two_anchors(call *r) {
    static const char *const names[] = { "paper", "code" };
    static const grpo_anchors_form forms[] = { GRPO_ANCHORS_PAPER, GRPO_ANCHORS_CODE };
    grpo_real *advantage = sequence_out(r);
    grpo_anchors a;
    a.alpha = number(r, "alpha"); a.beta = number(r, "beta");
    a.gain_pos = number(r, "gain_pos"); a.gain_neg = number(r, "gain_neg");
    a.form = forms[choice(r, "form", names, 2)];
    sequences_done(r, "advantage", advantage, grpo_two_anchors(r->batch, sequence_numbers(r, "constraints"), &a, advantage));
}

static void run_pairwise_calibration(call *r) {
    grpo_real *advantage = sequence_out(r);
    grpo_dd *scratch = dd_scratch(r, r->c->n_sequences);
    const uint8_t *correct = sequence_flags(r, "correct");
    sequences_done(r, "advantage", advantage, grpo_pairwise_calibration(r->batch, correct, number(r, "temperature"), scratch, advantage));
}

static void run_gaussian_covariance(call *r) {
    grpo_real *weight = token_real_out(r);
    weight_done(r, weight, grpo_gaussian_covariance(r->batch, r->c->given, weight));
}

/* a list of lists of n ids, one after the other */
static const int64_t *rows_of_ids(call *r, const char *key, int64_t *rows, int64_t *n) {
    const cJSON *json = argument(r, key), *row = cJSON_IsArray(json) ? json->child : NULL, *item;
    int64_t *x, k = 0;
    double id;
    *rows = cJSON_GetArraySize(json);
    *n = cJSON_GetArraySize(row);
    x = allocate(r, *rows * *n, sizeof *x);
    if (!cJSON_IsArray(json)) fail(r, "argument %s is no list", key);
    for (; row; row = row->next) {
        if (cJSON_GetArraySize(row) != *n) { fail(r, "the lists of argument %s differ in length", key); break; }
        for (item = row->child; item; item = item->next) {
            if (!case_number(item, &id)) { fail(r, "argument %s is not all numbers", key); id = 0; }
            x[k++] = whole_of(r, key, id);
        }
    }
    return x;
}

static void run_permutation_reward(call *r) {
    static const char *const names[] = { "judge", "votes" };
    static const grpo_permutation_form forms[] = { GRPO_PERMUTATION_JUDGE, GRPO_PERMUTATION_VOTES };
    int64_t rows, n;
    const int64_t *ids = rows_of_ids(r, "choice", &rows, &n);
    double *reward = allocate(r, rows * n, sizeof *reward);
    add_doubles(r, "reward", reward, rows * n, grpo_permutation_reward(ids, rows, n, forms[choice(r, "form", names, 2)], reward));
}

static void run_frequency_reward(call *r) {
    grpo_real *reward = sequence_out(r);
    sequences_done(r, "reward", reward, grpo_frequency_reward(r->batch, sequence_wholes(r, "answer"), whole(r, "size"), reward));
}

static void run_correct_length(call *r) {
    grpo_real *reward = sequence_out(r);
    sequences_done(r, "reward", reward, grpo_correct_length(r->batch, sequence_flags(r, "correct"), number(r, "alpha"), number(r, "eps"),
                                                           number(r, "wrong"), reward));
}

static void run_pair_rewards(call *r) {
    grpo_real *reward = sequence_out(r);
    uint8_t *masked = allocate(r, r->c->n_sequences, 1);
    int64_t count, pairs = 0;
    const int64_t *outcome = wholes(r, "outcome", &count);
    for (int64_t g = 0; g < r->batch->n_groups; g++) pairs += (r->batch->group_begin[g + 1] - r->batch->group_begin[g]) / 2;
    if (count != pairs) { fail(r, "argument outcome has not an entry for each pair"); return; }
    sequences_done(r, "reward", reward, grpo_pair_rewards(r->batch, outcome, sequence_flags(r, "ended"), reward, masked));
    add_list(r, "masked", masked, r->c->n_sequences, flag_at);
}

static void run_spread_reward(call *r) {
    int64_t n;
    const double *distance = list(r, "distance", &n);
    double *reward = allocate(r, n, sizeof *reward);
    add_doubles(r, "reward", reward, n, grpo_spread_reward(distance, n, reward));
}

static void run_annealed_split(call *r) {
    const grpo_split s = grpo_annealed_split(whole(r, "step"), whole(r, "steps"), whole(r, "size"));
    add_number(r, "other", (double)s.other);
    add_number(r, "own", (double)s.own);
}

static void run_multi_scale_advantage(call *r) {
    int64_t n;
    const double *reward = list(r, "reward", &n);
    double *advantage = allocate(r, n, sizeof *advantage);
    add_doubles(r, "advantage", advantage, n, grpo_multi_scale_advantage(reward, n, number(r, "eps"), advantage));
}

static void run_entropy_factor(call *r) {
    int64_t n;
    const double *entropy = list(r, "entropy", &n);
    double *factor = allocate(r, n, sizeof *factor);
    add_doubles(r, "factor", factor, n, grpo_entropy_factor(entropy, n, number(r, "alpha"), whole(r, "size"), factor));
}

static void run_hardest_miss(call *r) {
    grpo_real *advantage = sequence_out(r);
    int64_t *replace = allocate(r, r->batch->n_groups, sizeof *replace);
    sequences_done(r, "advantage", advantage, grpo_hardest_miss(r->batch, sequence_numbers(r, "utility"), advantage, replace));
    add_list(r, "replace", replace, r->batch->n_groups, index_at);
}

static void run_position_advantage(call *r) {
    int64_t n;
    const double *logp_old = list(r, "logp_old", &n), *reward = list_of(r, "reward", n);
    double *advantage = allocate(r, n, sizeof *advantage);
    add_doubles(r, "advantage", advantage, n, grpo_position_advantage(logp_old, reward, n, advantage));
}

static void run_power_clip(call *r) {
    const double mean = number(r, "mean"), deviation = number(r, "deviation"), low = number(r, "low"), high = number(r, "high");
    const grpo_power_bounds b = grpo_power_clip(mean, deviation, number(r, "gamma"), low, high, number(r, "delta"));
    add_number(r, "power", b.power);
    add_number(r, "eps", b.eps);
    add_number(r, "log_high", b.log_high);
}

static void run_role_reward(call *r) {
    static const char *const names[] = { "mean", "mean_std", "clipped" };
    static const grpo_role_form forms[] = { GRPO_ROLE_MEAN, GRPO_ROLE_MEAN_STD, GRPO_ROLE_CLIPPED };
    int64_t n, roles;
    const double *reward = list(r, "reward", &n);
    const int64_t *role = wholes(r, "role", &roles);
    double *advantage = allocate(r, n, sizeof *advantage);
    if (roles != n) { fail(r, "argument role has not an entry for each turn"); return; }
    add_doubles(r, "advantage", advantage, n, grpo_role_reward(reward, role, n, forms[choice(r, "form", names, 3)], advantage));
}

static void run_sequence_distance(call *r) {
    static const char *const names[] = { "edit", "suffix", "rouge_l" };
    static const grpo_distance_form forms[] = { GRPO_DISTANCE_EDIT, GRPO_DISTANCE_SUFFIX, GRPO_DISTANCE_ROUGE_L };
    int64_t n_a, n_b;
    const int64_t *a = wholes(r, "a", &n_a), *b = wholes(r, "b", &n_b);
    int64_t *scratch = allocate(r, 2 * n_b + 2, sizeof *scratch);
    double distance = NAN;
    check_status(r, grpo_sequence_distance(a, n_a, b, n_b, forms[choice(r, "form", names, 3)], scratch, &distance));
    add_number(r, "distance", distance);
}

static void run_route_weight(call *r) {
    grpo_real *weight = token_real_out(r);
    const uint8_t *routed = sequence_flags(r, "routed");
    weight_done(r, weight, grpo_route_weight(r->batch, routed, number(r, "beta"), weight));
}

/* ---- the table ------------------------------------------------------------------------------------------------------------------ */

enum { DOUBLES, ELEMENTS };

static const struct { const char *name; void (*run)(call *r); int elements; } functions[] = {
    { "select_top", run_select_top, DOUBLES },
    { "select_largest", run_select_largest, DOUBLES },
    { "select_between", run_select_between, DOUBLES },
    { "select_second_moment", run_select_second_moment, DOUBLES },
    { "covariance", run_covariance, ELEMENTS },
    { "keep_between", run_keep_between, DOUBLES },
    { "kl_control", run_kl_control, DOUBLES },
    { "entropy_control", run_entropy_control, DOUBLES },
    { "balanced_bounds", run_balanced_bounds, DOUBLES },
    { "smooth_advantage", run_smooth_advantage, DOUBLES },
    { "running_moments", run_running_moments, DOUBLES },
    { "resampling_weights", run_resampling_weights, DOUBLES },
    { "resample", run_resample, DOUBLES },
    { "replay_score", run_replay_score, DOUBLES },
    { "value_loss", run_value_loss, ELEMENTS },
    { "proximal_logp", run_proximal_logp, ELEMENTS },
    { "sample_weights", run_sample_weights, DOUBLES },
    { "relative_cost", run_relative_cost, ELEMENTS },
    { "diversity_reward", run_diversity_reward, DOUBLES },
    { "key_tokens", run_key_tokens, ELEMENTS },
    { "running_baseline", run_running_baseline, DOUBLES },
    { "balanced_subset", run_balanced_subset, DOUBLES },
    { "clip_below", run_clip_below, DOUBLES },
    { "clip_value", run_clip_value, DOUBLES },
    { "regret_temperature", run_regret_temperature, DOUBLES },
    { "jsd_advantage", run_jsd_advantage, ELEMENTS },
    { "distribution_advantage", run_distribution_advantage, ELEMENTS },
    { "preference_margin_control", run_preference_margin_control, DOUBLES },
    { "teacher_gate", run_teacher_gate, ELEMENTS },
    { "prefix_discrepancy", run_prefix_discrepancy, ELEMENTS },
    { "window_weight", run_window_weight, DOUBLES },
    { "probability_gain", run_probability_gain, ELEMENTS },
    { "conflict_weight", run_conflict_weight, ELEMENTS },
    { "prompt_weight", run_prompt_weight, DOUBLES },
    { "unlikeliness", run_unlikeliness, ELEMENTS },
    { "early_exit", run_early_exit, ELEMENTS },
    { "trust_reward", run_trust_reward, ELEMENTS },
    { "tool_efficiency", run_tool_efficiency, ELEMENTS },
    { "entity_credit", run_entity_credit, ELEMENTS },
    { "retention_reward", run_retention_reward, ELEMENTS },
    { "gated_sum", run_gated_sum, DOUBLES },
    { "brier_reward", run_brier_reward, DOUBLES },
    { "length_shape", run_length_shape, DOUBLES },
    { "log_exp_map", run_log_exp_map, DOUBLES },
    { "tree_reward", run_tree_reward, DOUBLES },
    { "boltzmann_advantage", run_boltzmann_advantage, ELEMENTS },
    { "likelihood_share", run_likelihood_share, ELEMENTS },
    { "canon_advantage", run_canon_advantage, ELEMENTS },
    { "group_relative_scale", run_group_relative_scale, ELEMENTS },
    { "sharpening", run_sharpening, ELEMENTS },
    { "feature_bonus", run_feature_bonus, ELEMENTS },
    { "virtual_reward", run_virtual_reward, ELEMENTS },
    { "set_advantage", run_set_advantage, DOUBLES },
    { "answer_entropy", run_answer_entropy, DOUBLES },
    { "reference_advantage", run_reference_advantage, DOUBLES },
    { "bundle_advantage", run_bundle_advantage, ELEMENTS },
    { "invariance_weight", run_invariance_weight, ELEMENTS },
    { "centroid_weight", run_centroid_weight, ELEMENTS },
    { "adapted_clip", run_adapted_clip, ELEMENTS },
    { "agent_weights", run_agent_weights, ELEMENTS },
    { "centred_weights", run_centred_weights, ELEMENTS },
    { "consistency_weights", run_consistency_weights, DOUBLES },
    { "efficiency_reward", run_efficiency_reward, ELEMENTS },
    { "consistency_bonus", run_consistency_bonus, ELEMENTS },
    { "hint_reward", run_hint_reward, DOUBLES },
    { "meta_reward", run_meta_reward, DOUBLES },
    { "pairwise_wins", run_pairwise_wins, DOUBLES },
    { "entropy_rank_reward", run_entropy_rank_reward, DOUBLES },
    { "interval_reward", run_interval_reward, DOUBLES },
    { "dense_rewards", run_dense_rewards, DOUBLES },
    { "information_gain", run_information_gain, DOUBLES },
    { "implicit_advantage", run_implicit_advantage, ELEMENTS },
    { "hardness_advantage", run_hardness_advantage, ELEMENTS },
    { "token_advantage", run_token_advantage, ELEMENTS },
    { "future_success", run_future_success, DOUBLES },
    { "coplayer_credit", run_coplayer_credit, DOUBLES },
    { "project_advantage", run_project_advantage, DOUBLES },
    { "dynamic_scale", run_dynamic_scale, DOUBLES },
    { "branch_advantage", run_branch_advantage, DOUBLES },
    { "divergence", run_divergence, DOUBLES },
    { "set_gap", run_set_gap, DOUBLES },
    { "decayed_counts", run_decayed_counts, DOUBLES },
    { "decay_by_drift", run_decay_by_drift, DOUBLES },
    { "moving_average", run_moving_average, DOUBLES },
    { "quantile_track", run_quantile_track, DOUBLES },
    { "turn_factor", run_turn_factor, DOUBLES },
    { "linear_decay", run_linear_decay, DOUBLES },
    { "count_budget", run_count_budget, DOUBLES },
    { "informative_probability", run_informative_probability, DOUBLES },
    { "allocate", run_allocate, DOUBLES },
    { "value_information", run_value_information, DOUBLES },
    { "visit_value", run_visit_value, DOUBLES },
    { "downsample_variance", run_downsample_variance, DOUBLES },
    { "pad_valid", run_pad_valid, DOUBLES },
    { "spread_keep", run_spread_keep, DOUBLES },
    { "advantage_keep", run_advantage_keep, DOUBLES },
    { "probability_select", run_probability_select, DOUBLES },
    { "median_advantage", run_median_advantage, DOUBLES },
    { "mix_advantages", run_mix_advantages, DOUBLES },
    { "length_preference", run_length_preference, DOUBLES },
    { "entropy_standard", run_entropy_standard, ELEMENTS },
    { "entropy_target_coef", run_entropy_target_coef, DOUBLES },
    { "kl_hinge", run_kl_hinge, DOUBLES },
    { "cluster_probability", run_cluster_probability, DOUBLES },
    { "explore_weight", run_explore_weight, DOUBLES },
    { "hint_level", run_hint_level, DOUBLES },
    { "ratio_quantile", run_ratio_quantile, DOUBLES },
    { "logistic_shift", run_logistic_shift, DOUBLES },
    { "gram_rank", run_gram_rank, DOUBLES },
    { "confidence_factor", run_confidence_factor, DOUBLES },
    { "repetition_reward", run_repetition_reward, ELEMENTS },
    { "collapsed_advantage", run_collapsed_advantage, ELEMENTS },
    { "shorter_correct", run_shorter_correct, ELEMENTS },
    { "surprisal_weight", run_surprisal_weight, ELEMENTS },
    { "prefix_budget", run_prefix_budget, DOUBLES },
    { "difficulty_weight", run_difficulty_weight, DOUBLES },
    { "variant_advantage", run_variant_advantage, DOUBLES },
    { "step_weight", run_step_weight, DOUBLES },
    { "tree_advantage", run_tree_advantage, DOUBLES },
    { "two_anchors", run_two_anchors, ELEMENTS },
    { "pairwise_calibration", run_pairwise_calibration, ELEMENTS },
    { "gaussian_covariance", run_gaussian_covariance, ELEMENTS },
    { "permutation_reward", run_permutation_reward, DOUBLES },
    { "frequency_reward", run_frequency_reward, ELEMENTS },
    { "correct_length", run_correct_length, ELEMENTS },
    { "pair_rewards", run_pair_rewards, ELEMENTS },
    { "spread_reward", run_spread_reward, DOUBLES },
    { "annealed_split", run_annealed_split, DOUBLES },
    { "multi_scale_advantage", run_multi_scale_advantage, DOUBLES },
    { "entropy_factor", run_entropy_factor, DOUBLES },
    { "hardest_miss", run_hardest_miss, ELEMENTS },
    { "position_advantage", run_position_advantage, DOUBLES },
    { "power_clip", run_power_clip, DOUBLES },
    { "role_reward", run_role_reward, DOUBLES },
    { "sequence_distance", run_sequence_distance, DOUBLES },
    { "route_weight", run_route_weight, ELEMENTS },
};

/* nothing was wrong so far: is there an argument that the function does not read? */
static void check_arguments(call *r) {
    if (*r->out->error || r->read == cJSON_GetArraySize(r->c->arguments)) return;
    r->out->unknown = 1;
    fail(r, "%.60s has an argument that is not known here", r->c->function);
}

call_result call_run(const test_case *c) {
    const size_t count = sizeof functions / sizeof *functions;
    size_t k = 0;
    call_result out;
    call r = { NULL, NULL, NULL, 0, NULL };
    memset(&out, 0, sizeof out);
    r.c = c;
    r.batch = &c->batch;
    r.out = &out;
    while (k < count && strcmp(functions[k].name, c->function)) k++;
    out.unknown = k == count;
    if (out.unknown) { fail(&r, "no function %.60s", c->function); return out; }
    out.elements = functions[k].elements;
    out.answers = cJSON_CreateObject();
    functions[k].run(&r);
    check_arguments(&r);
    if (*out.error) call_free(&out);
    for (ptrdiff_t j = 0; j < arrlen(r.memory); j++) free(r.memory[j]);
    arrfree(r.memory);
    return out;
}

void call_free(call_result *r) {
    cJSON_Delete(r->answers);
    r->answers = NULL;
}
