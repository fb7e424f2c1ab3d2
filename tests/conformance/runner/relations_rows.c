/* Relations of logits and hidden states: the vocabulary, the temperature, banned tokens, a constant added to a row. */
#include "relations_changes.h"
#include "request.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int vocabulary(const cJSON *request) {
    const cJSON *weight = json_get(request, "weight");
    if (weight) return cJSON_GetArraySize(weight);
    for (const cJSON *row = json_get(request, "logits")->child; row; row = row->next) if (row->child) return cJSON_GetArraySize(row->child);
    return 0;
}

/* ---- the vocabulary in reverse order -------------------------------------------------------------------------------------------- */

static void reverse(cJSON *array) {
    for (cJSON *item = array ? array->child : NULL, *next; item; item = next) {
        next = item->next;
        cJSON_InsertItemInArray(array, 0, cJSON_DetachItemViaPointer(array, item));
    }
}

/* of every token */
static void reverse_vectors(cJSON *rows) {
    for (cJSON *row = rows ? rows->child : NULL; row; row = row->next)
        for (cJSON *vector = row->child; vector; vector = vector->next) reverse(vector);
}

static void count_from_the_end(cJSON *item, int n) {
    if (cJSON_IsNumber(item)) cJSON_SetNumberHelper(item, n - 1 - item->valuedouble);
    for (cJSON *child = item ? item->child : NULL; child; child = child->next) count_from_the_end(child, n);
}

int reverse_vocabulary(cJSON *request) {
    const int n = vocabulary(request);
    reverse_vectors(json_get(request, "logits"));
    reverse(json_get(request, "weight"));
    reverse(json_get(request, "shards"));
    count_from_the_end(json_get(request, "target"), n);
    count_from_the_end(json_get(request, "banned"), n);
    return n > 1;
}

void vocabulary_reversed(const cJSON *request, cJSON *answer, int is_scale) {
    (void)request;
    (void)is_scale;
    reverse_vectors(json_get(answer, "dlogits"));
    reverse(json_get(answer, "dweight"));
}

/* ---- the temperature ------------------------------------------------------------------------------------------------------------ */

/* of hidden states it is the projection that is multiplied */
int double_temperature(cJSON *request) {
    cJSON *weight = json_get(request, "weight"), *logits = weight ? weight : json_get(request, "logits");
    if (!json_double(logits)) return 0;
    json_scale(json_get(request, "temperature"), 2);
    return 1;
}

void temperature_doubled(const cJSON *request, cJSON *answer, int is_scale) {
    (void)request;
    (void)is_scale;
    if (json_get(answer, "dlogits")) json_scale(json_get(answer, "dlogits"), 0.5);
    if (json_get(answer, "dweight")) json_scale(json_get(answer, "dweight"), 0.5);
}

/* ---- banned tokens -------------------------------------------------------------------------------------------------------------- */

int poison_banned(cJSON *request) {
    const cJSON *list = json_get(request, "banned"), *tokens, *token;
    cJSON *logits = json_get(request, "logits"), *row, *vector;
    int poisoned = 0;
    for (list = list ? list->child : NULL, row = logits ? logits->child : NULL; list && row; list = list->next, row = row->next)
        for (tokens = list->child, vector = row->child; tokens && vector; tokens = tokens->next, vector = vector->next)
            for (token = tokens->child; token; token = token->next, poisoned++)
                cJSON_ReplaceItemInArray(vector, token->valueint, cJSON_CreateNumber(poisoned % 2 ? -64.5 : 96.25));
    return poisoned;
}

/* ---- a constant added to a row of logits ------------------------------------------------------------------------------------------ */

/* a constant with which every sum is exact in a float; 0: there is none */
static double shift_of_row(const cJSON *vector, int turn) {
    static const double shifts[] = { 1, -0.5, 0.25, -2 };
    for (int k = 0; k < 4; k++) {
        const double shift = shifts[(k + turn) % 4];
        int fine = 1;
        for (const cJSON *z = vector->child; z && fine; z = z->next)
            fine = cJSON_IsString(z) || (double)(float)(z->valuedouble + shift) == z->valuedouble + shift;
        if (fine) return shift;
    }
    return 0;
}

int shift_logits(cJSON *request) {
    int shifted = 0, turn = 0;
    for (cJSON *row = json_get(request, "logits")->child; row; row = row->next)
        for (cJSON *vector = row->child; vector; vector = vector->next) {
            const double shift = shift_of_row(vector, turn++);
            for (cJSON *z = vector->child; z && shift != 0; z = z->next)
                if (cJSON_IsNumber(z)) { cJSON_SetNumberHelper(z, z->valuedouble + shift); shifted = 1; }
        }
    return shifted;
}

/* The scale of log p is |z| + S, that of the entropy 2 S, with S = sum p |z| + H.  The shift makes each |z| larger by at most shift/tau, so
 * both scales by at most twice that. */
void logits_shifted(const cJSON *request, cJSON *answer, int is_scale) {
    static const char *const keys[] = { "logp", "entropy" };
    const double tau = json_get(request, "temperature")->valuedouble;
    for (size_t k = 0; k < 2 && is_scale; k++) {
        const cJSON *row = json_get(request, "logits")->child;
        cJSON *scales = json_get(answer, keys[k]) ? json_get(answer, keys[k])->child : NULL;
        int turn = 0;
        for (; row && scales; row = row->next, scales = scales->next) {
            const cJSON *vector = row->child;
            for (cJSON *x = scales->child; x && vector; x = x->next, vector = vector->next)
                if (cJSON_IsNumber(x)) cJSON_SetNumberHelper(x, x->valuedouble + 2 * fabs(shift_of_row(vector, turn++)) / tau);
        }
    }
}
