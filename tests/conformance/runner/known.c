/* Reads the tables of DEFECTS.md. */
#include "known.h"
#include "text.h"
#include <ctype.h>
#include <stdlib.h>

/* the cells of a row of a Markdown table, "| NORM-01 | ... |"; the heads of the columns say which cell is which */
enum { MAX_CELLS = 12 };
typedef struct { char *cell[MAX_CELLS]; int count; } row;

static char *trimmed(const char *from, const char *to) {
    char *t = NULL;
    while (from < to && (isspace((unsigned char)*from) || *from == '`' || *from == '*')) from++;
    while (to > from && (isspace((unsigned char)to[-1]) || to[-1] == '`' || to[-1] == '*')) to--;
    for (; from < to; from++) if (*from != '\\' || from[1] != '|') arrput(t, *from);
    return text_string(&t);
}

static row read_row(const char *line, const char *end) {
    row r = { { NULL }, 0 };
    const char *start = line + 1;
    for (const char *p = start; p < end && r.count < MAX_CELLS; p++) {
        if (*p != '|' || p[-1] == '\\') continue;
        r.cell[r.count++] = trimmed(start, p);
        start = p + 1;
    }
    return r;
}

static void free_row(row *r) {
    for (int k = 0; k < r->count; k++) free(r->cell[k]);
    r->count = 0;
}

static const char *cell_under(const row *heads, const row *r, const char *head) {
    for (int k = 0; k < heads->count && k < r->count; k++) {
        const char *h = heads->cell[k];
        if (tolower((unsigned char)h[0]) == head[0] && !strncmp(h + 1, head + 1, strlen(head) - 1)) return r->cell[k];
    }
    return NULL;
}

static void read_table_row(known_mistake **list, const row *heads, const row *r) {
    known_mistake k;
    if (!r->count || !strspn(r->cell[0], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") || !cell_under(heads, r, "wrong")) return;
    k.id = text_copy(r->cell[0]);
    k.wrong = text_copy(cell_under(heads, r, "wrong"));
    k.right = text_copy(cell_under(heads, r, "right"));
    k.seen = text_copy(cell_under(heads, r, "seen"));
    arrput(*list, k);
}

static void read_markdown(known_mistake **list, const char *text) {
    row heads = { { NULL }, 0 };
    for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        if (*line != '|') { free_row(&heads); continue; }
        if (!heads.count) heads = read_row(line, end);
        else { row r = read_row(line, end); read_table_row(list, &heads, &r); free_row(&r); }
    }
    free_row(&heads);
}

known_mistake *known_mistakes(const char *vectors) {
    known_mistake *list = NULL;
    char *text = text_file(vectors, "DEFECTS.md");
    if (text) read_markdown(&list, text);
    free(text);
    return list;
}

void known_free(known_mistake *list) {
    for (ptrdiff_t k = 0; k < arrlen(list); k++) {
        free(list[k].id);
        free(list[k].wrong);
        free(list[k].right);
        free(list[k].seen);
    }
    arrfree(list);
}
