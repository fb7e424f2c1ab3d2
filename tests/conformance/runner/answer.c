/* Reads answers of programs and recorded answers, and evaluates objectives with the headers here. */
#include "answer.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *const output_name[N_OUTPUTS] = { "advantage", "dynamic_sampling_mask", "loss", "term", "dlogp", "dentropy", "ddivergence_ref",
    "dlog_partition", "report", "logp", "entropy", "loss", "dlogits", "dhidden", "dweight", "part_tokens", "part_sequences", "part_groups",
    "part_sum", "part_loss", "slice_tokens", "slice_log_ratio", "call" };

static int is_list(output_kind output) { return output >= OUT_LIST && output < OUT_CALL; }

stage_kind stage_of(output_kind output) {
    if (output == OUT_ADVANTAGE || output == OUT_DYNAMIC_SAMPLING) return STAGE_ADVANTAGE;
    if (output == OUT_CALL) return STAGE_CALL;
    return output >= OUT_LOGP && output < OUT_LIST ? STAGE_LOGITS : STAGE_LOSS;
}

void answer_free(answer *a) {
    for (int k = 0; k < N_OUTPUTS; k++) {
        free(a->of[k].value);
        free(a->of[k].given);
        free(a->of[k].size);
    }
    memset(a, 0, sizeof *a);
}

double *answer_add(answer *a, output_kind output, int64_t count) {
    numbers *n = &a->of[output];
    n->value = calloc((size_t)count + 1, sizeof *n->value);
    n->given = malloc((size_t)count + 1);
    if (!n->value || !n->given) abort();
    memset(n->given, 1, (size_t)count + 1);
    n->count = count;
    return n->value;
}

double *answer_add_size(answer *a, output_kind output) {
    numbers *n = &a->of[output];
    n->size = calloc((size_t)n->count + 1, sizeof *n->size);
    if (!n->size) abort();
    return n->size;
}

/* how many numbers an output per token, or of the logits' stage, has */
static int64_t count_of(const test_case *c, output_kind output) {
    switch (output) {
    case OUT_DLOGITS: return c->batch.n_tokens * c->rows.vocab;
    case OUT_DHIDDEN: return c->batch.n_tokens * c->rows.width;
    case OUT_DWEIGHT: return c->rows.vocab * c->rows.width;
    default: return c->batch.n_tokens;
    }
}

static void add_copy(answer *a, output_kind output, const double *from, int64_t count) {
    if (from) memcpy(answer_add(a, output, count), from, (size_t)count * sizeof *from);
}

/* ---- expected answers ----------------------------------------------------------------------------------------------------------- */

static void add_tokens(answer *a, const test_case *c, int scale) {
    const case_answer *tokens[N_OUTPUTS] = { NULL };
    tokens[OUT_ADVANTAGE] = &c->advantage;
    tokens[OUT_TERM] = &c->term;
    tokens[OUT_DLOGP] = &c->dlogp;
    tokens[OUT_DENTROPY] = &c->dentropy;
    tokens[OUT_DDIVERGENCE_REF] = &c->ddivergence_ref;
    tokens[OUT_LOGP] = &c->logp;
    tokens[OUT_ENTROPY] = &c->entropy;
    tokens[OUT_DLOGITS] = &c->dlogits;
    tokens[OUT_DHIDDEN] = &c->dhidden;
    tokens[OUT_DWEIGHT] = &c->dweight;
    for (int k = 0; k < N_OUTPUTS; k++)
        if (tokens[k] && tokens[k]->scale)
            add_copy(a, (output_kind)k, scale ? tokens[k]->scale : tokens[k]->expect, count_of(c, (output_kind)k));
}

static answer of_case(const test_case *c, int scale) {
    answer a;
    memset(&a, 0, sizeof a);
    add_tokens(&a, c, scale);
    if (c->dynamic_sampling_mask) {
        double *p = answer_add(&a, OUT_DYNAMIC_SAMPLING, c->batch.n_groups);
        for (int64_t g = 0; g < c->batch.n_groups && !scale; g++) p[g] = c->dynamic_sampling_mask[g];
    }
    if (c->dlog_partition.scale) add_copy(&a, OUT_DLOG_Z, scale ? c->dlog_partition.scale : c->dlog_partition.expect, c->batch.n_groups);
    for (int k = 0; k < CASE_N_LISTS; k++)
        if (c->list[k].scale) add_copy(&a, (output_kind)(OUT_LIST + k), scale ? c->list[k].scale : c->list[k].expect, case_list_size(c, k));
    if (case_has_loss(c)) *answer_add(&a, OUT_LOSS, 1) = scale ? c->loss_scale : c->loss;
    if (c->rows.has_loss) *answer_add(&a, OUT_ROW_LOSS, 1) = scale ? c->loss_scale : c->loss;
    if (c->kind == CASE_CALL) add_copy(&a, OUT_CALL, scale ? c->call.scale : c->call.expect, c->n_call);
    if (c->report) {
        double *p = answer_add(&a, OUT_REPORT, c->n_report);
        for (int64_t k = 0; k < c->n_report; k++) p[k] = scale ? c->report[k].scale : c->report[k].expect;
    }
    return a;
}

answer answer_expected(const test_case *c) { return of_case(c, 0); }
answer answer_scale(const test_case *c) { return of_case(c, 1); }

void answer_where(const test_case *c, output_kind output, int64_t index, char *buffer, size_t size) {
    const int64_t width = output == OUT_DLOGITS ? c->rows.vocab : c->rows.width;
    int64_t i = 0;
    char last[30] = "";
    if (is_list(output)) { snprintf(buffer, size, "%s[%lld]", output_name[output], (long long)index); return; }
    if (output == OUT_DLOGITS || output == OUT_DHIDDEN || output == OUT_DWEIGHT) {
        snprintf(last, sizeof last, "[%lld]", (long long)(index % width));
        index /= width;
    }
    switch (output) {
    case OUT_DWEIGHT: snprintf(buffer, size, "%s[%lld]%s", output_name[output], (long long)index, last); return;
    case OUT_LOSS: case OUT_ROW_LOSS: snprintf(buffer, size, "loss"); return;
    case OUT_REPORT: snprintf(buffer, size, "report.%s", c->report[index].key); return;
    case OUT_DYNAMIC_SAMPLING: case OUT_DLOG_Z: snprintf(buffer, size, "%s[%lld]", output_name[output], (long long)index); return;
    case OUT_CALL: case_call_where(c, index, buffer, size); return;
    default: break;
    }
    while (i + 1 < c->n_sequences && index >= c->batch.offset[i] + c->batch.length[i]) i++;
    snprintf(buffer, size, "%s[%lld][%lld]%s", output_name[output], (long long)i, (long long)(index - c->batch.offset[i]), last);
}

/* ---- answers of a program ------------------------------------------------------------------------------------------------------- */

typedef struct { const test_case *c; answer *out; char *error; size_t error_size; } reader;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static int fail(const reader *r, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(r->error, r->error_size, format, args);
    va_end(args);
    return 1;
}

static int read_number(const reader *r, output_kind output, int64_t index, const cJSON *item) {
    double v;
    char where[120];
    if (case_number(item, &v)) { r->out->of[output].value[index] = v; return 0; }
    answer_where(r->c, output, index, where, sizeof where);
    return fail(r, "%s is neither a number nor \"Infinity\", \"-Infinity\" or \"NaN\"", where);
}

static int read_tokens(const reader *r, output_kind output, const cJSON *json) {
    const grpo_batch *b = &r->c->batch;
    int64_t i = 0, k = 0;
    if (!cJSON_IsArray(json) || cJSON_GetArraySize(json) != r->c->n_sequences)
        return fail(r, "%s is not an array of %lld rows", output_name[output], (long long)r->c->n_sequences);
    answer_add(r->out, output, b->n_tokens);
    for (const cJSON *row = json->child; row; row = row->next, i++) {
        if (!cJSON_IsArray(row) || cJSON_GetArraySize(row) != b->length[i])
            return fail(r, "%s[%lld] is not an array of %lld", output_name[output], (long long)i, (long long)b->length[i]);
        for (const cJSON *item = row->child; item; item = item->next)
            if (read_number(r, output, k++, item)) return 1;
    }
    return 0;
}

/* a list of `count` vectors; *k: the place of the next number */
static int read_vectors(const reader *r, output_kind output, const cJSON *json, int64_t count, int64_t width, int64_t *k) {
    if (!cJSON_IsArray(json) || cJSON_GetArraySize(json) != count)
        return fail(r, "%s: not an array of %lld", output_name[output], (long long)count);
    for (const cJSON *vector = json->child; vector; vector = vector->next) {
        if (!cJSON_IsArray(vector) || cJSON_GetArraySize(vector) != width)
            return fail(r, "%s: not an array of %lld", output_name[output], (long long)width);
        for (const cJSON *item = vector->child; item; item = item->next) if (read_number(r, output, (*k)++, item)) return 1;
    }
    return 0;
}

static int read_token_vectors(const reader *r, output_kind output, const cJSON *json, int64_t width) {
    int64_t i = 0, k = 0;
    if (!cJSON_IsArray(json) || cJSON_GetArraySize(json) != r->c->n_sequences)
        return fail(r, "%s is not an array of %lld rows", output_name[output], (long long)r->c->n_sequences);
    answer_add(r->out, output, count_of(r->c, output));
    for (const cJSON *row = json->child; row; row = row->next, i++)
        if (read_vectors(r, output, row, r->c->batch.length[i], width, &k)) return 1;
    return 0;
}

static int read_matrix(const reader *r, output_kind output, const cJSON *json) {
    int64_t k = 0;
    answer_add(r->out, output, count_of(r->c, output));
    return read_vectors(r, output, json, r->c->rows.vocab, r->c->rows.width, &k);
}

static int read_dynamic_sampling_mask(const reader *r, const cJSON *json) {
    int64_t n = r->c->batch.n_groups;
    int64_t g = 0;
    double *p;
    if (!cJSON_IsArray(json) || cJSON_GetArraySize(json) != n) return fail(r, "dynamic_sampling_mask is not an array of %lld",
        (long long)n);
    p = answer_add(r->out, OUT_DYNAMIC_SAMPLING, n);
    for (const cJSON *item = json->child; item; item = item->next) {
        if (!cJSON_IsBool(item)) return fail(r, "dynamic_sampling_mask[%lld] is neither true nor false", (long long)g);
        p[g++] = cJSON_IsTrue(item) ? 1 : 0;
    }
    return 0;
}

static int metric_index(const test_case *c, const char *key) {
    const case_metric *m = case_metric_named(c, key);
    return m ? (int)(m - c->report) : -1;
}

static int read_report(const reader *r, const cJSON *json) {
    if (!cJSON_IsObject(json)) return fail(r, "report is not an object");
    answer_add(r->out, OUT_REPORT, r->c->n_report);
    memset(r->out->of[OUT_REPORT].given, 0, (size_t)r->c->n_report);
    for (const cJSON *item = json->child; item; item = item->next) {
        int k = metric_index(r->c, item->string);
        if (k < 0) return fail(r, "report.%.40s is not a key of the report", item->string);
        if (r->out->of[OUT_REPORT].given[k]++) return fail(r, "report.%.40s is there twice", item->string);
        if (read_number(r, OUT_REPORT, k, item)) return 1;
    }
    return 0;
}

static int read_dlog_z(const reader *r, const cJSON *json) {
    int64_t g = 0;
    if (!cJSON_IsArray(json) || cJSON_GetArraySize(json) != r->c->batch.n_groups)
        return fail(r, "dlog_partition is not an array of %lld", (long long)r->c->batch.n_groups);
    answer_add(r->out, OUT_DLOG_Z, r->c->batch.n_groups);
    for (const cJSON *item = json->child; item; item = item->next, g++) if (read_number(r, OUT_DLOG_Z, g, item)) return 1;
    return 0;
}

static int read_list(const reader *r, output_kind output, const cJSON *json) {
    const int64_t n = case_list_size(r->c, (int)output - OUT_LIST);
    int64_t k = 0;
    if (!cJSON_IsArray(json) || cJSON_GetArraySize(json) != n)
        return fail(r, "%s is not an array of %lld", output_name[output], (long long)n);
    answer_add(r->out, output, n);
    for (const cJSON *item = json->child; item; item = item->next) if (read_number(r, output, k++, item)) return 1;
    return 0;
}

static int has_answer(const test_case *c, output_kind output) {
    if (is_list(output)) return c->list[(int)output - OUT_LIST].scale != NULL;
    switch (output) {
    case OUT_ADVANTAGE: return c->advantage.scale != NULL;
    case OUT_DYNAMIC_SAMPLING: return c->dynamic_sampling_mask != NULL;
    case OUT_LOSS: return case_has_loss(c);
    case OUT_TERM: return c->term.scale != NULL;
    case OUT_DLOGP: return c->dlogp.scale != NULL;
    case OUT_DENTROPY: return c->dentropy.scale != NULL;
    case OUT_DDIVERGENCE_REF: return c->ddivergence_ref.scale != NULL;
    case OUT_DLOG_Z: return c->dlog_partition.scale != NULL;
    case OUT_REPORT: return c->report != NULL;
    case OUT_LOGP: return c->logp.scale != NULL;
    case OUT_ROW_LOSS: return c->rows.has_loss;
    case OUT_DLOGITS: return c->dlogits.scale != NULL;
    case OUT_DHIDDEN: return c->dhidden.scale != NULL;
    case OUT_DWEIGHT: return c->dweight.scale != NULL;
    default: return c->entropy.scale != NULL;
    }
}

int output_named(const test_case *c, const char *name) {
    int k = 0;
    while (k < OUT_CALL && strcmp(output_name[k], name)) k++;
    return k == OUT_LOSS && case_has_rows(c) ? OUT_ROW_LOSS : k;
}

static int read_output(const reader *r, const cJSON *item) {
    const int k = output_named(r->c, item->string);
    if (k == OUT_CALL) return fail(r, "%.40s is not an output", item->string);
    if (r->out->of[k].value) return fail(r, "%s is there twice", output_name[k]);
    if (!has_answer(r->c, (output_kind)k)) return 0;
    if (is_list((output_kind)k)) return read_list(r, (output_kind)k, item);
    switch (k) {
    case OUT_DYNAMIC_SAMPLING: return read_dynamic_sampling_mask(r, item);
    case OUT_DLOG_Z: return read_dlog_z(r, item);
    case OUT_REPORT: return read_report(r, item);
    case OUT_LOSS: case OUT_ROW_LOSS: answer_add(r->out, (output_kind)k, 1); return read_number(r, (output_kind)k, 0, item);
    case OUT_DLOGITS: return read_token_vectors(r, OUT_DLOGITS, item, r->c->rows.vocab);
    case OUT_DHIDDEN: return read_token_vectors(r, OUT_DHIDDEN, item, r->c->rows.width);
    case OUT_DWEIGHT: return read_matrix(r, OUT_DWEIGHT, item);
    default: return read_tokens(r, (output_kind)k, item);
    }
}

int answer_read(const cJSON *json, const test_case *c, answer *out, char *error, size_t error_size) {
    reader r;
    r.c = c;
    r.out = out;
    r.error = error;
    r.error_size = error_size;
    memset(out, 0, sizeof *out);
    if (!cJSON_IsObject(json)) return fail(&r, "it is not an object");
    if (c->kind == CASE_CALL) {
        answer_add(out, OUT_CALL, c->n_call);
        if (!case_call_read(c, json, out->of[OUT_CALL].value, out->of[OUT_CALL].given, error, error_size)) return 0;
        answer_free(out);
        return 1;
    }
    for (const cJSON *item = json->child; item; item = item->next)
        if (read_output(&r, item)) { answer_free(out); return 1; }
    return 0;
}

const char *answer_missing(const cJSON *json, const test_case *c) {
    const cJSON *item = c->kind == CASE_CALL ? c->answers->child : NULL;
    while (item && cJSON_GetObjectItemCaseSensitive(json, item->string)) item = item->next;
    return item ? item->string : NULL;
}

/* ---- one number of a known mistake ---------------------------------------------------------------------------------------------- */

/* adds an output of which no number is given yet */
static double *add_not_given(answer *a, output_kind output, int64_t count) {
    double *p = answer_add(a, output, count);
    for (int64_t k = 0; k < count; k++) a->of[output].given[k] = 0;
    return p;
}

/* adds an output of which one number is given; nonzero if the index or the item is invalid */
static int give_one(answer *a, output_kind output, int64_t count, int64_t index, const cJSON *item) {
    double v = cJSON_IsTrue(item);
    if (index < 0 || index >= count || (output != OUT_DYNAMIC_SAMPLING && !case_number(item, &v))) return 1;
    add_not_given(a, output, count)[index] = v;
    a->of[output].given[index] = 1;
    return 0;
}

/* the index of a sequence's token; -1 if there is none */
static int64_t place_of(const test_case *c, const cJSON *sequence, const cJSON *token) {
    int i = cJSON_IsNumber(sequence) ? sequence->valueint : -1, t = cJSON_IsNumber(token) ? token->valueint : -1;
    return i < 0 || i >= c->n_sequences || t < 0 || t >= c->batch.length[i] ? -1 : c->batch.offset[i] + t;
}

/* the index of item `last` of the vector at `place`; -1 if there is none */
static int64_t place_in(int64_t place, const cJSON *last, int64_t width) {
    int k = cJSON_IsNumber(last) ? last->valueint : -1;
    return place < 0 || k < 0 || k >= width ? -1 : place * width + k;
}

int answer_is_brief(const cJSON *json) { return !cJSON_IsObject(json); }

int answer_read_brief(const cJSON *json, const test_case *c, answer *out) {
    const cJSON *name = cJSON_IsArray(json) ? json->child : NULL, *at = name ? name->next : NULL;
    int output, n = cJSON_GetArraySize(json);
    memset(out, 0, sizeof *out);
    if (!cJSON_IsArray(json)) return give_one(out, (output_kind)output_named(c, "loss"), 1, 0, json);
    if (!cJSON_IsString(name) || !at) return 1;
    output = output_named(c, name->valuestring);
    if (is_list((output_kind)output))
        return n != 3 || !cJSON_IsNumber(at)
            || give_one(out, (output_kind)output, case_list_size(c, output - OUT_LIST), at->valueint, at->next);
    switch (output) {
    case OUT_CALL: case OUT_LOSS: case OUT_ROW_LOSS: return 1;
    case OUT_DLOGITS: case OUT_DHIDDEN:
        return n != 5 || give_one(out, (output_kind)output, count_of(c, (output_kind)output),
                              place_in(place_of(c, at, at->next), at->next->next, output == OUT_DLOGITS ? c->rows.vocab : c->rows.width),
                              at->next->next->next);
    case OUT_DWEIGHT:
        return n != 4 || !cJSON_IsNumber(at) || at->valueint < 0
            || give_one(out, OUT_DWEIGHT, count_of(c, OUT_DWEIGHT), place_in(at->valueint, at->next, c->rows.width), at->next->next);
    case OUT_REPORT:
        return n != 3 || !cJSON_IsString(at) || give_one(out, OUT_REPORT, c->n_report, metric_index(c, at->valuestring), at->next);
    case OUT_DLOG_Z: return n != 3 || !cJSON_IsNumber(at) || give_one(out, OUT_DLOG_Z, c->batch.n_groups, at->valueint, at->next);
    case OUT_DYNAMIC_SAMPLING:
        return n != 3 || !cJSON_IsNumber(at) || give_one(out, OUT_DYNAMIC_SAMPLING, c->batch.n_groups, at->valueint, at->next);
    default: return n != 4 || give_one(out, (output_kind)output, c->batch.n_tokens, place_of(c, at, at->next), at->next->next);
    }
}

/* ---- evaluation ----------------------------------------------------------------------------------------------------------------- */

static void add_elements(answer *a, output_kind output, const grpo_real *from, int64_t count) {
    double *p = answer_add(a, output, count);
    for (int64_t k = 0; k < count; k++) p[k] = (double)from[k];
}

static int evaluate_advantage(const test_case *c, const grpo_objective *obj, answer *out) {
    outcome o = outcome_of_advantages(c, obj);
    int ok = !o.status;
    if (ok) add_elements(out, OUT_ADVANTAGE, o.advantage, c->batch.n_tokens);
    outcome_free(&o);
    return ok;
}

static void add_report(const test_case *c, const grpo_report *report, answer *out) {
    double *p = answer_add(out, OUT_REPORT, c->n_report);
    for (int64_t k = 0; k < c->n_report; k++)
        if (!compare_metric(report, c->report[k].key, &p[k])) out->of[OUT_REPORT].given[k] = 0;
}

static int evaluate_loss(const test_case *c, const grpo_objective *obj, const grpo_real *advantage, answer *out) {
    outcome o = outcome_of_parts(c, obj, advantage, gspo_loss_add);
    int ok = !o.status;
    if (ok) {
        *answer_add(out, OUT_LOSS, 1) = o.report.loss;
        add_elements(out, OUT_TERM, o.term, c->batch.n_tokens);
        add_elements(out, OUT_DLOGP, o.dlogp, c->batch.n_tokens);
        if (c->dentropy.expect) add_elements(out, OUT_DENTROPY, o.dentropy, c->batch.n_tokens);
        if (c->ddivergence_ref.expect) add_elements(out, OUT_DDIVERGENCE_REF, o.ddivergence_ref, c->batch.n_tokens);
        if (c->dlog_partition.expect) add_elements(out, OUT_DLOG_Z, o.dlog_partition, c->batch.n_groups);
        if (c->report) add_report(c, &o.report, out);
    }
    outcome_free(&o);
    return ok;
}

static grpo_real *elements(const double *from, int64_t count) {
    grpo_real *p = malloc(((size_t)count + 1) * sizeof *p);
    if (!p) abort();
    for (int64_t k = 0; k < count; k++) p[k] = (grpo_real)from[k];
    return p;
}

int answer_evaluate(const test_case *c, const grpo_objective *obj, stage_kind stage, const double *advantage, answer *out) {
    grpo_real *a;
    int ok;
    memset(out, 0, sizeof *out);
    if (!case_has_loss(c) || stage == STAGE_LOGITS || (c->kind == CASE_SPLIT && !c->all_at_once)) return 0;
    if (stage == STAGE_ADVANTAGE) return evaluate_advantage(c, obj, out);
    if (!advantage && !c->given && !c->advantage.expect) return 0;
    a = advantage ? elements(advantage, c->batch.n_tokens) : compare_expected_advantage(c);
    ok = a && evaluate_loss(c, obj, a, out);
    free(a);
    return ok;
}
