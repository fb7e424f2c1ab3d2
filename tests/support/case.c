#define _POSIX_C_SOURCE 200809L
#include "case.h"
#include "status.h"
#include <cJSON.h>
#include <dirent.h>
#include <stb_ds.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { MAX_TOKENS = 1 << 24, MAX_FIELDS = 256, MAX_FILE = 1 << 28 };

/* ---- errors and memory ---------------------------------------------------------------------------------------------------------- */

typedef struct {
    test_case *c;
    char *error;
    size_t error_size;
} reader;

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static int fail(const reader *r, const char *key, const char *format, ...) {
    char what[160];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    snprintf(r->error, r->error_size, "case %.80s: %.80s: %s", r->c && r->c->id ? r->c->id : "?", key, what);
    return 1;
}

/* a newer file or program may use what this reader does not know: the case is skipped, which is no error */
static int unknown(const reader *r, const char *key, const char *what) {
    r->c->unknown = 1;
    return fail(r, key, "%.60s is not known here", what);
}

void *case_memory(void ***all, int64_t count, size_t size) {
    void *p = calloc((size_t)count + 1, size);
    if (!p) abort();
    arrput(*all, p);
    return p;
}

void case_memory_free(void ***all) {
    for (ptrdiff_t k = 0; k < arrlen(*all); k++) free((*all)[k]);
    arrfree(*all);
}

static void *allocate(test_case *c, int64_t count, size_t size) { return case_memory(&c->memory, count, size); }

static char *copy_text(const char *text) {
    size_t size = strlen(text) + 1;
    char *p = malloc(size);
    if (!p) abort();
    memcpy(p, text, size);
    return p;
}

void case_free(test_case *c) {
    case_memory_free(&c->memory);
    free(c->id);
    free(c->unread);
    memset(c, 0, sizeof *c);
}

int case_has_flag(const test_case *c, const char *flag) {
    const cJSON *flags = cJSON_GetObjectItemCaseSensitive(c->json, "flags");
    for (const cJSON *f = flags ? flags->child : NULL; f; f = f->next) if (cJSON_IsString(f) && !strcmp(f->valuestring, flag)) return 1;
    return 0;
}

int case_has_loss(const test_case *c) { return c->kind == CASE_OBJECTIVE || c->kind == CASE_SPLIT; }
int case_has_rows(const test_case *c) { return c->kind == CASE_LOGITS || c->kind == CASE_HIDDEN; }

void case_file_free(case_file *file) {
    for (int64_t k = 0; k < file->n_cases; k++) case_free(&file->cases[k]);
    free(file->cases);
    free(file->variant);
    free(file->paper);
    free(file->equations);
    free(file->evidence);
    cJSON_Delete(file->json);
    memset(file, 0, sizeof *file);
}

/* ---- objects: known keys, each once --------------------------------------------------------------------------------------------- */

typedef struct { const char *key; int required; const cJSON *item; } slot;      /* a list of slots ends with key NULL */
enum { KEYS_LISTED_ONLY, KEYS_ANY };

static slot *slot_named(slot *slots, const char *key) {
    for (; slots->key; slots++) if (!strcmp(slots->key, key)) return slots;
    return NULL;
}

static int take(const reader *r, const char *object, const cJSON *json, slot *slots, int others) {
    if (!cJSON_IsObject(json)) return fail(r, object, "not an object");
    for (const cJSON *item = json->child; item; item = item->next) {
        slot *s = slot_named(slots, item->string);
        if (!s && others == KEYS_ANY) continue;
        if (!s) return unknown(r, object, item->string);
        if (s->item) return fail(r, object, "%s is there twice", s->key);
        s->item = item;
    }
    for (; slots->key; slots++)
        if (slots->required && !slots->item) return fail(r, object, "%s is missing", slots->key);
    return 0;
}

/* ---- elements ------------------------------------------------------------------------------------------------------------------- */

/* writes element `index` of an array; returns NULL, or what is wrong */
typedef const char *element(const cJSON *item, void *array, int64_t index);

int case_number(const cJSON *item, double *value) {
    if (cJSON_IsNumber(item)) { *value = item->valuedouble; return grpo_is_finite(*value); }
    if (!cJSON_IsString(item)) return 0;
    if (!strcmp(item->valuestring, "Infinity")) { *value = HUGE_VAL; return 1; }
    if (!strcmp(item->valuestring, "-Infinity")) { *value = -HUGE_VAL; return 1; }
    if (!strcmp(item->valuestring, "NaN")) { *value = nan(""); return 1; }
    return 0;
}

static const char *read_double(const cJSON *item, void *array, int64_t index) {
    double v;
    if (!case_number(item, &v)) return "not a number";
    if (v != v) return "NaN is no answer";
    ((double *)array)[index] = v;
    return NULL;
}

static const char *read_real(const cJSON *item, void *array, int64_t index) {
    double v;
    if (!case_number(item, &v)) return "not a number";
#ifndef CASE_BINARY64                                                /* oracle/worst_error.py searches among all doubles */
    if (grpo_is_finite(v) && (fabs(v) > FLT_MAX || (double)(float)v != v)) return "not a binary32 number";
#endif
    ((grpo_real *)array)[index] = (grpo_real)v;
    return NULL;
}

static const char *read_flag(const cJSON *item, void *array, int64_t index) {
    if (!cJSON_IsBool(item)) return "neither true nor false";
    ((uint8_t *)array)[index] = cJSON_IsTrue(item) ? 1 : 0;
    return NULL;
}

static const char *read_count(const cJSON *item, void *array, int64_t index) {
    double v;
    if (!case_number(item, &v) || !(v >= 0 && v <= MAX_TOKENS) || v != floor(v)) return "not a count";
    ((int64_t *)array)[index] = (int64_t)v;
    return NULL;
}

static const char *read_integer(const cJSON *item, void *array, int64_t index) {
    double v;
    if (!case_number(item, &v) || !(fabs(v) <= 9007199254740992) || v != floor(v)) return "not an integer up to 2^53";
    ((int64_t *)array)[index] = (int64_t)v;
    return NULL;
}

/* ---- arrays --------------------------------------------------------------------------------------------------------------------- */

static int row_has(const cJSON *json, int64_t length) { return cJSON_IsArray(json) && cJSON_GetArraySize(json) == length; }

static int read_elements(const reader *r, const char *key, const cJSON *json, element *read, void *array, int64_t first) {
    int64_t index = first;
    for (const cJSON *item = json->child; item; item = item->next, index++) {
        const char *wrong = read(item, array, index);
        if (wrong) return fail(r, key, "element %lld is %s", (long long)(index - first), wrong);
    }
    return 0;
}

/* one value per sequence or group; *array stays as it was when json is NULL */
static int read_row(const reader *r, const char *key, const cJSON *json, int64_t length, element *read, size_t size, void **array) {
    if (!json) return 0;
    if (!row_has(json, length)) return fail(r, key, "not an array of %lld", (long long)length);
    *array = allocate(r->c, length, size);
    return read_elements(r, key, json, read, *array, 0);
}

static int check_shape(const reader *r, const char *key, const cJSON *json) {
    const grpo_batch *b = &r->c->batch;
    int64_t i = 0;
    if (!row_has(json, r->c->n_sequences)) return fail(r, key, "not an array of %lld rows", (long long)r->c->n_sequences);
    for (const cJSON *row = json->child; row; row = row->next, i++)
        if (!row_has(row, b->length[i])) return fail(r, key, "row %lld is not an array of %lld", (long long)i, (long long)b->length[i]);
    return 0;
}

/* one value per token, packed; the shape is checked first, so that no more is allocated than the file has values */
static int read_rows(const reader *r, const char *key, const cJSON *json, element *read, size_t size, void **array) {
    int64_t i = 0;
    if (!json) return 0;
    if (check_shape(r, key, json)) return 1;
    *array = allocate(r->c, r->c->batch.n_tokens, size);
    for (const cJSON *row = json->child; row; row = row->next, i++)
        if (read_elements(r, key, row, read, *array, r->c->batch.offset[i])) return 1;
    return 0;
}

static int real_row(const reader *r, const char *key, const cJSON *json, int64_t length, const grpo_real **out) {
    void *p = NULL;
    int failed = read_row(r, key, json, length, read_real, sizeof(grpo_real), &p);
    *out = p;
    return failed;
}

static int double_row(const reader *r, const char *key, const cJSON *json, int64_t length, double **out) {
    void *p = NULL;
    int failed = read_row(r, key, json, length, read_double, sizeof(double), &p);
    *out = p;
    return failed;
}

static int flag_row(const reader *r, const char *key, const cJSON *json, int64_t length, const uint8_t **out) {
    void *p = NULL;
    int failed = read_row(r, key, json, length, read_flag, 1, &p);
    *out = p;
    return failed;
}

static int count_row(const reader *r, const char *key, const cJSON *json, int64_t length, int64_t **out) {
    void *p = NULL;
    int failed = read_row(r, key, json, length, read_count, sizeof(int64_t), &p);
    *out = p;
    return failed;
}

static int real_rows(const reader *r, const char *key, const cJSON *json, const grpo_real **out) {
    void *p = NULL;
    int failed = read_rows(r, key, json, read_real, sizeof(grpo_real), &p);
    *out = p;
    return failed;
}

static int flag_rows(const reader *r, const char *key, const cJSON *json, const uint8_t **out) {
    void *p = NULL;
    int failed = read_rows(r, key, json, read_flag, 1, &p);
    *out = p;
    return failed;
}

static int integer_rows(const reader *r, const char *key, const cJSON *json, const int64_t **out) {
    void *p = NULL;
    int failed = read_rows(r, key, json, read_integer, sizeof(int64_t), &p);
    *out = p;
    return failed;
}

static int double_rows(const reader *r, const char *key, const cJSON *json, double **out) {
    void *p = NULL;
    int failed = read_rows(r, key, json, read_double, sizeof(double), &p);
    *out = p;
    return failed;
}

static int double_item(const reader *r, const char *key, const cJSON *json, double *out) {
    const char *wrong = read_double(json, out, 0);
    return wrong ? fail(r, key, "%s", wrong) : 0;
}

/* ---- the objective -------------------------------------------------------------------------------------------------------------- */

static int field_index(const char *axis, const char *key) {
    int count, n;
    const grpo_field *field = grpo_fields(&count);
    size_t length = strlen(axis);
    for (n = 0; n < count; n++)
        if (!strncmp(field[n].path, axis, length) && field[n].path[length] == '.' && !strcmp(field[n].path + length + 1, key)) return n;
    return -1;
}

static int axis_is_known(const char *axis) {
    int count, n;
    const grpo_field *field = grpo_fields(&count);
    size_t length = strlen(axis);
    for (n = 0; n < count; n++) if (!strncmp(field[n].path, axis, length) && field[n].path[length] == '.') return 1;
    return 0;
}

static int read_field(const reader *r, const grpo_field *field, const cJSON *item) {
    double v;
    grpo_status st;
    if (field->choices) {
        if (!cJSON_IsString(item)) return fail(r, field->path, "not the name of a choice");
        return grpo_objective_choose(&r->c->objective, field->path, item->valuestring) ? unknown(r, field->path, item->valuestring) : 0;
    }
    if (!case_number(item, &v) || v != v) return fail(r, field->path, "not a number");
    st = grpo_objective_set(&r->c->objective, field->path, v);
    return st ? fail(r, field->path, "%s", status_line(st)) : 0;
}

static int read_axis(const reader *r, const cJSON *axis, uint8_t *seen) {
    int count;
    const grpo_field *field = grpo_fields(&count);
    if (!axis_is_known(axis->string)) return unknown(r, "objective", axis->string);
    if (!cJSON_IsObject(axis)) return fail(r, "objective", "%.60s is not an object", axis->string);
    for (const cJSON *item = axis->child; item; item = item->next) {
        int n = field_index(axis->string, item->string);
        if (n < 0) return unknown(r, axis->string, item->string);
        if (seen[n]++) return fail(r, field[n].path, "it is there twice");
        if (read_field(r, &field[n], item)) return 1;
    }
    return 0;
}

/* a field that is left out is its first choice or 0, the value before reading */
static int read_objective(const reader *r, const cJSON *json) {
    uint8_t seen[MAX_FIELDS] = { 0 };
    int count;
    grpo_fields(&count);
    if (count > MAX_FIELDS) return fail(r, "objective", "more fields than this reader can tell apart");
    if (!cJSON_IsObject(json)) return fail(r, "objective", "not an object");
    for (const cJSON *axis = json->child; axis; axis = axis->next)
        if (read_axis(r, axis, seen)) return 1;
    return 0;
}

/* ---- the batch ------------------------------------------------------------------------------------------------------------------ */

static int read_groups(const reader *r, const cJSON *json) {
    grpo_batch *b = &r->c->batch;
    int64_t *group, *begin, i, n = 0;
    if (!cJSON_IsArray(json)) return fail(r, "batch.group", "not an array");
    r->c->n_sequences = cJSON_GetArraySize(json);
    if (count_row(r, "batch.group", json, r->c->n_sequences, &group)) return 1;
    begin = allocate(r->c, r->c->n_sequences, sizeof *begin);
    for (i = 0; i < r->c->n_sequences; i++) {
        if (group[i] == n) begin[n++] = i;
        else if (group[i] != n - 1) return fail(r, "batch.group", "element %lld is neither this group nor the next", (long long)i);
    }
    begin[n] = r->c->n_sequences;
    b->n_groups = n;
    b->group_begin = begin;
    return 0;
}

static int read_lengths(const reader *r, const cJSON *json) {
    grpo_batch *b = &r->c->batch;
    int64_t *length, *offset, i;
    if (count_row(r, "batch.length", json, r->c->n_sequences, &length)) return 1;
    offset = allocate(r->c, r->c->n_sequences, sizeof *offset);
    for (i = 0; i < r->c->n_sequences; i++) {
        offset[i] = b->n_tokens;
        b->n_tokens += length[i];
        if (b->n_tokens > MAX_TOKENS) return fail(r, "batch.length", "too many tokens");
    }
    b->offset = offset;
    b->length = length;
    return 0;
}

/* one row of rewards per sequence, all of one length */
static int read_columns(const reader *r, const cJSON *json) {
    grpo_batch *b = &r->c->batch;
    grpo_real *rewards;
    int64_t i = 0;
    if (!json) return 0;
    if (!row_has(json, r->c->n_sequences)) return fail(r, "batch.rewards", "not an array of %lld rows", (long long)r->c->n_sequences);
    b->n_rewards = json->child ? cJSON_GetArraySize(json->child) : 0;
    for (const cJSON *row = json->child; row; row = row->next)
        if (!row_has(row, b->n_rewards)) return fail(r, "batch.rewards", "its rows are not all of one length");
    rewards = allocate(r->c, r->c->n_sequences * b->n_rewards, sizeof *rewards);
    b->rewards = rewards;
    for (const cJSON *row = json->child; row; row = row->next, i++)
        if (read_elements(r, "batch.rewards", row, read_real, rewards, i * b->n_rewards)) return 1;
    return 0;
}

static int read_batch(const reader *r, const cJSON *json) {
    enum { GROUP, LENGTH, REWARD, REWARDS, REWARD_WEIGHT, TRUNCATED, BASELINE, LOGP, LOGP_OLD, LOGP_REF, LOGP_ROLLOUT, LOGP_TEACHER,
           ENTROPY, VALUE, STEP_REWARD, STEP_END, SEGMENT_END, MASK, ADVANTAGE, SELECTED, KL_MASK, NLL_MASK, MARKED, SHAPING_MASK, LOG_Z,
               STATE, TOKEN_ID, PROBABILITY_SQUARES, WEIGHT,
           CLIP_LOW, CLIP_HIGH, OUTSIDE, DIVERGENCE_REF, DIVERGENCE_OLD };
    slot s[] = { { "group", 1, NULL }, { "length", 1, NULL }, { "reward", 0, NULL }, { "rewards", 0, NULL },
                 { "reward_weight", 0, NULL }, { "truncated", 0, NULL }, { "baseline", 0, NULL }, { "logp", 1, NULL },
                 { "logp_old", 0, NULL }, { "logp_ref", 0, NULL }, { "logp_rollout", 0, NULL }, { "logp_teacher", 0, NULL },
                 { "entropy", 0, NULL }, { "value", 0, NULL }, { "step_reward", 0, NULL }, { "step_end", 0, NULL },
                     { "segment_end", 0, NULL }, { "mask", 0, NULL },
                 { "advantage", 0, NULL }, { "selected", 0, NULL }, { "kl_mask", 0, NULL }, { "nll_mask", 0, NULL }, { "marked", 0, NULL },
                     { "shaping_mask", 0, NULL }, { "log_partition", 0, NULL }, { "state", 0, NULL }, { "token_id", 0, NULL },
                 { "sum_pi_squared", 0, NULL }, { "external_weight", 0, NULL }, { "eps_low", 0, NULL }, { "eps_high", 0, NULL },
                 { "excluded", 0, NULL }, { "divergence_ref", 0, NULL }, { "divergence_old", 0, NULL },
                 { NULL, 0, NULL } };
    grpo_batch *b = &r->c->batch;
    s[LOGP].required = case_has_loss(r->c);
    return take(r, "batch", json, s, KEYS_LISTED_ONLY)
        || read_groups(r, s[GROUP].item)
        || read_lengths(r, s[LENGTH].item)
        || real_row(r, "batch.reward", s[REWARD].item, r->c->n_sequences, &b->reward)
        || read_columns(r, s[REWARDS].item)
        || real_row(r, "batch.reward_weight", s[REWARD_WEIGHT].item, b->n_rewards, &b->reward_weight)
        || flag_row(r, "batch.truncated", s[TRUNCATED].item, r->c->n_sequences, &b->truncated)
        || flag_row(r, "batch.excluded", s[OUTSIDE].item, r->c->n_sequences, &b->excluded)
        || real_row(r, "batch.baseline", s[BASELINE].item, b->n_groups, &b->baseline)
        || real_row(r, "batch.log_partition", s[LOG_Z].item, b->n_groups, &b->log_partition)
        || real_rows(r, "batch.logp", s[LOGP].item, &b->logp)
        || real_rows(r, "batch.logp_old", s[LOGP_OLD].item, &b->logp_old)
        || real_rows(r, "batch.logp_ref", s[LOGP_REF].item, &b->logp_ref)
        || real_rows(r, "batch.logp_rollout", s[LOGP_ROLLOUT].item, &b->logp_rollout)
        || real_rows(r, "batch.logp_teacher", s[LOGP_TEACHER].item, &b->logp_teacher)
        || real_rows(r, "batch.entropy", s[ENTROPY].item, &b->entropy)
        || real_rows(r, "batch.value", s[VALUE].item, &b->value)
        || real_rows(r, "batch.step_reward", s[STEP_REWARD].item, &b->step_reward)
        || flag_rows(r, "batch.step_end", s[STEP_END].item, &b->step_end)
        || flag_rows(r, "batch.segment_end", s[SEGMENT_END].item, &b->segment_end)
        || flag_rows(r, "batch.mask", s[MASK].item, &b->mask)
        || flag_rows(r, "batch.selected", s[SELECTED].item, &b->selected)
        || flag_rows(r, "batch.kl_mask", s[KL_MASK].item, &b->kl_mask)
        || flag_rows(r, "batch.nll_mask", s[NLL_MASK].item, &b->nll_mask)
        || flag_rows(r, "batch.marked", s[MARKED].item, &b->marked)
        || flag_rows(r, "batch.shaping_mask", s[SHAPING_MASK].item, &b->shaping_mask)
        || integer_rows(r, "batch.state", s[STATE].item, &b->state)
        || integer_rows(r, "batch.token_id", s[TOKEN_ID].item, &b->token_id)
        || real_rows(r, "batch.sum_pi_squared", s[PROBABILITY_SQUARES].item, &b->sum_pi_squared)
        || real_rows(r, "batch.external_weight", s[WEIGHT].item, &b->external_weight)
        || real_rows(r, "batch.eps_low", s[CLIP_LOW].item, &b->eps_low)
        || real_rows(r, "batch.eps_high", s[CLIP_HIGH].item, &b->eps_high)
        || real_rows(r, "batch.divergence_ref", s[DIVERGENCE_REF].item, &b->divergence_ref)
        || real_rows(r, "batch.divergence_old", s[DIVERGENCE_OLD].item, &b->divergence_old)
        || real_rows(r, "batch.advantage", s[ADVANTAGE].item, &r->c->given);
}

/* ---- the answers ---------------------------------------------------------------------------------------------------------------- */

const case_metric *case_metric_named(const test_case *c, const char *key) {
    for (int64_t k = 0; k < c->n_report; k++) if (!strcmp(c->report[k].key, key)) return &c->report[k];
    return NULL;
}

static const char *const metric_keys[] = {
#define KEY(name) #name,
    CASE_METRICS(KEY, KEY)
#undef KEY
};
enum { N_METRICS = sizeof metric_keys / sizeof *metric_keys };

static int known_metrics(const reader *r, const char *where, const cJSON *metrics) {
    int k;
    if (!cJSON_IsObject(metrics)) return fail(r, where, "not an object");
    for (const cJSON *item = metrics->child; item; item = item->next) {
        for (k = 0; k < N_METRICS && strcmp(metric_keys[k], item->string); k++) { }
        if (k == N_METRICS) return fail(r, where, "%.60s is not a key of the report", item->string);
    }
    return 0;
}

/* a number that is left out is 0, a scale that is left out is the number without its sign */
static int read_metric(const reader *r, const cJSON *numbers, const cJSON *scales, case_metric *m) {
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(numbers, m->key), *scale = cJSON_GetObjectItemCaseSensitive(scales, m->key);
    m->expect = 0;
    if (number && double_item(r, m->key, number, &m->expect)) return 1;
    m->scale = fabs(m->expect);
    return scale && double_item(r, m->key, scale, &m->scale);
}

static int read_report(const reader *r, const cJSON *expect, const cJSON *scale) {
    test_case *c = r->c;
    if (known_metrics(r, "expect.report", expect) || known_metrics(r, "scale.report", scale)) return 1;
    c->report = allocate(c, N_METRICS, sizeof *c->report);
    for (c->n_report = 0; c->n_report < N_METRICS; c->n_report++) {
        c->report[c->n_report].key = metric_keys[c->n_report];
        if (read_metric(r, expect, scale, &c->report[c->n_report])) return 1;
    }
    return 0;
}

static int read_answers(const reader *r, const cJSON *expect_json, const cJSON *scale_json) {
    enum { LOSS, TERM, DLOGP, REPORT, ADVANTAGE, DENTROPY, DLOG_Z, DDIVERGENCE, DYNAMIC_SAMPLING };
    const int advantage = !r->c->given, rewarded = r->c->batch.reward != NULL;
    slot e[] = { { "loss", 1, NULL }, { "term", 1, NULL }, { "dlogp", 1, NULL }, { "report", 1, NULL }, { "advantage", 0, NULL },
                 { "dentropy", 0, NULL }, { "dlog_partition", 0, NULL }, { "ddivergence_ref", 0, NULL },
                 { "dynamic_sampling_mask", 0, NULL }, { NULL, 0, NULL } };
    slot s[] = { { "loss", 1, NULL }, { "term", 1, NULL }, { "dlogp", 1, NULL }, { "report", 1, NULL }, { "advantage", 0, NULL },
                 { "dentropy", 0, NULL }, { "dlog_partition", 0, NULL }, { "ddivergence_ref", 0, NULL }, { NULL, 0, NULL } };
    test_case *c = r->c;
    const int dentropy = c->objective.penalty.entropy_coef != 0, ddivergence = c->objective.penalty.kl == GRPO_KL_EXTERNAL;
    const int dlog_partition = c->objective.surrogate.kind == GRPO_SURROGATE_TRAJECTORY_BALANCE;
    e[ADVANTAGE].required = s[ADVANTAGE].required = advantage;
    e[DYNAMIC_SAMPLING].required = rewarded;
    e[DENTROPY].required = s[DENTROPY].required = dentropy;
    e[DDIVERGENCE].required = s[DDIVERGENCE].required = ddivergence;
    e[DLOG_Z].required = s[DLOG_Z].required = dlog_partition;
    if (take(r, "expect", expect_json, e, KEYS_LISTED_ONLY) || take(r, "scale", scale_json, s, KEYS_LISTED_ONLY)) return 1;
    if (!advantage && (e[ADVANTAGE].item || s[ADVANTAGE].item)) return fail(r, "expect.advantage", "the batch gives the advantages");
    if (!rewarded && e[DYNAMIC_SAMPLING].item) return fail(r, "expect.dynamic_sampling_mask", "the batch has no rewards");
    if (!dentropy && (e[DENTROPY].item || s[DENTROPY].item)) return fail(r, "expect.dentropy", "the objective has no entropy bonus");
    if (!ddivergence && (e[DDIVERGENCE].item || s[DDIVERGENCE].item))
        return fail(r, "expect.ddivergence_ref", "the objective is given no divergence");
    if (!dlog_partition && (e[DLOG_Z].item || s[DLOG_Z].item)) return fail(r, "expect.dlog_partition",
        "the objective has no partition function");
    return double_item(r, "expect.loss", e[LOSS].item, &c->loss)
        || double_item(r, "scale.loss", s[LOSS].item, &c->loss_scale)
        || double_rows(r, "expect.term", e[TERM].item, &c->term.expect)
        || double_rows(r, "scale.term", s[TERM].item, &c->term.scale)
        || double_rows(r, "expect.dlogp", e[DLOGP].item, &c->dlogp.expect)
        || double_rows(r, "scale.dlogp", s[DLOGP].item, &c->dlogp.scale)
        || double_rows(r, "expect.dentropy", e[DENTROPY].item, &c->dentropy.expect)
        || double_rows(r, "scale.dentropy", s[DENTROPY].item, &c->dentropy.scale)
        || double_rows(r, "expect.ddivergence_ref", e[DDIVERGENCE].item, &c->ddivergence_ref.expect)
        || double_rows(r, "scale.ddivergence_ref", s[DDIVERGENCE].item, &c->ddivergence_ref.scale)
        || double_row(r, "expect.dlog_partition", e[DLOG_Z].item, c->batch.n_groups, &c->dlog_partition.expect)
        || double_row(r, "scale.dlog_partition", s[DLOG_Z].item, c->batch.n_groups, &c->dlog_partition.scale)
        || double_rows(r, "expect.advantage", e[ADVANTAGE].item, &c->advantage.expect)
        || double_rows(r, "scale.advantage", s[ADVANTAGE].item, &c->advantage.scale)
        || flag_row(r, "expect.dynamic_sampling_mask", e[DYNAMIC_SAMPLING].item, c->batch.n_groups, &c->dynamic_sampling_mask)
        || ((e[REPORT].item || s[REPORT].item) && read_report(r, e[REPORT].item, s[REPORT].item));
}

/* a list of `count` vectors of `width` numbers */
static int read_vectors(const reader *r, const char *key, const cJSON *json, int64_t count, int64_t width, element *read, void *array) {
    int64_t k = 0;
    if (!row_has(json, count)) return fail(r, key, "not an array of %lld", (long long)count);
    for (const cJSON *item = json->child; item; item = item->next, k++) {
        if (!row_has(item, width)) return fail(r, key, "element %lld is not an array of %lld", (long long)k, (long long)width);
        if (read_elements(r, key, item, read, array, k * width)) return 1;
    }
    return 0;
}

/* a vector for each token, packed; the shape is checked before anything is allocated */
static int token_vectors(const reader *r, const char *key, const cJSON *json, int64_t width, element *read, size_t size, void **array) {
    const grpo_batch *b = &r->c->batch;
    int64_t i = 0;
    if (check_shape(r, key, json)) return 1;
    for (const cJSON *row = json->child; row; row = row->next)
        for (const cJSON *item = row->child; item; item = item->next)
            if (!row_has(item, width)) return fail(r, key, "an element is not an array of %lld", (long long)width);
    *array = allocate(r->c, b->n_tokens * width, size);
    for (const cJSON *row = json->child; row; row = row->next, i++)
        if (read_vectors(r, key, row, b->length[i], width, read, (char *)*array + (size_t)(b->offset[i] * width) * size)) return 1;
    return 0;
}

static int double_vectors(const reader *r, const char *key, const cJSON *json, int64_t width, double **out) {
    void *p = NULL;
    int failed = json ? token_vectors(r, key, json, width, read_double, sizeof(double), &p) : 0;
    *out = p;
    return failed;
}

static int double_matrix(const reader *r, const char *key, const cJSON *json, int64_t rows, int64_t width, double **out) {
    if (!json) return 0;
    *out = allocate(r->c, rows * width, sizeof **out);
    return read_vectors(r, key, json, rows, width, read_double, *out);
}

/* reads `expect` or `scale` into that member of each answer */
static int read_row_numbers(const reader *r, const char *where, const cJSON *json, int scale) {
    enum { LOGP, ENTROPY, LOSS, DLOGITS, DHIDDEN, DWEIGHT };
    slot s[] = { { "logp", 0, NULL }, { "entropy", 0, NULL }, { "loss", 0, NULL }, { "dlogits", 0, NULL }, { "dhidden", 0, NULL },
                 { "dweight", 0, NULL }, { NULL, 0, NULL } };
    test_case *c = r->c;
    const case_rows *rows = &c->rows;
    const int slopes = rows->has_loss || rows->dlogp;
    s[LOSS].required = rows->has_loss;
    s[LOGP].required = s[ENTROPY].required = !rows->has_loss;
    s[DLOGITS].required = slopes && rows->logits;
    s[DHIDDEN].required = s[DWEIGHT].required = slopes && rows->hidden;
    if (take(r, where, json, s, KEYS_LISTED_ONLY)) return 1;
    for (const slot *x = s; x->key; x++) if (x->item && !x->required) return fail(r, where, "%s is not asked for", x->key);
    return (s[LOSS].item && double_item(r, where, s[LOSS].item, scale ? &c->loss_scale : &c->loss))
        || double_rows(r, where, s[LOGP].item, scale ? &c->logp.scale : &c->logp.expect)
        || double_rows(r, where, s[ENTROPY].item, scale ? &c->entropy.scale : &c->entropy.expect)
        || double_vectors(r, where, s[DLOGITS].item, rows->vocab, scale ? &c->dlogits.scale : &c->dlogits.expect)
        || double_vectors(r, where, s[DHIDDEN].item, rows->width, scale ? &c->dhidden.scale : &c->dhidden.expect)
        || double_matrix(r, where, s[DWEIGHT].item, rows->vocab, rows->width, scale ? &c->dweight.scale : &c->dweight.expect);
}

/* ---- the answers of a call ------------------------------------------------------------------------------------------------------ */

/* appends the index "[k]" to the text */
static size_t add_place(char *text, size_t size, int64_t k) {
    const size_t length = strlen(text);
    snprintf(text + length, size - length, "[%lld]", (long long)k);
    return length;
}

/* appends the path of leaf *index of json (a number, a flag, or a list of such); if json has fewer leaves, subtracts their number from
 * *index */
static int find_leaf(const cJSON *json, int64_t *index, char *text, size_t size) {
    int64_t k = 0;
    if (!cJSON_IsArray(json)) return (*index)-- == 0;
    for (const cJSON *item = json->child; item; item = item->next) {
        const size_t length = add_place(text, size, k++);
        if (find_leaf(item, index, text, size)) return 1;
        text[length] = 0;
    }
    return 0;
}

void case_call_where(const test_case *c, int64_t index, char *buffer, size_t size) {
    for (const cJSON *item = c->answers->child; item; item = item->next) {
        snprintf(buffer, size, "%s", item->string);
        if (find_leaf(item, &index, buffer, size)) return;
    }
}

typedef struct { char where[120]; double *value; uint8_t *given; int64_t n; char *error; size_t error_size; } call_reader;

static int call_fails(const call_reader *r, const char *what) {
    snprintf(r->error, r->error_size, "%s %s", r->where, what);
    return 1;
}

static int read_leaf(call_reader *r, const cJSON *expect, const cJSON *json) {
    const int flag = cJSON_IsBool(expect);
    r->given[r->n] = 1;
    if (flag && cJSON_IsBool(json)) r->value[r->n] = cJSON_IsTrue(json) ? 1 : 0;
    else if (flag) return call_fails(r, "is neither true nor false");
    else if (!case_number(json, &r->value[r->n])) return call_fails(r, "is neither a number nor \"Infinity\", \"-Infinity\" or \"NaN\"");
    r->n++;
    return 0;
}

/* reads a value that has the shape of expect */
static int read_like(call_reader *r, const cJSON *expect, const cJSON *json) {
    char what[60];
    int64_t k = 0;
    if (!cJSON_IsArray(expect)) return read_leaf(r, expect, json);
    snprintf(what, sizeof what, "is not an array of %d", cJSON_GetArraySize(expect));
    if (!row_has(json, cJSON_GetArraySize(expect))) return call_fails(r, what);
    json = json->child;
    for (expect = expect->child; expect; expect = expect->next, json = json->next) {
        const size_t length = add_place(r->where, sizeof r->where, k++);
        if (read_like(r, expect, json)) return 1;
        r->where[length] = 0;
    }
    return 0;
}

int64_t case_leaves(const cJSON *json) {
    int64_t n = 0;
    if (!cJSON_IsArray(json) && !cJSON_IsObject(json)) return 1;
    for (const cJSON *item = json->child; item; item = item->next) n += case_leaves(item);
    return n;
}

static int check_names(const test_case *c, const cJSON *json, char *error, size_t error_size) {
    for (const cJSON *item = json->child; item; item = item->next) {
        if (!cJSON_GetObjectItemCaseSensitive(c->answers, item->string))
            return snprintf(error, error_size, "%.40s is not an answer of %.40s", item->string, c->function), 1;
        if (cJSON_GetObjectItemCaseSensitive(json, item->string) != item)
            return snprintf(error, error_size, "%.40s is there twice", item->string), 1;
    }
    return 0;
}

int case_call_read(const test_case *c, const cJSON *json, double *value, uint8_t *given, char *error, size_t error_size) {
    call_reader r = { "", NULL, NULL, 0, NULL, 0 };
    r.value = value;
    r.given = given;
    r.error = error;
    r.error_size = error_size;
    memset(given, 0, (size_t)c->n_call);
    if (!cJSON_IsObject(json)) return snprintf(error, error_size, "it is not an object"), 1;
    if (check_names(c, json, error, error_size)) return 1;
    for (const cJSON *expect = c->answers->child; expect; expect = expect->next) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, expect->string);
        snprintf(r.where, sizeof r.where, "%.40s", expect->string);
        if (item && read_like(&r, expect, item)) return 1;
        if (!item) r.n += case_leaves(expect);
    }
    return 0;
}

/* the answers, or their scales */
static int read_call_numbers(const reader *r, const char *key, const cJSON *json, double **out) {
    uint8_t *given = allocate(r->c, r->c->n_call, 1);
    double *value = *out = allocate(r->c, r->c->n_call, sizeof *value);
    char error[200];
    if (case_call_read(r->c, json, value, given, error, sizeof error)) return fail(r, key, "%s", error);
    for (int64_t k = 0; k < r->c->n_call; k++) if (value[k] != value[k]) return fail(r, key, "NaN is no answer");
    return 0;
}

/* ---- cases and files ------------------------------------------------------------------------------------------------------------ */

static int text_item(const reader *r, const char *key, const cJSON *json, char **out) {
    if (!cJSON_IsString(json)) return fail(r, key, "not a string");
    *out = copy_text(json->valuestring);
    return 0;
}

const char *const case_kind_name[CASE_REFUSE + 1] = { "objective", "split", "logits", "call", "hidden", "refuse" };

static int read_kind(const reader *r, const cJSON *json) {
    int k;
    if (!json) return 0;
    for (k = 0; cJSON_IsString(json) && k <= CASE_REFUSE; k++)
        if (!strcmp(case_kind_name[k], json->valuestring)) { r->c->kind = (case_kind)k; return 0; }
    return cJSON_IsString(json) ? unknown(r, "kind", json->valuestring) : fail(r, "kind", "not a string");
}

enum { CASE_KEY_ID, CASE_KEY_KIND, CASE_KEY_OBJECTIVE, CASE_KEY_BATCH, CASE_KEY_PARTS, CASE_KEY_RANKS, CASE_KEY_TARGET, CASE_KEY_EXPECT,
       CASE_KEY_SCALE, CASE_KEY_ADVANTAGE, CASE_KEY_FUNCTION, CASE_KEY_ARGUMENTS, CASE_KEY_REDUCE, CASE_KEY_CONTEXT_RANKS,
       CASE_KEY_FILTERED,
       CASE_KEY_LOGITS, CASE_KEY_HIDDEN, CASE_KEY_WEIGHT, CASE_KEY_TEMPERATURE, CASE_KEY_BANNED, CASE_KEY_SHARDS, CASE_KEY_CHUNKS,
       CASE_KEY_DLOGP, CASE_KEY_DENTROPY, CASE_KEY_FIELD, CASE_KEY_REASON };
#define CASE_SLOTS { { "id", 1, NULL }, { "kind", 0, NULL }, { "objective", 0, NULL }, { "batch", 0, NULL }, { "parts", 0, NULL }, \
                     { "ranks", 0, NULL }, { "target", 0, NULL }, { "expect", 0, NULL }, { "scale", 0, NULL }, { "advantage", 0, NULL }, \
                     { "function", 0, NULL }, { "arguments", 0, NULL }, { "reduce", 0, NULL }, { "context_ranks", 0, NULL }, \
                     { "filtered", 0, NULL }, { "logits", 0, NULL }, { "hidden", 0, NULL }, { "weight", 0, NULL }, \
                     { "temperature", 0, NULL }, { "banned", 0, NULL }, { "shards", 0, NULL }, { "chunks", 0, NULL }, \
                     { "dlogp", 0, NULL }, { "dentropy", 0, NULL }, { "field", 0, NULL }, { "reason", 0, NULL }, { NULL, 0, NULL } }

/* appends a range to the list if it is valid, else fails with the reason */
static int add_range(const reader *r, case_range **list, case_range x) {
    if (x.sequence >= r->c->n_sequences || x.begin > x.end || x.end > r->c->batch.length[x.sequence])
        return fail(r, "parts", "there are no such tokens");
    if (arrlen(*list) > r->c->batch.n_tokens + r->c->n_sequences) return fail(r, "parts", "more ranges than tokens");
    arrput(*list, x);
    return 0;
}

static int add_response(const reader *r, case_range **list, int64_t i) {
    const case_range x = { i, 0, i < r->c->n_sequences ? r->c->batch.length[i] : 0 };
    return add_range(r, list, x);
}

static int add_responses(const reader *r, const cJSON *json, case_range **list) {
    int64_t *which;
    if (!cJSON_IsArray(json)) return fail(r, "parts", "responses is not an array");
    if (count_row(r, "parts", json, cJSON_GetArraySize(json), &which)) return 1;
    for (int64_t k = 0; k < cJSON_GetArraySize(json); k++) if (add_response(r, list, which[k])) return 1;
    return 0;
}

static int add_groups(const reader *r, const cJSON *json, case_range **list) {
    const grpo_batch *b = &r->c->batch;
    int64_t *which;
    if (!cJSON_IsArray(json)) return fail(r, "parts", "groups is not an array");
    if (count_row(r, "parts", json, cJSON_GetArraySize(json), &which)) return 1;
    for (int64_t k = 0; k < cJSON_GetArraySize(json); k++) {
        if (which[k] >= b->n_groups) return fail(r, "parts", "group %lld is not there", (long long)which[k]);
        for (int64_t i = b->group_begin[which[k]]; i < b->group_begin[which[k] + 1]; i++) if (add_response(r, list, i)) return 1;
    }
    return 0;
}

static int add_rows(const reader *r, const cJSON *json, case_range **list) {
    if (!cJSON_IsArray(json)) return fail(r, "parts", "rows is not an array");
    for (const cJSON *row = json->child; row; row = row->next) if (add_responses(r, row, list)) return 1;
    return 0;
}

static int add_tokens(const reader *r, const cJSON *json, case_range **list) {
    if (!cJSON_IsArray(json)) return fail(r, "parts", "tokens is not an array");
    for (const cJSON *item = json->child; item; item = item->next) {
        int64_t *x;
        if (count_row(r, "parts", item, 3, &x)) return 1;
        if (add_range(r, list, (case_range){ x[0], x[1], x[2] })) return 1;
        r->c->n_slices++;
    }
    return 0;
}

typedef int add_function(const reader *, const cJSON *, case_range **);

static int keep_ranges(const reader *r, case_part *part, const cJSON *json, add_function *add) {
    case_range *list = NULL;
    const int failed = add(r, json, &list);
    part->n_ranges = arrlen(list);
    part->range = allocate(r->c, part->n_ranges, sizeof *list);
    if (list) memcpy(part->range, list, (size_t)part->n_ranges * sizeof *list);
    arrfree(list);
    return failed;
}

static int read_part(const reader *r, const cJSON *json, case_part *part) {
    static add_function *const add[] = { add_groups, add_responses, add_rows, add_tokens };
    enum { OF_FIRST, OF_LAST = 3, RANK, STEP };
    slot s[] = { { "groups", 0, NULL }, { "responses", 0, NULL }, { "rows", 0, NULL }, { "tokens", 0, NULL }, { "rank", 1, NULL },
                 { "step", 0, NULL }, { NULL, 0, NULL } };
    int kind = OF_FIRST, there = 0;
    const char *wrong;
    if (take(r, "parts", json, s, KEYS_LISTED_ONLY)) return 1;
    for (int k = OF_FIRST; k <= OF_LAST; k++) if (s[k].item) { kind = k; there++; }
    if (there != 1) return fail(r, "parts", "a part lists groups, responses, rows or tokens");
    wrong = read_count(s[RANK].item, &part->rank, 0);
    if (!wrong && s[STEP].item) wrong = read_count(s[STEP].item, &part->step, 0);
    if (wrong || part->rank >= r->c->ranks) return fail(r, "parts", "there is no such rank");
    part->kind = (case_part_kind)kind;
    return keep_ranges(r, part, s[kind].item, add[kind]);
}

/* every token must be in exactly one part, or in a response that is filtered out */
static int check_parts(const reader *r, const cJSON *filtered) {
    const test_case *c = r->c;
    uint8_t *seen = allocate(r->c, c->batch.n_tokens, 1);
    case_part out = { 0, 0, 0, NULL, CASE_PART_OF_RESPONSES };
    r->c->all_at_once = !filtered;
    if (filtered && keep_ranges(r, &out, filtered, add_responses)) return 1;
    for (int64_t k = 0; k <= c->n_parts; k++) {
        const case_part *p = k < c->n_parts ? &c->parts[k] : &out;
        r->c->all_at_once &= p == &out || p->step == c->parts->step;
        for (int64_t j = 0; j < p->n_ranges; j++)
            for (int64_t t = p->range[j].begin; t < p->range[j].end; t++)
                if (seen[c->batch.offset[p->range[j].sequence] + t]++) return fail(r, "parts", "a token is in two of them");
    }
    for (int64_t t = 0; t < c->batch.n_tokens; t++) if (!seen[t]) return fail(r, "parts", "a token is in none of them");
    return 0;
}

static int read_reduction(const reader *r, const cJSON *reduce, const cJSON *context) {
    const char *wrong = context ? read_count(context, &r->c->context_ranks, 0) : NULL;
    if (!context) r->c->context_ranks = 1;
    if (wrong || r->c->context_ranks < 1 || r->c->ranks % r->c->context_ranks)
        return fail(r, "context_ranks", "%s", wrong ? wrong : "they do not divide the ranks");
    if (!reduce) return 0;
    if (!cJSON_IsString(reduce)) return fail(r, "reduce", "not a string");
    r->c->added = !strcmp(reduce->valuestring, "sum");
    return r->c->added || !strcmp(reduce->valuestring, "mean") ? 0 : unknown(r, "reduce", reduce->valuestring);
}

static int read_parts(const reader *r, const slot *s) {
    const cJSON *json = s[CASE_KEY_PARTS].item, *ranks = s[CASE_KEY_RANKS].item;
    const char *wrong = ranks ? read_count(ranks, &r->c->ranks, 0) : "missing";
    case_part *parts;
    if (wrong || r->c->ranks < 1) return fail(r, "ranks", "%s", wrong ? wrong : "there must be one");
    if (read_reduction(r, s[CASE_KEY_REDUCE].item, s[CASE_KEY_CONTEXT_RANKS].item)) return 1;
    if (!cJSON_IsArray(json) || !json->child) return fail(r, "parts", "not an array of parts");
    r->c->parts = parts = allocate(r->c, cJSON_GetArraySize(json), sizeof *parts);
    for (const cJSON *item = json->child; item; item = item->next)
        if (read_part(r, item, &parts[r->c->n_parts++])) return 1;
    return check_parts(r, s[CASE_KEY_FILTERED].item);
}

const char *const case_list_name[CASE_N_LISTS] = { "part_tokens", "part_sequences", "part_groups", "part_sum", "part_loss", "slice_tokens",
                                                   "slice_log_ratio" };

int64_t case_list_size(const test_case *c, int list) {
    return list == CASE_SLICE_TOKENS || list == CASE_SLICE_LOG_RATIO ? c->n_slices : c->n_parts;
}

/* counts have scale 0, which the file leaves out */
static int read_lists(const reader *r, const slot *expect, const slot *scale) {
    for (int k = 0; k < CASE_N_LISTS; k++) {
        const int64_t n = case_list_size(r->c, k);
        case_answer *list = &r->c->list[k];
        if (!expect[k].item) continue;
        if (double_row(r, case_list_name[k], expect[k].item, n, &list->expect)) return 1;
        if (!scale[k].item) list->scale = allocate(r->c, n, sizeof *list->scale);
        else if (double_row(r, case_list_name[k], scale[k].item, n, &list->scale)) return 1;
    }
    return 0;
}

static int read_split_answers(const reader *r, const cJSON *expect_json, const cJSON *scale_json) {
    enum { LOSS = CASE_N_LISTS, DLOGP, END };
    slot e[END + 1] = { { NULL, 0, NULL } }, s[END + 1] = { { NULL, 0, NULL } };
    test_case *c = r->c;
    for (int k = 0; k < CASE_N_LISTS; k++) e[k].key = s[k].key = case_list_name[k];
    e[LOSS].key = s[LOSS].key = "loss";
    e[DLOGP].key = s[DLOGP].key = "dlogp";
    e[LOSS].required = s[LOSS].required = e[DLOGP].required = s[DLOGP].required = 1;
    return take(r, "expect", expect_json, e, KEYS_LISTED_ONLY)
        || take(r, "scale", scale_json, s, KEYS_LISTED_ONLY)
        || double_item(r, "expect.loss", e[LOSS].item, &c->loss)
        || double_item(r, "scale.loss", s[LOSS].item, &c->loss_scale)
        || double_rows(r, "expect.dlogp", e[DLOGP].item, &c->dlogp.expect)
        || double_rows(r, "scale.dlogp", s[DLOGP].item, &c->dlogp.scale)
        || read_lists(r, e, s);
}

/* reads responses and their lengths, for cases without a batch */
static int read_shape(const reader *r, const cJSON *json) {
    int64_t *offset, *length, i = 0;
    if (!cJSON_IsArray(json)) return fail(r, "target", "not an array");
    r->c->n_sequences = cJSON_GetArraySize(json);
    r->c->batch.offset = offset = allocate(r->c, r->c->n_sequences, sizeof *offset);
    r->c->batch.length = length = allocate(r->c, r->c->n_sequences, sizeof *length);
    for (const cJSON *row = json->child; row; row = row->next, i++) {
        if (!cJSON_IsArray(row)) return fail(r, "target", "row %lld is not an array", (long long)i);
        length[i] = cJSON_GetArraySize(row);
        offset[i] = r->c->batch.n_tokens;
        r->c->batch.n_tokens += length[i];
    }
    return 0;
}

/* ---- logits and hidden states -------------------------------------------------------------------------------------------------- */

static int64_t first_width(const cJSON *json) {
    const cJSON *row = json ? json->child : NULL;
    while (row && !row->child) row = row->next;
    return row ? cJSON_GetArraySize(row->child) : 0;
}

static int real_vectors(const reader *r, const char *key, const cJSON *json, int64_t width, const grpo_real **out) {
    void *p = NULL;
    int failed = token_vectors(r, key, json, width, read_real, sizeof(grpo_real), &p);
    *out = p;
    return failed;
}

static int read_projection(const reader *r, const cJSON *hidden, const cJSON *weight) {
    case_rows *rows = &r->c->rows;
    grpo_real *w;
    if (!cJSON_IsArray(weight) || !weight->child) return fail(r, "weight", "not an array of rows");
    rows->vocab = cJSON_GetArraySize(weight);
    rows->width = cJSON_GetArraySize(weight->child);
    rows->weight = w = allocate(r->c, rows->vocab * rows->width, sizeof *w);
    return read_vectors(r, "weight", weight, rows->vocab, rows->width, read_real, w)
        || real_vectors(r, "hidden", hidden, rows->width, &rows->hidden);
}

static int read_logits(const reader *r, const cJSON *json) {
    r->c->rows.vocab = cJSON_IsArray(json) ? first_width(json) : 0;
    return real_vectors(r, "logits", json, r->c->rows.vocab, &r->c->rows.logits);
}

/* from the banned ids of each token to flags of the ids that are kept */
static int read_banned(const reader *r, const cJSON *json) {
    case_rows *rows = &r->c->rows;
    uint8_t *kept;
    int64_t t = 0, v;
    if (!json) return 0;
    if (check_shape(r, "banned", json)) return 1;
    rows->kept = kept = allocate(r->c, r->c->batch.n_tokens * rows->vocab, 1);
    memset(kept, 1, (size_t)(r->c->batch.n_tokens * rows->vocab));
    for (const cJSON *row = json->child; row; row = row->next)
        for (const cJSON *list = row->child; list; list = list->next, t++) {
            if (!cJSON_IsArray(list)) return fail(r, "banned", "an element is not a list");
            for (const cJSON *item = list->child; item; item = item->next) {
                if (read_count(item, &v, 0) || v >= rows->vocab) return fail(r, "banned", "there is no such token");
                kept[t * rows->vocab + v] = 0;
            }
        }
    return 0;
}

/* widths that add up to `all` */
static int read_widths(const reader *r, const char *key, const cJSON *json, int64_t all, const int64_t **out, int64_t *count) {
    int64_t *width, sum = 0;
    if (!json) return 0;
    *count = cJSON_IsArray(json) ? cJSON_GetArraySize(json) : 0;
    if (count_row(r, key, json, *count, &width)) return 1;
    *out = width;
    for (int64_t k = 0; k < *count; k++) sum += width[k];
    return sum == all ? 0 : fail(r, key, "they do not add up to %lld", (long long)all);
}

static int read_rows_of_targets(const reader *r, const cJSON *json) {
    void *p = NULL;
    if (r->c->rows.vocab > MAX_TOKENS / (r->c->batch.n_tokens + 1)) return fail(r, "target", "too many tokens times logits");
    if (!json) return fail(r, "target", "missing");
    if (read_rows(r, "target", json, read_count, sizeof(int64_t), &p)) return 1;
    r->c->rows.target = p;
    for (int64_t t = 0; t < r->c->batch.n_tokens; t++)
        if (r->c->rows.target[t] >= r->c->rows.vocab) return fail(r, "target", "a token is not in the vocabulary");
    return 0;
}

static int read_temperature(const reader *r, const cJSON *json) {
    double *tau = &r->c->rows.temperature;
    return case_number(json, tau) && *tau > 0 && grpo_is_finite(*tau) ? 0 : fail(r, "temperature", "not a number above 0");
}

static int read_case_rows(const reader *r, const slot *s) {
    case_rows *rows = &r->c->rows;
    rows->has_loss = s[CASE_KEY_BATCH].item != NULL;
    if (rows->has_loss != (s[CASE_KEY_OBJECTIVE].item != NULL)) return fail(r, "objective", "it and the batch come together");
    if (!s[CASE_KEY_DLOGP].item != !s[CASE_KEY_DENTROPY].item) return fail(r, "dlogp", "it and dentropy come together");
    if (rows->has_loss && (read_objective(r, s[CASE_KEY_OBJECTIVE].item) || read_batch(r, s[CASE_KEY_BATCH].item))) return 1;
    if (!rows->has_loss && read_shape(r, s[CASE_KEY_TARGET].item)) return 1;
    return (r->c->kind == CASE_HIDDEN ? read_projection(r, s[CASE_KEY_HIDDEN].item, s[CASE_KEY_WEIGHT].item)
                                      : read_logits(r, s[CASE_KEY_LOGITS].item))
        || read_rows_of_targets(r, s[CASE_KEY_TARGET].item)
        || read_temperature(r, s[CASE_KEY_TEMPERATURE].item)
        || read_banned(r, s[CASE_KEY_BANNED].item)
        || read_widths(r, "shards", s[CASE_KEY_SHARDS].item, rows->vocab, &rows->shard, &rows->n_shards)
        || read_widths(r, "chunks", s[CASE_KEY_CHUNKS].item, r->c->batch.n_tokens, &rows->chunk, &rows->n_chunks)
        || real_rows(r, "dlogp", s[CASE_KEY_DLOGP].item, &rows->dlogp)
        || real_rows(r, "dentropy", s[CASE_KEY_DENTROPY].item, &rows->dentropy);
}

static int read_call(const reader *r, const slot *s) {
    if (!cJSON_IsString(s[CASE_KEY_FUNCTION].item)) return fail(r, "function", "not a string");
    if (!cJSON_IsObject(s[CASE_KEY_ARGUMENTS].item)) return fail(r, "arguments", "not an object");
    r->c->function = s[CASE_KEY_FUNCTION].item->valuestring;
    r->c->arguments = s[CASE_KEY_ARGUMENTS].item;
    return s[CASE_KEY_BATCH].item && read_batch(r, s[CASE_KEY_BATCH].item);
}

static int read_call_answers(const reader *r, const slot *s) {
    test_case *c = r->c;
    if (!cJSON_IsObject(s[CASE_KEY_EXPECT].item)) return fail(r, "expect", "not an object");
    c->answers = s[CASE_KEY_EXPECT].item;
    for (const cJSON *item = c->answers->child; item; item = item->next) c->n_call += case_leaves(item);
    return read_call_numbers(r, "expect", c->answers, &c->call.expect)
        || read_call_numbers(r, "scale", s[CASE_KEY_SCALE].item, &c->call.scale);
}

/* a case of invalid input may have input that is no batch at all: then the case has none */
static int read_refusal(const reader *r, const slot *s) {
    const grpo_batch none = { 0 };
    if (!read_objective(r, s[CASE_KEY_OBJECTIVE].item) && !read_batch(r, s[CASE_KEY_BATCH].item)) return 0;
    if (r->c->unknown) return 1;
    r->c->unread = copy_text(r->error);
    r->c->batch = none;
    r->c->given = NULL;
    r->c->n_sequences = 0;
    return 0;
}

static int is_of_word(char x) { return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || (x >= '0' && x <= '9') || x == '_'; }

/* is the word in the text as a whole word, in lower or upper case? */
static int has_word(const char *text, const char *word, size_t length) {
    for (const char *p = text; *p; p++)
        if (!strncasecmp(p, word, length) && !is_of_word(p[length]) && (p == text || !is_of_word(p[-1]))) return 1;
    return 0;
}

/* is one of the fields that `names` lists as `axis.field` a word of the text? */
static int names_one_of(const char *text, const char *names) {
    for (const char *dot = names; (dot = strchr(dot, '.')) != NULL; dot++) {
        size_t length = 0;
        while (is_of_word(dot[1 + length])) length++;
        if (length && has_word(text, dot + 1, length)) return 1;
    }
    return 0;
}

int case_names_fault(const test_case *c, const char *text) { return names_one_of(text, c->field) || names_one_of(text, c->reason); }

static int read_refused_answers(const reader *r, const slot *s) {
    if (!cJSON_IsString(s[CASE_KEY_FIELD].item)) return fail(r, "field", "not a string");
    if (!cJSON_IsString(s[CASE_KEY_REASON].item)) return fail(r, "reason", "not a string");
    r->c->field = s[CASE_KEY_FIELD].item->valuestring;
    r->c->reason = s[CASE_KEY_REASON].item->valuestring;
    return 0;
}

/* all but the answers */
static int read_question(const reader *r, const cJSON *json, slot *s) {
    r->c->json = json;
    if (take(r, "case", json, s, KEYS_ANY)) return 1;
    if (text_item(r, "id", s[CASE_KEY_ID].item, &r->c->id) || read_kind(r, s[CASE_KEY_KIND].item)) return 1;
    if (case_has_rows(r->c)) return read_case_rows(r, s);
    if (r->c->kind == CASE_CALL) return read_call(r, s);
    if (r->c->kind == CASE_REFUSE) return read_refusal(r, s);
    return read_objective(r, s[CASE_KEY_OBJECTIVE].item)
        || read_batch(r, s[CASE_KEY_BATCH].item)
        || (r->c->kind == CASE_SPLIT && read_parts(r, s));
}

static int read_case(const reader *r, const cJSON *json) {
    slot s[] = CASE_SLOTS;
    if (read_question(r, json, s)) return 1;
    if (case_has_rows(r->c)) return read_row_numbers(r, "expect", s[CASE_KEY_EXPECT].item, 0)
                                 || read_row_numbers(r, "scale", s[CASE_KEY_SCALE].item, 1);
    if (r->c->kind == CASE_CALL) return read_call_answers(r, s);
    if (r->c->kind == CASE_REFUSE) return read_refused_answers(r, s);
    if (r->c->kind == CASE_SPLIT) return read_split_answers(r, s[CASE_KEY_EXPECT].item, s[CASE_KEY_SCALE].item);
    return read_answers(r, s[CASE_KEY_EXPECT].item, s[CASE_KEY_SCALE].item);
}

int case_request_read(const cJSON *json, test_case *out, char *error, size_t error_size) {
    slot s[] = CASE_SLOTS;
    reader r = { NULL, NULL, 0 };
    int failed;
    r.c = out;
    r.error = error;
    r.error_size = error_size;
    memset(out, 0, sizeof *out);
    failed = read_question(&r, json, s)
          || (case_has_loss(out) && !out->given && double_rows(&r, "advantage", s[CASE_KEY_ADVANTAGE].item, &out->advantage.expect));
    if (failed) failed = out->unknown ? CASE_UNKNOWN : CASE_WRONG;
    if (failed) case_free(out);
    return failed;
}

static int read_cases(reader *r, const cJSON *json, case_file *out) {
    if (!cJSON_IsArray(json)) return fail(r, "cases", "not an array");
    out->cases = calloc((size_t)cJSON_GetArraySize(json) + 1, sizeof *out->cases);
    if (!out->cases) abort();
    for (const cJSON *item = json->child; item; item = item->next) {
        r->c = &out->cases[out->n_cases++];
        if (read_case(r, item)) return 1;
        for (int64_t k = 0; k + 1 < out->n_cases; k++)
            if (!strcmp(out->cases[k].id, r->c->id)) return fail(r, "id", "another case has it");
    }
    return 0;
}

static int read_file(reader *r, const cJSON *json, case_file *out) {
    enum { VARIANT, PAPER, EQUATIONS, EVIDENCE, CASES };
    slot s[] = {
        { "variant", 1, NULL }, { "paper", 1, NULL }, { "equations", 1, NULL }, { "evidence", 0, NULL }, { "cases", 1, NULL },
        { NULL, 0, NULL }
    };
    return take(r, "file", json, s, KEYS_ANY)
        || text_item(r, "variant", s[VARIANT].item, &out->variant)
        || text_item(r, "paper", s[PAPER].item, &out->paper)
        || text_item(r, "equations", s[EQUATIONS].item, &out->equations)
        || (s[EVIDENCE].item && text_item(r, "evidence", s[EVIDENCE].item, &out->evidence))
        || read_cases(r, s[CASES].item, out);
}

static int only_space(const char *text, const char *end) {
    while (text < end && (*text == ' ' || *text == '\n' || *text == '\r' || *text == '\t')) text++;
    return text == end;
}

int case_file_parse(const char *text, size_t size, case_file *out, char *error, size_t error_size) {
    reader r = { NULL, NULL, 0 };
    const char *end = text;
    cJSON *json = cJSON_ParseWithLengthOpts(text, size, &end, 0);
    int failed;
    r.error = error;
    r.error_size = error_size;
    memset(out, 0, sizeof *out);
    out->json = json;
    if (!json || !only_space(end, text + size)) failed = fail(&r, "file", "not JSON at byte %lld", (long long)(end - text));
    else failed = read_file(&r, json, out);
    if (failed) case_file_free(out);
    return failed;
}

static char *read_text(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    long length = -1;
    if (!f) return NULL;
    if (!fseek(f, 0, SEEK_END)) length = ftell(f);
    if (length >= 0 && length <= MAX_FILE && !fseek(f, 0, SEEK_SET)) text = malloc((size_t)length + 1);
    if (text) {
        *size = fread(text, 1, (size_t)length, f);
        if (*size != (size_t)length) { free(text); text = NULL; }
    }
    fclose(f);
    return text;
}

int case_file_load(const char *path, case_file *out, char *error, size_t error_size) {
    size_t size = 0;
    char *text = read_text(path, &size);
    int failed;
    memset(out, 0, sizeof *out);
    if (!text) { snprintf(error, error_size, "%s: cannot be read", path); return 1; }
    failed = case_file_parse(text, size, out, error, error_size);
    free(text);
    return failed;
}

/* ---- directories ---------------------------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* the variant of a file by its name, NULL if it has none */
static char *variant_of(const char *name) {
    size_t length = strlen(name);
    char *v;
    if (length <= 5 || strcmp(name + length - 5, ".json") || !strcmp(name, "schema.json")) return NULL;
    v = copy_text(name);
    v[length - 5] = 0;
    return v;
}

int case_list_read(const char *directory, case_list *out) {
    DIR *dir = opendir(directory);
    struct dirent *entry;
    memset(out, 0, sizeof *out);
    if (!dir) return 1;
    while ((entry = readdir(dir)) != NULL) {
        char *v = variant_of(entry->d_name);
        if (v) arrput(out->name, v);
    }
    closedir(dir);
    out->count = arrlen(out->name);
    if (out->count) qsort(out->name, (size_t)out->count, sizeof *out->name, by_name);
    return 0;
}

int case_list_load(const char *directory, const char *name, case_file *out, char *error, size_t error_size) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.json", directory, name);
    return case_file_load(path, out, error, error_size);
}

int case_list_has(const case_list *list, const char *name) {
    for (int64_t k = 0; k < list->count; k++) if (!strcmp(list->name[k], name)) return 1;
    return 0;
}

void case_list_free(case_list *list) {
    for (int64_t k = 0; k < list->count; k++) free(list->name[k]);
    arrfree(list->name);
    list->count = 0;
}

int case_each_file(const char *directory, case_file_visitor *visit, void *user) {
    case_list list;
    int failed = case_list_read(directory, &list) || !list.count;
    if (failed) fprintf(stderr, "%s: no vectors\n", directory);
    for (int64_t k = 0; k < list.count; k++) {
        case_file file;
        char error[512];
        if (case_list_load(directory, list.name[k], &file, error, sizeof error)) {
            failed = 1;
            fprintf(stderr, "%s: %s\n", list.name[k], error);
            continue;
        }
        visit(user, list.name[k], &file);
        case_file_free(&file);
    }
    case_list_free(&list);
    return failed;
}
