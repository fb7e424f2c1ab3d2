/* --identify: sends the batches of full_batch.h, and searches the presets, and objectives up to MOST_CHANGES changes away from one, for one
 * that gives the answers. */
#include "identify.h"
#include "../../support/field.h"
#include "alternatives.h"
#include "full_batch.h"
#include "text.h"
#include <stdio.h>
#include <stdlib.h>

enum { SHOWN = 6, BEAM = 24, MOST_CHANGES = 3, CHANGES_OF_HALF = 1 };
#define ASKED "grpo"            /* case.objective of the batches; a program that reads it is identified as this */
#define OTHER "gspo"            /* case.objective of one more request, which shows whether the program reads it */
#define EQUAL 1e-9              /* a relative distance of at most this, or the tolerance if that is larger, is equality */
#define ALMOST 1e-6             /* at most this relative distance is a match too, as from an epsilon in a divisor */
#define NEIGHBOUR 0.05          /* an objective farther away than this is not reported as the nearest */
#define GRADIENTS (1u << OUT_DLOGP | 1u << OUT_DENTROPY | 1u << OUT_DDIVERGENCE_REF | 1u << OUT_DLOG_Z)

/* one batch and the answer to it; why: the reason of a missing answer, else NULL */
typedef struct { test_case c; cJSON *json; answer found; int answered, skipped; char *why; } round_result;

/* a preset, by its index, and changes of it; almost: within ALMOST only */
typedef struct { int row; change changed[MOST_CHANGES]; int changes, almost; double distance; } match;

typedef struct {
    match *matches;             /* stb_ds array: exact ones, presets before changed presets */
    match near[BEAM];           /* the nearest objectives tried, nearest first */
    int n_near, returned, own_advantages, most_changes;
    unsigned outputs;           /* a bit set: the outputs compared, all of the stage, or the loss's value or gradient alone */
} stage_matches;

typedef struct { const options *o; round_result round[N_FULL_BATCHES]; } batch_rounds;

/* ---- requests ------------------------------------------------------------------------------------------------------------------- */

/* gives the case every key of a report, so that a returned report can be read */
static void expect_report(test_case *c, case_metric *metrics) {
    c->report = metrics;
    for (int n = 0; compare_metric_name(n); n++) {
        metrics[n].key = compare_metric_name(n);
        c->n_report = n + 1;
    }
}

/* marks the outputs as present in the case, so that returned ones are read; the values in `room` are not used */
static void expect_outputs(test_case *c, double *room) {
    c->advantage.scale = c->term.scale = c->dlogp.scale = room;
    c->term.expect = c->dlogp.expect = room;
}

static int ask_round(session *s, round_result *r, const char *text) {
    char error[200] = "", *why = NULL;
    reply answered = session_ask_json(s, text, &r->c);
    if (answered.kind == REPLY_RESULT) r->answered = !answer_read(answered.result, &r->c, &r->found, error, sizeof error);
    if (!r->answered) text_format(&why, "%s", *error ? error : answered.text ? answered.text : s->over);
    if (why) r->why = text_string(&why);
    r->skipped = answered.kind == REPLY_SKIP;
    reply_free(&answered);
    return r->answered;
}

/* ---- matching ------------------------------------------------------------------------------------------------------------------- */

/* relative distance of the answer from what the objective gives; 1 if the objective cannot be evaluated */
static double distance_on(const round_result *r, const grpo_objective *obj, stage_kind stage, const stage_matches *m) {
    const double *advantage = m->own_advantages ? r->found.of[OUT_ADVANTAGE].value : NULL;
    answer a;
    double distance = 1;
    if (answer_evaluate(&r->c, obj, stage, advantage, &a)) distance = judge_distance(m->outputs, &r->found, &a);
    answer_free(&a);
    return distance;
}

/* The largest distance over the batches; stops at one above `enough`.  The later batches distinguish more, so they are tried first.  The
 * batch with per-token advantages is left out, since a program may use one advantage per sequence. */
static double distance_to(const batch_rounds *v, const grpo_objective *obj, stage_kind stage, const stage_matches *m, double enough) {
    double worst = 0;
    for (int k = FULL_TOKEN_ADVANTAGES - 1; k >= 0 && worst <= enough; k--)
        if (v->round[k].answered) worst = fmax(worst, distance_on(&v->round[k], obj, stage, m));
    return worst;
}

static int count_presets(void) {
    int count;
    grpo_presets(&count);
    return count;
}

static double allowed(const options *o) { return fmax(EQUAL, o->rules.tolerance * o->rules.precision->eps); }

static grpo_objective objective_of(const match *m) {
    grpo_objective obj = *preset_objective(m->row);
    for (int k = 0; k < m->changes; k++) obj = change_made(&obj, &m->changed[k]);
    return obj;
}

static int is_near(const stage_matches *m, const grpo_objective *obj, stage_kind stage) {
    for (int k = 0; k < m->n_near; k++) {
        grpo_objective other = objective_of(&m->near[k]);
        if (same_in_stage(&other, obj, stage)) return 1;
    }
    return 0;
}

static void keep_near(stage_matches *m, const match *x, const grpo_objective *obj, stage_kind stage) {
    int at = m->n_near;
    if (at == BEAM && x->distance >= m->near[BEAM - 1].distance) return;
    if (is_near(m, obj, stage)) return;
    if (at < BEAM) m->n_near++;
    else at--;
    for (; at > 0 && m->near[at - 1].distance > x->distance; at--) m->near[at] = m->near[at - 1];
    m->near[at] = *x;
}

/* a distance beyond which an objective is neither a match nor among the nearest */
static double far_enough(const batch_rounds *v, const stage_matches *m) {
    return m->n_near < BEAM ? HUGE_VAL : fmax(allowed(v->o), m->near[BEAM - 1].distance);
}

/* tries `from` with one more change, or (changed NULL) as it is */
static void try_match(const batch_rounds *v, stage_kind stage, stage_matches *m, const match *from, const change *changed) {
    match x = *from;
    grpo_objective obj;
    if (changed) x.changed[x.changes++] = *changed;
    obj = objective_of(&x);
    x.distance = distance_to(v, &obj, stage, m, far_enough(v, m));
    if (x.distance <= allowed(v->o)) arrput(m->matches, x);
    keep_near(m, &x, &obj, stage);
}

static void try_changes(const batch_rounds *v, stage_kind stage, stage_matches *m, const match *from) {
    grpo_objective obj = objective_of(from);
    change *changes = changes_of(&obj, stage);
    for (ptrdiff_t k = 0; k < arrlen(changes); k++) try_match(v, stage, m, from, &changes[k]);
    arrfree(changes);
}

static unsigned outputs_of(stage_kind stage) {
    unsigned outputs = 0;
    for (int k = 0; k < N_OUTPUTS; k++) if (stage_of((output_kind)k) == stage) outputs |= 1u << k;
    return outputs;
}

static int has_any(const answer *a, unsigned outputs) {
    for (int k = 0; k < N_OUTPUTS; k++) if ((outputs >> k & 1) && k != OUT_DYNAMIC_SAMPLING && a->of[k].value) return 1;
    return 0;
}

static int is_returned(const batch_rounds *v, unsigned outputs) {
    for (int k = 0; k < N_FULL_BATCHES; k++) if (v->round[k].answered && has_any(&v->round[k].found, outputs)) return 1;
    return 0;
}

static int has_own_advantages(const batch_rounds *v) {
    for (int k = 0; k < N_FULL_BATCHES; k++) if (v->round[k].answered && !v->round[k].found.of[OUT_ADVANTAGE].value) return 0;
    return 1;
}

static int holds_for_tokens(const batch_rounds *v, stage_kind stage, const stage_matches *m, const match *x) {
    const round_result *last = &v->round[FULL_TOKEN_ADVANTAGES];
    grpo_objective obj = objective_of(x);
    return !last->answered || distance_on(last, &obj, stage, m) <= allowed(v->o);
}

/* if some matches hold for per-token advantages too, keeps only those and returns 1; else 0 */
static int prefer_tokens(const batch_rounds *v, stage_kind stage, stage_matches *m) {
    match *better = NULL;
    for (ptrdiff_t k = 0; k < arrlen(m->matches); k++)
        if (holds_for_tokens(v, stage, m, &m->matches[k])) arrput(better, m->matches[k]);
    if (!better) return 0;
    arrfree(m->matches);
    m->matches = better;
    return 1;
}

static match row_of(int preset) {
    match m;
    memset(&m, 0, sizeof m);
    m.row = preset;
    return m;
}

/* replaces each match by all presets that are identical to it in this stage */
static void name_all_rows(stage_matches *m, stage_kind stage) {
    match *all = NULL;
    for (int n = 0; n < count_presets(); n++)
        for (ptrdiff_t k = 0; k < arrlen(m->matches); k++) {
            if (m->matches[k].row != preset_first(n, stage)) continue;
            arrput(all, m->matches[k]);
            arrlast(all).row = n;
        }
    arrfree(m->matches);
    m->matches = all;
}

/* tries one more change to each of the nearest objectives */
static void change_nearest(const batch_rounds *v, stage_kind stage, stage_matches *m) {
    stage_matches from = *m;
    for (int k = 0; k < from.n_near; k++) if (from.near[k].changes < MOST_CHANGES) try_changes(v, stage, m, &from.near[k]);
}

/* Tries the presets, then presets with one change, then more changes of the nearest of these, until one matches.  Matches that hold for
 * per-token advantages too are preferred to those that hold only where a sequence has one advantage.  Of presets that are identical in
 * this stage the first is tried. */
static void search_stage(const batch_rounds *v, stage_kind stage, stage_matches *m) {
    ptrdiff_t rows;
    for (int n = 0; n < count_presets(); n++) {
        match row = row_of(n);
        if (preset_first(n, stage) == n) try_match(v, stage, m, &row, NULL);
    }
    if (prefer_tokens(v, stage, m)) return;
    rows = arrlen(m->matches);
    for (int n = 0; n < count_presets(); n++) {
        match row = row_of(n);
        if (preset_first(n, stage) == n) try_changes(v, stage, m, &row);
    }
    for (int n = 1; n < m->most_changes && !arrlen(m->matches); n++) change_nearest(v, stage, m);
    if (!prefer_tokens(v, stage, m) && rows) arrsetlen(m->matches, (size_t)rows);
    m->near[0].almost = m->near[0].distance <= ALMOST;
    if (!arrlen(m->matches) && m->near[0].almost) arrput(m->matches, m->near[0]);
}

static stage_matches match_outputs(const batch_rounds *v, stage_kind stage, unsigned outputs, int own, int most_changes) {
    stage_matches m;
    memset(&m, 0, sizeof m);
    m.outputs = outputs;
    m.returned = is_returned(v, outputs);
    m.own_advantages = own;
    m.most_changes = most_changes;
    if (m.returned) search_stage(v, stage, &m);
    name_all_rows(&m, stage);
    return m;
}

static stage_matches match_stage(const batch_rounds *v, stage_kind stage, int own) {
    return match_outputs(v, stage, outputs_of(stage), own, MOST_CHANGES);
}

/* where no objective has both the value and the gradient: the matches of each by itself */
typedef struct { stage_matches value, gradient; } halves;

static void free_halves(halves *h) {
    arrfree(h->value.matches);
    arrfree(h->gradient.matches);
}

static int has_match(const halves *h) { return arrlen(h->value.matches) || arrlen(h->gradient.matches); }

static halves match_halves_from(const batch_rounds *v, int own) {
    const unsigned all = outputs_of(STAGE_LOSS);
    halves h;
    h.value = match_outputs(v, STAGE_LOSS, all & ~GRADIENTS, own, CHANGES_OF_HALF);
    h.gradient = match_outputs(v, STAGE_LOSS, all & GRADIENTS, own, CHANGES_OF_HALF);
    return h;
}

static int has_row(const match *matches, int row) {
    for (ptrdiff_t k = 0; k < arrlen(matches); k++) if (matches[k].row == row) return 1;
    return 0;
}

/* keeps one match per preset; if the other half matches some of the same presets, keeps only those */
static void keep_rows(stage_matches *m, const stage_matches *other) {
    match *kept = NULL;
    int shared = 0;
    for (ptrdiff_t k = 0; k < arrlen(m->matches); k++) shared |= has_row(other->matches, m->matches[k].row);
    for (ptrdiff_t k = 0; k < arrlen(m->matches); k++) {
        const int row = m->matches[k].row;
        if (!has_row(kept, row) && (!shared || has_row(other->matches, row))) arrput(kept, m->matches[k]);
    }
    arrfree(m->matches);
    m->matches = kept;
}

static halves match_halves(const batch_rounds *v) {
    halves h = match_halves_from(v, 0);
    if (!has_match(&h) && has_own_advantages(v)) {
        free_halves(&h);
        h = match_halves_from(v, 1);
    }
    keep_rows(&h.value, &h.gradient);
    keep_rows(&h.gradient, &h.value);
    return h;
}

/* ---- the result ----------------------------------------------------------------------------------------------------------------- */

static void print_match(const match *m) {
    int count;
    printf("%s", grpo_presets(&count)[m->row].name);
    for (int k = 0; k < m->changes; k++) printf("%s%s", k ? " and " : " with ", m->changed[k].name);
    if (m->almost) printf(" (up to a relative difference of %.1g)", m->distance);
}

static void print_stage(const char *what, const stage_matches *m) {
    printf("%s: ", what);
    if (!m->returned) { puts("not returned"); return; }
    if (arrlen(m->matches)) {
        for (ptrdiff_t k = 0; k < arrlen(m->matches) && k < SHOWN; k++) { fputs(k ? ", " : "as in ", stdout); print_match(&m->matches[k]); }
        if (arrlen(m->matches) > SHOWN) printf(" and %d more", (int)arrlen(m->matches) - SHOWN);
        if (m->own_advantages) fputs(" (from the program's own advantages, not from case.advantage)", stdout);
    } else {
        fputs("none", stdout);
        if (m->near[0].distance <= NEIGHBOUR) {
            fputs("; nearest: ", stdout);
            print_match(&m->near[0]);
            printf(" (relative difference %.2g)", m->near[0].distance);
        }
    }
    puts("");
}

static void print_value(const grpo_field *f, double x) {
    const char *name;
    int length;
    if (!f->n_choices) { printf("%s = %g", f->path, x); return; }
    name = field_choice(f, x, &length);
    printf("%s = %.*s", f->path, length, name);
}

/* of three or more presets with this loss: the fields, of those that a loss reads, which they have in common */
static void print_common(const stage_matches *m) {
    int count, printed = 0;
    const grpo_field *f = grpo_fields(&count);
    if (arrlen(m->matches) < 3) return;
    for (int k = 0; k < count; k++) {
        const grpo_objective first = objective_of(&m->matches[0]);
        const double x = grpo_objective_get(&first, &f[k]);
        int same = f[k].offset >= offsetof(grpo_objective, ratio) && x != 0;
        for (ptrdiff_t j = 1; j < arrlen(m->matches) && same; j++) {
            const grpo_objective other = objective_of(&m->matches[j]);
            same = grpo_objective_get(&other, &f[k]) == x;
        }
        if (!same) continue;
        fputs(printed++ ? ", " : "   all of these have ", stdout);
        print_value(&f[k], x);
    }
    if (printed) puts("");
}

/* prints the presets that both stages match, with changes in at most one of the stages; returns how many */
static int print_whole(const stage_matches *a, const stage_matches *l) {
    int printed = 0;
    for (ptrdiff_t j = 0; j < arrlen(l->matches); j++)
        for (ptrdiff_t k = 0; k < arrlen(a->matches) || (!a->returned && k == 0); k++) {
            const match *x = &l->matches[j], *y = a->returned ? &a->matches[k] : x;
            if (x->row != y->row || (x->changes && y->changes && x != y)) continue;
            fputs(printed++ ? " or " : "it computes ", stdout);
            print_match(y->changes ? y : x);
        }
    if (printed) puts("");
    return printed;
}

static void print_names(const stage_matches *m) {
    if (!arrlen(m->matches)) fputs("none", stdout);
    for (ptrdiff_t k = 0; k < arrlen(m->matches) && k < SHOWN; k++) { fputs(k ? " or " : "", stdout); print_match(&m->matches[k]); }
    if (arrlen(m->matches) > SHOWN) printf(" or %d more", (int)arrlen(m->matches) - SHOWN);
}

/* prints the objectives of value and gradient; returns 0, and prints nothing, if neither matches one */
static int print_halves(const batch_rounds *v) {
    const unsigned all = outputs_of(STAGE_LOSS);
    halves h;
    int told;
    if (!is_returned(v, all & ~GRADIENTS) || !is_returned(v, all & GRADIENTS)) return 0;
    h = match_halves(v);
    told = has_match(&h);
    if (told) {
        fputs("the loss is that of ", stdout);
        print_names(&h.value);
        fputs("; its gradient is that of ", stdout);
        print_names(&h.gradient);
        puts(h.value.own_advantages ? " (from the program's own advantages, not from case.advantage)" : "");
    }
    free_halves(&h);
    return told;
}

static int conclude(const batch_rounds *v, const stage_matches *a, const stage_matches *l) {
    if (!a->returned && !l->returned) return puts("none: neither advantage nor an output of the loss was returned"), 1;
    print_stage("advantages", a);
    print_stage("loss", l);
    print_common(l);
    if (print_whole(l->returned ? a : l, l->returned ? l : a)) return 0;
    if ((arrlen(a->matches) || !a->returned) && (arrlen(l->matches) || !l->returned)) {
        fputs("it computes a combination that is not published: the loss of ", stdout);
        print_match(&l->matches[0]);
        fputs(" with the advantages of ", stdout);
        print_match(&a->matches[0]);
        return puts(""), 0;
    }
    if (!l->returned || arrlen(l->matches) || !print_halves(v))
        printf("none of the published objectives, nor one of them with up to %d changes\n", MOST_CHANGES);
    return 1;
}

/* ---- does it read case.objective? ------------------------------------------------------------------------------------------------ */

static int same_answer(const answer *a, const answer *b) {
    for (int k = 0; k < N_OUTPUTS; k++) {
        const numbers *x = &a->of[k], *y = &b->of[k];
        if (!x->value != !y->value || x->count != y->count) return 0;
        for (int64_t j = 0; x->value && j < x->count; j++)
            if (x->given[j] != y->given[j] || memcmp(&x->value[j], &y->value[j], sizeof *x->value)) return 0;
    }
    return 1;
}

/* sends the first batch that was answered with another objective; says so if the answer differs, since then the program reads it */
static void print_if_objective_is_read(const batch_rounds *v, session *s) {
    const round_result *first = NULL;
    grpo_objective other;
    reply answered;
    answer found;
    char error[200], *text;
    int same = 0;
    for (int k = N_FULL_BATCHES - 1; k >= 0; k--) if (v->round[k].answered) first = &v->round[k];
    if (!first || grpo_objective_named(OTHER, &other) || !session_start(s)) return;
    text = full_batch_case((int)(first - v->round), &other);
    answered = session_ask_json(s, text, &first->c);
    if (answered.kind == REPLY_RESULT && !answer_read(answered.result, &first->c, &found, error, sizeof error)) {
        same = same_answer(&first->found, &found);
        answer_free(&found);
    }
    if (!same)
        printf("it seems to read case.objective: with " OTHER " there instead of " ASKED " %s. What follows is for " ASKED "\n",
               answered.kind == REPLY_RESULT ? "it gives other numbers" : answered.kind == REPLY_SKIP ? "it skips the case"
                                                                                                      : "it gives no answer");
    reply_free(&answered);
    free(text);
}

/* ---- the run -------------------------------------------------------------------------------------------------------------------- */

static int all_skipped(const batch_rounds *v) {
    for (int k = 0; k < N_FULL_BATCHES; k++) if (!v->round[k].skipped) return 0;
    return 1;
}

/* prints why batches were not answered and, if none was, what the program has to answer */
static void print_unanswered(const batch_rounds *v, int answered, const char *over) {
    for (int k = 0; k < N_FULL_BATCHES && (answered || !all_skipped(v)); k++)
        if (v->round[k].why) printf("batch %s: %s\n", v->round[k].c.id, v->round[k].why);
    if (answered || over) return;
    if (all_skipped(v)) printf("the program skipped all %d batches: %s\n", N_FULL_BATCHES, v->round[0].why);
    else puts("the program answered none of the batches");
    printf("--identify sends cases of kind objective, full-0 to full-%d, with every array, case.advantage, and the objective %s.\n"
           "The program has to answer them with loss, dlogp and advantage of its own objective, or those of these that it has,\n"
           "and must not skip them because case.objective is not its own objective.\n",
           N_FULL_BATCHES - 1, ASKED);
}

static int run_batches(batch_rounds *v, session *s, const grpo_objective *asked) {
    int answered = 0;
    for (int k = 0; k < N_FULL_BATCHES && session_start(s); k++) {
        char *text = full_batch_case(k, asked);
        answered += ask_round(s, &v->round[k], text);
        free(text);
    }
    if (s->over) fprintf(stderr, "conform: %s\n", s->over);
    print_unanswered(v, answered, s->over);
    return answered;
}

int identify(const options *o) {
    static case_metric metrics[N_FULL_BATCHES][64];
    static double room[N_FULL_BATCHES][256];
    batch_rounds v;
    session s;
    grpo_objective asked;
    char *wrong;
    int status = 1;
    memset(&v, 0, sizeof v);
    v.o = o;
    if (grpo_objective_named(ASKED, &asked)) return 2;
    for (int k = 0; k < N_FULL_BATCHES; k++) {
        v.round[k].json = full_batch_read(k, &asked, &v.round[k].c);
        expect_report(&v.round[k].c, metrics[k]);
        expect_outputs(&v.round[k].c, room[k]);
    }
    session_open(&s, o->command, o->rules.precision->name, o->timeout);
    if (run_batches(&v, &s, &asked)) {
        stage_matches a, l;
        print_if_objective_is_read(&v, &s);
        a = match_stage(&v, STAGE_ADVANTAGE, 0);
        l = match_stage(&v, STAGE_LOSS, 0);
        if (!arrlen(l.matches) && has_own_advantages(&v)) {
            stage_matches own = match_stage(&v, STAGE_LOSS, 1);
            if (arrlen(own.matches)) { stage_matches other = l; l = own; own = other; }
            arrfree(own.matches);
        }
        status = conclude(&v, &a, &l);
        arrfree(a.matches);
        arrfree(l.matches);
    }
    wrong = session_close(&s);
    free(wrong);
    for (int k = 0; k < N_FULL_BATCHES; k++) {
        answer_free(&v.round[k].found);
        free(v.round[k].why);
        case_free(&v.round[k].c);
        cJSON_Delete(v.round[k].json);
    }
    return status;
}
