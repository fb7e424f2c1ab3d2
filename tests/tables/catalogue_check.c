/* catalogue_check [--markdown] FOLDER HEADERS...: which row, setting or function covers each entry of the survey of the literature?
 *
 * FOLDER/titles.txt lists the entries, "source | title"; FOLDER/entries.txt says of each, in the same order, "source | title | what":
 *     row NAME            a preset, or several with commas       set FIELD=CHOICE    a choice (or FIELD, a number)
 *     call FUNCTION       a function of the headers              note TEXT
 *     open TEXT           what is missing                        not TEXT            why it is no objective
 * one or several, with semicolons.  HEADERS: the files that declare the functions.  Prints the catalogue, or fails on an entry that names
 * nothing existing, and on a row that no entry names. */
#include "../../gspo.h"
#include "../support/check.h"
#include <stdlib.h>

enum { MAX_LINE = 4096, MAX_PRESETS = 1024 };

typedef struct {
    char *headers;                  /* text of all headers */
    int named[MAX_PRESETS];         /* 1: an entry names the preset */
    int entries, done, open, not_objective;
    int markdown;
} catalogue;

static char *read_file(const char *path, char *before) {
    FILE *f = fopen(path, "rb");
    size_t had = before ? strlen(before) : 0, n;
    char *text;
    long size;
    if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0) { fprintf(stderr, "%s: cannot be read\n", path); exit(2); }
    rewind(f);
    text = realloc(before, had + (size_t)size + 1);
    if (!text) abort();
    n = fread(text + had, 1, (size_t)size, f);
    text[had + n] = 0;
    fclose(f);
    return text;
}

/* splits `text` at the next `separator` and trims spaces; NULL at the end */
static char *next_part(char **text, char separator) {
    char *part = *text, *end;
    if (!part) return NULL;
    end = strchr(part, separator);
    *text = end ? end + 1 : NULL;
    if (end) *end = 0;
    while (*part == ' ') part++;
    for (end = part + strlen(part); end > part && (end[-1] == ' ' || end[-1] == '\n'); ) *--end = 0;
    return part;
}

static void check_row(catalogue *c, const char *title, const char *name) {
    int n, k, found = 0;
    const grpo_preset *p = grpo_presets(&n);
    for (k = 0; k < n; k++) if (!strcmp(p[k].name, name)) found = c->named[k] = 1;
    check(found, "%s: no row is called %s", title, name);
}

static void check_setting(const char *title, char *setting) {
    grpo_objective obj;
    char *field = next_part(&setting, '='), *choice = next_part(&setting, '=');
    memset(&obj, 0, sizeof obj);
    check((choice ? grpo_objective_choose(&obj, field, choice) : grpo_objective_set(&obj, field, 0)) == GRPO_OK,
          "%s: no field %s with a choice %s", title, field, choice ? choice : "(a number)");
}

static void check_function(const catalogue *c, const char *title, const char *name) {
    char call[128];
    snprintf(call, sizeof call, " %s(", name);
    check(strstr(c->headers, call) != NULL, "%s: the headers declare no %s", title, name);
}

/* the text after the keyword; NULL if `item` does not begin with it */
static char *after(char *item, const char *keyword) {
    size_t n = strlen(keyword);
    return !strncmp(item, keyword, n) && item[n] == ' ' ? item + n + 1 : NULL;
}

static void check_entry(catalogue *c, const char *title, char *what) {
    char *item, *rest, *name;
    int here = 0, open = 0, not_objective = 0;
    while ((item = next_part(&what, ';'))) {
        if ((rest = after(item, "row"))) for (here = 1; (name = next_part(&rest, ',')); ) check_row(c, title, name);
        else if ((rest = after(item, "set"))) { here = 1; check_setting(title, rest); }
        else if ((rest = after(item, "call"))) { here = 1; check_function(c, title, rest); }
        else if (after(item, "open")) open = 1;
        else if (after(item, "not")) not_objective = 1;
        else check(after(item, "note") != NULL, "%s: \"%s\" begins with no known word", title, item);
    }
    check(here || open || not_objective, "%s: nothing is said of it", title);
    c->entries++;
    c->done += here && !open;
    c->open += open;
    c->not_objective += not_objective && !here && !open;
}

static void print_cell(const char *text) {
    for (; *text; text++) {
        if (*text == '|') putchar('\\');
        putchar(*text);
    }
}

/* the names of rows with links to their vectors, of fields with links to the page of their axis */
static void print_item(char *item) {
    char *rest = after(item, "row"), *name;
    const char *between = "row ";
    if (rest) {
        for (; (name = next_part(&rest, ',')); between = ", ") printf("%s[%s](%s.json)", between, name, name);
    } else if ((rest = after(item, "set"))) {
        printf("set [%s](objective/%.*s.md)", rest, (int)strcspn(rest, "."), rest);
    } else {
        print_cell(item);
    }
}

static void print_entry(const char *source, const char *title, char *what) {
    const char *between = " | ";
    char *item;
    printf("| %s | ", source);
    print_cell(title);
    for (; (item = next_part(&what, ';')); between = "; ") {
        fputs(between, stdout);
        print_item(item);
    }
    puts(" |");
}

static void read_entries(catalogue *c, char *titles, char *entries) {
    char *title_line, *line, kept[MAX_LINE];
    while ((title_line = next_part(&titles, '\n'))) {
        char *source = next_part(&title_line, '|'), *title = next_part(&title_line, '|'), *entry_source, *entry_title;
        if (!title) { check(!*source, "titles: a line without a title: %s", source); continue; }
        while ((line = next_part(&entries, '\n')) && !strchr(line, '|')) { }
        if (!check(line != NULL, "%s, %s: not in the catalogue", source, title)) return;
        entry_source = next_part(&line, '|'), entry_title = next_part(&line, '|');
        if (!check(!strcmp(source, entry_source) && !strcmp(title, entry_title) && line,
                   "%s, %s is expected where the catalogue has %s, %s", source, title, entry_source, entry_title)) return;
        while (*line == ' ') line++;
        snprintf(kept, sizeof kept, "%s", line);
        check_entry(c, title, line);
        if (c->markdown) print_entry(source, title, kept);
    }
    check(!entries || !strchr(entries, '|'), "the catalogue has entries that are in no list of titles");
}

static const char heading[] =
    "# The catalogue\n\n"
    "What became of every entry of the surveys that this project was written from: papers, and what frameworks compute. `row`: a\n"
    "published objective (`grpo_objective_named`), with vectors in the file of that name; `set`: a choice of an axis; `call`: a\n"
    "function of the headers; `open`: not there yet, and what is missing; `not`: why it is no objective. Written by `catalogue_check\n"
    "--markdown` from `../catalogue/entries.txt`.\n\n"
    "The first column is the list that has the entry under this name. `foundations`: the methods that others build on; `peers`: what\n"
    "frameworks compute, `peers b` by numbers from 1 on as well; `seeds`: papers; `second look`, `third look`: what later readings\n"
    "added, or came back to.\n\n"
    "| survey | entry | what became of it |\n|---|---|---|";

int main(int argc, char **argv) {
    static catalogue c;
    char path[1024], *titles, *entries;
    int k, n;
    const grpo_preset *p = grpo_presets(&n);
    c.markdown = argc > 1 && !strcmp(argv[1], "--markdown");
    if (argc < 3 + c.markdown || n > MAX_PRESETS) return fputs("usage: catalogue_check [--markdown] FOLDER HEADERS...\n", stderr), 2;
    for (k = 2 + c.markdown; k < argc; k++) c.headers = read_file(argv[k], c.headers);
    snprintf(path, sizeof path, "%s/titles.txt", argv[1 + c.markdown]);
    titles = read_file(path, NULL);
    snprintf(path, sizeof path, "%s/entries.txt", argv[1 + c.markdown]);
    entries = read_file(path, NULL);
    if (c.markdown) puts(heading);
    read_entries(&c, titles, entries);
    for (k = 0; k < n; k++) check(c.named[k], "the row %s is in no entry", p[k].name);
    free(titles); free(entries); free(c.headers);
    if (c.markdown) return check_failed != 0;
    printf("%d entries: %d are here, %d open, %d no objectives\n", c.entries, c.done, c.open, c.not_objective);
    return check_summary();
}
