/* Objectives with two or three choices that are not the first of their field, one of each combination, or with four, drawn at random; all
 * numbers are drawn.  Random objectives meet a combination of three too rarely: what goes wrong with one surrogate, one selection and one
 * correction only. */
#ifndef CHOICE_COMBINATIONS_H
#define CHOICE_COMBINATIONS_H
#include "random_objective.h"

enum { MOST_CHOICES = 512 };
typedef struct { const grpo_field *field; int choice; } chosen;
typedef void visit_combination(rng *r, const grpo_objective *obj, void *own);

/* every choice but the first of each field, of the axes that the loss reads */
static inline int all_choices(chosen *all) {
    int count, n = 0, k, c;
    const grpo_field *f = grpo_fields(&count);
    for (k = 0; k < count; k++) for (c = 1; f[k].choices && c < f[k].n_choices; c++) {
        if (!strncmp(f[k].path, "reward.", 7) || !strncmp(f[k].path, "advantage.", 10)) continue;
        if (n == MOST_CHOICES) abort();
        all[n].field = &f[k];
        all[n++].choice = c;
    }
    return n;
}

/* draws numbers with which these choices are valid; 0 if there are none */
static inline int draw_numbers(rng *r, const chosen *const *with, int n, grpo_objective *obj) {
    int count, tries, k;
    const grpo_field *f = grpo_fields(&count);
    for (tries = 0; tries < 8; tries++) {
        grpo_status st;
        memset(obj, 0, sizeof *obj);
        for (k = 0; k < count; k++) if (!f[k].choices && strncmp(f[k].path, "advantage.", 10)) random_field(r, &f[k], obj);
        for (k = 0; k < n; k++) field_set(obj, with[k]->field, with[k]->choice);
        st = grpo_objective_check(obj);
        if (!st) return 1;
        if (grpo_status_is(st, GRPO_COMBINATION)) return 0;
    }
    return 0;
}

static inline int visit_if_valid(uint64_t seed, const chosen *const *with, int n, visit_combination *visit, void *own) {
    rng r;
    grpo_objective obj;
    r.state = seed;
    if (!draw_numbers(&r, with, n, &obj)) return 0;
    visit(&r, &obj, own);
    return 1;
}

/* visits the valid combinations of all[first] with one other choice (of = 2), or with two of those after it (of = 3); returns
 * their number */
static inline long each_combination(const chosen *all, int n, int first, int of, visit_combination *visit, void *own) {
    const chosen *with[3];
    long valid = 0;
    int b, c;
    with[0] = &all[first];
    for (b = of > 2 ? first + 1 : 0; b < n; b++) {
        const uint64_t pair = (uint64_t)first * MOST_CHOICES + (uint64_t)b;
        if (all[b].field == all[first].field) continue;
        with[1] = &all[b];
        if (of == 2) valid += visit_if_valid(pair, with, 2, visit, own);
        else for (c = b + 1; c < n; c++) if (all[c].field != all[first].field && all[c].field != all[b].field) {
            with[2] = &all[c];
            valid += visit_if_valid(pair * MOST_CHOICES + (uint64_t)c, with, 3, visit, own);
        }
    }
    return valid;
}

enum { CHOSEN_TOGETHER = 4, CHOICE_REDRAWS = 10000 };

/* visits one valid combination of four choices; returns 0 if none of many that it draws is valid */
static inline int random_combination(rng *r, const chosen *all, int n, visit_combination *visit, void *own) {
    const chosen *with[CHOSEN_TOGETHER];
    int tries, k = 0, j;
    for (tries = 0; tries < CHOICE_REDRAWS; tries++) {
        with[k] = &all[rng_below(r, n)];
        for (j = 0; j < k && with[j]->field != with[k]->field; j++) { }
        if (j < k || ++k < CHOSEN_TOGETHER) continue;
        k = 0;
        if (visit_if_valid(rng_next(r), with, CHOSEN_TOGETHER, visit, own)) return 1;
    }
    return 0;
}
#endif
