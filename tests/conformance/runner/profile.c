/* Reads and checks profiles, and decides whether an answer is acceptable by their conventions. */
#define _POSIX_C_SOURCE 200809L
#include "profile.h"
#include "../../support/field.h"
#include "recompute.h"
#include "text.h"
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

/* the items of an array, or the item itself */
static const cJSON *first_of(const cJSON *item) { return cJSON_IsArray(item) ? item->child : item; }
static const cJSON *next_of(const cJSON *list, const cJSON *item) { return cJSON_IsArray(list) ? item->next : NULL; }

static int has_text(const cJSON *list, const char *text) {
    for (const cJSON *i = first_of(list); i; i = next_of(list, i)) if (cJSON_IsString(i) && !strcmp(i->valuestring, text)) return 1;
    return 0;
}

/* ---- fields ----------------------------------------------------------------------------------------------------------------------- */

/* the field of this path, and in *value the value that the item gives it; NULL if either is invalid */
static const grpo_field *field_of(const cJSON *item, const char *path, double *value) {
    const grpo_field *field = field_named(path);
    grpo_objective obj;
    memset(&obj, 0, sizeof obj);
    if (!field) return NULL;
    if (!field->n_choices) return case_number(item, value) && *value == *value ? field : NULL;
    if (!cJSON_IsString(item) || grpo_objective_choose(&obj, path, item->valuestring)) return NULL;
    *value = grpo_objective_get(&obj, field);
    return field;
}

static int objective_is(const grpo_objective *obj, const cJSON *condition) {
    for (const cJSON *i = condition ? condition->child : NULL; i; i = i->next) {
        int met = 0;
        for (const cJSON *x = first_of(i); x; x = next_of(i, x)) {
            double value = 0;
            const grpo_field *field = field_of(x, i->string, &value);
            met |= field && grpo_objective_get(obj, field) == value;
        }
        if (!met) return 0;
    }
    return 1;
}

static void make_changes(grpo_objective *obj, const cJSON *changes) {
    for (const cJSON *i = changes ? changes->child : NULL; i; i = i->next) {
        double value = 0;
        if (field_of(i, i->string, &value)) grpo_objective_set(obj, i->string, value);
    }
}

/* ---- reading ---------------------------------------------------------------------------------------------------------------------- */

static int bad(const char *path, int n, const char *why, const char *what) {
    fprintf(stderr, "conform: %s: convention %d: %s%s%s\n", path, n + 1, why, what ? " " : "", what ? what : "");
    return 1;
}

static int check_fields(const char *path, int n, const cJSON *fields, int lists) {
    double value;
    if (fields && !cJSON_IsObject(fields)) return bad(path, n, "if and change must be objects", NULL);
    for (const cJSON *i = fields ? fields->child : NULL; i; i = i->next)
        for (const cJSON *x = lists ? first_of(i) : i; x; x = lists ? next_of(i, x) : NULL)
            if (!field_of(x, i->string, &value)) return bad(path, n, "not a field, or not a value of the field:", i->string);
    return 0;
}

static int check_rule(const char *path, int n, const cJSON *rule) {
    conventions v;
    if (rule && !cJSON_IsObject(rule)) return bad(path, n, "rule must be an object", NULL);
    for (const cJSON *i = rule ? rule->child : NULL; i; i = i->next)
        if (!convention_rule(&v, i->string) || !cJSON_IsNumber(i)) return bad(path, n, "not a rule, or not a number:", i->string);
    return 0;
}

/* unknown keys are errors: a misspelt condition would accept too much, a misspelt effect too little */
static int check_convention(const char *path, int n, const cJSON *c) {
    static const char *const keys[] = { "what", "in", "if", "flags", "cases", "outputs", "precision", "change", "rule", "answers", "error",
                                        "operand", "rounding", "known_as" };
    int says = 0;
    if (!cJSON_IsObject(c) || !*json_string(c, "what", "")) return bad(path, n, "it has no text under the key what", NULL);
    for (const cJSON *i = c->child; i; i = i->next) {
        size_t k = 0;
        while (k < sizeof keys / sizeof *keys && strcmp(keys[k], i->string)) k++;
        if (k == sizeof keys / sizeof *keys) return bad(path, n, "unknown key", i->string);
        says += k >= 7 && k < 13;
    }
    if (!says) return bad(path, n, "it has no change, rule, answers, error, operand or rounding", NULL);
    if (json_get(c, "rounding") && strcmp(json_string(c, "rounding", ""), compare_f32.name))
        return bad(path, n, "rounding must be \"f32\"", NULL);
    return check_fields(path, n, json_get(c, "if"), 1) || check_fields(path, n, json_get(c, "change"), 0)
        || check_rule(path, n, json_get(c, "rule"));
}

int profile_load(const char *path, profile *p) {
    const cJSON *list;
    const char *slash = strrchr(path, '/');
    int there;
    memset(p, 0, sizeof *p);
    p->json = text_json_file(path, &there);
    list = json_get(p->json, "conventions");
    if (!cJSON_IsArray(list)) {
        fprintf(stderr, "conform: %s is not a profile: a JSON file with a list \"conventions\"\n", path);
        profile_free(p);
        return 1;
    }
    p->name = slash ? slash + 1 : path;
    p->program = json_string(p->json, "program", "");
    p->release = json_string(p->json, "release", "");
    for (const cJSON *i = list->child; i; i = i->next) {
        if (check_convention(path, (int)arrlen(p->convention), i)) { profile_free(p); return 1; }
        arrput(p->convention, i);
    }
    return 0;
}

void profile_free(profile *p) {
    arrfree(p->convention);
    cJSON_Delete(p->json);
    memset(p, 0, sizeof *p);
}

const char *profile_what(const profile *p, int n) { return json_string(p->convention[n], "what", ""); }
const char *profile_where(const profile *p, int n) { return json_string(p->convention[n], "in", ""); }

/* ---- conditions ------------------------------------------------------------------------------------------------------------------- */

static int has_one_flag(const test_case *c, const cJSON *flags) {
    const cJSON *own = json_get(c->json, "flags");
    for (const cJSON *f = own ? own->child : NULL; f; f = f->next) if (cJSON_IsString(f) && has_text(flags, f->valuestring)) return 1;
    return 0;
}

static int id_matches(const char *id, const cJSON *globs) {
    for (const cJSON *i = first_of(globs); i; i = next_of(globs, i)) if (cJSON_IsString(i) && !fnmatch(i->valuestring, id, 0)) return 1;
    return 0;
}

static int applies(const cJSON *convention, const rules *r, const test_case *c) {
    const cJSON *condition = json_get(convention, "if"), *precision = json_get(convention, "precision");
    const cJSON *flags = json_get(convention, "flags"), *cases = json_get(convention, "cases");
    if (condition && (!(case_has_loss(c) || c->rows.has_loss) || !objective_is(&c->objective, condition))) return 0;
    return (!flags || has_one_flag(c, flags)) && (!cases || id_matches(c->id, cases))
        && (!precision || has_text(precision, r->precision->name));
}

/* the objective and the rules with all conventions of the list applied */
static conventions together(const profile *p, const test_case *c, const int *list) {
    conventions v;
    memset(&v, 0, sizeof v);
    v.objective = c->objective;
    for (ptrdiff_t k = 0; k < arrlen(list); k++) {
        const cJSON *rule = json_get(p->convention[list[k]], "rule");
        make_changes(&v.objective, json_get(p->convention[list[k]], "change"));
        for (const cJSON *i = rule ? rule->child : NULL; i; i = i->next) *convention_rule(&v, i->string) = i->valuedouble;
    }
    return v;
}

/* ---- float32 rounding -------------------------------------------------------------------------------------------------------------- */

/* The bound for a sum of n terms computed in float32, in eps of its scale, the sum of the terms' sizes: each of the n - 1 additions, in any
 * order, is off by at most half an eps of the scale, and each term by ROUNDINGS half eps of its own size (difference, exponential,
 * products, divisors).  At most MOST_ROUNDED, which is the default tolerance of a run in f32. */
#define ROUNDINGS 16
#define MOST_ROUNDED 64

static double rounding_bound(const test_case *c, output_kind output) {
    const grpo_advantage *a = &c->objective.advantage;
    const int of_rewards = output == OUT_ADVANTAGE && a->credit == GRPO_CREDIT_OUTCOME && a->scale != GRPO_SCALE_TOKEN_WHITEN;
    return fmin(MOST_ROUNDED, ((double)(of_rewards ? c->n_sequences : c->batch.n_tokens) + ROUNDINGS) / 2);
}

/* in eps of float32 of the size; an overflow is not rounding, its error is infinite */
static double rounding_error(double found, double expected, double size) {
    if (found != expected && !grpo_is_finite(found)) return HUGE_VAL;
    return compare_error_in(&compare_f32, found, expected, size);
}

/* ---- is the answer right by them? ------------------------------------------------------------------------------------------------- */

typedef struct { const profile *p; const rules *r; const question *q; const answer *found, *computed; const int *list; } claim;

static int is_of_output(const cJSON *convention, output_kind output) {
    const cJSON *outputs = json_get(convention, "outputs");
    return !outputs || has_text(outputs, output_name[output]);
}

/* the error in eps of float32 where a convention states `rounding`, the smallest if several do: of the number's size, or of the size
 * that `operand` states; HUGE_VAL: no convention states it */
static double stated_rounding(const claim *m, output_kind output, double found, double expected, double scale) {
    double least = HUGE_VAL;
    for (ptrdiff_t j = 0; j < arrlen(m->list); j++) {
        const cJSON *convention = m->p->convention[m->list[j]], *operand = json_get(convention, "operand");
        const double size = operand ? operand->valuedouble : fmax(fabs(expected), scale);
        if (!json_get(convention, "rounding") || !is_of_output(convention, output)) continue;
        least = fmin(least, rounding_error(found, expected, size));
    }
    return least;
}

/* is the number one of a convention's `answers`, or within its `operand` or `rounding`? */
static int is_listed(const claim *m, output_kind output, int64_t k, double expected) {
    const double x = m->found->of[output].value[k], scale = m->q->scale.of[output].value[k];
    const double bound = rounding_bound(m->q->c, output);
    if (stated_rounding(m, output, x, expected, scale) <= bound) return 1;
    for (ptrdiff_t j = 0; j < arrlen(m->list); j++) {
        const cJSON *convention = m->p->convention[m->list[j]];
        const cJSON *answers = json_get(convention, "answers"), *operand = json_get(convention, "operand");
        if (!is_of_output(convention, output)) continue;
        for (const cJSON *i = first_of(answers); i; i = next_of(answers, i)) {
            double value;
            if (!case_number(i, &value)) continue;
            if (judge_agrees(m->r, x, value, scale)) return 1;
            if (stated_rounding(m, output, x, value, scale) <= bound) return 1;
        }
        if (!operand || json_get(convention, "rounding")) continue;
        if (compare_error_in(m->r->precision, x, expected, operand->valuedouble) <= m->r->tolerance) return 1;
    }
    return 0;
}

static int output_agrees(const claim *m, output_kind output) {
    const numbers *found = &m->found->of[output], *right = &m->q->expected.of[output], *computed = &m->computed->of[output];
    for (int64_t k = 0; k < found->count; k++) {
        const int known = computed->value && computed->given[k];
        const double wanted = known ? computed->value[k] : right->value[k];
        if (!found->given[k] || judge_agrees(m->r, found->value[k], wanted, m->q->scale.of[output].value[k])) continue;
        if (!is_listed(m, output, k, wanted)) return 0;
    }
    return 1;
}

/* of the numbers that are right only within float32 rounding: the error nearest to its bound */
static void measure_rounding(const claim *m, output_kind output, rounding *worst) {
    const numbers *found = &m->found->of[output], *right = &m->q->expected.of[output], *computed = &m->computed->of[output];
    const double bound = rounding_bound(m->q->c, output);
    for (int64_t k = 0; k < found->count; k++) {
        const double wanted = computed->value && computed->given[k] ? computed->value[k] : right->value[k];
        const double scale = m->q->scale.of[output].value[k], error = stated_rounding(m, output, found->value[k], wanted, scale);
        if (!found->given[k] || judge_agrees(m->r, found->value[k], wanted, scale) || error > bound) continue;
        if (error * worst->bound >= worst->error * bound) { worst->error = error; worst->bound = bound; }
    }
}

static rounding rounding_of(const profile *p, const rules *r, const question *q, const answer *found, stage_kind stage, const int *list) {
    conventions v = together(p, q->c, list);
    answer computed;
    claim m = { p, r, q, found, &computed, list };
    rounding worst = { 0, 0 };
    recompute(q->c, &v, stage, &computed);
    for (int k = 0; k < N_OUTPUTS; k++) {
        if (stage_of((output_kind)k) != stage || !found->of[k].value || !q->expected.of[k].value) continue;
        measure_rounding(&m, (output_kind)k, &worst);
    }
    answer_free(&computed);
    return worst;
}

static int list_accepts(const profile *p, const rules *r, const question *q, const answer *found, stage_kind stage, const int *list) {
    conventions v = together(p, q->c, list);
    answer computed;
    claim m = { p, r, q, found, &computed, list };
    int ok = 1;
    recompute(q->c, &v, stage, &computed);
    for (int k = 0; k < N_OUTPUTS && ok; k++)
        if (stage_of((output_kind)k) == stage && found->of[k].value && q->expected.of[k].value) ok = output_agrees(&m, (output_kind)k);
    answer_free(&computed);
    return ok;
}

/* Do the two lists give different numbers, by more than the tolerance, where numbers were found?  Then both are named, even if rounding
 * would cover the difference. */
static int makes_other(const profile *p, const rules *r, const question *q, const answer *found, stage_kind stage, const int *a,
                       const int *b) {
    const conventions one = together(p, q->c, a), two = together(p, q->c, b);
    answer x, y;
    int both = recompute(q->c, &one, stage, &x), other = 0;
    both &= recompute(q->c, &two, stage, &y);
    for (int out = 0; out < N_OUTPUTS && both; out++) {
        const numbers *f = &found->of[out], *m = &x.of[out], *n = &y.of[out];
        for (int64_t k = 0; f->value && m->value && n->value && k < f->count; k++)
            if (f->given[k] && m->given[k] && n->given[k]) other |= !judge_agrees(r, m->value[k], n->value[k], q->scale.of[out].value[k]);
    }
    answer_free(&x);
    answer_free(&y);
    return other;
}

static int any_rounding(const profile *p, const int *list) {
    for (ptrdiff_t k = 0; k < arrlen(list); k++) if (json_get(p->convention[list[k]], "rounding")) return 1;
    return 0;
}

static int *list_without(const int *list, ptrdiff_t k) {
    int *others = NULL;
    for (ptrdiff_t j = 0; j < arrlen(list); j++) if (j != k) arrput(others, list[j]);
    return others;
}

/* Removes conventions that can be left out, one after the other, from the end: of two that state rounding each may make the other
 * superfluous. */
static int *reduced(const profile *p, const rules *r, const question *q, const answer *found, stage_kind stage, const int *all, int *list) {
    for (ptrdiff_t k = arrlen(list) - 1; k >= 0; k--) {
        int *others = list_without(list, k);
        if (list_accepts(p, r, q, found, stage, others) && !makes_other(p, r, q, found, stage, all, others)) {
            arrfree(list);
            list = others;
        } else arrfree(others);
    }
    return list;
}

/* all of the list, if each alone can be left out */
int *profile_needed(const profile *p, const rules *r, const question *q, const answer *found, stage_kind stage, const int *list) {
    int *need = NULL;
    if (any_rounding(p, list)) return reduced(p, r, q, found, stage, list, list_without(list, -1));
    for (ptrdiff_t k = 0; k < arrlen(list); k++) {
        int *others = list_without(list, k);
        if (!list_accepts(p, r, q, found, stage, others)) arrput(need, list[k]);
        arrfree(others);
    }
    for (ptrdiff_t k = 0; k < arrlen(list) && !arrlen(need); k++) arrput(need, list[k]);
    return need;
}

judge_match profile_gives(const profile *p, const rules *r, const question *q, const answer *found, stage_kind stage, const int *list) {
    conventions v = together(p, q->c, list);
    judge_match m = JUDGE_SILENT;
    answer computed;
    if (recompute(q->c, &v, stage, &computed)) m = judge_against(r, q, stage, found, &computed, JUDGE_COMPUTED, NULL);
    answer_free(&computed);
    if (m == JUDGE_SILENT) return m;
    return list_accepts(p, r, q, found, stage, list) ? JUDGE_SAME : JUDGE_DIFFERENT;
}

int profile_applies(const profile *p, int n, const rules *r, const test_case *c) { return applies(p->convention[n], r, c); }

int profile_known_as(const profile *p, int n, const char *id) {
    const cJSON *names = json_get(p->convention[n], "known_as");
    return names && has_text(names, id);
}

int profile_goes_with(const profile *p, int j, int k) {
    const cJSON *a = json_get(p->convention[j], "change"), *b = json_get(p->convention[k], "change");
    for (const cJSON *i = a ? a->child : NULL; i; i = i->next) if (b && json_get(b, i->string)) return 0;
    return 1;
}

int profile_accepts(const profile *p, const rules *r, const question *q, const answer *found, stage_kind stage, int **used,
                    rounding *worst) {
    int *list = NULL, *need, ok;
    for (int n = 0; n < (int)arrlen(p->convention); n++) if (applies(p->convention[n], r, q->c)) arrput(list, n);
    ok = arrlen(list) && list_accepts(p, r, q, found, stage, list);
    if (ok) {
        need = profile_needed(p, r, q, found, stage, list);
        for (ptrdiff_t k = 0; k < arrlen(need); k++) list_add_once(used, need[k]);
        if (any_rounding(p, need)) {
            const rounding here = rounding_of(p, r, q, found, stage, list);
            if (here.error * worst->bound >= worst->error * here.bound) *worst = here;
        }
        arrfree(need);
    }
    arrfree(list);
    return ok;
}

int profile_accepts_error(const profile *p, const rules *r, const test_case *c, const char *error, int **used) {
    for (int n = 0; n < (int)arrlen(p->convention); n++) {
        const char *text = json_string(p->convention[n], "error", "");
        if (!*text || !strstr(error, text) || !applies(p->convention[n], r, c)) continue;
        arrput(*used, n);
        return 1;
    }
    return 0;
}
