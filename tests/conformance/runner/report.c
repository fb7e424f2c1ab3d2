/* The report as text, TAP, JUnit and JSON. */
#include "report.h"
#include "text.h"
#include <stdio.h>
#include <stdlib.h>

enum { SHOWN_IDS = 8, SHOWN_ALSO = 4, SHOWN_SKIPS = 8, SHOWN_ROWS = 5,
       MANY_ALSO = 3 };     /* of so many other causes and the first none is believed on the word of one case */

/* ---- groups --------------------------------------------------------------------------------------------------------------------- */

static int contains(const int *list, int value) {
    for (ptrdiff_t k = 0; k < arrlen(list); k++) if (list[k] == value) return 1;
    return 0;
}

/* the part before the first colon; what follows differs from case to case */
size_t report_reason_length(const char *reason) { return strcspn(reason, ":"); }

void report_free(report *r) {
    for (ptrdiff_t k = 0; k < arrlen(r->results); k++) {
        free(r->results[k].id);
        free(r->results[k].variant);
        free(r->results[k].evidence);
        free(r->results[k].reason);
        free(r->results[k].note);
        free(r->results[k].minimal);
        arrfree(r->results[k].wrong);
        arrfree(r->results[k].conventions);
    }
    for (ptrdiff_t k = 0; k < arrlen(r->groups); k++) {
        arrfree(r->groups[k].cases);
        arrfree(r->groups[k].also);
        arrfree(r->groups[k].partly);
        free(r->groups[k].where);
        free(r->groups[k].hint);
    }
    arrfree(r->results);
    arrfree(r->groups);
}

void report_summary(const report *r, char *buffer, size_t size) {
    int n = snprintf(buffer, size, "%lld passed, %lld failed, %lld skipped", (long long)r->passed, (long long)r->failed,
                     (long long)r->skipped);
    if (r->acceptable) snprintf(buffer + n, size - (size_t)n, ", %lld acceptable", (long long)r->acceptable);
}

/* ---- one failure in words ------------------------------------------------------------------------------------------------------- */

static void write_wrong(char **t, const char *indent, const wrong_output *w) {
    text_format(t, "%s%s: expected %.17g, found %.17g", indent, w->where, w->m.expected, w->m.found);
    if (grpo_is_finite(w->m.error)) text_format(t, ", error %.3g eps of scale", w->m.error);
    else if (grpo_is_finite(w->m.expected) && grpo_is_finite(w->m.found)) text_add(t, ", must be equal: its scale is 0");
    else text_add(t, ", infinite error");
    text_format(t, " (%lld of %lld numbers wrong, the worst is shown)\n", (long long)w->m.wrong, (long long)w->m.judged);
}

static void write_numbers(char **t, const char *indent, const case_result *c) {
    for (ptrdiff_t k = 0; k < arrlen(c->wrong); k++) write_wrong(t, indent, &c->wrong[k]);
}

int report_is_ambiguous(const failure_group *g) { return g->cause >= 0 && arrlen(g->cases) == 1 && arrlen(g->also) >= MANY_ALSO; }

char *report_name(const report *r, const failure_group *g) {
    char *t = NULL;
    if (report_is_ambiguous(g))
        text_format(&t, "one of %lld causes that this case does not tell apart, such as ", (long long)arrlen(g->also) + 1);
    text_add(&t, g->cause >= 0 ? r->d->causes[g->cause].name : g->reason);
    return text_string(&t);
}

/* of which numbers the cause is, where another group has the same name: advantages and loss are explained separately */
static const char *whose(const report *r, const failure_group *g) {
    static const char *const of[N_STAGES] = { ", of the advantages", ", of the loss", ", on the way from logits", "" };
    for (ptrdiff_t k = 0; g->cause >= 0 && k < arrlen(r->groups); k++) {
        const int c = r->groups[k].cause;
        if (c >= 0 && c != g->cause && !strcmp(r->d->causes[c].name, r->d->causes[g->cause].name)) return of[r->d->causes[g->cause].stage];
    }
    return "";
}

/* the names of the causes of a group, or its reason */
static void write_title(char **t, const report *r, const failure_group *g) {
    char *name = report_name(r, g);
    text_format(t, "%.*s", (int)(g->cause == -2 ? report_reason_length(name) : strlen(name)), name);
    free(name);
    text_add(t, whose(r, g));
    if (g->where) text_format(t, ", in %s only", g->where);
    for (ptrdiff_t k = 0; k < arrlen(g->also) && k < SHOWN_ALSO; k++)
        text_format(t, "%s%s", k ? "; " : " (or, with the same numbers in these cases: ", r->d->causes[g->also[k]].name);
    if (arrlen(g->also) > SHOWN_ALSO) text_add(t, "; ...");
    if (arrlen(g->also)) text_add(t, ")");
}

static void write_diagnosis(char **t, const report *r, int result) {
    int n = 0;
    for (ptrdiff_t k = 0; k < arrlen(r->groups); k++) {
        if (!contains(r->groups[k].cases, result) || r->groups[k].cause == -2) continue;
        text_add(t, n++ ? "; " : "");
        write_title(t, r, &r->groups[k]);
    }
}

/* ---- text ----------------------------------------------------------------------------------------------------------------------- */

static void print_text(char **t) {
    fwrite(*t, 1, (size_t)arrlen(*t), stdout);
    arrfree(*t);
}

static void write_ids(char **t, const report *r, const int *cases, ptrdiff_t most) {
    ptrdiff_t shown = r->verbose || arrlen(cases) < most ? arrlen(cases) : most;
    for (ptrdiff_t k = 0; k < shown; k++) text_format(t, " %s", r->results[cases[k]].id);
    if (shown < arrlen(cases)) text_format(t, " and %lld more", (long long)(arrlen(cases) - shown));
    text_add(t, "\n");
}

static int64_t numbers_of(const case_result *c) {
    int64_t n = 0;
    for (ptrdiff_t j = 0; j < arrlen(c->wrong); j++) n += c->wrong[j].m.judged;
    return n;
}

/* does the cause of the group give all numbers of the case, not only the one that is recorded? */
static int is_in_full(const report *r, const failure_group *g, int result) {
    for (int k = 0; g->cause >= 0 && k < (int)arrlen(r->d->items); k++)
        if (r->d->items[k].result == result && r->d->causes[g->cause].says[k] == SAYS_SAME) return 1;
    return 0;
}

/* the case that is easiest to follow: not fragile, explained in full, and with the fewest numbers in the outputs that are wrong */
static int example_of(const report *r, const failure_group *g) {
    int best = g->cases[0];
    for (ptrdiff_t k = 1; k < arrlen(g->cases); k++) {
        const case_result *c = &r->results[g->cases[k]], *now = &r->results[best];
        const int full = is_in_full(r, g, g->cases[k]), full_now = is_in_full(r, g, best);
        if (c->fragile != now->fragile ? !c->fragile : full != full_now ? full : numbers_of(c) < numbers_of(now)) best = g->cases[k];
    }
    return best;
}

/* does the cause of the group, or another name of it, give the numbers of this stage of the case? */
static int explains_stage(const report *r, const failure_group *g, int result, stage_kind stage) {
    for (int k = 0; k < (int)arrlen(r->d->items); k++) {
        if (r->d->items[k].result != result || r->d->items[k].stage != stage) continue;
        for (ptrdiff_t n = -1; n < arrlen(g->also); n++) {
            const unsigned char says = r->d->causes[n < 0 ? g->cause : g->also[n]].says[k];
            if (says == SAYS_SAME || says == SAYS_ONE_NUMBER) return 1;
        }
    }
    return 0;
}

/* of a case in a group with a cause: without what another group explains, unless that is all */
static void write_numbers_of(char **t, const char *indent, const report *r, const failure_group *g, int result) {
    const case_result *c = &r->results[result];
    int shown = 0;
    for (ptrdiff_t k = 0; k < arrlen(c->wrong) && g->cause >= 0; k++) {
        if (!explains_stage(r, g, result, stage_of(c->wrong[k].m.output))) continue;
        write_wrong(t, indent, &c->wrong[k]);
        shown++;
    }
    if (!shown) write_numbers(t, indent, c);
}

static void write_known(char **t, const report *r, int c) { text_format(t, "%s: %s\n", r->d->causes[c].name, r->d->causes[c].text); }

static void write_cause_text(char **t, const report *r, int c) {
    if (!*r->d->causes[c].text) return;
    text_add(t, "   ");
    if (r->d->causes[c].kind == CAUSE_KNOWN) write_known(t, r, c);
    else text_format(t, "%s\n", r->d->causes[c].text);
}

static void write_minimal(char **t, const report *r, const failure_group *g) {
    for (ptrdiff_t k = 0; k < arrlen(g->cases); k++)
        if (r->results[g->cases[k]].minimal) text_format(t, "   a minimal case: %s\n", r->results[g->cases[k]].minimal);
}

static void write_group(char **t, const report *r, const failure_group *g, int number) {
    const int shown = example_of(r, g);
    const case_result *example = &r->results[shown];
    text_format(t, "\n%d. %lld case%s: ", number, (long long)arrlen(g->cases), arrlen(g->cases) == 1 ? "" : "s");
    write_title(t, r, g);
    text_add(t, "\n");
    if (g->cause >= 0) write_cause_text(t, r, g->cause);
    for (ptrdiff_t k = 0; k < arrlen(g->also) && k < 3; k++) write_cause_text(t, r, g->also[k]);
    for (ptrdiff_t k = 0; k < arrlen(g->partly) && k < SHOWN_ALSO; k++)
        text_format(t, "%s%s%s", k ? "; " : "   (some of these cases, not all, are also explained by: ", r->d->causes[g->partly[k]].name,
            k + 1 == arrlen(g->partly) ? ")\n" : k + 1 == SHOWN_ALSO ? "; ...)\n" : "");
    if (g->refuted)
        text_format(t, "   (does not agree with every case: in %d it would have given other numbers than those found)\n",
            g->refuted);
    if (g->hint) text_format(t, "   %s\n", g->hint);
    text_format(t, "   for example %s", example->id);
    if (example->reason) text_format(t, ": %s", example->reason);
    else if (example->comment) text_format(t, " (%s)", example->comment);
    text_add(t, "\n");
    write_numbers_of(t, "      ", r, g, shown);
    write_minimal(t, r, g);
    text_add(t, "   cases:");
    write_ids(t, r, g->cases, SHOWN_IDS);
}

/* The evidence of the first few rows that have wrong numbers.  Rows whose cases failed without numbers are left out. */
static void write_evidence(char **t, const report *r) {
    const char *last = "";
    int rows = 0;
    for (ptrdiff_t k = 0; k < arrlen(r->results); k++) {
        const case_result *c = &r->results[k];
        if (c->verdict != CASE_FAILED || c->reason || !c->evidence || !strcmp(c->variant, last)) continue;
        if (!rows) text_add(t, "\nWhat the settings of the failing rows are based on:\n");
        if (rows < SHOWN_ROWS || r->verbose) text_format(t, "   %s: %s\n", c->variant, c->evidence);
        rows++;
        last = c->variant;
    }
    if (rows > SHOWN_ROWS && !r->verbose) text_format(t, "   and %d more rows (--verbose all)\n", rows - SHOWN_ROWS);
}

static void write_each_failure(char **t, const report *r) {
    for (ptrdiff_t k = 0; k < arrlen(r->results); k++) {
        const case_result *c = &r->results[k];
        if (c->verdict != CASE_FAILED) continue;
        text_format(t, "FAIL %s: ", c->id);
        if (c->reason) text_add(t, c->reason);
        else write_diagnosis(t, r, (int)k);
        text_add(t, "\n");
        write_numbers(t, "     ", c);
    }
}

/* ---- acceptable answers, skips -------------------------------------------------------------------------------------------------- */

static void write_conventions(char **t, const report *r, const case_result *c) {
    for (ptrdiff_t k = 0; k < arrlen(c->conventions); k++)
        text_format(t, "%s%s", k ? "; " : "", profile_what(r->profile, c->conventions[k]));
}

static void write_acceptable(char **t, const report *r) {
    if (!r->acceptable) return;
    text_format(t, "%lld cases are acceptable%s, by %s:\n", (long long)r->acceptable, r->strict ? " and count as failures" : "",
                r->profile->name);
    for (int n = 0; n < (int)arrlen(r->profile->convention); n++) {
        int *cases = NULL, failed = 0;
        for (int k = 0; k < (int)arrlen(r->results); k++) {
            if (!contains(r->results[k].conventions, n)) continue;
            if (r->results[k].verdict == CASE_FAILED) failed++;
            else arrput(cases, k);
        }
        if (arrlen(cases)) {
            const char *where = profile_where(r->profile, n);
            text_format(t, "   %lld", (long long)arrlen(cases));
            if (failed) text_format(t, " (and %d that fail for another reason)", failed);
            text_format(t, ", %s%s%s:", profile_what(r->profile, n), *where ? " in " : "", where);
            write_ids(t, r, cases, 3);
        }
        arrfree(cases);
    }
}

static int same_skip(const report *r, int a, int b) {
    const case_result *x = &r->results[a], *y = &r->results[b];
    return x->verdict == CASE_SKIPPED && y->verdict == CASE_SKIPPED && !strcmp(x->reason, y->reason);
}

/* the first result with each reason for a skip */
static int *first_skips(const report *r) {
    int *first = NULL;
    for (int k = 0; k < (int)arrlen(r->results); k++) {
        int known = r->results[k].verdict != CASE_SKIPPED;
        for (ptrdiff_t j = 0; !known && j < arrlen(first); j++) known = same_skip(r, first[j], k);
        if (!known) arrput(first, k);
    }
    return first;
}

static void write_skips(char **t, const report *r) {
    int *first = first_skips(r);
    ptrdiff_t shown = r->verbose || arrlen(first) < SHOWN_SKIPS ? arrlen(first) : SHOWN_SKIPS;
    for (ptrdiff_t j = 0; j < shown; j++) {
        int *cases = NULL;
        for (int k = 0; k < (int)arrlen(r->results); k++) if (same_skip(r, first[j], k)) arrput(cases, k);
        text_format(t, "skipped %lld, %s:", (long long)arrlen(cases), r->results[first[j]].reason);
        write_ids(t, r, cases, 3);
        arrfree(cases);
    }
    if (shown < arrlen(first))
        text_format(t, "and more are skipped, for %lld other reasons (--verbose all)\n", (long long)(arrlen(first) - shown));
    arrfree(first);
}

static void write_notes(char **t, const report *r) {
    int *cases = NULL;
    for (int k = 0; k < (int)arrlen(r->results); k++) if (r->results[k].note) arrput(cases, k);
    if (arrlen(cases)) {
        text_format(t, "%lld invalid inputs are refused with an error that does not name the field at fault (for example %s: %s):",
                    (long long)arrlen(cases), r->results[cases[0]].id, r->results[cases[0]].note);
        write_ids(t, r, cases, 3);
    }
    arrfree(cases);
}

static double worst_of(const report *r) {
    double worst = 0;
    for (ptrdiff_t k = 0; k < arrlen(r->results); k++)
        if (r->results[k].verdict == CASE_PASSED && r->results[k].worst > worst) worst = r->results[k].worst;
    return worst;
}

static void write_head(char **t, const report *r) {
    int64_t judged = 0;
    for (ptrdiff_t k = 0; k < arrlen(r->results); k++) judged += r->results[k].judged;
    text_format(t, "%s %s (%s), %s, tolerance %g eps of scale: %lld cases, %lld numbers; worst error that passed %.3g eps\n",
                r->s->name ? r->s->name : r->s->command[0], r->s->release ? r->s->release : "?", r->s->language ? r->s->language : "?",
                r->s->precision, r->r->tolerance, (long long)arrlen(r->results), (long long)judged, worst_of(r));
}

static void write_failed(char **t, const report *r) {
    const int64_t answered = (int64_t)arrlen(r->results) - r->skipped;
    text_format(t, "%lld of %lld %scases fail", (long long)r->failed, (long long)answered, r->skipped ? "answered " : "");
    if (r->skipped) text_format(t, " (%lld were not answered)", (long long)r->skipped);
    text_format(t, ", for %lld reason%s:\n", (long long)arrlen(r->groups), arrlen(r->groups) == 1 ? "" : "s");
}

static void report_text(const report *r) {
    char *t = NULL, summary[100];
    report_summary(r, summary, sizeof summary);
    write_head(&t, r);
    write_skips(&t, r);
    write_notes(&t, r);
    write_acceptable(&t, r);
    if (r->verbose) write_each_failure(&t, r);
    if (r->failed) write_failed(&t, r);
    for (ptrdiff_t k = 0; k < arrlen(r->groups); k++) write_group(&t, r, &r->groups[k], (int)k + 1);
    write_evidence(&t, r);
    text_format(&t, "%s%s\n", r->failed ? "\n" : "", summary);
    print_text(&t);
}

/* ---- TAP ------------------------------------------------------------------------------------------------------------------------ */

char *report_details(const report *r, int result) {
    const case_result *c = &r->results[result];
    char *t = NULL;
    if (c->reason) text_add(&t, c->reason);
    else write_diagnosis(&t, r, result);
    text_add(&t, "\n");
    write_numbers(&t, "", c);
    if (c->minimal) text_format(&t, "a minimal case: %s\n", c->minimal);
    return text_string(&t);
}

static void write_indented(char **t, const char *indent, const char *lines) {
    for (const char *end; *lines; lines = *end ? end + 1 : end) {
        end = lines + strcspn(lines, "\n");
        text_add(t, indent);
        text_bytes(t, lines, (size_t)(end - lines));
        text_add(t, "\n");
    }
}

static int is_bad(const report *r, const case_result *c) {
    return c->verdict == CASE_FAILED || (r->strict && c->verdict == CASE_ACCEPTABLE);
}

static void report_tap(const report *r) {
    char *t = NULL, summary[100];
    report_summary(r, summary, sizeof summary);
    text_format(&t, "TAP version 13\n1..%lld\n", (long long)arrlen(r->results));
    for (ptrdiff_t k = 0; k < arrlen(r->results); k++) {
        const case_result *c = &r->results[k];
        text_format(&t, "%s %lld - %s", is_bad(r, c) ? "not ok" : "ok", (long long)k + 1, c->id);
        if (c->verdict == CASE_ACCEPTABLE) { text_add(&t, " # acceptable: "); write_conventions(&t, r, c); }
        if (c->verdict == CASE_SKIPPED) text_format(&t, " # SKIP %s", c->reason);
        if (c->note) text_format(&t, " # %s", c->note);
        text_add(&t, "\n");
        if (c->verdict == CASE_FAILED) {
            char *lines = report_details(r, (int)k);
            text_add(&t, "  ---\n  message: |\n");
            write_indented(&t, "    ", lines);
            text_add(&t, "  ...\n");
            free(lines);
        }
    }
    text_format(&t, "# %s\n", summary);
    print_text(&t);
}

/* ---- JUnit ---------------------------------------------------------------------------------------------------------------------- */

static void write_junit_case(char **t, const report *r, int result) {
    const case_result *c = &r->results[result];
    text_add(t, "  <testcase classname=\"");
    text_escaped(t, c->variant);
    text_add(t, "\" name=\"");
    text_escaped(t, c->id);
    text_format(t, "\" time=\"%.4f\">", c->seconds);
    if (c->verdict == CASE_SKIPPED) {
        text_add(t, "<skipped message=\"");
        text_escaped(t, c->reason);
        text_add(t, "\"/>");
    } else if (c->note) {
        text_add(t, "<system-out>");
        text_escaped(t, c->note);
        text_add(t, "</system-out>");
    } else if (c->verdict == CASE_ACCEPTABLE) {
        char *names = NULL, *text;
        write_conventions(&names, r, c);
        text = text_string(&names);
        text_add(t, r->strict ? "<failure message=\"acceptable: " : "<system-out>acceptable: ");
        text_escaped(t, text);
        text_add(t, r->strict ? "\"/>" : "</system-out>");
        free(text);
    } else if (c->verdict == CASE_FAILED) {
        char *lines = report_details(r, result), *first = NULL, *message;
        text_bytes(&first, lines, strcspn(lines, "\n"));
        message = text_string(&first);
        text_add(t, "<failure message=\"");
        text_escaped(t, message);
        text_add(t, "\">");
        text_escaped(t, lines);
        text_add(t, "</failure>");
        free(lines);
        free(message);
    }
    text_add(t, "</testcase>\n");
}

static void report_junit(const report *r) {
    char *t = NULL;
    double seconds = 0;
    for (ptrdiff_t k = 0; k < arrlen(r->results); k++) seconds += r->results[k].seconds;
    text_add(&t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"");
    text_escaped(&t, r->s->name ? r->s->name : r->s->command[0]);
    text_format(&t, "\" tests=\"%lld\" failures=\"%lld\" skipped=\"%lld\" errors=\"0\" time=\"%.3f\">\n", (long long)arrlen(r->results),
                (long long)(r->failed + (r->strict ? r->acceptable : 0)), (long long)r->skipped, seconds);
    for (ptrdiff_t k = 0; k < arrlen(r->results); k++) write_junit_case(&t, r, (int)k);
    text_add(&t, "</testsuite>\n");
    print_text(&t);
}

/* ---- JSON ----------------------------------------------------------------------------------------------------------------------- */

static void write_pair(char **t, const char *key, const char *value) {
    text_quoted(t, key);
    text_add(t, ":");
    if (value) text_quoted(t, value);
    else text_add(t, "null");
}

static void write_number_pair(char **t, const char *key, double value) {
    text_format(t, ",\"%s\":", key);
    text_number(t, value);
}

static const char *group_kind(const report *r, const failure_group *g) {
    if (g->cause == -2) return "protocol";
    if (g->cause == -1) return "unexplained";
    if (report_is_ambiguous(g)) return "ambiguous";
    switch (r->d->causes[g->cause].kind) {
    case CAUSE_KNOWN: return "known mistake";
    case CAUSE_CHANGE: case CAUSE_PAIR: case CAUSE_PRESET: return "other objective";
    default: return "mistake";
    }
}

static void write_json_group(char **t, const report *r, const failure_group *g) {
    const int ambiguous = report_is_ambiguous(g);
    char *name = report_name(r, g);
    text_add(t, "{");
    write_pair(t, "kind", group_kind(r, g));
    text_add(t, ",");
    write_pair(t, "name", name);
    free(name);
    text_add(t, ",");
    write_pair(t, "text", g->cause >= 0 && !ambiguous ? r->d->causes[g->cause].text : "");
    text_add(t, ",\"also\":[");
    if (ambiguous) text_quoted(t, r->d->causes[g->cause].name);
    for (ptrdiff_t k = 0; k < arrlen(g->also); k++) {
        text_add(t, k || ambiguous ? "," : "");
        text_quoted(t, r->d->causes[g->also[k]].name);
    }
    text_add(t, "],\"partly\":[");
    for (ptrdiff_t k = 0; k < arrlen(g->partly); k++) { text_add(t, k ? "," : ""); text_quoted(t, r->d->causes[g->partly[k]].name); }
    text_add(t, "],");
    write_pair(t, "where", g->where);
    text_add(t, ",");
    write_pair(t, "hint", g->hint);
    text_format(t, ",\"refuted\":%d,\"cases\":[", g->refuted);
    for (ptrdiff_t k = 0; k < arrlen(g->cases); k++) { text_add(t, k ? "," : ""); text_quoted(t, r->results[g->cases[k]].id); }
    text_add(t, "]}");
}

static void write_json_wrong(char **t, const wrong_output *w) {
    text_add(t, "{");
    write_pair(t, "output", output_name[w->m.output]);
    text_add(t, ",");
    write_pair(t, "where", w->where);
    write_number_pair(t, "expected", w->m.expected);
    write_number_pair(t, "found", w->m.found);
    write_number_pair(t, "error", w->m.error);
    text_format(t, ",\"wrong\":%lld,\"judged\":%lld}", (long long)w->m.wrong, (long long)w->m.judged);
}

static void write_json_causes(char **t, const report *r, int result) {
    int n = 0;
    for (ptrdiff_t k = 0; k < arrlen(r->d->items); k++)
        for (ptrdiff_t c = 0; c < arrlen(r->d->causes) && r->d->items[k].result == result; c++) {
            if (r->d->causes[c].says[k] != SAYS_SAME) continue;
            text_add(t, n++ ? "," : "");
            text_quoted(t, r->d->causes[c].name);
        }
}

static void write_json_case(char **t, const report *r, int result) {
    const case_result *c = &r->results[result];
    static const char *const verdicts[] = { "passed", "failed", "skipped", "acceptable" };
    text_add(t, "{");
    write_pair(t, "id", c->id);
    text_add(t, ",");
    write_pair(t, "evidence", c->evidence);
    text_format(t, ",\"verdict\":\"%s\",", verdicts[c->verdict]);
    write_pair(t, "reason", c->reason);
    text_add(t, ",");
    write_pair(t, "note", c->note);
    if (c->minimal) text_format(t, ",\"minimal\":%s", c->minimal);
    text_format(t, ",\"seconds\":%.4f,\"judged\":%lld", c->seconds, (long long)c->judged);
    write_number_pair(t, "worst", c->worst);
    text_add(t, ",\"wrong\":[");
    for (ptrdiff_t k = 0; k < arrlen(c->wrong); k++) { text_add(t, k ? "," : ""); write_json_wrong(t, &c->wrong[k]); }
    text_add(t, "],\"conventions\":[");
    for (ptrdiff_t k = 0; k < arrlen(c->conventions); k++) {
        text_add(t, k ? "," : "");
        text_quoted(t, profile_what(r->profile, c->conventions[k]));
    }
    text_add(t, "]");
    if (c->rounding.bound > 0) text_format(t, ",\"rounding\":[%.3g,%g]", c->rounding.error, c->rounding.bound);
    text_add(t, ",\"causes\":[");
    if (c->verdict == CASE_FAILED) write_json_causes(t, r, result);
    text_add(t, "]}");
}

static void report_json(const report *r) {
    char *t = NULL;
    text_add(&t, "{\"program\":{");
    write_pair(&t, "name", r->s->name);
    text_add(&t, ",");
    write_pair(&t, "language", r->s->language);
    text_add(&t, ",");
    write_pair(&t, "release", r->s->release);
    text_add(&t, "},");
    write_pair(&t, "precision", r->s->precision);
    write_number_pair(&t, "tolerance", r->r->tolerance);
    text_format(&t, ",\"passed\":%lld,\"failed\":%lld,\"skipped\":%lld,\"acceptable\":%lld,\"groups\":[", (long long)r->passed,
                (long long)r->failed, (long long)r->skipped, (long long)r->acceptable);
    for (ptrdiff_t k = 0; k < arrlen(r->groups); k++) { text_add(&t, k ? ",\n" : "\n"); write_json_group(&t, r, &r->groups[k]); }
    text_add(&t, "],\"cases\":[");
    for (ptrdiff_t k = 0; k < arrlen(r->results); k++) { text_add(&t, k ? ",\n" : "\n"); write_json_case(&t, r, (int)k); }
    text_add(&t, "]}\n");
    print_text(&t);
}

report_writer *report_format(const char *name) {
    static const struct { const char *name; report_writer *write; } formats[] = {
        { "text", report_text }, { "tap", report_tap }, { "junit", report_junit }, { "json", report_json },
        { "html", report_html }
    };
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) if (!strcmp(formats[k].name, name)) return formats[k].write;
    return NULL;
}

void report_end(const report *r, session *s, const char *format) {
    char summary[100], *wrong;
    fflush(stdout);
    report_summary(r, summary, sizeof summary);
    if (s->over) fprintf(stderr, "conform: %s\n", s->over);
    if (strcmp(format, "text") && strcmp(format, "tap")) fprintf(stderr, "%s\n", summary);
    wrong = session_close(s);
    if (wrong) fprintf(stderr, "conform: note: %s\n", wrong);
    free(wrong);
    if (!r->passed && !r->acceptable && !r->failed)
        fprintf(stderr, "conform: nothing was tested%s\n", arrlen(r->results) ? ": all cases were skipped" : ": no case matches --only");
}
