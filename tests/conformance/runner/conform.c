/* conform: sends the vectors to a program through the protocol, judges its answers and writes the report. */
#define _POSIX_C_SOURCE 200809L
#include "conventions.h"
#include "expectations.h"
#include "identify.h"
#include "metamorphic.h"
#include "options.h"
#include "repro.h"
#include "text.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct {
    const options *o;
    session s;
    diagnostician d;
    report r;
    int live;               /* standard error is a terminal: progress is shown there */
    int64_t files, file;
    case_file *kept;        /* stb_ds array: the files read so far, whose cases the diagnosis refers to */
    profile conventions;    /* the documented ones (conventions.json), for a program without a profile */
} run;

/* ---- one case ------------------------------------------------------------------------------------------------------------------- */

/* removes the outputs of a stage from the answer: they are not judged */
static void drop_stage(answer *found, stage_kind stage) {
    for (int k = 0; k < N_OUTPUTS; k++) {
        if (stage_of((output_kind)k) != stage) continue;
        free(found->of[k].value);
        free(found->of[k].given);
        memset(&found->of[k], 0, sizeof found->of[k]);
    }
}

/* where the given advantages are outside the range of the precision, the loss computed from them is not judged */
static void drop_loss_out_of_range(const rules *r, const question *q, answer *found) {
    const numbers *a = &q->expected.of[OUT_ADVANTAGE];
    int fits = 1;
    for (int64_t k = 0; k < a->count; k++) fits &= compare_holds(r->precision, a->value[k]);
    if (!fits) drop_stage(found, STAGE_LOSS);
}

static void fail_with(case_result *c, const char *before, const char *why) {
    char *t = NULL;
    text_format(&t, "%s%s", before, why);
    c->verdict = CASE_FAILED;
    c->reason = text_string(&t);
}

static void skip_with(case_result *c, const char *why) {
    c->verdict = CASE_SKIPPED;
    c->reason = text_copy(why);
}

/* removes the stages that the profile accepts from the mismatches and from the answer, so that the diagnosis leaves them out */
static void accept_stages(const run *r, const question *q, answer *found, mismatch **wrong, case_result *out) {
    for (int stage = 0; stage < N_STAGES; stage++) {
        ptrdiff_t left = 0;
        if (!judge_failed(*wrong, (stage_kind)stage)) continue;
        if (!profile_accepts(&r->o->profile, &r->o->rules, q, found, (stage_kind)stage, &out->conventions,
                             &out->rounding)) continue;
        for (ptrdiff_t k = 0; k < arrlen(*wrong); k++) if ((int)stage_of((*wrong)[k].output) != stage) (*wrong)[left++] = (*wrong)[k];
        arrsetlen(*wrong, (size_t)left);
        drop_stage(found, (stage_kind)stage);
        out->verdict = CASE_ACCEPTABLE;
    }
}

static void judge_result(run *r, const test_case *c, const cJSON *json, int result, case_result *out) {
    const char *missing;
    char error[200];
    answer found;
    question q;
    mismatch *wrong;
    if (answer_read(json, c, &found, error, sizeof error)) { fail_with(out, "its result is invalid: ", error); return; }
    missing = answer_missing(json, c);
    if (missing) { fail_with(out, "its result lacks an answer: ", missing); answer_free(&found); return; }
    q = question_of(c);
    drop_loss_out_of_range(&r->o->rules, &q, &found);
    wrong = judge(&r->o->rules, &q, &found, &out->judged, &out->worst);
    accept_stages(r, &q, &found, &wrong, out);
    if (arrlen(wrong)) out->verdict = CASE_FAILED;
    else if (!out->judged && c->kind != CASE_CALL) skip_with(out, "nothing was returned that the case has an expected value of");
    for (ptrdiff_t k = 0; k < arrlen(wrong); k++) {
        wrong_output w;
        w.m = wrong[k];
        answer_where(c, w.m.output, w.m.index, w.where, sizeof w.where);
        arrput(out->wrong, w);
    }
    diagnostician_keep(&r->d, result, &q, &found, wrong);
    arrfree(wrong);
}

/* judges the answer to a case of kind `refuse` */
static void judge_refusal(const test_case *c, const reply *answered, case_result *out) {
    char *t = NULL;
    if (answered->kind == REPLY_RESULT && !answered->result->child) skip_with(out, "nothing was returned");
    else if (answered->kind == REPLY_RESULT) fail_with(out, "it returned numbers for invalid input, which must be refused: ", c->reason);
    else if (!case_names_fault(c, answered->text)) {
        text_format(&t, "its error does not name %s: %s", c->field, answered->text);
        out->note = text_string(&t);
    }
}

static case_result run_case(run *r, const test_case *c) {
    double start = program_clock();
    const char *flag = options_leave_out(r->o, c);
    reply answered;
    case_result out;
    memset(&out, 0, sizeof out);
    out.id = text_copy(c->id);
    out.comment = cJSON_GetStringValue(json_get(c->json, "comment"));
    out.fragile = diagnostician_is_fragile(c);
    if (flag) {
        char why[80];
        snprintf(why, sizeof why, "--skip-flag %.60s", flag);
        skip_with(&out, why);
        return out;
    }
    answered = session_ask(&r->s, c);
    if (c->kind == CASE_REFUSE && answered.kind != REPLY_SKIP && answered.json) judge_refusal(c, &answered, &out);
    else switch (answered.kind) {
    case REPLY_RESULT: judge_result(r, c, answered.result, (int)arrlen(r->r.results), &out); break;
    case REPLY_SKIP: skip_with(&out, answered.text); break;
    case REPLY_ERROR:
        if (profile_accepts_error(&r->o->profile, &r->o->rules, c, answered.text, &out.conventions)) out.verdict = CASE_ACCEPTABLE;
        else fail_with(&out, "it reports an error: ", answered.text);
        break;
    case REPLY_BROKEN: fail_with(&out, "", answered.text); break;
    case REPLY_NONE:
        if (r->s.refused) skip_with(&out, r->s.over);
        else fail_with(&out, "", r->s.over);
        break;
    }
    out.seconds = program_clock() - start;
    reply_free(&answered);
    return out;
}

/* ---- all cases ------------------------------------------------------------------------------------------------------------------ */

static void show_progress(const run *r, const char *id) {
    if (!r->live) return;
    fprintf(stderr, "\r\033[K[%lld/%lld] %lld cases, %lld failed  %.60s", (long long)r->file, (long long)r->files,
            (long long)arrlen(r->r.results), (long long)r->r.failed, id);
}

static void hide_progress(const run *r) {
    if (r->live) fputs("\r\033[K", stderr);
}

/* runs the cases of a file; they are kept for the diagnosis, which comes after the last case */
static int run_file(run *r, const char *name) {
    case_file file;
    char error[512];
    if (case_list_load(r->o->vectors, name, &file, error, sizeof error)) {
        hide_progress(r);
        fprintf(stderr, "conform: %s/%s.json: %s\n", r->o->vectors, name, error);
        return 2;
    }
    for (int64_t k = 0; k < file.n_cases; k++) {
        case_result c;
        if (!options_want(r->o, file.cases[k].id)) continue;
        show_progress(r, file.cases[k].id);
        c = run_case(r, &file.cases[k]);
        c.variant = text_copy(name);
        c.evidence = file.evidence && *file.evidence ? text_copy(file.evidence) : NULL;
        r->r.failed += c.verdict == CASE_FAILED;
        arrput(r->r.results, c);
    }
    arrput(r->kept, file);
    return 0;
}

static int run_files(run *r, const case_list *list) {
    int status = 0;
    for (int64_t k = 0; k < list->count; k++) r->files += options_want_file(r->o, list->name[k]);
    for (int64_t k = 0; k < list->count && !status; k++) {
        if (!options_want_file(r->o, list->name[k])) continue;
        r->file++;
        status = run_file(r, list->name[k]);
    }
    hide_progress(r);
    return status;
}

static int status_of(const options *o, const report *r) {
    if (o->expect) return expectations_check(r, o->expect, arrlen(o->only) || arrlen(o->skip_flag));
    return r->failed || !(r->passed || r->acceptable) || (o->strict && r->acceptable) || (o->complete && r->skipped);
}

/* --repro: writes the case instead of the report */
static int write_repro(const run *r) {
    for (ptrdiff_t k = 0; k < arrlen(r->r.results); k++)
        for (ptrdiff_t f = 0; f < arrlen(r->kept); f++)
            for (int64_t n = 0; n < r->kept[f].n_cases && !strcmp(r->r.results[k].id, r->o->repro); n++)
                if (!strcmp(r->kept[f].cases[n].id, r->o->repro))
                    return (strcmp(r->o->format, "c") ? repro_write : repro_write_c)(&r->r, &r->kept[f].cases[n], (int)k);
    fprintf(stderr, "conform: --repro: %s was not run: no case has this id, or --only or --skip-flag excludes it\n", r->o->repro);
    return 2;
}

static int conclude(run *r) {
    int status = 0;
    r->r.d = &r->d;
    r->r.s = &r->s;
    r->r.r = &r->o->rules;
    r->r.profile = &r->o->profile;
    r->r.verbose = r->o->verbose;
    r->r.strict = r->o->strict;
    if (!r->o->profile.json && r->conventions.json && !r->o->strict) {
        conventions_accept(&r->conventions, &r->d, r->r.results);
        r->conventions.name = "documented conventions";
        r->r.profile = &r->conventions;
    }
    diagnostician_conclude(&r->d);
    report_group(&r->r);
    if (r->o->repro) status = write_repro(r);
    else r->o->write(&r->r);
    report_end(&r->r, &r->s, r->o->format);
    return r->o->repro ? status : status_of(r->o, &r->r);
}

static int run_vectors(const options *o) {
    run r;
    case_list list;
    int status;
    memset(&r, 0, sizeof r);
    r.o = o;
    r.live = isatty(2);
    if (case_list_read(o->vectors, &list) || !list.count) return fprintf(stderr, "conform: no vectors in %s\n", o->vectors), 2;
    if (!access(CONVENTIONS, R_OK) && profile_load(CONVENTIONS, &r.conventions)) return case_list_free(&list), 2;
    diagnostician_open(&r.d, o->vectors, &o->rules);
    session_open(&r.s, o->command, o->rules.precision->name, o->timeout);
    session_start(&r.s);
    status = run_files(&r, &list);
    if (!status) status = conclude(&r);
    else free(session_close(&r.s));
    report_free(&r.r);
    profile_free(&r.conventions);
    diagnostician_free(&r.d);
    for (ptrdiff_t k = 0; k < arrlen(r.kept); k++) case_file_free(&r.kept[k]);
    arrfree(r.kept);
    case_list_free(&list);
    return status;
}

int main(int argc, char **argv) {
    options o;
    int status = options_read(argc, argv, &o);
    if (!status && !o.done) status = o.identify ? identify(&o) : o.metamorphic ? metamorphic(&o) : run_vectors(&o);
    options_free(&o);
    return status;
}
