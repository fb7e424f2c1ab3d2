/* Sends a request and its changed form, and compares the answers number by number. */
#include "trial.h"
#include "gradient.h"
#include "request.h"
#include "text.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- requests ------------------------------------------------------------------------------------------------------------------- */

char *trial_words(const char *before, const char *after) {
    char *t = NULL;
    text_format(&t, "%s%s", before, after ? after : "");
    return text_string(&t);
}

static void broken_by(trial *t, const char *before, const char *after) {
    t->kind = TRIAL_BROKEN;
    t->what = trial_words(before, after);
}

static void skipped_by(trial *t, const char *before, const char *after) {
    t->kind = TRIAL_SKIPPED;
    t->what = trial_words(before, after);
}

cJSON *request_ask(const asker *a, const cJSON *request, trial *t) {
    char *line = NULL, *text;
    reply answered;
    cJSON *result = NULL;
    text_json(&line, request);
    text = text_string(&line);
    answered = session_ask_json(a->s, text, a->c);
    free(text);
    switch (answered.kind) {
    case REPLY_RESULT: result = cJSON_Duplicate(answered.result, 1); break;
    case REPLY_SKIP: skipped_by(t, "", answered.text); break;
    case REPLY_ERROR: skipped_by(t, "it reports an error: ", answered.text); break;
    case REPLY_BROKEN: broken_by(t, "", answered.text); break;
    case REPLY_NONE:
        if (a->s->refused) skipped_by(t, a->s->over, NULL);
        else broken_by(t, a->s->over, NULL);
        break;
    }
    reply_free(&answered);
    return result;
}

/* an error for the changed request, after an answer to the unchanged one, is a failure */
static cJSON *ask_changed(const asker *a, const cJSON *request, trial *t) {
    cJSON *result = request_ask(a, request, t);
    if (t->kind == TRIAL_SKIPPED && !strncmp(t->what, "it reports", 10)) t->kind = TRIAL_BROKEN;
    return result;
}

void trial_free(trial *t) {
    free(t->what);
    cJSON_Delete(t->request);
    cJSON_Delete(t->answer);
    cJSON_Delete(t->changed);
    cJSON_Delete(t->changed_answer);
    memset(t, 0, sizeof *t);
}

/* ---- sizes ---------------------------------------------------------------------------------------------------------------------- */

static double finite_size(const cJSON *item) {
    double x = 0;
    return case_number(item, &x) && grpo_is_finite(x) ? fabs(x) : 0;
}

static double largest(const cJSON *item) {
    double most = finite_size(item);
    for (const cJSON *child = item ? item->child : NULL; child; child = child->next) most = fmax(most, largest(child));
    return most;
}

static double total(const cJSON *item) {
    double sum = finite_size(item);
    for (const cJSON *child = item ? item->child : NULL; child; child = child->next) sum += total(child);
    return sum;
}

static void fill(cJSON *item, double size) {
    if (cJSON_IsNumber(item)) cJSON_SetNumberHelper(item, size);
    for (cJSON *child = item->child, *next; child; child = next) {
        next = child->next;
        if (!cJSON_IsString(child)) fill(child, size);
        else if (child->string) json_put(item, child->string, cJSON_CreateNumber(size));
        else cJSON_ReplaceItemViaPointer(item, child, cJSON_CreateNumber(size));
    }
}

/* a loss may be small by cancellation: its size includes that of its gradients and of its largest term */
cJSON *sizes_of(const cJSON *of) {
    cJSON *sizes = cJSON_Duplicate(of, 1), *report = json_get(sizes, "report");
    double loss = total(json_get(of, "loss")) + total(json_get(of, "dlogp")) + largest(json_get(of, "term"));
    fill(sizes, 0);
    for (cJSON *output = sizes->child; output; output = output->next) fill(output, largest(json_get(of, output->string)));
    if (json_get(sizes, "loss")) json_put(sizes, "loss", cJSON_CreateNumber(loss));
    for (cJSON *m = report ? report->child : NULL; m; m = m->next) cJSON_SetNumberHelper(m, fmax(loss, fmax(1, m->valuedouble)));
    return sizes;
}

/* ---- comparing ------------------------------------------------------------------------------------------------------------------ */

typedef struct { trial *t; const rules *r; const char *output; double worst; } comparison;

static void note(comparison *c, const char *where, const cJSON *must, const cJSON *found, double error) {
    char *t = NULL;
    if (!(error > c->r->tolerance) || !(error > c->worst)) return;
    c->worst = error;
    text_format(&t, "%s: expected ", where);
    text_json(&t, must);
    text_add(&t, ", found ");
    text_json(&t, found);
    if (grpo_is_finite(error)) text_format(&t, " (error %.3g eps of scale)", error);
    free(c->t->what);
    c->t->what = text_string(&t);
    c->t->kind = TRIAL_BROKEN;
    snprintf(c->t->where, sizeof c->t->where, "%.79s", where);
    snprintf(c->t->output, sizeof c->t->output, "%.39s", c->output);
}

static void compare_leaf(comparison *c, const char *where, const cJSON *must, const cJSON *found, const cJSON *scale) {
    double x, y, s = 0, error;
    if (cJSON_IsBool(must) || cJSON_IsBool(found)) {
        c->t->judged++;
        note(c, where, must, found, cJSON_IsTrue(must) == cJSON_IsTrue(found) ? 0 : HUGE_VAL);
        return;
    }
    if (!case_number(must, &x) || !case_number(found, &y)) { note(c, where, must, found, HUGE_VAL); return; }
    c->t->judged++;
    if (!scale || !case_number(scale, &s)) s = fabs(x);
    error = x == y || (x != x && y != y) ? 0 : x != x || y != y ? HUGE_VAL : compare_error_in(c->r->precision, y, x, s);
    c->t->worst = fmax(c->t->worst, error);
    note(c, where, must, found, error);
}

static void compare_items(comparison *c, const char *where, const cJSON *must, const cJSON *found, const cJSON *scale) {
    const cJSON *y = found->child, *s = scale ? scale->child : NULL;
    char place[80];
    int k = 0;
    if (cJSON_GetArraySize(must) != cJSON_GetArraySize(found)) {
        note(c, where, must, found, HUGE_VAL);
        return;
    }
    for (const cJSON *x = must->child; x; x = x->next, y = y->next, s = s ? s->next : NULL) {
        snprintf(place, sizeof place, "%.60s[%d]", where, k++);
        if (cJSON_IsArray(x) && cJSON_IsArray(y)) compare_items(c, place, x, y, s);
        else compare_leaf(c, place, x, y, s);
    }
}

static void compare_reports(comparison *c, const cJSON *must, const cJSON *found, const cJSON *scale) {
    char place[80];
    for (const cJSON *x = must->child; x; x = x->next) {
        const cJSON *y = json_get(found, x->string);
        snprintf(place, sizeof place, "report.%.60s", x->string);
        if (y) compare_leaf(c, place, x, y, json_get(scale, x->string));
    }
}

/* outputs without a scale are not in the case, and are not judged */
static void compare_answers(comparison *c, const cJSON *must, const cJSON *found, const cJSON *scale, int outputs) {
    for (const cJSON *x = must->child; x; x = x->next) {
        const cJSON *y = json_get(found, x->string), *s = json_get(scale, x->string);
        const int flags = !strcmp(x->string, "dynamic_sampling_mask");
        if (!y || !(output_part(x->string) & outputs) || (!s && !flags)) continue;
        c->output = x->string;
        if (cJSON_IsObject(x)) compare_reports(c, x, y, s);
        else if (cJSON_IsArray(x)) compare_items(c, x->string, x, y, s);
        else compare_leaf(c, x->string, x, y, s);
    }
}

/* ---- a relation ----------------------------------------------------------------------------------------------------------------- */

static void judge_change(const asker *a, const relation *rel, const cJSON *scale, int outputs, trial *t) {
    comparison c = { NULL, NULL, "", -1 };
    cJSON *must = cJSON_Duplicate(t->answer, 1), *sizes = scale ? cJSON_Duplicate(scale, 1) : sizes_of(t->answer);
    c.t = t;
    c.r = a->r;
    rel->follow(t->request, must, 0);
    rel->follow(t->request, sizes, 1);
    compare_answers(&c, must, t->changed_answer, sizes, outputs);
    if (!t->judged && t->kind == TRIAL_HELD) t->kind = TRIAL_NOTHING;
    cJSON_Delete(must);
    cJSON_Delete(sizes);
}

trial relation_try(const asker *a, const relation *rel, const cJSON *request, const cJSON *base, const cJSON *scale, int outputs) {
    trial t;
    memset(&t, 0, sizeof t);
    t.request = cJSON_Duplicate(request, 1);
    if (rel->prepare) rel->prepare(t.request);
    if (!rel->change) { try_gradient(a, base, scale, &t); return t; }
    t.changed = cJSON_Duplicate(t.request, 1);
    if (!rel->change(t.changed)) { t.kind = TRIAL_NOTHING; return t; }
    t.answer = base && !rel->prepare ? cJSON_Duplicate(base, 1) : request_ask(a, t.request, &t);
    if (t.answer) t.changed_answer = ask_changed(a, t.changed, &t);
    if (t.changed_answer) judge_change(a, rel, scale, outputs, &t);
    return t;
}
