/* discriminate [--markdown] DIRECTORY: the vectors distinguish every two published objectives by their numbers.  A program that computes
 * row B must fail a case of row A, or the other way round; cases on whose arrays B cannot be computed do not count. */
#include "../../support/check.h"
#include "../runner/alternatives.h"
#include "../runner/judge.h"
#include <stb_ds.h>
#include <stdlib.h>

enum { MAX_PRESETS = 1024 };
#define TOLERANCE 64

/* how many cases of a row distinguish another row from it by a number */
typedef struct { int cases, f32_cases; } distinction;

typedef struct {
    const grpo_preset *preset;
    grpo_objective *objective;   /* (count) */
    int count;
    distinction *by;        /* (count, count): the cases of row i that distinguish row j */
    int *plain;             /* (count): cases with the row's settings as published */
} matrix;

static const rules f64 = { &compare_f64, TOLERANCE }, f32 = { &compare_f32, TOLERANCE };

/* ---- one case ------------------------------------------------------------------------------------------------------------------- */

static int fails(const rules *r, const question *q, const answer *found) {
    int64_t judged;
    double worst;
    mismatch *wrong = judge(r, q, found, &judged, &worst);
    int failed = arrlen(wrong) != 0;
    arrfree(wrong);
    return failed;
}

/* counts the case if a program that computes `other` fails it: advantages from the rewards, the loss from the advantages of the case */
static void count_case(const question *q, const grpo_objective *other, distinction *t) {
    answer advantage, loss;
    int computed;
    memset(&advantage, 0, sizeof advantage);
    computed = q->c->given || answer_evaluate(q->c, other, STAGE_ADVANTAGE, NULL, &advantage);
    computed &= answer_evaluate(q->c, other, STAGE_LOSS, NULL, &loss);
    if (computed) {
        t->cases += fails(&f64, q, &advantage) || fails(&f64, q, &loss);
        t->f32_cases += fails(&f32, q, &advantage) || fails(&f32, q, &loss);
    }
    answer_free(&advantage);
    answer_free(&loss);
}

static void count_file(matrix *m, int row, const char *directory) {
    case_file file;
    char error[512];
    if (!check(!case_list_load(directory, m->preset[row].name, &file, error, sizeof error), "%s: no vectors", m->preset[row].name)) return;
    for (int64_t k = 0; k < file.n_cases; k++) {
        const test_case *c = &file.cases[k];
        question q;
        if (c->kind != CASE_OBJECTIVE || !same_objective(&c->objective, &m->objective[row])) continue;
        m->plain[row]++;
        q = question_of(c);
        for (int j = 0; j < m->count; j++) if (j != row) count_case(&q, &m->objective[j], &m->by[row * m->count + j]);
        question_free(&q);
    }
    case_file_free(&file);
}

/* ---- pairs ---------------------------------------------------------------------------------------------------------------------- */

typedef struct { int distinct, distinct_f32, identical; } pair_counts;

static distinction both_ways(const matrix *m, int i, int j) {
    distinction a = m->by[i * m->count + j], b = m->by[j * m->count + i];
    a.cases += b.cases;
    a.f32_cases += b.f32_cases;
    return a;
}

static void count_pair(const matrix *m, int i, int j, pair_counts *n, int quiet) {
    const char *a = m->preset[i].name, *b = m->preset[j].name;
    distinction t = both_ways(m, i, j);
    if (same_objective(&m->objective[i], &m->objective[j])) {
        n->identical++;
        if (!quiet) printf("identical in formula: %s, %s\n", a, b);
        return;
    }
    if (t.cases) n->distinct++;
    if (t.f32_cases) n->distinct_f32++;
    if (!quiet && t.cases && !t.f32_cases) printf("distinguished in f64 only: %s, %s\n", a, b);
    check(t.cases, "%s and %s differ in a field but no case distinguishes them by its numbers", a, b);
}

static pair_counts count_pairs(const matrix *m, int quiet) {
    pair_counts n = { 0, 0, 0 };
    for (int i = 0; i < m->count; i++) check(m->plain[i] > 0, "%s: no case has the row's settings as published", m->preset[i].name);
    for (int i = 0; i < m->count; i++)
        for (int j = i + 1; j < m->count; j++) count_pair(m, i, j, &n, quiet);
    return n;
}

/* ---- printing ------------------------------------------------------------------------------------------------------------------- */

static void print_nearest(const matrix *m) {
    for (int i = 0; i < m->count; i++) {
        int nearest = -1, least = 0;
        for (int j = 0; j < m->count; j++) {
            int n = both_ways(m, i, j).cases;
            if (j == i || !n || (nearest >= 0 && n >= least)) continue;
            nearest = j;
            least = n;
        }
        if (nearest >= 0) printf("%-22s nearest is %s, distinguished by %d cases\n", m->preset[i].name, m->preset[nearest].name, least);
    }
}

static void print_markdown(const matrix *m) {
    fputs("| # | objective |", stdout);
    for (int j = 0; j < m->count; j++) printf(" %d |", j + 1);
    fputs("\n|---:|---|", stdout);
    for (int j = 0; j < m->count; j++) fputs("---:|", stdout);
    putchar('\n');
    for (int i = 0; i < m->count; i++) {
        printf("| %d | %s |", i + 1, m->preset[i].name);
        for (int j = 0; j < m->count; j++) {
            distinction t = both_ways(m, i, j);
            if (i == j) fputs(" |", stdout);
            else if (same_objective(&m->objective[i], &m->objective[j])) fputs(" = |", stdout);
            else if (t.cases) printf(t.f32_cases ? " %d |" : " %d (f64) |", t.cases);
            else fputs(" **none** |", stdout);
        }
        putchar('\n');
    }
}

int main(int argc, char **argv) {
    int markdown = argc > 1 && !strcmp(argv[1], "--markdown");
    matrix m;
    pair_counts n;
    memset(&m, 0, sizeof m);
    if (argc != 2 + markdown) return fputs("usage: discriminate [--markdown] DIRECTORY\n", stderr), 2;
    m.preset = grpo_presets(&m.count);
    if (m.count > MAX_PRESETS) return fputs("more presets than expected\n", stderr), 2;
    m.by = calloc((size_t)(m.count * m.count), sizeof *m.by);
    m.plain = calloc((size_t)m.count, sizeof *m.plain);
    m.objective = calloc((size_t)m.count, sizeof *m.objective);
    if (!m.by || !m.plain || !m.objective) abort();
    for (int i = 0; i < m.count; i++) m.objective[i] = grpo_objective_from_preset(&m.preset[i]);
    for (int i = 0; i < m.count; i++) count_file(&m, i, argv[argc - 1]);
    n = count_pairs(&m, markdown);
    if (markdown) print_markdown(&m);
    else {
        print_nearest(&m);
        printf("%d pairs of %d objectives: %d distinguished by the numbers of a case (%d in f32 too), %d identical in formula\n",
               m.count * (m.count - 1) / 2, m.count, n.distinct, n.distinct_f32, n.identical);
    }
    free(m.by);
    free(m.plain);
    free(m.objective);
    return markdown ? check_failed != 0 : check_summary();
}
