/* adapter_c [--as PRESET] [--set PATH=VALUE]...: grpo.h and gspo.h behind the conformance protocol; built with double elements, and as
 * adapter_c_f32 with float.  The options make it a program that computes another objective than the one it is asked for, for trying
 * what the runner says of that. */
#define _POSIX_C_SOURCE 200809L
#include "../../../extra/grpo_logits.h"
#include "../../call_run.h"
#include "../../status.h"
#include "../../compare.h"
#include "../../scratch.h"
#include "../text.h"
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
    if (c->objective.surrogate.kind == GRPO_SURROGATE_TRAJECTORY_BALANCE && o->dlog_partition) write_groups(t, "dlog_partition", c,
        o->dlog_partition);
    if (!o->term) return;
    write_rows(t, "term", c, o->term);
    write_report(t, &o->report);
}

/* ---- other objectives than the one that is asked for ---------------------------------------------------------------------------- */

static char **twists;       /* the command line */

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

static grpo_status twist(grpo_objective *obj) {
    grpo_status st = GRPO_OK;
    for (char **a = twists; *a && !st; a += 2) {
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

/* A micro-batch is a batch of some of the groups: the same token arrays, other groups of other offsets and lengths. */
typedef struct { grpo_batch batch; int64_t *group_begin, *offset, *length; uint8_t *truncated; grpo_real *reward; } part;

static part part_of(const test_case *c, const case_part *which) {
    part p;
    int64_t n = 0;
    size_t most = (size_t)c->n_sequences + 1;
    p.batch = c->batch;
    p.batch.group_begin = p.group_begin = calloc((size_t)which->n_groups + 1, sizeof *p.group_begin);
    p.batch.offset = p.offset = calloc(most, sizeof *p.offset);
    p.batch.length = p.length = calloc(most, sizeof *p.length);
    p.truncated = calloc(most, 1);
    p.reward = calloc(most, sizeof *p.reward);
    if (!p.group_begin || !p.offset || !p.length || !p.truncated || !p.reward) abort();
    p.batch.n_groups = which->n_groups;
    p.batch.truncated = c->batch.truncated ? p.truncated : NULL;
    p.batch.reward = c->batch.reward ? p.reward : NULL;
    for (int64_t k = 0; k < which->n_groups; k++) {
        int64_t g = which->group[k];
        for (int64_t i = c->batch.group_begin[g]; i < c->batch.group_begin[g + 1]; i++, n++) {
            p.offset[n] = c->batch.offset[i];
            p.length[n] = c->batch.length[i];
            if (c->batch.truncated) p.truncated[n] = c->batch.truncated[i];
            if (c->batch.reward) p.reward[n] = c->batch.reward[i];
        }
        p.group_begin[k + 1] = n;
    }
    return p;
}

static void part_free(part *p) {
    free(p->group_begin);
    free(p->offset);
    free(p->length);
    free(p->truncated);
    free(p->reward);
}

/* totals over all parts, then every part with them; with totals.ranks a part's loss and gradient are what its rank hands to the average */
static grpo_status evaluate_parts(const test_case *c, const grpo_real *advantage, part *parts, grpo_real *dlogp, grpo_partial *whole) {
    grpo_totals totals;
    grpo_status st = GRPO_OK;
    memset(&totals, 0, sizeof totals);
    for (int64_t k = 0; k < c->n_parts && !st; k++) st = grpo_totals_add(&c->objective, &parts[k].batch, advantage, &totals);
    totals.ranks = c->ranks;
    for (int64_t k = 0; k < c->n_parts && !st; k++) {
        grpo_partial partial;
        grpo_output out = output_with_scratch(&c->objective, &parts[k].batch);
        memset(&partial, 0, sizeof partial);
        out.dlogp = dlogp;
        st = gspo_loss_add(&c->objective, &parts[k].batch, advantage, &totals, &out, &partial);
        free(out.scratch);
        if (!st) st = grpo_partial_merge(whole, &partial);
    }
    return st;
}

/* dlogp and loss of one optimiser step: the average over ranks of the sums over their micro-batches */
static grpo_status answer_split(char **t, const test_case *c, const grpo_real *advantage) {
    part *parts = calloc((size_t)c->n_parts + 1, sizeof *parts);
    grpo_real *dlogp = calloc((size_t)c->batch.n_tokens + 1, sizeof *dlogp);
    grpo_partial whole;
    outcome o;
    if (!parts || !dlogp) abort();
    memset(&whole, 0, sizeof whole);
    memset(&o, 0, sizeof o);
    for (int64_t k = 0; k < c->n_parts; k++) parts[k] = part_of(c, &c->parts[k]);
    o.status = evaluate_parts(c, advantage, parts, dlogp, &whole);
    if (!o.status) {
        for (int64_t k = 0; k < c->batch.n_tokens; k++) dlogp[k] /= (grpo_real)c->ranks;
        grpo_partial_report(&whole, &o.report);
        o.report.loss /= (double)c->ranks;
        o.dlogp = dlogp;
        write_loss(t, c, &o);
    }
    for (int64_t k = 0; k < c->n_parts; k++) part_free(&parts[k]);
    free(parts);
    free(dlogp);
    return o.status;
}

static grpo_status answer_whole(char **t, const test_case *c, const grpo_real *advantage) {
    outcome o = outcome_of_parts(c, &c->objective, advantage, gspo_loss_add);
    grpo_status st = o.status;
    if (!st) write_loss(t, c, &o);
    outcome_free(&o);
    return st;
}

static grpo_status answer_case(char **t, const test_case *c) {
    grpo_real *advantage = c->given || c->advantage.expect ? compare_expected_advantage(c) : NULL;
    grpo_status st = GRPO_OK;
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
                    "\"outputs\":[\"advantage\",\"dynamic_sampling_mask\",\"loss\",\"term\",\"dlogp\",\"dentropy\",\"dlog_partition\",\"report\",\"logp\",\"entropy\"]}");
    else text_add(t, "{\"error\":\"this build computes in " PRECISION "\"}");
}

static void write_result(char **t, test_case *c) {
    char *result = NULL;
    grpo_status st = twist(&c->objective);
    if (!st) st = answer_case(&result, c);
    if (st) {
        text_add(t, "\"error\":");
        text_quoted(t, status_line(st));
    } else {
        text_add(t, "\"result\":{");
        if (arrlen(result)) text_bytes(t, result, (size_t)arrlen(result) - 1);       /* all but the last comma */
        text_add(t, "}");
    }
    arrfree(result);
}

/* ---- logits --------------------------------------------------------------------------------------------------------------------- */

static grpo_real element(const cJSON *item) {
    double x = 0;
    case_number(item, &x);
    return (grpo_real)x;
}

/* one position: its logits, its target */
static grpo_status logits_row(const cJSON *row, double temperature, int64_t target, grpo_logits_row *found) {
    const int64_t vocab = cJSON_GetArraySize(row);
    grpo_real *z = malloc(((size_t)vocab + 1) * sizeof *z);
    grpo_logits x = { GRPO_LOGITS_REAL, NULL, 1, 0, 0, NULL, NULL, 1, 0 };
    grpo_logits_part sums;
    grpo_status st;
    int64_t v = 0;
    if (!z) abort();
    for (const cJSON *item = row ? row->child : NULL; item; item = item->next) z[v++] = element(item);
    x.logits = z;
    x.vocab = x.stride = vocab;
    x.target = &target;
    x.temperature = temperature;
    st = grpo_logits_row_read(&x, 0, &sums);
    if (!st) st = grpo_logits_part_row(&sums, temperature, found);
    free(z);
    return st;
}

static void write_logits_result(char **t, const test_case *c) {
    const cJSON *sequence = cJSON_GetObjectItemCaseSensitive(c->json, "logits"), *target
        = cJSON_GetObjectItemCaseSensitive(c->json, "target");
    double temperature = 0;
    grpo_real *logp = malloc(((size_t)c->batch.n_tokens + 1) * sizeof *logp), *entropy
        = malloc(((size_t)c->batch.n_tokens + 1) * sizeof *entropy);
    char *rows = NULL;
    grpo_status st = GRPO_OK;
    int64_t i, k;
    if (!logp || !entropy) abort();
    case_number(cJSON_GetObjectItemCaseSensitive(c->json, "temperature"), &temperature);
    for (i = 0, sequence = sequence ? sequence->child : NULL, target = target->child; !st && sequence && target; i++) {
        const cJSON *row = sequence->child, *sampled = target->child;
        for (k = c->batch.offset[i]; !st && row && sampled; k++, row = row->next, sampled = sampled->next) {
            grpo_logits_row found;
            st = logits_row(row, temperature, (int64_t)element(sampled), &found);
            if (!st) { logp[k] = (grpo_real)found.logp; entropy[k] = (grpo_real)found.entropy; }
        }
        sequence = sequence->next; target = target->next;
    }
    if (st) {
        text_add(t, "\"error\":");
        text_quoted(t, status_line(st));
    } else {
        write_rows(&rows, "logp", c, logp);
        write_rows(&rows, "entropy", c, entropy);
        text_add(t, "\"result\":{");
        text_bytes(t, rows, (size_t)arrlen(rows) - 1);                              /* all but the last comma */
        text_add(t, "}");
    }
    arrfree(rows);
    free(logp);
    free(entropy);
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
    } else if (c.kind == CASE_LOGITS) write_logits_result(t, &c);
    else if (c.kind == CASE_CALL) write_call_result(t, &c);
    else write_result(t, &c);
    text_add(t, "}");
    case_free(&c);
}

/* 0: stop */
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
    twists = argv + (argc > 0);
    memset(&any, 0, sizeof any);
    if (twist(&any)) return fputs("usage: adapter_c [--as PRESET] [--set PATH=VALUE]...\n", stderr), 2;
    while (more && getline(&line, &room, stdin) > 0) {
        more = answer(line, &t);
        fwrite(t, 1, (size_t)arrlen(t), stdout);
        fflush(stdout);
        arrfree(t);
    }
    free(line);
    return 0;
}
