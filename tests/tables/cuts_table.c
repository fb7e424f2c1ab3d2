/* cuts_table: prints the table of examples/cuts.md: which choices of an objective ask for more, of a batch that is cut, than pieces of
 * responses.  A choice is in the table if some objective that asks for nothing, to which it is added, does.  Where a choice goes only with
 * certain choices of another field, that one is set too.  Fails if a row of OBJECTIVES.md asks for something by none of these choices. */
#include "../../extra/grpo_context.h"
#include "../support/field.h"
#include <stdio.h>

enum { MOMENTS, KNOWN_GROUPS, WHOLE_GROUPS, WHOLE_RESPONSES, TWO_ROUNDS, NEEDS };
static const char *const words[NEEDS] = {
    "the moments of all parts, for A", "of each group all responses, some of them with length 0", "whole groups", "whole responses",
    "pieces of responses are measured in two rounds"
};
static const char *const bases[] = { "grpo", "gspo", "kimi-k2", "tis", "verl-token-k3" };
enum { BASES = sizeof bases / sizeof *bases };

static int needs(const grpo_objective *o, int what) {
    const int groups = grpo_context_needs_groups(o), whole = grpo_status_is(grpo_context_check(o), GRPO_WHOLE_RESPONSE);
    switch (what) {
    case MOMENTS: return grpo_context_needs_moments(o);
    case KNOWN_GROUPS: return groups && !whole;
    case WHOLE_GROUPS: return groups && whole;
    case WHOLE_RESPONSES: return !groups && whole;
    default: return grpo_context_rounds(o) == 2;
    }
}

static int is_free(const grpo_objective *o) {
    for (int need = 0; need < NEEDS; need++) if (needs(o, need)) return 0;
    return 1;
}

/* fills in numbers that a choice must have; 1 if the objective is valid then */
static int completed(grpo_objective *o) {
    for (int k = 0; k < 8; k++) {
        const grpo_status st = grpo_objective_check(o);
        if (!st) return 1;
        if (!grpo_status_is(st, GRPO_NOT_POSITIVE) || grpo_objective_set(o, grpo_status_what(st), 0.5)) return 0;
    }
    return 0;
}

/* 1 if the objective is free, and has the need when the field is x */
static int brings_to(grpo_objective o, const grpo_field *field, double x, int need) {
    grpo_objective with = o;
    if (grpo_objective_set(&with, field->path, x) || !completed(&with) || !needs(&with, need)) return 0;
    return completed(&o) && is_free(&o);
}

/* the same with one more field set, if that is what the choice goes with */
static int brings(const grpo_field *field, double x, int need) {
    int n;
    const grpo_field *other = grpo_fields(&n);
    for (int b = 0; b < BASES; b++) {
        grpo_objective o;
        if (grpo_objective_named(bases[b], &o)) return 0;
        if (brings_to(o, field, x, need)) return 1;
        if (!grpo_objective_set(&o, field->path, x) && completed(&o)) continue;       /* it goes without, and has no such need */
        for (int f = 0; f < n; f++)
            for (int c = 0; other[f].choices && c < other[f].n_choices; c++) {
                if (&other[f] == field || grpo_objective_named(bases[b], &o)) continue;
                if (!grpo_objective_set(&o, other[f].path, c) && brings_to(o, field, x, need)) return 1;
            }
    }
    return 0;
}

static void print_field(const grpo_field *field, int need, int *any) {
    int found = 0, length;
    for (int c = 0; c < (field->n_choices ? field->n_choices : 2); c++) {
        const char *choice = field->n_choices ? field_choice(field, c, &length) : NULL;
        if (!brings(field, c, need)) continue;
        if (found++) printf(","); else printf("%s `%s`", (*any)++ ? ";" : "", field->path);
        if (choice) printf(" %.*s", length, choice); else printf(" not 0");
    }
}

/* the names of the rows that ask for something which no choice of theirs in the table explains */
static int unexplained(const grpo_field *field, int n) {
    int rows, wrong = 0;
    const grpo_preset *row = grpo_presets(&rows);
    for (int k = 0; k < rows; k++) {
        const grpo_objective o = grpo_objective_from_preset(&row[k]);
        for (int need = 0; need < NEEDS; need++) {
            int why = !needs(&o, need);
            for (int f = 0; f < n && !why; f++) {
                const double x = grpo_objective_get(&o, &field[f]);
                why = x != 0 && brings(&field[f], field[f].choices ? x : 1, need);
            }
            /* a divisor by groups asks for whole groups where another choice asks for whole responses */
            if (!why && need == WHOLE_GROUPS) why = grpo_context_needs_groups(&o);
            if (!why) wrong += fprintf(stderr, "%s: nothing says why it needs %s\n", row[k].name, words[need]) > 0;
        }
    }
    return wrong;
}

int main(void) {
    int n;
    const grpo_field *field = grpo_fields(&n);
    printf("| what is asked for | by which choices |\n|---|---|\n");
    for (int need = 0; need < NEEDS; need++) {
        int any = 0;
        printf("| %s |", words[need]);
        for (int f = 0; f < n; f++) print_field(&field[f], need, &any);
        puts(" |");
    }
    return unexplained(field, n) != 0;
}
