/* The report as one page of HTML: counts, the causes of failures, every failing case with its input and numbers, all cases in a table. */
#include "report.h"
#include "text.h"
#include <stdio.h>
#include <stdlib.h>

static const char style[] =
    ":root{color-scheme:light dark;--fg:#1b1b1f;--bg:#fff;--soft:#f1f1f4;--line:#c4c4cc;--link:#0b4fa0}"
    "@media(prefers-color-scheme:dark){:root{--fg:#ececf0;--bg:#17171b;--soft:#24242a;--line:#4a4a54;--link:#9cc4ff}}"
    "body{margin:0 auto;max-width:72rem;padding:0 1rem 3rem;font:16px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg)}"
    "a{color:var(--link)}a:focus-visible,summary:focus-visible{outline:3px solid var(--link)}h1,h3{overflow-wrap:anywhere}"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem}"
    "th,td{padding:.25rem .6rem;text-align:left;vertical-align:top;border-top:1px solid var(--line)}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--soft);padding:.75rem;font-size:.8rem}";

static void add_element(char **t, const char *tag, const char *words) {
    text_format(t, "<%s>", tag);
    text_escaped(t, words);
    text_format(t, "</%s>", tag);
}

static void add_link(char **t, const char *id) {
    text_add(t, "<a href=\"#");
    text_escaped(t, id);
    text_add(t, "\">");
    text_escaped(t, id);
    text_add(t, "</a> ");
}

static void add_number_cell(char **t, double x) {
    text_add(t, "<td>");
    text_number(t, x);
    text_add(t, "</td>");
}

/* ---- why cases fail ------------------------------------------------------------------------------------------------------------- */

static void add_group(char **t, const report *r, const failure_group *g) {
    char *name = report_name(r, g);
    text_add(t, "<li>");
    add_element(t, "strong", name);
    free(name);
    if (g->where) { text_add(t, ", in "); text_escaped(t, g->where); text_add(t, " only"); }
    for (ptrdiff_t k = 0; k < arrlen(g->also); k++) {
        text_add(t, k ? ", " : " (or, with the same numbers in these cases: ");
        text_escaped(t, r->d->causes[g->also[k]].name);
    }
    text_add(t, arrlen(g->also) ? ")" : "");
    if (g->cause >= 0 && r->d->causes[g->cause].text) add_element(t, "p", r->d->causes[g->cause].text);
    if (g->hint) add_element(t, "p", g->hint);
    text_format(t, "<details><summary>%d cases</summary><p>", (int)arrlen(g->cases));
    for (ptrdiff_t k = 0; k < arrlen(g->cases); k++) add_link(t, r->results[g->cases[k]].id);
    text_add(t, "</p></details></li>\n");
}

static void add_groups(char **t, const report *r) {
    if (!arrlen(r->groups)) return;
    text_add(t, "<h2>Why cases fail</h2><ol>\n");
    for (ptrdiff_t k = 0; k < arrlen(r->groups); k++) add_group(t, r, &r->groups[k]);
    text_add(t, "</ol>\n");
}

/* ---- a case that fails ---------------------------------------------------------------------------------------------------------- */

static const test_case *case_of(const report *r, int result) {
    for (ptrdiff_t k = 0; k < arrlen(r->d->items); k++) if (r->d->items[k].result == result) return r->d->items[k].c;
    return NULL;
}

static void add_wrong_numbers(char **t, const case_result *c) {
    if (!arrlen(c->wrong)) return;
    text_add(t, "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">worst number</th><th scope=\"col\">expected</th>"
                "<th scope=\"col\">found</th><th scope=\"col\">error, eps of its scale</th>"
                "<th scope=\"col\">wrong</th></tr></thead><tbody>\n");
    for (ptrdiff_t k = 0; k < arrlen(c->wrong); k++) {
        const wrong_output *w = &c->wrong[k];
        text_add(t, "<tr><th scope=\"row\">");
        text_escaped(t, w->where);
        text_add(t, "</th>");
        add_number_cell(t, w->m.expected);
        add_number_cell(t, w->m.found);
        text_format(t, "<td>%.3g</td><td>%lld of %lld</td></tr>\n", w->m.error, (long long)w->m.wrong, (long long)w->m.judged);
    }
    text_add(t, "</tbody></table></div>\n");
}

static void add_input(char **t, const test_case *c) {
    static const char *const shown[] = { "objective", "function", "arguments", "batch", "parts", "logits", "hidden", "weight", "target" };
    for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
        const cJSON *value = json_get(c->json, shown[k]);
        char *json = NULL, *string;
        if (!value) continue;
        text_json(&json, value);
        string = text_string(&json);
        text_format(t, "<details><summary>%s</summary>", shown[k]);
        add_element(t, "pre", string);
        text_add(t, "</details>");
        free(string);
    }
}

static void add_failure(char **t, const report *r, int result) {
    const case_result *c = &r->results[result];
    const test_case *asked = case_of(r, result);
    const cJSON *comment = asked ? json_get(asked->json, "comment") : NULL;
    char *details = report_details(r, result);
    text_add(t, "<section id=\"");
    text_escaped(t, c->id);
    text_add(t, "\">");
    add_element(t, "h3", c->id);
    if (cJSON_IsString(comment)) add_element(t, "p", comment->valuestring);
    if (c->evidence) { text_add(t, "<p>What the row is: "); text_escaped(t, c->evidence); text_add(t, "</p>"); }
    add_wrong_numbers(t, c);
    add_element(t, "pre", details);
    if (asked) add_input(t, asked);
    text_add(t, "</section>\n");
    free(details);
}

/* ---- the page ------------------------------------------------------------------------------------------------------------------- */

static int is_failure(const report *r, int result) {
    const verdict v = r->results[result].verdict;
    return v == CASE_FAILED || (r->strict && v == CASE_ACCEPTABLE);
}

static void add_others(char **t, const report *r) {
    static const char *const verdicts[] = { "passed", "failed", "skipped", "acceptable" };
    text_add(t, "<h2>All cases</h2><div class=\"scroll\"><table><thead><tr><th scope=\"col\">case</th><th scope=\"col\">verdict</th>"
                "<th scope=\"col\">why</th></tr></thead><tbody>\n");
    for (ptrdiff_t k = 0; k < arrlen(r->results); k++) {
        const case_result *c = &r->results[k];
        text_add(t, "<tr><th scope=\"row\">");
        if (is_failure(r, (int)k)) add_link(t, c->id);
        else text_escaped(t, c->id);
        text_format(t, "</th><td>%s</td><td>", verdicts[c->verdict]);
        if (c->verdict == CASE_SKIPPED && c->reason) text_escaped(t, c->reason);
        for (ptrdiff_t n = 0; n < arrlen(c->conventions); n++) {
            text_add(t, n ? "; " : "");
            text_escaped(t, profile_what(r->profile, c->conventions[n]));
        }
        text_add(t, "</td></tr>\n");
    }
    text_add(t, "</tbody></table></div>\n");
}

void report_html(const report *r) {
    char *t = NULL, summary[100];
    const char *name = r->s->name ? r->s->name : r->s->command[0];
    report_summary(r, summary, sizeof summary);
    text_add(&t, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    add_element(&t, "title", name);
    text_format(&t, "<style>%s</style></head>\n<body><main>\n", style);
    add_element(&t, "h1", name);
    add_element(&t, "p", summary);
    add_groups(&t, r);
    if (r->failed || (r->strict && r->acceptable)) text_add(&t, "<h2>Cases that fail</h2>\n");
    for (ptrdiff_t k = 0; k < arrlen(r->results); k++) if (is_failure(r, (int)k)) add_failure(&t, r, (int)k);
    add_others(&t, r);
    text_add(&t, "</main></body></html>\n");
    fwrite(t, 1, (size_t)arrlen(t), stdout);
    arrfree(t);
}
