/* The calls of the vectors.  A function of extra/ is one row of CALLS: its C arguments in order, each read from the case by its name, or
 * written to the answers.  After a failure readers still return memory of the right size, so that the order of evaluation does not matter:
 * the function is called, and the first failure is reported in place of its result. */
#include "../../extra/grpo_control.h"
#include "../../extra/grpo_credit.h"
#include "../../extra/grpo_critic.h"
#include "../../extra/grpo_distill.h"
#include "../../extra/grpo_flow.h"
#include "../../extra/grpo_rewards.h"
#include "../../extra/grpo_selection.h"
#include "../../extra/grpo_weights.h"
#include "call_run.h"
#include "../support/status.h"
#include <cJSON.h>
#include <stb_ds.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* the form of an answer in JSON: one value, a list, a list in ascending order, or a list for each sequence */
typedef enum { AS_ONE, AS_LIST, AS_SET, AS_TOKENS } layout;
typedef cJSON *leaf(const void *array, int64_t k);
typedef struct { const char *key; void *array; layout as; int64_t count; leaf *at; } answer;

typedef struct {
    const test_case *c;
    const grpo_batch *batch;
    int64_t first;              /* the index of the batch's first response for the function: what is before it must not matter */
    call_result *out;
    const cJSON **read;         /* arguments */
    answer *answers;            /* written when the function has returned */
    void **memory;
} call;

/* ---- failures and memory -------------------------------------------------------------------------------------------------------- */

/* keeps the reason of the first failure */
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

/* every bit is set (NaN, -1, no valid flag), so that elements that a function does not write are detected; `first` more before it */
static void *allocate(call *r, int64_t count, size_t size) {
    const size_t all = (size_t)(r->first + count + 1) * size;
    char *p = malloc(all);
    if (!p) abort();
    memset(p, 0xff, all);
    arrput(r->memory, p);
    return p + (size_t)r->first * size;
}

/* how many elements an argument has, one for each response: the function gets it from `first` elements before */
#define OF_RESPONSES (INT64_C(1) << 40)
#define COUNT_OF(n) ((n) & ~OF_RESPONSES)
#define FROM_FIRST(x, n, size) from_first(r, x, n, (int64_t)(size))

static void *from_first(const call *r, const void *x, int64_t n, int64_t size) {
    return x ? (char *)(uintptr_t)x - ((n) & OF_RESPONSES ? r->first * size : 0) : NULL;
}

static void *copy_of(call *r, const void *x, int64_t n, size_t size) {
    void *y = x ? allocate(r, n, size) : NULL;
    if (x) memcpy(y, x, (size_t)n * size);
    return FROM_FIRST(y, OF_RESPONSES, size);
}

/* the case's batch, whose responses begin at `first` */
static const grpo_batch *batch_from_first(call *r) {
    const int64_t n = r->c->n_sequences;
    grpo_batch *b = allocate(r, 1, sizeof *b);
    int64_t *begin = allocate(r, r->batch->n_groups + 1, sizeof *begin);
    *b = *r->batch;
    for (int64_t g = 0; b->group_begin && g <= b->n_groups; g++) begin[g] = b->group_begin[g] + r->first;
    b->group_begin = begin;
    b->offset = copy_of(r, b->offset, n, sizeof *b->offset);
    b->length = copy_of(r, b->length, n, sizeof *b->length);
    b->reward = copy_of(r, b->reward, n, sizeof *b->reward);
    b->truncated = copy_of(r, b->truncated, n, 1);
    b->excluded = copy_of(r, b->excluded, n, 1);
    return b;
}

/* ---- arguments ------------------------------------------------------------------------------------------------------------------- */

static const cJSON *find(const call *r, const char *key) { return cJSON_GetObjectItemCaseSensitive(r->c->arguments, key); }
static int is_there(const call *r, const char *key) { return find(r, key) != NULL; }

static const cJSON *argument(call *r, const char *key) {
    const cJSON *item = find(r, key);
    ptrdiff_t k = 0;
    if (!item) fail(r, "argument %s is missing", key);
    while (k < arrlen(r->read) && r->read[k] != item) k++;
    if (item && k == arrlen(r->read)) arrput(r->read, item);
    return item;
}

/* the number of entries of a list, or of the first list in it */
static int64_t size_of(const cJSON *json) { return cJSON_IsArray(json) ? cJSON_GetArraySize(json) : 0; }
static int64_t size(const call *r, const char *key) { return size_of(find(r, key)); }
static int64_t width(const call *r, const char *key) { return size_of(size(r, key) ? find(r, key)->child : NULL); }

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

/* the choices as the vectors name them: function, word, enumerator */
static const struct { const char *function, *word; int value; } choices[] = {
    { "select_second_moment", "all", GRPO_SECOND_MOMENT_ALL }, { "select_second_moment", "drifting", GRPO_SECOND_MOMENT_DRIFTING },
    { "proximal_logp", "log_linear", GRPO_PROXIMAL_LOG_LINEAR }, { "proximal_logp", "linear", GRPO_PROXIMAL_LINEAR },
    { "prefix_discrepancy_weight", "paper", GRPO_DISCREPANCY_PAPER }, { "prefix_discrepancy_weight", "trl", GRPO_DISCREPANCY_TRL },
    { "prompt_weight", "llm", GRPO_PROMPT_LLM }, { "prompt_weight", "vlm", GRPO_PROMPT_VLM },
    { "tool_efficiency_reward", "ppo", GRPO_TOOLS_PPO }, { "tool_efficiency_reward", "grpo", GRPO_TOOLS_GRPO },
    { "length_shape_reward", "parabola", GRPO_SHAPE_PARABOLA }, { "length_shape_reward", "polyline", GRPO_SHAPE_POLYLINE },
    { "length_shape_reward", "triangle", GRPO_SHAPE_TRIANGLE },
    { "tree_reward", "max", GRPO_TREE_MAX }, { "tree_reward", "mean", GRPO_TREE_MEAN },
    { "tree_reward", "mean_by_depth", GRPO_TREE_MEAN_BY_DEPTH },
    { "canon_advantage", "low", GRPO_HALF_LOW }, { "canon_advantage", "high", GRPO_HALF_HIGH },
    { "hint_reward", "variance", GRPO_HINT_VARIANCE }, { "hint_reward", "informative", GRPO_HINT_INFORMATIVE },
    { "information_gain_reward", "log", GRPO_INFORMATION_LOG }, { "information_gain_reward", "probability", GRPO_INFORMATION_PROBABILITY },
    { "branch_advantage", "leaves", GRPO_BRANCH_LEAVES }, { "branch_advantage", "probability", GRPO_BRANCH_PROBABILITY },
    { "standardised_entropy", "coded", GRPO_STANDARD_CODED }, { "standardised_entropy", "intended", GRPO_STANDARD_INTENDED },
    { "tree_advantage", "td", GRPO_TREE_TD }, { "tree_advantage", "siblings", GRPO_TREE_SIBLINGS },
    { "tree_advantage", "paper", GRPO_TREE_PARENT },
    { "two_anchor_advantage", "paper", GRPO_ANCHORS_PAPER }, { "two_anchor_advantage", "code", GRPO_ANCHORS_CODE },
    { "permutation_reward", "judge", GRPO_PERMUTATION_JUDGE }, { "permutation_reward", "votes", GRPO_PERMUTATION_VOTES },
    { "role_advantage", "mean", GRPO_ROLE_MEAN }, { "role_advantage", "mean_std", GRPO_ROLE_MEAN_STD },
    { "role_advantage", "clipped", GRPO_ROLE_CLIPPED },
    { "sequence_distance", "edit", GRPO_DISTANCE_EDIT }, { "sequence_distance", "suffix", GRPO_DISTANCE_SUFFIX },
    { "sequence_distance", "rouge_l", GRPO_DISTANCE_ROUGE_L },
    { "asymmetric_advantage", "code", 0 },      /* the official code's: the paper does not say which deviation it means */
    { "visit_value", "paper", 0 },
    { "distill_divergence", "forward", GRPO_DISTILL_FORWARD }, { "distill_divergence", "reverse", GRPO_DISTILL_REVERSE },
    { "distill_divergence", "jensen_shannon", GRPO_DISTILL_JENSEN_SHANNON },
    { "distill_divergence", "left_out", GRPO_TAIL_LEFT_OUT }, { "distill_divergence", "renormalised", GRPO_TAIL_RENORMALISED },
    { "distill_divergence", "bucket", GRPO_TAIL_BUCKET },
    { "flow_schedule", "flow_sde", GRPO_FLOW_SDE }, { "flow_schedule", "dance_sde", GRPO_FLOW_DANCE_SDE },
    { "flow_schedule", "flash_sde", GRPO_FLOW_FLASH_SDE }, { "flow_schedule", "sage_sde", GRPO_FLOW_SAGE_SDE },
    { "flow_schedule", "cps", GRPO_FLOW_CPS },
    { "balance_steps", "median", GRPO_BALANCE_MEDIAN }, { "balance_steps", "mean", GRPO_BALANCE_MEAN },
};

/* the enumerator, 0 after a failure */
static int choice(call *r, const char *key) {
    const cJSON *item = argument(r, key);
    for (size_t k = 0; cJSON_IsString(item) && k < sizeof choices / sizeof *choices; k++)
        if (!strcmp(choices[k].function, r->c->function) && !strcmp(choices[k].word, item->valuestring)) return choices[k].value;
    r->out->unknown |= cJSON_IsString(item) && !*r->out->error;
    fail(r, "argument %s is none that is known here", key);
    return 0;
}

/* an entry of a list: a number, or if is_flag 0 or 1 */
static double entry(call *r, const char *key, const cJSON *item, int is_flag) {
    double x = 0;
    if (is_flag ? !cJSON_IsBool(item) : !case_number(item, &x)) fail(r, "argument %s is not all %s", key, is_flag ? "flags" : "numbers");
    return is_flag ? cJSON_IsTrue(item) : x;
}

/* rows of `columns` numbers, one after the other; zeros after a failure */
static double *matrix(call *r, const char *key, int64_t rows, int64_t columns) {
    const cJSON *json = argument(r, key), *row = cJSON_IsArray(json) ? json->child : NULL;
    double *x = allocate(r, rows * columns, sizeof *x);
    for (int64_t k = 0; k < rows * columns; k++) x[k] = 0;
    if (!cJSON_IsArray(json) || size_of(json) != rows) fail(r, "argument %s has not as many rows as it should", key);
    for (int64_t i = 0; row && i < rows; row = row->next, i++) {
        const cJSON *item = row->child;
        if (size_of(row) != columns) fail(r, "argument %s has a row of another size", key);
        for (int64_t k = 0; item && k < columns; item = item->next, k++) x[i * columns + k] = entry(r, key, item, 0);
    }
    return x;
}

/* n numbers or flags; zeros after a failure */
static double *entries(call *r, const char *key, int64_t n, int are_flags) {
    const cJSON *json = argument(r, key), *item = cJSON_IsArray(json) ? json->child : NULL;
    double *x = allocate(r, n, sizeof *x);
    for (int64_t k = 0; k < n; k++) x[k] = 0;
    if (!cJSON_IsArray(json) || size_of(json) != n) fail(r, "argument %s is no list of as many entries as it should be", key);
    for (int64_t k = 0; item && k < n; item = item->next, k++) x[k] = entry(r, key, item, are_flags);
    return x;
}

static double *list(call *r, const char *key, int64_t n) { return entries(r, key, n, 0); }

static int64_t *whole_numbers(call *r, const char *key, const double *x, int64_t n) {
    int64_t *y = allocate(r, n, sizeof *y);
    for (int64_t k = 0; k < n; k++) y[k] = whole_of(r, key, x[k]);
    return y;
}

static const uint8_t *as_flags(call *r, const double *x, int64_t n) {
    uint8_t *y = allocate(r, n, 1);
    for (int64_t k = 0; k < n; k++) if (x[k] == x[k]) y[k] = x[k] != 0;
    return y;
}

static int64_t *wholes(call *r, const char *key, int64_t n) { return whole_numbers(r, key, list(r, key, n), n); }

static int64_t *whole_matrix(call *r, const char *key) {
    const int64_t rows = size(r, key), columns = width(r, key);
    return whole_numbers(r, key, matrix(r, key, rows, columns), rows * columns);
}

/* the size that an argument gives, at least 1 for the allocation: the function must refuse a smaller one */
static int64_t positive(call *r, const char *key) { const int64_t n = whole(r, key); return n > 0 ? n : 1; }

static const uint8_t *flags(call *r, const char *key, int64_t n) { return as_flags(r, entries(r, key, n, 1), n); }

/* flags: 1 where a list of whole numbers is not 0 */
static const uint8_t *nonzero(call *r, const char *key, int64_t n) {
    const double *x = list(r, key, n);
    whole_numbers(r, key, x, n);
    return as_flags(r, x, n);
}

/* a number or flag for each token, in the layout of the batch; NaN in slots of no sequence, and after a failure */
static double *token_numbers(call *r, const char *key, int are_flags) {
    double *x = allocate(r, r->batch->n_tokens, sizeof *x);
    const cJSON *row = argument(r, key);
    int64_t k, i;
    if (size_of(row) != r->c->n_sequences) fail(r, "argument %s has not a row for each sequence", key);
    for (i = 0, row = row ? row->child : NULL; row && i < r->c->n_sequences; row = row->next, i++) {
        const cJSON *item = row->child;
        if (size_of(row) != r->batch->length[i]) fail(r, "argument %s has not an entry for each token", key);
        for (k = 0; item && k < r->batch->length[i]; item = item->next, k++) x[r->batch->offset[i] + k] = entry(r, key, item, are_flags);
    }
    return x;
}

static const uint8_t *token_flags(call *r, const char *key) { return as_flags(r, token_numbers(r, key, 1), r->batch->n_tokens); }

static const int64_t *token_wholes(call *r, const char *key) {
    const double *x = token_numbers(r, key, 0);
    int64_t *y = allocate(r, r->batch->n_tokens, sizeof *y);
    for (int64_t t = 0; t < r->batch->n_tokens; t++) if (x[t] == x[t]) y[t] = whole_of(r, key, x[t]);
    return y;
}

/* converts to an element; fails if the element cannot hold the number */
static grpo_real element(call *r, const char *key, double x) {
    const grpo_real y = (grpo_real)x;
    if (x == x && (double)y != x) fail(r, "argument %s has a number that an element does not hold", key);
    return y;
}

static const grpo_real *token_reals(call *r, const char *key) {
    const double *x = token_numbers(r, key, 0);
    grpo_real *y = allocate(r, r->batch->n_tokens, sizeof *y);
    for (int64_t t = 0; t < r->batch->n_tokens; t++) y[t] = element(r, key, x[t]);
    return y;
}

/* a row of `columns` elements for each token of the batch, in the order of sequences; NaN in slots of no sequence */
static const grpo_real *token_rows(call *r, const char *key, int64_t columns) {
    int64_t rows = 0, k = 0;
    const double *x;
    grpo_real *y = allocate(r, r->batch->n_tokens * columns, sizeof *y);
    for (int64_t i = 0; i < r->c->n_sequences; i++) rows += r->batch->length[i];
    x = matrix(r, key, rows, columns);
    for (int64_t i = 0; i < r->c->n_sequences; i++)
        for (int64_t t = 0; t < r->batch->length[i] * columns; t++) y[r->batch->offset[i] * columns + t] = element(r, key, x[k++]);
    return y;
}

/* rows of elements of a matrix that is an argument, as many as there are */
static const grpo_real *real_matrix(call *r, const char *key) {
    const int64_t n = size(r, key) * width(r, key);
    const double *x = matrix(r, key, size(r, key), width(r, key));
    grpo_real *y = allocate(r, n, sizeof *y);
    for (int64_t k = 0; k < n; k++) y[k] = element(r, key, x[k]);
    return y;
}

static const grpo_real *reals(call *r, const char *key, int64_t n) {
    const double *x = list(r, key, n);
    grpo_real *y = allocate(r, n, sizeof *y);
    for (int64_t k = 0; k < n; k++) y[k] = element(r, key, x[k]);
    return y;
}

/* rows of logits by that name, without targets */
static grpo_logits rows_of_logits(call *r, const char *key) {
    grpo_logits x;
    memset(&x, 0, sizeof x);
    x.type = GRPO_LOGITS_REAL;
    x.logits = real_matrix(r, key);
    x.rows = size(r, key);
    x.vocab = x.stride = width(r, key);
    x.temperature = number(r, "temperature");
    return x;
}

/* the array of the batch that `by` names */
static const grpo_real *by(call *r) {
    static const char *const names[] = { "logp", "logp_old", "logp_ref", "logp_rollout", "logp_teacher", "entropy", "value", "step_reward",
                                         "advantage" };
    const grpo_batch *b = r->batch;
    const grpo_real *const arrays[] = { b->logp, b->logp_old, b->logp_ref, b->logp_rollout, b->logp_teacher, b->entropy, b->value,
                                        b->step_reward, r->c->given };
    const cJSON *item = argument(r, "by");
    for (size_t k = 0; cJSON_IsString(item) && k < sizeof names / sizeof *names; k++)
        if (!strcmp(names[k], item->valuestring)) return arrays[k];
    r->out->unknown |= cJSON_IsString(item) && !*r->out->error;
    fail(r, "argument by is none that is known here");
    return NULL;
}

/* the choices of aggregation.kind are those of the objective */
static const grpo_aggregation *aggregation(call *r) {
    grpo_objective *o = allocate(r, 1, sizeof *o);
    const cJSON *kind = argument(r, "aggregation");
    memset(o, 0, sizeof *o);
    if (!cJSON_IsString(kind) || grpo_objective_choose(o, "aggregation.kind", kind->valuestring)) {
        r->out->unknown |= cJSON_IsString(kind) && !*r->out->error;
        fail(r, "argument aggregation is none that is known here");
    }
    if (is_there(r, "constant")) o->aggregation.constant = number(r, "constant");
    if (is_there(r, "power")) o->aggregation.power = number(r, "power");
    return &o->aggregation;
}

/* a list of lists: its entries one after the other, or (begins) the offsets of the lists, with the end */
static const int64_t *ragged(call *r, const char *key, int begins) {
    const cJSON *json = argument(r, key), *row;
    int64_t total = 0, sets = 0, *begin = allocate(r, size_of(json) + 1, sizeof *begin), *member;
    for (row = size_of(json) ? json->child : NULL; row; row = row->next) total += size_of(row);
    member = allocate(r, total, sizeof *member);
    begin[0] = total = 0;
    if (!cJSON_IsArray(json)) fail(r, "argument %s is no list", key);
    for (row = size_of(json) ? json->child : NULL; row; row = row->next, begin[++sets] = total)
        for (const cJSON *item = size_of(row) ? row->child : NULL; item; item = item->next)
            member[total++] = whole_of(r, key, entry(r, key, item, 0));
    return begins ? begin : member;
}

/* the offsets of a list of lists, with the end */
static const int64_t *begins(call *r, const char *key) {
    const cJSON *json = argument(r, key), *row = size_of(json) ? json->child : NULL;
    int64_t *begin = allocate(r, size_of(json) + 1, sizeof *begin), k = 0;
    begin[0] = 0;
    for (; row; row = row->next, k++) begin[k + 1] = begin[k] + size_of(row);
    return begin;
}

/* n lists of elements with offsets `begin`, one after the other; zeros after a failure */
static const grpo_real *elements(call *r, const char *key, const int64_t *begin, int64_t n) {
    const cJSON *json = argument(r, key), *row = size_of(json) ? json->child : NULL;
    grpo_real *y = allocate(r, begin[n], sizeof *y);
    for (int64_t k = 0; k < begin[n]; k++) y[k] = 0;
    if (!cJSON_IsArray(json) || size_of(json) != n) fail(r, "argument %s has not a list for each step", key);
    for (int64_t k = 0; row && k < n; row = row->next, k++) {
        const cJSON *item = size_of(row) ? row->child : NULL;
        if (size_of(row) != begin[k + 1] - begin[k]) fail(r, "argument %s has a list of another size", key);
        for (int64_t d = begin[k]; item && d < begin[k + 1]; item = item->next, d++) y[d] = element(r, key, entry(r, key, item, 0));
    }
    return y;
}

/* the number of pairs in all groups: the first two responses of a group, the next two ... */
static int64_t pairs_of(const grpo_batch *b) {
    int64_t pairs = 0;
    for (int64_t g = 0; g < b->n_groups; g++) pairs += (b->group_begin[g + 1] - b->group_begin[g]) / 2;
    return pairs;
}

/* a batch of one group of n empty sequences, for functions that read only its groups */
static const grpo_batch *one_group(call *r, int64_t n) {
    grpo_batch *b = allocate(r, 1, sizeof *b);
    int64_t *begin = allocate(r, 2, sizeof *begin), *empty = allocate(r, n, sizeof *empty);
    memset(b, 0, sizeof *b);
    memset(empty, 0, (size_t)n * sizeof *empty);
    begin[0] = 0; begin[1] = n;
    b->n_groups = 1; b->group_begin = begin; b->offset = b->length = empty;
    return b;
}

/* read if the case has it; used with weights by difficulty */
static const double *difficulty(call *r) {
    const int used = flag(r, "by_difficulty");
    const double *x = used || is_there(r, "difficulty") ? list(r, "difficulty", r->c->n_sequences) : NULL;
    return used ? FROM_FIRST(x, OF_RESPONSES, sizeof *x) : NULL;
}

/* ---- answers -------------------------------------------------------------------------------------------------------------------- */

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

static cJSON *token_json(const call *r, const void *array, leaf *at) {
    cJSON *rows = cJSON_CreateArray();
    for (int64_t i = 0; i < r->c->n_sequences; i++)
        cJSON_AddItemToArray(rows, list_json(array, r->batch->offset[i], r->batch->length[i], at));
    return rows;
}

static void add(call *r, const char *key, cJSON *json) { cJSON_AddItemToObject(r->out->answers, key, json); }
static void add_number(call *r, const char *key, double x) { add(r, key, number_json(x)); }

static int ascending(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void add_answers(call *r) {
    for (ptrdiff_t k = 0; k < arrlen(r->answers); k++) {
        const answer *a = &r->answers[k];
        if (a->as == AS_SET) qsort(a->array, (size_t)a->count, sizeof(int64_t), ascending);
        if (a->as == AS_ONE) add(r, a->key, a->at(a->array, 0));
        else add(r, a->key, a->as == AS_TOKENS ? token_json(r, a->array, a->at) : list_json(a->array, 0, a->count, a->at));
    }
}

/* memory for an answer.  `count` may be negative if the function must refuse it */
static void *answer_of(call *r, const char *key, layout as, int64_t count, size_t size_of_one, leaf *at) {
    const answer a = { key, allocate(r, count > 0 ? count : 0, size_of_one), as, count > 0 ? count : 0, at };
    arrput(r->answers, a);
    r->out->elements |= at == real_at;
    return a.array;
}

/* a number that is an argument and an answer */
static double *in_out(call *r, const char *key) {
    double *x = answer_of(r, key, AS_ONE, 1, sizeof *x, double_at);
    *x = number(r, key);
    return x;
}

/* ---- an argument of a row ------------------------------------------------------------------------------------------------------ */

#define BATCH batch_from_first(r)
#define ADVANTAGE r->c->given               /* of the case: n_tokens */
#define BY by(r)                            /* the batch's array that the case names */
#define TOKENS r->batch->n_tokens
#define SEQUENCES (r->c->n_sequences | OF_RESPONSES)
#define GROUPS r->batch->n_groups
#define SIZE(key) size(r, #key)             /* entries of a list that is an argument */
#define WIDTH(key) width(r, #key)

#define NUMBER(key) number(r, #key)
#define WHOLE(key) whole(r, #key)
#define FLAG(key) flag(r, #key)
#define FORM(type) (grpo_##type##_form)choice(r, "form")
#define LIST(key) DOUBLES(key, SIZE(key))
#define DOUBLES(key, n) FROM_FIRST(list(r, #key, COUNT_OF(n)), n, sizeof(double))
#define MATRIX(key, rows, columns) matrix(r, #key, rows, columns)
#define WHOLES(key, n) FROM_FIRST(wholes(r, #key, COUNT_OF(n)), n, sizeof(int64_t))
#define FLAGS(key, n) FROM_FIRST(flags(r, #key, COUNT_OF(n)), n, 1)
#define TOKEN_REALS(key) token_reals(r, #key)
#define TOKEN_WHOLES(key) token_wholes(r, #key)
#define IF(key, read) (is_there(r, #key) ? (read) : 0)          /* an argument that a case may leave out */
#define SCRATCH(type, n) FROM_FIRST(allocate(r, COUNT_OF(n), sizeof(type)), n, sizeof(type))

#define OUT_TOKENS(key) answer_of(r, #key, AS_TOKENS, TOKENS, sizeof(grpo_real), real_at)
#define OUT_TOKEN_FLAGS(key) answer_of(r, #key, AS_TOKENS, TOKENS, 1, flag_at)
#define OUT_REALS(key, n) FROM_FIRST(answer_of(r, #key, AS_LIST, COUNT_OF(n), sizeof(grpo_real), real_at), n, sizeof(grpo_real))
#define OUT_DOUBLES(key, n) FROM_FIRST(answer_of(r, #key, AS_LIST, COUNT_OF(n), sizeof(double), double_at), n, sizeof(double))
#define OUT_FLAGS(key, n) FROM_FIRST(answer_of(r, #key, AS_LIST, COUNT_OF(n), 1, flag_at), n, 1)
#define OUT_WHOLES(key, n) FROM_FIRST(answer_of(r, #key, AS_LIST, COUNT_OF(n), sizeof(int64_t), index_at), n, sizeof(int64_t))
#define OUT_SET(key, count, n) answer_of(r, #key, AS_SET, (count) <= (n) ? (count) : 0, sizeof(int64_t), index_at)
#define OUT_NUMBER(key) answer_of(r, #key, AS_ONE, 1, sizeof(double), double_at)
#define OUT_WHOLE(key) answer_of(r, #key, AS_ONE, 1, sizeof(int64_t), index_at)

/* ---- functions that a row cannot call: their results have another form than the answers, or a shape that depends on the result ---- */

static grpo_status bounds_as_numbers(call *r) {
    const grpo_balance c = { NUMBER(low), NUMBER(high), NUMBER(low_max), NUMBER(high_max), NUMBER(step), NUMBER(target) };
    grpo_bounds b = { NAN, NAN };
    const grpo_status st = grpo_balanced_clip_bounds(BATCH, r->c->given, &c, &b);
    add_number(r, "low", b.low);
    add_number(r, "high", b.high);
    return st;
}

static grpo_status subset_or_none(call *r) {
    int64_t count = WHOLE(count), *index = allocate(r, 20, sizeof *index);
    const grpo_status st = grpo_balanced_subset(LIST(reward), SIZE(reward), count, NUMBER(low), NUMBER(high), index);
    const int none = grpo_status_is(st, GRPO_NONE_LEFT);                  /* a result, not an invalid argument */
    add(r, "index", list_json(index, 0, none || count > 20 ? 0 : count, index_at));
    return none ? GRPO_OK : st;
}

static grpo_status counted_indices(call *r) {
    int64_t count = 0, *index = allocate(r, COUNT_OF(SEQUENCES), sizeof *index);
    const grpo_status st = grpo_pad_valid(BATCH, FLAGS(valid, SEQUENCES), index, &count);
    add(r, "index", list_json(index, 0, count, index_at));
    return st;
}

static grpo_status loss_of_values(call *r) {
    grpo_value_report report = { NAN, NAN };
    const grpo_status st = grpo_value_loss(BATCH, TOKEN_REALS(value), IF(value_old, TOKEN_REALS(value_old)), TOKEN_REALS(returns),
                                           NUMBER(clip), aggregation(r), OUT_TOKENS(dvalue), &report);
    add_number(r, "loss", report.loss);
    add_number(r, "clip_fraction", report.clip_fraction);
    return st;
}

/* the gradient of an infinite value is not compared */
static grpo_status slopes_if_finite(call *r) {
    double value = NAN, *dstudent = allocate(r, SIZE(student), sizeof *dstudent);
    const grpo_status st = grpo_generalised_jsd(LIST(student), DOUBLES(teacher, SIZE(student)), SIZE(student), NUMBER(temperature),
                                           NUMBER(beta), &value, dstudent);
    add_number(r, "value", value);
    if (grpo_is_finite(value)) add(r, "dstudent", list_json(dstudent, 0, SIZE(student), double_at));
    return st;
}

/* divergence and gradient of distillation; the gradient of an infinite divergence is not compared */
static grpo_status divergence_and_gradient(call *r) {
    const int64_t rows = SIZE(student), vocab = WIDTH(student);
    const int64_t *ids = IF(ids, whole_matrix(r, "ids"));
    const uint8_t *mask = IF(mask, FLAGS(mask, rows));
    const grpo_real *teacher = real_matrix(r, "teacher"), *weight = reals(r, "weight", rows);
    const grpo_distill x = {
        .student = rows_of_logits(r, "student"), .teacher_stride = WIDTH(teacher), .k = WIDTH(ids),
        .teacher_temperature = NUMBER(teacher_temperature), .kind = (grpo_distill_kind)choice(r, "kind"), .beta = NUMBER(beta),
        .tail = (grpo_tail_kind)choice(r, "tail"), .clip = NUMBER(clip), .logp_min = NUMBER(logp_min),
        .divergence_max = NUMBER(divergence_max)
    };
    grpo_distill_part *part = SCRATCH(grpo_distill_part, rows);
    grpo_real *divergence = OUT_REALS(divergence, rows), *dlogits = allocate(r, rows * vocab, sizeof *dlogits);
    int finite = 1;
    grpo_status st = SIZE(teacher) == rows && (!ids || SIZE(ids) == rows) ? GRPO_OK : GRPO_STATUS_ARGUMENT_(GRPO_OUT_OF_RANGE, 2, -1);
    if (!st) st = grpo_distill_divergence(&x, teacher, ids, mask, part, divergence);
    if (!st) st = grpo_distill_gradient(&x, teacher, ids, mask, part, weight, 0, dlogits);
    for (int64_t t = 0; !st && t < rows; t++) finite &= grpo_is_finite((double)divergence[t]);
    if (!st && finite) add(r, "dlogits", list_json(dlogits, 0, rows * vocab, real_at));
    return st;
}

static grpo_status likeliest(call *r) {
    const grpo_logits x = rows_of_logits(r, "logits");
    const int64_t k = WHOLE(k), n = k > 0 && k <= x.vocab ? x.rows * k : 0;
    int64_t *ids = OUT_WHOLES(ids, n);
    grpo_real *logp = OUT_REALS(logp, n);
    const grpo_status st = grpo_distill_top(&x, NULL, k, ids);
    return st ? st : grpo_distill_at(&x, NULL, ids, k, logp);
}

static grpo_status given_tokens(call *r) {
    const grpo_logits x = rows_of_logits(r, "logits");
    const int64_t *ids = whole_matrix(r, "ids");
    if (SIZE(ids) != x.rows) return GRPO_STATUS_ARGUMENT_(GRPO_OUT_OF_RANGE, 3, -1);
    return grpo_distill_at(&x, NULL, ids, WIDTH(ids), OUT_REALS(logp, x.rows * WIDTH(ids)));
}

static grpo_status step_of_a_schedule(call *r) {
    grpo_flow_step x = { NAN, NAN, NAN, NAN };
    const grpo_status st = grpo_flow_schedule((grpo_flow_kind)choice(r, "kind"), NUMBER(level), NUMBER(next_level), NUMBER(sigma_max),
                                              NUMBER(sigma_min), NUMBER(eta), &x);
    add_number(r, "sample_factor", x.sample_factor);
    add_number(r, "velocity_factor", x.velocity_factor);
    add_number(r, "std", x.std);
    add_number(r, "rate", x.rate);
    return st;
}

/* every per-step number that has a mean */
static grpo_status numbers_of_steps(call *r) {
    const int64_t n = SIZE(sample), *begin = begins(r, "sample");
    const grpo_real *old = IF(mean_old, elements(r, "mean_old", begin, n)), *ref = IF(mean_ref, elements(r, "mean_ref", begin, n));
    grpo_gaussian_numbers out;
    memset(&out, 0, sizeof out);
    out.logp = OUT_REALS(logp, n);
    if (old) { out.log_ratio = OUT_REALS(log_ratio, n); out.regulated = OUT_REALS(regulated, n); }
    if (old) out.divergence_old = OUT_REALS(divergence_old, n);
    if (ref) out.divergence_ref = OUT_REALS(divergence_ref, n);
    return grpo_gaussian_steps(n, begin, elements(r, "sample", begin, n), elements(r, "mean", begin, n), old, ref, DOUBLES(std, n),
                               IF(kl_std, DOUBLES(kl_std, n)), &out);
}

static grpo_status gradient_of_steps(call *r) {
    const int64_t n = SIZE(sample), *begin = begins(r, "sample");
    const grpo_gaussian_gradients by = {
        IF(dlogp, reals(r, "dlogp", n)), IF(dlog_ratio, reals(r, "dlog_ratio", n)), IF(dregulated, reals(r, "dregulated", n)),
        IF(ddivergence_old, reals(r, "ddivergence_old", n)), IF(ddivergence_ref, reals(r, "ddivergence_ref", n))
    };
    return grpo_gaussian_steps_backward(n, begin, elements(r, "sample", begin, n), elements(r, "mean", begin, n),
        IF(mean_old, elements(r, "mean_old", begin, n)), IF(mean_ref, elements(r, "mean_ref", begin, n)), DOUBLES(std, n),
        IF(kl_std, DOUBLES(kl_std, n)), &by, OUT_REALS(dmean, begin[n]));
}

/* the error, then its gradient */
static grpo_status error_and_gradient(call *r) {
    const int64_t n = SIZE(prediction), *begin = begins(r, "prediction");
    const grpo_real *prediction = elements(r, "prediction", begin, n), *target = elements(r, "target", begin, n);
    const grpo_status st = grpo_denoising_error(n, begin, prediction, target, OUT_DOUBLES(error, n));
    if (st || !is_there(r, "derror")) return st;
    return grpo_denoising_error_backward(n, begin, prediction, target, DOUBLES(derror, n), OUT_REALS(dprediction, begin[n]));
}

static grpo_status nft_of_samples(call *r) {
    const int64_t n = SIZE(velocity), *begin = begins(r, "velocity");
    const grpo_nft x = { NUMBER(advantage_max), NUMBER(beta), NUMBER(kl_coef) };
    return grpo_diffusion_nft(n, begin, elements(r, "velocity", begin, n), elements(r, "velocity_old", begin, n),
        IF(velocity_ref, elements(r, "velocity_ref", begin, n)), elements(r, "noisy", begin, n), elements(r, "clean", begin, n),
        DOUBLES(level, n), DOUBLES(advantage, n), &x, OUT_DOUBLES(share, n), OUT_DOUBLES(loss, n), OUT_REALS(dvelocity, begin[n]));
}

static grpo_status three_numbers(call *r) {
    const grpo_power_bounds b = grpo_power_mean_bounds(NUMBER(mean), NUMBER(deviation), NUMBER(gamma), NUMBER(low), NUMBER(high),
        NUMBER(delta));
    add_number(r, "power", b.power);
    add_number(r, "eps", b.eps);
    add_number(r, "log_high", b.log_high);
    return GRPO_OK;
}

/* ---- the table: CALL(function, arguments) of a function that returns a status, VALUE(function, answer, arguments) of one that returns a
 * number, PAIR of one that returns a struct of two, OTHER of the functions above ---- */

#define CALLS_SELECTION(CALL, VALUE, PAIR, OTHER) \
    CALL(grpo_select_top_fraction, BATCH, BY, NUMBER(fraction), OUT_TOKEN_FLAGS(selected)) \
    CALL(grpo_select_top_k, BATCH, BY, WHOLE(count), OUT_TOKEN_FLAGS(selected)) \
    CALL(grpo_select_between, BATCH, BY, NUMBER(low), NUMBER(high), IF(excluded, token_flags(r, "excluded")), WHOLES(order, TOKENS), \
         WHOLE(count), OUT_TOKEN_FLAGS(selected)) \
    CALL(grpo_select_second_moment, BATCH, ADVANTAGE, FORM(second_moment), NUMBER(threshold), OUT_TOKEN_FLAGS(selected)) \
    CALL(grpo_covariance, BATCH, ADVANTAGE, OUT_TOKENS(covariance)) \
    CALL(grpo_reward_range_filter, BATCH, NUMBER(low), NUMBER(high), OUT_FLAGS(keep, GROUPS)) \
    CALL(grpo_resampling_weights, BATCH, NUMBER(power), NUMBER(eps), OUT_DOUBLES(weight, SEQUENCES)) \
    CALL(grpo_resample, LIST(weight), SIZE(weight), LIST(uniform), SIZE(uniform), OUT_WHOLES(index, SIZE(uniform))) \
    CALL(grpo_replay_score, BATCH, ADVANTAGE, OUT_DOUBLES(score, GROUPS)) \
    CALL(grpo_entropy_clip_batch, BATCH, ADVANTAGE, NUMBER(mu), OUT_TOKEN_FLAGS(selected)) \
    CALL(grpo_entropy_clip_vocabulary, BATCH, ADVANTAGE, TOKEN_REALS(expected), NUMBER(mu), NUMBER(fraction), OUT_TOKEN_FLAGS(selected)) \
    OTHER(grpo_balanced_subset, subset_or_none) \
    CALL(grpo_prefix_trust_region, BATCH, ADVANTAGE, \
         &(grpo_prefix_gate){ .width = WHOLE(width), .least = NUMBER(least), .delta = NUMBER(delta), .budget = NUMBER(budget), \
                              .quantile = NUMBER(quantile), .factor = NUMBER(factor) }, \
         SCRATCH(double, TOKENS), OUT_TOKEN_FLAGS(selected)) \
    CALL(grpo_allocate_rollouts, LIST(p), SIZE(p), WHOLE(low), WHOLE(high), WHOLE(total), OUT_WHOLES(count, SIZE(p))) \
    CALL(grpo_select_value_of_information, LIST(draw), SIZE(draw), WHOLE(count), OUT_SET(index, WHOLE(count), SIZE(draw))) \
    CALL(grpo_visit_value, LIST(p), DOUBLES(diversity, SIZE(p)), ((void)IF(form, choice(r, "form")), SIZE(p)), NUMBER(alpha), \
         NUMBER(beta), \
         OUT_DOUBLES(weight, SIZE(p))) \
    CALL(grpo_max_variance_subset, LIST(advantage), SIZE(advantage), WHOLE(count), OUT_SET(index, WHOLE(count), SIZE(advantage))) \
    OTHER(grpo_pad_valid, counted_indices) \
    CALL(grpo_cluster_probability, LIST(rate), DOUBLES(probability, SIZE(rate)), DOUBLES(success, SIZE(rate)), SIZE(rate), NUMBER(alpha), \
         OUT_DOUBLES(rate, SIZE(rate)), OUT_DOUBLES(probability, SIZE(rate))) \
    CALL(grpo_explore_weight, LIST(value), SIZE(value), NUMBER(least), OUT_DOUBLES(weight, SIZE(value))) \
    CALL(grpo_reward_std_filter, BATCH, NUMBER(least), OUT_FLAGS(keep, GROUPS)) \
    CALL(grpo_advantage_filter, LIST(advantage), SIZE(advantage), NUMBER(least), IF(multiple, WHOLE(multiple)), IF(positive, \
         FLAG(positive)), \
         OUT_FLAGS(keep, SIZE(advantage))) \
    CALL(grpo_select_low_probability, BATCH, NUMBER(probability), OUT_TOKEN_FLAGS(selected)) \
    CALL(grpo_sequence_distance, WHOLES(a, SIZE(a)), SIZE(a), WHOLES(b, SIZE(b)), SIZE(b), FORM(distance), \
         SCRATCH(int64_t, 2 * SIZE(b) + 2), OUT_NUMBER(distance)) \
    VALUE(grpo_mixed_group_probability, probability, NUMBER(p), WHOLE(n))

#define CALLS_CONTROL(CALL, VALUE, PAIR, OTHER) \
    VALUE(grpo_kl_control, kl_coef, NUMBER(kl_coef), NUMBER(kl), NUMBER(target), NUMBER(steps), NUMBER(horizon)) \
    PAIR(grpo_entropy_control, grpo_entropy_coef, coef, used, NUMBER(coef), NUMBER(entropy), NUMBER(target), NUMBER(delta), NUMBER(low), \
         NUMBER(high), FLAG(inclusive)) \
    OTHER(grpo_balanced_clip_bounds, bounds_as_numbers) \
    VALUE(grpo_smooth_advantage, advantage, WHOLE(visits), NUMBER(new), NUMBER(total)) \
    PAIR(grpo_running_moments, grpo_mean_variance, mean, variance, WHOLE(visits), \
         (grpo_mean_variance){ .mean = NUMBER(mean), .variance = NUMBER(variance) }, \
         (grpo_mean_variance){ .mean = NUMBER(new_mean), .variance = NUMBER(new_variance) }) \
    CALL(grpo_running_baseline, LIST(reward), SIZE(reward), NUMBER(momentum), OUT_DOUBLES(advantage, SIZE(reward)), in_out(r, "baseline")) \
    CALL(grpo_regret_temperature, WHOLES(length, SIZE(length)), DOUBLES(score, SIZE(length)), SIZE(length), OUT_NUMBER(temperature)) \
    VALUE(grpo_preference_coef_control, coef, NUMBER(coef), NUMBER(pair_loss), NUMBER(loss)) \
    CALL(grpo_adaptive_clip, BATCH, ADVANTAGE, TOKEN_REALS(standard), \
         &(grpo_adaptation){ .low = NUMBER(low), .high = NUMBER(high), .clip_coef = NUMBER(clip_coef), .gain = NUMBER(gain) }, \
         OUT_TOKENS(clip_low), OUT_TOKENS(clip_high), OUT_TOKENS(advantage)) \
    PAIR(grpo_decayed_counts, grpo_counts, alpha, beta, NUMBER(alpha), NUMBER(beta), NUMBER(decay), NUMBER(successes), NUMBER(failures)) \
    CALL(grpo_drift_decay, BATCH, NUMBER(half_life), NUMBER(low), NUMBER(high), OUT_NUMBER(decay)) \
    VALUE(grpo_moving_average, state, NUMBER(state), NUMBER(value), NUMBER(rate)) \
    CALL(grpo_quantile_tracker, LIST(quantile), DOUBLES(level, SIZE(quantile)), SIZE(quantile), NUMBER(rate), LIST(observed), \
         SIZE(observed), \
         OUT_DOUBLES(quantile, SIZE(quantile))) \
    CALL(grpo_turn_factor, BATCH, DOUBLES(factor, SEQUENCES), NUMBER(low), NUMBER(high), OUT_DOUBLES(factor, SEQUENCES)) \
    VALUE(grpo_linear_schedule, value, NUMBER(start), NUMBER(step) - NUMBER(offset), NUMBER(steps)) \
    VALUE(grpo_token_budget_schedule, value, NUMBER(start), NUMBER(factor), WHOLE(step), WHOLE(interval)) \
    CALL(grpo_hint_level, WHOLES(level, SIZE(level)), DOUBLES(success, SIZE(level)), SIZE(level), NUMBER(low), NUMBER(high), WHOLE(max), \
         OUT_WHOLES(level, SIZE(level))) \
    CALL(grpo_standardised_entropy, BATCH, NUMBER(quantile), FORM(standard), OUT_TOKENS(standard)) \
    PAIR(grpo_entropy_target_coef, grpo_target_coef, coef, value, NUMBER(entropy), NUMBER(target), NUMBER(coef)) \
    VALUE(grpo_kl_hinge, coef, NUMBER(kl), NUMBER(delta), NUMBER(beta)) \
    CALL(grpo_ratio_quantile, BATCH, NUMBER(quantile), NUMBER(least), OUT_NUMBER(value)) \
    CALL(grpo_logit_shift, BATCH, FLAGS(correct, SEQUENCES), NUMBER(beta), OUT_NUMBER(shift)) \
    OTHER(grpo_power_mean_bounds, three_numbers) \
    VALUE(grpo_margin_schedule, margin, NUMBER(margin), NUMBER(progress), NUMBER(share)) \
    CALL(grpo_multiplier_update, LIST(score), FLAGS(counted, SIZE(score)), SIZE(score), \
         &(grpo_constraint){ .target = NUMBER(target), .rate = NUMBER(rate), .max = NUMBER(multiplier_max), .least = WHOLE(least) }, \
         in_out(r, "multiplier"), OUT_NUMBER(mean)) \
    PAIR(grpo_annealed_split, grpo_split, other, own, WHOLE(step), WHOLE(steps), WHOLE(size))

#define CALLS_CREDIT(CALL, VALUE, PAIR, OTHER) \
    CALL(grpo_key_token_advantage, BATCH, TOKEN_WHOLES(token), \
         &(grpo_key_measure){ .fisher = NUMBER(fisher), .gain = NUMBER(gain), .top = NUMBER(top), .frequency = FLAG(frequency), \
                              .ignored = WHOLE(ignored) }, \
         SCRATCH(grpo_token_place, TOKENS), TOKENS, OUT_TOKENS(key)) \
    CALL(grpo_jsd_advantage, BATCH, NUMBER(beta), NUMBER(coef), OUT_TOKENS(advantage)) \
    CALL(grpo_distribution_advantage, BATCH, ADVANTAGE, TOKEN_REALS(tempered), FLAGS(correct, SEQUENCES), NUMBER(entropy), \
         NUMBER(entropy_base), OUT_TOKENS(advantage)) \
    CALL(grpo_boltzmann_advantage, BATCH, NUMBER(temperature), OUT_REALS(advantage, SEQUENCES)) \
    CALL(grpo_likelihood_advantage, BATCH, NUMBER(threshold), NUMBER(temperature), FLAG(by_length), SCRATCH(grpo_dd, SEQUENCES), \
         OUT_REALS(advantage, SEQUENCES)) \
    CALL(grpo_canon_advantage, BATCH, DOUBLES(metric, SEQUENCES), \
         &(grpo_canon){ .alpha = NUMBER(alpha), .offset = NUMBER(offset), .mix = NUMBER(mix), .scaled = (grpo_half)choice(r, "scaled") }, \
         OUT_REALS(advantage, SEQUENCES)) \
    CALL(grpo_asymmetric_advantage, ((void)choice(r, "form"), BATCH), NUMBER(alpha), NUMBER(mean_reward), OUT_REALS(advantage, SEQUENCES)) \
    CALL(grpo_sharpening_advantage, BATCH, DOUBLES(advantage, SEQUENCES), NUMBER(lambda), NUMBER(kappa), SCRATCH(grpo_dd, SEQUENCES), \
         OUT_REALS(advantage, SEQUENCES)) \
    CALL(grpo_feature_advantage, BATCH, \
         &(grpo_feature){ .advantage = DOUBLES(advantage, SEQUENCES), .feature = DOUBLES(feature, SEQUENCES), \
                          .divisor = DOUBLES(divisor, SEQUENCES), .eligible = FLAGS(eligible, SEQUENCES), .delta = NUMBER(delta), \
                          .k = NUMBER(k) }, \
         OUT_REALS(advantage, SEQUENCES)) \
    CALL(grpo_virtual_reward_advantage, BATCH, NUMBER(virtual), WHOLE(count), NUMBER(eps), OUT_REALS(advantage, SEQUENCES)) \
    CALL(grpo_bundle_advantage, BATCH, WHOLES(bundle, GROUPS), \
         &(grpo_risk){ .low = NUMBER(low_quantile), .high = NUMBER(high_quantile), .a = NUMBER(low_level), .c = NUMBER(high_level), \
                       .omega = NUMBER(omega), .eps = NUMBER(eps) }, \
         SCRATCH(grpo_dd, GROUPS), OUT_REALS(advantage, SEQUENCES)) \
    CALL(grpo_set_advantage, LIST(reward), WHOLES(class, SIZE(reward)), SIZE(reward), ragged(r, "sets", 0), ragged(r, "sets", 1), \
         SIZE(sets), \
         OUT_DOUBLES(advantage, SIZE(sets))) \
    CALL(grpo_reference_advantage, LIST(reward), SIZE(reward), NUMBER(reference_reward), NUMBER(beta), NUMBER(lambda), \
         FLAG(with_reference), \
         OUT_DOUBLES(advantage, SIZE(reward)), OUT_NUMBER(reference_advantage)) \
    CALL(grpo_implicit_advantage, BATCH, TOKEN_REALS(process), NUMBER(process_coef), NUMBER(outcome_coef), OUT_TOKENS(advantage)) \
    CALL(grpo_hardness_advantage, BATCH, NUMBER(slope), NUMBER(offset), OUT_REALS(advantage, SEQUENCES)) \
    CALL(grpo_token_advantage, BATCH, NUMBER(eps), NUMBER(limit), FLAG(scaled), OUT_REALS(advantage, SEQUENCES)) \
    CALL(grpo_future_success_advantage, LIST(reward), SIZE(reward), OUT_DOUBLES(advantage, SIZE(reward))) \
    CALL(grpo_alignment_advantage, LIST(own), DOUBLES(other, SIZE(own)), SIZE(own), \
         &(grpo_coplayer){ .gamma = NUMBER(gamma), .weight_gamma = NUMBER(weight_gamma), .beta = NUMBER(beta), .clip = NUMBER(clip), \
                           .inclusive = FLAG(inclusive), .sign = FLAG(sign), .per_step = FLAG(per_step), .discount = FLAG(discount) }, \
         OUT_DOUBLES(credit, SIZE(own))) \
    CALL(grpo_projected_advantage, LIST(advantage), SIZE(advantage), MATRIX(basis, SIZE(basis), SIZE(advantage)), SIZE(basis), \
         NUMBER(alpha), \
         FLAG(positive), SCRATCH(grpo_dd, SIZE(basis)), OUT_DOUBLES(advantage, SIZE(advantage))) \
    CALL(grpo_branch_advantage, WHOLES(parent, SIZE(parent)), DOUBLES(reward, SIZE(parent)), DOUBLES(logp, SIZE(parent)), SIZE(parent), \
         FORM(branch), NUMBER(alpha), SCRATCH(grpo_branch, SIZE(parent)), OUT_DOUBLES(advantage, SIZE(parent))) \
    CALL(grpo_collapsed_advantage, BATCH, NUMBER(eps), OUT_REALS(advantage, SEQUENCES)) \
    CALL(grpo_variant_advantage, LIST(advantage), DOUBLES(difficulty, SIZE(advantage)), DOUBLES(mean, SIZE(advantage)), SIZE(advantage), \
         NUMBER(k), OUT_DOUBLES(advantage, SIZE(advantage))) \
    CALL(grpo_step_weight_advantage, LIST(advantage), DOUBLES(weight, SIZE(advantage)), SIZE(advantage), \
        OUT_DOUBLES(advantage, SIZE(advantage))) \
    CALL(grpo_tree_advantage, WHOLES(parent, SIZE(parent)), DOUBLES(reward, SIZE(parent)), IF(value, DOUBLES(value, SIZE(parent))), \
         SIZE(parent), IF(gamma, NUMBER(gamma)), FORM(tree_advantage), SCRATCH(grpo_tree_state, SIZE(parent)), \
         OUT_DOUBLES(advantage, SIZE(parent))) \
    CALL(grpo_two_anchor_advantage, BATCH, DOUBLES(constraints, SEQUENCES), \
         &(grpo_anchors){ .alpha = NUMBER(alpha), .beta = NUMBER(beta), .gain_pos = NUMBER(gain_pos), .gain_neg = NUMBER(gain_neg), \
                          .form = FORM(anchors) }, \
         OUT_REALS(advantage, SEQUENCES)) \
    CALL(grpo_calibration_advantage, BATCH, FLAGS(correct, SEQUENCES), NUMBER(temperature), SCRATCH(grpo_dd, SEQUENCES), \
         OUT_REALS(advantage, SEQUENCES)) \
    CALL(grpo_multi_scale_advantage, LIST(reward), SIZE(reward), NUMBER(eps), OUT_DOUBLES(advantage, SIZE(reward))) \
    CALL(grpo_hard_negative_advantage, BATCH, DOUBLES(utility, SEQUENCES), OUT_REALS(advantage, SEQUENCES), OUT_WHOLES(replace, GROUPS)) \
    CALL(grpo_position_advantage, LIST(logp_old), DOUBLES(reward, SIZE(logp_old)), SIZE(logp_old), OUT_DOUBLES(advantage, SIZE(logp_old))) \
    CALL(grpo_role_advantage, LIST(reward), WHOLES(role, SIZE(reward)), SIZE(reward), FORM(role), OUT_DOUBLES(advantage, SIZE(reward))) \
    CALL(grpo_median_advantage, BATCH, NUMBER(eps), OUT_DOUBLES(advantage, SEQUENCES), OUT_WHOLES(pivot, GROUPS)) \
    CALL(grpo_mix_advantages, LIST(x), DOUBLES(y, SIZE(x)), SIZE(x), NUMBER(a), NUMBER(b), OUT_DOUBLES(advantage, SIZE(x))) \
    CALL(grpo_gram_rank, MATRIX(gram, SIZE(advantage), SIZE(advantage)), LIST(advantage), SIZE(advantage), NUMBER(share), WHOLE(least), \
         WHOLE(most), OUT_WHOLE(rank), OUT_NUMBER(effective)) \
    CALL(grpo_odds_advantage, BATCH, TOKEN_REALS(informed), TOKEN_REALS(plain), DOUBLES(prior, SEQUENCES), NUMBER(evidence_max), \
         OUT_TOKENS(advantage))

#define CALLS_REWARDS(CALL, VALUE, PAIR, OTHER) \
    CALL(grpo_relative_cost_penalty, BATCH, \
         &(grpo_cost){ .output = DOUBLES(output, SEQUENCES), .input = DOUBLES(input, SEQUENCES), .turns = DOUBLES(turns, SEQUENCES), \
                       .output_coef = NUMBER(output_coef), .input_coef = NUMBER(input_coef), .turns_coef = NUMBER(turns_coef) }, \
         OUT_REALS(reward, SEQUENCES)) \
    CALL(grpo_diversity_reward, LIST(reward), MATRIX(similarity, SIZE(reward), SIZE(reward)), SIZE(reward), NUMBER(eps), \
         OUT_DOUBLES(reward, SIZE(reward))) \
    CALL(grpo_unlikeliness_reward, BATCH, NUMBER(beta), SCRATCH(grpo_dd, SEQUENCES), OUT_REALS(reward, SEQUENCES)) \
    CALL(grpo_early_exit_reward, BATCH, OUT_REALS(reward, SEQUENCES)) \
    CALL(grpo_trust_reward, one_group(r, SIZE(outcome)), LIST(outcome), DOUBLES(thought, SIZE(outcome)), NUMBER(decay), \
         &(grpo_trust_bounds){ .low = NUMBER(least), .right = NUMBER(right), .every = NUMBER(high), .none = NUMBER(low) }, \
         OUT_REALS(reward, SIZE(outcome))) \
    CALL(grpo_tool_efficiency_reward, BATCH, DOUBLES(calls, SEQUENCES), FLAGS(correct, SEQUENCES), NUMBER(smooth), NUMBER(alpha), \
        FORM(tools), \
         OUT_REALS(reward, SEQUENCES)) \
    CALL(grpo_entity_reward, BATCH, DOUBLES(found, SEQUENCES), FLAGS(correct, SEQUENCES), FLAGS(invalid, SEQUENCES), NUMBER(alpha), \
         OUT_REALS(reward, SEQUENCES)) \
    CALL(grpo_retention_reward, BATCH, NUMBER(lambda), NUMBER(alpha), OUT_REALS(reward, SEQUENCES)) \
    CALL(grpo_efficiency_reward, BATCH, FLAGS(correct, SEQUENCES), NUMBER(share), NUMBER(alpha), OUT_REALS(reward, SEQUENCES), \
         OUT_FLAGS(efficient, GROUPS)) \
    CALL(grpo_consistency_bonus, BATCH, DOUBLES(accuracy, SEQUENCES), NUMBER(lambda), NUMBER(cap), NUMBER(margin), \
         OUT_REALS(reward, SEQUENCES)) \
    CALL(grpo_gated_reward_sum, MATRIX(rewards, SIZE(rewards), SIZE(weight)), SIZE(rewards), SIZE(weight), LIST(weight), WHOLES(gate, \
         SIZE(weight)), \
         OUT_DOUBLES(reward, SIZE(rewards))) \
    CALL(grpo_brier_reward, LIST(confidence), SIZE(confidence), nonzero(r, "correct", SIZE(confidence)), \
         IF(missing, FLAGS(missing, SIZE(confidence))), OUT_DOUBLES(reward, SIZE(confidence))) \
    CALL(grpo_length_shape_reward, LIST(length), SIZE(length), FORM(shape), NUMBER(peak), NUMBER(max), OUT_DOUBLES(reward, SIZE(length))) \
    CALL(grpo_log_exp_reward, LIST(reward), SIZE(reward), NUMBER(threshold), NUMBER(upper), NUMBER(lower), \
        OUT_DOUBLES(reward, SIZE(reward))) \
    CALL(grpo_tree_reward, WHOLES(parent, SIZE(reward)), LIST(reward), IF(depth, WHOLES(depth, SIZE(reward))), SIZE(reward), \
         IF(gamma, NUMBER(gamma)), FORM(tree), IF(turns, WHOLE(turns)), SCRATCH(grpo_dd, SIZE(reward)), \
         OUT_DOUBLES(reward, SIZE(reward))) \
    CALL(grpo_hint_reward, LIST(reward), DOUBLES(gap, SIZE(reward)), SIZE(reward), NUMBER(temperature), FORM(hint), FLAG(gate), \
         OUT_NUMBER(reward)) \
    CALL(grpo_meta_reward, FLAGS(correct, SIZE(length)), WHOLES(length, SIZE(length)), SIZE(length), WHOLES(net, SIZE(net)), SIZE(net), \
         WHOLE(passes), WHOLE(predicted_length), OUT_NUMBER(reward)) \
    CALL(grpo_win_rate_reward, MATRIX(wins, SIZE(wins), SIZE(wins)), SIZE(wins), OUT_DOUBLES(reward, SIZE(wins))) \
    CALL(grpo_entropy_rank_reward, LIST(peak), DOUBLES(overall, SIZE(peak)), SIZE(peak), NUMBER(top), SCRATCH(int64_t, SIZE(peak)), \
         OUT_DOUBLES(reward, SIZE(peak))) \
    CALL(grpo_interval_reward, LIST(begin), DOUBLES(end, SIZE(begin)), SIZE(begin), NUMBER(gamma), FLAG(sample), \
         OUT_DOUBLES(reward, SIZE(begin))) \
    CALL(grpo_dense_rewards, LIST(reward), SIZE(reward), NUMBER(score), NUMBER(total), OUT_DOUBLES(reward, SIZE(reward))) \
    CALL(grpo_information_gain_reward, LIST(logp), SIZE(logp), FORM(information), OUT_DOUBLES(gain, SIZE(logp) - 1)) \
    CALL(grpo_shorter_correct_reward, BATCH, NUMBER(coef), OUT_REALS(reward, SEQUENCES)) \
    CALL(grpo_permutation_reward, whole_matrix(r, "choice"), SIZE(choice), WIDTH(choice), FORM(permutation), \
         OUT_DOUBLES(reward, SIZE(choice) * WIDTH(choice))) \
    CALL(grpo_frequency_reward, BATCH, WHOLES(answer, SEQUENCES), WHOLE(size), OUT_REALS(reward, SEQUENCES)) \
    CALL(grpo_repetition_penalty, BATCH, TOKEN_WHOLES(token), WHOLE(size), NUMBER(penalty), OUT_REALS(reward, SEQUENCES)) \
    CALL(grpo_correct_length_reward, BATCH, FLAGS(correct, SEQUENCES), NUMBER(alpha), NUMBER(eps), NUMBER(wrong), \
        OUT_REALS(reward, SEQUENCES)) \
    CALL(grpo_pairwise_rewards, BATCH, WHOLES(outcome, pairs_of(BATCH)), FLAGS(ended, SEQUENCES), OUT_REALS(reward, SEQUENCES), \
         OUT_FLAGS(masked, SEQUENCES)) \
    CALL(grpo_min_max_reward, LIST(distance), SIZE(distance), OUT_DOUBLES(reward, SIZE(distance)))

#define CALLS_WEIGHTS(CALL, VALUE, PAIR, OTHER) \
    CALL(grpo_sample_weights, BATCH, difficulty(r), FLAG(by_length), OUT_DOUBLES(weight, SEQUENCES)) \
    CALL(grpo_teacher_gate, BATCH, ADVANTAGE, NUMBER(strength), NUMBER(clip), r->batch->selected, OUT_TOKENS(weight)) \
    CALL(grpo_prefix_discrepancy_weight, BATCH, NUMBER(gamma), FORM(discrepancy), OUT_TOKENS(weight)) \
    CALL(grpo_soft_top_k_weight, LIST(x), SIZE(x), NUMBER(target), NUMBER(temperature), OUT_DOUBLES(weight, SIZE(x)), \
         OUT_DOUBLES(normalised, SIZE(x))) \
    CALL(grpo_probability_weight, BATCH, NUMBER(strength), OUT_TOKENS(weight)) \
    CALL(grpo_conflict_weight, BATCH, TOKEN_WHOLES(token), WHOLES(sign, SEQUENCES), NUMBER(inside), OUT_TOKENS(weight)) \
    CALL(grpo_prompt_weight, BATCH, NUMBER(threshold), NUMBER(limit), NUMBER(low), FORM(prompt), OUT_DOUBLES(weight, GROUPS)) \
    CALL(grpo_invariance_weight, BATCH, WHOLES(meta, GROUPS), FLAGS(anchor, GROUPS), OUT_REALS(weight, SEQUENCES)) \
    CALL(grpo_centroid_weight, BATCH, ADVANTAGE, token_rows(r, "feature", positive(r, "width")), \
         &(grpo_centroids){ .width = WHOLE(width), .refine = WHOLE(refine), .low = NUMBER(low), .high = NUMBER(high) }, \
         SCRATCH(grpo_dd, 2 * (TOKENS + positive(r, "width"))), OUT_TOKENS(weight)) \
    CALL(grpo_agent_weights, BATCH, TOKEN_WHOLES(agent), OUT_TOKENS(weight)) \
    CALL(grpo_centred_weights, BATCH, NUMBER(k), OUT_REALS(surrogate, SEQUENCES), OUT_REALS(penalty, SEQUENCES)) \
    CALL(grpo_consistency_weights, LIST(entropy), SIZE(entropy), NUMBER(gamma), NUMBER(centre), OUT_DOUBLES(local, SIZE(entropy)), \
         OUT_DOUBLES(global, SIZE(entropy))) \
    CALL(grpo_confidence_factor, BATCH, FLAGS(correct, SEQUENCES), NUMBER(delta), OUT_DOUBLES(factor, GROUPS)) \
    CALL(grpo_surprisal_weight, BATCH, ADVANTAGE, NUMBER(share), NUMBER(up), NUMBER(down), NUMBER(target), OUT_TOKENS(weight)) \
    CALL(grpo_difficulty_weight, BATCH, DOUBLES(accuracy, SEQUENCES), NUMBER(temperature), OUT_DOUBLES(weight, GROUPS)) \
    CALL(grpo_covariance_weight, BATCH, ADVANTAGE, OUT_TOKENS(weight)) \
    CALL(grpo_routed_weight, BATCH, FLAGS(routed, SEQUENCES), NUMBER(beta), OUT_TOKENS(weight)) \
    CALL(grpo_entropy_factor, LIST(entropy), SIZE(entropy), NUMBER(alpha), WHOLE(size), OUT_DOUBLES(factor, SIZE(entropy))) \
    CALL(grpo_semantic_entropy, BATCH, WHOLES(answer, SEQUENCES), DOUBLES(score, SEQUENCES), OUT_DOUBLES(entropy, GROUPS)) \
    CALL(grpo_dynamic_scale, LIST(hardness), DOUBLES(gap, SIZE(hardness)), SIZE(hardness), NUMBER(bound), OUT_DOUBLES(factor, \
         SIZE(hardness))) \
    CALL(grpo_length_preference_weight, BATCH, DOUBLES(length, SEQUENCES), NUMBER(r), NUMBER(lambda), OUT_DOUBLES(weight, SEQUENCES), \
         OUT_DOUBLES(slope, SEQUENCES))

#define CALLS_CRITIC(CALL, VALUE, PAIR, OTHER) \
    OTHER(grpo_value_loss, loss_of_values) \
    CALL(grpo_proximal_logp, BATCH, WHOLE(version), TOKEN_WHOLES(behaviour_version), FORM(proximal), OUT_TOKENS(logp_old)) \
    OTHER(grpo_generalised_jsd, slopes_if_finite) \
    CALL(grpo_top_k_gap, LIST(student), DOUBLES(teacher, SIZE(student)), SIZE(student), WHOLE(target), OUT_NUMBER(gap))

#define CALLS_DISTILL(CALL, VALUE, PAIR, OTHER) \
    OTHER(grpo_distill_divergence, divergence_and_gradient) \
    OTHER(grpo_distill_top, likeliest) \
    OTHER(grpo_distill_at, given_tokens) \
    CALL(grpo_distill_pairs, BATCH, FLAGS(correct, SEQUENCES), OUT_WHOLES(teacher, GROUPS), OUT_WHOLES(student, GROUPS)) \
    CALL(grpo_frontier_weight, BATCH, FLAGS(correct, SEQUENCES), NUMBER(strength), OUT_DOUBLES(weight, GROUPS)) \
    CALL(grpo_distill_importance_weight, BATCH, NUMBER(clip), OUT_TOKENS(weight))

#define CALLS_FLOW(CALL, VALUE, PAIR, OTHER) \
    OTHER(grpo_flow_schedule, step_of_a_schedule) \
    CALL(grpo_balance_steps, SIZE(rate), LIST(rate), (grpo_balance_kind)choice(r, "centre"), OUT_DOUBLES(weight, SIZE(rate))) \
    OTHER(grpo_gaussian_steps, numbers_of_steps) \
    OTHER(grpo_gaussian_steps_backward, gradient_of_steps) \
    OTHER(grpo_denoising_error, error_and_gradient) \
    CALL(grpo_denoising_preference, SIZE(error), LIST(error), DOUBLES(error_ref, SIZE(error)), DOUBLES(weight, SIZE(error)), \
         NUMBER(beta), OUT_NUMBER(loss), OUT_DOUBLES(derror, SIZE(error))) \
    OTHER(grpo_diffusion_nft, nft_of_samples)

#define CALLS(CALL, VALUE, PAIR, OTHER) \
    CALLS_SELECTION(CALL, VALUE, PAIR, OTHER) CALLS_CONTROL(CALL, VALUE, PAIR, OTHER) CALLS_CREDIT(CALL, VALUE, PAIR, OTHER) \
    CALLS_REWARDS(CALL, VALUE, PAIR, OTHER) CALLS_WEIGHTS(CALL, VALUE, PAIR, OTHER) CALLS_CRITIC(CALL, VALUE, PAIR, OTHER) \
    CALLS_DISTILL(CALL, VALUE, PAIR, OTHER) CALLS_FLOW(CALL, VALUE, PAIR, OTHER)

#define RUN_CALL(name, ...) static grpo_status run_##name(call *r) { return name(__VA_ARGS__); }
#define RUN_VALUE(name, key, ...) \
    static grpo_status run_##name(call *r) { add_number(r, #key, name(__VA_ARGS__)); return GRPO_OK; }
#define RUN_PAIR(name, type, first, second, ...) \
    static grpo_status run_##name(call *r) { \
        const type x = name(__VA_ARGS__); \
        add_number(r, #first, (double)x.first); \
        add_number(r, #second, (double)x.second); \
        return GRPO_OK; \
    }
#define RUN_OTHER(name, run)
CALLS(RUN_CALL, RUN_VALUE, RUN_PAIR, RUN_OTHER)

#define ROW(name, ...) { #name, run_##name },
#define ROW_OF_OTHER(name, run) { #name, run },
static const struct { const char *name; grpo_status (*run)(call *r); } functions[] = { CALLS(ROW, ROW, ROW, ROW_OF_OTHER) };

/* fails if the case has an argument that the function does not read */
static void check_arguments(call *r) {
    if (*r->out->error || arrlen(r->read) == cJSON_GetArraySize(r->c->arguments)) return;
    r->out->unknown = 1;
    fail(r, "%.60s has an argument that is not known here", r->c->function);
}

call_result call_run_from(const test_case *c, int64_t first) {
    const size_t count = sizeof functions / sizeof *functions;
    size_t k = 0;
    call_result out;
    call r = { c, &c->batch, first, &out, NULL, NULL, NULL };
    memset(&out, 0, sizeof out);
    while (k < count && strcmp(functions[k].name + strlen("grpo_"), c->function)) k++;
    out.unknown = k == count;
    if (out.unknown) { fail(&r, "no function %.60s", c->function); return out; }
    out.answers = cJSON_CreateObject();
    check_status(&r, functions[k].run(&r));
    check_arguments(&r);
    if (!*out.error) add_answers(&r);
    else call_free(&out);
    for (ptrdiff_t j = 0; j < arrlen(r.memory); j++) free(r.memory[j]);
    arrfree(r.memory);
    arrfree(r.read);
    arrfree(r.answers);
    return out;
}

call_result call_run(const test_case *c) { return call_run_from(c, 0); }

void call_free(call_result *r) {
    cJSON_Delete(r->answers);
    r->answers = NULL;
}
