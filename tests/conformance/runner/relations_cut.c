/* Relations that cut a batch into parts of kind `split`: micro-batches, ranks, packed rows. */
#include "relations_changes.h"
#include "request.h"
#include <math.h>
#include <string.h>

static void round_to_float(cJSON *item) {
    for (cJSON *child = item->child, *next; child; child = next) {
        next = child->next;
        if (cJSON_IsNumber(child)) cJSON_ReplaceItemViaPointer(item, child, json_number((double)(float)child->valuedouble));
        else round_to_float(child);
    }
}

/* copies the advantages into the batch, rounded to binary32 like all numbers of a batch */
void give_advantages(cJSON *request) {
    cJSON *advantage = json_get(request, "advantage");
    if (!advantage) return;
    round_to_float(advantage);
    json_put(json_get(request, "batch"), "advantage", cJSON_Duplicate(advantage, 1));
}

static int is_finite(const cJSON *item) {
    int finite = !cJSON_IsString(item);
    for (const cJSON *child = item ? item->child : NULL; child && finite; child = child->next) finite = is_finite(child);
    return finite;
}

static cJSON *new_part(cJSON *parts, int rank) {
    cJSON *part = cJSON_CreateObject();
    cJSON_AddNumberToObject(part, "rank", rank);
    cJSON_AddItemToArray(parts, part);
    return part;
}

static int cut_groups(cJSON *request, int ranks) {
    cJSON *parts = cJSON_CreateArray();
    const int n = request_groups(request);
    for (int g = 0; g < n; g++)
        cJSON_AddItemToArray(cJSON_AddArrayToObject(new_part(parts, g % ranks), "groups"), cJSON_CreateNumber(g));
    json_put(request, "kind", cJSON_CreateString("split"));
    json_put(request, "parts", parts);
    json_put(request, "ranks", cJSON_CreateNumber(ranks));
    return n > 1 && is_finite(json_get(request, "advantage"));
}

int cut_micro_batches(cJSON *request) { return cut_groups(request, 1); }
int cut_over_ranks(cJSON *request) { return cut_groups(request, 2); }

/* a part for each group, two of its responses in a row */
int pack_in_rows(cJSON *request) {
    cJSON *parts = cJSON_CreateArray(), *rows = NULL, *row = NULL;
    int last = -1, packed = 0;
    for (int i = 0; i < request_sequences(request); i++) {
        const int g = request_group(request, i);
        if (g != last) rows = cJSON_AddArrayToObject(new_part(parts, 0), "rows");
        if (g != last || cJSON_GetArraySize(row) == 2) cJSON_AddItemToArray(rows, row = cJSON_CreateArray());
        else packed = 1;
        cJSON_AddItemToArray(row, cJSON_CreateNumber(i));
        last = g;
    }
    json_put(request, "kind", cJSON_CreateString("split"));
    json_put(request, "parts", parts);
    json_put(request, "ranks", cJSON_CreateNumber(1));
    return packed && is_finite(json_get(request, "advantage"));
}

void loss_and_gradient(const cJSON *request, cJSON *answer, int is_scale) {
    (void)request;
    (void)is_scale;
    for (cJSON *output = answer->child, *next; output; output = next) {
        next = output->next;
        if (strcmp(output->string, "loss") && strcmp(output->string, "dlogp")) cJSON_Delete(cJSON_DetachItemViaPointer(answer, output));
    }
}
