/* --metamorphic: runs the relations on every case, and reduces the smallest failing case of each. */
#define _POSIX_C_SOURCE 200809L
#include "metamorphic.h"
#include "full_batch.h"
#include "request.h"
#include "shrink.h"
#include "text.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct {
    const options *o;
    session s;
    report r;
    trial *smallest;            /* (relations) the failing trial with the fewest numbers; `what` NULL: none failed */
    int *result, *outputs;      /* (relations) of that trial: its index in the report, and the outputs that the relation holds for */
    int live;                   /* standard error is a terminal: progress is shown there */
} run;

/* ---- which outputs -------------------------------------------------------------------------------------------------------------- */

static int is_stated(const options *o, const char *property) {
    for (ptrdiff_t k = 0; k < arrlen(o->holds); k++) if (!strcmp(o->holds[k], property)) return 1;
    return 0;
}

/* with --objective-fixed a relation holds as --holds states */
static int outputs_if_fixed(const options *o, const relation *rel) {
    if (!rel->property) return 0;
    if (rel->property[0] == '!') return is_stated(o, rel->property + 1) ? 0 : OF_ALL;
    return !*rel->property || is_stated(o, rel->property) ? OF_ALL : 0;
}

/* are all numbers within the range of the precision? */
static int is_in_range(const compare_precision *p, const cJSON *json) {
    double x;
    int fits = !case_number(json, &x) || compare_holds(p, x);
    for (const cJSON *child = json ? json->child : NULL; child && fits; child = child->next) fits = is_in_range(p, child);
    return fits;
}

static int outputs_of(const run *r, const relation *rel, const cJSON *request) {
    int outputs = r->o->objective_fixed ? outputs_if_fixed(r->o, rel) : rel->holds(request);
    return is_in_range(r->o->rules.precision, json_get(request, "advantage")) ? outputs : outputs & OF_ADVANTAGE;
}

/* ---- one request ---------------------------------------------------------------------------------------------------------------- */

static int64_t numbers_in(const cJSON *json) {
    int64_t n = 1;
    for (const cJSON *child = json ? json->child : NULL; child; child = child->next) n += numbers_in(child);
    return n;
}

/* takes ownership of the trial */
static void keep_smallest(run *r, int rel, trial *t, int outputs) {
    trial *best = &r->smallest[rel];
    if (best->what && numbers_in(best->request) <= numbers_in(t->request)) { trial_free(t); return; }
    trial_free(best);
    *best = *t;
    r->result[rel] = (int)arrlen(r->r.results);
    r->outputs[rel] = outputs;
}

static void add_result(run *r, int rel, const char *id, const char *variant, trial *t, int outputs, double seconds) {
    case_result out;
    char *text = NULL;
    memset(&out, 0, sizeof out);
    text_format(&text, "%s/%s", id, relations[rel].name);
    out.id = text_string(&text);
    out.variant = text_copy(variant);
    out.verdict = t->kind == TRIAL_BROKEN ? CASE_FAILED : t->kind == TRIAL_SKIPPED ? CASE_SKIPPED : CASE_PASSED;
    out.judged = t->judged;
    out.worst = t->worst;
    out.seconds = seconds;
    if (t->kind == TRIAL_BROKEN) text_format(&text, "%s does not hold: ", relations[rel].name);
    if (t->what) { text_add(&text, t->what); out.reason = text_string(&text); }
    if (t->kind == TRIAL_BROKEN) { r->r.failed++; keep_smallest(r, rel, t, outputs); }
    else trial_free(t);
    arrput(r->r.results, out);
}

/* Checks all relations on one request.  The answer to the unchanged request is shared; if there is none, one result says why, and the
 * other relations are left out. */
static void try_relations(run *r, const test_case *c, const char *variant, const cJSON *request, const cJSON *scale) {
    asker a;
    trial first;
    cJSON *base = NULL;
    int asked = 0;
    a.s = &r->s;
    a.r = &r->o->rules;
    a.c = c;
    for (int k = 0; k < n_relations; k++) {
        double start = program_clock();
        const int outputs = outputs_of(r, &relations[k], request);
        trial t;
        if (!outputs) continue;
        memset(&first, 0, sizeof first);
        if (!asked && !relations[k].prepare) { base = request_ask(&a, request, &first); asked = base != NULL; }
        if (first.what) { add_result(r, k, c->id, variant, &first, outputs, program_clock() - start); break; }
        t = relation_try(&a, &relations[k], request, base, scale, outputs);
        if (t.kind == TRIAL_NOTHING) trial_free(&t);
        else add_result(r, k, c->id, variant, &t, outputs, program_clock() - start);
    }
    cJSON_Delete(base);
}

/* ---- all cases ------------------------------------------------------------------------------------------------------------------ */

static void show_progress(const run *r, const char *id) {
    if (!r->live) return;
    fprintf(stderr, "\r\033[K%lld relations checked, %lld failed  %.60s", (long long)arrlen(r->r.results), (long long)r->r.failed, id);
}

static void try_case(run *r, const char *variant, const test_case *c) {
    char *text;
    cJSON *request;
    if (c->kind != CASE_OBJECTIVE && !case_has_rows(c)) return;
    show_progress(r, c->id);
    text = session_case(c);
    request = cJSON_Parse(text);
    try_relations(r, c, variant, request, json_get(c->json, "scale"));
    cJSON_Delete(request);
    free(text);
}

static int try_file(run *r, const char *name) {
    case_file file;
    char error[512];
    if (case_list_load(r->o->vectors, name, &file, error, sizeof error))
        return fprintf(stderr, "conform: %s/%s.json: %s\n", r->o->vectors, name, error), 2;
    for (int64_t k = 0; k < file.n_cases; k++)
        if (options_want(r->o, file.cases[k].id) && !options_leave_out(r->o, &file.cases[k])) try_case(r, name, &file.cases[k]);
    case_file_free(&file);
    return 0;
}

static int try_vectors(run *r) {
    case_list list;
    int status = 0;
    if (case_list_read(r->o->vectors, &list) || !list.count) return fprintf(stderr, "conform: no vectors in %s\n", r->o->vectors), 2;
    for (int64_t k = 0; k < list.count && !status; k++)
        if (options_want_file(r->o, list.name[k])) status = try_file(r, list.name[k]);
    case_list_free(&list);
    return status;
}

/* adds a mask to a full batch */
static void mask_some(cJSON *request) {
    cJSON *mask = cJSON_AddArrayToObject(json_get(request, "batch"), "mask");
    for (int i = 0; i < request_sequences(request); i++) {
        cJSON *row = cJSON_CreateArray();
        for (int t = 0; t < request_length(request, i); t++) cJSON_AddItemToArray(row, cJSON_CreateBool(t == 0 || (i + t) % 3 != 0));
        cJSON_AddItemToArray(mask, row);
    }
}

static void try_fixed(run *r) {
    grpo_objective any;
    if (grpo_objective_named("grpo", &any)) abort();
    for (int k = 0; k < N_FULL_BATCHES; k++) {
        test_case c;
        cJSON *request = full_batch_read(k, &any, &c);
        if (options_want(r->o, c.id)) {
            mask_some(request);
            try_relations(r, &c, "full", request, NULL);
        }
        case_free(&c);
        cJSON_Delete(request);
    }
}

static void shrink_broken(run *r) {
    for (int k = 0; k < n_relations; k++) {
        test_case any;
        asker a;
        if (!r->smallest[k].what || !r->smallest[k].changed_answer) continue;
        memset(&any, 0, sizeof any);
        a.s = &r->s;
        a.r = &r->o->rules;
        a.c = &any;
        r->r.results[r->result[k]].minimal = shrink(&a, &relations[k], &r->smallest[k], r->outputs[k], r->o->objective_fixed);
    }
}

/* puts into the hint of each group what its relation is */
static void explain_groups(report *r) {
    for (ptrdiff_t k = 0; k < arrlen(r->groups); k++)
        for (int n = 0; n < n_relations; n++) {
            const size_t length = strlen(relations[n].name);
            char *t = NULL;
            if (strncmp(r->groups[k].reason, relations[n].name, length) || r->groups[k].reason[length] != ' ') continue;
            text_format(&t, "when %s: %s", relations[n].changed, relations[n].follows);
            r->groups[k].hint = text_string(&t);
        }
}

static int conclude(run *r) {
    diagnostician none;
    memset(&none, 0, sizeof none);
    r->r.d = &none;
    r->r.s = &r->s;
    r->r.r = &r->o->rules;
    r->r.profile = &r->o->profile;
    r->r.verbose = r->o->verbose;
    report_group(&r->r);
    explain_groups(&r->r);
    r->o->write(&r->r);
    report_end(&r->r, &r->s, r->o->format);
    return r->r.failed || !r->r.passed || (r->o->complete && r->r.skipped);
}

int metamorphic(const options *o) {
    run r;
    int status = 0;
    memset(&r, 0, sizeof r);
    r.o = o;
    r.live = isatty(2);
    r.smallest = calloc((size_t)n_relations, sizeof *r.smallest);
    r.result = calloc((size_t)n_relations, sizeof *r.result);
    r.outputs = calloc((size_t)n_relations, sizeof *r.outputs);
    if (!r.smallest || !r.result || !r.outputs) abort();
    session_open(&r.s, o->command, o->rules.precision->name, o->timeout);
    session_start(&r.s);
    if (o->objective_fixed) try_fixed(&r);
    else status = try_vectors(&r);
    shrink_broken(&r);
    if (r.live) fputs("\r\033[K", stderr);
    if (!status) status = conclude(&r);
    else free(session_close(&r.s));
    for (int k = 0; k < n_relations; k++) trial_free(&r.smallest[k]);
    free(r.smallest);
    free(r.result);
    free(r.outputs);
    report_free(&r.r);
    return status;
}
