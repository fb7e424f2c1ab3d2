/* judge_test VECTORS: in every case, the right answer is judged completely and passes; one wrong number, at any place of any output, fails,
 * and at that place, just beyond the tolerance; NaN and infinities fail; an output of another shape, or a word for a number, is refused. */
#include "../../support/case.h"
#include "../../support/check.h"
#include "../runner/answer.h"
#include "../runner/judge.h"
#include "../runner/text.h"
#include <stdlib.h>

enum { PLACES = 9 };            /* of an output: the first, the last, and some between them */
#define TOLERANCE 64

static long judged_numbers, refused_shapes;

/* the place of the n-th of the numbers that are tried, among `count` */
static int64_t place_of(int64_t count, int64_t n) { return count <= PLACES ? n : n * (count - 1) / (PLACES - 1); }
static int64_t places_of(int64_t count) { return count < PLACES ? count : PLACES; }

/* the wrong output if it is the only one, with one wrong number, of all that were found; else index is -1 */
static mismatch only_wrong(const compare_precision *precision, const question *q, const answer *found) {
    const rules r = { precision, TOLERANCE };
    int64_t judged;
    double worst;
    mismatch none = { OUT_LOSS, -1, 0, 0, 0, 0, 0 }, *wrong = judge(&r, q, found, &judged, &worst), first;
    first = arrlen(wrong) == 1 && wrong[0].wrong == 1 && worst == wrong[0].error ? wrong[0] : none;
    arrfree(wrong);
    return first;
}

static int passes(const compare_precision *precision, const question *q, const answer *found) {
    const rules r = { precision, TOLERANCE };
    int64_t judged;
    double worst;
    mismatch *wrong = judge(&r, q, found, &judged, &worst);
    int right = !arrlen(wrong);
    arrfree(wrong);
    return right;
}

/* ---- one number ----------------------------------------------------------------------------------------------------------------- */

/* may an infinity stand for this number?  With a sign that the number has, where it may round to one. */
static int may_overflow(const compare_precision *p, double right, double scale) {
    return !grpo_is_finite(right) || fabs(right) + 8 * p->eps * fmin(scale, p->max) >= p->max;
}

static void check_found(const compare_precision *p, const question *q, answer *found, output_kind output, int64_t k, double x, int right) {
    double *value = &found->of[output].value[k], before = *value;
    mismatch wrong;
    char where[120];
    *value = x;
    answer_where(q->c, output, k, where, sizeof where);
    wrong = only_wrong(p, q, found);
    if (right) check(passes(p, q, found), "%s: %s: %.17g for %.17g fails in %s", q->c->id, where, x, before, p->name);
    else check(wrong.output == output && wrong.index == k && (wrong.found == x || x != x),
              "%s: %s: %.17g for %.17g passes in %s", q->c->id, where, x, before, p->name);
    *value = before;
    judged_numbers++;
}

/* right answers with one number off by less or more than the tolerance, by the error that rounding leaves of it */
static void check_number(const compare_precision *p, const question *q, answer *found, output_kind output, int64_t k) {
    const double right = q->expected.of[output].value[k], scale = q->scale.of[output].value[k], share[] = { 0.9, -0.9, 1.1, -1.1 };
    check_found(p, q, found, output, k, nan(""), 0);
    if (!may_overflow(p, right, scale)) {
        check_found(p, q, found, output, k, HUGE_VAL, 0);
        check_found(p, q, found, output, k, -HUGE_VAL, 0);
    }
    if (!grpo_is_finite(right)) {
        check_found(p, q, found, output, k, -right, 0);
        check_found(p, q, found, output, k, 1, 0);
        return;
    }
    if (output == OUT_DYNAMIC_SAMPLING || !(scale > 0)) { check_found(p, q, found, output, k, 1 - right, 0); return; }
    for (int n = 0; n < 4 && grpo_is_finite(scale); n++) {
        const double x = right + share[n] * TOLERANCE * p->eps * scale, error = (fabs(x - right) - p->tiny) / scale / p->eps;
        if (grpo_is_finite(x) && (error < 0.95 * TOLERANCE || error > 1.05 * TOLERANCE))
            check_found(p, q, found, output, k, x, error < TOLERANCE);
    }
}

/* ---- an output in JSON ---------------------------------------------------------------------------------------------------------- */

static int is_refused(const cJSON *json, const test_case *c) {
    answer found;
    char error[200] = "";
    if (!answer_read(json, c, &found, error, sizeof error)) { answer_free(&found); return 0; }
    refused_shapes++;
    return *error != 0;
}

static cJSON *last_of(cJSON *json) {
    cJSON *last = json->child;
    while (last && last->next) last = last->next;
    return last;
}

/* the array without its last item, with one more, and with an item of another type */
static void check_array(cJSON *json, const test_case *c, cJSON *array, const char *name) {
    cJSON *last = last_of(array), *kept = last ? cJSON_DetachItemViaPointer(array, last) : NULL;
    if (kept) check(is_refused(json, c), "%s: %s without its last item is read", c->id, name);
    cJSON_AddItemToArray(array, kept ? cJSON_Duplicate(kept, 1) : cJSON_CreateNumber(0));
    if (kept) cJSON_AddItemToArray(array, kept);
    check(is_refused(json, c), "%s: %s with one more item is read", c->id, name);
    cJSON_DeleteItemFromArray(array, cJSON_GetArraySize(array) - 1);
    if (!kept) return;
    cJSON_ReplaceItemViaPointer(array, last_of(array), cJSON_CreateString("none"));
    check(is_refused(json, c), "%s: %s with a word for an item is read", c->id, name);
}

static void check_arrays(const cJSON *expect, const test_case *c, const char *name) {
    for (int depth = 0; depth < 3; depth++) {
        cJSON *json = cJSON_Duplicate(expect, 1), *array = json_get(json, name);
        for (int k = 0; k < depth && cJSON_IsArray(array); k++) array = last_of(array);
        if (cJSON_IsArray(array)) check_array(json, c, array, name);
        cJSON_Delete(json);
    }
}

/* a name that is no output, the same output twice, and a word, a list and null for the whole output */
static void check_output(const cJSON *expect, const test_case *c, const char *name) {
    cJSON *json = cJSON_Duplicate(expect, 1), *whole[] = { cJSON_CreateString("none"), cJSON_CreateNull(), cJSON_CreateArray() };
    cJSON_AddItemToObject(json, name, cJSON_Duplicate(json_get(expect, name), 1));
    check(is_refused(json, c), "%s: %s twice is read", c->id, name);
    cJSON_Delete(json);
    for (int k = 0; k < 3; k++) {
        const int empty = k == 2 && !case_leaves(json_get(expect, name));
        json = cJSON_Duplicate(expect, 1);
        cJSON_ReplaceItemInObjectCaseSensitive(json, name, whole[k]);
        if (!empty) check(is_refused(json, c), "%s: %s is read where it is a word, null or no number", c->id, name);
        cJSON_Delete(json);
    }
    check_arrays(expect, c, name);
}

/* the n-th number of this item, from 0, with its place ("[2][0]", ".ess") added to *where; NULL: it has not as many, and *n is less by
 * those that it has */
static cJSON *leaf(cJSON *json, int64_t *n, char **where) {
    int64_t k = 0;
    if (!cJSON_IsArray(json) && !cJSON_IsObject(json)) return (*n)-- ? NULL : json;
    for (cJSON *item = json->child; item; item = item->next, k++) {
        const size_t length = (size_t)arrlen(*where);
        cJSON *found;
        if (cJSON_IsArray(json)) text_format(where, "[%lld]", (long long)k);
        else text_format(where, ".%s", item->string);
        found = leaf(item, n, where);
        if (found) return found;
        arrsetlen(*where, length);
    }
    return NULL;
}

/* a number that is wrong in the JSON is wrong in the answer, at the same place */
static void check_place(const cJSON *expect, const question *q, const char *name, output_kind output, int64_t k) {
    cJSON *json = cJSON_Duplicate(expect, 1), *item;
    char error[200], found_at[120] = "", *t = NULL, *where;
    mismatch wrong;
    answer found;
    text_add(&t, name);
    item = leaf(json_get(json, name), &k, &t);
    where = text_string(&t);
    if (cJSON_IsBool(item)) item->type = cJSON_IsTrue(item) ? cJSON_False : cJSON_True;
    else { item->type = cJSON_String; item->valuestring = text_copy("NaN"); }
    if (check(!answer_read(json, q->c, &found, error, sizeof error), "%s: %s: %s", q->c->id, where, error)) {
        wrong = only_wrong(&compare_f64, q, &found);
        if (wrong.index >= 0) answer_where(q->c, wrong.output, wrong.index, found_at, sizeof found_at);
        check(wrong.output == output && !strcmp(found_at, where), "%s: %s is wrong, and found is %s", q->c->id, where,
              wrong.index >= 0 ? found_at : "nothing");
        answer_free(&found);
    }
    free(where);
    cJSON_Delete(json);
}

/* ---- a case --------------------------------------------------------------------------------------------------------------------- */

static void check_outputs(const cJSON *expect, const question *q, answer *found) {
    static const compare_precision *const precisions[] = { &compare_f64, &compare_f32, &compare_bf16 };
    for (const cJSON *item = expect->child; item; item = item->next) {
        const output_kind output = (output_kind)output_named(q->c, item->string);
        const int64_t count = found->of[output].count, n_numbers = case_leaves(item);
        check_output(expect, q->c, item->string);
        for (int64_t n = 0; n < places_of(n_numbers); n++) check_place(expect, q, item->string, output, place_of(n_numbers, n));
        for (int64_t n = 0; n < places_of(count); n++)
            for (int p = 0; p < 3; p++)
                if (found->of[output].given[place_of(count, n)]) check_number(precisions[p], q, found, output, place_of(count, n));
    }
}

static void check_case(const test_case *c) {
    const cJSON *expect = json_get(c->json, "expect");
    const rules r = { &compare_f64, 1e-9 };
    int64_t judged;
    double worst;
    char error[200] = "";
    answer found;
    mismatch *wrong;
    question q;
    if (c->kind == CASE_REFUSE || c->kind == CASE_CALL) return;             /* calls: self_test */
    if (!check(!answer_read(expect, c, &found, error, sizeof error), "%s: its own answers: %s", c->id, error)) return;
    q = question_of(c);
    wrong = judge(&r, &q, &found, &judged, &worst);
    check(!arrlen(wrong) && worst == 0, "%s: its own answers fail", c->id);
    check(judged == case_leaves(expect), "%s: of %lld numbers %lld are judged", c->id, (long long)case_leaves(expect), (long long)judged);
    arrfree(wrong);
    check_outputs(expect, &q, &found);
    answer_free(&found);
    question_free(&q);
}

static void check_file(void *user, const char *name, const case_file *file) {
    (void)user;
    (void)name;
    for (int64_t k = 0; k < file->n_cases; k++) check_case(&file->cases[k]);
}

int main(int argc, char **argv) {
    if (argc != 2) return fputs("usage: judge_test VECTORS\n", stderr), 2;
    check(!case_each_file(argv[1], check_file, NULL), "%s: not all can be read", argv[1]);
    printf("%ld numbers judged, %ld shapes refused\n", judged_numbers, refused_shapes);
    check(judged_numbers > 1000000 / 2 && refused_shapes > 100000, "there were more");
    return check_summary();
}
