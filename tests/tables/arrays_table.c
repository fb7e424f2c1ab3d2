/* arrays_table: prints the part of OBJECTIVES.md that lists the arrays of the batch that every row needs. */
#include "../../extra/grpo_context.h"
#include <stdio.h>
#include <stdlib.h>

enum { MOST_SETS = 256, ROOM = 512 };

/* the rows that need the same arrays */
typedef struct { char needs[ROOM]; const grpo_preset *row[1024]; int count; } row_set;

static void append(char *text, const char *more) {
    const size_t n = strlen(text);
    if (n + strlen(more) < ROOM) memcpy(text + n, more, strlen(more) + 1);
}

static void append_needs(char *text, const grpo_objective *obj, grpo_reader reader) {
    int any = 0;
#define APPEND(member, ...) \
    if (grpo_context_array_use(obj, reader, #member) == GRPO_ARRAY_NEEDED) append(text, any++ ? ", `" #member "`" : "`" #member "`");
    GRPO_ARRAYS_(APPEND)
#undef APPEND
    if (!any) append(text, "nothing");
}

static row_set *set_of(row_set *set, int *sets, const char *needs) {
    for (int k = 0; k < *sets; k++) if (!strcmp(set[k].needs, needs)) return &set[k];
    strcpy(set[*sets].needs, needs);
    return &set[(*sets)++];
}

static int larger(const void *a, const void *b) {
    const row_set *x = (const row_set *)a, *y = (const row_set *)b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->needs, y->needs);
}

int main(void) {
    static row_set set[MOST_SETS];
    int count, sets = 0;
    const grpo_preset *preset = grpo_presets(&count);
    for (int n = 0; n < count; n++) {
        const grpo_objective obj = grpo_objective_from_preset(&preset[n]);
        char needs[ROOM] = "advantages from ";
        row_set *s;
        append_needs(needs, &obj, GRPO_READER_ADVANTAGES);
        append(needs, "; loss from ");
        append_needs(needs, &obj, GRPO_READER_LOSS);
        s = set_of(set, &sets, needs);
        s->row[s->count++] = &preset[n];
    }
    qsort(set, (size_t)sets, sizeof *set, larger);
    for (int k = 0; k < sets; k++) {
        printf("- %s (%d %s):", set[k].needs, set[k].count, set[k].count == 1 ? "row" : "rows");
        for (int n = 0; n < set[k].count; n++) printf("%s %s", n ? "," : "", set[k].row[n]->name);
        putchar('\n');
    }
    return 0;
}
