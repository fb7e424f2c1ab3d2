/* Reads and edits requests and answers as JSON. */
#include "request.h"
#include "../../support/case.h"
#include "../../support/field.h"
#include <float.h>
#include <math.h>
#include <stb_ds.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON ----------------------------------------------------------------------------------------------------------------------- */

void json_put(cJSON *object, const char *key, cJSON *item) {
    if (json_get(object, key)) cJSON_ReplaceItemInObjectCaseSensitive(object, key, item);
    else cJSON_AddItemToObject(object, key, item);
}

cJSON *json_number(double x) {
    if (x != x) return cJSON_CreateString("NaN");
    return grpo_is_finite(x) ? cJSON_CreateNumber(x) : cJSON_CreateString(x > 0 ? "Infinity" : "-Infinity");
}

cJSON *json_token(const cJSON *rows, int sequence, int token) {
    const cJSON *row = cJSON_GetArrayItem(rows, sequence);
    return row ? cJSON_GetArrayItem(row, token) : NULL;
}

void json_scale(cJSON *item, double factor) {
    if (cJSON_IsNumber(item)) cJSON_SetNumberHelper(item, item->valuedouble * factor);
    for (cJSON *child = item->child; child; child = child->next) json_scale(child, factor);
}

static int may_double(const cJSON *item) {
    int may = !cJSON_IsNumber(item) || fabs(item->valuedouble) < FLT_MAX / 4;
    for (const cJSON *child = item->child; child && may; child = child->next) may = may_double(child);
    return may;
}

int json_double(cJSON *item) {
    const int may = !item || may_double(item);
    if (item && may) json_scale(item, 2);
    return may;
}

/* ---- reading a request ---------------------------------------------------------------------------------------------------------- */

array_shape array_shape_of(const char *key) {
    static const char *const by_sequence = " group length reward rewards truncated excluded ";
    static const char *const by_group = " baseline log_partition dynamic_sampling_mask dlog_partition ";
    static const char *const by_nothing = " reward_weight weight dweight shards chunks loss report temperature ";
    char word[80];
    snprintf(word, sizeof word, " %s ", key);
    if (strstr(by_sequence, word)) return BY_SEQUENCE;
    if (strstr(by_group, word)) return BY_GROUP;
    return strstr(by_nothing, word) || !strncmp(key, "part_", 5) || !strncmp(key, "slice_", 6) ? BY_NOTHING : BY_TOKEN;
}

static const cJSON *any_rows(const cJSON *request) {
    const cJSON *rows = json_get(json_get(request, "batch"), "logp");
    return rows ? rows : json_get(request, "target");
}

int request_sequences(const cJSON *request) { return cJSON_GetArraySize(any_rows(request)); }
int request_length(const cJSON *request, int sequence) { return cJSON_GetArraySize(cJSON_GetArrayItem(any_rows(request), sequence)); }

int request_group(const cJSON *request, int sequence) {
    const cJSON *g = cJSON_GetArrayItem(json_get(json_get(request, "batch"), "group"), sequence);
    return g ? g->valueint : 0;
}

int request_groups(const cJSON *request) {
    int n = request_sequences(request);
    return n && json_get(json_get(request, "batch"), "group") ? request_group(request, n - 1) + 1 : 0;
}

int request_active(const cJSON *request, int sequence, int token) {
    const cJSON *mask = json_get(json_get(request, "batch"), "mask");
    return !mask || cJSON_IsTrue(json_token(mask, sequence, token));
}

static const cJSON *field_of(const cJSON *request, const char *path) {
    char axis[40];
    snprintf(axis, sizeof axis, "%.*s", (int)strcspn(path, "."), path);
    return json_get(json_get(json_get(request, "objective"), axis), strchr(path, '.') + 1);
}

static const char *first_choice(const char *path) {
    static char first[60];
    const grpo_field *field = field_named(path);
    if (field && field->n_choices) snprintf(first, sizeof first, "%.*s", (int)strcspn(field->choices, "|"), field->choices);
    return first;
}

const char *request_choice(const cJSON *request, const char *path) {
    const cJSON *item = field_of(request, path);
    return cJSON_IsString(item) ? item->valuestring : first_choice(path);
}

int request_always_has(const char *path) {
    static const char *const paths[] = { "advantage.baseline", "advantage.scale", "ratio.level", "surrogate.kind", "aggregation.kind" };
    for (size_t k = 0; k < sizeof paths / sizeof *paths; k++) if (!strcmp(path, paths[k])) return 1;
    return 0;
}

void request_reset(cJSON *request, const char *axis, const char *field) {
    cJSON *objective = json_get(request, "objective"), *fields = json_get(objective, axis);
    char path[100];
    if (!fields) return;
    snprintf(path, sizeof path, "%s.%s", axis, field);
    if (request_always_has(path)) json_put(fields, field, cJSON_CreateString(first_choice(path)));
    else cJSON_DeleteItemFromObjectCaseSensitive(fields, field);
    if (!fields->child) cJSON_DeleteItemFromObjectCaseSensitive(objective, axis);
}

double request_field(const cJSON *request, const char *path) {
    double x = 0;
    return case_number(field_of(request, path), &x) ? x : 0;
}

int request_is(const cJSON *request, const char *path, const char *words) {
    const char *choice = request_choice(request, path);
    size_t length = strlen(choice);
    for (const char *w = words; *w; w += strspn(w, " ")) {
        size_t n = strcspn(w, " ");
        if (n == length && !strncmp(w, choice, n)) return 1;
        w += n;
    }
    return 0;
}

/* ---- every array ---------------------------------------------------------------------------------------------------------------- */

static void each_of(cJSON *holder, array_edit *edit, void *user) {
    for (cJSON *item = holder ? holder->child : NULL, *next; item; item = next) {
        next = item->next;
        if (cJSON_IsArray(item)) edit(user, holder, item, array_shape_of(item->string));
    }
}

static int is_part_of_cut(const cJSON *item) { return !strcmp(item->string, "parts") || !strcmp(item->string, "filtered"); }

void request_each(cJSON *request, array_edit *edit, void *user) {
    for (cJSON *item = request->child, *next; item; item = next) {
        next = item->next;
        if (cJSON_IsArray(item) && !is_part_of_cut(item)) edit(user, request, item, array_shape_of(item->string));
    }
    each_of(json_get(request, "batch"), edit, user);
}

void answer_each(cJSON *answer, array_edit *edit, void *user) { each_of(answer, edit, user); }

/* ---- responses ------------------------------------------------------------------------------------------------------------------ */

selection selection_of_groups(const cJSON *request, const int *groups, int n) {
    selection s = { NULL, NULL, NULL };
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < request_sequences(request); i++) {
            if (request_group(request, i) != groups[k]) continue;
            arrput(s.sequence, i);
            arrput(s.group, k);
        }
        arrput(s.from_group, groups[k]);
    }
    return s;
}

void selection_reverse_responses(selection *s) {
    for (ptrdiff_t first = 0, last; first < arrlen(s->group); first = last + 1) {
        for (last = first; last + 1 < arrlen(s->group) && s->group[last + 1] == s->group[first]; last++) { }
        for (ptrdiff_t a = first, b = last; a < b; a++, b--) {
            int swapped = s->sequence[a];
            s->sequence[a] = s->sequence[b];
            s->sequence[b] = swapped;
        }
    }
}

void selection_drop(selection *s, int index) {
    int group = s->group[index], left = 0;
    arrdel(s->sequence, (size_t)index);
    arrdel(s->group, (size_t)index);
    for (ptrdiff_t k = 0; k < arrlen(s->group); k++) left += s->group[k] == group;
    if (left || !arrlen(s->from_group)) return;
    arrdel(s->from_group, (size_t)group);
    for (ptrdiff_t k = 0; k < arrlen(s->group); k++) s->group[k] -= s->group[k] > group;
}

void selection_free(selection *s) {
    arrfree(s->sequence);
    arrfree(s->group);
    arrfree(s->from_group);
}

static void pick(cJSON *holder, const char *key, const cJSON *array, const int *index) {
    cJSON *picked = cJSON_CreateArray();
    for (ptrdiff_t k = 0; k < arrlen(index); k++) {
        cJSON *item = cJSON_GetArrayItem(array, index[k]);
        if (item) cJSON_AddItemToArray(picked, cJSON_Duplicate(item, 1));
    }
    cJSON_ReplaceItemInObjectCaseSensitive(holder, key, picked);
}

static void select_in(void *user, cJSON *holder, cJSON *array, array_shape shape) {
    const selection *s = user;
    if (shape == BY_SEQUENCE || shape == BY_TOKEN) pick(holder, array->string, array, s->sequence);
    if (shape == BY_GROUP) pick(holder, array->string, array, s->from_group);
}

void request_select(cJSON *request, const selection *s) {
    selection all = *s;
    cJSON *group = json_get(json_get(request, "batch"), "group");
    request_each(request, select_in, &all);
    cJSON_DeleteItemFromObjectCaseSensitive(request, "chunks");
    if (group) json_put(json_get(request, "batch"), "group", cJSON_CreateIntArray(s->group, (int)arrlen(s->group)));
}

void answer_select(cJSON *answer, const selection *s) {
    selection all = *s;
    answer_each(answer, select_in, &all);
}

/* ---- tokens --------------------------------------------------------------------------------------------------------------------- */

typedef struct { int before, after; double fill; } padding;

/* the value of an added token: of the same type as the example */
static cJSON *filler(const char *key, const cJSON *like, double fill) {
    cJSON *vector;
    if (cJSON_IsBool(like)) return cJSON_CreateFalse();
    if (!strcmp(key, "target") || !strcmp(key, "state") || !strcmp(key, "token_id")) return cJSON_CreateNumber(0);
    if (!cJSON_IsArray(like)) return json_number(fill);
    vector = cJSON_CreateArray();
    for (int k = 0; k < cJSON_GetArraySize(like) && strcmp(key, "banned"); k++) cJSON_AddItemToArray(vector, json_number(fill));
    return vector;
}

static const cJSON *some_token(const cJSON *rows) {
    for (const cJSON *row = rows->child; row; row = row->next) if (row->child) return row->child;
    return NULL;
}

static void pad_in(void *user, cJSON *holder, cJSON *array, array_shape shape) {
    const padding *p = user;
    const cJSON *like;
    (void)holder;
    if (shape != BY_TOKEN || !(like = some_token(array))) return;
    for (cJSON *row = array->child; row; row = row->next) {
        for (int k = 0; k < p->before; k++) cJSON_InsertItemInArray(row, 0, filler(array->string, like, p->fill));
        for (int k = 0; k < p->after; k++) cJSON_AddItemToArray(row, filler(array->string, like, p->fill));
    }
}

static void add_mask(cJSON *request) {
    cJSON *batch = json_get(request, "batch"), *mask;
    if (!batch || json_get(batch, "mask")) return;
    mask = cJSON_AddArrayToObject(batch, "mask");
    for (int i = 0; i < request_sequences(request); i++) {
        cJSON *row = cJSON_CreateArray();
        for (int t = 0; t < request_length(request, i); t++) cJSON_AddItemToArray(row, cJSON_CreateTrue());
        cJSON_AddItemToArray(mask, row);
    }
}

void request_pad(cJSON *request, int before, int after, double fill) {
    padding p = { 0, 0, 0 };
    cJSON *length = json_get(json_get(request, "batch"), "length");
    p.before = before;
    p.after = after;
    p.fill = fill;
    add_mask(request);
    request_each(request, pad_in, &p);
    cJSON_DeleteItemFromObjectCaseSensitive(request, "chunks");
    for (cJSON *n = length ? length->child : NULL; n; n = n->next) cJSON_SetNumberValue(n, n->valuedouble + before + after);
}

void answer_pad(cJSON *answer, int before, int after) {
    padding p = { 0, 0, 0 };
    p.before = before;
    p.after = after;
    answer_each(answer, pad_in, &p);
}

typedef struct { int sequence, token; } place;

static void drop_in(void *user, cJSON *holder, cJSON *array, array_shape shape) {
    const place *p = user;
    (void)holder;
    if (shape == BY_TOKEN) cJSON_DeleteItemFromArray(cJSON_GetArrayItem(array, p->sequence), p->token);
}

void request_drop_token(cJSON *request, int sequence, int token) {
    place p = { 0, 0 };
    cJSON *length = cJSON_GetArrayItem(json_get(json_get(request, "batch"), "length"), sequence);
    p.sequence = sequence;
    p.token = token;
    request_each(request, drop_in, &p);
    cJSON_DeleteItemFromObjectCaseSensitive(request, "chunks");
    if (length) cJSON_SetNumberValue(length, length->valuedouble - 1);
}
