/* self_test CONFORM VECTORS PROGRAM [ARGUMENT...]: a program with exactly one known mistake fails, and the runner names the mistake.
 * PROGRAM is run with the further arguments "--defect ID", for every ID in the vectors.  For calls, which have no known mistakes, every
 * number and flag is made wrong in turn, and every output left out. */
#include "../../support/case.h"
#include "../../support/check.h"
#include "../runner/answer.h"
#include "command.h"
#include "../runner/judge.h"
#include "../runner/text.h"
#include <stdlib.h>

enum { MOST_CASES = 5, LIMIT = 120 };

typedef struct { const char *id; char *answers; } recorded;     /* a mistake and its recorded answers in a case, as text */
typedef struct { char *id; int64_t tokens; recorded *mistakes; } recorded_case;

typedef struct {
    char **ids;                 /* of all mistakes */
    recorded_case *cases;       /* those that record a mistake in full */
} knowledge;

/* ---- reading the vectors -------------------------------------------------------------------------------------------------------- */

static const char *interned(knowledge *k, const char *id) {
    for (ptrdiff_t n = 0; n < arrlen(k->ids); n++) if (!strcmp(k->ids[n], id)) return k->ids[n];
    arrput(k->ids, text_copy(id));
    return arrlast(k->ids);
}

static void learn_case(knowledge *k, const test_case *c) {
    const cJSON *defects = json_get(c->json, "defects");
    recorded_case t;
    memset(&t, 0, sizeof t);
    for (const cJSON *item = defects ? defects->child : NULL; item; item = item->next) {
        recorded one;
        char *text = NULL;
        if (answer_is_brief(item)) continue;        /* one number may be that of several mistakes */
        text_json(&text, item);
        one.id = interned(k, item->string);
        one.answers = text_string(&text);
        arrput(t.mistakes, one);
    }
    if (!t.mistakes) return;
    t.id = text_copy(c->id);
    t.tokens = c->batch.n_tokens;
    arrput(k->cases, t);
}

/* ---- calls ---------------------------------------------------------------------------------------------------------------------- */

static mismatch *judged(const question *q, const answer *found) {
    const rules r = { &compare_f64, 64 };
    int64_t count;
    double worst;
    return judge(&r, q, found, &count, &worst);
}

/* The right answers pass.  A flag inverted, or a number off by twice the tolerance, or by 1 if it has no scale, fails at its place. */
static void check_call_numbers(const test_case *c) {
    question q = question_of(c);
    answer found = answer_expected(c);
    mismatch *wrong = judged(&q, &found);
    check(!arrlen(wrong), "%s: its own answers fail", c->id);
    arrfree(wrong);
    for (int64_t k = 0; k < c->n_call; k++) {
        const double right = c->call.expect[k], scale = c->call.scale[k];
        found.of[OUT_CALL].value[k] = !grpo_is_finite(right) ? 0 : scale > 0 ? right + fmax(128 * DBL_EPSILON * scale, DBL_MIN) : 1 - right;
        wrong = judged(&q, &found);
        check(arrlen(wrong) == 1 && wrong->wrong == 1 && wrong->index == k, "%s: answer %lld is wrong and passes", c->id, (long long)k);
        found.of[OUT_CALL].value[k] = right;
        arrfree(wrong);
    }
    answer_free(&found);
    question_free(&q);
}

static void check_call_names(const test_case *c) {
    for (const cJSON *item = c->answers->child; item; item = item->next) {
        cJSON *json = cJSON_Duplicate(c->answers, 1);
        const char *missing;
        check(!answer_missing(json, c), "%s: its own answers are not all there", c->id);
        cJSON_DeleteItemFromObjectCaseSensitive(json, item->string);
        missing = answer_missing(json, c);
        check(missing && !strcmp(missing, item->string), "%s: %s is not missed", c->id, item->string);
        cJSON_Delete(json);
    }
}

/* ---- all files ------------------------------------------------------------------------------------------------------------------ */

static void learn_file(void *k, const char *name, const case_file *file) {
    (void)name;
    for (int64_t j = 0; j < file->n_cases; j++) {
        const test_case *c = &file->cases[j];
        learn_case(k, c);
        if (c->kind != CASE_CALL) continue;
        check_call_numbers(c);
        check_call_names(c);
    }
}

static int learn(knowledge *k, const char *vectors) {
    memset(k, 0, sizeof *k);
    return case_each_file(vectors, learn_file, k);
}

static void forget(knowledge *k) {
    for (ptrdiff_t n = 0; n < arrlen(k->cases); n++) {
        for (ptrdiff_t j = 0; j < arrlen(k->cases[n].mistakes); j++) free(k->cases[n].mistakes[j].answers);
        arrfree(k->cases[n].mistakes);
        free(k->cases[n].id);
    }
    for (ptrdiff_t n = 0; n < arrlen(k->ids); n++) free(k->ids[n]);
    arrfree(k->cases);
    arrfree(k->ids);
}

/* ---- which cases to run --------------------------------------------------------------------------------------------------------- */

static const char *answers_of(const recorded_case *c, const char *id) {
    for (ptrdiff_t k = 0; k < arrlen(c->mistakes); k++) if (c->mistakes[k].id == id) return c->mistakes[k].answers;
    return NULL;
}

/* those of `others` that give the same answers as `id` in the case */
static const char **same_in(const recorded_case *c, const char *id, const char **others) {
    const char *own = answers_of(c, id), **same = NULL;
    for (ptrdiff_t k = 0; k < arrlen(others); k++) {
        const char *a = answers_of(c, others[k]);
        if (a && !strcmp(a, own)) arrput(same, others[k]);
    }
    return same;
}

/* the case in which the fewest of `others` give the same answers, the smallest such case; -1: no case records the mistake */
static ptrdiff_t best_case(const knowledge *k, const char *id, const char **others) {
    ptrdiff_t best = -1, best_left = 0;
    for (ptrdiff_t n = 0; n < arrlen(k->cases); n++) {
        const recorded_case *c = &k->cases[n];
        const char **same;
        ptrdiff_t left;
        if (!answers_of(c, id)) continue;
        same = same_in(c, id, others);
        left = arrlen(same);
        arrfree(same);
        if (best >= 0 && (left > best_left || (left == best_left && c->tokens >= k->cases[best].tokens))) continue;
        best = n;
        best_left = left;
    }
    return best;
}

/* up to MOST_CASES cases; in *same the other mistakes that none of these distinguishes from this one */
static const char **choose_cases(const knowledge *k, const char *id, const char ***same) {
    const char **chosen = NULL;
    *same = NULL;
    for (ptrdiff_t n = 0; n < arrlen(k->ids); n++) if (k->ids[n] != id) arrput(*same, k->ids[n]);
    while (arrlen(chosen) < MOST_CASES) {
        ptrdiff_t n = best_case(k, id, *same), before = arrlen(*same);
        const char **left;
        if (n < 0) break;
        left = same_in(&k->cases[n], id, *same);
        if (chosen && arrlen(left) == before) { arrfree(left); break; }
        arrfree(*same);
        *same = left;
        arrput(chosen, k->cases[n].id);
        if (!arrlen(*same)) break;
    }
    return chosen;
}

/* ---- one mistake ---------------------------------------------------------------------------------------------------------------- */

typedef struct { int failing, diagnosed, alone; double seconds; } tally;

/* mistakes that are also documented conventions (profiles/conventions.json): acceptable, and named only with --strict */
static const char *const documented[] = { "ADV-08", "ADV-12", "ADV-12a" };

static int is_documented(const char *id) {
    for (size_t k = 0; k < sizeof documented / sizeof *documented; k++) if (!strcmp(documented[k], id)) return 1;
    return 0;
}

static command_result run(const char *conform, const char *vectors, char **program, const char *id, const char **cases, int strict) {
    const char **command = NULL;
    command_result r;
    arrput(command, conform);
    arrput(command, "--vectors");
    arrput(command, vectors);
    arrput(command, "--timeout");       /* the oracle takes long where other programs run beside it */
    arrput(command, "60");
    arrput(command, "--format");
    arrput(command, "json");
    if (strict) arrput(command, "--strict");
    for (ptrdiff_t k = 0; k < arrlen(cases); k++) { arrput(command, "--only"); arrput(command, cases[k]); }
    arrput(command, "--");
    for (char **p = program; *p; p++) arrput(command, *p);
    arrput(command, "--defect");
    arrput(command, id);
    arrput(command, NULL);
    r = command_run(command, LIMIT);
    arrfree(command);
    return r;
}

static int names(const cJSON *list, const char *id) {
    for (const cJSON *item = list ? list->child : NULL; item; item = item->next) if (!strcmp(item->valuestring, id)) return 1;
    return 0;
}

static int in(const char **list, const char *id) {
    for (ptrdiff_t k = 0; k < arrlen(list); k++) if (!strcmp(list[k], id)) return 1;
    return 0;
}

/* Does the first group name the mistake?  Another name is accepted if the group lists the mistake among the other names, and the vectors
 * record the same answers for both, or only one case was run. */
static int is_diagnosed(const cJSON *group, const char *id, const char **same, ptrdiff_t cases) {
    const cJSON *name = json_get(group, "name"), *also = json_get(group, "also");
    if (!cJSON_IsString(name)) return 0;
    return !strcmp(name->valuestring, id) || ((cases == 1 || in(same, name->valuestring)) && names(also, id));
}

/* all cases that were run must fail, and the first group must name the mistake */
static void check_report(const cJSON *report, const char *id, const char **cases, const char **same, int status, tally *t) {
    const cJSON *failed = json_get(report, "failed");
    const cJSON *group = cJSON_GetArrayItem(json_get(report, "groups"), 0);
    const cJSON *name = json_get(group, "name");
    double count = cJSON_IsNumber(failed) ? failed->valuedouble : -1;
    t->failing += check(status == 1 && count == (double)arrlen(cases), "%s: exit status %d, %g of %d cases fail", id, status, count,
                     (int)arrlen(cases));
    t->diagnosed += check(is_diagnosed(group, id, same, arrlen(cases)), "%s: diagnosed as %s (cases: %s%s)", id,
                          cJSON_IsString(name) ? name->valuestring : "nothing", cases[0], arrlen(cases) > 1 ? " ..." : "");
}

/* every case must be acceptable, and none fail */
static void check_documented(const char *conform, const char *vectors, char **program, const char *id, const char **cases) {
    command_result r = run(conform, vectors, program, id, cases, 0);
    cJSON *json = cJSON_Parse(r.output);
    const cJSON *acceptable = json_get(json, "acceptable");
    check(r.status == 0 && cJSON_IsNumber(acceptable) && acceptable->valuedouble == (double)arrlen(cases),
          "%s: exit status %d, %g of %d cases are acceptable", id, r.status, cJSON_IsNumber(acceptable) ? acceptable->valuedouble : -1,
          (int)arrlen(cases));
    cJSON_Delete(json);
    free(r.output);
}

static void test_mistake(const char *conform, const char *vectors, char **program, const knowledge *k, const char *id, tally *t) {
    const char **same, **cases = choose_cases(k, id, &same);
    command_result r;
    cJSON *json;
    if (!check(cases != NULL, "%s: no case records it in full", id)) { arrfree(same); return; }
    if (is_documented(id)) check_documented(conform, vectors, program, id, cases);
    r = run(conform, vectors, program, id, cases, is_documented(id));
    json = cJSON_Parse(r.output);
    check_report(json, id, cases, same, r.status, t);
    if (!arrlen(same)) t->alone++;
    t->seconds += r.seconds;
    cJSON_Delete(json);
    free(r.output);
    arrfree(cases);
    arrfree(same);
}

int main(int argc, char **argv) {
    knowledge k;
    tally t = { 0, 0, 0, 0 };
    if (argc < 4) return fputs("usage: self_test CONFORM VECTORS PROGRAM [ARGUMENT...]\n", stderr), 2;
    if (learn(&k, argv[2])) return fprintf(stderr, "%s: cannot be read\n", argv[2]), 2;
    check(arrlen(k.ids) > 0, "the vectors have no known mistakes");
    for (ptrdiff_t n = 0; n < arrlen(k.ids); n++) test_mistake(argv[1], argv[2], argv + 3, &k, k.ids[n], &t);
    printf("defects: %d fail, %d diagnosed, of %d (%d of them give numbers that no other gives); %.0f s\n", t.failing, t.diagnosed,
           (int)arrlen(k.ids), t.alone, t.seconds);
    forget(&k);
    return check_summary();
}
