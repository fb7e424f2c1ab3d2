/* arrays_table: prints the part of OBJECTIVES.md that lists the arrays of the batch that every row needs.  An array is needed if a call
 * refuses a batch that lacks this array alone. */
#include "../../gspo.h"
#include "../support/scratch.h"
#include "../support/small_batch.h"

enum { MOST_SETS = 256, ROOM = 512 };

/* the rows that need the same arrays */
typedef struct { char needs[ROOM]; const grpo_preset *row[1024]; int count; } row_set;

static void append(char *text, const char *more) {
    const size_t n = strlen(text);
    if (n + strlen(more) < ROOM) memcpy(text + n, more, strlen(more) + 1);
}

typedef grpo_status call(const grpo_objective *obj, const grpo_batch *batch);

static grpo_real advantage[TOKENS];

static grpo_status advantages_of(const grpo_objective *obj, const grpo_batch *batch) { return grpo_advantages(obj, batch, advantage); }

static grpo_status loss_of(const grpo_objective *obj, const grpo_batch *batch) {
    grpo_output out = output_with_scratch(obj, batch);
    grpo_report report;
    const grpo_status st = gspo_loss(obj, batch, advantage, NULL, &out, &report);
    free(out.scratch);
    return st;
}

/* is the batch refused because the array is NULL? */
static int misses(call *f, const grpo_objective *obj, const grpo_batch *batch, const char *array) {
    const grpo_status st = f(obj, batch);
    return grpo_status_is(st, GRPO_NULL) && !strcmp(grpo_status_what(st), array);
}

static void needs_of(call *f, const grpo_objective *obj, const grpo_batch *full, char *text) {
    int any = 0;
#define TRY(member, ...) { \
        grpo_batch without = *full; \
        without.member = NULL; \
        if (misses(f, obj, &without, "batch." #member)) { append(text, any++ ? ", `" #member "`" : "`" #member "`"); } \
    }
    GRPO_ARRAYS_(TRY)
#undef TRY
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
    rollouts b;
    grpo_batch full;
    fill_batch(&b);
    full = rollouts_view(&b);
    for (int n = 0; n < count; n++) {
        const grpo_objective obj = grpo_objective_from_preset(&preset[n]);
        char needs[ROOM] = "advantages from ";
        row_set *s;
        needs_of(advantages_of, &obj, &full, needs);
        append(needs, "; loss from ");
        needs_of(loss_of, &obj, &full, needs);
        s = set_of(set, &sets, needs);
        s->row[s->count++] = &preset[n];
    }
    qsort(set, (size_t)sets, sizeof *set, larger);
    for (int k = 0; k < sets; k++) {
        printf("- %s (%d %s):", set[k].needs, set[k].count, set[k].count == 1 ? "row" : "rows");
        for (int n = 0; n < set[k].count; n++) printf("%s %s", n ? "," : "", set[k].row[n]->name);
        putchar('\n');
    }
    rollouts_free(&b);
    return 0;
}
