/* Groups failures by their cause.  A cause is named for a coherent set of cases (all, a row, a choice of the objective, the kinds of cases)
 * if it explains at least half of the failing cases there and contradicts at most a tenth of the cases on which it has an effect.  This is
 * repeated until no cause explains anything more; where several causes explain the same, one that is already named is preferred.  The
 * remaining failures are grouped by the output that is wrong first, with the properties that they have in common. */
#include "report.h"
#include "nan_source.h"
#include "../../support/field.h"
#include "text.h"
#include <stdlib.h>

enum { MOST_REASONS = 4, MOST_SETS = 4 };
enum { AGAINST = 2 };       /* a case that contradicts a cause weighs so many times one that it explains */
enum { FEW_OF_SET = 5, CHANCE = 3 };        /* is_by_chance */
enum { FEW = 8,      /* passing cases are few beside this many times as many failing ones */
       THIRD = 3, ENOUGH = 12 };        /* what a third of the passing cases has is told if so many unexplained ones have it, all of them */
#define MOST 0.5                    /* least share of the failing cases of a set that a cause explains */
#define NEAR 0.4                    /* of unexplained cases: told as nearly explained, if no more than this share contradicts */
#define CONTRADICTED 0.1            /* largest share of the cases of a set affected by the cause that may contradict it */

/* the cases of a row, or with a choice of a field, and of some kinds (a bit set); row and field NULL, kinds 0: all cases */
typedef struct { const char *row; const grpo_field *field; double value; unsigned kinds; } coherent_set;

typedef struct { coherent_set *sets; int cause; } extent;       /* of a group: its sets, and the cause of the last one */

typedef struct {
    report *r;
    const diagnostician *d;
    int n;                          /* items */
    int *covered;                   /* (n) 0, or 1 + the index of the group that the item is in */
    extent *extents;                /* stb_ds array: one for each group with a cause */
} grouping;

/* ---- sets of cases ---------------------------------------------------------------------------------------------------------------- */

static int has_objective(const test_case *c) { return case_has_loss(c) || c->rows.has_loss; }

/* a bit set: the kind of the case; logits and hidden states together, as one part of a program usually computes both */
static unsigned kinds_of(const test_case *c) { return case_has_rows(c) ? 1u << CASE_LOGITS | 1u << CASE_HIDDEN : 1u << c->kind; }

static int is_in(const grouping *g, const coherent_set *s, int k) {
    const item *it = &g->d->items[k];
    if (s->kinds && !(s->kinds >> it->c->kind & 1)) return 0;
    if (s->row) return !strcmp(g->r->results[it->result].variant, s->row);
    if (s->field) return has_objective(it->c) && grpo_objective_get(&it->c->objective, s->field) == s->value;
    return 1;
}

/* A cause in a set.  fails: failing items; same, one_number, evidence: those it explains, without items in groups of other causes; fresh:
 * those of them that are in no group yet; other: items that contradict it. */
typedef struct { int same, one_number, other, fails, evidence, fresh; } tally;

static int says_so(const cause *x, int k) { return x->says[k] == SAYS_SAME || x->says[k] == SAYS_ONE_NUMBER; }

static int lists(const int *list, int value) {
    for (ptrdiff_t k = 0; k < arrlen(list); k++) if (list[k] == value) return 1;
    return 0;
}

/* the index of the group with this cause, or (also) with the cause among its other names; -1: none */
static int group_of(const grouping *g, int c, int also) {
    for (ptrdiff_t k = 0; k < arrlen(g->r->groups); k++)
        if (g->r->groups[k].cause == c || (also && lists(g->r->groups[k].also, c))) return (int)k;
    return -1;
}

/* the stages in which the cause explains something */
static void stages_of_cause(const grouping *g, const cause *x, unsigned char *stages) {
    for (int s = 0; s < N_STAGES; s++) stages[s] = 0;
    for (int k = 0; k < g->n; k++) if (x->says[k] == SAYS_SAME || x->says[k] == SAYS_ONE_NUMBER) stages[g->d->items[k].stage] = 1;
}

static tally count_in(const grouping *g, int c, const coherent_set *s, int fragile) {
    const cause *x = &g->d->causes[c];
    const int own = group_of(g, c, 1) + 1;
    unsigned char stages[N_STAGES];
    tally t = { 0, 0, 0, 0, 0, 0 };
    stages_of_cause(g, x, stages);
    for (int k = 0; k < g->n; k++) {
        const item *it = &g->d->items[k];
        if (!stages[it->stage] || !is_in(g, s, k) || (it->fragile && !fragile)) continue;
        t.fails += it->failed;
        if (it->failed && (!g->covered[k] || g->covered[k] == own)) {
            t.fresh += !g->covered[k] && says_so(x, k);
            t.same += x->says[k] == SAYS_SAME;
            t.one_number += x->says[k] == SAYS_ONE_NUMBER;
            if (x->says[k] == SAYS_SAME) t.evidence += x->evidence[k];
        }
        t.other += x->says[k] == SAYS_OTHER;
    }
    return t;
}

static int explained(const tally *t) { return t->same + t->one_number; }

static int are_both(double one, double other) { return 5 * one > one + other && 5 * other > one + other; }

/* Are at least a fifth of the numbers too large and a fifth too small?  So it is with rounding, not with an eps or a factor.  Or a fifth if
 * every item has the same weight: in a long one thousands of tokens have one coefficient, which is rounded one way. */
static int is_of_both_signs(const grouping *g, const cause *x) {
    double all_larger = 0, all_smaller = 0, items_larger = 0, items_smaller = 0;
    for (int k = 0; k < g->n; k++) {
        const item *it = &g->d->items[k];
        double larger = 0, smaller = 0;
        for (int out = 0; out < N_OUTPUTS && x->says[k] == SAYS_SAME; out++) {
            const numbers *f = &it->found->of[out], *e = &it->q->expected.of[out];
            for (int64_t j = 0; (it->wrong_outputs >> out & 1) && j < f->count; j++) {
                larger += f->given[j] && fabs(f->value[j]) > fabs(e->value[j]);
                smaller += f->given[j] && fabs(f->value[j]) < fabs(e->value[j]);
            }
        }
        if (larger + smaller == 0) continue;
        all_larger += larger;
        all_smaller += smaller;
        items_larger += larger / (larger + smaller);
        items_smaller += smaller / (larger + smaller);
    }
    return are_both(all_larger, all_smaller) || are_both(items_larger, items_smaller);
}

static int has_few_bits(double x) {
    int exponent;
    const double m = frexp(x, &exponent) * 4096;
    return m == floor(m);
}

/* Are all wrong losses and advantages float32 numbers?  A number that was computed in float64 is one by chance only once in 2^29; one of a
 * few bits, as rewards are, tells nothing. */
static int is_in_float32(const grouping *g, const cause *x) {
    static const output_kind of[] = { OUT_ADVANTAGE, OUT_LOSS, OUT_ROW_LOSS };
    int seen = 0;
    for (int k = 0; k < g->n; k++) {
        const item *it = &g->d->items[k];
        for (size_t n = 0; n < sizeof of / sizeof *of && x->says[k] == SAYS_SAME; n++) {
            const numbers *f = &it->found->of[of[n]], *e = &it->q->expected.of[of[n]];
            for (int64_t j = 0; (it->wrong_outputs >> of[n] & 1) && j < f->count; j++) {
                if (!f->given[j] || f->value[j] == e->value[j]) continue;
                if (f->value[j] != (double)(float)f->value[j]) return 0;
                seen += !has_few_bits(f->value[j]);
            }
        }
    }
    return seen >= 3;
}

/* can the cause be named for the set? */
static int is_cause(const grouping *g, const cause *x, const tally *t) {
    int enough = t->evidence >= 2 || t->same >= 3 || x->kind == CAUSE_KNOWN;
    if (!t->fresh) return 0;
    if (x->kind == CAUSE_LONG_SUM) return t->same && !t->other;        /* also if it explains few of the failures */
    if (!t->same || !enough) return 0;
    if (x->kind == CAUSE_ROUNDING && (t->same < 3 || (t->other && !x->bits && !x->digits))) return 0;
    if (x->kind == CAUSE_ROUNDING && !x->bits && !x->digits && !is_of_both_signs(g, x) && !is_in_float32(g, x)) return 0;
    if (x->kind == CAUSE_FACTOR && x->quantity < 0 && t->same < 2) return 0;
    if (t->other > CONTRADICTED * (explained(t) + t->other)) return 0;
    return explained(t) >= MOST * t->fails;
}

/* the plausibility of a kind of cause: the lowest is preferred among causes that explain the same */
static int rank_of(const cause *x) {
    static const int ranks[] = { 0, 1, 0, 3, 2, 8, 6, 10, 20 };
    return ranks[x->kind] + (x->half == WHOLE ? 0 : 4) + (x->kind == CAUSE_FACTOR && x->quantity < 0 ? 4 : 0)
        + (x->kind == CAUSE_CHANGE && !x->made[0].field ? 3 : 0);
}

typedef struct { int cause; coherent_set set; tally t; int fragile; } choice;

/* The preference for a set, the largest first: all cases, a choice of the stage that is wrong, another choice, a row; for each of these all
 * kinds of cases before one. */
static int size_of_set(const grouping *g, const choice *c) {
    const coherent_set *s = &c->set;
    const cause *x = &g->d->causes[c->cause];
    const int size = s->row ? 0 : !s->field ? 3 : strncmp(s->field->path, "reward.", 7) && stage_of_field(s->field) == x->stage ? 2 : 1;
    return 2 * size - (s->kinds != 0);
}

static int is_objective(const cause *x) { return x->kind == CAUSE_CHANGE || x->kind == CAUSE_PAIR || x->kind == CAUSE_PRESET; }

/* Over the failing items in no group: how many a explains and b contradicts, less how many b explains and a contradicts.  Between two other
 * objectives, which can be computed everywhere, SAYS_NOTHING is a contradiction too: the right numbers are not those found. */
static int more_often(const grouping *g, const cause *a, const cause *b) {
    const int silence = is_objective(a) && is_objective(b);
    int more = 0;
    for (int k = 0; k < g->n; k++) {
        const int x = a->says[k], y = b->says[k];
        if (!g->d->items[k].failed || g->covered[k]) continue;
        more += x == SAYS_SAME && (y == SAYS_OTHER || (silence && y == SAYS_NOTHING));
        more -= y == SAYS_SAME && (x == SAYS_OTHER || (silence && x == SAYS_NOTHING));
    }
    return more;
}

/* Is choice a already named and b not, and does a explain at least half as much as b and contradict nothing that b explains?  Then a is
 * preferred: one cause for two sets is simpler than two causes. */
static int is_preferred(const grouping *g, const choice *a, const choice *b) {
    const cause *x = &g->d->causes[a->cause], *y = &g->d->causes[b->cause];
    if (group_of(g, a->cause, 1) < 0 || group_of(g, b->cause, 1) >= 0 || a->t.fresh < MOST * b->t.fresh) return 0;
    for (int k = 0; k < g->n; k++) if (g->d->items[k].failed && !g->covered[k] && is_in(g, &b->set, k) && x->says[k] == SAYS_OTHER
        && says_so(y, k)) return 0;
    return a->t.other <= b->t.other;
}

/* Is choice a better than b?  The one that explains more is; of equals one that is already named, then the one that explains more
 * elsewhere, then the larger set, then the more plausible kind of cause. */
static int is_better(const grouping *g, const choice *a, const choice *b) {
    int x, y;
    if (b->cause < 0) return 1;
    if (is_preferred(g, a, b)) return 1;
    if (is_preferred(g, b, a)) return 0;
    x = a->t.fresh - AGAINST * a->t.other;
    y = b->t.fresh - AGAINST * b->t.other;
    if (x != y) return x > y;
    if (a->t.same != b->t.same && a->cause == b->cause) return a->t.same > b->t.same;
    x = group_of(g, a->cause, 1) >= 0;
    y = group_of(g, b->cause, 1) >= 0;
    if (x != y) return x > y;
    if (a->t.same != b->t.same) return a->t.same > b->t.same;
    x = a->cause == b->cause ? 0 : more_often(g, &g->d->causes[a->cause], &g->d->causes[b->cause]);
    if (x != 0) return x > 0;
    x = size_of_set(g, a);
    y = size_of_set(g, b);
    if (x != y) return x > y;
    return rank_of(&g->d->causes[a->cause]) < rank_of(&g->d->causes[b->cause]);
}

/* Does the cause explain only a few cases of a set, is it named for no other, and do many more failures that nothing explains contradict it
 * elsewhere?  Then its numbers are there by chance, such as those of a mask without holes. */
static int is_by_chance(const grouping *g, int c, const coherent_set *s, const tally *t) {
    int other = 0;
    if (explained(t) > FEW_OF_SET || group_of(g, c, 1) >= 0) return 0;
    for (int k = 0; k < g->n; k++) {
        const item *it = &g->d->items[k];
        other += it->failed && !it->fragile && !g->covered[k] && !is_in(g, s, k) && g->d->causes[c].says[k] == SAYS_OTHER;
    }
    return other > CHANCE * explained(t);
}

/* can the cause be named for the set?  Fragile cases count only if no other case of the set fails */
static int holds_in(const grouping *g, int c, const coherent_set *s, choice *out) {
    const cause *x = &g->d->causes[c];
    out->cause = c;
    out->set = *s;
    out->t = count_in(g, c, s, 0);
    out->fragile = !out->t.fails;
    if (out->fragile) out->t = count_in(g, c, s, 1);
    return is_cause(g, x, &out->t) && !is_by_chance(g, c, s, &out->t);
}

static void consider(const grouping *g, int c, const coherent_set *s, choice *best) {
    choice now;
    if (holds_in(g, c, s, &now) && is_better(g, &now, best)) *best = now;
}

static int is_seen(const coherent_set *sets, const coherent_set *s) {
    for (ptrdiff_t k = 0; k < arrlen(sets); k++)
        if ((sets[k].row == s->row || (s->row && sets[k].row && !strcmp(sets[k].row, s->row))) && sets[k].field == s->field
            && sets[k].value == s->value && sets[k].kinds == s->kinds)
            return 1;
    return 0;
}

static void put_set(coherent_set **sets, const char *row, const grpo_field *field, double value, unsigned kinds) {
    coherent_set s;
    s.row = row;
    s.field = field;
    s.value = value;
    s.kinds = kinds;
    if (!is_seen(*sets, &s)) arrput(*sets, s);
}

/* is there an answered case with an objective of another kind? */
static int is_one_of_kinds(const grouping *g, const item *it) {
    for (int k = 0; k < g->n; k++) if (has_objective(g->d->items[k].c) && kinds_of(g->d->items[k].c) != kinds_of(it->c)) return 1;
    return 0;
}

/* all sets in which something fails that is in no group: everything, each row, each choice, each of these for one kind of case */
static coherent_set *sets_of(const grouping *g) {
    coherent_set *sets = NULL;
    int count;
    const grpo_field *field = grpo_fields(&count);
    put_set(&sets, NULL, NULL, 0, 0);
    for (int k = 0; k < g->n; k++) {
        const item *it = &g->d->items[k];
        if (!it->failed || g->covered[k]) continue;
        put_set(&sets, g->r->results[it->result].variant, NULL, 0, 0);
        for (int one = 0; has_objective(it->c) && one <= is_one_of_kinds(g, it); one++) {
            const unsigned kinds = one ? kinds_of(it->c) : 0;
            put_set(&sets, NULL, NULL, 0, kinds);
            for (int n = 0; n < count; n++)
                if (field[n].choices) put_set(&sets, NULL, &field[n], grpo_objective_get(&it->c->objective, &field[n]), kinds);
        }
    }
    return sets;
}

static int explains_any(const grouping *g, int c) {
    for (int k = 0; k < g->n; k++) if (!g->covered[k] && g->d->items[k].failed && g->d->causes[c].says[k] == SAYS_SAME) return 1;
    return 0;
}

/* the best cause and set; a cause that holds for all cases is not tried on smaller sets */
static choice best_choice(const grouping *g) {
    coherent_set *sets = sets_of(g);
    choice best;
    memset(&best, 0, sizeof best);
    best.cause = -1;
    for (int c = 0; c < (int)arrlen(g->d->causes); c++) {
        choice all;
        if (!explains_any(g, c)) continue;
        if (holds_in(g, c, &sets[0], &all)) { if (is_better(g, &all, &best)) best = all; continue; }
        for (ptrdiff_t k = 1; k < arrlen(sets); k++) consider(g, c, &sets[k], &best);
    }
    arrfree(sets);
    return best;
}

/* ---- groups of a cause ------------------------------------------------------------------------------------------------------------ */

static int same_explained(const grouping *g, const choice *a, int other) {
    const cause *x = &g->d->causes[a->cause], *y = &g->d->causes[other];
    for (int k = 0; k < g->n; k++) {
        if (g->covered[k] || !g->d->items[k].failed || !is_in(g, &a->set, k)) continue;
        if (x->says[k] == SAYS_SAME && y->says[k] != SAYS_SAME && y->says[k] != SAYS_ONE_NUMBER) return 0;
        if (x->says[k] == SAYS_ONE_NUMBER && y->says[k] == SAYS_OTHER) return 0;
    }
    return 1;
}

static void add_choice(char **t, const coherent_set *s) {
    int length;
    const char *name = field_choice(s->field, s->value, &length);
    text_format(t, "%s = %.*s", s->field->path, length, name);
}

static void add_kinds(char **t, unsigned kinds) {
    text_add(t, kinds >> CASE_LOGITS & 1 ? "cases of kinds " : "cases of kind ");
    for (int k = 0, n = 0; k <= CASE_REFUSE; k++) if (kinds >> k & 1) text_format(t, "%s%s", n++ ? " and " : "", case_kind_name[k]);
}

static char *words_of_set(const coherent_set *s) {
    char *t = NULL;
    if (!s->row && !s->field && !s->kinds) return NULL;
    if (s->row) text_add(&t, s->row);
    if (s->field) add_choice(&t, s);
    if (s->kinds && s->field) text_add(&t, " of ");
    if (s->kinds) add_kinds(&t, s->kinds);
    return text_string(&t);
}

static int is_in_extent(const grouping *g, const extent *e, int k) {
    for (ptrdiff_t n = 0; n < arrlen(e->sets); n++) if (is_in(g, &e->sets[n], k)) return 1;
    return 0;
}

/* Does the cause explain or not affect all cases outside its sets, or are the sets its own choice?  Then the sets are not named. */
static int is_whole(const grouping *g, const extent *e) {
    const cause *x = &g->d->causes[e->cause];
    int own = x->made[0].field != NULL;
    for (ptrdiff_t n = 0; n < arrlen(e->sets); n++) own &= x->made[0].field == e->sets[n].field;
    for (int k = 0; k < g->n && !own; k++) if (!is_in_extent(g, e, k) && x->says[k] == SAYS_OTHER) return 0;
    return 1;
}

static char *words_of_extent(const grouping *g, const extent *e) {
    char *t = NULL;
    if (is_whole(g, e)) return NULL;
    for (ptrdiff_t n = 0; n < arrlen(e->sets) && n < MOST_SETS; n++) {
        char *words = words_of_set(&e->sets[n]);
        text_format(&t, "%s%s", n == 0 ? "" : n + 1 == arrlen(e->sets) ? " and " : ", ", words ? words : "");
        free(words);
    }
    if (arrlen(e->sets) > MOST_SETS) text_format(&t, " and %lld more sets", (long long)(arrlen(e->sets) - MOST_SETS));
    return text_string(&t);
}

/* by its cause or one of its other names, since each may be missing for some cases */
static int is_explained_by(const grouping *g, int k, const failure_group *group) {
    int is = says_so(&g->d->causes[group->cause], k);
    for (ptrdiff_t n = 0; n < arrlen(group->also) && !is; n++) is = says_so(&g->d->causes[group->also[n]], k);
    return is;
}

/* The known mistake that agrees with the cause in the cases that record it (not every case records every mistake); -1: none. */
static int known_as(const grouping *g, const choice *best) {
    const cause *x = &g->d->causes[best->cause];
    for (int c = 0; c < (int)arrlen(g->d->causes) && x->kind != CAUSE_KNOWN; c++) {
        const cause *y = &g->d->causes[c];
        int both = 0, same = 0, other = 0, all = 0;
        if (y->kind != CAUSE_KNOWN) continue;
        for (int k = 0; k < g->n; k++) {
            if (!is_in(g, &best->set, k)) continue;
            other += y->says[k] == SAYS_OTHER;
            all += says_so(x, k);
            both += says_so(x, k) && says_so(y, k);
            same += says_so(x, k) && y->says[k] == SAYS_SAME;
        }
        if (same && !other && both >= MOST * all) return c;
    }
    return -1;
}

/* makes the known mistake the cause of the group, and the former cause one of its other names */
static void name_known(failure_group *group, int known) {
    for (ptrdiff_t k = 0; k < arrlen(group->also); k++) if (group->also[k] == known) group->also[k] = group->cause;
    group->cause = known;
}

/* other names that hold in all cases of the group stay in `also`; those that hold in some cases move to `partly` */
static void keep_common(failure_group *to, const int *also) {
    ptrdiff_t left = 0;
    for (ptrdiff_t k = 0; k < arrlen(to->also); k++) {
        if (lists(also, to->also[k])) to->also[left++] = to->also[k];
        else list_add_once(&to->partly, to->also[k]);
    }
    arrsetlen(to->also, (size_t)left);
    for (ptrdiff_t k = 0; k < arrlen(also); k++) if (also[k] != to->cause && !lists(to->also, also[k])) list_add_once(&to->partly, also[k]);
}

static int contradicts(const grouping *g, int c, const choice *best) {
    for (int k = 0; k < g->n; k++)
        if (is_in(g, &best->set, k) && g->d->items[k].failed && !g->covered[k] && says_so(&g->d->causes[best->cause], k)
            && g->d->causes[c].says[k] == SAYS_OTHER) return 1;
    return 0;
}

/* The existing group that the cause extends to another set.  The group keeps its name if that is the cause, or a known mistake that does
 * not contradict the new cases; else it takes the cause's name, if that explains all its cases.  -1: none. */
static int group_to_extend(const grouping *g, int c, const choice *best) {
    const int n = group_of(g, c, 1);
    failure_group *group = n < 0 ? NULL : &g->r->groups[n];
    if (n < 0 || group->cause == c) return n;
    if (g->d->causes[group->cause].kind == CAUSE_KNOWN && !contradicts(g, group->cause, best)) return n;
    for (int k = 0; k < g->n; k++) if (g->covered[k] == n + 1 && !says_so(&g->d->causes[c], k)) return -1;
    name_known(group, c);
    return n;
}

static void extend(grouping *g, int n, failure_group *by, const choice *best) {
    failure_group *group = &g->r->groups[n];
    extent *e = &g->extents[n];
    for (ptrdiff_t k = 0; k < arrlen(by->cases); k++) list_add_once(&group->cases, by->cases[k]);
    list_add_once(&by->also, by->cause);
    keep_common(group, by->also);
    arrput(e->sets, best->set);
    e->cause = best->cause;
    group->refuted += by->refuted;
    free(group->where);
    group->where = words_of_extent(g, e);
    arrfree(by->cases);
    arrfree(by->also);
}

static void add_group(grouping *g, failure_group *group, const choice *best) {
    extent e = { NULL, best->cause };
    arrput(e.sets, best->set);
    group->where = words_of_extent(g, &e);
    arrput(g->extents, e);
    arrput(g->r->groups, *group);
}

/* what is wrong besides the cause in item k, if the group has it */
static unsigned apart_of(const grouping *g, const cause *x, int group, int k) {
    const item *it = &g->d->items[k];
    return g->covered[k] != group ? 0 : x->says[k] == SAYS_SAME ? diagnostician_apart(g->d, x, it) : judge_apart(it->q, it->found);
}

/* what is wrong besides the cause in cases of the group: advantages of masked tokens, of lone responses, of equal rewards */
static char *words_besides(const grouping *g, const cause *x, int group) {
    static const char *const words[] = { "masked tokens have the advantage of their response, not 0,",
        "a response alone in its group has NaN", "a group of equal rewards has NaN" };
    enum { N_WORDS = sizeof words / sizeof *words };
    int count[N_WORDS] = { 0 };
    char *t = NULL;
    for (int k = 0; k < g->n; k++) {
        const unsigned apart = apart_of(g, x, group, k);
        for (int n = 0; n < N_WORDS; n++) count[n] += (int)(apart >> n & 1u);
    }
    for (int n = 0; n < N_WORDS; n++)
        if (count[n]) text_format(&t, "%s%s in %d of them", t ? "; " : "besides: ", words[n], count[n]);
    return t ? text_string(&t) : NULL;
}

/* where advantages are wrong by a mistake of their own besides the cause of group n, so they are where nothing else is wrong */
static void cover_apart(grouping *g, int n) {
    failure_group *group = &g->r->groups[n];
    const cause *x = &g->d->causes[group->cause];
    unsigned besides = 0;
    for (int k = 0; k < g->n; k++) besides |= apart_of(g, x, n + 1, k);
    for (int k = 0; k < g->n && besides; k++) {
        const item *it = &g->d->items[k];
        if (g->covered[k] || !it->failed || it->stage != STAGE_ADVANTAGE || x->says[k] != SAYS_NOTHING) continue;
        if (judge_apart(it->q, it->found) & ~besides || !judge_is_only_apart(g->d->r, it->q, it->found)) continue;
        g->covered[k] = n + 1;
        list_add_once(&group->cases, it->result);
    }
}

static int is_nan(const report *r, int result) {
    const case_result *c = &r->results[result];
    for (ptrdiff_t k = 0; k < arrlen(c->wrong); k++) if (c->wrong[k].m.found != c->wrong[k].m.found) return 1;
    return 0;
}

/* in how many of the group's cases NaN is found, and what may give it there */
static void write_nans(const grouping *g, char **t, const failure_group *group, stage_kind stage) {
    int nans = 0, of[N_NAN_SOURCES] = { 0 };
    for (ptrdiff_t k = 0; k < arrlen(group->cases); k++) nans += is_nan(g->r, group->cases[k]);
    if (!nans) return;
    for (int k = 0; k < g->n; k++) {
        const item *it = &g->d->items[k];
        if (it->stage != stage || stage == STAGE_ADVANTAGE || !lists(group->cases, it->result) || !is_nan(g->r, it->result)) continue;
        if (case_has_loss(it->c)) of[nan_source_of(it->c, g->d->r->precision->max)]++;
    }
    text_format(t, "%sNaN is found in %d of them", *t ? "; " : "", nans);
    for (int s = 0, told = 0; s < N_NAN_SOURCES; s++)
        if (of[s] && nan_source_words[s]) text_format(t, "%s in %d, %s", told++ ? ";" : ":", of[s], nan_source_words[s]);
}

/* what is told of group n, which has a cause: what is wrong besides, and where NaN may come from */
static char *words_of_named(const grouping *g, int n) {
    const failure_group *group = &g->r->groups[n];
    const cause *x = &g->d->causes[group->cause];
    unsigned char stages[N_STAGES];
    char *t = NULL, *besides = words_besides(g, x, n + 1);
    stages_of_cause(g, x, stages);
    if (besides) text_add(&t, besides);
    if (stages[STAGE_LOSS] && !stages[STAGE_ADVANTAGE]) write_nans(g, &t, group, STAGE_LOSS);
    free(besides);
    return t ? text_string(&t) : NULL;
}

static void put_group(grouping *g, const choice *best) {
    int known = known_as(g, best), n;
    const cause *x = &g->d->causes[best->cause];
    failure_group group;
    memset(&group, 0, sizeof group);
    group.cause = best->cause;
    group.refuted = best->t.other;
    for (int c = 0; c < (int)arrlen(g->d->causes); c++) {
        choice other;
        if (c == best->cause || g->d->causes[c].kind >= CAUSE_ROUNDING || rank_of(&g->d->causes[c]) > rank_of(x) + 3) continue;
        if (holds_in(g, c, &best->set, &other) && other.t.other <= best->t.other && same_explained(g, best, c)) arrput(group.also, c);
    }
    if (known >= 0) list_add_once(&group.also, known);
    if (group_of(g, best->cause, 0) >= 0) known = -1;          /* the name of the existing group is kept */
    n = group_to_extend(g, known >= 0 ? known : best->cause, best);
    for (int k = 0; k < g->n; k++) {
        if (g->covered[k] || !g->d->items[k].failed || !is_in(g, &best->set, k)) continue;
        if (!is_explained_by(g, k, &group)) continue;
        g->covered[k] = (n < 0 ? (int)arrlen(g->r->groups) : n) + 1;
        list_add_once(&group.cases, g->d->items[k].result);
    }
    if (known >= 0) name_known(&group, known);
    if (n < 0) add_group(g, &group, best);
    else extend(g, n, &group, best);
    n = n < 0 ? (int)arrlen(g->r->groups) - 1 : n;
    if (g->d->causes[g->r->groups[n].cause].stage == STAGE_ADVANTAGE) cover_apart(g, n);
    free(g->r->groups[n].hint);
    g->r->groups[n].hint = words_of_named(g, n);
}

/* ---- unexplained failures --------------------------------------------------------------------------------------------------------- */

static int is_left(const grouping *g, int k) { return g->d->items[k].failed && !g->covered[k]; }

/* A feature (a set or a flag): do all unexplained items with this wrong output have it, how many are these, and how many passing items have
 * it and lack it? */
typedef struct { int all, left, passing_with, passing_without; } spread;

static spread spread_of(const grouping *g, stage_kind stage, output_kind first, const coherent_set *s, const char *flag) {
    spread f = { 1, 0, 0, 0 };
    for (int k = 0; k < g->n; k++) {
        const item *it = &g->d->items[k];
        const cJSON *flags = json_get(it->c->json, "flags");
        int has = flag ? 0 : is_in(g, s, k);
        if (it->stage != stage || (!flag && s->field && !has_objective(it->c))) continue;
        for (const cJSON *one = flag && flags ? flags->child : NULL; one; one = one->next) has |= !strcmp(one->valuestring, flag);
        if (is_left(g, k) && it->first_wrong == first) { f.all &= has; f.left++; }
        if (it->failed) continue;
        if (has) f.passing_with++; else f.passing_without++;
    }
    return f;
}

/* every flag of the cases that were run, once */
static const char **flags_of_items(const grouping *g) {
    const char **flags = NULL;
    for (int k = 0; k < g->n; k++) {
        const cJSON *own = cJSON_GetObjectItemCaseSensitive(g->d->items[k].c->json, "flags");
        for (const cJSON *one = own ? own->child : NULL; one; one = one->next) {
            ptrdiff_t at = 0;
            while (at < arrlen(flags) && strcmp(flags[at], one->valuestring)) at++;
            if (at == arrlen(flags)) arrput(flags, one->valuestring);
        }
    }
    return flags;
}

/* how many passing items have a feature that all unexplained ones have */
typedef enum { NO_PASSING, FEW_PASSING, A_THIRD_PASSING } passing_share;

/* does the feature separate the unexplained items from passing ones? */
static int separates(const spread *f, passing_share share) {
    if (!f->all || !f->passing_without) return 0;
    switch (share) {
    case NO_PASSING: return !f->passing_with;
    case FEW_PASSING: return f->passing_with && FEW * f->passing_with <= f->left;
    default: return f->left >= ENOUGH && THIRD * f->passing_with <= f->passing_with + f->passing_without;
    }
}

/* writes the separating features, choices that are the default only if no passing item has them; returns how many were written */
static int write_features(const grouping *g, char **t, stage_kind stage, output_kind first, const coherent_set *sets, passing_share share) {
    const char **flags = flags_of_items(g);
    int told = 0;
    for (ptrdiff_t k = 1; k < arrlen(sets) && told < MOST_REASONS; k++) {
        spread f = spread_of(g, stage, first, &sets[k], NULL);
        char *words;
        if (sets[k].field && sets[k].kinds) continue;
        if (!separates(&f, share) || (share != NO_PASSING && sets[k].field && sets[k].value == 0)) continue;
        words = words_of_set(&sets[k]);
        text_format(t, "%s%s", told++ ? ", " : "", words);
        free(words);
    }
    for (ptrdiff_t k = 0; k < arrlen(flags) && told < MOST_REASONS; k++) {
        spread f = spread_of(g, stage, first, NULL, flags[k]);
        if (separates(&f, share)) text_format(t, "%sthe flag %s", told++ ? ", " : "", flags[k]);
    }
    arrfree(flags);
    return told;
}

static int passes_any(const grouping *g, stage_kind stage) {
    for (int k = 0; k < g->n; k++) if (g->d->items[k].stage == stage && !g->d->items[k].failed) return 1;
    return 0;
}

/* writes what the unexplained items have in common and few or no passing ones have; nothing if there is no such feature */
static void write_common(const grouping *g, char **t, stage_kind stage, output_kind first, const coherent_set *sets) {
    static const char *const have[] = { "no passing case", "few passing cases", "at most a third of the passing ones" };
    if (!passes_any(g, stage)) { text_add(t, "every case that was run fails"); return; }
    for (int share = NO_PASSING; share <= A_THIRD_PASSING; share++) {
        char *words = NULL, *string;
        int told = write_features(g, &words, stage, first, sets, (passing_share)share);
        string = text_string(&words);
        if (told) text_format(t, "all of these cases, and %s, have: %s", have[share], string);
        free(string);
        if (told) return;
    }
}

static const char *const left_text[N_OUTPUTS] = {
    "unexplained: the advantage is wrong", "unexplained: the dynamic sampling mask is wrong", "unexplained: the loss is wrong",
    "unexplained: the term is wrong, before any aggregation", "unexplained: the loss is right, and its gradient dlogp is wrong",
    "unexplained: dentropy is wrong", "unexplained: ddivergence_ref is wrong", "unexplained: dlog_partition is wrong",
    "unexplained: only the report is wrong",
    "unexplained: logp is wrong", "unexplained: the entropy is wrong", "unexplained: the loss from logits is wrong",
    "unexplained: the loss is right, and its gradient dlogits is wrong", "unexplained: dhidden is wrong",
    "unexplained: dweight, the gradient of the projection, is wrong", "unexplained: the count of tokens of a part is wrong",
    "unexplained: the count of responses of a part is wrong", "unexplained: the count of groups of a part is wrong",
    "unexplained: the sum of a part's terms is wrong", "unexplained: the loss of a part is wrong",
    "unexplained: the count of tokens of a piece is wrong", "unexplained: the log-ratio of a piece is wrong",
    "unexplained: the answer of a call is wrong"
};

/* of a cause: how many unexplained items with this wrong output have its numbers, and which items of the stage contradict it */
typedef struct { int cause, same, evidence, other, first_other; } near_miss;

static near_miss near_miss_of(const grouping *g, int c, stage_kind stage, output_kind first) {
    near_miss m = { c, 0, 0, 0, -1 };
    const cause *x = &g->d->causes[c];
    for (int k = 0; k < g->n; k++) {
        const item *it = &g->d->items[k];
        if (it->stage != stage || it->fragile) continue;
        if (is_left(g, k) && it->first_wrong == first && x->says[k] == SAYS_SAME) { m.same++; m.evidence += x->evidence[k]; }
        if (x->says[k] != SAYS_OTHER) continue;
        if (!m.other++) m.first_other = it->result;
    }
    return m;
}

/* The cause that explains most of what is unexplained, but that more cases contradict than a name may have: a second mistake may be in
 * those, or the mistake is a similar one. */
static void write_near_miss(const grouping *g, char **t, const failure_group *group, stage_kind stage, output_kind first) {
    near_miss best = { -1, 0, 0, 0, -1 };
    for (int c = 0; c < (int)arrlen(g->d->causes); c++) {
        const near_miss m = near_miss_of(g, c, stage, first);
        if (m.same < 3 || m.evidence < 6 || m.other > NEAR * m.same || g->d->causes[c].kind >= CAUSE_ROUNDING) continue;
        if (m.same - m.other > best.same - best.other) best = m;
    }
    if (best.cause < 0 || best.same < NEAR * (int)arrlen(group->cases)) return;
    text_format(t, "nearly: in %d of them all numbers are those of `%s`, in %d cases, such as %s, they are not", best.same,
        g->d->causes[best.cause].name, best.other, g->r->results[best.first_other].id);
}

static void put_unexplained(grouping *g, stage_kind stage, output_kind first) {
    coherent_set *sets = sets_of(g);
    failure_group group;
    char *t = NULL, *common = NULL;
    memset(&group, 0, sizeof group);
    group.cause = -1;
    group.reason = left_text[first];
    for (int k = 0; k < g->n; k++) {
        if (!is_left(g, k) || g->d->items[k].stage != stage || g->d->items[k].first_wrong != first) continue;
        list_add_once(&group.cases, g->d->items[k].result);
    }
    if (group.cases) {
        write_near_miss(g, &t, &group, stage, first);
        write_nans(g, &t, &group, stage);
        write_common(g, &common, stage, first, sets);
        if (common) text_format(&t, "%s%.*s", t ? "; " : "", (int)arrlen(common), common);
        if (t) group.hint = text_string(&t);
        arrput(g->r->groups, group);
    }
    arrfree(common);
    arrfree(sets);
}

/* ---- all groups ------------------------------------------------------------------------------------------------------------------- */

static int same_reason(const char *a, const char *b) {
    return report_reason_length(a) == report_reason_length(b) && !strncmp(a, b, report_reason_length(a));
}

static void group_reason(report *r, int result) {
    const char *reason = r->results[result].reason;
    failure_group g;
    for (ptrdiff_t k = 0; k < arrlen(r->groups); k++) {
        failure_group *other = &r->groups[k];
        if (other->cause != -2 || !same_reason(other->reason, reason)) continue;
        arrput(other->cases, result);
        return;
    }
    memset(&g, 0, sizeof g);
    g.cause = -2;
    g.reason = r->results[result].reason;
    arrput(g.cases, result);
    arrput(r->groups, g);
}

static void count(report *r) {
    r->passed = r->acceptable = r->failed = r->skipped = 0;
    for (ptrdiff_t k = 0; k < arrlen(r->results); k++) {
        r->passed += r->results[k].verdict == CASE_PASSED;
        r->failed += r->results[k].verdict == CASE_FAILED;
        r->acceptable += r->results[k].verdict == CASE_ACCEPTABLE;
        r->skipped += r->results[k].verdict == CASE_SKIPPED;
    }
}

/* rounding comes after other causes in the report */
static void put_long_sums_last(report *r) {
    failure_group *ordered = NULL;
    for (int last = 0; last < 2; last++)
        for (ptrdiff_t k = 0; k < arrlen(r->groups); k++) {
            const int n = r->groups[k].cause;
            if ((n >= 0 && r->d->causes[n].kind == CAUSE_LONG_SUM) == last) arrput(ordered, r->groups[k]);
        }
    arrfree(r->groups);
    r->groups = ordered;
}

void report_group(report *r) {
    grouping g;
    choice best;
    g.r = r;
    g.d = r->d;
    g.n = (int)arrlen(r->d->items);
    g.extents = NULL;
    g.covered = calloc((size_t)g.n + 1, sizeof *g.covered);
    if (!g.covered) abort();
    count(r);
    while ((best = best_choice(&g)).cause >= 0) put_group(&g, &best);
    for (ptrdiff_t k = 0; k < arrlen(r->results); k++)
        if (r->results[k].verdict == CASE_FAILED && r->results[k].reason) group_reason(r, (int)k);
    for (int s = 0; s < N_STAGES; s++)
        for (int out = 0; out < N_OUTPUTS; out++) if (stage_of((output_kind)out) == (stage_kind)s) put_unexplained(&g, (stage_kind)s,
            (output_kind)out);
    put_long_sums_last(r);
    for (ptrdiff_t k = 0; k < arrlen(g.extents); k++) arrfree(g.extents[k].sets);
    arrfree(g.extents);
    free(g.covered);
}
