/* Searches, for each stage, single conventions and pairs that explain all failures of all cases or of a row. */
#include "conventions.h"
#include "text.h"
#include <stb_ds.h>
#include <stdlib.h>

/* of the scale: with a larger tolerance a convention cannot be distinguished from a similar mistake */
#define TOO_COARSE 1e-3

/* one convention or two */
typedef struct { int of[2], n; } choice;

typedef struct {
    const profile *p;
    diagnostician *d;
    case_result *results;
    stage_kind stage;
    choice now;
    ptrdiff_t n;                    /* items */
    unsigned char *holds;           /* (conventions, items) does the convention apply to the case? */
    signed char *says;              /* (items) a judge_match of the current choice; -1: not computed yet */
} search;

static int holds(const search *s, int convention, ptrdiff_t k) { return s->holds[convention * s->n + k]; }

static int *list_of(const search *s, ptrdiff_t k) {
    int *list = NULL;
    for (int j = 0; j < s->now.n; j++) if (holds(s, s->now.of[j], k)) arrput(list, s->now.of[j]);
    return list;
}

static judge_match says(search *s, ptrdiff_t k) {
    const item *it = &s->d->items[k];
    if (s->says[k] < 0) {
        int *list = list_of(s, k);
        s->says[k] = (signed char)profile_gives(s->p, s->d->r, it->q, it->found, it->stage, list);
        arrfree(list);
    }
    return (judge_match)s->says[k];
}

/* ---- sets of cases ---------------------------------------------------------------------------------------------------------------- */

/* is the item in the row (NULL: all rows), and does the choice apply to it? */
static int is_in(const search *s, const char *row, ptrdiff_t k) {
    const item *it = &s->d->items[k];
    int any = 0;
    for (int j = 0; j < s->now.n; j++) any |= holds(s, s->now.of[j], k);
    return any && it->stage == s->stage && !it->accepted && (!row || !strcmp(s->results[it->result].variant, row));
}

/* how many failures the choice explains; 0 if it leaves one unexplained or contradicts a passing case */
static int explained(search *s, const char *row) {
    int n = 0;
    for (ptrdiff_t k = 0; k < s->n; k++) {
        if (!s->d->items[k].failed || !is_in(s, row, k)) continue;
        if (says(s, k) != JUDGE_SAME) return 0;
        n++;
    }
    for (ptrdiff_t k = 0; k < s->n && n; k++)
        if (!s->d->items[k].failed && is_in(s, row, k) && says(s, k) == JUDGE_DIFFERENT) return 0;
    return n;
}

static judge_match recorded_says(const search *s, const item *it, const cJSON *recorded) {
    judge_match m = JUDGE_SILENT;
    answer mistake;
    char error[200];
    if (answer_is_brief(recorded)) {
        if (!answer_read_brief(recorded, it->c, &mistake))
            m = judge_against(s->d->r, it->q, it->stage, it->found, &mistake, JUDGE_NAMED, NULL);
    } else if (!answer_read(recorded, it->c, &mistake, error, sizeof error))
        m = judge_against(s->d->r, it->q, it->stage, it->found, &mistake, JUDGE_ALL, NULL);
    answer_free(&mistake);
    return m;
}

static int is_own_name(const search *s, const char *id) {
    for (int k = 0; k < s->now.n; k++) if (profile_known_as(s->p, s->now.of[k], id)) return 1;
    return 0;
}

/* is no answer of the set different from what it records of the mistake? */
static int is_found(const search *s, const char *row, const char *id) {
    for (ptrdiff_t k = 0; k < s->n; k++) {
        const item *it = &s->d->items[k];
        const cJSON *recorded = json_get(json_get(it->c->json, "defects"), id);
        if (is_in(s, row, k) && recorded && recorded_says(s, it, recorded) == JUDGE_DIFFERENT) return 0;
    }
    return 1;
}

/* is there a known mistake, not in known_as, that gives the same numbers? */
static int has_rival(const search *s, const char *row) {
    for (ptrdiff_t k = 0; k < s->n; k++) {
        const item *it = &s->d->items[k];
        const cJSON *defects = json_get(it->c->json, "defects");
        if (!is_in(s, row, k) || !it->failed) continue;
        for (const cJSON *one = defects ? defects->child : NULL; one; one = one->next)
            if (!is_own_name(s, one->string) && recorded_says(s, it, one) == JUDGE_SAME && is_found(s, row, one->string)) return 1;
    }
    return 0;
}

/* ---- accepting -------------------------------------------------------------------------------------------------------------------- */

/* accepts one stage of a case; the case becomes acceptable when nothing else is wrong with it */
static void accept_item(const search *s, ptrdiff_t k) {
    item *it = &s->d->items[k];
    case_result *c = &s->results[it->result];
    int *list = list_of(s, k), *need = profile_needed(s->p, s->d->r, it->q, it->found, it->stage, list);
    ptrdiff_t left = 0;
    for (ptrdiff_t j = 0; j < arrlen(need); j++) list_add_once(&c->conventions, need[j]);
    for (ptrdiff_t j = 0; j < arrlen(c->wrong); j++) if (stage_of(c->wrong[j].m.output) != it->stage) c->wrong[left++] = c->wrong[j];
    arrsetlen(c->wrong, (size_t)left);
    if (!left) c->verdict = CASE_ACCEPTABLE;
    it->accepted = 1;
    arrfree(list);
    arrfree(need);
}

static void consider(search *s, const char *row) {
    if (!explained(s, row) || has_rival(s, row)) return;
    for (ptrdiff_t k = 0; k < s->n; k++) if (s->d->items[k].failed && is_in(s, row, k)) accept_item(s, k);
}

static int is_left(const search *s, ptrdiff_t k) {
    return s->d->items[k].stage == s->stage && s->d->items[k].failed && !s->d->items[k].accepted;
}

static void consider_choice(search *s, choice c) {
    const char *last = "";
    s->now = c;
    memset(s->says, -1, (size_t)s->n);
    consider(s, NULL);
    for (ptrdiff_t k = 0; k < s->n; k++) {
        const char *row = s->results[s->d->items[k].result].variant;
        if (!is_left(s, k) || !strcmp(row, last)) continue;
        last = row;
        consider(s, row);
    }
}

/* tries each convention alone, then pairs */
static void consider_stage(search *s, stage_kind stage) {
    const int n = (int)arrlen(s->p->convention);
    s->stage = stage;
    for (int k = 0; k < n; k++) consider_choice(s, (choice){ { k, k }, 1 });
    for (int j = 0; j < n; j++)
        for (int k = j + 1; k < n; k++) if (profile_goes_with(s->p, j, k)) consider_choice(s, (choice){ { j, k }, 2 });
}

static void drop_accepted(diagnostician *d) {
    ptrdiff_t left = 0;
    for (ptrdiff_t k = 0; k < arrlen(d->items); k++) if (!d->items[k].accepted) d->items[left++] = d->items[k];
    arrsetlen(d->items, (size_t)left);
}

void conventions_accept(const profile *p, diagnostician *d, case_result *results) {
    search s;
    const ptrdiff_t conventions = arrlen(p->convention);
    if (d->r->tolerance * d->r->precision->eps > TOO_COARSE) return;
    memset(&s, 0, sizeof s);
    s.p = p;
    s.d = d;
    s.results = results;
    s.n = arrlen(d->items);
    s.says = malloc((size_t)s.n + 1);
    s.holds = malloc((size_t)(conventions * s.n) + 1);
    if (!s.says || !s.holds) abort();
    for (ptrdiff_t c = 0; c < conventions; c++)
        for (ptrdiff_t k = 0; k < s.n; k++) s.holds[c * s.n + k] = (unsigned char)profile_applies(p, (int)c, d->r, d->items[k].c);
    consider_stage(&s, STAGE_ADVANTAGE);
    consider_stage(&s, STAGE_LOSS);
    consider_stage(&s, STAGE_LOGITS);
    drop_accepted(d);
    free(s.says);
    free(s.holds);
}
