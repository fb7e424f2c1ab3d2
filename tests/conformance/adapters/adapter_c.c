/* adapter_c [--as PRESET] [--set PATH=VALUE]...: the adapter of grpo.h and gspo.h; built with double elements, and as adapter_c_f32 with
 * float.  With the options it computes another objective than case.objective, to see what the runner reports then. */
#define _POSIX_C_SOURCE 200809L
#include "../../extra/call_run.h"
#include "../../logits/rows_run.h"
#include "../../support/status.h"
#include "../../support/compare.h"
#include "../../support/split_run.h"
#include "../runner/text.h"
#include <stdio.h>
#include <stdlib.h>

#ifdef GRPO_DOUBLE
#define PRECISION "f64"
#else
#define PRECISION "f32"
#endif

/* ---- writing -------------------------------------------------------------------------------------------------------------------- */

static void write_rows(char **t, const char *key, const test_case *c, const grpo_real *x) {
    text_format(t, "\"%s\":[", key);
    for (int64_t i = 0; i < c->n_sequences; i++) {
        text_add(t, i ? ",[" : "[");
        for (int64_t k = 0; k < c->batch.length[i]; k++) {
            text_add(t, k ? "," : "");
            text_number(t, (double)x[c->batch.offset[i] + k]);
        }
        text_add(t, "]");
    }
    text_add(t, "],");
}

static void write_report(char **t, const grpo_report *report) {
    double value;
    text_add(t, "\"report\":{");
    for (int n = 0; compare_metric_name(n); n++) {
        if (!compare_metric(report, compare_metric_name(n), &value)) continue;
        text_format(t, "%s\"%s\":", n ? "," : "", compare_metric_name(n));
        text_number(t, value);
    }
    text_add(t, "},");
}

static void write_groups(char **t, const char *key, const test_case *c, const grpo_real *x) {
    text_format(t, "\"%s\":[", key);
    for (int64_t g = 0; g < c->batch.n_groups; g++) {
        if (g) text_add(t, ",");
        text_number(t, (double)x[g]);
    }
    text_add(t, "],");
}

static void write_loss(char **t, const test_case *c, const outcome *o) {
    text_add(t, "\"loss\":");
    text_number(t, o->report.loss);
    text_add(t, ",");
    write_rows(t, "dlogp", c, o->dlogp);
    if (c->objective.penalty.entropy_coef != 0 && o->dentropy) write_rows(t, "dentropy", c, o->dentropy);
    if (c->objective.penalty.kl == GRPO_KL_EXTERNAL && o->ddivergence_ref) write_rows(t, "ddivergence_ref", c, o->ddivergence_ref);
    if (c->objective.surrogate.kind == GRPO_SURROGATE_TRAJECTORY_BALANCE && o->dlog_partition) write_groups(t, "dlog_partition", c,
        o->dlog_partition);
    if (!o->term) return;
    write_rows(t, "term", c, o->term);
    write_report(t, &o->report);
}

/* ---- another objective than case.objective -------------------------------------------------------------------------------------- */

static char **settings;     /* the options on the command line */

static grpo_status set_text(grpo_objective *obj, char *setting) {
    char *value = strchr(setting, '='), *end;
    grpo_status st;
    double number;
    if (!value) return GRPO_UNKNOWN;
    *value++ = 0;
    number = strtod(value, &end);
    st = *end || end == value ? grpo_objective_choose(obj, setting, value) : grpo_objective_set(obj, setting, number);
    value[-1] = '=';
    return st;
}

/* applies the options to the objective */
static grpo_status apply_settings(grpo_objective *obj) {
    grpo_status st = GRPO_OK;
    for (char **a = settings; *a && !st; a += 2) {
        if (!a[1]) return GRPO_UNKNOWN;
        if (!strcmp(*a, "--as")) st = grpo_objective_named(a[1], obj);
        else st = strcmp(*a, "--set") ? GRPO_UNKNOWN : set_text(obj, a[1]);
    }
    return st;
}

/* ---- evaluating ----------------------------------------------------------------------------------------------------------------- */

static grpo_status answer_advantages(char **t, const test_case *c) {
    outcome o = outcome_of_advantages(c, &c->objective);
    uint8_t *keep = malloc((size_t)c->batch.n_groups + 1);
    grpo_status st = o.status;
    if (!keep) abort();
    if (!st) write_rows(t, "advantage", c, o.advantage);
    if (!st && !grpo_dynamic_sampling_mask(&c->batch, keep)) {
        text_add(t, "\"dynamic_sampling_mask\":[");
        for (int64_t g = 0; g < c->batch.n_groups; g++) text_format(t, "%s%s", g ? "," : "", keep[g] ? "true" : "false");
        text_add(t, "],");
    }
    outcome_free(&o);
    free(keep);
    return st;
}

static void write_doubles(char **t, const char *key, const double *x, int64_t n) {
    text_format(t, "\"%s\":[", key);
    for (int64_t k = 0; k < n; k++) { text_add(t, k ? "," : ""); text_number(t, x[k]); }
    text_add(t, "],");
}

/* a list of a split; left out if a number in it was not computed, which is NaN */
static void write_list(char **t, const char *key, const double *x, int64_t n) {
    for (int64_t k = 0; k < n; k++) if (x[k] != x[k]) return;
    write_doubles(t, key, x, n);
}

static grpo_status answer_split(char **t, const test_case *c, const grpo_real *advantage) {
    split_outcome o = split_run(c, advantage);
    if (!o.status) {
        text_add(t, "\"loss\":");
        text_number(t, o.loss);
        text_add(t, ",");
        write_rows(t, "dlogp", c, o.dlogp);
        for (int k = 0; k < CASE_N_LISTS; k++) if (o.list[k]) write_list(t, case_list_name[k], o.list[k], case_list_size(c, k));
    }
    split_outcome_free(&o);
    return o.status;
}

static grpo_status answer_whole(char **t, const test_case *c, const grpo_real *advantage) {
    outcome o = outcome_of_parts(c, &c->objective, advantage, gspo_loss_add);
    grpo_status st = o.status;
    if (!st) write_loss(t, c, &o);
    outcome_free(&o);
    return st;
}

/* of invalid input: evaluates everything, advantages and loss, so that every check of the input is reached */
static grpo_status answer_refusal(char **t, const test_case *c) {
    outcome o = outcome_of_advantages(c, &c->objective);
    grpo_real *advantage = c->given ? compare_expected_advantage(c) : o.advantage;
    grpo_status st = c->given ? GRPO_OK : o.status;
    if (!st) st = answer_whole(t, c, advantage);
    if (c->given) free(advantage);
    outcome_free(&o);
    return st;
}

static grpo_status answer_case(char **t, const test_case *c) {
    grpo_real *advantage = c->given || c->advantage.expect ? compare_expected_advantage(c) : NULL;
    grpo_status st = GRPO_OK;
    if (c->kind == CASE_REFUSE) return free(advantage), answer_refusal(t, c);
    if (c->kind == CASE_OBJECTIVE && !c->given) st = answer_advantages(t, c);
    if (!st && advantage) st = c->kind == CASE_SPLIT ? answer_split(t, c, advantage) : answer_whole(t, c, advantage);
    free(advantage);
    return st;
}

/* ---- the protocol --------------------------------------------------------------------------------------------------------------- */

static void answer_start(char **t, const cJSON *request) {
    const cJSON *precision = cJSON_GetObjectItemCaseSensitive(request, "precision");
    if (cJSON_IsString(precision) && !strcmp(precision->valuestring, PRECISION))
        text_add(t, "{\"version\":1,\"name\":\"grpo.h, gspo.h\",\"language\":\"C\",\"release\":\"" GRPO_VERSION
                    "\",\"precision\":\"" PRECISION "\","
                    "\"outputs\":[\"advantage\",\"dynamic_sampling_mask\",\"loss\",\"term\",\"dlogp\",\"dentropy\",\"ddivergence_ref\","
                    "\"dlog_partition\",\"report\","
                    "\"logp\",\"entropy\","
                    "\"dlogits\",\"dhidden\",\"dweight\",\"part_tokens\",\"part_sequences\",\"part_groups\",\"part_sum\",\"part_loss\"]}");
    else text_add(t, "{\"error\":\"this build computes in " PRECISION "\"}");
}

static void write_result(char **t, test_case *c) {
    char *result = NULL;
    grpo_status st = apply_settings(&c->objective);
    if (!st && !c->unread) st = answer_case(&result, c);
    if (st || c->unread) {
        text_add(t, "\"error\":");
        text_quoted(t, c->unread ? c->unread : status_line(st));
    } else {
        text_add(t, "\"result\":{");
        if (arrlen(result)) text_bytes(t, result, (size_t)arrlen(result) - 1);       /* all but the last comma */
        text_add(t, "}");
    }
    arrfree(result);
}

/* ---- logits --------------------------------------------------------------------------------------------------------------------- */

/* `count` vectors of `width` numbers, elements or doubles */
#define WRITE_VECTORS(t, x, count, width) do { \
        for (int64_t j_ = 0; j_ < (count); j_++) { \
            text_add(t, j_ ? ",[" : "["); \
            for (int64_t k_ = 0; k_ < (width); k_++) { \
                if (k_) text_add(t, ","); \
                text_number(t, (double)(x)[j_ * (width) + k_]); \
            } \
            text_add(t, "]"); \
        } \
    } while (0)

/* a vector for each token */
#define WRITE_TOKENS(t, key, c, x, width) do { \
        text_add(t, "\"" key "\":["); \
        for (int64_t i_ = 0; i_ < (c)->n_sequences; i_++) { \
            text_add(t, i_ ? ",[" : "["); \
            WRITE_VECTORS(t, (x) + (c)->batch.offset[i_] * (width), (c)->batch.length[i_], width); \
            text_add(t, "]"); \
        } \
        text_add(t, "],"); \
    } while (0)

static void write_gradients(char **t, const test_case *c, const rows_result *r) {
    if (!r->dhidden && r->dlogits) WRITE_TOKENS(t, "dlogits", c, r->dlogits, c->rows.vocab);
    if (!r->dhidden) return;
    WRITE_TOKENS(t, "dhidden", c, r->dhidden, c->rows.width);
    text_add(t, "\"dweight\":[");
    WRITE_VECTORS(t, r->dweight, c->rows.vocab, c->rows.width);
    text_add(t, "],");
}

static void write_rows_result(char **t, const test_case *c) {
    rows_result r = rows_run(c);
    char *rows = NULL;
    if (r.status) {
        text_add(t, "\"error\":");
        text_quoted(t, status_line(r.status));
    } else {
        if (c->rows.has_loss) { text_add(&rows, "\"loss\":"); text_number(&rows, r.loss); text_add(&rows, ","); }
        else { write_rows(&rows, "logp", c, r.logp); write_rows(&rows, "entropy", c, r.entropy); }
        write_gradients(&rows, c, &r);
        text_add(t, "\"result\":{");
        text_bytes(t, rows, (size_t)arrlen(rows) - 1);                              /* all but the last comma */
        text_add(t, "}");
    }
    arrfree(rows);
    rows_free(&r);
}

/* ---- functions ------------------------------------------------------------------------------------------------------------------ */

static void write_call_result(char **t, const test_case *c) {
    call_result r = call_run(c);
    text_add(t, r.answers ? "\"result\":" : r.unknown ? "\"skip\":" : "\"error\":");
    if (r.answers) text_json(t, r.answers);
    else text_quoted(t, r.error);
    call_free(&r);
}

/* ---- a request ------------------------------------------------------------------------------------------------------------------ */

static void answer_run(char **t, const cJSON *request) {
    const cJSON *seq = cJSON_GetObjectItemCaseSensitive(request, "seq");
    test_case c;
    char error[300];
    int unread;
    text_add(t, "{\"seq\":");
    text_number(t, cJSON_IsNumber(seq) ? seq->valuedouble : 0);
    text_add(t, ",");
    unread = case_request_read(cJSON_GetObjectItemCaseSensitive(request, "case"), &c, error, sizeof error);
    if (unread) {
        text_add(t, unread == CASE_UNKNOWN ? "\"skip\":" : "\"error\":");
        text_quoted(t, error);
    } else if (case_has_rows(&c)) write_rows_result(t, &c);
    else if (c.kind == CASE_CALL) write_call_result(t, &c);
    else write_result(t, &c);
    text_add(t, "}");
    case_free(&c);
}

/* answers a request; returns 0 after stop */
static int answer(const char *line, char **t) {
    cJSON *request = cJSON_Parse(line);
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(request, "cmd");
    const char *cmd = cJSON_IsString(item) ? item->valuestring : "";
    int stop = !strcmp(cmd, "stop");
    if (!strcmp(cmd, "start")) answer_start(t, request);
    else if (!strcmp(cmd, "run")) answer_run(t, request);
    else text_add(t, "{}");
    text_add(t, "\n");
    cJSON_Delete(request);
    return !stop;
}

int main(int argc, char **argv) {
    char *line = NULL, *t = NULL;
    size_t room = 0;
    int more = 1;
    grpo_objective any;
    settings = argv + (argc > 0);
    memset(&any, 0, sizeof any);
    if (apply_settings(&any)) return fputs("usage: adapter_c [--as PRESET] [--set PATH=VALUE]...\n", stderr), 2;
    while (more && getline(&line, &room, stdin) > 0) {
        more = answer(line, &t);
        fwrite(t, 1, (size_t)arrlen(t), stdout);
        fflush(stdout);
        arrfree(t);
    }
    free(line);
    return 0;
}
