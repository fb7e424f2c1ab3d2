/* Reads, writes and compares the file of --expect. */
#include "expectations.h"
#include "text.h"
#include <stdio.h>
#include <stdlib.h>

enum { SHOWN = 20 };

/* "passed", "skipped", "acceptable", or "failed" with the outputs that are wrong */
static char *state_of(const case_result *c) {
    static const char *const verdicts[] = { "passed", "failed", "skipped", "acceptable" };
    char *t = NULL;
    text_add(&t, verdicts[c->verdict]);
    for (ptrdiff_t k = 0; k < arrlen(c->wrong); k++) text_format(&t, " %s", output_name[c->wrong[k].m.output]);
    return text_string(&t);
}

static int write_file(const report *r, const char *path) {
    char *t = NULL;
    FILE *f = fopen(path, "wb");
    size_t written;
    if (!f) return fprintf(stderr, "conform: %s cannot be written\n", path), 2;
    text_format(&t, "{\"precision\":\"%s\",\"cases\":{", r->s->precision);
    for (ptrdiff_t k = 0; k < arrlen(r->results); k++) {
        char *state = state_of(&r->results[k]);
        text_format(&t, "%s\n\"%s\":\"%s\"", k ? "," : "", r->results[k].id, state);
        free(state);
    }
    text_add(&t, "\n}}\n");
    written = fwrite(t, 1, (size_t)arrlen(t), f);
    if (fclose(f) || written != (size_t)arrlen(t)) return fprintf(stderr, "conform: %s cannot be written\n", path), 2;
    arrfree(t);
    fprintf(stderr, "conform: %s did not exist; it now has these results, and later runs are compared with them\n", path);
    return 1;
}

static void print_change(int *changes, const char *id, const char *before, const char *now) {
    if ((*changes)++ < SHOWN) fprintf(stderr, "conform: changed: %s: expected %s, found %s\n", id, before, now);
}

static int compare(const report *r, const cJSON *cases, int part) {
    int changes = 0, known = 0;
    for (ptrdiff_t k = 0; k < arrlen(r->results); k++) {
        const cJSON *before = json_get(cases, r->results[k].id);
        char *now = state_of(&r->results[k]);
        known += before != NULL;
        if (!cJSON_IsString(before)) print_change(&changes, r->results[k].id, "no result (the case is new)", now);
        else if (strcmp(before->valuestring, now)) print_change(&changes, r->results[k].id, before->valuestring, now);
        free(now);
    }
    if (!part && known < cJSON_GetArraySize(cases)) {
        fprintf(stderr, "conform: changed: %d cases are no longer there\n", cJSON_GetArraySize(cases) - known);
        changes++;
    }
    return changes;
}

int expectations_check(const report *r, const char *path, int part) {
    int there, changes;
    cJSON *json = text_json_file(path, &there);
    const cJSON *cases = json_get(json, "cases"), *precision = json_get(json, "precision");
    if (!there) return write_file(r, path);
    if (!cJSON_IsObject(cases) || !cJSON_IsString(precision) || strcmp(precision->valuestring, r->s->precision)) {
        cJSON_Delete(json);
        return fprintf(stderr, "conform: %s has no results in %s that --expect has written\n", path, r->s->precision), 2;
    }
    changes = compare(r, cases, part);
    cJSON_Delete(json);
    if (changes > SHOWN) fprintf(stderr, "conform: and %d more\n", changes - SHOWN);
    if (changes) fprintf(stderr, "conform: %d changes; if they are intended, delete %s and run again\n", changes, path);
    else fprintf(stderr, "conform: no changes from %s\n", path);
    return changes > 0;
}
